"""What of a table probably makes a wrong answer: found before anything is clustered, and told first.

A check is a function of what `alerts` is given, listed in `CHECKS`. What a user said settles it: a role that was given,
codes that were named.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.options import Alert, Message, of_columns
from ensemblage.io._column_role import AS_SAID, ID_WORD, is_written_plainly
from ensemblage.io._missing import SHOWN, alerts_of_codes
from ensemblage.io._row_numbers import INCREASING, MOST_IDS, SAMPLE, why_perhaps_id

if TYPE_CHECKING:
    from ensemblage.io._encoding import Cells, Encoded
    from ensemblage.io._table import Table


def alerts(table: Table, used: Sequence[Encoded], cells: Cells) -> tuple[Alert, ...]:
    """What is alarming in a table as it was read, in the columns that are clustered, and in their ``cells``.

    Nothing is read of a column that is not asked for: tables on disk hold one column at a time.
    """
    return tuple(alert for check in CHECKS for alert in check(table, used, cells))


def _numbers(used: Sequence[Encoded], cells: Cells) -> Iterator[tuple[str, NDArray[Any]]]:
    """By their names the columns that are clustered as numbers, NaN where one is missing."""
    features = [column for column in used if column.kind != "member"]
    for place, j in enumerate(cells.of):
        if features[j].kind == "number":
            yield cells.names[place], cells.column(place)


def _codes(table: Table, used: Sequence[Encoded], cells: Cells) -> Iterator[Alert]:
    """Numbers that may mean missing."""
    return alerts_of_codes(_numbers(used, cells))


def _row_of_sums(table: Table, used: Sequence[Encoded], cells: Cells) -> Iterator[Alert]:
    """A last row that adds up the others."""
    n_sums = n_filled = 0
    for _, values in _numbers(used, cells):
        above, last = values[:-1][~np.isnan(values[:-1])], values[-1]
        if len(above) < 2 or np.isnan(last) or not above.any():
            continue
        n_filled += 1
        n_sums += bool(np.isclose(above.sum(), last, rtol=1e-6, atol=0))
    if n_sums and 2 * n_sums > n_filled:
        numbers = "number is the sum" if n_sums == 1 else f"{n_sums:,} numbers are the sums"
        where = table.where(len(table) - 1)
        yield Alert("a row of sums", where, f"its {numbers} of those above", Message("Delete that row."))


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
        given = [of_columns("roles", {names[0]: role}) for role in ("category", "number")]
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


FEWEST_CODED, MOST_CODED = 20, 100
"""Rows, and different numbers, of codes."""
FEWEST_LEAPING = 12
"""More numbers than usual scales have."""
CATEGORY_WORD = re.compile(
    r"(?i)(.*[\W_])?(sex|gender|geschlecht|segment|country|land|nation|nationality|state|bundesland|kanton|canton|province"
    r"|provinz|zone|district|bezirk|race|ethnicity|religion|language|sprache|marital|marital[\W_]?status|familienstand"
    r"|occupation|beruf|job|profession|industry|branche|sector|department|abteilung|store|shop|filiale|brand|marke|channel"
    r"|kanal|team)([\W_]?(no|nr|num|key))?|city|stadt"
)
"""Names of what is no number, though it may be numbered."""
CHECKS = (_row_of_sums, _perhaps_ids, _codes, _perhaps_categories)
"""In the order in which they are told."""
