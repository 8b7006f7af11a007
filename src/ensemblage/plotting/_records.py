"""The pictures of the records that are returned, and of fitted models: what their ``plot`` draws, by their type."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

from ensemblage.base.validation import check_choice
from ensemblage.choices._choice_records import KChoice, ResolutionChoice
from ensemblage.choices._monti_choice import MontiChoice
from ensemblage.consensus._method_comparison import MethodComparison
from ensemblage.consensus._model import Model
from ensemblage.metrics._monti import consensus_cdf
from ensemblage.profiles._record import Profile, heat_map_of, panels_of
from ensemblage.stability._records import ClusterStability, PredictionStrength

from ._axes import Axes
from ._dendrograms import clustree
from ._k_curves import (
    cluster_jaccards,
    consensus_cdfs,
    criteria_by_number,
    delta_areas,
    evidence_by_number,
    prediction_strengths,
    stability_by_resolution,
    stability_curves,
)
from ._matrices import agreement
from ._models import model
from ._profiles import profile_heat_map, variable_panels


@singledispatch
def draw(record: Any, kind: str | None, ax: Axes | None) -> Any:
    """The axes of the picture of this kind."""
    raise TypeError(f"{type(record).__name__} has no picture.")


@draw.register(Model)
def _(record: Model, kind: str | None, ax: Axes | None, X: Any = None) -> Axes:
    return model(record, X, kind, ax=ax)


@draw.register(KChoice)
def _(record: KChoice, kind: str, ax: Axes | None) -> Axes:
    check_choice(kind, "kind of KChoice.plot", ("gap", "criteria", "strength"))
    rows = {row.k: row for row in record.table}
    if kind == "criteria":
        curves = {
            "reproduced in halves": {k: row.stability for k, row in rows.items()},
            "prediction strength": {k: row.strength for k, row in rows.items()},
            "agrees with Ward": {k: row.ward for k, row in rows.items()},
            "agrees with average linkage": {k: row.average for k, row in rows.items()},
            "silhouette": {k: row.silhouette for k, row in rows.items()},
        }
        return criteria_by_number(curves, n_clusters=record.best, ax=ax)
    if kind == "strength":
        strengths = {k: row.strength for k, row in rows.items()}
        errors = {k: row.strength_error for k, row in rows.items()}
        return prediction_strengths(strengths, errors, n_clusters=record.best, ax=ax)
    bands = {k: (row.reference_low, row.reference_mean, row.reference_high) for k, row in rows.items()}
    return evidence_by_number({k: row.log_within for k, row in rows.items()}, bands, n_clusters=record.best, ax=ax)


@draw.register(MontiChoice)
def _(record: MontiChoice, kind: str, ax: Axes | None) -> Axes:
    check_choice(kind, "kind of MontiChoice.plot", ("pac", "cdf", "delta_area"))
    rows, best = record.table, record.best
    if kind == "cdf":
        return consensus_cdfs({k: consensus_cdf(E) for k, E in record.ensembles.items()}, n_clusters=best, ax=ax)
    if kind == "delta_area":
        return delta_areas({row.k: row.delta_area for row in rows}, n_clusters=best, ax=ax)
    reference = {row.k: row.reference_pac for row in rows if row.reference_pac is not None}
    return stability_curves({row.k: row.pac for row in rows}, reference or None, n_clusters=best, ax=ax)


@draw.register(ResolutionChoice)
def _(record: ResolutionChoice, kind: str, ax: Axes | None) -> Axes:
    check_choice(kind, "kind of ResolutionChoice.plot", ("clustree", "stability"))
    if kind == "clustree":
        return clustree(record.labels, color=record.cluster_stability, n_clusters=record.resolution, ax=ax)
    return stability_by_resolution(
        {row.resolution: row.stability for row in record.table},
        {row.resolution: row.found_again for row in record.table},
        plateaus=[(plateau.resolutions[0], plateau.resolutions[-1]) for plateau in record.plateaus],
        best=record.best,
        ax=ax,
    )


@draw.register(MethodComparison)
def _(record: MethodComparison, kind: None, ax: Axes | None) -> Axes:
    return agreement(record.ari, names=record.names, ax=ax)


@draw.register(ClusterStability)
def _(record: ClusterStability, kind: None, ax: Axes | None) -> Axes:
    return cluster_jaccards(record.jaccard, names=[row.cluster for row in record.table], ax=ax)


@draw.register(PredictionStrength)
def _(record: PredictionStrength, kind: None, ax: Axes | None) -> Axes:
    means = {row.k: row.mean for row in record.table}
    errors = {row.k: row.standard_error for row in record.table}
    return prediction_strengths(means, errors, n_clusters=record.best, ax=ax)


@draw.register(Profile)
def _(record: Profile, kind: str, ax: Axes | None) -> Axes | list[Axes]:
    check_choice(kind, "kind of Profile.plot", ("heat map", "variables"))
    names = [cluster.cluster for cluster in record.clusters]
    if kind == "variables":
        return variable_panels(panels_of(record._compared, names))
    shown = heat_map_of(record._compared, names)
    return profile_heat_map(shown["z"], shown["variables"], names=shown["clusters"], ax=ax)
