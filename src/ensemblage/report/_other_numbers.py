"""The same hierarchy cut at other numbers of clusters: what splits, what merges, and a small tree of that."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage import plotting
from ensemblage.base.text import listing
from ensemblage.metrics import align_labels
from ensemblage.report._chosen import rated_numbers
from ensemblage.report._drawn import tree_svg
from ensemblage.report._layout import Cell, Picture, Section, Table, number

Summary = Mapping[str, Any]

_BESIDE = 2
"""Numbers to each side of that of the answer."""
_MOST_LABELS = 1_000
"""Objects by which the tree is drawn."""
_MOST_NAMED = 6
HIERARCHY, K_MEANS = "the same hierarchy", "k-means"
"""What made the other numbers of clusters by which points are coloured."""


def other_numbers(consensus: Any, labels: NDArray[Any]) -> dict[int, NDArray[np.int64]]:
    """By number of clusters, that of the answer among them, (n,) labels of cuts of the hierarchy of the consensus.

    Clusters have the numbers of those of ``labels`` that they share most objects with. Empty without a hierarchy of
    the objects, and where the answer is no cut of it. O(n log n) time for each number.
    """
    matrix, n, k = getattr(consensus, "linkage_matrix_", None), len(labels), int(labels.max(initial=-1)) + 1
    if matrix is None or k < 2 or np.shape(matrix) != (n - 1, 4):
        return {}
    labelled = np.flatnonzero(labels >= 0)
    if not _are_equal(cut(matrix, len(labelled), k)[labelled], labels[labelled]):
        return {}
    asked = range(max(2, k - _BESIDE), min(k + _BESIDE, len(labelled)) + 1)
    found = {q: np.where(labels >= 0, cut(matrix, len(labelled), q), -1) for q in asked}
    return {q: np.asarray(align_labels(z, labels), dtype=np.int64) for q, z in found.items()}


def cut(matrix: NDArray[np.float64], n_labelled: int, k: int) -> NDArray[np.int64]:
    """(n,) clusters of the objects after all merges of labelled ones but the last k − 1, numbered from 0.

    ``matrix`` is in SciPy's format, (n − 1, 4); objects without a label merge last.
    """
    n, n_merges = len(matrix) + 1, max(n_labelled - k, 0)
    above = np.arange(n + n_merges)
    pairs = matrix[:n_merges, :2].astype(np.int64)
    above[pairs[:, 0]] = above[pairs[:, 1]] = n + np.arange(n_merges)
    while True:  # twice as many merges at each step
        further = above[above]
        if np.array_equal(further, above):
            return np.unique(above[:n], return_inverse=True)[1].astype(np.int64).reshape(n)
        above = further


def _are_equal(first: NDArray[Any], second: NDArray[Any]) -> bool:
    """Whether two clusterings are the same up to names."""
    pairs = len(np.unique(np.stack([first, second]), axis=1)[0])
    return pairs == len(np.unique(first)) == len(np.unique(second))


def other_numbers_summary(
    found: Mapping[int, NDArray[np.int64]], labels: NDArray[Any], numbers: list[int] | None
) -> dict[str, Any] | None:
    """What the page shows of other numbers; ``numbers`` are those that people know the clusters by."""
    if len(found) < 2:
        return None
    k, step = int(labels.max()) + 1, -(-len(labels) // _MOST_LABELS)
    return {
        "n_clusters": k,
        "labels": {str(q): z[::step].tolist() for q, z in found.items()},
        "changes": [{"k": q, "sentence": _change(z, labels, numbers)} for q, z in found.items() if q != k],
    }


def _change(other: NDArray[np.int64], labels: NDArray[Any], numbers: list[int] | None) -> str:
    """Which clusters of the answer split, or merge, and how large the parts are."""
    known = labels >= 0
    table = np.zeros((int(labels.max()) + 1, int(other.max()) + 1), dtype=np.int64)
    np.add.at(table, (labels[known], other[known]), 1)
    names = numbers or list(range(len(table)))
    said = list(_splits(table, names) if (table > 0).sum() > len(table) else _merges(table, names))
    more = [f"{len(said) - _MOST_NAMED} more"] * (len(said) > _MOST_NAMED)
    return f"{'; '.join([*said[:_MOST_NAMED], *more])}."


def _splits(table: NDArray[np.int64], names: list[int]) -> Iterator[str]:
    for name, row in zip(names, table, strict=True):
        parts = sorted(row[row > 0].tolist(), reverse=True)
        if len(parts) > 1:
            yield f"cluster {name} splits into {listing([f'{part:,}' for part in parts])}"


def _merges(table: NDArray[np.int64], names: list[int]) -> Iterator[str]:
    for column in table.T:
        merged = [str(names[c]) for c in np.flatnonzero(column).tolist()]
        if len(merged) > 1:
            yield f"clusters {listing(merged)} merge into one of {int(column.sum()):,}"


def other_numbers_section(summary: Summary) -> Section | None:
    """The neighbours of the answer."""
    found = summary.get("other_numbers")
    if not found:
        return None
    rated, k = (rated_numbers(summary) or {}).get("predicted", {}), found["n_clusters"]
    rows: list[list[Cell]] = [
        [str(row["k"]), row["sentence"][:1].upper() + row["sentence"][1:], *_rating(rated, row["k"])]
        for row in found["changes"]
    ]
    columns = ["Clusters", "Against the answer", *["Rated"] * bool(rated)]
    labels = {int(q): np.array(z) for q, z in found["labels"].items()}
    caption = (
        "A row per number of clusters, a circle per cluster, its size by its objects, its colour that of the cluster "
        "of the answer that it shares most objects with. Lines show where the objects go."
    )
    shown = Picture(
        "From one number to the next",
        tree_svg(labels, k),
        [caption],
        name="other_numbers",
        figures={"other_numbers": partial(_tree_figure, labels, k)},
    )
    sentence = "The hierarchy that gave the answer, cut at the numbers of clusters beside it."
    table = Table("What splits, what merges", columns, rows, text=(1,), name="numbers")
    return Section("Other numbers of clusters", [sentence], [shown], [table])


def _rating(rated: Mapping[str, float], k: int) -> list[str]:
    return [number(rated.get(str(k)), 2)] if rated else []


def _tree_figure(labels: Mapping[int, NDArray[Any]], k: int) -> Any:
    numbered = {q: np.unique(np.append(-1, z), return_inverse=True)[1][1:] - 1 for q, z in labels.items()}
    return plotting.clustree(numbered, n_clusters=k).figure
