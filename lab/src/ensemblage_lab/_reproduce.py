"""The papers, table by table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ensemblage.cli._answer import show_table
from ensemblage.cli._errors import Interrupted
from ensemblage.cli._progress import announce
from ensemblage_lab.reproduce import PAPERS, Request, reproduce, status


def reproduce_papers(paper: str, output: Path, *, show_status: bool, **settings: Any) -> None:
    """Do what ``ensemblage reproduce`` does."""
    request = Request(_papers(paper, settings), output, **settings)
    if show_status:
        rows = status(request)
        show_table(["experiment", "results", "of", "failed"], rows, right=(1, 2, 3))
        return
    try:
        page = reproduce(request, announce)
    except KeyboardInterrupt:
        raise Interrupted(f"Interrupted. {output} keeps every result so far: the same command goes on.") from None
    click.echo(page)


def _papers(paper: str, settings: dict[str, Any]) -> tuple[str, ...]:
    if paper != "all" and paper not in PAPERS:
        raise ValueError(f"PAPER must be one of {', '.join(PAPERS)}, all. Got {paper}. Choose one of them.")
    if paper == "all" and (settings["table"] or settings["figure"]):
        raise ValueError("--table and --figure must go with one paper. Got all. Name one paper.")
    return PAPERS if paper == "all" else (paper,)
