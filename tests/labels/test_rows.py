"""The protocol of rows: a fourth place for them is one class that says how a block is read."""

import numpy as np
import pytest
from inside import rows_in_memory
from limits import limit
from sklearn.base import clone
from strategies import planted_labels, with_equal_rows

from ensemblage import Ensemble
from ensemblage.consensus import CumulativeVoting, KMeansConsensus
from ensemblage.labels.disk import BlockRows
from ensemblage.metrics import density


class ChunkedRows(BlockRows):
    """Rows that lie in a list of chunks."""

    def __init__(self, chunks):
        self.chunks, self.edges = chunks, np.cumsum([0, *map(len, chunks)])
        super().__init__((int(self.edges[-1]), chunks[0].shape[1]), chunks[0].dtype)

    def _read(self, start, stop):
        parts = zip(self.chunks, self.edges[:-1], strict=True)
        return np.concatenate([chunk[max(start - a, 0) : max(stop - a, 0)] for chunk, a in parts])

    def distinct(self, radices):
        found = super().distinct(radices)
        return found._replace(codes=ChunkedRows(np.array_split(found.codes[:], 5)))


@pytest.fixture
def two_ensembles(monkeypatch, small_blocks, missing):
    """The same labels in memory and in chunks; distinct rows are found in many runs."""
    limit(monkeypatch, "rows that are sorted at once on disk", lambda *_: 23)
    labels = with_equal_rows(planted_labels(150, 6, 4, 0.4, missing, seed=5)[0], 220)
    here = Ensemble(labels)
    rows = ChunkedRows(np.array_split(here.codes, 7))
    return here, Ensemble._of(here.coded._replace(codes=rows), here.missing)


@pytest.mark.parametrize("model", [KMeansConsensus(4, n_init=2, random_state=0), CumulativeVoting(4)])
def test_consensus_of_rows_in_another_place(two_ensembles, model):
    expected, found = (clone(model).fit(E) for E in two_ensembles)
    for attribute in ("labels_", "confidence_"):
        np.testing.assert_array_equal(getattr(found, attribute), getattr(expected, attribute))


def test_metrics_of_rows_in_another_place(two_ensembles):
    here, there = two_ensembles
    assert isinstance(there.distinct.codes, ChunkedRows)
    partition = np.arange(len(here)) % 5 - 1
    assert density(there, partition) == density(here, partition)
    for name in ("codes", "counts", "inverse"):
        np.testing.assert_array_equal(getattr(there.distinct, name)[:], getattr(here.distinct, name)[:])


def test_rows_in_memory_as_another_type():
    rows = rows_in_memory(np.array([[1, 2]], dtype=np.uint8))
    assert np.asarray(rows).dtype == np.uint8
    assert np.asarray(rows, dtype=np.float64).tolist() == [[1.0, 2.0]]
