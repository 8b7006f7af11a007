"""Association of rows with clusters where these are many: label counts of which only those above 0 are held."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from ensemblage.kernels._certainty import least_sure_by_links
from ensemblage.metrics._certainty import as_shares, finish_alone, lift_of, share_alone
from ensemblage.metrics._density import ratio


class LinkAssociation(NamedTuple):
    """`Association` from a table without zeros; the results are bitwise identical.

    Where communities are thousands, most share no label: O(n p) memory instead of O(k Σ k_i), and as much time as the
    labels of a row have clusters.
    """

    profile: csr_array
    """(offsets[p], k) objects of each cluster with each label."""
    labelled: NDArray[np.float64]
    """(p, k) members of each cluster that each partition labels."""
    offsets: NDArray[np.int64]
    weights: NDArray[np.float64]
    lift: NDArray[np.float64]
    alone: NDArray[np.bool_]
    sizes: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        codes: NDArray[Any],
        counts: NDArray[np.int64],
        clusters: NDArray[Any],
        n_clusters: int,
        offsets: NDArray[np.int64],
        weights: NDArray[np.float64],
    ) -> LinkAssociation:
        """Of rows in memory, each in a cluster; the arguments are those of `Association.of`."""
        by_partition, labelled = [], np.zeros((len(weights), n_clusters))
        present = np.zeros(int(offsets[-1]), dtype=np.int64)
        for t in range(len(weights)):
            n_labels, column = int(offsets[t + 1] - offsets[t]), codes[:, t].astype(np.int64)
            known = column < n_labels - 1
            present[offsets[t] : offsets[t + 1]] = np.bincount(column[known], counts[known], n_labels)
            entries = counts[known].astype(np.float64), (column[known], clusters[known])
            by_partition.append(csr_array(entries, shape=(n_labels, n_clusters)))
            labelled[t] = np.bincount(clusters[known], counts[known], n_clusters)
        return cls(
            csr_array(vstack(by_partition, format="csr")),
            labelled,
            offsets,
            weights,
            lift_of(present, offsets, weights),
            present == 1,
            np.bincount(clusters, counts, n_clusters).astype(np.int64),
        )

    def reorder(self, order: NDArray[np.int64]) -> LinkAssociation:
        """With cluster ``order[c]`` as cluster c."""
        return self._replace(
            profile=csr_array(self.profile[:, order]), labelled=self.labelled[:, order], sizes=self.sizes[order]
        )

    def assign_rows(
        self, codes: NDArray[Any], clusters: NDArray[Any], counted: bool
    ) -> tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.float64]]:
        """(m,) as `Association.assign_rows`."""
        m, (p, k) = len(codes), self.labelled.shape
        complete = bool((self.labelled == self.sizes).all())
        found = np.empty(m), np.empty(m, dtype=np.int32), np.empty(m)
        table = self.profile.indptr, self.profile.indices, self.profile.data
        given = (self.labelled, self.sizes, self.offsets, self.weights, self.lift, float(counted), complete)
        partly = np.flatnonzero((self.labelled == 0).any(axis=0))
        work = np.zeros((3, k)), np.zeros(k, dtype=bool), np.empty(k, dtype=np.int64), np.empty((2, p))
        least_sure_by_links(codes, clusters, table, *given, partly, work, found)
        return finish_alone(self, codes, clusters, found) if counted else found

    def share_alone(self, codes: NDArray[Any]) -> NDArray[np.float64]:
        """(m,) as `Association.share_alone`."""
        return share_alone(self, codes)

    def memberships(self, codes: NDArray[Any], clusters: NDArray[Any]) -> NDArray[np.float64]:
        """(m, k) as `Association.memberships`."""
        known = codes < np.diff(self.offsets) - 1
        u = np.where(known, self.lift, 0.0)
        indptr = np.concatenate([[0], np.cumsum(known.sum(axis=1))])
        labels = csr_array((u[known], (codes + self.offsets[:-1])[known], indptr), (len(codes), self.profile.shape[0]))
        joined, pairs = (labels @ self.profile).toarray(), u @ self.labelled
        rows = np.flatnonzero(clusters >= 0)
        joined[rows, clusters[rows]] -= u[rows].sum(axis=1)
        pairs[rows, clusters[rows]] -= u[rows].sum(axis=1)
        association = ratio(joined, pairs)
        single = rows[self.sizes[clusters[rows]] == 1]
        association[single, clusters[single]] = self.share_alone(codes[single])
        association[~known.any(axis=1)] = np.nan
        return as_shares(association)
