"""Commands about the members of an ensemble: make them, rank them."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np

from ensemblage import AverageAgreement, Ensemble
from ensemblage._cli._analysis import generated
from ensemblage._cli._errors import Interrupted
from ensemblage._cli._folder import NOTHING_UNASKED
from ensemblage._cli._show import show_table
from ensemblage._cli._source import Source
from ensemblage._cli._tell import tell_notes
from ensemblage._files import written_whole
from ensemblage._tables import Members

CRITERIA = {"aari": "ari", "anmi": "nmi"}


def generate_members(
    data: Path, output: Path, *, overwrite: bool, n_jobs: int, partitions: int, seed: int, **settings: Any
) -> None:
    """Do what ``ensemblage generate`` does."""
    check_suffix(output, ".npz", ".csv")
    check_free(output, overwrite)
    source = Source.of(data, settings, "impute", "standardize")
    features = source.features(source.read())
    tell_notes(data.name, features.notes)
    try:
        ensemble = generated(features.X, partitions, seed, n_jobs)
    except KeyboardInterrupt:
        raise Interrupted("Interrupted. Nothing was written.") from None
    if output.suffix.lower() == ".csv" and features.id_column is not None:
        write_csv_with_ids(output, features.ids, ensemble)
    else:
        ensemble.save(output)
    click.echo(f"{output}: {ensemble!r}")


def write_csv_with_ids(path: Path, ids: Sequence[str], ensemble: Ensemble) -> None:
    """A table of labels whose first column is unnamed and holds the ids: what ``combine`` and data frames expect."""
    with written_whole(path, newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["", *ensemble.names])
        writer.writerows([name, *labels] for name, labels in zip(ids, np.asarray(ensemble).tolist(), strict=True))


def rank_members(path: Path, by: str, output: Path | None, *, overwrite: bool, n_jobs: int, **settings: Any) -> None:
    """Do what ``ensemblage rank`` does."""
    criteria = [name.strip() for name in by.split(",")]
    for name in criteria:
        if name not in CRITERIA:
            raise ValueError(f"--by must be among {', '.join(CRITERIA)}, with commas. Got {name!r}. Choose of these.")
    if output is not None:
        check_suffix(output, ".csv")
        check_free(output, overwrite)
    source = Source.of(path, settings, "missing")
    members = source.members(source.read())
    tell_notes(path.name, members.notes)
    header, rows = ranked(members, criteria, n_jobs)
    if output is not None:
        with written_whole(output, newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows([header, *rows])
    show_table(header, rows, right=[0, *range(2, len(header))])


def ranked(members: Members, criteria: Sequence[str], n_jobs: int) -> tuple[list[str], list[list[str]]]:
    """The members best first by the first criterion, with their scores by all of them."""
    ensemble = members.ensemble
    rankings = [AverageAgreement(measure=CRITERIA[name], n_jobs=n_jobs).fit(ensemble) for name in criteria]
    columns: list[Callable[[int], str]] = [
        lambda j: str(rankings[0].ranks_[j]),
        lambda j: ensemble.names[j],
        lambda j: str(ensemble.n_clusters[j]),
        *(lambda j, scores=ranking.scores_: f"{scores[j]:.4f}" for ranking in rankings),
    ]
    rows = [[column(j) for column in columns] for j in rankings[0].order_.tolist()]
    return ["rank", "member", "clusters", *criteria], rows


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
