"""What the sessions found, kept in `lab/records/guards`: one file per kind of session, one entry per session."""

from __future__ import annotations

import json
import platform
import re
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "records" / "guards"
OTHERS = ("numpy", "scipy", "scikit-learn", "numba", "pyarrow", "distributed", "pymetis", "mtkahypar", "hypothesis")


def versions() -> dict[str, str]:
    """Of Python and of what the library stands on."""
    from ensemblage import __version__

    found = {"ensemblage": __version__, "python": platform.python_version(), "machine": platform.machine()}
    for name in OTHERS:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def without_folders(text: str) -> str:
    """Absolute paths cut to the names of their files: a record says nothing of the machine that made it."""
    return re.sub(r"(?:\b[A-Za-z]:\\|/)(?:[\w.@+~-]+[/\\])+(?=[\w.@+-])", "…/", text)


def sessions(kind: str) -> list[dict[str, Any]]:
    """The sessions of that kind so far."""
    path = FOLDER / f"{kind}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else []


def add_session(kind: str, figures: dict[str, Any]) -> None:
    """Write down a session; ``figures`` has its seed, counts by outcome, failures and seconds."""
    FOLDER.mkdir(exist_ok=True)
    failures = [{**failure, "told": without_folders(failure["told"])} for failure in figures["failures"]]
    every = [*sessions(kind), {**figures, "failures": failures, "versions": versions()}]
    text = json.dumps(every, indent=1, ensure_ascii=False) + "\n"
    (FOLDER / f"{kind}.json").write_text(text, encoding="utf-8")
