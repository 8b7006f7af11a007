"""How records below this package show themselves: as a figure, or in a notebook as tables and small pictures."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from io import BytesIO
from typing import Any

import numpy as np

from ensemblage import plotting
from ensemblage.choices._plan import value_text
from ensemblage.metrics._agreement import agreement_matrix

from ._axes import printable
from ._profiles import variable_panels

MOST_SHOWN = 12
"""Partitions and members that are listed."""
MOST_COMPARED, MOST_ROWS = 60, 5_000
"""Partitions of the thumbnail of their agreement, and objects that it is taken from."""
CELL = "padding:.2em .6em;text-align:"
THUMBNAIL = 132
"""Pixels."""


def figure(name: str, *numbers: Any, **options: Any) -> Any:
    """What the function of this name draws: a public one, or the panels of a profile."""
    draw = variable_panels if name == "variable_panels" else getattr(plotting, name)
    return draw(*numbers, **options)


def html(name: str, record: Any) -> str:
    """What the function below of this name writes: the record in a notebook."""
    shown: str = globals()[name](record)
    return shown


def ensemble_html(ensemble: Any) -> str:
    """An ensemble: its size, its partitions, and how far they agree."""
    n, p = ensemble.shape
    missing = ensemble.n_missing / (n * p)
    said = f"<b>Ensemble</b> of {n:,} objects and {p:,} partitions" + (f", {missing:.1%} missing" if missing else "")
    rows = [[printable(name), f"{k:,}"] for name, k in zip(ensemble.names, ensemble.n_clusters.tolist(), strict=True)]
    head = ["partition", "clusters"]
    picture = _thumbnail(ensemble) if p >= 2 else ""
    style = "display:flex;flex-wrap:wrap;gap:1.5em;align-items:flex-start"
    return f'<div style="{style}"><div>{said}{_table(head, rows)}</div>{picture}</div>'


def _thumbnail(ensemble: Any) -> str:
    """A picture of the adjusted Rand indices of the partitions with each other."""
    rows = np.unique(np.linspace(0, len(ensemble) - 1, min(len(ensemble), MOST_ROWS)).round().astype(np.intp))
    few = ensemble.select(np.arange(min(ensemble.shape[1], MOST_COMPARED)))
    if ensemble.codes is None or (few.n_clusters == 0).any():
        return ""
    ari = np.nan_to_num(agreement_matrix(few[rows] if len(rows) < len(ensemble) else few, "ari")).clip(0, 1)
    from matplotlib import colormaps
    from matplotlib.image import imsave

    file = BytesIO()
    side = -(-THUMBNAIL // len(ari))
    pixels = np.kron(colormaps["YlGnBu"](ari), np.ones((side, side, 1)))
    imsave(file, pixels, format="png", metadata={"Software": "ensemblage"})
    others = ari[~np.eye(len(ari), dtype=bool)]
    text = f"Adjusted Rand index of the partitions with each other, {others.mean():.2f} on average"
    image = b64encode(file.getvalue()).decode()
    return (
        f'<figure style="margin:0;font-size:smaller;max-width:{THUMBNAIL + 40}px">'
        f'<img alt="{text}" width="{THUMBNAIL}" src="data:image/png;base64,{image}"><figcaption>'
        f"{text}</figcaption></figure>"
    )


def comparison_html(comparison: Any) -> str:
    """Rankings of the members: what each selects, then the members from the best of the first ranking."""
    members = comparison.member_columns
    order = next(iter(comparison.rankers.values())).order_
    picked = {name: [values[i] for i in order] for name, values in members.items()}
    n = len(comparison.rankers)
    said = f"<b>{n} ranking{'s' * (n > 1)}</b> of {len(order):,} members, by the first of them"
    return f"<div>{_columns(comparison.ranker_columns)}{said}{_columns(picked)}</div>"


def choice_html(choice: Any) -> str:
    """The number of clusters, in a sentence, and the criteria."""
    head = ["k", "gap", "p", "strength", "silhouette", "named by", ""]
    rows, bold = [], []
    for i, row in enumerate(choice.table):
        bold += [i] * (row.k == choice.best)
        numbers = [f"{row.gap:.3f} ± {row.gap_error:.3f}", f"{row.p_value:.2f}"]
        numbers += [f"{row.strength:.2f} ± {row.strength_error:.2f}", f"{row.silhouette:.2f}"]
        rows.append([str(row.k), *numbers, ", ".join(row.votes), row.status])
    notes = "".join(f"<br>{escape(note)}" for note in choice.notes)
    return f"<div><b>{escape(choice.sentence)}</b>{_table(head, rows, len(rows), bold)}{notes}</div>"


def plan_html(plan: Any) -> str:
    """A plan: what was decided, and why."""
    said = f"<b>Plan</b> for {plan.n_objects:,} objects and {plan.n_features:,} features"
    rows = [[name, value_text(decision.value), decision.reason] for name, decision in plan.decisions.items()]
    return f"<div>{said}{_table(['', 'decision', 'reason'], rows, is_text=True)}</div>"


def _columns(columns: Mapping[str, Sequence[Any]]) -> str:
    rows = [[_cell(value) for value in row] for row in zip(*columns.values(), strict=True)]
    return _table([name.replace("_", " ") for name in columns], rows)


def _cell(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else printable(value)


def _table(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    most: int = MOST_SHOWN,
    bold: Iterable[int] = (),
    is_text: bool = False,
) -> str:
    """Cells of text, escaped; the first column to the left, the others to the right unless all are text."""
    strong = set(bold)

    def line(cells: Sequence[str], tag: str, weight: str = "") -> str:
        sides = ["left", *["left" if is_text else "right"] * (len(cells) - 1)]
        return "".join(
            f'<{tag} style="{CELL}{side}{weight}">{escape(cell)}</{tag}>'
            for side, cell in zip(sides, cells, strict=True)
        )

    shown = [line(row, "td", ";font-weight:bold" * (i in strong)) for i, row in enumerate(rows[:most])]
    left = len(rows) - len(shown)
    more = f'<tr><td style="{CELL}left" colspan="{len(head)}">… {left:,} more</td></tr>' if left else ""
    body = "".join(f"<tr>{row}</tr>" for row in shown)
    return f'<table style="border-collapse:collapse;margin:.4em 0"><tr>{line(head, "th")}</tr>{body}{more}</table>'
