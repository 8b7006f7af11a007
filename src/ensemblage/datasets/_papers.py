"""What two papers generated: features of Ayad & Kamel 2010 (Sec. 4.2, Table 1), partitions of Ohl & Lindsten 2025
(Sec. 4.2).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.random import random_source
from ensemblage.base.validation import MOST_OBJECTS, MOST_TASKS, check_choice, check_whole, format_value

# -- features of Ayad & Kamel ------------------------------------------------------------------------------------------


def make_2d2k(random_state: Any = None) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Two overlapping round Gaussians in the plane, 500 objects each (Strehl & Ghosh's 2D2K).

    Standard deviation 0.1, means (-0.227, 0.077) and (0.095, 0.323): k-means reaches an ARI of 0.92, as published. (The
    text says "variance 0.1", which gives 0.23.)

    Parameters
    ----------
    random_state : int, RandomState, Generator or None, default=None
        Seed of the draws.

    Returns
    -------
    X : ndarray of shape (1000, n_features)
        The features.
    y : ndarray of shape (1000,)
        Which Gaussian.

    References
    ----------
    A. Strehl, J. Ghosh, "Cluster ensembles", JMLR 3, 2002. H. G. Ayad, M. S. Kamel, Pattern Recognition 43, 2010.

    Examples
    --------
    >>> from ensemblage.datasets import make_2d2k
    >>> X, y = make_2d2k(random_state=0)
    >>> X.shape
    (1000, 2)
    """
    means = np.array([[-0.227, 0.077], [0.095, 0.323]])
    return _round_gaussians(random_source(random_state), means, 500, 0.1)


def make_8d5k(random_state: Any = None) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Five round Gaussians in eight dimensions, 200 objects each (Strehl & Ghosh's 8D5K).

    Standard deviation 0.1, means uniform in the unit cube, drawn anew for every seed.

    Parameters
    ----------
    random_state : int, RandomState, Generator or None, default=None
        Seed of the draws.

    Returns
    -------
    X : ndarray of shape (1000, n_features)
        The features.
    y : ndarray of shape (1000,)
        Which Gaussian.

    References
    ----------
    A. Strehl, J. Ghosh, "Cluster ensembles", JMLR 3, 2002. H. G. Ayad, M. S. Kamel, Pattern Recognition 43, 2010.

    Examples
    --------
    >>> from ensemblage.datasets import make_8d5k
    >>> X, y = make_8d5k(random_state=0)
    >>> X.shape
    (1000, 8)
    """
    random = random_source(random_state)
    return _round_gaussians(random, random.uniform(size=(5, 8)), 200, 0.1)


def make_two_gauss(random_state: Any = None) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Two Gaussians in the plane of different size, spread and orientation that touch: 100 and 200 objects.

    The paper gives no parameters. These are chosen so that k-means reaches its published ARI of 0.81 on average.

    Parameters
    ----------
    random_state : int, RandomState, Generator or None, default=None
        Seed of the draws.

    Returns
    -------
    X : ndarray of shape (300, 2)
        The features.
    y : ndarray of shape (300,)
        Which Gaussian.

    References
    ----------
    H. G. Ayad, M. S. Kamel, "On voting-based consensus of cluster ensembles", Pattern Recognition 43, 2010, Sec. 4.2.

    Examples
    --------
    >>> from ensemblage.datasets import make_two_gauss
    >>> X, y = make_two_gauss(random_state=0)
    >>> X.shape
    (300, 2)
    """
    random = random_source(random_state)
    small = random.multivariate_normal([0.0, 0.0], [[0.4, 0.0], [0.0, 0.4]], size=100)
    large = random.multivariate_normal([3.27, 0.0], [[1.0, 0.4], [0.4, 1.0]], size=200)
    return np.concatenate([small, large]), np.repeat([0, 1], [100, 200])


def _round_gaussians(
    random: np.random.RandomState, means: NDArray[np.float64], size: int, deviation: float
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    y = np.repeat(np.arange(len(means)), size)
    return means[y] + deviation * random.normal(size=(len(y), means.shape[1])), y


# -- partitions of Ohl & Lindsten --------------------------------------------------------------------------------------


Labels = NDArray[np.int64]


def make_partitions(
    n_samples: int = 200,
    n_clusters: int = 10,
    n_partitions: int = 50,
    rho_max: float = 0.9,
    *,
    rho_min: float = 0.1,
    random_state: Any = None,
) -> tuple[Labels, Labels]:
    """Partitions that keep more or less of a true partition (Ohl & Lindsten's first scenario).

    Partition t keeps the true cluster of each object with probability ρ_t, drawn uniformly from [rho_min, rho_max], and
    gives it one of the others, all alike, otherwise.

    Parameters
    ----------
    n_samples, n_clusters, n_partitions : int
        The paper has 200 objects, 10 clusters, 5 to 200 partitions.
    rho_max : float, default 0.9
        Largest share of objects that keep their cluster.
    rho_min : float, default 0.1
        Smallest such share.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the draws.

    Returns
    -------
    labels : ndarray of shape (n_objects, n_partitions)
        One column per partition.
    truth : ndarray of shape (n_objects,)
        Drawn uniformly from the clusters.

    Raises
    ------
    ValueError
        If a number is too small or not 0 ≤ rho_min ≤ rho_max ≤ 1.

    References
    ----------
    Ohl & Lindsten 2025, Sec. 4.2, Fig. 1 and Appendix B.

    Examples
    --------
    >>> from ensemblage.datasets import make_partitions
    >>> labels, truth = make_partitions(n_partitions=20, random_state=0)
    >>> labels.shape, truth.shape
    ((200, 20), (200,))
    """
    _check_sizes("make_partitions", n_samples, n_clusters, n_partitions)
    _check_share("rho_max of make_partitions", rho_max, 0.0, 1.0)
    _check_share("rho_min of make_partitions", rho_min, 0.0, rho_max)
    random = random_source(random_state)
    truth = random.randint(n_clusters, size=n_samples)
    shares = random.uniform(rho_min, rho_max, size=n_partitions)
    return np.column_stack([_imitation(random, truth, n_clusters, rho) for rho in shares]), truth


def make_hub_partitions(
    bad_share: float = 0.5,
    *,
    n_samples: int = 200,
    n_clusters: int = 10,
    n_partitions: int = 50,
    hubs: tuple[float, float] = (0.2, 0.9),
    draw: str = "paper",
    random_state: Any = None,
) -> tuple[Labels, Labels]:
    """Partitions around a bad and a good imitation of a true partition (Ohl & Lindsten's second scenario).

    Parameters
    ----------
    bad_share : float, default 0.5
        Share of the partitions that imitate the first, bad hub; their number is rounded up. The others imitate the
        second.
    n_samples, n_clusters, n_partitions : int
        As in the paper by default.
    hubs : tuple of float, default (0.2, 0.9)
        Shares of the objects that keep their true cluster in the two hubs.
    draw : {"paper", "code"}, default "paper"
        The share of objects that a partition keeps of its hub is drawn uniformly from [0.2, 0.9], as the paper says,
        or from [0, 1], as its released code does.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the draws.

    Returns
    -------
    labels : ndarray of shape (n_objects, n_partitions)
        Those around the first hub come first. The hubs themselves are not among them.
    truth : ndarray of shape (n_objects,)
        Drawn uniformly from the clusters.

    Raises
    ------
    ValueError
        If a number is too small, a share is not from 0 to 1, or ``draw`` is none of the above.

    References
    ----------
    Ohl & Lindsten 2025, Sec. 4.2, Fig. 2.

    Examples
    --------
    >>> from ensemblage.datasets import make_hub_partitions
    >>> labels, truth = make_hub_partitions(0.2, random_state=0)
    >>> labels.shape
    (200, 50)
    """
    _check_sizes("make_hub_partitions", n_samples, n_clusters, n_partitions)
    if not isinstance(hubs, Sequence | np.ndarray) or np.shape(hubs)[:1] != (2,):
        raise ValueError(
            f"hubs of make_hub_partitions must be two shares. Got {format_value(hubs)}. Give (0.2, 0.9), for example."
        )
    for name, share in (("bad_share", bad_share), ("hubs[0]", hubs[0]), ("hubs[1]", hubs[1])):
        _check_share(f"{name} of make_hub_partitions", share, 0.0, 1.0)
    low, high = {"paper": (0.2, 0.9), "code": (0.0, 1.0)}[
        check_choice(draw, "draw of make_hub_partitions", ("paper", "code"))
    ]
    random = random_source(random_state)
    truth = random.randint(n_clusters, size=n_samples)
    centres = [_imitation(random, truth, n_clusters, rho) for rho in hubs]
    n_bad = ceil(bad_share * n_partitions)
    shares = random.uniform(low, high, size=n_partitions)
    members = [_imitation(random, centres[t >= n_bad], n_clusters, rho) for t, rho in enumerate(shares)]
    return np.column_stack(members), truth


def _imitation(random: Any, partition: Labels, n_clusters: int, rho: float) -> Labels:
    moved = random.uniform(size=len(partition)) >= rho
    elsewhere = (partition + random.randint(1, n_clusters, size=len(partition))) % n_clusters
    return np.where(moved, elsewhere, partition)


def _check_sizes(name: str, n_objects: int, n_clusters: int, n_partitions: int) -> None:
    check_whole(n_objects, f"n_objects of {name}", 1, MOST_OBJECTS)
    check_whole(n_clusters, f"n_clusters of {name}", 2, MOST_OBJECTS)
    check_whole(n_partitions, f"n_partitions of {name}", 1, MOST_TASKS)


def _check_share(subject: str, share: Any, low: float, high: float) -> None:
    is_number = isinstance(share, Real) and not isinstance(share, bool | np.bool_)
    if not is_number or not low <= share <= high:
        raise ValueError(
            f"{subject} must be a number from {low:g} to {high:g}. Got {format_value(share)}. Give such a share."
        )
