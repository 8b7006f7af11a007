"""KM (Candel, Sec. 4.1): k-means on the binary matrix H, whose loss comes from label counts.

Row h_i of H has a 1 for each of the p labels of object i. With α_f the members of cluster C that have label f, the
prototype of C is μ = (α_f / |C|)_f, and

    Loss = Σ_C Σ_{i in C} ||μ - h_i||²          (Eq. 16)
         = p n - Σ_C Σ_f α_f² / |C|             (Eq. 19)

so that the least loss is, nearly, the largest density S of the consensus (Eq. 20). The category utility U_c of Wu et
al. (2015) and the quadratic mutual information, QMI, of Topchy, Jain & Punch (2003) are other names of it: up to the
start of k-means the three are one method. Every other utility of KCC (Wu et al., Table 1) is this one with other
distances of a label and another loss of a cluster: U_H, which is ECC, U_cos and U_Lp.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from ensemblage.consensus.kmeans._label_kmeans import single_precision
from ensemblage.metrics._density import labelled_members, ratio, weighted_sum


@dataclass(frozen=True)
class CategoryUtility:
    """KM, U_c, QMI: squared Euclidean distance on the binary matrix H.

    A centroid is the concatenation of the label proportions of its cluster. Partition by partition, proportions and
    distances are taken over the objects that the partition labels; where it labels none of a cluster's, the
    proportions over all objects stand in.

    The other utilities of Wu et al. (2015) differ in two functions: the distance of a label, and the loss of a cluster.
    """

    offsets: NDArray[np.int64]
    weights: NDArray[np.float64]
    counts: NDArray[np.int64]
    """(offsets[p],) objects with each label, of a missing one in its own place."""

    bounded: ClassVar[bool] = True
    peak: ClassVar[float] = 1.0
    """Value of the utility's function μ at one label alone; μ of a cluster is this less its mean distance."""

    def normalize(self) -> Self:
        """The same with each partition's weight divided by |μ| of its own proportions; one with μ = 0 is left out."""
        known = self._drop_missing(self.counts[None])
        labelled = self._sums(known)
        own = np.abs(self.peak - self._within(known, labelled) / labelled)[0]
        return replace(self, weights=np.divide(self.weights, own, out=np.zeros(len(own)), where=own > 0))

    def centroids(self, profile: NDArray[np.int64]) -> NDArray[np.float64]:
        """(k, d) proportions γ of a (k, d) profile α; 0 for missing."""
        known = self._drop_missing(profile)
        labelled = self._sums(known)
        proportions: NDArray[np.float64] = known / self._spread(np.maximum(labelled, 1))
        if not labelled.all():
            overall = self._drop_missing(self.counts[None])
            everything = overall / self._spread(np.maximum(self._sums(overall), 1))
            proportions = np.where(self._spread(labelled) > 0, proportions, everything)
        return proportions

    def distances(self, centroids: NDArray[np.float64]) -> NDArray[np.float32]:
        """(offsets[p], k) table whose rows add up to a row's weighted distance to every centroid, with `base`.

        Of category utility: a row h has one label f in a partition, and ‖h − γ‖² = 1 − 2 γ_f + Σ γ². The first term is
        the base, the others are the table's entry of f.
        """
        table = self._label_distances(centroids) * self._spread(self.weights[None])
        table[:, self.offsets[1:] - 1] = 0
        return single_precision(table.T)

    def base(self, codes: NDArray[Any]) -> NDArray[np.float32]:
        """(m,) part of the distance that is the same for every centroid: the peak of each partition that labels a row.

        It is kept apart from the table, whose entries are small then: in float32 near ties come out right more often.
        """
        most = np.float32(self.peak * self.weights.sum())
        if not self.counts[self.offsets[1:] - 1].any():
            return np.full(len(codes), most)
        base = np.zeros(len(codes))
        for column, absent, weight in zip(codes.T, np.diff(self.offsets) - 1, self.weights, strict=True):
            base += np.where(column < absent, self.peak * weight, 0)
        return base.astype(np.float32)

    def loss(self, profile: NDArray[np.int64]) -> float:
        """Weighted sum of the objects' distances to their centroids (for U_c the k-means loss, Eq. 19)."""
        known = self._drop_missing(profile)
        within = self._within(known, self._sums(known))
        return float((within.sum(axis=0) * self.weights).sum())

    def value(self, profile: NDArray[np.int64]) -> float:
        """The utility U of the clusters with that profile: what one cluster of all objects loses more, per object."""
        n_objects = int(self.counts[: self.offsets[1]].sum())
        return (self.loss(self.counts[None]) - self.loss(profile)) / n_objects

    def shifts(self, before: NDArray[np.float64], after: NDArray[np.float64]) -> NDArray[np.float64]:
        """(k,) distance that each centroid moved."""
        by_partition = self._sums(np.square(self._points(after) - self._points(before)))
        return np.asarray(np.sqrt((by_partition * self.weights).sum(axis=1)))

    def rounding(self) -> float:
        """Bound of the float32 error of a row's squared distance."""
        n_partitions = len(self.weights)
        return float(8 * n_partitions * np.finfo(np.float32).eps * self.weights.sum())

    def _label_distances(self, proportions: NDArray[np.float64]) -> NDArray[np.float64]:
        """(k, d) distance of each label, as a vector of one 1, to the proportions of its partition; less ``peak``."""
        return np.asarray(self._spread(self._sums(np.square(proportions))) - 2 * proportions)

    def _within(self, known: NDArray[np.int64], labelled: NDArray[np.int64]) -> NDArray[np.float64]:
        """(k, p) sum of the members' distances to the centroid, from their label counts: |C| - Σ_f α_f² / |C|."""
        return np.asarray(labelled - self._sums(np.square(known)) / np.maximum(labelled, 1))

    def _points(self, centroids: NDArray[np.float64]) -> NDArray[np.float64]:
        """The points to which distances are squared Euclidean."""
        return centroids

    def _drop_missing(self, profile: NDArray[np.int64]) -> NDArray[np.int64]:
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
class LocalUtility(CategoryUtility):
    """U_c where each cluster of the partitions has a weight, that of its column of H."""

    local: NDArray[np.float64]
    """(d,) 0 for missing."""

    def base(self, codes: NDArray[Any]) -> NDArray[np.float32]:
        own = self.local * self._spread(self.weights[None])[0]
        base = np.zeros(len(codes))
        for offset, column in zip(self.offsets, codes.T, strict=False):
            base += own[offset + column]
        return base.astype(np.float32)

    def rounding(self) -> float:
        return 2 * super().rounding()

    def _label_distances(self, proportions: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(self._spread(self._sums(self.local * np.square(proportions))) - 2 * self.local * proportions)

    def _within(self, known: NDArray[np.int64], labelled: NDArray[np.int64]) -> NDArray[np.float64]:
        kept = self._sums(self.local * np.square(known)) / np.maximum(labelled, 1)
        return np.asarray(self._sums(self.local * known) - kept)

    def _points(self, centroids: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(np.sqrt(self.local) * centroids)


@dataclass(frozen=True)
class EntropyUtility(CategoryUtility):
    """U_H: Kullback-Leibler divergence in bits; KCC with it is ECC (Liu et al. 2017).

    The loss is the conditional entropy of the labels.

    ``smoothing`` is added to the proportions in the distance, so that a label that a cluster has not seen costs
    −log2(smoothing) bits instead of ∞. It is not in the loss, which only has labels that were seen.
    """

    smoothing: float = float(np.finfo(np.float64).eps)

    bounded: ClassVar[bool] = False
    peak: ClassVar[float] = 0.0

    def _label_distances(self, proportions: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(-np.log2(proportions + self.smoothing))

    def _within(self, known: NDArray[np.int64], labelled: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.asarray((xlogy(labelled, labelled) - self._sums(xlogy(known, known))) / np.log(2))


@dataclass(frozen=True)
class CosineUtility(CategoryUtility):
    """U_cos: one minus the cosine, half the squared distance to the proportions scaled to length one."""

    def _label_distances(self, proportions: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(-self._directions(proportions))

    def _within(self, known: NDArray[np.int64], labelled: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.asarray(labelled - np.sqrt(self._sums(np.square(known))))

    def _points(self, centroids: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(self._directions(centroids) / np.sqrt(2))

    def _directions(self, proportions: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(proportions / self._spread(np.sqrt(self._sums(np.square(proportions)))))


@dataclass(frozen=True)
class LpUtility(CategoryUtility):
    """U_Lp: the distance that belongs to the p-norm of the proportions, p = ``exponent``; U_cos for 2."""

    exponent: float = 5.0

    bounded: ClassVar[bool] = False

    def _label_distances(self, proportions: NDArray[np.float64]) -> NDArray[np.float64]:
        directions = proportions / self._spread(self._norms(proportions))
        return np.asarray(-(directions ** (self.exponent - 1)))

    def _within(self, known: NDArray[np.int64], labelled: NDArray[np.int64]) -> NDArray[np.float64]:
        # Of proportions, not of counts: powers of counts overflow.
        proportions = known / self._spread(np.maximum(labelled, 1))
        return np.asarray(labelled * (1 - self._norms(proportions)))

    def _norms(self, proportions: NDArray[np.float64]) -> NDArray[np.float64]:
        """(k, p)"""
        largest = np.ones((len(proportions), len(self.weights)))
        powers = self._sums(proportions**self.exponent)
        if powers.min() < LEAST_POWER:  # Of the shares of the largest proportion, one is 1.
            every = np.maximum.reduceat(proportions, self.offsets[:-1], axis=1)
            largest = np.where((powers < LEAST_POWER) & (every > 0), every, 1)
            powers = self._sums((proportions / self._spread(largest)) ** self.exponent)
        return np.asarray(largest * powers ** (1 / self.exponent))


LEAST_POWER = 1e-290
"""Powers of proportions below it may have lost digits."""


UTILITIES: dict[str, type[CategoryUtility]] = {
    "category": CategoryUtility,
    "entropy": EntropyUtility,
    "cosine": CosineUtility,
    "lp": LpUtility,
}


def cluster_densities(
    profile: NDArray[np.int64], offsets: NDArray[np.int64], weights: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Objects and density (Candel Eq. 3) of each cluster, from its label counts."""
    sizes = profile[:, : offsets[1]].sum(axis=1)
    joined, pairs = joined_pairs(profile, offsets, weights)
    return sizes, ratio(joined, pairs)


def joined_pairs(
    profile: NDArray[np.int64], offsets: NDArray[np.int64], weights: NDArray[np.float64]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Ordered pairs of members that the partitions join, and that they label, per cluster."""
    labelled = labelled_members(profile, offsets)
    squares = np.add.reduceat(profile * profile, offsets[:-1], axis=1) - profile[:, offsets[1:] - 1] ** 2
    return weighted_sum(squares - labelled, weights), weighted_sum(labelled * (labelled - 1), weights)
