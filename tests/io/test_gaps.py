"""What means missing, numbers with units and open ends, and classes that are set aside: tables as people have them."""

import json
import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from shell import call as shell

from ensemblage import ConsensusClustering, read_table
from ensemblage.preprocessing import Preprocessor

nan = np.nan


def written(tmp_path, text, name="t.csv", encoding="utf-8"):
    path = tmp_path / name
    path.write_bytes(text.encode(encoding))
    return path


def notes_of(source, **options):
    preprocessor = Preprocessor(impute="median", **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        preprocessor.fit(source)
    return "\n".join(preprocessor.notes_)


def codes_told_of(values):
    """What may mean missing, to go by the notes on a column of these numbers."""
    told = notes_of(pd.DataFrame({"x": np.array(values, dtype=float), "y": np.arange(len(values)) + 0.5}))
    option = re.search(r"may mean missing.*missing=(\[.*?\])", told)
    return json.loads(option[1]) if option else []


SURVEY = [1, 2, 3, 4, 5] * 4
AGES = [18, 35, 44, 61, 90, 27, 33, 58]


@pytest.mark.parametrize(
    ("values", "codes"),
    [
        ([*SURVEY, 99, 99], [99]),
        ([*SURVEY, 98, 99, 99, 98, 97, 97], [97, 98, 99]),
        ([*SURVEY, -9, -9], [-9]),
        ([*SURVEY, -999, -999, 99, 99], [-999, 99]),
        ([*SURVEY, -99, -99, 999, 999], [-99, 999]),
        ([*AGES, -1000.5, -1000.5, nan], [-1000.5]),  # more than ten times what the others span
        ([1_000, 20_000, 90_000, 50_000, 35_000, -999, -999], [-999]),  # negative, and no other is
        ([0.5, 1.5, 2.25, 1.75, -99.9, -99.9], [-99.9]),
        ([1, 2, 1, 2, 1, 99, 99], [99]),  # yes and no
        ([*SURVEY, 99], []),  # it stands there once
        ([1, 2, 3, 99, 99, 99], []),  # half of all cells
        ([*SURVEY, 9, 9], []),  # too near, of one digit
        ([*SURVEY, 40, 40], []),  # near, and no such digits
        ([10, 20, 30, 40, 99, 99], [99]),
        ([10, 20, 30, 60, 99, 99], []),  # near
        ([-5, 3, 8, -999, -999, 12], [-999]),  # far
        ([-500, 3, 800, -999, -999, 12], []),  # others are negative, too, and it is near
        ([50, 55, 60, 52, 58, 51, 0, 0], []),  # 0 is a number
        ([1, 1, 1, 1, 99, 99], []),  # the others are all the same
        ([1, 2, 1, 2, 1, 2, 70, 70], []),  # of two others only what is written like a code
        ([*SURVEY, 96, 97, 98, 99, 96, 97, 98, 99], []),  # four at once
        ([nan, nan], []),
    ],
)
def test_codes_by_the_written_rule(values, codes):
    assert codes_told_of(values) == codes
    assert codes_told_of(values[::-1]) == codes


def test_random_numbers_are_no_codes():
    rng = np.random.default_rng(0)
    for n in (10, 100, 1000):
        for values in (rng.normal(size=n), rng.lognormal(sigma=2, size=n), rng.poisson(3, n), rng.integers(0, 256, n)):
            assert codes_told_of(values) == []


TABLE = "age,q1,q2\n" + "".join(
    f"{[23, 35, 61, 44, 52][i % 5] + i if i % 7 else -999},{i % 5 + 1 if i % 6 else 99},{i % 4 + 1}\n"
    for i in range(30)
)
TOLD = (
    "may mean missing: -999 in 'age' (5 cells); 99 in 'q1' (5 cells), far from all other values of their columns. "
    "If so, add "
)


def test_possible_codes_are_told_with_the_option(tmp_path):
    path = written(tmp_path, TABLE)
    frame = pd.read_csv(path)
    for source in (read_table(path), frame):
        with pytest.warns(UserWarning, match="may mean missing") as caught:
            preprocessor = Preprocessor().fit(source)
        assert str(caught[0].message) == f"{TOLD}Preprocessor(missing=[-999, 99])."
        assert preprocessor.notes_.count(f"{TOLD}Preprocessor(missing=[-999, 99]).") == 1
    with pytest.warns(UserWarning, match=r"-999 in 'x0' \(5 cells\).*Preprocessor\(missing=\[-999, 99\]\)"):
        Preprocessor().fit(frame.to_numpy())
    done = shell("generate", path, "-o", tmp_path / "e.npz", "--partitions", 2)
    assert f"t.csv: alert: {TOLD}--missing -999,99." in done.stderr
    assert "warning" not in done.stderr
    done = shell("run", path, "-k", 2, "-o", tmp_path / "out", "--stability", 0, "--quality", "fast")
    (alert,) = json.loads((tmp_path / "out" / "summary.json").read_text())["alerts"]
    assert alert["text"] == f"{TOLD}--missing -999,99."


def test_what_means_missing_can_be_said(tmp_path):
    path = written(tmp_path, TABLE)
    frame = pd.read_csv(path)
    gaps = frame.replace({-999: nan, 99: nan})
    expected = Preprocessor(impute="median").fit_transform(gaps)
    said = Preprocessor(impute="median", missing=[-999, 99])
    for source in (frame, frame.astype(str), read_table(path)):
        np.testing.assert_allclose(said.fit_transform(source), expected, rtol=1e-15)
        assert "missing, as you said: 'age' (5 cells), 'q1' (5 cells)" in said.notes_
        np.testing.assert_allclose(said.transform(source), expected, rtol=1e-15)
    np.testing.assert_allclose(said.fit_transform(frame.to_numpy()), expected, rtol=1e-15)
    np.testing.assert_allclose(said.transform(frame.to_numpy()), expected, rtol=1e-15)
    table = read_table(path, missing=["-999.0", 99])
    assert np.isnan(table["age"].numbers).sum() == np.isnan(table["q1"].numbers).sum() == 5
    np.testing.assert_allclose(Preprocessor(impute="median").fit_transform(table), expected, rtol=1e-15)
    with pytest.raises(ValueError, match=r'must have no missing numbers. Got 10 that mean .*impute="median"'):
        Preprocessor(missing=[-999, 99]).fit(frame.to_numpy())
    with pytest.raises(ValueError, match=r'must have no missing values. Got 10, .*impute="median"'):
        Preprocessor(missing=[-999, 99]).fit(frame)


@pytest.mark.parametrize("wrong", ["-999", [], [None], [nan], 99])
def test_what_cannot_mean_missing(wrong):
    rule = "must be a list of one or more numbers and texts"
    with pytest.raises(ValueError, match=f"missing of read_table {rule}"):
        read_table(b"a,b\n1,2\n3,4\n", missing=wrong)
    with pytest.raises(ValueError, match=f"missing of Preprocessor {rule}"):
        Preprocessor(missing=wrong).fit([[1.0], [2.0]])


def test_codes_of_every_kind_of_column(tmp_path):
    text = (
        "name;size;colour;code\n99;1,5;red;007\nb;-999,0;Unknown;-999\nc;2,5;red;008\nd;3,5;blue;007\ne;-999;red;008\n"
    )
    table = read_table(written(tmp_path, text), missing=[-999, "unknown", 99])
    assert table["name"].cells() == ["99", "b", "c", "d", "e"]  # the ids stay
    np.testing.assert_array_equal(table["size"].numbers, [1.5, nan, 2.5, 3.5, nan])
    assert table["colour"].cells() == ["red", "", "red", "blue", "red"]
    assert table["code"].cells() == ["007", "", "008", "007", "008"]
    assert "missing, as you said: 'size' (2 cells), 'colour' (1 cells), 'code' (1 cells)" in table.notes
    assert "missing, as you said: no cell" in read_table(written(tmp_path, text), missing=["x"]).notes


def test_the_commands_read_codes_alike(tmp_path):
    path, out = written(tmp_path, TABLE), tmp_path / "out"
    options = ("--impute", "median", "-k", 2, "--quality", "fast", "--partitions", 5, "--stability", 0)
    done = shell("run", path, *options, "--missing", "-999,99", "-o", out)
    assert done.exit_code == 0, done.stderr
    assert "missing, as you said: 'age' (5 cells), 'q1' (5 cells)" in done.stderr
    bare = written(tmp_path, TABLE.replace("-999", "").replace("99", ""), "gaps.csv")
    shell("run", bare, *options, "-o", tmp_path / "bare")
    assert (out / "labels.csv").read_bytes() == (tmp_path / "bare" / "labels.csv").read_bytes()
    for folder, source in ((out, path), (tmp_path / "bare", bare)):
        shell("assign", folder, source, "-o", tmp_path / f"{folder.name}.csv")
    assert (tmp_path / "out.csv").read_bytes() == (tmp_path / "bare.csv").read_bytes()
    assert "holds one with missing_codes" in shell("run", path, *options, "-o", out).stderr
    profiled = json.loads((out / "summary.json").read_text())["profile"]["clusters"][0]["rows"]
    assert {row["n_missing"] for row in profiled if row["variable"] == "age"} != {0}
    from ensemblage import load

    assert load(out / "model.npz").preprocessor_.missing == ["-999", "99"]
    swept = (
        "--impute",
        "median",
        "--algorithm",
        "louvain",
        "--resamples",
        2,
        "--neighbors",
        5,
        "--resolutions",
        "0.5,1",
    )
    for i, (source, said) in enumerate([(path, ["--missing", "-999,99"]), (bare, [])]):
        done = shell("sweep", source, *swept, *said, "-o", tmp_path / f"s{i}")
        assert done.exit_code == 0, done.stderr
    assert (tmp_path / "s0" / "labels.csv").read_bytes() == (tmp_path / "s1" / "labels.csv").read_bytes()
    told = shell("sweep", path, *swept, "-o", tmp_path / "told").stderr
    assert told.count("may mean missing") == 1
    assert "--missing -999,99" in told


def test_labels_have_other_gaps_beside_theirs(tmp_path):
    rows = [(i % 3, (i + 1) // 2 % 3) for i in range(12)]
    text = "a,b\n" + "".join(f"{a},{b}\n" for a, b in rows)
    path = written(tmp_path, text + "-1,7\n1,kein\n", "labels.csv")
    plain = written(tmp_path, text + ",7\n1,\n", "plain.csv")
    options = ("-k", 3, "--method", "km")
    done = shell("combine", path, *options, "--missing", "-1,kein", "-o", tmp_path / "a")
    assert done.exit_code == 0, done.stderr
    shell("combine", plain, *options, "-o", tmp_path / "b")
    assert (tmp_path / "a" / "labels.csv").read_bytes() == (tmp_path / "b" / "labels.csv").read_bytes()
    assert "--missing must be a whole number, or none" in shell("combine", path, "--missing", "kein", "-o", "x").stderr
    assert "Leave empty values out" in shell("run", path, "--missing", "1,,2", "-o", tmp_path / "x").stderr


def test_a_point_is_a_gap_among_numbers_and_a_category_among_words(tmp_path):
    path = written(tmp_path, "x,y,kind\n1.5,2,.\n.,4,a\n2.5,5,.\n4.0,.,.\n1.0,7,a\n2.0,1,a\n")
    table = read_table(path)
    assert table.roles == {"x": "number", "y": "number", "kind": "category"}
    np.testing.assert_array_equal(table["x"].numbers, [1.5, nan, 2.5, 4, 1, 2])
    assert "filled: 2 missing values" in notes_of(table)
    no_header = read_table(written(tmp_path, "5,2\n.,4\n3,5\n"))
    assert len(no_header) == 3
    german = read_table(written(tmp_path, "x;y\n1,5;2\n.;4\n2,5;5\n"))
    np.testing.assert_array_equal(german["x"].numbers, [1.5, nan, 2.5])


def test_numbers_with_one_unit_are_numbers(tmp_path):
    text = "who;height;weight;bmi;when;temp\n" + "".join(
        f"p{i};{150 + i % 9} cm;{60 + i % 7},5kg;{20 + i % 5},25 kg/m2;{i % 12 + 1} h;−{i}°C\n" for i in range(20)
    )
    table = read_table(written(tmp_path, text))
    assert set(table.roles.values()) == {"id", "number"}
    assert [column.unit for column in table.columns] == ["", "cm", "kg", "kg/m2", "h", "°C"]
    np.testing.assert_array_equal(table["weight"].numbers, [60.5 + i % 7 for i in range(20)])
    np.testing.assert_array_equal(table["temp"].numbers, -np.arange(20.0))
    told = notes_of(table)
    units = "height in cm, weight in kg, bmi in kg/m2, when in h, temp in °C"
    assert f"numbers with a unit: {units} (else: Preprocessor(roles=" in told
    kept = read_table(written(tmp_path, text), roles={"height": "category"})
    assert "height=150 cm" in kept.features(dates="drop").names
    assert read_table(written(tmp_path, "a;b\n1;5 cm\n2;-999 cm\n3;7 cm\n4;8 cm\n"), missing=[-999])["b"].n_filled == 3


@pytest.mark.parametrize(
    "cells",
    [
        ["175 cm", "1.80 m", "160 cm", "170 cm"],  # two units
        ["175 cm", "180 feet or so", "160 cm", "170 cm"],
        ["001x", "002x", "001x", "002x"],  # leading zeros make codes
        ["a1", "b2", "a1", "b2"],
        ["cm", "cm", "5 cm", "6 cm"],
    ],
)
def test_what_has_no_unit(cells):
    column = read_table(("x,y\n" + "".join(f"{i},{cell}\n" for i, cell in enumerate(cells))).encode())["y"]
    assert column.unit == ""
    assert column.numbers is None


@pytest.mark.parametrize(
    ("cells", "levels"),
    [
        (["2", "3", "4", "5more"], ["2", "3", "4", "5more"]),
        (["4", "2", "more"], ["2", "4", "more"]),
        (["10", "<10", "11", ">=12", "9"], ["9", "<10", "10", "11", ">=12"]),
        (["1", "2", "3 und mehr", "0"], ["0", "1", "2", "3 und mehr"]),
        (["5+", "1", "2", "3-4"], ["1", "2", "3-4", "5+"]),
        (["1,5", "2,5", "über 3"], ["1,5", "2,5", "über 3"]),
    ],
)
def test_numbers_with_open_ends_are_ordered(cells, levels, tmp_path):
    text = "kind;x\n" + "".join(f"{cells[i % len(cells)]};{i * i % 17}\n" for i in range(24))
    table = read_table(written(tmp_path, text))
    assert table.roles["kind"] == "ordered"
    told = f"numbers with open ends as ranks, {' < '.join(levels)}: kind (else: Preprocessor(roles="
    assert told in notes_of(table)
    ranks = table.features().X[:, table.features().names.index("kind")]
    order = [levels.index(cells[i % len(cells)]) for i in range(24)]
    assert np.corrcoef(ranks, order)[0, 1] == pytest.approx(1)


@pytest.mark.parametrize("odd", ["1o", "unknown", "5 or 6", "2x"])
def test_other_text_among_numbers_is_refused(odd):
    text = "kind,x\n" + "".join(f"{[1, 2, 3, odd][i % 4]},{i * i % 17}\n" for i in range(24))
    with pytest.raises(ValueError, match=rf"must hold numbers.*Got '{odd}' in line 5.*missing=\[\"{odd}\"\]"):
        read_table(text.encode()).features()
    assert read_table(text.encode(), missing=[odd]).roles["kind"] == "number"


@pytest.mark.core(3)
@pytest.mark.parametrize("name", ["diagnosis", "Diagnose", "outcome", "group", "Gruppe", "target", "class"])
def test_classes_are_set_aside_in_the_first_line(name, tmp_path):
    text = f"x;y;{name}\n" + "".join(f"{i * i % 17};{i * i % 11};{'abc'[i % 3]}\n" for i in range(30))
    path = written(tmp_path, text)
    done = shell("run", path, "-k", 2, "--quality", "fast", "--stability", 0, "-o", tmp_path / "out")
    first = done.stderr.splitlines()[0]
    assert first == f"t.csv: left out, its name says known classes: {name} (else: --role {name}=feature)"
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert f"Left out as known classes, because of its name: {name}." in page
    used = Preprocessor(roles={name: "feature"}).fit(read_table(path))
    assert [use.use for use in used.columns_][-1] == "used: indicators of 3 categories"
    done = shell("generate", path, "--partitions", 2, "--role", f"{name}=feature", "-o", tmp_path / "e.npz")
    assert f"categories as indicators: {name}" in done.stderr


def test_classes_that_are_mostly_numbers_are_set_aside_too():
    text = "x,class\n" + "".join(f"{i * i % 17},{[1, 2, 3, 'U'][i % 4]}\n" for i in range(24))
    assert read_table(text.encode()).features().names == ["x"]


def test_a_feature_is_used_as_it_is_found():
    text = "id,target,x,word\n" + "".join(f"{i + 1},{i % 3},{i * i % 17},w{i}\n" for i in range(12))
    roles = dict.fromkeys(["id", "target", "word"], "feature")
    found = read_table(text.encode(), roles=roles).roles
    assert found == {"id": "number", "target": "code", "x": "number", "word": "category"}


def test_thousands_or_fractions_are_told(tmp_path):
    thousand = '1.234 may be a thousand or a fraction: it is read as 1234 (else: decimal=".")'
    assert thousand in read_table(b"x;y\n1.234;a\n2.500;b\n900;a\n").notes
    assert read_table(b"x;y\n1.234;a\n2.500;b\n900;a\n", decimal=".")["x"].numbers.tolist() == [1.234, 2.5, 900]
    doubt = '1.234 may be a thousand or a fraction: it is read as 1.234 (else: decimal=",")'
    assert doubt in read_table(b"x,y\n7,1.234\n8,2.500\n9,900\n").notes
    assert read_table(b"x;y\n1.234;a\n2.500;b\n900;a\n", decimal=",")["x"].numbers.tolist() == [1234, 2500, 900]
    for sure in (b"x;y\n1.234;0.5\n2.500;1.5\n", b"x;y\n1.234;1\n0.500;2\n", b"x;y\n1.234;1\n12.5;2\n"):
        assert not [note for note in read_table(sure).notes if "thousand" in note]
    both = read_table(b"x;y\n1.234;0,5\n2.500;1,5\n")
    assert both["x"].numbers.tolist() == [1234, 2500]
    assert "the decimal mark is a comma: 1.234 is 1234, 0,5 is 0.5" in both.notes


MESSY = "Nr;Größe;Gewicht;Alter;Umsatz;Note;Kinder;Diagnose;Gruppe\r\n" + "".join(
    f"P{i:02};{150 + i % 3 * 15 + i % 4},{i % 10} cm;{f'{50 + i % 3 * 15},{i % 9}' if i % 17 else '.'};"
    f"{20 + i % 3 * 20 + i % 5 if i % 11 else -999};{i % 9 + 1}.{i * 37 % 1000:03};{i % 5 + 1 if i % 13 else 99};"
    f"{['0', '1', '2', '3 und mehr'][i * 7 % 4]};{'ABC'[i * 5 % 3]};{'xyz'[i % 3]}\r\n"
    for i in range(60)
)


def test_a_messy_german_table(tmp_path):
    path = written(tmp_path, MESSY, encoding="cp1252")
    read = {"encoding": "cp1252", "missing": [-999, 99]}
    table = read_table(path, **read)
    kinds = ["id", "number", "number", "number", "number", "number", "ordered", "category", "category"]
    assert list(table.roles.values()) == kinds
    features = table.features(impute="median")
    assert features.names == ["Größe", "Gewicht", "Alter", "Umsatz", "Note", "Kinder"]
    assert features.X[1, :3].tolist() == [166.1, 65.1, 41]
    assert features.X[1, 3] == 2037
    model = ConsensusClustering(3, preprocessor=Preprocessor(impute="median"), random_state=0).fit(table)
    done = shell(
        "run", path, "-k", 3, "--encoding", "cp1252", "--missing", "-999,99", "--impute", "median", "--stability", 0,
        "-o", tmp_path / "out",
    )  # fmt: skip
    assert done.exit_code == 0, done.stderr
    lines = Path(tmp_path / "out" / "labels.csv").read_text(encoding="utf-8").splitlines()[1:]
    assert [int(line.split(",")[1]) for line in lines] == model.labels_.tolist()


def test_gower_says_what_is_filled_and_refuses_first(tmp_path):
    text = "a,b,c\n" + "".join(f"{i if i % 4 else ''},{i * i % 13},{'xyz'[i % 3]}\n" for i in range(24))
    path = written(tmp_path, text)
    options = ("--generator", "gower", "--partitions", 3, "-k", 2, "--stability", 0)
    done = shell("run", path, *options, "-o", tmp_path / "out")
    assert done.exit_code == 0, done.stderr
    without = "Gower's distances do without missing values; for pictures alone: filled: 6 missing values, each with the"
    assert f"t.csv: {without} median of its column" in done.stderr
    done = shell("run", path, *options, "--impute", "mean", "-o", tmp_path / "mean")
    assert f"t.csv: {without} mean of its column" in done.stderr
    labels = [(tmp_path / name / "labels.csv").read_bytes() for name in ("out", "mean")]
    assert labels[0] == labels[1]
    for command in (("run", *options), ("generate", *options[:4])):
        apart = written(tmp_path, "a,b\n1,\n2,\n,3\n,4\n5,6\n7,8\n", "apart.csv")
        done = shell(command[0], apart, *command[1:], "-o", tmp_path / "no.npz")
        assert done.exit_code == 2
        assert done.stderr == (
            "error: Any two rows of apart.csv must share a column in which both have a value, for Gower's distances. "
            "Rows 1 and 3 share none. Fill missing values, or leave such rows out.\n"
        )


def test_two_rows_without_any_value_have_no_distance():
    X = np.array([[1.0, 2], [nan, nan], [3, 4], [nan, nan]])
    with pytest.raises(ValueError, match="Rows 2 and 4 share none"):
        Preprocessor().distances(X)
    with pytest.raises(ValueError, match="Rows 1 and 2 share none"):
        Preprocessor().distances(X[:3])
