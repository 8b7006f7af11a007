"""Kernels without vector instructions give the same bits: the tests of lanes, bitmaps and stored results."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = ["test_lanes.py", "test_bitmaps.py", "test_golden.py"]


@pytest.mark.parametrize("name", TESTS)
def test_kernels_without_vector_instructions(name, tmp_path_factory):
    here = Path(__file__).parent
    cache = tmp_path_factory.getbasetemp() / "plain"
    environment = {**os.environ, "ENSEMBLAGE_PLAIN_KERNELS": "1", "NUMBA_CACHE_DIR": str(cache)}
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", str(here / name)]
    done = subprocess.run(command, cwd=here.parent, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:]
