"""How the partitions that are combined get their weights: the words for it, and the default."""

from __future__ import annotations

from typing import Final, Literal

LEARNED: Final = "learned"
BY_CONSENSUS: Final = "consensus"
SELECTIONS = (LEARNED, BY_CONSENSUS)
DEFAULT_SELECTION: Literal["learned", "consensus"] = "learned"
"""Of `ConsensusClustering`, `default_plan` and ``ensemblage run``, and of what is written of them."""
