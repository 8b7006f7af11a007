"""Mutants: the library with one small error, and whether a test notices.

``python lab/guards/mutants.py counting --sample 25``, or ``io/_draws.py`` for one module, goes on where an earlier
session stopped: a mutant that has an answer in ``mutants.jsonl`` is not run again, unless ``--again`` says which. The
sample is the mutants with the smallest hashes, so that it stays nearly the same while the sources change, and a larger
one begins with a smaller one.

A mutant meets the tests that execute its lines (`touched.py`), those first that killed a neighbour, then the fastest:
of the files that are nearest to its module as many as take `NEAR_SECONDS`, of the others `FAR_SECONDS`. They run in a
fork of a process that has everything imported (`mutant_server.py`); what differs where modules are imported takes
the place of its module. A survivor is to meet all of the nearest tests once more, those that start processes too:
``--again survived --whole``. A test that kills is run without the mutant, once: it must pass in a fork.
"""

from __future__ import annotations

import argparse
import datetime
import json
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from mutations import PACKAGES, ROOT, Mutant, modules_of, mutants_of, sample_of
from touched import Touched, part_of
from workshop import GUARDS, Workshop, file_of_tests, nearest_tests, state_of_library

RESULTS = ROOT / "lab" / "records" / "guards" / "mutants.jsonl"
EQUIVALENT = RESULTS.with_name("equivalent.json")
NEAR_SECONDS = 5
"""Of the nearest tests that execute a line; all of them with ``--whole``."""
FAR_SECONDS = 2
"""Of the others."""
CLUSTERS = "tests/labels/test_dask.py"
"""Tests that start clusters, whose threads a fork does not have."""
FAR = ["bitmaps", "kmeans_starts", "sampled", "tables_frames", "tables_workbooks", "few", "annotate"]
"""Tests that are nearest to no module, yet execute much of some."""


def read_results() -> dict[str, dict[str, Any]]:
    """The last answer of each mutant."""
    if not RESULTS.exists():
        return {}
    lines = RESULTS.read_text(encoding="utf-8").splitlines()
    return {record["key"]: record for record in map(json.loads, lines)}


def equivalents() -> dict[str, str]:
    """Key → why no test can tell this mutant from the library."""
    return json.loads(EQUIVALENT.read_text(encoding="utf-8")) if EQUIVALENT.exists() else {}


class Server:
    """The other end of `mutant_server.py`."""

    def __init__(self, workshop: Workshop, mode: str, files: list[str]) -> None:
        command = [sys.executable, "lab/guards/mutant_server.py", mode, *files]
        self.process = subprocess.Popen(
            command,
            cwd=workshop.copy,
            env=workshop.environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._read()

    def ask(self, **asked: Any) -> dict[str, Any]:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(asked) + "\n")
        self.process.stdin.flush()
        return self._read()

    def _read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            sys.exit("A server of mutants ended.")
        answer: dict[str, Any] = json.loads(line)
        return answer


class Judge:
    """Says which tests a mutant meets, and what they say."""

    def __init__(self, packages: Sequence[str] = PACKAGES, recorded: bool = False, whole: bool = False) -> None:
        self.workshop, self.whole = Workshop("mutants"), whole
        of_modules = [file for package in packages for module in modules_of(package) for file in nearest_tests(module)]
        far = FAR if sum(not package.endswith(".py") for package in packages) > 1 else []
        self.files = [*dict.fromkeys([*of_modules, *(file_of_tests(name) for name in far)])]
        self.touched = self._recorded(recorded)
        self.live = Server(self.workshop, "live", self.files)
        self.kills: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
        """Of each module and of each function: test → how many mutants it killed."""
        self.passing: dict[str, bool] = {}
        """Tests that have killed: whether they pass in such a fork without a mutant."""
        for record in read_results().values():
            self.learn(record)

    @cached_property
    def fresh(self) -> Server:
        return Server(self.workshop, "fresh", [])

    def _recorded(self, only: bool) -> Touched:
        """Files that changed are recorded anew, or left out; all of them where the library changed."""
        folder = self.workshop.path / f"touched-{state_of_library()}"
        copy = self.workshop.copy  # in which nothing changes while this runs
        wanted = [file for file in self.files if not part_of(folder, file, copy).exists()]
        if only:
            self.files = [file for file in self.files if file not in wanted]
        elif wanted:
            print(f"recording what {len(wanted)} files of tests execute", flush=True)
            command = [sys.executable, "lab/guards/touched.py", str(folder), *wanted]
            subprocess.run(command, cwd=copy, env=self.workshop.environment(), check=True)
        touched = Touched(folder, self.files, copy)
        touched.processes |= {test for test in touched.names if test.startswith(CLUSTERS)}
        return touched

    def learn(self, record: dict[str, Any]) -> None:
        if record.get("by"):
            for place in (record["module"], f"{record['module']} {record['place'].split(': ')[0]}"):
                self.kills[place][record["by"]] += 1

    def is_live(self, mutant: Mutant) -> bool:
        """Whether nothing of it runs while modules are imported."""
        return mutant.function is not None and not self.touched.at_import(mutant.module, mutant.lines)

    def tests_of(self, mutant: Mutant) -> tuple[list[str], list[str]]:
        """Those that run in this process, and those that start others, in their order."""
        touched, near = self.touched, set(nearest_tests(mutant.module))
        executing = touched.tests(mutant.module, mutant.lines) if mutant.function else []
        executing = executing or touched.tests(mutant.module, mutant.function or (0, 10**9))
        if not self.is_live(mutant):  # a default or a limit, which is written down
            found, guards = set(executing), {file_of_tests(name) for name in GUARDS}
            executing = [t for t in touched.names if t in found or t.split("::")[0] in guards]
        place = mutant.place.split(": ")[0]
        of_function, of_module = self.kills[f"{mutant.module} {place}"], self.kills[mutant.module]
        order = sorted(executing, key=lambda t: (-of_function.get(t, 0), -of_module.get(t, 0), touched.seconds[t]))
        here, left = [], {True: NEAR_SECONDS, False: FAR_SECONDS}
        for test in order:
            if not self.passing.get(test, True):
                continue
            is_near = test.split("::")[0] in near
            left[is_near] -= touched.seconds[test]
            if test not in touched.processes and (left[is_near] > 0 or (self.whole and is_near)):
                here.append(test)
        if here and not self.whole:
            return here, []
        started = [t for t in touched.names if t in touched.processes and t.split("::")[0] in near]
        return here, sorted(started, key=lambda t: (t not in executing, touched.seconds[t]))

    def judge(self, mutant: Mutant) -> dict[str, Any]:
        """The record of a mutant."""
        here, started = self.tests_of(mutant)
        place, start = {"module": mutant.module, "number": mutant.number}, time.monotonic()
        found = {"outcome": "not live", "test": ""}
        if here and self.is_live(mutant):
            found = self.live.ask(**place, tests=here, limits=self.limits(here))
        how = "live"
        if found["outcome"] in ("passed", "not live"):
            left = started if found["outcome"] == "passed" else [*here, *started]
            near = [file for file in nearest_tests(mutant.module) if file in self.files]
            # What is collected takes its time: the guards alone notice most defaults and limits.
            guards, others = near[-len(GUARDS) :], near[: -len(GUARDS)]
            for files in (guards, others, [file for file in self.files if file not in near]):
                tests = [t for t in left if t.split("::")[0] in files]
                if tests and found["outcome"] in ("passed", "not live"):
                    files = sorted({t.split("::")[0] for t in tests})
                    found, how = self.fresh.ask(**place, files=files, tests=tests, limits=self.limits(tests)), "fresh"
            if not left and not here:
                found, how = self.fresh.ask(**place, files=near, tests=None, limits={}), "fresh"
        outcome = "survived" if found["outcome"] in ("passed", "not live") else "killed"
        if outcome == "killed" and not self.passes(found["test"], how):
            return self.judge(mutant)
        return {
            "key": mutant.key, "package": mutant.module.split("/")[0], "module": mutant.module, "line": mutant.lines[0],
            "place": mutant.place, "outcome": outcome, "by": found["test"] if outcome == "killed" else "",
            "met": len(here) + len(started), "how": how, "whole": self.whole,
            "seconds": round(time.monotonic() - start, 2), "date": datetime.date.today().isoformat(),
        }  # fmt: skip

    def limits(self, tests: list[str]) -> dict[str, float]:
        """Seconds of the processor that a mutant may take for each test."""
        return {test: 5 + 5 * self.touched.seconds[test] for test in tests}

    def passes(self, test: str, how: str) -> bool:
        """Whether a test passes in such a fork without a mutant; one that is not collected has no name."""
        if test in self.touched.seconds and test not in self.passing:
            given: dict[str, Any] = {"module": "", "number": None, "tests": [test], "limits": self.limits([test])}
            file = test.split("::")[0]
            found = self.live.ask(**given) if how == "live" else self.fresh.ask(**given, files=[file])
            self.passing[test] = found["outcome"] == "passed"
            if not self.passing[test]:
                print(f"no mutant meets {test}: in a {how} fork without one it {found['outcome']}", flush=True)
        return self.passing.get(test, True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packages", nargs="*", default=[], help="or modules, such as io/_draws.py")
    parser.add_argument("--sample", type=int, default=200, help="mutants per package or module")
    parser.add_argument("--again", default="", choices=["", "survived", "killed", "any"], help="run those once more")
    parser.add_argument("--minutes", type=float, default=1e9)
    parser.add_argument("--list", action="store_true", help="only count the mutants there are")
    parser.add_argument("--recorded", action="store_true", help="without the files of tests that are not recorded yet")
    parser.add_argument("--whole", action="store_true", help="all of the nearest tests, however long they take")
    given = parser.parse_args()
    packages = given.packages or PACKAGES
    if given.list:
        for package in packages:
            print(package, sum(1 for module in modules_of(package) for _ in mutants_of(module)))
        return
    until, judge = time.monotonic() + 60 * given.minutes, Judge(packages, given.recorded, given.whole)
    equivalent, outcomes = equivalents(), {key: record["outcome"] for key, record in read_results().items()}
    wanted = [
        # First those in functions that live, which take a tenth of the time, last those that need clusters; 25 of each
        # package, then the next 25. What killed one is likely to kill its neighbour: they follow each other.
        (
            CLUSTERS in nearest_tests(mutant.module),
            not judge.is_live(mutant),
            number // 25,
            package,
            mutant.module,
            mutant.lines,
            mutant,
        )
        for package in packages
        for number, mutant in enumerate(sample_of(package, given.sample))
        if mutant.key not in equivalent and given.again in ("any", outcomes.get(mutant.key, ""))
    ]
    for *_, mutant in sorted(wanted, key=lambda row: row[:6]):
        if time.monotonic() > until:
            break
        if given.recorded and not judge.tests_of(mutant)[0]:
            continue  # of a module whose tests are not recorded yet
        record = judge.judge(mutant)
        judge.learn(record)
        with open(RESULTS, "a", encoding="utf-8") as file:
            file.write(json.dumps(record, ensure_ascii=False) + "\n")
        print(f"{record['outcome']:9s} {record['seconds']:6.2f}s {record['how']:5s} {mutant.module}:{mutant.lines[0]} "
              f"{mutant.place}", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
