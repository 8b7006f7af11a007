"""Several partitions of the same objects, one above the other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensemblage.base.validation import check_whole
from ensemblage.metrics._align import Coded, match_rows, overlaps

from ._axes import Axes, axes_or_new, label_ticks
from ._checks import check_length, whole_numbers
from ._colors import cluster_colors


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
