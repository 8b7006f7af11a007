"""What tells partitions and labels apart, whatever their names and places: colour refinement."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage.kernels._codes import add_row_colours, mix
from ensemblage.labels.rows import Rows


class Content(NamedTuple):
    """Numbers to order partitions and labels by that depend on neither their names nor the order of the partitions."""

    partitions: list[tuple[int, int]]
    """Per partition its colour, and a hash of its clusters; both are equal for copies of a partition only."""
    labels: NDArray[np.uint64]
    """(offsets[p], 2) colour and first object of each label; no two of a partition are equal."""


def content_of(rows: Rows, sizes: NDArray[np.int64], n_jobs: int | None = None) -> Content:
    """Colours of partitions and labels, which depend on nothing but what crosses what; then the objects' places.

    Two labels have the same colour if their partitions have, and as many of their objects have the same colours in all
    other partitions: the coarsest such colouring (Weisfeiler & Leman). Where it tells all labels apart, the places of
    the objects count for nothing. ``sizes`` is (offsets[p],) objects of each label. O(n p) time per round, mostly two.
    """
    unit = np.gcd.reduce(rows.counts)  # copies of all objects change nothing
    rows, sizes = replace(rows, counts=rows.counts // unit), sizes // unit
    colours = refine_colours(rows, sizes, n_jobs)
    of_partitions = _colours_of_partitions(rows, colours)
    if len(np.unique(colours[rows.labels])) == len(rows.labels):
        clusters, firsts = np.zeros_like(of_partitions), np.zeros_like(colours)
    else:
        first = rows.first_objects()
        marks = mix(first + np.uint64(1))  # none is 0, which would count for nothing
        clusters = _colours_of_partitions(rows, _sums_over_rows(rows, np.zeros_like(colours), marks, n_jobs))
        offsets = rows.offsets

        def firsts_of_labels(codes: Any, first: NDArray[np.uint64]) -> NDArray[np.uint64]:
            firsts = np.full(offsets[-1], np.iinfo(np.uint64).max, dtype=np.uint64)
            for j, column in enumerate(codes.T):
                np.minimum.at(firsts, offsets[j] + column, first)
            return firsts

        firsts = np.minimum.reduce(rows.codes.map(firsts_of_labels, reads=[first], n_jobs=n_jobs))
    partitions = list(zip(of_partitions.tolist(), clusters.tolist(), strict=True))
    return Content(partitions, np.column_stack([colours, firsts]))


def refine_colours(rows: Rows, sizes: NDArray[np.int64], n_jobs: int | None = None) -> NDArray[np.uint64]:
    """(offsets[p],) colour of each label, refined until no more labels differ."""
    colours, n_colours = mix(sizes.astype(np.uint64)), 0
    everywhere = np.zeros(len(rows), dtype=np.uint64)
    while True:
        of_partitions = np.repeat(_colours_of_partitions(rows, colours), np.diff(rows.offsets))
        colours = _label_colours(rows, mix(colours + mix(of_partitions)))
        n_before, n_colours = n_colours, len(np.unique(colours[rows.labels]))
        if n_colours in (n_before, len(rows.labels)):
            return colours
        colours = mix(colours + mix(_sums_over_rows(rows, colours, everywhere, n_jobs)))


def _colours_of_partitions(rows: Rows, colours: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """(p,) colour of each partition: its weight and the colours of its labels."""
    of_labels = np.add.reduceat(_label_colours(rows, mix(colours)), rows.offsets[:-1])
    return np.asarray(mix(mix(rows.weights.view(np.uint64)) + of_labels))


def _label_colours(rows: Rows, colours: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The colours, with 0 for the missing entries."""
    colours[rows.offsets[1:] - 1] = 0
    return colours


def _sums_over_rows(
    rows: Rows, colours: NDArray[np.uint64], marks: NDArray[np.uint64], n_jobs: int | None
) -> NDArray[np.uint64]:
    """(offsets[p],) sums of the colours of each label's objects: of their labels' ``colours`` and their row's mark."""
    offsets = rows.offsets

    def add(codes: Any, counts: Any, marks: Any, sums: Any) -> None:
        add_row_colours(codes, counts, marks, offsets, colours, sums)

    (sums,) = rows.codes.add(add, [(int(offsets[-1]),)], reads=[rows.counts, marks], n_jobs=n_jobs)
    return sums.view(np.uint64)
