"""Synthetic worlds: sets with known clusters as people have them, written down from theory and from what fields know.

Nothing here is fitted to a set. The kinds and what is drawn in each are listed in `make_world`. Clouds lie around
centres; shapes are drawn in the plane; a set of one cluster is a single cloud, a curve, a gradient or a table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree

from ensemblage.base.random import random_source
from ensemblage.base.validation import check_choice, check_whole
from ensemblage.datasets._draws import (
    MOST_OBJECTS,
    Drawn,
    Points,
    Random,
    cluster_sizes,
    draw_noise,
    log_uniform,
    number_of_clusters,
    rotation,
    separation,
    with_outliers,
    with_units,
)
from ensemblage.datasets._latent_tables import categories, mixed, numbers, wide

# -- clouds around centres, and single ones ----------------------------------------------------------------------------


def clouds(random: Random, n_samples: int | None) -> Drawn:
    n = n_samples or int(log_uniform(random, 60, MOST_OBJECTS))
    d, k = round(log_uniform(random, 2, 20)), number_of_clusters(random, n)
    traits: list[str] = []
    sizes = cluster_sizes(random, n, k, traits)
    labels = np.repeat(np.arange(k), sizes)
    X = _points_of_clouds(random, sizes, d, traits)
    if random.uniform() < 0.2:
        traits.append("bent")
        W = random.standard_normal((d, d)) / np.sqrt(d) / X.std()
        X = X + random.uniform(0.2, 0.8) * X.std() * np.sin(2 * X @ W)
    if random.uniform() < 0.15:
        traits.append("irrelevant features")
        n_more = random.randint(1, max(2, d))
        X = np.hstack([X, X.std() * random.uniform(0.3, 1) * random.standard_normal((n, n_more))])
    return with_units(random, *with_outliers(random, X, labels, traits), traits)


def _points_of_clouds(random: Random, sizes: NDArray[np.int64], d: int, traits: list[str]) -> Points:
    """(n, d) clouds whose nearest centres have a drawn `separation`."""
    k, noise = len(sizes), draw_noise(random, traits)
    factors = _covariance_factors(random, k, d, traits)
    centres = _centres(random, k, d, traits)
    a, b = np.triu_indices(k, 1)
    between = centres[a] - centres[b]
    lengths = np.linalg.norm(between, axis=1)
    directions = between / np.maximum(lengths, 1e-9)[:, None]
    deviations = [
        (np.linalg.norm(factors[i].T @ u) + np.linalg.norm(factors[j].T @ u)) / 2
        for i, j, u in zip(a, b, directions, strict=True)
    ]
    centres *= separation(random) / max(np.quantile(lengths / deviations, random.uniform(0, 0.25)), 1e-9)
    blocks = [c + noise(random, (size, d)) @ F.T for c, F, size in zip(centres, factors, sizes.tolist(), strict=True)]
    return np.vstack(blocks)


def _covariance_factors(random: Random, k: int, d: int, traits: list[str]) -> list[Points]:
    """A factor F of the covariance F F' of each cluster."""
    kind = random.choice(["spherical", "diagonal", "full", "shared", "low rank"], p=[0.25, 0.2, 0.3, 0.15, 0.1])
    aspect, spread = np.log(log_uniform(random, 1.2, 12)) / 2, [0.0, 0.2, 0.6][random.randint(3)]
    traits.append(f"{kind} covariances")

    def factor() -> Points:
        if kind == "spherical":
            return np.eye(d)
        if kind == "low rank":
            scales = np.full(d, 0.15)
            scales[: random.randint(1, max(2, min(4, d)))] += 1
            return np.asarray(rotation(random, d) * scales)
        scales = np.exp(random.uniform(-aspect, aspect, d))
        return np.diag(scales) if kind == "diagonal" else rotation(random, d) * scales

    shared = factor()
    factors = [shared if kind == "shared" else factor() for _ in range(k)]
    return [F * np.exp(spread * random.standard_normal()) for F in factors]


def _centres(random: Random, k: int, d: int, traits: list[str]) -> Points:
    """(k, d) centres: normal, uniform, near a grid, or in groups of groups."""
    how = random.choice(["normal", "uniform", "grid", "hierarchy"], p=[0.35, 0.3, 0.15, 0.2])
    if how == "normal":
        return random.standard_normal((k, d))
    if how == "uniform":
        return random.uniform(-1, 1, (k, d))
    if how == "grid":
        used = min(d, 3)
        axes = np.meshgrid(*[np.arange(int(np.ceil(k ** (1 / used))))] * used)
        grid = np.stack(axes, axis=-1).reshape(-1, used).astype(np.float64)
        centres = 0.3 * random.standard_normal((k, d))
        centres[:, :used] = grid[random.permutation(len(grid))[:k]] + random.uniform(-0.25, 0.25, (k, used))
        return centres
    if k > 3:
        traits.append("hierarchy")
    groups = random.uniform(2, 5) * random.standard_normal((max(2, int(np.sqrt(k))), d))
    return np.asarray(groups[random.randint(len(groups), size=k)] + random.standard_normal((k, d)))


def single(random: Random, n_samples: int | None) -> Drawn:
    """One cluster."""
    n, d = n_samples or int(log_uniform(random, 60, MOST_OBJECTS)), round(log_uniform(random, 2, 20))
    how = random.choice(["cloud", "curve", "gradient", "table"], p=[0.4, 0.15, 0.2, 0.25])
    traits = [str(how)]
    if how == "table":
        return numbers(random, n_samples, 1)._replace(traits=traits)
    if how == "curve":
        along = random.uniform(-1, 1, n)
        bent = np.column_stack([along, along**2, np.sin(3 * along)])
        X = bent[:, : min(d, 3)] + random.uniform(0.03, 0.2) * random.standard_normal((n, min(d, 3)))
    elif how == "gradient":
        # Objects move along one direction, more of them at some places: an age, a degree of severity.
        along = random.beta(random.uniform(0.8, 3), random.uniform(0.8, 3), size=n) * random.uniform(3, 10)
        direction = random.standard_normal(d)
        X = np.outer(along, direction / np.linalg.norm(direction)) + draw_noise(random, traits)(random, (n, d))
    else:
        scales = np.exp(random.uniform(-1, 1, d))
        X = draw_noise(random, traits)(random, (n, d)) * scales @ rotation(random, d)
    return Drawn(X, np.zeros(len(X), dtype=np.int64), traits)


# -- shapes in the plane -----------------------------------------------------------------------------------------------


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


# -- all kinds ---------------------------------------------------------------------------------------------------------


LEAST_OBJECTS = 20
KINDS: Mapping[str, Callable[[Random, int | None], Drawn]] = MappingProxyType(
    {
        "clouds": clouds,
        "shapes": shapes,
        "numbers": numbers,
        "categories": categories,
        "mixed": mixed,
        "wide": wide,
        "single": single,
    }
)


class World(NamedTuple):
    """A synthetic set with known clusters."""

    X: Any
    """(n, m) float64, or an Arrow table where some columns are categories."""
    labels: NDArray[np.int64]
    """(n,) the cluster of each object, from 0; -1 for objects of no cluster."""
    kind: str
    traits: tuple[str, ...]
    """What was drawn, in words such as "heavy tails", "units" and "outliers"."""


def make_world(kind: str | None = None, *, n_samples: int | None = None, random_state: Any = None) -> World:
    """Use it to test a method: a synthetic set with known clusters, of a kind that real data have.

    Parameters
    ----------
    kind : str, optional
        One of

        - "clouds": clouds with spherical, diagonal, full, shared or low-rank covariances; normal, heavy-tailed, skewed
          or bounded; sometimes bent, with irrelevant features, or with clusters in clusters;
        - "shapes": curves, rings, spirals, boxes and blobs in the plane, side by side or one within another; sometimes
          turned into space;
        - "numbers": a table of numbers of mixed type: real ones in units of their own, skewed ones, counts, counts and
          amounts with many zeros, grades, yes and no; correlated blocks, irrelevant and redundant columns, batches;
        - "categories": categories with unequal levels, grades, and yes and no; some of them say nothing;
        - "mixed": columns of "numbers" and of "categories";
        - "wide": few objects with many features: modules of features that differ between clusters, common factors,
          batches, counts or logarithms;
        - "single": one cluster: a single cloud, a curve, a gradient, or a table without classes.

        Default: drawn, every kind alike.
    n_samples : int, optional
        Number of objects, at least 20. Default: drawn, from 60 to 1,500; of "wide" from 30 to 250.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the draws.

    Returns
    -------
    World
        ``X``, ``labels``, ``kind`` and ``traits``.

    Raises
    ------
    ValueError
        If there is no such kind, or ``n_samples`` is too small.

    Notes
    -----
    The share of informative columns, the separation of the clusters (from hardly any overlap to little more than
    chance), their sizes (equal to very unequal) and their number (2 to 25) are drawn for each world. The clusters of a
    table differ in the latent score behind a column; the column shows that score by its type: cut into grades, as the
    rate of a count, as the chance of a level. The numbers are drawn by the legacy generator of NumPy, whose stream does
    not change between versions. O(n m) time and memory, of "shapes" O(n log n) per cluster.

    Examples
    --------
    >>> from ensemblage.datasets import make_world
    >>> world = make_world("clouds", n_samples=200, random_state=0)
    >>> world.X.shape[0], int(world.labels.min())
    (200, 0)
    >>> make_world("mixed", n_samples=100, random_state=0).X.num_rows
    100
    """
    random = random_source(random_state)
    name = list(KINDS)[random.randint(len(KINDS))] if kind is None else check_choice(kind, "kind of make_world", KINDS)
    if n_samples is not None:
        check_whole(n_samples, "n_samples of make_world", LEAST_OBJECTS)
    X, labels, traits = KINDS[name](random, n_samples)
    order = random.permutation(len(labels))
    X = X[order] if isinstance(X, np.ndarray) else X.take(order)
    return World(X, labels[order], name, tuple(dict.fromkeys(traits)))
