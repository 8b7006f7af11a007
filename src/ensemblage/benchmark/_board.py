"""Means, intervals, ranks and tests over the sets of a benchmark."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata, wilcoxon
from sklearn.metrics import adjusted_rand_score

from ensemblage.benchmark._entries import Entry
from ensemblage.benchmark._kinds import Traits
from ensemblage.benchmark._scores import unpacked
from ensemblage.reproduce._store import Result

N_RESAMPLES = 2_000
"""Bootstrap samples of the sets."""
TIE = 0.005
"""Differences of the score up to this are ties."""


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
        return unpacked(self.result.numbers["labels"], len(self.objects))


class Line(NamedTuple):
    """One entry over all sets."""

    entry: str
    pool: str
    column: str
    n_sets: int
    n_finished: int
    """Sets with a number; a set where the entry failed or was not finished counts as 0 in ``over_all``."""
    over_all: float
    """Mean score over all sets, 0 where there is none."""
    low: float
    """95 % interval of that mean, sets drawn with replacement."""
    high: float
    over_finished: float
    scores: dict[str, float]
    """Mean of the other scores over the sets with a number."""
    regret: float
    """To the best member, mean; NaN without a pool."""
    gain: float
    """Over the mean member."""
    k_error: float
    """Mean of found k − true k."""
    k_right: float
    """Share of sets where k is right."""
    seeds: float
    """Mean ARI between the labels of two seeds."""
    part: float
    """Mean ARI with the labels of a run without a tenth of the objects, on the others."""
    seconds: float
    """Of the processor, median."""
    megabytes: float
    """Largest memory, median."""


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
        self.rows = list(rows)
        self.traits = dict(traits or {})
        self.score = score

    @cached_property
    def sets(self) -> list[str]:
        """Names of the sets."""
        return sorted({row.set for row in self.rows})

    @cached_property
    def _groups(self) -> dict[tuple[str, str, str], list[Row]]:
        groups: dict[tuple[str, str, str], list[Row]] = defaultdict(list)
        for row in self.rows:
            groups[row.pool, row.entry.name, row.entry.column].append(row)
        return groups

    def table(self, battery: str | None = None) -> list[Line]:
        """One line per entry, the best first.

        Parameters
        ----------
        battery : str, optional
            Only the sets of this one.

        Returns
        -------
        list of Line
        """
        lines = []
        for (pool, name, column), rows in self._groups.items():
            chosen = [r for r in rows if battery is None or r.set.partition("/")[0] == battery]
            if chosen:
                lines.append(self._line(pool, name, column, chosen))
        return sorted(lines, key=lambda line: -line.over_all)

    def by_set(self, rows: Sequence[Row]) -> dict[str, float]:
        """Mean score of each set over the seeds; NaN where there is no number."""
        found: dict[str, list[float]] = defaultdict(list)
        for row in rows:
            if not row.is_part:
                numbers = row.result.numbers
                found[row.set].append(math.nan if numbers is None else float(numbers[self.score]))
        # A seed without a number leaves the set without one: nothing is dropped.
        return {name: float(np.mean(values)) for name, values in found.items()}

    def compare(self, column: str, pools: Sequence[str]) -> list[Comparison]:
        """The best entry of a setting with every other, over the sets that all have; 0 where there is no number."""
        groups = {k: self.by_set(v) for k, v in self._groups.items() if k[2] == column and k[0] in pools}
        names = {key: f"{key[1]} on {key[0]}" for key in groups}
        common = [name for name in self.sets if groups and all(name in scores for scores in groups.values())]
        if len(common) < 2 or len(groups) < 2:
            return []
        values = {key: np.nan_to_num(np.array([scores[s] for s in common])) for key, scores in groups.items()}
        best = max(values, key=lambda key: values[key].mean())
        others = [key for key in values if key != best]
        p_values = holm([signed_ranks(values[best] - values[key]) for key in others])
        return [
            self._comparison(names[best], names[key], values[best] - values[key], p)
            for key, p in zip(others, p_values, strict=True)
        ]

    def mean_ranks(self, column: str, pools: Sequence[str]) -> tuple[dict[str, float], float]:
        """The mean rank of each entry over the common sets, and Nemenyi's critical difference at 5 %."""
        groups = {k: self.by_set(v) for k, v in self._groups.items() if k[2] == column and k[0] in pools}
        common = [name for name in self.sets if groups and all(name in scores for scores in groups.values())]
        if not common or len(groups) < 2:
            return {}, math.nan
        values = np.nan_to_num(np.array([[scores[s] for s in common] for scores in groups.values()]))
        ranks = np.mean([rankdata(-column) for column in values.T], axis=0)
        k, n = len(groups), len(common)
        return {f"{key[1]} on {key[0]}": float(r) for key, r in zip(groups, ranks, strict=True)}, nemenyi(k, n)

    def failures(self) -> list[tuple[str, str, str, str]]:
        """Set, pool, entry and reason of every cell without a number."""
        return [(r.set, r.pool, r.entry.name, r.result.error) for r in self.rows if r.result.error is not None]

    def _line(self, pool: str, name: str, column: str, rows: list[Row]) -> Line:
        by_set = self.by_set(rows)
        scores = np.array(list(by_set.values()))
        filled = np.nan_to_num(scores)
        low, high = bootstrap(filled)
        whole = [r.result.numbers for r in rows if r.result.numbers is not None and not r.is_part]

        def mean(value: str, minus: str | None = None) -> float:
            found = [x[value] - (x[minus] if minus else 0.0) for x in whole if value in x and (not minus or minus in x)]
            return float(np.mean(found)) if found else math.nan

        return Line(
            name,
            pool,
            column,
            len(scores),
            int((~np.isnan(scores)).sum()),
            float(filled.mean()),
            low,
            high,
            float(np.nanmean(scores)) if (~np.isnan(scores)).any() else math.nan,
            {score: mean(score) for score in ("ari", "ami", "nca")},
            -mean(self.score, "best_member"),
            mean(self.score, "mean_member"),
            mean("k", "true_k"),
            float(np.mean([x["k"] == x["true_k"] for x in whole])) if whole else math.nan,
            _between(rows, False),
            _between(rows, True),
            float(np.median([r.result.seconds for r in rows if not r.is_part])),
            float(np.median([x["megabytes"] for x in whole])) if whole else math.nan,
        )

    def _comparison(self, first: str, second: str, differences: NDArray[np.float64], p: float) -> Comparison:
        low, high = bootstrap(differences)
        wins, losses = int((differences > TIE).sum()), int((differences < -TIE).sum())
        ties = len(differences) - wins - losses
        return Comparison(first, second, float(differences.mean()), low, high, wins, ties, losses, p)


def _between(rows: Sequence[Row], part: bool) -> float:
    """Mean ARI over the sets between the labels of seed 0 and of seed 1, or of the run on a part of the objects."""
    found = []
    for name in {row.set for row in rows}:
        runs = {(r.seed, r.is_part): r for r in rows if r.set == name and r.result.numbers is not None}
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
    return float(wilcoxon(differences, zero_method="zsplit").pvalue) if differences.any() else 1.0


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
