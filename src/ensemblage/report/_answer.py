"""The answer in two sentences, its confidence in words; and the clusters with their sizes and confidence."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from ensemblage.base.text import listing
from ensemblage.consensus.kmeans._kcc import NUMBER
from ensemblage.metrics._confidence import BORDER, CORE, VERDICTS
from ensemblage.plotting._axes import PALETTE
from ensemblage.plotting._clusters import confidence_boxes
from ensemblage.report._decided import (
    alone_sentence,
    decided_section,
    evidence_of,
    rated_numbers,
    second_number,
    unclear_sentence,
)
from ensemblage.report._drawn import boxes_svg
from ensemblage.report._layout import (
    BarCell,
    Cell,
    Picture,
    Section,
    Table,
    cluster_cell,
    is_full,
    number,
    percent,
    plural,
)
from ensemblage.report._n_clusters import merging_clause
from ensemblage.report._profile import profile_section

Summary = Mapping[str, Any]

_MOST_LISTED = 8
_MOST_DRAWN, _MOST_TABLED = 200, 1_000
"""Clusters in a figure, and rows of their table: the largest."""
_FINER = 1.25
"""Partitions with so many times the clusters of the consensus split what belongs together."""
_LEVELS = ("certain", "fairly certain", "only partly certain", "uncertain")
_AGREEMENT = ("agree", "mostly agree", "agree only in part", "disagree")
"""The same where nothing but the agreement of the partitions is known."""
_MOST_UNDECIDED = (0.05, 0.15, 0.4)
"""Largest share of undecided objects of each level but the last."""
_LEAST_CORE = 0.75
"""Least share of core objects of an answer that is certain."""
_LEVEL_OF_CLUSTER = {"doubtful": 2, "unstable": 3}
"""The best verdict of an answer with a cluster that is not reproduced."""
_LEVEL_OF_EVIDENCE = {"clear": 0, "likely": 1, "ambiguous": 2, "none": 3}
"""What the test for structure and the criteria make of the answer at most."""
_UNTESTED, _ANOTHER_NUMBER = 1, 2
"""The same where structure was not tested, and where the criteria name another number of clusters."""
_RATED_ALONE = 1
"""The same of ratings, which are not calibrated on real data."""
_HOW_LIKELY = {"likely": "Probably ", "ambiguous": "Perhaps "}
"""What the heading says before the number, by the evidence for it."""
_RATED = {"clear": "is rated far less", "likely": "is rated a little less", "ambiguous": "is rated about as high"}
"""What the heading says of the number with the next best rating."""
_VOTES = {3: "three of five", 4: "four of five", 5: "all five"}
"""Criteria that name a number."""

TERMS = (
    (
        "Confidence",
        (
            "Of an object: how far the partitions that separate its cluster from another one place it in its own. 1: "
            "no partition supports another cluster. ½: two clusters have equal support. Partitions that split "
            "clusters or join whole ones do not lower it. It is not a probability of being right."
        ),
    ),
    (
        "Core, border, undecided",
        (
            "The verdicts on an object. Core: the partitions support its cluster nine times as much as another one; "
            "border: three times; undecided: less."
        ),
    ),
    ("Next best (runner-up)", "The other cluster with the most support."),
)
RATING = (
    "Rating",
    (
        "Of a partition: the adjusted Rand index with the true clusters that regression trees predict, 1 at most. They "
        "were trained on synthetic sets alone. It is not a probability."
    ),
)


def headline(summary: Summary) -> str:
    """The answer in one line: the number of clusters with its doubt, or that none are clear."""
    objects, merging = plural(summary["data"]["n_objects"], "object"), merging_clause(summary)
    if is_without_structure(summary):
        found = "No clear clusters" if rated_numbers(summary) else "No clear structure"
        return "; ".join(filter(None, [f"{found} in {objects}", merging]))
    tested, rated, k = summary.get("number"), rated_numbers(summary), len(summary["clusters"])
    evidence = ""  # where no number was looked for, or another one was found
    if tested and tested["best"] == k:
        evidence = tested["evidence"]
    elif not tested and rated and rated["n_clusters"] == k:
        evidence = evidence_of(rated)
    found = f"{_HOW_LIKELY.get(evidence, '')}{plural(k, 'cluster')} in {objects}"
    return "; ".join(filter(None, [found, _doubt_of_number(summary), merging]))


def _doubt_of_number(summary: Summary) -> str:
    """The part of the heading on the number of clusters: several stories, else who names it or what was not tested."""
    tested, rated, k = summary.get("number"), rated_numbers(summary), len(summary["clusters"])
    if has_stories(summary):
        return "the partitions tell several stories"
    if tested:
        if tested["best"] != k:
            return f"the criteria name {tested['best']}"
        if tested["evidence"] == "ambiguous":
            return "the criteria disagree"
        n = sum(vote == k for vote in tested["votes"].values())
        return f"{_VOTES[n]} criteria" if n in _VOTES else ""
    if rated and rated["n_clusters"] == k:
        evidence, again = evidence_of(rated), summary.get("found_again")
        lost = sum(row["verdict"] in _LEVEL_OF_CLUSTER for row in again["table"]) if again else 0
        if evidence == "clear" and lost:
            return f"{lost} of them {'was' if lost == 1 else 'were'} not reproduced"
        return f"the next best number, {second_number(rated)}, {_RATED[evidence]}"
    if summary.get("stability"):
        return ""
    asked = summary["settings"].get("k", summary["consensus"].get("parameters", {}).get("n_clusters"))
    return "the number was given" if str(asked) == str(k) else "structure was not tested"


def has_stories(summary: Summary) -> bool:
    """Whether the partitions tell several stories, and not only one in finer and coarser clusters."""
    table = (summary.get("modes") or {}).get("table", [])
    return len(table) > 1 and not all(row["nested"] for row in table[1:])


def is_without_structure(summary: Summary) -> bool:
    """Whether structure was looked for and not found."""
    return structure_doubt(summary) is not None


def structure_doubt(summary: Summary) -> str | None:
    """What is said where structure was looked for and not found."""
    tested, rated = summary.get("number"), rated_numbers(summary)
    if tested is not None and not tested["structure"]["found"]:
        sentence: str = tested["structure"]["sentence"]
        return sentence
    return unclear_sentence(rated) if rated is not None and not rated["is_clear"] else None


def facts(summary: Summary) -> list[tuple[str, str]]:
    """The few numbers at the top of the page: what they are, and the numbers."""
    data, truth = summary["data"], summary["truth"]
    found = [("objects", f"{data['n_objects']:,}")]
    if data["n_features"]:
        found.append(("features", f"{data['n_features']:,}"))
    clusters = "clusters, if any" if is_without_structure(summary) else "clusters"
    found.append((clusters, f"{len(summary['clusters']):,}"))
    words = verdict_totals(summary)
    if words is None:
        found.append(("mean cohesion", number(summary["consensus"]["mean_confidence"], 2)))
    elif len(summary["clusters"]) > 1:  # each object is in a single one, whatever the data are like
        total = max(1, sum(words.values()))
        found += [(f"{word} objects", percent(words[word] / total)) for word in ("core", "undecided")]
    return [*found, ("ARI with known classes", number(truth["ari"]["consensus"], 2))] if truth else found


def verdict_totals(summary: Summary) -> dict[str, int] | None:
    """Core, border and undecided objects; None of an older summary, whose confidence is the cohesion of today."""
    if "mean_cohesion" not in summary["consensus"]:
        return None
    return {word: sum(cluster["verdicts"][word] for cluster in summary["clusters"]) for word in VERDICTS}


def answer_section(summary: Summary) -> Section:
    """What was found, and how certain it is; details folded away."""
    doubt, chosen = structure_doubt(summary), summary.get("chosen")
    sentences = [doubt] if doubt else []
    sentences.append(" ".join([_result_sentence(summary), *_verdict_sentences(summary)]))
    sentences += [chosen["sentence"]] if chosen else []
    if merged := summary.get("merged"):
        which = " The page describes the clusters before that." if merging_clause(summary) else ""
        sentences.append(f"{merged['sentence']}{which}")
    more = [_members_sentence(summary), *_confidence_sentences(summary)]
    terms = [*(() if verdict_totals(summary) is None else TERMS), *[RATING] * bool(chosen)]
    if has_stories(summary):
        where = "The answer is a compromise: see “Do they tell one story?” below."
        sentences.append(f"{summary['modes']['sentence']} {where}")
    sentences += [same] if (same := (summary.get("profile") or {}).get("same_as")) else []
    sentences += [alone] if (alone := alone_sentence(summary)) else []
    return Section("The answer", sentences, more=more, terms=terms, name="answer")


def _result_sentence(summary: Summary) -> str:
    n, clusters, left = summary["data"]["n_objects"], summary["clusters"], summary["consensus"]["n_unlabelled"]
    placed = f"The {n - left:,} objects" if n - left > 1 else "The object"
    if len(clusters) == 1:
        found = f"{placed} {'form' if n - left > 1 else 'forms'} a single cluster."
    else:
        sizes = _range_of_sizes([cluster["size"] for cluster in clusters])
        fall = "were nevertheless divided" if is_without_structure(summary) else "fall"
        found = f"{placed} {fall} into {len(clusters):,} clusters of {sizes}{_k_origin(summary)}."
    if not left:
        return found
    verb = "is" if left == 1 else "are"
    return f"{found} {plural(left, 'object')} without a label in any partition {verb} in none."


def _k_origin(summary: Summary) -> str:
    """Where the number of clusters comes from, if that is known."""
    choice, k = summary.get("choice"), len(summary["clusters"])
    if is_without_structure(summary):
        return ""
    if (number := summary.get("number")) and number["best"] == k:
        return "" if number["evidence"] == "ambiguous" else ", a number that was found in the data"
    if (rated := rated_numbers(summary)) and evidence_of(rated) == "ambiguous":
        return ""
    if rated or summary.get("stability"):
        return ", a number that was found in the data"
    if choice and choice["found"]:
        return ", a number that was found in the partitions"
    if any(record.get("parameter") == NUMBER for record in summary["evidence"]):
        return ", a number that was found in the partitions"
    asked = summary["settings"].get("k") or (choice and choice["asked"])
    if asked is None:
        return ""
    return ", as many as were asked for" if str(asked) == str(k) else f"; {asked} were asked for"


def _range_of_sizes(sizes: Sequence[int]) -> str:
    if len(sizes) <= _MOST_LISTED:
        return listing([f"{size:,}" for size in sizes])
    return f"{min(sizes):,} to {max(sizes):,}"


def _verdict_sentences(summary: Summary) -> Iterator[str]:
    """How certain the answer is, in a word, and the reasons."""
    words = verdict_totals(summary)
    if words is None or not any(words.values()):
        return
    if len(summary["clusters"]) == 1:
        yield "How certain that is cannot be seen from the objects: with one cluster, each is in it."
        return
    total = sum(words.values())
    core, border, undecided = (percent(words[word] / total) for word in VERDICTS)
    unsure = f"{undecided} are undecided" if words["undecided"] else "none is undecided"
    shares = f"{core} of the objects are core, {border} border, and {unsure}"
    if words["core"] == total:
        shares = "all objects are core"
    level, known = _level(summary, words)
    if not known:
        yield f"The partitions {_AGREEMENT[level]} on this: {shares}. Only their agreement was looked at."
        return
    why = "".join([*_recovery_clause(summary), *_structure_doubts(summary)])
    yield f"This is {_LEVELS[level]}: {shares}{why}."


def _level(summary: Summary, words: Mapping[str, int]) -> tuple[int, bool]:
    """How certain the answer is, 0 most, and whether more than the agreement of the partitions says so.

    The worst of: the objects; the worst cluster that was looked for again; the test for structure with the criteria.
    """
    total = sum(words.values())
    level = sum(words["undecided"] / total > most for most in _MOST_UNDECIDED)
    if level == 0 and words["core"] / total < _LEAST_CORE:
        level = 1
    again, tested, rated = summary.get("found_again"), summary.get("number"), rated_numbers(summary)
    if not (again or tested or rated):
        return level, False
    worst = max([_LEVEL_OF_CLUSTER.get(row["verdict"], 0) for row in again["table"]], default=0) if again else 0
    evidence = tested["evidence"] if tested else evidence_of(rated) if rated else None
    by_test = _UNTESTED if evidence is None else _LEVEL_OF_EVIDENCE[evidence]
    if rated and not tested:
        by_test = max(by_test, _RATED_ALONE)
    if tested and tested["best"] != len(summary["clusters"]):
        by_test = max(by_test, _ANOTHER_NUMBER)
    return max(level, worst, by_test), True


def _structure_doubts(summary: Summary) -> Iterator[str]:
    """What the ratings of the numbers of clusters leave open; else the test for structure and the criteria."""
    tested, rated = summary.get("number"), rated_numbers(summary)
    if rated:
        evidence = evidence_of(rated)
        if evidence == "none":
            yield "; but synthetic sets without clusters are rated as high"
        elif evidence == "ambiguous":
            yield f"; {plural(second_number(rated), 'cluster')} are rated about as high"
        elif evidence == "likely":
            yield f"; {plural(second_number(rated), 'cluster')} are rated a little less"
    elif not tested:
        yield "; whether there is structure at all was not tested"
    elif tested["evidence"] == "none":
        yield "; but a single cloud shows as much"
    elif tested["best"] != len(summary["clusters"]):
        yield f"; the criteria name {plural(tested['best'], 'cluster')}"
    elif tested["evidence"] == "ambiguous":
        yield "; the criteria disagree on the number of clusters"
    elif tested["evidence"] == "likely":
        yield "; three of five criteria name this number"


def _recovery_clause(summary: Summary) -> Iterator[str]:
    again = summary.get("found_again")
    if again:
        n, stable = len(again["table"]), sum(row["verdict"] in ("very stable", "stable") for row in again["table"])
        every = {1: "the cluster", 2: "both clusters"}.get(n, f"all {n} clusters")
        found = every if stable == n else "no cluster" if not stable else f"{stable} of the {n} clusters"
        yield f"; {again['n']} repeats of the analysis on other draws of the objects reproduced {found}"


def _members_sentence(summary: Summary) -> str:
    consensus, clusters = summary["consensus"], summary["clusters"]
    sizes = _range_of_sizes([cluster["size"] for cluster in clusters])
    partitions = plural(summary["data"]["n_partitions"], "partition")
    return (
        f"{consensus['method']} combined {partitions} into {plural(len(clusters), 'cluster')} of {sizes} "
        f"object{'s' * (sizes != '1')}."
    )


def _confidence_sentences(summary: Summary) -> Iterator[str]:
    words, consensus = verdict_totals(summary), summary["consensus"]
    if words is not None:
        total = sum(words.values())
        shares = [f"{counts:,} {word} ({percent(counts / max(1, total))})" for word, counts in words.items()]
        yield f"Objects by verdict: {listing(shares)}."
    cohesion, between = consensus.get("mean_cohesion", consensus["mean_confidence"]), consensus["between"]
    apart = "" if between is None else f", with an object of another cluster in {percent(between)}"
    yield (
        "On average an object is together with another member of its cluster in "
        f"{percent(cohesion)} of the partitions{apart}."
    )
    if is_finer(summary):
        yield (
            f"The partitions have {summary['data']['mean_member_clusters']:.0f} clusters on average, more than the "
            "consensus, so they often split what belongs together: compare the two shares with each other rather than "
            "with 100%."
        )
    sure = [(c["confidence"]["mean"], c["cluster"]) for c in summary["clusters"] if c["size"] > 1]
    sure = [(mean, cluster) for mean, cluster in sure if mean is not None]
    (most, highest), (least, lowest) = (max(sure), min(sure)) if sure else ((0.0, 0), (0.0, 0))
    if number(most, 2) != number(least, 2):
        yield (
            f"The mean confidence is highest in cluster {highest} ({number(most, 2)}) and lowest in cluster {lowest} "
            f"({number(least, 2)})."
        )


def is_finer(summary: Summary) -> bool:
    return bool(summary["data"]["mean_member_clusters"] > _FINER * len(summary["clusters"]))


def clusters_section(summary: Summary) -> Section:
    """What describes each cluster, if that is known; size and confidence of each."""
    clusters, n = summary["clusters"], summary["data"]["n_objects"]
    largest, smallest = clusters[0], clusters[-1]
    sentence = f"Cluster {largest['cluster']} holds {largest['size']:,} of {n:,} objects ({percent(largest['share'])})"
    if len(clusters) > 1:
        sentence += f", cluster {smallest['cluster']} holds {smallest['size']:,} ({percent(smallest['share'])})"
    alone = sum(cluster["size"] == 1 for cluster in clusters)
    sentence = f"{sentence}." + (f" Clusters of a single object: {alone:,}." if alone else "")
    sizes = Section("Sizes and confidence", [sentence], tables=[_clusters(summary)])
    described = profile_section(summary)
    if described is None:
        return replace(sizes, title="The clusters", name="clusters")
    parts = [part for part in (decided_section(summary), sizes) if part is not None]
    return replace(described, parts=parts, name="clusters")


def confidence_picture(summary: Summary) -> Picture:
    quantiles = [cluster["confidence"] for cluster in summary["clusters"][:_MOST_DRAWN]]
    sentences, boxes = [], [q for q in quantiles if q["values"] is None]
    if verdict_totals(summary) is None:
        sentences.append(
            "The confidence of an object is here the share of partitions that put it together with another member of "
            "its cluster, averaged over those members. The version of ensemblage that made this analysis defined it so."
        )
    if boxes:
        cluster, median = boxes[0]["cluster"], boxes[0]["q50"]
        above = "" if is_full(median) else " or above"
        sentences.append(
            "A box holds the middle half of a cluster’s objects, its thick line is the median, the thin line reaches "
            f"from the 5% to the 95% point: half of cluster {cluster} is at {number(median, 2)}{above}."
        )
    if any(q["values"] for q in quantiles):
        sentences.append("Clusters of a few objects are drawn object by object.")
    if (n_clusters := len(summary["clusters"])) > _MOST_DRAWN:
        sentences.append(f"The first {_MOST_DRAWN:,} of the {n_clusters:,} clusters are drawn.")
    has_verdicts = verdict_totals(summary) is not None
    rows = [
        {"name": q["cluster"], "values": q["values"], "quantiles": [q[f"q{p}"] for p in (5, 25, 50, 75, 95)]}
        for q in quantiles
    ]
    lines = [(CORE, "core"), (BORDER, "border")] if has_verdicts else []
    svg = boxes_svg(rows, 0.0, 1.0, lines, "confidence")
    files = {"confidence": partial(_confidence_figure, quantiles, has_verdicts)}
    return Picture("Confidence of each cluster", svg, sentences, name="confidence", figures=files)


def _confidence_figure(quantiles: Sequence[dict[str, Any]], has_verdicts: bool) -> Any:
    ax = confidence_boxes(quantiles)
    if has_verdicts:
        for least, word in ((CORE, "core"), (BORDER, "border")):
            if least <= ax.get_ylim()[1]:
                ax.axhline(least, color="0.75", lw=0.8, zorder=0)
                ax.annotate(
                    word, (1, least), (2, 1), ("axes fraction", "data"), "offset points", fontsize=7, color="0.4"
                )
    return ax.figure


def _clusters(summary: Summary) -> Table:
    words = () if verdict_totals(summary) is None else tuple(word.capitalize() for word in VERDICTS)
    columns = ["Cluster", "Objects", "Share", *words, "Mean confidence", "90% of objects", "Closest cluster"]
    clusters = summary["clusters"]
    notes = [f"The first {_MOST_TABLED:,} of {len(clusters):,}."] if len(clusters) > _MOST_TABLED else []
    if any(c["nearest"] for c in clusters):
        notes.append("Closest: the share of the partitions that join an object of one with an object of the other.")
    if left := summary["consensus"]["n_unlabelled"]:
        notes.append(f"{left:,} unlabelled.")
    largest, rows = max(c["size"] for c in clusters), list[list[Cell]]()
    for cluster in clusters[:_MOST_TABLED]:
        confidence, nearest = cluster["confidence"], cluster["nearest"]
        low, high = (number(confidence[q], 2) for q in ("q5", "q95"))
        color = PALETTE[cluster["cluster"] % len(PALETTE)]
        rows.append(
            [
                cluster_cell(cluster["cluster"]),
                BarCell(f"{cluster['size']:,}", color, cluster["size"] / largest),
                percent(cluster["share"]),
                *(f"{counts:,}" for counts in cluster.get("verdicts", {}).values()),
                number(confidence["mean"], 2),
                "–" if confidence["q5"] is None else f"{low} to {high}",
                "–" if nearest is None else f"{nearest['cluster']} ({percent(nearest['share'])})",
            ]
        )
    return Table("", columns, rows, " ".join(notes), wide=True)
