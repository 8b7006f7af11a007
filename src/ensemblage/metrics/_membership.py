"""How undecided soft memberships are."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensemblage.base.validation import check_numbers


def membership_entropy(membership: ArrayLike) -> NDArray[np.float64]:
    """Use it to find objects between clusters: the entropy of each membership, from 0 to 1.

    Parameters
    ----------
    membership : array-like of shape (n_objects, k)
        ``membership_`` of a consensus: rows ≥ 0 that sum to 1, or NaN.

    Returns
    -------
    ndarray of shape (n_objects,)
        From 0, one cluster for sure, to 1, all clusters alike; 0 where k = 1, NaN where the row is.

    Notes
    -----
    O(n k) time and memory.

    Examples
    --------
    >>> from ensemblage.metrics import membership_entropy
    >>> membership_entropy([[1, 0], [0.5, 0.5]])
    array([0., 1.])
    """
    shares = check_numbers(membership, "membership of membership_entropy", ("n", "k"))
    entropy = -(shares * np.log(np.where(shares > 0, shares, 1))).sum(axis=1)
    relative: NDArray[np.float64] = np.clip(entropy / np.log(max(shares.shape[1], 2)), 0, 1) + 0.0
    return relative
