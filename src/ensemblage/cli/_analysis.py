"""The main job: read, make an ensemble, combine it, rank its members, write a folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage import (
    METHODS,
    AverageAgreement,
    ConsensusModes,
    Discotec,
    Ensemble,
    load,
    make_consensus,
    report,
)
from ensemblage._version import __version__
from ensemblage.answer import KChoice, MethodComparison, Plan, compare_methods
from ensemblage.answer._consensus_clustering import ConsensusClustering
from ensemblage.answer._default_plan import Wishes, plan_of, with_consensus
from ensemblage.answer._execution import choice_of, consensus_of, generator_of, number_of_clusters, set_weights
from ensemblage.answer._saved import save_model
from ensemblage.base.validation import check_parameters, check_weights, n_distinct_rows
from ensemblage.cli._annotate import check_annotated, check_copy, is_annotated_copy, write_annotated, write_cells
from ensemblage.cli._compare import LabelTable, align, check_align, identity_of, read_labels
from ensemblage.cli._errors import INTERRUPTED, Interrupted
from ensemblage.cli._folder import (
    ENSEMBLE,
    FILES,
    LABELS,
    MODEL,
    NO_OBJECTS,
    REPORT,
    Folder,
    output_folder,
    temporary_folder,
)
from ensemblage.cli._generation import DIVERSE, GOWER, INDEPENDENT, RANDOM_K, Generation
from ensemblage.cli._labels import numbers_of, write_labels
from ensemblage.cli._methods import check_names, text_of
from ensemblage.cli._pages import repeated_command
from ensemblage.cli._pairs import KINDS, PairFiles, errors_with_ids
from ensemblage.cli._plan import plan_text
from ensemblage.cli._profile import profile_of_features
from ensemblage.cli._progress import progress_bar, record_time, tell, tell_notes
from ensemblage.cli._resampling import ResamplingPlan, check_resampling
from ensemblage.cli._source import FEATURE_OPTIONS, CellSource, Source
from ensemblage.counting._contingency import table_cells
from ensemblage.io import Features, Members, Preprocessor
from ensemblage.kernels._jit import told_of_compiling
from ensemblage.report._layout import plural
from ensemblage.report._object_table import remove_objects

ALL = "all"
"""The --method that compares all of them."""
CHOSEN = "km"
"""What combines the partitions where the number of clusters is looked for."""
EMPTY: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True)
class Consensus:
    """What is asked of the consensus."""

    k: int | None
    method: str
    seed: int
    n_jobs: int
    memory: str | None
    chosen: Mapping[str, Any] = field(default_factory=dict)
    """Parameters of the method by name."""
    looks_for_k: bool = False
    """Whether the number of clusters is looked for before."""

    @classmethod
    def of(cls, k: int | None, settings: dict[str, Any], otherwise: str = "acv") -> Consensus:
        """Take what concerns the consensus out of the settings of a command.

        Without a method: k-means if the number of clusters is known, else ``otherwise``.
        """
        method = settings.pop("method") or (otherwise if k is None else "km")
        return cls(k, method, *(settings.pop(name) for name in ("seed", "n_jobs", "memory", "chosen")))

    def check(self, n_partitions: int | None = None) -> None:
        """What can be said before the work begins; ``n_partitions`` if it is known."""
        check_names(self.method, make_consensus(self.method, self.k), self.chosen)
        if self.looks_for_k:
            replace(self, k=2, looks_for_k=False).check(n_partitions)
            return
        if self.k is None and not METHODS[self.method].finds_k:
            able = ", ".join(name for name, method in METHODS.items() if method.finds_k)
            raise ValueError(
                f"-k must be given for the method {self.method}, which cannot find the number of clusters. Got none. "
                f"Give it, or choose a --method that can ({able})."
            )
        estimator = self.estimator()
        check_parameters(estimator)
        if isinstance(weights := self.chosen.get("weights"), list):
            check_weights(weights, n_partitions or len(weights), type(estimator).__name__)

    def identity(self) -> dict[str, Any]:
        """What the consensus depends on beside the ensemble and k."""
        chosen = ", ".join(f"{name}={text_of(self.chosen[name])}" for name in sorted(self.chosen))
        return {"method": self.method, "set": chosen or None}

    def tell_memory(self) -> None:
        """Say it if the limit limits nothing."""
        if self.memory is not None and "max_bytes" not in make_consensus(self.method, self.k).get_params():
            tell(f"--memory: {self.method} makes no matrix of all pairs of objects and needs no limit")

    def estimator(self) -> Any:
        return self._for_run(make_consensus(self.method, self.k, **self.chosen))

    def of_plan(self, plan: Plan) -> Any:
        """The consensus of a plan, with what concerns this run alone."""
        return self._for_run(consensus_of(plan, self.k, self.seed, self.n_jobs))

    def _for_run(self, estimator: Any) -> Any:
        """The estimator with seed, threads and memory."""
        known = estimator.get_params()
        own: dict[str, Any] = {"random_state": self.seed, "n_jobs": self.n_jobs}
        if self.memory is not None:
            own["max_bytes"] = self.memory
        return estimator.set_params(**{name: value for name, value in own.items() if name in known})


def run_analysis(data: Path, output: Path, overwrite: bool, annotate: bool, **settings: Any) -> dict[str, Any]:
    """Do what ``ensemblage run`` does; the summary of the analysis."""
    k, k_range, no_objects = settings.pop("k"), settings.pop("k_range"), settings.pop("no_objects")
    allow_one, again = settings.pop("allow_one"), settings.pop("stability")
    old, others, pair_files = _pop_old_labels(settings), _pop_all_methods(settings), PairFiles.of(settings)
    most = _largest_k(k, k_range)
    named = settings["method"]
    by_quality = named is None and not settings["chosen"]
    wanted = Consensus.of(most, settings, otherwise=CHOSEN)
    asked_generation = Generation.of(most, settings, wanted.seed, wanted.n_jobs)
    # The default is the same by its own name, unless parameters make another method of it.
    may_look = named is None or (not wanted.chosen and asked_generation.may_take(named))
    if allow_one and (k is not None or (k_range is None and not may_look)):
        raise ValueError(
            "--allow-one is for a number of clusters that is looked for. Got "
            f"{'-k' if k is not None else f'--method {named}, which finds it by its own rule'}. Leave one out."
        )
    wanted = replace(wanted, looks_for_k=most is None and may_look)
    wanted = replace(wanted, method=asked_generation.method) if by_quality else wanted
    source = asked_generation.source(Source.of(data, settings, *FEATURE_OPTIONS))
    asked_generation.check()
    wishes = Wishes(
        k,
        asked_generation.wish(),
        named or (CHOSEN if wanted.chosen else None),
        asked_generation.quality,
        allow_one,
        None if k_range is None else tuple(range(k_range[0], k_range[1] + 1)),
        again,
        is_default=named is None if wanted.chosen else None,
        is_anndata=isinstance(source, CellSource),
        member_weight=asked_generation.member_weight,
    )
    if annotate:
        check_annotated(source, output)
    asked: dict[str, Any] = {"k": k} if k_range is None else {"k_range": f"{k_range[0]}:{k_range[1]}"}
    # Where the number cannot be looked for, a method that was named stays.
    asked |= {"k": "found"} if most is None and named is None else {}
    asked |= {"allow_one": True} if allow_one else {}
    asked |= {} if again is None else {"stability": again}
    asked |= _page_settings(no_objects, others)
    asked |= {**identity_of(old), **pair_files.identity()}
    if pair_files:
        pair_files.check(replace(wanted, k=2).estimator(), others)

    def make(folder: Folder, content: bytes, seconds: dict[str, float]) -> dict[str, Any]:
        with record_time(seconds, "read"):
            features = source.features(content)
        tell_notes(data.name, features.notes)
        preprocessor = Preprocessor._of(features, source.given_roles, source.missing_codes)
        check_n_clusters(most, features.X, data.name)
        plan = plan_of(features.X, preprocessor, wishes)
        generation, chosen = asked_generation.of_plan(plan), replace(wanted, method=plan.combiner.value)
        generation.check_features(features, k_range is not None, data.name)
        check_align(old, features.ids)
        pairs = pair_files.pairs(features.ids, data.name)
        check_resampling(generation, features, plan, again)
        features = generation.tell_features(features, data.name)
        if generation.weights(features, len(features.members) + 1) is not None:
            set_weights(chosen.estimator(), [1, 2])  # refused before the work begins
        if plan.n_clusters.value is None:  # by a rule of the method's own
            chosen = replace(chosen, looks_for_k=False)
            chosen.check()
        if chosen.chosen:
            plan = with_consensus(plan, make_consensus(chosen.method, **chosen.chosen))
        tell(plan_text(plan, generation))
        preprocessor = Preprocessor._of(features, source.given_roles, source.missing_codes)
        make_ensemble = partial(_generate, folder, features, preprocessor, seconds, plan)
        made = None if generation.generator == DIVERSE else make_ensemble(generation)
        choice = _choice(features.X, plan, chosen, seconds)
        chosen = replace(chosen, k=number_of_clusters(plan, choice))
        if made is None:  # its members have about as many clusters
            generation = replace(generation, k=chosen.k)
            made = make_ensemble(generation)
        ensemble, model = made
        if model is not None:
            model.plan_ = plan
        features = generation.tell_fewer(data.name, features, ensemble, None if model is None else model.generator_)
        weights = generation.weights(features, ensemble.shape[1])
        estimator = chosen.of_plan(plan)
        set_weights(estimator, weights)
        asked_again = ResamplingPlan(
            generation, chosen.of_plan(plan), features, plan.stability.value, again is not None, seconds
        )
        left = dict.fromkeys([*asked_generation.identity(), "diverse_k"]) if generation.generator == RANDOM_K else {}
        used = {"k": k, **left, **generation.identity(), **chosen.identity()}
        return _finish(
            folder,
            ensemble,
            features,
            features.X,
            chosen,
            estimator,
            source,
            seconds,
            stability=choice,
            plan=plan,
            again=asked_again,
            used=used,
            generated=model,
            old=old,
            others=others,
            pairs=pairs,
            of_pairs=pair_files.descriptions(pairs),
        )

    known = asked_generation.partitions if asked_generation.generator in INDEPENDENT else None
    if asked_generation.generator == DIVERSE:  # k is not only the consensus's
        near = asked.get("k_range", "found" if may_look else "different") if k is None else k
        asked["diverse_k"] = f"{near} or 1" if allow_one else near
    made_of = {**asked_generation.identity(), **asked}
    summary = _analyse("run", source, output, overwrite, wanted, made_of, make, known)
    if annotate:
        tell(f"{write_annotated(source, output, overwrite)}: the table with what was found beside")
    return summary


def combine_analysis(path: Path, output: Path, overwrite: bool, **settings: Any) -> dict[str, Any]:
    """Do what ``ensemblage combine`` does; the summary of the analysis."""
    others = _pop_all_methods(settings)
    of_page = _page_settings(settings.pop("no_objects"), others)
    old, pair_files = _pop_old_labels(settings), PairFiles.of(settings)
    wanted, source = Consensus.of(settings.pop("k"), settings), Source.of(path, settings, "missing")
    if pair_files:
        pair_files.check(wanted.estimator(), others)

    def make(folder: Folder, content: bytes, seconds: dict[str, float]) -> dict[str, Any]:
        with record_time(seconds, "read"):
            members = source.members(content)
        tell_notes(path.name, members.notes)
        check_align(old, members.ids)
        pairs = pair_files.pairs(members.ids, path.name)
        more: dict[str, Any] = {
            "old": old,
            "others": others,
            "pairs": pairs,
            "of_pairs": pair_files.descriptions(pairs),
        }
        return _finish(folder, members.ensemble, members, None, wanted, wanted.estimator(), source, seconds, **more)

    asked = {"seed": wanted.seed, "k": wanted.k, **of_page, **identity_of(old), **pair_files.identity()}
    return _analyse("combine", source, output, overwrite, wanted, asked, make)


def _page_settings(no_objects: bool, others: bool) -> dict[str, Any]:
    """What the page and the summary depend on alone."""
    chosen: dict[str, Any] = {NO_OBJECTS: True} if no_objects else {}
    return chosen | ({"methods": ALL} if others else {})


def _pop_all_methods(settings: dict[str, Any]) -> bool:
    """Whether all methods are to be compared; the answer is that of none named."""
    if settings["method"] != ALL:
        return False
    settings["method"] = None
    return True


def _pop_old_labels(settings: dict[str, Any]) -> LabelTable | None:
    """The clusters whose numbers are to be kept."""
    path = settings.pop("align")
    return None if path is None else read_labels(path)


def _analyse(
    command: str,
    source: Source,
    output: Path,
    overwrite: bool,
    wanted: Consensus,
    asked: Mapping[str, Any],
    make: Callable[[Folder, bytes, dict[str, float]], dict[str, Any]],
    n_partitions: int | None = None,
) -> dict[str, Any]:
    """The summary of a folder: of an earlier run with the same settings, or made now from the bytes of the source.

    Where the output is a .h5ad file, it is all that is written.
    """
    wanted.check(n_partitions)
    if is_copy := is_annotated_copy(output):
        check_copy(source, output, overwrite)
    wanted.tell_memory()
    content = b"" if is_copy else source.read()
    made_of = {"command": command, "ensemblage": __version__, **source.identity(content)}
    identity = {**made_of, **asked, **wanted.identity()}
    said = told_of_compiling(lambda: tell("compiling, once: later commands find it done"))
    place = temporary_folder(output, identity) if is_copy else output_folder(output, identity, overwrite)
    with said, place as folder, _interruptible(folder):
        if folder.has(*FILES[:-1]):
            tell(f"{folder.path}: finished by an earlier run with the same settings")
            return folder.summary
        summary = make(folder, content, folder.summary.setdefault("seconds", {}))
        if is_copy:
            write_cells(source, folder.path, output, overwrite)
        return summary


def _largest_k(k: int | None, k_range: tuple[int, int] | None) -> int | None:
    """The largest number of clusters that is asked for."""
    if k is not None and k_range is not None:
        raise ValueError(
            f"-k and --k-range must not be given both. Got {k} and {k_range[0]}:{k_range[1]}. Leave one out."
        )
    return k if k_range is None else k_range[1]


MOST_COMPARED, MOST_OVERLAPS = 5 * 10**7, 10**7
"""Label rows × squared partitions, and cells of all contingency tables, up to which the modes of partitions are looked
for: a few seconds, and far less than `ConsensusModes` refuses."""


def _compare_methods(
    ensemble: Ensemble, consensus: Any, wanted: Consensus, seconds: dict[str, float]
) -> MethodComparison:
    """What every method makes of the partitions, asked for as many clusters as the answer has."""
    limit: dict[str, Any] = {} if wanted.memory is None else {"max_bytes": wanted.memory}
    with record_time(seconds, "methods"), progress_bar("methods", len(METHODS), "on the same partitions") as callback:
        return compare_methods(
            ensemble,
            consensus.n_clusters_,
            random_state=wanted.seed,
            n_jobs=wanted.n_jobs,
            progress=callback,
            **limit,
        )


def _modes(ensemble: Ensemble, n_jobs: int) -> ConsensusModes | None:
    """Whether partitions of any origin tell one story, where that does not take long."""
    p = ensemble.shape[1]
    are_few = len(ensemble.distinct.codes) * p**2 <= MOST_COMPARED and table_cells(ensemble.n_clusters) <= MOST_OVERLAPS
    return ConsensusModes(n_jobs=n_jobs).fit(ensemble) if p > 2 and are_few else None


def _choice(X: NDArray[np.float64], plan: Plan, wanted: Consensus, seconds: dict[str, float]) -> KChoice | None:
    """The number of clusters that most criteria name, where the plan asks them."""
    if not plan.chooses_k:
        return None
    line = "against single clouds of the same shape, and in halves of the objects"
    with record_time(seconds, "number of clusters"), progress_bar("number of clusters", 100, line) as callback:
        choice = choice_of(plan, X, wanted.seed, wanted.n_jobs, callback)
    if choice is not None:
        tell(choice.sentence)
    return choice


def check_n_clusters(k: int | None, X: NDArray[np.float64], name: str) -> None:
    """More clusters than different rows cannot be: said before the work begins."""
    if k is None or not X.shape[1] or (n_distinct := n_distinct_rows(X, k)) >= k:
        return
    raise ValueError(
        f"-k must be ≤ the {plural(n_distinct, 'different row')} of {name}. Got {k}. Ask for fewer clusters."
    )


@contextmanager
def _interruptible(folder: Folder) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        kept = [name for name in FILES if name in folder.hashes]
        if not kept:
            raise Interrupted(INTERRUPTED) from None
        raise Interrupted(
            f"Interrupted. {folder.path} keeps {', '.join(kept)}: the same command goes on from there."
        ) from None
    except ValueError:
        if folder.has(ENSEMBLE) and not folder.has(LABELS):
            tell(f"{folder.path} keeps {ENSEMBLE}: what follows with other settings goes on from there")
        raise


def _generate(
    folder: Folder,
    features: Features,
    preprocessor: Preprocessor,
    seconds: dict[str, float],
    plan: Plan,
    generation: Generation,
) -> tuple[Ensemble, ConsensusClustering | None]:
    """The ensemble of an earlier run that was stopped, or a new one, saved before anything else is done; and what puts
    new objects into it, None where the base clusterings are of distances, or of an older version."""
    if folder.has(ENSEMBLE):
        tell(f"{folder.path / ENSEMBLE}: made by an earlier run with the same settings")
        earlier = load(folder.path / MODEL) if folder.has(MODEL) else None  # an older version kept none
        ensemble = Ensemble.load(folder.path / ENSEMBLE)
        return ensemble, earlier if isinstance(earlier, ConsensusClustering) else None
    with record_time(seconds, "base clusterings"):
        planned = generator_of(plan, generation.k, generation.seed, generation.n_jobs)
        ensemble, generator = generation.fit(features, planned)
    of_distances = generation.generator == GOWER
    model = None if of_distances else ConsensusClustering._from_generator(preprocessor, generator, generation.seed)
    if model is not None:
        folder.put(MODEL, partial(save_model, _clone_without_threads(model)))
    folder.put(ENSEMBLE, ensemble.save)
    return ensemble, model


def _clone_without_threads(model: Any) -> Any:
    """The model as it is whatever --jobs was: threads change no result, and so no file."""
    for part in (model, *(getattr(model, name, None) for name in ("generator_", "consensus_"))):
        known = {} if part is None else part.get_params()
        if part is not None:
            part.set_params(**{name: None for name in known if name.rpartition("__")[2] == "n_jobs"})
    return model


def _finish(
    folder: Folder,
    ensemble: Ensemble,
    objects: Features | Members,
    X: NDArray[np.float64] | None,
    wanted: Consensus,
    estimator: Any,
    source: Source,
    seconds: dict[str, float],
    *,
    stability: KChoice | None = None,
    plan: Plan | None = None,
    again: ResamplingPlan | None = None,
    used: Mapping[str, Any] = EMPTY,
    generated: ConsensusClustering | None = None,
    old: LabelTable | None = None,
    others: bool = False,
    pairs: Mapping[str, Any] = EMPTY,
    of_pairs: Mapping[str, str] = EMPTY,
) -> dict[str, Any]:
    """The summary; ``used`` are settings that the data decided, ``generated`` made the ensemble of features, ``old``
    are clusters whose numbers are kept, ``others`` asks all methods, ``pairs`` are what the consensus keeps, told as
    ``of_pairs``."""
    with record_time(seconds, "consensus"), errors_with_ids(objects.ids):
        consensus = estimator.fit(ensemble, **pairs)
    align(consensus, old, objects.ids)
    with record_time(seconds, "ranking"):
        # Of fewer than three members there is no consensus to measure them by.
        rankers = [Discotec(random_state=0), AverageAgreement()][ensemble.shape[1] < 3 :]
        ranking = [ranker.fit(ensemble) for ranker in rankers]
    if not folder.has(ENSEMBLE):
        folder.put(ENSEMBLE, ensemble.save)
    model = consensus if generated is None else generated._set_consensus(ensemble, consensus, stability)
    folder.put(MODEL, partial(save_model, _clone_without_threads(model)))
    folder.put(LABELS, lambda path: write_labels(path, objects.ids, consensus))
    again_found = None if again is None else again.stability(numbers_of(consensus)[consensus.labels_])
    compared = _compare_methods(ensemble, consensus, wanted, seconds) if others else None
    found = None
    if isinstance(objects, Features):
        with record_time(seconds, "profile"):
            found = profile_of_features(objects, consensus, source)
    settings = {**folder.identity, **used}
    told = ((name, value) for name, value in settings.items() if value is not None and value is not False)
    chosen = {name: value for name, value in told if value != [] and name not in KINDS}
    with record_time(seconds, "report"):
        summary = report.summarize(
            ensemble,
            consensus,
            features=X if X is not None and X.shape[1] else None,
            ids=objects.ids,
            truth=objects.truth,
            ranking=ranking,
            seconds=seconds,
            settings={"file": source.path.name, **chosen, **of_pairs, "notes": "; ".join(objects.notes)},
            column_uses=objects.columns,
            title=f"Consensus clustering of {source.path.name}",
            k_choice=stability,
            plan=plan,
            cluster_stability=again_found,
            command=repeated_command({"data": source.path, "ensemble": source.path}),
            profile=found,
            method_comparison=compared,
            modes=_modes(ensemble, wanted.n_jobs) if folder.identity["command"] == "combine" else None,
        )
        folder.summary = remove_objects(summary) if folder.identity.get(NO_OBJECTS) else summary
        folder.put(REPORT, lambda path: report.build(folder.summary, path=path))
    folder.summary["seconds"] = seconds
    folder.put_summary()
    return folder.summary
