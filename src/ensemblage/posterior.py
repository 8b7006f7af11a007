"""Draws from a posterior of partitions: read them, summarise them, and say how far chains and draws agree."""

from ensemblage.choices._draws_summary import summarize_draws
from ensemblage.io._draws import PosteriorDraws, read_draws
from ensemblage.metrics._chain_agreement import chain_agreement
from ensemblage.metrics._posterior import chips, credible_ball, expected_loss

__all__ = [
    "PosteriorDraws",
    "chain_agreement",
    "chips",
    "credible_ball",
    "expected_loss",
    "read_draws",
    "summarize_draws",
]
