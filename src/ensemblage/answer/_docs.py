"""Parts of the docstrings of this package: see `base.docs`."""

from __future__ import annotations

from ensemblage.base.docs import PARTS as SHARED
from ensemblage.base.selections import DEFAULT_SELECTION

PARTS = {
    **SHARED,
    "selection": f"""\
selection : {{"learned", "consensus"}}, default "{DEFAULT_SELECTION}"
    "learned": where neither ``generator`` nor another ``consensus`` than the default is given, ``ScaledPartitions``
    makes the partitions, and regression trees that were trained on synthetic sets alone give them weights and find the
    number of clusters. "consensus": every partition has the same weight, and `choose_k` finds the number. "learned" is
    the same as "consensus" with quality "fast", with weights of rows, with categories as members, and where several
    algorithms cannot cluster the data.""",
}
