"""How many clusters: whether there are any, what five criteria say, and where several algorithms agree."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import pdist, squareform
from sklearn.metrics import adjusted_rand_score, silhouette_score
from sklearn.utils import check_array

from ensemblage.base.features import FILL, features_checked
from ensemblage.base.frames import as_frame
from ensemblage.base.options import Message, Option
from ensemblage.base.random import sample_rows, task_seeds
from ensemblage.base.validation import (
    MOST_TASKS,
    Flag,
    Jobs,
    Words,
    check_progress,
    check_value,
    check_whole,
    format_value,
    n_distinct_rows,
)
from ensemblage.choices._choice_records import LIKELY, VOTERS, KChoice, KRow
from ensemblage.consensus.hierarchies._eac import EvidenceAccumulation
from ensemblage.consensus.voting._ada_cvote import CumulativeVoting
from ensemblage.generation import DiversePartitions, RandomKPartitions
from ensemblage.generation._candidates import NUMBERS
from ensemblage.generation._clusterers import run_all
from ensemblage.generation._diverse import can_be_diverse
from ensemblage.generation._pools import cut_children
from ensemblage.io._anndata import as_table
from ensemblage.io._encoding import IMPUTE
from ensemblage.io._preprocessor import Preprocessor
from ensemblage.io._scaling import AUTO, scaling_of
from ensemblage.io._table import Table
from ensemblage.labels.ensemble import Ensemble
from ensemblage.stability import prediction_strength
from ensemblage.stability._clusters import SharedCounts
from ensemblage.stability._gap import Gaps, first_that_lasts, gaps
from ensemblage.stability._records import PredictionStrength
from ensemblage.stability._reference import UnimodalComponents
from ensemblage.stability._structure import (
    ClusterStatistics,
    Comparison,
    PairKMeans,
    Pairs,
    SmallKMeans,
    Stops,
    Structure,
    compare_with_cloud,
    count_components,
    p_value_of,
    squares_of_pairs,
)

N_STARTS = 10
"""Starts of k-means in halves and on all objects."""
SMALL = 20
"""Objects of a cluster that prediction strength cannot see."""
FEW = 20
"""Objects of which fewer must show the number clearly: docs/default/combine.md."""
N_REFERENCES = 99
"""Single clouds that the data are compared with."""
N_SPLITS = 10
"""Halvings for the prediction strength."""
N_SAMPLE = 1_000
"""Objects that the criteria look at, where there are more."""


def by_criteria(
    features: Any,
    k_range: Iterable[int] | None = None,
    *,
    n_references: int | None = None,
    n_splits: int = N_SPLITS,
    n_partitions: int = 50,
    sample_size: int = N_SAMPLE,
    n_jobs: int | None = None,
    random_state: Any = None,
    progress: Callable[[int, int], None] | None = None,
    backend: str | None = None,
) -> KChoice:
    """`choose_k` with ``method="criteria"``, whose docstring has the parameters; (n, m) features as they are clustered.

    ``backend`` is the library of the data frames of the result.
    """
    with features_checked("X of choose_k", features):
        data = check_array(features, dtype=np.float64, ensure_min_samples=4)
    n_references = N_REFERENCES if n_references is None else n_references
    check_whole(n_references, "n_references of choose_k", 1, MOST_TASKS)
    check_whole(n_splits, "n_splits of choose_k", 1, MOST_TASKS)
    check_whole(n_partitions, "n_partitions of choose_k", 2, MOST_TASKS)
    check_whole(sample_size, "sample_size of choose_k", 20)
    check_value(n_jobs, "n_jobs of choose_k", [Jobs()])
    check_progress(progress, "progress of choose_k")
    *others, of_agreement = task_seeds(random_state, 6 + n_references).tolist()
    seeds = iter(others)
    everything, objects = data, sample_rows(len(data), sample_size, next(seeds))
    data = data[objects]
    ks = _check_k_range(k_range, len(data), n_distinct_rows(data, len(data)))
    steps = _Steps(progress, n_references, n_references, n_splits * len(ks), n_partitions, len(NUMBERS))
    criteria = _measure_criteria(data, ks, n_splits, n_partitions, list(seeds), n_jobs, steps)
    votes = votes_of(criteria)

    def agreement() -> dict[int, float]:
        some = everything[sample_rows(len(everything), 2 * sample_size, of_agreement)]
        is_more = k_range is None and numbers_up_to_root(len(everything))[-1] > max(ks)
        if not is_more or not can_be_diverse(some):
            return {}
        return agreement_up_to_root(some, len(everything), of_agreement, n_jobs, steps.of(4))

    best, agreed = decide(votes, ks, criteria.test.structure, agreement)
    steps.end()
    return _choice(criteria, votes, best, agreed, objects, backend)


def prepare_features(X: Any, standardize: bool | Literal["auto"], impute: str | None) -> Any:
    """(n, m) the features that `ConsensusClustering` makes of the same; what cannot be clustered is refused."""
    check_value(standardize, "standardize of choose_k", [Flag(), Words([AUTO])])
    check_value(impute, "impute of choose_k", [IMPUTE, None])
    table = as_table(X)
    preprocessor = Preprocessor(standardize=scaling_of(table is not X, standardize), impute=impute)
    if not isinstance(table, Table) and as_frame(table) is None:
        gaps: Any = True if impute is None else "allow-nan"
        with features_checked("X of choose_k", X, FILL if impute is None else None):
            table = check_array(X, dtype=[np.float64, np.float32], ensure_all_finite=gaps, ensure_min_samples=4)
        _check_distinct(n_distinct_rows(table, 3))
        if standardize is False and impute is None:  # as another preprocessor has made it, which has given its notes
            return table
    return preprocessor.fit_transform(table)


class Criteria(NamedTuple):
    """What was measured of every number of clusters."""

    ks: list[int]
    """The numbers, ascending."""
    test: Comparison
    """Of structure, with k from 1 to max(ks) + 1."""
    halves: PredictionStrength
    lifetime: int | None
    """The number that lives longest in cumulative voting."""
    gap: Gaps
    """With k from 1 to max(ks) + 1."""
    components: int | None
    """1 + the dense components that live longer than those of single clouds; None with fewer than two clouds."""
    silhouettes: dict[int, float]
    """Of k-means' clusters."""
    kmeans: KMeansOfScores
    """What clusters the objects."""
    apart: NDArray[np.float64]
    """(n, n) their distances."""
    labels: dict[int, NDArray[np.int32]]
    """(n,) k-means' clusters for each number."""


def _measure_criteria(
    data: NDArray[np.float64],
    ks: list[int],
    n_splits: int,
    n_partitions: int,
    seeds: Sequence[int],
    n_jobs: int | None,
    steps: _Steps,
) -> Criteria:
    """Measure the five criteria, and the test for structure, of data, (n, m), for the numbers ``ks``.

    ``seeds`` are those of the halves, of the voting, of k-means, and one for each single cloud.
    """
    of_halves, of_voting, of_kmeans, *of_clouds = seeds
    cloud = UnimodalComponents(data)
    scores = np.ascontiguousarray(cloud.of_data)
    kmeans = KMeansOfScores.of(scores)
    settings: dict[str, Any] = {"n_splits": n_splits, "n_jobs": n_jobs, "random_state": of_halves}
    halves = prediction_strength(kmeans.model, kmeans.X, ks, **settings, progress=steps.of(2))
    generator = RandomKPartitions(n_partitions, n_jobs=n_jobs, random_state=of_voting, progress=steps.of(3))
    lifetime = CumulativeVoting().fit(Ensemble._made(generator.fit_transform(data))).n_clusters_
    labels = kmeans.labels(ks, of_kmeans)
    loops = iter((0, 1))

    def run(function: Callable[[int], ClusterStatistics], of: Sequence[int], stops: Stops) -> list[ClusterStatistics]:
        return run_all(function, of, n_jobs, stops, steps.of(next(loops)), "single cloud")

    test = compare_with_cloud(data, cloud, max(ks) + 1, of_clouds, run)
    log_w = np.array([reference.log_within for reference in test.references])
    largest = np.array([reference.persistences[0] for reference in test.references])
    components = count_components(test.data.persistences, largest) if len(largest) > 1 else None
    apart = squareform(pdist(scores)) if kmeans.squares is None else np.sqrt(kmeans.squares)
    silhouettes = {k: _silhouette(apart, labels[k]) for k in ks}
    gap = gaps(test.data.log_within, log_w)
    return Criteria(ks, test, halves, lifetime, gap, components, silhouettes, kmeans, apart, labels)


def votes_of(criteria: Criteria) -> dict[str, int | None]:
    """The number of clusters that each criterion names: 1 for one cluster, None for no vote."""
    silhouettes, of_gap = criteria.silhouettes, range(1, len(criteria.test.data.log_within) + 1)
    return {
        "prediction strength": criteria.halves.best,
        "lifetime": criteria.lifetime,
        "gap": first_that_lasts(criteria.gap, of_gap),
        "components": criteria.components,
        "silhouette": max(criteria.ks, key=lambda k: (silhouettes[k], -k)),
    }


def decide(
    votes: Mapping[str, int | None], ks: Sequence[int], structure: Structure, ask: Callable[[], dict[int, float]]
) -> tuple[int, dict[int, float]]:
    """The number of clusters, and the agreement of several algorithms where that decided.

    It is the number with most votes. Where there is structure and fewer than three votes agree, ``ask`` gives the
    agreement by number; a number above all ``ks`` with the largest agreement is taken instead.
    """
    best = best_of(votes, ks)
    disagree = sum(k == best for k in votes.values()) < LIKELY
    if structure.found and disagree and (asked := ask()) and most_agreed(asked) > max(ks):
        return most_agreed(asked), asked
    return best, {}


def _choice(
    criteria: Criteria,
    votes: dict[str, int | None],
    best: int,
    agreement: dict[int, float],
    objects: NDArray[np.intp],
    backend: str | None,
) -> KChoice:
    """The record of a decision; ``objects`` are the rows that were looked at."""
    ks, halves = criteria.ks, {row.k: row for row in criteria.halves.table}
    peaks = [k for k in peaks_of({k: halves[k].mean for k in ks}) if halves[k].supported]
    also = [k for k in peaks if k != best and halves[k].mean > 0.8]
    labels = criteria.labels
    if best not in labels:
        labels = labels | criteria.kmeans.labels([best], best)
    structure, table = criteria.test.structure, _table(criteria, votes, best, peaks)
    notes = list(_notes(max(agreement, default=max(ks)), best, labels[best], structure))
    return KChoice(structure, best, dict(votes), also, table, labels, objects, notes, agreement, backend)


def _table(criteria: Criteria, votes: Mapping[str, int | None], best: int, peaks: Sequence[int]) -> list[KRow]:
    """What every number is worth; ``peaks`` are those at a peak of prediction strength."""
    halves, gap = {row.k: row for row in criteria.halves.table}, criteria.gap
    references = np.array([reference.log_within for reference in criteria.test.references])
    distances = squareform(criteria.apart, checks=False)
    merges = {kind: linkage(distances, kind)[:, :2].astype(np.int64) for kind in ("ward", "average")}
    table = []
    for k in criteria.ks:
        of_references, log_w = references[:, k - 1], float(criteria.test.data.log_within[k - 1])
        low, high = np.quantile(of_references, [0.05, 0.95]).tolist()
        mean = float(of_references.mean())
        named = tuple(voter for voter in VOTERS if votes[voter] == k)
        same = {kind: _agreement(criteria.labels[k], cut_children(of, k)) for kind, of in merges.items()}
        table.append(
            KRow(
                k, log_w, low, mean, high, float(gap.gap[k - 1]), float(gap.s[k - 1]),
                p_value_of(-log_w, -of_references), halves[k].mean, halves[k].standard_error, halves[k].agreement,
                criteria.silhouettes[k], same["ward"], same["average"], named,
                "best" if k == best else "supported" if named or k in peaks else "",
            )
        )  # fmt: skip
    return table


def _agreement(one: NDArray[np.int32], other: NDArray[np.int32]) -> float:
    """Adjusted Rand index of two partitions, (n,), with few clusters, numbered from 0."""
    height, width = int(one.max()) + 1, int(other.max()) + 1
    table = np.bincount(one.astype(np.int64) * width + other, minlength=height * width)
    return SharedCounts.of_table(table.reshape(height, width)).adjusted_rand()


def best_of(votes: Mapping[str, int | None], ks: Sequence[int]) -> int:
    """The number among ``ks`` with most votes; of equally many, that of the criterion that is first in `VOTERS`."""
    counted = Counter(k for k in votes.values() if k in ks)
    return next(k for voter in VOTERS if (k := votes[voter]) in ks and counted[k] == max(counted.values()))  # type: ignore[return-value]


def peaks_of(by_k: Mapping[int, float]) -> list[int]:
    """The numbers that are worth more than the next and the one before, of those that are there."""
    worth = [by_k[k] for k in sorted(by_k)]
    before, after = [-np.inf, *worth[:-1]], [*worth[1:], -np.inf]
    found = zip(sorted(by_k), worth, before, after, strict=True)
    return [k for k, own, left, right in found if own > max(left, right)]


def _notes(most: int, best: int, labels: NDArray[np.int32], structure: Structure) -> Iterator[str]:
    if best == most > 2:
        yield f"{best} is the largest number that was looked at: look at larger ones, too."
    if np.bincount(labels).min() < SMALL:
        yield f"Of {best} clusters some have fewer than {SMALL} objects: prediction strength cannot see these."
    if (n_references := structure.n_references + structure.n_left_out) < 99:
        yield f"With {n_references} references the test for structure misses more than with 99."


class _Steps:
    """Progress over several loops as one."""

    def __init__(self, progress: Callable[[int, int], None] | None, *lengths: int) -> None:
        self.progress, self.lengths, self.done = progress, lengths, [0] * len(lengths)

    def of(self, loop: int) -> Callable[[int, int], None] | None:
        """What a loop calls; its steps count as so many as were announced."""
        if self.progress is None:
            return None

        def report_progress(done: int, total: int) -> None:
            self.done[loop] = done * self.lengths[loop] // total
            if sum(self.done) < sum(self.lengths):
                self.progress(sum(self.done), sum(self.lengths))  # type: ignore[misc]

        return report_progress

    def end(self) -> None:
        """All is done."""
        if self.progress is not None:
            self.progress(sum(self.lengths), sum(self.lengths))


class KMeansOfScores(NamedTuple):
    """k-means of objects, and what it is given of them: features, or numbers of objects whose distances it knows."""

    model: SmallKMeans | PairKMeans
    X: NDArray[Any]
    squares: NDArray[np.float64] | None
    """(n, n) squared distances, where it goes by them."""

    @classmethod
    def of(cls, scores: NDArray[np.float64]) -> KMeansOfScores:
        """scores : (n, r) the objects."""
        squares = squares_of_pairs(scores)
        if squares is None:
            return cls(SmallKMeans(n_init=N_STARTS), scores, None)
        return cls(PairKMeans(Pairs(squares), n_init=N_STARTS), np.arange(len(scores))[:, None], squares)

    def labels(self, ks: Sequence[int], seed: int) -> dict[int, NDArray[np.int32]]:
        """(n,) clusters for each number."""
        seeds = zip(ks, task_seeds(seed, len(ks)).tolist(), strict=True)
        return {k: self.model.set_params(n_clusters=k, random_state=one).fit(self.X).labels_ for k, one in seeds}


def _silhouette(apart: NDArray[np.float64], labels: NDArray[np.int32]) -> float:
    n_found = len(np.unique(labels))
    return float(silhouette_score(apart, labels, metric="precomputed")) if 1 < n_found < len(labels) else -1.0


def _check_distinct(n_distinct: int) -> None:
    if n_distinct < 3:
        raise ValueError(f"X of choose_k must have 3 different rows at least. Got {n_distinct}. Give more objects.")


def default_k_range(n: int, n_distinct: int) -> list[int]:
    """The numbers of clusters to choose from for n objects, of which so many differ."""
    return list(range(2, max(2, min(10, math.isqrt(n), n // 2, n_distinct - 1)) + 1))


def too_few_rows(n: int) -> ValueError:
    """The number of clusters is not clear, and n objects are too few to guess."""
    rows = f"{n} row{'s' * (n != 1)}"
    text = f"Too few rows to find the number of clusters: the criteria must be clear where there are fewer than {FEW}. "
    return ValueError(Message(f"{text}Got {rows} that are not. Give ", Option("n_clusters"), ", or more rows."))


def _check_k_range(k_range: Iterable[int] | None, n: int, n_distinct: int) -> list[int]:
    _check_distinct(n_distinct)
    if k_range is None:
        return default_k_range(n, n_distinct)
    if not isinstance(k_range, Iterable) or isinstance(k_range, str | bytes):
        raise TypeError(
            f"k_range of choose_k must be several numbers. Got {format_value(k_range)}. Give range(2, 11), for example."
        )
    most = min(n // 2, n_distinct - 1)
    ks = sorted({check_whole(k, "Every k in k_range of choose_k", 2, most) for k in k_range})
    if not ks:
        raise ValueError("k_range of choose_k must hold at least one number. Got none. Give range(2, 11), for example.")
    return ks


EVERY = 10
"""Up to which that is every number."""
MOST_BETWEEN = 24
"""Numbers that are looked at between two of the list."""


def numbers_up_to_root(n: int) -> list[int]:
    """Those of `NUMBERS` that n objects are asked for."""
    return [k for k in NUMBERS if k * k <= max(n, 4)]


def agreement_by_number(
    X: NDArray[np.float64],
    ks: Sequence[int],
    seed: int,
    n_jobs: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> dict[int, float]:
    """For every number of clusters the mean adjusted Rand index of the consensus with the members that have it.

    The members are those of the default with that number and the numbers next to it among ``ks``, ascending; their
    consensus is average linkage. Numbers that no algorithm makes, or more than there are label rows, are left out.
    """
    generator = DiversePartitions(ks, n_jobs=n_jobs, random_state=seed, progress=progress)
    ensemble = Ensemble._made(generator.fit_transform(X))
    numbers, found = generator.n_clusters_, dict[int, float]()
    for i, k in enumerate(ks):
        near = ensemble.select(np.flatnonzero(np.isin(numbers, ks[max(i - 1, 0) : i + 2])))
        own = np.flatnonzero(numbers == k)
        if len(own) and k <= len(near.distinct.codes):
            labels = EvidenceAccumulation(k, n_jobs=n_jobs).fit(near).labels_
            members = np.asarray(ensemble.select(own))
            found[k] = float(np.mean([adjusted_rand_score(labels, member) for member in members.T]))
    return found


def most_agreed(agreement: Mapping[int, float]) -> int:
    """The number with the largest agreement, the larger one on ties."""
    return max(agreement, key=lambda k: (agreement[k], k))


def numbers_around(best: int, ks: Sequence[int]) -> list[int]:
    """``ks``, and all numbers between the neighbours of the best there; of many every other one, or fewer."""
    place = ks.index(best)
    low, high = ks[max(place - 1, 0)], ks[min(place + 1, len(ks) - 1)]
    return sorted({*ks, *range(low, high + 1, 1 + (high - low) // MOST_BETWEEN)})


def agreement_up_to_root(
    X: NDArray[np.float64], n: int, seed: int, n_jobs: int | None, progress: Callable[[int, int], None] | None
) -> dict[int, float]:
    """Of numbers up to √n, n the objects of which X is a sample; of every one around the best."""
    ks = numbers_up_to_root(n)
    found = agreement_by_number(X, ks, seed, n_jobs, progress)
    if found and most_agreed(found) > EVERY:
        found = agreement_by_number(X, numbers_around(most_agreed(found), ks), seed, n_jobs)
    return found
