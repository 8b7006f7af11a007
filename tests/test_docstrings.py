"""Every public docstring passes numpydoc's validation."""

import inspect
from dataclasses import is_dataclass

import pytest
from public import OBJECTS

validate = pytest.importorskip("numpydoc.validate").validate
NumpyDocString = pytest.importorskip("numpydoc.docscrape").NumpyDocString

LEFT_OUT = {
    "ES01": "a summary line that says all needs no second paragraph",
    "SA01": "See Also stands where there is something to see, which is not everywhere",
    "SS05": "takes every first word that ends in s for a verb: 'Names of the partitions'",
}
OF_MEMBERS = {
    "EX01": "the example of a class shows its methods, too",
}
OF_RECORDS = {
    "EX01": "the example of the function that returns a record shows it",
    "PR01": "fields of a record are documented one by one, beside their types",
}
RECORDS = (tuple, Exception)
OF_SCIKIT_LEARN = {"n_features_in_", "feature_names_in_"}
"""Attributes that `ensemblage.base.sklearn` declares."""


def test_numpydoc_has_nothing_to_say():
    errors = []
    for path, (value, owner) in OBJECTS.items():
        left_out = {**LEFT_OUT, **(OF_MEMBERS if owner else {})}
        if inspect.isclass(value) and (
            issubclass(value, tuple | Exception) or (is_dataclass(value) and not hasattr(value, "fit"))
        ):
            left_out |= OF_RECORDS
        errors += [f"{path}: {code}: {text}" for code, text in validate(path)["errors"] if code not in left_out]
    assert not errors


def test_documented_attributes_have_declared_types():
    undeclared = {}
    for path, (cls, _) in OBJECTS.items():
        if hasattr(cls, "get_params"):
            entries = NumpyDocString(inspect.getdoc(cls))["Attributes"]
            documented = {name for entry in entries for name in entry.name.split(", ")}
            declared = {name for base in cls.__mro__ for name in vars(base).get("__annotations__", {})}
            undeclared[path] = documented - declared - OF_SCIKIT_LEARN - set(dir(cls))
    assert not {path: names for path, names in undeclared.items() if names}
