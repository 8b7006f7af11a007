"""Entries of the index, which the site's search puts first: each term of the glossary leads to the page of its row."""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from functools import cache
from pathlib import Path

from sphinx.application import Sphinx

GLOSSARY = Path(__file__).parents[1] / "glossary.md"
MORE = {
    "start": "install, installation, Windows, Python version, requirements",
    "faq": "reproducible, repeatable, random seed, k-means, units, privacy, consensus clustering, combine algorithms",
    "from_r": "R, ConsensusClusterPlus, M3C, diceR, clue",
    "from_sklearn": "scikit-learn, noise, DBSCAN, HDBSCAN",
    "howto/choose_k": "how many clusters, estimate k, elbow, gap statistic",
    "howto/add_method": "own algorithm, custom method, plug-in",
    "howto/cite": "cite, citation, BibTeX, references",
    "howto/commands": "command line, shell, completion, standard input, options",
    "howto/disk": "disk, Dask, large data, memory, out of memory",
    "howto/notebooks": "pipeline, GridSearchCV, notebook",
    "howto/page": "report, HTML, figures, export figures",
    "howto/python": "save, load, predict, new objects, semi-supervised, constraints, compare clusterings, profile",
    "howto/reticulate": "reticulate, call from R",
    "howto/speed": "slow, speed, threads, compile, how long, running time",
    "howto/splits": "merge clusters, outliers, noise objects, markers, p-values",
    "howto/tables": "pandas, decimal comma, missing values, categories, categorical, CSV, Excel, dates, encoding",
    "need": "alternatives, state of the field, comparison",
    "support": "help, bug, support",
    "tutorials/leiden": "Leiden, Louvain",
    "tutorials/patients": "genes, patients, expression, subtypes",
    "tutorials/single_cells": "single cells, scanpy, AnnData",
    "tutorials/customers": "segments, customers, mixed data",
    "tutorials/duckdb": "SQL, database, DuckDB",
    "tutorials/labels": "own labels, combine clusterings",
    "tutorials/posterior": "Bayesian, MCMC, posterior samples, label switching",
    "gallery/objects": "consensus matrix, heat map, heatmap",
    "theory/confidence": "uncertain objects",
    "theory/communities": "graph, network",
    "theory/ranking": "silhouette",
}
"""Words that are no terms of the glossary, by the page that answers who types them."""


@cache
def entries() -> dict[str, list[str]]:
    """Page → the entries that lead to it."""
    found = defaultdict(list, {page: words.split(", ") for page, words in MORE.items()})
    for row in re.findall(r"^\| (?!term|---)(.+?) \|.*\]\(([^)#]+)\.md[^)]*\) \|$", GLOSSARY.read_text("utf-8"), re.M):
        found[posixpath.normpath(row[1])] += [term for term in re.split(r", |\s*\(|\)", row[0]) if term]
    return dict(found)


def add(app: Sphinx, page: str, content: list[str]) -> None:
    """Put the entries of a page below its title."""
    if page in entries():
        words = ", ".join(f"! {entry}" for entry in entries()[page])
        content[0] = re.sub(
            r"^# .+$", lambda m: f"{m[0]}\n\n```{{index}} {words}\n```\n", content[0], count=1, flags=re.M
        )


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("source-read", add, priority=900)  # after the documents are in their pages
    return {"parallel_read_safe": True, "parallel_write_safe": True}
