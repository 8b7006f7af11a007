"""Average linkage of few label rows by NumPy: the bits of the kernels, which would take seconds to compile."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage.kernels._average_linkage import Compared

EXACT = 2**53
"""Whole numbers below it are exact in float64."""


def counts_per_label(codes: NDArray[Any], counts: NDArray[np.int64], offsets: NDArray[np.int64]) -> NDArray[np.float64]:
    """(m, d) objects of each row that have each label."""
    table = np.zeros((len(codes), int(offsets[-1])))
    table[np.arange(len(codes))[:, None], offsets[:-1] + codes] = counts[:, None]
    return table


def greedy_merges(
    codes: NDArray[Any], counts: NDArray[np.int64], offsets: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """What `merges_in_rounds` gives of partitions of equal weight, the most similar pair first.

    All sums are whole numbers below `EXACT`. O(m³ + m² d) operations.

    codes : (m, p)
    counts : (m,) objects of each row
    offsets : (p + 1,) first label of each partition
    """
    m, p = codes.shape
    table, sizes = counts_per_label(codes, counts, offsets), counts.astype(np.float64)
    sums = table @ table.T
    similarity = sums / (p * sizes[:, None] * sizes)
    np.fill_diagonal(similarity, -1)
    merged = np.zeros(m, dtype=np.bool_)
    pairs, similarities = np.empty((m - 1, 2), dtype=np.int64), np.empty(m - 1)
    for s in range(m - 1):
        # Of equal pairs the one with the smallest numbers.
        first, second = divmod(int(similarity.argmax()), m)
        pairs[s], similarities[s] = (first, second), similarity[first, second]
        merged[second] = True
        sizes[first] += sizes[second]
        sums[first] += sums[second]
        sums[:, first] = sums[first]
        of_union = sums[first] / (p * sizes[first] * sizes)
        of_union[merged], of_union[first] = -1, -1
        similarity[first], similarity[:, first] = of_union, of_union
        similarity[second], similarity[:, second] = -1, -1
    return pairs, similarities


class FewClusters:
    """The clusters of m rows, and what is known of the nearest one of each; as in `average_chain`.

    Two clusters may be similar by sums that are rounded differently. So the chain is the kernel's, search by search.
    """

    def __init__(self, codes: NDArray[Any], counts: NDArray[np.int64], compared: Compared) -> None:
        m = len(codes)
        self.members = counts_per_label(codes, counts, compared.offsets)
        """(m, d) objects of each cluster that have each label."""
        self.factors = np.ascontiguousarray((self.members > 0).T.astype(np.float64))
        """(d, m) the same, 1 for a label of a row that is alone."""
        self.divisors = np.ones(m)
        """(m,) objects of each cluster, 1 for a row that is alone."""
        self.sizes = counts.astype(np.float64)
        self.joins, self.whole = compared.joins, float(np.cumsum(compared.weights)[-1])
        self.rows, self.several = list(range(m)), list[int]()
        """Rows alone and clusters of several rows, in the kernel's order."""
        self.may_be_found = np.ones(m, dtype=np.bool_)
        """(m,) neither on the chain nor merged into another."""
        self.bound = np.full(m, np.inf)

    def nearest_to(self, top: int, before: int, link: float) -> tuple[int, float]:
        """The most similar cluster, of equal ones that with the smallest number, and how similar it is.

        ``before``, by ``link``, is the one cluster of the chain that may be found; -1: none.
        """
        own = np.flatnonzero(self.members[top])
        added = self.joins[own] * self.members[top, own]
        sums = np.cumsum(self.factors[own] * added[:, None], axis=0)[-1]
        similarity = sums / (self.whole * self.sizes[top] * self.divisors)
        near = before if before >= 0 else len(similarity)
        is_candidate = self.may_be_found.copy()
        is_candidate[top] = False
        if before >= 0:
            is_candidate[before] = True
        similarity[~is_candidate] = -1.0
        other = int(similarity.argmax())
        found = float(similarity[other])
        return (other, found) if found > link or (found == link and other < near) else (near, link)

    def most_promising(self) -> int:
        """The cluster that may be most similar to another."""
        some = np.array([*self.rows, *self.several])
        return int(some[self.bound[some].argmax()])

    def merge(self, first: int, second: int) -> None:
        """The second cluster becomes part of the first."""
        for c in (first, second):
            of = self.rows if c in self.rows else self.several
            # The last one takes its place.
            last, at = of.pop(), len(of)
            if last != c:
                at = of.index(c)
                of[at] = last
        self.several.append(first)
        self.members[first] += self.members[second]
        self.factors[:, first] = self.members[first]
        self.sizes[first] += self.sizes[second]
        self.divisors[first] = self.sizes[first]
        self.may_be_found[first], self.may_be_found[second] = True, False


def chain_of_few(
    codes: NDArray[Any], counts: NDArray[np.int64], compared: Compared
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """What `average_chain` gives of rows with all labels whose similarity is a sum of weights. O(m² p) operations.

    codes : (m, p)
    counts : (m,) objects of each row
    """
    m = len(codes)
    clusters = FewClusters(codes, counts, compared)
    partner, searched, born = np.full(m, -1), np.zeros(m, dtype=np.int64), np.zeros(m, dtype=np.int64)
    for c in range(m):
        partner[c], clusters.bound[c] = clusters.nearest_to(c, -1, -1.0)
    merged = np.zeros(m, dtype=np.bool_)
    pairs, similarities = np.empty((m - 1, 2), dtype=np.int64), np.empty(m - 1)
    chain, links, s = list[int](), list[float](), 0
    while s < m - 1:
        if not chain:
            chain.append(clusters.most_promising())
            clusters.may_be_found[chain[0]] = False
        top, before, link = (chain[-1], chain[-2], links[-1]) if len(chain) > 1 else (chain[0], -1, -1.0)
        near = int(partner[top])
        if near < 0 or merged[near] or born[near] > searched[top]:
            near, clusters.bound[top] = clusters.nearest_to(top, before, link)
            partner[top], searched[top] = near, s
        if near != before and clusters.may_be_found[near]:
            links.append(float(clusters.bound[top]))
            chain.append(near)
            clusters.may_be_found[near] = False
            continue
        first, second = min(top, before), max(top, before)
        pairs[s], similarities[s] = (first, second), link
        merged[second] = True
        clusters.merge(first, second)
        del chain[-2:], links[-2:]
        s += 1
        clusters.bound[first], partner[first], born[first] = link, -1, s
    return pairs, similarities
