"""What a column is for, by its values and its name.

Whole numbers that name the rows, such as account numbers, are found by their values.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.options import Message, Option
from ensemblage.io._scaling import levels_of
from ensemblage.tables.column import DATE, Column, are_compact_dates
from ensemblage.tables.numbers import is_gap, is_missing

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
"""A category of such a name is what a clustering is compared with: it is not used unless somebody says so."""


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
    if column.is_numeric and not are_classes and not _is_truth_value(column):
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


def _is_truth_value(column: Column) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_boolean(column.values.type))


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
