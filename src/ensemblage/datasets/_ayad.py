"""The artificial data sets of Ayad & Kamel 2010 (Sec. 4.2, Table 1)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.random import random_source


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
