"""What kind of set it is, by a written rule from the data alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import euclidean_distances
from sklearn.neighbors import NearestNeighbors

RULES = {
    "objects": "up to 300, 301 to 3,000, or more",
    "features": "up to 3, 4 to 50, or more",
    "classes": "2, 3 to 7, or more",
    "balance": "balanced: the largest class has at most 2 times the objects of the smallest; unbalanced: more",
    "shape": (
        "of the first reference, in the features as they are clustered. Compact: at least 90 % of the objects lie "
        "nearer to the mean of the others of their class than to that of any other. Long or bent: not so, but the "
        "nearest neighbour of at least 90 % has their class. Overlapping: neither"
    ),
}
KINDS = {
    "objects": ("up to 300", "301 to 3,000", "more than 3,000"),
    "features": ("up to 3", "4 to 50", "more than 50"),
    "classes": ("2", "3 to 7", "more than 7"),
    "balance": ("balanced", "unbalanced"),
    "shape": ("compact", "long or bent", "overlapping"),
}
SHARE = 0.9
"""Of the objects, for the shape."""
KINDS_OF_DATA = {
    "drawings": "At most three columns, all of them numeric.",
    "wide": "Of the other sets, those with more than 50 columns and at most 500 objects.",
    "numbers": "Of the rest, those with at least 90 % of the columns numeric.",
    "categories": "All other sets: mixed tables, and tables of categories.",
}
"""The kinds of the protocol by which the default was chosen; the first that fits."""


def kind_of(n: int, are_numeric: Sequence[bool]) -> str:
    """The kind of data of n objects, by which of their columns are numeric."""
    if len(are_numeric) <= 3 and all(are_numeric):
        return "drawings"
    if len(are_numeric) > 50 and n <= 500:
        return "wide"
    return "numbers" if np.mean(are_numeric) >= 0.9 else "categories"


class Traits(NamedTuple):
    """What the kinds of a set go by."""

    n_objects: int
    n_features: int
    n_classes: int
    imbalance: float
    """Objects of the largest class to those of the smallest."""
    near_mean: float
    """Share of the objects nearest to the mean of their own class, of which they are not part."""
    near_neighbour: float
    """Share of the objects whose nearest neighbour has their class."""

    @property
    def is_table(self) -> bool:
        """Whether it has more features than a drawing in the plane or in space."""
        return self.n_features > 3

    def kinds(self) -> dict[str, str]:
        """The kind by each rule of ``RULES``."""
        shape = "long or bent" if self.near_neighbour >= SHARE else "overlapping"
        return {
            "objects": KINDS["objects"][(self.n_objects > 300) + (self.n_objects > 3_000)],
            "features": KINDS["features"][(self.n_features > 3) + (self.n_features > 50)],
            "classes": KINDS["classes"][(self.n_classes > 2) + (self.n_classes > 7)],
            "balance": "balanced" if self.imbalance <= 2 else "unbalanced",
            "shape": "compact" if self.near_mean >= SHARE else shape,
        }


def traits_of(X: NDArray[np.float64], classes: NDArray[np.int64]) -> Traits:
    """Of (n, m) features as they are clustered and (n,) classes, 0 for noise, which does not count."""
    X, classes = X[classes > 0], classes[classes > 0]
    names, y, sizes = np.unique(classes, return_inverse=True, return_counts=True)
    means = np.array([X[y == j].mean(axis=0) for j in range(len(names))])
    distances = euclidean_distances(X, means)
    # The mean of an object's own class without the object: of few objects and many features, each is near its own.
    distances[np.arange(len(X)), y] *= sizes[y] / np.maximum(sizes[y] - 1, 1e-9)
    neighbour = NearestNeighbors(n_neighbors=1).fit(X).kneighbors(return_distance=False)[:, 0]
    return Traits(
        len(X),
        X.shape[1],
        len(names),
        float(sizes.max() / sizes.min()),
        float(np.mean(distances.argmin(axis=1) == y)),
        float(np.mean(y[neighbour] == y)),
    )
