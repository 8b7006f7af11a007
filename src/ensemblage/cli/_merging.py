"""``--merge-unsupported``: which clusters are left if those are merged between which a test supports no split."""

from __future__ import annotations

from typing import Any

from ensemblage.cli._labels import numbers_of
from ensemblage.cli._progress import tell
from ensemblage.cli._seconds import Seconds
from ensemblage.io._features import Features
from ensemblage.stability import MergedClusters, merge_unsupported


def check_mergeable(features: Features, name: str) -> None:
    """Refuse before the work begins objects without features, along whose lines splits could be tested."""
    if not features.X.shape[1]:
        raise ValueError(f"--merge-unsupported must have features. {name} has only distances or labels. Leave it out.")


def merged_clusters(features: Any, consensus: Any, seed: int, seconds: Seconds) -> MergedClusters:
    """The clusters after unsupported splits are merged; clusters keep their shown numbers."""
    with seconds.spent_on("splits"):
        merged = merge_unsupported(numbers_of(consensus)[consensus.labels_], features.X, random_state=seed)
    tell(merged.sentence)
    if merged.support.note:
        tell(merged.support.note)
    return merged
