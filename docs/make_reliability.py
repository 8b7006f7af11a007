"""Write docs/RELIABILITY.md from what the sessions in tests/guards found: python docs/make_reliability.py"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
GUARDS = ROOT / "tests" / "guards"
PAGE = ROOT / "docs" / "RELIABILITY.md"
KINDS = {
    "calls": "label matrices × methods × legal parameters, every index of the kernels checked",
    "arguments": "one illegal argument of a public function or estimator",
    "files": "damaged files through `read_table`, `Ensemble.load` and the command line",
    "kills": "`ensemblage run` stopped by KILL, TERM or INT, then begun again",
    "folders": "two `ensemblage run` in one folder at the same time",
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
MUTANTS = """`nox -s mutants -- counting --sample 25`: each mutant is one small error, run against the tests nearest to
its module.

"""


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
    """Mutants by package: killed, survived, equivalent."""
    equivalent = read(GUARDS / "equivalent.json") or {}
    lines = ["| package | mutants run | killed | equivalent | survived | share |", "|---|---|---|---|---|---|"]
    records, survivors = lines_of(GUARDS / "mutants.jsonl"), []
    for package in sorted({record["package"] for record in records}):
        of_package = [record for record in records if record["package"] == package]
        n_killed = sum(record["outcome"] == "killed" for record in of_package)
        lived = [record for record in of_package if record["outcome"] == "survived"]
        alive = [record for record in lived if record["key"] not in equivalent]
        survivors += alive
        n = len(of_package) - len(lived) + len(alive)
        share = f"{len(alive) / n:.0%}" if n else ""
        n_equivalent = len(lived) - len(alive)
        lines.append(f"| {package} | {len(of_package)} | {n_killed} | {n_equivalent} | {len(alive)} | {share} |")
    lines += ["", "The share is that of the survivors among the mutants that are not equivalent.", "", "Survivors:", ""]
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
        ("Versions", versions()),
    ]  # fmt: skip
    return HEAD + "\n\n".join(f"## {title}\n\n{text}" for title, text in parts).rstrip() + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    sys.exit(0)
