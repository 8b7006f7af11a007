"""Data without clusters that are otherwise like the data: principal components made unimodal."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.isotonic import isotonic_regression
from sklearn.utils import check_random_state

from ensemblage.kernels._squares import PLACES_OF_KNOT, draw_columns, fill_quantiles
from ensemblage.stability._resamples import Axes


class Quantiles(NamedTuple):
    """A distribution by its quantile function, linear between knots."""

    shares: NDArray[np.float64]
    """Ascending from 0 to 1."""
    values: NDArray[np.float64]
    """Ascending."""


class UnimodalComponents:
    """Draws data whose principal components are independent and have one mode each.

    Every component keeps its side shares, and on either side of its mode the decreasing density that is nearest to the
    observed one (Grenander): covariance, skewness and tails stay, two modes become one with a shoulder, or a uniform.
    So what a method finds in such data is no cluster. Dependence other than correlation is lost.
    O(n d min(n, d)) time to fit, O(n d min(n, d)) per draw; O(n d) memory.
    """

    def __init__(self, X: NDArray[np.float64], rotated: bool = True) -> None:
        """X : (n, d) finite, n ≥ 2; on its principal axes, or on the features, whose covariance is lost then."""
        self.centre = X.mean(axis=0)
        self.axes = Axes.of(X) if rotated else None
        self.of_data = X - self.centre if self.axes is None else self.axes.scores
        """(n, r) the data on those axes, r = min(n, d), or on the features, r = d; distances are those of X."""
        components = [unimodal(scores) for scores in self.of_data.T]
        self.ends = np.cumsum([0, *(len(component.shares) for component in components)])
        self.quantiles = np.empty((self.ends[-1], 4)), np.empty(PLACES_OF_KNOT * self.ends[-1], dtype=np.int32)
        """Component after component, as a draw needs them."""
        for component, first, last in zip(components, self.ends[:-1], self.ends[1:], strict=True):
            table, places = self.quantiles
            fill_quantiles(*component, table[first:last], places[PLACES_OF_KNOT * first : PLACES_OF_KNOT * last])

    def scores(self, seed: int) -> NDArray[np.float64]:
        """(n, r) the draw of a seed, as ``of_data``."""
        shares = check_random_state(seed).random_sample(self.of_data.shape)
        drawn: NDArray[np.float64] = np.empty_like(shares)
        draw_columns(shares, *self.quantiles, self.ends, drawn)
        return drawn

    def draw(self, seed: int) -> NDArray[np.float64]:
        """(n, d) data of a seed."""
        scores = self.scores(seed)
        return np.asarray(self.centre + (scores if self.axes is None else scores @ self.axes.directions))


def unimodal(values: NDArray[np.float64]) -> Quantiles:
    """The distribution around the mode of n values whose density falls on either side, as near as may be to theirs."""
    ordered = np.sort(values)
    mode = half_mode(ordered)
    left, right = mode - ordered[ordered < mode][::-1], ordered[ordered >= mode] - mode
    share = len(left) / len(ordered)
    below, above = decreasing(left), decreasing(right)
    return Quantiles(
        np.concatenate([share * (1 - below.shares[::-1]), share + (1 - share) * above.shares]),
        np.concatenate([mode - below.values[::-1], mode + above.values]),
    )


def half_mode(ordered: NDArray[np.float64]) -> float:
    """Midpoint of the shortest interval that holds more than half of ascending values; of the first such interval."""
    n_more = len(ordered) // 2
    first = int(np.argmin(ordered[n_more:] - ordered[: len(ordered) - n_more]))
    return float(ordered[first] + ordered[first + n_more]) / 2


def decreasing(distances: NDArray[np.float64]) -> Quantiles:
    """Grenander's estimate of a decreasing density on [0, ∞) from ascending distances ≥ 0.

    Its distribution function is the least concave majorant of theirs; its slopes are the isotonic regression of those
    between neighbours. A share at distance 0 stays there. Without any distance, all of it is at 0.
    """
    knots, counts = np.unique(distances, return_counts=True)
    if not len(knots) or knots[-1] == 0:
        return Quantiles(np.array([0.0, 1.0]), np.zeros(2))
    at_zero = counts[0] / len(distances) if knots[0] == 0 else 0.0
    positive, shares = knots[knots > 0], counts[knots > 0] / len(distances)
    widths = np.diff(positive, prepend=0.0)
    slopes = isotonic_regression(shares / widths, sample_weight=widths, increasing=False)
    majorant = at_zero + np.concatenate([[0.0], np.cumsum(slopes * widths)])
    zero = [0.0] if at_zero else []
    return Quantiles(np.concatenate([zero, majorant / majorant[-1]]), np.concatenate([zero, [0.0], positive]))
