"""Candel, "Linear time evidence accumulation clustering with KMeans": Tables 2 to 7 (Sec. 5 and 6)."""

from ensemblage.lab.reproduce.papers import Paper
from ensemblage.lab.reproduce.papers.candel import tables
from ensemblage.lab.reproduce.papers.candel.protocol import EXPERIMENTS

PAPER = Paper(__name__, EXPERIMENTS, tables)
