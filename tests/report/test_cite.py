"""Papers behind every method, ranker and generator; and in a few words when to use a method."""

import csv
import inspect
import re
from importlib.resources import files

import pytest
from former import FORMER
from public import CITED
from shell import fail, succeed
from sklearn.datasets import load_iris
from strategies import usual

from ensemblage import METHODS, ConsensusClustering, cite, generation, ranking
from ensemblage.consensus import CumulativeVoting, Dune, WasabiModes, compare_methods
from ensemblage.metrics import INTERNAL_INDICES

pytestmark = FORMER

REFERENCES = {paper.key: paper for name in CITED for paper in cite(name).references}


def keys_of(of):
    return {paper.key for paper in cite(of).references}


def test_everything_has_a_paper():
    generators = {name for name in generation.__all__ if name.endswith("Partitions")}
    assert {*METHODS, *ranking.RANKERS, *generators} <= set(CITED)
    assert all(cite(name).references for name in CITED)
    assert {name for name in ranking.RANKERS if keys_of(name) == {"desgraupes2013"}} == set(INTERNAL_INDICES)
    text = files("ensemblage.base").joinpath("references.csv").read_text(encoding="utf-8")
    kept = [row["key"] for row in csv.DictReader(text.splitlines())]
    of_records = {paper.key for method in METHODS.values() for paper in method.references if not isinstance(paper, str)}
    assert sorted(kept) == sorted(REFERENCES.keys() - of_records)  # each once, and none for nothing


@pytest.mark.parametrize("name", METHODS)
def test_estimators_are_cited_as_their_names(name):
    assert keys_of(name) <= keys_of(usual(name, 3))


@pytest.mark.parametrize("name", ranking.RANKERS)
def test_rankers_are_cited_as_their_names(name):
    assert cite(ranking.RANKERS[name]()).bibtex == cite(name).bibtex


@pytest.mark.parametrize("name", METHODS)
def test_years_are_those_of_the_registry(name):
    said = re.findall(r"\b(?:19|20)\d\d\b", METHODS[name].paper)
    years = {str(reference.year) for reference in cite(name).references}
    assert set(said) <= years


def test_a_model_is_its_parts():
    X = load_iris().data
    model = ConsensusClustering(3, selection="consensus", random_state=0).fit(X)
    keys = {reference.key for reference in cite(model).references}
    assert keys == {"damle2019", "gagolewski2016", "fred2005"}
    asked = ConsensusClustering(3, generator=generation.RandomKPartitions(), consensus="acv")
    assert "ayad2010" in {reference.key for reference in cite(asked).references}
    assert cite(CumulativeVoting(3)).references == cite("acv").references


def test_draws_from_a_posterior():
    assert keys_of("WasabiModes") == keys_of(WasabiModes()) == {"balocchi2025"}
    assert keys_of("Dune") == keys_of(Dune()) == {"roux2024"}
    assert keys_of("salso-nid") == {"dahl2022"}
    functions = {name: value for name, value in CITED.items() if inspect.isfunction(value)}
    assert {"chips", "credible_ball", "element_similarity", "summarize_draws"} <= functions.keys()
    for name, function in functions.items():
        for paper in cite(name).references:
            assert paper.authors.partition(",")[0] in function.__doc__, name


def test_refused():
    with pytest.raises(ValueError, match=f"The name to cite must be one of {len(CITED)} names"):
        cite("nothing")
    with pytest.raises(ValueError, match=r"a paper behind it. Got dict"):
        cite({})


def test_in_the_shell():
    assert succeed("cite", "km").stdout == f"{cite('km')}\n"
    assert succeed("cite", "discotec", "--bibtex").stdout == f"{cite('discotec').bibtex}\n"
    assert "must be one of" in fail("cite", "nothing")
    assert "BibTeX: ensemblage cite acv" in succeed("methods", "acv").stdout


def test_when_to_use_which():
    said = " ".join(succeed("methods").stdout.split())
    for name, method in METHODS.items():
        words = method.when
        assert words, name
        assert f"{name} {words}. {method.complexity}" in said
        assert "finds k" not in words or METHODS[name].finds_k, name
        assert "k is known" not in words or not METHODS[name].finds_k, name
        if "places new" in words:
            assert hasattr(METHODS[name].estimator, "predict"), name


def test_an_alias_is_found_everywhere_and_counted_nowhere():
    assert {"qmi": "km", "hard-manhattan": "hard-euclidean"}.items() <= METHODS.aliases.items()
    assert not set(METHODS) & set(METHODS.aliases)
    assert len(METHODS) == len(list(METHODS)) == len({repr(method) for method in METHODS.values()})
    assert "qmi" in METHODS
    assert METHODS["qmi"].parameters == METHODS["km"].parameters
    assert [paper.key for paper in cite("qmi").references] == ["topchy2003"]
    labels = [[0, 0], [0, 0], [1, 1], [1, 0]]
    assert compare_methods(labels, 2, methods=["qmi", "eac-average", "km"]).names == ["qmi", "eac-average"]
    assert "quadratic mutual information" in succeed("methods", "qmi").stdout
    with pytest.raises(KeyError):
        METHODS["magic"]
