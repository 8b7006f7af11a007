"""Evidence accumulation against greedy agglomeration with exact fractions, SciPy, and explicit matrices."""

import json
import subprocess
import sys
from itertools import combinations

import naive
import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from inside import numbered_by_content
from limits import limit
from numpy.testing import assert_allclose, assert_array_equal
from representatives import first_of
from scipy.cluster import hierarchy
from scipy.spatial.distance import squareform
from strategies import label_matrices, planted_labels, random_labels, with_equal_rows

from ensemblage import Ensemble, report
from ensemblage.consensus import EvidenceAccumulation
from ensemblage.metrics import coassociation
from ensemblage.metrics._coassociation import association_counts
from ensemblage.metrics._wat import weak_association_threshold

LINKAGES = ("single", "average", "complete")


def toy():
    """The seven objects of Li & Liu 2018, Fig. 2."""
    return np.array([[1, 2, 1, 1], [1, 2, 1, 1], [1, 2, 2, 1], [2, 3, 2, 1], [2, 3, 2, 2], [3, 1, 3, 2], [3, 1, 3, 2]])


def distinct_rows(labels):
    """Distinct label rows in the order of the library, missing labels last, and how many objects have each."""
    labels = np.asarray(labels)
    missing = labels.max() + 1
    some = numbered_by_content(labels[(labels >= 0).any(axis=1)])  # ties go by the order of the rows
    rows, counts = np.unique(np.where(some < 0, missing, some), axis=0, return_counts=True)
    return np.where(rows == missing, -1, rows), counts


def hierarchy_of(labels, **parameters):
    """SciPy's matrix of the distinct rows, which weigh as much as their objects."""
    rows, counts = distinct_rows(labels)
    return EvidenceAccumulation(1, **parameters).fit(rows, sample_weight=counts).linkage_matrix_


def naive_merges(labels, linkage, threshold=None, weights=None):
    rows, counts = distinct_rows(labels)
    return naive.merges(*naive.joined_and_labelled(rows, weights), counts, linkage, threshold)


def assert_same_merges(Z, expected):
    """The same clusters merge at the same heights."""
    assert_array_equal(naive.first_members(Z), naive.first_members_of_pairs(expected))
    assert_allclose(Z[:, 2], [1 - similarity for *_, similarity in expected], atol=1e-14)


def assert_closest_at_their_moment(Z, similarity_of):
    """Every merge of Z is one of the most similar pairs of the clusters there are, and as high as it should be."""
    n = len(Z) + 1
    members = {i: [i] for i in range(n)}
    for s, (a, b, height, size) in enumerate(Z):
        similar = {(x, y): similarity_of(members[x], members[y]) for x, y in combinations(sorted(members), 2)}
        assert similar[tuple(sorted((int(a), int(b))))] == pytest.approx(max(similar.values()), abs=1e-6)
        assert height == pytest.approx(1 - max(similar.values()), abs=1e-6)
        members[n + s] = members.pop(int(a)) + members.pop(int(b))
        assert len(members[n + s]) == size


def of_matrix(matrix, linkage):
    reduce = {"single": np.max, "average": np.mean, "complete": np.min}[linkage]
    return lambda a, b: reduce(matrix[np.ix_(a, b)])


def ratio_of_sums(joined, labelled):
    def ratio(a, b):
        n, m = joined[np.ix_(a, b)].sum(), labelled[np.ix_(a, b)].sum()
        return n / m if m > 0 else 0

    return ratio


def assert_valid(Z):
    if len(Z):
        assert hierarchy.is_valid_linkage(Z)
        assert (np.diff(Z[:, 2]) >= 0).all()
        assert Z[0, 2] >= 0
        assert Z[-1, 2] <= 1


# ---- The hierarchy ----


@pytest.mark.parametrize("linkage", LINKAGES)
@given(labels=label_matrices(max_objects=12, missing=False))
def test_greedy_merges_with_the_stated_ties(linkage, labels):
    assert_same_merges(hierarchy_of(labels, linkage=linkage), naive_merges(labels, linkage))


@pytest.mark.parametrize("linkage", ["single", "complete"])
@given(labels=label_matrices(max_objects=12))
def test_greedy_merges_with_missing_labels(linkage, labels):
    assert_same_merges(hierarchy_of(labels, linkage=linkage), naive_merges(labels, linkage))


@pytest.mark.core(3)
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("linkage", LINKAGES)
def test_greedy_merges_of_planted_clusters(linkage, seed):
    labels = with_equal_rows(planted_labels(n=30, p=9, k=3, noise=0.25, seed=seed)[0], 45, seed)
    assert_same_merges(hierarchy_of(labels, linkage=linkage), naive_merges(labels, linkage))


def naive_rounds(codes, counts):
    """Average linkage of rows with all labels, on the matrix of whole sums: pairs and similarities, greedy.

    Ties: the smallest pair of first rows. Equal ratios are equal floats, for each is one division of exact numbers.
    """
    m, p = codes.shape
    sums = (codes[:, None] == codes[None]).sum(axis=2) * np.outer(counts, counts).astype(float)
    sizes, left, found = counts.astype(float), np.ones(m, dtype=bool), []
    for _ in range(m - 1):
        similar = sums / (p * np.outer(sizes, sizes))
        similar[~left], similar[:, ~left] = -1, -1
        similar[np.tril_indices(m)] = -1
        a, b = np.unravel_index(np.argmax(similar), (m, m))
        found.append((a, b, similar[a, b]))
        sums[a] += sums[b]
        sums[:, a] += sums[:, b]
        sizes[a] += sizes[b]
        left[b] = False
    return found


def assert_rounds_are_greedy(codes, counts, n_jobs=1):
    codes = np.unique(codes, axis=0)
    counts = np.resize(counts, len(codes))
    rows = numbered_by_content(codes, counts)  # ties go by the order of the rows
    order = np.lexsort(rows.T[::-1])
    rows, counts = rows[order], counts[order]
    Z = EvidenceAccumulation(1, n_jobs=n_jobs).fit(rows, sample_weight=counts).linkage_matrix_
    expected = naive_rounds(rows, counts)
    assert_array_equal(naive.first_members(Z), naive.first_members_of_pairs(expected))
    assert_array_equal(Z[:, 2], [1 - similarity for *_, similarity in expected])


@pytest.mark.core(3)
@pytest.mark.usefixtures("only_kernels")
@pytest.mark.parametrize("n", [2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 130])
@pytest.mark.parametrize("k", [2, 4, 30], ids=["ties everywhere", "ties", "few ties"])
def test_rounds_are_greedy_around_the_lanes(n, k):
    rng = np.random.default_rng(n + k)
    assert_rounds_are_greedy(rng.integers(k, size=(n, 9)).astype(np.uint8), np.ones(1, dtype=np.int64))


@pytest.mark.core(3)
@pytest.mark.usefixtures("only_kernels")
@pytest.mark.parametrize("p", [5, 255, 256])
@pytest.mark.parametrize("most", [1, 60, 3_000, 200_000], ids=["bytes", "words", "single", "double"])
def test_rounds_with_sums_of_every_type(p, most):
    rng = np.random.default_rng(most)
    codes = rng.integers(3, size=(70, p)).astype(np.uint16)
    assert_rounds_are_greedy(codes, rng.integers(1, most + 1, size=70), n_jobs=2)


def test_rounds_end_where_rounding_makes_a_circle(monkeypatch):
    """Similarities that differ by less than a float64 tells may point in a circle: here each to the next of three."""

    def circle(queries, screens, joins, whole, profiles, n_jobs):
        if len(queries):
            profiles.bound[queries] = 0.5
            left = np.flatnonzero(profiles.bound >= 0)
            profiles.partner[left] = np.roll(left, -1)

    monkeypatch.setattr("ensemblage.consensus.hierarchies._linkage._find_partners", circle)
    Z = EvidenceAccumulation(1).fit([[0, 0], [0, 1], [1, 0]]).linkage_matrix_
    assert_array_equal(Z, [[0, 1, 0.5, 2], [2, 3, 0.5, 3]])


@pytest.mark.parametrize("linkage", ["single", "complete", "average"])
@given(labels=label_matrices(max_objects=12, max_clusters=2))
def test_every_cut_gives_exactly_as_many_clusters_each_within_one_of_the_cut_above(linkage, labels):
    """Heights are tied here: a cut at a height would give fewer."""
    labels = labels[(labels >= 0).any(axis=1)]
    above = np.zeros(len(labels), dtype=int)
    for k in range(1, len(np.unique(labels, axis=0)) + 1):
        model = EvidenceAccumulation(k, linkage=linkage).fit(labels)
        assert_array_equal(np.unique(model.labels_), np.arange(k))
        assert len(set(zip(model.labels_.tolist(), above.tolist(), strict=True))) == k
        above = model.labels_


@given(labels=label_matrices(max_objects=12))
def test_average_is_a_ratio_of_sums(labels):
    model = EvidenceAccumulation().fit(labels)
    assert_valid(model.linkage_matrix_)
    assert_closest_at_their_moment(model.linkage_matrix_, ratio_of_sums(*naive.joined_and_labelled(labels)))


@pytest.mark.parametrize("linkage", ["single", "complete"])
@given(labels=label_matrices(max_objects=12))
def test_linkage_of_the_explicit_matrix(linkage, labels):
    model = EvidenceAccumulation(linkage=linkage).fit(labels)
    assert_valid(model.linkage_matrix_)
    assert_closest_at_their_moment(model.linkage_matrix_, of_matrix(naive.coassociation(labels), linkage))


@pytest.mark.core(3)
@pytest.mark.parametrize("p", [3, 20, 300])
def test_single_linkage_heights_are_scipys(p, missing):
    labels = with_equal_rows(planted_labels(n=150, p=p, k=5, noise=0.4, missing=missing, seed=p)[0], 200)
    distances = 1 - naive.coassociation(labels)
    expected = hierarchy.linkage(squareform(distances, checks=False), "single")
    model = EvidenceAccumulation(linkage="single").fit(labels)
    assert_valid(model.linkage_matrix_)
    assert_array_equal(model.linkage_matrix_[:, 2], expected[:, 2])


@pytest.mark.parametrize("linkage", ["average", "complete"])
def test_scipy_where_nothing_is_tied(linkage):
    # Weights that are powers of two: every subset of the partitions has another sum.
    labels = random_labels(n=40, p=30, k=2, seed=4)
    weights = 1.5 ** np.arange(30)
    expected = hierarchy.linkage(squareform(1 - coassociation(labels, weights=weights), checks=False), linkage)
    model = EvidenceAccumulation(linkage=linkage, weights=weights).fit(labels)
    assert_allclose(model.linkage_matrix_[:, [0, 1, 3]], expected[:, [0, 1, 3]])
    assert_allclose(model.linkage_matrix_[:, 2], expected[:, 2], atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("p", first_of([10, 300]))
@pytest.mark.parametrize("linkage", LINKAGES)
def test_wide_codes_and_many_partitions(linkage, p):
    labels = np.unique(planted_labels(n=300, p=p, k=5, noise=0.4, seed=1)[0], axis=0)
    all_apart = np.column_stack([labels, np.arange(len(labels))])
    assert Ensemble(all_apart).codes.dtype == np.uint16
    found, expected = hierarchy_of(all_apart, linkage=linkage), hierarchy_of(labels, linkage=linkage)
    assert_array_equal(found[:, [0, 1, 3]], expected[:, [0, 1, 3]])
    assert_allclose(1 - found[:, 2], (1 - expected[:, 2]) * p / (p + 1), atol=1e-14)


@pytest.mark.parametrize("linkage", LINKAGES)
def test_weights_are_repeated_partitions(linkage, missing):
    labels = planted_labels(n=40, p=4, k=3, noise=0.3, missing=missing, seed=2)[0]
    weighted = EvidenceAccumulation(linkage=linkage, weights=[1, 2, 3, 1]).fit(labels)
    repeated = EvidenceAccumulation(linkage=linkage).fit(labels[:, [0, 1, 1, 2, 2, 2, 3]])
    assert_allclose(weighted.linkage_matrix_[:, 2], repeated.linkage_matrix_[:, 2], atol=1e-6)


@pytest.mark.parametrize("linkage", LINKAGES)
def test_twins_first_and_unlabelled_objects_last(linkage):
    labels = np.array([[0, 0], [1, 1], [-1, -1], [0, 0], [1, 0], [-1, -1]])
    Z = EvidenceAccumulation(2, linkage=linkage).fit(labels).linkage_matrix_
    assert_valid(Z)
    assert_array_equal(Z[0], [0, 3, 0, 2])
    assert_array_equal(Z[-2:, 2], 1)
    assert {2, 5} == set(Z[-2:, :2].ravel()) & set(range(6))


@pytest.mark.parametrize("linkage", LINKAGES)
def test_a_million_pairs_of_twins(linkage):
    labels = with_equal_rows(planted_labels(n=20, p=5, k=3, seed=1)[0], 3000)
    Z = EvidenceAccumulation(3, linkage=linkage).fit(labels).linkage_matrix_
    n_rows = len(np.unique(labels, axis=0))
    assert_valid(Z)
    assert_array_equal(Z[: 3000 - n_rows, 2], 0)
    assert (Z[3000 - n_rows :, 2] > 0).all()


# ---- Enhanced similarities and thresholds ----


SIMILARITIES = {"ecpcs": naive.ecpcs, "cts": naive.cts}


def test_toy_of_the_notes():
    assert_allclose(coassociation(toy())[0, 2:6], [0.75, 0.25, 0, 0])
    for twin, expected in ((naive.ecpcs, [0.9629, 0.8438, 0.7326, 0.4253]), (naive.cts, [0.95, 0.65, 0.55, 0.15])):
        assert_allclose(naive.enhanced_association(toy(), twin(toy()))[0, 2:6], expected, atol=5e-5)


@pytest.mark.parametrize("similarity", SIMILARITIES)
def test_label_similarities(similarity, missing):
    """Single linkage joins two objects at the least longest step on a way between them."""
    labels = random_labels(n=24, p=4, k=5, missing=missing, seed=6)
    expected = naive.enhanced_association(labels, SIMILARITIES[similarity](labels))
    model = EvidenceAccumulation(1, linkage="single", similarity=similarity).fit(labels)
    assert_allclose(hierarchy.cophenet(model.linkage_matrix_), least_bottlenecks(1 - expected), atol=1e-10)


def least_bottlenecks(distances):
    """(n (n - 1) / 2,) the least longest step on a way between two objects."""
    found = distances.copy()
    for i in range(len(found)):
        found = np.minimum(found, np.maximum(found[:, [i]], found[[i]]))
    return squareform(found, checks=False)


@pytest.mark.parametrize("similarity", SIMILARITIES)
def test_a_cluster_that_shares_nothing_is_similar_to_nothing(similarity):
    labels = np.array([[0, 0], [1, 1], [1, 1], [2, -1]])
    Z = EvidenceAccumulation(1, similarity=similarity).fit(labels).linkage_matrix_
    assert np.isfinite(Z).all()
    assert Z[-1, 2] == 1


@pytest.mark.core(3)
@pytest.mark.parametrize("similarity", ["ecpcs", "cts"])
@pytest.mark.parametrize("linkage", LINKAGES)
def test_enhanced_linkage(linkage, similarity):
    labels = planted_labels(n=25, p=5, k=3, noise=0.3, seed=8)[0]
    matrix = naive.enhanced_association(labels, getattr(naive, similarity)(labels))
    model = EvidenceAccumulation(3, linkage=linkage, similarity=similarity).fit(labels)
    assert_valid(model.linkage_matrix_)
    assert_closest_at_their_moment(model.linkage_matrix_, of_matrix(matrix, linkage))


@pytest.mark.core(3)
@pytest.mark.parametrize(
    ("similarity", "weights"),
    [("coassociation", None), ("coassociation", [1, 2, 1, 1, 3]), ("cts", None)],
    ids=["plain", "weighted", "cts"],
)
@pytest.mark.parametrize("linkage", LINKAGES)
def test_threshold(linkage, similarity, weights, missing):
    labels = with_equal_rows(planted_labels(n=18, p=5, k=3, noise=0.3, missing=missing, seed=8)[0], 25)
    matrix = naive.coassociation(labels, None if weights is None else np.array(weights))
    if similarity == "cts":
        matrix = naive.enhanced_association(labels, naive.cts(labels))
    threshold = float(np.quantile(matrix, 0.6))
    matrix[matrix <= threshold + 1e-9] = 0
    model = EvidenceAccumulation(
        3, linkage=linkage, similarity=similarity, association_threshold=threshold, weights=weights
    ).fit(labels)
    assert_valid(model.linkage_matrix_)
    assert model.association_threshold_ == threshold
    labelled = naive.joined_and_labelled(labels, None if weights is None else np.array(weights))[1]
    similarity_of = ratio_of_sums(matrix * labelled, labelled) if linkage == "average" else of_matrix(matrix, linkage)
    assert_closest_at_their_moment(model.linkage_matrix_, similarity_of)


TIES = np.array(
    [
        [0, 0, 1, 0],
        [0, 1, 0, 0],
        [0, 1, 0, 0],
        [1, 0, 0, 0],
        [-1, 0, 0, 0],
        [0, 1, 0, 0],
        [0, 0, 0, -1],
        [-1, -1, -1, 0],
    ]
)
"""Object 7 agrees with 0 and with 4 and 6 wherever both have labels."""


@pytest.mark.parametrize("linkage", LINKAGES)
@given(labels=label_matrices(max_objects=12))
@example(labels=TIES)
def test_threshold_zero_changes_nothing(linkage, labels):
    plain = EvidenceAccumulation(linkage=linkage).fit(labels)
    zero = EvidenceAccumulation(linkage=linkage, association_threshold=0).fit(labels)
    assert_array_equal(zero.linkage_matrix_, plain.linkage_matrix_)


@given(labels=label_matrices(max_objects=12), threshold=st.sampled_from([0, 0.2, 0.25, 1 / 3, 0.5, 0.75]))
def test_thresholded_average_keeps_the_stated_ties(labels, threshold):
    assume((naive.joined_and_labelled(labels)[1] > 0).all())
    expected = naive_merges(labels, "average", threshold)
    assert_same_merges(hierarchy_of(labels, association_threshold=threshold), expected)


@pytest.mark.core(1)
@pytest.mark.parametrize("weights", [None, [1, 2, 1, 3, 2, 1, 1]], ids=["plain", "weighted"])
@pytest.mark.parametrize("threshold", [0.3, 0.5])
def test_thresholded_average_with_many_gaps_and_twins(threshold, weights):
    for seed in range(20):
        labels = with_equal_rows(planted_labels(n=14, p=7, k=2, noise=0.3, missing=0.3, seed=seed)[0], 25, seed)
        expected = naive_merges(labels, "average", threshold, None if weights is None else np.array(weights, float))
        assert_same_merges(hierarchy_of(labels, association_threshold=threshold, weights=weights), expected)


def test_thresholded_average_equals_the_profiles_when_it_removes_nothing():
    labels = with_equal_rows(planted_labels(n=80, p=9, k=4, noise=0.3, seed=5)[0], 120)
    without, with_matrix = hierarchy_of(labels), hierarchy_of(labels, association_threshold=1e-6)
    assert_array_equal(without[:, [0, 1, 3]], with_matrix[:, [0, 1, 3]])
    assert_allclose(without[:, 2], with_matrix[:, 2], atol=1e-14)


# ---- The number of clusters ----


@pytest.mark.parametrize("linkage", LINKAGES)
@given(labels=label_matrices(max_objects=15))
def test_exactly_as_many_clusters_as_asked_for(linkage, labels):
    n_rows = len(distinct_rows(labels)[0])
    for k in range(1, n_rows + 1):
        model = EvidenceAccumulation(k, linkage=linkage).fit(labels)
        assert len(np.unique(model.labels_[model.labels_ >= 0])) == k == model.n_clusters_


@pytest.mark.parametrize("linkage", LINKAGES)
def test_clusters_are_those_of_the_hierarchy(linkage):
    labels = planted_labels(n=70, p=8, k=4, noise=0.3, seed=3)[0]
    model = EvidenceAccumulation(4, linkage=linkage).fit(labels)
    Z = model.linkage_matrix_
    members = {i: [i] for i in range(70)}
    for s, (a, b) in enumerate(Z[: 70 - 4, :2].astype(int)):
        members[70 + s] = members.pop(a) + members.pop(b)
    assert {frozenset(c) for c in members.values()} == {frozenset(np.flatnonzero(model.labels_ == c)) for c in range(4)}


@pytest.mark.parametrize("linkage", LINKAGES)
def test_longest_lifetime_finds_planted_clusters(linkage):
    labels, truth = planted_labels(n=200, p=30, k=4, noise=0.02, seed=1)
    model = EvidenceAccumulation(linkage=linkage).fit(labels)
    assert model.n_clusters_ == 4
    assert len({*zip(model.labels_, truth, strict=True)}) == 4


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ([[0]], 1),
        ([[0], [0]], 1),
        ([[0], [1]], 2),
        ([[0, 0], [0, 1], [0, 1]], 2),
        ([[0, 0], [0, 1], [1, 2]], 2),
        ([[0], [0], [1], [1], [2], [2]], 3),
    ],
)
@pytest.mark.parametrize("linkage", LINKAGES)
def test_lifetime_of_few_rows(linkage, labels, expected):
    assert EvidenceAccumulation(linkage=linkage).fit(labels).n_clusters_ == expected


# ---- Input ----


def test_ward_is_refused_with_the_reason():
    with pytest.raises(ValueError, match=r"'ward', which takes co-associations for Euclidean distances"):
        EvidenceAccumulation(linkage="ward").fit(toy())


@pytest.mark.parametrize("bad", [-0.1, 1, 1.5, np.nan, True, [0.5]])
def test_threshold_outside_its_range(bad):
    with pytest.raises(
        ValueError, match=r"association_threshold of EvidenceAccumulation must be .* a number ≥ 0 and < 1, or None"
    ):
        EvidenceAccumulation(association_threshold=bad).fit(toy())


@pytest.mark.parametrize("bad", [{"linkage": "median"}, {"similarity": "jaccard"}, {"association_threshold": "otsu"}])
def test_unknown_words(bad):
    with pytest.raises(ValueError, match="must be one of"):
        EvidenceAccumulation(**bad).fit(toy())


def test_threshold_by_a_method_needs_coassociation():
    with pytest.raises(ValueError, match=r"must be a number where similarity is 'cts', which is not the co-assoc"):
        EvidenceAccumulation(association_threshold="gmm", similarity="cts").fit(toy())


@pytest.mark.parametrize(
    "parameters",
    [
        {"linkage": "complete"},
        {"association_threshold": 0.2},
        {"linkage": "complete", "similarity": "cts"},
        {"similarity": "cts", "association_threshold": 0.2},
    ],
)
def test_matrix_above_the_memory_limit(parameters):
    labels = random_labels(n=300, p=8, k=5)
    with pytest.raises(ValueError, match=r"must fit into max_bytes = 10,000 bytes\. Got [\d,]+ bytes for the simil"):
        EvidenceAccumulation(max_bytes="10KB", **parameters).fit(labels)


PEAK = """
import sys
import numpy as np
from ensemblage import Ensemble
from ensemblage.consensus import EvidenceAccumulation
from ensemblage.kernels import _jit
_jit.FEW_OPERATIONS = -1  # the kernels are compiled before
def memory(name):
    return next(1024 * int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(name))
n, p, k, gaps, copies = {shape}
rng = np.random.default_rng(0)
labels = rng.integers(k, size=(n, p))
labels[rng.random((n, p)) < gaps] = -1
ensemble = Ensemble(np.repeat(labels, copies, axis=0))
ensemble.distinct
model = EvidenceAccumulation(n_jobs=2, **{parameters})
def least(ensemble):
    try:
        model.set_params(max_bytes=1).fit(ensemble)
    except ValueError as error:
        return int(str(error).split("Got ")[1].split(" bytes")[0].replace(",", ""))
for enough in ("8GB", least(ensemble[:100])):  # both ways of the kernels are compiled
    model.set_params(max_bytes=enough).fit(ensemble[:100])
bound = least(ensemble)
before = memory("VmRSS")
open("/proc/self/clear_refs", "w").write("5")
model.set_params(max_bytes=bound).fit(ensemble)
print(memory("VmHWM") - before, bound)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the peak of the memory is read from /proc")
@pytest.mark.parametrize(
    ("shape", "parameters"),
    first_of(
        [
            ((9_000, 20, 4, 0, 1), {"linkage": "complete"}),
            ((4_000, 20, 4, 0.2, 1), {"association_threshold": 0.3}),
            ((4_000, 20, 4, 0, 1), {"linkage": "complete", "weights": list(range(1, 21))}),
            ((500, 10, 4, 0, 1000), {"linkage": "complete"}),
            ((1_000, 40, 40, 0, 1), {"similarity": "ecpcs"}),
            ((1_000, 40, 40, 0, 1), {"similarity": "cts"}),
        ]
    ),
)
def test_max_bytes_is_the_peak(shape, parameters):
    code = PEAK.format(shape=shape, parameters=parameters)
    peak, bound = map(int, subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout.split())
    assert bound / 3 < peak <= bound


def test_every_thread_needs_room_for_the_labels():
    labels, needed = np.tile(np.arange(300)[:, None], 4), []
    for n_jobs in (1, 2, 3):
        with pytest.raises(ValueError, match="must fit into max_bytes") as error:
            EvidenceAccumulation(linkage="complete", max_bytes=1, n_jobs=n_jobs).fit(labels)
        needed.append(int(str(error.value).split("Got ")[1].split(" bytes")[0].replace(",", "")))
    assert needed[2] - needed[1] == needed[1] - needed[0] > 0


@pytest.mark.parametrize("linkage", LINKAGES)
def test_one_object_and_one_partition(linkage):
    one = EvidenceAccumulation(linkage=linkage, association_threshold="gmm").fit([[0, 1, 1]])
    assert one.linkage_matrix_.shape == (0, 4)
    assert one.n_clusters_ == 1
    single = EvidenceAccumulation(linkage=linkage, association_threshold="kmeans").fit([[0], [1], [0], [2]])
    assert single.association_threshold_ == 0
    assert_array_equal(single.linkage_matrix_[:, 2], [0, 1, 1])


def test_threshold_of_an_earlier_fit_is_forgotten():
    model = EvidenceAccumulation(association_threshold="kmeans").fit(toy())
    assert model.association_threshold_ > 0
    model.set_params(association_threshold=None).fit(toy())
    assert not hasattr(model, "association_threshold_")


# ---- The page ----


@pytest.mark.core(1)
@pytest.mark.parametrize(("linkage", "threshold"), [("average", None), ("single", "kmeans")])
def test_page_shows_the_hierarchy_and_the_associations(linkage, threshold, missing):
    labels = with_equal_rows(planted_labels(n=60, p=8, k=3, noise=0.2, missing=missing, seed=2)[0], 90)
    model = EvidenceAccumulation(3, linkage=linkage, association_threshold=threshold).fit(labels)
    summary = report.summarize(labels, model)
    shown = {record["kind"]: record for record in json.loads(json.dumps(summary))["evidence"]}
    assert sum(shown["Dendrogram"]["sizes"]) == np.count_nonzero(model.labels_ >= 0)
    assert sum(shown["PairCounts"]["counts"]) == association_counts(labels).sum()
    assert shown["PairCounts"]["parted_at"]["gmm"] == weak_association_threshold(labels, "gmm")
    assert shown["PairCounts"]["threshold"] == (None if threshold is None else model.association_threshold_)
    page = report.render(summary)
    assert "How the clusters come together" in page
    assert ("Without weak associations" in page) == (threshold is not None)


def test_page_of_one_object():
    assert summary_of([[0, 1]])["evidence"] == []


def test_page_of_two_objects():
    assert "How strong" in report.render(summary_of([[0, 1], [0, 2]]))


def summary_of(labels):
    return report.summarize(labels, EvidenceAccumulation().fit(labels))


@pytest.mark.core(3)
@pytest.mark.parametrize("m", [255, 256, 257, 513])
@pytest.mark.parametrize(
    ("p", "missing", "threshold"), [(3, 0.0, None), (7, 0.2, None), (9, 0.0, 0.3), (253, 0.0, None)]
)
def test_complete_linkage_on_bytes_merges_as_on_a_condensed_matrix(m, p, missing, threshold, monkeypatch):
    labels = planted_labels(n=2 * m, p=p, k=5, noise=0.5, missing=missing, seed=m)[0]
    ensemble = Ensemble(np.unique(labels, axis=0)[:m])
    model = EvidenceAccumulation(3, linkage="complete", association_threshold=threshold)
    on_bytes = model.fit(ensemble).linkage_matrix_
    limit(monkeypatch, "different similarities in bytes", 0)
    assert_array_equal(model.fit(ensemble).linkage_matrix_, on_bytes)


def test_complete_linkage_where_bytes_do_not_hold_the_levels():
    labels = np.random.default_rng(0).integers(3, size=(40, 300))
    assert_same_merges(hierarchy_of(labels, linkage="complete"), naive_merges(labels, "complete"))
