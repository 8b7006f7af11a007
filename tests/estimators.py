"""Every public estimator, made with parameters that let it end soon, and what it is fitted to."""

import inspect
from importlib.util import find_spec

import numpy as np
import pandas as pd
from public import MODULES
from sklearn.datasets import make_blobs
from strategies import few_starts, planted_labels

import ensemblage

FEATURES = make_blobs(60, n_features=4, centers=3, random_state=0)[0]
LABELS = planted_labels(n=60, p=6, k=3, noise=0.2, seed=1)[0]
EDGES = [[i, i + 1] for i in range(59)]
NEEDS = {method.estimator.__name__: method.package for method in ensemblage.METHODS.values() if method.package}
"""Packages that an estimator needs."""
GIVEN = {
    "ConsensusClustering": {"n_clusters": 3, "quality": "fast"},
    "ConsensusModes": {},
    "GreedyKMeansConsensus": {"n_clusters": 3, "n_candidates": 4},
    "GreedyPartitions": {"n_clusters": 3, "n_candidates": 4},
    "InternalIndex": {},
    "LeidenPartitions": {"n_partitions": 4, "algorithm": "louvain"},
    "SelectPartitions": {"n_partitions": 3},
    "USpecPartitions": {"n_partitions": 2, "n_representatives": 60},
}
OF_LABELS = ("ensemblage.consensus", "ensemblage.ranking")


def public_classes():
    """By name every public class that is fitted."""
    public = {name: getattr(package, name) for package in MODULES for name in package.__all__}
    return {
        name: public[name] for name in sorted(public) if hasattr(public[name], "fit") and inspect.isclass(public[name])
    }


ESTIMATORS = {name: cls for name, cls in public_classes().items() if name not in NEEDS or find_spec(NEEDS[name])}


def takes_labels(name):
    return ESTIMATORS[name].__module__.startswith(OF_LABELS) and name != "GreedyKMeansConsensus"


def takes_number(cls):
    """Whether a number of clusters is not refused."""
    return cls._capabilities.takes_n_clusters if hasattr(cls, "_capabilities") else True


def made(name, **parameters):
    """An estimator that is not fitted, with a seed if it takes one."""
    known = inspect.signature(ESTIMATORS[name]).parameters
    given = dict(GIVEN[name]) if name in GIVEN else {}
    if name not in GIVEN and "n_partitions" in known:
        given["n_partitions"] = 4
    elif name not in GIVEN and "n_clusters" in known and takes_number(ESTIMATORS[name]):
        given["n_clusters"] = 3
    given |= {"random_state": 0} if "random_state" in known else {}
    return few_starts(ESTIMATORS[name](**{**given, **parameters}))


def data_of(name, frame=False):
    """(60, m) features or labels, as an array or as a data frame with names."""
    values = LABELS if takes_labels(name) else FEATURES
    return pd.DataFrame(values, columns=[f"c{j}" for j in range(values.shape[1])]) if frame else np.array(values)


def fitted(name, frame=False, **parameters):
    beside = {"CommunityConsensus": {"edges": EDGES}, "InternalIndex": {"features": FEATURES}}
    return made(name, **parameters).fit(data_of(name, frame), **beside.get(name, {}))
