"""Two tables of labels side by side, and cluster numbers kept from one run to the next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from ensemblage.base.text import listing, write_csv
from ensemblage.cli._answer import show_lines, show_table
from ensemblage.cli._folder import check_free, check_suffix
from ensemblage.cli._progress import announce
from ensemblage.io._read import read_table
from ensemblage.io._roles import assign_roles, check_column
from ensemblage.metrics._align import LabelComparison, compare, shared_objects
from ensemblage.report._layout import percent
from ensemblage.tables.bytes import base_name, read_bytes
from ensemblage.tables.column import as_labels

CLUSTER = "cluster"
MOST_CLUSTERS_SHOWN, MOST_IDS_SHOWN = 12, 10


@dataclass(frozen=True)
class LabelTable:
    """A column of labels of a file, and whose they are."""

    name: str
    ids: list[str]
    """(n,) the cells of the id column, else the numbers of the rows from 1."""
    has_ids: bool
    labels: NDArray[Any]
    """(n,) whole numbers where all are, else texts; -1 and None: in none."""
    content: bytes


def read_labels(path: Path, column: str | None = None, id_column: str | None = None) -> LabelTable:
    """The labels of a file: of the column that is named, or "cluster", or the only one beside the id."""
    content = read_bytes(path)
    table = read_table(content, name=base_name(path))
    named = "id" if id_column is None and column != "id" and "id" in table.names else id_column
    given = column or (CLUSTER if CLUSTER in table.names else None)
    check_column(table, "--column", given)
    roles = assign_roles(table, named, None, () if given is None else (given,), guess_id=True)
    if given is None:
        if len(roles.rest) != 1:
            shown = ", ".join(table.names[:8])
            raise ValueError(
                f"{path.name} must have a column named cluster, or one column beside its id. Its columns are {shown}. "
                "Name the column with --column NAME."
            )
        given = roles.rest[0].name
    numbers = table[given].numbers
    are_whole = numbers is not None and not np.isnan(numbers).any() and (numbers == np.floor(numbers)).all()
    labels = np.asarray(numbers, dtype=np.int64) if are_whole else as_labels(table[given])
    return LabelTable(path.name, roles.ids, roles.id_column is not None, labels, content)


def compare_tables(
    first: Path, second: Path, column: str | None, id_column: str | None, output: Path | None, overwrite: bool
) -> None:
    """Do what ``ensemblage compare`` does."""
    if output is not None:
        check_suffix(output, ".csv")
        check_free(output, overwrite)
    one, two = read_labels(first, column, id_column), read_labels(second, column, id_column)
    by_ids = one.has_ids and two.has_ids
    if one.has_ids != two.has_ids:
        without = two if one.has_ids else one
        announce(f"{without.name}: no ids, so that the objects of both are matched by the numbers of their rows")
    ids = {"first_ids": one.ids, "second_ids": two.ids} if by_ids else {}
    found = compare(one.labels, two.labels, **ids)
    show_lines(_lines(found, one, two))
    click.echo()
    _show_clusters(found, one, two)
    if output is not None:
        write_csv(
            output,
            ["id", one.name, two.name] if one.name != two.name else ["id", "from", "to"],
            _moved_rows(found, one),
        )
        show_lines([("written", str(output))])


def _lines(found: LabelComparison, one: LabelTable, two: LabelTable) -> Iterator[tuple[str, str]]:
    n = len(found.moved)
    only = [total - n for total in found.n_objects]
    here = [f"{count:,} only in {name}" for count, name in zip(only, _table_names(one, two), strict=True) if count]
    yield "objects", ", ".join([f"{n:,} in both", *here])
    yield "agreement", f"ARI {found.ari:.3f}, AMI {found.ami:.3f}, NMI {found.nmi:.3f}"
    n_moved = int(found.moved.sum())
    moved = f"{n_moved:,} ({percent(n_moved / n)}) are in another cluster than the one that matches theirs"
    ids = [one.ids[place] for place in found.places[0][found.moved][:MOST_IDS_SHOWN]]
    more = ", ..." if n_moved > len(ids) else ""
    yield "moved", f"{moved}{': ' * bool(ids)}{', '.join(ids)}{more}"
    gone = [str(label) for label, match in zip(found.labels[0], found.matched, strict=True) if match < 0]
    came = [str(label) for j, label in enumerate(found.labels[1]) if j not in found.matched]
    if gone:
        yield "gone", _without_match(gone, _table_names(one, two)[0])
    if came:
        yield "new", _without_match(came, _table_names(one, two)[1])


def _without_match(clusters: Sequence[str], table: str) -> str:
    """That some clusters of a table match none of the other one."""
    one = len(clusters) == 1
    named = listing(clusters[:MOST_CLUSTERS_SHOWN])
    return f"{'cluster' if one else 'clusters'} {named} of {table} {'matches' if one else 'match'} none"


def _table_names(one: LabelTable, two: LabelTable) -> tuple[str, str]:
    """What the tables are called; both may have the same name."""
    return (one.name, two.name) if one.name != two.name else ("the first", "the second")


def _show_clusters(found: LabelComparison, one: LabelTable, two: LabelTable) -> None:
    """Objects that clusters share: rows of the first, columns of the second, those that match first."""
    first, second = found.labels
    order = [*found.matched[found.matched >= 0], *(j for j in range(len(second)) if j not in found.matched)]
    shown = order[:MOST_CLUSTERS_SHOWN]
    rows = []
    for i in range(min(len(first), MOST_CLUSTERS_SHOWN)):
        match, row = found.matched[i], found.table[i]
        rows.append([str(first[i]), "-" if match < 0 else str(second[match]), *(f"{row[j]:,}" for j in shown)])
    a, b = _table_names(one, two)
    header = [f"cluster of {a}", "matches", *(str(second[j]) for j in shown)]
    show_table(header, rows, right=range(2, len(header)))
    left = max(len(first), len(order)) - MOST_CLUSTERS_SHOWN
    click.echo(f"Columns: clusters of {b}." + (f" {left} more clusters are not shown." if left > 0 else ""))


def _moved_rows(found: LabelComparison, one: LabelTable) -> Iterator[tuple[Any, ...]]:
    """The id of each object that moved, and its cluster in both; empty: in none."""
    first, second = found.labels
    for m in np.flatnonzero(found.moved):
        a, b = found.clusters[0][m], found.clusters[1][m]
        yield one.ids[found.places[0][m]], first[a] if a >= 0 else "", second[b] if b >= 0 else ""


def check_align(old: LabelTable | None, ids: list[str]) -> None:
    """Refuse before the work what cannot be aligned after it; say how many objects both have."""
    if old is None:
        return
    if old.labels.dtype.kind != "i":
        raise ValueError(
            f"--align must name a table whose clusters are whole numbers, such as labels.csv. {old.name} has others. "
            "Name another one."
        )
    shared, _ = shared_objects(ids, old.ids, len(ids), len(old.ids))
    are_row_numbers = old.ids == list(map(str, range(1, len(old.ids) + 1)))
    by_rows = ", by the numbers of their rows" if are_row_numbers else ""
    announce(f"{old.name}: {len(shared):,} of the {len(ids):,} objects are known from there{by_rows}")


def align_by(old: LabelTable | None, ids: Sequence[str]) -> dict[str, Any] | None:
    """What `Model.align` gets, so that clusters are numbered as before."""
    return None if old is None else {"reference": old.labels, "ids": ids, "reference_ids": old.ids}


def announce_numbers(model: Any, old: LabelTable | None) -> None:
    """Say which clusters were known."""
    if old is None:
        return
    numbers, known = model.cluster_numbers_.tolist(), set(old.labels[old.labels >= 0].tolist())
    kept, came = [str(n) for n in numbers if n in known], [str(n) for n in numbers if n not in known]
    gone = [str(n) for n in sorted(known - set(numbers))]
    parts = [f"kept {', '.join(kept) or 'none'}"]
    parts += [f"new {', '.join(came)}"] * bool(came) + [f"gone {', '.join(gone)}"] * bool(gone)
    announce(f"numbers of clusters: {'; '.join(parts)}")
