"""The number of clusters that a consensus finds: identical members give themselves, combine finds what was planted."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from shell import succeed
from sklearn.metrics import adjusted_rand_score
from strategies import planted_labels

from ensemblage import METHODS, Ensemble, make_consensus
from ensemblage.consensus import KMeansConsensus
from ensemblage.metrics import ensemble_ari

FINDERS = [name for name, method in METHODS.items() if method.finds_k]
PUBLISHED = ("acv", "bv")
"""Their papers' rule leaves out all clusters of the reference."""
OWN_RULE = ("h-km", "lca")
"""At most ⌊√n⌋ clusters; the least BIC, which few objects do not pay for many classes."""
LIFETIMES = tuple(name for name in FINDERS if METHODS[name].finds_k == METHODS["eac-average"].finds_k)
"""Among them those whose objects, where all differ, are n − 1 clusters at most."""


def found(name, labels, **parameters):
    model = make_consensus(name, **parameters)
    known = model.get_params()
    few = {"random_state": 0, "n_init": 2, "n_jobs": 1}
    return model.set_params(**{key: value for key, value in few.items() if key in known}).fit(labels)


def alike(sizes, seed=0, p=3):
    """p members with clusters of these sizes, each with names of its own, in an order of the objects by the seed."""
    random = np.random.default_rng(seed)
    truth = random.permutation(np.repeat(np.arange(len(sizes)), sizes))
    return np.column_stack([random.permutation(len(sizes))[truth] for _ in range(p)])


def is_itself(name, labels):
    return adjusted_rand_score(labels[:, 0], found(name, labels).labels_) == 1


@given(st.lists(st.integers(1, 12), min_size=1, max_size=12), st.integers(0, 10**6), st.sampled_from(FINDERS))
def test_identical_members_give_themselves(sizes, seed, name):
    if name in (*PUBLISHED, *OWN_RULE) or (name in LIFETIMES and max(sizes) == 1):
        return
    assert is_itself(name, alike(sizes, seed))


@pytest.mark.parametrize("name", [name for name in FINDERS if name not in (*PUBLISHED, *OWN_RULE)])
def test_every_method_gives_identical_members_back(name):
    assert all(is_itself(name, alike(sizes)) for sizes in ([12], [4, 8], [30, 30, 30], [3, 9, 1, 20, 7]))
    assert is_itself(name, alike([1] * 9)) == (name not in LIFETIMES)


@pytest.mark.parametrize("name", PUBLISHED)
def test_cumulative_and_bipartite_voting_leave_out_all_clusters_of_the_reference(name):
    assert [found(name, alike([10] * k)).n_clusters_ for k in (1, 2, 3, 5)] == [1, 2, 2, 4]
    assert is_itself(name, alike([10] * 2))


def test_two_rules_know_nothing_of_unanimity():
    assert found("h-km", alike([2] * 8)).n_clusters_ == 4
    assert found("lca", alike([1] * 9)).n_clusters_ == 1


@pytest.mark.parametrize(("k", "p"), [(3, 3), (4, 10), (5, 5), (9, 30)])
def test_a_tenth_of_other_labels_hides_no_cluster(k, p):
    labels, truth = planted_labels(n=40 * k, p=p, k=k, noise=0.1, seed=k)
    model = found("km", labels)
    assert model.n_clusters_ == k
    assert adjusted_rand_score(truth, model.labels_) > 0.85


@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.2]), st.booleans())
def test_k_means_takes_the_number_with_the_highest_agreement(seed, missing, weighted):
    labels = planted_labels(n=40, p=5, k=4, noise=0.3, missing=missing, seed=seed)[0]
    labels[(labels < 0).all(axis=1)] = 0
    weights = [1, 3, 2, 0.5, 0] if weighted else None
    model = found("km", labels, weights=weights)
    with_k = {k: KMeansConsensus(k, n_init=2, weights=weights, random_state=0).fit(labels) for k in model.agreement_}
    scores = {k: ensemble_ari(labels, each.labels_, weights=weights) for k, each in with_k.items()}
    assert model.agreement_ == pytest.approx(scores)
    best = max(model.agreement_, key=lambda k: (model.agreement_[k], k))
    assert_array_equal(model.labels_, with_k[best].labels_)
    often = np.random.default_rng(seed).integers(1, 4, 40)
    copies = found("km", np.repeat(labels, often, axis=0), weights=weights)
    again = model.fit(labels, sample_weight=often)
    assert again.agreement_ == copies.agreement_
    assert_array_equal(np.repeat(again.labels_, often), copies.labels_)


def test_many_clusters_are_found_without_trying_every_number():
    model = found("km", alike([3] * 150))
    assert (model.n_clusters_, max(model.agreement_.values())) == (150, 1)
    labels = planted_labels(n=900, p=8, k=31, noise=0.05, seed=0)[0]
    model = found("km", labels)
    assert model.n_clusters_ == 31
    assert {30, 31} <= model.agreement_.keys()
    assert len(model.agreement_) < 25
    assert list(model.agreement_) == sorted(model.agreement_)


def test_numbers_that_pairs_do_not_allow_are_not_taken():
    labels = alike([10, 10, 10])
    apart = [
        [int(np.flatnonzero(labels[:, 0] == i)[0]), int(np.flatnonzero(labels[:, 0] == j)[0])]
        for i, j in ((0, 1), (0, 2), (1, 2))
    ]
    model = KMeansConsensus(n_init=2, random_state=0).fit(labels, cannot_link=apart)
    assert (model.n_clusters_, min(model.agreement_)) == (3, 3)
    within = np.flatnonzero(labels[:, 0] == 0)[:4]
    pairs = [[int(a), int(b)] for a in within for b in within if a < b]
    with pytest.raises(ValueError, match="cannot_link"):
        KMeansConsensus(n_init=2, random_state=0).fit(labels, cannot_link=pairs)


def test_a_clustering_to_start_from_has_its_number():
    labels = alike([10, 10, 10])
    model = KMeansConsensus(init=np.arange(30) % 2).fit(labels)
    assert (model.n_clusters_, list(model.agreement_)) == (2, [2])
    assert not hasattr(model.set_params(n_clusters=2).fit(labels), "agreement_")


def test_combine_finds_three_equal_columns(tmp_path):
    np.savetxt(tmp_path / "same.csv", alike([30, 30, 30]), "%d", ",", header="a,b,c", comments="")
    shown = succeed("combine", tmp_path / "same.csv", "-o", tmp_path / "out").stdout
    assert "3 clusters of 30, 30, 30 objects" in shown
    assert "The best was 3 (1 − mean ARI 0.000), then 2 (" in shown
    summary = json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))
    assert summary["consensus"]["method"] == "KMeansConsensus"
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "a number that was found in the partitions" in page
    assert "the highest mean adjusted Rand index with the partitions" in page


def test_combine_finds_as_many_on_disk(tmp_path):
    labels = planted_labels(n=120, p=6, k=4, noise=0.1, seed=3)[0].astype(np.int16)
    np.save(tmp_path / "labels.npy", labels)
    shown = succeed("combine", tmp_path / "labels.npy", "-o", tmp_path / "out.npy").stdout
    assert "evidence    4 values for the number of clusters" in shown
    assert_array_equal(np.load(tmp_path / "out.npy"), KMeansConsensus(random_state=0).fit(Ensemble(labels)).labels_)


@pytest.mark.parametrize("k", [3, 5])
def test_categories_that_are_members_have_the_number_that_agrees_most(tmp_path, k):
    labels = planted_labels(n=30 * k, p=6, k=k, noise=0.1, seed=k)[0]
    rows = [",".join(f"{'abcdefghij'[label]}{j}" for j, label in enumerate(row)) for row in labels]
    (tmp_path / "kinds.csv").write_text("\n".join(["a,b,c,d,e,f", *rows]), encoding="utf-8")
    command = "run", tmp_path / "kinds.csv", "--categories", "member", "--stability", 0, "-o", tmp_path / "out"
    assert f"consensus   {k} clusters of" in succeed(*command).stdout


def test_members_that_disagree_are_told(tmp_path):
    random = np.random.default_rng(0)
    np.savetxt(
        tmp_path / "any.csv",
        random.integers(4, size=(200, 12)),
        "%d",
        ",",
        header=",".join("abcdefghijkl"),
        comments="",
    )
    shown = succeed("combine", tmp_path / "any.csv", "-o", tmp_path / "out").stdout
    assert "confidence  0 core (0%)" in shown
    assert "These partitions tell five stories" in shown
    assert "The partitions disagree on this" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
