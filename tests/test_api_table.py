"""docs/API.md holds every public name, and every parameter of public callables, with one meaning each."""

import dataclasses
import importlib
import inspect
import re
from pathlib import Path

import pytest

import ensemblage

PAGE = Path(ensemblage.__file__).parents[2] / "docs" / "API.md"
PACKAGES = ["ensemblage", *(f"ensemblage.{name}" for name in ensemblage._PACKAGES)]
MOST = 172
"""Public names beside methods: what is not for users is private, and a new name asks whether another can go."""
ROW = re.compile(r"^\| `([^`]+)` \|(.*)\|$", flags=re.MULTILINE)


def rows(heading):
    """First cell → the other cells of the table under a heading of docs/API.md."""
    section = PAGE.read_text(encoding="utf-8").split(f"\n## {heading}\n")[1].split("\n## ")[0]
    found = [(name, [cell.strip() for cell in rest.split("|")]) for name, rest in ROW.findall(section)]
    assert len(dict(found)) == len(found), "a name stands in two rows"
    return dict(found)


def public_names():
    """Every public name → its value: packages, functions, classes, constants."""
    found = {}
    for module in map(importlib.import_module, PACKAGES):
        for name in module.__all__:
            value = getattr(module, name)
            assert found.setdefault(name, value) is value, f"{name} is public in two meanings"
    return found


def is_record(value):
    """Whether a class is a result, whose fields are documented one by one."""
    return issubclass(value, tuple | Exception) or (dataclasses.is_dataclass(value) and not hasattr(value, "fit"))


def callables(value):
    """A public function, or a class that users make and the methods that it has of ensemblage."""
    if inspect.isfunction(value):
        yield value
    elif inspect.isclass(value):
        if not is_record(value) and value.__init__ is not object.__init__:
            yield value
        for name in dir(value):
            member = inspect.getattr_static(value, name)
            function = getattr(member, "__func__", member)
            of_ours = inspect.isfunction(function) and function.__module__.startswith("ensemblage")
            if of_ours and not name.startswith("_"):
                yield function


def parameters():
    """The names of all parameters of public callables."""
    used = [inspect.signature(f).parameters for value in public_names().values() for f in callables(value)]
    return {name for names in used for name in names} - {"self", "cls"}


@pytest.mark.parametrize(("heading", "expected"), [("Names", public_names), ("Parameters", parameters)])
def test_the_table_has_what_is_public_and_nothing_else(heading, expected):
    listed, public = set(rows(heading)), set(expected())
    assert (sorted(public - listed), sorted(listed - public)) == ([], [])


@pytest.mark.parametrize("heading", ["Names", "Parameters"])
def test_each_has_a_meaning_of_its_own(heading):
    meanings = [cells[-1] for cells in rows(heading).values()]
    assert all(meanings)
    assert sorted({meaning for meaning in meanings if meanings.count(meaning) > 1}) == []


def test_each_name_is_of_the_package_that_has_it():
    for name, (package, _) in rows("Names").items():
        assert name in importlib.import_module(package.strip("`")).__all__


def test_few_names_are_public():
    methods = {method.estimator for method in ensemblage.METHODS.values()}
    assert len(public_names()) - len(methods) <= MOST
