"""The whole analysis again without each column in turn: without which the answer changes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensemblage.answer import Plan
from ensemblage.answer._default_plan import can_be_repeated
from ensemblage.cli._generation import Generation
from ensemblage.cli._progress import progress_bar
from ensemblage.cli._resampling import ResamplingPlan
from ensemblage.io._features import Features
from ensemblage.labels.ensemble import Ensemble
from ensemblage.metrics._agreement import agreement_with
from ensemblage.profiles import Profile
from ensemblage.profiles._effects import separations

MOST_COLUMNS = 20
"""That are left out in turn."""


def check_without_columns(is_asked: bool, generation: Generation, features: Features, plan: Plan) -> None:
    """Refuse to leave columns out of a single column, or without a generator that can run again."""
    if not is_asked:
        return
    advice = "Leave it out."
    if not can_be_repeated(features.X, features.members, plan.generator):
        raise ValueError(
            "--without-columns must go with features and the generators diverse, random-k, subspace or projection. "
            f"Got {generation.generator}{' and categories as members' * bool(features.members)}. {advice}"
        )
    if len(_places(features)) < 2:
        raise ValueError(f"--without-columns needs at least two columns of features. Got one. {advice}")


def n_left_out(features: Features) -> int:
    """How many columns are left out in turn."""
    return min(MOST_COLUMNS, len(_places(features)))


def indices_without_columns(
    plan: ResamplingPlan, profile: Profile | None, labels: NDArray[np.integer[Any]]
) -> dict[str, float]:
    """By column the adjusted Rand index of the labels with those without it, NaN where none could be made.

    Of more than `MOST_COLUMNS` columns those are left out that separate the clusters most.
    """
    places, X = _places(plan.features), plan.features.X
    names = list(places) if profile is None else _in_order(profile, places)
    found = {}
    line = f"{MOST_COLUMNS} of {len(places):,} columns" if len(names) > MOST_COLUMNS else None
    with (
        plan.seconds.spent_on("columns"),
        progress_bar("without a column", len(names[:MOST_COLUMNS]), line) as callback,
    ):
        for i, name in enumerate(names[:MOST_COLUMNS]):
            found[name] = _index_without(plan, np.delete(X, places[name], axis=1), labels)
            callback(i + 1, len(names[:MOST_COLUMNS]))
    return found


def _index_without(plan: ResamplingPlan, X: ArrayLike, labels: NDArray[np.integer[Any]]) -> float:
    try:
        again = plan.again().fit_predict(X)
    except ValueError:  # too few different rows without the column
        return float("nan")
    return float(agreement_with(Ensemble.from_partitions([again]), np.asarray(labels, dtype=np.int64), "ari")[0])


def _places(features: Features) -> dict[str, list[int]]:
    """By the name of a column of the table the features that it became."""
    place = {name: j for j, name in enumerate(features.names)}
    columns = [] if features.encoding is None else features.encoding.columns
    found = {c.name: [place[name] for name in c.names() if name in place] for c in columns if c.kind != "member"}
    return {name: of for name, of in found.items() if of}


def _in_order(profile: Profile, places: dict[str, list[int]]) -> list[str]:
    """The columns in descending order of how well they separate the clusters."""
    compared = profile._compared
    shares = dict(zip((v.name for v in compared.variables), np.nan_to_num(separations(compared)), strict=True))
    return sorted(places, key=lambda name: -shares.get(name, 0.0))
