"""An ensemble in a notebook: a table of its partitions and a small picture of their agreement."""

from __future__ import annotations

from base64 import b64encode
from io import BytesIO
from typing import Any

import numpy as np

from ensemblage.base.text import html_table, one_line
from ensemblage.metrics._agreement import agreement_matrix

MOST_COMPARED, MOST_ROWS = 60, 5_000
"""Partitions of the thumbnail of their agreement, and objects that it is taken from."""
THUMBNAIL = 132
"""Pixels."""


def ensemble_html(ensemble: Any) -> str:
    """An ensemble: its size, its partitions, and how far they agree."""
    n, p = ensemble.shape
    missing = ensemble.n_missing / (n * p)
    said = f"<b>Ensemble</b> of {n:,} objects and {p:,} partitions" + (f", {missing:.1%} missing" if missing else "")
    rows = [
        [one_line(name, 24), f"{k:,}"] for name, k in zip(ensemble.names, ensemble.n_clusters.tolist(), strict=True)
    ]
    head = ["partition", "clusters"]
    picture = _thumbnail(ensemble) if p >= 2 else ""
    style = "display:flex;flex-wrap:wrap;gap:1.5em;align-items:flex-start"
    return f'<div style="{style}"><div>{said}{html_table(head, rows)}</div>{picture}</div>'


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
