"""Utilities of k-means based consensus clustering (KCC): what a centroid is, how far a row is, what is lost.

A utility is all that seeding and Lloyd's iterations know of a method. Centroids, distances and the loss come from the
label counts per cluster (the profile) alone, whole numbers that do not depend on the order of the rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from ensemblage.consensus._base import Rows
from ensemblage.counting._profiles import label_profile
from ensemblage.metrics._density import labelled_members


def single_precision(table: NDArray[np.float64]) -> NDArray[np.float32]:
    """The table in float32, C-contiguous; infinite where it is too large, which `whole_lanes` refuses."""
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(table, dtype=np.float32)


class Utility(Protocol):
    """What seeding, Lloyd's iterations and `predict` ask for."""

    bounded: ClassVar[bool]
    """Whether distances are squared Euclidean between points, so that bounds on them may skip rows."""

    @property
    def offsets(self) -> NDArray[np.int64]:
        """(p + 1,) rows of partition j in `distances`; the last of them belongs to the missing entry."""

    def centroids(self, profile: NDArray[np.int64]) -> NDArray[np.float64]:
        """(k, d) centroids of the clusters with that profile."""

    def distances(self, centroids: NDArray[np.float64]) -> NDArray[np.float32]:
        """(d, k) table whose rows add up to a row's distance to every centroid, but for `base`."""

    def base(self, codes: NDArray[Any]) -> NDArray[np.float32]:
        """(m,) part of each row's distance that is the same for every centroid and not in the table."""

    def loss(self, profile: NDArray[np.int64]) -> float:
        """Sum over the objects of the distance to their own centroid."""

    def shifts(self, before: NDArray[np.float64], after: NDArray[np.float64]) -> NDArray[np.float64]:
        """(k,) root of the distance that each centroid moved; only if `bounded`."""

    def rounding(self) -> float:
        """Bound of the float32 error of a row's distance; only if `bounded`."""


@dataclass(frozen=True)
class CategoryUtility:
    """U_c: squared Euclidean distance on the binary matrix H, so KCC with it is Candel's KM and Topchy's QMI.

    A centroid is the concatenation of the label proportions of its cluster. Partition by partition, proportions and
    distances are taken over the objects that the partition labels; where it labels none of a cluster's, the
    proportions over all objects stand in.

    The other utilities of Wu et al. (2015) differ in two functions: the distance of a label, and the loss of a cluster.
    """

    offsets: NDArray[np.int64]
    weights: NDArray[np.float64]
    counts: NDArray[np.int64]
    """(d,) objects with each label."""

    bounded: ClassVar[bool] = True
    peak: ClassVar[float] = 1.0
    """Value of the utility's function μ at one label alone; μ of a cluster is this less its mean distance."""

    @classmethod
    def of(cls, rows: Rows, n_jobs: int | None = None, **parameters: float) -> Self:
        everything = rows.codes.state(np.int32, 0)
        counts = label_profile(rows.codes, everything, rows.counts, rows.offsets, 1, n_jobs)[0]
        return cls(rows.offsets, rows.weights, counts, **parameters)

    def normalized(self) -> Self:
        """The same with each partition's weight divided by |μ| of its own proportions; one with μ = 0 is left out."""
        labelled = labelled_members(self.counts[None], self.offsets)
        own = np.abs(self.peak - self._within(self._known(self.counts[None]), labelled) / labelled)[0]
        return replace(self, weights=np.divide(self.weights, own, out=np.zeros(len(own)), where=own > 0))

    def centroids(self, profile: NDArray[np.int64]) -> NDArray[np.float64]:
        """(k, d) proportions of a (k, d) profile; 0 for missing."""
        labelled = labelled_members(profile, self.offsets)
        proportions: NDArray[np.float64] = self._known(profile) / self._spread(np.maximum(labelled, 1))
        if not labelled.all():
            overall = labelled_members(self.counts[None], self.offsets)
            everything = self._known(self.counts[None]) / self._spread(np.maximum(overall, 1))
            proportions = np.where(self._spread(labelled) > 0, proportions, everything)
        return proportions

    def distances(self, centroids: NDArray[np.float64]) -> NDArray[np.float32]:
        """(d, k) table whose rows add up to a row's weighted distance to every centroid."""
        table = self._label_distances(centroids) * self._spread(self.weights[None])
        table[:, self.offsets[1:] - 1] = 0
        return single_precision(table.T)

    def base(self, codes: NDArray[Any]) -> NDArray[np.float32]:
        """(m,) distance of a row to centroids without any of its labels, but for what these are themselves.

        Apart from the table, whose entries are small then: in float32 near ties come out right more often.
        """
        most = np.float32(self.peak * self.weights.sum())
        if not self.counts[self.offsets[1:] - 1].any():
            return np.full(len(codes), most)
        base = np.zeros(len(codes))
        for column, absent, weight in zip(codes.T, np.diff(self.offsets) - 1, self.weights, strict=True):
            base += np.where(column < absent, self.peak * weight, 0)
        return base.astype(np.float32)

    def loss(self, profile: NDArray[np.int64]) -> float:
        """Weighted sum of the objects' distances to their centroids (for U_c the k-means loss, Candel Eq. 19)."""
        within = self._within(self._known(profile), labelled_members(profile, self.offsets))
        return float((within.sum(axis=0) * self.weights).sum())

    def value(self, profile: NDArray[np.int64]) -> float:
        """The utility U of the clusters with that profile: what one cluster of all objects loses more, per object."""
        n_objects = int(self.counts[: self.offsets[1]].sum())
        return (self.loss(self.counts[None]) - self.loss(profile)) / n_objects

    def shifts(self, before: NDArray[np.float64], after: NDArray[np.float64]) -> NDArray[np.float64]:
        """(k,) distance that each centroid moved."""
        by_partition = self._sums(np.square(self._points(after) - self._points(before)))
        shifts: NDArray[np.float64] = np.sqrt((by_partition * self.weights).sum(axis=1))
        return shifts

    def rounding(self) -> float:
        """Bound of the float32 error of a row's squared distance."""
        n_partitions = len(self.weights)
        return float(8 * n_partitions * np.finfo(np.float32).eps * self.weights.sum())

    def _label_distances(self, proportions: NDArray[np.float64]) -> NDArray[np.float64]:
        """(k, d) distance of each label, as a vector of one 1, to the proportions of its partition; less ``peak``."""
        distances: NDArray[np.float64] = self._spread(self._sums(np.square(proportions))) - 2 * proportions
        return distances

    def _within(self, known: NDArray[np.int64], labelled: NDArray[np.int64]) -> NDArray[np.float64]:
        """(k, p) sum of the members' distances to the centroid, from their label counts."""
        within: NDArray[np.float64] = labelled - self._sums(np.square(known)) / np.maximum(labelled, 1)
        return within

    def _points(self, centroids: NDArray[np.float64]) -> NDArray[np.float64]:
        """The points to which distances are squared Euclidean."""
        return centroids

    def _known(self, profile: NDArray[np.int64]) -> NDArray[np.int64]:
        known = profile.copy()
        known[:, self.offsets[1:] - 1] = 0
        return known

    def _sums(self, values: NDArray[Any]) -> NDArray[Any]:
        """(k, d) to (k, p): sums over the labels of each partition."""
        return np.add.reduceat(values, self.offsets[:-1], axis=1)

    def _spread(self, values: NDArray[Any]) -> NDArray[Any]:
        """(k, p) to (k, d): each partition's value for each of its labels."""
        return np.repeat(values, np.diff(self.offsets), axis=1)


@dataclass(frozen=True)
class EntropyUtility(CategoryUtility):
    """U_H: Kullback-Leibler divergence in bits; KCC with it is ECC. The loss is the conditional entropy of the labels.

    ``smoothing`` is added to the proportions in the distance, so that a label that a cluster has not seen costs
    −log2(smoothing) bits instead of ∞. It is not in the loss, which only has labels that were seen.
    """

    smoothing: float = float(np.finfo(np.float64).eps)

    bounded: ClassVar[bool] = False
    peak: ClassVar[float] = 0.0

    def _label_distances(self, proportions: NDArray[np.float64]) -> NDArray[np.float64]:
        distances: NDArray[np.float64] = -np.log2(proportions + self.smoothing)
        return distances

    def _within(self, known: NDArray[np.int64], labelled: NDArray[np.int64]) -> NDArray[np.float64]:
        bits: NDArray[np.float64] = (xlogy(labelled, labelled) - self._sums(xlogy(known, known))) / np.log(2)
        return bits


@dataclass(frozen=True)
class CosineUtility(CategoryUtility):
    """U_cos: one minus the cosine, half the squared distance to the proportions scaled to length one."""

    def _label_distances(self, proportions: NDArray[np.float64]) -> NDArray[np.float64]:
        distances: NDArray[np.float64] = -self._directions(proportions)
        return distances

    def _within(self, known: NDArray[np.int64], labelled: NDArray[np.int64]) -> NDArray[np.float64]:
        within: NDArray[np.float64] = labelled - np.sqrt(self._sums(np.square(known)))
        return within

    def _points(self, centroids: NDArray[np.float64]) -> NDArray[np.float64]:
        points: NDArray[np.float64] = self._directions(centroids) / np.sqrt(2)
        return points

    def _directions(self, proportions: NDArray[np.float64]) -> NDArray[np.float64]:
        directions: NDArray[np.float64] = proportions / self._spread(np.sqrt(self._sums(np.square(proportions))))
        return directions


@dataclass(frozen=True)
class LpUtility(CategoryUtility):
    """U_Lp: the distance that belongs to the p-norm of the proportions, p = ``exponent``; U_cos for 2."""

    exponent: float = 5.0

    bounded: ClassVar[bool] = False

    def _label_distances(self, proportions: NDArray[np.float64]) -> NDArray[np.float64]:
        directions = proportions / self._spread(self._norms(proportions))
        distances: NDArray[np.float64] = -(directions ** (self.exponent - 1))
        return distances

    def _within(self, known: NDArray[np.int64], labelled: NDArray[np.int64]) -> NDArray[np.float64]:
        # Of proportions, not of counts: powers of counts overflow.
        proportions = known / self._spread(np.maximum(labelled, 1))
        within: NDArray[np.float64] = labelled * (1 - self._norms(proportions))
        return within

    def _norms(self, proportions: NDArray[np.float64]) -> NDArray[np.float64]:
        """(k, p)"""
        largest = np.ones((len(proportions), len(self.weights)))
        powers = self._sums(proportions**self.exponent)
        if powers.min() < LEAST_POWER:  # Of the shares of the largest proportion, one is 1.
            every = np.maximum.reduceat(proportions, self.offsets[:-1], axis=1)
            largest = np.where((powers < LEAST_POWER) & (every > 0), every, 1)
            powers = self._sums((proportions / self._spread(largest)) ** self.exponent)
        norms: NDArray[np.float64] = largest * powers ** (1 / self.exponent)
        return norms


LEAST_POWER = 1e-290
"""Powers of proportions below it may have lost digits."""


UTILITIES: dict[str, type[CategoryUtility]] = {
    "category": CategoryUtility,
    "entropy": EntropyUtility,
    "cosine": CosineUtility,
    "lp": LpUtility,
}
