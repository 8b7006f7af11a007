"""Arguments of a wrong type or beyond any range end in one sentence: what, which rule, what was got, what to do."""

import inspect

import numpy as np
import pytest

from ensemblage import AverageAgreement, Discotec, EvidenceAccumulation, InternalIndex, metrics

LABELS = np.array([[0, 0, 1], [0, 0, 1], [0, 1, 0], [1, 1, 0], [1, 2, 2], [1, 2, 2]])
CLUSTERING = [0, 0, 0, 1, 1, 1]
FEATURES = np.random.default_rng(0).normal(size=(6, 2))

WRONG = [
    10**400, -(10**400), 2**63, 2**64, -(2**63), float("nan"), float("inf"), -1, 0, 1.5, "3", "x", b"x", None, True, 1j,
    [1], {}, object(), np.array([1, 2]), np.array([[1.0]]), np.int64(2**62), np.datetime64("2020"), "9" * 400 + "GB",
    [[1], [1, 2]],
]  # fmt: skip


def fitted(estimator):
    features = {"features": FEATURES} if isinstance(estimator, InternalIndex) else {}
    return estimator.fit(LABELS, **features)


ESTIMATORS = [
    (EvidenceAccumulation, {}),
    (EvidenceAccumulation, {"association_threshold": "kmeans"}),
    (EvidenceAccumulation, {"linkage": "complete"}),
    (EvidenceAccumulation, {"similarity": "ecpcs"}),
    (Discotec, {}),
    (Discotec, {"max_pairs": 0, "n_sampled_pairs": 10}),
    (AverageAgreement, {}),
    (AverageAgreement, {"measure": "nmi"}),
    (InternalIndex, {}),
]
FUNCTIONS = [
    (metrics.coassociation, (LABELS,)),
    (metrics.density, (LABELS, CLUSTERING)),
    (metrics.cluster_density, (LABELS, CLUSTERING)),
    (metrics.kmeans_loss, (LABELS, CLUSTERING)),
    (metrics.item_consensus, (LABELS, CLUSTERING)),
    (metrics.cluster_consensus, (LABELS, CLUSTERING)),
    (metrics.ensemble_nmi, (LABELS, CLUSTERING)),
    (metrics.ensemble_ari, (LABELS, CLUSTERING)),
    (metrics.ensemble_baselines, (LABELS,)),
    (metrics.consensus_cdf, (LABELS,)),
    (metrics.association_counts, (LABELS,)),
    (metrics.pac, (LABELS,)),
    (metrics.internal_index, (FEATURES, CLUSTERING, "dunn")),
    (Discotec().fit(LABELS).score_labels, (CLUSTERING,)),
]
ARGUMENTS = [
    pytest.param(
        lambda cls=cls, **arguments: fitted(cls(**arguments)), given, name, id=f"{cls.__name__}-{given}-{name}"
    )
    for cls, given in ESTIMATORS
    for name in inspect.signature(cls).parameters
]
for function, given in FUNCTIONS:
    names = list(inspect.signature(function).parameters)
    for name in names:
        arguments = dict(zip(names, given, strict=False))
        call = lambda function=function, **arguments: function(**arguments)  # noqa: E731
        ARGUMENTS.append(pytest.param(call, arguments, name, id=f"{function.__name__}-{name}"))


def error_of(call, arguments):
    """What it raises; None if the value is a legal one."""
    try:
        call(**arguments)
    except Exception as error:
        return error
    return None


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("call", "given", "name"), ARGUMENTS)
def test_one_sentence(call, given, name):
    for value in WRONG:
        error = error_of(call, {**given, name: value})
        if error is not None:
            assert type(error) in (ValueError, TypeError), (value, error)
            assert "got " in str(error).lower(), (value, error)
            assert len(str(error)) < 700, value
