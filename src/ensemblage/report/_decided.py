"""What decided: the plan before the work began, the learned choice among candidate partitions, and the columns.

A column decides by how much it separates the clusters, and if the answer changes without it.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

from ensemblage.base.text import listing
from ensemblage.choices._chooser import CLEAR, CLOSE, FAMILY_TEXT, VIEW_TEXT, LearnedSelection
from ensemblage.choices._plan import Plan, value_text
from ensemblage.plotting._axes import PALETTE, printable
from ensemblage.plotting._k_curves import curves_by_number
from ensemblage.report._charts import curve_svg
from ensemblage.report._layout import BarCell, Cell, Section, Table, hand_drawn, number, percent
from ensemblage.report._ranking import short_repr

Summary = Mapping[str, Any]

# -- the plan before the work ------------------------------------------------------------------------------------------


WORDS = {
    "roles": "Columns",
    "scales": "Scales",
    "n_clusters": "Number of clusters",
    "members": "Partitions by",
    "combiner": "Combined by",
    "samples": "Samples",
    "certainty": "Votes on each object",
    "stability": "Resamples clustered again",
}
"""What the decisions are called on the page."""


def plan_summary(plan: Any) -> dict[str, Any] | None:
    """What the summary holds of a plan."""
    if not isinstance(plan, Plan | None):
        raise TypeError(
            f"plan of report must be what ConsensusClustering.plan returned. Got {short_repr(plan)}. Give that, or "
            f"leave it out."
        )
    return None if plan is None else plan.to_dict()


def plan_section(summary: Mapping[str, Any]) -> Section | None:
    """The decisions, each with its reason."""
    plan = summary.get("plan")
    if not plan:
        return None
    decisions = [(word, plan[name]) for name, word in WORDS.items()]
    rows = [[word, printable(f"{value_text(d['value'])}. {d['reason']}", 800)] for word, d in decisions]
    table = Table("", (), rows, text=(0, 1), wide=True)
    sentence = "These decisions followed from the table and from what was asked for, before anything was clustered."
    return Section("What was decided before the work began", [sentence], tables=[table])


# -- the learned choice ------------------------------------------------------------------------------------------------


LEAST_NAMED = 0.01
"""Weight of a family or of a view, over all its partitions, from which the page and `cite` name it."""
_OWN = "the features as they are scaled"


def chosen_summary(chosen: Any) -> dict[str, Any] | None:
    """What the summary holds of a learned choice."""
    if not isinstance(chosen, LearnedSelection | None):
        raise TypeError(
            f"chosen of report must be chosen_ of a ConsensusClustering. Got {short_repr(chosen)}. "
            "Give that, or leave it out."
        )
    if chosen is None:
        return None
    weights = sorted(chosen.weights.items(), key=lambda item: -item[1])
    return {
        "sentence": chosen.sentence,
        "n_clusters": chosen.n_clusters,
        "view": chosen.view,
        "family": chosen.family,
        "runner_up": chosen.runner_up,
        "margin": chosen.margin,
        "rating": chosen.rating,
        "is_clear": chosen.is_clear,
        "weights": [{"view": view, "family": family, "k": k, "weight": w} for (view, family, k), w in weights],
        "version": chosen.version,
        "predicted": {str(k): rating for k, rating in sorted(chosen.predicted.items())},
    }


def rated_numbers(summary: Summary) -> Mapping[str, Any] | None:
    """The choice, where it chose among several numbers of clusters."""
    found: Mapping[str, Any] | None = summary.get("chosen")
    return found if found and len(found["predicted"]) > 1 else None


def evidence_of(found: Mapping[str, Any]) -> str:
    """How clear the number of clusters is, in the words of `KChoice.evidence`."""
    if not found["is_clear"]:
        return "none"
    others = [rating for k, rating in found["predicted"].items() if int(k) != found["n_clusters"]]
    margin = found["predicted"][str(found["n_clusters"])] - max(others)
    return "clear" if margin >= CLEAR else "likely" if margin >= CLOSE else "ambiguous"


def second_number(found: Mapping[str, Any]) -> int:
    """The number of clusters with the next best rating."""
    others = {int(k): rating for k, rating in found["predicted"].items() if int(k) != found["n_clusters"]}
    return max(others, key=others.__getitem__)


def unclear_sentence(found: Mapping[str, Any]) -> str:
    """What it means that no candidate is rated high."""
    return (
        f"No clear clusters were found: the best partition is rated {number(found['rating'], 2)} (1 at most), and at "
        "least 4% of synthetic sets without clusters are rated as high. Clusters may cut a continuum; groups that "
        "overlap cannot be excluded."
    )


def names_of_weights(found: Mapping[str, Any], by: str) -> list[str]:
    """The views or the families ("view", "family") whose partitions weigh 1 % or more, largest first."""
    totals: dict[str, float] = {}
    for entry in found["weights"]:
        totals[entry[by]] = totals.get(entry[by], 0.0) + entry["weight"]
    named = [name for name, total in totals.items() if total >= LEAST_NAMED]
    return sorted(named, key=lambda name: -totals[name])


def families_text(found: Mapping[str, Any]) -> str:
    """As "k-means, Ward's method and Genie"."""
    return listing([FAMILY_TEXT.get(name, name) for name in names_of_weights(found, "family")])


def views_text(found: Mapping[str, Any]) -> str:
    """As "the features as they are scaled and standardised columns"."""
    return listing([_view_text(name) for name in names_of_weights(found, "view")])


def _view_text(name: str) -> str:
    return VIEW_TEXT.get(name, f" on {name}").removeprefix(" on ") or _OWN


def two_ratings(found: Mapping[str, Any], k: int, other: int) -> tuple[str, str]:
    """The ratings of two numbers of clusters, with a third decimal where two are equal."""
    values = [found["predicted"][str(each)] for each in (k, other)]
    digits = 3 if number(values[0], 2) == number(values[1], 2) else 2
    return number(values[0], digits), number(values[1], digits)


def rated_numbers_section(summary: Summary) -> Section | None:
    """How many clusters, and how each number is rated."""
    found = rated_numbers(summary)
    if found is None:
        return None
    ratings = {int(k): rating for k, rating in found["predicted"].items()}
    what, k = "predicted adjusted Rand index", found["n_clusters"]
    svg = curve_svg(ratings, "number of clusters", what, k)
    caption = (
        "The adjusted Rand index with the true clusters that the trees predict of the best partition with k clusters. "
        "The trees were trained on synthetic sets alone. It is not a probability, and not calibrated on real data."
    )
    draw = partial(curves_by_number, {"": ratings}, what, k)
    shown = hand_drawn("How each number of clusters is rated", svg, "rated", draw, caption)
    sentences, second = [] if found["is_clear"] else [unclear_sentence(found)], second_number(found)
    rating, other = two_ratings(found, k, second)
    how = {"clear": "far above", "likely": "above", "ambiguous": "hardly above"}
    apart = how[evidence_of({**found, "is_clear": True})]
    sentences.append(
        f"The best partition with {k} clusters is rated {rating}, {apart} the best one with {second} ({other})."
    )
    return Section("How many clusters are there?", sentences, [shown])


def weights_section(summary: Summary) -> Section | None:
    """How much each partition weighs."""
    found = summary.get("chosen")
    if not found:
        return None
    rows: list[list[Cell]] = [
        [
            FAMILY_TEXT.get(entry["family"], entry["family"]),
            _view_text(entry["view"]),
            str(entry["k"]),
            percent(entry["weight"]),
        ]
        for entry in found["weights"]
    ]
    sentence = (
        f"{found['sentence']} A rating is the adjusted Rand index with the true clusters that regression trees predict "
        f"of a partition; they were trained on synthetic sets alone (version {found['version']}). Partitions near the "
        "number of clusters of the answer are combined, each with a weight that grows with its rating."
    )
    table = Table("", ["Algorithm", "Features", "Clusters", "Weight"], rows, shown=12, text=(0, 1))
    return Section("How much does each partition weigh?", [sentence], tables=[table])


# -- the columns -------------------------------------------------------------------------------------------------------


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
            *[number(without.get(row["variable"]), 2)] * bool(without),
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


def _sentences(summary: Summary) -> list[str]:
    sentences = [alone] if (alone := alone_sentence(summary)) else []
    if (without := summary.get("without_columns")) is None:
        return sentences
    known = {name: index for name, index in without.items() if index is not None and index < CHANGED}
    changing = [f"“{printable(name, _NAMED)}”" for name in sorted(known, key=lambda name: known[name])]
    if not changing:
        return [*sentences, f"None of the {len(without)} columns that were left out in turn changes the answer much."]
    more = f" and {len(changing) - 5} others" if len(changing) > 5 else ""
    return [*sentences, f"The answer changes without {', '.join(changing[:5])}{more} (adjusted Rand index below .8)."]
