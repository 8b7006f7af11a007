"""SALSO (Dahl, Johnson & Müller 2022): the partition with the least expected loss under draws from a posterior."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.memory import MAX_BYTES, OVERHEAD, Need
from ensemblage.base.random import task_seeds
from ensemblage.base.threads import check_stopped, parallel_map, rows_per_call, thread_count
from ensemblage.base.validation import MOST_TASKS, Bytes, Constraints, Number, Seed, Whole, Words
from ensemblage.consensus._base import BaseConsensus, renumber_parts
from ensemblage.consensus._capabilities import Capabilities
from ensemblage.kernels._partition_loss import (
    ID,
    NID,
    NVI,
    OMARI,
    PLAIN,
    PartitionLoss,
    PartitionTables,
    count_rows,
    least_partition,
    place_rows,
    second_best,
    sum_tables,
)
from ensemblage.labels.blocks import LabelRows
from ensemblage.labels.rows import Rows
from ensemblage.metrics._align import match_rows
from ensemblage.metrics._posterior import (
    FRACTIONS,
    LOSSES,
    OF_PAIRS,
    POOLED,
    DrawLosses,
    Sums,
    check_loss,
    draw_losses,
)

KINDS = {"vi": PLAIN, "gvi": PLAIN, "binder": PLAIN, "omari": OMARI, "nvi": NVI, "id": ID, "nid": NID}
LEAST_GAIN = 1e-9
"""By how much a move must lower the loss of a draw, in bits or pairs times objects; of a ratio, see `RATIO_GAIN`."""
RATIO_GAIN = 1e-12
ROUNDING = 1e-15
"""Share of g of all objects that is noise."""
LOWER = 1e-12
"""By how much the loss must fall for what a zealous update or a chain made to be kept."""
MUTATED = 0.05
"""Share of all rows that a recombination allocates again beside those on which its two partitions differ."""
LONG_EFFORT, SHORT_EFFORT, MOST_LONG = (20, 4), (3, 1), 10**5
"""Rounds of a search, and searches, up to so many labels (distinct rows times draws); the same for more; how many."""
N_PARTITIONS, MOST_ENUMERATED = (1, 1, 2, 5, 15, 52, 203, 877, 4140, 21147), 2**23
"""Partitions of so many rows, and how many of them times draws are compared instead of searched."""
N_COMPARED = 32
"""Most draws of which the best one is a start."""
N_SHAKES, MOST_SHAKEN = 4, 32
"""Shakes for each start where two of them agree, and up to how many rows: of more they take longer than the starts."""
ONE, BEST_DRAW = 4, 5
"""Kinds of starts that a fit has once: a single cluster, and the best draw."""
SAME = 1e-9
"""Losses that differ by no more are of the same partition, as far as one can tell."""
MOST_TABULATED = 2**22
"""Objects up to which g is a table."""


class Settings(NamedTuple):
    """Most clusters, how long to search, and threads."""

    n_clusters: int
    n_init: int
    max_zealous: int
    n_rounds: int
    n_searches: int
    max_iter: int
    n_jobs: int | None = None


class Run(NamedTuple):
    """What a start or a recombination ended with."""

    loss: float
    labels: NDArray[np.int32]
    """(m,)"""
    n_iter: int


def salso(
    codes: LabelRows,
    counts: NDArray[np.int64],
    offsets: NDArray[np.int64],
    weights: NDArray[np.float64],
    loss: str,
    a: float,
    settings: Settings,
    seeds: Sequence[NDArray[np.int64]],
) -> tuple[Run, list[Run]]:
    """The best partition of m rows by its expected loss under p draws, and the starts of all searches.

    SALSO (Dahl et al., Sec. 3) is the starts alone. Few rows have so few partitions that all are compared. Else starts
    that agree are shaken, and others recombined: search by search, and then the best ones of all searches.

    codes : (m, p) in memory
    counts : (m,) objects of each row
    offsets : (p + 1,)
    weights : (p,)
    seeds : those of the starts and of the rounds of each search, and one of the rounds after all of them
    """
    draws, (m, p), (*of_searches, last) = Draws(codes, counts, offsets, weights, loss, a), codes.shape, seeds
    start, kinds = partial(one_start, draws, settings), [i % 4 for i in range(settings.n_init)]
    first_kinds = {1: ONE, 3: BEST_DRAW} if m * p <= MOST_LONG else {1: ONE}
    first = [first_kinds.get(i, kind) for i, kind in enumerate(kinds)]
    starts = parallel_map(start, zip(first, of_searches[0][:-1], strict=True), settings.n_jobs)
    found, (least, second, *_) = starts, [*sorted(run.loss for run in starts), np.inf]
    if settings.n_rounds and m < len(N_PARTITIONS) and N_PARTITIONS[m] * p <= MOST_ENUMERATED:
        found = [least_of_all(draws, settings)]
    elif settings.n_rounds and second <= least + SAME:
        if m <= MOST_SHAKEN:
            found = shaken(draws, settings, starts, of_searches[0][-1])
    elif settings.n_rounds:
        n_kept = -(-settings.n_init // settings.n_searches)  # of each search, recombined with those of the others
        ends = recombined(draws, settings, starts, of_searches[0][-1])[:n_kept]
        for of_search in of_searches[1:]:
            more = parallel_map(start, zip(kinds, of_search[:-1], strict=True), settings.n_jobs)
            ends += recombined(draws, settings, more, of_search[-1])[:n_kept]
            starts = [*starts, *more]
        found = recombined(draws, settings, ends, last[0]) if settings.n_searches > 1 else ends
    best = min(found, key=lambda run: run.loss)
    if draws.tabulated:  # from whole numbers
        losses = draw_losses(codes, counts, offsets, best.labels, loss, a, settings.n_jobs)
        best = best._replace(loss=losses.expected(weights, loss))
    return best, starts


def one_start(draws: Draws, settings: Settings, task: tuple[int, int]) -> Run:
    """A run of SALSO (Dahl et al., Sec. 3): begin, sweeten, update zealously.

    task : the kind of the start, and its seed
    """
    kind, seed = task
    search = Search(draws, settings, np.random.RandomState(seed))
    search.start(kind)
    search.sweeten()
    search.update_zealously(settings.max_zealous)
    return search.end()


def least_of_all(draws: Draws, settings: Settings) -> Run:
    """The best of all partitions, of few rows."""
    search = Search(draws, settings, np.random.RandomState(0))
    best = np.empty(len(draws.counts), dtype=np.int32)
    tables = search.tables._replace(gains=search.tables.gains[:0], sums=np.zeros((len(draws.weights), 3)))
    least_partition(draws.of_kernels, tuple(tables), best)
    search.set_labels(best)
    return search.end()


def shaken(draws: Draws, settings: Settings, runs: Sequence[Run], seed: int) -> list[Run]:
    """Shake the best partition, a few times for each start, until a round finds no lower loss."""
    random, best = np.random.RandomState(seed), min(runs, key=lambda run: run.loss)
    for _ in range(settings.n_rounds):
        seeds, shake = task_seeds(random, settings.n_init).tolist(), partial(one_shake, draws, settings, best.labels)
        before, best = best, min(parallel_map(shake, seeds, settings.n_jobs), key=lambda run: run.loss)
        if best.loss >= before.loss - SAME:
            return [before, best]
    return [best]


def one_shake(draws: Draws, settings: Settings, labels: NDArray[np.int32], seed: int) -> Run:
    """A few shakes of a partition."""
    search = Search(draws, settings, np.random.RandomState(seed))
    search.set_labels(labels)
    search.shake(N_SHAKES)
    return search.end()


def recombined(draws: Draws, settings: Settings, runs: Sequence[Run], seed: int) -> list[Run]:
    """The best partitions, lowest loss first: rounds of recombinations within a pool, chains from the best one."""
    random, pool = np.random.RandomState(seed), best_of(runs, settings.n_init)
    for _ in range(settings.n_rounds):
        if len(pool) < 2:
            break
        ones = np.arange(settings.n_init) % len(pool)
        others = (ones + random.randint(1, len(pool), settings.n_init)) % len(pool)
        seeds = random.randint(2**31 - 1, size=settings.n_init)
        tasks = zip(ones.tolist(), others.tolist(), seeds.tolist(), strict=True)
        found = parallel_map(partial(one_recombination, draws, settings, pool), tasks, settings.n_jobs)
        pool = best_of([*pool, *found], settings.n_init)
    search = Search(draws, settings, random)
    search.set_labels(pool[0].labels)
    search.move_in_chains(settings.n_rounds * settings.n_init)
    return best_of([search.end(), *pool], settings.n_init)


def one_recombination(draws: Draws, settings: Settings, pool: Sequence[Run], task: tuple[int, int, int]) -> Run:
    """Of two partitions of a pool.

    task : their places in it, and a seed
    """
    one, other, seed = task
    search = Search(draws, settings, np.random.RandomState(seed))
    search.recombine(pool[one].labels, pool[other].labels)
    return search.end()


def best_of(runs: Sequence[Run], n_runs: int) -> list[Run]:
    """So many runs with the lowest losses, of each loss one, lowest first."""
    kept: list[Run] = []
    for run in sorted(runs, key=lambda run: run.loss):
        if not kept or run.loss > kept[-1].loss + SAME:
            kept.append(run)
    return kept[:n_runs]


# ---- A partition that is changed ----


class Draws:
    """The draws as a search sees them."""

    def __init__(
        self,
        codes: LabelRows,
        counts: NDArray[np.int64],
        offsets: NDArray[np.int64],
        weights: NDArray[np.float64],
        loss: str,
        a: float,
    ) -> None:
        self.codes, self.counts, self.weights = np.ascontiguousarray(codes[:]), counts, weights
        self.loss, self.a, self.kind = loss, a, KINDS[loss]
        self.n_clusters = np.diff(offsets) - 1
        self.complete = not (self.codes == self.n_clusters).any()
        n = int(counts.sum())
        self.tabulated = n <= MOST_TABULATED
        x = np.arange(max(2, min(n, MOST_TABULATED)) + 1, dtype=np.float64)
        self.g = x * x if loss in OF_PAIRS else x * np.log2(np.maximum(x, 1))
        noise = ROUNDING * (float(n) * n if loss in OF_PAIRS else n * np.log2(max(float(n), 1)))
        margin = float(weights.sum()) * (max(LEAST_GAIN, noise) if loss in POOLED else RATIO_GAIN)
        of_rows = self.codes, counts, offsets, weights
        self.of_kernels: tuple[Any, ...] = tuple(PartitionLoss(*of_rows, self.g, self.kind, float(a), margin))


class Search:
    """A partition of the rows that is changed row by row, with its tables with all draws."""

    def __init__(self, draws: Draws, settings: Settings, random: np.random.RandomState) -> None:
        (m, p), K, d = draws.codes.shape, settings.n_clusters, int(draws.n_clusters.sum()) + len(draws.n_clusters)
        self.draws, self.random, self.max_iter, self.n_iter = draws, random, settings.max_iter, 0
        self.tables = PartitionTables(
            labels=np.full(m, -1, dtype=np.int32),
            n_rows=np.zeros(K, dtype=np.int64),
            table=np.zeros((d, K + 1), dtype=np.int32),
            gains=np.full((d if draws.kind == PLAIN and draws.tabulated else 0, K), draws.g[1]),
            totals=np.zeros((1 if draws.complete else p, K + 1), dtype=np.int64),
            sums=np.zeros((0 if draws.kind == PLAIN else p, 3)),
        )
        self.labels, self.n_rows = self.tables.labels, self.tables.n_rows
        self._rows_per_call = rows_per_call(2 * p * (K + 1), m)

    def end(self) -> Run:
        """Where the search is."""
        return Run(self.loss(), self.labels, self.n_iter)

    def loss(self) -> float:
        """Expected loss, from the tables; what they hold of ratios is counted anew."""
        draws, sums = self.draws, np.empty((len(self.draws.weights), 3))
        sum_tables(draws.of_kernels, tuple(self.tables), sums)
        if len(self.tables.sums):
            self.tables.sums[:] = sums
        n = np.broadcast_to(self.tables.totals[:, -1], len(sums)).astype(np.float64)
        g_n = n * n if draws.loss in OF_PAIRS else n * np.log2(np.maximum(n, 1))
        u, v, t = sums.T
        fractions = FRACTIONS[draws.loss](Sums(u, v, t, n, g_n), draws.a)
        return DrawLosses(*fractions, n > 0).expected(draws.weights, draws.loss)

    # -- How rows get other clusters --

    def place(self, order: NDArray[np.int64]) -> int:
        """Put rows into their best clusters, one after the other; how many have another one now."""
        moved = 0
        for start in range(0, len(order), self._rows_per_call):
            check_stopped()
            some = order[start : start + self._rows_per_call]
            moved += place_rows(some, self.draws.of_kernels, tuple(self.tables))
        return moved

    def put(self, rows: NDArray[np.int64], clusters: Any = None) -> None:
        """Take rows out of their clusters, and put them into others: given ones, or their best ones in turn."""
        counts, of_kernels, tables = self.draws.counts, self.draws.of_kernels, tuple(self.tables)
        count_rows(rows, -counts, of_kernels, tables)
        if clusters is None:
            self.place(rows)
        else:
            self.labels[rows] = clusters
            count_rows(rows, counts, of_kernels, tables)

    def set_labels(self, labels: NDArray[Any], *, complete: bool = False) -> None:
        """Begin with clusters of the rows, -1 for none; ``complete``: these are then placed in a random order."""
        self.labels[:] = -1
        for array in (self.n_rows, self.tables.table, self.tables.totals, self.tables.sums):
            array[:] = 0
        self.tables.gains[:] = self.draws.g[1]
        self.put(np.arange(len(labels)), labels)
        if complete:
            order = self.random.permutation(len(labels))
            self.place(order[labels[order] < 0])

    def keep_lower(self, before: NDArray[np.int32], least: float) -> float:
        """The loss, if it is lower than ``least``; else that, with the clusters as they were before."""
        found = self.loss()
        if found < least - LOWER:
            return found
        changed = np.flatnonzero(self.labels != before)
        self.put(changed, before[changed])
        return least

    # -- SALSO --

    def start(self, kind: int) -> None:
        """Begin with one of five kinds of partitions.

        0, 2: sequential allocation of all rows in a random order; 1: random clusters; 3: those of a random draw, where
        what it does not label, or has in more clusters than are allowed, is allocated after the others; ONE: a single
        cluster; BEST_DRAW: the best of some draws.
        """
        m, p, K = len(self.labels), len(self.draws.weights), len(self.n_rows)
        if kind in (0, 2):
            self.set_labels(np.full(m, -1), complete=True)
        elif kind == 1:
            self.set_labels(self.random.randint(K, size=m), complete=True)
        elif kind == 3:
            self.set_labels(self.draw(self.random.randint(p)), complete=True)
        elif kind == ONE:
            self.set_labels(np.zeros(m, dtype=np.int64))
        else:
            least, best = np.inf, self.labels.copy()
            for j in range(p) if p <= N_COMPARED else self.random.permutation(p)[:N_COMPARED].tolist():
                self.set_labels(self.draw(j), complete=True)
                if self.loss() < least - LOWER:
                    least, best = self.loss(), self.labels.copy()
            self.set_labels(best)

    def draw(self, j: int) -> NDArray[np.int64]:
        """Clusters of the rows in a draw, -1 for those that it does not label or that are too many."""
        labels = self.draws.codes[:, j].astype(np.int64)
        labels[labels >= min(len(self.n_rows), self.draws.n_clusters[j])] = -1
        return labels

    def sweeten(self) -> None:
        """Sweep over all rows in random orders until no row moves."""
        for _ in range(self.max_iter):
            self.n_iter += 1
            if not self.place(self.random.permutation(len(self.labels))):
                break

    def update_zealously(self, n_updates: int) -> None:
        """Empty a cluster, allocate its rows again, sweeten; keep that if the loss falls."""
        least = self.loss()
        clusters = self.random.permutation(np.flatnonzero(self.n_rows > 1))
        for k in clusters[:n_updates]:
            before = self.labels.copy()
            members = self.random.permutation(np.flatnonzero(before == k))
            if not len(members):
                continue
            self.put(members)
            target = self.labels[members[0]]
            if (self.labels[members] == target).all() and self.n_rows[target] == len(members):
                continue  # they are together again, and alone
            self.sweeten()
            least = self.keep_lower(before, least)

    # -- The memetic search --

    def shake(self, n_shakes: int) -> None:
        """Put half of the rows into random clusters and sweep; keep that if the loss falls."""
        least, m = self.loss(), len(self.labels)
        for _ in range(n_shakes):
            before, moved = self.labels.copy(), self.random.permutation(m)[: -(-m // 2)]
            self.put(moved, self.random.randint(len(self.n_rows), size=len(moved)))
            self.sweeten()
            least = self.keep_lower(before, least)

    def recombine(self, one: NDArray[np.int32], other: NDArray[np.int32]) -> None:
        """Begin with the first of two partitions.

        Allocate the rows again whose clusters are not matched with those that they have in the second, and a few
        others; then sweep.
        """
        self.set_labels(one)
        table = np.zeros((len(self.n_rows), len(self.n_rows)), dtype=np.int64)
        np.add.at(table, (one, other), self.draws.counts)
        is_free, m = match_rows(table)[one] != other, len(one)
        is_free[self.random.permutation(m)[: int(np.ceil(MUTATED * m))]] = True
        self.put(self.random.permutation(np.flatnonzero(is_free)))
        self.sweeten()

    def move_in_chains(self, n_chains: int) -> None:
        """Move a row to its second-best cluster, let the others follow, sweep; keep that if the loss falls.

        The rows for which that cluster is least worse come first; again until no chain of all rows lowers the loss.
        """
        least, found, m = self.loss(), True, len(self.labels)
        targets, margins = np.empty(m, dtype=np.int64), np.empty(m)
        while found and n_chains > 0:
            found = False
            second_best(self.draws.of_kernels, tuple(self.tables), targets, margins)
            for i in np.argsort(margins, kind="stable")[:n_chains].tolist():
                before, k = self.labels.copy(), int(targets[i])
                if k < 0 or k == before[i]:
                    continue
                self.put(np.array([i]), k)
                others = self.random.permutation(m)
                self.place(others[others != i])
                self.n_iter += 1
                self.sweeten()
                now = self.keep_lower(before, least)
                found |= now < least
                least = now
                n_chains -= 1


@dataclass(eq=False, repr=False)
class SalsoConsensus(BaseConsensus):
    """Use it for draws from a posterior: the partition with the least expected loss (SALSO).

    Draws of Markov chain Monte Carlo from a Bayesian mixture are partitions of the same objects. This is their point
    estimate: of all partitions the one whose mean loss to the draws is least, as far as a stochastic search finds it.

    Parameters
    ----------
    n_clusters : int, optional
        Number of clusters of the consensus, at most; no more than the distinct label rows. Default: as many as the
        draw with most of them has.
    loss : {"vi", "gvi", "binder", "omari", "nvi", "id", "nid"}, default "vi"
        The loss of a partition and a draw, see `posterior.expected_loss`.
    a : float, default 1
        Price of parting objects that a draw joins, from 0 to 2, for "gvi" and "binder"; joining parted ones costs
        2 - ``a``. The larger, the fewer clusters.
    n_init : int, default 16
        Number of starts, the one with the least loss wins: the expected one.
    max_zealous : int, default 10
        Most clusters of a start that are emptied and allocated again.
    n_rounds : int, optional
        Rounds of ``n_init`` recombinations of two of the best partitions. If two starts end with the same least loss,
        the most rounds of shakes of up to 32 rows, and none of more. None is 20 for up to 10⁵ labels, distinct rows
        times draws, and 3 for more. 0 takes the best start, of few rows, too.
    n_searches : int, optional
        Searches of ``n_init`` starts and ``n_rounds`` rounds, whose best partitions are recombined; one if two starts
        of the first end with the same least loss. None is 4 for up to 10⁵ labels, and 1 for more.
    max_iter : int, default 100
        Most iterations per start: sweeps over all rows, and as many after each step that allocates rows again.
    weights : array-like of shape (n_partitions,) or "agreement", optional
        Weight of each partition; 0 leaves it out, 2 is the partition twice. Default: one each. "agreement":
        `metrics.agreement_weights`.
    max_bytes : int or str, default 2 GiB
        Most memory that the fit takes at its peak beyond the labels, in bytes or as text such as "4GB"; a fit that
        would take more is refused.
    n_jobs : int, optional
        Threads. -1: every core that this process may use; -2: all but one. None: what a ``joblib.parallel_config``
        says; without one every core, or 1 inside a parallel loop of joblib or scikit-learn. The result does not depend
        on it.
    random_state : int, RandomState, Generator or None
        Seed of the starts.

    Attributes
    ----------
    labels_ : ndarray of shape (n_objects,), int32
        Clusters numbered by decreasing size; -1 for an object that no partition labels.
    confidence_ : ndarray of shape (n_objects,)
        Confidence: for / (for + against), over the partitions that join the object with members of its own cluster or
        of another one but not of both; see `metrics.confidence`. 1: no partition supports another cluster. ½: two
        clusters have equal support. 1 for all objects if there is one cluster. Not a probability of being correct.
    runner_up_ : ndarray of shape (n_objects,), int32
        The other cluster with the most support; -1 if there is none.
    cohesion_ : ndarray of shape (n_objects,)
        Mean co-association of the object with the other members of its cluster, from 0 to 1: small if the
        partitions are fine, even if they agree.
    n_clusters_ : int
    objective_ : float
        Expected loss of ``labels_``; in bits for "vi", "gvi" and "id". Least is best.
    losses_ : ndarray of shape (n_init,) or (n_searches * n_init,)
        What each start ended with, before recombinations.
    n_iter_ : int
        Sweeps of the start, recombination, chains or shakes that ended with the least loss; 0 if all partitions were
        compared.
    n_features_in_, feature_names_in_
        As in scikit-learn: partitions and their names.

    Raises
    ------
    ValueError
        If ``n_clusters`` exceeds the number of distinct label rows, the fit would take more than ``max_bytes``, ``a``
        is not 1 with a loss that has no price, or a parameter is out of its range.

    See Also
    --------
    ConsensusModes : Several partitions, where one cannot stand for the draws.

    Notes
    -----
    Up to nine distinct label rows have at most 21,147 partitions. If these times the draws are no more than 2²³, all of
    them are compared, and no other has a lower loss.

    SALSO is the starts: rows are allocated one after the other, swept over until none moves, and clusters are emptied
    and allocated again. Where no two starts agree, a memetic search follows, which SALSO does not have. Of up to 10⁵
    labels it takes about 40 times as long as the starts of one search (docs/BENCHMARKS.md); ``n_searches=1`` takes 9
    times as long, and ``n_rounds=0`` leaves it out. :doc:`Latent classes and draws </theory/latent>` has its steps.

    O(m p k) time for a sweep of m distinct label rows of p draws; bytes: m p for the rows, and 12 Σk (k + 1) for each
    start that runs at the same time, where Σk are the clusters of all draws and k is the most of the estimate. Nothing
    has the size of pairs of objects. Objects with equal rows stay together.

    References
    ----------
    D. B. Dahl, D. J. Johnson and P. Müller, "Search algorithms and loss functions for Bayesian clustering", Journal of
    Computational and Graphical Statistics 31, 2022. S. Wade and Z. Ghahramani, "Bayesian cluster analysis: point
    estimation and credible balls", Bayesian Analysis 13, 2018. P. Galinier and J.-K. Hao, "Hybrid evolutionary
    algorithms for graph coloring", Journal of Combinatorial Optimization 3, 1999. F. Glover, "Ejection chains,
    reference structures and alternating path methods", Discrete Applied Mathematics 65, 1996.

    Examples
    --------
    >>> from ensemblage.consensus import SalsoConsensus
    >>> draws = [[0, 0, 0], [0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 1, 1], [1, 2, 1]]  # a column for each draw
    >>> model = SalsoConsensus(random_state=0).fit(draws)
    >>> model.labels_
    array([0, 0, 0, 1, 1, 1], dtype=int32)
    >>> round(model.objective_, 6)
    0.486383
    """

    _capabilities: ClassVar[Capabilities] = Capabilities(
        in_memory="visits them in random orders", finds_n_clusters=True
    )
    _parameter_constraints: ClassVar[Constraints] = {
        "loss": [Words(LOSSES)],
        "a": [Number(least=0, most=2)],
        "n_init": [Whole(1, MOST_TASKS)],
        "max_zealous": [Whole(0)],
        "n_rounds": [Whole(0, MOST_TASKS), None],
        "n_searches": [Whole(1, MOST_TASKS), None],
        "max_iter": [Whole(1)],
        "max_bytes": [Bytes()],
        "random_state": [Seed()],
    }

    n_clusters: int | None = None
    _: KW_ONLY
    loss: str = "vi"
    a: float = 1.0
    n_init: int = 16
    max_zealous: int = 10
    n_rounds: int | None = None
    n_searches: int | None = None
    max_iter: int = 100
    weights: Any = None
    max_bytes: int | str = MAX_BYTES
    n_jobs: int | None = None
    random_state: Any = None

    objective_: float = field(init=False)
    losses_: NDArray[np.float64] = field(init=False)
    n_iter_: int = field(init=False)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_loss(self.loss, self.a, type(self).__name__)

    def _fit(self, rows: Rows) -> NDArray[Any]:
        K = min(self._check_n_clusters(rows) or int(rows.n_clusters.max()), len(rows))
        # Fewer rounds and searches of many labels, of which each takes long.
        n_rounds, n_searches = LONG_EFFORT if math.prod(rows.codes.shape) <= MOST_LONG else SHORT_EFFORT
        n_rounds = n_rounds if self.n_rounds is None else self.n_rounds
        n_searches = n_searches if self.n_searches is None else self.n_searches
        seeds = task_seeds(self.random_state, n_searches * (self.n_init + 1) + 1)
        of_searches = np.array_split(seeds, np.arange(1, n_searches + 1) * (self.n_init + 1))
        efforts = self.n_init, self.max_zealous, n_rounds, n_searches, self.max_iter
        given = rows.codes, rows.counts, rows.offsets, rows.weights, self.loss, self.a
        best, starts = salso(*given, Settings(K, *efforts, self.n_jobs), of_searches)
        self.losses_ = np.array([run.loss for run in starts])
        self.objective_, self.n_iter_ = best.loss, best.n_iter
        return renumber_parts(best.labels)

    def _bytes(self, rows: Rows, k: int, n_entries: int | None = None, more: int = 0) -> Need:
        """Of the rows and of the tables of every start that runs at the same time."""
        (m, p), K = rows.codes.shape, min(k or int(rows.n_clusters.max()), len(rows))
        of_start = (12 * int(rows.offsets[-1]) + 8 * p) * (K + 1) + 48 * p + 40 * m
        of_g = 16 * min(int(rows.counts.sum()), MOST_TABULATED)
        of_rows = m * (p * rows.codes.dtype.itemsize + 12 * self.n_init) + of_g
        n_bytes = OVERHEAD + of_rows + min(thread_count(self.n_jobs), self.n_init) * of_start
        advice = "Raise max_bytes, ask for fewer clusters with n_clusters, lower n_jobs, or thin the draws."
        return Need(n_bytes, f"the tables of {K:,} clusters with {p:,} draws", advice)
