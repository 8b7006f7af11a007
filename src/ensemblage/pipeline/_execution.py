"""The steps of a plan: choose the number of clusters, make the partitions, combine them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from ensemblage.base.options import Message, Option
from ensemblage.base.random import task_seeds
from ensemblage.base.text import some
from ensemblage.choices._choose_k import FEW, choose_k, too_few_rows
from ensemblage.choices._chooser import NO_WEIGHT, Chosen, choose_candidate, weigh_again
from ensemblage.choices._k_choice import KChoice
from ensemblage.choices._plan import Plan
from ensemblage.generation import DiversePartitions
from ensemblage.generation._base import ensemble_of
from ensemblage.generation._candidates import Made
from ensemblage.generation._dense_rows import dense_rows
from ensemblage.generation._diverse import numbers_near
from ensemblage.labels.coding import MISSING
from ensemblage.labels.ensemble import Ensemble

MOST_NAMED = 5
"""Columns that an error names."""


def choice_of(
    plan: Plan,
    features: Any,
    seed: int,
    n_jobs: int | None,
    progress: Callable[[int, int], None] | None = None,
) -> KChoice | None:
    """What `choose_k` finds in features, (n, m); None where the plan does not ask it."""
    if not plan.chooses_k:
        return None
    return choose_k(features, plan.k_range, standardize=False, n_jobs=n_jobs, random_state=seed, progress=progress)


def chosen_of(
    plan: Plan,
    features: Any,
    seed: int,
    n_jobs: int | None,
    progress: Callable[[int, int], None] | None = None,
    made: Made | None = None,
) -> Chosen | None:
    """The learned choice among candidate partitions of features, (n, m); None where the plan makes none.

    ``made`` gets what `generator_of` need not make again.
    """
    if not plan.is_learned:
        return None
    generator, some = plan.generator, features
    if generator.sample_size is not None:
        some = np.asarray(features, dtype=np.float64)  # as the generator draws
        rows = dense_rows(some, generator.sample_size, seed, n_jobs)
        some = some[rows]
        if made is not None:
            made.rows = rows
    how = {"units": generator.units, "n_jobs": n_jobs, "progress": progress, "made": made}
    return choose_candidate(some, plan.k, ks=plan.k_range, **how)


def number_of_clusters(plan: Plan, choice: KChoice | None, chosen: Chosen | None = None) -> int | None:
    """The number that was given or chosen, refused where few objects do not show it; None: the combiner finds it."""
    if chosen is not None:
        may_be_one = plan.allow_one and plan.k is None
        return 1 if may_be_one and not chosen.is_clear else chosen.n_clusters
    if choice is None:
        return plan.k
    k = choice.n_clusters(plan.allow_one)
    if plan.n_objects < FEW and plan.k_range is None and k > 1 and choice.evidence not in ("clear", "likely"):
        raise too_few_rows(plan.n_objects)
    return k


def generator_of(
    plan: Plan,
    k: int | None,
    seed: int,
    n_jobs: int | None,
    progress: Callable[[int, int], None] | None = None,
    chosen: Chosen | None = None,
    made: Made | None = None,
) -> Any:
    """The unfitted generator, with seeds and threads, and the number of clusters where it takes its members near it.

    What `chosen_of` has ``made`` of the same features it does not make again in its next ``fit``.
    """
    near: dict[str, Any] = {"n_clusters": numbers_near(k)} if isinstance(plan.generator, DiversePartitions) else {}
    if chosen is not None:
        near = {"n_clusters": sorted({k for _, _, k in chosen.weights})}
        near["algorithms"] = list(dict.fromkeys(f"{view} {family}" for view, family, _ in chosen.weights))
    generator = fill_defaults(clone(plan.generator), seed, n_jobs, progress=progress, **near)
    if chosen is not None:
        generator._take_made(made)
    return generator


def consensus_of(plan: Plan, k: int | None, seed: int, n_jobs: int | None) -> Any:
    """The unfitted consensus of k clusters, with seeds and threads."""
    consensus = clone(plan.consensus)
    if k is not None:
        consensus.set_params(n_clusters=k)
    return fill_defaults(consensus, seed, n_jobs)


def fill_defaults(estimator: Any, seed: int, n_jobs: int | None, **more: Any) -> Any:
    """The estimator with threads and every seed of its own and of its parts set that it was not given."""
    missing = sorted(name for name, value in estimator.get_params().items() if value is None)
    nested = [name for name in missing if name.endswith("__random_state")]
    values = dict(zip(nested, task_seeds(seed, len(nested)).tolist(), strict=True))
    values |= {"n_jobs": n_jobs, "random_state": seed} | more
    return estimator.set_params(**{name: value for name, value in values.items() if name in missing})


def generated(
    generator: Any,
    X: NDArray[Any] | None,
    members: Mapping[str, NDArray[np.int32]],
    sample_weight: NDArray[np.int64] | None = None,
    noise: Literal["missing", "vote"] = MISSING,
) -> Ensemble:
    """The partitions of X, (n, m) features or (n, n) distances, and then those that categories are.

    Without X the categories alone. The generator is fitted. ``noise`` is what −1 of its partitions says of an object.
    """
    made = None if X is None else ensemble_of(generator, X, sample_weight, noise)
    if members:
        return append_members(made, members)
    if made is None:
        raise ValueError(
            "The features must have at least one column. Got none. Give a table with a column of numbers or categories."
        )
    return made


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


def append_members(ensemble: Ensemble | None, members: Mapping[str, NDArray[np.int32]]) -> Ensemble:
    """The ensemble with categories as further partitions."""
    columns = [*([] if ensemble is None else [np.asarray(ensemble)]), *members.values()]
    return Ensemble._made(np.column_stack(columns), names=[*([] if ensemble is None else ensemble.names), *members])


def weights_of_members(n_made: int, n_members: int, n_columns: int, weight: float) -> list[float] | None:
    """1 for each of p partitions made from ``n_columns`` columns; ``weight`` · p / n_columns for each category.

    None if there are partitions of one kind alone.
    """
    if n_made == 0 or n_members == 0:
        return None
    return [1.0] * n_made + [weight * n_made / n_columns] * n_members


def weighed(chosen: Chosen, made: Made, generator: Any, n_jobs: int | None) -> Chosen:
    """The choice with the weights of the partitions that a `ScaledPartitions` has made after it."""
    return weigh_again(chosen, made, dict(zip(generator._candidates, generator._labels.T, strict=True)), n_jobs)


def learned_weights(generator: Any, chosen: Chosen) -> list[float]:
    """(p,) of the partitions of a fitted `ScaledPartitions`; one that it left out weighs next to nothing."""
    return [chosen.weights.get(candidate, NO_WEIGHT) for candidate in generator._candidates]


def set_weights(consensus: Any, weights: list[float] | None) -> Any:
    """The consensus with these weights of the partitions; unequal ones need a method that has them."""
    if weights is None or min(weights) == max(weights):
        return consensus
    known = consensus.get_params()
    if "weights" not in known or known["weights"] is not None:
        why = "has no weights" if "weights" not in known else "has weights of its own"
        rule = "Categories that are members need weights of the partitions."
        encode = Option("categories", "encode")
        raise ValueError(Message(f"{rule} {type(consensus).__name__} {why}. Use ", encode, " instead."))
    return consensus.set_params(weights=weights)
