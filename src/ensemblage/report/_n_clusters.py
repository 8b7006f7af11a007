"""How many clusters there are, and how stable each is, on the page.

The number is that of `choose_k`, of Monti's consensus clustering or of a hierarchy. A test may support no split between
some clusters; the page shows the clusters with these merged.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray
from sklearn.base import clone

from ensemblage import plotting
from ensemblage.base.random import task_seeds
from ensemblage.base.text import some
from ensemblage.choices._choice_records import KChoice
from ensemblage.choices._monti_choice import MontiChoice
from ensemblage.consensus.diagnostics import Diagnostics, Lifetimes
from ensemblage.labels.ensemble import Ensemble
from ensemblage.metrics import align_labels, consensus_cdf, item_consensus
from ensemblage.plotting import _k_curves
from ensemblage.report._drawn import boxes_svg
from ensemblage.report._layout import Cell, Picture, Section, Table, cluster_cell, hand_drawn, number, picture, plural
from ensemblage.report._ranking import short_repr
from ensemblage.stability._records import ClusterStability, MergedClusters, p_text

Summary = Mapping[str, Any]

_OF_JACCARD = [(0.6, "doubtful"), (0.75, "stable")]
"""What a mean similarity from there on is called."""
_MOST_LABELS = 1_000
"""Objects by which the tree of clusters is drawn."""


def k_choice_summary(choice: Any, labels: NDArray[Any]) -> dict[str, Any]:
    """What the page shows of a choice of the number of clusters: ``number`` of `choose_k`, ``stability`` of Monti's."""
    if not isinstance(choice, KChoice | MontiChoice | None):
        raise TypeError(
            f"k_choice of report must be what choose_k returned. Got {short_repr(choice)}. Give that, or leave it out."
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
    ax = _k_curves.evidence_by_number({row["k"]: row["log_within"] for row in rows}, bands, n_clusters=best)
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
    ax = _k_curves.criteria_by_number(curves, n_clusters=best)
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
        "shows the Jaccard similarity of each cluster with the one most like it. Above ¾ it is recovered, up to ½ "
        "dissolved. A stable cluster is reproduced; it need not be separate from the rest."
    )
    jaccard, names = np.array(found["jaccard"], dtype=np.float64), [row["cluster"] for row in found["table"]]
    draw = partial(_k_curves.cluster_jaccards, jaccard, names=names)
    shown = hand_drawn("Reproduced", _jaccards_svg(found), "again", draw, sentence)
    return Section("Are the clusters reproduced?", [found["sentence"]], [shown], [table])


def _jaccards_svg(found: Mapping[str, Any]) -> Markup:
    """A row for each cluster, its mean marked."""
    rows = []
    for row, values in zip(found["table"], np.array(found["jaccard"], dtype=np.float64), strict=True):
        known = values[~np.isnan(values)]
        quantiles = np.percentile(known, (5, 25, 50, 75, 95)).tolist() if len(known) else None
        rows.append({"name": row["cluster"], "quantiles": quantiles, "mean": row["mean_jaccard"]})
    return boxes_svg(rows, 0.0, 1.0, _OF_JACCARD, "Jaccard similarity")


# -- Monti's consensus clustering --------------------------------------------------------------------------------------


_MOST_ITEMS = 200
_MOST_STEPS = 200


def monti_summary(choice: MontiChoice | None, clusters: NDArray[Any]) -> dict[str, Any] | None:
    """What the page shows of Monti's choice; the objects' part only if the consensus has that number of clusters."""
    if choice is None:
        return None
    cdfs = {}
    for k, ensemble in choice.ensembles.items():
        values, cdf = consensus_cdf(ensemble)
        # A staircase of at most so many steps: of each step's values the last.
        places = np.unique(np.linspace(0, len(values) - 1, min(len(values), _MOST_STEPS)).round().astype(np.int64))
        cdfs[str(k)] = [values[places].round(4).tolist(), cdf[places].round(4).tolist()]
    items, best = None, choice.ensembles[choice.best]
    if int(clusters.max(initial=-1)) + 1 == choice.best and len(best) == len(clusters):
        shares = item_consensus(best, clusters)
        known = np.flatnonzero((clusters >= 0) & np.isfinite(shares).all(axis=1))
        order = known[np.lexsort((-shares[known, clusters[known]], clusters[known]))]
        drawn = order[np.linspace(0, len(order) - 1, min(len(order), _MOST_ITEMS)).round().astype(np.int64)]
        percents = np.round(100 * shares[drawn]).astype(int)
        items = {"percent": percents.tolist(), "clusters": clusters[drawn].tolist()}
    return {"best": choice.best, "table": [row._asdict() for row in choice.table], "cdfs": cdfs, "items": items}


def monti_sentence(found: Mapping[str, Any]) -> str:
    """The number that was chosen, and why, as a sentence."""
    row = next(row for row in found["table"] if row["k"] == found["best"])
    if row["p_value"] is None:
        return f"{row['k']} clusters leave {number(row['pac'])} of the pairs ambiguous, the least."
    return (
        f"{row['k']} clusters leave {number(row['pac'])} of the pairs ambiguous, against "
        f"{number(row['reference_pac'])} in data without clusters (p = {row['p_value']:.3g})."
    )


def stability_section(summary: Summary) -> Section | None:
    """The numbers of clusters compared, and each object's place."""
    found = summary.get("stability")
    if not found:
        return None
    columns = ["Clusters", "Ambiguous pairs", "Without clusters", "Stability index", "p", "p (beta)", "Area", "Growth"]
    keys = ["pac", "reference_pac", "rcsi", "p_value", "p_value_beta", "area", "delta_area"]
    rows = [[str(row["k"]), *(number(row[key]) for key in keys)] for row in found["table"]]
    table = Table("Numbers of clusters", columns, rows, text=())
    return Section("How many clusters are stable?", [monti_sentence(found)], list(_monti_pictures(found)), [table])


def _monti_pictures(found: Mapping[str, Any]) -> Iterator[Picture]:
    best, items = found["best"], found["items"]
    pac, reference, growth = (
        {row["k"]: row[name] for row in found["table"]} for name in ("pac", "reference_pac", "delta_area")
    )
    ax = _k_curves.stability_curves(pac, None if None in reference.values() else reference, n_clusters=best)
    sentence = (
        "Parts of the objects were clustered again and again. A pair is ambiguous if it is sometimes together and "
        "sometimes apart. The share of such pairs falls with the number of clusters even without any: what counts "
        "is how far it lies below the line of data without clusters."
    )
    yield picture("Ambiguous pairs", ax, "ambiguity", sentence)
    ax = _k_curves.consensus_cdfs(
        {int(k): (values, cdf) for k, (values, cdf) in found["cdfs"].items()}, n_clusters=best
    )
    sentence = "Share of the pairs that are together at most so often. A stable number has a curve flat in the middle."
    yield picture("How often pairs are together", ax, "cdfs", sentence)
    sentence = (
        "Growth of the area under these curves from one number to the next (the first: the area). It ends after the "
        "true number; its largest value means nothing."
    )
    yield picture("What one cluster more adds", _k_curves.delta_areas(growth, n_clusters=best), "growth", sentence)
    if items:
        ax = plotting.item_consensus_bars(np.array(items["percent"]) / 100, items["clusters"], most=_MOST_ITEMS)
        sentence = (
            "A bar per object (an even choice of them): how often it is together with the members of each cluster. "
            "Bars of one colour are sure."
        )
        yield picture("How stable each object's place is", ax, "items", sentence)


# -- the number that a hierarchy gives ---------------------------------------------------------------------------------


_MOST_ALTERNATIVES = 15
_CLEAR, _FAIR = 2.0, 1.2
_LEAST_TO_HALVE, _MOST_OBJECTS = 8, 10_000


def choice_of_k(
    records: Sequence[Diagnostics], ensemble: Ensemble, consensus: Any, n_refits: int, random_state: Any
) -> dict[str, Any] | None:
    """The numbers of clusters that live longest in the consensus's hierarchy, and those that half an ensemble gives.

    None if the consensus has no lifetimes.
    """
    record = next((record for record in records if isinstance(record, Lifetimes)), None)
    if record is None:
        return None
    lives, asked = record.lifetimes, record.n_clusters
    longest = sorted(lives, key=lambda k: -lives[k])[:_MOST_ALTERNATIVES]
    return {
        "found": asked is None,
        "asked": None if asked is None else int(asked),
        "lifetimes": [[int(k), float(lives[k])] for k in longest],
        "halves": _choices_of_halves(ensemble, consensus, n_refits, random_state) if asked is None else [],
    }


def _choices_of_halves(ensemble: Ensemble, consensus: Any, n_refits: int, random_state: Any) -> list[int]:
    """The number that the method finds in random halves of the partitions, on a sample of the objects."""
    n, p = ensemble.shape
    if p < _LEAST_TO_HALVE or not n_refits:
        return []
    random = np.random.RandomState(task_seeds(random_state, 1)[0])
    weights = np.asarray(consensus._weights)
    halves = [np.sort(random.choice(p, (p + 1) // 2, replace=False)) for _ in range(n_refits)]
    found = []
    try:
        sample = ensemble if n <= _MOST_OBJECTS else ensemble[np.sort(random.choice(n, _MOST_OBJECTS, replace=False))]
        for half in halves:
            model = clone(consensus).set_params(weights=weights[half]).fit(sample.select(half))
            if not model.lifetimes_:  # no partition of three clusters: nothing to choose from
                return []
            found.append(int(model.n_clusters_))
    except ValueError:  # half of them is too little: nothing labelled
        return []
    return found


def clarity_sentence(choice: Mapping[str, Any], n_clusters: int, is_structured: bool = True) -> str:
    """The longest lifetime against the second longest, as a sentence; and how many clusters of it have objects.

    Where structure was looked for and not found, no number is called clear.
    """
    (k, life), halves = choice["lifetimes"][0], choice["halves"]
    if not choice["found"] or n_clusters == k:
        verdict = _longest_against_second(choice, is_structured)
    else:
        are = "is" if n_clusters == 1 else "are"
        verdict = (
            f"{k} clusters live longest ({number(life)}), but only {n_clusters} of them {are} the most likely one of "
            f"any object: {plural(n_clusters, 'cluster')}, and no clear choice."
        )
    if not halves:
        return verdict
    n_alike = halves.count(n_clusters)
    give = "gives" if n_alike == 1 else "give"
    return f"{verdict} {n_alike} of {len(halves)} random halves of the partitions {give} {n_clusters}, too."


def _longest_against_second(choice: Mapping[str, Any], is_structured: bool) -> str:
    (k, life), *others = choice["lifetimes"]
    if not others:
        return f"{k} clusters is the only number that the hierarchy offers."
    second, shorter = others[0]
    if life <= 0:
        return "No number stands out."
    if shorter <= 0:
        return f"{k} clusters is the only number with a lifetime ({number(life)})."
    ratio = life / shorter
    lives = f"{k} clusters live {ratio:.3g} times as long as the next best, {second} ({number(life)} against "
    if not is_structured:
        return f"{lives}{number(shorter)}). This compares numbers; it does not show that there are clusters."
    verdict = "a clear choice" if ratio >= _CLEAR else "a fair choice" if ratio >= _FAIR else "a close call"
    return f"{lives}{number(shorter)}): {verdict}."


# -- clusters that no test keeps apart ---------------------------------------------------------------------------------


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
    is_one = len(found["groups"]) == 1
    after = [
        [
            f"all {len(group)}" if is_one and len(group) > 1 else some(group),
            f"{size:,}",
            "merged" if len(group) > 1 else "as before",
        ]
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
