"""A hierarchy and its clusters as R has them: `hclust` and `cutree`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def hclust(merges: NDArray[np.float64], method: str) -> dict[str, Any]:
    """The elements of R's class "hclust" from a linkage matrix in SciPy's format, (n - 1, 4).

    Returns
    -------
    dict
        ``merge``, (n - 1, 2): a negative number is an object, a positive one an earlier step, both from 1; ``height``,
        (n - 1,), ascending; ``order``, (n,): objects from 1 as a dendrogram without crossings shows them; ``labels``:
        None; ``method``: the linkage.
    """
    n = len(merges) + 1
    # Objects stand before steps, and each kind by its number, as SciPy numbers both.
    pairs = np.sort(merges[:, :2].astype(np.int64), axis=1)
    merge = np.where(pairs < n, -pairs - 1, pairs - n + 1).astype(np.int32)
    # Rounding may put a mean below the one before by the last bit, which R's cutree refuses.
    height = np.maximum.accumulate(merges[:, 2])
    return {"merge": merge, "height": height, "order": leaves(pairs) + 1, "labels": None, "method": method}


def leaves(pairs: NDArray[np.int64]) -> NDArray[np.int32]:
    """(n,) leaves from left to right, of steps in SciPy's numbers, (n - 1, 2)."""
    n = len(pairs) + 1
    found, stack = [], [2 * n - 2]
    while stack:
        node = stack.pop()
        if node < n:
            found.append(node)
        else:
            left, right = pairs[node - n]
            stack += [right, left]
    return np.array(found, dtype=np.int32)


def numbers_by_first(labels: NDArray[Any]) -> NDArray[np.int32]:
    """(n,) clusters from 1, numbered as cutree numbers them: by their first object."""
    _, first, codes = np.unique(labels, return_index=True, return_inverse=True)
    return (np.argsort(np.argsort(first))[codes] + 1).astype(np.int32)
