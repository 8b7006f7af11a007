"""``ensemblage run`` on features that stay on disk."""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import click

from ensemblage import ConsensusClustering, FeatureBlocks, Preprocessor
from ensemblage.base.atomic import new_folder
from ensemblage.base.options import NoteWarning
from ensemblage.cli._answer import (
    MOST_DESCRIBED,
    alert_lines,
    alerts_refused,
    clusters_text,
    drivers_text,
    show_lines,
    spelled_alerts,
)
from ensemblage.cli._combine_disk import DEFAULT_MEMORY
from ensemblage.cli._errors import INTERRUPTED, Interrupted
from ensemblage.cli._folder import MODEL
from ensemblage.cli._options import option_name, shell_text
from ensemblage.cli._progress import progress_bar, tell, tell_notes
from ensemblage.pipeline._blocks import write_into
from ensemblage.pipeline._saved import save_model

TAKEN = ("data", "output", "k", "memory", "seed", "n_jobs", "standardize", "allow_one")
"""Parameters of the command that count for every input that stays on disk ..."""
OF_PARTS = ("impute", "categories", "dates", "missing_codes", "given_roles", "drop_columns", "id_column", "strict")
"""... and for Parquet parts."""


def stays_on_disk(data: Path) -> bool:
    """Whether the command leaves its input on the disk: .npy files, and folders."""
    return data.is_dir() or data.suffix.lower() == ".npy"


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
            tell(f"{data}: reading ...")
            features = FeatureBlocks.open(data, memory=settings["memory"] or DEFAULT_MEMORY)
            names = {"k": "n_clusters", "seed": "random_state"}
            asked = {names.get(name, name): settings[name] for name in TAKEN[2:] if name != "memory"}
            asked |= {"preprocessor": preprocessor_of(data, settings)}
            if asked["preprocessor"] is not None:
                del asked["standardize"]
            line = f"{len(features):,} objects; several algorithms cluster some of them"
            with (
                _strict(data.name) if settings["strict"] else nullcontext(),
                progress_bar("base clusterings", 100, line, are_alike=False) as callback,
            ):
                model = ConsensusClustering(**asked, progress=callback).fit(features)
            alerts = spelled_alerts(getattr(model.preprocessor_, "_alerts", ()))
            notes = getattr(features, "notes", ()) or model.preprocessor_.notes_
            told = {str(alert["text"]) for alert in getattr(model.preprocessor_, "_alerts", ())}
            notes = [note for note in notes if note not in told]
            tell_notes(data.name, [*(f"alert: {alert['text']}" for alert in alerts), *notes])
            tell(f"{len(features):,} objects: each gets the cluster of the nearest of these ...")
            described = write_into(features, model, new)
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
