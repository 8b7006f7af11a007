"""Write docs/CERTAINTY.md from the records in docs/certainty: python docs/make_certainty.py

A section is a function of its record in SECTIONS; one whose record is not there is left out.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RECORDS = ROOT / "docs" / "certainty"
PAGE = ROOT / "docs" / "CERTAINTY.md"

HEAD = """# Certainty

What the words are worth that ensemblage says about objects, clusters and their number. Written by
`python docs/make_certainty.py` from the records of the sessions named below; every number was measured.

"""
WORDS = ("very stable", "stable", "doubtful", "unstable")
CLUSTERS = """How often a word is said of a cluster, by what the cluster is. `python benchmarks/bench_stability.py`
draws {members} objects around each of 3 or 6 centres, normally with a standard deviation of 1 in 2 or 10 features, the
nearest centres 6 or 4 apart; {seeds} sets of each kind. Each is clustered into one cluster less than were planted, as
many, and one more. A cluster is *planted* if nine tenths of one planted cluster are nine tenths of it, *merged* if
several are, *part of one* if nine tenths of it are from one planted cluster, else a *mixture*: at a distance of 4,
clusters overlap. Verdicts of `stability.cluster_stability` on k-means of 5 starts, {resamples} bootstraps.

Read: a planted cluster should be "stable" or "very stable", the others should not. Where all centres are equally far
apart, which of them are merged is chance. Where they lie at random, two are nearer than all others, and merging them is
what every resample does again: clusters of clusters are stable too.

"""
SCHEMES = """

By method and scheme, all designs: share of the clusters that are called "stable" or "very stable". Jitter moves objects
by less than the distances between them, with the default of fpc, which is ours: whatever was found is found again.

"""
CLOUD = """

What it cannot see: one Gaussian, three times as long as wide, {seeds} sets of 200 objects, cut by k-means. A cut across
an elongated cloud is found again. Whether there is any structure is another question.

"""
STRENGTH = """

How many: `stability.prediction_strength`, k-means of 10 starts, {splits} random halves, 2 to 8 clusters. "Named" is the
largest number that is supported.

"""


def table(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table in markdown."""
    lines = [header, ["---"] * len(header), *([str(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def share(part: float, whole: float) -> str:
    return f"{part / whole:.2f}" if whole else ""


def counted(rows: Iterable[dict[str, Any]], *names: str) -> dict[tuple[str, ...], Counter[str]]:
    """The words of rows, added up by what they have under these names."""
    found: dict[tuple[str, ...], Counter[str]] = {}
    for row in rows:
        of_key = found.setdefault(tuple(row[name] for name in names), Counter())
        of_key.update({word: row.get(word, 0) for word in WORDS})
    return found


LAYOUTS = ("equal distances", "centres at random")
NAMED = ("best", "supported", "none")
KINDS = ("planted", "merged", "part of one", "mixture")


def clusters(record: dict[str, Any]) -> str:
    """What a verdict on a cluster says."""
    chosen = [row for row in record["verdicts"] if row["scheme"] == "bootstrap" and row["method"] == "k-means"]
    words = counted(chosen, "layout", "distance", "kind")
    by_kind = table(
        ("centres", "distance", "cluster", "clusters", *WORDS),
        [
            (*key, of_key.total(), *(share(of_key[word], of_key.total()) for word in WORDS))
            for key, of_key in sorted(
                words.items(),
                key=lambda item: (item[0][0] != "equal distances", -float(item[0][1]), KINDS.index(item[0][2])),
            )
        ],
    )
    runs = counted(record["verdicts"], "method", "scheme", "kind")
    by_run = table(
        ("method", "scheme", *KINDS),
        [
            (method, scheme, *(_called_stable(runs.get((method, scheme, kind), Counter())) for kind in KINDS))
            for method, scheme in dict.fromkeys(key[:2] for key in runs)
        ],
    )
    cuts = table(
        ("features", "k", "clusters", *WORDS),
        [
            (row["features"], row["k"], n, *(share(row.get(word, 0), n) for word in WORDS))
            for row in record["cloud"]
            for n in [sum(row.get(word, 0) for word in WORDS)]
        ],
    )
    strengths = table(
        ("centres", "distance", "sets", "named is planted", "planted is supported", "none supported"),
        [
            (
                row["layout"],
                f"{row['distance']:g}",
                n,
                *(share(row.get(name, 0), n) for name in ("best", "supported", "none")),
            )
            for row in record["strengths"]
            for n in [row["sets"]]
        ],
    )
    texts = [CLUSTERS, by_kind, SCHEMES, by_run, CLOUD, cuts, STRENGTH, strengths]
    return "".join(text.format(**record) for text in texts)


def _called_stable(words: Counter[str]) -> str:
    return f"{share(words['very stable'] + words['stable'], words.total())} of {words.total()}" if words else ""


SECTIONS = {"Clusters": ("clusters.json", clusters)}
"""By its title: the record of a section, and what makes it text."""


def page() -> str:
    """The document."""
    parts = [
        f"## {title}\n\n{make(json.loads((RECORDS / name).read_text(encoding='utf-8')))}\n"
        for title, (name, make) in SECTIONS.items()
        if (RECORDS / name).exists()
    ]
    return HEAD + "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
