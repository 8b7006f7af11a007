"""Agreement of the members with the consensus and with each other."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from ensemblage._validation import check_numbers

from ._arrays import check_length
from ._axes import axes_or_new, label_ticks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_NAMES = 30
_STEPS = [digit * 10**zeros for zeros in range(9) for digit in (1, 2, 5)]


def agreement(
    matrix: ArrayLike,
    consensus: ArrayLike | None = None,
    *,
    names: Sequence[object] | None = None,
    label: str = "adjusted Rand index",
    cmap: Any = "YlGnBu",
    ax: "Axes | None" = None,
) -> "Axes":
    """Heat map of the agreement of all pairs of partitions, with a strip for the consensus on top.

    Members are drawn in the order given. Beyond 30 of them names give way to numbers.

    Parameters
    ----------
    matrix : array-like of float, shape (p, p)
        Agreement of the members with each other, 1 = equal. Values below 0 are drawn as 0.
    consensus : array-like of float, shape (p,), optional
        Agreement of each member with the consensus.
    names : sequence, optional
        Names of the members.
    label : str, default "adjusted Rand index"
        What the numbers are.
    cmap : str or matplotlib Colormap, default "YlGnBu"
        Colours from 0 to 1.
    {ax}

    Examples
    --------
    >>> from ensemblage.plotting import agreement
    >>> agreement([[1, 0.5], [0.5, 1]], [0.8, 0.9], names=["a", "b"]).get_xlabel()
    'partitions'
    """
    ax = axes_or_new(ax, 4.8, 4.1)
    values = check_numbers(matrix, "matrix of agreement", ("p", "p"), least=1)
    p = len(values)
    check_length(names, p, "names of agreement")
    strip_values = None if consensus is None else check_numbers(consensus, "consensus of agreement", (p,))
    style = {"cmap": cmap, "vmin": 0, "vmax": 1, "interpolation": "none", "aspect": "auto"}
    image = ax.imshow(values, extent=(0, p, p, 0), **style)
    strip = max(1.0, p / 18)
    if strip_values is not None:
        ax.imshow(strip_values[None], extent=(0, p, -0.4 * strip, -1.4 * strip), **style)
    _name_members(ax, p, names, -0.9 * strip if consensus is not None else None)
    ax.set(xlim=(0, p), ylim=(p, 0 if consensus is None else -1.4 * strip), xlabel="partitions")
    ax.spines[:].set_visible(False)
    below = bool((values < 0).any())
    ax.figure.colorbar(image, ax=ax, label=label, fraction=0.05, pad=0.03, extend="min" if below else "neither")
    return ax


def _name_members(ax: "Axes", p: int, names: Sequence[object] | None, consensus_at: float | None) -> None:
    named = names is not None and p <= _MOST_NAMES
    step = 1 if named else next(step for step in _STEPS if p <= 10 * step)
    members = list(range(step - 1, p, step))
    labels = [names[i] if named and names is not None else i + 1 for i in members]
    positions = [i + 0.5 for i in members]
    label_ticks(ax, "x", positions, [""] * len(labels) if named else labels)
    if consensus_at is not None:
        positions, labels = [consensus_at, *positions], ["consensus", *labels]
    label_ticks(ax, "y", positions, labels, most=_MOST_NAMES + 1)
    ax.tick_params(length=0)
