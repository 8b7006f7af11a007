"""Effects as people say them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

import numpy as np

from ensemblage.base.text import listing

LEAST_DELTA, LEAST_V = 0.33, 0.2
"""An effect of this size describes a cluster: a Cliff's delta that is at least medium (.33, Romano et al. 2006), a
Cramér's V of at least .2."""
NOTHING = "No single variable describes this cluster."
_SMALL = 1e-6
"""Numbers nearer to 0 are written with an exponent."""
SINGLE = "a single object, which is not described"


def number_text(value: float) -> str:
    """Four digits, or all before the point; no exponent where it can be helped."""
    if np.isnan(value):
        return "–"
    if value == 0 or not np.isfinite(value) or not _SMALL <= abs(value) < 1e15:
        return f"{value:.3g}".replace("-", "−", 1) if value < 0 else f"{value:.3g}"
    digits = max(0, 3 - int(np.floor(np.log10(abs(value)))))
    text = f"{value:,.{digits}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return text.replace("-", "−")


def exact_text(value: float) -> str:
    """All digits of a number, as few as tell it from its neighbours; whole numbers without a point."""
    if value == np.floor(value) and abs(value) < 1e15:
        text = f"{value:,.0f}"
    elif _SMALL <= abs(value) < 1:
        text = np.format_float_positional(value, trim="-")
    else:
        text = repr(float(value))
    return text.replace("-", "−", 1) if value < 0 else text


def date_text(days: float, *, with_time: bool = False) -> str:
    """The day, as in 2024-12-31."""
    if np.isnan(days):
        return "–"
    try:
        moment = datetime(1970, 1, 1) + timedelta(days=days)
    except OverflowError:
        return number_text(days)
    return moment.strftime("%Y-%m-%d %H:%M") if with_time else moment.strftime("%Y-%m-%d")


def percent_text(share: float) -> str:
    """A share; 0% and 100% only where it is exact."""
    if np.isnan(share):
        return "–"
    return "<1%" if 0 < share < 0.01 else ">99%" if 0.99 < share < 1 else f"{100 * share:.0f}%"


def value_text(value: float, kind: str, levels: Sequence[str] = ()) -> str:
    """A value of a variable of this kind."""
    if np.isnan(value):
        return "–"
    if kind == "ordered":
        return levels[int(value)]
    return date_text(value) if kind == "date" else number_text(value)


def direction(delta: float, kind: str) -> str:
    """The word for values above or below those of the rest."""
    words = {"date": ("later", "earlier")}.get(kind, ("higher", "lower"))
    return words[delta < 0]


def frequency(share: float, rest: float) -> str:
    """The word for how often a category occurs in a cluster, against the rest."""
    if share > rest:
        return (
            "always" if share == 1 else "nearly always" if share >= 0.95 else "mostly" if share >= 0.5 else "more often"
        )
    return "never" if share == 0 else "seldom" if share <= 0.2 else "less often"


def phrase(drivers: Sequence[tuple[str, str]], n_more: int = 0) -> str:
    """Pairs of a word and what it says, those of one word together: higher a and b; mostly c."""
    by_word: dict[str, list[str]] = {}
    for word, what in drivers:
        by_word.setdefault(word, []).append(what)
    parts = [f"{word} {listing(names)}" for word, names in by_word.items()]
    more = f" (and {n_more:,} more)" if n_more else ""
    return ("; " if any(len(names) > 2 for names in by_word.values()) else ", ").join(parts) + more
