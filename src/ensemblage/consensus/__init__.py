"""Consensus functions: label matrix to one partition."""

import lazy_loader

import ensemblage.consensus._registry  # noqa: F401 - imports every method
from ensemblage.base.renamed import former_names

_found, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__getattr__ = former_names(__name__, _found)
