"""KCC (Wu et al. 2015): k-means on the binary matrix with any utility. Candel's KM, QMI and ECC are cases of it."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field, replace
from math import fsum
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.renamed import renamed_fields
from ensemblage.base.threads import run_interruptibly
from ensemblage.base.validation import Constraints, Flag, Number, Whole, Words, weight_unit
from ensemblage.consensus import _incremental
from ensemblage.consensus._base import InductiveConsensus
from ensemblage.consensus._capabilities import Capabilities
from ensemblage.consensus.diagnostics import Candidates, Diagnostics, Trace
from ensemblage.consensus.kmeans._km import UTILITIES, CategoryUtility, LocalUtility, cluster_densities, joined_pairs
from ensemblage.consensus.kmeans._label_kmeans import (
    KMEANS_CONSTRAINTS,
    Centroids,
    Start,
    Utility,
    best_start,
    predicted_clusters,
)
from ensemblage.kernels._label_kmeans import Climb, climb
from ensemblage.labels.blocks import LabelRows
from ensemblage.labels.ensemble import Ensemble
from ensemblage.labels.links import ImpossiblePairs
from ensemblage.labels.rows import Rows
from ensemblage.metrics._agreement import scores_of_sums, summand, sums_of_profile, weighted_mean
from ensemblage.metrics._cluster_weights import CLUSTER_WEIGHTS, local_weights
from ensemblage.metrics._density import labelled_members

ROWS_OF_STARTS = 2**17
"""Distinct rows that "auto" starts on."""
ROWS_OF_CLUSTER = 200
"""Of them, so that each cluster has proportions."""


NUMBER = "number of clusters"
"""What `Candidates` of a fit without one are."""
EVERY, FURTHER = 10, (14, 20, 28, 40, 57, 80, 113)
"""Numbers of clusters that are asked for first, beside those of the partitions: every one up to it, and some more."""
UTILITY_CONSTRAINTS: Constraints = {
    "utility": [Words(UTILITIES)],
    "normalize": [Flag()],
    "exponent": [Number(above=1)],
    "smoothing": [Number(above=0, below=1)],
    "refine": [Words(["density"]), None],
}
"""What is maximised."""
LEAST_GAIN = 1e-12
"""Rises of the density below it may be rounding."""


def density_of_profile(profile: NDArray[np.int64], offsets: NDArray[np.int64], weights: NDArray[np.float64]) -> float:
    """Candel's S (Eq. 7) of the clusters with that profile."""
    sizes, densities = cluster_densities(profile, offsets, weights)
    return fsum(sizes * densities) / int(sizes.sum())


def climb_density(rows: Rows, utility: Utility, start: Start, max_passes: int) -> tuple[Start, list[float]]:
    """Move single rows, each with all its objects, to the cluster that raises the density most, until none does.

    Rows are visited in order and no cluster is emptied. Returns what became of ``start``, and the density before and
    after each pass, which never falls. O(m p k) time per pass for m distinct rows, O(k d) memory.
    """
    clusters = start.clusters.copy()
    counts = np.ascontiguousarray(start.profile.T)
    operations = 2 * len(rows) * len(rows.weights) * counts.shape[1]
    least = LEAST_GAIN * int(counts[: rows.offsets[1]].sum())
    trace = [density_of_profile(start.profile, rows.offsets, rows.weights)]
    for _ in range(max_passes):
        profile, sizes = counts.T, counts[: rows.offsets[1]].sum(axis=0)
        joined, pairs = (sums.astype(np.float64) for sums in joined_pairs(profile, rows.offsets, rows.weights))
        labelled = np.ascontiguousarray(labelled_members(profile, rows.offsets).T)
        state = Climb(counts, labelled, joined, pairs, sizes, np.bincount(clusters, minlength=len(sizes)))
        given = rows.codes[:], rows.counts, clusters, rows.offsets, rows.weights, state, least
        if not run_interruptibly(climb, *given, operations=operations):
            break
        trace.append(density_of_profile(counts.T, rows.offsets, rows.weights))
    profile = np.ascontiguousarray(counts.T)
    nowhere = np.empty(0, dtype=np.intp)
    centroids, loss = utility.centroids(profile), utility.loss(profile)
    return Start(clusters, profile, centroids, nowhere, loss, start.n_iter, start.init_size), trace


SMOOTHING = float(np.finfo(np.float64).eps)
"""The authors' for "entropy"."""


@renamed_fields(start_on="init_size")
@dataclass(eq=False, repr=False)
class KMeansConsensus(InductiveConsensus):
    """Use it for any number of objects, k given or unknown: k-means on the binary matrix H, in linear time.

    With the category utility this is the KM of Candel, KCC with U_c of Wu et al., and QMI of Topchy et al.: all three
    minimise the same loss. With the entropy utility it is ECC of Liu et al.

    Parameters
    ----------
    n_clusters : int, optional
        Number of clusters of the consensus, at most the number of distinct label rows. None: that whose consensus has
        the highest mean adjusted Rand index with the partitions, by their weights (the larger number on ties), from 1
        to the clusters of the largest partition; or that of a partition given as ``init``.
    utility : {"category", "entropy", "cosine", "lp"}, default "category"
        How well the consensus agrees with a partition: what k-means maximises (Wu et al., Table 1).
    normalize : bool, default False
        Whether each partition's utility is divided by its value for the partition itself, so that partitions with many
        clusters count as much as those with few.
    exponent : float, default 5
        The p of the p-norm, > 1; the authors use 5 and 8. Only for "lp". Very large ones give the maximum norm.
    smoothing : float, default 2.2e-16
        Only for "entropy": added to the proportions when distances are taken, > 0 and < 1.
    refine : {None, "density"}, default None
        "density" moves single label rows of the best start to other clusters while the density (Candel Eq. 7) rises.
    init : {"k-means++", "random"} or array-like of shape (n_objects,), default "k-means++"
        Greedy k-means++ on the label rows (KCC++), distinct random objects (KCC), or a partition (-1: in no cluster).
    n_init : int, default 10
        Number of starts, the one with the least loss wins. A given ``init`` makes one start.
    max_iter : int, default 100
        Most iterations per start.
    tol : float, default 0
        A start ends when no row moves, or when the loss falls by no more than ``tol`` times itself.
    weights : array-like of shape (n_partitions,) or "agreement", optional
        Weight of each partition; 0 leaves it out, 2 is the partition twice. Default: one each. "agreement":
        `metrics.agreement_weights`.
    n_jobs : int, optional
        Threads. -1: every core that this process may use; -2: all but one. None: what a ``joblib.parallel_config``
        says; without one every core, or 1 inside a parallel loop of joblib or scikit-learn. The result does not depend
        on it.
    random_state : int, RandomState, Generator or None
        Seed of the starts.
    init_size : int, "auto" or None, default "auto"
        Distinct label rows that the starts run on, a sample; the best start is then finished on all rows. None is all
        of them. "auto" is 131,072, or 200 for each cluster if that is more.
    cluster_weights : {"eci"}, float or list of array-like, optional
        Weight of each cluster: "eci" or a number θ > 0 is that of `metrics.cluster_weights`, with θ = .4 or that
        number; a list has for each partition the numbers, from 0 to 1, of its clusters in the order of their labels.
        Default: 1. It is that of the cluster's column of H; only for "category", without ``normalize`` and ``refine``.

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
    cluster_weights_ : list of ndarray of shape (n_clusters_of_partition,)
        The weights of each partition's clusters, none for a partition of weight 0. Only with ``cluster_weights``.
    objective_ : float
        Loss: the weighted sum of the distances of the labelled objects to their centroids; for "category" the k-means
        loss on H (Candel Eq. 16). Least is best.
    utility_ : float
        Weighted sum over the partitions of their utility, ≥ 0. Greatest is best.
    density_trace_ : list of float
        With ``refine="density"``: the density before and after each pass over the rows. It never falls.
    init_size_ : int or None
        Distinct rows that the starts ran on; None: all.
    agreement_ : dict of int to float
        The mean adjusted Rand index of each number of clusters that was tried. Only without ``n_clusters``.
    n_iter_ : int
        Iterations of the best start.
    n_features_in_, feature_names_in_
        As in scikit-learn: partitions and their names.

    Raises
    ------
    ValueError
        If ``n_clusters`` exceeds the number of distinct label rows, or a parameter is out of its range.

    Notes
    -----
    O(m p k) time per iteration for m distinct rows of p labels; for "category" and "cosine" less when few rows still
    move. A pass of the refinement is O(m p k) as well, in one thread. Memory beyond the ensemble: its distinct rows and
    about 20 bytes for each.

    ``predict`` of the rows of ``fit`` gives ``labels_``, ties included, unless ``refine`` moved them. Utilities,
    missing labels, samples, the number of clusters: :doc:`k-means on the binary matrix </theory/kmeans>`.

    References
    ----------
    G. Candel, "Linear time evidence accumulation clustering with k-means", Sec. 4.1, Eqs. 16-20.
    J. Wu, H. Liu, H. Xiong, J. Cao, J. Chen, "K-means-based consensus clustering: a unified view", TKDE 27(1), 2015.
    H. Liu et al., "Entropy-based consensus clustering for patient stratification", Bioinformatics 33(17), 2017.
    A. Topchy, A. K. Jain, W. Punch, "Combining multiple weak clusterings", ICDM 2003.

    Examples
    --------
    >>> from ensemblage.consensus import KMeansConsensus
    >>> labels = [[0, 0, 0], [0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 1, 1], [1, 2, 1]]
    >>> km = KMeansConsensus(n_clusters=2, random_state=0).fit(labels)
    >>> km.labels_
    array([0, 0, 0, 1, 1, 1], dtype=int32)
    >>> km.predict([[1, 2, None]])
    array([1], dtype=int32)
    """

    _capabilities: ClassVar[Capabilities] = Capabilities(
        cannot_link=True, in_memory="", finds_n_clusters=True, predict=True, add_partitions=True
    )
    _parameter_constraints: ClassVar[Constraints] = {
        **KMEANS_CONSTRAINTS,
        **UTILITY_CONSTRAINTS,
        "cluster_weights": CLUSTER_WEIGHTS,
        "n_clusters": [Whole(1), None],
        "init_size": [Whole(1), Words(["auto"]), None],
    }

    n_clusters: int | None = None
    _: KW_ONLY
    utility: str = "category"
    normalize: bool = False
    exponent: float = 5.0
    smoothing: float = SMOOTHING
    refine: str | None = None
    init: Any = "k-means++"
    n_init: int = 10
    max_iter: int = 100
    tol: float = 0.0
    weights: Any = None
    n_jobs: int | None = None
    random_state: Any = None
    init_size: int | Literal["auto"] | None = "auto"
    cluster_weights: Any = None

    cluster_weights_: list[NDArray[np.float64]] = field(init=False)
    objective_: float = field(init=False)
    n_iter_: int = field(init=False)
    utility_: float = field(init=False)
    density_trace_: list[float] = field(init=False)
    init_size_: int | None = field(init=False)
    agreement_: dict[int, float] = field(init=False)

    add_partitions = _incremental.add_partitions

    def _check_parameters(self) -> None:
        super()._check_parameters()
        others = {"utility": "category", "normalize": False, "refine": None}
        given = [f"{name}={getattr(self, name)!r}" for name, value in others.items() if getattr(self, name) != value]
        if self.cluster_weights is not None and given:
            raise ValueError(
                "cluster_weights of KMeansConsensus must be None unless utility is 'category', without normalize "
                f"and refine. Got {', '.join(given)}. Leave one of them out."
            )

    def _fit(self, rows: Rows) -> NDArray[Any]:
        for name in ("agreement_", "cluster_weights_", "density_trace_"):  # of an earlier fit
            self.__dict__.pop(name, None)
        local = None if self.cluster_weights is None else local_weights(self, rows)
        of_rows = (rows.offsets, rows.weights, rows.label_sizes(self.n_jobs))
        if local is not None:
            utility: CategoryUtility = LocalUtility(*of_rows, local)
        else:
            own: dict[str, Any] = {"entropy": {"smoothing": self.smoothing}, "lp": {"exponent": self.exponent}}
            utility = UTILITIES[self.utility](*of_rows, **own.get(self.utility, {}))
            utility = utility.normalize() if self.normalize else utility
        if self.n_clusters is None:
            best = self._most_agreeing(rows, utility)
        else:
            k = self._check_n_clusters(rows)
            best = best_start(self, rows, utility, k, self._rows_of_starts(k))
        self.init_size_ = best.init_size
        if self.refine:
            best, self.density_trace_ = climb_density(rows, utility, best, self.max_iter)
        self._utility, self._centroids = utility, Centroids.of(best, rows.codes, rows.units)
        unit = weight_unit(self.weights)
        self.objective_, self.utility_ = best.loss * unit, utility.value(best.profile) * unit
        self.n_iter_ = best.n_iter
        return best.clusters

    def _most_agreeing(self, rows: Rows, utility: CategoryUtility) -> Start:
        """The best start of the number of clusters that agrees most with the partitions, the larger one on ties."""
        own, most = rows.n_clusters, min(int(rows.n_clusters.max()), rows.n_units)
        asked = sorted({*range(1, EVERY + 1), *FURTHER, *np.quantile(own, [0, 0.5, 1], method="higher").tolist(), most})
        asked = [k for k in asked if k <= most]
        if not isinstance(self.init, str):
            asked = Ensemble.from_partitions([self.init]).n_clusters.tolist()
        agreement, best, starts = dict[int, float](), 0, dict[int, Start]()
        while asked:
            for k in asked:
                try:
                    start = best_start(self, rows, utility, k, self._rows_of_starts(k))
                except ImpossiblePairs:
                    if k == max(asked) and not agreement:
                        raise
                    continue
                sums = sums_of_profile(start.profile, rows.offsets, summand("ari", 0))
                agreement[k] = weighted_mean(scores_of_sums(sums, summand("ari", 0), "ari"), rows.weights)
                if (agreement[k], k) >= (agreement.get(best, -2.0), best):
                    best, starts = k, {k: start}
            known = sorted(agreement)
            at = known.index(best)
            near = [(best + known[i]) // 2 for i in (at - 1, at + 1) if 0 <= i < len(known)]
            asked = [] if agreement[best] == 1 or not isinstance(self.init, str) else sorted({*near} - {*known})
        self.agreement_ = {k: agreement[k] for k in sorted(agreement)}
        return starts[best]

    def _rows_of_starts(self, k: int) -> int | None:
        """Distinct rows that the starts of k clusters run on, where there are more."""
        return max(ROWS_OF_STARTS, ROWS_OF_CLUSTER * k) if self.init_size == "auto" else self.init_size

    def _predict_codes(self, codes: LabelRows) -> NDArray[np.int32]:
        return predicted_clusters(self, codes)

    def _check_links(self) -> None:
        if self.refine is not None:
            raise ValueError(
                "refine of KMeansConsensus must be None with must_link or cannot_link: refining moves single rows. Got "
                f"{self.refine!r}. Leave one of them out."
            )

    def _restrict(self, able: Capabilities) -> Capabilities:
        if self.refine is None:
            return able
        return replace(able, must_link=False, cannot_link=False, in_memory="moves single rows, for refine='density'")

    def _diagnostics(self, ensemble: Ensemble, objects: NDArray[np.intp]) -> tuple[Diagnostics, ...]:
        found: list[Diagnostics] = []
        if self.n_clusters is None:
            numbers, agreement = (
                np.array([*part], dtype=np.float64) for part in zip(*self.agreement_.items(), strict=True)
            )
            found.append(Candidates(NUMBER, numbers, "1 − mean ARI", 1 - agreement))
        if self.refine is not None:
            found.append(Trace("density", np.array(self.density_trace_)))
        return tuple(found)
