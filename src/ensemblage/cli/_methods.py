"""The consensus in the shell: its method, the parameters of that, and the estimator; and what is said of methods."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import click

from ensemblage import METHODS, make_consensus
from ensemblage.base.options import suggestion
from ensemblage.base.validation import check_parameters, check_weights, parameter_constraints, rule_text
from ensemblage.cli._options import text_of
from ensemblage.cli._progress import announce
from ensemblage.pipeline._run import Settings


@dataclass(frozen=True)
class Consensus:
    """What is asked of the consensus."""

    k: int | None
    method: str
    seed: int
    n_jobs: int
    memory: str | None
    chosen: Mapping[str, Any] = field(default_factory=dict)
    """Parameters of the method by name."""
    looks_for_k: bool = False
    """Whether the number of clusters is looked for before."""

    @classmethod
    def of(cls, k: int | None, settings: dict[str, Any]) -> Consensus:
        """Take what concerns the consensus out of the settings of a command; without a method k-means."""
        method = settings.pop("method") or "km"
        if k is not None and method in METHODS and not METHODS[method].capabilities.takes_n_clusters:
            raise ValueError(
                f"-k must be left out for the method {method}: the labels alone decide the number of clusters. Got "
                f"{k}. Leave it out, or choose another --method."
            )
        return cls(k, method, *(settings.pop(name) for name in ("seed", "n_jobs", "memory", "chosen")))

    def check(self, n_partitions: int | None = None) -> None:
        """What can be said before the work begins; ``n_partitions`` if it is known."""
        check_names(self.method, make_consensus(self.method, self.k), self.chosen)
        if self.looks_for_k:
            replace(self, k=2, looks_for_k=False).check(n_partitions)
            return
        if self.k is None and not METHODS[self.method].finds_k:
            able = ", ".join(name for name, method in METHODS.items() if method.finds_k)
            raise ValueError(
                f"-k must be given for the method {self.method}, which cannot estimate the number of clusters. Got "
                f"none. Add -k, or choose a --method that can ({able})."
            )
        estimator = self.estimator()
        check_parameters(estimator)
        if isinstance(weights := self.chosen.get("weights"), list):
            check_weights(weights, n_partitions or len(weights), type(estimator).__name__)

    def identity(self) -> dict[str, Any]:
        """What the consensus depends on beside the ensemble and k."""
        chosen = ", ".join(f"{name}={text_of(self.chosen[name])}" for name in sorted(self.chosen))
        return {"method": self.method, "set": chosen or None}

    def announce_memory(self) -> None:
        """Say it if the limit limits nothing."""
        if self.memory is not None and "max_bytes" not in make_consensus(self.method, self.k).get_params():
            announce(f"--memory: {self.method} makes no matrix of all pairs of objects and needs no limit")

    def settings(self, align: dict[str, Any] | None = None) -> Settings:
        """What concerns this run alone."""
        return Settings(self.seed, self.n_jobs, max_bytes=self.memory, align=align)

    def estimator(self) -> Any:
        """Unfitted, with seed, threads and memory."""
        estimator = make_consensus(self.method, self.k, **self.chosen)
        known = estimator.get_params()
        own: dict[str, Any] = {"random_state": self.seed, "n_jobs": self.n_jobs}
        if self.memory is not None:
            own["max_bytes"] = self.memory
        return estimator.set_params(**{name: value for name, value in own.items() if name in known})


OPTIONS = {"n_clusters": "-k", "random_state": "--seed", "n_jobs": "--jobs", "max_bytes": "--memory"}
"""Parameters that have an option of their own."""
ONLY_IN_PYTHON = {"progress"}
"""Parameters that no text can give."""
WIDTH, NARROW = 100, 80


def check_names(method: str, estimator: Any, chosen: Mapping[str, Any]) -> None:
    """Raise unless every name is a parameter of the method that has no option of its own."""
    for name in chosen:
        if name in OPTIONS:
            raise ValueError(
                f"--set must name a parameter without an option of its own. Got {name}. Use {OPTIONS[name]}."
            )
        if name in getattr(estimator, "_former_parameters", {}):
            continue  # which its estimator warns of
        settable = estimator.get_params().keys() - OPTIONS.keys() - ONLY_IN_PYTHON
        if name not in settable:
            known, advice = ", ".join(sorted(settable)), suggestion(name, sorted(settable))
            raise ValueError(
                f"--set must name a parameter of {method}: {known}. Got {name[:40]!r}. "
                f"{advice or f'See ensemblage methods {method}.'}"
            )


def show_methods() -> None:
    """The registry of methods: the name of each, when to use it, and its time. Lines fit into `NARROW` columns."""
    formatter = click.HelpFormatter(width=NARROW)
    formatter.write_dl([(name, f"{method.when}. {method.complexity}") for name, method in METHODS.items()])
    click.echo(formatter.getvalue(), nl=False)
    click.echo("\nClass, memory, paper and parameters of one: ensemblage methods NAME")


def show_method(name: str) -> None:
    """One method: what it costs, and its parameters with their defaults."""
    estimator = make_consensus(name)
    method, constraints = METHODS[name], parameter_constraints(type(estimator))
    given = ", ".join(f"{key}={value!r}" for key, value in method.parameters.items())
    click.echo(f"{name}: {method.estimator.__name__}({given})")
    if method.aliases:
        click.echo(f"names: {', '.join((METHODS.aliases.get(name, name), *method.aliases))}")
    click.echo(f"when: {method.when}")
    click.echo(f"paper: {method.paper}; BibTeX: ensemblage cite {name}")
    click.echo(f"time: {method.complexity}, memory: {method.memory}")
    click.echo(f"number of clusters: {method.finds_k or 'given'}")
    click.echo(f"takes: {', '.join(method.capabilities.words)}")
    if method.package:
        click.echo(f"needs: {method.package}, a package of its own")
    click.echo("parameters, for --set NAME=VALUE unless an option is named:")
    sentences, defaults, described = dict(first_sentences(method.estimator)), estimator.get_params(), []
    for parameter in inspect.signature(method.estimator).parameters:
        if parameter in ONLY_IN_PYTHON:
            continue
        option = f"{OPTIONS[parameter]}: " if parameter in OPTIONS else ""
        text = f"{option}{sentences[parameter]} It is {rule_text(constraints[parameter])}."
        described.append((f"{parameter}={text_of(defaults[parameter])}", text))
    formatter = click.HelpFormatter(width=WIDTH)
    with formatter.indentation():
        formatter.write_dl(described)
    click.echo(formatter.getvalue(), nl=False)


def first_sentences(estimator: type) -> Iterator[tuple[str, str]]:
    """Each parameter of a class with the first sentence of its text in the docstring."""
    section = re.search(r"\nParameters\n-+\n(.*?)\n\n\S", inspect.getdoc(estimator) or "", flags=re.DOTALL)
    for found in re.finditer(r"^(\w+) : .*\n((?: {4}.*(?:\n|$))+)", section[1] if section else "", flags=re.MULTILINE):
        text = " ".join(found[2].split())
        yield found[1], re.split(r"(?<!Eq\.)(?<=\.)\s(?=[A-Z\"0-9])", text)[0]
