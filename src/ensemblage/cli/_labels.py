"""What is written of each object."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.text import write_csv
from ensemblage.labels.threads import row_blocks
from ensemblage.metrics import verdicts
from ensemblage.stability import MergedClusters

LABEL_COLUMNS = ("id", "cluster", "confidence", "verdict", "runner_up", "runner_up_share")
MERGED_COLUMN = "merged_cluster"
"""With --merge-unsupported: the cluster, or the first of those that it was merged with."""


def numbers_of(consensus: Any) -> NDArray[np.int64]:
    """(k + 1,) what people call each cluster; at the place -1 that of none."""
    numbers = getattr(consensus, "cluster_numbers_", np.arange(consensus.labels_.max(initial=-1) + 1))
    return np.append(numbers, -1)


def write_labels(path: Path, ids: Sequence[Any], consensus: Any, merged: MergedClusters | None = None) -> None:
    """One line per object: id, cluster (−1: none), and `certainty_cells`; with merged clusters, that of each, too."""

    numbers = numbers_of(consensus)
    firsts = None if merged is None else np.append([group[0] for group in merged.groups], -1)[merged.labels]

    def lines() -> Iterator[tuple[Any, ...]]:
        for block in row_blocks(len(consensus.labels_)):
            clusters = numbers[consensus.labels_[block]].tolist()
            more = [] if firsts is None else [firsts[block].tolist()]
            yield from zip(ids[block], clusters, *certainty_cells(consensus, block, numbers), *more, strict=True)

    write_csv(path, [*LABEL_COLUMNS, *[MERGED_COLUMN] * (merged is not None)], lines())


def certainty_cells(consensus: Any, block: slice, numbers: NDArray[Any]) -> tuple[list[Any], ...]:
    """Of some objects: confidence, its word, the next best cluster and its share, 1 − confidence; empty: none.

    ``numbers`` are those of the clusters, and -1 of none.
    """
    confidence = consensus.confidence_[block]
    others = ["" if r < 0 else r for r in numbers[consensus.runner_up_[block]].tolist()]
    values, places = np.unique(confidence, return_inverse=True)  # objects with the same labels have the same
    shown, shares = (
        np.array(["" if c != c else f"{c:.6g}" for c in of], dtype=object)[places].tolist()
        for of in (values.tolist(), (1 - values).tolist())
    )
    shares = ["" if r == "" else share for r, share in zip(others, shares, strict=True)]
    return shown, verdicts(confidence).tolist(), others, shares
