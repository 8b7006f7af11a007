"""The members of an ensemble: several partitions one above the other, and their scores, best first."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensemblage.base.validation import check_flag, check_numbers, check_whole
from ensemblage.metrics._align import Coded, match_rows, overlaps

from ._axes import (
    PALETTE,
    Axes,
    axes_or_new,
    check_length,
    cluster_colors,
    in_style,
    label_ticks,
    remove_frame,
    whole_numbers,
)


def partition_strips(
    labels: ArrayLike, *, names: Sequence[object] | None = None, most: int = 2_000, ax: Axes | None = None
) -> Axes:
    """Strips of several partitions: a column of colour per object, a row per partition, objects in one order.

    A cluster has the colour of the cluster of the first partition that it shares most objects with, each colour once.
    The objects are ordered by the first partition, then by the second, and so on. O(n r log n) time, O(n r) memory.

    Parameters
    ----------
    labels : array-like of int, shape (n_objects, r)
        A column per partition, such as an estimate and the bounds of its credible ball; negative ones are in none.
    names : sequence of r, optional
        What the partitions are called. Default: their numbers from 0.
    most : int, default 2000
        Of more objects an even choice in their order is drawn.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Axes
        Where it was drawn.

    Examples
    --------
    >>> from ensemblage.plotting import partition_strips
    >>> ax = partition_strips([[0, 0], [0, 0], [1, 0], [1, 1]], names=["estimate", "draw"])
    >>> [tick.get_text() for tick in ax.get_yticklabels()]
    ['estimate', 'draw']
    """
    given = whole_numbers(labels, "labels of partition_strips", ("n", "r"), least=1)
    if not given.shape[1]:
        raise ValueError(
            f"labels of partition_strips must have one partition or more. Got shape {given.shape}. Give a column per "
            "partition."
        )
    check_length(names, given.shape[1], "names of partition_strips")
    check_whole(most, "most of partition_strips", 1)
    strips = aligned_strips(given, most)
    ax = axes_or_new(ax, 6.4, 0.5 + 0.32 * len(strips))
    colors = cluster_colors(strips)
    ax.imshow(colors, aspect="auto", interpolation="nearest", extent=(0, strips.shape[1], len(strips) - 0.5, -0.5))
    for row in range(1, len(strips)):
        ax.axhline(row - 0.5, color="white", linewidth=3)
    label_ticks(ax, "y", range(len(strips)), range(len(strips)) if names is None else names)
    ax.set_xticks([])
    ax.tick_params(length=0)
    ax.set_xlabel("objects, ordered by the first partition, then the others")
    ax.spines[:].set_visible(False)
    return ax


def aligned_strips(labels: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """(r, at most ``most``) numbers of clusters as the first of (n, r) partitions has them, objects in one order."""
    first = Coded.of(labels[:, 0], "the first partition")
    strips = [first.clusters]
    for column in labels.T[1:]:
        other = Coded.of(column, "a partition")
        number = match_rows(overlaps(other, first))
        number[number < 0] = len(first.labels) + np.arange((number < 0).sum())
        strips.append(np.append(number, -1)[other.clusters])
    table = np.stack(strips)
    order = np.lexsort([*table[:0:-1], np.where(table[0] < 0, table.max() + 1, table[0])])
    if len(order) > most:
        order = order[np.linspace(0, len(order) - 1, most).round().astype(np.int64)]
    return table[:, order]


# -- scores ------------------------------------------------------------------------------------------------------------


_MOST_NAMES = 30


@in_style
def ranking_scores(
    scores: ArrayLike,
    *,
    names: Sequence[object] | None = None,
    errors: ArrayLike | None = None,
    greater_is_better: bool = True,
    label: str = "score",
    ax: Axes | None = None,
) -> Axes:
    """Dots of the scores of the members of an ensemble, from best to worst.

    Up to 30 members are named; more are drawn over their ranks.

    Parameters
    ----------
    scores : array-like of float, shape (p,)
        ``scores_`` of a ranking. Members without a finite score are left out.
    names : sequence, optional
        Names of the members; by default their numbers from 0.
    errors : array-like of float, shape (p,), optional
        Standard errors of the scores; bars reach twice as far to each side.
    greater_is_better : bool, default True
        Whether the largest score is the best.
    label : str, default "score"
        What the scores are.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Axes
        Where it was drawn.

    Examples
    --------
    >>> from ensemblage.plotting import ranking_scores
    >>> ax = ranking_scores([0.2, 0.7], names=["a", "b"])
    >>> [tick.get_text() for tick in ax.get_yticklabels()]
    ['b', 'a']
    """
    check_flag(greater_is_better, "greater_is_better of ranking_scores")
    values = check_numbers(scores, "scores of ranking_scores", ("p",))
    check_length(names, len(values), "names of ranking_scores")
    deviations = (
        np.zeros(len(values)) if errors is None else check_numbers(errors, "errors of ranking_scores", values.shape)
    )
    order = np.argsort(-values if greater_is_better else values, kind="stable")
    order = order[np.isfinite(values[order])]
    spread = 2 * deviations[order]
    named = len(order) <= _MOST_NAMES
    ax = axes_or_new(ax, 4.8, max(2.4, 1.0 + 0.22 * len(order)) if named else 3.6)
    if named:
        labels = [names[i] if names is not None else i for i in order.tolist()]
        positions = list(range(len(order)))
        if spread.any():
            ax.hlines(positions, values[order] - spread, values[order] + spread, color=PALETTE[0], linewidth=1)
        ax.plot(values[order], positions, "o", color=PALETTE[0], markersize=5)
        label_ticks(ax, "y", positions, labels)
        ax.set(xlabel=label, ylim=(len(order) - 0.5, -0.5))
        ax.grid(axis="y", color="0.9")
        ax.tick_params(axis="y", length=0)
    else:
        ranks = np.arange(1, len(order) + 1)
        if spread.any():
            ax.vlines(ranks, values[order] - spread, values[order] + spread, color=PALETTE[0], linewidth=1)
        ax.plot(ranks, values[order], "o", color=PALETTE[0], markersize=3.5)
        ax.set(xlabel="rank (1 = best)", ylabel=label)
        ax.grid(axis="y", color="0.9")
    ax.set_axisbelow(True)
    return remove_frame(ax)
