"""What describes each cluster: `ensemblage.profile`; and which objects are typical of it, or least sure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from ensemblage.base.frames import as_frame
from ensemblage.base.random import seed_of
from ensemblage.base.renamed import renamed_parameters
from ensemblage.base.sklearn import transform_named
from ensemblage.base.text import backend_of
from ensemblage.base.validation import check_flag, check_numbers, check_whole, format_value
from ensemblage.io._table import Table
from ensemblage.labels.ensemble import Ensemble
from ensemblage.profiles._effects import ClusterComparison, nearly_repeated, repeats_clusters
from ensemblage.profiles._record import ClusterProfile, Profile, sentence_of
from ensemblage.profiles._selective import dip_markers, thinned_markers
from ensemblage.profiles._tree import rules_of
from ensemblage.profiles._variables import Variable, VariableTable, describe_objects


@renamed_parameters(honest="selective")
def profile(
    model_or_labels: Any,
    X: Any,
    *,
    ids: Sequence[Any] | None = None,
    features: ArrayLike | None = None,
    clustered: Collection[str] | None = None,
    confidence: ArrayLike | None = None,
    n_drivers: int = 5,
    max_depth: int = 3,
    random_state: Any = 0,
    selective: bool = False,
    thinned: ArrayLike | None = None,
) -> Profile:
    """Use it to describe clusters: the variables that are higher, lower, more or less frequent than in the rest.

    Parameters
    ----------
    model_or_labels : fitted estimator or array-like of shape (n_objects,)
        Its ``labels_`` and, if it has one, its ``confidence_``; or the clusters. -1, NaN and None are in no cluster and
        left out.
    X : Table, data frame or array-like of shape (n_objects, n_variables)
        The original values, columns included that were not clustered. Of tables and data frames, numbers, dates,
        categories and ordered categories are variables; ids, free text and what has the role "drop" are not. Missing
        values are left out, variable by variable, and counted.
    ids : sequence of n_objects, optional
        Names of the objects. Default: the id column of X or its row names, else the numbers of the rows.
    features : array-like of shape (n_objects, n_features), optional
        The numbers by which objects are compared to find the typical ones. Default: what the model clustered, if it can
        be asked, else all variables, standardised.
    clustered : collection of str, optional
        Names of the variables that were clustered; the others are marked, and the rules do without them. Default: what
        the model says, else all but categories whose name says known classes, as "label".
    confidence : array-like of shape (n_objects,), optional
        Confidence of each object. Default: that of the model, else how much nearer the object is to the mean of its
        cluster than to the nearest other.
    n_drivers : int, default 5
        Most variables that a sentence names.
    max_depth : int, default 3
        Depth of the decision tree whose leaves are the rules; 0 for none.
    random_state : int, RandomState, Generator or None, default 0
        Deals out the objects for the cross-validation of the rules, and draws 5,000 of more.
    selective : bool, default False
        Whether variables are tested with p-values that are valid although the clusters were made from them: by the dip,
        or with ``thinned``.
    thinned : array-like or sparse matrix of shape (n_objects, n_variables), optional
        With ``selective``, the second of the counts that `ensemblage.preprocessing.thin_counts` made of X, where the
        clusters were made from the first alone.

    Returns
    -------
    Profile
        ``clusters`` and ``sentences``, one per cluster; ``to_frame()`` with the numbers behind the words; ``markers()``
        of wide data; ``plot()``; ``rules`` with their accuracy; ``selective``, the tests that were asked for.

    Raises
    ------
    ValueError
        If labels, X, ids, features or confidence are of different numbers of objects, no object is in a cluster, X has
        no rows or columns, or a parameter is out of its range.

    Notes
    -----
    Numbers, dates and ordered categories: Cliff's delta, the share of pairs of an object of the cluster and one of the
    rest in which the first has the larger value, minus the share in which it has the smaller one. Categories, and what
    is true or false: Cramér's V of being in the cluster and the category, without correction for bias. A variable
    describes a cluster if \\|delta\\| ≥ .33 (medium, Romano et al. 2006) or V ≥ .2; sentences name the strongest first,
    that by which part of the way from there to 1 they are.

    The clusters were made from these variables, as a rule: that they differ is no discovery, and p-values of the
    rank-sum test are too small by construction. They order the variables, and test nothing, but for those that were not
    clustered.

    Valid p-values, with ``selective``: each cluster is compared with the one whose mean is nearest, and a variable is
    tested by the dip of its values in both: two modes are a difference, the two sides of a cut are none. The p-value
    is the larger one of the dip and of a rank test between both clusters, since both may have the same two modes. That
    finds variables that separate the two alone, from 4 standard deviations on. It holds for variables that have one
    mode in a single cloud, up to a limit of what was measured. A value of many objects stands for a range of values,
    as `ensemblage.stability.split_support` says of limits and round numbers; ``selective.spread`` names such variables.
    Those with one frequent value inside their range, as one that stands for missing values, are left out. For counts,
    thin them, cluster the first part by the same method, and give its clusters and the second part: a cluster is
    compared with the rest by Welch's test of log(1 + count). Clusters of all counts, with any thinning, have no valid
    p-value. Benjamini and Hochberg's adjustment counts the variables of a cluster. The least p-value of the dip is
    10⁻⁵: of 10,000 variables two must differ that clearly.

    The rules are the leaves of a decision tree on the original values; their accuracy is that of trees made without the
    objects that they are asked about, in five parts.

    Time: O(m n log n) for m variables, one sort for each whatever the number of clusters, and O(n_c² d) for the typical
    object of a cluster of n_c objects, O(n_c d) where that is more than 10⁹: then it is the object nearest to the
    cluster's mean. Memory: 8 bytes per cell, of sparse matrices too, and some 100 MB.

    References
    ----------
    Cliff, N. (1993). Dominance statistics: ordinal analyses to answer ordinal questions. Psychological Bulletin 114(3).
    Romano, J., Kromrey, J. D., Coraggio, J. & Skowronek, J. (2006). Appropriate statistics for ordinal level data.
    Benjamini, Y. & Hochberg, Y. (1995). Controlling the false discovery rate. J. R. Statist. Soc. B 57(1).

    Examples
    --------
    >>> import ensemblage
    >>> from sklearn.datasets import load_wine
    >>> wine = load_wine(as_frame=True)
    >>> found = ensemblage.profile(wine.target, wine.data, n_drivers=3)
    >>> for sentence in found.sentences:
    ...     print(sentence)
    Cluster 0 (59 objects, 33%): higher proline, flavanoids and alcohol (and 8 more).
    Cluster 1 (71 objects, 40%): lower color_intensity, alcohol and proline (and 4 more).
    Cluster 2 (48 objects, 27%): lower flavanoids, od280/od315_of_diluted_wines and hue (and 6 more).
    >>> print(found.rules.rules[0])
    proline > 755 and flavanoids > 2.18 → cluster 0 (57 of 59)
    """
    labels = _labels_of(model_or_labels)
    check_flag(selective, "selective of profile")
    if thinned is not None and not selective:
        raise ValueError(
            "thinned of profile must go with selective=True. Got selective=False. Add selective=True, or leave "
            "thinned out."
        )
    check_whole(n_drivers, "n_drivers of profile", 1)
    check_whole(max_depth, "max_depth of profile", 0, 3)
    seed = seed_of(random_state, "random_state of profile")
    given = describe_objects(X, getattr(model_or_labels, "preprocessor_", None))
    given = given.with_clustered(
        _clustered_columns(model_or_labels, given) if clustered is None else _check_columns(clustered, given)
    )
    names, clusters = _encode_labels(labels, len(given.ids))
    k, n = len(names), len(clusters)
    members = np.split(np.argsort(clusters, kind="stable"), np.cumsum(np.bincount(clusters, minlength=k + 1)))[:k]
    compared = ClusterComparison(given.variables, clusters, k)
    variables = compared.variables
    coordinates = _coordinates(model_or_labels, X, features, given, n)
    typical, by_all = typical_objects(coordinates, members)
    sure, border_by = _confidence(model_or_labels, confidence, coordinates, clusters, k)
    border = least_sure(sure, members, typical)
    object_names = given.ids if ids is None else _names(ids, n)
    found = []
    for c, rows in enumerate(members):
        drivers = compared.drivers(c, n_drivers)
        found.append(
            ClusterProfile(
                names[c],
                len(rows),
                len(rows) / n,
                object_names[typical[c]],
                by_all[c],
                [object_names[i] for i in border[c]],
                drivers,
                sentence_of(names[c], len(rows), len(rows) / n, drivers, k),
            )
        )
    missing = [np.bincount(clusters[np.isnan(v.values)], minlength=k + 1)[:k] for v in variables]
    of_tree = [v for v in variables if v.clustered] or variables
    rules = rules_of(of_tree, clusters, names, max_depth, seed)
    same = [v.name for v in variables if repeats_clusters(v.values, members)]
    tested = None
    if thinned is not None:
        tested = thinned_markers(*_check_thinned(thinned, X, n), clusters, names, backend_of(X))
    elif selective:
        tested = dip_markers(variables, clusters, names, coordinates, backend_of(X))
    return Profile(
        found,
        rules,
        given.left_out,
        n,
        n - sum(map(len, members)),
        border_by,
        compared,
        np.array(missing, dtype=np.int64).reshape(len(variables), k),
        backend_of(X),
        same,
        nearly_repeated(variables, clusters, k, same),
        tested,
    )


def _check_thinned(thinned: Any, X: Any, n: int) -> tuple[NDArray[np.float64], list[str]]:
    """The (n, m) counts of the columns of X, and their names."""
    dense = thinned.toarray() if hasattr(thinned, "toarray") else thinned
    counts = check_numbers(dense, "thinned of profile", (n, "m"))
    frame = X if isinstance(X, Table) or sparse.issparse(X) else as_frame(X)
    named = X.names if isinstance(X, Table) else getattr(frame, "columns", None)
    names = [f"x{j}" for j in range(np.shape(X)[1])] if named is None else list(map(str, named))
    if counts.shape[1] != len(names):
        raise ValueError(
            f"thinned of profile must have the {len(names):,} columns of X. Got {counts.shape[1]:,}. Give the second "
            "part that thin_counts made of X."
        )
    if not (np.isfinite(counts) & (counts >= 0)).all():
        raise ValueError(
            "thinned of profile must be numbers ≥ 0. Got others. Give the second part of thin_counts, divided by the "
            "depths of the objects at most."
        )
    return counts, names


def _labels_of(model_or_labels: Any) -> Any:
    """The labels of a fitted estimator, by the numbers that people know its clusters by, or those that were given."""
    if hasattr(model_or_labels, "fit") and not hasattr(model_or_labels, "labels_"):
        raise TypeError(
            f"model_or_labels of profile must be a fitted model, or labels. Got {format_value(model_or_labels)}. "
            f"Fit the model first."
        )
    labels = getattr(model_or_labels, "labels_", model_or_labels)
    numbers = getattr(model_or_labels, "cluster_numbers_", None)
    return labels if numbers is None else np.append(numbers, -1)[labels]


def _encode_labels(labels: Any, n: int) -> tuple[list[Any], NDArray[np.intp]]:
    """The labels of the clusters, ascending; (n,) the place of each object's among them, their number in no cluster."""
    coded = Ensemble.from_partitions([labels])
    if len(coded) != n:
        raise ValueError(
            f"labels of profile must be one for each of the {n:,} rows of X. Got {len(coded):,}. "
            "Give labels of the same objects, in the same order."
        )
    names = coded.categories[0].tolist()
    whole = [int(name) if isinstance(name, float) and name == int(name) else name for name in names]
    return whole, np.asarray(coded.codes)[:, 0].astype(np.intp)


def _texts(values: Any, subject: str) -> list[str]:
    """A list, not a text, as texts."""
    try:
        if isinstance(values, str | bytes | Mapping):
            raise TypeError
        return [str(value) for value in values]
    except TypeError:
        raise TypeError(f"{subject} of profile must be a list. Got {format_value(values)}. Give names.") from None


def _names(ids: Any, n: int) -> list[str]:
    names = _texts(ids, "ids")
    if len(names) != n:
        raise ValueError(
            f"ids of profile must be one for each of the {n:,} rows of X. Got {len(names):,}. Give one id per row."
        )
    return names


def _check_columns(clustered: Any, given: VariableTable) -> set[str]:
    """Names of columns of X."""
    names = _texts(clustered, "clustered")
    known = [*(v.name for v in given.variables), *given.left_out]
    unknown = sorted(set(names) - set(known))
    if unknown:
        raise ValueError(
            f"clustered of profile must be columns of X. Got {unknown[0]!r}. Its columns are {', '.join(known[:8])}."
        )
    return set(names)


def _clustered_columns(model: Any, given: VariableTable) -> set[str] | None:
    """Names of the columns that a model clustered, if it says so, and knows those of X."""
    uses = getattr(getattr(model, "preprocessor_", None), "columns_", None)
    names = {v.name for v in given.variables}
    if uses is None or names.isdisjoint(use.column for use in uses):
        return None
    return {use.column for use in uses if use.use.startswith("used")}


def _coordinates(model: Any, X: Any, features: Any, given: VariableTable, n: int) -> NDArray[np.float64]:
    """(n, d) what objects are compared by."""
    if features is not None:
        checked = check_numbers(features, "features of profile", (n, "d"))
        if not (checked.shape[1] and np.isfinite(checked).all()):
            raise ValueError(
                f"features of profile must be finite numbers in a column or more. Got {format_value(features)}. "
                f"Fill missing values first."
            )
        return checked
    variables: list[Variable] = [v for v in given.variables if v.clustered]
    if hasattr(model, "preprocessor_"):
        try:
            made = transform_named(model.preprocessor_, X)
        except (TypeError, ValueError):  # X is not what was fitted
            return coordinates_of(variables, n)
        dense = made.toarray() if hasattr(made, "toarray") else np.asarray(made, dtype=np.float64)
        if dense.shape[0] == n and dense.shape[1] and np.isfinite(dense).all():
            return np.asarray(dense, dtype=np.float64)
    return coordinates_of(variables, n)


def _confidence(
    model: Any, confidence: Any, X: NDArray[np.float64], clusters: NDArray[np.intp], k: int
) -> tuple[NDArray[np.float64], str]:
    """(n,) confidence of each object, and its meaning in words."""
    of_model = getattr(model, "confidence_", None) if confidence is None else confidence
    if of_model is not None:
        sure = check_numbers(of_model, "confidence of profile", (len(clusters),))
        return sure, "the objects on whose cluster the partitions agree least"
    return nearness(
        X, clusters, k
    ), "the objects that are hardly nearer to the mean of their cluster than to that of another"


# -- typical objects ---------------------------------------------------------------------------------------------------


MOST_STEPS = 10**9
"""Of a medoid by all distances; of more, the object nearest to the mean is taken."""
MOST_BORDER = 3
"""Objects of each cluster that are named."""


def coordinates_of(variables: Sequence[Variable], n: int) -> NDArray[np.float64]:
    """(n, d) the variables on one scale: standardised, indicators of categories; what is missing at the mean."""
    columns: list[NDArray[np.float64]] = []
    for v in variables:
        known = ~np.isnan(v.values)
        if v.kind != "category":
            centred = np.where(known & np.isfinite(v.values), v.values, np.nan)
            columns += [_standardise(centred)]
            continue
        for level in range(len(v.levels)):
            share = float((v.values == level).sum() / max(known.sum(), 1))
            weight = np.sqrt(max(share, 1e-12) * max(len(v.levels) - 1, 1))
            columns += [np.where(known, (v.values == level) - share, 0.0) / weight]
    return np.column_stack(columns) if columns else np.zeros((n, 1))


def _standardise(values: NDArray[np.float64]) -> NDArray[np.float64]:
    known = values[~np.isnan(values)]
    unit = np.abs(known).max(initial=0.0) or 1.0  # of which squares are numbers
    known = known / unit
    spread = known.std() if len(known) else 0.0
    scaled = (values / unit - known.mean()) / spread if spread > 0 else np.zeros_like(values)
    return np.where(np.isnan(scaled), 0.0, scaled)


def typical_objects(X: NDArray[np.float64], members: Sequence[NDArray[np.intp]]) -> tuple[list[int], list[bool]]:
    """The object of each cluster with the smallest mean distance to the others, and whether all were compared.

    O(n_c² d) time for a cluster of n_c objects; of more than `MOST_STEPS` the object nearest to the mean, in O(n_c d).
    The first of several.
    """
    from scipy.spatial.distance import cdist

    typical, exact = [], []
    for rows in members:
        part = X[rows]
        by_all = len(rows) ** 2 * X.shape[1] <= MOST_STEPS and len(rows) <= 5_000
        away = cdist(part, part).sum(axis=1) if by_all else ((part - part.mean(axis=0)) ** 2).sum(axis=1)
        # Sums of the same distances in another order differ in the last bits.
        typical.append(int(rows[np.flatnonzero(away <= away.min() * (1 + 1e-12))[0]]))
        exact.append(by_all)
    return typical, exact


def least_sure(
    confidence: NDArray[np.float64], members: Sequence[NDArray[np.intp]], typical: Sequence[int]
) -> list[list[int]]:
    """The objects of each cluster with the least confidence, that is not the greatest there, most doubtful first.

    Never the typical one.
    """
    found = []
    for all_rows, one in zip(members, typical, strict=True):
        greatest, rows = np.fmax.reduce(confidence[all_rows], initial=-np.inf), all_rows[all_rows != one]
        values = confidence[rows]
        below = np.flatnonzero(values < greatest)
        found.append(rows[below[np.argsort(values[below], kind="stable")[:MOST_BORDER]]].tolist())
    return found


def nearness(X: NDArray[np.float64], clusters: NDArray[np.intp], k: int) -> NDArray[np.float64]:
    """(n,) how much nearer an object is to the mean of its cluster than to the nearest other one: (b − a) / max(a, b).

    The simplified silhouette; 1 for all where there is one cluster, NaN in no cluster. O(n k d) time.
    """
    n = len(X)
    inside = clusters < k
    if k < 2:
        return np.where(inside, 1.0, np.nan)
    sizes = np.maximum(np.bincount(clusters[inside], minlength=k), 1)
    order = np.argsort(clusters, kind="stable")[: int(inside.sum())]
    starts = np.searchsorted(clusters[order], np.arange(k))
    means = np.add.reduceat(X[order], starts, axis=0) / sizes[:, None]
    own, other = np.full(n, np.nan), np.full(n, np.inf)
    for c in range(k):
        distance = np.sqrt(((X - means[c]) ** 2).sum(axis=1))
        is_own = clusters == c
        own[is_own] = distance[is_own]
        other = np.where(is_own, other, np.minimum(other, distance))
    largest = np.maximum(own, other)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(inside, np.where(largest > 0, (other - own) / largest, 0.0), np.nan)
