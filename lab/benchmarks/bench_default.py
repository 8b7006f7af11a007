"""What the default is worth: `ConsensusClustering` beside plain clusterers, told the number of classes and not told it.

    python lab/benchmarks/bench_default.py product --suite DIR --data DIR
    python lab/benchmarks/bench_default.py search --suite DIR --data DIR --most 1500
    python lab/benchmarks/bench_default.py number --suite DIR --data DIR --most 8200
    python lab/benchmarks/bench_default.py words --suite DIR --most 1500

In lab/records/default "product" appends one line per data set to product.jsonl (--again NAME measures one of its
answers anew), "search" the candidates of docs/DEFAULT.md on sets of up to so many objects to search.jsonl, "number" the
rules for the number of clusters to number.jsonl, "words" how often core, border and undecided objects are right; all go
on where they were stopped. `python lab/scripts/make_default.py` makes the tables. A data set is clustered by one
thread.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from bench_confidence import measured
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score, silhouette_score
from sklearn.mixture import GaussianMixture
from threadpoolctl import threadpool_limits

from ensemblage import ConsensusClustering, Ensemble, choose_k, make_consensus
from ensemblage.choices._choose_k import EVERY, best_of, numbers_around, numbers_up_to_root
from ensemblage.generation import DiversePartitions, Genie
from ensemblage.preprocessing import Preprocessor
from ensemblage.ranking import DISCOTEC
from ensemblage_lab.benchmark._entries import BASELINES, RULES
from ensemblage_lab.benchmark._scores import score
from ensemblage_lab.benchmark._sets import BenchmarkSet, copies, find_sets

FOLDER = Path(__file__).parents[1] / "records" / "default"
MOST_TREES = 10_000
"""Objects up to which Ward's and average linkage are run."""
MOST_FOUND = 8_200
"""Objects up to which numbers of clusters are looked for by mixtures, too."""
KNOWN = ("k-means", "mixture", "ward", "spectral")
FOUND = ("mixture by BIC", "k-means by silhouette", "hdbscan")
FIRST: Any = "consensus"
"""The selection that is measured."""
SCALINGS = {"given": False, "deviation 1": True}


def features(one: BenchmarkSet, standardize: bool | str) -> NDArray[np.float64]:
    """The features as they are clustered; one number divides those that keep their scales."""
    X = Preprocessor(standardize=standardize).fit_transform(one.X)
    return np.asarray(X if standardize else (X - X.mean(axis=0)) / X.std())


def timed(cluster: Callable[[], Any]) -> tuple[NDArray[np.int64] | None, float]:
    """Labels, None where it failed, and the seconds of the processor."""
    start = time.process_time()
    try:
        labels = np.asarray(cluster(), dtype=np.int64)
    except Exception as error:
        print("failed:", repr(error)[:200])
        return None, time.process_time() - start
    return labels, time.process_time() - start


def measure_into(row: dict[str, Any], name: str, one: BenchmarkSet, cluster: Callable[[], Any]) -> Any:
    """Add an answer's ARI, seconds and number of clusters to a record; its labels, None where it failed."""
    labels, seconds = timed(cluster)
    row["ari"][name] = 0.0 if labels is None else score(one.references, labels)["ari"]
    row["seconds"][name] = round(seconds, 2)
    row["k"][name] = 0 if labels is None else len(np.unique(labels[labels >= 0]))
    return labels


def renewed(one: BenchmarkSet, row: dict[str, Any], name: str) -> dict[str, Any]:
    """A record with one answer measured anew: "default", "fast", "best" or "default, k found"."""
    quality, _, told = name.partition(", ")
    model = ConsensusClustering(None if told else one.k, quality=quality, selection=FIRST, n_jobs=1, random_state=0)
    measure_into(row, name, one, lambda: model.fit_predict(one.X))
    return row


def of_product(one: BenchmarkSet) -> dict[str, Any]:
    """Every answer with its ARI and seconds, and how much the default differs by seed and objects."""
    found: dict[str, Any] = {"ari": {}, "seconds": {}, "k": {}}
    n, k = len(one.X), one.k

    def put(name: str, cluster: Callable[[], Any]) -> NDArray[np.int64] | None:
        return measure_into(found, name, one, cluster)

    def model(n_clusters: int | None, seed: int = 0, quality: Any = "default") -> ConsensusClustering:
        return ConsensusClustering(n_clusters, quality=quality, selection=FIRST, n_jobs=1, random_state=seed)

    first = put("default", lambda: model(k).fit_predict(one.X))
    for quality in ("fast", "best"):
        put(f"{quality}", lambda quality=quality: model(k, quality=quality).fit_predict(one.X))
    put("default, k found", lambda: model(None).fit_predict(one.X))
    rows = np.sort(np.random.default_rng(0).permutation(n)[: n - n // 10])
    other, part = timed(lambda: model(k, 1).fit_predict(one.X))[0], timed(lambda: model(k).fit_predict(one.X[rows]))[0]
    if first is not None:
        found["again"] = 0.0 if other is None else adjusted_rand_score(first, other)
        found["left out"] = 0.0 if part is None else adjusted_rand_score(first[rows], part)
    for scaling, standardize in SCALINGS.items():
        X = features(one, standardize)
        for name in KNOWN:
            if name != "ward" or n <= MOST_TREES:
                put(f"{name}, {scaling}", lambda name=name, X=X: BASELINES[name](X, k, 0))
        put(f"genie, {scaling}", lambda X=X: Genie(k).fit_predict(X))
        for name in FOUND:
            if n <= MOST_FOUND or name == "hdbscan":
                put(f"{name}, {scaling}", lambda name=name, X=X: RULES[name](X, k, 0))
    return found


FAMILIES = ("k-means", "mixture", "diagonal mixture", "ward", "average", "spectral 10", "spectral 5", "genie .3")
SETS_OF_FAMILIES = (
    *((family,) for family in FAMILIES),
    ("mixture", "spectral 10", "genie .3"),
    ("mixture", "spectral 5", "genie .3"),
    ("mixture", "spectral 10", "spectral 5", "genie .3"),
    ("k-means", "mixture", "spectral 10", "genie .3"),
    ("k-means", "mixture", "spectral 10", "spectral 5", "genie .3"),
    ("mixture", "ward", "spectral 5", "genie .3"),
    ("mixture", "average", "spectral 10", "genie .3"),
    ("k-means", "mixture", "ward", "average", "spectral 10"),
    FAMILIES,
)
COMBINERS = ("km", "eac-average", "negmm-wat-kmeans", "hbgf", "mcla", "ecc", "eac-single")


def partition(family: str, X: NDArray[np.float64], k: int) -> NDArray[np.int64]:
    """(n,) labels of one family."""
    if family == "k-means":
        return np.asarray(KMeans(k, n_init=10, random_state=0).fit_predict(X))
    if family.endswith("mixture"):
        kind = "full" if family == "mixture" and X.shape[1] <= 50 else "diag"
        return np.asarray(GaussianMixture(k, covariance_type=kind, reg_covar=1e-4, random_state=0).fit_predict(X))
    if family in ("ward", "average"):
        return np.asarray(BASELINES[family](X, k, 0))
    made = DiversePartitions([k], families=[family.split()[0]], random_state=0).fit_transform(X)
    return np.asarray(made[:, int(family == "spectral 5")], dtype=np.int64)


def numbers_near(k: int) -> dict[str, list[int]]:
    """Numbers of clusters of the members, by the name of the grid."""
    around = sorted({max(k - 1, 2), k, k + 1})
    return {"k": [k], "k ± 1": around, "k to 2k": sorted({k, -(-5 * k // 4), -(-3 * k // 2), 2 * k})}


def of_search(one: BenchmarkSet) -> dict[str, Any]:
    """ARI of every scaling, set of families, grid and combiner, told the number of classes."""
    found: dict[str, float] = {}
    grids = numbers_near(one.k)
    members: dict[tuple[str, str, int], NDArray[np.int64]] = {}
    for scaling, standardize in SCALINGS.items():
        X = features(one, standardize)
        for family, k in product(FAMILIES, sorted({k for grid in grids.values() for k in grid})):
            labels, _ = timed(lambda family=family, X=X, k=k: partition(family, X, k))
            if labels is not None:
                members[scaling, family, k] = labels
    for scaling, families, (grid, ks) in product((*SCALINGS, "both"), SETS_OF_FAMILIES, grids.items()):
        used = [name for name in SCALINGS if scaling in (name, "both")]
        chosen = [members[key] for key in product(used, families, ks) if key in members]
        for combiner in COMBINERS if chosen else ():
            labels, _ = timed(lambda combiner=combiner, chosen=chosen: combined(combiner, chosen, one.k))
            name = "; ".join([scaling, " + ".join(families), grid, combiner])
            found[name] = 0.0 if labels is None else round(score(one.references, labels)["ari"], 4)
    return {"ari": found}


def combined(combiner: str, members: list[NDArray[np.int64]], k: int) -> Any:
    """(n,) labels of the consensus."""
    estimator = make_consensus(combiner, k)
    known = estimator.get_params()
    settings = {name: value for name, value in (("random_state", 0), ("n_jobs", 1)) if name in known}
    return estimator.set_params(**settings).fit(Ensemble(np.column_stack(members))).labels_


SAMPLE = 2_000


class AtNumber(NamedTuple):
    """What a number of clusters is worth."""

    own: float
    """Mean ARI of the consensus with the members that have this number."""
    discotec: float
    """Of the consensus, over all members; large is good."""
    agreement: float
    """Mean ARI over all members."""
    silhouette: float


def by_number(X: NDArray[np.float64], ks: Sequence[int]) -> tuple[dict[int, AtNumber], int]:
    """The consensus of each number of clusters, scored; and the longest lifetime of all members."""
    generator = DiversePartitions(ks, random_state=0, n_jobs=1)
    members = np.asarray(generator.fit_transform(X), dtype=np.int64)
    of = generator.n_clusters_
    found: dict[int, NDArray[np.int64]] = {}
    for i, k in enumerate(ks):
        near = np.isin(of, ks[max(i - 1, 0) : i + 2])
        found[k] = combined("eac-average", list(members[:, near].T), k)
    ranker = DISCOTEC(n_jobs=1).fit(members)

    def worth(k: int) -> AtNumber:
        labels = found[k]
        all_ari = np.array([adjusted_rand_score(labels, member) for member in members.T])
        n_found = len(np.unique(labels))
        apart = silhouette_score(X, labels) if 1 < n_found < len(X) else -1.0
        return AtNumber(
            float(all_ari[of == k].mean()), -ranker.score_labels(labels), float(all_ari.mean()), float(apart)
        )

    longest = make_consensus("eac-average").fit(Ensemble(members)).n_clusters_
    return {k: worth(k) for k in ks}, longest


def ranks(values: Iterable[float]) -> NDArray[np.float64]:
    return np.asarray(rankdata(list(values)))


def numbers_named(X: NDArray[np.float64]) -> dict[str, Any]:
    """The number of clusters that each rule finds, and the worth of all."""
    rows = np.arange(len(X)) if len(X) <= SAMPLE else np.sort(np.random.default_rng(0).permutation(len(X))[:SAMPLE])
    sample = X[rows]
    ks = numbers_up_to_root(len(X))
    table, lifetime = by_number(sample, ks)
    chosen: dict[str, Callable[[dict[int, AtNumber]], list[Any]]] = {
        "own": lambda t: [row.own for row in t.values()],
        "discotec": lambda t: [row.discotec for row in t.values()],
        "agreement": lambda t: [row.agreement for row in t.values()],
        "silhouette": lambda t: [row.silhouette for row in t.values()],
    }
    for names in (("own", "discotec"), ("own", "silhouette"), ("own", "discotec", "silhouette")):
        chosen[" + ".join(names)] = lambda t, names=names: list(sum(ranks(chosen[name](t)) for name in names))
    named: dict[str, Any] = {"lifetime": lifetime}
    tables = {tuple(ks): table}
    for rule, worth in chosen.items():
        # Of equal ones the one whose own agreement is largest.
        best = max(zip(worth(table), chosen["own"](table), ks, strict=True))[-1]
        if best > EVERY:
            finer = tuple(numbers_around(best, ks))
            if finer not in tables:
                tables[finer] = by_number(sample, finer)[0]
            t = tables[finer]
            best = max(zip(worth(t), chosen["own"](t), finer, strict=True))[-1]
        named[rule] = best
    for name, k_range in (("choose_k", None), ("choose_k to 30", range(2, max(2, min(math.isqrt(len(X)), 30)) + 1))):
        choice = choose_k(X, k_range, standardize=False, random_state=0, n_jobs=1)
        named[name] = best_of(choice.votes, [row.k for row in choice.table])  # of the votes alone
        n_votes = sum(k == named[name] for k in choice.votes.values())
        if k_range is None:
            named |= {"votes": n_votes}
            for votes in (4, 3):
                chosen = named[name] if n_votes >= votes else named["own + discotec"]
                named[f"{votes} votes, else own + discotec"] = chosen
    return named | {"worth": {k: [round(v, 4) for v in row] for t in tables.values() for k, row in t.items()}}


def of_number(one: BenchmarkSet) -> dict[str, Any]:
    """The ARI of the default, told the number of clusters that each rule finds."""
    X = np.asarray(Preprocessor(standardize="auto").fit_transform(one.X))
    start = time.process_time()
    named = numbers_named(X)
    seconds = round(time.process_time() - start, 1)
    worth, n_votes = named.pop("worth"), named.pop("votes")
    of: dict[int, float] = {}
    for k in {*named.values(), one.k}:
        labels, _ = timed(
            lambda k=k: ConsensusClustering(k, selection=FIRST, n_jobs=1, random_state=0).fit_predict(one.X)
        )
        of[k] = 0.0 if labels is None else round(score(one.references, labels)["ari"], 4)
    return {
        "k": named,
        "ari": {rule: of[k] for rule, k in named.items()} | {"told": of[one.k]},
        "votes": n_votes,
        "worth": worth,
        "seconds": seconds,
    }


def of_words(one: BenchmarkSet) -> dict[str, Any]:
    """Objects with each word and how many of them are right, told the number of classes; areas under the curve."""
    model = ConsensusClustering(one.k, selection=FIRST, n_jobs=1, random_state=0).fit(one.X)
    found = measured(model, one.references[0])
    return {name: found[name] for name in ("words", "auc") if name in found}


PARTS = {"product": of_product, "search": of_search, "number": of_number, "words": of_words}


def spread(one: BenchmarkSet) -> float:
    """The ratio of deviations by which "auto" decides."""
    deviations = one.X.std(axis=0)[np.ptp(one.X, axis=0) > 0]
    return float(deviations.max() / deviations.min())


def sets_of(suite: Path | None, data: Path | None, most: int) -> Iterator[BenchmarkSet]:
    """The smallest first; sets that stand twice once."""
    sets = find_sets(suite, data)
    twice = copies(sets)
    chosen = [one for one in sets if one.name not in twice and len(one.X) <= most]
    yield from sorted(chosen, key=lambda one: one.X.shape[0] * min(one.X.shape[1], 50))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--suite", type=Path)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--most", type=int, default=20_000)
    parser.add_argument("--again", metavar="NAME")
    given = parser.parse_args()
    record = FOLDER / f"{given.part}.jsonl"
    FOLDER.mkdir(exist_ok=True)
    lines = record.read_text(encoding="utf-8").splitlines() if record.exists() else []
    packed = record.with_suffix(".jsonl.gz")  # what is finished
    lines += gzip.decompress(packed.read_bytes()).decode().splitlines() if packed.exists() else []
    done = {json.loads(line)["set"]: json.loads(line) for line in lines}
    measure = PARTS[given.part]
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if given.again:
            for one in sets_of(given.suite, given.data, given.most):
                if one.name in done:
                    done[one.name] = renewed(one, done[one.name], given.again)
                    print(one.name, done[one.name]["ari"][given.again], flush=True)
            record.write_text("".join(json.dumps(row) + "\n" for row in done.values()), encoding="utf-8")
            return
        for one in sets_of(given.suite, given.data, given.most):
            if one.name in done:
                continue
            n, d = one.X.shape
            about = {"set": one.name, "n": n, "d": d, "K": one.k, "spread": round(spread(one), 2)}
            with open(record, "a", encoding="utf-8") as file:
                file.write(json.dumps(about | measure(one)) + "\n")
            print(one.name, flush=True)


if __name__ == "__main__":
    main()
