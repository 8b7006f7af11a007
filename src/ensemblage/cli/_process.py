"""Whose process it is."""


class _Process:
    """This process: the command's own, where `ensemblage.__main__` runs it, or somebody's who calls it from Python."""

    is_own = False


process = _Process()
