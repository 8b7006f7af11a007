"""The analysis made again: on resamples of the objects, and without each column in turn."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from ensemblage.base.options import Message, Option
from ensemblage.base.sklearn import BaseEstimator
from ensemblage.choices._chooser import Chosen
from ensemblage.choices._plan import Plan
from ensemblage.generation import RandomKPartitions, ScaledPartitions
from ensemblage.generation._candidates import Made
from ensemblage.generation._dense_rows import size_of_sample
from ensemblage.io._features import Features
from ensemblage.labels.ensemble import Ensemble
from ensemblage.metrics._agreement import agreement_with
from ensemblage.pipeline._default_plan import MOST_RESAMPLED
from ensemblage.pipeline._run import Data, Found, Number, Settings, Watch, cluster, consensus_of, generator_of
from ensemblage.profiles import Profile
from ensemblage.profiles._effects import separations
from ensemblage.stability import ClusterStability, cluster_stability

MOST_PARTITIONS = 20
"""Of k-means, made again."""
MOST_COLUMNS = 20
"""That are left out in turn."""
STABILITY, COLUMNS = "stability", "columns"
"""The steps as a `Watch` is told of them."""


class Repeat(BaseEstimator):
    """A plan whose number of clusters and weights are known, as one clusterer of features."""

    def __init__(self, generator: Any, consensus: Any, plan: Plan, number: Number) -> None:
        self.generator = generator
        self.consensus = consensus
        self.plan = plan
        self.number = number

    def fit_predict(self, X: Any, y: Any = None) -> NDArray[np.int32]:
        plan = replace(self.plan, generator=self.generator, consensus=self.consensus)
        return np.asarray(cluster(plan, Data(X), Settings(seed=0, n_jobs=1), number=self.number).consensus.labels_)


def repeat_of(found: Found, plan: Plan, settings: Settings) -> Repeat:
    """What makes an analysis again on a thread, with the same algorithms, weights and number of clusters."""
    number, settings = found.number._replace(choice=None, made=Made()), settings._replace(n_jobs=1)
    generator = generator_of(plan, number._replace(chosen=None), settings)
    if number.chosen is not None:
        generator = learned_generator(number.chosen, settings.seed, size_of_sample(plan.n_objects))
    elif isinstance(generator, RandomKPartitions):
        generator.set_params(n_partitions=min(generator.n_partitions, MOST_PARTITIONS))
    return Repeat(generator, consensus_of(plan, number.k, settings), plan, number)


def learned_generator(chosen: Chosen, seed: int, sample_size: int | None = None) -> ScaledPartitions:
    """Of the partitions that have weights, in the same scales and by the same algorithms."""
    pairs = dict.fromkeys(f"{view} {family}" for view, family, _ in chosen.weights)
    numbers = sorted({k for _, _, k in chosen.weights})
    how: dict[str, Any] = {"sample_size": sample_size, "n_jobs": 1, "random_state": seed}
    return ScaledPartitions(numbers, algorithms=list(pairs), **how)


def stability_of(
    repeat: Repeat, X: NDArray[np.float64], labels: NDArray[np.int64], settings: Settings, is_asked: bool, watch: Watch
) -> ClusterStability | None:
    """How often the clusters are reproduced in as many resamples as the plan says; None if nothing is made again."""
    n = repeat.plan.stability.value
    if n == 0:
        if not is_asked and len(X) > MOST_RESAMPLED:
            rule = f"clusters of more than {MOST_RESAMPLED:,} objects are not looked for again unasked: "
            watch.tell(Message(rule, Option("stability", 20)))
        return None
    how: dict[str, Any] = {"n_resamples": n, "n_jobs": settings.n_jobs, "random_state": settings.seed}
    with watch.step(STABILITY, n) as progress:
        try:
            return cluster_stability(repeat, X, labels, progress=progress, **how)
        except ValueError as error:  # too few different rows, say: the analysis itself is done
            if is_asked:
                raise
            watch.tell(f"clusters were not looked for again: {error}")
            return None


def indices_without_columns(
    repeat: Repeat, features: Features, profile: Profile | None, labels: NDArray[np.integer[Any]], watch: Watch
) -> dict[str, float]:
    """By column the adjusted Rand index of the labels with those without it, NaN where none could be made.

    Of more than `MOST_COLUMNS` columns those are left out that separate the clusters most.
    """
    places, found = places_of_columns(features), dict[str, float]()
    order = list(places)
    if profile is not None:
        compared = profile._compared
        shares = dict(zip((v.name for v in compared.variables), np.nan_to_num(separations(compared)), strict=True))
        order.sort(key=lambda name: -shares.get(name, 0.0))
    names, truth = order[:MOST_COLUMNS], np.asarray(labels, dtype=np.int64)
    with watch.step(COLUMNS, len(places)) as progress:
        for i, name in enumerate(names):
            try:
                again = clone(repeat).fit_predict(np.delete(features.X, places[name], axis=1))
                found[name] = float(agreement_with(Ensemble.from_partitions([again]), truth, "ari")[0])
            except ValueError:  # too few different rows without the column
                found[name] = float("nan")
            if progress is not None:
                progress(i + 1, len(names))
    return found


def places_of_columns(features: Features) -> dict[str, list[int]]:
    """By the name of a column of the table the features that it became."""
    place = {name: j for j, name in enumerate(features.names)}
    columns = [] if features.encoding is None else features.encoding.columns
    found = {c.name: [place[name] for name in c.names() if name in place] for c in columns if c.kind != "member"}
    return {name: of for name, of in found.items() if of}
