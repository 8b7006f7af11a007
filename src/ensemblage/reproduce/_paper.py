"""What a paper's folder declares, and how it is found."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType

from ensemblage._validation import check_choice
from ensemblage.reproduce._cells import Cell
from ensemblage.reproduce._claims import Claim, Judge, judged
from ensemblage.reproduce._experiment import Experiment
from ensemblage.reproduce._figures import Panel
from ensemblage.reproduce._published import published
from ensemblage.reproduce._results import Results

FOLDER = "ensemblage.reproduce.papers"
PAPERS = tuple(module.name for module in iter_modules([str(Path(__file__).with_name("papers"))]))


@dataclass(frozen=True)
class TableOf:
    """A table of a paper: the results it needs, and its cells."""

    number: str
    title: str
    needs: Mapping[str, tuple[str, ...]]
    """Experiments, each with the methods that are needed; () is all."""
    cells: Callable[[Results], list[Cell]]
    note: str = ""
    digits: int = 2


@dataclass(frozen=True)
class FigureOf:
    """A figure of a paper."""

    number: str
    title: str
    needs: Mapping[str, tuple[str, ...]]
    panels: Callable[[Results], list[Panel]]
    note: str = ""


@dataclass(frozen=True)
class Paper:
    """A paper: what it did, and what it found."""

    package: str
    """Of the folder, whose name is that of the paper; with README.md and the printed numbers in ``published``."""
    experiments: tuple[Experiment, ...]
    tables: tuple[TableOf, ...] = ()
    figures: tuple[FigureOf, ...] = ()
    claims: Mapping[str, Judge] = field(default_factory=dict)
    """By the ids of ``published/claims.csv``, the rule of each that has no reason in its column ``untested``."""

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

    def judge(self, results: Results) -> list[Claim]:
        """Every claim with its verdict."""
        return judged(published(self.package, "claims"), self.claims, results)

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
