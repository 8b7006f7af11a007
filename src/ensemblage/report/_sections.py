"""The sections of the page: each turns the summary's numbers into sentences, figures and tables, or into nothing."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ensemblage import plotting
from ensemblage.files._text import listed
from ensemblage.metrics._certainty import BORDER, CORE, VERDICTS
from ensemblage.report._evidence import evidence_sections
from ensemblage.report._layout import (
    Cell,
    Picture,
    Section,
    Table,
    cluster_cell,
    counted,
    number,
    percent,
    quoted,
)
from ensemblage.report._number import again_section, number_section
from ensemblage.report._profile import profile_section
from ensemblage.report._ranking import ranking_section
from ensemblage.report._shown import square, with_nan
from ensemblage.report._stability import stability_section
from ensemblage.report._svg import picture

Summary = Mapping[str, Any]

_EQUAL = 1e-9
_MOST_LISTED = 8
_MOST_DRAWN, _MOST_TABLED = 200, 1_000
"""Clusters in a figure, and rows of their table: the largest."""
_FINER = 1.25
"""Partitions with so many times the clusters of the consensus split what belongs together."""


def headline(summary: Summary) -> str:
    """The answer in one line."""
    return f"{counted(len(summary['clusters']), 'cluster')} in {counted(summary['data']['n_objects'], 'object')}"


def facts(summary: Summary) -> list[tuple[str, str]]:
    """The few numbers at the top of the page: what they are, and the numbers."""
    data, truth = summary["data"], summary["truth"]
    found = [
        ("objects", f"{data['n_objects']:,}"),
        ("partitions", f"{data['n_partitions']:,}"),
        ("clusters", f"{len(summary['clusters']):,}"),
        _sure_objects(summary),
    ]
    return [*found, ("ARI with known classes", number(truth["ari"]["consensus"], 2))] if truth else found


def _sure_objects(summary: Summary) -> tuple[str, str]:
    words = _words(summary)
    if words is None:
        return "mean cohesion", number(summary["consensus"]["mean_confidence"], 2)
    return "core objects", percent(words["core"] / max(1, sum(words.values())))


def _words(summary: Summary) -> dict[str, int] | None:
    """Core, border and undecided objects; None of an older summary, whose confidence is the cohesion of today."""
    if "mean_cohesion" not in summary["consensus"]:
        return None
    return {word: sum(cluster["verdicts"][word] for cluster in summary["clusters"]) for word in VERDICTS}


def answer_section(summary: Summary) -> Section:
    sentences = [*_without_structure(summary), _what_was_found(summary), *_why_these(summary), *_how_sure(summary)]
    return Section("The answer", sentences, [_sizes(summary), _confidence(summary)], [_clusters(summary)])


def _without_structure(summary: Summary) -> Iterator[str]:
    """First of all, that there may be no clusters."""
    found = summary.get("number")
    if found and not found["structure"]["found"]:
        yield found["structure"]["sentence"]


def agreement_section(summary: Summary) -> Section:
    return Section("Do the partitions agree?", pictures=[_matrix(summary), _agreement(summary)])


def objects_section(summary: Summary) -> Section | None:
    pictures = [_points(summary)] if summary["figures"]["points"] else []
    tables = [_least_certain(summary)] if summary["least_certain"] else []
    return Section("The objects", pictures=pictures, tables=tables) if pictures or tables else None


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
            f"{counted(summary['data']['n_partitions'], 'partition')}. The classes were not used to find it."
        ),
    ]
    return Section("Compared with the known classes", sentences, tables=[_scores_against_truth(summary)])


def columns_section(summary: Summary) -> Section | None:
    """What was done with each column of the table."""
    columns = summary.get("columns")
    if not columns:
        return None
    used = sum(column["use"].startswith("used") for column in columns)
    sentence = f"Of {counted(len(columns), 'column')} of the table {used:,} {'was' if used == 1 else 'were'} clustered."
    rows = [[plotting.printable(c["column"], 60), c["role"], c["use"], c["reason"]] for c in columns[:_MOST_TABLED]]
    note = "" if len(columns) <= _MOST_TABLED else f"The first {_MOST_TABLED:,} columns."
    table = Table("", ["Column", "Role", "What was done", "Why this role"], rows, note, text=(0, 1, 2, 3), wide=True)
    return Section("What was done with each column", [sentence] if used else [], tables=[table])


def method_section(summary: Summary) -> Section:
    data, consensus = summary["data"], summary["consensus"]
    features = f" with {counted(data['n_features'], 'feature')}" if data["n_features"] else ""
    missing = f"; {percent(data['missing'])} of the labels are missing" if data["missing"] else ""
    sentence = (
        f"{counted(data['n_objects'], 'object')}{features}; {counted(data['n_partitions'], 'partition')} with "
        f"{data['mean_member_clusters']:.3g} clusters on average; {counted(data['n_distinct_rows'], 'different row')} "
        f"of labels{missing}."
    )
    sentences = [sentence, *_weights(summary["members"]), *_refits(summary.get("choice"))]
    seconds = {stage: f"{duration:.3f}" for stage, duration in summary["seconds"].items()}
    tables = [
        _two_columns(f"Parameters of {consensus['method']}", consensus["parameters"]),
        _two_columns("Settings", summary["settings"]),
        _two_columns("Seconds", seconds),
        _two_columns("Versions", summary["versions"]),
    ]
    return Section("Method and reproducibility", sentences, tables=[table for table in tables if table.rows])


def _weights(members: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """That the partitions have unequal weights, and where these count."""
    weights = [member.get("weight", 1.0) for member in members]
    if min(weights) < max(weights):
        yield (
            f"The partitions have weights from {min(weights):.3g} to {max(weights):.3g}. A share of the partitions, a "
            "confidence and a mean agreement count each partition with its weight; rankings do not."
        )


def _refits(choice: Mapping[str, Any] | None) -> Iterator[str]:
    """How often the method was fitted again for this page."""
    if choice and choice["halves"]:
        yield f"For this page the method was fitted again, to halves of the partitions: {len(choice['halves']):,} ×."


def sections_of(summary: Summary) -> list[Section]:
    """The sections in the order of the page."""
    sections = [
        answer_section(summary),
        profile_section(summary),
        number_section(summary),
        again_section(summary),
        stability_section(summary),
        *evidence_sections(summary),
        agreement_section(summary),
        objects_section(summary),
        truth_section(summary),
        ranking_section(summary),
        columns_section(summary),
        method_section(summary),
    ]
    return [section for section in sections if section is not None]


def _what_was_found(summary: Summary) -> str:
    consensus, clusters = summary["consensus"], summary["clusters"]
    sizes = _range_of_sizes([cluster["size"] for cluster in clusters])
    partitions = counted(summary["data"]["n_partitions"], "partition")
    found = (
        f"{consensus['method']} combined {partitions} into {counted(len(clusters), 'cluster')} of {sizes} "
        f"object{'s' * (sizes != '1')}."
    )
    if not consensus["n_unlabelled"]:
        return found
    left = counted(consensus["n_unlabelled"], "object")
    verb = "is" if consensus["n_unlabelled"] == 1 else "are"
    return f"{found} {left} without a label in any partition {verb} in none."


def _why_these(summary: Summary) -> Iterator[str]:
    """What was done where nothing else was asked for, and why."""
    if summary["settings"].get("generator") == "diverse":
        yield (
            "The partitions are by Gaussian mixtures, spectral clustering and Genie, each with about as many clusters. "
            "They fail on different data: what they agree on is seldom the mistake of one of them."
        )


def _range_of_sizes(sizes: Sequence[int]) -> str:
    if len(sizes) <= _MOST_LISTED:
        return listed([f"{size:,}" for size in sizes])
    return f"{min(sizes):,} to {max(sizes):,}"


def _how_sure(summary: Summary) -> Iterator[str]:
    words, consensus = _words(summary), summary["consensus"]
    if words is not None:
        total = sum(words.values())
        shares = [f"{counts:,} {word} ({percent(counts / max(1, total))})" for word, counts in words.items()]
        yield (
            f"How sure: {listed(shares)}. Core: the partitions put the object with its cluster nine times as often as "
            "with any other; border: twice as often; undecided: less."
        )
    cohesion, between = consensus.get("mean_cohesion", consensus["mean_confidence"]), consensus["between"]
    apart = "" if between is None else f", with an object of another cluster in {percent(between)}"
    yield (
        "On average an object is together with another member of its cluster in "
        f"{percent(cohesion)} of the partitions{apart}."
    )
    if _is_finer(summary):
        yield (
            f"The partitions have {summary['data']['mean_member_clusters']:.0f} clusters on average, more than the "
            "consensus, so they often split what belongs together: compare the two shares with each other rather than "
            "with 100%."
        )
    sure = [(c["confidence"]["mean"], c["cluster"]) for c in summary["clusters"] if c["size"] > 1]
    sure = [(mean, cluster) for mean, cluster in sure if mean is not None]
    if len(sure) > 1 and max(sure)[0] - min(sure)[0] > _EQUAL:
        (most, firmest), (least, loosest) = max(sure), min(sure)
        yield (
            f"The firmest cluster is {firmest} (mean confidence {number(most, 2)}), the loosest {loosest} "
            f"({number(least, 2)})."
        )
    yield "".join(["This says how well the partitions agree, not whether they are right", *_what_is_not_seen(summary)])


def _what_is_not_seen(summary: Summary) -> Iterator[str]:
    """Why the partitions may agree on an error."""
    shared, alike = summary["consensus"].get("shared", {}), []
    if shared.get("name"):
        alike.append(f"were made by one algorithm, to go by their names ({plotting.printable(shared['name'], 40)})")
    if shared.get("k"):
        alike.append(f"have {counted(shared['k'], 'cluster')} each")
    yield f": they {' and '.join(alike)}, and an error that all of them make cannot be seen." if alike else "."


def _is_finer(summary: Summary) -> bool:
    return bool(summary["data"]["mean_member_clusters"] > _FINER * len(summary["clusters"]))


def _sizes(summary: Summary) -> Picture:
    clusters, n = summary["clusters"], summary["data"]["n_objects"]
    largest, smallest = clusters[0], clusters[-1]
    sentence = f"Cluster {largest['cluster']} holds {largest['size']:,} of {n:,} objects ({percent(largest['share'])})"
    if len(clusters) > 1:
        sentence += f", cluster {smallest['cluster']} holds {smallest['size']:,} ({percent(smallest['share'])})"
    sentences = [f"{sentence}."]
    alone = sum(cluster["size"] == 1 for cluster in clusters)
    if alone:
        sentences.append(f"Clusters of a single object: {alone:,}.")
    sentences += _largest_drawn(clusters)
    ax = plotting.cluster_sizes(
        [c["size"] for c in clusters[:_MOST_DRAWN]], unlabelled=summary["consensus"]["n_unlabelled"]
    )
    return picture("How large the clusters are", ax, "sizes", *sentences)


def _largest_drawn(clusters: Sequence[Any]) -> list[str]:
    return [f"The first {_MOST_DRAWN:,} of the {len(clusters):,} clusters are drawn."] * (len(clusters) > _MOST_DRAWN)


def _confidence(summary: Summary) -> Picture:
    quantiles = [cluster["confidence"] for cluster in summary["clusters"][:_MOST_DRAWN]]
    meant = (
        "The confidence of an object compares its own cluster with the one that fits best among the others: 1 if no "
        "partition speaks for another cluster, ½ if it is torn between two. It is no probability of being right."
    )
    if _words(summary) is None:
        meant = (
            "The confidence of an object is here the share of partitions that put it together with another member of "
            "its cluster, averaged over those members, as the version of ensemblage had it that made this analysis."
        )
    sentences, boxes = [meant], [q for q in quantiles if q["values"] is None]
    if boxes:
        sentences.append(
            "A box holds the middle half of a cluster's objects, its black line is the median, the thin line reaches "
            f"from the 5% to the 95% point: half of cluster {boxes[0]['cluster']} is above "
            f"{number(boxes[0]['q50'], 2)}."
        )
    if any(q["values"] for q in quantiles):
        sentences.append("Clusters of a few objects are drawn object by object.")
    sentences += _largest_drawn(summary["clusters"])
    ax = plotting.confidence_boxes(quantiles)
    if _words(summary) is not None:
        for least, word in ((CORE, "core"), (BORDER, "border")):
            if least <= ax.get_ylim()[1]:
                ax.axhline(least, color="0.75", lw=0.8, zorder=0)
                ax.annotate(
                    word, (1, least), (2, 1), ("axes fraction", "data"), "offset points", fontsize=7, color="0.4"
                )
    return picture("How sure each cluster is", ax, "confidence", *sentences)


def _clusters(summary: Summary) -> Table:
    words = () if _words(summary) is None else tuple(word.capitalize() for word in VERDICTS)
    columns = ["Cluster", "Objects", "Share", *words, "Mean confidence", "90% of objects", "Closest cluster"]
    clusters = summary["clusters"]
    note = f"The first {_MOST_TABLED:,} of {len(clusters):,}." if len(clusters) > _MOST_TABLED else ""
    return Table("The clusters", columns, [_cluster_row(c) for c in clusters[:_MOST_TABLED]], note, wide=True)


def _cluster_row(cluster: Mapping[str, Any]) -> list[Cell]:
    confidence, nearest = cluster["confidence"], cluster["nearest"]
    spread = "–" if confidence["q5"] is None else f"{number(confidence['q5'], 2)} to {number(confidence['q95'], 2)}"
    return [
        cluster_cell(cluster["cluster"]),
        f"{cluster['size']:,}",
        percent(cluster["share"]),
        *(f"{counts:,}" for counts in cluster.get("verdicts", {}).values()),
        number(confidence["mean"], 2),
        spread,
        "–" if nearest is None else f"{nearest['cluster']} ({percent(nearest['share'])})",
    ]


def _matrix(summary: Summary) -> Picture:
    matrix = summary["figures"]["matrix"]
    sentences = [
        (
            "Rows and columns are objects: the darker a cell, the more partitions put the two together. Dark blocks on "
            "the diagonal are clusters the partitions agree on, dark patches elsewhere are clusters they mix."
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
    ax = plotting.consensus_matrix(square(matrix["percent"]) / 100, matrix["clusters"], sizes=matrix["sizes"])
    return picture("How often two objects are together", ax, "matrix", *sentences)


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
    strip = with_nan([member["agreement"] for member in drawn])
    ax = plotting.agreement(square(figure["ari"]), strip, names=[member["name"] for member in drawn])
    return picture("How alike the partitions are", ax, "agreement", *sentences)


def _consensus_and_members(summary: Summary) -> Iterator[str]:
    found = summary["agreement"]
    sentence = f"The consensus agrees with the partitions by {number(found['consensus'], 2)} on average"
    if found["others"] is None or found["consensus"] is None:
        yield f"{sentence}."
        return
    yield f"{sentence}, the partitions with each other by {number(found['others'], 2)}."
    best, value = quoted(summary["members"][found["best_member"]]), number(found["best"], 2)
    if found["consensus"] > found["best"] + _EQUAL:
        yield f"No single partition agrees with all of them as well: the best, {best}, reaches {value}."
    elif found["consensus"] > found["best"] - _EQUAL:
        yield f"The partition {best} agrees with them as well as the consensus does."
    else:
        yield f"The partition {best} agrees with them better: {value} on average."
        if _is_finer(summary):
            yield "Partitions with many more clusters than the consensus cannot agree with it fully."


def _points(summary: Summary) -> Picture:
    points = summary["figures"]["points"]
    ax = plotting.scatter(points["xy"], points["clusters"], with_nan(points["confidence"]))
    ax.set_xlabel(plotting.printable(points["x_label"], 48), parse_math=False)
    ax.set_ylabel(plotting.printable(points["y_label"], 48), parse_math=False)
    sentence = "Each point is an object, coloured by its cluster; the fainter, the less sure."
    return picture("The data, coloured by cluster", ax, "points", sentence, *points["notes"])


def _least_certain(summary: Summary) -> Table:
    rows: list[list[Cell]] = [
        [
            plotting.printable(o["id"], 40),
            cluster_cell(o["cluster"]),
            number(o["confidence"], 2),
            o.get("verdict", "–"),
            "–" if (other := o.get("runner_up", o.get("rival"))) is None else cluster_cell(other),
        ]
        for o in summary["least_certain"]
    ]
    columns = ["Object", "Cluster", "Confidence", "Verdict", "Next best"]
    note = (
        "Next best is the cluster that fits best among the others. At a confidence of ½ the object lies between the "
        "two; below, the partitions would rather put it there."
    )
    return Table("The least certain objects", columns, rows, note=note, shown=10, text=(0, 1, 3, 4))


def _scores_against_truth(summary: Summary) -> Table:
    names = {"ari": "Adjusted Rand index", "ami": "Adjusted mutual information", "nmi": "Normalized mutual information"}
    rows = [
        [name, *(number(summary["truth"][key][column]) for column in ("consensus", "mean", "sd", "best"))]
        for key, name in names.items()
    ]
    return Table("", ["Measure", "Consensus", "Mean of members", "sd", "Best"], rows, wide=True)


def _two_columns(title: str, entries: Mapping[str, str]) -> Table:
    return Table(title, (), [[name, value] for name, value in entries.items()], shown=40, text=(0, 1))
