"""From cells to features: gaps filled, categories as columns of numbers, scales kept or made alike.

A category weighs what a standardised number does.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import Any, Literal, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import OneToOneFeatureMixin
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from ensemblage.base.options import Message, Option
from ensemblage.base.sklearn import BaseEstimator, TransformerMixin
from ensemblage.base.text import some
from ensemblage.base.threads import SUM_ROWS, row_blocks
from ensemblage.tables.column import Column, label_values

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
LARGEST = 1e150
"""Its square is a number."""


class BlockStep(Protocol):
    """What is fitted to block after block."""

    def partial_fit(self, X: Any) -> Any:
        """Add a block of rows."""

    def finish(self) -> Any:
        """What follows from all of them."""


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


def add_rows(step: BlockStep, block: NDArray[Any], by_column: bool = False) -> BlockStep:
    """The step that knows a block of rows, too; `SUM_ROWS` divides the rows before it.

    Few rows are one block in memory. Those of an array are added column by column there, as ColumnTransformer selects
    them, and those of a table row by row: see `FeatureSource.by_column`.
    """
    step = deepcopy(step)
    are_all = not hasattr(step, "n_samples_seen_") and len(block) < SUM_ROWS
    in_order = np.asfortranarray if by_column and are_all else np.ascontiguousarray
    for rows in row_blocks(len(block), SUM_ROWS):
        step.partial_fit(in_order(block[rows]))
    return step


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
    return BlockScaler() if standardize else FunctionTransformer(feature_names_out="one-to-one")


def fitted_steps(transformer: Any, block: str) -> list[Any]:
    """Of a ColumnTransformer: what fills the gaps of a block of columns, if anything does, and what scales them."""
    step = transformer.named_transformers_.get(block)
    step = step.estimator if isinstance(step, FrozenEstimator) else step
    return [part for _, part in step.steps] if isinstance(step, Pipeline) else [step]


def scaling_note(transformer: Any, names: Sequence[str]) -> str:
    """What a fitted ColumnTransformer did to the scales of numbers, of columns of these names, "" if nothing."""
    scaler = fitted_steps(transformer, "numbers")[-1]
    if isinstance(scaler, FunctionTransformer):
        return ""
    return scaler.note(names) if isinstance(scaler, AlikeScaler) else STANDARDIZED


def in_digits(value: float) -> str:
    """Three digits, or all before the point."""
    return f"{value:,.0f}" if value >= 1_000 else f"{value:.3g}"


def levels_of(column: Column) -> list[str]:
    """The different categories of a column: numbers by size, then text by the alphabet."""
    values = {value for value in label_values(column.distinct[1]) if value is not None}
    return [str(value) for value in sorted(values, key=lambda v: (isinstance(v, str), v))]


def level_codes(column: Column, levels: Sequence[str]) -> NDArray[np.float64]:
    """(n,) the place of each cell among the levels, their number if it is none of them, NaN where it is missing."""
    numbers, texts = column.distinct
    place_of = {level: float(place) for place, level in enumerate(levels)}
    values = label_values(texts)
    places = [np.nan if value is None else place_of.get(str(value), float(len(levels))) for value in values]
    return np.array([*places, np.nan])[numbers]


class CategoryEncoder(TransformerMixin, BaseEstimator):
    """Columns of category codes as indicators.

    The indicator of a level is divided by √share and centred, as in the factor analysis of mixed data. So a category
    of q levels has a total variance of q − 1; with ``scale="column"`` it is divided by √(q − 1), so that the squared
    distance of two objects has on average the same part of it as of a standardised number. Two levels make one column.
    A code that is missing, NaN, or was not seen lies at the mean of all objects.

    Parameters
    ----------
    scale : {"column", "famd"}
    """

    def __init__(self, scale: Literal["column", "famd"] = "column") -> None:
        self.scale = scale

    def fit(self, X: NDArray[np.float64], y: Any = None) -> Self:
        """Take the shares of the codes 0, 1, ... in each column; every code up to the largest occurs."""
        return self.partial_fit(X).finish()

    def partial_fit(self, X: NDArray[np.float64], y: Any = None) -> Self:
        """Count the codes of a block of rows."""
        known = getattr(self, "_counts", [np.zeros(0, dtype=np.intp)] * X.shape[1])
        filled = (codes[~np.isnan(codes)].astype(np.intp) for codes in X.T)
        self._counts = [np.bincount(codes, minlength=len(count)) for codes, count in zip(filled, known, strict=True)]
        for counts, count in zip(self._counts, known, strict=True):
            counts[: len(count)] += count
        return self

    def finish(self) -> Self:
        """Take the shares, after the last block."""
        self.shares_ = [count / count.sum() for count in self._counts]
        self.n_features_in_ = len(self._counts)
        del self._counts
        return self

    def transform(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """(n, number of indicators)."""
        encoded = np.zeros((len(X), sum(map(n_indicators, map(len, self.shares_)))))
        end = 0
        for codes, shares in zip(X.T, self.shares_, strict=True):
            table = self._indicators(shares)
            known = np.flatnonzero(codes < len(shares))  # NaN is not
            encoded[known, end : end + table.shape[1]] = table[codes[known].astype(np.intp)]
            end += table.shape[1]
        return encoded

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Of each column and code, as in ``x0_2``; of two codes the second."""
        given = [f"x{j}" for j in range(self.n_features_in_)] if input_features is None else input_features
        codes = (range(len(shares))[-n_indicators(len(shares)) :] for shares in self.shares_)
        return np.array([f"{name}_{code}" for name, of in zip(given, codes, strict=True) for code in of], dtype=object)

    def _indicators(self, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """(q, number of columns) the row of each level."""
        q = len(shares)
        if q == 2:
            return np.array([[-shares[1]], [shares[0]]] / np.sqrt(shares[0] * shares[1]))
        weights = shares * (q - 1) if self.scale == "column" else shares
        return np.asarray((np.eye(q) - shares) / np.sqrt(weights))


def n_indicators(q: int) -> int:
    """How many columns a category of q levels becomes."""
    return 1 if q == 2 else q


class Options(NamedTuple):
    """How columns become numbers; `Preprocessor` says what the words mean."""

    standardize: bool | str = True
    impute: str | None = None
    categories: str = "encode"
    dates: str = "drop"
    category_scale: str = "column"


BLOCKS = {"number": "numbers", "days": "numbers", "ordered": "ordered", "category": "categories", "parts": "parts"}


def transformer_of(kinds: Sequence[str], options: Options, n_parts: int = 1, fills_few: bool = False) -> Any:
    """The ColumnTransformer of cells of these kinds, not fitted; ``fills_few``: with medians where nothing says how.

    Numbers are filled, then scaled; ordered categories always are; categories are `CategoryEncoder`'s, the
    missing ones filled by the most frequent where there is a rule to fill. The parts of a date weigh one number
    together.
    """
    from sklearn.compose import ColumnTransformer

    scalers = {
        "numbers": scaler_of(options.standardize, set(kinds) == {"number"}),
        "ordered": BlockScaler(),
        "categories": CategoryEncoder(options.category_scale),  # type: ignore[arg-type]  # checked
        "parts": BlockScaler(),
    }
    steps = []
    for block, scaler in scalers.items():
        places = [j for j, kind in enumerate(kinds) if BLOCKS[kind] == block]
        if places and options.impute is not None:
            scaler = make_pipeline(imputer("most-frequent" if block == "categories" else options.impute), scaler)
        elif places and fills_few and block != "categories":
            scaler = make_pipeline(imputer("most-frequent" if block == "ordered" else "median"), scaler)
        if places:
            # A slice is not copied.
            together = places == list(range(places[0], places[-1] + 1))
            steps.append((block, scaler, slice(places[0], places[-1] + 1) if together else places))
    return ColumnTransformer(steps, transformer_weights={"parts": 1 / np.sqrt(n_parts)}, sparse_threshold=0)


def imputer(rule: str, **options: bool) -> Any:
    """What fills missing values by one of `IMPUTATIONS`; it is not fitted."""
    from sklearn.impute import SimpleImputer

    return NearestImputer() if rule == "knn" else SimpleImputer(strategy=rule.replace("-", "_"), **options)


class NearestImputer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Missing numbers as the mean of the five nearest objects that have them; near as in standardised numbers."""

    def fit(self, X: NDArray[np.float64], y: Any = None) -> Self:
        """Keep the objects."""
        from sklearn.impute import KNNImputer
        from sklearn.preprocessing import StandardScaler

        self.scaler_ = StandardScaler().fit(X)
        self.imputer_ = KNNImputer().fit(self.scaler_.transform(X))
        self.n_features_in_ = X.shape[1]
        return self

    def transform(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Fill; numbers that are there stay as they are."""
        filled = self.scaler_.inverse_transform(self.imputer_.transform(self.scaler_.transform(X)))
        return np.where(np.isnan(X), filled, X)


def check_sizes(low: NDArray[Any], high: NDArray[Any], names: Sequence[str]) -> None:
    """Refuse numbers whose squares overflow: the least and largest of each column decide."""
    largest = np.maximum(high, -low).astype(np.float64)
    if (largest > LARGEST).any():
        j = int(np.argmax(largest))
        raise ValueError(
            f"Features must be numbers up to {LARGEST:.0e}. Column {names[j]!r} is too large: it has {largest[j]:.3g}. "
            "Use other units."
        )
