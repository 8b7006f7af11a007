"""``ensemblage run`` on features that stay on disk."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import click
import pyarrow.parquet as pq

from ensemblage import ConsensusClustering, FeatureBlocks
from ensemblage.answer._of_blocks import write_into
from ensemblage.answer._saved import save_model
from ensemblage.base.atomic import new_folder
from ensemblage.cli._answer import clusters_text, show_lines
from ensemblage.cli._combine_disk import DEFAULT_MEMORY
from ensemblage.cli._errors import INTERRUPTED, Interrupted
from ensemblage.cli._folder import MODEL
from ensemblage.cli._options import option_name
from ensemblage.cli._progress import progress_bar, tell

TAKEN = ("data", "output", "k", "memory", "seed", "n_jobs", "standardize", "allow_one")
"""Parameters of the command that count."""


def stays_on_disk(data: Path) -> bool:
    """Whether the command leaves its input on the disk: .npy files, and folders."""
    return data.is_dir() or data.suffix.lower() == ".npy"


def check_options(data: Path) -> None:
    """Refuse options that were given and count for tables in memory alone."""
    context = click.get_current_context()
    for name in context.params:
        if name not in TAKEN and context.get_parameter_source(name) is not click.core.ParameterSource.DEFAULT:
            raise ValueError(
                f"{option_name(name)} is for tables that fit into memory. {data} stays on disk. Leave it out, or give "
                "a .csv or .parquet file."
            )


def run_stored(data: Path, output: Path, **settings: Any) -> None:
    """Cluster features on disk by the default; a new folder with clusters, profile, model and summary."""
    check_options(data)
    start = time.perf_counter()
    try:
        with new_folder(output) as new:
            tell(f"{data}: reading ...")
            features = FeatureBlocks.open(data, memory=settings["memory"] or DEFAULT_MEMORY)
            names = {"k": "n_clusters", "seed": "random_state"}
            asked = {names.get(name, name): settings[name] for name in TAKEN[2:] if name != "memory"}
            line = f"{len(features):,} objects; several algorithms cluster some of them"
            with progress_bar("base clusterings", 100, line) as callback:
                model = ConsensusClustering(**asked, progress=callback).fit(features)
            tell(f"{len(features):,} objects: each gets the cluster of the nearest of these ...")
            write_into(features, model, new)
            model.set_params(progress=None)
            save_model(model, new / MODEL)
            profile = pq.read_table(new / "profile.parquet")
            sizes = profile["n_objects"].to_pylist()[:: features.shape[1]]
            summary = {"n_objects": len(features), "n_features": features.shape[1], "cluster_sizes": sizes}
            summary |= {"seed": settings["seed"], "plan": model.plan_.to_dict()}
            (new / "summary.json").write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")
    except KeyboardInterrupt:
        raise Interrupted(INTERRUPTED) from None
    show_lines(
        [
            ("features", repr(features)),
            ("consensus", clusters_text(sizes, settings["k"])),
            ("seconds", f"{time.perf_counter() - start:.1f}"),
            ("written", str(output)),
        ]
    )
