"""The number of clusters at which several algorithms agree most with their consensus."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score

from ensemblage.consensus.hierarchies._eac import EvidenceAccumulation
from ensemblage.generation import DiversePartitions
from ensemblage.generation._candidates import NUMBERS
from ensemblage.labels.ensemble import Ensemble

EVERY = 10
"""Up to which that is every number."""
MOST_BETWEEN = 24
"""Numbers that are looked at between two of the list."""


def numbers_up_to_root(n: int) -> list[int]:
    """Those of `NUMBERS` that n objects are asked for."""
    return [k for k in NUMBERS if k * k <= max(n, 4)]


def agreement_by_number(
    X: NDArray[np.float64],
    ks: Sequence[int],
    seed: int,
    n_jobs: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> dict[int, float]:
    """For every number of clusters the mean adjusted Rand index of the consensus with the members that have it.

    The members are those of the default with that number and the numbers next to it among ``ks``, ascending; their
    consensus is average linkage. Numbers that no algorithm makes, or more than there are label rows, are left out.
    """
    generator = DiversePartitions(ks, n_jobs=n_jobs, random_state=seed, progress=progress)
    ensemble = Ensemble._made(generator.fit_transform(X))
    numbers, found = generator.n_clusters_, dict[int, float]()
    for i, k in enumerate(ks):
        near = ensemble.select(np.flatnonzero(np.isin(numbers, ks[max(i - 1, 0) : i + 2])))
        own = np.flatnonzero(numbers == k)
        if len(own) and k <= len(near.distinct.codes):
            labels = EvidenceAccumulation(k, n_jobs=n_jobs).fit(near).labels_
            members = np.asarray(ensemble.select(own))
            found[k] = float(np.mean([adjusted_rand_score(labels, member) for member in members.T]))
    return found


def most_agreed(agreement: Mapping[int, float]) -> int:
    """The number with the largest agreement, the larger one on ties."""
    return max(agreement, key=lambda k: (agreement[k], k))


def numbers_around(best: int, ks: Sequence[int]) -> list[int]:
    """``ks``, and all numbers between the neighbours of the best there; of many every other one, or fewer."""
    place = ks.index(best)
    low, high = ks[max(place - 1, 0)], ks[min(place + 1, len(ks) - 1)]
    return sorted({*ks, *range(low, high + 1, 1 + (high - low) // MOST_BETWEEN)})


def agreement_up_to_root(
    X: NDArray[np.float64], n: int, seed: int, n_jobs: int | None, progress: Callable[[int, int], None] | None
) -> dict[int, float]:
    """Of numbers up to √n, n the objects of which X is a sample; of every one around the best."""
    ks = numbers_up_to_root(n)
    found = agreement_by_number(X, ks, seed, n_jobs, progress)
    if found and most_agreed(found) > EVERY:
        found = agreement_by_number(X, numbers_around(most_agreed(found), ks), seed, n_jobs)
    return found
