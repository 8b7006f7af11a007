"""Li & Liu 2018, "Greedy optimization for K-means-based consensus clustering" (Sec. 5)."""

from ensemblage.reproduce.papers import Paper
from ensemblage.reproduce.papers.li.claims import CLAIMS
from ensemblage.reproduce.papers.li.protocol import EXPERIMENTS
from ensemblage.reproduce.papers.li.tables import FIGURES, TABLES

PAPER = Paper(__name__, EXPERIMENTS, TABLES, FIGURES, CLAIMS)
