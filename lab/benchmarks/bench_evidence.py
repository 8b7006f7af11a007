"""Evidence accumulation against SciPy: seconds, peak memory, and the same at sizes where SciPy's matrix does not fit.

    python lab/benchmarks/bench_evidence.py [--full]

Without --full small sizes, in seconds. With it n = 100,000: minutes.
"""

from __future__ import annotations

import argparse
import sys

from common import by_kmeans, distinct_share, extra_mb, in_fresh_process, paired, seconds, table
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import pdist

from ensemblage import Ensemble
from ensemblage.consensus import EvidenceAccumulation
from ensemblage.metrics._coassociation import association_counts
from ensemblage.metrics._wat import weak_association_threshold

K = 10


def ensemble_of(n: int, p: int) -> Ensemble:
    ensemble = Ensemble(by_kmeans(n, p, 10, 100)[0])
    if distinct_share(ensemble) < 0.9:
        raise SystemExit(f"only {distinct_share(ensemble):.0%} of the rows are distinct")
    return ensemble


def ours(ensemble: Ensemble, method: str) -> None:
    EvidenceAccumulation(K, linkage=method).fit(ensemble)


def scipys(ensemble: Ensemble, method: str) -> None:
    linkage(pdist(ensemble.codes, "hamming"), method)


def peak(n: int, p: int, method: str, who: str) -> float:
    """Peak memory above what the process held, in a process of its own."""
    return float(in_fresh_process(__file__, "--peak", str(n), str(p), method, who))


def measure_peak(n: str, p: str, method: str, who: str) -> None:
    run = {"ours": ours, "scipy": scipys}[who]
    run(ensemble_of(500, int(p)), method)  # kernels compiled, libraries loaded
    ensemble = ensemble_of(int(n), int(p))
    print(f"{extra_mb(lambda: run(ensemble, method)):.1f}")


def against_scipy(n: int, p: int, method: str, rounds: int) -> dict[str, object]:
    ensemble = ensemble_of(n, p)
    ours(ensemble_of(500, p), method)
    mine, theirs, ratio = paired(lambda: ours(ensemble, method), lambda: scipys(ensemble, method), rounds)
    memory = peak(n, p, method, "ours"), peak(n, p, method, "scipy")
    return {
        "linkage": method,
        "n": f"{n:,}",
        "p": p,
        "distinct": f"{distinct_share(ensemble):.0%}",
        "ours s": f"{mine:.2f}",
        "SciPy s": f"{theirs:.2f}",
        "ratio": f"{ratio:.1f}",
        "ours MB": f"{memory[0]:.0f}",
        "SciPy MB": f"{memory[1]:.0f}",
    }


def alone(n: int, p: int, method: str) -> dict[str, object]:
    ensemble = ensemble_of(n, p)
    ours(ensemble_of(500, p), method)
    return {
        "linkage": method,
        "n": f"{n:,}",
        "p": p,
        "distinct": f"{distinct_share(ensemble):.0%}",
        "s": f"{seconds(lambda: ours(ensemble, method)):.1f}",
        "MB": f"{peak(n, p, method, 'ours'):.0f}",
        "SciPy's matrix would have MB": f"{4 * n * (n - 1) / 1e6:,.0f}",
    }


def of_pairs(n: int, p: int) -> dict[str, object]:
    ensemble = ensemble_of(n, p)
    small = ensemble_of(500, p)
    association_counts(small)
    weak_association_threshold(small)
    return {
        "n": f"{n:,}",
        "p": p,
        "distinct": f"{distinct_share(ensemble):.0%}",
        "association_counts s": f"{seconds(lambda: association_counts(ensemble)):.2f}",
        "threshold (gmm) s": f"{seconds(lambda: weak_association_threshold(ensemble, 'gmm')):.2f}",
        "MB": f"{extra_mb(lambda: association_counts(ensemble)):.0f}",
    }


def main() -> None:
    if sys.argv[1:2] == ["--peak"]:
        return measure_peak(*sys.argv[2:])
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true")
    full = parser.parse_args().full
    sizes = {"single": 10_000, "average": 20_000, "complete": 10_000}
    compared = [against_scipy(n if full else 3_000, 20, method, 3) for method, n in sizes.items()]
    table("Against SciPy's pdist and linkage", compared)
    table("Larger", [alone(100_000 if full else 10_000, 20, method) for method in ("single", "average")])
    table("All pairs", [of_pairs(50_000 if full else 10_000, 50)])
    return None


if __name__ == "__main__":
    main()
