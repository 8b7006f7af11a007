"""Write docs/CONFIDENCE.md from the records in lab/records/confidence: python lab/scripts/make_confidence.py

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

ROOT = Path(__file__).parents[2]
RECORDS = ROOT / "lab" / "records" / "confidence"
PAGE = ROOT / "docs" / "CONFIDENCE.md"

HEAD = """# Confidence

This page measures how reliable the verdicts on objects, on clusters and on the number of clusters are.
`python lab/scripts/make_confidence.py` writes it from [the records](../lab/records/confidence) of
the sessions below. Every number was measured.

"""
WORDS = ("very stable", "stable", "doubtful", "unstable")
CLUSTERS = """The first table has the share of each verdict, by the kind of cluster. `python
lab/benchmarks/bench_stability.py` draws {members} normal objects around each of 3 or 6 centres. The standard deviation
is 1, in 2 or 10 features, and the nearest centres are 6 or 4 apart. There are {seeds} sets of each kind. Each set is
clustered into the planted number of clusters, one less and one more. The verdicts are those of
`stability.cluster_stability` on k-means of 5 starts, with {resamples} bootstraps. At a distance of 4, clusters
overlap. There are four kinds of clusters:

- *planted*: nine tenths of the cluster are nine tenths of one planted cluster;
- *merged*: the same with several planted clusters;
- *part of one*: nine tenths of the cluster are from one planted cluster;
- *mixture*: all others.

A planted cluster should be "stable" or "very stable", and the others should not. If all centres have equal
distances, chance decides which of them are merged. If centres are random, two are nearer than all others, and every
resample merges these. So clusters of clusters are stable, too.

"""
SCHEMES = """

The next table has the share of clusters called "stable" or "very stable", by method and scheme, over all designs. Our
default of jitter is that of fpc. It moves objects by less than the distances between them, so every cluster is
reproduced.

"""
CLOUD = """

Stability cannot detect the lack of structure. The example is one Gaussian, three times as long as wide, cut by
k-means, in {seeds} sets of 200 objects. Resamples reproduce a cut across an elongated cloud.

"""
STRENGTH = """

For the number of clusters, `stability.prediction_strength` uses k-means of 10 starts, {splits} random halves and 2 to 8
clusters. "Named" is the largest supported number.

"""


OBJECTS = """Does the confidence of an object predict whether it is in the right cluster? `python
lab/benchmarks/bench_confidence.py --suite DIR` uses the {sets} sets of the suite with at most 1,500 objects. There are
two ensembles: 50 k-means with random numbers of clusters, and 13 diverse members at the true number. With {seeds}
seeds and the methods km, negmm-wat-kmeans, hbgf and acv at the true number, these are {runs} runs. An object is
right if its cluster is matched with its class.

The AUC is the probability that a right object has a higher number than a wrong one. It is a mean over the runs with
both kinds. The last column is the difference of `confidence_` and `cohesion_`, as a mean over sets with its 95 %
bootstrap interval. `cohesion_` is the mean co-association, the earlier definition of `confidence_`.

"""
WORDS_OF_OBJECTS = """

The next table has the share of right objects for each verdict. All runs have the same weight.

"""
OBJECTS_READ = """

docs/confidence/definition.md says how the definition was chosen among three, by which rule, and where it misses the
rule.

Core means that the partitions agree. It is not a probability. Most errors are whole clusters that all partitions
split or merge in the same way. No number from the partitions can detect such an error. Over runs, the mean
confidence has a correlation of {r_confidence} with the share of right objects. That of the mean cohesion is
{r_cohesion}.
"""
NUMBER = """`choose_k` compares the data with single clouds of the same shape. Then five criteria vote on the number
of clusters. `python lab/benchmarks/bench_choose_k.py null|designs|sets` uses 99 references and numbers from 2 to 10.

**Clouds without clusters** have 100 to 500 objects in 2 to 50 features. The table has the share in which structure
is found although there is none (p ≤ .05), with 95 % intervals of Clopper and Pearson. The test ends after 19
references, or every 5 more, once it cannot find structure (Besag & Clifford 1991). {again} of these clouds were
measured in this way, after {mean} references on average. The others used all 99, which finds structure no less
often.

"""
DESIGNS = """

**Gaussians** have 30 to 80 objects each and unit variance, and the column has the distance of the nearest two
centres in standard deviations. There are {draws} sets of each kind. The table has how often structure is found, and
which number is named.

"""
SETS = """

**Public sets** have 2 to 10 classes of at least 30 objects each, with the default scaling. The table has how often
the number of classes is the first suggestion, one of the suggestions, and the answer if it is called clear. Classes
need not be clusters.

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
    """What the confidence of an object says."""
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
