"""Papers behind every method, ranker and generator; and in a few words when to use a method."""

import re

import pytest
from sklearn.datasets import load_iris
from test_cli import fail, succeed

from ensemblage import METHODS, ConsensusClustering, CumulativeVoting, cite, generation, make_consensus, ranking
from ensemblage.consensus._when import WHEN
from ensemblage.metrics import INTERNAL_INDICES
from ensemblage.report._cite import OF_CLASSES, OF_METHODS, OF_RANKERS, REFERENCES, names, papers


def test_everything_has_a_paper():
    assert set(OF_METHODS) == set(METHODS)
    assert set(ranking.RANKERS) - set(OF_RANKERS) == set(INTERNAL_INDICES)
    generators = {name for name in generation.__all__ if name.endswith("Partitions")}
    assert generators <= set(OF_CLASSES)
    cited = {reference.key for name in names() for reference in cite(name).references}
    assert cited == set(REFERENCES)  # and no paper is there for nothing
    assert len(REFERENCES) == len(list(papers()))


@pytest.mark.parametrize("name", METHODS)
def test_estimators_are_cited_as_their_names(name):
    found = {reference.key for reference in cite(make_consensus(name, 3)).references}
    assert set(OF_METHODS[name]) <= found


@pytest.mark.parametrize("name", ranking.RANKERS)
def test_rankers_are_cited_as_their_names(name):
    assert cite(ranking.RANKERS[name]()).bibtex == cite(name).bibtex


@pytest.mark.parametrize("name", METHODS)
def test_years_are_those_of_the_registry(name):
    said = re.findall(r"\b(?:19|20)\d\d\b", METHODS[name].paper)
    years = {str(reference.year) for reference in cite(name).references}
    assert set(said) <= years


@pytest.mark.parametrize("paper", REFERENCES.values(), ids=lambda paper: paper.key)
def test_bibtex_is_balanced(paper):
    text = paper.bibtex
    assert text.count("{") == text.count("}")
    assert re.match(r"@(article|inproceedings|misc)\{\w+,\n", text)
    assert paper.year is None or paper.key.endswith(str(paper.year))
    assert "  " not in paper.text


@pytest.mark.parametrize("paper", REFERENCES.values(), ids=lambda paper: paper.key)
def test_a_doi_stands_at_the_end(paper):
    if paper.doi:
        assert re.match(r"^10\.\d{4,9}/\S+$", paper.doi)
        assert paper.text.endswith(f". https://doi.org/{paper.doi}")
        assert paper.bibtex.endswith(f"\n  doi = {{{paper.doi}}},\n}}")
    else:
        assert "://" not in paper.text
        assert "doi" not in paper.bibtex


def test_no_doi_stands_twice():
    dois = [paper.doi.lower() for paper in REFERENCES.values() if paper.doi]
    assert len(dois) == len(set(dois)) > len(REFERENCES) / 2


def test_a_model_is_its_parts():
    X = load_iris().data
    keys = {reference.key for reference in cite(ConsensusClustering(3, random_state=0).fit(X)).references}
    assert keys == {"damle2019", "gagolewski2016", "fred2005"}
    asked = ConsensusClustering(3, generator=generation.RandomKPartitions(), consensus="acv")
    assert "ayad2010" in {reference.key for reference in cite(asked).references}
    assert cite(CumulativeVoting(3)).references == cite("acv").references


def test_refused():
    with pytest.raises(ValueError, match="The name to cite must be one of"):
        cite("nothing")
    with pytest.raises(ValueError, match=r"something with a paper behind it. Got dict"):
        cite({})


def test_in_the_shell():
    assert succeed("cite", "km").stdout == f"{cite('km')}\n"
    assert succeed("cite", "discotec", "--bibtex").stdout == f"{cite('discotec').bibtex}\n"
    assert "must be one of" in fail("cite", "nothing")
    assert "BibTeX: ensemblage cite acv" in succeed("methods", "acv").stdout


def test_when_to_use_which():
    assert set(WHEN) == set(METHODS)
    lines = succeed("methods").stdout.splitlines()
    assert lines[0].split()[:2] == ["name", "when"]
    assert all(when in line for when, line in zip(WHEN.values(), lines[1:], strict=True))
    for name, when in WHEN.items():
        assert "finds k" not in when or METHODS[name].finds_k, name
        assert "k is known" not in when or not METHODS[name].finds_k, name
        if "places new" in when:
            assert hasattr(METHODS[name].estimator, "predict"), name
