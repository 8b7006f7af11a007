"""The indices as Ohl & Lindsten ran them, where that differs: those of permetrics 2.0.0 and of their notebook."""

from __future__ import annotations

import numpy as np

from ensemblage.metrics._internal._geometry import Geometry
from ensemblage.metrics._internal._published import own_and_nearest_other


def ball_hall(g: Geometry) -> float:
    """W / K: larger clusters weigh more."""
    return g.wgss / g.k


def banfield_raftery(g: Geometry) -> float:
    """10¹⁰ if a cluster has one object only."""
    return float(g.sizes @ np.log(g.dispersions / g.sizes)) if g.sizes.min() > 1 else 1e10


def duda_hart(g: Geometry) -> float:
    """Σ mean distance within a cluster, of objects to themselves included, over Σ mean distance to the others."""
    own, all_objects = (np.bincount(g.z, weights=sums) for sums in g.sums_by_object)
    within = own / g.sizes**2
    without = (all_objects - own) / (g.sizes * (g.n - g.sizes))
    return float(within.sum() / without.sum())


def det_ratio(g: Geometry) -> float:
    """-10¹⁰ if det W is 0 to the last bit."""
    below = np.linalg.det(g.within_scatter)
    return float(np.linalg.det(g.total_scatter) / below) if below != 0 else -1e10


def log_det_ratio(g: Geometry) -> float:
    """-10¹⁰ if the ratio is not positive."""
    ratio = det_ratio(g)
    return g.n * float(np.log(ratio)) if ratio > 0 else -1e10


def hartigan(g: Geometry) -> float:
    """Σ over the clusters of the sum of squares to the own centroid over that to the centroid nearest to it."""
    from scipy.spatial.distance import pdist, squareform

    apart = squareform(pdist(g.centroids))
    np.fill_diagonal(apart, np.inf)
    nearest = apart.argmin(axis=1)
    other = np.bincount(g.z, weights=g.to_centroids[np.arange(g.n), nearest[g.z]] ** 2)
    return float((g.dispersions / other).sum())


def ksq_det_w(g: Geometry) -> float:
    """K² det of W after its entries are scaled to [0, 1]."""
    w = g.within_scatter
    return g.k**2 * float(np.linalg.det((w - w.min()) / np.float64(np.ptp(w))))


def silhouette(g: Geometry) -> float:
    """a includes the object itself, b is the distance to the nearest other centroid."""
    a = g.sums_by_object[0] / g.sizes[g.z]
    _, b = own_and_nearest_other(g)
    return float(((b - a) / np.maximum(a, b)).mean())


def xie_beni(g: Geometry) -> float:
    """Each object counts with its nearest centroid, whosever that is."""
    nearest = g.to_centroids.min(axis=1) ** 2
    return float(nearest.sum() / g.n / np.float64(g.between_centroids.min()) ** 2)


def wemmert_gancarski(g: Geometry) -> float:
    """The smallest distance to another centroid is that of the whole cluster, and all clusters weigh n."""
    own, other = own_and_nearest_other(g)
    nearest = np.full(g.k, np.inf)
    np.minimum.at(nearest, g.z, other)
    ratios = np.bincount(g.z, weights=own) / g.sizes / nearest
    return float(np.maximum(0, 1 - ratios).sum())
