"""A finished analysis as a dict of plain numbers and strings.

Clusters have the numbers that people know them by, those of ``labels.csv``.
"""

import platform
import re
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator

from ensemblage.base.random import seed_of
from ensemblage.base.validation import check_weights, check_whole
from ensemblage.choices._chooser import FAMILY_TEXT, candidate_named
from ensemblage.consensus._base import BaseConsensus
from ensemblage.consensus._model import Model
from ensemblage.consensus.diagnostics import Diagnostics, Memberships
from ensemblage.labels.ensemble import Ensemble, as_any_ensemble
from ensemblage.metrics import cluster_density, membership_entropy
from ensemblage.metrics._agreement import agreement_matrix, agreement_with, weighted_mean
from ensemblage.plotting._clusters import confidence_quantiles
from ensemblage.report._answer import headline
from ensemblage.report._decided import chosen_summary, left_out_summary, plan_summary
from ensemblage.report._diagnostics import drawable_record
from ensemblage.report._figure_data import (
    Features,
    MatrixObjects,
    matrix_data,
    matrix_objects,
    point_data,
    point_sample,
)
from ensemblage.report._n_clusters import (
    choice_of_k,
    cluster_stability_summary,
    k_choice_summary,
    merged_summary,
    points_by_number,
)
from ensemblage.report._object_table import ObjectConfidence, between_cluster_share, object_table
from ensemblage.report._other_answers import (
    HIERARCHY,
    K_MEANS,
    compared_numbers,
    method_summary,
    mode_summary,
    other_numbers,
    other_numbers_summary,
    stories_of,
)
from ensemblage.report._profile import profile_for_page
from ensemblage.report._provenance import references_of
from ensemblage.report._ranking import (
    compare_with_truth,
    finite_or_none,
    lower_triangle,
    parameter_text,
    ranking_summary,
    short_repr,
)

FORMAT = 1
"""Changes when a page can no longer be made of an older summary."""
SCHEMA = 10
"""Grows when keys change; `render` still reads the older ones. A summary without the key is of schema 1."""

COLUMN_KEYS = ("column", "role", "reason", "use")
_MOST_MEMBERS_DRAWN = 200
_NO_ALGORITHM = ("partition", "clustering", "column", "member", "label", "labels", "run")
"""How names begin that tell nothing about what made the partitions, as those of one letter do."""
_MOST_COMPARED = 1_000
"""Of more clusters the closest one to each is not looked for: that takes as many comparisons as pairs of clusters."""
_PACKAGES = ("ensemblage", "numpy", "scipy", "scikit-learn", "numba", "matplotlib")


SOFT = "of soft partitions; they are shown by the likeliest cluster of each object"
"""What the page says where memberships were fitted."""


def summarize(
    ensemble: ArrayLike | Any,
    model: Any,
    *,
    features: Any = None,
    ids: Sequence[Any] | None = None,
    truth: ArrayLike | None = None,
    ranking: Any = None,
    seconds: Mapping[str, float] | None = None,
    settings: Mapping[str, Any] | None = None,
    versions: Mapping[str, str] | None = None,
    title: str = "Consensus clustering",
    command: str | None = None,
    k_choice: Any = None,
    chosen: Any = None,
    cluster_stability: Any = None,
    merged: Any = None,
    column_uses: Sequence[Sequence[str]] = (),
    plan: Any = None,
    profile: Any = None,
    modes: Any = None,
    method_comparison: Any = None,
    without_columns: Any = None,
    n_refits: int = 0,
    random_state: Any = 0,
) -> dict[str, Any]:
    """Use it to get every number of the page as a dict that JSON can hold.

    Parameters
    ----------
    ensemble : array-like, data frame or Ensemble of shape (n_objects, n_partitions)
        The label matrix.
    model : fitted estimator
        Its ``labels_`` and ``confidence_``, its name and its parameters are shown. Of one without ``confidence_``, such
        as a clusterer of scikit-learn, the confidence is that of `metrics.confidence`.
    features : array-like, data frame or sparse matrix of shape (n_objects, n_features), optional
        Numbers to draw the objects by, usually those that were clustered. More than two are drawn on their first two
        principal components; a value that is not finite is drawn at the median of its column.
    ids : sequence of n_objects, optional
        Names of the objects; by default their numbers from 0.
    truth : array-like of shape (n_objects,), optional
        Known classes to compare with; missing entries as in `Ensemble`.
    ranking : fitted ranking or sequence of them, optional
        Their ``scores_`` and ``order_`` are shown; the first orders the table of the partitions.
    seconds : mapping of str to float, optional
        How long each stage took.
    settings : mapping, optional
        What else it takes to repeat the analysis: the seed, the generator's parameters, the file.
    versions : mapping of str to str, optional
        By default those of Python, ensemblage and the packages it computes with.
    title : str, default "Consensus clustering"
        First line of the page.
    command : str, optional
        What repeats the analysis, in a shell or in Python.
    k_choice : KChoice or MontiChoice, optional
        What `choose_k` returned for the same objects: its answer, curves and table are shown.
    chosen : LearnedSelection, optional
        ``chosen_`` of a `ConsensusClustering` with learned weights of the partitions. Default: that of the model, if it
        has one.
    cluster_stability : ClusterStability, optional
        What `stability.cluster_stability` returned for the clusters of the consensus: a verdict for each.
    merged : MergedClusters, optional
        What `stability.merge_unsupported` returned for the clusters of the consensus: which splits a linear test
        supports, and what is left.
    column_uses : sequence of (column, role, reason, use), optional
        What was done with each column of the table that was clustered, as ``Preprocessor.columns_``.
    plan : Plan, optional
        What was decided before the work began. Default: ``plan_`` of the consensus, if it has one.
    profile : Profile, optional
        What `ensemblage.profile` returned for the same objects: what describes each cluster. Default: that of the
        features, where there are some, of at most 50 million cells.
    modes : ConsensusModes, optional
        Fitted on the same partitions: whether they tell one story or several.
    method_comparison : MethodComparison, optional
        What `compare_methods` returned for the same partitions: what other methods make of them.
    without_columns : dict of str to float, optional
        By the name of a column the adjusted Rand index of the answer with one that was made in the same way without it.
    n_refits : int, default 0
        Of a consensus that found its number of clusters by lifetimes: so many random halves of the partitions are
        combined by the same method, to see how often that number comes out again. Each takes up to the time of the fit,
        so none is done unasked; the page says how many were.
    random_state : int, RandomState, Generator or None, default 0
        Chooses the objects that are drawn where there are too many, and the halves.

    Returns
    -------
    dict
        ``alerts`` (what of the data probably makes a wrong answer), ``data``, ``consensus``, ``clusters`` (one entry
        each), ``members`` (one per partition), ``agreement``, ``rankings``, ``truth``, ``evidence`` (records that
        `diagnostics_from_dict` reads), ``objects`` (by columns: of more than 20,000 those of the figures and the
        undecided), ``least_certain``, ``profile``, ``modes``, ``methods``, ``without_columns``, ``chosen``, ``plan``,
        ``columns``, ``references``, ``settings``, ``seconds``, ``versions``, ``figures`` (what the figures draw), and
        ``headline``. Numbers that do not exist are None.

    Raises
    ------
    TypeError
        If the consensus is not fitted.
    ValueError
        If the consensus, the features, the ids or the classes are of another number of objects than the ensemble, or
        they or ``n_refits`` are not of that form.

    Notes
    -----
    The partitions count with the ``weights`` of the consensus wherever a number is a mean over them: the shares in the
    consensus matrix, within and between clusters, and the mean agreement. Rankings, the comparison with the classes and
    what DISCOTEC compares with have none.

    Nothing is fitted, but for the ``n_refits``: O(n p + p² m) time for m distinct label rows (p at most 200 in the
    second term) and O(n) memory beyond the ensemble. Pairs are counted and figures drawn of samples of a fixed size;
    those of the page take a second or two, whatever the size.

    Examples
    --------
    >>> from ensemblage import Ensemble, report
    >>> from ensemblage.consensus import KMeansConsensus
    >>> ensemble = Ensemble([[0, 0], [0, 0], [1, 1], [1, 0]])
    >>> consensus = KMeansConsensus(n_clusters=2, random_state=0).fit(ensemble)
    >>> [cluster["size"] for cluster in report.summarize(ensemble, consensus)["clusters"]]
    [2, 2]
    """
    fitted = as_any_ensemble(ensemble)
    ensemble = fitted.to_labels()
    n = len(ensemble)
    labels = _fitted_labels(model, n)
    method: Any = getattr(model, "consensus_", model) if isinstance(model, Model) else model
    given = method.weights if isinstance(method, BaseConsensus) else None
    if isinstance(given, str):  # a rule
        given = method._weights
    weights = check_weights(given, ensemble.shape[1], "report")
    names = list(_check_length(range(n) if ids is None else ids, n, "ids"))
    # One seed, so that every figure draws the same objects.
    seed = seed_of(random_state)
    placed = ObjectConfidence.of(ensemble, model, labels, weights)
    coordinates = None if features is None else Features.of(_check_length(features, n, "features"))
    agreements = agreement_with(ensemble, labels, "ari")
    drawn = _members_drawn(agreements)
    with_each_other = agreement_matrix(ensemble.select(drawn), "ari")
    refits = check_whole(n_refits, "n_refits of report", 0)
    shown, points = matrix_objects(ensemble, labels, seed), None
    drawn_points = np.empty(0, dtype=np.intp) if coordinates is None else point_sample(labels, seed)
    records, entropy = _records(fitted, method, shown, drawn_points)
    objects, rows = object_table(names, placed, point_sample(labels, seed))
    others, made_by = other_numbers(method, labels), HIERARCHY
    if not others:
        others, made_by = compared_numbers(k_choice, labels), K_MEANS
    if coordinates is not None:
        points = {
            **point_data(coordinates, labels, placed.confidence, drawn_points),
            "entropy": entropy,
            "rows": rows,
            **_by_number(k_choice, others if made_by == HIERARCHY else {}, modes, labels, drawn_points),
        }
    chosen = getattr(model, "chosen_", None) if chosen is None else chosen
    compared = None if truth is None else compare_with_truth(ensemble, labels, truth)
    summary = {
        "schema": SCHEMA,
        "format": FORMAT,
        "title": str(title),
        "alerts": list(getattr(getattr(model, "preprocessor_", None), "_alerts", ())),
        "command": None if command is None else str(command),
        "data": _data(ensemble, coordinates),
        "consensus": _consensus(ensemble, model, placed, weights),
        "clusters": _clusters(ensemble, placed, weights),
        "agreement": _agreement(agreements, weights, drawn, with_each_other),
        "choice": choice_of_k(records, ensemble, method, refits, seed),
        **k_choice_summary(k_choice, labels),
        "chosen": chosen_summary(chosen),
        "other_numbers": other_numbers_summary(others, labels, numbers_of(model), made_by),
        "found_again": cluster_stability_summary(cluster_stability),
        **({} if merged is None else {"merged": merged_summary(merged)}),
        "profile": profile_for_page(profile, model, features, names),
        "modes": mode_summary(modes, ensemble.names, labels, numbers_of(model)),
        "methods": method_summary(method_comparison, labels),
        "without_columns": left_out_summary(without_columns),
        "truth": None if compared is None else compared.scores,
        "members": _members(ensemble, given, agreements, None if compared is None else compared.members),
        "rankings": [ranking_summary(r, ensemble.shape[1]) for r in _as_list(ranking)],
        "evidence": [record.to_dict() for record in map(drawable_record, records) if record is not None],
        "objects_shown": True,
        "objects": objects,
        "least_certain": placed.least_certain(names),
        "plan": plan_summary(getattr(model, "plan_", None) if plan is None else plan),
        "columns": [dict(zip(COLUMN_KEYS, map(str, use), strict=True)) for use in column_uses],
        "references": references_of([model, *_as_list(ranking), *_as_list(chosen)], _entries(settings, "settings")),
        "settings": {str(key): str(value) for key, value in _entries(settings, "settings").items()}
        | ({} if fitted is ensemble else {"memberships": SOFT}),
        "seconds": {str(stage): _seconds(duration) for stage, duration in _entries(seconds, "seconds").items()},
        "versions": _versions() if versions is None else dict(_entries(versions, "versions")),
        "figures": {
            "matrix": matrix_data(ensemble, labels, weights, shown),
            "agreement": {"members": drawn.tolist(), "ari": lower_triangle(with_each_other)},
            "points": points,
        },
    }
    summary["headline"] = headline(summary)
    return renumber_clusters(summary, summary["consensus"]["numbers"])


def _records(
    ensemble: Ensemble, method: Any, shown: MatrixObjects, points: NDArray[Any]
) -> tuple[list[Diagnostics], list[float | None] | None]:
    """The method's evidence, soft memberships of the objects that figures draw among it; and the entropy of those of
    the points, if the method has votes.
    """
    if not isinstance(method, BaseConsensus):
        return [], None
    records, entropy = list(method.diagnostics(ensemble, np.concatenate([shown.objects, points]))), None
    for j, record in enumerate(records):
        if isinstance(record, Memberships):
            s = len(shown.objects)
            shares, of_points = record.membership[:s].round(3), record.membership[s:]
            records[j] = Memberships(shares, record.clusters[:s], shown.sizes.round(3))
            entropy = [finite_or_none(h, 3) for h in membership_entropy(of_points).tolist()] if len(points) else None
    return records, entropy


def _by_number(
    k_choice: Any, others: Mapping[int, NDArray[np.int64]], modes: Any, labels: NDArray[Any], drawn: NDArray[Any]
) -> dict[str, Any]:
    """Other clusters of the objects that are drawn, by number or story, and who made those of other numbers.

    ``others`` are cuts of the answer's own hierarchy, which come first: the page says what splits and merges in them.
    """
    k, made_by = int(labels.max()) + 1, HIERARCHY if others else K_MEANS
    found = {str(q): z[drawn].tolist() for q, z in others.items() if q != k}
    if not others:
        found = points_by_number(k_choice, labels, drawn)
    stories = {f"story {q + 1}": z[drawn].tolist() for q, z in enumerate(stories_of(modes, labels))}
    return {"by_number": found | stories, "by_number_of": made_by}


def _check_length(values: Any, n: int, subject: str) -> Any:
    rule = f"{subject} must have one entry for each of the {n:,} objects of the ensemble"
    try:
        length = values.shape[0] if issparse(values) else len(values)
    except TypeError:
        raise TypeError(f"{rule}. Got {values!r}. Give a list.") from None
    if length != n:
        raise ValueError(f"{rule}. Got {length:,}. Give what belongs to the same objects, in the same order.")
    return values


def _fitted_labels(consensus: Any, n: int) -> NDArray[np.int64]:
    """Labels of the objects, without gaps; their confidences, if it has some, must be as many."""
    if not hasattr(consensus, "labels_"):
        raise TypeError(
            "model of report must be a fitted estimator with labels_. "
            f"Got {short_repr(consensus)}. Fit a consensus method to the ensemble."
        )
    labels = np.asarray(_check_length(consensus.labels_, n, "labels_ of consensus"), dtype=np.int64)
    empty = np.flatnonzero(np.bincount(labels[labels >= 0]) == 0)
    if len(empty) or not (labels >= 0).any():
        raise ValueError(
            "labels_ of consensus must number the clusters from 0 without gaps. "
            f"Got {'only unlabelled objects' if not len(empty) else f'no object in cluster {empty[0]}'}. "
            "Number them anew."
        )
    if hasattr(consensus, "confidence_"):
        _check_length(consensus.confidence_, n, "confidence_ of consensus")
    return labels


def _entries(given: Any, name: str) -> Mapping[str, Any]:
    if not isinstance(given, Mapping | None):
        raise TypeError(f"{name} of report must be a dict. Got {short_repr(given)}. Give names with their values.")
    return given or {}


def _seconds(duration: Any) -> float:
    if not isinstance(duration, Real):
        raise ValueError(f"seconds of report must be numbers. Got {short_repr(duration)}. Give seconds by stage.")
    return float(duration)


def _data(ensemble: Ensemble, features: Features | None) -> dict[str, Any]:
    n, p = ensemble.shape
    return {
        "n_objects": n,
        "n_partitions": p,
        "n_features": None if features is None else features.values.shape[1],
        "n_distinct_rows": len(ensemble.distinct.counts),
        "missing": ensemble.n_missing / (n * p),
        "mean_member_clusters": float(ensemble.n_clusters.mean()),
    }


def _consensus(
    ensemble: Ensemble, consensus: Any, placed: ObjectConfidence, weights: NDArray[np.float64]
) -> dict[str, Any]:
    labels = placed.labels
    parameters = consensus.get_params(deep=False) if isinstance(consensus, BaseEstimator) else {}
    return {
        "method": type(consensus).__name__,
        "parameters": {name: parameter_text(value) for name, value in sorted(parameters.items())},
        "n_clusters": int(labels.max(initial=-1)) + 1,
        "numbers": numbers_of(consensus),
        "n_unlabelled": int((labels < 0).sum()),
        "mean_confidence": _mean(placed.confidence),
        "mean_cohesion": _mean(placed.cohesion),
        "shared": _shared_traits(ensemble),
        "between": between_cluster_share(ensemble, labels, weights),
    }


def _mean(values: NDArray[np.float64]) -> float | None:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else None


def _shared_traits(ensemble: Ensemble) -> dict[str, Any]:
    """What all partitions have alike, by their numbers of clusters and by their names: confidence cannot see it."""
    k, stems = set(ensemble.n_clusters.tolist()), set[str]()
    for called in map(str, ensemble.names):  # of a candidate its family, of others the first word
        candidate = candidate_named(called)
        first_word = re.split(r"[\W\d_]", called, maxsplit=1)[0]
        stems.add(first_word if candidate is None else FAMILY_TEXT[candidate.family])
    name = stems.pop() if len(stems) == 1 and len(ensemble.names) > 1 else None
    says_nothing = name is None or len(name) < 2 or name in _NO_ALGORITHM
    return {"k": k.pop() if len(k) == 1 else None, "name": None if says_nothing else name}


def _clusters(ensemble: Ensemble, placed: ObjectConfidence, weights: NDArray[np.float64]) -> list[dict[str, Any]]:
    labels, words = placed.labels, placed.verdict_counts()
    sizes = np.bincount(labels[labels >= 0])
    nearest: list[dict[str, Any] | None] = [None] * len(sizes)
    if 1 < len(sizes) <= _MOST_COMPARED:
        shared = cluster_density(ensemble, labels, weights=weights)
        np.fill_diagonal(shared, -1)
        nearest = [{"cluster": int(row.argmax()), "share": float(row.max())} for row in shared]
    return [
        {
            "cluster": c,
            "size": int(size),
            "share": int(size) / len(labels),
            "confidence": quantiles,
            "verdicts": words[c],
            "nearest": nearest[c],
        }
        for c, (size, quantiles) in enumerate(zip(sizes, confidence_quantiles(placed.confidence, labels), strict=True))
    ]


def _members_drawn(agreements: NDArray[np.float64]) -> NDArray[np.intp]:
    """The members by decreasing agreement with the consensus; of very many an even choice."""
    order = np.argsort(-agreements, kind="stable")
    places = np.linspace(0, len(order) - 1, min(len(order), _MOST_MEMBERS_DRAWN)).round().astype(np.intp)
    return order[places]


def _agreement(
    agreements: NDArray[np.float64],
    weights: NDArray[np.float64],
    drawn: NDArray[np.intp],
    with_each_other: NDArray[np.float64],
) -> dict[str, Any]:
    """Weighted mean agreement of the consensus with the members, of every two of those drawn, and of the best one."""
    p, w = len(drawn), weights[drawn]
    two = ~np.eye(p, dtype=bool)
    # A member is compared with all members, itself included, for the consensus may be one of them too.
    means = np.array([weighted_mean(row, w) for row in with_each_other])
    best = int(np.argmax(means))
    return {
        "consensus": finite_or_none(weighted_mean(agreements, weights)),
        "others": finite_or_none(weighted_mean(with_each_other[two], np.outer(w, w)[two])),
        "best": finite_or_none(means[best]) if p > 1 else None,
        "best_member": int(drawn[best]) if p > 1 else None,
    }


def _members(
    ensemble: Ensemble,
    weights: ArrayLike | None,
    agreements: NDArray[np.float64],
    truth: NDArray[np.float64] | None,
) -> list[dict[str, Any]]:
    """One dict per partition; ``weights`` are those that were given, for people to see."""
    given = np.ones(ensemble.shape[1]) if weights is None else np.asarray(weights, dtype=np.float64)
    missing = (ensemble.codes == ensemble.n_clusters.astype(ensemble.codes.dtype)).mean(axis=0)
    return [
        {
            "name": name,
            "n_clusters": int(ensemble.n_clusters[j]),
            "missing": float(missing[j]),
            "weight": float(given[j]),
            "agreement": finite_or_none(agreements[j]),
            "truth": None if truth is None else finite_or_none(truth[j]),
        }
        for j, name in enumerate(ensemble.names)
    ]


def _as_list(ranking: Any) -> list[Any]:
    return [] if ranking is None else list(ranking) if isinstance(ranking, list | tuple) else [ranking]


def _versions() -> dict[str, str]:
    found = {"Python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


# -- the numbers that people know clusters by --------------------------------------------------------------------------


_OF_CLUSTERS = frozenset({"cluster", "runner_up"})
"""Keys of the number of a cluster, or of a list of them; "clusters", where it is one."""
_BY_THEMSELVES = frozenset({"profile", "found_again", "merged", "evidence", "number", "stability", "other_numbers"})
"""Parts whose clusters have their names already, or are columns."""


def numbers_of(consensus: Any) -> list[int] | None:
    """Number of each cluster, ascending; None where they count from 0."""
    numbers = getattr(consensus, "cluster_numbers_", None)
    return None if numbers is None or np.array_equal(numbers, np.arange(len(numbers))) else numbers.tolist()


def renumber_clusters(summary: dict[str, Any], numbers: list[int] | None) -> dict[str, Any]:
    """The summary with ``numbers`` for the places of clusters."""
    if numbers is None:
        return summary
    known = dict(enumerate(numbers))

    def named(value: Any) -> Any:
        if isinstance(value, list):
            return [named(one) for one in value]
        return known.get(value, value) if isinstance(value, int) else renamed(value)

    def renamed(part: Any) -> Any:
        if isinstance(part, Mapping):
            return {
                key: named(value) if key in _OF_CLUSTERS or _are_numbers(key, value) else renamed(value)
                for key, value in part.items()
            }
        return [renamed(one) for one in part] if isinstance(part, list) else part

    return {key: value if key in _BY_THEMSELVES else renamed(value) for key, value in summary.items()}


def _are_numbers(key: str, value: Any) -> bool:
    return key == "clusters" and isinstance(value, list) and all(isinstance(one, int) for one in value)
