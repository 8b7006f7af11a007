"""Write docs/LEADERBOARD.md from the tables of a run of ``ensemblage benchmark``.

python lab/scripts/make_leaderboard.py
    from the tables in lab/records/leaderboard
python lab/scripts/make_leaderboard.py OUT --suite DIR --data DIR --data DIR
    takes tables of the run in OUT, draws six sets
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import re
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from ensemblage_lab.benchmark._board import PLAIN

ROOT = Path(__file__).parents[2]
TABLES = ROOT / "lab" / "records" / "leaderboard"
PICTURES = ROOT / "docs" / "leaderboard"
PAGE = ROOT / "docs" / "LEADERBOARD.md"
FILES = (
    *("leaderboard.csv", "parts.csv", "comparisons.csv", "pools.csv", "sets.csv", "scores.csv", "ranks.csv"),
    *("seconds.csv", "failures.csv", "left_out.csv", "run.json"),
)
N_PICTURES = 6
N_COMPARED = 10
"""The first entries that comparisons are shown of."""
KNOWN, FOUND = "k is known", "k is found"
KNOWN_TABLES, FOUND_TABLES = "k is known, tables", "k is found, tables"
"""Of sets with more than three features."""
Record = dict[str, str]

HEAD = """# Leaderboard

Consensus methods, rankers, rules for the number of clusters k, and plain clusterers on public sets with known classes.
The score is the adjusted Rand index (ARI) with the classes. All get the same input, prepared as by `ensemblage run`:
scales are kept if they are similar, else every feature has standard deviation 1.

[One sortable page](site/evidence/board.md) has the scores set by set, filters by kind of data, and a board of generated
sets that anybody can run. [A method from outside can join it](site/howto/submit_method.md).

**The default was checked on part of these sets.** Its trees learned from synthetic worlds alone, but the development
sets could reject a configuration ([how the default is chosen](DEFAULT.md)). The first default was searched on the
suite. So the places of both are no test of them.

"""
NAMES = """## What the names mean

An entry is a method, followed by *on* and its pool of members; an entry without a pool clusters the features itself. No
pool made here knows k.

| pool | its members |
|---|---|
| random-k | 50 k-means with k drawn from 2 to √n |
| diverse | five algorithms, each with 2, 3, 4, 6, 9, 13, 19 and 28 clusters up to √n |
| both | random-k and diverse together |
| published | labels that some twenty other programs gave, with k given |

The algorithms of *diverse* are k-means, Gaussian mixture, Ward's and average linkage, and spectral clustering on
neighbours. The data of *published* were centred and scaled as a whole, not column by column; it has tables of its own.

| clusterer of features | setting, fixed beforehand |
|---|---|
| default | `ConsensusClustering()` |
| first default | the same with `selection="consensus"` |
| k-means | 10 starts |
| mixture | 3 starts, full covariances up to 50 features, else diagonal |
| ward, average | Ward's and average linkage |
| spectral | 10 neighbours |
| genie | Genie's default threshold |
| hdbscan | clusters of at least n / 50 objects (5 to 50); objects in no cluster are one cluster more |
| mixture by BIC, k-means by silhouette | up to 20 clusters |
| k-means by `choose_k` | up to 10 clusters, 50 partitions, 19 references |

With k given, both defaults make members with about k clusters, which no pool here has.

"""
RUN = """## What was run

`python lab/scripts/make_leaderboard.py` writes this page from the tables of one run, in
[lab/records/leaderboard](../lab/records/leaderboard). The command belongs to the [laboratory](../lab/README.md):

    ensemblage benchmark --suite SUITE --data DATA --data TABLES --full --largest 2500 --seeds 1 --no-parts
        --pools random-k,diverse,published -o OUT

"""
K_TEXT = """Shares of the sets on which the number of clusters is right, too small and too large. Next are its mean
difference from the number of classes, and the mean size of that difference.

"""
SELECTORS_TEXT = """A row is a ranker that picks one member of a pool: the one that it puts first.

"""
NOT_SHOWN = """## What is not shown

- These sets were collected to compare clusterers, and many are planar drawings. They are no sample of your data.
  Means depend on which sets are among them; the intervals say how much.
- Known classes are one way to divide the objects. Other divisions may be as good.
- Features are scaled as by default, which is not right for all of these sets. Other inputs give other tables.
- The first and the best of a table were chosen after the fact. The p values are not corrected for that, only for the
  comparisons of a table.
- Some methods can only merge clusters of their members: acv, bv, majority, gv3 and the Euclidean medians. They refuse
  more clusters than the largest member has, and count 0 there. This is due to the pool as much as to the method.
- Seconds are processor seconds, on a machine that did other work too. They include what is compiled or loaded on first
  use. Memory is the peak of a cell beyond what its process had before.
"""


def read(name: str) -> list[Record]:
    with open(TABLES / name, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def number(text: str, digits: int = 3) -> str:
    return f"{float(text):.{digits}f}" if text else "–"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n\n"


def name_of(line: Record) -> str:
    return line["entry"] if line["pool"] == "features" else f"{line['entry']} on {line['pool']}"


def lines_of(scope: str) -> list[Record]:
    return [line for line in read("leaderboard.csv") if line["scope"] == scope]


def main_table(lines: Sequence[Record]) -> str:
    header = ["entry", "mean ARI", "95 %", "finished", "of common", "AMI", "NCA", "regret", "gain"]
    rows = [
        [
            *(name_of(x), number(x["over_all"]), f"{number(x['low'], 2)} to {number(x['high'], 2)}"),
            *(f"{x['n_finished']} of {x['n_sets']}", number(x["over_common"]), number(x["ami"]), number(x["nca"])),
            *(number(x["regret"]), number(x["gain"])),
        ]
        for x in lines
    ]
    return table(header, rows)


def k_table(lines: Sequence[Record]) -> str:
    header = ["entry", "k right", "too few", "too many", "k − true k", "its size", "mean ARI"]
    told = sorted((x for x in lines if x["k_far"]), key=lambda x: (-float(x["k_right"]), float(x["k_far"])))
    return table(
        header,
        [
            [
                *(name_of(x), number(x["k_right"], 2), number(x["k_few"], 2)),
                *(number(x["k_many"], 2), f"{float(x['k_error']):+.1f}"),
                *(number(x["k_far"], 1), number(x["over_all"])),
            ]
            for x in told
        ],
    )


def selectors(lines: Sequence[Record]) -> str:
    header = ["ranker", "pool", "ARI of its choice", "95 %", "below the best member", "k right", "k − true k"]
    chosen = [x for x in lines if x["kind"] == "selector"]
    rows = [
        [
            *(x["entry"], x["pool"], number(x["over_all"]), f"{number(x['low'], 2)} to {number(x['high'], 2)}"),
            *(number(x["regret"]), number(x["k_right"], 2), f"{float(x['k_error']):+.1f}"),
        ]
        for x in sorted(chosen, key=lambda x: (x["pool"], -float(x["over_all"])))
    ]
    return table(header, rows)


def by_part(scope: str, order: Sequence[Record], rule: str) -> str:
    """The means of every entry over the sets of a battery or kind."""
    found = {(row["entry"], row["pool"]): row for row in read("parts.csv") if row["scope"] == scope}
    parts = [part for part in next(iter(found.values())) if part.startswith(f"{rule}: ")]
    sizes = sizes_of_parts(scope)
    header = ["entry", *(f"{part.partition(': ')[2]} ({sizes[part]})" for part in parts)]
    rows = [[name_of(x), *(number(found[x["entry"], x["pool"]][part]) for part in parts)] for x in order]
    return table(header, rows)


def sizes_of_parts(scope: str) -> dict[str, int]:
    tried = scores_of(scope)
    names = {name for scores in tried.values() for name in scores}
    sizes: dict[str, int] = defaultdict(int)
    for row in read("sets.csv"):
        if row["set"] in names:
            sizes[f"battery: {row['set'].partition('/')[0]}"] += 1
            for rule in ("objects", "features", "classes", "balance", "shape"):
                sizes[f"{rule}: {row[rule]}"] += 1
    return sizes


def scores_of(scope: str) -> dict[str, dict[str, float]]:
    """By the name of an entry and the name of a set; 0 where there is no number."""
    rows = [row for row in read("scores.csv") if row["scope"] == scope]
    named = [name for name in rows[0] if "/" in name]
    sets = [name for name in named if any(row[name] for row in rows)]
    return {name_of(row): {name: float(row[name] or 0) for name in sets} for row in rows}


def compared(scope: str, keep: Callable[[Record], bool] = lambda row: True) -> str:
    rows = [row for row in read("comparisons.csv") if row["scope"] == scope and keep(row)]
    header = ["entry", "against", "difference", "95 %", "wins, ties, losses", "p (Wilcoxon, Holm)"]
    return table(
        header,
        [
            [
                *(row["first"], row["second"], f"{float(row['difference']):+.3f}"),
                *(f"{float(row['low']):+.3f} to {float(row['high']):+.3f}",),
                *(f"{row['wins']}, {row['ties']}, {row['losses']}", number(row["p_value"], 3)),
            ]
            for row in rows
        ],
    )


def best_plain(scope: str) -> str:
    """The baseline that the comparisons are with, beside the first."""
    return next(name_of(x) for x in lines_of(scope) if x["kind"] == "baseline" and x["entry"] in PLAIN)


def losses(scope: str, margin: float = 0.1) -> str:
    """Where each entry is far below the best baseline."""
    scores, baseline = scores_of(scope), best_plain(scope)
    header = ["entry", "sets lost", "sets won", "worst"]
    rows = []
    for x in lines_of(scope):
        own, name = scores[name_of(x)], name_of(x)
        if name == baseline:
            continue
        lost = sorted(
            (s for s in own if scores[baseline][s] - own[s] > margin), key=lambda s: own[s] - scores[baseline][s]
        )
        won = sum(own[s] - scores[baseline][s] > margin for s in own)
        worst = ", ".join(f"{s} ({own[s]:.2f}, {scores[baseline][s]:.2f})" for s in lost[:3])
        rows.append([name, str(len(lost)), str(won), worst])
    return table(header, rows)


def stability(lines: Sequence[Record]) -> str:
    header = [
        *("entry", "other seed", "a tenth left out", "CPU s, median", "CPU s, most"),
        *("MB, median", "MB, most", "mean moves by"),
    ]
    rows = [
        [
            *(name_of(x), number(x["seeds"], 2), number(x["part"], 2), number(x["seconds"], 2)),
            *(number(x["most_seconds"], 1), number(x["megabytes"], 1), number(x["most_megabytes"], 0)),
            f"{float(x['moved']):+.3f}" if x["moved"] else "–",
        ]
        for x in lines
    ]
    return table(header, rows)


def failures() -> str:
    """Reasons of missing numbers, by entry."""
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    for row in read("failures.csv"):
        reason = re.sub(r"\d[\d,.]*", "…", row["reason"].partition(". ")[0])
        found[row["entry"], reason].append(f"{row['set']} ({row['pool']})")
    rows = [
        [entry, reason, str(len(where)), ", ".join(where[:3]) + (", …" if len(where) > 3 else "")]
        for (entry, reason), where in sorted(found.items(), key=lambda item: -len(item[1]))
    ]
    return table(["entry", "reason", "sets × pools", "where"], rows)


def in_short() -> str:
    """Who is first, and how far above the best plain clusterer, the best method on a pool and the default."""
    settings = {
        KNOWN: "all sets, k given",
        FOUND: "all sets, k unknown",
        KNOWN_TABLES: "tables, k given",
        FOUND_TABLES: "tables, k unknown",
    }
    means, ranks = [], []
    for scope, setting in settings.items():
        lines = lines_of(scope)
        of = {name_of(x): x for x in lines}
        pairs = {(row["first"], row["second"]): row for row in read("comparisons.csv") if row["scope"] == scope}
        first, pooled = name_of(lines[0]), name_of(next(x for x in lines if x["kind"] != "baseline"))
        for name in dict.fromkeys((first, best_plain(scope), pooled, "default")):
            score = [f"{setting} ({lines[0]['n_sets']})", name, number(of[name]["over_all"])]
            means.append([*score, *difference(pairs.get((first, name)))])
        ranks.append([setting, *rank_cells(scope)])
    header = ["sets", "entry", "mean ARI", "first less this", "95 %", "first's wins, losses", "p"]
    header_of_ranks = [
        "sets",
        "first",
        "its mean rank",
        "place of default",
        "its mean rank",
        "critical difference",
        "entries within it",
    ]
    shown = [
        "Mean ARI of the first of all, the best plain clusterer, the best on a pool, and the default:\n\n",
        table(header, means),
        "Mean rank over the sets. Nemenyi's critical difference says which ranks differ by more than chance:\n\n",
        table(header_of_ranks, ranks),
        "ARI of the members of each pool, mean over its sets:\n\n",
        members_in_short(),
    ]
    rules = sorted(lines_of(FOUND), key=lambda x: -float(x["k_right"]))[:3]
    best = ", ".join(f"{name_of(x)} ({100 * float(x['k_right']):.0f} %)" for x in rules)
    return "".join([*shown, f"The number of classes is found on most sets by {best}.\n\n"])


def difference(row: Record | None) -> list[str]:
    """The cells of a comparison; dashes where an entry is the first itself or was not compared."""
    if row is None:
        return ["–"] * 4
    bounds = f"{float(row['low']):+.3f} to {float(row['high']):+.3f}"
    return [f"{float(row['difference']):+.3f}", bounds, f"{row['wins']}, {row['losses']}", number(row["p_value"], 3)]


def rank_cells(scope: str) -> list[str]:
    """Who is first by mean rank, the place of the default, and how many are within the critical difference."""
    rows = [row for row in read("ranks.csv") if row["scope"] == scope]
    first, apart = rows[0], float(rows[0]["critical_difference"])
    place, default = next((i, row) for i, row in enumerate(rows, 1) if row["entry"] == "default")
    near = sum(float(row["mean_rank"]) <= float(first["mean_rank"]) + apart for row in rows)
    own = [first["entry"], number(first["mean_rank"], 1), str(place), number(default["mean_rank"], 1)]
    return [*own, f"{apart:.1f}", f"{near} of {len(rows)}"]


def members_in_short() -> str:
    rows = [
        [row["pool"], row["sets"], number(row["mean_member"]), number(row["best_member"])] for row in read("pools.csv")
    ]
    return table(["pool", "sets", "mean member", "best member"], rows)


def sets_in_short() -> str:
    """How many sets, and how large."""
    names = scores_of(KNOWN)
    tried = set(next(iter(names.values())))
    sizes = [int(row["n_objects"]) for row in read("sets.csv") if row["set"] in tried]
    return f"- {len(tried)} sets of {min(sizes):,} to {max(sizes):,} objects."


def page() -> str:
    notes = json.loads((TABLES / "run.json").read_text(encoding="utf-8"))["notes"]
    known, found = lines_of(KNOWN), lines_of(FOUND)
    parts = [HEAD, "## In short\n\n", in_short(), NAMES, RUN, sets_in_short() + "\n"]
    parts += ["".join(f"- {note}\n" for note in notes), "\n"]
    parts += ["## With k given\n\n", explain(), main_table(known)]
    parts += [compared_text(), compared(KNOWN, partial(is_compared, lines=known))]
    parts += ["### By battery\n\n", by_part(KNOWN, known, "battery"), "### By kind of set\n\n", kinds_text()]
    for rule in ("shape", "features", "classes", "balance", "objects"):
        parts += [f"By {rule}:\n\n", by_part(KNOWN, known[:12] + plain_after(known, 12), rule)]
    parts += [
        "## With k unknown\n\n",
        "The columns are those of the first table above.\n\n",
        main_table(found),
        compared(FOUND, partial(is_compared, lines=found)),
    ]
    parts += ["### Numbers of clusters\n\n", K_TEXT, k_table(found)]
    parts += ["### Rankers as selectors\n\n", SELECTORS_TEXT, selectors(found)]
    parts += ["### By battery\n\n", by_part(FOUND, found, "battery"), "### By shape\n\n"]
    parts += [by_part(FOUND, found[:12] + plain_after(found, 12), "shape")]
    parts += [
        "## Tables\n\n",
        "Sets with more than three features; drawings in the plane and in space are left out.\n\n",
    ]
    for scope, heading in ((KNOWN_TABLES, "### Tables, k given"), (FOUND_TABLES, "### Tables, k unknown")):
        lines = lines_of(scope)
        parts += [f"{heading}\n\n", main_table(lines), compared(scope, partial(is_compared, lines=lines))]
    for scope in dict.fromkeys(line["scope"] for line in read("leaderboard.csv")):
        if scope not in (KNOWN, FOUND, KNOWN_TABLES, FOUND_TABLES):
            parts += [
                f"## {scope.replace('is known', 'given').replace('is found', 'unknown').replace(', ', ', pool ')}\n\n",
                main_table(lines_of(scope)),
            ]
    parts += ["## Where each loses\n\n", losses_text(KNOWN), losses(KNOWN), pictures_text()]
    parts += ["### With k unknown\n\n", losses_text(FOUND), losses(FOUND)]
    parts += ["## Stability, time and memory\n\n", stability_text(), stability(known)]
    parts += [
        "## What has no number\n\n",
        "What an entry refused or did not finish counts 0 in the means over all sets.\n\n",
        failures(),
    ]
    parts += ["## Sets that are left out\n\n", left_out(), NOT_SHOWN]
    return "".join(parts)


def explain() -> str:
    return (
        "A row is an entry, the best first. Means are over all sets; a missing number counts 0.\n\n"
        "- 95 %: the interval of the mean, with sets drawn with replacement.\n"
        "- Finished: the sets with a number.\n"
        f"- Of common: mean ARI over {lines_of(KNOWN)[0]['n_common']} sets. There every entry has a number that has "
        "one on half of all sets.\n"
        "- AMI: adjusted mutual information; NCA: normalised clustering accuracy.\n"
        "- Regret: the best member of the pool less this; gain: this less the mean member.\n\n"
    )


def kinds_text() -> str:
    from ensemblage_lab.benchmark._kinds import RULES

    rules = "".join(f"- {name}: {rule}.\n" for name, rule in RULES.items())
    return f"Mean ARI by kinds of sets. The kind is decided by the data alone:\n\n{rules}\n"


def losses_text(scope: str) -> str:
    return (
        f"An entry wins or loses a set if its ARI differs by more than .1 from that of {best_plain(scope)}. *Worst* "
        "has the three largest losses, with both scores.\n\n"
    )


def stability_text() -> str:
    if not any(x["moved"] for x in lines_of(KNOWN)):
        return (
            "Seconds and megabytes of a cell, that is one entry on one set, with one seed and without making the pool. "
            "Other seeds, and runs without a tenth of the objects, were not made.\n\n"
        )
    return (
        "- Other seed, a tenth left out: ARI between two answers, over the sets where that was run. Pool and "
        "preparation were made anew.\n"
        "- Seconds and megabytes: of one entry on one set, without making the pool.\n"
        "- Mean moves by: mean ARI with the second seed less that with the first, over the sets with both. "
        f"{noise().capitalize()}.\n\n"
    )


def noise() -> str:
    """How far means move with another seed."""
    moved = sorted(abs(float(x["moved"])) for x in lines_of(KNOWN) if x["moved"])
    nine_tenths = moved[int(0.9 * len(moved))]
    return f"nine entries of ten move by {nine_tenths:.3f} at most, all by {moved[-1]:.3f}"


def left_out() -> str:
    """The sets that are not scored on."""
    rows = [[row["set"], row["reason"]] for row in read("left_out.csv")]
    return table(["set", "why"], rows) if rows else "None.\n\n"


def pictures_text() -> str:
    files = sorted(PICTURES.glob("*.png"))
    titles = json.loads((TABLES / "pictures.json").read_text(encoding="utf-8")) if files else {}
    return "".join(f"![{titles[file.stem]}](leaderboard/{file.name})\n\n{titles[file.stem]}\n\n" for file in files)


def plain_after(lines: Sequence[Record], n: int) -> list[Record]:
    return [x for x in lines[n:] if x["kind"] == "baseline"]


def is_compared(row: Record, lines: Sequence[Record]) -> bool:
    """Whether a comparison is with one of the first, with a plain clusterer or with the default."""
    return row["second"] in {name_of(x) for i, x in enumerate(lines) if i < N_COMPARED or x["kind"] == "baseline"}


def compared_text() -> str:
    return (
        f"The first and the best plain clusterer, compared with the first {N_COMPARED} and with the plain clusterers "
        "([all comparisons](../lab/records/leaderboard/comparisons.csv)). A difference of up to .005 is a tie. p "
        "values are corrected for all comparisons of the table.\n\n"
    )


def draw_pictures(out: Path, suite: Path | None, data: Sequence[Path]) -> None:
    """Six sets of up to three features in each of which another method loses, the best methods first."""
    from sklearn.metrics import adjusted_rand_score

    from ensemblage_lab._figures import partition_panels
    from ensemblage_lab.benchmark._sets import find_sets

    scores, baseline = scores_of(KNOWN), best_plain(KNOWN)
    flat = {row["set"] for row in read("sets.csv") if int(row["n_features"]) <= 3}
    sets = {one.name: one for one in find_sets(suite, data)}
    shown: dict[str, str] = {}
    methods: set[str] = set()
    for x in lines_of(KNOWN):
        own = scores[name_of(x)]
        lost = sorted((s for s in own if s in flat and s not in shown), key=lambda s: own[s] - scores[baseline][s])
        if x["kind"] != "consensus" and x["entry"] != "default":
            continue
        if x["entry"] in methods or len(shown) == N_PICTURES:
            continue
        worst = next((s for s in lost if scores[baseline][s] - own[s] > 0.1), None)
        labels = worst and [labels_in(out, entry, sets[worst]) for entry in (name_of(x), baseline)]
        if worst is None or labels is None or any(found is None for found in labels):
            continue
        methods.add(x["entry"])
        one = sets[worst]
        drawn = [max(adjusted_rand_score(y[y > 0], found[y > 0]) for y in one.references) for found in labels]
        shown[worst] = f"{name_of(x)} on the set {worst}: {drawn[0]:.2f}, {baseline} {drawn[1]:.2f}"
        panels = [("known classes", one.references[0] - 1), (name_of(x), labels[0]), (baseline, labels[1])]
        figure = partition_panels(one.whole, panels)
        figure.savefig(PICTURES / f"{worst.replace('/', '-')}.png", dpi=110, metadata={"Software": None})
    titles = {name.replace("/", "-"): title for name, title in shown.items()}
    (TABLES / "pictures.json").write_text(json.dumps(titles, indent=1) + "\n", encoding="utf-8")


def labels_in(out: Path, entry: str, one) -> np.ndarray | None:
    """Labels as the run wrote them, from 0, −1 for no cluster."""
    name, _, pool = entry.partition(" on ")
    folder = re.sub(r"\W+", "_", f"{name} {pool}").strip("_")
    path = out / "labels" / folder / f"{one.name}.result{one.k}.gz"
    if not path.exists():
        return None
    with gzip.open(path, "rt") as file:
        return np.array(file.read().split()[1:], dtype=np.int64) - 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, nargs="?")
    parser.add_argument("--suite", type=Path)
    parser.add_argument("--data", type=Path, action="append", default=[])
    given = parser.parse_args()
    if given.out is not None:
        TABLES.mkdir(exist_ok=True)
        PICTURES.mkdir(exist_ok=True)
        for old in PICTURES.glob("*.png"):
            old.unlink()
        for name in FILES:
            shutil.copy(given.out / name, TABLES / name)
        draw_pictures(given.out, given.suite, given.data)
    PAGE.write_text(page().rstrip() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
