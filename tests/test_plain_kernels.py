"""Kernels without vector instructions give the same bits: the tests of lanes, bitmaps and stored results.

Of bitmaps and stored results a part; `nox -s plain_kernels` runs the tests of all kernels so.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = {"test_lanes.py": "", "test_bitmaps.py": "0-130 or 0.3-130 or joined", "test_golden.py": "changed and 32"}


@pytest.mark.parametrize("name", TESTS)
def test_kernels_without_vector_instructions(name, tmp_path_factory):
    here = Path(__file__).parent
    cache = tmp_path_factory.getbasetemp() / "plain"
    environment = {**os.environ, "ENSEMBLAGE_PLAIN_KERNELS": "1", "NUMBA_CACHE_DIR": str(cache)}
    quiet = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-k", TESTS[name]]
    command = [sys.executable, "-m", "pytest", *quiet, str(here / name)]
    done = subprocess.run(command, cwd=here.parent, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:]
