"""Counts of aligned labels per row: n_i(r) partitions of a mode give row i the label r."""

from typing import Any

from ensemblage.kernels._jit import jit


@jit
def add_logs_of_counts(
    codes: Any, counts: Any, members: Any, label_of: Any, partition: int, logs: Any, found: Any, weights: Any
) -> None:
    """Add Σ ln(n_i(r) + 1) over the objects of each cluster of a partition and each label of a mode.

    codes : IN (m, p) clusters of the rows; counts : IN (m,) int64, objects with that row
    members : IN (w,) partitions of the mode
    label_of : IN (p, K + 1) label of each cluster, -1 where it has none and for a missing entry
    partition : its column; one that is missing there has no cluster in ``weights``
    logs : IN (p + 1,) ln(v + 1)
    found : IN/OUT (B,) int64, 0
    weights : IN/OUT (k, B)
    """
    for i in range(codes.shape[0]):
        a = codes[i, partition]
        if a < weights.shape[0]:
            for j in members:
                r = label_of[j, codes[i, j]]
                if r >= 0:
                    found[r] += 1
            for j in members:
                r = label_of[j, codes[i, j]]
                if r >= 0:
                    weights[a, r] += counts[i] * logs[found[r]]
                    found[r] = 0


@jit
def tally_places(
    codes: Any, counts: Any, members: Any, label_of: Any, partition: int, own: Any, of_labels: Any, of_totals: Any
) -> None:
    """What a partition finds in a mode where it would be counted: objects by n_i(r), and by Σ_r n_i(r).

    codes, counts, members, label_of, partition : IN as above
    own : IN (K + 1,) label of each cluster of the partition, -1 as above
    of_labels, of_totals : IN/OUT (p + 1,) int64
    """
    for i in range(codes.shape[0]):
        place = own[codes[i, partition]]
        if place >= 0:
            same = total = 0
            for j in members:
                r = label_of[j, codes[i, j]]
                total += r >= 0
                same += r == place
            of_labels[same] += counts[i]
            of_totals[total] += counts[i]


@jit
def plurality(codes: Any, members: Any, label_of: Any, rank: Any, found: Any, labels: Any, shares: Any) -> None:
    """The label that most partitions of a mode give a row, that of least rank on ties.

    codes, members, label_of, found : as above
    rank : IN (B,)
    labels : OUT (m,); -1 where none gives one
    shares : OUT (m,) of the partitions that label it
    """
    for i in range(codes.shape[0]):
        total = 0
        for j in members:
            r = label_of[j, codes[i, j]]
            if r >= 0:
                found[r] += 1
                total += 1
        labels[i], most = -1, 0
        for j in members:
            r = label_of[j, codes[i, j]]
            if r >= 0 and (found[r] > most or (found[r] == most and rank[r] < rank[labels[i]])):
                labels[i], most = r, found[r]
        for j in members:
            r = label_of[j, codes[i, j]]
            if r >= 0:
                found[r] = 0
        shares[i] = most / total if total else 0.0
