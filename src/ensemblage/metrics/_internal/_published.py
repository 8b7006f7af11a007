"""The indices as they were published; where a publication is not at hand, as in Desgraupes' clusterCrit (2013)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage.metrics._internal._geometry import Geometry


def ball_hall(g: Geometry) -> float:
    """Mean over the clusters of the mean squared distance to the centroid."""
    return float((g.dispersions / g.sizes).mean())


def banfield_raftery(g: Geometry) -> float:
    """Σ n_k log(tr W_k / n_k)."""
    return float(g.sizes @ np.log(g.dispersions / g.sizes))


def calinski_harabasz(g: Geometry) -> float:
    """(B / (K − 1)) / (W / (n − K)) with sums of squares between and within clusters; scikit-learn's."""
    from sklearn.metrics import calinski_harabasz_score

    return float(calinski_harabasz_score(g.X, g.z))


def c_index(g: Geometry) -> float:
    """(S − S_min) / (S_max − S_min): S sums the N_w distances within clusters, S_min the N_w smallest of all."""
    smallest, largest = g.distances.smallest_sum(g.n_within), g.distances.largest_sum(g.n_within)
    return float((g.pairs.within - smallest) / np.float64(largest - smallest))


def davies_bouldin(g: Geometry) -> float:
    """Mean over the clusters of the largest (δ_k + δ_l) / ‖c_k − c_l‖; scikit-learn's."""
    from sklearn.metrics import davies_bouldin_score

    return float(davies_bouldin_score(g.X, g.z))


def duda_hart(g: Geometry) -> float:
    """Je(K) / Je(1): sum of squares within the clusters over that of a single one (Je(2) / Je(1) for two)."""
    return float(g.wgss / np.float64(np.trace(g.total_scatter)))


def dunn(g: Geometry) -> float:
    """Smallest distance between objects of two clusters over the largest within one."""
    return float(g.pairs.separation / np.float64(g.pairs.diameter))


def det_ratio(g: Geometry) -> float:
    """det T / det W."""
    return float(np.exp(log_det(g.total_scatter) - log_det(g.within_scatter)))


def log_det_ratio(g: Geometry) -> float:
    """n log(det T / det W)."""
    return float(g.n * (log_det(g.total_scatter) - log_det(g.within_scatter)))


def log_ss_ratio(g: Geometry) -> float:
    """log(B / W)."""
    return float(np.log(np.float64(g.bgss)) - np.log(np.float64(g.wgss)))


def ksq_det_w(g: Geometry) -> float:
    """K² det W."""
    return g.k**2 * float(np.linalg.det(g.within_scatter))


def mcclain_rao(g: Geometry) -> float:
    """Mean distance within clusters over mean distance between them."""
    return float(np.float64(g.pairs.within) / g.n_within / (g.pairs.between / g.n_between))


def pbm(g: Geometry) -> float:
    """((E_T / E_W) D_B / K)²: E sums distances to the mean, to the centroids; D_B is the largest between centroids."""
    total = np.linalg.norm(g.X - g.mean, axis=1).sum()
    own = np.float64(np.linalg.norm(g.residuals, axis=1).sum())
    return float((total / own * g.between_centroids.max() / g.k) ** 2)


def silhouette(g: Geometry) -> float:
    """Mean of (b − a) / max(a, b): a, b mean distances to the own and to the nearest other cluster; scikit-learn's."""
    from sklearn.metrics import silhouette_score

    return float(silhouette_score(g.X, g.z))


def wgss(g: Geometry) -> float:
    """Sum of squared distances to the centroids."""
    return g.wgss


def xie_beni(g: Geometry) -> float:
    """Mean squared distance to the own centroid over the smallest squared distance of two centroids."""
    return float(g.wgss / g.n / np.float64(g.between_centroids.min()) ** 2)


def wemmert_gancarski(g: Geometry) -> float:
    """Mean, by size, of max(0, 1 − mean of d(x, own centroid) / d(x, nearest other centroid)) over the clusters."""
    own, other = own_and_nearest_other(g)
    ratios = np.bincount(g.z, weights=own / other) / g.sizes
    return float(g.sizes @ np.maximum(0, 1 - ratios) / g.n)


def own_and_nearest_other(g: Geometry) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(n,) distances to the own centroid and to the nearest other one."""
    rows, others = np.arange(g.n), g.to_centroids.copy()
    others[rows, g.z] = np.inf
    return g.to_centroids[rows, g.z], others.min(axis=1)


def log_det(scatter: NDArray[np.float64]) -> Any:
    """Logarithm of the determinant; NaN if the scatter has no full rank."""
    if np.linalg.matrix_rank(scatter, hermitian=True) < len(scatter):
        return np.nan
    return np.linalg.slogdet(scatter)[1]
