"""The sessions that look for what no test notices still work."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "guards"))

import mutations
import planted


@pytest.mark.skipif("ensemblage-" in str(mutations.ROOT), reason="a bug is planted")
@pytest.mark.parametrize("bug", planted.BUGS, ids=lambda bug: bug.name)
def test_every_known_bug_can_still_be_planted(bug):
    compile(bug.planted(), bug.module, "exec")


def test_a_mutant_differs_from_its_module_in_one_place():
    found = mutations.sample_of("counting", 5)
    assert len({mutant.key for mutant in found}) == 5
    assert found == mutations.sample_of("counting", 30)[:5]
    sources = {mutations.source_of(mutant.module, mutant.number) for mutant in found}
    assert len(sources) == 5
    for source in sources:
        compile(source, "mutant", "exec")
