"""A finished analysis as a dict of plain numbers and strings."""

import inspect
import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from ensemblage._ensemble import Ensemble, as_ensemble
from ensemblage.kernels._profiles import label_profile
from ensemblage.metrics import cluster_density
from ensemblage.metrics._agreement import agreement_matrix, agreement_with
from ensemblage.metrics._density import labelled_members
from ensemblage.plotting import confidence_quantiles
from ensemblage.report._evidence import evidence_shown
from ensemblage.report._kmeans import climb_shown, splits_shown
from ensemblage.report._negmm import search_shown
from ensemblage.report._shown import Features, matrix_shown, points_shown
from ensemblage.report._stability import stability_shown
from ensemblage.report._truth import compare_with_truth
from ensemblage.report._voting import choice_of_k, voting_shown

FORMAT = 1
"""Changes when a page can no longer be made of an older summary."""
SCHEMA = 1
"""Grows when keys are added; none is renamed or removed. A summary without the key is of schema 1."""

_LEAST_CERTAIN = 20
_MOST_MEMBERS_DRAWN = 200
_PACKAGES = ("ensemblage", "numpy", "scipy", "scikit-learn", "numba", "matplotlib")


def summarize(
    ensemble: ArrayLike | Any,
    consensus: Any,
    *,
    features: Any = None,
    ids: Sequence[Any] | None = None,
    truth: ArrayLike | None = None,
    ranking: Any = None,
    seconds: Mapping[str, float] | None = None,
    settings: Mapping[str, Any] | None = None,
    versions: Mapping[str, str] | None = None,
    title: str = "Consensus clustering",
    stability: Any = None,
    random_state: Any = 0,
) -> dict[str, Any]:
    """Every number that the page of `build` shows, as a dict that JSON can hold.

    Parameters
    ----------
    ensemble : array-like, data frame or Ensemble of shape (n_objects, n_partitions)
        The label matrix.
    consensus : fitted estimator
        Its ``labels_`` and ``confidence_``, its name and its parameters are shown.
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
    stability : KChoice, optional
        What `choose_k` returned for the same objects: its table, its curves and each object's place are shown.
    random_state : int, RandomState or None, default 0
        Chooses the objects that are drawn where there are too many.

    Returns
    -------
    dict
        ``data``, ``consensus``, ``clusters`` (one entry each), ``members`` (one per partition), ``agreement``,
        ``rankings``, ``truth``, ``least_certain``, ``settings``, ``seconds``, ``versions``, and ``figures`` (what
        the figures draw). Numbers that do not exist are None.

    Raises
    ------
    ValueError
        If the consensus, the features, the ids or the classes are of another number of objects than the ensemble.

    Notes
    -----
    O(n p + p² m) time for m distinct label rows (p at most 200 in the second term); O(n) memory beyond the ensemble.

    Examples
    --------
    >>> from ensemblage import Ensemble, KMeansConsensus, report
    >>> ensemble = Ensemble([[0, 0], [0, 0], [1, 1], [1, 0]])
    >>> consensus = KMeansConsensus(n_clusters=2, random_state=0).fit(ensemble)
    >>> [cluster["size"] for cluster in report.summarize(ensemble, consensus)["clusters"]]
    [2, 2]
    """
    ensemble = as_ensemble(ensemble)
    n = len(ensemble)
    labels = _checked_labels(consensus.labels_, n)
    confidence = np.asarray(_one_per_object(consensus.confidence_, n, "confidence_ of consensus"), dtype=np.float64)
    names = _one_per_object(range(n) if ids is None else list(ids), n, "ids")
    drawable = None if features is None else Features.of(_one_per_object(features, n, "features"))
    agreements = agreement_with(ensemble, labels, "ari")
    drawn = _members_drawn(agreements)
    with_each_other = agreement_matrix(ensemble.select(drawn), "ari")
    compared = None if truth is None else compare_with_truth(ensemble, labels, truth)
    return {
        "schema": SCHEMA,
        "format": FORMAT,
        "title": str(title),
        "data": _data(ensemble, drawable),
        "consensus": _consensus(ensemble, consensus, labels, confidence),
        "clusters": _clusters(ensemble, labels, confidence),
        "agreement": _agreement(agreements, drawn, with_each_other),
        "choice": choice_of_k(ensemble, consensus, random_state),
        "stability": stability_shown(stability, labels),
        "truth": None if compared is None else compared.scores,
        "members": _members(ensemble, agreements, None if compared is None else compared.members),
        "rankings": [_ranking(r) for r in _several(ranking)],
        "least_certain": _least_certain(ensemble, labels, confidence, names),
        "settings": {str(key): str(value) for key, value in (settings or {}).items()},
        "seconds": {str(stage): float(duration) for stage, duration in (seconds or {}).items()},
        "versions": dict(versions) if versions is not None else _versions(),
        "figures": {
            "matrix": matrix_shown(ensemble, labels, random_state),
            "agreement": {"members": drawn.tolist(), "ari": lower_triangle(with_each_other)},
            "points": None if drawable is None else points_shown(drawable, labels, confidence, random_state),
            "splits": splits_shown(consensus),
            "climb": climb_shown(consensus),
            "search": search_shown(consensus),
            "evidence": evidence_shown(ensemble, consensus, labels),
            "voting": voting_shown(ensemble, consensus, labels, drawable is not None, random_state),
        },
    }


def _one_per_object(values: Any, n: int, subject: str) -> Any:
    length = values.shape[0] if hasattr(values, "shape") else len(values)
    if length != n:
        raise ValueError(
            f"{subject} must have one entry for each of the {n:,} objects of the ensemble. Got {length:,}. "
            "Give what belongs to the same objects, in the same order."
        )
    return values


def _checked_labels(labels: Any, n: int) -> NDArray[np.int64]:
    checked = np.asarray(_one_per_object(labels, n, "labels_ of consensus"), dtype=np.int64)
    empty = np.flatnonzero(np.bincount(checked[checked >= 0]) == 0)
    if len(empty) or not (checked >= 0).any():
        raise ValueError(
            "labels_ of consensus must number the clusters from 0 without gaps. "
            f"Got {'only unlabelled objects' if not len(empty) else f'no object in cluster {empty[0]}'}. "
            "Number them anew."
        )
    return checked


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
    ensemble: Ensemble, consensus: Any, labels: NDArray[Any], confidence: NDArray[np.float64]
) -> dict[str, Any]:
    known = confidence[~np.isnan(confidence)]
    parameters = consensus.get_params(deep=False) if hasattr(consensus, "get_params") else {}
    return {
        "method": type(consensus).__name__,
        "parameters": {name: _short(value) for name, value in sorted(parameters.items())},
        "n_clusters": int(labels.max(initial=-1)) + 1,
        "n_unlabelled": int((labels < 0).sum()),
        "mean_confidence": float(known.mean()) if len(known) else None,
        "between": _between(ensemble, labels),
    }


def _short(value: Any) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= 80 else f"{text[:79]}…"


def _between(ensemble: Ensemble, labels: NDArray[Any]) -> float | None:
    """Pairs of objects of different clusters: joined / labelled, both summed over the partitions."""
    profile, labelled = _profile(ensemble, labels)
    counts = np.delete(profile, ensemble.offsets[1:] - 1, axis=1).astype(np.float64)
    joined = (counts.sum(axis=0) ** 2).sum() - (counts**2).sum()
    members = labelled.astype(np.float64)
    pairs = (members.sum(axis=0) ** 2).sum() - (members**2).sum()
    return float(joined / pairs) if pairs > 0 else None


def _profile(ensemble: Ensemble, labels: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Label counts per cluster, and the members of each cluster that each partition labels."""
    counts = np.ones(len(ensemble), dtype=np.int64)
    profile = label_profile(ensemble.codes, labels, counts, ensemble.offsets, int(labels.max(initial=-1)) + 1)
    return profile, labelled_members(profile, ensemble.offsets)


def _clusters(ensemble: Ensemble, labels: NDArray[Any], confidence: NDArray[np.float64]) -> list[dict[str, Any]]:
    sizes = np.bincount(labels[labels >= 0])
    shared = cluster_density(ensemble, labels)
    np.fill_diagonal(shared, -1)
    nearest = [{"cluster": int(row.argmax()), "share": float(row.max())} for row in shared]
    return [
        {
            "cluster": c,
            "size": int(size),
            "share": int(size) / len(labels),
            "confidence": quantiles,
            "nearest": nearest[c] if len(sizes) > 1 else None,
        }
        for c, (size, quantiles) in enumerate(zip(sizes, confidence_quantiles(confidence, labels), strict=True))
    ]


def _members_drawn(agreements: NDArray[np.float64]) -> NDArray[np.intp]:
    """The members by decreasing agreement with the consensus; of very many an even choice."""
    order = np.argsort(-agreements, kind="stable")
    places = np.linspace(0, len(order) - 1, min(len(order), _MOST_MEMBERS_DRAWN)).round().astype(np.intp)
    return order[places]


def _agreement(
    agreements: NDArray[np.float64], drawn: NDArray[np.intp], with_each_other: NDArray[np.float64]
) -> dict[str, Any]:
    p = len(with_each_other)
    others = with_each_other[~np.eye(p, dtype=bool)]
    # A member is compared with all members, itself included, for the consensus may be one of them too.
    means = np.array([_mean(row) for row in with_each_other])
    best = int(np.argmax(means))
    return {
        "consensus": plain(_mean(agreements)),
        "others": plain(_mean(others)),
        "best": plain(means[best]) if p > 1 else None,
        "best_member": int(drawn[best]) if p > 1 else None,
    }


def _mean(values: NDArray[np.float64]) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else np.nan


def plain(value: float, digits: int | None = None) -> float | None:
    """A float that JSON can hold: None for NaN."""
    return None if np.isnan(value) else float(value if digits is None else round(float(value), digits))


def lower_triangle(matrix: NDArray[np.float64]) -> list[list[float | None]]:
    """Rows of the lower triangle, diagonal included, with three decimals."""
    return [[plain(value, 3) for value in row[: i + 1]] for i, row in enumerate(matrix.tolist())]


def _members(
    ensemble: Ensemble, agreements: NDArray[np.float64], truth: NDArray[np.float64] | None
) -> list[dict[str, Any]]:
    missing = (ensemble.codes == ensemble.n_clusters.astype(ensemble.codes.dtype)).mean(axis=0)
    return [
        {
            "name": name,
            "n_clusters": int(ensemble.n_clusters[j]),
            "missing": float(missing[j]),
            "agreement": plain(agreements[j]),
            "truth": None if truth is None else plain(truth[j]),
        }
        for j, name in enumerate(ensemble.names)
    ]


def _several(ranking: Any) -> list[Any]:
    return [] if ranking is None else list(ranking) if isinstance(ranking, list | tuple) else [ranking]


def _ranking(ranking: Any) -> dict[str, Any]:
    errors = np.asarray(getattr(ranking, "standard_errors_", 0.0), dtype=np.float64)
    return {
        "name": _short(_without_seed(ranking)).removesuffix("()"),
        "description": (inspect.getdoc(type(ranking)) or "").partition("\n")[0],
        "greater_is_better": bool(ranking.greater_is_better),
        "scores": [plain(score) for score in np.asarray(ranking.scores_, dtype=np.float64).tolist()],
        "errors": [plain(error) for error in errors.tolist()] if errors.any() else None,
        "order": [int(j) for j in ranking.order_],
    }


def _without_seed(ranking: Any) -> Any:
    """An estimator like it, without the parameters that say nothing of what the scores mean."""
    silent = {"random_state": None, "n_jobs": None}
    shared = silent.keys() & (ranking.get_params() if hasattr(ranking, "get_params") else {})
    return clone(ranking).set_params(**{name: silent[name] for name in shared}) if shared else ranking


def _least_certain(
    ensemble: Ensemble, labels: NDArray[Any], confidence: NDArray[np.float64], names: Sequence[Any]
) -> list[dict[str, Any]]:
    """Objects of the lowest confidence that are not alone in their cluster, and where else they could belong."""
    sizes = np.bincount(labels[labels >= 0])
    candidates = np.flatnonzero((labels >= 0) & ~np.isnan(confidence))
    candidates = candidates[sizes[labels[candidates]] > 1]
    if len(candidates) > _LEAST_CERTAIN:
        limit = np.partition(confidence[candidates], _LEAST_CERTAIN - 1)[_LEAST_CERTAIN - 1]
        candidates = candidates[confidence[candidates] <= limit]
    objects = candidates[np.lexsort((candidates, confidence[candidates]))][:_LEAST_CERTAIN]
    elsewhere = _association_with_clusters(ensemble, objects, *_profile(ensemble, labels))
    elsewhere[np.arange(len(objects)), labels[objects]] = -1
    return [
        {
            "id": str(names[i]),
            "cluster": int(labels[i]),
            "confidence": float(confidence[i]),
            "rival": int(row.argmax()) if len(sizes) > 1 else None,
            "rival_confidence": float(row.max()) if len(sizes) > 1 else None,
        }
        for i, row in zip(objects.tolist(), elsewhere, strict=True)
    ]


def _association_with_clusters(
    ensemble: Ensemble, objects: NDArray[Any], profile: NDArray[np.int64], labelled: NDArray[np.int64]
) -> NDArray[np.float64]:
    """(len(objects), k) mean co-association of each object with the members of each cluster."""
    codes = ensemble.codes[objects].astype(np.int64)
    known = codes < ensemble.n_clusters
    shared = profile[:, codes + ensemble.offsets[:-1]]
    joined = np.where(known, shared, 0).sum(axis=2).T
    pairs = np.where(known, labelled[:, None, :], 0).sum(axis=2).T
    return np.where(pairs > 0, joined / np.maximum(pairs, 1), 0.0)


def _versions() -> dict[str, str]:
    found = {"Python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
