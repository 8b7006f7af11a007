"""Planted ensembles and small tables on which the number of clusters of docs/default/combine.md was chosen.

python lab/scripts/make_combine.py ensembles OUT.jsonl [--check]  measures the rules for ensembles
python lab/scripts/make_combine.py tables OUT.jsonl [--check]     measures the rules for small tables
python lab/scripts/make_combine.py --table OUT.jsonl              prints a table of a file
"""

from __future__ import annotations

import argparse
import json
import math
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from ensemblage import ConsensusClustering, Ensemble, choose_k, make_consensus, report
from ensemblage.metrics import ensemble_ari, ensemble_nmi
from ensemblage.ranking import DISCOTEC
from ensemblage.report._decided import evidence_of

Labels = NDArray[np.int64]
Random = np.random.Generator
N_SEEDS = 10, 3
"""Of each kind of ensembles, and of each size and number of clusters of tables."""
CHECKING = 1_000
"""The first seed that checks."""


# -- planted ensembles -------------------------------------------------------------------------------------------------


class Planted(NamedTuple):
    labels: Labels
    """(n, p), -1 for missing."""
    truth: Labels


def sizes(random: Random, n: int, k: int, least: int = 5) -> Labels:
    alpha = random.choice([1.0, 5.0, np.inf])
    shares = np.full(k, 1 / k) if np.isinf(alpha) else random.dirichlet(np.full(k, alpha))
    found = least + np.floor(shares * (n - least * k)).astype(np.int64)
    found[np.argmax(found)] += n - found.sum()
    return found


def noisy(random: Random, labels: Labels, share: float) -> Labels:
    """A share of the labels becomes another one of the same partition."""
    k = int(labels.max()) + 1
    changed = random.random(len(labels)) < share
    other = (labels + random.integers(1, max(k, 2), len(labels))) % k
    return np.where(changed, other, labels)


def cut(random: Random, truth: Labels, k: int) -> Labels:
    """k parts of the true clusters, at random."""
    parts = np.ones(int(truth.max()) + 1, dtype=np.int64)
    while parts.sum() < k:
        parts[random.integers(len(parts))] += 1
    first = np.concatenate([[0], np.cumsum(parts)[:-1]])
    return np.unique(
        first[truth] + np.floor(random.random(len(truth)) * parts[truth]).astype(np.int64), return_inverse=True
    )[1]


def union(random: Random, truth: Labels, k: int) -> Labels:
    """k unions of the true clusters, at random."""
    n_true = int(truth.max()) + 1
    to = np.concatenate([np.arange(k), random.integers(k, size=n_true - k)])
    return random.permutation(to)[truth]


def of_size(random: Random, truth: Labels, k: int) -> Labels:
    return union(random, truth, k) if k <= truth.max() + 1 else cut(random, truth, k)


def clouds(random: Random, truth: Labels, apart: float, m: int) -> NDArray[np.float64]:
    """(n, m) Gaussian clusters of deviation 1, the nearest two centres ``apart``."""
    k = int(truth.max()) + 1
    centres = random.normal(size=(k, m)) if m > 1 else random.permutation(k)[:, None] + random.uniform(0, 0.3, (k, 1))
    gaps = np.linalg.norm(centres[:, None] - centres[None], axis=2)[~np.eye(k, dtype=bool)]
    return (centres * apart / gaps.min())[truth] + random.normal(size=(len(truth), m))


def planted(kind: str, seed: int) -> Planted:
    random = np.random.default_rng([seed, sum(map(ord, kind))])
    n, p = int(random.integers(60, 601)), int(random.choice([3, 4, 5, 7, 10, 20, 50, 100]))
    k = int(random.integers(3 if kind == "coarser" else 2, 13))
    truth = random.permutation(np.repeat(np.arange(k), sizes(random, max(n, 8 * k), k)))
    half, most = math.ceil(k / 2), 0.4 if kind in ("noise", "missing") else 0.2
    share = random.uniform(0, most)

    def member(j: int) -> Labels:
        if kind == "finer":
            return noisy(random, cut(random, truth, int(random.integers(k, 3 * k + 1))), share)
        if kind == "coarser":
            return noisy(random, union(random, truth, int(random.integers(max(2, half), k + 1))), share)
        if kind == "mixed":
            return noisy(random, of_size(random, truth, int(random.integers(max(2, half), 2 * k + 1))), share)
        if kind == "astray" and j % 3 == 2:
            return random.integers(int(random.integers(2, 2 * k + 1)), size=len(truth))
        return noisy(random, truth, share)

    if kind in ("random-k", "near-k"):
        X = clouds(random, truth, random.uniform(4, 10), int(random.integers(2, 6)))
        low, high = (2, math.isqrt(len(X))) if kind == "random-k" else (max(2, k - 1), k + 1)
        fits = [
            KMeans(int(random.integers(low, high + 1)), n_init=1, init="random", random_state=int(s))
            for s in random.integers(2**31, size=p)
        ]
        labels = np.column_stack([fit.fit_predict(X) for fit in fits]).astype(np.int64)
    else:
        labels = np.column_stack([member(j) for j in range(p)])
    if kind == "missing":
        labels[random.random(labels.shape) < random.uniform(0.1, 0.4)] = -1
        kept = (labels >= 0).any(axis=1)
        return Planted(labels[kept], truth[kept])
    return Planted(labels, truth)


LEFT_OUT, SEEDS_OF_SLOW = ("lca",), 3
"""Rules that took as long as all others together, and how many seeds they got."""
CHECKED = "acv", "eac-average", "majority", "salso-omari", "km", "km, ARI", "eac-average, ARI", "eac-average, NMI"
"""Rules that got the checking seeds; km is as it was built."""
KINDS = "noise", "finer", "coarser", "mixed", "random-k", "near-k", "missing", "astray"


# -- rules for ensembles -----------------------------------------------------------------------------------------------

Rule = Callable[[Ensemble], Labels]
OWN = (
    "km",
    "acv", "bv", "eac-average", "eac-complete", "lwea", "ecpcs-hc", "pta-average", "lca", "majority", "soft-euclidean",
    "salso-vi", "salso-binder", "salso-omari", "salso-nvi",
)  # fmt: skip
SCORES = {"ARI": ensemble_ari, "NMI": ensemble_nmi}


def fitted(name: str, k: int | None, ensemble: Ensemble, **more: Any) -> Labels:
    model = make_consensus(name, k, **more)
    known = model.get_params()
    model.set_params(**{key: value for key, value in {"random_state": 0, "n_jobs": 1}.items() if key in known})
    return model.fit(ensemble).labels_.astype(np.int64)


def cuts(name: str, ensemble: Ensemble) -> dict[int, Labels]:
    most = min(int(ensemble.n_clusters.max()), len(ensemble.distinct.codes))
    return {k: fitted(name, k, ensemble) for k in range(1, most + 1)}


def by_agreement(ensemble: Ensemble, found: dict[int, Labels], measure: str) -> Labels:
    scores = {k: SCORES[measure](ensemble, labels) for k, labels in found.items()}
    return found[max(scores, key=lambda k: (round(scores[k], 12), k))]


def by_discotec(ensemble: Ensemble, found: dict[int, Labels]) -> Labels:
    beside = Ensemble(np.column_stack([np.asarray(ensemble), *found.values()]))
    scores = DISCOTEC(random_state=0).fit(beside).scores_[-len(found) :]
    return list(found.values())[int(np.argmin(scores))]


def rules(ensemble: Ensemble) -> Iterator[tuple[str, Rule]]:
    for name in OWN:
        yield name, lambda E, name=name: fitted(name, None, E)
    yield "acv, singletons too", lambda E: fitted("acv", None, E, include_singletons=True)
    median = min(math.ceil(np.median(ensemble.n_clusters)), len(ensemble.distinct.codes))
    for name in ("eac-average", "km"):
        yield f"{name}, median", lambda E, name=name: fitted(name, median, E)
    for name in ("eac-average", "km", "acv"):
        kept: dict[int, Labels] = {}

        def all_cuts(E: Ensemble, name: str = name, kept: dict[int, Labels] = kept) -> dict[int, Labels]:
            if not kept:
                kept.update(cuts(name, E))
            return kept

        for measure in SCORES:
            yield f"{name}, {measure}", lambda E, c=all_cuts, m=measure: by_agreement(E, c(E), m)
        if name == "eac-average":
            yield "eac-average, DISCOTEC", lambda E, c=all_cuts: by_discotec(E, c(E))


def measure_ensembles(out: Path, first: int) -> None:
    known = (
        {tuple(json.loads(line)[key] for key in ("kind", "seed")) for line in out.open(encoding="utf-8")}
        if out.exists()
        else set()
    )
    with out.open("a", encoding="utf-8") as file:
        for seed in range(first, first + N_SEEDS[0]):
            for kind in KINDS:
                if (kind, seed) in known:
                    continue
                labels, truth = planted(kind, seed)
                ensemble = Ensemble(labels)
                for name, rule in rules(ensemble):
                    if (name in LEFT_OUT and seed - first >= SEEDS_OF_SLOW) or (first and name not in CHECKED):
                        continue
                    start = time.process_time()
                    try:
                        found = rule(ensemble)
                        ari, k = adjusted_rand_score(truth, found), len(np.unique(found[found >= 0]))
                    except ValueError as error:
                        ari, k = 0.0, 0
                        print(kind, seed, name, error)
                    row = {
                        "kind": kind,
                        "seed": seed,
                        "n": len(truth),
                        "p": labels.shape[1],
                        "true": int(truth.max()) + 1,
                    }
                    row |= {
                        "rule": name,
                        "k": k,
                        "ari": round(ari, 4),
                        "seconds": round(time.process_time() - start, 3),
                    }
                    file.write(json.dumps(row) + "\n")
                file.flush()


def same(k: int, seed: int, p: int = 5) -> Labels:
    """p identical members of k clusters of unequal sizes; of singletons with k = 0."""
    random = np.random.default_rng([seed, k])
    z = random.permutation(40) if k == 0 else random.permutation(np.repeat(np.arange(k), sizes(random, 20 * k, k)))
    return np.column_stack([random.permutation(z.max() + 1)[z] for _ in range(p)])


def measure_same() -> None:
    """Which rules give identical members back, and repeated objects their clusters."""
    failed: dict[str, list[str]] = {}
    for seed in range(3):
        for k in range(13):
            ensemble = Ensemble(same(k, seed))
            for name, rule in rules(ensemble):
                try:
                    good = adjusted_rand_score(np.asarray(ensemble)[:, 0], rule(ensemble)) == 1
                except ValueError:
                    good = False
                if not good:
                    failed.setdefault(name, []).append(f"same {k}")
        for kind in KINDS:
            labels = planted(kind, seed).labels
            ensemble, twice = Ensemble(labels), Ensemble(np.repeat(labels, 3, axis=0))
            for (name, rule), (_, again) in zip(rules(ensemble), rules(twice), strict=True):
                if name.startswith(("salso", "pta")):
                    continue
                if adjusted_rand_score(rule(ensemble), again(twice)[::3]) < 1:
                    failed.setdefault(name, []).append(f"thrice {kind}")
    for name, _ in rules(ensemble):
        print(f"{name:<24}", ", ".join(sorted(set(failed.get(name, ["-"])))))


# -- small tables ------------------------------------------------------------------------------------------------------


def small_table(n: int, k: int, seed: int) -> tuple[NDArray[np.float64], Labels, float]:
    random = np.random.default_rng([seed, n, k])
    truth = random.permutation(np.repeat(np.arange(k), sizes(random, n, k, 2)))
    apart = float(np.exp(random.uniform(np.log(3), np.log(40))))
    m = int(random.integers(1, 6))
    X = random.normal(size=(n, m)) if k == 1 else clouds(random, truth, apart, m)
    return X, truth, apart


LEVELS = "none", "ambiguous", "likely", "clear"


def of_choose_k(X: NDArray[np.float64], most: int) -> tuple[int, str]:
    found = choose_k(X, range(2, most + 1), random_state=0, n_jobs=1)
    return found.best, found.evidence


def of_learned(X: NDArray[np.float64]) -> tuple[int, str]:
    from ensemblage.pipeline import _decisions

    before, _decisions.LEAST_OBJECTS = _decisions.LEAST_OBJECTS, 4
    try:
        model = ConsensusClustering(n_jobs=1, random_state=0).fit(X)
    finally:
        _decisions.LEAST_OBJECTS = before
    rated = report.summarize(model.ensemble_, model.consensus_, chosen=model.chosen_)["chosen"]
    return model.n_clusters_, evidence_of(rated) if rated["is_clear"] else "none"


OF_TABLES: dict[str, Callable[[NDArray[np.float64]], tuple[int, str]]] = {
    "choose_k to √n": lambda X: of_choose_k(X, math.isqrt(len(X))),
    "choose_k to n/2": lambda X: of_choose_k(X, min(10, len(X) // 2)),
    "learned": of_learned,
}
"""What is measured of small tables: the number, and how clear it is."""


def measure_tables(out: Path, first: int) -> None:
    with out.open("a", encoding="utf-8") as file:
        for seed in range(first, first + N_SEEDS[1]):
            for n in (6, 9, 12, 15, 18):
                for k in [k for k in range(1, 6) if n >= 3 * k]:
                    X, _, apart = small_table(n, k, seed)
                    for name, rule in OF_TABLES.items():
                        try:
                            found, clear = rule(X)
                        except Exception as error:
                            print(name, n, k, seed, repr(error)[:200])
                            found, clear = 0, "none"
                        row = {
                            "n": n,
                            "true": k,
                            "seed": seed,
                            "apart": round(apart, 1),
                            "rule": name,
                            "k": found,
                            "clear": clear,
                        }
                        file.write(json.dumps(row) + "\n")
                    file.flush()


# -- tables ------------------------------------------------------------------------------------------------------------


def show(out: Path) -> None:
    rows = pd.read_json(out, lines=True)
    rows["right"] = rows.k == rows.true
    if "kind" in rows:
        table = rows.pivot_table(index="rule", columns="kind", values="ari")[list(KINDS)]
        table.insert(0, "all", table.mean(axis=1))
        right = rows.pivot_table(index="rule", columns="kind", values="right").mean(axis=1)
        table["k right"], table["s"] = right, rows.groupby("rule").seconds.mean()
        print(table.sort_values("all", ascending=False).round(3).to_string())
        return
    rows["level"] = [LEVELS.index(word) for word in rows.clear]
    for rule, of_rule in rows.groupby("rule"):
        for least in (1, 2, 3):
            some, taken = of_rule[of_rule.true > 1], of_rule.level >= least
            far = some[some.apart >= 8]
            shares = {
                "far taken": taken[far.index].mean(),
                "far right": far.right[taken[far.index]].mean(),
                "all right": some.right[taken[some.index]].mean(),
                "clouds taken": taken[of_rule.true == 1].mean(),
            }
            print(rule, LEVELS[least], {name: round(float(share), 3) for name, share in shares.items()})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["ensembles", "tables", "same", "table"])
    parser.add_argument("out", type=Path, nargs="?")
    parser.add_argument("--check", action="store_true")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    first = CHECKING if asked.check else 0
    {"ensembles": lambda: measure_ensembles(asked.out, first), "tables": lambda: measure_tables(asked.out, first),
     "same": measure_same, "table": lambda: show(asked.out)}[asked.what]()  # fmt: skip


if __name__ == "__main__":
    main()
