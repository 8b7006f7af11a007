"""Phrases that a stranger has to guess at stay out of the documentation, the docstrings and the messages.

Each pattern has what to write instead. The glossary of the site (docs/site/glossary.md) is the authority for terms.
"""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
SITE = ROOT / "docs" / "site"

INSTEAD = {
    r"\btold (the number|k\b|two\b|three\b|it\b)|\bnot told\b|\bin the dark\b": "k given, k unknown; in dark mode",
    r"\bto the bit\b|\bbit by bit\b|\bbit for bit\b|\bthe same bits\b|\bsame bits\b": "bitwise identical",
    r"\b(do|does) alike\b": "an error that all members share",
    r"\bexpect (a result|more than)\b": "a consensus usually beats the average member and rarely the best one",
    r"\bunless their scales are alike\b": "unless all standard deviations are within a factor of N",
    r"\b(known to )?belong together, or (not|do not)\b": "pairs that must, or must not, share a cluster",
    r"\ball they say\b": "soft memberships are combined without hardening them",
    r"\bsays? at which resolution\b|\band combines what is\b": "reports the resolutions that are reproducible",
    r"\bno way worth\b|\bworth telling\b|\bfound on (its|the) way\b": "intermediate results; empty if it keeps none",
    r"\ball that is clustered\b": "None if every column is a categorical member",
    r"\b(the )?number named first\b": "the first suggestion equalled the number of classes",
    r"\b(is|are) no balls?\b|\bno balls\b": "non-convex clusters",
    r"\bread it so\b": "how to read it",
    r"\bthe pages of ensemblage\b": "ensemblage 0.1.0 documentation",
    r"\bnumber \d+ and \d+ on average\b": "mean rank 4.1 and 3.2",
    r"\bno weight > 0 bears\b|\bbears? weight\b": "carried only by zero-weight objects",
    r"\bwho cuts\b": "the graph partitioner",
    r"\bmemberships stand beside\b": "a four-part error: subject, rule, what was got, next step",
    r"\bfound again\b|\bfinds? again\b": "reproduced in resamples",
    r"\bspeaks? (for|against) (its|a|another|that|the)\b": "support",
    r"\bcame back\b|\bcomes? back in\b": "reproduced in resamples",
    r"\bfour letters to write\b|\bthen say it\b": "the question may give the number",
    r"\bsays? how (sure|certain) it is\b|\bhow sure (is|it|they|that|each|every|the)\b": "certainty; confidence",
    r"\btorn (between|apart)\b|\b(is|are) torn\b|\btear apart\b": "two clusters have equal support; split",
    r"\bas good as none\b": "practically none",
    r"\bthe rule of the house\b": "the rule",
    r"\bone-humped\b": "unimodal",
    r"\bthat is much\b|\bwould be no use\b": "say what it achieves",
    r"\bput down to\b": "gets a cause",
    r"\bmust be said\b|\bhas nothing to say\b": "must be given",
    r"\bby itself says little\b|\bsays little by itself\b": "is unreliable",
    r"\bweighs? the more\b|\bthe less the more\b": "grows with",
    r"\bwith whose objects\b": "the cluster with the largest mean co-association",
    r"\bwhat it clusters? of\b|\bwhat is there\b": "name the thing",
}

ON_PAGES = {
    r"\bstory\b|\bstories\b": "mode, modes",
    r"\b(is|are|was|were) told\b": "reported; given",
    r"\bsomebody\b|\bwhom\b": "name who it is",
    r"\bheard\b": "the aggregate of the paper",
}
"""Of pages alone: messages and the page of a run have these words, and the glossary explains them."""

BY_SCRIPTS = {"RELIABILITY.md", "SCALE.md"}
"""Documents that scripts write, or that belong to a running measurement."""


def pages():
    yield ROOT / "README.md"
    yield ROOT / "CONTRIBUTING.md"
    yield from (path for path in sorted((ROOT / "docs").glob("*.md")) if path.name not in BY_SCRIPTS)
    yield from (path for path in sorted(SITE.rglob("*.md")) if "api" not in path.relative_to(SITE).parts)


def sources():
    yield from sorted((ROOT / "src" / "ensemblage").rglob("*.py"))


def strings(path):
    """Docstrings and all other texts of a module; comments are left out."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def found(text, phrases=INSTEAD):
    text = " ".join(text.split())
    for pattern, instead in phrases.items():
        for match in re.finditer(pattern, text, flags=re.IGNORECASE):
            yield f"'…{text[max(match.start() - 30, 0) : match.end() + 20]}…': write '{instead}'"


def test_a_page_has_no_phrase_to_replace():
    wrong = []
    for path in pages():
        text = path.read_text(encoding="utf-8")
        blocks = re.finditer(r"^```(.*)\n(.|\n)*?^```$", text, flags=re.MULTILINE)
        for output in [match[0] for match in blocks if not match[1]]:
            text = text.replace(output, "")
        phrases = INSTEAD if path.name == "glossary.md" else INSTEAD | ON_PAGES
        wrong += [f"{path.relative_to(ROOT)}: {said}" for said in found(text, phrases)]
    assert not wrong


def test_docstrings_and_messages_have_no_phrase_to_replace():
    wrong = [
        f"{path.relative_to(ROOT)}: {what}" for path in sources() for text in strings(path) for what in found(text)
    ]
    assert wrong == []


def test_phrases_to_replace_are_found():
    assert list(found("Told the number of classes, the result is the same to the\nbit."))
    assert not list(found("With k given, the results are bitwise identical."))


def rows_of_the_glossary():
    text = (SITE / "glossary.md").read_text(encoding="utf-8")
    rows = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in row] for row in rows if row[0].strip() not in {"term", "---"}]


def test_the_glossary_has_a_symbol_a_meaning_and_a_link_for_every_term():
    rows = rows_of_the_glossary()
    assert len(rows) >= 60
    assert len({row[0] for row in rows}) == len(rows)
    for row in rows:
        assert len(row) == 4, row
        assert all(row), row
        assert re.fullmatch(r"\[[^\]]+\]\([\w/]+\.md(#[\w-]+)?\)", row[3]), row
