"""Values that mean "missing": those that the user names, and numbers that look as if they did."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ensemblage._options import Message, Option

AT_ONCE = 3
"""So many values may lie beyond one gap: 97, 98 and 99."""
FAR = 10
"""A value is far outside if it is more than so many times as far from the others as they span ..."""
LIKE_A_CODE = re.compile(r"9+|8+|7+|9+[78]")
"""... or once that, if its digits are such."""
SHOWN = 5
"""Values, and columns of one, that a note names."""


def likely_codes(values: NDArray[np.floating]) -> list[float]:
    """The numbers of a column that look like codes for missing values, by the rule of docs/TABLES.md.

    One to three values together, each in two cells or more, all in fewer than half of the filled ones, beyond the least
    or the largest of the others, of which there are two different ones at least. The gap is more than ten times what
    the others span (of three or more); or they are written like codes (99, 98, 888, -9, -99.9) and the gap is more than
    the others span, of negative ones: no other is negative. 0 is none. With the found ones left out, it is looked again.
    """
    left = values[np.isfinite(values)]
    n, found = len(left), list[float]()
    while True:
        beyond = _beyond(left, n - len(found)) or [-value for value in _beyond(-left, n)]
        if not beyond:
            return found
        found += beyond
        left = left[~np.isin(left, beyond)]


def _beyond(values: NDArray[np.floating], n: int) -> list[float]:
    raise NotImplementedError
