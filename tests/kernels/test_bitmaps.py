"""Bitmaps: numbers of partitions in bit planes, and what the methods on pairs make of them."""

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inside import numbered_by_content, rows_of
from limits import limit
from numpy.testing import assert_array_equal
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform
from strategies import planted_labels, random_labels, with_equal_rows

from ensemblage import Ensemble
from ensemblage.consensus import CSPA, EvidenceAccumulation
from ensemblage.consensus.graphs._cspa import association_graph
from ensemblage.kernels import _bitmaps as kernels
from ensemblage.kernels._bitmaps import BLOCK_BITS, WORDS, plane_count
from ensemblage.kernels._jit import jit
from ensemblage.kernels._spanning_trees import fill_planes
from ensemblage.kernels._vectors import EIGHT
from ensemblage.metrics._coassociation import association_counts
from ensemblage.ranking import DISCOTEC

pytestmark = pytest.mark.usefixtures("only_kernels")

SIZES = [2, 3, 63, 64, 65, 127, 128, 129]
AROUND_A_BLOCK = [BLOCK_BITS - 1, BLOCK_BITS, BLOCK_BITS + 1, BLOCK_BITS + 65]
PARTITIONS = [1, 2, 3, 7, 8, 9, 63, 64, 65, 127, 128, 255, 256, 257]


@pytest.fixture
def without_bitmaps(monkeypatch):
    """Call a function by bitmaps, and by the comparison of codes."""

    def both(function):
        by_bits = function()
        with monkeypatch.context() as patch:
            limit(patch, "bytes of the bitmaps of a tile", 0)
            limit(patch, "bytes of bitmaps for the graph of all pairs", 0)
            limit(patch, "bytes of bitmaps for single linkage", 0)
            return by_bits, function()

    return both


# ---- The steps ----


@jit
def count(maps, k, numbers, planes):
    kernels.count_in_planes(maps, k, numbers, planes)


@jit
def mark(planes, best, left, marks):
    return kernels.mark_no_worse(planes, best, left, marks)


@pytest.mark.parametrize("n_planes", [1, 3, 6, 9])
@pytest.mark.parametrize("share", [0, 0.001, 0.5, 1])
def test_rows_are_marked_whose_number_is_no_worse(n_planes, share):
    rng = np.random.default_rng(n_planes)
    numbers, best = rng.integers(2**n_planes, size=(2, BLOCK_BITS))
    numbers[rng.random(BLOCK_BITS) < 0.5] = 0
    left = rng.random(BLOCK_BITS) < share
    planes = [np.zeros((1, n_planes, WORDS), np.uint64) for _ in range(2)]
    for of, filled in zip((numbers, best), planes, strict=True):
        fill_planes(of, filled)
    bits, marks = np.packbits(left, bitorder="little").view(np.uint64), np.full(WORDS, 7, np.uint64)
    expected = left & (numbers > 0) & (numbers >= best)
    assert mark(planes[0][0], planes[1][0], bits, marks) == expected.any()
    assert_array_equal(np.unpackbits(marks.view(np.uint8), bitorder="little"), expected)


@pytest.mark.parametrize("p", PARTITIONS)
def test_numbers_in_planes(p):
    rng = np.random.default_rng(p)
    maps = rng.integers(2**64, size=(12, 2, WORDS), dtype=np.uint64)
    maps[0], maps[-1] = 2**64 - 1, 0
    numbers = rng.integers(11, size=p)
    numbers[: rng.integers(p + 1)] = 0
    padded = np.append(numbers, np.full(-p % EIGHT, 11)).astype(np.uint64)
    planes = rng.integers(2**64, size=(plane_count(p), WORDS), dtype=np.uint64)
    count(maps, 1, padded, planes)
    assert_array_equal(naive.numbers_of_planes(planes), naive.bits_of(maps[:, 1])[numbers].sum(axis=0))


@given(st.integers(0, 2**64 - 1))
def test_bits_of_a_word(word):
    assert kernels.count_bits(np.uint64(word)) == word.bit_count()
    if word:
        assert kernels.lowest_bit(np.uint64(word)) == (word & -word).bit_length() - 1


@pytest.mark.parametrize("number", [1, 2, 3, 31, 32, 63])
def test_marks(number):
    planes = np.random.default_rng(number).integers(2**64, size=(6, WORDS), dtype=np.uint64)
    marks = planes[0] ^ planes[5]
    before, numbers = naive.bits_of(marks), naive.numbers_of_planes(planes)
    kernels.mark_at_least(planes, number, marks)
    assert_array_equal(naive.bits_of(marks), before & (numbers >= number))
    w, bit = 7, number % 64
    assert kernels.number_at(planes, w, bit) == numbers[64 * w + bit]


@pytest.mark.parametrize("place", [-1, 0, 62, 63, 64, 127, BLOCK_BITS - 1])
def test_rows_after_a_place(place):
    maps, n = np.zeros((3, 1, WORDS), dtype=np.uint64), BLOCK_BITS - 3
    kernels.fill_maps(np.zeros((n, 1), dtype=np.uint8), np.zeros(1, dtype=np.int64), np.arange(n), 0, maps)
    marks = np.empty(WORDS, dtype=np.uint64)
    kernels.mark_after(maps, 0, place, marks)
    assert_array_equal(np.flatnonzero(naive.bits_of(marks)), np.arange(place + 1, BLOCK_BITS - 3))


# ---- The methods ----


@pytest.mark.parametrize("n", SIZES)
def test_histogram_and_sums_follow_the_definition(n):
    labels = with_equal_rows(random_labels(n=n, p=5, k=3, seed=n), n)
    assert_array_equal(association_counts(labels), naive.association_counts(labels))
    scores = [naive.discotec(labels, z, "binary") for z in labels.T]
    np.testing.assert_allclose(DISCOTEC().fit(labels).scores_, scores)


@pytest.mark.core(3)
@pytest.mark.parametrize("tile_bytes", [2**15, 2**26])
@pytest.mark.parametrize(("n", "p"), [*((130, p) for p in PARTITIONS), *((n, 9) for n in AROUND_A_BLOCK)])
def test_histogram_and_sums_are_those_of_codes(n, p, tile_bytes, without_bitmaps, monkeypatch):
    limit(monkeypatch, "bytes of the bitmaps of a tile", tile_bytes)
    labels = with_equal_rows(planted_labels(n=n, p=p, k=4, noise=0.5, seed=p)[0], n + n // 5)
    ensemble = Ensemble(labels)
    histogram = lambda n_jobs: association_counts(ensemble, n_jobs=n_jobs)  # noqa: E731
    assert_array_equal(*without_bitmaps(lambda: histogram(1)))
    assert_array_equal(histogram(1), histogram(2))
    if p > 2:
        discotec = lambda n_jobs: DISCOTEC(n_jobs=n_jobs).fit(ensemble)  # noqa: E731
        assert_array_equal(*without_bitmaps(lambda: discotec(1).scores_))
        assert_array_equal(discotec(1).scores_, discotec(2).scores_)
        outsider = np.arange(len(labels)) % 7
        assert len(set(without_bitmaps(lambda: float(discotec(None).score_labels(outsider))))) == 1


@pytest.mark.core(3)
@pytest.mark.parametrize("k", [2, 5])
@pytest.mark.parametrize("n", [3, 63, 64, 65])
def test_tree_follows_the_definition(n, k):
    """Few labels: most edges are tied."""
    labels = random_labels(n=n, p=4, k=k, seed=n)
    Z = EvidenceAccumulation(linkage="single", n_jobs=1).fit(labels).linkage_matrix_
    expected = 1 - naive.coassociation(labels)
    np.testing.assert_array_equal(Z[:, 2], linkage(squareform(expected, checks=False), "single")[:, 2])
    rows, counts = np.unique(numbered_by_content(labels), axis=0, return_counts=True)
    model = EvidenceAccumulation(linkage="single", n_jobs=1).fit(rows, sample_weight=counts)
    merges = naive.merges(*naive.joined_and_labelled(rows), counts, "single")
    assert_array_equal(naive.first_members(model.linkage_matrix_), naive.first_members_of_pairs(merges))


@pytest.mark.core(3)
@pytest.mark.parametrize(
    ("n", "p", "k"),
    [*((130, p, 3) for p in PARTITIONS), *((n, 9, 5) for n in AROUND_A_BLOCK), (3 * BLOCK_BITS, 3, 24), (9000, 2, 99)],
)
def test_tree_is_that_of_codes(n, p, k, without_bitmaps):
    labels = planted_labels(n=n, p=p, k=k, noise=0.6, seed=p)[0]
    tree = lambda: EvidenceAccumulation(linkage="single", n_jobs=1).fit(labels).linkage_matrix_  # noqa: E731
    assert_array_equal(*without_bitmaps(tree))


@pytest.mark.core(3)
@pytest.mark.parametrize(("n", "p"), [*((130, p) for p in PARTITIONS), *((n, 6) for n in [*SIZES, *AROUND_A_BLOCK])])
@pytest.mark.parametrize(("n_neighbors", "threshold"), [(1, 0.0), (7, 0.0), (7, 0.4), (100, 0.9)])
def test_neighbours_are_those_of_codes(n, p, n_neighbors, threshold, without_bitmaps):
    labels = planted_labels(n=n, p=p, k=4, noise=0.5, seed=p)[0]
    rows = rows_of(labels)
    codes = rows.codes[np.random.default_rng(n).permutation(len(rows))]

    def graph(n_jobs):
        given = rows.n_clusters, rows.weights, threshold, n_neighbors
        return association_graph(codes, *given, n_jobs=n_jobs)

    graphs = without_bitmaps(lambda: graph(1))
    graphs = *graphs, graph(2)
    for other in graphs[1:]:
        for part in ("indptr", "indices", "data"):
            assert_array_equal(getattr(graphs[0], part), getattr(other, part))


@pytest.mark.parametrize(
    "model", [CSPA(3, n_neighbors=9, random_state=0), EvidenceAccumulation(3, linkage="single")], ids=["cspa", "single"]
)
def test_a_method_gives_the_same_labels(model, without_bitmaps):
    labels = with_equal_rows(planted_labels(n=300, p=8, k=3, noise=0.4, seed=1)[0], 400)
    assert_array_equal(*without_bitmaps(lambda: model.fit(labels).labels_))
