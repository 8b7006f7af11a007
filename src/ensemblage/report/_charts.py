"""Charts as SVG without a drawing library: curves, bars, dots, matrices, a hierarchy and the objects as points."""

import base64
from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray
from PIL import Image

from ensemblage.plotting._axes import PALETTE, UNLABELLED_COLOR, printable
from ensemblage.plotting._scatter import name_places
from ensemblage.report._drawn import INK, LETTER, LINE, SOFT, line, nice_ticks, rect, room_for, svg, text

_WIDTH, _HEIGHT, _LEFT, _TOP, _RIGHT, _BOTTOM = 376.0, 260.0, 52.0, 12.0, 10.0, 40.0
"""Of a chart and of its margins. On a phone (344 pixels) letters of 11 units are 10 pixels high."""
_SIDE, _BAR, _LEAST_SIDE = 264.0, 12.0, 210.0
"""Of a matrix: its side, the width of a strip and of the bar of colours, and the side beside long names."""
BLUES = ("#f7fbff", "#deebf7", "#c6dbef", "#9ecae1", "#6baed6", "#4292c6", "#2171b5", "#08519c", "#08306b")
GREEN_TO_BLUE = ("#ffffd9", "#edf8b1", "#c7e9b4", "#7fcdbb", "#41b6c4", "#1d91c0", "#225ea8", "#253494", "#081d58")
"""Colours from 0 to 1 (ColorBrewer)."""
_SHADES = 64
_OPACITIES = 8
"""Steps of confidence among points."""
FULL = 10_000
"""Of the width and the height of a figure: places of points are whole parts of it."""
POINTS_WIDTH, POINTS_HEIGHT = 376.0, 326.0


def _tick(value: float) -> str:
    return f"{value:.6g}".replace("-", "−", 1)


class Frame:
    """The axes of a chart: from numbers to places."""

    def __init__(self, x: tuple[float, float], y: tuple[float, float], width: float = _WIDTH, height: float = _HEIGHT):
        self.x, self.y, self.width, self.height = x, y, width, height

    def across(self, value: Any) -> Any:
        low, high = self.x
        return _LEFT + (value - low) / ((high - low) or 1) * (self.width - _LEFT - _RIGHT)

    def up(self, value: Any) -> Any:
        low, high = self.y
        return self.height - _BOTTOM - (value - low) / ((high - low) or 1) * (self.height - _BOTTOM - _TOP)

    def axes(self, x_label: str, y_label: str, x_ticks: Sequence[tuple[float, str]] | None = None) -> list[Markup]:
        """Lines, ticks and labels."""
        bottom, y_ticks = self.height - _BOTTOM, nice_ticks(*self.y, 5)
        parts = [line(_LEFT, bottom, self.width - _RIGHT, bottom, LINE), line(_LEFT, _TOP, _LEFT, bottom, LINE)]
        named = [(value, _tick(value)) for value in nice_ticks(*self.x, 6)] if x_ticks is None else x_ticks
        parts += [text(self.across(value), bottom + 15, name, anchor="middle", color=SOFT) for value, name in named]
        parts += [text(_LEFT - 5, self.up(v) + 4, _tick(v), anchor="end", color=SOFT) for v in y_ticks]
        parts += [line(self.across(value), bottom, self.across(value), bottom + 3, SOFT) for value, _ in named]
        parts += [line(_LEFT - 3, self.up(value), _LEFT, self.up(value), SOFT) for value in y_ticks]
        middle = (_LEFT + self.width - _RIGHT) / 2
        parts.append(text(middle, self.height - 7, x_label, anchor="middle", color=INK))
        side = Markup('<g transform="translate(12 {}) rotate(-90)">{}</g>')
        return [*parts, side.format(round((_TOP + bottom) / 2, 1), text(0, 0, y_label, anchor="middle", color=INK))]


def curve_svg(values: Mapping[int, float], x_label: str, y_label: str, marked: float) -> Markup:
    """A curve with a dot for each number, and a line at the one that is ``marked``."""
    x = sorted(values)
    y = [values[k] for k in x]
    room = 0.06 * ((max(y) - min(y)) or 1)
    frame = Frame((min(x) - 0.4, max(x) + 0.4), (min(y) - room, max(y) + room))
    places = [(round(frame.across(a), 1), round(frame.up(b), 1)) for a, b in zip(x, y, strict=True)]
    path = Markup('<path d="M{}" fill="none" stroke="{}" stroke-width="1.4"/>').format(
        "L".join(f"{a} {b}" for a, b in places), PALETTE[0]
    )
    mark = line(frame.across(marked), _TOP, frame.across(marked), frame.height - _BOTTOM, "#b0b7bf", 2)
    dots = [_dot(a, b, 2.8, PALETTE[0]) for a, b in places]
    return svg(_WIDTH, _HEIGHT, [*frame.axes(x_label, y_label, _whole_ticks(*frame.x)), mark, path, *dots])


def _whole_ticks(low: float, high: float) -> list[tuple[float, str]]:
    """At most eight ticks for what is counted, with their names."""
    rough = (high - low) / 7
    step = next(s * 10**power for power in range(12) for s in (1, 2, 5) if s * 10**power >= rough)
    return [(k, str(k)) for k in range(step * int(np.ceil(low / step)), int(np.floor(high)) + 1, step)]


def _dot(x: float, y: float, radius: float, color: str) -> Markup:
    return Markup('<circle cx="{}" cy="{}" r="{}" fill="{}"/>').format(round(x, 1), round(y, 1), radius, color)


def bars_svg(values: Mapping[int, float], x_label: str, y_label: str, marked: float | None) -> Markup:
    """Bars side by side in the order of their numbers, the one that is ``marked`` in colour."""
    ks = sorted(values)
    frame = Frame((-0.6, len(ks) - 0.4), (0.0, max([*values.values(), 0]) * 1.04 or 1.0))
    step = -(-len(ks) // 16)
    ticks = [(float(i), str(k)) for i, k in enumerate(ks) if i % step == 0]
    width, parts = 0.8 * (frame.across(1) - frame.across(0)), frame.axes(x_label, y_label, ticks)
    for i, k in enumerate(ks):
        top, color = frame.up(values[k]), PALETTE[0] if k == marked else "#8c959f"
        parts.append(rect(frame.across(i) - width / 2, top, width, frame.up(0) - top, color))
    return svg(_WIDTH, _HEIGHT, parts)


def ranks_svg(scores: Sequence[float], label: str) -> Markup:
    """A dot for each of the scores, which are in the order of the ranks; NaN is not drawn."""
    known = [score for score in scores if score == score]
    room = 0.05 * ((max(known) - min(known)) or 1)
    frame = Frame((0.5, len(scores) + 0.5), (min(known) - room, max(known) + room))
    places = [(frame.across(i + 1), frame.up(score)) for i, score in enumerate(scores) if score == score]
    ends = [(v, name) for v, name in _whole_ticks(1, max(len(scores), 2)) if v <= len(scores)]
    axes = frame.axes("rank (1 = best)", label, ends)
    return svg(_WIDTH, _HEIGHT, [*axes, *(_dot(x, y, 2.8, PALETTE[0]) for x, y in places)])


# -- matrices ----------------------------------------------------------------------------------------------------------


def _palette(colors: Sequence[str]) -> list[str]:
    """`_SHADES` colours interpolated between the given ones."""
    table = np.array([[int(c[i : i + 2], 16) for i in (1, 3, 5)] for c in colors], dtype=float)
    at = np.linspace(0, len(colors) - 1, _SHADES)
    mixed = np.stack([np.interp(at, np.arange(len(colors)), table[:, j]) for j in range(3)], axis=1)
    return ["#" + "".join(f"{round(part):02x}" for part in row) for row in mixed.tolist()]


def _picture_of(values: NDArray[np.float64], colors: Sequence[str], x: float, y: float, w: float, h: float) -> Markup:
    """An indexed PNG at a place of a figure: a pixel per entry of ``values``, from 0 to 1, NaN grey."""
    shades = [*_palette(colors), "#cccccc"]
    index = np.rint(np.clip(np.nan_to_num(values), 0, 1) * (_SHADES - 1)).astype(np.uint8)
    index[np.isnan(values)] = _SHADES
    image = Image.frombytes("P", index.shape[::-1], index.tobytes())
    image.putpalette(bytes(int(shade[i : i + 2], 16) for shade in shades for i in (1, 3, 5)))
    image.save(content := BytesIO(), "PNG")
    url = "data:image/png;base64," + base64.b64encode(content.getvalue()).decode()
    tag = '<image x="{}" y="{}" width="{}" height="{}" preserveAspectRatio="none" href="{}" '
    return Markup(tag + 'style="image-rendering: pixelated"/>').format(x, y, w, h, url)


def _bar_of_colors(
    x: float, top: float, side: float, colors: Sequence[str], label: str, is_binary: bool = False
) -> list[Markup]:
    """What the colours mean, beside a matrix; ``is_binary`` if there are two."""
    shades = np.linspace(1, 0, 2 if is_binary else _SHADES)[:, None]
    parts = [_picture_of(shades, colors, x, top, _BAR, side)]
    for value in (0, 1) if is_binary else (0, 0.2, 0.4, 0.6, 0.8, 1):
        at = 0.5 + (value - 0.5) / 2 if is_binary else value
        parts.append(text(x + _BAR + 4, top + side * (1 - at) + 4, f"{value:g}", color=SOFT))
    turned = Markup('<g transform="translate({} {}) rotate(-90)">{}</g>')
    return [*parts, turned.format(x + _BAR + 36, top + side / 2, text(0, 0, label, anchor="middle", color=INK))]


def association_svg(shares: NDArray[np.float64], clusters: Sequence[int], sizes: Sequence[float], label: str) -> Markup:
    """A matrix of objects, (r, r), in the order of their clusters, each as wide as its size; clusters at the edges."""
    labels, widths = np.array(clusters), np.array(sizes, dtype=float)
    order = np.argsort(np.where(labels < 0, labels.max(initial=0) + 1, labels), kind="stable")
    ends = np.cumsum(widths[order])
    are_even = np.ptp(widths) == 0
    centres = (np.arange(len(order) if are_even else 2 * int(_SIDE)) + 0.5) / (len(order) if are_even else 2 * _SIDE)
    shown = order[np.searchsorted(ends[:-1], centres * ends[-1], side="right")]
    left = top = 46.0
    parts = [_picture_of(shares[np.ix_(shown, shown)], BLUES, left, top, _SIDE, _SIDE)]
    last = np.flatnonzero(np.append(labels[order][1:] != labels[order][:-1], True))
    stops = ends[last] / ends[-1] * _SIDE
    for start, stop, cluster in zip([0.0, *stops[:-1]], stops, labels[order][last].tolist(), strict=True):
        color = UNLABELLED_COLOR if cluster < 0 else PALETTE[cluster % len(PALETTE)]
        parts.append(rect(left - 14, top + start, 9, stop - start, color))
        parts.append(rect(left + start, top - 14, stop - start, 9, color))
        if stop - start >= 13:
            name = "–" if cluster < 0 else str(cluster)
            parts.append(text(left - 18, top + (start + stop) / 2 + 4, name, anchor="end", color=SOFT))
            if stop - start >= LETTER * len(name) + 4:
                parts.append(text(left + (start + stop) / 2, top - 18, name, anchor="middle", color=SOFT))
    parts += _bar_of_colors(left + _SIDE + 14, top, _SIDE, BLUES, label, bool(np.isin(shares, (0, 1)).all()))
    parts.append(text(left, 14, "cluster", color=SOFT))
    return svg(left + _SIDE + 66, top + _SIDE + 8, parts)


def agreement_svg(
    matrix: NDArray[np.float64], strip: NDArray[np.float64] | None, names: Sequence[str], x_label: str, label: str
) -> Markup:
    """The agreement of partitions, (p, p), with a strip for the consensus on top; up to 24 of them have their names."""
    p, is_named = len(matrix), len(names) <= 24
    shown = [printable(name) for name in names] if is_named else []
    left = max([room_for("consensus" if strip is not None else "000"), *map(room_for, shown)]) + 4
    side = max(_LEAST_SIDE, min(_SIDE, _WIDTH - left - 66))
    top, parts = 8.0, list[Markup]()
    if strip is not None:
        parts.append(_picture_of(strip[None], GREEN_TO_BLUE, left, top, side, 14))
        parts.append(text(left - 5, top + 11, "consensus", anchor="end", color=SOFT))
        top += 20
    parts.append(_picture_of(matrix, GREEN_TO_BLUE, left, top, side, side))
    cell = side / p
    if is_named:
        parts += [text(left - 5, top + cell * (i + 0.5) + 4, name, anchor="end") for i, name in enumerate(shown)]
    else:
        for value in nice_ticks(1, p, 8):
            at = cell * (value - 0.5)
            parts.append(text(left - 5, top + at + 4, f"{value:g}", anchor="end", color=SOFT))
            parts.append(text(left + at, top + side + 14, f"{value:g}", anchor="middle", color=SOFT))
    parts += _bar_of_colors(left + side + 14, top, side, GREEN_TO_BLUE, label)
    below = 16 if is_named else 30
    parts.append(text(left + side / 2, top + side + below, x_label, anchor="middle", color=INK))
    width = left + side + 66
    return svg(width, top + side + below + 6, parts, least=width if width > _WIDTH else None)


def hierarchy_svg(merges: NDArray[np.float64], sizes: NDArray[Any], clusters: NDArray[Any], label: str) -> Markup:
    """Branches coloured by cluster, and a band for the lifetime of the number of clusters; sizes at the leaves."""
    from scipy.cluster.hierarchy import dendrogram

    tree = dendrogram(merges, no_plot=True)
    leaves = np.array(tree["leaves"])
    heights, k = np.concatenate([[0.0], merges[:, 2]]), len(np.unique(clusters))
    width = max(_WIDTH, _LEFT + _RIGHT + 10.6 * len(leaves))
    frame = Frame((0, 10 * len(leaves)), (0, float(heights.max()) * 1.05 or 1.0), width)
    parts = []
    if k > 1:
        low, high = (frame.up(heights[len(leaves) - k + i]) for i in (0, 1))
        parts.append(rect(_LEFT, high, width - _LEFT - _RIGHT, low - high, "#ebebeb"))
    for x, y in zip(tree["icoord"], tree["dcoord"], strict=True):
        below = np.unique(clusters[leaves][int(x[0] // 10) : int(x[-1] // 10) + 1])
        color = PALETTE[below[0] % len(PALETTE)] if len(below) == 1 and below[0] >= 0 else "#595959"
        path = "L".join(f"{frame.across(a):.1f} {frame.up(b):.1f}" for a, b in zip(x, y, strict=True))
        parts.append(Markup('<path d="M{}" fill="none" stroke="{}" stroke-width="1.2"/>').format(path, color))
    parts += frame.axes("", label, [])
    names = [f"{size:,.0f}" for size in np.asarray(sizes)[leaves].tolist()]
    foot = frame.height - _BOTTOM + 3 + LETTER * max(map(len, names)) + 18
    parts.append(text((_LEFT + width) / 2, foot, "objects in each branch", anchor="middle"))
    for i, name in enumerate(names):
        at = round(frame.across(10 * i + 5) + 4, 1)
        turned = Markup('<g transform="translate({} {}) rotate(-90)">{}</g>')
        parts.append(turned.format(at, frame.height - _BOTTOM + 3, text(0, 0, name, anchor="end", color=SOFT)))
    return svg(width, foot + 6, parts, least=width)


# -- objects -----------------------------------------------------------------------------------------------------------


def _points_frame(xy: NDArray[np.float64]) -> Frame:
    low, high = (xy.min(axis=0), xy.max(axis=0)) if len(xy) else (np.zeros(2), np.ones(2))
    room = 0.04 * np.where(high > low, high - low, 1)
    ends = [(float(a), float(b)) for a, b in zip(low - room, high + room, strict=True)]
    return Frame(ends[0], ends[1], POINTS_WIDTH, POINTS_HEIGHT)


def places_of_points(xy: NDArray[np.float64]) -> tuple[list[int], list[int]]:
    """Where points are in their figure: whole parts of its width, and of its height from the top."""
    frame = _points_frame(xy)
    x, y = frame.across(xy[:, 0]) / frame.width, frame.up(xy[:, 1]) / frame.height
    return np.rint(FULL * x).astype(int).tolist(), np.rint(FULL * y).astype(int).tolist()


def points_svg(
    xy: NDArray[np.float64], clusters: NDArray[Any], confidence: NDArray[np.float64], x_label: str, y_label: str
) -> Markup:
    """Objects as points, coloured by cluster, the fainter, the less sure; the number of each cluster among them."""
    frame, n = _points_frame(xy), len(xy)
    sure = np.nan_to_num(confidence)
    top = float(sure.max(initial=0)) or 1.0
    step = np.where(clusters < 0, _OPACITIES // 2, np.rint(sure / top * _OPACITIES).astype(int))
    size = float(np.clip(86 / np.sqrt(max(n, 1)), 2.4, 5.5))
    ink = 'stroke-width="{}" fill="none" style="stroke-linecap: round"/>'
    path = Markup('<path d="{}" stroke="{}" stroke-opacity="{}" ' + ink)
    x, y = np.round(frame.across(xy[:, 0]), 1), np.round(frame.up(xy[:, 1]), 1)
    dots = []
    for cluster, at in np.unique(np.stack([clusters, step]), axis=1).T.tolist():
        rows = np.flatnonzero((clusters == cluster) & (step == at))
        drawn = "".join(f"M{a:g} {b:g}h0" for a, b in zip(x[rows].tolist(), y[rows].tolist(), strict=True))
        color = UNLABELLED_COLOR if cluster < 0 else PALETTE[cluster % len(PALETTE)]
        dots.append(path.format(drawn, color, round(0.12 + 0.88 * at / _OPACITIES, 2), round(size, 1)))
    group = Markup('<g class="points">{}</g>').format(Markup("").join(dots))
    names, taken = list[Markup](), list[tuple[float, float]]()
    for cluster, i in name_places(xy, clusters):
        half, color = LETTER * len(str(cluster)) / 2 + 3, PALETTE[cluster % len(PALETTE)]
        if any(abs(x[i] - a) < half + 3 and abs(y[i] - b) < 12 for a, b in taken):
            continue  # of two numbers on one another neither can be read
        taken.append((float(x[i]), float(y[i])))
        outline = f'fill-opacity=".85" stroke="{color}" rx="3"'
        names.append(rect(x[i] - half, y[i] - 8, 2 * half, 16, "#ffffff", outline))
        names.append(text(x[i], y[i] + 4, cluster, anchor="middle"))
    return svg(
        POINTS_WIDTH, POINTS_HEIGHT, [*frame.axes(printable(x_label, 44), printable(y_label, 40)), group, *names]
    )
