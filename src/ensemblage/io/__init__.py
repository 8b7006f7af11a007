"""Tables from files (CSV and its relatives, Parquet, workbooks): features to cluster, or labels to combine."""

from ensemblage.io._bytes import base_name, read_bytes, text_bytes
from ensemblage.io._column import Column
from ensemblage.io._encoding import ColumnUse
from ensemblage.io._features import Features, features_of
from ensemblage.io._labels import as_labels, code_columns
from ensemblage.io._members import Members, members_of
from ensemblage.io._preprocessor import Preprocessor
from ensemblage.io._read import read_table
from ensemblage.io._table import Table

__all__ = [
    "Column",
    "ColumnUse",
    "Features",
    "Members",
    "Preprocessor",
    "Table",
    "as_labels",
    "base_name",
    "code_columns",
    "features_of",
    "members_of",
    "read_bytes",
    "read_table",
    "text_bytes",
]
