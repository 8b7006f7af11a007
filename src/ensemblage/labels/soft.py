"""Memberships in the place of codes: what is given becomes rows, and new objects get the columns that were fitted."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensemblage.base.validation import format_value
from ensemblage.labels.blocks import MembershipRows
from ensemblage.labels.coding import CodedColumns, check_labelled, code_partitions

TOLERANCE = 1e-6
"""By how much a row may miss the sum 1; it is divided by its sum."""

LEAST = 1e-100
"""Less is no membership: the mass of a cluster must have a square root and a reciprocal."""


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
        if getattr(X, "is_soft", False):
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
