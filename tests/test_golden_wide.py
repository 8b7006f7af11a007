"""What the public interface gives is what it gave on this machine when `golden_wide.json.gz` was written."""

import golden_wide
import pytest
from test_golden import check_commit, check_file, only_methods


@pytest.fixture(scope="module")
def known():
    check_file(golden_wide.PATH, "python tests/golden_wide.py")
    known = golden_wide.known()
    assert known["versions"] == golden_wide.versions(), "the file was written with other versions of the libraries"
    with only_methods({key.split("/")[2] for key in known["results"] if key.startswith("saved/")}):
        yield known


def test_the_file_is_that_of_the_reference(known):
    check_commit(known["commit"])


@pytest.mark.parametrize("part", golden_wide.PARTS)
def test_nothing_has_changed(known, part):
    expected = {key: value for key, value in known["results"].items() if key.split("/")[0] == part}
    differences = golden_wide.differences(golden_wide.results(part), expected)
    assert differences == [], f"other results than of {known['commit']}"
