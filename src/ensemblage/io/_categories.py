"""Categories as columns of numbers: indicators, so weighted that a category weighs what a standardised number does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.sklearn import BaseEstimator, TransformerMixin
from ensemblage.io._column import Column
from ensemblage.io._labels import label_values


def levels_of(column: Column) -> list[str]:
    """The different categories of a column: numbers by size, then text by the alphabet."""
    values = {value for value in label_values(column.distinct[1]) if value is not None}
    return [str(value) for value in sorted(values, key=lambda v: (isinstance(v, str), v))]


def level_codes(column: Column, levels: Sequence[str]) -> NDArray[np.float64]:
    """(n,) the place of each cell among the levels, their number if it is none of them, NaN where it is missing."""
    numbers, texts = column.distinct
    place_of = {level: float(place) for place, level in enumerate(levels)}
    values = label_values(texts)
    places = [np.nan if value is None else place_of.get(str(value), float(len(levels))) for value in values]
    return np.array([*places, np.nan])[numbers]


class CategoryEncoder(TransformerMixin, BaseEstimator):
    """Columns of category codes as indicators.

    The indicator of a level is divided by √share and centred, as in the factor analysis of mixed data. So a category
    of q levels has a total variance of q − 1; with ``scale="column"`` it is divided by √(q − 1), so that the squared
    distance of two objects has on average the same part of it as of a standardised number. Two levels make one column.
    A code that is missing, NaN, or was not seen lies at the mean of all objects.

    Parameters
    ----------
    scale : {"column", "famd"}
    """

    def __init__(self, scale: Literal["column", "famd"] = "column") -> None:
        self.scale = scale

    def fit(self, X: NDArray[np.float64], y: Any = None) -> Self:
        """Take the shares of the codes 0, 1, ... in each column; every code up to the largest occurs."""
        counts = [np.bincount(codes[~np.isnan(codes)].astype(np.intp)) for codes in X.T]
        self.shares_ = [count / count.sum() for count in counts]
        self.n_features_in_ = X.shape[1]
        return self

    def transform(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """(n, number of indicators)."""
        encoded = np.zeros((len(X), sum(map(n_indicators, map(len, self.shares_)))))
        end = 0
        for codes, shares in zip(X.T, self.shares_, strict=True):
            table = self._indicators(shares)
            known = np.flatnonzero(codes < len(shares))  # NaN is not
            encoded[known, end : end + table.shape[1]] = table[codes[known].astype(np.intp)]
            end += table.shape[1]
        return encoded

    def _indicators(self, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """(q, number of columns) the row of each level."""
        q = len(shares)
        if q == 2:
            return np.array([[-shares[1]], [shares[0]]] / np.sqrt(shares[0] * shares[1]))
        weights = shares * (q - 1) if self.scale == "column" else shares
        return np.asarray((np.eye(q) - shares) / np.sqrt(weights))


def n_indicators(q: int) -> int:
    """How many columns a category of q levels becomes."""
    return 1 if q == 2 else q
