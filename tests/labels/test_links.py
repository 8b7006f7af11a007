"""Pairs of objects that a consensus must join, or must not: against all partitions of few objects."""

import re
from itertools import combinations, product
from pathlib import Path

import naive
import numpy as np
import pytest
from inside import numbered_by_content
from numpy.testing import assert_allclose, assert_array_equal
from shell import call, fail, rows_of, succeed
from sklearn.metrics import adjusted_rand_score
from strategies import few_starts, planted_labels, random_labels, usual

from ensemblage import METHODS, ConsensusClustering, Ensemble, make_consensus
from ensemblage.consensus import EvidenceAccumulation, KMeansConsensus
from ensemblage.labels import links

KMEANS, EAC = ["km", "ecc", "k-modes"], ["eac-single", "eac-average", "eac-complete"]
VOTING = ["acv", "bv", "soft-euclidean", "hard-euclidean", "majority"]
BY_COMMON_LABELS = ["sec", "h-km", "lca", "hbgf", "cspa", "negmm", "ecpcs-mc"]


def method(name, k=None, **parameters):
    model = few_starts(usual(name, k, **parameters))
    return model.set_params(random_state=0) if "random_state" in model.get_params() else model


def few(seed, n=7, p=4, missing=0.0):
    """Labels of few objects, all of which are labelled, in which every partition has three clusters."""
    labels = random_labels(n, p, 3, missing, seed)
    labels[:3] = np.arange(3)[:, None]
    labels[:, 0] = np.maximum(labels[:, 0], 0)
    return labels


def pairs_of(seed, n=7, n_must=2, n_cannot=3):
    """Pairs that do not contradict each other."""
    random = np.random.default_rng(seed)
    must = [random.choice(n, 2, replace=False).tolist() for _ in range(n_must)]
    group = {i: g for g, objects in enumerate(naive.linked_groups(np.arange(n)[:, None], must)) for i in objects}
    drawn = [random.choice(n, 2, replace=False).tolist() for _ in range(n_cannot)]
    return must, [[i, j] for i, j in drawn if group[i] != group[j]]


@pytest.mark.core(3)
@pytest.mark.parametrize("name", [*KMEANS, *VOTING])
def test_pairs_are_kept_exactly_where_some_clustering_can(name):
    refused = 0
    for seed in range(40):
        labels, (must, cannot) = few(seed), pairs_of(seed, n_must=1, n_cannot=5)
        model = method(name, 2)
        if any(naive.keeps(z, must, cannot) for z in product(range(2), repeat=7)):
            assert naive.keeps(model.fit(labels, must_link=must, cannot_link=cannot).labels_, must, cannot)
        else:
            refused += 1
            with pytest.raises(
                ValueError,
                match=r"must be enough to keep the cannot_link objects apart: \d, .*\. Got 2\. Ask for more",
            ):
                model.fit(labels, must_link=must, cannot_link=cannot)
    assert 5 < refused < 35


@pytest.mark.core(1)
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_km_with_pairs_is_no_better_than_all_clusterings_and_mostly_as_good(missing):
    best = 0
    for seed in range(12):
        labels, (must, cannot) = few(seed, missing=missing), pairs_of(seed)
        allowed = [z for z in product(range(3), repeat=7) if len(set(z)) == 3 and naive.keeps(z, must, cannot)]
        least = min(naive.kmeans_loss(labels, np.array(z)) for z in allowed)
        model = KMeansConsensus(3, n_init=30, random_state=0).fit(labels, must_link=must, cannot_link=cannot)
        assert_allclose(model.objective_, naive.kmeans_loss(labels, model.labels_))
        assert model.objective_ >= least - 1e-9
        best += model.objective_ <= least + 1e-9
    assert best >= 10


def test_a_group_of_km_is_at_the_centre_with_the_least_summed_distance():
    for seed in range(10):
        labels, (must, _) = few(seed, n=8), pairs_of(seed, n=8, n_must=4)
        model = KMeansConsensus(3, n_init=5, random_state=0).fit(labels, must_link=must)
        distances = naive.kcc_distances(labels, model.labels_, "category")
        for group in naive.linked_groups(labels, must):
            summed = distances[group].sum(axis=0)
            if not np.isin(model.labels_[group[0]], np.setdiff1d(model.labels_, np.delete(model.labels_, group))):
                assert_allclose(summed[model.labels_[group[0]]], summed.min(), atol=1e-6)


@pytest.mark.core(3)
@pytest.mark.parametrize("name", EAC)
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_eac_merges_as_the_greedy_rule_says(name, missing):
    linkage = name.removeprefix("eac-")
    for seed in range(15):
        labels, (must, cannot) = few(seed, n=8, p=5, missing=missing), pairs_of(seed, n=8, n_cannot=2)
        weights = None if seed % 2 else np.arange(1, 6)
        merges = naive.constrained_merges(numbered_by_content(labels), must, cannot, linkage, weights)
        for clusters, _ in merges:
            model = method(name, len(clusters), weights=weights)
            found = model.fit(labels, must_link=must, cannot_link=cannot).labels_
            assert sorted(sorted(np.flatnonzero(found == c)) for c in np.unique(found)) == sorted(clusters)
        groups = naive.linked_groups(labels, must, cannot)
        heights = [0] * (8 - len(groups)) + [1 - similar for _, similar in merges]
        heights += [1] * (7 - len(heights))
        assert_allclose(model.linkage_matrix_[:, 2], heights, atol=1e-9)
        least = len(groups) - len(merges)
        if least > 1:
            with pytest.raises(ValueError, match=rf"must be ≥ the {least} clusters after which cannot_link forbids"):
                method(name, least - 1).fit(labels, must_link=must, cannot_link=cannot)
        assert naive.keeps(method(name).fit(labels, must_link=must, cannot_link=cannot).labels_, must, cannot)


@pytest.mark.parametrize("name", ["acv", "bv", "soft-euclidean"])
def test_voting_takes_the_best_column_of_the_summed_votes(name):
    labels = planted_labels(n=40, p=8, k=3, noise=0.4, seed=2)[0]
    must, cannot = [[0, 1], [1, 2], [5, 9]], [[0, 5], [20, 21]]
    model = method(name, 3).fit(labels, must_link=must, cannot_link=cannot)
    free = method(name, 3).fit(labels)
    votes = model.predict_proba(labels)
    assert_array_equal(np.sort(votes, axis=None), np.sort(free.predict_proba(labels), axis=None))
    for group, other in ([[0, 1, 2], [5, 9]], [[20], [21]]):
        first, second = votes[group].sum(axis=0), votes[other].sum(axis=0)
        places = {tuple(model.labels_[[group[0], other[0]]].tolist())}
        left = [c for c in range(3) if c != first.argmax()]
        right = [c for c in range(3) if c != second.argmax()]
        either = {
            (int(first.argmax()), max([second.argmax(), *left] if second.argmax() != first.argmax() else left,
                                      key=second.__getitem__)),
            (max([first.argmax(), *right] if second.argmax() != first.argmax() else right, key=first.__getitem__),
             int(second.argmax())),
        }  # fmt: skip
        assert places & either
    others = np.setdiff1d(np.arange(40), [0, 1, 2, 5, 9, 20, 21])
    assert_array_equal(model.labels_[others], votes[others].argmax(axis=1))


def test_majority_votes_are_summed():
    labels = np.array([[0] * 5, [0] * 5, [0] * 5, [1] * 5, [1] * 5, [1] * 5, [0, 0, 1, 1, 1]])
    free = method("majority", 2).fit(labels).labels_
    assert free[6] == free[3] != free[0]
    bound = method("majority", 2).fit(labels, must_link=[[6, 0]]).labels_
    assert bound[6] == bound[0] == bound[1] != bound[3]
    apart = method("majority", 2).fit(labels, cannot_link=[[6, 3]]).labels_
    assert apart[6] == apart[0] != apart[3]


@pytest.mark.parametrize("name", BY_COMMON_LABELS)
def test_other_methods_see_common_labels(name):
    labels = planted_labels(n=30, p=5, k=3, noise=0.3, seed=1)[0]
    common = labels.copy()
    for j in range(5):
        common[[0, 7, 8], j] = np.bincount(labels[[0, 7, 8], j]).argmax()
    if name == "cspa":
        pytest.importorskip("pymetis")
    model = method(name, 3)
    assert_array_equal(model.fit(labels, must_link=[[0, 7], [8, 7]]).labels_, method(name, 3).fit(common).labels_)
    with pytest.raises(ValueError, match=f"cannot_link of {type(model).__name__} must be None: .* Got 1 pair. Use K"):
        model.fit(labels, cannot_link=[[0, 1]])


def test_common_labels_count_weights_and_leave_missing_ones_out():
    labels = np.array([[0, -1], [1, -1], [1, 4], [2, 5], [2, 5], [0, 4]])
    weights = np.array([3, 1, 1, 1, 1, 1])
    heavy, light = ([[0, 4]] * 3, [[1, 4]] * 3)
    for given, common in ((weights, heavy), (None, light)):
        repaired = np.vstack([common, labels[3:]])
        model = method("h-km", 2).fit(labels, sample_weight=given, must_link=[[0, 1], [1, 2]])
        assert_array_equal(model.confidence_, method("h-km", 2).fit(repaired, sample_weight=given).confidence_)


@pytest.mark.parametrize("name", sorted(METHODS))
def test_every_method_keeps_groups_together(name):
    if name in ("hgpa", "mcla", "cspa"):
        pytest.importorskip("mtkahypar" if name == "hgpa" else "pymetis")
    labels = planted_labels(n=60, p=6, k=3, noise=0.25, missing=0.1, seed=3)[0]
    must = [[0, 1], [1, 2], [10, 30], [40, 41]]
    found = method(name, 3).fit(labels, must_link=must).labels_
    assert naive.keeps(found, must)
    assert (found[[0, 10, 40]] >= 0).all()


@pytest.mark.parametrize("name", [*KMEANS, *EAC, *VOTING])
def test_pairs_that_hold_anyway_change_nothing(name):
    labels = planted_labels(n=60, p=8, k=3, noise=0.1, seed=0)[0]
    labels[5] = labels[4]
    free = method(name, 3).fit(labels)
    other = int(np.flatnonzero(free.labels_ != free.labels_[4])[0])
    bound = method(name, 3).fit(labels, must_link=[[4, 5]], cannot_link=[[4, other]])
    assert_array_equal(bound.labels_, free.labels_)
    assert_allclose(bound.confidence_, free.confidence_)


@pytest.mark.parametrize("name", ["km", "eac-average", "acv", "bv"])
def test_weights_of_objects_are_repeated_objects_of_one_group(name):
    labels = planted_labels(n=30, p=6, k=3, noise=0.3, seed=4)[0]
    weights = np.random.default_rng(0).integers(1, 4, 30)
    first = np.cumsum(weights) - weights
    must, cannot = np.array([[0, 5], [5, 9]]), np.array([[1, 2], [0, 2]])
    same = [[f, f + i] for f, w in zip(first[[0, 5, 9, 1, 2]], weights[[0, 5, 9, 1, 2]], strict=True) for i in range(w)]
    repeated = method(name, 3).fit(
        np.repeat(labels, weights, axis=0),
        must_link=[*first[must].tolist(), *[pair for pair in same if pair[0] != pair[1]]],
        cannot_link=first[cannot],
    )
    model = method(name, 3).fit(labels, sample_weight=weights, must_link=must, cannot_link=cannot)
    assert_array_equal(model.labels_, repeated.labels_[first])
    assert_array_equal(model.confidence_, repeated.confidence_[first])


@pytest.mark.parametrize("name", ["km", "eac-average", "acv"])
def test_who_has_no_label_or_no_weight_gets_the_cluster_of_the_group(name):
    labels = planted_labels(n=30, p=6, k=3, noise=0.1, seed=4)[0]
    labels[0], labels[1] = -1, -1
    weights = np.ones(30, dtype=int)
    weights[7] = 0
    model = method(name, 3).fit(labels, sample_weight=weights, must_link=[[0, 5], [7, 9]], cannot_link=[[7, 5]])
    assert model.labels_[0] == model.labels_[5] != model.labels_[9] == model.labels_[7]
    assert model.labels_[1] == -1
    assert np.isnan(model.confidence_[[0, 1]]).all()


@pytest.mark.parametrize("name", ["km", "eac-complete", "acv"])
def test_neither_the_order_of_objects_nor_threads_matter(name):
    labels = planted_labels(n=80, p=10, k=4, noise=0.3, seed=5)[0]
    must, cannot = np.array([[0, 5], [5, 9], [20, 30]]), np.array([[1, 2], [0, 2], [2, 20], [1, 40]])
    place = np.random.default_rng(0).permutation(80)
    model = method(name, 4).fit(labels, must_link=must, cannot_link=cannot)
    moved = np.empty_like(labels)
    moved[place] = labels
    other = method(name, 4, n_jobs=2).fit(moved, must_link=place[must][:, ::-1], cannot_link=place[cannot][::-1])
    assert_array_equal(other.labels_[place], model.labels_)


def test_twins_may_be_kept_apart():
    labels = [[0, 0]] * 4 + [[1, 1]] * 4
    for name in ("km", "eac-average", "acv"):
        found = method(name, 2).fit(labels, cannot_link=[[0, 1]]).labels_
        assert found[0] != found[1]
        assert found[2] == found[3] == found[0]
        assert name == "eac-average" or found[2] != found[4]  # of equally similar clusters, the first ones merge


def test_eac_with_weights_of_clusters_and_thresholds():
    labels = planted_labels(n=40, p=8, k=3, noise=0.3, seed=6)[0]
    pairs = {"must_link": [[0, 1], [2, 9]], "cannot_link": [[0, 2]]}
    for parameters in ({"cluster_weights": "eci"}, {"association_threshold": 0.4}, {"similarity": "cts"}):
        model = EvidenceAccumulation(3, **parameters).fit(labels, **pairs)
        assert naive.keeps(model.labels_, pairs["must_link"], pairs["cannot_link"])
        assert (np.diff(model.linkage_matrix_[:, 2]) >= 0).all()
    strict = EvidenceAccumulation(3, association_threshold=0.4).fit(labels, **pairs)
    loose = EvidenceAccumulation(3).fit(labels, **pairs)
    assert (strict.linkage_matrix_[:, 2] > loose.linkage_matrix_[:, 2] + 1e-9).any()


def test_eac_of_single_objects():
    labels = random_labels(30, 5, 3, seed=1)
    labels[10:20] = labels[:10]
    pairs = {"must_link": [[0, 1], [2, 9]], "cannot_link": [[0, 10], [11, 2]]}
    found = EvidenceAccumulation(4, distinct=False).fit(labels, **pairs)
    assert naive.keeps(found.labels_, pairs["must_link"], pairs["cannot_link"])
    assert_allclose(found.linkage_matrix_[:, 2], EvidenceAccumulation(4).fit(labels, **pairs).linkage_matrix_[:, 2])


def test_memory_of_the_pairs_is_refused_before_it_is_taken():
    """Of 200 rows in 199 units: four matrices of the rows and three of the units."""
    labels, needed = random_labels(200, 8, 4), 2**22 + 8 * (4 * 200**2 + 3 * 199**2)
    told = rf"must fit into max_bytes .* Got {needed:,} bytes .* label rows with links\. Use KMeansConsensus"
    with pytest.raises(ValueError, match=told):
        EvidenceAccumulation(3, max_bytes=needed - 1).fit(labels, must_link=[[0, 1]])
    assert EvidenceAccumulation(3, max_bytes=needed).fit(labels, must_link=[[0, 1]]).n_clusters_ == 3


@pytest.mark.parametrize(
    ("name", "pairs", "message"),
    [
        (
            "km",
            {"must_link": [[0, 3], [3, 5]], "cannot_link": [[5, 0]]},
            r"must not contradict each other. Got the pair \(5, 0\), .* must_link joins: 5 – 3 – 0. Leave one",
        ),
        ("sec", {"must_link": [[0, 0]]}, r"must_link must be pairs of different objects.* Got the pair \(0, 0\)"),
        ("acv", {"cannot_link": [[0, 99]]}, "cannot_link must be pairs .* Got object 99"),
        ("km", {"cannot_link": [[0, 1], [1, 2], [0, 2]]}, "keep the cannot_link objects apart: 0, 1, 2. Got"),
    ],
)
def test_impossible_pairs_are_named(name, pairs, message):
    with pytest.raises(ValueError, match=message):
        method(name, 2).fit(few(0, n=8), **pairs)


def test_what_pairs_exclude():
    labels = few(0, n=8)
    with pytest.raises(ValueError, match="refine of KMeansConsensus must be None with must_link or cannot_link"):
        KMeansConsensus(2, refine="density").fit(labels, must_link=[[0, 1]])
    with pytest.raises(ValueError, match="CSPA must have distinct=True with must_link"):
        make_consensus("cspa", 2, distinct=False, partitioner="spectral").fit(labels, must_link=[[0, 1]])
    with pytest.raises(ValueError, match=r"must be ≤ the 2 groups of rows that must_link joins. Got 3"):
        KMeansConsensus(3).fit([[0, 0], [0, 1], [1, 1], [1, 2]], must_link=[[0, 1], [2, 3]])


def test_empty_pairs_are_none():
    labels = few(0, n=8)
    found = KMeansConsensus(2, random_state=0).fit(labels, must_link=[], cannot_link=np.empty((0, 2), dtype=int))
    assert_array_equal(found.labels_, KMeansConsensus(2, random_state=0).fit(labels).labels_)


def test_features(tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 3)) + np.repeat([[0], [6]], 30, axis=0)
    model = ConsensusClustering(2, quality="fast", random_state=0).fit(X, must_link=[[0, 59]], cannot_link=[[1, 2]])
    assert model.labels_[0] == model.labels_[59]
    assert model.labels_[1] != model.labels_[2]
    assert isinstance(model.ensemble_, Ensemble)
    model.save(tmp_path / "model.npz")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with labels of named objects and files of pairs."""
    monkeypatch.chdir(tmp_path)
    labels = planted_labels(n=40, p=8, k=3, noise=0.3, seed=1)[0]
    rows = [f"o{i}," + ",".join(map(str, row)) for i, row in enumerate(labels)]
    (tmp_path / "e.csv").write_text(
        "\n".join(["id," + ",".join(f"p{j}" for j in range(8)), *rows]) + "\n", encoding="utf-8"
    )
    (tmp_path / "must.csv").write_text("a,b\no0,o5\no5,o7\n", encoding="utf-8")
    (tmp_path / "cannot.csv").write_text("o0,o1\no1,o2\n", encoding="utf-8")
    (tmp_path / "against.csv").write_text("o7,o0\n", encoding="utf-8")
    X = np.random.default_rng(0).normal(size=(40, 2)) + np.repeat([[0], [9]], 20, axis=0)
    lines = [f"o{i},{a:.3f},{b:.3f}" for i, (a, b) in enumerate(X)]
    (tmp_path / "x.csv").write_text("\n".join(["id,a,b", *lines]) + "\n", encoding="utf-8")
    return labels


@pytest.mark.parametrize("method", ["km", "eac-average", "acv"])
def test_combine_in_the_shell(folder, method):
    pairs = ("--must-link", "must.csv", "--cannot-link", "cannot.csv")
    command = ("combine", "e.csv", "--id-column", "id", "-k", "3", "--method", method, "-o", "out")
    succeed(*command, *pairs)
    model = usual(method, 3)
    seed = {"random_state": 0} if "random_state" in model.get_params() else {}
    model.set_params(**seed).fit(folder, must_link=[[0, 5], [5, 7]], cannot_link=[[0, 1], [1, 2]])
    assert [int(row[1]) for row in rows_of("out/labels.csv")[1:]] == model.labels_.tolist()
    summary = Path("out/summary.json").read_text(encoding="utf-8")
    assert "2 pairs of must.csv" in summary
    assert "2 pairs of cannot.csv" in summary
    page = Path("out/report.html").read_text(encoding="utf-8")
    assert "2 pairs of must.csv" in page
    assert "Of objects, it kept 2 pairs together and 2 pairs apart, as was known before." in page
    assert "finished by an earlier run" in succeed(*command, *pairs).stderr
    assert "A folder must hold only one analysis" in fail(*command, *pairs[:2])


def test_run_in_the_shell(folder):
    options = ("-k", "2", "--quality", "fast", "--stability", "0")
    succeed("run", "x.csv", *options, "-o", "free")
    succeed("run", "x.csv", *options, "--must-link", "must.csv", "--cannot-link", "cannot.csv", "-o", "out")
    free, bound = ([int(row[1]) for row in rows_of(f"{name}/labels.csv")[1:]] for name in ("free", "out"))
    assert free[0] == free[1] == free[2]
    assert bound[0] == bound[5] == bound[7] == bound[2] != bound[1]


@pytest.mark.parametrize("command", [["run", "x.csv", "--quality", "fast"], ["combine", "e.csv", "--id-column", "id"]])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--must-link", "must.csv", "--cannot-link", "against.csv"], "must_link and cannot_link must not contradict"),
        (
            ["--cannot-link", "cannot.csv", "--method", "lca"],
            "--cannot-link must go with a method that can keep objects apart",
        ),
        (["--must-link", "must.csv", "--method", "all"], "--method all must go without pairs, .* Got --must-link"),
        (["--must-link", "x.csv"], "x.csv must name two objects of [ex].csv in every line"),
        (["--must-link", "none.csv"], "none.csv"),
    ],
)
def test_pairs_that_are_refused_in_the_shell(folder, command, options, message):
    error = fail(*command, "-k", "3", *options, "-o", "out")
    assert re.search(message, error)
    assert not list(Path("out").glob("*.csv"))


def test_labels_on_disk_take_no_pairs(folder):
    np.save("e.npy", folder)
    assert "--must-link is for tables that fit into memory" in fail(
        "combine", "e.npy", "-k", "3", "--must-link", "must.csv", "-o", "out.npy"
    )


@pytest.mark.parametrize("name", ["km", "eac-average", "acv", "sec"])
def test_a_pair_that_both_name_is_told_with_what_joins_it(name):
    with pytest.raises(ValueError, match=r"Got the pair \(0, 2\), .* must_link joins: 0 – 1 – 2\. Leave"):
        method(name, 2).fit(few(0), must_link=[[0, 1], [1, 2]], cannot_link=[[0, 2]])


@pytest.mark.parametrize("method", ["km", "eac-average", "acv"])
def test_the_shell_calls_objects_by_their_ids(folder, method):
    Path("ids.csv").write_text("id,p,q\n" + "".join(f"w{i},{i // 3},{i // 2}\n" for i in range(6)), encoding="utf-8")
    Path("joined.csv").write_text("w1,w4\n", encoding="utf-8")
    told = fail(
        *("combine", "ids.csv", "--id-column", "id", "-k", "2", "-o", "named"),
        *("--must-link", "joined.csv", "--cannot-link", "joined.csv"),
    )
    assert "Got the pair (w1, w4)" in told
    Path("apart.csv").write_text("w0,w1\nw1,w2\nw0,w2\n", encoding="utf-8")
    command = ("combine", "ids.csv", "--id-column", "id", "-k", "2", "--method", method, "-o", "named")
    assert "w0, w1, w2" in fail(*command, "--cannot-link", "apart.csv")


@pytest.mark.parametrize("name", ["km", "eac-average", "acv"])
def test_pairs_of_objects_without_weight_are_kept_too(name):
    labels = planted_labels(n=30, p=6, k=3, noise=0.1, seed=4)[0]
    weights = np.ones(30, dtype=int)
    weights[[0, 1, 2, 3, 6]] = 0  # by threes, objects are of the same true cluster
    pairs = {"must_link": [[0, 1]], "cannot_link": [[2, 5], [3, 6], [1, 2]]}
    free, model = (method(name, 3).fit(labels, sample_weight=weights, **given).labels_ for given in ({}, pairs))
    assert free[2] == free[5]
    assert free[3] == free[6]
    assert model[0] == model[1]
    assert model[2] == -1
    assert -1 in model[[3, 6]]
    if name != "eac-average":  # which puts new rows that are like no other into no cluster
        assert model[0] == free[0]
        assert free[3] in model[[3, 6]]
    others = np.setdiff1d(np.arange(30), [0, 1, 2, 3, 6])
    assert_array_equal(model[others], free[others])


def coloured(edges, n, k):
    return any(all(z[i] != z[j] for i, j in edges) for z in product(range(k), repeat=n))


def named_in(error):
    return [int(i) for i in re.search(r"apart: ([\d, ]*\d)", str(error.value))[1].split(", ")]


@pytest.mark.parametrize("name", ["km", "acv"])
def test_a_way_is_found_where_there_is_one_by_enumeration(name):
    refused = 0
    for seed in range(60):
        random = np.random.default_rng(seed)
        k, n = int(random.integers(1, 4)), 6
        edges = [e for e in combinations(range(n), 2) if random.random() < 0.5]
        if coloured(edges, n, k):
            assert naive.keeps(method(name, k).fit(few(seed, n), cannot_link=edges or None).labels_, (), edges)
            continue
        with pytest.raises(ValueError, match=f"Got {k}") as error:
            method(name, k).fit(few(seed, n), cannot_link=edges)
        core, refused = named_in(error), refused + 1
        inside = [e for e in edges if set(e) <= set(core)]
        assert not coloured(inside, n, k)
        for u in core:
            assert coloured([e for e in inside if u not in e], n, k)
    assert refused > 10


def test_who_is_not_needed_is_not_named():
    """Seven that are all kept apart, and another that six of them may not join either."""
    seven, other = list(combinations(range(7), 2)), [(i, 7) for i in range(6)]
    with pytest.raises(ValueError, match="Got 6") as error:
        method("km", 6).fit(random_labels(40, 4, 6), cannot_link=seven + other)
    assert named_in(error) == [0, 1, 2, 3, 4, 5, 7]


def test_of_many_clusters_that_cost_the_same_the_first_one_is_taken():
    costs = np.random.default_rng(0).integers(0, 2, (30, 40)).astype(float)
    assert_array_equal(links.nearest_allowed(costs, np.empty((0, 2), dtype=np.int64)), costs.argmin(axis=1))


def test_too_many_steps_are_no_answer():
    pairs = np.array(list(combinations(range(5), 2)))
    assert links.nearest_allowed(np.zeros((5, 4)), pairs) is None
    with pytest.raises(links.GivenUp):
        links.nearest_allowed(np.zeros((5, 4)), pairs, most_steps=20)


def test_a_path_is_easy_from_its_ends_on():
    """With two clusters only the ends have fewer neighbours than clusters; without them the next ones do."""
    core, easy = links.without_easy(links.neighbours_of(np.array([[0, 1], [1, 2], [2, 3], [3, 4]]), 5), 2)
    assert (core.tolist(), sorted(easy)) == ([], [0, 1, 2, 3, 4])


def test_the_surest_unit_goes_first_and_takes_the_nearest():
    costs = np.array([[1.0, 1.1, 9], [1, 3, 9], [9, 9, 1]])
    assert_array_equal(links.nearest_allowed(costs, np.array([[0, 1]])), [1, 0, 2])


@pytest.mark.parametrize("name", ["km", "acv"])
def test_many_that_are_all_kept_apart_are_refused_at_once_and_only_they_are_named(name):
    labels = planted_labels(n=200, p=8, k=12, noise=0.2, seed=0)[0]
    clique = list(combinations(range(50, 63), 2))
    others = [(50, i) for i in range(100, 140)]
    with pytest.raises(ValueError, match=r"apart: 50, 51, 52, .* and 3 more\. Got 12"):
        method(name, 12).fit(labels, cannot_link=[*clique, *others])
    found = method(name, 12).fit(labels, cannot_link=[*list(combinations(range(50, 62), 2)), *others]).labels_
    assert len(set(found[50:62])) == 12


def test_where_the_nearest_give_up_any_way_is_taken(monkeypatch):
    labels, cannot = planted_labels(n=60, p=8, k=3, noise=0.3, seed=0)[0], [[0, 3], [3, 6], [6, 0], [6, 9]]
    original = links.nearest_allowed

    def no_time(costs, apart, alike=False, most_steps=10):
        if not alike:
            raise links.GivenUp
        return original(costs, apart, alike, most_steps)

    monkeypatch.setattr(links, "nearest_allowed", no_time)
    found = method("km", 3).fit(labels, cannot_link=cannot)
    assert naive.keeps(found.labels_, (), cannot)
    free = method("km", 3).fit(labels)
    assert adjusted_rand_score(found.labels_, free.labels_) > 0.7  # of the ways, one that costs little
    monkeypatch.setattr(links, "nearest_allowed", lambda *a, **b: (_ for _ in ()).throw(links.GivenUp))
    with pytest.raises(ValueError, match=r"Got 3, and no solution in 20,000 steps for [0-9, ]*. Ask for more"):
        method("km", 3).fit(labels, cannot_link=cannot)


TEXTS = ["Müller,b\n", "x,y\nMüller,b\n", "Müller;b\n", "Objekt;auch\n Müller ; b \n", "Müller\tb\n"]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_files_of_pairs_as_spreadsheets_write_them(tmp_path, text, encoding):
    (tmp_path / "pairs.csv").write_bytes(text.encode(encoding))
    (tmp_path / "apart.csv").write_text("b,Müller\n", encoding="utf-8")
    (tmp_path / "e.csv").write_text("id,p,q\na,0,0\nb,0,0\nMüller,1,1\n", encoding="utf-8")
    command = ("combine", tmp_path / "e.csv", "--id-column", "id", "-k", 2, "-o", tmp_path / "out")
    said = fail(*command, "--must-link", tmp_path / "pairs.csv", "--cannot-link", tmp_path / "apart.csv")
    assert "which cannot_link keeps apart and must_link joins: b – Müller." in said


def test_a_first_pair_that_is_unknown_is_no_header_where_objects_are_numbers(tmp_path):
    (tmp_path / "pairs.csv").write_text("8,9\n1,2\n", encoding="utf-8")
    command = ("combine", tmp_path / "e.csv", "--id-column", "id", "-k", 2, "-o", tmp_path / "out", "--must-link")
    header = "pairs.csv: the first line is a header, for it names no object: 8, 9"
    for last in ("3", "ann"):
        (tmp_path / "e.csv").write_text(f"id,p,q\n1,0,0\n2,1,1\n{last},0,0\n", encoding="utf-8")
        done = call(*command, tmp_path / "pairs.csv")
        assert (done.exit_code == 0) == (header in done.stderr) == (last == "ann")
        assert ("Got '8' in pair 1. Correct that line." in done.stderr) == (last == "3")
    found = {row[0]: row[1] for row in rows_of(tmp_path / "out" / "labels.csv")}
    assert found["1"] == found["2"] != found["ann"]


def test_the_encoding_of_the_table_is_that_of_its_pairs(folder):
    Path("w.csv").write_bytes("id;p;q\nä;0;0\nö;0;1\nü;1;1\nb;1;0\n".encode("latin-1"))
    Path("pairs.csv").write_bytes("ä;ü\n".encode("latin-1"))
    command = ("combine", "w.csv", "--id-column", "id", "-k", "2", "--must-link", "pairs.csv", "-o", "out")
    assert "pairs.csv must be utf-8 text. Got the byte 0xe4 in line 1" in fail(*command)
    succeed(*command, "--encoding", "latin-1")
    found = {row[0]: row[1] for row in rows_of("out/labels.csv")}
    assert found["ä"] == found["ü"]
