"""``python -m ensemblage`` is the command ``ensemblage``."""

import gc
import sys
from importlib.machinery import ModuleSpec, PathFinder
from typing import Any

MANY = 100_000
"""New objects between two searches for unused cycles; imports make hundreds of thousands that all stay."""


class WithoutPandas(PathFinder):
    """Finds all modules but pandas, as where it is not installed.

    scikit-learn and pyarrow import it, a quarter of a second; tables that are not of AnnData are read without it.
    """

    @classmethod
    def find_spec(cls, fullname: str, *where: Any) -> ModuleSpec | None:
        return None if fullname == "pandas" else super().find_spec(fullname, *where)


def main() -> None:
    """The command; Ctrl-C while it is imported ends it as later, without a traceback."""
    gc.set_threshold(MANY, 20, 20)
    if sys.argv[1:2] == ["run"] and not any(".h5ad" in argument.lower() for argument in sys.argv):
        sys.meta_path[:] = [WithoutPandas if finder is PathFinder else finder for finder in sys.meta_path]
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
