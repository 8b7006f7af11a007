"""The command that ranks the members of an ensemble."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.options import suggestion
from ensemblage.base.text import write_csv
from ensemblage.cli._answer import show_table
from ensemblage.cli._disk import is_on_disk, open_ensemble
from ensemblage.cli._folder import check_free, check_suffix
from ensemblage.cli._progress import announce, announce_notes
from ensemblage.cli._source import InputFile, PairFiles, rows_of_members
from ensemblage.io._features import Members, features_of
from ensemblage.io._read import read_table
from ensemblage.metrics import INTERNAL_INDICES
from ensemblage.ranking import RANKERS, compare_rankers, make_ranker
from ensemblage.ranking._compare import Comparison


def rank_members(
    path: Path,
    by: str,
    output: Path | None,
    *,
    features: Path | None,
    overwrite: bool,
    n_jobs: int,
    memory: str | None,
    scratch: Path | None,
    **settings: Any,
) -> None:
    """Do what ``ensemblage rank`` does."""
    criteria = [name.strip() for name in by.split(",")]
    _check_criteria(criteria, features)
    if output is not None:
        check_suffix(output, ".csv")
        check_free(output, overwrite)
    pair_files = PairFiles.of(settings)
    scaling = {"standardize": settings.pop("standardize"), "impute": settings.pop("impute")}
    on_disk = is_on_disk(path, memory, scratch)
    if memory is not None and not on_disk:
        announce(f"--memory: {path.name} is read into memory; the criteria hold no matrix of all pairs of objects")
    source = InputFile.of(path, dict(settings), "missing")
    if on_disk:
        given = {"features": features, **pair_files.paths}
        members = Members(open_ensemble(path, memory, scratch, {**settings, **given}), [], None, None, ())
    else:
        members = source.several_members(source.read())
    announce_notes(path.name, members.notes)
    rankers = {name: make_ranker(name) for name in criteria}
    for ranker in rankers.values():
        chosen = {"n_jobs": n_jobs, "random_state": 0}
        ranker.set_params(**{key: value for key, value in chosen.items() if key in ranker.get_params()})
    comparison = compare_rankers(
        members.ensemble,
        None if features is None else _features(features, members, source, scaling),
        members.truth,
        rankers,
        **pair_files.pairs(members.ids, path.name),
    )
    header, rows = ranking_rows(comparison, criteria)
    if output is not None:
        write_csv(output, header, rows)
    show_table(header, rows, right=[0, *range(2, len(header))])


def _check_criteria(criteria: Sequence[str], features: Path | None) -> None:
    for name in criteria:
        if name not in RANKERS:
            advice = suggestion(name, RANKERS) or f"Choose among {', '.join(RANKERS)}."
            raise ValueError(f"--by must be names of criteria, with commas. Got {name!r}. {advice}")
        if name in INTERNAL_INDICES and features is None:
            raise ValueError(f"--by {name} must have the features of the objects. Got none. Add --features FILE.")
    if len(set(criteria)) < len(criteria):
        raise ValueError(f"--by must name each criterion once. Got {','.join(criteria)}. Leave the repetition out.")


def ranking_rows(comparison: Comparison, criteria: Sequence[str]) -> tuple[list[str], list[list[str]]]:
    """The members best first by the first criterion, with their scores by all of them, and ARI with known classes."""
    columns = comparison.partition_columns
    first = comparison.rankers[criteria[0]]
    numbers = [*criteria, *(["ari"] if "ari" in columns else [])]
    shown: list[Any] = [first.ranks_, columns["member"], columns["n_clusters"]]
    shown += [[_format_score(score) for score in columns[name]] for name in numbers]
    rows = [[str(column[j]) for column in shown] for j in first.order_.tolist()]
    return ["rank", "member", "clusters", *["with truth" if name == "ari" else name for name in numbers]], rows


def _format_score(score: float) -> str:
    return "–" if math.isnan(score) else f"{score:.4f}" if abs(score) < 1e4 else f"{score:.6g}"


def _features(path: Path, members: Members, source: InputFile, scaling: Mapping[str, Any]) -> NDArray[np.float64]:
    """Features of the objects, in the order of the ensemble where both have ids."""
    table, ensemble = read_table(path, missing=source.missing_codes), source.path.name
    id_column, truth_column = (
        name if name in table.names else None for name in (members.id_column, source.truth_column)
    )
    features = features_of(table, id_column=id_column, truth_column=truth_column, **scaling)
    announce_notes(path.name, features.notes)
    return features.X[rows_of_members(features.ids, features.id_column, path.name, members, ensemble)]
