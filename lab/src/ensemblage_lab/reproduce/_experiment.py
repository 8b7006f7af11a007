"""What a paper measures: methods on ensembles of cases."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage.datasets._load import Dataset
from ensemblage.labels.ensemble import Ensemble
from ensemblage_lab._methods import PaperMethod, fit_consensus
from ensemblage_lab._store import LabelMatrix

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
    consensus: Mapping[str, PaperMethod] = field(default_factory=dict)

    def fit(self, method: str, n_clusters: int | None, **parameters: Any) -> Any:
        """The fitted consensus of a method of the experiment, or of one of the user."""
        used = self.consensus.get(method, PaperMethod(method))
        chosen = {**used.changes, **parameters}
        return fit_consensus(used.name, self.ensemble, n_clusters, self.seed, published=used.is_published, **chosen)

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
    make: Callable[[Case, Dataset | None, int], LabelMatrix]
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
    consensus: Mapping[str, PaperMethod] = field(default_factory=dict)
    """Of ``methods`` those that combine the ensemble: see `Run.fit`."""
    takes: str = ""
    """What a method of the user may be: "consensus", "ranker", or nothing."""
