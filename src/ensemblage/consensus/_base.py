"""What every consensus estimator shares: validate once, work on distinct rows, number the clusters, say how sure."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import validate_data

from ensemblage.base.features import columns_checked
from ensemblage.base.frames import in_order
from ensemblage.base.memory import Need, check_fits
from ensemblage.base.renamed import FormerName
from ensemblage.base.sklearn import BaseEstimator, ClusterMixin
from ensemblage.base.validation import (
    Constraints,
    Jobs,
    Values,
    Whole,
    Words,
    check_fitted,
    check_parameters,
    check_weights,
    format_value,
    takes_labels,
)
from ensemblage.consensus._capabilities import Capabilities
from ensemblage.consensus._method import wrong_k
from ensemblage.consensus._model import BY_ASSOCIATION, BY_RULE, Assignment, Model, score_of
from ensemblage.consensus.diagnostics import Diagnostics
from ensemblage.kernels._contingency import tally_clusters
from ensemblage.labels.blocks import LabelRows, in_memory, on_workers
from ensemblage.labels.coding import (
    Coding,
    check_sample_weight,
)
from ensemblage.labels.ensemble import Ensemble, as_any_ensemble, coded_labels, given_labels
from ensemblage.labels.links import Links, shared_labels
from ensemblage.labels.rows import Rows, linked_rows
from ensemblage.labels.soft import SoftCoding
from ensemblage.metrics._agreement import weights_by_agreement
from ensemblage.metrics._confidence import (
    Association,
    Confidence,
    association_with,
    confidence_of_new,
    confidence_of_rows,
)

logger = logging.getLogger(__name__)
WITHOUT_ROWS = "KMeansConsensus or CumulativeVoting, which do not"
"""What to use where rows are not in memory."""


class BaseConsensus(Model, ClusterMixin, BaseEstimator):
    """A clusterer whose input is a label matrix.

    A method implements ``_fit(rows) -> clusters`` on the distinct rows, and says in ``_capabilities`` what it takes.
    Everything else is in `fit`, from top to bottom: validation, distinct rows, the method, numbering by decreasing size
    (ties: the cluster with the smallest label row first), confidence, expansion to the objects.

    A partition of weight 0 is left out before anything else, as by `Ensemble.select`: a method never sees it, neither
    in ``fit`` nor in ``predict``, and an object that only such partitions label is one that no partition labels.
    """

    _parameter_constraints: ClassVar[Constraints] = {
        "n_clusters": [Whole(1), None],
        "weights": [
            Values("one number ≥ 0 per partition", "Give one weight per partition."),
            Words(["agreement"]),
            None,
        ],
        "n_jobs": [Jobs()],
    }

    _capabilities: ClassVar[Capabilities] = Capabilities()
    """With the parameters that limit nothing."""

    n_clusters: int | None
    weights: Any
    n_jobs: int | None
    _weights: Any
    """(n_features_in_,) those of the partitions, as they were given or follow from a rule."""
    _seen: tuple[Any, bool]
    """The partitions so far, and whether every object counted once; only after ``add_partitions``."""
    _continued: bool
    """Whether ``add_partitions`` goes on from an earlier fit; only while it fits."""
    _names: list[str] | None = None
    """Those of the partitions; None of a model that an earlier version saved."""

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        must_link: ArrayLike | None = None,
        cannot_link: ArrayLike | None = None,
    ) -> Self:
        """Find the consensus of a label matrix.

        Parameters
        ----------
        X : array-like, data frame or Ensemble of shape (n_objects, n_partitions)
            Labels. -1, NaN and None mean that the partition did not label the object.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_objects,), optional
            How often each object counts: whole numbers ≥ 0 with a sum of at most 2³¹ - 1. Default: once. The
            result is bitwise identical to that of ``fit(np.repeat(X, sample_weight, axis=0))``, with one entry per row
            of X instead of one per object. An object of weight 0 is left out, with the labels that only such objects
            have. It gets the label and the confidence of the other objects of its label row. If these have no weight
            either, it gets the label of ``predict``, or -1 if the method has none, and the confidence NaN.
        must_link, cannot_link : array-like of int, shape (n_pairs, 2), optional
            Pairs of objects, by row number, that get the same cluster, or different ones: see the notes.

        Returns
        -------
        self
            Fitted.

        Raises
        ------
        ValueError
            If ``sample_weight`` is not such numbers, or the method cuts a graph that has a vertex for each object
            (``distinct=False``); if pairs contradict each other, cannot be kept apart in so many clusters, or the
            method has no rule for them; and as the class says.

        Notes
        -----
        The order of the objects changes nothing but the order of ``labels_``. What the labels are called decides no tie
        in hierarchies and voting, but between what a symmetry of the ensemble exchanges. Other methods draw starts, or
        cut a graph, in the order of the labels: there other names are as another seed. Copies of all objects change
        nothing in hierarchies and voting; elsewhere they may lead a search to another end.

        Voting methods, medians and `HBGF` take memberships as X too, `Ensemble.from_memberships`, with weights that are
        so but for rounding.

        Who belongs to the same belongs together: must-link makes groups, and what is said of an object is said of its
        group. A group becomes one object. In k-means (`KMeansConsensus`, `KModesConsensus`) it goes to the centre from
        which its objects have the least summed distance, and counts in it with all of them. In `EvidenceAccumulation`
        its objects have merged, at height 0, before anything else does, and it is as similar to others as any cluster
        of its objects is. In `BipartiteVoting`, `CumulativeVoting`, `EuclideanMedian` and `MajorityVoting` the
        partitions are relabelled as without pairs, and the summed votes of its objects choose its cluster. In all other
        methods its objects get common labels first: in every partition that which most of them have, the first on ties;
        of memberships their means.

        Cannot-link: k-means and voting place the groups that are kept apart one after the other, first those with the
        fewest clusters left, of these the surest, each at the nearest centre or in the best column that is left; where
        none is, the last choices are taken back. `EvidenceAccumulation` forbids a merge that would join two of them;
        such merges end the hierarchy, at height 1. The others refuse it. An object without weight counts nowhere. It
        gets the cluster of its group, else its nearest of a method that has ``predict``; none where cannot-link keeps
        it out of that. One that no partition labels gets the cluster of its group. The confidence of both is NaN, but
        where an object of the group that has weight has the same labels.

        Pairs cost 40 bytes per object, a table of the named objects by clusters per iteration of k-means, and in
        `EvidenceAccumulation` two matrices of all pairs of distinct label rows, within ``max_bytes``. They follow
        Wagstaff et al., "Constrained k-means clustering with background knowledge", ICML 2001 (which takes no choice
        back), and Davidson & Ravi, "Agglomerative hierarchical clustering with constraints", PKDD 2005.

        Weights cost 24 bytes per object while they are summed over distinct rows, 8 afterwards, whatever their sum; and
        a copy of the codes where some label has no weight. A hierarchy of the objects and `diagnostics` count every
        object of X once.
        """
        # What was given, as distinct rows
        rows, links = self._rows_of(X, sample_weight, must_link, cannot_link)

        # The method
        clusters = self._fit(rows)

        # Numbers by size
        self._number = self._numbers(rows, clusters)
        self.n_clusters_, self._cluster_numbers = len(self._number), None
        clusters = np.append(self._number, -1).astype(np.int32)[clusters]

        # Confidence, and all of it for the objects: at most 24 bytes each are added here
        self._association = self._association_of(rows, clusters, self.n_clusters_)
        self.labels_ = rows.of_objects(clusters, -1)
        if 2 * len(rows.counts) > len(rows.inverse):  # the same of rows and of objects would be held at once
            del clusters
            found = confidence_of_rows(rows.objects, self.labels_, self._association, self.n_jobs)
        else:
            found = confidence_of_rows(rows.codes, clusters, self._association, self.n_jobs)
            of_rows = (found.confidence, np.nan), (found.runner_up, -1), (found.cohesion, np.nan)
            found = Confidence(*(rows.of_objects(values, none) for values, none in of_rows))
        self.confidence_, self.runner_up_, self.cohesion_ = found.confidence, found.runner_up, found.cohesion

        # Objects without weight, which the method has not seen
        if rows.sample_weight is not None:
            left_out = np.flatnonzero((rows.inverse >= len(rows)) & (rows.sample_weight == 0))
            if len(left_out):
                self.labels_[left_out] = self._predict_codes(rows.objects.take(left_out))
        if links is not None:
            self.labels_[:] = shared_labels(self.labels_, rows.inverse < len(rows), links)
        return self

    def _rows_of(
        self, X: Any, sample_weight: Any, must_link: ArrayLike | None, cannot_link: ArrayLike | None
    ) -> tuple[Rows, Links | None]:
        """What the method clusters, and the pairs: all that is checked before it begins."""
        self._check_parameters()
        self.__dict__.pop("_seen", None)  # of add_partitions, which keeps it
        name, able, units = type(self).__name__, self.capabilities, self._capabilities.cannot_link
        ensemble, sample_weight, X = given_labels(X, sample_weight)
        if ensemble.is_soft:
            self._check_memberships(ensemble)
        validate_data(self, X, skip_check_array=True)
        self._names = ensemble.names
        (n, p), links = ensemble.rows.shape, None
        if must_link is not None or cannot_link is not None:
            links = Links.of(n, must_link, cannot_link)
        if sample_weight is not None:
            sample_weight = check_sample_weight(sample_weight, n)
        self._check_taken(sample_weight, links)
        if links is not None and not units:
            in_memory(ensemble.rows, name, WITHOUT_ROWS, because=" to give groups of must_link common labels")
            ensemble = ensemble._with_common_labels(links, sample_weight)
        weights = self._weights = np.ones(p) if self.weights is None else self.weights
        if isinstance(self.weights, str):
            counted = ensemble._with_sample_weight(sample_weight)
            self._weights = weights_by_agreement(counted, n_jobs=self.n_jobs)
        if self.weights is not None:
            weights = check_weights(self._weights, p, name)

        # Distinct rows
        self._voting, rows = Rows.of(ensemble, weights, sample_weight)
        self._coding: Coding | SoftCoding = rows.coding
        rows = self._make_rows(rows)
        if links is not None and units:
            rows = linked_rows(rows, links)
            in_memory(rows.codes, name, "it without must_link and cannot_link", because=" with these")
        if able.in_memory:
            in_memory(rows.codes, name, WITHOUT_ROWS, because=f": it {able.in_memory}")
        else:
            rows = replace(rows, codes=on_workers(rows.codes))
        if not able.missing_labels and rows.label_sizes(self.n_jobs)[rows.offsets[1:] - 1].any():
            raise ValueError(
                f"X of {name} must have a label for every object in every partition. Got missing ones. "
                "Leave out these objects or partitions, or use KMeansConsensus."
            )
        logger.info("%s: %d distinct rows of %d partitions", name, len(rows.counts), len(self._voting))
        self._check_bytes(rows, int(self.n_clusters or 0))
        return rows, links

    def _fit(self, rows: Rows) -> NDArray[Any]:
        """(m,) cluster of each distinct row: signed whole numbers from 0 without gaps, in any order.

        -1, no cluster, is for a method that leaves rows out by its own rule. Every row here has a label of some
        partition: objects that none labels are left out before.
        """
        raise NotImplementedError

    def _make_rows(self, rows: Rows) -> Rows:
        """What to cluster: distinct rows, or `object_rows` where objects with equal labels may part."""
        return rows

    def _numbers(self, rows: Rows, clusters: NDArray[Any]) -> NDArray[np.int64]:
        """New number of each cluster."""
        return numbers_by_size(clusters, rows.counts)

    def _association_of(self, rows: Rows, clusters: NDArray[Any], n_clusters: int) -> Any:
        """`Association` of rows with these clusters."""
        return Association.of(rows.codes, rows.counts, clusters, n_clusters, rows.offsets, rows.weights, self.n_jobs)

    def _bytes(self, rows: Rows, k: int, n_entries: int | None = None, more: int = 0) -> Need | None:
        """What the fit of k clusters takes at its peak, beyond the ensemble; k is 0 where it is to be found.

        ``n_entries`` are those of the graph or matrix of pairs that is kept, None: not counted yet, the least that is
        known. ``more`` bytes are for a step that asks for them. None of a method whose memory is linear in the rows.
        """
        return None

    def _check_bytes(self, rows: Rows, k: int, n_entries: int | None = None, more: int = 0) -> None:
        """Raise unless what `_bytes` says fits ``max_bytes``: before any work, and in it whenever more is known."""
        need = self._bytes(rows, k, n_entries, more)
        if need is not None:
            check_fits(need.n_bytes, self.get_params()["max_bytes"], type(self).__name__, need.what, need.advice)

    @property
    def capabilities(self) -> Capabilities:
        """What the method takes and does, with the parameters that it has."""
        return self._restrict(self._capabilities)

    def _restrict(self, able: Capabilities) -> Capabilities:
        """What the parameters leave of it."""
        return able

    def _check_memberships(self, ensemble: Ensemble) -> None:
        """Refuse memberships; a method that takes them, parameters with which they cannot be counted."""
        if not self._capabilities.memberships:
            raise ValueError(
                f"X of {type(self).__name__} must be labels: it cannot use memberships. Got {ensemble!r}. Give "
                "soft.to_labels(), or use CumulativeVoting, BipartiteVoting, MajorityVoting, EuclideanMedian, "
                "ComembershipMedian or HBGF."
            )

    def _check_links(self) -> None:
        """Refuse parameters with which units cannot be assigned."""

    def _check_taken(self, sample_weight: NDArray[np.int64] | None, links: Links | None) -> None:
        """Refuse weights and pairs for which the method has no rule."""
        name = type(self).__name__
        if sample_weight is not None and not self._capabilities.sample_weight:
            raise ValueError(
                f"{name} must be fitted without sample_weight: it counts every object once. Got weights. Leave "
                f"sample_weight out."
            )
        if self.weights is not None and not self._capabilities.partition_weights:
            raise ValueError(
                f"weights of {name} must be None: it gives every partition the same weight. Got "
                f"{format_value(self.weights)}. Leave them out, or use KMeansConsensus."
            )
        if links is None:
            return
        if self._capabilities.cannot_link:
            self._check_links()
        elif len(links.apart):
            raise ValueError(
                f"cannot_link of {name} must be None: it cannot keep objects apart. Got "
                f"{len(links.apart)} pair{'s' * (len(links.apart) > 1)}. Use KMeansConsensus, EvidenceAccumulation, "
                "CumulativeVoting or BipartiteVoting."
            )
        elif not self.capabilities.must_link:
            raise ValueError(
                f"{name} must have distinct=True with must_link. Got distinct=False, which may separate objects of "
                f"equal labels. Set distinct=True."
            )

    def _predict_codes(self, codes: LabelRows) -> NDArray[np.int32]:
        """(n,) cluster of each row of codes, which need not have been fitted; -1 if the method cannot tell."""
        return np.full(len(codes), -1, dtype=np.int32)

    def diagnostics(self, X: Any, objects: Any = None) -> tuple[Diagnostics, ...]:
        """Intermediate results of the method, as records of a few kinds; `plotting.diagnostics` and the page draw them.

        Parameters
        ----------
        X : array-like, data frame or Ensemble of shape (n_objects, n_partitions)
            The label matrix that was fitted.
        objects : array-like of int, optional
            Objects whose soft memberships are returned, by methods that have some. Default: all.

        Returns
        -------
        tuple of Diagnostics
            Empty if the method keeps no intermediate results.

        Raises
        ------
        NotFittedError
            If it is not fitted.

        Examples
        --------
        >>> from ensemblage.consensus import EvidenceAccumulation
        >>> labels = [[0, 0], [0, 0], [1, 1], [1, 0]]
        >>> [type(record).__name__ for record in EvidenceAccumulation().fit(labels).diagnostics(labels)]
        ['Dendrogram', 'Lifetimes', 'PairCounts']
        """
        check_fitted(self)
        chosen = np.arange(len(self.labels_)) if objects is None else np.asarray(objects)
        return self._diagnostics(as_any_ensemble(X), chosen)

    evidence = FormerName("diagnostics")

    def _diagnostics(self, ensemble: Any, objects: NDArray[np.intp]) -> tuple[Diagnostics, ...]:
        return ()

    def association_shares(self, X: Any, objects: Any = None) -> NDArray[np.float64]:
        """Share of each cluster in how often the partitions join an object that was fitted with the clusters.

        Parameters
        ----------
        X : array-like, data frame or Ensemble of shape (n_objects, n_partitions)
            The label matrix that was fitted.
        objects : slice or array-like of int, optional
            Some of its rows, for going over many objects in blocks. Default: all.

        Returns
        -------
        ndarray of shape (n_objects, n_clusters)
            The associations of `metrics.confidence` with every cluster, divided by their sum; rows sum to 1, equal ones
            where all are 0, NaN for an object that no partition labels.

        Raises
        ------
        NotFittedError
            If it is not fitted.
        ValueError
            If ``X`` has another number of objects or partitions.

        Notes
        -----
        O(n p k) time for n objects; 8 n k bytes.

        Examples
        --------
        >>> from ensemblage.consensus import KMeansConsensus
        >>> labels = [[0, 0], [0, 0], [1, 1], [1, 0]]
        >>> KMeansConsensus(2, random_state=0).fit(labels).association_shares(labels, slice(2, 4)).round(2)
        array([[0. , 1. ],
               [0.4, 0.6]])
        """
        codes = self._encode(X)
        if len(codes) != len(self.labels_):
            raise ValueError(
                f"X of association_shares must be the label matrix that was fitted, of {len(self.labels_)} objects. "
                f"Got {len(codes)}. Give the matrix that was given to fit."
            )
        chosen = np.arange(len(codes))[slice(None) if objects is None else objects]
        counted = np.where(np.isnan(self.confidence_), -1, self.labels_)[chosen]  # the others are in no cluster's count
        association = association_with(codes, self._association)
        return np.concatenate(codes.take(chosen).map(association.memberships, reads=[counted], n_jobs=self.n_jobs))

    def assign(self, X: Any) -> Assignment:
        """Assign new label rows to the clusters of the consensus, with a confidence.

        ``predict`` decides if the method has a rule for new rows. Otherwise each row gets the cluster with the largest
        mean co-association, the first one on ties. `Assignment.by` says which rule was used.

        Parameters
        ----------
        X : array-like, data frame or Ensemble of shape (n_new, n_partitions)
            Columns of a data frame or an Ensemble are found by their names if what was fitted had names too; further
            ones are ignored. A label not seen in ``fit`` counts as missing, with one warning.

        Returns
        -------
        Assignment
            Its ``labels``, ``confidence``, ``runner_up`` and ``verdict``.

        Raises
        ------
        NotFittedError
            If it is not fitted.
        ValueError
            If ``X`` has another number of partitions.

        Examples
        --------
        >>> from ensemblage.consensus import EvidenceAccumulation
        >>> model = EvidenceAccumulation(2).fit([[0, 0], [0, 0], [0, 0], [1, 1], [1, 0]])
        >>> found = model.assign([[0, 0], [1, 1]])
        >>> found.labels, found.by
        (array([0, 1], dtype=int32), 'association')
        """
        return self._make_assignment(X)

    def _make_assignment(self, X: Any, given: NDArray[np.int32] | None = None) -> Assignment:
        """`assign`, with the clusters that are given, if they are."""
        codes = self._encode(X)
        by = BY_RULE if self._capabilities.predict else BY_ASSOCIATION
        association, labels = association_with(codes, self._association), given
        if labels is None and by == BY_RULE:
            labels = self._predict_codes(codes)
        elif labels is None:  # the cluster with which the partitions join a row most often; -1 if none labels it
            outside = np.full(len(codes), -1)
            shares = np.concatenate(codes.map(association.memberships, reads=[outside], n_jobs=self.n_jobs))
            labels = np.where(np.isnan(shares[:, 0]), -1, shares.argmax(axis=1)).astype(np.int32)
        parts = codes.map(confidence_of_new, association, reads=[labels], n_jobs=self.n_jobs)
        confidence, runner_up = (np.concatenate(part) for part in zip(*parts, strict=True))
        return Assignment(labels, confidence, runner_up, by)

    def _renumber(self, places: NDArray[np.int64]) -> None:
        """Give cluster c the number ``places[c]``."""
        number = np.append(places, -1).astype(np.int32)
        self.labels_, self.runner_up_ = number[self.labels_], number[self.runner_up_]
        self._number, self._association = places[self._number], self._association.reorder(np.argsort(places))

    def _check_parameters(self) -> None:
        """What can be said before there are data."""
        able = self.capabilities
        if not (able.finds_n_clusters if self.n_clusters is None else able.takes_n_clusters):
            raise wrong_k(self, self.n_clusters)
        check_parameters(self)

    def _check_n_clusters(self, rows: Rows) -> int:
        name, k, most = type(self).__name__, int(self.n_clusters or 0), rows.n_units
        if k > most:
            one = " (n_samples=1)" if most == 1 else ""
            what = f"distinct label row{'s' * (most > 1)}"
            if most < len(rows):
                what = f"group{'s' * (most > 1)} of rows that must_link joins"
            raise ValueError(
                f"n_clusters of {name} must be ≤ the {most} {what}{one}. Got {k}. "
                "Ask for fewer clusters or add partitions."
            )
        return k

    def _encode(self, X: Any) -> LabelRows:
        check_fitted(self)
        if not hasattr(self, "_coding"):
            raise ValueError(
                f"{type(self).__name__} must be fitted to labels before it takes other labels. Got a fit to "
                f"similarities. Call fit(labels)."
            )
        named = None if self._names is None else in_order(X, self._names, type(self).__name__)
        X = X if named is None else named
        if isinstance(self._coding, SoftCoding):
            return self._coding.encode(X, self._voting, self.n_features_in_, type(self).__name__)
        new = coded_labels(X, self._coding.missing)
        if named is None:
            with columns_checked(f"X of {type(self).__name__}"):
                validate_data(self, X, reset=False, skip_check_array=True)
        return self._coding.encode(new if len(self._voting) == self.n_features_in_ else new.select(self._voting))

    def _values_of_partitions(self, values: NDArray[Any], otherwise: Any) -> NDArray[Any]:
        """(n_features_in_,) a value for each partition of the matrix that was fitted, from those of weight above 0."""
        of_partitions = np.full(self.n_features_in_, otherwise, dtype=values.dtype)
        of_partitions[self._voting] = values
        return of_partitions

    def __sklearn_tags__(self) -> Any:
        return takes_labels(super().__sklearn_tags__())


class InductiveConsensus(BaseConsensus):
    """A consensus that places new label rows: by ``_predict_codes(codes)`` of the method."""

    def predict(self, X: Any) -> NDArray[np.int32]:
        """Cluster of new label rows: the nearest, of voting the most likely one; the first one on ties.

        A row that ``fit`` put into a cluster because that was empty otherwise goes there.

        Parameters
        ----------
        X : array-like, data frame or Ensemble of shape (n_new, n_partitions)
            Columns of a data frame or an Ensemble are found by their names if what was fitted had names too; further
            ones are ignored. A label not seen in ``fit`` counts as missing, with one warning.

        Returns
        -------
        ndarray of shape (n_new,), int32
            Cluster of each row; -1 where nothing is labelled.
        """
        return self._predict_codes(self._encode(X))

    def score(self, X: Any, y: Any = None) -> float:
        """How well the clusters of new label rows agree with classes, or with the partitions: the higher, the better.

        Parameters
        ----------
        X : array-like, data frame or Ensemble of shape (n_new, n_partitions)
            Columns of a data frame or an Ensemble are found by their names if what was fitted had names too; further
            ones are ignored. A label not seen in ``fit`` counts as missing, with one warning.
        y : array-like of shape (n_new,), optional
            Known classes.

        Returns
        -------
        float
            The adjusted Rand index of ``predict(X)`` and y; without y its mean over the partitions by their weights,
            `metrics.ensemble_ari`. At most 1, about 0 by chance, with any number of clusters.

        Notes
        -----
        Memberships count as the likeliest label of each row.
        """
        clusters, own = self.predict(X), None if self._names is None else in_order(X, self._names, type(self).__name__)
        labels = as_any_ensemble(X if own is None else own, getattr(self._coding, "missing", -1))
        return score_of(clusters, y, labels.to_labels(), self._weights)


def numbers_by_size(clusters: NDArray[Any], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """New number of each cluster: by decreasing size, ties by the first of its rows."""
    k = int(clusters.max()) + 1
    sizes, first = np.zeros(k, dtype=np.int64), np.full(k, -1, dtype=np.int64)
    tally_clusters(clusters, counts, sizes, first)
    if not (k and sizes.all()):
        raise ValueError(
            "The clusters of _fit must be signed whole numbers from 0 without gaps, of one row at least. Got "
            f"{format_value(np.unique(clusters).tolist())}. Number them by numpy.unique(..., return_inverse=True)."
        )
    order = np.lexsort((first, -sizes))
    number = np.empty(len(order), dtype=np.int64)
    number[order] = np.arange(len(order))
    return number


def renumber_parts(parts: NDArray[Any]) -> NDArray[np.int32]:
    """(m,) numbers of the parts from 0, in order, empty parts left out."""
    numbers = np.cumsum(np.bincount(parts) > 0, dtype=np.int32) - 1
    return np.asarray(numbers[parts])
