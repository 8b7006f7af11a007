"""What a method takes and does: one record per class, read by the base class, the registry, the shell and the tests."""

from __future__ import annotations

from dataclasses import dataclass

COMPARES_ROWS = "compares every row with every other"
"""Why the rows of a method that compares pairs must be in memory."""


@dataclass(frozen=True)
class Capabilities:
    """What a consensus method accepts and offers, in addition to complete hard labels in memory."""

    partition_weights: bool = True
    """Weights of partitions: ``weights``."""
    sample_weight: bool = True
    """Weights of objects: ``sample_weight`` of ``fit``."""
    missing_labels: bool = True
    """Objects that some partitions do not label."""
    memberships: bool = False
    """`Ensemble.from_memberships`: soft memberships in the place of labels."""
    must_link: bool = True
    """Pairs of objects that share a cluster."""
    cannot_link: bool = False
    """Pairs of objects that do not. A method that takes them assigns each must-link group as a whole, as `Rows.units`
    says; of others the objects of a group get common labels before."""
    in_memory: str = "looks at them in no order"
    """Why all distinct rows must be in memory: the end of an error that begins with "it". The default is for methods
    that read rows in any order. Empty: rows may lie on disk or with Dask workers."""
    compares_pairs: bool = False
    """Whether its time grows with the number of pairs of distinct rows."""
    takes_n_clusters: bool = True
    """A number of clusters: ``n_clusters``. Without it the labels alone decide, and any number is refused."""
    finds_n_clusters: bool = False
    """A rule for the number of clusters: ``n_clusters=None``."""
    predict: bool = False
    """A rule for new label rows: ``predict``."""
    add_partitions: bool = False
    """More partitions of the same objects: ``add_partitions``."""
    similarities: bool = False
    """Similarities of pairs in the place of labels: ``fit_similarity``."""
    sparse_similarities: bool = False
    """The same in a sparse matrix, of which it looks at the entries that there are."""

    @property
    def words(self) -> tuple[str, ...]:
        """Those that a method has, as the shell and the documents list them."""
        listed = {
            "weights of partitions": self.partition_weights,
            "weights of objects": self.sample_weight,
            "missing labels": self.missing_labels,
            "soft memberships": self.memberships,
            "must-link": self.must_link,
            "cannot-link": self.cannot_link,
            "labels on disk or with Dask": not self.in_memory,
            "no number of clusters": self.finds_n_clusters,
            "new objects (predict)": self.predict,
            "more partitions (add_partitions)": self.add_partitions,
            "similarities (fit_similarity)": self.similarities,
        }
        return tuple(words for words, has in listed.items() if has)
