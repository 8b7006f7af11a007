"""Look at the built site in a Chromium as strangers do: python docs/check_site.py build/site

No page may be wider than a telephone; the header is one row on a laptop; the first hit of the search answers the
questions. The browser is driven by `tests/browser.py`.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

TELEPHONE, LAPTOP, ROW = 390, 1280, 90
"""Width of the pages, and most height of a header of one row, in pixels."""
QUESTIONS = {
    "missing values": ("howto/tables", "faq"),
    "number of clusters": ("howto/choose_k", "theory/number"),
    "confidence probability": ("theory/confidence", "faq"),
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
    "adjusted Rand index": ("glossary", "evidence/index"),
    "silhouette": ("theory/number", "theory/ranking", "tutorials/ranking"),
    "must-link": ("howto/python", "howto/commands", "glossary"),
    "new objects": ("howto/python", "tutorials/customers"),
    "cheat sheet": ("cheatsheet",),
    "reproduce paper": ("evidence/reproduction", "evidence/verdict", "howto/add_paper"),
}
"""Question → the pages that answer it. The entries of the index (`_ext/terms.py`) were written with these in view."""
LEAST = 18
OTHERS = {
    "how many clusters": ("howto/choose_k", "theory/number"),
    "excel file": ("howto/tables",),
    "ten million rows": ("tutorials/ten_million", "howto/disk"),
    "dendrogram": ("gallery/hierarchies", "theory/evidence"),
    "random seed": ("faq", "glossary", "from_sklearn"),
    "weights": ("howto/python", "howto/notebooks", "glossary", "tutorials/labels", "theory/members"),
    "stable clusters": ("theory/number", "howto/choose_k", "from_sklearn"),
    "export figures": ("howto/page", "howto/commands", "gallery/index"),
    "gene expression": ("tutorials/patients",),
    "hdbscan noise": ("from_sklearn",),
    "k-means": ("faq", "theory/kmeans", "which"),
    "overlapping clusters": ("which", "theory/number"),
    "standardise": ("faq", "howto/tables"),
    "voting": ("theory/voting", "evidence/voting"),
    "license": ("support", "review", "need"),
    "dask": ("howto/disk", "tutorials/ten_million"),
    "anndata": ("tutorials/single_cells", "howto/python"),
    "best clustering": ("tutorials/ranking", "faq", "theory/ranking"),
    "method comparison": ("which", "evidence/leaderboard", "need"),
    "soft clustering": ("which", "howto/python", "theory/voting", "glossary"),
}
"""Questions that were written down after the index and asked then. Two entries were added for them later."""
STRANGERS = {
    "what is consensus clustering": ("index", "start", "need", "theory/index", "faq"),
    "compare two clusterings": ("howto/python", "howto/commands", "api/made/ensemblage.compare"),
    "outliers": ("howto/splits", "from_sklearn", "theory/confidence", "howto/tables"),
    "decimal comma": ("howto/tables",),
    "how long does it take": ("howto/speed", "evidence/benchmarks", "faq"),
    "bayesian mcmc samples": ("tutorials/posterior",),
    "which features separate the clusters": (
        "howto/python",
        "howto/splits",
        "howto/page",
        "tutorials/customers",
        "gallery/members",
    ),
    "is there any structure": ("theory/number", "howto/choose_k", "faq"),
    "is my data sent anywhere": ("faq", "howto/page"),
    "use my own algorithm": ("howto/add_method", "tutorials/labels"),
    "consensus matrix heatmap": ("gallery/objects", "howto/page"),
    "pandas dataframe": ("howto/python", "howto/tables", "start"),
    "sql database": ("tutorials/duckdb",),
    "call from R": ("howto/reticulate", "from_r"),
    "uncertain objects": ("theory/confidence", "gallery/objects", "faq"),
    "merge clusters": ("howto/splits",),
    "combine several algorithms": ("tutorials/labels", "which", "faq", "start", "howto/python"),
    "gap statistic elbow": ("howto/choose_k", "theory/number"),
    "python version": ("start",),
    "label switching": ("tutorials/posterior", "theory/voting", "faq"),
}
"""Questions of November 2026, written before headings, first paragraphs, index and scorer.js were changed for them."""
HELD = {
    "install on windows": ("start",),
    "what does undecided mean": ("theory/confidence", "glossary", "howto/page"),
    "group similar patients": ("tutorials/patients",),
    "network communities": ("theory/communities", "howto/python"),
    "labels with missing objects": ("tutorials/labels",),
    "choose resolution scanpy": ("tutorials/single_cells", "tutorials/leiden"),
    "export results to csv": ("howto/commands", "start", "cheatsheet"),
    "memory error large dataset": ("howto/disk", "howto/speed", "tutorials/ten_million"),
    "significance test of clusters": ("howto/splits", "theory/number"),
    "which algorithm should i choose": ("which", "faq"),
    "save model and predict": ("howto/python",),
    "columns with numbers and text": ("tutorials/customers", "howto/tables"),
    "license commercial use": ("support", "review", "need", "about"),
    "report a bug": ("support",),
    "how are weights of members computed": ("theory/members", "evidence/default"),
    "bootstrap stability": ("theory/number", "howto/choose_k", "howto/python"),
    "date columns": ("howto/tables",),
    "accuracy on real data": ("evidence/index", "evidence/default", "evidence/leaderboard", "evidence/verdict"),
    "cspa hgpa mcla": ("theory/graphs", "which"),
    "figures for publication": ("howto/page", "gallery/index", "gallery/objects"),
}
"""Questions that were written with those, and asked only afterwards; nothing was changed by them."""


def wide_pages(site: Path, browser: Any) -> list[str]:
    """Pages that scroll sideways on a telephone."""
    found = []
    for page in sorted(site.rglob("*.html")):
        if "_static" in page.parts:
            continue
        browser.open(page, width=TELEPHONE)
        width = browser.run("document.documentElement.scrollWidth")
        if width > TELEPHONE:
            found.append(f"{page.relative_to(site)}: {width} px")
    return found


def first_hit(site: Path, question: str, browser: Any) -> str:
    """The page of the first result, without its suffix; empty if there is none."""
    browser.open(site / "search.html")
    browser.run(f"location.search = '?q={quote_plus(question)}'")
    for _ in range(100):
        time.sleep(0.1)
        done = (
            "document.querySelector('.search-summary, #search-results p')?.textContent.match(/found|Search finished/)"
        )
        if browser.run(f"Boolean({done})"):
            break
    hit = browser.run("document.querySelector('#search-results li a')?.getAttribute('href') || ''")
    return str(hit).partition("?")[0].partition("#")[0].removesuffix(".html")


def asked(site: Path, questions: dict[str, tuple[str, ...]], browser: Any) -> int:
    """How many questions have an answer in their first hit; each is printed."""
    right = 0
    for question, pages in questions.items():
        hit = first_hit(site, question, browser)
        right += hit in pages
        print(f"{'right' if hit in pages else 'WRONG'}  {question}: {hit}")
    return right


def main() -> None:
    from browser import browser

    site, wrong = Path(sys.argv[1]), []
    with browser() as tab:
        right = [asked(site, questions, tab) for questions in (QUESTIONS, STRANGERS, OTHERS, HELD)]
        print("first hits that are right, of 20 each: {}, {}; of questions asked afterwards: {}, {}".format(*right))
        tab.open(site / "index.html", width=LAPTOP)
        height = tab.run("document.querySelector('.bd-header').offsetHeight")
        print(f"header at {LAPTOP} px: {height} px high")
        wrong += wide_pages(site, tab)
    print(f"pages wider than {TELEPHONE} px: {wrong or 'none'}")
    if min(right[:2]) < LEAST or height > ROW or wrong:
        sys.exit(1)


if __name__ == "__main__":
    main()
