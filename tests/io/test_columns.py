"""Columns by their values: ids, per cent, units, dates, codes. What cannot be known is told, and nothing is dropped."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from ensemblage import ConsensusClustering, read_table
from ensemblage.io._features import features_of
from ensemblage.preprocessing import Preprocessor

N = 120
GROUP = np.arange(N) % 3


def table_of(cells, name="x", delimiter=",", **options):
    """A table of three groups with a column of these cells."""
    rng = np.random.default_rng(1)
    other = (4 * (np.arange(len(cells)) % 3) + rng.normal(size=len(cells))).round(3)
    rows = [delimiter.join(map(str, row)) for row in zip(cells, other, strict=True)]
    return read_table("\n".join([f"{name}{delimiter}y", *rows]).encode(), name="t.csv", **options)


def alerts_of(table):
    return [str(alert.text) for alert in features_of(table).alerts]


def counter(rng):
    return rng.integers(1, 10**6) + np.arange(N)


def shuffled(rng):
    return rng.permutation(N) + 1001


def with_gaps(rng):
    return rng.permutation(np.cumsum(rng.integers(1, 4, N)) + 70_000)


def in_ranges(rng):
    """Numbers in three ranges, one per group, as branches give them."""
    return (np.array([100_000, 500_000, 900_000])[GROUP] + rng.permutation(N)).tolist()


def in_tens(rng):
    return 10 * rng.permutation(N) + 5000


def sparse(rng):
    """Six digits, at random: by their values alone they could be incomes."""
    return rng.choice(900_000, N, replace=False) + 100_000


def long_ones(rng):
    return rng.choice(10**13, N, replace=False) + 4 * 10**13


def beyond_floats(rng):
    return [str(9_007_199_254_740_993 + 2 * i) for i in rng.permutation(N)]


def with_zeros(rng):
    return [f"{i:06}" for i in rng.permutation(N)]


BY_VALUES = [counter, shuffled, with_gaps, in_ranges, in_tens, long_ones, beyond_floats, with_zeros]

ID_NAMES = (
    "account account_no Account-Number acct konto Kontonummer customer Kunde Kundennummer KundenNr client "
    "client_code patient patient_no subject participant proband case Fall Fallnummer order order_number Auftrag "
    "Auftragsnummer invoice Rechnungsnummer Rechnung ticket ticket_no MRN SSN EAN ean_code upc gtin isbn imei "
    "sku user userid user_id member Mitgliedsnummer employee Personalnummer Matrikelnummer student serial "
    "serial_no barcode specimen sample_no record transaction booking contract Vertragsnummer policy_number claim "
    "device caseid"
)


@pytest.mark.core(3)
@pytest.mark.parametrize("name", ID_NAMES.split())
def test_numbers_that_differ_under_a_name_of_an_id_are_one(name):
    rng = np.random.default_rng(len(name))
    for make in (sparse, shuffled, counter, in_ranges, long_ones):
        table = table_of(make(rng), name)
        assert table.roles[name] == "id", make.__name__
        assert features_of(table).names == ["y"]
        assert not alerts_of(table)


@pytest.mark.parametrize("name", ["x", "V3", "value", "wert", "b", "code", "type"])
@pytest.mark.parametrize("make", BY_VALUES)
def test_ids_are_found_by_their_values(make, name):
    table = table_of(make(np.random.default_rng(3)), name)
    assert table.roles[name] == "id"
    features = features_of(table)
    assert (features.names, features.id_column) == (["y"], name)
    assert any(note.startswith(f"id: column {name!r}, ") for note in features.notes)
    kept = features_of(table_of(make(np.random.default_rng(3)), name, roles={name: "number"}))
    assert kept.names == [name, "y"]


def test_how_to_keep_an_id_by_its_values_is_told():
    (note,) = (note for note in features_of(table_of(shuffled(np.random.default_rng(0)))).notes if "id: " in note)
    assert "would not by chance" in note
    assert note.endswith('(else: Preprocessor(roles={"x": "number"}))')


def test_names_come_before_numbers_as_ids():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": shuffled(rng), "who": [f"p{i}" for i in range(N)], "y": rng.normal(size=N)})
    table = read_table(frame)
    assert table.roles == {"a": "id", "who": "id", "y": "number"}
    features = features_of(table)
    assert features.id_column == "who"
    assert [use.use for use in features.columns] == ["left out", "id of the rows", "used"]


MEASURED = {
    "income in euros": lambda rng: rng.lognormal(10.5, 0.4, 60).round().astype(int),
    "population": lambda rng: rng.lognormal(12, 1.3, 50).round().astype(int),
    "price in cents": lambda rng: rng.choice(40_000, 80, replace=False) + 999,
    "intensity": lambda rng: rng.lognormal(8, 1, 100).round().astype(int),
    "steps": lambda rng: rng.normal(8000, 2500, 90).round().astype(int),
    "revenue of three kinds of shops": lambda rng: (
        (np.array([2e5, 5e5, 9e5])[np.arange(N) % 3] + rng.normal(0, 2e4, N)).round().astype(int)
    ),
    "area": lambda rng: rng.gamma(1, 50_000, 50).round().astype(int),
    "age": lambda rng: rng.integers(18, 80, 300),
    "count": lambda rng: rng.poisson(4, 200),
    "weight in grams": lambda rng: rng.normal(3300, 500, 150).round().astype(int),
    "rounded to hundreds": lambda rng: 100 * rng.choice(3000, 40, replace=False),
    "year": lambda rng: rng.integers(1950, 2020, 200),
    "below zero": lambda rng: rng.normal(0, 90_000, 70).round().astype(int),
    "few rows": lambda rng: rng.permutation(15) + 1,
    "steps of an experiment": lambda rng: 10 * np.arange(1, 13),
    "revenue in a large table": lambda rng: rng.lognormal(9, 1, 5000).round().astype(int),
    "score": lambda rng: rng.integers(0, 101, 100),
    "degrees": lambda rng: [f"{t}°C" for t in rng.permutation(60) - 30],
    "per cent": lambda rng: [f"{t}%" for t in rng.permutation(60)],
    "euros": lambda rng: [f"{t} €" for t in rng.permutation(60)],
    "centimetres": lambda rng: [f"{t} cm" for t in rng.permutation(60) + 120],
    "difference": lambda rng: rng.permutation(60) - 30,
    "distance in metres": lambda rng: rng.exponential(9000, 110).round().astype(int),
}


@pytest.mark.core(3)
@pytest.mark.parametrize("name", MEASURED)
def test_measurements_stay_numbers(name):
    for seed in range(5):
        cells = MEASURED[name](np.random.default_rng(seed))
        table = table_of(cells, name.replace(" ", "_"))
        assert table.roles[name.replace(" ", "_")] == "number"
        assert len(features_of(table).names) == 2


def test_numbers_that_differ_in_every_row_are_reported():
    table = table_of(sparse(np.random.default_rng(0)))
    features = features_of(table)
    assert features.columns[0][:3] == ("x", "number", "whole numbers that differ in every row, as many measurements do")
    said = 'whole numbers that differ in every row, used: x (if they are ids: Preprocessor(roles={"x": "drop"}))'
    assert said in features.notes
    assert [alert.what for alert in features.alerts] == ["perhaps ids"]  # all of them have as many digits
    assert not features_of(table_of(sparse(np.random.default_rng(0)) // np.r_[[1_000], np.ones(N - 1, int)])).alerts
    assert "used: x" not in " ".join(features_of(table_of(np.arange(N) % 7)).notes)


def test_columns_of_counts_are_no_ids():
    """Whole numbers of a wide matrix often differ in each of a few rows, now and then all of them."""
    for n, mean in ((8, 50), (24, 2_000), (60, 300_000)):
        counts = np.random.default_rng(n).negative_binomial(2, 2 / (2 + mean), size=(n, 100))
        names = [f"g{j}" for j in range(100)]
        table = read_table(pd.DataFrame(counts, columns=names))
        assert set(table.roles.values()) <= {"number", "constant"}
        assert not [text for text in alerts_of(table) if "perhaps" in text]


def test_columns_of_ranks_are_no_ids():
    rng = np.random.default_rng(0)
    table = read_table(pd.DataFrame({f"rank{j}": rng.permutation(N) for j in range(5)}))
    assert set(table.roles.values()) == {"number"}
    (text,) = alerts_of(table)
    assert text.startswith(
        "perhaps ids: columns 'rank0', 'rank1', 'rank2', 'rank3', 'rank4', whole numbers that (nearly)"
    )


def test_an_array_keeps_every_column():
    rng = np.random.default_rng(0)
    X = np.column_stack([np.arange(N), shuffled(rng), 4 * GROUP + rng.normal(size=N)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Preprocessor().fit_transform(X).shape == (N, 3)
        model = ConsensusClustering(3, quality="fast", random_state=0).fit(X)
    assert model.n_features_in_ == 3
    assert len(model.preprocessor_.columns_) == 3


def nearly(rng):
    numbers = shuffled(rng)
    numbers[5] = numbers[80]
    return numbers


def with_an_empty_cell(rng):
    return [str(number) if i else "" for i, number in enumerate(shuffled(rng))]


def sorted_sparsely(rng):
    return np.sort(sparse(rng))


def nine_digits(rng):
    return rng.choice(8 * 10**8, N, replace=False) + 10**8


# How a column is made, its name, what of the alert is there.
PERHAPS_IDS = {
    "one number twice": (nearly, "x", "whole numbers that nearly all differ"),
    "an empty cell": (with_an_empty_cell, "x", "whole numbers that nearly all differ"),
    "increasing": (sorted_sparsely, "x", "whole numbers that increase with every row"),
    "nine digits": (nine_digits, "x", "whole numbers that differ in every row"),
    "an account twice": (lambda rng: [*sparse(rng)[:-1], 123_456, 123_456][1:], "account", "nearly all differ"),
}


@pytest.mark.parametrize("case", PERHAPS_IDS)
def test_what_may_be_an_id_is_told(case):
    make, name, said = PERHAPS_IDS[case]
    cells = make(np.random.default_rng(2))
    (text,) = alerts_of(table_of(cells, name))
    assert text.startswith(f"perhaps ids: column {name!r}, ")
    assert said in text
    assert f'add Preprocessor(roles={{"{name}": "drop"}}), else Preprocessor(roles={{"{name}": "number"}}).' in text
    for role in ("drop", "number"):
        assert not alerts_of(table_of(cells, name, roles={name: role}))


def test_account_numbers_on_noise_make_no_clusters():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x17": in_ranges(rng), "a": rng.normal(size=N), "b": rng.normal(size=N)})
    ari = {}
    for role in (None, "number"):
        X = Preprocessor(roles={"x17": role} if role else None, standardize=True).fit_transform(frame)
        ari[role] = adjusted_rand_score(GROUP, KMeans(3, n_init=10, random_state=0).fit_predict(X))
    assert ari["number"] > 0.35
    assert abs(ari[None]) < 0.05


def shares(rng):
    """Discounts of three groups, in per cent or as shares."""
    percent = (10 + 30 * GROUP + rng.normal(0, 1, N)).round()
    return [f"{p:.0f}%" if i % 2 else f"{p / 100:.2f}" for i, p in enumerate(percent)]


def test_per_cent_and_shares_are_one_scale():
    cells = shares(np.random.default_rng(0))
    table = table_of(cells)
    features = features_of(table, standardize=True)
    wanted = [float(c[:-1]) if c.endswith("%") else 100 * float(c) for c in cells]
    np.testing.assert_allclose(table["x"].numbers, wanted)
    assert any("are read as shares, 0.68 as 68%: x" in note for note in features.notes)
    before = [float(c.rstrip("%")) for c in cells]
    for values, least, most in ((before, 0, 0.7), (table["x"].numbers, 0.99, 1)):
        labels = KMeans(3, n_init=10, random_state=0).fit_predict(np.reshape(values, (-1, 1)))
        assert least <= adjusted_rand_score(GROUP, labels) <= most


def groups_of_answers(rng, n_items=8):
    """(N, items) answers from 1 to 5 of three groups."""
    centres = np.array([1.2, 3, 4.8])[GROUP]
    return np.clip(np.round(centres[:, None] + rng.normal(0, 0.5, (N, n_items))), 1, 5).astype(int)


@pytest.mark.parametrize("codes", [[9], [8, 9], [7, 8, 9], [99]])
def test_codes_of_short_scales_are_told(codes):
    rng = np.random.default_rng(4)
    answers = groups_of_answers(rng)
    coded = np.where(rng.random(answers.shape) < 0.12, rng.choice(codes, answers.shape), answers)
    names = [f"q{j}" for j in range(8)]
    frame = pd.DataFrame(coded, columns=names)
    (text,) = alerts_of(read_table(frame))
    assert text.startswith("may mean missing: ")
    assert text.endswith(f"If so, add Preprocessor(missing={codes}).")
    assert not alerts_of(read_table(pd.DataFrame(answers, columns=names)))
    ari = []
    for missing in (None, codes):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            X = Preprocessor(missing=missing, impute="knn").fit_transform(frame)
        labels = [KMeans(k, n_init=10, random_state=0).fit_predict(X) for k in (3,)]
        ari.append(adjusted_rand_score(GROUP, labels[0]))
    assert ari[1] > 0.95 >= ari[0] or ari == [1, 1]


def test_single_digits_are_codes_only_in_several_columns():
    rng = np.random.default_rng(4)
    answers = groups_of_answers(rng)
    answers[rng.random(answers.shape) < 0.1] = 9
    names = [f"q{j}" for j in range(8)]
    assert not alerts_of(read_table(pd.DataFrame(answers[:, :2], columns=names[:2])))
    whole = np.random.default_rng(0).poisson(2, size=(300, 20))
    assert not alerts_of(read_table(pd.DataFrame(whole).add_prefix("n")))


# Cells of a column with its name, in a table with commas, and the start of the alert.
CODES = {
    "gender": [1, 2] * 30,
    "segment": [1, 2, 3, 4, 4, 2] * 10,
    "country": [1, 3, 3, 59, 17, 17, 17] * 10,
    "Bundesland": [*range(1, 17)] * 4,
    "store": [11, 12, 13] * 20,
}


@pytest.mark.parametrize("name", CODES)
def test_few_whole_numbers_under_a_name_of_categories_are_told(name):
    (text,) = alerts_of(table_of(CODES[name], name))
    assert text.startswith(f"perhaps categories: column {name!r}, few whole numbers. ")
    for role in ("category", "number"):
        assert not alerts_of(table_of(CODES[name], name, roles={name: role}))
    assert not alerts_of(table_of(CODES[name], "children"))


def test_numbers_from_1_to_many_without_an_order_are_told():
    rng = np.random.default_rng(0)
    shares = rng.permutation(1 / np.arange(1, 60))
    (text,) = alerts_of(table_of(rng.choice(np.arange(1, 60), 2000, p=shares / shares.sum()), "v12"))
    assert text.startswith("perhaps categories: column 'v12'")
    for smooth in (rng.poisson(20, 2000) + 1, rng.integers(1, 60, 2000), rng.geometric(0.1, 2000)):
        assert not alerts_of(table_of(smooth, "v12"))


# Cells of a column between semicolons, and its numbers.
ONE_SCALE = {
    "shares beside per cent": (["68%", "0.7", "0", "1", "5%"], [68, 70, 0, 100, 5]),
    "per cent with and without the sign": (["68%", "70", "0", "1", "5%"], [68, 70, 0, 1, 5]),
    "per cent alone": (["0.5%", "0.25%", "0.7%", "1%"], [0.5, 0.25, 0.7, 1]),
    "a unit in most cells": (["175 cm", "181 cm", "169", "190 cm", "177"], [175, 181, 169, 190, 177]),
    "a deviation": (["2.0±0.1", "3.5 ± 0.25", "4.1+/-1", "5"], [2, 3.5, 4.1, 5]),
    "a deviation and a unit": (["2.0±0.1 mm", "3.5 ± 0.25 mm", "4.25 mm"], [2, 3.5, 4.25]),
    "one currency, written differently": (["$5", "7 USD", "3", "12.50"], [5, 7, 3, 12.5]),
    "thousands": (["23.275", "842", "1.204", "7"], [23275, 842, 1204, 7]),
    "thousands alone": (["23.275", "18.900", "1.204"], [23275, 18900, 1204]),
    "a fraction elsewhere": (["23.275", "842", "1.204", "7.5"], [23.275, 842, 1.204, 7.5]),
}


@pytest.mark.parametrize("case", ONE_SCALE)
def test_numbers_on_one_scale(case):
    cells, numbers = ONE_SCALE[case]
    text = "".join(f"a{i};{cell};{i % 2}\n" for i, cell in enumerate(cells))
    table = read_table(f"n;x;y\n{text}".encode(), name="t.csv")
    np.testing.assert_allclose(table["x"].numbers, numbers)
    notes = " ".join(features_of(table).notes)
    said = {
        "unit": "in cm (bare numbers, too)",
        "thousands": "it is read as 23275 (else: ",
        "deviation": "2.0±0.1 is 2",
    }
    word = next((word for word in said if word in case and "and a unit" not in case), None)
    assert word is None or said[word] in notes


# Cells of a column, and the two that are told.
SEVERAL_SCALES = {
    "currencies": (["$5", "€7", "$3"], ("$5", "€7")),
    "currencies by letters": (["5 EUR", "€7", "3 GBP"], ("5 EUR", "3 GBP")),
    "per cent or shares": (["68%", "70", "0.55", "12%"], ("68%", "70")),
    "small per cent or shares": (["0.5%", "0.7", "0.1%"], ("0.5%", "0.7")),
    "units": (["12.5 kg", "500 g", "3 kg"], ("12.5 kg", "500 g")),
    "lengths": (["175 cm", "1.8 m", "169 cm"], ("175 cm", "1.8 m")),
    "a unit and bare numbers of another": (["175 cm", "1.65", "180 cm", "169 cm"], ("175 cm", "1.65")),
}


@pytest.mark.parametrize("case", SEVERAL_SCALES)
def test_numbers_on_several_scales_are_refused(case):
    cells, (one, other) = SEVERAL_SCALES[case]
    text = "n,x,y\n" + "".join(f"a{i},{cell},{i % 2}\n" for i, cell in enumerate(cells))
    table = read_table(text.encode(), name="t.csv")
    first, second = (2 + cells.index(cell) for cell in (one, other))
    with pytest.raises(ValueError, match="must have one unit") as raised:
        features_of(table)
    got = f"Got {one!r} in line {first} and {other!r} in line {second}. Write them alike, or leave the column out: "
    assert got in str(raised.value)
    assert features_of(read_table(text.encode(), name="t.csv", roles={"x": "drop"})).names == ["y"]


def test_classes_with_letters_are_no_numbers_with_units():
    for cells in (["1a", "2b", "3a"] * 4, ["2", "3", "4", "5more"] * 4, ["1st", "2nd", "3rd", "1st"] * 3):
        assert table_of(cells).roles["x"] in ("category", "ordered")


# Whole numbers, and their role.
DATES = {
    "days": ([20240131, 20240201, 20231224, 20240131], "date"),
    "months": ([202401 + i % 12 for i in range(24)], "date"),
    "no day": ([20240131, 20240230, 20231224, 20240131], "number"),
    "no month": ([202401, 202413, 202405] * 8, "number"),
    "few months": ([202401, 202402, 202403, 202401], "number"),
    "years": ([2019, 2020, 2021, 2019], "number"),
    "of another time": ([18991231, 18991230, 18991229, 18991231], "number"),
}


@pytest.mark.parametrize("case", DATES)
def test_whole_numbers_that_are_dates(case):
    cells, role = DATES[case]
    table = table_of(cells)
    assert table.roles["x"] == role
    if role == "date":
        texts = [str(cell) if cell > 10**7 else f"{cell}01" for cell in cells]
        written = pd.to_datetime(texts, format="%Y%m%d")
        for options in ({"dates": "days"}, {}):
            given = {} if options else {"x": "number"}
            found = features_of(table_of(cells, roles=given), standardize=False, **options)
            days = (written - pd.Timestamp("1970-01-01")).days
            np.testing.assert_array_equal(found.X[:, found.names.index("x")], days)
        assert features_of(table).names == ["y"]
