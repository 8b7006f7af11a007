"""Sinorina, Hamilton & Zilles 2022, "Efficient removal of weak associations in consensus clustering" (Sec. 5)."""

from ensemblage.reproduce.papers import Paper
from ensemblage.reproduce.papers.sinorina.claims import CLAIMS
from ensemblage.reproduce.papers.sinorina.protocol import EXPERIMENTS
from ensemblage.reproduce.papers.sinorina.tables import FIGURES, TABLES

PAPER = Paper(__name__, EXPERIMENTS, TABLES, FIGURES, CLAIMS)
