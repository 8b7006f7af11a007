"""What a command reads: its bytes, their hash, and what they hold; and files of pairs of objects."""

from __future__ import annotations

import csv
import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.text import some
from ensemblage.cli._options import option_name, shell_text
from ensemblage.cli._progress import announce, announce_notes
from ensemblage.io._anndata import PCA, X, classes_of, table_of
from ensemblage.io._encoding import ColumnUse
from ensemblage.io._features import Features, Members, features_of, members_of
from ensemblage.io._read import read_table
from ensemblage.io._table import Table
from ensemblage.labels.coding import VOTE
from ensemblage.labels.ensemble import Ensemble
from ensemblage.labels.files import LEIDEN
from ensemblage.labels.links import ImpossiblePairs, Links
from ensemblage.pipeline._to_anndata import KEY
from ensemblage.report._layout import plural
from ensemblage.tables.bytes import base_name, read_bytes, text_bytes
from ensemblage.tables.column import as_labels
from ensemblage.tables.formats import CELLS, format_of, is_label_file
from ensemblage.tables.h5ad import open_file
from ensemblage.tables.numbers import is_number

READING = ("encoding", "has_header", "transpose", "delimiter", "decimal", "sheet", "missing_codes", "skip_rows")
"""Settings of commands that say how a table is read."""
FEATURE_OPTIONS = ("impute", "standardize", "categories", "dates")
"""Settings of commands that say how features are made."""
OF_CELLS = {"columns": "--columns", "use_rep": "--use-rep", "key_added": "--key-added"}
"""Settings that say what of a .h5ad file is read, and how what is written into one is called."""
MOST_DESCRIBED = 50_000_000
"""Entries of a matrix by whose variables clusters are described: some seconds, and 400 MB."""
USUAL = {"categories": "encode", "dates": "drop", "noise": "missing"}
"""Options that came later: where they are as usual, an older folder is not of another analysis."""
FORMULA = re.compile(r"\s*[=+\-@]|[\t\r]")
NUMBER = re.compile(r"\s*[+-]?([0-9]+([.,][0-9]*)?|[.,][0-9]+)([eE][+-]?[0-9]+)?\s*")


def formula_notes(ids: Sequence[str]) -> list[str]:
    """A warning of ids that a spreadsheet would compute: the tables that are written keep them as they are."""
    if all(first.isalnum() for first in {name[:1] for name in ids}):
        return []
    found = next((name for name in ids if FORMULA.match(name) and not NUMBER.fullmatch(name)), None)
    if found is None:
        return []
    shown = repr(found[:40])
    return [
        f"ids such as {shown} are formulas to a spreadsheet, and are written as they are: import them there as text"
    ]


def alert_notes(objects: Features | Members) -> list[str]:
    """What of the data probably makes a wrong answer, for a command that has no other place for it."""
    return [f"alert: {shell_text(alert.text)}" for alert in objects.alerts]


def rows_of_members(
    ids: Sequence[str], id_column: str | None, name: str, members: Members, ensemble: str
) -> NDArray[np.intp]:
    """The row of each object of an ensemble in the table ``name`` with these ids: by them where both have some."""
    if id_column is not None and members.id_column is not None:
        row_of = {found: row for row, found in enumerate(ids)}
        lost = [found for found in members.ids if found not in row_of]
        if lost:
            raise ValueError(
                f"{name} must have a row for every object of {ensemble}. It has none for {lost[0]!r}. Add it."
            )
        return np.array([row_of[found] for found in members.ids], dtype=np.intp)
    if len(ids) != len(members.ids):
        raise ValueError(
            f"{name} must have one row for each of the {len(members.ids)} objects of {ensemble}, in the same "
            f"order. It has {len(ids)}. Give both a column of ids."
        )
    return np.arange(len(ids))


@dataclass(frozen=True)
class InputFile:
    """An input file and the options that say how to read it."""

    path: Path
    id_column: str | None = None
    truth_column: str | None = None
    drop_columns: Sequence[str] = ()
    reading: dict[str, Any] = field(default_factory=dict)
    """Of `read_table`."""
    given_roles: Mapping[str, str] | None = None
    options: dict[str, Any] = field(default_factory=dict)
    """Of `features_of` or `members_of` alone."""
    by_distance: bool = False
    """Whether the distances of features are clustered."""

    @classmethod
    def of(cls, path: Path, settings: dict[str, Any], *own: str) -> InputFile:
        """Take what concerns the reading out of the settings of a command."""
        of_cells = {name: settings.pop(name, None) or None for name in OF_CELLS}
        if format_of(path) is CELLS:
            return CellFile._of(path, settings, own, of_cells)
        if asked := [name for name, value in of_cells.items() if value]:
            raise ValueError(
                f"{OF_CELLS[asked[0]]} is for a .h5ad file. Got {path.name}. Leave it out, or give such a file."
            )
        common = ("id_column", "truth_column", "drop_columns", "given_roles")
        chosen = {name: settings.pop(name) for name in common if name in settings}
        reading = {name: settings.pop(name) for name in READING if name in settings}
        return cls(path, **chosen, reading=reading, options={name: settings.pop(name) for name in own})

    def read(self) -> bytes:
        return read_bytes(self.path)

    def identity(self, content: bytes) -> dict[str, Any]:
        """All that what is read depends on."""
        return {
            "input": hashlib.sha256(content).hexdigest(),
            "id-column": self.id_column,
            "truth-column": self.truth_column,
            "drop-column": list(self.drop_columns),
            "encoding": self.reading.get("encoding"),
            "header": self.reading.get("has_header"),
            "transpose": self.reading.get("transpose", False),
            **{name: value for name in READING[3:] if (value := self.reading.get(name)) is not None},
            **({"role": [f"{name}={role}" for name, role in self.given_roles.items()]} if self.given_roles else {}),
            **{name: value for name, value in self.options.items() if USUAL.get(name) != value},
        }

    def table(self, content: bytes) -> Table:
        """The whole table, empty columns included."""
        return read_table(content, name=self.path.name, roles=self._not_objects, **self._reading, keep_empty=True)

    def features(self, content: bytes) -> Features:
        return self.features_of(self.features_table(content))

    def features_of(self, table: Table) -> Features:
        """Those of the table that was read, or of one that was made of it."""
        chosen = {**self.roles(), **self.options, "by_distance": self.by_distance}
        features = features_of(table, **chosen)
        if self.by_distance:
            features.check_comparable()
        return replace(features, notes=(*map(shell_text, features.notes), *formula_notes(features.ids)))

    def described_by(self) -> Table | None:
        """What describes the clusters where it is not what was clustered."""
        return None

    def announced_features(self) -> Features:
        """The features of the file as it is; what is to say of them is said."""
        features = self.features(self.read())
        announce_notes(self.path.name, [*alert_notes(features), *features.notes])
        return features

    def several_members(self, content: bytes) -> Members:
        """The members that the file has, two at least."""
        members = self.members(content)
        if members.ensemble.shape[1] < 2:
            beside = f" besides the id {members.id_column!r}" if members.id_column else ""
            raise ValueError(
                f"{self.path.name} must have two columns of labels or more, one per partition. Got one{beside}: "
                f"{members.ensemble.names[0]!r}. Add other partitions of the same objects."
            )
        return members

    def members(self, content: bytes) -> Members:
        if is_label_file(self.path):
            named = [name for name, value in self.roles().items() if value]
            if named:
                raise ValueError(f"{named[0]} must name a column of a table. Got a .npz file. Use a .csv file.")
            if self.missing_codes:
                beside = ",".join(self.missing_codes)
                raise ValueError(f"--missing must be one label for a .npz file. Got also {beside}. Leave it out.")
            if self.options.get("noise") == VOTE:
                raise ValueError(
                    "--noise vote is for labels. Got a .npz file, which has no label for noise. Use a .csv file."
                )
            ensemble = Ensemble.load(self.path)
            ids = [str(row) for row in range(1, len(ensemble) + 1)]
            return Members(ensemble, ids, None, None, ())
        members = members_of(self.features_table(content), **self.roles(), **self.options)
        return replace(members, notes=(*map(shell_text, members.notes), *formula_notes(members.ids)))

    @property
    def missing_codes(self) -> list[str] | None:
        """What means missing, beside empty cells and the like."""
        return self.reading.get("missing_codes")

    @property
    def _reading(self) -> dict[str, Any]:
        """Of `read_table`."""
        given = {name: value for name, value in self.reading.items() if value is not None}
        return {"missing" if name == "missing_codes" else name: value for name, value in given.items()}

    def roles(self) -> dict[str, Any]:
        """Which columns are ids, known classes and left out."""
        named = {name: getattr(self, name) for name in ("id_column", "truth_column", "drop_columns")}
        return named | ({"drop_columns": ()} if self._not_objects else {})

    @property
    def _not_objects(self) -> dict[str, str] | None:
        """Roles of what is dropped where columns of the file are objects: before the table is transposed."""
        return dict.fromkeys(self.drop_columns, "drop") if self.reading.get("transpose") else None

    def features_table(self, content: bytes) -> Table:
        """The table with what is clustered, with ids and known classes."""
        roles = {**(self.given_roles or {}), **(self._not_objects or {})}
        return read_table(content, name=base_name(self.path), roles=roles, **self._reading)


@dataclass(frozen=True)
class CellFile(InputFile):
    """A .h5ad file of AnnData: its hash stands for its content, and parts of it are read when they are needed."""

    columns: Sequence[str] = (LEIDEN,)
    """Of the partitions in ``.obs``."""
    use_rep: str | None = None
    """What is clustered; None: principal components if there are any."""
    key_added: str = KEY
    """Of what is written."""

    @classmethod
    def _of(cls, path: Path, settings: dict[str, Any], own: Sequence[str], of_cells: Mapping[str, Any]) -> CellFile:
        refused = ("id_column", *READING, "drop_columns", "given_roles", "categories", "dates")
        for name in refused:
            value = settings.pop(name, None)
            if value not in (None, (), [], {}, False, USUAL.get(name)):
                raise ValueError(
                    f"{option_name(name)} is for tables. Got {path.name}. Leave it out: --columns and --use-rep say "
                    f"what is read."
                )
        options = {name: settings.pop(name) for name in own if name in settings}
        if options.get("standardize") == "auto":  # of principal components the scales are what they say
            options["standardize"] = False
        chosen = {name: value for name, value in of_cells.items() if value}
        return cls(path, truth_column=settings.pop("truth_column", None), options=options, **chosen)

    def read(self) -> bytes:
        _ = self.opened  # is it such a file?
        with open(self.path, "rb") as file:
            return hashlib.file_digest(file, "sha256").digest()

    @cached_property
    def opened(self) -> Any:
        """Its parts."""
        return open_file(self.path)

    def identity(self, content: bytes) -> dict[str, Any]:
        read = {"use": self.use_rep} if "impute" in self.options else {"columns": list(self.columns)}
        options = {name: value for name, value in self.options.items() if name != "noise" or USUAL[name] != value}
        return {"input": content.hex(), "truth-column": self.truth_column, **read, **options}

    def table(self, content: bytes) -> Table:
        return table_of(self.opened, self.use_rep)

    def described_by(self) -> Table | None:
        """The variables of ``.X``, where a matrix of ``.obsm`` was made of them and they are not too many."""
        adata = self.opened
        is_other = self.use_rep != X and (self.use_rep or PCA) in adata.obsm
        if not is_other or adata.n_obs * len(adata.var_names) > MOST_DESCRIBED or adata.X is None:
            return None
        return table_of(adata, X)

    def features_table(self, content: bytes) -> Table:
        return table_of(self.opened, self.use_rep, self.truth_column)

    def members(self, content: bytes) -> Members:
        adata = self.opened
        ensemble = Ensemble.from_anndata(adata, list(self.columns), **self.options)
        ids = [str(name) for name in adata.obs.index]
        truth = None
        if self.truth_column is not None:
            truth = as_labels(classes_of(adata, self.truth_column))
        uses = [ColumnUse(name, "labels", "", "partition") for name in ensemble.names]
        p = len(ensemble.names)
        note = f"combined {'are' if p > 1 else 'is'} {plural(p, 'column')} of .obs: {some(ensemble.names)}"
        return Members(ensemble, ids, "obs_names", truth, (note, *formula_notes(ids)), uses)


KINDS = ("must_link", "cannot_link")


@dataclass(frozen=True)
class PairFiles:
    """What is known of pairs of objects that are combined."""

    paths: Mapping[str, Path]
    contents: Mapping[str, bytes]

    @classmethod
    def of(cls, settings: dict[str, Any]) -> PairFiles:
        """Take the files out of the settings of a command, and read them."""
        given = {name: settings.pop(name) for name in KINDS}
        paths, encoding = {name: path for name, path in given.items() if path is not None}, settings.get("encoding")
        return cls(paths, {name: text_bytes(read_bytes(path), path.name, encoding) for name, path in paths.items()})

    def __bool__(self) -> bool:
        return bool(self.paths)

    def identity(self) -> dict[str, str]:
        """What results depend on of them."""
        return {name: hashlib.sha256(content).hexdigest() for name, content in self.contents.items()}

    def check(self, estimator: Any, others: bool) -> None:
        """Refuse before the work what cannot keep them."""
        if self and others:
            raise ValueError(
                f"--method all must go without pairs, which not every method can keep. Got "
                f"{', '.join(map(option_name, self.paths))}. Leave the pairs out, or name a method."
            )
        if "cannot_link" in self.paths and not estimator._capabilities.cannot_link:
            raise ValueError(
                "--cannot-link must go with a method that can keep objects apart: km, eac-average, acv, bv or "
                f"others of their families. Got {type(estimator).__name__}. Name one of these."
            )

    def pairs(self, ids: Sequence[str], objects: str) -> dict[str, NDArray[np.int64]]:
        """The pairs by the numbers of the objects, for ``fit``; refused where they contradict each other."""
        found = {name: read_pairs(self.contents[name], path.name, ids, objects) for name, path in self.paths.items()}
        with errors_with_ids(ids):
            Links.of(len(ids), **found)
        return found

    def descriptions(self, pairs: Mapping[str, NDArray[np.int64]]) -> dict[str, str]:
        """What the page says of them."""
        return {
            f"pairs of {option_name(name)}": f"{plural(len(pairs[name]), 'pair')} of {path.name}"
            for name, path in self.paths.items()
        }


@contextmanager
def errors_with_ids(ids: Sequence[str]) -> Iterator[None]:
    """What is said of pairs that cannot be kept calls objects as their table does."""
    try:
        yield
    except ImpossiblePairs as error:
        raise error.with_names(ids) from None


def read_pairs(content: bytes, name: str, ids: Sequence[str], objects: str) -> NDArray[np.int64]:
    """Pairs of objects, one per line, by their ids or else their row from 1.

    A first line without any is a header, unless it holds a number where all ids are numbers: a line says so.
    A comma, semicolon or tab is between them: the first of these that cuts the first line in two.
    """
    places, text = {known: place for place, known in enumerate(ids)}, content.decode().strip().splitlines()
    cut = [c for c in ",;\t" if len(next(csv.reader(text[:1], delimiter=c))) == 2]
    lines = [line for line in csv.reader(text, delimiter=[*cut, ","][0]) if any(line)]
    first = [cell.strip() for cell in lines[0]] if lines else []
    if lines and places.keys().isdisjoint(first) and not (any(map(is_number, first)) and all(map(is_number, ids))):
        lines = lines[1:]
        announce(f"{name}: the first line is a header, for it names no object: {', '.join(first)}")
    pairs = []
    for number, line in enumerate(lines, 1):
        cells = [cell.strip() for cell in line]
        unknown = [cell for cell in cells if cell not in places]
        if len(cells) != 2 or unknown:
            got = f"{len(cells)} cells" if len(cells) != 2 else f"{unknown[0]!r}"
            raise ValueError(
                f"{name} must name two objects of {objects} in every line: by id, or by row number from 1. "
                f"Got {got} in pair {number}. Correct that line."
            )
        pairs.append([places[cell] for cell in cells])
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)
