from ensemblage import consensus as consensus
from ensemblage import datasets as datasets
from ensemblage import generation as generation
from ensemblage import metrics as metrics
from ensemblage import plotting as plotting
from ensemblage import ranking as ranking
from ensemblage import report as report
from ensemblage._ensemble import Ensemble as Ensemble
from ensemblage._version import __version__ as __version__
from ensemblage.consensus import METHODS as METHODS
from ensemblage.consensus import BipartiteVoting as BipartiteVoting
from ensemblage.consensus import BisectingKMeansConsensus as BisectingKMeansConsensus
from ensemblage.consensus import ConsensusClustering as ConsensusClustering
from ensemblage.consensus import CumulativeVoting as CumulativeVoting
from ensemblage.consensus import EvidenceAccumulation as EvidenceAccumulation
from ensemblage.consensus import GreedyKMeansConsensus as GreedyKMeansConsensus
from ensemblage.consensus import KMeansConsensus as KMeansConsensus
from ensemblage.consensus import SpectralEnsembleClustering as SpectralEnsembleClustering
from ensemblage.consensus import choose_k as choose_k
from ensemblage.consensus import make_consensus as make_consensus
from ensemblage.generation import GreedyPartitions as GreedyPartitions
from ensemblage.generation import RandomKPartitions as RandomKPartitions
from ensemblage.generation import ResampledPartitions as ResampledPartitions
from ensemblage.ranking import AverageAgreement as AverageAgreement
from ensemblage.ranking import Discotec as Discotec
from ensemblage.ranking import InternalIndex as InternalIndex

__all__: list[str]
