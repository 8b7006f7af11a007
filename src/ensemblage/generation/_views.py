"""The scales in which features are clustered: as given, deviation 1, long tails drawn in, rows standardised."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]
OWN, DEVIATION, ROBUST, ROWS, LOGARITHM, GIVEN = VIEWS = ("own", "deviation", "robust", "rows", "logarithm", "given")
MOST_COMPONENTS = 50
"""Principal components that stand for more features where neighbours and spreads are computed."""


class Scales(NamedTuple):
    """How features become a view; fitted."""

    name: str
    """One of `VIEWS`: "own", the features as they are; "deviation", columns of more than two values have deviation 1;
    "robust", these are arsinh((x − median) / half the distance of the quartiles), with deviation 1; "rows", the centred
    rows have mean 0 and deviation 1, so that distances are those of correlations; "logarithm", sign(x) log(1 + |x|) of
    columns with mean 0 and deviation 1; "given", in the units that they had. "rows" are in these units, too."""
    is_binary: NDArray[np.bool_]
    """(m,) columns of at most two values."""
    shift: Matrix
    scale: Matrix
    after: Matrix
    """(m,) each: what is taken off and divided by before, and divided by after the curve of the view ..."""
    mean: Matrix
    spread: float
    """... and (m,) the mean and one number for all that the result is divided by: its mean variance is 1."""

    @classmethod
    def fit(cls, name: str, X: Matrix, units: Matrix | None = None) -> Scales:
        """Columns, (n, m), were divided by ``units``, (m,). O(n m log n) time."""
        m = X.shape[1]
        low, high = X.min(axis=0), X.max(axis=0)
        is_binary = np.asarray(((low == X) | (high == X)).all(axis=0))
        shift, scale = np.zeros(m), np.ones(m)
        if name == DEVIATION:
            scale = np.where(is_binary, 1.0, _positive(X.std(axis=0)))
        elif name == ROBUST:
            first, middle, third = np.percentile(X, [25, 50, 75], axis=0)
            half = np.where(third > first, (third - first) / 2, X.std(axis=0))
            shift, scale = np.where(is_binary, 0.0, middle), np.where(is_binary, 1.0, _positive(half))
        elif name in (ROWS, GIVEN):
            shift, scale = X.mean(axis=0), np.ones(m) if units is None else 1 / units
        elif name == LOGARITHM:
            shift, scale = X.mean(axis=0), _positive(X.std(axis=0))
        one = cls(name, is_binary, shift, scale, np.ones(m), np.zeros(m), 1.0)
        if name == ROBUST:
            one = one._replace(after=np.where(is_binary, 1.0, _positive(one.transform(X).std(axis=0))))
        Y = one.transform(X)
        mean = Y.mean(axis=0)
        return one._replace(mean=mean, spread=float(_positive(np.sqrt(Y.var(axis=0).mean()))))

    def transform(self, X: Matrix) -> Matrix:
        """(n, m) the view of rows, those that were fitted or others."""
        Y = (X - self.shift) / self.scale
        if self.name == ROBUST:
            Y = np.where(self.is_binary, Y, np.arcsinh(Y)) / self.after
        elif self.name == ROWS:
            Y = Y - Y.mean(axis=1, keepdims=True)
            Y = Y / _positive(Y.std(axis=1, keepdims=True))
        elif self.name == LOGARITHM:
            Y = np.sign(Y) * np.log1p(np.abs(Y))
        return np.ascontiguousarray((Y - self.mean) / self.spread)


def _positive(values: Matrix) -> Matrix:
    """The same with 1 for what is not above 0."""
    return np.where(values > 0, values, 1.0)


def principal_components(X: Matrix, most: int) -> tuple[Matrix, Matrix]:
    """(n, r) scores, r at most ``most``, and all eigenvalues of the covariance, the largest first.

    The sign of a component is that with which its largest score is positive. O(n m min(n, m)) time.
    """
    n, m = X.shape
    Y = X - X.mean(axis=0)
    if m > n:
        values, vectors = np.linalg.eigh(Y @ Y.T)
        values, vectors = np.maximum(values[::-1], 0), vectors[:, ::-1]
        r = min(most, n - 1)
        scores = vectors[:, :r] * np.sqrt(values[:r])
    else:
        values, vectors = np.linalg.eigh(Y.T @ Y)
        values, vectors = np.maximum(values[::-1], 0), vectors[:, ::-1]
        scores = Y @ vectors[:, :most]
    largest = scores[np.abs(scores).argmax(axis=0), np.arange(scores.shape[1])]
    return np.ascontiguousarray(scores * np.where(largest < 0, -1.0, 1.0)), values / n


def n_signals(values: Matrix, n: int, m: int) -> int:
    """How many eigenvalues of a covariance lie above the edge of noise of their median's size.

    The edge is that of Marchenko and Pastur, (1 + √γ)² of the noise; their law's median stands at about 1 − γ/3 of it,
    γ = m / n ≤ 1.
    """
    ratio = min(n - 1, m) / max(n - 1, m)
    scale = max(m / max(n - 1, 1), 1.0)
    values = values[: min(n - 1, m)] / scale
    return int((values > (1 + np.sqrt(ratio)) ** 2 / (1 - ratio / 3) * np.median(values)).sum())
