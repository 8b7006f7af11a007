"""ensemblage: consensus clustering.

Many clusterings of the same objects go in; the clustering that they have in common, an order of the clusterings, and
for every object how far they agree on it come out.
"""

import logging

import lazy_loader

from ensemblage.base.lazy import PLACES

# Lazy: `import ensemblage` must not cost the second that scikit-learn takes.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

# Silent, unless the user gives the loggers of the modules a handler.
logging.getLogger("ensemblage").addHandler(logging.NullHandler())

# What lower packages call of upper ones, imported when it is called.
PLACES.update(
    load_labels="ensemblage.io._formats.load_labels",
    save_labels="ensemblage.io._formats.save_labels",
    open_ensemble="ensemblage.io._out_of_core.open_ensemble",
    ensemble_on_cluster="ensemblage.io._out_of_core.ensemble_on_cluster",
    ensemble_of_anndata="ensemblage.io._anndata.ensemble_of",
    ensemble_of_counts="ensemblage.io._counted_rows.ensemble_of_counts",
    features_of="ensemblage.io._features.features_of",
)
