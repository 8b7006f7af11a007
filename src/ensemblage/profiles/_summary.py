"""A profile as plain numbers and strings that JSON can hold: what a page shows."""

from __future__ import annotations

from collections import Counter
from typing import Any

from ensemblage.profiles._comparison import json_number, label_of
from ensemblage.profiles._figure_data import heat_map_of, panels_of
from ensemblage.profiles._honest import HonestMarkers
from ensemblage.profiles._record import Profile, VariableRow, same_as_sentence
from ensemblage.profiles._separation import separation_summary
from ensemblage.profiles._words import LEAST_DELTA, LEAST_V, SINGLE

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
        **({} if profile.honest is None else {"honest": _honest(profile.honest)}),
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


def _honest(found: HonestMarkers) -> dict[str, Any]:
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
