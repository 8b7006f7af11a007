"""A second sample of many objects: its partitions say what the draw of the first one decides.

Above 10,000 objects the default clusters some that are drawn, and every object gets what the nearest of these has. What
an object would get by another draw no partition of the first one knows. So the partitions are made again of another
sample. They change no cluster; `metrics.certainty` counts them beside the others.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.random import task_seeds
from ensemblage.choices._chooser import Chosen, learned_weights
from ensemblage.consensus._model import Assignment
from ensemblage.generation._clusterers import nearest_rows
from ensemblage.generation._dense_rows import dense_rows
from ensemblage.labels.blocks import LabelRows, MemoryRows
from ensemblage.labels.disk import side_by_side
from ensemblage.labels.ensemble import Ensemble
from ensemblage.metrics._certainty import Association, Certainty, certainty_of_new, certainty_of_rows

Matrix = NDArray[np.float64]


class SecondSample(NamedTuple):
    """The objects of another draw that are clustered, and the clusters as the partitions of both draws see them."""

    kept: Matrix
    """(m, n_features)"""
    codes: NDArray[Any]
    """(m, q) their codes in the partitions of the second sample."""
    association: Association
    """Of the clusters with p partitions of the first sample and these."""

    def beside(self, rows: LabelRows, nearest: NDArray[np.intp]) -> LabelRows:
        """(n, p + q) codes of objects in the partitions of both, from those of the first and the nearest kept ones."""
        return side_by_side(rows, MemoryRows(self.codes[nearest]))

    def certainty(
        self, rows: LabelRows, nearest: NDArray[np.intp], clusters: NDArray[np.int32], n_jobs: int | None
    ) -> Certainty:
        """Of objects in their clusters, (n,), from their codes in the first sample and the nearest kept ones."""
        return certainty_of_rows(self.beside(rows, nearest), clusters, self.association, n_jobs)

    def tell(self, consensus: Any, rows: LabelRows, nearest: NDArray[np.intp]) -> None:
        """Give a consensus of the first sample, (n,) clusters, the certainty of both."""
        consensus._take_certainty(self.certainty(rows, nearest, consensus.labels_, consensus.n_jobs))

    def assign(self, found: Assignment, rows: LabelRows, features: Matrix) -> Assignment:
        """The assignment of new objects with the certainty that both samples give it."""
        codes = self.beside(rows, nearest_rows(self.kept, features))[:]
        confidence, runner_up = certainty_of_new(codes, found.labels, self.association)
        return replace(found, confidence=confidence, runner_up=runner_up)

    def reorder(self, places: NDArray[np.int64]) -> SecondSample:
        """With ``places[c]`` as the number of cluster c."""
        return self._replace(association=self.association.reorder(np.argsort(places)))


def has_second_sample(consensus: Any, generator: Any) -> bool:
    """Whether objects were drawn, and clusters found by a fitted consensus."""
    return bool(generator._is_of_sample and consensus.n_clusters_ > 1)


def second_of_memory(consensus: Any, ensemble: Ensemble, again: Any, chosen: Chosen, features: Matrix) -> SecondSample:
    """Give the consensus, (n,) clusters, the certainty of both samples; ``again`` is a `second_generator`."""
    rows = dense_rows(features, again.sample_size, again.random_state, again.n_jobs)
    again._fit_kept(features[rows])
    nearest, k = nearest_rows(again._fit_X, features, again.n_jobs), consensus.n_clusters_
    second = second_of_counts(consensus, again, chosen, count_places(consensus.labels_, nearest, k, len(again._fit_X)))
    second.tell(consensus, ensemble.rows, nearest)
    return second


def second_seed(seed: int) -> int:
    """Of the second sample, where this one draws the first."""
    return int(task_seeds(seed, 1)[0])


def second_generator(generator: Any, n_jobs: int | None, progress: Any) -> Any:
    """What makes the same partitions of another sample, unfitted."""
    others = {"random_state": second_seed(generator.random_state), "n_jobs": n_jobs, "progress": progress}
    return type(generator)(**{**generator.get_params(deep=False), **others})


def count_places(
    clusters: NDArray[np.int32], nearest: NDArray[np.intp], n_clusters: int, n_kept: int
) -> NDArray[np.int64]:
    """(k, m) objects of each cluster to which each of the kept objects is nearest; both (n,)."""
    counts = np.bincount(clusters.astype(np.intp) * n_kept + nearest, minlength=n_clusters * n_kept)
    return counts.reshape(n_clusters, n_kept)


def second_of_counts(consensus: Any, again: Any, chosen: Chosen, table: NDArray[np.int64]) -> SecondSample:
    """The sample that a generator was fitted to, beside a consensus of the first; ``table`` as of `count_places`."""
    labels = Ensemble._made(again._labels)
    codes = labels.rows[:]
    clusters, kept = np.nonzero(table)
    weights, first = np.ones(labels.shape[1]), consensus._association
    if consensus.weights is not None:  # which it counts in a unit of its own
        weights = np.array(learned_weights(again, chosen)) * (first.weights.max() / max(consensus.weights))
    rows, counts = MemoryRows(codes[kept]), table[clusters, kept]
    association = Association.of(rows, counts, clusters, len(table), labels.offsets, weights)
    return SecondSample(again._fit_X, codes, first.beside(association))
