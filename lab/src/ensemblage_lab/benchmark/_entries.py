"""Who takes part: plain clusterers, consensus methods on pools, rankers that choose a member, and the user's own."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage import ConsensusClustering, choose_k
from ensemblage.base.options import BY_CONSENSUS
from ensemblage.consensus import METHODS, make_consensus
from ensemblage.consensus._own import NUMBERS_OF_CLUSTERS, labels_by
from ensemblage.generation import Genie, MixedPartitions, RandomKPartitions
from ensemblage.labels.ensemble import Ensemble
from ensemblage.ranking import SelectPartitions, make_ranker
from ensemblage_lab._methods import import_method, version_of
from ensemblage_lab.benchmark._scores import numbers_of

FEATURES = "features"
"""What plain clusterers get instead of a pool."""
OWN, FORMER = "default", "first default"
"""Names of ``ConsensusClustering()`` and of the same with ``selection="consensus"``."""
POOLS = ("random-k", "diverse", "both", "published")
OF_LABELS = ("discotec", "discotec-tv", "discotec-kl", "discotec-hellinger", "aari", "anmi")
OF_FEATURES = ("silhouette", "calinski_harabasz", "davies_bouldin", "xie_beni", "dunn", "pbm", "wemmert_gancarski")
"""Indices that are made to be compared between numbers of clusters; the others of ``RANKERS`` are read as elbows."""
MOST_K = 20
"""Numbers of clusters that rules without one look at: 2 to this."""
DIVERSE_K = (2, 3, 4, 6, 9, 13, 19, 28)
"""Numbers of clusters of the pool of several algorithms, those up to √n."""
N_TRIED = 24
"""Objects that a user's class must cluster before it takes part."""
MOST_FULL = 50
"""Features above which the covariances of mixtures are diagonal."""


@dataclass(frozen=True)
class Entry:
    """One that takes part, under one name."""

    name: str
    kind: str
    """Gets features: "baseline", of the user "clusterer"; gets a pool: "consensus", "pipeline", "selector", of the user
    "combiner"."""
    knows_k: bool
    """Whether the number of classes is given."""
    version: str = ""
    """Of the user's class; what is built in goes by the version of ensemblage."""

    @property
    def key(self) -> str:
        """What results are kept under."""
        return f"{self.name}{self.version and f' {self.version}'}, {self.column}"

    @property
    def is_outside(self) -> bool:
        """Whether it is the user's class."""
        return self.kind in ("clusterer", "combiner")

    @property
    def column(self) -> str:
        """What tables call its setting."""
        return "k known" if self.knows_k else "k found"

    @property
    def is_once(self) -> bool:
        """Whether it gets one seed: rankers, and rules that cluster once for every k."""
        return self.kind == "selector" or (self.kind == "baseline" and self.name in SCANS)

    @property
    def is_slow(self) -> bool:
        """Whether it takes as long as all others together, and comes last."""
        return self.name == "k-means by choose_k"


def entries_of(pool: str, own: tuple[str, ...] = (), own_consensus: tuple[str, ...] = ()) -> list[Entry]:
    """All that get this pool, or the features."""
    if pool == FEATURES:
        known = [Entry(name, "baseline", True) for name in BASELINES]
        found = [Entry(name, "baseline", False) for name in RULES]
        return [*known, *found, *_outside("clusterer", own)]
    known = [Entry(name, "consensus", True) for name in METHODS]
    found = [Entry(name, "consensus", False) for name, method in METHODS.items() if method.finds_k]
    chosen = [Entry(name, "selector", False) for name in (*OF_LABELS, *OF_FEATURES)]
    trimmed = [Entry(name, "pipeline", True) for name in PIPELINES]
    return [*known, *found, *chosen, *trimmed, *_outside("combiner", own_consensus)]


def _outside(kind: str, names: tuple[str, ...]) -> list[Entry]:
    """The user's classes; those that take the number of clusters are given it."""
    takes_k = {name: bool(_parameters(name) & set(NUMBERS_OF_CLUSTERS)) for name in names}
    return [Entry(name, kind, takes_k[name], version_of(name)) for name in names]


def _parameters(name: str) -> set[str]:
    """What the constructor of the user's class takes."""
    found = import_method(name)
    try:
        return set(inspect.signature(found).parameters)
    except (TypeError, ValueError):  # a class without a signature
        return set()


def _own(name: str, k: int, seed: int) -> Any:
    """An instance of the user's class, told what its constructor takes."""
    settings: dict[str, Any] = dict.fromkeys(NUMBERS_OF_CLUSTERS, k) | {"random_state": seed, "n_jobs": 1}
    known = _parameters(name)
    return import_method(name)(**{key: value for key, value in settings.items() if key in known})


def make_pool(kind: str, X: NDArray[np.float64], seed: int) -> NDArray[np.int64]:
    """(n, p) labels of a pool that is made here. It does not know the number of classes."""
    settings: dict[str, Any] = {"random_state": seed, "n_jobs": 1}
    with TemporaryDirectory() as trees:
        generators: list[Any] = []
        if kind in ("random-k", "both"):
            generators.append(RandomKPartitions(50, **settings))
        if kind in ("diverse", "both"):
            ks = [k for k in DIVERSE_K if k * k <= max(len(X), 4)]
            generators += [MixedPartitions(k, estimators=_clusterers(X, trees), **settings) for k in ks]
        return np.column_stack([generator.fit_transform(X) for generator in generators]).astype(np.int64)


def solve(
    entry: Entry, X: NDArray[np.float64], members: NDArray[np.int64] | None, k: int, seed: int
) -> NDArray[np.int64]:
    """(n,) labels that an entry gives, −1 for no cluster; ``members`` is the pool, None for those that get features."""
    if entry.kind == "baseline":
        return np.asarray((BASELINES if entry.knows_k else RULES)[entry.name](X, k, seed), dtype=np.int64)
    if entry.kind == "clusterer":
        return labels_by(_own(entry.name, k, seed), X)
    if members is None:
        raise ValueError(f"{entry.name} must be run on a pool. Got none. Name a pool.")
    if entry.kind == "selector":
        # Rankers of labels ignore the features.
        ranker = _with(make_ranker(entry.name), random_state=0).fit(members, features=X)
        return np.asarray(members[:, ranker.order_[0]])
    if entry.kind == "combiner":
        return labels_by(_own(entry.name, k, seed), members)
    name = entry.name
    if entry.kind == "pipeline":
        name, ranker = PIPELINES[name]
        kept = SelectPartitions(_with(make_ranker(ranker), random_state=0)).fit(members)
        members = members[:, kept.selected_]
    consensus = _with(make_consensus(name, k if entry.knows_k else None), random_state=seed, n_jobs=1)
    return np.asarray(consensus.fit(Ensemble._made(members)).labels_, dtype=np.int64)


def try_outside(entry: Entry) -> int:
    """The number of clusters that the user's class finds in `N_TRIED` objects around two centres.

    Raises
    ------
    ValueError
        If it gives no labels; and whatever the class raises.
    """
    y = np.arange(N_TRIED) % 2
    X = np.random.default_rng(0).normal(size=(N_TRIED, 2)) + 9.0 * y[:, None]
    members = np.repeat(y[:, None], 10, axis=1).astype(np.int64)
    return len(np.unique(solve(entry, X, members, 2, 0)))


def answer(
    X: NDArray[np.float64],
    members: NDArray[np.int64] | None,
    references: Sequence[NDArray[np.int64]],
    of_members: NDArray[np.float64] | None,
    k: int,
    seed: int,
    entry: Entry,
) -> tuple[dict[str, Any], float]:
    """The scores of what an entry answers, and the seconds of the processor that the answer took without them."""
    start = time.process_time()
    labels = solve(entry, X, members, k, seed)
    seconds = time.process_time() - start
    return numbers_of(references, labels, of_members) | {"true_k": k}, seconds


def _with(estimator: Any, **settings: Any) -> Any:
    """The estimator with those of the settings that it has."""
    known = estimator.get_params()
    return estimator.set_params(**{name: value for name, value in settings.items() if name in known})


def _kmeans(X: NDArray[np.float64], k: int, seed: int) -> Any:
    from sklearn.cluster import KMeans

    return KMeans(k, n_init=10, random_state=seed).fit_predict(X)


def _mixture(X: NDArray[np.float64], k: int, seed: int) -> Any:
    return _fitted_mixture(X, k, seed).predict(X)


def _fitted_mixture(X: NDArray[np.float64], k: int, seed: int) -> Any:
    return _mixture_of(X, k, n_init=3, random_state=seed).fit(X)


def _mixture_of(X: NDArray[np.float64], k: int, **settings: Any) -> Any:
    from sklearn.mixture import GaussianMixture

    covariances = "full" if X.shape[1] <= MOST_FULL else "diag"
    return GaussianMixture(k, covariance_type=covariances, reg_covar=1e-4, **settings)


def _linkage(kind: str) -> Callable[..., Any]:
    def clusters(X: NDArray[np.float64], k: int, seed: int) -> Any:
        from sklearn.cluster import AgglomerativeClustering

        return AgglomerativeClustering(k, linkage=kind).fit_predict(X)

    return clusters


def _spectral(X: NDArray[np.float64], k: int, seed: int) -> Any:
    return _spectral_of(X, k, random_state=seed).fit_predict(X)


def _spectral_of(X: NDArray[np.float64], k: int, **settings: Any) -> Any:
    from sklearn.cluster import SpectralClustering

    return SpectralClustering(
        k, affinity="nearest_neighbors", n_neighbors=min(10, len(X) - 1), assign_labels="cluster_qr", **settings
    )


def _clusterers(X: NDArray[np.float64], trees: str) -> list[Any]:
    """The algorithms of the diverse pool; each is run with every k. Hierarchies are kept in a folder and cut again."""
    from sklearn.cluster import AgglomerativeClustering, KMeans

    kept: dict[str, Any] = {"memory": trees, "compute_full_tree": True}
    linkages = [AgglomerativeClustering(linkage=linkage, **kept) for linkage in ("ward", "average")]
    return [KMeans(n_init=1), _mixture_of(X, 2), *linkages, _spectral_of(X, 2)]


def _hdbscan(X: NDArray[np.float64], k: int, seed: int) -> Any:
    from sklearn.cluster import HDBSCAN

    return HDBSCAN(min_cluster_size=max(5, min(len(X) // 50, 50)), copy=True).fit_predict(X)


def _by_bic(X: NDArray[np.float64], k: int, seed: int) -> Any:
    models = [_fitted_mixture(X, j, seed) for j in range(1, _most_k(X) + 1)]
    return min(models, key=lambda model: model.bic(X)).predict(X)


def _by_silhouette(X: NDArray[np.float64], k: int, seed: int) -> Any:
    from sklearn.metrics import silhouette_score

    found = [_kmeans(X, j, seed) for j in range(2, _most_k(X) + 1)]
    sample = min(len(X), 2_000)
    return max(found, key=lambda labels: silhouette_score(X, labels, sample_size=sample, random_state=seed))


def _by_choose_k(X: NDArray[np.float64], k: int, seed: int) -> Any:
    ks = range(2, min(10, len(X) // 3) + 1)
    choice = choose_k(X, ks, standardize=False, n_references=19, n_jobs=1, random_state=seed)
    return _kmeans(X, choice.best, seed)


def _most_k(X: NDArray[np.float64]) -> int:
    return min(MOST_K, len(X) // 2)


def _genie(X: NDArray[np.float64], k: int, seed: int) -> Any:
    return Genie(k).fit_predict(X)


def _default(X: NDArray[np.float64], k: int | None, seed: int) -> Any:
    return ConsensusClustering(k, n_jobs=1, random_state=seed).fit_predict(X)


def _first_default(X: NDArray[np.float64], k: int | None, seed: int) -> Any:
    return ConsensusClustering(k, selection=BY_CONSENSUS, n_jobs=1, random_state=seed).fit_predict(X)


BASELINES: dict[str, Callable[..., Any]] = {
    "k-means": _kmeans,
    "mixture": _mixture,
    "ward": _linkage("ward"),
    "average": _linkage("average"),
    "spectral": _spectral,
    "genie": _genie,
    OWN: _default,
    FORMER: _first_default,
}
"""With k given; one setting each, fixed beforehand."""
RULES: dict[str, Callable[..., Any]] = {
    "mixture by BIC": _by_bic,
    "k-means by silhouette": _by_silhouette,
    "k-means by choose_k": _by_choose_k,
    "hdbscan": _hdbscan,
    OWN: lambda X, k, seed: _default(X, None, seed),
    FORMER: lambda X, k, seed: _first_default(X, None, seed),
}
"""With k unknown."""
SCANS = ("mixture by BIC", "k-means by silhouette", "k-means by choose_k")
PIPELINES: dict[str, tuple[str, str]] = {
    "half by discotec, km": ("km", "discotec"),
    "half by discotec, eac-average": ("eac-average", "discotec"),
    "half by aari, acv": ("acv", "aari"),
}
"""The consensus of the half of the pool that a ranker puts first: its name, the ranker's."""
