"""Print the cheat sheet as a PDF of one page, with a Chromium that is on the path: python docs/make_cheatsheet.py

The Markdown of the site's page is laid out in three columns. The title of the PDF has a digest of the page, by which a
test knows that the PDF is current.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PAGE = Path(__file__).parent / "site" / "cheatsheet.md"
PDF = PAGE.parent / "_static" / "cheatsheet.pdf"
STYLE = """
@page { size: A4 landscape; margin: 8mm; }
body { font: 9.2pt/1.3 sans-serif; columns: 3; column-gap: 6mm; margin: 0; }
h1 { font-size: 15pt; margin: 0 0 1mm; }
h2 { font-size: 10pt; margin: 2.5mm 0 1mm; color: #1b4f8a; break-after: avoid; }
p, ul { margin: 1mm 0; } ul { padding-left: 4mm; } code { font-size: 8.2pt; }
pre { background: #f3f4f6; padding: 1.5mm; margin: 1mm 0; white-space: pre-wrap; break-inside: avoid; }
pre code { font-size: 7.8pt; } table { border-collapse: collapse; width: 100%; break-inside: avoid; }
td, th { border-top: .2mm solid #ccc; padding: .5mm 1mm; text-align: left; vertical-align: top; }
"""


def title() -> str:
    """Names the page as it is today."""
    return f"ensemblage cheat sheet {hashlib.sha256(PAGE.read_bytes()).hexdigest()[:12]}"


def html() -> str:
    """The page as HTML with the style of print, without the link to itself."""
    from markdown_it import MarkdownIt

    text = re.sub(r" \[As a PDF[^\n]*", "", PAGE.read_text(encoding="utf-8"))
    body = MarkdownIt("commonmark").enable("table").render(text)
    return f'<!doctype html><meta charset="utf-8"><title>{title()}</title><style>{STYLE}</style>{body}'


def main() -> None:
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser is None:
        sys.exit("No Chromium is on the path. Install one, or leave the PDF as it is.")
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "cheatsheet.html")
        source.write_text(html(), encoding="utf-8")
        options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer"]
        subprocess.run([browser, *options, f"--print-to-pdf={PDF}", source.as_uri()], check=True, capture_output=True)


if __name__ == "__main__":
    main()
