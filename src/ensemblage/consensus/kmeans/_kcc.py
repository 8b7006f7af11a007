"""KCC (Wu et al. 2015): k-means on the binary matrix with any utility. Candel's KM, QMI and ECC are cases of it."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.random import task_seeds
from ensemblage.base.validation import Constraints, Flag, Number, Whole, Words, weight_unit
from ensemblage.consensus._capabilities import Capabilities
from ensemblage.consensus._incremental import IncrementalConsensus
from ensemblage.consensus._local_weights import LocallyWeighted
from ensemblage.consensus.evidence import Candidates, Evidence, Trace
from ensemblage.consensus.kmeans._density_climb import climb_density
from ensemblage.consensus.kmeans._ecc import EntropyUtility
from ensemblage.consensus.kmeans._km import CategoryUtility, LocalUtility
from ensemblage.consensus.kmeans._label_kmeans import (
    ROWS_OF_CLUSTER,
    ROWS_OF_STARTS,
    BaseKMeans,
    sample_rows,
)
from ensemblage.consensus.kmeans._lloyd import Start
from ensemblage.labels.ensemble import Ensemble
from ensemblage.labels.links import ImpossiblePairs
from ensemblage.labels.rows import Rows
from ensemblage.metrics._agreement import scores_of_sums, summand, sums_of_profile, weighted_mean


@dataclass(frozen=True)
class CosineUtility(CategoryUtility):
    """U_cos: one minus the cosine, half the squared distance to the proportions scaled to length one."""

    def _label_distances(self, proportions: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(-self._directions(proportions))

    def _within(self, known: NDArray[np.int64], labelled: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.asarray(labelled - np.sqrt(self._sums(np.square(known))))

    def _points(self, centroids: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(self._directions(centroids) / np.sqrt(2))

    def _directions(self, proportions: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(proportions / self._spread(np.sqrt(self._sums(np.square(proportions)))))


@dataclass(frozen=True)
class LpUtility(CategoryUtility):
    """U_Lp: the distance that belongs to the p-norm of the proportions, p = ``exponent``; U_cos for 2."""

    exponent: float = 5.0

    bounded: ClassVar[bool] = False

    def _label_distances(self, proportions: NDArray[np.float64]) -> NDArray[np.float64]:
        directions = proportions / self._spread(self._norms(proportions))
        return np.asarray(-(directions ** (self.exponent - 1)))

    def _within(self, known: NDArray[np.int64], labelled: NDArray[np.int64]) -> NDArray[np.float64]:
        # Of proportions, not of counts: powers of counts overflow.
        proportions = known / self._spread(np.maximum(labelled, 1))
        return np.asarray(labelled * (1 - self._norms(proportions)))

    def _norms(self, proportions: NDArray[np.float64]) -> NDArray[np.float64]:
        """(k, p)"""
        largest = np.ones((len(proportions), len(self.weights)))
        powers = self._sums(proportions**self.exponent)
        if powers.min() < LEAST_POWER:  # Of the shares of the largest proportion, one is 1.
            every = np.maximum.reduceat(proportions, self.offsets[:-1], axis=1)
            largest = np.where((powers < LEAST_POWER) & (every > 0), every, 1)
            powers = self._sums((proportions / self._spread(largest)) ** self.exponent)
        return np.asarray(largest * powers ** (1 / self.exponent))


LEAST_POWER = 1e-290
"""Powers of proportions below it may have lost digits."""


UTILITIES: dict[str, type[CategoryUtility]] = {
    "category": CategoryUtility,
    "entropy": EntropyUtility,
    "cosine": CosineUtility,
    "lp": LpUtility,
}


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
SMOOTHING = float(np.finfo(np.float64).eps)
"""The authors' for "entropy"."""


@dataclass(eq=False, repr=False)
class KMeansConsensus(BaseKMeans[CategoryUtility], LocallyWeighted, IncrementalConsensus):
    """Use it for any number of objects, k given or unknown: k-means on the binary matrix H, in linear time.

    With the category utility this is the KM of Candel, KCC with U_c of Wu et al., and QMI of Topchy et al.: all three
    minimise the same loss, which (nearly) maximises Candel's density of the consensus. With the entropy utility it is
    ECC of Liu et al.

    Parameters
    ----------
    n_clusters : int, optional
        Number of clusters of the consensus, at most the number of distinct label rows. None: that whose consensus has
        the highest mean adjusted Rand index with the partitions, by their weights (the larger number on ties), from 1
        to the clusters of the largest partition; or that of a clustering given as ``init``. Identical partitions give
        themselves.
    utility : {"category", "entropy", "cosine", "lp"}, default "category"
        How well the consensus agrees with a partition: what k-means maximises (Wu et al., Table 1). They are functions
        of the label proportions in the clusters: their squares, their negative entropy in bits, their Euclidean length,
        their p-norm.
    normalize : bool, default False
        Whether each partition's utility is divided by its value for the partition itself, so that partitions with many
        clusters count as much as those with few. With "entropy", a partition of a single cluster is left out.
    exponent : float, default 5
        The p of the p-norm, > 1; the authors use 5 and 8. Only for "lp". Very large ones give the maximum norm.
    smoothing : float, default 2.2e-16
        Only for "entropy": added to the proportions when distances are taken, > 0 and < 1. A label that a cluster has
        not seen costs -log2(smoothing) bits; the default is the authors' and makes that 52.
    refine : {None, "density"}, default None
        "density" moves single label rows of the best start to other clusters as long as the exact density (Candel
        Eq. 7) rises. k-means maximises an approximation of it, which is good in large clusters and poor in small ones.
    init : {"k-means++", "random"} or array-like of shape (n_objects,), default "k-means++"
        Greedy k-means++ on the label rows (KCC++), distinct random objects (KCC), or a clustering to start from
        (-1: object without a cluster).
    n_init : int, default 10
        Number of starts, the one with the least loss wins. A given ``init`` makes one start. A single start merges
        true clusters now and then, even on easy data.
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
    start_on : int, "auto" or None, default "auto"
        Distinct label rows that the starts run on, a sample; the best start is then finished on all rows. None is all
        of them. "auto" is 131,072, or 200 for each cluster if that is more. Fewer distinct rows, and a given ``init``,
        are never sampled.
    cluster_weights : {"eci"}, float or list of array-like, optional
        Weight of each cluster: "eci" or a number θ > 0 is that of `metrics.cluster_weights`, with θ = .4 or that
        number; a list has for each partition the numbers, from 0 to 1, of its clusters in the order of their labels.
        Default: 1.
        It is that of the cluster's column of H; only for "category", not ``normalize`` and without ``refine``.

    Attributes
    ----------
    labels_ : ndarray of shape (n_objects,), int32
        Clusters numbered by decreasing size; -1 for an object that no partition labels.
    confidence_ : ndarray of shape (n_objects,)
        Confidence: for / (for + against), over the partitions that join the object with members of its own cluster or
        of another one but not of both; see `metrics.certainty`. 1: no partition supports another cluster. ½: two
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
        Weighted sum over the partitions of their utility, ≥ 0: n times it and ``objective_`` add up to the same number
        for every clustering. Greatest is best.
    density_trace_ : list of float
        With ``refine="density"``: the density before and after each pass over the rows. It never falls.
    start_on_ : int or None
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
        If ``n_clusters`` is missing or exceeds the number of distinct label rows, or a parameter is out of its range.

    Notes
    -----
    O(m p k) time per iteration for m distinct rows of p labels; for "category" and "cosine" less when few rows still
    move (the distance bounds never change the result). A pass of the refinement is O(m p k) as well, in one thread.
    Memory beyond the ensemble: its distinct rows and about 20 bytes for each.

    Without ``n_clusters`` the numbers 1 to 10 are tried, some up to 113 and those of the smallest, the median and the
    largest partition; then the middles between the best number and its neighbours, until none is left. Partitions of 6
    clusters take 6 fits, of 50 about 20. docs/default/combine.md says how the rule was chosen.

    Missing labels: a partition that does not label an object adds nothing to its distances, and proportions are taken
    over the labelled members. Where a partition labels no member of a cluster, its proportions over all objects stand
    in (the authors' toolbox draws a random label instead). A partition's utility counts by its share of labelled
    objects.

    ``predict`` of the rows of ``fit`` gives ``labels_``, ties included, unless ``refine`` moved them: it assigns to the
    nearest centroid.

    With ``start_on``, the rows of the most objects are in the sample with all of these; of the others one object is
    drawn of every so many, and stands for them. ``max_iter`` holds for the starts, and for the best one on all rows.

    Labels depend on the ratios of the weights alone; one below 2⁻⁶⁴ of the largest counts as that much. ``objective_``
    and ``utility_`` are proportional to the weights (infinite beyond the largest float).

    References
    ----------
    G. Candel, "Linear time evidence accumulation clustering with k-means", Sec. 4.1, Eqs. 16-20.
    J. Wu, H. Liu, H. Xiong, J. Cao, J. Chen, "K-means-based consensus clustering: a unified view", TKDE 27(1), 2015.
    H. Liu, R. Zhao, H. Fang, F. Cheng, Y. Fu, Y.-Y. Liu, "Entropy-based consensus clustering for patient
    stratification", Bioinformatics 33(17), 2017.
    A. Topchy, A. K. Jain, W. Punch, "Combining multiple weak clusterings", ICDM 2003.

    Examples
    --------
    >>> from ensemblage import KMeansConsensus
    >>> labels = [[0, 0, 0], [0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 1, 1], [1, 2, 1]]
    >>> km = KMeansConsensus(n_clusters=2, random_state=0).fit(labels)
    >>> km.labels_
    array([0, 0, 0, 1, 1, 1], dtype=int32)
    >>> km.confidence_.round(2)
    array([1.  , 1.  , 0.74, 1.  , 1.  , 1.  ])
    >>> km.predict([[1, 2, None]])
    array([1], dtype=int32)
    >>> ecc = KMeansConsensus(n_clusters=2, utility="entropy", random_state=0).fit(labels)
    >>> round(ecc.objective_, 2), round(ecc.utility_, 2)  # bits: in all, and per object
    (5.51, 2.46)
    """

    _capabilities: ClassVar[Capabilities] = Capabilities(
        cannot_link=True, in_memory="", finds_n_clusters=True, predict=True, add_partitions=True
    )
    _parameter_constraints: ClassVar[Constraints] = {
        **UTILITY_CONSTRAINTS,
        "n_clusters": [Whole(1), None],
        "start_on": [Whole(1), Words(["auto"]), None],
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
    start_on: int | Literal["auto"] | None = "auto"
    cluster_weights: Any = None

    objective_: float = field(init=False)
    utility_: float = field(init=False)
    density_trace_: list[float] = field(init=False)
    start_on_: int | None = field(init=False)
    agreement_: dict[int, float] = field(init=False)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        others = {"utility": "category", "normalize": False, "refine": None}
        given = [f"{name}={getattr(self, name)!r}" for name, value in others.items() if getattr(self, name) != value]
        if self.cluster_weights is not None and given:
            raise ValueError(
                "cluster_weights of KMeansConsensus must be None unless utility is 'category', without normalize "
                f"and refine. Got {', '.join(given)}. Leave one of them out."
            )

    def _best(self, rows: Rows) -> Start:
        self.__dict__.pop("agreement_", None)  # of an earlier fit
        return super()._best(rows) if self.n_clusters is not None else self._most_agreeing(rows)

    def _most_agreeing(self, rows: Rows) -> Start:
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
                    start = self._best_start(rows, k)
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

    def _best_start(self, rows: Rows, k: int) -> Start:
        self.start_on_ = None
        size = max(ROWS_OF_STARTS, ROWS_OF_CLUSTER * k) if self.start_on == "auto" else self.start_on
        if size is None or len(rows) <= size or not isinstance(self.init, str) or rows.units is not None:
            return super()._best_start(rows, k)
        if size < k:
            raise ValueError(
                f"start_on of KMeansConsensus must be ≥ the {k} clusters. Got {size}. Give more rows, or 'auto'."
            )
        seeds = task_seeds(self.random_state, self.n_init + 1)
        sample = sample_rows(rows, int(size), np.random.RandomState(seeds[-1]))
        if len(sample) < k:  # where a few rows are most of the objects
            return self._best_of_starts(rows, k, seeds[:-1])
        self.start_on_ = len(sample)
        best = self._best_of_starts(sample, k, seeds[:-1])
        return self._iterate(rows, self._utility, best.profile)

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

    def _make_utility(self, rows: Rows) -> CategoryUtility:
        if self._local is not None:
            return LocalUtility.of(rows, self.n_jobs, local=self._local)
        own = {"entropy": {"smoothing": self.smoothing}, "lp": {"exponent": self.exponent}}
        utility = UTILITIES[self.utility].of(rows, self.n_jobs, **own.get(self.utility, {}))
        return utility.normalize() if self.normalize else utility

    def _polish(self, rows: Rows, best: Start) -> Start:
        if self.refine:
            best, self.density_trace_ = climb_density(rows, self._utility, best, self.max_iter)
        self.utility_ = self._utility.value(best.profile)
        return best

    def _fit(self, rows: Rows) -> NDArray[Any]:
        self.__dict__.pop("density_trace_", None)  # of an earlier fit
        self._local = self._local_weights(rows)
        clusters = super()._fit(rows)
        unit = weight_unit(self.weights)
        self.objective_, self.utility_ = self.objective_ * unit, self.utility_ * unit
        return clusters

    def _evidence(self, ensemble: Ensemble, objects: NDArray[np.intp]) -> tuple[Evidence, ...]:
        found: list[Evidence] = []
        if self.n_clusters is None:
            numbers, agreement = (
                np.array([*part], dtype=np.float64) for part in zip(*self.agreement_.items(), strict=True)
            )
            found.append(Candidates(NUMBER, numbers, "1 − mean ARI", 1 - agreement))
        if self.refine is not None:
            found.append(Trace("density", np.array(self.density_trace_)))
        return tuple(found)
