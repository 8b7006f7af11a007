"""Charts of the page of draws, as SVG without a drawing library: strips of partitions, traces, distances."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from ensemblage.plotting import PALETTE
from ensemblage.plotting._axes import UNLABELLED_COLOR, printable
from ensemblage.report._charts import Frame
from ensemblage.report._drawn import INK, LETTER, SOFT, line, rect, svg, text

_WIDTH, _STRIP, _GAP = 760.0, 26.0, 6.0
_N_BARS = 30


def strips_svg(strips: NDArray[np.int64], names: Sequence[str]) -> Markup:
    """Partitions as `plotting.partition_strips`: (r, n) numbers of clusters, negative for none."""
    shown = [printable(name, 44) for name in names]
    left = LETTER * max(map(len, shown)) + 10
    unit, parts = (_WIDTH - left) / strips.shape[1], list[Markup]()
    for i, (row, name) in enumerate(zip(strips, shown, strict=True)):
        y = i * (_STRIP + _GAP)
        parts.append(text(left - 6, y + _STRIP / 2 + 4, name, anchor="end", color=INK))
        starts = np.flatnonzero(np.append(True, row[1:] != row[:-1]))
        for start, stop in zip(starts.tolist(), [*starts[1:].tolist(), len(row)], strict=True):
            cluster = int(row[start])
            color = UNLABELLED_COLOR if cluster < 0 else PALETTE[cluster % len(PALETTE)]
            parts.append(rect(left + start * unit, y, (stop - start) * unit, _STRIP, color))
    return svg(_WIDTH, len(strips) * (_STRIP + _GAP), parts, least=_WIDTH)


def traces_svg(chains: Sequence[Mapping[str, Any]], label: str) -> Markup:
    """A line for each chain: its ``values`` at its ``draws``."""
    values = [value for chain in chains for value in chain["values"] if value is not None]
    last = max(max(chain["draws"]) for chain in chains)
    room = 0.05 * ((max(values) - min(values)) or 1)
    frame = Frame((0, last), (min(values) - room, max(values) + room))
    path = '<path d="M{}" fill="none" stroke="{}" stroke-width="1" stroke-opacity=".8"/>'
    lines = []
    for c, chain in enumerate(chains):
        known = [(x, y) for x, y in zip(chain["draws"], chain["values"], strict=True) if y is not None]
        at = "L".join(f"{frame.across(x):.1f} {frame.up(y):.1f}" for x, y in known)
        lines.append(Markup(path).format(at, PALETTE[c % len(PALETTE)]))
    return svg(frame.width, frame.height, [*frame.axes("draw that is kept", label), *lines])


def distances_svg(counts: Sequence[float], edges: Sequence[float], radius: float, label: str) -> Markup:
    """A histogram of the distances of the draws, with a line at the radius of the ball."""
    frame = Frame((edges[0], edges[-1]), (0.0, max(counts) * 1.05 or 1.0))
    return svg(
        frame.width, frame.height, [*frame.axes(label, "draws"), *_bars(frame, counts, edges), *_radius(frame, radius)]
    )


def _bars(frame: Frame, counts: Sequence[float], edges: Sequence[float]) -> Iterator[Markup]:
    for count, start, stop in zip(counts, edges, edges[1:], strict=False):
        x, y = frame.across(start), frame.up(count)
        yield rect(x, y, max(frame.across(stop) - x - 1, 1), frame.up(0) - y, "#8c959f")


def _radius(frame: Frame, radius: float) -> list[Markup]:
    x = frame.across(radius)
    mark = line(x, frame.up(frame.y[1]), x, frame.up(0), PALETTE[1], 2)
    return [mark, text(x - 5, 22, "radius", anchor="end", color=SOFT)]


def histogram(distances: NDArray[np.float64]) -> tuple[list[int], list[float]]:
    """Counts and edges of the distances that are known."""
    known = distances[~np.isnan(distances)]
    counts, edges = np.histogram(known, bins=_N_BARS, range=(0.0, float(known.max()) or 1.0))
    return counts.tolist(), edges.tolist()
