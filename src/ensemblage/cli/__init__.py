"""The command line. What takes time to import is imported when a command is called."""

import ensemblage.cli._seconds  # first: it says when the command began  # noqa: F401
from ensemblage.cli._commands import main

__all__ = ["main"]
