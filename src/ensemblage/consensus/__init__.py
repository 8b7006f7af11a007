"""Consensus functions: label matrix to one clustering."""

from ensemblage.consensus._features import ConsensusClustering
from ensemblage.consensus._kmeans import KMeansConsensus
from ensemblage.consensus._registry import METHODS, Method, make_consensus

__all__ = ["METHODS", "ConsensusClustering", "KMeansConsensus", "Method", "make_consensus"]
