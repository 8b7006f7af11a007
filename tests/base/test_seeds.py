"""The same seed gives the same labels: a meta-estimator seeds every part that has no seed of its own."""

import inspect

import joblib
import numpy as np
import pytest
from former import FORMER
from public import MODULES
from sklearn.base import clone
from sklearn.cluster import KMeans, MiniBatchKMeans
from sklearn.datasets import make_blobs
from sklearn.decomposition import PCA
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from strategies import few_starts, planted_labels

import ensemblage
from ensemblage import (
    ConsensusClustering,
    choose_k,
    datasets,
    generation,
    metrics,
    posterior,
    preprocessing,
    report,
    stability,
)
from ensemblage.base.random import settled_rows
from ensemblage.consensus import GreedyKMeansConsensus, KMeansConsensus
from ensemblage.generation import (
    MixedPartitions,
    ProjectionPartitions,
    RandomKPartitions,
    ResampledPartitions,
    SubspacePartitions,
    USpecPartitions,
    write_partitions,
)

pytestmark = FORMER

X = make_blobs(90, n_features=4, centers=5, cluster_std=3.0, random_state=0)[0]


@pytest.mark.parametrize("generator", [None, RandomKPartitions(5), MixedPartitions(5)])
def test_what_features_may_be_is_what_the_generator_takes(generator):
    """scikit-learn asks the estimator whether a sparse matrix will do."""
    found = get_tags(ConsensusClustering(2, generator=generator)).input_tags
    assert found == get_tags(generator or RandomKPartitions()).input_tags


def unseeded():
    """A base clusterer two of whose steps are random."""
    return make_pipeline(PCA(2, svd_solver="randomized"), KMeans(n_init=1, max_iter=1, init="random"))


GENERATORS = {
    "pipeline": make_pipeline(StandardScaler(), RandomKPartitions(6)),
    "pipeline in a pipeline": make_pipeline(
        StandardScaler(), make_pipeline(PCA(2, svd_solver="randomized"), RandomKPartitions(6))
    ),
    "estimator": RandomKPartitions(6, estimator=unseeded()),
    "pipeline with an estimator": make_pipeline(StandardScaler(), RandomKPartitions(6, estimator=unseeded())),
    "union": FeatureUnion([("a", RandomKPartitions(3)), ("b", SubspacePartitions(3))]),
    "resampled": ResampledPartitions(6, n_clusters=3, estimator=unseeded()),
    "uspec": USpecPartitions(6, n_representatives=50),
    "subspace": SubspacePartitions(6, estimator=unseeded()),
    "projection": ProjectionPartitions(6, estimator=unseeded()),
    "mixed": make_pipeline(
        StandardScaler(), MixedPartitions(4, estimators=[unseeded(), MiniBatchKMeans(n_init=1), GaussianMixture()])
    ),
}


@pytest.mark.core(3)
@pytest.mark.parametrize("name", GENERATORS)
def test_every_part_of_a_generator_is_seeded(name):
    fits = [ConsensusClustering(3, generator=GENERATORS[name], random_state=0).fit(X) for _ in range(2)]
    np.testing.assert_array_equal(*(np.asarray(model.ensemble_) for model in fits))
    np.testing.assert_array_equal(*(model.labels_ for model in fits))
    other = ConsensusClustering(3, generator=GENERATORS[name], random_state=1).fit(X)
    assert (np.asarray(other.ensemble_) != np.asarray(fits[0].ensemble_)).any()
    given = [v for k, v in GENERATORS[name].get_params().items() if k.endswith("random_state")]
    assert given
    assert set(given) == {None}, "the user's own estimators were changed"


def test_seeds_that_were_given_stay():
    generator = make_pipeline(PCA(2, svd_solver="randomized"), RandomKPartitions(4, random_state=7))
    model = ConsensusClustering(3, generator=generator, consensus=KMeansConsensus(random_state=5), random_state=0).fit(
        X
    )
    parameters = model.generator_.get_params()
    assert parameters["randomkpartitions__random_state"] == 7
    assert parameters["pca__random_state"] is not None
    assert model.consensus_.random_state == 5


def test_a_random_state_is_drawn_from_in_one_order():
    generator = GENERATORS["pipeline with an estimator"]
    fits = [ConsensusClustering(3, generator=generator, random_state=np.random.RandomState(3)).fit(X) for _ in range(2)]
    np.testing.assert_array_equal(*(np.asarray(model.ensemble_) for model in fits))


@pytest.mark.parametrize("name", ["estimator", "resampled", "subspace", "projection"])
def test_generators_seed_their_base_clusterers(name):
    made = [clone(GENERATORS[name]).set_params(random_state=0).fit_transform(X) for _ in range(2)]
    np.testing.assert_array_equal(*made)


def test_others_that_hold_estimators(tmp_path):
    tables = [
        choose_k(
            X, range(2, 4), method="monti", n_partitions=5, n_references=2, estimator=unseeded(), random_state=0
        ).table
        for _ in range(2)
    ]
    assert tables[0] == tables[1]
    fits = [GreedyKMeansConsensus(3, n_candidates=4, random_state=0).fit(X).labels_ for _ in range(2)]
    np.testing.assert_array_equal(*fits)
    generator = RandomKPartitions(4, estimator=unseeded(), random_state=0)
    files = [write_partitions(generator, X, tmp_path / f"{i}.npy") for i in range(2)]
    np.testing.assert_array_equal(*(np.load(tmp_path / f"{i}.npy") for i in range(len(files))))


LABELS = planted_labels(n=60, p=6, k=3, noise=0.4, seed=1)[0]
NEEDS = {"CSPA": "pymetis", "MCLA": "pymetis", "HGPA": "mtkahypar"}
DRAWING = {
    "DISCOTEC": {"n_sampled_pairs": 100, "max_pairs": 100},
    "GreedyKMeansConsensus": {"n_clusters": 3, "n_candidates": 4},
    "GreedyPartitions": {"n_clusters": 3, "n_candidates": 4},
    "LeidenPartitions": {"n_partitions": 4, "algorithm": "louvain"},
    "MCLA": {"n_clusters": 3, "partitioner": "spectral"},
    "USpec": {"n_clusters": 3, "n_representatives": 30},
    "USpecPartitions": {"n_partitions": 2, "n_representatives": 50},
}
"""Parameters with which an estimator draws something in little time."""
FUNCTIONS = {
    "choose_k": lambda seed: ensemblage.choose_k(X, [2, 3], n_references=2, n_splits=2, random_state=seed),
    "choose_k_monti": lambda seed: choose_k(
        X, [2, 3], method="monti", n_partitions=4, n_references=1, random_state=seed
    ),
    "choose_resolution": lambda seed: ensemblage.n_clusters.choose_resolution(
        X, [0.5, 1.0], algorithm="louvain", n_resamples=2, random_state=seed
    ),
    "cluster_stability": lambda seed: stability.cluster_stability(
        KMeans(3, n_init=1), X, n_resamples=3, random_state=seed
    ),
    "compare_methods": lambda seed: ensemblage.consensus.compare_methods(LABELS, 3, methods=["km"], random_state=seed),
    "make_2d2k": lambda seed: datasets.make_2d2k(seed),
    "make_8d5k": lambda seed: datasets.make_8d5k(seed),
    "make_hub_partitions": lambda seed: datasets.make_hub_partitions(0.2, random_state=seed),
    "make_partitions": lambda seed: datasets.make_partitions(n_partitions=4, random_state=seed),
    "make_pool": lambda seed: generation.make_pool(X, "kmeans", n_clusters=3, random_state=seed),
    "make_two_gauss": lambda seed: datasets.make_two_gauss(seed),
    "prediction_strength": lambda seed: stability.prediction_strength(
        KMeans(n_init=1), X, [2, 3], n_splits=2, random_state=seed
    ),
    "chain_agreement": lambda seed: (
        posterior.chain_agreement(np.tile(LABELS, 2), LABELS[:, 0], n_pairs=20, random_state=seed).pairs
    ),
    "summarize_draws": lambda seed: (
        ensemblage.posterior.summarize_draws(
            ensemblage.posterior.read_draws(LABELS, draws_axis="columns"), n_init=2, n_pairs=20, random_state=seed
        ).estimate.labels_
    ),
    "chips": lambda seed: posterior.chips(LABELS, 0.3, random_state=seed),
    "split_support": lambda seed: [
        row.p_value
        for row in stability.split_support(np.arange(90) % 3, X[:, :2], null="gaussian", random_state=seed).table
    ],
    "merge_unsupported": lambda seed: [
        row.p_value
        for row in stability.merge_unsupported(
            np.arange(90) % 3, X[:, :2], null="gaussian", random_state=seed
        ).support.table
    ],
    "thin_counts": lambda seed: preprocessing.thin_counts(np.arange(60).reshape(20, 3), random_state=seed)[0],
    "make_world": lambda seed: ensemblage.datasets.make_world("clouds", random_state=seed).X,
    "profile": lambda seed: ensemblage.profile(np.arange(90) % 3, X, random_state=seed),
    "summarize": lambda seed: report.summarize(
        LABELS, KMeansConsensus(3, random_state=0).fit(LABELS), random_state=seed
    ),
    "weak_association_threshold": lambda seed: metrics.weak_association_threshold(
        LABELS, max_pairs=100, random_state=seed
    ),
}


def public_with_seeds():
    """By name every public function and class that takes a ``random_state``."""
    public = {name: getattr(package, name) for package in MODULES for name in package.__all__}
    return {
        name: one
        for name, one in public.items()
        if inspect.isroutine(one) or hasattr(one, "set_params")
        if "random_state" in inspect.signature(one).parameters
    }


def outcome(name, seed):
    """What an estimator finds, or a function returns."""
    if name in FUNCTIONS:
        return FUNCTIONS[name](seed)
    make = public_with_seeds()[name]
    takes_k = "n_clusters" in inspect.signature(make).parameters and not hasattr(make, "transform")
    model = few_starts(make(**DRAWING.get(name, {"n_clusters": 3} if takes_k else {}), random_state=seed))
    if hasattr(model, "transform"):
        return model.fit_transform(X)
    if make is ensemblage.consensus.CommunityConsensus:
        return model.fit(LABELS, edges=[[i, (i + 1) % 60] for i in range(60)]).labels_
    fitted = model.fit(
        X if make in (ConsensusClustering, ensemblage.generation.USpec, GreedyKMeansConsensus) else LABELS
    )
    return fitted.scores_ if hasattr(fitted, "scores_") else fitted.labels_


@pytest.mark.core(3)
@pytest.mark.parametrize("name", sorted(public_with_seeds()))
def test_a_generator_of_numpy_is_a_seed(name):
    """It is drawn from, as a RandomState is: two of one seed agree, and the next call goes on where one ended."""
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    one, two = np.random.default_rng(5), np.random.default_rng(5)
    assert joblib.hash(outcome(name, one)) == joblib.hash(outcome(name, two))
    drawn = one.bit_generator.state != np.random.default_rng(5).bit_generator.state
    assert drawn == (name != "EvidenceAccumulation"), "it draws pairs where there are millions of them"


def test_the_next_fit_with_a_generator_is_another_one():
    random = np.random.default_rng(5)
    assert (
        RandomKPartitions(6, random_state=random).fit_transform(X)
        != RandomKPartitions(6, random_state=random).fit_transform(X)
    ).any()


def test_rows_that_are_settled_depend_on_no_order():
    random = np.random.default_rng(0)
    X = random.normal(size=(900, 3)) + 20 * np.repeat(np.arange(9), 100)[:, None]
    rows = settled_rows(X, 450)
    assert len(np.unique(rows)) == 450
    assert (np.diff(rows) > 0).all()
    assert abs(np.bincount(rows // 100) - 50).max() < 15
    order = random.permutation(900)
    np.testing.assert_array_equal(np.sort(order[settled_rows(X[order], 450)]), rows)
    np.testing.assert_array_equal(settled_rows(X, 900), np.arange(900))
    assert len(np.unique(settled_rows(np.zeros((50, 2)), 20))) == 20
