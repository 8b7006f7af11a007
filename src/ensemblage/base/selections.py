"""How the partitions that are combined get their weights: the words for it, and the default."""

from __future__ import annotations

from typing import Literal

LEARNED, BY_CONSENSUS = SELECTIONS = ("learned", "consensus")
DEFAULT_SELECTION: Literal["learned", "consensus"] = "consensus"
"""Of `ConsensusClustering`, `default_plan` and ``ensemblage run``, and of what is written of them."""
