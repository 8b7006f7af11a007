"""What the public interface gives is what it gave on this machine when `golden_wide.json.gz` was written."""

import golden_wide
import pytest


@pytest.fixture(scope="module")
def known():
    if not golden_wide.PATH.exists():
        pytest.skip("python tests/golden_wide.py writes what is compared, before a change")
    known = golden_wide.known()
    if known["versions"] != golden_wide.versions():
        pytest.skip("the golden file was written with other versions of the libraries")
    return known["results"]


@pytest.mark.parametrize("part", golden_wide.PARTS)
def test_nothing_has_changed(known, part):
    expected = {key: value for key, value in known.items() if key.split("/")[0] == part}
    assert golden_wide.differences(golden_wide.results(part), expected) == []
