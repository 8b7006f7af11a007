"""Is the consensus of published labelings better than its members?

``python lab/benchmarks/bench_members.py SUITE``: SUITE is a folder in the layout of the Benchmark Suite for Clustering
Algorithms, with ``data/<battery>/<set>.labels0.gz`` and ``results/<method>/<battery>/<set>.result<K>.gz``. Members are
the first labeling of every method at the true number of clusters; scores are adjusted Rand indices, objects that are
noise left out, the best reference labeling counts.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.metrics import adjusted_rand_score

from ensemblage import Ensemble, make_consensus
from ensemblage.ranking import AverageAgreement

METHODS = ["km", "eac-average", "acv", "bv", "majority", "hbgf", "negmm-wat-kmeans"]


def members_of(suite: Path, battery: str, name: str, k: int) -> pd.DataFrame:
    """One column of labels per method that published some for this set."""
    files = sorted(suite.glob(f"results/*/{battery}/{name}.result{k}.gz"))
    return pd.DataFrame({file.parts[-3]: pd.read_csv(file).iloc[:, 0] for file in files})


def score(truths: list[np.ndarray], labels: np.ndarray) -> float:
    """The best adjusted Rand index with a reference labeling."""
    return max(adjusted_rand_score(truth[truth > 0], labels[truth > 0]) for truth in truths)


def main(suite: Path) -> None:
    rows = []
    for first in sorted(suite.glob("data/*/*.labels0.gz")):
        battery, name = first.parts[-2], first.name.removesuffix(".labels0.gz")
        files = sorted(first.parent.glob(f"{name}.labels*.gz"))
        truths = [np.loadtxt(file, dtype=int) for file in files]
        k = int(truths[0].max())
        members = members_of(suite, battery, name, k)
        if members.shape[1] < 3:
            continue
        scores = np.array([score(truths, members[column].to_numpy()) for column in members])
        ensemble = Ensemble(members)
        chosen = AverageAgreement().fit(ensemble).order_[0]
        row = {"set": f"{battery}/{name}", "members": len(scores), "mean": scores.mean(), "best": scores.max()}
        row["first by AARI"] = scores[chosen]
        for method in METHODS:
            consensus = make_consensus(method, k)
            if "random_state" in consensus.get_params():
                consensus.set_params(random_state=0)
            row[method] = score(truths, consensus.fit(ensemble).labels_)
        rows.append(row)
        print(" ".join(f"{v:.3f}" if isinstance(v, float) else str(v) for v in row.values()), flush=True)
    table = pd.DataFrame(rows)
    print(f"{len(table)} sets, {table['members'].min()} to {table['members'].max()} members")
    for column in ["first by AARI", *METHODS]:
        mean, above, best = table[column].mean(), (table[column] > table["mean"]).sum(), table[column] > table["best"]
        print(f"{column}: mean ARI {mean:.3f}, above the mean member on {above}, above the best on {best.sum()}")
    print(f"mean member {table['mean'].mean():.3f}, best member {table['best'].mean():.3f}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
