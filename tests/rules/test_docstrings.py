"""Public docstrings: numpydoc's validation, documented attributes and defaults, one text for one name, examples."""

import doctest
import importlib
import inspect
import pkgutil
import re
from collections import defaultdict
from dataclasses import is_dataclass
from pathlib import Path

import pytest
from public import OBJECTS, PACKAGES

import ensemblage

validate = pytest.importorskip("numpydoc.validate").validate
NumpyDocString = pytest.importorskip("numpydoc.docscrape").NumpyDocString

LEFT_OUT = {
    "ES01": "a summary line that says all needs no second paragraph",
    "SA01": "See Also stands where there is something to see, which is not everywhere",
    "SS05": "takes every first word that ends in s for a verb: 'Names of the partitions'",
}
OF_MEMBERS = {"EX01": "the example of a class shows its methods, too"}
OF_RECORDS = {
    "EX01": "the example of the function that returns a record shows it",
    "PR01": "fields of a record are documented one by one, beside their types",
}
OF_SCIKIT_LEARN = {"n_features_in_", "feature_names_in_"}
"""Attributes that `ensemblage.base.sklearn` declares."""


def is_record(value):
    of_fields = is_dataclass(value) and not hasattr(value, "fit")
    return inspect.isclass(value) and (issubclass(value, tuple | Exception) or of_fields)


def test_numpydoc_has_nothing_to_say():
    errors = [package for package in PACKAGES if not importlib.import_module(package).__doc__]
    for path, (value, owner) in OBJECTS.items():
        left_out = {**LEFT_OUT, **(OF_MEMBERS if owner else {}), **(OF_RECORDS if is_record(value) else {})}
        errors += [f"{path}: {code}: {text}" for code, text in validate(path)["errors"] if code not in left_out]
    assert errors == []


def estimators():
    return {path: cls for path, (cls, owner) in OBJECTS.items() if not owner and hasattr(cls, "get_params")}


def test_documented_attributes_have_declared_types():
    undeclared = {}
    for path, cls in estimators().items():
        entries = NumpyDocString(inspect.getdoc(cls))["Attributes"]
        documented = {name for entry in entries for name in entry.name.split(", ")}
        declared = {name for base in cls.__mro__ for name in vars(base).get("__annotations__", {})}
        undeclared |= {f"{path}.{name}": "" for name in documented - declared - OF_SCIKIT_LEARN - set(dir(cls))}
    assert undeclared == {}


def documented_defaults():
    """Path, parameter, what its line says and what it is."""
    for path, (value, owner) in OBJECTS.items():
        function = getattr(value, "__func__", value)
        if inspect.isfunction(function) or inspect.isclass(function):
            documented = getattr(owner, path.rpartition(".")[2]) if owner else value
            lines = re.findall(r"^ *(\w+) : .*, default[ =](\S+)$", documented.__doc__ or "", re.MULTILINE)
            known = inspect.signature(function).parameters if lines else {}
            yield from ((path, name, said, known[name].default) for name, said in lines if name in known)


def is_default(said, default):
    """Whether a documented default is that of the code; numbers in scientific notation are left out."""
    if isinstance(default, bool | str | None):
        return said.strip('"') == str(default)
    if isinstance(default, int | float):
        return not re.fullmatch(r"-?[\d.,]+", said) or float(said.replace(",", "")) == default
    return said.replace('"', "'") == getattr(default, "__name__", str(default))


def test_defaults_are_those_that_are_documented():
    found = list(documented_defaults())
    assert len(found) > 200
    assert [
        f"{path}: {name} is {default}" for path, name, said, default in found if not is_default(said, default)
    ] == []


COMMON_WORDS = {
    "n_clusters": 6, "n_init": 10, "include_singletons": 7, "weights": 8, "random_state": 2, "max_iter": 4, "tol": 4,
    "partitioner": 3, "n_neighbors": 10, "association_threshold": 27, "recursive": 41, "imbalance": 11, "max_bytes": 28,
    "similarity": 3, "cluster_weights": 44, "normalize": 14, "exponent": 6, "progress": 8,
    "n_jobs": 1, "linkage": 0, "init": 0, "distinct": 0, "utility": 0, "smoothing": 0, "refine": 0,
}  # fmt: skip
"""How many words descriptions of a parameter begin with in all consensus methods that have it; others are the same."""


def test_one_name_has_one_meaning():
    texts = defaultdict(set)
    for cls in estimators().values():
        if cls.__module__.startswith("ensemblage.consensus"):
            for entry in NumpyDocString(inspect.getdoc(cls))["Parameters"]:
                words = re.findall(r"[\w`]+", " ".join(entry.desc))
                texts[entry.name].add(" ".join(words[: COMMON_WORDS.get(entry.name)]))
    assert len(texts) > 50
    assert {name: found for name, found in texts.items() if len(found) > 1} == {}


def modules_with_examples():
    for found in pkgutil.walk_packages(ensemblage.__path__, "ensemblage."):
        path = Path(found.module_finder.find_spec(found.name).origin)
        if ">>> " in path.read_text(encoding="utf-8"):
            yield found.name


class Examples(doctest.DocTestFinder):
    """Those of decorated functions, too."""

    def _from_module(self, module, object):
        return super()._from_module(module, inspect.unwrap(object) if inspect.isfunction(object) else object)


@pytest.mark.parametrize("module", sorted(modules_with_examples()))
def test_examples_run(module):
    if module.endswith("_to_anndata"):
        pytest.importorskip("anndata", reason="its example is of AnnData")
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    assert not sum(runner.run(test).failed for test in Examples().find(importlib.import_module(module)))
