"""What describes the clusters of objects that are not in memory: moments of all, comparisons of up to 262,144."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage.answer._of_blocks import Found, counts_of
from ensemblage.base.random import sample_rows
from ensemblage.io._feature_blocks import FeatureBlocks
from ensemblage.io._stored_table import TableFeatures
from ensemblage.labels.threads import SUM_ROWS, row_blocks
from ensemblage.profiles._profile import profile
from ensemblage.profiles._record import Profile, VariableRow, sentence_of

MOST_COMPARED, MOST_CELLS = 2**18, 2**22
"""Objects that are compared at most, and their values."""
MOMENTS = ("mean", "deviation", "least", "largest", "difference")


class Description(NamedTuple):
    """What each cluster is like."""

    table: Any
    """pyarrow.Table with a record for each cluster and variable."""
    sizes: list[int]
    """(k,) objects of each cluster."""
    drivers: list[str]
    """(k,) what describes each cluster, "" if nothing does ..."""
    sentences: list[str]
    """(k,) ... and as a sentence."""


def describe_blocks(features: FeatureBlocks, model: Any) -> Description:
    """Do what `FeatureBlocks.profile` does, with a sentence for each cluster."""
    found, k, n = Found.of(features, model), model.n_clusters_, len(features)
    of_kept = found.nearest._reduce(counts_of, np.add, len(found.of_kept.labels))
    sizes = np.bincount(found.of_kept.labels, of_kept, k).astype(int).tolist()
    compared = _profile_of_some(features, model, found)
    rows = [row for c in range(len(compared.clusters)) for row in compared._rows(c)]
    drivers_of = {cluster.cluster: cluster.drivers for cluster in compared.clusters}  # of those that were drawn
    drivers = [drivers_of.get(c, "") for c in range(k)]
    sentences = [sentence_of(c, size, size / n, drivers[c], k) for c, size in enumerate(sizes)]
    return Description(_table_of(rows, sizes, _moments(features, model, found)), sizes, drivers, sentences)


def _profile_of_some(features: FeatureBlocks, model: Any, found: Found) -> Profile:
    """The profile of all objects, or of some of more that are drawn."""
    n, m = features.shape
    rows = sample_rows(n, max(SUM_ROWS, min(MOST_COMPARED, MOST_CELLS // m)), 0)
    labels, confidence, _ = found.of_kept.at(found.nearest[rows])
    used = {use.column for use in model.preprocessor_.columns_ if use.use.startswith("used")}
    return profile(
        labels,
        _values_of(features, model, rows),
        ids=list(map(str, rows.tolist())),
        features=model.preprocessor_._of_blocks(features)[rows],
        clustered=used,
        confidence=confidence,
        max_depth=0,
    )


def _values_of(features: FeatureBlocks, model: Any, rows: NDArray[np.intp]) -> Any:
    """The original values of some objects: a table, or an array where columns have no names."""
    if isinstance(features, TableFeatures):
        return model.preprocessor_._table(features.table).take(rows)
    values = features[rows]
    if features.names is None:
        return values
    import pyarrow as pa

    return pa.table(list(values.T), names=features.names)


def _table_of(rows: list[VariableRow], sizes: list[int], moments: dict[tuple[int, str], list[float]]) -> Any:
    """A column for each field of the rows, and for the moments of all objects."""
    import pyarrow as pa

    none = [np.nan] * len(MOMENTS)
    of_all = [moments.get((row.cluster, row.variable), none) for row in rows]
    columns = {name: pa.array([getattr(row, name) for row in rows]) for name in VariableRow._fields}
    columns["cluster"] = columns["cluster"].cast(pa.int32())
    columns["category"] = columns["category"].cast(pa.string())
    columns["n_objects"] = pa.array([sizes[row.cluster] for row in rows], pa.int64())
    return pa.table(columns | {name: pa.array([values[j] for values in of_all]) for j, name in enumerate(MOMENTS)})


# -- moments of all objects --------------------------------------------------------------------------------------------


class Sums(NamedTuple):
    """Of the values of the objects of each cluster that are not missing."""

    n: NDArray[np.int64]
    """(k, m)"""
    sums: NDArray[np.float64]
    """(2, k, m) of the values less a centre, and of their squares."""
    least: NDArray[np.float64]
    largest: NDArray[np.float64]


def _moments(features: FeatureBlocks, model: Any, found: Found) -> dict[tuple[int, str], list[float]]:
    """`MOMENTS` of each cluster and column of numbers: sums of fixed blocks around a centre, added in order."""
    if isinstance(features, TableFeatures):
        numbers = model.preprocessor_._cells_of(features).numbers
        if numbers is None:
            return {}
    else:
        numbers = features
    k, m = model.n_clusters_, numbers.shape[1]
    centre = np.nan_to_num(_means(numbers[np.arange(min(len(numbers), SUM_ROWS))]))
    state = Sums(np.zeros((k, m), np.int64), np.zeros((2, k, m)), np.full((k, m), np.inf), np.full((k, m), -np.inf))
    n, (sums, squares), least, largest = numbers._fold(
        _add_block, state, found.of_kept.labels, centre, beside=found.nearest
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        means, total = sums / n, sums.sum(axis=0) / n.sum(axis=0)
        deviations = np.sqrt(np.maximum(squares / n - means**2, 0))
        spread = np.sqrt(np.maximum(squares.sum(axis=0) / n.sum(axis=0) - total**2, 0))
        differences = np.where(spread > 0, (means - total) / spread, 0.0)
    there = np.where(n > 0, 1.0, np.nan)
    each = np.stack([means + centre, deviations, least * there, largest * there, differences], axis=2)
    names = numbers.names or [f"x{j}" for j in range(m)]
    return {(c, name): each[c, j].tolist() for c in range(k) for j, name in enumerate(names)}


def _means(values: NDArray[Any]) -> NDArray[np.float64]:
    """(m,) means of the values that are not missing; NaN without values."""
    known = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        means: NDArray[np.float64] = np.where(known, values, 0).sum(axis=0, dtype=np.float64) / known.sum(axis=0)
    return means


def _add_block(
    state: Sums,
    block: NDArray[Any],
    nearest: NDArray[Any],
    of_kept: NDArray[np.int32],
    centre: NDArray[np.float64],
) -> Sums:
    """Add a block of rows to the sums; ``nearest`` are its places among the clustered rows."""
    n, sums, least, largest = state.n.copy(), state.sums.copy(), state.least.copy(), state.largest.copy()
    for rows in row_blocks(len(block), SUM_ROWS):
        labels = of_kept[nearest[rows][:, 0].astype(np.intp)]
        values = block[rows].astype(np.float64)
        for cluster in np.unique(labels[labels >= 0]).tolist():
            own = values[labels == cluster]
            known = ~np.isnan(own)
            n[cluster] += known.sum(axis=0)
            least[cluster] = np.fmin(least[cluster], np.fmin.reduce(own))
            largest[cluster] = np.fmax(largest[cluster], np.fmax.reduce(own))
            own = np.where(known, own - centre, 0)
            sums[0, cluster] += own.sum(axis=0)
            sums[1, cluster] += (own**2).sum(axis=0)
    return Sums(n, sums, least, largest)
