"""Parts of docstrings that four functions or more share: a line ``{name}`` in a docstring stands for one.

`PARTS` are those of several packages. `consensus`, `generation` and `metrics` have more in their ``_docs.py``,
`plotting` and `ranking` beside their lists of names.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Mapping
from textwrap import indent
from typing import Any

PLACE = re.compile(r"^( *)\{(\w+)\}$", re.MULTILINE)


def fill_docstrings(public: Iterable[Any], parts: Mapping[str, str] | None = None) -> None:
    """Put ``parts`` into the docstrings of functions and classes, those of their methods and base classes too.

    Each public package does so with all that it exports: `help`, doctest and numpydoc see whole texts.
    """
    texts = PARTS if parts is None else parts
    for documented in public:
        _fill(documented, texts)
        for base in documented.__mro__ if inspect.isclass(documented) else ():
            if base.__module__.startswith("ensemblage."):
                _fill(base, texts)
                for member in vars(base).values():
                    _fill(member, texts)
                    _fill(getattr(member, "__wrapped__", None), texts)  # of a class method or another descriptor


def _fill(documented: Any, parts: Mapping[str, str]) -> None:
    if (inspect.isclass(documented) or inspect.isfunction(documented)) and documented.__doc__:
        documented.__doc__ = PLACE.sub(lambda place: indent(parts[place[2]], place[1]), documented.__doc__)


PARTS = {
    "labels": """\
labels : array-like, data frame or Ensemble of shape (n_objects, n_partitions)
    The ensemble. -1 and NaN mean missing.""",
    "X": """\
X : array-like, data frame or Ensemble of shape (n_objects, n_partitions)
    Labels. -1, NaN and None mean that the partition did not label the object.""",
    "y": """\
y : None
    Ignored.""",
    "self": """\
Returns
-------
self
    The fitted estimator.""",
    "n_jobs": """\
n_jobs : int, optional
    Threads. -1: every core that this process may use; -2: all but one. None: what a ``joblib.parallel_config`` says;
    without one every core, or 1 inside a parallel loop of joblib or scikit-learn. The result does not depend on it.""",
    "max_bytes": """\
max_bytes : int or str, default 2 GiB
    Most memory that the fit takes at its peak beyond the labels, in bytes or as text such as "4GB"; a fit that
    would take more is refused.""",
    "cluster_weights": """\
cluster_weights : {"eci"}, float or list of array-like, optional
    Weight of each cluster: "eci" or a number θ > 0 is that of `metrics.cluster_weights`, with θ = .4 or that number; a
    list has for each partition the numbers, from 0 to 1, of its clusters in the order of their labels. Default: 1.""",
    "members_in": """\
names_in_ : ndarray of str
    Names of the members.
n_features_in_ : int
    Number of partitions.""",
    "random_state": """\
random_state : int, RandomState, Generator or None, default=None
    Seed of the draws.""",
    "ax": """\
ax : matplotlib Axes, optional
    Where to draw; by default a new figure.

Returns
-------
matplotlib Axes
    Where it was drawn.""",
}
