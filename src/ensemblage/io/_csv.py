"""Labels as .csv: readable."""

import re
from pathlib import Path
from typing import Any

import numpy as np

from ensemblage.base.text import write_csv
from ensemblage.base.validation import format_value
from ensemblage.io._labels import code_columns, label_values
from ensemblage.io._numbers import is_missing
from ensemblage.io._read import read_rows
from ensemblage.labels.coding import CodedColumns, check_labelled, check_names
from ensemblage.labels.threads import row_blocks

SAMPLE_BYTES = 1 << 16
QUOTED = re.compile(rb'"[^"]*(?:"|$)')


def save_csv(coded: CodedColumns, _: int | None, path: Path) -> None:
    """Write the names as header, then one line per object; missing entries are empty."""
    names = coded.names or []
    texts = [np.array([*map(_label_text, c.tolist()), ""], dtype=object) for c in coded.categories]
    for j, (name, column) in enumerate(zip(names, texts, strict=True)):
        _check_comes_back(name, column[:-1].tolist(), is_first=j == 0)
    lines = (
        line
        for rows in row_blocks(len(coded.codes))
        for line in zip(*(text[codes] for text, codes in zip(texts, coded.codes[rows].T, strict=True)), strict=True)
    )
    # Without a comma in the line, what looks like another separator must be seen to be none.
    looks_separated = len(names) == 1 and any(character in names[0] for character in ";\t|")
    write_csv(path, names, lines, lineterminator="\r\n", quoted_header=looks_separated)


def _check_comes_back(name: str, labels: list[str], *, is_first: bool) -> None:
    """A table is read without the spaces around its cells, a CSV file has no missing labels but blank ones."""
    if not _is_writable("".join([name, *labels])):
        raise ValueError(
            f"A .csv file must be UTF-8 text. Got half of a surrogate pair in partition {format_value(name)}. "
            "Use .npz, or give that label another name."
        )
    if not all(map(str.strip, labels)):
        raise ValueError(
            f"A .csv file marks missing labels by blank fields. Got a blank label in partition {name!r}. "
            "Use .npz, or give that label a name."
        )
    odd = next((text for text in [name, *labels] if text != text.strip() or "\0" in text), None)
    odd = next(filter(is_missing, labels), odd) if odd is None else odd
    if odd is not None or (is_first and not name):
        raise ValueError(
            "A .csv file must be read back unchanged: no label NA, no spaces around a text, no empty first name. "
            f"Got {format_value(odd or name)} in partition {format_value(name)}. Use .npz, or give it another name."
        )
    text_of: dict[Any, str] = {}
    for value, text in zip(label_values(labels), labels, strict=True):
        if isinstance(value, float) and not value.is_integer():
            raise ValueError(
                "A .csv file must be read back unchanged: no labels that are numbers with fractions, which look like "
                f"features. Got {format_value(text)} in partition {format_value(name)}. Use .npz, or number the labels."
            )
        if text_of.setdefault(value, text) != text:
            raise ValueError(
                "A .csv file must be read back unchanged: no two labels that are the same whole number. "
                f"Got {format_value(text_of[value])} and {format_value(text)} in partition {format_value(name)}. Use "
                ".npz, or give one of them another name."
            )


def _label_text(label: int | float | str) -> str:
    """Without an exponent: labels with one are text to the reader."""
    if isinstance(label, float) and "e" in str(label):
        return np.format_float_positional(label, trim="0")
    return str(label)


def _is_writable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def load_csv(path: Path, missing: int | None) -> tuple[CodedColumns, int | None]:
    """The columns of a CSV file with a header, every partition with labels, and ``missing``.

    An unnamed first column holds ids.
    """
    content = path.read_bytes()
    first_line = content[:SAMPLE_BYTES].lstrip(b"\xef\xbb\xbf\r\n").partition(b"\n")[0]
    unquoted = QUOTED.sub(b"", first_line)
    delimiter = None if not unquoted.count(b",") and any(map(unquoted.count, (b";", b"\t", b"|"))) else ","
    try:
        table = read_rows(content, name=f"{path.stem}.csv", has_header=True, delimiter=delimiter, decimal=".")
    except ValueError as error:
        raise ValueError(
            f"A .csv file of labels must be a table with a header line. Got {str(path)!r}: {error}"
        ) from None
    coded = code_columns([column for column in table.columns if column.name != table.index], missing)
    check_labelled(coded.categories, check_names(coded.names, len(coded.categories)), each=True)
    return coded, missing
