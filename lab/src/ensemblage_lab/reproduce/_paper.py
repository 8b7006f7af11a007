"""What a paper's folder declares: tables, figures and claims, and how it is found."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import Any, NamedTuple

from ensemblage.base.validation import check_choice
from ensemblage_lab.reproduce._experiment import Experiment
from ensemblage_lab.reproduce._published import named_function, published, read_rows
from ensemblage_lab.reproduce._results import NotRunError, Results

HOLDS, FAILS, UNTESTED = "holds", "fails", "not testable here"
FOLDER = "ensemblage_lab.reproduce.papers"
PAPERS = tuple(module.name for module in iter_modules([str(Path(__file__).with_name("papers"))]))


class Verdict(NamedTuple):
    """What became of a claim."""

    verdict: str
    ours: str = ""
    """Our number, or the reason."""


class Claim(NamedTuple):
    """A sentence of a paper with its verdict."""

    figure: str
    dataset: str
    setting: str
    claim: str
    value: str
    verdict: str
    ours: str
    id: str
    """Paper, place and a name, such as li.t4.order."""


def holds(condition: bool, ours: str) -> Verdict:
    """The verdict of a condition."""
    return Verdict(HOLDS if condition else FAILS, ours)


def untested(why: str) -> Verdict:
    """The verdict where there is nothing to judge by."""
    return Verdict(UNTESTED, why)


def judge_claim(row: Mapping[str, str], package: str, results: Results) -> Claim:
    """A row of claims.csv of a paper's package with the verdict of its rule, or why there is none.

    A rule may ask for results that are not there: `Results.need`.
    """
    try:
        verdict: Verdict = named_function(package, row)(results) if row["function"] else untested(row["untested"])
    except NotRunError as error:
        verdict = untested(str(error))
    value = f"{row['value']} {row['unit']}".strip()
    place = row["figure"], row["dataset"], row["setting"], row["claim"]
    return Claim(*place, value, verdict.verdict, verdict.ours, row["id"])


@dataclass(frozen=True)
class Shown:
    """A table or a figure of a paper: the results it needs, and the function of results that makes it."""

    number: str
    title: str
    needs: Mapping[str, tuple[str, ...]]
    """Experiments, each with the methods that are needed; () is all."""
    draw: Callable[[Results], list[Any]]
    """The cells of a table, the panels of a figure."""
    note: str = ""
    digits: int = 0


@dataclass(frozen=True)
class Paper:
    """A paper: what it did, and what it found."""

    package: str
    """Of the folder, whose name is that of the paper; with README.md and the printed numbers in ``published``.

    It holds the functions that ``tables.csv`` names, arguments and results to cells or panels, and those that
    ``published/claims.csv`` names, arguments and results to a verdict.
    """
    experiments: tuple[Experiment, ...]

    @property
    def name(self) -> str:
        """Of the folder."""
        return self.package.rpartition(".")[2]

    @property
    def title(self) -> str:
        """The heading of README.md."""
        return self._readme()[0].removeprefix("# ")

    @property
    def protocol(self) -> list[str]:
        """Preprocessing, rule for noise, agreement measure, and what was chosen where the paper says nothing."""
        return [line.removeprefix("- ") for line in self._readme() if line.startswith("- ")]

    def _readme(self) -> list[str]:
        return files(self.package).joinpath("README.md").read_text(encoding="utf-8").splitlines()

    @cached_property
    def tables(self) -> tuple[Shown, ...]:
        """The tables of ``tables.csv``."""
        return self._items_of("table")

    @cached_property
    def figures(self) -> tuple[Shown, ...]:
        """The figures of ``tables.csv``."""
        return self._items_of("figure")

    def _items_of(self, kind: str) -> tuple[Shown, ...]:
        rows = [row for row in read_rows(self.package, "tables.csv") if row["kind"] == kind]
        made = [(row, json.loads(row["needs"]), named_function(self.package, row)) for row in rows]
        return tuple(Shown(r["number"], r["title"], needs, f, r["note"], int(r["digits"] or 0)) for r, needs, f in made)

    def judge(self, results: Results) -> list[Claim]:
        """Every claim with its verdict."""
        return [judge_claim(row, self.package, results) for row in published(self.package, "claims")]

    def misprints(self) -> tuple[Mapping[str, str], ...]:
        """Where the paper disagrees with itself, its data or the others."""
        return published(self.package, "disagreements")


def load_paper(paper: str | Path | ModuleType) -> Paper:
    """A paper by its name, one of PAPERS; or by its folder or imported package, if it is another."""
    if isinstance(paper, Path):
        paper = _import_folder(paper)
    if not isinstance(paper, ModuleType):
        check_choice(paper, "A paper", PAPERS)
        paper = import_module(f"{FOLDER}.{paper}")
    found = getattr(paper, "PAPER", None)
    if not isinstance(found, Paper):
        raise ValueError(f"A paper must be a package with a Paper named PAPER. {paper.__name__} has none. Add it.")
    return found


def _import_folder(folder: Path) -> ModuleType:
    """Import a folder as if it lay among the papers."""
    name, start = f"{FOLDER}.{folder.name}", folder / "__init__.py"
    if folder.name in PAPERS or not start.is_file():
        reason = "is the name of another" if folder.name in PAPERS else "has no __init__.py"
        raise ValueError(f"A paper must be a folder with __init__.py and a name of its own. {folder} {reason}.")
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, start, submodule_search_locations=[str(folder)])
        assert spec is not None
        assert spec.loader is not None
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]
