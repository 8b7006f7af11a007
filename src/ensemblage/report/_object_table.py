"""The single objects on the page: a table of all of them, or of a sample, and a picture; or none of that.

The confidence of each comes from label counts, as do the shares of the partitions that join objects of two clusters.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage import plotting
from ensemblage.labels.counts import count_labels
from ensemblage.labels.ensemble import Ensemble
from ensemblage.metrics._confidence import VERDICTS, confidence_of, verdicts
from ensemblage.metrics._density import labelled_members
from ensemblage.plotting._axes import PALETTE, UNLABELLED_COLOR, printable
from ensemblage.report._charts import places_of_points, points_svg
from ensemblage.report._figure_data import nan_array
from ensemblage.report._layout import (
    Cell,
    Picture,
    Section,
    Table,
    cluster_cell,
    hand_drawn,
    is_full,
    number,
    pictures_of,
    plural,
)
from ensemblage.report._other_answers import K_MEANS

Summary = Mapping[str, Any]

MOST_OBJECTS = 20_000
"""Of more objects the table has those of the picture and the undecided."""
_MOST_UNDECIDED = 5_000
_WIDEST_ID = 120
_AT_ONCE = 10
_NOTE_WITH_ID = re.compile(r"(; |^)ids such as .* are written as they are: import them there as text")
FEW = 5
"""Objects: the median of fewer is near to the value of one."""


def object_table(
    names: Sequence[Any], placed: ObjectConfidence, drawn: NDArray[Any]
) -> tuple[dict[str, Any], list[int]]:
    """What the table of the objects has, column by column; and in which of its rows each of ``drawn`` is.

    All objects in their order; of very many those that are drawn, and the least certain of the undecided.
    """
    n = len(placed.labels)
    rows = np.arange(n)
    if n > MOST_OBJECTS:
        undecided = np.flatnonzero((placed.labels >= 0) & (verdicts(placed.confidence) == VERDICTS[-1]))
        first = np.argsort(placed.confidence[undecided], kind="stable")[:_MOST_UNDECIDED]
        rows = np.union1d(drawn, undecided[first])
    confidence, others = placed.confidence[rows].tolist(), placed.runner_up[rows].tolist()
    columns = {
        "ids": [str(names[i]) for i in rows.tolist()],
        "cluster": placed.labels[rows].tolist(),
        "confidence": [None if c != c else float(f"{c:.6g}") for c in confidence],
        "verdict": "".join(word[:1] or "-" for word in verdicts(placed.confidence[rows]).tolist()),
        "runner_up": [None if other < 0 else other for other in others],
    }
    return columns, np.searchsorted(rows, drawn).tolist()


def remove_objects(summary: Summary) -> dict[str, Any]:
    """The summary without ids and values of single objects. Sections that show such go by ``object_table``."""
    figures = summary["figures"]
    points = figures["points"]
    if points:
        # One or two features are drawn as they are: such a picture shows the values.
        few = (summary["data"]["n_features"] or 0) <= 2
        points = (
            None
            if few
            else {key: value for key, value in points.items() if key not in ("rows", "by_number", "by_number_of")}
        )
    settings = dict(summary["settings"])
    if "notes" in settings:
        settings["notes"] = _NOTE_WITH_ID.sub("", settings["notes"]).removeprefix("; ")
    return {
        **summary,
        "objects_shown": False,
        "objects": None,
        "least_certain": [],
        "profile": _remove_profile_objects(summary.get("profile")),
        "settings": settings,
        "figures": {**figures, "points": points},
    }


def _remove_profile_objects(profile: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """The profile without typical objects, and without the numbers of clusters so small that they are single values."""
    if profile is None:
        return None
    few = {c["cluster"] for c in profile["clusters"] if c["size"] < FEW}
    without_columns: dict[str, Any] = {"rows": [], "markers": [], "drivers": ""}
    heat, place = profile["heat_map"], profile["heat_map"]["clusters"]
    return {
        **profile,
        "clusters": [
            {**c, "typical": None, "border": [], **(without_columns if c["cluster"] in few else {})}
            for c in profile["clusters"]
        ],
        "heat_map": {
            **heat,
            "z": [[None if c in few else z for c, z in zip(place, row, strict=True)] for row in heat["z"]],
        },
        "panels": [
            {
                **panel,
                "quantiles": panel["quantiles"]
                and [
                    [None] * len(values) if c in few else values
                    for c, values in zip(panel["clusters"], panel["quantiles"], strict=True)
                ],
            }
            for panel in profile["panels"]
        ],
    }


def may_show_objects(summary: Summary) -> bool:
    """Whether the page may name single objects."""
    return bool(summary.get("objects_shown", True))


def objects_section(summary: Summary) -> Section | None:
    pictures = [points_picture(summary)] if summary["figures"]["points"] else []
    tables = [_least_certain(summary)] if summary["least_certain"] else []
    if not may_show_objects(summary):
        sentences = ["Ids and values of single objects were left out of this page on purpose."]
        return Section("The objects", sentences, pictures, name="objects")
    if not pictures and not tables:
        return None
    sentences, n, objects = [], summary["data"]["n_objects"], summary.get("objects")
    if objects and len(objects["ids"]) < n:
        sentences.append(
            f"This page has {len(objects['ids']):,} of the {n:,} objects: a sample of every cluster, and those that "
            "are undecided. All of them are in labels.csv."
        )
    if tables:
        totals = [cluster.get("verdicts", {}) for cluster in summary["clusters"]]
        doubtful = sum(words.get(word, 1) for words in totals for word in ("border", "undecided"))
        advice = ": look at them before the others." if doubtful else "; all are core."
        sentences.append(f"The least certain objects come first{advice}")
    return Section("The objects", sentences, pictures, tables, name="objects")


def points_picture(summary: Summary) -> Picture:
    points = summary["figures"]["points"]
    xy, confidence = np.array(points["xy"], dtype=np.float64).reshape(-1, 2), nan_array(points["confidence"])
    svg = points_svg(xy, np.array(points["clusters"]), confidence, points["x_label"], points["y_label"])
    sentence = "Each point is an object, coloured by its cluster; the fainter, the less sure."
    draw = partial(_points_axes, points)
    return hand_drawn("The data, coloured by cluster", svg, "points", draw, sentence, more=points["notes"])


def _points_axes(points: Mapping[str, Any]) -> Any:
    ax = plotting.scatter(points["xy"], points["clusters"], nan_array(points["confidence"]))
    ax.set_xlabel(printable(points["x_label"], 48), parse_math=False)
    ax.set_ylabel(printable(points["y_label"], 48), parse_math=False)
    return ax


def data_of_objects(summary: Summary, sections: Sequence[Section]) -> dict[str, Any] | None:
    """What the page's script shows; None if there is nothing."""
    objects = summary.get("objects")
    if not objects or not may_show_objects(summary):
        return None
    n, shown = summary["data"]["n_objects"], len(objects["ids"])
    sizes = {str(c["cluster"]): c["size"] for c in summary["clusters"]}
    if summary["consensus"]["n_unlabelled"]:
        sizes["-1"] = summary["consensus"]["n_unlabelled"]
    return {
        "title": "All objects" if shown == n else "A sample, and the undecided",
        "total": n,
        "ids": [printable(name, _WIDEST_ID) for name in objects["ids"]],
        "cluster": objects["cluster"],
        "confidence": objects["confidence"],
        "verdict": objects["verdict"],
        "next": objects["runner_up"],
        "sizes": sizes,
        "colors": PALETTE,
        "unlabelled": UNLABELLED_COLOR,
        "points": _points(summary, sections),
    }


def _points(summary: Summary, sections: Sequence[Section]) -> dict[str, Any] | None:
    """In which row of the table each point is, and where in its picture: in ten thousandths of width and height."""
    points = summary["figures"]["points"]
    drawn = [p for section in sections for p in pictures_of(section) if p.name == "points"]
    if not points or "rows" not in points or not drawn:
        return None
    x, y = places_of_points(np.array(points["xy"], dtype=np.float64).reshape(-1, 2))
    return {
        "row": points["rows"],
        "x": x,
        "y": y,
        "by_number": points.get("by_number", {}),
        "of": points.get("by_number_of", K_MEANS),
    }


def _least_certain(summary: Summary) -> Table:
    rows: list[list[Cell]] = []
    for o in summary["least_certain"]:
        other, confidence = o.get("runner_up", o.get("rival")), o["confidence"]
        following: Cell = "–" if other is None or is_full(confidence) else cluster_cell(other)
        of_object = [printable(o["id"], 40), cluster_cell(o["cluster"]), number(confidence, 2), o.get("verdict", "–")]
        rows.append([*of_object, following])
    n, shown = summary["data"]["n_objects"], len(rows)
    title = "The objects" if shown == n else f"The {plural(shown, 'least certain object')}"
    note = (
        "Next best is the other cluster with the most support. At a confidence of ½ the object lies "
        "between the two; below, the partitions would rather put it there."
    )
    columns = ["Object", "Cluster", "Confidence", "Verdict", "Next best"]
    return Table(title, columns, rows, note, shown=_AT_ONCE, text=(0, 1, 3, 4), name="objects")


# -- how sure, from label counts ---------------------------------------------------------------------------------------


_LEAST_CERTAIN = 50


def between_cluster_share(ensemble: Ensemble, labels: NDArray[Any], weights: NDArray[np.float64]) -> float | None:
    """Pairs of objects of different clusters: Σ w joined / Σ w labelled, over the partitions."""
    objects = np.ones(len(ensemble), dtype=np.int64)
    profile = count_labels(ensemble.rows, labels, objects, ensemble.offsets, int(labels.max(initial=-1)) + 1)
    counts = profile.astype(np.float64)
    counts[:, ensemble.offsets[1:] - 1] = 0  # missing entries join with nobody
    joined = np.add.reduceat(counts.sum(axis=0) ** 2 - (counts**2).sum(axis=0), ensemble.offsets[:-1])
    members = labelled_members(profile, ensemble.offsets).astype(np.float64)
    pairs = members.sum(axis=0) ** 2 - (members**2).sum(axis=0)
    total = (weights * pairs).sum()
    return float((weights * joined).sum() / total) if total > 0 else None


class ObjectConfidence(NamedTuple):
    """Where the objects are, and how sure."""

    labels: NDArray[np.int64]
    confidence: NDArray[np.float64]
    runner_up: NDArray[np.int32]
    cohesion: NDArray[np.float64]

    @classmethod
    def of(
        cls, ensemble: Ensemble, consensus: Any, labels: NDArray[Any], weights: NDArray[np.float64]
    ) -> ObjectConfidence:
        """As the consensus knows it; what it does not know is counted."""
        names = ("confidence_", "runner_up_", "cohesion_")
        if all(hasattr(consensus, name) for name in names):
            return cls(labels, *(getattr(consensus, name) for name in names))
        found = confidence_of(ensemble, labels, weights)
        confidence = getattr(consensus, "confidence_", found.confidence)
        return cls(labels, np.asarray(confidence, dtype=np.float64), found.runner_up, found.cohesion)

    def verdict_counts(self) -> list[dict[str, int]]:
        """Core, border and undecided objects of each cluster."""
        words = verdicts(self.confidence)
        n_clusters = int(self.labels.max(initial=-1)) + 1
        of_words = {
            w: np.bincount(self.labels[(words == w) & (self.labels >= 0)], minlength=n_clusters) for w in VERDICTS
        }
        return [{word: int(counts[c]) for word, counts in of_words.items()} for c in range(n_clusters)]

    def least_certain(self, names: Sequence[Any]) -> list[dict[str, Any]]:
        """The objects of the lowest confidence, and where else they could belong."""
        candidates = np.flatnonzero((self.labels >= 0) & ~np.isnan(self.confidence))
        if len(candidates) > _LEAST_CERTAIN:
            limit = np.partition(self.confidence[candidates], _LEAST_CERTAIN - 1)[_LEAST_CERTAIN - 1]
            candidates = candidates[self.confidence[candidates] <= limit]
        objects = candidates[np.lexsort((candidates, self.confidence[candidates]))][:_LEAST_CERTAIN]
        words = verdicts(self.confidence[objects])
        return [
            {
                "id": str(names[i]),
                "cluster": int(self.labels[i]),
                "confidence": float(self.confidence[i]),
                "verdict": str(word),
                "runner_up": int(self.runner_up[i]) if self.runner_up[i] >= 0 else None,
            }
            for i, word in zip(objects.tolist(), words.tolist(), strict=True)
        ]
