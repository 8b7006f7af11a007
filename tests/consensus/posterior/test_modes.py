"""Several modes of consensus: the printed numbers, a slow twin, planted stories, gaps, memory."""

from itertools import permutations

import naive
import numpy as np
import pytest
from inside import rows_of
from limits import limit
from sklearn.metrics import adjusted_rand_score

from ensemblage.consensus import ConsensusModes
from ensemblage.consensus.posterior._modes import Division, Mode, Partitions

PARTITIONS = """
    000011112222 111122220000 000111112222 222200001110 000011122222 010101010101 101010101011 010101010111
"""
GOLDEN = np.array([[int(label) for label in partition] for partition in PARTITIONS.split()]).T


def partitions_of(labels):
    rows = rows_of(labels)
    return Partitions(rows, rows.codes[:])


def division_of(data, groups):
    return Division([Mode.of(data, members) for members in groups])


def noisy(random, truth, k, noise):
    """The truth, with the labels of some objects drawn anew, under other names."""
    labels = np.where(random.random(len(truth)) < noise, random.integers(k, size=len(truth)), truth)
    return random.permutation(k)[labels]


def planted(seed, n=200, sizes=(10,)):
    """Partitions that tell as many unrelated stories as there are sizes."""
    random = np.random.default_rng(seed)
    k, noise = random.integers(2, 9), random.uniform(0, 0.3)
    truths = np.repeat(random.integers(k, size=(len(sizes), n)), sizes, axis=0)
    return np.column_stack([noisy(random, truth, k, noise) for truth in truths])


@pytest.mark.parametrize(
    ("groups", "modes", "total"),
    [
        ([range(8)], 85.378305, 87.457747),
        ([range(5), range(5, 8)], 65.165153, 73.215857),
        ([range(4), [4], range(5, 8)], 74.740015, 85.498769),
        ([range(3), [3, 4], range(5, 8)], 77.904518, 89.356419),
        ([range(6), [6, 7]], 77.484326, 84.841882),
        ([[j] for j in range(8)], 110.749289, 123.433333),
    ],
)
def test_printed_descriptions(groups, modes, total):
    division = division_of(partitions_of(GOLDEN), groups)
    assert sum(mode.description for mode in division.modes) == pytest.approx(modes, abs=1e-6)
    assert division.description == pytest.approx(total, abs=1e-6)


def test_printed_modes():
    model = ConsensusModes().fit(GOLDEN)
    assert model.n_modes_ == 2
    assert model.description_ == pytest.approx(73.215857, abs=1e-6)
    assert model.modes_.tolist() == [0, 0, 0, 0, 0, 1, 1, 1]
    assert model.weights_.tolist() == [5 / 8, 3 / 8]
    assert model.uncertainty_ == pytest.approx([0.05, 0.055556], abs=1e-6)
    assert ["".join(map(str, labels)) for labels in model.labels_.T.tolist()] == ["000011112222", "010101010101"]
    assert model.n_effective_ == pytest.approx(np.exp(-sum(w * np.log(w) for w in (5 / 8, 3 / 8))))
    assert model.sentence == "These partitions tell two stories: 5 of 8 the first, 3 the second."


@pytest.mark.core(3)
@pytest.mark.parametrize("seed", range(6))
def test_descriptions_are_those_of_the_slow_twin(seed):
    """After moves of all kinds the running counts are those of the objects, gaps among them."""
    random = np.random.default_rng(seed)
    labels = np.where(random.random((40, 9)) < 0.2, -1, random.integers(4, size=(40, 9)))
    labels[:3] = -1
    data = partitions_of(labels)
    division = division_of(data, [range(4), range(4, 9)])
    division.improve(range(9))
    for mode in division.modes:
        aligned = np.full((len(labels), len(mode)), -1)
        for column, (j, label_of) in enumerate((j, mode.label_of[j]) for j in mode.members):
            names = np.unique(labels[labels[:, j] >= 0, j])
            known = labels[:, j] >= 0
            aligned[known, column] = label_of[np.searchsorted(names, labels[known, j])]
        everybody = (labels >= 0).any(axis=1).sum()
        expected = naive.mode_description(aligned) + np.log(everybody) - np.log((aligned >= 0).any(axis=1).sum())
        assert mode.description == pytest.approx(expected, rel=1e-12)
    sizes = [len(mode) for mode in division.modes]
    found = sum(mode.description for mode in division.modes) + naive.division_description(sizes)
    assert division.description == pytest.approx(found, rel=1e-12)
    assert sorted(j for mode in division.modes for j in mode.members) == list(range(9))


def test_the_least_description_is_found():
    """Of these 60 none is missed; while clusters without overlap got unused labels, twelve were."""
    missed = []
    for seed in range(60):
        random = np.random.default_rng(seed)
        n, p, k = random.integers(4, 13), random.integers(2, 4), random.integers(2, 4)
        labels = random.integers(k, size=(n, p)) if seed % 2 else planted(seed, n, (p,)) % 3
        least, found = naive.least_description(labels), ConsensusModes().fit(labels).description_
        assert found > least - 1e-9
        if found > least + 1e-9:
            missed.append(seed)
    assert missed == []


def test_clusters_without_overlap_take_labels_in_use():
    labels = np.array([[0, 0, 1, 1, -1, -1, -1], [-1, -1, -1, -1, 0, 1, 1]]).T
    mode = Mode.of(partitions_of(labels), [0, 1])
    assert sorted(mode.label_of[1][:2].tolist()) == [0, 1]
    # Three clusters where two labels are in use take a third.
    labels[4:, 1] = [0, 1, 2]
    assert sorted(Mode.of(partitions_of(labels), [0, 1]).label_of[1][:3].tolist()) == [0, 1, 2]


def test_a_mode_that_is_aligned_anew_gets_shorter(monkeypatch):
    labels = np.random.default_rng(5).integers(3, size=(9, 5))
    data = partitions_of(labels)
    mode = next(mode for order in permutations(range(5)) if (mode := Mode.of(data, order)).restart() is not mode)
    assert mode.restart().description < mode.description
    limit(monkeypatch, "codes that new alignments of a mode read", 10)  # as with many rows
    assert mode.restart() is mode


@pytest.mark.core(3)
@pytest.mark.parametrize("seed", range(10))
def test_planted_stories(seed):
    """One is not split, two are found: of 100 each, with 10, 20 and 50 partitions, none was missed."""
    assert ConsensusModes().fit(planted(seed)).n_modes_ == 1
    model = ConsensusModes().fit(planted(seed, sizes=(6, 4)))
    assert model.modes_.tolist() == [0] * 6 + [1] * 4
    assert ConsensusModes().fit(planted(seed, sizes=(3, 5, 4))).modes_.tolist() == [2] * 3 + [0] * 5 + [1] * 4


def test_names_and_places_change_nothing():
    labels = planted(3, sizes=(6, 5))
    random = np.random.default_rng(0)
    places, objects = random.permutation(11), random.permutation(len(labels))
    renamed = np.column_stack([random.permutation(9)[column] for column in labels.T])[:, places]
    first, other = ConsensusModes().fit(labels), ConsensusModes().fit(renamed[objects])
    assert other.description_ == pytest.approx(first.description_, rel=1e-12)
    assert (other.modes_ == first.modes_[places]).all()
    for q in range(2):
        assert adjusted_rand_score(other.labels_[:, q], first.labels_[objects, q]) == 1


def test_gaps_and_objects_without_labels():
    labels = planted(1, sizes=(6, 4))
    labels[np.random.default_rng(0).random(labels.shape) < 0.3] = -1
    labels[:5, :] = -1
    labels[5:9, 6:] = -1  # the second story says nothing of these
    model = ConsensusModes().fit(labels)
    assert model.modes_.tolist() == [0] * 6 + [1] * 4
    assert (model.labels_[:5] == -1).all()
    assert (model.labels_[5:9, 1] == -1).all()


def test_copies_of_objects_count_like_objects():
    labels = planted(2, n=60, sizes=(3, 3))
    data = partitions_of(np.repeat(labels, 3, axis=0))
    assert len(data.counts) == len(partitions_of(labels).counts)
    one = division_of(data, [range(6)])
    aligned = np.column_stack([mapping[labels[:, j]] for j, mapping in enumerate(one.modes[0].label_of)])
    assert one.modes[0].description == pytest.approx(naive.mode_description(np.repeat(aligned, 3, axis=0)), rel=1e-12)


def test_threads_change_nothing():
    labels = planted(4, sizes=(6, 5))
    one, two = (ConsensusModes(n_jobs=n).fit(labels) for n in (1, 2))
    assert one.description_ == two.description_
    assert (one.labels_ == two.labels_).all()


def test_a_single_partition_and_copies_of_it():
    assert ConsensusModes().fit([[0], [0], [1]]).sentence == "One partition tells one story."
    copies = ConsensusModes().fit(np.repeat([[0], [0], [1]], 4, axis=1))
    assert (copies.n_modes_, copies.uncertainty_.tolist()) == (1, [0])
    assert copies.sentence == "These partitions tell one story."
    three = ConsensusModes().fit(planted(0, sizes=(5, 5, 3)))
    assert three.sentence == "These partitions tell three stories: 5 of 13 the first, 5 and 3 the others."


def test_more_memory_than_allowed_is_refused():
    with pytest.raises(ValueError, match=r"ConsensusModes must fit into max_bytes = 5,000,000 bytes\. Got"):
        ConsensusModes(max_bytes=5_000_000).fit(np.random.default_rng(0).integers(9, size=(20_000, 12)))


def test_bad_input_is_one_sentence():
    with pytest.raises(ValueError, match="max_bytes of ConsensusModes"):
        ConsensusModes(max_bytes="much").fit(GOLDEN)
    with pytest.raises(ValueError, match="Labels must be a matrix"):
        ConsensusModes().fit(GOLDEN[:, 0])
