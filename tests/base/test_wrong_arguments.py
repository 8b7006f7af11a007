"""Arguments of a wrong type or beyond any range end in one sentence: what, which rule, what was got, what to do."""

import inspect
from functools import partial, update_wrapper

import numpy as np
import pytest
from former import FORMER, former
from sklearn.cluster import KMeans

from ensemblage import (
    ConsensusClustering,
    Ensemble,
    datasets,
    generation,
    metrics,
    plotting,
    profile,
    ranking,
    report,
    stability,
)
from ensemblage.consensus import (
    CSPA,
    BipartiteVoting,
    BisectingKMeansConsensus,
    EvidenceAccumulation,
    GreedyKMeansConsensus,
    KMeansConsensus,
    NegMM,
)
from ensemblage.generation import GreedyPartitions, MixedPartitions, RandomKPartitions, ResampledPartitions
from ensemblage.ranking import DISCOTEC, AverageAgreement, InternalIndex

pytestmark = FORMER

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


def few(function, **options):
    """The function with fewer repetitions by default."""
    return update_wrapper(partial(function, **options), function)


ESTIMATORS = [
    (EvidenceAccumulation, {}),
    (EvidenceAccumulation, {"association_threshold": "kmeans"}),
    (EvidenceAccumulation, {"linkage": "complete"}),
    (EvidenceAccumulation, {"similarity": "ecpcs"}),
    (DISCOTEC, {}),
    (DISCOTEC, {"max_pairs": 0, "n_sampled_pairs": 10}),
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
    (former("metrics", "cluster_consensus"), (LABELS, CLUSTERING)),
    (metrics.ensemble_nmi, (LABELS, CLUSTERING)),
    (metrics.ensemble_ari, (LABELS, CLUSTERING)),
    (former("metrics", "ensemble_baselines"), (LABELS,)),
    (metrics.consensus_cdf, (LABELS,)),
    (former("metrics", "association_counts"), (LABELS,)),
    (metrics.pac, (LABELS,)),
    (metrics.internal_index, (FEATURES, CLUSTERING, "dunn")),
    (DISCOTEC().fit(LABELS).score_labels, (CLUSTERING,)),
    (profile, (CLUSTERING, FEATURES)),
    (stability.partition_stability, (CLUSTERING, LABELS)),
    (few(stability.cluster_stability, n_resamples=2), (KMeans(2, n_init=1), FEATURES)),
    (few(stability.prediction_strength, n_splits=2), (KMeans(2, n_init=1), FEATURES, [2, 3])),
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


HUGE = 10**400
PAIR = np.array([1, 2])
MATRIX = [[1.0, 0.2], [0.2, 1.0]]
RAGGED = [[1], [1, 2]]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "call",
    [
        lambda: CSPA(2, recursive=PAIR).fit(LABELS),
        lambda: CSPA(2, distinct="no").fit(LABELS),
        lambda: NegMM(2, n_jobs=HUGE).fit(LABELS),
        lambda: NegMM(2, distinct=None).fit(LABELS),
        lambda: KMeansConsensus(2, n_init=HUGE).fit(LABELS),
        lambda: KMeansConsensus(2, n_init=2**31).fit(LABELS),
        lambda: KMeansConsensus(2, refine=PAIR).fit(LABELS),
        lambda: KMeansConsensus(2, normalize="yes").fit(LABELS),
        lambda: BisectingKMeansConsensus(2, n_init=np.uint64(2**64 - 1)).fit(LABELS),
        lambda: BipartiteVoting(2, n_init=2**63).fit(LABELS),
        lambda: BipartiteVoting(2, include_singletons=PAIR).fit(LABELS),
        lambda: ConsensusClustering(2, generator="kmeans").fit(FEATURES),
        lambda: ConsensusClustering(2, generator=RandomKPartitions).fit(FEATURES),
        lambda: ConsensusClustering(2, consensus=5).fit(FEATURES),
        lambda: GreedyKMeansConsensus(2, max_iter=2**63).fit(FEATURES),
        lambda: GreedyKMeansConsensus(2, standardize=PAIR).fit(FEATURES),
        lambda: GreedyPartitions(2, n_candidates=PAIR).fit(FEATURES),
        lambda: GreedyPartitions(2, n_candidates=np.ma.masked).fit(FEATURES),
        lambda: GreedyPartitions.n_candidates_for(delta="x"),
        lambda: RandomKPartitions(HUGE).fit(FEATURES),
        lambda: RandomKPartitions(2, metric=PAIR).fit(FEATURES),
        lambda: RandomKPartitions(2, n_jobs=HUGE).fit(FEATURES),
        lambda: RandomKPartitions(2, random_state="x").fit(FEATURES),
        lambda: ResampledPartitions(2, n_clusters=2, fraction=HUGE).fit(FEATURES),
        lambda: ResampledPartitions(2, n_clusters=2, bootstrap=None).fit(FEATURES),
        lambda: MixedPartitions(estimators=5).fit(FEATURES),
        lambda: Ensemble(LABELS, names=np.array(3)),
        lambda: Ensemble(LABELS).append_partitions(LABELS),
        lambda: Ensemble(LABELS).append_partitions(Ensemble(LABELS[:2])),
        lambda: AverageAgreement().fit(LABELS, must_link=RAGGED),
        lambda: ranking.compare_rankers(LABELS, rankers=5),
        lambda: ranking.compare_rankers(LABELS, rankers=[]),
        lambda: ranking.compare_rankers(LABELS, rankers=[1]),
        lambda: ranking.compare_rankers(LABELS, rankers=["aari"]).to_csv(None),
        lambda: metrics.membership_entropy([1, 2]),
        lambda: metrics.membership_entropy("x"),
        lambda: metrics.weak_association_threshold(LABELS, return_error=PAIR),
        lambda: metrics.weak_association_threshold(LABELS, max_pairs=1, random_state="x"),
        lambda: datasets.make_2d2k(random_state="x"),
        lambda: datasets.make_partitions(n_samples=HUGE),
        lambda: datasets.make_partitions(n_clusters=HUGE),
        lambda: datasets.make_partitions(rho_max=None),
        lambda: datasets.make_partitions(rho_min=HUGE),
        lambda: datasets.make_hub_partitions("x"),
        lambda: datasets.make_hub_partitions(hubs=[0.2]),
        lambda: datasets.make_hub_partitions(hubs=3),
        lambda: datasets.make_hub_partitions(hubs=np.array(3)),
        lambda: generation.make_pool(FEATURES, standardize=PAIR),
        lambda: generation.write_partitions(RandomKPartitions(2), FEATURES, None),
        lambda: generation.write_partitions(RandomKPartitions(2), FEATURES, "x.npy", progress="x"),
        lambda: report.render(None),
        lambda: plotting.association_histogram([1, 2, 3], thresholds=[0.5]),
        lambda: plotting.association_histogram([1, 2, 3], thresholds={"a": None}),
        lambda: plotting.cluster_jaccards([1.0]),
        lambda: plotting.cluster_jaccards([[1.0]], names=["a", "b"]),
        lambda: plotting.prediction_strengths({2: 0.9}, PAIR),
        lambda: plotting.prediction_strengths({2: 0.9}, supported="x"),
        lambda: plotting.cluster_sizes([1, 2], unlabelled="x"),
        lambda: plotting.consensus_cdfs({2: 1}),
        lambda: plotting.consensus_matrix(MATRIX, [0, 1], sizes=[np.nan, 1]),
        lambda: plotting.estimated_clusters([2, 3], share=None),
        lambda: plotting.item_consensus_bars(MATRIX, [0, 1], most=-1),
        lambda: plotting.lifetimes({2: 0.1}, n_clusters=PAIR),
        lambda: plotting.membership(MATRIX, [0, 1], sizes=[0, 0]),
        lambda: plotting.profile_heat_map([1.0], ["a"]),
        lambda: plotting.profile_heat_map(MATRIX, 5),
        lambda: plotting.profile_heat_map(MATRIX, ["a", "b"], names=PAIR[:1]),
        lambda: profile(CLUSTERING, FEATURES, ids="x"),
        lambda: profile(CLUSTERING, FEATURES).markers(0),
        lambda: profile(CLUSTERING, FEATURES).plot(None),
        lambda: plotting.ranking_scores([1, 2], names=5),
        lambda: plotting.stability_curves({2: 0.1}, n_clusters="x"),
        lambda: plotting.stability_curves({2: 0.1}, PAIR),
        lambda: plotting.thresholded_matrices(MATRIX, [0, 1], None),
    ],
)
def test_each_has_a_sentence_of_its_own(call):
    with pytest.raises((ValueError, TypeError), match=r"(?s) must .*Got .*\."):
        call()


def test_ragged_rows_are_no_rows():
    with pytest.raises(IndexError, match="Rows must be"):
        Ensemble(LABELS)[RAGGED]
    with pytest.raises(ValueError, match="Partitions to select must be"):
        Ensemble(LABELS).select(RAGGED)
