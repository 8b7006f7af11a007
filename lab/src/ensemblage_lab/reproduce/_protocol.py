"""What a result depends on beside its data and the version: the code and the parameters of its experiment."""

from __future__ import annotations

import ast
import hashlib
import importlib
import inspect
import sys
from collections.abc import Callable, Mapping
from functools import cache, partial
from types import MappingProxyType
from typing import Any

from ensemblage_lab._methods import PaperMethod
from ensemblage_lab.reproduce._experiment import Case, Experiment
from ensemblage_lab.reproduce._published import read_rows

NONE: Mapping[str, PaperMethod] = MappingProxyType({})
SHARED = ("ensemblage_lab._methods", "ensemblage_lab.reproduce._runs")
"""The modules that make and run the methods of every paper."""


def protocol_of_ensemble(experiment: Experiment, case: Case) -> str:
    """Fingerprint of what makes the ensembles of a case."""
    return _digest(_of_function(experiment.make), *_of_case(case))


def protocol_of(experiment: Experiment, case: Case, method: str) -> str:
    """Fingerprint of what makes and measures a result.

    The module of a method of the user ("package.module:Class") belongs to it. Comments, docstrings and the layout of
    the code do not count; everything else in the paper's module does.
    """
    return _digest(
        _of_function(experiment.make),
        _of_function(experiment.measure, experiment.consensus),
        *_of_case(case),
        experiment.noise_is_cluster,
        experiment.one_ensemble,
        experiment.keeps_gaps,
        _code_of(method.partition(":")[0]) if ":" in method else "",
    )


class Protocols:
    """The protocols of an experiment, each computed once."""

    def __init__(self, experiment: Experiment) -> None:
        self._experiment = experiment
        self._cases = {case.name: case for case in experiment.cases}
        self._known: dict[tuple[str, str], str] = {}

    def of(self, case: str, method: str) -> str | None:
        """Of a case and a method; None if there is no such case."""
        if case not in self._cases:
            return None
        if (case, method) not in self._known:
            self._known[case, method] = protocol_of(self._experiment, self._cases[case], method)
        return self._known[case, method]


def _digest(*parts: Any) -> str:
    shared = [_code_of(name) for name in SHARED]
    return _sha256(repr([shared, parts]))[:16]


def _of_case(case: Case) -> tuple[Any, ...]:
    return case.name, case.dataset, sorted(case.settings.items())


def _of_function(function: Callable[..., Any], consensus: Mapping[str, PaperMethod] = NONE) -> tuple[Any, ...]:
    """Name and module's code of a function with the methods it runs, and the arguments that a partial one holds."""
    given: list[Any] = []
    while isinstance(function, partial):
        given.append((function.args, sorted(function.keywords.items())))
        function = function.func
    code = _code_of(function.__module__)
    if consensus:
        used = [(name, method.name, sorted(method.settings().items())) for name, method in sorted(consensus.items())]
        code = _sha256(repr([code, used]))
        code = _as_before(code, code)
    return function.__qualname__, code, given


def _as_before(code: str, otherwise: str) -> str:
    """The fingerprint of the code that this does the same as; ``otherwise`` if it is in no row of equal_code.csv.

    The rows are of code that was rewritten: results that the former code made are those of the new. A row of code that
    has changed since finds nothing, and may go.
    """
    equal = {row["code"]: row["same_as"] for row in read_rows("ensemblage_lab.reproduce", "equal_code.csv")}
    return equal.get(code, otherwise)


@cache
def _code_of(module: str) -> str:
    """Fingerprint of a module's code; empty where there is no source to read.

    The rows of equal_code.csv are of code that does not say from where it imports what is ensemblage's: that may move.
    """
    try:
        loaded = sys.modules.get(module) or importlib.import_module(module)
        tree = ast.parse(inspect.getsource(loaded))
    except (ImportError, OSError, TypeError, SyntaxError):
        return ""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            node.body = [statement for statement in node.body if not _is_text(statement)]
    ours = [node for node in tree.body if isinstance(node, ast.ImportFrom) and "ensemblage" in (node.module or "")]
    names = sorted(ast.dump(name) for node in ours for name in node.names)
    rest = ast.Module([node for node in tree.body if node not in ours], [])
    return _as_before(_sha256(f"{names} {ast.dump(rest)}"), _sha256(ast.dump(tree)))


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _is_text(statement: ast.stmt) -> bool:
    """Whether it is a docstring, of the code or of an attribute."""
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )
