"""Ayad & Kamel 2010, "On voting-based consensus of cluster ensembles": Table 1 and Figs. 1 to 7 (Sec. 4)."""

from ensemblage.reproduce.papers import Paper
from ensemblage.reproduce.papers.ayad.claims import CLAIMS
from ensemblage.reproduce.papers.ayad.protocol import EXPERIMENTS
from ensemblage.reproduce.papers.ayad.tables import FIGURES, TABLES

PAPER = Paper(__name__, EXPERIMENTS, TABLES, FIGURES, CLAIMS)
