"""Two partitions side by side: which clusters are the same, and which objects moved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score, normalized_mutual_info_score

from ensemblage.base.renamed import renamed_parameters
from ensemblage.base.text import text_table
from ensemblage.labels.ensemble import Ensemble

MOST_SHOWN = 12
"""Clusters that are printed."""


class Coded(NamedTuple):
    """A partition by numbers."""

    clusters: NDArray[np.int64]
    """(n,) number of each object's cluster, in sorted order of the labels; -1 in none."""
    labels: NDArray[Any]
    """(k,) the labels."""

    @classmethod
    def of(cls, labels: Any, subject: str) -> Coded:
        """Of an array-like; -1, NaN and None mean "in no cluster"."""
        coded = Ensemble.from_partitions([labels], names=[subject])
        clusters = np.asarray(coded.codes[:, 0]).astype(np.int64)
        clusters[clusters == len(coded.categories[0])] = -1
        return cls(clusters, coded.categories[0])


def overlaps(first: Coded, second: Coded) -> NDArray[np.int64]:
    """(k, l) objects that each two clusters share."""
    table = np.zeros((len(first.labels), len(second.labels)), dtype=np.int64)
    both = (first.clusters >= 0) & (second.clusters >= 0)
    np.add.at(table, (first.clusters[both], second.clusters[both]), 1)
    return table


def match_rows(table: NDArray[np.int64]) -> NDArray[np.int64]:
    """(k,) for each row a column of its own so that they share as many objects as possible; -1 for none."""
    of_row = np.full(len(table), -1)
    rows, columns = linear_sum_assignment(table, maximize=True)
    shared = table[rows, columns] > 0
    of_row[rows[shared]] = columns[shared]
    return of_row


def align_numbers(labels: Any, reference: Any, ids: Any, reference_ids: Any) -> tuple[Coded, NDArray[np.int64]]:
    """A partition, and for each of its clusters the number that `align_labels` gives it."""
    new, old = Coded.of(labels, "labels"), Coded.of(reference, "reference")
    if old.labels.dtype.kind not in "iu":
        raise ValueError(
            f"reference of align_labels must hold numbers of clusters. Got {old.labels[0].item()!r}. Number the "
            f"clusters."
        )
    here, there = shared_objects(ids, reference_ids, len(new.clusters), len(old.clusters))
    found = match_rows(overlaps(Coded(new.clusters[here], new.labels), Coded(old.clusters[there], old.labels)))
    free = int(old.labels.max()) + 1
    is_new = found < 0
    numbers = np.empty(len(found), dtype=np.int64)
    numbers[~is_new] = old.labels[found[~is_new]]
    numbers[is_new] = free + np.arange(is_new.sum())
    return new, numbers


def shared_objects(
    ids: Sequence[Any] | None, reference_ids: Sequence[Any] | None, n: int, n_reference: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Places of the objects that stand in both lists; without ids they are the same objects in the same order."""
    if (ids is None) != (reference_ids is None):
        raise ValueError(
            "Objects must have ids in both partitions, or in none. Got ids of one only. Give both or none."
        )
    if ids is None or reference_ids is None:
        if n != n_reference:
            raise ValueError(
                f"Two partitions without ids must be of the same objects. Got {n:,} and {n_reference:,}. Give the ids "
                "of both."
            )
        return np.arange(n), np.arange(n)
    for given, length in ((ids, n), (reference_ids, n_reference)):
        if len(given) != length or len(set(given)) < length:
            raise ValueError(
                f"ids must be different, one for each of the {length:,} objects. Got {len(set(given)):,} different of "
                f"{len(given):,}. Correct them."
            )
    place_of = {name: place for place, name in enumerate(reference_ids)}
    pairs = [(here, place_of[name]) for here, name in enumerate(ids) if name in place_of]
    if not pairs:
        raise ValueError(
            f"Two partitions must share objects. Got ids such as {ids[0]!r} and {reference_ids[0]!r}, and none is in "
            "both. Name the columns of the same ids."
        )
    here, there = np.array(pairs).T
    return here, there


@renamed_parameters(clustering="partition")
def align_labels(
    partition: ArrayLike | Any,
    reference: ArrayLike | Any,
    *,
    ids: Sequence[Any] | None = None,
    reference_ids: Sequence[Any] | None = None,
) -> NDArray[np.int64]:
    """Use it to keep the numbers of clusters between runs: new clusters get the numbers of those that they match.

    Each cluster gets the number of one of the reference, no two the same, so that as many objects as possible have the
    same number in both (the Hungarian method, of the objects that both have). Clusters that share no object with one
    that is left get new numbers, from the largest of the reference on; those of clusters that are gone stay free.

    Parameters
    ----------
    partition : array-like of shape (n,)
        Cluster of each object; -1, NaN and None: in none.
    reference : array-like of int, shape (n_reference,)
        Cluster of each object before.
    ids, reference_ids : sequence, optional
        Names of the objects in both. Default: the same objects in the same order.

    Returns
    -------
    ndarray of shape (n,), int64
        The numbers; -1 for an object in no cluster.

    Raises
    ------
    ValueError
        If no object is in both, ids repeat, or the reference has no numbers.

    Examples
    --------
    >>> from ensemblage.metrics import align_labels
    >>> align_labels([0, 0, 1, 1, 2], [1, 1, 0, 0, 0])
    array([1, 1, 0, 0, 2])
    >>> align_labels([0, 0, 1], [3, 3, 5], ids=["a", "b", "z"], reference_ids=["b", "a", "c"])
    array([3, 3, 6])
    """
    new, numbers = align_numbers(partition, reference, ids, reference_ids)
    return np.append(numbers, -1)[new.clusters]


@dataclass(frozen=True, eq=False, repr=False)
class LabelComparison:
    """Two partitions of the same objects; `compare` makes it."""

    ari: float
    """Adjusted Rand index of the objects that are in a cluster of both."""
    ami: float
    """Their adjusted mutual information."""
    nmi: float
    """Their normalised mutual information."""
    table: NDArray[np.int64]
    """(k, l) objects that each two clusters share."""
    labels: tuple[NDArray[Any], NDArray[Any]]
    """(k,) and (l,) the labels of the clusters."""
    matched: NDArray[np.int64]
    """(k,) column of ``table`` that is the same cluster as each row, -1 if none is."""
    places: tuple[NDArray[np.intp], NDArray[np.intp]]
    """(m,) where the shared objects stand in both."""
    moved: NDArray[np.bool_]
    """(m,) shared objects that are not in the cluster that is the same as theirs was."""
    clusters: tuple[NDArray[np.int64], NDArray[np.int64]]
    """(m,) cluster of each shared object in both, as a row and a column of ``table``; -1 in none."""
    n_objects: tuple[int, int]
    """Objects of both."""

    def __repr__(self) -> str:
        first, second = self.labels
        head = ["", *(str(label) for label in second[:MOST_SHOWN]), "matches"]
        lines = []
        for row, label, match in zip(self.table, first, self.matched, strict=True):
            same = "none" if match < 0 else str(second[match])
            lines.append([str(label), *(f"{count:,}" for count in row[:MOST_SHOWN]), same])
        text = (
            f"LabelComparison: {len(self.moved):,} objects in both, {int(self.moved.sum()):,} moved; "
            f"ARI {self.ari:.3f}, AMI {self.ami:.3f}, NMI {self.nmi:.3f}"
        )
        return f"{text}\n{text_table([head, *lines], MOST_SHOWN)}"


def compare(
    first: ArrayLike | Any,
    second: ArrayLike | Any,
    *,
    first_ids: Sequence[Any] | None = None,
    second_ids: Sequence[Any] | None = None,
) -> LabelComparison:
    """Use it to compare two partitions: their agreement, the matching clusters, and the objects that moved.

    Parameters
    ----------
    first, second : array-like of shape (n_objects,)
        Cluster of each object: numbers or text; -1, NaN and None: in none.
    first_ids, second_ids : sequence, optional
        Names of the objects, by which they are found in both. Default: the same objects in the same order.

    Returns
    -------
    LabelComparison
        ``ari``, ``ami``, ``nmi``, the ``table`` of sizes, ``matched`` and ``moved``.

    Raises
    ------
    ValueError
        If no object is in both, or ids repeat.

    Examples
    --------
    >>> from ensemblage import compare
    >>> compare([0, 0, 0, 1, 1], ["x", "x", "y", "y", "y"])
    LabelComparison: 5 objects in both, 1 moved; ARI 0.167, AMI 0.251, NMI 0.433
       x  y  matches
    0  2  1        x
    1  0  2        y
    """
    one, two = Coded.of(first, "first"), Coded.of(second, "second")
    here, there = shared_objects(first_ids, second_ids, len(one.clusters), len(two.clusters))
    a, b = one.clusters[here], two.clusters[there]
    table = overlaps(Coded(a, one.labels), Coded(b, two.labels))
    same = match_rows(table)
    in_both = (a >= 0) & (b >= 0)
    of_both = a[in_both], b[in_both]
    scores = adjusted_rand_score, adjusted_mutual_info_score, normalized_mutual_info_score
    ari, ami, nmi = (float(score(*of_both)) if in_both.any() else float("nan") for score in scores)
    moved = np.where(a >= 0, np.append(same, -1)[a] != b, b >= 0)
    moved |= (a >= 0) & (b < 0)
    n_objects = len(one.clusters), len(two.clusters)
    return LabelComparison(
        ari, ami, nmi, table, (one.labels, two.labels), same, (here, there), moved, (a, b), n_objects
    )
