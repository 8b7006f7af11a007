"""Resamples and perturbations of the data: which objects are clustered again, and where they lie then."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils import check_random_state

from ensemblage.base.indexing import row_index
from ensemblage.base.validation import FRACTION, check_value, format_value
from ensemblage.stability._refit import Data

FRACTIONS = {"bootstrap": 1.0, "subsample": 0.5, "jitter": 0.05, "noise": 0.05}
"""Hennig's schemes, and what ``fraction`` is by default: fpc's."""
NOISE_RANGE = 4.0
"""Noise is uniform within so many standard deviations of every principal axis."""


class Resample(NamedTuple):
    """What is clustered again."""

    X: Any
    """(m, d) what the clusterer is given."""
    objects: NDArray[np.intp]
    """(m,) which object each row is; -1 where it is none of them."""


class Axes(NamedTuple):
    """The principal axes of (n, d) features."""

    centre: NDArray[np.float64]
    """(d,)"""
    directions: NDArray[np.float64]
    """(r, d) orthonormal rows, r = min(n, d)."""
    scores: NDArray[np.float64]
    """(n, r) coordinates of the objects."""

    @classmethod
    def of(cls, X: NDArray[Any]) -> Axes:
        """O(n d min(n, d)) time."""
        centre = X.mean(axis=0)
        left, scales, right = np.linalg.svd(X - centre, full_matrices=False)
        return cls(centre, right, left * scales)


class Scheme:
    """How a resample is drawn from its seed."""

    def __init__(self, name: str, data: Data, fraction: float | None, keep_duplicates: bool) -> None:
        self.name, self.data, self.keep_duplicates = name, data, keep_duplicates
        self.fraction = FRACTIONS[name] if fraction is None else fraction
        check_value(self.fraction, f"tuning of {data.subject}", [FRACTION])
        if name in ("jitter", "noise"):
            self.axes = Axes.of(_dense(data, name))
            self.widths = (
                gap_quantiles(self.axes.scores, self.fraction)
                if name == "jitter"
                else NOISE_RANGE * self.axes.scores.std(axis=0, ddof=1)
            )

    def draw(self, seed: int) -> Resample:
        """The resample of a seed."""
        random, n = check_random_state(seed), len(self.data)
        if self.name == "jitter":
            moved = random.standard_normal(self.axes.scores.shape) * self.widths
            return Resample(self.data.numbers + moved @ self.axes.directions, np.arange(n))
        if self.name == "noise":
            replaced = np.flatnonzero(random.random_sample(n) < self.fraction)
            scores = random.uniform(-1, 1, size=(len(replaced), len(self.widths))) * self.widths
            X, objects = self.data.numbers.copy(), np.arange(n)
            X[replaced], objects[replaced] = self.axes.centre + scores @ self.axes.directions, -1
            return Resample(X, objects)
        n_drawn = max(1, round(self.fraction * n))
        return self.resample_of(random.choice(n, n_drawn, replace=self.name == "bootstrap"))

    def resample_of(self, objects: NDArray[np.intp]) -> Resample:
        """The resample of some objects, in the order of the data."""
        times = np.bincount(objects, minlength=len(self.data))
        kept = np.repeat(np.arange(len(times)), times) if self.keep_duplicates else np.flatnonzero(times)
        return Resample(self.data.part(kept), kept)


def gap_quantiles(scores: NDArray[np.float64], fraction: float) -> NDArray[np.float64]:
    """(r,) the quantile of the positive gaps between neighbours on each axis; 0 where all scores are equal."""
    gaps = np.diff(np.sort(scores, axis=0), axis=0)
    return np.array([np.quantile(gap[gap > 0], fraction) if (gap > 0).any() else 0.0 for gap in gaps.T])


def check_resamples(resamples: Any, n: int, subject: str) -> list[NDArray[np.intp]]:
    """Index arrays of the objects of each resample."""
    is_list = isinstance(resamples, Sequence) or (isinstance(resamples, np.ndarray) and resamples.ndim > 0)
    if not is_list or isinstance(resamples, str | bytes) or not len(resamples):
        raise TypeError(
            f"resamples of {subject} must be a list of one or more arrays of row numbers. Got "
            f"{format_value(resamples)}. Give one array per resample."
        )
    return [check_rows(rows, n, f"Every resample of {subject}") for rows in resamples]


def check_rows(rows: Any, n: int, subject: str) -> NDArray[np.intp]:
    """Numbers from 0 of one or more objects that a mask or an index array means."""
    try:
        index = row_index(rows, n)
    except (IndexError, TypeError, ValueError):
        index = np.empty(0, dtype=np.intp)
    if not len(index):
        raise ValueError(
            f"{subject} must be one or more row numbers below {n}, or a mask of {n} truth values. Got "
            f"{format_value(rows)}. Give an array of this form."
        )
    return index


def _dense(data: Data, scheme: str) -> NDArray[Any]:
    if data.pairwise or issparse(data.X):
        kind = "distances of all pairs" if data.pairwise else "a sparse matrix"
        raise ValueError(
            f"X of {data.subject} must be a dense matrix of features for scheme={scheme!r}. Got {kind}. "
            "Use scheme='bootstrap' or 'subsample'."
        )
    return np.asarray(data.numbers)
