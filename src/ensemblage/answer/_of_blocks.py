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
from sklearn.utils.validation import check_is_fitted

from ensemblage.answer._chooser import choose_candidate
from ensemblage.answer._execution import consensus_of, generator_of, learned_weights, number_of_clusters, set_weights
from ensemblage.answer._plan import Plan
from ensemblage.base.atomic import new_folder
from ensemblage.base.random import sample_rows
from ensemblage.ensemble._ensemble import Ensemble
from ensemblage.generation._clusterers import nearest_rows
from ensemblage.generation._dense_rows import MOST_OF_SAMPLE, MOST_WHOLE, are_dense, near_distances, nearest_of_both
from ensemblage.io._feature_blocks import FeatureBlocks
from ensemblage.metrics import verdicts
from ensemblage.rows.blocks import SUM_ROWS, row_blocks
from ensemblage.rows.threads import one_native_thread

logger = logging.getLogger(__name__)

COLUMNS = ("cluster", "confidence", "verdict", "runner_up", "runner_up_share")
"""Of a part, as of labels.csv."""


class OfBlocks(NamedTuple):
    """What a fit finds."""

    chosen: Any
    generator: Any
    """Fitted to the drawn objects that are clustered."""
    ensemble: Ensemble
    """Their labels."""
    consensus: Any
    """Fitted to these, each as often as objects are nearest to it."""


def cluster_blocks(plan: Plan, features: FeatureBlocks, seed: int, n_jobs: int | None, progress: Any) -> OfBlocks:
    """The steps of the plan on features as they are clustered."""
    size = plan.generator.sample_size
    drawn = features[sample_rows(len(features), size, seed)]
    logger.info("%d of %d objects drawn", len(drawn), len(features))
    far = features._reduce(_near_distances, nearest_of_both, drawn)[:, -1]
    kept = drawn[are_dense(drawn, far, seed)]
    logger.info("%d of them are clustered", len(kept))
    how = {"units": plan.generator.units, "seed": seed, "n_jobs": n_jobs, "progress": progress}
    chosen = choose_candidate(kept, plan.k, ks=plan.k_range, **how)
    k = number_of_clusters(plan, None, chosen)
    generator = generator_of(plan, k, seed, n_jobs, progress, chosen)
    generator._fit_kept(kept)
    counts = features._reduce(_count_nearest, np.add, kept)
    ensemble = Ensemble(generator._labels, names=[str(name) for name in generator.get_feature_names_out()])
    consensus = set_weights(consensus_of(plan, k, seed, n_jobs), learned_weights(generator, chosen))
    return OfBlocks(chosen, generator, ensemble, consensus.fit(ensemble, sample_weight=counts))


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
    """What an object gets of the one that is nearest among those that were clustered."""

    kept: NDArray[np.float64]
    """(m, n_features) those, as they are clustered."""
    labels: NDArray[np.int32]
    confidence: NDArray[np.float64]
    runner_up: NDArray[np.int32]
    """(m,) each."""
    are_all: bool
    """Whether these are all objects, so few that none were drawn."""

    @classmethod
    def of(cls, features: FeatureBlocks, model: Any) -> Found:
        check_is_fitted(model)
        are_all, n_features = len(features) <= MOST_WHOLE, getattr(model, "n_features_in_", None)
        generator, kept = getattr(model, "generator_", None), np.empty((len(features), 0))
        if not are_all:
            kept = getattr(generator, "_fit_X", kept)
        is_fitted = hasattr(model, "plan_") and model.plan_.n_objects == len(features)
        if not is_fitted or n_features != features.shape[1] or len(kept) != len(model.labels_):
            raise ValueError(
                f"The model must be a ConsensusClustering that was fitted to these {len(features):,} objects. Got a "
                f"{type(model).__name__} of others. Call model.fit with them first."
            )
        return cls(kept, model.labels_, model.confidence_, model.runner_up_, are_all)

    def nearest(self, block: NDArray[Any], start: int) -> NDArray[np.intp]:
        """(n,) which of these each row of a block is nearest to."""
        return np.arange(start, start + len(block)) if self.are_all else _nearest(block, self.kept)


def clusters_of_blocks(features: FeatureBlocks, model: Any) -> NDArray[np.int32]:
    """Do what `FeatureBlocks.clusters` does."""
    found = Found.of(features, model)
    scaled = model.preprocessor_._of_blocks(features)
    labels, start = np.empty(len(features), dtype=np.int32), 0
    for part in scaled._each(_labels_of, found):
        labels[start : start + len(part)] = part
        start += len(part)
    return labels


def write_blocks(features: FeatureBlocks, model: Any, folder: str | PathLike[str]) -> None:
    """Do what `FeatureBlocks.write_clusters` does."""
    Found.of(features, model)
    with new_folder(folder) as new:
        write_into(features, model, new)


def write_into(features: FeatureBlocks, model: Any, folder: Path) -> None:
    """Write parts and profile into a folder that is there."""
    import pyarrow.parquet as pq

    found, parts = Found.of(features, model), folder / "clusters"
    parts.mkdir()
    scaled = model.preprocessor_._of_blocks(features)
    n_written = sum(scaled._each(_write_part, found, str(parts.absolute())))
    n_found = sum(pq.read_metadata(part).num_rows for part in parts.iterdir())
    if n_found != n_written:
        raise ValueError(
            f"The folder must be one that all workers write to. Got {n_found:,} of {n_written:,} rows there. Name a "
            "folder on a disk that they share."
        )
    pq.write_table(profile_of_blocks(features, model), folder / "profile.parquet")


def profile_of_blocks(features: FeatureBlocks, model: Any) -> Any:
    """Do what `FeatureBlocks.profile` does: sums around the means of all, of fixed blocks, added in order."""
    import pyarrow as pa

    found, m, k = Found.of(features, model), features.shape[1], model.n_clusters_
    centre = features[np.arange(min(len(features), SUM_ROWS))].mean(axis=0, dtype=np.float64)
    state = Sums(0, np.zeros(k, np.int64), np.zeros((2, k, m)), np.full((k, m), np.inf), np.full((k, m), -np.inf))
    _, n, (sums, squares), least, largest = features._fold(_add_block, state, found, centre, model.preprocessor_)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = sums / n[:, None]
        deviations = np.sqrt(np.maximum(squares / n[:, None] - means**2, 0))
        total = sums.sum(axis=0) / n.sum()
        spread = np.sqrt(np.maximum(squares.sum(axis=0) / n.sum() - total**2, 0))
        differences = np.where(spread > 0, (means - total) / spread, 0.0)
    names = features.names or [f"x{j}" for j in range(m)]
    return pa.table(
        {
            "cluster": np.repeat(np.arange(k, dtype=np.int32), m),
            "feature": names * k,
            "n_objects": np.repeat(n, m),
            "mean": (means + centre).ravel(),
            "deviation": deviations.ravel(),
            "least": least.ravel(),
            "largest": largest.ravel(),
            "difference": differences.ravel(),
        }
    )


class Sums(NamedTuple):
    """Of the objects of each cluster."""

    n_seen: int
    n: NDArray[np.int64]
    sums: NDArray[np.float64]
    """(2, k, m) of the values less a centre, and of their squares."""
    least: NDArray[np.float64]
    largest: NDArray[np.float64]


# -- of a block, here or on a worker -----------------------------------------------------------------------------------


def _near_distances(block: NDArray[Any], drawn: NDArray[Any]) -> NDArray[np.float64]:
    with one_native_thread():
        return near_distances(block, drawn)


def _count_nearest(block: NDArray[Any], kept: NDArray[Any]) -> NDArray[np.int64]:
    return np.bincount(_nearest(block, kept), minlength=len(kept))


def _nearest(block: NDArray[Any], kept: NDArray[Any]) -> NDArray[np.intp]:
    with one_native_thread():
        return nearest_rows(kept, block)


def _labels_of(block: NDArray[Any], start: int, found: Found) -> NDArray[np.int32]:
    labels: NDArray[np.int32] = found.labels[found.nearest(block, start)]
    return labels


def _write_part(block: NDArray[Any], start: int, found: Found, folder: str) -> int:
    import pyarrow as pa
    import pyarrow.parquet as pq

    nearest = found.nearest(block, start)
    confidence = found.confidence[nearest]
    columns = [found.labels[nearest], confidence, verdicts(confidence), found.runner_up[nearest], 1 - confidence]
    path = Path(folder) / f"part-{start:012}.parquet"
    unfinished = path.with_suffix(".unfinished")
    pq.write_table(pa.table(dict(zip(COLUMNS, columns, strict=True))), unfinished)
    unfinished.replace(path)
    return len(block)


def _add_block(state: Sums, block: NDArray[Any], found: Found, centre: NDArray[np.float64], preprocessor: Any) -> Sums:
    n_seen, n, sums = state.n_seen, state.n.copy(), state.sums.copy()
    least, largest = state.least.copy(), state.largest.copy()
    for rows in row_blocks(len(block), SUM_ROWS):
        labels = found.labels[found.nearest(preprocessor._features_of(block[rows]), n_seen + rows.start)]
        values = block[rows].astype(np.float64)
        for cluster in np.unique(labels[labels >= 0]).tolist():
            own = values[labels == cluster]
            n[cluster] += len(own)
            least[cluster] = np.minimum(least[cluster], own.min(axis=0))
            largest[cluster] = np.maximum(largest[cluster], own.max(axis=0))
            own -= centre
            sums[0, cluster] += own.sum(axis=0)
            sums[1, cluster] += (own**2).sum(axis=0)
    return Sums(n_seen + len(block), n, sums, least, largest)
