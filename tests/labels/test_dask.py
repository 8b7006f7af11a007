"""Labels on a Dask cluster: the same bits as in memory, and a worker that is lost costs its blocks only."""

import os

import numpy as np
import pytest
from limits import limit
from sklearn.base import clone
from strategies import planted_labels, random_labels, with_equal_rows

from ensemblage import Ensemble, make_consensus, parallel_backend
from ensemblage.consensus import HBGF, CumulativeVoting, EvidenceAccumulation, KMeansConsensus
from ensemblage.labels.dask import LOST, LostWorkersError, RemoteRows, gather, scatter
from ensemblage.metrics import cluster_density, density, ensemble_ari, ensemble_nmi, kmeans_loss
from ensemblage.ranking import DISCOTEC, AverageAgreement

distributed = pytest.importorskip("distributed")
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(scope="module")
def client():
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        yield client


@pytest.fixture
def on_workers(monkeypatch):
    """No distinct rows are few enough to come here; float sums have several blocks."""
    limit(monkeypatch, "bytes of distinct rows that workers send", 0)


def parts_of(labels, n_parts=5):
    return np.array_split(labels, n_parts)


def spread(labels, client, **options):
    return Ensemble.from_dask(parts_of(labels), client=client, **options)


def same_ensemble(found, expected):
    np.testing.assert_array_equal(found.codes[:], expected.codes)
    for a, b in zip(found.categories, expected.categories, strict=True):
        np.testing.assert_array_equal(a, b)
    for name in ("codes", "counts", "inverse"):
        a, b = getattr(found.distinct, name)[:], getattr(expected.distinct, name)
        np.testing.assert_array_equal(a, b)
        assert a.dtype == b.dtype


def test_coding_and_distinct_rows(client, on_workers, missing):
    labels = with_equal_rows(random_labels(300, 4, 5, missing), 500)
    E, M = spread(labels, client), Ensemble(labels)
    same_ensemble(E, M)
    assert isinstance(E.distinct.codes, RemoteRows)
    assert (E.n_missing, E.shape) == (M.n_missing, M.shape)
    same_ensemble(E[[3, 400, 3]], M[[3, 400, 3]])
    same_ensemble(E.select([2, 0]), M.select([2, 0]))
    np.testing.assert_array_equal(E.codes[:, 1], M.codes[:, 1])


@pytest.mark.parametrize("call", [np.asarray, lambda E: E.one_hot()], ids=["array", "one_hot"])
def test_refusals_say_where_the_rows_are(call, client):
    E = spread(random_labels(100, 3), client)
    with pytest.raises(ValueError, match=r"Got 100 rows of 3 labels on a Dask cluster\."):
        call(E)


@pytest.mark.parametrize("metric", [density, cluster_density, kmeans_loss, ensemble_nmi, ensemble_ari])
def test_metrics(client, on_workers, missing, metric):
    labels, truth = planted_labels(200, 5, 4, 0.3, missing)
    np.testing.assert_array_equal(metric(spread(labels, client), truth), metric(labels, truth))


def test_average_agreement(client, on_workers, missing):
    labels = random_labels(150, 5, 6, missing)
    found = AverageAgreement("nmi").fit(spread(labels, client))
    np.testing.assert_array_equal(found.agreement_, AverageAgreement("nmi").fit(labels).agreement_)


def test_discotec(client, on_workers, missing):
    labels = random_labels(150, 5, 4, missing)
    options = {"measure": "tv", "max_pairs": 0, "n_sampled_pairs": 5_000, "random_state": 0}
    found, expected = DISCOTEC(**options).fit(spread(labels, client)), DISCOTEC(**options).fit(labels)
    np.testing.assert_array_equal(found.scores_, expected.scores_)


METHODS = {
    "km": {"random_state": 0, "n_init": 2},
    "ecc": {"random_state": 2, "n_init": 1},
    "sec": {"random_state": 0, "n_init": 1},
    "h-km": {"random_state": 0, "n_init": 1},
    "acv": {},
    "bv": {"random_state": 0, "n_init": 2},
    "mcla": {"partitioner": "spectral", "random_state": 0},
    "majority": {},
}


@pytest.mark.parametrize("name", METHODS)
def test_consensus(client, on_workers, missing, name):
    labels = planted_labels(200, 5, 4, 0.4, missing, seed=5)[0]
    expected = make_consensus(name, 4, **METHODS[name]).fit(labels)
    E = spread(labels, client)
    found = make_consensus(name, 4, **METHODS[name]).fit(E)
    np.testing.assert_array_equal(found.labels_, expected.labels_)
    np.testing.assert_array_equal(found.confidence_, expected.confidence_)
    if hasattr(found, "objective_"):
        assert found.objective_ == expected.objective_
    if hasattr(found, "membership_"):
        np.testing.assert_array_equal(found.membership_, expected.membership_)
    if hasattr(found, "predict"):
        np.testing.assert_array_equal(found.predict(E), expected.predict(labels))


@pytest.mark.parametrize("name", METHODS)
def test_weights_of_the_objects(client, on_workers, name):
    labels = planted_labels(200, 5, 4, 0.4, 0.3, seed=5)[0]
    w = np.random.default_rng(0).integers(0, 4, 200)
    labels[w == 0, 0] = 9  # a label that only objects of weight 0 have
    expected = make_consensus(name, 4, **METHODS[name]).fit(labels, sample_weight=w)
    found = make_consensus(name, 4, **METHODS[name]).fit(spread(labels, client), sample_weight=w)
    np.testing.assert_array_equal(found.labels_, expected.labels_)
    np.testing.assert_array_equal(found.confidence_, expected.confidence_)


@pytest.mark.parametrize("name", ["km", "acv", "majority"])
def test_a_partition_of_weight_0_is_left_out(client, on_workers, name):
    labels = planted_labels(200, 5, 4, 0.4, 0.3, seed=5)[0]
    labels[7, :4], labels[7, 4] = -1, 0
    parameters = METHODS[name] | {"weights": [1, 2, 1, 1, 0]}
    expected = make_consensus(name, 3, **parameters).fit(labels)
    E = spread(labels, client)
    found = make_consensus(name, 3, **parameters).fit(E)
    assert expected.labels_[7] == -1
    np.testing.assert_array_equal(found.labels_, expected.labels_)
    np.testing.assert_array_equal(found.confidence_, expected.confidence_)
    if name != "majority":
        np.testing.assert_array_equal(found.predict(E), expected.labels_)


def test_several_blocks_of_float_sums(client, on_workers):
    labels = random_labels(70_000, 6, 12, 0.1)
    expected = KMeansConsensus(5, n_init=1, random_state=0).fit(labels)
    E = spread(labels, client)
    assert len(E.distinct.codes.blocks.futures) > 1
    found = KMeansConsensus(5, n_init=1, random_state=0).fit(E)
    np.testing.assert_array_equal(found.labels_, expected.labels_)
    assert found.objective_ == expected.objective_


def test_empty_clusters_take_rows(client, on_workers):
    labels = planted_labels(120, 4, 4, 0.1)[0]
    init = np.zeros(120, dtype=int)
    init[:3] = [1, 2, 3]
    labels[:4] = labels[0]
    found = KMeansConsensus(4, init=init).fit(spread(labels, client))
    np.testing.assert_array_equal(found.labels_, KMeansConsensus(4, init=init).fit(labels).labels_)


def test_a_number_per_row_stays_on_the_workers(client):
    rows = spread(random_labels(50, 3, 4), client).codes
    state, expected = rows.state(np.int64, 7), np.full(50, 7)
    state[33] = expected[33] = 1
    assert len(state) == 50
    np.testing.assert_array_equal(np.asarray(state), expected)


def test_work_that_is_lost_is_tried_three_times(client, monkeypatch):
    labels, truth = planted_labels(60, 4, 3, 0.3)
    ensemble, tries, real = spread(labels, client), [], RemoteRows._submit

    def lost(self, *work):
        tries.append(work)
        if len(tries) < n_lost:
            raise LostWorkersError
        return real(self, *work)

    monkeypatch.setattr(RemoteRows, "_submit", lost)
    n_lost = 3
    assert density(ensemble, truth) == density(labels, truth)
    tries.clear()
    n_lost = 4
    with pytest.raises(LostWorkersError):
        density(ensemble, truth)
    assert len(tries) == 3


def test_delayed_parts_and_dask_arrays(client, on_workers):
    dask = pytest.importorskip("dask")
    labels = random_labels(60, 3, 4, 0.1)
    delayed = [dask.delayed(np.array)(part) for part in parts_of(labels)]
    same_ensemble(Ensemble.from_dask(delayed, client=client), Ensemble(labels))
    futures = [client.submit(np.array, part) for part in parts_of(labels)]
    same_ensemble(Ensemble.from_dask(futures, client=client), Ensemble(labels))
    da = pytest.importorskip("dask.array")
    same_ensemble(Ensemble.from_dask(da.from_array(labels, chunks=(25, 3)), client=client), Ensemble(labels))
    with pytest.raises(ValueError, match="must be cut by rows only"):
        Ensemble.from_dask(da.from_array(labels, chunks=(25, 2)), client=client)


def test_few_distinct_rows_come_here(client):
    labels = random_labels(60, 4)
    found = EvidenceAccumulation(3).fit(spread(labels, client))
    np.testing.assert_array_equal(found.labels_, EvidenceAccumulation(3).fit(labels).labels_)


def test_what_does_not_work_there_says_why(client, on_workers):
    with pytest.raises(ValueError, match="compares every row with every other"):
        EvidenceAccumulation(2).fit(spread(random_labels(60, 4), client))


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ([np.zeros((3, 2), int), np.zeros((3, 4), int)], "Got 2 and 4 columns"),
        ([np.zeros(3, int)], "a part that is no matrix"),
        ([], "at least one"),
    ],
)
def test_bad_parts(client, parts, message):
    with pytest.raises(ValueError, match=message):
        Ensemble.from_dask(parts, client=client)


def test_no_client():
    with pytest.raises(ValueError, match="client of from_dask must be a Client"):
        Ensemble.from_dask([random_labels()], client=None)


def submitted(monkeypatch):
    """Names of the functions that go to the workers."""
    names, real = [], RemoteRows._submit

    def noted(self, work, *arrays):
        names.append(work.args[0].__qualname__)
        return real(self, work, *arrays)

    monkeypatch.setattr(RemoteRows, "_submit", noted)
    return names


def test_parallel_backend(client, monkeypatch):
    E, names = Ensemble(random_labels(40_000, 6, 12, 0.1)), submitted(monkeypatch)
    for model in (KMeansConsensus(3, n_init=1, max_iter=4, random_state=0), CumulativeVoting(4)):
        expected = clone(model).fit(E)
        assert not names
        with parallel_backend(client=client):
            found = clone(model).fit(E)
        assert names
        names.clear()
        for attribute in ("labels_", "confidence_"):
            np.testing.assert_array_equal(getattr(found, attribute), getattr(expected, attribute))
        np.testing.assert_array_equal(found.predict(E), expected.predict(E))
        assert not names


def test_parallel_backend_sends_rows_once(client, monkeypatch):
    E, sent = Ensemble(random_labels(40_000, 8, 9)), []
    scatter = client.scatter
    monkeypatch.setattr(client, "scatter", lambda data, **options: (sent.append(data), scatter(data, **options))[1])
    with parallel_backend(client=client):
        model = KMeansConsensus(3, n_init=1, max_iter=2, random_state=0).fit(E)
        assert sum(part.ndim == 2 for part in sent) == 2
        model.fit(E)
    assert sum(part.ndim == 2 for part in sent) == 2


def test_what_parallel_backend_leaves_here(client, monkeypatch):
    names = submitted(monkeypatch)
    few, many = Ensemble(random_labels(3_000, 4, 9)), Ensemble(random_labels(20_000, 6, 9, 0.1))
    with parallel_backend(client=client):
        KMeansConsensus(3, random_state=0).fit(few)
        HBGF(2, partitioner="spectral", random_state=0).fit(few)
        KMeansConsensus(3, refine="density", n_init=1, max_iter=2, random_state=0).fit(many)
        density(many, np.arange(20_000) % 3)
    assert not names
    with pytest.raises(ValueError, match="client of parallel_backend must be a Client"), parallel_backend(client=None):
        pass


@pytest.mark.filterwarnings("ignore")
def test_lost_workers_are_told_in_one_sentence():
    labels = random_labels(30_000, 6, 12, 0.1, seed=0)
    rule = r"^Workers of the Dask cluster must keep running while they hold label rows\. "
    rule += r"Got \w+: .*\. Fit again, with [^.]*\.$"
    options = {"n_workers": 1, "threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        submit = RemoteRows._submit

        def dying(self, *arguments):
            client.submit(os._exit, 1, retries=0, pure=False)
            return submit(self, *arguments)

        with pytest.MonkeyPatch.context() as patch, parallel_backend(client=client):
            patch.setattr(RemoteRows, "_submit", dying)
            with pytest.raises(RuntimeError, match=rule):
                KMeansConsensus(5, n_init=1, random_state=0, max_iter=8).fit(labels)


@pytest.mark.parametrize("name", LOST)
def test_what_dask_says_of_lost_workers(name):
    error = type(name, (Exception,), {})("details of Dask,\non several lines")

    class Client:
        def gather(self, futures):
            raise error

        def scatter(self, array, hash):
            raise error

        def submit(self, *task, **options):
            raise AssertionError("nothing is there to compute with")

        nthreads = submit

    with pytest.raises(LostWorkersError, match=f"Got {name}: one was lost"):
        gather(Client(), [])
    with pytest.raises(LostWorkersError, match=f"Got {name}: one was lost"):
        scatter(Client(), np.zeros(3), [slice(0, 3)])
    with pytest.raises(LostWorkersError, match=f"Got {name}: one was lost"):
        Ensemble.from_dask([np.zeros((3, 1))], client=Client())
    error = ZeroDivisionError("of a task")
    with pytest.raises(ZeroDivisionError, match="of a task"):
        gather(Client(), [])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("way", ["from_dask", "parallel_backend"])
def test_a_worker_that_is_lost_while_it_gets_data(way, monkeypatch):
    """The scheduler has no such worker any more when it notes where the data are."""
    labels = random_labels(30_000, 6, 12, 0.1, seed=0)
    rule = r"^Workers of the Dask cluster must keep running while they hold label rows\. "
    rule += r"Got KeyError: [^.]*\. Fit again, [^.]*\.$"
    options = {"n_workers": 1, "threads_per_worker": 1, "processes": False, "dashboard_address": ":0"}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        sent = distributed.scheduler.scatter_to_workers

        async def lost(workers, *arguments, **more):
            found = await sent(workers, *arguments, **more)
            for address in workers:
                await cluster.scheduler.remove_worker(address, stimulus_id="test", close=False)
            return found

        monkeypatch.setattr(distributed.scheduler, "scatter_to_workers", lost)
        if way == "from_dask":
            with pytest.raises(LostWorkersError, match=rule):
                Ensemble.from_dask([labels], client=client)
        else:
            with parallel_backend(client=client), pytest.raises(LostWorkersError, match=rule):
                KMeansConsensus(5, n_init=1, random_state=0, max_iter=8).fit(labels)


@pytest.mark.parametrize("error", [KeyError("tcp://10.0.0.7:4000"), TimeoutError("No valid workers found"), OSError()])
def test_errors_of_sending_alone(error):
    class Client:
        def gather(self, futures):
            raise error

        def scatter(self, array, hash):
            raise error

    with pytest.raises(LostWorkersError, match=f"Got {type(error).__name__}: one was lost"):
        scatter(Client(), np.zeros(3), [slice(0, 3)])
    with pytest.raises(type(error)):  # which may be one of a task
        gather(Client(), [])


@pytest.mark.parametrize("client", [5, [], object(), distributed.Client])
def test_what_is_no_client(client):
    with pytest.raises(ValueError, match=r"client of from_dask must be a Client of dask\.distributed"):
        Ensemble.from_dask([[[0]]], client=client)


def part_number(i):
    return random_labels(8_000, 6, 12, 0.1, seed=i)


@pytest.mark.filterwarnings("ignore")
def test_a_lost_worker_costs_its_blocks(on_workers):
    labels = np.concatenate([part_number(i) for i in range(5)])
    expected = KMeansConsensus(5, n_init=1, random_state=0, max_iter=8).fit(labels)
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        E = Ensemble.from_dask([client.submit(part_number, i) for i in range(5)], client=client)
        workers_before = client.run(os.getpid)
        assert len(E.distinct.counts) > 30_000
        lose = iter([False, False, True])
        submit = RemoteRows._submit

        def sometimes(self, *arguments):
            if next(lose, False):
                workers = list(client.scheduler_info()["workers"])
                client.submit(os._exit, 1, workers=workers[:1], retries=0, pure=False)
            return submit(self, *arguments)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(RemoteRows, "_submit", sometimes)
            found = KMeansConsensus(5, n_init=1, random_state=0, max_iter=8).fit(E)
        assert set(client.run(os.getpid).values()) != set(workers_before.values())
    np.testing.assert_array_equal(found.labels_, expected.labels_)
    np.testing.assert_array_equal(found.confidence_, expected.confidence_)
