"""``python -m ensemblage`` is the command ``ensemblage``."""

import gc
import sys
from importlib.abc import MetaPathFinder
from typing import Any

MANY = 100_000
"""New objects between two searches for unused cycles; imports make hundreds of thousands that all stay."""


class WithoutPandas(MetaPathFinder):
    """Pandas as where it is not installed.

    scikit-learn and pyarrow import it, a quarter of a second; tables that are not of AnnData are read without it.
    """

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        if name == "pandas":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def main() -> None:
    """The command; Ctrl-C while it is imported ends it as later, without a traceback."""
    gc.set_threshold(MANY, 20, 20)
    if sys.argv[1:2] == ["run"] and not any(".h5ad" in argument.lower() for argument in sys.argv):
        sys.meta_path.insert(0, WithoutPandas())
    try:
        from ensemblage.cli import main as command
    except KeyboardInterrupt:
        raise SystemExit(2) from None
    try:
        command(prog_name="ensemblage")
    finally:
        gc.freeze()  # the interpreter would search all objects again before it ends


if __name__ == "__main__":
    main()
