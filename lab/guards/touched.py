"""Which tests execute which lines of the library: recorded once for a state of the sources, with coverage.py.

``python lab/guards/touched.py FOLDER tests/test_a.py …`` runs the tests and writes a part for each file of them.
"""

from __future__ import annotations

import hashlib
import json
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from numba.core import event

MOST_SECONDS = 8.0
"""Of a test: no mutant meets those that take longer."""
ROOT = Path(__file__).parents[2]
LIBRARY = ROOT / "src" / "ensemblage"
STARTING = {"os.fork", "os.forkpty", "os.posix_spawn", "subprocess.Popen"}
"""Audit events of what starts a process, whose lines nobody sees."""


class Touched:
    """What the parts of a record say, one of each file of tests."""

    def __init__(self, folder: Path, files: list[str], root: Path) -> None:
        self.seconds: dict[str, float] = {}
        self.processes: set[str] = set()
        """The tests that start processes."""
        self.lines: dict[str, dict[int, int]] = {}
        """Module → line → a bit for each test that executes it."""
        self.imported: dict[str, set[int]] = {}
        """Module → lines that run while modules are imported."""
        for file in files:
            part = json.loads(part_of(folder, file, root).read_text(encoding="utf-8"))
            shift = len(self.seconds)
            self.seconds |= part["seconds"]
            self.processes |= set(part["processes"])
            for module, lines in part["lines"].items():
                kept = self.lines.setdefault(module, {})
                for line, bits in lines.items():
                    kept[int(line)] = kept.get(int(line), 0) | int(bits, 16) << shift
            for module, imported in part["imported"].items():
                self.imported.setdefault(module, set()).update(imported)
        self.names = list(self.seconds)

    def tests(self, module: str, lines: tuple[int, int]) -> list[str]:
        """Those that execute one of the lines from the first to the last."""
        found = 0
        for line, bits in self.lines.get(module, {}).items():
            if lines[0] <= line <= lines[1]:
                found |= bits
        return [name for i, name in enumerate(self.names) if found >> i & 1]

    def at_import(self, module: str, lines: tuple[int, int]) -> bool:
        return any(lines[0] <= line <= lines[1] for line in self.imported.get(module, ()))


def part_of(folder: Path, file: str, root: Path = ROOT) -> Path:
    """Where the part of a file of tests of a checkout is kept, as long as nothing in the file changes."""
    path = root / file
    return folder / f"{path.stem}-{hashlib.sha256(path.read_bytes()).hexdigest()[:12]}.json"


class Compiling(event.Listener):
    """Seconds of the processor in numba's compiler, which a test spends once and never again."""

    def __init__(self) -> None:
        self.seconds, self.depth, self.start = 0.0, 0, 0.0
        event.register("numba:compile", self)

    def on_start(self, event: Any) -> None:
        if self.depth == 0:
            self.start = time.process_time()
        self.depth += 1

    def on_end(self, event: Any) -> None:
        self.depth -= 1
        if self.depth == 0:
            self.seconds += time.process_time() - self.start


class TooLong(BaseException):
    """No failure, of which hypothesis would look for the least example."""


class Recorder:
    """A plugin of pytest that keeps the lines of each test apart, and writes a part where a file of tests ends."""

    def __init__(self, coverage: Any, folder: Path) -> None:
        self.coverage, self.folder, self.running = coverage, folder, ""
        self.compiling = Compiling()
        self.seconds: dict[str, float] = {}
        self.processes: set[str] = set()
        self.failed: set[str] = set()
        sys.addaudithook(self.heard)

    def heard(self, event: str, _: Any) -> None:
        if self.running and event in STARTING:
            self.processes.add(self.running)

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            self.failed.add(report.nodeid)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self) -> Iterator[None]:
        """A test that takes too long is given up, unless it is one that compiles."""
        compiled = self.compiling.seconds

        def stop(*_: Any) -> None:
            if self.compiling.depth == 0 and self.compiling.seconds == compiled:
                raise TooLong

        signal.signal(signal.SIGPROF, stop)
        signal.setitimer(signal.ITIMER_PROF, MOST_SECONDS, MOST_SECONDS)
        try:
            return (yield)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: Any, nextitem: Any) -> Iterator[None]:
        self.coverage.switch_context(item.nodeid)
        self.running, start, compiled = item.nodeid, time.process_time(), self.compiling.seconds
        yield
        compiled = self.compiling.seconds - compiled
        self.seconds[item.nodeid] = round(max(0.001, time.process_time() - start - compiled), 4)
        self.running, file = "", item.nodeid.split("::")[0]
        if nextitem is None or nextitem.nodeid.split("::")[0] != file:
            self.coverage.switch_context("import")
            self.write(file)
        return

    def write(self, file: str) -> None:
        """The part of a file of tests."""
        data = self.coverage.get_data()
        seconds = {name: s for name, s in self.seconds.items() if name not in self.failed}
        bit = {name: 1 << i for i, name in enumerate(seconds)}
        lines, imported = {}, {}
        for path in data.measured_files():
            module, contexts = Path(path).relative_to(LIBRARY).as_posix(), data.contexts_by_lineno(path)
            found = {i: sum(bit[name] for name in of if name in bit) for i, of in contexts.items()}
            lines[module] = {i: hex(bits) for i, bits in sorted(found.items()) if bits}
            imported[module] = sorted(i for i, of in contexts.items() if "import" in of)
        part = {"seconds": seconds, "processes": sorted(self.processes & bit.keys()), "lines": lines,
                "imported": imported}  # fmt: skip
        part_of(self.folder, file).write_text(json.dumps(part), encoding="utf-8")
        self.seconds, self.processes = {}, set()


def main() -> None:
    import coverage

    folder, *files = sys.argv[1:]
    Path(folder).mkdir(parents=True, exist_ok=True)
    measured = coverage.Coverage(data_file=None, include=[f"{LIBRARY}/*"], config_file=False)
    measured.start()
    measured.switch_context("import")
    recorder = Recorder(measured, Path(folder))
    pytest.main(["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--hypothesis-seed=0", *files], [recorder])
    if recorder.failed:
        sys.stdout.write(f"No mutant meets these, which fail without one or take too long: {sorted(recorder.failed)}\n")


if __name__ == "__main__":
    main()
