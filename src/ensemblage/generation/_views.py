"""The scales in which features are clustered: as given, with deviation 1, with long tails drawn in, rows standardised."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]
VIEWS = ("own", "deviation", "robust", "rows", "logarithm")
MOST_COMPONENTS = 50
"""Principal components that stand for more features where neighbours and spreads are computed."""


class View(NamedTuple):
    """The objects in one scale."""

    name: str
    X: Matrix
    """(n, m) centred, mean variance 1."""
    is_binary: NDArray[np.bool_]
    """(m,) columns of two values."""

    @classmethod
    def of(cls, name: str, features: Matrix) -> View:
        """O(n m log n) time."""
        X = np.asarray(features, dtype=np.float64)
        is_binary = columns_of_two_values(X)
        X = MAKERS[name](X, is_binary)
        X = X - X.mean(axis=0)
        spread = np.sqrt(np.mean(X.var(axis=0)))
        return cls(name, np.ascontiguousarray(X / (spread if spread > 0 else 1.0)), is_binary)


def columns_of_two_values(X: Matrix) -> NDArray[np.bool_]:
    """(m,) whether each column holds at most two values."""
    low, high = X.min(axis=0), X.max(axis=0)
    return np.asarray(((low == X) | (high == X)).all(axis=0))


def _own(X: Matrix, is_binary: NDArray[np.bool_]) -> Matrix:
    return X


def _deviation(X: Matrix, is_binary: NDArray[np.bool_]) -> Matrix:
    """Columns of more than two values get deviation 1."""
    deviations = X.std(axis=0)
    return np.where(is_binary, X, X / np.where(deviations > 0, deviations, 1.0))


def _robust(X: Matrix, is_binary: NDArray[np.bool_]) -> Matrix:
    """arsinh of (x − median) / scale, deviation 1; the scale is half the distance of the quartiles, or the deviation."""
    low, middle, high = np.percentile(X, [25, 50, 75], axis=0)
    scale = (high - low) / 2
    scale = np.where(scale > 0, scale, X.std(axis=0))
    drawn_in = np.arcsinh((X - middle) / np.where(scale > 0, scale, 1.0))
    return np.where(is_binary, X, _deviation(drawn_in, is_binary))


def _rows(X: Matrix, is_binary: NDArray[np.bool_]) -> Matrix:
    """Rows with mean 0 and deviation 1 after the columns are centred: distances are those of correlations."""
    X = X - X.mean(axis=0)
    X = X - X.mean(axis=1, keepdims=True)
    deviations = X.std(axis=1, keepdims=True)
    return np.asarray(X / np.where(deviations > 0, deviations, 1.0))


def _logarithm(X: Matrix, is_binary: NDArray[np.bool_]) -> Matrix:
    """sign(x) log(1 + |x|) of columns with deviation 1."""
    X = _deviation(X - X.mean(axis=0), np.zeros(X.shape[1], dtype=bool))
    return np.asarray(np.sign(X) * np.log1p(np.abs(X)))


MAKERS = dict(zip(VIEWS, (_own, _deviation, _robust, _rows, _logarithm), strict=True))


def principal_components(X: Matrix, most: int) -> tuple[Matrix, NDArray[np.float64]]:
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


def n_signals(values: NDArray[np.float64], n: int, m: int) -> int:
    """How many eigenvalues of a covariance lie above the edge of noise of their median's size (Gavish & Donoho 2014).

    The median of the Marchenko–Pastur law stands at about (1 − γ/3) of the noise where γ = m / n ≤ 1.
    """
    ratio = min(n - 1, m) / max(n - 1, m)
    values = values[: min(n - 1, m)]
    middle = float(np.median(values)) / max(m / max(n - 1, 1), 1.0)
    edge = (1 + np.sqrt(ratio)) ** 2 / (1 - ratio / 3) * middle
    return int((values / max(m / max(n - 1, 1), 1.0) > edge).sum())
