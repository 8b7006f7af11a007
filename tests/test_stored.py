"""Labels on disk: everything that works there gives the same bits as in memory."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import label_matrices, planted_labels, random_labels, twins

from ensemblage import AverageAgreement, Ensemble, make_consensus
from ensemblage._stored import _ensemble
from ensemblage._stored._distinct import distinct_rows_on_disk
from ensemblage.metrics import cluster_density, density, ensemble_ari, ensemble_baselines, ensemble_nmi, kmeans_loss


@pytest.fixture
def small_room(monkeypatch, small_blocks):
    """Little memory: blocks of few rows, distinct rows in many runs, and none of them small enough to be held."""
    real = distinct_rows_on_disk
    monkeypatch.setattr(_ensemble, "distinct_rows_on_disk", lambda *a, **kw: real(*a[:3], 23, **kw))
    monkeypatch.setattr(_ensemble, "HELD", 10**9)
    monkeypatch.setattr(_ensemble, "BATCH_ROWS", 13)


def stored(labels, folder, **options):
    path = folder / "labels.npy"
    np.save(path, labels)
    return Ensemble.open(path, **options)


def same_ensemble(found, expected):
    np.testing.assert_array_equal(found.codes[:], expected.codes)
    assert found.codes.dtype == expected.codes.dtype
    for a, b in zip(found.categories, expected.categories, strict=True):
        np.testing.assert_array_equal(a, b)
    for name in ("codes", "counts", "inverse"):
        a, b = getattr(found.distinct, name)[:], getattr(expected.distinct, name)
        np.testing.assert_array_equal(a, b)
        assert a.dtype == b.dtype


@pytest.mark.parametrize("dtype", ["i1", "i2", ">i4", "i8", "u1", "u8", "?"])
@pytest.mark.parametrize("order", "CF")
def test_any_integers_in_any_order(tmp_path, small_room, dtype, order):
    labels = np.maximum(random_labels(60, 4, 5, 0.2), 0 if dtype in ("u1", "u8", "?") else -1).astype(dtype)
    same_ensemble(stored(np.asarray(labels, order=order), tmp_path), Ensemble(labels))


@given(label_matrices(max_objects=40), st.integers(1, 50), st.integers(1, 4))
def test_distinct_rows_of_any_size_of_runs(tmp_path_factory, labels, rows_at_once, n_jobs):
    E = stored(labels, tmp_path_factory.mktemp("d"))
    found = distinct_rows_on_disk(E.codes, E.n_clusters + 1, E.scratch, rows_at_once, n_jobs)
    for a, b in zip(found, Ensemble(labels).distinct, strict=True):
        np.testing.assert_array_equal(a[:], b)


METRICS = {
    "density": lambda E, z: density(E, z),
    "density with weights": lambda E, z: density(E, z, weights=np.arange(1, E.shape[1] + 1)),
    "cluster_density": cluster_density,
    "kmeans_loss": kmeans_loss,
    "ensemble_nmi": ensemble_nmi,
    "ensemble_ari": ensemble_ari,
    "baselines nmi": lambda E, z: ensemble_baselines(E, "nmi"),
    "baselines density": lambda E, z: ensemble_baselines(E, "density"),
}


@pytest.mark.parametrize("metric", METRICS)
def test_metrics(tmp_path, small_room, missing, metric):
    labels, truth = planted_labels(150, 6, 4, 0.3, missing, seed=3)
    truth[:5] = -1
    E = stored(labels, tmp_path)
    assert not isinstance(E.distinct.codes, np.ndarray)
    np.testing.assert_array_equal(METRICS[metric](E, truth), METRICS[metric](Ensemble(labels), truth))


@pytest.mark.parametrize("measure", ["ari", "nmi"])
@pytest.mark.parametrize("cells", [2**22, 30, 1])
def test_average_agreement(tmp_path, small_room, monkeypatch, missing, measure, cells):
    monkeypatch.setattr("ensemblage.kernels._contingency.CELLS", cells)
    labels = random_labels(90, 6, 7, missing)
    found = AverageAgreement(measure).fit(stored(labels, tmp_path))
    expected = AverageAgreement(measure).fit(labels)
    np.testing.assert_array_equal(found.agreement_, expected.agreement_)
    np.testing.assert_array_equal(found.scores_, expected.scores_)


METHODS = {
    "km": {"random_state": 0, "n_init": 3},
    "km random": {"init": "random", "random_state": 1, "n_init": 3},
    "km normalized": {"normalized": True, "random_state": 1, "n_init": 2},
    "ecc": {"random_state": 2, "n_init": 3},
    "acv": {},
    "mcla": {"partitioner": "spectral", "random_state": 0},
    "majority": {},
    "sec": {"random_state": 0, "n_init": 2},
    "bv": {"random_state": 0},
    "h-km": {"random_state": 0},
}


@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize("name", METHODS)
def test_consensus(tmp_path, small_room, missing, name, n_jobs):
    labels = twins(planted_labels(150, 6, 4, 0.4, missing, seed=5)[0], 220)
    model = make_consensus(name.split()[0], 4, **METHODS[name])
    expected = make_consensus(name.split()[0], 4, **METHODS[name]).fit(labels)
    E = stored(labels, tmp_path)
    found = model.set_params(n_jobs=n_jobs).fit(E)
    assert not isinstance(E.distinct.codes, np.ndarray)
    for attribute in ("labels_", "confidence_"):
        a, b = getattr(found, attribute), getattr(expected, attribute)
        np.testing.assert_array_equal(a, b)
        assert a.dtype == b.dtype
    for attribute in ("objective_", "membership_", "linkage_matrix_"):
        if hasattr(expected, attribute):
            np.testing.assert_array_equal(getattr(found, attribute), getattr(expected, attribute))
    if hasattr(expected, "predict"):
        new = random_labels(70, 6, 4, missing, seed=9)
        np.testing.assert_array_equal(found.predict(stored(new, tmp_path)), expected.predict(new))
        np.testing.assert_array_equal(found.predict(E), expected.predict(labels))


def test_few_clusters_at_a_time(tmp_path, small_room, monkeypatch, missing):
    monkeypatch.setattr("ensemblage.kernels._pairs.SMALL_TABLE", 0)
    monkeypatch.setattr("ensemblage.kernels._pairs.LARGE_TABLE", 50)
    labels = random_labels(90, 5, 6, missing)
    z = np.arange(90) % 11 - 1
    assert density(stored(labels, tmp_path), z) == density(labels, z)
