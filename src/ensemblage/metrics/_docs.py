"""Parts of docstrings that four numbers about partitions or more share."""

from __future__ import annotations

from ensemblage.base import docs

PARTS = {
    **docs.PARTS,
    "compared": f"""\
{docs.PARTS["labels"]}
clustering : array-like of shape (n_objects,)
    Cluster of each object. Objects with -1 or NaN are in no cluster and left out.""",
    "weights": """\
weights : array-like of shape (n_partitions,), optional
    Weights of the partitions, ≥ 0. Default: equal.""",
    "clustering_raises": """\
Raises
------
ValueError
    If the clustering has another number of objects or assigns none, or the weights do not fit.""",
}
