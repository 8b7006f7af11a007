"""What a paper measures: experiments on cases, and what is found in the results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ensemblage._ensemble import Ensemble
from ensemblage.datasets import Dataset
from ensemblage.reproduce._store import Made

if TYPE_CHECKING:
    from ensemblage.reproduce._claims import Verdict
    from ensemblage.reproduce._figures import Panel
    from ensemblage.reproduce._results import Results
    from ensemblage.reproduce._tables import Cell

Numbers = Mapping[str, Any]


@dataclass(frozen=True)
class Case:
    """A data set with the settings of an experiment on it."""

    name: str
    dataset: str | None = None
    """The set to load, by its printed name; None: the experiment makes its own partitions."""
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Run:
    """One ensemble of a case, and the seed of what is done with it."""

    case: Case
    dataset: Dataset | None
    ensemble: Ensemble
    facts: Numbers
    seed: int

    @property
    def data(self) -> Dataset:
        """The data set, where the case has one."""
        assert self.dataset is not None
        return self.dataset

    @property
    def classes(self) -> NDArray[np.int64]:
        """The known classes: of the data set, or noted when the partitions were made."""
        if self.dataset is None:
            return np.asarray(self.facts["truth"])
        assert self.data.y is not None
        return self.data.y


@dataclass(frozen=True)
class Experiment:
    """Some methods, on ensembles of some cases, over seeds 0, 1, …"""

    name: str
    cases: tuple[Case, ...]
    methods: tuple[str, ...]
    runs: int
    make: Callable[[Case, Dataset | None, int], Made]
    """A label matrix of a case, from a seed."""
    measure: Callable[[Run, str], Numbers]
    """The numbers of one method on one ensemble."""
    quick_cases: tuple[str, ...] = ()
    quick_runs: int = 2
    one_ensemble: bool = False
    """Whether all runs share the ensemble of seed 0."""
    ensembles: str = ""
    """The name under which ensembles are kept, where experiments share them."""
    noise_is_cluster: bool = False
    """Whether −1 is a label like others."""
    keeps_gaps: bool = False
    """Whether ``make`` does with missing features what the paper says; else objects with one are left out."""
    takes: str = ""
    """What a method of the user may be: "consensus", "ranker", or nothing."""


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

    name: str
    title: str
    protocol: tuple[str, ...]
    """Preprocessing, rule for noise, agreement measure, and what was chosen where the paper says nothing."""
    experiments: tuple[Experiment, ...]
    tables: tuple[TableOf, ...] = ()
    figures: tuple[FigureOf, ...] = ()
    claims: Callable[[Results], Mapping[int, Verdict]] | None = None
    """Verdicts by the row of the paper's claims."""
