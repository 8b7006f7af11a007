"""What describes the clusters, from the table that a command reads."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ensemblage.base.text import write_csv
from ensemblage.cli._source import Source, rows_of_members
from ensemblage.io import read_table
from ensemblage.io._features import Members
from ensemblage.io._table import assign_roles
from ensemblage.pipeline._describe import drop_columns
from ensemblage.profiles import Profile, profile
from ensemblage.profiles._record import VariableRow

TESTED = ("other", "test", "difference", "p_value", "p_adjusted")
"""What `write_profile` has of a test that holds."""
DESCRIBED = tuple(name for name in VariableRow._fields if name not in TESTED)


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
    kept = drop_columns(table, {source.truth_column, roles.id_column})
    if not kept.columns:
        raise ValueError(
            f"{path.name} must have a column besides ids and known classes. It has none. Name another file."
        )
    return profile(consensus, kept, ids=members.ids, honest=honest)
