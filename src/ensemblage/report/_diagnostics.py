"""What the page says of a record of diagnostics, by its kind: sentences, figures and tables."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial, singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage import plotting
from ensemblage.consensus.diagnostics import (
    Candidates,
    Cut,
    Dendrogram,
    Diagnostics,
    Lifetimes,
    Memberships,
    PairCounts,
    Splits,
    Trace,
    diagnostics_from_dict,
)
from ensemblage.consensus.hierarchies._linkage import LINKAGES
from ensemblage.plotting import _dendrograms, _k_curves, _matrices, _scatter
from ensemblage.plotting._axes import printable
from ensemblage.report._answer import is_without_structure
from ensemblage.report._charts import bars_svg, hierarchy_svg
from ensemblage.report._figure_data import symmetric_matrix
from ensemblage.report._layout import Picture, Section, Table, hand_drawn, number, percent, picture, plural
from ensemblage.report._n_clusters import clarity_sentence

Summary = Mapping[str, Any]

MOST_BRANCHES = 200
"""A hierarchy of more leaves, or of more clusters, is not drawn."""
MOST_SPLITS = 200
_MOST_BARS = 15


def diagnostics_sections(summary: Summary, how_many: bool) -> list[Section]:
    """The sections on intermediate results of the method: parts of one section are joined.

    Either those on the number of clusters, or the others.
    """
    sections: dict[str, Section] = {}
    records = map(diagnostics_from_dict, summary["evidence"])
    for record in (record for record in records if isinstance(record, Lifetimes) == how_many):
        part = diagnostics_part(record, summary)
        known = sections.get(part.title, Section(part.title))
        sections[part.title] = Section(
            part.title,
            [*known.sentences, *part.sentences],
            [*known.pictures, *part.pictures],
            [*known.tables, *part.tables],
        )
    return [section for section in sections.values() if section.sentences or section.pictures]


def drawable_record(record: Diagnostics) -> Diagnostics | None:
    """The record as far as the page draws it; None if it is too large for a picture."""
    if not isinstance(record, Dendrogram):
        return record
    if record.leaves == "object":
        if record.clusters.max() >= MOST_BRANCHES:
            return None
        merges, sizes, clusters = _dendrograms.last_merges(record.merges, record.clusters)
        return replace(record, merges=merges, sizes=sizes.astype(np.float64), clusters=clusters)
    return record if len(record.merges) <= MOST_BRANCHES else None


@singledispatch
def diagnostics_part(record: Diagnostics, summary: Summary) -> Section:
    """What the page says of a record, and in which section."""
    raise TypeError(type(record).__name__)


@singledispatch
def diagnostics_sentences(record: Diagnostics) -> list[str]:
    """What a record says, in sentences that need no figure."""
    return []


@diagnostics_part.register
def _(record: Lifetimes, summary: Summary) -> Section:
    choice = summary["choice"]
    k = record.chosen
    were = "was" if k == 1 else "were"
    if record.n_clusters is None:
        chosen = "The longest was taken"
    elif summary.get("chosen") or summary.get("number"):  # nobody asked: the number was found by other means
        chosen = f"The answer has {plural(k, 'cluster')}"
    else:
        chosen = f"{plural(k, 'cluster')} {were} asked for"
    sentence = (
        "The lifetime of a number of clusters is the range of distances at which the hierarchy has that many. One bar "
        f"far above the others means that the partitions support that number. {chosen}."
    )
    longest_lived = sorted(record.lifetimes, key=lambda q: -record.lifetimes[q])[:_MOST_BARS]
    lives = {q: record.lifetimes[q] for q in longest_lived}
    svg = bars_svg(lives, "number of clusters", "lifetime", k)
    draw = partial(plotting.diagnostics, record)
    pictures = [hand_drawn("How long each number lives", svg, "lifetimes", draw, sentence)]
    if choice["halves"]:
        refits = plural(len(choice["halves"]), "refit")
        sentence = (
            f"The same method was fitted again to random halves of the partitions, {refits}: how often it finds each "
            "number (bars), and the share of the refits up to there (line)."
        )
        ax = _k_curves.estimated_clusters(choice["halves"])
        pictures.append(picture("How often each number is found", ax, "halves", sentence))
    longest = choice["lifetimes"][0][1]
    rows = [[f"{k}", number(life), percent(life / longest if longest > 0 else None)] for k, life in choice["lifetimes"]]
    table = Table("The alternatives", ["Clusters", "Lifetime", "Of the longest"], rows, shown=6, text=())
    return Section(
        "How many clusters, by the hierarchy of the partitions",
        [clarity_sentence(choice, len(summary["clusters"]), not is_without_structure(summary))],
        pictures,
        [table],
    )


@diagnostics_part.register
def _(record: Dendrogram, summary: Summary) -> Section:
    band = "The grey band is the lifetime of the number of clusters drawn."
    if record.leaves == "object":
        branches = plural(len(record.sizes), "branch").replace("branchs", "branches")
        pairs = LINKAGES[record.linkage].pairs
        sentence = (
            f"The last merges of the hierarchy, {branches}. Two branches meet at one minus the association of {pairs}."
        )
        title, name = "How the clusters come together", "hierarchy"
    else:
        sentence = (
            f"The {plural(len(record.clusters), 'cluster')} of the reference partition, joined at the "
            f"{record.distance} of their objects: low where the votes give them the same objects."
        )
        title, name = "Which clusters are the same", "merges"
    draw = partial(plotting.diagnostics, record)
    if record.leaves == "object" and len(record.sizes):
        svg = hierarchy_svg(record.merges, record.sizes, record.clusters, "1 − similarity")
        return Section("The evidence", [], [hand_drawn(title, svg, name, draw, sentence, band)])
    return Section("The evidence", [], [picture(title, draw(), name, sentence, band)])


@diagnostics_part.register
def _(record: PairCounts, summary: Summary) -> Section:
    named = {"kmeans": "two means", "gmm": "two Gaussians"}
    record = replace(record, parted_at={named.get(name, name): at for name, at in record.parted_at.items()})
    pictures = []
    if len(record.counts):
        lines = "The bars are the other pairs; lines part weak associations from strong ones."
        ax, title = plotting.diagnostics(record), "How strong the associations are"
        pictures.append(picture(title, ax, "associations", *diagnostics_sentences(record), lines))
    if record.threshold is not None:
        matrix = summary["figures"]["matrix"]
        shares = symmetric_matrix(matrix["percent"]) / 100
        axes = _matrices.thresholded_matrices(shares, matrix["clusters"], record.threshold, sizes=matrix["sizes"])
        sentence = "The pairs of the consensus matrix, before and after weak associations were taken away."
        pictures.append(picture("Without weak associations", axes[0], "thresholded", sentence))
    return Section("The evidence", [], pictures)


@diagnostics_sentences.register
def _(record: PairCounts) -> list[str]:
    taken = [] if record.threshold is None else [f"Those up to {number(record.threshold)} were taken away."]
    if not len(record.counts):
        return taken
    total = int(record.counts.sum())
    apart = percent(int(record.counts[0]) / total if total else None)
    sentence = f"No partition joins {apart} of the {total:,} pairs of {record.n_objects:,} objects."
    return [sentence, *taken]


@diagnostics_part.register
def _(record: Candidates, summary: Summary) -> Section:
    pictures = []
    known = np.isfinite(record.scores)
    if len(record.values) > 1 and known.any():
        ticks = "Ticks at the upper edge: a cluster that is too small to be judged or falls apart."
        ax, said = plotting.diagnostics(record), [] if known.all() else [ticks]
        pictures.append(picture("The values that were tried", ax, "candidates", *said))
    return Section("How the clusters were made", diagnostics_sentences(record), pictures)


@diagnostics_sentences.register
def _(record: Candidates) -> list[str]:
    known = np.isfinite(record.scores)
    n, what = len(record.values), record.parameter
    if not known.any():
        kept = f"The smallest was kept, {number(record.values[0])}."
        return [f"Of {plural(n, 'value')} for the {what} none could be judged: clusters were too small. {kept}"]
    best, *others = np.argsort(np.where(known, record.scores, np.inf), kind="stable")[: known.sum()].tolist()
    is_whole = bool((record.values == np.floor(record.values)).all())
    value = [f"{x:g}" if is_whole else number(x) for x in record.values.tolist()]
    found = f"{value[best]} ({record.score} {number(record.scores[best])})"
    if n == 1:
        return [f"The {what} was {found}."]
    tried = f"{plural(n, 'value')} for the {what} gave different {record.made}."
    then = f", then {value[others[0]]} ({number(record.scores[others[0]])})" if others else ""
    return [f"{tried} The best was {found}{then}; the less, the better."]


@diagnostics_part.register
def _(record: Splits, summary: Summary) -> Section:
    rows = [
        [str(t + 2), str(int(size)), number(loss), number(after), number(gain, 4)]
        for t, (size, loss, after, gain) in enumerate(
            zip(record.size[:MOST_SPLITS], record.loss, record.loss_after, record.gain, strict=False)
        )
    ]
    columns = ["Clusters then", "Objects split", "Their loss", "Loss of the halves", "Gain in density"]
    note = f"The first {MOST_SPLITS} of {len(record.size):,}." if len(record.size) > MOST_SPLITS else ""
    sentence = (
        "Each split takes away a part of the disagreement with the partitions (the k-means loss). Where the curve "
        "bends, further splits explain less."
    )
    title, ax = "What each split took away", plotting.diagnostics(record)
    table = Table("The splits", columns, rows, note, shown=10, text=())
    curve = picture(title, ax, "split_losses", sentence, *diagnostics_sentences(record))
    return Section("How the clusters were made", [], [curve], [table])


@diagnostics_sentences.register
def _(record: Splits) -> list[str]:
    losses = record.losses
    left = percent(losses[-1] / losses[0] if losses[0] > 0 else 0.0)
    return [f"{plural(len(losses), 'cluster')} leave {left} of the k-means loss."]


@diagnostics_sentences.register
def _(record: Trace) -> list[str]:
    first, last, n = record.values[0], record.values[-1], len(record.values) - 1
    if not n:
        return [f"No single move raises the {record.quantity} of the clusters, {number(first)}."]
    rounds = plural(n, "round")
    return [f"Single moves raised the {record.quantity} from {number(first, 5)} to {number(last, 5)} in {rounds}."]


@diagnostics_part.register
def _(record: Memberships, summary: Summary) -> Section:
    sentence = (
        "Each row is an object; the stronger the colour of a cell, the larger the share of votes for that cluster. "
        "Rows with two cells of middling colour are objects between clusters."
    )
    note = summary["figures"]["matrix"]["note"]
    names = summary["consensus"].get("numbers")
    ax = plotting.membership(record.membership, record.clusters, sizes=record.sizes, names=names)
    pictures = [picture("What the votes say of each object", ax, "membership", sentence, note)]
    points = summary["figures"]["points"]
    if points and points.get("entropy"):
        pictures.append(_entropies(points))
    return Section("How soft are the clusters?", diagnostics_sentences(record), pictures)


@diagnostics_sentences.register
def _(record: Memberships) -> list[str]:
    voted = ~np.isnan(record.membership).any(axis=1)
    if not voted.any():
        return []
    sure = record.membership[voted].max(axis=1) >= 0.75
    share = percent(float(np.average(sure, weights=record.sizes[voted])))
    return [f"{share} of the objects have three quarters of their votes or more in one cluster."]


def _entropies(points: Mapping[str, Any]) -> Picture:
    entropy = points["entropy"]
    ax = _scatter.entropy_scatter(points["xy"], np.array(entropy, dtype=np.float64))
    ax.set_xlabel(printable(points["x_label"], 48), parse_math=False)
    ax.set_ylabel(printable(points["y_label"], 48), parse_math=False)
    known = [h for h in entropy if h is not None]
    unsure = sum(h > 0.5 for h in known) / len(known) if known else None
    meant = "Entropy of each object's votes: 0 if all are for one cluster, 1 if all clusters get the same share."
    found = f"{percent(unsure)} of the points are above one half."
    return picture("Where the votes are undecided", ax, "entropy", meant, found)


@diagnostics_part.register
def _(record: Trace | Cut, summary: Summary) -> Section:
    return Section("How the clusters were made", diagnostics_sentences(record))


@diagnostics_sentences.register
def _(record: Cut) -> list[str]:
    return [f"The {record.criterion} of the clusters is {number(record.value)}, of at most {number(record.bound)}."]


def upgrade_first_schema(summary: Summary) -> dict[str, Any]:
    """A summary of schema 1, which had the evidence as numbers of figures, with its records; entropies of the votes
    stand with the points.
    """
    figures, found = summary["figures"], list[Diagnostics]()
    choice, votes, hierarchy = summary.get("choice"), figures.get("voting"), figures.get("evidence")
    if choice:
        asked = None if choice["found"] else choice.get("asked") or len(summary["clusters"])
        found.append(Lifetimes({int(k): life for k, life in choice["lifetimes"]}, asked))
    if votes:
        if votes["merges"]:
            clusters, none = np.array(votes["cluster_of_reference"]), np.empty(0)
            merges = np.array(votes["merges"])
            found.append(Dendrogram(merges, none, clusters, "cluster", "average", "Jensen–Shannon divergence"))
        shares: NDArray[np.float64] = np.array(votes["percent"], dtype=np.float64) / 100
        found.append(Memberships(shares, np.array(votes["clusters"]), np.array(votes["sizes"])))
    if hierarchy:
        if hierarchy["merges"]:
            merges, sizes, clusters = (np.array(hierarchy[key]) for key in ("merges", "sizes", "clusters"))
            found.append(Dendrogram(merges, sizes, clusters, "object", hierarchy["linkage"], "1 − similarity"))
        pairs = hierarchy["associations"] or {"counts": [], "thresholds": {}}
        n = summary["data"]["n_objects"]
        found.append(PairCounts(np.array(pairs["counts"]), pairs["thresholds"], hierarchy["threshold"], n))
    if figures.get("splits"):
        of = [np.array([split[key] for split in figures["splits"]]) for key in ("size", "loss", "loss_after", "gain")]
        found.append(Splits(*of))
    if figures.get("climb"):
        found.append(Trace("density", np.array(figures["climb"])))
    if figures.get("search"):
        thresholds, scores = np.array(figures["search"], dtype=np.float64).T
        found.append(Candidates("threshold on the co-associations", thresholds, "MM index", scores, "graphs"))
    if votes and figures["points"]:
        figures = {**figures, "points": {**figures["points"], "entropy": votes["entropy"]}}
    return {**summary, "figures": figures, "evidence": [record.to_dict() for record in found]}
