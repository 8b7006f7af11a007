"""What describes each cluster: a record that shows itself as sentences, data frame, figures, HTML and plain numbers."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.above import figure
from ensemblage.base.renamed import FormerName
from ensemblage.base.text import listing, one_line, to_frame
from ensemblage.base.validation import check_whole
from ensemblage.profiles._effects import (
    LEAST_DELTA,
    LEAST_V,
    NOTHING,
    SINGLE,
    Categories,
    ClusterComparison,
    benjamini_hochberg,
    json_number,
    label_of,
    percent_text,
    separation_summary,
    top_level,
    value_text,
)
from ensemblage.profiles._selective import SelectiveMarkers
from ensemblage.profiles._tree import Rules
from ensemblage.profiles._variables import Variable

WIDE = 200
"""Of more variables with an order, the page shows markers by rank-sum tests."""
NAMED, MOST_NAMED = 40, 5
"""Characters of a name, and names, in the sentence that clusters are one column again."""
MOST_LINES = 40
"""Clusters that text and HTML report."""


class VariableRow(NamedTuple):
    """One variable in one cluster against the rest."""

    cluster: Any
    """Label of the cluster."""
    variable: str
    kind: str
    """"number", "date", "ordered" or "category"."""
    n: int
    """Objects of the cluster that have a value."""
    n_missing: int
    """Those that have none."""
    value: str
    """In words: the median of the cluster, or its category and the share."""
    rest: str
    """The same of all other clusters together."""
    effect: float
    """Cliff's delta, or Cramér's V; NaN where there is nothing to compare."""
    measure: str
    """"Cliff's delta" or "Cramér's V"."""
    describes: bool
    """Whether the effect is large enough to describe the cluster."""
    clustered: bool
    """Whether the variable helped to make the clusters."""
    median: float = math.nan
    """Of a number; of a date in days since 1970-01-01; of an ordered category its place. NaN of a category."""
    q25: float = math.nan
    q75: float = math.nan
    median_rest: float = math.nan
    cohens_d: float = math.nan
    p_value: float = math.nan
    """Of the rank-sum test: too small by construction where the clusters were made from the variable."""
    p_adjusted: float = math.nan
    """By Benjamini and Hochberg, for all variables of the cluster."""
    category: str | None = None
    """The category that the cluster has most of, compared with the rest; of yes and no always yes."""
    share: float = math.nan
    """Of the objects of the cluster that have it."""
    share_rest: float = math.nan


class ClusterProfile(NamedTuple):
    """One cluster in words."""

    cluster: Any
    """Its label."""
    size: int
    share: float
    """Of all objects."""
    typical: str
    """Id of the object with the smallest mean distance to the others; or nearest to their mean, see ``by_all``."""
    by_all: bool
    """Whether the typical object was compared with all others."""
    border: list[str]
    """Ids of up to three objects that are least sure of their place, the most doubtful first; never the typical one."""
    drivers: str
    """What describes it: "higher alcohol and proline, lower hue"."""
    sentence: str


@dataclass(frozen=True, eq=False, repr=False)
class Profile:
    """What describes each cluster; `ensemblage.profile` makes it.

    Attributes
    ----------
    clusters : list of ClusterProfile
        One for each cluster, by its label.
    rules : Rules or None
        Of a shallow decision tree, with its accuracy.
    left_out : dict of str to str
        Columns that describe nothing, and why.
    n_objects, n_unlabelled : int
        All objects, and those that are in no cluster and left out.
    border_by : str
        What makes an object doubtful.
    same_as : list of str
        Variables whose values are the clusters once more, up to names, where they are known.
    nearly_same_as : dict of str to float
        Categories that are nearly the clusters, with their adjusted Rand index, of at least .9.
    selective : SelectiveMarkers or None
        Variables that were tested with valid p-values, if that was asked for.
    """

    clusters: list[ClusterProfile]
    rules: Rules | None
    left_out: Mapping[str, str]
    n_objects: int
    n_unlabelled: int
    border_by: str
    _compared: ClusterComparison
    _n_missing: NDArray[np.int64]
    """(m, k)"""
    _backend: str | None
    same_as: list[str]
    nearly_same_as: dict[str, float]
    selective: SelectiveMarkers | None = None
    honest = FormerName("selective")

    @property
    def sentences(self) -> list[str]:
        """What describes each cluster, in a sentence."""
        return [cluster.sentence for cluster in self.clusters]

    @property
    def variables(self) -> list[str]:
        """The variables, those first that describe some cluster best."""
        return [self._compared.variables[j].name for j in self._compared.order()]

    @property
    def is_wide(self) -> bool:
        """Whether there are so many numbers that markers are more use than a list of them."""
        return self._compared.n_numbers > WIDE

    def _row(self, j: int, c: int) -> VariableRow:
        """Variable j in cluster c."""
        v, of = self._compared.variables[j], self._compared.category(j)
        found = self._number_fields(j, c) if of is None else self._category_fields(v, of, c)
        cluster, missing = self.clusters[c].cluster, int(self._n_missing[j, c])
        n = self.clusters[c].size - missing
        return VariableRow(cluster, v.name, v.kind, n, missing, **found, clustered=v.clustered)

    def _number_fields(self, j: int, c: int) -> dict[str, Any]:
        """What a row says of a variable with an order."""
        v, found = self._compared.variables[j], self._compared.numbers
        inside, rest, delta = found.quantiles[j, c].tolist(), found.rest[j, c].tolist(), float(found.delta[j, c])
        return {
            "value": value_text(inside[2], v.kind, v.levels),
            "rest": value_text(rest[2], v.kind, v.levels),
            "median": inside[2],
            "q25": inside[1],
            "q75": inside[3],
            "median_rest": rest[2],
            "effect": delta,
            "measure": "Cliff's delta",
            "cohens_d": float(found.cohens_d[j, c]),
            "p_value": float(found.p_values[j, c]),
            "p_adjusted": float(self._adjusted_p_values[j, c]),
            "describes": abs(delta) >= LEAST_DELTA,
        }

    @staticmethod
    def _category_fields(v: Variable, of: Categories, c: int) -> dict[str, Any]:
        """What a row says of a category."""
        level = top_level(v, of, c)
        share, share_rest, effect = float(of.shares[c, level]), float(of.rest[c, level]), float(of.cramers_v[c])
        return {
            "value": f"{v.levels[level]}: {percent_text(share)}",
            "rest": f"{v.levels[level]}: {percent_text(share_rest)}",
            "category": v.levels[level],
            "share": share,
            "share_rest": share_rest,
            "effect": effect,
            "measure": "Cramér's V",
            "describes": effect >= LEAST_V,
        }

    @cached_property
    def _adjusted_p_values(self) -> NDArray[np.float64]:
        """(m, k) p-values of the numbers, adjusted in each cluster."""
        return benjamini_hochberg(self._compared.numbers.p_values)

    def _rows(self, c: int, most: int | None = None) -> list[VariableRow]:
        """The variables of cluster c, the strongest effects first."""
        order = np.argsort(-self._compared.strengths[:, c], kind="stable")
        return [self._row(j, c) for j in order[:most].tolist()]

    def to_frame(self) -> Any:
        """A data frame with a row per cluster and variable, the strongest effects of each cluster first.

        Returns
        -------
        data frame
            Of the library of X, or the first that is installed of pandas, polars and pyarrow; without any, a dict.
        """
        return self._frame([row for c in range(len(self.clusters)) for row in self._rows(c)])

    def markers(self, most: int = 10) -> Any:
        """The numbers that are higher in a cluster than in the rest, by rank-sum tests: of genes, its markers.

        Parameters
        ----------
        most : int, default 10
            For each cluster.

        Returns
        -------
        data frame
            The rows of `to_frame` with the smallest adjusted p-values, below .05, among those with a positive effect.
            Descriptive: where the clusters were made from the variables, the p-values are too small by construction.
        """
        check_whole(most, "most of Profile.markers", 1)
        return self._frame([row for c in range(len(self.clusters)) for row in self._marker_rows(c, most)])

    def _marker_rows(self, c: int, most: int) -> list[VariableRow]:
        """Up to ``most`` markers of cluster c."""
        p, delta = self._adjusted_p_values[:, c], self._compared.numbers.delta[:, c]
        found = np.flatnonzero((p < 0.05) & (delta > 0))
        order = found[np.lexsort((-delta[found], self._compared.numbers.p_values[found, c]))]
        return [self._row(j, c) for j in order[:most].tolist()]

    def _frame(self, rows: Sequence[VariableRow]) -> Any:
        return to_frame({name: [getattr(row, name) for row in rows] for name in VariableRow._fields}, self._backend)

    def plot(self, kind: str = "heat map", *, ax: Any = None) -> Any:
        """Draw the clusters by their variables.

        Parameters
        ----------
        kind : {"heat map", "variables"}, default "heat map"
            Standardised means of up to 40 variables; or boxes and bars of the six that describe the clusters best.
        ax : matplotlib Axes, optional
            Where to draw the heat map; by default, and always the variables, a new figure.

        Returns
        -------
        matplotlib Axes or list of them
            The ax of the heat map; those of the variables.
        """
        return figure(self, kind, ax=ax)

    def __repr__(self) -> str:
        k, m = len(self.clusters), len(self._compared.variables)
        head = f"{type(self).__name__}: {k:,} cluster{'s' * (k != 1)}, {m:,} variable{'s' * (m != 1)}"
        return "\n".join([head, *self.sentences[:MOST_LINES], *[f"… {k - MOST_LINES:,} more"] * (k > MOST_LINES)])

    def _repr_html_(self) -> str:
        head = ("Cluster", "Objects", "Share", "What describes it", "Typical", "Least certain")
        lines: list[tuple[Any, ...]] = [
            (c.cluster, f"{c.size:,}", percent_text(c.share), c.drivers, c.typical, ", ".join(c.border))
            for c in self.clusters[:MOST_LINES]
        ]
        left = len(self.clusters) - MOST_LINES
        lines += [(f"… {left:,} more",)] * (left > 0)
        rows = "".join(f"<tr>{''.join(f'<td>{escape(str(cell))}</td>' for cell in line)}</tr>" for line in lines)
        names = "".join(f"<th>{name}</th>" for name in head)
        return f"<table><thead><tr>{names}</tr></thead><tbody>{rows}</tbody></table>"


def same_as_sentence(profile: Profile) -> str:
    """That the clusters are one column again, or nearly, "" if they are not."""
    labels = [cluster.cluster for cluster in profile.clusters]
    names = [one_line(name, NAMED) for name in profile.same_as]
    if not names and profile.nearly_same_as:
        name, index = max(profile.nearly_same_as.items(), key=lambda item: item[1])
        return f"The clusters nearly repeat the values of “{one_line(name, NAMED)}” (adjusted Rand index {index:.2f})."
    if not names:
        return ""
    in_a_row = all(isinstance(label, int) for label in labels) and labels == list(range(labels[0], labels[-1] + 1))
    clusters = f"{labels[0]}–{labels[-1]}" if in_a_row and len(labels) > 2 else _some([str(label) for label in labels])
    return f"Clusters {clusters} are the same as the values of {_some([f'“{name}”' for name in names])}."


def _some(names: Sequence[str]) -> str:
    return listing([*names[:MOST_NAMED], *[f"{len(names) - MOST_NAMED:,} others"] * (len(names) > MOST_NAMED)])


def sentence_of(cluster: Any, size: int, share: float, drivers: str, k: int) -> str:
    """A cluster in a sentence."""
    subject = f"Cluster {cluster} ({size:,} object{'s' * (size != 1)}, {percent_text(share)})"
    if k == 1:
        return f"{subject}: there is no other cluster to compare it with."
    if size == 1:
        return f"{subject}: {SINGLE}."
    return f"{subject}: {drivers}." if drivers else f"{subject}: {NOTHING[:1].lower()}{NOTHING[1:]}"


# -- what the figures draw, as numbers that JSON can hold --------------------------------------------------------------


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


# -- what a page shows, as numbers that JSON can hold ------------------------------------------------------------------


MOST_SHORT = 3
"""Variables that a line on a terminal names."""
MOST_ROWS, MOST_MARKERS, MOST_CLUSTERS_TABLED = 8, 10, 200
"""Variables and markers of each cluster in tables; clusters there."""
ROW = (
    *("variable", "kind", "n", "n_missing", "value", "rest", "q25", "q75", "effect", "measure", "cohens_d"),
    *("p_adjusted", "clustered", "describes"),
)


def profile_summary(profile: Profile) -> dict[str, Any]:
    """All that the page shows of a profile. Ids of objects are in ``typical`` and ``border`` of the clusters alone."""
    labels, rules = [label_of(cluster.cluster) for cluster in profile.clusters], profile.rules
    is_single = profile._compared.is_single if len(labels) > 1 else [False] * len(labels)
    return {
        "clusters": [
            {
                **profile.clusters[c]._asdict(),
                "cluster": labels[c],
                "in_short": SINGLE if is_single[c] else profile._compared.drivers(c, MOST_SHORT),
                "rows": [_row(row) for row in profile._rows(c, MOST_ROWS)],
                "markers": [_row(row) for row in profile._marker_rows(c, MOST_MARKERS)] if profile.is_wide else [],
            }
            for c in range(len(labels))[:MOST_CLUSTERS_TABLED]
        ],
        "n_clusters": len(labels),
        "n_objects": profile.n_objects,
        "n_unlabelled": profile.n_unlabelled,
        "n_variables": len(profile.variables),
        "left_out": dict(profile.left_out),
        "not_clustered": [v.name for v in profile._compared.variables if not v.clustered],
        "border_by": profile.border_by,
        "same_as": same_as_sentence(profile),
        **({} if profile.selective is None else {"honest": _selective(profile.selective)}),
        "least": {"delta": LEAST_DELTA, "v": LEAST_V},
        "separation": separation_summary(profile._compared) if len(labels) > 1 else None,
        "heat_map": heat_map_of(profile._compared, labels),
        "panels": panels_of(profile._compared, labels),
        "rules": None
        if rules is None
        else {
            **{name: json_number(value) for name, value in vars(rules).items() if name != "rules"},
            "rules": [{**rule._asdict(), "cluster": label_of(rule.cluster)} for rule in rules.rules],
        },
    }


def _selective(found: SelectiveMarkers) -> dict[str, Any]:
    """The markers of each cluster, the smallest p-value first, and why variables were not tested."""
    shown: dict[Any, list[dict[str, Any]]] = {}
    for row in found.markers:
        of_cluster = shown.setdefault(row.cluster, [])
        if len(of_cluster) < MOST_MARKERS and len(shown) <= MOST_CLUSTERS_TABLED:
            labels = {"cluster": label_of(row.cluster), "other": label_of(row.other)}
            numbers = {name: json_number(getattr(row, name)) for name in ("difference", "p_value", "p_adjusted")}
            of_cluster.append({**labels, "variable": row.variable, **numbers})
    return {
        "sentence": found.sentence,
        "test": found.table[0].test if found.table else None,
        "n_markers": len(found.markers),
        "n_tested": len(found.table),
        "rows": [row for rows in shown.values() for row in rows],
        "left_out": dict(Counter(found.left_out.values())),
    }


def _row(row: VariableRow) -> dict[str, Any]:
    return {name: json_number(getattr(row, name)) for name in ROW}
