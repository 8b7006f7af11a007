"""Consensus functions: label matrix to one clustering."""

from ensemblage.base.docs import fill_docstrings
from ensemblage.consensus._ada_cvote import CumulativeVoting
from ensemblage.consensus._assignment import Assignment
from ensemblage.consensus._bisecting import BisectingKMeansConsensus
from ensemblage.consensus._bvote import BipartiteVoting
from ensemblage.consensus._communities import CommunityConsensus
from ensemblage.consensus._cspa import CSPA
from ensemblage.consensus._docs import PARTS
from ensemblage.consensus._eac import EvidenceAccumulation
from ensemblage.consensus._gkcc import GreedyKMeansConsensus
from ensemblage.consensus._gv3 import ComembershipMedian
from ensemblage.consensus._hbgf import HBGF
from ensemblage.consensus._hgpa import HGPA
from ensemblage.consensus._k_modes import KModesConsensus
from ensemblage.consensus._kcc import KMeansConsensus
from ensemblage.consensus._lca import LatentClassConsensus
from ensemblage.consensus._lce import LCE
from ensemblage.consensus._majority import MajorityVoting
from ensemblage.consensus._mcla import MCLA
from ensemblage.consensus._medians import EuclideanMedian
from ensemblage.consensus._method import METHODS, Method
from ensemblage.consensus._modes import ConsensusModes
from ensemblage.consensus._negmm import NegMM
from ensemblage.consensus._pta import PTA, PTGP
from ensemblage.consensus._registry import make_consensus
from ensemblage.consensus._saved import load
from ensemblage.consensus._sec import SpectralEnsembleClustering

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
    "ComembershipMedian",
    "CommunityConsensus",
    "ConsensusModes",
    "CumulativeVoting",
    "EuclideanMedian",
    "EvidenceAccumulation",
    "GreedyKMeansConsensus",
    "KMeansConsensus",
    "KModesConsensus",
    "LatentClassConsensus",
    "MajorityVoting",
    "Method",
    "NegMM",
    "SpectralEnsembleClustering",
    "load",
    "make_consensus",
]

fill_docstrings((globals()[name] for name in __all__), PARTS)
