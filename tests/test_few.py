"""What NumPy does for few objects, so that no kernel must be compiled: the same bits as the kernels give."""

import numpy as np
import pytest
from hypothesis import given
from strategies import label_matrices

from ensemblage import Discotec, Ensemble
from ensemblage.kernels import _jit
from ensemblage.metrics import coassociation, ensemble_ari
from ensemblage.metrics._agreement import agreement_matrix
from ensemblage.ranking import _pair_means

RESULTS = {
    "codes": lambda labels: Ensemble(labels).codes,
    "distinct rows": lambda labels: Ensemble(labels).distinct.codes[:],
    "their counts": lambda labels: Ensemble(labels).distinct.counts,
    "their places": lambda labels: Ensemble(labels).distinct.inverse,
    "co-association": lambda labels: coassociation(labels, weights=np.linspace(0.1, 1, labels.shape[1])),
    "ARI": lambda labels: agreement_matrix(Ensemble(labels), "ari"),
    "NMI": lambda labels: agreement_matrix(Ensemble(labels), "nmi"),
    "ARI with a clustering": lambda labels: ensemble_ari(labels, labels[:, 0]),
    "DISCOTEC": lambda labels: Discotec().fit(labels).scores_,
}


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


@pytest.mark.parametrize("threshold", [0, 2])
@pytest.mark.parametrize("count", [10**8, 10**9])
def test_wide_sums_of_few_rows(count, threshold):
    """Beyond 2³¹ objects the sums of their pairs have no room in 63 bits."""
    labels = np.array([[0, 0, 0], [0, 1, 0], [1, 1, 1], [1, 1, 2]])
    codes = _pair_means.Codes.of(labels, labels.max(axis=0) + 1)
    nothing = np.empty((0, 0, 0), dtype=np.int64)
    found = _pair_means.wide_sums_over_pairs(codes, codes, np.full(4, count), np.full(4, threshold), nothing)
    joined = (labels[:, None] == labels).sum(axis=2) >= threshold
    expected = [int((joined & (z[:, None] == z)).sum()) * count**2 for z in labels.T]
    assert [int(high) * 2**31 + int(low) for high, low in found.joined] == expected
    assert [int(high) * 2**31 + int(low) for high, low in found.labelled] == [int(joined.sum()) * count**2]
