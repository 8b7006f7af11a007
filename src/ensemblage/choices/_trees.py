"""Boosted regression trees as arrays, and their sum in NumPy."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Trees(NamedTuple):
    """Regression trees whose values add up; nodes of all trees one after another."""

    feature: NDArray[np.int16]
    """(N,) that a node asks for; -1 of a leaf."""
    threshold: NDArray[np.float64]
    """(N,) up to which the left child is next; of a leaf its value."""
    left: NDArray[np.int16]
    """(N,) the left child, counted from the first node of its tree; the right one follows it."""
    missing_left: NDArray[np.bool_]
    """(N,) where a row goes that lacks the feature."""
    roots: NDArray[np.int64]
    """(T,) first node of each tree."""
    base: float
    """What is added to the sum."""

    def predict(self, X: NDArray[np.float32]) -> NDArray[np.float64]:
        """(n,) sums over the trees for the rows of X, (n, q). O(n T depth) time, O(n T) memory."""
        at = np.repeat(self.roots[None], len(X), axis=0)
        rows = np.arange(len(X))[:, None]
        while True:
            feature = self.feature[at]
            is_inner = feature >= 0
            if not is_inner.any():
                return np.asarray(self.base + self.threshold[at].sum(axis=1))
            values = X[rows, np.maximum(feature, 0)].astype(np.float64)
            goes_left = np.where(np.isnan(values), self.missing_left[at], values <= self.threshold[at])
            child = self.roots[None] + self.left[at] + ~goes_left
            at = np.where(is_inner, child, at)
