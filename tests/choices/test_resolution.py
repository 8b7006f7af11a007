"""Which resolution: neighbours and their graph, what is found again in resamples, plateaus, their consensus."""

import sys
from dataclasses import replace
from functools import cache
from itertools import combinations
from types import SimpleNamespace

import naive
import numpy as np
import pytest
from limits import limit
from scipy.sparse import csr_array
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import kneighbors_graph

from ensemblage import plotting
from ensemblage.choices import _choose_resolution
from ensemblage.choices._choose_resolution import NeighbourGraphs, ResolutionChoice, _plateaus, _resamples
from ensemblage.generation import LeidenPartitions, _nearest
from ensemblage.generation._nearest import memberships, nearest_neighbours, neighbour_graph
from ensemblage.n_clusters import choose_resolution

LOUVAIN = {"algorithm": "louvain", "n_resamples": 4, "random_state": 0}
SOME = [0.3, 0.6, 1.0, 2.0]


def blobs(n=150, centers=3, **kwargs):
    return make_blobs(n, centers=centers, n_features=4, random_state=1, **kwargs)[0]


# Neighbours and their graph


def test_the_unit_graph_is_scikit_learns():
    X = blobs()
    one_way = kneighbors_graph(X, 7)
    assert (neighbour_graph(nearest_neighbours(X, 7), "unit") != csr_array(one_way.maximum(one_way.T))).nnz == 0


def test_neighbours_in_a_part_are_those_of_the_part():
    X, part = blobs(), np.sort(np.random.default_rng(0).permutation(150)[:110])
    found, expected = nearest_neighbours(X, 40).among(part, 7), nearest_neighbours(X[part], 7)
    assert np.array_equal(found.rows, expected.rows)
    np.testing.assert_allclose(found.distances, expected.distances)


def test_where_fewer_neighbours_are_there_these_are_taken():
    X = np.array([[0.0], [1], [2], [10], [11]])
    found = nearest_neighbours(X, 2).among(np.array([0, 1, 3]), 2)
    assert found.rows.tolist() == [[1, -1], [0, -1], [-1, -1]]
    assert neighbour_graph(found).toarray()[:2, :2].tolist() == [[0, 1], [1, 0]]
    assert neighbour_graph(found).shape == (3, 3)


def naive_memberships(distances):
    """Row by row, as the paper says it."""
    found = np.zeros_like(distances)
    for i, d in enumerate(distances):
        rho = min((x for x in d if x > 0), default=0.0)
        low, high = 0.0, 1e6
        for _ in range(200):
            sigma = (low + high) / 2
            total = sum(np.exp(-max(0.0, x - rho) / sigma) for x in d)
            low, high = (low, sigma) if total > np.log2(len(d) + 1) else (sigma, high)
        found[i] = [np.exp(-max(0.0, x - rho) / sigma) for x in d]
    return found


def test_memberships_are_those_of_the_definition():
    distances = nearest_neighbours(blobs(), 9).distances
    there = np.ones(distances.shape, dtype=bool)
    np.testing.assert_allclose(memberships(distances, there), naive_memberships(distances), atol=1e-4)
    there[:, -2:] = False  # what is not there does not count
    few = memberships(distances, there)
    np.testing.assert_allclose(few[:, :-2], naive_memberships(distances[:, :-2]), atol=1e-4)
    assert not few[:, -2:].any()


def test_no_width_is_less_than_a_thousandth_of_the_mean_distance():
    """Of those that are there and of the row itself, at 0; where two are as near as the nearest, σ would go to 0."""
    found = memberships(np.array([[1.0, 1.0, 1.001, 7.0]]), np.array([[True, True, True, False]]))
    np.testing.assert_allclose(found, [[1, 1, np.exp(-0.001 / (0.001 * 3.001 / 4)), 0]])


def test_neighbours_by_pynndescent_are_others(monkeypatch):
    """It counts a row among its own neighbours, not always first, and may miss it."""
    rows, distances = np.array([[0, 1, 2], [2, 1, 0], [1, 0, 3], [3, 2, 1]]), np.arange(12.0).reshape(4, 3)

    class Search:
        def __init__(self, X, n_neighbors, random_state, n_jobs):
            assert n_neighbors == 3
            self.neighbor_graph = rows.astype(np.int32), distances.astype(np.float32)

    monkeypatch.setitem(sys.modules, "pynndescent", SimpleNamespace(NNDescent=Search))
    monkeypatch.setattr(_nearest, "find_spec", lambda name: name == "pynndescent")
    limit(monkeypatch, "rows whose neighbours are exact", 3)
    found = nearest_neighbours(np.zeros((4, 1)), 2)
    assert found.rows.tolist() == [[1, 2], [2, 0], [1, 0], [2, 1]]
    assert found.distances.tolist() == [[1, 2], [3, 5], [6, 7], [10, 11]]


def test_weights_are_scanpys_connectivities():
    scanpy = pytest.importorskip("scanpy", reason="scanpy, whose weights these are, is not installed")
    import anndata

    X = blobs().astype(np.float32)
    adata = anndata.AnnData(X)
    scanpy.pp.neighbors(adata, n_neighbors=15, use_rep="X")
    found = neighbour_graph(nearest_neighbours(X, 14))
    assert abs(found - adata.obsp["connectivities"]).max() < 1e-4


@pytest.mark.slow
def test_many_rows_are_searched_by_pynndescent(monkeypatch):
    pytest.importorskip("pynndescent", reason="pynndescent is not installed")
    X = blobs(400)
    exact = nearest_neighbours(X, 10)
    limit(monkeypatch, "rows whose neighbours are exact", 300)
    found, again = nearest_neighbours(X, 10), nearest_neighbours(X, 10)
    assert np.array_equal(found.rows, again.rows)
    assert not (found.rows == np.arange(400)[:, None]).any()
    shared = [len(set(a) & set(b)) / 10 for a, b in zip(found.rows, exact.rows, strict=True)]
    assert np.mean(shared) > 0.95


@pytest.mark.parametrize("weights", ["umap", "unit"])
def test_leiden_partitions_have_these_weights(weights):
    made = LeidenPartitions(2, n_neighbors=6, edge_weights=weights, algorithm="louvain", random_state=0).fit(blobs())
    expected = neighbour_graph(nearest_neighbours(blobs(), 6), weights)
    assert (made.graph_ != expected).nnz == 0


# The choice


def test_plateaus_are_runs_that_agree_in_every_pair():
    alike = np.array([[1.0, 1, 0.95, 0.8], [1, 1, 0.95, 0.8], [0.95, 0.95, 1, 0.95], [0.8, 0.8, 0.95, 1]])
    assert list(_plateaus([2, 3, 3, 3], alike)) == [[0, 1, 2], [3]]
    assert list(_plateaus([1, 3, 1, 3], alike)) == [[1], [3]]
    assert list(_plateaus([1, 1, 1, 1], alike)) == []


def test_stability_is_the_mean_adjusted_rand_index_of_two_resamples():
    X = blobs(cluster_std=3.0)
    choice = choose_resolution(X, SOME, **LOUVAIN)
    seeds = np.random.RandomState(0).randint(np.iinfo(np.int32).max, size=3, dtype=np.int64)
    graphs = NeighbourGraphs(nearest_neighbours(X, 40), 15)
    drawn = _resamples(150, 4, 0.8, int(seeds[0]))
    found = []
    for resample in drawn:
        assert len(resample.objects) == 120
        each = np.random.RandomState(resample.seed).randint(np.iinfo(np.int32).max, size=len(SOME), dtype=np.int64)
        labels = np.full((150, len(SOME)), -1)
        for i, (r, seed) in enumerate(zip(SOME, each, strict=True)):
            graph = neighbour_graph(nearest_neighbours(X[resample.objects], 15))
            assert abs(graph - graphs.subgraph(resample.objects)).max() < 1e-9
            labels[resample.objects, i] = _choose_resolution.communities(graph, r, "modularity", int(seed), "louvain")
        found.append(labels)
    for i, row in enumerate(choice.table):
        scores = [
            adjusted_rand_score(a[both, i], b[both, i])
            for a, b in combinations(found, 2)
            for both in [(a[:, i] >= 0) & (b[:, i] >= 0)]
        ]
        assert row.stability == pytest.approx(np.mean(scores))
        clusters = choice.labels[row.resolution]
        for c in range(row.n_clusters):
            best = []
            for a in found:
                own = (clusters == c) & (a[:, i] >= 0)
                each = [a[:, i] == other for other in range(a[:, i].max() + 1)]
                best.append(max((own & z).sum() / (own | z).sum() for z in each))
            assert choice.cluster_stability[row.resolution][c] == pytest.approx(np.mean(best))


@cache
def clear_choice():
    """Of four clear clusters, which are these."""
    X, truth = make_blobs(120, centers=4, n_features=5, random_state=0)
    return choose_resolution(X, **{**LOUVAIN, "n_resamples": 6}), truth


def plateau_of(resolutions, stability, found_again, n_clusters, resolution):
    made = {"resolutions": resolutions, "stability": stability, "found_again": found_again}
    made |= {"n_clusters": n_clusters, "resolution": resolution, "consensus": None, "ensemble": None, "modes": None}
    return replace(clear_choice()[0].plateau, **made)


@pytest.mark.core(1)
@pytest.mark.parametrize(
    ("stability", "found_again", "verdict"),
    [
        (0.85, 0.9, "stable"),
        (0.84, 0.9, "doubtful"),
        (0.85, 0.89, "doubtful"),
        (0.7, 0.9, "doubtful"),
        (0.69, 1.0, "unstable"),
    ],
)
def test_what_is_called_stable(stability, found_again, verdict):
    assert plateau_of((1.0,), stability, found_again, 2, 1.0).verdict == verdict


def test_clear_clusters_are_a_stable_plateau():
    choice, truth = clear_choice()
    assert (choice.evidence, choice.plateau.n_clusters) == ("stable", 4)
    assert adjusted_rand_score(choice.consensus.labels_, truth) == 1
    assert choice.resolution in choice.plateau.resolutions
    assert [row.status for row in choice.table].count("best") == len(choice.plateau.resolutions)
    assert choice.sentence.startswith("4 clusters at resolution")
    assert choice.plateau.modes is not None
    assert (choice.consensus.confidence_ > 0.9).all()


def made(*plateaus):
    """A choice of plateaus: each with the numbers of clusters at its resolutions, stability and reproduced share."""
    table, found = [], []
    for place, (numbers, stability, again) in enumerate(plateaus):
        for resolution, k in numbers.items():
            row = (resolution, k, stability, stability, again, 1.0, place, "")
            table.append(type(clear_choice()[0].table[0])(*row))
        found.append(plateau_of(tuple(numbers), stability, again, k, resolution))
    return ResolutionChoice(table, found, len(found) - 1, {}, {}, 20, [])


def test_a_doubtful_plateau_has_its_verdict():
    assert made(({0.8: 9, 1.0: 9}, 0.8, 0.5)).sentence == (
        "No resolution is stable. 9 clusters at resolution 0.8 to 1 are nearest to it (mean ARI of two resamples "
        "0.80). The assignment of objects is uncertain."
    )


def test_numbers_of_clusters_are_those_of_the_table():
    assert made(({0.05: 5, 0.3: 7}, 0.9, 1.0), ({0.4: 8, 0.6: 8}, 0.9, 1.0)).sentence == (
        "8 clusters at resolution 0.4 to 0.6 are reproduced in resamples (mean ARI of two resamples 0.90). "
        "Also stable: 7 clusters at 0.3 (5 to 7 at 0.05 to 0.3)."
    )
    assert made(({0.4: 8, 0.6: 9}, 0.9, 1.0)).sentence.startswith("9 clusters at resolution 0.6 (8 to 9 at 0.4 to 0.6)")


def test_one_cloud_has_no_stable_resolution():
    X = np.random.default_rng(0).normal(size=(300, 10))
    choice = choose_resolution(X, **LOUVAIN)
    assert choice.evidence == "unstable"
    assert "they may cut a continuum" in choice.sentence
    assert choice.best == 0


def test_one_cluster_is_no_answer():
    choice = choose_resolution(np.random.default_rng(0).normal(size=(300, 10)), [0.01, 0.02], **LOUVAIN)
    assert (choice.best, choice.consensus, choice.resolution, choice.evidence) == (None, None, None, "none")
    assert choice.plateaus == []
    assert choice.sentence.startswith("There is one cluster")


@pytest.mark.slow
def test_coarse_and_fine_are_both_told():
    random = np.random.default_rng(0)
    group, part = random.integers(0, 2, 180), random.integers(0, 3, 180)
    X = random.normal(size=(180, 6))
    X[:, :2] += 8 * np.eye(2)[group]
    X[:, 2:5] += 6 * np.eye(3)[part]
    choice = choose_resolution(X, **{**LOUVAIN, "n_resamples": 6})
    stable = {plateau.n_clusters for plateau in choice.plateaus if plateau.verdict == "stable"}
    assert choice.plateau.n_clusters == max(stable)
    for k in stable - {choice.plateau.n_clusters}:
        assert f"{k} clusters at" in choice.sentence.partition("Also stable")[2]


def values_of(choice):
    numbers = np.array([(row.resolution, row.n_clusters, row.stability, row.lowest) for row in choice.table])
    return numbers.tobytes() + b"".join(p.consensus.confidence_.tobytes() for p in choice.plateaus)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("resolutions", [0.3, 0.7, 1.0, 2.0]),
        ("n_neighbors", 9),
        ("algorithm", "leiden"),
        ("objective", "cpm"),
        ("n_resamples", 5),
        ("fraction", 0.6),
        ("consensus", "eac-average"),
        ("random_state", 1),
    ],
)
def test_every_parameter_counts(name, value):
    if value == "leiden":
        pytest.importorskip("graspologic_native", reason="Leiden is not installed")
    X, common = blobs(cluster_std=3.0), {"resolutions": SOME, **LOUVAIN}
    assert values_of(choose_resolution(X, **common)) != values_of(choose_resolution(X, **{**common, name: value}))


def test_threads_change_nothing():
    X = blobs(cluster_std=3.0)
    told = []
    one = choose_resolution(X, SOME, **LOUVAIN)
    two = choose_resolution(X, SOME, **LOUVAIN, n_jobs=3, progress=lambda done, total: told.append((done, total)))
    assert values_of(one) == values_of(two)
    assert told == [(done, 8) for done in range(1, 9)]


def test_a_graph_is_taken_as_it_is():
    X = blobs()
    graph = neighbour_graph(nearest_neighbours(X, 15))
    found = choose_resolution(graph, SOME, affinity="precomputed", **LOUVAIN)
    of_features = choose_resolution(X, SOME, **LOUVAIN)
    assert all(np.array_equal(found.labels[r], of_features.labels[r]) for r in SOME)
    assert found.notes == [f"a graph of {graph.nnz // 2:,} edges"]
    assert found.plateau.n_clusters == 3


def test_of_anndata_the_graph_or_the_components(tmp_path):
    anndata = pytest.importorskip("anndata", reason="the extra anndata is not installed")
    X = blobs()
    adata = anndata.AnnData(np.zeros((150, 2)), obsm={"X_pca": X, "other": X[:, :2]})
    of_features = choose_resolution(X, SOME, **LOUVAIN)
    assert values_of(choose_resolution(adata, SOME, **LOUVAIN)) == values_of(of_features)
    other = choose_resolution(adata, SOME, use_rep="other", **LOUVAIN)
    assert "obsm['other'], 2 columns" in other.notes[0]
    adata.obsp["connectivities"] = neighbour_graph(nearest_neighbours(X, 10))
    adata.write_h5ad(tmp_path / "cells.h5ad")
    of_graph = choose_resolution(adata.obsp["connectivities"], SOME, affinity="precomputed", **LOUVAIN)
    for source in (adata, tmp_path / "cells.h5ad"):
        found = choose_resolution(source, SOME, **LOUVAIN)
        assert values_of(found) == values_of(of_graph)
        assert found.notes == ["clustered is the graph .obsp['connectivities']"]
        assert values_of(choose_resolution(source, SOME, use_rep="X_pca", **LOUVAIN)) == values_of(of_features)
    with pytest.raises(ValueError, match=r"Got 'X_umap'\. There are connectivities, X_pca, other"):
        choose_resolution(adata, use_rep="X_umap", algorithm="louvain")


def test_a_choice_stands_beside_the_cells():
    anndata = pytest.importorskip("anndata", reason="the extra anndata is not installed")
    from ensemblage import to_anndata

    adata = anndata.AnnData(blobs())
    choice = choose_resolution(adata, SOME, **LOUVAIN)
    to_anndata(choice, adata)
    assert adata.obs["consensus"].astype(int).tolist() == choice.consensus.labels_.tolist()
    params = adata.uns["consensus"]["params"]
    assert (params["resolution"], params["stability"]) == (choice.resolution, choice.plateau.stability)
    none = choose_resolution(np.random.default_rng(0).normal(size=(150, 10)), [0.01], **LOUVAIN)
    with pytest.raises(ValueError, match="has no clusters to write"):
        to_anndata(none, adata)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"resolutions": []}, "a list of one or more, each a number > 0"),
        ({"resolutions": [0.5, -1]}, "a list of one or more, each a number > 0"),
        ({"objective": "cpm"}, "resolutions of choose_resolution must be given for cpm"),
        ({"algorithm": "label-propagation"}, "one of 'leiden', 'louvain'"),
        ({"fraction": 1.5}, "fraction of choose_resolution must be"),
        ({"n_resamples": 1}, "n_resamples of choose_resolution must be"),
        ({"n_neighbors": 150}, "must be < the 150 objects"),
        ({"n_neighbors": 0}, "n_neighbors of choose_resolution must be a whole number ≥ 1. Got 0"),
        ({"use_rep": "X_pca"}, "use_rep is for AnnData"),
        ({"consensus": "nobody"}, "nobody"),
        ({"affinity": "rbf"}, "affinity of choose_resolution must be"),
    ],
)
def test_wrong_arguments(given, message):
    with pytest.raises((ValueError, TypeError), match=message):
        choose_resolution(blobs(), **{**LOUVAIN, **given})


def test_the_best_plateau_and_stable_ones_are_looked_at_closely():
    choice = choose_resolution(blobs(60), [0.05, 1.0, 1.5, 5.0], **LOUVAIN)
    assert [row.status for row in choice.table] == ["best", "best", "best", choice.plateaus[1].verdict]
    assert choice.plateaus[1].verdict in ("doubtful", "unstable")
    assert [plateau.modes is None for plateau in choice.plateaus] == [False, True]
    assert "stories" not in choice.sentence


def test_few_objects():
    with pytest.raises(ValueError, match=r"at least 10 objects\. Got 5"):
        choose_resolution(blobs(5), n_neighbors=3, **LOUVAIN)


def test_the_record_shows_itself():
    choice = choose_resolution(blobs(), SOME, **LOUVAIN)
    head, _, *rows = repr(choice).splitlines()
    assert head.startswith("ResolutionChoice: 3 clusters at resolution")
    for row, line in zip(choice.table, rows, strict=False):
        number = [] if row.plateau is None else [str(row.plateau + 1)]  # counted from 1
        assert line.split()[6:] == [*number, *row.status.split()] or row is choice.table[0]
    frame = choice.to_frame()
    assert list(frame["resolution"]) == SOME
    ax = choice.plot()
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["0.3", "0.6", "1", "2"]
    assert ax.get_ylabel() == "resolution"
    stability = choice.plot("stability")
    assert stability.lines[0].get_ydata().tolist() == [row.stability for row in choice.table]
    assert stability.lines[1].get_ydata().tolist() == [row.found_again for row in choice.table]
    with pytest.raises(ValueError, match=r"kind of ResolutionChoice.plot must be one of 'clustree', 'stability'"):
        choice.plot("pie")


def test_a_tree_is_coloured_by_a_variable_or_by_values():
    labels = {0.5: [0, 0, 1, 1], 1.0: [0, 0, 1, 2]}
    for color, expected in (
        ([1.0, 3, 5, 7], [[2, 6], [2, 5, 7]]),
        ({0.5: [1, 0.5], 1.0: [0.1, 0.2, 0.3]}, [[1, 0.5], [0.1, 0.2, 0.3]]),
    ):
        ax = plotting.clustree(labels, color=color)
        assert [dots.get_array().tolist() for dots in ax.collections[:2]] == expected
    with pytest.raises(ValueError, match="color of clustree"):
        plotting.clustree(labels, color={0.5: [1, 0.5]})
    with pytest.raises(ValueError, match="color of clustree"):
        plotting.clustree(labels, color=[1, 2])


def test_inconsistency_is_that_of_the_resamples():
    found = choose_resolution(blobs(), resolutions=[0.3, 8.0], **LOUVAIN)
    assert found.inconsistency[0.3] == pytest.approx(1)
    [plateau] = [p for p in found.plateaus if p.resolutions == (8.0,)]
    labels = np.array(plateau.ensemble)
    labels = labels[:, (labels < 0).any(axis=0)]  # without the clusters of all objects
    similar = [naive.element_similarity(a, b) for a, b in combinations(labels.T, 2)]
    known = ~np.isnan(similar)
    mean = (np.nansum(similar, axis=0) / known.sum(axis=0).clip(1))[known.any(axis=0)].mean()
    assert found.inconsistency[8.0] == pytest.approx(4 / (1 + 3 * mean))
    assert found.inconsistency[8.0] > 1.05
