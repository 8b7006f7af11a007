"""The format of an ensemble's file, by the suffix of its name."""

from os import PathLike
from pathlib import Path

from ensemblage.base.validation import check_path
from ensemblage.ensemble._checks import check_missing
from ensemblage.ensemble._coding import CodedColumns
from ensemblage.io._csv import load_csv, save_csv
from ensemblage.io._npz import load_npz, save_npz


def save_labels(coded: CodedColumns, missing: int | None, path: str | PathLike[str]) -> None:
    """Write columns with names to a .npz file, or to a .csv file, which does not say what ``missing`` was."""
    file = check_path(path, "path")
    if _suffix(file) == ".npz":
        save_npz(coded, missing, file)
    else:
        save_csv(coded, file)


def load_labels(path: str | PathLike[str], missing: int | None) -> tuple[CodedColumns, int | None]:
    """The columns of a file and the number that means missing: its own in .npz, the one given in .csv."""
    file, missing = check_path(path, "path"), check_missing(missing)
    return load_npz(file) if _suffix(file) == ".npz" else (load_csv(file, missing), missing)


def _suffix(file: Path) -> str:
    suffix = file.suffix.lower()
    if suffix not in (".npz", ".csv"):
        raise ValueError(
            f"The name of an ensemble's file must end in .npz or .csv. Got {str(file)!r}. "
            "Use .npz to keep everything exactly, .csv to read it elsewhere."
        )
    return suffix
