"""The default on features that are not in memory: draw objects, cluster them, give each object what its nearest has.

The steps compute what `ConsensusClustering.fit` computes of an array, by the same functions: distances depend on two
rows alone, sums go in fixed blocks, counts are whole numbers.
"""

from __future__ import annotations

import logging
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.atomic import new_folder
from ensemblage.base.random import sample_rows
from ensemblage.base.threads import SUM_ROWS, one_native_thread, row_blocks, thread_count
from ensemblage.choices._plan import Plan
from ensemblage.generation._candidates import PoolCache
from ensemblage.generation._clusterers import nearest_rows
from ensemblage.generation._dense_rows import MOST_OF_SAMPLE, MOST_WHOLE, dense_rows
from ensemblage.io._feature_blocks import FeatureBlocks
from ensemblage.io._feature_sources import FeatureSource, StoredFeatures
from ensemblage.labels.blocks import MemoryRows
from ensemblage.labels.ensemble import Ensemble
from ensemblage.metrics import verdicts
from ensemblage.pipeline._run import Data, GeneratedMembers, Places, SecondSample, count_places, second_seed
from ensemblage.profiles._profile import profile
from ensemblage.profiles._record import Profile, VariableRow, sentence_of

logger = logging.getLogger(__name__)

LABEL_COLUMNS = ("cluster", "confidence", "verdict", "runner_up", "runner_up_share")
"""What labels.csv and Parquet parts have of each object; before them the id, if there is one."""
PLACE = np.uint16
"""Holds the place of an object among those that are clustered."""
MOST_COMPARED, MOST_CELLS = 2**18, 2**22
"""Objects that are compared at most, and their values."""
MOMENTS = ("mean", "deviation", "least", "largest", "difference")
"""Of all objects, beside what is compared."""


class StoredData(Data):
    """Features that are not in memory: what a run asks of them, in few passes."""

    features: FeatureSource
    kept: list[NDArray[np.float64]]
    """(m, n_features) the objects of each of two samples that are clustered: since `sample`."""
    nearest: FeatureSource
    """(n, 2) which of those each object is nearest to: since `partitions`."""

    def sample(self, size: int | None, seed: int, n_jobs: int | None, made: PoolCache) -> NDArray[np.float64]:
        self.kept = []
        for of in (seed, second_seed(seed)):
            _, kept = dense_rows(self.features, cast(int, size), of, n_jobs)
            logger.info("%d of %d objects drawn, %d of them are clustered", size, len(self.features), len(kept))
            self.kept.append(kept)
        return self.kept[0]

    def partitions(self, generator: Any, noise: str) -> GeneratedMembers:
        """Of the sample alone; one pass finds the nearest of both samples."""
        generator._fit_kept(self.kept[0])
        n_threads = thread_count(generator.n_jobs) if isinstance(self.features, StoredFeatures) else 1  # of each worker
        self.nearest = self.features.kept(_places_of_nearest, PLACE, 2, self.kept, n_threads)
        names = [str(name) for name in generator.get_feature_names_out()]
        return GeneratedMembers(Ensemble._made(generator._labels, names=names), generator)

    def fit(self, consensus: Any, ensemble: Ensemble) -> Any:
        """Each clustered object counts as often as objects are nearest to it."""
        return consensus.fit(ensemble, sample_weight=self.nearest.reduce(counts_of, np.add, len(self.kept[0])))

    def second_sample(self, again: Any) -> NDArray[np.float64]:
        return self.kept[1]

    def places(self, consensus: Any, ensemble: Ensemble, again: Any) -> Places:
        """Of all objects, and of the clustered ones, which alone have labels here."""
        kept, other = self.kept
        counts = self.nearest.reduce(_count_clusters, np.add, consensus.labels_, consensus.n_clusters_, len(other))
        return Places(counts, consensus._encode(ensemble), nearest_rows(other, kept))


def check_learned(plan: Plan, n_clusters: int) -> None:
    """Refuse what is not the default."""
    if n_clusters > MOST_OF_SAMPLE:
        raise ValueError(
            f"n_clusters must be ≤ {MOST_OF_SAMPLE} for features that are not in memory: a sample of the objects "
            f"shows no more. Got {n_clusters}. Use write_partitions and Ensemble.open."
        )
    if not plan.is_learned:
        raise ValueError(
            "Features that are not in memory must be clustered by the default, and at most half of the objects may be "
            f"copies of others. Got {plan.partitions.value} and {plan.combiner.value}. Leave these parameters out, or "
            "use write_partitions and Ensemble.open."
        )


# -- of every object ---------------------------------------------------------------------------------------------------


class OfAll(NamedTuple):
    """What every object gets of those that are nearest among those that were clustered."""

    features: FeatureBlocks
    model: Any
    nearest: FeatureSource
    """(n, 1) the place of the nearest; (n, 2) of that and of the nearest of the second sample."""
    of_kept: OfKept
    """Of each that was clustered."""

    @classmethod
    def of(cls, features: FeatureBlocks, model: Any) -> OfAll:
        """One pass over the features, which know from then on what is nearest; none if they do."""
        kept = _check_model(features, model)
        known = features._nearest
        if known is None or len(known[0]) < len(kept) or not all(map(np.array_equal, known[0], kept)):
            scaled = model.preprocessor_._of_blocks(features)
            places = (_places_of_nearest, PLACE, len(kept), kept) if kept else (_own_places, PLACE, 1)
            features._nearest = known = kept, scaled.kept(*places)
        codes = None if model._second is None else model.consensus_._encode(model.ensemble_)[:]
        of_kept = OfKept(model.labels_, model.confidence_, model.runner_up_, codes, model._second)
        return cls(features, model, known[1], of_kept)

    def clusters(self) -> NDArray[np.int32]:
        """(n,) of every object."""
        labels, start = np.empty(len(self.features), dtype=np.int32), 0
        for part in self.nearest.each(_labels_of, self.of_kept.labels):
            labels[start : start + len(part)] = part
            start += len(part)
        return labels

    def write(self, folder: str | PathLike[str]) -> None:
        """Write parts and profile into a new folder."""
        with new_folder(folder) as new:
            self.write_into(new)

    def write_into(self, folder: Path) -> ClusterDescriptions:
        """Write parts and profile into a folder that is there; what describes the clusters."""
        import pyarrow.parquet as pq

        parts = folder / "clusters"
        parts.mkdir()
        ids = self.model.preprocessor_._ids_of(self.features)
        n_written = sum(self.nearest.each(_write_part, self.of_kept, str(parts.absolute()), ids))
        n_found = sum(pq.read_metadata(part).num_rows for part in parts.iterdir())
        if n_found != n_written:
            raise ValueError(
                f"The folder must be one that all workers write to. Got {n_found:,} of {n_written:,} rows there. Name "
                "a folder on a disk that they share."
            )
        described = self.describe()
        pq.write_table(described.table, folder / "profile.parquet")
        return described

    def describe(self) -> ClusterDescriptions:
        """The profile of the clusters, with a sentence for each."""
        k, n = self.model.n_clusters_, len(self.features)
        of_kept = self.nearest.reduce(counts_of, np.add, len(self.of_kept.labels))
        sizes = np.bincount(self.of_kept.labels, of_kept, k).astype(int).tolist()
        compared = self._profile_of_some()
        rows = [row for c in range(len(compared.clusters)) for row in compared._rows(c)]
        drivers_of = {cluster.cluster: cluster.drivers for cluster in compared.clusters}  # of those that were drawn
        drivers = [drivers_of.get(c, "") for c in range(k)]
        sentences = [sentence_of(c, size, size / n, drivers[c], k) for c, size in enumerate(sizes)]
        numbers = self.model.preprocessor_._numbers_of(self.features)
        moments = {} if numbers is None else moments_of(numbers, self.nearest, self.of_kept.labels, k)
        return ClusterDescriptions(_table_of(rows, sizes, moments), sizes, drivers, sentences)

    def _profile_of_some(self) -> Profile:
        """The profile of all objects, or of some of more that are drawn."""
        (n, m), preprocessor = self.features.shape, self.model.preprocessor_
        rows = sample_rows(n, max(SUM_ROWS, min(MOST_COMPARED, MOST_CELLS // m)), 0)
        labels, confidence, _ = self.of_kept.at(self.nearest[rows])
        return profile(
            labels,
            preprocessor._rows_of(self.features, rows),
            ids=list(map(str, rows.tolist())),
            features=preprocessor._of_blocks(self.features)[rows],
            clustered={use.column for use in preprocessor.columns_ if use.use.startswith("used")},
            confidence=confidence,
            max_depth=0,
        )


class OfKept(NamedTuple):
    """What is known of the objects that were clustered, (m,) each."""

    labels: NDArray[np.int32]
    confidence: NDArray[np.float64]
    runner_up: NDArray[np.int32]
    codes: NDArray[Any] | None
    """(m, p) in the partitions, where there is a second sample."""
    second: SecondSample | None

    def at(self, places: NDArray[Any]) -> tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.int32]]:
        """(n,) labels, confidence and runner-up of objects, from the (n, 1) or (n, 2) `OfAll.nearest`."""
        first = places[:, 0].astype(np.intp)
        labels = self.labels[first]
        if self.codes is None or self.second is None:
            return labels, self.confidence[first], self.runner_up[first]
        rows, others = MemoryRows(self.codes[first]), places[:, 1].astype(np.intp)
        found = self.second.confidence(rows, others, labels, n_jobs=1)
        return labels, found.confidence, found.runner_up


def _check_model(features: FeatureBlocks, model: Any) -> list[NDArray[np.float64]]:
    """The rows of each sample that a model clustered of these features, as it scales them; none where it clustered
    all."""
    are_all, n_features = len(features) <= MOST_WHOLE, getattr(model, "n_features_in_", None)
    kept = [] if are_all else [getattr(getattr(model, "generator_", None), "_fit_X", np.empty((0, 0)))]
    is_fitted = hasattr(model, "plan_") and model.plan_.n_objects == len(features)
    n_clustered = len(features) if are_all else len(kept[0])
    if not is_fitted or n_features != features.shape[1] or n_clustered != len(model.labels_):
        raise features._not_of(model)
    return kept if are_all or model._second is None else [*kept, model._second.kept]


class ClusterDescriptions(NamedTuple):
    """What each cluster is like."""

    table: Any
    """pyarrow.Table with a record for each cluster and variable."""
    sizes: list[int]
    """(k,) objects of each cluster."""
    drivers: list[str]
    """(k,) what describes each cluster, "" if nothing does ..."""
    sentences: list[str]
    """(k,) ... and as a sentence."""


# -- of a block, here or on a worker -----------------------------------------------------------------------------------


def counts_of(nearest: NDArray[Any], n_kept: int) -> NDArray[np.int64]:
    """(n_kept,) how many rows of a block are nearest to each of those that were clustered."""
    return np.bincount(nearest[:, 0].astype(np.intp), minlength=n_kept)


def _count_clusters(
    nearest: NDArray[Any], of_kept: NDArray[np.int32], n_clusters: int, n_others: int
) -> NDArray[np.int64]:
    """`count_places` of a block."""
    places = nearest.astype(np.intp)
    return count_places(of_kept[places[:, 0]], places[:, 1], n_clusters, n_others)


def _places_of_nearest(
    block: NDArray[Any], start: int, samples: list[NDArray[Any]], n_threads: int = 1
) -> NDArray[np.intp]:
    with one_native_thread():
        return np.column_stack([nearest_rows(kept, block, n_threads) for kept in samples])


def _own_places(block: NDArray[Any], start: int) -> NDArray[np.intp]:
    return np.arange(start, start + len(block))[:, None]


def _labels_of(nearest: NDArray[Any], start: int, of_kept: NDArray[np.int32]) -> NDArray[np.int32]:
    labels: NDArray[np.int32] = of_kept[nearest[:, 0].astype(np.intp)]
    return labels


def _write_part(nearest: NDArray[Any], start: int, of_kept: OfKept, folder: str, ids: Any) -> int:
    labels, confidence, runner_up = of_kept.at(nearest)
    path = Path(folder) / f"part-{start:012}.parquet"
    unfinished = path.with_suffix(".unfinished")
    write_part(unfinished, labels, confidence, runner_up, None if ids is None else ids.slice(start, len(labels)))
    unfinished.replace(path)
    return len(labels)


def write_part(
    path: Path,
    labels: NDArray[np.int32],
    confidence: NDArray[np.float64],
    runner_up: NDArray[np.int32],
    ids: Any = None,
) -> None:
    """A Parquet file with `LABEL_COLUMNS` of some objects, (n,) each; ``ids`` are a pyarrow array."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = labels, confidence, verdicts(confidence), runner_up, 1 - confidence
    named = {} if ids is None else {"id": ids}
    pq.write_table(pa.table({**named, **dict(zip(LABEL_COLUMNS, columns, strict=True))}), path)


# -- the table that describes the clusters ----------------------------------------------------------------------------


def _table_of(rows: list[VariableRow], sizes: list[int], moments: dict[tuple[int, str], list[float]]) -> Any:
    """A column for each field of the rows, and for the moments of all objects."""
    import pyarrow as pa

    none = [np.nan] * len(MOMENTS)
    of_all = [moments.get((row.cluster, row.variable), none) for row in rows]
    columns = {name: pa.array([getattr(row, name) for row in rows]) for name in VariableRow._fields}
    columns["cluster"] = columns["cluster"].cast(pa.int32())
    columns["category"] = columns["category"].cast(pa.string())
    columns["n_objects"] = pa.array([sizes[row.cluster] for row in rows], pa.int64())
    return pa.table(columns | {name: pa.array([values[j] for values in of_all]) for j, name in enumerate(MOMENTS)})


# -- moments of all objects --------------------------------------------------------------------------------------------


class Sums(NamedTuple):
    """Of the values of the objects of each cluster that are not missing."""

    n: NDArray[np.int64]
    """(k, m)"""
    sums: NDArray[np.float64]
    """(2, k, m) of the values less a centre, and of their squares."""
    least: NDArray[np.float64]
    largest: NDArray[np.float64]


def moments_of(
    numbers: FeatureSource, nearest: FeatureSource, of_kept: NDArray[np.int32], k: int
) -> dict[tuple[int, str], list[float]]:
    """`MOMENTS` of each cluster and column of numbers: sums of fixed blocks around a centre, added in order.

    nearest : (n, 1) or more, the place of the nearest clustered object of each; of_kept : (m,) their clusters
    """
    m = numbers.shape[1]
    centre = np.nan_to_num(_means(numbers[np.arange(min(len(numbers), SUM_ROWS))]))
    state = Sums(np.zeros((k, m), np.int64), np.zeros((2, k, m)), np.full((k, m), np.inf), np.full((k, m), -np.inf))
    n, (sums, squares), least, largest = numbers.fold(_add_block, state, of_kept, centre, beside=nearest)
    with np.errstate(invalid="ignore", divide="ignore"):
        means, total = sums / n, sums.sum(axis=0) / n.sum(axis=0)
        deviations = np.sqrt(np.maximum(squares / n - means**2, 0))
        spread = np.sqrt(np.maximum(squares.sum(axis=0) / n.sum(axis=0) - total**2, 0))
        differences = np.where(spread > 0, (means - total) / spread, 0.0)
    there = np.where(n > 0, 1.0, np.nan)
    each = np.stack([means + centre, deviations, least * there, largest * there, differences], axis=2)
    names = numbers.names or [f"x{j}" for j in range(m)]
    return {(c, name): each[c, j].tolist() for c in range(k) for j, name in enumerate(names)}


def _means(values: NDArray[Any]) -> NDArray[np.float64]:
    """(m,) means of the values that are not missing; NaN without values."""
    known = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        means: NDArray[np.float64] = np.where(known, values, 0).sum(axis=0, dtype=np.float64) / known.sum(axis=0)
    return means


def _add_block(
    state: Sums,
    block: NDArray[Any],
    nearest: NDArray[Any],
    of_kept: NDArray[np.int32],
    centre: NDArray[np.float64],
) -> Sums:
    """Add a block of rows to the sums; ``nearest`` are its places among the clustered rows."""
    n, sums, least, largest = state.n.copy(), state.sums.copy(), state.least.copy(), state.largest.copy()
    for rows in row_blocks(len(block), SUM_ROWS):
        labels = of_kept[nearest[rows][:, 0].astype(np.intp)]
        values = block[rows].astype(np.float64)
        for cluster in np.unique(labels[labels >= 0]).tolist():
            own = values[labels == cluster]
            known = ~np.isnan(own)
            n[cluster] += known.sum(axis=0)
            least[cluster] = np.fmin(least[cluster], np.fmin.reduce(own))
            largest[cluster] = np.fmax(largest[cluster], np.fmax.reduce(own))
            own = np.where(known, own - centre, 0)
            sums[0, cluster] += own.sum(axis=0)
            sums[1, cluster] += (own**2).sum(axis=0)
    return Sums(n, sums, least, largest)
