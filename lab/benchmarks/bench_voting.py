"""Voting: Ada-cVote and JS-ALink from contingency tables against Eq. 5 of Ayad & Kamel by normal equations.

Run: python lab/benchmarks/bench_voting.py [--quick] [--figure FILE]
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable

import numpy as np
from common import cores, distinct_share, extra_mb, in_fresh_process, paired, planted, seconds, table
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform

from ensemblage import Ensemble
from ensemblage.consensus import BipartiteVoting, CumulativeVoting

P, K, LOW, HIGH = 25, 6, 12, 24


def normal_equations(labels: np.ndarray) -> np.ndarray:
    """Alg. 2 as it is printed: V = U (UᵀU)⁻¹ Uᵀ U0 with dense indicators, BLAS on all cores. Nothing after Ū."""
    one_hot = [np.eye(int(z.max()) + 1) for z in labels.T]
    sizes = [np.bincount(z) / len(z) for z in labels.T]
    order = np.argsort([np.sum(s[s > 0] * np.log(s[s > 0])) for s in sizes])
    U0 = one_hot[order[0]][labels[:, order[0]]]
    for i, j in enumerate(order[1:], start=2):
        U = one_hot[j][labels[:, j]]
        V = U @ np.linalg.solve(U.T @ U, U.T @ U0)
        U0 = (i - 1) / i * U0 + V / i
    return U0


def js_alink(U: np.ndarray) -> np.ndarray:
    """JS-ALink on the columns of a dense aggregate, by NumPy and SciPy."""

    def plogp(x: np.ndarray) -> np.ndarray:
        return (x * np.log(np.where(x > 0, x, 1))).sum(axis=0)

    k, S, own = U.shape[1], U.sum(axis=0), plogp(U)
    distances = np.zeros((k, k))
    for c in range(k - 1):
        total, rest = S[c] + S[c + 1 :], slice(c + 1, k)
        a = S[c] / total
        shared = plogp(U[:, [c]] + U[:, rest]) - own[c] - own[rest]
        distances[c, rest] = -a * np.log(a) - (1 - a) * np.log(1 - a) - shared / total
    return linkage(squareform(distances + distances.T, checks=False), "average")


def ensemble_of(n: int) -> tuple[np.ndarray, Ensemble]:
    labels, _ = planted(n, P, K, LOW, HIGH, 0.3)
    # Numbered without gaps: UᵀU must have an inverse.
    labels = np.column_stack([np.unique(z, return_inverse=True)[1] for z in labels.T]).astype(np.int32)
    return labels, Ensemble(labels)


def fresh(ensemble: Ensemble) -> Ensemble:
    """The same codes, the distinct rows not found yet."""
    return Ensemble(ensemble)


def speed(sizes: list[int], rounds: int) -> None:
    rows = []
    for n in sizes:
        labels, ensemble = ensemble_of(n)
        share = distinct_share(ensemble)
        ours, theirs, ratio = paired(
            lambda e=ensemble: CumulativeVoting().fit(e), lambda z=labels: normal_equations(z), rounds
        )
        U = normal_equations(labels)
        assert np.allclose(js_alink(U)[:, 2], CumulativeVoting(K).fit(ensemble).linkage_matrix_[:, 2])
        extraction = min(seconds(lambda u=U: js_alink(u)) for _ in range(rounds))
        del U
        whole = seconds(lambda e=ensemble: CumulativeVoting().fit(fresh(e)))
        rows.append(
            {
                "n": f"{n:,}",
                "p": P,
                "distinct rows": f"{share:.1%}",
                "ACV, whole fit (s)": f"{ours:.3f}",
                "and finding distinct rows (s)": f"{whole:.3f}",
                "Eq. 5, aggregate only (s)": f"{theirs:.3f}",
                "ratio": f"{ratio:.1f}",
                "JS-ALink by NumPy (s)": f"{extraction:.3f}",
                "ratio with it": f"{ratio + extraction / ours:.1f}",
            }
        )
    table("Ada-cVote + JS-ALink + labels + confidence against Eq. 5 by normal equations", rows)


def cpu_seconds(function: Callable[[], object]) -> float:
    """Of all threads together: other processes on the machine hardly change it."""
    start = time.process_time()
    function()
    return time.process_time() - start


def linear(sizes: list[int], figure: str | None) -> None:
    rows, times = [], []
    for n in sizes:
        _, ensemble = ensemble_of(n)
        share = distinct_share(ensemble)
        acv = min(cpu_seconds(lambda e=ensemble: CumulativeVoting().fit(e)) for _ in range(3))
        bv = cpu_seconds(lambda e=ensemble: BipartiteVoting(K, random_state=0).fit(e))
        times.append((n, acv, bv))
        rows.append(
            {
                "n": f"{n:,}",
                "distinct rows": f"{share:.1%}",
                "ACV (CPU s)": f"{acv:.3f}",
                "ns per label": f"{acv / n / P * 1e9:.1f}",
                "BV, 10 passes (CPU s)": f"{bv:.3f}",
            }
        )
    table("Cost is linear in the number of objects", rows)
    if figure:
        draw(times, figure)


def draw(times: list[tuple[int, float, float]], path: str) -> None:
    from ensemblage.plotting._axes import new_axes, remove_frame

    ax, (n, acv, bv) = new_axes(), zip(*times, strict=True)
    ax.loglog(n, acv, "o-", label="CumulativeVoting")
    ax.loglog(n, bv, "o-", label="BipartiteVoting, 10 passes")
    ax.loglog(n, np.array(n) * acv[-1] / n[-1], color="0.6", linestyle=":", label="linear")
    ax.set(xlabel="objects", ylabel="CPU seconds")
    ax.legend(frameon=False)
    remove_frame(ax)
    ax.figure.savefig(path, dpi=120)


def memory(n: int) -> None:
    row = in_fresh_process(__file__, "--memory", str(n)).split()
    d, k0 = int(row[1]), HIGH
    table(
        "Memory of a fit beyond the ensemble and its distinct rows",
        [
            {
                "n": f"{n:,}",
                "p": P,
                "peak (MB)": row[0],
                "labels_ and confidence_, with their copies per row (MB)": f"{n * 2 * 12 / 2**20:.0f}",
                "d × k0 floats (MB)": f"{d * k0 * 8 / 2**20:.2f}",
                "n × k0 floats (MB)": f"{n * k0 * 8 / 2**20:.0f}",
            }
        ],
    )


def peak(n: int) -> None:
    _, ensemble = ensemble_of(n)
    CumulativeVoting().fit(ensemble[:1000])
    _ = ensemble.distinct
    print(f"{extra_mb(lambda: CumulativeVoting().fit(ensemble)):.0f} {int(ensemble.offsets[-1])}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes")
    parser.add_argument("--figure", metavar="FILE", help="draw time against n")
    parser.add_argument("--memory", type=int, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.memory:
        return peak(chosen.memory)
    CumulativeVoting().fit(ensemble_of(1_000)[1])  # compiles
    BipartiteVoting(K, n_init=1, random_state=0).fit(ensemble_of(1_000)[1])
    print(f"p = {P}, k_i in [{LOW}, {HIGH}], {K} true clusters, 30 % of the labels random, {cores()} cores")
    speed([20_000] if chosen.quick else [20_000, 1_000_000], rounds=3)
    linear([5_000, 20_000] if chosen.quick else [10_000, 30_000, 100_000, 300_000, 1_000_000], chosen.figure)
    memory(20_000 if chosen.quick else 1_000_000)
    return None


if __name__ == "__main__":
    sys.exit(main())
