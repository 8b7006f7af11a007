"""Which clusters are left if those are merged between which a test supports no split, before and after."""

from collections.abc import Mapping
from typing import Any

from ensemblage.base.text import some
from ensemblage.report._layout import Section, Table, number
from ensemblage.report._ranking import short_repr
from ensemblage.stability import MergedClusters
from ensemblage.stability._records import p_text

Summary = Mapping[str, Any]

LIMITS = (
    "Each split was tested along the line between the means of its sides, on objects that did not choose the line. "
    "Clusters that no straight line separates, as rings or spirals, are not supported by such a test; nor are clusters "
    "that lie near each other. Compare the clusters before and after with what is known of the objects."
)


def merged_summary(merged: Any) -> dict[str, Any] | None:
    """What the page shows of `merge_unsupported`."""
    if merged is None:
        return None
    if not isinstance(merged, MergedClusters):
        raise TypeError(
            "merged of report must be what merge_unsupported returned. "
            f"Got {short_repr(merged)}. Give that, or leave it out."
        )
    return {
        "sentence": merged.sentence,
        "n_before": merged.support.n_clusters,
        "n_after": len(merged.groups),
        "reasons": merged.reasons,
        "note": merged.support.note,
        "groups": [list(map(str, group)) for group in merged.groups],
        "sizes": merged.sizes,
        "splits": [
            {
                "left": list(map(str, row.left)),
                "right": list(map(str, row.right)),
                "n": row.n,
                "p_value": None if row.p_value != row.p_value else row.p_value,
                "level": row.level,
                "verdict": row.verdict,
            }
            for row in merged.support.table
        ],
    }


def merging_clause(summary: Summary) -> str:
    """How many clusters of how many are left, "" where all stay."""
    found = summary.get("merged")
    if not found:
        return ""
    before, after = sum(map(len, found["groups"])), len(found["groups"])
    return f"merging leaves {after:,} of {before:,}" if after < before else ""


def _group_text(group: list[str], found: Mapping[str, Any]) -> str:
    """The clusters of a group, or that it has all."""
    return f"all {len(group)}" if len(found["groups"]) == 1 < len(group) else some(group)


def merged_section(summary: Summary) -> Section | None:
    """What was merged and why."""
    found = summary.get("merged")
    if not found:
        return None
    splits = [
        [
            some(row["left"]),
            some(row["right"]),
            f"{row['n']:,}",
            "–" if row["p_value"] is None else p_text(row["p_value"]).removeprefix("= "),
            number(row["level"], 4),
            row["verdict"],
        ]
        for row in found["splits"]
    ]
    after = [
        [_group_text(group, found), f"{size:,}", "merged" if len(group) > 1 else "as before"]
        for group, size in zip(found["groups"], found["sizes"], strict=True)
    ]
    left_out = any(row["verdict"] == "not tested" for row in found["splits"])
    note = "Not tested: splits of clusters that had been merged before." * left_out
    tables = [
        Table("After", ["Clusters before", "Objects", "Change"], after, text=(0, 2)),
        Table("Splits", ["Clusters", "Split from", "Objects", "p", "Level", "Verdict"], splits, note, text=(0, 1, 5)),
    ]
    notes = [note for note in (found.get("note"), LIMITS) if note]
    return Section(
        "Which splits does a linear test support?", [found["sentence"], *found["reasons"], *notes], [], tables
    )
