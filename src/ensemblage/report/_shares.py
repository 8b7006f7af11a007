"""Shares of the partitions that join objects of clusters, from label counts: between clusters, and object by object."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage._ensemble import Ensemble
from ensemblage.counting._profiles import label_profile
from ensemblage.metrics._density import labelled_members, ratio

_LEAST_CERTAIN = 20


def between(ensemble: Ensemble, labels: NDArray[Any], weights: NDArray[np.float64]) -> float | None:
    """Pairs of objects of different clusters: Σ w joined / Σ w labelled, over the partitions."""
    profile, labelled = _profile(ensemble, labels)
    counts = profile.astype(np.float64)
    counts[:, ensemble.offsets[1:] - 1] = 0  # missing entries join with nobody
    joined = np.add.reduceat(counts.sum(axis=0) ** 2 - (counts**2).sum(axis=0), ensemble.offsets[:-1])
    members = labelled.astype(np.float64)
    pairs = members.sum(axis=0) ** 2 - (members**2).sum(axis=0)
    total = (weights * pairs).sum()
    return float((weights * joined).sum() / total) if total > 0 else None


def least_certain(
    ensemble: Ensemble,
    labels: NDArray[Any],
    confidence: NDArray[np.float64],
    names: Sequence[Any],
    weights: NDArray[np.float64],
) -> list[dict[str, Any]]:
    """Objects of the lowest confidence that are not alone in their cluster, and where else they could belong."""
    sizes = np.bincount(labels[labels >= 0])
    candidates = np.flatnonzero((labels >= 0) & ~np.isnan(confidence))
    candidates = candidates[sizes[labels[candidates]] > 1]
    if len(candidates) > _LEAST_CERTAIN:
        limit = np.partition(confidence[candidates], _LEAST_CERTAIN - 1)[_LEAST_CERTAIN - 1]
        candidates = candidates[confidence[candidates] <= limit]
    objects = candidates[np.lexsort((candidates, confidence[candidates]))][:_LEAST_CERTAIN]
    elsewhere = _association_with_clusters(ensemble, objects, weights, *_profile(ensemble, labels))
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
    ensemble: Ensemble,
    objects: NDArray[Any],
    weights: NDArray[np.float64],
    profile: NDArray[np.int64],
    labelled: NDArray[np.int64],
) -> NDArray[np.float64]:
    """(len(objects), k) mean co-association of each object with the members of each cluster."""
    codes = ensemble.codes[objects].astype(np.int64)
    known = codes < ensemble.n_clusters
    shared = profile[:, codes + ensemble.offsets[:-1]]
    joined = (weights * np.where(known, shared, 0)).sum(axis=2).T
    pairs = (weights * np.where(known, labelled[:, None, :], 0)).sum(axis=2).T
    return ratio(joined, pairs)


def _profile(ensemble: Ensemble, labels: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Label counts per cluster, and the members of each cluster that each partition labels."""
    counts = np.ones(len(ensemble), dtype=np.int64)
    profile = label_profile(ensemble.rows, labels, counts, ensemble.offsets, int(labels.max(initial=-1)) + 1)
    return profile, labelled_members(profile, ensemble.offsets)
