"""What a column is for, by its values and its name; which columns of a table name the rows or are known classes.

Whole numbers that name the rows, such as account numbers, are found by their values.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.options import Message, Option, of_columns, suggestion
from ensemblage.base.text import some
from ensemblage.io._scaling import levels_of
from ensemblage.tables.column import DATE, Column, are_compact_dates, as_labels
from ensemblage.tables.numbers import is_gap, is_missing

if TYPE_CHECKING:
    from ensemblage.io._table import Table

FEATURE = "feature"
GIVEN = ("id", "number", "category", "ordered", FEATURE, "drop")
"""The roles that a user may give; "ordered:low<high" says the order too, "feature" that a column is used as found."""

ID_NAME = re.compile(
    r"(?i:(^|.*[\W_])(id|ids|uuid|guid|key|nr|no|rowid)|index|row|unnamed: ?0|row[ _]?(names?|numbers?|id))"
    r"|.*[a-z](ID|Id)"
)
ID_WORD = re.compile(
    r"(?i)(.*[\W_])?(account|acct|konto|customer|kunden?|client|patient|subject|participant|proband|case|fall|order|auftrag"
    r"|invoice|rechnung|ticket|mrn|ssn|ean|upc|gtin|isbn|imei|sku|user|member|mitglied|employee|personal|student|matrikel"
    r"|serial|barcode|specimen|sample|record|transaction|booking|contract|vertrag|policy|claim|device)"
    r"([\W_]?(code|key|ref|id))?|.+(number|nummer|nr)"
)
"""Names of ids; in the plural they count something."""
POSTAL_NAME = re.compile(r"(?i)(^|.*[\W_])(zip|zip_?code|plz|postleitzahl|post_?code|postal_?code|phone|telefon|iban)")
CODE_NAME = re.compile(
    r"(?i)(^|.*[\W_])(code|cluster|class|klasse|group|gruppe|label|category|kategorie|type|typ|region|status)([\W_]?id)?"
)
MOST_CODES = 50
"""A column whose name says code is one up to this many different whole numbers."""
MOST_CATEGORIES = 1_000
MOSTLY_EMPTY, FEW_ROWS = 0.9, 10
YES_NO = [{"yes", "no"}, {"y", "n"}, {"true", "false"}, {"t", "f"}, {"ja", "nein"}, {"wahr", "falsch"}, {"oui", "non"}]
YES_NO += [{"si", "no"}, {"sí", "no"}, {"on", "off"}]
SCALES = [
    ["very low", "low", "medium", "high", "very high"],
    ["low", "middle", "high"],
    ["low", "moderate", "high"],
    ["xxs", "xs", "s", "m", "l", "xl", "xxl", "xxxl"],
    ["small", "medium", "large", "extra large"],
    ["very poor", "poor", "fair", "good", "very good", "excellent"],
    ["never", "rarely", "sometimes", "often", "always"],
    ["strongly disagree", "disagree", "neutral", "agree", "strongly agree"],
    ["niedrig", "mittel", "hoch"],
    ["klein", "mittel", "groß"],
    ["nie", "selten", "manchmal", "oft", "immer"],
]
CLASSES_NAME = re.compile(
    r"(?i)((true|known|ground)[\W_]?)?(labels?|class(es)?|klassen?|clusters?|truth|target|outcomes?|diagnos[ie]s|diagnose|groups?|gruppen?|species|cultivar)([\W_]?id)?"
)
"""A category of such a name is what a partition is compared with: it is not used unless somebody says so."""


AS_SAID = "as you said"
ID_BY_NAME = "numbers that differ in every row, and its name"
OPEN_ENDS = "numbers with open ends"
MOST_OPEN = 20
"""Different values of a column of numbers with open ends."""
_WORD_FOR_LESS = r"(?:<=?|≤|less than|under|below|up to|bis|unter|weniger als)"
_WORD_FOR_MORE = r"(?:>=?|≥|more than|over|above|from|ab|über|mehr als)"
_MORE = r"(?:\+|(?:(?:or|and|oder|und) )?(?:more|over|above|older|up|mehr|älter|darüber)|\.\.\.|…)"
NUMERAL = r"\d+(?:[.,]\d+)?"
OPEN_END = re.compile(
    rf"(?i)(?P<below>{_WORD_FOR_LESS})\s*(?P<top>{NUMERAL})|(?P<above>{_WORD_FOR_MORE})\s*(?P<bottom>{NUMERAL})"
    rf"|(?P<low>{NUMERAL})\s*(?:-|–|to|bis)\s*(?P<high>{NUMERAL})|(?P<least>{NUMERAL})\s*{_MORE}|(?P<most>more|many|mehr|viele)"
)
"""What stands for several numbers at once: <5, 5more, 5+, over 60, 6-10, more."""


ENTITY_NAME = re.compile(
    r"(?i)(.*[\W_])?(customer|client|kunden?|kd|patient|subject|proband|participant|person|user|member|mitglied|account|acct"
    r"|konto|household|haushalt|student|matrikel|animal|tier|mrn|case|fall|employee|personal)"
    r"([\W_]?(id|ids|nr|no|number|nummer|num|code|name|key))?"
)
"""What a column is called that says whose row it is."""
LEAST_IDS, ROWS_OF_AN_ID = 10, (1.2, 10)
"""Different values of such a column, and rows of each on average, where persons or things have several rows."""


class Role(NamedTuple):
    name: str
    reason: str = ""
    """Why it has that role, if this is not obvious."""


def given_role(column: Column, given: str) -> Role:
    """The role that the user gave; of a feature what was found, but ids and text, which are numbers or categories."""
    if given != FEATURE:
        return Role(given, AS_SAID)
    found = role_of(column).name
    is_label = found in ("id", "text")
    return Role(("category" if column.numbers is None else "number") if is_label else found, AS_SAID)


def has_repeated_ids(column: Column, role: Role) -> bool:
    """Whether a column says whose row it is, and several rows are of the same person or thing."""
    name = column.name.strip()
    if role.reason == AS_SAID or not (ID_NAME.fullmatch(name) or ENTITY_NAME.fullmatch(name)):
        return False
    if column.numbers is not None and np.nan_to_num(column.numbers % 1).any():
        return False
    texts = [text for text in column.distinct[1] if not is_missing(text)]
    are_ids = len(texts) >= LEAST_IDS and sum(any(map(str.isdigit, text)) for text in texts) > len(texts) / 2
    return are_ids and ROWS_OF_AN_ID[0] <= column.n_filled / len(texts) <= ROWS_OF_AN_ID[1]


def is_given_role(role: str) -> bool:
    """Whether a user may give it: one of `GIVEN`, or "ordered:" and at least two categories with < between them."""
    word, colon, order = role.partition(":")
    return role in GIVEN or (word == "ordered" and bool(colon) and "<" in order)


def ordered_levels(column: Column, given: str, source: str) -> list[str]:
    """The categories of an ordered column, lowest first: as the user said, as the file says, by size, by a known scale.

    ``given`` is the user's role, "" where there is none; ``source`` is for messages.

    Raises
    ------
    ValueError
        If none of them says it.
    """
    levels = levels_of(column)
    said = [level.strip() for level in given.partition(":")[2].split("<")]
    scales = [said, *([column.categories] if column.categories else []), *SCALES]
    for scale in scales:
        places = {level.casefold(): place for place, level in enumerate(scale)}
        if all(level.casefold() in places for level in levels):
            return sorted(levels, key=lambda level: places[level.casefold()])
    if column.numbers is not None:
        return sorted(levels, key=lambda level: float(column.numeral(level).replace(column.decimal, ".")))
    if in_order := _open_levels(column):
        return in_order
    got = f"Got {', '.join(map(repr, levels[:4]))} in column {column.name!r} of {source}"
    order = Option("roles", {column.name: f"ordered:{'<'.join(levels[:4])}"})
    raise ValueError(Message(f"Ordered categories must have a known order. {got}. Name the order: ", order, "."))


def role_of(column: Column) -> Role:
    """The role of a column by its values and its name."""
    n, n_filled = len(column.values), column.n_filled
    if n >= FEW_ROWS and n_filled < (1 - MOSTLY_EMPTY) * n:
        return Role("mostly empty", f"{n_filled} of {n} cells hold something")
    if column.numbers is None and _open_levels(column):
        return Role("ordered", OPEN_ENDS)
    if column.has_units:
        return Role("number", "numbers in several units")
    are_classes = column.numbers is None and CLASSES_NAME.fullmatch(column.name.strip())
    if column.is_numeric and not are_classes and str(column.values.type) != "bool":
        return _role_of_numbers(column)
    texts = [text for text in column.distinct[1] if not is_missing(text)]
    if len(texts) == 1 and n_filled == n > 1:
        return Role("constant")
    if column.categories is not None and len(texts) > 1:
        return Role("ordered", "the order of its categories in the data")
    words = {text.casefold() for text in texts}
    if len(words) == 2 and any(words == pair for pair in YES_NO):
        return Role("yes/no")
    if all(DATE.fullmatch(text) for text in texts):
        return Role("date")
    if len(words) > 1 and any(words <= set(scale) for scale in SCALES):
        return Role("ordered")
    if len(texts) <= min(MOST_CATEGORIES, max(n_filled // 2, 2)) and len(texts) < n_filled:
        return Role("category")
    return Role("text")


def _open_levels(column: Column) -> list[str]:
    """The values of a column of few numbers and of what stands for several, by size; none of any other column."""
    if not column.is_text or len(column.distinct[1]) > MOST_OPEN:
        return []
    places = {text: _place_of(text) for text in column.distinct[1] if not is_gap(text)}
    are_numbers = [OPEN_END.fullmatch(text) is None for text in places]
    if None in places.values() or all(are_numbers) or not any(are_numbers) or len(places) == column.n_filled:
        return []
    return sorted(places, key=lambda text: places[text] or (0.0, 0))


def _place_of(text: str) -> tuple[float, int] | None:
    """The number, and whether less (−1) or more (1) than it is meant; None of what is neither number nor open end."""
    if re.fullmatch(NUMERAL, text):
        return _float(text), 0
    found = OPEN_END.fullmatch(text)
    if found is None:
        return None
    if found["most"]:
        return np.inf, 0
    if found["low"]:
        return (_float(found["low"]) + _float(found["high"])) / 2, 0
    return _float(found["top"] or found["bottom"] or found["least"]), -1 if found["below"] else 1


def _float(text: str) -> float:
    return float(text.replace(",", "."))


def _role_of_numbers(column: Column) -> Role:
    """Number, or an id or a code that is written as one."""
    values = column.numbers
    if values is None:
        return Role("number")
    first = values[:FEW_ROWS]
    if (first != first[0]).any() and (first != np.floor(first)).any() and not np.isnan(first).any():
        return Role("number")  # a fraction, and it varies
    missing = np.isnan(values)
    filled = values[~missing] if missing.any() else values
    if len(filled) == len(values) > 1 and filled.min() == filled.max():
        return Role("constant")
    if not (np.isfinite(filled).all() and (filled == np.floor(filled)).all()):
        return Role("number")
    if are_compact_dates(filled):
        return Role("date", "whole numbers that are dates")
    name = column.name.strip()
    is_id, is_postal, is_code = (bool(pattern.fullmatch(name)) for pattern in (ID_NAME, POSTAL_NAME, CODE_NAME))
    is_code = is_code or bool(CLASSES_NAME.fullmatch(name))
    if not (is_id or is_postal or is_code) and column.is_text and _has_leading_zeros(column):
        may_name = len(values) > 2 and column.differs_everywhere()
        return Role("id", "leading zeros, and it differs in every row") if may_name else Role("code", "leading zeros")
    may_be_id = len(filled) == len(values) and not is_postal and is_written_plainly(column)
    if may_be_id and (is_id or ID_WORD.fullmatch(name)) and len(np.unique(filled)) == len(values):
        return Role("id", ID_BY_NAME)
    if may_be_id and (reason := why_id(column, values)):
        return Role("id", reason)
    if not (is_id or is_postal or is_code):
        return Role("number", ALL_DIFFER if may_be_id and all_differ(values) else "")
    n_distinct = len(np.unique(filled))
    if is_id or is_postal or (n_distinct <= MOST_CODES and n_distinct < len(filled)):
        return Role("code", "whole numbers, and its name")
    return Role("number")


def is_written_plainly(column: Column) -> bool:
    """Whether no cell has a unit, per cent, a currency or marks between thousands, as measurements have."""
    import pyarrow.compute as pc

    if not column.is_text or column.read_again is not None:
        return True
    return bool(pc.all(pc.match_substring_regex(column.text, r"^\d+([.,]0*)?$")).as_py())


def _has_leading_zeros(column: Column) -> bool:
    import pyarrow.compute as pc

    return column.read_again is None and bool(pc.any(pc.match_substring_regex(column.text, r"^0\d+$")).as_py())


FEWEST_ROWS = 20
"""Of fewer rows whole numbers often differ, as steps of an experiment do."""
SURE, LIKELY = 16.0, 3.0
"""−ln of the chance that no two of so many whole numbers are equal, from which they are ids, and may be some."""
WINDOW = 10
"""Steps from a number to a later one, over which the density of the numbers is taken."""
LONG, RATHER_LONG = 11, 5
"""Digits that every one of them has: hardly a measurement is so precise, ids and time stamps are; most measurements of
fewer digits do not all have as many."""
EXACT = 2.0**53
"""Larger whole numbers are no longer exact as floats."""
SAMPLE = 1_000
NEARLY, FEW_EQUAL = 0.9, 0.2
"""Least share of different values, and most of the repetitions by chance, of numbers that nearly all differ."""
MOST_IDS = 3
"""Columns that are ids by their values: of more each is a number, such as a rank."""
PACKED = "whole numbers that differ in every row, although so many so close together would not by chance"
LONG_NUMBERS = "whole numbers of equally many digits that differ in every row"
BY_VALUES = (PACKED, LONG_NUMBERS)
ALL_DIFFER = "whole numbers that differ in every row, as many measurements do"
TOO_MANY_IDS = "whole numbers that differ in every row, as those of other columns do"
INCREASING = "whole numbers that increase with every row"


def why_id(column: Column, values: NDArray[np.float64]) -> str:
    """Why the whole numbers of a column name the rows, by their values alone; "" if they need not."""
    if values.min() < 0:
        return ""
    if len(values) >= FEWEST_ROWS and values.max() >= EXACT:
        return LONG_NUMBERS if _n_digits(values) >= LONG and column.differs_everywhere() else ""
    if not all_differ(values):
        return ""
    if surprise(values) >= SURE:
        return PACKED
    return LONG_NUMBERS if _n_digits(values) >= LONG else ""


def all_differ(values: NDArray[np.float64]) -> bool:
    """Whether whole numbers differ in every row of a table that is not small."""
    n = len(values)
    return n >= FEWEST_ROWS and _nearly_differ(values[:SAMPLE]) and len(np.unique(values)) == n


def why_perhaps_id(values: NDArray[np.float64], has_name: bool, n_columns: int = 1) -> str:
    """Why the whole numbers of a column that is no id may be ids; "" if nothing says so.

    ``has_name`` says that its name is that of an id; of ``n_columns`` columns of numbers one may differ by chance.
    """
    filled = values[~np.isnan(values)]
    n = len(filled)
    if n < FEWEST_ROWS or not _nearly_differ(filled[:SAMPLE]) or not _nearly_differ(filled) or filled.min() < 0:
        return ""
    n_equal, expected = n - len(np.unique(filled)), surprise(filled)
    if n_equal or n < len(values):
        few = expected >= SURE and n_equal <= FEW_EQUAL * expected
        return "whole numbers that nearly all differ, as ids do" if few or has_name else ""
    if (np.diff(filled) > 0).all():
        return INCREASING
    is_likely = expected >= LIKELY + np.log(n_columns) or _n_digits(filled) >= RATHER_LONG
    return "whole numbers that differ in every row" if is_likely else ""


def surprise(values: NDArray[np.float64]) -> float:
    """−ln of the chance that no two of so many whole numbers, spread as these different ones are, are equal.

    A number has as many neighbours within ``WINDOW`` steps as the density there says. If a share ρ of all possible
    numbers occurs, the chance that all differ falls by a factor of exp(1 + (1 − ρ) ln(1 − ρ) / ρ) with each number.
    Of sparse numbers it is about as many as pairs would be equal by chance.
    """
    numbers = np.unique(values)
    if len(numbers) < 2:
        return 0.0
    unit = np.gcd.reduce(np.diff(numbers).astype(np.int64))
    steps = min(WINDOW, len(numbers) - 1)
    share = steps / ((numbers[steps:] - numbers[:-steps]) / unit)
    rest = 1 - share
    fall = 1 + np.where(rest > 0, rest * np.log(np.where(rest > 0, rest, 1)), 0) / share
    return float(len(numbers) * fall.mean())


def _nearly_differ(values: NDArray[np.float64]) -> bool:
    return len(np.unique(values)) >= NEARLY * len(values)


def _n_digits(values: NDArray[np.float64]) -> int:
    """How many digits each of the numbers has; 0 if that differs."""
    digits = np.floor(np.log10(np.maximum(np.abs(values), 1))) + 1
    return int(digits[0]) if digits.min() == digits.max() else 0


def find_roles(table: Table) -> dict[str, Role]:
    """The role of each column; the id of the rows is the layout's, or the first that is one (see `row_names`)."""
    given = {name: role.partition(":")[0] for name, role in check_given(table).items()}
    roles = {c.name: given_role(c, given[c.name]) if c.name in given else role_of(c) for c in table.columns}
    by_values = [name for name, role in roles.items() if role.reason in BY_VALUES]
    if len(by_values) > MOST_IDS:
        roles |= dict.fromkeys(by_values, Role("number", TOO_MANY_IDS))
    named = row_names(roles)
    if table.index is not None and table.index not in given:
        roles[table.index] = Role("id", "row names")
    elif "id" not in given.values() and (named is None or named in by_values):
        first = table.columns[0]
        found = next((c for c in table.columns if roles[c.name].name == "text" and c.differs_everywhere()), None)
        if found is not None:
            roles[found.name] = Role("id", "text that differs in every row")
        elif named is None and first.name not in given and _counts_rows(first):
            roles[first.name] = Role("id", "which counts the rows")
    return roles


def row_names(roles: Mapping[str, Role], taken: Collection[str | None] = ()) -> str | None:
    """The first column that is an id, not among those taken; one by its values alone only where there is no other."""
    ids = [name for name, role in roles.items() if role.name == "id" and name not in taken]
    return next((name for name in ids if roles[name].reason not in BY_VALUES), ids[0] if ids else None)


def _counts_rows(column: Column) -> bool:
    values = column.numbers
    return values is not None and len(values) > 2 and values[0] in (0, 1) and bool(np.all(np.diff(values) == 1))


def check_given(table: Table) -> Mapping[str, str]:
    """The roles that the user gave."""
    for name, role in table.given_roles.items():
        check_column(table, "roles", name)
        if not is_given_role(role):
            got = f" must be one of {', '.join(GIVEN)}. Got {role!r} for {name!r}. Choose among these."
            raise ValueError(Message(Option("roles"), got))
    ids = [name for name, role in table.given_roles.items() if role == "id"]
    if len(ids) > 1:
        raise ValueError(f"One column must be the id. Got the role id for {ids[0]!r} and {ids[1]!r}. Drop one of them.")
    return table.given_roles


def check_column(table: Table, option: str, name: str | None) -> None:
    """A name that the user gave for this option is one of a column."""
    if name is None or name in table.names:
        return
    advice = suggestion(name, table.names) or f"Its columns are {some(table.names)}."
    raise ValueError(Message(Option(option), f" must name a column of {table.source}. Got {name!r}. {advice}"))


@dataclass(frozen=True)
class Roles:
    """The columns of a table by what they are for."""

    ids: list[str]
    """One per row: the cells of the id column, else the numbers of the file's rows from 1."""
    id_column: str | None
    truth: NDArray[np.object_] | None
    """(n,) class of each row as it stands in the file, None where it is missing."""
    rest: list[Column]
    notes: tuple[str, ...]


class Named(NamedTuple):
    """Which columns have which role."""

    id_column: str | None
    rest: list[Column]
    """Those that are no id and no known classes, and are not left out."""
    notes: tuple[str, ...]


def assign_roles(
    table: Table, id_column: str | None, truth_column: str | None, drop_columns: Sequence[str], *, guess_id: bool
) -> Roles:
    """Find the columns that the user named; an id that nobody named only where the layout or ``guess_id`` says so."""
    id_column, others, notes = name_columns(table, id_column, truth_column, drop_columns, guess_id=guess_id)
    if id_column is None:
        ids = list(map(str, range(1, len(table) + 1) if table.numbers is None else table.numbers.tolist()))
    else:
        ids = table[id_column].cells()
        check_ids(ids, id_column, table)
    truth = None if truth_column is None else _classes(table[truth_column])
    return Roles(ids, id_column, truth, others, notes)


def name_columns(
    table: Table, id_column: str | None, truth_column: str | None, drop_columns: Sequence[str], *, guess_id: bool
) -> Named:
    """`assign_roles` without a look at ids and classes themselves."""
    given = check_given(table)
    drop_columns = [*drop_columns, *(name for name, role in given.items() if role == "drop")]
    said = next((name for name, role in given.items() if role == "id"), None)
    if id_column is not None and said not in (None, id_column):
        both = Option("id_column", id_column), " and ", Option("roles", {str(said): "id"})
        raise ValueError(Message("One column must be the id. Got ", *both, ". Drop one of them."))
    id_column = said if id_column is None else id_column
    for option, name in [("id_column", id_column), ("truth_column", truth_column)]:
        check_column(table, option, name)
    for name in drop_columns:
        check_column(table, "drop_columns", name)
    taken = {truth_column, *drop_columns}
    if id_column in taken - {None}:
        got = f"Got {id_column!r} for "
        raise ValueError(
            Message(
                f"A column must have one role. {got}",
                Option("id_column"),
                " and another option. Use one of these options.",
            )
        )
    notes: tuple[str, ...] = ()
    if id_column is None:
        id_column, notes = _find_id(table, taken, guess_id)
    rest = [c for c in table.columns if c.name not in taken | {id_column, table.index}]
    return Named(id_column, rest, notes)


def _find_id(table: Table, taken: set[str | None], guess: bool) -> tuple[str | None, tuple[str, ...]]:
    if table.index is not None and table.index not in taken:
        return table.index, (f"id: the {table.index}",)
    if not guess:
        return None, ()
    name = row_names(table.found_roles, taken)
    if name is None:
        return None, ("id: no column, the rows are numbered from 1",)
    said, reason = f"id: column {name!r}, {table.found_roles[name].reason}", table.found_roles[name].reason
    other = (" (else: ", of_columns("roles", {name: "number"}), ")") if reason in BY_VALUES else ()
    return name, (Message(said, *other),)


def check_ids(ids: list[str], name: str, table: Table) -> None:
    """Refuse ids, (n,) cells of a column of this name, that are empty, or that two rows have."""
    row_of: dict[str, int] = {}
    for row, cell in enumerate(ids):
        other = row_of.setdefault(cell, row)
        if not cell or other != row:
            raise ids_must_differ(table, name, cell, other, row)


def ids_must_differ(table: Table, name: str, cell: str, first: int, second: int) -> ValueError:
    """The error for an empty id, or an id of two rows."""
    got = f"{cell!r} in {table.where(first)} and {table.where(second)}" if cell else f"none in {table.where(second)}"
    rule, other_id = f"The ids of {table.source} ({name}) must differ.", Option("roles", {"NAME": "id"})
    return ValueError(Message(f"{rule} Got {got}. Correct it, or name another column: ", other_id, "."))


def _classes(column: Column) -> NDArray[np.object_]:
    classes = as_labels(column)
    if not any(classes):
        raise ValueError(f"The truth column {column.name!r} must hold classes. It is empty. Name another column.")
    return classes
