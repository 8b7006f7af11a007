"""AnnData objects and .h5ad files as tables: the matrix that is clustered, the names of the rows, and known classes."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ensemblage.base.options import Message, Option
from ensemblage.base.text import some
from ensemblage.base.validation import format_value
from ensemblage.io._alerts import NAMES
from ensemblage.io._roles import Role
from ensemblage.io._table import Table
from ensemblage.tables.column import Column
from ensemblage.tables.h5ad import name_of

PCA, X = "X_pca", "X"
MOST_ENTRIES = 250_000_000
"""Of a matrix that is held densely: 2 GB."""


class Matrix(NamedTuple):
    """What is clustered."""

    values: NDArray[np.float64]
    """(n, m)"""
    names: list[str]
    """(m,)"""
    note: str
    """What it is, for people."""


def matrix_of(adata: Any, use_rep: str | None = None) -> Matrix:
    """The matrix ``.obsm[use_rep]``, or ``.X`` for "X". None: ``.obsm["X_pca"]`` if there is one, else ``.X``."""
    keys, source = list(adata.obsm), name_of(adata)
    if use_rep is not None and not isinstance(use_rep, str):
        raise TypeError(
            f"use_rep must be the name of a matrix in .obsm, X, or None. Got {format_value(use_rep)}. "
            "Leave it out for X_pca."
        )
    chosen = use_rep if use_rep is not None else PCA if PCA in keys else X
    if chosen != X and chosen not in keys:
        rule = f" must name a matrix in .obsm of {source}, or be X. Got {chosen!r}. In .obsm there is {some(keys)}."
        raise ValueError(Message(Option("use_rep"), rule))
    found = adata.X if chosen == X else adata.obsm[chosen]
    if found is None:
        got = f"{source} must have a matrix to cluster. It has neither .X nor .obsm['{PCA}']. Name another with "
        raise ValueError(Message(got, Option("use_rep"), "."))
    names = list(map(str, adata.var_names)) if chosen == X else [str(name) for name in getattr(found, "columns", [])]
    values = _dense(found, chosen, source)
    names = names or [f"{chosen}_{j}" for j in range(1, values.shape[1] + 1)]
    place = ".X" if chosen == X else f".obsm[{chosen!r}]"
    why = f", for there is no .obsm[{PCA!r}]" if use_rep is None and chosen == X else ""
    return Matrix(values, names, f"clustered is {place}, {values.shape[1]:,} columns{why}")


def _dense(found: Any, chosen: str, source: str) -> NDArray[np.float64]:
    """The values as floats; a sparse matrix is made dense if it is not too large."""
    n, m = found.shape if len(found.shape) == 2 else (len(found), 1)
    if n * m > MOST_ENTRIES:
        raise ValueError(
            f"A matrix to cluster must have at most {MOST_ENTRIES:,} entries. {chosen} of {source} has {n:,} × {m:,}. "
            "Make principal components first (scanpy.pp.pca), and use X_pca."
        )
    values = found.toarray() if sparse.issparse(found) else found
    try:
        numbers = np.asarray(values, dtype=np.float64).reshape(n, m)
    except (TypeError, ValueError):
        got = f"{chosen} of {source} must hold numbers. It holds text. Name another with "
        raise ValueError(Message(got, Option("use_rep"), ".")) from None
    return np.ascontiguousarray(numbers)


def as_table(X: Any) -> Any:
    """What is clustered of AnnData, as a table; else X as it is."""
    return table_of(X) if all(hasattr(X, name) for name in ("obs", "obsm", "n_obs")) else X


def table_of(adata: Any, use_rep: str | None = None, truth_column: str | None = None) -> Table:
    """The matrix as a table, its row names those of the objects; with known classes from ``.obs``."""
    import pyarrow as pa

    matrix, source = matrix_of(adata, use_rep), name_of(adata)
    ids = [str(name) for name in adata.obs.index]
    columns = [Column(NAMES, pa.array(ids))]
    for name, values in zip(matrix.names, matrix.values.T, strict=True):
        columns.append(Column(name, pa.array(values, from_pandas=True)))
    if truth_column is not None:
        columns.append(classes_of(adata, truth_column))
    (double, count), *_ = Counter(column.name for column in columns).most_common(1)
    if count > 1:
        raise ValueError(
            f"The variables of {source} must have different names. Got {double!r} more than once. "
            "Call adata.var_names_make_unique() first."
        )
    table = Table(source, columns, lambda: range(1, len(ids) + 1), "row", NAMES, (matrix.note,))
    roles = {column.name: Role("number") for column in columns[1:]}
    table.found_roles = {NAMES: Role("id", "row names"), **roles}
    return table


def classes_of(adata: Any, name: str) -> Column:
    """A column of ``.obs`` with known classes."""
    import pyarrow as pa

    if name not in adata.obs.columns:
        rule, known = f" must name a column of .obs of {name_of(adata)}.", f"Its columns are {some(adata.obs.columns)}."
        raise ValueError(Message(Option("truth_column"), f"{rule} Got {name!r}. {known}"))
    return Column(name, pa.array([None if value != value else str(value) for value in adata.obs[name]], pa.string()))
