"""Ayad & Kamel 2010, "On voting-based consensus of cluster ensembles": Table 1 and Figs. 1 to 7 (Sec. 4)."""

from ensemblage.lab.reproduce.papers import Paper
from ensemblage.lab.reproduce.papers.ayad import claims, tables
from ensemblage.lab.reproduce.papers.ayad.protocol import EXPERIMENTS

PAPER = Paper(__name__, EXPERIMENTS, tables, claims)
