"""What of a table probably makes a wrong answer: found before anything is clustered, and reported first.

A check is a function of what `alerts` is given, listed in `CHECKS`. What a user said settles it: a role that was given,
codes that were named.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.options import Alert, Message, Option, of_columns
from ensemblage.base.text import some
from ensemblage.base.validation import n_distinct_rows
from ensemblage.io._missing import SHOWN, alerts_of_codes
from ensemblage.io._roles import (
    AS_SAID,
    ID_WORD,
    INCREASING,
    MOST_IDS,
    SAMPLE,
    has_repeated_ids,
    is_written_plainly,
    why_perhaps_id,
)

if TYPE_CHECKING:
    from ensemblage.io._cells import Cells
    from ensemblage.io._encoding import Encoded
    from ensemblage.io._table import Table

NAMES = "obs_names"
"""What the row names of AnnData are called."""


TOTAL = re.compile(
    r"(?i)((grand |sub-?)?totals?|sum|(zwischen)?summe|gesamt(summe)?|suma"
    r"|(?P<mean>mean|average|mittelwert|durchschnitt))( \w{1,3})?"
)
MOST_TOTALS = 0.2
"""Share of the rows that can be sums of others."""
GENE_NAME = re.compile(
    r"(?i)(gene|transcript|probe|probeset)([ _]?(id|name|symbol))?s?|symbol|hgnc|ensembl|ensg|id_ref"
)
GENE_ID = re.compile(r"ENS[A-Z]{0,4}[GT]\d{6,}(\.\d+)?|\d+(_[asxfi])?_at")
GENES = "rows that look like genes"
LEAST_COUNTED, LEAST_ZEROS, LARGE_COUNT, TENFOLD = 20, 0.2, 20, 10
"""Columns of a matrix of counts, its share of zeros, its largest count, and by how much the sums of its rows differ."""
MANY_VALUES, MOST_COMPARED = 20, 200_000
"""Different values of a column of measurements, of which copies are no matter of course; rows that are compared."""
CONSTANTS, MANY_FILLED, LEAST_FILLED = "gaps filled with constants", 0.1, 10
"""An alert, and the share of a column and the cells from which it is one."""
FEWEST_CODED, MOST_CODED = 20, 100
"""Rows, and different numbers, of codes."""
FEWEST_LEAPING = 12
"""More numbers than usual scales have."""
CATEGORY_WORD = re.compile(
    r"(?i)(.*[\W_])?(sex|gender|geschlecht|segment|country|land|nation|nationality|state|bundesland|kanton|canton|province"
    r"|provinz|zone|district|bezirk|race|ethnicity|religion|language|sprache|marital|marital[\W_]?status|familienstand"
    r"|occupation|beruf|job|profession|industry|sector|department|abteilung|store|shop|filiale|brand|marke|channel"
    r"|kanal|team)([\W_]?(no|nr|num|key))?|city|stadt"
)
"""Names of what is no number, though it may be numbered."""
KNN_ROWS = 20_000
"""Rows up to which gaps can be filled from the nearest ones in reasonable time."""


def alerts(table: Table, used: Sequence[Encoded], cells: Cells, impute: str | None = None) -> tuple[Alert, ...]:
    """What is alarming in a table as it was read, in the columns that are clustered, and in their ``cells``.

    ``impute`` is the rule that fills these. Tables on disk hold one column at a time: a check reads few of them.
    """
    sums = tuple(_rows_of_sums(table, used, cells))
    found = [alert for check in CHECKS for alert in check(table, used, cells)]
    # A sum at the end would hide what is far from all other values.
    above = slice(None, -1 if sums else None)
    codes = alerts_of_codes((name, values[above]) for name, values in _numbers(used, cells))
    return (*sums, *found, *codes, *_constants(used, cells, impute))


def _numbers(used: Sequence[Encoded], cells: Cells) -> Iterator[tuple[str, NDArray[Any]]]:
    """By their names the columns that are clustered as numbers, NaN where one is missing."""
    features = [column for column in used if column.kind != "member"]
    for place, j in enumerate(cells.of):
        if features[j].kind == "number":
            yield cells.names[place], cells.column(place)


def _rows_of_sums(table: Table, used: Sequence[Encoded], cells: Cells) -> Iterator[Alert]:
    """A last row that adds up the others, or rows that say so."""
    n_sums = n_filled = 0
    for _, values in _numbers(used, cells):
        last, total = float(values[-1]), float(np.nansum(values[:-1]))
        if math.isnan(last) or len(values) < 4:
            continue
        n_filled += 1
        n_sums += math.isclose(total, last, rel_tol=1e-6) and abs(last) > np.nanmax(np.abs(values[:-1]), initial=0)
    roles = table.roles
    named = next((name for name in table.names if roles[name] in ("id", "text", "category")), None)
    codes, texts = (np.empty(0, np.int32), list[str]()) if named is None else table[named].distinct
    found = {place: word for place, text in enumerate(texts) if (word := TOTAL.fullmatch(text.strip()))}
    rows = np.flatnonzero(np.isin(codes, list(found)))
    if n_sums and 2 * n_sums > n_filled and len(rows) < 2:
        numbers = "number is the sum" if n_sums == 1 else f"{n_sums:,} numbers are the sums"
        where = table.where(len(table) - 1)
        yield Alert("a row of sums", where, f"its {numbers} of those above", Message("Delete that row."))
    elif 0 < len(rows) <= max(1, MOST_TOTALS * len(table)):
        what = "means" if all(word["mean"] for word in found.values()) else "sums"
        is_one, more = len(rows) == 1, f" and {len(rows) - 1:,} more"
        where = table.where(rows[0]) + ("" if is_one else more)
        why = f"{texts[codes[rows[0]]]!r} stands in {'its' if is_one else 'the'} column {named!r}"
        cure = Message("Delete that row." if is_one else "Delete these rows.")
        yield Alert(f"a row of {what}" if is_one else f"rows of {what}", where, why, cure)


def _rows_without_values(table: Table, used: Sequence[Encoded], cells: Cells) -> Iterator[Alert]:
    """Rows with an id and nothing else: what is filled in makes them equal."""
    if not cells.of or any(column.kind == "member" for column in used) or not cells.n_missing.all():
        return
    empty = np.ones(len(cells), dtype=bool)
    for place in range(len(cells.of)):
        empty &= np.isnan(cells.column(place))
        if not empty.any():
            return
    rows = np.flatnonzero(empty)
    where = f"{len(rows):,} rows, the first {table.where(rows[0])}" if len(rows) > 1 else table.where(rows[0])
    why = "what is filled in makes them equal, as if they were a cluster" if len(rows) > 1 else "all is filled in"
    cure = Message("Leave them out with " if len(rows) > 1 else "Leave it out with ", Option("impute", "drop"), ".")
    yield Alert("rows without values", where, why, cure)


def _copies(table: Table, used: Sequence[Encoded], cells: Cells) -> Iterator[Alert]:
    """Rows of measurements more than half of which are copies of others."""
    n, half = len(cells.X), -(-len(cells.X) // 2)
    if not cells.of or n > MOST_COMPARED or n_distinct_rows(cells.X, half) >= half:
        return
    few = cells.X[:: max(1, n // 10_000)]
    measured = [place for place, _ in enumerate(cells.of) if len(np.unique(few[:, place])) > MANY_VALUES]
    if 2 * len(measured) > len(cells.of):
        n_distinct = n_distinct_rows(cells.X, n)
        where = f"{n - n_distinct:,} of {n:,} rows"
        cure = Message("If they were repeated by mistake, keep one of each.")
        yield Alert("copies", where, "each equal to another one in all columns that are clustered", cure)


def _repeated_ids(table: Table, used: Sequence[Encoded], cells: Cells) -> Iterator[Alert]:
    """Several rows of the same person or thing."""
    for name, role in table.found_roles.items():
        if role.name in ("number", "code", "category", "text") and has_repeated_ids(table[name], role):
            n_rows, n_ids = table[name].n_filled, len(table[name].distinct[1])
            why = f"{n_rows:,} rows have {n_ids:,} different ids, so that they are not independent"
            left = of_columns("roles", {name: "drop"})
            cure = Message("Make one row of each id, such as its means; or, if it does not matter, add ", left, ".")
            yield Alert("repeated ids", f"column {name!r}", why, cure)


def _genes_in_rows(table: Table, used: Sequence[Encoded], cells: Cells) -> Iterator[Alert]:
    """Variables in rows, as genes are in tables of expression."""
    first = table.columns[0]
    role = table.found_roles[first.name]
    if table.unit == "column" or role.reason == AS_SAID or role.name not in ("id", "text", "code", "category"):
        return
    some_ids = [text for text in first.text[:50].to_pylist() if text]
    is_gene = GENE_NAME.fullmatch(first.name.strip()) or (
        len(some_ids) > 2 and all(GENE_ID.fullmatch(text) for text in some_ids)
    )
    if is_gene and sum(1 for _ in _numbers(used, cells)) > 1:
        cure = "If the objects are the columns, add ", Option("transpose", True), "; if they are the rows, add "
        said = of_columns("roles", {first.name: "id"}), "."
        yield Alert(GENES, f"column {first.name!r}", "its rows are clustered", Message(*cure, *said))


def _counts(table: Table, used: Sequence[Encoded], cells: Cells) -> Iterator[Alert]:
    """Raw counts, which differ most in how many there are of each object."""
    n, m = cells.X.shape
    if m < LEAST_COUNTED or not n or cells.X.max() < LARGE_COUNT or any(column.kind != "number" for column in used):
        return
    sums, n_zeros = np.zeros(n), 0
    for column in cells.X.T:
        if not (column.min() >= 0 and (column == np.floor(column)).all()):
            return
        sums += column
        n_zeros += n - int(np.count_nonzero(column))
    sums = sums[sums > 0]
    if len(sums) and n_zeros >= LEAST_ZEROS * n * m and sums.max() >= TENFOLD * sums.min():
        cells_say = "sc.pp.normalize_total(adata); sc.pp.log1p(adata)"
        cure = f"Normalise them first: {cells_say}." if table.index == NAMES else "Divide each row by its sum first."
        why = (
            f"their sums differ from {sums.min():,.0f} to {sums.max():,.0f} between rows, which outweighs what differs"
        )
        yield Alert("raw counts", f"{m:,} columns", why, Message(cure))


def _perhaps_ids(table: Table, used: Sequence[Encoded], cells: Cells) -> Iterator[Alert]:
    """Whole numbers that may name the rows."""
    found = dict[str, list[str]]()
    n_columns = sum(column.kind == "number" for column in used)
    has_id = any(role.name == "id" for role in table.found_roles.values())
    for name, values in _whole_numbers(table, used, cells):
        why = why_perhaps_id(values, bool(ID_WORD.fullmatch(name.strip())), n_columns)
        # Beside years, say, much grows.
        if why and not (why == INCREASING and has_id) and is_written_plainly(table[name]):
            found.setdefault(why, []).append(name)
    names = [name for each in found.values() for name in each]
    if len(names) > MOST_IDS:
        found = {"whole numbers that (nearly) all differ, as ids do, and ranks": names}
    for why, each in found.items():
        given = [of_columns("roles", {each[0]: role}) for role in ("drop", "number")]
        cure = Message("If they name the rows, add ", given[0], ", else ", given[1], ".")
        yield Alert("perhaps ids", _columns(each), why, cure)


def _perhaps_categories(table: Table, used: Sequence[Encoded], cells: Cells) -> Iterator[Alert]:
    """A few whole numbers that may be codes of categories."""
    names = [name for name, values in _whole_numbers(table, used, cells) if _may_be_codes(name.strip(), values)]
    if names:
        given = [of_columns("roles", dict.fromkeys(names[:SHOWN], role)) for role in ("category", "number")]
        cure = Message("If they are codes of categories, add ", given[0], ", else ", given[1], ".")
        yield Alert("perhaps categories", _columns(names), "few whole numbers", cure)


def _may_be_codes(name: str, values: NDArray[Any]) -> bool:
    """Whether few whole numbers, not 0 and 1, have a name of categories, or counts that leap up and down.

    Of what has an order neighbours are alike, or rise and fall a few times. Here most neighbours from 1 to many differ
    beyond chance, by turns up and down.
    """
    has_word = bool(CATEGORY_WORD.fullmatch(name))
    low, high = np.nanmin(values), np.nanmax(values)
    if len(values) < FEWEST_CODED or high - low > 10 * MOST_CODED or (not has_word and low != 1):
        return False
    levels, counts = np.unique(values[~np.isnan(values)], return_counts=True)
    if has_word or len(levels) < FEWEST_LEAPING or high > 1.2 * len(levels):
        return has_word and 2 <= len(levels) <= min(MOST_CODED, len(values) / 2) and (low, high) != (0, 1)
    steps = np.diff(counts) / np.sqrt(counts[1:] + counts[:-1])
    signs = np.sign(steps[np.abs(steps) > 2])
    return len(levels) <= MOST_CODED and bool(np.count_nonzero(np.diff(signs)) >= len(levels) / 3)


def _whole_numbers(table: Table, used: Sequence[Encoded], cells: Cells) -> Iterator[tuple[str, NDArray[Any]]]:
    """By their names the columns of whole numbers, unless the user gave their role."""
    for name, values in _numbers(used, cells):
        if table.found_roles[name].reason != AS_SAID and _are_whole(values[:SAMPLE]) and _are_whole(values):
            yield name, values


def _are_whole(values: NDArray[Any]) -> bool:
    return bool(((values == np.floor(values)) | np.isnan(values)).all())


def _columns(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else ""
    return f"column{'s' * (len(names) > 1)} {', '.join(map(repr, names[:SHOWN]))}{more}"


def _constants(used: Sequence[Encoded], cells: Cells, impute: str | None) -> Iterator[Alert]:
    """Many gaps that were filled with one number each: what has it looks alike."""
    if impute not in ("median", "mean", "most-frequent") or not len(cells):
        return
    features = [column for column in used if column.kind != "member"]
    shares = {
        features[j].name: float(gaps) / len(cells)
        for j, gaps in zip(cells.of, cells.n_missing, strict=True)
        if gaps >= LEAST_FILLED and gaps > MANY_FILLED * len(cells) and features[j].kind != "category"
    }
    if shares:
        where = some((f"{share:.0%} of {name!r}" for name, share in shares.items()), 3)
        left = of_columns("roles", dict.fromkeys(shares, "drop"))
        cure = ("Use ", Option("impute", "knn")) if fills_by_rows(cells) else ("Leave them out: ", left)
        yield Alert(CONSTANTS, where, "equal cells that can make clusters of their own", Message(*cure, "."))


def fills_by_rows(cells: Cells) -> bool:
    """Whether gaps can be filled from the nearest rows: those in memory, and not too many."""
    return 0 < len(cells.X) <= KNN_ROWS


def has_many_gaps(cells: Cells) -> bool:
    """Whether a constant for the gaps of a column could make a cluster."""
    return int(cells.n_missing.max(initial=0)) >= max(LEAST_FILLED, MANY_FILLED * len(cells))


CHECKS = (
    _rows_without_values,
    _copies,
    _repeated_ids,
    _genes_in_rows,
    _counts,
    _perhaps_ids,
    _perhaps_categories,
)
"""In the order in which they are reported."""
