"""Estimate a fit's peak memory and refuse before allocating.

A bound counts the arrays that are there at the same time, those of the threads included, beyond the input. It is an
upper one, and at most about twice what is taken where the matrices are large.
"""

import ctypes
from contextlib import suppress
from typing import Any, NamedTuple

from ensemblage.base.validation import check_bytes

MAX_BYTES = 2**31
"""The limit where none is given."""
OVERHEAD = 2**22
"""Bytes of what does not grow with the rows: blocks of work, small tables."""


class Need(NamedTuple):
    """What a fit takes at its peak."""

    n_bytes: int
    what: str
    """What it takes them for."""
    advice: str
    """What to do where they are too many."""


def check_fits(n_bytes: int, max_bytes: Any, owner: str, what: str, advice: str) -> None:
    """Raise unless ``owner`` may take so many bytes for ``what``."""
    limit = check_bytes(max_bytes, f"max_bytes of {owner}")
    if n_bytes > limit:
        raise ValueError(
            f"{owner} must fit into max_bytes = {size_text(limit)}. Got {size_text(n_bytes)} for {what}. {advice}"
        )


def size_text(n_bytes: int) -> str:
    """The number of bytes, in GB where there are that many."""
    return f"{n_bytes / 1e9:,.1f} GB" if n_bytes >= 1e9 else f"{n_bytes:,} bytes"


def give_back_freed() -> None:
    """Return freed memory to the system, where the C library can: else freed blocks may stay with the process."""
    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)
