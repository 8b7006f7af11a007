"""The conformance table: what every method does with weights, missing labels, files, threads, workers and the rest.

``python tests/conformance.py`` prints it, a row for each method of the registry and a column for each check below.
`tests/test_conformance.py` runs the same checks as tests. A method that is registered gets all of them; a check asks
for what every method must do, or returns the sentence with which one refuses.
"""

from __future__ import annotations

import csv
import inspect
import json
import pickle
import re
import sys
import tempfile
import warnings
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from click.testing import CliRunner
from limits import limit
from numpy.testing import assert_array_equal
from places import WINE
from sklearn.base import clone
from strategies import few_starts, number_for, planted_labels, usual, with_equal_rows

from ensemblage import METHODS, Ensemble, generation, make_consensus, report
from ensemblage.cli import main as ensemblage
from ensemblage.consensus.diagnostics import Diagnostics
from ensemblage.metrics import INTERNAL_INDICES, coassociation, confidence, density
from ensemblage.ranking import RANKERS, make_ranker

NEEDS = {name: method.package for name, method in METHODS.items() if method.package}
AVAILABLE = sorted(name for name in METHODS if name not in NEEDS or find_spec(NEEDS[name]))
MISSING = [0.0, 0.3]
LEARNED = (
    "labels_",
    "confidence_",
    "runner_up_",
    "cohesion_",
    "linkage_matrix_",
    "objective_",
    "association_threshold_",
    "aggregate_",
    "losses_",
)


def method_of(name: str, n_clusters: int | None = 3, **parameters: Any) -> Any:
    """The method with a seed if it takes one, and ten starts instead of hundreds, which take long on a cluster."""
    method = few_starts(usual(name, n_clusters, **parameters))
    return method.set_params(random_state=0) if "random_state" in method.get_params() else method


def labels_with(missing: float) -> np.ndarray:
    """Planted labels, (300, 9), in which many rows occur several times."""
    return with_equal_rows(planted_labels(n=120, p=9, k=3, noise=0.15, missing=missing, seed=1)[0], 300)


def assert_same_fit(model: Any, other: Any) -> None:
    """All that both have learned, to the bit."""
    for attribute in LEARNED:
        if hasattr(other, attribute):
            assert_array_equal(getattr(model, attribute), getattr(other, attribute), err_msg=attribute)


def assert_sound(model: Any, n_objects: int, k: int | None = 3) -> None:
    """Clusters numbered by size without gaps, and a confidence for each object that has one."""
    sizes = np.bincount(model.labels_[model.labels_ >= 0])
    assert model.labels_.shape == model.confidence_.shape == (n_objects,)
    assert len(sizes) == model.n_clusters_
    assert k is None or model.n_clusters_ <= k
    assert sizes.all()
    assert (np.diff(sizes) <= 0).all()
    of_labelled = model.confidence_[model.labels_ >= 0]
    assert np.all((of_labelled >= 0) & (of_labelled <= 1))


def refusal(call: Callable[[], Any]) -> str:
    """The sentence with which a method refuses; it names the subject, the rule, what was got and the next step."""
    with pytest.raises(ValueError, match=r"(?s) (must|needs) .*[Gg]ot .*\. ") as caught:
        call()
    return str(caught.value)


@dataclass
class Setting:
    """What checks share: a folder, and workers once somebody wants them."""

    folder: Path
    _cluster: list[Any] = field(default_factory=list)

    @cached_property
    def client(self) -> Any:
        distributed = pytest.importorskip("distributed")
        self._cluster.append(distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=False,
                                                      dashboard_address=None))  # fmt: skip
        self._cluster.append(distributed.Client(self._cluster[0]))
        return self._cluster[1]

    def close(self) -> None:
        for part in reversed(self._cluster):
            part.close()


Check = Callable[[str, Setting], "str | None"]
CHECKS: dict[str, Check] = {}
"""A column's title → what it asks of the method with that name; what it returns is the reason of a refusal."""
OF_RANKERS: dict[str, Check] = {}
OF_GENERATORS: dict[str, Check] = {}
SLOW: set[str] = set()
"""Columns that take the time of the command line or of workers."""
BY_COMMAND_ONLY = {"run"}
"""Columns that this command alone looks at: what "combine" does not guard of them, `test_cli.py` does."""


def column(title: str, slow: bool = False, of: dict[str, Check] = CHECKS) -> Callable[[Check], Check]:
    def register(check: Check) -> Check:
        of[title] = check
        if slow:
            SLOW.add(title)
        return check

    return register


# ---- Weights ----


@column("weights")
def weights_count(name: str, setting: Setting) -> str | None:
    """Weights change the confidence as twice the partition does, equal ones nothing."""
    labels = planted_labels(n=80, p=6, k=3, noise=0.4, missing=0.2, seed=4)[0]
    labels[(labels < 0).all(axis=1)] = 0
    w = np.array([1, 4, 1, 2, 1, 1.0])
    plain = method_of(name).fit(labels)
    equal = method_of(name, weights=np.full(6, 5.0)).fit(labels)
    assert_array_equal(equal.labels_, plain.labels_)
    assert_array_equal(equal.confidence_, plain.confidence_)
    weighted = method_of(name, weights=w).fit(labels)
    assert_sound(weighted, 80)
    one = weighted.n_clusters_ == plain.n_clusters_ == 1
    assert one or np.average(weighted.confidence_) != np.average(plain.confidence_)
    assert np.average(weighted.cohesion_) != np.average(plain.cohesion_)
    again = np.repeat(labels, w.astype(int), axis=1)
    for model, given, its_weights in ((weighted, labels, w), (plain, labels, None)):
        z = model.labels_
        assert_array_equal(cohesion_by_pairs(given, z, its_weights).round(9), model.cohesion_.round(9))
    assert_array_equal(cohesion_by_pairs(again, weighted.labels_, None).round(9), weighted.cohesion_.round(9))
    assert_array_equal(confidence(again, weighted.labels_).confidence.round(9), weighted.confidence_.round(9))
    return None


def cohesion_by_pairs(labels: np.ndarray, clusters: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """Of the pairs with the other members, the share that is joined."""
    w = np.ones(labels.shape[1]) if weights is None else weights
    known = labels >= 0
    both = known[:, None] & known
    joined = both & (labels[:, None] == labels)
    others = (clusters[:, None] == clusters) & ~np.eye(len(labels), dtype=bool)
    pairs = ((both @ w) * others).sum(axis=1)
    shares = ((joined @ w) * others).sum(axis=1) / np.where(pairs > 0, pairs, 1)
    return np.where(known.any(axis=1), np.where(pairs > 0, shares, 0), np.nan)


def with_two_of_weight_0(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Labels and weights: two partitions have weight 0, and they alone label object 5."""
    labels = labels.copy()
    labels[5, :7], labels[5, 7:] = -1, 1
    order = [7, 0, 1, 2, 8, 3, 4, 5, 6]
    return labels[:, order], np.array([1, 2, 1, 1, 3, 1, 1, 0, 0.0])[order]


@column("weight 0")
def weight_0(name: str, setting: Setting) -> str | None:
    """A partition of weight 0 is left out, as if it were not there."""
    for missing in MISSING:
        given, weights = with_two_of_weight_0(labels_with(missing))
        model = method_of(name, weights=weights).fit(given)
        selected = Ensemble(given).select(weights > 0)
        other = method_of(name, weights=weights[weights > 0]).fit(selected)
        assert model.n_features_in_ == 9
        assert model.labels_[5] == -1
        assert np.isnan(model.confidence_[5])
        for attribute in ("labels_", "confidence_", "runner_up_", "linkage_matrix_", "objective_", "aggregate_"):
            if hasattr(other, attribute):
                assert_array_equal(getattr(model, attribute), getattr(other, attribute))
        if hasattr(model, "predict"):
            assert_array_equal(model.predict(given), model.labels_)
            assert_array_equal(model.predict(Ensemble(given)), other.predict(selected))
    return None


@column("objects' weights")
def sample_weight(name: str, setting: Setting) -> str | None:
    """An object of weight 2 is there twice, one of weight 0 not at all."""
    labels = planted_labels(n=60, p=5, k=3, noise=0.2, missing=0.1, seed=6)[0]
    w = np.random.default_rng(0).integers(0, 4, 60)
    weighted = method_of(name).fit(labels, sample_weight=w)
    repeated = method_of(name).fit(np.repeat(labels, w, axis=0))
    assert_array_equal(np.repeat(weighted.labels_, w), repeated.labels_)
    for attribute in ("confidence_", "runner_up_", "cohesion_"):
        assert_array_equal(np.repeat(getattr(weighted, attribute), w), getattr(repeated, attribute))
    return None


# ---- Labels ----


@column("complete")
def complete_labels(name: str, setting: Setting) -> str | None:
    model = method_of(name).fit(labels_with(0.0))
    assert_sound(model, 300)
    labels, _ = planted_labels(n=90, p=6, k=3, seed=3)
    model = method_of(name).fit(labels)
    assert np.mean(model.cohesion_) == pytest.approx(density(labels, model.labels_), abs=1e-12)
    return None


@column("missing")
def missing_labels(name: str, setting: Setting) -> str | None:
    assert_sound(method_of(name).fit(labels_with(0.3)), 300)
    return None


@column("no label at all")
def all_missing_rows(name: str, setting: Setting) -> str | None:
    """Objects that no partition labels are in no cluster, and change nothing else."""
    for missing in MISSING:
        labels = labels_with(missing)
        labels[[7, 200]] = -1
        model = method_of(name).fit(labels)
        assert_array_equal(np.flatnonzero(model.labels_ < 0), np.flatnonzero((labels < 0).all(axis=1)))
        assert np.isnan(model.confidence_[[7, 200]]).all()
        without = method_of(name).fit(np.delete(labels, [7, 200], axis=0))
        assert_array_equal(np.delete(model.labels_, [7, 200]), without.labels_)
        assert_array_equal(np.delete(model.confidence_, [7, 200]), without.confidence_)
    return None


@column("text and frames")
def the_form_of_the_labels_does_not_matter(name: str, setting: Setting) -> str | None:
    for missing in MISSING:
        labels = labels_with(missing)[:60]
        whole = method_of(name).fit(labels)
        columns = {f"member {j}": z for j, z in enumerate(labels.T)}
        text = {key: [None if v < 0 else f"cluster {v}" for v in z] for key, z in columns.items()}
        forms = [
            Ensemble(labels),
            np.where(labels < 0, np.nan, labels),
            labels.tolist(),
            pd.DataFrame(columns),
            pl.DataFrame(columns),
            pd.DataFrame(text),
            pl.DataFrame(text, schema=dict.fromkeys(text, pl.Categorical)),
        ]
        for form in forms:
            assert_same_fit(method_of(name).fit(form), whole)
    return None


@column("order of objects")
def permuting_the_objects_permutes_the_labels(name: str, setting: Setting) -> str | None:
    for missing in MISSING:
        labels = labels_with(missing)
        order = np.random.default_rng(0).permutation(len(labels))
        whole, permuted = method_of(name).fit(labels), method_of(name).fit(labels[order])
        assert_array_equal(permuted.labels_, whole.labels_[order])
        assert_array_equal(permuted.confidence_, whole.confidence_[order])
    return None


@column("one partition")
def one_partition(name: str, setting: Setting) -> str | None:
    """Its clusters are the consensus."""
    z = np.repeat([2, 0, 1], [30, 20, 10])
    try:
        model = method_of(name).fit(z[:, None])
    except ValueError:
        return refusal(lambda: method_of(name).fit(z[:, None]))
    assert_array_equal(model.labels_, np.repeat([0, 1, 2], [30, 20, 10]))
    assert_array_equal(model.confidence_, 1.0)
    return None


@column("equal partitions")
def equal_partitions(name: str, setting: Setting) -> str | None:
    truth = np.repeat([0, 1, 2], [30, 20, 10])
    model = method_of(name).fit(np.column_stack([truth, (truth + 1) % 3, 2 - truth]))
    assert_array_equal(model.labels_, truth)
    assert_array_equal(model.confidence_, 1.0)
    return None


@column("ties everywhere")
def ties_everywhere(name: str, setting: Setting) -> str | None:
    """Every label with every other as often: nothing is better than anything else, and the fit repeats itself."""
    labels = np.array(np.meshgrid([0, 1, 2], [0, 1, 2], [0, 1, 2])).reshape(3, -1).T
    labels = np.repeat(labels, 2, axis=0)
    model, again = method_of(name).fit(labels), method_of(name).fit(labels.copy())
    assert_sound(model, len(labels))
    assert_same_fit(again, model)
    assert_array_equal(model.labels_[::2], model.labels_[1::2])
    return None


# ---- Pairs, memberships, more partitions ----


@column("must-link")
def must_link(name: str, setting: Setting) -> str | None:
    """Objects that belong together are in one cluster, also those that no partition labels."""
    for missing in MISSING:
        labels, pairs = labels_with(missing), [[0, 5], [5, 9], [20, 121], [250, 3]]
        assert_sound(method_of(name).fit(labels, must_link=pairs), 300, None)
        labels[250] = -1
        model = method_of(name).fit(labels, must_link=pairs)
        assert all(model.labels_[i] == model.labels_[j] >= 0 for i, j in pairs)
    return None


@column("cannot-link")
def cannot_link(name: str, setting: Setting) -> str | None:
    """Objects that do not are in two clusters; or the method says that it has no rule for it."""
    pairs = [[0, 3], [3, 6], [6, 0], [10, 13]]
    try:
        model = method_of(name).fit(labels_with(0.0), cannot_link=pairs)
    except ValueError:
        return refusal(lambda: method_of(name).fit(labels_with(0.0), cannot_link=pairs))
    assert all(model.labels_[i] != model.labels_[j] for i, j in pairs)
    assert_sound(method_of(name).fit(labels_with(0.3), cannot_link=pairs), 300, None)
    return None


@column("memberships")
def memberships(name: str, setting: Setting) -> str | None:
    """Zeros and ones are labels; or the method says that it counts by labels alone."""
    labels = planted_labels(n=90, p=7, k=3, noise=0.1, seed=2)[0]
    soft = Ensemble.from_memberships([np.eye(3)[z] for z in labels.T])
    try:
        model = method_of(name).fit(soft)
    except ValueError:
        return refusal(lambda: method_of(name).fit(soft))
    hard = method_of(name).fit(labels)
    assert_array_equal(model.labels_, hard.labels_)
    np.testing.assert_allclose(model.confidence_, hard.confidence_)
    return None


@column("more partitions")
def more_partitions(name: str, setting: Setting) -> str | None:
    """What `add_partitions` finds in partitions that arrive, `fit` finds in all of them."""
    model, labels = method_of(name), labels_with(0.3)
    if not hasattr(model, "add_partitions"):
        return "has no add_partitions"
    model.add_partitions(labels[:, :4]).add_partitions(labels[:, 4:])
    assert_same_fit(model, method_of(name).fit(labels))
    return None


# ---- The estimator ----


@column("refit")
def refit_with_other_parameters(name: str, setting: Setting) -> str | None:
    """A second fit with other parameters and other data leaves nothing of the first one."""
    first, second = labels_with(0.0), planted_labels(n=90, p=5, k=4, noise=0.3, missing=0.1, seed=8)[0]
    model = method_of(name, n_clusters=2).fit(first)
    fresh = method_of(name, n_clusters=4).fit(second)
    model.set_params(n_clusters=number_for(name, 4)).fit(second)
    assert model.n_features_in_ == 5
    assert vars(model).keys() == vars(fresh).keys()
    assert_same_fit(model, fresh)
    assert len(pickle.dumps(model)) == len(pickle.dumps(fresh))
    if hasattr(model, "predict"):
        assert_array_equal(model.predict(second), fresh.predict(second))
    return None


@column("clone, pickle")
def clone_and_pickle(name: str, setting: Setting) -> str | None:
    labels = labels_with(0.3)
    model = method_of(name).fit(labels)
    assert clone(model).get_params() == model.get_params()
    again = pickle.loads(pickle.dumps(model))
    assert_same_fit(again, model)
    if hasattr(model, "predict"):
        assert_array_equal(again.predict(labels), model.predict(labels))
    return None


@column("predict")
def predict(name: str, setting: Setting) -> str | None:
    for missing in MISSING:
        labels = labels_with(missing)
        model = method_of(name).fit(labels)
        if not hasattr(model, "predict"):
            return "it does not place new objects"
        assert_array_equal(model.predict(labels), model.labels_)
    return None


@column("n_clusters counts")
def n_clusters_is_not_ignored(name: str, setting: Setting) -> str | None:
    """A number of clusters is refused, or two numbers give two numbers of clusters."""
    cls = METHODS[name].estimator.__name__
    if not METHODS[name].capabilities.takes_n_clusters:
        return refusal(lambda: make_consensus(name, 4).fit(labels_with(0.0)))
    fine = planted_labels(n=60, p=5, k=5, noise=0.2, seed=6)[0]
    two, four = (method_of(name, k).fit(fine).n_clusters_ for k in (2, 4))
    assert two == 2 < four, (
        f"{cls} ignores n_clusters: asked for 2 and for 4 clusters, it gives {two} and {four}. Use self.n_clusters in "
        "`_fit`, or set takes_n_clusters=False in its `_capabilities`."
    )
    return None


@column("capabilities")
def what_the_record_says_is_what_the_method_does(name: str, setting: Setting) -> str | None:
    """Each field of its `Capabilities`, tried; "disk" and "Dask" try where the rows may be."""
    able = METHODS[name].capabilities
    labels = planted_labels(n=60, p=5, k=3, noise=0.2, seed=6)[0]
    gaps = labels.copy()
    gaps[::7, 1] = -1
    soft = Ensemble.from_memberships([np.random.default_rng(j).dirichlet(np.ones(3), 60) for j in range(5)])

    def fits(given: Any, n_clusters: int | None = 3, **arguments: Any) -> bool:
        model = method_of(name, n_clusters, **({"weights": [3, 1, 1, 1, 2]} if arguments.pop("weighted", 0) else {}))
        return works(lambda: model.fit(given, **arguments))

    found = {
        "partition_weights": fits(labels, weighted=True),
        "sample_weight": fits(labels, sample_weight=np.arange(60) % 3),
        "missing_labels": fits(gaps),
        "memberships": fits(soft),
        "must_link": fits(labels, must_link=[[0, 1]]),
        "cannot_link": fits(labels, cannot_link=[[0, 1]]),
        "takes_n_clusters": works(lambda: make_consensus(name, 3).fit(labels)),
        "finds_n_clusters": fits(labels, None),
        "predict": hasattr(method_of(name), "predict"),
        "add_partitions": hasattr(method_of(name), "add_partitions"),
        "similarities": works(lambda: method_of(name).fit_similarity(coassociation(labels))),
        "sparse_similarities": able.sparse_similarities and able.similarities,
        "in_memory": able.in_memory,
        "compares_pairs": able.compares_pairs and bool(able.in_memory),
    }
    wrong = {field: said for field, said in asdict(able).items() if said != found[field]}
    assert not wrong, f"_capabilities of {METHODS[name].estimator.__name__} says {wrong}: it does the opposite"
    assert able == method_of(name).capabilities
    return None


def works(call: Callable[[], Any]) -> bool:
    """Whether it does not refuse."""
    try:
        call()
    except (ValueError, AttributeError):
        return False
    return True


@column("wrong number of clusters")
def n_clusters_is_a_whole_number(name: str, setting: Setting) -> str | None:
    if not METHODS[name].capabilities.takes_n_clusters:
        return refusal(lambda: make_consensus(name, 0).fit(labels_with(0.0)))
    for bad in (0, -1, 2.5, True, "3"):
        with pytest.raises(ValueError, match=r"n_clusters of .* must be a whole number"):
            method_of(name, bad).fit(labels_with(0.0))
    with pytest.raises(ValueError, match=r"n_clusters of .* must be"):
        method_of(name, 5).fit([[0, 0], [0, 0], [1, 1], [1, 0]])
    return None


@column("finds the number")
def finds_the_number(name: str, setting: Setting) -> str | None:
    """Without a number of clusters it finds one, if it says so."""
    labels = labels_with(0.0)
    if not METHODS[name].finds_k:
        return refusal(lambda: method_of(name, None).fit(labels))
    assert_sound(method_of(name, None).fit(labels), 300, None)
    return None


# ---- What is reported of it ----


@column("report, JSON")
def report_and_json(name: str, setting: Setting) -> str | None:
    """A page and its numbers, which make the same page again."""
    labels = planted_labels(n=60, p=6, k=3, noise=0.2, missing=0.1, seed=2)[0]
    model = method_of(name).fit(labels)
    page, numbers = setting.folder / f"{name}.html", setting.folder / f"{name}.json"
    report.build(labels, model, path=page, json_path=numbers)
    summary = json.loads(numbers.read_text(encoding="utf-8"))
    assert [c["size"] for c in summary["clusters"]] == np.bincount(model.labels_[model.labels_ >= 0]).tolist()
    assert report.render(summary) == page.read_text(encoding="utf-8")
    assert all(isinstance(record, Diagnostics) for record in model.diagnostics(labels))
    return None


def succeed(*arguments: Any) -> Any:
    result = CliRunner().invoke(ensemblage, [str(a) for a in arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.stderr
    return result


def clusters_in(path: Path) -> list[str]:
    with open(path, newline="", encoding="utf-8") as file:
        return [row["cluster"] for row in csv.DictReader(file)]


def number_option(name: str) -> tuple[Any, ...]:
    return ("-k", 3) if number_for(name) else ()


@column("combine", slow=True)
def command_combine(name: str, setting: Setting) -> str | None:
    labels = planted_labels(n=60, p=6, k=3, noise=0.2, seed=2)[0]
    Ensemble(labels).save(setting.folder / f"{name}.npz")
    out = setting.folder / f"{name}-combined"
    succeed("combine", setting.folder / f"{name}.npz", *number_option(name), "--method", name, "-o", out)
    assert clusters_in(out / "labels.csv") == [str(z) for z in method_of(name).fit(labels).labels_]
    again = setting.folder / f"{name}-again.html"
    succeed("report", out, "-o", again)
    seconds = re.compile(r"<tr><td>report</td><td>.*\n")  # the first page could not tell how long it took
    assert seconds.sub("", again.read_text(encoding="utf-8")) == seconds.sub(
        "", (out / "report.html").read_text(encoding="utf-8")
    )
    return None


@column("run", slow=True)
def command_run(name: str, setting: Setting) -> str | None:
    out = setting.folder / f"{name}-run"
    arguments = ("run", WINE, *number_option(name), "--method", name, "--partitions", 6, "--drop-column", "cultivar")
    arguments += ("-o", out)
    succeed(*arguments)
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    assert sorted(before) == ["ensemble.npz", "labels.csv", "report.html", "summary.json"]
    assert "finished by an earlier run" in succeed(*arguments).stderr
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    return None


@column("methods")
def command_methods(name: str, setting: Setting) -> str | None:
    """The command line names it, and every parameter of it that can be set."""
    assert name in succeed("methods").stdout.split()
    told = succeed("methods", name).stdout
    parameters = set(usual(name, 3).get_params()) - {"progress"}
    assert parameters == set(re.findall(r"^  (\w+)=", told, flags=re.MULTILINE))
    return None


# ---- Where it works ----


@column("threads, blocks")
def no_result_depends_on_threads_or_blocks(name: str, setting: Setting) -> str | None:
    for missing in MISSING:
        labels = labels_with(missing)
        one = method_of(name, n_jobs=1).fit(labels)
        assert_same_fit(method_of(name, n_jobs=2).fit(labels), one)
        assert_same_fit(method_of(name, n_jobs=-1).fit(labels), one)
        with pytest.MonkeyPatch.context() as patch:
            limit(patch, "rows of a block", 11)
            assert_same_fit(method_of(name, n_jobs=2).fit(labels), one)
    return None


def works_elsewhere(name: str, labels: np.ndarray, elsewhere: Ensemble) -> str | None:
    """The method gives the same there, or says why it needs the rows in memory."""
    expected = method_of(name).fit(labels)
    try:
        model = method_of(name).fit(elsewhere)
    except ValueError:
        assert METHODS[name].capabilities.in_memory
        return refusal(lambda: method_of(name).fit(elsewhere))
    assert_same_fit(model, expected)
    if hasattr(model, "predict"):
        assert_array_equal(model.predict(elsewhere), expected.labels_)
    return None


@contextmanager
def never_small() -> Any:
    """No distinct rows are few enough to come into memory unasked."""
    with pytest.MonkeyPatch.context() as patch:
        limit(patch, "bytes of distinct rows that workers send", 0)
        limit(patch, "share of the memory for distinct rows on disk", 10**9)
        yield


@column("disk")
def on_disk(name: str, setting: Setting) -> str | None:
    given, weights = with_two_of_weight_0(labels_with(0.3))
    path = setting.folder / f"{name}.npy"
    np.save(path, given)
    stored = Ensemble.open(path, scratch=setting.folder)
    refused = works_elsewhere(name, given, stored)
    if not refused:
        model, other = (method_of(name, weights=weights).fit(E) for E in (stored, given))
        assert_same_fit(model, other)
    return refused


@column("Dask", slow=True)
def on_dask(name: str, setting: Setting) -> str | None:
    labels = labels_with(0.3)
    with never_small(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        refused = works_elsewhere(name, labels, Ensemble.from_dask(np.array_split(labels, 5), client=setting.client))
    assert bool(refused) == bool(METHODS[name].capabilities.in_memory)
    return refused


# ---- Rankers ----

RANKER_NAMES = sorted(RANKERS)


def ranked(name: str, labels: Any, **parameters: Any) -> Any:
    """The ranker fitted, with a seed and with features, for those that use some."""
    ranker = make_ranker(name)
    parameters = {"random_state": 0, **parameters}
    ranker.set_params(**{key: value for key, value in parameters.items() if key in ranker.get_params()})
    return ranker.fit(labels, features=features_of(np.shape(labels)[0]))


def features_of(n: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(n, 3)) + np.arange(n)[:, None] % 3


def assert_same_ranking(ranker: Any, other: Any) -> None:
    assert_array_equal(ranker.scores_, other.scores_)
    assert_array_equal(ranker.order_, other.order_)
    assert_array_equal(ranker.ranks_, other.ranks_)


@column("order", of=OF_RANKERS)
def ranks_follow_the_scores(name: str, setting: Setting) -> str | None:
    for missing in MISSING:
        ranker = ranked(name, labels_with(missing))
        assert sorted(ranker.order_) == list(range(9))
        scores = ranker.scores_[ranker.order_]
        scores = scores[~np.isnan(scores)]
        assert (np.diff(scores) <= 0).all() if ranker.greater_is_better else (np.diff(scores) >= 0).all()
        assert ranker.ranks_[ranker.order_[0]] == 1
    return None


@column("partitions elsewhere", of=OF_RANKERS)
def permuting_the_partitions_permutes_the_scores(name: str, setting: Setting) -> str | None:
    for missing in MISSING:
        labels, order = labels_with(missing), np.random.default_rng(0).permutation(9)
        whole, permuted = ranked(name, labels), ranked(name, labels[:, order])
        np.testing.assert_allclose(permuted.scores_, whole.scores_[order], rtol=1e-12)
    return None


@column("text and frames", of=OF_RANKERS)
def ranking_of_any_form(name: str, setting: Setting) -> str | None:
    labels = labels_with(0.3)
    whole = ranked(name, labels)
    text = {f"{j}": [None if v < 0 else f"cluster {v}" for v in z] for j, z in enumerate(labels.T)}
    for form in (Ensemble(labels), np.where(labels < 0, np.nan, labels), pd.DataFrame(text), pl.DataFrame(text)):
        assert_same_ranking(ranked(name, form), whole)
    return None


@column("no label at all", of=OF_RANKERS)
def ranking_with_unlabelled_objects(name: str, setting: Setting) -> str | None:
    """Objects that no partition labels change no order among those that have a score."""
    labels = labels_with(0.0)
    labels[7] = -1
    assert np.isfinite(ranked(name, labels).scores_).all()
    return None


@column("twin partitions", of=OF_RANKERS)
def equal_partitions_have_equal_ranks(name: str, setting: Setting) -> str | None:
    labels = labels_with(0.0)
    labels[:, 4] = (labels[:, 2] + 1) % 3
    ranker = ranked(name, labels)
    assert ranker.scores_[4] == ranker.scores_[2]
    assert ranker.ranks_[4] == ranker.ranks_[2]
    return None


@column("one partition", of=OF_RANKERS)
def ranking_of_one(name: str, setting: Setting) -> str | None:
    labels = labels_with(0.0)[:, :1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it has no score
        try:
            assert_array_equal(ranked(name, labels).order_, [0])
        except ValueError:
            return refusal(lambda: ranked(name, labels))
    return None


@column("refit, clone, pickle", of=OF_RANKERS)
def ranking_again(name: str, setting: Setting) -> str | None:
    first, second = labels_with(0.3), labels_with(0.0)[:, :5]
    ranker, fresh = ranked(name, first), ranked(name, second)
    ranker.fit(second, features=features_of(300))
    assert_same_ranking(ranker, fresh)
    assert_same_ranking(pickle.loads(pickle.dumps(ranker)), fresh)
    assert clone(ranker).get_params() == ranker.get_params()
    return None


@column("threads, blocks", of=OF_RANKERS)
def ranking_with_threads(name: str, setting: Setting) -> str | None:
    labels = labels_with(0.3)
    one = ranked(name, labels, n_jobs=1)
    assert_same_ranking(ranked(name, labels, n_jobs=3), one)
    with pytest.MonkeyPatch.context() as patch:
        limit(patch, "rows of a block", 11)
        assert_same_ranking(ranked(name, labels, n_jobs=2), one)
    return None


@column("disk", of=OF_RANKERS)
def ranking_on_disk(name: str, setting: Setting) -> str | None:
    labels = labels_with(0.3)
    np.save(setting.folder / f"{name}.npy", labels)
    stored = Ensemble.open(setting.folder / f"{name}.npy", scratch=setting.folder)
    assert_same_ranking(ranked(name, stored), ranked(name, labels))
    return None


@column("rank", of=OF_RANKERS, slow=True)
def command_rank(name: str, setting: Setting) -> str | None:
    labels = labels_with(0.0)[:60]
    Ensemble(labels).save(setting.folder / "ranked.npz")
    pd.DataFrame(features_of(60)).to_csv(setting.folder / "features.csv", index=False)
    index = name in INTERNAL_INDICES
    given = ("--features", setting.folder / "features.csv", "--no-standardize") if index else ()
    out = setting.folder / f"{name}.csv"
    succeed("rank", setting.folder / "ranked.npz", "--by", name, *given, "-o", out, "--overwrite")
    ranker = ranked(name, labels)
    expected = [f"partition_{j}" for j in ranker.order_]
    assert pd.read_csv(out)["member"].tolist() == expected
    return None


# ---- Generators ----

GIVEN: dict[str, dict[str, Any]] = {
    "GreedyPartitions": {"n_clusters": 3, "n_candidates": 4},
    "MixedPartitions": {"n_clusters": 3},
    "ResampledPartitions": {"n_partitions": 5, "n_clusters": 3},
    "LeidenPartitions": {"n_partitions": 5, "n_neighbors": 4, "resolutions": [5.0], "algorithm": "louvain"},
    "DiversePartitions": {"n_clusters": [3, 5]},
    "ScaledPartitions": {"n_clusters": [3, 5]},
    "USpecPartitions": {"n_partitions": 5, "k_min": 3, "k_max": 9, "n_representatives": 40},
}
"""What a generator must be given, or is small with."""
GENERATORS = sorted(name for name in generation.__all__ if name.endswith("Partitions"))
FEATURES = np.random.default_rng(1).normal(size=(80, 6)) + 4 * (np.arange(80)[:, None] % 3)


def generated(name: str, X: Any = FEATURES, **parameters: Any) -> tuple[Any, np.ndarray]:
    """A generator, and the labels that it gives."""
    cls = getattr(generation, name)
    taken = inspect.signature(cls).parameters
    given = GIVEN.get(name, {"n_partitions": 5}) | {"random_state": 0} | parameters
    generator = cls(**{key: value for key, value in given.items() if key in taken})
    return generator, generator.fit_transform(X)


@column("seed", of=OF_GENERATORS)
def the_same_seed_gives_the_same_labels(name: str, setting: Setting) -> str | None:
    generator, labels = generated(name)
    assert_array_equal(generated(name)[1], labels)
    assert_array_equal(clone(generator).fit_transform(FEATURES), labels)
    assert len(labels) == 80
    assert list(generator.get_feature_names_out()) == list(dict.fromkeys(generator.get_feature_names_out()))
    assert len(generator.get_feature_names_out()) == labels.shape[1]
    if name == "GreedyPartitions":
        return "its start is no matter of chance; the seed draws candidates, of many rows"
    if name == "MixedPartitions":
        return "most of its clusterers have no seed"
    if name == "GeniePartitions":
        return "nothing in it is random"
    if name == "ScaledPartitions":
        return "the seed draws objects where there are more than 2,500"
    if name == "LeidenPartitions":
        return "communities that are clear are found from every seed; test_communities has a graph where they are not"
    assert (generated(name, random_state=1)[1] != labels).any()
    return None


@column("threads", of=OF_GENERATORS)
def generation_with_threads(name: str, setting: Setting) -> str | None:
    labels = generated(name, n_jobs=1)[1]
    for n_jobs in (2, 3, -1):
        assert_array_equal(generated(name, n_jobs=n_jobs)[1], labels)
    return None


@column("frames", of=OF_GENERATORS)
def generation_of_frames(name: str, setting: Setting) -> str | None:
    labels = generated(name)[1]
    for form in (pd.DataFrame(FEATURES), pl.DataFrame(FEATURES), FEATURES.tolist(), np.asfortranarray(FEATURES)):
        assert_array_equal(generated(name, form)[1], labels)
    return None


@column("refit, pickle", of=OF_GENERATORS)
def generation_again(name: str, setting: Setting) -> str | None:
    generator, _ = generated(name, FEATURES[:40, :3])
    fresh, expected = generated(name)
    assert_array_equal(generator.fit_transform(FEATURES), expected)
    assert generator.n_features_in_ == 6
    assert vars(generator).keys() == vars(fresh).keys()
    again = pickle.loads(pickle.dumps(generator))
    assert_array_equal(again.transform(FEATURES), generator.transform(FEATURES))
    return None


@column("wrong features", of=OF_GENERATORS)
def generation_of_wrong_features(name: str, setting: Setting) -> str | None:
    sentences = []
    for wrong in (np.where(FEATURES > 8, np.nan, FEATURES), FEATURES[:0], FEATURES[:, :0], FEATURES[0]):
        with pytest.raises(ValueError, match=r".") as caught:
            generated(name, wrong)
        sentences.append(str(caught.value))
    assert all(sentences)
    return None


COMMANDS = {"RandomKPartitions": "random-k", "SubspacePartitions": "subspace", "ProjectionPartitions": "projection",
            "GreedyPartitions": "greedy", "MixedPartitions": "mixed",
            "GeniePartitions": "genie", "DiversePartitions": "diverse", "USpecPartitions": "uspec"}  # fmt: skip
OF_K = ("greedy", "mixed", "diverse")
"""Those whose number of clusters is given."""


@column("generate", of=OF_GENERATORS, slow=True)
def command_generate(name: str, setting: Setting) -> str | None:
    if name not in COMMANDS:
        return "the command line has no word for it"
    outs = [setting.folder / f"{name}-{suffix}" for suffix in ("1.npz", "2.npz", "3.csv")]
    size = ("-k", 3) if COMMANDS[name] in OF_K else ("--partitions", 5)
    for out in outs:
        succeed("generate", WINE, "--generator", COMMANDS[name], *size, "--drop-column", "cultivar", "-o", out)
    first, second, third = (Ensemble.load(out) for out in outs)
    assert_array_equal(np.asarray(first), np.asarray(second))
    assert first.shape == third.shape
    assert len(first) == 178
    return None


# ---- The table ----


def outcome_of(check: Check, name: str, setting: Setting) -> tuple[str, str]:
    """A mark, and what there is to say: ✓, – with the reason of a refusal, ✗ with the error."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            reason = check(name, setting)
    except pytest.skip.Exception as skipped:
        return "?", str(skipped)
    except (Exception, pytest.fail.Exception) as error:
        return "✗", f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
    return ("–", reason) if reason else ("✓", "")


def table(names: list[str], checks: dict[str, Check]) -> dict[str, dict[str, tuple[str, str]]]:
    """By method and column the outcome."""
    with tempfile.TemporaryDirectory() as folder:
        setting = Setting(Path(folder))
        try:
            return {n: {title: outcome_of(check, n, setting) for title, check in checks.items()} for n in names}
        finally:
            setting.close()


def as_text(found: dict[str, dict[str, tuple[str, str]]]) -> str:
    """A table of marks, and below it every reason once, with the methods that give it."""
    titles = list(next(iter(found.values())))
    lines = ["| method | " + " | ".join(titles) + " |", "|---|" + "---|" * len(titles)]
    reasons: dict[tuple[str, str], list[str]] = {}
    for name, outcomes in found.items():
        lines.append(f"| {name} | " + " | ".join(outcomes[title][0] for title in titles) + " |")
        for title, (mark, reason) in outcomes.items():
            if reason:
                reasons.setdefault((f"{mark} {title}", reason), []).append(name)
    lines.append("")
    lines += [f"- {title} ({', '.join(names)}): {reason}" for (title, reason), names in reasons.items()]
    return "\n".join(lines) + "\n"


def main() -> None:
    words, failed = sys.argv[1:], False
    for names, checks in ((AVAILABLE, CHECKS), (RANKER_NAMES, OF_RANKERS), (GENERATORS, OF_GENERATORS)):
        chosen = [name for name in names if not words or name in words]
        if chosen:
            found = table(chosen, checks)
            sys.stdout.write(as_text(found) + "\n")
            failed |= any(mark == "✗" for outcomes in found.values() for mark, _ in outcomes.values())
    sys.exit(failed)


if __name__ == "__main__":
    main()
