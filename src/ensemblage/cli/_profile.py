"""What describes the clusters, from the table that a command reads."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ensemblage.base.text import write_csv
from ensemblage.cli._source import Source, rows_of_members
from ensemblage.cli._thinning import ThinnedCounts
from ensemblage.io import Table, read_table
from ensemblage.io._features import Features, Members
from ensemblage.io._table import assign_roles
from ensemblage.profiles import Profile, profile
from ensemblage.profiles._record import VariableRow

TESTED = ("other", "test", "difference", "p_value", "p_adjusted")
"""What `write_profile` has of a test that holds."""
DESCRIBED = tuple(name for name in VariableRow._fields if name not in TESTED)


def profile_of_features(
    features: Features, consensus: Any, source: Source, honest: bool = False, thinned: ThinnedCounts | None = None
) -> Profile | None:
    """From the values as they stand in the table that was clustered, or those that it was made of.

    honest : whether variables are tested
    thinned : the counts on which they are, if not on those values
    """
    if thinned is not None:
        of_counts: dict[str, Any] = {"clustered": thinned.counts.names, "honest": honest, "thinned": thinned.second}
        return profile(consensus, thinned.counts, ids=features.ids, features=features.X, **of_counts)
    original = source.described_by()
    if original is not None:
        rows = original if features.rows is None else original.take(features.rows)
        genes = _drop_columns(rows, {original.columns[0].name})
        return profile(consensus, genes, ids=features.ids, features=features.X, clustered=genes.names, honest=honest)
    if features.table is None:
        return None
    used = {use.column for use in features.columns if use.use.startswith("used")}
    left = {source.truth_column, features.id_column, *source.drop_columns} - used
    table = _drop_columns(features.table, left)
    if not table.columns:
        return None
    return profile(
        consensus,
        table,
        ids=features.ids,
        features=features.X if features.X.shape[1] else None,
        clustered=used,
        honest=honest,
    )


def write_profile(path: Path, found: Profile) -> None:
    """One line per cluster and variable: what describes it and, where it was tested, the p-values that hold."""
    honest = [] if found.honest is None else found.honest.table
    tested = {(row.cluster, row.variable): row for row in honest}

    def lines() -> Iterator[list[Any]]:
        for c in range(len(found.clusters)):
            for row in found._rows(c):
                of_test = tested.get((row.cluster, row.variable))
                test = [None if of_test is None else getattr(of_test, name) for name in TESTED]
                yield [_cell(value) for value in [*(getattr(row, name) for name in DESCRIBED), *test]]

    write_csv(path, [*DESCRIBED, *TESTED], lines())


def _cell(value: Any) -> Any:
    """A number with six digits, nothing for NaN."""
    if not isinstance(value, float):
        return value
    return None if math.isnan(value) else f"{value:.6g}"


def profile_of_table(path: Path, members: Members, source: Source, consensus: Any, honest: bool = False) -> Profile:
    """From another table of the objects of an ensemble.

    honest : whether variables are tested
    """
    table = read_table(path, keep_empty=True, missing=source.missing_codes)
    id_column = members.id_column if members.id_column in table.names else None
    roles = assign_roles(table, id_column, None, (), guess_id=True)
    rows = rows_of_members(roles.ids, roles.id_column, path.name, members, source.path.name)
    table = table if np.array_equal(rows, np.arange(len(table))) else table.take(rows)
    kept = _drop_columns(table, {source.truth_column, roles.id_column})
    if not kept.columns:
        raise ValueError(
            f"{path.name} must have a column besides ids and known classes. It has none. Name another file."
        )
    return profile(consensus, kept, ids=members.ids, honest=honest)


def _drop_columns(table: Table, names: Collection[str | None]) -> Table:
    """The table without ids and known classes, which clusters are compared with elsewhere; roles stay as they are."""
    kept = replace(table, columns=[column for column in table.columns if column.name not in names])
    kept.found_roles = {column.name: table.found_roles[column.name] for column in kept.columns}
    return kept
