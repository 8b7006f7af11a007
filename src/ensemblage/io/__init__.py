"""Tables with roles, features of them in memory and on disk, and posterior draws; files are read by `tables`."""

from ensemblage.io._draws import PosteriorDraws, read_draws
from ensemblage.io._encoding import ColumnUse
from ensemblage.io._preprocessor import Preprocessor
from ensemblage.io._read import read_table
from ensemblage.io._table import Table
from ensemblage.tables.column import Column

__all__ = [
    "Column",
    "ColumnUse",
    "PosteriorDraws",
    "Preprocessor",
    "Table",
    "read_draws",
    "read_table",
]
