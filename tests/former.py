"""Tests of what became private, by its former public name: it works for one release, and the warning is not theirs."""

import importlib
import inspect
import warnings

import pytest

from ensemblage.base.renamed import FormerName

FORMER = pytest.mark.filterwarnings("ignore:.* is a name of before 1.0:FutureWarning")
"""As `pytestmark` of a file whose tests call former names."""


def former(module, name):
    """What a module has under a former name, where no test runs yet."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        return getattr(importlib.import_module(f"ensemblage.{module}"), name)


def is_former(model, name):
    """Whether an attribute is another one under its name of before 1.0."""
    return isinstance(inspect.getattr_static(type(model), name, None), FormerName)
