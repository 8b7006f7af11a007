"""Parameters are declared once per class: what may not be is refused in one sentence, with one text for one name."""

import dataclasses
import inspect

import numpy as np
import pytest
from estimators import takes_number
from sklearn.cluster import KMeans

from ensemblage import consensus, generation, make_consensus, n_clusters, ranking
from ensemblage.base.validation import (
    Bytes,
    Estimator,
    Flag,
    Jobs,
    Lists,
    Number,
    Seed,
    Several,
    Values,
    Whole,
    Words,
    check_value,
    parameter_constraints,
)
from ensemblage.consensus import HBGF, METHODS, KMeansConsensus


def estimators_of(package):
    public = (getattr(package, name) for name in package.__all__)
    return [cls for cls in public if inspect.isclass(cls) and hasattr(cls, "get_params")]


CLASSES = [cls for package in (n_clusters, consensus, generation, ranking) for cls in estimators_of(package)]
LABELS = [[0, 0, 1], [0, 0, 1], [0, 1, 0], [1, 1, 0], [1, 2, 2], [1, 2, 2]]
FEATURES = np.random.default_rng(0).normal(size=(6, 2))
NAN, INF, HUGE = float("nan"), float("inf"), 10**400


def test_every_parameter_has_a_constraint_and_no_other_name():
    for cls in CLASSES:
        # A field that a base class has as a parameter may be no parameter here.
        fields = {field.name for field in dataclasses.fields(cls) if not field.name.endswith("_")}  # not what fit finds
        assert inspect.signature(cls).parameters.keys() <= parameter_constraints(cls).keys() == fields, cls


def test_every_ranker_of_the_registry_is_among_them():
    assert {type(make()) for make in ranking.RANKERS.values()} <= set(CLASSES)
    assert {method.estimator for method in METHODS.values()} <= set(CLASSES)


def test_defaults_are_legal():
    for cls in CLASSES:
        constraints = parameter_constraints(cls)
        for name, parameter in inspect.signature(cls).parameters.items():
            required = parameter.default is parameter.empty
            if not required and (name != "n_clusters" or parameter.default is not None):
                check_value(parameter.default, f"{name} of {cls.__name__}", constraints[name])


# ---- What each kind of constraint takes ----


@pytest.mark.parametrize(
    ("constraint", "legal", "illegal"),
    [
        (
            Whole(1),
            [1, 7, HUGE, np.int8(3)],
            [0, -1, 1.0, 1.5, NAN, INF, True, np.True_, "1", None, [1], np.ones(1)],
        ),
        (Whole(2, 9), [2, 9, np.uint64(5)], [1, 10, 2**63, HUGE, NAN, True, "x", b"3", {}]),
        (
            Number(least=0),
            [0, 0.0, 1e300, np.float32(2)],
            [-1e-9, NAN, INF, HUGE, True, np.False_, "0", None, [0], 1j],
        ),
        (Number(above=0), [1e-300, 3], [0, -1, NAN, INF, True]),
        (Number(above=0, below=1), [0.5], [0, 1, -1, 2, NAN, True, "0.5"]),
        (Number(least=0, below=1), [0, 0.99], [1, -0.1, NAN]),
        (Number(above=0, most=1), [1, 1.0, np.float32(0.5)], [0, -0.5, 1.01, INF, NAN, True, "1", None]),
        (
            Several(Estimator("a clusterer", "fit_predict", "")),
            [[KMeans()], (KMeans(), KMeans())],
            [[], KMeans(), [KMeans], [KMeans(), None], "k", None, 5],
        ),
        (Flag(), [True, False, np.True_], [0, 1, "yes", None, [True], np.array([True, False])]),
        (Words(["a", "b"]), ["a", "b"], ["c", "", "A", None, 0, True, ["a"], np.array(["a", "b"]), b"a"]),
        (Bytes(), [1, 2e9, "2GB", "500 mb", "1KiB", HUGE], [0, -1, 0.5, NAN, True, "2 gallons", "", None, [1]]),
        (
            Seed(),
            [None, 0, 2**32 - 1, np.random.RandomState(0), np.random.default_rng(0)],
            [-1, 2**32, 1.5, NAN, True, "x", [0], HUGE],
        ),
        (Jobs(), [None, 1, -1, 1000, np.int64(2)], [0, 1001, 1.5, NAN, True, "all", [1], HUGE]),
        (
            Lists("lists", ""),
            [[[1, 2], [1]], [np.ones(2), (1,)], ([0.5],), []],
            [None, 1, "ab", [1, 2], [[1], 2], [[[1]]], np.ones((2, 2)), True, {}],
        ),
        (Values("values"), [[1, 2], (1,), np.ones(3)], [None, 1, "ab", [[1, 2]], [[1], [1, 2]], NAN, True, {}]),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, list) else "",
)
def test_constraints(constraint, legal, illegal):
    for value in legal:
        assert constraint.fits(value) is True, value
    for value in illegal:
        assert constraint.fits(value) is False, value


# ---- What the estimators say ----

WRONG = [object(), "no such word", b"x", NAN, INF, -INF, True, False, -1, 0, 1.5, HUGE, 2**63, {}, [[1], [1, 2]], 1j]


def edges(constraints):
    """Values on and beyond the bounds of numbers."""
    for constraint in constraints:
        if isinstance(constraint, Whole):
            yield constraint.least - 1
            if constraint.most is not None:
                yield constraint.most + 1
        elif isinstance(constraint, Number):
            yield from (np.nextafter(constraint.least or 0, -1), constraint.above, constraint.below)
            yield np.nextafter(constraint.most, INF)


@pytest.mark.core(3)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("cls", CLASSES)
def test_what_may_not_be_is_one_sentence_that_names_it(cls):
    features = cls.__name__.endswith("Partitions") or cls.__name__ in ("GreedyKMeansConsensus", "ConsensusClustering")
    data = FEATURES if features else LABELS
    of_fit = {"edges": [[0, 1], [1, 2]]} if cls.__name__ == "CommunityConsensus" else {}
    takes = "n_clusters" in inspect.signature(cls).parameters and takes_number(cls)
    given = {"n_clusters": 2} if takes else {}
    for name in inspect.signature(cls).parameters:
        constraints = parameter_constraints(cls)[name]
        wrong = [value for value in [*WRONG, *edges(constraints)] if value is not None]
        wrong = [value for value in wrong if not any(c is not None and c.fits(value) for c in constraints)]
        assert len(wrong) > 5
        for value in wrong:
            with pytest.raises(
                (ValueError, TypeError), match=rf"^{name} of {cls.__name__}( \(.*\))? must be .*\. Got .*\.$"
            ) as error:
                cls(**given | {name: value}).fit(data, **of_fit)
            assert "\n" not in str(error.value)
            assert len(str(error.value)) < 550


def test_parameters_are_looked_at_before_the_data():
    with pytest.raises(ValueError, match="n_init of KMeansConsensus"):
        KMeansConsensus(2, n_init=0).fit(object())


@pytest.mark.core(3)
@pytest.mark.parametrize("name", METHODS)
def test_who_finds_the_number_of_clusters(name):
    model, method = make_consensus(name), METHODS[name]
    assert bool(method.finds_k) == (None in parameter_constraints(method.estimator)["n_clusters"])
    if method.finds_k:
        assert method.needs == ""
        assert model.fit(LABELS).n_clusters_ >= 1
        return
    able = ", ".join(other for other in METHODS if METHODS[other].finds_k)
    owner = rf"{method.estimator.__name__} \(.*\b{name}\b.*\)"
    told = rf"^n_clusters of {owner} must be given: .* Got None\. Give .* it: {able}\.$"
    with pytest.raises(ValueError, match=told):
        model.fit(LABELS)


def test_a_class_of_ones_own_that_needs_the_number_is_named_too():
    class Mine(HBGF):
        pass

    with pytest.raises(ValueError, match=r"^n_clusters of Mine must be given"):
        Mine().fit(LABELS)
