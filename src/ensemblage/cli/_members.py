"""The command that makes the members of an ensemble."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np

from ensemblage import Ensemble
from ensemblage.cli._analysis import generated
from ensemblage.cli._errors import INTERRUPTED, Interrupted
from ensemblage.cli._folder import NOTHING_UNASKED
from ensemblage.cli._generation import Generation
from ensemblage.cli._generation_disk import generate_on_disk
from ensemblage.cli._source import Source
from ensemblage.cli._tell import tell_notes
from ensemblage.files._atomic import atomic_write


def generate_members(
    data: Path,
    output: Path,
    *,
    overwrite: bool,
    n_jobs: int,
    generator: str,
    partitions: int,
    k: int | None,
    seed: int,
    **settings: Any,
) -> None:
    """Do what ``ensemblage generate`` does."""
    generation = Generation(generator, partitions, k, seed, n_jobs)
    generation.check()
    if ".npy" in (data.suffix.lower(), output.suffix.lower()):
        generate_on_disk(data, output, overwrite, generation, settings)
        return
    check_suffix(output, ".npz", ".csv")
    check_free(output, overwrite)
    source = Source.of(data, settings, "impute", "standardize")
    features = source.features(source.read())
    tell_notes(data.name, features.notes)
    try:
        ensemble = generated(features.X, generation)
    except KeyboardInterrupt:
        raise Interrupted(INTERRUPTED) from None
    if output.suffix.lower() == ".csv" and features.id_column is not None:
        write_csv_with_ids(output, features.ids, ensemble)
    else:
        ensemble.save(output)
    click.echo(f"{output}: {ensemble!r}")


def write_csv_with_ids(path: Path, ids: Sequence[str], ensemble: Ensemble) -> None:
    """A table of labels whose first column is unnamed and holds the ids: what ``combine`` and data frames expect."""
    with atomic_write(path, newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["", *ensemble.names])
        writer.writerows([name, *labels] for name, labels in zip(ids, np.asarray(ensemble).tolist(), strict=True))


def check_suffix(path: Path, *suffixes: str) -> None:
    if path.suffix.lower() not in suffixes:
        raise ValueError(f"The name of the output must end in {' or '.join(suffixes)}. Got {path}. Name it so.")


def check_free(path: Path, overwrite: bool) -> None:
    """The output is a new file, or may be replaced, in a folder that is there."""
    if path.is_dir():
        raise ValueError(f"The output must be a file. {path} is a folder. Name a file in it.")
    if path.exists() and not overwrite:
        raise ValueError(f"{NOTHING_UNASKED} {path} exists. Name another file, or add --overwrite.")
    if not path.absolute().parent.is_dir():
        raise ValueError(f"The folder of the output must exist. {path.parent} does not. Make it first.")
