"""Draws in tables and arrays: which axis is that of the draws, which columns are no labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.options import Message, Option
from ensemblage.base.text import some
from ensemblage.base.validation import format_value
from ensemblage.io._arrow import arrow_table
from ensemblage.io._draws_blocks import Block, NotNumbers, TableBlocks, blocks_of_file, blocks_of_table
from ensemblage.io._draws_labels import Chain, DrawBlocks, Kept, LabelBlocks, chains_of_array
from ensemblage.labels.coding import as_frame

CHAIN, COUNTERS = ".chain", (".iteration", ".draw")
"""Columns that R's posterior writes beside the variables."""


class GivenDraws(NamedTuple):
    """The draws of a source that are kept."""

    chains: list[Chain]
    ids: list[str] | None
    missing: int | None
    """The number that means "not labelled"."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class TableWishes:
    """What was said about a table."""

    draws_axis: str | None
    chain_column: str | None
    id_column: str | None
    has_header: bool | None
    delimiter: str | None
    kept: Kept

    def refuse(self, name: str) -> None:
        """Refuse options about axes for a source that names its axes."""
        for option in ("draws_axis", "chain_column", "id_column"):
            if getattr(self, option) is not None:
                raise ValueError(
                    Message(
                        Option(option), f" is for tables and arrays. Got {name}, which names its axes. Leave it out."
                    )
                )

    def axis(self, name: str, shape: tuple[int, ...] | None) -> str:
        """The axis of the draws, which must be given; the shape is None where it is not known yet."""
        if self.draws_axis is None:
            size = "" if shape is None else f", {' × '.join(f'{length:,}' for length in shape)},"
            raise ValueError(
                Message(
                    Option("draws_axis"),
                    f" must say which axis of {name} holds the draws. Its shape{size} does not. Add ",
                    Option("draws_axis", "rows"),
                    " if each row is a draw, ",
                    Option("draws_axis", "columns"),
                    " if each column is one.",
                )
            )
        unused = "chain_column" if self.draws_axis == "columns" else "id_column"
        if getattr(self, unused) is not None:
            other = "rows" if unused == "chain_column" else "columns"
            raise ValueError(
                Message(Option(unused), " must go with ", Option("draws_axis", other), f". Got {name}. Leave it out.")
            )
        return self.draws_axis

    def refuse_columns(self, name: str) -> None:
        """Refuse names of columns for a source without columns."""
        for option in ("chain_column", "id_column"):
            if getattr(self, option) is not None:
                raise ValueError(Message(Option(option), f" is for tables. Got {name}. Leave it out."))


def draws_of_file(file: Path, wishes: TableWishes) -> GivenDraws:
    """The draws of a text table, of one with types, or of an array of NumPy."""
    if file.suffix.lower() == ".npy":
        return draws_of_array(_load_array(file), wishes, file.name)
    table = blocks_of_file(file, wishes.delimiter, wishes.has_header)
    given = _draws_of_table(table, wishes, file.name)
    no_names = wishes.draws_axis == "rows" and not table.has_names
    return given._replace(ids=None if no_names else given.ids, notes=(*given.notes, *table.notes))


def _load_array(file: Path) -> NDArray[Any]:
    """The array of a .npy file, on disk until it is used."""
    try:
        array = np.load(file, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError):
        raise ValueError(
            f"A .npy file of draws must be one that numpy.save wrote, of numbers. Got {file.name}. Save it again."
        ) from None
    return np.asarray(array)


def _draws_of_table(table: TableBlocks, wishes: TableWishes, source: str) -> GivenDraws:
    """The draws of a table, block by block."""
    names, kept = table.names, wishes.kept
    n_columns = len(names) - (table.index is not None)
    axis = wishes.axis(source, None if table.n_rows is None else (table.n_rows, n_columns))
    place = {name: j for j, name in enumerate(names)}
    for option in ("chain_column", "id_column"):
        column = getattr(wishes, option)
        if column is not None and column not in place:
            got = f"Got {column!r}. Its columns are {some(names)}."
            raise ValueError(Message(Option(option), f" must name a column of {source}. {got}"))
    return (_draws_in_columns if axis == "columns" else _draws_in_rows)(table, place, wishes, kept, source)


def _draws_in_columns(
    table: TableBlocks, place: Mapping[str, int], wishes: TableWishes, kept: Kept, source: str
) -> GivenDraws:
    """A row for each object."""
    id_column = wishes.id_column or table.index
    draws = [j for j, name in enumerate(table.names) if name not in (id_column, table.index)]
    columns = draws[kept.burn_in :: kept.thin]
    ids: list[str] = []
    labels = _label_blocks(table, columns, len(draws), kept, source)
    if columns and table.n_rows is not None:
        kept.room.expect(table.n_rows * len(columns), source)
    for block in table.blocks if columns else ():
        labels.add(_numbers(block, table.names, columns, wishes, source))
        if id_column is not None:
            ids += map(_id_text, block.values(place[id_column]))
    numbers = np.arange(1, len(draws) + 1)[kept.burn_in :: kept.thin]
    matrix = labels.matrix() if columns else np.empty((0, 0), dtype=np.int8)
    return GivenDraws([Chain(matrix.T, numbers, len(draws))], ids or None, kept.missing)


def _draws_in_rows(
    table: TableBlocks, place: Mapping[str, int], wishes: TableWishes, kept: Kept, source: str
) -> GivenDraws:
    """A row for each draw."""
    chain = wishes.chain_column or (CHAIN if CHAIN in place else None)
    unused = [name for name in COUNTERS if name in place]
    columns = [j for j, name in enumerate(table.names) if name not in (chain, table.index, *unused)]
    draws = DrawBlocks(_label_blocks(table, columns, len(columns), kept, source))
    if chain is None and table.n_rows is not None:
        kept.room.expect(len(range(kept.burn_in, table.n_rows, kept.thin)) * len(columns), source)
    for block in table.blocks:
        values = _numbers(block, table.names, columns, wishes, source)
        draws.add(values, None if chain is None else _chains(block.values(place[chain]), chain, source))
    notes = [f"no labels: {', '.join(unused)}"] if unused else []
    notes += [] if chain is None else [f"chains by {chain}"]
    return GivenDraws(draws.chains(), [table.names[j] for j in columns], kept.missing, tuple(notes))


def _label_blocks(table: TableBlocks, columns: Sequence[int], n_labels: int, kept: Kept, source: str) -> LabelBlocks:
    if not n_labels:
        raise ValueError(f"{source} must have columns of labels. It has none. Save the draws again.")
    return LabelBlocks(kept, source, lambda j: f"column {table.names[columns[j]]!r} of {source}")


def _chains(values: list[Any], name: str, source: str) -> list[Any]:
    """The chain of each draw."""
    if n_missing := sum(value is None or value != value for value in values):
        raise ValueError(
            f"Every draw must have a chain. Got {n_missing:,} without one in {name!r} of {source}. Fill the column."
        )
    return values


def _id_text(value: Any) -> str:
    """The name of an object; whole numbers come as floats of text tables."""
    return str(int(value) if isinstance(value, float) and value.is_integer() else value)


def _numbers(
    block: Block, names: Sequence[str], columns: Sequence[int], wishes: TableWishes, source: str
) -> NDArray[Any]:
    """(rows, columns) the cells of some columns, NaN for none."""
    try:
        return block.numbers(columns)
    except NotNumbers as error:
        name, kind = names[error.column], error.kind
    if kind != "text":
        raise ValueError(
            f"Labels must be whole numbers. Got {kind} in column {name!r} of {source}. Number the clusters."
        )
    option = "id_column" if wishes.draws_axis == "columns" else "chain_column"
    raise ValueError(
        Message(
            f"Labels of {source} must be whole numbers. Got the column {name!r} of text. ",
            *("Leave it out, or name it with ", Option(option), " if that is what it is."),
        )
    )


def draws_of_array(source: Any, wishes: TableWishes, name: str = "") -> GivenDraws:
    """The draws of a matrix or a data frame; of a list of them, and of three axes, each entry is a chain."""
    name = name or type(source).__name__
    frame = as_frame(source)
    if frame is not None:
        return _draws_of_table(blocks_of_table(*arrow_table(frame)), wishes, name)
    if isinstance(source, list | tuple) and len(source) and all(np.ndim(one) == 2 for one in source):
        given = [draws_of_array(one, wishes, f"chain {c}") for c, one in enumerate(source, start=1)]
        return given[0]._replace(chains=[chain for one in given for chain in one.chains])
    array = np.asarray(source)
    if array.ndim not in (2, 3) or not array.size:
        raise ValueError(
            f"Draws must be a matrix, or an array of chains, draws and objects. Got the shape {array.shape} of {name}. "
            "Give one row or one column per draw."
        )
    wishes.refuse_columns(name)
    if wishes.axis(name, array.shape) == "columns":
        array = np.moveaxis(array, -1, -2)
    return GivenDraws(chains_of_array(array, wishes.kept, name, format_value(name)), None, wishes.kept.missing)
