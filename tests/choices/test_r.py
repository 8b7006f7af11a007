"""Monti's choice as R's ConsensusClusterPlus has its results; the page for R, where R is installed."""

import itertools
import os
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from places import ROOT
from scipy.cluster.hierarchy import cophenet, linkage
from scipy.spatial.distance import squareform
from sklearn.datasets import make_blobs

import ensemblage
from ensemblage import metrics
from ensemblage.choices._monti_choice import choose_k_monti, hclust, numbers_by_first

PAGE = ROOT / "docs" / "site" / "howto" / "reticulate.md"
needs_r = pytest.mark.skipif(shutil.which("Rscript") is None, reason="Rscript is not installed")


@pytest.fixture(scope="module")
def choice():
    """A range with a gap, of overlapping blobs: no entry of the matrices is 0 or 1 by itself."""
    X, _ = make_blobs(40, centers=3, cluster_std=2.5, random_state=4)
    return choose_k_monti(X, [2, 3, 5], n_partitions=30, n_references=0, random_state=0)


def naive_members(merge, step):
    """The objects, from 0, of a step of R's hclust, from 1."""
    found = []
    for number in merge[step - 1]:
        found += [-number - 1] if number < 0 else naive_members(merge, number)
    return found


def replay(tree, distances, join):
    """Check that each step merges two nearest clusters at their distance; yield the clusters, from n to 1 of them."""
    clusters = {-number: [number - 1] for number in range(1, len(distances) + 1)}
    yield [*clusters.values()]
    for step, (pair, height) in enumerate(zip(tree["merge"].tolist(), tree["height"], strict=True), start=1):
        apart = {
            frozenset(two): join(distances[np.ix_(clusters[two[0]], clusters[two[1]])])
            for two in itertools.combinations(clusters, 2)
        }
        assert height == pytest.approx(apart[frozenset(pair)], abs=1e-9)
        assert height == pytest.approx(min(apart.values()), abs=1e-9)
        clusters[step] = clusters.pop(pair[0]) + clusters.pop(pair[1])
        yield [*clusters.values()]


@pytest.mark.parametrize(("method", "join"), [("single", np.min), ("average", np.mean), ("complete", np.max)])
def test_each_k_has_matrix_tree_and_classes(choice, method, join):
    found = choice.to_consensus_cluster_plus(linkage=method)
    assert list(found) == [2, 3, 5]
    for k, result in found.items():
        assert list(result) == ["consensusMatrix", "consensusTree", "consensusClass"]
        matrix, tree, classes = result.values()
        assert_array_equal(matrix, metrics.coassociation(choice.ensembles[k]))
        assert tree["method"] == method
        steps = list(replay(tree, 1 - matrix, join))
        assert len(steps) == len(matrix)
        parts = [np.flatnonzero(classes == number).tolist() for number in range(1, k + 1)]
        assert sorted(map(sorted, steps[-k])) == sorted(parts)
        assert [*dict.fromkeys(classes)] == [*range(1, k + 1)]


def test_the_linkages_differ(choice):
    trees = [choice.to_consensus_cluster_plus(linkage=m)[3]["consensusTree"]["height"] for m in ("single", "complete")]
    assert (trees[0] < trees[1] - 0.01).any()


def test_a_tree_is_one_of_r():
    rng = np.random.default_rng(0)
    distances = rng.random(45)
    merges = linkage(distances, "average")
    found = hclust(merges, "average")
    merge, height = found["merge"], found["height"]
    depth = np.zeros((10, 10))
    for step in range(9, 0, -1):
        members = naive_members(merge, step)
        depth[np.ix_(members, members)] = height[step - 1]
    np.fill_diagonal(depth, 0)
    assert_allclose(squareform(depth), cophenet(merges))
    # No branches cross: the members of each step are neighbours.
    place = np.argsort(found["order"] - 1)
    for step in range(1, 10):
        places = place[naive_members(merge, step)]
        assert places.max() - places.min() + 1 == len(places)
    assert sorted(found["order"]) == [*range(1, 11)]


def test_heights_never_fall_by_rounding():
    merges = np.array([[0, 1, 0.3, 2], [2, 3, 0.3 - 1e-17, 2], [4, 5, 0.2999999999999999, 4]])
    assert_array_equal(hclust(merges, "average")["height"], [0.3, 0.3, 0.3])


def test_classes_are_numbered_by_their_first_object():
    assert_array_equal(numbers_by_first(np.array([7, 2, 7, 9, 2])), [1, 2, 1, 3, 2])


def test_bad_arguments_get_a_sentence(choice):
    with pytest.raises(ValueError, match=r"^linkage of to_consensus_cluster_plus must be one of .* Got 'ward'"):
        choice.to_consensus_cluster_plus(linkage="ward")
    with pytest.raises(
        ValueError,
        match=r"^to_consensus_cluster_plus must fit into max_bytes = 1,000 bytes\. Got [\d,]+ bytes for 3 mat",
    ):
        choice.to_consensus_cluster_plus(max_bytes=1000)


@needs_r
def test_r_cuts_the_tree_into_the_classes(choice, tmp_path):
    for k, result in choice.to_consensus_cluster_plus().items():
        tree = result["consensusTree"]
        for name in ("merge", "height", "order"):
            np.savetxt(tmp_path / f"{name}.txt", tree[name], fmt="%.17g")
        script = f"""
        tree <- structure(list(merge = as.matrix(read.table("merge.txt")), height = scan("height.txt", quiet = TRUE),
                               order = scan("order.txt", quiet = TRUE), labels = NULL), class = "hclust")
        cat(order.dendrogram(as.dendrogram(tree)), "\\n")
        cat(cutree(tree, {k}))
        """
        told = subprocess.check_output(["Rscript", "-e", script], cwd=tmp_path, text=True)
        order, classes = (np.array(line.split(), dtype=int) for line in told.strip().splitlines())
        assert_array_equal(order, tree["order"])
        assert_array_equal(classes, result["consensusClass"])


@cache
def environment_of_r():
    """Variables with which reticulate finds this Python and these sources; None where it cannot take its arrays."""
    env = os.environ | {
        "RETICULATE_PYTHON": sys.executable,
        "PYTHONPATH": str(Path(ensemblage.__file__).parents[1]),
    }
    tried = 'library(reticulate); stopifnot(import("numpy")$zeros(2L) == 0)'
    return env if subprocess.run(["Rscript", "-e", tried], env=env, capture_output=True).returncode == 0 else None


@pytest.mark.slow
@needs_r
def test_the_page_runs_in_r(tmp_path):
    if (env := environment_of_r()) is None:
        pytest.skip("reticulate is not installed, or is older than this NumPy")
    blocks = re.findall(r"^```r\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    icl = 'print(names(ConsensusClusterPlus::calcICL(results, "icl", plot = "pdf")))'
    icl = f'if (requireNamespace("ConsensusClusterPlus")) {icl}'
    (tmp_path / "page.R").write_text("\n".join([*blocks, icl, 'cat("whole page\\n")']), encoding="utf-8")
    told = subprocess.run(["Rscript", "page.R"], cwd=tmp_path, env=env, capture_output=True, text=True)
    assert told.stdout.endswith("whole page\n"), told.stdout + told.stderr
    assert (tmp_path / "three.pdf").read_bytes().startswith(b"%PDF")
