"""What describes the clusters, from the table that a command reads."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ensemblage.cli._source import Source, rows_of_members
from ensemblage.profiles import Profile, profile
from ensemblage.tables import Features, Members, Table, read_table
from ensemblage.tables._roles import assign_roles


def profile_of_features(features: Features, consensus: Any) -> Profile | None:
    """From the values as they stand in the table that was clustered."""
    if features.table is None:
        return None
    classes = {use.column for use in features.columns if use.use.startswith("known classes")}
    return profile(
        consensus,
        _without(features.table, classes),
        ids=features.ids,
        features=features.X if features.X.shape[1] else None,
        clustered=[use.column for use in features.columns if use.use.startswith("used")],
    )


def profile_of_table(path: Path, members: Members, source: Source, consensus: Any) -> Profile:
    """From another table of the objects of an ensemble."""
    table = read_table(path, keep_empty=True)
    id_column = members.id_column if members.id_column in table.names else None
    roles = assign_roles(table, id_column, None, (), guess_id=True)
    rows = rows_of_members(roles.ids, roles.id_column, path.name, members, source.path.name)
    table = table if np.array_equal(rows, np.arange(len(table))) else table.take(rows)
    return profile(consensus, _without(table, {source.truth_column}), ids=members.ids)


def _without(table: Table, classes: Collection[str | None]) -> Table:
    """The table without its known classes, which clusters are compared with elsewhere."""
    return replace(table, columns=[column for column in table.columns if column.name not in classes])
