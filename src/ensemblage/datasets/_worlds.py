"""Synthetic worlds: sets with known clusters as people have them, written down from theory and from what fields know.

Nothing here is fitted to a set. The kinds and what is drawn in each are listed in `make_world`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.random import random_source
from ensemblage.base.validation import check_choice, check_whole
from ensemblage.datasets._clouds import clouds, single
from ensemblage.datasets._draws import Drawn, Random
from ensemblage.datasets._latent_tables import categories, mixed, numbers, wide
from ensemblage.datasets._shapes import shapes

LEAST_OBJECTS = 20
KINDS: Mapping[str, Callable[[Random, int | None], Drawn]] = MappingProxyType(
    {
        "clouds": clouds,
        "shapes": shapes,
        "numbers": numbers,
        "categories": categories,
        "mixed": mixed,
        "wide": wide,
        "single": single,
    }
)


class World(NamedTuple):
    """A synthetic set with known clusters."""

    X: Any
    """(n, m) float64, or an Arrow table where some columns are categories."""
    labels: NDArray[np.int64]
    """(n,) the cluster of each object, from 0; -1 for objects of no cluster."""
    kind: str
    traits: tuple[str, ...]
    """What was drawn, in words such as "heavy tails", "units" and "outliers"."""


def make_world(kind: str | None = None, *, n_samples: int | None = None, random_state: Any = None) -> World:
    """Use it to test a method: a synthetic set with known clusters, of a kind that real data have.

    Parameters
    ----------
    kind : str, optional
        One of

        - "clouds": clouds with spherical, diagonal, full, shared or low-rank covariances; normal, heavy-tailed, skewed
          or bounded; sometimes bent, with irrelevant features, or with clusters in clusters;
        - "shapes": curves, rings, spirals, boxes and blobs in the plane, side by side or one within another; sometimes
          turned into space;
        - "numbers": a table of numbers of mixed type: real ones in units of their own, skewed ones, counts, counts and
          amounts with many zeros, grades, yes and no; correlated blocks, irrelevant and redundant columns, batches;
        - "categories": categories with unequal levels, grades, and yes and no; some of them say nothing;
        - "mixed": columns of "numbers" and of "categories";
        - "wide": few objects with many features: modules of features that differ between clusters, common factors,
          batches, counts or logarithms;
        - "single": one cluster: a single cloud, a curve, a gradient, or a table without classes.

        Default: drawn, every kind alike.
    n_samples : int, optional
        Number of objects, at least 20. Default: drawn, from 60 to 1,500; of "wide" from 30 to 250.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the draws.

    Returns
    -------
    World
        ``X``, ``labels``, ``kind`` and ``traits``.

    Raises
    ------
    ValueError
        If there is no such kind, or ``n_samples`` is too small.

    Notes
    -----
    The share of informative columns, the separation of the clusters (from hardly any overlap to little more than
    chance), their sizes (equal to very unequal) and their number (2 to 25) are drawn for each world. The clusters of a
    table differ in the latent score behind a column; the column shows that score by its type: cut into grades, as the
    rate of a count, as the chance of a level. The numbers are drawn by the legacy generator of NumPy, whose stream does
    not change between versions. O(n m) time and memory, of "shapes" O(n log n) per cluster.

    Examples
    --------
    >>> from ensemblage.datasets import make_world
    >>> world = make_world("clouds", n_samples=200, random_state=0)
    >>> world.X.shape[0], int(world.labels.min())
    (200, 0)
    >>> make_world("mixed", n_samples=100, random_state=0).X.num_rows
    100
    """
    random = random_source(random_state)
    name = list(KINDS)[random.randint(len(KINDS))] if kind is None else check_choice(kind, "kind of make_world", KINDS)
    if n_samples is not None:
        check_whole(n_samples, "n_samples of make_world", LEAST_OBJECTS)
    X, labels, traits = KINDS[name](random, n_samples)
    order = random.permutation(len(labels))
    X = X[order] if isinstance(X, np.ndarray) else X.take(order)
    return World(X, labels[order], name, tuple(dict.fromkeys(traits)))
