"""Many features in the plane: principal components, or linear discriminants where these show the clusters better."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

_MOST_COMPONENTS = 30
"""From which discriminants are made."""
_OBJECTS_PER_COMPONENT = 10
"""Fewer, and discriminants part clusters that are not there."""
_NEIGHBOURS, _MOST_COMPARED = 10, 1_000
"""By which projections are compared, and points that are asked for them."""
_BETTER = 0.05
"""By how much discriminants must be better. The rule was written before any table was tried."""


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

    The projection in which more of the nearest neighbours of a point are of its cluster: two linear discriminants if
    it is a twentieth more than on two principal components. None where there are no components. O(n m q) time for
    q ≤ 30 components.
    """
    from sklearn.decomposition import PCA

    n, m = values.shape
    q = max(2, min(_MOST_COMPONENTS, m, n // _OBJECTS_PER_COMPONENT))
    with np.errstate(all="ignore"):
        pca = PCA(n_components=min(q, n), random_state=0).fit(values) if n > 1 else None
    if pca is None or len(pca.components_) < 2 or not np.isfinite(pca.explained_variance_ratio_).all():
        return None
    scores = pca.transform(values)
    components = scores[:, :2]
    discriminants = _discriminants(scores, clusters) if n >= _OBJECTS_PER_COMPONENT * q else None
    if discriminants is not None:
        by_components, by_discriminants = (_purity(xy, clusters) for xy in (components, discriminants))
        if by_discriminants >= by_components + _BETTER:
            note = (
                f"The axes are two linear discriminants, the weighted sums of the {m:,} features that part clusters "
                f"most: of the {_NEIGHBOURS} nearest neighbours of a point {100 * by_discriminants:.0f}% are of its "
                f"cluster, on two principal components {100 * by_components:.0f}%. Gaps look wider than they are."
            )
            return Projection(discriminants, ("discriminant 1", "discriminant 2"), note)
    first, second, both = (f"{100 * share:.0f}%" for share in _shares(pca.explained_variance_ratio_))
    note = (
        f"The axes are the directions in which the {m:,} features vary most (principal components); together they hold "
        f"{both} of the variance, so clusters that overlap here may be apart in other directions."
    )
    return Projection(components, (f"component 1 ({first} of the variance)", f"component 2 ({second})"), note)


def _shares(ratios: NDArray[np.float64]) -> tuple[float, float, float]:
    return float(ratios[0]), float(ratios[1]), float(ratios[:2].sum())


def _discriminants(scores: NDArray[np.float64], clusters: NDArray[Any]) -> NDArray[np.float64] | None:
    """(n, 2) scores on the directions that part the clusters most, against the spread inside them (Fisher); with two
    clusters the second is the direction in which the rest varies most. None with one cluster.
    """
    known = clusters >= 0
    numbers, of, sizes = np.unique(clusters[known], return_inverse=True, return_counts=True)
    if len(numbers) < 2:
        return None
    X = scores[known]
    means = np.stack([np.bincount(of, column, len(numbers)) / sizes for column in X.T], axis=1)
    _, spread, axes = np.linalg.svd(X - means[of], full_matrices=False)
    kept = spread > 1e-9 * max(float(spread.max(initial=0)), 1e-300)
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
