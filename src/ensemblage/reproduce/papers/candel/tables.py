"""Tables 2 to 7 of Candel: one row per data set, one column per method."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

from ensemblage.reproduce.papers import Cell, Results, TableOf, number, ordered, published
from ensemblage.reproduce.papers.candel import protocol

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


def _methods_table(n: str, file: str, title: str, metric: str, methods: tuple[str, ...]) -> TableOf:
    cells = partial(table, f"table{n}_{file}", metric, ())
    return TableOf(n, title, {protocol.EXPERIMENT: methods}, cells, digits=2 if metric == "nmi" else 1)


def _comparison(n: str, title: str, metric: str, note: str) -> TableOf:
    cells = partial(table, f"table{n}_{metric}_comparison", metric, ("KM refined", "H-KM by loss"))
    return TableOf(
        n, title, {protocol.EXPERIMENT: (), protocol.STANDARDISED: ()}, cells, note, digits=2 if metric == "nmi" else 1
    )


TABLES = (
    _methods_table("2", "nmi_nonhierarchical", "NMI of the non-hierarchical methods", "nmi", protocol.NON_HIERARCHICAL),
    _methods_table(
        "3", "density_nonhierarchical", "Density of the non-hierarchical methods", "density", protocol.NON_HIERARCHICAL
    ),
    _methods_table("4", "nmi_hierarchical", "NMI of the hierarchical methods", "nmi", protocol.HIERARCHICAL),
    _methods_table(
        "5", "density_hierarchical", "Density of the hierarchical methods", "density", protocol.HIERARCHICAL
    ),
    _comparison("6", "NMI of KM and H-KM compared", "nmi", "Max and Mean are what the members reach themselves."),
    _comparison(
        "7", "Density of KM and H-KM compared", "density", "The paper's caption says NMI; its numbers are densities."
    ),
)
