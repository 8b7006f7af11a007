"""What methods that merge label rows end in: a hierarchy, how long each number of clusters lives in it, and its cut."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.validation import Constraints, Words
from ensemblage.consensus._base import BaseConsensus
from ensemblage.consensus._lifetime import lifetimes, lifetimes_with_twins, longest_lifetime
from ensemblage.consensus.evidence import Dendrogram, Evidence, Lifetimes
from ensemblage.consensus.hierarchies._content_order import ContentOrder
from ensemblage.consensus.hierarchies._linkage import Merges, cut, linkage_matrix, twin_heights
from ensemblage.consensus.hierarchies._linkages import LINKAGES, Linkage
from ensemblage.consensus.hierarchies._row_similarity import RowSimilarity
from ensemblage.consensus.hierarchies._unit_linkage import linkage_of_units
from ensemblage.labels.ensemble import Ensemble
from ensemblage.labels.links import Units
from ensemblage.labels.rows import Rows


class Hierarchy(NamedTuple):
    """A hierarchy of m rows, some of which may have merged before it begins."""

    merges: Merges
    lives: dict[int, float]
    """Lifetime of each number of clusters that has one."""
    n_initial: int
    """Clusters with which it begins."""
    n_least: int = 1
    """Clusters that are left where every further merge is forbidden."""
    of_twins: NDArray[np.float64] | None = None
    """(m,) height at which the objects of each row merge; None: 0."""

    @classmethod
    def of(cls, merges: Merges, rows: Rows, of_twins: NDArray[np.float64] | None = None) -> Hierarchy:
        """The hierarchy that begins with every row by itself."""
        if of_twins is None:
            # Where rows have several objects, k = number of rows is no clustering into singletons.
            lives = lifetimes(merges.heights, include_singletons=bool((rows.counts > 1).any()))
        else:
            lives = lifetimes_with_twins(merges.heights, of_twins, rows.counts)
        return cls(merges, lives, len(rows), of_twins=of_twins)


def hierarchy_of(similarity: RowSimilarity, linkage: Linkage, max_bytes: int | str) -> Hierarchy:
    """The hierarchy of label rows by their similarities; of units of them where there are links."""
    rows = similarity.rows
    if rows.units is not None:
        return _hierarchy_of_units(similarity, rows.units, linkage)
    merges = linkage.merges(similarity, max_bytes)
    return Hierarchy.of(merges, rows, None if similarity.local is None else twin_heights(similarity, merges))


def _hierarchy_of_units(similarity: RowSimilarity, units: Units, linkage: Linkage) -> Hierarchy:
    """The same for units: they merge as long as nothing is joined that is kept apart."""
    rows = similarity.rows
    found = linkage_of_units(similarity, units, linkage)
    of_twins = None
    if similarity.local is not None:
        of_twins = np.zeros(len(rows))
        alone = np.setdiff1d(np.arange(len(rows)), units.bound)
        of_twins[alone] = twin_heights(similarity, found.merges)[alone]
    lives = lifetimes(found.heights, include_singletons=bool((rows.counts > 1).any()) or len(units) < len(rows))
    lives = {number + found.least - 1: life for number, life in lives.items()}
    # What is left when every merge is forbidden lives until similarity 0.
    if found.least > 1:
        lives[found.least] = 1 - float(found.heights[-1]) if len(found.heights) else 1.0
    return Hierarchy(found.merges, lives, len(units), found.least, of_twins)


class HierarchicalConsensus(BaseConsensus):
    """A method whose clusters are a cut of a hierarchy of the label rows."""

    _parameter_constraints: ClassVar[Constraints] = {"linkage": [Words(LINKAGES)]}

    linkage: str
    linkage_matrix_: NDArray[np.float64]
    lifetimes_: dict[int, float]

    def _fit(self, rows: Rows) -> NDArray[Any]:
        """By rows and labels in the order of their content: ties are the rule, and no name of a label decides them."""
        k = None if self.n_clusters is None else self._check_n_clusters(rows)
        content = ContentOrder.of(rows)
        clusters = np.empty(len(rows), dtype=np.int64)
        clusters[content.order] = self._cut(self._hierarchy(rows, content, k), content.rows, k)
        return clusters

    def _hierarchy(self, rows: Rows, content: ContentOrder, k: int | None) -> Hierarchy:
        """The hierarchy of ``content.rows``, which are ``rows`` in the order of their content."""
        raise NotImplementedError

    def _cut(self, hierarchy: Hierarchy, rows: Rows, k: int | None) -> NDArray[np.int64]:
        """(m,) cluster of each row, k of them or as many as live longest; keeps the hierarchy and the lifetimes."""
        self.linkage_matrix_ = linkage_matrix(hierarchy.merges, rows, hierarchy.of_twins)
        self.lifetimes_ = {number: life for number, life in hierarchy.lives.items() if life > 0}
        return cut(hierarchy.merges, k or longest_lifetime(hierarchy.lives, hierarchy.n_initial))

    def _evidence(self, ensemble: Ensemble, objects: NDArray[np.intp]) -> tuple[Evidence, ...]:
        found: list[Evidence] = []
        if len(self.linkage_matrix_):
            sizes, clusters = np.ones(len(self.labels_)), self.labels_.astype(np.int64)
            found.append(Dendrogram(self.linkage_matrix_, sizes, clusters, "object", self.linkage, "1 − similarity"))
        if self.lifetimes_:
            found.append(Lifetimes(self.lifetimes_, self.n_clusters))
        return tuple(found)
