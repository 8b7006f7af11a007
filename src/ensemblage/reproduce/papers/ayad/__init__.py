"""Ayad & Kamel 2010, "On voting-based consensus of cluster ensembles": Table 1 and Figs. 1 to 7 (Sec. 4)."""

from ensemblage.reproduce.papers import Paper
from ensemblage.reproduce.papers.ayad import claims, tables
from ensemblage.reproduce.papers.ayad.protocol import EXPERIMENTS

PAPER = Paper(__name__, EXPERIMENTS, tables, claims)
