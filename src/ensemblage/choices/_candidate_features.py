"""Candidate partitions: all of a table's, and features of them that need no known classes, which a chooser learns from.

A candidate is described by itself in its own view (sizes, silhouettes, neighbours, spanning tree, spreads), by its
agreement with the other candidates, by its place among them, and by what is known of the objects.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.threads import one_native_thread, parallel_map
from ensemblage.choices._partition_features import NAMES, measure_partitions, partitions_at_once
from ensemblage.consensus._base import numbers_by_size
from ensemblage.consensus._lifetime import cut
from ensemblage.consensus.hierarchies._linkage import average_linkage, row_similarity
from ensemblage.generation._candidates import Labels, Origin, Pool, Space, candidate_pool, numbers_of_clusters
from ensemblage.generation._diverse import MOST_FULL
from ensemblage.generation._views import MOST_COMPONENTS, VIEWS, Matrix, principal_components
from ensemblage.kernels._jit import is_small_work
from ensemblage.kernels._partition_features import longest_edges, pair_agreement
from ensemblage.kernels._spanning_trees import mutual_reachability_tree, state_of_tree
from ensemblage.kernels._squares import nearest_of_rows
from ensemblage.labels.ensemble import Ensemble
from ensemblage.labels.rows import Rows

DEFAULT = ("full", "latent", "spectral10", "spectral5", "genie3")
"""Families in the view "own" whose consensus is the candidate "default": those of the first search, and latent classes
where there is no mixture with full covariances."""


def all_candidates(
    features: Matrix,
    ks: Sequence[int] | None = None,
    n_jobs: int | None = 1,
    progress: Callable[[int, int], None] | None = None,
    units: Matrix | None = None,
    known: Pool | None = None,
) -> Pool:
    """The pool of features (n, m), and for every number of clusters two consensuses, in the view "own".

    "default" is that of `DEFAULT`, "all" that of every pair; members have that number of clusters or one next to it on
    the list, if that is at most a quarter away. ``known`` is a pool for other numbers: see `candidate_pool`.
    """
    ks = numbers_of_clusters(len(features)) if ks is None else ks
    pool = candidate_pool(features, ks, n_jobs=n_jobs, progress=progress, units=units, made=known)
    kinds = {c.family for c in pool.candidates}
    families = set(DEFAULT) - ({"latent"} if "full" in kinds else set())
    default = np.array([c.view == "own" and c.family in families for c in pool.candidates])
    everyone = np.ones(len(pool.candidates), dtype=bool)
    tasks = [(name, members, k) for name, members in (("default", default), ("all", everyone)) for k in ks]
    consensuses = parallel_map(lambda task: _consensus(pool, *task[1:], ks), tasks, n_jobs)
    made = [
        (Origin("own", name, k), labels)
        for (name, _, k), labels in zip(tasks, consensuses, strict=True)
        if labels is not None
    ]
    labels = np.vstack([pool.labels, *(labels for _, labels in made)])
    return pool._replace(labels=labels, candidates=[*pool.candidates, *(candidate for candidate, _ in made)])


def numbers_beside(k: int, ks: Sequence[int]) -> list[int]:
    """k and those next to it on the list, if they are at most a quarter, or one, away."""
    place = ks.index(k)
    return [q for q in ks[max(place - 1, 0) : place + 2] if abs(q - k) <= max(1, k / 4)]


def _consensus(pool: Pool, members: np.ndarray, k: int, ks: Sequence[int]) -> Labels | None:
    """Average linkage of the co-association of the members with about k clusters; None where it has one cluster.

    The clusters are those of `EvidenceAccumulation`, but for ties, without their confidence.
    """
    asked = np.array([c.n_clusters for c in pool.candidates])
    chosen = pool.labels[members & np.isin(asked, numbers_beside(k, ks))]
    if len(chosen) < 2:
        return None
    ensemble = Ensemble._made(np.ascontiguousarray(chosen.T))
    rows = Rows.of(ensemble, np.ones(len(chosen)), None)[1]
    if k > len(rows):
        return None
    C = row_similarity(rows.codes[:], rows.counts, rows.offsets, rows.weights, n_jobs=1)
    clusters = cut(average_linkage(C), k)
    numbers = numbers_by_size(clusters, rows.counts)
    labels = numbers[clusters][rows.inverse].astype(np.int32)
    return labels if labels.max() > 0 else None


MOST_ROWS = 300
"""Of which silhouettes are computed."""
N_NEIGHBOURS, CORE = 15, 5
MOST_COLUMNS = 300
"""Whose explained variance is looked at, those with the largest variance."""
DECIMALS = 4
FAMILIES = (
    "kmeans",
    "full",
    "prior",
    "latent",
    "factor",
    "spectral10",
    "spectral5",
    "genie3",
    "lumbermark",
    "default",
    "all",
)
"""The last two are consensuses."""
CONSENSUS = ("default", "all")
AGREEMENT = (
    "agreement at k",
    "median agreement at k",
    "best agreement at k",
    "agreement near k",
    "agreement",
    "best agreement",
    "agreement with fewer",
    "agreement with more",
    "pairs of coarser",
    "pairs of finer",
    "agreement of k",
    "agreement of k in own view",
    "rank of k",
)
RANKED = (
    "silhouette",
    "path silhouette",
    "log variance ratio",
    "log Davies-Bouldin",
    "10 nearest alike above chance",
    "conductance",
    "largest conductance",
    "modularity",
    "pieces of the tree",
    "density validity",
    "BIC of full covariances",
    "BIC of diagonal covariances",
    "two parts",
    "mean distance",
    "least distance",
    "valley",
    "least valley",
    "mean column",
    "number of columns",
    "entropy",
    "agreement at k",
    "agreement",
    "best agreement",
)
OF_SET = (
    "log n",
    "log m",
    "binary columns",
    "discrete columns",
    "skewness",
    "kurtosis",
    "zeros",
    "log participation",
    "first share",
    "two shares",
    "dimension",
    "hubs",
    "sparsity deviation",
    "longest edge",
    "long edges",
    "wide",
    "log ratio of units",
)


class Geometry(NamedTuple):
    """What is measured of the objects in one view, once for all partitions."""

    rows: NDArray[np.int64]
    distances: NDArray[np.float32]
    paths: NDArray[np.float32]
    nearest: NDArray[np.int64]
    sparsity: Matrix
    pairs: NDArray[np.int64]
    lengths: Matrix
    Z: Matrix
    G: Matrix
    X: Matrix
    values: Matrix
    """(m,) eigenvalues of the covariance."""

    @classmethod
    def of(cls, space: Space) -> Geometry:
        """O(n² d) time, O(n d) memory beside 300 rows of distances."""
        X = space.features
        n, m = X.shape
        Z, values = principal_components(X, min(MOST_COMPONENTS, m, n - 1))
        Z = np.ascontiguousarray(Z / max(float(np.sqrt((Z**2).sum(axis=1).mean())), 1e-12))
        nearest, distances = _nearest(Z, min(N_NEIGHBOURS, n - 1))
        core = np.ascontiguousarray(distances[:, min(CORE, distances.shape[1]) - 1])
        pairs, lengths = np.empty((n - 1, 2), dtype=np.int64), np.empty(n - 1)
        edges = pairs, lengths, np.empty(n - 1)
        mutual_reachability_tree(np.ascontiguousarray(Z.T), core**2, np.empty(n), *state_of_tree(n), *edges)
        lengths = np.sqrt(lengths)
        rows = np.unique(np.linspace(0, n - 1, min(n, MOST_ROWS)).astype(np.int64))
        paths = np.empty((len(rows), n), dtype=np.float32)
        longest_edges(pairs, lengths, rows, paths)
        g = min(max(2, min(m, 8, n // 25)), Z.shape[1])
        deviations = X.std(axis=0)
        chosen = np.sort(np.argsort(-deviations, kind="stable")[:MOST_COLUMNS])
        scaled = X[:, chosen] / np.where(deviations[chosen] > 0, deviations[chosen], 1.0)
        return cls(
            rows,
            _distances(Z[rows], Z).astype(np.float32),
            paths,
            nearest,
            np.log(core + 1e-6),
            pairs,
            lengths,
            Z,
            np.ascontiguousarray(Z[:, :g]),
            np.ascontiguousarray(scaled),
            values,
        )


def _distances(A: Matrix, B: Matrix) -> Matrix:
    squares = (A**2).sum(axis=1)[:, None] + (B**2).sum(axis=1) - 2 * A @ B.T
    return np.asarray(np.sqrt(np.maximum(squares, 0)))


def _nearest(Z: Matrix, k: int) -> tuple[NDArray[np.int64], Matrix]:
    """(n, k) the nearest other objects and their distances, ties by number, a block of rows at a time."""
    n = len(Z)
    found, lengths = np.empty((n, k), dtype=np.int64), np.empty((n, k))
    for start in range(0, n, 500):
        D = np.round(_distances(Z[start : start + 500], Z), 10)
        D[np.arange(len(D)), np.arange(start, start + len(D))] = np.inf
        rows = slice(start, start + len(D))
        if k <= n and is_small_work(64 * n * n):
            found[rows] = np.argsort(D, axis=1, kind="stable")[:, :k]
            lengths[rows] = np.take_along_axis(D, found[rows], axis=1)
        else:
            nearest_of_rows(D, found[rows], lengths[rows])
    return found, lengths


def of_set(features: Matrix, own: Geometry, units: Matrix | None) -> Matrix:
    """(len(OF_SET),) what is known of the objects; ``units``, (m,), is what each column was divided by."""
    n, m = features.shape
    values = own.values[: max(1, min(n - 1, m))]
    shares = values / max(values.sum(), 1e-12)
    distinct = np.array([len(np.unique(column)) for column in features.T[:MOST_COLUMNS]])
    Y = own.X
    r = own.lengths
    # Levina & Bickel's estimate of the dimension, from distances to the neighbours.
    near = np.linalg.norm(own.Z[:, None] - own.Z[own.nearest], axis=2) + 1e-9
    dimension = 1 / max(float(np.mean(np.log(near[:, -1:] / near[:, :-1]))), 1e-3)
    hubs = np.bincount(own.nearest.ravel(), minlength=n).std() / own.nearest.shape[1]
    middle = max(float(np.median(r)), 1e-12)
    ordered = np.sort(r)
    return np.array(
        [
            np.log(n),
            np.log(m),
            np.mean(distinct <= 2),
            np.mean(distinct <= 10),
            np.mean(np.minimum(np.abs((Y**3).mean(axis=0)), 10)),
            np.mean(np.minimum((Y**4).mean(axis=0), 50)),
            np.mean(features == 0),
            np.log(1 / max((shares**2).sum(), 1e-12)),
            shares[0],
            shares[:2].sum(),
            min(dimension, 50.0),
            hubs,
            own.sparsity.std(),
            np.log(ordered[-1] / middle),
            np.log(ordered[-max(2, n // 50)] / middle),
            float(m > MOST_FULL),
            0.0 if units is None else np.log(units.max() / units.min()),
        ]
    )


class Described(NamedTuple):
    """Candidates and their features."""

    X: NDArray[np.float32]
    """(p, q) features, rounded."""
    agreement: Matrix
    """(p, p) adjusted Rand indices."""
    measured: Matrix
    """(p, len(NAMES)) of each candidate in its own view."""
    geometry: dict[str, Geometry]
    """By the view's name."""
    of_set: Matrix
    """(len(OF_SET),)"""


def feature_names() -> list[str]:
    """(q,) in the order of `describe`."""
    names = [*NAMES, *AGREEMENT, *(f"with {family}" for family in FAMILIES)]
    ranked = [f"{name}, {what}" for what in ("rank at k", "rank", "less median at k") for name in RANKED]
    return [*names, *ranked, "k", "k found", "k / √n", "n / k", "family", "view", *OF_SET]


def describe(pool: Pool, features: Matrix, units: Matrix | None = None, n_jobs: int | None = 1) -> Described:
    """The features of all candidates of a pool, the consensuses among them; ``units`` as of `candidate_pool`."""
    with one_native_thread():  # the threads have the cores
        geometry = dict(zip(pool.spaces, parallel_map(Geometry.of, pool.spaces.values(), n_jobs), strict=True))
        measured = _measured(pool.labels, [c.view for c in pool.candidates], geometry, n_jobs)
    return _described(pool, measured, geometry, of_set(features, next(iter(geometry.values())), units))


def describe_again(pool: Pool, known: Described, changed: NDArray[np.intp], n_jobs: int | None = 1) -> Described:
    """The same of the same candidates of the same objects, some of them with other labels."""
    measured, views = known.measured.copy(), [pool.candidates[i].view for i in changed]
    with one_native_thread():
        measured[changed] = _measured(pool.labels[changed], views, known.geometry, n_jobs)
    return _described(pool, measured, known.geometry, known.of_set)


def _described(pool: Pool, measured: Matrix, geometry: dict[str, Geometry], set_features: Matrix) -> Described:
    """What `describe` finds, from what is measured of each candidate by itself."""
    candidates, labels = pool.candidates, pool.labels
    p, n = labels.shape
    asked = np.array([c.n_clusters for c in candidates])
    family = np.array([FAMILIES.index(c.family) for c in candidates])
    view = np.array([VIEWS.index(c.view) for c in candidates])
    found = labels.max(axis=1) + 1
    ari, shared = np.empty((p, p)), np.empty((p, p))
    pair_agreement(labels, found, labels, found, ari, shared)
    agreed = _agreement(ari, shared, candidates, asked, family, view)
    X = np.hstack([measured, agreed])
    names = [*NAMES, *AGREEMENT]
    R = X[:, [names.index(name) for name in RANKED]]
    more = np.column_stack([asked, found, found / np.sqrt(n), n / found, family, view])
    constant = np.repeat(set_features[None], p, axis=0)
    X = np.hstack([X, _ranks(R, asked), _ranks(R, np.zeros(p)), _less_median(R, asked), more, constant])
    return Described(np.round(X, DECIMALS).astype(np.float32), ari, measured, geometry, set_features)


def _measured(
    labels: NDArray[np.int32], views: Sequence[str], geometry: dict[str, Geometry], n_jobs: int | None
) -> Matrix:
    """(p, len(NAMES)) of partitions, (p, n), each in its view; as many of a view at once as are fast."""
    places = {name: np.flatnonzero([view == name for view in views]) for name in geometry}
    step = partitions_at_once(labels.shape[1])
    tasks = [(name, at[i : i + step]) for name, at in places.items() for i in range(0, len(at), step)]
    measured = np.empty((len(labels), len(NAMES)))
    found = parallel_map(lambda task: measure_partitions(labels[task[1]], geometry[task[0]]), tasks, n_jobs)
    for (_, at), values in zip(tasks, found, strict=True):
        measured[at] = values
    return measured


def _agreement(
    ari: Matrix,
    shared: Matrix,
    candidates: Sequence[Origin],
    asked: NDArray[np.int64],
    family: NDArray[np.int64],
    view: NDArray[np.int64],
) -> Matrix:
    """(p, len(AGREEMENT) + len(FAMILIES)) agreement of each candidate with those of other pairs; NaN where none is."""
    p = len(candidates)
    pair = family * len(VIEWS) + view
    is_plain = ~np.isin(family, [FAMILIES.index(name) for name in CONSENSUS])
    ks = np.unique(asked)
    at_k = {k: np.flatnonzero(is_plain & (asked == k)) for k in ks}
    level = np.array([_mean_of_pairs(ari, at_k[k]) for k in ks])
    own_level = np.array([_mean_of_pairs(ari, at_k[k][view[at_k[k]] == 0]) for k in ks])
    rank = np.array([np.mean(level <= value) for value in level])
    plain = np.flatnonzero(is_plain)
    of_others = {of: plain[pair[plain] != of] for of in np.unique(pair)}
    out = np.full((p, len(AGREEMENT) + len(FAMILIES)), np.nan)
    for i in range(p):
        q = int(np.searchsorted(ks, asked[i]))
        fewer, more = ks[max(q - 1, 0)], ks[min(q + 1, len(ks) - 1)]
        mates = at_k[asked[i]]
        mates = mates[pair[mates] != pair[i]]
        others = of_others[pair[i]]
        near = np.concatenate([at_k[k] for k in dict.fromkeys((fewer, more))])
        near = near[pair[near] != pair[i]]
        if len(mates):
            values = np.sort(ari[i, mates])
            out[i, :3] = values.mean(), np.median(values), values[-2:].mean()
        if len(near):
            out[i, 3] = ari[i, near].mean()
        if len(others):
            out[i, 4:6] = ari[i, others].mean(), np.sort(ari[i, others])[-12:].mean()
        for column, k in ((6, fewer), (7, more)):
            same = np.flatnonzero((pair == pair[i]) & (asked == k))
            if len(same) and k != asked[i]:
                out[i, column] = ari[i, same[0]]
        coarser, finer = plain[asked[plain] <= asked[i]], plain[asked[plain] >= asked[i]]
        out[i, 8:10] = (
            shared[i, coarser].mean() if len(coarser) else 0.0,
            shared[finer, i].mean() if len(finer) else 0.0,
        )
        out[i, 10:13] = level[q], own_level[q], rank[q]
    for k in ks:
        at = np.flatnonzero(asked == k)
        for f in np.unique(family[at]):
            there = at[family[at] == f]
            best = np.where(pair[there] == pair[at][:, None], -np.inf, ari[np.ix_(at, there)]).max(axis=1)
            out[at, len(AGREEMENT) + f] = np.where(best > -np.inf, best, np.nan)
    return out


def _mean_of_pairs(ari: Matrix, at: NDArray[np.intp]) -> float:
    if len(at) < 2:
        return float("nan")
    return float((ari[np.ix_(at, at)].sum() - len(at)) / (len(at) * (len(at) - 1)))


def _ranks(values: Matrix, groups: NDArray[np.float64]) -> Matrix:
    """Rank from 0 to 1 within each group, ties by order; NaN of a group of one."""
    out = np.full(values.shape, np.nan)
    for group in np.unique(groups):
        at = np.flatnonzero(groups == group)
        if len(at) > 1:
            rounded = np.round(values[at], DECIMALS)
            out[at] = np.argsort(np.argsort(rounded, axis=0, kind="stable"), axis=0) / (len(at) - 1)
    return out


def _less_median(values: Matrix, groups: NDArray[np.float64]) -> Matrix:
    out = np.empty(values.shape)
    for group in np.unique(groups):
        at = groups == group
        out[at] = values[at] - np.nanmedian(values[at], axis=0)
    return out
