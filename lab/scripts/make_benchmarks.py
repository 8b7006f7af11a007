"""Write the measured tables of BENCHMARKS.md and the figures of growth: python lab/scripts/make_benchmarks.py [REF]

With a commit, everything is measured anew against it first, which takes an hour; without one, the records in
lab/records/benchmarks are written out.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
from matplotlib.figure import Figure

LAB = Path(__file__).parents[1]
BENCHMARKS, RECORDS = LAB / "benchmarks", LAB / "records" / "benchmarks"
DOCS = LAB.parent / "docs"
PAGE = DOCS / "BENCHMARKS.md"
sys.path.insert(0, str(BENCHMARKS))

from common import COMPARISON, comparison_row, waits  # noqa: E402
from growth import exponent  # noqa: E402

AXES = {"n": "objects", "p": "partitions", "k": "clusters"}


def comparison() -> str:
    if not (RECORDS / "compare.json").exists():
        return ""
    record = json.loads((RECORDS / "compare.json").read_text(encoding="utf-8"))
    rows = "\n".join(comparison_row(row) for row in record["rows"])
    rounds = sorted({row["rounds"] for row in record["rows"] if "rounds" in row})
    rounds_text = " to ".join(map(str, dict.fromkeys([rounds[0], rounds[-1]])))
    return f"{record['machine']}; against {record['against'][:7]}, {rounds_text} pairs.\n\n{COMPARISON}\n{rows}\n"


def points(record: dict[str, Any], work: str, over: str) -> list[tuple[float, float]]:
    return [(r["size"], r["seconds"]) for r in record["rows"] if r["work"] == work and r["over"] == over]


def growth() -> str:
    """The exponents as a table."""
    record = json.loads((RECORDS / "growth.json").read_text(encoding="utf-8"))
    lines = ["| work | over n | over p | over k |", "|---|---|---|---|"]
    for work in works(record):
        found = [points(record, work, over) for over in AXES]
        exponents = [f"{exponent(sizes):.2f}" if len(sizes) > 1 else "–" for sizes in found]
        lines.append(f"| {work} | {' | '.join(exponents)} |")
    return f"{record['machine']}.\n\n" + "\n".join(lines) + "\n"


def draw_growth() -> None:
    """docs/growth.png"""
    record = json.loads((RECORDS / "growth.json").read_text(encoding="utf-8"))
    figure = Figure(figsize=(11, 4.2), layout="constrained")
    all_axes = figure.subplots(1, 3, sharey=True)
    for work in works(record):
        for axes, over in zip(all_axes, AXES, strict=True):
            found = points(record, work, over)
            if found:
                axes.loglog(*zip(*found, strict=True), marker="o", markersize=3, label=work)
                axes.set_xlabel(AXES[over])
    all_axes[0].set_ylabel("processor seconds, one thread")
    all_axes[0].legend(fontsize=7)
    figure.savefig(DOCS / "growth.png", dpi=110)


def default_growth() -> str:
    """Seconds and megabytes of the default by the number of objects."""
    record = json.loads((RECORDS / "growth_default.json").read_text(encoding="utf-8"))
    lines = ["| objects | k unknown, s | k given, s | MB |", "|---|---|---|---|"]
    lines += [f"| {r['size']:,} | {r['unknown']:.1f} | {r['given']:.1f} | {r['mb']:,} |" for r in record["rows"]]
    return f"{record['machine']}.\n\n" + "\n".join(lines) + "\n"


def draw_default_growth() -> None:
    """docs/growth_default.png"""
    record = json.loads((RECORDS / "growth_default.json").read_text(encoding="utf-8"))
    figure = Figure(figsize=(7, 3.8), layout="constrained")
    axes = figure.subplots()
    for k in ("unknown", "given"):
        sizes = [(row["size"], row[k]) for row in record["rows"]]
        axes.loglog(*zip(*sizes, strict=True), marker="o", markersize=3, label=f"k {k}")
    axes.set_xlabel("objects")
    axes.set_ylabel("processor seconds, one thread")
    axes.legend(fontsize=7)
    figure.savefig(DOCS / "growth_default.png", dpi=110)


def person() -> str:
    """What `person.py` found."""
    if not (RECORDS / "person.json").exists():
        return ""
    record = json.loads((RECORDS / "person.json").read_text(encoding="utf-8"))
    return f"{record['machine']}; {record['against']} → now.\n\n{waits(record['rows'])}\n"


def works(record: dict[str, Any]) -> list[str]:
    return list(dict.fromkeys(row["work"] for row in record["rows"]))


def with_part(text: str, name: str, part: str) -> str:
    """A document with this between its marks."""
    begin, end = f"<!-- {name}: written by lab/scripts/make_benchmarks.py -->\n", f"<!-- end of {name} -->\n"
    return re.sub(re.escape(begin) + ".*?" + re.escape(end), lambda _: begin + part + end, text, flags=re.DOTALL)


PARTS = {"comparison": comparison, "growth": growth, "default": default_growth, "waits": person}


def with_parts(text: str) -> str:
    for name, part in PARTS.items():
        text = with_part(text, name, part())
    return text


if __name__ == "__main__":
    if len(sys.argv) > 1:
        record = str(RECORDS / "compare.json")
        subprocess.run([sys.executable, str(BENCHMARKS / "compare.py"), sys.argv[1], "--record", record], check=True)
        growing = [sys.executable, str(BENCHMARKS / "growth.py")]
        subprocess.run([*growing, str(RECORDS / "growth.json")], check=True)
        subprocess.run([*growing, "--default", str(RECORDS / "growth_default.json")], check=True)
        waited = [str(BENCHMARKS / "person.py"), "--against", sys.argv[1], "--million"]
        subprocess.run([sys.executable, *waited, "--record", str(RECORDS / "person.json")], check=True)
    draw_growth()
    draw_default_growth()
    PAGE.write_text(with_parts(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
