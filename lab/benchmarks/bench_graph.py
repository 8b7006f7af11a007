"""The graph family against dense matrices and METIS, as the Python ports of Strehl & Ghosh do it.

    python lab/benchmarks/bench_graph.py [--small]

Ratios are theirs / ours, both sides in turn in this process. Memory is what a fit takes above the ensemble, in a
process of its own. "Figure" is what was measured for ClusterEnsembles (its crashes fixed) at this size: it does not
install everywhere, so the dense code here does what it does.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
import pymetis
from common import distinct_share, extra_mb, in_fresh_process, paired, planted, seconds, table
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score, pairwise_distances

from ensemblage import Ensemble
from ensemblage.consensus import CSPA, HBGF, HGPA, MCLA, NegMM
from ensemblage.generation import RandomKPartitions

K, P = 10, 20
FIGURES = {"MCLA": 53.0, "HBGF": 6.1, "CSPA": 90.0}


def labels_of(n, seed=0):
    """Every partition has 10 to 30 clusters, 30 % of its labels are random."""
    return planted(n, P, K, K, 30, 0.3, seed=seed)


# ---- dense code ----


def binary(labels):
    return np.hstack([labels[:, [j]] == np.unique(labels[:, j]) for j in range(labels.shape[1])])


def cut(matrix, n_parts, weighted=True):
    """METIS on all entries of a dense matrix that are not 0."""
    starts, columns, weights = [0], [], []
    for row in matrix:
        index = np.nonzero(row)[0]
        columns += list(index)
        weights += list(row[index])
        starts.append(len(columns))
    graph = pymetis.CSRAdjacency(starts, columns)
    return np.array(pymetis.part_graph(n_parts, adjacency=graph, eweights=weights if weighted else None)[1])


def dense_cspa(labels, n_clusters):
    H = binary(labels).astype(float)
    return cut((H @ H.T).astype(int), n_clusters)


def dense_mcla(labels, n_clusters):
    H = binary(labels)
    similarity = 1 - pairwise_distances(H.T, metric="jaccard")
    parts = cut((1e3 * similarity).astype(int), n_clusters)
    votes = np.zeros((len(labels), n_clusters))
    for f, part in enumerate(parts):
        votes[:, part] += H[:, f]
    rng = np.random.default_rng(0)
    return np.array([rng.choice(np.flatnonzero(row == row.max())) for row in votes])


def dense_hbgf(labels, n_clusters):
    H = binary(labels).astype(float)
    n, d = H.shape
    W = np.block([[np.zeros((d, d)), H.T], [H, np.zeros((n, n))]])
    return cut(W, n_clusters, weighted=False)[d:]


PAIRS = {
    "MCLA": (MCLA(K, random_state=0), dense_mcla),
    "HBGF": (HBGF(K, random_state=0), dense_hbgf),
    "CSPA": (CSPA(K, random_state=0), dense_cspa),
    "CSPA, all pairs": (CSPA(K, n_neighbors=None, random_state=0), dense_cspa),
}


def against_dense(n):
    labels, truth = labels_of(n)
    rows = []
    for name, (ours, theirs) in PAIRS.items():
        Ours = Ensemble(labels)
        ours.fit(Ours)
        found = []
        a, b, ratio = paired(
            lambda ours=ours: ours.fit(Ensemble(labels)),
            lambda theirs=theirs, found=found: found.append(theirs(labels, K)),
            rounds=1,
        )
        figure = FIGURES[name.split(",")[0]]
        rows.append(
            {
                "method": name,
                "n": f"{n:,}",
                "p": P,
                "distinct": f"{distinct_share(Ours):.1%}",
                "ours, s": f"{a:.3f}",
                "dense, s": f"{b:.1f}",
                "ratio": f"{ratio:.0f}",
                "figure / ours": f"{figure / a:.0f}" if n == 5_000 else "–",
                "ARI ours": f"{adjusted_rand_score(truth, ours.labels_):.3f}",
                "ARI dense": f"{adjusted_rand_score(truth, found[-1]):.3f}",
            }
        )
    return rows


def ari_over_seeds(n, n_seeds):
    """Mean ARI with the planted clusters."""
    scores = {name: ([], []) for name in PAIRS}
    for seed in range(n_seeds):
        labels, truth = labels_of(n, seed)
        for name, (ours, theirs) in PAIRS.items():
            scores[name][0].append(adjusted_rand_score(truth, ours.set_params(random_state=seed).fit(labels).labels_))
            scores[name][1].append(adjusted_rand_score(truth, theirs(labels, K)))
    return [
        {
            "method": name,
            "n": f"{n:,}",
            "seeds": n_seeds,
            "ARI ours": f"{np.mean(a):.3f}",
            "ARI dense": f"{np.mean(b):.3f}",
        }
        for name, (a, b) in scores.items()
    ]


# ---- large ----

LARGE = {
    "MCLA": MCLA(K, random_state=0),
    "HBGF": HBGF(K, random_state=0),
    "HBGF, METIS": HBGF(K, partitioner="metis", random_state=0),
    "CSPA": CSPA(K, random_state=0),
    "HGPA": HGPA(K, random_state=0),
    "HGPA, spectral": HGPA(K, partitioner="spectral", random_state=0),
}


def large_row(name, n):
    time, memory, ari, share = in_fresh_process(__file__, "--large", name, str(n)).split()
    return {"method": name, "n": f"{n:,}", "distinct": share, "seconds": time, "extra MB": memory, "ARI": ari}


def large(name, n):
    """Print seconds and extra memory of one fit, the distinct rows included."""
    labels, truth = labels_of(n)
    model = LARGE[name]
    model.fit(labels[:3_000])
    ensemble, times = Ensemble(labels), []
    extra = extra_mb(lambda: times.append(seconds(lambda: model.fit(ensemble))))
    print(f"{times[0]:.1f} {extra:.0f} {adjusted_rand_score(truth, model.labels_):.3f} {distinct_share(ensemble):.1%}")


# ---- NegMM ----


def negmm_rows(n):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(10, 8))[rng.integers(10, size=n)] + 0.7 * rng.normal(size=(n, 8))
    rows = []
    for p in (10, 100):
        generator = RandomKPartitions(p, estimator=KMeans(n_init=1, max_iter=4), random_state=0, n_jobs=-1)
        ensemble = Ensemble(generator.fit_transform(X))
        search, wat = NegMM(K, random_state=0), NegMM(K, association_threshold="kmeans", random_state=0)
        wat.fit(ensemble)
        every = NegMM(K, distinct=False, random_state=0)
        once, always, ratio = paired(lambda s=search, e=ensemble: s.fit(e), lambda s=every, e=ensemble: s.fit(e))
        quick, _, wat_ratio = paired(lambda s=wat, e=ensemble: s.fit(e), lambda s=search, e=ensemble: s.fit(e))
        rows.append(
            {
                "n": f"{n:,}",
                "p": p,
                "distinct": f"{distinct_share(ensemble):.1%}",
                "different graphs": len(search.candidates_),
                "search, s": f"{once:.2f}",
                "search, every cut, s": f"{always:.2f}",
                "every / once": f"{ratio:.1f}",
                "WAT(K), s": f"{quick:.3f}",
                "search / WAT": f"{wat_ratio:.0f}",
            }
        )
    return rows


def main(small):
    warnings.simplefilter("ignore")
    table("MCLA, HBGF, CSPA against dense matrices and METIS", against_dense(1_000 if small else 5_000))
    table("Planted clusters found", ari_over_seeds(1_000, 2 if small else 5))
    sizes = [(name, n) for name in LARGE for n in ((10_000,) if small else SIZES[name])]
    table("Large ensembles", [large_row(name, n) for name, n in sizes])
    table("NegMM", negmm_rows(400 if small else 1_484))


SIZES = {
    "MCLA": (100_000, 1_000_000),
    "HBGF": (100_000, 1_000_000),
    "HBGF, METIS": (100_000, 1_000_000),
    "CSPA": (20_000, 50_000),
    "HGPA": (20_000, 100_000),
    "HGPA, spectral": (1_000_000,),
}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--small", action="store_true", help="a fraction of the size")
    parser.add_argument("--large", nargs=2, metavar=("METHOD", "N"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.large:
        large(options.large[0], int(options.large[1]))
    else:
        main(options.small)
