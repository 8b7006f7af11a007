"""A first run: what a second process compiles, and scikit-learn without `scipy.stats`."""

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from ensemblage.cli import _compiling
from ensemblage.cli._process import process
from ensemblage.kernels import _ahead, _jit, _points

WINE = Path(__file__).parents[1] / "examples" / "wine.csv"
RECORDED = """
import sys
from numba.core import event
from ensemblage.__main__ import main
class Outermost(event.Listener):
    depth = 0
    def on_start(self, event):
        kernel = event.data["dispatcher"].py_func
        if not self.depth:
            print(kernel.__module__.rpartition(".")[2], kernel.__name__, tuple(event.data["args"]), file=recorded)
        self.depth += 1
    def on_end(self, event):
        self.depth -= 1
event.register("numba:compile", Outermost())
with open(sys.argv.pop(1), "w") as recorded:
    main()
"""


def run_python(code, *arguments, **variables):
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


# ---- The list ----


def compiled_by(folder, *arguments):
    """The lines of the list that a run with an empty cache makes."""
    cache = folder / "cache"
    variables = {"NUMBA_CACHE_DIR": str(cache), "OMP_NUM_THREADS": "1"}  # on one core no second process compiles
    run_python(RECORDED, folder / "kernels", "run", *arguments, "-o", folder / "out", **variables)
    return (folder / "kernels").read_text(encoding="ascii").splitlines()


def test_the_list_has_what_first_runs_compile(tmp_path):
    """Else it is written anew. What only many objects need stands first: it is compiled last."""
    centres, classes = np.random.default_rng(0).normal(size=(6, 10)) * 4, np.arange(12_000) % 6
    table = np.random.default_rng(1).normal(size=(12_000, 10)) + centres[classes]
    np.savetxt(tmp_path / "many.csv", table, fmt="%.4f", delimiter=",", header=",".join("abcdefghij"), comments="")
    of_few, of_many = {}, {}
    runs = (of_few, WINE, "-k", 3), (of_few, WINE), (of_many, tmp_path / "many.csv")
    for i, (found, *arguments) in enumerate(runs):
        folder = tmp_path / str(i)
        folder.mkdir()
        found.update(dict.fromkeys(compiled_by(folder, *arguments)))
    before = _ahead.LISTED.read_text(encoding="ascii").splitlines()
    if set(before) != {*of_many, *of_few}:
        lines = [*(line for line in of_many if line not in of_few), *of_few]
        _ahead.LISTED.write_text("\n".join([*lines, ""]), encoding="ascii")
        pytest.fail("The list was not what is compiled. It is now.")


def test_the_list_can_be_compiled(monkeypatch):
    """The types of a line are those that numba prints."""
    compiled = []
    kernel = type("Kernel", (), {"compile": lambda self, kinds: compiled.append(kinds)})
    monkeypatch.setattr(_ahead, "import_module", lambda name: kernel_module(name, kernel))
    _ahead.compile_listed()
    lines = _ahead.LISTED.read_text(encoding="ascii").splitlines()
    assert [str(kinds) for kinds in compiled] == [line.split(" ", 2)[2] for line in reversed(lines)]


def kernel_module(name, kernel):
    """A module of kernels, all of them replaced."""
    module = __import__(name, fromlist=["_"])
    return type("Module", (), {kernel_name: kernel() for kernel_name in vars(module)})


# ---- The second process ----


def test_the_second_process_compiles_until_it_is_stopped(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    second = _ahead.SecondProcess()
    second.start()
    started = second._process
    second.start()
    assert second._process is started
    while not list(tmp_path.rglob("*.nbc")):
        assert started.poll() is None
        time.sleep(0.05)
    second.stop()
    assert started.poll() is not None
    second.stop()


class Recorded:
    def __init__(self):
        self.said = []

    def start(self):
        self.said.append("start")

    def stop(self):
        self.said.append("stop")


@pytest.mark.parametrize(
    ("is_own", "n_jobs", "compiled", "said"),
    [
        (True, 2, False, ["start", "stop"]),
        (True, 2, True, ["stop"]),
        (True, 1, False, ["stop"]),
        (False, 2, False, ["stop"]),
    ],
)
def test_it_starts_where_it_helps(is_own, n_jobs, compiled, said, monkeypatch):
    second = Recorded()
    monkeypatch.setattr(_compiling, "_second", second)
    monkeypatch.setattr(_compiling, "has_compiled", lambda kernel: compiled)
    monkeypatch.setattr(process, "is_own", is_own)
    with _compiling.compiling_beside(n_jobs):
        pass
    assert second.said == said


def test_what_has_been_compiled(tmp_path, monkeypatch):
    code = "from ensemblage.kernels import _jit, _points as p; print(_jit.has_compiled(p.iterate))"
    assert run_python(code, NUMBA_CACHE_DIR=str(tmp_path)) == "False\n"
    monkeypatch.setattr(_points.iterate, "_cache", None)
    assert _jit.has_compiled(_points.iterate)  # it need not be compiled for another process


def test_a_first_run_ends_with_its_second_process(tmp_path):
    """Its files are those of a run that needs none."""
    command = [sys.executable, "-m", "ensemblage", "run", str(WINE), "-k", "3", "--stability", "0", "-o"]
    for cores, folder in (("1", "alone"), ("2", "helped")):
        variables = {"NUMBA_CACHE_DIR": str(tmp_path / f"cache-{cores}"), "OMP_NUM_THREADS": cores}
        done = subprocess.run(
            [*command, folder],
            cwd=tmp_path,
            env={**os.environ, **variables},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stderr.count("compiling once") == 1
    labels = [(tmp_path / folder / "labels.csv").read_bytes() for folder in ("alone", "helped")]
    assert labels[0] == labels[1]


# ---- scikit-learn without scipy.stats ----

USED = """
import sys
from ensemblage.cli._scikit_learn import STATS, TAKEN, import_scikit_learn
import_scikit_learn()
assert "sklearn.metrics" in sys.modules
assert STATS not in sys.modules, "scikit-learn has imported it"
import numpy as np
"""


@pytest.mark.parametrize(
    "code",
    [
        "import scipy.stats; assert scipy.stats.rankdata([3, 1, 2]).tolist() == [3, 1, 2]",
        "from scipy import stats; assert stats.norm.cdf(0) == .5",
        "import scipy.stats.mstats as m; assert m is sys.modules['scipy.stats'].mstats",
        "from scipy.stats.qmc import Sobol; assert Sobol(2)",
        "from sklearn.metrics import _ranking; assert _ranking.rankdata([3, 1, 2]).tolist() == [3, 1, 2]",
        "from sklearn.covariance import _robust_covariance as r; assert r.chi2(2).ppf(0) == r.chi2.ppf(0, 2) == 0",
        "from sklearn.preprocessing import PowerTransformer as P; P('box-cox').fit(np.array([[1.], [2], [4]]))",
        "from sklearn.utils.fixes import _mode; assert _mode(np.array([[1, 2, 2]]), axis=1)[0] == 2",
        "assert not hasattr(sys.modules['sklearn.metrics._ranking'].rankdata, '__wrapped__')",
        "import pickle; from sklearn.covariance import MinCovDet; pickle.loads(pickle.dumps(MinCovDet()))",
    ],
)
def test_what_is_postponed_is_imported_when_used(code):
    run_python(USED + code)


@pytest.mark.parametrize("first", ["sklearn", "scipy.stats"])
def test_what_has_been_imported_stays(first):
    run_python(
        f"import sys, {first}; before = set(sys.modules)\n"
        "from ensemblage.cli._scikit_learn import import_scikit_learn\n"
        "import_scikit_learn(); assert not [m for m in set(sys.modules) - before if m.startswith(('sklearn', 'scipy'))]"
    )


def test_another_scikit_learn_is_imported_as_usual():
    """One that takes something else from `scipy.stats` fails with what stands for it."""
    run_python(
        "import sys; from ensemblage.cli import _scikit_learn as s; s.TAKEN = ()\n"
        "s.import_scikit_learn(); assert s.STATS not in sys.modules\n"
        "from sklearn.metrics import _ranking; from scipy.stats import rankdata; assert _ranking.rankdata is rankdata\n"
        "import sklearn.cluster, sklearn.manifold, sklearn.mixture, sklearn.model_selection, sklearn.preprocessing"
    )


def test_a_run_needs_no_scipy_stats(tmp_path):
    """With the versions of this environment; a fifth of the time of a small run depends on it."""
    code = (
        "import sys\nfrom ensemblage.__main__ import main\n"
        "try:\n main()\nfinally:\n print('scipy.stats' in sys.modules)"
    )
    said = run_python(code, "run", WINE, "-k", 3, "--stability", 2, "-o", tmp_path / "out")
    assert said.splitlines()[-1] == "False"
