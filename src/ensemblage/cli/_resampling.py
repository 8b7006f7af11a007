"""Repeat the analysis on resamples of the objects: which clusters are reproduced."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from ensemblage import Ensemble
from ensemblage.base.sklearn import BaseEstimator
from ensemblage.choices._chooser import Chosen, learned_weights
from ensemblage.choices._plan import Plan
from ensemblage.cli._generation import DIVERSE, Generation
from ensemblage.cli._progress import progress_bar, tell
from ensemblage.cli._seconds import Seconds
from ensemblage.generation import ScaledPartitions
from ensemblage.generation._dense_rows import size_of_sample
from ensemblage.io._features import Features
from ensemblage.pipeline._default_plan import MOST_RESAMPLED, can_be_repeated
from ensemblage.pipeline._run import set_weights
from ensemblage.stability import ClusterStability, cluster_stability

MOST_PARTITIONS = 20
"""Of each resample."""


class GeneratedConsensus(BaseEstimator):
    """A generator and a consensus as one clusterer of features; what was chosen weighs the partitions again."""

    def __init__(self, generator: Any, consensus: Any, chosen: Chosen | None = None) -> None:
        self.generator = generator
        self.consensus = consensus
        self.chosen = chosen

    def fit_predict(self, X: Any, y: Any = None) -> NDArray[np.int32]:
        generator, consensus = clone(self.generator), clone(self.consensus)
        labels = generator.fit_transform(X)
        if self.chosen is not None:
            set_weights(consensus, learned_weights(generator, self.chosen))
        return np.asarray(consensus.fit(Ensemble._made(labels)).labels_)


def check_resampling(generation: Generation, features: Features, plan: Plan, asked: int | None) -> None:
    """Refuse resamples that were asked for where nothing can be made again."""
    if asked and not can_be_repeated(features.X, features.members, plan.generator):
        raise ValueError(
            "--stability must go with features and the generators diverse, random-k, subspace or projection. "
            f"Got {generation.generator}{' and categories as members' * bool(features.members)}. "
            "Leave it out."
        )


def learned_generator(chosen: Chosen, seed: int, sample_size: int | None = None) -> ScaledPartitions:
    """Of the partitions that have weights, in the same scales and by the same algorithms."""
    pairs = dict.fromkeys(f"{view} {family}" for view, family, _ in chosen.weights)
    numbers = sorted({k for _, _, k in chosen.weights})
    how: dict[str, Any] = {"sample_size": sample_size, "n_jobs": 1, "random_state": seed}
    return ScaledPartitions(numbers, algorithms=list(pairs), **how)


@dataclass(frozen=True)
class ResamplingPlan:
    """How often the analysis is made again."""

    generation: Generation
    consensus: Any
    features: Features
    n_resamples: int
    is_asked: bool
    """Whether their number was asked for."""
    seconds: Seconds
    chosen: Chosen | None = None
    """What gave the partitions learned weights: they keep them."""

    def stability(self, labels: NDArray[np.int64]) -> ClusterStability | None:
        """Of the clusters; None if nothing is made again."""
        n = self.n_resamples
        if n == 0:
            if not self.is_asked and len(self.features.X) > MOST_RESAMPLED:
                tell(
                    f"clusters of more than {MOST_RESAMPLED:,} objects are not looked for again unasked: --stability 20"
                )
            return None
        given = self.generation
        settings: dict[str, Any] = {"n_resamples": n, "n_jobs": given.n_jobs, "random_state": given.seed}
        with self.seconds.spent_on("stability"), progress_bar("resamples", n) as callback:
            try:
                return cluster_stability(self.again(), self.features.X, labels, progress=callback, **settings)
            except ValueError as error:  # too few different rows, say: the analysis itself is done
                if self.is_asked:
                    raise
                tell(f"clusters were not looked for again: {error}")
                return None

    def again(self) -> GeneratedConsensus:
        """What makes the analysis again, with the same algorithms, weights and number of clusters."""
        given = self.generation
        generator: Any
        if self.chosen is not None:
            generator = learned_generator(self.chosen, given.seed, size_of_sample(len(self.features.X)))
        elif given.generator == DIVERSE:
            generator = given.diverse(n_jobs=1)
        else:
            partitions = min(given.partitions, MOST_PARTITIONS)
            generator = given.independent().set_params(n_partitions=partitions, n_jobs=1)
        known = self.consensus.get_params()
        consensus = self.consensus.set_params(**({"n_jobs": 1} if "n_jobs" in known else {}))
        return GeneratedConsensus(generator, consensus, self.chosen)
