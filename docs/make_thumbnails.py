"""Draw the pictures of the gallery's cards from the code of its pages: python docs/make_thumbnails.py

Each picture holds a digest of its page's code, by which a test knows that it is current.
"""

from __future__ import annotations

import ast
import hashlib
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SITE = Path(__file__).parent / "site"
FOLDER = SITE / "_static" / "gallery"
PAGES = [SITE / "gallery" / f"{name}.md" for name in ("objects", "number", "hierarchies", "members")]
WIDTH = 320
"""Pixels of a picture."""


def digest(page: Path) -> str:
    """Changes with the code of a page."""
    cells = re.findall(r"```\{code-cell\} python\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    return hashlib.sha256("".join(cells).encode()).hexdigest()[:16]


def shown(cell: str, names: dict[str, Any]) -> Any:
    """Run a cell; the value of its last expression, which a notebook would display, or None."""
    lines = re.sub(r"^[:%].*\n", "", cell, flags=re.MULTILINE)
    tree = ast.parse(lines)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)
    return eval(compile(ast.Expression(last.value), "cell", "eval"), names) if last else None


def figures(page: Path) -> Iterator[tuple[str, Any]]:
    """The card's name and the figure of each cell that draws one."""
    import matplotlib.pyplot as plt

    sys.path.insert(0, str(SITE / "_ext"))
    import gallery

    names: dict[str, Any] = {}
    cards = {card.cell: card.name for card in gallery.cards(page.read_text(encoding="utf-8"))}
    for cell in re.findall(r"```\{code-cell\} python\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL):
        value = shown(cell, names)
        if cell in cards:
            figure = getattr(value, "figure", value)
            yield cards[cell], figure if hasattr(figure, "savefig") else plt.gcf()
        plt.close("all")


def draw(page: Path) -> None:
    """Write the pictures of a page."""
    from io import BytesIO

    from PIL import Image, PngImagePlugin

    for name, figure in figures(page):
        content = BytesIO()
        figure.savefig(content, dpi=110, bbox_inches="tight")
        picture = Image.open(content).convert("RGB")
        picture.thumbnail((WIDTH, WIDTH * 3 // 4), Image.Resampling.LANCZOS)
        ground = Image.new("RGB", (WIDTH, WIDTH * 3 // 4), "white")
        ground.paste(picture, ((ground.width - picture.width) // 2, (ground.height - picture.height) // 2))
        text = PngImagePlugin.PngInfo()
        text.add_text("Description", digest(page))
        ground.quantize(64).save(FOLDER / f"{name}.png", pnginfo=text, optimize=True)


if __name__ == "__main__":
    os.environ["MPLBACKEND"] = "agg"
    FOLDER.mkdir(exist_ok=True)
    for page in PAGES:
        draw(page)
