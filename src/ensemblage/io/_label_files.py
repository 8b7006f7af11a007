"""Labels in files: written and read by the suffix of the file's name."""

from os import PathLike
from pathlib import Path
from typing import Literal

from ensemblage.base.validation import check_path
from ensemblage.ensemble._checks import check_missing
from ensemblage.ensemble._coding import CodedColumns
from ensemblage.io._formats import Format, first_suffixes, format_of


def save_labels(coded: CodedColumns, missing: int | None, path: str | PathLike[str]) -> None:
    """Write columns with names to a file that keeps everything (.npz), or to one that does not say ``missing``."""
    file = check_path(path, "path")
    _format_for(file, "save").function("save")(coded, missing, file)


def load_labels(path: str | PathLike[str], missing: int | None) -> tuple[CodedColumns, int | None]:
    """The columns of a file and the number that means missing: its own in .npz, the one given in all others."""
    file, missing = check_path(path, "path"), check_missing(missing)
    coded: tuple[CodedColumns, int | None] = _format_for(file, "load").function("load")(file, missing)
    return coded


def _format_for(file: Path, use: Literal["load", "save"]) -> Format:
    """The format of the file, if its labels can be loaded or saved."""
    found = format_of(file)
    if found is None or not getattr(found, use):
        both = [suffix for suffix in first_suffixes("save") if suffix in first_suffixes("load")]
        read = [suffix for suffix in first_suffixes("load") if suffix not in both]
        raise ValueError(
            f"The name of an ensemble's file must end in {' or '.join(both)} ({' or '.join(read)} to load one). "
            f"Got {str(file)!r}. Use .npz to keep everything exactly, .csv to read it elsewhere."
        )
    return found
