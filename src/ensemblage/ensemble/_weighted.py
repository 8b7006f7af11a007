"""Weights of the objects: an ensemble that counts its objects as if their rows were repeated."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensemblage.base.indexing import partition_index, row_index
from ensemblage.base.once import once
from ensemblage.base.validation import MOST_OBJECTS, check_vector
from ensemblage.counting._profiles import label_profile
from ensemblage.ensemble._coding import CodedColumns, code_dtype
from ensemblage.ensemble._ensemble import Ensemble
from ensemblage.ensemble._soft_ensemble import SoftEnsemble
from ensemblage.rows.distinct import DistinctRows


class WeightedEnsemble(Ensemble):
    """An ensemble in which object i counts ``sample_weight[i]`` times: what is counted is ``np.repeat(rows, w)``.

    Rows and ``len`` are those of the objects that were given. Labels that no weight > 0 bears are missing entries, and
    distinct rows without weight are left out: the place of their objects is the number of distinct rows. It shares the
    rows and the distinct rows of the ensemble that it is made of; new are 8 bytes per object, and a copy of the codes
    where a label or a row has no weight.
    """

    _sample_weight: NDArray[np.int64]
    _counted: DistinctRows

    @classmethod
    def of(cls, ensemble: Ensemble, sample_weight: NDArray[np.int64]) -> WeightedEnsemble:
        """``sample_weight`` is of shape (n,), as `check_sample_weight` gives it."""
        codes, _, inverse = ensemble.distinct
        # Sums of floats, exact below 2⁵³.
        counts = np.bincount(inverse, weights=sample_weight, minlength=len(codes)).astype(np.int64)
        rows, categories = ensemble.rows, ensemble.categories
        kept = np.flatnonzero(counts)
        if len(kept) < len(counts):
            place = np.full(len(counts), len(kept), dtype=inverse.dtype)
            place[kept] = np.arange(len(kept))
            sizes = label_profile(codes, codes.state(np.int32, 0), counts, ensemble.offsets, 1)[0]
            used = [np.flatnonzero(sizes[start : stop - 1]) for start, stop in pairwise(ensemble.offsets)]
            categories = tuple(labels[some] for labels, some in zip(categories, used, strict=True))
            dtype = code_dtype(categories)
            tables = [_renumbering(k, some, dtype) for k, some in zip(ensemble.n_clusters, used, strict=True)]
            rows, codes = rows.recode(tables, dtype), codes.take(kept).recode(tables, dtype)
            counts, inverse = counts[kept], place[inverse]
        weighted = cls._of(CodedColumns(rows, categories, ensemble.names), ensemble.missing)
        weighted._sample_weight, weighted._counted = sample_weight, DistinctRows(codes, counts, inverse)
        return weighted

    @once
    def distinct(self) -> DistinctRows:
        """The distinct label rows of weight > 0, their weights, and each object's place among them."""
        return self._counted

    def __getitem__(self, rows: Any) -> Any:
        """Labels of one object (an integer), or some objects in memory, with their weights."""
        some = super().__getitem__(rows)
        if not isinstance(some, Ensemble):
            return some
        return self.of(some, self._sample_weight[rows if isinstance(rows, slice) else row_index(rows, len(self))])

    def append_partitions(self, other: Ensemble) -> WeightedEnsemble:
        """The partitions of both, with the same weights."""
        return self.of(self._joined(other), self._sample_weight)

    def select(self, partitions: ArrayLike) -> WeightedEnsemble:
        """The ensemble of some of the partitions, with the same weights."""
        chosen = self.coded.select(partition_index(partitions, self._names))
        return self.of(Ensemble._of(chosen, self.missing), self._sample_weight)


def _renumbering(k: int, used: NDArray[np.intp], dtype: np.dtype[Any]) -> NDArray[Any]:
    """(k + 1,) new code of each code, the number of codes that are used for all others."""
    table = np.full(k + 1, len(used), dtype=dtype)
    table[used] = np.arange(len(used))
    return table


def sample_weight_of(ensemble: Ensemble | SoftEnsemble) -> NDArray[np.int64] | None:
    """(n,) how often each object counts; None: once."""
    return ensemble._sample_weight


def n_counted(ensemble: Ensemble) -> int:
    """Objects, each as often as it counts."""
    weights = sample_weight_of(ensemble)
    return len(ensemble) if weights is None else int(weights.sum())


def counted_objects(ensemble: Ensemble, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """The objects that have these numbers, from 0 to `n_counted`, where each is repeated as often as it counts."""
    weights = sample_weight_of(ensemble)
    return numbers if weights is None else np.searchsorted(np.cumsum(weights), numbers, side="right")


def check_sample_weight(sample_weight: Any, n_objects: int) -> NDArray[np.int64]:
    """(n_objects,) whole numbers ≥ 0, not all 0, whose sum is a number of objects that kernels can count."""
    rule = (
        f"sample_weight of X must be whole numbers ≥ 0, one for each of the {n_objects:,} objects, not all zero, with "
        f"a sum of at most {MOST_OBJECTS:,}"
    )
    weights = check_vector(sample_weight, n_objects, rule, "Give one number per object.")
    wrong = weights[~((weights >= 0) & (weights == np.floor(weights)) & np.isfinite(weights))]
    if len(wrong):
        raise ValueError(f"{rule}. Got {wrong[0]:g}. Multiply all of them by the same factor and round them.")
    if not weights.any():
        raise ValueError(f"{rule}. Got nothing but 0. Leave sample_weight out to count every object once.")
    if weights.sum() > MOST_OBJECTS:
        raise ValueError(f"{rule}. Got a sum of {weights.sum():.17g}. Divide all by the same number and round them.")
    return weights.astype(np.int64)
