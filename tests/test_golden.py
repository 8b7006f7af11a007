"""Every method, ranker and metric gives what it gave on this machine when `golden.npz` was written."""

from contextlib import contextmanager

import golden
import numpy as np
import pytest

from ensemblage import METHODS


@pytest.fixture(scope="module")
def known():
    check_file(golden.PATH, "python tests/golden.py")
    known = golden.read()
    for name, here in golden.versions().items():
        there = known.get(f"made/versions/{name}", "none")
        assert there == here, f"the file was written with {there} for {name} {here}"
    with only_methods({key.split("/")[2] for key in known if key.startswith("ensembles/0/")}):
        yield known


@contextmanager
def only_methods(names):
    """Methods that are newer than the file are not there: they have no results in it, and stand in no message."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(METHODS, "_listed", {name: METHODS[name] for name in METHODS if name in names})
        yield


def check_file(path, command):
    """A comparison that is left out is a failure, unless it is said that there is nothing to compare with."""
    if not path.exists() and "file" in golden.MAY_MISS:
        pytest.skip("ENSEMBLAGE_GOLDEN_WITHOUT says that there may be no file")
    assert path.exists(), f"`{command}` writes what is compared, before a change; or set ENSEMBLAGE_GOLDEN_WITHOUT=file"


def check_commit(commit):
    """The file is the reference's, if one is chosen."""
    if golden.REFERENCE:
        assert commit == golden.REFERENCE, f"the file was written from {commit}, not from {golden.REFERENCE}"


@pytest.mark.skipif(golden.IS_GIVEN, reason="who names a file by ENSEMBLAGE_GOLDEN knows where it is from")
def test_the_file_is_that_of_the_reference(known):
    check_commit(known["made/commit"].item())


def compare(known, found, part):
    """Labels, counts and words to the bit; floats to the last digits, for another processor may round differently."""
    commit = known["made/commit"]
    missing = golden.missing_packages()
    expected = {key: value for key, value in known.items() if key.startswith(part) and not golden.is_of(missing, key)}
    found = {key: value for key, value in found.items() if not golden.is_of(missing, key)}
    assert sorted(found.keys() ^ expected.keys())[:9] == [], f"keys that only one has, of {commit}"
    wrong = [key for key in found if not same(found[key], expected[key])]
    shown = {key: (str(expected[key])[:200], str(found[key])[:200]) for key in wrong[:5]}
    assert not wrong, f"{len(wrong)} results differ from those of {commit}: {shown}"


def same(found, expected):
    if found.shape != expected.shape or found.dtype.kind != expected.dtype.kind:
        return False
    if found.dtype.kind in "fc":
        return np.allclose(found, expected, rtol=1e-9, atol=1e-12, equal_nan=True)
    return np.array_equal(found, expected)


@pytest.mark.parametrize("start", range(0, golden.N_ENSEMBLES, 8))
def test_nothing_has_changed(known, start):
    chosen = range(start, start + 8)
    parts = tuple(f"ensembles/{i}/" for i in chosen)
    compare(known, golden.results("ensembles", chosen), parts)


@pytest.mark.parametrize("place", golden.LITTLE_ROOM)
def test_the_same_from_disk(known, place):
    compare(known, golden.results("places", [place]), f"places/{place},")


@pytest.mark.parametrize("part", [part for part in golden.PARTS if part not in ("ensembles", "places")])
def test_nothing_else_has_changed(known, part):
    compare(known, golden.results(part), f"{part}/")
