"""Where new objects belong, as a record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage.metrics import verdicts

BY_RULE, BY_ASSOCIATION = "predict", "association"


@dataclass(frozen=True, eq=False)
class Assignment:
    """The clusters of new objects with their confidence; `assign` returns it."""

    labels: NDArray[np.int32]
    """(n,) cluster of each object; -1 where no partition labels it."""
    confidence: NDArray[np.float64]
    """(n,) for / (for + against), as in `metrics.certainty`, of one more object beside those that were fitted; NaN in
    no cluster."""
    runner_up: NDArray[np.int32]
    """(n,) the other cluster with the most support of the partitions, -1 if there is none."""
    by: str
    """Who decided: "predict", the method's own rule for new objects, or, of a method without one, "association": the
    cluster whose objects the partitions join the new one with most often."""

    @property
    def verdict(self) -> NDArray[Any]:
        """Word for each object: `metrics.verdicts` of the confidence."""
        return verdicts(self.confidence)
