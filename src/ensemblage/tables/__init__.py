"""Tables from files (CSV and its relatives, Parquet): features to cluster, or labels to combine."""

from ensemblage.tables._features import Features, features_of
from ensemblage.tables._members import Members, members_of
from ensemblage.tables._read import read_table
from ensemblage.tables._roles import as_labels
from ensemblage.tables._table import Column, Table
from ensemblage.tables._text import read_bytes

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
