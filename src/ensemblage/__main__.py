"""``python -m ensemblage`` is the command ``ensemblage``."""


def main() -> None:
    """The command; Ctrl-C while it is imported ends it as later, without a traceback."""
    try:
        from ensemblage.cli import main as command
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    command(prog_name="ensemblage")


if __name__ == "__main__":
    main()
