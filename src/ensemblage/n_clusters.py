"""How many clusters: the number of clusters of a table, the resolution of a graph."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal, overload

from numpy.typing import ArrayLike

from ensemblage.base.text import backend_of
from ensemblage.base.validation import check_choice, format_value
from ensemblage.choices._choice_records import KChoice
from ensemblage.choices._choose_k import N_SAMPLE, N_SPLITS, by_criteria, prepare_features
from ensemblage.choices._choose_resolution import choose_resolution
from ensemblage.choices._monti_choice import (
    FRACTION,
    MONTI_RANGE,
    MONTI_REFERENCES,
    REFERENCE_DATA,
    MontiChoice,
    choose_k_monti,
)

__all__ = ["choose_k", "choose_resolution"]


@overload
def choose_k(
    X: ArrayLike | Any,
    k_range: Iterable[int] | None = None,
    *,
    method: Literal["criteria"] = "criteria",
    standardize: bool | Literal["auto"] = "auto",
    impute: str | None = None,
    n_references: int | None = None,
    n_splits: int = N_SPLITS,
    n_partitions: int = 50,
    sample_size: int = N_SAMPLE,
    n_jobs: int | None = None,
    random_state: Any = None,
    progress: Callable[[int, int], None] | None = None,
) -> KChoice: ...
@overload
def choose_k(
    X: ArrayLike | Any,
    k_range: Iterable[int] | None = None,
    *,
    method: Literal["monti"],
    standardize: bool | Literal["auto"] = "auto",
    impute: str | None = None,
    n_references: int | None = None,
    n_partitions: int = 50,
    fraction: float = FRACTION,
    estimator: Any = None,
    reference_data: str = REFERENCE_DATA,
    n_jobs: int | None = None,
    random_state: Any = None,
    progress: Callable[[int, int], None] | None = None,
) -> MontiChoice: ...
def choose_k(
    X: ArrayLike | Any,
    k_range: Iterable[int] | None = None,
    *,
    method: Literal["criteria", "monti"] = "criteria",
    standardize: bool | Literal["auto"] = "auto",
    impute: str | None = None,
    n_references: int | None = None,
    n_splits: int = N_SPLITS,
    n_partitions: int = 50,
    sample_size: int = N_SAMPLE,
    fraction: float = FRACTION,
    estimator: Any = None,
    reference_data: str = REFERENCE_DATA,
    n_jobs: int | None = None,
    random_state: Any = None,
    progress: Callable[[int, int], None] | None = None,
) -> KChoice | MontiChoice:
    """Use it if k is unknown: whether there is any structure, and the numbers that five criteria suggest.

    Where they disagree, several algorithms are asked whether there are more than ten. With ``method="monti"`` Monti's
    consensus clustering, and M3C, as published: which numbers of clusters are stable in subsamples.

    Parameters
    ----------
    X : array-like, data frame, Table or AnnData of shape (n_samples, n_features)
        What is to be clustered: its columns become features as in ``ConsensusClustering(n_clusters).fit(X)``.
    k_range : iterable of int, optional
        Numbers of clusters to choose from. Default: 2 to 10, or to √n where that is less; where the criteria disagree,
        to √n. Of "monti" 2 to 10.
    method : {"criteria", "monti"}, default "criteria"
        "criteria": five criteria and a test of structure. "monti": the consensus of subsamples, number by number.
    standardize : bool or "auto", default "auto"
        Bring numbers to mean 0 and standard deviation 1; "auto": unless all standard deviations are within a factor of
        20, as `Preprocessor` says. False: of what a preprocessor of yours has made.
    impute : {"median", "mean", "most-frequent", "knn"}, optional
        What a missing number becomes, as `Preprocessor` says. Without it, the few of a table (at most 5 % of each
        column) become medians; more, and those of an array, are refused.
    n_references : int, optional
        Data without clusters that the data are compared with: 99 single clouds, fewer where these show as much as the
        data; of "monti" 20, and 0 leaves the comparison out. The p-value is at least 1 / (n_references + 1).
    n_splits : int, default 10
        Halvings for the prediction strength. Of "criteria" alone.
    n_partitions : int, default 50
        Partitions whose cumulative voting has lifetimes; of "monti" subsamples per number of clusters.
    sample_size : int, default 1,000
        Of more objects so many are looked at, drawn without replacement; for the agreement twice as many. Of "criteria"
        alone.
    fraction : float, default 0.8
        Part of the objects in a subsample. This and what follows up to ``reference_data`` of "monti" alone.
    estimator : clusterer, optional
        What clusters the subsamples. Default: k-means, one start.
    reference_data : {"gaussian", "unimodal", "features"}, default "gaussian"
        Data without clusters: principal components drawn from a normal distribution with their standard deviations, as
        M3C does; drawn from the unimodal distribution nearest to theirs, as "criteria" does; or the features, each
        shuffled over the objects, which lose their covariance, so that mere correlation looks like clusters.
    n_jobs : int, optional
        Threads. -1: every core that this process may use; -2: all but one. None: what a ``joblib.parallel_config``
        says; without one every core, or 1 inside a parallel loop of joblib or scikit-learn. The result does not depend
        on it.
    random_state : int, RandomState, Generator or None
        Seed of everything random.
    progress : callable, optional
        Called as ``progress(done, total)`` after every step, by the calling thread. An error that it raises ends the
        work. No result depends on it.

    Returns
    -------
    KChoice
        ``structure``, ``best``, ``votes``, ``agreement``, ``evidence``, ``table``, ``sentence``; ``to_frame()``,
        ``plot()``.
    MontiChoice
        With "monti": ``best``, ``table`` (one row per k) and ``ensembles`` (one per k).

    Raises
    ------
    ValueError
        If X has fewer than 4 rows or 3 different ones, a k is no whole number from 2 to the number of different rows, a
        parameter is out of its range, or an option of the other method is given.
    TypeError
        If ``k_range`` is no iterable.

    See Also
    --------
    ensemblage.stability.prediction_strength : One of the criteria, for any clusterer.

    Notes
    -----
    **Structure.** The data are compared with single clouds of the same shape: every principal component is made
    unimodal (the nearest density that falls on either side of its mode), so covariance, skewness and tails stay and
    humps go. What is compared: ln W_1 / W_k of k-means for every k, and how long dense components live in single
    linkage of mutual reachability before they merge. Every statistic is standardised by the other data sets, and the
    largest counts: one p-value, whatever the number of k. Where it is small, clouds with unimodal features must agree.
    Above .05 no clear structure was found. After 19 clouds, and every 5 more, the test ends if so many show as much as
    the data that it cannot be (Besag & Clifford 1991): of 99, 5. The gap, the components and the table then have fewer
    clouds, too.

    **Criteria**: prediction strength (the largest k with a strength above .8, its standard error added); the longest
    lifetime in cumulative voting; the gap statistic with those clouds (the smallest k that is not worse than the next
    two by more than an error); 1 + the components that live longer than those of the clouds; k-means' silhouette. A
    number that three of them name is ``best``. How often they were right, by how many agree: docs/CONFIDENCE.md.

    Of fewer votes the number with most is ``best``; of equally many, the one named by the criterion that is first in
    the list.

    **More than ten.** Many small clusters are none of the five's strengths, and 2 to 10 is where they look. So where
    there is structure, fewer than three of them agree and no range is given, mixtures, spectral cuts and Genie
    (`DiversePartitions`) make 2 to √n clusters, at most 56; the agreement of a number is the adjusted Rand index of
    their consensus with those that have it, on average. Where it is largest above 10 that number is ``best``. Nobody is
    asked where most objects are copies of others. docs/DEFAULT.md has the rules that were tried.

    **Monti's consensus clustering.** For every k, subsamples of the objects are clustered, and each pair of objects is
    together in some share of the partitions that saw both. Stable clusters make shares near 0 and 1. ``delta_area``:
    the growth ends after the true k; its largest value means nothing. ``pac``: falls with k even without clusters, and
    is small where true clusters merge in the same way every time, so its least value alone picks a k that is too large
    or too small. ``rcsi`` and the p-values compare it with data without clusters: a large p-value everywhere means that
    one cluster is as good a description. Clusters of clusters make several k stable; ``best`` is then the finest.

    Time of "monti": (1 + n_references) · n_partitions runs of the estimator per k, and O(m² p) per ensemble of m
    distinct label rows. Memory O(n p) per k.

    Time of "criteria": O(n² d) per reference for n objects of the sample. Of 1,000 × 10 numbers one core takes 3 s, 1 s
    where no structure is found, of 958 × 800 14 and 4 s, and no more of larger tables; asking the algorithms adds some
    seconds. Memory: 16 n² bytes, and 8 n² for each job from 40 features on, up to 4,096 objects.

    References
    ----------
    R. Tibshirani, G. Walther and T. Hastie, "Estimating the number of clusters in a data set via the gap statistic",
    Journal of the Royal Statistical Society B 63, 2001.
    R. Tibshirani and G. Walther, "Cluster validation by prediction strength", Journal of Computational and Graphical
    Statistics 14, 2005.
    J. Besag and P. Clifford, "Sequential Monte Carlo p-values", Biometrika 78, 1991.
    H. G. Ayad and M. S. Kamel, "On voting-based consensus of cluster ensembles", Pattern Recognition 43, 2010.
    S. Monti et al., "Consensus clustering", Machine Learning 52, 2003.
    C. R. John et al., "M3C: Monte Carlo reference-based consensus clustering", Scientific Reports 10, 2020.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from ensemblage import choose_k
    >>> X, _ = make_blobs(120, centers=[(0, 0), (0, 9), (9, 0)], random_state=0)
    >>> choice = choose_k(X, range(2, 6), n_references=39, random_state=0)
    >>> choice.best, choice.evidence
    (3, 'clear')
    >>> choice.sentence
    '3 clusters: all five criteria agree.'
    >>> choose_k(X, range(2, 6), method="monti", n_partitions=20, n_references=5, random_state=0).best
    3
    """
    check_choice(method, "method of choose_k", ["criteria", "monti"])
    of_criteria = {"n_splits": (n_splits, N_SPLITS), "sample_size": (sample_size, N_SAMPLE)}
    of_monti = {
        "fraction": (fraction, FRACTION),
        "estimator": (estimator, None),
        "reference_data": (reference_data, REFERENCE_DATA),
    }
    for option, (value, default) in (of_monti if method == "criteria" else of_criteria).items():
        if value is not default and value != default:
            raise ValueError(
                f"{option} of choose_k must be left out for method={method!r}. Got {format_value(value)}. It is of "
                f"the other method."
            )
    features = prepare_features(X, standardize, impute)
    if method == "monti":
        return choose_k_monti(
            features,
            MONTI_RANGE if k_range is None else k_range,
            n_references=MONTI_REFERENCES if n_references is None else n_references,
            n_partitions=n_partitions,
            fraction=fraction,
            estimator=estimator,
            reference_data=reference_data,
            n_jobs=n_jobs,
            random_state=random_state,
            progress=progress,
        )
    return by_criteria(
        features,
        k_range,
        n_references=n_references,
        n_splits=n_splits,
        n_partitions=n_partitions,
        sample_size=sample_size,
        n_jobs=n_jobs,
        random_state=random_state,
        progress=progress,
        backend=backend_of(X),
    )
