"""Every method, ranker and metric gives what it gave on this machine when `golden.npz` was written."""

from importlib.metadata import version
from importlib.util import find_spec

import golden
import numpy as np
import pytest


@pytest.fixture(scope="module")
def known():
    if not golden.PATH.exists():
        pytest.skip("python tests/golden.py writes what is compared, before a change")
    with np.load(golden.PATH, allow_pickle=False) as archive:
        return dict(archive)


def from_another_version(known):
    """Methods whose cut is made by another version of a library than the golden one, or by none."""
    versions = dict(text.split() for text in known["versions"].tolist())
    here = {name: version(name) for name in versions if find_spec(name)}
    return {method for method, package in golden.NEEDS.items() if here.get(package) != versions.get(package)}


@pytest.mark.parametrize("start", range(0, golden.N_ENSEMBLES, 8))
def test_nothing_has_changed(known, start):
    """Labels and counts to the bit; other numbers to the last digits, for another processor may round differently."""
    chosen = range(start, start + 8)
    left_out = from_another_version(known)
    found = golden.all_results(chosen)
    expected = {key: value for key, value in known.items() if key != "versions" and int(key.split("/")[0]) in chosen}
    expected = {key: value for key, value in expected.items() if key.split("/")[1] not in left_out}
    assert {key for key in found if key.split("/")[1] not in left_out} == set(expected)
    for key, value in expected.items():
        if value.dtype.kind == "f":
            np.testing.assert_allclose(found[key], value, rtol=1e-9, atol=1e-12, err_msg=key)
        else:
            np.testing.assert_array_equal(found[key], value, err_msg=key)


@pytest.mark.parametrize("i", [0, 1, 6])
def test_the_same_from_disk(known, i, tmp_path):
    for key, value in golden.results_on_disk(i, tmp_path).items():
        np.testing.assert_array_equal(value, known[key], err_msg=key)
