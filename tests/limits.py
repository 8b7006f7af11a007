"""Sizes from which on the library takes another way, for tests that lower them: only this file knows where they are.

Tests of one module, and of kernels, change its constants themselves.
"""

PLACES = {
    "bytes of bitmaps for single linkage": "ensemblage.consensus.hierarchies._linkage.MOST_BYTES",
    "bytes of distinct rows that workers send": "ensemblage.labels.dask.SMALL_BYTES",
    "bytes of the bitmaps of a tile": "ensemblage.counting._bitmaps.TILE_BYTES",
    "cells of a table of label counts": "ensemblage.counting._pairs.SMALL_TABLE",
    "cells of a table of label counts of rows elsewhere": "ensemblage.counting._pairs.LARGE_TABLE",
    "cells of the tables that are counted at once": "ensemblage.counting._contingency.CELLS",
    "cells of the tables of voting": "ensemblage.consensus.voting._aggregation._MOST_CELLS",
    "clusters whose products are a matrix": "ensemblage.consensus._label_products.MOST_DENSE",
    "different similarities in bytes": "ensemblage.consensus.hierarchies._linkage.MOST_LEVELS",
    "objects all of which are clustered": "ensemblage.generation._dense_rows.MOST_WHOLE",
    "objects among which neighbours are sought, at least": "ensemblage.generation._dense_rows.LEAST_OTHERS",
    "objects clustered by different algorithms": "ensemblage.generation._diverse.MOST_DIVERSE",
    "objects compared by the trees": "ensemblage.answer._chooser.MOST_CHOSEN_ON",
    "objects drawn of more": "ensemblage.generation._dense_rows.SAMPLE_SIZE",
    "objects of a task of pairs": "ensemblage.ranking._pair_means.TASK_ROWS",
    "objects on a page": "ensemblage.report._object_table.MOST_OBJECTS",
    "objects of the rules": "ensemblage.profiles._tree.MOST_OBJECTS",
    "operations that NumPy does": "ensemblage.kernels._jit.FEW_OPERATIONS",
    "pairs of rows that are compared in cells": "ensemblage.generation._nearest.LEAST_PAIRS",
    "pairs drawn at once": "ensemblage.ranking._pair_means.SAMPLE_PAIRS",
    "pairs that are counted": "ensemblage.metrics._wat.MOST_PAIRS",
    "pairs that are drawn": "ensemblage.metrics._wat._N_DRAWN",
    "points of a figure": "ensemblage.report._figure_data._MOST_POINTS",
    "rows that one row is compared with": "ensemblage.counting._pairs.PAIR_BLOCK",
    "rows of a block": "ensemblage.labels.threads.BLOCK_ROWS",
    "rows of a thread": "ensemblage.labels.threads.LEAST_ROWS",
    "rows of an aggregated partition": "ensemblage.consensus.voting._aggregation.ROWS_AT_ONCE",
    "rows of an aggregated partition whose logarithms are taken": "ensemblage.consensus.voting._js_alink.ROWS_AT_ONCE",
    "points of a cluster that k-means starts on": "ensemblage.consensus.kmeans._point_kmeans.ROWS_OF_CLUSTER",
    "points that k-means starts on": "ensemblage.consensus.kmeans._point_kmeans.ROWS_OF_STARTS",
    "rows of which all eigenvectors are found": "ensemblage.consensus.graphs._ncut.DENSE_ROWS",
    "rows that are coded at once": "ensemblage.io._out_of_core.BATCH_ROWS",
    "rows that are sorted at once on disk": "ensemblage.labels.disk.run_rows",
    "share of the memory for distinct rows on disk": "ensemblage.labels.disk.SMALL_PART",
    "rows compared for modes": "ensemblage.cli._analysis.MOST_COMPARED",
    "rows of a method that compares pairs": "ensemblage.answer._method_comparison.MOST_PAIRED",
    "rows of a sample for each cluster": "ensemblage.generation._sampled_kmeans.ROWS_OF_CLUSTER",
    "rows of a sample for k-means": "ensemblage.generation._sampled_kmeans.ROWS_OF_SAMPLE",
    "values among which neighbours are sought": "ensemblage.generation._dense_rows.MOST_VALUES",
    "values compared at once": "ensemblage.profiles._effects._CELLS",
    "variables of the rules": "ensemblage.profiles._tree.MOST_VARIABLES",
}


def limit(monkeypatch, what, value):
    """Let it be ``value`` in this test."""
    monkeypatch.setattr(PLACES[what], value)
