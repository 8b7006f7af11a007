"""How far a cluster can be trusted, by what the other partitions make of its members (Huang, Wang & Lai 2018)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import xlogy

from ensemblage._constraints import Constraint, Lists, Number, Words
from ensemblage._ensemble import Ensemble, as_ensemble
from ensemblage._validation import check_number, check_value, check_weights, shown
from ensemblage.counting._contingency import ContingencyTables, tables_of_rows

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
    """Ensemble-driven cluster index (ECI): a weight for each cluster that falls the more the partitions break it up.

    ECI(C) = exp(-H(C) / (θ p)), where H(C) sums over all p partitions the entropy, in bits, of how they distribute the
    members of C. What takes ``cluster_weights`` takes this list.

    Parameters
    ----------
    {labels}
    theta : float, default 0.4
        The θ, > 0: the smaller, the less an uncertain cluster counts.
    {weights}
    {n_jobs}

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
    All entropies come from the contingency tables of the pairs of partitions: O(p² m) time for m distinct label rows,
    8 bytes per cell of the tables. Entropies are over the members that a partition labels, and their mean over the
    partitions, by ``weights``, that label at least one of them.

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
    codes, counts, _ = ensemble.distinct
    tables = tables_of_rows(codes, counts, ensemble.n_clusters, n_jobs)
    return [np.exp(-H / theta) for H in mean_entropies(tables, w)]


def mean_entropies(tables: ContingencyTables, weights: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    """H(C) / p of the clusters of each partition: bits, over the partitions that label a member of the cluster."""
    p, means = len(weights), []
    for a in range(p):
        # A partition says nothing against its own clusters.
        total, voting = np.zeros(tables.n_clusters[a]), np.full(tables.n_clusters[a], weights[a])
        for m in range(p):
            if m == a:
                continue
            members = tables.table(a, m)[:-1, :-1].astype(np.float64)
            sizes = members.sum(axis=1)
            known = sizes > 0
            of_known = np.log2(sizes[known]) - xlogy(members, members)[known].sum(axis=1) / (sizes[known] * np.log(2))
            total[known] += weights[m] * np.maximum(of_known, 0)
            voting[known] += weights[m]
        means.append(np.divide(total, voting, out=total, where=voting > 0))
    return means


def check_cluster_weights(
    given: Any, ensemble: Ensemble, weights: NDArray[np.float64], subject: str, chosen: Sequence[int] | None = None
) -> list[NDArray[np.float64]]:
    """The weights of each partition's clusters that "eci", a θ or lists of numbers mean.

    ``ensemble`` has the partitions ``chosen``, with their ``weights``, of those that the lists are about; None: all.
    """
    subject = f"cluster_weights of {subject}"
    check_value(given, subject, CLUSTER_WEIGHTS)
    if isinstance(given, str):
        return cluster_weights(ensemble, weights=weights)
    if not isinstance(given, Sequence):
        return cluster_weights(ensemble, theta=float(given), weights=weights)
    checked = []
    for j, k in zip(range(len(ensemble.n_clusters)) if chosen is None else chosen, ensemble.n_clusters, strict=True):
        rule = f"{subject} must have {k} numbers from 0 to 1 for partition {j}"
        numbers = given[j] if j < len(given) else []
        try:
            local = np.asarray(numbers, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            raise ValueError(f"{rule}. Got {shown(numbers)}. {ADVICE}") from None
        if local.shape != (k,):
            raise ValueError(f"{rule}. Got shape {local.shape}. {ADVICE}")
        if not ((local >= 0) & (local <= 1)).all():
            raise ValueError(f"{rule}. Got {local.min():g} to {local.max():g}. {ADVICE}")
        checked.append(local)
    if not any(local.any() for local in checked):
        raise ValueError(f"{subject} must not all be 0. Got zeros. {ADVICE}")
    return checked


def table_of_labels(local: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """(offsets[p],) the weights as a table over labels, 0 for missing."""
    return np.concatenate([np.append(of_clusters, 0.0) for of_clusters in local])
