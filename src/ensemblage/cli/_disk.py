"""What stays on disk: labels that are combined, and features that are run on. Nothing is read whole."""

from __future__ import annotations

import json
import shutil
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import click
import numpy as np

from ensemblage import ConsensusClustering, Ensemble
from ensemblage.base.atomic import Place, atomic_write, new_folder
from ensemblage.base.options import NoteWarning
from ensemblage.base.threads import row_blocks
from ensemblage.cli._answer import (
    MOST_DESCRIBED,
    alert_lines,
    alerts_refused,
    clusters_text,
    confidence_text,
    drivers_text,
    show_lines,
    spelled_alerts,
)
from ensemblage.cli._errors import INTERRUPTED, Interrupted
from ensemblage.cli._folder import MODEL, NOTHING_UNASKED, check_free
from ensemblage.cli._labels import write_labels
from ensemblage.cli._methods import Consensus
from ensemblage.cli._options import option_name, shell_text
from ensemblage.cli._progress import announce, announce_notes, progress_bar
from ensemblage.consensus._saved import save_model
from ensemblage.io._preprocessor import Preprocessor
from ensemblage.labels.files import READERS
from ensemblage.labels.out_of_core import OPENERS
from ensemblage.metrics import verdicts
from ensemblage.metrics._confidence import VERDICTS
from ensemblage.pipeline._blocks import OfAll, write_part
from ensemblage.preprocessing import FeatureBlocks
from ensemblage.tables.formats import format_of

PART_ROWS = 1_000_000
"""Rows of one Parquet part."""
DEFAULT_MEMORY = "1GB"


def is_on_disk(path: Path, memory: str | None, scratch: Path | None) -> bool:
    """Whether a command leaves its input on the disk: .npy files and folders always, Parquet files with --memory."""
    found = format_of(path)
    on_disk = path.is_dir() or (found in OPENERS and (found not in READERS or memory is not None))
    if scratch is not None and not on_disk:
        announce(f"--scratch: {path.name} is read into memory and takes no room there")
    return on_disk


def open_ensemble(path: Path, memory: str | None, scratch: Path | None, settings: Mapping[str, Any]) -> Ensemble:
    """The ensemble; options about tables in memory are refused."""
    for name, value in settings.items():
        if name not in ("missing", "noise") and (value or (name == "has_header" and value is not None)):
            raise ValueError(
                f"{option_name(name)} is for tables that fit into memory. {path} stays on disk. "
                "Leave it out, or give a .csv file."
            )
    noise = settings.get("noise", "missing")
    return Ensemble.open(
        path, missing=settings["missing"], noise=noise, memory=memory or DEFAULT_MEMORY, scratch=scratch
    )


def combine_stored(path: Path, output: Path, overwrite: bool, *, scratch: Path | None, **settings: Any) -> None:
    """Do what ``ensemblage combine`` does with labels on disk."""
    from ensemblage.report._diagnostics import diagnostics_sentences

    wanted = Consensus.of(settings.pop("k"), settings)
    wanted.check()
    _check_output(output, overwrite)
    start = time.perf_counter()
    try:
        announce(f"{path}: reading ...")
        ensemble = open_ensemble(path, wanted.memory, scratch, settings)
        announce(f"{ensemble!r}: {wanted.method} ...")
        consensus = wanted.estimator().fit(ensemble)
        if output.suffix.lower() == ".npy":
            with atomic_write(output, "wb") as file:
                np.save(file, consensus.labels_, allow_pickle=False)
        elif output.suffix.lower() == ".csv":
            write_labels(output, range(1, len(consensus.labels_) + 1), consensus)
        else:
            _write_parts(output, overwrite, consensus)
    except KeyboardInterrupt:
        raise Interrupted(INTERRUPTED) from None
    labels = consensus.labels_
    counts = [np.bincount(labels[rows] + 1, minlength=consensus.n_clusters_ + 1) for rows in row_blocks(len(labels))]
    sizes = np.sum(counts, axis=0)[1:].tolist()
    of_number = consensus.diagnostics(ensemble, []) if hasattr(consensus, "agreement_") else ()
    show_lines(
        [
            ("ensemble", repr(ensemble)),
            ("consensus", clusters_text(sizes, wanted.k)),
            *[("evidence", sentence) for record in of_number for sentence in diagnostics_sentences(record)],
            ("confidence", _confidence(consensus)),
            ("seconds", f"{time.perf_counter() - start:.1f}"),
            ("written", str(output)),
        ]
    )


def _confidence(consensus: Any) -> str:
    counts = dict.fromkeys(VERDICTS, 0)
    for block in row_blocks(len(consensus.confidence_)):
        words = verdicts(consensus.confidence_[block])
        for word in VERDICTS:
            counts[word] += int((words == word).sum())
    return confidence_text([counts])


def _check_output(output: Path, overwrite: bool) -> None:
    """Refuse a name that labels cannot be written under, or that is taken."""
    suffix = output.suffix.lower()
    if suffix in (".npy", ".csv"):
        check_free(output, overwrite)
        return
    if suffix not in ("", ".parquet"):
        raise ValueError(
            f"The output for labels on disk must be a .npy or .csv file, or a folder of Parquet parts. Got {output}. "
            "Name one of these."
        )
    if output.exists() and not (
        output.is_dir() and ((overwrite and _holds_parts(output)) or not any(output.iterdir()))
    ):
        raise ValueError(
            f"{NOTHING_UNASKED} {output} exists. Name another folder, or add --overwrite if it holds nothing but parts."
        )
    if not output.absolute().parent.is_dir():
        raise ValueError(f"The folder of the output must exist. {output.parent} does not. Make that folder first.")


def _holds_parts(folder: Path) -> bool:
    return all(path.name.startswith("part-") and path.suffix == ".parquet" for path in folder.iterdir())


def _write_parts(folder: Path, overwrite: bool, consensus: Any) -> None:
    """A folder of Parquet parts with the columns of labels.csv but the id, in the order of the objects."""
    place = Place.of(folder)
    with place.new_folder() as new:
        for i, block in enumerate(row_blocks(len(consensus.labels_), PART_ROWS)):
            path = new / f"part-{i:05}.parquet"
            write_part(path, consensus.labels_[block], consensus.confidence_[block], consensus.runner_up_[block])
        if place.mode is not None:
            shutil.rmtree(place.path) if overwrite and _holds_parts(place.path) else place.path.rmdir()


TAKEN = ("data", "output", "k", "memory", "seed", "n_jobs", "standardize", "allow_one")
"""Parameters of the command that count for every input that stays on disk ..."""
OF_PARTS = ("impute", "categories", "dates", "missing_codes", "given_roles", "drop_columns", "id_column", "strict")
"""... and for Parquet parts."""


def check_options(data: Path, settings: dict[str, Any]) -> None:
    """Refuse options that were given and count for tables in memory alone."""
    context, taken = click.get_current_context(), (*TAKEN, *(OF_PARTS if data.is_dir() else ()))
    for name in context.params:
        if name not in taken and context.get_parameter_source(name) is not click.core.ParameterSource.DEFAULT:
            raise ValueError(
                f"{option_name(name)} is for tables that fit into memory. {data} stays on disk. Leave it out, or give "
                "a .csv or .parquet file."
            )
    if settings["impute"] == "drop":
        raise ValueError(
            f"--impute must be median or most-frequent for what stays on disk, as {data} does. Got drop. Choose one of "
            "these, or write parts without those rows."
        )


def preprocessor_of(data: Path, settings: dict[str, Any]) -> Preprocessor | None:
    """What makes features of the columns of Parquet parts, as the options say; None of a matrix."""
    if not data.is_dir():
        return None
    roles = {**(settings["given_roles"] or {}), **dict.fromkeys(settings["drop_columns"] or (), "drop")}
    roles |= {} if settings["id_column"] is None else {settings["id_column"]: "id"}
    names = ("standardize", "impute", "categories", "dates")
    return Preprocessor(
        **{name: settings[name] for name in names}, roles=roles or None, missing=settings["missing_codes"] or None
    )


@contextmanager
def _strict(name: str) -> Iterator[None]:
    """Refuse features with an alert as soon as one is warned of: before anything is clustered."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", NoteWarning)
        try:
            yield
        except NoteWarning as alert:
            raise alerts_refused(name, shell_text(alert)) from None


def run_stored(data: Path, output: Path, **settings: Any) -> None:
    """Cluster features on disk by the default; a new folder with clusters, profile, model and summary."""
    check_options(data, settings)
    start = time.perf_counter()
    try:
        with new_folder(output) as new:
            announce(f"{data}: reading ...")
            features = FeatureBlocks.open(data, memory=settings["memory"] or DEFAULT_MEMORY)
            names = {"k": "n_clusters", "seed": "random_state"}
            asked = {names.get(name, name): settings[name] for name in TAKEN[2:] if name != "memory"}
            asked |= {"preprocessor": preprocessor_of(data, settings)}
            if asked["preprocessor"] is not None:
                del asked["standardize"]
            line = f"{len(features):,} objects; several algorithms cluster some of them"
            with (
                _strict(data.name) if settings["strict"] else nullcontext(),
                progress_bar("base partitions", 100, line, are_alike=False) as callback,
            ):
                model = ConsensusClustering(**asked, progress=callback).fit(features)
            alerts = spelled_alerts(getattr(model.preprocessor_, "_alerts", ()))
            notes = features._notes or model.preprocessor_.notes_
            alert_texts = {str(alert["text"]) for alert in getattr(model.preprocessor_, "_alerts", ())}
            notes = [note for note in notes if note not in alert_texts]
            announce_notes(data.name, [*(f"alert: {alert['text']}" for alert in alerts), *notes])
            announce(f"{len(features):,} objects: each gets the cluster of the nearest of these ...")
            described = OfAll.of(features, model).write_into(new)
            model.set_params(progress=None)
            save_model(model, new / MODEL)
            clusters = [
                {"cluster": c, "size": size, "sentence": sentence}
                for c, (size, sentence) in enumerate(zip(described.sizes, described.sentences, strict=True))
            ]
            summary = {"n_objects": len(features), "n_features": features.shape[1], "clusters": clusters}
            summary |= {"alerts": alerts, "columns": [use._asdict() for use in model.preprocessor_.columns_]}
            summary |= {"notes": list(map(shell_text, notes)), "seed": settings["seed"], "plan": model.plan_.to_dict()}
            (new / "summary.json").write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")
    except KeyboardInterrupt:
        raise Interrupted(INTERRUPTED) from None
    show_lines(
        [
            *alert_lines(alerts),
            ("features", repr(features)),
            ("consensus", clusters_text(described.sizes, settings["k"])),
            *((f"cluster {c}", drivers_text(text)) for c, text in enumerate(described.drivers[:MOST_DESCRIBED])),
            ("seconds", f"{time.perf_counter() - start:.1f}"),
            ("written", str(output)),
        ]
    )
