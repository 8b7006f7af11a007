"""ensemblage: consensus clustering.

Many partitions of the same objects go in; the partition that they have in common, an order of the partitions, and
for every object how far they agree on it come out.
"""

import logging

import lazy_loader

from ensemblage.base.renamed import former_names

# Lazy: `import ensemblage` must not cost the second that scikit-learn takes.
_found, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__getattr__ = former_names(__name__, _found)

# Silent, unless the user gives the loggers of the modules a handler.
logging.getLogger("ensemblage").addHandler(logging.NullHandler())
