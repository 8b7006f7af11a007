"""Set up before the first import of numba, and the ensembles that many tests of library and laboratory share."""

import gc
import hashlib
import os
import re
import tempfile
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest
from limits import limit
from representatives import beyond_the_core, represented

SLOW = {
    "test_cli.py",
    "test_cli_process.py",
    "test_cli_ranking.py",
    "test_cli_refused.py",
    "test_dask.py",
    "test_generation_disk.py",
    "test_golden.py",
    "test_golden_wide.py",
    "test_interrupts.py",
    "test_memory.py",
    "test_monti.py",
    "test_plain_kernels.py",
    "test_reproduce.py",
    "test_report_methods.py",
    "test_threads.py",
}
"""Tests that start processes or clusters, or fit hundreds of partitions: `-m "not slow"` leaves them out."""

WITHOUT_FIGURES = {
    "test_anndata.py",
    "test_annotate.py",
    "test_assign.py",
    "test_choose_k.py",
    "test_cli_compare.py",
    "test_cli_learned.py",
    "test_default.py",
    "test_gaps.py",
    "test_plan.py",
    "test_sampled.py",
    "test_soft.py",
    "test_stored.py",
    "test_sweep.py",
    "test_tables_mixed.py",
    "test_tell.py",
}
"""Tests that run commands but do not look at the figures of the page, which have tests of their own."""

OWN_RESAMPLES = {"test_plan.py"}
"""Tests that look for how many resamples are planned: elsewhere two show what twenty do."""

FEW_REFERENCES = {"test_anndata.py", "test_chooser.py", "test_default.py"}
"""Tests that look for numbers of clusters to compare who found them: 19 single clouds can show a structure, too."""

FIRST = (
    "test_docstrings.py",
    "test_tables_corpus.py",
    "test_report_page.py",
    "test_columns.py",
    "test_tables.py",
    "test_draws_blocks.py",
    "test_wrong_arguments.py",
    "test_alerts.py",
    "test_preprocessor.py",
    "test_conformance.py",
    "test_feature_blocks.py",
    "test_stored_tables.py",
    "test_parameters_count.py",
    "test_sample_weight.py",
    "test_chooser.py",
    "test_default.py",
    "test_posterior.py",
    "test_many_objects.py",
    "test_evidence.py",
    "test_soft.py",
)
"""Files that take long, so that no process is left with one at the end. While one process compiles the kernels of most
examples, the other one has the files of tables, which compile none.
"""

# A cached kernel does not notice an edit of what it calls: every state of the kernels gets a cache of its own.
# They are in the modules that take part in compiling: by decorators of `_jit`, or numba's own.
# The modules are those that are tested: of the checkout, or of an installed wheel. Nothing is imported yet.
_PACKAGE = Path(find_spec("ensemblage").origin).parent
KERNELS = [
    path
    for path in sorted(_PACKAGE.glob("**/*.py"))
    if path.parent.name == "kernels" or re.search(r"\b(_jit|numba)\b", path.read_text(encoding="utf-8"))
]
_STATE = hashlib.sha256(b"".join(path.read_bytes() for path in KERNELS)).hexdigest()
os.environ.setdefault("NUMBA_CACHE_DIR", str(Path(tempfile.gettempdir()) / f"ensemblage-numba-{_STATE[:16]}"))

from hypothesis import settings  # noqa: E402

settings.register_profile("ensemblage", deadline=None, max_examples=60)  # the first call of a kernel compiles it
settings.register_profile("core", parent=settings.get_profile("ensemblage"), max_examples=12)
settings.load_profile("ensemblage")


def pytest_configure(config):
    """Fewer examples of a property where the slow tests are left out."""
    if is_core(config):
        settings.load_profile("core")
    config.option.loadscopereorder = False  # by FIRST, not by the number of tests


def is_core(config):
    """Whether the slow tests are left out."""
    return config.option.markexpr == "not slow"


def pytest_ignore_collect(collection_path, config):
    """Files whose tests are all slow are not even read for the core."""
    return True if is_core(config) and collection_path.name in SLOW else None


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Tests that are collected stay: nobody has to look among them for what can be freed."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_finish(session):
    """Beside other processes of the core, each has one native thread: more would wait for each other."""
    if is_core(session.config) and "PYTEST_XDIST_WORKER" in os.environ:
        from threadpoolctl import threadpool_limits

        import_module("scipy.linalg")  # loads its BLAS; others load NumPy's
        threadpool_limits(1)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """All tests of a file in one process: else each process compiles the kernels that the file's tests call."""
    from xdist.scheduler import LoadFileScheduling

    return LoadFileScheduling(config, log)


def pytest_collection_modifyitems(items):
    """Mark the tests of the slow files, and the cases that others stand for."""
    items.sort(key=lambda item: FIRST.index(item.path.name) if item.path.name in FIRST else len(FIRST))
    for item in items:
        if item.path.name in SLOW:
            item.add_marker(pytest.mark.slow)
    for item in [*represented(items), *beyond_the_core(items)]:
        item.add_marker(pytest.mark.slow)


@pytest.fixture(params=[0.0, 0.3], ids=["complete", "missing"])
def missing(request):
    """Share of missing entries of a random ensemble."""
    return request.param


@pytest.fixture(scope="module")
def only_kernels():
    """Kernels for few objects too, which NumPy would do without."""
    from ensemblage.kernels import _jit

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_jit, "FEW_OPERATIONS", -1)
        yield


@pytest.fixture
def unclear(monkeypatch):
    """No candidate partition is rated above what single clouds reach."""
    from ensemblage.pipeline import _run

    choose_candidate = _run.choose_candidate

    def choose(*args, **options):
        chosen = choose_candidate(*args, **options)
        vars(chosen)["is_clear"] = False
        return chosen

    monkeypatch.setattr(_run, "choose_candidate", choose)


@pytest.fixture
def small_blocks(monkeypatch):
    """Cut every loop over rows into many blocks: no result may change."""
    limit(monkeypatch, "rows of a block", 7)


def leave_out_figures(patch):
    """For the words of a page: nothing is laid out or drawn, which takes most of the time of a page."""
    patch.setattr("matplotlib.figure.Figure.savefig", lambda self, file, **_: file.write("<svg></svg>"))
    patch.setattr("matplotlib.layout_engine.ConstrainedLayoutEngine.execute", lambda self, figure: None)


@pytest.fixture
def no_figures(monkeypatch):
    """In one test."""
    leave_out_figures(monkeypatch)


@pytest.fixture(autouse=True, scope="module")
def less_than_usual(request):
    """No figures and few references in the files that say so; few resamples of ``run`` in all that do not."""
    with pytest.MonkeyPatch.context() as patch:
        if request.path.name in WITHOUT_FIGURES:
            leave_out_figures(patch)
        if request.path.name in FEW_REFERENCES:
            patch.setattr("ensemblage.choices._choose_k.N_REFERENCES", 19)
        if request.path.name not in OWN_RESAMPLES:
            patch.setattr("ensemblage.pipeline._decisions.N_RESAMPLES", 2)
        yield
