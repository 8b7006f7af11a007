"""What decided, and what comes next: columns that separate the clusters, doubts, commands to copy."""

import copy
import json
import re

import numpy as np
import pandas as pd
import pytest
from shell import fail, succeed
from sklearn.metrics import adjusted_rand_score

import ensemblage
from ensemblage import report
from ensemblage.consensus import KMeansConsensus

N = 90
CLASSES = np.repeat([0, 1, 2], 30)
RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {
        "mass": 10.0 * CLASSES + RNG.normal(size=N),
        "noise": RNG.normal(size=N),
        "kind": np.where(np.arange(N) == 0, "b", np.array(["a", "b", "c"])[CLASSES]),
        "coin": np.array(["heads", "tails"])[RNG.integers(0, 2, N)],
    }
)


def summary_of(frame=FRAME, **details):
    labels = np.column_stack([CLASSES] * 3)
    model = KMeansConsensus(3, random_state=0).fit(labels)
    profile = ensemblage.profile(model, frame)
    return report.summarize(labels, model, profile=profile, **details)


@pytest.fixture(scope="module")
def made():
    return summary_of()


@pytest.fixture
def summary(made):
    return copy.deepcopy(made)


def text_of(summary):
    page = report.render(summary)
    return re.sub(r"\s+", " ", re.sub(r"<(svg|style|script).*?</\1>|<[^>]*>", " ", page, flags=re.DOTALL))


def test_separations_by_hand(summary):
    shares = {column["variable"]: column["share"] for column in summary["profile"]["separation"]["columns"]}
    for name in ("mass", "noise"):
        x = FRAME[name].to_numpy()
        means = np.array([x[c == CLASSES].mean() for c in range(3)])
        assert shares[name] == pytest.approx(((means - x.mean()) ** 2).mean() / x.var(), rel=1e-5)
    table = pd.crosstab(CLASSES, FRAME["coin"]).to_numpy()
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / N
    assert shares["coin"] == pytest.approx(((table - expected) ** 2 / expected).sum() / N, rel=1e-5)
    assert shares["mass"] > shares["kind"] > 0.9 > 0.1 > shares["noise"]


def test_clusters_that_nearly_repeat_a_column_are_said(summary):
    index = adjusted_rand_score(CLASSES, pd.factorize(FRAME["kind"])[0])
    found = ensemblage.profile(CLASSES, FRAME)
    assert found.same_as == []
    assert found.nearly_same_as == {"kind": pytest.approx(index)}
    said = f"The clusters nearly repeat the values of “kind” (adjusted Rand index {index:.2f})."
    assert summary["profile"]["same_as"] == said
    assert said in text_of(summary)
    moved = FRAME.assign(kind=np.where(np.arange(N) % 10 < 2, "b", FRAME["kind"]))
    assert ensemblage.profile(CLASSES, moved).nearly_same_as == {}
    assert ensemblage.profile(np.zeros(N, dtype=int), FRAME).nearly_same_as == {}


def test_one_column_that_decides_alone_is_a_warning(summary):
    assert summary["profile"]["separation"]["alone"] is None  # there is kind beside it
    alone = summary_of(FRAME[["mass", "noise", "coin"]])
    assert alone["profile"]["separation"]["alone"] == "mass"
    text = text_of(alone)
    said = "One column decides alone: “mass” separates the clusters"
    assert text.index(said) < text.index("More on this")
    assert "decides alone" not in text_of(summary)
    assert summary_of(FRAME[["mass"]])["profile"]["separation"]["alone"] is None


def test_columns_without_which_the_answer_changes(summary):
    text = text_of(summary)
    assert "What decided" in text
    assert "ARI without it" not in text
    summary["without_columns"] = {"mass": 0.25, "noise": 1.0, "kind": None}
    text = text_of(summary)
    assert "The answer changes without “mass” (adjusted Rand index below .8)." in text
    assert "ARI without it" in text
    summary["without_columns"] = {"mass": 0.95}
    assert "None of the 1 columns that were left out in turn changes the answer much." in text_of(summary)
    assert summary_of(without_columns={"mass": float("nan")})["without_columns"] == {"mass": None}
    with pytest.raises(TypeError, match="without_columns of report must be a dict"):
        summary_of(without_columns=["mass"])


def test_what_next_closes_the_page(summary):
    summary["clusters"][0]["verdicts"] = {"core": 28, "border": 0, "undecided": 2}
    summary["least_certain"][0] |= {"id": "object 7", "verdict": "undecided"}
    summary["chosen"] = {
        "sentence": "Chosen.",
        "n_clusters": 3,
        "is_clear": True,
        "rating": 0.9,
        "predicted": {"2": 0.5, "3": 0.9, "4": 0.8},
        "weights": [{"view": "own", "family": "kmeans", "k": 3, "weight": 1.0}],
        "version": "1",
    }
    summary["command"] = "ensemblage run t.csv --without-columns -o out"
    text = text_of(summary)
    closing = text[text.rindex("What next") :]
    assert text.index("What of the data is in this page", text.index("How it was made")) < text.rindex("What next")
    assert "Look at 4 clusters, too: rated 0.80, the best number 0.90." in closing
    assert "Check the 2 undecided objects (object 7 first): they lie between clusters." in closing
    assert "Check the columns that separate the clusters most: “mass”, “kind” and “coin”" in closing
    assert "ensemblage run t.csv -k 4 -o out-4 ensemblage compare out/labels.csv out-4/labels.csv" in closing
    assert "ensemblage run t.csv --drop-column mass -o out-without" in closing
    assert "ensemblage assign out NEW.csv -o new.csv" in closing
    summary["command"] = "ensemblage run t.csv -k 3 -o out"
    assert "-k 4" not in text_of(summary)
    summary["objects_shown"] = False  # a page without objects names none
    assert "object 7" not in text_of(summary)


def test_without_columns_in_the_shell(tmp_path):
    X = np.column_stack([9.0 * CLASSES + RNG.normal(size=N), RNG.normal(size=(N, 2))])
    pd.DataFrame(X, columns=["a", "b", "c"]).to_csv(tmp_path / "t.csv", index=False)
    options = ("-k", 3, "--stability", 0, "--quality", "fast", "--selection", "consensus", "--partitions", 10)
    succeed("run", tmp_path / "t.csv", *options, "--without-columns", "-o", tmp_path / "out")
    summary = json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))
    found = summary["without_columns"]
    assert next(iter(found)) == "a"
    assert found["a"] < 0.3 < 0.9 < found["b"]
    assert summary["run"]["without-columns"] is True
    assert "--without-columns needs at least two columns" in fail(
        "run",
        tmp_path / "t.csv",
        *options,
        "--without-columns",
        "--drop-column",
        "b",
        "--drop-column",
        "c",
        "-o",
        tmp_path / "one",
    )
    refused = fail(
        "run", tmp_path / "t.csv", "-k", 3, "--generator", "gower", "--without-columns", "-o", tmp_path / "gower"
    )
    assert "--without-columns must go with features" in refused
