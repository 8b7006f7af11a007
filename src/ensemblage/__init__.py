"""ensemblage: consensus clustering.

Many partitions of the same objects go in; the partition that they have in common, an order of the partitions, and
for every object how far they agree on it come out.
"""

import logging

import lazy_loader

# Lazy: `import ensemblage` must not cost the second that scikit-learn takes.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

# Silent, unless the user gives the loggers of the modules a handler.
logging.getLogger("ensemblage").addHandler(logging.NullHandler())
