"""Voting-based consensus (Ayad & Kamel 2010, Sec. 3): aggregate the relabelled partitions, then extract clusters."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.validation import Constraints, Flag, Words
from ensemblage.consensus._incremental import IncrementalConsensus
from ensemblage.consensus._lifetime import lifetimes, longest_lifetime
from ensemblage.consensus.evidence import Dendrogram, Evidence, Lifetimes
from ensemblage.consensus.hierarchies._linkage import cut, merges_of_scipy
from ensemblage.consensus.voting._aggregation import (
    AggregatedPartition,
    LabelSums,
    PartitionOrder,
    VotingLosses,
    entropy,
    order_by_entropy,
)
from ensemblage.consensus.voting._js_alink import LINKAGES, sum_of_entropies
from ensemblage.consensus.voting._soft import SoftConsensus, check_at_most_largest
from ensemblage.labels.ensemble import Ensemble
from ensemblage.labels.rows import Rows


class VotingConsensus(SoftConsensus, IncrementalConsensus):
    """Order the partitions, aggregate them as the method says, merge clusters by JS-ALink, take the likeliest."""

    _parameter_constraints: ClassVar[Constraints] = {
        "linkage": [Words(LINKAGES)],
        "include_singletons": [Flag()],
    }

    linkage: str
    include_singletons: bool
    order_: NDArray[np.intp]
    losses_: VotingLosses
    linkage_matrix_: NDArray[np.float64]
    clusters_of_reference_: NDArray[np.int32]
    lifetimes_: dict[int, float]
    entropy_: float
    mutual_information_: float

    def _fit(self, rows: Rows) -> NDArray[Any]:
        k = self._check_wanted(rows)
        order = order_by_entropy(rows, self.n_jobs)
        self._aggregate, sums = self._find_aggregate(rows, order, k)
        self._extract(rows, sums)
        return self._assign(rows, k or longest_lifetime(self.lifetimes_, len(self.linkage_matrix_) + 1))

    def _find_aggregate(
        self, rows: Rows, order: PartitionOrder, k: int | None
    ) -> tuple[AggregatedPartition, LabelSums]:
        """Ū and its sums over labels; keeps ``order_`` and ``losses_``."""
        raise NotImplementedError

    def _check_wanted(self, rows: Rows) -> int | None:
        name = type(self).__name__
        if len(rows.weights) < 2:
            one = " (n_features=1)" if self.n_features_in_ == 1 else " with a weight above 0"
            raise ValueError(
                f"{name} must have at least 2 partitions that vote. Got 1{one}. Add partitions, or use that "
                f"partition unchanged."
            )
        if self.n_clusters is None:
            return None
        return check_at_most_largest(self, rows, "voting only merges them")

    def _keep_order(self, aggregate: AggregatedPartition, losses: VotingLosses) -> None:
        """Keep order and losses, by the numbers that the partitions have in the matrix that was given."""
        self.order_ = self._voting[aggregate.order]
        self.losses_ = VotingLosses(*(self._values_of_partitions(values, np.nan) for values in losses))

    def _extract(self, rows: Rows, sums: LabelSums) -> None:
        """JS-ALink over the columns of the aggregated partition (Sec. 3.2)."""
        entropies = sum_of_entropies(rows, self._aggregate, self.n_jobs)
        self.entropy_ = entropy(sums.masses)
        self.mutual_information_ = self.entropy_ - float(np.trace(entropies) / sums.masses.sum())
        self.linkage_matrix_ = LINKAGES[self.linkage](rows, self._aggregate, sums.masses, entropies, self.n_jobs)
        self.lifetimes_ = lifetimes(self.linkage_matrix_[:, 2], include_singletons=self.include_singletons)

    def _assign(self, rows: Rows, k: int) -> NDArray[np.int32]:
        """Cut the hierarchy; the cluster of each row is its largest membership."""
        groups = cut(merges_of_scipy(self.linkage_matrix_), k)
        merged = self._aggregate.merge(groups)
        clusters = self._place(rows, merged, merged)
        self.clusters_of_reference_ = self._cluster_of[groups]
        return clusters

    def _renumber(self, places: NDArray[np.int64]) -> None:
        super()._renumber(places)
        self.clusters_of_reference_ = self._with_empty(places)[self.clusters_of_reference_]

    def _evidence(self, ensemble: Ensemble, objects: NDArray[np.intp]) -> tuple[Evidence, ...]:
        found: list[Evidence] = []
        if self.lifetimes_:
            found.append(Lifetimes(self.lifetimes_, self.n_clusters))
        if len(self.linkage_matrix_):
            clusters, distance = self.clusters_of_reference_.astype(np.int64), "Jensen–Shannon divergence"
            found.append(Dendrogram(self.linkage_matrix_, np.empty(0), clusters, "cluster", self.linkage, distance))
        return (*found, *super()._evidence(ensemble, objects))

    @property
    def aggregate_(self) -> NDArray[np.float64]:
        """The aggregated partition Ū, (n_objects, k0): computed at every access."""
        return self._of_objects(self._aggregate)
