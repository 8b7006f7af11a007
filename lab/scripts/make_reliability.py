"""Write docs/RELIABILITY.md from what the sessions in lab/guards found: python lab/scripts/make_reliability.py"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
RECORDS = ROOT / "lab" / "records" / "guards"
sys.path.insert(0, str(ROOT / "lab" / "guards"))
PAGE = ROOT / "docs" / "RELIABILITY.md"

from mutations import PACKAGES, modules_of, sample_of  # noqa: E402

KINDS = {
    "calls": "label matrices × methods × legal parameters, every index of the kernels checked",
    "arguments": "one illegal argument of a public function or estimator",
    "files": "damaged files through `read_table`, `Ensemble.load` and the command line",
    "kills": "`ensemblage run` stopped by KILL, TERM or INT, then begun again",
    "folders": "two `ensemblage run` in one folder at the same time",
    "cells": "partitions in AnnData, in memory and in files that may be cut off",
}

HEAD = """# Reliability

This page lists what long test sessions have found in addition to the tests. `python lab/scripts/make_reliability.py`
writes it from [the records](../lab/records/guards) of `lab/guards`. Every number comes from a session
that ran. A session continues where the last one stopped.

"""
CONFORMANCE = """`python tests/conformance.py` (`nox -s conformance`) applies every named check to every registered
method, ranker and generator. It prints a table with the reason for each refusal. The same checks run as tests."""
FAILURES = """The list has all failures, also those that were fixed later. The last column of the table counts the
failures of the last session. A case number means the same case only with the sources of that day."""
MUTANTS = """`nox -s mutants -- counting --sample 25`: each mutant is one small error in the current sources. The tests
that execute its lines run against it for some seconds, the fastest first. A session takes a sample of a package, or
of a module that changed.

"""
SURVIVORS = """The share is the number of survivors, divided by the number of mutants that ran and are not
equivalent. At first: when they first ran, before tests were written for those that survived. Modules: of how many a
mutant ran. Of the {} survivors, {} have met all of the nearest tests
(`--again survived --whole`). These tests may still kill the others."""


LIBRARIES = """The table says which parts a library could replace. It was entered by hand on 23 November 2026. \
mutmut 3.8 and cosmic-ray
8.7 ran on `counting` while the machine did other work, so minutes are approximate.

| part | lines | library | decision | reason |
|---|---|---|---|---|
| `mutations.py`, `mutants.py`, `mutant_server.py`: small errors, each against the tests that execute it | 799 | \
mutmut | kept | 146 mutants that met a test took 15 minutes, 10 per 100, after 9 minutes to record the tests. Ours \
take 5 minutes per 100 in the functions it supports, and 11 over all. It skips decorated functions and code outside \
functions. These are all kernels and 9 % of the places in the packages sampled here (1,928 of 20,647), such as \
defaults, limits and properties. It uses one selection of tests for the whole run, in which a test of peak memory \
fails without a mutant. It limits time but not memory. It takes no sample, and `counting` alone has 1,597 of its \
mutants |
| the same | | cosmic-ray | kept | 19 mutants of one module took 2.1 minutes, 11 per 100, with the two fastest files \
of tests: each mutant starts the tests anew, and each survivor takes all of them. No selection of tests by function; \
`counting` has 2,436 of its mutants |
| `touched.py`: tests by line | 172 | coverage.py | kept | it is coverage.py; what is added are seconds without \
compiling and which tests start processes |
| `mutants.jsonl`, `equivalent.json`: answers kept by the text of the mutant | | both | kept | 2,127 answers and 175 \
reasons would be lost: mutmut and cosmic-ray name mutants by their number in a function or run |
| `planted.py`, `workshop.py`: bugs of more than one operator | 405 | none | kept | weights left out, a parameter \
that is ignored: no operator of a library makes them |
| `fuzz.py`, `fuzz_calls.py`, `fuzz_arguments.py`, `fuzz_files.py`, `fuzz_cells.py` | 1,080 | hypothesis | kept | it \
draws and shrinks in the process of the test. 6 of the 26 failures of calls were processes that hung or ended, which \
it cannot report. The tests use it for what stays in a process |
| `fuzz_kills.py`, `fuzz_folders.py`: signals, two processes in a folder | 186 | none | kept | hypothesis has no \
processes |"""


PEERS = """`nox -s peers` gives the same input to other packages, as black boxes in their own environment.

"""
ELSEWHERE = """The tests and sessions above run on Python 3.11 with the newest versions of all dependencies. Another
run was entered by hand. On 23 November 2026 the core tests ran against the wheel (by `nox -s wheel --force-python
3.13`). The versions were Python 3.13.0, NumPy 2.5.5, SciPy 1.18.1, scikit-learn 1.9.1, numba 0.68.1 and pandas 3.1.1.
In the first run 238 tests failed, which led to five fixes. Then 14,754 passed and none failed. The tests of forks,
threads, loky, killed workers of Dask and signals (test_threads, test_dask, test_cli_process, test_interrupts) passed
there: 185."""


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def lines_of(path: Path) -> list[dict[str, Any]]:
    """The last answer of each mutant."""
    if not path.exists():
        return []
    records = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return list({record["key"]: record for record in records}.values())


def first_lines_of(path: Path) -> list[dict[str, Any]]:
    """The first answer of each mutant."""
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return list({record["key"]: record for record in reversed(records)}.values())


def fuzz_table() -> str:
    """Cases and failures by kind, over all sessions."""
    lines = ["| cases of | sessions | cases | outcomes | failures | in the last session |", "|---|---|---|---|---|---|"]
    told: dict[tuple[str, str], list[str]] = {}
    for kind, text in KINDS.items():
        sessions = read(RECORDS / f"{kind}.json") or []
        outcomes: Counter[str] = Counter()
        for session in sessions:
            outcomes.update({name: n for name, n in session["outcomes"].items() if name != "failure"})
            for failure in session["failures"]:
                place = f"--seed {session['seed']} --only {failure['number']}"
                told.setdefault((kind, _plain(failure["told"])), []).append(place)
        failures = [session["outcomes"].get("failure", 0) for session in sessions]
        shown = ", ".join(f"{name} {n:,}" for name, n in outcomes.most_common())
        cases, last = sum(session["cases"] for session in sessions), (failures or [0])[-1]
        lines.append(f"| {kind}: {text} | {len(sessions)} | {cases:,} | {shown} | {sum(failures)} | {last} |")
    found = [
        f"- {kind}, `{places[0]}`{f' and {len(places) - 1} more' if len(places) > 1 else ''}: {text}"
        for (kind, text), places in told.items()
    ]
    return "\n".join([*lines, "", *([FAILURES, "", *found] if found else [])])


def _plain(text: str) -> str:
    return " ".join(text.split())[:300].replace("|", "\\|").replace("<", "&lt;")


def mutants_table() -> str:
    """Mutants by package: how many there are and were run, killed, survived, equivalent; of the sources as they are."""
    equivalent = read(RECORDS / "equivalent.json") or {}
    columns = ["package", "mutants there are", "run", "killed", "equivalent", "survived", "share", "share at first",
               "modules", "run from", "to"]  # fmt: skip
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    records, survivors = lines_of(RECORDS / "mutants.jsonl"), []
    lived_first = {
        record["key"] for record in first_lines_of(RECORDS / "mutants.jsonl") if record["outcome"] == "survived"
    }
    for package in sorted(PACKAGES):
        keys = {mutant.key for mutant in sample_of(package, 10**9)}
        of_package = [record for record in records if record["key"] in keys]
        if not of_package:
            continue
        equal = {record["key"] for record in of_package if record["key"] in equivalent}
        killed = [record for record in of_package if record["outcome"] == "killed" and record["key"] not in equal]
        alive = [record for record in of_package if record["outcome"] == "survived" and record["key"] not in equal]
        survivors += alive
        n, dates = len(killed) + len(alive), sorted(record.get("date", "2026-11-22") for record in of_package)
        modules = f"{len({record['module'] for record in of_package})} of {len(modules_of(package))}"
        n_first = len({record["key"] for record in killed + alive} & lived_first)
        figures = [package, f"{len(keys):,}", len(of_package), len(killed), len(equal), len(alive),
                   *(f"{number / n:.0%}" if n else "" for number in (len(alive), n_first)),
                   modules, dates[0], dates[-1]]  # fmt: skip
        lines.append("| " + " | ".join(map(str, figures)) + " |")
    n_whole = sum(record.get("whole", True) for record in survivors)
    lines += ["", SURVIVORS.format(len(survivors), n_whole), "", "Survivors:", ""]
    lines += [f"- `{r['module']}` {_plain(r['place'])} ({r['key']})" for r in survivors]
    lines += ["", "Equivalent, by key:", ""] + [f"- {key}: {why}" for key, why in equivalent.items()]
    return "\n".join(lines)


def planted_table() -> str:
    answers = read(RECORDS / "planted.json") or {}
    lived = [name for name, answer in answers.items() if answer != "killed"]
    lines = [
        f"{len(answers)} bugs that tests once let pass were planted again: {len(answers) - len(lived)} are noticed."
    ]
    return "\n".join([*lines, *([""] if lived else []), *(f"- lives: {name}" for name in lived)])


def peers_table() -> str:
    """A row for each comparison with another package."""
    lines = ["| package | version | what | cases | found |", "|---|---|---|---|---|"]
    for name, found in (read(RECORDS / "peers.json") or {}).items():
        figures = {key: value for key, value in found.items() if key not in ("version", "versions", "what", "cases")}
        shown = [f"{key}: {value if isinstance(value, int) else f'{value:.1g}'}" for key, value in figures.items()]
        lines.append(f"| {name} | {found['version']} | {found['what']} | {found['cases']} | {', '.join(shown)} |")
    return "\n".join(lines)


def versions() -> str:
    every = [s["versions"] for kind in KINDS for s in read(RECORDS / f"{kind}.json") or []]
    seen = dict.fromkeys(", ".join(f"{name} {number}" for name, number in found.items()) for found in every)
    return "\n".join(f"- {text}" for text in seen)


def page() -> str:
    parts = [
        ("Conformance", CONFORMANCE),
        ("Fuzz", "`nox -s fuzz -- --minutes 10`\n\n" + fuzz_table()),
        ("Mutants", MUTANTS + mutants_table()),
        ("Planted bugs", "`nox -s planted`\n\n" + planted_table()),
        ("Other packages", PEERS + peers_table()),
        ("Libraries in place of these sessions", LIBRARIES),
        ("Other versions", ELSEWHERE),
        ("Versions of the sessions", versions()),
    ]  # fmt: skip
    return HEAD + "\n\n".join(f"## {title}\n\n{text}" for title, text in parts).rstrip() + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    sys.exit(0)
