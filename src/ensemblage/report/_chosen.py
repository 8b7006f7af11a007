"""The learned choice among candidate partitions: its rating, its weights, its number of clusters."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from ensemblage.base.text import listing
from ensemblage.choices._chooser import CLEAR, CLOSE, FAMILY_TEXT, VIEW_TEXT, Chosen
from ensemblage.plotting._k_curves import curves_by_number
from ensemblage.report._charts import curve_svg
from ensemblage.report._layout import Cell, Section, Table, hand_drawn, number, percent
from ensemblage.report._ranking import short_repr

Summary = Mapping[str, Any]

LEAST_NAMED = 0.01
"""Weight of a family or of a view, over all its partitions, from which the page and `cite` name it."""
_OWN = "the features as they are scaled"


def chosen_summary(chosen: Any) -> dict[str, Any] | None:
    """What the summary holds of a learned choice."""
    if not isinstance(chosen, Chosen | None):
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
    doubt = [] if found["is_clear"] else [unclear_sentence(found)]
    return Section("How many clusters are there?", [*doubt, _number_sentence(found)], [shown])


def _number_sentence(found: Mapping[str, Any]) -> str:
    """The number that is rated highest, and the next one."""
    k, second = found["n_clusters"], second_number(found)
    rating, other = two_ratings(found, k, second)
    how = {"clear": "far above", "likely": "above", "ambiguous": "hardly above"}
    apart = how[evidence_of({**found, "is_clear": True})]
    return f"The best partition with {k} clusters is rated {rating}, {apart} the best one with {second} ({other})."


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
