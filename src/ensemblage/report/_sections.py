"""The sections of the page, in the order of a person's questions: what was found, what are the clusters, where is each
object, can it be trusted, what is it made of, how is it repeated, what comes next.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from ensemblage import plotting
from ensemblage.plotting._axes import printable
from ensemblage.report._answer import RATING, answer_section, clusters_section, confidence_picture, is_finer
from ensemblage.report._charts import agreement_svg, association_svg
from ensemblage.report._chosen import rated_numbers_section, weights_section
from ensemblage.report._evidence import evidence_sections
from ensemblage.report._figure_data import nan_array, symmetric_matrix
from ensemblage.report._layout import Picture, Section, Table, hand_drawn, member_text, number, percent, plural
from ensemblage.report._merged import merged_section
from ensemblage.report._methods import methods_section
from ensemblage.report._modes import modes_section
from ensemblage.report._n_clusters import cluster_stability_section, k_choice_section
from ensemblage.report._next import next_section
from ensemblage.report._object_table import objects_section
from ensemblage.report._other_numbers import other_numbers_section
from ensemblage.report._provenance import contents_section, provenance_section
from ensemblage.report._ranking import ranking_section
from ensemblage.report._stability import stability_section

Summary = Mapping[str, Any]

_EQUAL = 1e-9
MOST_ALERTS = 5
"""That are shown before the answer; the others are folded away, and numbered in the shell."""

PARTITION_TERMS = (
    ("Partition", "One clustering of the objects, a member of the ensemble that was combined."),
    ("Consensus", "The one clustering that agrees best with all of them, by the rule of the method: the answer here."),
    (
        "Co-association",
        (
            "Of two objects: the share of the partitions that put them into the same cluster. The matrix of all pairs "
            "is the consensus matrix; the mean over the pairs inside a cluster is its cohesion."
        ),
    ),
    ("Adjusted Rand index (ARI)", "How alike two clusterings are: 1 for equal ones, about 0 for unrelated ones."),
)
TRUST_TERMS = {
    "chosen": RATING,
    "choice": (
        "Lifetime",
        "Of a number of clusters: the range of distances at which a hierarchy of the objects has that many.",
    ),
    "found_again": (
        "Jaccard similarity",
        "Of two sets of objects: those in both over those in either. 1: the same objects; 0: none in common.",
    ),
    "truth": (
        "Mutual information",
        "The information that one clustering gives about another; adjusted, 0 for unrelated and 1 for equal ones.",
    ),
}


def sections_of(summary: Summary) -> list[Section]:
    """The sections in the order of the page."""
    sections = [
        alerts_section(summary),
        answer_section(summary),
        clusters_section(summary),
        objects_section(summary),
        trust_section(summary),
        partitions_section(summary),
        provenance_section(summary),
        contents_section(summary),
        next_section(summary),
    ]
    return [section for section in sections if section is not None]


def alerts_section(summary: Summary) -> Section | None:
    """What of the data probably makes a wrong answer."""
    texts = [alert["text"][0].upper() + alert["text"][1:] for alert in summary.get("alerts", ())]
    if not texts:
        return None
    sentence = "Settle what follows before you use the answer: it may make the answer wrong."
    return Section("Alerts", [sentence, *texts[:MOST_ALERTS]], more=texts[MOST_ALERTS:], name="alerts")


def trust_section(summary: Summary) -> Section:
    """Whether the answer can be trusted: how many clusters, reproduced or not, against classes that are known."""
    how_many = [k_choice_section(summary), rated_numbers_section(summary), *evidence_sections(summary, how_many=True)]
    parts = [
        *(*how_many, other_numbers_section(summary), cluster_stability_section(summary)),
        *(merged_section(summary), stability_section(summary)),
    ]
    parts += [methods_section(summary), truth_section(summary)]
    terms = [term for key, term in TRUST_TERMS.items() if summary.get(key)]
    sentence = "The certainty of an object says how far the clusterings agree on its place, not that they are right."
    sentence = " ".join([sentence, *_shared_error(summary)])
    known = [part for part in parts if part is not None]
    return Section("Can I trust it?", [sentence], [confidence_picture(summary)], parts=known, terms=terms, name="trust")


def _shared_error(summary: Summary) -> Iterator[str]:
    """Why the partitions may agree on an error."""
    shared, alike = summary["consensus"].get("shared", {}), []
    if shared.get("name"):
        alike.append(f"seem, by their names ({printable(shared['name'], 40)}), to be of one algorithm")
    if shared.get("k"):
        alike.append(f"have {plural(shared['k'], 'cluster')} each")
    if alike:
        yield f"They {' and '.join(alike)}; an error that all of them make cannot be seen."


def partitions_section(summary: Summary) -> Section:
    """What was combined, how far it agrees, and intermediate results of the method."""
    n = plural(summary["data"]["n_partitions"], "clustering")
    sentence = f"The answer was combined from {n} of the same objects (partitions)."
    shown = [weights_section(summary), modes_section(summary), agreement_section(summary), ranking_section(summary)]
    parts = [*(part for part in shown if part is not None), *evidence_sections(summary, how_many=False)]
    return Section("The partitions", [sentence], parts=parts, terms=PARTITION_TERMS, name="partitions")


def agreement_section(summary: Summary) -> Section:
    return Section("Do the partitions agree?", pictures=[_matrix(summary), _agreement(summary)])


def truth_section(summary: Summary) -> Section | None:
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
    return Section("Compared with the known classes", sentences, tables=[_scores_against_truth(summary)])


def _matrix(summary: Summary) -> Picture:
    matrix = summary["figures"]["matrix"]
    sentences = [
        (
            "Rows and columns are objects: the stronger the colour of a cell, the more partitions put the two "
            "together. Strong blocks on the diagonal are clusters the partitions agree on, strong patches elsewhere "
            "are clusters they mix."
        ),
        matrix["note"],
    ]
    mixed = [c for c in summary["clusters"] if c["nearest"] and c["nearest"]["share"] > 0]
    if mixed:
        c = max(mixed, key=lambda cluster: cluster["nearest"]["share"])
        sentences.append(
            f"Clusters {c['cluster']} and {c['nearest']['cluster']} are the hardest to tell apart: "
            f"{percent(c['nearest']['share'])} of the partitions join an object of one with an object of the other."
        )
    shares = symmetric_matrix(matrix["percent"]) / 100
    draw = partial(plotting.consensus_matrix, shares, matrix["clusters"], sizes=matrix["sizes"])
    label = "share of partitions that join the two objects"
    svg = association_svg(shares, matrix["clusters"], matrix["sizes"], label)
    return hand_drawn("How often two objects are together", svg, "matrix", draw, *sentences)


def _agreement(summary: Summary) -> Picture:
    figure, members = summary["figures"]["agreement"], summary["members"]
    drawn = [members[j] for j in figure["members"]]
    sentences = [
        (
            "Rows and columns are partitions, those that agree best with the consensus first; the strip on top is the "
            "consensus itself. The adjusted Rand index is 1 for equal clusterings and about 0 for unrelated ones."
        ),
        *_consensus_and_members(summary),
    ]
    if len(drawn) < len(members):
        sentences.append(f"Of {len(members):,} partitions {len(drawn):,} are drawn, evenly from best to worst.")
    strip = nan_array([member["agreement"] for member in drawn])
    ari, names = symmetric_matrix(figure["ari"]), [member["name"] for member in drawn]
    svg = agreement_svg(ari, strip, names, "partitions", "adjusted Rand index")
    draw = partial(plotting.agreement, ari, strip, names=names)
    return hand_drawn("How alike the partitions are", svg, "agreement", draw, *sentences)


def _consensus_and_members(summary: Summary) -> Iterator[str]:
    found = summary["agreement"]
    sentence = f"The consensus agrees with the partitions by {number(found['consensus'], 2)} on average"
    if found["others"] is None or found["consensus"] is None:
        yield f"{sentence}."
        return
    yield f"{sentence}, the partitions with each other by {number(found['others'], 2)}."
    best, value = member_text(summary["members"][found["best_member"]]["name"]), number(found["best"], 2)
    if found["consensus"] > found["best"] + _EQUAL:
        yield f"No single partition agrees with all of them as well: the best, {best}, reaches {value}."
    elif found["consensus"] > found["best"] - _EQUAL:
        yield f"The partition {best} agrees with them as well as the consensus does."
    else:
        yield f"The partition {best} agrees with them better: {value} on average."
        if is_finer(summary):
            yield "Partitions with many more clusters than the consensus cannot agree with it fully."


def _scores_against_truth(summary: Summary) -> Table:
    names = {"ari": "Adjusted Rand index", "ami": "Adjusted mutual information", "nmi": "Normalized mutual information"}
    rows = [
        [name, *(number(summary["truth"][key][column]) for column in ("consensus", "mean", "sd", "best"))]
        for key, name in names.items()
    ]
    return Table("", ["Measure", "Consensus", "Mean of members", "sd", "Best"], rows, wide=True)
