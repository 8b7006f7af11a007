"""The leaderboard."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ensemblage.benchmark import Request, benchmark, status
from ensemblage.benchmark._run import SMALL
from ensemblage.benchmark._worker import Limits
from ensemblage.cli._errors import Interrupted
from ensemblage.cli._show import show_table
from ensemblage.cli._tell import tell


def run_benchmark(output: Path, *, show_status: bool, quick: bool, seconds: float, **settings: Any) -> None:
    """Do what ``ensemblage benchmark`` does."""
    request = Request(
        output,
        pools=_split(settings["pools"]),
        sets=_split(settings["sets"]),
        only=_split(settings["only"]),
        limits=Limits(seconds=60.0 if quick else seconds),
        largest=SMALL if quick else settings["largest"],
        seeds=1 if quick else settings["seeds"],
        methods=settings["methods"],
        consensus=settings["consensus"],
        suite=settings["suite"],
        data=settings["data"],
        retry=settings["retry"],
    )
    if show_status:
        show_table(["pool", "results", "of", "without a number"], status(request), right=(1, 2, 3))
        return
    try:
        page = benchmark(request, tell)
    except KeyboardInterrupt:
        raise Interrupted(f"Interrupted. {output} keeps every result so far: the same command goes on.") from None
    click.echo(page)


def _split(text: str | None) -> tuple[str, ...]:
    return tuple(part.strip() for part in (text or "").split(",") if part.strip())
