"""Write docs/SPLITS.md from docs/certainty/splits.jsonl: python docs/make_splits.py

A section whose records are not there is left out.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import kstest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "docs"))

from make_certainty import interval_of, share, table  # noqa: E402  a neighbour

RECORD = ROOT / "docs" / "certainty" / "splits.jsonl"
PAGE = ROOT / "docs" / "SPLITS.md"
Runs = list[dict[str, Any]]

HEAD = """# Splits and markers

This page measures `stability.merge_unsupported` and honest markers. `python docs/make_splits.py` writes it from the
records of `python benchmarks/bench_splits.py`. Every number was measured with the seeds of that script, on one thread.

"""
NULL = """## Cuts of single clouds

The {n} clouds of [certainty](CERTAINTY.md) have 100 to 500 objects in 2 to 50 features. They are cut into 2, 3, 4 and 6
clusters. A test at α = .05 is wrong if more than one cluster is left. The intervals of the shares are those of Clopper
and Pearson, at 95 %. The four cuts of a cloud are not independent.

"""
DEFAULT = """

`ConsensusClustering` chooses the number of clusters itself, with its default and with `selection="consensus"`. The
table has its clusters on some of the clouds, in a random order, as many as time allowed. So few clouds show only
large errors.

"""
POWER = """## Two clusters

The data are two Gaussians of equal size and unit variance. The column *distance* is in standard deviations. There
are 200 and 1,000 objects in 2, 10 and 50 features, cut into 2 and 4 clusters. *Found*: more than one cluster is
left. *Exact*: two are left. `null="gaussian"` ran on three of the ten sets of each kind.

"""
POWER_READ = """

At 2 standard deviations two equal Gaussians have one mode, and no test of modes splits them. At 3, 200 objects are too
few.
"""
MARKERS = """## Markers

**One cloud.** The same clouds are cut into 2 and 4 clusters by k-means and Ward. The table has the share of p-values up
to .05, by the dip test of `profile(honest=True)` and by the descriptive rank-sum test.

"""
PLANTED = """

**Planted.** Two Gaussians in 10 features are cut by 2-means, in 20 sets each. One feature separates them. The table has
how often this feature is a marker (adjusted p ≤ .05), and how many of the nine others are.

"""
COUNTS = """

**Counts.** The clouds have 200 objects and 20 variables of mean 5, Poisson or negative binomial of size 2. The
counts are thinned. 2-means cuts the first part, and the second part tests two variables of each cloud. KS is the
test against uniform p-values.

"""
COUNTS_PLANTED = """

**Planted counts.** Counts are negative binomial of size 2. In half of 200 objects, 5 of 20 variables have three
times the mean. For {n} sets, the table has how many of the five and of the others have p ≤ .01, by the dispersion
given to thinning.

"""
SETS = """## Sets of expression and cells

The gene-expression sets have Ward's clusters: as many as there are classes, and twice as many. The 700 blood cells have
scanpy's Louvain clusters on 30 principal components. The table has the ARI with the known types, before and after.

"""
SETS_READ = """

There are 40 to 250 patients and at least 1,000 genes. Half of the objects are then too few to determine the direction,
and nearly no split is supported, not even between known types. Known types remain valid. On sets of this size, look at
the clusters before merging.

"""


def percent(found: int, n: int) -> tuple[str, str]:
    low, high = interval_of(found, n)
    return f"{100 * found / n:.1f} %", f"{100 * low:.1f} to {100 * high:.1f} %"


def groups_of(runs: Runs) -> dict[str, Runs]:
    """All, and by kind of cloud."""
    return {"all": runs} | {
        kind: [r for r in runs if r["kind"] == kind] for kind in dict.fromkeys(r["kind"] for r in runs)
    }


def of_clouds(runs: Runs, more: Runs) -> str:
    rows = []
    for method in ("k-means", "Ward"):
        for name, chosen in groups_of(runs).items():
            cuts = [k for run in chosen for k in run["left"][method]]
            found = sum(k > 1 for k in cuts)
            rows.append((method, name, len(cuts), found, *percent(found, len(cuts))))
    text = NULL.format(n=f"{len(runs):,}") + table(
        ("clusters of", "clouds", "cuts", "wrong", "share", "interval"), rows
    )
    if more:
        rows = []
        for selection in ("consensus", "learned"):
            chosen = [run for run in more if run["selection"] == selection]
            several = sum(run["k"] > 1 for run in chosen)
            wrong = sum(run["left"] > 1 for run in chosen)
            if chosen:
                rows.append((selection, len(chosen), several, wrong, *percent(wrong, len(chosen))))
        text += DEFAULT + table(
            ("selection", "clouds", "with more than one cluster", "wrong", "share", "interval"), rows
        )
    return text


def of_power(runs: Runs) -> str:
    rows = []
    distances = sorted({run["distance"] for run in runs})
    for (place, method), distance, n in product(enumerate(("k-means", "Ward")), distances, (200, 1000)):
        chosen = [run for run in runs if run["distance"] == distance and run["n"] == n]
        # A record has both methods in turn.
        found = {name: [k for run in chosen for k in run[name][place::2]] for name in ("unimodal", "gaussian", "ari")}
        shares = [
            share(sum(map(is_right, found[null])), len(found[null]))
            for null in ("unimodal", "gaussian")
            for is_right in RIGHT
        ]
        rows.append((method, distance, n, len(found["ari"]), *shares, f"{np.mean(found['ari']):.2f}"))
    head = ("clusters of", "distance", "objects", "cuts", "found", "exact", "gaussian: found", "exact", "ARI after")
    return POWER + table(head, rows) + POWER_READ


RIGHT: tuple[Callable[[int], bool], ...] = (lambda k: k > 1, lambda k: k == 2)


def of_markers(runs: Runs) -> str:
    by = {name: [run for run in runs if run["of"] == name] for name in ("dip", "planted", "counts", "counts planted")}
    rows = []
    for name, chosen in groups_of(by["dip"]).items():
        sums = {test: np.sum([run[test] for run in chosen], axis=0) for test in ("honest", "naive")}
        rows.append((name, int(sums["honest"][1]), *(f"{sums[test][0] / sums[test][1]:.3f}" for test in sums)))
    text = MARKERS + table(("clouds", "tests", "dip", "rank sums"), rows)
    rows = []
    for distance in sorted({run["distance"] for run in by["planted"]}):
        for n in (200, 1000):
            chosen = [run for run in by["planted"] if run["distance"] == distance and run["n"] == n]
            means = [np.mean([run[test] for run in chosen], axis=0) for test in ("honest", "naive")]
            rows.append((distance, n, *(f"{value:.2f}" for mean in means for value in mean)))
    head = ("distance", "objects", "dip: found", "others", "rank sums: found", "others")
    text += PLANTED + table(head, rows) if rows else ""
    if by["counts"]:
        rows = []
        for kind in dict.fromkeys(run["kind"] for run in by["counts"]):
            p = np.array([p for run in by["counts"] if run["kind"] == kind for p in run["p"]])
            shares = (f"{(p <= level).mean():.3f}" for level in (0.05, 0.01))
            rows.append((kind, len(p) // 2, *shares, f"{kstest(p, 'uniform').pvalue:.2f}"))
        text += COUNTS + table(("counts", "clouds", "p ≤ .05", "p ≤ .01", "KS p"), rows)
    if planted := by["counts planted"]:
        names = ("moments", "true", "Poisson")
        means = {name: np.mean([run[name] for run in planted], axis=0) for name in names}
        rows = [(name, f"{mean[0]:.2f} of 5", f"{mean[1]:.2f} of 15") for name, mean in means.items()]
        text += COUNTS_PLANTED.format(n=len(planted)) + table(("dispersion", "found", "others"), rows)
    return text


def of_sets(runs: Runs) -> str:
    expression = [run for run in runs if run["set"] != "blood cells"]
    rows = [(run["set"], run["k"], run["left"], *(f"{a:.2f}" for a in run["ari"])) for run in runs]
    text = SETS + table(("set", "clusters", "left", "ARI before", "after"), rows) + (SETS_READ if expression else "")
    for run in runs:
        if run["set"] == "blood cells":
            text += blood(run)
        elif run["left"] > 1:
            text += f"\n{run['set']}, {run['k']} clusters, what is left: {'; '.join(run['after'])}.\n"
    return text


def blood(run: dict[str, Any]) -> str:
    lines = "\n".join(f"* {types}" for types in run["after"])
    honest, naive = (f"{a:,} of {b:,}" for a, b in (run["markers"], run["naive"]))
    best = table(
        ("cells of the cluster", "markers, the smallest p first"),
        [(types, ", ".join(run["best"][str(c)])) for c, types in enumerate(run["types"])],
    )
    return f"""
**Blood cells**: {run["k"]} clusters became {run["left"]}. What is left:

{lines}

The counts were recovered from the logarithms in the file, thinned, and divided by the depth. k-means made 8 clusters of
the first part, and the second part tests their markers. {honest} comparisons show a difference, at a false discovery
rate of .05. The descriptive rank-sum test, on clusters of all counts, calls {naive} significant.

{best}
"""


SECTIONS: dict[str, Callable[[Runs], str]] = {"power": of_power, "markers": of_markers, "sets": of_sets}


def page() -> str:
    """The document."""
    runs = [json.loads(line) for line in RECORD.read_text(encoding="utf-8").splitlines()]
    by_part = {part: [r for r in runs if r["part"] == part] for part in ("null", "default", *SECTIONS)}
    parts = [of_clouds(by_part["null"], by_part["default"])] if by_part["null"] else []
    parts += [make(by_part[part]) for part, make in SECTIONS.items() if by_part[part]]
    return HEAD + "\n\n".join(part.strip() for part in parts) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
