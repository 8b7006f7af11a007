"""Python and the shell make the same analysis of the same table: labels bitwise, and the numbers of the page."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from limits import limit
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_digits,
    load_iris,
    load_wine,
    make_blobs,
    make_circles,
    make_moons,
)

from ensemblage import ConsensusClustering, load, read_table
from ensemblage.cli import main

OF_A_FRONT_END = ("title", "command", "settings", "seconds", "run", "references")
"""What the page says of a command or of a call, and whom it cites for it: Python shows the estimator on features."""


def frame(X):
    return pd.DataFrame(np.round(X, 4), columns=[f"x{j}" for j in range(X.shape[1])])


def messy():
    """Ids, a date, categories, an ordered one, gaps, a constant, and a column of almost nothing but numbers."""
    rng = np.random.default_rng(0)
    z = np.arange(90) % 3
    table = pd.DataFrame(
        {
            "id": [f"object {i}" for i in range(90)],
            "weight": np.round(z * 4 + rng.normal(size=90), 2),
            "height": np.round(rng.normal(size=90) - 3 * z, 3),
            "colour": np.array(["red", "green", "blue"])[(z + (rng.random(90) < 0.1)) % 3],
            "same": 7,
            "seen": pd.date_range("2020-01-01", periods=90).astype(str),
        }
    )
    table.loc[[4, 50], "height"] = np.nan
    return table


TABLES = {
    "iris": lambda: load_iris(as_frame=True).data,
    "wine": lambda: load_wine(as_frame=True).data,
    "breast cancer": lambda: load_breast_cancer(as_frame=True).data.iloc[::3],
    "digits": lambda: load_digits(as_frame=True).data.iloc[:200],
    "diabetes": lambda: load_diabetes(as_frame=True).data.iloc[:150],
    "blobs": lambda: frame(make_blobs(120, 3, centers=4, random_state=0)[0]),
    "moons": lambda: frame(make_moons(150, noise=0.05, random_state=0)[0]),
    "circles": lambda: frame(make_circles(150, noise=0.04, factor=0.4, random_state=0)[0]),
    "many objects": lambda: frame(make_blobs(1_200, 2, centers=[(0, 0), (0, 3), (3, 0)], random_state=0)[0]),
    "messy": messy,
}


def analyses(folder, *options, **parameters):
    """The model and the summary of a call in Python, and what the shell wrote of the same table."""
    done = CliRunner().invoke(main, ["run", str(folder / "table.csv"), "-o", str(folder / "out"), *options])
    assert done.exit_code == 0, done.stderr
    table = read_table(folder / "table.csv")
    model = ConsensusClustering(random_state=0, **parameters).fit(table)
    ids = pd.read_csv(folder / "out" / "labels.csv")["id"].astype(str).tolist()
    return model, json.loads(json.dumps(model.report(table, ids=ids).summary))


def written(folder):
    return json.loads((folder / "out" / "summary.json").read_text(encoding="utf-8"))


def check_same(folder, model, summary):
    found, shell = pd.read_csv(folder / "out" / "labels.csv"), written(folder)
    ours = model.to_frame(ids=found["id"].astype(str).tolist())
    np.testing.assert_array_equal(found["cluster"], ours["cluster"])
    assert found["verdict"].tolist() == ours["verdict"].tolist()
    kept = load(folder / "out" / "model.npz")
    for name in ("labels_", "confidence_", "runner_up_", "cohesion_"):
        np.testing.assert_array_equal(getattr(kept, name), getattr(model, name))
    assert (kept.chosen_, kept.plan_) == (model.chosen_, model.plan_)
    # Of an id the shell alone lists what was done with the column, and Python says that it describes no cluster.
    shell["columns"] = [use for use in shell["columns"] if use["role"] != "id"]
    summary["profile"]["left_out"].pop("id", None)
    for of in (shell, summary):
        for name in ("method", "parameters"):  # of the estimator that was called
            del of["consensus"][name]
    assert {name: shell[name] for name in shell if name not in OF_A_FRONT_END} == {
        name: summary[name] for name in summary if name not in OF_A_FRONT_END
    }


QUICK = ("iris", "many objects", "messy")


@pytest.mark.parametrize("name", [pytest.param(n, marks=[] if n in QUICK else pytest.mark.slow) for n in TABLES])
def test_python_and_the_shell_make_the_same(name, tmp_path, monkeypatch, no_figures):
    if name == "many objects":
        limit(monkeypatch, "objects all of which are clustered", 1_000)
        limit(monkeypatch, "objects clustered by different algorithms", 1_000)
        limit(monkeypatch, "objects drawn of more", 400)
    TABLES[name]().to_csv(tmp_path / "table.csv", index=False)
    check_same(tmp_path, *analyses(tmp_path, "--stability", "0"))


def test_the_shell_tells_how_many_base_clusterings_are_made(tmp_path, no_figures):
    """Those of the number of clusters that was given, not those of any number."""
    TABLES["iris"]().to_csv(tmp_path / "table.csv", index=False)
    asked = ["-k", "3", "--selection", "consensus", "--stability", "0"]
    done = CliRunner().invoke(main, ["run", str(tmp_path / "table.csv"), "-o", str(tmp_path / "out"), *asked])
    n_partitions = load(tmp_path / "out" / "model.npz").ensemble_.shape[1]
    assert f"base partitions: {n_partitions} ..." in done.stderr.splitlines()


def test_the_same_with_other_parameters(tmp_path, no_figures):
    TABLES["iris"]().to_csv(tmp_path / "table.csv", index=False)
    asked = {"n_clusters": 4, "selection": "consensus", "quality": "fast", "standardize": True}
    options = ["-k", "4", "--quality", "fast", "--standardize", "--stability", "0"]
    check_same(tmp_path, *analyses(tmp_path, *options, **asked))
