"""The scores of the members, best first."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensemblage.base.validation import check_flag, check_numbers

from ._axes import Axes, axes_or_new, label_ticks, remove_frame
from ._checks import check_length
from ._colors import PALETTE
from ._style import in_style

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
        _draw_named(ax, values[order], spread, labels)
        ax.set_xlabel(label)
    else:
        ranks = np.arange(1, len(order) + 1)
        if spread.any():
            ax.vlines(ranks, values[order] - spread, values[order] + spread, color=PALETTE[0], linewidth=1)
        ax.plot(ranks, values[order], "o", color=PALETTE[0], markersize=3.5)
        ax.set(xlabel="rank (1 = best)", ylabel=label)
        ax.grid(axis="y", color="0.9")
    ax.set_axisbelow(True)
    return remove_frame(ax)


def _draw_named(ax: Axes, scores: NDArray[np.float64], spread: NDArray[np.float64], names: Sequence[object]) -> None:
    positions = list(range(len(names)))
    if spread.any():
        ax.hlines(positions, scores - spread, scores + spread, color=PALETTE[0], linewidth=1)
    ax.plot(scores, positions, "o", color=PALETTE[0], markersize=5)
    label_ticks(ax, "y", positions, names)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.grid(axis="y", color="0.9")
    ax.tick_params(axis="y", length=0)
