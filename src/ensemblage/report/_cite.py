"""The papers behind methods, rankers and generators."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from ensemblage.base.validation import check_choice
from ensemblage.consensus._method import METHODS, names_of
from ensemblage.ranking import RANKERS


@dataclass(frozen=True)
class Reference:
    """A paper."""

    key: str
    authors: str
    """Family names and initials, as BibTeX wants them."""
    title: str
    year: int | None
    where: str
    """Journal or proceedings; empty of a manuscript."""
    number: str
    """Volume, and issue in brackets."""
    kind: str
    """Of BibTeX: article, inproceedings, or misc of a manuscript."""
    doi: str
    """Without the resolver; empty where none is known."""

    @property
    def text(self) -> str:
        """As in a list of references."""
        people = [_given_name_first(name) for name in self.authors.split(" and ")]
        who = ", ".join(people[:-1]) + " and " * (len(people) > 1) + people[-1]
        place = f" {self.where}{f' {self.number}' * bool(self.number)}." if self.where else ""
        link = f" https://doi.org/{self.doi}" if self.doi else ""
        return f"{who}{f' ({self.year})' if self.year else ''}. {self.title}.{place}{link}"

    @property
    def bibtex(self) -> str:
        """An entry of BibTeX."""
        volume, _, issue = self.number.partition("(")
        fields = {
            "author": self.authors,
            "title": f"{{{self.title}}}",
            ("journal" if self.kind == "article" else "booktitle"): self.where,
            "volume": volume,
            "number": issue.rstrip(")"),
            "year": "" if self.year is None else str(self.year),
            "doi": self.doi,
        }
        escaped = {name: value.replace("&", r"\&") for name, value in fields.items() if value}
        lines = [f"  {name} = {{{value}}}," for name, value in escaped.items()]
        return "\n".join([f"@{self.kind}{{{self.key},", *lines, "}"])


def _given_name_first(name: str) -> str:
    """Given names first."""
    family, _, given = name.partition(", ")
    return f"{given} {family}".strip()


def papers() -> Iterator[Reference]:
    """Those of references.csv."""
    text = files("ensemblage.report").joinpath("references.csv").read_text(encoding="utf-8")
    for row in csv.DictReader(text.splitlines()):
        yield Reference(**{**row, "year": int(row["year"]) if row["year"] else None})  # type: ignore[arg-type]


REFERENCES: Mapping[str, Reference] = MappingProxyType({paper.key: paper for paper in papers()})
_MEDIANS = ("hornik2005", "hornik2008")
_DISTANCE, _INDEX = ("hornik2005",), ("desgraupes2013",)
OF_METHODS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "km": ("candel", "wu2015"),
        "h-km": ("candel", "steinbach2000"),
        "kcc": ("wu2015",),
        "ecc": ("liu2017",),
        "qmi": ("topchy2003",),
        "sec": ("liu2015",),
        **dict.fromkeys(("eac-single", "eac-average", "eac-complete"), ("fred2005",)),
        "negmm": ("zhong2019",),
        **dict.fromkeys(("negmm-wat-kmeans", "negmm-wat-gmm"), ("sinorina2022", "zhong2019")),
        **dict.fromkeys(("cspa", "hgpa", "mcla"), ("strehl2002",)),
        "hbgf": ("fern2004",),
        "lwea": ("huang2018", "fred2005"),
        "lwgp": ("huang2018", "li2012"),
        **dict.fromkeys(("ecpcs-hc", "ecpcs-mc"), ("huang2021",)),
        "lce-wct": ("iamon2010",),
        "lce-wtq": ("iamon2011",),
        "u-senc": ("huang2020",),
        **dict.fromkeys(("pta-average", "pta-complete", "pta-single"), ("huang2016",)),
        "ptgp": ("huang2016", "li2012"),
        "majority": ("dudoit2003",),
        "k-modes": ("huang1998", "luo2006"),
        "lca": ("topchy2004",),
        **dict.fromkeys(("soft-euclidean", "hard-euclidean"), _MEDIANS),
        "hard-manhattan": ("hornik2005",),
        "gv3": ("gordon2001", "hornik2005"),
        "acv": ("ayad2010", "ayad2008"),
        "bv": ("ayad2010", "dimitriadou2002"),
    }
)
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
        "Genie": ("gagolewski2016",),
        "GeniePartitions": ("gagolewski2016",),
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
        "SelectMembers": ("ohl2025",),
    }
)


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
    """The papers to cite for a method, a ranker or a generator.

    Parameters
    ----------
    of : str or estimator
        A name of ``METHODS`` or ``ranking.RANKERS``, or of a generator's class; or an estimator of ensemblage, fitted
        or not. Of `ConsensusClustering` the generator and the consensus are cited: fitted, those that it chose.

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
            f"cite must be given something with a paper behind it. Got {type(of).__name__}. Give a method, a ranker, a "
            "generator or a model of them."
        )
    name = of if isinstance(of, str) else type(of).__name__
    return Citation(name, tuple(REFERENCES[key] for key in dict.fromkeys(keys)))


def names() -> list[str]:
    """All that can be cited by name."""
    return [*METHODS, *RANKERS, *OF_CLASSES]


def _keys_of_name(name: str) -> tuple[str, ...]:
    check_choice(name, "The name to cite", names())
    if name in METHODS:
        return OF_METHODS.get(name, ())  # none of a method that somebody registered
    return OF_RANKERS.get(name, _INDEX) if name in RANKERS else OF_CLASSES[name]


def _keys_of(model: Any) -> Iterable[str]:
    """Of an estimator, and of what it is made of."""
    kind = type(model).__name__
    if kind in OF_CLASSES:
        yield from OF_CLASSES[kind]
    elif kind == "ConsensusClustering":
        for part in ("generator", "consensus"):
            chosen = getattr(model, f"{part}_", getattr(model, part))
            if isinstance(chosen, str):
                yield from _keys_of_name(chosen)
            elif chosen is not None:
                yield from _keys_of(chosen)
    elif any(method.estimator is type(model) for method in METHODS.values()):
        found = names_of(model) or [name for name, method in METHODS.items() if method.estimator is type(model)]
        # Of names for one thing the first; of those that say more than others, the ones with most parameters set.
        most = max(len(METHODS[name].parameters) for name in found) if names_of(model) else 0
        for name in (name for name in found if not names_of(model) or len(METHODS[name].parameters) == most):
            yield from OF_METHODS.get(name, ())
    else:
        made = {name: make() for name, make in RANKERS.items()}
        same = [name for name, ranker in made.items() if repr(ranker) == repr(model)]
        for name in same or [name for name, ranker in made.items() if type(ranker) is type(model)][:1]:
            yield from _keys_of_name(name)
