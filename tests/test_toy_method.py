"""The method of the how-to, put into the registry as it says: all that goes by the registry knows it."""

import re

import numpy as np
import pytest
from conformance import CHECKS, Setting, assert_sound
from test_cli import fail, succeed
from toy.first_partition import METHOD, FirstPartition

from ensemblage import METHODS, ConsensusClustering, SoftEnsemble, cite, default_plan, load, make_consensus
from ensemblage.answer import compare_methods

LABELS = [[0, 0], [0, 1], [0, 1], [1, 1], [1, 1]]


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    monkeypatch.setattr(METHODS, "_listed", {**METHODS._listed, **METHOD})


def test_it_is_found_and_fitted():
    model = make_consensus("first").fit(LABELS)
    assert type(model) is FirstPartition
    assert model.labels_.tolist() == [0, 0, 0, 1, 1]
    assert make_consensus("first", last=True).fit(LABELS).labels_.tolist() == [1, 0, 0, 0, 0]
    assert_sound(model, 5, None)
    assert model.assign([[0, 0], [1, 1]]).labels.tolist() == [0, 1]
    assert compare_methods(LABELS, 2, methods=["first", "km"]).names == ["first", "km"]


def test_the_record_is_what_others_read():
    assert cite("first").text == "A. Nobody (1999). The first partition."
    assert cite(FirstPartition()).references == cite("first").references
    assert re.search(r"^first +an example: ", succeed("methods").stdout, flags=re.MULTILINE)
    shown = succeed("methods", "first").stdout
    assert "takes: weights of partitions, weights of objects, must-link, no number of clusters\n" in shown
    assert "  last=false" in shown


def test_it_is_saved_without_a_line_for_it(tmp_path):
    model = make_consensus("first").fit(LABELS)
    model.save(tmp_path / "model.npz")
    assert load(tmp_path / "model.npz").labels_.tolist() == model.labels_.tolist()


def test_the_base_class_refuses_what_the_record_has_not():
    gaps = [[0, 0], [0, -1], [1, 1]]
    with pytest.raises(ValueError, match=r"X of FirstPartition must have a label for every object .* Got missing ones"):
        make_consensus("first").fit(gaps)
    with pytest.raises(ValueError, match="it cannot keep objects apart"):
        make_consensus("first").fit(LABELS, cannot_link=[[0, 1]])
    with pytest.raises(ValueError, match="it cannot use memberships"):
        make_consensus("first").fit(SoftEnsemble([np.eye(2), np.eye(2)]))


def test_a_number_of_clusters_that_it_has_no_use_for_is_refused(tmp_path):
    rule = r"n_clusters of FirstPartition \(first\) must be None: the labels alone decide the number\. Got 2\. Leave it"
    for call in (
        lambda: make_consensus("first", 2),
        lambda: FirstPartition(2).fit(LABELS),
        lambda: make_consensus("first").set_params(n_clusters=2).fit(LABELS),
        lambda: ConsensusClustering(2, consensus="first").fit(np.arange(60.0).reshape(30, 2)),
        lambda: default_plan(np.arange(60.0).reshape(30, 2), k_range=[2, 3], consensus="first"),
    ):
        with pytest.raises(ValueError, match=rule):
            call()
    np.savetxt(tmp_path / "labels.csv", LABELS, "%d", ",", header="a,b", comments="")
    arguments = "combine", tmp_path / "labels.csv", "--method", "first", "-o", tmp_path / "out"
    assert "-k must be left out for the method first: the labels alone" in fail(*arguments, "-k", 2)
    assert "consensus   2 clusters" in succeed(*arguments).stdout


def test_its_record_is_true(tmp_path):
    CHECKS["capabilities"]("first", Setting(tmp_path))
