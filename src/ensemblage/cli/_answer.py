"""What is said on stdout: the answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from ensemblage.cli._folder import FILES, PROFILE, check_summary_unchanged
from ensemblage.cli._options import shell_text
from ensemblage.metrics._confidence import VERDICTS
from ensemblage.report._layout import percent, plural
from ensemblage.tables.formats import CELLS, format_of

MOST_SIZES = 12
MOST_ALTERNATIVES = 5
MOST_DESCRIBED = 10


def show_analysis(summary: Mapping[str, Any], output: Path) -> None:
    """A few lines about a finished analysis."""
    with check_summary_unchanged(output):
        lines = list(_lines(summary))
    files = [*FILES, *[PROFILE] * ((summary.get("profile") or {}).get("honest") is not None)]
    written = [output] if format_of(output) is CELLS else [output / name for name in files]
    show_lines([*lines, ("written", ", ".join(map(str, written)))])


def show_lines(lines: Iterable[tuple[str, str]]) -> None:
    """What is said of each subject, side by side."""
    for subject, text in lines:
        click.echo(f"{subject:<11} {text}")


def _lines(summary: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    from ensemblage.report._answer import structure_doubt

    data, consensus = summary["data"], summary["consensus"]
    yield from alert_lines(summary.get("alerts", ()))
    if doubt := structure_doubt(summary):
        yield "structure", doubt
    features = "" if data["n_features"] is None else f", {plural(data['n_features'], 'feature')}"
    yield "objects", f"{data['n_objects']:,}{features}"
    partitions = plural(data["n_partitions"], "partition")
    yield "ensemble", f"{partitions}, {data['mean_member_clusters']:.1f} clusters on average"
    looked_for = summary.get("stability") or summary.get("number")
    k = looked_for["best"] if looked_for else int(summary["settings"].get("k", 0)) or None
    yield "consensus", clusters_text([cluster["size"] for cluster in summary["clusters"]], k)
    if merged := summary.get("merged"):
        yield "merged", merged["sentence"]
    yield from _cluster_descriptions(summary.get("profile"))
    if found := summary.get("number"):
        yield "how many", found["sentence"].removeprefix(found["structure"]["sentence"]).strip()
    if chosen := summary.get("chosen"):
        yield "chosen", chosen["sentence"]
    yield from _stability(summary.get("stability"))
    yield from _choice(summary.get("choice"), len(summary["clusters"]))
    yield from _diagnostics(summary.get("evidence", ()))
    if found := summary.get("modes"):
        yield "stories", found["sentence"]
    if found := summary.get("methods"):
        yield "methods", found["sentence"]
    if summary.get("found_again"):
        yield "reproduced", summary["found_again"]["sentence"]
    if "mean_cohesion" in consensus:  # not in a folder of an older version
        yield "confidence", confidence_text([cluster["verdicts"] for cluster in summary["clusters"]])
    cohesion = _number_text(consensus.get("mean_cohesion", consensus["mean_confidence"]))
    between = _number_text(consensus["between"])
    yield "together", f"in {cohesion} of the partitions within clusters, in {between} between them"
    for name, score in (summary["truth"] or {}).items():
        members = (
            f"{_number_text(score['mean'])} ± {_number_text(score['sd'])}"
            if score["mean"] is not None
            else "not computed"
        )
        yield name.upper(), f"{_number_text(score['consensus'])} with the truth; members {members}"
    yield "seconds", ", ".join(f"{stage} {value:.1f}" for stage, value in summary["seconds"].items())


def spelled_alerts(alerts: Iterable[Mapping[str, str]]) -> list[dict[str, str]]:
    """Alerts with every option as the shell writes it."""
    return [{key: shell_text(text) for key, text in alert.items()} for alert in alerts]


def alert_lines(alerts: Sequence[Mapping[str, str]]) -> Iterable[tuple[str, str]]:
    """The first alerts, and how many there are beside."""
    from ensemblage.report._sections import MOST_ALERTS

    for alert in alerts[:MOST_ALERTS]:
        yield "alert", alert["text"]
    if len(alerts) > MOST_ALERTS:
        yield "alert", f"... and {len(alerts) - MOST_ALERTS:,} more"


def alerts_refused(name: str, alert: str) -> ValueError:
    """The error of --strict."""
    return ValueError(f"{name} must have no alerts with --strict. Got {alert}")


def _stability(found: Mapping[str, Any] | None) -> Iterable[tuple[str, str]]:
    """Why the number of clusters was chosen from a range."""
    from ensemblage.report._n_clusters import monti_sentence

    if found:
        yield "stability", monti_sentence(found)


def _cluster_descriptions(found: Mapping[str, Any] | None) -> Iterable[tuple[str, str]]:
    """What describes the first clusters, a line each."""
    if found and found["n_clusters"] > 1 and found["n_variables"]:
        for cluster in found["clusters"][:MOST_DESCRIBED]:
            yield f"cluster {cluster['cluster']}", drivers_text(cluster["in_short"])
        if found["same_as"]:
            yield "the same", found["same_as"]
        if found["n_clusters"] > MOST_DESCRIBED:
            yield "", f"... of the other {found['n_clusters'] - MOST_DESCRIBED:,} the page reports"


def drivers_text(drivers: str) -> str:
    """What describes a cluster, as a sentence without a subject."""
    from ensemblage.profiles._effects import NOTHING

    return f"{drivers[:1].upper()}{drivers[1:]}." if drivers else NOTHING


def _choice(choice: Mapping[str, Any] | None, n_clusters: int) -> Iterable[tuple[str, str]]:
    """How clear the number of clusters is that was found, and the others that could be asked for."""
    from ensemblage.report._n_clusters import clarity_sentence

    if choice and choice["found"]:
        yield "choice", clarity_sentence(choice, n_clusters)
        others = ", ".join(f"{k} ({life:.3f})" for k, life in choice["lifetimes"][1 : MOST_ALTERNATIVES + 1])
        yield "instead", f"-k with its lifetime: {others}" if others else "no other number of clusters"


def _diagnostics(records: Sequence[dict[str, Any]]) -> Iterable[tuple[str, str]]:
    """Intermediate results of the method, by the kind of their records."""
    from ensemblage.consensus.diagnostics import diagnostics_from_dict
    from ensemblage.report._diagnostics import diagnostics_sentences

    for record in records:
        for sentence in diagnostics_sentences(diagnostics_from_dict(record)):
            yield "evidence", sentence


def clusters_text(sizes: Sequence[int], asked: int | None) -> str:
    """The number of clusters and the first of their sizes; and if fewer clusters have objects than were asked for."""
    shown = ", ".join(f"{size:,}" for size in sizes[:MOST_SIZES])
    more = "" if len(sizes) <= MOST_SIZES else ", ..."
    objects = "object" if list(sizes) == [1] else "objects"
    found = f"{plural(len(sizes), 'cluster')} of {shown}{more} {objects}"
    return f"{found}: the others of the {asked} asked for hold none" if asked and len(sizes) < asked else found


def confidence_text(of_clusters: Sequence[Mapping[str, int]]) -> str:
    """How many objects are sure of their place, in words."""
    total = sum(sum(words.values()) for words in of_clusters)
    counts = {word: sum(words[word] for words in of_clusters) for word in VERDICTS}
    return ", ".join(f"{n:,} {word} ({percent(n / max(1, total))})" for word, n in counts.items())


def _number_text(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def show_table(header: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> None:
    """Rows of text in columns as wide as their cells; those in ``right`` stand to the right."""
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    for row in [header, *rows]:
        cells = [c.rjust(w) if j in right else c.ljust(w) for j, (c, w) in enumerate(zip(row, widths, strict=True))]
        click.echo("  ".join(cells).rstrip())
