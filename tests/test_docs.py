"""README and documents, held to the code."""

import importlib.util
import re
import tomllib
from pathlib import Path

import pytest
from sklearn.datasets import load_wine
from sklearn.metrics import adjusted_rand_score

from ensemblage import ConsensusClustering
from ensemblage.cli import main

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = (ROOT / "docs/site/howto/commands.md").read_text(encoding="utf-8")
IN_PYTHON = (ROOT / "docs/site/howto/python.md").read_text(encoding="utf-8")


def script(name):
    """One of those that write documents, as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_no_document_and_no_record_names_a_folder_of_a_machine():
    folders = re.compile(r"(?<![\w.])/(root|home|tmp|work|Users|opt)/\w|[A-Za-z]:\\\\?Users")
    kept = [path for name in ("docs", "lab", "examples") for path in (ROOT / name).rglob("*")]
    text = [path for path in [*ROOT.glob("*.md"), *kept] if path.suffix in {".md", ".json", ".jsonl", ".csv", ".svg"}]
    assert len(text) > 50
    assert [str(path) for path in text if folders.search(path.read_text(encoding="utf-8"))] == []


def test_readme_is_short():
    assert len(README.split()) <= 700


def test_what_follows_from_the_records_of_the_methods_is_written():
    stale = script("make_tables").stale()
    assert not stale, f"run `python docs/make_tables.py`: it writes {', '.join(path.name for path in stale)}"


def test_the_page_of_commands_names_every_command_and_no_other():
    assert set(re.findall(r"^\| `ensemblage ([a-z]+)", COMMANDS, flags=re.MULTILINE)) == set(main.commands)


def test_readme_names_every_extra():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    named = re.search(r"^Extras: (.*?)\. Install", README, flags=re.MULTILINE | re.DOTALL)[1]
    assert set(re.findall(r"`([a-z]+)`", named)) == set(extras)


def test_git_ignores_what_the_commands_of_readme_write():
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
    written = set(re.findall(r"^\S*ensemblage .* -o (\w+)$", README, flags=re.MULTILINE))
    assert written == {"out", "combined"}
    assert {f"/{name}/" for name in written} <= set(ignored)


def test_extras_that_are_advised_are_there():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    files = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("src/**/*.py")]
    text = "\n".join(file.read_text(encoding="utf-8") for file in files)
    advised = set(re.findall(r"\bensemblage\[([a-z-]+)\]", text))
    assert {"graphs", "anndata", "hypergraph", "excel"} <= advised <= set(extras)


def test_links_on_a_package_index_are_whole():
    """It has the text of README and no file beside it; every page that is named there is in the repository."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    text = README
    for one in project["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]["substitutions"]:
        text = re.sub(one["pattern"], one["replacement"], text)
    links = re.findall(r"\]\(([^)]+)\)", text)
    before = re.findall(r"\]\(([^)]+)\)", README)
    assert all(link.startswith("https://") for link in links)
    site = project["project"]["urls"]["Documentation"]
    for link, page in zip(links, before, strict=True):
        of_site = re.fullmatch(r"docs/site/(.*)\.md", page)
        assert link == f"{site}{of_site[1]}.html" if of_site else link.endswith(page)
    assert all((ROOT / page).exists() for page in before if not page.startswith("https://"))
    pictures = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", text)
    assert pictures
    assert all(link.startswith("https://raw.githubusercontent.com/") for link in pictures)


def test_python_lines_of_the_readme_run_one_after_another(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    blocks = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    for lines in blocks:
        exec(lines, names)
    told = [line.removeprefix("# ") for lines in blocks for line in lines.splitlines() if line.startswith("# ")]
    assert told == capsys.readouterr().out.splitlines()
    assert adjusted_rand_score(names["cultivar"], names["labels"]) > 0.85
    assert (tmp_path / "report.html").exists()


def test_the_sentence_of_the_page_is_that_of_its_line():
    X, _ = load_wine(return_X_y=True)
    code, said = re.search(r'`([^`]+)` says "([^"]+)"', IN_PYTHON).groups()
    choice = eval(code, {"ConsensusClustering": ConsensusClustering, "X": X})
    assert choice.sentence == " ".join(said.split())


def test_every_command_and_option_has_help():
    for name, command in main.commands.items():
        assert command.help, name
        for option in command.params:
            assert option.param_type_name == "argument" or option.help, f"{name} {option.name}"


@pytest.mark.parametrize("document", sorted(p.name for p in [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]))
def test_links_lead_somewhere(document):
    path = next(p for p in (ROOT / document, ROOT / "docs" / document) if p.exists())
    for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", path.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (path.parent / target).exists(), f"{document}: {target}"


def test_links_to_the_project_itself_lead_somewhere():
    """Where the text is read without the files beside it, links are whole; nothing is fetched to try them."""
    files = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), ROOT / "pyproject.toml", ROOT / "CITATION.cff"]
    text = "\n".join(path.read_text(encoding="utf-8") for path in files)
    source = re.findall(r"github(?:usercontent)?\.com/ensemblage/ensemblage/(?:(?:blob|tree)/)?main/([\w./-]+)", text)
    assert {"CHANGELOG.md", "CONTRIBUTING.md"} <= set(source)
    pages = re.findall(r"https://ensemblage\.github\.io/ensemblage/([\w/-]+)\.html", text)
    for name in [*source, *(f"docs/site/{page}.md" for page in pages if not page.startswith("api/"))]:
        assert (ROOT / name).exists(), name


def test_the_cheat_sheet_to_print_is_one_page_and_that_of_today():
    make_cheatsheet = script("make_cheatsheet")
    printed = make_cheatsheet.PDF.read_bytes()
    assert f"/Title ({make_cheatsheet.title()})".encode() in printed
    assert re.findall(rb"/Type /Pages\s/Count (\d+)", printed) == [b"1"]
