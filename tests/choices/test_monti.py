"""Monti's consensus clustering against explicit matrices; the choice of k on blobs and on noise."""

import json
import math

import naive
import numpy as np
import pytest
from click.testing import CliRunner
from former import FORMER
from hypothesis import given
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.cluster import AgglomerativeClustering
from sklearn.datasets import make_blobs
from sklearn.preprocessing import StandardScaler
from strategies import label_matrices, labels_and_clustering, planted_labels

from ensemblage import Ensemble, choose_k, metrics, report
from ensemblage.choices._monti_choice import (
    MontiRow,
    _best,
    _compare_with_references,
    choose_k_monti,
    draw_reference,
    summarize_choice,
)
from ensemblage.cli import main
from ensemblage.consensus import EvidenceAccumulation
from ensemblage.generation import RandomKPartitions, ResampledPartitions
from ensemblage.metrics import (
    cluster_density,
    consensus_cdf,
    delta_area,
    item_consensus,
    pac,
)

pytestmark = FORMER


@pytest.fixture(scope="module")
def blobs():
    """Four blobs, two of them nearer to each other."""
    return make_blobs(160, centers=[(0, 0), (0, 5), (12, 0), (12, 12)], cluster_std=0.8, random_state=3)[0]


@pytest.fixture(scope="module")
def choice(blobs):
    return choose_k_monti(blobs, range(2, 8), n_partitions=25, n_references=9, random_state=0)


# ---- Numbers of one ensemble ----


@given(labels=label_matrices(min_objects=2))
def test_cdf_counts_pairs(labels):
    expected = naive.consensus_values(labels)
    if not len(expected):
        with pytest.raises(ValueError, match="no such pair"):
            consensus_cdf(labels)
        return
    values, cdf = consensus_cdf(labels)
    assert values[0] == 0
    assert values[-1] == cdf[-1] == 1
    assert_allclose(cdf, [(expected <= v + 1e-12).mean() for v in values])


@pytest.mark.parametrize(("lower", "upper"), [(0.1, 0.9), (0.2, 0.6), (0, 1), (0.25, 0.75)])
def test_pac_is_the_share_of_ambiguous_pairs(lower, upper, missing):
    labels = planted_labels(n=60, p=20, k=3, noise=0.4, missing=missing, seed=1)[0]
    expected = naive.consensus_values(labels)
    ambiguous = (expected > lower + 1e-9) & (expected <= upper + 1e-9) & (expected < 1 - 1e-9)
    assert pac(labels, lower=lower, upper=upper) == pytest.approx(ambiguous.mean())


def test_pac_of_equal_partitions_is_zero():
    for limits in ({}, {"lower": 0, "upper": 1}):
        assert pac(np.repeat([[0], [1], [1]], 10, axis=1), **limits) == 0


@pytest.mark.parametrize("bad", [(0.9, 0.1), (-0.1, 0.5), (0.5, 0.5), (0.1, 1.1)])
def test_pac_limits(bad):
    with pytest.raises(ValueError, match="0 ≤ lower < upper ≤ 1"):
        pac([[0, 0], [0, 1]], lower=bad[0], upper=bad[1])


def area_of(labels):
    """The area of one ensemble: the first of a choice has grown from nothing."""
    return delta_area({2: labels})[2]


def test_area_is_the_integral_of_the_staircase(missing):
    labels = planted_labels(n=50, p=12, k=3, noise=0.4, missing=missing, seed=2)[0]
    expected = naive.consensus_values(labels)
    fine = np.linspace(0, 1, 100_001)
    assert area_of(labels) == pytest.approx(np.mean([(expected <= x).mean() for x in fine[::50]]), abs=2e-3)
    # The area under a distribution function on [0, 1] is 1 - mean.
    assert area_of(labels) == pytest.approx(1 - expected.mean())


def test_delta_area_is_the_relative_growth():
    ensembles = {k: planted_labels(n=60, p=10, k=k, noise=0.2, seed=k)[0] for k in (4, 2, 3)}
    areas = {k: area_of(labels) for k, labels in ensembles.items()}
    found = delta_area(ensembles)
    assert list(found) == [2, 3, 4]
    assert found[2] == areas[2]
    assert found[3] == pytest.approx(areas[3] / areas[2] - 1)
    assert found[4] == pytest.approx(areas[4] / areas[3] - 1)


def naive_area(shares, rule):
    """Monti's definition over sorted pairs, ties and all; ConsensusClusterPlus's cumulated counts; or the mean."""
    cdf = lambda x: np.mean(shares <= x + 1e-12)  # noqa: E731
    if rule == "exact":
        return 1 - np.mean(shares)
    if rule == "monti":
        x = np.sort(shares)
        return sum((x[i] - x[i - 1]) * cdf(x[i]) for i in range(1, len(x)))
    counts = [0] * 100
    for share in shares:
        counts[max(math.ceil(100 * share - 1e-9) - 1, 0)] += 1
    return sum(sum(counts[: i + 1]) / sum(counts) * 0.01 for i in range(100))


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("rule", ["exact", "monti", "histogram"])
def test_each_rule_of_the_area(rule, missing):
    rng = np.random.default_rng(3)
    ensembles = {}
    for k in (2, 3, 5):
        labels = rng.integers(0, k, (14, 7))
        labels[rng.random(labels.shape) < missing] = -1
        ensembles[k] = labels
    areas = {}
    for k, labels in ensembles.items():
        i, j = np.triu_indices(14, 1)
        both = (labels[i] >= 0) & (labels[j] >= 0)
        joined = both & (labels[i] == labels[j])
        seen = both.any(axis=1)
        areas[k] = naive_area(joined[seen].sum(axis=1) / both[seen].sum(axis=1), rule)
    expected = [areas[2], areas[3] / areas[2] - 1, areas[5] / areas[3] - 1]
    assert list(delta_area(ensembles, variant=rule).values()) == pytest.approx(expected)


def test_the_rules_of_the_area_differ():
    ensembles = {2: [[0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 0, 0]]}
    found = [delta_area(ensembles, variant=rule)[2] for rule in ("exact", "monti", "histogram")]
    # Values 0, 1/3, 2/3 with 1, 3, 2 pairs.
    assert found[:2] == pytest.approx([(1 * 1 + 4 * 1 + 6 * 1) / 18, (4 + 6) / 18])
    assert found[2] == pytest.approx((33 * 1 + 33 * 4 + 34 * 6) / 600)
    with pytest.raises(ValueError, match="variant of delta_area must be one of 'exact', 'monti', 'histogram'"):
        delta_area(ensembles, variant="trapezoid")
    with pytest.raises(TypeError, match=r"ensembles of delta_area must be a dict .* Got list"):
        delta_area([[0, 1]])


def test_delta_area_where_everything_is_joined():
    assert delta_area({2: [[0], [0]], 3: [[0], [1]]}) == {2: 0.0, 3: 0.0}


def test_delta_area_of_nothing():
    with pytest.raises(ValueError, match="at least one ensemble"):
        delta_area({})


@given(labels_and_clustering())
def test_item_consensus(case):
    labels, partition = case
    assert_allclose(item_consensus(labels, partition), naive.item_consensus(labels, partition))


@given(labels_and_clustering())
def test_cluster_consensus_is_the_density_of_the_clusters(case):
    labels, partition = case
    assert_array_equal(metrics.cluster_consensus(labels, partition), np.diagonal(cluster_density(labels, partition)))


def test_mean_of_ratios_without_missing_labels():
    labels, truth = planted_labels(n=40, p=7, k=3, noise=0.3, seed=4)
    matrix = naive.coassociation(labels)
    found = item_consensus(labels, truth)
    for c in range(3):
        others = (truth == c) & (np.arange(40) != 5)
        assert found[5, c] == pytest.approx(matrix[5, others].mean())


# ---- The choice of k ----


def test_choice_on_blobs(choice):
    assert choice.best == 4
    assert [row.k for row in choice.table] == list(range(2, 8))
    best = choice.table[2]
    assert best.p_value == 0.1
    assert best.p_value_beta < 0.01
    assert best.rcsi > 1


def test_table_of_the_ensembles(choice):
    growth = delta_area(choice.ensembles)
    for row in choice.table:
        ensemble = choice.ensembles[row.k]
        assert row.pac == pac(ensemble)
        assert row.area == area_of(ensemble)
        assert row.delta_area == growth[row.k]


def test_figures(blobs, choice):
    pac = choice.plot()
    assert pac.lines[1].get_ydata().tolist() == [row.pac for row in choice.table]
    assert pac.lines[2].get_ydata().tolist() == [row.reference_pac for row in choice.table]
    growth = choice.plot("delta_area", ax=pac)
    assert growth is pac
    assert growth.lines[-1].get_ydata().tolist() == [row.delta_area for row in choice.table]
    assert [line.get_label() for line in choice.plot("cdf").lines] == [f"k = {row.k}" for row in choice.table]
    alone = choose_k_monti(blobs, [3, 5], n_partitions=10, n_references=0, random_state=0)
    assert len(alone.plot().lines) == 2
    with pytest.raises(ValueError, match=r"kind of MontiChoice.plot must be one of 'pac', 'cdf', 'delta_area'"):
        choice.plot("pie")


def test_what_is_known_to_fail_on_these_blobs(choice):
    # The reason for the null reference: near blobs merge the same way every time.
    assert min(choice.table, key=lambda row: row.pac).k != 4
    assert max(choice.table, key=lambda row: row.delta_area).k != 4


def test_noise_has_large_p_values():
    noise = np.random.default_rng(0).normal(size=(120, 5))
    table = choose_k_monti(noise, range(2, 6), n_partitions=20, n_references=9, random_state=1).table
    assert min(row.p_value for row in table) >= 0.1
    assert np.mean([row.p_value for row in table]) > 0.25


def test_same_seed_same_table(blobs, choice):
    again = choose_k_monti(blobs, range(2, 8), n_partitions=25, n_references=9, random_state=0, n_jobs=2)
    assert again.table == choice.table


def test_without_references(blobs):
    choice = choose_k_monti(blobs, [5, 3], n_partitions=10, n_references=0, random_state=0)
    assert [(row.k, row.rcsi, row.p_value, row.p_value_beta) for row in choice.table] == [
        (3, None, None, None),
        (5, None, None, None),
    ]
    assert choice.best == min(choice.table, key=lambda row: row.pac).k


def test_one_reference_has_no_spread(blobs):
    table = choose_k_monti(blobs, [4], n_partitions=10, n_references=1, random_state=0).table
    assert table[0].p_value_beta in (0.0, 1.0)


def test_as_many_references_as_were_asked_for(blobs):
    calls = []
    settings = {"n_partitions": 4, "n_references": 2, "progress": lambda done, total: calls.append((done, total))}
    choose_k_monti(blobs, [2, 3], random_state=0, **settings)
    assert calls[-1] == (24, 24)  # the data and two references, two numbers, four partitions
    assert len(calls) == 24


def test_another_estimator(blobs):
    choice = choose_k_monti(
        blobs, [4], n_partitions=10, estimator=AgglomerativeClustering(), n_references=0, random_state=0
    )
    assert choice.ensembles[4].n_missing == 10 * 32
    assert choice.best == 4


def test_the_same_objects_are_drawn_for_every_k(choice):
    missing = [np.asarray(ensemble) < 0 for ensemble in choice.ensembles.values()]
    for other in missing[1:]:
        assert_array_equal(other, missing[0])


@pytest.mark.parametrize("reference", ["gaussian", "unimodal"])
def test_references_keep_the_covariance_and_lose_the_humps(reference):
    random = np.random.default_rng(0)
    data = random.normal(size=(4000, 3)) @ random.normal(size=(3, 3)) + 5
    kept = draw_reference(data, reference, 1)
    assert_allclose(np.cov(kept.T), np.cov(data.T), atol=0.3)
    assert not np.allclose(kept, data)
    humps = np.concatenate([random.normal(-6, 1, 500), random.normal(6, 1, 500)])[:, None]
    assert (np.abs(humps) < 2).mean() < 0.01
    assert (np.abs(draw_reference(humps, reference, 1)) < 2).mean() > 0.15


def test_shuffled_features_keep_their_values():
    random = np.random.default_rng(0)
    data = random.normal(size=(4000, 3)) @ random.normal(size=(3, 3)) + 5
    lost = draw_reference(data, "features", 1)
    assert_array_equal(np.sort(lost, axis=0), np.sort(data, axis=0))
    correlations = np.corrcoef(lost.T)[np.triu_indices(3, 1)]
    assert np.abs(correlations).max() < 0.1


def test_table_of_ensembles_one_has(blobs):
    ensembles = {
        k: Ensemble(ResampledPartitions(10, n_clusters=k, random_state=0).fit_transform(blobs)) for k in (4, 5)
    }
    choice = summarize_choice(ensembles, [{4: 0.5, 5: 0.3}, {4: 0.4, 5: 0.2}])
    assert choice.best == 4
    assert choice.table[0].rcsi == pytest.approx(np.log10([50, 40]).mean())
    assert choice.table[0].reference_pac == pytest.approx(0.45)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"k_range": []}, "at least one number"),
        ({"k_range": [1, 2]}, "Every k in k_range of choose_k must be a whole number ≥ 2"),
        ({"k_range": [2.5]}, "Every k in k_range"),
        ({"k_range": [300]}, "n_clusters of ResampledPartitions must be"),
        ({"reference_data": "noise"}, "reference_data of choose_k must be one of"),
        ({"n_references": -1}, "n_references of choose_k"),
    ],
)
def test_bad_input(blobs, bad, message):
    with pytest.raises(ValueError, match=message):
        choose_k_monti(blobs, **{"n_partitions": 5, "n_references": 0, "k_range": [2], **bad})


# ---- Page and command line ----


def test_page_of_a_choice(blobs, choice):
    ensemble = Ensemble(RandomKPartitions(20, random_state=0).fit_transform(blobs))
    consensus = EvidenceAccumulation(4).fit(ensemble)
    summary = report.summarize(ensemble, consensus, k_choice=choice)
    shown = json.loads(json.dumps(summary))["stability"]
    assert shown["best"] == 4
    assert [row["pac"] for row in shown["table"]] == [row.pac for row in choice.table]
    expected = item_consensus(choice.ensembles[4], consensus.labels_)
    assert np.max(shown["items"]["percent"]) == round(100 * expected.max())
    page = report.render(summary)
    for title in (
        "How many clusters are stable?",
        "Ambiguous pairs",
        "What one cluster more adds",
        "each object's place",
    ):
        assert title.replace("'", "&#39;") in page


def test_page_of_a_consensus_with_another_number(blobs, choice):
    ensemble = Ensemble(RandomKPartitions(20, random_state=0).fit_transform(blobs))
    summary = report.summarize(ensemble, EvidenceAccumulation(3).fit(ensemble), k_choice=choice)
    assert summary["stability"]["items"] is None
    assert "How many clusters are stable?" in report.render(summary)


@pytest.fixture(scope="module")
def table(blobs, tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "blobs.csv"
    np.savetxt(path, blobs, delimiter=",", header="x,y", comments="")
    return path


def run(table, output, *args):
    command = ["run", str(table), "-o", str(output), "--partitions", "15", *args]
    return CliRunner().invoke(main, command, catch_exceptions=False)


@pytest.mark.parametrize("method", ["eac-average", "eac-single", "eac-complete"])
def test_run_by_evidence_accumulation(table, tmp_path, method):
    result = run(table, tmp_path / "out", "--method", method)
    assert result.exit_code == 0, result.stderr
    summary = json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))
    assert summary["consensus"]["method"] == "EvidenceAccumulation"
    assert "How the clusters come together" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")


def test_run_over_a_range(table, tmp_path):
    result = run(table, tmp_path / "out", "--k-range", "3:5", "--method", "eac-average")
    assert result.exit_code == 0, result.stderr
    assert "how many    4 clusters: " in result.stdout
    summary = json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))
    assert summary["number"]["best"] == summary["consensus"]["n_clusters"] == 4
    assert summary["settings"]["k_range"] == "3:5"
    again = run(table, tmp_path / "out", "--k-range", "3:5", "--method", "eac-average")
    assert "finished by an earlier run" in again.stderr


@pytest.mark.parametrize("bad", ["3", "1:4", "5:3", "2:x", ":4"])
def test_bad_range(table, tmp_path, bad):
    result = run(table, tmp_path / "out", "--k-range", bad)
    assert result.exit_code == 2
    assert "--k-range must be two whole numbers LOW:HIGH" in result.stderr


def test_range_and_number(table, tmp_path):
    result = run(table, tmp_path / "out", "--k-range", "2:4", "-k", "3")
    assert result.exit_code == 2
    assert "-k and --k-range must not be given together" in result.stderr
    assert run(table, tmp_path / "out", "--k-range", "2:400").exit_code == 2


@pytest.mark.parametrize(
    ("arguments", "error", "told"),
    [
        ({"k_range": 5}, TypeError, r"k_range of choose_k must be several numbers\. Got 5\."),
        ({"k_range": "ab"}, ValueError, r"Every k in k_range of choose_k must be a whole number ≥ 2\. Got 'a'"),
        (
            {"n_references": 10**400},
            ValueError,
            r"n_references of choose_k must be a whole .* 0 to 100,000",
        ),
        (
            {"reference_data": 5},
            ValueError,
            r"reference_data of choose_k must be one of 'gaussian', 'unimodal', .* Got 5",
        ),
        ({"estimator": 5}, TypeError, r"estimator of ResampledPartitions must be a scikit-learn clusterer"),
    ],
)
def test_what_choose_k_cannot_take(arguments, error, told):
    with pytest.raises(error, match=told):
        choose_k_monti(np.arange(20.0).reshape(10, 2), **arguments)


def test_the_data_count_as_one_of_the_references():
    """The least p-value of three references is 1/4; of the stable k that reach it the largest is chosen."""
    assert _compare_with_references(0.2, np.array([0.1, 0.3, 0.4]))[2] == 2 / 4
    table = [MontiRow(k, 0.0, 0.5, 0.1, 0.5, 5 - k, p, 0.0) for k, p in ((2, 1 / 4), (3, 1 / 4), (4, 2 / 4))]
    assert _best(table, 3) == 3
    assert _best(table, 0) == 2


# -- as a method of choose_k -------------------------------------------------------------------------------------------

FEW = {"n_partitions": 6, "n_references": 1, "random_state": 0}
"""Enough to see that an option counts."""


def by_monti(X, k_range=(2, 3), **options):
    return choose_k(X, k_range, method="monti", **FEW | options)


def test_choose_k_by_monti_is_that_of_the_prepared_features(blobs):
    scaled = blobs * [1, 1000]
    assert by_monti(blobs).table == choose_k_monti(blobs, [2, 3], **FEW).table
    assert by_monti(scaled).table == choose_k_monti(StandardScaler().fit_transform(scaled), [2, 3], **FEW).table
    assert by_monti(scaled, standardize=False).table == choose_k_monti(scaled, [2, 3], **FEW).table
    assert by_monti(scaled).table != by_monti(scaled, standardize=False).table
    gapped = np.where(blobs > 12.5, np.nan, blobs)
    filled = np.where(np.isnan(gapped), np.nanmean(gapped, axis=0), gapped)
    assert by_monti(gapped, impute="mean", standardize=False).table == choose_k_monti(filled, [2, 3], **FEW).table
    with pytest.raises(ValueError, match=r"^X of choose_k .*NaN"):
        by_monti(gapped)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("n_partitions", 9),
        ("n_references", 2),
        ("fraction", 0.5),
        ("estimator", AgglomerativeClustering(linkage="single")),
        ("reference_data", "features"),
        ("random_state", 1),
    ],
)
def test_each_option_of_choose_k_by_monti_counts(blobs, option, value):
    found = by_monti(blobs, **{option: value})
    assert found.table == choose_k_monti(blobs, [2, 3], **FEW | {option: value}).table
    assert repr(found) != repr(by_monti(blobs))


def test_defaults_of_choose_k_by_monti(blobs):
    found = choose_k(blobs[:40], method="monti", n_partitions=2, random_state=0)
    assert [row.k for row in found.table] == list(range(2, 11))
    (row,) = choose_k(blobs[:40], [2], method="monti", n_partitions=2, random_state=0).table
    assert (row.p_value * 21).is_integer()
    assert not (row.p_value * 2).is_integer() or row.p_value == 1


def test_progress_and_threads_of_choose_k_by_monti(blobs):
    calls = []
    found = by_monti(blobs, progress=lambda *done: calls.append(done), n_jobs=2)
    assert calls[-1] == (24, 24)
    assert found.table == by_monti(blobs, n_jobs=1).table


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "pac"}, r"method of choose_k must be one of 'criteria', 'monti'\. Got 'pac'\."),
        ({"method": "monti", "n_splits": 3}, r"n_splits of choose_k must be left out for method='monti'\. Got 3\."),
        ({"method": "monti", "sample_size": 50}, "sample_size of choose_k must be left out for method='monti'"),
        ({"fraction": 0.5}, r"fraction of choose_k must be left out for method='criteria'\. Got 0\.5\."),
        ({"estimator": AgglomerativeClustering()}, "estimator of choose_k must be left out for method='criteria'"),
        ({"reference_data": "features"}, "reference_data of choose_k must be left out for method='criteria'"),
    ],
)
def test_options_of_the_other_method_are_refused(blobs, options, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        choose_k(blobs, [2, 3], **options)
