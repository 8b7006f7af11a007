"""Weights enter in one place: any finite numbers ≥ 0 are legal, and only losses see their scale."""

from importlib.util import find_spec

import numpy as np
import pytest
from former import FORMER
from numpy.testing import assert_array_equal
from strategies import few_starts, planted_labels, usual

from ensemblage import METHODS, make_consensus, metrics
from ensemblage.base.validation import LEAST_WEIGHT, check_weights, weight_unit
from ensemblage.consensus import KModesConsensus

pytestmark = FORMER

NEEDS = {"cspa": "pymetis", "mcla": "pymetis", "hgpa": "mtkahypar"}
WEIGHTED = sorted(
    name
    for name in METHODS
    if "weights" in usual(name, 2).get_params() and (name not in NEEDS or find_spec(NEEDS[name]))
)
UNEQUAL = sorted(set(WEIGHTED) - {"negmm-wat-kmeans", "negmm-wat-gmm"})

GIVEN = np.array([1, 0.3, 3, 2, 0, 0.7])
SCALES = [2.0**-1020, 2.0**130, 2.0**1020]  # 0.3 and 3 times them have all their digits
ALIKE = [1e160, 1e308, 1e-310, 3.0]
MIXTURES = [[1e308, 1e-308, 1, 1, 1, 1], [1e308, 5e-324, 1, 1e30, 1e-30, 0], [1, 1e-30, 1e-60, 1e-100, 1e-200, 1e-300]]


@pytest.fixture(scope="module", params=[0.0, 0.2], ids=["complete", "missing"])
def labels(request):
    labels, _ = planted_labels(n=40, p=6, k=3, noise=0.3, missing=request.param, seed=2)
    labels[(labels < 0).all(axis=1)] = 0
    return labels


def fitted(name, labels, weights):
    model = few_starts(usual(name, 3, weights=weights))
    return (model.set_params(random_state=0) if "random_state" in model.get_params() else model).fit(labels)


def numbers(model):
    """Attributes that are numbers or arrays of them, but for losses in the unit of the weights."""
    of_losses = isinstance(model, KModesConsensus) or hasattr(model, "utility_") or hasattr(model, "splits_")
    losses = {"objective_", "utility_"} if of_losses else set()
    learned = {name: value for name, value in vars(model).items() if name.endswith("_") and name not in losses}
    return {name: value for name, value in learned.items() if isinstance(value, int | float | np.ndarray)}


# ---- The boundary ----


@pytest.mark.parametrize("given", [GIVEN, GIVEN * 1e39, GIVEN * 1e-310, GIVEN * 1e307, [1, 0.5], [5e-324, 1e-323]])
def test_units_are_exact(given):
    given = np.asarray(given)
    scaled, unit = check_weights(given, len(given), "the test"), weight_unit(given)
    assert np.frexp(unit)[0] == 0.5
    assert 0.5 < scaled.max() <= 1
    assert_array_equal(scaled * unit, given)


def test_largest_floats():
    scaled = check_weights([1.7e308, 1e308], 2, "the test")
    assert_array_equal(scaled, np.ldexp([1.7e308, 1e308], -1023))


@pytest.mark.parametrize("weight", ALIKE)
def test_equal_weights_are_none(weight):
    assert_array_equal(check_weights([weight, 0, weight], 3, "the test"), [1, 0, 1])
    assert weight_unit([weight, 0, weight]) == weight
    assert weight_unit(None) == 1


def test_no_weight_vanishes():
    scaled = check_weights([1, 1e-300, 0, 2 * LEAST_WEIGHT], 4, "the test")
    assert_array_equal(scaled, [1, LEAST_WEIGHT, 0, 2 * LEAST_WEIGHT])


@pytest.mark.parametrize(
    "bad",
    [
        [1, -1],
        [1, np.nan],
        [1, np.inf],
        [0, 0],
        [1],
        [[1, 1]],
        1.0,
        "ab",
        ["a", "b"],
        [[1], [1, 2]],
        [10**400, 1],
        [1j, 1],
    ],
)
def test_bad_weights(bad):
    rule = (
        "weights of KMeansConsensus must be (2 numbers ≥ 0, one per partition, not all 0|one number ≥ 0 per .*). Got "
    )
    with pytest.raises(ValueError, match=rule):
        make_consensus("km", 2, weights=bad).fit([[0, 0], [0, 1], [1, 1]])


# ---- Consensus ----


@pytest.mark.parametrize("scale", SCALES[::2])
@pytest.mark.parametrize("name", UNEQUAL)
def test_only_ratios_matter(name, scale, labels):
    plain, scaled = numbers(fitted(name, labels, GIVEN)), numbers(fitted(name, labels, GIVEN * scale))
    assert plain.keys() == scaled.keys() >= {"labels_", "confidence_"}
    for attribute in plain:
        assert_array_equal(scaled[attribute], plain[attribute], err_msg=attribute)


@pytest.mark.parametrize("weight", [1e308, 1e-310])
@pytest.mark.parametrize("name", WEIGHTED)
def test_equal_weights_change_nothing(name, weight, labels):
    plain, scaled = numbers(fitted(name, labels, None)), numbers(fitted(name, labels, np.full(6, weight)))
    for attribute in plain:
        assert_array_equal(scaled[attribute], plain[attribute], err_msg=attribute)


@pytest.mark.parametrize("weights", MIXTURES)
@pytest.mark.parametrize("name", UNEQUAL)
def test_mixtures(name, weights, labels):
    model = fitted(name, labels, weights)
    assert_array_equal(np.unique(model.labels_), np.arange(model.n_clusters_))
    assert np.isfinite(model.confidence_).all()


@pytest.mark.parametrize("name", ["km", "ecc", "h-km", "k-modes"])
def test_losses_are_in_the_weights_given(name, labels):
    plain, scaled = fitted(name, labels, GIVEN), fitted(name, labels, GIVEN * 2.0**130)
    assert scaled.objective_ == plain.objective_ * 2.0**130 > 0
    if name in ("km", "h-km"):
        assert plain.objective_ == pytest.approx(metrics.kmeans_loss(labels, plain.labels_, weights=GIVEN))
    if hasattr(plain, "utility_"):
        assert scaled.utility_ == plain.utility_ * 2.0**130
    for one, other in zip(getattr(plain, "splits_", []), getattr(scaled, "splits_", []), strict=True):
        assert other.loss == one.loss * 2.0**130
        assert other.loss_after == one.loss_after * 2.0**130
        assert other.gain == one.gain
    assert fitted(name, labels, np.full(6, 1e308)).objective_ == np.inf


def test_loss_of_spectral_clustering_has_no_unit(labels):
    plain, scaled = fitted("sec", labels, GIVEN), fitted("sec", labels, GIVEN * 2.0**130)
    assert scaled.objective_ == plain.objective_
    assert scaled.normalized_association_ == plain.normalized_association_


# ---- Metrics ----

CLUSTERING = np.arange(40) % 3
METRICS = {
    "density": lambda labels, w: metrics.density(labels, CLUSTERING, weights=w),
    "cluster_density": lambda labels, w: metrics.cluster_density(labels, CLUSTERING, weights=w),
    "ensemble_nmi": lambda labels, w: metrics.ensemble_nmi(labels, CLUSTERING, weights=w),
    "ensemble_ari": lambda labels, w: metrics.ensemble_ari(labels, CLUSTERING, weights=w),
    "baselines": lambda labels, w: metrics.ensemble_baselines(labels, weights=w),
    "baselines_density": lambda labels, w: metrics.ensemble_baselines(labels, "density", weights=w),
    "mm_index": lambda labels, w: metrics.mm_index(labels, CLUSTERING, weights=w),
    "coassociation": lambda labels, w: metrics.coassociation(labels, weights=w),
}


@pytest.mark.filterwarnings("ignore:No partition labels both")
@pytest.mark.parametrize("metric", METRICS)
def test_metrics(metric, labels):
    of = METRICS[metric]
    for scale in SCALES:
        assert_array_equal(of(labels, GIVEN * scale), of(labels, GIVEN))
    for weight in ALIKE:
        assert_array_equal(of(labels, np.full(6, weight)), of(labels, None))
    for weights in MIXTURES:
        assert np.isfinite(of(labels, weights)).all()


def test_kmeans_loss(labels):
    loss = metrics.kmeans_loss(labels, CLUSTERING, weights=GIVEN)
    assert metrics.kmeans_loss(labels, CLUSTERING, weights=GIVEN * 2.0**130) == loss * 2.0**130
    assert metrics.kmeans_loss(labels, CLUSTERING, weights=[3] * 6) == 3 * metrics.kmeans_loss(labels, CLUSTERING)
