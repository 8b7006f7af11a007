"""``--thin-counts``: clusters are made of one part of each count, and markers are tested on the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage.io import Table
from ensemblage.io._alerts import NAMES
from ensemblage.io._column import Column
from ensemblage.io._table import name_columns
from ensemblage.pipeline._describe import Thinned
from ensemblage.profiles import thin_counts

PART = "part of "
"""What the columns of the first part are called begins so: those of new objects, as counted, are none of them."""
COUNTED = ("number", "constant")
"""Roles of columns that may be counts."""
NOTE = "each count was split into two independent parts: clusters are made of the logarithms of the first, {}"
TESTED, DEPTH = "markers are tested on the second", "both divided by the sums of their objects"


@dataclass(frozen=True)
class Thinning:
    """How counts are split."""

    dispersion: float | None
    """None: by moments."""
    by_depth: bool
    """Whether the parts are divided by the sums of their objects."""

    @classmethod
    def of(cls, settings: dict[str, Any]) -> Thinning | None:
        """Take it out of the settings of a command; None if nothing is split."""
        is_asked, dispersion = settings.pop("thin_counts"), settings.pop("dispersion")
        by_depth = settings.pop("divide_by_depth")
        given = {"--dispersion": dispersion is not None, "--divide-by-depth": by_depth}
        if not is_asked and (beside := [name for name, value in given.items() if value]):
            raise ValueError(f"{beside[0]} must go with --thin-counts. Got it alone. Add --thin-counts.")
        if not is_asked:
            return None
        if not settings["honest_markers"]:
            raise ValueError(
                "--thin-counts must go with --honest-markers, which tests the second parts. Got it alone. Add "
                "--honest-markers."
            )
        if settings["without_columns"]:
            raise ValueError("--thin-counts must go without --without-columns. Got both. Leave one out.")
        return cls(dispersion, by_depth)

    def identity(self) -> dict[str, Any]:
        """What the results depend on."""
        dispersion: dict[str, Any] = {} if self.dispersion is None else {"dispersion": self.dispersion}
        return {"thin_counts": True, **dispersion, **({"divide_by_depth": True} if self.by_depth else {})}

    def split(self, table: Table, roles: Mapping[str, Any], seed: int) -> tuple[Table, Thinned]:
        """The table with logarithms of the first parts in the place of counts, and the counts with the second parts.

        ``roles`` say which columns are ids, known classes and left out; all others are counts.
        """
        columns = name_columns(table, **roles, guess_id=True).rest
        values = _check_counts(table, columns)
        first, second = thin_counts(values, dispersion=self.dispersion, random_state=seed)
        if self.by_depth:
            first, second = _of_equal_depth(first), _of_equal_depth(second)
        made = dict(zip([c.name for c in columns], np.log1p(first).T, strict=True))
        note = NOTE.format(f"{TESTED}, {DEPTH}" if self.by_depth else TESTED)
        thinned = replace(
            table,
            columns=[_part(c.name, made[c.name]) if c.name in made else c for c in table.columns],
            notes=(*table.notes, note),
            given_roles={name: role for name, role in table.given_roles.items() if name not in made},
        )
        counts = replace(table, columns=columns, index=None, given_roles={})
        counts.found_roles = {c.name: table.found_roles[c.name] for c in columns}
        return thinned, Thinned(counts, np.asarray(second, dtype=np.float64))


def _check_counts(table: Table, columns: Sequence[Column]) -> NDArray[np.float64]:
    """(n, m) the columns as counts, refused if one is none."""
    if not columns:
        raise ValueError(f"--thin-counts needs columns of counts. {table.source} has none besides ids and classes.")
    return np.column_stack([_counts(table, column) for column in columns])


def _counts(table: Table, column: Column) -> NDArray[np.float64]:
    """(n,) a column as counts, refused if it has none."""
    role, values = table.found_roles[column.name].name, column.numbers
    if values is None or role not in COUNTED:
        got = "text" if values is None else f"the role {role}"
    elif np.isnan(values).any():
        got = f"no value in {table.where(int(np.isnan(values).argmax()))}"
    elif (wrong := (values < 0) | (values != np.floor(values)) | np.isinf(values)).any():
        got = f"{values[wrong][0]:g} in {table.where(int(wrong.argmax()))}"
    else:
        return values
    of_table = f"Add --drop-column {column.name!r}"
    advice = "Name a matrix of counts with --use" if table.index == NAMES else of_table
    raise ValueError(
        f"--thin-counts must have columns of counts, whole numbers ≥ 0. {column.name!r} of {table.source} has {got}. "
        f"{advice}, or leave --thin-counts out."
    )


def _of_equal_depth(counts: NDArray[Any]) -> NDArray[np.float64]:
    """(n, m) counts as if all objects had the mean of their sums; an object without a count stays so."""
    depths = counts.sum(axis=1, dtype=np.float64)
    scales = np.where(depths > 0, depths, 1) / max(depths.mean(), 1)
    return np.asarray(counts / scales[:, None])


def _part(name: str, values: NDArray[np.float64]) -> Column:
    import pyarrow as pa

    return Column(f"{PART}{name}", pa.array(values))
