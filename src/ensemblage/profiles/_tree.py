"""A shallow decision tree that tells the clusters apart, as rules."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage.profiles._effects import date_text, exact_text, percent_text
from ensemblage.profiles._variables import Variable

MOST_OBJECTS = 5_000
"""Of more, so many are drawn at random to make and to test the rules."""
MOST_VARIABLES = 200
"""Of more, those whose ranks differ most between the clusters of the objects at hand."""
N_FOLDS = 5


class Rule(NamedTuple):
    """A leaf of the tree."""

    cluster: Any
    """Its label."""
    condition: str
    n: int
    """Objects for which it holds."""
    n_right: int
    """Those of them that are in the cluster."""

    def __str__(self) -> str:
        return f"{self.condition} → cluster {self.cluster} ({self.n_right:,} of {self.n:,})"


@dataclass(frozen=True, repr=False)
class Rules:
    """The leaves of a shallow decision tree, and how well it does on objects that it was not made from."""

    rules: list[Rule]
    """By cluster, those of one cluster by decreasing size."""
    accuracy: float
    """Share of the objects put into the right cluster, each by a tree made without it; NaN if none was tested."""
    constant_accuracy: float
    """Of always naming the largest cluster."""
    balanced_accuracy: float
    """Mean over the clusters of the share of their objects put right."""
    constant_balanced: float
    """Of always naming one cluster: 1 / k."""
    n_objects: int
    """From which the tree was made."""
    depth: int

    @property
    def sentence(self) -> str:
        """How well rules made so do, in a sentence."""
        right, constant, balanced, one = map(
            percent_text, (self.accuracy, self.constant_accuracy, self.balanced_accuracy, self.constant_balanced)
        )
        return (
            f"Leaves of a decision tree of depth {self.depth}. On objects that they were not made from, rules made so "
            f"put {right} into the right cluster ({constant} if all were put into the largest); as a mean over the "
            f"clusters {balanced} ({one})."
        )

    def __repr__(self) -> str:
        return "\n".join([*map(str, self.rules), self.sentence])


class _Column(NamedTuple):
    """One column that the tree sees."""

    variable: Variable
    level: int
    """Whose indicator it is; -1 of a number."""
    values: NDArray[np.float64]
    """(u,) different values, ascending, whose places the tree sees."""


def rules_of(
    variables: Sequence[Variable], clusters: NDArray[np.intp], names: Sequence[Any], max_depth: int, seed: int
) -> Rules | None:
    """Rules for the clusters of these k names; None where there is nothing to tell apart.

    Objects in no cluster (k) are left out.

    The tree sees the places of the values among the different ones, so that a transformation that keeps their order
    changes nothing but the numbers in the rules.
    """
    k = len(names)
    rows = np.flatnonzero(clusters < k)
    if k < 2 or not variables or max_depth < 1:
        return None
    rng = np.random.default_rng(seed)
    if len(rows) > MOST_OBJECTS:
        rows = np.sort(rng.choice(rows, MOST_OBJECTS, replace=False))
    y = clusters[rows]
    columns, X = _columns(variables, rows)
    fold = _folds(y, rng)
    predicted = np.full(len(y), -1)
    for f in range(N_FOLDS):
        train, test = fold != f, fold == f
        if test.any() and train.any():
            chosen = _select_columns(X[train], y[train])
            tree = _fit_tree(X[np.ix_(train, chosen)], y[train], max_depth)
            predicted[test] = tree.predict(X[np.ix_(test, chosen)])
    chosen = _select_columns(X, y)
    tree = _fit_tree(X[:, chosen], y, max_depth)
    rules = _leaves(tree, [columns[j] for j in chosen], X[:, chosen], y)
    right, sizes = predicted == y, np.bincount(y, minlength=k)
    present = sizes > 0
    recalls = np.bincount(y, right, k)[present] / sizes[present]
    return Rules(
        [rule._replace(cluster=names[rule.cluster]) for rule in rules],
        float(right.mean()),
        float(sizes.max() / len(y)),
        float(recalls.mean()),
        float(1 / present.sum()),
        len(y),
        int(tree.get_depth()),
    )


def _columns(variables: Sequence[Variable], rows: NDArray[np.intp]) -> tuple[list[_Column], NDArray[np.float32]]:
    """What the tree sees of the objects: places of numbers among their different values, indicators of categories."""
    columns: list[_Column] = []
    seen: list[NDArray[np.float32]] = []
    for v in variables:
        values = v.values[rows]
        missing = np.isnan(values)
        if v.kind != "category":
            different, places = np.unique(values[~missing], return_inverse=True)
            ranks = np.full(len(rows), np.nan, dtype=np.float32)
            ranks[~missing] = places
            columns.append(_Column(v, -1, different))
            seen.append(ranks)
            continue
        levels = [len(v.levels) - 1] if len(v.levels) == 2 else range(len(v.levels))
        for level in levels:
            columns.append(_Column(v, level, np.array([0.0, 1.0])))
            seen.append(np.where(missing, np.nan, values == level).astype(np.float32))
    return columns, np.column_stack(seen)


def _folds(y: NDArray[np.intp], rng: np.random.Generator) -> NDArray[np.intp]:
    """(n,) a fold for each object, the objects of each cluster dealt out in a random order."""
    shuffled = rng.permutation(len(y))
    order = shuffled[np.argsort(y[shuffled], kind="stable")]
    fold = np.empty(len(y), dtype=np.intp)
    fold[order] = np.arange(len(y)) % N_FOLDS
    return fold


def _select_columns(X: NDArray[np.float32], y: NDArray[np.intp]) -> NDArray[np.intp]:
    """The columns that the tree may use: those of the greatest F statistic where there are too many."""
    d = X.shape[1]
    if d <= MOST_VARIABLES:
        return np.arange(d)
    values = X.astype(np.float64)
    missing = np.isnan(values)
    if missing.any():
        values[missing] = np.broadcast_to(np.nanmean(values, axis=0), values.shape)[missing]
    values -= values.mean(axis=0)
    order = np.argsort(y, kind="stable")
    starts = np.flatnonzero(np.diff(y[order], prepend=-1))
    sizes = np.diff(np.append(starts, len(y)))
    between = (np.add.reduceat(values[order], starts, axis=0) ** 2 / sizes[:, None]).sum(axis=0)
    total = np.maximum((values**2).sum(axis=0), 1e-300)
    return np.sort(np.argsort(-between / total, kind="stable")[:MOST_VARIABLES])


def _fit_tree(X: NDArray[np.float32], y: NDArray[np.intp], max_depth: int) -> Any:
    from sklearn.tree import DecisionTreeClassifier

    smallest = int(np.bincount(y)[np.unique(y)].min())
    tree = DecisionTreeClassifier(max_depth=max_depth, min_samples_leaf=min(5, smallest), random_state=0)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The number of unique classes is greater than 50%")
        return tree.fit(X, y)


class _Bounds(NamedTuple):
    """What a path asks of a column: places above ``low`` and up to ``high``, and whether missing ones pass."""

    low: float = -1.0
    high: float = np.inf
    missing: bool = True


def _leaves(tree: Any, columns: Sequence[_Column], X: NDArray[np.float32], y: NDArray[np.intp]) -> list[Rule]:
    """The rules; two leaves of one node that name the same cluster are one."""
    inner = tree.tree_
    with_gaps: NDArray[np.bool_] = np.asarray(np.isnan(X).any(axis=0))

    def leaf_cluster(node: int) -> int | None:
        """What all leaves below a node name, if that is one cluster."""
        left, right = int(inner.children_left[node]), int(inner.children_right[node])
        if left < 0:
            return int(tree.classes_[int(np.argmax(inner.value[node][0]))])
        of_left = leaf_cluster(left)
        return of_left if of_left is not None and of_left == leaf_cluster(right) else None

    def walk(node: int, rows: NDArray[np.intp], path: dict[int, _Bounds]) -> list[Rule]:
        named = leaf_cluster(node)
        if named is not None:
            texts = [_condition(columns[j], bounds, bool(with_gaps[j])) for j, bounds in path.items()]
            text = " and ".join(filter(None, texts)) or "all objects"
            return [Rule(named, text, len(rows), int((y[rows] == named).sum()))]
        j, cut = int(inner.feature[node]), float(inner.threshold[node])
        seen, bounds = X[rows, j], path.get(j, _Bounds())
        missing, gaps_left = np.isnan(seen), bool(inner.missing_go_to_left[node])
        goes_left = np.where(missing, gaps_left, seen <= cut).astype(bool)
        left = bounds._replace(high=min(bounds.high, cut), missing=bounds.missing and gaps_left)
        right = bounds._replace(low=max(bounds.low, cut), missing=bounds.missing and not gaps_left)
        return [
            *walk(int(inner.children_left[node]), rows[goes_left], {**path, j: left}),
            *walk(int(inner.children_right[node]), rows[~goes_left], {**path, j: right}),
        ]

    return sorted(walk(0, np.arange(len(y)), {}), key=lambda rule: (rule.cluster, -rule.n))


def _condition(column: _Column, bounds: _Bounds, has_gaps: bool) -> str:
    """A condition on one column in words."""
    name, v = column.variable.name, column.variable
    gaps = (" or missing" if bounds.missing else "") if has_gaps else ""
    if column.level >= 0:
        if len(v.levels) == 2:
            text = f"{name} is {v.levels[1 if bounds.low >= 0 else 0]}"
        else:
            text = f"{name} is {'' if bounds.low >= 0 else 'not '}{v.levels[column.level]}"
        return f"{text}{gaps}"
    if np.isposinf(bounds.low):
        return f"{name} is missing"
    above = _cut_text(column, bounds.low) if bounds.low >= 0 else None
    below = _cut_text(column, bounds.high) if np.isfinite(bounds.high) else None
    if above is None and below is None:
        return "" if bounds.missing else f"{name} is known"
    text = f"{above} < {name} ≤ {below}" if above and below else f"{name} > {above}" if above else f"{name} ≤ {below}"
    return f"{text}{gaps}"


def _cut_text(column: _Column, cut: float) -> str:
    """The shortest number between the values on both sides of a cut: values above it are above the cut."""
    place, kind = int(np.floor(cut)), column.variable.kind
    low, high = float(column.values[place]), float(column.values[min(place + 1, len(column.values) - 1)])
    if kind == "ordered":
        return column.variable.levels[int(low)]
    if kind == "date":
        return date_text(low, with_time=low != np.floor(low) or high != np.floor(high))
    middle = low / 2 + high / 2
    roundings = (round(middle, digits) for digits in range(-15, 16))
    return exact_text(next((r for r in roundings if low <= r < high), low))
