"""The papers behind methods, rankers, generators, and functions of draws from a posterior."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from ensemblage.base.references import Reference, references
from ensemblage.base.validation import check_choice
from ensemblage.choices._chooser import LearnedSelection
from ensemblage.consensus._method import METHODS, names_of
from ensemblage.ranking import RANKERS
from ensemblage.report._decided import chosen_summary, names_of_weights

_DISTANCE, _INDEX = ("hornik2005",), ("desgraupes2013",)
OF_RANKERS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        **{name: ("ohl2025",) for name in RANKERS if name.startswith("discotec")},
        "aari": ("ohl2025",),
        "anmi": ("ohl2025", "strehl2002"),
        **{name: _DISTANCE for name in RANKERS if name.startswith("distance-")},
        "distance-gv1": ("gordon2001",),
        "distance-vi": ("meila2007",),
    }
)
"""The others are internal indices."""
OF_CLASSES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "CommunityConsensus": ("poulin2019", "tabatabaee2025", "lancichinetti2012"),
        "ConsensusModes": ("peixoto2021",),
        "DiversePartitions": ("damle2019", "gagolewski2016"),
        "Dune": ("roux2024",),
        "Genie": ("gagolewski2016",),
        "GeniePartitions": ("gagolewski2016",),
        "LearnedSelection": ("friedman2001",),
        "ScaledPartitions": ("damle2019", "fraley2007", "gagolewski2016", "ward1963"),
        "GreedyPartitions": ("li2018",),
        "GreedyKMeansConsensus": ("li2018",),
        "LeidenPartitions": ("traag2019", "blondel2008", "raghavan2007"),
        "MixedPartitions": ("sinorina2022",),
        "ProjectionPartitions": ("fern2003", "topchy2003"),
        "RandomKPartitions": ("fred2005", "ayad2010"),
        "ResampledPartitions": ("monti2003",),
        "SphericalKMeans": ("dhillon2001",),
        "SubspacePartitions": ("wu2015",),
        "USpec": ("huang2020",),
        "USpecPartitions": ("huang2020",),
        "SelectPartitions": ("ohl2025",),
        "WasabiModes": ("balocchi2025",),
    }
)
OF_FUNCTIONS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "chain_agreement": ("vehtari2021",),
        "chips": ("barrientos2024",),
        "credible_ball": ("wade2018",),
        "element_consistency": ("gates2019", "kim2025"),
        "element_similarity": ("gates2019",),
        "expected_loss": ("dahl2022", "wade2018"),
        "split_rhat": ("vehtari2021",),
        "summarize_draws": ("dahl2022", "wade2018", "vehtari2021"),
    }
)
"""Of draws from a posterior, and of element-centric similarity."""

OF_FAMILIES: Mapping[str, str] = MappingProxyType(
    {
        "ward": "ward1963",
        "prior": "fraley2007",
        "factor": "fraley2007",
        "spectral10": "damle2019",
        "spectral5": "damle2019",
        "genie3": "gagolewski2016",
    }
)
"""Of the algorithms of `ScaledPartitions`."""


@dataclass(frozen=True)
class Citation:
    """The papers behind something; `cite` makes it."""

    name: str
    references: tuple[Reference, ...]

    @property
    def text(self) -> str:
        """One paper per line."""
        return "\n".join(reference.text for reference in self.references)

    @property
    def bibtex(self) -> str:
        """An entry of BibTeX for each."""
        return "\n".join(reference.bibtex for reference in self.references)

    def __str__(self) -> str:
        return f"{self.text}\n\n{self.bibtex}"

    __repr__ = __str__


def cite(of: Any) -> Citation:
    """Use it to write references: the papers behind a method, a ranker, a generator or a fitted model.

    Parameters
    ----------
    of : str or estimator
        A name of ``METHODS`` or ``ranking.RANKERS``, of a generator's class, of `WasabiModes` or `Dune`, or of a
        function of draws or elements, as "credible_ball"; or an estimator of ensemblage, fitted or not. Of
        `ConsensusClustering` the generator and the consensus are cited: fitted, those that it chose; of learned
        weights, or of its ``chosen_``, the trees and the algorithms that weigh 1 % or more.

    Returns
    -------
    Citation
        Its ``text`` and ``bibtex``; printed, both.

    Raises
    ------
    ValueError
        If there is nothing of that name, or no paper behind it.

    Examples
    --------
    >>> import ensemblage
    >>> print(ensemblage.cite("eac-average"))
    A. L. N. Fred and A. K. Jain (2005). Combining multiple clusterings using evidence accumulation. IEEE
    Transactions on Pattern Analysis and Machine Intelligence 27(6). https://doi.org/10.1109/TPAMI.2005.113
    <BLANKLINE>
    @article{fred2005,
      author = {Fred, A. L. N. and Jain, A. K.},
      title = {{Combining multiple clusterings using evidence accumulation}},
      journal = {IEEE Transactions on Pattern Analysis and Machine Intelligence},
      volume = {27},
      number = {6},
      year = {2005},
      doi = {10.1109/TPAMI.2005.113},
    }
    """
    keys = _keys_of_name(of) if isinstance(of, str) else tuple(_keys_of(of))
    if not keys:
        raise ValueError(
            f"The argument of cite must have a paper behind it. Got {type(of).__name__}. Give a method, a ranker, a "
            f"generator, or a fitted model of these."
        )
    name = of if isinstance(of, str) else type(of).__name__
    return Citation(name, tuple(references()[key] if isinstance(key, str) else key for key in dict.fromkeys(keys)))


def names() -> list[str]:
    """All that can be cited by name."""
    return [*METHODS, *METHODS.aliases, *RANKERS, *OF_CLASSES, *OF_FUNCTIONS]


def _keys_of_name(name: str) -> tuple[str | Reference, ...]:
    check_choice(name, "The name to cite", names(), "METHODS")
    if name in METHODS:
        return METHODS[name].references
    if name in RANKERS:
        return OF_RANKERS.get(name, _INDEX)
    return OF_CLASSES[name] if name in OF_CLASSES else OF_FUNCTIONS[name]


def _keys_of(model: Any) -> Iterable[str | Reference]:
    """Of an estimator, and of what it is made of."""
    kind = type(model).__name__
    if isinstance(model, LearnedSelection):
        families = names_of_weights(chosen_summary(model) or {}, "family")
        yield from (OF_FAMILIES[name] for name in families if name in OF_FAMILIES)
    if kind in OF_CLASSES:
        yield from OF_CLASSES[kind]
    elif getattr(model, "chosen_", None) is not None:
        yield from _keys_of(model.chosen_)
        yield from _keys_of(model.consensus_)
    elif kind == "ConsensusClustering":
        for part in ("generator", "consensus"):
            chosen = getattr(model, f"{part}_", getattr(model, part))
            if isinstance(chosen, str):
                yield from _keys_of_name(chosen)
            elif chosen is not None:
                yield from _keys_of(chosen)
    elif any(method.estimator is type(model) for method in METHODS.values()):
        found = names_of(model) or [name for name, method in METHODS.items() if method.estimator is type(model)]
        # Of methods that are cases of others, those with most parameters set.
        most = max(len(METHODS[name].parameters) for name in found) if names_of(model) else 0
        for name in (name for name in found if not names_of(model) or len(METHODS[name].parameters) == most):
            yield from METHODS[name].references
            for alias in METHODS[name].aliases.values():
                yield from alias.references
    else:
        made = {name: make() for name, make in RANKERS.items()}
        same = [name for name, ranker in made.items() if repr(ranker) == repr(model)]
        for name in same or [name for name, ranker in made.items() if type(ranker) is type(model)][:1]:
            yield from _keys_of_name(name)
