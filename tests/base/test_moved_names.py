"""Names of functions and classes of before 1.0: each is found, warns, and says what to use."""

import importlib

import pytest

from ensemblage.base.renamed import INSTEAD, NAMES

MOVED = [(module, name) for module, names in NAMES.items() for name in names]


@pytest.mark.parametrize(("module", "name"), MOVED)
def test_a_former_name_is_found_and_warns(module, name):
    place, new = NAMES[module][name].rsplit(".", 1)
    with pytest.warns(FutureWarning, match=rf"^{module}\.{name} is a name of before 1\.0 and goes .*\.$") as caught:
        found = getattr(importlib.import_module(module), name)
    assert found is getattr(importlib.import_module(place), new)
    assert caught[0].filename == __file__


def test_a_former_name_is_no_name_of_today():
    assert [
        f"{module}.{name}" for module, name in MOVED if name in vars(importlib.import_module(module)).get("__all__", ())
    ] == []


def test_what_became_private_says_what_to_use():
    for module, names in INSTEAD.items():
        assert names.keys() <= NAMES[module].keys()
        for name, use in names.items():
            with pytest.warns(FutureWarning) as caught:
                getattr(importlib.import_module(module), name)
            assert f"Use {use}." in str(caught[0].message)


def test_other_names_are_missing():
    for module in NAMES:
        with pytest.raises(AttributeError, match=r"attribute.* '?no_such_name"):
            importlib.import_module(module).no_such_name  # noqa: B018
