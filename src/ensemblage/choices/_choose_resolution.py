"""Choose the resolution of graph communities: reproducible clusters in resamples, plateaus, their consensus."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from os import PathLike
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from ensemblage.base.random import task_seeds
from ensemblage.base.renamed import renamed_parameters
from ensemblage.base.text import backend_of, some
from ensemblage.base.validation import (
    FRACTION,
    Number,
    Several,
    check_choice,
    check_progress,
    check_value,
    check_whole,
    format_value,
)
from ensemblage.choices._choice_records import DOUBTFUL, LEAST_JACCARD, Plateau, ResolutionChoice, ResolutionRow
from ensemblage.consensus._registry import make_consensus
from ensemblage.consensus.posterior._modes import ConsensusModes
from ensemblage.generation._clusterers import run_all
from ensemblage.generation._communities import (
    ALGORITHMS,
    OBJECTIVES,
    Objective,
    communities,
    import_leiden,
    quality,
)
from ensemblage.generation._graphs import as_graph
from ensemblage.generation._nearest import Neighbours, nearest_neighbours, neighbour_graph
from ensemblage.io._anndata import matrix_of
from ensemblage.io._preprocessor import Preprocessor
from ensemblage.labels.ensemble import Ensemble
from ensemblage.metrics._agreement import agreement_matrix
from ensemblage.metrics._partition_distance import inconsistency
from ensemblage.stability import partition_stability
from ensemblage.tables.formats import CELLS, format_of
from ensemblage.tables.h5ad import open_anndata

RESOLUTIONS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0, 1.25, 1.5, 2.0, 2.5, 3.0)
"""Of modularity, unless others are asked for."""
SAME = 0.9
"""Adjusted Rand index from which partitions of two resolutions are about the same."""
N_STARTS = 5
"""Partitions of all objects at each resolution, of which that of the best quality is taken."""
MOST_MEMBERS = 100
"""Partitions of a plateau that are combined."""
MOST_COMPARED = 2 * 10**8
"""Objects × pairs of partitions up to which the modes of a plateau are looked for."""
CONNECTIVITIES = "connectivities"
"""Where scanpy has the graph of the cells."""


@renamed_parameters(use="use_rep")
def choose_resolution(
    X: Any,
    resolutions: Sequence[float] | None = None,
    *,
    affinity: Literal["nearest_neighbors", "precomputed"] = "nearest_neighbors",
    use_rep: str | None = None,
    n_neighbors: int = 15,
    standardize: bool | Literal["auto"] = "auto",
    algorithm: Literal["leiden", "louvain"] = "leiden",
    objective: Objective = "modularity",
    n_resamples: int = 20,
    fraction: float = 0.8,
    consensus: str = "km",
    n_jobs: int | None = None,
    random_state: Any = None,
    progress: Callable[[int, int], None] | None = None,
) -> ResolutionChoice:
    """Use it to choose the resolution of graph communities: the reproducible ones, and a consensus of their partitions.

    Parts of the objects are drawn, and each is clustered at every resolution. Successive resolutions at which the
    clusters of all objects are about the same are a plateau; its partitions are combined, and every object gets a
    confidence.

    Parameters
    ----------
    X : array-like, data frame, graph, AnnData or path
        Features of shape (n_objects, n_features); with ``affinity="precomputed"`` a graph, as `LeidenPartitions` takes
        it; or an AnnData object or the path of a .h5ad file.
    resolutions : sequence of float, optional
        Numbers > 0. Default: 14 from 0.05 to 3, for modularity.
    affinity : {"nearest_neighbors", "precomputed"}, default "nearest_neighbors"
        Whether X is features, of whose nearest neighbours the graph is made, or the graph itself.
    use_rep : str, optional
        Of AnnData: a graph in ``.obsp``, a matrix in ``.obsm``, or "X". Default: ``.obsp["connectivities"]`` if there
        is one, else ``.obsm["X_pca"]``, else ``.X``.
    n_neighbors : int, default 15
        Neighbours of each object that have an edge to it; the object itself does not count (with scanpy it does). The
        weights are those of scanpy's connectivities.
    standardize : bool or "auto", default "auto"
        Of features, not of AnnData: bring them to mean 0 and standard deviation 1; "auto": unless all standard
        deviations are within a factor of 20, as `Preprocessor` says.
    algorithm : {"leiden", "louvain"}, default "leiden"
        As of `LeidenPartitions`.
    objective : {"modularity", "cpm"}, default "modularity"
        As of `LeidenPartitions`; for "cpm" give the resolutions.
    n_resamples : int, default 20
        How often a part of the objects is drawn.
    fraction : float, default 0.8
        How large that part is, in (0, 1].
    consensus : str, default "km"
        A name of ``METHODS``: what combines the partitions of a plateau.
    n_jobs : int, optional
        Threads. -1: every core that this process may use; -2: all but one. None: what a ``joblib.parallel_config``
        says; without one every core, or 1 inside a parallel loop of joblib or scikit-learn. The result does not depend
        on it.
    random_state : int, RandomState, Generator or None
        Seed of the draws and of every partition.
    progress : callable, optional
        Called as ``progress(done, total)`` after every resample and every resolution.

    Returns
    -------
    ResolutionChoice
        ``sentence``, ``table``, ``plateaus``, and of the one to take ``consensus``, which `to_anndata` takes.

    Raises
    ------
    ImportError
        If Leiden is asked for and graspologic-native is not installed.
    ValueError
        If X has fewer than 10 objects or not more than ``n_neighbors``, is no graph, or a parameter is out of its
        range.

    See Also
    --------
    choose_k : The number of clusters of features, where there is no graph.

    Notes
    -----
    **Stability** of a resolution is the mean adjusted Rand index of two resamples, on the objects that are in both.
    From .85 it is called stable, if nine of ten objects are in reproduced clusters, too (a mean Jaccard
    similarity of .75 with the cluster of a resample that is most like it); from .7 doubtful. One cloud in many
    dimensions has .5 or less; a cloud in two, and a line, up to .8: what is doubtful may cut a continuum. One cluster
    is always reproduced and never the answer.

    ``inconsistency`` of the result has by resolution the inconsistency coefficient of scICE, of the same partitions:
    1 / the mean element-centric similarity of every two, each with itself included. It decides nothing here. scICE
    computes it of runs on all objects and accepts less than 1.005; resamples differ more.

    **Plateaus**: the partition of all objects at a resolution is the best of five by its quality; a plateau goes on as
    long as the adjusted Rand index with each of its resolutions is .9 or more. Of the stable plateaus the one with most
    clusters is taken, and the others are named. Without any it is the most stable if that is doubtful, else the one
    with fewest clusters: the record says so.

    **The graph** of a resample is made of its own nearest neighbours, found among the 2 ``n_neighbors`` + 10 nearest of
    all objects (where fewer are in the resample, these), or is the part of the given graph that joins its objects.

    Time: that of the neighbours, exact up to 100,000 objects (O(n² m)), and about 0.7 µs per edge, resolution and
    resample. Memory: a byte per object, resolution and resample, and 16 bytes per object and neighbour.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from ensemblage.n_clusters import choose_resolution
    >>> X, _ = make_blobs(300, centers=4, n_features=5, random_state=0)
    >>> choice = choose_resolution(X, [0.3, 0.6, 1.0], algorithm="louvain", n_resamples=5, random_state=0)
    >>> choice.plateaus
    [Plateau(0.3 to 1: 4 clusters, stability 1.00, stable)]
    >>> choice.consensus.labels_.shape
    (300,)
    """
    check_choice(affinity, "affinity of choose_resolution", ("nearest_neighbors", "precomputed"))
    check_choice(algorithm, "algorithm of choose_resolution", [a for a in ALGORITHMS if a != "label-propagation"])
    check_choice(objective, "objective of choose_resolution", OBJECTIVES)
    check_whole(n_neighbors, "n_neighbors of choose_resolution", 1)
    check_whole(n_resamples, "n_resamples of choose_resolution", 2)
    check_value(fraction, "fraction of choose_resolution", [FRACTION])
    check_progress(progress, "progress of choose_resolution")
    ascending = _check_resolutions(resolutions, objective)
    make_consensus(consensus, 2)
    if algorithm == "leiden":
        import_leiden()
    source, notes = graphs_of(X, affinity, use_rep, n_neighbors, standardize)
    draw, start, combine = (int(seed) for seed in task_seeds(random_state, 3))
    detect = partial(communities, objective=objective, algorithm=algorithm)
    total = n_resamples + len(ascending)

    def report_progress(done: int) -> Callable[[int, int], None] | None:
        return None if progress is None else lambda here, _: progress(done + here, total)

    tasks = _resamples(source.n, n_resamples, fraction, draw)
    resampled = run_all(
        partial(_cluster_resample, source, ascending, detect),
        tasks,
        n_jobs,
        progress=report_progress(0),
        what="resample",
    )
    starts = task_seeds(start, N_STARTS * len(ascending)).reshape(-1, N_STARTS).tolist()
    whole = source.subgraph(None)
    first = partial(_best_of, whole, detect, objective)
    best = run_all(
        first,
        list(zip(ascending, starts, strict=True)),
        n_jobs,
        progress=report_progress(n_resamples),
        what="resolution",
    )
    labels = dict(zip(ascending, best, strict=True))
    ensembles = {r: Ensemble._made(np.column_stack([found[i] for found in resampled])) for i, r in enumerate(ascending)}
    return _choice(labels, ensembles, consensus, combine, n_jobs, notes, backend_of(X))


class Graphs(Protocol):
    """A graph and the graphs of parts of its objects."""

    @property
    def n(self) -> int:
        """Objects."""

    def subgraph(self, objects: NDArray[np.intp] | None) -> csr_array:
        """That of some objects; None: of all."""


class NeighbourGraphs(NamedTuple):
    """Graphs of nearest neighbours."""

    neighbours: Neighbours
    k: int

    @property
    def n(self) -> int:
        return len(self.neighbours.rows)

    def subgraph(self, objects: NDArray[np.intp] | None) -> csr_array:
        rows = np.arange(self.n) if objects is None else objects
        return neighbour_graph(self.neighbours.among(rows, self.k))


class PartsOfGraph(NamedTuple):
    """A graph that is given."""

    matrix: csr_array

    @property
    def n(self) -> int:
        return int(self.matrix.shape[0])

    def subgraph(self, objects: NDArray[np.intp] | None) -> csr_array:
        if objects is None:
            return self.matrix
        part = csr_array(self.matrix[objects][:, objects])
        part.sort_indices()
        return part


def graphs_of(
    X: Any, affinity: str, use_rep: str | None, n_neighbors: int, standardize: bool | Literal["auto"] = "auto"
) -> tuple[Graphs, list[str]]:
    """The graph of what is given, and what it is, for people."""
    subject = "The graph of choose_resolution"
    is_file = isinstance(X, str | PathLike) and format_of(X) is CELLS
    if is_file or hasattr(X, "obsm"):
        adata = open_anndata(X)
        keys = list(getattr(adata, "obsp", {}))
        key = CONNECTIVITIES if use_rep is None and CONNECTIVITIES in keys else use_rep
        if key in keys:
            note = f"clustered is the graph .obsp[{key!r}]"
            return _check_n_objects(PartsOfGraph(as_graph(csr_array(adata.obsp[key]), subject).matrix)), [note]
        if use_rep is not None and use_rep != "X" and use_rep not in adata.obsm:
            raise ValueError(
                f"use_rep must name a graph in .obsp, a matrix in .obsm, or be X. Got {use_rep!r}. There are "
                f"{some([*keys, *adata.obsm])}."
            )
        matrix = matrix_of(adata, use_rep)
        return _neighbours(matrix.values, n_neighbors), [
            f"{matrix.note}: the graph of {n_neighbors} neighbours of each"
        ]
    if use_rep is not None:
        raise ValueError(f"use_rep is for AnnData. Got {format_value(use_rep)} for {type(X).__name__}. Leave it out.")
    if affinity == "precomputed":
        graph = as_graph(X, subject)
        return _check_n_objects(PartsOfGraph(graph.matrix)), [
            f"a graph of {graph.matrix.nnz // 2:,} edges",
            *graph.notes,
        ]
    features = Preprocessor(standardize=standardize).fit_transform(X)
    n, m = features.shape
    return _neighbours(features, n_neighbors), [
        f"{n:,} objects × {m:,} features: the graph of {n_neighbors} neighbours"
    ]


LEAST_OBJECTS = 10


def _check_n_objects(graphs: Graphs) -> Graphs:
    if graphs.n < LEAST_OBJECTS:
        raise ValueError(
            f"X of choose_resolution must have at least {LEAST_OBJECTS} objects. Got {graphs.n}. Give more objects."
        )
    return graphs


def _neighbours(X: Any, k: int) -> Graphs:
    n = X.shape[0]
    if k >= n:
        raise ValueError(
            f"n_neighbors of choose_resolution must be < the {n} objects of X. Got {k}. Ask for fewer neighbours."
        )
    return _check_n_objects(NeighbourGraphs(nearest_neighbours(X, min(2 * k + 10, n - 1)), k))


def _check_resolutions(resolutions: Sequence[float] | None, objective: str) -> list[float]:
    if resolutions is None:
        if objective == "cpm":
            raise ValueError(
                "resolutions of choose_resolution must be given for cpm, whose scale is that of the density within "
                "communities. Got None. Give some, such as [0.01, 0.02, 0.05]."
            )
        return list(RESOLUTIONS)
    given: Any = resolutions.tolist() if hasattr(resolutions, "tolist") else resolutions
    check_value(given, "resolutions of choose_resolution", [Several(Number(above=0))])
    return sorted({float(resolution) for resolution in given})


class Resample(NamedTuple):
    """Some objects, and a seed for every resolution."""

    objects: NDArray[np.intp]
    seed: int


def _resamples(n: int, n_resamples: int, fraction: float, seed: int) -> list[Resample]:
    seeds, size = task_seeds(seed, 2 * n_resamples).tolist(), max(2, round(fraction * n))
    return [
        Resample(np.sort(np.random.RandomState(seeds[2 * b]).permutation(n)[:size]), seeds[2 * b + 1])
        for b in range(n_resamples)
    ]


Detect = Callable[..., NDArray[np.int32]]


def _cluster_resample(
    graphs: Graphs, resolutions: Sequence[float], detect: Detect, drawn: Resample
) -> list[NDArray[np.int32]]:
    """(n,) the clusters of a resample at each resolution, -1 for objects that were not drawn."""
    graph, found = graphs.subgraph(drawn.objects), []
    for resolution, seed in zip(resolutions, task_seeds(drawn.seed, len(resolutions)).tolist(), strict=True):
        labels = np.full(graphs.n, -1, dtype=np.int32)
        labels[drawn.objects] = detect(graph, resolution, seed=seed)
        found.append(labels)
    return found


def _best_of(
    graph: csr_array, detect: Detect, objective: Objective, task: tuple[float, Sequence[int]]
) -> NDArray[np.int32]:
    """(n,) the clusters of all objects at a resolution: the first of the best."""
    resolution, seeds = task
    found = [detect(graph, resolution, seed=seed) for seed in seeds]
    return max(found, key=lambda labels: quality(graph, labels, resolution, objective))


def _choice(
    labels: dict[float, NDArray[np.int32]],
    ensembles: dict[float, Ensemble],
    consensus: str,
    seed: int,
    n_jobs: int | None,
    notes: list[str],
    backend: str | None,
) -> ResolutionChoice:
    """The record of the clusters of all objects and of the resamples at each resolution."""
    resolutions = list(labels)
    again = {
        r: np.array([row.mean_jaccard for row in partition_stability(labels[r], ensembles[r]).table]) for r in labels
    }
    shares = {r: float((again[r] >= LEAST_JACCARD)[labels[r]].mean()) for r in resolutions}
    means = {}
    for r, ensemble in ensembles.items():  # of each resample with the others
        agreement = agreement_matrix(ensemble, "ari", n_jobs=n_jobs)
        np.fill_diagonal(agreement, np.nan)
        means[r] = np.nanmean(agreement, axis=1)
    stability = {r: float(mean.mean()) for r, mean in means.items()}
    several = Ensemble._made(np.column_stack(list(labels.values())))
    alike = agreement_matrix(several, "ari", n_jobs=n_jobs)
    runs = list(_plateaus([int(z.max()) + 1 for z in labels.values()], alike))
    sweep = Sweep(labels, ensembles, stability, shares)
    combined = [sweep.combine([resolutions[i] for i in run], consensus, seed, n_jobs) for run in runs]
    best = _best(combined)
    shown = [i == best or plateau.verdict == "stable" for i, plateau in enumerate(combined)]
    plateaus = [
        replace(p, modes=sweep.modes(p)) if is_shown else p for p, is_shown in zip(combined, shown, strict=True)
    ]
    place = {i: number for number, run in enumerate(runs) for i in run}
    table = [
        ResolutionRow(
            r,
            int(labels[r].max()) + 1,
            stability[r],
            float(means[r].min()),
            shares[r],
            float(alike[i, i - 1]) if i else float("nan"),
            place.get(i),
            "" if i not in place else "best" if place[i] == best else plateaus[place[i]].verdict,
        )
        for i, r in enumerate(resolutions)
    ]
    n_resamples = ensembles[resolutions[0]].shape[1]
    unlike = {r: inconsistency(ensemble, n_jobs) for r, ensemble in ensembles.items()}
    return ResolutionChoice(table, plateaus, best, labels, again, n_resamples, notes, backend, unlike)


def _plateaus(n_clusters: Sequence[int], alike: NDArray[np.float64]) -> Iterator[list[int]]:
    """Runs of resolutions with more than one cluster, all of which agree."""
    run: list[int] = []
    for i, k in enumerate(n_clusters):
        if run and (k < 2 or alike[i, run].min() < SAME):
            yield run
            run = []
        if k > 1:
            run.append(i)
    if run:
        yield run


class Sweep(NamedTuple):
    """What was found at each resolution."""

    labels: Mapping[float, NDArray[np.int32]]
    """(n,) the clusters of all objects."""
    ensembles: Mapping[float, Ensemble]
    """Those of the resamples."""
    stability: Mapping[float, float]
    found_again: Mapping[float, float]
    """Shares of the objects."""

    def members(self, run: Sequence[float]) -> Ensemble:
        """The partitions of a run of resolutions: of all objects, and of as many resamples as are combined."""
        each = max(1, MOST_MEMBERS // len(run))
        columns = {r: [self.labels[r], *np.asarray(self.ensembles[r]).T[:each]] for r in run}
        names = [f"r{r:g}_{b}" for r in run for b in range(len(columns[r]))]
        return Ensemble._made(np.column_stack([column for r in run for column in columns[r]]), names=names)

    def combine(self, run: Sequence[float], method: str, seed: int, n_jobs: int | None) -> Plateau:
        """The consensus of a run of resolutions."""
        resolution = max(run, key=lambda r: self.stability[r])
        k = int(self.labels[resolution].max()) + 1
        estimator = make_consensus(method, k)
        given = {"random_state": seed, "n_jobs": n_jobs}
        estimator.set_params(**{name: given[name] for name in given if name in estimator.get_params()})
        stability, again = (float(np.mean([of[r] for r in run])) for of in (self.stability, self.found_again))
        members = self.members(run)
        return Plateau(tuple(run), stability, again, k, resolution, estimator.fit(members), members, None)

    def modes(self, plateau: Plateau) -> ConsensusModes | None:
        """Whether the partitions of a plateau tell one story, where that does not take long."""
        ensemble = plateau.ensemble
        n_pairs = len(ensemble.distinct.codes) * ensemble.shape[1] ** 2
        return ConsensusModes().fit(ensemble) if n_pairs <= MOST_COMPARED else None


def _best(plateaus: Sequence[Plateau]) -> int | None:
    """Of the stable plateaus that with most clusters, else the most stable one, or the first if all are unstable."""
    stable = [i for i, plateau in enumerate(plateaus) if plateau.verdict == "stable"]
    if stable:
        return max(stable, key=lambda i: plateaus[i].n_clusters)
    nearest = max(range(len(plateaus)), key=lambda i: plateaus[i].stability, default=None)
    return nearest if nearest is None or plateaus[nearest].stability >= DOUBTFUL else 0
