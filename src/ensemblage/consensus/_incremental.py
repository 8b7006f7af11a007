"""Partitions that arrive one after the other: the method ``add_partitions`` of the classes that have it."""

from __future__ import annotations

from typing import Any, TypeVar

from numpy.typing import ArrayLike

from ensemblage.base.validation import format_value
from ensemblage.consensus._base import BaseConsensus
from ensemblage.labels.ensemble import given_labels

C = TypeVar("C", bound=BaseConsensus)


def add_partitions(
    self: C,
    X: Any,
    *,
    sample_weight: Any = None,
    must_link: ArrayLike | None = None,
    cannot_link: ArrayLike | None = None,
) -> C:
    """Take more partitions of the same objects: the result is that of ``fit`` on all of them, in that order.

    Parameters
    ----------
    X : array-like, data frame or Ensemble of shape (n_objects, n_new_partitions)
        Partitions that have arrived. -1, NaN and None mean missing.
    sample_weight : array-like of shape (n_objects,), optional
        How often each object counts, in this call alone: see ``fit``.
    must_link, cannot_link : array-like of int, shape (n_pairs, 2), optional
        Pairs of objects, in this call alone: see ``fit``.

    Returns
    -------
    self
        Fitted to all partitions so far: ``n_features_in_`` of them.

    Raises
    ------
    ValueError
        If X has other objects than the partitions so far, or labels beside memberships; ``weights`` is one number
        per partition, which would have to grow; the estimator was fitted by ``fit``, which keeps no labels; and as
        ``fit`` says, which voting asks for at least two partitions.

    Notes
    -----
    Bitwise identical to ``fit`` on all partitions. This is not scikit-learn's ``partial_fit``, which takes more
    objects; those are for ``assign`` and ``predict``. What is kept are their codes, n p bytes. The labels are coded
    once. `CumulativeVoting` keeps how the partitions so far were relabelled, as long as those that arrive vote
    after them (``order="given"``); k-means and `BipartiteVoting` begin anew, for every start sees all partitions.

    Examples
    --------
    >>> from ensemblage.consensus import KMeansConsensus
    >>> model = KMeansConsensus(2, random_state=0).add_partitions([[0], [0], [0], [1], [1]])
    >>> model.add_partitions([[0, 0], [0, 0], [1, 0], [1, 1], [1, 1]]).n_features_in_
    3
    >>> model.labels_
    array([0, 0, 0, 1, 1], dtype=int32)
    """
    name = type(self).__name__
    # The partitions so far, an ensemble, and whether every object counted once: only after this method.
    seen, plain = getattr(self, "_seen", (None, True))
    if seen is None and hasattr(self, "labels_"):
        raise ValueError(
            f"{name} must get its first partitions by add_partitions, since fit keeps no labels. Got a model "
            f"that was fitted. Clone it, and give all partitions to add_partitions."
        )
    if not (self.weights is None or isinstance(self.weights, str)):
        raise ValueError(
            f"weights of {name} must be None or 'agreement' with add_partitions, since the later partitions are "
            f"not known. Got {format_value(self.weights)}. Give all partitions to fit."
        )
    everything, *_ = given_labels(X)
    if seen is not None:
        try:
            seen._check_beside(everything)
        except ValueError:
            raise ValueError(
                f"X of add_partitions of {name} must be partitions of the same {len(seen):,} objects, all of labels or "
                f"all of memberships. Got {everything!r} after {seen!r}. Use another estimator for other objects."
            ) from None
        everything = seen.append_partitions(everything)
    plain = plain and sample_weight is None
    self._continued = seen is not None and plain
    try:
        self.fit(everything, sample_weight=sample_weight, must_link=must_link, cannot_link=cannot_link)
    finally:
        del self._continued
    self._seen = everything, plain
    return self
