"""Which candidate partitions of features are near the truth: trees that learned it on synthetic worlds.

The trees predict the adjusted Rand index of a candidate with the true clusters from `_candidates`.
lab/scripts/train_chooser.py trains them on `make_world` alone; their arrays lie beside this file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.random import settled_rows
from ensemblage.choices._candidate_features import (
    CONSENSUS,
    Described,
    all_candidates,
    describe,
    describe_again,
    feature_names,
    numbers_beside,
)
from ensemblage.choices._choose_k import EVERY, numbers_around
from ensemblage.generation._candidates import Labels, Origin, Pool, PoolCache, larger_numbers, numbers_of_clusters
from ensemblage.generation._views import Matrix

ARRAYS = "chooser.npz"
MOST_CHOSEN_ON = 1_500
"""Objects that candidates are compared on; of more, so many are drawn, the same with each seed."""
TEMPERATURE = 0.04
"""A candidate weighs exp(1 / e) times another one whose predicted index is so much times e less."""
LEAST_WEIGHT = 1e-3
"""Of a candidate, in weights of the heaviest: what weighs less is left out."""
NO_WEIGHT = 1e-9
"""Of partitions that are made and were left out."""


class Trees(NamedTuple):
    """Regression trees whose values add up; nodes of all trees one after another."""

    feature: NDArray[np.int16]
    """(N,) that a node asks for; -1 of a leaf."""
    threshold: NDArray[np.float64]
    """(N,) up to which the left child is next; of a leaf its value."""
    left: NDArray[np.int16]
    """(N,) the left child, counted from the first node of its tree; the right one follows it."""
    missing_left: NDArray[np.bool_]
    """(N,) where a row goes that lacks the feature."""
    roots: NDArray[np.int64]
    """(T,) first node of each tree."""
    base: float
    """What is added to the sum."""

    def predict(self, X: NDArray[np.float32]) -> NDArray[np.float64]:
        """(n,) sums over the trees for the rows of X, (n, q). O(n T depth) time, O(n T) memory."""
        at = np.repeat(self.roots[None], len(X), axis=0)
        rows = np.arange(len(X))[:, None]
        while True:
            feature = self.feature[at]
            is_inner = feature >= 0
            if not is_inner.any():
                return np.asarray(self.base + self.threshold[at].sum(axis=1))
            values = X[rows, np.maximum(feature, 0)].astype(np.float64)
            goes_left = np.where(np.isnan(values), self.missing_left[at], values <= self.threshold[at])
            child = self.roots[None] + self.left[at] + ~goes_left
            at = np.where(is_inner, child, at)


class TrainedTrees(NamedTuple):
    """What training made."""

    trees: Trees
    version: str
    clear: float
    """The rating that the best candidates of 96 % of single clouds do not exceed."""


@cache
def trained_trees() -> TrainedTrees:
    """What is shipped.

    Raises
    ------
    RuntimeError
        If they learned from other features than this version computes.
    """
    with files(__package__).joinpath(ARRAYS).open("rb") as file, np.load(file) as archive:
        arrays = {name: archive[name] for name in Trees._fields if name != "base"}
        trees = Trees(**arrays, base=float(archive["base"]))
        if archive["names"].tolist() != feature_names():
            raise RuntimeError("The chooser learned from other features than these. Train it again.")
        return TrainedTrees(trees, str(archive["version"]), float(archive["clear"]))


@dataclass(frozen=True, repr=False)
class LearnedSelection:
    """The candidate partitions with the largest weights: ``chosen_`` of `ConsensusClustering`.

    Attributes
    ----------
    n_clusters : int
        The number of clusters of the answer.
    view, family : str
        Scale and algorithm of the candidate that is predicted to be nearest to the truth, as in `ScaledPartitions`;
        "default" and "all" are consensuses.
    runner_up : str
        The best candidate of another family, scale or number of clusters.
    margin : float
        By how much the predicted adjusted Rand index of the runner-up is less.
    rating : float
        The predicted index of the best candidate. It is not calibrated on real data.
    is_clear : bool
        Whether the rating is above that of 96 % of synthetic single clouds.
    weights : dict of tuple to float
        Of the partitions by view, family and number of clusters; they sum to 1. Of more than 1,500 objects the
        candidates are those of 1,500, and the weights are of the partitions of all: these are rated on the 1,500, too.
    version : str
        Of the trees.
    predicted : dict of int to float
        The highest predicted index of each number of clusters.
    """

    n_clusters: int
    view: str
    family: str
    runner_up: str
    margin: float
    rating: float
    is_clear: bool
    weights: dict[tuple[str, str, int], float]
    version: str
    predicted: dict[int, float]

    def __repr__(self) -> str:
        verdict = "clear" if self.is_clear else "not clear"
        return f"<LearnedSelection: {self.n_clusters} clusters, rating {self.rating:.2f} ({verdict}). {self.sentence}>"

    @property
    def sentence(self) -> str:
        """What was chosen, for people."""
        best = candidate_text(Origin(self.view, self.family, self.n_clusters))
        how = "far above" if self.margin >= CLEAR else "above" if self.margin >= CLOSE else "hardly above"
        return f"Of all candidate partitions, {best} has the highest rating, {how} {self.runner_up}."


CLEAR, CLOSE = 0.05, 0.01
FAMILY_TEXT = {
    "kmeans": "k-means",
    "ward": "Ward's method",
    "full": "a full-covariance mixture",
    "prior": "a full-covariance mixture with a prior",
    "latent": "a latent class model",
    "factor": "a mixture on principal components",
    "spectral10": "spectral clustering (10 neighbours)",
    "spectral5": "spectral clustering (5 neighbours)",
    "genie3": "Genie",
    "lumbermark": "Lumbermark",
    "default": "the consensus of mixture, spectral clustering and Genie",
    "all": "the consensus of all algorithms",
}
VIEW_TEXT = {
    "own": "",
    "deviation": " on standardised columns",
    "robust": " on columns whose long tails are drawn in",
    "rows": " on standardised rows",
    "logarithm": " on logarithms",
    "given": " on columns in their own units",
}


def candidate_text(candidate: Origin) -> str:
    """As "k-means on standardised columns with 3 clusters"."""
    return f"{FAMILY_TEXT[candidate.family]}{VIEW_TEXT[candidate.view]} with {candidate.n_clusters} clusters"


def candidate_named(name: str) -> Origin | None:
    """The candidate that a partition of `ScaledPartitions` is, by its name "robust_kmeans_k3"; None of another name."""
    view, _, rest = str(name).partition("_")
    family, _, k = rest.partition("_k")
    is_one = view in VIEW_TEXT and family in FAMILY_TEXT and k.isdecimal()
    return Origin(view, family, int(k)) if is_one else None


def choose_candidate(
    features: Matrix,
    n_clusters: int | None = None,
    *,
    ks: Sequence[int] | None = None,
    units: Matrix | None = None,
    n_jobs: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    made: PoolCache | None = None,
) -> LearnedSelection:
    """The candidate partition of features, (n, m), with the highest predicted index; all, or those of n_clusters.

    ``ks`` are the numbers of clusters to choose from, ``units``, (m,), is as of `candidate_pool`. Without ``ks`` the
    list ends at √n, or at n / 10 where the best number up to √n is at least half of that. Where the best is above 10,
    those between its neighbours are looked at, too. ``made`` gets the candidates, for the generator if they are of all
    objects, else for `weigh_again`. O(n² m) time for at most 1,500 objects.
    """
    X = np.asarray(features, dtype=np.float64)
    compared = settled_rows(X, MOST_CHOSEN_ON)
    X = X[compared]
    listed = sorted({*numbers_of_clusters(len(X)), *(k for k in (ks or [n_clusters or 2]) if k < len(X))})
    allowed = {n_clusters} if n_clusters else set(ks) if ks else None
    rated = Rated.of(X, listed, units, n_jobs, progress)
    best = rated.best(allowed)
    k = int(rated.numbers[best])
    if allowed is None and 4 * k * k >= len(X) and (larger := larger_numbers(len(X))):
        more = sorted({*listed, *larger})
        longer = Rated.of(X, more, units, n_jobs, known=rated.pool)
        if longer.numbers[longer.best(None)] ** 2 > len(X):  # else the first choice stays
            listed, rated, best = more, longer, longer.best(None)
            k = int(rated.numbers[best])
    if k > EVERY and allowed is None:
        listed = numbers_around(k, sorted({*listed, k}))
        rated = Rated.of(X, listed, units, n_jobs, known=rated.pool)
        best = rated.best(None)
    if made is not None and len(X) == len(features):
        made.pool = rated.pool
    elif made is not None:
        made.compared, made.rated = compared, rated
    return _chosen(rated, best, allowed, listed)


def weigh_again(
    chosen: LearnedSelection, made: PoolCache, partitions: Mapping[Origin, Labels], n_jobs: int | None
) -> LearnedSelection:
    """The same choice with weights for the partitions of all objects, (n,) each, that were made after it.

    Where candidates were compared on some of the objects, those partitions are others. Their ratings on the compared
    objects take the place of those of the candidates. The number of clusters stays.
    """
    if made.rated is None:
        return chosen
    weighed = {tuple(of): labels[made.compared] for of, labels in partitions.items() if tuple(of) in chosen.weights}
    again = made.rated.again({of: labels for of, labels in weighed.items() if (labels != labels[0]).any()}, n_jobs)
    return replace(chosen, weights=_weights(again)) if again else chosen


def learned_weights(generator: Any, chosen: LearnedSelection) -> list[float]:
    """(p,) of the partitions of a fitted `ScaledPartitions`; one that it left out weighs next to nothing."""
    return [chosen.weights.get(candidate, NO_WEIGHT) for candidate in generator._candidates]


class Rated(NamedTuple):
    """Candidate partitions, and what the trees predict of them."""

    candidates: list[Origin]
    """(p,)"""
    numbers: NDArray[np.int64]
    """(p,) clusters that each has: fewer than were asked for where components of a mixture are empty."""
    predicted: NDArray[np.float64]
    """(p,)"""
    pool: Pool
    described: Described

    @classmethod
    def of(
        cls,
        X: Matrix,
        ks: Sequence[int],
        units: Matrix | None,
        n_jobs: int | None,
        progress: Callable[[int, int], None] | None = None,
        known: Pool | None = None,
    ) -> Rated:
        pool = all_candidates(X, ks, n_jobs, progress, units, known)
        described = describe(pool, X, units, n_jobs)
        numbers = pool.labels.max(axis=1).astype(np.int64) + 1
        return cls(pool.candidates, numbers, _ratings(described.X), pool, described)

    def again(self, partitions: Mapping[Any, Labels], n_jobs: int | None) -> dict[tuple[str, str, int], float]:
        """The ratings of other partitions of the same objects, each instead of the candidate of that origin."""
        changed = np.array([i for i, of in enumerate(self.candidates) if tuple(of) in partitions], dtype=np.intp)
        if not len(changed):
            return {}
        labels, origins = self.pool.labels.copy(), [tuple(self.candidates[i]) for i in changed]
        for i, of in zip(changed, origins, strict=True):
            labels[i] = np.unique(partitions[of], return_inverse=True)[1]
        described = describe_again(self.pool._replace(labels=labels), self.described, changed, n_jobs)
        return dict(zip(origins, _ratings(described.X[changed]).tolist(), strict=True))

    def best(self, allowed: set[int] | None) -> int:
        """The candidate with the highest prediction; on ties the first in the order of the pool."""
        places = self.of_numbers(allowed)
        if not len(places):
            raise ValueError(
                f"X must have enough different rows for {min(allowed or {2})} clusters. No candidate partition could "
                "be made. Ask for fewer clusters."
            )
        return int(places[self.predicted[places].argmax()])

    def of_numbers(self, allowed: set[int] | None) -> NDArray[np.intp]:
        """Candidates with one of these numbers of clusters; None: all."""
        return np.flatnonzero(self.numbers > 0 if allowed is None else np.isin(self.numbers, list(allowed)))

    def near(self, k: int, ks: Sequence[int]) -> NDArray[np.intp]:
        """Partitions, no consensuses, with k clusters or between those next to it on the list: see `numbers_beside`."""
        beside = numbers_beside(k, sorted({*ks, k}))
        is_plain = np.array([c.family not in CONSENSUS for c in self.candidates])
        return np.flatnonzero(is_plain & (self.numbers >= beside[0]) & (self.numbers <= beside[-1]))


def _ratings(X: NDArray[np.float32]) -> NDArray[np.float64]:
    """(p,) what the trees predict for the features of candidates, rounded."""
    return np.asarray(np.round(trained_trees().trees.predict(X), 6))


def _weights(ratings: Mapping[tuple[str, str, int], float]) -> dict[tuple[str, str, int], float]:
    """Of candidates by their ratings; they sum to 1."""
    values = np.array(list(ratings.values()))
    weights = np.exp((values - values.max()) / TEMPERATURE)
    is_heavy = weights >= LEAST_WEIGHT
    total = weights[is_heavy].sum()
    return {of: float(w / total) for of, w, keeps in zip(ratings, weights, is_heavy, strict=True) if keeps}


def _chosen(rated: Rated, best: int, allowed: set[int] | None, listed: Sequence[int]) -> LearnedSelection:
    candidates, numbers, predicted, *_ = rated
    k, places = int(numbers[best]), rated.of_numbers(allowed)
    others = places[places != best]
    second = int(others[predicted[others].argmax()]) if len(others) else best
    near = rated.near(k, listed)
    return LearnedSelection(
        k,
        candidates[best].view,
        candidates[best].family,
        candidate_text(candidates[second]._replace(n_clusters=int(numbers[second]))),
        float(predicted[best] - predicted[second]),
        float(predicted[best]),
        bool(predicted[best] > trained_trees().clear),
        _weights({tuple(candidates[i]): float(predicted[i]) for i in near}),
        trained_trees().version,
        {int(q): float(predicted[places[numbers[places] == q]].max()) for q in np.unique(numbers[places])},
    )
