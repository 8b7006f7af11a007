"""Other answers for the same objects: other numbers of clusters, several stories, other methods.

The hierarchy is cut at other numbers of clusters. `ConsensusModes` tells whether the partitions tell one story,
`compare_methods` whether other methods say the same.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage import plotting
from ensemblage.base.text import listing
from ensemblage.choices._choice_records import KChoice
from ensemblage.consensus import ConsensusModes
from ensemblage.consensus._method_comparison import MethodComparison
from ensemblage.labels.ensemble import Ensemble
from ensemblage.metrics import align_labels
from ensemblage.metrics._agreement import agreement_with
from ensemblage.report._decided import rated_numbers
from ensemblage.report._drawn import tree_svg
from ensemblage.report._figure_data import symmetric_matrix
from ensemblage.report._layout import Cell, Picture, Section, Table, hand_drawn, number, percent, picture, plural
from ensemblage.report._ranking import finite_or_none, lower_triangle, short_repr

Summary = Mapping[str, Any]

# -- other numbers of clusters -----------------------------------------------------------------------------------------


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
"""Share of a cluster from which a part is named, where two partitions were not made of each other."""
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
    """By number of clusters, (n,) labels of the k-means partitions that `choose_k` compared, and of the answer.

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
    while not np.array_equal(further := above[above], above):  # twice as many merges at each step
        above = further
    clusters = above[:n]
    is_there = np.zeros(int(clusters.max()) + 1, dtype=np.int64)
    is_there[clusters] = 1
    return np.asarray((np.cumsum(is_there) - 1)[clusters], dtype=np.int64)


def _are_equal(first: NDArray[Any], second: NDArray[Any]) -> bool:
    """Whether two partitions, of numbers ≥ 0 that may have gaps, are the same up to names."""
    table = np.zeros((int(first.max()) + 1, int(second.max()) + 1), dtype=bool)
    table[first, second] = True
    return bool((table.sum(axis=0) <= 1).all() and (table.sum(axis=1) <= 1).all())


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
    """Which clusters of the answer split, and which merge, in another partition, (n,); with sizes.

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
        [
            str(row["k"]),
            row["sentence"][:1].upper() + row["sentence"][1:],
            *[number(rated.get(str(row["k"])), 2)] * bool(rated),
        ]
        for row in found["changes"]
    ]
    columns = ["Clusters", "Against the answer", *["Rated"] * bool(rated)]
    wide = max(map(int, found.get("labels") or [0])) > MOST_BESIDE
    table = Table("What splits, what merges", columns, rows, text=(1,), wide=wide, name="numbers")
    if found.get("made_by", HIERARCHY) == K_MEANS:
        sentence = "The k-means partitions with the numbers beside that of the answer, which were compared to find it."
        return Section("Other numbers of clusters", [sentence], tables=[table])
    labels = {int(q): np.array(z) for q, z in found["labels"].items()}
    caption = (
        "A row per number of clusters, a circle per cluster, its size by its objects, its colour that of the cluster "
        "of the answer that it shares most objects with. Lines show where the objects go."
    )
    svg = tree_svg(labels, k, numbers=found.get("numbers"))
    draw = partial(plotting.clustree, {q: number_anew(z) for q, z in labels.items()}, n_clusters=k)
    shown = hand_drawn("From one number to the next", svg, "other_numbers", draw, caption, wide=wide)
    sentence = "The hierarchy that gave the answer, cut at the numbers of clusters beside it."
    return Section("Other numbers of clusters", [sentence], [shown], [table])


def number_anew(labels: NDArray[Any]) -> NDArray[np.int64]:
    """The clusters numbered from 0 without gaps; negative for none."""
    return np.asarray(np.unique(np.append(-1, labels), return_inverse=True)[1][1:] - 1, dtype=np.int64)


# -- one story or several ----------------------------------------------------------------------------------------------


_MOST_NAMES = 4
_MOST_ROWS = 8
"""Of the tree of stories: the answer with the first stories."""
_NESTED = 0.9
"""Objects of the clusters of one mode that lie in one cluster of another, for it to be a finer one."""


def mode_summary(
    modes: Any, names: list[str], labels: NDArray[Any], numbers: list[int] | None
) -> dict[str, Any] | None:
    """What the page shows of the modes of the partitions, whose names are given.

    ``numbers`` are those that people know the clusters of ``labels`` by.
    """
    if modes is None:
        return None
    if not isinstance(modes, ConsensusModes):
        raise TypeError(
            f"modes of report must be a fitted ConsensusModes. Got {short_repr(modes)}. Give one, or leave it out."
        )
    if modes.labels_.shape[0] != len(labels) or len(modes.modes_) != len(names):
        raise ValueError(
            f"modes of report must be fitted on the {len(names):,} partitions of {len(labels):,} objects. Got "
            f"{len(modes.modes_):,} of {modes.labels_.shape[0]:,}. Fit it on the same ensemble."
        )
    agreement, stories = agreement_with(Ensemble._made(modes.labels_), labels, "ari"), stories_of(modes, labels)
    table = [
        {
            "partitions": [names[j] for j in np.flatnonzero(modes.modes_ == q)],
            "n_clusters": int(modes.labels_[:, q].max()) + 1,
            "uncertainty": float(modes.uncertainty_[q]),
            "agreement": finite_or_none(agreement[q]),
            "against": difference(stories[q], labels, numbers, LEAST_PART) if stories else "",
            "nested": q > 0 and is_nested(modes.labels_[:, 0], modes.labels_[:, q]),
        }
        for q in range(modes.n_modes_)
    ]
    rows = [labels, *stories][:_MOST_ROWS] if stories else []
    step = -(-len(labels) // _MOST_LABELS)
    return {
        "sentence": modes.sentence,
        "n_effective": modes.n_effective_,
        "table": table,
        "labels": [z[::step].tolist() for z in rows],
        "numbers": numbers,
    }


def stories_of(modes: Any, labels: NDArray[Any]) -> list[NDArray[np.int64]]:
    """(n,) labels of each of several stories, by numbers of the clusters of ``labels`` that they share most with."""
    if modes is None or modes.n_modes_ < 2 or not (labels >= 0).any():
        return []
    return [np.asarray(align_labels(modes.labels_[:, q], labels), dtype=np.int64) for q in range(modes.n_modes_)]


def is_nested(first: NDArray[Any], second: NDArray[Any]) -> bool:
    """Whether nearly all clusters of the finer partition lie in one of the coarser."""
    known = (first >= 0) & (second >= 0)
    table = np.zeros((int(first.max()) + 1, int(second.max()) + 1), dtype=np.int64)
    np.add.at(table, (first[known], second[known]), 1)
    inside = table.max(axis=int(table.shape[0] >= table.shape[1])).sum()
    return bool(table.shape[0] != table.shape[1] and inside >= _NESTED * known.sum())


def modes_section(summary: Summary) -> Section | None:
    """Of partitions that tell several stories, which."""
    found = summary.get("modes")
    if not found:
        return None
    sentences, table = [found["sentence"]], found["table"]
    if len(table) == 1:
        return Section("Do they tell one story?", sentences)
    if all(row["nested"] for row in table[1:]):
        sentences.append("They differ in how fine they are: clusters of the finer ones lie in those of the coarser.")
    else:
        sentences.append(
            "The consensus is a compromise that may be none of them: read the clusters of each, or combine only the "
            "partitions of one."
        )
    p = sum(len(row["partitions"]) for row in table)
    rows: list[list[Cell]] = [
        [
            str(q + 1),
            f"{len(row['partitions']):,} ({percent(len(row['partitions']) / p)})",
            str(row["n_clusters"]),
            number(row["agreement"], 2),
            number(1 - row["uncertainty"], 2),
            _names_text(row["partitions"]),
        ]
        for q, row in enumerate(table)
    ]
    columns = ["Story", "Partitions", "Clusters", "ARI with the consensus", "Agreement inside", "Which"]
    note = (
        "Groups of partitions by the shortest description of all (Peixoto 2021). Agreement inside: mean share of the "
        "partitions of a group that put an object where most of them do."
    )
    tables = [Table("", columns, rows, note, text=(0, 1, 5), wide=True)]
    if not found.get("labels"):  # of an older summary
        return Section("Do they tell one story?", sentences, tables=tables)
    against: list[list[Cell]] = [
        [f"story {q + 1}", str(row["n_clusters"]), row["against"][:1].upper() + row["against"][1:]]
        for q, row in enumerate(table)
    ]
    columns = ["Story", "Clusters", "Against the answer"]
    wide = max(len(set(z)) for z in found["labels"]) > MOST_BESIDE
    splits = Table("What each story splits and merges", columns, against, text=(0, 2), wide=wide, name="stories")
    tables.insert(0, splits)
    tree = _stories_picture(found["labels"], found.get("numbers"), wide)
    return Section("Do they tell one story?", sentences, [tree], tables)


def _stories_picture(labels: list[list[int]], numbers: list[int] | None, wide: bool) -> Picture:
    """A row for the answer and for each story; ``numbers`` are those that people know the clusters of the answer by."""
    rows = {q: np.array(z) for q, z in enumerate(labels)}
    names = {q: f"story {q}" if q else "answer" for q in rows}
    caption = (
        "A row for the answer and for each story, a circle per cluster, its size by its objects, its colour that of "
        "the cluster of the answer that it shares most objects with. Lines show where the objects go from row to row."
    )
    draw = partial(_stories_axes, rows, names)
    svg = tree_svg(rows, 0, names, numbers)
    return hand_drawn("From the answer to each story", svg, "stories", draw, caption, wide=wide)


def _stories_axes(rows: Mapping[int, NDArray[Any]], names: Mapping[int, str]) -> Any:
    ax = plotting.clustree({q: number_anew(z) for q, z in rows.items()}, n_clusters=0)
    ax.set_yticks(range(len(rows)), labels=[names[q] for q in sorted(rows)])
    ax.set_ylabel("")
    return ax


def _names_text(names: list[str]) -> str:
    more = len(names) - _MOST_NAMES
    return ", ".join(names[:_MOST_NAMES]) + (f" and {plural(more, 'other')}" if more > 0 else "")


# -- other methods -----------------------------------------------------------------------------------------------------


def method_summary(compared: Any, labels: NDArray[Any]) -> dict[str, Any] | None:
    """What the page shows of other methods on the same partitions."""
    if compared is None:
        return None
    if not isinstance(compared, MethodComparison):
        raise TypeError(
            f"method_comparison of report must be what compare_methods returned. Got {short_repr(compared)}. "
            "Leave it out."
        )
    if len(compared.labels) != len(labels):
        raise ValueError(
            f"method_comparison of report must be of the {len(labels):,} objects. Got {len(compared.labels):,}. "
            "Compare the methods on the same ensemble."
        )
    m = len(compared.names)
    with_answer = agreement_with(Ensemble._made(compared.labels, missing=-1), labels, "ari") if m else np.empty(0)
    known = dict(zip(compared.names, with_answer.tolist(), strict=True))
    table = [
        {
            **row._asdict(),
            "agreement": finite_or_none(row.agreement),
            "others": finite_or_none(row.others),
            "answer": finite_or_none(known.get(row.method, np.nan)),
        }
        for row in compared.table
    ]
    order = np.argsort(-np.nan_to_num(with_answer, nan=-1), kind="stable")
    return {
        "sentence": compared.sentence,
        "table": table,
        "names": [compared.names[j] for j in order],
        "answer": [finite_or_none(with_answer[j]) for j in order],
        "ari": lower_triangle(compared.ari[np.ix_(order, order)]),
    }


def methods_section(summary: Summary) -> Section | None:
    """How far the answer hangs on the method."""
    found = summary.get("methods")
    if not found:
        return None
    rows: list[list[Cell]] = [
        [
            row["method"],
            str(row["n_clusters"]) if row["n_clusters"] else "",
            number(row["answer"], 2),
            number(row["agreement"], 2),
            number(row["others"], 2),
            row["refused"],
        ]
        for row in sorted(found["table"], key=lambda row: -2 if row["answer"] is None else -row["answer"] - 3)
    ]
    columns = ["Method", "Clusters", "With the answer", "With the partitions", "With other methods", "Refused because"]
    note = (
        "Adjusted Rand indices, 1 for equal partitions; the last two are means. Every method was asked for as many "
        "clusters as the answer has."
    )
    pictures = []
    if len(found["names"]) > 1:
        strip = np.array([np.nan if value is None else value for value in found["answer"]])
        ax = plotting.agreement(symmetric_matrix(found["ari"]), strip, names=found["names"])
        ax.set_xlabel("methods")
        sentence = (
            "Rows and columns are methods in the order of the table, those nearest to the answer first; the strip on "
            "top is the answer."
        )
        pictures.append(picture("How alike the methods are", ax, "methods", sentence))
    tables = [Table("", columns, rows, note, text=(0, 5), wide=True)]
    return Section("Do other methods say the same?", [found["sentence"]], pictures, tables)
