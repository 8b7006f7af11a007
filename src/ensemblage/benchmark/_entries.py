"""Who takes part: plain clusterers, consensus methods on pools, rankers that choose a member, and the user's own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage._ensemble import Ensemble
from ensemblage.consensus import METHODS, make_consensus
from ensemblage.generation import MixedPartitions, RandomKPartitions
from ensemblage.ranking import make_ranker
from ensemblage.reproduce._methods import import_method

FEATURES = "features"
"""What plain clusterers get instead of a pool."""
POOLS = ("random-k", "diverse", "both", "published")
SELECTORS = ("discotec", "discotec-tv", "discotec-kl", "discotec-hellinger", "aari", "anmi", "silhouette")
MOST_K = 20
"""Numbers of clusters that rules without one look at: 2 to this."""


@dataclass(frozen=True)
class Entry:
    """One that takes part, under one name."""

    name: str
    kind: str
    """ "baseline", "consensus", "selector"; of the user "clusterer" (gets features) or "combiner" (gets labels)."""
    knows_k: bool
    """Whether it is told the number of classes."""

    @property
    def column(self) -> str:
        """What tables call its setting."""
        return "k known" if self.knows_k else "k found"


def entries_of(pool: str, own: tuple[str, ...] = (), own_consensus: tuple[str, ...] = ()) -> list[Entry]:
    """All that get this pool, or the features."""
    if pool == FEATURES:
        known = [Entry(name, "baseline", True) for name in BASELINES]
        found = [Entry(name, "baseline", False) for name in RULES]
        outside = [Entry(name, "clusterer", "n_clusters" in _parameters(name)) for name in own]
        return [*known, *found, *outside]
    known = [Entry(name, "consensus", True) for name in METHODS]
    found = [Entry(name, "consensus", False) for name, method in METHODS.items() if method.finds_k]
    chosen = [Entry(name, "selector", False) for name in SELECTORS]
    return [*known, *found, *chosen, *(Entry(name, "combiner", True) for name in own_consensus)]


def _parameters(name: str) -> Any:
    found = import_method(name)
    return found().get_params() if hasattr(found, "get_params") else {}


def make_pool(kind: str, X: NDArray[np.float64], k: int, seed: int) -> NDArray[np.int64]:
    """(n, p) labels of a pool that is made here."""
    pools: dict[str, Callable[[], list[Any]]] = {
        "random-k": lambda: [RandomKPartitions(50, random_state=seed, n_jobs=1)],
        "diverse": lambda: [
            MixedPartitions(c, random_state=seed, n_jobs=1) for c in sorted({2, k, 2 * k, "sqrt"}, key=str)
        ],
    }
    generators = pools["random-k"]() + pools["diverse"]() if kind == "both" else pools[kind]()
    return np.column_stack([generator.fit_transform(X) for generator in generators]).astype(np.int64)


def solve(
    entry: Entry, X: NDArray[np.float64], members: NDArray[np.int64] | None, k: int, seed: int
) -> NDArray[np.int64]:
    """(n,) labels that an entry gives, −1 for no cluster; ``members`` is the pool, None for those that get features."""
    if entry.kind == "baseline":
        return np.asarray((BASELINES if entry.knows_k else RULES)[entry.name](X, k, seed), dtype=np.int64)
    if entry.kind == "clusterer":
        estimator = import_method(entry.name)()
        known = estimator.get_params()
        chosen = {"n_clusters": k, "random_state": seed}
        estimator.set_params(**{name: value for name, value in chosen.items() if name in known})
        return np.asarray(estimator.fit_predict(X), dtype=np.int64)
    if members is None:
        raise ValueError(f"{entry.name} must get a pool. Got none. Name one.")
    if entry.kind == "selector":
        ranker = make_ranker(entry.name)
        known = ranker.get_params()
        ranker.set_params(**{name: 0 for name in ("random_state",) if name in known})
        takes_features = entry.name == "silhouette"
        order = ranker.fit(members, features=X).order_ if takes_features else ranker.fit(members).order_
        return np.asarray(members[:, order[0]])
    if entry.kind == "combiner":
        return np.asarray(import_method(entry.name)(n_clusters=k).fit(members).labels_, dtype=np.int64)
    consensus = make_consensus(entry.name, k if entry.knows_k else None)
    known = consensus.get_params()
    consensus.set_params(**{n: v for n, v in {"random_state": seed, "n_jobs": 1}.items() if n in known})
    return np.asarray(consensus.fit(Ensemble(members)).labels_, dtype=np.int64)


def _kmeans(X: NDArray[np.float64], k: int, seed: int) -> Any:
    from sklearn.cluster import KMeans

    return KMeans(k, n_init=10, random_state=seed).fit_predict(X)


def _mixture(X: NDArray[np.float64], k: int, seed: int) -> Any:
    return _fitted_mixture(X, k, seed).predict(X)


def _fitted_mixture(X: NDArray[np.float64], k: int, seed: int) -> Any:
    from sklearn.mixture import GaussianMixture

    return GaussianMixture(k, n_init=3, reg_covar=1e-4, random_state=seed).fit(X)


def _linkage(kind: str) -> Callable[..., Any]:
    def clusters(X: NDArray[np.float64], k: int, seed: int) -> Any:
        from sklearn.cluster import AgglomerativeClustering

        return AgglomerativeClustering(k, linkage=kind).fit_predict(X)

    return clusters


def _spectral(X: NDArray[np.float64], k: int, seed: int) -> Any:
    from sklearn.cluster import SpectralClustering

    neighbours = min(10, len(X) - 1)
    return SpectralClustering(
        k, affinity="nearest_neighbors", n_neighbors=neighbours, assign_labels="cluster_qr", random_state=seed
    ).fit_predict(X)


def _hdbscan(X: NDArray[np.float64], k: int, seed: int) -> Any:
    from sklearn.cluster import HDBSCAN

    return HDBSCAN(min_cluster_size=max(5, min(len(X) // 50, 50)), copy=True).fit_predict(X)


def _by_bic(X: NDArray[np.float64], k: int, seed: int) -> Any:
    models = [_fitted_mixture(X, j, seed) for j in range(1, min(MOST_K, len(X) - 1) + 1)]
    return min(models, key=lambda model: model.bic(X)).predict(X)


def _by_silhouette(X: NDArray[np.float64], k: int, seed: int) -> Any:
    from sklearn.metrics import silhouette_score

    found = [_kmeans(X, j, seed) for j in range(2, min(MOST_K, len(X) - 1) + 1)]
    sample = min(len(X), 10_000)
    return max(found, key=lambda labels: silhouette_score(X, labels, sample_size=sample, random_state=seed))


BASELINES: dict[str, Callable[..., Any]] = {
    "k-means": _kmeans,
    "mixture": _mixture,
    "ward": _linkage("ward"),
    "average": _linkage("average"),
    "spectral": _spectral,
}
"""Told the number of classes; one setting each, fixed beforehand."""
RULES: dict[str, Callable[..., Any]] = {
    "mixture by BIC": _by_bic,
    "k-means by silhouette": _by_silhouette,
    "hdbscan": _hdbscan,
}
"""Not told it."""
