"""What the public interface gives is what it gave when `golden_wide.json.gz` was written."""

import golden_wide
import pytest

SLOW = {"above_20000", "commands", "clustering", "numbers_of_clusters"}


@pytest.fixture(scope="module")
def known():
    known = golden_wide.known()
    if known["versions"] != golden_wide.versions():
        pytest.skip("the golden file was written with other versions of the libraries")
    return known["results"]


@pytest.mark.parametrize("part", [pytest.param(p, marks=[pytest.mark.slow] * (p in SLOW)) for p in golden_wide.PARTS])
def test_nothing_has_changed(known, part):
    expected = {key: value for key, value in known.items() if key.split("/")[0] == part}
    assert golden_wide.differences(golden_wide.results(part), expected) == []
