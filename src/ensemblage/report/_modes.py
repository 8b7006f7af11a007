"""Whether the partitions tell one story: `ConsensusModes` on the page."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage import plotting
from ensemblage.consensus import ConsensusModes
from ensemblage.labels.ensemble import Ensemble
from ensemblage.metrics import align_labels
from ensemblage.metrics._agreement import agreement_with
from ensemblage.report._drawn import tree_svg
from ensemblage.report._layout import Cell, Picture, Section, Table, hand_drawn, number, percent, plural
from ensemblage.report._other_numbers import LEAST_PART, MOST_BESIDE, difference, number_anew
from ensemblage.report._ranking import finite_or_none, short_repr

Summary = Mapping[str, Any]

_MOST_NAMES = 4
_MOST_ROWS, _MOST_LABELS = 8, 1_000
"""Of the tree of stories: the answer with the first stories, and objects by which it is drawn."""
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


def points_by_story(modes: Any, labels: NDArray[Any], chosen: NDArray[Any]) -> dict[str, list[int]]:
    """The clusters of the objects that are drawn in each of several modes, by numbers of the answer's clusters."""
    return {f"story {q + 1}": z[chosen].tolist() for q, z in enumerate(stories_of(modes, labels))}


def is_nested(first: NDArray[Any], second: NDArray[Any]) -> bool:
    """Whether nearly all clusters of the finer clustering lie in one of the coarser."""
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
    tree = replace(_stories_picture(found["labels"], found.get("numbers")), wide=wide)
    return Section("Do they tell one story?", sentences, [tree], tables)


def _stories_picture(labels: list[list[int]], numbers: list[int] | None) -> Picture:
    """A row for the answer and for each story; ``numbers`` are those that people know the clusters of the answer by."""
    rows = {q: np.array(z) for q, z in enumerate(labels)}
    names = {q: f"story {q}" if q else "answer" for q in rows}
    caption = (
        "A row for the answer and for each story, a circle per cluster, its size by its objects, its colour that of "
        "the cluster of the answer that it shares most objects with. Lines show where the objects go from row to row."
    )
    draw = partial(_stories_axes, rows, names)
    return hand_drawn("From the answer to each story", tree_svg(rows, 0, names, numbers), "stories", draw, caption)


def _stories_axes(rows: Mapping[int, NDArray[Any]], names: Mapping[int, str]) -> Any:
    ax = plotting.clustree({q: number_anew(z) for q, z in rows.items()}, n_clusters=0)
    ax.set_yticks(range(len(rows)), labels=[names[q] for q in sorted(rows)])
    ax.set_ylabel("")
    return ax


def _names_text(names: list[str]) -> str:
    more = len(names) - _MOST_NAMES
    return ", ".join(names[:_MOST_NAMES]) + (f" and {plural(more, 'other')}" if more > 0 else "")
