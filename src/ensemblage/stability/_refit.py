"""A clusterer fitted again: which there are, how its seeds and its k are set, and what is said where it fails."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.parameters import Estimator
from ensemblage.generation._clusterers import check_labels, prepare_clusterer


@dataclass(frozen=True)
class Clusterer(Estimator):
    """An object with ``fit_predict``; a scikit-learn estimator or not."""

    def fits(self, value: Any) -> bool:
        return not isinstance(value, type) and callable(getattr(value, self.method, None))


CLUSTERER = Clusterer("a clusterer (an object with fit_predict)", "fit_predict", "Give KMeans(3, n_init=10), say.")


def fresh(estimator: Any, seed: int, **parameters: Any) -> Any:
    """A copy that nothing was fitted with, with these parameters and every ``random_state`` of it set."""
    if not hasattr(estimator, "get_params"):
        return deepcopy(estimator)
    copy = prepare_clusterer(estimator, None, seed)
    return copy.set_params(**parameters) if parameters else copy


def labels_of(estimator: Any, X: Any, n: int) -> NDArray[np.int32]:
    """(n,) what it makes of X; whole numbers, negative ones are noise."""
    return check_labels(estimator.fit_predict(X), n)
