"""Small figures as SVG without a drawing library: rows of boxes and stacked bars, heat maps. Texts are 11 units high,
and a unit is at least a pixel wherever the page is shown."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from markupsafe import Markup

from ensemblage.plotting._axes import PALETTE, printable
from ensemblage.plotting._profiles import level_colors
from ensemblage.profiles._effects import date_text, number_text, percent_text

INK, SOFT, LINE = "#1f2328", "#57606a", "#d0d7de"
_WIDTH, _ROW, _TITLE, _AXIS, LETTER = 300, 19, 24, 34, 6.4
"""Of a figure of rows: its width, the height of a row, of the title and of the axis; about the width of a letter."""
_NAME, _GROUND = 84, 16
"""Widest name of a row, and what stands beside it."""
_CELL_WIDTH, _CELL_HEIGHT, _WIDEST_NAME, _STRONG = 46, 18, 24, 2.0
"""Of a heat map: its cells, letters of a name, and standard deviations at which the colour is full."""
_LEAST_WRITTEN = 0.14
"""Share of a bar that has room for its number."""
_OUTLINE = 'stroke="#8c959f" stroke-width="0.5"'
"""Of what may be as pale as the page."""
_LARGEST = 1.3
"""Pixels of a unit."""
_LEAST_NUMBERED = 7
"""Radius of a circle that has room for a number."""
_ORANGE, _PURPLE = (179, 88, 6), (84, 39, 136)


def room_for(name: str) -> float:
    """Units that a text is given: more for a capital, and some for a short name of wide letters."""
    return LETTER * (len(name) + 0.2 * sum(map(str.isupper, name))) + 14


def text(x: float, y: float, content: object, *, anchor: str = "start", color: str = INK, bold: bool = False) -> Markup:
    weight = Markup(' font-weight="600"') if bold else ""
    return Markup('<text x="{}" y="{}" font-size="11" text-anchor="{}" fill="{}"{}>{}</text>').format(
        round(x, 1), round(y, 1), anchor, color, weight, content
    )


def rect(x: float, y: float, width: float, height: float, color: str, more: str = "") -> Markup:
    at = (round(value, 1) for value in (x, y, max(width, 0.0), height))
    return Markup('<rect x="{}" y="{}" width="{}" height="{}" fill="{}" {}/>').format(*at, color, Markup(more))


def line(x0: float, y0: float, x1: float, y1: float, color: str, width: float = 1) -> Markup:
    ends = (round(value, 1) for value in (x0, y0, x1, y1))
    return Markup('<line x1="{}" y1="{}" x2="{}" y2="{}" stroke="{}" stroke-width="{}"/>').format(*ends, color, width)


def svg(width: float, height: float, parts: Sequence[Markup], least: float | None = None) -> Markup:
    """An element that is as wide as there is room, at most `_LARGEST` pixels for a unit, so that texts are as large as
    those of the page; at least ``least`` units wide, and scrolled if need be.
    """
    style = Markup(' style="min-width: {}px"').format(round(least)) if least else ""
    head = Markup('<svg xmlns="http://www.w3.org/2000/svg" width="{}" viewBox="0 0 {} {}"{}>')
    opened = head.format(round(_LARGEST * width), round(width, 1), round(height, 1), style)
    return opened + Markup("").join(parts) + Markup("</svg>")


def color_of(cluster: Any, place: int) -> str:
    """The colour of a cluster by its number, else by its place."""
    return PALETTE[(cluster if isinstance(cluster, int) else place) % len(PALETTE)]


def ink_on(color: str) -> str:
    """The text colour with more contrast on this colour (WCAG): the page's own, or white."""

    def luminance(hexadecimal: str) -> float:
        parts = np.array([int(hexadecimal[i : i + 2], 16) / 255 for i in (1, 3, 5)])
        linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
        return float(linear @ (0.2126, 0.7152, 0.0722))

    ground, ink = luminance(color) + 0.05, luminance(INK) + 0.05
    return INK if ground / ink > 1.05 / ground else "#ffffff"


def nice_ticks(low: float, high: float, most: int = 4) -> list[float]:
    """Round numbers from ``low`` to ``high``, at most ``most`` + 1."""
    if not high > low:
        return [low]
    rough = (high - low) / most
    size = 10.0 ** np.floor(np.log10(rough))
    step = float(next(s * size for s in (1, 2, 2.5, 5, 10) if s * size >= rough * (1 - 1e-9)))
    first = int(np.ceil(low / step - 1e-9))
    last = int(np.floor(high / step + 1e-9))
    return [i * step for i in range(first, last + 1)]


def panel_svg(panel: Mapping[str, Any]) -> Markup:
    """One variable, a row for each cluster: stacked bars of few values, boxes of a number, bars of one category."""
    clusters = panel["clusters"]
    names = [printable(c, 12) for c in clusters]
    left = min(_NAME, max(LETTER * max(map(len, names), default=1), 7)) + _GROUND
    parts = [text(0, 13, printable(panel["variable"], 40), bold=True)]
    parts += [text(left - 6, _row_middle(i) + 4, name, anchor="end", color=SOFT) for i, name in enumerate(names)]
    if panel.get("stack"):
        more, height = _stacked(panel["stack"], left, len(names))
    elif panel.get("quantiles") is None:
        more, height = _shares(panel, left)
    else:
        more, height = _boxes(panel, left)
    return svg(_WIDTH, height, [*parts, *more])


def _row_middle(i: int) -> float:
    return _TITLE + _ROW * (i + 0.5)


def _stacked(stack: Mapping[str, Any], left: float, k: int) -> tuple[list[Markup], float]:
    """Shares of the values in each cluster side by side, and what their colours mean."""
    parts, width = list[Markup](), _WIDTH - left
    colors = level_colors(stack["levels"])
    for i, shares in enumerate(stack["shares"]):
        x, y = left, _row_middle(i) - 7.5
        if any(share is None for share in shares):
            parts.append(text(x, y + 11, "–", color=SOFT))
            continue
        for share, color in zip(shares, colors, strict=True):
            parts.append(rect(x, y, share * width, 15, color, _OUTLINE if share else ""))
            if share >= _LEAST_WRITTEN:
                parts.append(
                    text(x + share * width / 2, y + 11.5, percent_text(share), anchor="middle", color=ink_on(color))
                )
            x += share * width
    x, y = left, _TITLE + _ROW * k + 16
    for level, color in zip(stack["levels"], colors, strict=True):
        name = "other" if level is None else printable(level, 22)
        wide = 14 + room_for(name)
        if x + wide > _WIDTH + 10 and x > left:
            x, y = left, y + 16
        parts += [rect(x, y - 9, 10, 10, color, _OUTLINE), text(x + 14, y, name)]
        x += wide
    return parts, y + 8


def _shares(panel: Mapping[str, Any], left: float) -> tuple[list[Markup], float]:
    """Bars of the share of one category."""
    clusters, width = panel["clusters"], _WIDTH - left - 34
    parts = [text(_WIDTH, 13, printable(panel["level"], 20), anchor="end", color=SOFT)]
    for i, share in enumerate(panel["shares"]):
        y, length = _row_middle(i) - 7, (share or 0.0) * width
        parts.append(rect(left, y, length, 14, color_of(clusters[i], i)))
        written = "–" if share is None else percent_text(share)
        parts.append(text(left + length + 4, y + 11, written))
    return parts, _TITLE + _ROW * len(clusters) + 6


def _across(left: float, low: float, high: float) -> Callable[[float], float]:
    """Where a value from ``low`` to ``high`` stands, right of the names."""
    return lambda value: left + 4 + (_WIDTH - left - 14) * ((value - low) / (high - low) if high > low else 0.5)


def _boxes(panel: Mapping[str, Any], left: float) -> tuple[list[Markup], float]:
    """Boxes of the quantiles, above an axis in the values of the variable."""
    values = [value for row in panel["quantiles"] for value in row if value is not None]
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    is_ordered = panel.get("kind") == "ordered"
    if is_ordered:
        low, high = 0, len(panel["levels"]) - 1

    place = _across(left, low, high)
    parts = []
    for i, row in enumerate(panel["quantiles"]):
        if None not in row:
            parts += box(row, place, _row_middle(i), color_of(panel["clusters"][i], i))
    bottom = _TITLE + _ROW * len(panel["clusters"]) + 2
    if is_ordered:
        levels = [printable(level, 9) for level in panel["levels"]]
        step = -(-len(levels) // 4)
        ticks = [(float(j), levels[j]) for j in range(0, len(levels), step)]
    else:
        are_dates = panel.get("kind") == "date"
        write: Callable[[float], str] = date_text if are_dates else number_text
        values = nice_ticks(low, high, 2 if are_dates else 3)  # the texts of dates are wide
        if len(values) < 2 and not are_dates:
            values = nice_ticks(low, high, 6)
        ticks = [(value, write(value)) for value in values]
    return parts + list(_axis(ticks, place, left, bottom)), bottom + 22


def box(
    quantiles: Sequence[float], place: Callable[[float], float], y: float, color: str, half: float = 6
) -> list[Markup]:
    """A box of five quantiles in a row."""
    q5, q25, q50, q75, q95 = map(place, quantiles)
    parts = [int(color[i : i + 2], 16) for i in (1, 3, 5)]
    pale = "#" + "".join(f"{round(0.45 * part + 0.55 * 255):02x}" for part in parts)
    outline = f'stroke="{color}" stroke-width="1.2"'
    return [
        line(q5, y, q95, y, color, 1.5),
        rect(q25, y - half, q75 - q25, 2 * half, pale, outline),
        line(q50, y - half - 1, q50, y + half + 1, "#000000", 2),
    ]


def _axis(
    ticks: Sequence[tuple[float, str]], place: Callable[[float], float], left: float, bottom: float
) -> Iterator[Markup]:
    yield line(left, bottom, _WIDTH, bottom, LINE)
    for value, name in ticks:
        half, x = LETTER * len(name) / 2, place(value)
        yield line(x, bottom, x, bottom + 4, SOFT)
        yield text(min(max(x, half), _WIDTH - half), bottom + 16, name, anchor="middle", color=SOFT)


def heat_map_svg(z: Sequence[Sequence[float | None]], variables: Sequence[Any], clusters: Sequence[Any]) -> Markup:
    """Standardised means of variables in clusters: orange above the mean of all, purple below, with numbers."""
    names = [printable(name, _WIDEST_NAME) for name in variables]
    left = max(map(room_for, names), default=LETTER) + 10
    width, top = left + _CELL_WIDTH * len(clusters), _CELL_HEIGHT + 4
    parts = []
    for c, cluster in enumerate(clusters):
        parts.append(text(left + _CELL_WIDTH * (c + 0.5), 14, printable(cluster, 6), anchor="middle", color=SOFT))
    for i, (name, row) in enumerate(zip(names, z, strict=True)):
        y = top + _CELL_HEIGHT * i
        parts.append(text(left - 6, y + 13, name, anchor="end"))
        for c, value in enumerate(row):
            fill, ink = _heat_colors(value)
            x = left + _CELL_WIDTH * c
            parts.append(rect(x, y, _CELL_WIDTH, _CELL_HEIGHT, fill))
            parts.append(text(x + _CELL_WIDTH / 2, y + 13, _signed(value), anchor="middle", color=ink))
    return svg(width, top + _CELL_HEIGHT * len(names) + 2, parts, least=width)


def _heat_colors(value: float | None) -> tuple[str, str]:
    """Of a cell and of its number."""
    if value is None:
        return "#cccccc", INK
    share = min(abs(value) / _STRONG, 1.0)
    full = _ORANGE if value > 0 else _PURPLE
    mixed = [round(247 + share * (part - 247)) for part in full]
    fill = "#" + "".join(f"{part:02x}" for part in mixed)
    return fill, ink_on(fill)


def _signed(value: float | None) -> str:
    if value is None:
        return ""
    written = f"{value:+.1f}"
    return "0" if written in ("+0.0", "-0.0") else written.replace("-", "−")


def boxes_svg(
    rows: Sequence[Mapping[str, Any]], low: float, high: float, lines: Sequence[tuple[float, str]], label: str
) -> Markup:
    """A row for each of ``rows``: a box of its five ``quantiles``, or its single ``values``, and a mark at ``mean``.

    ``lines`` are up to two values with what they mean, written above; ``label`` is what the numbers are.
    """
    names = [printable(row["name"], 12) for row in rows]
    left = min(_NAME, LETTER * max(map(len, names), default=1)) + _GROUND

    place = _across(left, low, high)
    bottom = _TITLE + _ROW * len(rows) + 2
    parts = [line(place(value), _TITLE - 4, place(value), bottom, LINE) for value, _ in lines]
    for (value, name), anchor in zip(sorted(lines), ("end", "start"), strict=False):  # apart, however near they are
        parts.append(text(place(value), 13, name, anchor=anchor, color=SOFT))
    for i, row in enumerate(rows):
        y, color = _row_middle(i), color_of(row["name"], i)
        parts.append(text(left - 6, y + 4, names[i], anchor="end", color=SOFT))
        if row.get("values"):
            dot = Markup('<circle cx="{}" cy="{}" r="3.5" fill="{}" fill-opacity=".8"/>')
            parts += [dot.format(round(place(value), 1), y, color) for value in row["values"]]
        elif row.get("quantiles") and None not in row["quantiles"]:
            parts += box(row["quantiles"], place, y, color)
        if row.get("mean") is not None:
            mark = Markup('<path d="M{} {}l4 4l-4 4l-4 -4z" fill="#ffffff" stroke="#000000"/>')
            parts.append(mark.format(round(place(row["mean"]), 1), y - 4))
    ticks = [(value, f"{value:.2g}") for value in nice_ticks(low, high)]
    parts += [*_axis(ticks, place, left, bottom), text(_WIDTH, bottom + 31, label, anchor="end", color=SOFT)]
    return svg(_WIDTH, bottom + 36, parts)


def tree_svg(
    labels: Mapping[int, Any],
    marked: int,
    names: Mapping[int, str] | None = None,
    numbers: Sequence[int] | None = None,
) -> Markup:
    """A row for each number of clusters, a circle for each cluster, lines by where the objects go; ``marked`` in bold,
    with the numbers of its clusters.

    ``labels`` are (n,) clusters of the same objects, by the numbers that give the colours; negative for none. ``names``
    are those of the rows, by default their numbers; ``numbers`` those that people know the clusters by.
    """
    known = dict(enumerate(numbers or ()))
    ks, high, largest = sorted(labels), 54, 19
    called = {k: str(k) for k in ks} if names is None else names
    left = max(34.0, max(map(room_for, called.values())) + 2)
    widest = max(len(np.unique(labels[k][labels[k] >= 0])) for k in ks)
    width = max(_WIDTH, left + 2 * largest * widest + 10)
    places, lines, circles = dict[int, dict[int, float]](), list[Markup](), list[Markup]()
    for row, k in enumerate(ks):
        z = labels[k]
        clusters, sizes = np.unique(z[z >= 0], return_counts=True)
        shares = {c: _sources(labels[ks[row - 1]], z, c) if row else {} for c in clusters.tolist()}
        above = places.get(ks[row - 1], {}) if row else {}
        centre = {c: sum(share * above[a] for a, share in of.items()) if row else c for c, of in shares.items()}
        order = sorted(clusters.tolist(), key=lambda c: (centre[c], c))
        gap = (width - left) / max(len(order), 1)
        places[k] = {c: left + gap * (i + 0.5) for i, c in enumerate(order)}
        y = 26 + high * row
        ink, is_bold = INK if k == marked else SOFT, k == marked
        circles.append(text((left - 6) / 2, y + 4, called[k], anchor="middle", color=ink, bold=is_bold))
        for c, size in zip(clusters.tolist(), sizes.tolist(), strict=True):
            for a, share in shares[c].items():
                lines.append(line(above[a], y - high, places[k][c], y, "#8c959f", round(0.5 + 4 * share, 1)))
            radius = round(4 + (largest - 4) * float(np.sqrt(size / max(1, sizes.sum()))), 1)
            dot = Markup('<circle cx="{}" cy="{}" r="{}" fill="{}" stroke="#ffffff"/>')
            color = color_of(known.get(c, c), c)
            circles.append(dot.format(round(places[k][c], 1), y, radius, color))
            if k == marked and radius >= _LEAST_NUMBERED:
                circles.append(text(places[k][c], y + 4, known.get(c, c), anchor="middle", color=ink_on(color)))
    return svg(width, 26 + high * (len(ks) - 1) + 26, [*lines, *circles], least=width if width > _WIDTH else None)


def _sources(above: Any, below: Any, cluster: int) -> dict[int, float]:
    """Of the objects of a cluster of ``below`` the shares that come from each cluster of ``above``, from 5 % on."""
    come_from, counts = np.unique(above[(below == cluster) & (above >= 0)], return_counts=True)
    shares = counts / max(1, counts.sum())
    return {int(a): float(share) for a, share in zip(come_from, shares, strict=True) if share >= 0.05}
