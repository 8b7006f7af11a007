"""What to do next: more objects, another number of clusters, objects and columns to check, commands to copy."""

import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from ensemblage.base.text import listing
from ensemblage.plotting._axes import printable
from ensemblage.report._answer import has_stories, is_without_structure, structure_doubt, verdict_totals
from ensemblage.report._chosen import rated_numbers, second_number, two_ratings
from ensemblage.report._decided import deciding_columns
from ensemblage.report._layout import CopyText, Section, plural
from ensemblage.report._merged import merging_clause
from ensemblage.report._object_table import may_show_objects
from ensemblage.report._provenance import OUT, columns_of_gaps

Summary = Mapping[str, Any]

_MOST_NAMED, _MOST_COLUMNS = 5, 3
_NUMBERS = ("-k", "--n-clusters", "--k-range", "--method")
"""Options beside which another number of clusters is no addition."""


def next_section(summary: Summary) -> Section | None:
    """The end of the page."""
    sentences = [
        *_about_structure(summary),
        *_about_stories(summary),
        *_about_merging(summary),
        *_about_gaps(summary),
        *_more_objects(summary),
        *_another_number(summary),
        *_objects_to_check(summary),
        *_columns_to_check(summary),
    ]
    commands = list(_commands(summary))
    copied = [CopyText("Commands to copy", "\n".join(commands))] if commands else []
    return Section("What next", sentences, copied=copied, name="next") if sentences or copied else None


def _about_structure(summary: Summary) -> Iterator[str]:
    if is_without_structure(summary):
        yield (
            "No clear clusters: use the clusters as a convenient division at most, or look for columns that should "
            "tell groups apart, and for columns that only add noise."
        )


def _about_stories(summary: Summary) -> Iterator[str]:
    if has_stories(summary):
        yield "Read the clusters of each story, or combine only the partitions of one: the answer may be none of them."


def _about_merging(summary: Summary) -> Iterator[str]:
    """Where the clusters are that are left of those of the page."""
    if merging_clause(summary):
        yield (
            "Compare the clusters with those that are left when splits without support are merged: see “Which splits "
            "does a linear test support?”, and the column merged_cluster of labels.csv."
        )


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


def _another_number(summary: Summary) -> Iterator[str]:
    other, rated = _other_number(summary), rated_numbers(summary)
    if other is None:
        return
    if rated:
        best, its = two_ratings(rated, int(rated["n_clusters"]), other)
        yield f"Look at {other} clusters, too: rated {its}, the best number {best}."
    else:
        yield f"Look at {other} clusters, too: some criteria name that number."


def _objects_to_check(summary: Summary) -> Iterator[str]:
    words = verdict_totals(summary)
    if not words or not words["undecided"] or len(summary["clusters"]) == 1:
        return
    listed = summary["least_certain"] if may_show_objects(summary) else []
    named = [printable(o["id"], 24) for o in listed[:_MOST_NAMED] if o.get("verdict") == "undecided"]
    n, one = words["undecided"], words["undecided"] == 1
    first = f" ({listing(named)}{' first' * (len(named) < n)})" if named else ""
    yield f"Check the {plural(n, 'undecided object')}{first}: {'it lies' if one else 'they lie'} between clusters."


def _columns_to_check(summary: Summary) -> Iterator[str]:
    names = [f"“{printable(name, 40)}”" for name in deciding_columns(summary, _MOST_COLUMNS)]
    if len(names) > 1:
        yield f"Check the columns that separate the clusters most: {listing(names)}. Should they decide?"


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
