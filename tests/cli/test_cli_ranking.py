"""The command that ranks members: criteria, features, constraints."""

import numpy as np
import pandas as pd
import pytest
from shell import fail, rows_of, succeed
from sklearn.datasets import load_iris

from ensemblage import Ensemble
from ensemblage.generation import make_pool
from ensemblage.ranking import DISCOTEC, InternalIndex

IDS = [f"plant {i}" for i in range(150)]


@pytest.fixture
def files(tmp_path, monkeypatch):
    """An ensemble with ids and classes, the features in another order of the rows, constraints by id."""
    monkeypatch.chdir(tmp_path)
    X, y = load_iris(return_X_y=True)
    ensemble = make_pool(X, "agglomerative", n_clusters=3).ensemble
    table = pd.DataFrame(np.asarray(ensemble), columns=ensemble.names)
    table.insert(0, "plant", IDS)
    table.assign(species=y).to_csv("ensemble.csv", index=False)
    features = pd.DataFrame(X, columns=list("abcd"))
    features.insert(0, "plant", IDS)
    features.sample(frac=1, random_state=0).to_csv("X.csv", index=False)
    (tmp_path / "must.csv").write_text("one,other\nplant 0,plant 149\nplant 3,plant 4\n", encoding="utf-8")
    (tmp_path / "cannot.csv").write_text("plant 0,plant 1\n", encoding="utf-8")
    return ensemble, X


def ranks(*options):
    succeed("rank", "ensemble.csv", "--id-column", "plant", *options, "-o", "ranks.csv", "--overwrite")
    return pd.DataFrame(rows_of("ranks.csv")[1:], columns=rows_of("ranks.csv")[0])


def test_default_is_discotec(files):
    table = ranks("--drop-column", "species")
    ranker = DISCOTEC().fit(files[0])
    assert list(table) == ["rank", "member", "clusters", "discotec", "aari", "anmi"]
    assert table.member.tolist() == [files[0].names[j] for j in ranker.order_]
    assert table.discotec.tolist() == [f"{s:.4f}" for s in np.sort(ranker.scores_)]


def test_truth_and_features(files):
    options = ("--truth-column", "species", "--features", "X.csv", "--by", "silhouette,discotec-tv")
    table = ranks(*options, "--no-standardize")
    ranker = InternalIndex().fit(files[0], features=files[1])
    assert list(table)[3:] == ["silhouette", "discotec-tv", "with truth"]
    assert table.silhouette.tolist() == [f"{s:.4f}" for s in -np.sort(-ranker.scores_)]
    assert ranks(*options).silhouette.tolist() != table.silhouette.tolist()


def test_constraints(files):
    table = ranks("--drop-column", "species", "--must-link", "must.csv", "--cannot-link", "cannot.csv")
    ranker = DISCOTEC().fit(files[0], must_link=[[0, 149], [3, 4]], cannot_link=[[0, 1]])
    assert table.discotec.tolist() == [f"{s:.4f}" for s in np.sort(ranker.scores_)]


def test_rows_are_numbered_from_one_without_ids(files, tmp_path):
    files[0].save("ensemble.npz")
    (tmp_path / "pairs.csv").write_text("1,150\n", encoding="utf-8")
    succeed("rank", "ensemble.npz", "--must-link", "pairs.csv", "-o", "ranks.csv")
    ranker = DISCOTEC().fit(files[0], must_link=[[0, 149]])
    assert [row[3] for row in rows_of("ranks.csv")[1:]] == [f"{s:.4f}" for s in np.sort(ranker.scores_)]


@pytest.mark.filterwarnings("default:InternalIndex cannot score")
def test_members_without_a_score_have_a_dash(files):
    Ensemble(np.column_stack([np.zeros(150, dtype=int), np.asarray(files[0])])).save("more.npz")
    pd.DataFrame(files[1]).to_csv("features.csv", index=False)
    result = succeed("rank", "more.npz", "--features", "features.csv", "--by", "wgss")
    assert result.stdout.splitlines()[-1].split()[1:] == ["partition_0", "1", "–"]
    assert "cannot score 1 partition" in result.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--by", "silhouette"], "--by silhouette must have the features of the objects. Got none. Add --features"),
        (["--by", "aari,aari"], "--by must name each criterion once"),
        (["--must-link", "X.csv"], "X.csv must name two objects of ensemble.csv in every line"),
        (["--must-link", "wrong.csv"], "Got 'plant 150' in pair 1"),
        (
            ["--features", "few.csv", "--by", "dunn"],
            "must have a row for every object of ensemble.csv. It has none for",
        ),
        (["--features", "short.csv", "--by", "dunn"], "one row for each of the 150 objects of ensemble.csv"),
    ],
)
def test_errors(files, tmp_path, options, message):
    (tmp_path / "wrong.csv").write_text("plant 0,plant 150\n", encoding="utf-8")
    table = pd.read_csv("X.csv")
    table.head(100).to_csv("few.csv", index=False)
    table.drop(columns="plant").head(100).to_csv("short.csv", index=False)
    assert message in fail("rank", "ensemble.csv", "--id-column", "plant", "--drop-column", "species", *options)
