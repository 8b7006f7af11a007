"""Draws in tables and arrays: which axis is that of the draws, which columns are no labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.options import Message, Option
from ensemblage.base.text import some
from ensemblage.base.validation import format_value
from ensemblage.ensemble._arrays import as_frame
from ensemblage.io._arrow import arrow_table, read_typed
from ensemblage.io._bytes import base_name, read_bytes, text_bytes
from ensemblage.io._formats import format_of, table_format
from ensemblage.io._numbers import is_number

CHAIN, COUNTERS = ".chain", (".iteration", ".draw")
"""Columns that R's posterior writes beside the variables."""
LARGEST = 2**31 - 1
"""Labels are at most so large."""


class GivenDraws(NamedTuple):
    """All draws of a source."""

    chains: list[NDArray[Any]]
    """Each (n_draws, n_objects), whole numbers."""
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
    missing: int | None
    has_header: bool | None
    delimiter: str | None

    def refuse(self, name: str) -> None:
        """Refuse options about axes for a source that names its axes."""
        for option in ("draws_axis", "chain_column", "id_column"):
            if getattr(self, option) is not None:
                raise ValueError(
                    Message(
                        Option(option), f" is for tables and arrays. Got {name}, which names its axes. Leave it out."
                    )
                )

    def axis(self, name: str, shape: tuple[int, ...]) -> str:
        """The axis of the draws, which must be given."""
        if self.draws_axis is None:
            size = " × ".join(f"{length:,}" for length in shape)
            raise ValueError(
                Message(
                    Option("draws_axis"),
                    f" must say which axis of {name} holds the draws. Its shape, {size}, does not. Add ",
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
    name, content = base_name(file), read_bytes(file)
    form = table_format(name)
    if form.cells == "workbook" or ((found := format_of(name)) is not None and not found.table):
        raise ValueError(
            f"Draws must be CSV, Parquet, Arrow, .npy, .npz or NetCDF. Got {file.name}. Save them in such a file."
        )
    if form.cells == "typed":
        table, index = read_typed(content, name, form)
        return _draws_of_columns(table, list(table.column_names), index, wishes, file.name)
    text = text_bytes(content, name)
    split, layout = form.function("table")(text, name, wishes.delimiter, wishes.has_header)
    if layout.has_header and wishes.has_header is None and all(map(is_number, layout.header)):
        first = some(layout.header, 4)
        raise ValueError(
            Message(
                f"The first row of {file.name} must be names or a draw. Got {first}, which may be both. Add ",
                *(Option("has_header", True), " or ", Option("has_header", False), "."),
            )
        )
    names = [column or f"column_{j}" for j, column in enumerate(layout.header, start=1)]
    index = None if layout.header[0] else names[0]
    given = _draws_of_columns(split(True), names, index, wishes, file.name)
    no_names = wishes.draws_axis == "rows" and not layout.has_header
    return given._replace(ids=None if no_names else given.ids, notes=(*given.notes, *layout.notes()))


def _load_array(file: Path) -> NDArray[Any]:
    try:
        array = np.load(file, allow_pickle=False)
    except (ValueError, EOFError):
        raise ValueError(
            f"A .npy file of draws must be one that numpy.save wrote, of numbers. Got {file.name}. Save it again."
        ) from None
    return np.asarray(array)


def _draws_of_columns(
    table: Any, names: Sequence[str], index: str | None, wishes: TableWishes, source: str
) -> GivenDraws:
    """The draws of an Arrow table, whose columns have these names; ``index`` is that of the row names."""
    axis = wishes.axis(source, (table.num_rows, len(names) - (index is not None)))
    place = {name: j for j, name in enumerate(names)}
    for option in ("chain_column", "id_column"):
        column = getattr(wishes, option)
        if column is not None and column not in place:
            got = f"Got {column!r}. Its columns are {some(names)}."
            raise ValueError(Message(Option(option), f" must name a column of {source}. {got}"))
    notes = []
    if axis == "columns":
        id_column = wishes.id_column or index
        labels = [j for j, name in enumerate(names) if name != id_column and name != index]
        ids = None if id_column is None else [_id_text(value) for value in table.column(place[id_column]).to_pylist()]
        return GivenDraws([_whole_matrix(table, names, labels, wishes, source).T], ids, wishes.missing)
    chain = wishes.chain_column or (CHAIN if CHAIN in place else None)
    unused = [name for name in COUNTERS if name in place]
    if unused:
        notes.append(f"no labels: {', '.join(unused)}")
    labels = [j for j, name in enumerate(names) if name not in (chain, index, *unused)]
    matrix, ids = _whole_matrix(table, names, labels, wishes, source), [names[j] for j in labels]
    if chain is None:
        return GivenDraws([matrix], ids, wishes.missing, tuple(notes))
    column = table.column(place[chain]).combine_chunks()
    if column.null_count:
        raise ValueError(
            f"Every draw must have a chain. Got {column.null_count:,} without one in {chain!r} of {source}. Fill the "
            "column."
        )
    numbers = column.dictionary_encode().indices.to_numpy()
    notes.append(f"chains by {chain}")
    chains = [matrix[numbers == c] for c in np.unique(numbers)]
    return GivenDraws(chains, ids, wishes.missing, tuple(notes))


def _id_text(value: Any) -> str:
    """The name of an object; whole numbers come as floats of text tables."""
    return str(int(value) if isinstance(value, float) and value.is_integer() else value)


def _whole_matrix(
    table: Any, names: Sequence[str], columns: Sequence[int], wishes: TableWishes, source: str
) -> NDArray[np.int32]:
    """(rows, columns) the cells of some columns as labels."""
    if not columns:
        raise ValueError(f"{source} must have columns of labels. It has none. Save the draws again.")
    matrix = np.empty((table.num_rows, len(columns)), dtype=np.int32)
    for j, column in enumerate(columns):
        values = table.column(column)
        if str(values.type).startswith(("string", "large_string", "dictionary")):
            option = "id_column" if wishes.draws_axis == "columns" else "chain_column"
            raise ValueError(
                Message(
                    f"Labels of {source} must be whole numbers. Got the column {names[column]!r} of text. ",
                    *("Leave it out, or name it with ", Option(option), " if that is what it is."),
                )
            )
        array = values.to_numpy()  # with nulls: floats, NaN there
        matrix[:, j] = _whole(array, wishes.missing, f"column {names[column]!r} of {source}")
    return matrix


def _whole(values: NDArray[Any], missing: int | None, subject: str) -> NDArray[Any]:
    """Numbers as labels; NaN becomes the number that means missing."""
    if values.dtype.kind == "b":
        return values.astype(np.int32)
    if values.dtype.kind not in "iuf":
        raise ValueError(f"Labels must be whole numbers. Got {values.dtype} in {subject}. Number the clusters.")
    if values.dtype.kind == "f":
        absent = np.isnan(values)
        if absent.any():
            if missing is None:
                got = f"Got none in {subject}. Give the number that means so."
                raise ValueError(Message("Every object must have a label where ", Option("missing", None), f". {got}"))
            values = np.where(absent, missing, values)
        with np.errstate(invalid="ignore"):
            is_whole = np.isfinite(values) & (values == np.rint(values))
        if not is_whole.all():
            raise ValueError(
                f"Labels must be whole numbers. Got {float(values[~is_whole][0]):g} in {subject}. Give the clusters "
                "of the objects, not parameters of the model."
            )
    if values.size and (values.min() < -LARGEST or values.max() > LARGEST):
        raise ValueError(
            f"Labels must be at most {LARGEST:,}. Got a larger one in {subject}. Number the clusters anew."
        )
    return values


def draws_of_array(source: Any, wishes: TableWishes, name: str = "") -> GivenDraws:
    """The draws of a matrix or a data frame; of a list of them, and of three axes, each entry is a chain."""
    name = name or type(source).__name__
    frame = as_frame(source)
    if frame is not None:
        table, index = arrow_table(frame)
        return _draws_of_columns(table, list(table.column_names), index, wishes, name)
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
    axis = wishes.axis(name, array.shape)
    labels = _whole(array, wishes.missing, format_value(name))
    chains = list(labels) if array.ndim == 3 else [labels]
    return GivenDraws([chain if axis == "rows" else chain.T for chain in chains], None, wishes.missing)
