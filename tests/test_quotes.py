"""Numbers that a page quotes by hand are those of the document that they come from."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"


def text_of(name):
    return (DOCS / name).read_text(encoding="utf-8")


def cells(name, *first, after=""):
    """The other cells of the row of a table that begins with these, the first after a heading."""
    text = text_of(name)
    for line in text[text.index(after) :].splitlines():
        row = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and row[: len(first)] == list(first):
            return row[len(first) :]
    raise AssertionError((name, first))


def short(number):
    """0.716 as .72."""
    return f"{float(number):.2f}".removeprefix("0")


def per_cent(number):
    return f"{100 * float(number):.0f} %"


def certainty():
    auc = [short(cells("CERTAINTY.md", kind)[1]) for kind in ("random-k", "diverse")]
    yield "theory/certainty.md", f"is {auc[0]} to {auc[1]} (.5 would"
    runs, sets = (re.search(rf"(\d+) {what}", text_of("CERTAINTY.md"))[1] for what in ("runs", "sets of the suite"))
    yield "theory/certainty.md", f"Over {runs} runs on {sets} public sets"
    right = {}
    for word in ("core", "border", "undecided"):
        objects, share = cells("DEFAULT.md", word)
        right[word] = per_cent(share)
        yield "theory/certainty.md", f"| {word} | {objects} | {per_cent(share)} |"
    said = f"{right['core']} of the core, {right['border']} of the border and {right['undecided']} of the undecided"
    yield "howto/page.md", said


def number_of_clusters():
    clouds, _, share, _ = cells("CERTAINTY.md", "all", after="**Clouds without clusters**")
    yield "howto/choose_k.md", f"On {int(clouds):,} clouds without clusters it found structure in {share}"
    yield "theory/number.md", f"On {int(clouds):,} clouds without clusters structure was found in {share}"
    near = cells("CERTAINTY.md", "4", "all", after="**Gaussians**")
    two = cells("CERTAINTY.md", "4", "2", after="**Gaussians**")
    found = f"are found in {per_cent(near[1])} of the cases (two clusters alone in {per_cent(two[1])})"
    yield "theory/number.md", f"{found}, and the right number is named first in {per_cent(near[2])}"
    assert float(two[1]) == 0.25
    yield "faq.md", "two normal clouds 4 deviations apart are called structure in a quarter of the cases"
    sets, right, _ = cells("CERTAINTY.md", "all", after="**Public sets**")
    yield (
        "theory/number.md",
        f"On {sets} public sets the number named first was that of the classes on {per_cent(right)}",
    )
    yield "howto/choose_k.md", f"on {sets} public sets the number named was that of the classes"
    of = {word: cells("CERTAINTY.md", word, after="**Public sets**") for word in ("clear", "likely", "ambiguous")}
    yield "howto/choose_k.md", f"| {round(float(of['clear'][1]) * int(of['clear'][0]))} of {of['clear'][0]} |"
    yield "howto/choose_k.md", f"| {per_cent(of['likely'][1])} of {of['likely'][0]}; among the named on all |"
    said = (
        f"| {per_cent(of['ambiguous'][1])} of {of['ambiguous'][0]}; among the named on {per_cent(of['ambiguous'][2])} |"
    )
    yield "howto/choose_k.md", said


def communities():
    louvain, modularity, ecg, fast, lancichinetti = (cell.split()[0] for cell in cells("BENCHMARKS.md", ".69"))
    said = (
        f"one Louvain run has a mutual information, adjusted for chance, of {short(louvain)}, the best modularity of 50"
    )
    rest = f"ECG {short(ecg)}, Lancichinetti and Fortunato {short(lancichinetti)}, FastEnsemble {short(fast)}"
    yield "theory/communities.md", f"{said} runs {short(modularity)}, {rest}"


@pytest.mark.parametrize("quotes", [certainty, number_of_clusters, communities], ids=lambda quotes: quotes.__name__)
def test_quotes(quotes):
    for page, said in quotes():
        assert said in " ".join(text_of(f"site/{page}").split()), (page, said)
