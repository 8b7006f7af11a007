"""Blocks of rows.

Sums over rows are integers and may be cut into blocks of any size; where a float sum cannot be avoided, it goes in
fixed blocks of ``SUM_ROWS`` rows, added in order.
"""

BLOCK_ROWS = 16_384
"""Rows of one task. Results do not depend on it (tests change it)."""

SUM_ROWS = 16_384
"""Rows of one partial float sum. Results do depend on it: it never changes."""

LEAST_ROWS = 8_192
"""Rows below which a thread is not worth totals of its own."""


def row_blocks(n_rows: int, size: int | None = None) -> list[slice]:
    """Consecutive slices of at most ``size`` rows (default ``BLOCK_ROWS``) that cover ``range(n_rows)``."""
    size = size or BLOCK_ROWS
    return [slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size)]


def parts_of(block: slice, size: int | None = None) -> list[slice]:
    """A slice of rows, cut like `row_blocks`: rows on disk are in memory only part by part."""
    return [slice(block.start + s.start, block.start + s.stop) for s in row_blocks(block.stop - block.start, size)]
