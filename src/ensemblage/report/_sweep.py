"""The page of a sweep over resolutions: which to take, how the clusters change, and what is certain of the answer."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ensemblage import plotting
from ensemblage.choices._choice_records import Plateau, ResolutionChoice
from ensemblage.labels.ensemble import Ensemble
from ensemblage.metrics import ensemble_ari, verdicts
from ensemblage.metrics._confidence import VERDICTS
from ensemblage.plotting import _k_curves
from ensemblage.plotting._axes import printable
from ensemblage.plotting._clusters import confidence_boxes, confidence_quantiles
from ensemblage.report._answer import TERMS
from ensemblage.report._layout import (
    Cell,
    Picture,
    Section,
    Table,
    cluster_cell,
    is_full,
    number,
    percent,
    picture,
    plural,
    render_page,
)

Summary = Mapping[str, Any]

MOST_DRAWN = 2_000
"""Objects by which trees and boxes are drawn."""
SWEEP_TERMS = (
    (
        "Resolution",
        "How fine a graph is clustered: the higher, the more and the smaller the communities.",
    ),
    (
        "Stability",
        (
            "Parts of the objects are drawn, and each is clustered on its own. The mean adjusted Rand index of two "
            "such partitions, on the objects that are in both: 1 if they are the same, 0 if they agree by chance. One "
            "cloud without clusters has .5 or less in many dimensions, and up to .8 in one or two."
        ),
    ),
    (
        "Reproduced",
        "A cluster whose mean Jaccard similarity with the cluster of a part that is most like it is .75 or more.",
    ),
    (
        "Plateau",
        "Successive resolutions whose partitions of all objects agree, each two with an adjusted Rand index of .9.",
    ),
    *TERMS,
)


def sweep_summary(
    choice: ResolutionChoice,
    *,
    title: str,
    settings: Mapping[str, Any],
    color: tuple[str, Any] | None = None,
    truth: Any = None,
) -> dict[str, Any]:
    """The numbers of the page; ``color`` is a variable of the objects and its name, ``truth`` their known classes."""
    n = len(next(iter(choice.labels.values())))
    shown = slice(None, None, -(-n // MOST_DRAWN))
    variable = None
    if color is not None:
        values = np.asarray(color[1], dtype=np.float64)[shown]
        variable = {"name": color[0], "values": [None if v != v else v for v in values.tolist()]}
    return {
        "title": title,
        "n_objects": n,
        "n_resamples": choice.n_resamples,
        "n_members": choice.ensemble.shape[1],
        "sentence": choice.sentence,
        "evidence": choice.evidence,
        "best": choice.best,
        "table": [
            {name: None if value != value else value for name, value in row._asdict().items()} for row in choice.table
        ],
        "plateaus": [_plateau(choice, plateau, truth) for plateau in choice.plateaus],
        "clusters": [] if choice.plateau is None else _clusters(choice.plateau),
        "boxes": [] if choice.plateau is None else _boxes(choice.plateau),
        "labels": {f"{r:g}": z[shown].tolist() for r, z in choice.labels.items()},
        "cluster_stability": {f"{r:g}": [round(j, 4) for j in s.tolist()] for r, s in choice.cluster_stability.items()},
        "variable": variable,
        "notes": choice.notes,
        "settings": dict(settings),
    }


def _plateau(choice: ResolutionChoice, plateau: Plateau, truth: Any) -> dict[str, Any]:
    words, (least, most) = verdicts(plateau.consensus.confidence_), choice._numbers_of(plateau)
    return {
        "resolutions": list(plateau.resolutions),
        "resolution": plateau.resolution,
        "interval": plateau.interval,
        "n_clusters": plateau.n_clusters,
        "numbers": [least, most],
        "found": choice._clusters_at(plateau, "resolution "),
        "stability": plateau.stability,
        "found_again": plateau.found_again,
        "verdict": plateau.verdict,
        "verdicts": {word: int((words == word).sum()) for word in VERDICTS},
        "ari": None if truth is None else ensemble_ari(Ensemble.from_partitions([truth]), plateau.consensus.labels_),
        "stories": None if plateau.modes is None else [float(weight) for weight in plateau.modes.weights_],
    }


def _clusters(plateau: Plateau) -> list[dict[str, Any]]:
    model, words = plateau.consensus, verdicts(plateau.consensus.confidence_)
    found = []
    for cluster, called in enumerate(model.cluster_numbers_.tolist()):
        own = model.labels_ == cluster
        if not own.any():
            continue
        others = model.runner_up_[own & ~np.array([is_full(c) for c in model.confidence_.tolist()])]
        others = others[others >= 0]
        found.append(
            {
                "cluster": called,
                "size": int(own.sum()),
                "confidence": float(np.nanmean(model.confidence_[own])),
                "verdicts": {word: int((words[own] == word).sum()) for word in VERDICTS},
                "next": int(model.cluster_numbers_[np.bincount(others).argmax()]) if len(others) else None,
            }
        )
    return found


def _boxes(plateau: Plateau) -> list[dict[str, Any]]:
    model = plateau.consensus
    return confidence_quantiles(model.confidence_, model.labels_)


def sweep_page(summary: Summary) -> str:
    """The page, as HTML."""
    sections = [_answer(summary), *_confidence(summary), _provenance(summary)]
    return render_page(summary["title"], _headline(summary), _facts(summary), sections)


def _headline(summary: Summary) -> str:
    best = summary["best"]
    if best is None:
        return "One cluster at every resolution"
    plateau = summary["plateaus"][best]
    found = str(plateau["found"])
    return found if plateau["verdict"] == "stable" else f"No stable resolution; nearest to it: {found}"


def _facts(summary: Summary) -> list[tuple[str, str]]:
    facts = [("objects", f"{summary['n_objects']:,}"), ("resolutions", f"{len(summary['table'])}")]
    facts.append(("resamples", f"{summary['n_resamples']}"))
    if summary["best"] is None:
        return facts
    plateau = summary["plateaus"][summary["best"]]
    total = max(1, sum(plateau["verdicts"].values()))
    shares = [(f"{word}", percent(plateau["verdicts"][word] / total)) for word in ("core", "undecided")]
    return [*facts, ("clusters", f"{plateau['n_clusters']}"), ("stability", number(plateau["stability"], 2)), *shares]


def _answer(summary: Summary) -> Section:
    rows = summary["table"]
    spans = [(p["resolutions"][0], p["resolutions"][-1]) for p in summary["plateaus"]]
    ax = _k_curves.stability_by_resolution(
        {row["resolution"]: row["stability"] for row in rows},
        {row["resolution"]: row["found_again"] for row in rows},
        plateaus=spans,
        best=summary["best"],
    )
    sentence = (
        "Real clusters are reproduced in parts of the objects. The bars below are the plateaus; the green one is "
        "chosen. One cluster is always reproduced, and is no answer."
    )
    tables = [_table_of_plateaus(summary["plateaus"])] if summary["plateaus"] else []
    return Section(
        "Which resolution?",
        [summary["sentence"]],
        [picture("Stability", ax, "stability", sentence), *_trees(summary)],
        [*tables, _table_of_resolutions(rows)],
        terms=SWEEP_TERMS,
        name="resolution",
    )


def _table_of_plateaus(plateaus: Sequence[Mapping[str, Any]]) -> Table:
    rows: list[list[Cell]] = [
        [
            p["interval"],
            str(p["n_clusters"]) + ("" if p["numbers"][0] == p["numbers"][1] else " ({} to {})".format(*p["numbers"])),
            number(p["stability"], 2),
            percent(p["found_again"]),
            p["verdict"],
            percent(p["verdicts"]["core"] / max(1, sum(p["verdicts"].values()))),
            percent(p["verdicts"]["undecided"] / max(1, sum(p["verdicts"].values()))),
            "–" if p["stories"] is None else " + ".join(percent(weight) for weight in p["stories"]),
        ]
        for p in plateaus
    ]
    columns = ["Resolutions", "Clusters", "Stability", "Reproduced", "Verdict", "Core", "Undecided", "Stories"]
    if plateaus[0]["ari"] is not None:
        columns.append("ARI with known classes")
        rows = [[*row, number(p["ari"], 2)] for row, p in zip(rows, plateaus, strict=True)]
    note = (
        "Clusters: at the most stable of the resolutions, in brackets at all of them. "
        "Core and undecided: shares of the objects in the consensus of the plateau. Stories: shares of its partitions "
        "by what they tell (Peixoto 2021), looked for where the plateau is stable or taken."
    )
    return Table("Plateaus", columns, rows, note, text=(0, 4, 7), wide=True)


def _table_of_resolutions(rows: Sequence[Mapping[str, Any]]) -> Table:
    cells: list[list[Cell]] = [
        [
            f"{row['resolution']:g}",
            str(row["n_clusters"]),
            number(row["stability"], 2),
            number(row["lowest"], 2),
            percent(row["found_again"]),
            number(row["agreement"], 2),
            "–" if row["plateau"] is None else str(row["plateau"] + 1),
            row["status"],
        ]
        for row in rows
    ]
    columns = ["Resolution", "Clusters", "Stability", "Lowest", "Reproduced", "As before", "Plateau", "Status"]
    note = (
        "Lowest: of the part that agrees least with the others. As before: adjusted Rand index with the partition of "
        "all objects at the resolution above."
    )
    return Table("Resolutions", columns, cells, note, text=(7,), wide=True)


def _trees(summary: Summary) -> Iterator[Picture]:
    """How the clusters change from one resolution to the next."""
    labels = {float(r): np.array(z) for r, z in summary["labels"].items()}
    # Clusters above the last one among the objects that are drawn have no place in the figure.
    again = {float(r): s[: int(labels[float(r)].max()) + 1] for r, s in summary["cluster_stability"].items()}
    best = summary["best"]
    chosen = None if best is None else summary["plateaus"][best]["resolution"]
    sentence = (
        "A row per resolution, a dot per cluster, its size by its objects, its colour by how well it is "
        "reproduced in parts of the objects. Lines show where the objects of a cluster come from: one thick line, and "
        "the cluster is a part of one above; several, and the resolutions disagree."
    )
    ax = plotting.clustree(labels, color=again, n_clusters=chosen)
    yield picture("From one resolution to the next", ax, "clustree", sentence)
    if variable := summary["variable"]:
        values = np.array([np.nan if v is None else v for v in variable["values"]], dtype=np.float64)
        ax = plotting.clustree(labels, color=values, n_clusters=chosen)
        caption = f"The same, each cluster coloured by the mean of {printable(variable['name'], 60)}."
        yield picture(f"By {printable(variable['name'], 40)}", ax, "variable", caption)


def _confidence(summary: Summary) -> list[Section]:
    clusters = summary["clusters"]
    if not clusters:
        return []
    rows: list[list[Cell]] = [
        [
            cluster_cell(c["cluster"]),
            f"{c['size']:,}",
            number(c["confidence"], 2),
            *(f"{c['verdicts'][word]:,} ({percent(c['verdicts'][word] / c['size'])})" for word in VERDICTS),
            "–" if c["next"] is None else cluster_cell(c["next"]),
        ]
        for c in clusters
    ]
    columns = ["Cluster", "Objects", "Mean confidence", "Core", "Border", "Undecided", "Next best"]
    ax = confidence_boxes(summary["boxes"])
    p = summary["plateaus"][summary["best"]]
    sentences = [
        (
            f"{plural(summary['n_members'], 'partition')} of the plateau are combined: of parts of the objects, and "
            f"{len(p['resolutions'])} of all. Each object has a cluster, a confidence and a next best cluster."
        )
    ]
    drawn = picture("Confidence of the objects", ax, "confidence", "Boxes: half of the objects; lines: nine of ten.")
    table = Table("Clusters", columns, rows, text=(0, 6), wide=True)
    return [Section("Confidence of each object", sentences, [drawn], [table], name="confidence")]


def _provenance(summary: Summary) -> Section:
    rows: list[list[Cell]] = [[name, str(value)] for name, value in summary["settings"].items()]
    return Section(
        "How was it made?",
        summary["notes"],
        tables=[Table("Settings", ["Setting", "Value"], rows, text=(0, 1), wide=True)],
        name="made",
    )
