"""Features to a label matrix: the generators of ensembles."""

import lazy_loader

# Lazy: methods need one of these modules, and together they import a fourth of scikit-learn.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
