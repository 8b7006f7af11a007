"""What a reader of one fit goes through is bounded: files, functions, lines, classes; and what tests import.

The numbers are means to an end. Whoever raises a bound says why in the commit. The aims are 12 files, 70 functions, 350
lines and 3 classes on average, and 5 private modules.
"""

import ast
import sys
from pathlib import Path

import numpy as np
import pytest
from inside import rows_in_memory
from limits import SIZES, place
from places import TESTS

import ensemblage
from ensemblage import METHODS, make_consensus
from ensemblage.ranking import DISCOTEC

ROOT = Path(ensemblage.__file__).parent
CORE = ("labels", "counting", "consensus", "ranking")
"""Rooms whose private modules tests rarely import: methods are tested by what `fit` gives."""


def labels():
    rng = np.random.RandomState(0)
    truth = rng.randint(0, 3, 200)
    return np.stack([np.where(rng.rand(200) < 0.8, truth, rng.randint(0, 4, 200)) for _ in range(10)], axis=1)


def estimator(name):
    made = DISCOTEC() if name == "discotec" else make_consensus(name, n_clusters=3)
    known = made.get_params()
    return made.set_params(**{key: value for key, value in (("random_state", 0), ("n_jobs", 1)) if key in known})


def traced(fit):
    """Files, functions and lines of the library, code that it generates included, that a call runs."""
    files, functions, lines = set(), set(), set()

    def local(frame, event, arg):
        if event == "line":
            lines.add((frame.f_code.co_filename, frame.f_lineno))
        return local

    def trace(frame, event, arg):
        code = frame.f_code
        if event != "call" or not (code.co_filename.startswith(str(ROOT)) or code.co_filename == "<string>"):
            return None
        files.add(code.co_filename)
        functions.add((code.co_filename, code.co_qualname, code.co_firstlineno))
        return local

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        fit()
    finally:
        sys.settrace(before)
    return len(files), len(functions), len(lines)


@pytest.fixture(scope="module")
def walked():
    """By method: (files, functions, lines) of a fit of 200 objects in 10 partitions, and own classes above."""
    found, X = {}, labels()
    for name in [*METHODS, "discotec"]:
        try:
            estimator(name).fit(X)  # compiles
        except ImportError:  # of an extra that is not installed
            continue
        made = estimator(name)
        above = [cls for cls in type(made).__mro__[1:] if cls.__module__.startswith("ensemblage")]
        found[name] = (*traced(lambda made=made: made.fit(X)), len(above))
    return found


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="later versions count comprehensions otherwise")
@pytest.mark.parametrize(
    ("what", "place", "mean", "most"),
    [("files", 0, 17.7, 20), ("functions", 1, 119.5, 149), ("lines", 2, 470, 625), ("classes", 3, 2.8, 4)],
)
def test_a_fit_is_read_in_few_places(walked, what, place, mean, most):
    counted = {name: row[place] for name, row in walked.items()}
    assert np.mean(list(counted.values())) <= mean
    assert {name: n for name, n in counted.items() if n > most} == {}


def modules_of(rooms):
    """All modules of rooms, but for what their packages show."""
    paths = [path.relative_to(ROOT).with_suffix("") for room in rooms for path in (ROOT / room).rglob("*.py")]
    return {
        ".".join(("ensemblage", *path.parts))
        for path in paths
        if path.name not in ("__init__", "diagnostics", "evidence")
    }


def imported_of(modules, paths):
    """Those that some files of the tests import, or name in a text."""
    imported = set()
    for path in paths:
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom) and node.module:
                imported |= {node.module, *(f"{node.module}.{name.name}" for name in node.names)} & modules
            if isinstance(node, ast.Import):
                imported |= {name.name for name in node.names} & modules
        imported |= {name for name in modules if f'"{name}.' in text}
    return imported


def test_tests_import_few_modules_of_the_core():
    """`inside.py` makes rows and is left out. A module is counted once, however many files import it."""
    core, inside = modules_of(CORE), TESTS / "inside.py"
    imported = imported_of(core, set(TESTS.rglob("*.py")) - {inside})
    assert len(imported) <= 10, sorted(imported)
    assert len(imported_of(core, [inside])) <= 3


def test_tests_import_few_private_modules():
    """Of all rooms but the kernels, which have their twins."""
    rooms = {path.name for path in ROOT.iterdir() if path.is_dir()} - {"kernels"}
    private = {name for name in modules_of(rooms) if name.rpartition(".")[2].startswith("_")}
    imported = imported_of(private, TESTS.rglob("*.py"))
    assert len(imported) <= 40, sorted(imported)


def test_the_tests_of_a_thing_are_found_by_its_path():
    """Folders of tests are those of the library; what holds for the whole stays at the top."""
    holding = {path.parent.relative_to(TESTS) for path in TESTS.rglob("test_*.py")}
    rooms = {path.parent.relative_to(ROOT) for path in ROOT.rglob("__init__.py")}
    assert holding - rooms == {Path("rules")}


def test_limits_are_sizes_and_nothing_else():
    """Numbers and pairs of numbers, and one function of three numbers that gives one."""
    found = {what: getattr(*place(what)) for what in SIZES}
    sizes = {what for what, size in found.items() if np.issubdtype(np.asarray(size).dtype, np.number)}
    assert found.keys() - sizes == {"rows that are sorted at once on disk"}


def test_label_rows_have_few_methods():
    """What an algorithm needs beyond them is a function on blocks, in `labels/counts.py`."""
    (protocol,) = type(rows_in_memory(np.zeros((1, 1), dtype=np.uint8))).__bases__
    methods = {name for name, value in vars(protocol).items() if callable(value) and not name.startswith("_")}
    assert methods == {"add", "columns", "distinct", "map", "recode", "state", "take"}
