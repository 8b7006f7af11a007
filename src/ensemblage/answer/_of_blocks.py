"""The default on features that are not in memory: draw objects, cluster them, give each object what its nearest has.

The steps compute what `ConsensusClustering.fit` computes of an array, by the same functions: distances depend on two
rows alone, sums go in fixed blocks, counts are whole numbers.
"""

from __future__ import annotations

import logging
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage.answer._chooser import choose_candidate
from ensemblage.answer._execution import (
    consensus_of,
    generator_of,
    learned_weights,
    number_of_clusters,
    set_weights,
    weighed,
)
from ensemblage.answer._plan import Plan
from ensemblage.answer._second_sample import (
    SecondSample,
    count_places,
    second_generator,
    second_of_counts,
    second_seed,
)
from ensemblage.base.atomic import new_folder
from ensemblage.base.validation import check_fitted
from ensemblage.generation._candidates import Made
from ensemblage.generation._clusterers import nearest_rows
from ensemblage.generation._dense_rows import MOST_OF_SAMPLE, MOST_WHOLE, are_dense, drawn_rows
from ensemblage.io._feature_blocks import FeatureBlocks, StoredFeatures, describe_blocks
from ensemblage.io._stored_table import TableFeatures
from ensemblage.labels.blocks import MemoryRows
from ensemblage.labels.ensemble import Ensemble
from ensemblage.labels.threads import one_native_thread, thread_count
from ensemblage.metrics import verdicts

logger = logging.getLogger(__name__)

COLUMNS = ("cluster", "confidence", "verdict", "runner_up", "runner_up_share")
"""Of a part, as of labels.csv; before them the id, if there is one."""
PLACES = np.uint16
"""Holds the place of an object among those that are clustered."""


class OfBlocks(NamedTuple):
    """What a fit finds."""

    chosen: Any
    generator: Any
    """Fitted to the drawn objects that are clustered."""
    ensemble: Ensemble
    """Their labels."""
    consensus: Any
    """Fitted to these, each as often as objects are nearest to it."""
    second: SecondSample | None
    """Another sample, which the certainty of the consensus knows; None where there is one cluster."""
    nearest: FeatureBlocks
    """(n, 2) which of those that are clustered, of either sample, each object is nearest to."""

    @property
    def kept(self) -> list[NDArray[np.float64]]:
        """(m, n_features) of each sample."""
        return [self.generator._fit_X, *([] if self.second is None else [self.second.kept])]


def cluster_blocks(plan: Plan, features: FeatureBlocks, seed: int, n_jobs: int | None, progress: Any) -> OfBlocks:
    """The steps of the plan on features as they are clustered."""
    size = plan.generator.sample_size
    kept, other = (_dense_rows(features, size, of, n_jobs) for of in (seed, second_seed(seed)))
    made, how = Made(), {"units": plan.generator.units, "n_jobs": n_jobs, "progress": progress}
    chosen = choose_candidate(kept, plan.k, ks=plan.k_range, made=made, **how)
    k = number_of_clusters(plan, None, chosen)
    generator = generator_of(plan, k, seed, n_jobs, progress, chosen)
    generator._fit_kept(kept)
    chosen = weighed(chosen, made, generator, n_jobs)
    n_threads = thread_count(n_jobs) if isinstance(features, StoredFeatures) else 1  # of each worker
    nearest = features._kept(_places_of_nearest, PLACES, 2, [kept, other], n_threads)
    counts = nearest._reduce(counts_of, np.add, len(kept))
    ensemble = Ensemble._made(generator._labels, names=[str(name) for name in generator.get_feature_names_out()])
    consensus = set_weights(consensus_of(plan, k, seed, n_jobs), learned_weights(generator, chosen))
    consensus.fit(ensemble, sample_weight=counts)
    second = None
    if consensus.n_clusters_ > 1:
        again = second_generator(generator)
        again._fit_kept(other)
        table = nearest._reduce(_count_clusters, np.add, consensus.labels_, consensus.n_clusters_, len(other))
        second = second_of_counts(consensus, again, chosen, table)
        second.tell(consensus, consensus._encode(ensemble), nearest_rows(other, kept))
    return OfBlocks(chosen, generator, ensemble, consensus, second, nearest)


def _dense_rows(features: FeatureBlocks, size: int, seed: int, n_jobs: int | None) -> NDArray[np.float64]:
    """The drawn objects in dense places: `dense_rows`."""
    rows, others = drawn_rows(len(features), features.shape[1], size, seed)
    looked_at = features[others]
    drawn = looked_at[np.searchsorted(others, rows)]
    kept: NDArray[np.float64] = drawn[are_dense(drawn, looked_at, seed, n_jobs)]
    logger.info("%d of %d objects drawn, %d of them are clustered", len(drawn), len(features), len(kept))
    return kept


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
            f"copies of others. Got {plan.members.value} and {plan.combiner.value}. Leave these parameters out, or use "
            "write_partitions and Ensemble.open."
        )


# -- of every object ---------------------------------------------------------------------------------------------------


class Found(NamedTuple):
    """What every object gets of those that are nearest among those that were clustered."""

    nearest: FeatureBlocks
    """(n, 1) the place of the nearest; (n, 2) of that and of the nearest of the second sample."""
    of_kept: OfKept
    """Of each that was clustered."""

    @classmethod
    def of(cls, features: FeatureBlocks, model: Any) -> Found:
        kept = _check_model(features, model)
        known = features._nearest
        if known is None or len(known[0]) < len(kept) or not all(map(np.array_equal, known[0], kept)):
            scaled = model.preprocessor_._of_blocks(features)
            places = (_places_of_nearest, PLACES, len(kept), kept) if kept else (_own_places, PLACES, 1)
            features._nearest = known = kept, scaled._kept(*places)
        codes = None if model._second is None else model.consensus_._encode(model.ensemble_)[:]
        of_kept = OfKept(model.labels_, model.confidence_, model.runner_up_, codes, model._second)
        return cls(known[1], of_kept)


class OfKept(NamedTuple):
    """What is known of the objects that were clustered, (m,) each."""

    labels: NDArray[np.int32]
    confidence: NDArray[np.float64]
    runner_up: NDArray[np.int32]
    codes: NDArray[Any] | None
    """(m, p) in the partitions, where there is a second sample."""
    second: SecondSample | None

    def at(self, places: NDArray[Any]) -> tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.int32]]:
        """(n,) labels, confidence and runner-up of objects, from the (n, 1) or (n, 2) `Found.nearest`."""
        first = places[:, 0].astype(np.intp)
        labels = self.labels[first]
        if self.codes is None or self.second is None:
            return labels, self.confidence[first], self.runner_up[first]
        rows, others = MemoryRows(self.codes[first]), places[:, 1].astype(np.intp)
        found = self.second.certainty(rows, others, labels, n_jobs=1)
        return labels, found.confidence, found.runner_up


def _check_model(features: FeatureBlocks, model: Any) -> list[NDArray[np.float64]]:
    """The rows of each sample that a model clustered of these features, as it scales them; none where it clustered
    all."""
    check_fitted(model)
    are_all, n_features = len(features) <= MOST_WHOLE, getattr(model, "n_features_in_", None)
    kept = [] if are_all else [getattr(getattr(model, "generator_", None), "_fit_X", np.empty((0, 0)))]
    is_fitted = hasattr(model, "plan_") and model.plan_.n_objects == len(features)
    n_clustered = len(features) if are_all else len(kept[0])
    if not is_fitted or n_features != features.shape[1] or n_clustered != len(model.labels_):
        raise ValueError(
            f"The model must be a ConsensusClustering that was fitted to these {len(features):,} objects. Got a "
            f"{type(model).__name__} of others. Call model.fit with them first."
        )
    return kept if are_all or model._second is None else [*kept, model._second.kept]


def clusters_of_blocks(features: FeatureBlocks, model: Any) -> NDArray[np.int32]:
    """Do what `FeatureBlocks.clusters` does."""
    found = Found.of(features, model)
    labels, start = np.empty(len(features), dtype=np.int32), 0
    for part in found.nearest._each(_labels_of, found.of_kept.labels):
        labels[start : start + len(part)] = part
        start += len(part)
    return labels


def write_blocks(features: FeatureBlocks, model: Any, folder: str | PathLike[str]) -> None:
    """Do what `FeatureBlocks.write_clusters` does."""
    Found.of(features, model)
    with new_folder(folder) as new:
        write_into(features, model, new)


def write_into(features: FeatureBlocks, model: Any, folder: Path) -> Any:
    """Write parts and profile into a folder that is there; what describes the clusters."""
    import pyarrow.parquet as pq

    found, parts = Found.of(features, model), folder / "clusters"
    parts.mkdir()
    ids = model.preprocessor_._id_column(features) if isinstance(features, TableFeatures) else None
    names = None if ids is None else ids.text
    n_written = sum(found.nearest._each(_write_part, found.of_kept, str(parts.absolute()), names))
    n_found = sum(pq.read_metadata(part).num_rows for part in parts.iterdir())
    if n_found != n_written:
        raise ValueError(
            f"The folder must be one that all workers write to. Got {n_found:,} of {n_written:,} rows there. Name a "
            "folder on a disk that they share."
        )
    described = describe_blocks(features, model)
    pq.write_table(described.table, folder / "profile.parquet")
    return described


# -- of a block, here or on a worker -----------------------------------------------------------------------------------


def counts_of(nearest: NDArray[Any], n_kept: int) -> NDArray[np.int64]:
    """(n_kept,) how many rows of a block are nearest to each of those that were clustered."""
    return np.bincount(nearest[:, 0].astype(np.intp), minlength=n_kept)


def _count_clusters(
    nearest: NDArray[Any], of_kept: NDArray[np.int32], n_clusters: int, n_others: int
) -> NDArray[np.int64]:
    """`count_clusters` of a block."""
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
    import pyarrow as pa
    import pyarrow.parquet as pq

    labels, confidence, runner_up = of_kept.at(nearest)
    columns = [labels, confidence, verdicts(confidence), runner_up, 1 - confidence]
    named = {} if ids is None else {"id": ids.slice(start, len(labels))}
    path = Path(folder) / f"part-{start:012}.parquet"
    unfinished = path.with_suffix(".unfinished")
    pq.write_table(pa.table({**named, **dict(zip(COLUMNS, columns, strict=True))}), unfinished)
    unfinished.replace(path)
    return len(labels)
