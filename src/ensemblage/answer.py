"""Names of before 1.0: what was here is in `ensemblage` itself, `n_clusters`, `consensus` and `posterior`."""

from ensemblage.base.renamed import former_names

__getattr__ = former_names(__name__)
__all__: list[str] = []
