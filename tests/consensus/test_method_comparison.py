"""Other methods on the same partitions: in Python, in the shell, on the page."""

import json

import numpy as np
import pytest
from click.testing import CliRunner
from former import former
from limits import limit
from sklearn.metrics import adjusted_rand_score
from strategies import planted_labels, usual

from ensemblage import METHODS, report
from ensemblage.base.random import task_seeds
from ensemblage.cli import main
from ensemblage.consensus import KMeansConsensus, compare_methods

Capabilities = former("consensus", "Capabilities")

LABELS = planted_labels(n=60, p=8, k=3, noise=0.2)[0]
SOME = ["km", "eac-average", "acv", "hgpa"]


@pytest.fixture(scope="module")
def compared():
    return compare_methods(LABELS, 3, methods=SOME, n_jobs=1)


def test_each_gives_what_it_gives_alone(compared):
    for name, labels in zip(compared.names, compared.labels.T, strict=True):
        model = usual(name, 3)
        if "random_state" in model.get_params():
            model.set_params(random_state=task_seeds(0, 1).item())
        assert (labels == model.fit(LABELS).labels_).all()


def test_numbers_are_adjusted_rand_indices(compared):
    for i, row in enumerate(compared.table):
        own = compared.labels[:, i]
        assert row.agreement == pytest.approx(np.mean([adjusted_rand_score(own, z) for z in LABELS.T]))
        others = [adjusted_rand_score(own, z) for j, z in enumerate(compared.labels.T) if j != i]
        assert row.others == pytest.approx(np.mean(others))
        assert compared.ari[i, (i + 1) % 4] == pytest.approx(adjusted_rand_score(own, compared.labels[:, (i + 1) % 4]))
        assert row.n_clusters == len(set(own.tolist()))
    assert compared.sentence.startswith("Of 4 methods ")
    assert [row.method for row in compared.table] == SOME
    assert "km" in repr(compared)
    assert len(compared.to_frame()) == 4
    assert compared.plot().get_xlabel()


def test_about_the_same_is_an_index_of_nine_tenths():
    noise = np.random.default_rng(0).integers(9, size=(100, 8))
    assert compare_methods(noise, 9, methods=["km", "eac-single"]).sentence.startswith("Of 2 methods 1 give about")
    assert compare_methods(LABELS, 3, methods=["km", "kcc"]).sentence.startswith("Of 2 methods 2 give about")


def test_who_cannot_says_why():
    """Cumulative voting only merges the clusters of the largest partition."""
    found = compare_methods(LABELS, 12, methods=["km", "acv"])
    assert found.names == ["km"]
    assert found.table[1].n_clusters == 0
    assert "n_clusters of CumulativeVoting must be" in found.table[1].refused
    assert found.sentence == "Fewer than two methods gave clusters."
    assert "CumulativeVoting" in repr(found)
    assert compare_methods(LABELS, 500, methods=["km"]).labels.shape == (60, 0)


def test_pairs_of_very_many_rows_are_not_compared(monkeypatch):
    limit(monkeypatch, "rows of a method that compares pairs", 10)
    found = compare_methods(LABELS, 3, methods=["eac-average", "km"])
    assert found.names == ["km"]
    assert "are more than 10" in found.table[0].refused


def test_which_methods_compare_all_pairs_is_no_matter_of_words(monkeypatch):
    assert {name for name, method in METHODS.items() if method.capabilities.compares_pairs} == {
        *("eac-single", "eac-average", "eac-complete", "lwea", "ecpcs-hc", "cspa", "negmm"),
        *("negmm-wat-kmeans", "negmm-wat-gmm", "pta-average", "pta-complete", "pta-single", "ptgp"),
    }
    limit(monkeypatch, "rows of a method that compares pairs", 10)
    reason = "compares the sizes of clusters, not pairs of rows"
    with monkeypatch.context() as patch:
        patch.setattr(KMeansConsensus, "_capabilities", Capabilities(in_memory=reason))
        assert compare_methods(LABELS, 3, methods=["km"]).names == ["km"]
        patch.setattr(KMeansConsensus, "_capabilities", Capabilities(in_memory=reason, compares_pairs=True))
        found = compare_methods(LABELS, 3, methods=["km"])
    assert found.table[0].refused.startswith("It compares the sizes of clusters, not pairs of rows: 32 are")


def test_memory_seed_and_progress_reach_the_methods():
    found = compare_methods(LABELS, 3, methods=["negmm", "km"], max_bytes=1000)
    assert "max_bytes" in found.table[0].refused
    noise = np.random.default_rng(0).integers(9, size=(200, 8))
    first, same, other = (compare_methods(noise, 9, methods=["km"], random_state=seed).labels for seed in (0, 0, 5))
    assert (first == same).all()
    assert (first != other).any()
    calls = []
    compare_methods(LABELS, 3, methods=["km", "acv", "km"], progress=lambda done, total: calls.append((done, total)))
    assert calls == [(1, 2), (2, 2)]
    with pytest.raises(ValueError, match="Every method of compare_methods must be"):
        compare_methods(LABELS, 3, methods=["magic"])
    with pytest.raises(ValueError, match="n_clusters of compare_methods"):
        compare_methods(LABELS, 0)


def test_page(compared):
    model = KMeansConsensus(3, random_state=0).fit(LABELS)
    summary = report.summarize(LABELS, model, method_comparison=compared)
    page = report.render(json.loads(json.dumps(summary, allow_nan=False)))
    assert "Do other methods say the same?" in page
    assert compared.sentence in page
    assert all(f">{name}<" in page for name in SOME)
    none = compare_methods(LABELS, 12, methods=["km", "acv"])
    assert "must be ≤ the" in report.render(report.summarize(LABELS, model, method_comparison=none))
    with pytest.raises(TypeError, match="method_comparison of report must be what compare_methods returned"):
        report.summarize(LABELS, model, method_comparison=["km"])
    with pytest.raises(ValueError, match="method_comparison of report must be of the 60 objects"):
        report.summarize(LABELS, model, method_comparison=compare_methods(LABELS[:30], 2, methods=["km"]))


@pytest.mark.slow
def test_all_in_the_shell(tmp_path):
    np.savetxt(tmp_path / "labels.csv", LABELS, "%d", ",", header=",".join(f"m{j}" for j in range(8)), comments="")
    asked = ["combine", str(tmp_path / "labels.csv"), "-k", "3", "--method", "all", "-o", str(tmp_path / "out")]
    done = CliRunner().invoke(main, asked, catch_exceptions=False)
    assert done.exit_code == 0, done.stderr
    assert "\nmethods     Of " in done.stdout
    summary = json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))
    assert {row["method"] for row in summary["methods"]["table"]} == set(METHODS)
    assert summary["settings"]["method"] == "km"
    assert summary["settings"]["methods"] == "all"
