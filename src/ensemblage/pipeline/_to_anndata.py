"""What was found of each object, beside it in ``.obs``."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage._version import __version__
from ensemblage.base.atomic import Place
from ensemblage.base.options import Message, Option
from ensemblage.base.renamed import renamed_parameters
from ensemblage.base.validation import check_fitted, check_flag, format_value
from ensemblage.metrics import verdicts
from ensemblage.metrics._confidence import VERDICTS
from ensemblage.tables.h5ad import File, library, open_anndata

KEY = "consensus"
ENDINGS = ("", "_confidence", "_verdict", "_runner_up")
WRITTEN_BY = "ensemblage"
"""Of ``.uns[key]``: the version that wrote it."""


@renamed_parameters(key="key_added")
def to_anndata(model: Any, adata: Any, key_added: str = KEY, *, copy: bool = False, overwrite: bool = False) -> Any:
    """Use it after a fit on cells: write clusters and confidence into an AnnData object.

    ``.obs[key_added]`` has the clusters as categories "0", "1", ..., NaN for none, as scanpy's partitions are;
    ``.obs[key_added + "_confidence"]`` and ``.obs[key_added + "_verdict"]`` have the confidence of each ("core",
    "border" or "undecided"), and ``.obs[key_added + "_runner_up"]`` the next best cluster.
    ``.uns[key_added]["params"]`` has the method and its parameters.

    Parameters
    ----------
    model : fitted consensus, or ResolutionChoice
        Of a label matrix, `ConsensusClustering`, or what `choose_resolution` has found, with an object per row of
        ``adata``, in the same order.
    adata : AnnData
        Where it is written, in place.
    key_added : str, default "consensus"
        Name of the column; those of the others begin with it.
    copy : bool, default False
        Leave ``adata`` as it is, and write into a copy.
    overwrite : bool, default False
        Replace columns of these names that something else wrote. Those of an earlier call are replaced always.

    Returns
    -------
    AnnData or None
        The copy, if one was asked for.

    Raises
    ------
    NotFittedError
        If the model is not fitted.
    ValueError
        If it is of another number of objects, columns of these names are there, or anndata is not installed.

    Notes
    -----
    O(n) time and 20 bytes per object.

    Examples
    --------
    >>> import anndata
    >>> import numpy as np
    >>> import pandas as pd
    >>> from ensemblage import Ensemble, to_anndata
    >>> from ensemblage.consensus import KMeansConsensus
    >>> obs = pd.DataFrame({"leiden_1": list("aabb"), "leiden_2": list("xxyz")}, index=list("pqrs"))
    >>> adata = anndata.AnnData(np.zeros((4, 2)), obs=obs.astype("category"))
    >>> model = KMeansConsensus(2, random_state=0).fit(Ensemble.from_anndata(adata))
    >>> to_anndata(model, adata)
    >>> adata.obs["consensus"].tolist()
    ['0', '0', '1', '1']
    >>> adata.obs["consensus_verdict"].tolist()
    ['core', 'core', 'core', 'core']
    >>> adata.uns["consensus"]["params"]["method"]
    'KMeansConsensus'
    """
    library()
    choice = model
    if hasattr(choice, "plateaus"):  # of the resolution
        if choice.consensus is None:
            raise ValueError(f"The choice has no clusters to write. {choice.sentence}")
        model = choice.consensus
    check_fitted(model)
    if isinstance(adata, str | PathLike):
        raise TypeError(
            f"adata of to_anndata must be an AnnData object. Got {format_value(adata)}. Read the file first."
        )
    target = open_anndata(adata)
    replaces = check_flag(overwrite, "overwrite of to_anndata")
    columns, noted = columns_of(model, key_added), notes_of(choice)
    check_length(model, target.n_obs)
    check_key(key_added, target.obs.columns, target.uns, replaces)
    target = target.copy() if check_flag(copy, "copy of to_anndata") else target
    for name, values in columns.items():
        target.obs[name] = values
    target.uns[key_added] = noted
    return target if copy else None


def columns_of(
    model: Any, key: str, rows: NDArray[np.intp] | None = None, n_objects: int | None = None
) -> dict[str, Any]:
    """By name what is written of each object; of ``n_objects``, only those in ``rows`` were fitted."""
    import pandas as pd

    def of_all(values: Any, otherwise: float) -> NDArray[Any]:
        if rows is None:
            return np.asarray(values)
        spread = np.full(n_objects or 0, otherwise, dtype=np.asarray(values).dtype)
        spread[rows] = values
        return spread

    numbers = model.cluster_numbers_
    categories = np.array([str(number) for number in numbers], dtype=object)

    def clusters(labels: NDArray[np.int32]) -> Any:
        return pd.Categorical.from_codes(of_all(labels, -1), categories=categories)

    confidence = of_all(model.confidence_, np.nan)
    places = [VERDICTS.index(word) if word else -1 for word in verdicts(confidence)]
    values = (
        clusters(model.labels_),
        confidence,
        pd.Categorical.from_codes(places, np.array(VERDICTS, dtype=object)),
        clusters(model.runner_up_),
    )
    return {f"{key}{ending}": column for ending, column in zip(ENDINGS, values, strict=True)}


def notes_of(model: Any) -> dict[str, Any]:
    """What ``.uns`` has of a model or a choice: parameters but for those that are not given, and the version."""
    of_choice = {}
    if hasattr(model, "plateaus"):
        of_choice = {"resolution": model.resolution, "stability": model.plateau.stability, "evidence": model.evidence}
        model = model.consensus
    chosen = getattr(model, "consensus_", model)
    params = {name: _plain(value) for name, value in chosen.get_params(deep=False).items() if value is not None}
    params |= {"method": type(chosen).__name__, "n_clusters": int(model.n_clusters_)} | of_choice
    left = {name: value for name, value in params.items() if name not in ("n_jobs", "progress")}
    return {"params": left, WRITTEN_BY: __version__}


def _plain(value: Any) -> Any:
    """A value that a .h5ad file can hold."""
    if isinstance(value, bool | int | float | str):
        return value
    try:
        return json.dumps(value)
    except (TypeError, ValueError):
        return repr(value)


def check_length(model: Any, n: int) -> None:
    """The objects are as many as were fitted."""
    fitted = len(model.labels_)
    if fitted != n:
        raise ValueError(
            f"adata must have the {fitted:,} objects that were fitted. Got {n:,}. Give the same ones in the same order."
        )


def check_key(key: Any, columns: Any, uns: Mapping[str, Any], overwrite: bool) -> None:
    """The names are free, or those of an earlier call."""
    if not isinstance(key, str) or not key or "/" in key:
        got = f" must be a name without a slash. Got {format_value(key)}. Give 'consensus', for example."
        raise ValueError(Message(Option("key_added"), got))
    taken = [column for ending in ENDINGS if (column := f"{key}{ending}") in columns]
    known = uns.get(key) if key in uns else None
    is_ours = isinstance(known, Mapping) and WRITTEN_BY in known
    if (taken or key in uns) and not is_ours and not overwrite:
        got = f"{taken[0]!r} in .obs" if taken else f"{key!r} in .uns"
        raise ValueError(
            Message(
                f"The key must be new, or one that ensemblage wrote. Got {got}. Choose another ",
                Option("key_added"),
                ", or ",
                Option("overwrite", True),
                ".",
            )
        )


def has_columns(path: Path, columns: Mapping[str, Any]) -> bool:
    """Whether a file has these columns in ``.obs``."""
    import pandas as pd

    obs = open_anndata(path).obs
    return all(name in obs and obs[name].equals(pd.Series(v, index=obs.index)) for name, v in columns.items())


def write_copy(path: Path, target: Path, columns: Mapping[str, Any], key: str, noted: Mapping[str, Any]) -> None:
    """A copy of a .h5ad file with further columns in ``.obs``, and ``.uns[key]``: all else is copied byte by byte.

    Nothing of the file is read into memory, unless anndata before 0.7 wrote it. The copy appears under its name when it
    is whole.
    """
    with Place.of(target).new() as new:
        adata = open_anndata(path)
        if isinstance(adata, File):
            shutil.copyfile(path, new)
            _add(new, columns, key, noted)
        else:
            for column, values in columns.items():
                adata.obs[column] = values
            adata.uns[key] = dict(noted)
            adata.write_h5ad(new)


def _add(path: Path, columns: Mapping[str, Any], key: str, noted: Mapping[str, Any]) -> None:
    """Put columns and notes into a file."""
    import h5py
    from anndata.io import write_elem

    with h5py.File(path, "r+") as file:
        obs = file["obs"]
        order = [str(column) for column in obs.attrs["column-order"]]
        for column, values in columns.items():
            write_elem(obs, column, values)
        obs.attrs["column-order"] = np.array([*order, *(c for c in columns if c not in order)], dtype=object)
        if "uns" not in file:
            write_elem(file, "uns", {})
        write_elem(file["uns"], key, dict(noted))
