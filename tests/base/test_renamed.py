"""Former names of parameters: they do the same, with a warning that says the new one."""

import pytest
from shell import call
from sklearn.base import clone
from sklearn.datasets import load_iris
from strategies import random_labels

from ensemblage import KMeansConsensus, make_consensus

LABELS, X = random_labels(40, 4, 3, 0.1, seed=5), load_iris().data
ESTIMATORS = [(KMeansConsensus(3, random_state=0), LABELS, "start_on", "init_size", 5)]


@pytest.mark.parametrize(("estimator", "data", "old", "new", "value"), ESTIMATORS)
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


@pytest.mark.parametrize(("estimator", "data", "old", "new", "value"), ESTIMATORS[:1])
def test_an_attribute_of_an_estimator(estimator, data, old, new, value):
    fitted = clone(estimator).set_params(**{new: value}).fit(data)
    with pytest.warns(FutureWarning, match=rf"^{old}_ of .* Use {new}_\.$"):
        assert getattr(fitted, f"{old}_") == getattr(fitted, f"{new}_")


@pytest.mark.filterwarnings("default")
def test_a_parameter_in_the_registry_and_in_the_shell(tmp_path):
    with pytest.warns(FutureWarning, match=r"Use init_size\.$"):
        assert make_consensus("km", 3, start_on=9).init_size == 9
    (tmp_path / "labels.csv").write_text("a,b\n" + "0,0\n1,1\n" * 5)
    result = call("combine", tmp_path / "labels.csv", "-k", 2, "--set", "start_on=9", "-o", tmp_path / "out")
    assert result.exit_code == 0, result.stderr
    assert result.stderr.count("warning: start_on of KMeansConsensus is a name of before 1.0") == 1
