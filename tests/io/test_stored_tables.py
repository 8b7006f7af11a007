"""Tables in Parquet parts: what is found is what is found of the same table in memory, bit by bit."""

import errno
import json
import re
import shutil
from itertools import pairwise

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from limits import limit
from numpy.testing import assert_array_equal
from sklearn.preprocessing import StandardScaler

from ensemblage import ConsensusClustering, load, profile
from ensemblage.cli import main
from ensemblage.labels.disk import Scratch, StoredRows
from ensemblage.preprocessing import FeatureBlocks, Preprocessor

N, PARTS = 18_000, 4
COLUMNS = ["cluster", "confidence", "verdict", "runner_up", "runner_up_share"]


def mixed(n=N, seed=0):
    """Numbers with gaps, text with units, truth values, categories, ordered ones, dates, ids; three groups of rows."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 3, n)
    frame = pd.DataFrame(
        {
            "person": [f"p{i:06}" for i in range(n)],
            "size": rng.normal(4.0 * group, 1),
            "weight": rng.normal(60 + 90 * (group == 1), 5),
            "height": [f"{h:.0f} cm" for h in rng.normal(170, 9, n)],
            "children": rng.integers(0, 4, n),
            "smoker": rng.random(n) < 0.2 + 0.3 * (group == 2),
            "city": np.array(["Bern", "Rom", "Paris"])[rng.integers(0, 3, n)],
            "colour": pd.Categorical.from_codes(rng.integers(0, 2, n), ["red", "green"]),
            "grade": pd.Categorical.from_codes(rng.integers(0, 3, n), ["bad", "fair", "fine"], ordered=True),
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, n), "D"),
            "same": 1.5,
            "species": group.astype(str),
            "nothing": np.full(n, np.nan),
        }
    )
    frame.loc[rng.choice(n, n // 50, replace=False), "weight"] = np.nan
    frame.loc[rng.choice(n, n // 80, replace=False), "city"] = None
    return frame


def write_parts(folder, frame, n_parts=PARTS):
    """Parts of different lengths."""
    folder.mkdir()
    table, edges = (
        pa.Table.from_pandas(frame, preserve_index=False),
        np.linspace(0, len(frame), n_parts + 1).astype(int),
    )
    edges[1:-1] += 17
    for i, (a, b) in enumerate(pairwise(edges)):
        pq.write_table(table.slice(a, b - a), folder / f"part-{i}.parquet")
    return folder


@pytest.fixture(scope="module")
def frame():
    return mixed()


@pytest.fixture(scope="module")
def folder(frame, tmp_path_factory):
    return write_parts(tmp_path_factory.mktemp("parts") / "people", frame)


@pytest.fixture(scope="module", autouse=True)
def small_samples():
    """300 objects are drawn, and as many for the trees, and blocks cut the parts."""
    with pytest.MonkeyPatch.context() as patch:
        limit(patch, "objects drawn of more", 300)
        limit(patch, "objects compared by the trees", 300)
        limit(patch, "rows of a block of features", 16_384)
        yield


def fitted_both(folder, **options):
    """The features on disk, the model of them, and that of the table in memory."""
    features = FeatureBlocks.open(folder)
    model = ConsensusClustering(3, random_state=1, **options).fit(features)
    return features, model, ConsensusClustering(3, random_state=1, **options).fit(pq.read_table(folder))


@pytest.fixture(scope="module")
def both(folder, small_samples):
    """Of the default, for tests that change nothing of it."""
    return fitted_both(folder)


def told(model):
    """Notes, without the advice to impute="knn", which needs all objects in memory."""
    return [note.partition(" of their own.")[0] for note in model.preprocessor_.notes_]


def assert_same(features, model, expected):
    """Roles, features, clusters and confidence are those of the table."""
    assert model.preprocessor_.columns_ == expected.preprocessor_.columns_
    assert told(model) == told(expected)
    assert_array_equal(model.preprocessor_.get_feature_names_out(), expected.preprocessor_.get_feature_names_out())
    assert_array_equal(model.generator_._fit_X, expected.generator_._fit_X)
    assert_array_equal(features.clusters(model), expected.labels_)
    assert (model.plan_, model.chosen_) == (expected.plan_, expected.chosen_)


TOGETHER = {
    "filled and scaled": {
        "preprocessor": Preprocessor(impute="most-frequent", standardize=True, category_scale="famd", dates="days")
    },
    "roles and codes": {
        "preprocessor": Preprocessor(
            roles={"children": "category", "city": "drop", "species": "feature"}, missing=[3, "Rom"], impute="median",
            dates="parts",
        )
    },
    "numbers as they are": {"preprocessor": Preprocessor(categories="drop", standardize=False)},
}  # fmt: skip
"""Every option of `OPTIONS` with others, for the core of the tests."""
OPTIONS = {
    "filled by the median": {"impute": "median"},
    "filled by the most frequent": {"impute": "most-frequent"},
    "standardised": {"standardize": True},
    "as they are": {"standardize": False},
    "numbers alone": {"preprocessor": Preprocessor(categories="drop")},
    "weights of famd": {"preprocessor": Preprocessor(category_scale="famd")},
    "days": {"preprocessor": Preprocessor(dates="days")},
    "parts of dates": {"preprocessor": Preprocessor(dates="parts")},
    "other roles": {"preprocessor": Preprocessor(roles={"children": "category", "city": "drop", "species": "feature"})},
    "codes": {"preprocessor": Preprocessor(missing=[3, "Rom"], impute="median")},
}


def test_a_table_of_all_kinds(both):
    assert_same(*both)


@pytest.mark.core(1)
@pytest.mark.parametrize("case", TOGETHER)
def test_options_together(case, folder):
    assert_same(*fitted_both(folder, **TOGETHER[case]))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:gaps filled with constants")  # a quarter of the children
@pytest.mark.parametrize("case", OPTIONS)
def test_every_option(case, folder):
    assert_same(*fitted_both(folder, **OPTIONS[case]))


def test_confidence_and_ids_are_written(both, frame, tmp_path):
    features, model, expected = both
    features.write_clusters(model, tmp_path / "out")
    found = pq.read_table(tmp_path / "out" / "clusters")
    assert found.column_names == ["id", *COLUMNS]
    assert found["id"].to_pylist() == frame["person"].tolist()
    for name, values in {"cluster": "labels_", "confidence": "confidence_", "runner_up": "runner_up_"}.items():
        assert_array_equal(found[name], getattr(expected, values))
    assert_array_equal(found["runner_up_share"], 1 - expected.confidence_)
    written = pq.read_table(tmp_path / "out" / "profile.parquet").to_pandas()
    pd.testing.assert_frame_equal(written, features.profile(model).to_pandas())


def test_the_profile_is_that_of_the_table(both, folder, frame):
    features, model, expected = both
    found, in_memory = (
        features.profile(model).to_pandas(),
        profile(expected, pq.read_table(folder)).to_frame().to_pandas(),
    )
    pd.testing.assert_frame_equal(found[in_memory.columns], in_memory, check_dtype=False, check_exact=True)
    by_name = found.set_index(["cluster", "variable"])
    for cluster in range(3):
        own = frame[expected.labels_ == cluster]
        for name in ("size", "weight", "children"):
            row, values = by_name.loc[cluster, name], own[name].dropna()
            assert (row.n_objects, row.n, row.least, row.largest) == (len(own), len(values), values.min(), values.max())
            np.testing.assert_allclose([row["mean"], row.deviation], [values.mean(), values.std(ddof=0)], rtol=1e-9)
            of_all = (values.mean() - frame[name].mean()) / frame[name].std(ddof=0)
            np.testing.assert_allclose(row.difference, of_all, rtol=1e-9)
    assert np.isnan(by_name.loc[0, "smoker"]["mean"])


def test_of_many_objects_some_are_compared(both, monkeypatch):
    features, model, _ = both
    of_all = features.profile(model).to_pandas()
    limit(monkeypatch, "rows that are compared of features elsewhere", 17_000)
    of_some = features.profile(model).to_pandas()
    counts = of_some[of_some.variable == "size"]
    assert counts.n.sum() == 17_000
    assert counts.n_objects.sum() == N
    for name in ("mean", "deviation", "least", "largest", "difference", "n_objects"):
        both = (data[data.variable == "size"].sort_values("cluster")[name] for data in (of_all, of_some))
        assert_array_equal(*both)


@pytest.mark.slow
def test_the_number_of_clusters_is_found(folder):
    features = FeatureBlocks.open(folder)
    model = ConsensusClustering(random_state=2).fit(features)
    assert_same(features, model, ConsensusClustering(random_state=2).fit(pq.read_table(folder)))


def test_a_saved_model_knows_the_parts(both, folder, tmp_path):
    _, model, expected = both
    model.save(tmp_path / "model.npz")
    again = load(tmp_path / "model.npz")
    assert_array_equal(FeatureBlocks.open(folder).clusters(again), expected.labels_)
    new = mixed(200, seed=5)
    assert_array_equal(again.predict(new), expected.predict(new))


@pytest.mark.parametrize("options", [{}, {"impute": "median", "standardize": False}, {"dates": "parts"}])
def test_the_transformer_of_parts_is_that_of_the_table(options, folder, frame):
    """It is fitted by blocks, and its steps are frozen."""
    features, stored, expected = FeatureBlocks.open(folder), Preprocessor(**options), Preprocessor(**options)
    made = stored._fit_blocks(features)
    assert_array_equal(made[np.arange(N)], expected.fit_transform(frame))
    cells = stored._cells_of(features).rows[np.arange(N)]
    assert_array_equal(stored.transformer_.transform(cells), expected.transformer_.transform(cells))
    names = stored.transformer_.get_feature_names_out()
    assert_array_equal(names, expected.transformer_.get_feature_names_out())
    assert len(names) == made.shape[1]
    found = [(name, repr(step.estimator), places) for name, step, places in stored.transformer_.transformers_]
    assert found == [(name, repr(step), places) for name, step, places in expected.transformer_.transformers_]
    assert_array_equal(stored.transformer_.fit(cells[:5]).transform(cells), expected.transformer_.transform(cells))


def test_few_objects_are_all_clustered(frame, tmp_path):
    features, model, expected = fitted_both(write_parts(tmp_path / "few", frame[:900]))
    assert_array_equal(features.clusters(model), expected.labels_)
    assert told(model) == told(expected)
    assert features.profile(model).num_rows == 3 * 10


@pytest.mark.slow
def test_a_single_file(both, folder, tmp_path):
    other, of_parts, _ = both
    pq.write_table(pq.read_table(folder), tmp_path / "all.parquet")
    features = FeatureBlocks.open(tmp_path / "all.parquet")
    model = ConsensusClustering(3, random_state=1).fit(features)
    assert_array_equal(features.clusters(model), other.clusters(of_parts))


@pytest.mark.slow
def test_categories_that_are_not_in_every_part(frame, tmp_path):
    parts = write_parts(tmp_path / "parts", frame)
    last = pq.read_table(parts / "part-3.parquet")
    new = pa.array(["blue"] * last.num_rows).dictionary_encode()
    colour = last.schema.get_field_index("colour")
    pq.write_table(
        last.set_column(colour, "colour", new.cast(last.schema.field("colour").type)), parts / "part-3.parquet"
    )
    assert_same(*fitted_both(parts))


def test_one_column_at_a_time_is_in_memory(both):
    features, *_ = both
    held = [column.name for column in features._table.columns if "_held" in vars(column)]
    assert len(held) <= 1
    assert len(features._table.columns) == 12


def test_scratch_goes_with_the_features(folder, tmp_path):
    features = FeatureBlocks.open(folder, scratch=tmp_path)
    model = ConsensusClustering(3, random_state=1).fit(features)
    assert len(list(tmp_path.iterdir())) == 2  # the cells, and the nearest of each object
    del features, model
    assert list(tmp_path.iterdir()) == []


def test_a_column_of_a_stored_matrix_is_read_alone(tmp_path):
    X = np.random.default_rng(0).normal(size=(50, 3))
    place = Scratch(tmp_path)
    for fortran in (False, True):
        with place.writing("X") as file:
            file.write((X.T if fortran else X).tobytes())
        rows = StoredRows(place.file("X"), X.shape, X.dtype, fortran=fortran)
        for j in (0, 2, -1):
            assert_array_equal(rows[:, j], X[:, j])
        assert_array_equal(rows[10:30, 1], X[10:30, 1])


# -- bad input ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("impute", ["mean", "knn"])
def test_rules_that_need_all_rows(impute, folder):
    with pytest.raises(ValueError, match=rf'must be "median" or "most-frequent" .* Got \'{impute}\'\.'):
        ConsensusClustering(3, impute=impute).fit(FeatureBlocks.open(folder))


@pytest.fixture(scope="module")
def many_gaps(frame, tmp_path_factory):
    worse = frame.assign(size=frame["size"].where(np.arange(N) % 10 > 0))
    return write_parts(tmp_path_factory.mktemp("gaps") / "parts", worse)


def test_many_gaps_are_refused_as_in_memory(many_gaps):
    with pytest.raises(ValueError, match=r"must have no missing values\. Got \d+, the first in row 1, column 'size'"):
        ConsensusClustering(3).fit(FeatureBlocks.open(many_gaps))


@pytest.mark.slow
def test_many_gaps_are_filled_as_in_memory(many_gaps):
    assert_same(*fitted_both(many_gaps, impute="median"))


def test_members_and_other_preprocessors_are_refused(folder):
    features = FeatureBlocks.open(folder)
    with pytest.raises(ValueError, match="must be clustered by the default"):
        ConsensusClustering(3, preprocessor=Preprocessor(categories="member")).fit(features)
    with pytest.raises(TypeError, match="must be a Preprocessor for Parquet parts"):
        ConsensusClustering(3, preprocessor=StandardScaler()).fit(features)


@pytest.mark.parametrize("case", ["twice", "empty"])
def test_ids_that_do_not_differ(case, frame, tmp_path):
    names = frame["person"].tolist()
    names[40] = names[11] if case == "twice" else None
    parts = write_parts(tmp_path / "parts", frame.assign(person=names))
    options = {"preprocessor": Preprocessor(roles={"person": "id"})}
    found = []
    for X in (FeatureBlocks.open(parts), pq.read_table(parts)):
        with pytest.raises(ValueError, match=r"The ids of \w+ \(person\) must differ\.") as error:
            ConsensusClustering(3, **options).fit(X)
        found.append(str(error.value).partition("must differ.")[2])
    assert found[0] == found[1]


def test_a_column_that_has_no_room(tmp_path):
    (tmp_path / "X").mkdir()
    values = pa.array(["a" * 200 + str(i) for i in range(300_000)])
    pq.write_table(pa.table({"text": values, "x": np.arange(300_000) % 7}), tmp_path / "X" / "part.parquet")
    with pytest.raises(ValueError, match=r"memory must be ≥ 0\.8 GB for column 'text' of X: .* Got 0\.65 GB"):
        FeatureBlocks.open(tmp_path / "X", memory="650MB")


def test_nested_columns(tmp_path):
    (tmp_path / "X").mkdir()
    pq.write_table(pa.table({"a": [[1, 2]], "b": [1]}), tmp_path / "X" / "part.parquet")
    with pytest.raises(
        ValueError, match=r"must hold one value per cell\. Got list<element: int64> in 'a'\. Flatten it"
    ):
        FeatureBlocks.open(tmp_path / "X")


def test_parts_that_hold_nothing(tmp_path):
    (tmp_path / "X").mkdir()
    pq.write_table(pa.table({"a": pa.array([None, None], pa.float64())}), tmp_path / "X" / "part.parquet")
    with pytest.raises(ValueError, match=r"X must hold values\. All its cells are empty\."):
        FeatureBlocks.open(tmp_path / "X")


def test_a_full_disk_leaves_nothing(folder, tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    features = FeatureBlocks.open(folder, scratch=tmp_path)
    monkeypatch.setattr("shutil.disk_usage", full)
    with pytest.raises(ValueError, match="must have room"):
        ConsensusClustering(3, random_state=1).fit(features)
    assert list(tmp_path.iterdir()) == []


# -- in the shell ------------------------------------------------------------------------------------------------------


def run(folder, output, *more):
    return CliRunner().invoke(main, ["run", str(folder), "-k", "3", "--seed", "1", *more, "-o", str(output)])


@pytest.mark.parametrize(
    ("more", "preprocessor"),
    [
        (
            ["--role", "children=category", "--drop-column", "city", "--missing", "Rom", "--standardize"],
            Preprocessor(roles={"children": "category", "city": "drop"}, missing=["Rom"], standardize=True),
        ),
        pytest.param(
            ["--categories", "drop", "--dates", "days", "--impute", "most-frequent", "--id-column", "person"],
            Preprocessor(categories="drop", dates="days", impute="most-frequent", roles={"person": "id"}),
            marks=pytest.mark.slow,
        ),
        pytest.param([], Preprocessor(), marks=pytest.mark.slow),
    ],
)
def test_run(more, preprocessor, folder, tmp_path):
    result = run(folder, tmp_path / "out", "--memory", "1GB", *more)
    assert result.exit_code == 0, result.output
    expected = ConsensusClustering(3, random_state=1, preprocessor=preprocessor).fit(pq.read_table(folder))
    parts = pq.read_table(tmp_path / "out" / "clusters")
    assert_array_equal(parts["cluster"], expected.labels_)
    assert parts["id"][0].as_py() == "p000000"
    summary = json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))
    assert [c["size"] for c in summary["clusters"]] == np.bincount(expected.labels_).tolist()
    assert summary["columns"] == [use._asdict() for use in expected.preprocessor_.columns_]
    assert summary["clusters"][0]["sentence"].startswith("Cluster 0 (")
    assert "people: left out, empty: nothing" in result.output
    assert "--role" in result.output


REFUSED = {
    "drop": (["--impute", "drop"], "--impute must be median or most-frequent for what stays on disk"),
    "mean": (["--impute", "mean"], '--impute must be "median" or "most-frequent"'),
    "truth": (["--truth-column", "species"], "--truth-column is for tables that fit into memory"),
    "no column": (["--role", "sizee=drop"], "--role must name a column of people. Got 'sizee'. Did you mean 'size'?"),
    "members": (["--categories", "member"], "must be clustered by the default"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_run_refuses(case, folder, tmp_path):
    more, message = REFUSED[case]
    result = run(folder, tmp_path / "out", *more)
    assert result.exit_code == 2
    assert message in result.output
    assert "Traceback" not in result.output
    assert list(tmp_path.iterdir()) == []


def test_run_on_parts_that_differ(folder, tmp_path):
    shutil.copytree(folder, tmp_path / "X")
    pq.write_table(pa.table({"person": ["a"]}), tmp_path / "X" / "part-9.parquet")
    result = run(tmp_path / "X", tmp_path / "out")
    assert result.exit_code == 2
    assert re.search(
        r"error: Parts of features must have the same columns\. Got person in part-9\.parquet", result.output
    )
    assert not (tmp_path / "out").exists()
