"""How the commands make base partitions, what a run is going to do, and about how long that takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ensemblage import Ensemble
from ensemblage.base.options import BY_CONSENSUS, DEFAULT_SELECTION, LEARNED, Option
from ensemblage.choices._chooser import MOST_CHOSEN_ON, candidate_named, candidate_text
from ensemblage.choices._plan import Plan, value_text
from ensemblage.cli._options import option_text
from ensemblage.cli._progress import announce_notes
from ensemblage.cli._source import InputFile
from ensemblage.generation import (
    DiversePartitions,
    GeniePartitions,
    GreedyPartitions,
    MixedPartitions,
    ProjectionPartitions,
    RandomKPartitions,
    SubspacePartitions,
    USpecPartitions,
)
from ensemblage.generation._candidates import pairs_of
from ensemblage.generation._clusterers import fewer_clusters_text
from ensemblage.generation._dense_rows import size_of_sample
from ensemblage.generation._diverse import MOST_FULL
from ensemblage.generation._kmeans import N_STEPS
from ensemblage.generation._mixed import N_ALGORITHMS
from ensemblage.io._features import Features
from ensemblage.pipeline._decisions import COPIES, default_method, diverse_generator
from ensemblage.pipeline._run import Data
from ensemblage.report._figure_data import may_try_umap
from ensemblage.report._layout import plural

INDEPENDENT: dict[str, Callable[..., RandomKPartitions]] = {
    "random-k": RandomKPartitions,
    "subspace": SubspacePartitions,
    "projection": ProjectionPartitions,
    "gower": RandomKPartitions,
    "uspec": USpecPartitions,
}
SAMPLED = ("random-k", "subspace", "projection")
"""Those that may fit k-means on a sample of the rows."""
OF_A_MATRIX = (*SAMPLED, "uspec")
"""Those that take a .npy file of features."""
GREEDY, MIXED, GOWER, GENIE, USPEC = "greedy", "mixed", "gower", "genie", "uspec"
DIVERSE, RANDOM_K = "diverse", "random-k"
SCALED = "scaled"
"""What makes the partitions that get learned weights; nobody names it."""
N_PARTITIONS = 50
"""Unless another number is asked for."""


@dataclass(frozen=True)
class Generation:
    """What is asked of the base partitions."""

    generator: str
    partitions: int
    k: int | None
    """Clusters of the last stage of "greedy", of every member of "mixed" (None: the root of the objects), and about as
    many of the members of "diverse" (None: different numbers)."""
    seed: int
    n_jobs: int | None
    category_weight: float = 1.0
    """Of a category that is a member, in columns of features."""
    sample_size: int | str | None = "auto"
    """Rows that each k-means is fitted on first."""
    quality: str = "default"
    """As of `ConsensusClustering`, where no generator was named."""
    is_chosen: bool = False
    """Whether no generator was named."""
    selection: str = BY_CONSENSUS
    """As of `ConsensusClustering`, where no generator was named."""

    @classmethod
    def of(cls, k: int | None, settings: dict[str, Any], seed: int, n_jobs: int) -> Generation:
        """Take what concerns the base partitions out of the settings of a command.

        Without a generator it is "diverse" where a quality may be asked for, unless "fast" is asked for, or what only
        k-means has.
        """
        weight, sample_size = settings.pop("category_weight"), settings.pop("sample_size")
        generator, partitions = settings.pop("generator"), settings.pop("partitions")
        quality, selection = settings.pop("quality", "fast"), settings.pop("selection", BY_CONSENSUS)
        if generator is not None and quality == "best":
            raise ValueError(
                f"--quality best must go without --generator: it chooses one itself. Got --generator {generator}. "
                f"Leave one out."
            )
        other = _option_of_others(generator, quality, partitions, sample_size)
        if selection == LEARNED and other is not None:
            raise learned_beside(other)
        is_chosen = generator is None
        if is_chosen:
            of_kmeans = quality == "fast" or partitions is not None or sample_size != "auto"
            generator = RANDOM_K if of_kmeans else DIVERSE
        return cls(
            generator=generator,
            partitions=partitions or N_PARTITIONS,
            k=k,
            seed=seed,
            n_jobs=n_jobs,
            category_weight=weight,
            sample_size=sample_size,
            quality=quality,
            is_chosen=is_chosen,
            selection=selection or DEFAULT_SELECTION,
        )

    def wish(self) -> Any:
        """The generator as `PlanRequest` has it: None where the data and the quality decide."""
        is_own = self.is_chosen and self.partitions == N_PARTITIONS and self.sample_size == "auto"
        if is_own and (self.generator == DIVERSE or self.quality == "fast"):
            return None
        unthreaded = replace(self, n_jobs=None)
        return replace(unthreaded, k=None).estimator() if self.generator == DIVERSE else unthreaded.estimator()

    def of_plan(self, plan: Plan) -> Generation:
        """What a plan has decided where no generator was named: k-means alone of very many, for example."""
        if not self.is_chosen or self.generator != DIVERSE or isinstance(plan.generator, DiversePartitions):
            return self
        return replace(self, generator=SCALED if plan.is_learned else RANDOM_K)

    @property
    def method(self) -> str:
        """What combines its partitions where no method is named."""
        return default_method(diverse_generator(self.quality) if self.generator == DIVERSE else None)

    def may_take(self, method: str) -> bool:
        """Whether a method is what may combine its partitions where none is named; the data decide."""
        return method == self.method or (self.is_chosen and method == default_method(None))

    def check(self) -> None:
        """What can be said before the work begins."""
        if self.generator == GREEDY and self.k is None:
            raise ValueError(
                "-k must be given for the generator greedy, which adds clusters up to that number. Got none. Add "
                "-k, or choose another --generator."
            )
        if isinstance(self.sample_size, int) and self.generator not in SAMPLED:
            raise ValueError(
                f"--sample-size must be auto or all for a generator other than {', '.join(SAMPLED)}. "
                f"Got {self.sample_size} for {self.generator}. Leave it out."
            )

    def identity(self) -> dict[str, Any]:
        """All that the ensemble depends on beside the data."""
        chosen: dict[str, Any] = {} if self.category_weight == 1 else {"member-weight": self.category_weight}
        if self.generator == GREEDY:
            return {**chosen, "generator": GREEDY, "greedy_k": self.k, "seed": self.seed}
        if self.generator == MIXED:
            return {**chosen, "generator": MIXED, "mixed_k": self.k, "seed": self.seed}
        if self.generator in (DIVERSE, SCALED):
            return {**chosen, "generator": self.generator, "quality": self.quality, "seed": self.seed}
        chosen |= {} if self.generator == RANDOM_K else {"generator": self.generator}
        if self.sample_size != "auto":
            chosen["fit_on"] = "all" if self.sample_size is None else str(self.sample_size)
        return {**chosen, "partitions": self.partitions, "seed": self.seed}

    def independent(self, estimator: Any = None) -> Any:
        """The generator, if its partitions do not depend on each other; ``estimator`` is what clusters, if it may."""
        if self.generator not in INDEPENDENT or (estimator is not None and self.generator not in OF_A_MATRIX):
            raise ValueError(
                f"The generator for a .npy file must be one of {', '.join(OF_A_MATRIX)}. "
                f"Got {self.generator}. Choose one of these, or a .npz file."
            )
        make = INDEPENDENT[self.generator]
        if self.generator == USPEC:
            return make(self.partitions, random_state=self.seed, n_jobs=self.n_jobs)
        if self.generator == GOWER:
            from sklearn.cluster import AgglomerativeClustering

            estimator = AgglomerativeClustering(metric="precomputed", linkage="average")
        common = {"random_state": self.seed, "n_jobs": self.n_jobs, "sample_size": self.sample_size}
        return make(self.partitions, estimator=estimator, **common)

    def notes(self, n_rows: int) -> tuple[str, ...]:
        """What is to say of k-means on a sample of so many rows."""
        size = self.independent()._sample_size_of(n_rows) if self.generator in SAMPLED else None
        if size is None:
            return ()
        sample = f"{size:,} of the {n_rows:,} rows, then {N_STEPS} steps on all"
        return (f"each k-means was fitted on {sample} (--sample-size all fits it on all)",)

    def announce_features(self, features: Features, name: str) -> Features:
        """The features, with a note of what the base partitions do with that many; it is said, too."""
        notes = self.notes(len(features.X)) if features.X.shape[1] else ()
        announce_notes(name, notes)
        return replace(features, notes=(*features.notes, *notes))

    @staticmethod
    def announce_fewer(name: str, features: Features, ensemble: Ensemble, generator: Any) -> Features:
        """The features, with a note of the partitions that have fewer clusters than were asked for; it is said, too."""
        asked = [] if generator is None else generator.n_clusters_.tolist()
        names = [candidate_text(c) if (c := candidate_named(name)) else name for name in ensemble.names[: len(asked)]]
        fewer = fewer_clusters_text(names, asked, ensemble.n_clusters[: len(asked)].tolist())
        notes = (fewer,) if fewer else ()
        announce_notes(name, notes)
        return replace(features, notes=(*features.notes, *notes))

    def data(self, features: Features, links: Mapping[str, Any] | None = None) -> Data:
        """What is clustered: features, or distances of all pairs."""
        distances = features.distances if self.generator == GOWER and features.X.shape[1] else None
        return Data(
            features.X, features.members, features.n_columns, self.category_weight, distances, links=links or {}
        )

    def source(self, source: InputFile) -> InputFile:
        """What is read: distances do without missing values, which are filled for pictures alone."""
        if self.generator != GOWER:
            return source
        options = {**source.options, "impute": source.options["impute"] or "median"}
        return replace(source, options=options, by_distance=True)

    def check_features(self, features: Features, with_range: bool, name: str) -> None:
        """What can be said before the work begins."""
        if features.X.shape[1] == 0 and with_range:
            raise ValueError(
                f"--k-range needs columns that are features. {name} has none with --categories member. "
                "Leave one of them out."
            )

    def estimator(self) -> Any:
        """The generator, unfitted."""
        if self.generator == GREEDY:
            return GreedyPartitions(self.k, random_state=self.seed, n_jobs=self.n_jobs)
        if self.generator == DIVERSE:
            return diverse_generator(self.quality, self.k).set_params(random_state=self.seed, n_jobs=self.n_jobs)
        if self.generator == MIXED:
            return MixedPartitions(self.k or "sqrt", random_state=self.seed, n_jobs=self.n_jobs)
        return GeniePartitions(self.partitions) if self.generator == GENIE else self.independent()

    def n_steps(self, generator: Any, shape: tuple[int, ...]) -> int:
        """How often progress is reported while it makes partitions of (n, m) features."""
        if self.generator == DIVERSE:
            return len(generator._recipes(*shape))
        if self.generator == SCALED:
            return len(pairs_of(*shape))
        return N_ALGORITHMS if self.generator == MIXED else self.partitions


def _option_of_others(generator: str | None, quality: str, partitions: int | None, sample_size: Any) -> Option | None:
    """The first option that asks for other partitions than those that may get learned weights."""
    asked = {
        "generator": generator,
        "quality": "fast" if quality == "fast" else None,
        "partitions": partitions,
        "sample_size": {"auto": None, None: "all"}.get(sample_size, sample_size),
    }
    return next((Option(name, value) for name, value in asked.items() if value is not None), None)


def learned_beside(other: Option) -> ValueError:
    """The error of who asks for learned weights, and by another option for what has none."""
    return ValueError(
        f"--selection {LEARNED} is for the generator and the method that it chooses. Got {option_text(other)}. "
        "Leave one out."
    )


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
        steps.append(_members_text(generation) + f" ({COPIES})" * (COPIES in plan.partitions.reason))
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
    """Who makes the base partitions."""
    if generation.generator == DIVERSE:
        return "base partitions by mixtures, spectral clustering and Genie"
    if generation.generator == SCALED:
        return "base partitions by several algorithms in several scales"
    several = f"{generation.partitions} " * (generation.generator in (*INDEPENDENT, GENIE))
    return f"{several}base partitions by {generation.generator}"


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
