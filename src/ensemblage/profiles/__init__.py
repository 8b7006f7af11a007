"""What describes the clusters, from the original values: effects, typical objects, rules, tests."""

from ensemblage.base.renamed import former_names

__getattr__ = former_names(__name__)
__all__: list[str] = []
