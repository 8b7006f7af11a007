"""Parts of docstrings that four generators or more share."""

from __future__ import annotations

from ensemblage.base import docs

_FEATURES_IN = """\
n_features_in_ : int
    Number of features seen in ``fit``.
feature_names_in_ : ndarray of shape (n_features_in_,)
    Their names, if X has any."""

PARTS = {
    **docs.PARTS,
    "on_error": """\
on_error : {"warn", "raise"}, default="warn"
    What a base clustering that fails does: it is left out with one warning that names it, or it is raised. An
    ensemble is made to be redundant, so one failure does not cost the others by default. All failing raises.""",
    "progress": """\
progress : callable or None, default=None
    Called as ``progress(done, total)`` after every base clustering, by the thread that called ``fit``. An error that it
    raises ends the work. No result depends on it.""",
    "features_in": _FEATURES_IN,
    "asked_clusters": f"""\
n_clusters_ : ndarray of shape (n_partitions,)
    Number of clusters each was asked for.
{_FEATURES_IN}""",
}
