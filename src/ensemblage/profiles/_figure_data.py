"""What the figures of a profile draw, as plain numbers and strings that JSON can hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage.profiles._comparison import ClusterComparison, json_number, label_of
from ensemblage.profiles._effects import Categories
from ensemblage.profiles._variables import Variable
from ensemblage.profiles._words import value_text

MOST_VALUES = 7
"""Of a variable that is drawn as stacked bars."""
MOST_DRAWN, MOST_PANELS, MOST_CLUSTERS = 40, 6, 40
"""Variables of the heat map and of the small figures; clusters in figures: the first."""


def heat_map_of(compared: ClusterComparison, clusters: Sequence[Any]) -> dict[str, Any]:
    """Standardised means, a row for each of the variables that describe some cluster best, like rows side by side."""
    k = min(len(clusters), MOST_CLUSTERS)
    rows = [_standardised_row(compared, j) for j in compared.order()[:MOST_DRAWN]]
    z = np.array([values[:k] for _, values in rows]).reshape(len(rows), k)
    order = _linkage_order(z)
    return {
        "variables": [rows[i][0] for i in order],
        "clusters": list(map(label_of, clusters[:k])),
        "z": [[json_number(round(value, 3)) for value in z[i].tolist()] for i in order],
        "n_variables": len(compared.variables),
        "n_clusters": len(clusters),
    }


def _standardised_row(compared: ClusterComparison, j: int) -> tuple[str, NDArray[np.float64]]:
    """The name and (k,) standardised means of variable j; of a category those of being what varies most."""
    v, of = compared.variables[j], compared.category(j)
    if of is None:
        return v.name, compared.numbers.standardised[j]
    level = _largest_level(v, of)
    return f"{v.name}: {v.levels[level]}", _standardised_shares(of)[:, level]


def _standardised_shares(of: Categories) -> NDArray[np.float64]:
    """(k, q) shares in the clusters minus those of all, in standard deviations of being in the category."""
    with np.errstate(divide="ignore", invalid="ignore"):
        overall = of.table.sum(axis=0) / of.table.sum()
        z: NDArray[np.float64] = (of.shares - overall) / np.sqrt(overall * (1 - overall))
    return z


def _largest_level(v: Variable, of: Categories) -> int:
    """The category that some cluster has most of; of yes and no always yes."""
    if v.is_yes_no:
        return len(v.levels) - 1
    return int(np.argmax(np.nan_to_num(_standardised_shares(of)).max(axis=0)))


def _linkage_order(z: NDArray[np.float64]) -> list[int]:
    """The rows as the leaves of average linkage, so turned that rows high in the first cluster stand first."""
    if len(z) < 3:
        return list(range(len(z)))
    from scipy.cluster.hierarchy import leaves_list, linkage

    known = np.nan_to_num(z)
    order: list[int] = leaves_list(linkage(known, "average", optimal_ordering=True)).tolist()
    return order[::-1] if known[order[0], 0] < known[order[-1], 0] else order


def panels_of(compared: ClusterComparison, clusters: Sequence[Any]) -> list[dict[str, Any]]:
    """The distributions, cluster by cluster, of the variables that describe them best: of each cluster in turn."""
    strengths, chosen = compared.strengths, dict[int, None]()
    for ranked in np.argsort(-strengths, axis=0, kind="stable")[:MOST_PANELS]:
        chosen |= dict.fromkeys(ranked.tolist())
    best = sorted(list(chosen)[:MOST_PANELS], key=lambda j: -strengths[j].max(initial=-1.0))
    names = list(map(label_of, clusters[:MOST_CLUSTERS]))
    return [_panel(compared, j, names) for j in best]


def _stack(compared: ClusterComparison, j: int, k: int) -> dict[str, Any] | None:
    """The shares of the values of a category, an ordered one or a number of few values in each of the first k clusters.

    Of more than `MOST_VALUES` categories the rest is one, called None; None for numbers of many values.
    """
    v, of = compared.variables[j], compared.category(j)
    if of is not None:
        table, levels = of.table, list(v.levels)
    else:
        inside = compared.clusters < compared.n_clusters
        known = inside & ~np.isnan(v.values)
        values = _few_values(v.values[known])
        if values is None or v.kind == "date":
            return None
        codes = np.searchsorted(values, v.values[known])
        cells = compared.clusters[known] * len(values) + codes
        table = np.bincount(cells, minlength=compared.n_clusters * len(values)).reshape(-1, len(values))
        levels = [value_text(value, v.kind, v.levels) for value in values.tolist()]
    used = np.flatnonzero(table.sum(axis=0))
    names: list[str | None] = [levels[q] for q in used.tolist()]
    table = table[:, used]
    if len(used) > MOST_VALUES:
        kept = np.sort(np.argsort(-table.sum(axis=0), kind="stable")[: MOST_VALUES - 1])
        others = table.sum(axis=1) - table[:, kept].sum(axis=1)
        names = [*(names[q] for q in kept.tolist()), None]
        table = np.column_stack([table[:, kept], others])
    with np.errstate(invalid="ignore"):
        shares = table[:k] / table[:k].sum(axis=1, keepdims=True)
    return {"levels": names, "shares": [[json_number(share) for share in row] for row in shares.tolist()]}


def _few_values(values: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """The different values, ascending, where there are at most `MOST_VALUES`; a look at the first ones comes first."""
    if len(np.unique(values[:1_000])) > MOST_VALUES:
        return None
    found = np.unique(values)
    return found if 0 < len(found) <= MOST_VALUES else None


def _panel(compared: ClusterComparison, j: int, clusters: list[Any]) -> dict[str, Any]:
    v, of, k = compared.variables[j], compared.category(j), len(clusters)
    panel: dict[str, Any] = {
        "variable": v.name,
        "kind": v.kind,
        "clusters": clusters,
        "levels": list(v.levels) if v.kind == "ordered" else [],
        "quantiles": None,
        "level": None,
        "shares": None,
        "stack": _stack(compared, j, k),
    }
    if of is None:
        quantiles = compared.numbers.quantiles[j, :k].tolist()
        return panel | {"quantiles": [[json_number(value) for value in row] for row in quantiles]}
    level = _largest_level(v, of)
    return panel | {"level": v.levels[level], "shares": [json_number(share) for share in of.shares[:k, level].tolist()]}
