"""ensemblage: consensus clustering.

Many clusterings of the same objects go in; the clustering that they have in common, an order of the clusterings, and
for every object how far they agree on it come out.
"""

import logging
from typing import Any

from ensemblage._version import __version__ as __version__
from ensemblage.base.lazy import PLACES, names_of_stub, public_value

_HOME = names_of_stub(__file__)
_PACKAGES = tuple(name for name, home in _HOME.items() if home == __name__)

__all__ = sorted(_HOME)  # noqa: PLE0605

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
    figure="ensemblage.plotting._html.figure",
    html="ensemblage.plotting._html.html",
    save_model="ensemblage.pipeline._saved.save_model",
    page="ensemblage.report._build.report_of",
)


def __getattr__(name: str) -> Any:
    # Lazy: `import ensemblage` must not cost the second that scikit-learn takes.
    return public_value(__name__, _HOME, name)


def __dir__() -> list[str]:
    return __all__
