"""Whether features keep their own scales."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from ensemblage.base.options import Message, Option
from ensemblage.base.text import some
from ensemblage.labels.threads import SUM_ROWS, row_blocks

AUTO: Literal["auto"] = "auto"
ALIKE = 20.0
"""Scales are kept if the largest standard deviation is at most so many times the least: see docs/DEFAULT.md."""
SAME_SHARE = 0.95
"""Of the objects with one value, from which on a column's deviation says nothing of its unit: near-zero variance."""
NOISE, FEW, ONE_UNIT = 1e-6, 0.05, 0.9
"""Rounding noise has at most so many times the median deviation, is so much of the columns at most, and so much of the
others is within a factor of `ALIKE` of the median."""
UNIT_LENGTH = 2e-3
"""By how much the squared length of a row may differ from 1: what rounding to 16 bits changes."""
STANDARDIZED = "features have mean 0 and standard deviation 1"
KEPT, OF_UNIT_LENGTH = (
    Message(
        f"features keep their scales, {why}: centred, and all divided by one number (else: ",
        Option("standardize", True),
        ")",
    )
    for why in (f"all standard deviations within a factor of {ALIKE:.0f}", "for all rows have length 1")
)


class BlockScaler(StandardScaler):  # type: ignore[misc]
    """Mean 0, deviation 1. Sums over fixed blocks of rows, added in order: bitwise identical in memory and on disk."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        first, *others = row_blocks(len(X), SUM_ROWS)
        super().fit(np.ascontiguousarray(X[first]) if others else X)
        for block in others:
            self.partial_fit(np.ascontiguousarray(X[block]))
        return self.finish()

    def finish(self) -> Self:
        """What follows from means and deviations, after the last block."""
        return self


def add_rows(
    scaler: BlockScaler, block: NDArray[Any], columns: NDArray[np.intp], is_array: bool = False
) -> BlockScaler:
    """The scaler that knows some columns of a block of rows, too; `SUM_ROWS` divides the rows before it.

    Few rows are one block in memory. Those of an array are added column by column there, as ColumnTransformer selects
    them, and those of a table row by row.
    """
    scaler = deepcopy(scaler)
    are_all = not hasattr(scaler, "n_samples_seen_") and len(block) < SUM_ROWS
    in_order = np.asfortranarray if is_array and are_all else np.ascontiguousarray
    for rows in row_blocks(len(block), SUM_ROWS):
        scaler.partial_fit(in_order(block[rows][:, columns]))
    return scaler


def extremes(block: NDArray[Any], names: Sequence[str] | None) -> tuple[NDArray[Any], NDArray[Any]]:
    """The least and the largest number of each column of a block of rows; numbers that are none are refused."""
    if not np.isfinite(block).all():
        j = int(np.flatnonzero(~np.isfinite(block).all(axis=0))[0])
        column = repr(f"x{j}" if names is None else names[j])
        raise ValueError(
            f"Features must have no missing and no infinite numbers if they are not in memory. Got some in column "
            f"{column}. Fill them first, or leave these objects out."
        )
    return np.fmin.reduce(block), np.fmax.reduce(block)


def extremes_of_both(
    first: tuple[NDArray[Any], NDArray[Any]], second: tuple[NDArray[Any], NDArray[Any]]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Those of two blocks."""
    return np.fmin(first[0], second[0]), np.fmax(first[1], second[1])


class Ends(NamedTuple):
    """How often each column of n rows has its least and its largest value, and how long the rows are."""

    n: int
    low: NDArray[np.float64]
    at_low: NDArray[np.int64]
    high: NDArray[np.float64]
    at_high: NDArray[np.int64]
    """(m,) each."""
    shortest: float
    longest: float
    """Squared lengths of rows."""

    @classmethod
    def of(cls, X: NDArray[np.float64]) -> Ends:
        """O(n m) time."""
        low, high, squares = X.min(axis=0), X.max(axis=0), np.einsum("ij,ij->i", X, X)
        counts = [(end == X).sum(axis=0) for end in (low, high)]
        return cls(len(X), low, counts[0], high, counts[1], float(squares.min()), float(squares.max()))

    def joined(self, other: Ends) -> Ends:
        """Of the rows of both."""
        low, high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        at_low = self.at_low * (self.low == low) + other.at_low * (other.low == low)
        at_high = self.at_high * (self.high == high) + other.at_high * (other.high == high)
        shortest, longest = min(self.shortest, other.shortest), max(self.longest, other.longest)
        return Ends(self.n + other.n, low, at_low, high, at_high, shortest, longest)

    @property
    def share(self) -> NDArray[np.float64]:
        """(m,) of the rows at the least or at the largest value, whichever is more."""
        return np.asarray(np.maximum(self.at_low, self.at_high) / self.n)

    @property
    def are_of_unit_length(self) -> bool:
        return abs(self.shortest - 1) <= UNIT_LENGTH and abs(self.longest - 1) <= UNIT_LENGTH


def _are_noise(deviations: NDArray[np.float64]) -> NDArray[np.bool_]:
    """(m,) which columns are rounding noise: hardly any deviation, and few beside others of one unit."""
    if not len(deviations):
        return np.zeros(0, dtype=bool)
    usual = float(np.median(deviations))
    are_tiny = deviations <= NOISE * usual
    others = deviations[~are_tiny]
    is_one_unit = np.mean((others <= ALIKE * usual) & (others >= usual / ALIKE)) >= ONE_UNIT
    return are_tiny & bool(is_one_unit and are_tiny.mean() <= FEW)


class AlikeScaler(BlockScaler):
    """Mean 0; divided each by its deviation, or, where all are within a factor of `ALIKE` or all rows have unit length,
    by their quadratic mean.

    A column with `SAME_SHARE` of its values at its least or largest is not the least one. What is rounding noise beside
    other columns of one unit counts nowhere, and is centred alone.
    """

    _ends: Ends

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Add a block of rows: also how often each column has its least and its largest value."""
        found = Ends.of(np.asarray(X, dtype=np.float64))
        self._ends = self._ends.joined(found) if hasattr(self, "n_samples_seen_") else found
        super().partial_fit(X, y, sample_weight)
        return self

    def finish(self) -> Self:
        """Choose between the two."""
        fitted: Any = self
        deviations = np.sqrt(np.asarray(fitted.var_))
        varying = np.flatnonzero((deviations > 0) & (fitted.scale_ == deviations))  # 1 of what rounding alone varies
        self.noise_ = varying[_are_noise(deviations[varying])]
        varying = np.setdiff1d(varying, self.noise_)
        order = varying[np.argsort(deviations[varying], kind="stable")]
        telling = order[self._ends.share[order] < SAME_SHARE]
        least = telling if len(telling) else order
        self.extremes_ = np.concatenate([least[:1], order[-1:]])
        is_unit_length = self._ends.are_of_unit_length
        self.keeps_scales_ = bool(len(varying)) and (self._ratio <= ALIKE or (len(varying) > 1 and is_unit_length))
        fitted.scale_[self.noise_] = 1.0
        if self.keeps_scales_:
            self.scale_ = np.full(len(deviations), np.sqrt(np.mean(deviations[varying] ** 2)))
        del self._ends
        return self

    @property
    def _ratio(self) -> float:
        """Of the largest to the least deviation that counts."""
        least, largest = np.sqrt(np.asarray(self.var_)[self.extremes_])
        return float(largest / least)

    @property
    def is_of_unit_length(self) -> bool:
        """Whether scales are kept for that reason alone."""
        return self.keeps_scales_ and self._ratio > ALIKE

    def note(self, names: Sequence[str]) -> str:
        """What was done and, of columns of these names, which one would have outweighed the others."""
        said, noise = self._note(names), [names[j] for j in getattr(self, "noise_", [])]
        if not noise:
            return said
        pieces = said.pieces if isinstance(said, Message) else (said,)
        return Message(*pieces, f"; centred alone, for only rounding varies there: {some(noise)}")

    def _note(self, names: Sequence[str]) -> str:
        if not len(self.extremes_):
            return STANDARDIZED
        if self.keeps_scales_:
            return OF_UNIT_LENGTH if self.is_of_unit_length else KEPT
        (least, low), (largest, high) = ((names[j], in_digits(float(np.sqrt(self.var_[j])))) for j in self.extremes_)
        return (
            f"{STANDARDIZED}: else column {largest!r}, whose standard deviation is {high}, would outweigh the others; "
            f"the least is {low}, of {least!r}"
        )


def scaling_of(is_cells: bool, standardize: bool | Literal["auto"]) -> bool | Literal["auto"]:
    """How numbers are scaled: unless something is asked for, the scales of AnnData are kept as they are."""
    return False if is_cells and standardize == AUTO else standardize


def scaler_of(standardize: bool | str, only_numbers: bool) -> Any:
    """What scales numbers, not fitted; "auto" keeps scales only if every clustered column is numeric."""
    if standardize == AUTO and only_numbers:
        return AlikeScaler()
    return BlockScaler() if standardize else FunctionTransformer()


def scaling_note(transformer: Any, names: Sequence[str]) -> str:
    """What a fitted ColumnTransformer did to the scales of numbers, of columns of these names, "" if nothing."""
    steps = dict(getattr(transformer, "named_transformers_", {}))
    scaler: Any = steps.get("numbers")
    scaler = scaler[-1] if hasattr(scaler, "steps") else scaler
    if isinstance(scaler, FunctionTransformer):
        return ""
    return scaler.note(names) if isinstance(scaler, AlikeScaler) else STANDARDIZED


def in_digits(value: float) -> str:
    """Three digits, or all before the point."""
    return f"{value:,.0f}" if value >= 1_000 else f"{value:.3g}"
