"""The plan for features: `plan_of`, and one function for each decision, which gives its value and its reason."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from inspect import Parameter, signature
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

from ensemblage.base.options import DEFAULT_SELECTION, LEARNED
from ensemblage.base.text import listing, one_line, some
from ensemblage.base.validation import (
    check_parameters,
    n_distinct_rows,
)
from ensemblage.choices._choose_k import FEW, N_SAMPLE, default_k_range, too_few_rows
from ensemblage.choices._chooser import MOST_CHOSEN_ON
from ensemblage.choices._plan import Decision, Plan
from ensemblage.consensus._base import BaseConsensus
from ensemblage.consensus._own import OwnConsensus
from ensemblage.consensus._registry import make_consensus
from ensemblage.generation import DiversePartitions, RandomKPartitions, ScaledPartitions, _diverse
from ensemblage.generation._base import BasePartitions
from ensemblage.generation._candidates import larger_numbers, numbers_of_clusters
from ensemblage.generation._dense_rows import KEPT, MOST_OF_SAMPLE, NTH, size_of_sample
from ensemblage.generation._diverse import can_be_diverse, have_neighbours, numbers_near
from ensemblage.generation._kmeans import N_STEPS
from ensemblage.io._encoding import ColumnUse
from ensemblage.io._preprocessor import Preprocessor
from ensemblage.io._scaling import ALIKE, AUTO, AlikeScaler, fitted_steps, in_digits
from ensemblage.metrics._confidence import BORDER, CORE

LEAST_OBJECTS, LEAST_ASKED, LEAST_DISTINCT = 20, 6, 4
"""For learned weights and resamples; for `choose_k` to be asked, and how many of them must differ."""
N_RESAMPLES, MOST_RESAMPLED = 20, 2_000
"""Resamples that are clustered again where their number is left to the plan, and most objects for that."""
OWN = ("n_clusters", "n_jobs", "random_state", "max_bytes")
"""Parameters of a consensus that make no other method of it."""
EXECUTION = ("n_jobs", "random_state", "progress", "max_bytes")
"""Parameters of generators and consensus that no plan depends on."""
COPIES = "more than half of the objects are copies of others"
"""Why k-means alone makes the partitions: of copies neighbours, trees and mixtures say nothing."""


class PlanRequest(NamedTuple):
    """What was asked for; what was not is decided by the data."""

    n_clusters: int | None = None
    generator: Any = None
    consensus: Any = None
    """An estimator, or a name of `METHODS`."""
    quality: str = "default"
    allow_one: bool = False
    k_range: tuple[int, ...] | None = None
    """Numbers of clusters to choose from, whatever the consensus."""
    n_resamples: int | None = 0
    """None: the plan decides."""
    is_default: bool | None = None
    """Whether ``consensus``, which has parameters then, counts as the default one, so that `choose_k` is asked; None:
    if it is the same method."""
    is_anndata: bool = False
    is_weighted: bool = False
    """Whether rows stand for several objects."""
    category_weight: float | None = None
    """Of a category that is a member, in columns of features; None: the preprocessor says it."""
    selection: str = DEFAULT_SELECTION


def plan_of(features: Any, preprocessor: Any, asked: PlanRequest) -> Plan:
    """The plan for features, (n, m) as a fitted preprocessor has made them."""
    quality = "fast" if asked.is_weighted else asked.quality
    is_learned = is_choice_learned(features, preprocessor, quality, asked)
    default = default_generator(features, preprocessor, quality, is_learned)
    generator = default if asked.generator is None else clone(asked.generator)
    n_clusters = _n_clusters(features, generator, is_learned, asked)
    consensus, combiner = _combiner(generator, n_clusters.value, asked)
    return Plan(
        n_objects=features.shape[0],
        n_features=features.shape[1],
        roles=_roles(preprocessor, features.shape[1]),
        scales=_scales(preprocessor, asked),
        n_clusters=n_clusters,
        partitions=_partitions(features, preprocessor, generator, n_clusters.value, asked),
        combiner=combiner,
        samples=_samples(features, generator, n_clusters.value, is_learned),
        votes=_votes(features, preprocessor, consensus, n_clusters.value, is_learned, asked),
        stability=_stability(features, preprocessor, generator, asked),
        k_range=asked.k_range,
        allow_one=asked.allow_one,
        is_learned=is_learned,
        generator=generator,
        consensus=consensus,
    )


# -- the decisions -----------------------------------------------------------------------------------------------------


def _roles(preprocessor: Any, n_features: int) -> Decision[str]:
    """How many columns are clustered, and which are not."""
    if not isinstance(preprocessor, Preprocessor):
        return Decision(f"{n_features:,} features", f"{estimator_text(preprocessor)} was given and makes them.")
    columns, members = preprocessor.columns_, preprocessor.partitions_
    use_of = {use.column: use for use in columns}
    names = list(map(str, getattr(preprocessor, "feature_names_in_", use_of)))
    left = [f"{name} ({why})" for name in names if (why := _why_left(use_of.get(name)))]
    value = f"{len(names) - len(left):,} of {len(names):,} columns"
    reasons = [f"Not clustered: {some(left)}."] if left else ["Every column is clustered."]
    reasons += [f"A member of the ensemble each: {some(members)}."] if members else []
    return Decision(value, " ".join(reasons))


def _why_left(use: ColumnUse | None) -> str:
    """Why a column is not clustered: its role, or more than that; of an id nothing else is known. Empty if it is."""
    if use is None:
        return "id of the rows"
    if use.use.startswith("used"):
        return ""
    return use.role if use.use == "left out" else use.use.removeprefix("left out: ")


def _scales(preprocessor: Any, asked: PlanRequest) -> Decision[str]:
    """Whether features keep their scales, and which columns decided."""
    if not isinstance(preprocessor, Preprocessor):
        return Decision("of its own", f"{estimator_text(preprocessor)} was given and scales them.")
    scaler = _scaler_of_numbers(preprocessor)
    if scaler is None:
        return Decision("none", "No feature is a column of numbers; categories have scales of their own.")
    if isinstance(scaler, FunctionTransformer):
        why = "AnnData's matrix is clustered as it is scaled." if asked.is_anndata else "This was asked for."
        return Decision("as given", why)
    if not isinstance(scaler, AlikeScaler):
        why = "This was asked for."
        if preprocessor.standardize == AUTO:
            is_sparse = isinstance(preprocessor.transformer_, Pipeline)
            why = "The features are sparse." if is_sparse else "Numbers stand beside columns of other kinds."
        return Decision("standardised", why)
    return Decision("kept" if scaler.keeps_scales_ else "standardised", _reason_of_scales(scaler, preprocessor))


def _reason_of_scales(scaler: AlikeScaler, preprocessor: Preprocessor) -> str:
    """The largest and the least standard deviation, and how far they are apart."""
    if not len(scaler.extremes_):
        return "No column varies by more than rounding."
    if scaler.is_of_unit_length:
        return "All rows have length 1."
    names = preprocessor.get_feature_names_out()
    (low, least), (high, largest) = ((float(np.sqrt(scaler.var_[j])), names[j]) for j in scaler.extremes_)
    ratio = high / low
    times = f"{ratio:.3g}" if ratio < 1_000 else f"{ratio:,.0f}" if ratio < 1e9 else f"{ratio:.1e}"
    apart = f"{times} times that of {least} ({in_digits(low)})"
    limit = f"{'at most' if scaler.keeps_scales_ else 'more than'} {ALIKE:.0f} times"
    return f"The standard deviation of {largest} ({in_digits(high)}) is {apart}: {limit}."


def _scaler_of_numbers(preprocessor: Preprocessor) -> Any:
    """What scales columns of numbers, fitted; None if no feature is such a column."""
    transformer = preprocessor.transformer_
    if isinstance(transformer, Pipeline):  # of a sparse matrix
        return transformer[-1]
    return None if transformer is None else fitted_steps(transformer, "numbers")[-1]


def units_of(preprocessor: Any) -> NDArray[np.float64] | None:
    """(m,) what each feature was divided by where all are numbers that were standardised for their scales differ."""
    scaler = _scaler_of_numbers(preprocessor) if isinstance(preprocessor, Preprocessor) else None
    if not isinstance(scaler, AlikeScaler) or scaler.keeps_scales_:
        return None
    return np.asarray(scaler.scale_)


def _n_clusters(
    features: Any, generator: Any, is_learned: bool, asked: PlanRequest
) -> Decision[int | tuple[int, ...] | None]:
    """The number of clusters, those to choose from, or None: the combiner finds it."""
    own = getattr(asked.consensus, "n_clusters", None)
    if is_learned and asked.n_clusters is None:
        n = min(len(features), MOST_CHOSEN_ON)
        ks = asked.k_range or tuple(numbers_of_clusters(n))
        learned = "Trees that learned on synthetic sets compare candidate partitions with these numbers of clusters"
        more = ", which were given" if asked.k_range is not None else ""
        more = ", and with larger ones if the best is in the upper half" if not more and larger_numbers(n) else more
        return Decision(ks, f"{learned}{more}.{_or_one(asked)}")
    if asked.k_range is not None:
        return Decision(asked.k_range, f"Five criteria vote on these numbers, which were given.{_or_one(asked)}")
    if asked.n_clusters is not None:
        return Decision(asked.n_clusters, "It was given.")
    if own is not None:
        return Decision(own, "The combiner was given with it.")
    name = default_method(generator)
    is_default = is_method(asked.consensus, name) if asked.is_default is None else asked.is_default
    if not is_default:
        own_rule = "The combiner was given and finds it by its own rule"
        return Decision(None, f"{own_rule}; the criteria are asked for the default combiner, {name}, alone.")
    if (why := why_not_chosen(features, generator)) is not None:
        return Decision(None, f"{why} So the criteria cannot be asked, and the combiner finds it by its own rule.")
    n = min(len(features), N_SAMPLE)
    ks = tuple(default_k_range(n, n_distinct_rows(features, 11)))
    more = " Where fewer than three agree, several algorithms are asked for more." if can_be_diverse(features) else ""
    more += f" Of fewer than {FEW} objects they must be clear." * (len(features) < FEW)
    of_rows = " Each row counts once there." if asked.is_weighted else ""
    return Decision(ks, f"None was given: five criteria vote on these numbers.{of_rows}{more}{_or_one(asked)}")


def _or_one(asked: PlanRequest) -> str:
    return " Without structure it is 1." if asked.allow_one else ""


def why_not_chosen(features: Any, generator: Any) -> str | None:
    """Why `choose_k` cannot be asked, None if it can; too few objects are refused."""
    if takes_distances(generator):
        return "Distances are clustered, not features."
    if features.shape[1] == 0:
        return "No column is a feature."
    if not isinstance(features, np.ndarray):
        return "The features are sparse."
    if len(features) < LEAST_ASKED:
        raise too_few_rows(len(features))
    n_distinct = n_distinct_rows(features, LEAST_DISTINCT)
    return None if n_distinct >= LEAST_DISTINCT else f"Of all objects only {n_distinct} differ."


def _partitions(features: Any, preprocessor: Any, generator: Any, n_clusters: Any, asked: PlanRequest) -> Decision[str]:
    """What makes the partitions, and why."""
    named = getattr(preprocessor, "partitions_", [])
    beside = f" {len(named):,} categories are members, too." if len(named) > 1 else ""
    beside = " A category is a member, too." if len(named) == 1 else beside
    if features.shape[1] == 0:
        return Decision("none", f"No column is a feature; members are the categories {some(named)}.")
    value = estimator_text(generator, () if asked.generator is not None else ("n_clusters", "units"))
    if asked.generator is not None:
        return Decision(value, f"It was given.{beside}")
    if isinstance(generator, ScaledPartitions):
        k = "the number that is found" if isinstance(n_clusters, tuple) else f"{n_clusters}"
        who = "Several algorithms, each in several scales of the features, with numbers of clusters near"
        return Decision(
            value, f"{who} {k}; each partition weighs what trees that learned on synthetic sets say.{beside}"
        )
    if not isinstance(generator, DiversePartitions):
        often = f"K-means {generator.n_partitions:,} times, each with a random number of clusters"
        return Decision(value, f"{often}, in time linear in the objects: {_why_kmeans(features, asked)}.{beside}")
    numbers = _numbers_text(generator, n_clusters, len(features))
    twice = ", once as they are scaled and once standardised" if generator.standardized_too else ""
    few = f"{len(features):,} objects are at most {_diverse.MOST_DIVERSE:,}"
    who = "Mixtures, spectral clustering and Genie"
    equal = (
        " Beside members that are categories no weights are learned." if named and asked.selection == LEARNED else ""
    )
    return Decision(value, f"{who}, each with {numbers}{twice}: {few}.{beside}{equal}")


def _numbers_text(generator: DiversePartitions, n_clusters: Any, n: int) -> str:
    """With how many clusters the members of the default are made."""
    if isinstance(n_clusters, tuple):
        return "the number that is found, one less and one more"
    numbers = clone(generator).set_params(n_clusters=numbers_near(n_clusters))._ks(n)
    return f"{listing(numbers)} clusters"


def _why_kmeans(features: Any, asked: PlanRequest) -> str:
    """Why several algorithms do not cluster the features."""
    if asked.is_weighted:
        return "sample_weight was given, and mixtures, spectral clustering and trees cannot count objects"
    if asked.quality == "fast":
        return 'the quality "fast" was asked for'
    if not isinstance(features, np.ndarray):
        return "the features are sparse"
    if size_of_sample(features.shape[0]) is not None and largest_asked(asked) > MOST_OF_SAMPLE:
        return f"a sample of {len(features):,} objects cannot show more than {MOST_OF_SAMPLE} clusters"
    if not have_neighbours(features):
        return COPIES
    return f"{len(features):,} objects are more than {_diverse.MOST_DIVERSE:,}, and no weights are learned"


def _combiner(generator: Any, n_clusters: Any, asked: PlanRequest) -> tuple[Any, Decision[str]]:
    """What combines the partitions, unfitted, and why."""
    usual, given = default_method(generator), asked.consensus
    if given is not None and not isinstance(given, str):
        named = usual if is_method(given, usual) else estimator_text(given, ("n_clusters",))
        combiner = clone(given)
        own = combiner if isinstance(given, BaseConsensus) else OwnConsensus(combiner)
        return own, Decision(named, "It was given.")
    if given is not None and not (asked.is_default and n_clusters is None):
        return make_consensus(given), Decision(given, "It was given.")
    if n_clusters is None:
        why = "K-means on the labels, with the number of clusters that agrees most with the partitions."
        return make_consensus("km"), Decision("km", why)
    of_diverse = "Average linkage had the best results on members of several algorithms (docs/DEFAULT.md)."
    of_others = "K-means on the labels takes time linear in the objects."
    return make_consensus(usual), Decision(usual, of_diverse if usual == "eac-average" else of_others)


def _samples(features: Any, generator: Any, n_clusters: Any, is_learned: bool) -> Decision[dict[str, int]]:
    """Which steps look at a sample of the objects."""
    n, samples, reasons = features.shape[0], dict[str, int](), list[str]()
    if isinstance(generator, ScaledPartitions) and generator.sample_size is not None and n > generator.sample_size:
        size = generator.sample_size
        samples["the partitions"] = size
        reasons.append(
            f"Of {n:,} objects {size:,} are drawn. The {KEPT:.0%} whose places are densest beside those of their "
            f"neighbours, by the distance to the {NTH}th nearest, are clustered; every object gets the labels of the "
            "nearest of these."
        )
        if is_learned:
            reasons.append(f"The same partitions of another {size:,} say with these how certain each object is.")
    if is_learned and n > MOST_CHOSEN_ON:
        samples["the weights of the partitions"] = MOST_CHOSEN_ON
        reasons.append(
            f"The trees compare candidate partitions of {MOST_CHOSEN_ON:,} objects, the same with each "
            "seed. On these they rate the partitions of all, too."
        )
    elif isinstance(n_clusters, tuple) and n > N_SAMPLE:
        samples["the number of clusters"] = N_SAMPLE
        reasons.append(f"The criteria look at {N_SAMPLE:,} objects, and at more only where algorithms are asked.")
    if features.shape[1] and isinstance(generator, BasePartitions):
        check_parameters(generator)
    is_sampled = features.shape[1] and isinstance(generator, RandomKPartitions)
    sample_size = generator._sample_size_of(n) if is_sampled else None
    if sample_size is not None:
        samples["each k-means"] = sample_size
        reasons.append(f"Each k-means is fitted on {sample_size:,} objects and makes {N_STEPS} steps on all.")
    return Decision(samples, " ".join(reasons) or f"Every step looks at all {n:,} objects.")


def _votes(
    features: Any, preprocessor: Any, consensus: Any, n_clusters: Any, is_learned: bool, asked: PlanRequest
) -> Decision[str]:
    """How the members vote on each object."""
    words = f"An object is core from {CORE:g} of the votes for its cluster, border from {BORDER:g}."
    if n_clusters == 1:
        return Decision("none", "With one cluster each object is in it.")
    if is_learned:
        return Decision("weighted votes", f"The partitions have learned weights. {words}")
    if getattr(consensus, "weights", None) is not None:
        return Decision("weighted votes", f"The combiner was given with weights. {words}")
    if features.shape[1] and getattr(preprocessor, "partitions_", []):
        weight = preprocessor.category_weight if asked.category_weight is None else asked.category_weight
        of = f"{weight:g} of {preprocessor.n_columns_:,} columns"
        return Decision("weighted votes", f"A category weighs as much as {of} do in the partitions. {words}")
    return Decision("equal votes", f"Each member that separates clusters has one vote. {words}")


def _stability(features: Any, preprocessor: Any, generator: Any, asked: PlanRequest) -> Decision[int]:
    """How many resamples are clustered again."""
    n, chosen = features.shape[0], asked.n_resamples
    if chosen is not None:
        why = "This was asked for." if chosen else "Nothing is clustered again unasked."
        return Decision(chosen, why)
    if not can_be_repeated(features, getattr(preprocessor, "partitions_", []), generator):
        return Decision(0, "These members cannot be made again of resamples.")
    if n < LEAST_OBJECTS:
        return Decision(0, f"{n} objects are fewer than {LEAST_OBJECTS}.")
    if n > MOST_RESAMPLED:
        return Decision(0, f"{n:,} objects are more than {MOST_RESAMPLED:,}: it would take long.")
    return Decision(N_RESAMPLES, f"{n:,} objects are at most {MOST_RESAMPLED:,}: it takes little time.")


# -- what the decisions ask --------------------------------------------------------------------------------------------


def default_generator(features: Any, preprocessor: Any, quality: str, is_learned: bool) -> Any:
    """What makes the partitions of features where nothing else is asked for; ``is_learned``: they have weights."""
    if is_learned:
        return ScaledPartitions(units=units_of(preprocessor), sample_size=size_of_sample(len(features)))
    if quality == "fast" or not can_be_diverse(features):
        return RandomKPartitions()
    return diverse_generator(quality)


def diverse_generator(quality: str, k: int | None = None) -> DiversePartitions:
    """Different algorithms with numbers of clusters near k, None: different ones; those of the default."""
    return DiversePartitions(numbers_near(k), standardized_too=quality == "best")


def is_choice_learned(features: Any, preprocessor: Any, quality: str, asked: PlanRequest) -> bool:
    """Whether partitions get learned weights: `may_be_learned`, and the features are such that they can."""
    if not may_be_learned(asked) or quality == "fast" or asked.n_clusters == 1:
        return False
    fits = have_neighbours(features) and len(features) >= LEAST_OBJECTS and not getattr(preprocessor, "partitions_", [])
    fits = fits and largest_asked(asked) <= MOST_OF_SAMPLE
    if not fits:
        return False
    # Of as many objects that only some are drawn, half differ; they need not be in memory.
    return bool(size_of_sample(len(features))) or n_distinct_rows(features, LEAST_DISTINCT) >= LEAST_DISTINCT


def may_be_learned(asked: PlanRequest) -> bool:
    """Whether learned weights were asked for, and the default generates and combines the partitions."""
    is_default = asked.generator is None and asked.quality != "fast" and asked.is_default is None
    return asked.selection == LEARNED and is_default and is_method(asked.consensus, "eac-average")


def largest_asked(asked: PlanRequest) -> int:
    """The largest requested number of clusters; 0 without a request."""
    return max(asked.n_clusters or 0, *(asked.k_range or ()), 0)


def default_method(generator: Any) -> str:
    """What combines the partitions of a generator where nothing else is asked for: see docs/DEFAULT.md."""
    return "eac-average" if isinstance(generator, DiversePartitions | ScaledPartitions) else "km"


def is_method(consensus: Any, name: str) -> bool:
    """Whether a consensus that was asked for (None: any) is what a method is by its name, seed and threads apart."""
    if consensus is None or isinstance(consensus, str):
        return consensus in (None, name)
    usual = make_consensus(name)
    values = {key: value for key, value in consensus.get_params(deep=False).items() if key not in OWN}
    return type(consensus) is type(usual) and repr(type(usual)(**values)) == repr(usual)


def takes_distances(generator: Any) -> bool:
    """Whether base clusterers of a generator want distances of all pairs instead of features."""
    values = () if generator is None else generator.get_params().items()
    return any(name.rpartition("__")[2] in ("metric", "affinity") and value == "precomputed" for name, value in values)


def can_be_repeated(features: Any, members: Collection[str], generator: Any) -> bool:
    """Whether the partitions can be made again of resamples of the objects; ``members`` are the categories that are."""
    kinds = DiversePartitions | RandomKPartitions | ScaledPartitions
    fits = isinstance(generator, kinds) and not takes_distances(generator)
    return fits and not members and bool(features.shape[1] > 0)


def estimator_text(estimator: Any, without: Sequence[str] = ()) -> str:
    """An estimator as Python writes it, on a line; seeds, threads and parameters ``without`` left out."""
    shown = clone(estimator)
    usual = {name: parameter.default for name, parameter in signature(type(estimator)).parameters.items()}
    names = [name for name in (*EXECUTION, *without) if usual.get(name, Parameter.empty) is not Parameter.empty]
    shown.set_params(**{name: usual[name] for name in names})
    return one_line(repr(shown), 100)
