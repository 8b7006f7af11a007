"""Alerts: what of a table probably makes a wrong answer is told before anything is clustered, everywhere alike."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from test_cli import fail, succeed

from ensemblage import ConsensusClustering, Preprocessor
from ensemblage.io import read_table
from ensemblage.io._features import features_of


def groups(n=60, k=3, columns=2, seed=0):
    """(n, columns) numbers in k groups, and the groups."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % k
    return (6 * labels[:, None] + rng.normal(size=(n, columns))).round(2), labels


def frame_of(n=60, **more):
    """A table of three groups with ids."""
    X, _ = groups(n)
    return pd.DataFrame({"shop": [f"s{i}" for i in range(n)], "sales": X[:, 0], "cost": X[:, 1], **more})


def with_sums(frame):
    return pd.concat([frame, frame.sum(numeric_only=True).round(2).to_frame().T.assign(shop="Total")])


@pytest.fixture
def sums(tmp_path):
    path = tmp_path / "sums.csv"
    with_sums(frame_of()).to_csv(path, index=False)
    return path


ROW_OF_SUMS = "a row of sums: line 62, its 2 numbers are the sums of those above. Delete that row."


def test_an_alert_is_told_by_every_command_before_anything_is_clustered(sums, tmp_path):
    out = tmp_path / "out"
    quick = ("-k", 3, "--quality", "fast", "--stability", 0, "-o", out)
    refused = fail("run", sums, *quick, "--strict")
    assert refused == f"error: sums.csv must have no alerts with --strict. Got 1, the first: {ROW_OF_SUMS}"
    assert not out.exists()
    done = succeed("run", sums, *quick)
    assert done.stdout.splitlines()[0] == f"alert       {ROW_OF_SUMS}"
    assert f"sums.csv: alert: {ROW_OF_SUMS}" in done.stderr
    (alert,) = json.loads((out / "summary.json").read_text())["alerts"]
    parts = {"what": "a row of sums", "where": "line 62", "cure": "Delete that row.", "text": ROW_OF_SUMS}
    assert parts.items() <= alert.items()
    page = (out / "report.html").read_text()
    assert page.index(ROW_OF_SUMS) < page.index('id="answer"')
    again = fail("run", sums, *quick, "--strict")  # what was finished before has the alert, too
    assert again.endswith(ROW_OF_SUMS)
    assert f"alert       {ROW_OF_SUMS}" in succeed("look", sums).stdout
    assert f"alert: {ROW_OF_SUMS}" in succeed("generate", sums, "-o", tmp_path / "e.npz", "--partitions", 2).stderr


def test_a_table_without_alerts_may_be_strict(tmp_path):
    frame_of().to_csv(tmp_path / "t.csv", index=False)
    done = succeed(
        "run", tmp_path / "t.csv", "-k", 3, "--quality", "fast", "--stability", 0, "-o", tmp_path / "out", "--strict"
    )
    assert "alert:" not in done.stderr
    assert not done.stdout.startswith("alert")
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["alerts"] == []
    assert "Alerts" not in (tmp_path / "out" / "report.html").read_text()


def test_at_most_five_are_shown_then_their_number(monkeypatch, sums):
    from ensemblage.io import _alerts

    monkeypatch.setattr(_alerts, "CHECKS", _alerts.CHECKS[:1] * 7)
    shown = succeed("look", sums).stdout.splitlines()
    assert sum(line.startswith("alert ") for line in shown) == 6
    assert "alert       ... and 2 more" in shown


def test_python_is_told_the_same(sums):
    frame = with_sums(frame_of())
    told = ROW_OF_SUMS.replace("line 62", "row 61")
    for X, text in ((read_table(sums), ROW_OF_SUMS), (frame, told)):
        with pytest.warns(UserWarning, match="a row of sums") as caught:
            preprocessor = Preprocessor().fit(X)
        assert [str(warning.message) for warning in caught] == [text]
        assert preprocessor.notes_[0] == text
    with pytest.warns(UserWarning, match="a row of sums"):
        model = ConsensusClustering(3, quality="fast", random_state=0).fit(frame)
    assert model.preprocessor_.notes_[0] == told
    assert features_of(read_table(sums)).alerts[0].text == ROW_OF_SUMS
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Preprocessor().fit(frame_of())
