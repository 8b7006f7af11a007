"""How many clusters there are, and how stable each is: `choose_k` and `cluster_stability` on the page."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from ensemblage import plotting
from ensemblage.choices._choice_records import KChoice
from ensemblage.choices._monti_choice import MontiChoice
from ensemblage.metrics import align_labels
from ensemblage.report._drawn import boxes_svg
from ensemblage.report._layout import Cell, Picture, Section, Table, cluster_cell, number
from ensemblage.report._ranking import short_repr
from ensemblage.report._stability import monti_summary
from ensemblage.report._svg import picture
from ensemblage.stability import ClusterStability

Summary = Mapping[str, Any]

_OF_JACCARD = [(0.6, "doubtful"), (0.75, "stable")]
"""What a mean similarity from there on is called."""
_MOST_LABELS = 1_000
"""Objects by which the tree of clusters is drawn."""


def k_choice_summary(choice: Any, labels: NDArray[Any]) -> dict[str, Any]:
    """What the page shows of a choice of the number of clusters: ``number`` of `choose_k`, ``stability`` of Monti's."""
    if not isinstance(choice, KChoice | MontiChoice | None):
        raise TypeError(
            "k_choice of report must be what choose_k or choose_k_monti returned. "
            f"Got {short_repr(choice)}. Give that, or leave it out."
        )
    if not isinstance(choice, KChoice):
        return {"number": None, "stability": monti_summary(choice, labels)}
    step = -(-len(choice.objects) // _MOST_LABELS)
    structure = choice.structure
    number = {
        "best": choice.best,
        "evidence": choice.evidence,
        "sentence": choice.sentence,
        "structure": {
            "p_value": structure.p_value,
            "n_references": structure.n_references,
            "found": structure.found,
            "sentence": structure.sentence,
        },
        "votes": choice.votes,
        "agreement": {str(k): round(agreement, 4) for k, agreement in choice.agreement.items()},
        "also_stable": choice.also_stable,
        "table": [row._asdict() | {"votes": list(row.votes)} for row in choice.table],
        "labels": {str(k): z[::step].tolist() for k, z in choice.labels.items()},
        "n_looked_at": len(choice.objects),
        "notes": choice.notes,
    }
    return {"number": number, "stability": None}


def points_by_number(choice: Any, clusters: NDArray[Any], chosen: NDArray[Any]) -> dict[str, list[int]]:
    """The clusters of the objects that are drawn, for each number that `choose_k` looked at.

    Parts have the numbers of the answer's ``clusters`` that they share most objects with; -1 where it did not look.
    """
    if not isinstance(choice, KChoice):
        return {}
    looked_at = np.full(len(clusters), -1, dtype=np.int64)
    looked_at[choice.objects] = np.arange(len(choice.objects))
    rows, known = looked_at[chosen], (clusters[choice.objects] >= 0).any()
    found = {}
    for k, labels in choice.labels.items():
        numbers = align_labels(labels, clusters[choice.objects]) if known else labels
        found[str(k)] = np.where(rows >= 0, numbers[rows], -1).tolist()
    return found if (rows >= 0).any() else {}


def cluster_stability_summary(stability: Any) -> dict[str, Any] | None:
    """What the page shows of `cluster_stability`."""
    if stability is None:
        return None
    if not isinstance(stability, ClusterStability):
        raise TypeError(
            "cluster_stability of report must be what cluster_stability returned. "
            f"Got {short_repr(stability)}. Give that, or leave it out."
        )
    return {
        "sentence": stability.sentence,
        "compared_with": stability.compared_with,
        "n": stability.jaccard.shape[1],
        "table": [
            {name: None if value != value else value for name, value in row._asdict().items() if name != "cluster"}
            | {"cluster": int(row.cluster)}
            for row in stability.table
        ],
        "jaccard": [[None if np.isnan(j) else round(j, 3) for j in row] for row in stability.jaccard.tolist()],
    }


def k_choice_section(summary: Summary) -> Section | None:
    """How many clusters, and what speaks for it."""
    found = summary.get("number")
    if not found:
        return None
    n, looked_at = summary["data"]["n_objects"], found["n_looked_at"]
    part = [f"Looked at: {looked_at:,} of the {n:,} objects, drawn at random."] * (looked_at < n)
    structure = [found["structure"]["sentence"]] * found["structure"]["found"]
    sentences = [found["sentence"], *structure, *found["notes"], *part]
    return Section("How many clusters are there?", sentences, list(_pictures(found)), [_criteria(found), _table(found)])


def _pictures(found: Mapping[str, Any]) -> Iterator[Picture]:
    rows, best = found["table"], found["best"]
    bands = {row["k"]: (row["reference_low"], row["reference_mean"], row["reference_high"]) for row in rows}
    ax = plotting.evidence_by_number({row["k"]: row["log_within"] for row in rows}, bands, n_clusters=best)
    sentence = (
        "The spread of the objects around the centres of their clusters falls with every cluster more. What counts is "
        "how far it falls below that of single clouds with the same covariance, skewness and tails (band: 90% of "
        f"{found['structure']['n_references']} of them)."
    )
    yield picture("Against single clouds", ax, "number", sentence)
    curves = {
        "reproduced in halves": {row["k"]: row["stability"] for row in rows},
        "prediction strength": {row["k"]: row["strength"] for row in rows},
        "agrees with Ward": {row["k"]: row["ward"] for row in rows},
        "agrees with average linkage": {row["k"]: row["average"] for row in rows},
        "silhouette": {row["k"]: row["silhouette"] for row in rows},
    }
    ax = plotting.criteria_by_number(curves, n_clusters=best)
    sentence = (
        "Real clusters are reproduced in halves of the objects and by other methods. Prediction strength "
        "above .8 supports a number; the agreements are adjusted Rand indices."
    )
    yield picture("What is reproduced", ax, "criteria", sentence)
    labels = {int(k): np.array(z) for k, z in found["labels"].items()}
    sentence = (
        "A row per number of clusters, a dot per cluster of k-means, its size by its objects. Lines show where the "
        "objects of a cluster come from: one thick line, and the cluster is a part of one above."
    )
    yield picture("From one number to the next", plotting.clustree(labels, n_clusters=best), "clustree", sentence)


def _criteria(found: Mapping[str, Any]) -> Table:
    rows: list[list[Cell]] = [
        [voter, "no vote" if k is None else "one cluster" if k == 1 else str(k), _MEANINGS[voter]]
        for voter, k in found["votes"].items()
    ]
    if found.get("agreement"):
        asked = "where the others disagree: the number, up to the root of the objects, at which Gaussian mixtures, "
        asked += "spectral clustering and Genie agree most with their consensus"
        rows.append(["agreement of algorithms", str(found["best"]), asked])
    return Table(
        "What each criterion names", ["Criterion", "Clusters", "What it asks"], rows, text=(0, 1, 2), wide=True
    )


_MEANINGS = {
    "prediction strength": "the most clusters that one half of the objects predicts in the other",
    "lifetime": "the number that lives longest when 50 partitions vote",
    "gap": "the least number after which clusters of single clouds would gain as much",
    "components": "dense parts that stay apart longer than those of single clouds",
    "silhouette": "the number whose clusters are narrowest for their distance",
}


def _table(found: Mapping[str, Any]) -> Table:
    columns = [
        "Clusters",
        "Criteria",
        "Gap",
        "± error",
        "p",
        "Strength",
        "± error",
        "Silhouette",
        "Ward",
        "Average",
        "Status",
    ]
    keys = ["gap", "gap_error", "p_value", "strength", "strength_error", "silhouette", "ward", "average"]
    rows = [
        [str(row["k"]), str(len(row["votes"])), *(number(row[key], 2) for key in keys), row["status"]]
        for row in found["table"]
    ]
    return Table("Numbers of clusters", columns, rows, text=(10,), wide=True)


def cluster_stability_section(summary: Summary) -> Section | None:
    """Which clusters are reproduced in resamples of the objects."""
    found = summary.get("found_again")
    if not found:
        return None
    rows: list[list[Cell]] = [
        [
            cluster_cell(row["cluster"]),
            row["verdict"],
            number(row["mean_jaccard"], 2),
            f"{row['recovered']} of {row['n_compared']}",
            f"{row['dissolved']} of {row['n_compared']}",
            str(row["n_not_drawn"]),
        ]
        for row in found["table"]
    ]
    columns = ["Cluster", "Verdict", "Mean Jaccard", "Recovered", "Dissolved", "Not drawn"]
    table = Table("Is each cluster reproduced?", columns, rows, text=(0, 1))
    kept = " with the same algorithms, weights and number of clusters" if summary.get("chosen") else ""
    sentence = (
        f"The whole analysis was repeated{kept} on {found['n']} {found['compared_with']} of the objects. The figure "
        f"shows "
        "the Jaccard similarity of each cluster with the one most like it. Above ¾ it is recovered, up to ½ "
        "dissolved. A "
        "stable cluster is reproduced; it need not be separate from the rest."
    )
    shown = Picture(
        "Reproduced",
        _jaccards_svg(found),
        [sentence],
        name="again",
        figures={"again": partial(_jaccards_figure, found)},
    )
    return Section("Are the clusters reproduced?", [found["sentence"]], [shown], [table])


def _jaccards_svg(found: Mapping[str, Any]) -> Markup:
    """A row for each cluster, its mean marked."""
    rows = []
    for row, values in zip(found["table"], np.array(found["jaccard"], dtype=np.float64), strict=True):
        known = values[~np.isnan(values)]
        quantiles = np.percentile(known, (5, 25, 50, 75, 95)).tolist() if len(known) else None
        rows.append({"name": row["cluster"], "quantiles": quantiles, "mean": row["mean_jaccard"]})
    return boxes_svg(rows, 0.0, 1.0, _OF_JACCARD, "Jaccard similarity")


def _jaccards_figure(found: Mapping[str, Any]) -> Any:
    jaccard, names = np.array(found["jaccard"], dtype=np.float64), [row["cluster"] for row in found["table"]]
    return plotting.cluster_jaccards(jaccard, names=names).figure
