"""The partitions in the order of their rankings, what DISCOTEC compares them with, and their scores against classes."""

import inspect
from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from ensemblage import plotting
from ensemblage.base.threads import parallel_map
from ensemblage.labels.ensemble import Ensemble
from ensemblage.metrics import INTERNAL_INDICES
from ensemblage.metrics._agreement import agreement_with
from ensemblage.plotting._axes import printable
from ensemblage.ranking import DISCOTEC, AverageAgreement, AverageDistance, InternalIndex
from ensemblage.ranking._base import BaseRanker
from ensemblage.report._charts import association_svg, ranks_svg
from ensemblage.report._figure_data import nan_array, symmetric_matrix
from ensemblage.report._layout import (
    Picture,
    Section,
    Table,
    hand_drawn,
    member_text,
    number,
    percent,
    picture,
    plural,
    weight_text,
)

Summary = Mapping[str, Any]

_DISTANCES = {
    "binary": (
        "Share of the pairs of objects on which a partition differs from what most partitions say: those joined at "
        "least as often as the mean count as together."
    ),
    "tv": "Mean total variation distance of a partition from the consensus matrix, over all pairs of objects.",
    "kl": (
        "Mean Kullback–Leibler divergence of a partition from the consensus matrix, over all pairs of objects (natural "
        "logarithm): large where it contradicts what nearly all partitions say."
    ),
    "hellinger": "Mean squared Hellinger distance of a partition from the consensus matrix, over all pairs of objects.",
}
_KINDS = {
    "euclidean": "Euclidean distance of the membership matrices, clusters matched one to one",
    "manhattan": "Manhattan distance of the membership matrices, clusters matched one to one",
    "ba-a": "objects to move from cluster to cluster",
    "gv1": "Euclidean distance of the matched clusters only",
    "ba-c": "merges and splits from one to the other",
    "comembership": "Euclidean distance of the co-memberships",
    "symdiff": "pairs of objects that one joins and the other parts",
    "rand": "share of the pairs of objects that one joins and the other parts",
    "jaccard": "share, of the pairs of objects that either joins, of those that one parts",
    "vi": "variation of information in nats",
    "ba-e": "one minus the share of the joint entropy that is mutual information",
}
_MOST_NUMBERS = 6
"""From so many on the numbers of a parameter are not written one by one."""
_MEASURES = {"ari": "adjusted Rand index", "nmi": "normalized mutual information"}


def short_repr(value: Any) -> str:
    """How Python writes a value, on one line of at most 80 characters."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 80 else f"{text[:79]}…"


def parameter_text(value: Any) -> str:
    """How Python writes the value of a parameter; of many numbers how many there are, and from where to where."""
    numbers = np.asarray(value if isinstance(value, np.ndarray | list | tuple) else (), dtype=object)
    if numbers.ndim != 1 or len(numbers) < _MOST_NUMBERS or not all(isinstance(v, float) for v in numbers.tolist()):
        return short_repr(value)
    low, high = (f"{number:.3g}".replace("-", "−") for number in (min(numbers), max(numbers)))
    return f"{len(numbers):,} numbers from {low} to {high}"


def finite_or_none(value: float, digits: int | None = None) -> float | None:
    """A float that JSON can hold: None for NaN and infinity."""
    return float(value if digits is None else round(float(value), digits)) if np.isfinite(value) else None


def ranking_summary(ranking: Any, n_partitions: int) -> dict[str, Any]:
    """Scores and order of a fitted ranker, and what they mean."""
    try:
        scores, order = np.asarray(ranking.scores_, dtype=np.float64), ranking.order_
    except AttributeError:
        raise TypeError(
            f"ranking of report must be a fitted ranker, or a list of them. Got {short_repr(ranking)}. "
            "Fit one to the ensemble."
        ) from None
    if len(scores) != n_partitions:
        raise ValueError(
            f"ranking of report must hold scores of the {n_partitions} partitions. Got {len(scores)}. "
            "Fit the ranker to the same ensemble."
        )
    errors = ranking.standard_errors_ if isinstance(ranking, DISCOTEC) else np.zeros(1)
    named = ranking
    if isinstance(ranking, BaseRanker):  # without the parameters that say nothing of what the scores mean
        shared = {"random_state", "n_jobs"} & ranking.get_params().keys()
        named = clone(ranking).set_params(**dict.fromkeys(shared))
    return {
        "name": short_repr(named).removesuffix("()"),
        "description": _description(ranking),
        "distance": ranking.measure if isinstance(ranking, DISCOTEC) else None,
        "greater_is_better": bool(ranking.greater_is_better),
        "scores": [finite_or_none(score) for score in scores.tolist()],
        "errors": [finite_or_none(error) for error in errors.tolist()] if errors.any() else None,
        "order": [int(j) for j in order],
    }


def _description(ranking: Any) -> str:
    """What a score is, in a sentence."""
    if isinstance(ranking, InternalIndex):
        info, variant = INTERNAL_INDICES[ranking.measure], ranking.variant
        return f"{info.title} of each partition on the features{' as Ohl & Lindsten ran it' * (variant == 'ohl')}."
    if isinstance(ranking, DISCOTEC):
        text = _DISTANCES[ranking.measure]
    elif isinstance(ranking, AverageAgreement):
        text = f"Mean agreement of a partition with the others ({_MEASURES[ranking.measure]})."
    elif isinstance(ranking, AverageDistance):
        return f"Mean distance of a partition from the others ({_KINDS[ranking.measure]})."
    else:
        return (inspect.getdoc(type(ranking)) or "").partition("\n")[0]
    constrained = " The share of the constraints that it violates makes it worse." * bool(ranking.violations_.any())
    return text + constrained


def ranking_section(summary: Summary) -> Section:
    rankings, sentences = summary["rankings"], []
    for r in rankings:
        first, last = r["order"][0], r["order"][-1]
        best, worst = (member_text(summary["members"][j]["name"]) for j in (first, last))
        sentences.append(
            f"{r['name']} puts {best} first ({number(r['scores'][first])}) and {worst} last "
            f"({number(r['scores'][last])})."
        )
    if not sentences:
        sentences = ["The partitions are in order of their agreement with the consensus (adjusted Rand index)."]
    pictures = [_scores(summary, i) for i, r in enumerate(rankings) if any(s is not None for s in r["scores"])]
    if any(map(_is_binary, rankings)) and "frequent" in summary["figures"]["matrix"]:
        pictures += [_frequent_pairs(summary)]
    return Section("Each partition", sentences, pictures, [_members(summary)])


def _is_binary(ranking: Mapping[str, Any]) -> bool:
    """Whether the scores compare with joined or not joined (a summary without "distance" tells it by the name)."""
    name = ranking["name"]
    by_name = "binary" if name.startswith("DISCOTEC") and "distance=" not in name else None
    return bool(ranking.get("distance", by_name) == "binary")


def _scores(summary: Summary, i: int) -> Picture:
    ranking, names = summary["rankings"][i], [member["name"] for member in summary["members"]]
    better = "higher" if ranking["greater_is_better"] else "lower"
    scores, errors = nan_array(ranking["scores"]), ranking.get("errors")
    draw = partial(
        plotting.ranking_scores,
        scores,
        names=names,
        errors=None if errors is None else nan_array(errors),
        greater_is_better=ranking["greater_is_better"],
        label=ranking["name"],
    )
    reach = (
        f"One dot per partition, the best first; {better} is better. The scores reach from "
        f"{number(np.nanmin(scores))} to {number(np.nanmax(scores))}."
    )
    bars = "They were estimated from random pairs of objects; bars are two standard errors to each side."
    said = filter(None, [ranking["description"], reach, "" if errors is None else bars])
    title, name = f"Scores by {ranking['name']}", f"ranking{i}"
    if errors is not None:
        return picture(title, draw(), name, *said)
    svg = ranks_svg(scores[ranking["order"]].tolist(), printable(ranking["name"], 40))
    return hand_drawn(title, svg, name, draw, *said)


def _frequent_pairs(summary: Summary) -> Picture:
    matrix = summary["figures"]["matrix"]
    marks = symmetric_matrix([[float(bit) for bit in row] for row in matrix["frequent"]])
    label = "1: joined at least as often as the mean"
    draw = partial(plotting.consensus_matrix, marks, matrix["clusters"], sizes=matrix["sizes"], label=label)
    svg = association_svg(marks, matrix["clusters"], matrix["sizes"], label)
    sentence = (
        f"In colour: pairs of objects that at least {percent(matrix['mean'])} of the partitions join, the mean over "
        "all pairs. The score of a partition is the share of pairs on which it differs from this picture."
    )
    return hand_drawn("What DISCOTEC compares the partitions with", svg, "frequent", draw, sentence, matrix["note"])


def _members(summary: Summary) -> Table:
    rankings, members = summary["rankings"], summary["members"]
    by_agreement = np.argsort(-nan_array([member["agreement"] for member in members]), kind="stable").tolist()
    columns: dict[str, list[str]] = {
        "Partition, best first": [printable(member["name"], 40) for member in members],
        "Clusters": [f"{member['n_clusters']:,}" for member in members],
    }
    if summary["data"]["missing"]:
        columns["Missing"] = [percent(member["missing"]) for member in members]
    weights = [member.get("weight", 1.0) for member in members]
    if min(weights) < max(weights):
        columns["Weight"] = list(map(weight_text, weights))
    for ranking in rankings:
        columns["Score" if len(rankings) == 1 else ranking["name"]] = [number(score) for score in ranking["scores"]]
    columns["ARI with consensus"] = [number(member["agreement"]) for member in members]
    if summary["truth"]:
        columns["ARI with classes"] = [number(member["truth"]) for member in members]
    order = rankings[0]["order"] if rankings else by_agreement
    rows = [[values[j] for values in columns.values()] for j in order]
    # One picture leaves room for a narrow table beside it.
    wide = len(rankings) != 1 or len(columns) > 5
    return Table("All partitions", list(columns), rows, shown=15, wide=wide)


def lower_triangle(matrix: NDArray[np.float64]) -> list[list[float | None]]:
    """Rows of the lower triangle, diagonal included, with three decimals."""
    return [[finite_or_none(value, 3) for value in row[: i + 1]] for i, row in enumerate(matrix.tolist())]


# -- known classes -----------------------------------------------------------------------------------------------------


_MOST_ENTRIES_FOR_AMI = 500_000


class Comparison(NamedTuple):
    """How near the consensus and its members come to known classes."""

    scores: dict[str, Any]
    """For ``ari``, ``ami`` and ``nmi``: the consensus, and mean, sd and best of the members."""
    members: NDArray[np.float64]
    """(p,) adjusted Rand index of each member; NaN where it shares no object with the classes."""


def compare_with_truth(ensemble: Ensemble, labels: NDArray[Any], truth: ArrayLike) -> Comparison:
    """Adjusted Rand index, adjusted and normalized mutual information with known classes.

    The members' adjusted mutual information, which takes as long as everything else together, is left out (None) when
    n p is above 5·10⁵.
    """
    consensus = Ensemble.from_partitions([labels])
    members = agreement_with(ensemble, truth, "ari")
    ari = agreement_with(consensus, truth, "ari")[0]
    ami_of_members = _ami(ensemble, truth) if ensemble.codes.size <= _MOST_ENTRIES_FOR_AMI else np.array([np.nan])
    scores: dict[str, Any] = {
        "ari": _score_summary(ari, members),
        "ami": _score_summary(_ami(consensus, truth)[0], ami_of_members),
        "nmi": _score_summary(agreement_with(consensus, truth, "nmi")[0], agreement_with(ensemble, truth, "nmi")),
    }
    scores["ari"]["n_worse"] = int((members < ari).sum())
    return Comparison(scores, members)


def _score_summary(consensus: float, members: NDArray[np.float64]) -> dict[str, float | None]:
    known = members[~np.isnan(members)]
    sd = known.std(ddof=1) if len(known) > 1 else np.nan
    mean, best = (known.mean(), known.max()) if len(known) else (np.nan, np.nan)
    return {
        "consensus": finite_or_none(consensus),
        "mean": finite_or_none(mean),
        "sd": finite_or_none(sd),
        "best": finite_or_none(best),
    }


def _ami(ensemble: Ensemble, truth: ArrayLike) -> NDArray[np.float64]:
    """(p,) adjusted mutual information of each partition with the classes, on the objects that both label."""
    from sklearn.metrics import adjusted_mutual_info_score

    classes = Ensemble.from_partitions([truth])
    known = classes.codes[:, 0] < classes.n_clusters[0]

    def score(j: int) -> float:
        both = known & (ensemble.codes[:, j] < ensemble.n_clusters[j])
        codes = classes.codes[both, 0], ensemble.codes[both, j]
        return float(adjusted_mutual_info_score(*codes)) if both.any() else np.nan

    return np.array(parallel_map(score, range(ensemble.shape[1])))


def truth_section(summary: Summary) -> Section | None:
    """How near the consensus and its members come to the classes, in words and as a table."""
    if not summary["truth"]:
        return None
    ari = summary["truth"]["ari"]
    sentences = [
        (
            f"The adjusted Rand index (1 = equal, about 0 = unrelated) between the consensus and the known classes is "
            f"{number(ari['consensus'])}. Its members reach {number(ari['mean'])} ± {number(ari['sd'])}, the best of "
            f"them {number(ari['best'])}."
        ),
        (
            f"The consensus is closer to the classes than {ari['n_worse']:,} of the "
            f"{plural(summary['data']['n_partitions'], 'partition')}. The classes were not used to find it."
        ),
    ]
    names = {"ari": "Adjusted Rand index", "ami": "Adjusted mutual information", "nmi": "Normalized mutual information"}
    rows = [
        [name, *(number(summary["truth"][key][column]) for column in ("consensus", "mean", "sd", "best"))]
        for key, name in names.items()
    ]
    table = Table("", ["Measure", "Consensus", "Mean of members", "sd", "Best"], rows, wide=True)
    return Section("Compared with the known classes", sentences, tables=[table])
