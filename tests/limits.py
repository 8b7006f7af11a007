"""Sizes from which on the library takes another way, for tests that lower them: only this file knows where they are.

Each is a number, a pair of numbers, or the function that computes one. Tests of kernels change their constants
themselves.
"""

import ast
from functools import cache
from importlib import import_module
from pathlib import Path

import ensemblage

LIBRARY = Path(ensemblage.__file__).parent
SIZES = {
    "bytes of a block of text": ("tables", "BLOCK_SIZES"),
    "bytes of bitmaps for single linkage": ("consensus/hierarchies", "MOST_BYTES"),
    "bytes of bitmaps for the graph of all pairs": ("consensus/graphs", "MOST_BYTES"),
    "bytes of distinct rows that workers send": ("labels", "SMALL_BYTES"),
    "bytes of draws that are read at once": ("io", "TEXT_BYTES"),
    "bytes of features": ("io/_features", "MOST_BYTES"),
    "bytes of rows that are taken from disk one by one": ("labels", "TAKE_BYTES"),
    "bytes of the bitmaps of a tile": ("counting", "TILE_BYTES"),
    "bytes that are read at once from disk": ("labels", "READ_BYTES"),
    "bytes that are written at once": ("labels", "WRITTEN_BYTES"),
    "cells of a table of label counts": ("counting", "SMALL_TABLE"),
    "cells of a table of label counts of rows elsewhere": ("counting", "LARGE_TABLE"),
    "cells of the tables of all pairs": ("metrics", "MOST_CELLS"),
    "cells of the tables of voting": ("consensus/voting", "_MOST_CELLS"),
    "cells of the tables that are counted at once": ("counting", "CELLS"),
    "clusters whose products are a matrix": ("consensus/graphs", "MOST_DENSE"),
    "codes that new alignments of a mode read": ("consensus/posterior", "RESTART_CODES"),
    "different similarities in bytes": ("consensus/hierarchies", "MOST_LEVELS"),
    "distances of a block": ("stability", "DISTANCES"),
    "distances that are kept": ("metrics/_internal", "MOST_KEPT"),
    "draws that are compared for a start": ("consensus/posterior", "N_COMPARED"),
    "entries of a matrix of AnnData": ("io", "MOST_ENTRIES"),
    "label rows of a cluster that k-means starts on": ("consensus/kmeans", "ROWS_OF_CLUSTER"),
    "label rows that k-means starts on": ("consensus/kmeans", "ROWS_OF_STARTS"),
    "labels of a block of draws": ("io", "BLOCK_LABELS"),
    "labels of a table of short numbers": ("consensus/kmeans", "LABELS_OF_SHORT_TABLE"),
    "labels that are described at once": ("choices", "MOST_LABELS"),
    "labels up to which results are shaken": ("consensus/posterior", "MOST_SHAKEN"),
    "labels up to which searches are long": ("consensus/posterior", "MOST_LONG"),
    "numbers in a table of labels by communities": ("consensus/communities", "MOST_COUNTS"),
    "objects all of which are clustered": ("generation", "MOST_WHOLE"),
    "objects among which neighbours are sought, at least": ("generation", "LEAST_OTHERS"),
    "objects clustered by different algorithms": ("generation", "MOST_DIVERSE"),
    "objects compared by the trees": ("choices", "MOST_CHOSEN_ON"),
    "objects drawn of more": ("generation", "SAMPLE_SIZE"),
    "objects of a task of pairs": ("ranking", "TASK_ROWS"),
    "objects of the rules": ("profiles", "MOST_OBJECTS"),
    "objects on a page": ("report", "MOST_OBJECTS"),
    "objects whose logarithms are tabulated": ("consensus/posterior", "MOST_TABULATED"),
    "operations of a call of a kernel": ("base", "OPERATIONS"),
    "operations that NumPy does": ("kernels", "FEW_OPERATIONS"),
    "operations that no thread of its own does": ("base", "SHORT"),
    "pairs drawn at once": ("ranking", "SAMPLE_PAIRS"),
    "pairs of rows that are compared in cells": ("generation", "LEAST_PAIRS"),
    "pairs that are counted": ("metrics/_wat", "MOST_PAIRS"),
    "pairs that are drawn": ("metrics", "_N_DRAWN"),
    "partitions of rows that are all compared": ("consensus/posterior", "MOST_ENUMERATED"),
    "points of a cluster that k-means starts on": ("consensus/graphs", "ROWS_OF_CLUSTER"),
    "points of a figure": ("report", "_MOST_POINTS"),
    "points of a long tree": ("generation", "MANY"),
    "points that k-means starts on": ("consensus/graphs", "ROWS_OF_STARTS"),
    "ranges of distances": ("metrics/_internal", "BINS"),
    "restarts of the eigensolver": ("consensus/graphs", "MOST_RESTARTS"),
    "restarts of the eigensolver of many rows": ("consensus/graphs", "RESTARTS_OF_LARGE"),
    "rows compared for modes": ("pipeline/_describe", "MOST_COMPARED"),
    "rows of a block": ("base", "BLOCK_ROWS"),
    "rows of a block of features": ("io", "MOST_ROWS"),
    "rows of a method that compares pairs": ("consensus", "MOST_PAIRED"),
    "rows of a part that is written": ("cli", "PART_ROWS"),
    "rows of a partial sum of features": ("io/_scaling", "SUM_ROWS"),
    "rows of a partial sum of shares": ("labels/counts", "SUM_ROWS"),
    "rows of a sample for each cluster": ("generation", "ROWS_OF_CLUSTER"),
    "rows of a sample for k-means": ("generation", "ROWS_OF_SAMPLE"),
    "rows of a thread": ("base", "LEAST_ROWS"),
    "rows of an aggregated partition": ("consensus/voting", "ROWS_AT_ONCE"),
    "rows of an aggregated partition whose logarithms are taken": ("consensus/voting/_js_alink", "ROWS_AT_ONCE"),
    "rows of the same first word": ("labels", "LONGEST_RUN"),
    "rows of which all eigenvectors are found": ("consensus/graphs", "DENSE_ROWS"),
    "rows of which all eigenvectors are found at last": ("consensus/graphs", "MOST_DENSE_ROWS"),
    "rows that are coded at once": ("labels", "BATCH_ROWS"),
    "rows that are compared of features elsewhere": ("pipeline/_blocks", "MOST_COMPARED"),
    "rows that are sorted at once on disk": ("labels", "run_rows"),
    "rows that one row is compared with": ("metrics", "PAIR_BLOCK"),
    "rows whose neighbours are exact": ("generation", "MOST_EXACT"),
    "rows with counts that are read at once": ("labels", "ROWS_AT_ONCE"),
    "share of rows that SALSO mutates": ("consensus/posterior", "MUTATED"),
    "share of the memory for distinct rows on disk": ("labels", "SMALL_PART"),
    "starts of latent classes that go on": ("consensus/posterior", "FINISHED"),
    "values among which neighbours are sought": ("generation", "MOST_VALUES"),
    "values compared at once": ("profiles", "_CELLS"),
    "values of an AnnData that are described": ("cli/_source", "MOST_DESCRIBED"),
    "variables of the rules": ("profiles", "MOST_VARIABLES"),
    "variables of wide objects": ("stability", "WIDE"),
    "walks at once": ("consensus/hierarchies", "WIDTH"),
    "walks to clusters at once": ("consensus/graphs", "WIDTH"),
}
"""What a size is of, and the room that has it with its name there; the file where two of the room have the name."""


def names_of(file):
    """What a module defines, and what it imports by name."""
    defined, imported = set(), set()
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            defined.add(node.name)
        elif isinstance(node, ast.ImportFrom):
            imported |= {alias.name for alias in node.names}
        elif isinstance(node, ast.Assign):
            defined |= {name.id for name in ast.walk(node) if isinstance(name, ast.Name)}
    return defined, imported


@cache
def place(what):
    """The module and the name of a size: the one of the room that defines it, else the one that imports it."""
    room, name = SIZES[what]
    path = LIBRARY / room
    files = {file: names_of(file) for file in (sorted(path.glob("*.py")) or [path.with_suffix(".py")])}
    having = [file for file, (defined, _) in files.items() if name in defined]
    (file,) = having or [file for file, (_, imported) in files.items() if name in imported]
    return import_module(".".join(file.relative_to(LIBRARY.parent).with_suffix("").parts)), name


def limit(monkeypatch, what, value):
    """Let it be ``value`` in this test."""
    monkeypatch.setattr(*place(what), value)
