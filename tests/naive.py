"""Slow, readable twins of the fast code. Label matrices are integer arrays with -1 = missing. Sorted by topic."""

import math
from fractions import Fraction
from functools import cache
from itertools import combinations, permutations, product
from statistics import NormalDist

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

# ---- Pairs of objects: co-association, density (Candel) ----


def joined_and_labelled(labels, weights=None):
    """n_ij and m_ij: summed weights of the partitions that join i and j, and of those that label both."""
    n, p = labels.shape
    weights = np.ones(p) if weights is None else weights
    joined, labelled = np.zeros((n, n)), np.zeros((n, n))
    for t in range(p):
        known = labels[:, t] >= 0
        both = known[:, None] & known[None, :]
        labelled += weights[t] * both
        joined += weights[t] * (both & (labels[:, t, None] == labels[None, :, t]))
    return joined, labelled


def coassociation(labels, weights=None):
    """Candel Eq. 1, pair by pair over the partitions that label both; 0 where there is none."""
    joined, labelled = joined_and_labelled(labels, weights)
    return np.where(labelled > 0, joined / np.where(labelled > 0, labelled, 1), 0)


def association_counts(labels):
    """Pairs i < j by (partitions that join them, partitions that label both)."""
    p = labels.shape[1]
    joined, labelled = joined_and_labelled(labels)
    table = np.zeros((p + 1, p + 1), dtype=int)
    for i, j in combinations(range(len(labels)), 2):
        table[int(joined[i, j]), int(labelled[i, j])] += 1
    return table if (labels < 0).any() else table[:, p]


def cluster_density(labels, partition, weights=None):
    """Candel Eqs. 3 and 5: mean co-association within (without the diagonal) and between clusters."""
    joined, labelled = joined_and_labelled(labels, weights)
    np.fill_diagonal(joined, 0)
    np.fill_diagonal(labelled, 0)
    found = np.unique(partition[partition >= 0])
    result = np.zeros((len(found), len(found)))
    for a, c in enumerate(found):
        for b, d in enumerate(found):
            block = np.ix_(partition == c, partition == d)
            if labelled[block].sum() > 0:
                result[a, b] = joined[block].sum() / labelled[block].sum()
    return result


def density(labels, partition, weights=None):
    """Candel Eq. 7."""
    sizes = np.unique(partition[partition >= 0], return_counts=True)[1]
    return float(sizes @ np.diag(cluster_density(labels, partition, weights)) / sizes.sum())


def cohesion(labels, partition, weights=None):
    """Mean co-association of each object with the other members of its cluster, as a ratio of sums."""
    joined, labelled = joined_and_labelled(labels, weights)
    result = np.full(len(labels), np.nan)
    for i in range(len(labels)):
        if partition[i] >= 0 and (labels[i] >= 0).any():
            others = (partition == partition[i]) & (np.arange(len(labels)) != i)
            total = labelled[i, others].sum()
            result[i] = joined[i, others].sum() / total if total > 0 else 0.0
    return result


def lift(labels, weights=None):
    """(p,) weight of each partition over the chance that it joins two objects that it labels; 0 if it joins none."""
    u = np.ones(labels.shape[1]) if weights is None else np.array(weights, dtype=float)
    for t, z in enumerate(labels.T):
        pairs = list(combinations(z[z >= 0].tolist(), 2))
        joined = sum(a == b for a, b in pairs)
        u[t] = u[t] * len(pairs) / joined if joined else 0.0
    return u


def associations(labels, partition, weights=None):
    """(n, k) share by lift of the members of each cluster other than the object that have its label; NaN unlabelled."""
    u, k = lift(labels, weights), int(partition.max()) + 1
    plain = np.ones(labels.shape[1]) if weights is None else np.asarray(weights, dtype=float)
    result = np.full((len(labels), k), np.nan)
    for i, row in enumerate(labels):
        known = row >= 0
        for c in range(k):
            others = labels[(partition == c) & (np.arange(len(labels)) != i)]
            joined = (u * known * (others == row)).sum()
            pairs = (u * known * (others >= 0)).sum()
            if known.any():
                result[i, c] = joined / pairs if pairs > 0 else 0.0
            if known.any() and partition[i] == c and len(others) == 0:  # alone
                by = u if u.any() else plain
                apart = known & ((labels == row).sum(axis=0) == 1)
                result[i, c] = (by * apart).sum() / (by * known).sum() if (by * known).sum() > 0 else 0.0
    return result


def triples(labels, i, own, other, u):
    """(for, against, with both): by which partitions i is joined with j of its cluster, with j' of another, or both."""
    found = np.zeros(3)
    for t, z in enumerate(labels.T):
        if z[i] >= 0:
            with_j, with_other = (z[members][z[members] >= 0] == z[i] for members in (own, other))
            pairs = with_j[:, None] + 2 * with_other  # 1: with j alone, 2: with j' alone, 3: with both
            found += u[t] * np.array([(pairs == decided).sum() for decided in (1, 2, 3)])
    return found


def against_another(labels, partition, i, a, weights=None):
    """(confidence of object i against cluster a, -share of the triples joined with its own that are joined with both).

    One alone in its cluster: (0, -association with a).
    """
    own = [j for j in np.flatnonzero(partition == partition[i]) if j != i]
    if not own:
        return 0.0, -associations(labels, partition, weights)[i, a]
    other = np.flatnonzero(partition == a)
    speaks_for, against, with_both = triples(labels, i, own, other, lift(labels, weights))
    decided, with_own = speaks_for + against, speaks_for + with_both
    return speaks_for / decided if decided > 0 else 0.5, -with_both / with_own if with_own > 0 else 0.0


def confidence(labels, partition, weights=None):
    """(confidence, runner-up): least share of the decided triples that speak for the own cluster, over the others.

    One alone in its cluster: own / (own + other) of its associations. Of equal others that with which most triples of
    those joined with the own cluster are joined with both, then the first.
    """
    shares, k = associations(labels, partition, weights), int(partition.max()) + 1
    sure, second = np.full(len(labels), np.nan), np.full(len(labels), -1)
    for i, c in enumerate(partition):
        if c < 0 or not (labels[i] >= 0).any():
            continue
        sure[i] = 1.0
        if k > 1:
            keys = {a: against_another(labels, partition, i, a, weights) for a in range(k) if a != c}
            second[i] = min(keys, key=lambda a, keys=keys: (*np.round(keys[a], 12), a))
            sure[i] = keys[second[i]][0]
            if (partition == c).sum() == 1:
                both = shares[i, c] + shares[i, second[i]]
                sure[i] = shares[i, c] / both if both > 0 else 0.5
    return sure, second


def kmeans_loss(labels, partition, weights=None):
    """Candel Eq. 16 on the one-hot rows; per partition over the members that it labels."""
    loss = 0.0
    for t in range(labels.shape[1]):
        for c in np.unique(partition[partition >= 0]):
            z = labels[(partition == c) & (labels[:, t] >= 0), t]
            if len(z):
                one_hot = (z[:, None] == np.unique(z)).astype(float)
                loss += (1 if weights is None else weights[t]) * ((one_hot - one_hot.mean(axis=0)) ** 2).sum()
    return loss


# ---- Pairs of partitions: contingency, agreement ----


def contingency(a, b):
    """Objects by (cluster of a, cluster of b); the last row and column belong to missing."""
    table = np.zeros((a.max() + 2, b.max() + 2), dtype=int)
    for x, y in zip(a, b, strict=True):
        table[x, y] += 1  # -1 is the last
    return table


def agreement(labels, score):
    """(p, p) score of every pair of partitions, on the objects that both label; NaN if there are none."""
    p = labels.shape[1]
    result = np.full((p, p), np.nan)
    np.fill_diagonal(result, 1.0)
    for i, j in permutations(range(p), 2):
        both = (labels[:, i] >= 0) & (labels[:, j] >= 0)
        if both.any():
            result[i, j] = score(labels[both, i], labels[both, j])
    return result


# ---- Stability: clusters as sets, pairs one by one ----


def best_jaccard(before, after):
    """Per cluster of ``before``, noise (-1) last: the largest Jaccard similarity with a cluster; noise with noise."""

    def objects(z, cluster):
        return set(np.flatnonzero(z == cluster).tolist())

    def similarity(a, b):
        return len(a & b) / len(a | b)

    clusters, others = (sorted(set(z.tolist()) - {-1}) for z in (before, after))
    best = [max((similarity(objects(before, c), objects(after, d)) for d in others), default=0.0) for c in clusters]
    noise = objects(before, -1)
    return [*best, similarity(noise, objects(after, -1)) if noise else np.nan]


def pairs_kept(own, given):
    """Per cluster of ``own``: the share of its pairs that ``given`` joins; 1 for a single object."""
    shares = []
    for cluster in sorted(set(own.tolist()) - {-1}):
        members = np.flatnonzero(own == cluster)
        pairs = [given[i] == given[j] >= 0 for i, j in permutations(members, 2)]
        shares.append(np.mean(pairs) if pairs else 1.0)
    return shares


def transferred(X, clusters, new, transfer):
    """Cluster of each new object; those that are -1 among the old ones have no part in it."""
    clusters_left = sorted(set(clusters.tolist()) - {-1})

    def distance(x, cluster):
        members = X[clusters == cluster]
        if transfer == "centroid":
            return np.sqrt(((members.mean(axis=0) - x) ** 2).sum())
        distances = np.sqrt(((members - x) ** 2).sum(axis=1))
        return distances.min() if transfer == "nearest" else distances.mean()

    return np.array([min(clusters_left, key=lambda c, x=x: distance(x, c)) for x in new])


def persistences(X, n_neighbours, least):
    """Births and deaths by merging sets, nearest pair of sets first."""
    distances = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
    core = np.sort(distances, axis=1)[:, n_neighbours]
    reach = np.maximum(distances, np.maximum(core[:, None], core))
    components, found = [({i}, None) for i in range(len(X))], []
    while len(components) > 1:
        heights = {
            (i, j): min(reach[x, y] for x in a for y in b)
            for (i, (a, _)), (j, (b, _)) in combinations(enumerate(components), 2)
        }
        i, j = min(heights, key=heights.get)
        (a, birth_a), (b, birth_b) = components[i], components[j]
        born = [birth for birth in (birth_a, birth_b) if birth is not None]
        if len(born) == 2:
            found.append(np.log(heights[i, j] / max(born)))
        birth = min(born) if born else heights[i, j] if len(a | b) >= least else None
        components = [c for place, c in enumerate(components) if place not in (i, j)] + [(a | b, birth)]
    return sorted(found, reverse=True)


# ---- DISCOTEC: distance of a partition from the consensus matrix, over the whole n × n grid ----


def together(z):
    """(n, n) whether one partition joins the objects, and whether it labels both."""
    labelled = (z[:, None] >= 0) & (z >= 0)
    return (z[:, None] == z) & labelled, labelled


def discotec(labels, z, distance="binary"):
    """Ohl & Lindsten, Eqs. 1-4 and Table 1, as a mean over the ordered pairs that z labels."""
    joined, labelled = joined_and_labelled(labels)
    joined, labelled = joined.astype(int), labelled.astype(int)
    consensus = joined / np.maximum(labelled, 1)
    frequent = (joined * labelled.sum() >= labelled * joined.sum()) & (labelled > 0)
    joins, knows = together(z)
    with np.errstate(divide="ignore"):
        where_joined, where_separated = {
            "binary": (1.0 - frequent, 1.0 * frequent),
            "tv": (1 - consensus, consensus),
            "kl": (-np.log(consensus), -np.log(1 - consensus)),
            "hellinger": (1 - np.sqrt(consensus), 1 - np.sqrt(1 - consensus)),
        }[distance]
    return np.where(joins, where_joined, where_separated)[knows].mean()


def violations(z, must_link=(), cannot_link=()):
    """Ohl & Lindsten, Eq. 5, over the constraints on pairs that z labels."""
    wrong = [z[i] != z[j] for i, j in must_link if z[i] >= 0 and z[j] >= 0]
    wrong += [z[i] == z[j] for i, j in cannot_link if z[i] >= 0 and z[j] >= 0]
    return float(np.mean(wrong)) if wrong else 0.0


# ---- The k-means family: KCC, SEC (Wu et al. 2015; Liu et al. 2015) ----

MU = {
    "category": lambda v: (v**2).sum(),
    "entropy": lambda v: (v[v > 0] * np.log2(v[v > 0])).sum(),
    "cosine": lambda v: np.sqrt((v**2).sum()),
    "lp": lambda v: (v**5).sum() ** (1 / 5),
}


def proportions(z):
    """Proportions of the labels of one partition, over those it labels."""
    known = z[z >= 0]
    return np.bincount(known) / len(known)


def kcc_utility(labels, partition, utility, weights=None, normalized=False):
    """Σ_i w_i (n^(i) / n) [Σ_k p_k^(i) μ(P_k^(i)) − μ(P^(i))], over the objects that partition i labels."""
    n, mu, total = len(labels), MU[utility], 0.0
    for t in range(labels.shape[1]):
        z, c = labels[labels[:, t] >= 0, t], partition[labels[:, t] >= 0]
        whole = mu(proportions(z))
        inside = sum(np.mean(c == k) * mu(proportions(z[c == k])) for k in np.unique(c))
        weight = 1.0 if weights is None else weights[t]
        if normalized:
            weight = weight / abs(whole) if whole else 0.0
        total += weight * len(z) / n * (inside - whole)
    return total


def kcc_distances(labels, partition, utility):
    """(n, k) distance of every object to every cluster, over the partitions that label it.

    A partition that labels no member of a cluster is represented by its proportions over all objects.
    """
    n, k = len(labels), partition.max() + 1
    distances = np.zeros((n, k))
    for t in range(labels.shape[1]):
        width = labels[:, t].max() + 1
        for c in range(k):
            z = labels[(partition == c) & (labels[:, t] >= 0), t]
            m = np.bincount(z if len(z) else labels[labels[:, t] >= 0, t], minlength=width)
            m = m / m.sum()
            for i in np.flatnonzero(labels[:, t] >= 0):
                x = np.eye(width)[labels[i, t]]
                own = m[labels[i, t]]
                if utility == "category":
                    distances[i, c] += ((x - m) ** 2).sum()
                elif utility == "entropy":
                    distances[i, c] -= np.log2(own + np.finfo(float).eps)
                elif utility == "cosine":
                    distances[i, c] += 1 - own / MU["cosine"](m)
                else:
                    distances[i, c] += 1 - (own / MU["lp"](m)) ** 4
    return distances


def binary_matrix(labels):
    """H: a column per label, zeros where a partition does not label the object."""
    return (
        np.column_stack([labels[:, t] == c for t in range(labels.shape[1]) for c in range(labels[:, t].max() + 1)])
        * 1.0
    )


def best_of_all(n, k, score):
    """Largest score over all partitions of n objects into exactly k clusters."""

    def extend(z, used):
        if len(z) == n:
            return score(np.array(z)) if used == k else -np.inf
        return max(extend([*z, c], max(used, c + 1)) for c in range(min(used + 1, k)))

    return extend([], 0)


def sec_loss(labels, partition, weights=None):
    """Σ w_i |h_i / w_i − m|² with m = Σ h / Σ w, and Σ_C assoc(C, C) / assoc(C, all)."""
    H, A = binary_matrix(labels), joined_and_labelled(labels, weights)[0]
    if weights is not None:
        widths = labels.max(axis=0) + 1
        H = H * np.sqrt(np.repeat(weights, widths))
    w = A.sum(axis=1)
    loss, association = 0.0, 0.0
    for c in np.unique(partition):
        own = partition == c
        m = H[own].sum(axis=0) / w[own].sum()
        loss += (w[own] * ((H[own] / w[own, None] - m) ** 2).sum(axis=1)).sum()
        association += A[np.ix_(own, own)].sum() / A[own].sum()
    return loss, association


# ---- Hierarchies: evidence accumulation ----


def merges(joined, labelled, counts, linkage, threshold=None):
    """Greedy agglomeration of distinct rows: (i, j, similarity) per merge, clusters named by their smallest row.

    Similarities are fractions: ties are ties. Of equally similar pairs of clusters the smallest (i, j) goes first; with
    single linkage i and j are the most similar rows. Rows no more similar than the threshold are not similar at all.
    """
    if threshold is not None:
        joined = joined.copy()
        for i, j in np.argwhere(labelled > 0):
            if Fraction(joined[i, j]) / Fraction(labelled[i, j]) <= Fraction(threshold) + Fraction(1, 10**12):
                joined[i, j] = 0
    members = {i: [i] for i in range(len(counts))}
    found = []
    while len(members) > 1:
        candidates = []
        for a, b in combinations(sorted(members), 2):
            pairs = [(i, j) for i in members[a] for j in members[b]]
            if linkage == "average":
                n = sum(Fraction(joined[i, j]) * int(counts[i] * counts[j]) for i, j in pairs)
                m = sum(Fraction(labelled[i, j]) * int(counts[i] * counts[j]) for i, j in pairs)
                candidates.append((-(n / m if m else 0), a, b, a, b))
                continue
            similar = [
                (-(Fraction(joined[i, j]) / Fraction(labelled[i, j])) if labelled[i, j] else 0, min(i, j), max(i, j))
                for i, j in pairs
            ]
            best = min(similar) if linkage == "single" else (max(similar)[0], a, b)
            candidates.append((*best, a, b))
        negative, i, j, a, b = min(candidates)
        found.append((i, j, float(-negative)))
        members[a] += members.pop(b)
    return found


def first_members(Z):
    """(n - 1, 2) the first members of the two clusters of each merge of SciPy's matrix, in order."""
    first, found = list(range(len(Z) + 1)), []
    for a, b in Z[:, :2].astype(int):
        found.append(sorted((first[a], first[b])))
        first.append(found[-1][0])
    return np.array(found).reshape(-1, 2)


def first_members_of_pairs(merges):
    """The same of merges that name any member of each of their clusters, such as those of `merges`."""
    first, found = list(range(len(merges) + 1)), []
    for i, j, *_ in merges:
        found.append(sorted((first[i], first[j])))
        first = [found[-1][0] if f == found[-1][1] else f for f in first]
    return np.array(found).reshape(-1, 2)


def keeps(z, must=(), cannot=()):
    """Whether a partition joins and separates the pairs that it should."""
    return all(z[i] == z[j] for i, j in must) and all(z[i] != z[j] for i, j in cannot)


def linked_groups(labels, must=(), cannot=()):
    """Objects that are one unit: must-link groups, and equal rows that no pair names; by their first row, then object.

    Of equal rows those that no pair names come first.
    """
    named = {i for pair in [*must, *cannot] for i in pair}
    groups = [[i] for i in range(len(labels))]
    for i, j in must:
        a, b = next(g for g in groups if i in g), next(g for g in groups if j in g)
        if a is not b:
            groups.remove(b)
            a += b
    rows = [tuple(np.where(row < 0, 99, row)) for row in labels]
    for i, j in combinations(range(len(labels)), 2):
        if i not in named and j not in named and rows[i] == rows[j]:
            a, b = next(g for g in groups if i in g), next(g for g in groups if j in g)
            if a is not b:
                groups.remove(b)
                a += b
    return sorted(groups, key=lambda g: min((rows[i], i in named, min(g)) for i in g))


def constrained_merges(labels, must, cannot, linkage, weights=None):
    """Greedy agglomeration of `linked_groups`: clusters and similarity after each merge that no pair forbids."""
    joined, labelled = joined_and_labelled(labels, weights)
    clusters, found = linked_groups(labels, must, cannot), []
    while True:
        candidates = []
        for a, b in combinations(range(len(clusters)), 2):
            if any({i, j} & set(clusters[a]) and {i, j} & set(clusters[b]) for i, j in cannot):
                continue
            pairs = np.ix_(clusters[a], clusters[b])
            if linkage == "average":
                similar = joined[pairs].sum() / max(labelled[pairs].sum(), 1e-300)
            else:
                of_pairs = joined[pairs] / np.maximum(labelled[pairs], 1e-300)
                similar = of_pairs.max() if linkage == "single" else of_pairs.min()
            candidates.append((-round(similar, 12), a, b))
        if not candidates:
            return found
        negative, a, b = min(candidates)
        clusters = [c + clusters[b] if i == a else c for i, c in enumerate(clusters) if i != b]
        found.append(([sorted(c) for c in clusters], -negative))


def label_jaccard(labels):
    """Jaccard similarity of the clusters of all partitions, 0 with itself; clusters sorted by partition and label.

    Of two partitions only the objects count that both label.
    """
    known = [set(np.flatnonzero(z >= 0)) for z in labels.T]
    sets = [
        (set(np.flatnonzero(z == c)), s) for z, s in zip(labels.T, known, strict=True) for c in np.unique(z[z >= 0])
    ]
    result = np.array([[len(a & b) / (len((a | b) & s & t) or 1) for b, t in sets] for a, s in sets])
    np.fill_diagonal(result, 0)
    return result


def ecpcs(labels, steps=20):
    """Cosines of the concatenated rows of P, P², …, P^steps; P is the Jaccard matrix with rows that sum to 1."""
    jaccard = label_jaccard(labels)
    out = jaccard.sum(axis=1, keepdims=True)
    step = np.divide(jaccard, out, out=np.zeros_like(jaccard), where=out > 0)
    walks = np.hstack([np.linalg.matrix_power(step, s) for s in range(1, steps + 1)])
    norms = np.linalg.norm(walks, axis=1)
    norms[norms == 0] = 1
    return (walks / norms[:, None]) @ (walks / norms[:, None]).T


def cts(labels, decay=0.8, quality=False):
    """Connected triples (or triple quality) between clusters of one partition, by the largest such sum."""
    jaccard = label_jaccard(labels)
    partition = np.concatenate([np.full(len(np.unique(z[z >= 0])), t) for t, z in enumerate(labels.T)])
    d = len(partition)
    result = np.zeros((d, d))
    for u, v in permutations(range(d), 2):
        if partition[u] == partition[v]:
            shared = np.flatnonzero(np.minimum(jaccard[u], jaccard[v]))
            each = 1 / jaccard[shared].sum(axis=1) if quality else np.minimum(jaccard[u], jaccard[v])[shared]
            result[u, v] = each.sum()
    return decay * result / (result.max() or 1)


def enhanced_association(labels, similarity):
    """Mean over the partitions that label both: 1 in one cluster, else the similarity of the two clusters."""
    n, p = labels.shape
    found = [np.unique(z[z >= 0]) for z in labels.T]
    start = np.concatenate([[0], np.cumsum([len(f) for f in found])])
    result = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            values = []
            for t in range(p):
                a, b = labels[i, t], labels[j, t]
                if a >= 0 and b >= 0:
                    u, v = (start[t] + np.searchsorted(found[t], c) for c in (a, b))
                    values.append(1.0 if a == b else similarity[u, v])
            result[i, j] = np.mean(values) if values else 0
    return result


def two_means_cut(values, counts):
    """Largest value of the lower group of the two of least squares, by trying every cut."""

    def loss(part):
        mean = np.average(values[part], weights=counts[part])
        return (counts[part] * (values[part] - mean) ** 2).sum()

    losses = [loss(slice(0, c)) + loss(slice(c, None)) for c in range(1, len(values))]
    return values[int(np.argmin(losses))]


def weighted_pairs(labels, counts, weights, first, last, n_bins):
    """Pairs of objects in rows i < j with first ≤ i < last by positive co-association, rounded; largest of each bin."""
    association, tally, largest = coassociation(labels, weights), np.zeros(n_bins + 1, dtype=int), np.zeros(n_bins + 1)
    for i in range(first, last):
        for j in range(i + 1, len(labels)):
            if association[i, j] > 0:
                at = int(association[i, j] * n_bins + 0.5)
                tally[at] += counts[i] * counts[j]
                largest[at] = max(largest[at], association[i, j])
    return tally, largest


# ---- Voting: Ada-cVote, bVote, JS-ALink (Ayad & Kamel) ----


def indicator(z):
    """(n, k) indicator of the labels 0 … k − 1; a missing object has no one."""
    return (z[:, None] == np.arange(z.max() + 1)).astype(float)


def cumulative_aggregate(labels, order, weights=None, adaptive=True):
    """Alg. 2, the votes of every object written out. Every earlier vote counts once."""
    weights = np.ones(labels.shape[1]) if weights is None else weights
    U = indicator(labels[:, order[0]])
    prior = U.sum(axis=0) / U.sum()
    heard, voters = weights[order[0]] * U, weights[order[0]] * U.sum(axis=1)
    first = heard.copy(), voters.copy()
    for i in order[1:]:
        U = indicator(labels[:, i])
        votes, total = (U.T @ (heard if adaptive else first[0])), U.T @ (voters if adaptive else first[1])
        W = np.array([v / t if t > 0 else prior for v, t in zip(votes, total, strict=True)])
        heard, voters = heard + weights[i] * U @ W, voters + weights[i] * U.sum(axis=1)
    with np.errstate(invalid="ignore"):
        return heard / voters[:, None]


def bipartite_aggregate(labels, order, k):
    """Alg. 1 with dummy clusters, the best assignment by trying all."""
    U0 = np.zeros((len(labels), k))
    for step, i in enumerate(order, start=1):
        U = indicator(labels[:, i])
        places = max(permutations(range(k), U.shape[1]), key=lambda c, G=U.T @ U0: sum(G[np.arange(len(c)), list(c)]))
        V = np.zeros_like(U0)
        V[:, list(places)] = U
        U0 = (step - 1) / step * U0 + V / step
    return U0


def shannon(p):
    p = p[p > 0]
    return float(-(p * np.log(p)).sum())


def js_divergences(U):
    """Generalised Jensen-Shannon divergence of every pair of columns, as distributions over the objects."""
    k = U.shape[1]
    result = np.zeros((k, k))
    for a, b in permutations(range(k), 2):
        share = U[:, a].sum() / (U[:, a].sum() + U[:, b].sum())
        P, Q = U[:, a] / U[:, a].sum(), U[:, b] / U[:, b].sum()
        mixture = share * P + (1 - share) * Q
        result[a, b] = shannon(mixture) - share * shannon(P) - (1 - share) * shannon(Q)
    return result


def voting_losses(U, z):
    """Eq. 3 and error rate of the relabelling of z to U: (cumulative, bipartite), each (mse, error rate)."""
    known = (z >= 0) & ~np.isnan(U[:, 0])
    U, z = U[known], z[known]
    found, k = np.unique(z), max(U.shape[1], len(np.unique(z)))
    U = np.hstack([U, np.zeros((len(U), k - U.shape[1]))])
    V = np.array([U[z == c].mean(axis=0) for c in z])
    cumulative = ((U - V) ** 2).sum() / len(U), 1 - sum(U[z == c].sum(axis=0).max() for c in found) / len(U)
    agreed = max(
        sum(U[z == c, q].sum() for c, q in zip(found, places, strict=True))
        for places in permutations(range(k), len(found))
    )
    return cumulative, (((U**2).sum() - 2 * agreed + len(U)) / len(U), 1 - agreed / len(U))


# ---- Internal indices, after Desgraupes' clusterCrit ----


def _clusters(X, z):
    return [X[z == c] for c in np.unique(z)]


def _sum_of_squares(X):
    return ((X - X.mean(axis=0)) ** 2).sum()


def _scatter(X):
    return (X - X.mean(axis=0)).T @ (X - X.mean(axis=0))


def _pairs(X, z):
    """Distances of the unordered pairs within and between clusters."""
    i, j = np.triu_indices(len(X), 1)
    distances = np.sqrt(((X[i] - X[j]) ** 2).sum(axis=1))
    return distances[z[i] == z[j]], distances[z[i] != z[j]]


def ball_hall(X, z):
    return np.mean([_sum_of_squares(c) / len(c) for c in _clusters(X, z)])


def banfield_raftery(X, z):
    return sum(len(c) * np.log(_sum_of_squares(c) / len(c)) for c in _clusters(X, z))


def wgss(X, z):
    return sum(_sum_of_squares(c) for c in _clusters(X, z))


def duda_hart(X, z):
    return wgss(X, z) / _sum_of_squares(X)


def c_index(X, z):
    within, between = _pairs(X, z)
    ordered = np.sort(np.append(within, between))
    smallest, largest = ordered[: len(within)].sum(), ordered[-len(within) :].sum()
    return (within.sum() - smallest) / (largest - smallest)


def mcclain_rao(X, z):
    within, between = _pairs(X, z)
    return within.mean() / between.mean()


def dunn(X, z):
    within, between = _pairs(X, z)
    return between.min() / within.max()


def det_ratio(X, z):
    return np.linalg.det(_scatter(X)) / np.linalg.det(sum(_scatter(c) for c in _clusters(X, z)))


def log_det_ratio(X, z):
    return len(X) * np.log(det_ratio(X, z))


def log_ss_ratio(X, z):
    return np.log((_sum_of_squares(X) - wgss(X, z)) / wgss(X, z))


def xie_beni(X, z):
    centroids = [c.mean(axis=0) for c in _clusters(X, z)]
    return wgss(X, z) / len(X) / min(((a - b) ** 2).sum() for a, b in permutations(centroids, 2))


def wemmert_gancarski(X, z):
    centroids = [c.mean(axis=0) for c in _clusters(X, z)]
    total = 0.0
    for k, members in enumerate(_clusters(X, z)):
        ratios = []
        for x in members:
            distances = [np.linalg.norm(x - g) for g in centroids]
            ratios.append(distances[k] / min(d for other, d in enumerate(distances) if other != k))
        total += len(members) * max(0, 1 - np.mean(ratios))
    return total / len(X)


INTERNAL = {
    "ball_hall": ball_hall,
    "banfield_raftery": banfield_raftery,
    "c_index": c_index,
    "det_ratio": det_ratio,
    "duda_hart": duda_hart,
    "dunn": dunn,
    "hartigan": log_ss_ratio,
    "log_det_ratio": log_det_ratio,
    "log_ss_ratio": log_ss_ratio,
    "mcclain_rao": mcclain_rao,
    "wemmert_gancarski": wemmert_gancarski,
    "wgss": wgss,
    "xie_beni": xie_beni,
}


# ---- Stability of a resampled ensemble (Monti) ----


def consensus_values(labels):
    """Consensus of every pair i < j that some partition labels both."""
    joined, labelled = joined_and_labelled(labels)
    upper = np.triu_indices(len(labels), 1)
    known = labelled[upper] > 0
    return joined[upper][known] / labelled[upper][known]


def item_consensus(labels, partition):
    """Each object with the other members of each cluster: times joined / times both labelled."""
    joined, labelled = joined_and_labelled(labels)
    found = np.unique(partition[partition >= 0])
    result = np.zeros((len(labels), len(found)))
    for i in range(len(labels)):
        for c, cluster in enumerate(found):
            others = (partition == cluster) & (np.arange(len(labels)) != i)
            total = labelled[i, others].sum()
            result[i, c] = joined[i, others].sum() / total if total else 0
        if not (labels[i] >= 0).any():
            result[i] = np.nan
    return result


# ---- Graphs: Ncut, minimax index (Shi & Malik; Zhong et al.), meta-clusters (Strehl & Ghosh) ----


def random_walk(W, offset=0.5):
    """D^-1/2 (W + I/2) D^-1/2 over single objects, as in the authors' ncut.m."""
    scale = 1 / np.sqrt(W.sum(axis=1) + 2 * offset)
    return scale[:, None] * (W + offset * np.eye(len(W))) * scale


def robust_similarity(S, n_neighbors=3):
    """Weights of the points, and the max-min path values between them by Floyd and Warshall; 1 on the diagonal."""
    u = np.array([np.sort(np.delete(row, i))[::-1][:n_neighbors].sum() for i, row in enumerate(S)])
    w = u / u.max() if u.max() > 0 else u
    R = S * np.outer(w, w)
    for k in range(len(R)):
        R = np.maximum(R, np.minimum(R[:, k, None], R[None, k, :]))
    np.fill_diagonal(R, 1)
    return w, R


def mm_index(S, partition, cut, n_neighbors=3):
    """Sinorina Eqs. 2-6 literally; ``cut(R)`` says which members of a cluster go to its first half."""
    total = 0.0
    for c in np.unique(partition[partition >= 0]):
        inside, outside = partition == c, (partition >= 0) & (partition != c)
        if inside.sum() <= n_neighbors:
            return np.inf
        placed = np.flatnonzero(partition >= 0)
        whole = np.zeros_like(S)
        whole[np.ix_(placed, placed)] = robust_similarity(S[np.ix_(placed, placed)], n_neighbors)[1]
        cohesion = whole[np.ix_(inside, outside)].max() if outside.any() else 0.0
        _, R = robust_similarity(S[np.ix_(inside, inside)], n_neighbors)
        half = cut(R)
        stability = R[np.ix_(half, ~half)].min() if 0 < half.sum() < len(half) else R[~np.eye(len(R), dtype=bool)].min()
        if stability == 0:
            return np.inf
        total += cohesion / stability
    return total


def one_hot(labels):
    """H: a column per label, zeros where a partition does not label the object."""
    columns = [labels[:, t] == c for t in range(labels.shape[1]) for c in range(labels[:, t].max() + 1)]
    return np.column_stack(columns).astype(float)


def jaccard(labels):
    """(d, d) |a ∩ b| / |a ∪ b| of all clusters of all partitions."""
    H = one_hot(labels)
    shared, sizes = H.T @ H, H.sum(axis=0)
    return shared / (sizes[:, None] + sizes - shared)


def association_with_parts(labels, parts):
    """(n, k) mean indicator of the clusters of each part."""
    H = one_hot(labels)
    return np.column_stack([H[:, parts == g].mean(axis=1) for g in range(parts.max() + 1)])


def two_least(values):
    """The least value and the least of the others."""
    return tuple(sorted(values.tolist())[:2])


def short_sums(codes, starts, table, width):
    """(n, width) sums of the rows of a flat table that begin at starts[j] + codes[i, j] · width."""
    return np.array([[sum(int(table[s + int(c) * width + q]) for s, c in zip(starts, row, strict=True))
                      for q in range(width)] for row in codes])  # fmt: skip


def assigned_rows(codes, offsets, table):
    """(n,) first column of the least sum in float32, and (n, k) exact sums of the rows of a table."""
    exact = np.zeros((len(codes), table.shape[1]))
    rounded = exact.astype(np.float32)
    for offset, column in zip(offsets, codes.T, strict=False):
        exact += table[offset + column.astype(np.int64)]
        rounded += table[offset + column.astype(np.int64)]
    return rounded.argmin(axis=1), rounded, exact


def told_apart(labels, weights):
    """Whether colour refinement tells all labels and all partitions apart: the ensemble has no symmetry then."""
    places = [(j, c) for j, z in enumerate(labels.T) for c in np.unique(z[z >= 0])]
    colour = {(j, c): (weights[j], int((labels[:, j] == c).sum())) for j, c in places}

    def numbered(keys):
        numbers = {key: number for number, key in enumerate(sorted(set(keys.values())))}
        return {place: numbers[key] for place, key in keys.items()}

    for _ in range(len(places)):
        before = numbered(colour)
        rows = [sorted(before[j, c] for j, c in enumerate(row) if c >= 0) for row in labels]
        parts = [sorted(before[i, c] for i, c in places if i == j) for j in range(labels.shape[1])]
        colour = {
            (j, c): (weights[j], before[j, c], parts[j], sorted(rows[i] for i in np.flatnonzero(labels[:, j] == c)))
            for j, c in places
        }
        colour = {place: repr(key) for place, key in colour.items()}
    return len(set(colour.values())) == len(places)


def gower_distances(numbers, categories):
    """Gower's distances: ``numbers`` and ``categories`` are lists of columns; NaN and "" are missing."""
    n = len((numbers or categories)[0])
    spans = [max(x for x in column if x == x) - min(x for x in column if x == x) for column in numbers]
    distances = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            parts = [
                abs(column[i] - column[j]) / span
                for column, span in zip(numbers, spans, strict=True)
                if column[i] == column[i] and column[j] == column[j]
            ]
            parts += [float(column[i] != column[j]) for column in categories if column[i] and column[j]]
            distances[i, j] = sum(parts) / len(parts)
    return distances


# ---- Bit planes ----


def bits_of(words):
    """Bits of 64-bit words along the last axis, the lowest first; booleans."""
    return ((words[..., None] >> np.arange(64, dtype=np.uint64)) & np.uint64(1)).reshape(*words.shape[:-1], -1) == 1


def numbers_of_planes(planes):
    """Numbers whose l-th bits are the bits of the l-th plane."""
    return sum(bits_of(plane).astype(int) << level for level, plane in enumerate(planes))


# ---- Spanning tree and Genie (Gagolewski et al. 2016) ----


def spanning_tree(X):
    """Kruskal: edges (i, j), i < j, by squared length, i, j; and their lengths."""
    n = len(X)
    edges = sorted((float(((X[i] - X[j]) ** 2).sum()), i, j) for i, j in combinations(range(n), 2))
    clusters, tree = list(range(n)), []
    for square, i, j in edges:
        if clusters[i] != clusters[j]:
            tree.append((square, i, j))
            clusters = [clusters[i] if c == clusters[j] else c for c in clusters]
    return np.array([(i, j) for _, i, j in tree]).reshape(-1, 2), np.sqrt([square for square, _, _ in tree])


def gini_index(sizes):
    """Mean absolute difference of two sizes, as a share of the largest there can be."""
    q = len(sizes)
    return sum(abs(a - b) for a, b in combinations(sizes, 2)) / ((q - 1) * sum(sizes))


def genie(X, k, threshold):
    """Labels in order of the first object, lengths of the edges merged, Gini index before each merge."""
    pairs, lengths = spanning_tree(X)
    clusters, unused, used, gini = np.arange(len(X)), list(range(len(pairs))), [], []
    for _ in range(len(X) - k):
        sizes = np.bincount(clusters)
        gini.append(gini_index(sizes[sizes > 0].tolist()))
        ends = sizes[clusters[pairs]]
        smallest = sizes[sizes > 0].min()
        edge = next(e for e in unused if gini[-1] <= threshold + 1e-12 or smallest in ends[e])
        unused.remove(edge)
        used.append(edge)
        a, b = clusters[pairs[edge]]
        clusters[clusters == b] = a
    _, first, labels = np.unique(clusters, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[labels], lengths[used], gini


def lumbermark(X, k, n_neighbors=5, share=0.25, least=10):
    """Labels in order of the first object, of Gagolewski 2026; None where no edge is left to cut."""
    n, squares = len(X), ((X[:, None] - X[None]) ** 2).sum(axis=2)
    core = np.sort(squares, axis=1)[:, min(n_neighbors, n - 1)]
    edges = sorted((max(squares[i, j], core[i], core[j]), squares[i, j], i, j) for i, j in combinations(range(n), 2))
    part, tree = list(range(n)), []
    for *_, i, j in edges:
        if part[i] != part[j]:
            tree.append((i, j))
            part = [part[i] if c == part[j] else c for c in part]
    inner = np.bincount(np.ravel(tree), minlength=n) > 1

    def parts(kept):
        graph = csr_array((np.ones(len(kept)), tuple(zip(*kept, strict=True))), shape=(n, n))
        return connected_components(graph, directed=False)[1]

    for q in range(2, k + 1):
        bound, before = max(least, int(share * inner.sum() / q)), parts(tree)
        for edge in reversed(tree):
            after = parts([other for other in tree if other != edge])
            halves = [inner[after == after[end]].sum() for end in edge]
            if inner[list(edge)].all() and min(halves) >= bound and before[edge[0]] == before[edge[1]]:
                tree.remove(edge)
                break
        else:
            return None
    labels = parts(tree)
    _, first = np.unique(labels, return_index=True)
    return np.argsort(np.argsort(first))[labels]


# ---- Probability trajectories (Huang, Lai & Wang) ----


def random_steps(W, sizes):
    """P: steps from label rows of so many objects to their neighbours; none from a row without neighbours."""
    degrees = (W * sizes).sum(axis=1)
    return W * sizes / np.where(degrees == 0, 1, degrees)[:, None]


def trajectory_similarities(similarity, sizes, n_neighbors, n_steps):
    """PTS of label rows of so many objects from their co-associations: the trajectories are written out."""
    m, W = len(similarity), np.array(similarity, dtype=float)
    np.fill_diagonal(W, 0)
    thresholds = [sorted(row, reverse=True)[min(n_neighbors, m) - 1] for row in W]
    kept = [[W[i, j] >= min(thresholds[i], thresholds[j]) - 1e-12 for j in range(m)] for i in range(m)]
    W = np.where(kept, W, 0)
    alone, P = W.sum(axis=1) == 0, random_steps(W, sizes)
    trajectories = np.hstack([np.linalg.matrix_power(P, t) for t in range(1, n_steps + 1)])
    lengths = np.where(alone, 1, np.linalg.norm(trajectories, axis=1))
    similarities = trajectories @ trajectories.T / np.outer(lengths, lengths)
    similarities[alone], similarities[:, alone] = 0, 0
    np.fill_diagonal(similarities, 1)
    return similarities


def mean_similarity_to_clusters(similarities, rows):
    """B: the mean similarity of each label row to the rows of each cluster; labels are 0 … k - 1, or -1."""
    columns = [rows[:, t] == c for t in range(rows.shape[1]) for c in range(rows[:, t].max() + 1)]
    return np.column_stack([similarities[:, members].mean(axis=1) for members in columns])


# ---- Transfer cut (Li, Wu & Chang) ----


def transfer_cut(B, k):
    """Leading eigenvalues of the walk over the clusters, and the objects' points on the sphere; B is (n, c)."""
    B = B[:, B.sum(axis=0) > 0]
    x = np.where(B.sum(axis=1) > 0, B.sum(axis=1), 1e-10)
    W = B.T @ (B / x[:, None])
    root = np.sqrt(W.sum(axis=1))
    values, vectors = np.linalg.eigh(W / root[:, None] / root)
    values, vectors = values[::-1][:k], vectors[:, ::-1][:, :k]
    U = (B / x[:, None]) @ (vectors / root[:, None])
    return values, U / (np.linalg.norm(U, axis=1)[:, None] + 1e-10)


def loss_of_points(points, clusters):
    """Sum of squared distances to the means of the clusters."""
    return sum(((points[clusters == c] - points[clusters == c].mean(axis=0)) ** 2).sum() for c in np.unique(clusters))


# ---- Weights of clusters (Huang, Wang & Lai) ----


def cluster_weights(labels, theta, weights=None):
    """ECI of every cluster, partition by partition."""
    p = labels.shape[1]
    weights = np.ones(p) if weights is None else weights
    found = []
    for a in range(p):
        for c in np.unique(labels[labels[:, a] >= 0, a]):
            entropies, voting = 0.0, 0.0
            for m in range(p):
                others = labels[(labels[:, a] == c) & (labels[:, m] >= 0), m]
                if len(others):
                    q = np.unique(others, return_counts=True)[1] / len(others)
                    entropies -= weights[m] * (q * np.log2(q)).sum()
                    voting += weights[m]
            found.append(np.exp(-entropies / voting / theta))
    return np.array(found)


def local_association(labels, local, weights):
    """LWCA: co-association where a shared cluster adds its weight; 1 on the diagonal of what is labelled at all."""
    n, p = labels.shape
    joined, labelled = np.zeros((2, n, n))
    first = 0
    for t in range(p):
        clusters = np.unique(labels[labels[:, t] >= 0, t])
        known = labels[:, t] >= 0
        labelled += weights[t] * np.outer(known, known)
        for c, weight in zip(clusters, local[first:], strict=False):
            joined += weights[t] * weight * np.outer(labels[:, t] == c, labels[:, t] == c)
        first += len(clusters)
    association = joined / np.where(labelled > 0, labelled, 1)
    np.fill_diagonal(association, (labels >= 0).any(axis=1))
    return association


def local_linkage(rows, counts, local):
    """Average linkage of distinct rows with counts: the weights of shared clusters over the labelled pairs."""
    m, p = rows.shape
    joined, labelled = np.zeros((2, m, m))
    first = 0
    for t in range(p):
        known, clusters = rows[:, t] >= 0, np.unique(rows[rows[:, t] >= 0, t])
        labelled += np.outer(counts * known, counts * known)
        for c, weight in zip(clusters, local[first:], strict=False):
            members = counts * (rows[:, t] == c)
            joined += weight * np.outer(members, members)
        first += len(clusters)
    left, pairs, heights = list(range(m)), [], []
    while len(left) > 1:
        some = np.ix_(left, left)
        similar = joined[some] / np.where(labelled[some] > 0, labelled[some], 1)
        similar[np.tril_indices(len(left))] = -1
        i, j = np.unravel_index(np.argmax(similar), similar.shape)
        pairs.append((left[i], left[j]))
        heights.append(1 - similar[i, j])
        for sums in (joined, labelled):
            sums[left[i]] += sums[left[j]]
            sums[:, left[i]] += sums[:, left[j]]
        del left[j]
    return np.array(pairs), np.maximum.accumulate(heights)


def normalized_association(B, clusters):
    """Of clusters of objects in the graph B D^-1 B' that they make by way of the columns of B."""
    sizes = B.sum(axis=0)
    graph = (B[:, sizes > 0] / sizes[sizes > 0]) @ B[:, sizes > 0].T
    volumes = {c: graph[clusters == c].sum() for c in np.unique(clusters)}
    shares = [graph[np.ix_(clusters == c, clusters == c)].sum() / v for c, v in volumes.items() if v > 0]
    return sum(shares)


# ---- U-SPEC: features and representatives (Huang et al. 2020) ----


def representative_affinities(X, representatives, n_neighbors):
    """B, (n, P), and sigma: Gaussians of the distances to the exact nearest representatives."""
    distances = [[float(np.linalg.norm(x - r)) for r in representatives] for x in X]
    nearest = [sorted(range(len(representatives)), key=lambda j, row=row: row[j])[:n_neighbors] for row in distances]
    kept = [row[j] for row, near in zip(distances, nearest, strict=True) for j in near]
    sigma = sum(kept) / len(kept) or 1.0
    B = np.zeros((len(X), len(representatives)))
    for i, near in enumerate(nearest):
        for j in near:
            B[i, j] = np.exp(-(distances[i][j] ** 2) / (2 * sigma**2)) or np.finfo(float).eps
    return B, sigma


# ---- Latent classes (Topchy et al. 2004) and k-modes (Huang 1998) ----


def latent_classes(labels, z, n_iter, weights=None):
    """EM from responsibilities z, (n, k): log-likelihoods, and the responsibilities and the classes at the end."""
    n, p = labels.shape
    weights = np.ones(p) if weights is None else np.asarray(weights) / np.mean(weights)
    trace = []
    for _ in range(n_iter):
        share, theta = z.mean(axis=0), []
        for m in range(p):
            known = labels[:, m] >= 0
            values = range(labels[:, m].max() + 1)
            theta.append(np.array([z[labels[:, m] == c].sum(axis=0) for c in values]) / z[known].sum(axis=0))
        f = np.tile(share, (n, 1))
        for i in range(n):
            for m in range(p):
                if labels[i, m] >= 0:
                    f[i] *= theta[m][labels[i, m]] ** weights[m]
        trace.append(float(np.log(f.sum(axis=1)).sum()))
        z = f / f.sum(axis=1, keepdims=True)
    return trace, z, (share, theta)


def bic(labels, k, log_likelihood):
    surplus = sum(len(set(column[column >= 0])) - 1 for column in labels.T)
    return -2 * log_likelihood + (k - 1 + k * surplus) * np.log(len(labels))


def modes(labels, clusters, weights=None):
    """The commonest label of each cluster's members per partition, the first one on ties; and the cost."""
    k, p = clusters.max() + 1, labels.shape[1]
    weights = np.ones(p) if weights is None else weights
    found = np.full((k, p), -1)
    for c in range(k):
        for m in range(p):
            given = labels[clusters == c, m]
            given = given[given >= 0] if (given >= 0).any() else labels[labels[:, m] >= 0, m]
            found[c, m] = np.argmax(np.bincount(given))
    wrong = (labels >= 0) & (labels != found[clusters])
    return found, float((wrong * weights).sum())


# ---- Distances of partitions (Hornik 2005) ----


def partition_distance(a, b, kind):
    """By membership matrices, pairs of objects and permutations of columns."""
    a, b = a[(a >= 0) & (b >= 0)], b[(a >= 0) & (b >= 0)]
    n = len(a)
    if n == 0:
        return np.nan
    A, B = ((np.unique(z)[None] == z[:, None]).astype(float) for z in (a, b))
    ka, kb = A.shape[1], B.shape[1]
    k = max(ka, kb)
    PA, PB = (np.hstack([M, np.zeros((n, k - M.shape[1]))]) for M in (A, B))
    moved = min(np.abs(PA - PB[:, list(order)]).sum() for order in permutations(range(k)))
    joined_a, joined_b = A @ A.T, B @ B.T
    parted = np.triu(joined_a != joined_b, 1).sum()
    either = np.triu((joined_a + joined_b) > 0, 1).sum()
    if kind in ("euclidean", "manhattan", "ba-a"):
        return {"euclidean": np.sqrt(moved), "manhattan": moved, "ba-a": moved / 2}[kind]
    if kind in ("comembership", "symdiff", "rand", "jaccard"):
        norm = np.linalg.norm(joined_a - joined_b)
        shares = {"rand": parted / max(n * (n - 1) / 2, 1), "jaccard": parted / max(either, 1)}
        return {"comembership": norm, "symdiff": parted, **shares}[kind]
    if kind == "gv1":
        few, many = (A, B) if ka <= kb else (B, A)
        chosen = permutations(range(many.shape[1]), few.shape[1])
        return min(np.linalg.norm(few - many[:, list(columns)]) for columns in chosen)
    if kind == "ba-c":
        reach = np.linalg.matrix_power(A.T @ B @ B.T @ A + np.eye(ka), ka) > 0
        return ka + kb - 2 * len(np.unique(reach, axis=0))
    P = A.T @ B / n
    joint, first, second = (shannon(p) for p in (P.ravel(), P.sum(axis=1), P.sum(axis=0)))
    shared = first + second - joint
    return joint - shared if kind == "vi" else (1 - shared / joint if joint > 1e-12 else 0)


# ---- Medians of partitions (Hornik 2005; Gordon & Vichi 2001) ----


def median_loss(labels, M, weights=None):
    """Weighted mean over the partitions of the squared distance to M, least over permutations of its columns, on the
    objects that a partition labels.
    """
    total, weights = 0.0, np.ones(labels.shape[1]) if weights is None else weights
    for z, weight in zip(labels.T, weights, strict=True):
        known = z >= 0
        own = (np.unique(z[known])[None] == z[known, None]).astype(float)
        k = max(own.shape[1], M.shape[1])
        own, other = (np.hstack([A, np.zeros((len(A), k - A.shape[1]))]) for A in (own, M[known]))
        total += weight * min(((own - other[:, list(order)]) ** 2).sum() for order in permutations(range(k)))
    return total / np.sum(weights)


def comembership_loss(labels, M, weights):
    """Weighted mean over the partitions of the squared distance of M Mᵀ to their co-memberships."""
    total = 0.0
    for z, weight in zip(labels.T, weights, strict=True):
        known = z >= 0
        total += weight * ((M[known] @ M[known].T - (z[known, None] == z[known])) ** 2).sum()
    return total / weights.sum()


# ---- Several modes (Peixoto 2021) ----


def mode_description(labels):
    """S_mode of partitions that are aligned already; -1: missing. Object by object."""
    labels = labels[(labels >= 0).any(axis=1)]
    total, n_used = math.log(len(labels)), len(set(labels[labels >= 0].tolist()))
    for row in labels:
        known = [r for r in row.tolist() if r >= 0]
        total += math.lgamma(len(known) + n_used) - math.lgamma(n_used)
        total -= sum(math.lgamma(known.count(r) + 1) for r in set(known))
    return total


def division_description(sizes):
    """S_part of the sizes of modes."""
    p, n_modes = sum(sizes), len(sizes)
    found = math.log(p) + math.log(math.comb(p - 1, n_modes - 1)) + math.lgamma(p + 1)
    return found - sum(math.lgamma(size + 1) for size in sizes)


def partial_injections(k, n_used):
    """Labels of k clusters, each one of those in use or new, none twice; and how many are in use then."""
    found = [((), n_used)]
    for _ in range(k):
        found = [((*own, r), max(used, r + 1)) for own, used in found for r in range(used + 1) if r not in own]
    return found


def best_mode_description(columns):
    """Least S_mode of complete partitions, codes from 0, over all alignments with at most one label too many."""
    most, aligned = 1 + max(int(column.max()) + 1 for column in columns), [([], 0)]
    for column in columns:
        k = int(column.max()) + 1
        aligned = [
            ([*done, np.array(own)[column]], now)
            for done, used in aligned
            for own, now in partial_injections(k, used)
            if now <= most
        ]
    return min(mode_description(np.column_stack(done)) for done, _ in aligned)


def set_partitions(items):
    """All ways to put a list into groups."""
    if not items:
        return [[]]
    first, rest = items[0], set_partitions(items[1:])
    return [[*groups[:i], [first, *groups[i]], *groups[i + 1 :]] for groups in rest for i in range(len(groups))] + [
        [[first], *groups] for groups in rest
    ]


def least_description(labels):
    """Least description of complete partitions, by all divisions and alignments."""
    columns = [np.unique(column, return_inverse=True)[1] for column in labels.T]
    best = cache(lambda group: best_mode_description([columns[j] for j in group]))
    return min(
        division_description([*map(len, groups)]) + sum(best(tuple(sorted(group))) for group in groups)
        for groups in set_partitions([*range(len(columns))])
    )


def matched_to(block, U):
    """The columns of a soft partition of as many clusters, in the order in which it agrees most with U."""
    best = max(permutations(range(block.shape[1])), key=lambda order: (block[:, list(order)] * U).sum())
    return block[:, list(best)]


def best_soft_median(blocks, hard):
    """Least mean squared distance of a soft or hard partition to soft ones of as many clusters, by all matchings."""
    k, least = blocks[0].shape[1], np.inf
    for orders in product(permutations(range(k)), repeat=len(blocks) - 1):
        matched = [blocks[0], *(block[:, list(order)] for block, order in zip(blocks[1:], orders, strict=True))]
        mean = np.mean(matched, axis=0)
        M = np.eye(k)[mean.argmax(axis=1)] if hard else mean
        least = min(least, np.mean([np.square(M - block).sum() for block in matched]))
    return least


def partition_quality(A, labels, resolution, objective):
    """Modularity or the constant Potts model, over all pairs of nodes, per edge weight; A is symmetric, no diagonal."""
    n, degrees, total = len(A), A.sum(axis=1), A.sum()
    value = 0.0
    for i in range(n):
        for j in range(n):
            if labels[i] == labels[j]:
                expected = degrees[i] * degrees[j] / total if objective == "modularity" else float(i != j)
                value += A[i, j] - resolution * expected
    return value / total


def local_moves(A, sizes, gamma, order):
    """Community of each node of local moving from all alone: each in turn to the best, until no move gains."""
    n = len(A)
    labels, active, moved = list(range(n)), [True] * n, True
    while moved:
        moved = False
        for i in order:
            if not active[i]:
                continue
            active[i] = False
            near = [j for j in range(n) if j != i and A[i, j] > 0]

            def gain(c, i=i, near=near):
                inside = sum(A[i, j] for j in near if labels[j] == c)
                return inside - gamma * sizes[i] * sum(sizes[j] for j in range(n) if j != i and labels[j] == c)

            stay = gain(labels[i])
            others = sorted({labels[j] for j in near} - {labels[i]}, key=lambda c, i=i: (c + order[i]) % n)
            best = max(others, key=gain, default=labels[i])
            if gain(best) > stay + 1e-12 * sum(A[i, j] for j in near):
                labels[i], moved = best, True
                for j in near:
                    active[j] = active[j] or labels[j] != best
    return labels


def pair_association(labels, weights, i, j):
    """Weight of the partitions that join two objects, by that of those that label both; NaN where none does."""
    joined = both = 0
    for label_i, label_j, weight in zip(labels[i], labels[j], weights, strict=True):
        if label_i >= 0 and label_j >= 0:
            both += weight
            joined += weight * (label_i == label_j)
    return joined / both if both else float("nan")


def k_core(A, k):
    """Nodes of the largest subgraph in which each has k neighbours."""
    inside = set(range(len(A)))
    while weak := {i for i in inside if sum(A[i, j] > 0 for j in inside) < k}:
        inside -= weak
    return inside


def ecg_weight(A, association, min_weight):
    """(n, n) ECG's weights; ``association(i, j)`` of two nodes."""
    core, w = k_core(A, 2), np.zeros(A.shape)
    for i, j in zip(*np.nonzero(A), strict=True):
        c = association(i, j)
        in_core = i in core and j in core and not np.isnan(c)
        w[i, j] = min_weight + (1 - min_weight) * c if in_core else min_weight
    return w


def sampled_counts(counts, size, random):
    """Object by object: one of every ``weight`` of the light rows' objects, whose row counts as much."""
    weight = next(w for w in range(1, max(counts.sum(), 1) + 1) if np.minimum(counts, w).sum() <= size * w)
    objects = [i for i, count in enumerate(counts) for _ in range(count) if count < weight]
    first = np.arange(0, len(objects), weight)
    sampled = np.where(counts < weight, 0, counts)
    for place in first + random.randint(weight, size=len(first)):
        if place < len(objects):
            sampled[objects[place]] += weight
    return sampled


# ---- Draws from a posterior: losses, credible balls (Dahl et al. 2022; Wade & Ghahramani 2018) ----


def partition_loss(c, d, loss="vi", a=1.0):
    """Numerator and denominator of the loss of a partition and a draw, on the objects that both label."""
    known = [i for i in range(len(c)) if c[i] >= 0 and d[i] >= 0]
    n = len(known)
    if loss == "binder":
        parted = sum(c[i] != c[j] and d[i] == d[j] for i in known for j in known)
        joined = sum(c[i] == c[j] and d[i] != d[j] for i in known for j in known)
        return a * parted + (2 - a) * joined, n * n
    if loss == "omari":
        pairs = list(combinations(known, 2))
        of_c, of_d = ({(i, j) for i, j in pairs if z[i] == z[j]} for z in (c, d))
        mean = (len(of_c) + len(of_d)) / 2
        chance = len(of_c) * len(of_d) / max(1, len(pairs))
        return (0, 1) if of_c == of_d else (mean - len(of_c & of_d), mean - chance)

    def entropy(values):
        return -sum(values.count(v) / n * math.log2(values.count(v) / n) for v in set(values))

    h_c, h_d = entropy([c[i] for i in known]), entropy([d[i] for i in known])
    joint = entropy([(c[i], d[i]) for i in known])
    shared = h_c + h_d - joint
    of_losses = {
        "vi": (h_c + h_d - 2 * shared, 1),
        "gvi": (a * (h_c - shared) + (2 - a) * (h_d - shared), 1),
        "nvi": (h_c + h_d - 2 * shared, joint),
        "id": (max(h_c, h_d) - shared, 1),
        "nid": (max(h_c, h_d) - shared, max(h_c, h_d)),
    }
    above, below = of_losses[loss]
    unit = n if below == 1 else 1
    return (0, unit) if joint == shared else (above * unit, below * unit)


def expected_loss(labels, c, loss="vi", a=1.0, weights=None):
    """Ratio of sums for VI, Binder and ID, else the mean over the draws that label something of c."""
    fractions = [partition_loss(c, d, loss, a) for d in labels.T]
    weights = np.ones(len(fractions)) if weights is None else weights
    if loss in ("vi", "gvi", "binder", "id"):
        above, below = (sum(w * f[i] for w, f in zip(weights, fractions, strict=True)) for i in (0, 1))
        return above / below
    shares = [(w, x / y) for w, (x, y), d in zip(weights, fractions, labels.T, strict=True) if any((d >= 0) & (c >= 0))]
    return sum(w * x for w, x in shares) / sum(w for w, _ in shares)


def all_partitions(n):
    """(Bell(n), n) labels by first appearance of all partitions of n objects."""
    rows = [[0]]
    for _ in range(n - 1):
        rows = [[*row, k] for row in rows for k in range(max(row) + 2)]
    return np.array(rows)


def expected_losses(labels, partitions, counts=None, weights=None):
    """Expected losses of many partitions, (B, m), of rows that count so often, by name; a of "gvi" and "binder" 1/2."""
    m, p = labels.shape
    counts = np.ones(m, dtype=int) if counts is None else counts
    weights = np.ones(p) / p if weights is None else np.asarray(weights) / np.sum(weights)
    onehot = [(partitions == k) * counts for k in range(partitions.max() + 1)]
    n = counts.sum()
    h = lambda x: x * np.log2(np.maximum(x, 1))  # noqa: E731
    found = dict.fromkeys(
        ["vi", "gvi .5", "gvi 1.5", "binder", "binder .5", "binder 1.5", "omari", "nvi", "id", "nid"], 0
    )
    for w, d in zip(weights, labels.T, strict=True):
        sums = {}
        for name, g in (("log", h), ("square", np.square)):
            cells = [x @ (d == b) for x in onehot for b in np.unique(d)]
            u = sum(g(counts[d == b].sum()) for b in np.unique(d))
            sums[name] = u, sum(g(x.sum(axis=1)) for x in onehot), sum(map(g, cells))
        u, v, t = sums["square"]
        for name, a in (("binder", 1), ("binder .5", 0.5), ("binder 1.5", 1.5)):
            found[name] = found[name] + w * (a * u + (2 - a) * v - 2 * t) / n**2
        u, v, t, q = ((x - n) / 2 for x in (u, v, t, n * n))
        same, mean = (u == v) & (v == t), (u + v) / 2
        found["omari"] = found["omari"] + w * np.where(same, 0, (mean - t) / np.where(same, 1, mean - u * v / q))
        u, v, t = sums["log"]
        for name, a in (("vi", 1), ("gvi .5", 0.5), ("gvi 1.5", 1.5)):
            found[name] = found[name] + w * (a * u + (2 - a) * v - 2 * t) / n
        joint = h(n) - t
        found["nvi"] = found["nvi"] + w * np.where(joint < 1e-9, 0, (u + v - 2 * t) / np.where(joint < 1e-9, 1, joint))
        found["id"] = found["id"] + w * (np.maximum(u, v) - t) / n
        most = h(n) - np.minimum(u, v)
        found["nid"] = found["nid"] + w * np.where(
            most < 1e-9, 0, (np.maximum(u, v) - t) / np.where(most < 1e-9, 1, most)
        )
    return found


def second_best(clusters, n_clusters, loss):
    """Of each row the losses with it in every other cluster."""
    others = []
    for i, own in enumerate(clusters.tolist()):
        moved = {k: [*clusters[:i], k, *clusters[i + 1 :]] for k in range(n_clusters) if k != own}
        others.append({k: loss(c) for k, c in moved.items()})
    return others


def element_similarity(a, b):
    """Gates et al. 2019 by personalised PageRank with damping .9, over the objects that both label."""
    n, known = len(a), np.flatnonzero((a >= 0) & (b >= 0))
    walks = []
    for z in (a[known], b[known]):
        step = (z[:, None] == z) / (z[:, None] == z).sum(axis=1, keepdims=True)
        walks.append(0.1 * np.linalg.inv(np.eye(len(z)) - 0.9 * step))
    found = np.full(n, np.nan)
    found[known] = 1 - np.abs(walks[0] - walks[1]).sum(axis=1) / (2 * 0.9)
    return found


# ---- Unimodality ----


def dip(values):
    """Least D with a unimodal distribution function within D of the observed one, by linear programs; ≥ 1 / (2n).

    One program for each value that the mode may be at; there F may jump. Between values the mode gains nothing.
    """
    distinct, counts = np.unique(values, return_counts=True)
    after = np.cumsum(counts) / len(values)
    before = after - counts / len(values)
    distances = [_distance_with_mode(k, distinct, before, after) for k in range(len(distinct))]
    return max(1 / (2 * len(values)), min(distances))


def _distance_with_mode(k, x, before, after):
    """Variables: F up to x_k, F from x_k, D. F is within D of both ends of each step, its jump of those of its own."""
    low, high = list(range(k + 1)), list(range(k, len(x)))
    n = len(low) + len(high) + 1
    rows, bounds = [], []

    def at_most(entries, bound):
        row = np.zeros(n)
        for place, factor in entries:
            row[place] += factor
        rows.append(row)
        bounds.append(bound)

    for v, (j, side) in enumerate([(j, "low") for j in low] + [(j, "high") for j in high]):
        for step in [before[j]] * (j != k or side == "low") + [after[j]] * (j != k or side == "high"):
            at_most([(v, 1), (n - 1, -1)], step)
            at_most([(v, -1), (n - 1, -1)], -step)
    for first, side, sign in ((0, low, 1), (len(low), high, -1)):
        for i in range(1, len(side) - 1):
            left, right = x[side[i]] - x[side[i - 1]], x[side[i + 1]] - x[side[i]]
            # sign (slope before − slope behind) ≤ 0
            slopes = [
                (first + i - 1, -sign / left),
                (first + i, sign / left + sign / right),
                (first + i + 1, -sign / right),
            ]
            at_most(slopes, 0)
    for v in range(n - 2):
        at_most([(v, 1), (v + 1, -1)], 0)
    cost = np.eye(n)[-1]
    return linprog(cost, A_ub=np.array(rows), b_ub=bounds, bounds=[(None, None)] * n).fun


def ward_tree(means, sizes):
    """The clusters on either side of each join, the last join first, by Ward's rule on means."""
    groups = [
        ([c], np.asarray(mean, dtype=float), int(size)) for c, (mean, size) in enumerate(zip(means, sizes, strict=True))
    ]
    joins = []
    while len(groups) > 1:
        _, a, b = min(
            (m * n / (m + n) * ((x - y) ** 2).sum(), a, b)
            for (a, (_, x, m)), (b, (_, y, n)) in combinations(enumerate(groups), 2)
        )
        (left, x, m), (right, y, n) = groups[a], groups[b]
        joins.append((left, right))
        groups[a] = (sorted(left + right), (m * x + n * y) / (m + n), m + n)
        del groups[b]
    return joins[::-1]


def split_rhat(values, chains):
    """Vehtari et al. 2021: the larger R-hat of halves, of ranks and of ranks of distances from the median."""
    values, chains = np.asarray(values, dtype=float), np.asarray(chains)
    least = min(np.sum(chains == c) for c in set(chains.tolist()))
    parts = []
    for c in sorted(set(chains.tolist())):
        own = [v for v, of in zip(values.tolist(), chains.tolist(), strict=True) if of == c][-least:]
        parts += [own[: least // 2], own[-(least // 2) :]]
    everything = [v for part in parts for v in part]
    middle = np.median(everything)
    folded = [[abs(v - middle) for v in part] for part in parts]
    found = [rhat_of_parts(_normal_scores(of)) for of in (parts, folded)]
    return max((value for value in found if value == value), default=float("nan"))


def _normal_scores(parts):
    """Blom's normal scores of all values, equal ones with their mean rank."""
    everything = [v for part in parts for v in part]
    rank = {v: np.mean([i for i, other in enumerate(sorted(everything), 1) if other == v]) for v in everything}
    size = len(everything)
    return [[NormalDist().inv_cdf((rank[v] - 3 / 8) / (size + 1 / 4)) for v in part] for part in parts]


def rhat_of_parts(parts):
    """Gelman et al. 2013, Section 11.4: equations of B, W and the estimate of the variance."""
    half = len(parts[0])
    means = [sum(part) / half for part in parts]
    overall = sum(means) / len(means)
    between = half / (len(parts) - 1) * sum((mean - overall) ** 2 for mean in means)
    within = np.mean([sum((v - mean) ** 2 for v in part) / (half - 1) for part, mean in zip(parts, means, strict=True)])
    estimate = (half - 1) / half * within + between / half
    return float(np.sqrt(estimate / within)) if within > 0 else float("nan")


def chips(labels, counts, least, random, weights=None):
    """One greedy start of Barrientos et al. 2024, without missing labels: labels, -1 for rows that are not placed.

    Rows are distinct, with as many objects as ``counts`` says, which are placed together. Cluster 0 is a new one, the
    others are numbered as they began; ties by ``random.randint`` of all objects that tie, in the order of rows and
    clusters.
    """
    n, p = labels.shape
    weights = np.ones(p) if weights is None else np.asarray(weights, dtype=float)
    active, placed = set(range(p)), {}
    while True:
        scores = {}
        for i in (i for i in range(n) if i not in placed):
            for c in range(max(placed.values(), default=0) + 1):
                scores[i, c] = sum(weights[j] for j in active if _places(labels[:, j], placed, i, c))
        most = max(scores.values(), default=-1)
        if most < least:
            break
        tied = [
            key for key, score in scores.items() if score >= most - 1e-9 * weights.sum() for _ in range(counts[key[0]])
        ]
        i, c = tied[random.randint(len(tied))]
        active = {j for j in active if _places(labels[:, j], placed, i, c)}
        placed[i] = max(placed.values(), default=0) + 1 if c == 0 else c
    return np.array([placed.get(i, 0) - 1 for i in range(n)]), sum(weights[j] for j in active) / weights.sum()


def _places(draw, placed, i, c):
    """Whether a draw that agrees with all placed objects would put another one into a cluster."""
    together = {placed[other] for other in placed if draw[other] == draw[i]}
    return together == (set() if c == 0 else {c})


def wasserstein_of_partitions(labels, n_modes, weights=None):
    """Balocchi & Wade 2025: the least mean VI of the draws to the nearest of so many partitions, of all there are."""
    n, p = labels.shape
    weights = np.ones(p) / p if weights is None else np.asarray(weights) / np.sum(weights)
    partitions = all_partitions(n)
    loss = np.stack([expected_losses(labels[:, [j]], partitions)["vi"] for j in range(p)], axis=1) * weights
    return min(
        sum(loss[:, [j for j in range(p) if of[j] == one]].sum(axis=1).min() for one in set(of))
        for of in product(range(n_modes), repeat=p)
    )


def kmeans_of_starts(X, uniforms, max_iter):
    """Lloyd's iterations from k-means++ starts, by the means themselves: the least sum of squares, and its labels."""
    best = np.inf, None
    for start in uniforms:
        chosen, least = [], np.ones(len(X))
        for u in start:
            chosen.append(int(np.argmax(np.cumsum(least) > u * least.sum())))
            least = ((X[:, None] - X[chosen]) ** 2).sum(axis=2).min(axis=1)
        means, labels = X[chosen], None
        for _ in range(max_iter):
            squares = ((X[:, None] - means) ** 2).sum(axis=2)
            before, labels = labels, squares.argmin(axis=1)
            if before is not None and (before == labels).all():
                break
            means = np.stack([X[labels == c].mean(axis=0) for c in range(len(means))])  # none is empty
        if squares.min(axis=1).sum() < best[0]:
            best = squares.min(axis=1).sum(), labels
    return best


def sums_by_label(row, labels):
    """The sums of a row over the objects of each cluster."""
    return np.array([row[labels == c].sum() for c in range(labels.max() + 1)])


def silhouette_features(distances, rows, labels):
    """Mean, least mean of a cluster, share below 0 of the silhouettes of some rows."""
    sizes, values = np.bincount(labels), np.zeros(len(rows))
    for a, i in enumerate(rows):
        c, sums = labels[i], sums_by_label(distances[a].astype(float), labels)
        if sizes[c] == 1:
            continue
        inside, outside = sums[c] / (sizes[c] - 1), min((sums / sizes)[q] for q in range(len(sizes)) if q != c)
        values[a] = (outside - inside) / max(inside, outside) if max(inside, outside) > 0 else 0
    means = [values[labels[rows] == c].mean() for c in np.unique(labels[rows])]
    return [values.mean(), min(1.0, *means), (values < 0).mean()]


def neighbour_features(nearest, sparsity, labels):
    """Least cluster of the nearest ten, conductance, largest, modularity; cut and sparsity of pairs of clusters."""
    k, sizes, n = labels.max() + 1, np.bincount(labels), len(labels)
    own, cut, valley = np.zeros(k), np.zeros((k, k)), np.zeros((k, k))
    ten = min(10, nearest.shape[1])
    for i in range(n):
        for j in nearest[i, :ten]:
            a, b = labels[i], labels[j]
            if a == b:
                own[a] += 1
                continue
            for x, y in ((a, b), (b, a)):
                cut[x, y] += 1
                valley[x, y] += sparsity[i] + sparsity[j]
    volume, total = 2 * own + cut.sum(axis=1), 2 * n * ten
    share = [cut[c].sum() / max(min(volume[c], total - volume[c]), 1) for c in range(k)]
    modularity = sum(2 * own[c] / total - (volume[c] / total) ** 2 for c in range(k))
    least = min(1.0, *(own / (sizes * ten)))
    return [least, np.dot(share, sizes) / n, max(share), modularity], cut, valley


def tree_features(pairs, lengths, labels):
    """Pieces, main pieces, log ratio of cut edges, density validity, its least, log of the least separation."""
    n, k, sizes = len(labels), labels.max() + 1, np.bincount(labels)
    piece = list(range(n))
    inner = [labels[i] == labels[j] for i, j in pairs]
    for (i, j), same in zip(pairs, inner, strict=True):
        if same:
            piece = [piece[i] if q == piece[j] else q for q in piece]
    largest = [max(piece.count(q) for q in {piece[i] for i in range(n) if labels[i] == c}) for c in range(k)]
    logarithms, inner = np.log(lengths + 1e-9), np.array(inner)
    inside = logarithms[inner].sum() / max(inner.sum(), 1)
    between = logarithms[~inner].sum() / max((~inner).sum(), 1)
    validity, nearest = [], []
    for c in range(k):
        touches = np.array([c in (labels[i], labels[j]) for i, j in pairs])
        widest = max((lengths[touches & inner]).tolist(), default=0.0)
        separation = min((lengths[touches & ~inner]).tolist(), default=np.inf)
        validity.append((separation - widest) / max(separation, widest, 1e-12))
        nearest.append(separation)
    ratio = (k - 1) / max((~inner).sum(), 1)
    return [
        ratio,
        sum(largest) / n,
        between - inside,
        np.dot(validity, sizes) / n,
        min(1.0, *validity),
        np.log(min(nearest) + 1e-9) - inside,
    ]


def two_parts(values):
    """Share of the variance that the best cut into two parts of a twelfth at least explains."""
    values = np.sort(values)
    total, best = ((values - values.mean()) ** 2).sum(), 0.0
    least = max(2, len(values) // 12)
    for q in range(least, len(values) - least + 1):
        within = sum(((part - part.mean()) ** 2).sum() for part in (values[:q], values[q:]))
        best = max(best, total - within)
    return best / max(total, 1e-12)


def gaussian_features(G, sparsity, labels, cut, valley):
    """Likelihoods, two parts, distances and valleys, as `choices/_partition_features.py` names them."""
    (n, g), k, sizes = G.shape, labels.max() + 1, np.bincount(labels)
    total = np.cov(G.T, bias=True).reshape(g, g)
    ridge = 1e-3 * np.trace(total) / g * np.eye(g)
    scatter = [np.cov(G[labels == c].T, bias=True).reshape(g, g) * sizes[c] for c in range(k)]
    S = [(s + (g + 1) * sum(scatter) / n) / (m + g + 1) + ridge for s, m in zip(scatter, sizes, strict=True)]
    p, means = sizes / n, np.array([G[labels == c].mean(axis=0) for c in range(k)])
    density = [sparsity[labels == c].mean() for c in range(k)]
    full = sum(p[c] * (np.log(p[c]) - 0.5 * np.log(np.linalg.det(S[c]))) for c in range(k))
    full += 0.5 * np.log(np.linalg.det(total + ridge))
    diagonal = sum(p[c] * (np.log(p[c]) - 0.5 * np.log(np.diag(S[c])).sum()) for c in range(k))
    diagonal += 0.5 * np.log(np.diag(total + ridge)).sum()
    parts, distance, rise = [], [], []
    for c in range(k):
        axis = np.diag(S[c]).copy()
        for _ in range(12):
            axis = S[c] @ axis / np.linalg.norm(S[c] @ axis)
        parts.append(two_parts(G[labels == c] @ axis) if sizes[c] >= 8 else 0.64)
        b = int(cut[c].argmax())
        if cut[c, b] == 0:
            distance.append(5.0)
            rise.append(3.0)
            continue
        between = means[c] - means[b]
        axis = between / np.linalg.norm(between)
        spread = np.sqrt(axis @ S[c] @ axis) + np.sqrt(axis @ S[b] @ axis)
        distance.append(min(5.0, np.linalg.norm(between) / spread))
        rise.append(min(3.0, valley[c, b] / (2 * cut[c, b]) - (density[c] + density[b]) / 2))
    price = 0.5 * np.log(n) / n * (k - 1)
    return [
        full,
        full - price * (1 + g + g * (g + 1) / 2),
        diagonal - price * (1 + 2 * g),
        p @ parts,
        max((v for v, m in zip(parts, sizes, strict=True) if m >= 8), default=0.0),
        min(distance),
        p @ distance,
        p @ (np.array(distance) < 1.2),
        p @ rise,
        min(rise),
    ]


def step_of_kmeans(points, counts, centres, clusters):
    """Nearest centre of each point (float32, the first on ties), sums and counts of each, and how many points moved."""
    half, sums = np.float32(0.5), np.zeros((len(centres), points.shape[1] + 1))
    found = np.empty(len(points), dtype=int)
    lengths = np.zeros(len(centres), dtype=np.float32)
    for s in range(points.shape[1]):
        lengths += centres[:, s] * centres[:, s] * half
    for i, point in enumerate(points):
        distances = lengths.copy()
        for s, coordinate in enumerate(point):
            distances -= coordinate * centres[:, s]
        found[i] = distances.argmin()
        sums[found[i]] += np.append(point.astype(float), 1) * counts[i]
    return found, sums, int((found != clusters).sum())


def nearest_rows(X, queries, k):
    """Squared distances, summed in the order of the features, and numbers of the k nearest rows of X to each query."""
    found = []
    for query in queries:
        squares = []
        for i, row in enumerate(X):
            total = 0.0
            for x, y in zip(row, query, strict=True):
                total += (x - y) * (x - y)
            squares.append((total, i))
        found.append((sorted(squares) + [(np.inf, len(X))] * k)[:k])
    return np.array([[s for s, _ in row] for row in found]), np.array([[i for _, i in row] for row in found])
