"""Partitions in ``.obs`` of AnnData, in memory or in a file that may be cut off: a sound result, or a sentence."""

from __future__ import annotations

import warnings
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import anndata
import numpy as np
import pandas as pd
from fuzz_calls import VOTING, matrix, outcome, sound
from fuzz_files import command
from scipy import sparse

from ensemblage import METHODS, Ensemble, make_consensus, to_anndata

COLUMNS = ["leiden_*", "leiden_?", "*", "leiden_0", ["leiden_0", "leiden_1"], "louvain", [], "leiden_[01]"]
KEYS = ["consensus", "x", "leiden_0", "a/b", "", "größe"]
COLUMN_KINDS = ("categories", "text", "whole", "fractions", "missing", "far", "truth", "object", "ordered", "nullable")


def column(labels: np.ndarray, draw: Random) -> Any:
    """Labels as a column of ``.obs`` may have them, -1 = missing."""
    kind, known = draw.choice(COLUMN_KINDS), labels >= 0
    if kind in ("categories", "ordered"):
        return pd.Categorical(np.where(known, labels.astype(str), None), ordered=kind == "ordered")
    if kind == "text":
        return np.array([f"cluster {value}" for value in labels])
    if kind == "whole":
        return labels
    if kind == "fractions":
        return np.where(known, labels / draw.choice([1, 2]), np.nan)
    if kind == "missing":
        return np.full(len(labels), draw.choice([np.nan, None, -1]))
    if kind == "far":
        return np.where(known, labels * draw.choice([1e300, 2.0**53, 1e18, -1e17]), np.nan)
    if kind == "truth":
        return labels > 0
    if kind == "nullable":
        return pd.array(np.where(known, labels, 0), dtype="Int64")
    return np.array([draw.choice([None, 1, "1", "a"]) if value < 0 else str(value) for value in labels], dtype=object)


def cells(draw: Random) -> Any:
    labels, rng = matrix(draw), np.random.default_rng(draw.getrandbits(32))
    n, p = labels.shape
    obs = {f"leiden_{j}": column(labels[:, j], draw) for j in range(p)}
    X = sparse.random(n, 4, 0.5, format="csr", random_state=rng)
    adata = anndata.AnnData(
        draw.choice([X, X.toarray(), X.astype(np.float32), None]),
        obs=pd.DataFrame(obs, index=[f"{'c' * draw.randrange(2)}{i}" for i in range(n)]),
    )
    if draw.random() < 0.5:
        adata.obsm["X_pca"] = rng.normal(size=(n, 3))
    return adata


@cache
def stored(folder: Path) -> bytes:
    """A file of sound cells."""
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 3, 40)
    obs = {f"leiden_{j}": pd.Categorical(np.where(rng.random(40) < 0.1, 0, kind).astype(str)) for j in range(3)}
    adata = anndata.AnnData(
        sparse.random(40, 5, 0.5, format="csr", random_state=0),
        obs=pd.DataFrame(obs, index=[f"cell{i}" for i in range(40)]),
        obsm={"X_pca": np.eye(3)[kind] + 0.1 * rng.normal(size=(40, 3))},
    )
    adata.write_h5ad(folder / "sound.h5ad")
    return (folder / "sound.h5ad").read_bytes()


def case(draw: Random, folder: Path) -> str:
    return of_half_a_file(draw, folder) if draw.random() < 0.3 else of_cells(draw, folder)


def of_cells(draw: Random, folder: Path) -> str:
    adata, columns, key = cells(draw), draw.choice(COLUMNS[:3] * 5 + COLUMNS), draw.choice(KEYS[:1] * 5 + KEYS)
    name = draw.choice(["km", "acv", "eac-average", "hbgf", "majority", "lwea"])
    k = draw.choice([1, 2, 2, 3, *([None] if METHODS[name].finds_k else [])])
    told = f"cells {adata.shape} {columns} {key!r} {name} k={k} {dict(adata.obs.dtypes.astype(str))}"
    source: Any = adata
    if draw.random() < 0.3:
        source = folder / "cells.h5ad"
        try:
            adata.write_h5ad(source)
        except Exception:  # columns that AnnData does not write
            return "not written by AnnData"

    def fitted() -> Any:
        ensemble = Ensemble.from_anndata(source, columns)
        model = make_consensus(name, k).fit(ensemble)
        written = to_anndata(model, adata, key, copy=True, overwrite=draw.random() < 0.5)
        return ensemble, model, written

    def check(found: Any) -> None:
        ensemble, model, written = found
        assert len(ensemble) == adata.n_obs == len(written), "objects"
        sound(model, adata.n_obs, None if name in VOTING else k)
        clusters = [-1 if value != value else int(value) for value in written.obs[key]]
        assert clusters == model.labels_.tolist(), "clusters in .obs"
        assert key in written.uns, "parameters in .uns"
        for other in adata.obs.columns.drop(key, errors="ignore"):
            assert written.obs[other].equals(adata.obs[other]), f".obs {other} as it was"
        for known in ensemble.names:  # equal labels stay equal, different ones different
            pairs = pd.DataFrame(
                {"given": adata.obs[known], "code": np.asarray(ensemble)[:, ensemble.names.index(known)]}
            )
            pairs = pairs[pairs["given"].notna()].astype(str).drop_duplicates()
            assert pairs["given"].is_unique, f"labels of {known}"
        assert set(ensemble.names) <= set(adata.obs.columns), "names"

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return outcome(told, fitted, check)


def of_half_a_file(draw: Random, folder: Path) -> str:
    # Cut off, as half a copy is: from other bytes in its place HDF5 itself may make a loop without an end.
    path, content = folder / "damaged.h5ad", stored(folder)
    path.write_bytes(content[: draw.randrange(len(content))])
    reader = draw.choice(["from_anndata", "from_anndata", "combine", "run", "generate"])
    if reader == "from_anndata":
        return outcome(f"half of {path.name}", lambda: Ensemble.from_anndata(path), lambda _: None)
    arguments = {
        "combine": ("-k", 2, "-o", folder / "out.h5ad", "--overwrite"),
        "run": ("-k", 2, "--partitions", 2, "-o", folder / "out.h5ad", "--overwrite"),
        "generate": ("--partitions", 2, "-o", folder / "out.npz", "--overwrite"),
    }
    return command(reader, path, *arguments[reader])
