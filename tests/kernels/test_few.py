"""What NumPy does for few objects, so that no kernel must be compiled: the same bits as the kernels give."""

import numpy as np
import pytest
from hypothesis import given
from strategies import label_matrices

from ensemblage import Ensemble
from ensemblage.consensus import EvidenceAccumulation
from ensemblage.kernels import _jit
from ensemblage.metrics import coassociation, ensemble_ari
from ensemblage.ranking import DISCOTEC, AverageAgreement, _discotec


def average_hierarchy(labels, weights=None):
    return EvidenceAccumulation(1, weights=weights).fit(labels).linkage_matrix_


RESULTS = {
    "codes": lambda labels: Ensemble(labels).codes,
    "distinct rows": lambda labels: Ensemble(labels).distinct.codes[:],
    "their counts": lambda labels: Ensemble(labels).distinct.counts,
    "their places": lambda labels: Ensemble(labels).distinct.inverse,
    "co-association": lambda labels: coassociation(labels, weights=np.linspace(0.1, 1, labels.shape[1])),
    "ARI": lambda labels: AverageAgreement("ari").fit(np.c_[labels, labels[:, 0]]).agreement_,
    "NMI": lambda labels: AverageAgreement("nmi").fit(np.c_[labels, labels[:, 0]]).agreement_,
    "ARI with a partition": lambda labels: ensemble_ari(labels, labels[:, 0]),
    "average linkage": lambda labels: average_hierarchy(labels),
    "average linkage of counted rows": lambda labels: average_hierarchy(np.repeat(labels, 1 + len(labels) % 3, axis=0)),
    "average linkage by weights": lambda labels: average_hierarchy(labels, np.linspace(0.1, 1, labels.shape[1])),
    "DISCOTEC": lambda labels: DISCOTEC().fit(labels).scores_,
}


@pytest.mark.core(3)
@pytest.mark.parametrize("result", RESULTS)
@pytest.mark.filterwarnings("ignore")
@given(labels=label_matrices())
def test_few_objects_give_the_bits_of_the_kernels(result, labels):
    found = []
    for limit in (_jit.FEW_OPERATIONS, -1):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(_jit, "FEW_OPERATIONS", limit)
            found.append(RESULTS[result](labels))
    few, many = found
    assert np.asarray(few).dtype == np.asarray(many).dtype
    np.testing.assert_array_equal(few, many)


@pytest.mark.parametrize("weighted", [False, True], ids=["equal weights", "weights"])
@pytest.mark.parametrize("noise", [0.05, 0.4, 1.0])
def test_average_linkage_of_many_ties(noise, weighted):
    """All labels are there, and many pairs of clusters are equally similar."""
    rng = np.random.default_rng(0)
    for k in (2, 3, 5):
        classes = rng.integers(k, size=70)
        labels = np.where(rng.random((70, 9)) < noise, rng.integers(k, size=(70, 9)), classes[:, None])
        labels = np.repeat(labels, rng.integers(1, 4, size=70), axis=0)
        weights = rng.choice([0.1, 0.3, 0.5], size=9) if weighted else None
        few = average_hierarchy(labels, weights)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(_jit, "FEW_OPERATIONS", -1)
            np.testing.assert_array_equal(few, average_hierarchy(labels, weights))


@pytest.mark.parametrize("threshold", [0, 2])
@pytest.mark.parametrize("count", [10**8, 10**9])
def test_wide_sums_of_few_rows(count, threshold):
    """Beyond 2³¹ objects the sums of their pairs have no room in 63 bits."""
    labels = np.array([[0, 0, 0], [0, 1, 0], [1, 1, 1], [1, 1, 2]])
    codes = _discotec.Codes.of(labels, labels.max(axis=0) + 1)
    nothing = np.empty((0, 0, 0), dtype=np.int64)
    found = _discotec.wide_sums_over_pairs(codes, codes, np.full(4, count), np.full(4, threshold), nothing)
    joined = (labels[:, None] == labels).sum(axis=2) >= threshold
    expected = [int((joined & (z[:, None] == z)).sum()) * count**2 for z in labels.T]
    assert [int(high) * 2**31 + int(low) for high, low in found.joined] == expected
    assert [int(high) * 2**31 + int(low) for high, low in found.labelled] == [int(joined.sum()) * count**2]


@pytest.mark.usefixtures("only_kernels")
def test_wide_sums_beyond_64_bits():
    six = np.array([[0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 2], [0, 0, 1, 1, 2, 2], [0, 1, 2, 3, 4, 5]]).T
    labels = np.repeat(six, 3, axis=0)
    ensemble = Ensemble(labels)
    rows = _discotec.ComparedRows.members(ensemble)
    # A million times as many of each object: the shares stay the same.
    many = rows._replace(counts=rows.counts * 1_000_000)
    association = _discotec.ConsensusMatrix.of(ensemble)
    large = _discotec.ConsensusMatrix(
        association.n_objects * 10**6, 4, association.joined * 10**12, association.labelled * 10**12
    )
    for distance in ("binary", "tv", "kl", "hellinger"):
        expected = _discotec.exact_means(rows, association, distance)
        np.testing.assert_allclose(_discotec.exact_means(many, large, distance), expected, atol=1e-8)
