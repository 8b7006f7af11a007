"""Consensus by k-means on the binary matrix: Candel's KM, KCC with every utility of Wu et al., ECC, QMI."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage._ensemble import Ensemble
from ensemblage._random import task_seeds
from ensemblage._validation import MOST_TASKS, check_choice, check_number, check_whole, weight_unit
from ensemblage.consensus._base import BaseConsensus, Rows
from ensemblage.consensus._lloyd import Centroids, Start, lloyd, nearest_centroids, seed_at_random, seed_far_apart
from ensemblage.consensus._refine import climb_density
from ensemblage.consensus._utilities import UTILITIES, CategoryUtility, Utility
from ensemblage.consensus.evidence import Evidence, Trace
from ensemblage.counting._profiles import label_profile
from ensemblage.rows.blocks import BLOCK_ROWS
from ensemblage.rows.threads import parallel_map


class BaseKMeans(BaseConsensus):
    """Starts, Lloyd's iterations and ``predict`` for a utility that the method names in ``_make_utility``."""

    init: Any
    n_init: int
    max_iter: int
    tol: float
    random_state: Any
    objective_: float
    n_iter_: int
    _utility: Utility

    def _holds_rows(self) -> str:
        return ""

    def _make_utility(self, rows: Rows) -> Utility:
        raise NotImplementedError

    def _fit(self, rows: Rows, ensemble: Ensemble) -> NDArray[Any]:
        self._check_parameters()
        k = self._check_n_clusters(len(rows))
        self._utility = self._make_utility(rows)
        best = self._polish(rows, min(self._starts(rows, ensemble, k), key=lambda start: start.loss))
        self._centroids = Centroids.of(best, rows)
        self.objective_, self.n_iter_ = best.loss, best.n_iter
        return best.clusters

    def _polish(self, rows: Rows, best: Start) -> Start:
        return best

    def _check_parameters(self) -> None:
        name = type(self).__name__
        if isinstance(self.init, str):
            check_choice(self.init, f"init of {name}", ["k-means++", "random"])
        check_whole(self.n_init, f"n_init of {name}", 1, MOST_TASKS)
        check_whole(self.max_iter, f"max_iter of {name}", 1)
        check_number(self.tol, f"tol of {name}", least=0)

    def _starts(self, rows: Rows, ensemble: Ensemble, k: int) -> list[Start]:
        if not isinstance(self.init, str):
            return [self._lloyd(rows, self._given(ensemble, k))]
        seeds = task_seeds(self.random_state, self.n_init)
        # Few rows: one start per thread. Many: every start uses all threads, and only the best is kept.
        if len(rows) <= BLOCK_ROWS:
            return parallel_map(lambda seed: self._start(rows, k, int(seed)), seeds, self.n_jobs)
        return [min((self._start(rows, k, int(seed)) for seed in seeds), key=lambda start: start.loss)]

    def _start(self, rows: Rows, k: int, seed: int) -> Start:
        random = np.random.RandomState(seed)
        if self.init == "random":
            return self._lloyd(rows, seed_at_random(rows, k, random))
        return self._lloyd(rows, seed_far_apart(rows, self._utility, k, random, self.n_jobs))

    def _lloyd(self, rows: Rows, seeds: NDArray[np.int64]) -> Start:
        return lloyd(rows, self._utility, seeds, self.max_iter, self.tol, self.n_jobs)

    def _given(self, ensemble: Ensemble, k: int) -> NDArray[np.int64]:
        """Profile of the clustering given as ``init``."""
        init = Ensemble.from_partitions([self.init])
        if len(init) != len(ensemble) or init.n_clusters[0] != k:
            raise ValueError(
                f"init of {type(self).__name__} must label the {len(ensemble)} objects with {k} clusters. "
                f"Got {len(init)} labels of {init.n_clusters[0]} clusters. Give one label per object, or a name."
            )
        clusters = np.where(init.codes[:, 0] < k, init.codes[:, 0].astype(np.int32), -1)
        counts = np.ones(len(ensemble), dtype=np.int64)
        return label_profile(ensemble.codes, clusters, counts, ensemble.offsets, k, self.n_jobs)

    def predict(self, X: Any) -> NDArray[np.int32]:
        """Nearest cluster of new label rows, the first one on ties.

        A row that ``fit`` put into a cluster because that was empty otherwise goes there.

        Parameters
        ----------
        X : array-like, data frame or Ensemble of shape (n_new, n_partitions)
            A label not seen in ``fit`` counts as missing, with one warning.

        Returns
        -------
        ndarray of shape (n_new,), int32
            Cluster of each row; -1 where nothing is labelled.
        """
        codes = self._encode(X)
        # In the order of the fit, in which ties went to the first.
        nearest = nearest_centroids(codes, self._utility, self._centroids, self.n_jobs)
        return np.append(self._number, -1)[nearest].astype(np.int32)


def check_utility(estimator: Any, name: str) -> None:
    """Check what names the utility of an estimator with those of `KMeansConsensus`, and ``refine``."""
    check_choice(estimator.utility, f"utility of {name}", UTILITIES)
    check_number(estimator.exponent, f"exponent of {name}", above=1)
    check_number(estimator.smoothing, f"smoothing of {name}", above=0, below=1)
    if estimator.refine is not None:
        check_choice(estimator.refine, f"refine of {name}, if not None,", ["density"])


class KMeansConsensus(BaseKMeans):
    """Consensus by k-means on the binary matrix H, without building it.

    With the category utility this is the KM of Candel, KCC with U_c of Wu et al., and QMI of Topchy et al.: all three
    minimise the same loss, which (nearly) maximises Candel's density of the consensus. With the entropy utility it is
    ECC of Liu et al.

    Parameters
    ----------
    n_clusters : int
        Number of clusters of the consensus, at most the number of distinct label rows.
    utility : {"category", "entropy", "cosine", "lp"}, default "category"
        How well the consensus agrees with a partition: what k-means maximises (Wu et al., Table 1). They are functions
        of the label proportions in the clusters: their squares, their negative entropy in bits, their Euclidean length,
        their p-norm.
    normalized : bool, default False
        Whether each partition's utility is divided by its value for the partition itself, so that partitions with many
        clusters count as much as those with few. With "entropy", a partition of a single cluster is left out.
    exponent : float, default 5
        The p of the p-norm, > 1; the authors use 5 and 8. Only for "lp". Very large ones give the maximum norm.
    smoothing : float, default 2.2e-16
        Only for "entropy": added to the proportions when distances are taken, > 0 and < 1. A label that a cluster has
        not seen costs -log2(smoothing) bits; the default is the authors' and makes that 52.
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
    refine : {None, "density"}, default None
        "density" moves single label rows of the best start to other clusters as long as the exact density (Candel
        Eq. 7) rises. k-means maximises an approximation of it, which is good in large clusters and poor in small ones.
    weights : array-like of shape (n_partitions,), optional
        Weight of each partition. Default: one each.
    n_jobs : int, optional
        Threads. Default: every core. The result does not depend on it.
    random_state : int, RandomState or None
        Seed of the starts.

    Attributes
    ----------
    labels_ : ndarray of shape (n_objects,), int32
        Clusters numbered by decreasing size; -1 for an object that no partition labels.
    confidence_ : ndarray of shape (n_objects,)
        Mean co-association of the object with the other members of its cluster, from 0 to 1.
    n_clusters_ : int
    objective_ : float
        Loss: the weighted sum of the distances of the labelled objects to their centroids; for "category" the k-means
        loss on H (Candel Eq. 16). Least is best.
    utility_ : float
        Weighted sum over the partitions of their utility, ≥ 0: n times it and ``objective_`` add up to the same number
        for every clustering. Greatest is best.
    density_trace_ : list of float
        With ``refine="density"``: the density before and after each pass over the rows. It never falls.
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

    Missing labels: a partition that does not label an object adds nothing to its distances, and proportions are taken
    over the labelled members. Where a partition labels no member of a cluster, its proportions over all objects stand
    in (the authors' toolbox draws a random label instead). A partition's utility counts by its share of labelled
    objects.

    ``predict`` of the rows of ``fit`` gives ``labels_``, ties included, unless ``refine`` moved them: it assigns to the
    nearest centroid.

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
    array([0.83, 0.83, 0.67, 0.83, 0.83, 0.67])
    >>> km.predict([[1, 2, None]])
    array([1], dtype=int32)
    >>> ecc = KMeansConsensus(n_clusters=2, utility="entropy", random_state=0).fit(labels)
    >>> round(ecc.objective_, 2), round(ecc.utility_, 2)  # bits: in all, and per object
    (5.51, 2.46)
    """

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        utility: str = "category",
        normalized: bool = False,
        exponent: float = 5.0,
        smoothing: float = float(np.finfo(np.float64).eps),
        init: Any = "k-means++",
        n_init: int = 10,
        max_iter: int = 100,
        tol: float = 0.0,
        refine: str | None = None,
        weights: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.utility = utility
        self.normalized = normalized
        self.exponent = exponent
        self.smoothing = smoothing
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.refine = refine
        self.weights = weights
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_utility(self, "KMeansConsensus")

    utility_: float
    _utility: CategoryUtility

    def _holds_rows(self) -> str:
        return "moves single rows, for refine='density'" if self.refine is not None else ""

    def _make_utility(self, rows: Rows) -> CategoryUtility:
        own = {"entropy": {"smoothing": self.smoothing}, "lp": {"exponent": self.exponent}}
        utility = UTILITIES[self.utility].of(rows, self.n_jobs, **own.get(self.utility, {}))
        return utility.normalized() if self.normalized else utility

    def _fit(self, rows: Rows, ensemble: Ensemble) -> NDArray[Any]:
        self.__dict__.pop("density_trace_", None)  # of an earlier fit
        clusters = super()._fit(rows, ensemble)
        unit = weight_unit(self.weights)
        self.objective_, self.utility_ = self.objective_ * unit, self.utility_ * unit
        return clusters

    def _evidence(self, ensemble: Ensemble, objects: NDArray[np.intp]) -> tuple[Evidence, ...]:
        return () if self.refine is None else (Trace("density", np.array(self.density_trace_)),)

    def _polish(self, rows: Rows, best: Start) -> Start:
        if self.refine:
            best, self.density_trace_ = climb_density(rows, self._utility, best, self.max_iter)
        self.utility_ = self._utility.value(best.profile)
        return best
