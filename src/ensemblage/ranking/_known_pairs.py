"""Must-link and cannot-link constraints: how many of them each clustering violates (Ohl & Lindsten, Eq. 5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage.labels.ensemble import Ensemble
from ensemblage.labels.links import check_pairs
from ensemblage.metrics._agreement import sums_of_profile


@dataclass(frozen=True)
class KnownPairs:
    """What is known about pairs of objects."""

    must_link: NDArray[np.int64]
    """(a, 2) pairs of objects that belong together."""
    cannot_link: NDArray[np.int64]
    """(b, 2) pairs that do not."""
    known: Ensemble | None
    """Classes of some objects, as an ensemble of one: every pair of these objects is a constraint."""

    @classmethod
    def of(cls, n_objects: int, must_link: Any = None, cannot_link: Any = None, known_labels: Any = None) -> KnownPairs:
        """Check what the caller knows about ``n_objects`` objects."""
        return cls(
            check_pairs(must_link, "must_link", n_objects),
            check_pairs(cannot_link, "cannot_link", n_objects),
            None if known_labels is None else _check_classes(known_labels, n_objects),
        )

    def violations(self, ensemble: Ensemble) -> NDArray[np.float64]:
        """(p,) share of the constraints that each partition violates, of those on pairs of objects that it labels.

        0 where it labels none of the pairs. O(p · constraints) time; constraints by classes O(n p) however many pairs
        they imply.
        """
        violated, stated = np.zeros((2, ensemble.shape[1]))
        for pairs, wrong in ((self.must_link, False), (self.cannot_link, True)):
            if len(pairs):
                left, right = ensemble.codes[pairs[:, 0]], ensemble.codes[pairs[:, 1]]
                labelled = (left != ensemble.n_clusters) & (right != ensemble.n_clusters)
                violated += np.count_nonzero(labelled & ((left == right) == wrong), axis=0)
                stated += np.count_nonzero(labelled, axis=0)
        if self.known is not None:
            wrong_pairs, all_pairs = _class_violations(ensemble, self.known)
            violated, stated = violated + wrong_pairs, stated + all_pairs
        return violated / np.maximum(stated, 1)


def _class_violations(ensemble: Ensemble, known: Ensemble) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Per partition: pairs of known objects that it joins across classes or separates within one; and all pairs."""
    classes, k = known.codes[:, 0].astype(np.int32), int(known.n_clusters[0])
    counts, squares = np.ones(len(classes), dtype=np.int64), np.empty(0, dtype=np.int64)
    classes[classes == k] = -1
    profile = ensemble.rows.profile(classes, counts, ensemble.offsets, k)
    both, same_class, same_cluster, n = sums_of_profile(profile, ensemble.offsets, squares)
    return (same_class + same_cluster - 2 * both) // 2, n * (n - 1) // 2


def _check_classes(known_labels: Any, n_objects: int) -> Ensemble:
    known = Ensemble.from_partitions([known_labels], names=["known_labels"])
    if len(known) != n_objects:
        raise ValueError(
            f"known_labels must have one entry for each of the {n_objects} objects. Got {len(known)}. "
            "Mark objects whose class is not known as -1."
        )
    return known
