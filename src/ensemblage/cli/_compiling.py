"""Whether a second process compiles kernels beside the command."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ensemblage.cli._process import process
from ensemblage.kernels._ahead import SecondProcess
from ensemblage.kernels._jit import has_compiled
from ensemblage.kernels._points import iterate
from ensemblage.labels.threads import thread_count

_second = SecondProcess()


def compile_beside(n_jobs: int | None) -> None:
    """Start the second process, where this one is the command's own and may use two cores."""
    if process.is_own and thread_count(n_jobs) > 1:
        _second.start()


@contextmanager
def compiling_beside(n_jobs: int | None) -> Iterator[None]:
    """Start the second process if a kernel of every run is not compiled; it ends with the block at the latest."""
    if not has_compiled(iterate):
        compile_beside(n_jobs)
    try:
        yield
    finally:
        _second.stop()
