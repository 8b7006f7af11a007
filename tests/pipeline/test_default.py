"""What ``selection="consensus"`` takes is the same where its parts are named, in Python and in the shell."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from limits import limit
from representatives import first_of
from scipy.sparse import csr_array
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

from ensemblage import ConsensusClustering, choose_k, load
from ensemblage.cli import main
from ensemblage.consensus import HBGF, EvidenceAccumulation, KMeansConsensus
from ensemblage.generation import DiversePartitions, MixedPartitions, RandomKPartitions
from ensemblage.preprocessing import Preprocessor

X, _ = make_blobs(60, centers=[(0, 0), (0, 9), (9, 0)], random_state=0)
FEW = X[:15]
CONSENSUS = ("--selection", "consensus")


def fitted(data=X, **given):
    return ConsensusClustering(**given, selection="consensus", random_state=3).fit(data)


def assert_same(one, other):
    """Bitwise: partitions, labels and how sure they are."""
    np.testing.assert_array_equal(np.asarray(one.ensemble_), np.asarray(other.ensemble_))
    for name in ("labels_", "confidence_", "runner_up_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    assert (one.choice_ is None) == (other.choice_ is None)


@pytest.fixture(scope="module")
def defaults():
    """By number of clusters and quality."""
    chosen = [(None, "default"), (None, "fast"), (None, "best"), (4, "default")]
    return {(k, quality): fitted(n_clusters=k, quality=quality) for k, quality in chosen}


@pytest.mark.core(3)
@pytest.mark.parametrize(
    ("like", "named"),
    first_of(
        [
            ((None, "default"), {"consensus": "eac-average"}),
            ((None, "default"), {"generator": DiversePartitions()}),
            ((None, "fast"), {"generator": RandomKPartitions()}),
            ((None, "fast"), {"quality": "fast", "consensus": "km"}),
            ((None, "best"), {"generator": DiversePartitions(standardized_too=True)}),
            ((4, "default"), {"n_clusters": 4, "generator": DiversePartitions()}),
            ((None, "default"), {"consensus": EvidenceAccumulation()}),
            ((None, "default"), {"generator": DiversePartitions(), "consensus": "eac-average"}),
            ((None, "default"), {"generator": DiversePartitions(), "quality": "fast"}),
            ((None, "fast"), {"generator": RandomKPartitions(50), "consensus": "km"}),
            ((None, "fast"), {"generator": RandomKPartitions(50), "consensus": KMeansConsensus()}),
            ((None, "best"), {"quality": "best", "consensus": "eac-average"}),
            ((4, "default"), {"n_clusters": 4, "consensus": "eac-average"}),
            ((4, "default"), {"n_clusters": 4, "generator": DiversePartitions([3, 4, 5]), "consensus": "eac-average"}),
            ((4, "default"), {"consensus": EvidenceAccumulation(4)}),
        ],
        6,
    ),
    ids=str,
)
def test_naming_the_default_changes_nothing(defaults, like, named):
    assert_same(fitted(**named), defaults[like])


def test_the_default_has_twelve_partitions_about_the_number_that_was_found(defaults):
    default = defaults[None, "default"]
    assert default.choice_.best == default.n_clusters_ == 3
    assert default.generator_.n_clusters_.tolist() == [2, 3, 4] * 4


def test_another_method_finds_the_number_by_its_own_rule():
    for consensus in ("acv", "eac-single", EvidenceAccumulation(linkage="single")):
        model = fitted(consensus=consensus)
        assert model.choice_ is None
        assert model.generator_.n_clusters_.tolist() == [2, 3, 4, 5, 6, 7] * 4
    numbers = fitted(generator=DiversePartitions([5, 6]), n_clusters=3).generator_.n_clusters_
    assert numbers.tolist() == [5, 6] * 4
    own = MixedPartitions(None, estimators=[KMeans(5, n_init=1)])  # None: each as it is given
    assert fitted(generator=own, n_clusters=3).generator_.n_clusters_.tolist() == [5]


@pytest.mark.parametrize("consensus", [None, "eac-average"])
def test_few_objects_that_show_no_number_clearly_are_refused(consensus):
    cloud = np.random.default_rng(1).normal(size=(15, 2))
    rule = r"^Too few rows to find .* Got 15 rows that are not\. Give n_clusters, or more rows\.$"
    with pytest.raises(ValueError, match=rule):
        fitted(cloud, consensus=consensus)
    assert fitted(cloud, consensus=consensus, n_clusters=2).n_clusters_ == 2
    assert fitted(cloud, consensus=consensus, allow_one=True).n_clusters_ == 1
    with pytest.raises(ValueError, match="Got 5 rows that are not"):
        fitted(FEW[:5])


def test_few_objects_in_clear_groups_are_found(tmp_path):
    shops = np.repeat([[0, 0], [40, 0], [0, 40]], 5, axis=0) + np.random.default_rng(0).normal(size=(15, 2))
    model, _ = run(tmp_path, "out", data=shops)
    assert (model.n_clusters_, model.plan_.combiner.value) == (3, "eac-average")
    assert len(set(zip(model.labels_.tolist(), np.repeat([0, 1, 2], 5), strict=True))) == 3
    path = tmp_path / "cloud.csv"
    np.savetxt(path, np.random.default_rng(1).normal(size=(15, 2)), delimiter=",", header="x,y", comments="")
    done = CliRunner().invoke(main, ["run", str(path), "-o", str(tmp_path / "cloud")])
    assert done.exit_code == 2
    assert "Give -k, or more rows." in done.stderr


def test_without_features_to_look_at_the_number_is_that_which_agrees_most():
    default = fitted(csr_array(X))
    assert_same(default, fitted(csr_array(X), consensus="km"))
    assert default.n_clusters_ == max(default.consensus_.agreement_, key=default.consensus_.agreement_.get)
    assert type(fitted(csr_array(X), consensus="eac-average").consensus_) is EvidenceAccumulation


@pytest.mark.parametrize("consensus", ["hbgf", "lwgp", HBGF()])
@pytest.mark.parametrize("data", [X, FEW], ids=["many", "few"])
def test_without_a_number_nothing_is_generated_in_vain(consensus, data, monkeypatch):
    monkeypatch.setattr(DiversePartitions, "fit_transform", lambda *_: 1 / 0)
    with pytest.raises(ValueError, match=r"n_clusters of .* must be given: it cannot estimate the number\. Got None\."):
        fitted(data, consensus=consensus)


def run(tmp_path, name, *options, data=X):
    """Labels of a run, and what it said."""
    path, out = tmp_path / "points.csv", tmp_path / name
    np.savetxt(path, data, delimiter=",", header="x,y", comments="")
    done = CliRunner().invoke(
        main, ["run", str(path), *CONSENSUS, "--seed", "3", "--stability", "0", "-o", str(out), *options]
    )
    assert done.exit_code == 0, done.stderr
    return load(out / "model.npz"), done.stderr


@pytest.mark.slow
def test_naming_the_default_changes_nothing_in_the_shell(tmp_path, defaults):
    for like, combinations in {
        "default": [[], ["--method", "eac-average"], ["--generator", "diverse"], ["--quality", "default"]],
        "fast": [["--quality", "fast"], ["--quality", "fast", "--method", "km"], ["--generator", "random-k"]],
    }.items():
        for i, options in enumerate(combinations):
            model, _ = run(tmp_path, f"{like}{i}", *options)
            np.testing.assert_array_equal(model.labels_, defaults[None, like].labels_)
            np.testing.assert_array_equal(np.asarray(model.ensemble_), np.asarray(defaults[None, like].ensemble_))
            assert model.choice_.best == 3


def test_of_very_many_objects_the_default_in_the_shell_is_another(tmp_path, monkeypatch):
    """What is chosen where different algorithms are too slow has that name, too."""
    limit(monkeypatch, "objects clustered by different algorithms", 50)
    default, _ = run(tmp_path, "default")
    named, _ = run(tmp_path, "named", "--method", "km")
    assert default.ensemble_.shape == (60, 50)
    assert_same(default, named)
    assert_same(default, fitted())
    assert_same(default, fitted(consensus="km"))


def test_a_folder_knows_whether_the_method_was_named(tmp_path):
    """Where no criteria can be asked k-means is the default, and evidence accumulation stays where it was named."""
    path, out = tmp_path / "kinds.csv", tmp_path / "out"
    path.write_text("a,b\n" + "".join(f"{'xyz'[i % 3]}1,{'xyz'[i % 3]}2\n" for i in range(30)), encoding="utf-8")
    made = []
    for options in ([], ["--method", "eac-average", "--overwrite"]):
        command = ["run", str(path), "--categories", "member", "-o", str(out), *options]
        done = CliRunner().invoke(main, command)
        assert done.exit_code == 0, done.stderr
        assert "finished by an earlier run" not in done.stderr
        made.append(load(out / "model.npz"))
    assert [type(model.consensus_).__name__ for model in made] == ["KMeansConsensus", "EvidenceAccumulation"]
    settings = json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))["settings"]
    assert settings["method"] == "eac-average"
    assert "k" not in settings


def test_an_ensemble_about_a_number_is_not_taken_for_another(tmp_path):
    """A method's own rule chooses among partitions into any number of clusters."""
    default, _ = run(tmp_path, "out")
    other, _ = run(tmp_path, "out", "--method", "acv", "--overwrite")
    assert (default.ensemble_.shape, other.ensemble_.shape) == ((60, 12), (60, 24))


def test_a_method_without_a_rule_is_refused_before_the_work(tmp_path, monkeypatch):
    monkeypatch.setattr(DiversePartitions, "fit_transform", lambda *_: 1 / 0)
    path = tmp_path / "points.csv"
    np.savetxt(path, X, delimiter=",", header="x,y", comments="")
    for name in ("hbgf", "lwgp"):
        done = CliRunner().invoke(main, ["run", str(path), "--method", name, "-o", str(tmp_path / "out")])
        assert done.exit_code == 2
        assert f"-k must be given for the method {name}" in done.stderr
        assert not (tmp_path / "out").exists()


# -- preparation -------------------------------------------------------------------------------------------------------


UNITS = pd.DataFrame(X * [1, 1000], columns=["cm", "m"])
"""Two columns in other units."""
GAPS = UNITS.mask(np.random.default_rng(0).random(UNITS.shape) < 0.05).drop(index=[1])  # a row without any value
MIXED = UNITS.assign(kind=np.where(X[:, 0] > 4, "a", "b"))


@pytest.mark.parametrize(
    ("data", "chosen"),
    first_of(
        [
            (UNITS, {}),
            (UNITS, {"standardize": False}),
            (GAPS, {"impute": "median"}),
            (MIXED, {}),
            (UNITS.to_numpy(), {}),
            (UNITS.to_numpy(dtype=np.float32), {}),
            (X, {"standardize": True}),
            (GAPS.to_numpy(), {"impute": "mean"}),
        ],
        4,
    ),
    ids=["frame", "as given", "median", "categories", "array", "float32", "standardised", "mean"],
)
def test_choose_k_prepares_as_the_model_does(data, chosen):
    model = ConsensusClustering(random_state=3, selection="consensus", **chosen).fit(data)
    choice = choose_k(data, random_state=3, **chosen)
    assert (choice.votes, choice.structure) == (model.choice_.votes, model.choice_.structure)
    assert choice.table == model.choice_.table


def test_what_was_prepared_once_is_told_once():
    """A number that may mean missing is told of the columns as they are, and not again of features made of them."""
    coded = X.copy()
    coded[::9, 1] = -999
    with pytest.warns(UserWarning, match="missing") as told:
        fitted(coded)
    assert [str(one.message).count("-999 in 'x1'") for one in told] == [1]


def test_choose_k_of_columns_in_other_units_is_that_of_standardised_ones():
    found, raw, standardised = (
        choose_k(data, n_references=19, random_state=3, **chosen)
        for data, chosen in (
            (UNITS, {}),
            (UNITS, {"standardize": False}),
            (StandardScaler().fit_transform(UNITS), {"standardize": False}),
        )
    )
    assert found.table == standardised.table != raw.table


@pytest.mark.parametrize("impute", ["median", "mean", "most-frequent", "knn"])
def test_gaps_are_filled(impute):
    given = fitted(GAPS, n_clusters=3, impute=impute)
    by_hand = fitted(GAPS, n_clusters=3, preprocessor=Preprocessor(impute=impute))
    np.testing.assert_array_equal(given.preprocessor_.transform(GAPS), by_hand.preprocessor_.transform(GAPS))
    assert_same(given, by_hand)
    np.testing.assert_array_equal(given.predict(GAPS), by_hand.predict(GAPS))
    assert get_tags(given).input_tags.allow_nan
    assert not get_tags(ConsensusClustering()).input_tags.allow_nan


@pytest.mark.parametrize(
    ("call", "subject"),
    [
        (lambda gaps: fitted(gaps), "Preprocessor"),
        (lambda gaps: Preprocessor().fit(gaps), "Preprocessor"),
        (lambda gaps: choose_k(gaps), "choose_k"),
        (lambda gaps: fitted().predict(gaps), "Preprocessor"),
    ],
    ids=["fit", "Preprocessor", "choose_k", "predict"],
)
def test_gaps_of_arrays_are_refused_in_one_sentence(call, subject):
    X_gaps = X.copy()
    X_gaps[[4, 9], [1, 0]] = np.nan
    told = "must have no missing numbers. Got 2 NaN, the first in row 4 and column 1, counted from 0. Fill them"
    with pytest.raises(ValueError, match=rf'^X of {subject} {told} with impute="median", or leave those rows out\.$'):
        call(X_gaps)


@pytest.mark.parametrize("chosen", [{"impute": "mean"}, {"standardize": True}, {"standardize": False}], ids=str)
def test_a_preprocessor_of_ones_own_prepares_alone(chosen):
    (name,) = chosen
    with pytest.raises(ValueError, match=f"{name} of ConsensusClustering must be left out if a preprocessor is given"):
        fitted(preprocessor=Preprocessor(), **chosen)


def test_wrong_preparation():
    for subject, call in (("ConsensusClustering", fitted), ("choose_k", choose_k)):
        for chosen in ({"impute": "drop"}, {"standardize": "no"}):
            with pytest.raises(ValueError, match=f"{next(iter(chosen))} of {subject} must be"):
                call(X, **chosen)
