"""What is measured of one partition without known classes: sizes, silhouettes, neighbours, spanning tree, spreads.

The names of the results are `NAMES`, in order.
"""

from typing import Any

import numpy as np

from ensemblage.kernels._dendrogram import root_of
from ensemblage.kernels._jit import inner_jit, jit
from ensemblage.kernels._mixtures import factorise

NAMES = (
    "least size",
    "largest size",
    "entropy",
    "tiny clusters",
    "silhouette",
    "least silhouette",
    "negative silhouettes",
    "path silhouette",
    "least path silhouette",
    "negative path silhouettes",
    "explained",
    "log variance ratio",
    "log Davies-Bouldin",
    "nearest alike",
    "5 nearest alike",
    "15 nearest alike",
    "10 nearest alike above chance",
    "least cluster of 10 nearest",
    "conductance",
    "largest conductance",
    "modularity",
    "pieces of the tree",
    "main pieces",
    "log ratio of cut edges",
    "density validity",
    "least density validity",
    "log least separation",
    "gain of full covariances",
    "BIC of full covariances",
    "BIC of diagonal covariances",
    "two parts",
    "largest two parts",
    "least distance",
    "mean distance",
    "near clusters",
    "valley",
    "least valley",
    "best column",
    "mean column",
    "best column to mean",
    "number of columns",
)
TINY = 3
NEAREST = 10
"""Neighbours that conductance counts."""


@inner_jit
def silhouettes(distances: Any, rows: Any, labels: Any, sizes: Any, means: Any, out: Any) -> None:
    """distances : IN (r, n) of some rows to all objects
    rows : IN (r,) those rows
    labels : IN (n,)
    sizes : IN (k,)
    means : WORK (k,)
    out : OUT (3,) mean, least mean of a cluster, share of negative ones
    """
    k = len(sizes)
    sums, seen = np.zeros(k), np.zeros(k)
    total, negative = 0.0, 0
    for a in range(len(rows)):
        means[:] = 0.0
        for j in range(labels.shape[0]):
            means[labels[j]] += distances[a, j]
        c = labels[rows[a]]
        value = 0.0
        if sizes[c] > 1:
            inside, outside = means[c] / (sizes[c] - 1), np.inf
            for q in range(k):
                if q != c:
                    outside = min(outside, means[q] / sizes[q])
            larger = max(inside, outside)
            value = (outside - inside) / larger if larger > 0 else 0.0
        total += value
        negative += value < 0
        sums[c] += value
        seen[c] += 1
    least = 1.0
    for c in range(k):
        if seen[c] > 0:
            least = min(least, sums[c] / seen[c])
    out[0], out[1], out[2] = total / len(rows), least, negative / len(rows)


@inner_jit
def add_spread(Z: Any, labels: Any, sizes: Any, out: Any) -> None:
    """Z : IN (n, d) scores of the objects
    labels : IN (n,)
    sizes : IN (k,)
    out : OUT (3,) explained variance, log variance ratio, log Davies-Bouldin index
    """
    (n, d), k = Z.shape, len(sizes)
    centres, radius, middle = np.zeros((k, d)), np.zeros(k), np.zeros(d)
    for i in range(n):
        for f in range(d):
            centres[labels[i], f] += Z[i, f]
            middle[f] += Z[i, f] / n
    for c in range(k):
        for f in range(d):
            centres[c, f] /= sizes[c]
    within, total = 0.0, 0.0
    for i in range(n):
        q = 0.0
        for f in range(d):
            q += (Z[i, f] - centres[labels[i], f]) ** 2
            total += (Z[i, f] - middle[f]) ** 2
        within += q
        radius[labels[i]] += np.sqrt(q)
    for c in range(k):
        radius[c] /= sizes[c]
    worst = 0.0
    for a in range(k):
        most = 0.0
        for b in range(k):
            if a != b:
                q = 0.0
                for f in range(d):
                    q += (centres[a, f] - centres[b, f]) ** 2
                most = max(most, (radius[a] + radius[b]) / max(np.sqrt(q), 1e-9))
        worst += most / k
    out[0] = 1 - within / max(total, 1e-12)
    between = max((total - within) / (k - 1), 1e-9)
    out[1] = np.log(between / max(within / max(n - k, 1), 1e-9))
    out[2] = np.log(1e-3 + worst)


@inner_jit
def add_neighbours(nearest: Any, sparsity: Any, labels: Any, sizes: Any, cut: Any, valley: Any, out: Any) -> None:
    """nearest : IN (n, K) neighbours, the nearest first
    sparsity : IN (n,) log distance of a near neighbour
    labels : IN (n,)
    sizes : IN (k,)
    cut : OUT (k, k) pairs of neighbours in different clusters
    valley : OUT (k, k) sum of the sparsity of both objects of these pairs
    out : OUT (8,) shares alike of 1, 5 and all neighbours, of 10 above chance and in the worst cluster; conductance,
        its largest, modularity
    """
    (n, most), k = nearest.shape, len(sizes)
    ten = min(NEAREST, most)
    alike, own = np.zeros(4), np.zeros(k)
    cut[:], valley[:] = 0.0, 0.0
    for i in range(n):
        c = labels[i]
        for r in range(most):
            other = labels[nearest[i, r]]
            same = 1.0 if other == c else 0.0
            alike[0] += same if r < 1 else 0.0
            alike[1] += same if r < 5 else 0.0
            alike[3] += same
            if r < ten:
                alike[2] += same
                own[c] += same
                if same == 0.0:
                    both = sparsity[i] + sparsity[nearest[i, r]]
                    cut[c, other] += 1
                    cut[other, c] += 1
                    valley[c, other] += both
                    valley[other, c] += both
    out[0], out[1], out[2] = alike[0] / n, alike[1] / (n * min(5, most)), alike[3] / (n * most)
    chance, least = 0.0, 1.0
    for c in range(k):
        chance += (sizes[c] / n) ** 2
        least = min(least, own[c] / (sizes[c] * ten))
    out[3] = (alike[2] / (n * ten) - chance) / (1 - chance + 1e-9)
    out[4] = least
    total, mean, largest, modularity = 2.0 * n * ten, 0.0, 0.0, 0.0
    for c in range(k):
        outside = 0.0
        for q in range(k):
            outside += cut[c, q]
        volume = 2 * own[c] + outside
        share = outside / max(min(volume, total - volume), 1.0)
        mean += share * sizes[c] / n
        largest = max(largest, share)
        modularity += 2 * own[c] / total - (volume / total) ** 2
    out[5], out[6], out[7] = mean, largest, modularity


@inner_jit
def add_tree(pairs: Any, lengths: Any, labels: Any, sizes: Any, out: Any) -> None:
    """pairs : IN (n - 1, 2) edges of a spanning tree
    lengths : IN (n - 1,)
    labels : IN (n,)
    sizes : IN (k,)
    out : OUT (6,) clusters per piece, share of objects in the largest piece of each, log ratio of the edges between to
        those within, density validity, its least, log of the least separation
    """
    n, k = len(labels), len(sizes)
    parent, widest, separation = np.arange(n), np.zeros(k), np.full(k, np.inf)
    n_cut, inside, between = 0.0, 0.0, 0.0
    for e in range(n - 1):
        i, j, w = pairs[e, 0], pairs[e, 1], lengths[e]
        a, b = labels[i], labels[j]
        if a == b:
            inside += np.log(w + 1e-9)
            widest[a] = max(widest[a], w)
            parent[root_of(parent, i)] = root_of(parent, j)
        else:
            n_cut += 1
            between += np.log(w + 1e-9)
            separation[a], separation[b] = min(separation[a], w), min(separation[b], w)
    pieces, largest = np.zeros(n), np.zeros(k)
    for i in range(n):
        r = root_of(parent, i)
        pieces[r] += 1
        largest[labels[i]] = max(largest[labels[i]], pieces[r])
    validity, least, nearest, in_largest = 0.0, 1.0, np.inf, 0.0
    for c in range(k):
        in_largest += largest[c]
        v = (separation[c] - widest[c]) / max(max(separation[c], widest[c]), 1e-12)
        validity += v * sizes[c] / n
        least = min(least, v)
        nearest = min(nearest, separation[c])
    inside /= max(n - 1 - n_cut, 1.0)
    out[0] = (k - 1) / max(n_cut, 1.0)
    out[1] = in_largest / n
    out[2] = between / max(n_cut, 1.0) - inside
    out[3], out[4] = validity, least
    out[5] = np.log(nearest + 1e-9) - inside


@inner_jit
def sort(values: Any) -> None:
    """Ascending, by a heap: which compiles in a quarter of the time that numpy.sort takes."""
    m = len(values)
    for step in range(m // 2 + m - 1):
        if step < m // 2:  # make a heap ...
            i, end = m // 2 - 1 - step, m
        else:  # ... and put the largest one that is left last
            i, end = 0, m - 1 - (step - m // 2)
            values[0], values[end] = values[end], values[0]
        value = values[i]
        while 2 * i + 1 < end:
            child = 2 * i + 1
            if child + 1 < end and values[child + 1] > values[child]:
                child += 1
            if values[child] <= value:
                break
            values[i] = values[child]
            i = child
        values[i] = value


@inner_jit
def two_parts(values: Any) -> Any:
    """Share of the variance of values, sorted, that the best cut into two explains; each part at least a twelfth."""
    m, mean, variance, so_far, best = len(values), 0.0, 0.0, 0.0, 0.0
    for q in range(m):
        mean += values[q]
    mean /= m
    for q in range(m):
        variance += (values[q] - mean) ** 2
    least = max(2, m // 12)
    for q in range(m - 1):
        so_far += values[q] - mean
        if q + 1 >= least and m - q - 1 >= least:
            best = max(best, so_far * so_far * m / ((q + 1.0) * (m - q - 1.0)))
    return best / max(variance, 1e-12)


@inner_jit
def quadratic(S: Any, u: Any) -> Any:
    """uᵀ S u of a symmetric matrix of which the lower half is there."""
    s = 0.0
    for f in range(len(u)):
        for h in range(len(u)):
            s += u[f] * u[h] * (S[f, h] if h <= f else S[h, f])
    return s


@inner_jit
def main_axis(S: Any) -> Any:
    """The leading eigenvector, by twelve steps of the power method."""
    g = len(S)
    u, v = np.empty(g), np.empty(g)
    for f in range(g):
        u[f] = S[f, f]
    for _ in range(12):
        v[:] = 0.0
        for f in range(g):
            for h in range(g):
                v[f] += (S[f, h] if h <= f else S[h, f]) * u[h]
        q = 0.0
        for f in range(g):
            q += v[f] * v[f]
        for f in range(g):
            u[f] = v[f] / max(np.sqrt(q), 1e-12)
    return u


@inner_jit
def add_gaussians(G: Any, sparsity: Any, labels: Any, sizes: Any, cut: Any, valley: Any, out: Any) -> None:
    """G : IN (n, g) leading scores
    sparsity : IN (n,) log distance of a near neighbour
    labels : IN (n,)
    sizes : IN (k,)
    cut, valley : IN (k, k) of `add_neighbours`
    out : OUT (10,) gain of the log likelihood by full covariances, the same less BIC's price, and of diagonal ones;
        share explained by two parts of a cluster, mean and largest; distance to the cluster with most neighbours in
        deviations, least and mean, and the share of objects where it is small; how much sparser the border is, mean and
        least
    """
    (n, g), k = G.shape, len(sizes)
    means, S, overall, total = np.zeros((k, g)), np.zeros((k, g, g)), np.zeros(g), np.zeros((g, g))
    density = np.zeros(k)
    for i in range(n):
        density[labels[i]] += sparsity[i]
        for f in range(g):
            means[labels[i], f] += G[i, f]
            overall[f] += G[i, f] / n
    for c in range(k):
        density[c] /= sizes[c]
        for f in range(g):
            means[c, f] /= sizes[c]
    for i in range(n):
        c = labels[i]
        for f in range(g):
            a, b = G[i, f] - means[c, f], G[i, f] - overall[f]
            for h in range(f + 1):
                S[c, f, h] += a * (G[i, h] - means[c, h])
                total[f, h] += b * (G[i, h] - overall[h]) / n
    pooled, L = np.zeros((g, g)), np.zeros((g, g))
    for c in range(k):
        for f in range(g):
            for h in range(f + 1):
                pooled[f, h] += S[c, f, h] / n
    ridge, diagonal = 0.0, 0.0
    for f in range(g):
        ridge += 1e-3 * total[f, f] / g
    for f in range(g):
        total[f, f] += ridge
        diagonal += np.log(max(total[f, f], 1e-12))
    full, of_diagonal = 0.5 * factorise(total, L), 0.5 * diagonal
    # The objects cluster by cluster.
    order, after, start = np.empty(n, np.int64), np.zeros(k, np.int64), 0
    for c in range(1, k):
        after[c] = after[c - 1] + int(sizes[c - 1])
    for i in range(n):
        order[after[labels[i]]] = i
        after[labels[i]] += 1
    parts, most_parts, least_far, far, near, low, least_low = 0.0, 0.0, np.inf, 0.0, 0.0, 0.0, np.inf
    for c in range(k):
        for f in range(g):
            for h in range(f + 1):
                S[c, f, h] = (S[c, f, h] + (g + 1) * pooled[f, h]) / (sizes[c] + g + 1)
        p, diagonal = sizes[c] / n, 0.0
        for f in range(g):
            S[c, f, f] += ridge
            diagonal += np.log(max(S[c, f, f], 1e-12))
        full += p * (np.log(p) - 0.5 * factorise(S[c], L))
        of_diagonal += p * (np.log(p) - 0.5 * diagonal)
    for c in range(k):
        p, m = sizes[c] / n, int(sizes[c])
        v = 0.64  # about what a cut explains of a normal distribution
        if m >= 8:
            u = main_axis(S[c])
            values = np.empty(m)
            for q in range(m):
                i, values[q] = order[start + q], 0.0
                for f in range(g):
                    values[q] += G[i, f] * u[f]
            sort(values)
            v = two_parts(values)
            most_parts = max(most_parts, v)
        parts += p * v
        start += m
        b = 0
        for q in range(1, k):
            b = q if cut[c, q] > cut[c, b] else b
        distance, rise = 5.0, 3.0
        if cut[c, b] > 0:
            square, axis = 0.0, np.empty(g)
            for f in range(g):
                axis[f] = means[c, f] - means[b, f]
                square += axis[f] * axis[f]
            length = max(np.sqrt(square), 1e-12)
            for f in range(g):
                axis[f] = axis[f] / length
            spread = np.sqrt(max(quadratic(S[c], axis), 1e-12)) + np.sqrt(max(quadratic(S[b], axis), 1e-12))
            distance = min(length / spread, 5.0)
            rise = min(valley[c, b] / (2 * cut[c, b]) - 0.5 * (density[c] + density[b]), 3.0)
        least_far, far, near = min(least_far, distance), far + p * distance, near + (p if distance < 1.2 else 0.0)
        low, least_low = low + p * rise, min(least_low, rise)
    price = 0.5 * np.log(n) / n * (k - 1)
    out[0], out[1] = full, full - price * (1 + g + g * (g + 1) / 2)
    out[2] = of_diagonal - price * (1 + 2 * g)
    out[3], out[4], out[5], out[6], out[7], out[8], out[9] = parts, most_parts, least_far, far, near, low, least_low


@inner_jit
def add_columns(X: Any, labels: Any, sizes: Any, out: Any) -> None:
    """X : IN (n, m) columns with mean 0 and deviation 1
    labels : IN (n,)
    sizes : IN (k,)
    out : OUT (4,) share of its variance that the clusters explain of the best column, of all on average, their log
        ratio, and the log of the number of columns that make up the explained share
    """
    (n, m), k = X.shape, len(sizes)
    sums = np.zeros((k, m))
    for i in range(n):
        for f in range(m):
            sums[labels[i], f] += X[i, f]
    explained = np.zeros(m)
    for c in range(k):
        for f in range(m):
            explained[f] += sums[c, f] ** 2 / sizes[c] / n
    mean, best, entropy = 0.0, explained[0], 0.0
    for f in range(m):
        mean += explained[f]
        best = max(best, explained[f])
    mean /= m
    for f in range(m):
        q = explained[f] / max(mean * m, 1e-12)
        entropy -= q * np.log(q + 1e-12)
    out[0], out[1], out[2], out[3] = best, mean, np.log((best + 1e-6) / (mean + 1e-6)), entropy


@jit
def measure_partitions(
    labels: Any,
    numbers: Any,
    rows: Any,
    distances: Any,
    paths: Any,
    nearest: Any,
    sparsity: Any,
    pairs: Any,
    lengths: Any,
    Z: Any,
    G: Any,
    X: Any,
    out: Any,
) -> None:
    """labels : IN (p, n) clusters from 0, none empty
    numbers : IN (p,) how many, at least 2
    rows : IN (r,) rows of which silhouettes are computed
    distances, paths : IN (r, n) float32, Euclidean, and the longest edge on the way through the spanning tree
    nearest : IN (n, K) neighbours, the nearest first
    sparsity : IN (n,) log distance of a near neighbour
    pairs, lengths : IN (n - 1, 2), (n - 1,) the spanning tree
    Z, G : IN (n, d), (n, g) scores, and few of them
    X : IN (n, m) columns with mean 0 and deviation 1
    out : OUT (p, len(NAMES))
    """
    n = labels.shape[1]
    for i in range(labels.shape[0]):
        k, one, F = numbers[i], labels[i], out[i]
        sizes = np.zeros(k)
        for j in range(n):
            sizes[one[j]] += 1
        entropy, tiny, smallest, largest = 0.0, 0, sizes[0], sizes[0]
        for c in range(k):
            smallest, largest = min(smallest, sizes[c]), max(largest, sizes[c])
            entropy -= sizes[c] / n * np.log(sizes[c] / n)
            tiny += sizes[c] <= TINY
        F[0], F[1] = smallest * k / n, largest * k / n
        F[2], F[3] = entropy / np.log(k), tiny / k
        means, cut, valley = np.empty(k), np.empty((k, k)), np.empty((k, k))
        silhouettes(distances, rows, one, sizes, means, F[4:7])
        silhouettes(paths, rows, one, sizes, means, F[7:10])
        add_spread(Z, one, sizes, F[10:13])
        add_neighbours(nearest, sparsity, one, sizes, cut, valley, F[13:21])
        add_tree(pairs, lengths, one, sizes, F[21:27])
        add_gaussians(G, sparsity, one, sizes, cut, valley, F[27:37])
        add_columns(X, one, sizes, F[37:41])


@jit
def pair_agreement(labels: Any, numbers: Any, others: Any, of_others: Any, ari: Any, shared: Any) -> None:
    """labels, numbers : IN (p, n), (p,) partitions and their numbers of clusters
    others, of_others : IN (q, n), (q,) others
    ari : OUT (p, q) adjusted Rand indices
    shared : OUT (p, q) share of the pairs of objects of each that the other joins too
    """
    n, pairs_of_all = labels.shape[1], labels.shape[1] * (labels.shape[1] - 1) / 2.0
    most_a, most_b = 1, 1
    for a in range(len(numbers)):
        most_a = max(most_a, numbers[a])
    for b in range(len(of_others)):
        most_b = max(most_b, of_others[b])
    table, row, column = np.empty(most_a * most_b), np.empty(most_a), np.empty(most_b)
    for a in range(labels.shape[0]):
        for b in range(others.shape[0]):
            k, q = numbers[a], of_others[b]
            table[: k * q] = 0.0
            for i in range(n):
                table[labels[a, i] * q + others[b, i]] += 1
            row[:k], column[:q] = 0.0, 0.0
            both, first, second = 0.0, 0.0, 0.0
            for x in range(k):
                for y in range(q):
                    v = table[x * q + y]
                    both += v * (v - 1) / 2
                    row[x] += v
                    column[y] += v
            for x in range(k):
                first += row[x] * (row[x] - 1) / 2
            for y in range(q):
                second += column[y] * (column[y] - 1) / 2
            expected, mean = first * second / pairs_of_all, (first + second) / 2
            ari[a, b] = (both - expected) / (mean - expected) if mean != expected else 1.0
            shared[a, b] = both / max(first, 1.0)


@jit
def longest_edges(pairs: Any, lengths: Any, rows: Any, out: Any) -> None:
    """pairs, lengths : IN (n - 1, 2), (n - 1,) of a tree in the order of `mutual_reachability_tree`
    rows : IN (r,)
    out : OUT (r, n) float32, the longest edge between each of these rows and every object
    """
    n = len(lengths) + 1
    first, after, to, weight = np.full(n, -1), np.empty(2 * n, np.int64), np.empty(2 * n, np.int64), np.empty(2 * n)
    for e in range(n - 1):
        for side in range(2):
            slot = 2 * e + side
            i = pairs[e, side]
            to[slot], weight[slot], after[slot] = pairs[e, 1 - side], lengths[e], first[i]
            first[i] = slot
    stack = np.empty(n, np.int64)
    for a in range(len(rows)):
        out[a, :] = -1.0
        out[a, rows[a]] = 0.0
        stack[0], top = rows[a], 1
        while top:
            top -= 1
            i = stack[top]
            slot = first[i]
            while slot >= 0:
                j = to[slot]
                if out[a, j] < 0:
                    out[a, j] = max(out[a, i], weight[slot])
                    stack[top] = j
                    top += 1
                slot = after[slot]
