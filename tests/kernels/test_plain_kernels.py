"""Kernels without vector instructions give the same bits: the tests of lanes, bitmaps and stored results."""

import os
import subprocess
import sys

import pytest
from places import ROOT, TESTS

CHOSEN = ["kernels/test_lanes.py", "kernels/test_bitmaps.py", "test_golden.py"]


@pytest.fixture(scope="module")
def golden_file(tmp_path_factory):
    """What the kernels with vector instructions give."""
    path = tmp_path_factory.mktemp("golden") / "golden.npz"
    environment = {**os.environ, "ENSEMBLAGE_GOLDEN": str(path)}
    subprocess.run([sys.executable, TESTS / "golden.py"], env=environment, check=True)
    return path


@pytest.mark.parametrize("name", CHOSEN)
def test_kernels_without_vector_instructions(name, golden_file, tmp_path_factory):
    cache = tmp_path_factory.getbasetemp() / "plain"
    environment = {**os.environ, "ENSEMBLAGE_PLAIN_KERNELS": "1", "NUMBA_CACHE_DIR": str(cache)}
    environment["ENSEMBLAGE_GOLDEN"] = str(golden_file)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-x",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        str(TESTS / name),
    ]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:]


FIT = """
import logging, sys
import numba.extending
from llvmlite import ir
logging.basicConfig(stream=sys.stderr, format="%(name)s: %(message)s")
{damage}
import numpy as np
from ensemblage.consensus import KMeansConsensus
labels = np.random.default_rng(0).integers(4, size=(400, 5))
model = KMeansConsensus(3, n_init=2, random_state=0).fit(labels)
print(model.labels_.tolist(), model.confidence_.tolist(), model.objective_)
"""
DAMAGE = {
    "none": "",
    "no decorator": "import ensemblage.kernels._jit; del numba.extending.intrinsic",
    "no instruction": "del ir.IRBuilder.shuffle_vector",
    "other arguments": "ir.VectorType.__init__ = lambda self: None",
    "code that LLVM refuses": "ir.VectorType._to_string = lambda self: '<vector>'",
}


def test_plain_loops_take_the_place_of_vectors_that_are_not_compiled(tmp_path):
    found = {}
    for name, damage in DAMAGE.items():
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / name)}
        command = [sys.executable, "-c", FIT.format(damage=damage)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        found[name] = done.stdout
        assert done.stderr.count("Plain loops take the place of vectors") == (name != "none"), done.stderr
    assert set(found.values()) == {found["none"]}
