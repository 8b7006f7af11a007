"""All candidates of features: partitions of several families, and their consensus for each number of clusters."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ensemblage.consensus._base import numbers_by_size
from ensemblage.consensus._lifetime import cut
from ensemblage.consensus.hierarchies._linkage import average_linkage, row_similarity
from ensemblage.generation._candidates import Labels, Origin, Pool, candidate_pool, numbers_of_clusters
from ensemblage.generation._views import Matrix
from ensemblage.labels.ensemble import Ensemble
from ensemblage.labels.rows import Rows
from ensemblage.labels.threads import parallel_map

DEFAULT = ("full", "latent", "spectral10", "spectral5", "genie3")
"""Families in the view "own" whose consensus is the candidate "default": those of the first search, and latent classes
where there is no mixture with full covariances."""


def all_candidates(
    features: Matrix,
    ks: Sequence[int] | None = None,
    n_jobs: int | None = 1,
    progress: Callable[[int, int], None] | None = None,
    units: Matrix | None = None,
    known: Pool | None = None,
) -> Pool:
    """The pool of features (n, m), and for every number of clusters two consensuses, in the view "own".

    "default" is that of `DEFAULT`, "all" that of every pair; members have that number of clusters or one next to it on
    the list, if that is at most a quarter away. ``known`` is a pool for other numbers: see `candidate_pool`.
    """
    ks = numbers_of_clusters(len(features)) if ks is None else ks
    pool = candidate_pool(features, ks, n_jobs=n_jobs, progress=progress, units=units, made=known)
    kinds = {c.family for c in pool.candidates}
    families = set(DEFAULT) - ({"latent"} if "full" in kinds else set())
    default = np.array([c.view == "own" and c.family in families for c in pool.candidates])
    everyone = np.ones(len(pool.candidates), dtype=bool)
    tasks = [(name, members, k) for name, members in (("default", default), ("all", everyone)) for k in ks]
    consensuses = parallel_map(lambda task: _consensus(pool, *task[1:], ks), tasks, n_jobs)
    made = [
        (Origin("own", name, k), labels)
        for (name, _, k), labels in zip(tasks, consensuses, strict=True)
        if labels is not None
    ]
    labels = np.vstack([pool.labels, *(labels for _, labels in made)])
    return pool._replace(labels=labels, candidates=[*pool.candidates, *(candidate for candidate, _ in made)])


def numbers_beside(k: int, ks: Sequence[int]) -> list[int]:
    """k and those next to it on the list, if they are at most a quarter, or one, away."""
    place = ks.index(k)
    return [q for q in ks[max(place - 1, 0) : place + 2] if abs(q - k) <= max(1, k / 4)]


def _consensus(pool: Pool, members: np.ndarray, k: int, ks: Sequence[int]) -> Labels | None:
    """Average linkage of the co-association of the members with about k clusters; None where it has one cluster.

    The clusters are those of `EvidenceAccumulation`, but for ties, without their certainty.
    """
    asked = np.array([c.n_clusters for c in pool.candidates])
    chosen = pool.labels[members & np.isin(asked, numbers_beside(k, ks))]
    if len(chosen) < 2:
        return None
    ensemble = Ensemble._made(np.ascontiguousarray(chosen.T))
    rows = Rows.of(ensemble, np.ones(len(chosen)), None)[1]
    if k > len(rows):
        return None
    C = row_similarity(rows.codes[:], rows.counts, rows.offsets, rows.weights, n_jobs=1)
    clusters = cut(average_linkage(C), k)
    numbers = numbers_by_size(clusters, rows.counts)
    labels = numbers[clusters][rows.inverse].astype(np.int32)
    return labels if labels.max() > 0 else None
