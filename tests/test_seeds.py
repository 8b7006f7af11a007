"""The same seed gives the same labels: a meta-estimator seeds every part that has no seed of its own."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.cluster import KMeans, MiniBatchKMeans
from sklearn.datasets import make_blobs
from sklearn.decomposition import PCA
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

from ensemblage import ConsensusClustering, GreedyKMeansConsensus, KMeansConsensus
from ensemblage.answer import choose_k_monti
from ensemblage.generation import (
    MixedPartitions,
    ProjectionPartitions,
    RandomKPartitions,
    ResampledPartitions,
    SubspacePartitions,
    USpecPartitions,
    write_partitions,
)

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
        choose_k_monti(X, range(2, 4), n_partitions=5, n_references=2, estimator=unseeded(), random_state=0).table
        for _ in range(2)
    ]
    assert tables[0] == tables[1]
    fits = [GreedyKMeansConsensus(3, n_candidates=4, random_state=0).fit(X).labels_ for _ in range(2)]
    np.testing.assert_array_equal(*fits)
    generator = RandomKPartitions(4, estimator=unseeded(), random_state=0)
    files = [write_partitions(generator, X, tmp_path / f"{i}.npy") for i in range(2)]
    np.testing.assert_array_equal(*(np.load(tmp_path / f"{i}.npy") for i in range(len(files))))
