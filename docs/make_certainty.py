"""Write docs/CERTAINTY.md from the records in docs/certainty: python docs/make_certainty.py

A section is a function of its record in SECTIONS; one whose record is not there is left out.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import beta

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


OBJECTS = """Does the certainty of an object tell whether its place is right? `python benchmarks/bench_certainty.py
--suite DIR` takes the {sets} sets of the suite with at most 1,500 objects, ensembles of 50 k-means with random
numbers of clusters and of 13 diverse members at the true number, {seeds} seeds, and km, negmm-wat-kmeans, hbgf and
acv at the true number: {runs} runs. An object is right if its cluster is the one that is matched with its class.

AUC: the chance that an object that is right has a higher number than one that is not, mean over the runs with both.
The last column: `confidence_` less `cohesion_` (the mean co-association, which `confidence_` was before), mean over
sets with its 95 % bootstrap interval.

"""
WORDS_OF_OBJECTS = """

How often the words are right (every run counts the same):

"""
OBJECTS_READ = """

How the definition was chosen among three, by which rule, and where it falls short of the rule:
docs/certainty/definition.md.

Read: core promises that the partitions agree. It is no probability: most errors are whole clusters that all
partitions cut or merge alike, and no number made of them can see that. Over runs, the correlation of the mean
confidence with the share that is right is {r_confidence}, that of the mean cohesion {r_cohesion}.
"""
NUMBER = """How many clusters: `choose_k`, whose test compares the data with single clouds of the same shape before
five criteria vote. `python benchmarks/bench_choose_k.py null|designs|sets` with 99 references, numbers from 2 to 10.

**Clouds without clusters**, 100 to 500 objects, 2 to 50 features: how often structure is found where there is none (p
≤ .05), with 95 % intervals (Clopper-Pearson). The test ends after 19 references, or every 5 more, once it cannot find
structure (Besag & Clifford 1991). {again} of these clouds were measured with it, after {mean} references on average,
the others with all 99, which finds structure no less often.

"""
DESIGNS = """

**Gaussians**, 30 to 80 objects each, unit variance, the nearest two centres so many deviations apart, {draws} sets of
each kind: how often structure is found, and the number that is named.

"""
SETS = """

**Public sets** with 2 to 10 classes of at least 30 objects each, scaled as by default: how often the number of classes
is the one that most criteria name, among those named, and where the answer is called clear. Classes need not be
clusters.

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


def lines_of(name: str) -> list[dict[str, Any]]:
    """The records of a session that writes one line per run."""
    path = RECORDS / name
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def objects(runs: list[dict[str, Any]]) -> str:
    """What the certainty of an object says."""
    both = [run for run in runs if "auc" in run]
    rows = []
    for kind in ENSEMBLES:
        chosen = [run for run in both if run["ensemble"] == kind]
        auc = {name: np.mean([run["auc"][name] for run in chosen]) for name in NUMBERS}
        gains: dict[str, list[float]] = {}
        for run in chosen:
            gains.setdefault(run["set"], []).append(run["auc"]["confidence_"] - run["auc"]["cohesion_"])
        of_sets = np.array([np.mean(gain) for gain in gains.values()])
        draws = np.random.default_rng(0).choice(of_sets, (10_000, len(of_sets))).mean(axis=1)
        low, high = np.quantile(draws, [0.025, 0.975])
        interval = f"{of_sets.mean():+.3f} ({low:+.3f} to {high:+.3f}), {len(of_sets)} sets"
        rows.append((kind, len(chosen), *(f"{auc[name]:.3f}" for name in NUMBERS), interval))
    auc_table = table(("ensemble", "runs", "AUC of confidence_", "of cohesion_", "difference"), rows)
    words = []
    for kind in ENSEMBLES:
        chosen = [run for run in runs if run["ensemble"] == kind]
        for word in OBJECT_WORDS:
            part = np.mean([run["words"][word][0] / run["n"] for run in chosen])
            good = np.mean([run["words"][word][1] / run["n"] for run in chosen])
            words.append((kind, word, f"{part:.2f}", f"{good / part:.2f}" if part else ""))
    word_table = table(("ensemble", "word", "share of the objects", "right"), words)
    accuracy = [run["accuracy"] for run in runs]
    r = {
        f"r_{name[:-1]}": f"{np.corrcoef(accuracy, [run['mean'][name] for run in runs])[0, 1]:.2f}" for name in NUMBERS
    }
    about = {"sets": len({run["set"] for run in runs}), "seeds": len({run["seed"] for run in runs}), "runs": len(runs)}
    return "".join([OBJECTS.format(**about), auc_table, WORDS_OF_OBJECTS, word_table, OBJECTS_READ.format(**r)])


ENSEMBLES = ("random-k", "diverse")
NUMBERS = ("confidence_", "cohesion_")
OBJECT_WORDS = ("core", "border", "undecided")


def interval_of(found: int, n: int) -> tuple[float, float]:
    """Clopper-Pearson, 95 %."""
    low = beta.ppf(0.025, found, n - found + 1) if found else 0.0
    high = beta.ppf(0.975, found + 1, n - found) if found < n else 1.0
    return float(low), float(high)


def number(runs: list[dict[str, Any]]) -> str:
    """What the choice of a number of clusters says."""
    by_part = {part: [run for run in runs if run["part"] == part] for part in ("null", "designs", "sets")}
    again = [run["references"] for run in by_part["null"] if "references" in run]
    about = {"again": len(again), "mean": f"{np.mean(again):.0f}"}
    texts = [NUMBER.format(**about), _of_clouds(by_part["null"])]
    if by_part["designs"]:
        draws = max(run["seed"] for run in by_part["designs"]) + 1
        texts += [DESIGNS.format(draws=draws), _of_designs(by_part["designs"])]
    if by_part["sets"]:
        texts += [SETS, _of_sets(by_part["sets"])]
    return "".join(texts)


def _of_clouds(runs: list[dict[str, Any]]) -> str:
    groups = {"all": runs} | {
        kind: [r for r in runs if r["kind"] == kind] for kind in dict.fromkeys(r["kind"] for r in runs)
    }
    groups |= {f"n = {n}": [r for r in runs if r["n"] == n] for n in sorted({r["n"] for r in runs})}
    rows = []
    for name, chosen in groups.items():
        found, n = sum(run["p"] <= 0.05 for run in chosen), len(chosen)
        low, high = interval_of(found, n)
        rows.append((name, n, found, f"{100 * found / n:.1f} %", f"{100 * low:.1f} to {100 * high:.1f} %"))
    return table(("clouds", "sets", "structure found", "share", "interval"), rows)


def _of_designs(runs: list[dict[str, Any]]) -> str:
    rows = []
    for distance in sorted({run["distance"] for run in runs}, reverse=True):
        for k in ["all", *sorted({run["K"] for run in runs})]:
            chosen = [run for run in runs if run["distance"] == distance and k in ("all", run["K"])]
            structure = sum(run["p"] <= 0.05 for run in chosen)
            right = sum(run["best"] == run["K"] for run in chosen)
            named = sum(run["K"] in run["votes"].values() for run in chosen)
            n = len(chosen)
            rows.append((f"{distance:g}", k, n, share(structure, n), share(right, n), share(named, n)))
    return table(("distance", "clusters", "sets", "structure found", "best is right", "named"), rows)


def _of_sets(runs: list[dict[str, Any]]) -> str:
    rows = []
    for evidence in ("all", "clear", "likely", "ambiguous", "none"):
        chosen = [run for run in runs if evidence in ("all", run["evidence"])]
        right = sum(run["best"] in run["K"] for run in chosen)
        named = sum(bool({*run["named"], *run["votes"].values()} & set(run["K"])) for run in chosen)
        rows.append((evidence, len(chosen), share(right, len(chosen)), share(named, len(chosen))))
    return table(("evidence", "sets", "best is right", "among the named"), rows)


SECTIONS = {
    "Objects": ("objects.jsonl", objects),
    "Clusters": ("clusters.json", clusters),
    "Number of clusters": ("choose_k.jsonl", number),
}
"""By its title: the record of a section, and what makes it text."""


def _record(name: str) -> Any:
    return lines_of(name) if name.endswith(".jsonl") else json.loads((RECORDS / name).read_text(encoding="utf-8"))


def page() -> str:
    """The document."""
    parts = [
        f"## {title}\n\n{make(_record(name))}\n"
        for title, (name, make) in SECTIONS.items()
        if (RECORDS / name).exists()
    ]
    return HEAD + "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
