"""The commands about communities of a graph: those of many partitions, and those of many resolutions."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

import click
import numpy as np

from ensemblage import Ensemble, make_consensus
from ensemblage._version import __version__
from ensemblage.base.text import write_csv
from ensemblage.choices._choice_records import ResolutionChoice, ResolutionRow
from ensemblage.cli._answer import clusters_text, confidence_text, show_lines, show_table
from ensemblage.cli._errors import INTERRUPTED, Interrupted
from ensemblage.cli._folder import (
    ENSEMBLE,
    FILES,
    LABELS,
    MODEL,
    REPORT,
    SWEEP,
    Folder,
    check_free,
    check_suffix,
    output_folder,
)
from ensemblage.cli._labels import check_copy, is_annotated_copy, write_labels
from ensemblage.cli._options import option_name, shell_text
from ensemblage.cli._progress import announce, announce_notes, progress_bar
from ensemblage.cli._seconds import WRITE, Seconds
from ensemblage.cli._source import FEATURE_OPTIONS, USUAL, CellFile, InputFile, alert_notes
from ensemblage.consensus import CommunityConsensus
from ensemblage.consensus._saved import save_model
from ensemblage.generation import LeidenPartitions
from ensemblage.generation._graphs import Graph, as_graph
from ensemblage.io._anndata import classes_of
from ensemblage.metrics import verdicts
from ensemblage.metrics._confidence import VERDICTS
from ensemblage.n_clusters import choose_resolution
from ensemblage.pipeline._to_anndata import columns_of, notes_of, write_copy
from ensemblage.report._layout import plural
from ensemblage.report._sweep import sweep_page, sweep_summary
from ensemblage.tables.bytes import read_bytes
from ensemblage.tables.column import as_labels


def find_communities(
    edges: Path,
    output: Path,
    overwrite: bool,
    labels: Path | None,
    id_column: str | None,
    has_header: bool | None,
    method: Literal["ecg", "fast-ensemble", "lf"],
    algorithm: str,
    partitions: int,
    resolution: float | None,
    seed: int,
    n_jobs: int,
) -> None:
    """Do what ``ensemblage communities`` does."""
    check_suffix(output, ".csv")
    check_free(output, overwrite)
    source = None if labels is None else InputFile(labels, id_column=id_column, options={"missing": -1})
    members = None if source is None else source.members(source.read())
    ids = None if members is None or members.id_column is None else members.ids
    graph = as_graph(edges, edges.name, ids, has_header=has_header)
    announce_notes(edges.name, graph.notes)
    if labels is not None and members is not None:
        announce_notes(labels.name, members.notes)
        if len(members.ensemble) != len(graph.names):
            raise ValueError(
                f"{labels.name} must have a row for each of the {len(graph.names):,} nodes of {edges.name}. It has "
                f"{len(members.ensemble):,}. Give it a column of the nodes' names: --id-column NAME."
            )
    shared: dict[str, Any] = {"algorithm": algorithm, "random_state": seed, "n_jobs": n_jobs}
    generator = LeidenPartitions(
        partitions,
        resolutions=[1.0 if resolution is None else resolution],
        affinity="precomputed",
        levels=1 if method == "ecg" else None,
        **shared,
    )
    consensus = CommunityConsensus(method, resolution=None if method == "fast-ensemble" else resolution, **shared)
    try:
        if members is None:
            with progress_bar("partitions", partitions, f"{partitions} by {algorithm}") as done:
                made = generator.set_params(progress=done).fit_transform(graph.matrix)
            ensemble = Ensemble._made(made)
        else:
            ensemble = members.ensemble
        consensus.fit(ensemble, edges=graph.matrix)
    except KeyboardInterrupt:
        raise Interrupted(INTERRUPTED) from None
    write_labels(output, list(map(str, graph.names)), consensus)
    show_lines([*_lines(graph, ensemble, consensus), ("written", str(output))])


def _lines(graph: Graph, ensemble: Ensemble, consensus: CommunityConsensus) -> Iterator[tuple[str, str]]:
    words = verdicts(consensus.confidence_)
    yield "graph", f"{plural(len(graph.names), 'node')}, {plural(graph.matrix.nnz // 2, 'edge')}"
    partitions = plural(ensemble.shape[1], "partition")
    yield "ensemble", f"{partitions}, {ensemble.n_clusters.mean():.1f} clusters on average"
    yield "consensus", clusters_text(np.bincount(consensus.labels_[consensus.labels_ >= 0]).tolist(), None)
    yield "confidence", confidence_text([{word: int((words == word).sum()) for word in VERDICTS}])
    if consensus.method == "ecg":
        yield "CSI", f"{consensus.csi_:.3f}: 1 if the partitions agree on every edge, 0 if each edge is tossed up"
    if consensus.method == "lf" and not consensus.converged_:
        yield "rounds", f"{consensus.n_rounds_}, and the partitions still disagree"


class SweepInput(NamedTuple):
    """What is swept."""

    X: Any
    ids: list[str]
    color: tuple[str, Any] | None
    """A variable of the objects, and its name."""
    options: dict[str, Any]
    """Of `choose_resolution`: what X is."""
    notes: tuple[str, ...] = ()
    truth: Any = None
    """Known classes."""


def sweep_resolutions(
    data: Path, output: Path, overwrite: bool, is_graph: bool, color: str | None, **settings: Any
) -> None:
    """Do what ``ensemblage sweep`` does."""
    asked = {name: settings.pop(name) for name in ("resolutions", "n_neighbors", "algorithm", "objective")}
    asked |= {name: settings.pop(name) for name in ("n_resamples", "fraction")}
    asked |= {"consensus": settings.pop("method"), "random_state": settings.pop("seed")}
    n_jobs = settings.pop("n_jobs")
    has_header = settings.pop("has_header") if is_graph else None
    if is_graph:
        for name, value in settings.items():
            if value not in (None, (), [], {}, False, "auto", USUAL.get(name)):
                raise ValueError(f"{option_name(name)} is for features. Got the graph {data.name}. Leave it out.")
    source = None if is_graph else InputFile.of(data, settings, *FEATURE_OPTIONS)
    if is_annotated_copy(output):
        if not isinstance(source, CellFile):
            raise ValueError(
                f"The output must be a folder, unless the input is a .h5ad file. Got {output} for {data.name}. "
                "Name a folder."
            )
        check_copy(source, output, overwrite)
        given = _read_input(source, data, color, has_header, Seconds())
        choice = _sweep(given, data, asked, n_jobs, Seconds())
        if choice.consensus is None:
            raise ValueError(
                f"A sweep must find clusters to write into {output}. {choice.sentence} Try higher --resolutions."
            )
        write_copy(data, output, columns_of(choice.consensus, source.key_added), source.key_added, notes_of(choice))
        _show({"sweep": {"sentence": choice.sentence, "table": [row._asdict() for row in choice.table]}}, [output])
        return
    if source is None:
        content = read_bytes(data)
        read = {"input": hashlib.sha256(content).hexdigest(), "graph": True, "header": has_header}
    else:
        read = source.identity(source.read())
    stated = {name: str(value) for name, value in asked.items() if value is not None}
    identity = {"command": "sweep", "ensemblage": __version__, **read, **stated, "color": color}
    with output_folder(output, identity, overwrite) as folder:
        if folder.has(*FILES[:-1], SWEEP):
            announce(f"{folder.path}: finished by an earlier run with the same settings")
        else:
            seconds = Seconds()
            seconds.started(folder.summary.get("seconds", {}))
            folder.summary["seconds"] = seconds
            given = _read_input(source, data, color, has_header, seconds)
            choice = _sweep(given, data, asked, n_jobs, seconds)
            _write_sweep(folder, data, given, choice, stated, seconds)
        _show(folder.summary, [folder.path / name for name in (*FILES, SWEEP)])


def _read_input(
    source: InputFile | None, data: Path, color: str | None, has_header: bool | None, seconds: Seconds
) -> SweepInput:
    """A graph, or the features of a source."""
    with seconds.spent_on("read"):
        given = _read_graph(data, color, has_header) if source is None else _read_objects(source, color)
    announce_notes(data.name, given.notes)
    return given


def _sweep(given: SweepInput, data: Path, asked: Mapping[str, Any], n_jobs: int, seconds: Seconds) -> ResolutionChoice:
    """The choice of the resolution, announced."""
    known = {name: value for name, value in asked.items() if value is not None}
    line = f"{known['n_resamples']} resamples, and every resolution"
    with seconds.spent_on("sweep"), progress_bar("sweep", 100, line, are_alike=False) as callback:
        choice = choose_resolution(given.X, **known, **given.options, n_jobs=n_jobs, progress=callback)
    announce_notes(data.name, choice.notes)
    return choice


def _read_graph(data: Path, color: str | None, has_header: bool | None) -> SweepInput:
    if color is not None:
        raise ValueError("--color must go with a table or a .h5ad file. Got a graph. Leave it out.")
    graph = as_graph(data, data.name, has_header=has_header)
    return SweepInput(graph.matrix, [str(name) for name in graph.names], None, {"affinity": "precomputed"}, graph.notes)


def _read_objects(source: InputFile, color: str | None) -> SweepInput:
    if isinstance(source, CellFile):
        adata = source.opened
        ids = [str(name) for name in adata.obs.index]
        shown = None
        if color is not None:
            if color not in adata.obs.columns or adata.obs[color].dtype.kind not in "fiub":
                numeric = [str(name) for name in adata.obs.columns if adata.obs[name].dtype.kind in "fiub"]
                raise ValueError(
                    f"--color must name a column of numbers in .obs of {source.path.name}. Got {color!r}. There are "
                    f"{', '.join(numeric[:8]) or 'none'}."
                )
            shown = color, adata.obs[color].to_numpy(dtype=np.float64)
        truth = None if source.truth_column is None else as_labels(classes_of(adata, source.truth_column))
        return SweepInput(source.path, ids, shown, {"use_rep": source.use_rep}, truth=truth)
    content = source.read()
    features, shown = source.features(content), None
    if color is not None:
        table = source.table(content)
        if color not in table.names or table[color].numbers is None:
            raise ValueError(
                f"--color must name a column of numbers of {source.path.name}. Got {color!r}. Its columns are "
                f"{', '.join(table.names[:8])}."
            )
        values = table[color].numbers
        shown = color, values if features.rows is None else np.asarray(values)[features.rows]
    if not features.X.shape[1]:
        raise ValueError(
            f"{source.path.name} must have columns that are features. It has only members. Leave --categories out."
        )
    notes = (*alert_notes(features), *features.notes)
    return SweepInput(features.X, features.ids, shown, {"standardize": False}, notes, features.truth)


def _write_sweep(
    folder: Folder,
    data: Path,
    given: SweepInput,
    choice: ResolutionChoice,
    stated: Mapping[str, str],
    seconds: Seconds,
) -> None:
    """Fill the folder; ``stated`` are the settings that were given."""
    n = len(given.ids)
    consensus = choice.consensus
    if consensus is None:  # one cluster at every resolution
        consensus = make_consensus("km", 1).fit(np.zeros((n, 1), dtype=np.int32))
    with seconds.spent_on(WRITE):
        folder.put(ENSEMBLE, choice.ensemble.save)
        folder.put(MODEL, partial(save_model, consensus.set_params(n_jobs=None)))
        folder.put(LABELS, lambda path: write_labels(path, given.ids, consensus))
        rows = [["" if value is None or value != value else value for value in row] for row in choice.table]
        folder.put(SWEEP, lambda path: write_csv(path, ResolutionRow._fields, rows))
    notes = {"notes": "; ".join(map(shell_text, given.notes))} if given.notes else {}
    settings = {"file": data.name, **stated, "version": __version__, **notes}
    with seconds.spent_on("report"):
        summary = sweep_summary(
            choice, title=f"Resolutions of {data.name}", settings=settings, color=given.color, truth=given.truth
        )
        folder.summary = {"sweep": summary, "seconds": seconds}
        folder.put(REPORT, lambda path: path.write_text(sweep_page(summary), encoding="utf-8", errors="replace"))
    folder.put_summary()


def _show(summary: Mapping[str, Any], written: list[Path]) -> None:
    found = summary["sweep"]
    show_lines([("answer", found["sentence"])])
    if found.get("best") is not None and (ari := found["plateaus"][found["best"]]["ari"]) is not None:
        show_lines([("ARI", f"{ari:.3f} with the truth")])
    click.echo()
    header = ["resolution", "clusters", "stability", "reproduced", "plateau", ""]
    rows = [
        [
            f"{row['resolution']:g}",
            str(row["n_clusters"]),
            f"{row['stability']:.2f}",
            f"{row['found_again']:.0%}",
            "" if row["plateau"] is None else str(row["plateau"] + 1),
            row["status"],
        ]
        for row in found["table"]
    ]
    show_table(header, rows, right=range(5))
    click.echo()
    show_lines([("written", ", ".join(map(str, written)))])
