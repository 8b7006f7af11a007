"""What a type checker says of a user's mistakes; what it says of right calls is in test_shown.py."""

import subprocess
import sys

import pytest

WRONG = """
from ensemblage import ConsensusClustering, KMeansConsensus, choose_k

ConsensusClustering(3, quality="better")
KMeansConsensus(n_clusters="three")
choose_k([[0.0]], n_references="many")
"""


@pytest.mark.slow
def test_wrong_values_of_parameters_are_refused(tmp_path):
    """Not unknown names: scikit-learn's base classes have no types, and with such a base mypy allows any keyword."""
    pytest.importorskip("mypy")
    (tmp_path / "script.py").write_text(WRONG)
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), "script.py"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    lines = {int(line.split(":")[1]) for line in done.stdout.splitlines() if ": error:" in line}
    assert lines == {4, 5, 6}, done.stdout
