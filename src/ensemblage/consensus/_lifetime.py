"""The number of clusters of a hierarchy by the longest lifetime (Fred & Jain 2005; Ayad & Kamel 2010, Sec. 3.2)."""

from __future__ import annotations

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
    ks, lives = _lives(heights, include_singletons)
    return dict(zip(ks.tolist(), lives.tolist(), strict=True))


def longest_lifetime(heights: ArrayLike, *, include_singletons: bool = False) -> int:
    """Number of clusters with the longest lifetime; the larger one on ties.

    Parameters
    ----------
    heights, include_singletons
        As in `lifetimes`.

    Raises
    ------
    ValueError
        If no number of clusters has a lifetime: fewer than two merges (one, with ``include_singletons``).

    Notes
    -----
    O(m) time and memory.

    Examples
    --------
    >>> longest_lifetime([1.0, 1.25, 4.0])
    2
    """
    ks, lives = _lives(heights, include_singletons)
    if not len(ks):
        least, got = 2 + (not include_singletons), len(np.asarray(heights)) + 1
        raise ValueError(
            f"The number of clusters by the longest lifetime needs a hierarchy over at least {least} clusters. "
            f"Got {got}. Give n_clusters, or partitions with more clusters."
        )
    return int(ks[np.argmax(lives)])


def _lives(heights: ArrayLike, include_singletons: bool) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Numbers of clusters in decreasing order, and how long each lives."""
    h = np.asarray(heights, dtype=np.float64)
    if include_singletons:
        return np.arange(len(h) + 1, 1, -1), np.diff(h, prepend=0.0)
    return np.arange(len(h), 1, -1), np.diff(h)
