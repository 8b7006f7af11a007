"""What Windows and macOS ask of a checkout and of processes, as far as Linux can show it."""

import os
import subprocess
import sys
from collections import Counter
from pathlib import PurePosixPath

import pytest
from places import ROOT

RESERVED = {"con", "prn", "aux", "nul", *(f"{name}{i}" for name in ("com", "lpt") for i in range(1, 10))}
"""Names that no file may have on Windows, whatever follows the first dot."""


@pytest.fixture(scope="module")
def tracked():
    """Paths of the files that git knows."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a checkout of git")
    return [name for name in listed.stdout.split("\0") if name]


def test_names_that_every_system_can_have(tracked):
    folded = Counter(name.casefold() for name in tracked)
    assert [name for name, count in folded.items() if count > 1] == []
    parts = {part for name in tracked for part in PurePosixPath(name).parts}
    assert [part for part in parts if part.split(".")[0].casefold() in RESERVED] == []
    assert [part for part in parts if set(part) & set('<>:"\\|?*') or part.endswith((".", " "))] == []
    assert max(map(len, tracked)) <= 150  # Windows allows 260 with the folder of the checkout


def test_lines_end_as_on_unix(tracked):
    """Otherwise git changes them on Windows; those that git is told to leave alone have a test of their own."""
    listed = subprocess.run(["git", "ls-files", "--eol"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    others = [line for line in listed.splitlines() if line.startswith(("i/crlf", "i/mixed")) and "-text" not in line]
    assert others == []


SCRIPT = """
import multiprocessing, sys
if __name__ == "__main__":
    multiprocessing.set_start_method("{method}")
    import numpy as np
    from ensemblage import ConsensusClustering, Ensemble
    from ensemblage.consensus import KMeansConsensus
    X = np.random.default_rng(0).normal(size=(300, 3))
    X[:150] += 5
    labels = ConsensusClustering(2, random_state=0, n_jobs=2).fit_predict(X)
    print(np.bincount(labels).tolist())
    E = Ensemble(np.random.default_rng(0).integers(3, size=(20000, 5)))
    print(KMeansConsensus(3, random_state=0, n_init=2, n_jobs=2).fit(E).n_clusters_)
"""


@pytest.mark.slow
@pytest.mark.parametrize("method", ["spawn", "forkserver", "fork"])
def test_every_way_to_start_processes(method, tmp_path):
    if method != "spawn" and os.name != "posix":
        pytest.skip("Windows has spawn alone")
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(method=method), encoding="utf-8")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[0] == "[150, 150]"


@pytest.mark.slow
def test_an_old_encoding_of_the_terminal(tmp_path):
    """A Windows terminal may write cp1252, and files are UTF-8 whatever it writes."""
    rows = ["größe;art", *(f"{i % 7},{i % 3};{'für' if i % 2 else 'ça'}" for i in range(60))]
    (tmp_path / "tabelle für.csv").write_text("\n".join(rows), encoding="utf-8")
    environment = {**os.environ, "PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0", "LC_ALL": "C"}
    command = [sys.executable, "-X", "warn_default_encoding", "-W", "always::EncodingWarning", "-m", "ensemblage"]
    command += ["run", "tabelle für.csv", "-k", "2", "-o", "out"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, check=False)
    said = done.stderr.decode("cp1252")
    assert done.returncode == 0, said
    assert [line for line in said.splitlines() if "EncodingWarning" in line and "/ensemblage/" in line] == []
    assert "größe" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    with open(tmp_path / "out" / "labels.csv", encoding="utf-8", newline="") as file:
        assert "\r" not in file.read()
