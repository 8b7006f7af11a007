"""An analysis from its plan to clusters with a confidence: candidates, choose, make, combine, certify.

`run` takes the steps; each is a function below it, in the same order. Where the features lie is the affair of `Data`,
or of `StoredData` in `_blocks`. `Watch` follows what is done, and `Store` keeps the partitions of a run that stops.

Above 10,000 objects the default clusters some that are drawn, and every object gets what the nearest of these has. What
an object would get by another draw no partition of the first one knows. So the partitions are made again of another
sample, a `SecondSample`. They change no cluster; `metrics.confidence` counts them beside the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from ensemblage.base.options import Message, Option
from ensemblage.base.random import task_seeds
from ensemblage.choices._choice_records import KChoice
from ensemblage.choices._choose_k import FEW, by_criteria, prepare_features, too_few_rows
from ensemblage.choices._chooser import LearnedSelection, choose_candidate, learned_weights, weigh_again
from ensemblage.choices._plan import Plan
from ensemblage.consensus._model import Assignment
from ensemblage.generation import DiversePartitions, ScaledPartitions
from ensemblage.generation._base import ensemble_of
from ensemblage.generation._candidates import PoolCache
from ensemblage.generation._clusterers import nearest_rows
from ensemblage.generation._dense_rows import dense_rows
from ensemblage.generation._diverse import numbers_near
from ensemblage.labels.blocks import LabelRows, MemoryRows
from ensemblage.labels.coding import MISSING
from ensemblage.labels.disk import side_by_side
from ensemblage.labels.ensemble import Ensemble
from ensemblage.metrics._confidence import Association, Confidence, confidence_of_new, confidence_of_rows

CHOICE, CANDIDATES, MEMBERS, CONSENSUS, SECOND = (
    "number of clusters",
    "candidates",
    "base partitions",
    "consensus",
    "second sample",
)
"""The steps as a `Watch` follows them."""

Progress = Callable[[int, int], None]
Matrix = NDArray[np.float64]


# -- what goes in, what comes out --------------------------------------------------------------------------------------


class Settings(NamedTuple):
    """What no plan depends on."""

    seed: int
    n_jobs: int | None = None
    noise: Literal["missing", "vote"] = MISSING
    """What -1 of a partition says of an object."""
    max_bytes: Any = None
    """The limit of the consensus, if it has one."""
    align: Mapping[str, Any] | None = None
    """Parameters of `Model.align`: the clusters are numbered so."""


class Watch:
    """Who follows an analysis: nobody, but ``progress`` of candidates and base partitions."""

    def __init__(self, progress: Progress | None = None) -> None:
        self.progress = progress

    @contextmanager
    def step(
        self, name: str, total: int = 0, *, generator: Any = None, shape: tuple[int, ...] = ()
    ) -> Iterator[Progress | None]:
        """Around a step of ``total`` parts; gives what follows its progress.

        ``generator`` makes partitions of features of this shape.
        """
        yield self.progress if name in (CANDIDATES, MEMBERS, SECOND) else None

    def announce(self, text: str) -> None:
        """What a step has found."""


class GeneratedMembers(NamedTuple):
    """The partitions, and the fitted generator that made them; None where no feature is clustered."""

    ensemble: Ensemble
    generator: Any


class Store:
    """Where partitions are kept for a run that is stopped: nowhere."""

    def load(self) -> GeneratedMembers | None:
        """Those of an earlier run."""
        return None

    def save(self, members: GeneratedMembers) -> None:
        """Keep what was made, before anything else is done."""


class Number(NamedTuple):
    """The number of clusters, and who says so."""

    k: int | None
    """None: the consensus finds it."""
    choice: KChoice | None
    """What `choose_k` says, if it was asked."""
    chosen: LearnedSelection | None
    """What trees say of candidate partitions, if they rated some; it gives the partitions their weights, too."""
    made: PoolCache
    """What the generator need not make again."""


@dataclass(frozen=True)
class RunResult:
    """What a run finds."""

    plan: Plan | None
    """None where labels were combined."""
    number: Number
    ensemble: Ensemble
    generator: Any
    """Fitted; None where no feature is clustered."""
    consensus: Any
    """Fitted."""
    second: SecondSample | None
    """Which the confidence of the consensus knows; None where all objects were clustered or are one cluster."""


@dataclass(eq=False)
class Data:
    """Features in memory, and what belongs to their objects."""

    features: Any
    """(n, m) as they are clustered; an array or a sparse matrix."""
    members: Mapping[str, NDArray[np.int32]] = field(default_factory=dict)
    """By name, (n,) categories that are partitions."""
    n_columns: int = 0
    """That the features are made of ..."""
    category_weight: float = 1.0
    """... and how many of these a category weighs."""
    distances: Callable[[], NDArray[np.float64]] | None = None
    """Makes those of all pairs, (n, n), if they are clustered and not the features."""
    sample_weight: NDArray[np.int64] | None = None
    """(n,)"""
    links: Mapping[str, Any] = field(default_factory=dict)
    """``must_link`` and ``cannot_link`` as `fit` takes them."""

    def sample(self, size: int | None, seed: int, n_jobs: int | None, made: PoolCache) -> Any:
        """(r, m) the features of the objects that are clustered: all, or some of more than ``size``."""
        if size is None:
            return self.features
        features = np.asarray(self.features, dtype=np.float64)  # as the generator draws
        made.rows, kept = dense_rows(features, size, seed, n_jobs)
        return kept

    def partitions(self, generator: Any, noise: Literal["missing", "vote"]) -> GeneratedMembers:
        """Fit the generator; its partitions, and then those that categories are."""
        made_of = self.features if self.distances is None else self.distances()
        if not made_of.shape[1]:
            return GeneratedMembers(generated(None, None, self.members, noise=noise), None)
        return GeneratedMembers(generated(generator, made_of, self.members, self.sample_weight, noise), generator)

    def weights(self, members: GeneratedMembers, chosen: LearnedSelection | None) -> list[float] | None:
        """(p,) of the partitions; None if they are alike."""
        if chosen is not None:
            return learned_weights(members.generator, chosen)
        n_made, n_members = members.ensemble.shape[1] - len(self.members), len(self.members)
        if not n_made or not n_members:
            return None
        return [1.0] * n_made + [self.category_weight * n_made / self.n_columns] * n_members

    def fit(self, consensus: Any, ensemble: Ensemble) -> Any:
        """The consensus of the partitions."""
        weight = {} if self.sample_weight is None else {"sample_weight": self.sample_weight}
        return consensus.fit(ensemble, **weight, **self.links)

    def second(
        self, found: RunResult, chosen: LearnedSelection, n_jobs: int | None, progress: Progress | None
    ) -> SecondSample:
        """Give the consensus that was found the confidence of a second sample, too."""
        consensus, first = found.consensus, found.generator
        others = {"random_state": second_seed(first.random_state), "n_jobs": n_jobs, "progress": progress}
        again = type(first)(**{**first.get_params(deep=False), **others})
        again._fit_kept(self.second_sample(again))
        places = self.places(consensus, found.ensemble, again)
        second = SecondSample.of(consensus, again, chosen, places.counts)
        consensus._take_confidence(second.confidence(places.rows, places.nearest, consensus.labels_, consensus.n_jobs))
        return second

    def second_sample(self, again: Any) -> Matrix:
        """(m, n_features) the objects that are clustered of another draw; ``again`` makes their partitions."""
        return dense_rows(self.features, again.sample_size, again.random_state, again.n_jobs)[1]

    def places(self, consensus: Any, ensemble: Ensemble, again: Any) -> Places:
        """Where the objects of the consensus lie among those that ``again`` was fitted to."""
        nearest, k = nearest_rows(again._fit_X, self.features, again.n_jobs), consensus.n_clusters_
        return Places(count_places(consensus.labels_, nearest, k, len(again._fit_X)), ensemble.rows, nearest)


# -- the steps ---------------------------------------------------------------------------------------------------------


def run(
    plan: Plan, data: Data, settings: Settings, watch: Watch | None = None, store: Store | None = None
) -> RunResult:
    """Execute a plan: clusters, and the confidence that another draw of the objects would give them."""
    watch = watch or Watch()
    found = cluster(plan, data, settings, watch, store)
    return replace(found, second=certify(found, data, settings, watch))


def cluster(
    plan: Plan,
    data: Data,
    settings: Settings,
    watch: Watch | None = None,
    store: Store | None = None,
    number: Number | None = None,
) -> RunResult:
    """The steps up to the clusters; a ``number`` that is known is not looked for."""
    watch, store = watch or Watch(), store or Store()
    # Partitions of these generators have about as many clusters as the answer.
    if number is None and isinstance(plan.generator, DiversePartitions | ScaledPartitions):
        number = choose(plan, data, settings, watch)
    members = make(plan, data, number, settings, watch, store)
    if number is None:
        number = choose(plan, data, settings, watch)
    if number.chosen is not None:  # all partitions are there now, and get their weights
        made = dict(zip(members.generator._candidates, members.generator._labels.T, strict=True))
        number = number._replace(chosen=weigh_again(number.chosen, number.made, made, settings.n_jobs))
    consensus = set_weights(consensus_of(plan, number.k, settings), data.weights(members, number.chosen))
    combine(consensus, data, members.ensemble, settings, watch)
    return RunResult(plan, number, *members, consensus, None)


def run_on_labels(
    consensus: Any, ensemble: Ensemble, links: Mapping[str, Any], settings: Settings, watch: Watch
) -> RunResult:
    """The same of partitions that are there."""
    data = Data(np.empty((len(ensemble), 0)), links=links)
    combine(consensus, data, ensemble, settings, watch)
    return RunResult(None, Number(None, None, None, PoolCache()), ensemble, None, consensus, None)


def candidates(plan: Plan, data: Data, settings: Settings, watch: Watch, made: PoolCache) -> LearnedSelection:
    """Candidate partitions, rated; ``made`` gets what the generator need not make again."""
    generator, n_jobs = plan.generator, settings.n_jobs
    with watch.step(CANDIDATES) as progress:
        sample = data.sample(generator.sample_size, settings.seed, n_jobs, made)
        how: dict[str, Any] = {"units": generator.units, "n_jobs": n_jobs, "progress": progress}
        return choose_candidate(sample, plan.k, ks=plan.k_range, **how, made=made)


def choose(plan: Plan, data: Data, settings: Settings, watch: Watch) -> Number:
    """The number of clusters: given, named by most criteria of `choose_k`, or that of the candidate rated highest."""
    choice, made = None, PoolCache()
    if plan.chooses_k:
        with watch.step(CHOICE) as progress:
            how: dict[str, Any] = {"n_jobs": settings.n_jobs, "random_state": settings.seed, "progress": progress}
            choice = by_criteria(prepare_features(data.features, False, None), plan.k_range, **how)
    chosen = candidates(plan, data, settings, watch, made) if plan.is_learned else None
    if (found := choice or chosen) is not None:
        watch.announce(found.sentence)
    return Number(number_of_clusters(plan, choice, chosen), choice, chosen, made)


def make(
    plan: Plan, data: Data, number: Number | None, settings: Settings, watch: Watch, store: Store
) -> GeneratedMembers:
    """The partitions of an earlier run that was stopped, or new ones, which are kept."""
    if (earlier := store.load()) is not None:
        return earlier
    generator = generator_of(plan, number, settings)
    with watch.step(MEMBERS, generator=generator, shape=data.features.shape) as progress:
        parameters = generator.get_params()
        if progress is not None and "progress" in parameters and parameters["progress"] is None:
            generator.set_params(progress=progress)
        members = data.partitions(generator, settings.noise)
    store.save(members)
    return members


def combine(consensus: Any, data: Data, ensemble: Ensemble, settings: Settings, watch: Watch) -> None:
    """Fit the consensus, and number its clusters."""
    with watch.step(CONSENSUS):
        data.fit(consensus, ensemble)
    if settings.align is not None:
        consensus.align(**settings.align)


def certify(found: RunResult, data: Data, settings: Settings, watch: Watch) -> SecondSample | None:
    """Give the consensus the confidence of two samples where the partitions are of one."""
    chosen = found.number.chosen
    if chosen is None or not found.generator._is_of_sample or found.consensus.n_clusters_ < 2:
        return None
    with watch.step(SECOND) as progress:
        return data.second(found, chosen, settings.n_jobs, progress)


# -- what the steps ask ------------------------------------------------------------------------------------------------


def number_of_clusters(plan: Plan, choice: KChoice | None, chosen: LearnedSelection | None = None) -> int | None:
    """The number that was given or chosen, refused where few objects do not show it; None: the combiner finds it."""
    if chosen is not None:
        may_be_one = plan.allow_one and plan.k is None
        return 1 if may_be_one and not chosen.is_clear else chosen.n_clusters
    if choice is None:
        return plan.k
    k = choice.n_clusters(plan.allow_one)
    if plan.n_objects < FEW and plan.k_range is None and k > 1 and choice.evidence not in ("clear", "likely"):
        raise too_few_rows(plan.n_objects)
    return k


def generator_of(plan: Plan, number: Number | None, settings: Settings) -> Any:
    """The unfitted generator, with seeds and threads, and the number of clusters where it takes its members near it.

    What was made of the same features before is not made again in its next ``fit``.
    """
    near: dict[str, Any] = {}
    if number is not None and isinstance(plan.generator, DiversePartitions):
        near = {"n_clusters": numbers_near(number.k)}
    chosen = None if number is None else number.chosen
    if chosen is not None:
        near = members_of(chosen)
    generator = fill_defaults(clone(plan.generator), settings, **near)
    if number is not None and chosen is not None:
        generator._take_made(number.made)
    return generator


def members_of(chosen: LearnedSelection) -> dict[str, Any]:
    """What `ScaledPartitions` gets of the partitions that have weights: numbers, scales and algorithms."""
    pairs = dict.fromkeys(f"{view} {family}" for view, family, _ in chosen.weights)
    return {"n_clusters": sorted({k for _, _, k in chosen.weights}), "algorithms": list(pairs)}


def consensus_of(plan: Plan, k: int | None, settings: Settings) -> Any:
    """The unfitted consensus of k clusters, with seeds, threads and memory."""
    consensus = clone(plan.consensus)
    if k is not None:
        consensus.set_params(n_clusters=k)
    if settings.max_bytes is not None and "max_bytes" in consensus.get_params():
        consensus.set_params(max_bytes=settings.max_bytes)
    return fill_defaults(consensus, settings)


def fill_defaults(estimator: Any, settings: Settings, **more: Any) -> Any:
    """The estimator with threads and every seed of its own and of its parts set that it was not given."""
    missing = sorted(name for name, value in estimator.get_params().items() if value is None)
    nested = [name for name in missing if name.endswith("__random_state")]
    values = dict(zip(nested, task_seeds(settings.seed, len(nested)).tolist(), strict=True))
    values |= {"n_jobs": settings.n_jobs, "random_state": settings.seed} | more
    return estimator.set_params(**{name: value for name, value in values.items() if name in missing})


def generated(
    generator: Any,
    X: NDArray[Any] | None,
    members: Mapping[str, NDArray[np.int32]],
    sample_weight: NDArray[np.int64] | None = None,
    noise: Literal["missing", "vote"] = MISSING,
) -> Ensemble:
    """The partitions of X, (n, m) features or (n, n) distances, and then those that categories are.

    Without X the categories alone. The generator is fitted. ``noise`` is what −1 of its partitions says of an object.
    """
    if X is None and not members:
        raise ValueError(
            "The features must have at least one column. Got none. Give a table with a column of numbers or categories."
        )
    made = None if X is None else ensemble_of(generator, X, sample_weight, noise)
    if made is not None and not members:
        return made
    columns, names = ([], []) if made is None else ([np.asarray(made)], made.names)
    return Ensemble._made(np.column_stack([*columns, *members.values()]), names=[*names, *members])


def set_weights(consensus: Any, weights: list[float] | None) -> Any:
    """The consensus with these weights of the partitions; unequal ones need a method that has them."""
    if weights is None or min(weights) == max(weights):
        return consensus
    known = consensus.get_params()
    if "weights" not in known or known["weights"] is not None:
        why = "has no weights" if "weights" not in known else "has weights of its own"
        rule = "Categories that are members need weights of the partitions."
        encode = Option("categories", "encode")
        raise ValueError(Message(f"{rule} {type(consensus).__name__} {why}. Use ", encode, " instead."))
    return consensus.set_params(weights=weights)


class SecondSample(NamedTuple):
    """The objects of another draw that are clustered, and the clusters as the partitions of both draws see them."""

    kept: Matrix
    """(m, n_features)"""
    codes: NDArray[Any]
    """(m, q) their codes in the partitions of the second sample."""
    association: Association
    """Of the clusters with p partitions of the first sample and these."""

    @classmethod
    def of(cls, consensus: Any, again: Any, chosen: LearnedSelection, table: NDArray[np.int64]) -> SecondSample:
        """The sample that ``again`` was fitted to, beside a consensus of the first; ``table`` as of `count_places`."""
        labels = Ensemble._made(again._labels)
        codes = labels.rows[:]
        clusters, kept = np.nonzero(table)
        weights, first = np.ones(labels.shape[1]), consensus._association
        if consensus.weights is not None:  # which it counts in a unit of its own
            weights = np.array(learned_weights(again, chosen)) * (first.weights.max() / max(consensus.weights))
        rows, counts = MemoryRows(codes[kept]), table[clusters, kept]
        association = Association.of(rows, counts, clusters, len(table), labels.offsets, weights)
        return cls(again._fit_X, codes, first.beside(association))

    def beside(self, rows: LabelRows, nearest: NDArray[np.intp]) -> LabelRows:
        """(n, p + q) codes of objects in the partitions of both, from those of the first and the nearest kept ones."""
        return side_by_side(rows, MemoryRows(self.codes[nearest]))

    def confidence(
        self, rows: LabelRows, nearest: NDArray[np.intp], clusters: NDArray[np.int32], n_jobs: int | None
    ) -> Confidence:
        """Of objects in their clusters, (n,), from their codes in the first sample and the nearest kept ones."""
        return confidence_of_rows(self.beside(rows, nearest), clusters, self.association, n_jobs)

    def assign(self, found: Assignment, rows: LabelRows, features: Matrix) -> Assignment:
        """The assignment of new objects with the confidence that both samples give it."""
        codes = self.beside(rows, nearest_rows(self.kept, features))[:]
        confidence, runner_up = confidence_of_new(codes, found.labels, self.association)
        return replace(found, confidence=confidence, runner_up=runner_up)

    def reorder(self, places: NDArray[np.int64]) -> SecondSample:
        """With ``places[c]`` as the number of cluster c."""
        return self._replace(association=self.association.reorder(np.argsort(places)))


class Places(NamedTuple):
    """Where objects in clusters lie among the m that are clustered of a second sample."""

    counts: NDArray[np.int64]
    """(k, m) objects of each cluster to which each of them is nearest."""
    rows: LabelRows
    """(n, p) the codes of objects that have a label, in the partitions of the first sample."""
    nearest: NDArray[np.intp]
    """(n,) which of the m is nearest to these."""


def second_seed(seed: int) -> int:
    """Of the second sample, where this one draws the first."""
    return int(task_seeds(seed, 1)[0])


def count_places(
    clusters: NDArray[np.int32], nearest: NDArray[np.intp], n_clusters: int, n_kept: int
) -> NDArray[np.int64]:
    """(k, m) objects of each cluster to which each of the kept objects is nearest; both (n,)."""
    counts = np.bincount(clusters.astype(np.intp) * n_kept + nearest, minlength=n_clusters * n_kept)
    return counts.reshape(n_clusters, n_kept)
