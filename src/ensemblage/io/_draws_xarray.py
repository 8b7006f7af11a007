"""Draws of ArviZ and xarray, whose dimensions are named; in memory and in NetCDF files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ensemblage.base.options import Message, Option
from ensemblage.base.text import some
from ensemblage.io._draws_labels import DrawBlocks, Kept, LabelBlocks, chains_of_array
from ensemblage.io._draws_table import GivenDraws

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


def draws_of_xarray(source: Any, variable: str | None, kept: Kept) -> GivenDraws:
    """The draws of InferenceData, of a tree, a data set or a variable."""
    group, name = _posterior_of(source), type(source).__name__
    if group is None and not _is_dataset(source):
        if variable is not None and variable != source.name:
            got = f"Got {variable!r} for {source.name!r}. Leave it out."
            raise ValueError(Message(Option("variable"), f" must be the name of the array. {got}"))
        return _draws_of_variable(source, kept)
    return _draws_of_variable(_labels_among(source if group is None else group, variable, name), kept)


def draws_of_netcdf(file: Path, variable: str | None, kept: Kept) -> GivenDraws:
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
                raise ValueError(
                    f"{file.name} must be a NetCDF file that xarray can open. It cannot ({_first_line(error)}). "
                    "Save it again, or install h5netcdf."
                ) from None
            continue
        with data:
            if data.data_vars:
                return _draws_of_variable(_labels_among(data, variable, file.name), kept)
    raise ValueError(f"{file.name} must have a group {POSTERIOR!r} or variables. It has none. Save the draws again.")


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0][:120]


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


def _draws_of_variable(labels: Any, kept: Kept) -> GivenDraws:
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
