"""Communities of graphs: how near to the planted ones the consensus comes beside single runs, and what it costs.

python lab/benchmarks/bench_communities.py [--graphs 10] [--nodes 1000] [--partitions 50] [--algorithm louvain]
python lab/benchmarks/bench_communities.py --edges 15000000 [--partitions 50]

The graphs are networkx's LFR benchmark. Its edges cross communities more often than it is asked for: the share of those
that do is what the table goes by.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator

import networkx as nx
import numpy as np
from common import extra_mb, table
from scipy.sparse import csr_array
from sklearn.metrics import adjusted_mutual_info_score, normalized_mutual_info_score

from ensemblage import Ensemble
from ensemblage.consensus import CommunityConsensus
from ensemblage.generation import LeidenPartitions
from ensemblage.generation._communities import quality

ASKED = (0.1, 0.2, 0.3, 0.35, 0.4, 0.45, 0.5)
"""Mixing parameters."""
OF_CONSENSUS = {"ECG": "ecg", "FastEnsemble": "fast-ensemble", "LF": "lf"}


def lfr(n: int, mixing: float, seed: int) -> tuple[csr_array, np.ndarray]:
    """A graph and the planted community of each node; another seed where networkx gives up."""
    sizes = {"average_degree": 15, "max_degree": 50, "min_community": 20, "max_community": 100}
    for attempt in range(seed, seed + 100_000, 1000):
        try:
            graph = nx.LFR_benchmark_graph(n, 2.5, 1.5, mixing, seed=attempt, max_iters=1000, **sizes)
        except nx.ExceededMaxIterations:
            continue
        graph.remove_edges_from(nx.selfloop_edges(graph))
        planted = {frozenset(members) for _, members in graph.nodes(data="community")}
        truth = np.empty(n, dtype=int)
        for number, members in enumerate(planted):
            truth[list(members)] = number
        return csr_array(nx.to_scipy_sparse_array(graph, weight=None, dtype=float)), truth
    raise RuntimeError("no graph")


def answers(graph: csr_array, p: int, algorithm: str, seed: int) -> Iterator[tuple[str, np.ndarray]]:
    """Communities by what found them; of single runs all, (n, p)."""
    settings = {"affinity": "precomputed", "algorithm": algorithm, "resolutions": [1.0], "random_state": seed}
    whole = LeidenPartitions(p, **settings).fit_transform(graph)
    small = LeidenPartitions(p, levels=1, **{**settings, "algorithm": "louvain"}).fit_transform(graph)
    yield "one run", whole
    yield "best modularity", max(whole.T, key=lambda labels: quality(graph, labels, 1.0, "modularity"))[:, None]
    for name, method in OF_CONSENSUS.items():
        model = CommunityConsensus(method, algorithm=algorithm, random_state=seed)
        yield name, model.fit(small if method == "ecg" else whole, edges=graph).labels_[:, None]


SCORES = {
    "NMI": normalized_mutual_info_score,
    "AMI": adjusted_mutual_info_score,
    "communities": lambda truth, labels: len(set(labels)),
}
"""Of the planted and the found communities. NMI favours many small ones, AMI does not."""


def compare(n: int, n_graphs: int, p: int, algorithm: str) -> None:
    """A table for each score, a row for each mixing: means over the graphs, and on how many the consensus is better."""
    rows: dict[str, list[dict[str, object]]] = {score: [] for score in SCORES}
    for mixing in ASKED:
        found: dict[str, dict[str, list[float]]] = {score: {} for score in SCORES}
        crossing, planted = [], []
        for seed in range(n_graphs):
            graph, truth = lfr(n, mixing, seed)
            crossing.append(np.mean(np.not_equal(*truth[np.array(graph.nonzero())])))
            planted.append(len(set(truth)))
            for name, labels in answers(graph, p, algorithm, seed):
                for score, of in SCORES.items():
                    value = float(np.mean([of(truth, column) for column in labels.T]))
                    found[score].setdefault(name, []).append(value)
        for score, by_name in found.items():
            row: dict[str, object] = {"asked": mixing, "crossing": f"{np.mean(crossing):.3f}"}
            row |= {"planted": f"{np.mean(planted):.1f}"} if score == "communities" else {}
            for name, values in by_name.items():
                wins = sum(value > one for value, one in zip(values, by_name["one run"], strict=True))
                told = f" ({wins} of {n_graphs})" if name in OF_CONSENSUS and score != "communities" else ""
                row[name] = f"{np.mean(values):.{1 if score == 'communities' else 3}f}{told}"
            rows[score].append(row)
        print(f"mixing {mixing} done", flush=True)
    for score, of_score in rows.items():
        table(f"LFR, {n:,} nodes, {n_graphs} graphs each, {p} partitions by {algorithm}: {score}", of_score)


def cost(n_edges: int, p: int) -> None:
    """Seconds, by the clock and of the processor, and memory of a consensus of planted partitions on planted edges."""
    n, k, rng = n_edges // 15, max(2, n_edges // 3000), np.random.default_rng(0)
    truth = rng.integers(k, size=n)
    order, first = np.argsort(truth, kind="stable"), np.searchsorted(np.sort(truth), np.arange(k + 1))
    one, crosses = rng.integers(n, size=n_edges), rng.random(n_edges) < 0.3
    low, high = first[truth[one]], first[truth[one] + 1]
    other = np.where(
        crosses, rng.integers(n, size=n_edges), order[low + (rng.random(n_edges) * (high - low)).astype(int)]
    )
    links = csr_array((np.ones(n_edges), (one, other)), shape=(n, n))
    graph = csr_array(links.maximum(links.T))
    labels = np.repeat(truth[:, None], p, axis=1).astype(np.int32)
    for column in labels.T:
        moved = rng.random(n) < 0.1
        column[moved] = rng.integers(k, size=int(moved.sum()))
    ensemble, rows = Ensemble(labels), []
    for method in ("ecg", "fast-ensemble"):
        CommunityConsensus(method, n_init=1).fit([[0, 1], [0, 1]], edges=[[0, 1]])  # compiled now
        model = CommunityConsensus(method, n_init=1, n_jobs=-1, random_state=0)
        start, of_processor = time.perf_counter(), time.process_time()
        peak = extra_mb(lambda model=model: model.fit(ensemble, edges=graph))
        spent, of_processor = time.perf_counter() - start, time.process_time() - of_processor
        rows.append(
            {"method": method, "s": f"{spent:.1f}", "s of all cores": f"{of_processor:.1f}", "MB": f"{peak:,.0f}"}
        )
        print(rows[-1], flush=True)
    table(f"{graph.nnz // 2:,} edges of {n:,} nodes, {p} partitions", rows)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--graphs", type=int, default=10)
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--partitions", type=int, default=50)
    parser.add_argument("--algorithm", default="louvain")
    parser.add_argument("--edges", type=int)
    args = parser.parse_args()
    if args.edges:
        cost(args.edges, args.partitions)
    else:
        compare(args.nodes, args.graphs, args.partitions, args.algorithm)


if __name__ == "__main__":
    main()
