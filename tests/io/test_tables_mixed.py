"""Ten tables of mixed columns as people have them: every column is read right, and what is clustered is not an id."""

import json

import numpy as np
import pytest
from click.testing import CliRunner
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from ensemblage import read_table
from ensemblage.cli import main

N = 48
GROUP = np.arange(N) % 2


def german(number):
    """1234.5 as 1.234,50"""
    return f"{number:,.2f}".translate(str.maketrans(",.", ".,"))


def customers(random):
    """A German export: semicolons, decimal commas, thousands, euros, customer numbers."""
    rows = [
        (
            f"K-{1000 + 7 * i}",
            10_000 + 37 * i,
            f"Person {i}",
            f"{german(900 + 2500 * g + random.normal(0, 200))} €",
            f"{random.integers(1, 28)}.{random.integers(1, 13)}.2{'019' if g else '023'}",
            ["Ulm", "Köln"][g],
            "ja" if random.random() < 0.2 + 0.6 * g else "nein",
            f"{random.integers(1, 99_999):05}",
        )
        for i, g in enumerate(GROUP)
    ]
    header = "Kürzel;Kunden_Nr;Name;Umsatz;Kunde seit;Ort;Newsletter;PLZ"
    roles = ["text", "id", "text", "number", "date", "category", "yes/no", "code"]
    return header, rows, ";", roles, {"Umsatz", "Ort", "Newsletter"}, "cp1252"


def patients(random):
    """Numbers with units in their names, gaps, a scale, dates, a diagnosis code."""
    rows = [
        (
            f"P{i:03}",
            random.integers(30, 80),
            round(random.normal(70 + 20 * g, 5), 1),
            "" if i == 5 else round(random.normal(120 + 30 * g, 8)),
            ["F", "M"][random.integers(0, 2)],
            ["low", "medium", "high"][min(2, g + random.integers(0, 2))],
            ["I10", "E11"][g],
            f"2024-0{random.integers(1, 9)}-1{random.integers(0, 9)}",
            ["NA", "free text " + str(i)][i % 3 > 0],
        )
        for i, g in enumerate(GROUP)
    ]
    header = "patient,age,weight_kg,systolic,sex,risk,diagnosis_code,admitted,remark"
    roles = ["id", "number", "number", "number", "category", "ordered", "category", "date", "text"]
    return header, rows, ",", roles, {"age", "weight_kg", "systolic", "sex", "risk", "diagnosis_code"}, "utf-8"


def sensors(random):
    """Time stamps with zones, a device, exponents, a status, a column that never changes."""
    rows = [
        (
            f"2024-03-0{1 + i % 9}T{i % 24:02}:15:00Z",
            f"dev{i % 6}",
            f"{random.normal(20 + 15 * g, 1):.2f}",
            f"{random.normal(1e-6 * (1 + 3 * g), 1e-7):.3e}",
            ["ok", "warn"][g],
            3.3,
            i % 2 == 0,
        )
        for i, g in enumerate(GROUP)
    ]
    header = "time\tdevice\ttemperature\tcurrent\tstatus\tvoltage\tactive"
    roles = ["date", "category", "number", "number", "category", "constant", "yes/no"]
    return header, rows, "\t", roles, {"device", "temperature", "current", "status", "active"}, "utf-8"


def survey(random):
    """Agreement in words, codes for groups, answers of several words, mostly empty remarks."""
    scale = ["strongly disagree", "disagree", "neutral", "agree", "strongly agree"]
    rows = [
        (
            i + 1,
            scale[int(np.clip(1 + 2 * g + random.integers(-1, 2), 0, 4))],
            ["never", "rarely", "sometimes", "often", "always"][int(np.clip(4 - 3 * g + random.integers(-1, 2), 0, 4))],
            random.integers(1, 6),
            2 if g else 1,
            ["18-29", "30-49", "50+"][random.integers(0, 3)],
            "good" if i == 9 else "",
        )
        for i, g in enumerate(GROUP)
    ]
    header = "respondent_id,q1,q2,stars,group,age,remarks"
    roles = ["id", "ordered", "ordered", "number", "code", "category", "mostly empty"]
    return header, rows, ",", roles, {"q1", "q2", "stars", "age"}, "utf-8-sig"


def articles(random):
    """A shop's articles: EAN codes, prices with currency, per cent, sizes, names."""
    rows = [
        (
            f"40{random.integers(10**10, 10**11)}",
            f"article, {i}",
            f"${15 + 60 * g + random.normal(0, 4):.2f}",
            f"{random.integers(5, 20) + 30 * g}%",
            ["S", "M", "L", "XL"][random.integers(0, 4)],
            ["shirt", "shoe"][g],
            f"{random.integers(1_000, 9_000):,}",
        )
        for i, g in enumerate(GROUP)
    ]
    header = "ean_code,article,price,discount,size,category,stock"
    roles = ["id", "text", "number", "number", "ordered", "category", "number"]
    return header, rows, ",", roles, {"price", "discount", "size", "category", "stock"}, "utf-8"


def houses(random):
    """American: postal codes, thousands, yes and no, a year."""
    rows = [
        (
            f"{1 + i}",
            f"{random.integers(501, 99_950):05}",
            f"{200_000 + 400_000 * g + random.integers(-50_000, 50_000):,}",
            f"{random.integers(900, 1400) + 900 * g:,}",
            random.integers(1950, 2020),
            ["Y", "N"][random.integers(0, 2)],
        )
        for i, g in enumerate(GROUP)
    ]
    header = "id,zip,price,sqft,built,garage"
    return (
        header,
        rows,
        ",",
        ["id", "code", "number", "number", "number", "yes/no"],
        {"price", "sqft", "built", "garage"},
        "utf-8",
    )


def accounts(random):
    """Accountants' brackets, spaces between thousands, account numbers."""
    rows = [
        (
            f"DE{random.integers(10**17, 10**18)}",
            f"({random.integers(10, 99)}.50)" if g else f"{random.integers(2, 9)} 250.00",
            ["EUR", "CHF"][random.integers(0, 2)],
            random.integers(0, 30) + 40 * g,
        )
        for i, g in enumerate(GROUP)
    ]
    header = "iban|balance|currency|bookings"
    return header, rows, "|", ["id", "number", "category", "number"], {"balance", "currency", "bookings"}, "utf-8"


def expression(random):
    """R's table of genes in samples: a short header, many columns, annotation among them."""
    rows = [
        (f"s{i}", *np.round(random.normal(3 * g, 1, 6), 3), ["tumour", "normal"][g], f"batch{random.integers(0, 3)}")
        for i, g in enumerate(GROUP)
    ]
    header = "g1 g2 g3 g4 g5 g6 tissue batch"
    roles = ["id", *["number"] * 6, "category", "category"]
    return header, rows, " ", roles, {f"g{j}" for j in range(1, 7)} | {"tissue", "batch"}, "utf-8"


def staff(random):
    """Exported with an unnamed index, missing values in four spellings, booleans."""
    gaps = ["NA", "n/a", "NULL", "?"]
    rows = [
        (
            i,
            f"{random.integers(3_000, 4_000) + 3_000 * g}.00" if i not in (3, 9) else gaps[i % 4],
            random.integers(1, 10) + 10 * g if i != 4 else gaps[0],
            i % 3 == 0,
            ["sales", "lab", "it"][random.integers(0, 3)],
        )
        for i, g in enumerate(GROUP)
    ]
    return (
        ",salary,years,remote,team",
        rows,
        ",",
        ["id", "number", "number", "yes/no", "category"],
        {"salary", "years", "remote", "team"},
        "utf-16",
    )


def flights(random):
    """American dates, codes of airports, known classes that must not be clustered."""
    rows = [
        (
            f"{random.integers(1, 13)}/{random.integers(13, 29)}/2024",
            ["JFK", "LAX", "ORD"][random.integers(0, 3)],
            random.integers(10, 60) + 90 * g,
            f"{random.normal(500 + 900 * g, 60):.0f} ",
            ["delayed", "on time"][g],
            int(g),
        )
        for i, g in enumerate(GROUP)
    ]
    header = "date,airport_code,delay,miles,label,target"
    roles = ["date", "category", "number", "number", "category", "code"]
    return header, rows, ",", roles, {"airport_code", "delay", "miles"}, "utf-8"


TABLES = [customers, patients, sensors, survey, articles, houses, accounts, expression, staff, flights]


def written(make, folder):
    header, rows, delimiter, roles, used, encoding = make(np.random.default_rng(3))
    quoted = [[f'"{cell}"' if delimiter in str(cell) else str(cell) for cell in row] for row in rows]
    path = folder / f"{make.__name__}.csv"
    path.write_text("\n".join([header, *map(delimiter.join, quoted)]) + "\n", encoding=encoding)
    return path, roles, used, encoding


@pytest.mark.core(3)
@pytest.mark.parametrize("make", TABLES)
def test_every_column_is_read_right(make, tmp_path):
    path, roles, used, encoding = written(make, tmp_path)
    table = read_table(path, encoding=encoding if encoding == "cp1252" else None)
    assert dict(zip(table.names, roles, strict=True)) == table.roles
    features = table.features(impute="median")
    assert {use.column for use in features.columns if use.use.startswith("used")} == used
    assert len({use.column for use in features.columns}) == len(table.names)
    assert np.isfinite(features.X).all()
    model = KMeans(2, n_init=10, random_state=0).fit(table.features(impute="median", standardize=True).X)
    assert adjusted_rand_score(GROUP, model.labels_) > 0.5


@pytest.mark.parametrize("make", [customers, staff])
def test_in_the_shell(make, tmp_path):
    path, _, used, encoding = written(make, tmp_path)
    options = ["--encoding", encoding] if encoding == "cp1252" else ["--impute", "knn"]
    arguments = ["run", str(path), "-k", "2", "--partitions", "5", *options, "-o", str(tmp_path / "out")]
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 0, done.stderr
    columns = json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))["columns"]
    assert {column["column"] for column in columns if column["use"].startswith("used")} == used


@pytest.mark.parametrize(
    ("cells", "role"),
    [
        (["ab", "cd", "ef", "ab", "cd"], "text"),
        (["ab", "cd", "ef", "ab", "cd", "ef"], "category"),
        (["ab", "cd", "cd"], "category"),
    ],
)
def test_categories_come_again(cells, role):
    """At most half as many as cells, or two."""
    text = "name,x\n" + "".join(f"{cell},1.5\n" for cell in cells)
    assert read_table(text.encode(), name="t.csv").roles["name"] == role


def test_numbers_of_classes_may_be_missing():
    text = "type,x\n" + "".join(f"{'' if i == 3 else i % 3},{i}.5\n" for i in range(40))
    assert read_table(text.encode(), name="t.csv").roles["type"] == "code"


def test_the_cell_in_doubt_may_be_far_below():
    n = 1_100  # a sample has 1,000
    text = "x;y\n" + "".join(f"{'1,234' if i == n - 1 else 1};{i}\n" for i in range(n))
    assert any(
        "1,234 may be a thousand or a fraction" in note for note in read_table(text.encode(), name="t.csv").notes
    )
