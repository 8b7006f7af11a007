"""A second process compiles the kernels of a first run from the last to the first, while the run compiles as it goes.

In one process numba compiles one kernel at a time, however many threads there are. What either process has compiled the
other one finds in numba's cache on the disk.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

LISTED = Path(__file__).with_name("first_kernels.txt")
"""A line for each kernel: module, name, numba's types of the arguments. `tests/test_first_run.py` writes it."""


def compile_listed() -> None:
    """Compile the kernels of the list that the cache does not have, the last one first."""
    from numba import types

    names = {**vars(types), "bool": types.boolean}
    for line in reversed(LISTED.read_text(encoding="ascii").splitlines()):
        module, name, kinds = line.split(" ", 2)
        kernel: Any = getattr(import_module(f"ensemblage.kernels.{module}"), name)
        kernel.compile(eval(kinds, names))


class SecondProcess:
    """A process that compiles the list, from `start` until it is done or `stop` is called.

    No result depends on it, so no failure is reported.
    """

    def __init__(self) -> None:
        self._process: Any = None

    def start(self) -> None:
        """Start the process, unless it was started."""
        import subprocess

        if self._process is None:
            # -P: modules of the current folder are not imported.
            command, silent = [sys.executable, "-P", "-m", __name__], subprocess.DEVNULL
            with suppress(OSError):
                self._process = subprocess.Popen(command, stdin=silent, stdout=silent, stderr=silent)

    def stop(self) -> None:
        """End the process; a kernel that it compiles just then is not kept."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait()
            self._process = None


if __name__ == "__main__":
    compile_listed()
