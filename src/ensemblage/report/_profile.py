"""What describes each cluster, on the page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
from markupsafe import Markup

from ensemblage import plotting
from ensemblage.base.text import listing
from ensemblage.plotting._axes import printable
from ensemblage.plotting._profiles import variable_panels
from ensemblage.profiles._effects import NOTHING, value_text
from ensemblage.profiles._profile import profile
from ensemblage.profiles._record import Profile, profile_summary
from ensemblage.profiles._tree import Rule, Rules
from ensemblage.report._drawn import heat_map_svg, panel_svg
from ensemblage.report._layout import Cell, Picture, Section, Table, cluster_cell, hand_drawn, number, plural
from ensemblage.report._ranking import short_repr

Summary = Mapping[str, Any]

_NAMED = 60
_MOST_SENTENCES, _LEAST_ROWS, _MOST_BESIDE, _MOST_NARROW = 12, 3, 8, 10
MOST_CELLS = 5e7
_PANELS = Markup(
    '<div style="display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 300px), 1fr)); gap: 8px">'
    "{}</div>"
)
"""As many figures side by side as there is room for."""

TESTS_IN_WORDS = {
    "dip": "The dip of the variable in a cluster and the nearest other one: two modes are a difference, the two sides "
    "of a cut are none, nor are modes that both clusters share. The p-values hold although the clusters were made from "
    "these variables.",
    "thinned counts": "Welch’s test of the logarithms of a part of the counts that the clusters were not made from.",
}
"""By the test of selective markers."""


def profile_for_page(given: Any, consensus: Any, features: Any, ids: Any) -> dict[str, Any] | None:
    """What the page shows of a profile that was given, or made from the features; None without either.

    Features of more than `MOST_CELLS` cells are left to `ensemblage.profile`.
    """
    if not isinstance(given, Profile | None):
        raise TypeError(
            f"profile of report must be what ensemblage.profile returned. Got {short_repr(given)}. Give that."
        )
    if given is not None:
        return profile_summary(given)
    if features is None or np.prod(np.shape(features), dtype=np.float64) > MOST_CELLS:
        return None
    values = np.reshape(features, (-1, 1)) if np.ndim(features) == 1 else features
    return profile_summary(profile(consensus, values, ids=ids))


def profile_section(summary: Summary) -> Section | None:
    """What describes each cluster, from the original values."""
    found = summary.get("profile")
    if not found or not found["n_variables"]:
        return None
    several = found["n_clusters"] > 1
    tables = [*_words(found), *([_numbers(found)] * several), *_markers(found), *_tested(found), *_rules(found)]
    return Section("The clusters and what describes them", list(_sentences(found)), list(_pictures(found)), tables)


def _sentences(found: Mapping[str, Any]) -> Iterator[str]:
    if found["n_clusters"] == 1:
        yield "There is one cluster, and no other to compare it with."
        return
    yield (
        f"Each cluster is compared with all others together, in {plural(found['n_variables'], 'variable')}. Clear "
        "differences are counted, and the strongest of them named."
    )
    if beside := found["not_clustered"]:
        names = [printable(name, _NAMED) for name in beside[:_MOST_BESIDE]]
        names += [f"{len(beside) - len(names):,} others"] * (len(beside) > len(names))
        yield (
            f"Not used to find the clusters: {listing(names)}. Differences there are findings; in the other variables "
            "they are what the clusters were made by."
        )
    if selective := found.get("honest"):
        yield selective["sentence"]
    if len(found["clusters"]) <= _MOST_SENTENCES:
        yield from (c["sentence"] for c in found["clusters"])


def _words(found: Mapping[str, Any]) -> Iterator[Table]:
    """The clusters in words, unless sentences say it, with objects that stand for them and the least certain."""
    clusters, in_sentences = found["clusters"], len(found["clusters"]) <= _MOST_SENTENCES
    with_objects = any(c.get("typical") is not None for c in clusters)
    rows: list[list[Cell]] = []
    for c in clusters:
        drivers = c["drivers"]
        what = f"{drivers[:1].upper()}{drivers[1:]}." if drivers else NOTHING
        row = [_cell(c["cluster"]), *[f"{c['size']:,}", what] * (not in_sentences)]
        rows.append(row + [_id(c["typical"]), ", ".join(map(_id, c["border"])) or "–"] * with_objects)
    columns = ["Cluster", *["Objects", "What describes it"] * (not in_sentences)]
    columns += ["Typical object", "Least certain"] * with_objects
    note = "" if len(clusters) == found["n_clusters"] else f"The first {len(clusters):,} of {found['n_clusters']:,}."
    if with_objects:
        note = f"{_typical_note(clusters)} Least certain: {found['border_by']}. {note}".strip()
    title = "Objects that stand for each cluster" if in_sentences else "Each cluster in words"
    if with_objects or not in_sentences:
        text = tuple(j for j in range(len(columns)) if columns[j] != "Objects")
        yield Table(title, columns, rows, note, text=text, wide=not in_sentences)


def _cell(label: Any) -> Cell:
    return cluster_cell(label) if isinstance(label, int) else printable(label, _NAMED)


def _id(name: str | None) -> str:
    return "–" if name is None else printable(name, 24)


def _typical_note(clusters: list[Mapping[str, Any]]) -> str:
    by_all = sum(c["by_all"] for c in clusters)
    nearest = "the object nearest to the mean of its cluster"
    smallest = "the object with the smallest mean distance to the others of its cluster"
    if by_all in (0, len(clusters)):
        return f"Typical: {smallest if by_all else nearest}."
    return f"Typical: {smallest}; in large clusters {nearest}."


def _numbers(found: Mapping[str, Any]) -> Table:
    """The numbers behind the words."""
    rows = [
        [
            _cell(c["cluster"]),
            printable(row["variable"], _NAMED) + "*" * (not row["clustered"]),
            _value_text(row),
            printable(row["rest"], _NAMED),
            f"{'V' if row['kind'] == 'category' else 'δ'} {number(row['effect'], 2)}",
            f"{row['n_missing']:,}",
        ]
        for c in found["clusters"]
        for i, row in enumerate(c["rows"] if c["size"] > 1 else [])
        if row["effect"] is not None and (row["describes"] or i < _LEAST_ROWS)
    ]
    kinds, least = {row["kind"] for c in found["clusters"] for row in c["rows"]}, found["least"]
    shown = {"median": bool(kinds - {"category"}), "share": "category" in kinds}
    what = "the median" * shown["median"] + ", or " * all(shown.values())
    what += "how many have the category" * shown["share"]
    note = f"In the cluster{' (with its middle half)' * shown['median']} and in the rest: {what}. "
    if shown["median"]:
        note += (
            "δ, Cliff’s delta: how much more often an object of the cluster has the larger value than one of the rest, "
            f"from −1 to 1; named from {least['delta']:.2f}. "
        )
    if shown["share"]:
        note += (
            "V, Cramér’s: how closely cluster and category go together, from 0 to 1, not corrected for bias; named "
            f"from {least['v']:.1f}. "
        )
    note += "Missing values are left out."
    if any(not row["clustered"] for c in found["clusters"] for row in c["rows"]):
        note += " * was not used to find the clusters."
    columns = ["Cluster", "Variable", "In the cluster", "In the rest", "Effect", "Missing"]
    return Table("The numbers behind the words", columns, rows, note, shown=24, text=(0, 1, 2, 3), wide=True)


def _value_text(row: Mapping[str, Any]) -> str:
    value = printable(row["value"], _NAMED)
    if row["kind"] not in ("number", "date") or row["q25"] is None or row["q75"] is None:
        return value
    return f"{value} ({value_text(row['q25'], row['kind'])} to {value_text(row['q75'], row['kind'])})"


def _markers(found: Mapping[str, Any]) -> Iterator[Table]:
    """Of wide data: the variables that are highest against the rest."""
    rows = [
        [
            _cell(c["cluster"]),
            printable(row["variable"], _NAMED) + "*" * (not row["clustered"]),
            row["value"],
            row["rest"],
            number(row["effect"], 2),
            _p_text(row["p_adjusted"]),
        ]
        for c in found["clusters"]
        for row in c["markers"]
    ]
    if rows:
        note = (
            "Variables that are higher in a cluster than in the rest, by the rank-sum test, p adjusted for all of them "
            "(Benjamini & Hochberg), below .05. The clusters were made from these variables, so that p is too small by "
            "construction: it orders the variables, and proves nothing."
        )
        columns = ["Cluster", "Variable", "Median", "In the rest", "Cliff’s delta", "Adjusted p"]
        yield Table("Markers", columns, rows, note, shown=20, text=(0, 1), wide=True)


def _p_text(p: float) -> str:
    """A p-value of a marker: two digits, with an exponent below a thousandth."""
    if not p:
        return "<1e−300"
    return f"{p:.2g}" if p >= 0.001 else f"{p:.1e}".replace("-", "−")


def _tested(found: Mapping[str, Any]) -> Iterator[Table]:
    """Variables that differ by tests that hold although the clusters were made from them."""
    selective = found.get("honest")
    if not selective or not selective["rows"]:
        return
    rows = [
        [
            _cell(row["cluster"]),
            _cell(row["other"]),
            printable(row["variable"], _NAMED),
            number(row["difference"], 2),
            *(f"{row[name]:.2g}" for name in ("p_value", "p_adjusted")),
        ]
        for row in selective["rows"]
    ]
    shown = "" if len(rows) == selective["n_markers"] else f" Shown are {len(rows)} of {selective['n_markers']:,}."
    left_out = "".join(f" Not tested: {plural(n, 'variable')} ({why})." for why, n in selective["left_out"].items())
    note = f"{TESTS_IN_WORDS[selective['test']]} Difference: of the means, in standard deviations.{shown}{left_out}"
    columns = ["Cluster", "Compared with", "Variable", "Difference", "p", "Adjusted p"]
    yield Table("Variables that differ, by tests that hold", columns, rows, note, text=(0, 1, 2), wide=True)


def _rules(found: Mapping[str, Any]) -> Iterator[Table]:
    """A shallow decision tree in words."""
    if not found["rules"]:
        return
    rules = Rules(**{**found["rules"], "rules": [Rule(**rule) for rule in found["rules"]["rules"]]})
    rows: list[list[Cell]] = [
        [_cell(rule.cluster), printable(rule.condition, 240), f"{rule.n_right:,} of {rule.n:,}"] for rule in rules.rules
    ]
    of_all = rules.n_objects + found["n_unlabelled"] == found["n_objects"]
    drawn = "" if of_all else f" Made of {rules.n_objects:,} objects, drawn at random."
    named = {rule.cluster for rule in rules.rules}
    without = [str(c["cluster"]) for c in found["clusters"] if c["cluster"] not in named]
    clusters = "cluster" if len(without) == 1 else "clusters"
    unnamed = (
        f" No rule names {clusters} {listing(without[:20])}{' and others' * (len(without) > 20)}." if without else ""
    )
    note = f"{rules.sentence}{drawn}{unnamed}"
    yield Table("Rules that tell the clusters apart", ["Cluster", "If", "Right"], rows, note, text=(0, 1), wide=True)


def _pictures(found: Mapping[str, Any]) -> Iterator[Picture]:
    heat, panels = found["heat_map"], found["panels"]
    if panels:
        files = {f"variable-{i}": partial(_panel_figure, p) for i, p in enumerate(panels)}
        sentence = (
            "A box holds the middle half of a cluster’s objects, its thick line is the median, the thin line reaches "
            "from the 5% to the 95% point."
        )
        stacked = [bool(p.get("stack")) for p in panels]
        bars = (
            " Bars are shares of the objects of a cluster." if any(stacked) or any(p["shares"] for p in panels) else ""
        )
        of_boxes = any(p["quantiles"] and not s for p, s in zip(panels, stacked, strict=True))
        boxes = sentence if of_boxes else ""
        title = "The variables that describe the clusters best"
        svg = _PANELS.format(Markup("").join(map(panel_svg, panels)))
        are_unknown = any(None in shares for p in panels if p.get("stack") for shares in p["stack"]["shares"])
        unknown = " –: no value is known." * are_unknown
        yield Picture(title, svg, [f"{boxes}{bars}{unknown}".strip()], wide=True, figures=files)
    if found["n_clusters"] > 1 and heat["z"]:
        sentences = [
            (
                "Mean of each cluster minus the mean of all, in standard deviations: + is higher than in all objects, "
                "− is lower. Variables that go together stand together."
            )
        ]
        if any(value is None for row in heat["z"] for value in row):
            sentences.append("Grey: no value is known there.")
        if len(heat["variables"]) < heat["n_variables"]:
            sentences.append(
                f"Drawn are {len(heat['variables'])} of {heat['n_variables']:,} variables: those that describe some "
                "cluster best."
            )
        if len(heat["clusters"]) < heat["n_clusters"]:
            sentences.append(f"Of {heat['n_clusters']:,} clusters the first {len(heat['clusters'])} are drawn.")
        is_wide = len(heat["clusters"]) > _MOST_NARROW
        svg = heat_map_svg(heat["z"], heat["variables"], heat["clusters"])
        z = np.array(heat["z"], dtype=np.float64)  # None is NaN
        draw = partial(plotting.profile_heat_map, z, heat["variables"], names=heat["clusters"])
        yield hand_drawn("Profiles of the clusters", svg, "profiles", draw, *sentences, wide=is_wide)


def _panel_figure(panel: Mapping[str, Any]) -> Any:
    return variable_panels([panel])[0].figure
