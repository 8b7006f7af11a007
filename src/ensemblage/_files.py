"""Ensembles on disk: .npz (exact) and .csv (readable), written whole or not at all, read without pickle."""

from __future__ import annotations

import csv
import os
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ensemblage._ensemble import Ensemble
from ensemblage._labels import CodedColumns

FORMAT = 1


@contextmanager
def written_whole(path: str | PathLike[str], mode: str = "w", **options: Any) -> Iterator[IO[Any]]:
    """Open a file that appears under its name only when the block ends without an error."""
    target = Path(path)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
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
    _by_suffix(path, save_npz, save_csv)(ensemble, Path(path))


def load(path: str | PathLike[str], missing: int | None) -> Ensemble:
    return _by_suffix(path, lambda p, _: load_npz(p), load_csv)(Path(path), missing)


def _by_suffix(path: str | PathLike[str], npz: Callable[..., Any], csv_: Callable[..., Any]) -> Callable[..., Any]:
    suffix = Path(path).suffix.lower()
    if suffix not in (".npz", ".csv"):
        raise ValueError(
            f"The name of an ensemble's file must end in .npz or .csv. Got {str(path)!r}. "
            "Use .npz to keep everything exactly, .csv to read it elsewhere."
        )
    return npz if suffix == ".npz" else csv_


def save_npz(ensemble: Ensemble, path: Path) -> None:
    arrays: dict[str, NDArray[Any]] = {f"categories_{j}": c for j, c in enumerate(ensemble.categories)}
    arrays["ensemblage_format"] = np.array(FORMAT)
    arrays["names"] = np.array(ensemble.names, dtype=str)
    arrays["missing"] = np.array([] if ensemble.missing is None else [ensemble.missing], dtype=np.int64)
    with written_whole(path, "wb") as file:
        np.savez_compressed(file, codes=ensemble.codes, **arrays)


def load_npz(path: Path) -> Ensemble:
    try:
        with np.load(path, allow_pickle=False) as archive:
            if int(archive["ensemblage_format"]) != FORMAT:
                raise ValueError("written by another version")
            codes, names = archive["codes"], [str(name) for name in archive["names"]]
            categories = tuple(archive[f"categories_{j}"] for j in range(codes.shape[1]))
            missing = int(archive["missing"][0]) if archive["missing"].size else None
            _check_codes(codes, categories)
    except (ValueError, KeyError, IndexError, TypeError, EOFError, AttributeError, zipfile.BadZipFile) as error:
        raise ValueError(
            f"A .npz file must be one that Ensemble.save wrote. Got {str(path)!r} ({error}). Save the ensemble again."
        ) from None
    return Ensemble._of(CodedColumns(codes, categories, names), missing)


def _check_codes(codes: NDArray[Any], categories: tuple[NDArray[Any], ...]) -> None:
    limits = np.array([len(c) for c in categories])
    if codes.ndim != 2 or codes.dtype not in (np.uint8, np.uint16, np.int32) or (codes > limits).any() or codes.min() < 0:
        raise ValueError("codes do not fit the categories")


def save_csv(ensemble: Ensemble, path: Path) -> None:
    columns = [np.append(c.astype(object), "") for c in ensemble.categories]
    with written_whole(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(ensemble.names)
        # A lone empty field would be read back as an empty line.
        writer.writerows(
            zip(*(column[ensemble.codes[:, j]] for j, column in enumerate(columns)), strict=True)
        )


def load_csv(path: Path, missing: int | None) -> Ensemble:
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            header, *rows = csv.reader(file)
    except (UnicodeDecodeError, csv.Error, ValueError) as error:
        raise ValueError(
            f"A .csv file of labels must be text with a header line. Got {str(path)!r} ({error}). "
            "Save it as UTF-8 text with one column per partition."
        ) from None
    width = len(header)
    for line, row in enumerate(rows, start=2):
        if len(row) != width:
            raise ValueError(
                f"Every line of {str(path)!r} must have {width} fields, as its header. "
                f"Got {len(row)} in line {line}. Mark missing labels by an empty field."
            )
    matrix = np.empty((len(rows), width), dtype=object)
    for j, texts in enumerate(zip(*rows, strict=True)):
        matrix[:, j] = _parse(texts)
    return Ensemble(matrix, names=header, missing=missing)


def _parse(texts: tuple[str, ...]) -> list[Any]:
    """One column of a CSV file: whole numbers if all are, else numbers, else text; empty is missing."""
    for convert in (int, float):
        value_of: dict[str, Any] = {"": None}
        try:
            value_of.update((text, convert(text)) for text in set(texts) - {""})
        except ValueError:
            continue
        return [value_of[text] for text in texts]
    return [text or None for text in texts]
