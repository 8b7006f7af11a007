"""CountedEnsemble: distinct label rows and how many objects have each, as a database groups them."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.validation import format_value
from ensemblage.labels.ensemble import Ensemble

RESULTS = ("cluster", "confidence")
"""Columns that `CountedEnsemble.clusters` adds to the labels."""


class CountedEnsemble:
    """Use it if many objects have the same labels: distinct label rows with counts; made by `Ensemble.from_counts`.

    Every consensus method takes it as X. The result is bitwise identical to that for all objects. Attributes of the
    objects, such as ``labels_``, have an entry per row here. `clusters` has these beside the labels, and `join_sql` and
    `join_polars` say how a database or Polars gives them to the objects.

    Parameters
    ----------
    ensemble : Ensemble
        The rows, each once.
    counts : ndarray of shape (n_rows,), int64
        Objects with each row: ``sample_weight`` of a fit.
    labels : pyarrow.Table of shape (n_rows, n_partitions)
        The rows as they were given.

    Attributes
    ----------
    names : list of str
    shape : tuple (n_rows, n_partitions)
    n_objects : int

    Notes
    -----
    Functions of `metrics`, rankers and reports count no row more than once: they refuse it. ``ensemble`` is what they
    take, where each row shall count once.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from ensemblage import Ensemble, KMeansConsensus
    >>> groups = pa.table({"l1": [0, 0, 1], "l2": ["a", "b", "b"], "n": [60, 10, 30]})
    >>> E = Ensemble.from_counts(groups, "n")
    >>> E
    CountedEnsemble(3 rows of 100 objects, 2 partitions)
    >>> KMeansConsensus(2, random_state=0).fit(E).labels_
    array([0, 1, 1], dtype=int32)
    """

    is_counted: ClassVar[bool] = True

    def __init__(self, ensemble: Ensemble, counts: NDArray[np.int64], labels: Any) -> None:
        self.ensemble, self.counts, self.labels = ensemble, counts, labels
        counts.flags.writeable = False

    @property
    def names(self) -> list[str]:
        """Names of the partitions."""
        return self.ensemble.names

    @property
    def shape(self) -> tuple[int, int]:
        """(n_rows, n_partitions)."""
        return self.ensemble.shape

    @property
    def n_objects(self) -> int:
        """The sum of the counts."""
        return int(self.counts.sum())

    def __len__(self) -> int:
        return len(self.ensemble)

    def __repr__(self) -> str:
        m, p = self.shape
        return (
            f"{type(self).__name__}({m:,} row{'s' * (m > 1)} of {self.n_objects:,} object{'s' * (self.n_objects > 1)}, "
            f"{p:,} partition{'s' * (p > 1)})"
        )

    def _counts_beside(self, sample_weight: Any) -> NDArray[np.int64]:
        """The counts; other weights of the rows are refused."""
        if sample_weight is not None:
            raise ValueError(
                f"sample_weight must be None for a CountedEnsemble, whose rows have counts. Got "
                f"{format_value(sample_weight)}. Leave it out, or fit X.ensemble."
            )
        return self.counts

    def clusters(self, model: Any) -> Any:
        """The cluster and the confidence of each row, beside its labels: what the objects are joined with.

        Parameters
        ----------
        model : estimator
            Fitted to this ensemble.

        Returns
        -------
        pyarrow.Table of shape (n_rows, n_partitions + 2)
            The labels as they were given, ``cluster`` and ``confidence``. DuckDB finds it by the name of its variable,
            ``polars.from_arrow`` and ``table.to_pandas()`` make other data frames of it.

        Raises
        ------
        ValueError
            If the model was fitted to something else, or a partition is named as one of the two columns.
        """
        labels = getattr(model, "labels_", None)
        if labels is None or len(labels) != len(self):
            got = "one that is not fitted" if labels is None else f"one of {len(labels):,} rows"
            raise ValueError(
                f"The model must be fitted to these {len(self):,} rows. Got {got}. Call model.fit(E) with this "
                "ensemble first."
            )
        taken = [name for name in RESULTS if name in self.labels.column_names]
        if taken:
            raise ValueError(
                f"Columns of labels must not be named {' or '.join(map(repr, RESULTS))}, as those of the result are. "
                f"Got {taken[0]!r}. Rename it in the query."
            )
        table = self.labels
        for name, values in zip(RESULTS, (labels, model.confidence_), strict=True):
            table = table.append_column(name, [np.asarray(values)])
        return table

    def join_sql(self, table: str = "labels", clusters_table: str = "clusters") -> str:
        """The SQL that gives every object the cluster and the confidence of its row.

        Parameters
        ----------
        table : str, default "labels"
            Name of the table of objects, in which the partitions are columns with the names that they have here.
        clusters_table : str, default "clusters"
            Name under which the database finds the table that `clusters` returned.

        Returns
        -------
        str
            A query of standard SQL, which takes two missing labels as equal: DuckDB, PostgreSQL, SQLite and others run
            it.

        Examples
        --------
        >>> import pyarrow as pa
        >>> from ensemblage import Ensemble
        >>> print(Ensemble.from_counts(pa.table({"l1": [0, 1], "l2": [0, 1], "n": [3, 1]}), "n").join_sql("cells"))
        SELECT "cells".*, "clusters"."cluster", "clusters"."confidence"
        FROM "cells" LEFT JOIN "clusters"
          ON "cells"."l1" IS NOT DISTINCT FROM "clusters"."l1"
         AND "cells"."l2" IS NOT DISTINCT FROM "clusters"."l2"
        """
        objects, rows = quoted(table), quoted(clusters_table)
        columns = [quoted(name) for name in self.labels.column_names]
        equal = "\n AND ".join(f"{objects}.{name} IS NOT DISTINCT FROM {rows}.{name}" for name in columns)
        results = ", ".join(f"{rows}.{quoted(name)}" for name in RESULTS)
        return f"SELECT {objects}.*, {results}\nFROM {objects} LEFT JOIN {rows}\n  ON {equal}"

    def join_polars(self, table: str = "labels", clusters_table: str = "clusters") -> str:
        """The expression of Polars that gives every object the cluster and the confidence of its row.

        Parameters
        ----------
        table : str, default "labels"
            Name of the variable of the lazy frame whose rows are the objects.
        clusters_table : str, default "clusters"
            Name of the variable of the frame that ``polars.from_arrow`` made of what `clusters` returned.

        Returns
        -------
        str
            Python code.

        Examples
        --------
        >>> import pyarrow as pa
        >>> from ensemblage import Ensemble
        >>> Ensemble.from_counts(pa.table({"l1": [0, 1], "l2": [0, 1], "n": [3, 1]}), "n").join_polars()
        "labels.join(clusters.lazy(), on=['l1', 'l2'], nulls_equal=True, how='left', maintain_order='left')"
        """
        keys = f"on={self.labels.column_names!r}, nulls_equal=True"
        return f"{table}.join({clusters_table}.lazy(), {keys}, how='left', maintain_order='left')"


def quoted(name: str) -> str:
    """An identifier of SQL."""
    return '"' + name.replace('"', '""') + '"'
