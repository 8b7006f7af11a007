"""What the tables, figures and claims read: numbers of finished runs, and why some are not there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ensemblage_lab._store import Result, Store
from ensemblage_lab.reproduce._cells import Cell, Estimate, estimate
from ensemblage_lab.reproduce._experiment import Case, Experiment
from ensemblage_lab.reproduce._protocol import Protocols
from ensemblage_lab.reproduce._runs import Data


class NotRunError(Exception):
    """What a claim is about was not run."""

    def __str__(self) -> str:
        return "not run"


@dataclass(frozen=True)
class Results:
    """Everything that a file of results holds about some experiments."""

    experiments: Mapping[str, Experiment]
    found: Mapping[tuple[str, str, str], Sequence[Result]]
    """By experiment, case and method, in the order of the seeds."""
    missing: Mapping[str, str] = field(default_factory=dict)
    """Methods that this version does not have, with the reason."""
    skipped: Mapping[str, str] = field(default_factory=dict)
    """Data sets that are not at hand, with the reason."""

    def cases(self, experiment: str) -> list[Case]:
        """The cases of an experiment that there is any result of."""
        have = {case for name, case, _ in self.found if name == experiment}
        return [case for case in self.experiments[experiment].cases if case.name in have]

    def extra(self, experiment: str) -> list[str]:
        """The methods of the user."""
        own = self.experiments[experiment].methods
        return sorted({method for name, _, method in self.found if name == experiment and method not in own})

    def runs(self, experiment: str, case: str, method: str) -> list[Mapping[str, Any]]:
        """The numbers of all runs that did not fail."""
        return [r.numbers for r in self.found.get((experiment, case, method), ()) if r.numbers is not None]

    def values(self, experiment: str, case: str, method: str, *path: str) -> list[float]:
        """One number of each run, by its name, or by the names of the dicts it is in."""
        values = []
        for numbers in self.runs(experiment, case, method):
            value: Any = numbers
            for name in path:
                value = value.get(name) if isinstance(value, Mapping) else None
            if value is not None:
                values.append(float(value))
        return values

    def estimate(self, experiment: str, case: str, method: str, *path: str) -> Estimate | None:
        """The mean over runs."""
        return estimate(self.values(experiment, case, method, *path))

    def need(self, experiment: str, case: str, method: str, *path: str) -> Estimate:
        """The mean over runs, for a claim.

        Raises
        ------
        NotRunError
            If there is none.
        """
        found = self.estimate(experiment, case, method, *path)
        if found is None:
            raise NotRunError
        return found

    def why_not(self, experiment: str, case: str, method: str) -> str:
        """Why there is no number, in a few words."""
        results = self.found.get((experiment, case, method), ())
        if any(r.error for r in results):
            return "failed"
        datasets = {c.name: c.dataset for c in self.experiments[experiment].cases}
        if datasets.get(case) in self.skipped:
            return "no data"
        if method in self.missing:
            return "not available"
        return "not applied" if results else "not run"

    def cell(self, row: str, column: str, place: Sequence[str], published: float | None = None, **more: Any) -> Cell:
        """A cell of the mean over runs at a place: experiment, case, method, and the path of the number."""
        ours = self.estimate(*place)
        return Cell(row, column, ours, published, why_not="" if ours else self.why_not(*place[:3]), **more)

    def cell_over_sets(
        self,
        row: str,
        column: str,
        source: tuple[str, str],
        found: Sequence[Estimate],
        published: float | None,
        published_n: int,
        published_runs: int | None = None,
        **more: Any,
    ) -> Cell:
        """A cell whose number is a mean over data sets.

        ``source`` is (experiment, method), ``found`` the estimates over runs on the sets at hand; the published mean is
        over ``published_n`` sets, each with ``published_runs`` runs (None: as many as ours).
        """
        experiment, method = source
        cases = self.cases(experiment)
        ours = estimate([value.mean for value in found])
        why_not = "" if ours else self.why_not(experiment, cases[0].name, method) if cases else "not run"
        repeated = [value for value in found if value.n > 1]
        m = max(1, len(repeated))
        variance = theirs = sum(value.sd**2 / value.n for value in repeated) / m**2
        if published_runs is not None:
            theirs = sum(value.sd**2 for value in repeated) / (m * published_n * published_runs)
        return Cell(
            *(row, column, ours, published),
            published_n=published_n,
            why_not=why_not,
            is_subset=True,
            run_variance=variance + theirs,
            **more,
        )

    def failures(self) -> list[tuple[str, str, str, str]]:
        """(experiment, case, method, error) of what failed, each error once."""
        return sorted({(*cell, r.error) for cell, results in self.found.items() for r in results if r.error})


def read_results(experiments: Iterable[Experiment], store: Store, data: Data, missing: Mapping[str, str]) -> Results:
    """Read from the file what belongs to these experiments and the data at hand."""
    named = {experiment.name: experiment for experiment in experiments}
    found: dict[tuple[str, str, str], list[Result]] = {}
    for experiment in named.values():
        known = store.results(experiment.name)
        prints = _fingerprints(experiment, data) if known else {}
        protocols = Protocols(experiment)
        for key, origin in sorted(known):
            if origin == (prints.get(key.dataset), protocols.of(key.dataset, key.method)):
                found.setdefault((key.experiment, key.dataset, key.method), []).append(known[key, origin])
    return Results(named, found, missing, data.skipped)


def _fingerprints(experiment: Experiment, data: Data) -> dict[str, str]:
    loaded = {case.name: data.get(case.dataset, experiment.keeps_gaps) for case in experiment.cases}
    return {name: found[1] for name, found in loaded.items() if found is not None}
