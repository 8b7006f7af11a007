"""What holds for the package as a whole: names, docstrings, direction of imports, cost of the import."""

import ast
import doctest
import importlib
import inspect
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import ensemblage

ROOT = Path(ensemblage.__file__).parent
PUBLIC_PACKAGES = ["ensemblage", *(f"ensemblage.{name}" for name in ensemblage._PACKAGES)]
MODULES = sorted(m.name for m in pkgutil.walk_packages([str(ROOT)], "ensemblage."))

# Imports point one way: a package may import itself and what stands before it.
LAYERS = ["kernels", "ensemble", "metrics", "generation", "consensus", "ranking", "datasets", "plotting", "report"]


def layer_of(module):
    """Place of a module in LAYERS; private top-level modules belong to the ensemble, the CLI to the end."""
    first = module.removeprefix("ensemblage").strip(".").split(".")[0]
    if first in LAYERS:
        return LAYERS.index(first)
    return LAYERS.index("ensemble") if first in {"_ensemble", "labels", "files"} else None


def imports_of(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("ensemblage"):
            yield node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("ensemblage."))


@pytest.mark.parametrize("module", MODULES)
def test_imports_point_one_way(module):
    path = ROOT.joinpath(*module.split(".")[1:])
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    own = layer_of(module)
    if own is None:
        return
    for imported in imports_of(path):
        other = layer_of(imported)
        assert other is None or other <= own, f"{module} imports {imported}"


@pytest.mark.parametrize("package", PUBLIC_PACKAGES)
def test_every_public_name_exists_and_has_a_docstring(package):
    module = importlib.import_module(package)
    assert module.__doc__
    for name in module.__all__:
        value = getattr(module, name)
        if inspect.isclass(value) or inspect.isfunction(value):
            assert value.__doc__, f"{package}.{name} has no docstring"
            if inspect.isclass(value):
                methods = [m for m in vars(value) if not m.startswith("_") and inspect.isfunction(vars(value)[m])]
                assert all(getattr(value, m).__doc__ for m in methods), f"a method of {name} has no docstring"


def test_lazy_names_and_stub_agree():
    stub = ast.parse((ROOT / "__init__.pyi").read_text())
    named = {alias.asname for node in stub.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert named == set(ensemblage.__all__)


@pytest.mark.parametrize("module", MODULES)
def test_examples_in_docstrings(module):
    failed, _ = doctest.testmod(importlib.import_module(module), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert not failed


def test_import_is_lazy():
    code = "import sys, ensemblage; print(*sorted({'sklearn', 'numba', 'scipy', 'matplotlib'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_unknown_name():
    with pytest.raises(AttributeError, match="no attribute 'KMeanConsensus'"):
        _ = ensemblage.KMeanConsensus
