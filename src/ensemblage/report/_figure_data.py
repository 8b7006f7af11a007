"""What the figures show of an analysis: all of it where it is small, else a seeded sample, and a note that says so.

Many features are drawn in the plane: principal components; linear discriminants or UMAP where they show the clusters
better. The rule was written before any table was tried. Of the nearest neighbours of a point in the plane a share is of
its cluster. Discriminants are taken where that share is a twentieth more than on two principal components. UMAP, an
optional package, is tried where the better of the two has less than nine tenths, and taken where it is a twentieth
more than that one. Which clusters and directions make discriminants was narrowed after one table: two objects apart had
drawn all others as one line.
"""

import warnings
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from ensemblage.base.random import task_seeds
from ensemblage.base.text import listing
from ensemblage.labels.ensemble import Ensemble
from ensemblage.metrics import coassociation
from ensemblage.ranking._discotec import ConsensusMatrix

_MOST_ROWS = 300
_MOST_POINTS = 5_000


def sample_by_cluster(clusters: NDArray[Any], most: int, random_state: Any) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """At most about ``most`` objects in random order, and how many objects each stands for.

    Every cluster is there in proportion to its size, with at least one object; of more than ``most`` clusters only the
    largest. O(n log n) time, O(n) memory.
    """
    rng = np.random.RandomState(task_seeds(random_state, 1)[0])
    mixed = rng.permutation(len(clusters))
    if len(clusters) <= most:
        return mixed, np.ones(len(clusters))
    _, numbers, sizes = np.unique(clusters[mixed], return_inverse=True, return_counts=True)
    quotas = np.maximum(1, np.round(sizes * (most / len(clusters))).astype(np.int64))
    quotas[np.argsort(-sizes, kind="stable")[most:]] = 0
    by_cluster = np.argsort(numbers, kind="stable")
    place = np.empty(len(mixed), dtype=np.int64)
    place[by_cluster] = np.arange(len(mixed)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    chosen = place < quotas[numbers]
    return mixed[chosen], (sizes / np.maximum(quotas, 1))[numbers[chosen]]


class MatrixObjects(NamedTuple):
    """The objects that a matrix shows."""

    objects: NDArray[Any]
    sizes: NDArray[np.float64]
    """How many objects each stands for."""
    note: str
    """A sentence that says so."""


def matrix_data(
    ensemble: Ensemble, clusters: NDArray[Any], weights: NDArray[np.float64], shown: MatrixObjects
) -> dict[str, Any]:
    """The consensus matrix to draw: its lower triangle in percent, the cluster and the weight of each row, a note;
    and which entries of the matrix without weights of the partitions reach its mean over all objects.

    Rows are in the order of the clusters; in each, rows that are together often stand side by side.
    """
    chosen, sizes, note = shown
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="No partition labels both")
        shares = coassociation(ensemble, weights=weights, objects=chosen)
        unweighted = coassociation(ensemble, objects=chosen) if np.ptp(weights) > 0 else shares
    order = _order_by_cluster(shares, clusters[chosen])
    percent = np.round(100 * shares[np.ix_(order, order)]).astype(np.int64)
    mean = ConsensusMatrix.of(ensemble).mean
    is_frequent = unweighted[np.ix_(order, order)] >= mean
    return {
        "percent": [row[: i + 1] for i, row in enumerate(percent.tolist())],
        "clusters": clusters[chosen[order]].tolist(),
        "sizes": np.round(sizes[order], 3).tolist(),
        "note": note,
        "mean": mean,
        # The lower triangle, diagonal included, as text of 0 and 1.
        "frequent": ["".join("01"[bit] for bit in row[: i + 1]) for i, row in enumerate(is_frequent.tolist())],
    }


def _order_by_cluster(shares: NDArray[np.float64], clusters: NDArray[Any]) -> NDArray[Any]:
    """Rows cluster by cluster, unlabelled ones last, inside a cluster as the leaves of average linkage."""
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    order = []
    for cluster in sorted(set(clusters.tolist()), key=lambda c: (c < 0, c)):
        rows = np.flatnonzero(clusters == cluster)
        if len(rows) > 2:
            apart = squareform(1 - shares[np.ix_(rows, rows)], checks=False)
            rows = rows[leaves_list(linkage(apart, "average"))]
        order.append(rows)
    return np.concatenate(order)


def matrix_objects(ensemble: Ensemble, clusters: NDArray[Any], random_state: Any) -> MatrixObjects:
    """All objects, or one of each different row, where they are few; else a sample."""
    n = len(ensemble)
    if n <= _MOST_ROWS:
        return MatrixObjects(np.arange(n), np.ones(n), f"All {n:,} objects are drawn.")
    if len(ensemble.distinct.counts) <= _MOST_ROWS:
        pairs = ensemble.distinct.inverse.astype(np.int64) * (int(clusters.max(initial=-1)) + 2) + clusters + 1
        _, first, counts = np.unique(pairs, return_index=True, return_counts=True)
        if len(first) <= _MOST_ROWS:
            note = f"All {n:,} objects are drawn; they have {len(first):,} different rows of labels."
            return MatrixObjects(first, counts.astype(np.float64), note)
    chosen, sizes = sample_by_cluster(clusters, _MOST_ROWS, random_state)
    note = (
        f"{len(chosen):,} of the {n:,} objects are drawn, taken at random from each cluster in proportion to its size."
    )
    return MatrixObjects(chosen, sizes, note)


class Features(NamedTuple):
    """What the objects were clustered by."""

    values: Any
    """(n, m) array or sparse matrix"""
    names: list[str]

    @classmethod
    def of(cls, features: Any) -> "Features":
        """Features with the names of a data frame's columns, or numbers."""
        frame = nw.from_native(features, pass_through=True)
        values = features if issparse(features) else np.asarray(features)
        values = values[:, None] if values.ndim == 1 else values
        if values.ndim != 2:
            raise ValueError(
                f"features must be a table of objects and features. Got {values.ndim} dimensions. Give a matrix."
            )
        known = isinstance(frame, nw.DataFrame) and not isinstance(features, nw.DataFrame)
        names = frame.columns if known else [f"feature {j}" for j in range(values.shape[1])]
        return cls(values, [str(name) for name in names])

    def rows(self, chosen: NDArray[Any]) -> NDArray[np.float64]:
        """Some rows as numbers; what is not finite becomes the median of its column."""
        part = self.values.tocsr()[chosen].toarray() if issparse(self.values) else self.values[chosen]
        try:
            numbers = np.array(part, dtype=np.float64)
        except (TypeError, ValueError):
            raise ValueError("features must be numbers. Got text. Leave out the columns of text.") from None
        holes = ~np.isfinite(numbers)
        for j in np.flatnonzero(holes.any(axis=0)):
            known = numbers[~holes[:, j], j]
            numbers[holes[:, j], j] = np.median(known) if len(known) else 0.0
        return numbers


def point_sample(clusters: NDArray[Any], random_state: Any) -> NDArray[Any]:
    """The objects that are drawn as points, in the order in which they are."""
    return sample_by_cluster(clusters, _MOST_POINTS, random_state)[0]


def point_data(
    features: Features, clusters: NDArray[Any], confidence: NDArray[np.float64], chosen: NDArray[Any]
) -> dict[str, Any]:
    """Some objects in the plane: up to two features as they are, more by `project`."""
    xy, x_label, y_label, axes_note = _plane_coordinates(
        features.rows(chosen), clusters[chosen], confidence[chosen], features.names
    )
    notes = [axes_note]
    if len(chosen) < len(clusters):
        notes += [f"{len(chosen):,} of the {len(clusters):,} objects are drawn, taken at random from each cluster."]
    return {
        "xy": [[float(f"{x:.5g}"), float(f"{y:.5g}")] for x, y in xy.tolist()],
        "clusters": clusters[chosen].tolist(),
        "confidence": [None if np.isnan(c) else round(c, 3) for c in confidence[chosen].tolist()],
        "x_label": x_label,
        "y_label": y_label,
        "notes": notes,
    }


def _plane_coordinates(
    values: NDArray[np.float64], clusters: NDArray[Any], confidence: NDArray[np.float64], names: list[str]
) -> tuple[NDArray[np.float64], str, str, str]:
    m = values.shape[1]
    if m == 1:
        with_confidence = np.column_stack([values[:, 0], np.nan_to_num(confidence)])
        return with_confidence, names[0], "confidence", "There is one feature."
    if m == 2:
        return values, names[0], names[1], "The axes are the two features."
    found = project(values, clusters)
    if found is None:
        return values[:, :2], names[0], names[1], "The axes are the first two features."
    return found.xy, *found.labels, found.note


def symmetric_matrix(rows: Sequence[Sequence[float | None]]) -> NDArray[np.float64]:
    """The symmetric matrix whose lower triangle, diagonal included, has these rows."""
    full = np.zeros((len(rows), len(rows)))
    full[np.tril_indices(len(rows))] = nan_array([value for row in rows for value in row])
    return full + np.tril(full, -1).T


def nan_array(values: Sequence[float | None]) -> NDArray[np.float64]:
    """Numbers of the summary, NaN where there is none."""
    return np.array(values, dtype=np.float64)


# -- many features in the plane ----------------------------------------------------------------------------------------


_MOST_COMPONENTS = 30
"""From which discriminants are made."""
_OBJECTS_PER_COMPONENT = 10
"""Fewer, and discriminants part clusters that are not there."""
_NEIGHBOURS, _MOST_COMPARED = 10, 1_000
"""By which projections are compared, and points that are asked for them."""
_LEAST_SPREAD = 0.01
"""Of a direction inside the clusters, as a share of the largest, for discriminants to use it."""
_BETTER = 0.05
"""By how much the share of neighbours of the same cluster must be larger."""
_CLEAR = 0.9
"""Share from which a projection shows the clusters, so that UMAP, which takes seconds, is not tried."""
_LEAST_FOR_UMAP, _OF_UMAP = 50, 15
"""Objects, and neighbours of each."""


class Projection(NamedTuple):
    """Objects in the plane."""

    xy: NDArray[np.float64]
    """(n, 2)"""
    labels: tuple[str, str]
    """Of the axes."""
    note: str
    """What the axes are."""


def project(values: NDArray[np.float64], clusters: NDArray[Any]) -> Projection | None:
    """(n, m) values of three features or more in the plane; ``clusters``, (n,), negative for none.

    None where there are no components. O(n m q) time for q ≤ 30 components; with UMAP seconds more.
    """
    from sklearn.decomposition import PCA

    n, m = values.shape
    q = max(2, min(_MOST_COMPONENTS, m, n // _OBJECTS_PER_COMPONENT))
    with np.errstate(all="ignore"):
        pca = PCA(n_components=min(q, n), random_state=0).fit(values) if n > 1 else None
    if pca is None or len(pca.components_) < 2 or not np.isfinite(pca.explained_variance_ratio_).all():
        return None
    scores = pca.transform(values)
    components = _components(scores[:, :2], pca.explained_variance_ratio_, m)
    if len(np.unique(clusters[clusters >= 0])) < 2:
        return components
    shares = {"principal components": _purity(components.xy, clusters)}
    best = components
    discriminants = _discriminants(scores, clusters) if n >= _OBJECTS_PER_COMPONENT * q else None
    if discriminants is not None:
        shares["linear discriminants"] = _purity(discriminants, clusters)
        if shares["linear discriminants"] >= shares["principal components"] + _BETTER:
            what = f"two linear discriminants, the weighted sums of the {m:,} features that part clusters most"
            best = Projection(
                discriminants,
                ("discriminant 1", "discriminant 2"),
                f"The axes are {what}. {_compared('linear discriminants', shares)} Gaps look wider than they are.",
            )
    if max(shares.values()) >= _CLEAR or not may_try_umap(n, m):
        return best
    (xy, version), better = _umap(scores), max(shares.values())
    shares["UMAP"] = _purity(xy, clusters)
    if shares["UMAP"] < better + _BETTER:
        of = f"of the {_NEIGHBOURS} nearest neighbours of a point are of its cluster"
        here = shares["principal components" if best is components else "linear discriminants"]
        tried = f"UMAP shows the clusters hardly better: {100 * shares['UMAP']:.0f}% {of}, here {100 * here:.0f}%."
        return best._replace(note=f"{best.note} {tried}")
    what = f"UMAP (umap-learn {version}), which places objects near those that are alike in the {m:,} features"
    note = f"The axes are those of {what}. {_compared('UMAP', shares)} Distances between clusters mean little."
    return Projection(xy, ("UMAP 1", "UMAP 2"), note)


def _components(xy: NDArray[np.float64], ratios: NDArray[np.float64], m: int) -> Projection:
    first, second, both = (f"{100 * share:.0f}%" for share in _shares(ratios))
    note = (
        f"The axes are the directions in which the {m:,} features vary most (principal components); together they hold "
        f"{both} of the variance, so clusters that overlap here may be apart in other directions."
    )
    return Projection(xy, (f"component 1 ({first} of the variance)", f"component 2 ({second})"), note)


def _compared(chosen: str, shares: dict[str, float]) -> str:
    """Why this projection was chosen, as a sentence."""
    others = [f"{100 * share:.0f}% on two {name}" for name, share in shares.items() if name != chosen]
    return (
        f"They were chosen because {100 * shares[chosen]:.0f}% of the {_NEIGHBOURS} nearest neighbours of a point are "
        f"of its cluster, against {listing(others)}."
    )


def may_try_umap(n: int, m: int) -> bool:
    """Whether UMAP is tried of n objects with m features, unless another projection shows their clusters."""
    if n < _LEAST_FOR_UMAP or m <= 2:
        return False
    found = find_spec("umap")
    return found is not None and found.origin is not None  # a mere folder of that name is no package


def _umap(scores: NDArray[np.float64]) -> tuple[NDArray[np.float64], str]:
    """(n, 2) places by UMAP, the same at every call, and the version that made them.

    Neighbours are found exactly here: the search of umap-learn compiles for twenty seconds.
    """
    from sklearn.neighbors import NearestNeighbors

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its own dependencies, and of parts of a graph
        import umap

        far, near = NearestNeighbors(n_neighbors=_OF_UMAP).fit(scores).kneighbors(scores)
        settings = {"n_neighbors": _OF_UMAP, "n_epochs": 200, "init": "pca", "random_state": 0, "n_jobs": 1}
        known = {"precomputed_knn": (near, far, None), "force_approximation_algorithm": True}
        made = umap.UMAP(**settings, **known).fit_transform(scores)
    return np.asarray(made, dtype=np.float64), str(umap.__version__)


def _shares(ratios: NDArray[np.float64]) -> tuple[float, float, float]:
    return float(ratios[0]), float(ratios[1]), float(ratios[:2].sum())


def _discriminants(scores: NDArray[np.float64], clusters: NDArray[Any]) -> NDArray[np.float64] | None:
    """(n, 2) scores on the directions that part the clusters most, against the spread inside them (Fisher); with two
    clusters the second is the direction in which the rest varies most. None with one cluster.

    Clusters of fewer than 10 objects are projected, but make no direction, and neither does one in which the clusters
    hardly vary: a few objects apart in it would be so far away that all others are drawn as one line.
    """
    named, counts = np.unique(clusters[clusters >= 0], return_counts=True)
    known = np.isin(clusters, named[counts >= _NEIGHBOURS])
    numbers, of, sizes = np.unique(clusters[known], return_inverse=True, return_counts=True)
    if len(numbers) < 2:
        return None
    X = scores[known]
    means = np.stack([np.bincount(of, column, len(numbers)) / sizes for column in X.T], axis=1)
    _, spread, axes = np.linalg.svd(X - means[of], full_matrices=False)
    kept = spread > _LEAST_SPREAD * max(float(spread.max(initial=0)), 1e-300)
    if kept.sum() < 2:
        return None
    whiten = axes[kept].T / spread[kept] * np.sqrt(len(X))
    centred = (scores - X.mean(axis=0)) @ whiten
    between = (means - X.mean(axis=0)) @ whiten * np.sqrt(sizes)[:, None]
    _, strengths, directions = np.linalg.svd(between, full_matrices=False)
    chosen = directions[:2][strengths[:2] > 1e-9 * strengths[0]]
    if len(chosen) < 2:
        rest = centred - np.outer(centred @ chosen[0], chosen[0])
        chosen = np.stack([chosen[0], np.linalg.svd(rest, full_matrices=False)[2][0]])
    signs = np.sign(chosen[np.arange(2), np.abs(chosen).argmax(axis=1)])
    return np.asarray(centred @ (chosen * signs[:, None]).T)


def _purity(xy: NDArray[np.float64], clusters: NDArray[Any]) -> float:
    """Mean share of the nearest neighbours of a point that are of its cluster, over the first points."""
    from scipy.spatial import cKDTree

    known = np.flatnonzero(clusters >= 0)
    most = min(_NEIGHBOURS, len(known) - 1)
    asked = known[:_MOST_COMPARED]
    _, near = cKDTree(xy[known]).query(xy[asked], most + 1)
    alike = clusters[known[near]] == clusters[asked][:, None]
    return float((alike.sum(axis=1) - 1).mean() / most)
