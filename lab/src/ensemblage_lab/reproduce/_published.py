"""The numbers that the papers print, as CSV beside the code (values as printed, misprints and all)."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Mapping
from functools import cache, partial
from importlib import import_module
from importlib.resources import files
from typing import Any


@cache
def read_rows(package: str, *path: str) -> tuple[Mapping[str, str], ...]:
    """The rows of a CSV file of a package; none where there is no such file."""
    place = files(package).joinpath(*path)
    if not place.is_file():
        return ()
    with place.open(encoding="utf-8") as file:
        return tuple(csv.DictReader(file))


def published(package: str, name: str) -> tuple[Mapping[str, str], ...]:
    """The rows of a file of published numbers, in the folder ``published`` of a paper's package."""
    return read_rows(package, "published", f"{name}.csv")


def number(text: str) -> float | None:
    """A printed number; None where the paper prints NA or nothing."""
    return None if text in ("", "NA") else float(text)


def named_function(package: str, row: Mapping[str, str]) -> Callable[..., Any]:
    """The function of a package that a row names, with the row's arguments (JSON) before those it is called with."""
    return partial(getattr(import_module(package), row["function"]), *json.loads(row["arguments"] or "[]"))
