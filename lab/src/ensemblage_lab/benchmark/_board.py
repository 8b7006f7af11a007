"""Means, intervals, ranks and tests over the sets of a benchmark."""

from __future__ import annotations

import math
import warnings
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata, wilcoxon
from sklearn.metrics import adjusted_rand_score

from ensemblage_lab._store import Result
from ensemblage_lab.benchmark._entries import BASELINES, FEATURES, FORMER, OWN, SCANS, Entry
from ensemblage_lab.benchmark._kinds import KINDS, Traits
from ensemblage_lab.benchmark._scores import unpack_labels

N_RESAMPLES = 2_000
"""Bootstrap samples of the sets."""
TIE = 0.005
"""Differences of the score up to this are ties."""
LOSS = 0.1
"""So far below the best baseline is a loss that is listed."""
NEARLY_ALL = 0.8
"""An entry that was tried on fewer of the sets than this share of what the others were tried on is not compared yet."""
SETTINGS = ("k known", "k found")
MAIN = (FEATURES, "random-k", "diverse")
"""Features and the pools that every set has."""
PLAIN = tuple(name for name in (*BASELINES, *SCANS, "hdbscan") if name not in (OWN, FORMER, "k-means by choose_k"))
"""The baselines that are others' methods."""
BATTERY = "battery"


class Row(NamedTuple):
    """One result."""

    set: str
    pool: str
    entry: Entry
    seed: int
    is_part: bool
    objects: NDArray[np.intp]
    result: Result

    @property
    def labels(self) -> NDArray[np.int64]:
        """(n,) of the objects, −1 for no cluster; empty without a result."""
        if self.result.numbers is None:
            return np.empty(0, dtype=np.int64)
        return unpack_labels(self.result.numbers["labels"], len(self.objects))


class Scope(NamedTuple):
    """Entries that are compared with each other: those with k given, or with k unknown, on some pools."""

    setting: str
    """ "k known" or "k found"."""
    pools: tuple[str, ...]
    is_of_tables: bool = False
    """Whether only sets with more features than a drawing count."""

    @property
    def title(self) -> str:
        """For headings."""
        pools = "" if self.pools == MAIN else f", {' and '.join(self.pools)}"
        return f"{self.setting.replace(' ', ' is ')}{', tables' if self.is_of_tables else ''}{pools}"


class Line(NamedTuple):
    """One entry over the sets of a scope."""

    entry: str
    pool: str
    kind: str
    n_sets: int
    n_finished: int
    """Sets with a number; a set where the entry failed or was not finished counts as 0 in ``over_all``."""
    over_all: float
    """Mean score over all sets, 0 where there is none."""
    low: float
    """95 % interval of that mean, sets drawn with replacement."""
    high: float
    over_common: float
    """Over the sets where every entry of the scope has a number that has one on half of them."""
    n_common: int
    """How many these are."""
    ami: float
    """Mean over all sets, 0 where there is none, as ``nca``."""
    nca: float
    regret: float
    """To the best member, mean over all sets; NaN without a pool."""
    gain: float
    """Over the mean member."""
    k_error: float
    """Mean of found k − true k over the sets with a number."""
    k_far: float
    """Mean of its absolute value over them."""
    k_right: float
    """Share of all sets where k is right."""
    k_few: float
    """Share where it is too small."""
    k_many: float
    """Share where it is too large; the rest has no number."""
    seeds: float
    """Mean ARI between the labels of two seeds."""
    moved: float
    """Mean score with seed 1 less that with seed 0, over the sets with both."""
    part: float
    """Mean ARI with the labels of a run without a tenth of the objects, on the others."""
    seconds: float
    """Of the processor, median of the runs with seed 0, as all below."""
    most_seconds: float
    megabytes: float
    """Largest memory, median."""
    most_megabytes: float

    @property
    def name(self) -> str:
        """The entry, and what it got."""
        return name_of(self.entry, self.pool)


class Comparison(NamedTuple):
    """Two entries over the sets."""

    first: str
    second: str
    difference: float
    low: float
    high: float
    wins: int
    ties: int
    losses: int
    p_value: float
    """Wilcoxon's signed ranks, corrected by Holm's rule over all pairs of the table."""


class Loss(NamedTuple):
    """A set where an entry is far below the best baseline of the scope."""

    entry: str
    set: str
    score: float
    baseline: float


class Board:
    """The results of a benchmark.

    Parameters
    ----------
    rows : sequence of Row
        One per set, pool, entry and seed.
    traits : mapping of str to Traits, optional
        What the kinds of the sets go by.
    score : {"ari", "ami", "nca"}, default "ari"
        What entries are ordered by.
    """

    def __init__(self, rows: Sequence[Row], traits: Mapping[str, Traits] | None = None, score: str = "ari") -> None:
        self.rows: list[Row] = list(rows)
        self.traits: dict[str, Traits] = dict(traits or {})
        self.score = score
        self._values: dict[Scope, tuple[list[str], dict[tuple[str, str], NDArray[np.float64]]]] = {}
        self._lines: dict[Scope, list[Line]] = {}

    @cached_property
    def sets(self) -> list[str]:
        """Names of the sets."""
        return sorted({row.set for row in self.rows})

    @cached_property
    def _groups(self) -> dict[tuple[str, str, str], list[Row]]:
        """The rows of each pool, entry and setting."""
        groups: dict[tuple[str, str, str], list[Row]] = defaultdict(list)
        for row in self.rows:
            groups[row.pool, row.entry.name, row.entry.column].append(row)
        return groups

    def scopes(self) -> list[Scope]:
        """All that have results: the pools that every set has together, the others on their own."""
        found = {(row.entry.column, row.pool) for row in self.rows}
        others = sorted({pool for _, pool in found} - set(MAIN))
        groups = [MAIN, *((pool, FEATURES) if pool == "both" else (pool,) for pool in others)]
        scopes = [Scope(s, pools) for pools in groups for s in SETTINGS if (s, pools[0]) in found or pools == MAIN]
        are_tables = {traits.is_table for traits in self.traits.values()}
        return [*scopes, *(Scope(s, MAIN, is_of_tables=True) for s in SETTINGS if len(are_tables) == 2)]

    def values(self, scope: Scope) -> tuple[list[str], dict[tuple[str, str], NDArray[np.float64]]]:
        """The sets that all entries of a scope were tried on, and scores by (entry, pool), NaN where there is none."""
        if scope not in self._values:
            self._values[scope] = self._find_values(scope)
        return self._values[scope]

    def _find_values(self, scope: Scope) -> tuple[list[str], dict[tuple[str, str], NDArray[np.float64]]]:
        by_set = self._by_set(scope)
        most = max(map(len, by_set.values()), default=0)
        by_set = {key: scores for key, scores in by_set.items() if len(scores) >= NEARLY_ALL * most}
        sets = [name for name in self.sets if by_set and all(name in scores for scores in by_set.values())]
        sets = [name for name in sets if not scope.is_of_tables or self.traits[name].is_table]
        return sets, {(k[1], k[0]): np.array([scores[s] for s in sets]) for k, scores in by_set.items()}

    def _by_set(self, scope: Scope) -> dict[tuple[str, str, str], dict[str, float]]:
        return {k: self.by_set(v) for k, v in self._groups.items() if k[0] in scope.pools and k[2] == scope.setting}

    def incomplete_entries(self, scope: Scope) -> dict[str, int]:
        """Entries that were tried on too few sets yet to stand in the tables, and on how many."""
        _, values = self.values(scope)
        tried = {(k[1], k[0]): len(scores) for k, scores in self._by_set(scope).items()}
        return {name_of(*key): n for key, n in tried.items() if key not in values}

    def by_set(self, rows: Sequence[Row]) -> dict[str, float]:
        """Mean score of each set over the seeds; NaN where there is no number."""
        found: dict[str, list[float]] = defaultdict(list)
        for row in rows:
            if not row.is_part:
                numbers = row.result.numbers
                found[row.set].append(math.nan if numbers is None else float(numbers[self.score]))
        # A seed without a number leaves the set without one: nothing is dropped.
        return {name: float(np.mean(values)) for name, values in found.items()}

    def table(self, scope: Scope) -> list[Line]:
        """One line per entry, the best first."""
        if scope not in self._lines:
            self._lines[scope] = self._find_lines(scope)
        return self._lines[scope]

    def _find_lines(self, scope: Scope) -> list[Line]:
        sets, values = self.values(scope)
        if not sets:
            return []
        missing = [np.isnan(scores) for scores in values.values()]
        common = ~np.any([of for of in missing if of.mean() <= 0.5] or [np.ones(len(sets), dtype=bool)], axis=0)
        lines = []
        for (name, pool), scores in values.items():
            rows = [row for row in self._groups[pool, name, scope.setting] if row.set in sets]
            lines.append(self._line(rows, sets, scores, common))
        return sorted(lines, key=lambda line: -line.over_all)

    def parts(self, scope: Scope) -> dict[str, list[str]]:
        """The sets of a scope by battery, and by each kind of set: "fcps", "features: up to 3"."""
        sets, _ = self.values(scope)
        found: dict[str, list[str]] = defaultdict(list)
        for name in sets:
            found[f"{BATTERY}: {name.partition('/')[0]}"].append(name)
        for name in sets if self.traits else []:
            for rule, kind in self.traits[name].kinds().items():
                found[f"{rule}: {kind}"].append(name)
        order = [f"{rule}: {kind}" for rule, kinds in KINDS.items() for kind in kinds]
        batteries = [part for part in found if part.startswith(BATTERY)]
        return {part: found[part] for part in (*batteries, *order) if part in found}

    def by_part(self, scope: Scope) -> dict[tuple[str, str], dict[str, float]]:
        """Mean score of each entry over the sets of each part, 0 where there is no number."""
        sets, values = self.values(scope)
        parts = {part: np.isin(sets, names) for part, names in self.parts(scope).items()}
        return {
            key: {part: float(np.nan_to_num(scores)[inside].mean()) for part, inside in parts.items()}
            for key, scores in values.items()
        }

    def compare(self, scope: Scope, first: tuple[str, str] | None = None) -> list[Comparison]:
        """One entry, the best if none is named, with every other; 0 where there is no number."""
        sets, values = self.values(scope)
        if len(sets) < 2 or len(values) < 2:
            return []
        filled = {key: np.nan_to_num(scores) for key, scores in values.items()}
        first = first or max(filled, key=lambda key: filled[key].mean())
        others = [key for key in filled if key != first]
        p_values = holm([signed_ranks(filled[first] - filled[key]) for key in others])
        compared = [
            _comparison(name_of(*first), name_of(*key), filled[first] - filled[key], p)
            for key, p in zip(others, p_values, strict=True)
        ]
        return sorted(compared, key=lambda one: one.difference)

    def seconds(self, scope: Scope) -> dict[tuple[str, str], dict[str, float]]:
        """Of the processor, by entry and set, with seed 0."""
        sets, values = self.values(scope)
        return {
            key: {
                row.set: row.result.seconds
                for row in self._groups[key[1], key[0], scope.setting]
                if row.set in sets and row.seed == 0 and not row.is_part
            }
            for key in values
        }

    def best_baseline(self, scope: Scope) -> tuple[str, str] | None:
        """The plain clusterer with the best mean."""
        plain = {(name, FEATURES) for name in PLAIN}
        means = {k: float(np.nan_to_num(v).mean()) for k, v in self.values(scope)[1].items() if k in plain and len(v)}
        return max(means, key=lambda key: means[key]) if means else None

    def losses(self, scope: Scope) -> list[Loss]:
        """Where each entry is more than ``LOSS`` below the best baseline over all, the farthest first."""
        sets, values = self.values(scope)
        baseline = self.best_baseline(scope)
        if baseline is None:
            return []
        below = np.nan_to_num(values[baseline])
        found = [
            Loss(name_of(*key), sets[i], float(score), float(below[i]))
            for key, scores in values.items()
            for i, score in enumerate(np.nan_to_num(scores))
            if below[i] - score > LOSS and key != baseline
        ]
        return sorted(found, key=lambda loss: loss.score - loss.baseline)

    def mean_ranks(self, scope: Scope) -> tuple[dict[str, float], float]:
        """The mean rank of each entry, and Nemenyi's critical difference at 5 %."""
        sets, values = self.values(scope)
        if not sets or len(values) < 2:
            return {}, math.nan
        scores = np.nan_to_num(np.array(list(values.values())))
        ranks = np.mean([rankdata(-of_set) for of_set in scores.T], axis=0)
        names = [name_of(*key) for key in values]
        return dict(zip(names, ranks.tolist(), strict=True)), nemenyi(len(values), len(sets))

    def pools(self) -> list[tuple[str, int, float, float]]:
        """Of each pool: its sets, and the means over them of the mean member and of the best."""
        found: dict[str, list[tuple[float, float]]] = defaultdict(list)
        for (pool, _), members in self._members.items():
            found[pool].append(members)
        return [(pool, len(of), *np.mean(of, axis=0).tolist()) for pool, of in found.items()]

    @cached_property
    def _members(self) -> dict[tuple[str, str], tuple[float, float]]:
        """By pool and set: the scores of the mean member and of the best, mean over the seeds."""
        found: dict[tuple[str, str], dict[int, tuple[float, float]]] = defaultdict(dict)
        for row in self.rows:
            numbers = row.result.numbers
            if numbers is not None and "best_member" in numbers and not row.is_part:
                found[row.pool, row.set][row.seed] = (numbers["mean_member"], numbers["best_member"])
        return {key: tuple(np.mean(list(of.values()), axis=0).tolist()) for key, of in found.items()}

    def failures(self) -> list[tuple[str, str, str, str]]:
        """Set, pool, entry and reason of every cell without a number."""
        return [(r.set, r.pool, r.entry.name, r.result.error) for r in self.rows if r.result.error is not None]

    def _line(self, rows: list[Row], sets: list[str], scores: NDArray[np.float64], common: NDArray[np.bool_]) -> Line:
        filled = np.nan_to_num(scores)
        low, high = bootstrap(filled)
        entry, pool = rows[0].entry, rows[0].pool
        whole = [row for row in rows if not row.is_part]
        first = [row for row in whole if row.seed == 0]

        def by_set(value: Callable[[Mapping[str, Any]], float]) -> NDArray[np.float64]:
            """Mean over the seeds of each set with a number for all of them."""
            of_set: dict[str, list[float]] = defaultdict(list)
            for row in whole:
                of_set[row.set].append(math.nan if row.result.numbers is None else value(row.result.numbers))
            found = [np.mean(of_set[name]) for name in sets]
            return np.array([value for value in found if not np.isnan(value)])

        def share(value: Callable[[Mapping[str, Any]], float]) -> float:
            return float(by_set(value).sum() / len(sets))

        errors = by_set(lambda x: x["k"] - x["true_k"])
        members = [
            (*self._members[pool, name], own)
            for name, own in zip(sets, filled, strict=True)
            if (pool, name) in self._members
        ]
        mean_member, best_member, own = np.mean(members, axis=0).tolist() if members else (math.nan,) * 3
        seconds = [row.result.seconds for row in first]
        megabytes = [row.result.numbers["megabytes"] for row in first if row.result.numbers is not None] or [math.nan]
        return Line(
            entry=entry.name,
            pool=pool,
            kind=entry.kind,
            n_sets=len(sets),
            n_finished=int((~np.isnan(scores)).sum()),
            over_all=float(filled.mean()),
            low=low,
            high=high,
            over_common=float(scores[common].mean()) if common.any() else math.nan,
            n_common=int(common.sum()),
            ami=share(lambda x: x["ami"]),
            nca=share(lambda x: x["nca"]),
            regret=best_member - own,
            gain=own - mean_member,
            k_error=float(errors.mean()) if len(errors) else math.nan,
            k_far=float(by_set(lambda x: abs(x["k"] - x["true_k"])).mean()) if len(errors) else math.nan,
            k_right=share(lambda x: x["k"] == x["true_k"]),
            k_few=share(lambda x: x["k"] < x["true_k"]),
            k_many=share(lambda x: x["k"] > x["true_k"]),
            seeds=_between(rows, False),
            moved=self._seed_difference(whole),
            part=_between(rows, True),
            seconds=float(np.median(seconds)),
            most_seconds=max(seconds),
            megabytes=float(np.median(megabytes)),
            most_megabytes=max(megabytes),
        )

    def _seed_difference(self, rows: Sequence[Row]) -> float:
        """Mean score with seed 1 less that with seed 0 over the sets with both."""
        scores: dict[int, dict[str, float]] = {0: {}, 1: {}}
        for row in rows:
            if row.result.numbers is not None and row.seed in scores:
                scores[row.seed][row.set] = float(row.result.numbers[self.score])
        both = scores[0].keys() & scores[1].keys()
        return float(np.mean([scores[1][name] - scores[0][name] for name in sorted(both)])) if both else math.nan


def name_of(entry: str, pool: str) -> str:
    """How tables and pictures call it."""
    return entry if pool == FEATURES else f"{entry} on {pool}"


def _comparison(first: str, second: str, differences: NDArray[np.float64], p: float) -> Comparison:
    low, high = bootstrap(differences)
    wins, losses = int((differences > TIE).sum()), int((differences < -TIE).sum())
    ties = len(differences) - wins - losses
    return Comparison(first, second, float(differences.mean()), low, high, wins, ties, losses, p)


def _between(rows: Sequence[Row], part: bool) -> float:
    """Mean ARI over the sets between the labels of seed 0 and of seed 1, or of the run on a part of the objects."""
    found = []
    by_set: dict[str, dict[tuple[int, bool], Row]] = defaultdict(dict)
    for row in rows:
        if row.result.numbers is not None:
            by_set[row.set][row.seed, row.is_part] = row
    for runs in by_set.values():
        first, second = runs.get((0, False)), runs.get((0, True) if part else (1, False))
        if first and second:
            found.append(adjusted_rand_score(first.labels[second.objects], second.labels))
    return float(np.mean(found)) if found else math.nan


def bootstrap(values: NDArray[np.float64]) -> tuple[float, float]:
    """95 % percentile interval of the mean, values drawn with replacement."""
    drawn = np.random.default_rng(0).integers(len(values), size=(N_RESAMPLES, len(values)))
    low, high = np.quantile(values[drawn].mean(axis=1), [0.025, 0.975])
    return float(low), float(high)


def signed_ranks(differences: NDArray[np.float64]) -> float:
    """p value of Wilcoxon's test that differences are symmetric about 0; 1 if all are 0."""
    if not differences.any():
        return 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # SciPy before 1.13 says where it approximates for zeros among few
        return float(wilcoxon(differences, zero_method="zsplit").pvalue)


def holm(p_values: Sequence[float]) -> list[float]:
    """p values corrected for their number (Holm 1979)."""
    order, corrected, largest = np.argsort(p_values), [0.0] * len(p_values), 0.0
    for rank, i in enumerate(order):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[i]))
        corrected[i] = largest
    return corrected


def nemenyi(k: int, n: int) -> float:
    """Critical difference of mean ranks of k entries over n sets at 5 % (Demšar 2006)."""
    from scipy.stats import studentized_range

    return float(studentized_range.ppf(0.95, k, np.inf) / math.sqrt(2) * math.sqrt(k * (k + 1) / (6 * n)))
