"""The leaderboard."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ensemblage.cli._answer import show_table
from ensemblage.cli._errors import Interrupted
from ensemblage.cli._progress import announce
from ensemblage_lab._worker import Limits
from ensemblage_lab.benchmark import Request, benchmark, status
from ensemblage_lab.benchmark._entries import POOLS
from ensemblage_lab.benchmark._run import GIVEN_UP, LARGE, SMALL

PLANS: dict[str, dict[str, Any]] = {
    "quick": {"seconds": 60.0, "largest": SMALL, "seeds": 1, "parts": False, "n_jobs": 2},
    "full": {
        "seconds": 60.0,
        "large": LARGE,
        "given_up": GIVEN_UP,
        "n_jobs": 2,
        "minutes": 120.0,
        "pools": ",".join(POOLS),
    },
    "": {"seconds": 600.0},
}
"""What is run if nothing else is said."""


def run_benchmark(output: Path, *, show_status: bool, quick: bool, full: bool, **settings: Any) -> None:
    """Do what ``ensemblage benchmark`` does."""
    if quick and full:
        raise ValueError("--quick and --full exclude each other. Got both. Choose one.")
    plan = PLANS["quick" if quick else "full" if full else ""]
    chosen = {**plan, **{name: value for name, value in settings.items() if value is not None}}
    chosen |= {name: _split(chosen[name]) for name in ("sets", "only", "pools") if name in chosen}
    request = Request(output, limits=Limits(seconds=chosen.pop("seconds")), **chosen)
    if show_status:
        show_table(["pool", "results", "of", "without a number"], status(request), right=(1, 2, 3))
        return
    try:
        page = benchmark(request, announce)
    except KeyboardInterrupt:
        raise Interrupted(f"Interrupted. {output} keeps every result so far: the same command goes on.") from None
    click.echo(page)


def _split(text: str | None) -> tuple[str, ...]:
    return tuple(part.strip() for part in (text or "").split(",") if part.strip())
