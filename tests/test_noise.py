"""``noise="vote"``: an object that most partitions call noise is in no cluster."""

import csv

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from ensemblage import METHODS, Ensemble, make_consensus
from ensemblage.cli import main

LABELS = np.array(
    [
        [0, 0, 0, 0],
        [0, 0, 0, -1],
        [0, 0, -1, -1],  # half of them is not most
        [1, -1, -1, -1],
        [-1, -1, -1, -1],
        [1, 1, 1, 1],
        [1, 1, 1, 1],
    ]
)


def test_what_most_call_noise_loses_all_labels():
    voted = np.asarray(Ensemble(LABELS, noise="vote"))
    assert (voted[3:5] == -1).all()
    kept = [0, 1, 2, 5, 6]
    assert (voted[kept] == LABELS[kept]).all()


def test_missing_is_the_default_and_as_before():
    for given in (Ensemble(LABELS), Ensemble(LABELS, noise="missing")):
        assert (np.asarray(given) == LABELS).all()


def naive(labels):
    """Row by row; None is no vote."""
    found = []
    for row in labels.tolist():
        said = [label for label in row if label is not None]
        lost = 2 * said.count(-1) > len(said)
        found.append([None if lost or label in (-1, None) else label for label in row])
    return found


@pytest.mark.parametrize("seed", range(5))
def test_votes_are_counted_as_row_by_row(seed):
    random = np.random.default_rng(seed)
    labels = random.integers(-1, 4, size=(60, 5)).astype(object)
    labels[random.random(size=labels.shape) < 0.2] = None
    voted = np.asarray(Ensemble(labels, noise="vote"), dtype=float)
    expected = np.array([[np.nan if label is None else label for label in row] for row in naive(labels)])
    np.testing.assert_array_equal(np.where(voted == -1, np.nan, voted), expected)


def test_what_is_missing_is_no_vote():
    labels = [[0, 0, None], [-1, None, None], [0, 1, 1], [1, 1, 1]]
    voted = Ensemble(labels, noise="vote")
    assert voted.n_missing == 1 + 3
    assert Ensemble(labels).n_missing == 1 + 3
    labels[1] = [-1, 0, None]
    assert Ensemble(labels, noise="vote").n_missing == 1 + 2


def test_any_number_is_noise_that_missing_names():
    labels = np.where(LABELS == -1, 99, LABELS)
    voted = Ensemble(labels, missing=99, noise="vote")
    np.testing.assert_array_equal(voted.codes, Ensemble(LABELS, noise="vote").codes)


@pytest.mark.parametrize("method", ["km", "acv", "bv", "eac-average", "hbgf", "negmm-wat-kmeans", "majority"])
def test_noise_stays_noise_in_a_consensus(method):
    assert method in METHODS
    random = np.random.default_rng(0)
    labels = np.repeat([0, 1], 30)[:, None] * np.ones(6, dtype=int)
    labels[random.random(labels.shape) < 0.1] = -1
    labels[:5] = -1
    labels[:5, 0] = 0  # one of six thinks otherwise
    model = make_consensus(method, 2).fit(Ensemble(labels, noise="vote"))
    assert (model.labels_[:5] == -1).all()
    assert (model.labels_[5:] >= 0).all()
    assert np.isnan(model.confidence_[:5]).all()
    assert (make_consensus(method, 2).fit(Ensemble(labels)).labels_[:5] >= 0).all()


def test_frames_and_text_columns():
    frame = pd.DataFrame({"hdbscan": [0, 0, -1, -1, 1], "topic": [5, 5, -1, 7, 7], "group": ["a", "a", "a", "b", "b"]})
    voted = np.asarray(Ensemble(frame, noise="vote"))
    assert voted[2].tolist() == [None] * 3
    assert voted[3].tolist() == [None, 7, "b"]


def test_bad_input():
    with pytest.raises(ValueError, match="noise must be"):
        Ensemble(LABELS, noise="cluster")
    with pytest.raises(ValueError, match="missing must be a whole number, the label of noise"):
        Ensemble(LABELS, missing=None, noise="vote")
    with pytest.raises(ValueError, match="noise of an Ensemble must be 'missing' if it is made from another Ensemble"):
        Ensemble(Ensemble(LABELS), noise="vote")


# ---- shell -----------------------------------------------------------------------------------------------------------


def combined(path, *args):
    command = ["combine", str(path), "--method", "km", "-k", "2", "-o", str(path.parent / "out"), "--overwrite", *args]
    return CliRunner().invoke(main, command)


def test_combine(tmp_path):
    pd.DataFrame(LABELS, columns=["a", "b", "c", "d"]).to_csv(tmp_path / "t.csv", index=False)
    for args, n_noise in ((("--noise", "vote"), 2), ((), 1)):
        result = combined(tmp_path / "t.csv", *args)
        assert result.exit_code == 0, result.stderr
        with open(tmp_path / "out" / "labels.csv", newline="", encoding="utf-8") as file:
            clusters = [row["cluster"] for row in csv.DictReader(file)]
        assert clusters.count("-1") == n_noise


def test_what_has_no_labels_is_refused(tmp_path):
    Ensemble(LABELS).save(tmp_path / "t.npz")
    result = combined(tmp_path / "t.npz", "--noise", "vote")
    assert result.exit_code == 2
    assert "--noise vote is for labels. Got a .npz file" in result.stderr
    pd.DataFrame(LABELS, columns=["a", "b", "c", "d"]).to_csv(tmp_path / "t.csv", index=False)
    result = combined(tmp_path / "t.csv", "--noise", "vote", "--missing", "none")
    assert result.exit_code == 2
    assert "Got None" in result.stderr


def test_cells(tmp_path):
    anndata = pytest.importorskip("anndata")
    obs = pd.DataFrame(LABELS, columns=[f"leiden_{j}" for j in range(4)], index=[f"c{i}" for i in range(7)]).astype(str)
    anndata.AnnData(np.zeros((7, 1)), obs=obs.astype("category")).write_h5ad(tmp_path / "t.h5ad")
    result = combined(tmp_path / "t.h5ad", "--noise", "vote")
    assert result.exit_code == 0, result.stderr
    with open(tmp_path / "out" / "labels.csv", newline="", encoding="utf-8") as file:
        assert [row["cluster"] for row in csv.DictReader(file)].count("-1") == 2
