"""How many clusters: the test for structure, the votes, what is said of them, the page and the command line."""

import csv
import json
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner
from limits import limit
from numpy.testing import assert_allclose, assert_array_equal
from scipy.cluster.hierarchy import cut_tree, linkage
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from ensemblage import ConsensusClustering, choose_k, report
from ensemblage.choices import _choose_k
from ensemblage.choices._choose_k import (
    NUMBERS,
    KChoice,
    agreement_by_number,
    best_of,
    most_agreed,
    numbers_around,
    numbers_up_to_root,
    peaks_of,
)
from ensemblage.cli import main
from ensemblage.consensus import EvidenceAccumulation, KMeansConsensus
from ensemblage.generation import DiversePartitions, RandomKPartitions, make_pool
from ensemblage.stability import cluster_stability
from ensemblage.stability._reference import UnimodalComponents
from ensemblage.stability._structure import (
    PairKMeans,
    Pairs,
    SmallKMeans,
    Structure,
    cluster_statistics,
    compare_with_cloud,
    p_value_of,
    squares_of_pairs,
)

FAST = {"n_references": 39, "n_splits": 4, "n_partitions": 15}


@pytest.fixture(scope="module")
def blobs():
    return make_blobs(160, centers=[(0, 0), (0, 9), (12, 0), (12, 12)], random_state=3)[0]


@pytest.fixture(scope="module")
def noise():
    return np.random.default_rng(0).normal(size=(150, 3))


@pytest.fixture(scope="module")
def choice(blobs):
    return choose_k(blobs, range(2, 8), random_state=0, **FAST)


@pytest.fixture(scope="module")
def no_choice(noise):
    return choose_k(noise, range(2, 6), random_state=0, **FAST)


# ---- k-means of few objects ----


def test_several_starts_reach_what_scikit_learn_reaches():
    X = make_blobs(300, centers=6, random_state=1)[0]
    ours, theirs = SmallKMeans(6, 10, 0).fit(X), KMeans(6, n_init=10, random_state=0).fit(X)
    assert ours.inertia_ == pytest.approx(theirs.inertia_)
    assert_allclose(((X - ours.cluster_centers_[ours.labels_]) ** 2).sum(), ours.inertia_)
    assert_array_equal(ours.predict(X), ours.labels_)


def test_more_starts_are_no_worse_and_seeds_count():
    X = np.random.default_rng(0).normal(size=(200, 4))
    one, ten = SmallKMeans(12, 1, 3).fit(X).inertia_, SmallKMeans(12, 10, 3).fit(X).inertia_
    assert ten < one
    assert SmallKMeans(12, 1, 4).fit(X).inertia_ != one
    assert SmallKMeans(12, 1, 3).fit(X).inertia_ == one


def test_more_clusters_than_different_rows_leave_some_empty():
    X = np.repeat([[0.0], [1.0]], 5, axis=0)
    model = SmallKMeans(4, 3, 0).fit(X)
    assert model.inertia_ == 0
    assert len(np.unique(model.labels_)) == 2


# ---- Structure ----


def test_p_value_by_hand():
    assert p_value_of(2.0, np.array([1.0, 2.0, 3.0])) == 3 / 4


def test_structure_is_found_in_blobs_and_not_in_noise(choice, no_choice):
    assert choice.structure.p_value <= 0.05
    assert choice.structure.found
    assert no_choice.structure.p_value > 0.05
    assert not no_choice.structure.found
    assert "No clear structure was found" in no_choice.sentence
    assert no_choice.evidence == "none"
    assert no_choice.best >= 2


def references_until(function, seeds, stops):
    """In their order, to the first at which the test stops."""
    found = []
    for seed in seeds:
        found.append(function(seed))
        if stops(found[-1]):
            break
    return found


@pytest.mark.parametrize("k", [1, 2, 5, 9])
def test_k_means_by_distances_is_that_of_features(k):
    X = np.random.default_rng(k).normal(size=(120, 50)) + np.random.default_rng(0).normal(size=50)
    rows, others = np.arange(0, 120, 2), np.arange(1, 120, 2)
    ours = PairKMeans(Pairs(squares_of_pairs(X)), k, 3, 0).fit(rows[:, None])
    theirs = SmallKMeans(k, 3, 0).fit(X[rows])
    assert_array_equal(ours.labels_, theirs.labels_)
    assert ours.inertia_ == pytest.approx(theirs.inertia_)
    assert_array_equal(ours.predict(others[:, None]), theirs.predict(X[others]))
    if k == 9:
        assert PairKMeans(Pairs(squares_of_pairs(X)), k, 9, 0).fit(rows[:, None]).inertia_ < ours.inertia_
        assert PairKMeans(Pairs(squares_of_pairs(X)), k, 3, 1).fit(rows[:, None]).inertia_ != ours.inertia_


def test_p_at_its_least_is_said_to_be_at_most():
    assert "p ≤ 0.01" in Structure(0.01, 99).sentence
    assert "p = 0.31" in Structure(0.31, 99).sentence


def test_persistence_sees_what_k_means_does_not():
    angles = np.random.default_rng(0).uniform(0, 2 * np.pi, 400)
    rings = np.column_stack([np.cos(angles), np.sin(angles)]) * np.repeat([1, 4], 200)[:, None]
    rings += np.random.default_rng(1).normal(scale=0.1, size=rings.shape)
    found = choose_k(rings, range(2, 5), random_state=0, **FAST)
    assert found.structure.found
    assert found.votes["components"] > 1


def test_a_w_of_zero_is_a_number():
    X = np.repeat([[0.0, 0], [0, 1], [5, 5]], 10, axis=0)
    found = cluster_statistics(X, 4, 0)
    assert found.log_within[0] == 0
    assert found.log_within[2] == found.log_within[3] == -30
    assert np.isfinite(found.row).all()


def test_statistics_do_not_depend_on_units(blobs):
    plain, scaled = cluster_statistics(blobs, 5, 0), cluster_statistics(1000 * blobs + 7, 5, 0)
    assert_allclose(plain.row, scaled.row, atol=1e-8)
    assert len(plain.row) == 4 + 2


def test_features_must_agree_where_components_find_structure():
    """A cube's components are rounder than the cube; its features are not."""

    def run(function, seeds, stops):
        calls.append(len(seeds))
        return references_until(function, seeds, stops)

    def test_of(X):
        return compare_with_cloud(X, UnimodalComponents(X), 6, range(40), run).structure

    calls = []
    cube = np.random.default_rng(1).uniform(size=(100, 2))
    test_of(np.random.default_rng(1).normal(size=(100, 3)))
    assert calls == [39]
    tests = [test_of(np.random.default_rng(s).uniform(size=(100, 2))) for s in range(6)]
    assert len(calls) >= 7
    assert sum(test.found for test in tests) <= 1
    assert test_of(cube).p_value > 0.05


def test_the_test_ends_where_there_can_be_no_structure(noise, no_choice, choice):
    assert (no_choice.structure.n_references, no_choice.structure.n_left_out) == (19, 20)
    assert no_choice.structure.p_value > 0.05
    assert "decided after 19 clouds)" in no_choice.structure.sentence
    assert (choice.structure.n_references, choice.structure.n_left_out) == (39, 0)
    again = choose_k(noise, range(2, 6), random_state=0, n_jobs=2, **FAST)
    assert (again.structure, again.table) == (no_choice.structure, no_choice.table)


def test_many_features_by_distances():
    """As many features as there are need not be looked at again and again: nothing else changes."""
    source = np.random.default_rng(0)
    X = source.normal(size=(90, 60)) + 2 * source.normal(size=(3, 60))[np.repeat(range(3), 30)]
    found = choose_k(X, range(2, 6), random_state=0, **FAST)
    with pytest.MonkeyPatch.context() as patch:
        limit(patch, "variables of wide objects", 1_000)
        same = choose_k(X, range(2, 6), random_state=0, **FAST)
    assert (found.best, found.votes, found.structure) == (same.best, same.votes, same.structure)
    assert found.best == 3
    for row, other in zip(found.table, same.table, strict=True):
        assert_allclose(row[:-2], other[:-2], rtol=1e-6)
        assert adjusted_rand_score(found.labels[row.k], same.labels[row.k]) == 1  # of equal starts another is the best


# ---- Votes ----

VOTERS = ("prediction strength", "lifetime", "gap", "components", "silhouette")


def test_blobs_are_clear(choice):
    assert choice.best == 4
    assert choice.evidence == "clear"
    assert choice.sentence.startswith(f"4 clusters: {'all five' if choice.n_votes == 5 else 'four of five'} criteria")
    assert list(choice.votes) == list(VOTERS)
    row = choice.table[2]
    assert row.status == "best"
    assert row.votes == tuple(v for v in VOTERS if choice.votes[v] == 4)
    assert row.ward > 0.95
    assert row.average > 0.95
    assert row.gap > 0
    assert row.reference_low <= row.reference_mean <= row.reference_high
    assert row.gap == pytest.approx(row.reference_mean - row.log_within)


@pytest.mark.parametrize(
    ("votes", "best"),
    [
        ([3, 3, 3, 2, 2], 3),
        ([2, 3, 4, 3, 4], 3),  # of two pairs, the criterion that comes first
        ([None, 1, 1, 1, 5], 5),  # one cluster is no vote for a number
        ([9, 4, 1, None, 4], 4),
        ([3, 2, 4, 5, 6], 3),
    ],
)
def test_the_number_that_most_name(votes, best):
    assert best_of(dict(zip(VOTERS, votes, strict=True)), range(2, 8)) == best


def test_peaks():
    assert peaks_of({2: 1.0, 3: 0.7, 4: 0.6, 5: 0.9, 6: 0.9, 7: 0.1}) == [2]
    assert peaks_of({2: 0.5, 3: 1.0, 4: 0.6, 6: 0.9}) == [3, 6]


def saying(votes, p_value=0.01, also=()):
    """A choice that says what follows from these votes."""
    named = dict(zip(VOTERS, votes, strict=True))
    best = best_of(named, range(2, 11))
    return KChoice(Structure(p_value, 99), best, named, list(also), [], {}, np.arange(3), [])


def test_sentences():
    assert saying([5, 5, 5, 5, 5]).sentence == "5 clusters: all five criteria agree."
    nested = "5 clusters: four of five criteria agree. Also stable: 2 groups."
    assert saying([5, 5, 5, 5, 2], also=[2]).sentence == nested
    likely = saying([5, 4, 5, 5, 4])
    assert likely.evidence == "likely"
    assert likely.sentence == "Probably 5 clusters, which three of five criteria name: lifetime and silhouette say 4."
    torn = saying([2, 4, 7, None, 4])
    assert torn.evidence == "ambiguous"
    assert torn.sentence.startswith("The criteria disagree: 2, 4 and 7 are named. 4 is taken.")
    asked = replace(torn, best=15, agreement={4: 0.2, 15: 0.9})
    assert "15 is taken, the number at which several algorithms agree most. Choose by use" in asked.sentence
    nothing = saying([2, 1, 1, 1, 2], p_value=0.31)
    assert nothing.sentence.startswith("No clear structure was found")
    assert (nothing.n_clusters(), nothing.n_clusters(allow_one=True)) == (2, 1)
    assert nothing.sentence.endswith("If there must be clusters: 2, which 2 of 5 criteria name.")
    asked = replace(nothing, best=3, agreement={3: 0.2})
    assert asked.sentence.endswith("If there must be clusters: 3, the number at which several algorithms agree most.")
    assert saying([5, 5, 5, 5, 5]).n_clusters(allow_one=True) == 5


# ---- Agreement of several algorithms ----


@pytest.fixture(scope="module")
def many():
    """Fifteen clusters on a grid: more than the criteria look at."""
    centres = [(10 * i, 10 * j) for i in range(5) for j in range(3)]
    return make_blobs(600, centers=centres, cluster_std=1.2, random_state=0)[0]


def test_where_the_criteria_disagree_the_algorithms_decide(many):
    found = choose_k(many, random_state=0, **FAST)
    assert found.evidence == "ambiguous"
    assert found.best == 15 == most_agreed(found.agreement)
    assert "15 is taken, the number at which several algorithms agree most." in found.sentence
    assert len(np.unique(found.labels[15])) == 15
    assert {14, 15, 16, 17} <= found.agreement.keys()
    assert found.agreement.keys().isdisjoint([11, 21, 22, 23])
    assert max(found.agreement) <= np.sqrt(600)
    assert [row.k for row in found.table] == list(range(2, 11))
    assert not any("largest number that was looked at" in note for note in found.notes)


def test_a_given_range_is_kept_to(many):
    found = choose_k(many, range(2, 11), random_state=0, **FAST)
    assert found.n_votes < 3
    assert found.agreement == {}
    assert found.best <= 10


def test_up_to_ten_the_votes_decide(many, monkeypatch):
    """Where the algorithms agree most at a number that the criteria looked at, most votes count."""
    monkeypatch.setattr(_choose_k, "agreement_up_to_root", lambda *_: {9: 0.9, 15: 0.8})
    found = choose_k(many, random_state=0, **FAST)
    assert found.n_votes < 3
    assert found.best == best_of(found.votes, range(2, 11)) <= 10
    assert found.agreement == {}


def test_without_structure_nobody_is_asked(monkeypatch):
    monkeypatch.setattr(_choose_k, "agreement_up_to_root", lambda *_: 1 // 0)
    found = choose_k(np.random.default_rng(1).normal(size=(200, 3)), random_state=0, **FAST)
    assert not found.structure.found
    assert found.n_votes < 3


def test_where_three_criteria_agree_nobody_else_is_asked(choice):
    assert choice.n_votes >= 3
    assert choice.agreement == {}


def test_agreement_by_hand():
    """The consensus of members near a number, and its mean index with those that have that number."""
    X, ks = make_blobs(90, centers=3, random_state=2)[0], [2, 3, 5]
    found = agreement_by_number(X, ks, seed=4)
    generator = DiversePartitions(ks, random_state=4)
    members = generator.fit_transform(X)
    of = generator.n_clusters_
    for k, near in ((2, (2, 3)), (3, (2, 3, 5)), (5, (3, 5))):
        labels = EvidenceAccumulation(k).fit(members[:, np.isin(of, near)]).labels_
        assert found[k] == pytest.approx(np.mean([adjusted_rand_score(labels, m) for m in members[:, of == k].T]))
    assert most_agreed({2: 0.5, 3: 0.9, 7: 0.9, 8: 0.1}) == 7
    assert numbers_up_to_root(28**2 - 1) == [*range(2, 11), 12, 14, 17, 20, 24]
    assert numbers_up_to_root(10**6) == [*range(2, 11), 12, 14, 17, 20, 24, 28, 33, 39, 47, 56]
    assert numbers_up_to_root(3) == [2]
    assert numbers_around(14, [10, 12, 14, 17, 20]) == [10, 12, 13, 14, 15, 16, 17, 20]
    assert numbers_around(10, [10, 12, 14]) == [10, 11, 12, 14]
    assert numbers_around(14, [10, 12, 14]) == [10, 12, 13, 14]


def test_features_are_prepared_as_they_are_asked_for():
    """Given as they shall be clustered, they are not copied."""
    X = np.array([[1.0, 50], [2, 90], [4, 70], [8, 10]])
    assert _choose_k.prepare_features(X, False, None) is X
    assert_allclose(_choose_k.prepare_features(X, True, None).std(axis=0), 1)
    gapped = np.where(X == 4, np.nan, X)
    assert_allclose(_choose_k.prepare_features(gapped, False, "median"), np.where(X == 4, 2, X))


def test_the_gap_and_the_progress_of_a_small_choice():
    X, steps = np.random.default_rng(0).normal(size=(24, 2)), []
    X[12:] += 6
    given = {"n_references": 5, "n_splits": 4, "n_partitions": 10, "random_state": 0}
    choice = choose_k(X, range(2, 4), **given, progress=lambda *step: steps.append(step))
    for row in choice.table:
        assert row.gap == pytest.approx(row.reference_mean - row.log_within)
    n_steps = 2 * 5 + 4 * 2 + 10 + len(NUMBERS)
    assert steps[0] == (1, n_steps)
    assert steps[-1] == (n_steps, n_steps)


def test_clusters_of_one_object_each_have_no_silhouette():
    apart = 1 - np.eye(4)
    assert _choose_k._silhouette(apart, np.arange(4)) == -1
    assert _choose_k._silhouette(apart, np.zeros(4, dtype=int)) == -1
    assert _choose_k._silhouette(apart, np.array([0, 0, 1, 2])) == 0


def test_copies_leave_it_to_the_votes(many):
    """Where most objects are copies of others, neighbours say nothing."""
    many = np.repeat(many[::20], 20, axis=0)
    assert choose_k(many, random_state=0, **FAST).agreement == {}


# ---- Parameters ----


def test_same_seed_same_choice_for_any_number_of_threads(blobs, choice):
    again = choose_k(blobs, range(2, 8), random_state=0, n_jobs=2, **FAST)
    assert again.table == choice.table
    assert again.votes == choice.votes
    assert choose_k(blobs, range(2, 8), random_state=1, **FAST).table != choice.table


@pytest.mark.parametrize(("name", "column"), [("n_references", "gap"), ("n_splits", "strength")])
def test_each_number_counts(blobs, choice, name, column):
    other = choose_k(blobs, range(2, 8), random_state=0, **(FAST | {name: FAST[name] + 1}))
    assert [getattr(r, column) for r in other.table] != [getattr(r, column) for r in choice.table]


def test_partitions_of_the_lifetime(blobs):
    def named(n):
        return [
            choose_k(blobs, [3, 4], random_state=s, **(FAST | {"n_partitions": n})).votes["lifetime"] for s in (0, 1)
        ]

    assert named(2) != named(30)


def test_a_sample_of_many_objects(blobs):
    many = np.concatenate([blobs] * 3) + np.random.default_rng(0).normal(scale=0.1, size=(480, 2))
    found = choose_k(many, range(2, 6), sample_size=100, random_state=0, **FAST)
    assert len(found.objects) == 100 == len(found.labels[2])
    assert found.best == 4
    assert len(np.unique(found.objects)) == 100


def test_the_range_by_default(noise):
    assert [row.k for row in choose_k(noise[:40], random_state=0, **FAST).table] == list(range(2, 7))


def test_notes(noise):
    found = choose_k(noise, [2, 3], random_state=0, **FAST)
    assert any("With 39 references" in note for note in found.notes)
    assert any("largest number that was looked at" in note for note in found.notes) == (found.best == 3)


def test_progress_ends_at_its_total(noise):
    calls = []
    choose_k(noise, [2, 3], random_state=0, progress=lambda done, total: calls.append((done, total)), **FAST)
    assert calls == sorted(calls)
    assert calls[-1][0] == calls[-1][1] == calls[0][1]
    with pytest.raises(ZeroDivisionError):
        choose_k(noise, [2, 3], random_state=0, progress=lambda done, total: 1 // 0, **FAST)


@pytest.mark.parametrize(
    ("X", "settings", "error", "message"),
    [
        (np.zeros((10, 2)), {}, ValueError, "3 different rows"),
        (np.arange(20.0).reshape(10, 2), {"k_range": [1]}, ValueError, "Every k in k_range of choose_k must"),
        (np.arange(20.0).reshape(10, 2), {"k_range": [6]}, ValueError, "from 2 to 5. Got 6"),
        (np.arange(20.0).reshape(10, 2), {"k_range": []}, ValueError, "at least one number"),
        (np.arange(20.0).reshape(10, 2), {"k_range": 3}, TypeError, "must be several numbers"),
        (np.arange(20.0).reshape(10, 2), {"k_range": "23"}, TypeError, "must be several numbers"),
        (np.arange(20.0).reshape(10, 2), {"n_references": 0}, ValueError, "n_references of choose_k"),
        (np.arange(20.0).reshape(10, 2), {"n_splits": 0}, ValueError, "n_splits of choose_k"),
        (np.arange(20.0).reshape(10, 2), {"n_partitions": 1}, ValueError, "n_partitions of choose_k"),
        (np.arange(20.0).reshape(10, 2), {"sample_size": 5}, ValueError, "sample_size of choose_k"),
        (np.arange(20.0).reshape(10, 2), {"n_jobs": 0}, ValueError, "n_jobs of choose_k"),
    ],
)
def test_refused(X, settings, error, message):
    with pytest.raises(error, match=message):
        choose_k(X, **settings)


# ---- Seen ----


def test_text_frame_and_figure(choice):
    text = repr(choice)
    assert text.splitlines()[0].startswith("KChoice: 4 clusters")
    assert "best" in text
    frame = choice.to_frame()
    assert list(frame["k"]) == list(range(2, 8))
    assert choice.plot().get_ylabel() == "ln of the spread in clusters"
    assert [line.get_label() for line in choice.plot("criteria").lines[1:]] == [
        "reproduced in halves", "prediction strength", "agrees with Ward", "agrees with average linkage", "silhouette"
    ]  # fmt: skip
    strengths = choice.plot("strength")
    assert strengths.get_ylabel() == "prediction strength"
    assert strengths.lines[1].get_ydata().tolist() == [row.strength for row in choice.table]
    assert choice.plot("strength", ax=strengths) is strengths
    with pytest.raises(ValueError, match=r"kind of KChoice.plot must be one of 'gap', 'criteria', 'strength'"):
        choice.plot("pie")


@pytest.mark.parametrize("which", ["choice", "no_choice"])
def test_page(which, request, blobs, noise):
    X = {"choice": blobs, "no_choice": noise}[which]
    found = request.getfixturevalue(which)
    labels = RandomKPartitions(12, random_state=0).fit_transform(X)
    consensus = KMeansConsensus(found.best, random_state=0).fit(labels)
    again = cluster_stability(KMeans(found.best, n_init=2), X, consensus.labels_, n_resamples=5, random_state=0)
    summary = report.summarize(labels, consensus, k_choice=found, cluster_stability=again)
    shown = json.loads(json.dumps(summary))
    assert shown["number"]["best"] == found.best
    assert shown["number"]["votes"] == found.votes
    assert [row["mean_jaccard"] for row in shown["found_again"]["table"]] == again.mean_jaccard.tolist()
    page = report.render(shown)
    for title in ("How many clusters are there?", "Against single clouds", "What each criterion names", "Reproduced"):
        assert title in page
    if which == "no_choice":
        assert page.index("No clear structure was found") < page.index("combined 12 partitions")
    else:
        assert "No clear structure was found" not in page
    with pytest.raises(TypeError, match=r"cluster_stability of report must be what .* Got 3"):
        report.summarize(labels, consensus, cluster_stability=3)


@pytest.fixture(scope="module")
def tables(blobs, noise, tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    for name, X in (("blobs", blobs), ("noise", noise)):
        header = ",".join("xyz"[: X.shape[1]])
        np.savetxt(folder / f"{name}.csv", X, delimiter=",", header=header, comments="")
    return folder


def run(table, output, *args):
    command = ["run", str(table), "-o", str(output), "--partitions", "12", *args]
    return CliRunner().invoke(main, command, catch_exceptions=False)


def test_shell_and_python_find_the_same_number(tables, blobs, tmp_path):
    result = run(tables / "blobs.csv", tmp_path / "out")
    assert result.exit_code == 0, result.stderr
    assert "how many    4 clusters: " in result.stdout
    assert "reproduced  4 clusters in " in result.stdout
    model = ConsensusClustering(generator=RandomKPartitions(12), random_state=0).fit(blobs)
    assert model.choice_.best == model.n_clusters_ == 4
    with open(tmp_path / "out" / "labels.csv", encoding="utf-8", newline="") as file:
        assert [int(row["cluster"]) for row in csv.DictReader(file)] == model.labels_.tolist()


@pytest.mark.slow
def test_noise_is_said_first_and_one_cluster_is_an_answer_where_it_is_allowed(tables, noise, tmp_path):
    result = run(tables / "noise.csv", tmp_path / "out", "--stability", "0")
    assert result.stdout.splitlines()[0].startswith("structure   No clear structure was found")
    assert "reproduced" not in result.stdout
    summary = json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))
    assert summary["consensus"]["n_clusters"] == summary["number"]["best"] >= 2
    result = run(tables / "noise.csv", tmp_path / "one", "--allow-one", "--stability", "0")
    assert result.exit_code == 0, result.stderr
    assert "1 cluster of 150" in result.stdout
    model = ConsensusClustering(generator=RandomKPartitions(12), allow_one=True, random_state=0).fit(noise)
    assert model.n_clusters_ == 1
    refused = run(tables / "noise.csv", tmp_path / "no", "--allow-one", "-k", "3")
    assert refused.exit_code == 2
    assert "--allow-one must go without a given number of clusters" in refused.stderr


def test_stability_as_often_as_asked(tables, tmp_path):
    result = run(tables / "blobs.csv", tmp_path / "out", "-k", "4", "--stability", "3")
    assert "reproduced  4 clusters in 3 bootstraps: clusters 0, 1, 2 and 3 very stable." in result.stdout
    refused = run(tables / "blobs.csv", tmp_path / "no", "-k", "4", "--generator", "mixed", "--stability", "3")
    assert refused.exit_code == 2
    assert "--stability must go with features" in refused.stderr
    assert not (tmp_path / "no").exists() or not any((tmp_path / "no").iterdir())  # before the work


@pytest.mark.filterwarnings("ignore:Number of distinct clusters")
def test_a_given_number_or_method_is_not_chosen(blobs):
    assert ConsensusClustering(3, generator=RandomKPartitions(8), random_state=0).fit(blobs).choice_ is None
    own = ConsensusClustering(consensus="eac-average", generator=RandomKPartitions(8), random_state=0).fit(blobs)
    assert own.choice_ is None
    alike = ConsensusClustering(generator=RandomKPartitions(8), random_state=0).fit(np.repeat(blobs[:3], 8, axis=0))
    assert alike.choice_ is None
    assert type(alike.consensus_).__name__ == "KMeansConsensus"


@pytest.mark.parametrize("decimals", [None, 0])
@pytest.mark.parametrize("kind", ["ward", "average"])
def test_cuts_of_hierarchies_are_those_of_scipy(kind, decimals):
    X = np.random.default_rng(0).normal(size=(150, 2))
    X = X if decimals is None else X.round(decimals)
    cuts = cut_tree(linkage(X, kind), range(2, 12))
    pool = make_pool(X, "agglomerative", standardize=False, n_jobs=1).ensemble
    of_pool = dict(zip(pool.names, np.asarray(pool).T, strict=True))
    for k, cut in zip(range(2, 12), cuts.T, strict=True):
        found = of_pool[f"{kind}_k{k}"]
        assert _choose_k._agreement(found, cut) == adjusted_rand_score(found, cut) == 1
        other = cuts[:, (k + 3) % 10]
        assert _choose_k._agreement(found, other) == adjusted_rand_score(found, other)
