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
    features_of_parts="ensemblage.io._stored_table.features_of_parts",
    clusters_of_blocks="ensemblage.pipeline._blocks.clusters_of_blocks",
    write_blocks="ensemblage.pipeline._blocks.write_blocks",
    describe_blocks="ensemblage.pipeline._blocks.describe_blocks",
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
