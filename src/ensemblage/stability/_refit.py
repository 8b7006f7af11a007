"""What is clustered again: parts of the features, and a fresh copy of the clusterer."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils import check_array, get_tags

from ensemblage.base.features import features_checked
from ensemblage.base.validation import Estimator, format_value
from ensemblage.generation._clusterers import check_labels, prepare_clusterer
from ensemblage.labels.coding import as_frame


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
