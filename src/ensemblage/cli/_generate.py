"""The command that makes the members of an ensemble."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import numpy as np

from ensemblage.base.text import write_csv
from ensemblage.cli._errors import INTERRUPTED, Interrupted
from ensemblage.cli._folder import NOTHING_UNASKED
from ensemblage.cli._generate_disk import generate_on_disk
from ensemblage.cli._generation import Generation
from ensemblage.cli._source import FEATURE_OPTIONS, Source
from ensemblage.io._formats import first_suffixes


def generate_members(data: Path, output: Path, overwrite: bool, **settings: Any) -> None:
    """Do what ``ensemblage generate`` does."""
    generation = Generation.of(settings.pop("k"), settings, settings.pop("seed"), settings.pop("n_jobs"))
    generation.check()
    if ".npy" in (data.suffix.lower(), output.suffix.lower()):
        generate_on_disk(data, output, overwrite, generation, settings)
        return
    check_suffix(output, *first_suffixes("save"))
    check_free(output, overwrite)
    features = generation.source(Source.of(data, settings, *FEATURE_OPTIONS)).told_features()
    generation.check_features(features, False, data.name)
    try:
        ensemble, generator = generation.fit(generation.tell_features(features, data.name))
    except KeyboardInterrupt:
        raise Interrupted(INTERRUPTED) from None
    generation.tell_fewer(data.name, features, ensemble, generator)
    if output.suffix.lower() == ".csv" and features.id_column is not None:
        # The first column is unnamed and holds the ids: what ``combine`` and data frames expect.
        rows = zip(features.ids, np.asarray(ensemble).tolist(), strict=True)
        write_csv(output, ["", *ensemble.names], ([name, *labels] for name, labels in rows))
    else:
        ensemble.save(output)
    click.echo(f"{output}: {ensemble!r}")


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
