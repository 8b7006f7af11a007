"""Tables from files (CSV and its relatives, Parquet, workbooks): features to cluster, or labels to combine."""

from ensemblage.tables._bytes import base_name, read_bytes, text_bytes
from ensemblage.tables._column import Column
from ensemblage.tables._encoding import ColumnUse
from ensemblage.tables._features import Features, features_of
from ensemblage.tables._labels import as_labels, code_columns
from ensemblage.tables._members import Members, members_of
from ensemblage.tables._preprocessor import Preprocessor
from ensemblage.tables._read import read_table
from ensemblage.tables._table import Table

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
