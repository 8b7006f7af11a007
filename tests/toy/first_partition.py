"""A method of consensus, complete: the example of docs/site/howto/add_method.md."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np

from ensemblage.base.references import Reference
from ensemblage.base.validation import Constraints, Flag
from ensemblage.consensus import Capabilities, Method
from ensemblage.consensus._base import BaseConsensus


@dataclass(eq=False, repr=False)
class FirstPartition(BaseConsensus):
    """The clusters of one partition, whatever the others say.

    Parameters
    ----------
    n_clusters : None
        The partition says it.
    last : bool, default False
        Whether it is the last partition instead of the first.
    weights : array-like of shape (n_partitions,), optional
        Weight of each partition in the confidence.
    n_jobs : int, optional
        Threads.

    Examples
    --------
    >>> FirstPartition().fit([[0, 0], [0, 1], [1, 1]]).labels_
    array([0, 0, 1], dtype=int32)
    """

    _capabilities: ClassVar[Capabilities] = Capabilities(
        missing_labels=False, takes_n_clusters=False, finds_n_clusters=True
    )
    _parameter_constraints: ClassVar[Constraints] = {"last": [Flag()]}

    n_clusters: int | None = None
    _: KW_ONLY
    last: bool = False
    weights: Any = None
    n_jobs: int | None = None

    def _fit(self, rows):
        return np.unique(rows.codes[:][:, -1 if self.last else 0], return_inverse=True)[1]


METHOD = {
    "first": Method(
        FirstPartition,
        "Nobody 1999, the first partition",
        complexity="O(n)",
        memory="O(n)",
        finds_k="that of the first partition",
        when="an example: the first partition is the answer",
        references=(Reference("nobody1999", "Nobody, A.", "The first partition", 1999, "", "", "misc", ""),),
    )
}
