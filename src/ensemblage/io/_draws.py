"""Partitions drawn from a posterior: chains of draws from files, arrays, tables, ArviZ and xarray.

Of tables and arrays, which axis is that of the draws and which columns are no labels; xarray names its dimensions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.frames import as_frame
from ensemblage.base.memory import MAX_BYTES
from ensemblage.base.options import Message, Option
from ensemblage.base.text import some
from ensemblage.base.validation import Whole, Words, check_bytes, check_path, check_value, format_value
from ensemblage.io._draws_blocks import (
    Block,
    Chain,
    DrawBlocks,
    DrawSelection,
    LabelBlocks,
    NotNumbers,
    Room,
    TableBlocks,
    blocks_of_file,
    blocks_of_table,
    chains_of_array,
)
from ensemblage.labels.coding import (
    check_missing,
)
from ensemblage.labels.ensemble import Ensemble
from ensemblage.tables.arrow import arrow_table
from ensemblage.tables.formats import is_label_file

AXES = ("rows", "columns")
Axis = Literal["rows", "columns"]


@dataclass(frozen=True, eq=False)
class PosteriorDraws:
    """Draws from a posterior, chain after chain; `read_draws` makes it."""

    ensemble: Ensemble
    """The draws that are kept, as partitions; their names are the chain and the number of the draw in it, from 1."""
    chains: NDArray[np.intp]
    """(n_draws,) the chain of each draw, from 0; the draws of a chain stand side by side in their order."""
    ids: list[str]
    """Of the objects."""
    notes: tuple[str, ...] = ()
    """What was found out about the source, and how many draws were left out."""

    @property
    def n_chains(self) -> int:
        """Number of chains."""
        return int(self.chains[-1]) + 1


def read_draws(
    source: Any,
    *,
    draws_axis: Axis | None = None,
    burn_in: int = 0,
    thin: int = 1,
    variable: str | None = None,
    chain_column: str | None = None,
    id_column: str | None = None,
    missing: int | None = -1,
    has_header: bool | None = None,
    delimiter: str | None = None,
    max_bytes: int | str = MAX_BYTES,
) -> PosteriorDraws:
    """Read partitions that Markov chain Monte Carlo has drawn, from one chain or several.

    Parameters
    ----------
    source : path, array-like, data frame, InferenceData, xarray object or Ensemble; or list of the first three
        A table of whole numbers: CSV as R's ``write.csv`` makes it, Parquet, Arrow, .npy; NetCDF (.nc) of ArviZ or
        xarray; an `Ensemble` or its .npz, whose partitions are the draws. Of a list, and of an array of three axes,
        each entry is a chain.
    draws_axis : {"rows", "columns"}, optional
        Whether each row or each column of a table or matrix is a draw. It must be given where the source does not
        name its axes: the shape says nothing. xarray, NetCDF and `Ensemble` name them.
    burn_in : int, default 0
        Draws at the beginning of each chain that are left out.
    thin : int, default 1
        Of the others, every so many one is kept.
    variable : str, optional
        The labels among the variables of ArviZ or xarray. Default: the only one of whole numbers that has, beside
        chain and draw, one more dimension.
    chain_column : str, optional
        Of a table with a draw in each row: the column that says its chain. Default: ``.chain``, as R's posterior calls
        it, or one chain.
    id_column : str, optional
        Of a table with an object in each row: the column that names the objects. Default: the row names.
    missing : int or None, default -1
        As in `Ensemble`.
    has_header : bool, optional
        Whether the first row of a text table holds names. Default: if it is text, or the first cell is empty.
    delimiter : str, optional
        What stands between cells of text. Default: found out.
    max_bytes : int or str, default 2 GiB
        Most memory that reading takes at its peak, in bytes or as text such as "4GB"; a source that would take more is
        refused.

    Returns
    -------
    PosteriorDraws
        ``ensemble``, ``chains``, ``ids`` and ``notes``.

    Raises
    ------
    ValueError
        If it is not known which axis holds the draws, a label is no whole number, chains have other objects, no draw
        is left, reading would take more than ``max_bytes``, or a NetCDF file is to be read without xarray (``pip
        install ensemblage[arviz]``).

    See Also
    --------
    summarize_draws : The estimate, its credible ball, and whether the chains agree.

    Notes
    -----
    O(n p) time for n objects and p draws in the source. Text, Parquet and .npy are read in blocks, and a draw that is
    left out is not kept. Memory: 3 bytes per label that is kept (6 or 12 where labels are beyond ±127 or ±32,767), and
    64 MB for a block; besides of Parquet a row group, of Arrow and NetCDF the file. After it 1 byte per label that is
    kept, or 2 or 4 beyond 255 clusters.

    References
    ----------
    Names of columns and dimensions: R's posterior (Vehtari et al., 2021) and ArviZ (Kumar et al., 2019).

    Examples
    --------
    >>> from ensemblage.posterior import read_draws
    >>> chains = [[[0, 0, 1], [0, 0, 0], [0, 1, 1]], [[1, 1, 0], [0, 0, 1], [0, 0, 1]]]  # chains, draws, objects
    >>> draws = read_draws(chains, draws_axis="rows", burn_in=1)
    >>> draws.ensemble.shape, draws.chains, draws.ensemble.names
    ((3, 4), array([0, 0, 1, 1]), ['1.2', '1.3', '2.2', '2.3'])
    """
    check_value(draws_axis, "draws_axis of read_draws", [Words(AXES), None])
    check_value(burn_in, "burn_in of read_draws", [Whole(0)])
    check_value(thin, "thin of read_draws", [Whole(1)])
    room = Room(check_bytes(max_bytes, "max_bytes of read_draws"))
    kept = DrawSelection(burn_in, thin, check_missing(missing), room)
    options = DrawsOptions(draws_axis, chain_column, id_column, has_header, delimiter, kept)
    if isinstance(source, list | tuple) and source and all(isinstance(one, str | PathLike) for one in source):
        given = _together([_given_draws(one, options, variable) for one in source])
    else:
        given = _given_draws(source, options, variable)
    return _one_ensemble(given)


def _given_draws(source: Any, options: DrawsOptions, variable: str | None) -> GivenDraws:
    """All draws of one source."""
    name = type(source).__name__
    if isinstance(source, str | PathLike):
        file = check_path(source, "source of read_draws")
        name = file.name
        if file.suffix.lower() in NETCDF:
            options.refuse(name)
            return draws_of_netcdf(file, variable, options.kept)
        source = Ensemble.load(file) if is_label_file(file) else file
    elif is_xarray(source) and not isinstance(source, Ensemble):
        options.refuse(name)
        return draws_of_xarray(source, variable, options.kept)
    if variable is not None:
        got = f"Got {name}, which has no variables. Leave it out."
        raise ValueError(Message(Option("variable"), f" is for ArviZ, xarray and NetCDF. {got}"))
    if isinstance(source, Ensemble):
        options.refuse(name)
        return _draws_of_ensemble(source, options.kept)
    return draws_of_file(source, options) if isinstance(source, Path) else draws_of_array(source, options)


def _together(files: Sequence[GivenDraws]) -> GivenDraws:
    """The chains of several files, whose objects must be the same."""
    first = files[0]
    for one in files[1:]:
        if one.ids != first.ids or one.missing != first.missing:
            got = "other names of them" if one.ids != first.ids else "another number for missing labels"
            raise ValueError(
                f"All chains must be of the same objects in the same order. Got {got}. Use the same in every chain."
            )
    notes = dict.fromkeys(note for one in files for note in one.notes)
    return first._replace(chains=[chain for one in files for chain in one.chains], notes=tuple(notes))


def _draws_of_ensemble(ensemble: Ensemble, kept: DrawSelection) -> GivenDraws:
    """The partitions, by their codes."""
    n_draws = ensemble.shape[1]
    numbers = np.arange(n_draws)[kept.burn_in :: kept.thin]
    kept.room.take(len(ensemble) * len(numbers), 4, "the ensemble")
    codes = np.asarray(ensemble.coded.codes[:])[:, numbers].astype(np.int32)
    codes[codes == ensemble.n_clusters[numbers]] = -1
    return GivenDraws([Chain(codes.T, numbers + 1, n_draws)], None, -1)


def _one_ensemble(given: GivenDraws) -> PosteriorDraws:
    """The draws that are kept of all chains, as one ensemble."""
    chains, notes = given.chains, given.notes
    if empty := next((c for c in chains if not len(c.numbers)), None):
        raise ValueError(
            Message(
                Option("burn_in"),
                f" must leave draws of every chain. Got a chain of {empty.n_given:,}. Leave out fewer.",
            )
        )
    n = chains[0].labels.shape[1]
    if any(chain.labels.shape[1] != n for chain in chains):
        numbers = some([f"{chain.labels.shape[1]:,}" for chain in chains], 5)
        raise ValueError(f"All chains must be of the same objects. Got {numbers} objects. Give chains of one model.")
    sizes = [len(chain.labels) for chain in chains]
    names = [f"{c}.{number}" for c, chain in enumerate(chains, start=1) for number in chain.numbers.tolist()]
    labels = chains[0].labels if len(chains) == 1 else np.concatenate([chain.labels for chain in chains])
    n_given = sum(chain.n_given for chain in chains)
    if sum(sizes) < n_given:
        notes = (*notes, f"{sum(sizes):,} of {n_given:,} draws are kept, after burn-in and thinning")
    if len(set(sizes)) > 1:
        notes = (*notes, f"chains have {min(sizes):,} to {max(sizes):,} draws")
    ids = [str(i) for i in range(1, n + 1)] if given.ids is None else given.ids
    ensemble = Ensemble._made(labels.T, names=names, missing=given.missing)
    return PosteriorDraws(ensemble, np.repeat(np.arange(len(chains)), sizes), ids, notes)


CHAIN_COLUMN, COUNTERS = ".chain", (".iteration", ".draw")
"""Columns that R's posterior writes beside the variables."""


class GivenDraws(NamedTuple):
    """The draws of a source that are kept."""

    chains: list[Chain]
    ids: list[str] | None
    missing: int | None
    """The number that means "not labelled"."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class DrawsOptions:
    """What was said about a table."""

    draws_axis: str | None
    chain_column: str | None
    id_column: str | None
    has_header: bool | None
    delimiter: str | None
    kept: DrawSelection

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


def draws_of_file(file: Path, options: DrawsOptions) -> GivenDraws:
    """The draws of a text table, of one with types, or of an array of NumPy."""
    if file.suffix.lower() == ".npy":
        return draws_of_array(_load_array(file), options, file.name)
    table = blocks_of_file(file, options.delimiter, options.has_header)
    given = _draws_of_table(table, options, file.name)
    no_names = options.draws_axis == "rows" and not table.has_names
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


def _draws_of_table(table: TableBlocks, options: DrawsOptions, source: str) -> GivenDraws:
    """The draws of a table, block by block."""
    names, kept = table.names, options.kept
    n_columns = len(names) - (table.index is not None)
    axis = options.axis(source, None if table.n_rows is None else (table.n_rows, n_columns))
    place = {name: j for j, name in enumerate(names)}
    for option in ("chain_column", "id_column"):
        column = getattr(options, option)
        if column is not None and column not in place:
            got = f"Got {column!r}. Its columns are {some(names)}."
            raise ValueError(Message(Option(option), f" must name a column of {source}. {got}"))
    return (_draws_in_columns if axis == "columns" else _draws_in_rows)(table, place, options, kept, source)


def _draws_in_columns(
    table: TableBlocks, place: Mapping[str, int], options: DrawsOptions, kept: DrawSelection, source: str
) -> GivenDraws:
    """A row for each object."""
    id_column = options.id_column or table.index
    draws = [j for j, name in enumerate(table.names) if name not in (id_column, table.index)]
    columns = draws[kept.burn_in :: kept.thin]
    ids: list[str] = []
    labels = _label_blocks(table, columns, len(draws), kept, source)
    if columns and table.n_rows is not None:
        kept.room.expect(table.n_rows * len(columns), source)
    for block in table.blocks if columns else ():
        labels.add(_numbers(block, table.names, columns, options, source))
        if id_column is not None:
            ids += map(_id_text, block.values(place[id_column]))
    numbers = np.arange(1, len(draws) + 1)[kept.burn_in :: kept.thin]
    matrix = labels.matrix() if columns else np.empty((0, 0), dtype=np.int8)
    return GivenDraws([Chain(matrix.T, numbers, len(draws))], ids or None, kept.missing)


def _draws_in_rows(
    table: TableBlocks, place: Mapping[str, int], options: DrawsOptions, kept: DrawSelection, source: str
) -> GivenDraws:
    """A row for each draw."""
    chain = options.chain_column or (CHAIN_COLUMN if CHAIN_COLUMN in place else None)
    unused = [name for name in COUNTERS if name in place]
    columns = [j for j, name in enumerate(table.names) if name not in (chain, table.index, *unused)]
    draws = DrawBlocks(_label_blocks(table, columns, len(columns), kept, source))
    if chain is None and table.n_rows is not None:
        kept.room.expect(len(range(kept.burn_in, table.n_rows, kept.thin)) * len(columns), source)
    for block in table.blocks:
        values = _numbers(block, table.names, columns, options, source)
        draws.add(values, None if chain is None else _chains(block.values(place[chain]), chain, source))
    notes = [f"no labels: {', '.join(unused)}"] if unused else []
    notes += [] if chain is None else [f"chains by {chain}"]
    return GivenDraws(draws.chains(), [table.names[j] for j in columns], kept.missing, tuple(notes))


def _label_blocks(
    table: TableBlocks, columns: Sequence[int], n_labels: int, kept: DrawSelection, source: str
) -> LabelBlocks:
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
    block: Block, names: Sequence[str], columns: Sequence[int], options: DrawsOptions, source: str
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
    option = "id_column" if options.draws_axis == "columns" else "chain_column"
    raise ValueError(
        Message(
            f"Labels of {source} must be whole numbers. Got the column {name!r} of text. ",
            *("Leave it out, or name it with ", Option(option), " if that is what it is."),
        )
    )


def draws_of_array(source: Any, options: DrawsOptions, name: str = "") -> GivenDraws:
    """The draws of a matrix or a data frame; of a list of them, and of three axes, each entry is a chain."""
    name = name or type(source).__name__
    frame = as_frame(source)
    if frame is not None:
        return _draws_of_table(blocks_of_table(*arrow_table(frame)), options, name)
    if isinstance(source, list | tuple) and len(source) and all(np.ndim(one) == 2 for one in source):
        given = [draws_of_array(one, options, f"chain {c}") for c, one in enumerate(source, start=1)]
        return given[0]._replace(chains=[chain for one in given for chain in one.chains])
    array = np.asarray(source)
    if array.ndim not in (2, 3) or not array.size:
        raise ValueError(
            f"Draws must be a matrix, or an array of chains, draws and objects. Got the shape {array.shape} of {name}. "
            "Give one row or one column per draw."
        )
    options.refuse_columns(name)
    if options.axis(name, array.shape) == "columns":
        array = np.moveaxis(array, -1, -2)
    return GivenDraws(chains_of_array(array, options.kept, name, format_value(name)), None, options.kept.missing)


CHAIN, DRAW, SAMPLE, POSTERIOR = "chain", "draw", "sample", "posterior"
"""Names of ArviZ: dimensions, that of stacked chains and draws, and the group of the draws."""
NETCDF = (".nc", ".nc4", ".netcdf", ".h5")


def is_xarray(source: Any) -> bool:
    """Whether it is ArviZ's InferenceData or an object of xarray."""
    return _posterior_of(source) is not None or _is_dataset(source) or hasattr(source, "dims")


def _is_dataset(source: Any) -> bool:
    return hasattr(source, "data_vars")


def _posterior_of(source: Any) -> Any:
    """The group of draws in InferenceData or a tree of xarray; None without such a group."""
    group = getattr(source, POSTERIOR, None)
    return group if _is_dataset(group) else None


def draws_of_xarray(source: Any, variable: str | None, kept: DrawSelection) -> GivenDraws:
    """The draws of InferenceData, of a tree, a data set or a variable."""
    group, name = _posterior_of(source), type(source).__name__
    if group is None and not _is_dataset(source):
        if variable is not None and variable != source.name:
            got = f"Got {variable!r} for {source.name!r}. Leave it out."
            raise ValueError(Message(Option("variable"), f" must be the name of the array. {got}"))
        return _draws_of_variable(source, kept)
    return _draws_of_variable(_labels_among(source if group is None else group, variable, name), kept)


def draws_of_netcdf(file: Path, variable: str | None, kept: DrawSelection) -> GivenDraws:
    """The draws of a NetCDF file, in its group "posterior" or outside of groups."""
    try:
        import xarray
    except ImportError:
        raise ValueError(
            f"{file.name} must be read by the package xarray. It is not installed. pip install 'ensemblage[arviz]'."
        ) from None
    file.open("rb").close()  # an error of the system is said as such
    for group in (POSTERIOR, None):
        try:
            data = xarray.open_dataset(file, group=group)
        except (OSError, ValueError, KeyError) as error:
            if group is None:
                first_line = str(error).strip().partition("\n")[0][:120]
                raise ValueError(
                    f"{file.name} must be a NetCDF file that xarray can open. It cannot ({first_line}). "
                    "Save it again, or install h5netcdf."
                ) from None
            continue
        with data:
            if data.data_vars:
                return _draws_of_variable(_labels_among(data, variable, file.name), kept)
    raise ValueError(f"{file.name} must have a group {POSTERIOR!r} or variables. It has none. Save the draws again.")


def _labels_among(data: Any, variable: str | None, name: str) -> Any:
    """The variable that holds the labels: the one of this name, else the only one that may."""
    names = [str(key) for key in data.data_vars]
    if variable is not None:
        if variable not in names:
            got = f"Got {variable!r}. There are {some(names)}."
            raise ValueError(Message(Option("variable"), f" must name a variable of {name}. {got}"))
        return data[variable]
    found = [key for key in names if data[key].dtype.kind in "iu" and len(_object_dims(data[key])) == 1]
    found = [key for key in found if len(data[key].dims) > 1]
    if len(found) != 1:
        got = f"Got {some(found)}" if found else f"Got none among {some(names)}"
        raise ValueError(
            Message(
                f"{name} must have one variable of whole numbers with draws and objects. {got}. Name it with ",
                Option("variable"),
                ".",
            )
        )
    return data[found[0]]


def _object_dims(labels: Any) -> list[str]:
    return [str(dim) for dim in labels.dims if dim not in (CHAIN, DRAW, SAMPLE)]


def _draws_of_variable(labels: Any, kept: DrawSelection) -> GivenDraws:
    objects, name = _object_dims(labels), str(labels.name)
    is_stacked = SAMPLE in labels.dims
    if len(objects) != 1 or not (is_stacked or DRAW in labels.dims):
        got = f"Got {name!r} with {', '.join(map(str, labels.dims)) or 'none'}"
        raise ValueError(
            f"Labels must have the dimensions chain, draw and one of the objects. {got}. Rename the dimensions."
        )
    (dim,) = objects
    if is_stacked:
        ordered = labels.transpose(SAMPLE, dim)
        of_chain = ordered[CHAIN].values.tolist() if CHAIN in ordered.coords else None
        draws = DrawBlocks(LabelBlocks(kept, name, lambda _: repr(name)))
        draws.add(np.asarray(ordered.values), of_chain)
        chains = draws.chains()
    else:
        ordered = labels.transpose(CHAIN, DRAW, dim) if CHAIN in labels.dims else labels.transpose(DRAW, dim)
        chains = chains_of_array(np.asarray(ordered.values), kept, name, repr(name))
    ids = [str(value) for value in labels[dim].values.tolist()] if dim in labels.coords else None
    return GivenDraws(chains, ids, kept.missing, (f"labels: {name}, objects: {dim}",))
