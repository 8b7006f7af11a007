"""Papers: those of references.csv, by their keys."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType


@dataclass(frozen=True)
class Reference:
    """A paper."""

    key: str
    authors: str
    """Family names and initials, as BibTeX wants them."""
    title: str
    year: int | None
    where: str = ""
    """Journal or proceedings; empty of a manuscript."""
    number: str = ""
    """Volume, and issue in brackets."""
    kind: str = "misc"
    """Of BibTeX: article, inproceedings, or misc of a manuscript."""
    doi: str = ""
    """Without the resolver; empty where none is known."""

    @property
    def text(self) -> str:
        """As in a list of references."""
        people = [_given_name_first(name) for name in self.authors.split(" and ")]
        who = ", ".join(people[:-1]) + " and " * (len(people) > 1) + people[-1]
        place = f" {self.where}{f' {self.number}' * bool(self.number)}." if self.where else ""
        link = f" https://doi.org/{self.doi}" if self.doi else ""
        return f"{who}{f' ({self.year})' if self.year else ''}. {self.title}.{place}{link}"

    @property
    def bibtex(self) -> str:
        """An entry of BibTeX."""
        volume, _, issue = self.number.partition("(")
        fields = {
            "author": self.authors,
            "title": f"{{{self.title}}}",
            ("journal" if self.kind == "article" else "booktitle"): self.where,
            "volume": volume,
            "number": issue.rstrip(")"),
            "year": "" if self.year is None else str(self.year),
            "doi": self.doi,
        }
        escaped = {name: value.replace("&", r"\&") for name, value in fields.items() if value}
        lines = [f"  {name} = {{{value}}}," for name, value in escaped.items()]
        return "\n".join([f"@{self.kind}{{{self.key},", *lines, "}"])


def _given_name_first(name: str) -> str:
    """Given names first."""
    family, _, given = name.partition(", ")
    return f"{given} {family}".strip()


@cache
def references() -> Mapping[str, Reference]:
    """The papers of references.csv by their keys; the file is read at the first call."""
    text = files("ensemblage.base").joinpath("references.csv").read_text(encoding="utf-8")
    rows = ({**row, "year": int(row["year"]) if row["year"] else None} for row in csv.DictReader(text.splitlines()))
    return MappingProxyType({row["key"]: Reference(**row) for row in rows})  # type: ignore[arg-type,misc]
