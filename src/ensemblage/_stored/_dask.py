"""The ensemble whose codes lie on the workers of a Dask cluster."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage._ensemble import DistinctRows, Ensemble
from ensemblage._once import once
from ensemblage._stored._coding import union, without_missing
from ensemblage._stored._distinct import first_at_least, merged
from ensemblage._validation import shown
from ensemblage.counting._distinct import distinct_rows
from ensemblage.labels._checks import check_each_labelled, check_missing, check_names, check_size
from ensemblage.labels._coding import CodedColumns, Coding, code_dtype
from ensemblage.labels._matrices import code_labels
from ensemblage.rows.blocks import SUM_ROWS
from ensemblage.rows.dask import Blocks, RemoteRows, check_client, gathered, part_of

HELD_BYTES = 2**24
"""Distinct rows are brought here if they take at most so much."""
MOST_ROWS = 2**23
"""Rows of the largest block of distinct rows. Few blocks, for every call costs two tasks per block."""


class DaskEnsemble(Ensemble):
    """An ensemble whose codes lie on the workers of a cluster. Made by `Ensemble.from_dask`.

    Here are O(n) numbers: counts and places of the distinct rows, and results.
    """

    def __init__(self, coded: CodedColumns, missing: int | None) -> None:
        self._set(coded, None, missing)

    @once
    def distinct(self) -> DistinctRows:
        """The distinct label rows, how many objects have each, and each object's place among them."""
        rows, counts, inverse = distinct_rows_on_workers(self.codes.blocks, self.n_clusters + 1, self.codes)
        counts.flags.writeable = False
        fits = rows.shape[0] * rows.shape[1] * rows.dtype.itemsize <= HELD_BYTES
        return DistinctRows(rows[:] if fits else rows, counts, inverse)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        raise ValueError(
            f"Labels on a cluster are not held in memory. Got {len(self):,} objects by {self.shape[1]} partitions. "
            "Take some of them: ensemble[rows]."
        )

    def _with(self, coded: CodedColumns, missing: int | None) -> DaskEnsemble:
        return DaskEnsemble(coded, missing)


def ensemble_on_cluster(parts: Any, client: Any, names: Sequence[str] | None, missing: int | None) -> DaskEnsemble:
    """Do what `Ensemble.from_dask` does."""
    missing, client = check_missing(missing), check_client(client, "from_dask")
    given = _futures(parts, client)
    shapes = gathered(client, [client.submit(shape_of, part, pure=False) for part in given])
    widths = sorted({len(shape) > 1 and shape[1] for shape in shapes})
    if len(widths) > 1 or not widths[0]:
        got = f"{widths[0]} and {widths[-1]} columns" if widths[0] else "a part that is no matrix"
        raise ValueError(
            f"Parts of a label matrix must have the same columns. Got {got}. "
            "Give matrices of objects by partitions, cut by rows only."
        )
    titles = None if names is None else check_names(names, int(widths[0]))
    given = [part for part, shape in zip(given, shapes, strict=True) if shape[0]]
    check_size(len(given), int(widths[0]))
    edges = np.concatenate([[0], np.cumsum([shape[0] for shape in shapes if shape[0]], dtype=np.int64)])
    found = gathered(client, [client.submit(categories_of, part, pure=False) for part in given])
    categories = tuple(
        without_missing(union_of(labels, j), missing) for j, labels in enumerate(zip(*found, strict=True))
    )
    codes = [client.submit(codes_of, part, categories, pure=False) for part in given]
    rows = RemoteRows(Blocks(client, codes, edges), int(widths[0]), code_dtype(categories))
    ensemble = DaskEnsemble(CodedColumns(rows, categories, titles), missing)
    check_each_labelled(ensemble.categories, ensemble.names)
    return ensemble


def _futures(parts: Any, client: Any) -> list[Any]:
    """Parts as futures: what Dask can make again stays so, arrays are sent to the workers."""
    if hasattr(parts, "to_delayed"):
        delayed = np.asarray(parts.to_delayed())
        if delayed.ndim == 2 and delayed.shape[1] > 1:
            raise ValueError(
                "A Dask array of labels must be cut by rows only. "
                f"Got {delayed.shape[1]} blocks of columns. Use array.rechunk({{1: -1}})."
            )
        parts = delayed.ravel().tolist()
    if not isinstance(parts, Iterable):
        raise TypeError(
            f"Parts of a label matrix must be a Dask array or a list of matrices. Got {shown(parts)}. Give one of them."
        )
    parts = list(parts)
    if not parts:
        raise ValueError("Parts of a label matrix must be at least one. Got none. Give one matrix or more.")
    return [_future(part, client) for part in parts]


def _future(part: Any, client: Any) -> Any:
    if hasattr(part, "__dask_graph__"):
        return client.compute(part)
    return part if hasattr(part, "key") and hasattr(part, "status") else client.scatter(np.asarray(part), hash=False)


def union_of(labels: Sequence[NDArray[Any]], j: int) -> NDArray[Any]:
    found: NDArray[Any] | None = None
    for some in labels:
        found = union(found, some, str(j))
    assert found is not None
    return found


def distinct_rows_on_workers(
    blocks: Blocks, radices: NDArray[np.int64], codes: RemoteRows
) -> tuple[RemoteRows, NDArray[np.int64], NDArray[Any]]:
    """What `distinct_rows` returns, with the rows on the workers: sorted runs, cut at samples, merged piece by piece.

    Blocks have a multiple of `SUM_ROWS` rows, so that float sums are cut as in memory. Here arrive the samples, the
    counts, and 8 bytes per object for their places.
    """
    client, n_runs = blocks.client, len(blocks.futures)
    runs = [blocks.submit(distinct_rows, part, radices) for part in blocks.futures]
    sizes = gathered(client, [blocks.submit(n_rows_of, run) for run in runs])
    step = max(1, -(-sum(sizes) // n_runs) // (2 * n_runs))
    samples = sorted(
        row for rows in gathered(client, [blocks.submit(sample, run, step) for run in runs]) for row in rows
    )
    cuts = samples[n_runs::n_runs]
    bounds = gathered(client, [blocks.submit(bounds_in, run, cuts) for run in runs])
    pieces = [
        blocks.submit(
            merged_of,
            radices,
            *(blocks.submit(slice_of, run, b[i], b[i + 1]) for run, b in zip(runs, bounds, strict=True)),
        )
        for i in range(len(cuts) + 1)
    ]
    counts = gathered(client, [blocks.submit(itemgetter(1), piece) for piece in pieces])
    places = gathered(client, [blocks.submit(itemgetter(2), piece) for piece in pieces])
    inverses = gathered(client, [blocks.submit(itemgetter(2), run) for run in runs])
    edges = np.concatenate([[0], np.cumsum([len(c) for c in counts])])
    index: Any = np.int32 if len(codes) < 2**31 else np.int64
    of_runs = [
        np.concatenate([start + place[r] for start, place in zip(edges[:-1], places, strict=True)])
        for r in range(n_runs)
    ]
    inverse = np.concatenate([place[i] for place, i in zip(of_runs, inverses, strict=True)]).astype(index)
    n_blocks = sum(client.nthreads().values())
    rows = Blocks(client, [blocks.submit(itemgetter(0), piece) for piece in pieces], edges)
    size = max(1, -(-min(-(-int(edges[-1]) // n_blocks), MOST_ROWS) // SUM_ROWS)) * SUM_ROWS
    return RemoteRows(rows.aligned(size), codes.shape[1], codes.dtype), np.concatenate(counts), inverse


# -- What workers do --------------------------------------------------------------------------------------------------


def shape_of(part: Any) -> tuple[int, ...]:
    return tuple(getattr(part, "shape", ()))


def categories_of(part: Any) -> tuple[NDArray[Any], ...]:
    return code_labels(part, None).categories


def codes_of(part: Any, categories: tuple[NDArray[Any], ...]) -> Any:
    return Coding(categories, None).encode(code_labels(part, None), warn=False)


def n_rows_of(run: tuple[Any, ...]) -> int:
    return len(run[0])


def sample(run: tuple[Any, ...], step: int) -> list[tuple[int, ...]]:
    return [tuple(row) for row in run[0][::step].tolist()]


def bounds_in(run: tuple[Any, ...], cuts: list[tuple[int, ...]]) -> list[int]:
    return [0, *(first_at_least(run[0], cut) for cut in cuts), len(run[0])]


def slice_of(run: tuple[Any, ...], start: int, stop: int) -> tuple[Any, Any]:
    return part_of(run[0], start, stop), part_of(run[1], start, stop)


def merged_of(radices: NDArray[np.int64], *parts: tuple[Any, Any]) -> tuple[Any, Any, Any]:
    return merged(radices, [rows for rows, _ in parts], [counts for _, counts in parts])
