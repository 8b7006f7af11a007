"""The sections of the page, in the order of a person's questions: what was found, what are the clusters, where is each
object, can it be trusted, what is it made of, how is it repeated, what comes next.
"""

import shlex
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from ensemblage import plotting
from ensemblage.base.text import listing
from ensemblage.plotting._axes import printable
from ensemblage.report._answer import (
    RATING,
    answer_section,
    clusters_section,
    confidence_picture,
    has_stories,
    is_finer,
    is_without_structure,
    structure_doubt,
    verdict_totals,
)
from ensemblage.report._charts import agreement_svg, association_svg
from ensemblage.report._decided import (
    deciding_columns,
    rated_numbers,
    rated_numbers_section,
    second_number,
    two_ratings,
    weights_section,
)
from ensemblage.report._diagnostics import diagnostics_sections
from ensemblage.report._figure_data import nan_array, symmetric_matrix
from ensemblage.report._layout import (
    CopyText,
    Picture,
    Section,
    hand_drawn,
    member_text,
    number,
    percent,
    plural,
)
from ensemblage.report._n_clusters import (
    cluster_stability_section,
    k_choice_section,
    merged_section,
    merging_clause,
    stability_section,
)
from ensemblage.report._object_table import may_show_objects, objects_section
from ensemblage.report._other_answers import methods_section, modes_section, other_numbers_section
from ensemblage.report._provenance import OUT, columns_of_gaps, contents_section, provenance_section
from ensemblage.report._ranking import ranking_section, truth_section

Summary = Mapping[str, Any]

_EQUAL = 1e-9
MOST_ALERTS = 5
"""That are shown before the answer; the others are folded away, and numbered in the shell."""

PARTITION_TERMS = (
    ("Partition", "One division of the objects into clusters. The ensemble has several, which were combined."),
    ("Consensus", "The one partition that agrees best with all of them, by the rule of the method: the answer here."),
    (
        "Co-association",
        (
            "Of two objects: the share of the partitions that put them into the same cluster. The matrix of all pairs "
            "is the consensus matrix; the mean over the pairs inside a cluster is its cohesion."
        ),
    ),
    ("Adjusted Rand index (ARI)", "How alike two partitions are: 1 for equal ones, about 0 for unrelated ones."),
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
        "The information that one partition gives about another; adjusted, 0 for unrelated and 1 for equal ones.",
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
    how_many = [
        k_choice_section(summary),
        rated_numbers_section(summary),
        *diagnostics_sections(summary, how_many=True),
    ]
    parts = [
        *(*how_many, other_numbers_section(summary), cluster_stability_section(summary)),
        *(merged_section(summary), stability_section(summary)),
    ]
    parts += [methods_section(summary), truth_section(summary)]
    terms = [term for key, term in TRUST_TERMS.items() if summary.get(key)]
    sentence = "The confidence of an object says how far the partitions agree on its place, not that they are right."
    shared, alike = summary["consensus"].get("shared", {}), []
    if shared.get("name"):
        alike.append(f"seem, by their names ({printable(shared['name'], 40)}), to be of one algorithm")
    if shared.get("k"):
        alike.append(f"have {plural(shared['k'], 'cluster')} each")
    if alike:
        sentence += f" They {' and '.join(alike)}; an error that all of them make cannot be seen."
    known = [part for part in parts if part is not None]
    return Section("Can I trust it?", [sentence], [confidence_picture(summary)], parts=known, terms=terms, name="trust")


def partitions_section(summary: Summary) -> Section:
    """What was combined, how far it agrees, and intermediate results of the method."""
    n = plural(summary["data"]["n_partitions"], "partition")
    sentence = f"The answer was combined from {n} of the same objects."
    agreement = Section("Do the partitions agree?", pictures=[_matrix(summary), _agreement(summary)])
    shown = [weights_section(summary), modes_section(summary), agreement, ranking_section(summary)]
    parts = [*(part for part in shown if part is not None), *diagnostics_sections(summary, how_many=False)]
    return Section("The partitions", [sentence], parts=parts, terms=PARTITION_TERMS, name="partitions")


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
            "consensus itself. The adjusted Rand index is 1 for equal partitions and about 0 for unrelated ones."
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


# -- what to do next ---------------------------------------------------------------------------------------------------


_MOST_NAMED, _MOST_COLUMNS = 5, 3
_NUMBERS = ("-k", "--n-clusters", "--k-range", "--method")
"""Options beside which another number of clusters is no addition."""


def next_section(summary: Summary) -> Section | None:
    """The end of the page."""
    sentences, commands = list(_advice(summary)), list(_commands(summary))
    copied = [CopyText("Commands to copy", "\n".join(commands))] if commands else []
    return Section("What next", sentences, copied=copied, name="next") if sentences or copied else None


def _advice(summary: Summary) -> Iterator[str]:
    """What to do next, a sentence each, the doubts of the whole answer first."""
    if is_without_structure(summary):
        yield (
            "No clear clusters: use the clusters as a convenient division at most, or look for columns that should "
            "tell groups apart, and for columns that only add noise."
        )
    if has_stories(summary):
        yield "Read the clusters of each story, or combine only the partitions of one: the answer may be none of them."
    if merging_clause(summary):
        yield (
            "Compare the clusters with those that are left when splits without support are merged: see “Which splits "
            "does a linear test support?”, and the column merged_cluster of labels.csv."
        )
    yield from _about_gaps(summary)
    yield from _more_objects(summary)
    other, rated = _other_number(summary), rated_numbers(summary)
    if other is not None and rated:
        best, its = two_ratings(rated, int(rated["n_clusters"]), other)
        yield f"Look at {other} clusters, too: rated {its}, the best number {best}."
    elif other is not None:
        yield f"Look at {other} clusters, too: some criteria name that number."
    yield from _objects_to_check(summary)
    names = [f"“{printable(name, 40)}”" for name in deciding_columns(summary, _MOST_COLUMNS)]
    if len(names) > 1:
        yield f"Check the columns that separate the clusters most: {listing(names)}. Should they decide?"


def _about_gaps(summary: Summary) -> Iterator[str]:
    """Columns that were clustered although hardly anything is known of them."""
    if names := columns_of_gaps(summary):
        quoted = [f"“{printable(name, 40)}”" for name in names[:_MOST_NAMED]]
        others = [f"{len(names) - _MOST_NAMED} others"] * (len(names) > _MOST_NAMED)
        one = len(names) == 1
        yield (
            f"Leave out {listing([*quoted, *others])}, or find {'its' if one else 'their'} values: more than half of "
            f"{'its' if one else 'their'} cells are missing."
        )


def _more_objects(summary: Summary) -> Iterator[str]:
    """More data, if a cluster is not reproduced."""
    again = summary.get("found_again")
    if not again:
        return
    sizes = {cluster["cluster"]: cluster["size"] for cluster in summary["clusters"]}
    lost = [row["cluster"] for row in again["table"] if row["verdict"] in ("doubtful", "unstable")]
    if lost:
        named = [f"{c} ({plural(sizes[c], 'object')})" for c in lost[:_MOST_NAMED] if c in sizes]
        more = [f"{len(lost) - _MOST_NAMED} others"] * (len(lost) > _MOST_NAMED)
        one = len(lost) == 1
        yield (
            f"More objects would show whether {'cluster' if one else 'clusters'} {listing([*named, *more])} "
            f"{'is' if one else 'are'} there: resamples do not find {'it' if one else 'them'} again reliably."
        )


def _other_number(summary: Summary) -> int | None:
    """The number of clusters to look at beside that of the answer: the next best by ratings or by votes."""
    if rated := rated_numbers(summary):
        second = second_number(rated)
        return second if second != len(summary["clusters"]) else int(rated["n_clusters"])
    if not (tested := summary.get("number")):
        return None
    k = len(summary["clusters"])
    if tested["best"] != k:
        return int(tested["best"])
    votes = [vote for vote in tested["votes"].values() if vote not in (None, 1, k)]
    named = sorted(set(votes), key=lambda vote: (-votes.count(vote), vote))
    return int(named[0]) if named else None


def _objects_to_check(summary: Summary) -> Iterator[str]:
    words = verdict_totals(summary)
    if not words or not words["undecided"] or len(summary["clusters"]) == 1:
        return
    listed = summary["least_certain"] if may_show_objects(summary) else []
    named = [printable(o["id"], 24) for o in listed[:_MOST_NAMED] if o.get("verdict") == "undecided"]
    n, one = words["undecided"], words["undecided"] == 1
    first = f" ({listing(named)}{' first' * (len(named) < n)})" if named else ""
    yield f"Check the {plural(n, 'undecided object')}{first}: {'it lies' if one else 'they lie'} between clusters."


def _commands(summary: Summary) -> Iterator[str]:
    """Commands of the shell that follow from the one that made the page."""
    command = summary.get("command") or ""
    if not command.startswith("ensemblage run ") or not command.endswith(OUT):
        return
    base = command.removesuffix(OUT).replace(" --without-columns ", " ")
    words = shlex.split(base)
    other = _other_number(summary)
    if other is not None and not any(word.split("=")[0] in _NUMBERS for word in words):
        yield f"{base}-k {other} -o out-{other}"
        yield f"ensemblage compare out/labels.csv out-{other}/labels.csv"
    if gaps := columns_of_gaps(summary):
        dropped = " ".join(f"--drop-column {shlex.quote(name)}" for name in gaps[:_MOST_NAMED])
        yield f"{base}{dropped} -o out-filled"
    columns = deciding_columns(summary, 2)
    if len(columns) > 1:
        if summary.get("without_columns") is None:
            yield f"{base}--without-columns -o out-columns"
        yield f"{base}--drop-column {shlex.quote(columns[0])} -o out-without"
    if structure_doubt(summary) is None:
        yield "ensemblage assign out NEW.csv -o new.csv"
