"""Sinorina, Hamilton & Zilles 2022, "Efficient removal of weak associations in consensus clustering" (Sec. 5)."""

from ensemblage.lab.reproduce.papers import Paper
from ensemblage.lab.reproduce.papers.sinorina import claims, tables
from ensemblage.lab.reproduce.papers.sinorina.protocol import EXPERIMENTS

PAPER = Paper(__name__, EXPERIMENTS, tables, claims)
