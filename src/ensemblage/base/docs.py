"""Parts of docstrings that many functions share, written once: a line ``{name}`` in a docstring stands for one."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable
from textwrap import indent
from typing import Any

PLACE = re.compile(r"^( *)\{(\w+)\}$", re.MULTILINE)


def fill_docstrings(public: Iterable[Any]) -> None:
    """Put the parts into the docstrings of functions and classes, those of their methods and base classes too.

    Each public package does so with all that it exports: `help`, doctest and numpydoc see whole texts.
    """
    for documented in public:
        _fill(documented)
        for base in documented.__mro__ if inspect.isclass(documented) else ():
            if base.__module__.startswith("ensemblage."):
                _fill(base)
                for member in vars(base).values():
                    _fill(member)
                    _fill(getattr(member, "__wrapped__", None))  # of a class method or another descriptor


def _fill(documented: Any) -> None:
    if (inspect.isclass(documented) or inspect.isfunction(documented)) and documented.__doc__:
        documented.__doc__ = PLACE.sub(lambda place: indent(PARTS[place[2]], place[1]), documented.__doc__)


_LABELS = """\
labels : array-like, data frame or Ensemble of shape (n_objects, n_partitions)
    The ensemble. -1 and NaN mean missing."""
_COMPARED = f"""\
{_LABELS}
clustering : array-like of shape (n_objects,)
    Cluster of each object. Objects with -1 or NaN are in no cluster and left out."""
_WEIGHTS = """\
weights : array-like of shape (n_partitions,), optional
    Weights of the partitions, ≥ 0. Default: equal."""
_CONFIDENCE = """\
confidence_ : ndarray of shape (n_objects,)
    How sure the object's place is: for / (for + against), of the partitions that join it with members of its own
    cluster or of another one but not of both; see `metrics.certainty`. 1: no partition speaks for another cluster; ½:
    torn between two; 1 for all where there is one cluster. No probability of being right.
runner_up_ : ndarray of shape (n_objects,), int32
    The other cluster that the partitions speak for most; -1 if there is none.
cohesion_ : ndarray of shape (n_objects,)
    Mean co-association of the object with the other members of its cluster, from 0 to 1: small where the partitions
    are fine, however sure."""
_LABELS_CONFIDENCE = f"""\
labels_ : ndarray of shape (n_objects,), int32
    Clusters numbered by decreasing size; -1 for an object that no partition labels.
{_CONFIDENCE}"""
_FITTED = """\
y : None
    Ignored.

Returns
-------
self
    The fitted estimator."""
_ROW_CLUSTERS = "``n_clusters`` is missing or exceeds the number of distinct label rows"
_RAISES = """\
Raises
------
ValueError
    If"""
_FEATURES = """\
X : array-like or sparse matrix of shape (n_samples, n_features)
    The features; sparse where the base clusterer takes it."""
_LABEL_MATRIX = """\
X : array-like, data frame or Ensemble of shape (n_objects, n_partitions)
    Labels. -1, NaN and None mean that the partition did not label the object."""
_ESTIMATORS = """\
estimators_ : list of clusterers
    The fitted base clusterers, one per column."""
_FEATURES_IN = """\
n_features_in_ : int
    Number of features seen in ``fit``.
feature_names_in_ : ndarray of shape (n_features_in_,)
    Their names, if X has any."""
_CLUSTERS_ASKED = """\
n_clusters_ : ndarray of shape (n_partitions,)
    Number of clusters each was asked for."""
_ON_ERROR = """\
on_error : {"warn", "raise"}, default="warn"
    What a base clustering that fails does: it is left out with one warning that names it, or it is raised. An
    ensemble is made to be redundant, so one failure does not cost the others by default. All failing raises."""
_JOBLIB_JOBS = """\
n_jobs : int or None, default=None
    Threads, as in scikit-learn: None is 1 unless a ``joblib.parallel_config`` with a backend says otherwise, −1 is
    all cores. It changes the time and nothing else."""
_PROGRESS = """\
progress : callable or None, default=None
    Called as ``progress(done, total)`` after every base clustering, by the thread that called ``fit``. An error that it
    raises ends the work. No result depends on it."""
_LLOYD = """\
max_iter : int, default 100
    Most iterations per start.
tol : float, default 0
    A start ends when no row moves, or when the loss falls by no more than ``tol`` times itself."""
_CLUSTER_WEIGHTS = """\
cluster_weights : {"eci"}, float or list of array-like, optional
    Weight of each cluster: "eci" or a number θ > 0 is that of `metrics.cluster_weights`, with θ = .4 or that number; a
    list has for each partition the numbers, from 0 to 1, of its clusters in the order of their labels. Default: 1."""
_PARTITION_WEIGHTS = """\
weights : array-like of shape (n_partitions,) or "agreement", optional
    Weight of each partition; 0 leaves it out. Default: one each. "agreement": `metrics.agreement_weights`."""
_JOBS = """\
n_jobs : int, optional
    Threads; None and -1 use every core. The result does not depend on it."""
_PARTITIONS_IN = """\
n_features_in_, feature_names_in_
    As in scikit-learn: partitions and their names."""
_ROW_CLUSTERS_RAISE = f"""\
{_RAISES} {_ROW_CLUSTERS}, or a parameter is out of its range."""
_PREDICTED = """\
Returns
-------
ndarray of shape (n_new,), int32
    Cluster of each row; -1 where nothing is labelled."""
_SEED_OF_DRAWS = """\
random_state : int, RandomState or None, default=None
    Seed of the draws."""

PARTS = {
    # A label matrix, a clustering to compare with it, and weights.
    "labels": _LABELS,
    "compared": _COMPARED,
    "weighted_clustering": f"""\
{_COMPARED}
{_WEIGHTS}""",
    "one_table": """\
Notes
-----
O(n p) time, one contingency table at a time.""",
    "mean_weights": """\
weights : array-like of shape (n_partitions,), optional
    Weights of the partitions in the mean, ≥ 0. Default: equal.""",
    "weights": _WEIGHTS,
    "clustering_raises": """\
Raises
------
ValueError
    If the clustering has another number of objects or assigns none, or the weights do not fit.""",
    "names_missing": """\
names : sequence of str, optional
    As in `Ensemble`.
missing : int or None, default -1
    As in `Ensemble`.""",
    # Estimators.
    "X": _LABEL_MATRIX,
    "y": """\
y : None
    Ignored.""",
    "self": """\
Returns
-------
self
    The fitted estimator.""",
    "fit_features": f"""\
Parameters
----------
{_FEATURES}
{_FITTED}""",
    "fit_dense": f"""\
Parameters
----------
X : array-like of shape (n_samples, n_features)
    The features.
{_FITTED}""",
    "n_jobs": _JOBS,
    "predicted": _PREDICTED,
    "predicted_of_features": f"""\
Parameters
----------
X : array-like of shape (n_new, n_features)
    Their features.

{_PREDICTED}""",
    "input_features": """\
input_features : None
    Ignored.""",
    # Consensus.
    "row_clusters": """\
n_clusters : int
    Number of clusters of the consensus, at most the number of distinct label rows.""",
    "lloyd": _LLOYD,
    "starts": f"""\
{_LLOYD}
{_PARTITION_WEIGHTS}
{_JOBS}
random_state : int, RandomState or None
    Seed of the starts.""",
    "best_start": f"""\
n_iter_ : int
    Iterations of the best start.
{_PARTITIONS_IN}

{_ROW_CLUSTERS_RAISE}""",
    "js_alink": """\
linkage : {"average", "aib"}, default "average"
    JS-ALink: average linkage of the divergences between the columns of ``aggregate_``. Or the agglomerative
    information bottleneck, which merges what costs the least I(C; X) and then computes the divergences anew: k0
    times the work.""",
    "metis_bisects": """\
Only for METIS: whether it bisects again and again, or makes all parts at once. The default is what was better
on the real ensembles tried: True for objects as vertices (CSPA, HBGF), False for clusters weighted by their
sizes (MCLA).""",
    "imbalance": """\
imbalance : float, optional
    Share by which a part may exceed the mean. Only for METIS. Default: METIS' own, 0.03 (0.001 if recursive).""",
    "max_bytes": """\
max_bytes : int or str, default 2 GiB
    Most memory that the fit takes at its peak beyond the labels, in bytes or as text such as "4GB"; a fit that
    would take more is refused.""",
    "partition_weights": _PARTITION_WEIGHTS,
    "cluster_weights": _CLUSTER_WEIGHTS,
    "cluster_weights_in": """\
cluster_weights_ : list of ndarray of shape (n_clusters_of_partition,)
    The weights of each partition's clusters, none for a partition of weight 0. Only with ``cluster_weights``.""",
    "trajectories": """\
n_neighbors : int, optional
    How many of a row's largest co-associations count. These K are its elite neighbours, and so are all that tie with
    the last of them. Default: min(20, ⌊√m / 2⌋) for m distinct label rows, at least 2; the paper advises 5 to 20.
n_steps : int, optional
    Steps of a random walk, T. Default: as many.""",
    "trajectories_in": """\
n_neighbors_, n_steps_ : int
    The numbers that were used.""",
    "trajectories_notes": """\
Objects with equal labels are one vertex, the paper's microcluster. Two of them are joined, by their co-association, if
either is an elite neighbour of the other; a random walk goes to a neighbour in proportion to that times its objects.
Two are as similar as the cosine of their trajectories, the distributions after 1, 2, …, T steps, one after the other.
One that shares no label with any other is similar to itself alone. With missing labels the co-association is that of
the partitions that label both. Ties are the rule: of p partitions the co-association has p + 1 values, so that K
neighbours may be thousands.""",
    "labels_confidence": _LABELS_CONFIDENCE,
    "clusters": f"""\
{_LABELS_CONFIDENCE}
n_clusters_ : int""",
    "likeliest": f"""\
labels_ : ndarray of shape (n_objects,), int32
    Cluster of largest membership (on ties the one with the largest cluster of ``aggregate_``), numbered by
    decreasing size; -1 for an object that no partition labels.
{_CONFIDENCE}""",
    "hierarchy_of_votes": """\
linkage_matrix_ : ndarray of shape (k0 - 1, 4)
    SciPy's format, over the columns of ``aggregate_``; heights are Jensen-Shannon divergences in nats (times the
    clusters' share of the objects with "aib").
clusters_of_reference_ : ndarray of shape (k0,)
    Cluster to which each column of ``aggregate_`` went.
lifetimes_ : dict of int to float
    How long each number of clusters lives in that hierarchy; the longest is the number that None takes. Empty where
    no number is a candidate.""",
    "partitions_in": _PARTITIONS_IN,
    "row_clusters_raises": _ROW_CLUSTERS_RAISE,
    "bytes_raise": f"""\
{_RAISES} {_ROW_CLUSTERS}, a parameter is out of its range, or
    the fit would take more than ``max_bytes``.""",
    "voting_raises": f"""\
{_RAISES} ``n_clusters`` exceeds the clusters of every partition, if fewer than 2 partitions vote, or if a parameter is
    out of its range.""",
    "metis_missing": """\
ImportError
    If METIS is asked for and pymetis is not there.""",
    "new_labels": """\
X : array-like, data frame or Ensemble of shape (n_new, n_partitions)
    Columns of a data frame or an Ensemble are found by their names if what was fitted had names too; further ones are
    ignored. A label not seen in ``fit`` counts as missing, with one warning.""",
    "voted_clusters": """\
n_clusters : int, optional
    Number of clusters of the consensus, at most that of the largest partition. None: the number with the longest
    lifetime in the hierarchy of the columns of ``aggregate_``, at least 2 and less than all of them; all of them where
    they are 1 or 2, for nothing is in between.""",
    # Generators.
    "greedy_raises": """\
Raises
------
ValueError
    If X has fewer distinct rows than clusters, or a parameter is out of its range.""",
    "features": _FEATURES,
    "on_error": _ON_ERROR,
    "progress": _PROGRESS,
    "joblib_jobs": _JOBLIB_JOBS,
    "random_k": f"""\
n_partitions : int, default=50
    Number of partitions.
k_min, k_max : int or "sqrt", default=2 and "sqrt"
    The number of clusters of each partition is uniform in [k_min, k_max]. "sqrt" is min(⌊√n_samples⌋, k_cap).
k_cap : int, default=100
    Largest value of "sqrt".
estimator : clusterer or None, default=None
    A scikit-learn clusterer or mixture, or a pipeline that ends in one. Its ``n_clusters`` (of a mixture,
    ``n_components``) and each of its ``random_state`` are set in a clone. None is ``KMeans(n_init=1)``.
{_ON_ERROR}
{_JOBLIB_JOBS}
random_state : int, RandomState or None, default=None
    Seed of the draws and of every base clustering.
{_PROGRESS}""",
    "representatives": """\
n_representatives : int, default=1000
    Points that stand for all objects, P; of fewer objects, each is one.
n_neighbors : int, default=5
    Representatives, K, that each object is joined to.""",
    "fit_on": """\
fit_on : int, "auto" or None, default="auto"
    Rows that each k-means is fitted on, a sample of its own; from its centres, 3 steps on all rows follow. Only for
    scikit-learn's ``KMeans``. None is all rows, scikit-learn's k-means and nothing else. "auto" is 20,000 rows, or 200
    for each cluster of ``k_max`` if that is more, where X has five times as many or more and ``estimator`` is None;
    else all rows.""",
    "fit_on_": """\
fit_on_ : int or None
    Rows that each k-means was fitted on before the steps on all rows; None: all rows, from the start.""",
    "sampled": """\
With ``fit_on``, a k-means of 10⁶ rows takes a tenth of the time or less, and its inertia was .02 % below to .7 % above
that of a fit on all rows (Gaussian mixtures and noise in 20 dimensions, k from 20 to 100). A cluster of few rows that
lies far from all others may be missed by the sample.""",
    "estimators_": _ESTIMATORS,
    "features_in": _FEATURES_IN,
    "asked_clusters": f"""\
{_CLUSTERS_ASKED}
{_FEATURES_IN}""",
    "partition_labels": """\
Returns
-------
ndarray of shape (n_samples, n_partitions), int32
    One column per partition, −1 where a partition gives an object no label.""",
    "partition_names": """\
Returns
-------
ndarray of shape (n_partitions,), object
    The names, in the order of the columns.""",
    # Rankers.
    "ranked": """\
order_ : ndarray of shape (n_partitions,)
    Members, best first; ties by position, those without a score last.
ranks_ : ndarray of shape (n_partitions,)
    Rank of each member, 1 = best; equal scores share the better rank.""",
    "constraints": """\
must_link, cannot_link : array-like of int, shape (n_pairs, 2), optional
    Pairs of objects, by row number, known to belong together or not to. They may contradict each other: then
    every member violates some.
known_labels : array-like of shape (n_objects,), optional
    Classes of the objects as far as they are known, -1 or NaN elsewhere. Every pair of known objects counts as
    a constraint.""",
    # Consensus with pairs.
    "links": """\
must_link, cannot_link : array-like of int, shape (n_pairs, 2), optional
    Pairs of objects, by row number, that get the same cluster, or different ones: see the notes.""",
    "how_links": """\
Who belongs to the same belongs together: must-link makes groups, and what is said of an object is said of its group.
A group becomes one object. In k-means (`KMeansConsensus`, `KModesConsensus`) it goes to the centre from which its
objects have the least summed distance, and counts in it with all of them. In `EvidenceAccumulation` its objects have
merged, at height 0, before anything else does, and it is as similar to others as any cluster of its objects is. In
`BipartiteVoting`, `CumulativeVoting`, `EuclideanMedian` and `MajorityVoting` the partitions are relabelled as without
pairs, and the summed votes of its objects choose its cluster. In all other methods its objects get common labels
first: in every partition that which most of them have, the first on ties; of a `SoftEnsemble` their mean memberships.

Cannot-link: k-means and voting place the groups that are kept apart one after the other, first those with the fewest
clusters left, of these the surest, each at the nearest centre or in the best column that is left; where none is, the
last choices are taken back. `EvidenceAccumulation` forbids a merge that would join two of them; such merges end the
hierarchy, at height 1. The others refuse it. An object without weight counts nowhere. It gets the cluster of its group,
else its nearest of a method that has ``predict``; none where cannot-link keeps it out of that. One that no partition
labels gets the cluster of its group. The confidence of both is NaN, but where an object of the group that has weight
has the same labels.

Pairs cost 40 bytes per object, a table of the named objects by clusters per iteration of k-means, and in
`EvidenceAccumulation` two matrices of all pairs of distinct label rows, within ``max_bytes``. They follow Wagstaff et
al., "Constrained k-means clustering with background knowledge", ICML 2001 (which takes no choice back), and Davidson &
Ravi, "Agglomerative hierarchical clustering with constraints", PKDD 2005.""",
    "violations": """\
violations_ : ndarray of shape (n_partitions,)
    Share of the constraints that each member violates (Ohl & Lindsten, Eq. 5); 0 without constraints.""",
    "members_in": """\
names_in_ : ndarray of str
    Names of the members.
n_features_in_ : int
    Number of partitions.""",
    # Data sets.
    "random_state": _SEED_OF_DRAWS,
    "gaussians": f"""\
Parameters
----------
{_SEED_OF_DRAWS}

Returns
-------
X : ndarray of shape (1000, n_features)
    The features.
y : ndarray of shape (1000,)
    Which Gaussian.

References
----------
A. Strehl, J. Ghosh, "Cluster ensembles", JMLR 3, 2002. H. G. Ayad, M. S. Kamel, Pattern Recognition 43, 2010.""",
    # Figures.
    "ax": """\
ax : matplotlib Axes, optional
    Where to draw; by default a new figure.

Returns
-------
matplotlib Axes
    Where it was drawn.""",
    "number_chosen": """\
n_clusters : int, optional
    The number that was chosen: a vertical line.""",
    "confidences": """\
confidence : array-like of float, shape (n,)
    ``confidence_`` of a consensus. NaN is left out.
clusters : array-like of int, shape (n,)
    ``labels_`` of the consensus. Objects with a negative label are left out.""",
}
