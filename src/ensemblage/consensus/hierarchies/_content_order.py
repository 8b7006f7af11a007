"""Label rows in an order of their content, by which hierarchies decide between equally similar pairs.

The labels of a partition are ordered by decreasing size, and the rows by their labels, partition by partition. Of two
labels as large, what rows they have decides, and so on, until nothing more is told apart: colour refinement (Weisfeiler
& Leman). So neither names of labels nor the order of the objects matter, and copies of partitions or of all objects
change nothing. What is still alike is so by a symmetry of the ensemble, as a rule, and any order of it is as good:
one of these labels is put first, by its name, and what that tells apart is refined.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage.labels.blocks import MemoryRows, recode
from ensemblage.labels.distinct import order_of_rows
from ensemblage.labels.links import Units
from ensemblage.labels.rows import Rows

MOST_SINGLE = 10
"""Labels that are put first one at a time; then names decide in a whole partition."""


class ContentOrder(NamedTuple):
    """Distinct rows in the order of their content, with labels numbered so, too."""

    rows: Rows
    order: NDArray[np.intp]
    """(m,) the place of each among the rows as they were."""
    labels: NDArray[np.intp]
    """(offsets[p],) the place of each label in a table over the labels as they were."""

    @classmethod
    def of(cls, rows: Rows) -> ContentOrder:
        """Of rows in memory. O(m p + m log m) time for m rows, as a rule; a copy of them."""
        m, (numbers, codes, order) = len(rows), label_numbers(rows.codes[:], rows.counts, rows.n_clusters)
        labels = np.concatenate(
            [start + np.argsort(number) for start, number in zip(rows.offsets[:-1], numbers, strict=True)]
        )
        rank = np.full(m + 1, m, dtype=rows.inverse.dtype)
        rank[order] = np.arange(m)
        units = None if rows.units is None else _units_in(order, rows.units)
        ordered = replace(rows.for_model(), codes=MemoryRows(codes[order]), counts=rows.counts[order], units=units)
        return cls(replace(ordered, inverse=rank[np.minimum(rows.inverse, m)]), order, labels)


def label_numbers(
    codes: NDArray[Any], counts: NDArray[np.int64], n_clusters: NDArray[np.int64]
) -> tuple[list[NDArray[np.int64]], NDArray[Any], NDArray[np.intp]]:
    """Number of each partition's labels, the missing entry last; the codes in these numbers; the order of the rows.

    codes : (m, p)
    counts : (m,) objects of each row
    n_clusters : (p,)
    """
    counts = counts // np.gcd.reduce(counts)
    sizes = [np.bincount(column, counts, k + 1)[:k] for column, k in zip(codes.T, n_clusters, strict=True)]
    numbers = [_ranks(np.append(-size, 1)) for size in sizes]
    n_single, n_before = 0, 0
    while True:
        numbered = recode(codes, numbers, codes.dtype)
        order = order_of_rows(numbered, n_clusters + 1)
        alike = [j for j, k in enumerate(n_clusters) if numbers[j][k] < k]
        if not alike:
            return numbers, numbered, order
        n_found = sum(int(number.max()) for number in numbers)
        if n_found > n_before:
            # Labels have equal sums of random numbers if as many of their objects have the same rows so far.
            ordered, ranks = numbered[order], np.zeros(len(order), dtype=np.int64)
            ranks[order[1:]] = (ordered[1:] != ordered[:-1]).any(axis=1).cumsum()
            of_rows = np.random.RandomState(0).randint(2**62, size=len(order), dtype=np.int64)[ranks] * counts
            for j in alike:
                sums = np.zeros(n_clusters[j] + 1, dtype=np.int64)
                np.add.at(sums, codes[:, j], of_rows)
                numbers[j] = _ranks(sums, numbers[j])
        else:
            number = numbers[alike[0]]
            tied = np.flatnonzero(np.bincount(number)[number] > 1)
            by_name = np.arange(len(number))
            if n_single < MOST_SINGLE:
                by_name = (by_name != tied[number[tied].argmin()]).astype(np.int64)
            numbers[alike[0]] = _ranks(by_name, number)
            n_single += 1
        n_before = n_found


def _ranks(*keys: NDArray[Any]) -> NDArray[np.int64]:
    """Number of each element in the order of the keys, the last one first; equal ones have equal numbers."""
    order = np.lexsort(keys)
    is_new = np.any([key[order[1:]] != key[order[:-1]] for key in keys], axis=0)
    ranks = np.zeros(len(order), dtype=np.int64)
    ranks[order[1:]] = is_new.cumsum()
    return ranks


def _units_in(order: NDArray[np.intp], units: Units) -> Units:
    """The units of rows in another order."""
    of_rows = units.of_rows[order]
    by_first = np.argsort(np.unique(of_rows, return_index=True)[1])
    number = np.argsort(by_first)
    return Units(number[of_rows], np.unique(np.sort(number[units.apart], axis=1), axis=0), units.objects[by_first])
