"""Ensembles on disk: .npz (exact) and .csv (readable), written whole or not at all, read without pickle."""

from __future__ import annotations

import csv
import errno
import os
import re
import tempfile
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from math import prod
from os import PathLike
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ensemblage._ensemble import Ensemble, check_missing
from ensemblage._labels import CodedColumns, code_dtype, code_objects
from ensemblage._npy import read_header
from ensemblage._parallel import row_blocks
from ensemblage._validation import check_path, shown

FORMAT = 1
WRITTEN_BYTES = 2**24
"""Most bytes of codes that are written at once."""


@contextmanager
def written_whole(path: str | PathLike[str], mode: str = "w", **options: Any) -> Iterator[IO[Any]]:
    """Open a file that appears under its name only when the block ends without an error."""
    target = check_path(path, "The name of a file to write")
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(target)) from None
    try:
        with os.fdopen(handle, mode, **options) as file:
            yield file
        os.chmod(name, 0o666 & ~_umask())
        os.replace(name, target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def save(ensemble: Ensemble, path: str | PathLike[str]) -> None:
    file = check_path(path, "path")
    _by_suffix(file, save_npz, save_csv)(ensemble, file)


def load(path: str | PathLike[str], missing: int | None) -> Ensemble:
    file, missing = check_path(path, "path"), check_missing(missing)
    ensemble: Ensemble = _by_suffix(file, lambda p, _: load_npz(p), load_csv)(file, missing)
    return ensemble


def _by_suffix(path: Path, npz: Callable[..., Any], csv_: Callable[..., Any]) -> Callable[..., Any]:
    suffix = path.suffix.lower()
    if suffix not in (".npz", ".csv"):
        raise ValueError(
            f"The name of an ensemble's file must end in .npz or .csv. Got {str(path)!r}. "
            "Use .npz to keep everything exactly, .csv to read it elsewhere."
        )
    return npz if suffix == ".npz" else csv_


def save_npz(ensemble: Ensemble, path: Path) -> None:
    arrays: dict[str, Any] = {f"categories_{j}": c for j, c in enumerate(ensemble.categories)}
    arrays["ensemblage_format"] = np.array(FORMAT)
    arrays["names"] = np.array(ensemble.names, dtype=str)
    arrays["missing"] = np.array([] if ensemble.missing is None else [ensemble.missing], dtype=np.int64)
    with written_whole(path, "wb") as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)
        with archive.open("codes.npy", "w", force_zip64=True) as member:
            _write_rows(member, ensemble.codes)


def _write_rows(file: IO[bytes], codes: Any) -> None:
    """What numpy.save writes, of codes that are in memory block by block only."""
    descr = np.lib.format.dtype_to_descr(codes.dtype)
    np.lib.format.write_array_header_1_0(file, {"descr": descr, "fortran_order": False, "shape": codes.shape})
    for rows in row_blocks(len(codes), max(1, WRITTEN_BYTES // (codes.shape[1] * codes.dtype.itemsize))):
        file.write(np.ascontiguousarray(codes[rows]).data)


def load_npz(path: Path) -> Ensemble:
    with open(path, "rb") as file:  # what the system says of the file is its own error
        try:
            with zipfile.ZipFile(file) as archive:
                version = int(_array(archive, "ensemblage_format").item())
                coded, missing = _coded(archive) if version <= FORMAT else (None, None)
                if coded is not None:
                    return Ensemble._of(coded, missing)
        except Exception as error:
            # Damage ends in any error of zipfile and zlib; only a disk that fails is another matter.
            if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
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


def _coded(archive: zipfile.ZipFile) -> tuple[CodedColumns, int | None]:
    """The columns and the number that means missing, of format 1."""
    codes, names, missing = (_array(archive, name) for name in ("codes", "names", "missing"))
    if names.dtype.kind != "U" or names.shape != codes.shape[1:]:
        raise ValueError("names are not one text per partition")
    if missing.dtype != np.int64 or missing.ndim != 1 or len(missing) > 1:
        raise ValueError("missing is not a whole number")
    categories = tuple(_array(archive, f"categories_{j}") for j in range(len(names)))
    _check_codes(codes, categories)
    coded = CodedColumns(np.ascontiguousarray(codes), categories, names.tolist())
    return coded, missing.tolist()[0] if len(missing) else None


def _array(archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    """An array of the archive. No memory is taken for one whose header announces more than there is."""
    info = archive.getinfo(f"{name}.npy")
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ValueError("it is compressed in another way")
    with archive.open(info) as member:
        shape, _, dtype = read_header(member)
        if prod(shape) * dtype.itemsize > info.file_size:
            raise ValueError(f"{name} is cut short")
    with archive.open(info) as member:
        array: NDArray[Any] = np.lib.format.read_array(member, allow_pickle=False)
    return array


def _check_codes(codes: NDArray[Any], categories: tuple[NDArray[Any], ...]) -> None:
    for labels in categories:
        if labels.ndim != 1 or labels.dtype.kind not in "iufU" or not labels.dtype.isnative:
            raise ValueError("categories are no labels")
        labels.tolist()  # fails where a character is none
        if not (labels[:-1] < labels[1:]).all() or (labels.dtype.kind == "f" and not np.isfinite(labels).all()):
            raise ValueError("categories are not distinct labels in sorted order")
    limits = np.array([len(labels) for labels in categories])
    if codes.ndim != 2 or codes.dtype != code_dtype(categories) or (codes > limits).any() or codes.min() < 0:
        raise ValueError("codes do not fit the categories")


def save_csv(ensemble: Ensemble, path: Path) -> None:
    texts = [np.array([*map(str, c.tolist()), ""], dtype=object) for c in ensemble.categories]
    for name, column in zip(ensemble.names, texts, strict=True):
        if not _is_writable("".join([name, *column])):
            raise ValueError(
                f"A .csv file must be UTF-8 text. Got half of a surrogate pair in partition {shown(name)}. "
                "Use .npz, or give that label another name."
            )
        if not all(map(str.strip, column[:-1])):
            raise ValueError(
                f"A .csv file marks missing labels by blank fields. Got a blank label in partition {name!r}. "
                "Use .npz, or give that label a name."
            )
    with written_whole(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(ensemble.names)
        for rows in row_blocks(len(ensemble)):
            columns = [text[codes].tolist() for text, codes in zip(texts, ensemble.codes[rows].T, strict=True)]
            writer.writerows(zip(*columns, strict=True))


def _is_writable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def load_csv(path: Path, missing: int | None) -> Ensemble:
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            reader = csv.reader(file)
            names = next(reader, [])
            numbers, texts = _number_texts(_rows_of(reader, len(names), path), len(names))
    except (UnicodeDecodeError, csv.Error) as error:
        raise ValueError(
            f"A .csv file of labels must be text with a header line. Got {str(path)!r} ({error}). "
            "Save it as UTF-8 text with one column per partition."
        ) from None
    if not len(numbers):
        raise ValueError(
            f"A .csv file of labels must have a header line and at least one line of labels. Got {str(path)!r} "
            f"with {'its header' if names else 'nothing'} only. Write one line per object."
        )
    coded = [code_objects(_parse(column), name, missing) for column, name in zip(texts, names, strict=True)]
    categories = tuple(c.categories[0] for c in coded)
    codes = np.empty(numbers.shape, dtype=code_dtype(categories))
    for j, column in enumerate(coded):
        codes[:, j] = column.codes[numbers[:, j]]
    ensemble = Ensemble._of(CodedColumns(codes, categories, names), missing)
    ensemble._check_every_partition()
    return ensemble


def _rows_of(reader: Iterator[list[str]], width: int, path: Path) -> Iterator[list[str]]:
    """The rows of a CSV file, all of one width; empty lines at its end do not count."""
    blank = 0
    for line, row in enumerate(reader, start=2):
        if row and (blank or len(row) != width):
            raise ValueError(
                f"Every line of {str(path)!r} must have {width} fields, as its header. "
                f"Got {0 if blank else len(row)} in line {blank or line}. Mark missing labels by an empty field."
            )
        if row:
            yield row
        blank = blank or (0 if row else line)


def _number_texts(rows: Iterator[list[str]], width: int) -> tuple[NDArray[np.int32], list[list[str]]]:
    """Number the texts of each column as they appear, so that every text is kept once: (n, p) numbers, the texts."""
    number_of: list[defaultdict[str, int]] = [defaultdict() for _ in range(width)]
    for column in number_of:
        column.default_factory = column.__len__
    blocks = [np.empty((0, width), dtype=np.int32)]
    while chunk := list(islice(rows, 1_024)):  # so few that their texts stay in the cache: five times as fast
        block = np.empty((len(chunk), width), dtype=np.int32)
        for j, texts in enumerate(zip(*chunk, strict=True)):
            block[:, j] = np.fromiter(map(number_of[j].__getitem__, texts), dtype=np.int32, count=len(texts))
        blocks.append(block)
    return np.concatenate(blocks), [list(column) for column in number_of]


WHOLE = re.compile(r"\s*[+-]?[0-9]{1,19}\s*")
NUMBER = re.compile(r"\s*([+-]?([0-9]{1,16}(\.[0-9]*)?|\.[0-9]+)(e[+-]?[0-9]{1,3})?|nan)\s*", re.IGNORECASE)


def _parse(texts: list[str]) -> list[Any]:
    """The distinct texts of a column as whole numbers if all are, else numbers, else text; None where blank."""
    known = [text for text in texts if text.strip()]
    for pattern, convert in ((WHOLE, int), (NUMBER, float)):
        if all(map(pattern.fullmatch, known)):
            value_of = {text: convert(text.strip()) for text in known}
            distinct = len(set(value_of.values())) == len(known)
            if distinct and (convert is float or all(-(2**63) <= value < 2**63 for value in value_of.values())):
                return [value_of.get(text) for text in texts]
    return [text if text.strip() else None for text in texts]
