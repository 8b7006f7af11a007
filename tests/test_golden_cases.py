"""The golden files leave nothing out: every method, every option with every word that it may be, every metric."""

from itertools import chain

import golden
import pytest
from sklearn.model_selection import ParameterGrid

from ensemblage import METHODS, consensus, metrics, posterior, ranking
from ensemblage.base.renamed import INSTEAD
from ensemblage.base.validation import Words, parameter_constraints

GRIDS = {
    **{METHODS[name].estimator: grids for name, grids in golden.grids().items()},
    **{getattr(consensus, name): grids for name, (_, _, grids) in golden.OTHERS.items()},
    **{getattr(ranking, name): grids for name, (grids, _) in golden.RANKINGS.items()},
}


@pytest.mark.parametrize("cls", GRIDS, ids=lambda cls: cls.__name__)
def test_every_option_is_compared(cls):
    """With another value than its default, and with every word."""
    cases = list(chain.from_iterable(map(ParameterGrid, GRIDS[cls])))
    for parameter, default in cls().get_params(deep=False).items():
        if parameter in golden.NOT_OPTIONS:
            continue
        tried = [case[parameter] for case in cases if parameter in case]
        assert any(value is golden.GIVEN or value != default for value in tried), parameter
        missing = words_of(cls, parameter) - {default} - {value for value in tried if isinstance(value, str)}
        assert not missing, parameter


def words_of(cls, parameter):
    kinds = parameter_constraints(cls).get(parameter, ())
    return {word for kind in kinds if isinstance(kind, Words) for word in kind.choices}


def test_every_estimator_of_labels_is_compared():
    by_name = {type(ranking.make_ranker(name)) for name in ranking.RANKERS}
    for package in (consensus, ranking):
        estimators = [getattr(package, name) for name in package.__all__ if hasattr(getattr(package, name), "fit")]
        assert [cls for cls in estimators if cls not in GRIDS.keys() | by_name] == []


def test_every_metric_is_compared():
    functions = {name for package in (metrics, posterior) for name in package.__all__ if name[0].islower()}
    functions -= {"read_draws", "summarize_draws"}
    former = INSTEAD["ensemblage.metrics"].keys()
    assert functions | former == golden.METRICS.keys() | golden.OTHERWISE
    assert not golden.METRICS.keys() & golden.OTHERWISE
    assert words_of(consensus.SalsoConsensus, "loss") == set(golden.LOSSES)


def test_a_package_that_is_missing_is_named(monkeypatch):
    monkeypatch.setattr(golden, "find_spec", lambda name: None if name == "mtkahypar" else name)
    with pytest.raises(ImportError, match=r"Results of mtkahypar must be compared.* ENSEMBLAGE_GOLDEN_WITHOUT=mtka"):
        golden.missing_packages()
    monkeypatch.setattr(golden, "MAY_MISS", {"mtkahypar"})
    assert golden.missing_packages() == {"mtkahypar"}
    assert "mtkahypar" not in golden.versions()


@pytest.mark.parametrize(
    ("package", "key"),
    [
        ("mtkahypar", "kinds/complete/hgpa/learned/labels_"),
        ("mtkahypar", "options/noise/hgpa {'imbalance': 0.01}/learned/labels_"),
        ("pymetis", "ensembles/3/mcla/learned/labels_"),
        ("pymetis", "options/noise/hbgf {'partitioner': 'metis'}/learned/labels_"),
        ("graspologic_native", "others/CommunityConsensus {'algorithm': 'leiden'}/learned/labels_"),
        ("distributed", "places/dask, missing/km/learned/labels_"),
    ],
)
def test_only_what_needs_a_package_is_left_out_without_it(package, key):
    assert golden.is_of({package}, key)
    assert not golden.is_of(set(golden.PACKAGES) - {package}, key)
    assert not golden.is_of(set(golden.PACKAGES), "kinds/complete/km/learned/labels_")
