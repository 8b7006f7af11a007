"""``python -m ensemblage`` is the command ``ensemblage``."""

from ensemblage.cli import main

if __name__ == "__main__":
    main(prog_name="ensemblage")
