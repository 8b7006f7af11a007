"""Links, commands and extras that the pages name are there; the site itself is built by `nox -s docs`."""

import re
import tomllib

import pytest
from texts import PAGES, README, ROOT, SITE, SITE_PAGES, SOURCES, script

from ensemblage.cli import main

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
EXTRAS = PROJECT["project"]["optional-dependencies"]
BLOB = r"https://(?:raw\.)?github(?:usercontent)?\.com/ensemblage/ensemblage/(?:(?:blob|tree)/)?main/([\w./-]+)"
OF_SITE = r"https://ensemblage\.github\.io/ensemblage/([\w/-]+)\.html"


def links(text):
    return re.findall(r"\]\(([^)#\s]+?)(?:#[^)]*)?\)", text)


def dead_links(text, folder):
    """Links of a text in a folder that lead nowhere; whole ones to the project itself are looked up in the checkout."""
    source, pages = re.findall(BLOB, text), re.findall(OF_SITE, text)
    near = [target for target in links(text) if not re.match(r"\w+:", target)]
    wanted = [ROOT / name for name in source] + [SITE / f"{page}.md" for page in pages]
    for path in [*wanted, *((folder / target).resolve() for target in near)]:
        # Pages of the reference are written when the site is built.
        if not path.exists() and not path.is_relative_to(SITE / "api"):
            yield path


@pytest.mark.parametrize("page", [*PAGES, "pyproject.toml", "CITATION.cff"])
def test_links_lead_somewhere(page):
    path = ROOT / page
    assert list(dead_links(path.read_text(encoding="utf-8"), path.parent)) == []


def test_links_on_a_package_index_are_whole():
    """It has the text of README and no file beside it."""
    text = README
    for one in PROJECT["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]["substitutions"]:
        text = re.sub(one["pattern"], one["replacement"], text)
    assert [link for link in links(text) if not link.startswith("https://")] == []
    assert list(dead_links(text, ROOT)) == []
    assert len(re.findall(OF_SITE, text)) >= len(re.findall(r"\]\(docs/site/", README)) > 0
    pictures = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", text)
    assert pictures
    assert all(link.startswith("https://raw.githubusercontent.com/") for link in pictures)


def test_extras_that_pages_and_messages_name_are_there():
    named = re.search(r"^Extras: (.*?)\. Install", README, flags=re.MULTILINE | re.DOTALL)[1]
    assert set(re.findall(r"`([a-z]+)`", named)) == set(EXTRAS)
    advised = set(re.findall(r"\bensemblage\[([a-z-]+)\]", "\n".join([*PAGES.values(), *SOURCES.values()])))
    assert {"graphs", "anndata", "hypergraph", "excel"} <= advised <= set(EXTRAS)
    groups = {name: group for name, group in PROJECT["dependency-groups"].items() if name != "dev"}
    assert groups.items() <= EXTRAS.items()


def test_readme_is_short():
    assert len(README.split()) <= 700


def test_every_command_has_a_row_and_every_option_has_help():
    rows = re.findall(r"^\| `ensemblage ([a-z]+)", SITE_PAGES["docs/site/howto/commands.md"], flags=re.MULTILINE)
    assert set(rows) == set(main.commands)
    for name, command in main.commands.items():
        assert command.help, name
        for option in command.params:
            assert option.param_type_name == "argument" or option.help, f"{name} {option.name}"


def test_the_cheat_sheet_to_print_is_one_page_and_that_of_today():
    make_cheatsheet = script("docs/make_cheatsheet.py")
    printed = make_cheatsheet.PDF.read_bytes()
    assert f"/Title ({make_cheatsheet.title()})".encode() in printed
    assert re.findall(rb"/Type /Pages\s/Count (\d+)", printed) == [b"1"]


def test_workflows_call_sessions_that_exist():
    sessions = re.findall(r"^def (\w+)\(session", (ROOT / "noxfile.py").read_text(encoding="utf-8"), flags=re.MULTILINE)
    for path in (ROOT / ".github" / "workflows").glob("*.yml"):
        for words in re.findall(r"run: nox -s ([\w ]+)", path.read_text(encoding="utf-8")):
            assert set(words.split()) <= set(sessions), path.name
