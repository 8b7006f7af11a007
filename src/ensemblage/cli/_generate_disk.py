"""Labels that are written partition by partition: a .npy file of any size, of features that may lie on disk too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import numpy as np
from click.core import ParameterSource

from ensemblage.cli._errors import Interrupted
from ensemblage.cli._generation import USPEC, Generation
from ensemblage.cli._option_names import option_name
from ensemblage.cli._progress import progress_bar, tell
from ensemblage.cli._source import FEATURE_OPTIONS, Source
from ensemblage.generation import write_partitions
from ensemblage.report._layout import plural


def generate_on_disk(
    data: Path, output: Path, overwrite: bool, generation: Generation, settings: dict[str, Any]
) -> None:
    """Do what ``ensemblage generate`` does with a .npy file."""
    if output.suffix.lower() != ".npy":
        raise ValueError(
            f"The labels of a .npy file must go to a .npy file, partition by partition. Got {output}. Name it so."
        )
    if data.suffix.lower() == ".npy":
        from sklearn.cluster import MiniBatchKMeans

        X: Any = _map_features(data, settings)
        # Every batch costs O(n) for its draw: of the default size, most of the time goes there.
        estimator: Any = MiniBatchKMeans(n_init=1, batch_size=10_000)
        clusterer = "U-SPEC" if generation.generator == USPEC else "mini-batch k-means"
        tell(f"{data.name}: features as they are, {clusterer}")
    else:
        features = Source.of(data, settings, *FEATURE_OPTIONS).told_features()
        if features.members:
            raise ValueError(
                "A .npy file must hold clusterings only. Got --categories member, whose labels are the file's. "
                "Leave it out, or write a .npz file."
            )
        X, estimator = generation.input_of(generation.tell_features(features, data.name)), None
    generator = generation.independent(estimator)
    try:
        with progress_bar("base clusterings", generation.partitions) as callback:
            names = write_partitions(generator, X, output, overwrite=overwrite, callback=callback)
    except KeyboardInterrupt:
        raise Interrupted(
            f"Interrupted. {output}.parts keeps the clusterings that are finished: the same command goes on from there."
        ) from None
    click.echo(f"{output}: {plural(X.shape[0], 'object')}, {plural(len(names), 'partition')}")


def _map_features(data: Path, settings: dict[str, Any]) -> Any:
    """The features where they lie; options about tables are refused."""
    source_of = click.get_current_context().get_parameter_source
    for name in settings:
        if source_of(name) is ParameterSource.COMMANDLINE:
            raise ValueError(
                f"{option_name(name)} is for tables. {data} is used as it is. Leave it out, or give a .csv file."
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
