# The public names, and where they are. `python docs/make_tables.py` writes the lines of methods.

from ._method import METHODS as METHODS
from ._method_comparison import compare_methods as compare_methods
from ._registry import make_consensus as make_consensus
from .communities._communities import CommunityConsensus as CommunityConsensus
from .graphs._cspa import CSPA as CSPA
from .graphs._hbgf import HBGF as HBGF
from .graphs._hgpa import HGPA as HGPA
from .graphs._lce import LCE as LCE
from .graphs._mcla import MCLA as MCLA
from .graphs._negmm import NegMM as NegMM
from .graphs._ptgp import PTGP as PTGP
from .hierarchies._eac import EvidenceAccumulation as EvidenceAccumulation
from .hierarchies._pta import PTA as PTA
from .kmeans._bisecting import BisectingKMeansConsensus as BisectingKMeansConsensus
from .kmeans._gkcc import GreedyKMeansConsensus as GreedyKMeansConsensus
from .kmeans._k_modes import KModesConsensus as KModesConsensus
from .kmeans._kcc import KMeansConsensus as KMeansConsensus
from .kmeans._sec import SpectralEnsembleClustering as SpectralEnsembleClustering
from .posterior._dune import Dune as Dune
from .posterior._lca import LatentClassConsensus as LatentClassConsensus
from .posterior._modes import ConsensusModes as ConsensusModes
from .posterior._salso import SalsoConsensus as SalsoConsensus
from .posterior._wasabi import WasabiModes as WasabiModes
from .voting._ada_cvote import CumulativeVoting as CumulativeVoting
from .voting._bvote import BipartiteVoting as BipartiteVoting
from .voting._gv3 import ComembershipMedian as ComembershipMedian
from .voting._majority import MajorityVoting as MajorityVoting
from .voting._medians import EuclideanMedian as EuclideanMedian

__all__: list[str]
