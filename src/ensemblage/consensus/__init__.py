"""Consensus functions: label matrix to one clustering."""

from ensemblage.consensus._assignment import Assignment
from ensemblage.consensus._capabilities import Capabilities
from ensemblage.consensus._method import METHODS, Method
from ensemblage.consensus._registry import make_consensus
from ensemblage.consensus.communities._communities import CommunityConsensus
from ensemblage.consensus.graphs._cspa import CSPA
from ensemblage.consensus.graphs._hbgf import HBGF
from ensemblage.consensus.graphs._hgpa import HGPA
from ensemblage.consensus.graphs._lce import LCE
from ensemblage.consensus.graphs._mcla import MCLA
from ensemblage.consensus.graphs._negmm import NegMM
from ensemblage.consensus.graphs._ptgp import PTGP
from ensemblage.consensus.hierarchies._eac import EvidenceAccumulation
from ensemblage.consensus.hierarchies._pta import PTA
from ensemblage.consensus.kmeans._bisecting import BisectingKMeansConsensus
from ensemblage.consensus.kmeans._gkcc import GreedyKMeansConsensus
from ensemblage.consensus.kmeans._k_modes import KModesConsensus
from ensemblage.consensus.kmeans._kcc import KMeansConsensus
from ensemblage.consensus.kmeans._sec import SpectralEnsembleClustering
from ensemblage.consensus.latent._dune import Dune, Merge
from ensemblage.consensus.latent._lca import LatentClassConsensus
from ensemblage.consensus.latent._modes import ConsensusModes
from ensemblage.consensus.latent._salso import SalsoConsensus
from ensemblage.consensus.latent._wasabi import WasabiModes
from ensemblage.consensus.voting._ada_cvote import CumulativeVoting
from ensemblage.consensus.voting._bvote import BipartiteVoting
from ensemblage.consensus.voting._gv3 import ComembershipMedian
from ensemblage.consensus.voting._majority import MajorityVoting
from ensemblage.consensus.voting._medians import EuclideanMedian

__all__ = [
    "CSPA",
    "HBGF",
    "HGPA",
    "LCE",
    "MCLA",
    "METHODS",
    "PTA",
    "PTGP",
    "Assignment",
    "BipartiteVoting",
    "BisectingKMeansConsensus",
    "Capabilities",
    "ComembershipMedian",
    "CommunityConsensus",
    "ConsensusModes",
    "CumulativeVoting",
    "Dune",
    "EuclideanMedian",
    "EvidenceAccumulation",
    "GreedyKMeansConsensus",
    "KMeansConsensus",
    "KModesConsensus",
    "LatentClassConsensus",
    "MajorityVoting",
    "Merge",
    "Method",
    "NegMM",
    "SalsoConsensus",
    "SpectralEnsembleClustering",
    "WasabiModes",
    "make_consensus",
]
