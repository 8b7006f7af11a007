"""The numbers that the papers print, as CSV beside the code (values as printed, misprints and all)."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from functools import cache
from importlib.resources import files


@cache
def published(name: str) -> tuple[Mapping[str, str], ...]:
    """The rows of a file of published numbers."""
    with files("ensemblage.reproduce").joinpath("published", f"{name}.csv").open(encoding="utf-8") as file:
        return tuple(csv.DictReader(file))


def number(text: str) -> float | None:
    """A printed number; None where the paper prints NA or nothing."""
    return None if text in ("", "NA") else float(text)


def misprints(paper: str) -> tuple[Mapping[str, str], ...]:
    """Where the paper disagrees with itself, its data or the others."""
    return tuple(row for row in published("disagreements") if row["paper"] == paper)
