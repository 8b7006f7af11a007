"""Other methods on the same partitions: how far the answer hangs on the method."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensemblage.base.above import figure
from ensemblage.base.memory import MAX_BYTES
from ensemblage.base.random import task_seeds
from ensemblage.base.text import backend_of, text_table, to_frame
from ensemblage.base.validation import Jobs, check_bytes, check_choice, check_progress, check_value, check_whole
from ensemblage.consensus._method import METHODS
from ensemblage.consensus._registry import make_consensus
from ensemblage.labels.ensemble import Ensemble, as_ensemble
from ensemblage.metrics._agreement import agreement_matrix, agreement_with, weighted_mean

MOST_PAIRED = 5_000
"""Distinct label rows up to which methods that compare all pairs of rows are asked."""
SAME = 0.9
"""Adjusted Rand index from which two partitions count as the same."""


class MethodRow(NamedTuple):
    """What a method makes of the partitions."""

    method: str
    n_clusters: int
    """0 where it gives no clusters."""
    agreement: float
    """Mean adjusted Rand index with the partitions; NaN where it gives no clusters."""
    others: float
    """The same with the other methods."""
    refused: str
    """Why it gives none."""


@dataclass(frozen=True, repr=False, eq=False)
class MethodComparison:
    """The clusters of several methods; `compare_methods` makes it."""

    table: list[MethodRow]
    """A row per method, in the order asked for."""
    labels: NDArray[np.int32]
    """(n, m) clusters of the methods that give some."""
    names: list[str]
    """(m,) their names."""
    ari: NDArray[np.float64]
    """(m, m) adjusted Rand indices of every two."""
    backend: str | None = None
    """Library of the data frames: that of the partitions, else the first that is installed."""

    @property
    def sentence(self) -> str:
        """How many give about the same, for people."""
        m = len(self.names)
        if m < 2:
            return "Fewer than two methods gave clusters."
        central = int(np.argmax(self.ari.sum(axis=1)))
        same = int((self.ari[central] >= SAME).sum())
        refused = len(self.table) - m
        left = f" {refused} could not be asked." if refused else ""
        about = f"about the same clusters (ARI of {SAME} or more with {self.names[central]})"
        return f"Of {m} methods {same} give {about}.{left}"

    def to_frame(self) -> Any:
        """A data frame with a row per method.

        Returns
        -------
        data frame
            Of the library of the partitions, or the first that is installed of pandas, polars and pyarrow; without
            any, a dict.
        """
        return to_frame({name: [getattr(row, name) for row in self.table] for name in MethodRow._fields}, self.backend)

    def plot(self, *, ax: Any = None) -> Any:
        """Draw the agreement of every two methods.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        matplotlib Axes
            Where it was drawn.
        """
        return figure(self, ax=ax)

    def __repr__(self) -> str:
        lines = [
            (row.method, str(row.n_clusters), f"{row.agreement:.3f}", f"{row.others:.3f}")
            if row.n_clusters
            else (row.method, "", "", row.refused)
            for row in self.table
        ]
        return "\n".join(
            [f"MethodComparison: {self.sentence}", text_table([("", "k", "partitions", "methods"), *lines])]
        )


def compare_methods(
    labels: ArrayLike | Any,
    n_clusters: int,
    *,
    methods: Iterable[str] | None = None,
    max_bytes: int | str = MAX_BYTES,
    n_jobs: int | None = None,
    random_state: Any = 0,
    progress: Callable[[int, int], None] | None = None,
) -> MethodComparison:
    """Use it to see whether the method matters: several methods on the same partitions, compared.

    Parameters
    ----------
    labels : array-like, data frame or Ensemble of shape (n_objects, n_partitions)
        The ensemble. -1 and NaN mean missing.
    n_clusters : int
        Number of clusters that each is asked for.
    methods : iterable of str, optional
        Names in `METHODS`. Default: all of them.
    max_bytes : int or str, default 2 GiB
        Most memory that the fit takes at its peak beyond the labels, in bytes or as text such as "4GB"; a fit that
        would take more is refused.
    n_jobs : int, optional
        Threads. -1: every core that this process may use; -2: all but one. None: what a ``joblib.parallel_config``
        says; without one every core, or 1 inside a parallel loop of joblib or scikit-learn. The result does not depend
        on it.
    random_state : int, RandomState, Generator or None, default 0
        One seed for all.
    progress : callable, optional
        Called as ``progress(done, total)`` after every method. An error that it raises ends the work.

    Returns
    -------
    MethodComparison
        ``table``, ``labels``, ``names``, ``ari``, ``sentence``; ``to_frame()``, ``plot()``.

    Raises
    ------
    ValueError
        If a name is no method's, or ``n_clusters`` no whole number from 1.

    Notes
    -----
    A method that cannot (too many clusters for it, a package that is not there, more than ``max_bytes``) stands in the
    table with its reason, as those that compare all pairs do for more than 5,000 distinct label rows. Time and memory:
    those of the methods, one after the other.

    Examples
    --------
    >>> from ensemblage.consensus import compare_methods
    >>> labels = [[0, 0, 0], [0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 1, 1], [1, 2, 1]]
    >>> found = compare_methods(labels, 2, methods=["km", "eac-average", "hbgf"])
    >>> found.names, float(found.ari.min())
    (['km', 'eac-average', 'hbgf'], 1.0)
    """
    name = "compare_methods"
    ensemble, k = as_ensemble(labels), check_whole(n_clusters, f"n_clusters of {name}", 1)
    by_method: dict[str, str] = {}
    for method in METHODS if methods is None else methods:
        check_choice(method, f"Every method of {name}", METHODS)
        by_method.setdefault(METHODS.aliases.get(method, method), method)
    asked = list(by_method.values())
    check_bytes(max_bytes, f"max_bytes of {name}")
    check_value(n_jobs, f"n_jobs of {name}", [Jobs()])
    check_progress(progress, f"progress of {name}")
    (seed,) = task_seeds(random_state, 1).tolist()
    found: dict[str, NDArray[np.int32]] = {}
    refused: dict[str, str] = {}
    for done, method in enumerate(asked, start=1):
        estimator = make_consensus(method, k if METHODS[method].capabilities.takes_n_clusters else None)
        known = estimator.get_params()
        settings = {"max_bytes": max_bytes, "n_jobs": n_jobs, "random_state": seed}
        estimator.set_params(**{key: value for key, value in settings.items() if key in known})
        m, able = len(ensemble.distinct.codes), estimator.capabilities
        if m > MOST_PAIRED and able.compares_pairs:
            refused[method] = f"It {able.in_memory}: {m:,} are more than {MOST_PAIRED:,}."
        else:
            try:
                found[method] = estimator.fit(ensemble).labels_
            except (ValueError, ImportError) as error:
                refused[method] = " ".join(str(error).split())
        if progress is not None:
            progress(done, len(asked))
    return _compare(ensemble, found, refused, asked, backend_of(labels))


def _compare(
    ensemble: Ensemble,
    found: dict[str, NDArray[np.int32]],
    refused: dict[str, str],
    asked: list[str],
    backend: str | None,
) -> MethodComparison:
    """How far the clusters agree with the partitions and with each other."""
    names, equal = list(found), np.ones(ensemble.shape[1])
    labels = np.column_stack([*found.values()]) if found else np.empty((len(ensemble), 0), dtype=np.int32)
    ari = (
        agreement_matrix(Ensemble.from_partitions([*found.values()], names=names), "ari") if found else np.empty((0, 0))
    )
    table = []
    for method in asked:
        if method in refused:
            table.append(MethodRow(method, 0, np.nan, np.nan, refused[method]))
            continue
        j = names.index(method)
        with_partitions = weighted_mean(agreement_with(ensemble, found[method], "ari"), equal)
        others = np.delete(ari[j], j)
        with_others = float(np.nanmean(others)) if len(others) and not np.isnan(others).all() else np.nan
        table.append(MethodRow(method, int(found[method].max()) + 1, float(with_partitions), with_others, ""))
    return MethodComparison(table, labels, names, ari, backend)
