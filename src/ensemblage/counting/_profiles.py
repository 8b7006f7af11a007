"""Label counts per cluster: the sufficient statistic of densities, losses and centroids."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage.kernels._contingency import add_labels
from ensemblage.kernels._jit import read_only
from ensemblage.rows.memberships import MembershipRows
from ensemblage.rows.protocol import LabelRows


def label_profile(
    codes: LabelRows,
    clusters: NDArray[Any],
    counts: NDArray[np.int64],
    offsets: NDArray[np.int64],
    n_clusters: int,
    n_jobs: int | None = None,
) -> NDArray[Any]:
    """Count, per cluster, the objects with each label: (k, sum(k_i + 1)) int64, Candel's alpha.

    The column ``offsets[j + 1] - 1`` counts the objects that partition j does not label. O(n p) time; memory one
    profile per thread. Of soft partitions it is the mass of each label, in float64.
    """
    if isinstance(codes, MembershipRows):
        return codes.profile(np.asarray(clusters), counts, n_clusters, n_jobs)
    shape = (n_clusters, int(offsets[-1]))
    (profile,) = codes.add(_add_labels, [shape], offsets, reads=[clusters, counts], n_jobs=n_jobs)
    return profile


def _add_labels(codes: Any, clusters: Any, counts: Any, profile: Any, offsets: Any) -> None:
    # As one signature: the kernel is compiled once.
    codes, offsets = read_only(codes), read_only(offsets)
    add_labels(codes, clusters.astype(np.int32, copy=False), counts, offsets, profile)
