"""Write docs/SPLITS.md from lab/records/confidence/splits.jsonl: python lab/scripts/make_splits.py

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

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(Path(__file__).parent))

from make_confidence import interval_of, share, table  # noqa: E402  a neighbour

RECORD = ROOT / "lab" / "records" / "confidence" / "splits.jsonl"
PAGE = ROOT / "docs" / "SPLITS.md"
Runs = list[dict[str, Any]]

HEAD = """# Splits and markers

This page measures `stability.merge_unsupported` and selective markers. `python lab/scripts/make_splits.py` writes it
from [the records](../lab/records/confidence/splits.jsonl) of `python lab/benchmarks/bench_splits.py`.
Every number was measured with the seeds of that script, on one thread.

"""
NULL = """## Cuts of single clouds

The {n} clouds of [confidence](CONFIDENCE.md) have 100 to 500 objects in 2 to 50 features. They are cut into 2, 3, 4 and
6 clusters. A test at α = .05 is wrong if more than one cluster is left. The intervals of the shares are those of
Clopper and Pearson, at 95 %. The four cuts of a cloud are not independent.

"""
DEFAULT = """

`ConsensusClustering()`, the default, chooses the number of clusters itself, and never one. The table has its clusters
on {n:,} of these clouds, one of each kind in turn.

"""
POWER = """## Two clusters

The data are two Gaussians of equal size and unit variance. The column *distance* is in standard deviations. There
are 200 and 1,000 objects in 2, 10 and 50 features, cut into 2 and 4 clusters. *Found*: more than one cluster is
left. *Exact*: two are left. `null="gaussian"` ran on three of the ten sets of each kind. `ConsensusClustering()` chose
its own number of clusters on one of the ten.

"""
POWER_READ = """

*Known* is the same test of one feature with the true clusters, on 500 sets. No partition and no direction has to be
found there.

At 2 standard deviations two equal Gaussians have one mode, and no test of modes splits them. At 3, 200 objects are too
few. At 3 and 4, nearly as much is found as with known clusters. In 36 cuts for each distance, the prototype of this
test found {prototype}.
"""
PROTOTYPE = {2: 0.0, 3: 0.33, 4: 1.0, 6: 1.0}
MARKERS = """## Markers

**One cloud.** The same clouds are cut into 2 and 4 clusters by k-means and Ward. The table has the share of p-values up
to .05, by the dip test of `profile(selective=True)` and by the descriptive rank-sum test.

"""
VALUES = """

**Coarse values.** Values are made of Gaussian clouds, 20 of each kind and size, which k-means cuts into 3 clusters.
*Wrong*: `merge_unsupported` leaves more than one cluster. The markers are of clouds in 5 features. *Left out*:
`profile(selective=True)` does not test a variable if one of its values is a mode itself.

"""
VALUES_READ = """

Whole numbers, answers and counts are no modes. Limits and round numbers are modes, and stand for ranges of values in
the tests: see below.
"""
PLANTED = """

**Planted.** Two Gaussians in 10 features are cut by 2-means, in 20 sets each. One feature separates them. The table has
how often this feature is a marker (adjusted p ≤ .05), and how many of the nine others are.

"""
COUNTS = """

**Counts.** The clouds have 200 objects and 20 variables of mean 5, Poisson or negative binomial of size 2. The
counts are thinned. 2-means cuts the first part, and the second part tests two variables of each cloud. KS is the
test against uniform p-values. The rank-sum test, which describes, is of 2-means of all counts.

"""
COUNTS_PLANTED = """

**Planted counts.** Counts are negative binomial of size 2. In half of 200 objects, 5 of 20 variables have a larger
mean. For {n} sets, the table has how many of the five and of the others have an adjusted p ≤ .05, by the dispersion
given to thinning. The rank-sum test is of clusters of all counts, and its p-values do not hold.

"""
LIMITS = """## Values at a limit

Many objects share a value where what is measured has a floor or a ceiling. docs/confidence/limits.md has the rule for
such values, which was written before the search. Each kind has {draws} single clouds of 50, 100, 200 and 1,000
objects. The tables have all sizes together. *20 % replaced*: what lies below a limit got a value further down.

A value of the feature is limited. k-means cuts the clouds into 3 clusters, by this feature alone, by it and another
of a third of its deviation, or by it and four others like it. The table has the share of cuts of which more than one
cluster is left, and the share of markers with p ≤ .05.

"""
LIMITS_TWO = """

**Power.** There are two normal clusters of equal size, cut by 2-means, in one feature. With *all of one cluster*, the
values of one cluster are all the same, as of a gene that is off. The table has the share of {draws} sets in which
both clusters are left, and in which the feature is a marker. The first row has no limit.

"""
LIMITS_READ = """

A limit that up to 20 % of the objects reach costs hardly any power. Where half of them reach it, as one of two clusters
does, only a distance of 6 is found: what lies below a floor may be the tail of the others. So one variable that is off
in a cluster is rarely enough. Several are: tests/stability/test_cells.py has an example.
"""
WIDE = """## More features than objects

There are 1,000 features, as many as a set of gene expression has, and two Gaussians whose means differ in one of
them. A distance of 0 is one cloud. The table has the share of 30 sets in which both clusters are left: of the known
clusters and of Ward's, in all features and in 10 principal components. *On the line*: how far apart the known
clusters lie along the line that half of the objects give, in standard deviations of the other half. *Expected*: δ² /
√(δ² + 8 d / n), δ the distance.

"""
WIDE_READ = """

Along a line that few objects determine, clusters lie nearer to each other than they are, as the formula expects. The
test needs about 4.5 standard deviations there. Of 60 objects, two clusters that are 8 apart are found in {half} sets,
and nearly all that are 10 apart; of 200 objects, 6 suffice. Ten principal components change little.
"""
SPEED = """## Time

The data are 10 Gaussians, which k-means cut into more clusters. The table has the processor seconds that merging takes
on one thread. The number of clusters that are left stands in brackets.

"""
SETS = """## Sets of expression and cells

The gene-expression sets have Ward's clusters: as many as there are classes, and twice as many. The 700 blood cells
have scanpy's Louvain clusters on 30 principal components. The table has the ARI with the known types, before and
after. It also has the comparisons of a gene in a cluster with an adjusted p ≤ .05, of all that were tested, by the
dip test and by the descriptive rank-sum test. The markers of the blood cells follow below.

*Types left*: what is left of the known types, if these are the clusters. *On the line*: how far apart the sides of
the first split of the known types lie, as above.

"""
SETS_READ = """

There are 40 to 250 patients and at least 1,000 genes. Nearly no split is supported, not even between known types.
This is the lack of power that the table above shows: on the line, the known types lie {low} to {high} standard
deviations apart, and about 4.5 are needed. In this range the number of objects decides, as does the size of the
smaller side. Genes with a floor cost power, too, since their values at the floor stand for ranges. Before this rule,
Ward's clusters of armstrong-2002-v2 kept 28 AML and 1 MLL apart from all others. So known types remain valid. On sets
of this size, look at the clusters before merging.

The list has what was merged, in known types, where there were as many clusters as classes. A + joins clusters that
became one.

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
        for name, chosen in groups_of(more).items():
            several, wrong = (sum(run[key] > 1 for run in chosen) for key in ("k", "left"))
            rows.append((name, len(chosen), several, wrong, *percent(wrong, len(chosen))))
        head = ("clouds", "number", "more than one cluster before", "wrong", "share", "interval")
        text += DEFAULT.format(n=len(more)) + table(head, rows)
    return text


def of_power(runs: Runs, default: Runs, known: Runs) -> str:
    rows = []
    ceiling = {(run["distance"], run["n"]): share(*run["found"]) for run in known}
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
        ari = f"{np.mean(found['ari']):.2f}"
        rows.append((method, distance, n, len(found["ari"]), *shares, ari, ceiling.get((distance, n), "–")))
    for distance, n in product(distances if default else (), (200, 1000)):
        chosen = [run for run in default if run["distance"] == distance and run["n"] == n]
        if not chosen:
            continue
        shares = [share(sum(is_right(run["left"]) for run in chosen), len(chosen)) for is_right in RIGHT]
        ari = f"{np.mean([run['ari'][1] for run in chosen]):.2f}"
        rows.append(("the default", distance, n, len(chosen), *shares, "–", "–", ari, ceiling.get((distance, n), "–")))
    head = ("clusters of", "distance", "objects", "cuts", "found", "exact")
    prototype = ", ".join(f"{found:.2f} at {distance}" for distance, found in PROTOTYPE.items())
    text = table((*head, "gaussian: found", "exact", "ARI after", "known"), rows)
    return POWER + text + POWER_READ.format(prototype=prototype)


RIGHT: tuple[Callable[[int], bool], ...] = (lambda k: k > 1, lambda k: k == 2)


def of_markers(runs: Runs) -> str:
    kinds = ("dip", "values", "planted", "counts", "counts planted")
    by = {name: [run for run in runs if run["of"] == name] for name in kinds}
    rows = []
    for name, chosen in groups_of(by["dip"]).items():
        sums = {test: np.sum([run[test] for run in chosen], axis=0) for test in ("honest", "naive")}
        rows.append((name, int(sums["honest"][1]), *(f"{sums[test][0] / sums[test][1]:.3f}" for test in sums)))
    text = MARKERS + table(("clouds", "tests", "dip", "rank sums"), rows)
    rows = []
    for kind, n in product(dict.fromkeys(run["kind"] for run in by["values"]), (200, 1000)):
        chosen = [run for run in by["values"] if run["kind"] == kind and run["n"] == n]
        found, tests = np.sum([run["honest"] for run in chosen], axis=0).tolist()
        left_out = sum(run["left_out"] for run in chosen)
        of_tests = f"{found / tests:.3f}" if tests else "–"
        wrong = [sum(run["left"][d] > 1 for run in chosen) for d in ("1", "2", "5")]
        rows.append((kind, n, *wrong, f"{tests:,}", of_tests, f"{left_out} of {5 * len(chosen)}"))
    head = ("values", "objects", "wrong of 20, 1 feature", *(f"{d} features" for d in (2, 5)))
    text += VALUES + table((*head, "markers: tests", "p ≤ .05", "left out"), rows) + VALUES_READ if rows else ""
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
            naive = np.array([p for run in by["counts"] if run["kind"] == kind for p in run["naive"]])
            shares = (f"{(p <= level).mean():.3f}" for level in (0.05, 0.01))
            of_naive = f"{(naive <= 0.05).mean():.3f}"
            rows.append((kind, len(p) // 2, *shares, f"{kstest(p, 'uniform').pvalue:.2f}", of_naive))
        text += COUNTS + table(("counts", "clouds", "p ≤ .05", "p ≤ .01", "KS p", "rank sums: p ≤ .05"), rows)
    if planted := by["counts planted"]:
        rows = []
        factors = sorted({run["factor"] for run in planted})
        for factor, (key, name) in product(factors, TESTS.items()):
            found, others = np.mean([run[key] for run in planted if run["factor"] == factor], axis=0)
            rows.append((f"{factor:g}", name, f"{found:.2f} of 5", f"{others:.2f} of 15"))
        n = len(planted) // len(factors)
        text += COUNTS_PLANTED.format(n=n) + table(("times the mean", "p-values", "found", "others"), rows)
    return text


TESTS = {
    "moments": "thinned, dispersion by moments",
    "true": "thinned, true dispersion",
    "Poisson": "thinned as Poisson",
    "naive": "rank sums of all counts",
}


def of_speed(runs: Runs) -> str:
    rows = [
        (f"{run['n']:,}", run["d"], run["k"], *(f"{s:.2f} ({k})" for k, s in (run["unimodal"], run["gaussian"])))
        for run in runs
    ]
    return SPEED + table(("objects", "features", "clusters", "the dip", '`null="gaussian"`'), rows)


def of_sets(runs: Runs) -> str:
    rows = []
    for run in runs:
        is_expression = run["set"] != "blood cells"
        markers = [f"{a:,} of {b:,}" if is_expression else "" for a, b in (run["markers"], run["naive"])]
        types = (f"{run['known'][1]} of {run['known'][0]}", f"{run['apart']:.1f}") if is_expression else ("", "")
        rows.append((run["set"], run["k"], run["left"], *(f"{a:.2f}" for a in run["ari"]), *types, *markers))
    head = ("set", "clusters", "left", "ARI before", "after", "types left", "on the line", "markers: dip", "rank sums")
    apart = [run["apart"] for run in runs if "apart" in run]
    text = SETS + table(head, rows) + SETS_READ.format(low=f"{min(apart):.1f}", high=f"{max(apart):.1f}")
    text += "\n".join(
        f"* {run['set']}: {in_types(run)}." for run in runs if run["set"] != "blood cells" and run["factor"] == 1
    )
    return text + "\n" + "".join(blood(run) for run in runs if run["set"] == "blood cells")


def in_types(run: dict[str, Any]) -> str:
    """The clusters before by their known types, those that became one joined."""
    before = [f"({types})" for types in run["before"]]
    return "; ".join(" + ".join(before[c] for c in group) for group in run["groups"])


def blood(run: dict[str, Any]) -> str:
    lines = "\n".join(f"* {part}" for part in in_types(run).split("; "))
    selective, naive = (f"{a:,} of {b:,}" for a, b in (run["markers"], run["naive"]))
    best = table(
        ("cells of the cluster", "markers, the smallest p first"),
        [(types, ", ".join(run["best"][str(c)])) for c, types in enumerate(run["types"])],
    )
    return f"""
**Blood cells**: {run["k"]} clusters became {run["left"]}:

{lines}

The counts were recovered from the logarithms in the file, thinned, and divided by the depth. k-means made 8 clusters of
the first part, and the second part tests their markers. {selective} comparisons show a difference, at a false discovery
rate of .05. The descriptive rank-sum test, on clusters of all counts, calls {naive} significant.

{best}
"""


def of_limits(runs: Runs) -> str:
    single = [run for run in runs if run["of"] == "null"]
    rows = []
    for kind in dict.fromkeys(run["kind"] for run in single):
        chosen = [run for run in single if run["kind"] == kind]
        n = sum(run["draws"] for run in chosen)
        wrong = [f"{sum(run['wrong'][name] for run in chosen) / n:.3f}" for name in chosen[0]["wrong"]]
        found, tests, left_out = np.sum([run["markers"] for run in chosen], axis=0).tolist()
        of_tests = (f"{tests:,}", f"{found / tests:.3f}") if tests else ("0", "–")
        rows.append((kind, *wrong, *of_tests, str(left_out) if left_out else ""))
    head = ("values", "1 feature", "of 2", "of 5", "markers: tests", "p ≤ .05", "not tested")
    text = LIMITS.format(draws=single[0]["draws"]) + table(head, rows)
    two = [run for run in runs if run["of"] == "two"]
    rows = []
    distances, sizes = sorted({run["distance"] for run in two}), sorted({run["n"] for run in two})
    for limit in dict.fromkeys(run["limit"] for run in two):
        by = {(run["distance"], run["n"]): run for run in two if run["limit"] == limit}
        cells = [by[d, n] for n in sizes for d in distances]
        rows.append((limit, *(" / ".join(f"{found / run['draws']:.2f}" for found in run["found"]) for run in cells)))
    head = ("limit", *(f"{d} sd, {n:,} objects" for n in sizes for d in distances))
    return text + LIMITS_TWO.format(draws=two[0]["draws"]) + table(head, rows) + LIMITS_READ


def of_wide(runs: Runs) -> str:
    rows = []
    for run in runs:
        delta, spread = run["distance"], 8 * run["d"] / run["n"]
        expected = f"{delta**2 / np.sqrt(delta**2 + spread):.1f}"
        shares = [f"{found / run['draws']:.2f}" for found in run["found"].values()]
        rows.append((run["n"], delta, f"{run['apart']:.1f}", expected, *shares))
    head = ("objects", "distance", "on the line", "expected", *runs[0]["found"])
    eight = next(run for run in runs if (run["n"], run["distance"]) == (60, 8))
    half = f"{eight['found']['Ward']} to {eight['found']['known']} of {eight['draws']}"
    return WIDE + table(head, rows) + WIDE_READ.format(half=half)


SECTIONS: dict[str, Callable[[Runs], str]] = {
    "markers": of_markers,
    "limits": of_limits,
    "wide": of_wide,
    "speed": of_speed,
    "sets": of_sets,
}


def page() -> str:
    """The document."""
    runs = [json.loads(line) for line in RECORD.read_text(encoding="utf-8").splitlines()]
    by_part = {
        part: [r for r in runs if r["part"] == part]
        for part in ("null", "default", "power", "default-power", "known", *SECTIONS)
    }
    parts = [of_clouds(by_part["null"], by_part["default"])] if by_part["null"] else []
    parts += [of_power(by_part["power"], by_part["default-power"], by_part["known"])] if by_part["power"] else []
    parts += [make(by_part[part]) for part, make in SECTIONS.items() if by_part[part]]
    return HEAD + "\n\n".join(part.strip() for part in parts) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
