"""Clusters that are drawn in the plane: curves, rings, spirals, boxes and blobs, side by side or one within another."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree

from ensemblage.datasets._draws import (
    MOST_OBJECTS,
    Drawn,
    Points,
    Random,
    cluster_sizes,
    log_uniform,
    number_of_clusters,
    rotation,
    with_outliers,
    with_units,
)


def circle(angles: Points) -> Points:
    """(n, 2) points of the unit circle at these angles."""
    return np.column_stack([np.cos(angles), np.sin(angles)])


def blob(random: Random, n: int) -> Points:
    return random.standard_normal((n, 2)) * random.uniform(0.15, 0.5, 2) @ rotation(random, 2)


def disc(random: Random, n: int) -> Points:
    return circle(random.uniform(0, 2 * np.pi, n)) * np.sqrt(random.uniform(size=(n, 1))) * random.uniform(0.3, 0.8)


def box(random: Random, n: int) -> Points:
    return random.uniform(-0.7, 0.7, (n, 2)) * [1, random.uniform(0.3, 1)] @ rotation(random, 2)


def triangle(random: Random, n: int) -> Points:
    return np.asarray(random.dirichlet([1, 1, 1], n) @ random.uniform(-1, 1, (3, 2)))


def ring(random: Random, n: int) -> Points:
    return _thick(random, circle(random.uniform(0, 2 * np.pi, n)) * [1, random.uniform(0.5, 1)])


def arc(random: Random, n: int) -> Points:
    return _thick(random, circle(random.uniform(0, np.pi * random.uniform(0.6, 1.6), n))) @ rotation(random, 2)


def line(random: Random, n: int) -> Points:
    along = random.uniform(-1, 1, n) * random.uniform(0.6, 1.5)
    return _thick(random, np.column_stack([along, np.zeros(n)])) @ rotation(random, 2)


def wave(random: Random, n: int) -> Points:
    along = random.uniform(-2, 2, n)
    bent = 0.5 * np.sin(np.pi * random.uniform(0.6, 1.5) * along)
    return _thick(random, np.column_stack([along, bent])) @ rotation(random, 2)


def spiral(random: Random, n: int) -> Points:
    angles = np.sqrt(random.uniform(size=n)) * np.pi * random.uniform(1.5, 3)
    return _thick(random, circle(angles) * angles[:, None] / 6, 0.6)


SHAPES: Mapping[str, tuple[Callable[[Random, int], Points], float]] = MappingProxyType(
    {
        "blob": (blob, 0.22),
        "disc": (disc, 0.08),
        "box": (box, 0.12),
        "triangle": (triangle, 0.07),
        "ring": (ring, 0.11),
        "arc": (arc, 0.14),
        "line": (line, 0.12),
        "wave": (wave, 0.08),
        "spiral": (spiral, 0.06),
    }
)
"""Shapes of extent about 1, and how often each is drawn."""


def scene(random: Random, sizes: NDArray[np.int64]) -> list[Points]:
    """A shape of each size, placed one after the other where it keeps a drawn gap to those before it.

    A shape that finds no such place in 25 trials takes the one with the largest gap.
    """
    shares = np.array([share for _, share in SHAPES.values()])
    names = random.choice(list(SHAPES), size=len(sizes), p=shares / shares.sum())
    gap, side = random.uniform(0.03, 0.35), random.uniform(0.55, 1.15) * np.sqrt(len(sizes)) + 0.2
    placed: list[Points] = []
    for name, size in zip(names, sizes.tolist(), strict=True):
        shape = SHAPES[name][0](random, size) * np.exp(random.uniform(-0.6, 0.5))
        inside = len(placed) > 0 and random.uniform() < 0.15
        others = KDTree(np.vstack(placed)) if placed else None
        widest, best = -1.0, shape
        for trial in range(25):
            at = random.uniform(-side, side, 2) * (1 + trial / 15)
            if inside and trial == 0:
                at = placed[random.randint(len(placed))].mean(axis=0)
            found = np.inf if others is None else others.query(shape + at)[0].min()
            if found > widest:
                widest, best = found, shape + at
            if found >= gap:
                break
        placed.append(best)
    return placed


def rings(random: Random, sizes: NDArray[np.int64]) -> list[Points]:
    """Concentric rings; the innermost one may be a blob."""
    radii, width = np.cumsum(random.uniform(0.6, 1.2, len(sizes))), random.uniform(0.03, 0.18)
    made = [
        radius * circle(random.uniform(0, 2 * np.pi, size)) + width * random.standard_normal((size, 2))
        for radius, size in zip(radii, sizes.tolist(), strict=True)
    ]
    if random.uniform() < 0.5:
        made[0] = 0.25 * random.standard_normal((int(sizes[0]), 2))
    return made


def spirals(random: Random, sizes: NDArray[np.int64]) -> list[Points]:
    """Arms of one spiral galaxy."""
    turns, width, k = random.uniform(0.8, 2.2), random.uniform(0.02, 0.12), len(sizes)
    made = []
    for i, size in enumerate(sizes.tolist()):
        radius = np.sqrt(random.uniform(0.03, 1, size))
        points = 3 * circle(2 * np.pi * (turns * radius + i / k)) * radius[:, None]
        made.append(points + 2.4 * width / k * random.standard_normal((size, 2)))
    return made


def moons(random: Random, sizes: NDArray[np.int64]) -> list[Points]:
    """Half circles that reach into one another, each beside the one before."""
    width, up = random.uniform(0.03, 0.18), random.uniform(0.2, 0.6)
    made = []
    for i, size in enumerate(sizes.tolist()):
        half = circle(np.pi * random.uniform(size=size))
        points = half if i % 2 == 0 else [0, up] - half
        made.append(points + [float(i), 0] + width * random.standard_normal((size, 2)))
    return made


def core_and_shell(random: Random, sizes: NDArray[np.int64]) -> list[Points]:
    """A dense core and shells around it, in 2 to 4 dimensions."""
    d, radius = random.randint(2, 5), 0.0
    made = []
    for i, size in enumerate(sizes.tolist()):
        directions = random.standard_normal((size, d))
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        thick = random.uniform(0.2, 0.6)
        made.append(directions * (radius + thick * random.uniform(size=(size, 1)) ** (1 / d if i == 0 else 1)))
        radius += thick + random.uniform(0.2, 0.8)
    return made


def stripes(random: Random, sizes: NDArray[np.int64]) -> list[Points]:
    """Parallel bands, straight or bent."""
    width, bend = random.uniform(0.02, 0.12), random.uniform(0, 0.8) * (random.uniform() < 0.5)
    made = []
    for i, size in enumerate(sizes.tolist()):
        along = random.uniform(-2, 2, size)
        across = 0.8 * i * random.uniform(0.8, 1.2) + bend * along**2 + 2 * width * random.standard_normal(size)
        made.append(np.column_stack([along, across]))
    return made


def links(random: Random, sizes: NDArray[np.int64]) -> list[Points]:
    """Rings in space, each through the one before, as in a chain."""
    width = random.uniform(0.02, 0.12)
    made = []
    for i, size in enumerate(sizes.tolist()):
        ring_ = circle(random.uniform(0, 2 * np.pi, size))
        flat = np.insert(ring_, 1 if i % 2 else 2, 0.0, axis=1) + np.array([1.1 * i, 0, 0])
        made.append(flat + width * random.standard_normal((size, 3)))
    return made


DRAWINGS: Mapping[str, tuple[Callable[[Random, NDArray[np.int64]], list[Points]], int, float]] = MappingProxyType(
    {
        "scene": (scene, 12, 0.55),
        "rings": (rings, 4, 0.09),
        "spirals": (spirals, 4, 0.08),
        "moons": (moons, 4, 0.08),
        "core and shell": (core_and_shell, 3, 0.07),
        "stripes": (stripes, 6, 0.08),
        "links": (links, 3, 0.05),
    }
)
"""Who draws, the most clusters of it, and how often."""


def _thick(random: Random, curve: Points, share: float = 1.0) -> Points:
    """A curve with a drawn width."""
    return np.asarray(curve + share * random.uniform(0.02, 0.12) * random.standard_normal(curve.shape))


def shapes(random: Random, n_samples: int | None) -> Drawn:
    n = n_samples or int(log_uniform(random, 100, MOST_OBJECTS))
    chances = np.array([chance for _, _, chance in DRAWINGS.values()])
    name = str(random.choice(list(DRAWINGS), p=chances / chances.sum()))
    draw, most, _ = DRAWINGS[name]
    traits = [name]
    sizes = cluster_sizes(random, n, number_of_clusters(random, n, most), traits, least=10)
    X, labels = np.vstack(draw(random, sizes)), np.repeat(np.arange(len(sizes)), sizes)
    if random.uniform() < 0.25:
        traits.append("turned into space")
        d, more = X.shape[1], random.randint(1, 4)
        flat = random.uniform(0.02, 0.15) * X.std() * random.standard_normal((n, more))
        X = np.hstack([X, flat]) @ rotation(random, d + more)
    if random.uniform() < 0.1:
        traits.append("bridges")
        _build_bridge(random, X, labels)
    return with_units(random, *with_outliers(random, X, labels, traits), traits)


def _build_bridge(random: Random, X: Points, labels: NDArray[np.int64]) -> None:
    """Move a few objects of the largest cluster onto the line to another one; they stay its objects."""
    largest = int(np.argmax(np.bincount(labels)))
    other = int(random.choice(np.setdiff1d(labels, [largest])))
    rows = np.flatnonzero(labels == largest)
    moved = random.choice(rows, min(len(rows) // 4, random.randint(3, 12)), replace=False)
    ends = X[labels == largest].mean(axis=0), X[labels == other].mean(axis=0)
    way = random.uniform(0, 0.5, (len(moved), 1))
    X[moved] = ends[0] * (1 - way) + ends[1] * way + 0.03 * X.std() * random.standard_normal((len(moved), X.shape[1]))
