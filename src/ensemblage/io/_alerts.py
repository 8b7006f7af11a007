"""What of a table probably makes a wrong answer: found before anything is clustered, and told first.

A check is a function of what `alerts` is given, listed in `CHECKS`. What a user said settles it: a role that was given,
codes that were named.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.options import Alert, Message
from ensemblage.io._missing import alerts_of_codes

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


CHECKS = (_row_of_sums, _codes)
"""In the order in which they are told."""
