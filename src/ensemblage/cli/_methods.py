"""What can be said about the methods and set of their parameters in the shell."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from typing import Any

import click

from ensemblage.base.options import suggestion
from ensemblage.cli._options import parse_whole, refuse

OPTIONS = {"n_clusters": "-k", "random_state": "--seed", "n_jobs": "--jobs", "max_bytes": "--memory"}
"""Parameters that have an option of their own."""
ONLY_IN_PYTHON = {"progress"}
"""Parameters that no text can give."""
WIDTH, NARROW = 100, 80


def parse_set(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> dict[str, Any]:
    """Values of parameters by name, from NAME=VALUE."""
    chosen: dict[str, Any] = {}
    for text in value:
        name, equals, given = text.partition("=")
        if not (name and equals and given):
            refuse("NAME=VALUE", text, "Write --set n_init=10, for example.")
        if name in chosen:
            refuse("given once for each parameter", text, "Leave one of its values out.")
        chosen[name] = value_of(given)
    return chosen


WORDS: Mapping[str, Any] = {"none": None, "true": True, "false": False}


def value_of(text: str) -> Any:
    """A number, true, false, none, a list of such things with commas between them, or else the text."""
    if "," in text:
        return [value_of(part.strip()) for part in text.split(",")]
    number = parse_whole(text)
    if number is not None:
        return number
    try:
        return WORDS[text] if text in WORDS else float(text)
    except ValueError:
        return text


def text_of(value: Any) -> str:
    """How a value is written in the shell: `value_of` makes the same of it."""
    if isinstance(value, list):
        return ",".join(map(text_of, value))
    return next((word for word, meant in WORDS.items() if value is meant), str(value))


def check_names(method: str, estimator: Any, chosen: Mapping[str, Any]) -> None:
    """Raise unless every name is a parameter of the method that has no option of its own."""
    for name in chosen:
        if name in OPTIONS:
            raise ValueError(
                f"--set must name a parameter without an option of its own. Got {name}. Use {OPTIONS[name]}."
            )
        settable = estimator.get_params().keys() - OPTIONS.keys() - ONLY_IN_PYTHON
        if name not in settable:
            known, advice = ", ".join(sorted(settable)), suggestion(name, settable)
            raise ValueError(
                f"--set must name a parameter of {method}: {known}. Got {name[:40]!r}. "
                f"{advice or f'See ensemblage methods {method}.'}"
            )


def show_methods() -> None:
    """The registry of methods: the name of each, when to use it, and its time. Lines fit into `NARROW` columns."""
    from ensemblage.consensus import METHODS

    formatter = click.HelpFormatter(width=NARROW)
    formatter.write_dl([(name, f"{method.when}. {method.complexity}") for name, method in METHODS.items()])
    click.echo(formatter.getvalue(), nl=False)
    click.echo("\nClass, memory, paper and parameters of one: ensemblage methods NAME")


def _call(name: str, parameters: Mapping[str, Any]) -> str:
    return f"{name}({', '.join(f'{key}={value!r}' for key, value in parameters.items())})"


def show_method(name: str) -> None:
    """One method: what it costs, and its parameters with their defaults."""
    from ensemblage.base.validation import parameter_constraints, rule_text
    from ensemblage.consensus import METHODS, make_consensus

    estimator = make_consensus(name)
    method, constraints = METHODS[name], parameter_constraints(type(estimator))
    click.echo(f"{name}: {_call(method.estimator.__name__, method.parameters)}")
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
