"""From tables to features: columns with roles, features that stay on disk, counts in two independent parts."""

from ensemblage.io._feature_blocks import FeatureBlocks
from ensemblage.io._preprocessor import Preprocessor
from ensemblage.io._read import read_table
from ensemblage.profiles._selective import thin_counts

__all__ = ["FeatureBlocks", "Preprocessor", "read_table", "thin_counts"]
