"""Average linkage of few label rows in NumPy: bitwise what `average_chain` gives, without compiling it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage.kernels._average_linkage import Compared


class Profiles:
    """The label counts of the clusters, named by their first row; `average_chain` has what a similarity is.

    A row that is alone counts as one object, which stands for several.
    """

    def __init__(self, codes: NDArray[Any], counts: NDArray[np.int64], compared: Compared) -> None:
        self.compared, (m, _) = compared, codes.shape
        self.labels = (codes + compared.offsets[:-1]).T
        """(p, m) of the rows."""
        self.left, self.place = np.arange(m), np.arange(m)
        """(n,) the clusters that are left, and (m,) where each stands among them."""
        self.members = np.zeros((int(compared.offsets[-1]), m))
        """(d, m) counts, of the first n columns."""
        self.members[self.labels, self.left] = 1.0
        self.sizes, self.stands_for = np.ones(m), counts.astype(np.float64)
        """(m,) of the first n."""
        self.whole = float(np.cumsum(compared.weights)[-1])
        self.absent = compared.offsets[1:] - 1

    def of_rows(self) -> NDArray[np.float64]:
        """(m, m) similarities of all rows to each one, before any merge; sums in the order of the partitions."""
        joined, labelled = np.zeros((2, len(self.sizes), len(self.sizes)))
        for labels, absent, weight in zip(self.labels, self.absent, self.compared.weights, strict=True):
            adds, known = self.compared.joins[labels] * self.stands_for, labels != absent
            joined += (labels[:, None] == labels) * adds[:, None]
            if not self.compared.complete:
                labelled += np.outer(weight * (known * self.stands_for), known)
        return self._ratio(joined, labelled, self.stands_for[:, None])

    def of_cluster(self, top: int) -> NDArray[np.float64]:
        """(m,) similarities of all clusters to one, −1 of those that are merged; sums in the order of the labels."""
        at, members = int(self.place[top]), self.members[:, : len(self.left)]
        own, size = members[:, at] * self.stands_for[at], self.sizes[at] * self.stands_for[at]
        adds = self.compared.joins * own
        some = adds.nonzero()[0]  # the others add nothing
        joined = labelled = (members[some] * adds[some, None]).sum(axis=0)
        if not self.compared.complete:
            present = np.repeat(self.compared.weights * (size - own[self.absent]), np.diff(self.compared.offsets))
            present[self.absent] = 0.0
            labelled = (members * present[:, None]).sum(axis=0)
        similar = np.full(len(self.place), -1.0)
        similar[self.left] = self._ratio(joined, labelled, size)
        return similar

    def _ratio(self, joined: NDArray[Any], labelled: NDArray[Any], size: Any) -> NDArray[np.float64]:
        if self.compared.complete:
            return np.asarray(joined / (self.whole * size * self.sizes[: len(self.left)]))
        return np.asarray(np.divide(joined, labelled, out=np.zeros_like(joined), where=labelled > 0))

    def merge(self, first: int, second: int) -> None:
        """The second cluster becomes part of the first, and the last one takes its place."""
        a, b, last = self.place[first], self.place[second], len(self.left) - 1
        for table in (self.members, self.sizes):
            table[..., a] = table[..., a] * self.stands_for[a] + table[..., b] * self.stands_for[b]
            table[..., b] = table[..., last]
        self.stands_for[a] = 1.0
        self.stands_for[b] = self.stands_for[last]
        self.left[b], self.place[self.left[last]] = self.left[last], b
        self.left = self.left[:last]


def small_chain(
    codes: NDArray[Any], counts: NDArray[np.int64], compared: Compared
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Pairs, (m - 1, 2), and similarities, (m - 1,), of (m, p) codes whose labels are not similar. O(m² d) time.

    The steps are those of the kernel, ties included: first every row finds its nearest one, then the most promising
    cluster starts a chain.
    """
    m, profiles = len(codes), Profiles(codes, counts, compared)
    pairs, similarities = np.empty((m - 1, 2), dtype=np.int64), np.empty(m - 1)
    similar = profiles.of_rows()
    np.fill_diagonal(similar, -1.0)
    partner, bound = similar.argmax(axis=1).tolist(), similar.max(axis=1).tolist()
    searched, born, left = [0] * m, [0] * m, [True] * m
    alone, several, chain, links, n_merges = list(range(m)), list[int](), list[int](), list[float](), 0
    while n_merges < m - 1:
        if not chain:
            chain, links = [max(alone + several, key=bound.__getitem__)], []
        top, near = chain[-1], partner[chain[-1]]
        if near < 0 or not left[near] or born[near] > searched[top]:
            # The nearest that is not on the chain, or the one before the top.
            similar = profiles.of_cluster(top)
            before = max(similar[chain[-2]], links[-1]) if links else -1.0
            similar[chain] = -1.0
            similar[chain[-2:-1]] = before
            partner[top] = near = int(similar.argmax())
            bound[top], searched[top] = float(similar[near]), n_merges
        if near not in chain:
            chain.append(near)
            links.append(bound[top])
            continue
        first, second = sorted(chain[-2:])
        pairs[n_merges], similarities[n_merges], n_merges = (first, second), links[-1], n_merges + 1
        profiles.merge(first, second)
        for part in (first, second):
            of_kind = alone if part in alone else several
            of_kind[of_kind.index(part)] = of_kind[-1]
            of_kind.pop()
        several.append(first)
        left[second], bound[first], partner[first], born[first] = False, links[-1], -1, n_merges
        chain, links = chain[:-2], links[:-2]
    return pairs, similarities
