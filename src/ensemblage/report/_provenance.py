"""How the page was made: a paragraph for a methods section, the command, the settings; what of the data it holds."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from ensemblage._version import __version__
from ensemblage.base.text import listing
from ensemblage.consensus import METHODS
from ensemblage.consensus.kmeans._kcc import NUMBER
from ensemblage.io._encoding import GAPS, KNOWN_CLASSES
from ensemblage.plotting._axes import printable
from ensemblage.report._cite import cite
from ensemblage.report._decided import families_text, plan_section, rated_numbers, views_text
from ensemblage.report._layout import CopyText, Section, Table, percent, plural, weight_text
from ensemblage.report._object_table import FEW, may_show_objects

Summary = Mapping[str, Any]

_MOST_TABLED = 1_000
OUT = "-o out"
"""How the command of a page ends."""
GENERATORS: dict[str, tuple[str, str | None]] = {
    "diverse": ("by Gaussian mixtures, spectral clustering and Genie", "DiversePartitions"),
    "scaled": ("by several algorithms in several scales", None),
    "random-k": ("by k-means, each time into a random number of clusters", "RandomKPartitions"),
    "subspace": ("by k-means on random halves of the features", "SubspacePartitions"),
    "projection": ("by k-means on random projections of the features", "ProjectionPartitions"),
    "greedy": ("by k-means, each time with the features and the partitions before", "GreedyPartitions"),
    "mixed": ("by ten different algorithms", "MixedPartitions"),
    "genie": ("by Genie with several thresholds and numbers of clusters", "GeniePartitions"),
    "uspec": ("by spectral clustering by way of representatives", "USpecPartitions"),
    "gower": ("by average linkage of Gower's distances", None),
}
"""How each generator of the shell makes the partitions, and what is cited for it."""
PAIRS = {"must-link": "together", "cannot-link": "apart"}
"""How settings of the shell that report pairs of objects end, and what the consensus did with these."""
_ON_FEATURES = ("ConsensusClustering", "GreedyKMeansConsensus")
"""Estimators that make the partitions themselves."""


def columns_of_gaps(summary: Summary) -> list[str]:
    """The clustered columns that are mostly gaps."""
    return [column["column"] for column in summary.get("columns") or [] if column["use"].endswith(f"; {GAPS}")]


def columns_section(summary: Summary) -> Section | None:
    """What was done with each column of the table."""
    columns = summary.get("columns")
    if not columns:
        return None
    used = sum(column["use"].startswith("used") for column in columns)
    sentence = f"Of {plural(len(columns), 'column')} of the table, {used:,} {'was' if used == 1 else 'were'} clustered."
    if used == len(columns) > 1:
        sentence = f"All {used:,} columns of the table were clustered."
    aside = [printable(c["column"], 60) for c in columns if c["use"] == f"left out: {KNOWN_CLASSES}"]
    noted = [f"Left out as known classes, because of its name: {listing(aside)}."] if len(aside) == 1 else []
    noted += [f"Left out as known classes, because of their names: {listing(aside)}."] if len(aside) > 1 else []
    if gaps := [printable(name, 60) for name in columns_of_gaps(summary)]:
        noted += [f"More than half of the cells are missing in {listing(gaps)}: see “What next”."]
    shown = [("column", "Column"), ("role", "Role"), ("use", "What was done"), ("reason", "Why this role")]
    shown = shown[: 3 + any(c["reason"] for c in columns[:_MOST_TABLED])]
    rows = [[printable(c[key], 60 if key == "column" else 240) for key, _ in shown] for c in columns[:_MOST_TABLED]]
    note = "" if len(columns) <= _MOST_TABLED else f"The first {_MOST_TABLED:,} columns."
    table = Table("", [title for _, title in shown], rows, note, text=(0, 1, 2, 3), wide=True)
    return Section("What was done with each column", [sentence, *noted] if used else noted, tables=[table])


def references_of(models: Sequence[Any], settings: Mapping[str, Any]) -> list[dict[str, str]]:
    """The papers behind the settings' generator and method, and behind models: those that have any."""
    found = dict[str, str]()
    generator = GENERATORS.get(settings.get("generator", ""))
    for of in [generator and generator[1], settings.get("method"), *models]:
        with suppress(ValueError):
            found |= {} if of is None else {entry.text: entry.bibtex for entry in cite(of).references}
    return [{"text": text, "bibtex": bibtex} for text, bibtex in found.items()]


def provenance_section(summary: Summary) -> Section:
    """How the page was made, to be written down and to be done again."""
    copied = [CopyText("A paragraph for your methods section", " ".join(_methods_sentences(summary)), is_code=False)]
    if command := summary.get("command"):
        copied.append(CopyText("The command that repeats it", command))
    if references := summary.get("references"):
        copied.append(CopyText("References", "\n\n".join(entry["text"] for entry in references), is_code=False))
        bibtex = "\n\n".join(entry["bibtex"].strip() for entry in references)
        copied.append(CopyText("References as BibTeX", bibtex, is_folded=True))
    sections = plan_section(summary), columns_section(summary), _settings_section(summary)
    parts = [part for part in sections if part is not None]
    return Section("How it was made", copied=copied, parts=parts, name="made")


def _methods_sentences(summary: Summary) -> Iterator[str]:
    """What was done, in the words of a methods section."""
    data, settings, versions = summary["data"], summary["settings"], summary["versions"]
    n, p, k = (
        plural(data["n_objects"], "object"),
        data["n_partitions"],
        plural(len(summary["clusters"]), "cluster"),
    )
    mean = f"{data['mean_member_clusters']:.3g} clusters on average"
    method = summary["consensus"]["method"]
    given = "made" if method in _ON_FEATURES else "given"
    if chosen := summary.get("chosen"):
        yield from _learned_sentences(summary, chosen)
    elif settings.get("generator") in GENERATORS:
        features = f" with {plural(data['n_features'], 'feature')}" if data["n_features"] else ""
        times = f"{p:,} times" if p > 1 else "once"
        yield f"{n}{features} were clustered {times} {GENERATORS[settings['generator']][0]} ({mean})."
    else:
        yield f"{plural(p, 'partition')} of {n} ({mean}) {'were' if p > 1 else 'was'} {given}."
    paper = ""
    if settings.get("method") in METHODS:
        paper = f" ({METHODS[settings['method']].paper})"
    rule = "average linkage of the weighted co-association, " if chosen else ""
    yield f"These partitions were combined into {k} by {rule}{method}{paper}{_k_clause(summary)}."
    noted = [(name, str(text)) for name, text in settings.items() if name.startswith("pairs of ")]
    kept = [f"{t.partition(' of ')[0]} {how}" for end, how in PAIRS.items() for name, t in noted if name.endswith(end)]
    if kept:
        yield f"Of objects, it kept {' and '.join(kept)}, as was known before."
    if summary.get("found_again"):
        again = summary["found_again"]
        yield (
            f"The analysis was repeated on {again['n']} {again['compared_with']} of the objects, and each cluster "
            "compared with the one most like it by the Jaccard similarity."
        )
    seed = f", seed {settings['seed']}" if "seed" in settings else ""
    software = [f"{name} {version}" for name, version in versions.items() if name != "ensemblage"]
    known = f" with {', '.join(software)}" if software else ""
    yield f"This was done with ensemblage {versions.get('ensemblage', __version__)}{known}{seed}."


def _learned_sentences(summary: Summary, chosen: Mapping[str, Any]) -> Iterator[str]:
    """What made the partitions that have learned weights, and where the weights come from."""
    data = summary["data"]
    features = f" with {plural(data['n_features'], 'feature')}" if data["n_features"] else ""
    yield (
        f"{plural(data['n_objects'], 'object')}{features} were clustered {data['n_partitions']:,} times by "
        f"{families_text(chosen)}, on {views_text(chosen)} ({data['mean_member_clusters']:.3g} clusters on average; "
        "named is what weighs 1% or more)."
    )
    yield (
        "Each partition was weighted by its adjusted Rand index with the true clusters, predicted by boosted "
        f"regression trees (Friedman 2001), which were trained on synthetic data alone (version {chosen['version']})."
    )


def _k_clause(summary: Summary) -> str:
    """How the number of clusters came about."""
    choice = summary.get("choice")
    if rated_numbers(summary):
        return "; their number is that of the partition with the highest predicted index"
    if summary.get("number"):
        return "; their number was found by five criteria, against single clouds of the same shape"
    if summary.get("stability"):
        return "; their number was found by the stability of the pairs under resampling"
    if choice and choice["found"]:
        return "; their number is that of the longest lifetime in the hierarchy"
    if any(record.get("parameter") == NUMBER for record in summary["evidence"]):
        return "; their number is that whose consensus has the highest mean adjusted Rand index with the partitions"
    return "; their number was asked for" if "k" in summary["settings"] or choice else ""


def _settings_section(summary: Summary) -> Section:
    """What the computation was given, and what it took."""
    data, consensus = summary["data"], summary["consensus"]
    missing = f"; {percent(data['missing'])} of the labels are missing" if data["missing"] else ""
    sentence = (
        f"{plural(data['n_partitions'], 'partition')} give the objects "
        f"{plural(data['n_distinct_rows'], 'different row')} of labels{missing}."
    )
    sentences = [sentence, *_weights(summary["members"])]
    if halves := (summary.get("choice") or {}).get("halves"):
        sentences.append(f"For this page the method was fitted again, to halves of the partitions: {len(halves):,} ×.")
    # The page cannot know how long it takes itself; drawn again, it is to be the same.
    seconds = {stage: f"{duration:.3f}" for stage, duration in summary["seconds"].items() if stage != "report"}
    tables = [
        _two_columns(f"Parameters of {consensus['method']}", consensus["parameters"]),
        _two_columns("Settings", summary["settings"]),
        _two_columns("Seconds", seconds),
        _two_columns("Versions", summary["versions"]),
    ]
    return Section("Parameters, settings, versions", sentences, tables=[table for table in tables if table.rows])


def _weights(members: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """That the partitions have unequal weights, and where these count."""
    weights = [member.get("weight", 1.0) for member in members]
    if min(weights) < max(weights):
        low, high = (weight_text(each).rstrip("0").rstrip(".") for each in (min(weights), max(weights)))
        yield (
            f"The partitions have weights from {low} to {high}. A share of the partitions, a confidence and a "
            "mean agreement count each partition with its weight; rankings do not."
        )


def _two_columns(title: str, entries: Mapping[str, str]) -> Table:
    return Table(title, (), [[name, value] for name, value in entries.items()], shown=40, text=(0, 1))


def contents_section(summary: Summary) -> Section:
    """What of the data is in the page, for whoever passes it on."""
    few = "" if may_show_objects(summary) else f", but for clusters of fewer than {FEW} objects"
    of_clusters = f"Medians, quartiles and shares of the variables that are shown{few}; thresholds of the rules."
    rows = [
        ["Ids of objects", _ids_text(summary)],
        ["Single values", _values_text(summary)],
        ["Values of clusters", of_clusters if summary.get("profile") else "None."],
        ["Names", "Of the columns, of the partitions and of files and folders, as far as they stand above."],
        ["Known classes", "How well they agree with the clusters; not the class of any object."],
        ["Network", "The page loads nothing and sends nothing; a policy in it forbids the browser to."],
    ]
    kept = [row for row in rows if row[0] != "Known classes" or summary["truth"]]
    table = Table("", (), kept, text=(0, 1), wide=True)
    hint = ["report.build(…, include_objects=False) makes the page without ids and single values."]
    if str(summary.get("command") or "").endswith(OUT):
        hint = ["“ensemblage report out” with the option no-objects makes the page without ids and single values."]
    return Section("What of the data is in this page", hint * may_show_objects(summary), tables=[table], name="data")


def _ids_text(summary: Summary) -> str:
    n, objects = summary["data"]["n_objects"], summary.get("objects")
    if not may_show_objects(summary):
        return "None."
    if not objects:
        return f"Of the {plural(len(summary['least_certain']), 'least certain object')}."
    shown = len(objects["ids"])
    of = f"all {n:,} objects" if shown == n else f"{shown:,} of the {n:,} objects"
    return f"Of {of}, each with its cluster, confidence, verdict and next best cluster."


def _values_text(summary: Summary) -> str:
    points, m = summary["figures"]["points"], summary["data"]["n_features"] or 0
    if not points:
        return "None."
    what = "the values of the features" if m <= 2 else "weighted sums of all features"
    linked = " with the ids" if "rows" in points and may_show_objects(summary) else ""
    return f"The places of {plural(len(points['xy']), 'point')} in a picture{linked}: {what}."
