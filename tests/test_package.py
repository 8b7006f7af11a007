"""What holds for the package as a whole: names, direction of imports, cost of the import."""

import ast
import importlib
import os
import pickle
import pkgutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import click
import conftest
import pytest
from shell import fail

import ensemblage
from ensemblage.base.options import Message, Option, of_columns
from ensemblage.cli import main

ROOT = Path(ensemblage.__file__).parent
MODULES = sorted(m.name for m in pkgutil.walk_packages([str(ROOT)], "ensemblage."))

# Imports point one way: a room may import itself and what stands before it. Every module belongs to one.
ROOMS = [
    "_version",
    "kernels",
    "base",
    "tables",
    "labels",
    "counting",
    "metrics",
    "io",
    "datasets",
    "generation",
    "consensus",
    "ranking",
    "stability",
    "choices",
    "profiles",
    "n_clusters",
    "posterior",
    "preprocessing",
    "plotting",
    "report",
    "pipeline",
    "answer",
    "cli",
    "__main__",
]


def room_of(module):
    """Place of a module in ROOMS."""
    return ROOMS.index(module.split(".")[1])


@cache
def text_of(module):
    """Source of a module, or of a package's own one."""
    path = ROOT.joinpath(*module.split(".")[1:])
    return (path / "__init__.py" if path.is_dir() else path.with_suffix(".py")).read_text(encoding="utf-8")


@cache
def tree_of(module):
    return ast.parse(text_of(module))


@cache
def imports_of(module):
    """Other modules of the package that a module imports, those inside functions too; not those for types only."""
    return {name for name in names_imported_by(tree_of(module)) if name in MODULES and name != module}


def names_imported_by(tree):
    """What each import statement names, a module of the package where there is one of that name."""
    for_types = [n for n in ast.walk(tree) if isinstance(n, ast.If) and ast.unparse(n.test) == "TYPE_CHECKING"]
    ignored = {node for block in for_types for node in ast.walk(block)}
    for node in (n for n in ast.walk(tree) if n not in ignored):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "ensemblage":
            named = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from {name if name in MODULES else node.module for name in named}
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("ensemblage."))


ABOVE = "ensemblage.base.above"
"""Calls of packages above: a page, a figure, a picture in a notebook. There are three."""


def test_imports_point_one_way():
    assert not [
        f"{module} imports {imported}"
        for module in MODULES
        for imported in imports_of(module)
        if room_of(imported) > room_of(module) and module != ABOVE
    ]
    functions = [node for node in tree_of(ABOVE).body if isinstance(node, ast.FunctionDef)]
    assert [node.name for node in functions] == ["page", "figure", "ensemble_html"]


def test_the_laboratory_is_named_where_its_commands_are_listed_and_nowhere_else():
    place = type(main.commands["benchmark"]).__module__
    assert [module for module in MODULES if "ensemblage_lab" in text_of(module)] == [place]
    imports = [node for node in ast.walk(tree_of(place)) if isinstance(node, ast.Import | ast.ImportFrom)]
    assert not [node for node in imports if "ensemblage_lab" in ast.unparse(node)]


def test_families_of_consensus_import_those_before_them():
    families = ["kmeans", "hierarchies", "graphs", "voting", "posterior", "communities"]
    order = [*families, "_registry", "_method_comparison", "__init__"]

    def place(module):
        part = module.removeprefix("ensemblage.consensus").lstrip(".").split(".")[0] or "__init__"
        return order.index(part) if part in order else -1

    inside = [m for m in MODULES if m.startswith("ensemblage.consensus")]
    for module in inside:
        later = [m for m in imports_of(module) if m in inside and place(m) > place(module)]
        assert not later, f"{module} imports {later}"


def test_kernels_import_nothing_but_the_compiler():
    for module in (m for m in MODULES if m.startswith("ensemblage.kernels.")):
        outside = {m for m in imports_of(module) if not m.startswith("ensemblage.kernels")}
        assert outside <= {"ensemblage.kernels._jit"}, f"{module} imports {outside}"


ENSEMBLE = "ensemblage.labels.ensemble"
SUBCLASSES = {"from_counts": "ensemblage.labels.counted", "from_memberships": "ensemblage.labels.soft"}
"""Methods of `Ensemble` that make an object of a subclass, and its file, which imports that of `Ensemble`."""


def test_an_ensemble_imports_its_subclasses_in_two_methods():
    """These are all imports inside functions of that file, and its head imports none of the two."""
    functions = [node for node in ast.walk(tree_of(ENSEMBLE)) if isinstance(node, ast.FunctionDef)]
    assert {node.name: found for node in functions if (found := set(names_imported_by(node)))} == {
        method: {module} for method, module in SUBCLASSES.items()
    }
    head = ast.Module([node for node in tree_of(ENSEMBLE).body if not isinstance(node, ast.ClassDef)], [])
    assert not set(SUBCLASSES.values()) & set(names_imported_by(head))


def test_no_module_imports_itself_by_a_detour():
    """But for calls of packages above, and the two imports of subclasses of `Ensemble`."""
    left = {module: imports_of(module) for module in MODULES if module != ABOVE} | {ABOVE: set()}
    left[ENSEMBLE] = left[ENSEMBLE] - set(SUBCLASSES.values())
    while free := {module for module, found in left.items() if not found}:
        left = {module: found - free for module, found in left.items() if module not in free}
    assert not left, f"a circle among {sorted(left)}"


@pytest.mark.parametrize("package", ["ensemblage", "ensemblage.consensus", "ensemblage.generation"])
def test_a_stub_is_the_list_of_the_public_names(package):
    module = importlib.import_module(package)
    stub = ast.parse(Path(module.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    named = {alias.asname for node in stub.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert named == set(module.__all__) == set(dir(module))


def test_import_is_lazy():
    code = "import sys, ensemblage; print(*sorted({'sklearn', 'numba', 'scipy', 'matplotlib'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_unknown_name():
    with pytest.raises(AttributeError, match=r"ensemblage.* attribute.*KMeanConsensus"):
        _ = ensemblage.KMeanConsensus


@pytest.mark.slow
def test_processes_that_compile_at_once_name_their_files_apart(tmp_path):
    """numba numbers the files of its cache by an index that another process may be writing."""
    code = (
        "import numpy as np\n"
        "from ensemblage.kernels._codes import mark_values as kernel\n"
        "first, second = (kernel._cache._cache_file._data_name(1) for _ in range(2))\n"
        "assert first != second, first\n"
        "kernel(np.zeros((1, 1), np.int64), np.zeros(1, np.int64), np.zeros(1, np.int64), np.zeros(1, np.uint8))\n"
    )
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", code], env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}, capture_output=True
        )
        assert done.returncode == 0, done.stderr
    assert len(list(tmp_path.rglob("*.nbc"))) == 1  # the second process found what the first had made


def test_properties_that_two_threads_may_ask_have_locks_that_a_fork_frees():
    """Python's own cached_property has one lock for all objects of a class up to 3.11, and none from 3.12 on."""
    of_threads = "labels", "consensus", "counting", "generation", "metrics", "ranking"
    files = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in ROOT.rglob("*.py")}
    python_s = {name for name, text in files.items() if "import cached_property" in text}
    assert python_s
    assert not {name for name in python_s if name.startswith(of_threads)}


@pytest.mark.parametrize(
    ("option", "python", "shell"),
    [
        (Option("impute", "median"), 'impute="median"', "--impute median"),
        (Option("roles", {"a b": "drop"}), 'roles={"a b": "drop"}', "--role 'a b=drop'"),
        (of_columns("roles", {"a": "drop"}), 'Preprocessor(roles={"a": "drop"})', "--role a=drop"),
        (of_columns("missing", [-999]), "Preprocessor(missing=[-999])", "--missing -999"),
        (Option("roles"), "roles", "--role"),
        (Option("has_header", False), "has_header=False", "--no-header"),
        (Option("standardize", True), "standardize=True", "--standardize"),
        (Option("id_column", "who"), 'id_column="who"', "--id-column who"),
        (Option("drop_columns"), "drop_columns", "--drop-column"),
        (Option("categories", "encode"), 'categories="encode"', "--categories encode"),
        (Option("delimiter", ";"), 'delimiter=";"', "--delimiter ';'"),
        (Option("missing", ["-999", "n/a"]), 'missing=["-999", "n/a"]', "--missing -999,n/a"),
        (Option("encoding", 'a"b'), "encoding='a\"b'", "--encoding 'a\"b'"),
        (Option("missing", ["-", "k.A."]), 'missing=["-", "k.A."]', "--missing '-,k.A.'"),
    ],
)
def test_each_front_end_spells_options(option, python, shell, monkeypatch):
    message = Message("Use ", option, ".")
    assert message == str(message) == f"Use {python}."

    def refuse(error):
        raise error

    for error in (ValueError(message), pickle.loads(pickle.dumps(ValueError(message)))):
        monkeypatch.setitem(main.commands, "x", click.Command("x", callback=lambda error=error: refuse(error)))
        assert fail("x") == f"error: Use {shell}."


COMPILED = {"jit", "inner_jit", "intrinsic", "by_vectors"}


def names_in(node):
    return {name.id for name in ast.walk(node) if isinstance(name, ast.Name)}


@pytest.mark.slow
def test_compiled_code_is_of_the_kernels_as_they_are():
    """The cache of the tests goes by all modules that compiled code is made of, those of vector instructions too."""
    hashed = {path.relative_to(ROOT).as_posix() for path in conftest.KERNELS}
    assert {"kernels/_vectors.py", "kernels/_table_rows.py", "kernels/_jit.py"} <= hashed
    for path in ROOT.glob("**/*.py"):
        tree, here = ast.parse(path.read_text(encoding="utf-8")), path.relative_to(ROOT).as_posix()
        functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
        kernels = [
            function for function in functions if COMPILED & set().union(*map(names_in, function.decorator_list))
        ]
        assert not kernels or here in hashed
        used = set().union(*map(names_in, kernels))
        for node in tree.body:  # what other modules define is compiled into a kernel too
            if isinstance(node, ast.ImportFrom) and str(node.module).startswith("ensemblage."):
                module = ROOT / str(node.module).removeprefix("ensemblage.").replace(".", "/")
                for imported in node.names:
                    if (imported.asname or imported.name) in used:
                        of_module, of_package = module.with_suffix(".py"), module / f"{imported.name}.py"
                        file = of_module if of_module.exists() else of_package
                        assert file.relative_to(ROOT).as_posix() in hashed, f"{here} compiles {imported.name}"
