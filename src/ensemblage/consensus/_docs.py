"""Parts of docstrings that four estimators of consensus or more share."""

from __future__ import annotations

from ensemblage.base import docs

_CONFIDENCE = """\
confidence_ : ndarray of shape (n_objects,)
    Confidence: for / (for + against), over the partitions that join the object with members of its own cluster or of
    another one but not of both; see `metrics.certainty`. 1: no partition supports another cluster. ½: two clusters
    have equal support. 1 for all objects if there is one cluster. Not a probability of being correct.
runner_up_ : ndarray of shape (n_objects,), int32
    The other cluster with the most support; -1 if there is none.
cohesion_ : ndarray of shape (n_objects,)
    Mean co-association of the object with the other members of its cluster, from 0 to 1: small if the
    partitions are fine, even if they agree."""

PARTS = {
    **docs.PARTS,
    "new_labels": """\
X : array-like, data frame or Ensemble of shape (n_new, n_partitions)
    Columns of a data frame or an Ensemble are found by their names if what was fitted had names too; further ones are
    ignored. A label not seen in ``fit`` counts as missing, with one warning.""",
    "row_clusters": """\
n_clusters : int
    Number of clusters of the consensus, at most the number of distinct label rows.""",
    "lloyd": """\
max_iter : int, default 100
    Most iterations per start.
tol : float, default 0
    A start ends when no row moves, or when the loss falls by no more than ``tol`` times itself.""",
    "partition_weights": """\
weights : array-like of shape (n_partitions,) or "agreement", optional
    Weight of each partition; 0 leaves it out, 2 is the partition twice. Default: one each. "agreement":
    `metrics.agreement_weights`.""",
    "other_weights": """\
weights : array-like of shape (n_partitions,) or "agreement", optional
    Weight of each partition; 0 leaves it out. Default: one each. "agreement": `metrics.agreement_weights`.""",
    "confidence": _CONFIDENCE,
    "clusters": f"""\
labels_ : ndarray of shape (n_objects,), int32
    Clusters numbered by decreasing size; -1 for an object that no partition labels.
{_CONFIDENCE}
n_clusters_ : int""",
    "partitions_in": """\
n_features_in_, feature_names_in_
    As in scikit-learn: partitions and their names.""",
    "row_clusters_raises": """\
Raises
------
ValueError
    If ``n_clusters`` is missing or exceeds the number of distinct label rows, or a parameter is out of its range.""",
    "voting_raises": """\
Raises
------
ValueError
    If ``n_clusters`` exceeds the clusters of every partition, if fewer than 2 partitions vote, or if a parameter is
    out of its range.""",
}
