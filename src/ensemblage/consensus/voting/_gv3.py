"""The third model of Gordon & Vichi (2001): the soft partition whose co-memberships are nearest to the mean ones.

`comembership_loss` is its least-squares loss, `descend` the search, `ComembershipMedian` the estimator.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from ensemblage.base.threads import one_native_thread, row_blocks
from ensemblage.base.validation import MOST_TASKS, Constraints, Number, Whole, check_fitted
from ensemblage.consensus._base import BaseConsensus, renumber_parts
from ensemblage.consensus._capabilities import Capabilities
from ensemblage.consensus.diagnostics import Diagnostics, Memberships
from ensemblage.consensus.voting._aggregation import number_wanted, order_by_entropy
from ensemblage.labels.blocks import MembershipRows
from ensemblage.labels.counts import is_missing, rows_of_column, shared_masses
from ensemblage.labels.ensemble import Ensemble
from ensemblage.labels.rows import Rows

MEMORY = 10
"""Objectives, the largest of which a step must fall below (Birgin et al. 2000)."""
ENOUGH = 1e-4
"""Share of the fall that the gradient promises."""
NEAR = 0.9
"""Share of a start that is a partition; the rest is spread evenly, for the gradient may vanish in a corner."""


class Target(NamedTuple):
    """The partitions b, by what their labels have in common with memberships M."""

    H: csr_array | NDArray[np.float64]
    """(m, d) binary matrix, or memberships."""
    counts: NDArray[np.float64]
    """(m,) objects with each row."""
    labelled: NDArray[np.bool_]
    """(m, p)"""
    weights: NDArray[np.float64]
    """(p,) with sum 1."""
    of_labels: NDArray[np.float64]
    """(d,) weight of each label's partition."""
    constant: float
    """Σ_b w_b Σ [b joins i and j]²; of memberships Σ_b w_b Σ (H_bi · H_bj)²."""


class Descent(NamedTuple):
    """Where a start ended."""

    M: NDArray[np.float64]
    """(m, k) memberships of the distinct rows."""
    objective: float
    n_iter: int


def comembership_loss(M: NDArray[np.float64], target: Target) -> tuple[float, NDArray[np.float64]]:
    """L(M) = Σ_b w_b Σ (M_i · M_j - [b joins i and j])² over all ordered pairs of objects that b labels.

    Nothing has a size of pairs: with the (k, k) second moments S_b = Σ_i M_i M_iᵀ over the objects that b labels, and
    the (d, k) masses H_bᵀ M of its labels, a term is |S_b|² - 2 |H_bᵀ M|² + Σ (label sizes)². Returns L, and its
    gradient by the row of one object, 4 Σ_b w_b (S_b M_i - H_b H_bᵀ M): (m, k).
    """
    H, counts, labelled, weights, of_labels, constant = target
    weighted, k = counts[:, None] * M, M.shape[1]
    masses = H.T @ weighted
    pulled = H @ (of_labels[:, None] * masses)
    S = (M.T @ weighted)[None]
    if labelled.all():  # one for all
        pushed = M @ S[0]
    else:
        S = np.repeat(S, len(weights), axis=0)
        for b, known in enumerate(labelled.T):
            if not known.all():
                S[b] -= M[~known].T @ weighted[~known]
        pushed, flat = np.empty_like(M), (weights[:, None, None] * S).reshape(len(S), -1)
        for block in row_blocks(len(M), max(1, 2**20 // (k * k))):
            of_rows = (labelled[block] @ flat).reshape(-1, k, k)
            pushed[block] = np.einsum("ik,ikl->il", M[block], of_rows)
    squares = np.square(S).sum(axis=(1, 2))
    value = float((weights * squares).sum() - 2 * (of_labels @ np.square(masses)).sum()) + constant
    return value, 4 * (pushed - pulled)


def descend(M: NDArray[np.float64], target: Target, max_iter: int, tol: float) -> Descent:
    """Spectral projected gradient (Birgin, Martínez & Raydan 2000) from M, every row of which is in the simplex.

    Values, gradients and inner products are those per object, so that steps are of the same size for any number of
    them.
    """
    counts, n = target.counts, float(target.counts.sum())

    def inner(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
        return float(counts @ (a * b).sum(axis=1))

    def loss_per_object(M: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        value, gradient = comembership_loss(M, target)
        return value / n, gradient / n

    value, gradient = loss_per_object(M)
    best, last = (value, M), [value]
    step, n_iter = 1.0, 0
    while n_iter < max_iter:
        direction = onto_simplex(M - step * gradient) - M
        slope = inner(direction, gradient)
        if -slope <= tol * max(1.0, abs(value)):
            break
        n_iter += 1
        length, highest = 1.0, max(last[-MEMORY:])
        while True:
            following = M + length * direction
            its_value, its_gradient = loss_per_object(following)
            if its_value <= highest + ENOUGH * length * slope or length < 1e-12:
                break
            length /= 2
        moved, change = following - M, its_gradient - gradient
        curvature = inner(moved, change)
        step = min(max(inner(moved, moved) / curvature, 1e-10), 1e10) if curvature > 0 else 1e10
        M, value, gradient = following, its_value, its_gradient
        last.append(value)
        if value < best[0]:
            best = value, M
    return Descent(best[1], best[0] * n, n_iter)


def onto_simplex(V: NDArray[np.float64]) -> NDArray[np.float64]:
    """The nearest rows that are ≥ 0 and sum to 1: (n, k)."""
    k = V.shape[1]
    descending = -np.sort(-V, axis=1)
    surplus = (np.cumsum(descending, axis=1) - 1) / np.arange(1, k + 1)
    n_positive = (descending > surplus).sum(axis=1)
    return np.asarray(np.maximum(V - surplus[np.arange(len(V)), n_positive - 1][:, None], 0))


def target_of(rows: Rows) -> Target:
    """What the rows, of labels or memberships, say of pairs of objects."""
    codes, counts, weights = rows.codes, rows.counts.astype(np.float64), rows.weights / rows.weights.sum()
    of_labels = np.repeat(weights, rows.n_clusters)
    H: Any
    if isinstance(codes, MembershipRows):
        H, products = codes[:][:, rows.labels], shared_masses(codes, rows.counts)
        blocks = [products[rows.of_partition(j), rows.of_partition(j)] for j in range(len(weights))]
        constant = float(weights @ [np.square(block).sum() for block in blocks])
    else:
        H = rows.binary_matrix()
        constant = float(of_labels @ np.square(H.T @ counts))
    return Target(H, counts, ~is_missing(codes, rows.n_clusters), weights, of_labels, constant)


@dataclass(eq=False, repr=False)
class ComembershipMedian(BaseConsensus):
    """Use it for soft memberships that reproduce the co-association: the median of co-memberships (GV3).

    The co-membership of two objects is 1 where a partition joins them, else 0, and M_i · M_j for soft memberships M.
    The squared distance of M Mᵀ to the mean co-memberships is minimised over matrices M with k columns, whose rows are
    ≥ 0 and sum to 1 [1]_. No partition is relabelled. A soft factor of the co-association matrix, which is not made.

    Parameters
    ----------
    n_clusters : int, optional
        Number of clusters of the consensus, the columns of M: at most the clusters of the largest partition, which None
        takes. There may be fewer: some column may be the largest of no object.
    n_init : int, default 10
        Number of starts, the one with the least loss wins: near the partitions themselves, in an order by content, so
        at most as many as there are. Random starts found the same optima.
    max_iter : int, default 500
        Most iterations per start.
    tol : float, default 1e-9
        A start ends when the gradient promises a fall by this share of the objective or less, per object.
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
        of another one but not of both; see `metrics.confidence`. 1: no partition supports another cluster. ½: two
        clusters have equal support. 1 for all objects if there is one cluster. Not a probability of being correct.
    runner_up_ : ndarray of shape (n_objects,), int32
        The other cluster with the most support; -1 if there is none.
    cohesion_ : ndarray of shape (n_objects,)
        Mean co-association of the object with the other members of its cluster, from 0 to 1: small if the
        partitions are fine, even if they agree.
    n_clusters_ : int
    objective_ : float
        Weighted mean over the partitions of the sum over all ordered pairs of objects that a partition labels, each
        with itself included, of the squared difference between their M_i · M_j and their co-membership. Without missing
        labels it is the squared distance to the mean co-memberships, and that of these from the partitions.
    n_iter_ : int
        Steps of the best start.
    membership_ : ndarray of shape (n_objects, k)
        Rows of M, columns by the numbers of the clusters, NaN where no partition labels. Computed at every access.
    n_features_in_, feature_names_in_
        As in scikit-learn: partitions and their names.

    Raises
    ------
    ValueError
        If ``n_clusters`` exceeds the clusters of every partition, if fewer than 2 partitions vote, or if a parameter is
        out of its range.

    See Also
    --------
    EuclideanMedian : By memberships of single objects, matched column by column.

    Notes
    -----
    O(m p k) time per step for m distinct label rows, O(m k² + p k²) more where labels are missing; memory 8 m (p + 5 k)
    bytes. Spectral projected gradient steps [2]_, no penalties: every M on the way is a soft partition.

    Objects with the same labels get the same memberships.

    References
    ----------
    .. [1] A. D. Gordon and M. Vichi, "Fuzzy partition models for fitting a set of partitions", Psychometrika 66, 2001,
       the third model; K. Hornik, "A CLUE for CLUster Ensembles", Journal of Statistical Software 14(12), 2005.
    .. [2] E. G. Birgin, J. M. Martínez and M. Raydan, "Nonmonotone spectral projected gradient methods on convex sets",
       SIAM Journal on Optimization 10(4), 2000.

    Examples
    --------
    >>> from ensemblage.consensus import ComembershipMedian
    >>> labels = [[0, 1, 2], [0, 1, 2], [0, 1, 0], [1, 2, 0], [1, 2, 0], [2, 0, 1], [2, 0, 1]]
    >>> median = ComembershipMedian(n_clusters=3).fit(labels)
    >>> median.labels_
    array([0, 0, 0, 1, 1, 2, 2], dtype=int32)
    >>> median.membership_[2].round(1)
    array([0.7, 0.3, 0. ])
    """

    _parameter_constraints: ClassVar[Constraints] = {
        "n_init": [Whole(1, MOST_TASKS)],
        "max_iter": [Whole(1)],
        "tol": [Number(least=0)],
    }

    n_clusters: int | None = None
    _: KW_ONLY
    n_init: int = 10
    max_iter: int = 500
    tol: float = 1e-9
    weights: Any = None
    n_jobs: int | None = None

    objective_: float = field(init=False)
    n_iter_: int = field(init=False)

    _capabilities: ClassVar[Capabilities] = Capabilities(
        memberships=True, in_memory="keeps soft memberships of all of them", finds_n_clusters=True
    )

    def _fit(self, rows: Rows) -> NDArray[Any]:
        k = number_wanted(self, rows, "a median has no others") or int(rows.n_clusters.max())
        target, order = target_of(rows), order_by_entropy(rows, self.n_jobs)
        descents = []
        with one_native_thread():
            for b in order.partitions[: self.n_init].tolist():
                # Near partition b, whose surplus clusters are for no column.
                start = np.full((int(rows.n_clusters[b]) + 1, k), 1 / k)
                largest = order.labels[b][:k]
                start[largest] = NEAR * np.eye(k)[: len(largest)] + (1 - NEAR) / k
                descents.append(descend(rows_of_column(rows.codes, b, start), target, self.max_iter, self.tol))
        self._M, self.objective_, self.n_iter_ = min(descents, key=lambda descent: descent.objective)
        self._inverse = rows.inverse
        return renumber_parts(self._M.argmax(axis=1))

    def _numbers(self, rows: Rows, clusters: NDArray[Any]) -> NDArray[np.int64]:
        number, used = super()._numbers(rows, clusters), np.unique(self._M.argmax(axis=1))
        unused = np.setdiff1d(np.arange(self._M.shape[1]), used)
        self._M = self._M[:, np.append(used[np.argsort(number)], unused)]
        return number

    def _renumber(self, places: NDArray[np.int64]) -> None:
        super()._renumber(places)
        k = len(places)
        self._M = np.column_stack([self._M[:, np.argsort(places)], self._M[:, k:]])

    @property
    def membership_(self) -> NDArray[np.float64]:
        """Memberships of the objects in the clusters, (n_objects, k): computed at every access."""
        check_fitted(self)
        M = np.vstack([self._M, np.full(self._M.shape[1], np.nan)])
        return np.asarray(M[np.minimum(self._inverse, len(self._M))])

    def _diagnostics(self, ensemble: Ensemble, objects: NDArray[np.intp]) -> tuple[Diagnostics, ...]:
        return (Memberships(self.membership_[objects], self.labels_[objects].astype(np.int64), np.ones(len(objects))),)
