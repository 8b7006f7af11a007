# The public names, and where they are.

from . import consensus as consensus
from . import datasets as datasets
from . import generation as generation
from . import metrics as metrics
from . import n_clusters as n_clusters
from . import plotting as plotting
from . import posterior as posterior
from . import preprocessing as preprocessing
from . import ranking as ranking
from . import report as report
from . import stability as stability
from ._version import __version__ as __version__
from .consensus._method import METHODS as METHODS
from .consensus._registry import make_consensus as make_consensus
from .consensus._saved import load as load
from .io._read import read_table as read_table
from .labels.dask import parallel_backend as parallel_backend
from .labels.ensemble import Ensemble as Ensemble
from .metrics._align import compare as compare
from .n_clusters import choose_k as choose_k
from .pipeline._consensus_clustering import ConsensusClustering as ConsensusClustering
from .pipeline._to_anndata import to_anndata as to_anndata
from .profiles._profile import profile as profile
from .report._cite import cite as cite

__all__: list[str]
