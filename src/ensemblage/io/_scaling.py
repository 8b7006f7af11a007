"""Whether features keep their own scales."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from ensemblage.base.options import Message, Option
from ensemblage.rows.blocks import SUM_ROWS, row_blocks

AUTO: Literal["auto"] = "auto"
ALIKE = 20.0
"""Scales are kept if the largest standard deviation is at most so many times the least: see docs/DEFAULT.md."""
STANDARDIZED = "features have mean 0 and standard deviation 1"
KEPT = Message(
    f"features keep their scales, all standard deviations within a factor of {ALIKE:.0f}: centred, and all divided by "
    "one number (else: ",
    Option("standardize", True),
    ")",
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


class AlikeScaler(BlockScaler):
    """Mean 0; divided each by its deviation, or, where all are within a factor of `ALIKE`, by their quadratic mean."""

    def finish(self) -> Self:
        """Choose between the two."""
        fitted: Any = self
        deviations = np.sqrt(np.asarray(fitted.var_))
        varying = np.flatnonzero((deviations > 0) & (fitted.scale_ == deviations))  # 1 of what rounding alone varies
        order = np.argsort(deviations[varying], kind="stable")
        self.extremes_ = varying[order[[0, -1]]] if len(varying) else varying
        self.keeps_scales_ = bool(len(varying)) and bool(np.divide(*deviations[self.extremes_][::-1]) <= ALIKE)
        if self.keeps_scales_:
            self.scale_ = np.full(len(deviations), np.sqrt(np.mean(deviations[varying] ** 2)))
        return self

    def note(self, names: Sequence[str]) -> str:
        """What was done and, of columns of these names, which one would have outweighed the others."""
        if self.keeps_scales_ or not len(self.extremes_):
            return KEPT if self.keeps_scales_ else STANDARDIZED
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
