"""`sample_weight`: an object of weight w counts as w objects, to the bit."""

from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest
from former import is_former
from limits import limit
from numpy.testing import assert_array_equal
from representatives import first_of, of_families
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from strategies import few_starts, planted_labels, random_labels, usual, with_equal_rows

from ensemblage import METHODS, Ensemble
from ensemblage.consensus import (
    CSPA,
    HBGF,
    MCLA,
    PTA,
    BipartiteVoting,
    BisectingKMeansConsensus,
    CumulativeVoting,
    EvidenceAccumulation,
    KMeansConsensus,
    MajorityVoting,
    NegMM,
    SpectralEnsembleClustering,
)
from ensemblage.ranking import AverageAgreement, SelectPartitions

NEEDS = {"cspa": "pymetis", "mcla": "pymetis", "hgpa": "mtkahypar"}
MODELS = {
    **{name: few_starts(usual(name, 3)) for name in METHODS if name not in NEEDS or find_spec(NEEDS[name])},
    "km, refined": KMeansConsensus(3, refine="density", init="random", n_init=3),
    "cosine": KMeansConsensus(3, utility="cosine", normalize=True),
    "h-km, its own k": BisectingKMeansConsensus(split_rule="gain"),
    "sec, weights": SpectralEnsembleClustering(3, weights=[1, 2, 0, 1, 1, 3, 1]),
    "acv, its own k": CumulativeVoting(order="divergence"),
    "acv, aib": CumulativeVoting(2, linkage="aib", voting="fixed"),
    "bv, its own k": BipartiteVoting(n_init=3),
    "majority, its own k": MajorityVoting(),
    "eac, its own k": EvidenceAccumulation(),
    "eac, threshold": EvidenceAccumulation(3, linkage="average", association_threshold="kmeans"),
    "eac, complete, threshold": EvidenceAccumulation(3, linkage="complete", association_threshold="gmm"),
    "eac, ecpcs": EvidenceAccumulation(3, similarity="ecpcs"),
    "eac, cts, single": EvidenceAccumulation(3, similarity="cts", linkage="single"),
    "eac, weights": EvidenceAccumulation(3, weights=[1, 2, 0, 1, 1, 3, 1], linkage="complete"),
    "negmm, weights": NegMM(3, weights=[1, 2, 0, 1, 1, 3, 1]),
    "cspa, spectral": CSPA(3, partitioner="spectral", distinct=False, n_neighbors=5),
    "mcla, spectral": MCLA(3, partitioner="spectral"),
    "hbgf": HBGF(3),
}
if find_spec("pymetis"):
    MODELS |= {
        "hbgf, metis": HBGF(3, partitioner="metis"),
        "cspa, threshold": CSPA(3, association_threshold="kmeans", n_neighbors=10),
    }
OF_OBJECTS = {"labels_", "confidence_", "runner_up_", "cohesion_", "aggregate_", "membership_"}
NOT_OF_ROWS = {"linkage_matrix_"}
"""Over the objects where the method makes a hierarchy of them: `test_hierarchy_of_the_objects`."""


def seeded(name):
    model = clone(MODELS[name])
    return model.set_params(random_state=0) if "random_state" in model.get_params() else model


def matrix(kind):
    """85 rows of 7 labels, some of them equal."""
    if kind == "random":
        return random_labels(n=85, p=7, k=3, seed=4)
    rows, _ = planted_labels(n=60, p=7, k=4, noise=0.2, missing=0.3 if kind == "missing" else 0.0, seed=2)
    labels = with_equal_rows(rows, 85, seed=3)
    if kind == "missing":
        labels[5] = -1
    if kind == "few":
        labels[labels[:, 0] == labels[9, 0], 0] = 77  # a label that only objects of weight 0 have, below
    return labels


def weights_of(kind, labels):
    random = np.random.default_rng(1)
    if kind == "zeros":
        w = random.integers(0, 4, len(labels))
        w[labels[:, 0] == labels[9, 0]] = 0
        return w
    return random.integers(1, 4, len(labels)) if kind == "small" else np.full(len(labels), 2)


def learned(model):
    """What was learned and does not have an entry per object."""
    names = {name for name in {*vars(model), *dir(type(model))} if name.endswith("_") and not name.startswith("_")}
    names -= OF_OBJECTS | {"candidates_"} | {name for name in names if is_former(model, name)}
    if isinstance(model, EvidenceAccumulation | PTA):
        names -= NOT_OF_ROWS
    return {name: getattr(model, name) for name in names if hasattr(model, name)}


def assert_same(found, expected, name=""):
    if isinstance(expected, list | tuple):
        assert len(found) == len(expected), name
        for a, b in zip(found, expected, strict=True):
            assert_same(a, b, name)
    elif isinstance(expected, dict):
        assert found.keys() == expected.keys(), name
        assert_same(list(found.values()), list(expected.values()), name)
    else:
        assert_array_equal(found, expected, err_msg=name)


def assert_equals_repeated(model, labels, w, weighted=None):
    """The fit of ``labels`` with weights is that of the repeated rows; the weighted model."""
    repeated = clone(model).fit(np.repeat(labels, w, axis=0))
    weighted = (clone(model) if weighted is None else weighted).fit(labels, sample_weight=w)
    first = (np.cumsum(w) - w)[w > 0]
    for name in OF_OBJECTS:
        if hasattr(repeated, name):
            assert_array_equal(getattr(weighted, name)[w > 0], getattr(repeated, name)[first], err_msg=name)
    expected, found = learned(repeated), learned(weighted)
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        assert_same(found[name], value, name)
    return weighted, repeated


@pytest.mark.parametrize(
    ("of_weights", "kind"),
    first_of(
        [("zeros", "complete"), ("small", "missing"), ("twos", "random"), ("zeros", "missing"), ("small", "complete"),
         ("twos", "complete"), ("twos", "missing"), ("small", "random"), ("zeros", "random")], 2
    ),
)  # fmt: skip
@pytest.mark.parametrize("name", MODELS)
def test_as_repeated_rows(name, of_weights, kind):
    labels = matrix(kind)
    assert_equals_repeated(seeded(name), labels, weights_of(of_weights, labels))


@pytest.mark.parametrize("name", ["acv", "acv, its own k", "bv", "majority", "majority, its own k", "mcla, spectral"])
@pytest.mark.parametrize("seed", range(6))
def test_ties_by_the_first_objects(name, seed):
    """In a symmetric ensemble the places of the objects decide: those in the repeated rows."""
    square = np.array(
        [[0, 0, 0], [0, 1, 1], [0, 2, 2], [1, 0, 1], [1, 1, 2], [1, 2, 0], [2, 0, 2], [2, 1, 0], [2, 2, 1]]
    )
    random = np.random.default_rng(seed)
    labels = random.permutation(square)
    labels = np.vstack([labels, labels[:4]])
    w = np.where(np.arange(13) < 4, random.integers(0, 3, 13), 2)
    w[9:] = 2 - w[:4]  # two of each row
    assert_equals_repeated(seeded(name), labels, w)


@pytest.mark.parametrize("init", ["given", "given with a gap"])
@pytest.mark.parametrize("estimator", [KMeansConsensus, SpectralEnsembleClustering])
def test_a_clustering_to_start_from(estimator, init):
    labels = matrix("missing")
    w, clusters = weights_of("zeros", labels), np.arange(len(labels)) % 3
    if init == "given with a gap":
        clusters[np.flatnonzero(w == 0)[:2]] = 7  # a cluster of objects of weight 0 is none
    weighted = estimator(3, init=clusters, max_iter=2).fit(labels, sample_weight=w)
    repeated = estimator(3, init=np.repeat(clusters, w), max_iter=2).fit(np.repeat(labels, w, axis=0))
    assert_array_equal(weighted.labels_[w > 0], repeated.labels_[(np.cumsum(w) - w)[w > 0]])
    assert weighted.objective_ == repeated.objective_


@pytest.mark.parametrize("linkage", ["single", "average", "complete"])
def test_hierarchy_of_the_objects(linkage):
    labels = matrix("missing")
    w = weights_of("zeros", labels)
    weighted, repeated = assert_equals_repeated(EvidenceAccumulation(3, linkage=linkage), labels, w)
    tree, of_repeated = weighted.linkage_matrix_, repeated.linkage_matrix_
    assert tree.shape == (len(labels) - 1, 4)
    assert tree[-1, 3] == len(labels)
    assert (np.diff(tree[:, 2]) >= 0).all()
    counted = {tuple(row) for row, weight in zip(labels, w, strict=True) if weight and (row >= 0).any()}
    m = len(counted)
    n_without = sum(tuple(row) not in counted for row in labels)
    n_repeated_without = sum(tuple(row) not in counted for row in np.repeat(labels, w, axis=0))
    heights = tree[len(tree) - n_without - (m - 1) : len(tree) - n_without, 2]
    end = len(of_repeated) - n_repeated_without
    assert_array_equal(heights, of_repeated[end - (m - 1) : end, 2])
    assert (tree[len(tree) - n_without :, 2] == 1).all()


@pytest.mark.parametrize("threshold", [None, 0.1])
@pytest.mark.parametrize("complete", [True, False])
def test_heights_of_many_equal_objects(complete, threshold):
    """A thousand times the objects: sums of pairs beyond 32 bits, the same means of them."""
    labels = np.array([[0, 0, 0, 0], [0, 1, 0, 0], [1, 0, 2, 0], [1, 0, 0, 0], [1, 2, 0, 2]])
    if not complete:
        labels[4, 3] = -1
    counts = np.array([43, 1, 1, 42, 1])
    model = EvidenceAccumulation(2, association_threshold=threshold)
    few, many = (clone(model).fit(labels, sample_weight=c * counts) for c in (1, 1_000))
    np.testing.assert_allclose(many.linkage_matrix_[:, 2], few.linkage_matrix_[:, 2], rtol=1e-12)


@pytest.mark.parametrize("name", MODELS)
def test_objects_of_weight_0(name):
    labels = matrix("few")
    equal = np.flatnonzero(labels[:, 0] != 77)[20]
    labels[3], labels[11] = labels[equal], -1
    w = np.ones(len(labels), dtype=int)
    w[[3, 9, 11]] = 0
    w[labels[:, 0] == 77] = 0
    model = seeded(name).fit(labels, sample_weight=w)
    assert model.labels_[3] == model.labels_[equal]
    assert model.confidence_[3] == model.confidence_[equal]
    assert model.labels_[11] == -1
    votes = labels if model.weights is None else labels[:, np.array(model.weights) > 0]
    counted = {tuple(row) for row in votes[w > 0]}
    left = np.flatnonzero([tuple(row) not in counted for row in votes])
    assert len(left) > 3
    assert np.isnan(model.confidence_[left]).all()
    if hasattr(model, "predict"):
        with pytest.warns(UserWarning, match="not seen in fit"):
            assert_array_equal(model.labels_[left], model.predict(labels[left]))
        assert (model.labels_[np.setdiff1d(left, 11)] >= 0).all()
    else:
        assert (model.labels_[left] == -1).all()


def test_no_warning_for_objects_of_weight_0(recwarn):
    labels, w = matrix("few"), weights_of("zeros", matrix("few"))
    KMeansConsensus(3, random_state=0).fit(labels, sample_weight=w)
    assert not recwarn


def test_a_partition_that_labels_only_objects_of_weight_0_is_left_out():
    labels = matrix("complete")
    labels[10:, 2] = -1
    w = np.where(np.arange(len(labels)) < 10, 0, 2)
    weighted = KMeansConsensus(3, random_state=0).fit(labels, sample_weight=w)
    repeated = KMeansConsensus(3, random_state=0).fit(np.repeat(np.delete(labels, 2, axis=1), w, axis=0))
    assert_array_equal(weighted.labels_[10:], repeated.labels_[::2])
    assert weighted.objective_ == repeated.objective_


@pytest.mark.parametrize("name", sorted(METHODS))
def test_on_disk(name, tmp_path):
    if name not in MODELS:
        pytest.skip("its partitioner is not installed")
    labels = matrix("missing")
    w = weights_of("zeros", labels)
    np.save(tmp_path / "labels.npy", labels)
    assert_same_model(name, Ensemble.open(tmp_path / "labels.npy"), labels, w)


def assert_same_model(name, ensemble, labels, w):
    here, there = seeded(name).fit(labels, sample_weight=w), seeded(name).fit(ensemble, sample_weight=w)
    assert_same(learned(there), learned(here))
    for attribute in ("labels_", "confidence_"):
        assert_array_equal(getattr(there, attribute), getattr(here, attribute))


@pytest.mark.core(3)
@pytest.mark.parametrize("rows_in_memory", [True, False])
@pytest.mark.parametrize("name", ["km", "h-km", "ecc", "sec", "acv", "bv", "majority", "mcla, spectral"])
def test_rows_that_stay_on_disk(name, rows_in_memory, tmp_path, monkeypatch):
    """The same where the distinct rows are not brought into memory either, block by block."""
    from ensemblage.labels import disk

    limit(monkeypatch, "rows of a block", 16)
    if not rows_in_memory:
        monkeypatch.setattr(disk, "small_in_memory", lambda rows, room: rows)
    labels = matrix("missing")
    np.save(tmp_path / "labels.npy", labels)
    assert_same_model(name, Ensemble.open(tmp_path / "labels.npy"), labels, weights_of("zeros", labels))


@pytest.mark.parametrize("name", ["km", "h-km", "acv", "majority", "eac-average", "hbgf"])
def test_threads_and_kinds_of_weights(name):
    labels = matrix("missing")
    w = weights_of("zeros", labels)
    model = seeded(name).fit(labels, sample_weight=w)
    same = [w.tolist(), w.astype(float), w.astype(np.uint8), pd.Series(w, index=np.arange(len(w))[::-1])]
    for given in same:
        assert_array_equal(seeded(name).fit(labels, sample_weight=given).confidence_, model.confidence_)
    for n_jobs in (1, 2, 3):
        other = seeded(name).set_params(n_jobs=n_jobs).fit(labels, sample_weight=w)
        assert_same(learned(other), learned(model))
        assert_array_equal(other.labels_, model.labels_)


@pytest.mark.core(3)
@pytest.mark.parametrize("name", MODELS)
def test_ones_are_no_weights(name):
    labels = matrix("missing")
    weighted = seeded(name).fit(labels, sample_weight=np.ones(len(labels)))
    assert_array_equal(weighted.labels_, seeded(name).fit(labels).labels_)


def test_a_second_fit_forgets_the_weights():
    labels, w = matrix("missing"), weights_of("zeros", matrix("missing"))
    model = clone(MODELS["acv"]).fit(labels, sample_weight=w).fit(labels)
    assert_array_equal(model.membership_, clone(MODELS["acv"]).fit(labels).membership_)


def test_an_ensemble_keeps_its_own_counts():
    ensemble = Ensemble(matrix("few"))
    before = ensemble.distinct.counts.copy()
    KMeansConsensus(3, random_state=0).fit(ensemble, sample_weight=weights_of("zeros", matrix("few")))
    assert_array_equal(ensemble.distinct.counts, before)


def test_in_a_pipeline():
    labels, w = matrix("missing"), weights_of("small", matrix("missing"))
    pipeline = make_pipeline(SelectPartitions(AverageAgreement(), 4), KMeansConsensus(3, random_state=0))
    found = pipeline.fit_predict(labels, kmeansconsensus__sample_weight=w)
    chosen = pipeline[0].transform(labels)
    expected = KMeansConsensus(3, random_state=0).fit(chosen, sample_weight=w)
    assert_array_equal(found, expected.labels_)
    assert_array_equal(expected.labels_, KMeansConsensus(3, random_state=0).fit_predict(chosen, sample_weight=w))


def test_coarser_clusterings_of_the_tree():
    labels = matrix("complete")
    w = np.where(labels[:, 1] == labels[4, 1], 9, 1)  # few rows, most of the objects
    model, first = BisectingKMeansConsensus(5, random_state=0), (np.cumsum(w) - w)[w > 0]
    weighted, repeated = assert_equals_repeated(model, labels, w)
    for k in range(1, 6):
        assert_array_equal(weighted.labels_at(k)[w > 0], repeated.labels_at(k)[first])
        assert (np.diff(np.bincount(weighted.labels_at(k), weights=w)) <= 0).all()


@pytest.mark.filterwarnings("ignore:Only .* clusters were made")
@pytest.mark.parametrize("name", of_families(MODELS))
def test_the_largest_total(name):
    """Counts of objects, and of pairs of them, hold the largest sum that is allowed."""
    labels = matrix("missing")
    w = np.full(len(labels), 2**31 // len(labels) - 1)
    w[:3] += 2**31 - 1 - w.sum() - np.array([2, 1, 0]) * 1000  # the sum is below
    w[:3] -= (w.sum() - (2**31 - 1)) // 3 + 1
    assert 2**31 - 10**7 < w.sum() < 2**31
    model = seeded(name).fit(labels, sample_weight=w)
    known = model.labels_ >= 0
    assert known.sum() == len(labels) - 1
    assert ((model.confidence_[known] >= 0) & (model.confidence_[known] <= 1)).all()
    for name, value in learned(model).items():
        if name not in ("losses_", "meta_clusters_", "linkage_matrix_", "lifetimes_") and np.isscalar(value):
            assert np.isfinite(value), name


REFUSED = {
    "negative": ([1, -1, 1, 1], "Got -1. Multiply"),
    "half": ([1, 0.5, 1, 1], "Got 0.5. Multiply"),
    "nan": ([1, np.nan, 1, 1], "Got nan"),
    "infinite": ([1, np.inf, 1, 1], "Got inf"),
    "zeros": ([0, 0, 0, 0], "Got nothing but 0"),
    "too many": ([2**31, 0, 0, 0], "Got a sum of 2147483648. Divide"),
    "too short": ([1, 1, 1], r"Got shape \(3,\)"),
    "one number": (2, r"Got shape \(\)"),
    "text": (["a", "b", "c", "d"], "Got \\['a'"),
}


@pytest.mark.parametrize("case", REFUSED)
@pytest.mark.parametrize("name", ["km", "eac-average", "majority"])
def test_refused(name, case):
    given, message = REFUSED[case]
    with pytest.raises(ValueError, match=rf"^sample_weight of X must be whole numbers ≥ 0, .*{message}"):
        clone(MODELS[name]).fit([[0, 0], [0, 0], [1, 1], [2, 1]], sample_weight=given)


@pytest.mark.skipif(not find_spec("pymetis"), reason="pymetis is not installed")
@pytest.mark.parametrize("model", [CSPA(2, distinct=False), HBGF(2, partitioner="metis", distinct=False)])
def test_a_vertex_per_object_is_refused(model):
    with pytest.raises(ValueError, match=r"must have distinct=True, .* Got distinct=False.* np\.repeat"):
        model.fit(matrix("complete"), sample_weight=np.ones(85))


def test_only_unlabelled_objects_have_weight():
    labels = [[0, 0], [1, 1], [-1, -1]]
    with pytest.raises(ValueError, match="must label at least one object"):
        KMeansConsensus(1).fit(labels, sample_weight=[0, 0, 3])
