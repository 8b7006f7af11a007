"""From the columns of a table to a matrix of numbers: what is used and how, missing values, scale."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.options import Alert, Message, Option, of_columns
from ensemblage.base.text import some
from ensemblage.base.validation import Words
from ensemblage.io._alerts import alerts, fills_by_rows, has_many_gaps
from ensemblage.io._cells import Cells, cells_in_memory
from ensemblage.io._feature_sources import FeatureSource, MemoryFeatures, StoredFeatures
from ensemblage.io._roles import (
    ALL_DIFFER,
    AS_SAID,
    CLASSES_NAME,
    FEATURE,
    MOST_CATEGORIES,
    MOST_IDS,
    OPEN_ENDS,
    Role,
    Roles,
    has_repeated_ids,
    ordered_levels,
    role_of,
)
from ensemblage.io._scaling import (
    BLOCKS,
    Options,
    check_sizes,
    fitted_steps,
    level_codes,
    levels_of,
    n_indicators,
    scaling_note,
    transformer_of,
)
from ensemblage.tables.column import Column, date_parts

if TYPE_CHECKING:
    from ensemblage.io._table import Table

SHOWN = 20
"""How many names of columns a note lists."""
MOST_BYTES = 4 * 10**9
"""Of the encoded matrix."""
MOST_MARKS = 5
"""Different texts in a column of numbers that may all be marks of missing values."""
IMPUTATIONS = ("median", "mean", "most-frequent", "knn")
FEW_GAPS = 0.05
"""Largest share of the cells of each column that is filled where nothing says how."""
GAPS, MOSTLY_GAPS = "mostly gaps", 0.5
"""What is said of a column with a larger share of missing cells, whatever is done about them."""
IMPUTE = Words(IMPUTATIONS, refused={"drop": "A transformer keeps all rows."})
"""What a parameter of that name may be, beside None."""
CATEGORIES = ("encode", "member", "drop")
PARTS = ("year", "month", "weekday", "hour")
"""Of a date; the last where there are times."""
DATES = ("drop", "days", "parts")
KNOWN_CLASSES = "its name says known classes"


class ColumnUse(NamedTuple):
    """How one column of a table was used."""

    column: str
    role: str
    reason: str
    """Why it has that role, if this is not obvious."""
    use: str


@dataclass(frozen=True)
class Encoded:
    """How a column becomes numbers."""

    name: str
    kind: str
    """ "number", "ordered", "days", "parts", "category" or "member"."""
    levels: tuple[str, ...] = ()
    """Of "ordered", "category" and "member"."""
    with_hour: bool = False
    """Of "parts"."""

    def values(self, table: Table) -> dict[str, NDArray[np.float64]]:
        """By its name in messages, (n,) numbers or places among the levels; NaN where a cell is missing."""
        column = table[self.name]
        if self.kind == "number":
            _check_numbers(column, table)
            return {self.name: column.numbers}  # type: ignore[dict-item]  # checked
        if self.kind == "days":
            return {self.name: table.dates(self.name).days}
        if self.kind == "parts":
            parts = date_parts(table.dates(self.name), self.with_hour)
            return {f"{self.name}.{part}": values for part, values in parts.items()}
        codes = level_codes(column, self.levels)
        if self.kind == "ordered":  # of one that was not seen nothing is known
            codes[codes == len(self.levels)] = np.nan
        return {self.name: codes}

    def names(self) -> list[str]:
        """Of the features."""
        if self.kind == "category":
            levels = self.levels[-1:] if n_indicators(len(self.levels)) == 1 else self.levels
            return [f"{self.name}={level}" for level in levels]
        if self.kind == "parts":
            return [f"{self.name}.{part}" for part in PARTS[: 3 + self.with_hour]]
        return [self.name]

    def use(self) -> str:
        """What was done, in words."""
        if self.kind in ("category", "member", "ordered"):
            kind = {"category": "indicators", "member": "member of the ensemble", "ordered": "rank"}[self.kind]
            return f"used: {kind} of {len(self.levels)} categories"
        if self.kind == "parts":
            return f"used: {', '.join(PARTS[: 3 + self.with_hour])}"
        return {"number": "used", "days": "used: number of days"}[self.kind]


@dataclass(frozen=True)
class Encoding:
    """How the columns of one table become numbers, and those of another table of such columns."""

    columns: list[Encoded]
    uses: list[ColumnUse]
    notes: tuple[str, ...]
    transformer: Any
    """Fitted ColumnTransformer from `Cells` to features; None if all columns are members."""
    options: Options
    set_aside: tuple[str, ...] = ()
    """What is reported first: which columns are known classes by their names."""
    alerts: tuple[Alert, ...] = ()
    """What of the table probably makes a wrong answer."""
    fills_few: bool = False
    """Whether missing numbers are filled, few as they were, though nothing said how."""

    @property
    def fills(self) -> bool:
        """Whether a missing number of another table is filled."""
        return self.options.impute is not None or self.fills_few

    @property
    def names(self) -> list[str]:
        """(m,) of the features."""
        blocks = _blocks([c for c in self.columns if c.kind != "member"])
        return [name for block in blocks.values() for column in block for name in column.names()]

    def in_python(self) -> Encoding:
        """The same with what is reported as plain text."""
        noted: Any = {name: tuple(map(str, getattr(self, name))) for name in ("notes", "set_aside")}
        return replace(self, **noted, alerts=())

    def transform(self, table: Table) -> NDArray[np.float64]:
        """(n, m) features."""
        if self.transformer is None:
            return np.empty((len(table), 0))
        cells = cells_in_memory(self.columns, table)
        _check_complete(cells, self.columns, table, "median" if self.fills_few else self.options.impute)
        check_sizes(*cells.bounds, cells.names)
        return np.ascontiguousarray(self.transformer.transform(cells.X))

    def members(self, table: Table) -> dict[str, NDArray[np.int32]]:
        """(n,) label of each object in the categories that are members, −1 where it has none."""
        members = [column for column in self.columns if column.kind == "member"]
        codes = {c.name: (c.values(table)[c.name], len(c.levels)) for c in members}
        return {name: np.where(values < q, values, -1).astype(np.int32) for name, (values, q) in codes.items()}


def fit_encoding(
    table: Table,
    columns: Sequence[Column],
    options: Options,
    by_distance: bool = False,
    cells_of: Callable[[Sequence[Encoded], Any], Cells] = cells_in_memory,
) -> tuple[Encoding, FeatureSource]:
    """Decide what is done with each of these columns; the features of the table, where ``cells_of`` puts the cells.

    Raises
    ------
    ValueError
        If nothing is left, if text stands among numbers, if a value is missing and nothing says what to do.
    """
    planned = plan_columns(table, columns, options)
    used = [encoded for encoded in planned.values() if isinstance(encoded, Encoded)]
    cells, used = _varying(used, cells_of(used, table))
    uses, notes, set_aside = _uses(planned, used, table.found_roles)
    if not used:
        kind = "numbers that vary" if any(c.is_numeric for c in columns) else "numbers or categories"
        got = f"{table.source} must have a column of {kind} beside its id and its truth. It has none"
        role = "category" if any(table.found_roles[c.name].name == "text" for c in columns) else "number"
        raise ValueError(Message(f"{got}. Give a column a role: ", of_columns("roles", {"NAME": role}), "."))
    notes += [note for c in used if c.kind in ("days", "parts") for note in table.dates(c.name).notes]
    notes += _notes_of_units([table[column.name] for column in used if column.kind == "number"])
    notes += _notes_of_spellings(used)
    notes += _notes_of_differing([c.name for c in used if table.found_roles[c.name].reason == ALL_DIFFER])
    features = [column for column in used if column.kind != "member"]
    found = alerts(table, used, cells, None if by_distance else options.impute)
    fills_few = options.impute is None and _has_few_gaps(cells, used)
    mostly = mostly_gaps(cells, features)
    gaps = notes_of_gaps(mostly)
    filled = _note_of_few_gaps(cells, used) if fills_few else _check_complete(cells, used, table, options.impute, gaps)
    notes += gaps
    without = "Gower's distances do without missing values; for pictures alone: "
    notes += [f"{without}{note}" for note in filled] if by_distance else filled
    if not features:
        none = MemoryFeatures(np.empty((len(table), 0)))
        return Encoding(used, uses, tuple(notes), None, options, set_aside, found), none
    _check_size(cells, features, table.source)
    parts = [j for j in cells.of if features[j].kind == "parts"]
    n_parts = len(parts) // len(set(parts)) if parts else 1
    transformer = transformer_of([features[j].kind for j in cells.of], options, n_parts, fills_few)
    check_sizes(*cells.bounds, cells.names)
    X = cells.fit(transformer, sum(len(column.names()) for column in features))
    notes += filter(None, [scaling_note(transformer, cells.names)]) if options.standardize else []
    uses = _uses_with_gaps(uses, cells, features, transformer, mostly)
    return Encoding(used, uses, tuple(notes), transformer, options, set_aside, found, fills_few), X


def _missing_numbers(cells: Cells, columns: Sequence[Encoded]) -> NDArray[np.int64]:
    """(c,) missing cells of each of the cells' columns; 0 of categories, which lie at the mean."""
    features = [column for column in columns if column.kind != "member"]
    is_category = np.array([features[j].kind == "category" for j in cells.of], dtype=bool)
    return np.where(is_category, 0, cells.n_missing)


def mostly_gaps(cells: Cells, features: Sequence[Encoded]) -> dict[str, float]:
    """By its name the share of missing cells of each column that has more than `MOSTLY_GAPS`."""
    n = max(1, len(cells))
    shares = {features[j].name: float(gaps) / n for j, gaps in zip(cells.of, cells.n_missing, strict=True)}
    return {name: share for name, share in shares.items() if share > MOSTLY_GAPS}


def notes_of_gaps(shares: Mapping[str, float]) -> list[Message]:
    """What is reported of columns that are mostly gaps, and how they are left out."""
    if not shares:
        return []
    named = [f"{name} ({share:.0%} missing)" for name, share in shares.items()]
    them = "it" if len(shares) == 1 else "them"
    left = of_columns("roles", dict.fromkeys(shares, "drop"))
    return [Message(f"{GAPS}: {shorten(named)}; to leave {them} out: ", left)]


def said_of_gaps(notes: Sequence[Message]) -> list[str | Option]:
    """The same as sentences at the end of an error."""
    return [piece for note in notes for piece in (" Some columns are ", *note.pieces, ".")]


def _has_few_gaps(cells: Cells, columns: Sequence[Encoded]) -> bool:
    """Whether numbers are missing, and of no column more than `FEW_GAPS`."""
    counts = _missing_numbers(cells, columns)
    return bool(counts.any()) and bool((counts <= FEW_GAPS * len(cells)).all())


def _note_of_few_gaps(cells: Cells, columns: Sequence[Encoded]) -> list[Message]:
    """The note on few gaps that were filled by default."""
    counts = _missing_numbers(cells, columns)
    n_columns, n_rows = int((counts > 0).sum()), len(cells.rows_with_gaps(np.flatnonzero(counts)))
    total = int(counts.sum())
    missing = f"{total:,} missing value{'s' * (total != 1)}"
    place = f"{n_columns:,} column{'s' * (n_columns != 1)} and {n_rows:,} row{'s' * (n_rows != 1)}"
    rule = "each with the median (ordered: the most frequent) of its column"
    said = f"filled: {missing} in {place}, at most {FEW_GAPS:.0%} of a column, {rule}"
    n_categories = int(cells.n_missing.sum()) - total
    notes = [Message(f"{said} (else: ", Option("impute", "drop"), ")")]
    return notes + [Message(f"missing categories: {n_categories}, count as the mean of all")] * (n_categories > 0)


def _uses_with_gaps(
    uses: Sequence[ColumnUse],
    cells: Cells,
    features: Sequence[Encoded],
    transformer: Any,
    mostly: Mapping[str, float],
) -> list[ColumnUse]:
    """What was done with each column, with how many of its cells were filled, by which number, and if it is mostly
    gaps.
    """
    fills = _fills(transformer, len(cells.of))
    noted = {}
    for place, j in enumerate(cells.of):
        n = int(cells.n_missing[place])
        if n and place in fills and features[j].kind in ("number", "ordered"):
            value, levels = fills[place], features[j].levels
            name = levels[round(value)] if levels else f"{value:.4g}"
            noted[features[j].name] = f"; {n:,} missing ({n / len(cells):.1%}) filled with {name}"
    noted |= {name: f"{noted.get(name, '')}; {GAPS}" for name in mostly}
    return [use._replace(use=use.use + noted.get(use.column, "")) for use in uses]


def _fills(transformer: Any, n: int) -> dict[int, float]:
    """By the place of a column what its missing cells are filled with, where that is one number."""
    found: dict[int, float] = {}
    for block, _, places in transformer.transformers_:
        imputed = fitted_steps(transformer, block)[0]
        if hasattr(imputed, "statistics_"):
            found |= dict(zip(np.arange(n)[places].tolist(), imputed.statistics_.tolist(), strict=True))
    return found


def _notes_of_units(columns: Sequence[Column]) -> list[Message]:
    """What is reported of numbers with a unit, and of shares beside per cent."""
    with_unit = [column for column in columns if column.unit]
    shares = [column.name for column in columns if column.has_shares]
    notes = []
    if with_unit:
        units = [f"{c.name} in {c.unit}{' (bare numbers, too)' * ('' in c.units)}" for c in with_unit]
        other = of_columns("roles", {with_unit[0].name: "category"})
        notes += [Message(f"numbers with a unit: {shorten(units)} (else: ", other, ")")]
    if shares:
        left = of_columns("roles", {shares[0]: "drop"})
        said = "numbers up to 1 beside others with a per cent sign are read as shares, 0.68 as 68%"
        notes += [Message(f"{said}: {shorten(shares)} (if not, correct them, or: ", left, ")")]
    return notes


def _notes_of_differing(names: Sequence[str]) -> list[Message]:
    """What is reported of few columns of whole numbers that may be ids, though nothing but their differing says so."""
    if not 0 < len(names) <= MOST_IDS:
        return []
    drop = of_columns("roles", {names[0]: "drop"})
    return [Message(f"whole numbers that differ in every row, used: {shorten(names)} (if they are ids: ", drop, ")")]


def _notes_of_spellings(columns: Sequence[Encoded]) -> list[str]:
    """The note on categories that are probably one, in two spellings."""
    noted = []
    for column in columns:
        spellings: dict[str, list[str]] = {}
        for level in map(str, column.levels if column.kind in ("category", "member") else ()):
            spellings.setdefault(" ".join(level.casefold().split()), []).append(repr(level))
        noted += [f"{' and '.join(alike)} of {column.name}" for alike in spellings.values() if len(alike) > 1]
    if not noted:
        return []
    return [
        f"categories that differ only in capitals or spaces: {shorten(noted)} (if they mean the same: write them alike)"
    ]


def plan_columns(table: Table, columns: Sequence[Column], options: Options) -> dict[str, Encoded | str]:
    """By name how a column becomes numbers, or why it is left out."""
    roles = table.found_roles
    dated = [c.name for c in columns if roles[c.name].name == "date" and options.dates == "parts"]
    with_hour = any(table.dates(name).has_times for name in dated)
    return {c.name: _plan_column(c, roles[c.name], table, options, with_hour) for c in columns}


def _plan_column(column: Column, role: Role, table: Table, options: Options, with_hour: bool) -> Encoded | str:
    """How a column of this role becomes numbers, or why it is left out."""
    if role.name == "number":
        is_date = role.reason == AS_SAID and role_of(column).name == "date"
        return Encoded(column.name, "days" if is_date else "number")
    if role.name == "date" and options.dates != "drop":
        return Encoded(column.name, options.dates, with_hour=with_hour)
    if role.name not in ("category", "ordered", "yes/no", "code"):
        return role.name
    if role.name in ("category", "code") and has_repeated_ids(column, role):
        return "repeated ids"
    if CLASSES_NAME.fullmatch(column.name.strip()) and role.reason != AS_SAID:
        return KNOWN_CLASSES
    if options.categories == "drop":
        return role.name
    levels = levels_of(column)
    if role.name == "code" and len(levels) > min(MOST_CATEGORIES, max(column.n_filled // 2, 2)):
        return f"{role.name}, {len(levels):,} different"
    if options.categories == "encode" and role.name == "ordered":
        return Encoded(
            column.name, "ordered", tuple(ordered_levels(column, table.given_roles.get(column.name, ""), table.source))
        )
    return Encoded(column.name, "member" if options.categories == "member" else "category", tuple(levels))


def complete_rows(table: Table, columns: Iterable[Encoded]) -> NDArray[np.intp]:
    """The rows in which no number of these columns is missing."""
    missing = np.zeros(len(table), dtype=bool)
    for column in columns:
        if column.kind not in ("category", "member"):
            missing |= np.any([np.isnan(values) for values in column.values(table).values()], axis=0)
    return np.flatnonzero(~missing)


def _varying(columns: Sequence[Encoded], cells: Cells) -> tuple[Cells, list[Encoded]]:
    """The cells of the columns that do not hold one value only; those columns."""
    features = [column for column in columns if column.kind != "member"]
    low, high = cells.bounds
    varying = {features[j].name for j, is_varying in zip(cells.of, (high > low).tolist(), strict=True) if is_varying}
    left = [c for c in columns if (len(c.levels) > 1 if c.kind == "member" else c.name in varying or not len(cells))]
    kept = [c.name for c in left if c.kind != "member"]
    if len(kept) == len(features):
        return cells, left
    return cells.of_columns([c.name for c in features], kept), left


def _uses(
    planned: dict[str, Encoded | str],
    used: Sequence[Encoded],
    roles: dict[str, Role],
) -> tuple[list[ColumnUse], list[str], tuple[str, ...]]:
    """What is done with each column, in a few sentences, and which of them comes first."""
    kept = {column.name for column in used}
    uses, noted = [], dict[str, list[str]]()
    for name, plan in planned.items():
        role, reason = roles[name]
        if isinstance(plan, Encoded) and plan.name in kept:
            use = plan.use()
            if reason == OPEN_ENDS and plan.kind == "ordered":
                noted[f"numbers with open ends as ranks, {' < '.join(plan.levels)}"] = [plan.name]
            elif plan.kind != "number":
                noted.setdefault(NOTE_OF_KIND[plan.kind], []).append(plan.name)
        else:
            why = "constant" if isinstance(plan, Encoded) else plan
            use = "left out" if why == role else f"left out: {why}"
            noted.setdefault(f"left out, {why}", []).append(name)
        uses.append(ColumnUse(name, role, reason, use))
    notes = {use: Message(f"{use}: {shorten(names)}", *_change(use, names[0])) for use, names in noted.items()}
    first = notes.pop(f"left out, {KNOWN_CLASSES}", None)
    return uses, list(notes.values()), () if first is None else (first,)


def column_uses(table: Table, used: Sequence[ColumnUse], roles: Roles, truth_column: str | None) -> list[ColumnUse]:
    """What was done with each column of a table, in its order; ``used`` are those that are no id and no classes."""
    use_of = {use.column: use for use in used}
    special = {roles.id_column: "id of the rows", truth_column: "known classes, to compare with"}
    found = table.found_roles
    return [
        use_of.get(name) or ColumnUse(name, *found[name], special.get(name, "left out, as you said"))
        for name in table.names
    ]


NOTE_OF_KIND = {
    "category": "categories as indicators",
    "ordered": "ordered categories as ranks",
    "member": "categories as members of the ensemble",
    "days": "dates as days",
    "parts": "dates in parts",
}
OTHER_ROLE = {"id": "number", "code": "number", "date": "number", KNOWN_CLASSES: FEATURE}


def _change(use: str, name: str) -> tuple[str | Option, ...]:
    """How the user changes what was done."""
    left = use.removeprefix("left out, ")
    role = "drop" if left == use else OTHER_ROLE.get(left.partition(",")[0])
    return (" (else: ", of_columns("roles", {name: role}), ")") if role else ()


def shorten(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return f"{', '.join(names[:SHOWN])}{more}"


def _blocks(columns: Iterable[Encoded]) -> dict[str, list[Encoded]]:
    """The columns by what is done with them, in the order of the features."""
    blocks: dict[str, list[Encoded]] = {"numbers": [], "ordered": [], "categories": [], "parts": []}
    for column in columns:
        blocks[BLOCKS[column.kind]].append(column)
    return blocks


def _check_complete(
    cells: Cells, columns: Sequence[Encoded], table: Table, impute: str | None, gaps: Sequence[Message] = ()
) -> list[str]:
    """What is done about missing values, in sentences; ``gaps`` are reported where they are refused."""
    features = [column for column in columns if column.kind != "member"]
    is_category = np.array([features[j].kind == "category" for j in cells.of], dtype=bool)
    n_numbers, n_categories = (int(cells.n_missing[which].sum()) for which in (~is_category, is_category))
    if n_numbers and impute is None:
        places = np.flatnonzero(~is_category).tolist()
        i = int(cells.rows_with_gaps(places)[0])
        j = next(place for place in places if np.isnan(cells.column(place)[i]))
        got = f"Got {n_numbers}, the first in {table.where(i)}, column {cells.names[j]!r}"
        is_many = has_many_gaps(cells) and fills_by_rows(cells)
        fill, drop = (Option("impute", rule) for rule in ("knn" if is_many else "median", "drop"))
        raise ValueError(
            Message(
                f"The features of {table.source} must have no missing values. {got}. Fill them with ",
                fill,
                ", or leave those rows out with ",
                drop,
                ".",
                *said_of_gaps(gaps),
            )
        )
    notes = []
    if n_numbers:
        rule = "from the 5 nearest rows" if impute == "knn" else f"each with the {impute} of its column"
        notes.append(f"filled: {n_numbers} missing values, {rule.replace('most-frequent', 'most frequent')}")
    if n_categories:
        rule = "count as the mean of all" if impute is None else "filled, each with the most frequent of its column"
        notes.append(f"missing categories: {n_categories}, {rule}")
    return notes


def _check_size(cells: Cells, columns: Sequence[Encoded], source: str) -> None:
    """Refuse more features than the memory has room for."""
    n_features = sum(len(column.names()) for column in columns)
    size = 8 * len(cells) * n_features
    if isinstance(cells.rows, StoredFeatures):
        cells.rows.check_width(n_features)
    elif size > MOST_BYTES:
        widest = max(columns, key=lambda column: len(column.names()))
        got = f"must fit into {MOST_BYTES / 1e9:.0f} GB. They would take {size / 1e9:.1f} GB"
        left = of_columns("roles", {widest.name: "drop"})
        raise ValueError(
            Message(f"The features of {source} {got}. Leave out the column with most categories: ", left, ".")
        )


def _check_numbers(column: Column, table: Table) -> None:
    left = of_columns("roles", {column.name: "drop"})
    if scales := column.scales:
        one, other = (f"{column.text[row].as_py()!r} in {table.where(row)}" for row in scales)
        rule = f"The numbers of column {column.name!r} of {table.source} must have one unit."
        raise ValueError(
            Message(f"{rule} Got {one} and {other}. Write them alike, or leave the column out: ", left, ".")
        )
    advice: tuple[str | Option, ...] = "Correct it, or leave the column out: ", left, "."
    if column.numbers is None:
        row = int(column.not_numbers[0])
        cell = column.text[row].as_py()
        rule = f"Column {column.name!r} of {table.source} must hold numbers, as most of its cells do."
        texts = list(dict.fromkeys(column.text.take(column.not_numbers).to_pylist()))
        texts = texts if len(texts) <= MOST_MARKS else texts[:1]  # the first, if there are too many for marks
        others = f", and {some(map(repr, texts[1:]))} in others" if texts[1:] else ""
        gap = (
            f" If {'they mean' if others else 'it means'} missing, name {'them' if others else 'it'}: ",
            of_columns("missing", texts),
            ".",
        )
        as_category = of_columns("roles", {column.name: "category"})
        advice = "Correct it, leave the column out: ", left, ", or make it categories: ", as_category, "."
        raise ValueError(Message(f"{rule} Got {cell!r} in {table.where(row)}{others}. ", *advice, *gap))
    infinite = np.flatnonzero(np.isinf(column.numbers))
    if len(infinite):
        rule = f"Column {column.name!r} of {table.source} must hold finite numbers."
        raise ValueError(Message(f"{rule} Got infinity in {table.where(int(infinite[0]))}. ", *advice))
