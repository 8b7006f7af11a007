"""Sets that are made here, so that a benchmark needs no file: formulas, and synthetic worlds of drawn seeds.

The sizes and seeds were fixed before anything was run on them. The seeds of the worlds are none of those that the trees
of the learned choice were trained, validated or tested on (below 200,168).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage.datasets import make_world

N_OBJECTS, N_WIDE = 200, 80
"""Objects of a set; of one with many features."""
FIRST_SEED = 300_000
WORLDS = ("clouds", "shapes", "numbers", "categories", "mixed", "wide")
"""Kinds of worlds; those of "single" have one cluster, and no score."""
N_WORLDS = 2
"""Of each kind."""
Points = NDArray[np.float64]


class GeneratedData(NamedTuple):
    """Objects and their true clusters."""

    X: Any
    """(n, m) float64, or an Arrow table where some columns are categories."""
    labels: NDArray[np.int64]
    """(n,) from 0, −1 for objects of no cluster."""


def moons(n: int, rng: np.random.Generator) -> GeneratedData:
    """Two interlocking half circles."""
    from sklearn.datasets import make_moons

    X, labels = make_moons(n, noise=0.1, random_state=int(rng.integers(2**31)))
    return GeneratedData(X, labels)


def rings(n: int, rng: np.random.Generator) -> GeneratedData:
    """A blob and two rings around it."""
    labels = rng.integers(3, size=n)
    radius = np.array([0.0, 2.0, 4.0])[labels] + rng.normal(scale=0.25, size=n)
    angle = rng.uniform(0, 2 * np.pi, n)
    X = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    X[labels == 0] = rng.normal(scale=0.4, size=((labels == 0).sum(), 2))
    return GeneratedData(X, labels)


def spirals(n: int, rng: np.random.Generator) -> GeneratedData:
    """Three arms."""
    labels = rng.integers(3, size=n)
    turn = np.sqrt(rng.uniform(0.05, 1, n)) * 1.5 * np.pi
    angle = turn + labels * 2 * np.pi / 3
    X = turn[:, None] * np.column_stack([np.cos(angle), np.sin(angle)]) + rng.normal(scale=0.25, size=(n, 2))
    return GeneratedData(X, labels)


def long(n: int, rng: np.random.Generator) -> GeneratedData:
    """Three parallel clouds, each twelve times as long as wide."""
    labels = rng.integers(3, size=n)
    return GeneratedData(rng.normal(size=(n, 2)) * [6.0, 0.5] + np.outer(labels, [0.0, 2.4]), labels)


def unequal(n: int, rng: np.random.Generator) -> GeneratedData:
    """Five clouds in five dimensions, with 40, 30, 20, 9 and 1 % of the objects."""
    centres = np.random.default_rng(5).normal(size=(5, 5)) * 2.2
    labels = rng.choice(5, size=n, p=[0.4, 0.3, 0.2, 0.09, 0.01])
    return GeneratedData(centres[labels] + rng.normal(size=(n, 5)), labels)


def widths(n: int, rng: np.random.Generator) -> GeneratedData:
    """Eight clouds in ten dimensions whose standard deviations are from 0.5 to 2."""
    centres = np.random.default_rng(8).normal(size=(8, 10)) * 1.6
    labels = rng.integers(8, size=n)
    return GeneratedData(centres[labels] + rng.normal(size=(n, 10)) * np.linspace(0.5, 2, 8)[labels][:, None], labels)


FORMULAS: Mapping[str, Callable[[int, np.random.Generator], GeneratedData]] = {
    "moons": moons,
    "rings": rings,
    "spirals": spirals,
    "long": long,
    "unequal": unequal,
    "widths": widths,
}


def _of_formula(place: int, name: str) -> GeneratedData:
    return FORMULAS[name](N_OBJECTS, np.random.default_rng([place, N_OBJECTS]))


def _of_world(kind: str, seed: int) -> GeneratedData:
    world = make_world(kind, n_samples=N_WIDE if kind == "wide" else N_OBJECTS, random_state=seed)
    return GeneratedData(world.X, world.labels)


GENERATED: Mapping[str, Callable[[], GeneratedData]] = {
    **{f"formulas/{name}": partial(_of_formula, place, name) for place, name in enumerate(FORMULAS)},
    **{
        f"worlds/{kind}-{number + 1}": partial(_of_world, kind, FIRST_SEED + N_WORLDS * place + number)
        for place, kind in enumerate(WORLDS)
        for number in range(N_WORLDS)
    },
}
"""What makes each set, by its name."""
