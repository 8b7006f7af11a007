"""p-values of markers that hold although the clusters were made from the same objects: the dip, and thinned counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.special import stdtr

from ensemblage.base.random import random_source
from ensemblage.base.text import text_table, to_frame
from ensemblage.base.validation import Number, check_number, check_numbers, check_value, format_value
from ensemblage.generation._kmeans import member_sums
from ensemblage.profiles._effects import benjamini_hochberg
from ensemblage.profiles._variables import NUMBERS, Variable
from ensemblage.stability._dip import (
    are_frequent,
    has_limits,
    limits_sentence,
    shared_values,
    spread_over_cells,
    unimodality_p_value,
)

LEVEL = 0.05
"""False discovery rate of the markers that a sentence counts."""
LEAST_OBJECTS = 8
"""A cluster in which fewer objects have a value is not tested."""
FEW_STEPS, MOST_BESIDE, OFF_GRID = 20, 3, 1e-3
"""A grid of so many steps is a histogram; on a finer one no value may have so many times the objects of its
neighbours and one; a value is on a grid if it is at most this part of a step beside.
"""
TOO_FREQUENT = "one value inside its range is too frequent, as one that stands for missing values"
LEAST_DISPERSION, MOST_DISPERSION = 1e-9, 1e6
"""Less is Poisson; with more, each count goes to one part as a whole."""
DESCRIPTION = (
    "Everything else in the profile is description: p-values of variables that the clusters were made from are too "
    "small."
)
MOST_LINES = 40
REST = "rest"
"""What thinned counts of a cluster are compared with."""


class SelectiveRow(NamedTuple):
    """One variable in a cluster and in what it was compared with."""

    cluster: Any
    """Label of the cluster."""
    other: Any
    """Label of the nearest other cluster, or "rest"."""
    variable: str
    test: str
    """"dip" or "thinned counts"."""
    difference: float
    """Of the means, in standard deviations inside both: above 0, the cluster has the larger values."""
    p_value: float
    p_adjusted: float
    """By Benjamini and Hochberg, for all variables of the cluster."""


@dataclass(frozen=True, eq=False, repr=False)
class SelectiveMarkers:
    """Variables that differ between clusters, with valid p-values; `ensemblage.profile` with ``selective`` makes it."""

    table: list[SelectiveRow]
    """One row per cluster and variable that was tested, by cluster, the smallest p-value first."""
    left_out: dict[str, str]
    """Variables that were not tested, and why."""
    spread: list[str]
    """Those with limits of what was measured or round numbers, which stand for ranges of values in the tests."""
    backend: str | None = None
    """Library of the data frames: that of X, else the first that is installed."""

    @property
    def markers(self) -> list[SelectiveRow]:
        """The rows with an adjusted p-value of .05 or less."""
        return [row for row in self.table if row.p_adjusted <= LEVEL]

    @property
    def sentence(self) -> str:
        """What was found, in a sentence, and what the rest of a profile is."""
        found, of = len(self.markers), len(self.table)
        if not of:
            return f"No variable could be tested. {DESCRIPTION}"
        other = "all others together" if self.table[0].other == REST else "its nearest one"
        result = (
            f"Each cluster was compared with {other}: {found:,} of {of:,} comparison{'s' * (of != 1)} of a variable "
            f"show{'s' * (found == 1)} a difference, at a false discovery rate of {LEVEL:g}."
        )
        return " ".join(filter(None, [result, limits_sentence(len(self.spread), "variable"), DESCRIPTION]))

    def to_frame(self) -> Any:
        """A data frame with a row per cluster and variable.

        Returns
        -------
        data frame
            Of the library of X, or the first that is installed of pandas, polars and pyarrow; without any, a dict.
        """
        return to_frame(
            {name: [getattr(row, name) for row in self.table] for name in SelectiveRow._fields}, self.backend
        )

    def __repr__(self) -> str:
        head = ("cluster", "other", "variable", "test", "difference", "p", "adjusted")
        lines = [
            (*row[:4], f"{row.difference:+.2f}", f"{row.p_value:.2g}", f"{row.p_adjusted:.2g}") for row in self.markers
        ]
        text = f"{type(self).__name__}: {self.sentence}"
        return f"{text}\n{text_table([head, *lines], MOST_LINES)}" if lines else text


def thin_counts(
    X: ArrayLike | Any, *, first_share: float = 0.5, dispersion: ArrayLike | None = None, random_state: Any = None
) -> tuple[Any, Any]:
    """Use it before testing markers of counts: splits each count into two independent ones, to cluster and to test.

    ``first + second`` is X. Clusters that are made from ``first`` alone, by any method, know nothing of the noise in
    ``second``: ``profile(labels, X, selective=True, thinned=second)`` has valid p-values.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_objects, n_variables)
        Counts: whole numbers ≥ 0, not transformed.
    first_share : float, default 0.5
        Expected part of each count that is in the first, in (0, 1). More is better for the clusters, less for tests.
    dispersion : float or array-like of shape (n_variables,), optional
        1 / size of the negative binomial distribution of each variable within a cluster, ≥ 0: the variance of a count
        of mean μ is μ + dispersion · μ². 0 is Poisson. Default: by moments, of all objects.
    random_state : int, RandomState, Generator or None, default=None
        Splits the counts.

    Returns
    -------
    first : ndarray or CSR array of shape (n_objects, n_variables)
        Whole numbers to cluster the objects by; sparse if X is.
    second : ndarray or CSR array of shape (n_objects, n_variables)
        Those to test.

    Raises
    ------
    ValueError
        If X has other values than whole numbers ≥ 0, or a parameter is out of its range.

    See Also
    --------
    ensemblage.profile : With ``thinned``, tests the markers.

    Notes
    -----
    A count X of size b = 1 / dispersion is split by P ~ Beta(s b, (1 − s) b), s = ``first_share``, and
    first ~ Binomial(X, P): both parts are negative binomial and independent (Neufeld et al. 2023), if the dispersion is
    that of the variable within a cluster. By moments, true differences between clusters make it too large for the
    variables that have them; their parts then vary against each other. Give it if you know it, from replicates. To
    split by Poisson what is not Poisson makes false markers.

    Objects that were counted at different depths differ in all variables, in both parts. Divide each part by the depths
    before it is clustered or tested, so that clusters are none of depth.

    O(n m) time and memory for n objects and m variables; of sparse ones, for the counts above 0.

    References
    ----------
    Neufeld, A., Popp, J., Gao, L. L., Battle, A. & Witten, D. (2023). Negative binomial count splitting for single-cell
    RNA sequencing data. arXiv 2307.12985.

    Examples
    --------
    >>> import numpy as np
    >>> from ensemblage.preprocessing import thin_counts
    >>> counts = np.random.default_rng(0).poisson(5, size=(100, 3))
    >>> first, second = thin_counts(counts, random_state=0)
    >>> bool((first + second == counts).all())
    True
    """
    check_number(first_share, "first_share of thin_counts", above=0, below=1)
    counts = _check_counts(X)
    dispersions = _check_dispersion(dispersion, counts)[counts.indices]
    random = random_source(random_state)
    values = counts.data.astype(np.int64)
    shares = np.full(len(values), float(first_share))
    spread = dispersions > LEAST_DISPERSION
    sizes = 1 / dispersions[spread]
    shares[spread] = random.beta(first_share * sizes, (1 - first_share) * sizes)
    first = counts.copy()
    first.data = random.binomial(values, shares)
    second = counts.copy()
    second.data = values - first.data
    if sparse.issparse(X):
        return first, second
    return first.toarray(), second.toarray()


def _check_counts(X: Any) -> Any:
    """(n, m) CSR array of counts, those above 0 in the order of rows and columns."""
    rule = "X of thin_counts must be counts: whole numbers ≥ 0"
    dense = X if sparse.issparse(X) else check_numbers(X, "X of thin_counts", ("n", "m"), least=2)
    counts = sparse.csr_array(dense, copy=True)
    counts.sum_duplicates()
    counts.eliminate_zeros()
    values = counts.data
    wrong = ~((values >= 0) & (values == np.floor(values)) & (values < 2**53))
    if wrong.any():
        raise ValueError(f"{rule}. Got {values[wrong][0]}. Give raw counts, without a transformation.")
    return counts


def _check_dispersion(dispersion: Any, counts: Any) -> NDArray[np.float64]:
    """(m,) as given, or by moments: (variance − mean) / mean², not below 0."""
    n, m = counts.shape
    rule = "dispersion of thin_counts"
    with np.errstate(divide="ignore", invalid="ignore"):
        if dispersion is None:
            mean = np.asarray(counts.sum(axis=0, dtype=np.float64)).ravel() / n
            squares = np.asarray((counts.astype(np.float64) ** 2).sum(axis=0)).ravel()
            variance = (squares - n * mean**2) / (n - 1)
            given = np.nan_to_num((variance - mean) / mean**2, nan=0.0)
        elif np.ndim(dispersion) == 0:
            check_value(dispersion, rule, [Number(0, None, np.inf)])
            given = np.full(m, float(np.asarray(dispersion)))
        else:
            given = check_numbers(dispersion, rule, (m,))
            if not (np.isfinite(given).all() and (given >= 0).all()):
                raise ValueError(
                    f"{rule} must be numbers ≥ 0. Got {format_value(dispersion)}. Give one number per variable."
                )
        return np.asarray(np.clip(given, 0.0, MOST_DISPERSION))


# -- tests -------------------------------------------------------------------------------------------------------------


def dip_markers(
    variables: Sequence[Variable],
    clusters: NDArray[np.intp],
    names: list[Any],
    coordinates: NDArray[np.float64],
    backend: str | None,
) -> SelectiveMarkers:
    """Each cluster against the nearest other one: is the variable unimodal on the objects of both, or alike in them?

    Clusters that are farther apart have others between them: where these are left out, one cloud has a gap.
    """
    others = nearest_clusters(coordinates, clusters, len(names))
    tested = [v for v in variables if v.kind in NUMBERS]
    k = len(names) if len(names) > 1 else 0
    p, difference = np.full((2, len(tested), k), np.nan)
    is_piled = np.zeros(len(tested), dtype=bool)
    for c in range(k):
        inside, outside = clusters == c, clusters == others[c]
        for j, v in enumerate(tested):
            a, b = (part[~np.isnan(part)] for part in (v.values[inside], v.values[outside]))
            if min(len(a), len(b)) < LEAST_OBJECTS:
                continue
            p[j, c] = dip_marker(a, b)
            is_piled[j] |= np.isnan(p[j, c])
            difference[j, c] = _difference(a[:, None], b[:, None])[0]
    left_out = {v.name: "a category, which has no order" for v in variables if v.kind not in NUMBERS}
    is_piled &= np.isnan(p).all(axis=1)
    left_out |= {v.name: TOO_FREQUENT for v, piled in zip(tested, is_piled, strict=True) if piled}
    clustered = clusters < len(names)
    spread = [v.name for v in tested if has_limits(v.values[clustered & ~np.isnan(v.values)])]
    tested_names, compared = [v.name for v in tested], [names[d] for d in others]
    return _markers(p, difference, tested_names, names, compared, "dip", left_out, spread, backend)


def dip_marker(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    """p-value that (n_a,) and (n_b,) values have one mode together, or are alike: the larger one of two tests.

    Two modes alone are no difference: both clusters may have both, as of a variable that the clusters have nothing to
    do with. NaN if a value is a mode by itself.
    """
    from scipy.stats import rankdata

    values = np.concatenate([a, b])
    ranks = rankdata(values)[:, None]
    p_alike = float(welch_p_values(ranks[: len(a)], ranks[len(a) :])[0])
    return float(np.maximum(p_of_modes(values), 1.0 if np.isnan(p_alike) else p_alike))


def p_of_modes(values: NDArray[np.float64]) -> float:
    """p-value of the dip of (n,) values; NaN if one value inside their range is a mode itself, and no round number."""
    distinct, counts = np.unique(values, return_counts=True)
    if len(distinct) < 3 or not are_frequent(counts).any():
        return unimodality_p_value(values)
    shared, has_mode = shared_values(distinct, counts), has_mode_of_one_value(distinct, counts)
    if has_mode and len(shared.piles) and not shared.step:
        return np.nan
    is_spread = has_mode or shared.at_floor or shared.at_ceiling
    return unimodality_p_value(spread_over_cells(values) if is_spread else values)


def thinned_markers(
    counts: NDArray[np.float64], variables: list[str], clusters: NDArray[np.intp], names: list[Any], backend: str | None
) -> SelectiveMarkers:
    """Each cluster against the rest: Welch's test of log(1 + count), on counts independent of the clusters."""
    k = len(names) if len(names) > 1 else 0
    p, difference = np.full((2, counts.shape[1], k), np.nan)
    logs = np.log1p(counts)
    for c in range(k):
        inside, outside = logs[clusters == c], logs[(clusters != c) & (clusters < k)]
        if min(len(inside), len(outside)) >= 2:
            p[:, c], difference[:, c] = welch_p_values(inside, outside), _difference(inside, outside)
    return _markers(p, difference, variables, names, [REST] * k, "thinned counts", {}, [], backend)


def _markers(
    p: NDArray[np.float64],
    difference: NDArray[np.float64],
    variables: list[str],
    names: list[Any],
    others: list[Any],
    test: str,
    left_out: dict[str, str],
    spread: list[str],
    backend: str | None,
) -> SelectiveMarkers:
    """The record of (m, k) p-values; NaN are no tests."""
    adjusted = benjamini_hochberg(p)
    rows = [
        SelectiveRow(
            names[c], others[c], variables[j], test, float(difference[j, c]), float(p[j, c]), float(adjusted[j, c])
        )
        for c in range(p.shape[1])
        for j in np.argsort(p[:, c], kind="stable").tolist()
        if not np.isnan(p[j, c])
    ]
    return SelectiveMarkers(rows, left_out, spread, backend)


def nearest_clusters(X: NDArray[np.float64], clusters: NDArray[np.intp], k: int) -> list[int]:
    """For each of k clusters, the one whose mean is nearest; clusters : (n,) from 0, k for none."""
    if k < 2:
        return []
    sums, sizes = member_sums(X, clusters.astype(np.int32), k + 1)
    means = sums[:k] / sizes[:k, None]
    squares = np.array([((means - mean) ** 2).sum(axis=1) for mean in means])
    np.fill_diagonal(squares, np.inf)
    nearest: list[int] = squares.argmin(axis=1).tolist()
    return nearest


def has_mode_of_one_value(distinct: NDArray[np.float64], counts: NDArray[np.int64]) -> bool:
    """Whether one of ascending values, some frequent, is a mode itself, as 0 among the logarithms of counts.

    Frequent values are no mode on a grid of `FEW_STEPS` or of even steps, unless they are at the limit of what was
    measured, or at round numbers.
    """
    is_frequent = are_frequent(counts)
    steps = np.diff(distinct) / np.diff(distinct).min()
    if np.abs(steps - np.round(steps)).max() > OFF_GRID:
        return True
    if steps.sum() <= FEW_STEPS:
        return False
    beside = np.where(steps < 1 + OFF_GRID, 1, 0)
    below, above = np.append(0, counts[:-1] * beside), np.append(counts[1:] * beside, 0)
    return bool((is_frequent & (counts > MOST_BESIDE * (1 + np.maximum(below, above)))).any())


def welch_p_values(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    """(m,) two-sided, of (n_a, m) and (n_b, m) values; NaN where none varies."""
    parts = [part.var(axis=0, ddof=1) / len(part) for part in (a, b)]
    with np.errstate(divide="ignore", invalid="ignore"):
        error = parts[0] + parts[1]
        freedom = error**2 / (parts[0] ** 2 / (len(a) - 1) + parts[1] ** 2 / (len(b) - 1))
        t = (a.mean(axis=0) - b.mean(axis=0)) / np.sqrt(error)
        return np.asarray(2 * stdtr(freedom, -np.abs(t)), dtype=np.float64)


def _difference(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    """(m,) of the means in standard deviations inside both."""
    with np.errstate(divide="ignore", invalid="ignore"):
        squares = a.var(axis=0) * len(a) + b.var(axis=0) * len(b)
        return np.asarray((a.mean(axis=0) - b.mean(axis=0)) / np.sqrt(squares / (len(a) + len(b) - 2)))
