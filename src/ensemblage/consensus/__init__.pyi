# The public names, and where they are. `python docs/make_tables.py` writes the lines of methods.

from ensemblage.consensus._capabilities import Capabilities as Capabilities
from ensemblage.consensus._method import METHODS as METHODS
from ensemblage.consensus._method import Method as Method
from ensemblage.consensus._model import Assignment as Assignment
from ensemblage.consensus._registry import make_consensus as make_consensus
from ensemblage.consensus.communities._communities import CommunityConsensus as CommunityConsensus
from ensemblage.consensus.graphs._cspa import CSPA as CSPA
from ensemblage.consensus.graphs._hbgf import HBGF as HBGF
from ensemblage.consensus.graphs._hgpa import HGPA as HGPA
from ensemblage.consensus.graphs._lce import LCE as LCE
from ensemblage.consensus.graphs._mcla import MCLA as MCLA
from ensemblage.consensus.graphs._negmm import NegMM as NegMM
from ensemblage.consensus.graphs._ptgp import PTGP as PTGP
from ensemblage.consensus.hierarchies._eac import EvidenceAccumulation as EvidenceAccumulation
from ensemblage.consensus.hierarchies._pta import PTA as PTA
from ensemblage.consensus.kmeans._bisecting import BisectingKMeansConsensus as BisectingKMeansConsensus
from ensemblage.consensus.kmeans._gkcc import GreedyKMeansConsensus as GreedyKMeansConsensus
from ensemblage.consensus.kmeans._k_modes import KModesConsensus as KModesConsensus
from ensemblage.consensus.kmeans._kcc import KMeansConsensus as KMeansConsensus
from ensemblage.consensus.kmeans._sec import SpectralEnsembleClustering as SpectralEnsembleClustering
from ensemblage.consensus.latent._dune import Dune as Dune
from ensemblage.consensus.latent._dune import Merge as Merge
from ensemblage.consensus.latent._lca import LatentClassConsensus as LatentClassConsensus
from ensemblage.consensus.latent._modes import ConsensusModes as ConsensusModes
from ensemblage.consensus.latent._salso import SalsoConsensus as SalsoConsensus
from ensemblage.consensus.latent._wasabi import WasabiModes as WasabiModes
from ensemblage.consensus.voting._ada_cvote import CumulativeVoting as CumulativeVoting
from ensemblage.consensus.voting._bvote import BipartiteVoting as BipartiteVoting
from ensemblage.consensus.voting._gv3 import ComembershipMedian as ComembershipMedian
from ensemblage.consensus.voting._majority import MajorityVoting as MajorityVoting
from ensemblage.consensus.voting._medians import EuclideanMedian as EuclideanMedian

__all__: list[str]
