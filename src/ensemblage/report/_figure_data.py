"""What the figures show of an analysis: all of it where it is small, else a seeded sample, and a note that says so."""

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from ensemblage.base.random import task_seeds
from ensemblage.labels.ensemble import Ensemble
from ensemblage.metrics import coassociation
from ensemblage.ranking._discotec import ConsensusMatrix
from ensemblage.report._projection import project

_MOST_ROWS = 300
_MOST_POINTS = 5_000


def sample_by_cluster(clusters: NDArray[Any], most: int, random_state: Any) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """At most about ``most`` objects in random order, and how many objects each stands for.

    Every cluster is there in proportion to its size, with at least one object; of more than ``most`` clusters only the
    largest. O(n log n) time, O(n) memory.
    """
    rng = np.random.RandomState(task_seeds(random_state, 1)[0])
    mixed = rng.permutation(len(clusters))
    if len(clusters) <= most:
        return mixed, np.ones(len(clusters))
    _, numbers, sizes = np.unique(clusters[mixed], return_inverse=True, return_counts=True)
    quotas = np.maximum(1, np.round(sizes * (most / len(clusters))).astype(np.int64))
    quotas[np.argsort(-sizes, kind="stable")[most:]] = 0
    by_cluster = np.argsort(numbers, kind="stable")
    place = np.empty(len(mixed), dtype=np.int64)
    place[by_cluster] = np.arange(len(mixed)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    chosen = place < quotas[numbers]
    return mixed[chosen], (sizes / np.maximum(quotas, 1))[numbers[chosen]]


class MatrixObjects(NamedTuple):
    """The objects that a matrix shows."""

    objects: NDArray[Any]
    sizes: NDArray[np.float64]
    """How many objects each stands for."""
    note: str
    """A sentence that says so."""


def matrix_data(
    ensemble: Ensemble, clusters: NDArray[Any], weights: NDArray[np.float64], shown: MatrixObjects
) -> dict[str, Any]:
    """The consensus matrix to draw: its lower triangle in percent, the cluster and the weight of each row, a note;
    and which entries of the matrix without weights of the partitions reach its mean over all objects.

    Rows are in the order of the clusters; in each, rows that are together often stand side by side.
    """
    chosen, sizes, note = shown
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="No partition labels both")
        shares = coassociation(ensemble, weights=weights, objects=chosen)
        unweighted = coassociation(ensemble, objects=chosen) if np.ptp(weights) > 0 else shares
    order = _order_by_cluster(shares, clusters[chosen])
    percent = np.round(100 * shares[np.ix_(order, order)]).astype(np.int64)
    mean = ConsensusMatrix.of(ensemble).mean
    return {
        "percent": [row[: i + 1] for i, row in enumerate(percent.tolist())],
        "clusters": clusters[chosen[order]].tolist(),
        "sizes": np.round(sizes[order], 3).tolist(),
        "note": note,
        "mean": mean,
        "frequent": _triangle_of_bits(unweighted[np.ix_(order, order)] >= mean),
    }


def _triangle_of_bits(matrix: NDArray[np.bool_]) -> list[str]:
    """Rows of the lower triangle, diagonal included, as text of 0 and 1."""
    return ["".join("01"[bit] for bit in row[: i + 1]) for i, row in enumerate(matrix.tolist())]


def _order_by_cluster(shares: NDArray[np.float64], clusters: NDArray[Any]) -> NDArray[Any]:
    """Rows cluster by cluster, unlabelled ones last, inside a cluster as the leaves of average linkage."""
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    order = []
    for cluster in sorted(set(clusters.tolist()), key=lambda c: (c < 0, c)):
        rows = np.flatnonzero(clusters == cluster)
        if len(rows) > 2:
            apart = squareform(1 - shares[np.ix_(rows, rows)], checks=False)
            rows = rows[leaves_list(linkage(apart, "average"))]
        order.append(rows)
    return np.concatenate(order)


def matrix_objects(ensemble: Ensemble, clusters: NDArray[Any], random_state: Any) -> MatrixObjects:
    """All objects, or one of each different row, where they are few; else a sample."""
    n = len(ensemble)
    if n <= _MOST_ROWS:
        return MatrixObjects(np.arange(n), np.ones(n), f"All {n:,} objects are drawn.")
    if len(ensemble.distinct.counts) <= _MOST_ROWS:
        pairs = ensemble.distinct.inverse.astype(np.int64) * (int(clusters.max(initial=-1)) + 2) + clusters + 1
        _, first, counts = np.unique(pairs, return_index=True, return_counts=True)
        if len(first) <= _MOST_ROWS:
            note = f"All {n:,} objects are drawn; they have {len(first):,} different rows of labels."
            return MatrixObjects(first, counts.astype(np.float64), note)
    chosen, sizes = sample_by_cluster(clusters, _MOST_ROWS, random_state)
    note = (
        f"{len(chosen):,} of the {n:,} objects are drawn, taken at random from each cluster in proportion to its size."
    )
    return MatrixObjects(chosen, sizes, note)


class Features(NamedTuple):
    """What the objects were clustered by."""

    values: Any
    """(n, m) array or sparse matrix"""
    names: list[str]

    @classmethod
    def of(cls, features: Any) -> "Features":
        """Features with the names of a data frame's columns, or numbers."""
        frame = nw.from_native(features, pass_through=True)
        values = features if issparse(features) else np.asarray(features)
        values = values[:, None] if values.ndim == 1 else values
        if values.ndim != 2:
            raise ValueError(
                f"features must be a table of objects and features. Got {values.ndim} dimensions. Give a matrix."
            )
        known = isinstance(frame, nw.DataFrame) and not isinstance(features, nw.DataFrame)
        names = frame.columns if known else [f"feature {j}" for j in range(values.shape[1])]
        return cls(values, [str(name) for name in names])

    def rows(self, chosen: NDArray[Any]) -> NDArray[np.float64]:
        """Some rows as numbers; what is not finite becomes the median of its column."""
        part = self.values.tocsr()[chosen].toarray() if issparse(self.values) else self.values[chosen]
        try:
            numbers = np.array(part, dtype=np.float64)
        except (TypeError, ValueError):
            raise ValueError("features must be numbers. Got text. Leave out the columns of text.") from None
        holes = ~np.isfinite(numbers)
        for j in np.flatnonzero(holes.any(axis=0)):
            known = numbers[~holes[:, j], j]
            numbers[holes[:, j], j] = np.median(known) if len(known) else 0.0
        return numbers


def point_sample(clusters: NDArray[Any], random_state: Any) -> NDArray[Any]:
    """The objects that are drawn as points, in the order in which they are."""
    return sample_by_cluster(clusters, _MOST_POINTS, random_state)[0]


def point_data(
    features: Features, clusters: NDArray[Any], confidence: NDArray[np.float64], chosen: NDArray[Any]
) -> dict[str, Any]:
    """Some objects in the plane: up to two features as they are, more by `project`."""
    xy, x_label, y_label, axes_note = _plane_coordinates(
        features.rows(chosen), clusters[chosen], confidence[chosen], features.names
    )
    notes = [axes_note]
    if len(chosen) < len(clusters):
        notes += [f"{len(chosen):,} of the {len(clusters):,} objects are drawn, taken at random from each cluster."]
    return {
        "xy": [[float(f"{x:.5g}"), float(f"{y:.5g}")] for x, y in xy.tolist()],
        "clusters": clusters[chosen].tolist(),
        "confidence": [None if np.isnan(c) else round(c, 3) for c in confidence[chosen].tolist()],
        "x_label": x_label,
        "y_label": y_label,
        "notes": notes,
    }


def _plane_coordinates(
    values: NDArray[np.float64], clusters: NDArray[Any], confidence: NDArray[np.float64], names: list[str]
) -> tuple[NDArray[np.float64], str, str, str]:
    m = values.shape[1]
    if m == 1:
        with_confidence = np.column_stack([values[:, 0], np.nan_to_num(confidence)])
        return with_confidence, names[0], "confidence", "There is one feature."
    if m == 2:
        return values, names[0], names[1], "The axes are the two features."
    found = project(values, clusters)
    if found is None:
        return values[:, :2], names[0], names[1], "The axes are the first two features."
    return found.xy, *found.labels, found.note


def symmetric_matrix(rows: Sequence[Sequence[float | None]]) -> NDArray[np.float64]:
    """The symmetric matrix whose lower triangle, diagonal included, has these rows."""
    full = np.zeros((len(rows), len(rows)))
    full[np.tril_indices(len(rows))] = nan_array([value for row in rows for value in row])
    return full + np.tril(full, -1).T


def nan_array(values: Sequence[float | None]) -> NDArray[np.float64]:
    """Numbers of the summary, NaN where there is none."""
    return np.array(values, dtype=np.float64)
