"""Consensus functions: label matrix to one clustering."""

from ensemblage.consensus._bisecting import BisectingKMeansConsensus
from ensemblage.consensus._evidence import EvidenceAccumulation
from ensemblage.consensus._features import ConsensusClustering
from ensemblage.consensus._kmeans import KMeansConsensus
from ensemblage.consensus._registry import METHODS, Method, make_consensus
from ensemblage.consensus._sec import SpectralEnsembleClustering
from ensemblage.consensus._voting import BipartiteVoting, CumulativeVoting

__all__ = [
    "METHODS",
    "BipartiteVoting",
    "BisectingKMeansConsensus",
    "ConsensusClustering",
    "CumulativeVoting",
    "EvidenceAccumulation",
    "KMeansConsensus",
    "Method",
    "SpectralEnsembleClustering",
    "make_consensus",
]
