"""Files of pairs of objects: what --must-link and --cannot-link name."""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage.cli._options import option_name
from ensemblage.cli._progress import tell
from ensemblage.io._bytes import read_bytes, text_bytes
from ensemblage.io._numbers import is_number
from ensemblage.labels.links import ImpossiblePairs, Links
from ensemblage.report._layout import plural

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
        return {f"pairs of {option_name(n)}": f"{plural(len(pairs[n]), 'pair')} of {p.name}" for n, p in
                self.paths.items()}  # fmt: skip


@contextmanager
def errors_with_ids(ids: Sequence[str]) -> Iterator[None]:
    """What is said of pairs that cannot be kept calls objects as their table does."""
    try:
        yield
    except ImpossiblePairs as error:
        raise error.with_names(ids) from None


def read_pairs(content: bytes, name: str, ids: Sequence[str], objects: str) -> NDArray[np.int64]:
    """Pairs of objects, one per line, by their ids or else their row from 1.

    A first line without any is a header, unless it holds a number where all ids are numbers: it is told.
    A comma, semicolon or tab is between them: the first of these that cuts the first line in two.
    """
    places, text = {known: place for place, known in enumerate(ids)}, content.decode().strip().splitlines()
    cut = [c for c in ",;\t" if len(next(csv.reader(text[:1], delimiter=c))) == 2]
    lines = [line for line in csv.reader(text, delimiter=[*cut, ","][0]) if any(line)]
    first = [cell.strip() for cell in lines[0]] if lines else []
    if lines and places.keys().isdisjoint(first) and not (any(map(is_number, first)) and all(map(is_number, ids))):
        lines = lines[1:]
        tell(f"{name}: the first line is a header, for it names no object: {', '.join(first)}")
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
