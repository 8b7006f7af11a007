"""Candel, "Linear time evidence accumulation clustering with KMeans": Tables 2 to 7 (Sec. 5 and 6)."""

import math
from dataclasses import replace

from ensemblage_lab.reproduce.papers import Cell, Paper, Results, number, ordered, published
from ensemblage_lab.reproduce.papers.candel import protocol

GROUPS = {"Best-NH": protocol.NON_HIERARCHICAL, "Best-H": protocol.HIERARCHICAL}


def table(file: str, metric: str, beside: tuple[str, ...], results: Results) -> list[Cell]:
    """The printed cells, and as columns without a printed number ours and the user's methods.

    In Tables 6 and 7, which print what the members reach (Max, Mean) and the best of a group, what the text's z-scores
    give stands beside.
    """
    rows = published(__package__, file)
    cells = [
        _cell(row["dataset"], row["algorithm"], row["value"], metric, protocol.EXPERIMENT, results) for row in rows
    ]
    cells += [
        results.cell(name, method, (protocol.EXPERIMENT, name, method, metric))
        for method in (*beside, *results.extra(protocol.EXPERIMENT))
        for name in ordered(row["dataset"] for row in rows)
    ]
    if not beside:
        return cells
    standardised = [
        _cell(row["dataset"], row["algorithm"], row["value"], metric, protocol.STANDARDISED, results)
        for row in rows
        if row["algorithm"] not in GROUPS
    ]
    return cells + [replace(cell, column=f"{cell.column}, z-scores", is_alternative=True) for cell in standardised]


def _cell(name: str, column: str, value: str, metric: str, experiment: str, results: Results) -> Cell:
    """The cell of a data set and a printed column."""
    unit = 0.01 if metric == "nmi" else 0.1
    if column in GROUPS and number(value) is None:
        return Cell(name, column, None, published_n=protocol.RUNS, unit=unit, why_not="NA")
    method, path = (protocol.BASELINES, f"{metric} {column}") if column in ("Max", "Mean") else (column, metric)
    if column in GROUPS:
        method = max(GROUPS[column], key=lambda method: _mean(results, name, method, metric))
    return results.cell(
        name, column, (experiment, name, method, path), number(value), published_n=protocol.RUNS, unit=unit
    )


def _mean(results: Results, name: str, method: str, metric: str) -> float:
    found = results.estimate(protocol.EXPERIMENT, name, method, metric)
    return -math.inf if found is None else found.mean


PAPER = Paper(__name__, protocol.EXPERIMENTS)
