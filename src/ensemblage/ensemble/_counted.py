"""What the partitions say of objects that count more than once, or not at all."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ensemblage.ensemble._checks import check_labelled
from ensemblage.ensemble._coding import CodedColumns, Coding
from ensemblage.rows.distinct import DistinctRows
from ensemblage.rows.protocol import LabelRows


class Distinct(Protocol):
    """What is asked of partitions by what counts pairs of them, or of objects: an ensemble has it, and all records."""

    @property
    def distinct(self) -> Any:
        """`DistinctRows`."""

    @property
    def n_clusters(self) -> NDArray[np.int64]:
        """(p,)"""


class Counted(NamedTuple):
    """Label rows in which object i counts ``sample_weight[i]`` times: what is counted is ``np.repeat(rows, w)``.

    A label that no object of weight > 0 has is a missing entry, and a distinct row without weight is left out: the
    place of its objects is the number of distinct rows.
    """

    coding: Any
    """`Coding` or `SoftCoding`: how other labels of these partitions become such rows."""
    objects: LabelRows
    """(n, p) the row of each object, whatever it counts."""
    distinct: DistinctRows
    """The distinct ones, and what they count."""
    n_clusters: NDArray[np.int64]
    """(p,) labels of each partition; 0 of one that labels no object that counts."""

    @property
    def offsets(self) -> NDArray[np.int64]:
        """(p + 1,) rows of each partition in a table over labels."""
        return np.concatenate([[0], np.cumsum(self.n_clusters + 1)])


def counted_labels(
    coded: CodedColumns, missing: int | None, distinct: DistinctRows, sample_weight: NDArray[np.int64] | None
) -> Counted:
    """`Counted` of coded labels, whose rows are shared where every label and every row has weight.

    Else new are a copy of the codes and 8 bytes per object.
    """
    n_clusters, coding = np.array([len(labels) for labels in coded.categories]), Coding(coded.categories, missing)
    if sample_weight is None:
        return Counted(coding, coded.codes, distinct, n_clusters)
    codes, counts, inverse = distinct.with_weights(sample_weight)
    rows = coded.codes
    if len(codes) < len(distinct.codes):
        offsets = np.concatenate([[0], np.cumsum(n_clusters + 1)])
        sizes = codes.profile(codes.state(np.int32, 0), counts, offsets, 1)[0]
        used = [np.flatnonzero(sizes[start : stop - 1]) for start, stop in pairwise(offsets)]
        categories = tuple(labels[some] for labels, some in zip(coded.categories, used, strict=True))
        coding, n_clusters = Coding(categories, missing), np.array([len(labels) for labels in categories])
        check_labelled(categories, coded.names or [])
        rows, codes = (coding.encode(coded._replace(codes=some), warn=False) for some in (rows, codes))
    return Counted(coding, rows, DistinctRows(codes, counts, inverse), n_clusters)
