"""Rules that choose members by quality and diversity, and weights by agreement: a worked example and naive twins."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import coassociation as naive_coassociation
from numpy.testing import assert_allclose, assert_array_equal
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform
from strategies import label_matrices, planted_labels

from ensemblage import Ensemble, make_consensus, report
from ensemblage.consensus import EvidenceAccumulation, KMeansConsensus
from ensemblage.metrics import agreement_weights, coassociation
from ensemblage.ranking import DISCOTEC, AverageAgreement, SelectPartitions

E = np.array(
    [
        [1, 1, 1, 1, 2, 2, 2, 3, 3, 2],
        [1, 1, 1, 2, 2, 2, 2, 3, 3, 3],
        [1, 1, 2, 2, 2, 3, 3, 4, 4, 4],
        [1, 1, 1, 1, 1, 2, 2, 2, 2, 1],
    ]
).T
"""Four partitions of ten objects."""
NMI = AverageAgreement("nmi", average_method="geometric").fit(E).agreement_


# ---- Fern & Lin's rules ----


def test_quality_of_the_example():
    assert_allclose(NMI.sum(axis=1), [2.626529, 2.571686, 2.799561, 2.211647], atol=5e-7)
    assert_allclose((NMI.sum(axis=1) - 1) / 3, [0.542176, 0.523895, 0.599854, 0.403882], atol=5e-7)


class Given(AverageAgreement):
    """A ranker that finds this agreement between the members."""

    agreement = None

    def fit(self, X, y=None):
        super().fit(X)
        self.agreement_ = Given.agreement
        return self


def joint_order(agreement, alpha, normalize):
    """The members in the order in which the joint criterion takes them."""
    p, order = len(agreement), []
    labels = np.random.default_rng(0).integers(3, size=(12, p))
    Given.agreement = agreement
    for n in range(1, p + 1):
        select = SelectPartitions(Given("nmi"), n, rule="joint", alpha=alpha, normalize=normalize)
        kept = select.fit(labels).selected_.tolist()
        assert set(order) <= set(kept)
        order += sorted(set(kept) - set(order))
    assert len(order) == p
    return order


@pytest.mark.parametrize(("alpha", "order"), [(0.5, [2, 0, 1]), (0, [2, 3, 1]), (1, [2, 0, 1])])
def test_joint_criterion_of_the_example(alpha, order):
    assert joint_order(NMI, alpha, normalize=False)[:3] == order
    for n in (1, 2, 3):
        kept = SelectPartitions(n_partitions=n, rule="joint", alpha=alpha).fit(E).selected_
        assert_array_equal(kept, sorted(order[:n]))


def test_groups_of_the_example():
    heights = linkage(squareform(1 - NMI, checks=False), "average")[:, 2]
    assert_allclose(heights, [0.263784, 0.421576, 0.596118], atol=5e-7)
    assert_array_equal(SelectPartitions(n_partitions=2, rule="cluster").fit(E).selected_, [2, 3])


@given(st.integers(0, 10**6), st.integers(2, 8), st.floats(0, 1), st.booleans())
def test_each_step_is_the_best_one(seed, p, alpha, normalize):
    rng = np.random.default_rng(seed)
    agreement = rng.uniform(size=(p, p))
    agreement = (agreement + agreement.T) / 2
    np.fill_diagonal(agreement, 1)

    def criterion(chosen):
        quality = agreement[list(chosen)].sum(axis=1)
        pairs = [1 - agreement[i, j] for i, j in combinations(chosen, 2)]
        if normalize:
            return alpha * quality.mean() / p + (1 - alpha) * (np.mean(pairs) if pairs else 0)
        return alpha * quality.sum() + (1 - alpha) * sum(pairs)

    chosen = joint_order(agreement, alpha, normalize)
    for n in range(1, p + 1):
        others = set(range(p)) - set(chosen[: n - 1])
        # The first one is by its quality alone, whatever that counts.
        gain = criterion if n > 1 else lambda one: agreement[one].sum()
        assert gain(chosen[:n]) >= max(gain([*chosen[: n - 1], j]) for j in others) - 1e-9


@pytest.mark.parametrize("rule", ["joint", "cluster"])
@pytest.mark.parametrize("n_partitions", [1, 3, 6, 99, 0.5])
def test_how_many_are_kept(rule, n_partitions):
    labels = planted_labels(n=60, p=6, k=3, noise=0.3, missing=0.2, seed=0)[0]
    kept = SelectPartitions(AverageAgreement(), n_partitions, rule=rule).fit(labels).selected_
    assert len(kept) == {1: 1, 3: 3, 6: 6, 99: 6, 0.5: 3}[n_partitions]
    assert_array_equal(kept, np.unique(kept))


def test_a_group_of_copies_counts_once():
    labels = np.column_stack([E[:, [0]], E[:, [0]], E[:, [0]], E[:, [3]]])
    assert_array_equal(SelectPartitions(n_partitions=2, rule="cluster").fit(labels).selected_, [0, 3])


def test_members_without_a_common_object():
    labels = np.array([[0, -1, 0], [1, -1, 1], [-1, 0, 0], [-1, 1, 1]])
    for rule in ("joint", "cluster"):
        assert 2 in SelectPartitions(n_partitions=2, rule=rule).fit(labels).selected_


def test_normalized_means():
    assert_array_equal(SelectPartitions(n_partitions=2, rule="joint", normalize=True).fit(E).selected_, [2, 3])


@pytest.mark.parametrize(
    ("select", "message"),
    [
        (SelectPartitions(rule="hull"), "rule of SelectPartitions must be one of 'best', 'joint', 'cluster'"),
        (SelectPartitions(alpha=2), "alpha of SelectPartitions must be a number ≥ 0 and ≤ 1"),
        (SelectPartitions(normalize=1), "normalize of SelectPartitions must be True or False"),
        (SelectPartitions(DISCOTEC(), rule="joint"), "must be an AverageAgreement for rule='joint'.*Got DISCOTEC"),
    ],
)
def test_what_is_refused(select, message):
    with pytest.raises(ValueError, match=message):
        select.fit(E)


# ---- Weights by agreement ----


def test_weights_of_the_example():
    """WEAC: mean NMI over the larger entropy, as a share of the largest, squared."""
    expected = np.array([0.967976, 0.953054, 1, 0.609599])
    assert_allclose(agreement_weights(E, 1), expected, atol=5e-7)
    weights = agreement_weights(E)
    assert_allclose(weights, expected**2, atol=1e-6)
    row = [1, 1, 0.689142, 0.406786, 0.115518, 0, 0, 0, 0, 0.115518]
    assert_allclose(coassociation(E, weights=weights)[0], row, atol=5e-7)
    assert_allclose(naive_coassociation(E, weights)[0], row, atol=5e-7)
    assert_array_equal(agreement_weights(E, 0), 1)


def test_nothing_agrees_or_there_is_one():
    assert_array_equal(agreement_weights(E[:, [0]]), [1])
    assert_array_equal(agreement_weights([[0, 0], [0, 1], [1, 0], [1, 1]]), [1, 1])
    assert_array_equal(agreement_weights([[0, -1], [1, -1], [-1, 0], [-1, 1]]), [1, 1])
    with pytest.raises(ValueError, match="beta of agreement_weights must be a number ≥ 0"):
        agreement_weights(E, -1)


@given(label_matrices())
def test_weights_of_any_labels(labels):
    weights = agreement_weights(labels)
    assert weights.max() == 1
    assert weights.min() >= 0
    assert len(weights) == labels.shape[1]


@pytest.mark.core(3)
@pytest.mark.parametrize("name", ["km", "eac-average", "acv", "majority", "lca", "soft-euclidean", "gv3"])
def test_methods_take_the_word(name):
    labels = planted_labels(n=80, p=6, k=3, noise=0.3, missing=0.1, seed=3)[0]
    labels[:, 5] = np.random.default_rng(0).integers(3, size=80)
    weights = agreement_weights(labels)
    by_word, by_numbers = (make_consensus(name, 3, weights=w) for w in ("agreement", weights))
    for model in (by_word, by_numbers):
        if "random_state" in model.get_params():
            model.set_params(random_state=0)
        model.fit(labels)
    assert_array_equal(by_word.labels_, by_numbers.labels_)
    assert_array_equal(by_word.confidence_, by_numbers.confidence_)
    if hasattr(by_word, "objective_"):
        assert by_word.objective_ == by_numbers.objective_


def test_another_word_is_refused():
    with pytest.raises(ValueError, match=r"weights of KMeansConsensus must be .*'agreement'"):
        KMeansConsensus(2, weights="accuracy").fit(E)


def test_report_of_weights_by_word():
    model = EvidenceAccumulation(2, weights="agreement").fit(E)
    numbers = report.summarize(Ensemble(E), model)
    assert len(numbers["clusters"]) == 2
