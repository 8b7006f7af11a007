"""A second process compiles kernels while the command does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ensemblage.cli._process import process
from ensemblage.kernels._ahead import SecondProcess
from ensemblage.kernels._jit import has_compiled
from ensemblage.kernels._points import iterate
from ensemblage.rows.threads import thread_count

_second = SecondProcess()


def compile_beside(n_jobs: int | None) -> None:
    """Begin, where the process is the command's own and there are two cores for it."""
    if process.is_own and thread_count(n_jobs) > 1:
        _second.start()


@contextmanager
def compiling_beside(n_jobs: int | None) -> Iterator[None]:
    """Begin at once if nothing has been compiled on this machine; in any case end it at the end of the block."""
    if not has_compiled(iterate):
        compile_beside(n_jobs)
    try:
        yield
    finally:
        _second.stop()
