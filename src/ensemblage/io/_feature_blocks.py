"""FeatureBlocks: features that stay on disk or on the workers of a cluster, and are read block by block."""

from __future__ import annotations

from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.validation import check_bytes, check_fitted, check_path
from ensemblage.io._feature_sources import FeatureSource, check_memory, features_on_cluster, npy_features
from ensemblage.io._stored_table import Parts, StoredTable
from ensemblage.tables.formats import PARQUET, format_of


class FeatureBlocks:
    """Use it for features that do not fit into memory: they stay on disk, or on the workers of a Dask cluster.

    `open` and `from_dask` make it, and ``ConsensusClustering.fit`` takes it. The result is bitwise identical to that of
    the same array in memory, with the same seed. The fitted model has an entry for each of the objects that were drawn
    and clustered; `clusters`, `write_clusters` and `profile` are of all.

    Attributes
    ----------
    shape : tuple (n_objects, n_features)
    names : list of str or None
        Names of the columns, where they have some.

    Notes
    -----
    Passes over the features: two to scale them, one that looks for copies, one for the drawn objects of each of the
    two samples, and one that finds which of the clustered objects are nearest to each. They are kept, 4 bytes per
    object; `clusters` and `write_clusters` need no further search, `profile` needs up to three more passes.

    Columns of Parquet parts are used by their roles, as those of a table in memory; all other features are numbers.

    Examples
    --------
    >>> import numpy as np, tempfile, pathlib
    >>> from ensemblage import ConsensusClustering
    >>> from ensemblage.preprocessing import FeatureBlocks
    >>> X = np.random.default_rng(0).normal(size=(12_000, 2)) + np.repeat([[0, 0], [9, 9]], 6_000, axis=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "X.npy"
    ...     np.save(path, X)
    ...     features = FeatureBlocks.open(path, memory="2GB")
    ...     model = ConsensusClustering(2, random_state=0).fit(features)
    ...     np.bincount(features.clusters(model))
    array([6000, 6000])
    """

    shape: tuple[int, int]
    names: list[str] | None
    _given: Any
    """A `FeatureSource` of numbers, or a `StoredTable`, whose columns are used by their roles."""
    _notes: tuple[Any, ...] = ()
    """What was done with the columns of the table."""
    _nearest: tuple[list[NDArray[np.float64]], FeatureSource] | None = None
    """The objects of each sample that were clustered last, and for each object which of each is nearest to it."""

    @classmethod
    def open(
        cls, path: str | PathLike[str], *, memory: int | str = "1GB", scratch: str | PathLike[str] | None = None
    ) -> FeatureBlocks:
        """Open features that lie on disk.

        Parameters
        ----------
        path : path of a .npy file, of a .parquet file, or of a folder of .parquet files
            Objects by features: numbers, in C or Fortran order, in a .npy file; a table in Parquet parts, in the order
            of their names.
        memory : int or str, default "1GB"
            Bytes that the process may take, or text such as "500MB".
        scratch : path of a folder, optional
            Where a temporary folder holds what is found of each object, 4 bytes each, and the used columns of Parquet
            parts, 8 bytes per value. It goes with the object. Default: the system's folder for temporary files.

        Returns
        -------
        FeatureBlocks
            Which reads the file whenever it is used.

        Raises
        ------
        FileNotFoundError
            If there is nothing at ``path``.
        ValueError
            If a file is broken or holds no numbers, if parts differ in columns or types, if ``memory`` is too small for
            the objects or for a column of Parquet, or the disk is full.

        Notes
        -----
        Parquet: a column at a time is in memory. It takes up to 56 bytes per object of numbers, six times its size of
        text, or 96 bytes per object, and 160 for each different text. Medians that fill gaps are those of all objects.
        """
        n_bytes, where = check_bytes(memory, "memory"), check_path(path, "path")
        if not where.is_dir() and format_of(where) is not PARQUET:
            return cls._of(npy_features(where, n_bytes, scratch))
        parts = Parts(where, n_bytes)
        check_memory(n_bytes, parts.n_rows, len(parts.names))
        return cls._of(StoredTable.of(parts, scratch))

    @classmethod
    def from_dask(cls, parts: Any, *, client: Any) -> FeatureBlocks:
        """Take features on a Dask cluster; they stay there.

        Parameters
        ----------
        parts : Dask array or frame of shape (n_objects, n_features), or sequence of delayed parts, futures or arrays
            Cut by rows, columns of numbers or truth values. What a task made can be made again when a worker is lost;
            arrays are sent to the workers once.
        client : distributed.Client
            Where the parts are, or shall be. You close it.

        Returns
        -------
        FeatureBlocks
            Which holds the features as float64 or float32 on the workers.

        Raises
        ------
        ValueError
            If parts differ in columns or types, hold other than numbers, or a task that makes one fails.

        Notes
        -----
        Here are 8 bytes per object while objects are drawn, the drawn ones, and what `clusters` returns. Workers hold
        the features twice while they are cut into blocks, and up to six blocks of 262,144 rows while they work.
        """
        return cls._of(features_on_cluster(parts, client))

    @classmethod
    def _of(cls, given: FeatureSource | StoredTable) -> FeatureBlocks:
        features = cls()
        features._given, features.names, features.shape = given, given.names, given.shape
        return features

    @property
    def _table(self) -> StoredTable | None:
        """What was given, if it is a table."""
        return self._given if isinstance(self._given, StoredTable) else None

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        n, m = self.shape
        return f"FeatureBlocks({n:,} objects, {m:,} feature{'s' * (m > 1)}, {self._given.place})"

    def __getitem__(self, rows: Any) -> Any:
        """(r, n_features) some objects, by their numbers, in memory: an array, or a Table."""
        places = np.asarray(rows)
        return self._given[places] if self._table is None else self._table.take(places)

    def clusters(self, model: Any) -> NDArray[np.int32]:
        """The cluster of every object, brought here.

        Parameters
        ----------
        model : ConsensusClustering
            Fitted to these features.

        Returns
        -------
        ndarray of shape (n_objects,), int32
            Numbered by decreasing size.
        """
        found: NDArray[np.int32] = self._of_all(model).clusters()
        return found

    def write_clusters(self, model: Any, folder: str | PathLike[str]) -> None:
        """Write the cluster and the confidence of every object, and the profile of the clusters, as Parquet.

        Parameters
        ----------
        model : ConsensusClustering
            Fitted to these features.
        folder : path of a new folder
            It appears when all is written: ``clusters/part-000000000000.parquet`` and so on, each with the number of
            its first object, with the columns of labels.csv (of Parquet parts without a column of ids, and of other
            features, all but the id), and ``profile.parquet``. Workers write the parts, so that the folder must be one
            that they see, too.

        Raises
        ------
        ValueError
            If the folder exists, or the disk is full: nothing is kept then.
        """
        self._of_all(model).write(folder)

    def profile(self, model: Any) -> Any:
        """What each cluster is like: a record for each cluster and variable.

        Parameters
        ----------
        model : ConsensusClustering
            Fitted to these features.

        Returns
        -------
        pyarrow.Table
            The columns of `ensemblage.profile`'s ``to_frame()``, the strongest effects of each cluster first: they
            compare all objects, or of more than 262,144, or 4,194,304 values, so many that are drawn. Of all objects
            are ``n_objects``, those of the cluster, and for numbers ``mean``, ``deviation``, ``least``, ``largest`` and
            ``difference``, that of the mean from the mean of all, in deviations of all.
        """
        return self._of_all(model).describe().table

    def _of_all(self, model: Any) -> Any:
        """What a model gives every object; the class of the model knows how."""
        check_fitted(model)
        if not hasattr(model, "_clustering_of"):
            raise self._not_of(model)
        return model._clustering_of(self)

    def _not_of(self, model: Any) -> ValueError:
        """The error for a model that was fitted to something else."""
        return ValueError(
            f"The model must be a ConsensusClustering that was fitted to these {len(self):,} objects. Got a "
            f"{type(model).__name__} of others. Call model.fit with them first."
        )
