"""Former names of parameters: they do the same, with a warning that says the new one."""

import inspect
import warnings

import matplotlib.pyplot as plt
import numpy as np
import pytest
from anndata import AnnData, read_h5ad
from former import former
from public import OBJECTS
from shell import call, contents
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris
from strategies import random_labels

from ensemblage import (
    ConsensusClustering,
    Ensemble,
    make_consensus,
    metrics,
    plotting,
    posterior,
    stability,
    to_anndata,
)
from ensemblage.consensus import KMeansConsensus, NegMM
from ensemblage.generation import ProjectionPartitions, RandomKPartitions, SubspacePartitions
from ensemblage.n_clusters import choose_resolution
from ensemblage.preprocessing import Preprocessor
from ensemblage.ranking import DISCOTEC, SelectPartitions, compare_rankers

LABELS, X = random_labels(40, 4, 3, 0.1, seed=5), load_iris().data
ESTIMATORS = [(KMeansConsensus(3, random_state=0), LABELS, "start_on", "init_size", 5)]
ESTIMATORS += [
    (make(2, random_state=0), X, "fit_on", "sample_size", 100)
    for make in (RandomKPartitions, SubspacePartitions, ProjectionPartitions)
]
NEGMM = (NegMM(2, random_state=0), LABELS, "deduplicate", "distinct", False)


@pytest.mark.parametrize(("estimator", "data", "old", "new", "value"), [*ESTIMATORS, NEGMM])
def test_a_parameter_of_an_estimator(estimator, data, old, new, value):
    name, given = type(estimator).__name__, estimator.get_params()
    today = clone(estimator).set_params(**{new: value}).fit(data)
    said = rf"^{old} of {name} is a name of before 1\.0 and goes with the next release\. Use {new}\.$"
    with pytest.warns(FutureWarning, match=said):
        made = type(estimator)(**{key: one for key, one in given.items() if key != new}, **{old: value})
    with pytest.warns(FutureWarning, match=said):
        changed = clone(estimator).set_params(**{old: value})
    assert repr(made) == repr(changed) == repr(clone(today))
    with pytest.warns(FutureWarning, match=said):
        assert getattr(today, old) == value
    with pytest.warns(FutureWarning, match=said):
        setattr(made, old, given[new])
    assert made.get_params() == given
    with pytest.raises(TypeError, match=f"{name} must get {new} once. Got {new} and its former name {old}"):
        clone(estimator).set_params(**{old: value, new: value})
    assert old not in today.get_params()


@pytest.mark.parametrize(("estimator", "data", "old", "new", "value"), ESTIMATORS)
def test_an_attribute_of_an_estimator(estimator, data, old, new, value):
    fitted = clone(estimator).set_params(**{new: value}).fit(data)
    with pytest.warns(FutureWarning, match=rf"^{old}_ of .* Use {new}_\.$"):
        assert getattr(fitted, f"{old}_") == getattr(fitted, f"{new}_")


@pytest.mark.parametrize(
    ("estimator", "old", "new"),
    [
        (Preprocessor(category_weight=2.0), "member_weight", "category_weight"),
        (SelectPartitions(n_partitions=2), "n_members", "n_partitions"),
    ],
)
def test_a_member_is_a_partition(estimator, old, new):
    with pytest.warns(FutureWarning, match=rf"^{old} of .* Use {new}\.$"):
        made = type(estimator)(**{old: getattr(estimator, new)})
    assert made.get_params() == estimator.get_params()


def test_attributes_that_named_members():
    labels, preprocessor = Ensemble(LABELS), Preprocessor().fit(X)
    plan = ConsensusClustering(3, selection="consensus").plan(X)
    for owner, old, new in (
        (compare_rankers(labels), "members", "partitions"),
        (plan, "members", "partitions"),
        (plan, "certainty", "votes"),
        (preprocessor, "members_", "partitions_"),
    ):
        with pytest.warns(FutureWarning, match=rf"^{old} of .* Use {new}\.$"):
            assert str(getattr(owner, old)) == str(getattr(owner, new))
    with pytest.warns(FutureWarning, match=r"^members of Ensemble.select .* Use partitions\.$"):
        assert labels.select(members=[1, 0]).names == labels.select([1, 0]).names
    assert {"members", "certainty"} < plan.to_dict().keys()


@pytest.mark.filterwarnings("default")
def test_a_parameter_in_the_registry_and_in_the_shell(tmp_path):
    with pytest.warns(FutureWarning, match=r"Use init_size\.$"):
        assert make_consensus("km", 3, start_on=9).init_size == 9
    (tmp_path / "labels.csv").write_text("a,b\n" + "0,0\n1,1\n" * 5)
    result = call("combine", tmp_path / "labels.csv", "-k", 2, "--set", "start_on=9", "-o", tmp_path / "out")
    assert result.exit_code == 0, result.stderr
    assert result.stderr.count("warning: start_on of KMeansConsensus is a name of before 1.0") == 1


@pytest.mark.parametrize("typed", [["--fit-on", "100"], ["--fit-on=100"]])
def test_an_option_of_the_shell(typed, tmp_path):
    """It does the same, no help has it, and the command that a page shows has the name of today."""
    np.savetxt(tmp_path / "iris.csv", X, delimiter=",", header="a,b,c,d", comments="")
    folders = [tmp_path / "former", tmp_path / "today"]
    common = ["run", tmp_path / "iris.csv", "-k", 3, "--partitions", 3]
    old, new = (
        call(*common, *args, "-o", folder)
        for args, folder in zip((typed, ["--sample-size", 100]), folders, strict=True)
    )
    assert (old.exit_code, new.exit_code) == (0, 0), old.stderr
    said = "warning: --fit-on is a name of before 1.0 and goes with the next release. Use --sample-size."
    assert said in old.stderr.splitlines()
    assert "warning: " not in new.stderr
    was, now = map(contents, folders)
    assert was["labels.csv"] == now["labels.csv"]
    assert b"ensemblage run" in was["summary.json"]
    assert b"--sample-size 100" in was["summary.json"]
    assert b"--fit-on" not in was["summary.json"]
    assert "--fit-on" not in call("run", "--help").stdout
    assert "No such option: --fit-on" in call("rank", tmp_path / "iris.csv", "--fit-on", 3).stderr


def test_the_parameters_of_anndata_and_their_options(tmp_path):
    adata = AnnData(X.copy(), obsm={"other": X[:, :2].copy()})
    model = KMeansConsensus(2, random_state=0).fit(random_labels(len(X), 4, 3, 0.0, seed=5))
    with pytest.warns(FutureWarning, match=r"^key of to_anndata is a name of before 1\.0 .* Use key_added\.$"):
        assert to_anndata(model, adata, key="mine") is None
    assert "mine_confidence" in adata.obs
    options = {"algorithm": "louvain", "n_resamples": 2, "random_state": 0}
    with pytest.warns(FutureWarning, match=r"^use of choose_resolution is a name of before 1\.0 .* Use use_rep\.$"):
        former = choose_resolution(adata, [0.5, 1], use="other", **options)
    assert repr(former) == repr(choose_resolution(adata, [0.5, 1], use_rep="other", **options))
    adata.write_h5ad(tmp_path / "cells.h5ad")
    common = ["run", tmp_path / "cells.h5ad", "-k", 3, "--use", "other", "--key", "found"]
    result = call(*common, "-o", tmp_path / "out.h5ad")
    assert result.exit_code == 0, result.stderr
    assert result.stderr.count("is a name of before 1.0") == 2
    assert "found_verdict" in read_h5ad(tmp_path / "out.h5ad").obs


PARTITION, SHARES = np.arange(40) % 3, np.eye(3)[np.arange(40) % 3]
OF_AN_ENSEMBLE = [
    *(metrics.cluster_density, metrics.confidence, metrics.density, metrics.ensemble_ari, metrics.ensemble_nmi),
    *(metrics.item_consensus, metrics.kmeans_loss, metrics.mm_index, posterior.credible_ball, posterior.expected_loss),
    *(former("metrics", "cluster_consensus"), stability.partition_stability),
]
MERGES = np.column_stack([np.arange(39), np.arange(1, 40), np.ones((39, 2))])
RESAMPLED = {"estimator": KMeans(3, n_init=1, random_state=0), "n_resamples": 2, "random_state": 0}
WITH_PARTITION = [
    *((function, {"labels": LABELS}) for function in OF_AN_ENSEMBLE),
    (
        posterior.chain_agreement,
        {"labels": LABELS[:, [0, 1, 2, 3] * 2], "chains": np.arange(8) // 4, "random_state": 0},
    ),
    (metrics.align_labels, {"reference": LABELS[:, 0]}),
    (metrics.internal_index, {"features": X[:40]}),
    (DISCOTEC().fit(LABELS).score_labels, {}),
    (stability.cluster_stability, {"X": X[:40], **RESAMPLED}),
    (stability.merge_unsupported, {"X": X[:40], "random_state": 0}),
    (stability.split_support, {"X": X[:40], "random_state": 0}),
    (plotting.confidence_by_cluster, {"confidence": np.linspace(0, 1, 40)}),
    (plotting.consensus_matrix, {"matrix": np.eye(40)}),
    (plotting.item_consensus_bars, {"item_consensus": SHARES}),
    (plotting.membership, {"membership": SHARES}),
    (plotting.scatter, {"points": X[:40, :2]}),
    (former("plotting", "last_merges"), {"linkage_matrix": MERGES}),
    (former("plotting", "thresholded_matrices"), {"matrix": np.eye(40), "association_threshold": 0.5}),
]
"""What had the parameter `clustering`, and what else it must get."""


@pytest.mark.core(3)
@pytest.mark.parametrize(("function", "given"), WITH_PARTITION)
def test_a_clustering_is_a_partition(function, given):
    said = rf"^clustering of {function.__qualname__} is a name of before 1\.0 .* Use partition\.$"
    with pytest.warns(FutureWarning, match=said):
        before = function(clustering=PARTITION, **given)
    with warnings.catch_warnings():
        warnings.simplefilter("error", FutureWarning)
        today = function(partition=PARTITION, **given)
    assert shown(before) == shown(today)
    plt.close("all")
    with pytest.raises(TypeError, match=r" must get partition once\. Got partition and its former name clustering\."):
        function(clustering=PARTITION, partition=PARTITION, **given)


def shown(value):
    """What a function returned, as text; of a figure, what is drawn."""
    if isinstance(value, plt.Axes):
        return [np.asarray(image.get_array()).tolist() for image in value.get_images()], [
            *(np.asarray(points.get_offsets()).tolist() for points in value.collections),
            *(line.get_xydata().tolist() for line in value.lines),
            *(bar.get_bbox().bounds for bar in value.patches if hasattr(bar, "get_bbox")),
        ]
    if isinstance(value, tuple) and all(isinstance(one, plt.Axes) for one in value):
        return [shown(one) for one in value]
    return repr(value.tolist() if isinstance(value, np.ndarray) else value)


def test_every_function_of_a_partition_is_tested():
    """The test above has every public function and method with the parameter."""
    given = {getattr(function, "__func__", function) for function, _ in WITH_PARTITION}
    public = [getattr(value, "__func__", value) for value, _ in OBJECTS.values() if callable(value)]
    taken = [one for one in public if not inspect.isclass(one) and "partition" in inspect.signature(one).parameters]
    assert len(taken) == 23
    assert set(taken) <= given
