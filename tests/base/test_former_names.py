"""Names of before 1.0 work for one release, with a warning that says the new one."""

import numpy as np
import pytest

import ensemblage
from ensemblage import plotting, profiles
from ensemblage.consensus import EvidenceAccumulation, diagnostics

LABELS = [[0, 0], [0, 0], [1, 1], [1, 0]]


def test_diagnostics_were_called_evidence():
    from ensemblage.consensus import evidence

    model = EvidenceAccumulation().fit(LABELS)
    with pytest.warns(FutureWarning, match=r"evidence of EvidenceAccumulation .* Use diagnostics\."):
        former = model.evidence(LABELS)
    assert [type(record) for record in former] == [type(record) for record in model.diagnostics(LABELS)]
    np.testing.assert_array_equal(former[0].merges, model.diagnostics(LABELS)[0].merges)
    with pytest.warns(FutureWarning, match=r"Use ensemblage\.consensus\.diagnostics\.Diagnostics\."):
        assert evidence.Evidence is diagnostics.Diagnostics
    with pytest.warns(FutureWarning, match=r"diagnostics_from_dict\."):
        assert evidence.evidence_from_dict is diagnostics.diagnostics_from_dict
    with pytest.warns(FutureWarning, match=r"evidence\.Trace .*diagnostics\.Trace\."):
        assert evidence.Trace is diagnostics.Trace
    with pytest.warns(FutureWarning, match=r"Use ensemblage\.plotting\.diagnostics\."):
        assert plotting.evidence is plotting.diagnostics
    with pytest.raises(AttributeError, match="no attribute 'evidences'"):
        _ = plotting.evidences


def test_selective_markers_were_called_honest():
    X = np.random.default_rng(0).normal(size=(40, 2))
    labels = np.arange(40) % 2
    with pytest.warns(FutureWarning, match=r"honest of profile .* Use selective\."):
        former = ensemblage.profile(labels, X, honest=True)
    assert repr(former.selective) == repr(ensemblage.profile(labels, X, selective=True).selective)
    with pytest.warns(FutureWarning, match=r"honest of Profile .* Use selective\."):
        assert former.honest is former.selective
    with pytest.warns(FutureWarning, match=r"HonestMarkers is a name of before 1\.0"):
        assert profiles.HonestMarkers is type(former.selective)
