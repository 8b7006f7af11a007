"""Partitions drawn from a posterior: chains of draws from files, arrays, ArviZ and xarray."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.memory import MAX_BYTES
from ensemblage.base.options import Message, Option
from ensemblage.base.text import some
from ensemblage.base.validation import Whole, Words, check_bytes, check_path, check_value
from ensemblage.io._draws_labels import Chain, Kept, Room
from ensemblage.io._draws_table import GivenDraws, TableWishes, draws_of_array, draws_of_file
from ensemblage.io._draws_xarray import NETCDF, draws_of_netcdf, draws_of_xarray, is_xarray
from ensemblage.io._formats import is_label_file
from ensemblage.labels.coding import check_missing
from ensemblage.labels.ensemble import Ensemble

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
    >>> from ensemblage import read_draws
    >>> chains = [[[0, 0, 1], [0, 0, 0], [0, 1, 1]], [[1, 1, 0], [0, 0, 1], [0, 0, 1]]]  # chains, draws, objects
    >>> draws = read_draws(chains, draws_axis="rows", burn_in=1)
    >>> draws.ensemble.shape, draws.chains, draws.ensemble.names
    ((3, 4), array([0, 0, 1, 1]), ['1.2', '1.3', '2.2', '2.3'])
    """
    check_value(draws_axis, "draws_axis of read_draws", [Words(AXES), None])
    check_value(burn_in, "burn_in of read_draws", [Whole(0)])
    check_value(thin, "thin of read_draws", [Whole(1)])
    room = Room(check_bytes(max_bytes, "max_bytes of read_draws"))
    kept = Kept(burn_in, thin, check_missing(missing), room)
    wishes = TableWishes(draws_axis, chain_column, id_column, has_header, delimiter, kept)
    if isinstance(source, list | tuple) and source and all(isinstance(one, str | PathLike) for one in source):
        given = _together([_given_draws(one, wishes, variable) for one in source])
    else:
        given = _given_draws(source, wishes, variable)
    return _one_ensemble(given)


def _given_draws(source: Any, wishes: TableWishes, variable: str | None) -> GivenDraws:
    """All draws of one source."""
    name = type(source).__name__
    if isinstance(source, str | PathLike):
        file = check_path(source, "source of read_draws")
        name = file.name
        if file.suffix.lower() in NETCDF:
            wishes.refuse(name)
            return draws_of_netcdf(file, variable, wishes.kept)
        source = Ensemble.load(file) if is_label_file(file) else file
    elif is_xarray(source) and not isinstance(source, Ensemble):
        wishes.refuse(name)
        return draws_of_xarray(source, variable, wishes.kept)
    if variable is not None:
        got = f"Got {name}, which has no variables. Leave it out."
        raise ValueError(Message(Option("variable"), f" is for ArviZ, xarray and NetCDF. {got}"))
    if isinstance(source, Ensemble):
        wishes.refuse(name)
        return _draws_of_ensemble(source, wishes.kept)
    return draws_of_file(source, wishes) if isinstance(source, Path) else draws_of_array(source, wishes)


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


def _draws_of_ensemble(ensemble: Ensemble, kept: Kept) -> GivenDraws:
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
