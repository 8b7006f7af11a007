"""Ask the built site's search what strangers ask, in a Chromium: python docs/check_search.py build/site

Prints the first hit of each question. Fails if fewer than `LEAST` lead to a page that answers.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote_plus

QUESTIONS = {
    "missing values": ("howto/tables", "faq"),
    "number of clusters": ("howto/choose_k", "theory/number"),
    "confidence probability": ("theory/certainty", "faq"),
    "install": ("start",),
    "cite": ("howto/cite",),
    "categories": ("howto/tables", "tutorials/customers", "faq"),
    "single cells": ("tutorials/single_cells",),
    "leiden resolution": ("tutorials/leiden", "tutorials/single_cells"),
    "ConsensusClusterPlus": ("from_r",),
    "diceR": ("from_r",),
    "scikit-learn pipeline": ("howto/notebooks", "from_sklearn"),
    "out of memory": ("howto/speed", "howto/disk", "tutorials/ten_million"),
    "slow": ("howto/speed", "faq"),
    "co-association": ("theory/evidence", "glossary"),
    "adjusted Rand index": ("glossary",),
    "silhouette": ("theory/number", "theory/ranking", "tutorials/ranking"),
    "must-link": ("howto/python", "howto/commands", "glossary"),
    "new objects": ("howto/python", "tutorials/customers"),
    "cheat sheet": ("cheatsheet",),
    "reproduce paper": ("evidence/reproduction", "evidence/verdict", "howto/add_paper"),
}
"""Question → the pages that answer it."""
LEAST = 18


def first_hit(site: Path, question: str, browser: str) -> str:
    """The page of the first result of the site's own script, without its suffix; empty if there is none."""
    address = f"{(site / 'search.html').resolve().as_uri()}?q={quote_plus(question)}"
    options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=20000", "--dump-dom"]
    done = subprocess.run([browser, *options, address], capture_output=True, encoding="utf-8", check=True)
    results = done.stdout.partition('id="search-results"')[2]
    hit = re.search(r'<li[^>]*>\s*<a href="([^"#?]+)\.html', results)
    return hit[1] if hit else ""


def main() -> None:
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser is None:
        sys.exit("No Chromium is on the path.")
    right = 0
    for question, pages in QUESTIONS.items():
        hit = first_hit(Path(sys.argv[1]), question, browser)
        right += hit in pages
        print(f"{'right' if hit in pages else 'WRONG'}  {question}: {hit}")
    print(f"{right} of {len(QUESTIONS)}")
    if right < LEAST:
        sys.exit(1)


if __name__ == "__main__":
    main()
