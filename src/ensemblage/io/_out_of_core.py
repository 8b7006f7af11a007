"""Ensembles whose codes are not in memory: on disk, or on the workers of a Dask cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.validation import check_bytes, check_path, format_value
from ensemblage.io._stored_labels import Source, source_of
from ensemblage.labels.coding import (
    CodedColumns,
    Coding,
    check_missing,
    check_names,
    check_noise,
    check_size,
    code_dtype,
    code_labels,
    vote_noise,
)
from ensemblage.labels.dask import Blocks, RemoteRows, check_client, gather, send
from ensemblage.labels.disk import Scratch, StoredRows, room_beside_state, write_array
from ensemblage.labels.ensemble import Ensemble

STATE = 36
"""Most bytes per object that methods keep while they work, `h-km` left out (measured: docs/SCALE.md)."""
BATCH_ROWS = 2**18
"""Most rows that are read and coded at a time."""


NAMED = {"labels": "a label matrix", "features": "features"}
"""What parts are of, in messages."""


class StoredEnsemble(Ensemble):
    """An ensemble whose labels lie on disk as codes, in a temporary folder that goes with it.

    Made by `Ensemble.open`. ``codes`` gives blocks of rows, or a few rows. Metrics, rankers and estimators that work by
    blocks of rows give results bitwise identical to those in memory; others raise an error. Methods on distinct
    label rows run in any case if those fit into an eighth of ``memory``.
    """


class DaskEnsemble(Ensemble):
    """An ensemble whose codes lie on the workers of a cluster. Made by `Ensemble.from_dask`.

    Here are O(n) numbers: counts and places of the distinct rows, and results.
    """


def open_ensemble(
    path: str | PathLike[str],
    names: Sequence[str] | None,
    missing: int | None,
    noise: str,
    memory: int | str,
    scratch: str | PathLike[str] | None,
) -> Ensemble:
    """Do what `Ensemble.open` does: two passes over the file, ``rows_at_once`` rows at a time."""
    missing, n_bytes = check_missing(missing), check_bytes(memory, "memory")
    voted = check_noise(noise, missing)
    source = source_of(check_path(path, "path"))
    n, p = source.shape
    names = source.names if names is None else check_names(names, p)
    rows_at_once = max(1, min(BATCH_ROWS, room_beside_state(n_bytes, n, STATE) // (40 * p)))
    with Scratch(scratch, n_bytes).or_removed() as folder:
        titles = [f"{name!r} of {str(source.path)!r}" for name in source.names or range(p)]
        of_batches = (categories_of_part(batch, voted) for batch in _batches(source, rows_at_once))
        categories = union_of_parts(of_batches, titles, missing)
        dtype = code_dtype(categories)
        folder.check_room(n * p * dtype.itemsize)
        with folder.writing("codes") as file:
            for batch in _batches(source, rows_at_once):
                write_array(file, codes_of_part(batch, categories, voted))
    rows = StoredRows(folder.file("codes"), (n, p), dtype, scratch=folder)
    return StoredEnsemble._of(CodedColumns(rows, categories, None), missing, names, is_new=True)


def _batches(source: Source, rows_at_once: int) -> Iterator[Any]:
    """Matrices or tables of at most so many rows; an error at the end if they were not those announced."""
    n_read = 0
    for batch in source.read(rows_at_once):
        n_read += len(batch)
        yield batch
    if n_read != source.shape[0]:
        raise ValueError(
            f"{str(source.path)!r} must hold the {source.shape[0]:,} rows of its header. Got {n_read:,}. Save it again."
        )


def ensemble_on_cluster(
    parts: Any, client: Any, names: Sequence[str] | None, missing: int | None, noise: str
) -> Ensemble:
    """Do what `Ensemble.from_dask` does."""
    missing, client = check_missing(missing), check_client(client, "from_dask")
    voted = check_noise(noise, missing)
    given = futures_of(parts, client)
    shapes = gather(client, [client.submit(shape_of, part, pure=False) for part in given])
    widths = sorted({len(shape) > 1 and shape[1] for shape in shapes})
    if len(widths) > 1 or not widths[0]:
        got = f"{widths[0]} and {widths[-1]} columns" if widths[0] else "a part that is no matrix"
        raise ValueError(
            f"Parts of a label matrix must have the same columns. Got {got}. "
            "Give matrices of objects by partitions, cut by rows only."
        )
    p, lengths = int(widths[0]), [shape[0] for shape in shapes if shape[0]]
    names = None if names is None else check_names(names, p)
    check_size(len(lengths), p)
    futures = [part for part, shape in zip(given, shapes, strict=True) if shape[0]]
    parts = Blocks(client, futures, np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]))
    found = parts.gather(categories_of_part, futures, voted)
    categories = union_of_parts(found, [str(j) for j in range(p)], missing)
    codes = Blocks(client, parts.map(codes_of_part, futures, categories, voted), parts.edges)
    rows = RemoteRows(codes, p, code_dtype(categories))
    return DaskEnsemble._of(CodedColumns(rows, categories, None), missing, names, is_new=True)


def shape_of(part: Any) -> tuple[int, ...]:
    return tuple(getattr(part, "shape", ()))


def futures_of(parts: Any, client: Any, what: str = "labels") -> list[Any]:
    """Parts as futures: what Dask can make again stays so, arrays are sent to the workers."""
    if hasattr(parts, "to_delayed"):
        delayed = np.asarray(parts.to_delayed())
        if delayed.ndim == 2 and delayed.shape[1] > 1:
            raise ValueError(
                f"A Dask array of {what} must be cut by rows only. "
                f"Got {delayed.shape[1]} blocks of columns. Use array.rechunk({{1: -1}})."
            )
        parts = delayed.ravel().tolist()
    if not isinstance(parts, Iterable):
        raise TypeError(
            f"Parts of {NAMED[what]} must be a Dask array or a list of matrices. Got {format_value(parts)}. Give a "
            f"Dask array or a list of matrices."
        )
    parts = list(parts)
    if not parts:
        raise ValueError(f"Parts of {NAMED[what]} must be at least one. Got none. Give one matrix or more.")
    return [_future(part, client, what == "features") for part in parts]


def _future(part: Any, client: Any, keeps_frames: bool) -> Any:
    if hasattr(part, "__dask_graph__"):
        return client.compute(part)
    if hasattr(part, "key") and hasattr(part, "status"):
        return part
    return send(client, part if keeps_frames and hasattr(part, "columns") else np.asarray(part))


def categories_of_part(part: Any, noise: int | None = None) -> tuple[NDArray[Any], ...]:
    """The labels in each column of a part; a number that means "missing" is still one of them, unless it is voted on.

    noise : label of the objects in no cluster on which partitions vote; None: they do not
    """
    return _code_part(part, noise).categories


def union_of_parts(
    of_parts: Iterable[tuple[NDArray[Any], ...]], titles: Sequence[str], missing: int | None
) -> tuple[NDArray[Any], ...]:
    """The labels in each column of all parts, as of one matrix; ``titles`` say in errors which column it is."""
    parts = iter(of_parts)
    found = list(next(parts))
    for part in parts:
        found = [_union(*labels) for labels in zip(found, part, titles, strict=True)]
    return tuple(_without_missing(labels, missing) for labels in found)


def codes_of_part(part: Any, categories: tuple[NDArray[Any], ...], noise: int | None = None) -> NDArray[Any]:
    """(n, p) codes of a part; those that the whole matrix would have."""
    codes: NDArray[Any] = Coding(categories, None).encode(_code_part(part, noise), warn=False)[:]
    return codes


def _code_part(part: Any, noise: int | None) -> CodedColumns:
    """The rows of a part as codes of their own; votes are of one row each, so that a part has those of the whole."""
    coded = code_labels(part, None)
    return coded if noise is None else vote_noise(coded, noise)


def _union(known: NDArray[Any], new: NDArray[Any], title: str) -> NDArray[Any]:
    """The labels of two parts of a column."""
    if not len(known):
        return new
    if not len(new) or np.array_equal(known, new):
        return known
    if "U" in (known.dtype.kind, new.dtype.kind) and known.dtype.kind != new.dtype.kind:
        raise ValueError(
            f"Labels of one partition must be all numbers or all text. Got both in partition {title}. "
            "Write that column as text in every part."
        )
    known, new = _as_signed(known), _as_signed(new)
    if "u" in (known.dtype.kind, new.dtype.kind):
        least = min(known[0], new[0])
        if "f" in (known.dtype.kind, new.dtype.kind) or least < 0:
            raise ValueError(
                f"Whole numbers that are labels must be from −2⁶³ to 2⁶³ − 1, or from 0 to 2⁶⁴ − 1. Got {least} and "
                f"{max(known[-1], new[-1])} in partition {title}. Convert that column to text in every part."
            )
        known, new = known.astype(np.uint64), new.astype(np.uint64)
    return np.union1d(known, new)


def _as_signed(labels: NDArray[Any]) -> NDArray[Any]:
    """Sorted labels, as int64 if they are unsigned and fit."""
    return labels.astype(np.int64) if labels.dtype.kind == "u" and labels[-1] < 2**63 else labels


def _without_missing(labels: NDArray[Any], missing: int | None) -> NDArray[Any]:
    """The labels of a whole column without the number that means missing."""
    return labels if missing is None or labels.dtype.kind == "U" else labels[labels != missing]
