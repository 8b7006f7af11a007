"""Names of before 1.0: each gives what it gave, with a warning that says the new one."""

import importlib
import warnings

import pytest

from ensemblage.base.renamed import INSTEAD, NAMES, former_names, renamed_parameters

FORMER = [(module, name, new) for module, names in NAMES.items() for name, new in names.items()]
MODULES = [(module, name) for module, name, new in FORMER if new == f"{module}.{name}"]


@pytest.mark.parametrize(("module", "name", "new"), [row for row in FORMER if row[:2] not in MODULES])
def test_a_former_name_is_what_it_was_and_warns(module, name, new):
    place, now = new.rsplit(".", 1)
    with pytest.warns(FutureWarning, match=rf"^{module}\.{name} is a name of before 1\.0") as warned:
        found = getattr(importlib.import_module(module), name)
    assert found is getattr(importlib.import_module(place), now)
    text = str(warned[0].message)
    assert INSTEAD.get(name, "a record that is returned" if "._" in place else f"Use {new}.") in text


@pytest.mark.parametrize(("module", "name"), MODULES)
def test_a_former_module_is_there_and_its_names_warn(module, name):
    found = getattr(importlib.import_module(module), name)
    assert found is importlib.import_module(f"{module}.{name}")
    assert found.__name__ in NAMES


def test_a_former_name_is_not_listed_and_a_wrong_name_is_an_attribute_error():
    for module, name, new in FORMER:
        assert name not in getattr(importlib.import_module(module), "__all__", ()), new
        with pytest.raises(AttributeError):
            _ = importlib.import_module(module).no_such_name
    with pytest.raises(AttributeError, match=r"module 'ensemblage\.answer' has no attribute 'x'"):
        former_names("ensemblage.answer")("x")


@renamed_parameters(fit_on="sample_size")
def fit(X, *, sample_size=3):
    return X, sample_size


def test_a_former_parameter_is_taken_with_a_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert fit(1, sample_size=5) == (1, 5)
    with pytest.warns(FutureWarning, match=r"^fit_on of fit is a name of before 1\.0 .* Use sample_size\.") as warned:
        assert fit(1, fit_on=5) == (1, 5)
    assert warned[0].filename == __file__
    with pytest.raises(TypeError, match=r"^fit must get sample_size once\."):
        fit(1, fit_on=5, sample_size=5)
