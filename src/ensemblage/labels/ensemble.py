"""Ensemble: several partitions of the same objects, coded once."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensemblage.base.above import ensemble_html
from ensemblage.base.frames import in_order, without_stream
from ensemblage.base.indexing import check_slice, is_integer, partition_index, row_index
from ensemblage.base.options import NoteWarning
from ensemblage.base.renamed import renamed_parameters
from ensemblage.base.threads import locked_property
from ensemblage.base.validation import format_value
from ensemblage.labels.alerts import label_alerts
from ensemblage.labels.blocks import DistinctRows, LabelRows, MemoryRows
from ensemblage.labels.coding import (
    MISSING,
    CodedColumns,
    Coding,
    check_labelled,
    check_missing,
    check_names,
    check_noise,
    code_labels,
    code_partitions,
    code_with_noise,
    decode,
    drop_unused_labels,
    one_hot,
)
from ensemblage.labels.disk import side_by_side
from ensemblage.labels.files import labels_of_anndata, load_labels, save_labels
from ensemblage.labels.links import Links, common_labels
from ensemblage.labels.out_of_core import labels_on_cluster, open_labels
from ensemblage.labels.rows import Counted, counted_labels

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from ensemblage.labels.counted import CountedEnsemble
    from ensemblage.labels.soft import SoftEnsemble


class Ensemble:
    """Use it to combine or rank partitions that you have: partitions of the same n objects, as small integer codes.

    Every function and estimator of ensemblage that takes a label matrix takes an ``Ensemble``, and makes one of
    whatever else it is given. Making it once saves that work, and keeps the distinct rows.

    Parameters
    ----------
    labels : array-like or data frame of shape (n_objects, n_partitions), or Ensemble
        Column j holds the labels that partition j gives to the objects: whole or other numbers, text, or categories,
        but no mixture within a column. Data frames may be of pandas, polars or pyarrow, or whatever has
        ``__arrow_c_stream__``, as relations of DuckDB. NaN, None and NA mean "not labelled by this partition".
    names : sequence of str, optional
        One name per partition. Default: the data frame's column names, else ``partition_0``, ``partition_1``, ...
    missing : int or None, default -1
        The number that also means "not labelled", in numeric columns whose values are whole. None makes it an
        ordinary label (noise of DBSCAN as one cluster). An Ensemble keeps its own.
    noise : {"missing", "vote"}, default "missing"
        What the number ``missing`` says of an object: nothing, or, as of HDBSCAN, DBSCAN and BERTopic, that it is in no
        cluster. "vote": an object that more than half of the partitions that label it call noise is in no cluster of
        the ensemble, and so of any consensus; elsewhere noise is missing. NaN, None and NA are no votes. The weights of
        partitions do not count. The ensemble keeps no rule for noise: new rows that a model shall ``predict`` vote if
        they are made an Ensemble with ``noise="vote"`` first.

    Attributes
    ----------
    codes : ndarray of shape (n_objects, n_partitions)
        uint8, uint16 or int32. Labels are numbered by their sorted order; ``n_clusters[j]`` means missing.
    categories : tuple of ndarray
        ``categories[j][c]`` is the label whose code is c in partition j.
    offsets : ndarray of shape (n_partitions + 1,)
        Partition j has the rows ``offsets[j]`` to ``offsets[j + 1] - 1`` of any table over labels, the last of them for
        the missing entry.
    n_clusters : ndarray of shape (n_partitions,)
        Number of clusters of each partition.
    names : list of str
    missing : int or None
    shape : tuple (n_objects, n_partitions)

    Raises
    ------
    ValueError
        If there are no objects or no partitions, rows of unequal length, a partition that labels nothing, numbers with
        fractions, which look like features, numbers and text in one column, text that ends in a NUL character, or names
        that are not distinct.
    TypeError
        If a label is neither a number nor text.

    Notes
    -----
    An ensemble does not change: its arrays are read-only, and ``names`` is a new list at every access.
    ``ensemble[rows]`` is the ensemble of some objects, as if it had been made of their labels. A partition that labels
    none of them stays, with no cluster; every consensus method leaves it out, as if its weight were 0.
    O(n p) time; n p bytes while every partition has at most 255 clusters, two or four times that otherwise.

    Examples
    --------
    >>> from ensemblage import Ensemble
    >>> E = Ensemble([[0, "a"], [0, "a"], [1, "b"], [1, None]], names=["first", "second"])
    >>> E
    Ensemble(4 objects, 2 partitions of 2 clusters, 12.5 % missing)
    >>> E.n_clusters
    array([2, 2])
    >>> E.select(["second"]).shape
    (4, 1)
    """

    is_soft: ClassVar[bool] = False
    """Whether its rows are memberships, as those of `from_memberships`."""
    is_counted: ClassVar[bool] = False
    """Whether its rows stand for several objects, as those of `from_counts`."""
    rows: LabelRows
    codes: Any
    """An array, or rows that are not in memory."""
    categories: tuple[NDArray[Any], ...]
    offsets: NDArray[np.int64]
    n_clusters: NDArray[np.int64]
    missing: int | None

    def __init__(
        self,
        labels: ArrayLike | Any,
        *,
        names: Sequence[str] | None = None,
        missing: int | None = -1,
        noise: Literal["missing", "vote"] = "missing",
    ) -> None:
        if isinstance(labels, Ensemble):
            if noise != MISSING:
                raise ValueError(
                    "noise of an Ensemble must be 'missing' if it is made from another Ensemble, which has no noise "
                    f"labels. Got {format_value(noise)}. Give the labels themselves."
                )
            self._set(labels.coded, names, labels.missing)
        else:
            missing = check_missing(missing)
            coded = code_with_noise(code_labels, labels, missing, noise)
            self._set(coded, names, missing, is_new=True)
            for alert in label_alerts(coded):
                warnings.warn(str(alert.text), NoteWarning, stacklevel=2)

    def _set(self, coded: CodedColumns, names: Sequence[str] | None, missing: int | None, is_new: bool = False) -> None:
        """Take coded labels; of a new ensemble every partition must label something, of some objects one of them."""
        self.rows, self.codes = coded.codes, as_seen(coded.codes)
        self.categories, self.missing = coded.categories, missing
        self.n_clusters = np.fromiter(map(len, coded.categories), np.int64)
        self.offsets = np.concatenate([[0], np.cumsum(self.n_clusters + 1)])
        for array in (self.codes, self.n_clusters, self.offsets, *self.categories):
            if isinstance(array, np.ndarray):
                array.flags.writeable = False
        p = len(self.n_clusters)
        names = coded.names if names is None else names
        self._names = tuple(map("partition_{}".format, range(p)) if names is None else check_names(names, p))
        if not (self.n_clusters.all() if is_new else self.n_clusters.any()):
            check_labelled(self.categories, self._names, each=is_new)

    @property
    def names(self) -> list[str]:
        """Names of the partitions."""
        return list(self._names)

    @classmethod
    def _made(
        cls,
        labels: Any,
        *,
        names: Sequence[str] | None = None,
        missing: int | None = -1,
        noise: Literal["missing", "vote"] = "missing",
    ) -> Ensemble:
        """The ensemble of labels that the library has made itself: nothing is reported of them."""
        return Ensemble._of(code_with_noise(code_labels, labels, missing, noise), missing, names, is_new=True)

    @classmethod
    def _of(
        cls, coded: CodedColumns, missing: int | None, names: Sequence[str] | None = None, is_new: bool = False
    ) -> Self:
        """An ensemble of coded labels; every partition of a new one must have labels."""
        self = cls.__new__(cls)
        self._set(coded, names, missing, is_new=is_new)
        return self

    @classmethod
    def from_partitions(
        cls,
        partitions: Iterable[ArrayLike],
        *,
        names: Sequence[str] | None = None,
        missing: int | None = -1,
        noise: Literal["missing", "vote"] = "missing",
    ) -> Ensemble:
        """Make an ensemble of label vectors, one per partition.

        Parameters
        ----------
        partitions : iterable of array-like of shape (n_objects,)
            A label per object in each.
        names : sequence of str, optional
            As in `Ensemble`.
        missing : int or None, default -1
            As in `Ensemble`.
        noise : {"missing", "vote"}, default "missing"
            As in `Ensemble`.

        Examples
        --------
        >>> Ensemble.from_partitions([[0, 0, 1], ["x", "y", "y"]]).shape
        (3, 2)
        """
        missing = check_missing(missing)
        coded = code_with_noise(code_partitions, partitions, missing, noise)
        return Ensemble._of(coded, missing, names, is_new=True)

    @property
    def shape(self) -> tuple[int, int]:
        """(n_objects, n_partitions)."""
        return self.rows.shape

    @property
    def _columns(self) -> CodedColumns:
        """Rows, categories and names."""
        return CodedColumns(self.rows, self.categories, self.names)

    @property
    def coded(self) -> CodedColumns:
        """The same as the functions that code labels give it; what has no labels, or counts, refuses."""
        return self._columns

    @locked_property
    def distinct(self) -> DistinctRows:
        """The distinct label rows, how many objects have each, and each object's place among them."""
        return self.rows.distinct(self.n_clusters + 1)

    def _as_saved(self) -> tuple[str, dict[str, Any]]:
        """Its name and its parts in the file of a model."""
        of = {"codes": np.asarray(self.rows[:]), "categories": list(self.categories), "names": self.names}
        return "Ensemble", {**of, "missing": self.missing}

    def to_labels(self) -> Ensemble:
        """The hard partitions: itself, or of memberships the cluster with the largest one of each object.

        Returns
        -------
        Ensemble
            With the names of the partitions. Labels of memberships are numbers of columns, the first one on ties; a
            cluster that is no object's likeliest one has no label.
        """
        return self

    def _check_beside(self, other: Any) -> None:
        """Refuse what is no ensemble of the same kind and of as many objects."""
        if not isinstance(other, Ensemble) or other.is_soft != self.is_soft or len(other) != len(self):
            raise ValueError(
                f"Partitions that are joined must be of the same {len(self):,} objects, an Ensemble of "
                f"{'memberships' if self.is_soft else 'labels'}. Got {format_value(other)}. Convert them to one kind."
            )

    def _with_sample_weight(self, sample_weight: NDArray[np.int64] | None) -> Counted:
        """The label rows, where each object counts as often as that says; None: once."""
        if sample_weight is None:
            return Counted(Coding(self.categories, self.missing), self.rows, self.distinct, self.n_clusters)
        return counted_labels(self.coded, self.missing, self.distinct, sample_weight)

    def _with_common_labels(self, links: Links, sample_weight: NDArray[np.int64] | None) -> Ensemble:
        """The ensemble in which every partition gives a must-link group the label that most of its objects have."""
        codes = common_labels(self.rows[:], self.n_clusters, links, sample_weight)
        return Ensemble._of(drop_unused_labels(self.coded._replace(codes=MemoryRows(codes))), self.missing)

    @locked_property
    def n_missing(self) -> int:
        """Number of missing entries."""
        absent = self.n_clusters.astype(self.rows.dtype)
        return sum(self.rows.map(lambda codes: int(np.count_nonzero(codes == absent))))

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        n, p = self.shape
        low, high = int(self.n_clusters.min()), int(self.n_clusters.max())
        clusters = f"{low}" if low == high else f"{low} to {high}"
        absent = 0 if self.is_soft else self.n_missing
        missing = f", {100 * absent / (n * p):.3g} % missing" if absent else ""
        where = {"on disk": " on disk", "on a Dask cluster": " on Dask"}.get(self.rows.where, "")
        return (
            f"Ensemble({n:,} {self._kind_of_rows}{where}, {p:,} {'soft ' * self.is_soft}partition{'s' * (p > 1)} of "
            f"{clusters} cluster{'s' * (high > 1)}{missing})"
        )

    @property
    def _kind_of_rows(self) -> str:
        """What its rows are."""
        return f"object{'s' * (len(self) > 1)}"

    def _repr_html_(self) -> str | None:
        return ensemble_html(self)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """The labels: integers if all are, floats if numbers that floats tell apart, else objects with None."""
        if copy is False:
            raise ValueError("An Ensemble is stored as codes, not as labels. Got copy=False. Leave copy out.")
        return np.asarray(decode(self.coded, self.missing), dtype)

    def __getitem__(self, rows: Any) -> Any:
        """Labels of one object (an integer), or some objects in memory (a slice, mask or index array)."""
        if isinstance(rows, tuple) or rows is None:
            raise IndexError("An Ensemble is indexed by rows. Got an index of partitions too. Use select(partitions).")
        columns = self._columns
        if isinstance(rows, slice):
            codes = self.rows[check_slice(rows, "rows")]
        else:
            codes = self.rows[row_index([rows] if is_integer(rows) else rows, len(self))]
        some = columns._replace(codes=MemoryRows(codes))
        if is_integer(rows):
            return decode(some, self.missing)[0]
        return Ensemble._of(drop_unused_labels(some), self.missing)

    @renamed_parameters(members="partitions")
    def select(self, partitions: ArrayLike) -> Self:
        """The ensemble of some of the partitions.

        Parameters
        ----------
        partitions : sequence of int, bool mask, slice, or sequence of names
            Which of them.

        Returns
        -------
        Ensemble
            Partitions in the order given.
        """
        return self._of(self._columns.select(partition_index(partitions, self._names)), self.missing)

    def append_partitions(self, other: Ensemble) -> Ensemble:
        """The partitions of both; those of the other ensemble, of the same objects, come last.

        Parameters
        ----------
        other : Ensemble
            Of as many objects.

        Returns
        -------
        Ensemble
            With the names of both, where these differ; else partitions have numbers.
        """
        self._check_beside(other)
        mine, theirs = self._columns, other._columns
        codes, categories = side_by_side(mine.codes, theirs.codes), mine.categories + theirs.categories
        names = [*self._names, *other._names]
        coded = CodedColumns(codes, categories, names if len(set(names)) == len(names) else None)
        return self._of(coded, self.missing)

    def one_hot(self, dtype: Any = np.float64) -> csr_array:
        """The binary matrix H (Candel Eq. 8): objects by clusters, a missing entry has no one.

        Parameters
        ----------
        dtype : dtype, default float64
            Of its entries.

        Returns
        -------
        scipy.sparse.csr_array of shape (n_objects, n_clusters.sum())
            12 bytes per labelled entry: methods of ensemblage never build it.
        """
        try:
            np.dtype(dtype)
        except TypeError:
            raise TypeError(
                f"dtype of one_hot must be a data type of NumPy. Got {format_value(dtype)}. Give one, such as "
                "np.float32."
            ) from None
        return one_hot(self.coded, dtype)

    def encode(self, labels: ArrayLike | Any) -> Any:
        """Code new rows of labels as this ensemble's own; a label it has not seen counts as missing, with one warning.

        Parameters
        ----------
        labels : array-like, data frame or Ensemble of shape (n_new, n_partitions)
            Of the same partitions: found by their names, if it has names too.

        Returns
        -------
        ndarray of shape (n_new, n_partitions)
            Codes, of the dtype of `codes`.
        """
        named = in_order(labels, self._names, "the ensemble")
        labels = labels if named is None else named
        return as_seen(Coding(self.coded.categories, self.missing).encode(coded_labels(labels, self.missing)))

    def save(self, path: str | PathLike[str]) -> None:
        """Write the ensemble to a .npz file (exact) or a .csv file (names as header, missing entries empty).

        A CSV file cannot tell the number 1 from the text "1": text that looks like numbers comes back as numbers. Nor
        does it keep ``missing``: a label −1 comes back as missing unless `load` is given ``missing=None``. Row numbers
        stand before a first partition that would be taken for ids.
        The file is written under another name first and then renamed: it is never half written.

        Parameters
        ----------
        path : path
            Of the file, whose name ends in .npz or .csv.

        Raises
        ------
        ValueError
            If the suffix is neither .npz nor .csv, or a label for a .csv file would not come back: blank text, "NA", or
            "1.0" beside "1".
        """
        save_labels(self.coded, self.missing, path)

    @classmethod
    def load(
        cls,
        path: str | PathLike[str],
        *,
        missing: int | None = -1,
        noise: Literal["missing", "vote"] = "missing",
    ) -> Ensemble:
        """Read an ensemble from a file that `save` wrote, or a table: a header, and one partition per column.

        A column of a CSV file holds whole numbers if all its fields are, else numbers if they are ("nan" is missing),
        else text; text too where different fields would be the same number, as "1" and "01". Blank fields are missing.
        An unnamed first column of a CSV file holds ids. So does the first of several, with a warning, if each of more
        than two rows has another text or whole number there, unless its name is partition_0 or such.
        Columns of a Parquet file have their types, as in `open`.

        Parameters
        ----------
        path : path of a .npz, .csv or .parquet file
            What to read.
        missing : int or None, default -1
            As in `Ensemble`; a .npz file has its own.
        noise : {"missing", "vote"}, default "missing"
            As in `Ensemble`; "missing" for a .npz file, in which noise is missing already.

        Raises
        ------
        ValueError
            If the file is not what its suffix says. Nothing in it is ever executed (no pickle).
        """
        return Ensemble._of(*load_labels(path, missing, noise))

    @classmethod
    def open(
        cls,
        path: str | PathLike[str],
        *,
        names: Sequence[str] | None = None,
        missing: int | None = -1,
        noise: Literal["missing", "vote"] = "missing",
        memory: int | str = "1GB",
        scratch: str | PathLike[str] | None = None,
    ) -> Ensemble:
        """Open a label matrix that does not fit into memory; it stays on disk.

        Results are bitwise identical to those in memory: docs/SCALE.md lists the methods that work on disk.
        ``ensemble[rows]`` loads some objects into memory. The matrix is read twice, block by block; O(n p) time.

        Parameters
        ----------
        path : path of a .npy file, a .parquet file, or a folder of .parquet files
            Objects by partitions: whole numbers of any type, in C or Fortran order, in a .npy file; one partition per
            column, whatever labels an `Ensemble` may have, in Parquet parts, in the order of their names.
        names : sequence of str, optional
            As in `Ensemble`.
        missing : int or None, default -1
            As in `Ensemble`.
        noise : {"missing", "vote"}, default "missing"
            As in `Ensemble`.
        memory : int or str, default "1GB"
            Bytes that the process may take, or text such as "500MB".
        scratch : path of a folder, optional
            Where the temporary folder with the codes is made: one to four bytes per label, and as much again for the
            distinct rows when asked for. Default: the system's folder for temporary files. It goes with the object.

        Raises
        ------
        FileNotFoundError
            If there is nothing at ``path``.
        ValueError
            If a file is broken, truncated or not a matrix of labels, if the parts do not have the same columns, if
            ``memory`` is too small for the number of objects, or the disk is full.

        Examples
        --------
        >>> import numpy as np, tempfile, pathlib
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder) / "labels.npy"
        ...     np.save(path, [[0, 5], [0, 5], [1, -1]])
        ...     E = Ensemble.open(path)
        >>> E
        Ensemble(3 objects on disk, 2 partitions of 1 to 2 clusters, 16.7 % missing)
        >>> E[[0, 2]].n_clusters
        array([2, 1])
        """
        return Ensemble._of(*open_labels(path, names, missing, noise, memory, scratch), is_new=True)

    @classmethod
    def from_anndata(
        cls,
        adata: Any,
        columns: str | Sequence[str] = "leiden_*",
        *,
        missing: int | None = -1,
        noise: Literal["missing", "vote"] = "missing",
    ) -> Ensemble:
        """Make an ensemble of partitions in ``.obs`` of an AnnData object.

        Labels are what they would be in a CSV file: categories that are whole numbers, as scanpy's, are these numbers.

        Parameters
        ----------
        adata : AnnData, or path of a .h5ad file
            Where they are. Of a file nothing is read but ``.obs``.
        columns : str or sequence of str, default "leiden_*"
            A column of ``.obs``, a pattern with ``*`` and ``?``, or a list of such: categories, text, or whole numbers.
        missing : int or None, default -1
            As in `Ensemble`.
        noise : {"missing", "vote"}, default "missing"
            As in `Ensemble`.

        Returns
        -------
        Ensemble
            With the names of the columns, in the order of each pattern.

        Raises
        ------
        ValueError
            If no column is so called, one holds numbers with fractions or differs for every object, the file is no
            .h5ad file, or anndata is not installed.

        Notes
        -----
        O(n p) time; 4 n bytes on top of the codes for each column. To write what was found back: `to_anndata`.
        """
        return Ensemble._of(*labels_of_anndata(adata, columns, missing, noise), is_new=True)

    @classmethod
    def from_counts(
        cls,
        rows: Any,
        counts: Any = None,
        *,
        missing: int | None = -1,
        noise: Literal["missing", "vote"] = "missing",
    ) -> CountedEnsemble:
        """Make an ensemble of distinct label rows and how many objects have each.

        A fit is bitwise identical to one on all objects, in the memory and the time of the distinct rows.

        Parameters
        ----------
        rows : data frame, Polars lazy frame, DuckDB relation, Arrow stream, or array-like
            Label rows, a partition per column. Whatever has ``__arrow_c_stream__`` is read batch by batch. A list of
            frames or streams is read one after the other.
        counts : str or array-like of shape (n_rows,), optional
            The column of ``rows`` that says how many objects have each row, or these numbers: whole and ≥ 0. A row that
            stands there twice has the sum. Default: rows are objects, and are counted; DuckDB and Polars group a
            relation or a lazy frame themselves.
        missing : int or None, default -1
            As in `Ensemble`.
        noise : {"missing", "vote"}, default "missing"
            As in `Ensemble`; an object's vote is that of its row.

        Returns
        -------
        Ensemble
            Of the distinct rows, with `counts` and ``n_objects``. They are in no order that a query could change:
            results go by the labels. Every consensus method takes it, and ``labels_`` and the like then have an entry
            per row. Its ``clusters(model)`` has these beside the labels, and ``join_sql()`` and ``join_polars()`` say
            how a database or Polars gives them to the objects. Functions of `metrics`, rankers and reports would count
            each row once, and refuse it: its attribute ``ensemble`` is what they take, where they shall.

        Raises
        ------
        ValueError
            If counts are negative, missing or not whole, their sum is 0 or larger than 2³¹ - 1, or parts differ in
            columns or types; and as for `Ensemble`.

        Notes
        -----
        O(n p) time for n rows that are read; the memory of the distinct ones, as Arrow and as codes, and of a million
        rows more. Voting methods order labels that nothing else tells apart by their first objects: here these are
        rows, whose order is that of the query.

        Examples
        --------
        >>> labels = [[0, 0], [0, 0], [1, 1], [0, 0], [1, 0]]
        >>> E = Ensemble.from_counts(labels)
        >>> E, E.counts
        (Ensemble(3 rows of 5 objects, 2 partitions of 2 clusters), array([3, 1, 1]))
        """
        # The file of a subclass imports this one, so it is imported when this is called.
        from ensemblage.labels.counted import CountedEnsemble, counted_rows

        check_noise(noise, check_missing(missing))
        labels, counted = counted_rows(rows, counts)
        return CountedEnsemble(Ensemble(labels, missing=missing, noise=noise), counted, labels)

    @classmethod
    def from_memberships(cls, memberships: Iterable[ArrayLike], *, names: Sequence[str] | None = None) -> SoftEnsemble:
        """Make an ensemble of soft partitions of the same n objects: memberships instead of labels.

        What takes it are the methods that can count by memberships: `CumulativeVoting`, `BipartiteVoting`,
        `MajorityVoting`, `EuclideanMedian`, `ComembershipMedian` and `HBGF`, and `metrics.coassociation`,
        `metrics.density` and `metrics.confidence`. All else takes its ``to_labels()``.

        Parameters
        ----------
        memberships : sequence of array-like of shape (n_objects, k_j)
            A block for each partition, such as ``predict_proba`` of a Gaussian mixture or ``membership_`` of a
            consensus: numbers ≥ 0 whose rows sum to 1; below 1e-100 they are taken as 0. A row of zeros or NaN is an
            object of which the partition says nothing. A vector of labels is a hard partition.
        names : sequence of str, optional
            As in `Ensemble`.

        Returns
        -------
        Ensemble
            Its ``n_clusters`` are columns of each partition; a method leaves out those in which no object has any
            membership. ``memberships`` are the blocks.

        Raises
        ------
        ValueError
            If there is no block, blocks differ in their number of rows, a row has a negative number or does not sum to
            1, or a partition says nothing of all objects.

        Notes
        -----
        Two objects are joined by a partition as far as their memberships agree, Σ_c u_c v_c. Zeros and ones are labels:
        an ensemble of them gives what one of labels gives, up to rounding.

        8 bytes per membership, Σ (k_j + 1) n in all, twice that while a method works on it. Sums go in fixed blocks of
        objects, added in order: no result depends on ``n_jobs``.

        References
        ----------
        K. Hornik, "A CLUE for CLUster Ensembles", Journal of Statistical Software 14(12), 2005: memberships of hard and
        soft partitions, and their co-membership.

        Examples
        --------
        >>> from ensemblage import make_consensus
        >>> first = [[0.9, 0.1], [0.8, 0.2], [0.1, 0.9], [0.0, 1.0]]
        >>> second = [[0.2, 0.8], [0.4, 0.6], [1.0, 0.0], [0.9, 0.1]]
        >>> E = Ensemble.from_memberships([first, second])
        >>> E
        Ensemble(4 objects, 2 soft partitions of 2 clusters)
        >>> make_consensus("acv", 2).fit(E).membership_.round(2)[0]
        array([0.21, 0.79])
        >>> E.to_labels().codes.tolist()
        [[0, 1], [0, 1], [1, 0], [1, 0]]
        """
        # The file of a subclass imports this one, so it is imported when this is called.
        from ensemblage.labels.soft import SoftEnsemble

        return SoftEnsemble(memberships, names=names)

    @classmethod
    def from_dask(
        cls,
        parts: Any,
        *,
        client: Any,
        names: Sequence[str] | None = None,
        missing: int | None = -1,
        noise: Literal["missing", "vote"] = "missing",
    ) -> Ensemble:
        """Make an ensemble of a label matrix on a Dask cluster; it stays there.

        Results are bitwise identical to those in memory: docs/SCALE.md lists the methods that work on Dask, and which
        data are moved. Close the client yourself, when you need neither the ensemble nor what was fitted to it any
        more.

        Parameters
        ----------
        parts : Dask array of shape (n_objects, n_partitions), or sequence of delayed matrices, futures or arrays
            Cut by rows. What a task made can be made again when a worker is lost; arrays are sent to the workers once.
        client : distributed.Client
            Where the parts are, or shall be.
        names : sequence of str, optional
            As in `Ensemble`.
        missing : int or None, default -1
            As in `Ensemble`.
        noise : {"missing", "vote"}, default "missing"
            As in `Ensemble`.

        Raises
        ------
        ValueError
            If the parts do not have the same number of columns, or are cut by columns.

        Notes
        -----
        Workers hold the codes, n p bytes while every partition has at most 255 clusters, their distinct rows, and 16
        bytes per distinct row while k-means runs. The client holds about 40 bytes per object.
        """
        return Ensemble._of(*labels_on_cluster(parts, client, names, missing, noise), is_new=True)


def as_seen(rows: LabelRows) -> Any:
    """What a user sees as codes: the array that is in memory, else the rows."""
    return rows.array if isinstance(rows, MemoryRows) else rows


def coded_labels(labels: ArrayLike | Any, missing: int | None) -> CodedColumns:
    """The codes that an ensemble has, or those of a label matrix in which ``missing`` means missing."""
    return labels.coded if isinstance(labels, Ensemble) else code_labels(labels, missing)


def given_labels(X: Any, sample_weight: Any = None) -> tuple[Any, Any, Any]:
    """The ensemble of what was given, hard or soft; how often each row counts; and X, of a stream the table."""
    if getattr(X, "is_counted", False):
        if sample_weight is not None:
            raise ValueError(
                f"sample_weight must be None for an Ensemble whose rows have counts. Got "
                f"{format_value(sample_weight)}. Leave it out, or fit X.ensemble."
            )
        return X.ensemble, X.counts, X
    if hasattr(X, "__arrow_c_stream__"):
        X = without_stream(X)
    return X if isinstance(X, Ensemble) else Ensemble(X), sample_weight, X


def as_any_ensemble(labels: ArrayLike | Any, missing: int | None = -1) -> Ensemble:
    """The ensemble itself, hard or soft, or one made of a label matrix; one whose rows have counts is refused."""
    ensemble = labels if isinstance(labels, Ensemble) else Ensemble(labels, missing=missing)
    _ = ensemble._columns
    return ensemble


def as_ensemble(labels: ArrayLike | Any, missing: int | None = -1) -> Ensemble:
    """The same, but a soft one is refused."""
    ensemble = as_any_ensemble(labels, missing)
    _ = ensemble.coded
    return ensemble
