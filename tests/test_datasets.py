"""Generated data sets look as their papers say."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from ensemblage.datasets import make_2d2k, make_8d5k, make_two_gauss

AYAD = {make_2d2k: (2, 2, [500, 500]), make_8d5k: (8, 5, [200] * 5), make_two_gauss: (2, 2, [100, 200])}


@pytest.mark.parametrize("make", AYAD)
def test_shape_and_seed(make):
    d, k, sizes = AYAD[make]
    X, y = make(random_state=3)
    assert X.shape == (sum(sizes), d)
    assert np.bincount(y).tolist() == sizes
    assert len(sizes) == k
    np.testing.assert_array_equal(make(random_state=3)[0], X)
    assert not np.array_equal(make(random_state=4)[0], X)


@pytest.mark.parametrize(("make", "published", "within"), [(make_2d2k, 0.92, 0.02), (make_two_gauss, 0.81, 0.03)])
def test_kmeans_scores_what_table_1_says(make, published, within):
    scores = []
    for seed in range(30):
        X, y = make(seed)
        scores.append(adjusted_rand_score(y, KMeans(AYAD[make][1], n_init=1, random_state=seed).fit_predict(X)))
    assert np.mean(scores) == pytest.approx(published, abs=within)
