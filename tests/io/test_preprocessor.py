"""From mixed tables to features: categories, dates, gaps, Gower's distances, one answer in Python and in the shell."""

import csv
import json
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from click.testing import CliRunner
from inside import default_plan
from limits import limit
from naive import gower_distances as naive_gower
from representatives import first_of
from sklearn.base import clone
from sklearn.cluster import AgglomerativeClustering
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

from ensemblage import ConsensusClustering, Ensemble, read_table
from ensemblage.cli import main
from ensemblage.consensus import KMeansConsensus
from ensemblage.generation import RandomKPartitions
from ensemblage.io._scaling import AlikeScaler, CategoryEncoder, Ends
from ensemblage.preprocessing import Preprocessor
from ensemblage.tables.column import date_parts, parse_dates

N = 60


def people(n=N, seed=0):
    """Mixed columns with two groups, gaps in one number and one category."""
    random = np.random.default_rng(seed)
    group = np.arange(n) % 2
    frame = pd.DataFrame(
        {
            "who": [f"p{i}" for i in range(n)],
            "height": 160 + 20 * group + random.normal(0, 4, n).round(1),
            "income": (20_000 + 30_000 * group + random.normal(0, 5_000, n)).round(),
            "city": np.where(random.random(n) < 0.9, np.array(["Ulm", "Köln"])[group], "Bonn"),
            "member": np.where(random.random(n) < 0.8, np.array(["yes", "no"])[group], "no"),
            "risk": np.array(["low", "medium", "high"])[np.clip(group + random.integers(0, 2, n), 0, 2)],
            "since": [
                f"{2001 + g * 8 + int(r)}-0{1 + int(r)}-11"
                for g, r in zip(group, random.integers(0, 4, n), strict=True)
            ],
        }
    )
    return frame, group


def with_gaps(frame):
    frame = frame.copy()
    frame.loc[3, "height"] = np.nan
    frame.loc[5, "city"] = None
    return frame


def columns_of(preprocessor):
    return {column.column: column for column in preprocessor.columns_}


# -- categories --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", ["column", "famd"])
def test_indicators_are_those_of_mixed_factor_analysis(scale):
    codes = np.array([0, 0, 0, 1, 1, 2, np.nan])[:, None]
    encoded = CategoryEncoder(scale).fit(codes).transform(codes)
    shares = np.array([3, 2, 1]) / 6
    expected = (np.eye(3)[[0, 0, 0, 1, 1, 2]] - shares) / np.sqrt(shares)
    expected /= np.sqrt(2) if scale == "column" else 1
    np.testing.assert_allclose(encoded[:6], expected)
    assert not encoded[6].any()
    np.testing.assert_allclose(encoded[:6].mean(axis=0), 0, atol=1e-15)
    assert encoded[:6].var(axis=0).sum() == pytest.approx(1 if scale == "column" else 2)


def test_two_categories_are_a_standardised_number():
    codes = np.array([0.0, 1, 1, 1, 0])[:, None]
    np.testing.assert_allclose(CategoryEncoder().fit(codes).transform(codes), StandardScaler().fit_transform(codes))


def test_a_category_weighs_what_a_standardised_number_weighs():
    frame, _ = people()
    preprocessor = Preprocessor()
    X = preprocessor.fit_transform(frame)
    names = preprocessor.get_feature_names_out()
    assert set(names) == {"height", "income", "risk", "member=yes", "city=Bonn", "city=Köln", "city=Ulm"}
    for column in ("height", "income", "risk", "member", "city"):
        assert sum(X[:, j].var() for j, name in enumerate(names) if name.partition("=")[0] == column) == pytest.approx(
            1
        )


def test_what_was_done_with_each_column():
    frame, _ = people()
    frame["label"] = ["a", "b"] * (N // 2)
    frame["same"] = 1.5
    preprocessor = Preprocessor().fit(frame)
    uses = {column.column: column.use for column in preprocessor.columns_}
    assert uses["height"] == "used"
    assert uses["city"] == "used: indicators of 3 categories"
    assert uses["risk"] == "used: rank of 3 categories"
    assert uses["since"] == "left out"
    assert uses["label"] == "left out: its name says known classes"
    assert uses["same"] == "left out"
    assert any('label (else: Preprocessor(roles={"label": "feature"}))' in note for note in preprocessor.notes_)
    assert "label=b" in Preprocessor(roles={"label": "category"}).fit(frame).get_feature_names_out()


def test_columns_that_hold_one_value_are_left_out_whatever_they_are():
    frame = pd.DataFrame({"x": [1.5, 2, 3.2, 4.1], "same": ["a"] * 4, "colour": ["red", "red", "blue", "blue"]})
    preprocessor = Preprocessor(roles={"same": "category"}).fit(frame)
    assert list(preprocessor.get_feature_names_out()) == ["x", "colour=red"]


def test_categories_as_members_and_left_out():
    frame, _ = people()
    preprocessor = Preprocessor(categories="member").fit(frame)
    assert preprocessor.partitions_ == ["city", "member", "risk"]
    assert list(preprocessor.get_feature_names_out()) == ["height", "income"]
    members = preprocessor.partitions(frame)
    assert adjusted_rand_score(members["city"], frame["city"]) == 1
    assert preprocessor.partitions(with_gaps(frame))["city"][5] == -1
    dropped = Preprocessor(categories="drop").fit(frame)
    assert list(dropped.get_feature_names_out()) == ["height", "income"]
    assert dropped.partitions(frame) == {}


def test_new_and_missing_categories_lie_at_the_mean():
    frame, _ = people()
    preprocessor = Preprocessor(impute="median").fit(frame)
    new = frame.iloc[:2].copy()
    new["city"] = ["Rom", None]
    X = preprocessor.transform(new)
    cities = [name.startswith("city=") for name in preprocessor.get_feature_names_out()]
    assert not X[0, cities].any()
    shares = frame["city"].value_counts(normalize=True)
    filled = preprocessor.transform(frame[frame["city"] == shares.index[0]].iloc[:1])
    np.testing.assert_array_equal(X[1, cities], filled[0, cities])


def test_order_of_categories():
    x = np.arange(4.0) ** 2
    typed = pd.DataFrame({"x": x, "s": pd.Categorical(["b", "a", "c", "b"], ["c", "b", "a"], ordered=True)})
    said = typed.astype({"s": str})
    for frame, roles in [(typed, None), (said, {"s": "ordered:c<b<a"})]:
        preprocessor = Preprocessor(roles=roles)
        X = preprocessor.fit_transform(frame)
        np.testing.assert_allclose(X[:, 1], StandardScaler().fit_transform([[1], [2], [0], [1]]).ravel())
        assert columns_of(preprocessor)["s"].role == "ordered"
    with pytest.raises(ValueError, match=r"Name the order: roles=\{\"s\": \"ordered:a<b<c\"\}"):
        Preprocessor(roles={"s": "ordered"}).fit(said)
    numbers = Preprocessor(roles={"n": "ordered"})
    X = numbers.fit_transform(pd.DataFrame({"x": x, "n": [100, 5, 7, 5]}))
    np.testing.assert_allclose(X[:, 1], StandardScaler().fit_transform([[2], [0], [1], [0]]).ravel())


def test_a_code_with_too_many_values_is_left_out():
    frame = pd.DataFrame({"x": np.arange(20.0) ** 2 % 7, "zip": [f"0{i:04}" for i in range(19)] + ["00001"]})
    assert list(Preprocessor().fit(frame).get_feature_names_out()) == ["x"]
    assert "zip=00001" in Preprocessor(roles={"zip": "category"}).fit(frame).get_feature_names_out()


# -- dates -------------------------------------------------------------------------------------------------------------


def dates(cells):
    text = "k,d\n" + "".join(f"{i},{cell}\n" for i, cell in enumerate(cells))
    return parse_dates(read_table(text.encode(), name="t.csv")["d"], "t.csv")


@pytest.mark.parametrize(
    ("cells", "moments"),
    [
        (["2024-02-29", "1970-01-01"], ["2024-02-29", "1970-01-01"]),
        (["3.4.2024", "1.2.99"], ["2024-04-03", "1999-02-01"]),
        (["3/4/2024", "12/11/68"], ["2024-03-04", "2068-12-11"]),
        (["3/4/2024", "13/4/2024"], ["2024-04-03", "2024-04-13"]),
        (["3-4-2024", "3-14-2024"], ["2024-03-04", "2024-03-14"]),
        (["2024-01-02T10:30:00Z", "2024-01-02 10:30+02:00"], ["2024-01-02T10:30", "2024-01-02T08:30"]),
        (["2024-01-02 12:30 AM", "2024-01-02 01:00:30.5 PM"], ["2024-01-02T00:30", "2024-01-02T13:00:30.5"]),
    ],
)
def test_dates(cells, moments):
    expected = np.array(moments, dtype="datetime64[ms]").astype(np.int64) / 86_400_000
    np.testing.assert_allclose(dates(cells).days, expected, rtol=0, atol=1e-9)


def test_dates_that_can_be_read_in_two_ways_are_told():
    assert dates(["3/4/2024", "4/5/2024"]).notes == ("dates of 'd' are read as month/day: 3/4/2024",)
    assert dates(["3.4.2024", "4.5.2024"]).notes == ("dates of 'd' are read as day.month: 3.4.2024",)
    assert dates(["13.4.2024", "4.5.2024"]).notes == ()
    east, west = dates(["2024-05-01T12:00:00+05:30", "2024-05-01T12:00:00-05:30"]).days
    assert west - east == pytest.approx(11 / 24)
    assert dates(["11.12.2024", "12.12.2024"]).notes == ("dates of 'd' are read as day.month: 11.12.2024",)
    frame = pd.DataFrame({"x": np.arange(4.0) ** 2, "d": ["3/4/2024", "4/5/2024", "5/6/2023", "3/4/2024"]})
    assert any("month/day" in note for note in Preprocessor(dates="days").fit(frame).notes_)


def test_dates_in_two_orders():
    with pytest.raises(ValueError, match=r"'d' of t.csv must have one format\. Some begin with the day"):
        dates(["14/1/2024", "1/14/2024"])


def test_one_row_has_no_spread():
    with pytest.raises(ValueError, match="minimum of 2 is required"):
        Preprocessor().fit([[1.0, 2.0]])


def test_distances_of_rows_without_numbers():
    frame = pd.DataFrame({"colour": list("rrgg"), "shape": ["flat", "tall", "flat", "tall"]})
    np.testing.assert_array_equal(Preprocessor().distances(frame)[0], [0, 0.5, 0.5, 1])


@pytest.mark.parametrize("cells", [["2024-02-30", "2024-01-01"], ["13.14.2024", "1.1.2024"]])
def test_dates_that_are_none(cells):
    with pytest.raises(ValueError, match=r"column|Column 'd' of t.csv"):
        dates(cells)


def test_parts_of_dates():
    found = dates(["2024-02-29 06:30", "", "2023-12-31 18:00"])
    parts = date_parts(found, with_hour=True)
    np.testing.assert_array_equal(parts["year"], [2024, np.nan, 2023])
    np.testing.assert_array_equal(parts["month"], [2, np.nan, 12])
    np.testing.assert_array_equal(parts["weekday"], [3, np.nan, 6])
    np.testing.assert_array_equal(parts["hour"], [6.5, np.nan, 18])


def test_dates_as_features():
    frame, _ = people()
    X = Preprocessor(dates="days", categories="drop").fit_transform(frame)
    days = pd.to_datetime(frame["since"]).astype("int64").to_numpy(dtype=float)[:, None]
    np.testing.assert_allclose(X[:, 2], StandardScaler().fit_transform(days).ravel())
    preprocessor = Preprocessor(dates="parts", categories="drop")
    X = preprocessor.fit_transform(frame)
    assert list(preprocessor.get_feature_names_out())[2:] == ["since.year", "since.month", "since.weekday"]
    assert X[:, 2:].var(axis=0).sum() == pytest.approx(1)
    as_number = Preprocessor(roles={"since": "number"}, categories="drop")
    assert list(as_number.fit(frame).get_feature_names_out()) == ["height", "income", "since"]
    typed = frame.assign(since=pd.to_datetime(frame["since"]))
    np.testing.assert_array_equal(as_number.fit_transform(typed), as_number.fit_transform(frame))


# -- gaps --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("impute", "filled"), [("median", 2.0), ("mean", 16 / 5), ("most-frequent", 1.0)])
def test_simple_imputation(impute, filled):
    frame = pd.DataFrame({"x": [1, 1, 2, np.nan, 4, 8.0], "y": [3, 1, 2, 5, 8, 9.0]})
    X = Preprocessor(impute=impute, standardize=False).fit_transform(frame)
    np.testing.assert_allclose(X[3], [filled, 5])
    np.testing.assert_array_equal(X[[0, 5]], [[1, 3], [8, 9]])


def test_nearest_rows_are_near_in_standardised_numbers():
    random = np.random.default_rng(0)
    group = np.arange(40) % 2
    X = np.column_stack(
        [group * 10 + random.normal(0, 1, 40), random.normal(0, 1e6, 40), group + random.normal(0, 0.1, 40)]
    )
    gap = X.copy()
    gap[7, 0] = np.nan
    filled = Preprocessor(impute="knn", standardize=False).fit_transform(gap)
    assert abs(filled[7, 0] - 10) < 3
    others = np.arange(40) != 7
    np.testing.assert_array_equal(filled[others], X[others])
    Z = (gap - np.nanmean(gap, axis=0)) / np.nanstd(gap, axis=0)
    nearest = np.argsort(((Z[others][:, 1:] - Z[7, 1:]) ** 2).sum(axis=1))[:5]
    assert filled[7, 0] == pytest.approx(X[others][nearest, 0].mean())


def test_missing_numbers_are_refused_and_missing_categories_told():
    frame = with_gaps(people()[0])
    with pytest.raises(ValueError, match=r"Got 1, the first in row 4, column 'height'. Fill them with impute=.median"):
        Preprocessor().fit(frame.head(12))  # of so few rows one gap is more than 5 %
    preprocessor = Preprocessor(impute="median").fit(frame)
    assert "missing categories: 1, filled, each with the most frequent of its column" in preprocessor.notes_
    assert "filled: 1 missing values, each with the median of its column" in preprocessor.notes_


def test_arrays_lists_and_sparse_matrices():
    from scipy import sparse

    X = np.random.default_rng(0).normal(5, [1, 10, 100, 0], (30, 4))
    preprocessor = Preprocessor()
    Z = preprocessor.fit_transform(X)
    np.testing.assert_allclose(Z, StandardScaler().fit_transform(X[:, :3]))
    assert list(preprocessor.get_feature_names_out()) == ["x0", "x1", "x2"]
    assert columns_of(preprocessor)["x3"].use == "left out: constant"
    np.testing.assert_array_equal(preprocessor.transform(X.tolist()), Z)
    assert Preprocessor().fit_transform(X.astype(np.float32)).dtype == np.float32
    scaled = Preprocessor().fit_transform(sparse.csr_matrix(X[:, :3]))
    np.testing.assert_allclose(scaled.toarray(), X[:, :3] / X[:, :3].std(axis=0))
    np.testing.assert_array_equal(Preprocessor(standardize=False).fit_transform(X), X[:, :3])
    with pytest.raises(ValueError, match=r"must be an array of numbers, as in fit. Got a Table"):
        preprocessor.transform(read_table(people()[0]))
    with pytest.raises(ValueError, match="It has none"):
        Preprocessor().fit(np.ones((4, 2)))
    with pytest.raises(ValueError, match="'x1' is too large"):
        Preprocessor().fit([[1, 1e200], [2, -1e200], [0, 3]])


def test_tables_of_members_alone_have_no_features():
    frame = pd.DataFrame({"same": ["a"] * 4, "colour": ["red", "red", "blue", "blue"]})
    preprocessor = Preprocessor(categories="member", roles={"same": "category"}).fit(frame)
    assert preprocessor.partitions_ == ["colour"]
    assert preprocessor.transform(frame).shape == (4, 0)


def test_the_encoder_knows_its_columns():
    assert CategoryEncoder().fit(np.zeros((3, 2))).n_features_in_ == 2


def test_names_of_features_are_objects():
    assert Preprocessor().fit(people()[0]).get_feature_names_out().dtype == object


def test_indicators_are_dense():
    """scikit-learn's table of transformers makes sparse matrices of many zeros unless it is told."""
    frame = pd.DataFrame({"a": [f"c{i % 20}" for i in range(60)], "b": [f"d{i % 15}" for i in range(60)]})
    assert isinstance(Preprocessor().fit_transform(frame), np.ndarray)


def test_categories_are_counted_block_by_block():
    codes = np.random.default_rng(0).integers(0, [4, 2, 3], (50, 3)).astype(float)
    codes[7] = np.nan
    whole, parts = CategoryEncoder().fit(codes), CategoryEncoder()
    for block in (codes[:2], codes[2:9], codes[9:]):
        parts.partial_fit(block)
    for found, expected in zip(parts.finish().shares_, whole.shares_, strict=True):
        np.testing.assert_array_equal(found, expected)
    names = whole.get_feature_names_out(["a", "b", "c"])
    assert list(names) == ["a_0", "a_1", "a_2", "a_3", "b_1", "c_0", "c_1", "c_2"]
    assert len(names) == whole.transform(codes).shape[1]


def test_two_categories_stay_beside_a_missing_one():
    encoded = CategoryEncoder().fit(np.array([[0.0, 0], [1, 1]])).transform(np.array([[0, np.nan], [1, 0]]))
    np.testing.assert_array_equal(encoded, [[-1, 0], [1, -1]])


def test_sparse_matrices_are_told_to_scikit_learn():
    assert Preprocessor().__sklearn_tags__().input_tags.sparse


def test_columns_are_found_by_name():
    frame, _ = people()
    preprocessor = Preprocessor().fit(frame)
    np.testing.assert_array_equal(preprocessor.transform(frame[frame.columns[::-1]]), preprocessor.transform(frame))
    one = frame.iloc[:1].assign(city=None)
    assert preprocessor.transform(one).shape == (1, 7)
    with pytest.raises(ValueError, match="It has no 'city'"):
        preprocessor.transform(frame.drop(columns="city"))


def test_features_that_would_not_fit():
    n = 1_001_000
    table = read_table(pd.DataFrame({"x": np.arange(n) % 7, "c": pd.Categorical(np.arange(n) % 900).astype(str)}))
    with pytest.raises(ValueError, match=r"must fit into 4 GB. They would take .* Preprocessor.roles=.*c.*drop"):
        Preprocessor(roles={"c": "category"}).fit(table)


# -- distances ---------------------------------------------------------------------------------------------------------


def test_gower_distances_are_the_naive_ones():
    frame = with_gaps(people(20)[0])
    table = read_table(frame)
    numbers = [frame["height"], frame["income"], frame["risk"].map({"low": 0, "medium": 1, "high": 2})]
    expected = naive_gower([list(c) for c in numbers], [list(frame["city"].fillna("")), list(frame["member"])])
    np.testing.assert_allclose(Preprocessor().distances(table), expected)
    np.testing.assert_array_equal(Preprocessor().distances(frame), Preprocessor().distances(table))
    days = pd.to_datetime(frame["since"]).astype("int64")
    expected = naive_gower([*map(list, numbers), list(days)], [list(frame["city"].fillna("")), list(frame["member"])])
    np.testing.assert_allclose(Preprocessor(dates="days").distances(table), expected)
    np.testing.assert_allclose(Preprocessor().distances([[1.0, 5], [3, 5], [np.nan, 4]])[0], [0, 0.5, 1])
    with pytest.raises(ValueError, match=r"must have a column that varies\. It has none"):
        Preprocessor().distances(np.ones((3, 2)))


def test_rows_without_a_common_column_are_refused():
    with pytest.raises(ValueError, match="Rows 1 and 2 share none"):
        Preprocessor().distances([[1.0, np.nan], [np.nan, 2], [3, 3]])
    with pytest.raises(ValueError, match="at most 15,811 rows"):
        Preprocessor().distances(np.random.default_rng(0).normal(size=(16_000, 1)))


def test_members_that_take_distances():
    frame, group = people()
    frame = with_gaps(frame)
    clusterer = AgglomerativeClustering(metric="precomputed", linkage="average")
    generator = RandomKPartitions(8, estimator=clusterer, random_state=0)
    model = ConsensusClustering(2, generator=generator, random_state=0).fit(frame)
    by_hand = generator.fit_transform(Preprocessor().distances(frame))
    np.testing.assert_array_equal(np.asarray(model.ensemble_), by_hand)
    assert adjusted_rand_score(group, model.labels_) > 0.8
    assert not hasattr(ConsensusClustering(2, generator=generator), "predict")


# -- consensus of mixed data -------------------------------------------------------------------------------------------


def test_members_and_their_weight():
    frame, _ = people()
    model = ConsensusClustering(
        2,
        generator=RandomKPartitions(10),
        preprocessor=Preprocessor(categories="member", category_weight=0.5),
        random_state=0,
    ).fit(frame)
    assert model.ensemble_.names[10:] == ["city", "member", "risk"]
    assert model.consensus_.weights == [1.0] * 10 + [0.5 * 10 / 2] * 3
    made = RandomKPartitions(10, random_state=0).fit_transform(Preprocessor(categories="member").fit_transform(frame))
    members = Preprocessor(categories="member").fit(frame).partitions(frame)
    ensemble = Ensemble(np.column_stack([made, *members.values()]))
    by_hand = KMeansConsensus(2, weights=model.consensus_.weights, random_state=0).fit(ensemble)
    np.testing.assert_array_equal(model.labels_, by_hand.labels_)
    np.testing.assert_array_equal(model.predict(frame), model.labels_)
    with pytest.raises(ValueError, match="has weights of its own"):
        model.set_params(consensus=KMeansConsensus(2, weights=[1] * 13)).fit(frame)


def test_purely_categorical_tables():
    frame, group = people()
    frame = frame[["city", "member", "risk"]]
    encoded = ConsensusClustering(2, random_state=0).fit(frame)
    assert adjusted_rand_score(group, encoded.labels_) > 0.5
    members = ConsensusClustering(2, preprocessor=Preprocessor(categories="member"), random_state=0).fit(frame)
    assert members.ensemble_.names == ["city", "member", "risk"]
    np.testing.assert_array_equal(
        members.labels_, KMeansConsensus(2, random_state=0).fit(frame.assign(risk=frame["risk"])).labels_
    )


def test_standardize_is_the_default_where_scales_differ():
    frame, _ = people()
    X = frame[["height", "income"]].to_numpy() * [1, 1000]
    scaled = ConsensusClustering(2, random_state=0).fit(X)
    by_hand = ConsensusClustering(2, standardize=False, random_state=0).fit(StandardScaler().fit_transform(X))
    np.testing.assert_array_equal(scaled.labels_, by_hand.labels_)
    raw = ConsensusClustering(2, standardize=False, random_state=0).fit(X)
    assert not np.array_equal(np.asarray(raw.ensemble_), np.asarray(scaled.ensemble_))
    given = ConsensusClustering(2, preprocessor=StandardScaler(), random_state=0).fit(X)
    np.testing.assert_array_equal(given.labels_, scaled.labels_)


# -- one answer --------------------------------------------------------------------------------------------------------


def shell_labels(tmp_path, *arguments):
    done = CliRunner().invoke(main, ["run", *map(str, arguments), "-o", str(tmp_path / "out"), "--overwrite"])
    assert done.exit_code == 0, done.stderr
    with open(tmp_path / "out" / "labels.csv", encoding="utf-8", newline="") as file:
        return [int(row["cluster"]) for row in csv.DictReader(file)]


def tables():
    """Six tables: a file's text, the options of the shell, and the same in Python."""
    random = np.random.default_rng(1)
    frame, _ = people()
    blobs = np.concatenate([random.normal(c, 1, (25, 3)) for c in (0, 6, 12)]).round(2)
    numbers = pd.DataFrame((blobs * [1, 100, 10]).round(1), columns=["a", "b", "c"])
    german = frame[["who", "height", "income", "city"]].to_csv(sep=";", decimal=",", index=False)
    gaps = with_gaps(frame)
    return {
        "numbers": (numbers.to_csv(index=False), [], {}),
        "german": (german, [], {}),
        "mixed": (frame.to_csv(index=False), ["--dates", "days"], {"dates": "days"}),
        "gaps": (gaps.to_csv(index=False), ["--impute", "knn"], {"impute": "knn"}),
        "members": (frame.to_csv(index=False), ["--categories", "member"], {"categories": "member"}),
        "categories": (frame[["who", "city", "member", "risk"]].to_csv(index=False), [], {}),
    }


@pytest.mark.core(1)
@pytest.mark.parametrize(
    ("name", "k"),
    first_of(
        [("mixed", None), *((name, 3) for name in ("gaps", "members", "german", "categories", "numbers", "mixed"))], 4
    ),
)
def test_python_and_the_shell_give_the_same_labels(name, k, tmp_path):
    text, options, chosen = tables()[name]
    path = tmp_path / "t.csv"
    path.write_text(text, encoding="utf-8")
    shell = shell_labels(tmp_path, path, *([] if k is None else ["-k", k]), "--seed", 5, *options)
    model = ConsensusClustering(k, preprocessor=Preprocessor(**chosen), random_state=5)
    assert model.fit(read_table(path)).labels_.tolist() == shell
    separator, decimal = (";", ",") if name == "german" else (",", ".")
    frame = pd.read_csv(path, sep=separator, decimal=decimal)
    assert model.fit(frame).labels_.tolist() == shell
    assert model.fit(pl.from_pandas(frame)).labels_.tolist() == shell
    assert model.fit(read_table(path).to_frame()).labels_.tolist() == shell
    if chosen.get("categories") != "member":
        features = Preprocessor(**chosen).fit_transform(frame)
        generator = clone(model.generator_)
        np.testing.assert_array_equal(np.asarray(model.ensemble_), generator.fit_transform(features))


@pytest.mark.parametrize("quality", ["fast", "best"])
def test_quality_is_the_same_in_python_and_the_shell(quality, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(tables()["numbers"][0], encoding="utf-8")
    model = ConsensusClustering(3, quality=quality, random_state=5).fit(read_table(path))
    assert model.labels_.tolist() == shell_labels(tmp_path, path, "-k", 3, "--seed", 5, "--quality", quality)
    by_consensus = ConsensusClustering(3, quality=quality, selection="consensus").fit(read_table(path))
    assert by_consensus.ensemble_.shape[1] == {"fast": 50, "best": 24}[quality]


def test_scales_that_are_alike_are_kept():
    """The largest and the least deviation are compared, and only numbers are."""
    random = np.random.default_rng(0)
    X = random.normal(size=(50, 2)) * [1, 15]
    kept = Preprocessor().fit(X)
    found = kept.transform(X)
    np.testing.assert_allclose(found, (X - X.mean(0)) / np.sqrt(X.var(0).mean()))
    assert "keep their scales" in kept.notes_[-1]
    with_constant = np.column_stack([X, np.full(50, 3.0)])
    np.testing.assert_allclose(Preprocessor().fit_transform(with_constant), found)
    assert AlikeScaler().fit(with_constant).keeps_scales_
    assert not AlikeScaler().fit(np.ones((50, 2))).keeps_scales_
    for other in (X * [1, 100], X[:, :1]):
        np.testing.assert_allclose(Preprocessor().fit_transform(other), StandardScaler().fit_transform(other))
    np.testing.assert_allclose(Preprocessor(standardize=True).fit_transform(X), StandardScaler().fit_transform(X))
    np.testing.assert_allclose(Preprocessor(standardize=False).fit_transform(X), X)
    frame = pd.DataFrame(X, columns=["a", "b"])
    np.testing.assert_allclose(Preprocessor().fit_transform(frame), found)
    mixed = Preprocessor().fit_transform(frame.assign(c=np.arange(50) % 2 > 0))
    np.testing.assert_allclose(mixed[:, :2], StandardScaler().fit_transform(X))


def in_two_groups(random, n_columns, levels, other):
    """Answers by two groups of people, and one number of each that says nothing of the group."""
    group = np.arange(200) % 2
    answers = random.binomial(levels, np.where(group, 0.7, 0.3)[:, None], size=(200, n_columns))
    answers[:, 0] = random.binomial(levels, 0.05, size=200)  # what few have varies little
    return group, pd.DataFrame(answers, columns=[f"q{j}" for j in range(n_columns)]).assign(other=other(random))


@pytest.mark.parametrize(
    ("n_columns", "levels", "other", "told"),
    [
        (33, 3, lambda random: random.normal(45, 15, 200), "1[3-6]"),
        pytest.param(
            20, 4, lambda random: random.lognormal(10, 0.8, 200), "[1-9][0-9],[0-9]{3}", marks=pytest.mark.slow
        ),
    ],
    ids=["age", "income"],
)
def test_one_column_in_another_unit_decides_nothing(n_columns, levels, other, told, tmp_path):
    group, frame = in_two_groups(np.random.default_rng(0), n_columns, levels, other)
    model = ConsensusClustering(2, random_state=0).fit(frame)
    assert adjusted_rand_score(group, model.labels_) > 0.8
    note = model.preprocessor_.notes_[-1]
    said = rf"column 'other', whose standard deviation is {told}(\.\d+)?, would outweigh the others; the least is"
    assert re.search(said, note), note
    np.testing.assert_allclose(Preprocessor().fit_transform(frame), StandardScaler().fit_transform(frame))
    assert Preprocessor().fit(frame.to_numpy()).notes_[-1] == re.sub(
        r"'(q?)(other|\d+)'", lambda at: f"'x{n_columns if at[2] == 'other' else at[2]}'", note
    )
    path = tmp_path / "t.csv"
    frame.to_csv(path, index=False)
    out = tmp_path / "out"
    told_by_shell = CliRunner().invoke(main, ["run", str(path), "-k", "2", "--seed", "0", "-o", str(out)]).stderr
    assert f"t.csv: {note}\n" in told_by_shell
    assert note.replace("'", "&#39;") in (out / "report.html").read_text(encoding="utf-8")


def test_the_largest_of_many_deviations_counts():
    """Eleven columns: nine tenths of them were compared before."""
    X = np.random.default_rng(0).normal(size=(100, 11))
    X /= X.std(axis=0)
    for factor, kept in ((20 - 1e-9, True), (20 + 1e-9, False), (1 / 21, False)):
        scaled = X * ([factor] + [1] * 10)
        assert AlikeScaler().fit(scaled).keeps_scales_ == kept
    assert AlikeScaler().fit(np.column_stack([X, np.where(X[:, 0] > 0, 0.3, 0.1 + 0.2)])).keeps_scales_  # rounding


def unit_rows(n=120, m=40):
    X = np.random.default_rng(0).normal(size=(n, m))
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def test_columns_with_hardly_any_variation_decide_no_scale():
    """Pixels at the edge of an image: few objects have them, and their deviation is small for that."""
    X = np.random.default_rng(0).normal(size=(100, 30))
    for share, kept in ((0.05, True), (0.06, False)):
        for sign in (1, -1):
            edge = sign * 0.1 * (np.arange(100) < round(100 * share))
            scaler = AlikeScaler().fit(np.column_stack([X, edge]))
            assert scaler.keeps_scales_ == kept
            assert (scaler.extremes_[0] == 30) != kept
    rare = np.column_stack([X, 1e4 * (np.arange(100) < 3)])  # a rare large amount would outweigh all others
    assert not AlikeScaler().fit(rare).keeps_scales_
    alone = np.eye(100)[:, :3]  # where no column tells its unit, all do
    assert AlikeScaler().fit(alone).keeps_scales_
    assert not AlikeScaler().fit(alone * [1, 1, 50]).keeps_scales_


def test_rounding_noise_is_never_standardised():
    random = np.random.default_rng(0)
    X, noise = random.normal(size=(100, 40)), 1e-7 * random.normal(size=(100, 2))
    for other in (np.ones(40), np.r_[np.ones(38), 0.03, 30]):
        table = np.column_stack([X * other, noise])
        scaler = AlikeScaler().fit(table)
        assert scaler.keeps_scales_ == (other.max() == 1)
        assert scaler.noise_.tolist() == [40, 41]
        assert np.abs(scaler.transform(table)[:, 40:]).max() < 1e-5
        said = Preprocessor().fit(pd.DataFrame(table).add_prefix("c")).notes_[-1]
        assert said.endswith("; centred alone, for only rounding varies there: c40, c41")
    few = np.column_stack([X[:, :10], noise[:, :1]])  # a unit of its own
    many = np.column_stack([X[:, :30] * 100.0 ** np.arange(-7, 8).repeat(2), noise])  # no unit is usual
    for table in (few, many):
        assert not len(AlikeScaler().fit(table).noise_)
        np.testing.assert_allclose(Preprocessor().fit_transform(table), StandardScaler().fit_transform(table))


def test_rows_of_unit_length_keep_their_scales():
    X = unit_rows() * np.r_[np.ones(20), np.full(20, 1e-2)]
    X[:, 0] = np.sqrt(1 - (X[:, 1:] ** 2).sum(axis=1))
    for table in (X, X.astype(np.float16)):
        kept = Preprocessor().fit(table)
        assert "keep their scales, for all rows have length 1" in kept.notes_[-1]
        table = table.astype(np.float64)
        np.testing.assert_allclose(
            kept.transform(table), (table - table.mean(axis=0)) / np.sqrt(table.var(axis=0).mean())
        )
        assert default_plan(table).scales.reason == "All rows have length 1."
    assert not AlikeScaler().fit(1.01 * X).keeps_scales_
    X[0] *= 1.01
    assert not AlikeScaler().fit(X).keeps_scales_


def test_scales_do_not_depend_on_the_blocks(monkeypatch, tmp_path):
    X = np.column_stack([unit_rows(), np.arange(120) == 119])
    whole = AlikeScaler().fit(X)
    limit(monkeypatch, "rows of a partial sum of features", 50)
    for table in (X, X[::-1]):
        parts = AlikeScaler().fit(table)
        assert parts.keeps_scales_ == whole.keeps_scales_
        assert (parts.extremes_ == whole.extremes_).all()
    ends = [Ends.of(X[rows]) for rows in (slice(50), slice(50, 119), slice(119, 120))]
    joined, of_all = ends[0].joined(ends[1]).joined(ends[2]), Ends.of(X)
    for found, wanted in zip(joined, of_all, strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_of_copies_k_means_alone_is_asked():
    X = np.random.default_rng(0).normal(size=(12, 2))
    assert ConsensusClustering(2, random_state=0).fit(np.repeat(X, 2, axis=0)).ensemble_.shape[1] < 50
    assert ConsensusClustering(2, random_state=0).fit(np.repeat(X, 3, axis=0)).ensemble_.shape[1] == 50


def test_arrays_and_tables_of_numbers_give_the_same_labels():
    path_text = tables()["numbers"][0]
    table = read_table(path_text.encode(), name="t.csv")
    X = np.asfortranarray(table.features().X)
    one, other = (ConsensusClustering(3, random_state=0).fit(data) for data in (table, X))
    np.testing.assert_array_equal(one.labels_, other.labels_)
    np.testing.assert_array_equal(np.asarray(one.ensemble_), np.asarray(other.ensemble_))


def test_options_of_the_shell(tmp_path):
    frame, group = people()
    path = tmp_path / "t.csv"
    with_gaps(frame).to_csv(path, index=False)
    labels = shell_labels(tmp_path, path, "-k", 2, "--generator", "gower", "--partitions", 8)
    assert adjusted_rand_score(group, labels) > 0.8
    clusterer = AgglomerativeClustering(metric="precomputed", linkage="average")
    model = ConsensusClustering(2, generator=RandomKPartitions(8, estimator=clusterer), random_state=0)
    assert model.fit(with_gaps(frame)).labels_.tolist() == labels
    frame.to_csv(path, index=False)
    shell_labels(tmp_path, path, "-k", 2, "--categories", "member", "--category-weight", 3, "--partitions", 10)
    summary = json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))
    assert [member.get("weight", 1) for member in summary["members"]] == [1] * 10 + [15.0] * 3
    assert "categories as members" in summary["settings"]["notes"]
    again = ["run", path, "-k", 2, "--categories", "member", "--partitions", 10, "-o", tmp_path / "out"]
    assert CliRunner().invoke(main, list(map(str, again))).exit_code == 2  # another weight: another analysis
    assert {c["use"] for c in summary["columns"]} >= {"id of the rows", "used: member of the ensemble of 3 categories"}
    roles = ["--role", "city=drop", "--role", "risk=ordered:high<medium<low"]
    shell_labels(tmp_path, path, "-k", 2, *roles)
    uses = {
        c["column"]: c for c in json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))["columns"]
    }
    assert uses["city"]["use"] == "left out, as you said"
    assert uses["risk"]["use"] == "used: rank of 3 categories"


def test_methods_without_weights_refuse_members(tmp_path):
    frame, _ = people()
    path = tmp_path / "t.csv"
    frame.to_csv(path, index=False)
    arguments = ["run", str(path), "-k", "2", "--categories", "member", "-o", str(tmp_path / "out")]
    done = CliRunner().invoke(main, [*arguments, "--set", "weights=1,2,3"])
    assert done.exit_code == 2
    assert "has weights of its own" in done.stderr or "weights" in done.stderr
    done = CliRunner().invoke(main, [*arguments, "--k-range", "2:3"])
    assert done.exit_code == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"impute": "drop"}, "A transformer keeps all rows"),
        ({"categories": "x"}, "categories of Preprocessor must be one of 'encode', 'member', 'drop'"),
        ({"dates": 1}, "dates of Preprocessor"),
        ({"standardize": 2}, "standardize of Preprocessor must be True or False"),
        ({"category_scale": "x"}, "'column', 'famd'"),
        ({"category_weight": 0}, "a number > 0"),
        ({"roles": [1]}, "a mapping of columns to roles"),
        ({"roles": {"x": "nonsense"}}, "roles must be one of"),
    ],
)
def test_parameters_that_are_refused(options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        Preprocessor(**options).fit(pd.DataFrame({"x": [1.0, 2, 5], "y": [2.0, 1, 9]}))


def test_every_method_takes_mixed_tables():
    frame, _ = people()
    for name in ("km", "acv", "eac-average", "negmm-wat-kmeans", "hbgf"):
        k = 2 if name != "acv" else None
        assert len(ConsensusClustering(k, consensus=name, random_state=0).fit(frame).labels_) == N


def test_two_spellings_of_a_category_are_told():
    frame = pd.DataFrame({"sex": ["male", "Male", "new  one", "New one"] * 5, "x": range(20), "site": ["A", "B"] * 10})
    notes = Preprocessor().fit(frame).notes_
    (told,) = (note for note in notes if "differ only in" in note)
    assert "'Male' and 'male' of sex" in told
    assert "'New one' and 'new  one' of sex" in told
    assert "site" not in told
