"""The five papers, table by table: every published number beside ours.

One module per paper reads like its experimental section; the published numbers lie beside it as CSV.
"""

from ensemblage.reproduce._reproduce import PAPERS, Request, load_paper, reproduce, status

__all__ = ["PAPERS", "Request", "load_paper", "reproduce", "status"]
