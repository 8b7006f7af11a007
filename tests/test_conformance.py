"""scikit-learn's own checks over every estimator, and every cell of the conformance table as a test."""

import re
from importlib.util import find_spec

import numpy as np
import pytest
from conformance import (
    AVAILABLE,
    BY_COMMAND_ONLY,
    CHECKS,
    GENERATORS,
    OF_GENERATORS,
    OF_RANKERS,
    RANKER_NAMES,
    SLOW,
    Setting,
    labels_with,
    method_of,
    with_two_of_weight_0,
)
from estimators import ESTIMATORS
from numpy.testing import assert_array_equal
from places import TESTS
from representatives import METHODS_OF_FAMILIES, RANKERS_OF_FAMILIES
from sklearn.utils.estimator_checks import parametrize_with_checks
from strategies import FRACTIONS, ON_FRACTIONS, number_for

from ensemblage import METHODS, ConsensusClustering
from ensemblage.consensus import CommunityConsensus, ConsensusModes, Dune, WasabiModes
from ensemblage.generation import DiversePartitions
from ensemblage.preprocessing import Preprocessor
from ensemblage.ranking import AverageDistance

ON_COORDINATES = dict.fromkeys(
    [*ON_FRACTIONS, "check_clustering", "check_sample_weight_equivalence_on_dense_data"], FRACTIONS
)


class OfNeighbours(CommunityConsensus):
    """scikit-learn's checks give no graph: each row is joined with the next."""

    def fit(self, X, y=None):
        n = np.shape(X)[0] if np.ndim(X) else 0
        return super().fit(X, y, edges=[[i, i + 1] for i in range(n - 1)] or [[0, 0]])


OF_FEATURES = (ConsensusClustering, DiversePartitions, Preprocessor)


def expected_failures(estimator):
    return {} if isinstance(estimator, OF_FEATURES) else ON_COORDINATES


OF_PACKAGES = ("eac-average", "km")
"""With and without a rule for new objects: what scikit-learn asks for is in the base class of all methods."""


def label_consensus(names):
    """One estimator per class and set of parameters, with the two clusters that scikit-learn's data has.

    The checks ask for numbers of clusters, which some methods refuse.
    """
    taking = [name for name in names if number_for(name)]
    distinct = {(METHODS[name].estimator, repr(sorted(METHODS[name].parameters.items()))): name for name in taking}
    return [method_of(name, 2) for name in distinct.values()]


@parametrize_with_checks(
    [
        *label_consensus(OF_PACKAGES),
        AverageDistance(),
        ConsensusClustering(2),
        ConsensusModes(),
        DiversePartitions(2),
        Dune(),
        OfNeighbours(random_state=0),
        Preprocessor(),
        WasabiModes(n_init=2, random_state=0),
    ],
    expected_failed_checks=expected_failures,
)
@pytest.mark.filterwarnings("ignore:.* not seen in fit count")  # its objects of weight 0 have labels of their own
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(label_consensus(AVAILABLE), expected_failed_checks=expected_failures)
@pytest.mark.filterwarnings("ignore:.* not seen in fit count")
def test_scikit_learn_of_every_setting(estimator, check):
    check(estimator)


def test_every_public_estimator_is_checked():
    """Here or in the file of its own: what scikit-learn finds of it is known."""
    files = TESTS.rglob("test_*.py")
    checked = "".join(
        "".join(re.findall(r"^@parametrize_with_checks\((.*?)^def ", path.read_text(encoding="utf-8"), re.M | re.S))
        for path in files
    )
    bases = {"CommunityConsensus": "OfNeighbours", "InternalIndex": "OfRowNumbers"}
    known = {method.estimator.__name__ for method in METHODS.values()}
    assert [name for name in ESTIMATORS if name not in known and f"{bases.get(name, name)}(" not in checked] == []


@pytest.fixture(scope="module")
def setting(tmp_path_factory):
    setting = Setting(tmp_path_factory.mktemp("conformance"))
    yield setting
    setting.close()


def cells(names, checks):
    """A test for each cell of a table; those of columns that take long, and of methods that others stand for, are
    slow."""
    others = {name for name in names if checks is not OF_GENERATORS} - {*METHODS_OF_FAMILIES, *RANKERS_OF_FAMILIES}
    others |= {"MixedPartitions", "DiversePartitions"}  # of many algorithms, with files of their own
    return [
        pytest.param(name, check, id=f"{name}-{title}", marks=[pytest.mark.slow] * (title in SLOW or name in others))
        for title, check in checks.items()
        if title not in BY_COMMAND_ONLY
        for name in names
    ]


@pytest.mark.filterwarnings("ignore::DeprecationWarning:distributed")
@pytest.mark.parametrize(("name", "check"), cells(AVAILABLE, CHECKS))
def test_consensus(name, check, setting, request):
    if check is not CHECKS["combine"]:  # whose pages have their figures, and test_report_methods.py looks at them
        request.getfixturevalue("no_figures")
    check(name, setting)


@pytest.mark.core(3)
@pytest.mark.parametrize(("name", "check"), cells(RANKER_NAMES, OF_RANKERS))
def test_rankers(name, check, setting):
    check(name, setting)


@pytest.mark.parametrize(("name", "check"), cells(GENERATORS, OF_GENERATORS))
def test_generators(name, check, setting):
    check(name, setting)


def test_the_whole_registry_is_in_the_table():
    missing = set(METHODS) - set(AVAILABLE)
    assert missing == {name for name in ("cspa", "mcla", "hgpa") if find_spec(METHODS[name].package) is None}


@pytest.fixture(params=[0.0, 0.3], ids=["complete", "missing"])
def labels(request):
    return labels_with(request.param)


@pytest.mark.parametrize("name", ["acv", "bv", "majority", "mcla"])
def test_what_lists_the_partitions_has_their_given_numbers(name, labels):
    given, weights = with_two_of_weight_0(labels)
    voting = np.flatnonzero(weights)
    if name not in AVAILABLE:
        pytest.skip("needs a partitioner")
    model = method_of(name, weights=weights).fit(given)
    other = method_of(name, weights=weights[voting]).fit(given[:, voting])
    if name == "majority":
        assert model.reference_ == voting[other.reference_]
    elif name == "mcla":
        assert [len(parts) for parts in model.meta_clusters_] == [3 * (w > 0) for w in weights]
        assert_array_equal(np.concatenate(model.meta_clusters_), np.concatenate(other.meta_clusters_))
    else:
        assert_array_equal(model.order_, voting[other.order_])
        assert_array_equal(model.losses_.mse[voting], other.losses_.mse)
        assert np.isnan(model.losses_.mse[weights == 0]).all()
