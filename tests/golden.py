"""What every method, ranker and metric gives on 40 random ensembles: `python tests/golden.py` writes golden.npz.

A refactoring must change nothing. Write the file before it, and `tests/test_golden.py` compares after it. The file is
not in the repository: another processor breaks ties of floating-point numbers in another way.
"""

import hashlib
import os
import tempfile
import warnings
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from strategies import planted_labels, random_labels, twins

from ensemblage import METHODS

PATH = Path(os.environ.get("ENSEMBLAGE_GOLDEN", Path(__file__).with_name("golden.npz")))
N_ENSEMBLES = 40
NEEDS = {name: method.package for name, method in METHODS.items() if method.package}
"""Methods of `METHODS` whose cut is another library's: compared with the version of it that made the file."""
SHARED = (
    "km",
    "h-km",
    "kcc",
    "ecc",
    "qmi",
    "sec",
    "acv",
    "bv",
    "majority",
    "lca",
    "k-modes",
    "soft-euclidean",
    "hard-euclidean",
)
"""Methods that work on labels on disk and on a cluster, too."""
ATTRIBUTES = {
    "linkage_matrix": "linkage_matrix_",
    "threshold": "association_threshold_",
    "mm_index": "mm_index_",
    "objective": "objective_",
    "order": "order_",
    "losses": "losses_",
}
"""Key in the file and attribute of a fitted method: keys stay where an attribute is renamed."""


def ensemble(i):
    """Labels (n, p), weights (p,) or None and number of clusters of ensemble i."""
    random = np.random.default_rng(i)
    n, p, k = int(random.integers(20, 120)), int(random.integers(3, 14)), int(random.integers(2, 6))
    missing = (0.0, 0.25)[i % 2]
    if i % 4 < 2:
        labels = twins(planted_labels(n, p, k, noise=0.3, missing=missing, seed=i)[0], 2 * n, seed=i)
    else:
        labels = random_labels(n, p, k + 1, missing=missing, seed=i)
    weights = random.integers(0, 4, size=p) + (np.arange(p) < 2) if i % 8 >= 6 else None
    return labels, weights, k


def consensus_of(name, labels, weights, k):
    """The method fitted, with a seed and the weights."""
    from ensemblage import make_consensus

    model = make_consensus(name, k)
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    if weights is not None and not name.startswith("negmm-wat"):  # their threshold knows no weights
        model.set_params(weights=weights.tolist())
    return model.fit(labels)


def results_of_consensus(name, labels, weights, k):
    """Attribute → array of a fitted method."""
    model = consensus_of(name, labels, weights, k)
    found = {"labels": model.labels_, "cohesion": model.cohesion_}
    found |= {"confidence": model.confidence_, "runner-up": model.runner_up_}
    for key, attribute in ATTRIBUTES.items():
        if hasattr(model, attribute) and (name, attribute) != ("gv3", "objective_"):  # where a descent ended
            found[key] = np.asarray(getattr(model, attribute))
    return found


def digest(matrix):
    """Stands for a matrix that is too large to keep."""
    return np.array(hashlib.sha256(np.ascontiguousarray(matrix).tobytes()).hexdigest())


def results_of_ensemble(labels, k):
    """Name → array of the rankers, the metrics and voting without a number of clusters."""
    from ensemblage import AverageAgreement, CumulativeVoting, Discotec, Ensemble, metrics

    warnings.simplefilter("ignore")  # pairs that no partition labels
    E = Ensemble(labels)
    z = E.codes[:, 0].astype(int)
    found = {
        "distinct-rows": E.distinct.codes,
        "distinct-counts": E.distinct.counts,
        "association-counts": metrics.association_counts(E),
        "coassociation": digest(metrics.coassociation(E)),
        "density": metrics.density(E, z),
        "cluster-density": metrics.cluster_density(E, z),
        "kmeans-loss": metrics.kmeans_loss(E, z),
        "ensemble-ari": metrics.ensemble_ari(E, z),
        "ensemble-nmi": metrics.ensemble_nmi(E, z),
        "mm-index": metrics.mm_index(E, z),
        "pac": metrics.pac(E),
        "item-consensus": metrics.item_consensus(E, z),
        "cluster-consensus": metrics.cluster_consensus(E, z),
        "threshold-kmeans": metrics.weak_association_threshold(E, "kmeans"),
    }
    for distance in ("binary", "tv", "kl", "hellinger"):
        found[f"discotec-{distance}"] = Discotec(distance, random_state=0).fit(E).scores_
    for measure in ("ari", "nmi"):
        found[f"agreement-{measure}"] = AverageAgreement(measure).fit(E).scores_
    found["acv-found"] = CumulativeVoting().fit(E).labels_
    return {name: np.asarray(value) for name, value in found.items()}


def all_results(chosen=range(N_ENSEMBLES)):
    """Key "ensemble/method/result" → array."""
    found = {}
    for i in chosen:
        labels, weights, k = ensemble(i)
        parts = {"ensemble": results_of_ensemble(labels, k)}
        for name in (*METHODS, *METHODS.aliases):  # the file has them under every name
            if name not in NEEDS or find_spec(NEEDS[name]):
                parts[name] = results_of_consensus(name, labels, weights, k)
        found |= {f"{i}/{part}/{key}": value for part, values in parts.items() for key, value in values.items()}
    return found


def results_on_disk(i, folder):
    """Key → array as `all_results` has it, of the methods that work there, with the labels on disk."""
    from ensemblage import Ensemble

    labels, weights, k = ensemble(i)
    path = Path(folder) / f"{i}.npy"
    np.save(path, labels)
    opened = Ensemble.open(path)
    return {f"{i}/{name}/labels": consensus_of(name, opened, weights, k).labels_ for name in SHARED}


def main():
    versions = {name: version(name) for name in ("pymetis", "mtkahypar") if find_spec(name)}
    found = all_results()
    with tempfile.TemporaryDirectory() as folder:
        for key, value in results_on_disk(0, folder).items():
            assert np.array_equal(found[key], value), key
    np.savez_compressed(PATH, **found, versions=np.array([f"{n} {v}" for n, v in versions.items()]))


if __name__ == "__main__":
    main()
