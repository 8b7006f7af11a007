"""`max_bytes` is the peak of a fit beyond the labels: measured in a process of its own."""

import re
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from scipy.sparse import linalg as sparse_linalg
from scipy.sparse.linalg import ArpackNoConvergence, eigsh
from strategies import planted_labels

from ensemblage import Ensemble, make_consensus
from ensemblage.consensus import CSPA, MCLA, PTA, PTGP, CommunityConsensus, ConsensusModes, EvidenceAccumulation, NegMM
from ensemblage.consensus.graphs import _negmm
from ensemblage.metrics import coassociation, mm_index

PEAK = """
import resource, sys
import numpy as np
from pathlib import Path
from ensemblage import Ensemble
from ensemblage.consensus import CSPA, MCLA, NegMM, PTA, PTGP
from strategies import planted_labels

sizes, parameters = {sizes!r}, {parameters!r}
small = planted_labels(**{{**sizes, "n": 450}})[0]
ensemble = Ensemble(planted_labels(**sizes)[0])
ensemble.distinct
model = {method}(**parameters)
model.fit(small)  # compiles

def peak():
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

def now():
    return 4096 * int(Path("/proc/self/statm").read_text().split()[1])

# What was freed before must not hide what the fit takes.
hidden = np.ones(max(1, (peak() - now()) // 8 + 1))
before = now()
model.set_params(max_bytes={limit}).fit(ensemble)
print(peak() - before)
"""

CASES = {
    "NegMM": ("NegMM", {"n_jobs": 1}, {"n": 2000, "p": 16, "k": 3, "noise": 0.6}),
    "NegMM on two threads, missing labels": ("NegMM", {"n_jobs": 2}, {"n": 1600, "p": 9, "noise": 0.6, "missing": 0.3}),
    "NegMM, unequal weights": (
        "NegMM",
        {"n_jobs": 2, "association_threshold": 0.2, "weights": [1, 2, 3, 4, 5, 6, 7, 8, 9]},
        {"n": 1600, "p": 9, "noise": 0.6},
    ),
    "CSPA": ("CSPA", {"n_jobs": 2, "n_neighbors": None}, {"n": 2000, "p": 16, "k": 3, "noise": 0.6}),
    "CSPA, 100 neighbours": ("CSPA", {"n_jobs": 2}, {"n": 6000, "p": 16, "k": 5, "noise": 0.6, "missing": 0.2}),
    "CSPA, normalised cut": ("CSPA", {"n_jobs": 2, "n_neighbors": None, "partitioner": "spectral"},
                             {"n": 2000, "p": 16, "k": 3, "noise": 0.6}),
    "PTA": ("PTA", {"n_jobs": 1, "n_steps": 3}, {"n": 2000, "p": 16, "k": 3, "noise": 0.6}),
    "PTA, ties and missing labels": ("PTA", {"n_jobs": 2, "n_steps": 2, "n_neighbors": 90, "linkage": "single"},
                                     {"n": 1600, "p": 7, "noise": 0.6, "missing": 0.3}),
    "PTGP": ("PTGP", {"n_jobs": 2, "n_steps": 3}, {"n": 3000, "p": 16, "k": 30, "noise": 0.6}),
    "PTGP, many steps and neighbours": ("PTGP", {"n_jobs": 1, "n_steps": 12, "n_neighbors": 150},
                                        {"n": 1200, "p": 5, "k": 40, "noise": 0.7}),
    "MCLA": ("MCLA", {"n_jobs": 1}, {"n": 6000, "p": 16, "k": 200, "noise": 0.7}),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize("case", CASES)
def test_the_limit_that_just_allows_a_fit_holds(case):
    method, given, sizes = CASES[case]
    if method in ("CSPA", "MCLA"):
        pytest.importorskip("pymetis")
    model = {"NegMM": NegMM, "CSPA": CSPA, "MCLA": MCLA, "PTA": PTA, "PTGP": PTGP}[method](3)
    parameters = {"n_clusters": 3, **given, **({"random_state": 0} if hasattr(model, "random_state") else {})}
    labels = planted_labels(**sizes)[0]
    expected = model.set_params(**parameters).fit(labels).labels_
    limit, _ = bound_and_refusal(model, labels, {})
    np.testing.assert_array_equal(model.set_params(max_bytes=limit).fit(labels).labels_, expected)
    with pytest.raises(ValueError, match=f"{method} must fit into max_bytes = .* Got .* for .*"):
        model.set_params(max_bytes=limit - 1).fit(labels)
    script = PEAK.format(sizes=sizes, parameters=parameters, method=method, limit=limit)
    run = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:0] = {sys.path!r}\n{script}"],
        check=True,
        capture_output=True,
        text=True,
    )
    assert limit / 2 <= int(run.stdout) <= limit


def ring(n):
    """The edges of a graph of n nodes in a circle."""
    return {"edges": [[i, (i + 1) % n] for i in range(n)]}


FEW = {"n": 2500, "p": 10, "k": 4, "noise": 0.6}
MANY = {"n": 800, "p": 12, "k": 40, "noise": 0.6}
LINK = {"must_link": [[0, 1]]}
COUNTED = {
    "complete": (EvidenceAccumulation(3, linkage="complete"), FEW | {"n": 6000}, {}, "Use linkage='single'"),
    "complete, unequal weights": (
        EvidenceAccumulation(3, linkage="complete", weights=range(1, 11)), FEW, {}, "Use linkage='single'"
    ),
    "average with a threshold": (
        EvidenceAccumulation(3, association_threshold=0.3), FEW, {}, "or 'average' without a threshold"
    ),
    "average with a rule": (
        EvidenceAccumulation(3, association_threshold="kmeans", random_state=0), FEW, {}, "or 'average' without a thr"
    ),
    "average with links": (
        EvidenceAccumulation(3), FEW | {"n": 700, "missing": 0.2}, LINK, "Use KMeansConsensus or a voting method"
    ),
    "ECPCS": (EvidenceAccumulation(3, similarity="ecpcs"), MANY, {}, "Use similarity='coassociation'"),
    "CTS": (EvidenceAccumulation(3, similarity="cts"), MANY | {"k": 60}, {}, "Use similarity='coassociation'"),
    "LCE": (make_consensus("lce-wct", 3), MANY, {}, "Use HBGF or KMeansConsensus"),
    "PTA": (PTA(3), FEW | {"n": 1200}, {}, "or use KMeansConsensus"),
    "PTGP": (PTGP(3), FEW | {"n": 1500, "k": 20}, {}, "or use KMeansConsensus"),
    "NegMM": (
        NegMM(3, association_threshold=0.2, random_state=0), FEW | {"n": 1000}, {}, "or use CSPA(partitioner='spectral"
    ),
    "MCLA": (MCLA(3, partitioner="spectral", random_state=0), MANY, {}, "or use HBGF or KMeansConsensus"),
    "CSPA": (
        CSPA(3, partitioner="spectral", n_neighbors=None, random_state=0), FEW | {"n": 1000}, {},
        "or use HBGF or KMeansConsensus",
    ),
    "lf of all pairs": (
        CommunityConsensus("lf", pairs="all", random_state=0, n_init=2, max_rounds=2), MANY | {"k": 10}, ring(800),
        "or give pairs='edges'",
    ),
    "modes": (ConsensusModes(), MANY | {"k": 120}, {}, "or use KMeansConsensus"),
}  # fmt: skip
"""Model, sizes of the labels, what else it is fitted to, and what it says to use instead."""


def bounds_of(model, ensemble, given):
    """The bytes that a model asks for, step after step until it fits, and the last sentence with which it refused."""
    bounds, said = [1], ""
    while True:
        try:
            model.set_params(max_bytes=bounds[-1]).fit(ensemble, **given)
        except ValueError as error:
            said = str(error)
            bounds.append(int(re.search(r"Got ([\d,]+) bytes", said)[1].replace(",", "")))
        else:
            return bounds[1:], said


def bound_and_refusal(model, ensemble, given):
    """The least ``max_bytes`` with which a model fits, and with which sentence it refused less."""
    bounds, said = bounds_of(model, ensemble, given)
    return (bounds or [1])[-1], said


def traced_peak(call):
    """The most bytes that Python and NumPy hold for a call beyond those before it."""
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        call()
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("case", COUNTED)
def test_what_is_counted_is_what_is_taken(case):
    """The bound is the peak within a factor of two; less is refused before it is taken, and says what to use."""
    model, sizes, given, advice = COUNTED[case]
    model.set_params(n_jobs=1)
    ensemble = Ensemble(planted_labels(**sizes)[0])
    bound, said = bound_and_refusal(model, ensemble, given)  # which compiles, too
    assert advice in said

    def refused():
        with pytest.raises(ValueError, match=f"must fit into max_bytes = 1 bytes. Got .*{re.escape(advice)}"):
            model.set_params(max_bytes=1).fit(ensemble, **given)

    assert traced_peak(refused) < bound / 10
    assert bound / 2 <= traced_peak(lambda: model.set_params(max_bytes=bound).fit(ensemble, **given)) <= bound


def endless(*arguments, **options):
    """All of its iterations, and no end."""
    eigsh(*arguments, **options)
    raise ArpackNoConvergence("no convergence", np.empty(0), np.empty((0, 0)))


ENDLESS = """
from contextlib import suppress
from scipy.sparse import linalg
from test_memory import endless
linalg.eigsh = endless
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize("method", ["NegMM", "CSPA", "MCLA"])
def test_all_eigenvectors_are_taken_only_if_they_fit(method, monkeypatch):
    """Where iteration does not end, a fit took up to 360 MB more than its limit."""
    sizes = {"n": 1500, "p": 16, "k": 60 if method == "MCLA" else 3, "noise": 0.6}
    given = {"NegMM": {"association_threshold": 0.2}, "CSPA": {"n_neighbors": None, "partitioner": "spectral"}}
    parameters = {"n_clusters": 3, "random_state": 0, "n_jobs": 1, **given.get(method, {"partitioner": "spectral"})}
    model = {"NegMM": NegMM, "CSPA": CSPA, "MCLA": MCLA}[method](**parameters)
    ensemble = Ensemble(planted_labels(**sizes)[0])
    least, _ = bound_and_refusal(model, ensemble, {})
    monkeypatch.setattr(sparse_linalg, "eigsh", endless)
    most, _ = bound_and_refusal(model, ensemble, {})
    assert least < most <= least + spectral_bytes(16 * sizes["k"] if method == "MCLA" else sizes["n"], 3)
    expected = model.set_params(max_bytes="2 GiB").fit(ensemble).labels_
    np.testing.assert_array_equal(model.set_params(max_bytes=most).fit(ensemble).labels_, expected)
    with pytest.raises(ValueError, match=f"{method} must fit into max_bytes = .* Got {most:,} bytes"):
        model.set_params(max_bytes=most - 1).fit(ensemble)
    for limit in (most, least):
        script = PEAK.format(sizes=sizes, parameters=parameters, method=method, limit=limit)
        script = script.replace(
            "model.set_params", "from contextlib import suppress\nwith suppress(ValueError): model.set_params"
        )
        run = subprocess.run(
            [sys.executable, "-c", f"import sys; sys.path[:0] = {sys.path!r}\n{ENDLESS}\n{script}"],
            check=True,
            capture_output=True,
            text=True,
        )
        assert int(run.stdout) <= limit


COMBINE = """
import re, sys
from pathlib import Path
from ensemblage.cli import main

main(sys.argv[1:], standalone_mode=False)
# Not ru_maxrss, which begins with what the process that started this one has.
print(1024 * int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]), file=sys.stderr)
"""


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize("method", ["km", "acv", "k-modes"])
def test_labels_on_disk_are_combined_in_the_memory_that_is_named(method, tmp_path):
    """Each label row is different; the first run compiles, which takes memory of its own."""
    n = 3_000_000
    random = np.random.default_rng(0)
    for name, rows in (("small", 1_000), ("large", n)):
        labels = np.lib.format.open_memmap(tmp_path / f"{name}.npy", "w+", np.int8, (rows, 20))
        for start in range(0, rows, 10**5):
            truth = random.integers(20, size=(min(10**5, rows - start), 1))
            noise = random.integers(20, size=(len(truth), 20))
            labels[start : start + len(truth)] = np.where(random.random(noise.shape) < 0.3, noise, truth)
        labels.flush()
    for name in ("small", "large"):
        words = ["combine", str(tmp_path / f"{name}.npy"), "--method", method, "-k", "20", "--memory", "600MB"]
        words += ["-o", str(tmp_path / f"{name}-{method}.npy")]
        run = subprocess.run([sys.executable, "-c", COMBINE, *words], check=True, capture_output=True, text=True)
    assert int(run.stderr.split()[-1]) <= 1.06 * 600_000_000


def test_what_cannot_fit_is_refused_before_it_is_begun():
    """No pass over the pairs, no table: the size is known from the labels."""
    rows = np.arange(80_000)
    pairs = Ensemble(np.column_stack([rows % 5, rows % 16_001]))
    names = Ensemble(np.column_stack([rows, rows * 7_919 % 80_000, rows % 3]))
    refused = [
        (CSPA(2, n_neighbors=None), pairs, "CSPA must .* = 2.1 GB. Got 101.* label rows. Give n_neighbors=100, raise"),
        (NegMM(2, max_bytes="2GB"), pairs, "NegMM must fit into max_bytes = 2.0 GB. Got 6.* 80,000 label rows. Raise"),
        (MCLA(2), names, "MCLA must .* Got 51.* GB for the pairs of 160,003 clusters. Raise max_bytes"),
    ]
    for model, labels, message in refused:
        assert len(labels.distinct.counts) == 80_000  # found before

        def fit(model=model, labels=labels, message=message):
            with pytest.raises(ValueError, match=message):
                model.fit(labels)

        fit()
        assert traced_peak(fit) < 8 * 80_000 * 20


def spectral_bytes(m, k):
    """Of all eigenvectors, or a normalised cut of at most 400 rows: five square matrices, eight columns a cluster."""
    return 8 * m * (5 * m + 8 * k)


def test_negmm_counts_the_similarities_it_is_given():
    """They, a number for each object and threshold, and a cut: the graph of all pairs, the diagonal, and room."""
    S, n = np.full((400, 400), 0.5), 400
    needed = 8 * n * n + 8 * n * (51 + 16) + 12 * (n * n + 2 * n) + spectral_bytes(n, 3)
    for limit in ("9.5 MB", needed - 1):
        with pytest.raises(ValueError, match=f"Got {needed:,} bytes for the co-associations of 400 label rows"):
            NegMM(3, max_bytes=limit).fit_similarity(S)


def test_ptgp_counts_walks_or_the_cut():
    """Similarities of 299 rows to 100 clusters, and the larger of 32 walks of many steps, or the cut for 9 clusters."""
    labels, of_rows, table = planted_labels(n=300, p=5, k=20, noise=0.6)[0], 86_790, 8 * 299 * 100
    cut, walks = table + 40 * 100**2 + 20 * 299 * 9, 8 * 32 * 299 * (30 + 5)
    for n_steps, larger in ((3, cut), (30, walks)):
        needed = 2**22 + of_rows + table + larger
        model = PTGP(9, n_neighbors=4, n_steps=n_steps, n_jobs=1, max_bytes=needed - 1)
        with pytest.raises(ValueError, match=f"Got {needed:,} bytes for 299 label rows and 100 clusters"):
            model.fit(labels)


def test_mcla_counts_the_edges_and_their_cut():
    labels = planted_labels(n=300, p=5, k=20, noise=0.6)[0]
    n_edges = sum(len(np.unique(labels[:, [i, j]], axis=0)) for j in range(5) for i in range(j))
    needed = 2**22 + 299 * (2 * 5 + 32) + 200 * 100 + 72 * n_edges + spectral_bytes(100, 9)
    model = MCLA(9, partitioner="spectral", random_state=0, max_bytes=needed)
    assert model.fit(labels).n_clusters_ == 9
    with pytest.raises(ValueError, match=f"Got {needed:,} bytes for the pairs of 100 clusters"):
        model.set_params(max_bytes=needed - 1).fit(labels)


def test_metrics_too():
    labels = planted_labels(n=400, p=5)[0]
    for given in (8 * 400**2, "1.2 MB"):
        with pytest.raises(
            ValueError, match=r"coassociation must fit into max_bytes = 1,2.0,000 bytes. Got .* Use dens"
        ):
            coassociation(labels, max_bytes=given)
    assert coassociation(labels, max_bytes="6 MB").shape == (400, 400)
    with pytest.raises(ValueError, match=r"max_bytes of mm_index must be a number of bytes"):
        mm_index(labels, labels[:, 0], max_bytes="x")
    with pytest.raises(ValueError, match=r"mm_index must fit into max_bytes"):
        mm_index(labels, labels[:, 0], max_bytes=160_000)


def test_threads_share_the_limit(monkeypatch):
    """Where two candidates at once would pass it, all eigenvectors included, they come one after the other."""
    labels = planted_labels(n=700, p=9, k=3, noise=0.6)[0]
    together = []

    def watched(function, tasks, n_jobs, progress=None):
        together.append(n_jobs)
        return [function(task) for task in tasks]

    monkeypatch.setattr(_negmm, "parallel_map", watched)
    model = NegMM(3, max_bytes="1GB", n_jobs=3, random_state=0).fit(labels)
    shared, one = bounds_of(model, labels, {})[0]
    two = shared + 2 * (one - shared + spectral_bytes(len(Ensemble(labels).distinct.counts), 3))
    together.clear()
    model.set_params(max_bytes="1GB").fit(labels)
    for limit in (two, two - 1, one):
        model.set_params(max_bytes=limit).fit(labels)
    assert together == [3, 2, 1, 1]
