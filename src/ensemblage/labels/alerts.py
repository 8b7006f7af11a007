"""Label matrices that are probably something else: partitions in rows, or features."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.options import Alert, Message, Option
from ensemblage.labels.coding import CodedColumns

COMPARED, PAIRED = 200, 20
"""Rows and columns that are looked at, and of which pairs are compared."""
FEW, TIMES, LEAST_TURNED = 10, 5, 20
"""Objects below which so many times as many partitions are rather objects, and columns below which none are."""
MORE_ALIKE = 0.2
"""By how much more rows agree as partitions than columns do where they are partitions."""
MANY_LABELS, LEAST_OBJECTS, LEAST_PARTITIONS = 8, 20, 3
ORDERED, TIMES_ORDERED, UNLIKE = 0.1, 2, 0.3
"""Least mean rank correlation of columns, how many times that of renamed labels it is, and the adjusted Rand index
below which columns are no partitions of one thing.
"""


def label_alerts(coded: CodedColumns) -> Iterator[Alert]:
    """What is alarming in coded labels, by their values."""
    n, p = coded.codes.shape
    if p < LEAST_PARTITIONS or n < 2:
        return
    if p >= LEAST_TURNED and (reason := _why_turned(coded, n, p)):
        cure = Message("Give each partition as a column: turn the table, as labels.T does in Python.")
        yield Alert("partitions in rows", f"{n:,} rows and {p:,} columns", reason, cure)
        return
    k = int(np.median(list(map(len, coded.categories))))
    if n >= LEAST_OBJECTS and k >= MANY_LABELS and _are_ordered(coded):
        why = f"their whole numbers are ordered alike, {k:,} different ones in the median"
        cure = Message("If these are no partitions, cluster them with ", Option("ConsensusClustering"), ".")
        yield Alert("features as labels", f"{p:,} columns", why, cure)


def _why_turned(coded: CodedColumns, n: int, p: int) -> str:
    """Why rows are rather partitions than objects; "" if they are not."""
    if n < FEW and p >= TIMES * n:
        return "which are fewer objects than partitions"
    if n >= p and coded.categories[0].dtype.kind not in "iu":
        return ""
    values = _some_values(coded)
    if n < p and _agreement(values) > _agreement(values.T) + MORE_ALIKE:
        return "which are fewer objects than partitions, and as partitions the rows agree more than the columns"
    if _are_numbered(values) and not _are_numbered(values.T):
        return "and each row is numbered from its first cell on, as a partition is"
    return ""


def _some_values(coded: CodedColumns) -> NDArray[np.int64]:
    """Labels of some rows and columns as numbers in the order of the labels, −1 where one is missing."""
    n, p = coded.codes.shape
    rows = np.unique(np.linspace(0, n - 1, COMPARED).astype(np.intp))
    columns = np.unique(np.linspace(0, p - 1, COMPARED).astype(np.intp)).tolist()
    known = [coded.categories[j] for j in columns]
    if len({labels.dtype.kind in "iufb" for labels in known}) > 1:
        known = [labels.astype(str) for labels in known]
    labels = np.unique(np.concatenate(known))
    codes = np.asarray(coded.codes[rows])[:, columns]
    places = [np.append(np.searchsorted(labels, own), -1) for own in known]
    return np.column_stack([place[codes[:, j]] for j, place in enumerate(places)]).astype(np.int64)


def _agreement(values: NDArray[np.int64]) -> float:
    """Mean adjusted Rand index of pairs of rows as partitions, 0 where one says nothing."""
    some = values[np.unique(np.linspace(0, len(values) - 1, PAIRED).astype(np.intp))]
    codes = [np.unique(row, return_inverse=True)[1] for row in some]
    return float(np.mean([_adjusted_rand(codes[i], codes[j]) for i in range(len(codes)) for j in range(i)]))


def _adjusted_rand(a: NDArray[np.intp], b: NDArray[np.intp]) -> float:
    cells = np.bincount(a * (b.max() + 1) + b)
    together, by_a, by_b = (float((c * (c - 1)).sum()) for c in (cells, np.bincount(a), np.bincount(b)))
    total = len(a) * (len(a) - 1)
    if not (0 < by_a < total and 0 < by_b < total):
        return 0.0
    expected = by_a * by_b / total
    return (together - expected) / ((by_a + by_b) / 2 - expected)


def _are_numbered(values: NDArray[np.int64]) -> bool:
    """Whether in every row, some of several labels, each new label is the next number."""
    if len(values) < 2 or (values < 0).any():
        return False
    most = np.maximum.accumulate(values, axis=1)
    steps = np.diff(most, axis=1)
    is_new = values[:, 1:] > most[:, :-1]
    all_next = bool((steps <= 1).all() and (values[:, 0] == values[0, 0]).all() and values[0, 0] == values.min())
    return all_next and bool(is_new.any(axis=1).mean() > 0.5)


def _are_ordered(coded: CodedColumns) -> bool:
    """Whether columns are whole numbers whose order matters, and which no clusters underlie."""
    n, p = coded.codes.shape
    if any(labels.dtype.kind not in "iuf" for labels in coded.categories):
        return False
    rows = np.unique(np.linspace(0, n - 1, 5 * COMPARED).astype(np.intp))
    columns = np.unique(np.linspace(0, p - 1, PAIRED).astype(np.intp))
    codes = np.asarray(coded.codes[rows])[:, columns].astype(np.int64)
    codes[codes == [len(coded.categories[j]) for j in columns]] = -1  # missing
    codes = codes[:, codes.max(axis=0) > codes.min(axis=0)]
    if codes.shape[1] < LEAST_PARTITIONS:
        return False
    random = np.random.default_rng(0)
    renamed = np.column_stack([np.append(random.permutation(column.max() + 1), -1)[column] for column in codes.T])
    ordered, by_chance = _rank_correlation(codes), _rank_correlation(renamed)
    if ordered < ORDERED or ordered < TIMES_ORDERED * by_chance:
        return False
    return _agreement(codes.T) < UNLIKE


def _rank_correlation(codes: NDArray[np.int64]) -> float:
    """Mean absolute rank correlation of pairs of columns, over the rows with labels in which they differ.

    Partitions that name their clusters alike, and agree in some rows, have no order in the others.
    """
    from scipy.stats import rankdata  # half a second of import, which few ensembles need

    found = []
    for j in range(1, codes.shape[1]):
        for other in codes[:, :j].T:
            differ = (other != codes[:, j]) & (other >= 0) & (codes[:, j] >= 0)
            pair = np.column_stack([other, codes[:, j]])[differ]
            varies = len(pair) >= LEAST_OBJECTS and (pair.max(axis=0) > pair.min(axis=0)).all()
            found.append(abs(np.corrcoef(rankdata(pair, axis=0), rowvar=False)[0, 1]) if varies else 0.0)
    return float(np.mean(found))
