"""The next step after a word that is none of those allowed: those that are written like it."""

from __future__ import annotations

from collections.abc import Iterable


def suggestion(word: str, choices: Iterable[str]) -> str:
    """ "Did you mean ...?" with at most three choices; empty if none begins alike or is written like it.

    Examples
    --------
    >>> suggestion("eac", ["km", "eac-single", "eac-average"])
    "Did you mean 'eac-single' or 'eac-average'?"
    >>> suggestion("silhouet", ["dunn", "silhouette"])
    "Did you mean 'silhouette'?"
    >>> suggestion("ID", ["a", "d"])
    ''
    """
    import difflib

    def key(text: str) -> str:
        return "".join(letter for letter in text.lower() if letter.isalnum())

    typed, by_key = key(word), {key(choice): choice for choice in choices}
    long = [name for name in by_key if len(name) > 1]
    near = [typed] if typed and typed in by_key else [name for name in long if typed[1:] and name.startswith(typed)]
    if not near and typed:
        shorter = [name for name in long if typed.startswith(name)]
        near = list(dict.fromkeys([*shorter, *difflib.get_close_matches(typed, long, n=3, cutoff=0.65)]))
    found = [repr(by_key[name]) for name in near[:3]]
    listed = " or ".join(filter(None, [", ".join(found[:-1]), *found[-1:]]))
    return f"Did you mean {listed}?" if found else ""
