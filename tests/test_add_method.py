"""The method of docs/site/howto/add_method.md: its three files are copied from the page, and everything passes."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from importlib.util import find_spec

import numpy as np
import pytest
from conformance import CHECKS, Setting, assert_sound
from former import former
from inside import default_plan
from places import ROOT
from shell import fail, succeed
from test_parameters_count import assert_counts

from ensemblage import METHODS, ConsensusClustering, Ensemble, cite, load, make_consensus
from ensemblage.base.references import Reference
from ensemblage.consensus import compare_methods

Method = former("consensus", "Method")

PAGE = (ROOT / "docs/site/howto/add_method.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"^```\{code-block\} python\n:caption: (\S+)\n\n(.*?)^```$", PAGE, flags=re.M | re.S))
"""The page's files by their paths; of the registry what is put into it."""
OWN, REGISTRY, TEST = FILES
IMPORTS, RECORD = FILES[REGISTRY].split("\n\n", 1)
LABELS = [[0, 0, 1], [0, 0, 0], [0, 1, 0], [1, 1, 2], [1, 1, 2]]


# ---- In a copy of the library ----

COPIED = ("CONTRIBUTING.md", "README.md", "conftest.py", "docs", "examples", "lab", "pyproject.toml", "src", "tests")
CONCERNED = (
    *("rules/test_docstrings", "rules/test_reference", "rules/test_words", "test_cite", "test_conformance"),
    *("test_golden_cases", "test_names", "test_package", "test_pairs", "test_parameters", "test_parameters_count"),
    *("test_report_methods", "test_saved", "test_unanimity", "test_weights"),
)
OF_ALL = (
    "test_reference or stub or everything_has or numpydoc or parameter_is_ignored or golden_cases or test_words or "
    "ranker_of_the_registry"
)
NOT_HERE = "combine or pairs-run or Dask or pairs-disk"
"""Checks of commands and workers, which take long."""


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """The library with the page's three files, after the one command."""
    folder = tmp_path_factory.mktemp("library")
    ignored = shutil.ignore_patterns("__pycache__", "golden*.npz", "golden*.gz", "*.jsonl")
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=ignored)
        else:
            shutil.copy(ROOT / name, folder / name)
    for path in (OWN, TEST):
        (folder / path).write_text(FILES[path], encoding="utf-8")
    registry = (folder / REGISTRY).read_text(encoding="utf-8")
    before, after = registry.split("from ensemblage.base.validation", 1)
    registry = f"{before}{IMPORTS}\nfrom ensemblage.base.validation{after}"
    before, after = registry.split("    }\n)\nPUBLISHED", 1)
    (folder / REGISTRY).write_text(f"{before}{RECORD}    }}\n)\nPUBLISHED{after}", encoding="utf-8")
    run(folder, "docs/make_tables.py")
    return folder


def run(folder, *arguments):
    """Python in the copy, with the library of the copy."""
    environment = {**os.environ, "PYTHONPATH": str(folder / "src")}
    done = subprocess.run([sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


@pytest.mark.slow
def test_three_files_are_enough(copy):
    tests = [str(path) for name in CONCERNED for path in (copy / "tests").rglob(f"{name}.py")]
    chosen = f"(pairs or PairComponents or {OF_ALL}) and not ({NOT_HERE})"
    told = run(copy, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", chosen, *tests)
    assert int(re.search(r"(\d+) passed", told)[1]) > 60
    assert "MajorityVoting" in run(copy, "-c", "import ensemblage; print(ensemblage.consensus.MajorityVoting)")
    assert "PairComponents" in run(
        copy, "-c", "from ensemblage.consensus import PairComponents; print(PairComponents())"
    )
    assert run(copy, "docs/make_tables.py", "--check") == ""


@pytest.mark.slow
@pytest.mark.skipif(find_spec("ruff") is None, reason="of the extra lint")
def test_the_files_are_written_as_all_others(copy):
    """But for their width, which is that of the page's boxes, and the place of the imports."""
    run(copy, "-m", "ruff", "check", OWN, TEST)
    run(copy, "-m", "ruff", "check", "--ignore", "I001", REGISTRY)
    run(copy, "-m", "ruff", "format", "--check", "--line-length", "100", OWN, TEST)


# ---- Here ----


@pytest.fixture(scope="module")
def pairs(tmp_path_factory):
    """The module of the method."""
    path = tmp_path_factory.mktemp("pairs") / "pairs.py"
    path.write_text(FILES[OWN], encoding="utf-8")
    spec = importlib.util.spec_from_file_location("pairs", path)
    sys.modules["pairs"] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    del sys.modules["pairs"]


@pytest.fixture(autouse=True)
def registered(monkeypatch, pairs):
    """The record: all that goes by the registry knows the method."""
    known = {"Method": Method, "Reference": Reference, "PairComponents": pairs.PairComponents}
    monkeypatch.setattr(METHODS, "_listed", {**METHODS._listed, **eval(f"{{{RECORD}}}", known)})


def test_it_is_found_and_fitted(pairs):
    model = make_consensus("pairs").fit(LABELS)
    assert type(model) is pairs.PairComponents
    assert model.labels_.tolist() == [0, 0, 0, 1, 1]
    assert make_consensus("pairs", association_threshold=0.9).fit(LABELS).n_clusters_ == 4
    assert_sound(model, 5, None)
    assert model.assign([[0, 0, 0], [1, 1, 2]]).labels.tolist() == [0, 1]
    assert compare_methods(LABELS, 2, methods=["pairs", "km"]).names == ["pairs", "km"]


def test_the_record_is_what_others_read(pairs):
    said = "A. L. N. Fred (2001). Finding consistent clusters in data partitions. Multiple Classifier Systems."
    assert cite("pairs").text == said
    assert cite(pairs.PairComponents()).references == cite("pairs").references
    assert re.search(r"^pairs +clusters that are well apart", succeed("methods").stdout, flags=re.MULTILINE)
    shown = succeed("methods", "pairs").stdout
    takes = "weights of partitions, weights of objects, missing labels, must-link, no number of clusters"
    assert f"takes: {takes}\n" in shown
    assert "  association_threshold=0.5" in shown


def test_it_is_saved_without_a_line_for_it(tmp_path):
    model = make_consensus("pairs").fit(LABELS)
    model.save(tmp_path / "model.npz")
    assert load(tmp_path / "model.npz").labels_.tolist() == model.labels_.tolist()


def with_capabilities(monkeypatch, pairs, **changed):
    monkeypatch.setattr(pairs.PairComponents, "_capabilities", replace(pairs.PairComponents._capabilities, **changed))


def test_the_base_class_refuses_what_the_record_has_not(monkeypatch, pairs):
    with pytest.raises(ValueError, match="it cannot keep objects apart"):
        make_consensus("pairs").fit(LABELS, cannot_link=[[0, 1]])
    with pytest.raises(ValueError, match="it cannot use memberships"):
        make_consensus("pairs").fit(Ensemble.from_memberships([np.eye(2), np.eye(2)]))
    with_capabilities(monkeypatch, pairs, missing_labels=False)
    gaps = [[0, 0], [0, -1], [1, 1]]
    with pytest.raises(ValueError, match=r"X of PairComponents must have a label for every object .* Got missing ones"):
        make_consensus("pairs").fit(gaps)


def test_a_number_of_clusters_that_it_has_no_use_for_is_refused(tmp_path, pairs):
    rule = r"n_clusters of PairComponents \(pairs\) must be None: the labels alone decide the number\. Got 2\. Leave it"
    for call in (
        lambda: make_consensus("pairs", 2),
        lambda: pairs.PairComponents(2).fit(LABELS),
        lambda: make_consensus("pairs").set_params(n_clusters=2).fit(LABELS),
        lambda: ConsensusClustering(2, consensus="pairs").fit(np.arange(60.0).reshape(30, 2)),
        lambda: default_plan(np.arange(60.0).reshape(30, 2), k_range=[2, 3], consensus="pairs"),
    ):
        with pytest.raises(ValueError, match=rule):
            call()
    np.savetxt(tmp_path / "labels.csv", LABELS, "%d", ",", header="a,b,c", comments="")
    arguments = "combine", tmp_path / "labels.csv", "--method", "pairs", "-o", tmp_path / "out"
    assert "-k must be left out for the method pairs: the labels alone" in fail(*arguments, "-k", 2)
    assert "consensus   2 clusters" in succeed(*arguments).stdout


@pytest.mark.parametrize("title", ["capabilities", "n_clusters counts", "weights"])
def test_its_record_is_true(tmp_path, title):
    CHECKS[title]("pairs", Setting(tmp_path))


def test_a_number_of_clusters_that_is_ignored_is_noticed(tmp_path, monkeypatch, pairs):
    """One forgets to say that the method takes none."""
    with_capabilities(monkeypatch, pairs, takes_n_clusters=True)
    told = (
        r"PairComponents ignores n_clusters: asked for 2 and for 4 clusters, it gives (\d) and \1\. Use self\.n_clust"
    )
    with pytest.raises(AssertionError, match=told):
        CHECKS["n_clusters counts"]("pairs", Setting(tmp_path))


def test_a_parameter_that_is_ignored_is_noticed(monkeypatch, pairs):
    fit = pairs.PairComponents._fit
    monkeypatch.setattr(pairs.PairComponents, "_fit", lambda self, rows: fit(pairs.PairComponents(), rows))
    assert_counts(pairs.PairComponents, "weights")
    with pytest.raises(AssertionError, match=r"PairComponents ignores association_threshold: .* Use self\.assoc"):
        assert_counts(pairs.PairComponents, "association_threshold")
