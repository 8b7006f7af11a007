"""Many features in the plane: principal components; linear discriminants or UMAP where they show the clusters better.

The rule, which was written before any table was tried. Of the nearest neighbours of a point in the plane a share is of
its cluster. Discriminants are taken where that share is a twentieth more than on two principal components. UMAP, an
optional package, is tried where the better of the two has less than nine tenths, and taken where it is a twentieth
more than that one. Which clusters and directions make discriminants was narrowed after one table: two objects apart had
drawn all others as one line.
"""

import warnings
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.text import listing

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
    return n >= _LEAST_FOR_UMAP and m > 2 and _has_umap()


def _has_umap() -> bool:
    """Whether umap-learn is installed; a mere folder of that name beside the user's files is no package."""
    found = find_spec("umap")
    return found is not None and found.origin is not None


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
