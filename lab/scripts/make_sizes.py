"""What the default finds by the number of objects: protocol and tables of docs/SCALE.md, "Above 20,000 objects".

python lab/scripts/make_sizes.py writes the tables into docs/SCALE.md and draws docs/sizes.png. Other calls measure what
a record in lab/records/sizes has not:

--suite DIR                                candidates.jsonl: the reductions
--suite DIR --built                        built.jsonl: what the library does
--suite DIR --second                       second.jsonl: the confidence with a second sample
--suite DIR --data DIR --data DIR --begin  begin.jsonl: from where on
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score, roc_auc_score
from sklearn.metrics.cluster import contingency_matrix
from sklearn.neighbors import NearestNeighbors

from ensemblage import ConsensusClustering, metrics
from ensemblage.generation import _dense_rows, _diverse
from ensemblage.preprocessing import Preprocessor
from ensemblage_lab.benchmark._generated import FORMULAS

LAB = Path(__file__).parents[1]
RECORDS = LAB / "records" / "sizes"
DOCS = LAB.parent / "docs"
PAGE = DOCS / "SCALE.md"
CANDIDATES, BUILT = RECORDS / "candidates.jsonl", RECORDS / "built.jsonl"
SECOND, BEGIN = RECORDS / "second.jsonl", RECORDS / "begin.jsonl"
N_CELLS, LEAST_OF_CELL, SHARE, NTH = 50, 20, 0.8, 15
Points = NDArray[np.float64]


class Drawn(NamedTuple):
    """Objects and their true clusters from 0."""

    X: Points
    labels: NDArray[np.int64]


# -- the sets ----------------------------------------------------------------------------------------------------------


def of_suite(suite: Path, name: str) -> Drawn:
    (file,) = suite.glob(f"data/*/{name}.data.gz")
    X, labels = np.loadtxt(file, ndmin=2), np.loadtxt(file.with_name(f"{name}.labels0.gz"), dtype=np.int64)
    return Drawn(X[labels > 0], labels[labels > 0] - 1)


def of_tables(data: Sequence[Path], name: str) -> Drawn:
    """A table of numbers whose last column is the class."""
    (file,) = (file for folder in data for file in folder.glob(f"{name}.csv.gz"))
    table = pd.read_csv(file)
    return Drawn(table.iloc[:, :-1].to_numpy(dtype=np.float64), table.iloc[:, -1].factorize()[0].astype(np.int64))


def blown(X: Points, labels: NDArray[np.int64], n: int, rng: np.random.Generator) -> Drawn:
    """Objects drawn with replacement, with noise of the size of their neighbourhoods."""
    far = NearestNeighbors(n_neighbors=3).fit(X).kneighbors()[0][:, -1]
    rows = rng.integers(len(X), size=n)
    noise = rng.normal(size=(n, X.shape[1])) * (far[rows] / (2 * np.sqrt(X.shape[1])))[:, None]
    return Drawn(X[rows] + noise, labels[rows])


PUBLIC = ("chameleon_t4_8k", "s3", "unbalance", "statlog")
SETS = (*FORMULAS, *PUBLIC)
MILLION = ("moons", "rings", "spirals", "long", "s3", "unequal", "widths")
"""Sets of 10⁶ and 10⁷ objects, once each."""
SIZES = (1_000, 3_000, 10_000, 20_000, 30_000, 100_000, 1_000_000, 10_000_000)
TABLES = ("waveform", "satimage", "letter_recognition", "optdigits", "phoneme", "page_blocks")
"""Tables beside the sets, to see from where on objects are drawn."""


def drawn(suite: Path, name: str, n: int, draw: int) -> Drawn:
    rng = np.random.default_rng([SETS.index(name), n, draw])
    return Drawn(*FORMULAS[name](n, rng)) if name in FORMULAS else blown(*of_suite(suite, name), n, rng)


# -- the candidates ----------------------------------------------------------------------------------------------------


def distances(among: Points, X: Points, size: int) -> Points:
    """To the nearest ``size`` others; objects are among ``among``, at distance 0."""
    return np.asarray(NearestNeighbors(n_neighbors=size + 1).fit(among).kneighbors(X)[0][:, -1])


def kept(X: Points, m: int, how: str, seed: int) -> NDArray[np.intp]:
    """The objects that the default clusters."""
    random = np.random.RandomState(seed)
    order = random.permutation(len(X))
    rows = np.sort(order[:m])
    if how == "sample":
        return rows
    among = X[order[:20_000]] if how == "trim among 20,000" else X
    far = distances(among, X[rows], NTH)
    if how == "local":
        near = NearestNeighbors(n_neighbors=NTH).fit(X[rows]).kneighbors(return_distance=False)
        far = far / np.median(far[near], axis=1)
    cells = KMeans(N_CELLS, n_init=1, random_state=seed).fit_predict(X[rows])
    stays = np.zeros(len(rows), dtype=bool)
    ordered = np.argsort(far, kind="stable")
    stays[ordered[: int(SHARE * len(rows))]] = True
    for cell in range(N_CELLS):
        stays[ordered[cells[ordered] == cell][:LEAST_OF_CELL]] = True
    return np.asarray(rows[stays])


def reduced(X: Points, k: int, m: int, how: str, seed: int) -> NDArray[np.intp]:
    """Labels of all objects by those of the nearest kept ones."""
    X = Preprocessor().fit_transform(X)
    rows = kept(X, m, how, seed)
    labels = ConsensusClustering(k, standardize=False, random_state=seed, n_jobs=1).fit_predict(X[rows])
    nearest = NearestNeighbors(n_neighbors=1).fit(X[rows]).kneighbors(X, return_distance=False)[:, 0]
    return np.asarray(labels[nearest])


REDUCTIONS = {
    "sample 5,000": (5_000, "sample"),
    "trim 2,000": (2_000, "trim"),
    "trim 5,000": (5_000, "trim"),
    "trim 5,000 among 20,000": (5_000, "trim among 20,000"),
    "local 5,000": (5_000, "local"),
}


def answer(X: Points, k: int, way: str, seed: int) -> NDArray[Any]:
    if way in REDUCTIONS:
        return reduced(X, k, *REDUCTIONS[way], seed)
    quality = "fast" if way == "fast" else "default"
    return np.asarray(ConsensusClustering(k, quality=quality, random_state=seed, n_jobs=1).fit_predict(X))


# -- the run -----------------------------------------------------------------------------------------------------------


def cells_of_candidates() -> Iterator[tuple[str, int, int, str]]:
    """Set, size, draw and what is done, those first that decide."""
    for draw in range(2):
        for name in SETS:
            yield name, 3_000, draw, "all"
            for n, way in product((30_000, 100_000), REDUCTIONS):
                yield name, n, draw, way
        for name, n in product(SETS, (10_000, 20_000)):
            yield name, n, draw, "all"
            yield from ((name, n, draw, way) for way in ("trim 5,000", "local 5,000"))
        for name, n in product(SETS, (3_000, 10_000, 20_000, 30_000, 100_000)):
            yield name, n, draw, "fast"


def cells_of_built() -> Iterator[tuple[str, int, int, str]]:
    yield from ((name, n, 0, "built") for name, n in product(SETS, SIZES[:-2]))
    yield from ((name, n, 0, "built") for n, name in product(SIZES[-2:], MILLION))
    yield from ((name, n, 1, "built") for name, n in product(SETS, SIZES[:-2]))


def measure(suite: Path, cells: Iterator[tuple[str, int, int, str]], file: Path) -> None:
    """Append a line for each cell that the file has not."""
    file.parent.mkdir(exist_ok=True)
    done = {(r["set"], r["n"], r["draw"], r["way"]) for r in records(file)}
    for name, n, draw, way in cells:
        if (name, n, draw, way) in done:
            continue
        of = drawn(suite, name, n, draw)
        start = process_time()
        labels = answer(of.X, int(of.labels.max()) + 1, way, draw)
        seconds = process_time() - start
        record = {"set": name, "n": n, "draw": draw, "way": way}
        record |= {"ari": round(adjusted_rand_score(of.labels, labels), 4), "seconds": round(seconds, 2)}
        with file.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps(record) + "\n")


def measure_second(suite: Path, file: Path) -> None:
    """Append what the confidence of one sample and of two says of each set that the file has not."""
    done = {(r["set"], r["n"], r["draw"]) for r in records(file)}
    for name, n, draw in product(SETS, (30_000, 100_000), range(2)):
        if (name, n, draw) in done:
            continue
        of = drawn(suite, name, n, draw)
        model = ConsensusClustering(int(of.labels.max()) + 1, random_state=draw, n_jobs=1).fit(of.X)
        one = metrics.confidence(model.ensemble_, model.labels_, weights=model.consensus_.weights).confidence
        table = contingency_matrix(of.labels, model.labels_)
        is_right = table.argmax(axis=0)[model.labels_] == of.labels  # in the class that is most of its cluster
        record: dict[str, Any] = {"set": name, "n": n, "draw": draw, "right": round(float(is_right.mean()), 4)}
        for key, confidence in (("one", one), ("two", model.confidence_)):
            auc = float("nan") if is_right.all() else float(roc_auc_score(is_right, confidence))
            brier = float(np.mean((confidence - is_right) ** 2))
            record[key] = {"auc": round(auc, 4), "brier": round(brier, 5)}
        with file.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps(record) + "\n")


def measure_begin(suite: Path, data: Sequence[Path], file: Path) -> None:
    """Append what all objects and drawn ones give, k given or not, of each set and size that the file has not."""
    done = {(r["set"], r["n"], r["k"], r["way"]) for r in records(file)}
    for n, name in product((20_000, 12_000), (*SETS, *TABLES)):
        if name in TABLES:
            of = blown(*of_tables(data, name), n, np.random.default_rng([TABLES.index(name), n]))
        else:
            of = drawn(suite, name, n, 0)
        for k, way in product(("given", "unknown"), ("all", "drawn")):
            if (name, n, k, way) in done:
                continue
            _dense_rows.MOST_WHOLE = n if way == "all" else 10_000
            n_clusters = int(of.labels.max()) + 1 if k == "given" else None
            start = process_time()
            labels = ConsensusClustering(n_clusters, random_state=0, n_jobs=1).fit_predict(of.X)
            seconds = process_time() - start
            record = {"set": name, "n": n, "k": k, "way": way}
            record |= {"ari": round(adjusted_rand_score(of.labels, labels), 4), "seconds": round(seconds, 2)}
            with file.open("a", encoding="utf-8") as lines:
                lines.write(json.dumps(record) + "\n")


# -- the page ----------------------------------------------------------------------------------------------------------

Means = dict[tuple[str, int, str], tuple[float, float]]


def means(file: Path) -> Means:
    """ARI and seconds by set, size and way, over draws."""
    found: dict[tuple[str, int, str], list[tuple[float, float]]] = {}
    for r in records(file):
        found.setdefault((r["set"], r["n"], r["way"]), []).append((r["ari"], r["seconds"]))
    return {
        key: (float(np.mean([a for a, _ in of])), float(np.median([s for _, s in of]))) for key, of in found.items()
    }


def table(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def index(value: float) -> str:
    if np.isnan(value):
        return "–"
    return f"{value:.3f}".replace("0.", ".", 1) if value < 1 else "1.000"


def candidates_table(of: Means) -> str:
    """ARI at 30,000 and 100,000 by set, and what the rule asks of the ways."""
    ways = [*REDUCTIONS, "fast"]
    rows, beyond = [], dict.fromkeys(ways, 0.0)
    for name in SETS:
        least = of[name, 3_000, "all"][0] - 0.05
        cells = []
        for way in ways:
            both = [of[name, n, way][0] for n in (30_000, 100_000)]
            beyond[way] += sum(max(least - value, 0) for value in both)
            cells.append(", ".join(f"**{index(v)}**" if v < least else index(v) for v in both))
        rows.append([name, index(least + 0.05), *cells])
    keys = [(name, n) for name in SETS for n in (30_000, 100_000)]
    rows.append(["mean", "", *(index(float(np.mean([of[*key, way][0] for key in keys]))) for way in ways)])
    rows.append(["beyond the bound", "", *(f"{beyond[way]:.3f}" for way in ways)])
    rows.append(["seconds", "", *(f"{np.mean([of[*key, way][1] for key in keys]):.1f}" for way in ways)])
    return table(["set", "*all*, 3,000", *(f"*{way}*" for way in ways)], rows)


def begin_table(of: Means) -> str:
    """The winner and all objects where both can be done."""
    rows = []
    for n, way in product((10_000, 20_000), ("all", "trim 5,000", "local 5,000")):
        values = [of[name, n, way] for name in SETS]
        mean, seconds = (float(np.mean([v[i] for v in values])) for i in (0, 1))
        rows.append([f"{n:,}", f"*{way}*", index(mean), f"{seconds:.1f}"])
    return table(["n", "", "mean ARI", "mean seconds"], rows)


def drawn_table() -> str:
    """ARI by set and size, k given or not, of all objects and of drawn ones; means, and medians of seconds."""
    of = {(r["set"], r["n"], r["k"], r["way"]): (r["ari"], r["seconds"]) for r in records(BEGIN)}
    columns, ways = list(product((12_000, 20_000), ("given", "unknown"))), ("all", "drawn")
    names = (*SETS, *TABLES)

    def row(title: str, text: Callable[..., str]) -> list[str]:
        return [title, *(" → ".join(text(*column, way) for way in ways) for column in columns)]

    rows = [row(name, lambda n, k, way, name=name: index(of[name, n, k, way][0])) for name in names]
    mean = row("mean", lambda *key: index(float(np.mean([of[name, *key][0] for name in names]))))
    seconds = row("median seconds", lambda *key: f"{np.median([of[name, *key][1] for name in names]):.1f}")
    return table(["set", *(f"{n:,}, k {k}" for n, k in columns)], [*rows, mean, seconds])


def built_table(of: Means, before: Means) -> str:
    """ARI and seconds of what the library does, and the ARI of what it did."""
    rows = []
    for name in SETS:
        found = [of.get((name, n, "built")) for n in SIZES]
        fast = [before.get((name, n, "fast")) for n in (30_000, 100_000)]
        was = ", ".join("" if one is None else index(one[0]) for one in fast)
        rows.append([name, *("" if one is None else f"{index(one[0])} ({one[1]:.1f} s)" for one in found), was])
    common = [np.mean([of[name, n, "built"] for name in SETS], axis=0) for n in SIZES[:-2]]
    was = ", ".join(index(float(np.mean([before[name, n, "fast"][0] for name in SETS]))) for n in (30_000, 100_000))
    rows.append(["mean", *(f"{index(float(a))} ({s:.1f} s)" for a, s in common), "", "", was])
    return table(["set", *(f"{n:,}" for n in SIZES), "*fast*, 30,000 and 100,000"], rows)


def second_table() -> str:
    """Area under the curve and Brier score of the confidence by set and size, mean of draws."""
    rows, columns = [], []
    for name in SETS:
        cells = []
        for n in (30_000, 100_000):
            of = [r for r in records(SECOND) if (r["set"], r["n"]) == (name, n)]
            pairs = [[np.mean([r[key][score] for r in of]) for key in ("one", "two")] for score in ("auc", "brier")]
            cells += pairs
        columns.append(cells)
        rows.append([name, *(" → ".join(map(index, pair)) for pair in cells)])
    means = np.nanmean(np.array(columns), axis=0)
    rows.append(["mean", *(" → ".join(map(index, pair)) for pair in means)])
    header = [f"{score}, {n}" for n in ("30,000", "100,000") for score in ("AUC", "Brier")]
    return table(["set", *header], rows)


def draw(of: Means, before: Means) -> None:
    """docs/sizes.png: ARI and seconds by n, a line for each set, and today's fast in grey."""
    figure = Figure(figsize=(11, 4), layout="constrained")
    for ax, i, title in zip(
        figure.subplots(1, 2), (0, 1), ("adjusted Rand index", "seconds of one thread"), strict=True
    ):
        for name in SETS:
            ns = [n for n in SIZES if (name, n, "built") in of]
            ax.plot(ns, [of[name, n, "built"][i] for n in ns], ".-", label=name)
        ns = [n for n in SIZES if (SETS[0], n, "fast") in before]
        fast = [np.mean([before[name, n, "fast"][i] for name in SETS]) for n in ns]
        ax.plot(ns, fast, "--", color=".4", label="fast, mean")
        ax.axvline(_dense_rows.MOST_WHOLE, color=".8", zorder=0)
        ax.set(xscale="log", xlabel="objects", title=title, ylim=(0, None))
    figure.axes[1].set(yscale="log", ylim=(0.5, 500))
    figure.legend(*figure.axes[1].get_legend_handles_labels(), loc="outside right center", fontsize=8)
    figure.savefig(DOCS / "sizes.png", dpi=90, metadata={"Software": None})


def with_tables(text: str) -> str:
    """The page with its tables between their marks."""
    of_candidates, of_built = means(CANDIDATES), means(BUILT)
    made = {
        "candidates": candidates_table(of_candidates),
        "begin": begin_table(of_candidates),
        "built": built_table(of_built, of_candidates),
        "second": second_table(),
        "drawn": drawn_table(),
    }
    for name, of in made.items():
        begin, end = f"<!-- sizes: {name} -->", f"<!-- end of {name} -->"
        head, rest = text.split(begin)
        text = f"{head}{begin}\n{of}\n{end}{rest.split(end)[1]}"
    return text


def records(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] if file.exists() else []


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--suite", type=Path)
    parser.add_argument("--built", action="store_true")
    parser.add_argument("--second", action="store_true")
    parser.add_argument("--data", type=Path, action="append", default=[])
    parser.add_argument("--begin", action="store_true")
    given = parser.parse_args()
    cells, file = (cells_of_built(), BUILT) if given.built else (cells_of_candidates(), CANDIDATES)
    if given.suite is not None and given.second:
        measure_second(given.suite, SECOND)
    elif given.suite is not None and given.begin:
        measure_begin(given.suite, given.data, BEGIN)
    elif given.suite is not None:
        _diverse.MOST_DIVERSE = _diverse.MOST_DIVERSE if given.built else 20_000
        measure(given.suite, cells, file)
    else:
        PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
        draw(means(BUILT), means(CANDIDATES))


if __name__ == "__main__":
    main()
