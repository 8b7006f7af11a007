"""Write docs/RELIABILITY.md from what the sessions in tests/guards found: python docs/make_reliability.py"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
GUARDS = ROOT / "tests" / "guards"
sys.path.insert(0, str(GUARDS))
PAGE = ROOT / "docs" / "RELIABILITY.md"

from mutations import PACKAGES, sample_of  # noqa: E402

KINDS = {
    "calls": "label matrices × methods × legal parameters, every index of the kernels checked",
    "arguments": "one illegal argument of a public function or estimator",
    "files": "damaged files through `read_table`, `Ensemble.load` and the command line",
    "kills": "`ensemblage run` stopped by KILL, TERM or INT, then begun again",
    "folders": "two `ensemblage run` in one folder at the same time",
    "cells": "clusterings in AnnData, in memory and in files that may be cut off",
}

HEAD = """# Reliability

What the sessions beside the tests have found; written by `python docs/make_reliability.py` from their records in
`tests/guards/`. Every number is of a session that ran; a session goes on where the last one stopped.

"""
CONFORMANCE = """Every method, ranker and generator of the registries by every named check:
`python tests/conformance.py`
(`nox -s conformance`) prints the table, with the reason of each refusal. The same checks run as tests."""
FAILURES = """What failed, as the sessions saw it, mended or not: the last column says how many cases still do. A
number means the same case only with the sources of its day:"""
MUTANTS = """`nox -s mutants -- counting --sample 25`: each mutant is one small error of the sources as they are. It
meets the tests that execute its lines, the fastest first, for some seconds.

"""
SURVIVORS = """The share is that of the survivors among the mutants that were run and are not equivalent. Of the {}
survivors {} have met all of the nearest tests (`--again survived --whole`); the others may still be killed by them."""


LIBRARIES = """What libraries for this would replace. Entered by hand on 23 November 2026: mutmut 3.8 and cosmic-ray \
8.7 ran on
`counting` on a machine that did other work, so minutes are rough.

| part | lines | library | decision | reason |
|---|---|---|---|---|
| `mutations.py`, `mutants.py`, `mutant_server.py`: small errors, each against the tests that execute it | 799 | \
mutmut | kept | 146 mutants that met a test took 15 minutes, 10 per 100, after 9 for its own record of the tests; \
ours take 5 per 100 in functions that live, 11 over all. It leaves out decorated functions and what stands in no \
function: all kernels, and of the packages sampled here 9 % of the places (1,928 of 20,647), defaults, limits and \
properties among them. One selection of tests serves the whole run, and a test of peak memory fails in it without a \
mutant. Timeouts are its only limit: none on memory. It takes no sample, and `counting` alone has 1,597 of its \
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


PEERS = """`nox -s peers`: the same input through other packages, run as black boxes in an environment of their own.

"""
ELSEWHERE = """The tests and sessions above run on Python 3.11 and the newest versions of what the library stands on
there. Entered by hand: the core of the tests on 23 November 2026, against the wheel (by the steps of
`nox -s wheel --force-python 3.13`), on Python 3.13.0 with NumPy 2.5.5, SciPy 1.18.1, scikit-learn 1.9.1, numba 0.68.1,
pandas 3.1.1: 14,754 passed, none failed, after 238 of the first run had led to five mends. Forks, threads, loky, killed
workers of Dask and signals there (test_threads, test_dask, test_cli_process, test_slices): 185 passed."""


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def lines_of(path: Path) -> list[dict[str, Any]]:
    """The last answer of each mutant."""
    if not path.exists():
        return []
    records = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return list({record["key"]: record for record in records}.values())


def fuzz_table() -> str:
    """Cases and failures by kind, over all sessions."""
    lines = ["| cases of | sessions | cases | outcomes | failures | in the last session |", "|---|---|---|---|---|---|"]
    told: dict[tuple[str, str], list[str]] = {}
    for kind, text in KINDS.items():
        sessions = read(GUARDS / "records" / f"{kind}.json") or []
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
    equivalent = read(GUARDS / "equivalent.json") or {}
    lines = ["| package | mutants there are | run | killed | equivalent | survived | share | run from | to |",
             "|---|---|---|---|---|---|---|---|---|"]  # fmt: skip
    records, survivors = lines_of(GUARDS / "mutants.jsonl"), []
    for package in sorted(PACKAGES):
        keys = {mutant.key for mutant in sample_of(package, 10**9)}
        of_package = [record for record in records if record["key"] in keys]
        equal = {record["key"] for record in of_package if record["key"] in equivalent}
        killed = [record for record in of_package if record["outcome"] == "killed" and record["key"] not in equal]
        alive = [record for record in of_package if record["outcome"] == "survived" and record["key"] not in equal]
        survivors += alive
        n, dates = len(killed) + len(alive), sorted(record.get("date", "2026-11-22") for record in of_package)
        figures = [package, f"{len(keys):,}", len(of_package), len(killed), len(equal), len(alive),
                   f"{len(alive) / n:.0%}" if n else "", *(dates[:1] + dates[-1:] or ["", ""])]  # fmt: skip
        lines.append("| " + " | ".join(map(str, figures)) + " |")
    n_whole = sum(record.get("whole", True) for record in survivors)
    lines += ["", SURVIVORS.format(len(survivors), n_whole), "", "Survivors:", ""]
    lines += [f"- `{r['module']}` {_plain(r['place'])} ({r['key']})" for r in survivors]
    lines += ["", "Equivalent, by key:", ""] + [f"- {key}: {why}" for key, why in equivalent.items()]
    return "\n".join(lines)


def planted_table() -> str:
    answers = read(GUARDS / "records" / "planted.json") or {}
    lived = [name for name, answer in answers.items() if answer != "killed"]
    lines = [
        f"{len(answers)} bugs that tests once let pass were planted again: {len(answers) - len(lived)} are noticed."
    ]
    return "\n".join([*lines, *([""] if lived else []), *(f"- lives: {name}" for name in lived)])


def peers_table() -> str:
    """A row for each comparison with another package."""
    lines = ["| package | version | what | cases | found |", "|---|---|---|---|---|"]
    for name, found in (read(GUARDS / "records" / "peers.json") or {}).items():
        figures = {key: value for key, value in found.items() if key not in ("version", "versions", "what", "cases")}
        shown = [f"{key}: {value if isinstance(value, int) else f'{value:.1g}'}" for key, value in figures.items()]
        lines.append(f"| {name} | {found['version']} | {found['what']} | {found['cases']} | {', '.join(shown)} |")
    return "\n".join(lines)


def versions() -> str:
    every = [s["versions"] for kind in KINDS for s in read(GUARDS / "records" / f"{kind}.json") or []]
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
