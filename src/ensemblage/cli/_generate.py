"""The command that makes the members of an ensemble."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import numpy as np
from click.core import ParameterSource

from ensemblage.base.text import write_csv
from ensemblage.cli._analysis import AnnouncedRun
from ensemblage.cli._errors import INTERRUPTED, Interrupted
from ensemblage.cli._folder import check_free, check_suffix
from ensemblage.cli._generation import GOWER, USPEC, Generation
from ensemblage.cli._options import option_name
from ensemblage.cli._progress import announce, progress_bar
from ensemblage.cli._seconds import Seconds
from ensemblage.cli._source import FEATURE_OPTIONS, InputFile
from ensemblage.generation import write_partitions
from ensemblage.labels.coding import MISSING
from ensemblage.labels.files import WRITERS
from ensemblage.pipeline._run import MEMBERS
from ensemblage.report._layout import plural
from ensemblage.tables.formats import first_suffixes


def generate_members(data: Path, output: Path, overwrite: bool, **settings: Any) -> None:
    """Do what ``ensemblage generate`` does."""
    generation = Generation.of(settings.pop("k"), settings, settings.pop("seed"), settings.pop("n_jobs"))
    generation.check()
    if ".npy" in (data.suffix.lower(), output.suffix.lower()):
        generate_on_disk(data, output, overwrite, generation, settings)
        return
    check_suffix(output, *first_suffixes(WRITERS))
    check_free(output, overwrite)
    features = generation.source(InputFile.of(data, settings, *FEATURE_OPTIONS)).announced_features()
    generation.check_features(features, False, data.name)
    clustered, generator = generation.announce_features(features, data.name), generation.estimator()
    try:
        with AnnouncedRun(Seconds(), generation).step(
            MEMBERS, generator=generator, shape=clustered.X.shape
        ) as progress:
            made = generation.data(clustered).partitions(generator.set_params(progress=progress), MISSING)
    except KeyboardInterrupt:
        raise Interrupted(INTERRUPTED) from None
    ensemble, generator = made
    generation.announce_fewer(data.name, features, ensemble, generator)
    if output.suffix.lower() == ".csv" and features.id_column is not None:
        # The first column is unnamed and holds the ids: what ``combine`` and data frames expect.
        rows = zip(features.ids, np.asarray(ensemble).tolist(), strict=True)
        write_csv(output, ["", *ensemble.names], ([name, *labels] for name, labels in rows))
    else:
        ensemble.save(output)
    click.echo(f"{output}: {ensemble!r}")


def generate_on_disk(
    data: Path, output: Path, overwrite: bool, generation: Generation, settings: dict[str, Any]
) -> None:
    """Do what ``ensemblage generate`` does with a .npy file."""
    if output.suffix.lower() != ".npy":
        raise ValueError(
            f"The labels of a .npy file must go to a .npy file, partition by partition. Got {output}. Choose a name "
            f"that ends in .npy."
        )
    if data.suffix.lower() == ".npy":
        from sklearn.cluster import MiniBatchKMeans

        X: Any = _map_features(data, settings)
        # Every batch costs O(n) for its draw: of the default size, most of the time goes there.
        estimator: Any = MiniBatchKMeans(n_init=1, batch_size=10_000)
        clusterer = "U-SPEC" if generation.generator == USPEC else "mini-batch k-means"
        announce(f"{data.name}: features as they are, {clusterer}")
    else:
        features = InputFile.of(data, settings, *FEATURE_OPTIONS).announced_features()
        if features.members:
            raise ValueError(
                "A .npy file must hold partitions only. Got --categories member, which adds labels of the table. "
                "Leave it out, or write a .npz file."
            )
        clustered, estimator = generation.announce_features(features, data.name), None
        X = clustered.distances() if generation.generator == GOWER else clustered.X
    generator = generation.independent(estimator)
    try:
        with progress_bar("base partitions", generation.partitions) as callback:
            names = write_partitions(generator, X, output, overwrite=overwrite, progress=callback)
    except KeyboardInterrupt:
        raise Interrupted(
            f"Interrupted. {output}.parts keeps the partitions that are finished: the same command goes on from there."
        ) from None
    click.echo(f"{output}: {plural(X.shape[0], 'object')}, {plural(len(names), 'partition')}")


def _map_features(data: Path, settings: dict[str, Any]) -> Any:
    """The features where they lie; options about tables are refused."""
    source_of = click.get_current_context().get_parameter_source
    for name in settings:
        if source_of(name) is ParameterSource.COMMANDLINE:
            raise ValueError(
                f"{option_name(name)} is for tables. {data} is used unchanged. Leave the option out, or give a .csv "
                f"file."
            )
    try:
        X = np.load(data, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise ValueError(
            f"A .npy file of features must be one that numpy.save wrote. Got {data} ({error}). Save it again."
        ) from None
    if X.ndim != 2 or X.dtype.kind not in "fiub":
        raise ValueError(
            f"A .npy file of features must be a matrix of numbers, objects by features. Got {X.dtype} of shape "
            f"{X.shape} in {data}. Save one row per object."
        )
    return X
