"""Write docs/DEFAULT.md from the texts in docs/default and the records of lab/benchmarks/bench_default.py.

With --suite and --data it draws the sets on which the default loses most once more, too.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.text import markdown_table

LAB = Path(__file__).parents[1]
RECORDS = LAB / "records" / "default"
DOCS = LAB.parent / "docs"
FOLDER = DOCS / "default"
"""Texts and pictures of the page."""
PAGE = DOCS / "DEFAULT.md"
N_DRAWS = 10_000
LARGEST_RATIO = 20
WON = 0.02
"""A difference of two scores that counts as a win."""
BEST_SHOWN, LOSSES_SHOWN, LOSSES_DRAWN, WORST_SHOWN = 15, 8, 5, 5
KNOWN = ("k-means", "mixture", "ward", "spectral", "genie")
FOUND = ("mixture by BIC", "k-means by silhouette", "hdbscan")
SCALINGS = ("given", "deviation 1")
PLAIN = tuple(f"{name}, {scaling}" for name in KNOWN for scaling in SCALINGS)
SHIPPED = "choose_k; own, where that is above ten and no three criteria agree (ships)"


def records(name: str) -> list[dict[str, Any]]:
    path, packed = RECORDS / f"{name}.jsonl", RECORDS / f"{name}.jsonl.gz"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    lines += gzip.decompress(packed.read_bytes()).decode().splitlines() if packed.exists() else []
    return [json.loads(line) for line in lines]


def interval(differences: NDArray[np.float64]) -> str:
    """The 95 % interval of the mean, sets drawn with replacement."""
    drawn = np.random.default_rng(0).integers(len(differences), size=(N_DRAWS, len(differences)))
    low, high = np.quantile(differences[drawn].mean(axis=1), (0.025, 0.975))
    return f"{low:+.3f} to {high:+.3f}"


def of_batteries(rows: Sequence[dict[str, Any]], values: NDArray[np.float64]) -> list[str]:
    batteries = np.array([row["set"].partition("/")[0] for row in rows])
    return [f"{values[batteries == battery].mean():.3f}" for battery in np.unique(batteries)]


def table_of(rows: Sequence[dict[str, Any]], names: Iterable[str], ours: str) -> list[str]:
    """Means of the answers, ours first, and by how much ours is above each."""
    batteries = np.unique([row["set"].partition("/")[0] for row in rows])
    counts = [sum(row["set"].startswith(f"{battery}/") for row in rows) for battery in batteries]
    own = np.array([row["ari"][ours] for row in rows])
    lines = []
    for name in names:
        values = np.array([row["ari"].get(name, 0.0) for row in rows])
        above = "" if name == ours else f"{(own - values).mean():+.3f}, {interval(own - values)}"
        seconds = np.median([row["seconds"].get(name, np.nan) for row in rows])
        right = np.mean([row["k"].get(name) == row["K"] for row in rows])
        lines.append(
            [name, f"{values.mean():.3f}", *of_batteries(rows, values), above, f"{right:.2f}", f"{seconds:.1f}"]
        )
    lines.sort(key=lambda line: -float(line[1]))
    head = [f"{battery} ({count})" for battery, count in zip(batteries, counts, strict=True)]
    return markdown_table(
        ["algorithm", "mean ARI", *head, "default above it, 95 %", "k right", "median seconds"], lines
    )


def product() -> list[str]:
    rows = records("product")
    known = list(PLAIN)
    found = [f"{name}, {scaling}" for name in FOUND for scaling in SCALINGS]
    again = np.array([[row["again"], row["left out"]] for row in rows]).mean(axis=0)
    lost = [
        [row["set"], f"{row['n']:,} × {row['d']:,}", str(row["K"]), f"{row['ari']['default']:.2f}"]
        + [f"{max(row['ari'].get(f'{name}, {scaling}', 0) for scaling in SCALINGS):.2f}" for name in KNOWN]
        for row in losses()[:LOSSES_SHOWN]
    ]
    pictures = [f"![The clusters of {row['set']}](default/{name_of(row)})" for row in losses()[:LOSSES_DRAWN]]
    sizes = [row["n"] for row in rows]
    about = (
        f"{len(rows)} sets of {min(sizes)} to {max(sizes):,} objects. Mean ARI over all sets and over each battery "
        "(number of sets). *k right* is the share of sets with the true number of clusters. What did not finish or was "
        "not tried on the larger sets counts 0."
    )
    differs = (
        f"Mean ARI between the default's labels with two seeds: {again[0]:.3f}. With all objects and with nine tenths "
        f"of them: {again[1]:.3f}."
    )
    return [
        "## First default: comparison with plain clusterers",
        "",
        about,
        "",
        "With k given:",
        "",
        *table_of(rows, ["default", "best", "fast", *known], "default"),
        "",
        "With k unknown:",
        "",
        *table_of(rows, ["default, k found", *found], "default, k found"),
        "",
        differs,
        "",
        "The sets on which it loses most, k given. Cells are ARI; each plain clusterer has its better scaling:",
        "",
        *markdown_table(["set", "size", "classes", "default", *KNOWN], lost),
        "",
        "The first five of them. Sets of more than two features are drawn by their first two principal components:",
        "",
        *[line for picture in pictures for line in (picture, "")],
    ]


def losses() -> list[dict[str, Any]]:
    """The sets by how far the default is below the best plain clusterer, k given."""
    return sorted(records("product"), key=lambda row: row["ari"]["default"] - row["ari"].get(best_plain(row), 0))


def best_plain(row: dict[str, Any]) -> str:
    return max(PLAIN, key=lambda name: row["ari"].get(name, 0))


def name_of(row: dict[str, Any]) -> str:
    return f"{row['set'].replace('/', '-')}.png"


def draw_losses(suite: Path | None, data: Path | None) -> None:
    """The known classes, the default's clusters and those of the best plain clusterer of each of the first losses."""
    sys.path.insert(0, str(LAB / "benchmarks"))
    from bench_default import features

    from ensemblage import ConsensusClustering
    from ensemblage.generation import Genie
    from ensemblage_lab._figures import partition_panels
    from ensemblage_lab.benchmark._entries import BASELINES
    from ensemblage_lab.benchmark._sets import find_sets

    sets = {one.name: one for one in find_sets(suite, [data])}
    for row in losses()[:LOSSES_DRAWN]:
        one, best = sets[row["set"]], best_plain(row)
        name, _, scaling = best.partition(", ")
        X = features(one, scaling != "given")
        plain = Genie(one.k).fit_predict(X) if name == "genie" else BASELINES[name](X, one.k, 0)
        ours = ConsensusClustering(one.k, selection="consensus", n_jobs=1, random_state=0).fit_predict(one.X)
        labels = {"known classes": one.references[0] - 1, "default": ours, best: plain}
        panels = [
            (title if title not in row["ari"] else f"{title}: {row['ari'][title]:.2f}", np.asarray(found))
            for title, found in labels.items()
        ]
        partition_panels(one.whole, panels).savefig(FOLDER / name_of(row), dpi=110, metadata={"Software": None})


def words() -> list[str]:
    rows = records("words")
    if not rows:
        return []
    lines = []
    for word in ("core", "border", "undecided"):
        counts = np.array([row["words"][word] for row in rows])
        total, right = counts.sum(axis=0)
        lines.append([word, f"{total:,}", f"{right / total:.2f}"])
    auc = np.array([[row["auc"]["confidence_"], row["auc"]["cohesion_"]] for row in rows if "auc" in row])
    about = (
        f"Objects of {len(rows)} sets of at most 1,500 objects, k given, and the share of them that is right. AUC of "
        f"`confidence_` {auc.mean(axis=0)[0]:.3f}, of the mean co-association {auc.mean(axis=0)[1]:.3f}."
    )
    return [
        "## First default: words of confidence",
        "",
        about,
        "",
        *markdown_table(["word", "objects", "right"], lines),
        "",
    ]


def without_each_battery(batteries: NDArray[Any], values: dict[str, NDArray[np.float64]]) -> list[str]:
    """What the best candidate of the other batteries reaches on each. values : (sets,) of each candidate."""
    left_out = []
    for battery in np.unique(batteries):
        rest = batteries != battery
        best = max(values, key=lambda name: values[name][rest].mean())
        left_out.append((battery, best, values[best][~rest]))
    lines = [[battery, best, f"{found.mean():.3f}"] for battery, best, found in left_out]
    mean = np.concatenate([found for *_, found in left_out]).mean()
    return [
        f"Leave one battery out. Mean over the sets: **{mean:.3f}**.",
        "",
        *markdown_table(["battery left out", "the best on the others", "its mean ARI on this one"], lines),
    ]


def number() -> list[str]:
    rows = records("number")
    if not rows:
        return []
    ari = {name: np.array([row["ari"][name] for row in rows]) for name in rows[0]["ari"]}
    right = {name: [row["k"].get(name, row["K"]) == row["K"] for row in rows] for name in ari}
    more = [row["votes"] < 3 and row["k"]["own"] > 10 for row in rows]
    ari[SHIPPED] = np.where(more, ari["own"], ari["choose_k"])
    right[SHIPPED] = [right["own" if asked else "choose_k"][i] for i, asked in enumerate(more)]
    many = np.array([row["K"] > 10 for row in rows])
    batteries = np.array([row["set"].partition("/")[0] for row in rows])
    tried = {name: values for name, values in ari.items() if name not in ("told", SHIPPED)}
    lines = [
        ["given" if name == "told" else name, f"{values.mean():.3f}", *of_batteries(rows, values)]
        + [f"{values[few].mean():.3f}" for few in (~many, many)]
        + [f"{np.mean(right[name]):.2f}"]
        for name, values in sorted(ari.items(), key=lambda item: -item[1].mean())
    ]
    about = (
        f"Mean ARI of the default's answer with the number that a rule finds; *given* is the true number. "
        f"{len(rows)} sets of up to {max(row['n'] for row in rows):,} objects, {many.sum()} of them with more than ten "
        "classes. Means are over all sets, over each battery, and over sets with few and with more classes."
    )
    head = ["rule", "mean ARI", *np.unique(batteries), "2 to 10 classes", "more", "k right"]
    return [
        "## First default: rules for the number of clusters",
        "",
        about,
        "",
        *markdown_table(head, lines),
        "",
        *without_each_battery(batteries, tried),
        "",
    ]


def search() -> list[str]:
    rows = records("search")
    if not rows:
        return []
    names = [name for name in rows[0]["ari"] if all(name in row["ari"] for row in rows)]
    values = {name: np.array([row["ari"][name] for row in rows]) for name in names}
    auto = {}
    for name in names:
        scaling, _, rest = name.partition("; ")
        if scaling == "given" and f"deviation 1; {rest}" in values:
            alike = np.array([row["spread"] <= LARGEST_RATIO for row in rows])
            auto[f"by data; {rest}"] = np.where(alike, values[name], values[f"deviation 1; {rest}"])
    values |= auto
    batteries = np.array([row["set"].partition("/")[0] for row in rows])
    shown = sorted(values, key=lambda name: -values[name].mean())[:BEST_SHOWN]
    parts = [tuple(name.split("; ")) for name in values]
    marginal = []
    for place, title in enumerate(("scaling", "members", "their clusters", "combiner")):
        for level in dict.fromkeys(part[place] for part in parts):
            of_level = [values[name].mean() for name, part in zip(values, parts, strict=True) if part[place] == level]
            marginal.append([title, level, f"{np.mean(of_level):.3f}", f"{np.max(of_level):.3f}"])
    about = (
        f"{len(values):,} candidates on {len(rows)} sets of up to {max(r['n'] for r in rows):,} objects, k given. Mean "
        "ARI of the best, over all sets and over each battery:"
    )
    return [
        "## First default: the search",
        "",
        about,
        "",
        *markdown_table(
            ["scaling; members; their clusters; combiner", "mean ARI", *np.unique(batteries)],
            [[name, f"{values[name].mean():.3f}", *of_batteries(rows, values[name])] for name in shown],
        ),
        "",
        *without_each_battery(batteries, values),
        "",
        "For every setting, the mean and the highest mean ARI of the candidates that have it:",
        "",
        *markdown_table(["step", "setting", "mean", "best"], marginal),
    ]


TASKS, KINDS = ("k given", "k unknown"), ("drawings", "numbers", "categories", "wide")
RUNS = {"first default": "first_default", "run 1": "run1", "run 2": "run2"}
"""Records of the search for the present default, by what they are called."""
SHIPS = "run 2"
CLEARLY = 0.9
"""A rating of which it is asked whether the partition is right."""
Scores = dict[tuple[str, str], dict[str, Any]]
"""By task and set: kind, and the mean ARI over seeds."""


def scores_of(rows: Sequence[dict[str, Any]]) -> Scores:
    """Means over the seeds."""
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in rows:
        found.setdefault((row["task"], row["set"]), []).append(row)
    return {key: {"kind": of[0]["kind"], "ari": float(np.mean([r["ari"] for r in of]))} for key, of in found.items()}


def of_kind(scores: Scores, task: str, kind: str) -> dict[str, float]:
    """ARI by set."""
    return {name: of["ari"] for (t, name), of in scores.items() if t == task and of["kind"] == kind}


def compared(ours: dict[str, float], other: dict[str, float]) -> list[str]:
    """Means of both on the sets that both have, difference with its interval, wins and losses."""
    sets = sorted(ours.keys() & other.keys())
    values, against = (np.array([of[name] for name in sets]) for of in (ours, other))
    above = values - against
    won, lost = int((above > WON).sum()), int((above < -WON).sum())
    return [str(len(sets)), f"{against.mean():.3f}", f"{values.mean():.3f}", interval(above), f"{won} / {lost}"]


def singles_of(rows: Sequence[dict[str, Any]], task: str, kinds: Sequence[str]) -> dict[str, dict[str, float]]:
    """The single algorithms that answer a task, by name: ARI by set of some kinds."""
    names = sorted({row["method"] for row in rows if row["task"] == task})
    scores = {name: scores_of([row for row in rows if row["method"] == name]) for name in names}
    return {
        name: {s: v for kind in kinds for s, v in of_kind(found, task, kind).items()} for name, found in scores.items()
    }


def best_single(rows: Sequence[dict[str, Any]], task: str, kinds: Sequence[str]) -> tuple[str, dict[str, float]]:
    """The single algorithm with the highest mean over the sets of some kinds."""
    found = {name: values for name, values in singles_of(rows, task, kinds).items() if values}
    most = max(map(len, found.values()))
    return max(
        ((n, v) for n, v in found.items() if len(v) == most), key=lambda item: float(np.mean([*item[1].values()]))
    )


HEAD = ["sets", "theirs", "ours", "difference, 95 %", "wins / losses"]


def development() -> list[str]:
    """The runs of the search for the present default, with the first default and single algorithms."""
    scores = {name: scores_of(records(file)) for name, file in RUNS.items()}
    base, *runs = scores
    lines = [
        [run, task, kind, *compared(of_kind(scores[run], task, kind), of_kind(scores[base], task, kind))]
        for run in runs
        for task in TASKS
        for kind in KINDS
    ]
    against = against_singles(scores[SHIPS], records("singles"))
    return [
        (FOLDER / "runs.md").read_text(encoding="utf-8"),
        "Theirs is the first default:",
        "",
        *markdown_table(["run", "task", "kind", *HEAD], lines),
        "",
        f"Ours is {SHIPS}. Theirs is the single algorithm with the highest mean on each kind, or each that finds k:",
        "",
        *markdown_table(["task", "kind", "algorithm", *HEAD], against),
        "",
    ]


def against_singles(ours: Scores, rows: Sequence[dict[str, Any]]) -> list[list[str]]:
    lines = []
    for task in TASKS:
        for kind in KINDS:
            values = of_kind(ours, task, kind)
            found = singles_of(rows, task, [kind])
            name, best = best_single(rows, task, [kind])
            chosen = {name: best} if task == "k given" else {n: v for n, v in found.items() if v}
            lines += [[task, kind, n, *compared(values, v)] for n, v in chosen.items()]
    return lines


def sealed() -> list[str]:
    """The fifteen tables that were scored once."""
    rows = records("sealed")
    if not rows:
        return []
    ours = scores_of([row for row in rows if row["method"] == "learned"])
    first = scores_of([row for row in rows if row["method"] == "first default"])
    plain = [row for row in rows if row["method"] not in ("learned", "first default")]
    lines, per_set = [], []
    for task in TASKS:
        values = {name: v["ari"] for (t, name), v in ours.items() if t == task}
        kinds = sorted({of["kind"] for of in ours.values()})
        others = {"first default": {name: v["ari"] for (t, name), v in first.items() if t == task}}
        name, best = best_single(plain, task, kinds)
        others[f"{name} (highest mean)"] = best
        if task == "k unknown":
            others |= {n: v for n, v in singles_of(plain, task, kinds).items() if v and n != name}
        lines += [[task, n, *compared(values, v)] for n, v in others.items()]
        per_set += [
            [
                task,
                table.removeprefix("tables/"),
                f"{best[table]:.3f}",
                f"{others['first default'][table]:.3f}",
                f"{value:.3f}",
            ]
            for table, value in sorted(values.items())
            if task == "k given"
        ]
    return [
        (FOLDER / "sealed.md").read_text(encoding="utf-8"),
        *markdown_table(["task", "algorithm", *HEAD], lines),
        "",
        *markdown_table(["task", "table", "best single", "first default", "ours"], per_set),
        "",
    ]


def worst_tables() -> list[str]:
    """The development tables on which a single algorithm is most above the answer, k given; means over the seeds."""
    singles: dict[str, dict[str, float]] = {}
    for row in records("singles"):
        if row["task"] == "k given":
            singles.setdefault(row["set"], {})[row["method"]] = row["ari"]
    rows = [r for r in records(RUNS[SHIPS]) if r["task"] == "k given" and r["kind"] != "drawings"]
    ours = {name: of["ari"] for (_, name), of in scores_of(rows).items()}
    above = {name: max(singles[name].values()) - ari for name, ari in ours.items()}
    first = {row["set"]: row for row in rows if row["seed"] == 0}
    lines = []
    for name in sorted(above, key=lambda name: -above[name])[:WORST_SHOWN]:
        row, best = first[name], max(singles[name], key=singles[name].__getitem__)
        values = f"{ours[name]:.3f}", f"{singles[name][best]:.3f}"
        lines.append([name, row["kind"], *values, best, row["best"], f"{row['rating']:.2f}"])
    head = ["set", "kind", "ours", "best single", "which", "rated highest", "rating"]
    return [(FOLDER / "worst.md").read_text(encoding="utf-8"), *markdown_table(head, lines), ""]


def what_it_says() -> list[str]:
    """Words of confidence, area under the curve and rating, by kind of set, with k given."""
    rows = [row for row in records(RUNS[SHIPS]) if row["task"] == "k given" and row["seed"] == 0 and "words" in row]
    lines = []
    for kind in KINDS:
        of = [row for row in rows if row["kind"] == kind]
        shares = []
        for word in ("core", "border", "undecided"):
            total, right = np.array([row["words"][word] for row in of]).sum(axis=0)
            shares.append(f"{right / total:.2f} of {total:,}" if total else "none")
        auc = np.mean([row["auc"] for row in of if "auc" in row])
        pairs = np.array([(row["rating"], row["ari"]) for row in of])
        high = pairs[pairs[:, 0] >= CLEARLY, 1]
        at_least = f"{high.mean():.2f} ({len(high)})" if len(high) else "none"
        lines.append([kind, str(len(of)), *shares, f"{auc:.3f}", f"{np.corrcoef(pairs.T)[0, 1]:.2f}", at_least])
    head = ["kind", "sets", "core", "border", "undecided", "AUC", "rating and ARI", f"ARI of ratings ≥ {CLEARLY}"]
    return [(FOLDER / "words.md").read_text(encoding="utf-8"), *markdown_table(head, lines), ""]


def structure() -> list[str]:
    """How often clusters are found in worlds of each kind: by the rating, and by the test of `choose_k`."""
    rows = records("structure")
    lines = []
    for kind in sorted({row["kind"] for row in rows}):
        of = [row for row in rows if row["kind"] == kind]
        clear, test = (np.mean([row[key] for row in of]) for key in ("clear", "choose_k_finds"))
        right = [np.mean([row[key] == row["true"] for row in of]) for key in ("k", "choose_k")]
        exact = [f"{value:.2f}" for value in right] if kind != "single" else ["", ""]
        lines.append([kind, str(len(of)), f"{clear:.2f}", f"{test:.2f}", *exact])
    head = ["kind", "worlds", "clear by the rating", "by choose_k's test", "k right by the rating", "by choose_k"]
    return [(FOLDER / "structure.md").read_text(encoding="utf-8"), *markdown_table(head, lines), ""]


def without_each() -> list[str]:
    """The best candidate in worlds of validation, by trees that saw all kinds of worlds, or all but one."""
    rows = records("without")
    kinds = [kind for kind in rows[0]["k given"] if kind != "mean"]
    lines = [
        [row["without"] or "none", task, *(f"{row[task][kind]:.3f}" for kind in (*kinds, "mean"))]
        for task in TASKS
        for row in rows
    ]
    return [
        (FOLDER / "without.md").read_text(encoding="utf-8"),
        *markdown_table(["left out", "task", *kinds, "mean"], lines),
        "",
    ]


def stability() -> list[str]:
    """Agreement of two seeds, of nine tenths of the objects and of a little noise."""
    rows = records("stability")
    lines = []
    for kind in KINDS:
        of = [row for row in rows if row["kind"] == kind]
        if of:
            means = [f"{np.mean([row[key] for row in of]):.3f}" for key in ("seed", "order", "noise", "tenths")]
            lines.append([kind, str(len(of)), *means])
    head = ["kind", "sets", "another seed", "another order", "noise of 1e-6", "nine tenths"]
    return [(FOLDER / "stability.md").read_text(encoding="utf-8"), *markdown_table(head, lines), ""] if lines else []


def page() -> str:
    summary, many, undone, chosen = (
        (FOLDER / f"{name}.md").read_text(encoding="utf-8")
        for name in ("summary", "many_objects_results", "undone", "chosen")
    )
    second = [*development(), *sealed(), *worst_tables(), *what_it_says(), *structure(), *stability(), *without_each()]
    first = [*product(), "", *words(), "", *number(), *search(), ""]
    return "\n".join([summary.rstrip(), *second, many, undone, chosen, *first])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--suite", type=Path)
    parser.add_argument("--data", type=Path)
    given = parser.parse_args()
    if given.suite or given.data:
        draw_losses(given.suite, given.data)
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
