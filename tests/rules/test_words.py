"""Phrases that a stranger has to guess at stay out of the documentation, the docstrings and the messages.

Each pattern has what to write instead. The glossary of the site (docs/site/glossary.md) is the authority for terms.
"""

import ast
import inspect
import re

from public import OBJECTS
from texts import LAB, PAGES, ROOT, SITE_PAGES, SOURCES, flat

from ensemblage.cli import main

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
    r"\bsays? how (sure|certain) it is\b|\bhow sure (is|it|they|that|each|every|the)\b": "confidence",
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
BY_SCRIPTS = {"docs/RELIABILITY.md", "docs/SCALE.md"}
"""Documents that scripts write, or that belong to a running measurement."""
NOT_RULED = {"CHANGELOG.md", "CODE_OF_CONDUCT.md", "SECURITY.md"}
TREES = {name: ast.parse(text) for name, text in SOURCES.items()}


ONE_WORD = {
    r"(?<!un)certainty": "confidence",
    r"\bclusterings\b": "partitions",
    r"\b(a|another|base|each|every) clustering\b(?!-| [a-z])|\b(base|each|every) clustering\b": "a partition",
}
"""What the glossary calls by one word: how sure a label is, and one division of the objects."""
FIXED_TERMS = (
    *("multiple clusterings", "weak clusterings", "comparing clusterings", "evaluating clusterings"),
    *("spectral clusterings", "trimmed clusterings", "agglomerative clusterings", "partitions (clusterings)"),
    *("base clusterings 0", "base clusterings 1", "base clusterings 2"),
)
"""Titles of papers, runs of an algorithm of that name, the introduction for laymen, a stage in earlier records."""


def found(text, phrases=INSTEAD):
    text = flat(text)
    for pattern, instead in phrases.items():
        for match in re.finditer(pattern, text, flags=re.IGNORECASE):
            yield f"'…{text[max(match.start() - 30, 0) : match.end() + 20]}…': write '{instead}'"


def test_a_page_has_no_phrase_to_replace():
    """What a command prints, a block of no language, may have one."""
    wrong = []
    for name, text in PAGES.items():
        if name not in BY_SCRIPTS | NOT_RULED:
            ours = re.sub(r"^```(.*)\n(?:.|\n)*?^```$", lambda m: m[0] if m[1] else "", text, flags=re.MULTILINE)
            phrases = INSTEAD if name.endswith("glossary.md") else INSTEAD | ON_PAGES
            wrong += [f"{name}: {said}" for said in found(ours, phrases)]
    assert wrong == []


def test_docstrings_and_messages_have_no_phrase_to_replace():
    texts = ((name, node.value) for name, tree in TREES.items() for node in ast.walk(tree) if is_text(node))
    assert [f"{name}: {said}" for name, text in texts for said in found(text)] == []


def of_two_words(text):
    text = flat(text).lower()
    for term in FIXED_TERMS:
        text = text.replace(term, "")
    return list(found(text, ONE_WORD))


def test_one_word_for_confidence_and_one_for_a_partition():
    """Names of files, of before 1.0 and of a stage are texts of one word or two, without a sentence."""
    ruled = {name: text for name, text in PAGES.items() if name not in BY_SCRIPTS | NOT_RULED}
    templates = (ROOT / "src" / "ensemblage" / "report" / "templates").iterdir()
    texts = [*ruled.items(), *((path.name, path.read_text(encoding="utf-8")) for path in templates)]
    for name, tree in TREES.items():
        said = (node.value for node in ast.walk(tree) if is_text(node))
        texts += [(name, text) for text in said if not re.fullmatch(r"[\w.-]+", text)]
    assert [f"{name}: {said}" for name, text in texts for said in of_two_words(text)] == []


def test_two_words_would_be_found():
    said = "The certainty of each clustering. Many clusterings; uncertainty, consensus clustering, a clustering tree."
    assert len(of_two_words(said)) == 3
    assert of_two_words("Combining multiple clusterings using evidence accumulation") == []


def test_no_public_name_says_member():
    """It is a partition there; in prose, a member is a partition of an ensemble."""
    names = {name for path, (value, _) in OBJECTS.items() for name in (path, *parameters_of(value))}
    names |= {option for command in main.commands.values() for option in options_of(command)}
    assert {"partitions", "--partitions"} < names
    assert [name for name in sorted(names) if re.search(r"member(?!ship)", name.rsplit(".", 1)[-1].lower())] == []


def test_no_public_parameter_is_a_clustering():
    """One division of the objects is a partition; clustering is the activity."""
    parameters = {parameter for value, _ in OBJECTS.values() for parameter in parameters_of(value)}
    assert "partition" in parameters
    assert [name for name in sorted(parameters) if re.search(r"clustering", name)] == []


def parameters_of(value):
    if not callable(value):
        return ()
    try:
        return inspect.signature(value).parameters
    except ValueError:
        return ()


def options_of(command):
    made = getattr(command, "imported", lambda: command)()
    return [option for one in made.params if not getattr(one, "hidden", False) for option in one.opts]


def is_text(node):
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def idle_texts(tree):
    """Lines of texts that are statements, but neither docstrings nor beside an assignment: they do nothing."""
    for node in ast.walk(tree):
        for block in (getattr(node, name, None) for name in ("body", "orelse", "finalbody")):
            for before, line in zip([None, *block], block, strict=False) if isinstance(block, list) else ():
                is_first = before is None and isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
                is_idle = isinstance(line, ast.Expr) and (is_text(line.value) or isinstance(line.value, ast.JoinedStr))
                if is_idle and not (is_first or isinstance(before, ast.Assign | ast.AnnAssign)):
                    yield line.lineno


def test_no_text_is_a_statement():
    """The second half of a sentence after ``yield "first half"`` is one, and is lost; ruff's B018 lets texts pass."""
    assert {name: lines for name, tree in TREES.items() if (lines := list(idle_texts(tree)))} == {}


FLAG = re.compile(r"(?<![\w-])--(?=[a-z{])")
SHELL = (
    *("src/ensemblage/cli/", "src/ensemblage/report/_sections", "lab/src/ensemblage_lab/_"),
    "lab/src/ensemblage_lab/benchmark/_explorer",
)
"""What the shell calls, and pages that end with commands to copy."""


def test_only_the_shell_spells_flags():
    """A message names an option: Message(..., Option(name, value), ...), and each front end spells it."""
    spelt = set()
    for name, tree in TREES.items():
        docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.JoinedStr):
                text = "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
            else:  # "var(--" is of style sheets
                text = node.value.replace("var(--", "") if is_text(node) and id(node) not in docs else ""
            spelt |= {name} if FLAG.search(text) and not name.startswith(SHELL) else set()
    assert spelt == set()


def test_no_document_and_no_record_names_a_folder_of_a_machine():
    folders = re.compile(r"(?<![\w.])/(root|home|tmp|work|Users|opt)/\w|[A-Za-z]:\\\\?Users")
    kept = [path for name in ("docs", "examples") for path in (ROOT / name).rglob("*")]
    text = [path for path in [*ROOT.glob("*.md"), *kept, *LAB.rglob("*")] if path.suffix in RECORDED]
    assert len(text) > 50
    assert [str(path) for path in text if folders.search(path.read_text(encoding="utf-8"))] == []


RECORDED = {".md", ".json", ".jsonl", ".csv", ".svg"}


def test_the_glossary_has_a_symbol_a_meaning_and_a_link_for_every_term():
    lines = [line for line in SITE_PAGES["docs/site/glossary.md"].splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    rows = [row for row in rows if row[0] not in {"term", "---"}]
    assert len({row[0] for row in rows}) == len(rows) >= 60
    for row in rows:
        assert len(row) == 4, row
        assert all(row), row
        assert re.fullmatch(r"\[[^\]]+\]\([\w/]+\.md(#[\w-]+)?\)", row[3]), row


FORMER_NAMES = {
    r"Evidence(?!Accumulation)|_evidence|evidence_(part|sections|sentences|from_dict)": "Diagnostics, diagnostics",
    r"\w*Wishes|_?wishes": "PlanRequest, PageOptions, DrawsOptions",
    r"Made|Chosen|Kept|Found|Shipped|Told": "a noun of what it is: PoolCache, LearnedSelection, RunResult",
    r"\w*[Hh]onest\w*": "selective, of selective inference",
    r"_?told(_\w+)?|\w+_told|_?tell(_\w+)?|\w+_tell": "announce, report; or a noun of what it is",
    r"once": "locked_property; or a noun of what it is",
    r"\w*twins?|twins?_\w+": "duplicates, equal rows",
    r"are_few|\w*of_few": "is_small_work; small_",
    r"\w*((?<!un)certainty|Certainty)\w*": "confidence",
    r"\w*[cC]lusterings\w*": "partitions",
}
"""Names that no class, function, parameter or variable has, and what to write instead."""
FORMER_MODULES = {"latent": "posterior", "_evidence": "_diagnostics", "_honest": "_selective"}
"""The same of folders and files of the library."""
OF_BEFORE_1_0 = {"base/renamed.py", "consensus/evidence.py"}
"""Where former names stand for one release."""
ALIASES = {("choices/_plan.py", "certainty"), ("consensus/_base.py", "evidence"), ("profiles/_record.py", "honest")}
"""Former names of attributes, which warn."""


def names_of(tree):
    """What a module calls its own things: classes, functions, parameters and variables."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr


def test_no_name_in_the_code_is_one_that_the_field_would_not_use():
    wrong = []
    for path, tree in TREES.items():
        here = path.removeprefix("src/ensemblage/")
        if not path.startswith("src/") or here in OF_BEFORE_1_0:
            continue
        wrong += [f"{path}: write {new}" for old, new in FORMER_MODULES.items() if old in re.split(r"[/.]", here)]
        for name in names_of(tree):
            instead = (new for old, new in FORMER_NAMES.items() if re.fullmatch(old, name))
            wrong += [f"{path}: {name}: write {new}" for new in instead if (here, name) not in ALIASES]
    assert wrong == []


def test_a_former_name_would_be_found():
    code = "class Wishes: ...\nclass EvidenceAccumulation: ...\ndef tell_notes(honest): told = 1; self.of_twins = once"
    found_names = [name for name in names_of(ast.parse(code)) if any(re.fullmatch(old, name) for old in FORMER_NAMES)]
    assert sorted(found_names) == ["Wishes", "honest", "of_twins", "tell_notes", "told"]
