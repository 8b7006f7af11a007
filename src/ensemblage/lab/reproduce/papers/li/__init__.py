"""Li & Liu 2018, "Greedy optimization for K-means-based consensus clustering" (Sec. 5)."""

from ensemblage.lab.reproduce.papers import Paper
from ensemblage.lab.reproduce.papers.li import claims, tables
from ensemblage.lab.reproduce.papers.li.protocol import EXPERIMENTS

PAPER = Paper(__name__, EXPERIMENTS, tables, claims)
