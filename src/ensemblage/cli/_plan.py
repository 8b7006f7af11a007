"""What a run is going to do, and about how long that takes."""

from __future__ import annotations

from ensemblage.choices._chooser import MOST_CHOSEN_ON
from ensemblage.choices._plan import Plan, value_text
from ensemblage.cli._generation import DIVERSE, GENIE, INDEPENDENT, SCALED, Generation
from ensemblage.generation._dense_rows import size_of_sample
from ensemblage.generation._diverse import MOST_FULL
from ensemblage.pipeline._default_plan import COPIES
from ensemblage.report._figure_data import may_try_umap
from ensemblage.report._layout import plural

LONG = 120
"""Seconds from which minutes are said."""
KNOWN = (SCALED, "eac-average")
"""The generator and method whose time follows the size of the data as it is known: the default."""
STEPS = (10, 15, 20, 30, 45, 60, 90, 120, 180, 300, 600, 900, 1_200, 1_800, 3_600)
"""Seconds that are said."""
LEAST, MOST = 0.5, 2
"""Of an estimate: docs/BENCHMARKS.md has processor seconds beside estimates."""
OF_UMAP = 6.0
"""Seconds of umap-learn's import, and of the functions that it compiles in every process."""


def plan_text(plan: Plan, generation: Generation, n_left_out: int = 0) -> str:
    """A line for people; ``n_left_out`` columns are left out in turn."""
    n, m, n_resamples = plan.n_objects, plan.n_features, plan.stability.value
    steps = [f"{plural(n, 'object')} × {plural(m, 'feature')}"]
    if plan.is_learned:
        among = f" with {value_text(plan.n_clusters.value)} clusters" * plan.finds_k
        steps.append(f"trees that learned on synthetic sets rate candidate partitions{among}")
    elif plan.chooses_k:
        steps.append(f"the number of clusters is looked for among {value_text(plan.n_clusters.value)}")
    if m:
        steps.append(_members_text(generation) + f" ({COPIES})" * (COPIES in plan.members.reason))
    steps.append(f"{plan.combiner.value} combines them")
    repeats = [f"for {n_resamples} resamples"] * bool(n_resamples)
    repeats += [f"without each of {n_left_out} columns"] * bool(n_left_out)
    if repeats:
        steps.append(f"all of this is repeated {' and '.join(repeats)}")
    if m and (generation.generator, plan.combiner.value) == KNOWN:
        estimate = estimate_seconds(n, m, n_resamples + n_left_out) + OF_UMAP * may_try_umap(n, m)
        steps.append(f"{duration_range_text(estimate)} on a free core")
    return "; ".join(steps)


def _members_text(generation: Generation) -> str:
    """Who makes the base clusterings."""
    if generation.generator == DIVERSE:
        return "base clusterings by mixtures, spectral clustering and Genie"
    if generation.generator == SCALED:
        return "base clusterings by several algorithms in several scales"
    several = f"{generation.partitions} " * (generation.generator in (*INDEPENDENT, GENIE))
    return f"{several}base clusterings by {generation.generator}"


def estimate_seconds(n: int, m: int, n_repeats: int) -> float:
    """About how long a run with the default takes on one core, with its imports and its page, all kernels compiled.

    Fitted by eye to runs of 178 to 200,000 objects with 5 to 500 features, ``n_repeats`` of them again on resamples or
    without a column; `LEAST` and `MOST` say how well it holds.
    """
    clustered = size_of_sample(n) or n
    of_features = 1 + (m / 20) ** 2 if m <= MOST_FULL else 1 + m / 50  # mixtures have full covariances or none
    members = 1.4e-4 * clustered * of_features
    pairs = 1.5e-8 * clustered**2  # average linkage
    rest = 0.0 if clustered == n else 1e-6 * n * m  # for the nearest of the sample
    ratings = 0.15 + 1.1 * min(1.0, n / MOST_CHOSEN_ON) * (1 + m / 150)
    again = pairs + 0.2 * (members + rest)  # with k known, and those members alone that have weights
    return 2.2 + ratings + members + pairs + rest + again * n_repeats


def duration_range_text(seconds: float) -> str:
    """The times between which an estimate lies, both easily said."""
    low = max((step for step in STEPS if step <= LEAST * seconds), default=0)
    high = min((step for step in STEPS if step >= MOST * seconds), default=0)
    if not high:
        return f"{_duration_text(low)} or more"
    if not low:
        return f"up to {_duration_text(high)}"
    of_one_unit = (low < LONG) == (high < LONG)
    return f"{_duration_text(low).partition(' ')[0] if of_one_unit else _duration_text(low)} to {_duration_text(high)}"


def _duration_text(seconds: int) -> str:
    return f"{seconds} seconds" if seconds < LONG else f"{seconds // 60} minutes"
