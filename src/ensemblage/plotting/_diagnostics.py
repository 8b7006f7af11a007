"""The figure of a record of diagnostics, by its kind."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np

from ensemblage.base.validation import format_value
from ensemblage.consensus import diagnostics as records

from ._axes import PALETTE, UNLABELLED_COLOR, Axes, axes_or_new, curve, in_style, remove_frame, whole_ticks
from ._dendrograms import dendrogram, last_merges, voting_dendrogram
from ._k_curves import lifetimes, split_losses
from ._matrices import association_histogram, threshold_search
from ._scatter import membership


@in_style
def diagnostics(record: records.Diagnostics, *, ax: Axes | None = None) -> Axes:
    """Draw the intermediate results of a consensus.

    Parameters
    ----------
    record : Diagnostics
        One of those that ``consensus.diagnostics(labels)`` returns. Of a hierarchy of more than 40 leaves the last
        merges are drawn.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Axes
        Where it was drawn.

    Raises
    ------
    TypeError
        If it is no such record.

    Examples
    --------
    >>> from ensemblage import plotting
    >>> from ensemblage.consensus import EvidenceAccumulation
    >>> labels = [[0, 0], [0, 0], [1, 1], [1, 0]]
    >>> dendrogram, lifetimes, pairs = EvidenceAccumulation().fit(labels).diagnostics(labels)
    >>> plotting.diagnostics(dendrogram).get_ylabel()
    '1 − similarity'
    """
    return _draw(record, ax)


@singledispatch
def _draw(record: Any, ax: Axes | None) -> Axes:
    raise TypeError(
        f"A record of diagnostics must come from a fitted consensus. Got {format_value(record)}. "
        "Give one of consensus.diagnostics(labels)."
    )


@_draw.register(records.Dendrogram)
def _(record: records.Dendrogram, ax: Axes | None) -> Axes:
    if record.leaves != "object":
        return voting_dendrogram(record.merges, record.clusters, ax=ax)
    if len(record.sizes) == 0 or (record.sizes == 1).all():
        return dendrogram(*last_merges(record.merges, record.clusters), ax=ax)
    return dendrogram(record.merges, record.sizes, record.clusters, ax=ax)


@_draw.register(records.Lifetimes)
def _(record: records.Lifetimes, ax: Axes | None) -> Axes:
    return lifetimes(record.lifetimes, n_clusters=record.chosen, ax=ax)


@_draw.register(records.PairCounts)
def _(record: records.PairCounts, ax: Axes | None) -> Axes:
    thresholds = dict(record.parted_at)
    if record.threshold is not None:
        thresholds["used"] = record.threshold
    return association_histogram(record.counts, thresholds=thresholds, ax=ax)


@_draw.register(records.Candidates)
def _(record: records.Candidates, ax: Axes | None) -> Axes:
    scores = np.where(np.isnan(record.scores), np.inf, record.scores)
    ax = threshold_search(record.values, scores, ax=ax)
    ax.set(xlabel=record.parameter, ylabel=record.score)
    return ax


@_draw.register(records.Splits)
def _(record: records.Splits, ax: Axes | None) -> Axes:
    return split_losses(record.losses, ax=ax)


@_draw.register(records.Trace)
def _(record: records.Trace, ax: Axes | None) -> Axes:
    ax = axes_or_new(ax)
    curve(ax, np.arange(len(record.values)), record.values)
    whole_ticks(ax.xaxis)
    return remove_frame(ax, xlabel="pass", ylabel=record.quantity)


@_draw.register(records.Memberships)
def _(record: records.Memberships, ax: Axes | None) -> Axes:
    return membership(record.membership, record.clusters, sizes=record.sizes, ax=ax)


@_draw.register(records.Cut)
def _(record: records.Cut, ax: Axes | None) -> Axes:
    ax = axes_or_new(ax, 6.4, 1.4)
    ax.barh([0], [record.bound], color=UNLABELLED_COLOR, alpha=0.4)
    ax.barh([0], [record.value], color=PALETTE[0])
    return remove_frame(
        ax, xlabel=f"{record.criterion} (at most {record.bound:.3g})", yticks=[], xlim=(0, record.bound)
    )
