"""An ensemble of soft partitions, whose rows are memberships in the place of codes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensemblage.base.indexing import check_slice, row_index
from ensemblage.base.threads import locked_property
from ensemblage.base.validation import format_value
from ensemblage.labels.blocks import MembershipRows
from ensemblage.labels.coding import CodedColumns, check_labelled, code_partitions
from ensemblage.labels.ensemble import Ensemble
from ensemblage.labels.links import Links, common_memberships
from ensemblage.labels.rows import Counted

TOLERANCE = 1e-6
"""By how much a row may miss the sum 1; it is divided by its sum."""

LEAST = 1e-100
"""Less is no membership: the mass of a cluster must have a square root and a reciprocal."""


class SoftEnsemble(Ensemble):
    """What `Ensemble.from_memberships` returns.

    Attributes
    ----------
    n_clusters : ndarray of shape (n_partitions,)
        Columns of each partition. A method leaves out those in which no object has any membership.
    offsets : ndarray of shape (n_partitions + 1,)
        As in `Ensemble`: the columns of each partition, and one for objects of which it says nothing.
    names : list of str
    shape : tuple (n_objects, n_partitions)
    """

    is_soft: ClassVar[bool] = True
    rows: MembershipRows

    def __init__(self, memberships: Iterable[ArrayLike], *, names: Sequence[str] | None = None) -> None:
        self._set(columns_of(rows_of_memberships(memberships)), names, None)

    @property
    def coded(self) -> CodedColumns:
        """Refused: memberships are no labels."""
        raise ValueError(
            f"The ensemble must be one of labels. Got {self!r}. Give soft.to_labels(), which takes the likeliest "
            f"cluster."
        )

    @property
    def memberships(self) -> list[NDArray[np.float64]]:
        """A block for each partition, (n_objects, k_j); NaN where it says nothing of an object."""
        found = []
        for j, absent in enumerate((self.rows.H[:, self.offsets[1:] - 1] == 1).T):
            block = self.rows.H[:, self.rows.of_partition(j)][:, :-1].copy()
            block[absent] = np.nan
            found.append(block)
        return found

    @locked_property
    def n_missing(self) -> int:
        """Number of objects of which a partition says nothing, of all partitions."""
        return int((self.rows.H[:, self.offsets[1:] - 1] == 1).sum())

    def _repr_html_(self) -> None:
        """None: a notebook shows its line."""

    def __getitem__(self, rows: Any) -> SoftEnsemble:
        """Some objects: a slice, a mask or an index array. Clusters without any of them stay."""
        n = len(self)
        index = np.arange(n)[check_slice(rows, "rows")] if isinstance(rows, slice) else row_index(rows, n)
        return self._of(columns_of(self.rows.take(index), self.names), None)

    def to_labels(self) -> Ensemble:
        """The hard partitions: of each object the cluster with the largest membership, the first on ties."""
        codes = self.rows.likeliest()
        columns = [np.where(column == k, -1, column) for column, k in zip(codes.T, self.n_clusters, strict=True)]
        return Ensemble.from_partitions(columns, names=self.names)

    def _as_saved(self) -> tuple[str, dict[str, Any]]:
        """Its name and its parts in the file of a model."""
        return "SoftEnsemble", {"rows": self.rows, "names": self.names}

    def _with_sample_weight(self, sample_weight: NDArray[np.int64] | None) -> Counted:
        """The rows of memberships, without clusters of no mass, where each object counts as often as that says."""
        used = np.asarray(self.rows.H[slice(None) if sample_weight is None else sample_weight > 0].any(axis=0))
        used[self.offsets[1:] - 1] = True
        coding = SoftCoding(self.n_clusters, np.flatnonzero(used))
        rows = coding.rows_of(self.rows)
        n_clusters = np.diff(rows.offsets) - 1
        distinct = self.distinct if rows is self.rows else rows.distinct(n_clusters)
        return Counted(
            coding, rows, distinct if sample_weight is None else distinct.with_weights(sample_weight), n_clusters
        )

    def _with_common_labels(self, links: Links, sample_weight: NDArray[np.int64] | None) -> SoftEnsemble:
        """The soft ensemble in which every partition gives a must-link group the mean memberships of its objects."""
        H = common_memberships(self.rows.H, self.offsets, links, sample_weight)
        return self._of(columns_of(MembershipRows(H, self.offsets), self.names), None)


class SoftCoding(NamedTuple):
    """The columns of a soft ensemble that was fitted."""

    n_clusters: NDArray[np.int64]
    """(p,) before those without mass were left out."""
    kept: NDArray[np.intp]
    """The columns that are used."""

    def encode(self, X: Any, voting: NDArray[np.intp], n_partitions: int, owner: str) -> MembershipRows:
        """Memberships of new objects; one in clusters without mass counts as missing.

        ``voting`` are those of the ``n_partitions`` that have a say; ``X`` may have all of them.
        """
        got = format_value(X)
        if isinstance(X, SoftEnsemble):
            X = X.select(voting) if len(voting) < X.shape[1] == n_partitions else X
            if np.array_equal(X.n_clusters, self.n_clusters):
                return self.rows_of(X.rows)
            got = f"partitions of {X.n_clusters.tolist()} clusters"
        raise ValueError(
            f"X of {owner}, which was fitted on memberships, must be an Ensemble.from_memberships of partitions "
            f"of {self.n_clusters.tolist()} clusters. Got {got}. Give memberships in the same clusters."
        )

    def rows_of(self, rows: MembershipRows) -> MembershipRows:
        """The columns that are used, each partition's divided by their sum."""
        if len(self.kept) == rows.H.shape[1]:
            return rows
        partition = np.searchsorted(rows.offsets, self.kept, side="right") - 1
        offsets = np.concatenate([[0], np.cumsum(np.bincount(partition, minlength=rows.shape[1]))])
        H = rows.H[:, self.kept]
        sums = np.add.reduceat(H, offsets[:-1], axis=1)
        H = H / np.repeat(np.where(sums > 0, sums, 1), np.diff(offsets), axis=1)
        H[:, offsets[1:] - 1] += sums == 0
        return MembershipRows(H, offsets)


def rows_of_memberships(memberships: Iterable[ArrayLike]) -> MembershipRows:
    """The memberships of all partitions, checked, side by side."""
    if isinstance(memberships, str) or not isinstance(memberships, Iterable):
        raise TypeError(
            f"memberships must be a sequence of blocks, one per partition. Got {format_value(memberships)}. Give a "
            "list."
        )
    blocks = [_read_memberships(block, j) for j, block in enumerate(memberships)]
    lengths = sorted({len(block) for block in blocks})
    if len(lengths) != 1 or lengths[0] == 0:
        raise ValueError(
            "memberships must be one or more blocks with a row for each of the same objects, at least one. Got "
            f"{f'blocks of {lengths[0]} and {lengths[-1]} rows' if lengths[1:] else f'{len(blocks)} without rows'}"
            ". Give a block per partition."
        )
    offsets = np.concatenate([[0], np.cumsum([block.shape[1] for block in blocks])])
    return MembershipRows(np.hstack(blocks), offsets)


def columns_of(rows: MembershipRows, names: list[str] | None = None) -> CodedColumns:
    """Memberships as an ensemble has them; the labels of a partition are the numbers of its clusters."""
    rows.H.flags.writeable = False
    return CodedColumns(rows, tuple(map(np.arange, np.diff(rows.offsets) - 1)), names)


def _read_memberships(block: Any, j: int) -> NDArray[np.float64]:
    """(n, k + 1) memberships, then a column that is 1 where there are none."""
    rule = f"memberships[{j}] must be numbers ≥ 0 of shape (n_objects, k) whose rows sum to 1, or labels"
    try:
        given = np.asarray(block)
        if given.ndim == 1:
            coded = code_partitions([block], -1)
            check_labelled(coded.categories, ("partition_0",), each=True)
            return np.asarray(coded.codes[:] == np.arange(len(coded.categories[0]) + 1), dtype=np.float64)
        given = given.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{rule}. Got {format_value(block)}. Give the predict_proba of a mixture, for example."
        ) from error
    if given.ndim != 2:
        raise ValueError(f"{rule}. Got shape {given.shape}. Give a row per object and a column per cluster.")
    absent = (np.isnan(given) | (given == 0)).all(axis=1)
    known = np.where(absent[:, None], 0.0, given)
    sums = known.sum(axis=1)
    wrong = ~absent & ~((np.abs(sums - 1) <= TOLERANCE) & (known >= 0).all(axis=1))
    if wrong.any():
        i = int(np.flatnonzero(wrong)[0])
        raise ValueError(
            f"{rule}. Got {format_value(given[i].tolist())} for object {i}, with sum {sums[i]:g}. Divide each row by "
            "its sum."
        )
    known /= np.where(absent, 1, sums)[:, None]
    known[known < LEAST] = 0
    if absent.all():
        raise ValueError(
            f"Every partition must have memberships of at least one object. Got none in memberships[{j}]. Leave "
            f"that block out."
        )
    return np.column_stack([known, absent])
