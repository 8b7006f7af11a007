"""What is public has a row in docs/API.md, a place on the site, and its paper where one finds it."""

import ast
import importlib
import inspect
import pkgutil
import re

import pytest
from PIL import Image
from public import CITED, OBJECTS, PACKAGES, RETURNED
from test_docstrings import is_record
from texts import DOCUMENTS, PAGES, ROOT, SITE, SITE_PAGES, script

import ensemblage
from ensemblage import METHODS, cite, plotting
from ensemblage.base.renamed import NAMES
from ensemblage.metrics import INTERNAL_INDICES
from ensemblage.ranking import RANKERS

MOST, MOST_AT_THE_TOP = 130, 12
"""Public names beside submodules: what is not for users is private, and a new name asks whether another can go."""


def extension(name):
    """One of those that fill the site."""
    return script(f"docs/site/_ext/{name}.py")


# ---- docs/API.md ----


def rows(heading):
    """First cell → the other cells of the table under a heading of docs/API.md."""
    section = DOCUMENTS["docs/API.md"].split(f"\n## {heading}\n")[1].split("\n## ")[0]
    found = re.findall(r"^\| `([^`]+)` \|(.*)\|$", section, flags=re.MULTILINE)
    assert len(dict(found)) == len(found), "a name stands in two rows"
    return {name: [cell.strip() for cell in rest.split("|")] for name, rest in found}


def public_names():
    """Every public name → its value: packages, functions, classes, constants."""
    found = {}
    for module in map(importlib.import_module, PACKAGES):
        for name in module.__all__:
            value = getattr(module, name)
            assert found.setdefault(name, value) is value, f"{name} is public in two meanings"
    return found


def parameters():
    """Names of the parameters of public functions, of classes that users make, and of methods."""
    found = set()
    for value, _ in OBJECTS.values():
        function = getattr(value, "__func__", value)
        is_made = inspect.isclass(value) and not is_record(value) and value.__init__ is not object.__init__
        if inspect.isfunction(function) or is_made:
            found |= inspect.signature(function).parameters.keys()
    return found - {"self", "cls"}


@pytest.mark.parametrize(("heading", "expected"), [("Names", public_names), ("Parameters", parameters)])
def test_each_public_name_has_a_row_and_a_meaning_of_its_own(heading, expected):
    listed, public = rows(heading), set(expected())
    assert (sorted(public - set(listed)), sorted(set(listed) - public)) == ([], [])
    meanings = [cells[-1] for cells in listed.values()]
    assert all(meanings)
    assert {meaning for meaning in meanings if meanings.count(meaning) > 1} == set()


def test_each_name_is_of_the_package_that_has_it():
    for name, (package, _) in rows("Names").items():
        assert name in importlib.import_module(package.strip("`")).__all__


def test_few_names_are_public():
    assert len([name for name, value in public_names().items() if not inspect.ismodule(value)]) <= MOST
    at_the_top = [name for name in ensemblage.__all__ if not inspect.ismodule(getattr(ensemblage, name))]
    assert len(at_the_top) <= MOST_AT_THE_TOP + 1  # and the version


# ---- The site ----


def test_every_public_name_is_in_the_reference(tmp_path):
    api = extension("api")
    api.write_pages(tmp_path / "api")
    public = set(PACKAGES)
    for module in pkgutil.iter_modules(ensemblage.__path__, "ensemblage."):
        if module.ispkg and getattr(importlib.import_module(module.name), "__all__", None):
            public.add(module.name)
    assert public - {"ensemblage.cli"} <= set(api.PACKAGES)  # that one: howto/commands.md
    for package in map(importlib.import_module, api.PACKAGES):
        text = (tmp_path / "api" / f"{package.__name__}.rst").read_text(encoding="utf-8")
        for name in getattr(package, "__all__", ()):
            if not name.startswith("__") and not inspect.ismodule(getattr(package, name)):
                assert api.home(package.__name__, name) in text, name


def test_what_is_returned_is_in_the_reference(tmp_path):
    api = extension("api")
    api.write_pages(tmp_path)
    text = "".join(page.read_text(encoding="utf-8") for page in tmp_path.glob("*.rst"))
    moved = {place for names in NAMES.values() for place in names.values() if "._" in place and ".io." not in place}
    records = [place for place in moved if is_record(former_value(place)) and f"   ~{place}\n" not in text]
    assert sorted(records) == []
    assert [address for address in RETURNED if f"   ~{address}\n" not in text] == []


def former_value(place):
    module, _, name = place.rpartition(".")
    return getattr(importlib.import_module(module), name)


def test_the_gallery_has_every_figure_and_pictures_of_today():
    text = "".join(text for name, text in SITE_PAGES.items() if name.startswith("docs/site/gallery/"))
    drawing = [name for name in plotting.__all__ if inspect.isfunction(getattr(plotting, name))]
    assert [name for name in drawing if f"plotting.{name}(" not in text] == []
    gallery, digest = extension("gallery"), script("docs/make_thumbnails.py").digest
    shown = SITE / "_static" / "gallery"
    pages = [SITE / "gallery" / f"{page}.md" for page in gallery.PAGES]
    cards = [(card.name, page) for page in pages for card in gallery.cards(page.read_text(encoding="utf-8"))]
    assert len(cards) >= 30
    assert sorted(f"{name}.png" for name, _ in cards) == sorted(path.name for path in shown.iterdir())
    for name, page in cards:
        picture = Image.open(shown / f"{name}.png")
        assert picture.text["Description"] == digest(page), "python docs/make_thumbnails.py"


def test_every_method_is_in_the_tables_of_the_site():
    records = extension("records")
    for table in (records.methods_table(), records.capabilities_table(), records.papers_table()):
        assert [name for name in (*METHODS, *METHODS.aliases) if f"`{name}`" not in table] == []
    mark = "\n<!-- methods of this page -->\n"
    for name, method in METHODS.items():
        page = f"theory/{method.theory}"
        assert mark in SITE_PAGES.get(f"docs/site/{page}.md", ""), f"`theory` of the record of {name}"
        assert f"`{name}`" in records.theory_table(page)


def test_what_follows_from_the_records_of_the_methods_is_written():
    stale = script("docs/make_tables.py").stale()
    assert not stale, f"run `python docs/make_tables.py`: it writes {', '.join(path.name for path in stale)}"


# ---- Papers ----


def test_the_way_from_a_paper_to_the_code():
    """The table that CONTRIBUTING.md has by hand; that of methods is made from their records."""
    text = PAGES["CONTRIBUTING.md"].split("## From a paper to the code")[1].split("<!-- end -->")[1]
    lines = [line for line in text.split("\n## ")[0].splitlines() if line.startswith("|")]
    known = {*METHODS, *METHODS.aliases, *RANKERS, "gkcc", "genie", "modes", "communities"}
    all_named = set()
    for methods, place, file, words in ([cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]):
        tree = ast.parse((ROOT / "src" / "ensemblage" / file.strip("`")).read_text(encoding="utf-8"))
        defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
        assert place, file
        assert {word.strip("`") for word in words.split(", ")} <= defined, file
        assert set(methods.split(", ")) <= known, file
        all_named |= set(methods.split(", "))
    assert set(RANKERS) - set(INTERNAL_INDICES) <= all_named


def test_references_are_whole():
    papers = {paper.key: paper for name in CITED for paper in cite(name).references}.values()
    for paper in papers:
        assert paper.bibtex.count("{") == paper.bibtex.count("}"), paper
        assert re.match(r"@(article|inproceedings|misc)\{\w+,\n", paper.bibtex), paper
        assert paper.year is None or paper.key.endswith(str(paper.year)), paper
        assert "  " not in paper.text, paper
        if paper.doi:
            assert re.match(r"^10\.\d{4,9}/\S+$", paper.doi), paper
            assert paper.text.endswith(f". https://doi.org/{paper.doi}"), paper
            assert paper.bibtex.endswith(f"\n  doi = {{{paper.doi}}},\n}}"), paper
        else:
            assert "://" not in paper.text, paper
            assert "doi" not in paper.bibtex, paper
    dois = [paper.doi.lower() for paper in papers if paper.doi]
    assert len(dois) == len(set(dois)) > len(papers) / 2
