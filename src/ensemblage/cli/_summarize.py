"""The command that summarises draws from a posterior."""

from __future__ import annotations

import webbrowser
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from ensemblage._version import __version__
from ensemblage.base.text import write_csv
from ensemblage.choices._draws_summary import DrawsSummary
from ensemblage.cli._answer import clusters_text, show_lines
from ensemblage.cli._folder import (
    BALL,
    ENSEMBLE,
    FILES,
    LABELS,
    MODEL,
    PROBABILITIES,
    REPORT,
    Folder,
    file_hash,
    output_folder,
)
from ensemblage.cli._labels import write_labels
from ensemblage.cli._options import shell_text
from ensemblage.cli._progress import announce, announce_notes, progress_bar
from ensemblage.cli._seconds import WRITE, Seconds
from ensemblage.consensus._saved import save_model
from ensemblage.metrics._posterior import PRICED
from ensemblage.posterior import read_draws, summarize_draws
from ensemblage.report._draws import (
    BOUNDS,
    agreement_sentence,
    ball_sentence,
    draws_page,
    draws_report,
    estimate_sentence,
    labels_of_draw,
)
from ensemblage.report._layout import plural

WRITTEN = (*FILES, PROBABILITIES, BALL)
READING = (
    "draws_axis",
    "burn_in",
    "thin",
    "variable",
    "chain_column",
    "id_column",
    "missing",
    "has_header",
    "delimiter",
)
SEARCH = ("n_clusters", "loss", "a", "level", "n_init", "n_pairs")


def summarize(
    draws: Sequence[Path],
    output: Path,
    overwrite: bool,
    no_objects: bool,
    open_page: bool,
    seed: int,
    n_jobs: int,
    memory: str | None,
    **settings: Any,
) -> None:
    """Do what ``ensemblage summarize`` does."""
    if settings["a"] != 1 and settings["loss"] not in PRICED:
        got = f"Got {settings['a']:g} with --loss {settings['loss']}"
        raise ValueError(f"--a must go with --loss gvi or binder. {got}. Leave it out.")
    identity = {
        "command": "summarize",
        "ensemblage": __version__,
        "input": [file_hash(path) for path in draws],
        **settings,
        "seed": seed,
        "no_objects": no_objects,
    }
    search: dict[str, Any] = {name: settings[name] for name in SEARCH} | {"random_state": seed, "n_jobs": n_jobs}
    limit: dict[str, Any] = {} if memory is None else {"max_bytes": memory}
    search |= limit
    with output_folder(output, identity, overwrite) as folder:
        if folder.has(*(name for name in WRITTEN if name != "summary.json")):
            announce(f"{folder.path}: finished by an earlier run with the same settings")
        else:
            reading = {name: settings[name] for name in READING} | limit
            given = {name: value for name, value in settings.items() if value is not None}
            _fill(folder, draws, reading, search, {**given, "seed": seed}, not no_objects)
        show_lines(_lines(folder))
    if open_page and not webbrowser.open((output / REPORT).resolve().as_uri()):
        announce(f"no browser was found: open {output / REPORT}")


def _fill(
    folder: Folder,
    files: Sequence[Path],
    reading: Mapping[str, Any],
    search: Mapping[str, Any],
    stated: Mapping[str, Any],
    include_objects: bool,
) -> None:
    seconds = Seconds()
    seconds.started(folder.summary.get("seconds", {}))
    folder.summary["seconds"] = seconds
    name = ", ".join(path.name for path in files)
    with seconds.spent_on("read"):
        draws = read_draws(list(files) if len(files) > 1 else files[0], **reading)
    announce_notes(name, draws.notes)
    n, p = draws.ensemble.shape
    announce(f"{name}: {plural(p, 'draw')} of {plural(n, 'object')}, {plural(draws.n_chains, 'chain')}")
    with seconds.spent_on("estimate"), progress_bar("estimate", 1, plural(search["n_init"], "start")):
        found = summarize_draws(draws, **search)
    with seconds.spent_on(WRITE):
        folder.put(ENSEMBLE, draws.ensemble.save)
        folder.put(MODEL, partial(save_model, found.estimate.set_params(n_jobs=None)))
        folder.put(LABELS, lambda path: write_labels(path, draws.ids, found.estimate))
        folder.put(PROBABILITIES, lambda path: _write_probabilities(path, found))
        folder.put(BALL, lambda path: _write_ball(path, found))
    settings = {"files": name, **stated, "version": __version__}
    notes = [shell_text(note) for note in draws.notes]
    with seconds.spent_on("report"):
        summary = draws_report(
            found,
            title=f"Draws of {name}",
            settings=settings,
            include_objects=include_objects,
            random_state=stated["seed"],
        )
        folder.summary = {"draws": {**summary, "notes": notes}, "seconds": seconds}
        page = draws_page(folder.summary["draws"])
        folder.put(REPORT, lambda path: path.write_text(page, encoding="utf-8", errors="replace"))
    folder.put_summary()


def _write_probabilities(path: Path, found: DrawsSummary) -> None:
    """A line per object, lowest probability first."""

    def lines() -> Iterator[tuple[Any, ...]]:
        for i in found.doubt.tolist():
            own, other = float(found.probabilities[i]), int(found.next_clusters[i])
            following = ("", "") if other < 0 else (other, f"{found.next_probabilities[i]:.6g}")
            yield found.draws.ids[i], int(found.estimate.labels_[i]), "" if own != own else f"{own:.6g}", *following

    write_csv(path, ["id", "cluster", "probability", "next_cluster", "next_probability"], lines())


def _write_ball(path: Path, found: DrawsSummary) -> None:
    """A line per object, a column per bound: the labels of that draw."""
    ensemble = found.draws.ensemble
    bounds = [(name, j) for name in BOUNDS for j in getattr(found.ball, name).tolist()]
    header = ["id", "estimate", *(f"{name} {ensemble.names[j]}" for name, j in bounds)]
    columns = [found.estimate.labels_.tolist(), *(labels_of_draw(ensemble, j).tolist() for _, j in bounds)]
    write_csv(path, header, zip(found.draws.ids, *columns, strict=True))


def _lines(folder: Folder) -> Iterator[tuple[str, str]]:
    summary = folder.summary["draws"]
    chains = plural(summary["n_chains"], "chain")
    yield "draws", f"{summary['n_draws']:,} in {chains}, of {plural(summary['n_objects'], 'object')}"
    yield "estimate", clusters_text([cluster["size"] for cluster in summary["clusters"]], None)
    yield "loss", estimate_sentence(summary)
    yield "ball", ball_sentence(summary)
    yield "chains", agreement_sentence(summary)
    yield "written", ", ".join(str(folder.path / name) for name in WRITTEN)
