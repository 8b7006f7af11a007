"""A column as text, as numbers, and as numbered distinct texts."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.cached import once
from ensemblage.io._numbers import Numbers, is_gap, is_missing, is_number, parse_numbers

SAMPLE = 1_000
UNIT = re.compile(r"[-+\u2212]?\d[\d.,'\u2019\u00a0\u202f ]*?\s*((?:[^\W\d_]|[°µ‰])[^\s\d]{0,15}[23]?)")
"""A number with what stands behind it: 175 cm, 23.5 kg/m2."""


@dataclass(frozen=True, eq=False)
class Column:
    """One column of a table."""

    name: str
    values: Any
    """(n,) Arrow array: text without spaces around it, null where empty; or typed, as in a Parquet file."""
    decimal: str = "."
    """The decimal mark of its numbers, if it is text."""
    read_again: Callable[[], Any] | None = None
    """The text, where ``values`` are the numbers of it, null where missing: with a decimal point; no leading zeros if
    they are whole."""
    categories: list[str] | None = None
    """The values in their order, if the table's type says that they are ordered."""

    @property
    def is_text(self) -> bool:
        """Whether the file holds text."""
        import pyarrow as pa

        return self.read_again is not None or bool(pa.types.is_string(self.values.type))

    @once
    def text(self) -> Any:
        """(n,) Arrow text: the cells as a CSV file has them, null where empty."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if self.is_text:
            return self.values if self.read_again is None else self.read_again()
        if pa.types.is_boolean(self.values.type):
            return pc.if_else(self.values, "True", "False")
        try:
            text = pc.cast(self.values, pa.string())
            return short_times(text) if pa.types.is_temporal(self.values.type) else text
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):  # bytes that are no text, durations
            return pa.array([None if value is None else str(value) for value in self.values.to_pylist()], pa.string())

    def without(self, missing: NDArray[np.bool_]) -> Column:
        """The column with these cells empty."""
        import pyarrow as pa
        import pyarrow.compute as pc

        def emptied(values: Any) -> Any:
            return pc.if_else(pa.array(missing), pa.scalar(None, values.type), values)

        read_again = None if self.read_again is None else lambda: emptied(self.text)
        return replace(self, values=emptied(self.values), read_again=read_again)

    @once
    def unit(self) -> str:
        """What stands behind every number of a column of text, as in 175 cm; "" if that is nothing, or differs."""
        import pyarrow as pa

        if not pa.types.is_string(self.values.type):
            return ""
        first = next((text for text in self.text.drop_null()[:SAMPLE].to_pylist() if not is_gap(text)), "")
        found = UNIT.fullmatch(first)
        if found is None or is_number(first):
            return ""
        texts = [text for text in self.distinct[1] if not is_gap(text)]
        numbers = [text.removesuffix(found[1]).rstrip() for text in texts]
        are_numbers = all(n != t and is_number(n) and not is_gap(n) for n, t in zip(numbers, texts, strict=True))
        return found[1] if are_numbers and not any(re.match(r"0\d", number) for number in numbers) else ""

    def numeral(self, text: str) -> str:
        """A cell without the unit of the column."""
        return text.removesuffix(self.unit).rstrip() if self.unit else text

    @once
    def numerals(self) -> Any:
        """(n,) Arrow text: the cells without their unit."""
        import pyarrow.compute as pc

        ending = rf"\s*{re.escape(self.unit)}$"
        return pc.replace_substring_regex(self.text, ending, "") if self.unit else self.text

    def take(self, rows: NDArray[np.intp]) -> Column:
        """The column of some rows."""
        read_again = None if self.read_again is None else lambda: self.text.take(rows)
        return replace(self, values=self.values.take(rows), read_again=read_again)

    def cells(self) -> list[str]:
        """The cells as text, "" where empty."""
        return [cell or "" for cell in self.text.to_pylist()]

    @once
    def distinct(self) -> tuple[NDArray[np.int32], list[str]]:
        """(n,) number of each cell's text, the number of texts where it is empty; the distinct texts."""
        import pyarrow.compute as pc

        coded = self.text.dictionary_encode()
        texts = coded.dictionary.to_pylist()
        return pc.fill_null(coded.indices, len(texts)).to_numpy(zero_copy_only=False).astype(np.int32), texts

    @once
    def parsed(self) -> Numbers:
        """What of the column are numbers."""
        import pyarrow as pa
        import pyarrow.compute as pc

        kind = self.values.type
        if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
            return parse_numbers(self.numerals, self.decimal)
        if self.read_again is not None and self.decimal != ".":
            return parse_numbers(self.text, self.decimal)
        values = pc.cast(self.values, pa.float64(), safe=False).to_numpy(zero_copy_only=False)
        return Numbers(np.asarray(values, dtype=np.float64), np.zeros(len(values), dtype=bool), True)

    @property
    def numbers(self) -> NDArray[np.float64] | None:
        """(n,) NaN where a cell is missing; None if a cell holds text."""
        values, is_other, _ = self.parsed
        return None if is_other.any() else values

    @property
    def not_numbers(self) -> NDArray[np.intp]:
        """The rows whose cells hold text that is no number."""
        return np.flatnonzero(self.parsed.is_other)

    @once
    def n_filled(self) -> int:
        """How many cells are not missing."""
        return int(self.is_filled.sum())

    @property
    def is_filled(self) -> NDArray[np.bool_]:
        """(n,) which cells are not missing."""
        values, is_other, _ = self.parsed
        filled: NDArray[np.bool_] = ~np.isnan(values) | is_other
        return filled

    @property
    def is_numeric(self) -> bool:
        """Whether at least half of the cells that hold anything are numbers."""
        return 2 * len(self.not_numbers) <= self.n_filled

    @once
    def looks_numeric(self) -> bool:
        """Whether half of the first filled cells are numbers in some way of writing."""
        texts = [t for t in self.numerals.drop_null()[:SAMPLE].to_pylist() if not is_missing(t)]
        return 2 * sum(map(is_number, texts)) >= len(texts)

    def differs_everywhere(self) -> bool:
        """Whether no cell is missing and no two are the same."""
        codes, texts = self.distinct
        return len(texts) == len(codes) and not any(map(is_missing, texts))


def short_times(text: Any) -> Any:
    """Arrow text with times as CSV files have them: no zeros after seconds, no date before a time of day, no midnights.

    Midnight is written if another time is in the column.
    """
    import pyarrow.compute as pc

    for written, short in ((r"(:\d\d)\.0+([+Z-].*)?$", r"\1\2"), (r"^1899-12-3[01] (\d\d:\d\d:\d\d)$", r"\1")):
        text = pc.replace_substring_regex(text, written, short)
    only_midnights = pc.all(pc.match_substring_regex(text, r"^\d{4}-\d\d-\d\d 00:00:00$")).as_py()
    return pc.replace_substring(text, " 00:00:00", "") if only_midnights else text
