"""What is said of clusters that were found: their partitions in order, their stability, what sets them apart.

`rank` and `merge` come first: they are quick, and labels.csv has what `merge` finds. `describe` takes long: for the
stability the analysis is made again, on resamples of the objects, and without each column in turn. Of partitions that
were given nothing can be made again: `describe_of_labels`. `summary_of` makes the page's dict of all results.
`split_counts` comes before an analysis whose clusters are described by counts that it has not seen.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from joblib import parallel_config
from numpy.typing import NDArray
from sklearn.base import clone

from ensemblage.base.options import Message, Option
from ensemblage.base.sklearn import BaseEstimator
from ensemblage.choices._plan import Plan
from ensemblage.consensus import METHODS, ConsensusModes
from ensemblage.consensus._method_comparison import MethodComparison, compare_methods
from ensemblage.counting._contingency import table_cells
from ensemblage.generation import RandomKPartitions, ScaledPartitions
from ensemblage.generation._candidates import PoolCache
from ensemblage.generation._dense_rows import size_of_sample
from ensemblage.io._alerts import NAMES
from ensemblage.io._features import Features, Members
from ensemblage.io._roles import name_columns
from ensemblage.io._table import Table
from ensemblage.labels.ensemble import Ensemble
from ensemblage.metrics._agreement import agreement_with
from ensemblage.pipeline._decisions import MOST_RESAMPLED
from ensemblage.pipeline._run import (
    Data,
    Number,
    RunResult,
    Settings,
    Watch,
    cluster,
    consensus_of,
    generator_of,
    members_of,
)
from ensemblage.profiles._effects import separations
from ensemblage.profiles._profile import profile
from ensemblage.profiles._record import Profile
from ensemblage.profiles._selective import thin_counts
from ensemblage.report import summarize
from ensemblage.report._build import rankings_of
from ensemblage.stability import cluster_stability, merge_unsupported
from ensemblage.stability._records import ClusterStability, MergedClusters
from ensemblage.tables.column import Column

MOST_COMPARED, MOST_OVERLAPS = 5 * 10**7, 10**7
"""Label rows × squared partitions, and cells of all contingency tables, up to which the modes of partitions are looked
for: a few seconds, and far less than `ConsensusModes` refuses."""
MOST_PARTITIONS = 20
"""Of k-means, made again."""
MOST_COLUMNS = 20
"""That are left out in turn."""
PART = "part of "
"""What the columns of the first part are called begins so: those of new objects, as counted, are none of them."""
COUNTED = ("number", "constant")
"""Roles of columns that may be counts."""
RANKING, SPLITS, METHODS_COMPARED, PROFILE, PAGE = "ranking", "splits", "methods", "profile", "report"
STABILITY, COLUMNS = "stability", "columns"
"""The steps as a `Watch` follows them."""


class Thinning(NamedTuple):
    """How counts are split."""

    dispersion: float | None = None
    """None: by moments."""
    by_depth: bool = False
    """Whether the parts are divided by the sums of their objects."""


class Thinned(NamedTuple):
    """Counts that were split: the clusters are of the first parts."""

    counts: Table
    """The columns that were split, as counted."""
    second: NDArray[np.float64]
    """(n, m) their second parts, on which markers are tested."""


class Wanted(NamedTuple):
    """What `describe` is asked for."""

    resamples_are_asked: bool = False
    """Whether somebody asked for their number, and not the plan alone."""
    all_methods: bool = False
    """Whether all methods are compared."""
    without_columns: bool = False
    """Whether columns are left out in turn."""
    selective: bool = False
    """Whether variables are tested with p-values that hold."""
    described_by: Callable[[], Table | None] = lambda: None
    """Reads what describes the clusters, ids first, where it is not what was clustered."""
    left_out: Collection[str | None] = ()
    """Columns that describe no cluster unless they were clustered."""
    thinned: Thinned | None = None


class Description(NamedTuple):
    """What is said of the clusters, by the parameters of `report.summarize`; None what was not asked for."""

    cluster_stability: ClusterStability | None = None
    method_comparison: MethodComparison | None = None
    profile: Profile | None = None
    without_columns: dict[str, float] | None = None
    modes: ConsensusModes | None = None


def rank(ensemble: Ensemble, watch: Watch) -> list[Any]:
    """The partitions in order, by every criterion of the page."""
    with watch.step(RANKING):
        return rankings_of(ensemble)


def merge(consensus: Any, features: Features, settings: Settings, watch: Watch) -> MergedClusters:
    """The clusters after unsupported splits are merged; they keep their shown numbers."""
    with watch.step(SPLITS):
        merged = merge_unsupported(numbered(consensus), features.X, random_state=settings.seed)
    watch.announce(merged.sentence)
    if merged.support.note:
        watch.announce(merged.support.note)
    return merged


def describe(
    found: RunResult, features: Features, plan: Plan, wanted: Wanted, settings: Settings, watch: Watch
) -> Description:
    """What is said of clusters of features; it takes long."""
    consensus, repeat = found.consensus, repeat_of(found, plan, settings)
    stability = stability_of(repeat, features.X, numbered(consensus), settings, wanted.resamples_are_asked, watch)
    compared = compare(found, settings, watch) if wanted.all_methods else None
    with watch.step(PROFILE), parallel_config("threading", n_jobs=settings.n_jobs):
        profiled = profile_of(consensus, features, wanted)
    if profiled is not None and profiled.selective is not None:
        watch.announce(profiled.selective.sentence)
    without = None
    if wanted.without_columns:
        without = indices_without_columns(repeat, features, profiled, consensus.labels_, watch)
    return Description(stability, compared, profiled, without)


def describe_of_labels(found: RunResult, all_methods: bool, settings: Settings, watch: Watch) -> Description:
    """What is said of clusters of partitions that were given: these may tell several stories."""
    compared = compare(found, settings, watch) if all_methods else None
    with watch.step(PAGE):
        modes = modes_of(found.ensemble, settings.n_jobs)
    return Description(method_comparison=compared, modes=modes)


def numbered(consensus: Any) -> NDArray[np.int64]:
    """(n,) what people call the cluster of each object; -1: none."""
    numbers: NDArray[np.int64] = np.append(consensus.cluster_numbers_, -1)
    return np.asarray(numbers[consensus.labels_])


def compare(found: RunResult, settings: Settings, watch: Watch) -> MethodComparison:
    """What every method makes of the partitions, asked for as many clusters as the answer has."""
    limit: dict[str, Any] = {} if settings.max_bytes is None else {"max_bytes": settings.max_bytes}
    how: dict[str, Any] = {"random_state": settings.seed, "n_jobs": settings.n_jobs, **limit}
    with watch.step(METHODS_COMPARED, len(METHODS)) as progress:
        return compare_methods(found.ensemble, found.consensus.n_clusters_, progress=progress, **how)


def profile_of(consensus: Any, features: Features, wanted: Wanted) -> Profile | None:
    """From the values as they stand in the table that was clustered, or those that it was made of."""
    of_objects: dict[str, Any] = {"ids": features.ids, "features": features.X, "selective": wanted.selective}
    if wanted.thinned is not None:
        counts, second = wanted.thinned
        return profile(consensus, counts, clustered=counts.names, thinned=second, **of_objects)
    if (original := wanted.described_by()) is not None:
        rows = original if features.rows is None else original.take(features.rows)
        table = drop_columns(rows, {rows.columns[0].name})
        return profile(consensus, table, clustered=table.names, **of_objects)
    if features.table is None:
        return None
    used = {use.column for use in features.columns if use.use.startswith("used")}
    table = drop_columns(features.table, {*wanted.left_out, features.id_column} - used)
    if not table.columns:
        return None
    of_objects["features"] = features.X if features.X.shape[1] else None
    return profile(consensus, table, clustered=used, **of_objects)


def drop_columns(table: Table, names: Collection[str | None]) -> Table:
    """The table without ids and known classes, which clusters are compared with elsewhere; roles stay as they are."""
    kept = replace(table, columns=[column for column in table.columns if column.name not in names])
    kept.found_roles = {column.name: table.found_roles[column.name] for column in kept.columns}
    return kept


def summary_of(found: RunResult, objects: Features | Members, said: Description, **page: Any) -> Mapping[str, Any]:
    """The analysis as the page and summary.json have it; ``page`` is what else `report.summarize` takes."""
    X = objects.X if isinstance(objects, Features) and objects.X.shape[1] else None
    return summarize(
        found.ensemble,
        found.consensus,
        features=X,
        ids=objects.ids,
        truth=objects.truth,
        column_uses=objects.columns,
        k_choice=found.number.choice,
        chosen=found.number.chosen,
        plan=found.plan,
        **said._asdict(),
        **page,
    )


def modes_of(ensemble: Ensemble, n_jobs: int | None) -> ConsensusModes | None:
    """Whether partitions of any origin tell one story, where that does not take long."""
    p = ensemble.shape[1]
    if p <= 2 or len(ensemble.distinct.codes) * p**2 > MOST_COMPARED:
        return None
    return ConsensusModes(n_jobs=n_jobs).fit(ensemble) if table_cells(ensemble.n_clusters) <= MOST_OVERLAPS else None


class Repeat(BaseEstimator):
    """A plan whose number of clusters and weights are known, as one clusterer of features."""

    def __init__(self, generator: Any, consensus: Any, plan: Plan, number: Number) -> None:
        self.generator = generator
        self.consensus = consensus
        self.plan = plan
        self.number = number

    def fit_predict(self, X: Any, y: Any = None) -> NDArray[np.int32]:
        plan = replace(self.plan, generator=self.generator, consensus=self.consensus)
        return np.asarray(cluster(plan, Data(X), Settings(seed=0, n_jobs=1), number=self.number).consensus.labels_)


def repeat_of(found: RunResult, plan: Plan, settings: Settings) -> Repeat:
    """What makes an analysis again on a thread, with the same algorithms, weights and number of clusters."""
    number, settings = found.number._replace(choice=None, made=PoolCache()), settings._replace(n_jobs=1)
    generator = generator_of(plan, number._replace(chosen=None), settings)
    if number.chosen is not None:
        sample_size, seed = size_of_sample(plan.n_objects), settings.seed
        generator = ScaledPartitions(**members_of(number.chosen), sample_size=sample_size, n_jobs=1, random_state=seed)
    elif isinstance(generator, RandomKPartitions):
        generator.set_params(n_partitions=min(generator.n_partitions, MOST_PARTITIONS))
    return Repeat(generator, consensus_of(plan, number.k, settings), plan, number)


def stability_of(
    repeat: Repeat, X: NDArray[np.float64], labels: NDArray[np.int64], settings: Settings, is_asked: bool, watch: Watch
) -> ClusterStability | None:
    """How often the clusters are reproduced in as many resamples as the plan says; None if nothing is made again."""
    n = repeat.plan.stability.value
    if n == 0:
        if not is_asked and len(X) > MOST_RESAMPLED:
            rule = f"clusters of more than {MOST_RESAMPLED:,} objects are not looked for again unasked: "
            watch.announce(Message(rule, Option("stability", 20)))
        return None
    how: dict[str, Any] = {"n_resamples": n, "n_jobs": settings.n_jobs, "random_state": settings.seed}
    with watch.step(STABILITY, n) as progress:
        try:
            return cluster_stability(repeat, X, labels, progress=progress, **how)
        except ValueError as error:  # too few different rows, say: the analysis itself is done
            if is_asked:
                raise
            watch.announce(f"clusters were not looked for again: {error}")
            return None


def indices_without_columns(
    repeat: Repeat, features: Features, profile: Profile | None, labels: NDArray[np.integer[Any]], watch: Watch
) -> dict[str, float]:
    """By column the adjusted Rand index of the labels with those without it, NaN where none could be made.

    Of more than `MOST_COLUMNS` columns those are left out that separate the clusters most.
    """
    places, found = places_of_columns(features), dict[str, float]()
    order = list(places)
    if profile is not None:
        compared = profile._compared
        shares = dict(zip((v.name for v in compared.variables), np.nan_to_num(separations(compared)), strict=True))
        order.sort(key=lambda name: -shares.get(name, 0.0))
    names, truth = order[: n_left_out(len(order))], np.asarray(labels, dtype=np.int64)
    with watch.step(COLUMNS, len(places)) as progress:
        for i, name in enumerate(names):
            try:
                again = clone(repeat).fit_predict(np.delete(features.X, places[name], axis=1))
                found[name] = float(agreement_with(Ensemble.from_partitions([again]), truth, "ari")[0])
            except ValueError:  # too few different rows without the column
                found[name] = float("nan")
            if progress is not None:
                progress(i + 1, len(names))
    return found


def n_left_out(n_columns: int) -> int:
    """How many of so many columns are left out in turn."""
    return min(MOST_COLUMNS, n_columns)


def places_of_columns(features: Features) -> dict[str, list[int]]:
    """By the name of a column of the table the features that it became."""
    place = {name: j for j, name in enumerate(features.names)}
    columns = [] if features.encoding is None else features.encoding.columns
    found = {c.name: [place[name] for name in c.names() if name in place] for c in columns if c.kind != "member"}
    return {name: of for name, of in found.items() if of}


# -- counts that are split before the analysis -------------------------------------------------------------------------


def split_counts(
    table: Table,
    thinning: Thinning,
    seed: int,
    *,
    id_column: str | None,
    truth_column: str | None,
    drop_columns: Sequence[str],
) -> tuple[Table, Thinned]:
    """The table with logarithms of the first parts in the place of counts, and the counts with the second parts.

    All columns are counts but ids, known classes and those that are left out.
    """
    import pyarrow as pa

    columns = name_columns(table, id_column, truth_column, drop_columns, guess_id=True).rest
    if not columns:
        rule = f" needs columns of counts. {table.source} has none besides ids and classes."
        raise ValueError(Message(Option("thin_counts"), rule))
    values = np.column_stack([_counts(table, column) for column in columns])
    first, second = thin_counts(values, dispersion=thinning.dispersion, random_state=seed)
    note = (
        "each count was split into two independent parts: clusters are made of the logarithms of the first, "
        "markers are tested on the second"
    )
    if thinning.by_depth:
        first, second = _of_equal_depth(first), _of_equal_depth(second)
        note += ", both divided by the sums of their objects"
    logarithms = zip([c.name for c in columns], np.log1p(first).T, strict=True)
    made = {name: Column(f"{PART}{name}", pa.array(values)) for name, values in logarithms}
    of_first = replace(
        table,
        columns=[made.get(c.name, c) for c in table.columns],
        notes=(*table.notes, note),
        given_roles={name: role for name, role in table.given_roles.items() if name not in made},
    )
    counts = replace(table, columns=columns, index=None, given_roles={})
    counts.found_roles = {c.name: table.found_roles[c.name] for c in columns}
    return of_first, Thinned(counts, np.asarray(second, dtype=np.float64))


def _counts(table: Table, column: Column) -> NDArray[np.float64]:
    """(n,) a column as counts, refused if it has none."""
    role, values = table.found_roles[column.name].name, column.numbers
    if values is None or role not in COUNTED:
        got = "text" if values is None else f"the role {role}"
    elif np.isnan(values).any():
        got = f"no value in {table.where(int(np.isnan(values).argmax()))}"
    elif (wrong := (values < 0) | (values != np.floor(values)) | np.isinf(values)).any():
        got = f"{values[wrong][0]:g} in {table.where(int(wrong.argmax()))}"
    else:
        return values
    option = Option("thin_counts")
    rule = f" must have columns of counts, whole numbers ≥ 0. {column.name!r} of {table.source} has {got}. "
    of_table = "Add ", Option("drop_columns"), f" {column.name!r}"
    advice = ("Name a matrix of counts with ", Option("use_rep")) if table.index == NAMES else of_table
    raise ValueError(Message(option, rule, *advice, ", or leave ", option, " out."))


def _of_equal_depth(counts: NDArray[Any]) -> NDArray[np.float64]:
    """(n, m) counts as if all objects had the mean of their sums; an object without a count stays so."""
    depths = counts.sum(axis=1, dtype=np.float64)
    scales = np.where(depths > 0, depths, 1) / max(depths.mean(), 1)
    return np.asarray(counts / scales[:, None])
