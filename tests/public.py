"""Every function and class that the public packages export, for tests of all of them."""

import importlib
import importlib.util
import inspect
from contextlib import suppress

from places import ROOT

import ensemblage
from ensemblage import METHODS, cite
from ensemblage.base.renamed import FormerField, FormerName
from ensemblage.ranking import RANKERS

MODULES = [ensemblage, *(part for name in ensemblage.__all__ if inspect.ismodule(part := getattr(ensemblage, name)))]
PACKAGES = [module.__name__ for module in MODULES]


def returned_records():
    """Address and class of each record that a public function returns, as the reference of the site lists them."""
    spec = importlib.util.spec_from_file_location("api", ROOT / "docs" / "site" / "_ext" / "api.py")
    api = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(api)
    return {address: value for package in PACKAGES for address, value in api.returned(package).items()}


RETURNED = returned_records()


def public_objects():
    """Name and value of every function and class that is exported, or returned, and of their public members."""
    found = {id(value): (address, value) for address, value in RETURNED.items()}
    for package in PACKAGES:
        module = importlib.import_module(package)
        for name in module.__all__:
            value = getattr(module, name)
            if (inspect.isclass(value) or inspect.isfunction(value)) and id(value) not in found:
                found[id(value)] = (f"{package}.{name}", value)
    for path, value in found.values():
        yield path, value, None
        for name in dir(value) if inspect.isclass(value) else ():
            member = inspect.getattr_static(value, name)
            function = (
                getattr(member, "fget", None) or getattr(member, "func", None) or getattr(member, "__func__", member)
            )
            if isinstance(member, FormerField | FormerName):
                continue
            if not name.startswith("_") and getattr(function, "__module__", "").startswith("ensemblage."):
                yield f"{path}.{name}", member, value


OBJECTS = {path: (value, owner) for path, value, owner in public_objects()}
"""By name what is public, and the class that it is a member of, if any."""


PARTS = ("SphericalKMeans", "split_rhat")
"""What a generator clusters with, and what a function computes: they are cited, and no public names."""


def cited():
    """By each name that `cite` takes what is public under it; None is a method or a ranking."""
    named = {path.rpartition(".")[2]: value for path, (value, owner) in OBJECTS.items() if owner is None}
    for name, value in {**named, **dict.fromkeys([*METHODS, *METHODS.aliases, *RANKERS, *PARTS])}.items():
        with suppress(ValueError):
            cite(name)
            yield name, value


CITED = dict(cited())
