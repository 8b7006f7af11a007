"""The open leaderboard: consensus methods, rankers, clusterers on public sets, scored against known classes."""

from ensemblage_lab.benchmark._board import Board
from ensemblage_lab.benchmark._run import Request, benchmark, status

__all__ = ["Board", "Request", "benchmark", "status"]
