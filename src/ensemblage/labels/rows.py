"""What a method clusters: the distinct label rows with their counts and weights."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from ensemblage.base.threads import row_blocks
from ensemblage.labels.blocks import DistinctRows, LabelRows
from ensemblage.labels.coding import CodedColumns, Coding, check_labelled
from ensemblage.labels.counts import binary_matrix, is_missing, label_sizes, places_of_labels
from ensemblage.labels.links import Links, Units

if TYPE_CHECKING:
    from ensemblage.labels.ensemble import Ensemble


class Distinct(Protocol):
    """What is asked of partitions by what counts pairs of them, or of objects: an ensemble has it, and all records."""

    @property
    def distinct(self) -> Any:
        """`DistinctRows`."""

    @property
    def n_clusters(self) -> NDArray[np.int64]:
        """(p,)"""


class Counted(NamedTuple):
    """Label rows in which object i counts ``sample_weight[i]`` times: what is counted is ``np.repeat(rows, w)``.

    A label that no object of weight > 0 has is a missing entry, and a distinct row without weight is left out: the
    place of its objects is the number of distinct rows.
    """

    coding: Any
    """`Coding` or `SoftCoding`: how other labels of these partitions become such rows."""
    objects: LabelRows
    """(n, p) the row of each object, whatever it counts."""
    distinct: DistinctRows
    """The distinct ones, and what they count."""
    n_clusters: NDArray[np.int64]
    """(p,) labels of each partition; 0 of one that labels no object that counts."""


def counted_labels(
    coded: CodedColumns, missing: int | None, distinct: DistinctRows, sample_weight: NDArray[np.int64]
) -> Counted:
    """`Counted` of coded labels, whose rows are shared where every label and every row has weight.

    Else new are a copy of the codes and 8 bytes per object.
    """
    n_clusters, coding = np.fromiter(map(len, coded.categories), np.int64), Coding(coded.categories, missing)
    codes, counts, inverse = distinct.with_weights(sample_weight)
    rows = coded.codes
    if len(codes) < len(distinct.codes):
        offsets = np.concatenate([[0], np.cumsum(n_clusters + 1)])
        sizes = label_sizes(codes, counts, offsets)
        used = [np.flatnonzero(sizes[start : stop - 1]) for start, stop in pairwise(offsets)]
        categories = tuple(labels[some] for labels, some in zip(coded.categories, used, strict=True))
        coding, n_clusters = Coding(categories, missing), np.array([len(labels) for labels in categories])
        check_labelled(categories, coded.names or [])
        rows, codes = (coding.encode(coded._replace(codes=some), warn=False) for some in (rows, codes))
    return Counted(coding, rows, DistinctRows(codes, counts, inverse), n_clusters)


@dataclass(frozen=True)
class Rows:
    """The distinct label rows that at least one partition labels, in lexicographic order."""

    codes: LabelRows
    """(m, p); ``codes[:]`` is an array for the methods that hold all rows. Memberships of a soft ensemble stand there
    as (m, offsets[p]).
    """
    counts: NDArray[np.int64]
    """(m,) objects with that row, each as often as it counts."""
    offsets: NDArray[np.int64]
    """(p + 1,) rows of partition j in a table over labels; the last of them belongs to the missing entry."""
    inverse: NDArray[Any]
    """(n,) row of each object; m or more for an object that no partition labels, or whose row has no weight."""
    weights: NDArray[np.float64]
    """(p,) weight of each partition."""
    sample_weight: NDArray[np.int64] | None = None
    """(n,) how often each object counts; None: once."""
    units: Units | None = None
    """Which rows belong together, and which do not; None: each is for itself."""
    coding: Any = None
    """`Coding` or `SoftCoding`: how other labels of these partitions become such rows. None, as what follows, where
    there are no labels, and in a fitted model."""
    objects: Any = None
    """(n, p) `LabelRows`: the row of each object."""
    distinct: Any = None
    """The `DistinctRows` from which ``codes`` come: with the one that is missing everywhere."""

    @classmethod
    def of(
        cls, ensemble: Ensemble, weights: NDArray[np.float64], sample_weight: NDArray[np.int64] | None
    ) -> tuple[NDArray[np.intp], Rows]:
        """What there is to cluster, and the partitions that have a say: of weight > 0, with labels that count."""
        voting = np.flatnonzero((weights > 0) & (ensemble.n_clusters > 0))
        while True:
            chosen = ensemble if len(voting) == len(weights) else ensemble.select(voting)
            rows = labelled_rows(chosen, weights[voting], sample_weight)
            heard = voting[np.diff(rows.offsets) > 1]
            if len(heard) == len(voting):
                return voting, rows
            voting = heard  # the others label only objects that do not count

    def for_model(self) -> Rows:
        """What a fitted model needs of them."""
        return replace(self, units=None, coding=None, objects=None, distinct=None)

    @property
    def n_units(self) -> int:
        """What there is to assign, and so the most clusters."""
        return len(self) if self.units is None else len(self.units)

    @property
    def n_clusters(self) -> NDArray[np.int64]:
        """(p,) clusters per partition."""
        return np.diff(self.offsets) - 1

    @property
    def labels(self) -> NDArray[np.int64]:
        """(d,) rows of the labels in a table over labels, without those of the missing entries."""
        return places_of_labels(self.offsets)

    @property
    def complete(self) -> bool:
        """Whether every partition labels every row; of codes."""
        return not (self.codes[:] == self.n_clusters).any()

    @property
    def starts(self) -> NDArray[np.int64]:
        """(p + 1,) first column of each partition in the binary matrix H, and d."""
        return np.concatenate([[0], np.cumsum(self.n_clusters)])

    def binary_matrix(self, entries: Any = 1.0) -> csr_array:
        """H, (m, d), of codes: an entry, of shape (m, p), where a partition gives a row that label; else 0."""
        return binary_matrix(self.codes[:], self.n_clusters, entries)

    def of_partition(self, j: int) -> slice:
        """The rows of partition j's labels in a table over labels, without that of the missing entry."""
        return slice(self.offsets[j], self.offsets[j + 1] - 1)

    def label_sizes(self, n_jobs: int | None = None) -> NDArray[np.int64]:
        """(offsets[p],) objects with each label, each as often as it counts."""
        return label_sizes(self.codes, self.counts, self.offsets, n_jobs)

    def first_objects(self) -> NDArray[np.uint64]:
        """(m,) the first object of each row, by its number where every object is repeated as often as it counts."""
        first, start = np.full(len(self), np.iinfo(np.uint64).max, dtype=np.uint64), 0
        for block in row_blocks(len(self.inverse)):
            inverse = self.inverse[block]
            weights = np.ones(len(inverse), dtype=np.int64) if self.sample_weight is None else self.sample_weight[block]
            counted = (inverse < len(self)) & (weights > 0)
            ends = start + np.cumsum(weights)
            np.minimum.at(first, inverse[counted], (ends - weights)[counted].astype(np.uint64))
            start = int(ends[-1])
        return first

    def __len__(self) -> int:
        return len(self.codes)

    def of_objects(self, values: NDArray[Any], otherwise: Any) -> NDArray[Any]:
        """(n,) the value of each object's row; ``otherwise`` where it has none of these rows."""
        known = np.append(values, np.array(otherwise, dtype=values.dtype))
        found = np.empty(len(self.inverse), dtype=values.dtype)
        for block in row_blocks(len(found)):  # NumPy makes a copy of the places, eight bytes each
            known.take(self.inverse[block], out=found[block], mode="clip")
        return found


def labelled_rows(
    ensemble: Ensemble, weights: NDArray[np.float64], sample_weight: NDArray[np.int64] | None = None
) -> Rows:
    """Distinct rows without the one that is missing everywhere; it sorts last, for its codes are the largest."""
    counted = ensemble._with_sample_weight(sample_weight)
    codes, counts, inverse = counted.distinct
    if is_missing(codes, counted.n_clusters, slice(-1, None)).all():
        codes, counts = codes.take(slice(len(counts) - 1)), counts[:-1]
    offsets = np.concatenate([[0], np.cumsum(counted.n_clusters + 1)])
    given = (weights, sample_weight, None, counted.coding, counted.objects, counted.distinct)
    return Rows(codes, counts, offsets, inverse, *given)


def object_rows(rows: Rows) -> Rows:
    """A row for every labelled object, in lexicographic order; equal rows stand in the order of their objects."""
    order = np.argsort(rows.inverse, kind="stable")
    order = order[: int(rows.counts.sum())]
    inverse = np.full(len(rows.inverse), len(order))
    inverse[order] = np.arange(len(order))
    return replace(rows, codes=rows.objects.take(order), counts=np.ones(len(order), dtype=np.int64), inverse=inverse)


def linked_rows(rows: Rows, links: Links) -> Rows:
    """The rows, where objects of different must-link groups have a row each, equal or not, and which form units.

    Objects that no pair names still share a row. Equal rows stand in the order of the groups' first objects, those of
    no group first. O(n log n), 40 bytes per object meanwhile.
    """
    n, m = len(rows.inverse), len(rows)
    weights = np.ones(n, dtype=np.int64) if rows.sample_weight is None else rows.sample_weight
    keys = rows.inverse.astype(np.int64) * (n + 1) + np.where(links.bound, links.group + 1, 0)
    counted = (rows.inverse < m) & (weights > 0)
    kept, first, place = np.unique(keys[counted], return_index=True, return_inverse=True)
    counts = np.bincount(place, weights=weights[counted]).astype(np.int64)
    inverse = np.minimum(np.searchsorted(kept, keys), len(kept) - 1)
    inverse = np.where(kept[inverse] == keys, inverse, len(kept))
    groups = kept % (n + 1) - 1
    of_groups = np.where(groups < 0, -1 - np.arange(len(kept)), groups)
    _, first_row, unit = np.unique(of_groups, return_index=True, return_inverse=True)
    number = np.argsort(np.argsort(first_row))
    unit_of_group = np.full(n, -1)
    unit_of_group[groups[groups >= 0]] = number[unit[groups >= 0]]
    apart = unit_of_group[links.apart]
    apart = np.unique(np.sort(apart[(apart >= 0).all(axis=1)], axis=1), axis=0)
    objects = np.flatnonzero(counted)[first][np.sort(first_row)]
    units = Units(number[unit], apart, objects)
    return replace(rows, codes=rows.codes.take(kept // (n + 1)), counts=counts, inverse=inverse, units=units)
