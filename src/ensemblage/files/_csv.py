"""Labels as .csv: readable."""

import csv
import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage._validation import shown
from ensemblage.files._text import write_csv
from ensemblage.labels._checks import check_each_labelled, check_labelled, check_names
from ensemblage.labels._coding import CodedColumns, code_dtype
from ensemblage.labels._objects import code_objects
from ensemblage.rows.blocks import row_blocks
from ensemblage.rows.memory import MemoryRows


def save_csv(coded: CodedColumns, path: Path) -> None:
    """Write the names as header, then one line per object; missing entries are empty."""
    names = coded.names or []
    texts = [np.array([*map(str, c.tolist()), ""], dtype=object) for c in coded.categories]
    for name, column in zip(names, texts, strict=True):
        if not _is_writable("".join([name, *column])):
            raise ValueError(
                f"A .csv file must be UTF-8 text. Got half of a surrogate pair in partition {shown(name)}. "
                "Use .npz, or give that label another name."
            )
        if not all(map(str.strip, column[:-1])):
            raise ValueError(
                f"A .csv file marks missing labels by blank fields. Got a blank label in partition {name!r}. "
                "Use .npz, or give that label a name."
            )
    lines = (
        line
        for rows in row_blocks(len(coded.codes))
        for line in zip(*(text[codes] for text, codes in zip(texts, coded.codes[rows].T, strict=True)), strict=True)
    )
    write_csv(path, names, lines, lineterminator="\r\n")


def _is_writable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def load_csv(path: Path, missing: int | None) -> CodedColumns:
    """The columns of a CSV file with a header, every partition with labels."""
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            reader = csv.reader(file)
            names = next(reader, [])
            numbers, texts = _number_texts(_rows_of(reader, len(names), path), len(names))
    except (UnicodeDecodeError, csv.Error) as error:
        raise ValueError(
            f"A .csv file of labels must be text with a header line. Got {str(path)!r} ({error}). "
            "Save it as UTF-8 text with one column per partition."
        ) from None
    if not len(numbers):
        raise ValueError(
            f"A .csv file of labels must have a header line and at least one line of labels. Got {str(path)!r} "
            f"with {'its header' if names else 'nothing'} only. Write one line per object."
        )
    columns = [code_objects(_parse(column), name, missing) for column, name in zip(texts, names, strict=True)]
    categories = tuple(column.categories for column in columns)
    check_labelled(categories, check_names(names, len(names)))
    check_each_labelled(categories, names)
    codes = MemoryRows(numbers).recode([column.codes for column in columns], code_dtype(categories))
    return CodedColumns(codes, categories, names)


def _rows_of(reader: Iterator[list[str]], width: int, path: Path) -> Iterator[list[str]]:
    """The rows of a CSV file, all of one width; empty lines at its end do not count."""
    blank = 0
    for line, row in enumerate(reader, start=2):
        if row and (blank or len(row) != width):
            raise ValueError(
                f"Every line of {str(path)!r} must have {width} fields, as its header. "
                f"Got {0 if blank else len(row)} in line {blank or line}. Mark missing labels by an empty field."
            )
        if row:
            yield row
        blank = blank or (0 if row else line)


def _number_texts(rows: Iterator[list[str]], width: int) -> tuple[NDArray[np.int32], list[list[str]]]:
    """Number the texts of each column as they appear, so that every text is kept once: (n, p) numbers, the texts."""
    number_of: list[defaultdict[str, int]] = [defaultdict() for _ in range(width)]
    for column in number_of:
        column.default_factory = column.__len__
    blocks = [np.empty((0, width), dtype=np.int32)]
    while chunk := list(islice(rows, 1_024)):  # so few that their texts stay in the cache: five times as fast
        block = np.empty((len(chunk), width), dtype=np.int32)
        for j, texts in enumerate(zip(*chunk, strict=True)):
            block[:, j] = np.fromiter(map(number_of[j].__getitem__, texts), dtype=np.int32, count=len(texts))
        blocks.append(block)
    return np.concatenate(blocks), [list(column) for column in number_of]


WHOLE = re.compile(r"\s*[+-]?[0-9]{1,19}\s*")
NUMBER = re.compile(r"\s*([+-]?([0-9]{1,16}(\.[0-9]*)?|\.[0-9]+)(e[+-]?[0-9]{1,3})?|nan)\s*", re.IGNORECASE)


def _parse(texts: list[str]) -> list[Any]:
    """The distinct texts of a column as whole numbers if all are, else numbers, else text; None where blank."""
    filled = [text for text in texts if text.strip()]
    for pattern, convert in ((WHOLE, int), (NUMBER, float)):
        if all(map(pattern.fullmatch, filled)):
            value_of = {text: convert(text.strip()) for text in filled}
            distinct = len(set(value_of.values())) == len(filled)
            if distinct and (convert is float or all(-(2**63) <= value < 2**63 for value in value_of.values())):
                return [value_of.get(text) for text in texts]
    return [text if text.strip() else None for text in texts]
