"""The command line. What takes time to import is imported when a command is called."""

from ensemblage.cli._commands import main

__all__ = ["main"]
