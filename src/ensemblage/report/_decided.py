"""Which columns decided: how much each separates the clusters, and without which the answer changes."""

from collections.abc import Mapping
from typing import Any

from ensemblage.plotting import PALETTE
from ensemblage.plotting._axes import printable
from ensemblage.report._layout import BarCell, Cell, Section, Table, number, percent
from ensemblage.report._ranking import short_repr

Summary = Mapping[str, Any]

_NAMED = 60
_SHOWN = 8
CHANGED = 0.8
"""Below this adjusted Rand index with the answer, an answer without a column is another one."""


def left_out_summary(left_out: Any) -> dict[str, float | None] | None:
    """What the page shows of answers without a column, by its name: adjusted Rand indices with the answer."""
    if not isinstance(left_out, Mapping | None):
        raise TypeError(
            "without_columns of report must be a dict of columns to adjusted Rand indices. "
            f"Got {short_repr(left_out)}. Give that, or leave it out."
        )
    if left_out is None:
        return None
    return {str(name): None if index is None or index != index else float(index) for name, index in left_out.items()}


def _separation(summary: Summary) -> Mapping[str, Any] | None:
    """How much each column separates the clusters; None of an older summary."""
    found: Mapping[str, Any] | None = (summary.get("profile") or {}).get("separation")
    return found if found and found["columns"] else None


def deciding_columns(summary: Summary, most: int) -> list[str]:
    """The clustered columns that separate the clusters most."""
    found = _separation(summary)
    return [row["variable"] for row in found["columns"] if row["clustered"]][:most] if found else []


def alone_sentence(summary: Summary) -> str:
    """A warning that one column decides alone, "" if none does."""
    found = _separation(summary)
    if not found or found["alone"] is None:
        return ""
    return (
        f"One column decides alone: “{printable(found['alone'], _NAMED)}” separates the clusters, and the others "
        "hardly do. Check whether it is what you want to be grouped by."
    )


def changing_columns(summary: Summary) -> list[str]:
    """The columns without which the answer is another one, the most important first."""
    found: Mapping[str, float | None] = summary.get("without_columns") or {}
    known = {name: index for name, index in found.items() if index is not None and index < CHANGED}
    return sorted(known, key=lambda name: known[name])


def decided_section(summary: Summary) -> Section | None:
    """The columns by how much they separate the clusters."""
    found = _separation(summary)
    if not found:
        return None
    without: Mapping[str, float | None] = summary.get("without_columns") or {}
    rows: list[list[Cell]] = [
        [
            printable(row["variable"], _NAMED) + "*" * (not row["clustered"]),
            BarCell(percent(row["share"]), PALETTE[0], row["share"]),
            *[_index_text(without, row["variable"])] * bool(without),
        ]
        for row in found["columns"]
    ]
    columns = ["Column", "Separated", *["ARI without it"] * bool(without)]
    note = (
        "Separated: the share of the variance of a number, or of the ranks of an ordered column, that lies between the "
        "clusters (η²)"
    )
    note += "; of a category Cramér’s V²." if any(row["kind"] == "category" for row in found["columns"]) else "."
    if without:
        note += (
            " ARI without it: the adjusted Rand index of the answer with one that was made in the same way without the "
            "column; 1 for the same clusters."
        )
    if any(not row["clustered"] for row in found["columns"]):
        note += " * was not used to find the clusters."
    if found["n_columns"] > len(rows):
        note += f" The first {len(rows)} of {found['n_columns']:,} columns."
    table = Table("", columns, rows, note, shown=_SHOWN, text=(0, 1), wide=True)
    return Section("What decided", _sentences(summary), tables=[table])


def _index_text(without: Mapping[str, float | None], name: str) -> str:
    return number(without[name], 2) if name in without else "–"


def _sentences(summary: Summary) -> list[str]:
    sentences = [alone] if (alone := alone_sentence(summary)) else []
    if (without := summary.get("without_columns")) is None:
        return sentences
    changing = [f"“{printable(name, _NAMED)}”" for name in changing_columns(summary)]
    if not changing:
        return [*sentences, f"None of the {len(without)} columns that were left out in turn changes the answer much."]
    more = f" and {len(changing) - 5} others" if len(changing) > 5 else ""
    return [*sentences, f"The answer changes without {', '.join(changing[:5])}{more} (adjusted Rand index below .8)."]
