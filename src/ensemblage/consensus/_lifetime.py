"""The number of clusters of a hierarchy by the longest lifetime (Fred & Jain 2005; Ayad & Kamel 2010, Sec. 3.2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


def lifetimes(heights: ArrayLike, *, include_singletons: bool = False) -> dict[int, float]:
    """Lifetime of every number of clusters: the range of thresholds at which a hierarchy has that many.

    Parameters
    ----------
    heights : array-like of shape (m - 1,)
        Merge heights of a hierarchy over m initial clusters, none below the one before.
    include_singletons : bool, default False
        Whether k = m, which lives from 0 to the first merge, counts too. A caller that merges the distinct rows of
        more objects wants it: its m initial clusters are no singletons.

    Returns
    -------
    dict of int to float
        ``{k: h_{m-k+1} - h_{m-k}}`` by decreasing k, from m - 1 (m) down to 2; k = 1 lives for ever and is left out.
        Empty if there is no such k.

    Notes
    -----
    O(m) time and memory.

    Examples
    --------
    >>> lifetimes([1.0, 1.25, 4.0])
    {3: 0.25, 2: 2.75}
    """
    lives = np.diff(np.concatenate([[0.0] if include_singletons else [], np.asarray(heights, dtype=np.float64)]))
    return dict(zip(range(len(lives) + 1, 1, -1), lives.tolist(), strict=True))


def lifetimes_with_twins(heights: NDArray[Any], of_twins: NDArray[Any], counts: NDArray[Any]) -> dict[int, float]:
    """`lifetimes` of the hierarchy of the objects, of the numbers that part none of equal rows.

    ``heights`` are those of the merges of m distinct rows, ``of_twins`` those at which the ``counts`` objects of each
    row merge.
    """
    twins = counts > 1
    merged = np.concatenate([heights, of_twins[twins]])
    n_merges = np.concatenate([np.ones(len(heights), dtype=np.int64), counts[twins] - 1])
    order = np.argsort(merged, kind="stable")
    # How many clusters are left after each merge; all merges of one row are made at once.
    left = int(counts.sum()) - np.cumsum(n_merges[order])
    lives = np.diff(merged[order])
    return {int(k): float(life) for k, life in zip(left[:-1], lives, strict=True) if k <= len(counts)}


def longest_lifetime(lives: Mapping[int, float], n_initial: int = 1) -> int:
    """Number of clusters with the longest of these lifetimes; the larger one on ties, all ``n_initial`` where none has
    one.

    >>> longest_lifetime({3: 0.25, 2: 2.75})
    2
    """
    return max(lives, key=lambda k: (lives[k], k), default=n_initial)
