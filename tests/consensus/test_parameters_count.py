"""Every parameter of every method counts: two values of it give two results. ``n_jobs`` counts for the time alone,
``progress`` for whoever looks on (test_progress.py).

`TABLE` has the values for most classes. Those of other methods follow from what their parameters may be.
"""

from functools import partial
from importlib.util import find_spec
from inspect import signature

import numpy as np
import pytest
from limits import limit
from places import TESTS
from sklearn.cluster import DBSCAN
from strategies import planted_labels, random_labels, values_of

from ensemblage import METHODS, ConsensusClustering
from ensemblage.consensus import (
    CSPA,
    HBGF,
    HGPA,
    LCE,
    MCLA,
    PTA,
    PTGP,
    BipartiteVoting,
    BisectingKMeansConsensus,
    ComembershipMedian,
    CumulativeVoting,
    EuclideanMedian,
    EvidenceAccumulation,
    GreedyKMeansConsensus,
    KMeansConsensus,
    KModesConsensus,
    LatentClassConsensus,
    MajorityVoting,
    NegMM,
    SalsoConsensus,
    SpectralEnsembleClustering,
)
from ensemblage.generation import MixedPartitions, ProjectionPartitions, RandomKPartitions, SubspacePartitions
from ensemblage.preprocessing import Preprocessor

NOISE = random_labels(n=150, p=6, k=5, seed=0)
"""Nothing to find: seeds and starts matter."""
MUCH_NOISE = random_labels(n=1500, p=8, k=6, seed=0)
"""More rows than those that get a hundred starts."""
PLANTED = planted_labels(n=150, p=8, k=5, noise=0.35, missing=0.1, seed=1)[0]
TWINS = np.repeat(random_labels(n=25, p=3, k=3, seed=2), np.arange(1, 26), axis=0)
FEATURES = np.random.default_rng(0).normal(size=(40, 3)) * [1, 2, 30]
ONE, TWO = [1, 1, 1, 1, 1, 1, 1, 1], [9, 1, 4, 1, 0, 1, 7, 1]
GIVEN = np.arange(150) % 3
REFUSED = "refused"

KM, BKM, SEC, EAC = KMeansConsensus, BisectingKMeansConsensus, SpectralEnsembleClustering, EvidenceAccumulation
GKCC, CC, ACV, BV = GreedyKMeansConsensus, ConsensusClustering, CumulativeVoting, BipartiteVoting
LCA, KModes, SE, GV3 = LatentClassConsensus, KModesConsensus, EuclideanMedian, ComembershipMedian
METIS = {"partitioner": "metis"}

# The class, what else is given, the parameter, two values of it, the data.
WITH_AN_OUTLIER = np.concatenate([FEATURES, FEATURES + 500, FEATURES + 1000, [[9000.0] * 3]])
DENSITY = MixedPartitions(None, estimators=[DBSCAN(eps=90.0), DBSCAN(eps=99.0), DBSCAN(eps=1e6)])
TABLE = [
    (KM, {}, "n_clusters", 3, 4, NOISE),
    (KM, {}, "utility", "category", "entropy", NOISE),
    (KM, {}, "utility", "cosine", "lp", NOISE),
    (KM, {}, "normalize", False, True, PLANTED),
    (KM, {"utility": "lp"}, "exponent", 5, 8, NOISE),
    (KM, {"utility": "entropy"}, "smoothing", 1e-16, 0.5, NOISE),
    (KM, {}, "refine", None, "density", NOISE),
    (KM, {"n_init": 1}, "init", "k-means++", "random", NOISE),
    (KM, {"n_init": 1}, "init", "random", GIVEN, NOISE),
    (KM, {"n_clusters": 5}, "n_init", 1, 10, NOISE),
    (KM, {}, "init_size", "auto", 60, NOISE),
    (KM, {}, "max_iter", 1, 100, NOISE),
    (KM, {}, "tol", 0, 0.2, NOISE),
    (KM, {"init": GIVEN}, "max_iter", 1, 100, NOISE),
    (KM, {"init": GIVEN}, "tol", 0, 0.2, NOISE),
    (KM, {}, "cluster_weights", None, "eci", NOISE),
    (KM, {}, "weights", ONE, TWO, PLANTED),
    (KM, {"n_init": 1}, "random_state", 0, 1, NOISE),
    (BKM, {}, "n_clusters", 3, None, NOISE),
    (BKM, {"n_clusters": 7}, "split_rule", "loss", "size", PLANTED),
    (BKM, {"n_clusters": 7}, "split_rule", "density", "gain", PLANTED),
    (BKM, {"n_init": 1}, "init", "k-means++", "random", NOISE),
    (BKM, {}, "n_init", 1, 10, NOISE),
    (BKM, {}, "max_iter", 1, 100, NOISE),
    (BKM, {}, "tol", 0, 0.2, NOISE),
    (BKM, {}, "weights", ONE, TWO, PLANTED),
    (BKM, {"n_init": 1}, "random_state", 0, 1, NOISE),
    (SEC, {}, "n_clusters", 3, 4, NOISE),
    (SEC, {"n_init": 1}, "init", "k-means++", "random", NOISE),
    (SEC, {"n_init": 1}, "init", "random", GIVEN, NOISE),
    (SEC, {"n_clusters": 5}, "n_init", 1, 10, NOISE),
    (SEC, {}, "max_iter", 1, 100, NOISE),
    (SEC, {}, "tol", 0, 0.2, NOISE),
    (SEC, {}, "weights", ONE, TWO, PLANTED),
    (SEC, {"n_init": 1}, "random_state", 0, 1, NOISE),
    (EAC, {}, "n_clusters", 3, None, PLANTED),
    (EAC, {}, "linkage", "single", "average", PLANTED),
    (EAC, {}, "linkage", "average", "complete", PLANTED),
    (EAC, {}, "similarity", "coassociation", "ecpcs", PLANTED),
    (EAC, {}, "similarity", "ecpcs", "cts", PLANTED),
    (EAC, {}, "association_threshold", None, "kmeans", PLANTED),
    (EAC, {}, "association_threshold", 0.2, "gmm", PLANTED),
    (EAC, {"linkage": "complete"}, "max_bytes", "1GB", REFUSED, PLANTED),
    (EAC, {}, "cluster_weights", None, "eci", PLANTED),
    (EAC, {"n_clusters": 12, "cluster_weights": "eci"}, "distinct", True, False, TWINS),
    (EAC, {"linkage": "complete"}, "cluster_weights", "eci", 0.2, PLANTED),
    (EAC, {}, "weights", ONE, TWO, PLANTED),
    (EAC, {"association_threshold": "kmeans"}, "weights", ONE, TWO, PLANTED),
    (EAC, {"association_threshold": "gmm"}, "random_state", 0, 1, PLANTED),
    (CSPA, {}, "n_clusters", 3, 4, PLANTED),
    (CSPA, {}, "partitioner", "metis", "spectral", PLANTED),
    (CSPA, {}, "n_neighbors", "auto", 5, PLANTED),
    (CSPA, {}, "association_threshold", None, "kmeans", PLANTED),
    (CSPA, {}, "association_threshold", 0.2, "gmm", PLANTED),
    (CSPA, {}, "distinct", True, False, TWINS),
    (CSPA, {"n_clusters": 5}, "recursive", True, False, NOISE),
    (CSPA, {}, "imbalance", 0.001, 0.9, NOISE),
    (CSPA, {"n_clusters": 5}, "n_init", 1, 16, PLANTED),
    (CSPA, {}, "max_bytes", "1GB", REFUSED, PLANTED),
    (CSPA, {}, "weights", ONE, TWO, PLANTED),
    (CSPA, {"n_init": 1}, "random_state", 0, 1, NOISE),
    (HGPA, {}, "n_clusters", 3, 4, PLANTED),
    (HGPA, {}, "partitioner", "mtkahypar", "spectral", PLANTED),
    (HGPA, {"partitioner": "spectral"}, "edge_weights", "equal", "size", PLANTED),
    (HGPA, {}, "edge_weights", "equal", "size", PLANTED),
    (HGPA, {"n_clusters": 5}, "cut_cost", "cut", "km1", PLANTED),
    (HGPA, {}, "imbalance", 0.01, 0.9, PLANTED),
    (HGPA, {}, "distinct", True, False, TWINS),
    (HGPA, {}, "weights", ONE, TWO, PLANTED),
    (HGPA, {"partitioner": "spectral"}, "random_state", 0, 1, NOISE),
    (MCLA, {}, "n_clusters", 3, 4, PLANTED),
    (MCLA, {}, "partitioner", "metis", "spectral", PLANTED),
    (MCLA, {}, "vertex_weights", "size", "equal", PLANTED),
    (MCLA, {"n_clusters": 5}, "recursive", True, False, NOISE),
    (MCLA, {}, "imbalance", 0.001, 0.9, PLANTED),
    (MCLA, {}, "similarity", "jaccard", "ecpcs", NOISE),
    (MCLA, {}, "ties", "random", "first", NOISE),
    (MCLA, {}, "max_bytes", "1GB", REFUSED, PLANTED),
    (MCLA, {}, "weights", ONE, TWO, PLANTED),
    (MCLA, {}, "random_state", 0, 1, NOISE),
    (HBGF, {}, "n_clusters", 3, 4, PLANTED),
    (HBGF, {}, "partitioner", "metis", "spectral", PLANTED),
    (HBGF, {**METIS, "n_clusters": 5}, "recursive", True, False, NOISE),
    (HBGF, METIS, "imbalance", 0.001, 0.9, NOISE),
    (HBGF, METIS, "distinct", True, False, TWINS),
    (HBGF, {}, "partitioner", "spectral", "transfer", NOISE),
    (HBGF, {}, "cluster_weights", None, "eci", PLANTED),
    (HBGF, METIS, "cluster_weights", None, 0.3, NOISE),
    (HBGF, {"partitioner": "transfer"}, "cluster_weights", "eci", 0.2, PLANTED),
    (HBGF, {"partitioner": "transfer", "n_clusters": 9}, "random_state", 0, 1, NOISE),
    (HBGF, {}, "weights", ONE, TWO, PLANTED),
    (HBGF, {}, "random_state", 0, 1, NOISE),
    (HBGF, METIS, "random_state", 0, 1, NOISE),
    (LCE, {}, "n_clusters", 3, 4, PLANTED),
    (LCE, {}, "similarity", "wct", "wtq", NOISE),
    (LCE, {}, "decay", 0.8, 0.1, NOISE),
    (LCE, {}, "max_bytes", "1GB", REFUSED, PLANTED),
    (LCE, {}, "weights", ONE, TWO, PLANTED),
    (LCE, {"n_clusters": 9}, "random_state", 0, 1, NOISE),
    (MajorityVoting, {}, "n_clusters", 3, None, PLANTED),
    (MajorityVoting, {}, "weights", ONE, TWO, PLANTED),
    (SalsoConsensus, {}, "n_clusters", 3, 4, NOISE),
    (SalsoConsensus, {}, "loss", "vi", "binder", NOISE),
    (SalsoConsensus, {"loss": "gvi"}, "a", 1.0, 0.5, PLANTED),
    (SalsoConsensus, {"loss": "binder", "n_rounds": 0}, "n_init", 1, 10, NOISE),
    (SalsoConsensus, {"n_init": 1, "n_rounds": 0, "random_state": 1}, "max_zealous", 0, 10, PLANTED),
    (SalsoConsensus, {"loss": "nid", "n_init": 2, "random_state": 1}, "n_rounds", 0, 10, PLANTED),
    (SalsoConsensus, {"loss": "nid", "n_init": 2, "n_rounds": 1}, "n_searches", 1, 3, NOISE),
    (SalsoConsensus, {"loss": "binder", "n_init": 1, "max_zealous": 0, "n_rounds": 0}, "max_iter", 1, 100, NOISE),
    (SalsoConsensus, {}, "weights", ONE, TWO, PLANTED),
    (SalsoConsensus, {}, "max_bytes", "1GB", REFUSED, NOISE),
    (SalsoConsensus, {"loss": "binder", "n_init": 1, "n_rounds": 0}, "random_state", 0, 1, NOISE),
    (KModes, {"n_init": 7}, "n_clusters", 3, 4, NOISE),
    (KModes, {"n_init": 1}, "init", "k-means++", "random", NOISE),
    (KModes, {"n_clusters": 5}, "n_init", 1, 10, NOISE),
    (KModes, {"n_init": 1}, "max_iter", 1, 100, NOISE),
    (KModes, {"n_init": 7}, "tol", 0, 0.2, NOISE),
    (KModes, {"n_init": 7}, "weights", ONE, TWO, PLANTED),
    (KModes, {"n_init": 1}, "random_state", 0, 1, NOISE),
    (LCA, {"n_init": 7}, "n_clusters", 3, None, NOISE),
    (LCA, {"n_init": 1}, "init", "k-means++", "random", NOISE),
    (LCA, {"n_init": 1}, "init", "random", GIVEN, NOISE),
    (LCA, {"n_clusters": 5}, "n_init", 1, 10, NOISE),
    (LCA, {"n_init": 1}, "max_iter", 1, 500, NOISE),
    (LCA, {"n_init": 1}, "tol", 0, 0.5, NOISE),
    (LCA, {"n_init": 7}, "weights", ONE, TWO, PLANTED),
    (LCA, {"n_init": 1}, "random_state", 0, 1, NOISE),
    (SE, {"n_init": 7}, "n_clusters", 3, None, PLANTED),
    (SE, {"n_init": 7}, "prototype", "soft", "hard", PLANTED),
    (SE, {}, "n_init", 1, 50, NOISE),
    (SE, {"n_init": 1}, "max_iter", 1, 100, NOISE),
    (SE, {"n_init": 1}, "leave_one_out", False, True, NOISE),
    (SE, {"n_init": 7}, "weights", ONE, TWO, PLANTED),
    (SE, {"n_init": 7}, "random_state", 0, 1, NOISE),
    (GV3, {}, "n_clusters", 3, None, PLANTED),
    (GV3, {}, "n_init", 1, 10, NOISE),
    (GV3, {}, "max_iter", 1, 500, NOISE),
    (GV3, {}, "tol", 0, 0.5, NOISE),
    (GV3, {}, "weights", ONE, TWO, PLANTED),
    (ACV, {}, "n_clusters", 3, None, PLANTED),
    (ACV, {}, "order", "entropy", "given", PLANTED),
    (ACV, {}, "order", "entropy", "divergence", PLANTED),
    (ACV, {}, "voting", "adaptive", "fixed", PLANTED),
    (ACV, {}, "linkage", "average", "aib", PLANTED),
    (ACV, {"n_clusters": None}, "include_singletons", False, True, PLANTED),
    (ACV, {}, "weights", ONE, TWO, PLANTED),
    (BV, {}, "n_clusters", 2, None, PLANTED),
    (BV, {}, "n_init", 1, 10, NOISE),
    (BV, {}, "linkage", "average", "aib", PLANTED),
    (BV, {"n_clusters": None}, "include_singletons", False, True, PLANTED),
    (BV, {}, "weights", ONE, TWO, PLANTED),
    (BV, {"n_init": 1}, "random_state", 0, 1, NOISE),
    (NegMM, {}, "n_clusters", 3, 4, PLANTED),
    (NegMM, {}, "association_threshold", "search", "kmeans", PLANTED),
    (NegMM, {}, "association_threshold", 0.2, "gmm", PLANTED),
    (NegMM, {}, "n_neighbors", 3, 9, PLANTED),
    (NegMM, {}, "distinct", False, True, PLANTED),
    (NegMM, {}, "max_bytes", "1GB", REFUSED, PLANTED),
    (NegMM, {}, "weights", ONE, TWO, PLANTED),
    (NegMM, {"association_threshold": "kmeans"}, "weights", ONE, TWO, PLANTED),
    (NegMM, {}, "random_state", 0, 1, NOISE),
    (PTA, {}, "n_clusters", 3, None, PLANTED),
    (PTA, {}, "linkage", "average", "complete", PLANTED),
    (PTA, {}, "linkage", "average", "single", PLANTED),
    (PTA, {}, "n_neighbors", 3, None, PLANTED),
    (PTA, {}, "n_steps", 3, None, PLANTED),
    (PTA, {}, "max_bytes", "1GB", REFUSED, PLANTED),
    (PTA, {}, "weights", ONE, TWO, PLANTED),
    (PTGP, {}, "n_clusters", 3, 4, PLANTED),
    (PTGP, {}, "n_neighbors", 3, None, PLANTED),
    (PTGP, {}, "n_steps", 3, None, PLANTED),
    (PTGP, {}, "max_bytes", "1GB", REFUSED, PLANTED),
    (PTGP, {}, "weights", ONE, TWO, PLANTED),
    (PTGP, {"n_clusters": 9}, "random_state", 0, 1, MUCH_NOISE),
    (GKCC, {}, "n_clusters", 3, 4, FEATURES),
    (GKCC, {}, "n_candidates", 3, "all", FEATURES),
    (GKCC, {"n_clusters": 4}, "augment", None, "all", FEATURES),
    (GKCC, {"n_clusters": 4}, "augment", "last", "all", FEATURES),
    (GKCC, {}, "partition_weight", 1, 1e6, FEATURES),
    (GKCC, {}, "standardize", False, True, FEATURES),
    (GKCC, {}, "utility", "category", "lp", FEATURES),
    (GKCC, {}, "normalize", False, True, FEATURES),
    (GKCC, {"utility": "lp"}, "exponent", 5, 8, FEATURES),
    (GKCC, {"utility": "entropy"}, "smoothing", 1e-16, 0.9, FEATURES),
    (GKCC, {"n_clusters": 5}, "refine", None, "density", FEATURES),
    (GKCC, {"n_clusters": 5}, "max_iter", 1, 300, FEATURES),
    (GKCC, {"n_candidates": 3}, "random_state", 0, 1, FEATURES),
    (CC, {}, "n_clusters", 3, None, FEATURES),
    (CC, {}, "generator", None, RandomKPartitions(5), FEATURES),
    (CC, {"generator": RandomKPartitions(9)}, "consensus", "km", "acv", FEATURES),
    (CC, {}, "quality", "fast", "default", FEATURES),
    (CC, {"selection": "consensus"}, "quality", "best", "default", FEATURES / [1, 1, 9]),
    (CC, {}, "selection", "learned", "consensus", FEATURES),
    (CC, {}, "standardize", True, False, FEATURES),
    (CC, {}, "standardize", True, "auto", FEATURES / [1, 1, 9]),
    (CC, {"n_clusters": None}, "allow_one", False, True, np.random.default_rng(0).normal(size=(60, 3))),
    (CC, {}, "impute", "median", "mean", np.where(np.greater(FEATURES, 1), np.nan, FEATURES)),
    (CC, {}, "preprocessor", None, Preprocessor(standardize=False), FEATURES),
    (CC, {"generator": DENSITY, "standardize": False}, "noise", "missing", "vote", WITH_AN_OUTLIER),
    (CC, {"quality": "fast"}, "random_state", 0, 1, FEATURES),
]
NEEDS = {CSPA: "pymetis", MCLA: "pymetis", HBGF: "pymetis", HGPA: "mtkahypar"}


def case_id(case):
    cls, common, name, a, b, _ = case
    short = [value if isinstance(value, str | int | float | None) else type(value).__name__ for value in (a, b)]
    others = "-".join(str(value) if np.ndim(value) == 0 else "given" for value in common.values())
    return f"{cls.__name__}-{name}-{short[0]}-{short[1]}{'-' * bool(common)}{others}"


def fitted(cls, data, parameters):
    if parameters.get("weights") is not None:
        parameters = {**parameters, "weights": parameters["weights"][: data.shape[1]]}
    return cls(**with_usual(cls, parameters)).fit(data)


def with_usual(cls, parameters):
    seed = {"random_state": 0} if "random_state" in signature(cls).parameters else {}
    takes_none = hasattr(cls, "capabilities") and not cls().capabilities.takes_n_clusters
    return {"n_clusters": None if takes_none else 3, **seed, **parameters}


def found(model):
    """Everything that was learned, but for what repeats the parameters, as text: exact for numbers."""
    skipped = {"generator_", "consensus_", "ensemble_"}
    learned = {name: value for name, value in vars(model).items() if name.endswith("_") and name not in skipped}
    with np.printoptions(threshold=10**9, floatmode="unique"):
        return repr(sorted(learned.items()))


@pytest.fixture(scope="module")
def known():
    """What was found with parameters that stand in several lines of the table, such as all defaults."""
    return {}


def found_once(known, cls, data, parameters):
    defaults = {parameter.name: parameter.default for parameter in signature(cls).parameters.values()}
    key = cls, id(data), repr({**defaults, **with_usual(cls, parameters)})
    if key not in known:
        known[key] = found(fitted(cls, data, parameters))
    return known[key]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("cls", "common", "name", "a", "b", "data"), TABLE, ids=map(case_id, TABLE))
def test_two_values_give_two_results(monkeypatch, known, cls, common, name, a, b, data):
    if cls in NEEDS and find_spec(NEEDS[cls]) is None:
        pytest.skip(f"no {NEEDS[cls]}")
    if cls is EvidenceAccumulation and name == "random_state":  # it seeds the pairs that are drawn of very many
        limit(monkeypatch, "pairs that are counted", 100)
        limit(monkeypatch, "pairs that are drawn", 100)
        known = {}
    first = found_once(known, cls, data, {**common, name: a})
    if name in ("n_clusters", "random_state"):
        assert first == found(fitted(cls, data, {**common, name: a})), "it differs by itself"
    if b is REFUSED:
        with pytest.raises(ValueError, match=f"{cls.__name__} must fit into {name} = 1,000 bytes"):
            fitted(cls, data, {**common, name: 1_000})
    else:
        assert first != found_once(known, cls, data, {**common, name: b})


@pytest.mark.parametrize("cls", [RandomKPartitions, SubspacePartitions, ProjectionPartitions])
def test_fit_on_of_a_generator_counts(cls):
    make = partial(cls, 3, k_min=6, k_max=6, random_state=0)
    on_all, on_some = (make(sample_size=size).fit_transform(FEATURES) for size in (None, 12))
    assert (on_all != on_some).any()
    np.testing.assert_array_equal(on_all, make(sample_size="auto").fit_transform(FEATURES))


IN_TABLE = sorted({case[0] for case in TABLE}, key=lambda cls: cls.__name__)
OTHERS = sorted({m.estimator for m in METHODS.values()} - set(IN_TABLE), key=lambda cls: cls.__name__)
CLASSES = [*IN_TABLE, *OTHERS]
FOR_TIME = {"n_jobs", "progress"}


@pytest.mark.parametrize("cls", IN_TABLE)
def test_every_parameter_is_in_the_table(cls):
    assert {case[2] for case in TABLE if case[0] is cls} == signature(cls).parameters.keys() - FOR_TIME


def has_own_test(cls, name):
    """Whether the method's own test file has a test of the parameter: where it needs other data, or other values."""
    files = TESTS.rglob(f"test_{cls.__module__.rpartition('.')[2].strip('_')}.py")
    return any(f"\ndef test_{name}_counts(" in file.read_text(encoding="utf-8") for file in files)


@pytest.mark.filterwarnings("ignore")
def test_no_parameter_is_ignored():
    """By the methods that the table does not have."""
    for cls in OTHERS:
        for name in signature(cls).parameters.keys() - FOR_TIME:
            assert_counts(cls, name)


def assert_counts(cls, name):
    """Two of the values that a parameter may have give two results; a number of clusters may be refused."""
    if has_own_test(cls, name):
        return
    if name == "n_clusters" and not cls().capabilities.takes_n_clusters:
        with pytest.raises(ValueError, match=rf"^n_clusters of {cls.__name__} .* must be None"):
            cls(4).fit(NOISE)
        return
    values = [ONE, TWO] if name == "weights" else list(values_of(cls, name))
    assert any(len({found(fitted(cls, data, {name: v})) for v in values}) > 1 for data in (PLANTED, NOISE, TWINS)), (
        f"{cls.__name__} ignores {name}: {values} give the same results on three ensembles. Use self.{name} in `_fit`, "
        f"or show where it counts in test_{name}_counts of the method's test file."
    )


@pytest.mark.core(3)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("cls", CLASSES)
def test_n_jobs_changes_nothing(cls):
    if cls in NEEDS and find_spec(NEEDS[cls]) is None:
        pytest.skip(f"no {NEEDS[cls]}")
    data = FEATURES if cls in (GKCC, CC) else PLANTED
    few = {"n_init": 7} if cls in (KModes, LCA, SE) else {}
    assert found(fitted(cls, data, {"n_jobs": 1, **few})) == found(fitted(cls, data, {"n_jobs": 3, **few}))
