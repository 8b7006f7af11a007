"""Coded labels as .npz: exact."""

import zipfile
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.atomic import atomic_write
from ensemblage.io._archive import is_damage, new_zip, read_array
from ensemblage.labels.blocks import LabelRows, MemoryRows
from ensemblage.labels.coding import CodedColumns, check_labelled, check_names, code_dtype
from ensemblage.labels.threads import row_blocks

FORMAT = 1
WRITTEN_BYTES = 2**24
"""Most bytes of codes that are written at once."""


def save_npz(coded: CodedColumns, missing: int | None, path: Path) -> None:
    """Write format 1: codes, categories, names and the number that means missing, one .npy member each."""
    arrays: dict[str, Any] = {f"categories_{j}": c for j, c in enumerate(coded.categories)}
    arrays["ensemblage_format"] = np.array(FORMAT)
    arrays["names"] = np.array(coded.names, dtype=str)
    arrays["missing"] = np.array([] if missing is None else [missing], dtype=np.int64)
    with atomic_write(path, "wb") as file, new_zip(file) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)
        with archive.open("codes.npy", "w", force_zip64=True) as member:
            _write_rows(member, coded.codes)


def _write_rows(file: IO[bytes], codes: LabelRows) -> None:
    """What numpy.save writes, of codes that are in memory block by block only."""
    descr = np.lib.format.dtype_to_descr(codes.dtype)
    np.lib.format.write_array_header_1_0(file, {"descr": descr, "fortran_order": False, "shape": codes.shape})
    for rows in row_blocks(len(codes), max(1, WRITTEN_BYTES // (codes.shape[1] * codes.dtype.itemsize))):
        file.write(np.ascontiguousarray(codes[rows]).data)


def load_npz(path: Path, _: int | None) -> tuple[CodedColumns, int | None]:
    """The columns, checked, and the number that means missing there; ValueError if the file is damaged or too new."""
    with open(path, "rb") as file:  # what the system says of the file is its own error
        try:
            with zipfile.ZipFile(file) as archive:
                version = int(read_array(archive, "ensemblage_format").item())
                if version <= FORMAT:
                    return _read_format_1(archive)
        except Exception as error:
            if not is_damage(error):
                raise
            reason = " ".join(str(error).split()) or type(error).__name__
            raise ValueError(
                f"A .npz file must be one that Ensemble.save wrote. Got {str(path)!r} ({reason[:200]}). "
                "Save the ensemble again."
            ) from None
    raise ValueError(
        f"{str(path)!r} must be of format {FORMAT}, the newest that this version of ensemblage knows. Got format "
        f"{version}, which a newer ensemblage wrote. Upgrade ensemblage."
    )


def _read_format_1(archive: zipfile.ZipFile) -> tuple[CodedColumns, int | None]:
    codes, names, missing = (read_array(archive, name) for name in ("codes", "names", "missing"))
    if names.dtype.kind != "U" or names.shape != codes.shape[1:]:
        raise ValueError("names are not one text per partition")
    if missing.dtype != np.int64 or missing.ndim != 1 or len(missing) > 1:
        raise ValueError("missing is not a whole number")
    categories = tuple(read_array(archive, f"categories_{j}") for j in range(len(names)))
    check_coded(codes, categories, names.tolist())
    coded = CodedColumns(MemoryRows(np.ascontiguousarray(codes)), categories, names.tolist())
    return coded, missing.tolist()[0] if len(missing) else None


def check_coded(codes: NDArray[Any], categories: tuple[NDArray[Any], ...], names: list[str]) -> None:
    """Refuse what `code_labels` never returns, and names that are none."""
    for labels in categories:
        if labels.ndim != 1 or labels.dtype.kind not in "iufU" or not labels.dtype.isnative:
            raise ValueError("categories are no labels")
        labels.tolist()  # fails where a character is none
        if not (labels[:-1] < labels[1:]).all() or (labels.dtype.kind == "f" and not np.isfinite(labels).all()):
            raise ValueError("categories are not distinct labels in sorted order")
    limits = np.array([len(labels) for labels in categories])
    if codes.ndim != 2 or codes.dtype != code_dtype(categories) or (codes > limits).any() or codes.min() < 0:
        raise ValueError("codes do not fit the categories")
    check_labelled(categories, check_names(names, len(categories)))
