"""AnnData: clusterings of cells in ``.obs`` as an ensemble, what a consensus found beside them, and what is clustered.

The room is named after the library, which is imported when a function is called.
"""

from ensemblage._docs import fill_docstrings
from ensemblage.anndata._write import to_anndata

__all__ = ["to_anndata"]

fill_docstrings([to_anndata])
