"""Rankers by name, and several rankings of the same members side by side: how well each finds the truth."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from os import PathLike
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from ensemblage.base.renamed import FormerName
from ensemblage.base.text import Columns, backend_of, html_table, one_line, to_csv, to_frame, to_markdown
from ensemblage.base.validation import check_choice, format_value
from ensemblage.labels.ensemble import as_ensemble
from ensemblage.metrics._agreement import agreement_with
from ensemblage.metrics._internal._indices import INTERNAL_INDICES
from ensemblage.metrics._partition_distance import DISTANCES as PARTITION_DISTANCES
from ensemblage.ranking._agreement import AverageAgreement, AverageDistance
from ensemblage.ranking._base import BaseRanker
from ensemblage.ranking._discotec import DISCOTEC, DISTANCES
from ensemblage.ranking._internal import InternalIndex

RANKERS: Mapping[str, Callable[[], BaseRanker]] = MappingProxyType(
    {
        "discotec": DISCOTEC,
        **{f"discotec-{distance}": partial(DISCOTEC, distance) for distance in DISTANCES},
        "aari": AverageAgreement,
        "anmi": partial(AverageAgreement, "nmi"),
        **{f"distance-{kind}": partial(AverageDistance, kind) for kind in PARTITION_DISTANCES},
        **{index: partial(InternalIndex, index) for index in INTERNAL_INDICES},
    }
)
"""Rankers by name: DISCOTEC ("discotec" is its binary form), mean agreement with the others, mean distance from
them, the internal indices."""


def make_ranker(name: str) -> BaseRanker:
    """Use it to select a ranker by its name.

    Parameters
    ----------
    name : str
        A key of ``RANKERS``.

    Returns
    -------
    ranker
        Not fitted.

    Examples
    --------
    >>> from ensemblage.ranking import make_ranker
    >>> make_ranker("discotec-kl")
    DISCOTEC(measure='kl')
    """
    return RANKERS[check_choice(name, "The name of a ranker", RANKERS)]()


@dataclass(frozen=True)
class Comparison:
    """Rankings of the members of an ensemble; `compare_rankers` makes it."""

    partition_columns: Mapping[str, Sequence[Any]]
    """One row per member, in the order of the ensemble."""
    ranker_columns: Mapping[str, Sequence[Any]]
    """One row per ranker; without the truth only its name and the member it selects."""
    rankers: Mapping[str, BaseRanker]
    """The fitted rankers."""
    backend: str | None
    """Library of the data frames: that of the labels or features given, else the first that is installed."""

    members = FormerName("partitions")

    @property
    def partitions(self) -> Any:
        """Data frame with a row per member: name, clusters, score and rank by each ranker, ARI with the truth."""
        return to_frame(self.partition_columns, self.backend)

    @property
    def summary(self) -> Any:
        """Data frame with a row per ranker: the member it selects, correlations with the ARI, regrets."""
        return to_frame(self.ranker_columns, self.backend)

    def to_markdown(self) -> str:
        """Both tables, numbers to four digits.

        Returns
        -------
        str
            The summary first, then the members.
        """
        return f"{to_markdown(self.ranker_columns)}\n\n{to_markdown(self.partition_columns)}\n"

    def to_csv(self, path: str | PathLike[str]) -> None:
        """Write the rows of the members to a CSV file. It is written under another name first, then renamed.

        Parameters
        ----------
        path : path
            Of the file, which is replaced if there is one.
        """
        to_csv(self.partition_columns, path)

    def _repr_markdown_(self) -> str:
        return self.to_markdown()

    def _repr_html_(self) -> str:
        members, n = self.partition_columns, len(self.rankers)
        order = next(iter(self.rankers.values())).order_
        picked = {name: [values[i] for i in order] for name, values in members.items()}
        said = f"<b>{n} ranking{'s' * (n > 1)}</b> of {len(order):,} members, by the first of them"
        return f"<div>{_html_of(self.ranker_columns)}{said}{_html_of(picked)}</div>"


def _html_of(columns: Columns) -> str:
    lines = zip(*columns.values(), strict=True)
    rows = [[f"{cell:.4g}" if isinstance(cell, float) else one_line(cell, 24) for cell in line] for line in lines]
    return html_table([name.replace("_", " ") for name in columns], rows)


def compare_rankers(
    labels: ArrayLike | Any,
    features: Any = None,
    truth: ArrayLike | None = None,
    rankers: Iterable[str | BaseRanker] | Mapping[str, BaseRanker] | None = None,
    *,
    must_link: ArrayLike | None = None,
    cannot_link: ArrayLike | None = None,
    known_labels: ArrayLike | None = None,
) -> Comparison:
    """Use it to compare rankers: the order of the members by each, and the agreement with known classes.

    Parameters
    ----------
    labels : array-like, data frame or Ensemble of shape (n_objects, n_partitions)
        The ensemble. -1 and NaN mean missing.
    features : array-like or data frame of shape (n_objects, n_features), optional
        For the internal indices.
    truth : array-like of shape (n_objects,), optional
        True classes, -1 or NaN where they are not known.
    rankers : sequence of str or ranker, or dict of rankers by name, optional
        Names are keys of ``ranking.RANKERS``. Default: "discotec", "aari" and "anmi"; with features "silhouette" and
        "calinski_harabasz" too.
    must_link, cannot_link : array-like of int, shape (n_pairs, 2), optional
        Pairs of objects, by row number, known to belong together or not to. They may contradict each other: then
        every member violates some.
    known_labels : array-like of shape (n_objects,), optional
        Classes of the objects as far as they are known, -1 or NaN elsewhere. Every pair of known objects counts as
        a constraint.

    Returns
    -------
    Comparison
        ``partitions``, a data frame with a row for each: "member", "n_clusters", for each ranker its name (the score)
        and "… rank", and with the truth "ari". ``summary``, a data frame with a row per ranker: "ranker", "selected",
        and with the truth "kendall" (τ-b) and "pearson" with the ARI, scores to be minimised negated first, the
        selected member's "selected_ari", and for all three the regret: how much less it is than the best of the
        rankers. ``to_markdown()``, ``to_csv(path)``.

    Raises
    ------
    ValueError
        If a ranker is not known or two have one name, or an internal index is asked for without features.

    Notes
    -----
    Members without a score are left out of that ranker's correlations, which are NaN where all scores or all ARIs are
    equal. Time and memory are those of the rankers.

    References
    ----------
    Ohl & Lindsten 2025, Sec. 4.1 and 4.3: the protocol of their tables.

    Examples
    --------
    >>> from ensemblage import ranking
    >>> from ensemblage.datasets import make_partitions
    >>> labels, truth = make_partitions(random_state=0)
    >>> comparison = ranking.compare_rankers(labels, truth=truth, rankers=["discotec", "aari"])
    >>> print(comparison.to_markdown().split("\\n\\n")[0])
    | ranker | selected | kendall | kendall_regret | pearson | pearson_regret | selected_ari | selected_ari_regret |
    |---|---|---|---|---|---|---|---|
    | discotec | partition_35 | 0.96 | 0.02697 | 0.9987 | 0.0009857 | 0.7955 | 0 |
    | aari | partition_35 | 0.9869 | 0 | 0.9997 | 0 | 0.7955 | 0 |
    """
    ensemble = as_ensemble(labels)
    fitted = _name_rankers(rankers, features is not None)
    known = {"must_link": must_link, "cannot_link": cannot_link, "known_labels": known_labels}
    for ranker in fitted.values():
        ranker.fit(ensemble, features=features if isinstance(ranker, InternalIndex) else None, **known)
    ari = None if truth is None else agreement_with(ensemble, truth, "ari")
    members: dict[str, Sequence[Any]] = {"member": ensemble.names, "n_clusters": ensemble.n_clusters.tolist()}
    for name, ranker in fitted.items():
        members |= {name: ranker.scores_.tolist(), f"{name} rank": ranker.ranks_.tolist()}
    summary: dict[str, Sequence[Any]] = {
        "ranker": list(fitted),
        "selected": [ensemble.names[r.order_[0]] for r in fitted.values()],
    }
    if ari is not None:
        members["ari"] = ari.tolist()
        summary |= _truth_columns(list(fitted.values()), ari)
    return Comparison(members, summary, fitted, backend_of(labels, features))


def _name_rankers(rankers: Any, with_features: bool) -> dict[str, BaseRanker]:
    if rankers is None:
        rankers = ["discotec", "aari", "anmi", *(["silhouette", "calinski_harabasz"] if with_features else [])]
    if isinstance(rankers, str | BaseRanker):
        rankers = [rankers]
    if not isinstance(rankers, Iterable) or (isinstance(rankers, np.ndarray) and rankers.ndim == 0):
        raise TypeError(
            f"Rankers to compare must be a list or a dict of them. Got {format_value(rankers)}. Give {_EXAMPLE}."
        )
    each = list(rankers.values() if isinstance(rankers, Mapping) else rankers)
    if not each or not all(isinstance(ranker, str | BaseRanker) for ranker in each):
        raise TypeError(
            f"Rankers to compare must be names or rankers, one or more. Got {format_value(rankers)}. Give {_EXAMPLE}."
        )
    given = rankers if isinstance(rankers, Mapping) else [r if isinstance(r, str) else _name_of(r) for r in each]
    names = [str(name) for name in given]
    if twice := [name for name in names if names.count(name) > 1]:
        raise ValueError(f"Rankers to compare must have different names. Got {twice[0]} twice. Give a dict of rankers.")
    return {name: make_ranker(r) if isinstance(r, str) else clone(r) for name, r in zip(names, each, strict=True)}


_EXAMPLE = '["discotec", AverageAgreement()]'


def _name_of(ranker: BaseRanker) -> str:
    """Its name in RANKERS, or how it is written."""
    return next((name for name in RANKERS if repr(make_ranker(name)) == repr(ranker)), repr(ranker))


def _truth_columns(rankers: Sequence[BaseRanker], ari: NDArray[np.float64]) -> dict[str, list[float]]:
    from scipy.stats import kendalltau

    oriented = [r.scores_ if r.greater_is_better else -r.scores_ for r in rankers]
    columns = {
        "kendall": [_correlation(lambda x, y: kendalltau(x, y).statistic, scores, ari) for scores in oriented],
        "pearson": [_correlation(lambda x, y: np.corrcoef(x, y)[0, 1], scores, ari) for scores in oriented],
        "selected_ari": [float(ari[r.order_[0]]) for r in rankers],
    }
    with_regrets: dict[str, list[float]] = {}
    for name, values in columns.items():
        best = np.fmax.reduce(values)
        with_regrets |= {name: values, f"{name}_regret": [float(best - value) for value in values]}
    return with_regrets


def _correlation(correlate: Any, scores: NDArray[np.float64], ari: NDArray[np.float64]) -> float:
    known = np.isfinite(scores) & np.isfinite(ari)
    x, y = scores[known], ari[known]
    if known.sum() < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return float("nan")
    return float(correlate(x, y))
