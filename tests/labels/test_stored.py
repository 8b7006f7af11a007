"""Labels on disk: everything that works there gives the same bits as in memory."""

import errno
import gc
import io
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner
from former import FORMER
from hypothesis import given
from hypothesis import strategies as st
from joblib import parallel_config
from limits import limit
from strategies import label_matrices, planted_labels, random_labels, with_equal_rows

from ensemblage import Ensemble, make_consensus, metrics
from ensemblage.base.atomic import LOCK
from ensemblage.base.validation import check_bytes
from ensemblage.cli import main
from ensemblage.consensus import (
    CSPA,
    HBGF,
    HGPA,
    BisectingKMeansConsensus,
    CumulativeVoting,
    EvidenceAccumulation,
    KMeansConsensus,
    NegMM,
)
from ensemblage.labels import disk
from ensemblage.labels.disk import MARKER
from ensemblage.metrics import (
    cluster_density,
    coassociation,
    density,
    ensemble_ari,
    ensemble_nmi,
    item_consensus,
    kmeans_loss,
    mm_index,
    pac,
    verdicts,
)
from ensemblage.metrics._coassociation import association_counts
from ensemblage.metrics._wat import weak_association_threshold
from ensemblage.ranking import DISCOTEC, AverageAgreement

pytestmark = FORMER


@pytest.fixture
def small_room(monkeypatch, small_blocks):
    """Little memory: blocks of few rows, distinct rows in many runs, and none of them small enough to be held."""
    limit(monkeypatch, "rows that are sorted at once on disk", lambda *_: 23)
    limit(monkeypatch, "share of the memory for distinct rows on disk", 10**9)
    limit(monkeypatch, "rows that are coded at once", 13)


def stored(labels, folder, **options):
    path = folder / "labels.npy"
    np.save(path, labels)
    return Ensemble.open(path, **options)


def same_ensemble(found, expected):
    np.testing.assert_array_equal(found.codes[:], expected.codes)
    assert found.codes.dtype == expected.codes.dtype
    for a, b in zip(found.categories, expected.categories, strict=True):
        np.testing.assert_array_equal(a, b)
    for name in ("codes", "counts", "inverse"):
        a, b = getattr(found.distinct, name)[:], getattr(expected.distinct, name)
        np.testing.assert_array_equal(a, b)
        assert a.dtype == b.dtype


@pytest.mark.parametrize("dtype", ["i1", "i2", ">i4", "i8", "u1", "u8", "?"])
@pytest.mark.parametrize("order", "CF")
def test_any_integers_in_any_order(tmp_path, small_room, dtype, order):
    labels = np.maximum(random_labels(60, 4, 5, 0.2), 0 if dtype in ("u1", "u8", "?") else -1).astype(dtype)
    same_ensemble(stored(np.asarray(labels, order=order), tmp_path), Ensemble(labels))


@given(label_matrices(max_objects=40), st.integers(1, 50), st.integers(1, 4))
def test_distinct_rows_of_any_size_of_runs(tmp_path_factory, labels, rows_at_once, n_jobs):
    E = stored(labels, tmp_path_factory.mktemp("d"))
    with pytest.MonkeyPatch.context() as patch, parallel_config(n_jobs=n_jobs):
        limit(patch, "rows that are sorted at once on disk", lambda *_: rows_at_once)
        limit(patch, "share of the memory for distinct rows on disk", 10**9)
        found = E.distinct
    for a, b in zip(found, Ensemble(labels).distinct, strict=True):
        np.testing.assert_array_equal(a[:], b)


METRICS = {
    "density": lambda E, z: density(E, z),
    "density with weights": lambda E, z: density(E, z, weights=np.arange(1, E.shape[1] + 1)),
    "cluster_density": cluster_density,
    "kmeans_loss": kmeans_loss,
    "ensemble_nmi": ensemble_nmi,
    "ensemble_ari": ensemble_ari,
    "item_consensus": item_consensus,
    "cluster_consensus": lambda E, z: metrics.cluster_consensus(E, z),
    "mm_index": mm_index,
    "baselines nmi": lambda E, z: metrics.ensemble_baselines(E, "nmi"),
    "baselines density": lambda E, z: metrics.ensemble_baselines(E, "density"),
}


@pytest.mark.core(3)
@pytest.mark.parametrize("metric", METRICS)
def test_metrics(tmp_path, small_room, missing, metric):
    labels, truth = planted_labels(150, 6, 4, 0.3, missing, seed=3)
    truth[:5] = -1
    E = stored(labels, tmp_path)
    assert not E.distinct.codes.random_access
    np.testing.assert_array_equal(METRICS[metric](E, truth), METRICS[metric](Ensemble(labels), truth))


@pytest.mark.parametrize("measure", ["ari", "nmi"])
@pytest.mark.parametrize("cells", [2**22, 30, 1])
def test_average_agreement(tmp_path, small_room, monkeypatch, missing, measure, cells):
    limit(monkeypatch, "cells of the tables that are counted at once", cells)
    labels = random_labels(90, 6, 7, missing)
    labels[:, 1], labels[:, 4] = np.arange(90) // 3, np.arange(90) % 31  # a table of far more cells than objects
    found = AverageAgreement(measure).fit(stored(labels, tmp_path))
    expected = AverageAgreement(measure).fit(labels)
    np.testing.assert_array_equal(found.agreement_, expected.agreement_)
    np.testing.assert_array_equal(found.scores_, expected.scores_)


METHODS = {
    "km": {"random_state": 0, "n_init": 3},
    "km random": {"init": "random", "random_state": 1, "n_init": 3},
    "km normalized": {"normalize": True, "random_state": 1, "n_init": 2},
    "ecc": {"random_state": 2, "n_init": 3},
    "km cosine": {"utility": "cosine", "random_state": 2, "n_init": 2},
    "km lp": {"utility": "lp", "exponent": 8, "normalize": True, "random_state": 2, "n_init": 2},
    "acv": {},
    "mcla": {"partitioner": "spectral", "random_state": 0},
    "majority": {},
    "sec": {"random_state": 0, "n_init": 2},
    "bv": {"random_state": 0},
    "h-km": {"random_state": 0},
}


@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize("name", METHODS)
def test_consensus(tmp_path, small_room, missing, name, n_jobs):
    labels = with_equal_rows(planted_labels(150, 6, 4, 0.4, missing, seed=5)[0], 220)
    model = make_consensus(name.split()[0], 4, **METHODS[name])
    expected = make_consensus(name.split()[0], 4, **METHODS[name]).fit(labels)
    E = stored(labels, tmp_path)
    found = model.set_params(n_jobs=n_jobs).fit(E)
    assert not E.distinct.codes.random_access
    for attribute in ("labels_", "confidence_"):
        a, b = getattr(found, attribute), getattr(expected, attribute)
        np.testing.assert_array_equal(a, b)
        assert a.dtype == b.dtype
    for attribute in ("objective_", "membership_", "linkage_matrix_"):
        if hasattr(expected, attribute):
            np.testing.assert_array_equal(getattr(found, attribute), getattr(expected, attribute))
    if hasattr(expected, "predict"):
        new = random_labels(70, 6, 4, missing, seed=9)
        np.testing.assert_array_equal(found.predict(stored(new, tmp_path)), expected.predict(new))
        np.testing.assert_array_equal(found.predict(E), expected.predict(labels))


def test_few_clusters_at_a_time(tmp_path, small_room, monkeypatch, missing):
    limit(monkeypatch, "cells of a table of label counts", 0)
    limit(monkeypatch, "cells of a table of label counts of rows elsewhere", 50)
    labels = random_labels(90, 5, 6, missing)
    z = np.arange(90) % 11 - 1
    assert density(stored(labels, tmp_path), z) == density(labels, z)


def test_discotec(tmp_path, small_room, missing):
    labels = with_equal_rows(planted_labels(90, 5, 3, 0.4, missing, seed=2)[0], 120)
    pairs = [[0, 1], [4, 7], [11, 3]]
    for options in ({"measure": "tv"}, {"measure": "binary", "max_pairs": 0, "n_sampled_pairs": 70_000}):
        if missing:
            options = {**options, "max_pairs": 0, "n_sampled_pairs": 70_000}
        rankers = [DISCOTEC(random_state=0, **options) for _ in range(2)]
        E = stored(labels, tmp_path)
        constraints = {"must_link": pairs, "known_labels": np.arange(120) % 4 - 1}
        found, expected = (r.fit(X, **constraints) for r, X in zip(rankers, (E, labels), strict=True))
        for attribute in ("scores_", "violations_", "standard_errors_", "separated_"):
            np.testing.assert_array_equal(getattr(found, attribute), getattr(expected, attribute))
        z = np.arange(120) % 5
        assert found.score_labels(z) == expected.score_labels(z)


def test_rows_and_partitions_of_a_stored_ensemble(tmp_path, small_room, missing):
    labels = random_labels(80, 5, 4, missing)
    E, M = stored(labels, tmp_path), Ensemble(labels)
    rows = np.array([3, 70, 3, -1, 0])
    for key in (rows, slice(5, 60, 7), np.arange(80) % 3 == 0):
        same_ensemble(E[key], M[key])
    np.testing.assert_array_equal(E[5], M[5])
    same_ensemble(E.select([3, 1]), M.select([3, 1]))
    same_ensemble(E.select(["partition_2"]), M.select(["partition_2"]))
    assert (E.shape, len(E), E.n_missing) == (M.shape, len(M), M.n_missing)
    assert repr(E) == repr(M).replace("80 objects", "80 objects on disk")
    np.testing.assert_array_equal(E.codes[:, 2], M.codes[:, 2])
    np.testing.assert_array_equal(E.codes[7:33, 2], M.codes[7:33, 2])


@pytest.mark.parametrize(
    "rows", [slice(None, None, -1), slice(8, 2, -3), slice(2, 8, -1), slice(-5, None, 2), slice(60, 99), [3, -1, 3]]
)
def test_columns_of_rows_are_numpys(tmp_path, small_room, monkeypatch, rows):
    limit(monkeypatch, "bytes that are read at once from disk", 20)
    labels = random_labels()
    E, M = stored(labels, tmp_path), Ensemble(labels)
    for codes in (E.codes, E.codes.columns(np.array([3, 1])), E.codes.take(slice(40))):
        whole = codes[:]
        np.testing.assert_array_equal(codes[rows, 1], whole[rows, 1])
        np.testing.assert_array_equal(codes[rows], whole[rows])
        assert {codes[rows].dtype, codes[rows, 1].dtype} == {whole.dtype}
    if len(M.codes[rows]):
        np.testing.assert_array_equal(E[rows].codes, M[rows].codes)
    for wrong in ([True, False], [0.5], [[0]], [60]):
        with pytest.raises(IndexError, match="Rows must be"):
            E.codes[wrong]
        with pytest.raises(IndexError, match="Rows must be"):
            E[wrong]


def test_few_distinct_rows_are_held_in_memory(tmp_path):
    E = stored(random_labels(60, 4), tmp_path)
    assert E.distinct.codes.random_access
    model = EvidenceAccumulation(3).fit(E)
    np.testing.assert_array_equal(model.labels_, EvidenceAccumulation(3).fit(random_labels(60, 4)).labels_)


@pytest.mark.parametrize(("more", "held"), [(0, True), (-1, False)])
def test_an_eighth_of_the_memory_holds_the_distinct_rows(tmp_path, monkeypatch, more, held):
    """Those of a file that is read in one run or in several, which wait on disk until they are merged."""
    labels = np.unique(random_labels(60, 4), axis=0)
    for size in (60, 23):
        limit(monkeypatch, "rows that are sorted at once on disk", lambda *_, size=size: size)
        kinds = set()

        def merged(found, n, kinds=kinds, merge_runs=disk.merge_runs):
            kinds.update(isinstance(run.codes, np.ndarray) for run in found.runs)
            return merge_runs(found, n)

        monkeypatch.setattr(disk, "merge_runs", merged)
        E = stored(labels, tmp_path, scratch=tmp_path)
        E.rows.scratch.memory = 8 * labels.size + more
        np.testing.assert_array_equal(E.distinct.codes[:], Ensemble(labels).distinct.codes)
        assert E.distinct.codes.random_access == held
        assert kinds == {size == 60}


def test_distinct_rows_keep_the_folder_they_are_read_from(tmp_path, small_room):
    """Of an ensemble that nobody has any more."""
    labels = random_labels(60, 4)
    codes = stored(labels, tmp_path, scratch=tmp_path).distinct.codes
    gc.collect()
    np.testing.assert_array_equal(codes[:], Ensemble(labels).distinct.codes)


@pytest.mark.parametrize(
    "model",
    [
        EvidenceAccumulation(2),
        NegMM(2, association_threshold="kmeans"),
        CSPA(2, partitioner="spectral"),
        HGPA(2),
        HBGF(2, partitioner="spectral"),
        KMeansConsensus(2, refine="density"),
    ],
)
def test_what_does_not_work_on_disk_says_why(tmp_path, small_room, monkeypatch, model):
    limit(monkeypatch, "bytes of rows that are taken from disk one by one", 0)
    E = stored(random_labels(60, 4), tmp_path)
    with pytest.raises(ValueError, match=r"must hold all label rows in memory: it .*Use KMeansConsensus or Cumulative"):
        model.fit(E)


@pytest.mark.parametrize("call", [np.asarray, lambda E: E.one_hot(), coassociation])
def test_nothing_takes_all_labels_into_memory_unasked(tmp_path, small_room, call):
    with pytest.raises(ValueError, match="memory"):
        call(stored(random_labels(60, 4), tmp_path))


def test_refusals_say_where_the_rows_are(tmp_path):
    with pytest.raises(ValueError, match=r"Got 60 rows of 4 labels on disk\."):
        np.asarray(stored(random_labels(60, 4), tmp_path))


REFUSED = {
    "coassociation must hold .*Use density or cluster_density": coassociation,
    "association_counts must hold .*Use density or DISCOTEC": association_counts,
    "for consensus_cdf, pac and delta_area, must hold .*Use density": pac,
    "weak_association_threshold must hold .*Use a max_pairs below": weak_association_threshold,
    "DISCOTEC must hold .*: an exact score compares all pairs of them.*Use a max_pairs below 1,431": lambda E: (
        DISCOTEC().fit(E)
    ),
}


@pytest.mark.parametrize("message", REFUSED)
def test_functions_that_are_refused_say_what_to_use(tmp_path, small_room, message):
    with pytest.raises(ValueError, match=message):
        REFUSED[message](stored(random_labels(60, 4), tmp_path))


def test_what_to_use_instead_works(tmp_path, small_room):
    labels = random_labels(60, 4)
    E, options = stored(labels, tmp_path), {"max_pairs": 100, "random_state": 0}
    assert weak_association_threshold(E, **options) == weak_association_threshold(labels, **options)
    np.testing.assert_array_equal(coassociation(E, objects=[3, 1]), coassociation(labels, objects=[3, 1]))
    assert pac(E[:30]) == pac(labels[:30])


@pytest.mark.parametrize("suffix", [".npz", ".csv"])
def test_saved_block_by_block(tmp_path, small_room, monkeypatch, missing, suffix):
    limit(monkeypatch, "bytes that are written at once", 50)
    labels = random_labels(80, 5, 4, missing)
    stored(labels, tmp_path).save(tmp_path / f"x{suffix}")
    Ensemble(labels).save(tmp_path / f"y{suffix}")
    assert (tmp_path / f"x{suffix}").read_bytes() == (tmp_path / f"y{suffix}").read_bytes()
    same_ensemble(Ensemble.load(tmp_path / f"x{suffix}"), Ensemble(labels))


@pytest.mark.parametrize("suffix", [".npz", ".csv"])
def test_a_disk_that_is_full_before_all_is_saved(tmp_path, small_room, monkeypatch, suffix):
    E, n_blocks = stored(random_labels(80, 5), tmp_path), []
    read = type(E.codes)._read

    def full(*rows):
        n_blocks.append(1)
        if len(n_blocks) == 3:
            raise OSError(errno.ENOSPC, "No space left on device")
        return read(*rows)

    limit(monkeypatch, "bytes that are written at once", 50)
    monkeypatch.setattr(type(E.codes), "_read", full)
    with pytest.raises(OSError, match="No space left on device"):
        E.save(tmp_path / f"x{suffix}")
    assert [path.name for path in tmp_path.iterdir()] == ["labels.npy"]


# -- Parquet ----------------------------------------------------------------------------------------------------------

FRAMES = {
    "integers": {"a": [1, 2, None, 1], "b": [7, -1, 7, 8]},
    "text": {"a": ["x", None, "y", "x"], "b": [1, 2, 1, 2]},
    "whole floats": {"a": [1.0, -1.0, 2.0, None], "b": [0, 0, 1, 1]},
    "large integers": {"a": [2**60, 1, 2**60 + 1, 1], "b": [0, 0, 1, 1]},
    "booleans": {"a": [True, False, False, True], "b": [0, 0, 1, 1]},
    "missing in a part": {"a": [None, None, 3, 4], "b": [0, 0, 1, 1]},
}


@pytest.mark.parametrize("missing_label", [-1, None])
@pytest.mark.parametrize("kind", FRAMES)
def test_parquet_parts(tmp_path, kind, missing_label):
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame(FRAMES[kind])
    for i in range(2):
        frame[2 * i : 2 * i + 2].write_parquet(tmp_path / f"part-{i}.parquet")
    E, M = Ensemble.open(tmp_path, missing=missing_label), Ensemble(frame, missing=missing_label)
    same_ensemble(E, M)
    assert E.names == ["a", "b"]


def test_features_in_a_part_are_no_labels(tmp_path):
    pl = pytest.importorskip("polars")
    for i, part in enumerate([[1.0, -1.0], [2.0, 0.5]]):
        pl.DataFrame({"a": part}).write_parquet(tmp_path / f"part-{i}.parquet")
    with pytest.raises(ValueError, match=r"these look like features\. Got 0\.5"):
        Ensemble.open(tmp_path)


def unsigned(*parts):
    """Columns of the parts, each as unsigned whole numbers if one of its labels needs that."""
    return [{"a": np.array(part, dtype=np.uint64 if max(part) >= 2**63 else None)} for part in parts]


def test_whole_numbers_of_several_parts_keep_their_digits(tmp_path):
    """As floats, 2⁶⁰ and 2⁶⁰ + 1 were one label; as unsigned numbers, −5 was 2⁶⁴ − 5."""
    E = Ensemble.open(parts(tmp_path, *unsigned([2**60, 2**60 + 1, 2**60 + 2], [2**63, 2**60 + 1])))
    assert E.categories[0].tolist() == [2**60, 2**60 + 1, 2**60 + 2, 2**63]
    assert E.codes[:].ravel().tolist() == [0, 1, 2, 3, 1]
    for other in ([-5, 0], [-1, 0], [2.0**60, 1]):
        folder = tmp_path / str(other)
        folder.mkdir()
        with pytest.raises(
            ValueError, match=r"must be from −2⁶³ to 2⁶³ − 1, or .*\. Got .* and 9223372036854775808 in"
        ):
            Ensemble.open(parts(folder, *unsigned([2**63, 1], other)))


def test_one_parquet_file_in_batches(tmp_path, small_room):
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame(random_labels(100, 3, 5, 0.2), schema=["a", "b", "c"])
    frame.write_parquet(tmp_path / "labels.parquet")
    same_ensemble(Ensemble.open(tmp_path / "labels.parquet"), Ensemble(frame))


# -- Bad input --------------------------------------------------------------------------------------------------------


def parts(folder, *frames):
    pl = pytest.importorskip("polars")
    for i, frame in enumerate(frames):
        pl.DataFrame(frame).write_parquet(folder / f"part-{i}.parquet")
    return folder


def truncated(path):
    path.write_bytes(path.read_bytes()[:-5])
    return path


def npy(folder, array, **options):
    np.save(folder / "x.npy", array, **options)
    return folder / "x.npy"


def named(path, content=b"not what it says"):
    path.write_bytes(content)
    return path


BAD = {
    "truncated": (lambda d: truncated(npy(d, random_labels())), "must be complete. Got 2,523 of 2,528 bytes"),
    "truncated header": (lambda d: named(d / "x.npy", b"\x93NUMPY\x01"), "must be one that numpy.save wrote"),
    "no array": (lambda d: named(d / "x.npy"), "must be one that numpy.save wrote"),
    "objects": (lambda d: npy(d, np.array([[1, None]], dtype=object)), "matrix of whole numbers.*Got object"),
    "floats": (lambda d: npy(d, np.ones((3, 2))), "matrix of whole numbers.*Got float64"),
    "a vector": (lambda d: npy(d, np.ones(3, dtype=int)), r"Got int64 of shape \(3,\)"),
    "nothing": (lambda d: npy(d, np.ones((0, 3), dtype=int)), r"must have objects and partitions. Got shape \(0, 3\)"),
    "all missing": (lambda d: npy(d, np.array([[-1, 0], [-1, 1]])), "Got nothing but missing labels"),
    "no parts": (lambda d: d, "must hold .parquet files. Got none"),
    "other columns": (lambda d: parts(d, {"a": [1], "b": [2]}, {"a": [1]}), "Got 1 columns instead of 2 in 'part-1"),
    "other names": (lambda d: parts(d, {"a": [1], "b": [2]}, {"a": [1], "c": [2]}), "Got other column names in"),
    "other types": (
        lambda d: parts(d, {"a": [1]}, {"a": ["x"]}),
        "must be all numbers or all text. Got both in partition 'a' of",
    ),
    "broken part": (lambda d: truncated(parts(d, {"a": [1]}) / "part-0.parquet").parent, "not a complete Parquet file"),
    "another suffix": (lambda d: named(d / "x.csv"), "must be a .npy file, a .parquet file or a folder"),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_input(tmp_path, what):
    make, message = BAD[what]
    (tmp_path / "in").mkdir()
    (tmp_path / "scratch").mkdir()
    path = make(tmp_path / "in")
    with pytest.raises(ValueError, match=message):
        Ensemble.open(path, scratch=tmp_path / "scratch")
    assert not list((tmp_path / "scratch").iterdir())


def test_nothing_there(tmp_path):
    with pytest.raises(FileNotFoundError):
        Ensemble.open(tmp_path / "x.npy")


def test_pickled_files_are_not_executed(tmp_path):
    np.save(tmp_path / "x.npy", np.array([[print]], dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match="Got object"):
        Ensemble.open(tmp_path / "x.npy")


class FullDisk(io.RawIOBase):
    """A file on it."""

    def write(self, *_):
        raise OSError(errno.ENOSPC, "No space left on device")


def test_a_full_disk(tmp_path, monkeypatch):
    np.save(tmp_path / "x.npy", random_labels())
    (tmp_path / "s").mkdir()

    def open_on_it(path, mode, **options):
        return FullDisk() if mode == "wb" else open(path, mode, **options)

    monkeypatch.setattr("ensemblage.labels.disk.open", open_on_it, raising=False)
    with pytest.raises(ValueError, match=r"must have room for the coded labels. Got No space left"):
        Ensemble.open(tmp_path / "x.npy", scratch=tmp_path / "s")
    assert not list((tmp_path / "s").iterdir())
    monkeypatch.undo()
    E = Ensemble.open(tmp_path / "x.npy", scratch=tmp_path / "s")
    monkeypatch.setattr("ensemblage.labels.disk.write_array", FullDisk.write)
    with pytest.raises(ValueError, match=r"must have room for the coded labels. Got No space left"):
        KMeansConsensus(2).fit(E)
    assert sorted(path.name for path in next((tmp_path / "s").iterdir()).iterdir()) == [LOCK, MARKER, "codes.scratch"]
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=100))
    with pytest.raises(ValueError, match=r"Got 0.0 GB free"):
        Ensemble.open(tmp_path / "x.npy", scratch=tmp_path / "s")


def test_a_file_that_shrinks(tmp_path):
    E = stored(random_labels(), tmp_path)
    with open(E.codes.path, "r+b") as file:
        file.truncate(10)
    with pytest.raises(ValueError, match="must not change"):
        E.codes[:]


@pytest.mark.parametrize(
    ("memory", "n_bytes"),
    [
        *[("2GB", 2e9), ("1.5 gb", 1.5e9), ("500M", 5e8), (10**9, 1e9), ("4096", 4096), ("2GiB", 2e9), (2.5e9, 2.5e9)],
        *[(10**400, 2**63 - 1), (float("inf"), 2**63 - 1)],
    ],
)
def test_sizes_of_memory(memory, n_bytes):
    assert check_bytes(memory, "memory") == n_bytes


@pytest.mark.parametrize(
    "memory", ["", "much", "-1GB", 0, -5, True, "0GB", "1XB", None, "9" * 400, np.nan, b"1GB", 1j, np.complex64(9)]
)
def test_bad_sizes_of_memory(memory):
    with pytest.raises(ValueError, match="memory must be a number of bytes"):
        check_bytes(memory, "memory")


def test_too_little_memory(tmp_path):
    with pytest.raises(ValueError, match=r"memory must be ≥ .* GB for 60 objects"):
        stored(random_labels(), tmp_path, memory="100MB")


def test_a_tree_of_splits_takes_more_memory(tmp_path, small_room):
    """H-KM keeps 60 bytes per object where other methods keep 36."""
    labels = random_labels(n=2_000)
    enough_for_others = disk.LIBRARIES + disk.LEAST_ROOM + 50 * len(labels)
    E = stored(labels, tmp_path, memory=enough_for_others)
    KMeansConsensus(2, n_init=1, random_state=0).fit(E)
    with pytest.raises(ValueError, match=r"memory must be ≥ .* GB for 2,000 objects: about 60 bytes each"):
        BisectingKMeansConsensus(2, n_init=1, random_state=0).fit(E)


@pytest.mark.parametrize(("n", "p"), [(10**6, 20), (10**7, 500)])
def test_rows_of_a_run_fit_the_memory(n, p):
    """Libraries, 24 bytes of each object, and of each row of the run itself twice and what finding it takes."""
    memory, dtype = 10**9, np.dtype(np.int16)
    n_rows = disk.run_rows(memory, (n, p), dtype)

    def n_bytes(rows):
        return disk.LIBRARIES + 24 * n + rows * (disk.BYTES_PER_ROW + 2 * p * dtype.itemsize)

    assert n_bytes(n_rows) <= memory < n_bytes(n_rows + 1)
    assert disk.run_rows(1, (n, p), dtype) == 2**16


def test_scratch_goes_with_the_last_user(tmp_path):
    (tmp_path / "s").mkdir()
    E = stored(random_labels(), tmp_path, scratch=tmp_path / "s")
    model = CumulativeVoting(2).fit(E)
    codes = E.codes
    del E
    gc.collect()
    assert len(codes[:]) == 60
    del codes, model
    gc.collect()
    assert not list((tmp_path / "s").iterdir())
    with pytest.raises(ValueError, match="scratch must be a folder that can be written"):
        stored(random_labels(), tmp_path, scratch=tmp_path / "nowhere")


# -- Command line -----------------------------------------------------------------------------------------------------


def call(*args):
    result = CliRunner().invoke(main, [str(arg) for arg in args], catch_exceptions=False)
    return result.exit_code, result.stdout, result.stderr


@pytest.fixture
def big(tmp_path):
    np.save(tmp_path / "big.npy", planted_labels(300, 6, 3, 0.3, 0.1)[0])
    return tmp_path / "big.npy"


def consensus_of(big):
    return KMeansConsensus(3, random_state=0).fit(np.load(big))


def test_combine_writes_the_labels(big, tmp_path):
    expected = consensus_of(big)
    assert call("combine", big, "-k", 3, "--memory", "2GB", "-o", tmp_path / "out.npy")[0] == 0
    np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), expected.labels_)
    assert call("combine", big, "-k", 3, "-o", tmp_path / "out.csv")[0] == 0
    lines = (tmp_path / "out.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "id,cluster,confidence,verdict,runner_up,runner_up_share"
    sure = expected.confidence_[0]
    first = f"{expected.labels_[0]},{sure:.6g},{verdicts([sure])[0]},{expected.runner_up_[0]},{1 - sure:.6g}"
    assert lines[1] == f"1,{first}"
    assert len(lines) == 301


def test_combine_writes_parts(big, tmp_path, monkeypatch):
    pl = pytest.importorskip("polars")
    limit(monkeypatch, "rows of a part that is written", 128)
    code, out, _ = call("combine", big, "-k", 3, "-o", tmp_path / "out")
    assert code == 0
    assert "3 clusters of" in out
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [f"part-{i:05}.parquet" for i in range(3)]
    expected = consensus_of(big)
    frame = pl.read_parquet(tmp_path / "out")
    np.testing.assert_array_equal(frame["cluster"], expected.labels_)
    np.testing.assert_array_equal(frame["confidence"], expected.confidence_)
    np.testing.assert_array_equal(frame["verdict"], verdicts(expected.confidence_))
    np.testing.assert_array_equal(frame["runner_up"], expected.runner_up_)
    np.testing.assert_array_equal(frame["runner_up_share"], 1 - expected.confidence_)
    assert "exists" in call("combine", big, "-k", 3, "-o", tmp_path / "out")[2]
    assert call("combine", big, "-k", 2, "-o", tmp_path / "out", "--overwrite")[0] == 0
    (tmp_path / "out" / "mine.txt").write_text("mine", encoding="utf-8")
    assert "exists" in call("combine", big, "-k", 3, "-o", tmp_path / "out", "--overwrite")[2]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["big.npy", "out"]


def test_combine_of_parts(tmp_path):
    parts(tmp_path, {"a": [1, 1, 2, 2], "b": [1, 1, 2, 2]}, {"a": [3, 3], "b": [0, 0]})
    assert call("combine", tmp_path, "-k", 3, "-o", tmp_path / "out.npy")[0] == 0
    assert np.load(tmp_path / "out.npy").tolist() == [0, 0, 1, 1, 2, 2]


def test_nothing_is_half_written(big, tmp_path, monkeypatch):
    def fails(*args, **kwargs):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(np, "save", fails)
    monkeypatch.setattr("pyarrow.parquet.write_table", fails)
    for name in ("out.npy", "out"):
        code, _, error = call("combine", big, "-k", 3, "-o", tmp_path / name)
        assert code == 2
        assert "No space left on device" in error
    assert [path.name for path in tmp_path.iterdir()] == ["big.npy"]


def test_rank(big):
    code, out, _ = call("rank", big, "--by", "aari,anmi,discotec")
    assert code == 0
    assert [line.split()[1] for line in out.splitlines()[1:]] == [
        f"partition_{j}" for j in AverageAgreement().fit(np.load(big)).order_
    ]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["-o", "x.txt"], "must be a .npy or .csv file, or a folder"),
        (["-o", "x.npy", "--truth-column", "a"], "--truth-column is for tables that fit into memory"),
        (["-o", "x.npy", "--no-header"], "--header is for tables that fit into memory"),
        (["-o", "x.npy", "--memory", "lots"], "--memory must be a size. Got 'lots'. Write 500MB or 4GB"),
        (["-o", "nowhere/x.npy"], "The folder of the output must exist"),
        (["-o", "x.npy", "--method", "eac-single"], None),
    ],
)
def test_refused_on_the_command_line(big, tmp_path, monkeypatch, args, message):
    monkeypatch.chdir(tmp_path)
    code, _, error = call("combine", big, "-k", 3, *args)
    assert (code, message in error) == (2, True) if message else code == 0
    assert "Traceback" not in error
