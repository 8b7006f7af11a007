"""Agglomerative hierarchies in which must-link groups have merged and cannot-link pairs never do."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import squareform

from ensemblage.base.memory import OVERHEAD, Need
from ensemblage.consensus._lifetime import Hierarchy, Merges, duplicate_heights, lifetimes
from ensemblage.consensus.hierarchies._linkage import Linkage, RowSimilarity, fill_sums
from ensemblage.kernels._linkage import Condensed
from ensemblage.labels.links import ImpossiblePairs, Units, objects_text


def need_of_units(units: Units) -> Need:
    """What `hierarchy_of_units` takes: four square matrices of the rows and three of the units."""
    m, q = len(units.of_rows), len(units)
    advice = "Use KMeansConsensus or a voting method, which make no matrix of all pairs, or raise max_bytes."
    n_bytes = OVERHEAD + 8 * (4 * m * m + 3 * q * q)
    return Need(n_bytes, f"the similarities of {m:,} label rows with links", advice)


def hierarchy_of_units(C: RowSimilarity, units: Units, linkage: Linkage) -> Hierarchy:
    """Merge the two most similar units that may be in one cluster, of those that tie the first, as long as there are.

    First merge the rows of each unit, at height 0; then the units; then, at height 1, what is kept apart. With q units
    of m rows: O(m² p + q²) time as a rule, O(q³) at worst, and two matrices of m² and of q² floats.
    """
    m, q = len(units.of_rows), len(units)
    of_units = UnitSimilarity.of(C, units, linkage)
    first = np.unique(units.of_rows, return_index=True)[1]
    inside = np.setdiff1d(np.arange(m), first)
    pairs = [(first[units.of_rows[row]], row) for row in inside]
    found, heights = of_units.merge()
    pairs += [(first[i], first[j]) for i, j in found]
    left = np.setdiff1d(np.arange(q), [j for _, j in found])
    pairs += [(first[left[0]], first[u]) for u in left[1:]]
    all_heights = np.concatenate([np.zeros(len(inside)), heights, np.ones(len(left) - 1)])
    merges = Merges(np.array(pairs, dtype=np.int64).reshape(-1, 2), all_heights)
    of_duplicates = None
    if C.has_local:
        of_duplicates = np.zeros(m)
        alone = np.setdiff1d(np.arange(m), units.bound)
        of_duplicates[alone] = duplicate_heights(C.codes, *C.compared[:3], merges)[alone]
    lives = lifetimes(heights, include_singletons=bool((C.counts > 1).any()) or q < m)
    lives = {number + len(left) - 1: life for number, life in lives.items()}
    # What is left when every merge is forbidden lives until similarity 0.
    if len(left) > 1:
        lives[len(left)] = 1 - float(heights[-1]) if len(heights) else 1.0
    return Hierarchy(merges, lives, q, len(left), of_duplicates)


def check_reached(k: int | None, n_least: int, units: Units) -> None:
    """Raise unless merges that cannot-link allows lead to k clusters; None: to any number."""
    if k is not None and k < n_least:
        apart = np.unique(units.objects[units.apart])
        raise ImpossiblePairs(
            lambda name: (
                f"n_clusters of EvidenceAccumulation must be ≥ the {n_least} clusters after which cannot_link forbids "
                f"every merge, of the objects {objects_text(apart, name)}. Got {k}. Ask for more clusters or leave "
                "pairs out."
            )
        )


class UnitSimilarity(NamedTuple):
    """How similar two clusters of units are: a sum over their pairs of rows by another; of single pairs by 1."""

    sums: NDArray[np.float64]
    """(q, q)"""
    known: NDArray[np.float64]
    """(q, q) what to divide by; 0 where no partition labels both."""
    allowed: NDArray[np.bool_]
    """(q, q) whether two clusters may merge."""
    linkage: Linkage

    @classmethod
    def of(cls, C: RowSimilarity, units: Units, linkage: Linkage) -> UnitSimilarity:
        summed = linkage.reduce is np.add
        m, q, of_rows = len(units.of_rows), len(units), units.of_rows
        entries, sizes = m * (m - 1) // 2, C.counts.astype(np.float64)
        of_pairs = Condensed(np.empty(entries), np.empty(entries if summed and not C.compared.complete else 0), sizes)
        fill_sums(C, sizes if summed else np.empty(0), of_pairs)
        rows = np.argsort(of_rows, kind="stable")
        starts = np.searchsorted(of_rows[rows], np.arange(q))

        def by_units(pairs: NDArray[np.float64]) -> NDArray[np.float64]:
            square = squareform(pairs, checks=False)[np.ix_(rows, rows)]
            return np.asarray(linkage.reduce.reduceat(linkage.reduce.reduceat(square, starts, axis=0), starts, axis=1))

        sums = by_units(of_pairs.matrix)
        if not summed:
            known = np.ones((q, q))
        elif len(of_pairs.known):
            known = by_units(of_pairs.known)
        else:
            of_units = np.bincount(of_rows, weights=sizes, minlength=q)
            # The sum of the weights as the kernels make it, one after the other.
            known = np.outer(of_units, of_units) * np.cumsum(C.compared.weights)[-1]
        allowed = ~np.eye(q, dtype=bool)
        allowed[units.apart[:, 0], units.apart[:, 1]] = allowed[units.apart[:, 1], units.apart[:, 0]] = False
        return cls(sums, known, allowed, linkage)

    def similarities(self, i: int) -> NDArray[np.float64]:
        """(q,) of cluster i with the others; -1 where they may not merge."""
        known = self.known[i]
        ratio = np.divide(self.sums[i], known, out=np.zeros(len(known)), where=known > 0)
        return np.where(self.allowed[i], np.minimum(ratio, 1), -1)

    def merge(self) -> tuple[list[tuple[int, int]], NDArray[np.float64]]:
        """The merges of clusters i < j into i, and their heights, none below the one before; the matrices are used up.

        A union is as similar to a third cluster as the more similar of its parts at most, and may not merge where one
        of its parts may not: so the most similar of the third is found anew only where it was one of the parts.
        """
        q = len(self.sums)
        pairs: list[tuple[int, int]] = []
        heights: list[float] = []
        values = np.array([self.similarities(i) for i in range(q)]).reshape(q, q)
        nearest = values.argmax(axis=1)
        while q > 1:
            best = values[np.arange(q), nearest]
            i = int(best.argmax())
            j = int(nearest[i])
            if best[i] < 0:
                break
            pairs.append((i, j))
            heights.append(max(1 - best[i], heights[-1] if heights else 0.0))
            self._unite(i, j)
            values[j], values[:, j] = -1, -1
            values[i] = values[:, i] = self.similarities(i)
            nearest[i] = values[i].argmax()
            for other in np.flatnonzero((nearest == i) | (nearest == j)):
                nearest[other] = values[other].argmax()
            # Of equally similar clusters the first one: the union may have become the first.
            better = values[:, i] == values[np.arange(q), nearest]
            nearest[better & (i < nearest)] = i
        return pairs, np.array(heights)

    def _unite(self, i: int, j: int) -> None:
        allowed = self.allowed[i] & self.allowed[j]
        self.allowed[i] = self.allowed[:, i] = allowed
        self.allowed[j] = self.allowed[:, j] = False
        for matrix in (self.sums, self.known) if self.linkage.reduce is np.add else (self.sums,):
            matrix[i] = self.linkage.reduce(matrix[i], matrix[j])
            matrix[:, i] = matrix[i]
