"""How far a cluster can be trusted, by what the other partitions make of its members (Huang, Wang & Lai 2018)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensemblage.base.threads import parallel_map
from ensemblage.base.validation import (
    Constraint,
    Lists,
    Number,
    Words,
    check_number,
    check_value,
    check_vector,
    check_weights,
)
from ensemblage.counting._contingency import all_pairs, cells_of_pair, tables_of_rows
from ensemblage.labels.ensemble import as_ensemble
from ensemblage.labels.rows import Distinct, Rows

THETA = 0.4
"""The authors' value; they advise .2 to 1."""
ADVICE = "Give what cluster_weights returned, or a list with as many numbers for each partition as it has clusters."
CLUSTER_WEIGHTS: Sequence[Constraint | None] = (
    Words(["eci"]),
    Number(above=0),
    Lists("a list with the numbers of each partition's clusters, from 0 to 1", ADVICE),
    None,
)
"""What a parameter ``cluster_weights`` may be."""


def cluster_weights(
    labels: ArrayLike | Any, *, theta: float = THETA, weights: ArrayLike | None = None, n_jobs: int | None = None
) -> list[NDArray[np.float64]]:
    """Use it to weight clusters: the ensemble-driven cluster index (ECI), lower if other members split the cluster.

    ECI(C) = exp(-H(C) / (θ p)), where H(C) sums over all p partitions the entropy, in bits, of how they distribute the
    members of C. What takes ``cluster_weights`` takes this list.

    Parameters
    ----------
    labels : array-like, data frame or Ensemble of shape (n_objects, n_partitions)
        The ensemble. -1 and NaN mean missing.
    theta : float, default 0.4
        The θ, > 0: the smaller, the less an uncertain cluster counts.
    weights : array-like of shape (n_partitions,), optional
        Weights of the partitions, ≥ 0. Default: equal.
    n_jobs : int, optional
        Threads. -1: every core that this process may use; -2: all but one. None: what a ``joblib.parallel_config``
        says; without one every core, or 1 inside a parallel loop of joblib or scikit-learn. The result does not depend
        on it.

    Returns
    -------
    list of ndarray of shape (n_clusters_of_partition,)
        For each partition the weights of its clusters, in (0, 1], in the order of their labels.

    Raises
    ------
    ValueError
        If ``theta`` or the weights are out of their range.

    Notes
    -----
    All entropies come from the contingency tables of the pairs of partitions, one at a time: O(p² m) time and O(m p)
    memory for m distinct label rows (on disk, 8 bytes per cell of all tables). Entropies are over the members that a
    partition labels, and their mean over the partitions, by ``weights``, that label at least one of them.

    References
    ----------
    D. Huang, C.-D. Wang, J.-H. Lai, "Locally weighted ensemble clustering", IEEE Transactions on Cybernetics 48(5),
    2018, Eqs. 5 to 8.

    Examples
    --------
    >>> from ensemblage.metrics import cluster_weights
    >>> [ECI.round(3) for ECI in cluster_weights([["a", 0], ["a", 0], ["b", 0], ["b", 1]])]
    [array([1.   , 0.287]), array([0.317, 1.   ])]
    """
    ensemble = as_ensemble(labels)
    check_number(theta, "theta of cluster_weights", above=0)
    w = check_weights(weights, ensemble.shape[1], "cluster_weights")
    return weights_by_entropy(ensemble, theta, w, n_jobs)


def weights_by_entropy(
    labels: Distinct, theta: float, weights: NDArray[np.float64], n_jobs: int | None
) -> list[NDArray[np.float64]]:
    """`cluster_weights` of partitions whose distinct rows are known."""
    H = mean_entropies(labels, weights, n_jobs)
    # To 40 bits: clusters that are alike have equal weights, whatever the logarithms' last bits are.
    mantissas, exponents = np.frexp(np.exp(-H / theta))
    ECI = np.ldexp(np.rint(mantissas * 2.0**40), exponents - 40)
    return np.split(ECI, np.cumsum(labels.n_clusters)[:-1])


def mean_entropies(labels: Distinct, weights: NDArray[np.float64], n_jobs: int | None = None) -> NDArray[np.float64]:
    """(d,) H(C) / p of the clusters of all partitions: bits, over the partitions that label a member of the cluster."""
    codes, counts, _ = labels.distinct
    n_clusters, pairs = labels.n_clusters, all_pairs(len(weights))
    if codes.random_access:
        columns = np.ascontiguousarray(codes[:].T)

        def of_pair(pair: int) -> tuple[NDArray[np.float64], ...]:
            a, b = pairs[pair]
            cells, members = cells_of_pair(columns[a], columns[b], counts, int(n_clusters[a]), int(n_clusters[b]))
            return _entropies(cells, members, n_clusters[[a, b]])

        found = parallel_map(of_pair, range(len(pairs)), n_jobs)
    else:
        tables = tables_of_rows(codes, counts, n_clusters, n_jobs)
        each = (tables.table(a, b)[:-1, :-1] for a, b in pairs)
        found = [_entropies(np.flatnonzero(table), table[table > 0], np.array(table.shape)) for table in each]
    # A partition says nothing against its own clusters.
    starts, voting = np.cumsum(n_clusters) - n_clusters, np.repeat(weights, n_clusters)
    totals = np.zeros(len(voting))
    for (a, b), by_side in zip(pairs, found, strict=True):
        for own, other, H in ((a, b, by_side[0]), (b, a, by_side[1])):
            known = ~np.isnan(H)
            clusters = starts[own] + np.flatnonzero(known)
            totals[clusters] += weights[other] * H[known]
            voting[clusters] += weights[other]
    return np.asarray(np.divide(totals, voting, out=totals, where=voting > 0))


def _entropies(
    cells: NDArray[np.int64], members: NDArray[np.int64], shape: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Bits of each row and column of a table with members in some cells, numbered row by row; NaN for no member."""
    found = []
    for place, size in zip(np.divmod(cells, shape[1]), shape, strict=True):
        sizes = np.bincount(place, weights=members, minlength=size)
        logarithms = np.bincount(place, weights=members * np.log2(members), minlength=size)
        with np.errstate(divide="ignore", invalid="ignore"):
            found.append(np.maximum(np.log2(sizes) - logarithms / sizes, 0))
    return found[0], found[1]


def check_cluster_weights(
    given: Any,
    labels: Distinct,
    weights: NDArray[np.float64],
    subject: str,
    chosen: Sequence[int] | None = None,
    n_jobs: int | None = None,
) -> list[NDArray[np.float64]]:
    """The weights of each partition's clusters that "eci", a θ or lists of numbers mean.

    ``labels`` has the partitions ``chosen``, with their ``weights``, of those that the lists are about; None: all.
    """
    subject = f"cluster_weights of {subject}"
    check_value(given, subject, CLUSTER_WEIGHTS)
    if not isinstance(given, Sequence) or isinstance(given, str):
        weights = check_weights(weights, len(weights), "cluster_weights")
        return weights_by_entropy(labels, THETA if given == "eci" else float(given), weights, n_jobs)
    checked = []
    for j, k in zip(range(len(labels.n_clusters)) if chosen is None else chosen, labels.n_clusters, strict=True):
        rule = f"{subject} must have {k} numbers from 0 to 1 for partition {j}"
        numbers = given[j] if j < len(given) else []
        local = check_vector(numbers, k, rule, ADVICE)
        if not ((local >= 0) & (local <= 1)).all():
            raise ValueError(f"{rule}. Got {local.min():g} to {local.max():g}. {ADVICE}")
        checked.append(local)
    if not any(local.any() for local in checked):
        raise ValueError(f"{subject} must not all be 0. Got zeros. {ADVICE}")
    return checked


def table_of_labels(local: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """(offsets[p],) the weights as a table over labels, 0 for missing."""
    return np.insert(np.concatenate(local), np.cumsum(list(map(len, local))), 0.0)


def local_weights(model: Any, rows: Rows) -> NDArray[np.float64]:
    """(offsets[p],) the ``cluster_weights`` of a consensus, which keeps ``cluster_weights_`` of all its partitions."""
    voting, name = model._voting.tolist(), type(model).__name__
    local = check_cluster_weights(model.cluster_weights, rows, rows.weights, name, voting, model.n_jobs)
    of_partitions = dict(zip(voting, local, strict=True))
    model.cluster_weights_ = [of_partitions.get(j, np.empty(0)) for j in range(model.n_features_in_)]
    return table_of_labels(local)
