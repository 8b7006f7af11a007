"""The candidate partitions as a generator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, field
from itertools import product
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensemblage.base.random import seed_of
from ensemblage.base.validation import (
    Constraints,
    Function,
    Jobs,
    Seed,
    Several,
    Values,
    Whole,
    Words,
    check_parameters,
)
from ensemblage.generation._base import LabelTransformer, label_matrix
from ensemblage.generation._candidates import (
    FAMILIES,
    Labels,
    Pool,
    PoolCache,
    candidate_pool,
    numbers_of_clusters,
    pairs_of,
)
from ensemblage.generation._clusterers import nearest_rows
from ensemblage.generation._dense_rows import dense_rows
from ensemblage.generation._diverse import numbers_asked
from ensemblage.generation._views import VIEWS, Scales

PAIR_NAMED = {f"{view} {family}": (view, family) for view, family in product(VIEWS, FAMILIES)}


@dataclass(eq=False, repr=False)
class ScaledPartitions(LabelTransformer):
    """Use it if the right scale of the features is unknown: several algorithms, each in several scales.

    No algorithm and no scale is right for all data. Each pair of a view of the features and a family of algorithms
    makes a partition for each number of clusters; `ConsensusClustering` gives the partitions weights.

    Parameters
    ----------
    n_clusters : int or sequence of int, optional
        Number of clusters, or several: each algorithm is run with each; 1 counts as 2. None: 2 to 10, 12, 14, 17, 20,
        24, 28, 33, 39, 47, 56, up to √n_samples.
    algorithms : sequence of str, optional
        A view and a family each, as in "own kmeans". None: the 12 pairs for at most 50 features, or the 11 for more (12
        of more than 500 objects), that `ConsensusClustering` weighs.
    units : array-like of shape (n_features,), optional
        What each column of X was divided by: the view "given" multiplies by it. None: there is no such view.
    sample_size : int, optional
        Objects that are drawn of more. The fifth of them whose places are sparsest beside those of their neighbours is
        left out, the others are clustered, and every object gets the labels of the nearest of these. None: all objects
        are clustered.
    n_jobs : int, optional
        Threads. The result does not depend on it.
    random_state : int, RandomState, Generator or None, default=None
        Draws the objects of ``sample_size``; nothing else is random.
    progress : callable or None, default=None
        Called as ``progress(done, total)`` after every base partition, by the thread that called ``fit``. An error
        that it raises ends the work. No result depends on it.

    Attributes
    ----------
    n_clusters_ : ndarray of shape (n_partitions,)
        Number of clusters that each partition was asked for.
    algorithms_ : list of str
        View and family of each partition.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X has any.

    See Also
    --------
    DiversePartitions : Mixtures, spectral clustering and Genie, in one scale.

    Notes
    -----
    Views: "own", the features as they are given; "deviation", columns of more than two values have deviation 1;
    "robust", their long tails are drawn in by arsinh((x − median) / half the distance of the quartiles); "rows", the
    centred rows have deviation 1; "logarithm", sign(x) log(1 + abs(x)) of standardised columns; "given", the columns
    times ``units``, as "rows" takes them, too. A view that is another one again is left out.

    Families: "ward" cuts the hierarchy of Ward's method; "kmeans" and mixtures start from this cut. "full" is a mixture
    with full covariances, "prior" one with the prior of mclust [1]_, "latent" a mixture whose columns are independent
    in each cluster, Bernoulli where they have two values and else normal; "factor" is "prior" on the principal
    components above noise, two to eight. "spectral10" and "spectral5" cut the graph of 10 and of 5 nearest neighbours,
    "genie3" is `Genie` with threshold .3, "lumbermark" cuts long edges of a spanning tree that leave no small part
    [2]_.

    O(n² m) time for n objects of m features, O(n k m²) for each step of a mixture of k clusters; O(n m) memory, and
    25 MB for Ward's distances. ``transform`` gives a row the label of its nearest training row in the view of the pair.

    With ``sample_size`` a place is as sparse as the distance to the 15th nearest of all objects says, over the median
    of it for the 15 nearest drawn ones. Of each of the cells that k-means makes of the drawn objects, 100 each on
    average, 20 stay at least: a sparse cluster is not left out as a whole (docs/SCALE.md). Time is then that of so many
    objects and of two searches for the nearest. ``transform`` gives a row the labels of the nearest object that was
    clustered, in X as it is given.

    References
    ----------
    .. [1] C. Fraley and A. E. Raftery, "Bayesian regularization for normal mixture estimation and model-based
       clustering", Journal of Classification 24, 2007.
    .. [2] M. Gagolewski, "Lumbermark: resistant clustering via chopping up mutual reachability minimum spanning trees",
       2026.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ensemblage.generation import ScaledPartitions
    >>> generator = ScaledPartitions(3)
    >>> generator.fit_transform(load_iris().data).shape
    (150, 10)
    >>> list(generator.get_feature_names_out()[:3])
    ['own_kmeans_k3', 'own_full_k3', 'own_latent_k3']
    """

    _parameter_constraints: ClassVar[Constraints] = {
        "n_clusters": [Whole(1), Several(Whole(2)), None],
        "algorithms": [Several(Words(PAIR_NAMED, called="a view and a family, as in 'own kmeans'")), None],
        "units": [Values("an array of one number per feature"), None],
        "sample_size": [Whole(2), None],
        "n_jobs": [Jobs()],
        "random_state": [Seed()],
        "progress": [Function(), None],
    }

    n_clusters: int | Sequence[int] | None = None
    _: KW_ONLY
    algorithms: Sequence[str] | None = None
    units: ArrayLike | None = None
    sample_size: int | None = None
    n_jobs: int | None = None
    random_state: Any = None
    progress: Callable[[int, int], None] | None = None

    n_clusters_: NDArray[np.int64] = field(init=False)
    algorithms_: list[str] = field(init=False)
    _is_of_sample = False  # files of earlier versions do not say it

    def _validate(self, X: Any, reset: bool, **options: Any) -> Any:
        return super()._validate(X, reset, dtype=np.float64, **options)

    def _generate(self, X: Any) -> Labels:
        check_parameters(self)
        everything, seed = self._validate(X, reset=True), seed_of(self.random_state)
        made = vars(self).pop("_made", PoolCache())
        if made.rows is None:
            _, kept = dense_rows(everything, self.sample_size or len(everything), seed, self.n_jobs)
        else:
            kept = everything[made.rows]
        self._cluster_sample(kept, len(kept) < len(everything), made.pool)
        return self._labels_of_nearest(everything) if self._is_of_sample else self._labels

    def _take_made(self, made: PoolCache | None) -> None:
        """Do not make again in the next ``fit`` what was made of the same features, with the same units."""
        if made is not None:
            self._made = made

    def _fit_kept(self, X: Any) -> None:
        """Make the partitions of what is kept of objects that were drawn; ``transform`` labels the others."""
        check_parameters(self)
        vars(self).pop("_made", None)
        self._cluster_sample(self._validate(X, reset=True), True)

    def _cluster_sample(self, X: NDArray[np.float64], is_of_sample: bool, made: Pool | None = None) -> None:
        """Make the partitions of the objects that are clustered, which may be some of all."""
        n, m = X.shape
        least = 4 if self.n_clusters is None else max(int(np.min(self.n_clusters)), 2)  # up to √n are made
        if is_of_sample and n < least:
            raise ValueError(
                f"sample_size of {type(self).__name__} must leave at least as many objects as clusters, and 4. Got "
                f"{n:,}, and n_clusters={self.n_clusters}. Draw more objects, or ask for fewer clusters."
            )
        ks = numbers_asked(self.n_clusters, n, numbers_of_clusters(n))
        names = self.algorithms
        pairs = pairs_of(n, m) if names is None else tuple(PAIR_NAMED[name] for name in dict.fromkeys(names))
        how = self.n_jobs, self.progress, self._checked_units(m)
        pool = candidate_pool(X, ks, pairs, *how, made, is_of_sample=is_of_sample)
        if not len(pool.labels):
            raise ValueError(
                f"X of {type(self).__name__} must have different rows. No partition of two clusters could be made. "
                f"Give other features."
            )
        self._candidates, self._labels = pool.candidates, label_matrix(list(pool.labels))
        self._scales = {name: space.scales for name, space in pool.spaces.items()}
        self._fit_X = X
        self.n_clusters_ = np.array([c.n_clusters for c in pool.candidates])
        self.algorithms_ = [f"{c.view} {c.family}" for c in pool.candidates]
        self._is_of_sample = is_of_sample

    def _labels_of_nearest(self, X: NDArray[np.float64]) -> Labels:
        """(n, p) those of the nearest object that was clustered."""
        nearest = nearest_rows(self._fit_X, X, self.n_jobs)
        return label_matrix([labels[nearest] for labels in self._labels.T])

    def _checked_units(self, m: int) -> NDArray[np.float64] | None:
        if self.units is None:
            return None
        units = np.asarray(self.units, dtype=np.float64)
        if units.shape != (m,) or not (units > 0).all():
            raise ValueError(
                f"units of {type(self).__name__} must be {m} numbers above 0, one per feature. Got an array of shape "
                f"{units.shape}. Give the number that each column was divided by."
            )
        return units

    def _matrix(self, made: Labels) -> Labels:
        return made.copy(order="F")

    def _transform(self, X: Any) -> Labels:
        if self._is_of_sample:
            return self._labels_of_nearest(X)
        scales: dict[str, Scales] = self._scales
        nearest = {
            name: nearest_rows(of.transform(self._fit_X), of.transform(X), self.n_jobs) for name, of in scales.items()
        }
        return label_matrix([self._labels[nearest[c.view], i] for i, c in enumerate(self._candidates)])

    def _names(self) -> list[str]:
        return [f"{c.view}_{c.family}_k{c.n_clusters}" for c in self._candidates]
