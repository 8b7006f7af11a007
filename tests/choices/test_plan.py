"""The plan: every decision with its reason, made of the data and the parameters alone, and executed as it was shown."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from inside import default_plan
from limits import limit
from scipy import sparse
from sklearn.cluster import AgglomerativeClustering
from sklearn.datasets import load_iris, load_wine, make_blobs
from sklearn.preprocessing import StandardScaler

from ensemblage import ConsensusClustering, load, report
from ensemblage.cli import main
from ensemblage.consensus import EvidenceAccumulation, KMeansConsensus
from ensemblage.generation import DiversePartitions, RandomKPartitions, ResampledPartitions, SubspacePartitions
from ensemblage.preprocessing import FeatureBlocks, Preprocessor

X, _ = make_blobs(60, centers=[(0, 0), (0, 9), (9, 0)], random_state=0)
IRIS, WINE = load_iris().data, load_wine(as_frame=True).data
MIXED = pd.DataFrame({"cm": X[:, 0], "m": X[:, 1], "kind": np.where(X[:, 0] > 4, "a", "b")})
NOISE = np.random.default_rng(0).normal(size=(2_001, 2))
DISTANCES = AgglomerativeClustering(metric="precomputed", linkage="average")
DECISIONS = ["roles", "scales", "n_clusters", "partitions", "combiner", "samples", "votes", "stability"]


def planned(data, *args, **given):
    """The plan of the selection that has no learned weights."""
    return default_plan(data, *args, **{"selection": "consensus", **given})


def decided(name, data, *args, **given):
    """The value and the reason of one decision."""
    return getattr(planned(data, *args, **given), name)


# -- every decision follows what it depends on -------------------------------------------------------------------------


def test_every_decision_has_a_value_and_a_reason_in_sentences():
    plan = planned(X)
    assert list(plan.decisions) == DECISIONS
    for decision in plan.decisions.values():
        assert decision._fields == ("value", "reason")
        assert decision.reason[0].isupper()
        assert decision.reason.endswith(".")
    assert type(plan).__name__ == "Plan"
    assert (plan.n_objects, plan.n_features) == (60, 2)


def test_roles():
    table = MIXED.assign(patient=[f"p{i:03}" for i in range(60)], none=1.0)
    value, reason = decided("roles", table)
    assert (value, reason) == ("3 of 5 columns", "Not clustered: patient (id of the rows), none (constant).")
    assert decided("roles", X) == ("2 of 2 columns", "Every column is clustered.")
    member = planned(MIXED, preprocessor=Preprocessor(categories="member"))
    assert member.roles == ("3 of 3 columns", "Every column is clustered. A member of the ensemble each: kind.")
    assert member.partitions.reason.endswith(" A category is a member, too.")
    value, reason = decided("roles", X, preprocessor=StandardScaler())
    assert (value, reason) == ("2 features", "StandardScaler() was given and makes them.")


@pytest.mark.parametrize(
    ("data", "given", "value", "reason"),
    [
        (IRIS, {}, "kept", r"deviation of x2 \(1\.76\) is 4\.05 times that of x1 \(0\.434\): at most 20 times\.$"),
        (WINE, {}, "standardised", r"of proline \(314\) is 2,530 times that of \S+ \(0\.124\): more than 20 times\.$"),
        (WINE, {"standardize": True}, "standardised", "This was asked for"),
        (WINE, {"standardize": False}, "as given", "This was asked for"),
        (MIXED, {}, "standardised", "beside columns of other kinds"),
        (MIXED[["kind"]], {}, "none", "No feature is a column of numbers"),
        (sparse.csr_array(X), {}, "standardised", "sparse"),
        (X, {"preprocessor": StandardScaler()}, "of its own", r"StandardScaler\(\) was given"),
        (IRIS, {"impute": "median"}, "kept", "of x2 .* that of x1"),
    ],
)
def test_scales(data, given, value, reason):
    found = decided("scales", data, 2, **given)
    assert found.value == value
    assert re.search(reason, found.reason)


def test_scales_of_anndata_are_kept():
    anndata = pytest.importorskip("anndata")
    found = decided("scales", anndata.AnnData(WINE.to_numpy()))
    assert found == ("as given", "AnnData's matrix is clustered as it is scaled.")


@pytest.mark.parametrize(
    ("data", "given", "value", "reason"),
    [
        (X, {"n_clusters": 4}, 4, "It was given."),
        (X, {"consensus": EvidenceAccumulation(5)}, 5, "The combiner was given with it."),
        (X, {"k_range": [5, 3, 3]}, (3, 5), "Five criteria vote on these numbers, which were given."),
        (X, {"k_range": range(2, 5), "consensus": "acv"}, (2, 3, 4), "Five criteria vote"),
        (X, {}, (2, 3, 4, 5, 6, 7), "None was given: five criteria vote"),
        (IRIS, {}, tuple(range(2, 11)), "Where fewer than three agree, several algorithms are asked for more."),
        (X, {"allow_one": True}, (2, 3, 4, 5, 6, 7), "Without structure it is 1."),
        (X[:15], {}, (2, 3), "Of fewer than 20 objects they must be clear."),
        (X[[0, 1, 2] * 10], {}, None, "Of all objects only 3 differ."),
        (sparse.csr_array(X), {}, None, "The features are sparse."),
        (X, {"consensus": "acv"}, None, "the criteria are asked for the default combiner, eac-average, alone."),
    ],
)
def test_number_of_clusters(data, given, value, reason):
    found = decided("n_clusters", data, **given)
    assert found.value == value
    assert reason in found.reason


@pytest.mark.parametrize(
    ("data", "given", "value", "reason"),
    [
        (X, {}, "DiversePartitions()", "number that is found, one less and one more: 60 objects are at most 20,000."),
        (X, {"n_clusters": 4}, "DiversePartitions()", "each with 3, 4 and 5 clusters: 60 objects"),
        (X[:15], {}, "DiversePartitions()", "number that is found, one less and one more: 15 objects are"),
        (X, {"quality": "best"}, "DiversePartitions(standardized_too=True)", "once standardised"),
        (X, {"quality": "fast"}, "RandomKPartitions()", 'the quality "fast" was asked for.'),
        (X[[0, 1, 2, 3] * 10], {}, "RandomKPartitions()", "more than half of the objects are copies"),
        (sparse.csr_array(X), {}, "RandomKPartitions()", "the features are sparse"),
        (X, {"generator": SubspacePartitions(9, random_state=3)}, "SubspacePartitions(n_partitions=9)", "given."),
    ],
)  # fmt: skip
def test_members(data, given, value, reason):
    found = decided("partitions", data, **given)
    assert found.value == value
    assert reason in found.reason


def test_members_of_many_objects(monkeypatch):
    limit(monkeypatch, "objects clustered by different algorithms", 50)
    plan = planned(X)
    assert plan.partitions.value == "RandomKPartitions()"
    assert "60 objects are more than " in plan.partitions.reason
    assert plan.combiner.value == "km"


def test_categories_may_be_the_only_members():
    plan = planned(MIXED[["kind"]].assign(other=MIXED.kind), 2, preprocessor=Preprocessor(categories="member"))
    assert plan.partitions == ("none", "No column is a feature; members are the categories kind, other.")
    assert plan.n_features == 0
    assert plan.votes.value == "equal votes"


@pytest.mark.parametrize(
    ("data", "given", "value", "reason"),
    [
        (X, {}, "eac-average", "Average linkage"),
        (X, {"consensus": "eac-average"}, "eac-average", "It was given."),
        (X, {"consensus": EvidenceAccumulation()}, "eac-average", "It was given."),
        (X, {"generator": RandomKPartitions()}, "km", "K-means on the labels"),
        (X, {"n_clusters": 3, "consensus": KMeansConsensus(n_init=4)}, "KMeansConsensus(n_init=4)", "It was given."),
        (X, {"consensus": "acv"}, "acv", "It was given."),
        (X[[0, 1, 2] * 10], {}, "km", "with the number of clusters that agrees most with the partitions."),
    ],
)
def test_combiner(data, given, value, reason):
    found = decided("combiner", data, **given)
    assert found.value == value
    assert reason in found.reason


def test_samples():
    assert decided("samples", X) == ({}, "Every step looks at all 60 objects.")
    many = NOISE[:1_200]
    found = decided("samples", many)
    assert found.value == {"the number of clusters": 1_000}
    assert "1,000 objects" in found.reason
    assert decided("samples", many, 3).value == {}
    sample_size = decided("samples", many, 3, generator=RandomKPartitions(5, sample_size=500))
    assert sample_size.value == {"each k-means": 500}
    assert "fitted on 500 objects and makes 3 steps on all" in sample_size.reason


def test_confidence():
    assert decided("votes", X).value == "equal votes"
    assert decided("votes", X, 1) == ("none", "With one cluster each object is in it.")
    given = decided("votes", X, consensus=EvidenceAccumulation(3, weights=[1.0] * 6 + [2.0] * 6))
    assert given.value == "weighted votes"
    assert given.reason.startswith("The combiner was given with weights.")
    member = Preprocessor(categories="member", category_weight=1.5)
    found = decided("votes", MIXED, 3, preprocessor=member)
    assert found.value == "weighted votes"
    assert found.reason.startswith("A category weighs as much as 1.5 of 2 columns do in the partitions.")


@pytest.mark.parametrize(
    ("data", "given", "value", "reason"),
    [
        (X, {}, 0, "Nothing is clustered again unasked."),
        (X, {"n_resamples": 7}, 7, "This was asked for."),
        (X, {"n_resamples": None}, 20, "60 objects are at most 2,000"),
        (X[:15], {"n_resamples": None}, 0, "15 objects are fewer than 20."),
        (NOISE, {"n_resamples": None}, 0, "2,001 objects are more than 2,000"),
        (MIXED, {"n_resamples": None, "preprocessor": Preprocessor(categories="member")}, 0, "cannot be made again"),
    ],
)  # fmt: skip
def test_stability(data, given, value, reason):
    found = decided("stability", data, **given)
    assert found.value == value
    assert reason in found.reason


# -- the record --------------------------------------------------------------------------------------------------------


def test_the_plan_prints_itself():
    assert (
        str(planned(IRIS, 3))
        == """\
Plan for 150 objects and 4 features
roles       4 of 4 columns       Every column is clustered.
scales      kept                 The standard deviation of x2 (1.76) is 4.05 times that of x1
                                 (0.434): at most 20 times.
n_clusters  3                    It was given.
partitions  DiversePartitions()  Mixtures, spectral clustering and Genie, each with 2, 3 and 4
                                 clusters: 150 objects are at most 20,000.
combiner    eac-average          Average linkage had the best results on members of several
                                 algorithms (docs/DEFAULT.md).
samples     none                 Every step looks at all 150 objects.
votes       equal votes          Each member that separates clusters has one vote. An object is
                                 core from 0.9 of the votes for its cluster, border from 0.75.
stability   0                    Nothing is clustered again unasked."""
    )
    text = str(planned(X, k_range=[2, 3, 5]))
    assert "n_clusters  2, 3, 5 " in text
    assert "n_clusters  2 to 7 " in str(planned(X))
    assert "n_clusters  by the combiner " in str(planned(X, consensus="acv"))


def test_a_plan_with_learned_weights():
    plan = default_plan(IRIS, selection="learned")
    assert plan.partitions.value == "ScaledPartitions()"
    assert plan.partitions.reason.startswith("Several algorithms, each in several scales of the features")
    assert plan.n_clusters.value == (*range(2, 11), 12)
    assert "n_clusters  2 to 10, 12 " in str(plan)
    assert plan.votes.value == "weighted votes"
    assert "learned weights" in plan.votes.reason
    assert default_plan(IRIS, 3, selection="learned").n_clusters == (3, "It was given.")


def test_a_notebook_shows_the_plan():
    page = planned(MIXED.rename(columns={"cm": "<cm>"}))._repr_html_()
    assert all(name in page for name in DECISIONS)
    assert "<cm>" not in page
    assert "eac-average" in page


def test_the_plan_as_json():
    plan = planned(X)
    kept = json.loads(json.dumps(plan.to_dict()))
    former = {"partitions": "members", "votes": "certainty"}  # keys of files do not change
    assert list(kept) == ["n_objects", "n_features", *(former.get(name, name) for name in DECISIONS)]
    assert kept["n_clusters"] == {"value": [2, 3, 4, 5, 6, 7], "reason": plan.n_clusters.reason}


def test_a_plan_knows_no_seed_and_no_threads():
    generators = [DiversePartitions(random_state=seed, n_jobs=jobs) for seed, jobs in [(None, None), (5, 2)]]
    one, other = (planned(X, generator=generator) for generator in generators)
    assert one == other
    assert str(one) == str(other)
    assert planned(X) != planned(X, 3)


# -- what executes it --------------------------------------------------------------------------------------------------


@pytest.mark.core(3)
@pytest.mark.parametrize(
    ("data", "given"),
    [
        (X, {"n_clusters": 3}),
        (X, {"n_clusters": 3, "quality": "best"}),
        (X, {"n_clusters": 3, "quality": "fast"}),
        (sparse.csr_array(X), {}),
        (X, {"consensus": "acv"}),
        (WINE, {"n_clusters": 3, "standardize": False}),
        (MIXED, {"n_clusters": 2, "preprocessor": Preprocessor(categories="member")}),
        (X, {"n_clusters": 3, "generator": SubspacePartitions(4), "consensus": "km"}),
        (X, {"n_clusters": 2, "generator": RandomKPartitions(4, estimator=DISTANCES)}),
    ],
)  # fmt: skip
@pytest.mark.parametrize("selection", ["learned", "consensus"])
def test_the_model_executes_the_plan_that_was_shown(data, given, selection):
    plan = default_plan(data, **given, selection=selection)
    model = ConsensusClustering(**given, selection=selection, random_state=3).fit(data)
    assert model.plan_ == plan
    assert str(model.plan_) == str(plan)
    k = plan.n_clusters.value
    assert k is None or model.n_clusters_ == k
    assert type(model.generator_) is type(plan.generator)
    assert type(model.consensus_) is type(plan.consensus)


def test_a_saved_model_keeps_its_plan(tmp_path):
    model = ConsensusClustering(3, random_state=0).fit(X)
    model.save(tmp_path / "model.npz")
    kept = load(tmp_path / "model.npz")
    assert kept.plan_ == model.plan_
    assert str(kept.plan_) == str(model.plan_)


def run(tmp_path, name, table, *options):
    """The model and the summary of a run of the shell."""
    path, out = tmp_path / "table.csv", tmp_path / name
    table.to_csv(path, index=False)
    done = CliRunner().invoke(main, ["run", str(path), "--stability", "0", "-o", str(out), *options])
    assert done.exit_code == 0, done.stderr
    return load(out / "model.npz"), json.loads((out / "summary.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("options", "given"),
    [
        (["-k", "3"], {"n_clusters": 3}),
        (["-k", "3", "--quality", "fast"], {"n_clusters": 3, "quality": "fast"}),
        (["-k", "3", "--method", "km"], {"n_clusters": 3, "consensus": "km"}),
        (["--method", "acv", "--no-standardize"], {"consensus": "acv", "standardize": False}),
        (["-k", "2", "--partitions", "5"], {"n_clusters": 2, "generator": RandomKPartitions(5)}),
    ],
    ids=str,
)
def test_the_shell_executes_the_plan_of_the_library(tmp_path, options, given):
    table = MIXED.assign(patient=[f"p{i:03}" for i in range(60)])[["patient", "cm", "m"]]
    model, summary = run(tmp_path, "out", table, *options)
    plan = default_plan(table, **given)
    assert str(model.plan_) == str(plan)
    assert model.plan_ == plan
    assert summary["plan"] == plan.to_dict()


def test_what_the_shell_decides_otherwise_is_an_argument_of_the_plan(tmp_path):
    """Numbers to choose from, resamples, and k-means where parameters are given without a method."""
    table = MIXED[["cm", "m"]]
    model, _ = run(tmp_path, "out", table, "--k-range", "2:3", "--generator", "random-k", "--partitions", "4")
    assert model.plan_ == planned(table, k_range=[2, 3], generator=RandomKPartitions(4))
    assert model.choice_.best == 3
    model, _ = run(tmp_path, "km", table, "-k", "3", "--set", "n_init=2")
    assert model.plan_.combiner == ("KMeansConsensus(n_init=2)", "It was given.")
    assert model.plan_.partitions.value == "DiversePartitions()"
    assert "60 objects are at most 2,000" in planned(table, n_resamples=None).stability.reason


def test_the_page_shows_the_plan():
    model = ConsensusClustering(3, selection="consensus", random_state=0).fit(X)
    of_parts = report.summarize(model.ensemble_, model.consensus_, plan=model.plan_)
    for page in (model.report().html, report.render(of_parts)):
        assert "What was decided before the work began" in page
        assert ">eac-average. Average linkage had the best results" in page
    without = report.render(report.summarize(model.ensemble_, model.consensus_))
    assert "What was decided" not in without
    with pytest.raises(TypeError, match=r"^plan of report must be what ConsensusClustering\.plan returned\. Got 'km'"):
        report.summarize(model.ensemble_, model.consensus_, plan="km")


# -- bad input ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"n_clusters": 0}, ValueError, r"n_clusters of default_plan must be a whole number ≥ 1, or None\. Got 0\."),
        ({"quality": "good"}, ValueError, "quality of default_plan must be one of 'fast', 'default', 'best'"),
        ({"generator": KMeansConsensus}, TypeError, "generator of default_plan must be a transformer"),
        ({"consensus": "kmeans"}, TypeError, "consensus of default_plan must be"),
        ({"n_resamples": -1}, ValueError, "n_resamples of default_plan must be a whole number ≥ 0"),
        ({"k_range": 3}, TypeError, "k_range of default_plan must be several numbers. Got 3."),
        ({"k_range": []}, ValueError, "k_range of default_plan must hold at least one number"),
        ({"k_range": [1]}, ValueError, "Every k in k_range of default_plan must be a whole number ≥ 2. Got 1."),
        ({"n_clusters": 3, "k_range": [3]}, ValueError, "n_clusters of default_plan must be None if k_range is given"),
        ({"impute": "mean", "preprocessor": Preprocessor()}, ValueError, "impute of default_plan must be left out"),
        ({"generator": DiversePartitions(), "consensus": "hbgf"}, ValueError, "n_clusters of HBGF .* must be"),
        ({"generator": RandomKPartitions(0)}, ValueError, "n_partitions of RandomKPartitions must be"),
    ],
)
def test_wrong_wishes(given, error, message):
    with pytest.raises(error, match=message):
        planned(X, **given)


def test_what_cannot_be_clustered_has_no_plan():
    with pytest.raises(ValueError, match="must have no missing numbers"):
        planned(np.where(X > 8, np.nan, X))


# -- the plan of an estimator ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"n_clusters": 3},
        {"n_clusters": 3, "quality": "fast"},
        {"n_clusters": 3, "selection": "consensus", "standardize": True},
        {"n_clusters": 3, "generator": RandomKPartitions(5), "consensus": "km"},
    ],
)
def test_fit_executes_what_plan_shows(given):
    model = ConsensusClustering(**given, random_state=0)
    assert model.plan(MIXED) == model.fit(MIXED).plan_
    assert model.plan(MIXED) == default_plan(MIXED, **given)


def test_the_plan_knows_of_weights():
    model = ConsensusClustering(3, random_state=0)
    weights = np.resize([1, 2], 60)
    assert model.plan(X, sample_weight=weights) == model.fit(X, sample_weight=weights).plan_ != model.plan(X)
    with pytest.raises(
        ValueError, match=r"^sample_weight of X must be whole numbers ≥ 0, one for each of the 60 objects"
    ):
        model.plan(X, sample_weight=[1, 2])


def test_the_plan_of_features_that_stay_on_disk(tmp_path):
    points = np.random.default_rng(0).normal(size=(12_000, 3))
    np.save(tmp_path / "X.npy", points)
    model = ConsensusClustering(3, random_state=0)
    stored = FeatureBlocks.open(tmp_path / "X.npy")
    plan = model.plan(stored)
    assert plan.n_objects == 12_000
    assert plan == model.fit(stored).plan_
    np.save(tmp_path / "few.npy", points[:500])
    assert model.plan(FeatureBlocks.open(tmp_path / "few.npy")) == model.plan(points[:500])
    with pytest.raises(
        ValueError, match=r"^sample_weight of ConsensusClustering must be None for features that are not"
    ):
        model.plan(stored, sample_weight=np.ones(12_000, dtype=int))


@pytest.mark.parametrize(
    ("model", "data"),
    [
        (ConsensusClustering(3), X[:2]),
        (ConsensusClustering(61), X),
        (ConsensusClustering(0), X),
        (ConsensusClustering(3, generator=ResampledPartitions(4), noise="vote"), X),
        (ConsensusClustering(3, impute="mean", preprocessor=Preprocessor()), X),
    ],
)
def test_plan_refuses_what_fit_refuses(model, data):
    with pytest.raises(ValueError, match=" must ") as refused:
        model.fit(data)
    with pytest.raises(ValueError, match=f"^{re.escape(str(refused.value))}$"):
        model.plan(data)
