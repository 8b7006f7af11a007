"""The hierarchy of evidence accumulation, and the associations that it is made of."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage import plotting
from ensemblage._ensemble import Ensemble
from ensemblage.consensus import EvidenceAccumulation
from ensemblage.metrics import association_counts
from ensemblage.metrics._wat import SPLITS, histogram_of
from ensemblage.report._layout import Picture, Section, counted, number, percent
from ensemblage.report._svg import to_svg

Summary = Mapping[str, Any]

_MOST_ROWS = 30_000
"""Of more distinct rows the pairs are not counted for a picture."""
_MOST_BRANCHES = 200
"""Of more clusters the hierarchy is not drawn."""


def evidence_shown(
    ensemble: Ensemble, consensus: Any, clusters: NDArray[Any], weights: NDArray[np.float64]
) -> dict[str, Any] | None:
    """What the figures of an evidence accumulation draw; None for other methods.

    Pairs are counted by the number of partitions that join them: not where partitions have unequal weights.
    """
    if not isinstance(consensus, EvidenceAccumulation) or not len(consensus.linkage_matrix_):
        return None
    counted_pairs = len(ensemble.distinct.counts) <= _MOST_ROWS and np.ptp(weights) == 0
    if clusters.max() >= _MOST_BRANCHES:
        merges, sizes, cluster_of = np.empty((0, 4)), np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    else:
        merges, sizes, cluster_of = plotting.last_merges(consensus.linkage_matrix_, clusters)
    return {
        "merges": merges.tolist(),
        "sizes": sizes.tolist(),
        "clusters": cluster_of.tolist(),
        "linkage": str(consensus.linkage),
        "threshold": None if consensus.association_threshold is None else consensus.threshold_,
        "associations": _associations(ensemble) if counted_pairs else None,
    }


def _associations(ensemble: Ensemble) -> dict[str, Any]:
    """Pairs by the nearest multiple of 1 / p, and where they fall into two groups."""
    table = association_counts(ensemble)
    p = len(table) - 1
    counts = table
    if table.ndim == 2:
        joined = np.arange(p + 1)
        places = np.rint(p * joined[:, None] / np.maximum(joined, 1)).astype(np.int64)
        counts = np.zeros(p + 1, dtype=np.int64)
        np.add.at(counts, np.minimum(places, p), table)
    return {
        "counts": counts.tolist(),
        "thresholds": {name: split(histogram_of(table)) for name, split in SPLITS.items()},
    }


def evidence_section(summary: Summary) -> Section | None:
    """The hierarchy, and how strong the associations are."""
    shown = summary["figures"].get("evidence")
    if not shown:
        return None
    pictures = [_hierarchy(shown)] if shown["merges"] else []
    pictures += [_histogram(shown)] if shown["associations"] else []
    pictures += [_matrices(summary, shown)] if shown["threshold"] is not None else []
    return Section("The evidence", [], pictures) if pictures else None


def _hierarchy(shown: Mapping[str, Any]) -> Picture:
    how = {
        "single": "the most similar two of their objects",
        "average": "their objects on average",
        "complete": "the least similar two of their objects",
    }
    branches = counted(len(shown["sizes"]), "branch").replace("branchs", "branches")
    sentences = [
        (
            f"The last merges of the hierarchy, {branches}. Two branches meet at one minus the association of "
            f"{how[shown['linkage']]}. The grey band is the lifetime of the number of clusters drawn."
        )
    ]
    ax = plotting.dendrogram(shown["merges"], shown["sizes"], shown["clusters"])
    return Picture("How the clusters come together", to_svg(ax, "hierarchy"), sentences)


def _histogram(shown: Mapping[str, Any]) -> Picture:
    found = shown["associations"]
    counts = np.array(found["counts"])
    names = {"kmeans": "two means", "gmm": "two Gaussians"}
    thresholds = {names[name]: value for name, value in found["thresholds"].items()}
    if shown["threshold"] is not None:
        thresholds["used"] = shown["threshold"]
    ax = plotting.association_histogram(counts, thresholds=thresholds)
    total = int(counts.sum())
    used = "None was taken away" if shown["threshold"] is None else f"Those up to {number(shown['threshold'])} were"
    sentences = [
        (
            f"No partition joins {percent(int(counts[0]) / total if total else None)} of the {total:,} pairs of "
            "objects; the bars are the others. Lines part weak associations from strong ones. "
            f"{used}{' taken away' if shown['threshold'] is not None else ''}."
        )
    ]
    return Picture("How strong the associations are", to_svg(ax, "associations"), sentences)


def _matrices(summary: Summary, shown: Mapping[str, Any]) -> Picture:
    matrix = summary["figures"]["matrix"]
    n = len(matrix["percent"])
    shares = np.zeros((n, n))
    for i, row in enumerate(matrix["percent"]):
        shares[i, : i + 1] = shares[: i + 1, i] = np.array(row) / 100
    axes = plotting.thresholded_matrices(shares, matrix["clusters"], shown["threshold"], sizes=matrix["sizes"])
    sentences = ["The pairs of the consensus matrix, before and after weak associations were taken away."]
    return Picture("Without weak associations", to_svg(axes[0], "thresholded"), sentences)
