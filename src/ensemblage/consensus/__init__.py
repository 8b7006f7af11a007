"""Consensus functions: label matrix to one partition."""

import lazy_loader

import ensemblage.consensus._registry  # noqa: F401 - imports every method

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
