"""A copy of the checkout in which a module may be wrong, and the tests that are nearest to it."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mutations import ROOT, path_of

FASTER = ["-p", "no:cacheprovider", "-p", "no:xdist", "-x", "-q", "--no-header", "--tb=line", "--hypothesis-seed=0"]

NEAREST: dict[str, list[str]] = {
    "labels/": ["golden", "rows", "ensemble", "stored", "ensemble_files", "threads"],
    "labels/counted": ["counts"],
    "labels/dask": ["dask"],
    "labels/disk": ["stored", "threads"],
    "labels/files": ["ensemble_files", "stored", "anndata"],
    "labels/links": ["links"],
    "labels/out_of_core": ["stored", "dask", "guards"],
    "labels/soft": ["soft"],
    "base/threads": ["threads", "generation", "interrupts", "memory"],
    "io/": ["tables", "tables_corpus", "tables_frames", "tables_workbooks"],
    "io/_scaling": ["preprocessor", "tables_mixed", "tables", "tables_frames"],
    "tables/": ["tables", "tables_corpus", "tables_frames", "tables_workbooks"],
    "tables/column": ["preprocessor", "tables_mixed", "tables", "tables_corpus", "tables_frames"],
    "io/_encoding": ["preprocessor", "tables_mixed", "tables", "tables_corpus"],
    "tables/formats": ["ensemble_files", "tables"],
    "tables/h5ad": ["anndata"],
    "io/_features": ["preprocessor", "tables_mixed", "tables", "tables_frames"],
    "io/_preprocessor": ["preprocessor", "tables_mixed", "assign"],
    "counting/": ["golden", "contingency", "lanes", "voting"],
    "counting/_bitmaps": ["golden", "bitmaps"],
    "counting/_contingency": ["golden", "contingency", "graph", "voting", "soft"],
    "counting/_points": ["golden", "transfer_cut", "sampled"],
    "counting/_pairs": ["golden", "contingency", "threshold", "metrics", "internal_indices", "ranking"],
    "consensus/": ["golden", "weights", "parameters_count"],
    "consensus/_base": ["golden", "weights", "predict", "sample_weight"],
    "choices/_choose_resolution": ["resolution"],
    "consensus/communities/_communities": ["community_consensus"],
    "consensus/hierarchies/_unit_linkage": ["links", "evidence"],
    "consensus/hierarchies/_linkage": ["names", "evidence"],
    "consensus/hierarchies/_eac": ["golden", "evidence", "lwgp"],
    "consensus/_incremental": ["incremental"],
    "consensus/_method_comparison": ["method_comparison"],
    "consensus/_model": ["saved", "assign"],
    "consensus/posterior/_modes": ["modes"],
    "consensus/_precomputed": ["precomputed"],
    "consensus/_saved": ["saved"],
    "consensus/voting/_colour_refinement": ["golden", "voting"],
    "pipeline/_consensus_clustering": ["seeds", "generation", "parameters_count"],
    "pipeline/_decisions": ["plan", "default"],
    "pipeline/_default_plan": ["plan", "default"],
    "pipeline/_run": ["plan", "default", "preprocessor", "one_pipeline", "many_objects"],
    "pipeline/_describe": ["one_pipeline", "cli", "cli_learned"],
    "choices/_plan": ["plan"],
    "choices/_choose_k": ["choose_k", "few", "parameters_count"],
    "choices/_choice_records": ["choose_k", "resolution", "parameters_count"],
    "choices/_monti_choice": ["monti", "parameters_count"],
    "consensus/_registry": ["parameters"],
    "consensus/diagnostics": ["diagnostics", "report_methods"],
    "ranking/": ["golden", "ranking"],
    "ranking/_agreement": ["golden", "ranking"],
    "ranking/_compare": ["compare", "wrong_arguments"],
    "ranking/_base": ["golden", "ranking", "constraints", "discotec"],
    "ranking/_discotec": ["golden", "discotec", "few", "stored", "contingency"],
    "base/text": ["parameters", "wrong_arguments", "compare", "ranking"],
    "ranking/_internal": ["ranking", "internal_indices", "compare"],
    "ranking/_select": ["select_partitions", "selection_rules"],
    "metrics/": ["golden", "metrics"],
    "metrics/_agreement": ["golden", "ranking", "metrics", "selection_rules"],
    "metrics/_internal": ["internal_indices"],
    "metrics/_align": ["align"],
    "metrics/_confidence": ["golden", "lce", "predict", "soft", "confidence"],
    "metrics/_wat": ["golden", "threshold", "negmm"],
    "metrics/_monti": ["golden", "monti"],
    "metrics/_cluster_weights": ["lwgp"],
    "metrics/_partition_distance": ["medians"],
    "stability/": ["stability", "prediction_strength"],
    "stability/_gap": ["stability_references"],
    "stability/_structure": ["stability_references", "choose_k"],
    "stability/_reference": ["stability_references"],
    "stability/_splits": ["splits"],
    "generation/": ["generation", "seeds", "parameters"],
    "generation/_communities": ["communities"],
    "generation/_graphs": ["communities"],
    "generation/_leiden": ["communities"],
    "generation/_nearest": ["communities", "nearest"],
    "generation/_kmeans": ["sampled", "seeds"],
    "generation/_diverse": ["diverse"],
    "generation/_greedy": ["greedy", "mixed", "parameters_count"],
    "generation/_genie": ["genie", "candidates"],
    "generation/_mixed": ["generation", "mixed"],
    "generation/_uspec": ["uspec"],
    "generation/_pools": ["generation", "compare"],
    "generation/_write": ["generation_disk"],
    "generation/_random_k": ["generation", "generation_disk", "progress"],
    "choices/": ["plan", "default"],
    "pipeline/": ["plan", "default"],
    "choices/_candidate_features": ["candidates", "chooser"],
    "choices/_chooser": ["chooser", "candidates", "worlds"],
    "choices/_draws_summary": ["draws"],
    "pipeline/_blocks": ["feature_blocks", "stored_tables"],
    "choices/_partition_features": ["candidates"],
    "pipeline/_to_anndata": ["anndata"],
    "base/": ["parameters", "wrong_arguments", "ensemble"],
    "base/features": ["wrong_features", "generation"],
    "cli/": ["cli"],
    "cli/_run": ["cli", "thinning"],
    "consensus/posterior/_dune": ["posterior"],
    "consensus/posterior/_salso": ["salso", "posterior"],
    "consensus/posterior/_wasabi": ["posterior"],
    "generation/_candidates": ["candidates", "chooser"],
    "generation/_dense_rows": ["many_objects", "nearest"],
    "generation/_view": ["candidates"],
    "io/_anndata": ["anndata"],
    "io/_draws": ["draws", "draws_blocks"],
    "io/_cells": ["stored_tables", "feature_blocks", "preprocessor"],
    "io/_feature": ["feature_sources", "feature_blocks"],
    "io/_stored": ["stored_tables", "feature_blocks"],
    "metrics/_chain_agreement": ["draws"],
    "metrics/_posterior": ["posterior", "draws"],
    "stability/_dip": ["cells", "splits", "dip"],
    "stability/_records": ["stability", "prediction_strength", "splits", "merging"],
}
"""By the beginning of a module's path the files of tests that are nearest; the longest beginning decides.

The golden file comes first: it is what most mutants die of.
"""
BY_METHOD = {
    "_ada_cvote _aggregation _bvote _js_alink": ["voting", "lifetime", "medians", "soft"],
    "_bisecting": ["bisecting"],
    "_cspa _hgpa": ["graph"],
    "_partition_graph": ["ncut", "graph"],
    "_mcla": ["graph", "ecpcs"],
    "_hbgf": ["graph", "lwgp", "transfer_cut", "soft"],
    "_kcc _label_kmeans _km": ["kmeans", "predict", "lanes"],
    "_sec": ["sec"],
    "_eac _linkage _unit_linkage _lifetime": ["evidence", "lifetime", "lwgp", "names", "ecpcs"],
    "_label_similarity": ["evidence", "ecpcs", "lce"],
    "_lce": ["lce"],
    "_pta _ptgp": ["pta"],
    "_gkcc": ["greedy"],
    "_majority": ["majority"],
    "_lca _k_modes": ["lca"],
    "_medians _gv3": ["medians", "voting", "soft"],
    "_negmm": ["negmm"],
}
SOURCE = ROOT / "src/ensemblage"
for _names, _tests in BY_METHOD.items():
    for _name in _names.split():
        (_path,) = (SOURCE / "consensus").rglob(f"{_name}.py")
        NEAREST[_path.relative_to(SOURCE).with_suffix("").as_posix()] = [
            "golden",
            *_tests,
            "weights",
            "parameters_count",
        ]


def nearest_tests(module: str) -> list[str]:
    """Paths of the tests that are nearest to a module such as ``labels/disk.py``."""
    names = NEAREST[max((start for start in NEAREST if module.startswith(start)), key=len)]
    return [path for name in [*names, *GUARDS] if (ROOT / (path := file_of_tests(name))).exists()]


def file_of_tests(name: str) -> str:
    """Path of a file of tests, of the library or of the laboratory."""
    found = [*ROOT.glob(f"lab/tests/test_{name}.py"), *ROOT.glob(f"tests/**/test_{name}.py")]
    return found[0].relative_to(ROOT).as_posix() if found else f"tests/test_{name}.py"


GUARDS = ["guards"]
"""What the mutants that lived have shown to be missing, whatever the module."""


def state_of_library() -> str:
    """Names the sources."""
    paths = sorted((ROOT / "src").rglob("*.py"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()[:12]


class Workshop:
    """A copy of the checkout, always in the same place, so that the kernels that no mutant touches stay compiled."""

    def __init__(self, use: str) -> None:
        name = hashlib.sha256(str(ROOT).encode()).hexdigest()[:8]
        self.path = Path(tempfile.gettempdir()) / f"ensemblage-{use}-{name}"
        self.copy, self.warm, self.fresh = self.path / "copy", self.path / "numba", self.path / "numba-fresh"
        self.copy.mkdir(parents=True, exist_ok=True)
        self._lock = open(self.path / "lock", "w", encoding="utf-8")  # noqa: SIM115
        fcntl.flock(self._lock, fcntl.LOCK_EX)  # one session at a time
        listed = subprocess.run(
            ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True
        )
        wanted = {name for name in listed.stdout.splitlines() if (ROOT / name).is_file()}
        for old in [p for p in self.copy.rglob("*") if p.is_file()]:
            if old.relative_to(self.copy).as_posix() not in wanted:
                old.unlink()
        for name in wanted:
            target = self.copy / name
            if not target.exists() or target.read_bytes() != (ROOT / name).read_bytes():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, target)
        # What the unchanged code gives on this machine.
        self.golden = self.path / f"golden-{state_of_library()}.npz"
        if not self.golden.exists():
            command = [sys.executable, self.copy / "tests" / "golden.py"]
            subprocess.run(command, cwd=self.copy, env=self.environment(), check=True)

    def environment(self, cache: Path | None = None) -> dict[str, str]:
        sources = self.copy / "src", self.copy / "lab" / "src"
        return os.environ | {
            "PYTHONPATH": os.pathsep.join([*map(str, sources), os.environ.get("PYTHONPATH", "")]),
            "NUMBA_CACHE_DIR": str(cache or self.warm),
            "ENSEMBLAGE_GOLDEN": str(self.golden),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONHASHSEED": "0",
        }

    def run(self, tests: list[str], limit: float, cache: Path | None = None) -> tuple[str, float, str]:
        """ "passed", "failed" or "too long", the seconds, and the last lines of the tests."""
        env = self.environment(cache)
        start = time.monotonic()
        command = [sys.executable, "-m", "pytest", *FASTER, *tests]
        with tempfile.TemporaryFile("w+", encoding="utf-8") as output:
            process = subprocess.Popen(
                command, cwd=self.copy, env=env, stdout=output, stderr=output, start_new_session=True
            )
            try:
                code = process.wait(limit)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, 9)
                process.wait()
                return "too long", time.monotonic() - start, ""
            output.seek(0)
            text = output.read()
        outcome = "passed" if code == 0 else "failed"
        if code not in (0, 1, 2) and not (code < 0 or code > 128):  # 2: not even imported; below 0: it crashed
            outcome = "no tests" if code == 5 else outcome
        return outcome, time.monotonic() - start, "\n".join(text.splitlines()[-4:])

    def run_mutant(self, module: str, source: str, tests: list[str], limit: float) -> tuple[str, float, str]:
        """Run with the source in place of the module."""
        cache = None
        if "@jit" in source:  # a kernel of another module that calls this one would not be compiled again
            cache = self.fresh
            shutil.rmtree(cache, ignore_errors=True)
        with replaced(self.copy / path_of(module), source):
            return self.run(tests, limit, cache)


@contextmanager
def replaced(path: Path, source: str) -> Iterator[None]:
    """Another source in a module, until the end."""
    before, stat = path.read_bytes(), path.stat()
    try:
        path.write_text(source, encoding="utf-8")
        yield
    finally:
        path.write_bytes(before)
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
