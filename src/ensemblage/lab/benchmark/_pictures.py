"""A set where an entry loses, drawn: the known classes, its clusters, those of the best baseline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ensemblage.lab.benchmark._board import Board, Loss, Scope, name_of
from ensemblage.lab.benchmark._sets import BenchmarkSet
from ensemblage.plotting import PALETTE, UNLABELLED_COLOR
from ensemblage.report._layout import Picture
from ensemblage.report._svg import to_svg

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_POINTS = 1_500
"""Drawn of a set."""


def picture_of_loss(
    board: Board, scope: Scope, loss: Loss, sets: Mapping[str, BenchmarkSet], name: str
) -> Picture | None:
    """The picture of a set where an entry is far below the best baseline, None if one of them has no labels."""
    baseline = board.best_baseline(scope)
    if baseline is None or loss.set not in sets:
        return None
    one = sets[loss.set]
    panels = [("known classes", one.references[0] - 1)]
    for entry in (loss.entry, name_of(*baseline)):
        labels = labels_of(board, scope, entry, loss.set)
        if labels is None:
            return None
        panels.append((entry, labels))
    figure = draw(one.whole, panels)
    sentence = f"ARI {loss.score:.3f}, {name_of(*baseline)} {loss.baseline:.3f}."
    return Picture(f"{loss.entry} loses on {loss.set}", to_svg(figure.axes[0], f"loss-{name}"), [sentence], wide=True)


def labels_of(board: Board, scope: Scope, entry: str, name: str) -> NDArray[np.int64] | None:
    """The labels of seed 0, None if there are none."""
    for row in board.rows:
        of = (row.set, name_of(row.entry.name, row.pool), row.entry.column, row.seed, row.is_part)
        if of == (name, entry, scope.setting, 0, False) and row.result.numbers is not None:
            return row.labels
    return None


def draw(X: NDArray[np.float64], panels: Sequence[tuple[str, NDArray[np.int64]]]) -> Figure:
    """One panel per labeling of (n, m) features: two of them, or their first two principal components."""
    from matplotlib.figure import Figure

    if X.shape[1] != 2:
        centred = X - X.mean(axis=0)
        left, scales, _ = np.linalg.svd(centred, full_matrices=False)
        X = left[:, :2] * scales[:2] if X.shape[1] > 2 else np.column_stack([centred, np.zeros(len(X))])
    drawn = np.random.default_rng(0).permutation(len(X))[:MOST_POINTS]
    figure = Figure(figsize=(2.6 * len(panels), 2.7), layout="constrained")
    for place, (title, labels) in enumerate(panels, 1):
        ax = figure.add_subplot(1, len(panels), place)
        shown = labels[drawn]
        colors = [UNLABELLED_COLOR if label < 0 else PALETTE[label % len(PALETTE)] for label in shown]
        ax.scatter(X[drawn, 0], X[drawn, 1], c=colors, s=4, linewidths=0, rasterized=True)
        ax.set_title(title, fontsize=8)
        ax.set_xticks([])
        ax.set_yticks([])
    return figure
