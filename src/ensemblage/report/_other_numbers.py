"""The same hierarchy cut at other numbers of clusters: what splits, what merges, and a small tree of that."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage import plotting
from ensemblage.base.text import listing
from ensemblage.choices._choice_records import KChoice
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
_WHOLE = 0.9
"""Share of a cluster that is all of it but for a few objects."""
MOST_BESIDE = 11
"""Clusters of a tree that has room beside a table."""
LEAST_PART = 0.1
"""Share of a cluster from which a part is named, where two clusterings were not made of each other."""
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


def compared_numbers(choice: Any, labels: NDArray[Any]) -> dict[int, NDArray[np.int64]]:
    """By number of clusters, (n,) labels of the k-means clusterings that `choose_k` compared, and of the answer.

    Negative where it did not look; empty without such a choice. Clusters have the numbers of those of ``labels``.
    """
    if not isinstance(choice, KChoice) or not (labels[choice.objects] >= 0).any():
        return {}
    k = int(labels.max(initial=-1)) + 1
    found = {}
    for q in range(max(2, k - _BESIDE), k + _BESIDE + 1):
        if q == k or q in choice.labels:
            found[q] = np.full(len(labels), -1, dtype=np.int64)
            own = labels[choice.objects]
            found[q][choice.objects] = own if q == k else align_labels(choice.labels[q], own)
    return found


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
            return _numbered(above[:n])
        above = further


def _are_equal(first: NDArray[Any], second: NDArray[Any]) -> bool:
    """Whether two clusterings, of numbers from 0, are the same up to names."""
    table = np.zeros((int(first.max()) + 1, int(second.max()) + 1), dtype=bool)
    table[first, second] = True
    return bool((table.sum(axis=0) == 1).all() and (table.sum(axis=1) == 1).all())


def _numbered(clusters: NDArray[np.int64]) -> NDArray[np.int64]:
    """(n,) whole numbers ≥ 0 as the ranks of those that there are."""
    is_there = np.zeros(int(clusters.max()) + 1, dtype=np.int64)
    is_there[clusters] = 1
    return np.asarray((np.cumsum(is_there) - 1)[clusters], dtype=np.int64)


def other_numbers_summary(
    found: Mapping[int, NDArray[np.int64]], labels: NDArray[Any], numbers: list[int] | None, made_by: str
) -> dict[str, Any] | None:
    """What the page shows of other numbers; ``numbers`` are those that people know the clusters by."""
    if len(found) < 2:
        return None
    least = 0.0 if made_by == HIERARCHY else LEAST_PART
    k, step = int(labels.max()) + 1, -(-len(labels) // _MOST_LABELS)
    return {
        "n_clusters": k,
        "made_by": made_by,
        "numbers": numbers,
        "labels": {str(q): z[::step].tolist() for q, z in found.items()},
        "changes": [{"k": q, "sentence": difference(z, labels, numbers, least)} for q, z in found.items() if q != k],
    }


def difference(other: NDArray[np.int64], labels: NDArray[Any], numbers: list[int] | None, least: float = 0.0) -> str:
    """Which clusters of the answer split, and which merge, in another clustering, (n,); with sizes.

    A part of a cluster is named where it has more than the share ``least`` of it, or half of its cluster of ``other``;
    so is a source of a cluster of ``other``. ``numbers`` are those that people know the clusters of ``labels`` by.
    """
    known = (labels >= 0) & (other >= 0)
    table = np.zeros((int(labels.max()) + 1, int(other.max()) + 1), dtype=np.int64)
    np.add.at(table, (labels[known], other[known]), 1)
    of_answer = table / np.maximum(table.sum(axis=1, keepdims=True), 1)
    of_other = table / np.maximum(table.sum(axis=0), 1)
    is_part = (of_answer > least) | (of_other > 0.5)
    is_source = (of_other > least) | (of_answer > 0.5)
    names = numbers or list(range(len(table)))
    said = [*_splits(table, is_part, names), *_merges(table, is_source, of_answer, names)]
    if not said:
        moved = int(known.sum() - table.max(axis=1).sum())
        return f"the same clusters, but for {moved:,} object{'s' * (moved > 1)}." if moved else "the same clusters."
    more = [f"{len(said) - _MOST_NAMED} more"] * (len(said) > _MOST_NAMED)
    return f"{'; '.join([*said[:_MOST_NAMED], *more])}."


def _splits(table: NDArray[np.int64], is_part: NDArray[np.bool_], names: list[int]) -> Iterator[str]:
    for name, row, parted in zip(names, table, is_part, strict=True):
        parts = sorted(row[parted & (row > 0)].tolist(), reverse=True)
        if len(parts) > 1:
            yield f"cluster {name} splits into {listing([f'{part:,}' for part in parts])}"


def _merges(
    table: NDArray[np.int64], is_source: NDArray[np.bool_], of_answer: NDArray[np.float64], names: list[int]
) -> Iterator[str]:
    """Whole clusters merge; of others parts are together."""
    for column, sources, shares in zip(table.T, is_source.T, of_answer.T, strict=True):
        merged = np.flatnonzero(sources & (column > 0))
        if len(merged) < 2:
            continue
        named, size = listing([str(names[c]) for c in merged.tolist()]), int(column.sum())
        if shares[merged].min() >= _WHOLE:
            yield f"clusters {named} merge into one of {size:,}"
        else:
            yield f"parts of clusters {named} form one of {size:,}"


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
    wide = max(map(int, found.get("labels") or [0])) > MOST_BESIDE
    table = Table("What splits, what merges", columns, rows, text=(1,), wide=wide, name="numbers")
    if found.get("made_by", HIERARCHY) == K_MEANS:
        sentence = "The k-means clusterings with the numbers beside that of the answer, which were compared to find it."
        return Section("Other numbers of clusters", [sentence], tables=[table])
    labels = {int(q): np.array(z) for q, z in found["labels"].items()}
    caption = (
        "A row per number of clusters, a circle per cluster, its size by its objects, its colour that of the cluster "
        "of the answer that it shares most objects with. Lines show where the objects go."
    )
    shown = Picture(
        "From one number to the next",
        tree_svg(labels, k, numbers=found.get("numbers")),
        [caption],
        wide=wide,
        name="other_numbers",
        figures={"other_numbers": partial(_tree_figure, labels, k)},
    )
    sentence = "The hierarchy that gave the answer, cut at the numbers of clusters beside it."
    return Section("Other numbers of clusters", [sentence], [shown], [table])


def _rating(rated: Mapping[str, float], k: int) -> list[str]:
    return [number(rated.get(str(k)), 2)] if rated else []


def _tree_figure(labels: Mapping[int, NDArray[Any]], k: int) -> Any:
    return plotting.clustree({q: number_anew(z) for q, z in labels.items()}, n_clusters=k).figure


def number_anew(labels: NDArray[Any]) -> NDArray[np.int64]:
    """The clusters numbered from 0 without gaps; negative for none."""
    return np.asarray(np.unique(np.append(-1, labels), return_inverse=True)[1][1:] - 1, dtype=np.int64)
