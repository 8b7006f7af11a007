"""Speed and memory of the rankings against what a user would do instead.

    python lab/benchmarks/bench_ranking.py [--small]

Every comparison runs in this process, both sides in turn; ratios are theirs / ours.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np
from common import distinct_share, extra_mb, in_fresh_process, paired, planted, seconds, table

from ensemblage import Ensemble
from ensemblage.ranking import DISCOTEC

T = 50


def ensemble_of(n):
    return Ensemble(planted(n, T, 10, 10, 30, 0.5)[0])


def numpy_as_written(codes, rows=50):
    """Algorithm 1 in NumPy on blocks of rows: one pass for the mean of the consensus matrix, one for the scores."""
    n, p = codes.shape
    blocks = [slice(start, min(start + rows, n)) for start in range(0, n, rows)]
    mean = sum((codes[block, None] == codes).mean(axis=2).sum() for block in blocks) / n**2
    differ = np.zeros(p)
    for block in blocks:
        connected = codes[block, None] == codes
        frequent = connected.mean(axis=2) >= mean
        differ += (connected != frequent[:, :, None]).sum(axis=(0, 1))
    return differ / n**2


def numpy_by_column(codes, rows=500):
    """The same column by column in bytes: what somebody writes who knows where the time goes."""
    n, p = codes.shape
    columns = np.ascontiguousarray(codes.T)

    def counts(block):
        total = np.zeros((block.stop - block.start, n), dtype=np.uint8)
        for column in columns:
            total += column[block, None] == column
        return total

    blocks = [slice(start, min(start + rows, n)) for start in range(0, n, rows)]
    joined = sum(int(counts(block).sum(dtype=np.int64)) for block in blocks)
    differ = np.zeros(p, dtype=np.int64)
    for block in blocks:
        frequent = counts(block) >= -(-joined // n**2)
        for t, column in enumerate(columns):
            differ[t] += np.count_nonzero((column[block, None] == column) != frequent)
    return differ / n**2


def against_numpy(n):
    ensemble = ensemble_of(n)
    share, rows_s = distinct_share(ensemble), seconds(lambda: Ensemble(ensemble).distinct)
    DISCOTEC().fit(ensemble[:1000])
    found = {}
    a, b, ratio = paired(
        lambda: found.update(ours=DISCOTEC().fit(ensemble).scores_),
        lambda: found.update(theirs=numpy_as_written(ensemble.codes)),
        rounds=1,
    )
    _, d, faster = paired(
        lambda: DISCOTEC().fit(ensemble), lambda: found.update(bytes=numpy_by_column(ensemble.codes)), rounds=3
    )
    assert np.array_equal(found["ours"], found["theirs"])
    assert np.array_equal(found["ours"], found["bytes"])
    return {
        "n": f"{n:,}",
        "members": T,
        "distinct": f"{share:.1%}",
        "ours, s": f"{a:.2f}",
        "NumPy as written, s": f"{b:.1f}",
        "ratio": f"{ratio:.0f}",
        "NumPy by column in bytes, s": f"{d:.1f}",
        "ratio to that": f"{faster:.0f}",
        "distinct rows, s (once)": f"{rows_s:.3f}",
        "our extra memory, MB": in_fresh_process(__file__, "--memory", str(n)),
    }


def alone(distance, n):
    ensemble = ensemble_of(n)
    share = distinct_share(ensemble)
    DISCOTEC(distance).fit(ensemble[:1000])
    return {
        "distance": distance,
        "n": f"{n:,}",
        "members": T,
        "distinct": f"{share:.1%}",
        "s": f"{seconds(lambda: DISCOTEC(distance).fit(ensemble)):.2f}",
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--small", action="store_true", help="a tenth of the objects")
    parser.add_argument("--memory", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.memory:
        ensemble = ensemble_of(int(options.memory))
        DISCOTEC().fit(ensemble[:1000])
        sys.exit(print(f"{extra_mb(lambda: DISCOTEC().fit(ensemble)):.0f}"))
    scale = 10 if options.small else 1
    table(
        "DISCOTEC, binary, against two passes over blocks in NumPy, as Algorithm 1 is written and tuned",
        [against_numpy(20_000 // scale)],
    )
    sizes = [("binary", 100_000), ("kl", 20_000), ("hellinger", 20_000), ("tv", 1_000_000)]
    table("DISCOTEC, exact", [alone(distance, n // scale) for distance, n in sizes])


if __name__ == "__main__":
    main()
