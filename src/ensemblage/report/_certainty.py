"""Shares of the partitions that join objects of clusters, from label counts: between clusters, and object by object."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage.labels.counts import count_labels
from ensemblage.labels.ensemble import Ensemble
from ensemblage.metrics import verdicts
from ensemblage.metrics._certainty import VERDICTS, certainty_of
from ensemblage.metrics._density import labelled_members

_LEAST_CERTAIN = 50


def between_cluster_share(ensemble: Ensemble, labels: NDArray[Any], weights: NDArray[np.float64]) -> float | None:
    """Pairs of objects of different clusters: Σ w joined / Σ w labelled, over the partitions."""
    objects = np.ones(len(ensemble), dtype=np.int64)
    profile = count_labels(ensemble.rows, labels, objects, ensemble.offsets, int(labels.max(initial=-1)) + 1)
    counts = profile.astype(np.float64)
    counts[:, ensemble.offsets[1:] - 1] = 0  # missing entries join with nobody
    joined = np.add.reduceat(counts.sum(axis=0) ** 2 - (counts**2).sum(axis=0), ensemble.offsets[:-1])
    members = labelled_members(profile, ensemble.offsets).astype(np.float64)
    pairs = members.sum(axis=0) ** 2 - (members**2).sum(axis=0)
    total = (weights * pairs).sum()
    return float((weights * joined).sum() / total) if total > 0 else None


class ObjectCertainty(NamedTuple):
    """Where the objects are, and how sure."""

    labels: NDArray[np.int64]
    confidence: NDArray[np.float64]
    runner_up: NDArray[np.int32]
    cohesion: NDArray[np.float64]

    @classmethod
    def of(
        cls, ensemble: Ensemble, consensus: Any, labels: NDArray[Any], weights: NDArray[np.float64]
    ) -> "ObjectCertainty":
        """As the consensus knows it; what it does not know is counted."""
        names = ("confidence_", "runner_up_", "cohesion_")
        if all(hasattr(consensus, name) for name in names):
            return cls(labels, *(getattr(consensus, name) for name in names))
        found = certainty_of(ensemble, labels, weights)
        confidence = getattr(consensus, "confidence_", found.confidence)
        return cls(labels, np.asarray(confidence, dtype=np.float64), found.runner_up, found.cohesion)

    def verdict_counts(self) -> list[dict[str, int]]:
        """Core, border and undecided objects of each cluster."""
        words = verdicts(self.confidence)
        n_clusters = int(self.labels.max(initial=-1)) + 1
        of_words = {
            w: np.bincount(self.labels[(words == w) & (self.labels >= 0)], minlength=n_clusters) for w in VERDICTS
        }
        return [{word: int(counts[c]) for word, counts in of_words.items()} for c in range(n_clusters)]

    def least_certain(self, names: Sequence[Any]) -> list[dict[str, Any]]:
        """The objects of the lowest confidence, and where else they could belong."""
        candidates = np.flatnonzero((self.labels >= 0) & ~np.isnan(self.confidence))
        if len(candidates) > _LEAST_CERTAIN:
            limit = np.partition(self.confidence[candidates], _LEAST_CERTAIN - 1)[_LEAST_CERTAIN - 1]
            candidates = candidates[self.confidence[candidates] <= limit]
        objects = candidates[np.lexsort((candidates, self.confidence[candidates]))][:_LEAST_CERTAIN]
        words = verdicts(self.confidence[objects])
        return [
            {
                "id": str(names[i]),
                "cluster": int(self.labels[i]),
                "confidence": float(self.confidence[i]),
                "verdict": str(word),
                "runner_up": int(self.runner_up[i]) if self.runner_up[i] >= 0 else None,
            }
            for i, word in zip(objects.tolist(), words.tolist(), strict=True)
        ]
