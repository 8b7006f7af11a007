"""The transformer that Python and the shell share: tables, data frames and arrays to what is clustered."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import partial
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.utils.validation import validate_data

from ensemblage.base.features import FILL, columns_checked, features_checked
from ensemblage.base.frames import as_frame
from ensemblage.base.options import Message, NoteWarning, Option
from ensemblage.base.renamed import FormerName, renamed_fields
from ensemblage.base.sklearn import BaseEstimator, TransformerMixin
from ensemblage.base.validation import Codes, Constraints, Flag, Mapped, Number, Words, check_fitted, check_parameters
from ensemblage.io._cells import Cells, ColumnSummary, Transformed, cells_in_memory
from ensemblage.io._encoding import CATEGORIES, DATES, IMPUTE, ColumnUse, Encoding, complete_rows, fit_encoding, shorten
from ensemblage.io._feature_blocks import FeatureBlocks
from ensemblage.io._feature_sources import FeatureSource, MemoryFeatures
from ensemblage.io._features import Features, gower_distances
from ensemblage.io._missing import Gaps, alerts_of_codes, with_gaps
from ensemblage.io._read import read_table
from ensemblage.io._roles import assign_roles, name_columns
from ensemblage.io._scaling import (
    AUTO,
    Options,
    check_sizes,
    imputer,
    levels_of,
    scaling_note,
    transformer_of,
)
from ensemblage.io._stored_table import StoredTable
from ensemblage.io._table import Table


@renamed_fields(member_weight="category_weight")
@dataclass(eq=False, repr=False)
class Preprocessor(TransformerMixin, BaseEstimator):
    """Use it to turn a table, a data frame or an array into numbers for clustering: scales, categories, missing values.

    The columns of a table or data frame are used by their roles (see `read_table`): numbers as they are, categories as
    ``categories`` says, dates as ``dates`` says; ids, free text, columns that hold one value or almost none, and
    categories whose name says known classes (as "label") are left out. All columns of an array are numbers. Columns
    that do not vary are left out.

    Parameters
    ----------
    standardize : bool or "auto", default "auto"
        Bring numbers to mean 0 and standard deviation 1. "auto": unless all standard deviations are within a factor of
        20 and every clustered column is numeric. Such columns are centred and divided by one number, so that a column
        with more variance has more weight. Columns that hardly vary are not compared, and rows of length 1 keep their
        scales: docs/TABLES.md. ``notes_`` names the column that would have outweighed the others. Ordered categories,
        as ranks, are always standardised, and so are sparse matrices.
    impute : {"median", "mean", "most-frequent", "knn"}, optional
        What a missing number becomes: that of its column, or the mean of the five nearest objects that have it. Without
        it, the missing numbers of a table or data frame become the median of their column (of ordered categories the
        most frequent) where they are at most 5 % of each, and ``notes_`` says so; more are refused, and of arrays any.
        A missing category becomes the most frequent one, without ``impute`` the mean.
    categories : {"encode", "member", "drop"}, default "encode"
        "encode": indicators divided by √share and centred, as in the factor analysis of mixed data. "member": each is a
        partition of the objects, see `members`. "drop": left out.
    dates : {"drop", "days", "parts"}, default "drop"
        "days": a number of days; "parts": year, month, day of the week, and hour where there are times, which weigh one
        number together.
    category_scale : {"column", "famd"}, default "column"
        How much a category of q levels weighs: as one standardised number, or as q − 1 of them, which is its total
        variance in the factor analysis of mixed data.
    category_weight : float, default 1.0
        What a category that is a member of the ensemble weighs there, in columns of features: of ``p`` partitions made
        from ``m`` columns, as much as ``p / m`` of them.
    roles : mapping of column to {"id", "number", "category", "ordered", "feature", "drop"}, optional
        Instead of those that are found; "ordered:low<high" says the order, "feature" keeps what was found, and uses a
        column whose name says known classes.
    missing : sequence of str or float, optional
        What means missing, as ``[-999, 99]``: see `read_table`; of arrays numbers. Without it, a number that is far
        from all others and repeats is reported, with a warning, and stays a number.

    Attributes
    ----------
    columns_ : list of ColumnUse
        What was done with each column: its ``column``, ``role``, ``reason`` and ``use``.
    notes_ : tuple of str
        The same in sentences; first what probably makes a wrong answer, which is warned of, too.
    partitions_ : list of str
        Names of the categories that are members.
    n_columns_ : int
        How many columns the features are made of.
    transformer_ : ColumnTransformer
        From the columns as numbers to features. Its steps are frozen if the features were not in memory.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where the columns have names.

    Notes
    -----
    O(n m) time for m features; memory 8 bytes per cell, and as much again while it works. More than 4 GB of features
    are refused. KNN imputation takes O(n) for every row with a gap.

    References
    ----------
    Pagès, J. (2004). Analyse factorielle de données mixtes. Revue de statistique appliquée 52(4).

    Examples
    --------
    >>> import pandas as pd
    >>> from ensemblage.preprocessing import Preprocessor
    >>> frame = pd.DataFrame({"size": [1.5, 2.5, 3.5, 4.5], "colour": ["red", "red", "blue", "blue"]})
    >>> preprocessor = Preprocessor()
    >>> preprocessor.fit_transform(frame).round(2)
    array([[-1.34,  1.  ],
           [-0.45,  1.  ],
           [ 0.45, -1.  ],
           [ 1.34, -1.  ]])
    >>> list(preprocessor.get_feature_names_out())
    ['size', 'colour=red']
    """

    _parameter_constraints: ClassVar[Constraints] = {
        "standardize": [Flag(), Words([AUTO])],
        "impute": [IMPUTE, None],
        "categories": [Words(CATEGORIES)],
        "dates": [Words(DATES)],
        "category_scale": [Words(("column", "famd"))],
        "category_weight": [Number(above=0)],
        "roles": [Mapped("a mapping of columns to roles", "Give {'zip': 'category'}, for example."), None],
        "missing": [Codes(), None],
    }

    _: KW_ONLY
    standardize: bool | Literal["auto"] = "auto"
    impute: str | None = None
    categories: str = "encode"
    dates: str = "drop"
    category_scale: str = "column"
    category_weight: float = 1.0
    roles: Mapping[str, str] | None = None
    missing: Sequence[str | float] | None = None

    columns_: list[ColumnUse] = field(init=False)
    notes_: tuple[str, ...] = field(init=False)
    partitions_: list[str] = field(init=False)
    n_columns_: int = field(init=False)
    transformer_: Any = field(init=False)
    n_features_in_: int = field(init=False)
    feature_names_in_: NDArray[Any] = field(init=False)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Decide what is done with each column.

        Parameters
        ----------
        X : Table, data frame, array-like or sparse matrix of shape (n_samples, n_features)
            Of data frames those of pandas, polars and pyarrow. Of a sparse matrix the numbers are divided by their
            deviations and not centred, which changes no distance.
        y : None
            Ignored.

        Returns
        -------
        Preprocessor
            Itself, fitted.
        """
        self.fit_transform(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Decide what is done with each column, and return the features.

        Parameters
        ----------
        X : Table, data frame, array-like or sparse matrix of shape (n_samples, n_features)
            See `fit`.
        y : None
            Ignored.

        Returns
        -------
        ndarray or sparse matrix of shape (n_samples, n_features_out)
            Of float64; of float32 for arrays of float32.

        Raises
        ------
        ValueError
            If nothing is left, if text stands among numbers, if more than few numbers are missing without ``impute``.
        """
        check_parameters(self)
        table = self._table(X)
        features = self._fit_array(X) if table is None else self._fit_table(table)[0][:]
        for alert in self._alerts:
            warnings.warn(alert["text"], NoteWarning, stacklevel=2)
        return features

    def transform(self, X: Any) -> Any:
        """The features of other objects with the same columns.

        Parameters
        ----------
        X : Table, data frame, array-like or sparse matrix of shape (n_samples, n_features)
            As it was fitted; new categories lie at the mean.

        Returns
        -------
        ndarray or sparse matrix of shape (n_samples, n_features_out)
            As `fit_transform` returns it.
        """
        check_fitted(self, "columns_")
        table = self._known_table(X)
        if table is not None and self._encoding is not None:
            return self._encoding.transform(table)
        X = self._validate(X, reset=False)
        return self.transformer_.transform(X if sparse.issparse(X) else X[:, self._varying])

    members, members_ = FormerName("partitions"), FormerName("partitions_")

    def partitions(self, X: Any) -> dict[str, NDArray[np.int32]]:
        """The partitions that categories are.

        Parameters
        ----------
        X : Table or data frame of shape (n_samples, n_features)
            As it was fitted.

        Returns
        -------
        dict of str to ndarray of shape (n_samples,)
            By the column's name the number of each object's category, −1 where it has none. Empty for arrays.
        """
        check_fitted(self, "columns_")
        table = self._known_table(X)
        return {} if table is None or self._encoding is None else self._encoding.members(table)

    def distances(self, X: Any) -> NDArray[np.float64]:
        """Gower's distances, for clusterers that take distances.

        The mean over the columns that both rows have: |x − y| / range of numbers, of ranks of ordered categories and of
        dates; 0 or 1 of categories.

        Parameters
        ----------
        X : Table, data frame or array-like of shape (n_samples, n_features)
            Missing values do not count.

        Returns
        -------
        ndarray of shape (n_samples, n_samples)
            From 0 to 1.
        """
        table = self._table(X)
        if table is None:
            return gower_distances(X)
        return gower_distances(table, assign_roles(table, None, None, (), guess_id=True).rest, dates=self.dates)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names of the features: of the column, or of a column and its category, as in ``colour=red``.

        Parameters
        ----------
        input_features : None
            Ignored.

        Returns
        -------
        ndarray of str
            One per feature.
        """
        check_fitted(self, "columns_")
        return np.array(self._names, dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.impute is not None
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _table(self, X: Any, keep_empty: bool = False) -> Table | None:
        """X as a table, None if it has no columns of their own."""
        is_frame = not isinstance(X, Table) and as_frame(X) is not None
        table = X if isinstance(X, Table) else read_table(X, keep_empty=keep_empty) if is_frame else None
        if table is None:
            return None
        given = {**table.given_roles, **(self.roles or {})}
        return with_gaps(table if given == table.given_roles else replace(table, given_roles=given), self.missing)

    def _known_table(self, X: Any) -> Table | None:
        """X as a table with the columns that were fitted."""
        if self._encoding is None:
            if isinstance(X, Table):
                raise ValueError(
                    f"X of {type(self).__name__} must be an array of numbers, as in fit. Got a Table. "
                    "Give X.features().X, or fit it to a table."
                )
            return None  # scikit-learn's check warns of a frame's names
        table = self._table(X, keep_empty=True)  # of few new objects a column may well be empty
        if table is None:
            table = self._table(self._name_columns(X), keep_empty=True)
        if table is None:
            return None
        lost = [repr(column.name) for column in self._encoding.columns if column.name not in table.names]
        if lost:
            it = "it" if len(lost) == 1 else "them"
            raise ValueError(f"X must have the columns that were fitted. It has no {shorten(lost)}. Add {it}.")
        return table

    def _name_columns(self, X: Any) -> Any:
        """An array as a table with the names of the columns that were fitted, in order; scikit-learn's warning."""
        import pyarrow as pa

        cells = X.toarray() if sparse.issparse(X) else np.asarray(X, dtype=None if hasattr(X, "dtype") else object)
        if cells.ndim != 2:
            raise ValueError(
                f"X of {type(self).__name__} must have a row per object and a column per feature. Got shape "
                f"{cells.shape}. Give X.reshape(1, -1) for one object."
            )
        with columns_checked(f"X of {type(self).__name__}"):
            validate_data(self, cells, reset=False, skip_check_array=True)
        return pa.table([_arrow_column(column.tolist()) for column in cells.T], names=list(self.feature_names_in_))

    def _fit_table(self, table: Table, cells_of: Callable[..., Cells] = cells_in_memory) -> tuple[FeatureSource, Any]:
        """Fit to a table; its features, where ``cells_of`` puts the cells, and what is reported of them."""
        named = name_columns(table, None, None, (), guess_id=True)
        if named.id_column is not None:
            table._check_ids(named.id_column)
        options = Options(self.standardize, self.impute, self.categories, self.dates, self.category_scale)
        encoding, features = fit_encoding(table, named.rest, options, cells_of=cells_of)
        notes = *encoding.set_aside, *table.notes, *named.notes, *encoding.notes
        self._set(encoding, table.names, encoding.uses, notes)
        return features, notes

    def _set(self, encoding: Encoding, names: Sequence[str], uses: list[ColumnUse], notes: tuple[str, ...]) -> None:
        """What a table with columns of these names was fitted to."""
        self._encoding: Encoding | None = encoding.in_python()
        self.feature_names_in_ = np.array(names, dtype=object)
        self.n_features_in_ = len(names)
        self.columns_, self.transformer_ = uses, encoding.transformer
        self._alerts = tuple(alert.as_dict() for alert in encoding.alerts)
        self.notes_ = (*(str(alert["text"]) for alert in self._alerts), *map(str, notes))
        self.partitions_ = [column.name for column in encoding.columns if column.kind == "member"]
        self.n_columns_ = len(encoding.columns) - len(self.partitions_)
        self._names = encoding.names

    @classmethod
    def _of(
        cls, features: Features, roles: Mapping[str, str] | None, missing: Sequence[str | float] | None = None
    ) -> Self:
        """The one that makes these features of their table."""
        encoding = features.encoding
        if encoding is None:
            raise TypeError("Features must be those of a table.")
        made = cls(**encoding.options._asdict(), roles=roles, missing=missing)
        made._set(encoding, [use.column for use in features.columns], features.columns, features.notes)
        return made

    def _unseen(self, table: Table) -> dict[str, list[str]]:
        """By column the categories of new objects that were not fitted."""
        kinds = ("category", "member", "ordered")
        columns = [] if self._encoding is None else [c for c in self._encoding.columns if c.kind in kinds]
        unseen = {c.name: [level for level in levels_of(table[c.name]) if level not in c.levels] for c in columns}
        return {name: levels for name, levels in unseen.items() if levels}

    def _complete_rows(self, table: Table) -> NDArray[np.intp]:
        """The rows of a table in which no number is missing that is not filled."""
        given = self._encoding
        if given is None or given.fills:
            return np.arange(len(table))
        return complete_rows(table, given.columns)

    def _fit_array(self, X: Any) -> Any:
        X = self._validate(X, reset=True)
        if not sparse.issparse(X):
            rows = MemoryFeatures(X, by_column=True)
            return self._fit_numbers(rows, rows.reduce(ColumnSummary.of, ColumnSummary.joined))[:]
        self._keep_varying(np.arange(X.shape[1]))
        scale = StandardScaler(with_mean=False) if self.standardize else FunctionTransformer(accept_sparse=True)
        # Every column comes back, as the names say: one without any value as zeros.
        filled = [] if self.impute in (None, "knn") else [imputer(str(self.impute), keep_empty_features=True)]
        self.transformer_ = make_pipeline(*filled, scale).fit(X)
        return self.transformer_.transform(X)

    def _fit_numbers(self, rows: FeatureSource, summary: ColumnSummary) -> FeatureSource:
        """Fit to a matrix, wherever it lies; its features. Codes that may mean missing are sought in memory alone."""
        given = self._keep_varying(np.flatnonzero(summary.high > summary.low))
        if isinstance(rows, MemoryFeatures):
            codes = alerts_of_codes(zip(given, rows.X.T, strict=True))
            self._alerts = tuple(alert.as_dict() for alert in codes)
            self.notes_ = (*(str(alert["text"]) for alert in self._alerts), *self.notes_)
        m, summary = self.n_columns_, summary.at(self._varying)
        check_sizes(summary.low, summary.high, self._names)
        self.transformer_ = transformer_of(["number"] * m, Options(self.standardize, self.impute))
        varying = rows.columns(self._varying.tolist())
        cells = Cells(varying, self._names, list(range(m)), ["number"] * m, summary)
        features = cells.fit(self.transformer_, m)
        self.notes_ += (str(scaling_note(self.transformer_, self._names)),) if self.standardize == AUTO else ()
        return features

    def _keep_varying(self, varying: NDArray[np.intp]) -> list[str]:
        """Use these columns of an array, and return the names of all."""
        m = self.n_features_in_
        given = list(map(str, getattr(self, "feature_names_in_", [f"x{j}" for j in range(m)])))
        self._encoding, self.partitions_, self._varying, self._alerts = None, [], varying, ()
        kept = set(varying.tolist())
        if not kept:
            raise ValueError("X must have a column of numbers that vary. It has none. Give other features.")
        self._names = [given[j] for j in varying]
        self.columns_ = [
            ColumnUse(name, "number", "", "used" if j in kept else "left out: constant") for j, name in enumerate(given)
        ]
        left = [use.column for use in self.columns_ if use.use != "used"]
        self.notes_ = (f"left out, constant: {shorten(left)}",) if left else ()
        self.n_columns_ = len(kept)
        return given

    def _fit_blocks(self, features: FeatureBlocks) -> FeatureSource:
        """Fit to features that are not in memory, as to the array or the table of them; what is clustered."""
        check_parameters(self)
        if features._table is not None:
            return self._fit_stored_table(features)
        self.n_features_in_ = features.shape[1]
        if features.names is not None:
            self.feature_names_in_ = np.array(features.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        rows: FeatureSource = features._given
        return self._fit_numbers(rows, rows.reduce(ColumnSummary.of_finite, ColumnSummary.joined, features.names))

    def _fit_stored_table(self, features: FeatureBlocks) -> FeatureSource:
        if self.impute in ("mean", "knn"):
            raise ValueError(
                Message(
                    Option("impute"),
                    f' must be "median" or "most-frequent" for Parquet parts that are not in memory. Got '
                    f"{self.impute!r}. Choose one of these.",
                )
            )
        table: Any = self._table(features._table)
        made, features._notes = self._fit_table(table, partial(table.cells.write, missing=self.missing))
        for alert in self._alerts:
            warnings.warn(alert["text"], NoteWarning, stacklevel=2)
        if not made.shape[1]:
            raise ValueError(
                f"{table.source} must have at least one column of features. All its columns are members. Encode the "
                "categories as features."
            )
        return made

    def _of_blocks(self, features: FeatureBlocks) -> FeatureSource:
        """The features of numbers or of columns that are read block by block, as float64."""
        is_matrix = features._table is None
        rows = features._given.columns(self._varying.tolist()) if is_matrix else self._cells_of(features).rows
        return rows.transformed(Transformed(self.transformer_), len(self._names))

    def _cells_of(self, features: FeatureBlocks) -> Cells:
        """The cells of Parquet parts, as they were fitted."""
        table = self._known_table(features._table)
        if not isinstance(table, StoredTable) or self._encoding is None:
            raise TypeError(
                "The preprocessor must be fitted to a table. Got an array in fit. Fit it to the table first."
            )
        return table.cells.of(self._encoding.columns, table, self.missing)

    def _numbers_of(self, features: FeatureBlocks) -> FeatureSource | None:
        """The original numbers with their gaps, block by block; None without any."""
        return features._given if features._table is None else self._cells_of(features).numbers

    def _rows_of(self, features: FeatureBlocks, rows: NDArray[np.intp]) -> Any:
        """The original values of some objects: a table, or an array where columns have no names."""
        table = None if features._table is None else self._table(features._table)
        if table is not None:
            return table.take(rows)
        values = features[rows]
        if features.names is None:
            return values
        import pyarrow as pa

        return pa.table(list(values.T), names=features.names)

    def _ids_of(self, features: FeatureBlocks) -> Any:
        """(n,) Arrow array of text: the ids of Parquet parts; None without a column of them."""
        table = None if features._table is None else self._table(features._table)
        if table is None:
            return None
        name = name_columns(table, None, None, (), guess_id=True).id_column
        return None if name is None else table[name].text

    def _with_gaps(self, X: Any) -> Any:
        """Numbers that mean missing as NaN."""
        if self.missing is None:
            return X
        values = X.data if sparse.issparse(X) else X
        missing = Gaps(self.missing).are(values)
        if missing.any() and self.impute is None:
            got = f"Got {int(missing.sum()):,} that mean missing, as you said. Fill them with "
            raise ValueError(
                Message(f"X of Preprocessor must have no missing numbers. {got}", Option("impute", "median"), ".")
            )
        emptied = np.where(missing, np.nan, values).astype(values.dtype)
        return type(X)((emptied, X.indices, X.indptr), shape=X.shape) if sparse.issparse(X) else emptied

    def _validate(self, X: Any, reset: bool) -> Any:
        finite: Any = True if self.impute is None else "allow-nan"
        kinds = {"dtype": [np.float64, np.float32], "accept_sparse": "csr", "ensure_all_finite": finite}
        with features_checked("X of Preprocessor", X, FILL if self.impute is None else None):
            X = validate_data(self, X, reset=reset, ensure_min_samples=2 if reset else 1, order="C", **kinds)
        X = self._with_gaps(X)
        if self.impute == "knn" and sparse.issparse(X) and np.isnan(X.data).any():
            raise ValueError(
                "X of Preprocessor must be dense for impute='knn'. Got a sparse matrix with missing numbers. Give "
                "another rule, or X.toarray()."
            )
        return X


def _arrow_column(values: list[Any]) -> Any:
    """As Arrow reads them; values of several kinds as text."""
    import pyarrow as pa

    try:
        return pa.array(values, from_pandas=True)
    except pa.ArrowException:
        return pa.array([None if value is None or value != value else str(value) for value in values], pa.string())
