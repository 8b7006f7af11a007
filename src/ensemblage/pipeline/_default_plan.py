"""What is checked and prepared before a plan is made of it."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from ensemblage.base.options import DEFAULT_SELECTION, SELECTIONS
from ensemblage.base.text import some
from ensemblage.base.validation import (
    Constraints,
    Estimator,
    Flag,
    Whole,
    Words,
    check_value,
    format_value,
    n_distinct_rows,
)
from ensemblage.choices._plan import Decision, Plan
from ensemblage.consensus._base import BaseConsensus
from ensemblage.consensus._method import METHODS, check_k
from ensemblage.consensus._own import OwnConsensus, parameter_for_k
from ensemblage.io._anndata import as_table
from ensemblage.io._encoding import IMPUTE
from ensemblage.io._preprocessor import Preprocessor
from ensemblage.io._scaling import AUTO, scaling_of
from ensemblage.labels.coding import check_sample_weight
from ensemblage.pipeline._decisions import (
    PlanRequest,
    estimator_text,
    plan_of,
    takes_distances,
)
from ensemblage.pipeline._run import set_weights

QUALITIES = ("fast", "default", "best")
MOST_NAMED = 5
"""Columns that an error names."""
PARAMETERS: Constraints = {
    "n_clusters": [Whole(1), None],
    "generator": [
        Estimator("a transformer of features to labels", "fit_transform", "Give RandomKPartitions(50), for example."),
        None,
    ],
    "consensus": [
        Estimator("a consensus estimator", "fit", "Give KMeansConsensus(3), for example."),
        Words(METHODS, called="a name in ensemblage.METHODS"),
        None,
    ],
    "quality": [Words(QUALITIES)],
    "selection": [Words(SELECTIONS)],
    "standardize": [Flag(), Words(["auto"])],
    "impute": [IMPUTE, None],
    "preprocessor": [
        Estimator("a transformer of tables to features", "fit_transform", "Give Preprocessor(), for example."),
        None,
    ],
    "allow_one": [Flag()],
}
"""What `default_plan` and `ConsensusClustering` take, by name."""


def default_plan(
    X: Any,
    n_clusters: int | None = None,
    *,
    generator: Any = None,
    consensus: Any = None,
    quality: Literal["fast", "default", "best"] = "default",
    selection: Literal["learned", "consensus"] = DEFAULT_SELECTION,
    standardize: bool | Literal["auto"] = "auto",
    impute: str | None = None,
    preprocessor: Any = None,
    allow_one: bool = False,
    k_range: Iterable[int] | None = None,
    n_resamples: int | None = 0,
    sample_weight: ArrayLike | None = None,
) -> Plan:
    """`ConsensusClustering.plan` under its name of before 1.0, with the numbers to choose from and the resamples."""
    given = {
        "n_clusters": n_clusters,
        "generator": generator,
        "consensus": consensus,
        "quality": quality,
        "selection": selection,
        "standardize": standardize,
        "impute": impute,
        "preprocessor": preprocessor,
        "allow_one": allow_one,
    }
    for name, value in given.items():
        check_value(value, f"{name} of default_plan", PARAMETERS[name])
    check_value(n_resamples, "n_resamples of default_plan", [Whole(0), None])
    check_preparation("default_plan", standardize, impute, preprocessor)
    numbers = None if k_range is None else check_numbers_of_clusters(k_range, n_clusters)
    prepared = prepare(X, generator, standardize, impute, preprocessor)
    if sample_weight is not None:
        check_sample_weight(sample_weight, prepared.features.shape[0])
    request = PlanRequest(
        n_clusters=n_clusters,
        generator=generator,
        consensus=consensus,
        quality=quality,
        allow_one=allow_one,
        k_range=numbers,
        n_resamples=n_resamples,
        is_anndata=prepared.is_anndata,
        is_weighted=sample_weight is not None,
        selection=selection,
    )
    plan = plan_of(prepared.features, prepared.preprocessor, request)
    check_plan(plan)
    return plan


class Prepared(NamedTuple):
    """What is clustered, and what made it."""

    table: Any
    """X as it is read; of AnnData its matrix."""
    features: Any
    """(n, m)"""
    preprocessor: Any
    """Fitted."""
    is_anndata: bool


def prepare(
    X: Any, generator: Any, standardize: bool | Literal["auto"], impute: str | None, preprocessor: Any
) -> Prepared:
    """The features of X, by the preprocessor that was given or one with these options."""
    if getattr(X, "is_counted", False):
        raise TypeError(
            f"X must be a table of features. Got labels: {X!r}. Fit a consensus method such as KMeansConsensus to "
            f"labels."
        )
    table = as_table(X)
    is_anndata = table is not X
    own = Preprocessor(standardize=scaling_of(is_anndata, standardize), impute=impute)
    fitted = own if preprocessor is None else clone(preprocessor)
    if takes_distances(generator) and fitted.get_params().get("impute", "") is None:
        fitted.set_params(impute="median")  # of what is not clustered: distances do without
    return Prepared(table, fitted.fit_transform(table), fitted, is_anndata)


def check_preparation(subject: str, standardize: Any, impute: Any, preprocessor: Any) -> None:
    """What is prepared by a preprocessor of one's own is its affair."""
    asked = {"standardize": standardize} if standardize != AUTO else {}
    asked |= {} if impute is None else {"impute": impute}
    if preprocessor is not None and asked:
        name, value = next(iter(asked.items()))
        raise ValueError(
            f"{name} of {subject} must be left out if a preprocessor is given. Got {format_value(value)}. "
            "Give it to the preprocessor, or leave one of the two out."
        )


def check_numbers_of_clusters(k_range: Any, n_clusters: int | None) -> tuple[int, ...]:
    """The numbers, ascending; which of them the data allow, `choose_k` says."""
    if not isinstance(k_range, Iterable) or isinstance(k_range, str | bytes):
        raise TypeError(
            f"k_range of default_plan must be several numbers. Got {format_value(k_range)}. "
            "Give range(2, 11), for example."
        )
    if n_clusters is not None:
        raise ValueError(
            f"n_clusters of default_plan must be None if k_range is given. Got {n_clusters}. Leave one of them out."
        )
    numbers = list(k_range)
    for k in numbers:
        check_value(k, "Every k in k_range of default_plan", [Whole(2)])
    if not numbers:
        raise ValueError(
            "k_range of default_plan must hold at least one number. Got none. Give range(2, 11), for example."
        )
    return tuple(sorted({int(k) for k in numbers}))


def with_consensus(plan: Plan, consensus: Any) -> Plan:
    """The plan with an unfitted consensus that has parameters of its own."""
    combiner = Decision(estimator_text(consensus, ("n_clusters",)), "It was given.")
    return replace(plan, combiner=combiner, consensus=consensus)


def check_plan(plan: Plan, is_weighted: bool = False) -> None:
    """Refuse a consensus that has no use for the number of clusters, or cannot find it where none is given.

    ``is_weighted``: also one that takes no weights, for categories weigh otherwise than the other partitions.
    """
    if is_weighted:
        set_weights(clone(plan.consensus), [1, 2])
    if plan.n_clusters.value is not None and isinstance(plan.consensus, OwnConsensus):
        parameter_for_k(plan.consensus.estimator)
    if isinstance(plan.consensus, BaseConsensus):
        k = plan.n_clusters.value
        check_k(plan.consensus, k[0] if isinstance(k, tuple) else k)


def check_votes(generator: Any, members: Collection[str]) -> None:
    """Refuse votes on noise where −1 means something else, or categories label every object."""
    if getattr(generator, "_draws_rows", False):
        raise ValueError(
            "noise must be 'missing' with a generator that clusters some of the objects, for -1 means that one was not "
            f"drawn. Got 'vote' and {type(generator).__name__}. Give fraction=1 and bootstrap=False."
        )
    if members:
        raise ValueError(
            "noise must be 'missing' where categories are members: they have no noise. Got 'vote' and "
            f"{some(list(members), MOST_NAMED)}. Encode categories as features, or leave these columns out."
        )


def check_n_clusters(k: int | None, features: NDArray[np.float64], subject: str, of: str) -> None:
    """More clusters than different rows cannot be: said before the work begins."""
    if k is None or not features.shape[1] or (n := n_distinct_rows(features, k)) >= k:
        return
    rows = f"{n:,} different row{'s' * (n != 1)}"
    raise ValueError(f"{subject} must be ≤ the {rows} of {of}. Got {k}. Ask for fewer clusters.")
