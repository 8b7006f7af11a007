"""Everything imported, and a fork of it for each mutant: `live tests/test_a.py …` or `fresh`.

``live`` has the library and all tests imported. The functions of a mutant get their new code in the fork, which is
exact where only the insides of functions differ and none of them ran while modules were imported. ``fresh`` has what
the library stands on: the mutant is put in place of its module, and the fork imports it, as do processes it starts.

A line of JSON asks, a line answers. The checkout that this file is in is a copy that belongs to the server.
"""

from __future__ import annotations

import functools
import gc
import importlib
import json
import os
import pkgutil
import resource
import select
import signal
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import mutations
import pytest
from workshop import replaced

LIBRARY = mutations.ROOT / "src" / "ensemblage"
OPTIONS = ["-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:faulthandler", "-q", "--no-header", "--tb=no",
           "--capture=no", "--hypothesis-seed=0", "-W", "ignore::pytest.PytestAssertRewriteWarning"]  # fmt: skip
MEMORY = 6 << 30
"""Bytes of addresses that a fork may take beyond what it has: an error in a size must not take the machine."""
THEIRS = ("numpy", "scipy.sparse.linalg", "scipy.optimize", "scipy.stats", "scipy.spatial", "scipy.cluster.hierarchy",
          "sklearn.cluster", "sklearn.mixture", "sklearn.metrics", "sklearn.datasets", "sklearn.utils.estimator_checks",
          "sklearn.pipeline", "sklearn.compose", "sklearn.decomposition", "sklearn.preprocessing", "sklearn.impute",
          "sklearn.neighbors", "sklearn.random_projection", "numba", "pandas", "polars", "pyarrow", "pyarrow.csv",
          "pyarrow.parquet", "narwhals", "matplotlib.pyplot", "jinja2", "click.testing", "joblib",
          "hypothesis.extra.numpy", "pymetis")  # fmt: skip
"""What tests and library import, and what takes its time."""


WARM = "tests/test_golden.py::test_the_same_from_disk"
"""Tests that ``live`` runs before it forks: they load most kernels."""


class Plugin:
    """Runs nothing by itself: the tests are collected, and wait."""

    def __init__(self, serve: Callable[[pytest.Session], None]) -> None:
        self.serve = serve

    def pytest_collection(self) -> None:
        _without_shrinking()

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self.serve(session)
        return True


class TestSelection:
    """Only the tests of these names, in their order; each is told when it begins."""

    def __init__(self, names: list[str] | None, tell: Callable[[str], None]) -> None:
        self.names, self.tell = names, tell

    def pytest_collection(self) -> None:
        _without_shrinking()

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        if self.names is not None:
            place = {name: i for i, name in enumerate(self.names)}
            items[:] = sorted((item for item in items if item.nodeid in place), key=lambda item: place[item.nodeid])

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.tell(nodeid)


def _without_shrinking() -> None:
    """An example that fails is enough; the least one is not looked for."""
    from hypothesis import Phase, settings

    settings.register_profile("mutants", settings.default, phases=[Phase.explicit, Phase.generate], database=None)
    settings.load_profile("mutants")


# ---- A fork ----


def in_fork(run: Callable[[Callable[[str], None]], bool], limits: dict[str, float]) -> tuple[str, str, float]:
    """ "passed", "failed" or "too long", the test that was running last, and the seconds.

    limits : seconds of the processor for each test, which has `WAITS` in vain at most as well
    """
    reader, writer = os.pipe()
    start = time.monotonic()
    child = os.fork()
    if child == 0:
        code = 3
        try:
            os.close(reader)
            os.setsid()
            nothing = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1, 2):
                os.dup2(nothing, stream)
            taken = int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[0]) * resource.getpagesize()
            resource.setrlimit(resource.RLIMIT_AS, (taken + MEMORY, taken + MEMORY))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            code = 0 if run(lambda name: os.write(writer, f"{name}\n".encode()) and None) else 1
        finally:
            os._exit(code)
    os.close(writer)
    told, outcome, status, clock = b"", "", None, Clock(child)
    while status is None:
        if clock.spent() > limits.get(_last(told), LIMIT) or clock.waits():
            outcome = "too long"
            os.killpg(child, signal.SIGKILL)
        ended, code = os.waitpid(child, os.WNOHANG if not outcome else 0)
        status = os.waitstatus_to_exitcode(code) if ended else None
        # Not to the end of the pipe: a process that the tests have left behind may hold it.
        while select.select([reader], [], [], 0 if ended else 0.02)[0] and (more := os.read(reader, 65536)):
            told = (told + more)[-100_000:]
            clock.begin()
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)  # what is left behind
    os.close(reader)
    return outcome or ("passed" if status == 0 else "failed"), _last(told), time.monotonic() - start


def _last(told: bytes) -> str:
    return (told.decode(errors="replace").splitlines() or [""])[-1]


LIMIT = 120.0
"""Seconds of the processor for what has no limit of its own: import and collection."""
WAITS = 60.0
"""Seconds without any work, after which a mutant waits for something that never comes."""


class Clock:
    """Seconds of the processor that a group of processes takes, whatever else the machine does."""

    def __init__(self, group: int) -> None:
        self.group, self.looked, self.used, self.begun = group, time.monotonic(), 0.0, 0.0
        self.worked = self.looked

    def begin(self) -> None:
        """A test begins."""
        self.begun = self.used = self._used()

    def spent(self) -> float:
        """By the test that runs; looked at twice a second."""
        now = time.monotonic()
        if now - self.looked > 0.5:
            before, self.used, self.looked = self.used, self._used(), now
            if self.used > before + 0.01:
                self.worked = now
        return self.used - self.begun

    def waits(self) -> bool:
        return time.monotonic() - self.worked > WAITS

    def _used(self) -> float:
        ticks = 0
        for path in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError, ValueError):
                fields = path.read_text(encoding="utf-8").rpartition(")")[2].split()
                if int(fields[2]) == self.group:
                    ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")


# ---- The code of a mutant, in functions that live ----


FUNCTIONS: dict[str, list[FunctionType]] = defaultdict(list)
"""Path of a module → the functions from there that live when the server is ready."""


def codes_of(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from codes_of(constant)


@functools.lru_cache(2)
def changed_codes(module: str, number: int) -> list[tuple[CodeType, CodeType]] | None:
    """Pairs of a function's code before and after; None where more than functions differ."""
    path = str(LIBRARY / module)
    before, after = (compile(tree, path, "exec", dont_inherit=True) for tree in mutations.trees_of(module, number))
    pairs, at_import = [], [(before, after)]
    while at_import:
        old, new = at_import.pop()
        if old.co_code != new.co_code or old.co_names != new.co_names or len(old.co_consts) != len(new.co_consts):
            return None
        for a, b in zip(old.co_consts, new.co_consts, strict=True):
            if not isinstance(a, CodeType):
                if (type(a), repr(a)) != (type(b), repr(b)):
                    return None
            elif a != b and a.co_flags & 0x2:  # a function's
                pairs.append((a, b))
                inner = dict.fromkeys(codes_of(b))
                of_name = {(c.co_qualname, c.co_firstlineno): c for c in inner}
                pairs += [(c, d) for c in codes_of(a)
                          if (d := of_name.get((c.co_qualname, c.co_firstlineno))) is not None and c != d]  # fmt: skip
            elif a != b:
                at_import.append((a, b))  # a class body's
    return pairs


def put_in(module: str, number: int) -> bool:
    """Give the functions of this process the code of a mutant; False where that is not the mutant."""
    pairs = changed_codes(module, number)
    if not pairs:
        return False
    path = str(LIBRARY / module)
    new = {(old.co_qualname, old.co_firstlineno): (old, code) for old, code in pairs}
    found = set()
    for function in FUNCTIONS.get(path, ()):
        code = function.__code__
        name = (code.co_qualname, code.co_firstlineno)
        if name in new and code == new[name][0]:
            try:
                function.__code__ = new[name][1]
            except ValueError:  # other free variables
                return False
            found.add(name)
    first = pairs[0][0]
    return (first.co_qualname, first.co_firstlineno) in found


# ---- Serving ----


def serve(answer: Callable[[dict[str, Any]], dict[str, Any]], output: int) -> None:
    os.write(output, b'{"ready": true}\n')
    for line in sys.stdin:
        os.write(output, (json.dumps(answer(json.loads(line))) + "\n").encode())


def serve_live(files: list[str], output: int) -> None:
    def loop(session: pytest.Session) -> None:
        for info in pkgutil.walk_packages([str(LIBRARY)], "ensemblage."):
            if not info.name.endswith("__main__"):
                importlib.import_module(info.name)
        items = {item.nodeid: item for item in session.items}

        def answer(asked: dict[str, Any]) -> dict[str, Any]:
            chosen = [items[name] for name in asked["tests"] if name in items]

            def run(tell: Callable[[str], None]) -> bool:
                if asked["number"] is not None and not put_in(asked["module"], asked["number"]):
                    os._exit(7)
                return run_items(session, chosen, tell)

            if asked["number"] is not None and not changed_codes(asked["module"], asked["number"]):
                return {"outcome": "not live"}
            outcome, test, seconds = in_fork(run, asked["limits"])
            if outcome == "failed" and not test and chosen:
                outcome = "not live"
            return {"outcome": outcome, "test": test, "seconds": seconds}

        warm = [item for item in session.items if item.nodeid.startswith(WARM)]
        run_items(session, warm, lambda _: None)
        forget()
        gc.collect()
        for function in gc.get_objects():
            if isinstance(function, FunctionType):
                FUNCTIONS[function.__code__.co_filename].append(function)
        gc.freeze()
        serve(answer, output)

    pytest.main([*OPTIONS, *files], [Plugin(loop)])


def forget() -> None:
    """Empty the library's caches of results."""
    for kept in gc.get_objects():
        if isinstance(kept, functools._lru_cache_wrapper) and kept.__module__.startswith("ensemblage"):
            kept.cache_clear()


def run_items(session: pytest.Session, items: list[pytest.Item], tell: Callable[[str], None]) -> bool:
    """Whether all pass; ends with the first that fails. As pytest runs them: a warning is an error."""
    before = session.testsfailed
    for item, following in zip(items, [*items[1:], None], strict=False):
        tell(item.nodeid)
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if session.testsfailed > before:
            return False
    return True


def serve_fresh(output: int) -> None:
    for name in THEIRS:
        try:
            importlib.import_module(name)
        except ImportError:
            continue

    def answer(asked: dict[str, Any]) -> dict[str, Any]:
        def run(tell: Callable[[str], None]) -> bool:
            code = pytest.main(["-x", *OPTIONS, *asked["files"]], [TestSelection(asked["tests"], tell)])
            return code in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)

        if asked["number"] is None:
            outcome, test, seconds = in_fork(run, asked["limits"])
        else:
            source = mutations.source_of(asked["module"], asked["number"])
            with replaced(LIBRARY / asked["module"], source):
                outcome, test, seconds = in_fork(run, asked["limits"])
        return {"outcome": outcome, "test": test, "seconds": seconds}

    serve(answer, output)


def main() -> None:
    mode, *files = sys.argv[1:]
    output = os.dup(1)  # pytest's words go elsewhere
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    if mode == "live":
        serve_live(files, output)
    else:
        serve_fresh(output)


if __name__ == "__main__":
    main()
