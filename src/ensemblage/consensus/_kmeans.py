"""Consensus by k-means on the binary matrix: Candel's KM, KCC with the category utility, QMI."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage._ensemble import Ensemble
from ensemblage._parallel import BLOCK_ROWS, map_rows, parallel_map
from ensemblage._random import task_seeds
from ensemblage._validation import check_choice, check_whole
from ensemblage.consensus._base import BaseConsensus, Rows
from ensemblage.consensus._lloyd import Start, lloyd, seed_at_random, seed_far_apart
from ensemblage.consensus._utilities import CategoryUtility
from ensemblage.kernels._assign import assign_rows
from ensemblage.kernels._profiles import label_profile


class KMeansConsensus(BaseConsensus):
    """Consensus by k-means on the binary matrix H, without building it.

    With the category utility this is the KM of Candel, KCC with U_c of Wu et al., and QMI of Topchy et al.: all three
    minimise the same loss, which (nearly) maximises Candel's density of the consensus.

    Parameters
    ----------
    n_clusters : int
        Number of clusters of the consensus, at most the number of distinct label rows.
    utility : {"category"}, default "category"
        What k-means maximises.
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
        Weighted k-means loss on H (Candel Eq. 16).
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
    O(m p k) time per iteration for m distinct rows of p labels, less when few rows still move (the distance bounds
    never change the result). Memory beyond the ensemble: its distinct rows and about 20 bytes for each.

    Missing labels: a partition that does not label an object adds nothing to its distances, and proportions are taken
    over the labelled members. Where a partition labels no member of a cluster, its proportions over all objects stand
    in (the authors' toolbox draws a random label instead).

    References
    ----------
    G. Candel, "Linear time evidence accumulation clustering with k-means", Sec. 4.1, Eqs. 16-20.
    J. Wu, H. Liu, H. Xiong, J. Cao, J. Chen, "K-means-based consensus clustering: a unified view", TKDE 27(1), 2015.
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
    """

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        utility: str = "category",
        init: Any = "k-means++",
        n_init: int = 10,
        max_iter: int = 100,
        tol: float = 0.0,
        weights: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.utility = utility
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.weights = weights
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _fit(self, rows: Rows, ensemble: Ensemble) -> NDArray[Any]:
        self._check_parameters()
        k = self._check_n_clusters(len(rows))
        self._utility = CategoryUtility.of(rows, self.n_jobs)
        starts = self._starts(rows, ensemble, k)
        best = min(starts, key=lambda start: start.loss)
        self.objective_, self.n_iter_ = best.loss, best.n_iter
        return best.clusters

    def _check_parameters(self) -> None:
        check_choice(self.utility, "utility of KMeansConsensus", ["category"])
        if isinstance(self.init, str):
            check_choice(self.init, "init of KMeansConsensus", ["k-means++", "random"])
        check_whole(self.n_init, "n_init of KMeansConsensus", 1)
        check_whole(self.max_iter, "max_iter of KMeansConsensus", 1)

    def _starts(self, rows: Rows, ensemble: Ensemble, k: int) -> list[Start]:
        if not isinstance(self.init, str):
            return [self._lloyd(rows, self._given(ensemble, k))]
        seeds = task_seeds(self.random_state, self.n_init)
        # Few rows: one start per thread. Many: every start uses all threads, and one start's memory is enough.
        n_jobs = self.n_jobs if len(rows) <= BLOCK_ROWS else 1
        return parallel_map(lambda seed: self._start(rows, k, int(seed)), seeds, n_jobs)

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
                f"init of KMeansConsensus must label the {len(ensemble)} objects with {k} clusters. "
                f"Got {len(init)} labels of {init.n_clusters[0]} clusters. Give one label per object, or a name."
            )
        clusters = np.where(init.codes[:, 0] < k, init.codes[:, 0].astype(np.int32), -1)
        counts = np.ones(len(ensemble), dtype=np.int64)
        return label_profile(ensemble.codes, clusters, counts, ensemble.offsets, k, self.n_jobs)

    def predict(self, X: Any) -> NDArray[np.int32]:
        """Nearest cluster of new label rows.

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
        clusters = np.full(len(codes), -1, dtype=np.int32)
        table = self._utility.distances(self._utility.centroids(self._profile))
        nothing = np.zeros(self.n_clusters_, dtype=np.float32)

        def assign(codes: Any, clusters: Any) -> None:
            assign_rows(codes, clusters, nothing, self._utility.offsets, table, nothing, np.float32(-1))

        map_rows(assign, [codes, clusters], n_jobs=self.n_jobs)
        clusters[(codes == np.diff(self._utility.offsets) - 1).all(axis=1)] = -1
        return clusters
