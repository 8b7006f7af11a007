"""The workers of a Dask cluster for estimators that are fitted to label rows in memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.validation import format_value
from ensemblage.rows.blocks import SUM_ROWS, row_blocks
from ensemblage.rows.dask import Blocks, RemoteRows, scatter
from ensemblage.rows.memory import MemoryRows, _workers
from ensemblage.rows.protocol import LabelRows


class ScatteredRows:
    """Code matrices that are here and were sent to the workers, each of them once."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self._scattered: list[tuple[NDArray[Any], RemoteRows]] = []

    def scatter(self, rows: MemoryRows) -> LabelRows:
        """The rows on the workers, in one block per thread; a small matrix stays here."""
        n_rows, n_columns = rows.shape
        if n_rows <= SUM_ROWS:
            return rows
        array = rows.unwrap()
        for known, remote in self._scattered:
            if known.__array_interface__ == array.__array_interface__:
                return remote
        # Float sums are cut as here.
        size = -(-n_rows // (SUM_ROWS * sum(self.client.nthreads().values()))) * SUM_ROWS
        slices = row_blocks(n_rows, size)
        futures = scatter(self.client, array, slices)
        edges = np.array([0, *(block.stop for block in slices)])
        self._scattered.append((array, RemoteRows(Blocks(self.client, futures, edges), n_columns, array.dtype)))
        return self._scattered[-1][1]


@contextmanager
def parallel_backend(client: Any) -> Iterator[None]:
    """Use it to run consensus methods on a Dask cluster: the workers do the passes of the fits inside the block.

    For label matrices that fit the memory here. Their distinct rows are found here and sent to the workers once; then
    every pass over them runs there. The result is bitwise identical, and ``n_jobs`` has no effect. Labels that do
    not fit the memory, or lie on the cluster already, are for `Ensemble.from_dask`.

    Parameters
    ----------
    client : distributed.Client
        Yours to open and to close. Only its ``submit``, ``scatter``, ``gather`` and ``nthreads`` are used.

    Yields
    ------
    None
        The workers are used until the block ends.

    Raises
    ------
    ValueError
        If ``client`` is not a client.

    Notes
    -----
    Methods that must see all rows at once (docs/SCALE.md) and ensembles of at most 16,384 distinct rows stay here, and
    so do metrics, rankers, base clusterings and ``predict``. What was sent lives as long as the block. If a worker is
    lost, the fit fails with a RuntimeError that says so and has to be done again: nothing else has the rows, unlike
    those of `Ensemble.from_dask`.

    Examples
    --------
    >>> from distributed import Client  # doctest: +SKIP
    >>> with Client() as client, ensemblage.parallel_backend(client=client):  # doctest: +SKIP
    ...     labels = KMeansConsensus(20).fit_predict(ensemble)
    """
    check_client(client, "parallel_backend")
    token = _workers.set(ScatteredRows(client))
    try:
        yield
    finally:
        _workers.reset(token)


def check_client(client: Any, name: str) -> Any:
    """What has the methods of a `distributed.Client` that are used."""
    if isinstance(client, type) or not all(hasattr(client, m) for m in ("submit", "scatter", "gather", "nthreads")):
        raise ValueError(
            f"client of {name} must be a Client of dask.distributed. Got {format_value(client)}. Give the client of "
            f"your cluster."
        )
    return client
