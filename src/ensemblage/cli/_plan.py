"""What a run is going to do, and about how long that takes."""

from __future__ import annotations

from ensemblage.answer import Plan
from ensemblage.answer._plan import value_text
from ensemblage.cli._generation import DIVERSE, GENIE, INDEPENDENT, RANDOM_K, SCALED, Generation
from ensemblage.generation._dense_rows import size_of_sample
from ensemblage.report._layout import plural

LONG = 120
"""Seconds from which minutes are said."""
KNOWN = ((SCALED, "eac-average"), (DIVERSE, "eac-average"), (RANDOM_K, "km"))
"""Generators and methods whose time follows the size of the data as it is known: the defaults."""
STEPS = (10, 15, 20, 30, 45, 60, 90, 120, 180, 300, 600, 900, 1_200, 1_800, 3_600)
"""Seconds that are said."""
LEAST, MOST = 0.5, 2.5
"""Of an estimate. Eight runs without -k, of 300 to 20,000 objects, took .5 to 2.2 of theirs on two cores that had other
work, too, and one 2.4: where the criteria disagree, several algorithms are asked for the number of clusters."""


def plan_text(plan: Plan, generation: Generation) -> str:
    """A line for people."""
    n, m, n_resamples = plan.n_objects, plan.n_features, plan.stability.value
    steps = [f"{plural(n, 'object')} × {plural(m, 'feature')}"]
    if plan.is_learned:
        among = f" with {value_text(plan.n_clusters.value)} clusters" * plan.finds_k
        steps.append(f"trees that learned on synthetic sets rate candidate partitions{among}")
    elif plan.chooses_k:
        steps.append(f"the number of clusters is looked for among {value_text(plan.n_clusters.value)}")
    if m:
        steps.append(_members_text(generation))
    steps.append(f"{plan.combiner.value} combines them")
    if n_resamples:
        steps.append(f"all of this is repeated for {n_resamples} resamples")
    if m and (generation.generator, plan.combiner.value) in KNOWN:
        numbers = plan.n_clusters.value
        looked_for = (numbers[0], numbers[-1]) if isinstance(numbers, tuple) else None
        steps.append(duration_range_text(estimate_seconds(n, m, generation, looked_for, n_resamples)))
    return "; ".join(steps)


def _members_text(generation: Generation) -> str:
    """Who makes the base clusterings."""
    if generation.generator == DIVERSE:
        return "base clusterings by mixtures, spectral clustering and Genie"
    if generation.generator == SCALED:
        return "base clusterings by several algorithms in several scales"
    several = f"{generation.partitions} " * (generation.generator in (*INDEPENDENT, GENIE))
    return f"{several}base clusterings by {generation.generator}"


def estimate_seconds(
    n: int, m: int, generation: Generation, looked_for: tuple[int, int] | None, n_resamples: int
) -> float:
    """About how long a run with the default methods takes on two cores, with its imports and its page.

    Fitted by eye to runs of 300 to 100,000 objects with 10 to 1,000 features; `LEAST` and `MOST` say how well it holds.
    """
    if generation.generator == DIVERSE:
        once = 0.3 + 1e-4 * n * (1 + m / 50)
    elif generation.generator == SCALED:
        sample_size = size_of_sample(n)
        once = 0.1 + 1.2e-4 * (sample_size or n) * (1 + m / 50)
        once += 0 if sample_size is None else 4e-6 * n * m  # for the nearest of the sample
    else:
        once = 3e-6 * n * generation.partitions * (1 + m / 50)
    choice = 0.0
    if generation.generator == SCALED:  # in a sample, whether k is known or not
        choice = 2.5 * min(1.0, n / 1_500) * (1 + m / 50)
    elif looked_for is not None:  # in a sample, with clouds as wide as the data
        choice = (6 + 0.3 * min(m, n, 100)) * min(1.0, n / 300) * (looked_for[1] - looked_for[0] + 1) / 9
    return 5 + once + choice + 0.2 * once * n_resamples


def duration_range_text(seconds: float) -> str:
    """The times between which an estimate lies, both easily said."""
    low = max((step for step in STEPS if step <= LEAST * seconds), default=0)
    high = min((step for step in STEPS if step >= MOST * seconds), default=0)
    if 0 < high <= STEPS[1]:
        return "some seconds"
    if not high:
        return f"{_duration_text(low)} or more"
    if not low:
        return f"up to {_duration_text(high)}"
    of_one_unit = (low < LONG) == (high < LONG)
    return f"{_duration_text(low).partition(' ')[0] if of_one_unit else _duration_text(low)} to {_duration_text(high)}"


def _duration_text(seconds: int) -> str:
    return f"{seconds} seconds" if seconds < LONG else f"{seconds // 60} minutes"
