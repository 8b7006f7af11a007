"""Random ensembles: plain functions with a seed, and hypothesis strategies."""

import numpy as np
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.neighbors import kneighbors_graph

from ensemblage import METHODS, make_consensus
from ensemblage.base.validation import Flag, Number, Seed, Whole, Words, parameter_constraints

# To an estimator with the tag `categorical` scikit-learn gives coordinates that are rounded, but not in this check.
FRACTIONS = "it gives numbers with fractions, which are refused as labels"
ON_FRACTIONS = {"check_positive_only_tag_during_fit": FRACTIONS}


def random_labels(n=60, p=5, k=4, missing=0.0, seed=0):
    """(n, p) labels 0 … k − 1 without structure, -1 with probability ``missing``; every partition labels something."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(k, size=(n, p))
    labels[rng.random((n, p)) < missing] = -1
    labels[rng.integers(n), (labels < 0).all(axis=0)] = 0
    return labels


def planted_labels(n=200, p=10, k=4, noise=0.2, missing=0.0, seed=0):
    """An ensemble around a true partition, and that partition.

    Each partition renames the true clusters and gives ``noise`` of the objects any label.
    """
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % k
    labels = np.column_stack([rng.permutation(k)[truth] for _ in range(p)])
    moved = rng.random((n, p)) < noise
    labels[moved] = rng.integers(k, size=np.count_nonzero(moved))
    labels[rng.random((n, p)) < missing] = -1
    labels[0, (labels < 0).all(axis=0)] = 0
    return labels, truth


def neighbour_graph(X, n_neighbors):
    """A symmetric sparse matrix of weights from 0 to 1, of each point with its nearest ones."""
    graph = kneighbors_graph(X, n_neighbors, mode="distance")
    graph.data = np.exp(-((graph.data / graph.data.mean()) ** 2))
    return csr_array(graph.maximum(graph.T))


def number_for(name, n_clusters=3):
    """A number of clusters for a method; None if it takes none."""
    return n_clusters if METHODS[name].capabilities.takes_n_clusters else None


def usual(name, n_clusters=3, **parameters):
    """A consensus method with a number of clusters, unless it takes none."""
    return make_consensus(name, number_for(name, n_clusters), **parameters)


def values_of(cls, name):
    """Some values that a parameter may have, by its constraints; None or one if nothing follows from them."""
    for constraint in parameter_constraints(cls)[name]:
        match constraint:
            case None:
                yield None
            case Flag():
                yield from (False, True)
            case Words():
                yield from constraint.choices
            case Seed():
                yield from (0, 1)
            case Whole(least, most):
                yield from (k for k in (3, 4, least, least + 1, least + 7) if least <= k <= (most or k))
            case Number():
                lowest = (constraint.least if constraint.above is None else constraint.above) or 0
                highest = min(constraint.below, constraint.most, lowest + 4)
                yield from (lowest + share * (highest - lowest) for share in (0.1, 0.5, 0.9))


def few_starts(model):
    """The model, with ten starts where "auto" would take hundreds: that takes long, and shows nothing more."""
    return model.set_params(n_init=10) if model.get_params().get("n_init") == "auto" else model


def with_equal_rows(labels, n, seed=0):
    """n objects drawn from the rows of ``labels``, so that many label rows occur several times."""
    return labels[np.random.default_rng(seed).integers(len(labels), size=n)]


@st.composite
def label_matrices(
    draw, max_objects=20, max_partitions=5, max_clusters=4, missing=True, min_objects=1, min_partitions=1
):
    """Small label matrices; with ``missing``, entries may be -1, but every partition labels something."""
    n = draw(st.integers(min_objects, max_objects))
    p = draw(st.integers(min_partitions, max_partitions))
    label = st.integers(-1 if missing else 0, max_clusters - 1)
    columns = [draw(st.lists(label, min_size=n, max_size=n).filter(lambda z: max(z) >= 0)) for _ in range(p)]
    return np.array(columns).T


@st.composite
def labels_and_clustering(draw, **options):
    """A label matrix and a partition of its objects, some of them perhaps not assigned."""
    labels = draw(label_matrices(**options))
    label = st.integers(-1 if options.get("missing", True) else 0, 3)
    n = len(labels)
    return labels, np.array(draw(st.lists(label, min_size=n, max_size=n).filter(lambda z: max(z) >= 0)))
