"""Graphs cut into parts: METIS (balanced) or the normalised cut (not)."""

from __future__ import annotations

import ctypes
import importlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from ensemblage.base.random import task_seeds
from ensemblage.base.validation import Constraints, Flag, Number, Seed, Whole, Words
from ensemblage.consensus._base import BaseConsensus
from ensemblage.consensus._capabilities import Capabilities
from ensemblage.consensus.graphs._ncut import CheckMore, normalized_cut
from ensemblage.labels.rows import Rows, object_rows
from ensemblage.labels.threads import one_native_thread, row_blocks

TOLERANCE = 0.03
"""Share by which the largest part may exceed the mean where ``imbalance`` is METIS' own."""
WHOLE = 10**8
"""What the whole edge weights of a graph add up to (Strehl & Ghosh's own code); more where there are more edges."""

CUTTER_CONSTRAINTS: Constraints = {
    "partitioner": [Words(["metis", "spectral"])],
    "recursive": [Flag()],
    "imbalance": [Number(above=0), None],
}
"""What `Cutter.of` looks at."""


class GraphConsensus(BaseConsensus):
    """A method that makes a graph of the ensemble and cuts it into ``n_clusters`` parts."""

    _parameter_constraints: ClassVar[Constraints] = {
        "n_clusters": [Whole(1)],
        "random_state": [Seed()],
    }

    partitioner: str

    def _fit(self, rows: Rows) -> NDArray[Any]:
        k = self._check_n_clusters(rows)
        parts = self._parts(rows, k)
        # As many clusters as rows are the rows, also where a balance or votes would leave some parts empty.
        return renumber_parts(parts) if k < len(rows) else np.arange(k)

    def _parts(self, rows: Rows, k: int) -> NDArray[np.int64]:
        """Part of each row, from 0 to k - 1; some may be empty."""
        raise NotImplementedError

    def _check_enough_labels(self, rows: Rows, k: int) -> None:
        """Raise unless the partitions have so many clusters in all."""
        d = int(rows.n_clusters.sum())
        if k > d:
            raise ValueError(
                f"n_clusters of {type(self).__name__} must be ≤ the {d} clusters of all partitions. Got {k}. "
                "Ask for fewer clusters or add partitions."
            )


CUTS_OBJECTS = "cuts a graph of all objects"
"""Why the rows of most of these must be in memory."""


class ObjectGraph(GraphConsensus):
    """A method that cuts a graph of the objects: a cut with parts of given sizes may part twins."""

    _parameter_constraints: ClassVar[Constraints] = {"distinct": [Flag()]}

    distinct: bool

    def _restrict(self, able: Capabilities) -> Capabilities:
        return replace(super()._restrict(able), sample_weight=self._joins_twins(), must_link=self.distinct)

    def _joins_twins(self) -> bool:
        """Whether objects of equal labels are one vertex."""
        return self.distinct or self.partitioner in ("spectral", "transfer")

    def _make_rows(self, rows: Rows) -> Rows:
        if self._joins_twins():
            return rows
        if rows.sample_weight is not None:
            raise ValueError(
                f"{type(self).__name__} must have distinct=True, or the normalised cut, with sample_weight. Got "
                f"distinct=False, in which every object is a vertex. Set distinct=True, or repeat the "
                "rows of X: np.repeat(X, sample_weight, axis=0)."
            )
        return object_rows(rows)


class Cutter(NamedTuple):
    """How a graph is cut, and for whom."""

    owner: str
    partitioner: str
    recursive: bool
    imbalance: float | None
    seed: int
    n_init: int = 1
    """Runs of METIS."""

    @classmethod
    def of(cls, estimator: Any, n_init: int = 1) -> Cutter:
        """The cutter that an estimator's parameters ask for."""
        (seed,) = task_seeds(estimator.random_state, 1).tolist()
        imbalance = None if estimator.imbalance is None else float(estimator.imbalance)
        owner, recursive = type(estimator).__name__, bool(estimator.recursive)
        return cls(owner, estimator.partitioner, recursive, imbalance, seed, n_init)

    def cut(
        self, graph: csr_array, sizes: NDArray[np.int64], n_parts: int, diagonal: Any, check_more: CheckMore
    ) -> NDArray[np.int64]:
        """Part of each vertex; ``graph`` has no diagonal.

        ``diagonal`` (a number, or one per vertex) is what the normalised cut puts there; ``check_more`` is its own.
        """
        if self.partitioner == "metis":
            return self.cut_by_metis(graph, sizes, n_parts)
        with_loops = graph + diags_array(np.broadcast_to(diagonal, sizes.shape))
        with one_native_thread():
            random = np.random.RandomState(self.seed)
            return normalized_cut(with_loops, sizes, n_parts, random, check_more=check_more)

    def cut_by_metis(self, graph: csr_array, sizes: NDArray[np.int64], n_parts: int) -> NDArray[np.int64]:
        """Parts of nearly equal total size that cut little weight; some may be empty.

        Of ``n_init`` runs the one that cuts the least, of those whose largest part is no larger than that of the first
        run or than the imbalance allows; the first of equals. So more runs never cut more, nor give up the balance.
        """
        pymetis = import_partitioner("pymetis", self.owner, "pip install pymetis")
        if n_parts == 1:
            return np.zeros(len(sizes), dtype=np.int64)
        graph = round_weights(graph)
        adjacency = pymetis.CSRAdjacency(graph.indptr.astype(np.int64), graph.indices.astype(np.int64))
        options = {} if self.imbalance is None else {"ufactor": max(1, round(1000 * min(self.imbalance, n_parts)))}
        tolerance = TOLERANCE if self.imbalance is None else self.imbalance
        largest, least, best = (1 + tolerance) * float(sizes.sum()) / n_parts, np.inf, np.empty(0, dtype=np.int64)
        for run, seed in enumerate([self.seed, *task_seeds(self.seed, self.n_init - 1).tolist()]):
            with _silent():
                cut, found = pymetis.part_graph(
                    n_parts,
                    adjacency=adjacency,
                    recursive=self.recursive,
                    options=pymetis.Options(seed=seed % (2**31 - 1), **options),
                    vweights=sizes,
                    eweights=graph.data,
                )
            parts = np.array(found, dtype=np.int64)
            heaviest = float(np.bincount(parts, weights=sizes).max())
            if run == 0:
                largest = max(largest, heaviest)
            if heaviest <= largest and cut < least:
                least, best = cut, parts
        return best


@contextmanager
def _silent() -> Iterator[None]:
    """Keep METIS from writing to standard output, where the caller may be writing an answer.

    It complains there where a part stays empty. Python's other threads do not write meanwhile: METIS holds the GIL.
    """
    try:
        stdout = os.dup(1)
    except OSError:
        yield
        return
    if sys.stdout is not None:
        sys.stdout.flush()
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), 1)
    try:
        yield
    finally:
        # What C's library has buffered for standard output, where Python finds that library.
        with suppress(OSError, TypeError, AttributeError):
            ctypes.CDLL("ucrtbase" if os.name == "nt" else None).fflush(None)
        os.dup2(stdout, 1)
        os.close(stdout)


def import_partitioner(module: str, owner: str, install: str) -> Any:
    """Import what a partitioner needs, or say how to do without."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(
            f"{owner} needs {module} for this partitioner. It cannot be imported. Run "
            f"`{install}`, if there is a wheel for your platform, or give partitioner='spectral'."
        ) from error


def whole_weights(weights: NDArray[Any], total: int = WHOLE) -> NDArray[np.int64]:
    """Whole numbers in proportion to the weights that add up to about ``total``."""
    sum_ = weights.sum()
    return np.asarray(np.rint(weights * (total / sum_ if sum_ > 0 else 0)), dtype=np.int64)


def metis_bytes(n_vertices: int, n_entries: int) -> int:
    """Bytes that METIS and its input take at most for a graph of so many vertices and entries (two per edge).

    Each level of coarsening halves the vertices and holds 16 bytes per entry; without twins among the merged edges none
    of them vanish until the graph is complete. The input has whole weights and places, and a copy of the graph.
    """
    levels = [min(n_entries, (n_vertices >> level) ** 2) for level in range(max(n_vertices, 1).bit_length())]
    return 40 * n_entries + 16 * sum(levels) + 200 * n_vertices


def round_weights(graph: csr_array) -> csr_array:
    """The graph with whole weights; edges whose weight rounds to 0 vanish."""
    total = max(WHOLE, 1000 * graph.nnz)
    whole = csr_array((whole_weights(graph.data, total), graph.indices, graph.indptr), shape=graph.shape)
    whole.eliminate_zeros()
    return whole


def renumber_parts(parts: NDArray[Any]) -> NDArray[np.int32]:
    """(m,) numbers of the parts from 0, in order, empty parts left out. O(m) time, 12 m bytes."""
    is_used = np.zeros(int(parts.max()) + 1, dtype=bool)
    for block in row_blocks(len(parts)):
        is_used[parts[block]] = True
    numbers = np.cumsum(is_used, dtype=np.int32) - 1
    found: NDArray[np.int32] = numbers[parts]
    return found
