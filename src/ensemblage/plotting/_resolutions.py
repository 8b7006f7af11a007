"""What of a graph is found again, by the resolution."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ensemblage.base.validation import check_numbers

from ._axes import Axes, axes_or_new, remove_frame
from ._checks import check_mapping
from ._colors import PALETTE

_BOUNDS = {0.7: "doubtful", 0.85: "stable"}


def stability_by_resolution(
    stability: Mapping[float, float],
    found_again: Mapping[float, float] | None = None,
    *,
    plateaus: Sequence[tuple[float, float]] = (),
    best: int | None = None,
    ax: Axes | None = None,
) -> Axes:
    """How alike the clusterings of resamples are at each resolution, and over which resolutions the clusters last.

    Parameters
    ----------
    stability : mapping of float to float
        Mean adjusted Rand index of two resamples at each resolution.
    found_again : mapping of float to float, optional
        Share of the objects in clusters that are found again.
    plateaus : sequence of (low, high), optional
        The resolutions from which to which the clusters are about the same: a bar each.
    best : int, optional
        The plateau that was taken.
    {ax}

    Examples
    --------
    >>> from ensemblage.plotting import stability_by_resolution
    >>> ax = stability_by_resolution({0.5: 0.9, 1.0: 0.95, 2.0: 0.6}, plateaus=[(0.5, 1.0), (2.0, 2.0)], best=0)
    >>> ax.get_xlabel(), ax.get_xscale()
    ('resolution', 'log')
    """
    ax = axes_or_new(ax)
    check_mapping(stability, "stability of stability_by_resolution")
    check_numbers([list(ends) for ends in plateaus] or [[1, 1]], "plateaus of stability_by_resolution", ("n", 2))
    curves = {"mean ARI of two resamples": stability, "objects in clusters found again": found_again or {}}
    for i, (name, by_resolution) in enumerate(curves.items()):
        known = sorted(by_resolution)
        values = check_numbers([by_resolution[r] for r in known], f"{name} of stability_by_resolution", ("n",))
        if len(known):
            ax.plot(known, values, ("o-", "s:")[i], markersize=4, color=PALETTE[i], label=name)
    for bound, word in _BOUNDS.items():
        ax.axhline(bound, color="0.75", linewidth=0.8, linestyle="--", zorder=0)
        ax.annotate(
            word, (1, bound), xycoords=("axes fraction", "data"), xytext=(3, 1), textcoords="offset points",
            fontsize="x-small", color="0.4", va="bottom",
        )  # fmt: skip
    for number, (low, high) in enumerate(plateaus):
        color = PALETTE[2] if number == best else "0.7"
        ax.plot([low * 0.96, high * 1.04], [-0.06, -0.06], color=color, linewidth=5, solid_capstyle="butt", zorder=1)
    ax.set_xscale("log")
    ticks = sorted(stability)
    shown = ticks[:: -(-len(ticks) // 8)]
    ax.set_xticks(shown, labels=[f"{r:g}" for r in shown])
    ax.minorticks_off()
    ax.legend(frameon=False, fontsize="small", loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
    return remove_frame(ax, xlabel="resolution", ylabel="stability", ylim=(-0.1, 1.03))
