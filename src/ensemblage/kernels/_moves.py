"""Local moving, the step that community detection repeats: each node to the community where it is best."""

from typing import Any

from ensemblage.kernels._jit import jit


@jit
def move_nodes(
    graph: Any, sizes: Any, gamma: float, order: Any, labels: Any, totals: Any, work: Any, progress: Any, budget: int
) -> bool:
    """Move nodes between communities until no move gains anything. Returns whether moves are left.

    A node i gains w(i, c) - gamma * size(i) * size(c) in community c: w(i, c) is the weight of its edges into c, and
    neither counts i itself. It stays where that is as good as anywhere else, up to rounding; ties among others go to
    the first in an order of its own, by ``order[i]``. A node is looked at again when one of its neighbours has moved.

    graph : IN (indptr, indices, data) of a symmetric matrix; entries on the diagonal are passed over
    sizes : IN (n,) float64
    order : IN (n,) int64, a permutation: the nodes as they are visited
    labels : IN/OUT (n,) int64, community of each node, from 0 to n - 1
    totals : IN/OUT (n,) float64, sum of the sizes of each community
    work : WORK (float64 (n,) zero, int64 (n,), bool (n,) all True: nodes to look at)
    progress : WORK (2,) int64 zero, the place in ``order`` and the moves since it began
    budget : IN operations of this slice
    """
    indptr, indices, data = graph
    weight_to, near, active = work
    n, (place, moves), operations = order.shape[0], progress, 0
    while operations < budget:
        if place == n:
            if moves == 0:
                return False
            place, moves = 0, 0
        i = order[place]
        place += 1
        operations += 1
        if not active[i]:
            continue
        active[i] = False
        operations += 2 * (indptr[i + 1] - indptr[i])
        own, n_near, degree = labels[i], 0, 0.0
        for s in range(indptr[i], indptr[i + 1]):
            j = indices[s]
            if j != i and data[s] > 0:
                c = labels[j]
                if weight_to[c] == 0:
                    near[n_near] = c
                    n_near += 1
                weight_to[c] += data[s]
                degree += data[s]
        totals[own] -= sizes[i]
        stay = weight_to[own] - gamma * sizes[i] * totals[own]
        best, gain, best_rank = own, stay + 1e-12 * degree, n
        for t in range(n_near):
            c = near[t]
            here, rank = weight_to[c] - gamma * sizes[i] * totals[c], (c + order[i]) % n
            weight_to[c] = 0.0
            if here > gain or (here == gain and best != own and rank < best_rank):
                best, gain, best_rank = c, here, rank
        totals[best] += sizes[i]
        if best != own:
            labels[i] = best
            moves += 1
            for s in range(indptr[i], indptr[i + 1]):
                if labels[indices[s]] != best:
                    active[indices[s]] = True
    progress[0], progress[1] = place, moves
    return True
