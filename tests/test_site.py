"""The site's sources, held to the code. The site itself is built by `nox -s docs`, where a warning is an error."""

import importlib
import importlib.util
import inspect
import pkgutil
import re
import sys
import tomllib
from pathlib import Path

import pytest
from PIL import Image

import ensemblage
from ensemblage import METHODS, plotting
from ensemblage.cli import main
from ensemblage.cli._commands import LAB_COMMANDS

ROOT = Path(__file__).parents[1]
SITE = ROOT / "docs" / "site"
MARK = "\n<!-- methods of this page -->\n"
PAGES = sorted(path for path in SITE.rglob("*.md") if "api" not in path.relative_to(SITE).parts)


def extension(name):
    """One of those that fill the site, as a module."""
    sys.path.insert(0, str(SITE / "_ext"))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(SITE / "_ext"))


def script(name):
    """One of those that write documents, as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def api():
    return extension("api")


def test_every_public_package_has_its_page(api):
    public = {f"ensemblage.{name}" for name in ensemblage._PACKAGES}
    for module in pkgutil.iter_modules(ensemblage.__path__, "ensemblage."):
        if module.ispkg and getattr(importlib.import_module(module.name), "__all__", None):
            public.add(module.name)
    public.discard("ensemblage.cli")  # howto/commands.md
    assert public <= set(api.PACKAGES)


def test_every_public_name_is_in_the_reference(api, tmp_path):
    api.write_pages(tmp_path / "api")
    for package in api.PACKAGES:
        text = (tmp_path / "api" / f"{package}.rst").read_text(encoding="utf-8")
        for name in getattr(importlib.import_module(package), "__all__", ()):
            if not name.startswith("__") and not inspect.ismodule(getattr(importlib.import_module(package), name)):
                assert api.home(package, name) in text, f"{package}.{name}"


def test_every_figure_is_in_the_gallery():
    text = "".join(path.read_text(encoding="utf-8") for path in (SITE / "gallery").glob("*.md"))
    drawing = [name for name in plotting.__all__ if inspect.isfunction(getattr(plotting, name))]
    missing = [name for name in drawing if f"plotting.{name}(" not in text]
    assert not missing


def test_every_card_of_the_gallery_has_a_picture_of_its_code_of_today():
    gallery, digest = extension("gallery"), script("make_thumbnails").digest
    names = []
    for page in gallery.PAGES:
        path = SITE / "gallery" / f"{page}.md"
        for card in gallery.cards(path.read_text(encoding="utf-8")):
            names.append(card.name)
            picture = Image.open(SITE / "_static" / "gallery" / f"{card.name}.png")
            assert picture.text["Description"] == digest(path), "python docs/make_thumbnails.py"
    assert len(names) == len(set(names)) >= 30
    assert {f"{name}.png" for name in names} == {path.name for path in (SITE / "_static" / "gallery").iterdir()}


def test_every_method_is_on_a_page_of_theory():
    pages = {path.stem for path in (SITE / "theory").glob("*.md") if MARK in path.read_text(encoding="utf-8")}
    unknown = {name: method.theory for name, method in METHODS.items() if method.theory not in pages}
    assert not unknown, f"`theory` of these records must be one of {sorted(pages)}"
    table = extension("records").theory_table
    assert all(f"`{name}`" in table(f"theory/{method.theory}") for name, method in METHODS.items())


@pytest.mark.parametrize("name", ["methods_table", "capabilities_table", "papers_table"])
def test_the_tables_of_methods_have_every_method_and_alias(name):
    table = getattr(extension("records"), name)()
    assert not [method for method in (*METHODS, *METHODS.aliases) if f"`{method}`" not in table]


def test_every_page_is_in_a_table_of_contents():
    listed = {"index"}
    for path in PAGES:
        for block in re.findall(r"```{toctree}\n(.*?)```", path.read_text(encoding="utf-8"), flags=re.DOTALL):
            for line in block.splitlines():
                entry = re.sub(r".*<(.*)>", r"\1", line.strip())
                if entry and not entry.startswith(":"):
                    listed.add((path.parent / entry).resolve().relative_to(SITE).as_posix())
    assert {path.relative_to(SITE).with_suffix("").as_posix() for path in PAGES} <= listed


def test_links_of_pages_lead_somewhere():
    for path in PAGES:
        for target in re.findall(r"\]\(([^)#\s]+?)(?:#[^)]*)?\)", path.read_text(encoding="utf-8")):
            if "://" not in target and not target.startswith("mailto:") and not (path.parent / target).exists():
                # Pages of the reference are written when the site is built.
                assert (path.parent / target).resolve().is_relative_to(SITE / "api"), f"{path}: {target}"


def test_commands_of_pages_exist():
    """Those of the laboratory have a test of it."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in PAGES)
    for block in re.findall(r"```sh\n(.*?)```", text, flags=re.DOTALL):
        for line in block.replace("\\\n", " ").splitlines():
            words = re.search(r"(?:^|/)ensemblage ([a-z]+)(.*)", line.split(" #")[0])
            if not words or words[1] in LAB_COMMANDS:
                continue
            options = {
                name for option in main.commands[words[1]].params for name in (*option.opts, *option.secondary_opts)
            }
            for given in re.findall(r"(?<=\s)--?[a-zA-Z][\w-]*", words[2]):
                assert given in options or given == "--help", f"{line}: {given}"


def test_code_of_pages_is_no_wider_than_its_box():
    text = "\n".join(path.read_text(encoding="utf-8") for path in PAGES)
    blocks = re.findall(r"^```(?:\{code-cell\} )?python\n(.*?)^```", text, flags=re.M | re.S)
    assert [line for block in blocks for line in block.splitlines() if len(line) > 94] == []


def test_extras_and_dependency_groups_are_the_same():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = project["project"]["optional-dependencies"]
    for name, group in project["dependency-groups"].items():
        if name != "dev":
            assert group == extras[name]


def test_the_citation_names_the_version():
    assert f"\nversion: {ensemblage.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def test_workflows_call_sessions_that_exist():
    sessions = set(
        re.findall(r"^def (\w+)\(session", (ROOT / "noxfile.py").read_text(encoding="utf-8"), flags=re.MULTILINE)
    )
    for path in (ROOT / ".github" / "workflows").glob("*.yml"):
        for words in re.findall(r"run: nox -s ([\w ]+)", path.read_text(encoding="utf-8")):
            assert set(words.split()) <= sessions, path.name
