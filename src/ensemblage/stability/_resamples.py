"""Resamples and perturbations of the data: what a fresh clusterer clusters again, and where objects lie then."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils import check_array, check_random_state, get_tags

from ensemblage.base.features import features_checked
from ensemblage.base.frames import as_frame
from ensemblage.base.indexing import row_index
from ensemblage.base.validation import FRACTION, Estimator, check_value, format_value
from ensemblage.generation._clusterers import check_labels, prepare_clusterer

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


@dataclass(frozen=True)
class Data:
    """Checked features, and how parts of them are taken."""

    X: Any
    """(n, d) floats, dense or CSR; a data frame of narwhals; (n, n) distances or affinities."""
    is_frame: bool
    pairwise: bool
    """Whether rows and columns of X are the objects."""
    subject: str

    def __len__(self) -> int:
        return int(self.X.shape[0])

    def part(self, rows: NDArray[np.intp]) -> Any:
        """What a clusterer is given of these objects."""
        return self.cross_distances(rows, rows) if self.pairwise else self._native(self.X[rows])

    def cross_distances(self, rows: NDArray[np.intp], others: NDArray[np.intp]) -> Any:
        """Rows of some objects, columns of others, of distances of all pairs."""
        return self.X[rows][:, others]

    @property
    def whole(self) -> Any:
        """What a clusterer is given of all objects."""
        return self._native(self.X)

    @cached_property
    def numbers(self) -> Any:
        """(n, d) the features as finite numbers, dense or CSR, for what is computed of them outside a clusterer."""
        return _check_numbers(self.X.to_numpy() if self.is_frame else self.X, self.subject, allow_nan=False)

    def _native(self, X: Any) -> Any:
        return X.to_native() if self.is_frame else X


def check_data(X: Any, estimator: Any, subject: str) -> Data:
    """X as `Data` if an estimator can be given parts of it.

    A data frame stays one, for estimators that read its columns; all else must be numbers. Whether NaN may be among
    them is the estimator's matter.
    """
    pairwise = _takes_distances(estimator)
    frame = None if issparse(X) else as_frame(X)
    if frame is not None and not pairwise:
        data = Data(frame, True, False, subject)
    else:
        data = Data(_check_numbers(X if frame is None else frame.to_numpy(), subject), False, pairwise, subject)
    if len(data) < 2:
        raise ValueError(f"X of {subject} must have at least 2 rows. Got {len(data)}. Give more objects.")
    if pairwise and data.X.shape[0] != data.X.shape[1]:
        raise ValueError(
            f"X of {subject} must be square for an estimator that takes distances of all pairs. "
            f"Got shape {data.X.shape}. Give one row and one column per object."
        )
    return data


def _takes_distances(estimator: Any) -> bool:
    """Whether it wants one row and one column per object."""
    if hasattr(estimator, "__sklearn_tags__") and get_tags(estimator).input_tags.pairwise:
        return True
    values = estimator.get_params(deep=False) if hasattr(estimator, "get_params") else {}
    return "precomputed" in (str(values.get("metric")), str(values.get("affinity")))


def _check_numbers(X: Any, subject: str, allow_nan: bool = True) -> Any:
    rule = f"X of {subject} must be a matrix of finite numbers, one row per object"
    if issparse(X):
        with features_checked(f"X of {subject}", X):
            return check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32])
    try:
        numbers = np.asarray(X)
        if numbers.dtype != np.float32:
            numbers = numbers.astype(np.float64, casting="unsafe" if numbers.dtype == object else "same_kind")
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{rule}. Got {format_value(X)}. Give a matrix of this form.") from None
    if numbers.ndim != 2 or numbers.size == 0:
        raise ValueError(f"{rule}. Got shape {numbers.shape}. Give a matrix of this form.")
    wrong = np.isinf(numbers) if allow_nan else ~np.isfinite(numbers)
    if wrong.any():
        raise ValueError(f"{rule}. Got {numbers[wrong][0]}. Leave such objects out, or fill missing values.")
    return numbers


@dataclass(frozen=True)
class Clusterer(Estimator):
    """An object with ``fit_predict``; a scikit-learn estimator or not."""

    def fits(self, value: Any) -> bool:
        return not isinstance(value, type) and callable(getattr(value, self.method, None))


CLUSTERER = Clusterer(
    "a clusterer (an object with fit_predict)", "fit_predict", "Give KMeans(3, n_init=10), for example."
)


def fresh(estimator: Any, seed: int, **parameters: Any) -> Any:
    """A copy that nothing was fitted with, with these parameters and every ``random_state`` of it set."""
    if not hasattr(estimator, "get_params"):
        return deepcopy(estimator)
    copy = prepare_clusterer(estimator, None, seed)
    return copy.set_params(**parameters) if parameters else copy


def labels_of(estimator: Any, X: Any, n: int) -> NDArray[np.int32]:
    """(n,) what it makes of X; whole numbers, negative ones are noise."""
    return check_labels(estimator.fit_predict(X), n)
