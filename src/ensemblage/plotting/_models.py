"""Pictures of a fitted model."""

from __future__ import annotations

from typing import Any, Protocol, TypeGuard

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.renamed import renamed_value
from ensemblage.base.validation import check_choice, check_fitted, format_value
from ensemblage.consensus.diagnostics import Dendrogram
from ensemblage.labels.ensemble import Ensemble, as_ensemble
from ensemblage.metrics import coassociation, membership_entropy

from ._axes import Axes, in_style

MOST_ROWS = 600
"""Objects of a co-association matrix that is drawn."""
KINDS = ("clusters", "confidence", "sizes", "coassociation", "dendrogram", "entropy")


@in_style
def model(model: Any, X: Any = None, kind: str | None = None, *, ax: Axes | None = None) -> Axes:
    """Draw a fitted model: the kind chooses the picture.

    Parameters
    ----------
    model : fitted clusterer of ensemblage
        A consensus of a label matrix, or `ConsensusClustering`.
    X : array-like, data frame or Ensemble, optional
        What it was fitted to: features, or the label matrix.
    kind : {"clusters", "confidence", "sizes", "coassociation", "dendrogram", "entropy"}, optional
        "clusters": the objects on the first two principal components of X, which must be features. "confidence": the
        confidence by cluster. "sizes": of the clusters. "coassociation": how often the partitions join two objects, of
        at most 600 of them. "dendrogram": the hierarchy of a method that has one. These two need the label matrix,
        which a model of features has itself. "entropy": as "clusters", coloured by the entropy of the soft memberships
        that a voting method has. Default: "clusters" of features, else "confidence".
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Axes
        Where it was drawn.

    Raises
    ------
    NotFittedError
        If it is not fitted.
    ValueError
        If X is needed and not given, or the method has no hierarchy or no soft memberships.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ensemblage import ConsensusClustering, plotting
    >>> X = load_iris().data
    >>> fitted = ConsensusClustering(3, random_state=0).fit(X)
    >>> plotting.model(fitted, kind="dendrogram").get_ylabel()
    '1 − similarity'
    """
    from . import cluster_sizes, confidence_by_cluster, consensus_matrix, diagnostics, scatter
    from ._scatter import entropy_scatter

    check_fitted(model)
    of_features = hasattr(model, "ensemble_")
    kind = renamed_value(kind, "kind", certainty="confidence")
    chosen = kind or ("clusters" if of_features and X is not None else "confidence")
    check_choice(chosen, "kind of plot", KINDS)
    if chosen == "confidence":
        return confidence_by_cluster(model, ax=ax)
    if chosen == "sizes":
        return cluster_sizes(model, ax=ax)
    if chosen == "clusters":
        return scatter(features_of(model, X), model, ax=ax)
    if chosen == "entropy":
        return entropy_scatter(two_components(features_of(model, X)), entropy_of(model), ax=ax)
    ensemble = model.ensemble_ if of_features else labels_of(model, X)
    if chosen == "coassociation":
        return consensus_matrix(ensemble, model, ax=ax)
    records = consensus_of(model).diagnostics(ensemble, sample_rows(model.labels_))
    found = [record for record in records if isinstance(record, Dendrogram)]
    if not found or len(found[0].merges) < 1:
        raise ValueError(
            f"A dendrogram must be of a method that makes a hierarchy. Got {type(consensus_of(model)).__name__}, "
            f"which makes none. Use kind='coassociation'."
        )
    return diagnostics(found[0], ax=ax)


class Fitted(Protocol):
    """What is asked of a model."""

    labels_: Any
    confidence_: Any


def is_model(value: Any) -> TypeGuard[Fitted]:
    """Whether a value is a fitted clusterer rather than numbers."""
    return hasattr(value, "labels_") and hasattr(value, "confidence_")


def consensus_of(model: Any) -> Any:
    """What combined the label matrix."""
    return getattr(model, "consensus_", model)


def entropy_of(model: Any) -> NDArray[np.float64]:
    """(n,) entropy of the soft memberships of a voting method."""
    membership = getattr(consensus_of(model), "membership_", None)
    if membership is None or len(membership) != len(model.labels_):
        raise ValueError(
            f"kind='entropy' needs a soft membership of every object. {type(consensus_of(model)).__name__} has none. "
            "Use kind='clusters'."
        )
    return membership_entropy(membership)


def labels_of(model: Any, X: Any) -> Ensemble:
    """The label matrix that a consensus was fitted to."""
    if X is None:
        raise ValueError(
            f"X of plot must be the label matrix that {type(model).__name__} was fitted to. Got none. Pass that matrix."
        )
    return as_ensemble(X)


def features_of(model: Any, X: Any) -> NDArray[np.float64]:
    """Features as the model clusters them."""
    if X is None or not hasattr(model, "ensemble_"):
        raise ValueError(
            "This picture needs features, and a model of features. "
            f"Got {format_value(X) if X is not None else 'no X'} for {type(model).__name__}. Give the features, or use "
            "plotting.scatter(points, model)."
        )
    preprocessor = getattr(model, "preprocessor_", None)
    return np.asarray(X if preprocessor is None else _dense(preprocessor.transform(X)), dtype=np.float64)


def _dense(X: Any) -> Any:
    return X.toarray() if hasattr(X, "toarray") else X


def two_components(points: Any) -> NDArray[np.float64]:
    """(n, 2) the first two principal components of more than two features; what is missing lies at the median."""
    X = np.array(points, dtype=np.float64)
    if X.ndim != 2 or X.shape[1] <= 2:
        return X if X.ndim != 2 or X.shape[1] == 2 else np.column_stack([X, np.zeros(len(X))])
    X = np.where(np.isfinite(X), X, np.nanmedian(np.where(np.isfinite(X), X, np.nan), axis=0))
    X -= X.mean(axis=0)
    left, values, right = np.linalg.svd(X, full_matrices=False)
    signs = np.sign(right[np.arange(2), np.abs(right[:2]).argmax(axis=1)])
    xy: NDArray[np.float64] = left[:, :2] * values[:2] * signs
    return xy


def sample_rows(labels: NDArray[Any], most: int = MOST_ROWS) -> NDArray[np.intp]:
    """At most so many objects, of every cluster its share."""
    order = np.argsort(labels, kind="stable")
    if len(order) <= most:
        return np.sort(order)
    return np.sort(order[np.linspace(0, len(order) - 1, most).round().astype(np.intp)])


def association_of(matrix: Any, model: Any) -> tuple[Any, Any]:
    """What `consensus_matrix` draws of a label matrix and the model of it: shares of a sample, and their clusters."""
    ensemble = getattr(matrix, "ensemble_", None) if is_model(matrix) else as_ensemble(matrix)
    if ensemble is None:
        raise ValueError(
            f"matrix of consensus_matrix must be the label matrix that {type(model).__name__} was fitted to. Got the "
            "model. Give both: consensus_matrix(labels, model)."
        )
    rows = sample_rows(model.labels_)
    return coassociation(ensemble, objects=rows), model.labels_[rows]
