"""Learned weights of partitions in the shell: what `ConsensusClustering` does, in a folder."""

import json

import joblib
import numpy as np
import pandas as pd
import pytest
from inside import default_plan
from limits import limit
from shell import call as shell
from sklearn.base import clone
from sklearn.datasets import load_wine, make_blobs

from ensemblage import ConsensusClustering, load, read_table, report
from ensemblage.base.options import DEFAULT_SELECTION
from ensemblage.consensus import EvidenceAccumulation

WINE = load_wine(as_frame=True).data[["alcohol", "flavanoids", "color_intensity", "proline"]]
GAPS = WINE.mask(np.random.default_rng(0).random(WINE.shape) < 0.05)
BLOBS = pd.DataFrame(make_blobs(90, centers=[(0, 0), (0, 30), (30, 0)], random_state=0)[0], columns=["x", "y"])
KINDS = BLOBS.assign(kind=np.where(BLOBS["x"] > 15, "a", "b"))


def learned(folder, table, *options, name="out"):
    """The model, labels.csv and summary.json of a run."""
    path, out = folder / "table.csv", folder / name
    table.to_csv(path, index=False)
    done = shell("run", path, "--selection", "learned", "--stability", 0, "-o", out, *options)
    assert done.exit_code == 0, done.stderr
    summary = json.loads((out / "summary.json").read_text(encoding="utf-8"))
    return load(out / "model.npz"), pd.read_csv(out / "labels.csv"), summary


@pytest.mark.parametrize(
    ("table", "options", "given"),
    [
        (WINE, [], {}),
        (WINE, ["-k", 4], {"n_clusters": 4}),
        (WINE, ["-k", 4, "--method", "eac-average"], {"n_clusters": 4, "consensus": "eac-average"}),
        (WINE, ["--quality", "best"], {"quality": "best"}),
        (WINE, ["--no-standardize"], {"standardize": False}),
        (GAPS, ["--impute", "median"], {"impute": "median"}),
        (KINDS, [], {}),
    ],
    ids=["k found", "k given", "named", "best", "scales kept", "gaps", "categories"],
)
def test_the_shell_executes_the_plan_of_the_library(tmp_path, table, options, given):
    model, found, summary = learned(tmp_path, table, *options, "--seed", 3)
    same = ConsensusClustering(**given, selection="learned", random_state=3).fit(read_table(tmp_path / "table.csv"))
    assert found["cluster"].tolist() == same.labels_.tolist()
    np.testing.assert_allclose(found["confidence"], same.confidence_, atol=1e-6)
    assert str(model.plan_) == str(same.plan_)
    assert model.plan_.is_learned
    assert model.chosen_ == same.chosen_
    assert summary["plan"] == same.plan_.to_dict()
    shown = report.summarize(same.ensemble_, same.consensus_, chosen=same.chosen_)["chosen"]
    assert summary["chosen"] == json.loads(json.dumps(shown))


@pytest.mark.slow
def test_the_partitions_of_many_objects_are_rated_in_the_shell_too(tmp_path, monkeypatch):
    """Also where an earlier run has made them."""
    limit(monkeypatch, "objects compared by the trees", 100)
    model, found, _ = learned(tmp_path, WINE, "-k", 3, "--seed", 0)
    same = ConsensusClustering(3, selection="learned", random_state=0).fit(read_table(tmp_path / "table.csv"))
    assert found["cluster"].tolist() == same.labels_.tolist()
    assert model.chosen_ == same.chosen_
    with monkeypatch.context() as patch:
        patch.setattr(EvidenceAccumulation, "fit", stopped)
        assert shell(*stopped_run(tmp_path)).exit_code != 0
    done = shell(*stopped_run(tmp_path))
    assert "made by an earlier run" in done.stderr
    assert load(tmp_path / "again" / "model.npz").chosen_ == same.chosen_


def stopped(*args, **given):
    raise OSError("stopped")


def stopped_run(folder):
    return "run", folder / "table.csv", "-k", 3, "--seed", 0, "--stability", 0, "-o", folder / "again"


def test_one_constant_is_the_default_everywhere(tmp_path):
    assert ConsensusClustering().selection == DEFAULT_SELECTION
    assert f'selection : {{"learned", "consensus"}}, default "{DEFAULT_SELECTION}"' in ConsensusClustering.__doc__
    assert f"[default: {DEFAULT_SELECTION}]" in " ".join(shell("run", "--help").stdout.split())
    WINE.to_csv(tmp_path / "table.csv", index=False)
    done = shell("run", tmp_path / "table.csv", "-k", 3, "--stability", 0, "-o", tmp_path / "out")
    assert done.exit_code == 0, done.stderr
    assert load(tmp_path / "out" / "model.npz").plan_ == default_plan(WINE, 3)


def test_numbers_to_choose_from(tmp_path):
    model, found, _ = learned(tmp_path, WINE, "--k-range", "4:6")
    assert set(model.chosen_.predicted) == {4, 5, 6}
    assert found["cluster"].nunique() == model.chosen_.n_clusters
    assert model.plan_ == default_plan(WINE, selection="learned", k_range=range(4, 7))


def test_jobs_are_the_threads_of_the_profile_too(tmp_path, monkeypatch):
    """`profile` has no parameter for them: it takes those of joblib's configuration."""
    configured = joblib.parallel.get_active_backend
    for jobs in ("1", "2"):
        told = []

        def ask(*args, told=told, **options):
            found = configured(*args, **options)
            if not (args or options):  # joblib itself asks with options
                told.append(found[1])
            return found

        monkeypatch.setattr("joblib.parallel.get_active_backend", ask)
        learned(tmp_path, WINE, "-k", 3, "--jobs", jobs, name=jobs)
        assert {n for n in told if n is not None} == {int(jobs)}  # None: of what is not configured


def test_pairs_of_objects_are_kept(tmp_path):
    (tmp_path / "pairs.csv").write_text("0,89\n", encoding="utf-8")
    table = BLOBS.assign(id=[str(i) for i in range(len(BLOBS))])[["id", "x", "y"]]
    free, *_ = learned(tmp_path, table, "-k", 3, name="free")
    bound, found, _ = learned(tmp_path, table, "-k", 3, "--must-link", tmp_path / "pairs.csv", name="bound")
    assert free.labels_[0] != free.labels_[89] or free.labels_[1] != free.labels_[88]
    assert found["cluster"][0] == found["cluster"][89]
    assert bound.chosen_ == free.chosen_


def test_one_cluster_where_it_is_allowed(tmp_path, unclear):
    one, found, _ = learned(tmp_path, BLOBS, "--allow-one", name="one")
    assert set(found["cluster"]) == {0}
    assert one.choice_ is None
    several, *_ = learned(tmp_path, BLOBS, name="several")
    assert several.n_clusters_ == several.chosen_.n_clusters > 1
    given, *_ = learned(tmp_path, BLOBS, "-k", 3, name="given")
    assert given.n_clusters_ == 3


def test_the_model_of_a_run(tmp_path):
    model, found, _ = learned(tmp_path, WINE)
    assert model.selection == "learned"
    assert model.generator is model.consensus is model.choice_ is None
    assert (model.predict(WINE) == found["cluster"]).mean() > 0.95
    np.testing.assert_array_equal(clone(model).fit(WINE).labels_, model.labels_)


def test_what_is_left_of_it_where_the_data_do_not_allow_it(tmp_path):
    for name, table, options in (("few", BLOBS[:15], []), ("members", KINDS, ["--categories", "member"])):
        model, _, summary = learned(tmp_path, table, *options, name=name)
        assert model.chosen_ is None
        assert not model.plan_.is_learned
        assert "selection" not in summary["settings"]


def test_settings_of_the_page_are_those_that_count(tmp_path):
    *_, summary = learned(tmp_path, BLOBS)
    settings = summary["settings"]
    assert (settings["generator"], settings["selection"], settings["method"]) == ("scaled", "learned", "eac-average")
    assert settings.keys().isdisjoint(["k", "diverse_k"])


def test_a_folder_is_of_one_selection(tmp_path):
    learned(tmp_path, BLOBS)
    command = ["run", tmp_path / "table.csv", "--stability", 0, "-o", tmp_path / "out"]
    again = shell(*command, "--selection", "learned")
    assert "finished by an earlier run" in again.stderr
    other = shell(*command, "--selection", "consensus")
    assert other.exit_code == 2
    assert "holds one with selection learned instead of none" in other.stderr
    assert shell(*command, "--selection", "consensus", "--overwrite").exit_code == 0
    assert load(tmp_path / "out" / "model.npz").chosen_ is None
    assert "selection none instead of learned" in shell(*command, "--selection", "learned").stderr


def test_a_run_that_was_stopped_goes_on(tmp_path, monkeypatch):
    whole, *_ = learned(tmp_path, WINE, name="whole")
    command = ["run", tmp_path / "table.csv", "--selection", "learned", "--stability", 0, "-o", tmp_path / "out"]

    def stop(*_, **__):
        raise ValueError("Stopped.")

    monkeypatch.setattr(EvidenceAccumulation, "fit", stop)
    stopped = shell(*command)
    assert "keeps ensemble.npz" in stopped.stderr
    monkeypatch.undo()
    again = shell(*command)
    assert "made by an earlier run with the same settings" in again.stderr
    model = load(tmp_path / "out" / "model.npz")
    np.testing.assert_array_equal(model.labels_, whole.labels_)
    np.testing.assert_array_equal(model.confidence_, whole.confidence_)
    assert model.chosen_ == whole.chosen_


def test_what_is_going_to_be_done_and_was_found_is_told(tmp_path):
    BLOBS.to_csv(tmp_path / "table.csv", index=False)
    done = shell("run", tmp_path / "table.csv", "--selection", "learned", "--stability", 0, "-o", tmp_path / "out")
    assert "trees that learned on synthetic sets rate candidate partitions with 2 to 9 clusters" in done.stderr
    assert "candidate partitions: by several algorithms in several scales" in done.stderr
    sentence = load(tmp_path / "out" / "model.npz").chosen_.sentence
    assert sentence in done.stderr
    assert f"chosen      {sentence}" in done.stdout.splitlines()


def test_without_clear_clusters_that_comes_first(tmp_path, unclear):
    BLOBS.to_csv(tmp_path / "table.csv", index=False)
    done = shell("run", tmp_path / "table.csv", "--selection", "learned", "--stability", 0, "-o", tmp_path / "out")
    assert done.stdout.startswith("structure   No clear clusters were found: the best partition is rated ")


def test_resamples_keep_algorithms_weights_and_number(tmp_path, monkeypatch):
    fits, fit = [], EvidenceAccumulation.fit

    def fit_and_note(self, X, y=None, **given):
        fits.append((self, X))
        return fit(self, X, y, **given)

    monkeypatch.setattr(EvidenceAccumulation, "fit", fit_and_note)
    model, _, summary = learned(tmp_path, WINE, "--stability", 3)
    chosen = model.chosen_
    assert summary["plan"]["stability"]["value"] == summary["found_again"]["n"] == 3
    weights = {f"{view}_{family}_k{k}": weight for (view, family, k), weight in chosen.weights.items()}
    assert len(fits) == 1 + 3
    for consensus, ensemble in fits:  # a resample may lack a partition
        assert consensus.n_clusters == chosen.n_clusters
        assert dict(zip(ensemble.names, consensus.weights, strict=True)).items() <= weights.items()
        assert len(ensemble.names) > 0.9 * len(weights)
    stable, _, summary = learned(tmp_path, BLOBS, "--stability", 4, name="stable")
    assert [row["verdict"] for row in summary["found_again"]["table"]] == ["very stable"] * stable.n_clusters_


def test_resamples_are_clustered_unasked(tmp_path):
    BLOBS.to_csv(tmp_path / "table.csv", index=False)
    done = shell("run", tmp_path / "table.csv", "--selection", "learned", "-o", tmp_path / "out")
    assert done.exit_code == 0, done.stderr
    assert "3 clusters in 2 bootstraps" in done.stdout
    plan = default_plan(BLOBS, selection="learned", n_resamples=None)
    assert plan.stability == (2, "90 objects are at most 2,000: it takes little time.")
    assert load(tmp_path / "out" / "model.npz").plan_ == plan


def test_new_objects(tmp_path):
    learned(tmp_path, BLOBS.iloc[::2])
    BLOBS.iloc[1::2].to_csv(tmp_path / "new.csv", index=False)
    done = shell("assign", tmp_path / "out", tmp_path / "new.csv", "-o", tmp_path / "assigned.csv")
    assert done.exit_code == 0, done.stderr
    same = ConsensusClustering(selection="learned", random_state=0).fit(BLOBS.iloc[::2]).assign(BLOBS.iloc[1::2])
    found = pd.read_csv(tmp_path / "assigned.csv")
    assert found["cluster"].tolist() == same.labels.tolist()
    assert set(found["verdict"]) == {"core"}
    np.testing.assert_allclose(found["confidence"], same.confidence, atol=1e-6)


def test_what_follows_a_run(tmp_path):
    model, found, summary = learned(tmp_path, BLOBS, "--annotate")
    out = tmp_path / "out"
    beside = pd.read_csv(out / "annotated.csv")
    assert beside["cluster"].tolist() == found["cluster"].tolist()
    assert set(beside["verdict"]) == {"core"}
    done = shell("report", out, "-o", tmp_path / "again.html")
    assert done.exit_code == 0, done.stderr
    assert (tmp_path / "again.html").read_bytes() == (out / "report.html").read_bytes()
    assert model.confidence_.min() > 0.99
    assert sum(row["verdicts"]["core"] for row in summary["clusters"]) == len(BLOBS)


@pytest.mark.parametrize(
    ("options", "got"),
    [
        (["--generator", "random-k"], "--generator random-k"),
        (["--quality", "fast"], "--quality fast"),
        (["--partitions", "9"], "--partitions 9"),
        (["--sample-size", "all"], "--sample-size all"),
        (["--method", "ecc"], "--method ecc"),
        (["--set", "n_init=2"], "--set"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_contradicts_it_is_refused(tmp_path, options, got):
    BLOBS.to_csv(tmp_path / "table.csv", index=False)
    command = ["run", tmp_path / "table.csv", "-k", 3, "-o", tmp_path / "out"]
    done = shell(*command, "--selection", "learned", *options)
    assert done.exit_code == 2
    rule = "error: --selection learned is for the generator and the method that it chooses."
    assert done.stderr == f"{rule} Got {got}. Leave one out.\n"
    assert shell(*command, "--selection", "best").exit_code == 2
    assert not (tmp_path / "out").exists()
