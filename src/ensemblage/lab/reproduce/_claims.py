"""What the papers' texts say, and whether it holds here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ensemblage.lab.reproduce._published import named_function
from ensemblage.lab.reproduce._results import NotRunError, Results

HOLDS, FAILS, UNTESTED = "holds", "fails", "not testable here"


class Verdict(NamedTuple):
    """What became of a claim."""

    verdict: str
    ours: str = ""
    """Our number, or the reason."""


class Claim(NamedTuple):
    """A sentence of a paper with its verdict."""

    figure: str
    dataset: str
    setting: str
    claim: str
    value: str
    verdict: str
    ours: str
    id: str
    """Paper, place and a name, such as li.t4.order."""


def holds(condition: bool, ours: str) -> Verdict:
    """The verdict of a condition."""
    return Verdict(HOLDS if condition else FAILS, ours)


def untested(why: str) -> Verdict:
    """The verdict where there is nothing to judge by."""
    return Verdict(UNTESTED, why)


def judged(row: Mapping[str, str], package: str, results: Results) -> Claim:
    """A row of claims.csv of a paper's package with the verdict of its rule, or why there is none.

    A rule may ask for results that are not there: `Results.need`.
    """
    try:
        verdict: Verdict = named_function(package, row)(results) if row["function"] else untested(row["untested"])
    except NotRunError as error:
        verdict = untested(str(error))
    value = f"{row['value']} {row['unit']}".strip()
    place = row["figure"], row["dataset"], row["setting"], row["claim"]
    return Claim(*place, value, verdict.verdict, verdict.ours, row["id"])
