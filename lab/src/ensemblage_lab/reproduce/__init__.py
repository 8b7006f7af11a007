"""The five papers, table by table: every published number beside ours.

One folder per paper in ``papers``: what was done, its tables and claims, and the published numbers as CSV.
"""

from ensemblage_lab.reproduce._paper import PAPERS, load_paper
from ensemblage_lab.reproduce._reproduce import Request, reproduce, status

__all__ = ["PAPERS", "Request", "load_paper", "reproduce", "status"]
