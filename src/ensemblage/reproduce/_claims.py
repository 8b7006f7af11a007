"""What the papers' texts say, and whether it holds here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ensemblage.reproduce._published import published

HOLDS, FAILS, UNTESTED = "holds", "fails", "not testable here"


class Verdict(NamedTuple):
    """What became of a claim."""

    verdict: str
    ours: str = ""
    """Our number, or the reason."""


class Claim(NamedTuple):
    """A row of a paper's claims with its verdict."""

    figure: str
    dataset: str
    setting: str
    claim: str
    value: str
    verdict: Verdict


def holds(condition: bool, ours: str) -> Verdict:
    """The verdict of a condition."""
    return Verdict(HOLDS if condition else FAILS, ours)


def untested(why: str) -> Verdict:
    """The verdict where there is nothing to judge by."""
    return Verdict(UNTESTED, why)


def claims_of(paper: str, verdicts: Mapping[int, Verdict]) -> list[Claim]:
    """Every row of the paper's claims; those without a verdict were not asked for."""
    return [
        Claim(
            row["figure"],
            row["dataset"],
            row["setting"],
            row["claim"],
            f"{row['value']} {row['unit']}".strip(),
            verdicts.get(i, untested("no rule to judge it by")),
        )
        for i, row in enumerate(published(f"{paper}_claims"))
    ]
