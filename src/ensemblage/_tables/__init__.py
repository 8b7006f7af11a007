"""Tables from files (CSV and its relatives, Parquet): features to cluster, or labels to combine."""

from ensemblage._tables._features import Features, features_of
from ensemblage._tables._members import Members, members_of
from ensemblage._tables._read import read_table
from ensemblage._tables._roles import as_labels
from ensemblage._tables._table import Column, Table
from ensemblage._tables._text import read_bytes

__all__ = [
    "Column",
    "Features",
    "Members",
    "Table",
    "as_labels",
    "features_of",
    "members_of",
    "read_bytes",
    "read_table",
]
