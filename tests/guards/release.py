"""Steps of a release; docs/RELEASING.md gives their order. None of them publishes anything.

python tests/guards/release.py check              compares every file that has the version with _version.py
python tests/guards/release.py check --dated      the same; an unreleased section of CHANGELOG.md is an error
python tests/guards/release.py version 1.0.0      writes a version into these files
python tests/guards/release.py cut [2027-01-31]   writes the date of the release into CHANGELOG.md and CITATION.cff
python tests/guards/release.py rehearse [...]     builds twice, serves a local index, installs, tests (`nox -s release`)

`rehearse` needs `build`, `twine`, `check-wheel-contents` and `cyclonedx-bom`. It takes the commit, not the files of the
checkout. Words after `rehearse` go to pytest; default: the core of the tests on every Python.
"""

from __future__ import annotations

import argparse
import datetime
import hashlib
import html
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PYTHONS = ("3.11", "3.12", "3.13", "3.14", "3.14t")
TOOLS = ("build", "twine", "check-wheel-contents", "cyclonedx-bom")
PLACES = {
    "src/ensemblage/_version.py": r'^(__version__ = ")([^"]+)(")$',
    "CITATION.cff": r"^(version: )(\S+)()$",
    "recipe/recipe.yaml": r'^(  version: ")([^"]+)(")$',
}
"""Files that have the version, and where: the first of them is the source of the others."""
SECTION = r"^## (\S+) \((unreleased|\d{4}-\d{2}-\d{2})\)$"
RELEASED = r"^date-released: (\S+)$"


# -- the version and its date ------------------------------------------------------------------------------------------


def text_of(root: Path, name: str) -> str:
    return (root / name).read_text(encoding="utf-8")


def write(root: Path, name: str, text: str) -> None:
    (root / name).write_text(text, encoding="utf-8", newline="\n")


def match_of(root: Path, name: str, pattern: str) -> re.Match[str]:
    """The one match of a pattern in a file."""
    found = list(re.finditer(pattern, text_of(root, name), flags=re.MULTILINE))
    if len(found) != 1:
        raise ValueError(f"{name} must have one line like {pattern}. Got {len(found)}. Mend the file.")
    return found[0]


def version_in(root: Path, name: str = "src/ensemblage/_version.py") -> str:
    return match_of(root, name, PLACES[name])[2]


def newest_section(root: Path) -> re.Match[str]:
    """The first section of the CHANGELOG: its version, and its date or "unreleased"."""
    found = re.search(SECTION, text_of(root, "CHANGELOG.md"), flags=re.MULTILINE)
    if found is None:
        raise ValueError("CHANGELOG.md must have a section such as '## 1.0.0 (unreleased)'. Got none. Write one.")
    return found


def disagreements(root: Path, dated: bool = False) -> list[str]:
    """A sentence for each file that does not say what _version.py says; with `dated`, for a release without a date."""
    version = version_in(root)
    wrong = [
        f"{name} has version {other}, not {version}." for name in PLACES if (other := version_in(root, name)) != version
    ]
    named, date = newest_section(root).groups()
    if named != version:
        wrong.append(f"The newest section of CHANGELOG.md is {named}, not {version}.")
    released = re.search(RELEASED, text_of(root, "CITATION.cff"), flags=re.MULTILINE)
    if (released[1] if released else "unreleased") != date:
        wrong.append(f"CITATION.cff has date-released {released[1] if released else 'nowhere'}, CHANGELOG.md {date}.")
    if dated and date == "unreleased":
        wrong.append(f"CHANGELOG.md has no date for {version}: `python tests/guards/release.py cut` writes it.")
    return wrong


def set_version(root: Path, version: str) -> None:
    """Write a version everywhere. An unreleased section of the CHANGELOG gets it as its name; else a section begins."""
    if not re.fullmatch(r"\d+\.\d+\.\d+((a|b|rc)\d+)?", version):
        raise ValueError(f"A version must be like 1.0.0 or 1.0.0rc1. Got '{version}'.")
    head = newest_section(root)
    for name, pattern in PLACES.items():
        match_of(root, name, pattern)
    for name, pattern in PLACES.items():
        write(root, name, re.sub(pattern, rf"\g<1>{version}\g<3>", text_of(root, name), flags=re.MULTILINE))
    log = text_of(root, "CHANGELOG.md")
    rest = log[head.end() :] if head[2] == "unreleased" else f"\n\n{log[head.start() :]}"
    write(root, "CHANGELOG.md", f"{log[: head.start()]}## {version} (unreleased){rest}")
    citation = re.sub(RELEASED + r"\n", "", text_of(root, "CITATION.cff"), flags=re.MULTILINE)
    write(root, "CITATION.cff", citation)


def cut(root: Path, date: str) -> None:
    """Write the day of the release into the CHANGELOG and the citation."""
    datetime.date.fromisoformat(date)
    wrong = disagreements(root)
    if wrong:
        raise ValueError(" ".join(wrong))
    head = newest_section(root)
    if head[2] != "unreleased":
        raise ValueError(f"The newest section of CHANGELOG.md must be unreleased. Got {head[1]} of {head[2]}.")
    log = text_of(root, "CHANGELOG.md")
    write(root, "CHANGELOG.md", f"{log[: head.start()]}## {head[1]} ({date}){log[head.end() :]}")
    pattern = PLACES["CITATION.cff"]
    citation = re.sub(pattern, rf"\g<0>\ndate-released: {date}", text_of(root, "CITATION.cff"), flags=re.MULTILINE)
    write(root, "CITATION.cff", citation)


# -- a local index -----------------------------------------------------------------------------------------------------


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def with_hash(recipe: str, archive: Path) -> str:
    """The recipe of conda-forge with the hash of the source archive, which has the recipe in it."""
    filled, n_lines = re.subn(r"^(  sha256: )0{64}$", rf"\g<1>{sha256(archive)}", recipe, flags=re.MULTILINE)
    if n_lines != 1:
        raise ValueError(f"recipe/recipe.yaml must have one sha256 of 64 zeros. Got {n_lines}.")
    return filled


def write_index(files: list[Path], folder: Path) -> None:
    """A package index (PEP 503) of one project: ``simple/ensemblage/``, with the hash of every file."""
    page = folder / "simple" / "ensemblage"
    page.mkdir(parents=True)
    for path in files:
        shutil.copy(path, page / path.name)
    links = [
        f'<a href="{html.escape(p.name)}#sha256={sha256(p)}" data-requires-python="&gt;=3.11">{p.name}</a>'
        for p in files
    ]
    write(page, "index.html", "<!DOCTYPE html>\n<title>ensemblage</title>\n" + "<br>\n".join(links) + "\n")
    write(page.parent, "index.html", '<!DOCTYPE html>\n<title>index</title>\n<a href="ensemblage/">ensemblage</a>\n')


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of the index of a folder, on this machine alone, until the block ends."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/simple/"
        finally:
            server.shutdown()


# -- what the README tells a newcomer to type --------------------------------------------------------------------------


def readme_commands(readme: str, version: str) -> str:
    """The README's shell that installs and runs the command, with the release in the place of the clone."""
    blocks = re.findall(r"^```sh\n(.*?)^```$", readme, flags=re.DOTALL | re.MULTILINE)
    chosen = [block for block in blocks if "pip install" in block and "ensemblage run" in block]
    if not chosen:
        raise ValueError("README.md must have a block of sh that installs ensemblage and calls `ensemblage run`.")
    requirement = r'(pip install[^&|;\n]*?) (?:-e "?\.(\[[\w,]+\])?"?|"?ensemblage(\[[\w,]+\])?"?)(?=\s|$)'

    def released(match: re.Match[str]) -> str:
        return f'{match[1]} "ensemblage{match[2] or match[3] or ""}=={version}"'

    replaced, n_lines = re.subn(requirement, released, chosen[0], flags=re.MULTILINE)
    if n_lines != 1:
        raise ValueError(f"The README's block must install ensemblage once. Got {n_lines} times.")
    return replaced


# -- the rehearsal -----------------------------------------------------------------------------------------------------


def run(*words: str | Path, cwd: Path = ROOT, env: dict[str, str] | None = None) -> str:
    """Run a command, show it and its output, and return the output."""
    print("$", *words, flush=True)
    lines = []
    with subprocess.Popen(
        [str(word) for word in words],
        cwd=cwd,
        env=os.environ | (env or {}),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    ) as process:
        for line in process.stdout or ():
            print(line, end="", flush=True)
            lines.append(line)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, [str(word) for word in words], "".join(lines))
    return "".join(lines)


def interpreters() -> dict[str, tuple[str, str] | None]:
    """By Python of `PYTHONS`, the path and the version of an interpreter on the PATH; None where there is none."""
    found: dict[str, tuple[str, str] | None] = {}
    for name in PYTHONS:
        # A shim of pyenv exists for versions that are not chosen, too, and fails.
        path = shutil.which(f"python{name}")
        said = subprocess.run([path, "-V"], capture_output=True, text=True, check=False) if path else None
        works = said is not None and said.returncode == 0
        found[name] = (str(path), said.stdout.split()[1]) if works and said else None
    return found


def build_twice(commit: str, work: Path) -> list[Path]:
    """Source archive and wheel of a commit, from two copies of it in two folders; they must be the same bytes."""
    if changed := subprocess.check_output(["git", "status", "--porcelain"], cwd=ROOT, text=True):
        raise ValueError(f"The commit is what is built: the checkout must have no changes. Got\n{changed}Commit them.")
    epoch = subprocess.check_output(["git", "log", "-1", "--format=%ct", commit], cwd=ROOT, text=True).strip()
    made = []
    for name in ("first", "a-second"):
        source = work / name / "source"
        source.mkdir(parents=True)
        archive = work / name / "commit.tar"
        run("git", "archive", f"--output={archive}", commit)
        with tarfile.open(archive) as tar:
            tar.extractall(source, filter="data")
        out = work / name / "dist"
        run(sys.executable, "-m", "build", "--outdir", out, source, env={"SOURCE_DATE_EPOCH": epoch})
        made.append({path.name: path for path in sorted(out.iterdir())})
    first, second = ({name: sha256(path) for name, path in files.items()} for files in made)
    if first != second:
        raise ValueError(f"Two builds of one commit must be the same bytes. Got {first} and {second}.")
    return list(made[0].values())


def check_is_the_wheel(wheel: Path, python: Path) -> None:
    """Raise if what is installed is not, byte by byte, what the wheel has: another index could have served it."""
    where = "import ensemblage, pathlib; print(pathlib.Path(ensemblage.__file__).parents[1])"
    place = Path(subprocess.check_output([python, "-I", "-c", where], text=True).strip())
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if name.startswith("ensemblage/") and (place / name).read_bytes() != archive.read(name):
                raise ValueError(f"What is installed must be the wheel. Got another {name}.")


def try_python(path: str, files: list[Path], version: str, url: str, work: Path, tests: list[str]) -> dict[str, Any]:
    """Install from the index by the README's line and do what it says; then the tests, from the source archive."""
    archive, wheel = (next(p for p in files if p.name.endswith(suffix)) for suffix in (".tar.gz", ".whl"))
    with tarfile.open(archive) as tar:
        tar.extractall(work, filter="data")
    folder = work / archive.name.removesuffix(".tar.gz")
    others = os.environ.get("PIP_EXTRA_INDEX_URL", "")
    env = {
        "PIP_EXTRA_INDEX_URL": f"{url} {others}".strip(),
        "PYTHONPATH": "",
        "NUMBA_CACHE_DIR": str(work / "numba"),
        "MPLCONFIGDIR": str(work / "matplotlib"),
    }
    names = work / "names"
    names.mkdir()
    (names / "python3").symlink_to(path)
    env["PATH"] = f"{names}{os.pathsep}{os.environ['PATH']}"
    commands = readme_commands((folder / "README.md").read_text(encoding="utf-8"), version)
    run("bash", "-euxo", "pipefail", "-c", commands, cwd=folder, env=env)
    python = folder / ".venv" / "bin" / "python"
    check_is_the_wheel(wheel, python)
    told = run(python, "-m", "pip", "list", "--format=json", "--disable-pip-version-check", cwd=folder, env=env)
    installed = {row["name"]: row["version"] for row in json.loads(told[told.index("[") : told.rindex("]") + 1])}
    bill = work / "sbom.cdx.json"
    options = ["--output-reproducible", "--output-format", "JSON", "--output-file", bill]
    run(sys.executable, "-m", "cyclonedx_py", "environment", *options, python)
    run(python, "-m", "pip", "install", "--quiet", f"ensemblage[test]=={version}", "-e", "lab", cwd=folder, env=env)
    run(python, "tests/guards/installed.py", cwd=folder, env=env)
    given = ["-n", "auto", "-m", "not slow", *tests]
    said = run(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *given, cwd=folder, env=env)
    return {"installed": installed, "tests": said.strip().splitlines()[-1], "of": tests or ["the core"]}


def result_on(python: str, found: tuple[str, str] | None, *given: Any) -> dict[str, Any] | str:
    """What `try_python` says; a sentence where there is no interpreter, or where a free-threaded one fails."""
    if found is None:
        return "not tested: no interpreter on the PATH"
    try:
        return {"python": found[1]} | try_python(found[0], *given)
    except subprocess.CalledProcessError as error:
        # Not every dependency has wheels for free-threaded Python; those of the others are promised.
        if not python.endswith("t"):
            raise
        last = [line for line in (error.output or "").splitlines() if line.strip()][-1:]
        return f"failed: {' '.join(last) or error}"


def rehearse(tests: list[str]) -> None:
    """Everything before the upload. dist/ gets the two files; build/release/ their hashes, the bills of materials, the
    recipe with the hash and the log."""
    wrong = disagreements(ROOT)
    if wrong:
        raise ValueError(" ".join(wrong))
    version = version_in(ROOT)
    told = ROOT / "build" / "release"
    shutil.rmtree(told, ignore_errors=True)
    told.mkdir(parents=True)
    log: dict[str, Any] = {"version": version, "tools": {name: version_of(name) for name in TOOLS}, "pythons": {}}
    log["commit"] = subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=ROOT, text=True).strip()
    with tempfile.TemporaryDirectory(prefix="ensemblage-release-") as name:
        work = Path(name)
        dist = ROOT / "dist"
        dist.mkdir(exist_ok=True)
        for old in dist.glob("ensemblage-*"):
            old.unlink()
        files = [Path(shutil.copy(path, dist)) for path in build_twice(log["commit"], work)]
        run("twine", "check", "--strict", *files)
        run("check-wheel-contents", *(path for path in files if path.suffix == ".whl"))
        log["sha256"] = {path.name: sha256(path) for path in files}
        write(told, "SHA256SUMS", "".join(f"{sha256(path)}  {path.name}\n" for path in files))
        archive = next(path for path in files if path.name.endswith(".tar.gz"))
        write(told, "recipe.yaml", with_hash(text_of(ROOT, "recipe/recipe.yaml"), archive))
        write_index(files, work / "index")
        with served(work / "index") as url:
            for python, found in interpreters().items():
                place = work / python
                place.mkdir()
                log["pythons"][python] = result_on(python, found, files, version, url, place, tests)
                if (bill := place / "sbom.cdx.json").exists():
                    shutil.copy(bill, told / f"sbom-python{python}.cdx.json")
                shutil.rmtree(place)
                write(told, "log.json", json.dumps(log, indent=2) + "\n")
    for name, digest in log["sha256"].items():
        print(digest, name)
    for python, result in log["pythons"].items():
        print(f"Python {python}:", result if isinstance(result, str) else f"{result['python']}, {result['tests']}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    steps = parser.add_subparsers(dest="step", required=True)
    steps.add_parser("check").add_argument("--dated", action="store_true")
    steps.add_parser("version").add_argument("version")
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    steps.add_parser("cut").add_argument("date", nargs="?", default=today)
    steps.add_parser("rehearse")
    given, rest = parser.parse_known_args()
    if rest and given.step != "rehearse":
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    try:
        if given.step == "check" and (wrong := disagreements(ROOT, given.dated)):
            sys.exit("\n".join(wrong))
        if given.step == "version":
            set_version(ROOT, given.version)
        if given.step == "cut":
            cut(ROOT, given.date)
        if given.step == "rehearse":
            rehearse(rest)
    except ValueError as error:
        sys.exit(str(error))
    except subprocess.CalledProcessError as error:
        sys.exit(f"The release stops here: {' '.join(error.cmd)} ended with {error.returncode}.")


if __name__ == "__main__":
    main()
