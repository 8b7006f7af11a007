"""Sessions beside `.ci/run`: `nox -l` lists them, `nox -s lowest` runs one.

`.ci/run` holds what every change must pass. These are run before what they guard is called done.
"""

import re
import tomllib
from pathlib import Path

import nox

nox.options.sessions = ["tests", "lint"]
nox.options.reuse_existing_virtualenvs = True

KERNEL_TESTS = [
    "tests/test_lanes.py",
    "tests/test_bitmaps.py",
    "tests/test_communities.py",
    "tests/test_community_consensus.py",
    "tests/test_contingency.py",
    "tests/test_metrics.py",
    "tests/test_kmeans.py",
    "tests/test_bisecting.py",
    "tests/test_sec.py",
    "tests/test_voting.py",
    "tests/test_majority.py",
    "tests/test_evidence.py",
    "tests/test_mixed.py",
    "tests/test_negmm.py",
    "tests/test_graph.py",
    "tests/test_discotec.py",
    "tests/test_ensemble.py",
    "tests/test_stability.py",
    "tests/test_stability_references.py",
    "tests/test_conformance.py",
]


@nox.session
def tests(session: nox.Session) -> None:
    """The core of the tests, in under three minutes; `nox -s tests -- -m ''` runs all of them."""
    session.install("-e", ".[test]")
    session.run("pytest", "-q", "-n", "auto", "-m", "not slow", *session.posargs)


@nox.session
def lint(session: nox.Session) -> None:
    """ruff and mypy."""
    session.install("-e", ".[lint]")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("mypy")


@nox.session(python="3.11")
def lowest(session: nox.Session) -> None:
    """All tests with the lowest version that pyproject.toml allows of everything."""
    pins = Path(session.create_tmp()) / "lowest.txt"
    pins.write_text("\n".join(lowest_versions()) + "\n", encoding="utf-8")
    session.install("-e", ".[test]", "-c", str(pins))
    # Old versions warn of each other.
    session.run("pytest", "-q", "-n", "auto", "-W", "ignore::DeprecationWarning", *session.posargs)


@nox.session
def bounds(session: nox.Session) -> None:
    """The tests of the kernels with a check of every index."""
    session.install("-e", ".[test]")
    # A cache of its own: compiled code does not say whether it checks.
    env = {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(Path(session.create_tmp()) / "numba")}
    session.run("pytest", "-q", "-n", "auto", *KERNEL_TESTS, *session.posargs, env=env)


@nox.session
def plain_kernels(session: nox.Session) -> None:
    """The tests of all kernels with loops for vector instructions."""
    session.install("-e", ".[test]")
    env = {"ENSEMBLAGE_PLAIN_KERNELS": "1", "NUMBA_CACHE_DIR": str(Path(session.create_tmp()) / "numba")}
    session.run("pytest", "-q", "-n", "auto", *KERNEL_TESTS, "tests/test_golden.py", *session.posargs, env=env)


@nox.session
def conformance(session: nox.Session) -> None:
    """The conformance table: every method, ranker and generator by every check; a word is a row."""
    session.install("-e", ".[test]")
    session.run("python", "tests/conformance.py", *session.posargs)


@nox.session
def mutants(session: nox.Session) -> None:
    """Small errors, each against the tests that execute it: `nox -s mutants -- counting --sample 25 --minutes 20`."""
    session.install("-e", ".[test]", "coverage")
    session.run("python", "tests/guards/mutants.py", *session.posargs)
    session.run("python", "docs/make_reliability.py")


@nox.session
def planted(session: nox.Session) -> None:
    """The bugs that tests once let pass, each planted again; words choose some by their names."""
    session.install("-e", ".[test]")
    session.run("python", "tests/guards/planted.py", *session.posargs)
    session.run("python", "docs/make_reliability.py")


@nox.session
def fuzz(session: nox.Session) -> None:
    """Random calls, arguments, files, kills and folders: `nox -s fuzz -- --minutes 10`."""
    session.install("-e", ".[test]")
    session.run("python", "tests/guards/fuzz.py", *session.posargs, success_codes=[0, 1])
    session.run("python", "docs/make_reliability.py")


def lowest_versions() -> list[str]:
    """``name==version`` for every ``name>=version`` of the dependencies and of the tests'."""
    project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [*project["dependencies"], *(r for some in project["optional-dependencies"].values() for r in some)]
    found = (re.match(r"([\w.-]+)(?:\[[\w,]+\])?>=([\w.]+)", requirement) for requirement in wanted)
    return sorted({f"{match[1]}=={match[2]}" for match in found if match})
