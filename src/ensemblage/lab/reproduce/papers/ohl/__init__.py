"""Ohl & Lindsten 2025, "Discriminative ordering through ensemble consensus": Sec. 4, App. B and D."""

from ensemblage.lab.reproduce.papers import Paper
from ensemblage.lab.reproduce.papers.ohl import tables
from ensemblage.lab.reproduce.papers.ohl.protocol import EXPERIMENTS

PAPER = Paper(__name__, EXPERIMENTS, tables)
