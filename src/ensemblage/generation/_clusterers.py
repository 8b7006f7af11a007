"""What a generator does to a base clusterer, whichever it is: name it, give it k and seeds, fit it, ask it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.neighbors import NearestNeighbors
from sklearn.pipeline import Pipeline

from ensemblage.base.random import task_seeds
from ensemblage.base.validation import Estimator
from ensemblage.generation._nearest import are_for_cells, clearly_nearest
from ensemblage.labels.threads import thread_count

Labels = NDArray[np.int32]


CLUSTERER = Estimator(
    "a scikit-learn clusterer (an object with fit_predict)", "fit_predict", "Give for example KMeans(n_init=1)."
)


def class_name(estimator: Any) -> str:
    """Class of the clusterer in lower case; of a pipeline, its last step's."""
    while isinstance(estimator, Pipeline):
        _, estimator = estimator.steps[-1]
    return type(estimator).__name__.lower()


def k_parameter(estimator: Any) -> str | None:
    """Name of the parameter that holds the number of clusters, ``pipeline_step__n_clusters`` included, or None."""
    prefix = ""
    while isinstance(estimator, Pipeline):
        step, estimator = estimator.steps[-1]
        prefix += f"{step}__"
    found = [name for name in estimator.get_params() if _last_part(name) in ("n_clusters", "n_components")]
    # SpectralClustering has both; of a wrapped clusterer's and an outer one, the outer one counts.
    found.sort(key=lambda name: (_last_part(name) == "n_components", name.count("__"), name))
    return prefix + found[0] if found else None


def prepare_clusterer(estimator: Any, n_clusters: int | None, seed: int) -> Any:
    """A clone with its number of clusters (None: as it is) and every ``random_state`` of it set."""
    estimator = clone(estimator)
    if n_clusters is not None:
        estimator.set_params(**{str(k_parameter(estimator)): n_clusters})
    names = sorted(name for name in estimator.get_params() if _last_part(name) == "random_state")
    seeds = task_seeds(seed, len(names)).tolist()
    return estimator.set_params(**dict(zip(names, seeds, strict=True)))


def check_labels(labels: Any, n_rows: int) -> Labels:
    """The labels as int32, if they are one whole number per row."""
    labels = np.asarray(labels)
    if labels.shape != (n_rows,) or labels.dtype.kind not in "iu":
        raise ValueError(
            f"a clusterer must give one whole number for each of the {n_rows} rows. "
            f"Got {labels.dtype} of shape {labels.shape}."
        )
    whole: Labels = labels.astype(np.int32, copy=False)
    return whole


def nearest_rows(training: Any, X: Any, n_jobs: int | None = 1) -> NDArray[np.intp]:
    """Index of the training row that is nearest (Euclidean) to each row of X: scikit-learn's."""
    if are_for_cells(training, X) and (found := clearly_nearest(training, X, n_jobs)) is not None:
        return found
    neighbours = NearestNeighbors(n_neighbors=1, n_jobs=thread_count(n_jobs)).fit(training)
    index: NDArray[np.intp] = neighbours.kneighbors(X, return_distance=False)[:, 0]
    return index


def _last_part(name: str) -> str:
    return name.rpartition("__")[2]
