"""Sentences of ours where scikit-learn's checks of features fail: their size, form or values, or other columns."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.options import Message, Option
from ensemblage.base.validation import LARGEST, format_value

FILL_FIRST = ('Fill them first, as Preprocessor(impute="median") does, or leave those rows out.',)
FILL = ("Fill them with ", Option("impute", "median"), ", or leave those rows out.")


@contextmanager
def features_checked(subject: str, X: Any, otherwise: Sequence[str | Option] | None = FILL_FIRST) -> Iterator[None]:
    """Turn the errors of scikit-learn's checks of features X into sentences of ours.

    subject : what X is, such as "X of Genie"
    otherwise : the advice on gaps; None where they are allowed
    """
    if isinstance(X, str | os.PathLike):
        raise TypeError(
            f"{subject} must be numbers of shape (objects, features). Got {format_value(X)}. Read a file with "
            "ensemblage.read_table first."
        )
    if hasattr(X, "obsm"):
        raise TypeError(
            f"{subject} must be numbers of shape (objects, features). Got {type(X).__name__}. Give a matrix of "
            "it, as X.obsm['X_pca'], or give it to ConsensusClustering."
        )
    try:
        yield
    except OverflowError:
        raise ValueError(
            f"{subject} must be numbers up to {LARGEST:.1e}. Got a larger whole number. Use other units."
        ) from None
    except np.exceptions.DTypePromotionError:
        raise ValueError(
            f"{subject} must be numbers. Got columns of other kinds too, such as dates. Leave those out, or make "
            "numbers of them with Preprocessor."
        ) from None
    except (TypeError, ValueError) as error:
        places = np.empty((0, 2)) if otherwise is None else _missing_places(X)
        if len(places):
            row, column = places[0]
            text = (
                f"{subject} must have no missing numbers. Got {len(places):,} NaN, the first in row {row} and "
                f"column {column}, counted from 0. "
            )
            raise ValueError(Message(text, *(otherwise or ()))) from None
        if sentence := _other_columns(subject, error) or _wrong_features(subject, X, error):
            raise type(error)(sentence) from None
        raise


@contextmanager
def columns_checked(subject: str) -> Iterator[None]:
    """Turn the error of scikit-learn for another number of columns than in fit into a sentence of ours."""
    try:
        yield
    except ValueError as error:
        if sentence := _other_columns(subject, error):
            raise ValueError(sentence) from None
        raise


def _other_columns(subject: str, error: Exception) -> str:
    """The sentence for another number of columns than in fit; empty for other errors."""
    found = re.search(r"X has \d+ features, but \w+ is expecting \d+ features as input", str(error))
    if found is None:
        return ""
    return f"{subject} must have the columns of fit. {found[0]}. Give the same columns in the same order."


def _wrong_features(subject: str, X: Any, error: Exception) -> str:
    """What is wrong with features: their size, form or values; empty if nothing is found."""
    if few := re.search(r"(\d+) (sample|feature)\(s\) \(shape=.*\) while a minimum of (\d+) is required", str(error)):
        noun, advice = ("object", "row per object") if few[2] == "sample" else ("feature", "column per feature")
        least = f"{few[3]} {noun}{'s' * (few[3] != '1')}"
        return f"{subject} must have at least {least}. Found {few[0]}. Give one {advice}."
    if hasattr(X, "toarray"):
        if "parse" in str(error):
            return f"{subject} must be dense. Got a sparse matrix. Give X.toarray(), if it fits into memory."
        return _infinity(subject, X)
    try:
        values = np.asarray(X)
    except ValueError:
        return f"{subject} must have rows of equal length. Got rows of different lengths. Mark missing values as NaN."
    if values.ndim == 0:
        return f"{subject} must be a matrix. Got {format_value(X)}. Give one row per object, one column per feature."
    if values.ndim != 2:
        return (
            f"{subject} must be a matrix. Expected 2D array, got {values.ndim}D array instead. Reshape your data: "
            "X.reshape(-1, 1) for one feature, X.reshape(1, -1) for one object."
        )
    if values.dtype.kind == "c":
        advice = "Give real and imaginary parts as two features."
        return f"Complex data not supported: {subject} must be real numbers. Got complex numbers. {advice}"
    if values.dtype.kind not in "biuf":
        is_text = values.dtype.kind in "SU"
        cell = next((cell for cell in values.flat if is_text or not _is_number(cell)), None)
        if cell is not None:
            rule = "must be numbers" + ": each argument must be a string or a number" * isinstance(error, TypeError)
            got = format_value(cell.item() if isinstance(cell, np.generic) else cell)
            return f"{subject} {rule}. Got {got}. Make numbers of such columns with Preprocessor."
    return _infinity(subject, values.astype(np.float64))


def _infinity(subject: str, X: Any) -> str:
    """The sentence for the first infinite number of a matrix; empty if all are finite."""
    places = _places(np.isinf, X)
    if not len(places):
        return ""
    row, column = places[0]
    return (
        f"{subject} must be finite. Got infinity in row {row} and column {column}, counted from 0. Correct it, or "
        "leave that row out."
    )


def _is_number(cell: Any) -> bool:
    """Whether a number can be made of a cell."""
    try:
        float(cell)
    except (TypeError, ValueError):
        return False
    return True


def _missing_places(X: Any) -> NDArray[Any]:
    """(n_missing, 2) row and column of each gap; none in what is no matrix of numbers."""
    try:
        values = X if hasattr(X, "tocoo") else np.asarray(X)
        return _places(np.isnan, values if values.dtype.kind in "fiuc" else values.astype(np.float64))
    except (TypeError, ValueError):
        return np.empty((0, 2))


def _places(test: np.ufunc, X: Any) -> NDArray[Any]:
    """(q, 2) row and column of the numbers of a matrix, dense or sparse, that fulfil a test; in order of the rows."""
    if hasattr(X, "tocoo"):
        cells = X.tocoo()
        places: NDArray[Any] = np.column_stack([cells.row, cells.col])[test(cells.data)]
        return places[np.lexsort(places.T[::-1])]
    return np.argwhere(test(X)) if X.ndim == 2 else np.empty((0, 2))
