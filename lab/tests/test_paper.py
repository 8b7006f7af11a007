"""The paper's numbers are those of the records; its citations, its figure and CITATION.cff agree with the rest."""

import importlib.util
import json
import re
from pathlib import Path

import pytest
from PIL import Image
from test_quotes import KINDS, answers, cells, over_kinds, per_cent, record, short, text_of

from ensemblage import METHODS

FOLDER = Path(__file__).parents[1] / "paper"
ROOT = Path(__file__).parents[2]
PAPER = (FOLDER / "paper.md").read_text(encoding="utf-8")
TEXT = " ".join(PAPER.split())


@pytest.fixture(scope="module")
def make_paper():
    spec = importlib.util.spec_from_file_location("make_paper", FOLDER / "make_paper.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def quality():
    sealed = "## Results on the sealed tables"
    n_sets, genie, ours, *_ = cells("DEFAULT.md", "k given", "genie, as given (highest mean)", after=sealed)
    assert n_sets == "15"
    yield "Fifteen real tables were divided off before it and scored once."
    yield f"With the number of classes given, the mean adjusted Rand index of the default is {short(ours)} there."
    k_means = [
        row["ari"]
        for row in map(json.loads, record("default/sealed.jsonl").splitlines())
        if row["method"] == "kmeans, deviation 1"
    ]
    yield f"has {short(genie)}, and k-means on standardised columns {short(sum(k_means) / len(k_means))}."
    _, silhouette, ours, interval, _ = cells("DEFAULT.md", "k unknown", "silhouette (highest mean)", after=sealed)
    yield f"With the number unknown the default has {short(ours)} and k-means by silhouette {short(silhouette)}."
    yield "All these intervals include no difference."
    for of_other in (interval, cells("DEFAULT.md", "k given", "genie, as given (highest mean)", after=sealed)[3]):
        low, high = map(float, of_other.split(" to "))
        assert low < 0 < high
    ours = {task: over_kinds(answers("run2"), task) for task in ("k given", "k unknown")}
    n_sets = len({name for _, _, name in answers("run2")})
    methods = {row["method"] for row in map(json.loads, record("default/singles.jsonl").splitlines())}
    given = max(over_kinds(answers("singles", m), "k given") for m in methods if "," in m)
    unknown = max(over_kinds(answers("singles", m), "k unknown") for m in methods if "," not in m)
    yield f"On the {n_sets} sets used during development the default has {short(ours['k given'])}"
    yield f"has {short(ours['k given'])} and the best single algorithm {short(given)}"
    yield f"with the number unknown {short(ours['k unknown'])} and {short(unknown)}"
    counted = re.findall(r"runs? \| ([\d,]+) of ([\d,]+)", text_of("REPRODUCTION.md").split("## ")[1])
    met, compared = (sum(int(pair[i].replace(",", "")) for pair in counted) for i in (0, 1))
    yield f"{met:,} of {compared:,} printed numbers"
    words = {kind: cells("DEFAULT.md", kind, after="## Do certainty and rating hold?")[1:4] for kind in KINDS[:2]}
    shares = {kind: [per_cent(cell.split()[0]) for cell in row] for kind, row in words.items()}
    core, border, undecided = shares["drawings"]
    yield f"{core} of core, {border} of border and {undecided} of undecided objects"
    core, border, undecided = (share.removesuffix(" %") for share in shares["numbers"])
    yield f"the shares are {core}, {border} and {undecided} %"


def reliability():
    text = text_of("RELIABILITY.md")
    cases = [
        int(n.replace(",", "")) for n in re.findall(r"^\| \w+: [^|]+ \| \d+ \| ([\d,]+) \|", text, flags=re.MULTILINE)
    ]
    assert len(cases) == 6
    yield f"killed processes ran {sum(cases):,} cases"
    mutants = re.findall(
        r"^\| \w+ \| [\d,]+ \| ([\d,]+) \| [\d,]+ \| ([\d,]+) \| ([\d,]+) \|", text, flags=re.MULTILINE
    )
    run, equivalent, survived = (sum(int(row[i].replace(",", "")) for row in mutants) for i in range(3))
    yield (
        f"Of {run - equivalent:,} small errors planted in the sources by a program, tests notice all but {survived}; "
        "some tests were written after an error was missed."
    )
    planted, noticed = re.search(
        r"(\d+) bugs that tests once let pass were planted again: (\d+) are noticed", text
    ).groups()
    assert planted == noticed
    yield f"All {planted} bugs that earlier tests had let pass are noticed now"
    passed = int(re.search(r"([\d,]+) passed and none failed", text)[1].replace(",", ""))
    assert passed > 14_000
    yield "more than 14,000 cases"


def speed():
    yield f"It has {len(METHODS)} consensus methods"
    steps = "`KMeansConsensus`, same start, 11 assignment steps, k-means partitions"
    size, ours, *_ = cells("BENCHMARKS.md", steps)
    assert size == "n = 10⁶, p = 20, k = 20"
    yield f"One start of k-means consensus on 10^6^ objects in 20 partitions took {ours.partition(',')[0]} on two cores"
    time, memory = cells(
        "BENCHMARKS.md", "`EvidenceAccumulation`, average", "n = 100,000, p = 20", after="## Faster since"
    )[:2]
    yield f"Average linkage of 10^5^ objects took {time.removesuffix(' now')} and {memory.removesuffix(' now')}"
    assert "SciPy's matrix would have 40 GB" in text_of("BENCHMARKS.md")


@pytest.mark.parametrize("quotes", [quality, reliability, speed], ids=lambda quotes: quotes.__name__)
def test_the_numbers_of_the_paper_are_those_of_the_records(quotes):
    for said in quotes():
        assert said in TEXT, said


def test_the_bibliography_has_what_is_cited(make_paper):
    assert (FOLDER / "paper.bib").read_text(encoding="utf-8") == make_paper.bibliography()
    own = re.findall(r"^@\w+\{(\w+),", (FOLDER / "software.bib").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert set(own) <= set(make_paper.cited())
    # What the project's own list has is not written a second time.
    assert not set(own) & set(make_paper.references())


def test_the_figure_shows_the_records(make_paper):
    said = json.loads(Image.open(FOLDER / "scores.png").text["Description"])
    assert said == json.loads(make_paper.described())
    for task in make_paper.TASKS:
        assert sum(said[task][1].values()) / len(KINDS) == pytest.approx(over_kinds(answers("run2"), task), abs=1e-3)


def test_the_pictures_exist():
    pictures = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", PAPER)
    assert len(pictures) == 3
    assert all((FOLDER / name).exists() for name in pictures)


def test_the_citation_agrees_with_the_paper():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    names = re.findall(
        r"^  - name: (.+)$", citation.split("\nauthors:\n")[1].split("\nversion:")[0], flags=re.MULTILINE
    )
    head = PAPER.split("---")[1]
    assert (
        re.findall(r"^  - name: (.+)$", head.split("\nauthors:\n")[1].split("\naffiliations:")[0], flags=re.MULTILINE)
        == names
    )
    title = re.search(r'^title: "(\w+): ', citation, flags=re.MULTILINE)[1]
    assert re.search(r'^title: "(\w+): ', head, flags=re.MULTILINE)[1] == title == "ensemblage"
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert f'authors = [{{ name = "{names[0]}" }}]' in project
    for word in ("license", "url"):
        value = re.search(rf"^{word}: (\S+)$", citation, flags=re.MULTILINE)[1]
        assert f'"{value}"' in project


def test_sections_of_the_journal_are_there():
    sections = re.findall(r"^# (.+)$", PAPER, flags=re.MULTILINE)
    assert sections[:3] == ["Summary", "Statement of need", "State of the field"]
    assert sections[-1] == "References"
    body = PAPER.split("---", 2)[2]
    assert 750 <= len(re.findall(r"\w+", body)) <= 1750  # the journal's limits
