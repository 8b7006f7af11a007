"""``python -m ensemblage`` is the command ``ensemblage``."""

import gc

MANY = 100_000
"""New objects between two searches for unused cycles; imports make hundreds of thousands that all stay."""


def main() -> None:
    """The command; Ctrl-C while it is imported ends it as later, without a traceback."""
    gc.set_threshold(MANY, 20, 20)
    try:
        from ensemblage.cli import main as command
        from ensemblage.cli._process import process
    except KeyboardInterrupt:
        raise SystemExit(2) from None
    process.is_own = True
    try:
        command(prog_name="ensemblage")
    finally:
        gc.freeze()  # the interpreter would search all objects again before it ends


if __name__ == "__main__":
    main()
