"""The k-means methods: ``predict`` of the rows of ``fit`` is ``labels_``, ties and filled clusters included.

Of all methods: partitions are found by their names.
"""

from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
from limits import limit
from numpy.testing import assert_array_equal
from representatives import first_of, of_families
from strategies import random_labels, usual

from ensemblage import METHODS, Ensemble, load, make_consensus
from ensemblage.consensus import (
    BisectingKMeansConsensus,
    CumulativeVoting,
    EvidenceAccumulation,
    KMeansConsensus,
    SpectralEnsembleClustering,
)

MODELS = {
    "km": lambda k, **given: make_consensus("km", k, **given),
    "ecc": lambda k, **given: make_consensus("ecc", k, **given),
    "qmi": lambda k, **given: make_consensus("qmi", k, **given),
    "sec": lambda k, **given: make_consensus("sec", k, **given),
    "h-km": lambda k, **given: make_consensus("h-km", k, **given),
}
for utility in ("category", "entropy", "cosine", "lp"):
    for normalized in (False, True):
        MODELS[f"kcc {utility} {normalized}"] = lambda k, utility=utility, normalized=normalized, **given: (
            KMeansConsensus(k, utility=utility, normalize=normalized, **given)
        )

# Few labels and many gaps: rows tie, and some are at distance 0 from several centroids.
ENSEMBLES = [
    random_labels(n, p, k, missing, seed)
    for seed, (n, p, k, missing) in enumerate(
        (n, p, k, missing)
        for n in (6, 12, 30)
        for p in (2, 3, 5)
        for k in (2, 3)
        for missing in (0.0, 0.2, 0.5)
        for _ in range(3)
    )
]


@pytest.mark.core(1)
@pytest.mark.filterwarnings("ignore:Only .* clusters were made")
@pytest.mark.parametrize("half", first_of([0, 1]))
@pytest.mark.parametrize("name", of_families(MODELS))
def test_tie_heavy_ensembles(name, half):
    weights = np.random.default_rng(0).choice([0.1, 0.3, 1, 2], size=5)
    for seed, labels in enumerate(ENSEMBLES):
        if seed // 2 % 2 != half:
            continue
        m = len(np.unique(labels[(labels >= 0).any(axis=1)], axis=0))
        given = {"init": ["k-means++", "random"][seed % 2], "max_iter": [1, 2, 100][seed % 3], "tol": 0.1 * (seed % 5)}
        if seed % 4 == 0:
            given["weights"] = weights[: labels.shape[1]]
        for k in {2, min(4, m), m}:
            model = MODELS[name](k, n_init=2, random_state=seed, **given).fit(labels)
            predicted = model.predict(labels)
            assert predicted.dtype == model.labels_.dtype == np.int32
            assert_array_equal(predicted, model.labels_)
            assert_array_equal(np.unique(model.labels_[model.labels_ >= 0]), np.arange(model.n_clusters_))


def test_new_rows_of_a_single_cluster():
    found = EvidenceAccumulation(1).fit([[0, 0], [1, 0], [1, 1]]).assign([[0, 1], [None, 0], [None, None]])
    assert found.labels.tolist() == [0, 0, -1]
    assert found.runner_up.tolist() == [-1, -1, -1]


def test_clusters_of_one_size_are_numbered_by_their_first_rows():
    """Rows of clusters 2, 0, 1 and 0; all three have two objects."""
    labels = np.array([[0, 2, 2], [1, 0, 0], [2, 1, 1], [3, 0, 0]])[[2, 0, 3, 0, 1, 2]]
    assert_array_equal(EvidenceAccumulation(3).fit(labels).labels_, [2, 0, 1, 0, 1, 2])
    for start in ([0, 1, 2, 1, 2, 0], [1, 2, 0, 2, 0, 1], [2, 0, 1, 0, 1, 2]):
        assert_array_equal(KMeansConsensus(3, init=start).fit(labels).labels_, [2, 0, 1, 0, 1, 2])


def test_a_filled_cluster_in_a_tie():
    """All rows are at distance 0 from all centroids: what is known of them is the same."""
    labels = [[0, None], [None, 1], [0, 1], [0, 1]]
    for model in (KMeansConsensus(3, random_state=0), KMeansConsensus(3, utility="entropy", random_state=0)):
        model.fit(labels)
        assert model.n_clusters_ == 3
        assert_array_equal(model.predict(labels), model.labels_)


@pytest.mark.filterwarnings("ignore:Only .* clusters were made")
@pytest.mark.parametrize("model", [KMeansConsensus, SpectralEnsembleClustering, BisectingKMeansConsensus])
def test_unlabelled_rows_and_blocks(model, monkeypatch):
    limit(monkeypatch, "rows of a block", 7)
    labels = random_labels(60, 3, 2, 0.4, seed=3)
    labels[5] = -1
    k = len(Ensemble(labels).distinct.counts) - 1
    fitted = model(k, random_state=0).fit(labels)
    assert fitted.labels_[5] == -1
    assert_array_equal(fitted.predict(labels), fitted.labels_)


# -- Names -------------------------------------------------------------------------------------------------------------

LABELS = np.array([[0, 5, 1], [0, 5, 1], [0, 6, 1], [1, 6, 2], [1, 7, 2], [1, 7, 2], [0, 5, 2]])
FITTED = {"ensemble": Ensemble(LABELS, names=["a", "b", "c"]), "frame": pd.DataFrame(LABELS, columns=["a", "b", "c"])}
WAYS = ["predict", "assign", "membership", "predict_proba"]


def asked(model, way, X):
    found = getattr(model, way)(X)
    return found.labels if way == "assign" else found


@pytest.mark.core(3)
@pytest.mark.filterwarnings("ignore:Only .* clusters were made")
@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("fitted", FITTED)
def test_partitions_are_found_by_their_names(name, fitted):
    """Of ensembles and frames, in any order and among others: without a warning."""
    fields = METHODS[name].estimator.__dataclass_fields__
    given = {key: value for key, value in {"random_state": 0, "weights": [1, 0, 2]}.items() if key in fields}
    model = usual(name, 2, **given).fit(FITTED[fitted])
    frame = pd.DataFrame(LABELS, columns=["a", "b", "c"])
    others = frame.assign(who=[f"person {i}" for i in range(len(frame))], b2=frame["b"][::-1].to_numpy())
    for way in filter(partial(hasattr, model), WAYS):
        expected = asked(model, way, FITTED[fitted])
        for X in (
            *(frame, frame[["c", "a", "b"]], others[["b2", "c", "b", "who", "a"]]),
            *(pl.DataFrame(frame[["b", "c", "a"]].to_dict("list")), Ensemble(frame), Ensemble(frame[["c", "b", "a"]])),
        ):
            assert_array_equal(asked(model, way, X), expected)
        for X in (frame[["c", "a"]], Ensemble(frame[["c", "a"]]), frame.rename(columns={"b": "B"})):
            with pytest.raises(
                ValueError, match=rf"the 3 partitions of {type(model).__name__}, .* none named 'b'\."
            ) as e:
                asked(model, way, X)
            assert "\n" not in str(e.value)


def test_what_has_only_numbers_goes_by_position():
    named = KMeansConsensus(2, random_state=0).fit(FITTED["ensemble"])
    plain = KMeansConsensus(2, random_state=0).fit(LABELS)
    for model in (named, plain):
        for X in (LABELS, LABELS.tolist(), Ensemble(LABELS)):
            assert_array_equal(model.predict(X), model.labels_)
        for X in (LABELS[:, :2], Ensemble(LABELS[:, :2])):
            with pytest.raises(ValueError, match="X has 2 features, but KMeansConsensus is expecting 3"):
                model.predict(X)
    assert_array_equal(named.predict(pd.DataFrame(LABELS).to_numpy()), named.labels_)
    assert_array_equal(plain.predict(Ensemble(LABELS).select([2, 0, 1])), plain.labels_)
    assert_array_equal(plain.predict(pd.DataFrame(LABELS)[[1, 2, 0]].to_numpy()[:, [2, 0, 1]]), plain.labels_)
    with pytest.warns(UserWarning, match="was fitted without feature names"):
        assert_array_equal(plain.predict(FITTED["frame"]), plain.labels_)


def test_memberships_are_found_by_their_names():
    blocks = [[[0.9, 0.1], [0.8, 0.2], [0.1, 0.9]], [[0.2, 0.8], [0.3, 0.7], [1, 0]], [[1, 0], [1, 0], [0.5, 0.5]]]
    soft = Ensemble.from_memberships(blocks, names=["a", "b", "c"])
    model = CumulativeVoting(2).fit(soft)
    assert_array_equal(model.predict_proba(soft.select([2, 0, 1])), model.predict_proba(soft))
    with pytest.raises(ValueError, match="none named 'b'"):
        model.predict(soft.select(["a", "c"]))


def test_many_names_that_are_not_there():
    labels = np.tile(LABELS, 4)
    model = KMeansConsensus(2, random_state=0).fit(Ensemble(labels, names=[f"p{j}" for j in range(12)]))
    with pytest.raises(ValueError, match=r"none named 'p1', 'p2', 'p3', 'p4', 'p5' or 6 more\. Rename the columns"):
        model.predict(Ensemble(labels[:, :1], names=["p0"]))


def test_codes_are_found_by_their_names():
    ensemble = FITTED["ensemble"]
    assert_array_equal(ensemble.encode(ensemble.select([1, 2, 0])), ensemble.codes)
    with pytest.raises(ValueError, match=r"the 3 partitions of the ensemble, .* none named 'b'"):
        ensemble.encode(FITTED["frame"][["a", "c"]])


def test_names_are_saved(tmp_path):
    model = KMeansConsensus(2, random_state=0).fit(FITTED["ensemble"])
    model.save(tmp_path / "model.npz")
    again = load(tmp_path / "model.npz")
    assert_array_equal(again.predict(FITTED["ensemble"].select([2, 0, 1])), model.labels_)
    del again._names  # as an earlier version wrote it
    assert_array_equal(again.predict(FITTED["ensemble"]), model.labels_)
