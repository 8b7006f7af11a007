"""The steps of a release: version and date in all places, the local index, the recipe, the container file."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
import urllib.request
import zipfile
from pathlib import Path

import pytest
from places import ROOT

sys.path.insert(0, str(Path(__file__).parent / "guards"))

import release

import ensemblage

README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.fixture
def checkout(tmp_path):
    """The files that have a version, to change them."""
    for name in (*release.PLACES, "CHANGELOG.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def texts(root):
    return {name: (root / name).read_text(encoding="utf-8") for name in (*release.PLACES, "CHANGELOG.md")}


def test_every_file_has_the_version():
    assert release.disagreements(ROOT) == []
    assert release.version_in(ROOT) == ensemblage.__version__


def test_a_version_reaches_every_file(checkout):
    release.set_version(checkout, "7.8.9rc1")
    assert release.disagreements(checkout) == []
    assert [release.version_in(checkout, name) for name in release.PLACES] == ["7.8.9rc1"] * len(release.PLACES)
    before, after = texts(ROOT), texts(checkout)
    for name in before:
        changed = [
            pair for pair in zip(before[name].splitlines(), after[name].splitlines(), strict=True) if len({*pair}) > 1
        ]
        assert len(changed) == 1, name


@pytest.mark.parametrize("name", [*release.PLACES, "CHANGELOG.md"])
def test_a_file_with_another_version_is_named(checkout, name):
    path = checkout / name
    version = release.version_in(checkout)
    path.write_text(path.read_text(encoding="utf-8").replace(version, "7.8.9"), encoding="utf-8")
    assert any(name in sentence or name.endswith("_version.py") for sentence in release.disagreements(checkout))


def test_a_release_has_one_date_everywhere(checkout):
    release.set_version(checkout, "7.8.9")
    assert "has no date for 7.8.9" in " ".join(release.disagreements(checkout, dated=True))
    release.cut(checkout, "2031-02-03")
    assert release.disagreements(checkout, dated=True) == []
    assert "## 7.8.9 (2031-02-03)\n" in texts(checkout)["CHANGELOG.md"]
    assert "version: 7.8.9\ndate-released: 2031-02-03\n" in texts(checkout)["CITATION.cff"]
    with pytest.raises(ValueError, match=r"must be unreleased\. Got 7\.8\.9 of 2031-02-03"):
        release.cut(checkout, "2031-02-04")


def test_after_a_release_a_section_begins(checkout):
    release.cut(checkout, "2031-02-03")
    old = release.version_in(checkout)
    release.set_version(checkout, "7.8.9")
    assert release.disagreements(checkout) == []
    assert re.findall(release.SECTION, texts(checkout)["CHANGELOG.md"], flags=re.MULTILINE)[:2] == [
        ("7.8.9", "unreleased"),
        (old, "2031-02-03"),
    ]
    assert "date-released" not in texts(checkout)["CITATION.cff"]


@pytest.mark.parametrize(
    "step", [lambda root: release.cut(root, "yesterday"), lambda root: release.set_version(root, "1")]
)
def test_a_wrong_step_changes_nothing(checkout, step):
    before = texts(checkout)
    with pytest.raises(ValueError, match=r"yesterday|A version must be like 1\.0\.0"):
        step(checkout)
    assert texts(checkout) == before


def test_the_local_index_gives_the_files_with_their_hashes(tmp_path):
    made = tmp_path / "ensemblage-1.0.0.tar.gz"
    made.write_bytes(b"archive")
    release.write_index([made], tmp_path / "index")
    with release.served(tmp_path / "index") as url:
        page = urllib.request.urlopen(f"{url}ensemblage/").read().decode()
        name, digest = re.search(r'href="([^"#]+)#sha256=(\w+)"', page).groups()
        assert urllib.request.urlopen(f"{url}ensemblage/{name}").read() == b"archive"
    assert digest == release.sha256(made)


def test_another_file_than_that_of_the_wheel_is_seen(tmp_path):
    wheel = tmp_path / "some.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("ensemblage/_version.py", Path(ensemblage.__file__).with_name("_version.py").read_bytes())
    env = {"PYTHONPATH": str(Path(ensemblage.__file__).parents[1])}
    python = tmp_path / "python"
    # -I hides PYTHONPATH, by which these tests may have found the package.
    place = env["PYTHONPATH"]
    python.write_text(
        f'#!/bin/sh\nshift 2\nexec env PYTHONPATH="{place}" "{sys.executable}" -c "$@"\n', encoding="utf-8"
    )
    if os.name != "posix":
        pytest.skip("a shell script stands for the interpreter")
    python.chmod(0o755)
    release.check_is_the_wheel(wheel, python)
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("ensemblage/_version.py", "another")
    with pytest.raises(ValueError, match=r"must be the wheel\. Got another ensemblage/_version\.py"):
        release.check_is_the_wheel(wheel, python)


def test_what_is_missing_is_named(monkeypatch):
    def fails(*_):
        raise subprocess.CalledProcessError(1, ["pip"], "Looking\nERROR: No matching distribution for pymetis\n")

    monkeypatch.setattr(release, "try_python", fails)
    assert release.result_on("3.14", None) == "not tested: no interpreter on the PATH"
    said = release.result_on("3.14t", ("python3.14t", "3.14.0"))
    assert said == "failed: ERROR: No matching distribution for pymetis"
    with pytest.raises(subprocess.CalledProcessError):
        release.result_on("3.13", ("python3.13", "3.13.0"))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('pip install --quiet -e ".[test]" && x', 'pip install --quiet "ensemblage[test]==1.0.0" && x'),
        ("pip install -e .", 'pip install "ensemblage==1.0.0"'),
        ("pip install ensemblage", 'pip install "ensemblage==1.0.0"'),
        ('pip install -q "ensemblage[graphs]"', 'pip install -q "ensemblage[graphs]==1.0.0"'),
    ],
)
def test_the_line_that_installs_takes_the_release(line, expected):
    readme = f"```sh\npip install nox\n```\n\n```sh\n{line}\nensemblage run x\n```\n"
    assert release.readme_commands(readme, "1.0.0") == f"{expected}\nensemblage run x\n"


def test_the_readme_has_such_a_line():
    commands = release.readme_commands(README, "1.0.0")
    assert "==1.0.0" in commands
    assert "pytest" not in commands
    with pytest.raises(ValueError, match="must have a block of sh"):
        release.readme_commands("# ensemblage", "1.0.0")


def test_commands_of_the_guide_exist():
    guide = (ROOT / "docs" / "RELEASING.md").read_text(encoding="utf-8")
    assert set(re.findall(r"release\.py (\w+)", guide)) == {"version", "check", "cut"}


# ---- conda-forge ----


def pinned(requirement):
    """numpy>=1.26 as ("numpy", "1.26"); the marker is left out."""
    name, version = re.match(r"([\w.-]+)(?:\[[\w,]+\])? ?>=([\w.]+)", requirement).groups()
    return name, version


def section_of(name, after):
    """The requirements of a part of the recipe."""
    recipe = (ROOT / "recipe" / "recipe.yaml").read_text(encoding="utf-8")
    part = recipe[recipe.index(after) :]
    lines = re.match(rf"\s*{name}:\n((?: {{4,}}.*\n)*)", part[part.index(f"  {name}:") :])[1]
    return dict(pinned(line) for line in re.findall(r"- ([\w.-]+ >=[\d.]+)$", lines, flags=re.MULTILINE))


def test_the_recipe_requires_what_the_project_requires():
    given = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wanted = dict(map(pinned, given["project"]["dependencies"]))
    wanted["matplotlib-base"] = wanted.pop("matplotlib")  # conda-forge's name of it without a window system
    assert section_of("run", "requirements:") == wanted
    assert section_of("host", "requirements:") == dict(map(pinned, given["build-system"]["requires"]))
    recipe = (ROOT / "recipe" / "recipe.yaml").read_text(encoding="utf-8")
    assert re.search(r'python_min: "(.+)"', recipe)[1] == given["project"]["requires-python"].removeprefix(">=")
    assert f"- ensemblage = {given['project']['scripts']['ensemblage']}\n" in recipe
    assert f'summary: "{given["project"]["description"]}"\n' in recipe
    assert f"homepage: {given['project']['urls']['Homepage']}\n" in recipe


def test_the_recipe_takes_the_hash_of_the_archive(tmp_path):
    archive = tmp_path / "ensemblage-1.0.0.tar.gz"
    archive.write_bytes(b"archive")
    recipe = (ROOT / "recipe" / "recipe.yaml").read_text(encoding="utf-8")
    assert f"  sha256: {release.sha256(archive)}\n" in release.with_hash(recipe, archive)
    with pytest.raises(ValueError, match="one sha256 of 64 zeros"):
        release.with_hash("package:", archive)


# ---- the container ----


def test_the_container_installs_as_the_readme_says():
    file = (ROOT / "Containerfile").read_text(encoding="utf-8")
    line = re.search(r"^RUN (python3 -m venv .*)$", file, flags=re.MULTILINE)[1]
    told = release.readme_commands(README, "0").splitlines()[0]
    # The README's clone stays where it is: -e; the container's copy does not.
    assert (
        told.split(" && .venv/bin/ensemblage")[0].replace('"ensemblage[test]==0"', ".").replace('"ensemblage==0"', ".")
        == line
    )


def test_the_container_has_what_the_build_reads():
    file = (ROOT / "Containerfile").read_text(encoding="utf-8")
    copied = {name for line in re.findall(r"^COPY (.+) \S+$", file, flags=re.MULTILINE) for name in line.split()}
    given = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    read = {"pyproject.toml", "src", *given["project"]["license-files"]}
    read |= {part["path"] for part in given["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]["fragments"]}
    assert copied == read
    assert all((ROOT / name).exists() for name in copied)
    assert 'ENTRYPOINT ["/opt/ensemblage/.venv/bin/ensemblage"]' in file
