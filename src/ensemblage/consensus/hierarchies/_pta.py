"""PTA: a hierarchy by probability trajectories (Huang, Lai & Wang 2016)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.memory import MAX_BYTES, OVERHEAD, Need
from ensemblage.base.validation import MOST_TASKS, Bytes, Constraints, Whole
from ensemblage.consensus._base import BaseConsensus
from ensemblage.consensus._capabilities import COMPARES_ROWS, Capabilities
from ensemblage.consensus.hierarchies._content_order import ContentOrder
from ensemblage.consensus.hierarchies._hierarchy import HierarchicalConsensus, Hierarchy
from ensemblage.consensus.hierarchies._linkage import PER_OBJECT, PER_ROW, merges_of_matrix
from ensemblage.consensus.hierarchies._linkages import LINKAGES
from ensemblage.consensus.hierarchies._trajectories import (
    WIDTH,
    AssociationColumns,
    EliteGraph,
    default_number,
    elite_degrees,
    elite_graph,
    elite_thresholds,
    trajectory_similarities,
)
from ensemblage.kernels._linkage import Condensed
from ensemblage.labels.rows import Rows
from ensemblage.labels.threads import thread_count


class TrajectoryConsensus(BaseConsensus):
    """A method that compares label rows by their probability trajectories."""

    _parameter_constraints: ClassVar[Constraints] = {
        "n_neighbors": [Whole(1), None],
        "n_steps": [Whole(1, MOST_TASKS), None],
        "max_bytes": [Bytes()],
    }

    _bytes_per_entry: ClassVar[int]
    """Of the graph of elite neighbours and its walks."""

    n_neighbors: int | None
    n_steps: int | None
    max_bytes: int | str
    n_neighbors_: int
    n_steps_: int

    def _elite_graph(self, rows: Rows) -> EliteGraph:
        """The graph of elite neighbours; an error where it or what follows takes too much memory."""
        m = len(rows)
        self.n_neighbors_ = default_number(m) if self.n_neighbors is None else int(self.n_neighbors)
        self.n_steps_ = self._count_steps(m)
        associated = AssociationColumns.of(rows)
        thresholds = elite_thresholds(associated, self.n_neighbors_, self.n_jobs)
        degrees = elite_degrees(associated, thresholds, self.n_jobs)
        self._check_bytes(rows, int(self.n_clusters or 0), int(degrees.sum()))
        return elite_graph(associated, thresholds, degrees, rows.counts, self.n_jobs)

    def _count_steps(self, m: int) -> int:
        """Of each walk."""
        return default_number(m) if self.n_steps is None else int(self.n_steps)

    def _bytes(self, rows: Rows, k: int, n_entries: int | None = None, more: int = 0) -> Need:
        """Of the graph of elite neighbours, with so many links, and of what the class makes of it."""
        (m, p), d, n_threads = rows.codes.shape, int(rows.n_clusters.sum()), thread_count(self.n_jobs)
        of_rows = m * (2 * p * rows.codes.dtype.itemsize + PER_ROW + 40 * n_threads) + PER_OBJECT * len(rows.inverse)
        needed = OVERHEAD + of_rows + self._bytes_of_pairs(m, d, n_threads) + self._bytes_per_entry * (n_entries or 0)
        what = f"{m:,} label rows and {d:,} clusters"
        if n_entries is not None:
            what = f"{n_entries:,} elite neighbours of {m:,} label rows"
        advice = "Raise max_bytes, take some of the objects, or use KMeansConsensus, which compares no pairs."
        return Need(needed, what, advice)

    def _bytes_of_pairs(self, m: int, d: int, n_threads: int) -> int:
        """Besides the graph, for m rows and d clusters."""
        raise NotImplementedError


@dataclass(eq=False, repr=False)
class PTA(TrajectoryConsensus, HierarchicalConsensus):
    """Use it for few partitions with unreliable pairs: linkage of objects by their random walks.

    Parameters
    ----------
    n_clusters : int, optional
        Number of clusters of the consensus, at most the number of distinct label rows. None: the number with the
        longest lifetime, as in `EvidenceAccumulation`.
    linkage : {"single", "average", "complete"}, default "average"
        Clusters are as similar as their most similar label rows, all of them on average, or their least similar ones.
    n_neighbors : int, optional
        How many of a row's largest co-associations count. These K are its elite neighbours, and so are all that tie
        with the last of them. Default: min(20, ⌊√m / 2⌋) for m distinct label rows, at least 2; the paper advises 5 to
        20.
    n_steps : int, optional
        Steps of a random walk, T. Default: as many.
    max_bytes : int or str, default 2 GiB
        Most memory that the fit takes at its peak beyond the labels, in bytes or as text such as "4GB"; a fit that
        would take more is refused.
    weights : array-like of shape (n_partitions,) or "agreement", optional
        Weight of each partition; 0 leaves it out, 2 is the partition twice. Default: one each. "agreement":
        `metrics.agreement_weights`.
    n_jobs : int, optional
        Threads. -1: every core that this process may use; -2: all but one. None: what a ``joblib.parallel_config``
        says; without one every core, or 1 inside a parallel loop of joblib or scikit-learn. The result does not depend
        on it.

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
    n_neighbors_, n_steps_ : int
        The numbers that were used.
    linkage_matrix_ : ndarray of shape (n_objects - 1, 4)
        The hierarchy in SciPy's format, heights 1 - similarity. Objects with equal labels merge first, at height 0;
        objects that no partition labels last, at height 1.
    lifetimes_ : dict of int to float
        Lifetime of each number of clusters that has one above 0, by decreasing number.
    n_features_in_, feature_names_in_
        As in scikit-learn: partitions and their names.

    Raises
    ------
    ValueError
        If ``n_clusters`` exceeds the number of distinct label rows, a parameter is out of its range, or the fit would
        take more than ``max_bytes``.

    Notes
    -----
    Objects with equal labels are one vertex, the paper's microcluster. Two of them are joined, by their co-association,
    if either is an elite neighbour of the other; a random walk goes to a neighbour in proportion to that times its
    objects. Two are as similar as the cosine of their trajectories, the distributions after 1, 2, …, T steps, one after
    the other. One that shares no label with any other is similar to itself alone. With missing labels the co-
    association is that of the partitions that label both. Ties are the rule: of p partitions the co-association has p +
    1 values, so that K neighbours may be thousands.

    The mean similarity of two clusters counts each label row once, however many objects have it (Eq. 14). Similarities
    are rounded to 12 decimal places; of equally similar pairs the one with the first rows is merged first,
    numbered as in `EvidenceAccumulation`.

    O(m² p + m e T) time for m distinct label rows with e elite neighbours in all and T steps; 8 m² + 20 e bytes.

    References
    ----------
    D. Huang, J.-H. Lai, C.-D. Wang, "Robust ensemble clustering using probability trajectories", IEEE TKDE 28(5), 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from ensemblage.consensus import PTA
    >>> members = ["1111222332", "1112222333", "1122233444", "1111122221"]
    >>> labels = np.array([[int(label) for label in member] for member in members]).T
    >>> pta = PTA(3, n_neighbors=2, n_steps=3).fit(labels)
    >>> pta.labels_
    array([0, 0, 0, 0, 1, 2, 2, 1, 1, 2], dtype=int32)
    >>> pta.linkage_matrix_[3:, 2].round(3)
    array([0.115, 0.166, 0.196, 0.487, 0.541, 0.607])
    """

    _capabilities: ClassVar[Capabilities] = Capabilities(
        in_memory=COMPARES_ROWS, compares_pairs=True, finds_n_clusters=True
    )

    _bytes_per_entry: ClassVar[int] = 20

    n_clusters: int | None = None
    _: KW_ONLY
    linkage: str = "average"
    n_neighbors: int | None = None
    n_steps: int | None = None
    max_bytes: int | str = MAX_BYTES
    weights: Any = None
    n_jobs: int | None = None

    linkage_matrix_: NDArray[np.float64] = field(init=False)
    lifetimes_: dict[int, float] = field(init=False)

    def _hierarchy(self, rows: Rows, content: ContentOrder, k: int | None) -> Hierarchy:
        similarities = trajectory_similarities(self._elite_graph(content.rows), self.n_steps_, self.n_jobs)
        condensed = Condensed(similarities, np.empty(0), np.ones(len(rows)))
        return Hierarchy.of(merges_of_matrix(condensed, LINKAGES[self.linkage].kernel), content.rows)

    def _bytes_of_pairs(self, m: int, d: int, n_threads: int) -> int:
        return 8 * m * m + 24 * WIDTH * m * n_threads
