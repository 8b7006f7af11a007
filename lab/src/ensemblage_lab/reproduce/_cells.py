"""One number of a table: ours beside the published, and whether the difference is within noise."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.stats import t as student

WITHIN, DIFFERS, UNKNOWN = "within noise", "differs", "no verdict"
LEVEL = 0.95
NOISE_RULE = (
    "A difference is within noise if it is at most t · √(s²/n + s₀²/n₀) plus half a unit of the last printed digit. "
    "s and n are standard deviation and number of our values, s₀ and n₀ those of the published mean (s again where it "
    "is not printed), t is Student's 97.5 % quantile. Where both are means over data sets and ours is over some of "
    "theirs, the root is of s₀² (n₀ − n) / (n₀ n), what the sets that are not at hand may change, and what runs add. "
    "About one cell in twenty falls outside by chance alone."
)


class Estimate(NamedTuple):
    """A mean over runs or data sets."""

    mean: float
    sd: float
    n: int

    @property
    def se(self) -> float:
        """Standard error; NaN for a single value."""
        return self.sd / math.sqrt(self.n)


def estimate(values: Sequence[float]) -> Estimate | None:
    """Mean, standard deviation (ddof 1) and number of the values that are numbers; None if there is none."""
    finite = np.array([v for v in values if math.isfinite(v)], dtype=np.float64)
    if not len(finite):
        return None
    return Estimate(float(finite.mean()), float(finite.std(ddof=1)) if len(finite) > 1 else math.nan, len(finite))


@dataclass(frozen=True)
class Cell:
    """One number of a table."""

    row: str
    column: str
    ours: Estimate | None
    published: float | None = None
    published_sd: float | None = None
    published_n: int = 1
    """Number of runs, or of data sets, that the published value is a mean of."""
    why_not: str = ""
    """Why ours is not there."""
    unit: float = 0.01
    """Of the last printed digit."""
    is_subset: bool = False
    """Whether ours is a mean over some of the data sets that the published mean is over."""
    run_variance: float = 0.0
    """What the chance of single runs adds to the variance of the difference, where ``n`` counts data sets."""
    is_alternative: bool = False
    """Whether it is another reading of a number that is compared elsewhere: shown, not counted."""

    @property
    def difference(self) -> float | None:
        """Ours minus the published."""
        return None if self.ours is None or self.published is None else self.ours.mean - self.published

    @property
    def verdict(self) -> str:
        """Whether the difference is within noise; empty if there is nothing to compare."""
        if self.ours is None or self.difference is None:
            return ""
        allowed = self.noise()
        if math.isnan(allowed):
            return WITHIN if abs(self.difference) <= self.unit / 2 else UNKNOWN
        return WITHIN if abs(self.difference) <= allowed else DIFFERS

    def noise(self) -> float:
        """The largest difference that is within noise; NaN with too few values of ours."""
        if self.ours is None or self.ours.n < (3 if self.is_subset else 2):
            return math.nan
        n, n0 = self.ours.n, self.published_n
        other = self.ours.sd if self.published_sd is None else self.published_sd
        if self.is_subset:
            variance, degrees = other**2 * max(0, n0 - n) / (n0 * n) + self.run_variance, n - 1
        else:
            variance, degrees = self.ours.sd**2 / n + other**2 / n0, n - 1
        return float(student.ppf((1 + LEVEL) / 2, degrees)) * math.sqrt(variance) + self.unit / 2


def ordered(names: Iterable[str]) -> list[str]:
    """The names, each once, in the order of their first appearance."""
    return list(dict.fromkeys(names))


def counts(cells: Sequence[Cell]) -> dict[str, int]:
    """Number of cells by verdict."""
    counted = [cell for cell in cells if not cell.is_alternative]
    return {verdict: sum(cell.verdict == verdict for cell in counted) for verdict in (WITHIN, DIFFERS, UNKNOWN)}
