"""Labels of draws in the narrowest whole numbers, added a block at a time; chains without burn-in, thinned."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.memory import size_text
from ensemblage.base.options import Message, Option

LARGEST = 2**31 - 1
"""Labels are at most so large."""
WIDTHS = (np.int8, np.int16, np.int32)
COPIES = 3
"""How often a label that is kept is in memory at the most: in its block, in its chain, and as a code."""
BLOCK_LABELS = 2**20
"""Labels of a block."""
IN_BLOCK = 64
"""Most bytes that a label of a block takes while it is read, where a row is not longer than a block."""


class Chain(NamedTuple):
    """The draws of one chain that are kept."""

    labels: NDArray[Any]
    """(n_draws, n_objects) whole numbers"""
    numbers: NDArray[np.intp]
    """(n_draws,) their places in the chain, from 1"""
    n_given: int


class Room:
    """What reading may take, and what the labels take that were read."""

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self._n_labels, self._width = 0, 1

    def take(self, n_labels: int, width: int, source: str) -> None:
        """Count more labels of so many bytes each; refuse them if there is no room."""
        self._n_labels += n_labels
        self._width = max(self._width, width)
        self._check(self._n_labels, source)

    def expect(self, n_labels: int, source: str) -> None:
        """Refuse more labels than there is room for, before they are read."""
        self._check(self._n_labels + n_labels, source)

    def _check(self, n_labels: int, source: str) -> None:
        needed = bytes_to_read(n_labels, self._width)
        if needed > self.max_bytes:
            raise ValueError(
                Message(
                    f"Reading {source} must fit into ",
                    *(Option("max_bytes"), f" = {size_text(self.max_bytes)}. Got {size_text(needed)} for "),
                    f"{n_labels:,} labels. Give more, or keep fewer draws with ",
                    *(Option("thin"), " or ", Option("burn_in"), "."),
                )
            )


def bytes_to_read(n_labels: int, width: int) -> int:
    """At the peak, for so many labels of so many bytes each."""
    return IN_BLOCK * min(n_labels, BLOCK_LABELS) + COPIES * width * n_labels


class Kept(NamedTuple):
    """What is kept of a source."""

    burn_in: int
    thin: int
    missing: int | None
    """The number that means "not labelled"."""
    room: Room


class LabelBlocks:
    """A matrix of labels that grows by blocks of rows."""

    def __init__(self, kept: Kept, source: str, subject_of: Callable[[int], str]) -> None:
        """subject_of : says in messages what a column is."""
        self.kept, self.source, self.subject_of = kept, source, subject_of
        self._blocks: list[NDArray[Any]] = []

    def add(self, values: NDArray[Any]) -> None:
        """Add rows of numbers, NaN for none."""
        block = narrowest(whole_numbers(values, self.kept.missing, self.subject_of))
        self.kept.room.take(block.size, block.itemsize, self.source)
        self._blocks.append(block)

    def matrix(self) -> NDArray[Any]:
        """All rows; the blocks are let go."""
        blocks, self._blocks = self._blocks, []
        return blocks[0] if len(blocks) == 1 else np.concatenate(blocks)


class DrawBlocks:
    """Draws in rows, of one chain or of several, of which some are kept."""

    def __init__(self, labels: LabelBlocks) -> None:
        self._labels = labels
        self._n_given: dict[Any, int] = {}
        """Draws of each chain so far, by the order of their first ones."""
        self._chains: list[NDArray[np.intp]] = []
        self._numbers: list[NDArray[np.intp]] = []

    def add(self, values: NDArray[Any], chains: Sequence[Any] | None = None) -> None:
        """Add draws, and the name of the chain of each."""
        names, codes = (None,), np.zeros(len(values), dtype=np.intp)
        if chains is not None:
            names = tuple(dict.fromkeys(chains))
            place = {name: c for c, name in enumerate(names)}
            codes = np.array([place[name] for name in chains], dtype=np.intp)
        of_chain, numbers = np.empty_like(codes), np.empty_like(codes)
        for c, name in enumerate(names):
            own = np.flatnonzero(codes == c)
            before = self._n_given.setdefault(name, 0)
            of_chain[own] = list(self._n_given).index(name)
            numbers[own] = np.arange(before, before + len(own))
            self._n_given[name] += len(own)
        burn_in, thin = self._labels.kept.burn_in, self._labels.kept.thin
        is_kept = (numbers >= burn_in) & ((numbers - burn_in) % thin == 0)
        self._labels.add(values[is_kept])
        self._chains.append(of_chain[is_kept])
        self._numbers.append(numbers[is_kept] + 1)

    def chains(self) -> list[Chain]:
        """The draws that are kept, chain by chain."""
        labels, of_chain, numbers = self._labels.matrix(), np.concatenate(self._chains), np.concatenate(self._numbers)
        if len(self._n_given) == 1:
            return [Chain(labels, numbers, n_given) for n_given in self._n_given.values()]
        own = [of_chain == c for c in range(len(self._n_given))]
        return [
            Chain(labels[is_own], numbers[is_own], n_given)
            for is_own, n_given in zip(own, self._n_given.values(), strict=True)
        ]


def chains_of_array(array: NDArray[Any], kept: Kept, source: str, subject: str) -> list[Chain]:
    """The chains of an array of draws and objects, or of chains, draws and objects."""
    chains = []
    for chain in array if array.ndim == 3 else array[None]:
        draws = DrawBlocks(LabelBlocks(kept, source, lambda _: subject))
        step = max(1, BLOCK_LABELS // chain.shape[1])
        for start in range(0, len(chain), step):
            draws.add(chain[start : start + step])
        chains += draws.chains()
    return chains


def whole_numbers(values: NDArray[Any], missing: int | None, subject_of: Callable[[int], str]) -> NDArray[Any]:
    """(r, c) numbers as whole ones; NaN becomes the number that means missing."""
    if values.dtype.kind == "b":
        return values.astype(np.int8)
    if values.dtype.kind not in "iuf":
        raise ValueError(f"Labels must be whole numbers. Got {values.dtype} in {subject_of(0)}. Number the clusters.")
    if values.dtype.kind == "f":
        absent = np.isnan(values)
        if absent.any():
            if missing is None:
                got = f"Got none in {subject_of(_first_column(absent))}. Give the number that means so."
                raise ValueError(Message("Every object must have a label where ", Option("missing", None), f". {got}"))
            values = np.where(absent, missing, values)
        with np.errstate(invalid="ignore"):
            is_broken = ~np.isfinite(values) | (values != np.rint(values))
        if is_broken.any():
            raise ValueError(
                f"Labels must be whole numbers. Got {float(values[is_broken][0]):g} in "
                f"{subject_of(_first_column(is_broken))}. Give the clusters of the objects, not parameters of the "
                "model."
            )
    if values.size and (values.min() < -LARGEST or values.max() > LARGEST):
        is_large = (values < -LARGEST) | (values > LARGEST)
        raise ValueError(
            f"Labels must be at most {LARGEST:,}. Got a larger one in {subject_of(_first_column(is_large))}. Number "
            "the clusters anew."
        )
    return values


def _first_column(marked: NDArray[np.bool_]) -> int:
    """The column of the first row with a mark."""
    return int(np.argwhere(marked)[0, 1])


def narrowest(values: NDArray[Any]) -> NDArray[Any]:
    """Whole numbers that are at most `LARGEST`, in the narrowest signed type."""
    low, high = values.min(initial=0), values.max(initial=0)
    width = next(width for width in WIDTHS if np.iinfo(width).min <= low and high <= np.iinfo(width).max)
    return values.astype(width)
