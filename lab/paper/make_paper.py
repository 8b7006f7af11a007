"""Write paper.bib and scores.png, and compile paper.md to build/paper/paper.pdf.

python lab/paper/make_paper.py          bibliography and figure, from the library's references and the records in lab/
python lab/paper/make_paper.py --pdf    the PDF, too: needs `pip install pypandoc-binary typst` (`nox -s paper`)
"""

from __future__ import annotations

import argparse
import json
import re
from collections import defaultdict
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from ensemblage.base.references import references

PAPER = Path(__file__).parent
ROOT = PAPER.parents[1]
RECORDS = PAPER.parent / "records" / "default"
PDF = ROOT / "build" / "paper" / "paper.pdf"
KINDS = ("drawings", "numbers", "categories", "wide")
TASKS = ("k given", "k unknown")


def cited() -> list[str]:
    """The keys that the paper cites, sorted."""
    text = (PAPER / "paper.md").read_text(encoding="utf-8")
    return sorted({key for group in re.findall(r"\[(@[^\]]+)\]", text) for key in re.findall(r"@(\w+)", group)})


def bibliography() -> str:
    """BibTeX of what is cited: of methods as the library has it, of software from software.bib."""
    software = (PAPER / "software.bib").read_text(encoding="utf-8")
    own = {re.match(r"@\w+\{(\w+),", entry)[1]: entry for entry in re.findall(r"^@.*?^\}", software, flags=re.M | re.S)}
    return "\n\n".join(own[key] if key in own else references()[key].bibtex for key in cited()) + "\n"


def means(name: str, task: str) -> dict[str, dict[str, float]]:
    """By method and kind of data, the mean adjusted Rand index over sets (of means over seeds) in a record."""
    by_set = defaultdict(list)
    for row in map(json.loads, (RECORDS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()):
        if row["task"] == task:
            by_set[row["method"], row["kind"], row["set"]].append(row["ari"])
    by_kind = defaultdict(list)
    for (method, kind, _), values in by_set.items():
        by_kind[method, kind].append(np.mean(values))
    methods = {method for method, _ in by_kind}
    return {method: {kind: float(np.mean(by_kind[method, kind])) for kind in KINDS} for method in methods}


def compared(task: str) -> tuple[dict[str, float], str, dict[str, float]]:
    """The default's means; the single algorithm with the highest mean over the kinds, and its means."""
    (ours,) = means("run2", task).values()
    # With k given, singles are algorithm and scaling; with k unknown, rules for k.
    singles = {m: v for m, v in means("singles", task).items() if ("," in m) == (task == "k given")}
    best = max(singles, key=lambda method: np.mean(list(singles[method].values())))
    return ours, best, singles[best]


def described() -> str:
    """The numbers of the figure, which its file holds, too: by task the best single algorithm, ours and its means."""
    found = {}
    for task in TASKS:
        ours, best, theirs = compared(task)
        found[task] = [best, *({kind: round(value, 4) for kind, value in row.items()} for row in (ours, theirs))]
    return json.dumps(found)


def draw() -> None:
    figure = Figure(figsize=(7, 2.4), layout="constrained")
    for axes, task in zip(figure.subplots(1, 2, sharex=True), TASKS, strict=True):
        ours, best, theirs = compared(task)
        y = np.arange(len(KINDS))[::-1]
        axes.hlines(y, [theirs[k] for k in KINDS], [ours[k] for k in KINDS], color="0.8", zorder=0)
        axes.scatter([theirs[k] for k in KINDS], y, marker="s", color="0.45", label=best)
        axes.scatter([ours[k] for k in KINDS], y, color="#0072b2", label="ensemblage's default")
        axes.set(yticks=y, yticklabels=KINDS, title=task, xlabel="mean adjusted Rand index", xlim=(0, 1))
        axes.legend(fontsize=7, loc="lower right")
    figure.savefig(PAPER / "scores.png", dpi=150, metadata={"Software": None, "Description": described()})


def compile_pdf() -> None:
    import pypandoc
    import typst

    PDF.parent.mkdir(parents=True, exist_ok=True)
    source = PAPER / "paper.typ"
    # Pandoc's own page calls what the journal calls authors: author.
    author = re.search(r"^  - name: (.+)$", (PAPER / "paper.md").read_text(encoding="utf-8"), flags=re.M)[1]
    options = ["--standalone", "--citeproc", f"--bibliography={PAPER / 'paper.bib'}", f"--metadata=author:{author}"]
    # Typst finds figures beside the source only, and none outside of its root.
    try:
        pypandoc.convert_file(str(PAPER / "paper.md"), "typst", outputfile=str(source), extra_args=options)
        typst.compile(str(source), output=str(PDF), root=str(ROOT))
    finally:
        source.unlink(missing_ok=True)
    print(f"{PDF.relative_to(ROOT)}: {PDF.stat().st_size:,} bytes")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pdf", action="store_true")
    given = parser.parse_args()
    (PAPER / "paper.bib").write_text(bibliography(), encoding="utf-8", newline="\n")
    draw()
    if given.pdf:
        compile_pdf()


if __name__ == "__main__":
    main()
