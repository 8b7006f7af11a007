"""The papers behind methods, rankers and generators."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from ensemblage._validation import check_choice
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
    number: str = ""
    """Volume, and issue in brackets."""
    journal: bool = True

    @property
    def text(self) -> str:
        """As in a list of references."""
        people = [_turned(name) for name in self.authors.split(" and ")]
        who = ", ".join(people[:-1]) + " and " * (len(people) > 1) + people[-1]
        place = f" {self.where}{f' {self.number}' * bool(self.number)}." if self.where else ""
        return f"{who}{f' ({self.year})' if self.year else ''}. {self.title}.{place}"

    @property
    def bibtex(self) -> str:
        """An entry of BibTeX."""
        kind = "misc" if not self.where else "article" if self.journal else "inproceedings"
        volume, _, issue = self.number.partition("(")
        fields = {
            "author": self.authors,
            "title": f"{{{self.title}}}",
            ("journal" if self.journal else "booktitle"): self.where,
            "volume": volume,
            "number": issue.rstrip(")"),
            "year": "" if self.year is None else str(self.year),
        }
        lines = [f"  {name} = {{{_tex(value)}}}," for name, value in fields.items() if value]
        return "\n".join([f"@{kind}{{{self.key},", *lines, "}"])


def _turned(name: str) -> str:
    """Given names first."""
    family, _, given = name.partition(", ")
    return f"{given} {family}".strip()


def _tex(text: str) -> str:
    return text.replace("&", r"\&")


TKDE, TPAMI = (
    "IEEE Transactions on Knowledge and Data Engineering",
    "IEEE Transactions on Pattern Analysis and Machine Intelligence",
)
CYBERNETICS = "IEEE Transactions on Cybernetics"
PAPERS = (
    Reference(
        "ayad2008",
        "Ayad, H. G. and Kamel, M. S.",
        "Cumulative voting consensus method for partitions with a variable number of clusters",
        2008,
        TPAMI,
        "30(1)",
    ),
    Reference(
        "ayad2010",
        "Ayad, H. G. and Kamel, M. S.",
        "On voting-based consensus of cluster ensembles",
        2010,
        "Pattern Recognition",
        "43",
    ),
    Reference("candel", "Candel, G.", "Linear time evidence accumulation clustering with k-means", None, ""),
    Reference(
        "damle2019",
        "Damle, A. and Minden, V. and Ying, L.",
        "Simple, direct and efficient multi-way spectral clustering",
        2019,
        "Information and Inference",
        "8(1)",
    ),
    Reference("desgraupes2013", "Desgraupes, B.", "Clustering indices (clusterCrit for R)", 2013, ""),
    Reference(
        "dhillon2001",
        "Dhillon, I. S. and Modha, D. S.",
        "Concept decompositions for large sparse text data using clustering",
        2001,
        "Machine Learning",
        "42",
    ),
    Reference(
        "dimitriadou2002",
        "Dimitriadou, E. and Weingessel, A. and Hornik, K.",
        "A combination scheme for fuzzy clustering",
        2002,
        "International Journal of Pattern Recognition and Artificial Intelligence",
        "16(7)",
    ),
    Reference(
        "dudoit2003",
        "Dudoit, S. and Fridlyand, J.",
        "Bagging to improve the accuracy of a clustering procedure",
        2003,
        "Bioinformatics",
        "19(9)",
    ),
    Reference(
        "fern2003",
        "Fern, X. Z. and Brodley, C. E.",
        "Random projection for high dimensional data clustering: a cluster ensemble approach",
        2003,
        "International Conference on Machine Learning (ICML)",
        journal=False,
    ),
    Reference(
        "fern2004",
        "Fern, X. Z. and Brodley, C. E.",
        "Solving cluster ensemble problems by bipartite graph partitioning",
        2004,
        "International Conference on Machine Learning (ICML)",
        journal=False,
    ),
    Reference(
        "fred2005",
        "Fred, A. L. N. and Jain, A. K.",
        "Combining multiple clusterings using evidence accumulation",
        2005,
        TPAMI,
        "27(6)",
    ),
    Reference(
        "gagolewski2016",
        "Gagolewski, M. and Bartoszuk, M. and Cena, A.",
        "Genie: a new, fast, and outlier-resistant hierarchical clustering algorithm",
        2016,
        "Information Sciences",
        "363",
    ),
    Reference(
        "gordon2001",
        "Gordon, A. D. and Vichi, M.",
        "Fuzzy partition models for fitting a set of partitions",
        2001,
        "Psychometrika",
        "66",
    ),
    Reference(
        "hornik2005", "Hornik, K.", "A CLUE for CLUster Ensembles", 2005, "Journal of Statistical Software", "14(12)"
    ),
    Reference(
        "hornik2008",
        "Hornik, K. and Böhm, W.",
        "Hard and soft Euclidean consensus partitions",
        2008,
        "Data Analysis, Machine Learning and Applications (GfKl 2007)",
        journal=False,
    ),
    Reference(
        "huang1998",
        "Huang, Z.",
        "Extensions to the k-means algorithm for clustering large data sets with categorical values",
        1998,
        "Data Mining and Knowledge Discovery",
        "2",
    ),
    Reference(
        "huang2016",
        "Huang, D. and Lai, J.-H. and Wang, C.-D.",
        "Robust ensemble clustering using probability trajectories",
        2016,
        TKDE,
        "28(5)",
    ),
    Reference(
        "huang2018",
        "Huang, D. and Wang, C.-D. and Lai, J.-H.",
        "Locally weighted ensemble clustering",
        2018,
        CYBERNETICS,
        "48(5)",
    ),
    Reference(
        "huang2020",
        "Huang, D. and Wang, C.-D. and Wu, J.-S. and Lai, J.-H. and Kwoh, C.-K.",
        "Ultra-scalable spectral clustering and ensemble clustering",
        2020,
        TKDE,
        "32(6)",
    ),
    Reference(
        "huang2021",
        "Huang, D. and Wang, C.-D. and Peng, H. and Lai, J. and Kwoh, C.-K.",
        "Enhanced ensemble clustering via fast propagation of cluster-wise similarities",
        2021,
        "IEEE Transactions on Systems, Man, and Cybernetics: Systems",
        "51(1)",
    ),
    Reference(
        "iamon2010",
        "Iam-On, N. and Boongoen, T. and Garrett, S.",
        "LCE: a link-based cluster ensemble method for improved gene expression data analysis",
        2010,
        "Bioinformatics",
        "26(12)",
    ),
    Reference(
        "iamon2011",
        "Iam-On, N. and Boongoen, T. and Garrett, S. and Price, C.",
        "A link-based approach to the cluster ensemble problem",
        2011,
        TPAMI,
        "33(12)",
    ),
    Reference(
        "li2012",
        "Li, Z. and Wu, X.-M. and Chang, S.-F.",
        "Segmentation using superpixels: a bipartite graph partitioning approach",
        2012,
        "IEEE Conference on Computer Vision and Pattern Recognition (CVPR)",
        journal=False,
    ),
    Reference(
        "li2018",
        "Li, X. and Liu, H.",
        "Greedy optimization for k-means-based consensus clustering",
        2018,
        "Tsinghua Science and Technology",
        "23(2)",
    ),
    Reference(
        "liu2015",
        "Liu, H. and Liu, T. and Wu, J. and Tao, D. and Fu, Y.",
        "Spectral ensemble clustering",
        2015,
        "ACM SIGKDD International Conference on Knowledge Discovery and Data Mining (KDD)",
        journal=False,
    ),
    Reference(
        "liu2017",
        "Liu, H. and Zhao, R. and Fang, H. and Cheng, F. and Fu, Y. and Liu, Y.-Y.",
        "Entropy-based consensus clustering for patient stratification",
        2017,
        "Bioinformatics",
        "33(17)",
    ),
    Reference(
        "luo2006",
        "Luo, H. and Kong, F. and Li, Y.",
        "Combining multiple clusterings via k-modes algorithm",
        2006,
        "Advanced Data Mining and Applications (ADMA)",
        journal=False,
    ),
    Reference(
        "meila2007",
        "Meilă, M.",
        "Comparing clusterings: an information based distance",
        2007,
        "Journal of Multivariate Analysis",
        "98",
    ),
    Reference(
        "monti2003",
        "Monti, S. and Tamayo, P. and Mesirov, J. and Golub, T.",
        "Consensus clustering: a resampling-based method for class discovery and visualization of gene expression "
        "microarray data",
        2003,
        "Machine Learning",
        "52",
    ),
    Reference("ohl2025", "Ohl, L. and Lindsten, F.", "Discriminative ordering through ensemble consensus", 2025, ""),
    Reference(
        "sinorina2022",
        "Sinorina, N. C. R. and Hamilton, H. J. and Zilles, S.",
        "Efficient removal of weak associations in consensus clustering",
        2022,
        "International Conference on Agents and Artificial Intelligence (ICAART)",
        journal=False,
    ),
    Reference(
        "steinbach2000",
        "Steinbach, M. and Karypis, G. and Kumar, V.",
        "A comparison of document clustering techniques",
        2000,
        "KDD Workshop on Text Mining",
        journal=False,
    ),
    Reference(
        "strehl2002",
        "Strehl, A. and Ghosh, J.",
        "Cluster ensembles - a knowledge reuse framework for combining multiple partitions",
        2002,
        "Journal of Machine Learning Research",
        "3",
    ),
    Reference(
        "topchy2003",
        "Topchy, A. and Jain, A. K. and Punch, W.",
        "Combining multiple weak clusterings",
        2003,
        "IEEE International Conference on Data Mining (ICDM)",
        journal=False,
    ),
    Reference(
        "topchy2004",
        "Topchy, A. and Jain, A. K. and Punch, W.",
        "A mixture model for clustering ensembles",
        2004,
        "SIAM International Conference on Data Mining (SDM)",
        journal=False,
    ),
    Reference(
        "wu2015",
        "Wu, J. and Liu, H. and Xiong, H. and Cao, J. and Chen, J.",
        "K-means-based consensus clustering: a unified view",
        2015,
        TKDE,
        "27(1)",
    ),
    Reference(
        "zhong2019",
        "Zhong, C. and Hu, L. and Yue, X. and Luo, T. and Fu, Q. and Xu, H.",
        "Ensemble clustering based on evidence extracted from the co-association matrix",
        2019,
        "Pattern Recognition",
        "92",
    ),
)
REFERENCES: Mapping[str, Reference] = MappingProxyType({paper.key: paper for paper in PAPERS})
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
        "DiversePartitions": ("damle2019", "gagolewski2016"),
        "Genie": ("gagolewski2016",),
        "GeniePartitions": ("gagolewski2016",),
        "GreedyPartitions": ("li2018",),
        "GreedyKMeansConsensus": ("li2018",),
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
    Transactions on Pattern Analysis and Machine Intelligence 27(6).
    <BLANKLINE>
    @article{fred2005,
      author = {Fred, A. L. N. and Jain, A. K.},
      title = {{Combining multiple clusterings using evidence accumulation}},
      journal = {IEEE Transactions on Pattern Analysis and Machine Intelligence},
      volume = {27},
      number = {6},
      year = {2005},
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
        return OF_METHODS[name]
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
            yield from OF_METHODS[name]
    else:
        made = {name: make() for name, make in RANKERS.items()}
        same = [name for name, ranker in made.items() if repr(ranker) == repr(model)]
        for name in same or [name for name, ranker in made.items() if type(ranker) is type(model)][:1]:
            yield from _keys_of_name(name)
