"""ECC (Liu et al. 2017): entropy-based consensus clustering, `KMeansConsensus` with the utility U_H."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from ensemblage.consensus.kmeans._km import CategoryUtility


@dataclass(frozen=True)
class EntropyUtility(CategoryUtility):
    """U_H: Kullback-Leibler divergence in bits; KCC with it is ECC. The loss is the conditional entropy of the labels.

    ``smoothing`` is added to the proportions in the distance, so that a label that a cluster has not seen costs
    −log2(smoothing) bits instead of ∞. It is not in the loss, which only has labels that were seen.
    """

    smoothing: float = float(np.finfo(np.float64).eps)

    bounded: ClassVar[bool] = False
    peak: ClassVar[float] = 0.0

    def _label_distances(self, proportions: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(-np.log2(proportions + self.smoothing))

    def _within(self, known: NDArray[np.int64], labelled: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.asarray((xlogy(labelled, labelled) - self._sums(xlogy(known, known))) / np.log(2))
