"""Tables with roles, features of them in memory and on disk, and posterior draws; files are read by `tables`."""

from ensemblage.base.renamed import former_names

__getattr__ = former_names(__name__)
__all__: list[str] = []
