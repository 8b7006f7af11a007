"""What consensus methods share whose clusters are the columns of an aggregated partition: soft memberships."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.validation import check_fitted
from ensemblage.consensus._base import BaseConsensus, InductiveConsensus
from ensemblage.consensus.evidence import Evidence, Memberships
from ensemblage.consensus.voting._aggregation import AggregatedPartition, aggregate_with
from ensemblage.kernels._contingency import tally_clusters
from ensemblage.labels.blocks import LabelRows, map_rows
from ensemblage.labels.ensemble import Ensemble
from ensemblage.labels.rows import Rows


class SoftConsensus(InductiveConsensus):
    """The cluster of an object is the likeliest column of an aggregated partition, the first one on ties."""

    _rows: Rows
    _votes: AggregatedPartition
    """Its largest entry is the cluster."""
    _cluster_of: NDArray[np.int32]
    """(k,) number of each of its columns as a cluster."""
    _memberships: AggregatedPartition
    """Columns by the numbers of the clusters; rows sum to 1."""

    def _place(self, rows: Rows, votes: AggregatedPartition, memberships: AggregatedPartition) -> NDArray[np.int32]:
        """Cluster of each row, numbered by size, ties by the columns; -1 = none. ``memberships`` are the votes as
        shares.
        """
        self._rows, self._votes = rows.for_model(), votes
        k = votes.W.shape[1]
        column = self._most_likely(rows.codes)
        if rows.units is not None:
            bound = rows.units.bound
            summed = aggregate_with(rows.codes, votes).rows_of(rows.codes[bound]) * rows.counts[bound, None]
            column[bound] = rows.units.assign(-summed, type(self).__name__)
        sizes, first = np.zeros(k, dtype=np.int64), np.full(k, -1, dtype=np.int64)
        tally_clusters(column, rows.counts, sizes, first)
        self._cluster_of = np.argsort(np.argsort(-sizes, kind="stable")).astype(np.int32)
        self._memberships = memberships.merge(self._cluster_of)
        return np.append(self._cluster_of, np.int32(-1))[column]

    def _numbers(self, rows: Rows, clusters: NDArray[Any]) -> NDArray[np.int64]:
        return np.arange(int(clusters.max()) + 1)  # numbered already

    def _renumber(self, places: NDArray[np.int64]) -> None:
        super()._renumber(places)
        of_columns = self._with_empty(places)
        self._cluster_of = of_columns[self._cluster_of]
        self._memberships = self._memberships.merge(of_columns)

    def _with_empty(self, places: NDArray[np.int64]) -> NDArray[np.int32]:
        """``places``, and behind them those of the clusters that no object is in."""
        return np.append(places, np.arange(len(places), len(self._cluster_of))).astype(np.int32)

    def _most_likely(self, codes: LabelRows) -> NDArray[np.int32]:
        """Column of each row, -1 = none."""
        column, votes = np.empty(len(codes), dtype=np.int32), aggregate_with(codes, self._votes)

        def place(codes: NDArray[Any], column: NDArray[np.int32]) -> None:
            means = votes.rows_of(codes)
            column[:] = np.where(np.isnan(means[:, 0]), -1, means.argmax(axis=1))

        codes.map(place, writes=[column], n_jobs=self.n_jobs)
        return column

    def _evidence(self, ensemble: Ensemble, objects: NDArray[np.intp]) -> tuple[Evidence, ...]:
        membership, sizes = self.predict_proba(ensemble[objects]), np.ones(len(objects))
        return (Memberships(membership, self.labels_[objects].astype(np.int64), sizes),)

    def _of_objects(self, aggregate: AggregatedPartition) -> NDArray[np.float64]:
        """The row of Ū of every object that was fitted."""
        check_fitted(self)
        rows = self._rows
        aggregate = aggregate_with(rows.codes, aggregate)
        soft = np.full((len(rows.inverse), aggregate.W.shape[1]), np.nan)

        def fill(inverse: NDArray[Any], soft: NDArray[np.float64]) -> None:
            labelled = inverse < len(rows)
            soft[labelled] = aggregate.rows_of(rows.codes[inverse[labelled]])

        # Objects are in no order of their rows: rows on disk are read once for each block of objects.
        map_rows(fill, [rows.inverse, soft], n_jobs=self.n_jobs, size=rows.codes.take_size)
        return soft

    @property
    def membership_(self) -> NDArray[np.float64]:
        """Memberships of the objects in the clusters, (n_objects, k): computed at every access."""
        return self._of_objects(self._memberships)

    def _predict_codes(self, codes: LabelRows) -> NDArray[np.int32]:
        return np.append(self._cluster_of, np.int32(-1))[self._most_likely(codes)]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Memberships of new label rows in the clusters.

        Parameters
        ----------
        X : array-like, data frame or Ensemble of shape (n_new, n_partitions)
            Columns of a data frame or an Ensemble are found by their names if what was fitted had names too; further
            ones are ignored. A label not seen in ``fit`` counts as missing, with one warning.

        Returns
        -------
        ndarray of shape (n_new, k)
            Rows sum to 1; NaN where no partition votes. Shares of votes, no probabilities of being right.
        """
        codes = self._encode(X)
        return np.concatenate(codes.map(aggregate_with(codes, self._memberships).rows_of, n_jobs=self.n_jobs))


def check_at_most_largest(estimator: BaseConsensus, rows: Rows, because: str) -> int:
    """The number of clusters that was given, refused where no partition has as many."""
    k, most, name = int(estimator.n_clusters or 0), int(rows.n_clusters.max()), type(estimator).__name__
    if k > most:
        one = " (n_samples=1)" if len(rows) == 1 else ""
        raise ValueError(
            f"n_clusters of {name} must be ≤ the {most} clusters of the largest partition{one}. Got {k}. "
            f"Ask for fewer clusters or add partitions with more: {because}."
        )
    return k
