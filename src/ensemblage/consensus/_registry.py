"""Consensus methods by the literature's names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import signature
from types import MappingProxyType
from typing import Any

from ensemblage.base.validation import check_choice, check_flag
from ensemblage.consensus._base import BaseConsensus
from ensemblage.consensus._method import METHODS, Alias, Method, check_k
from ensemblage.consensus.graphs._cspa import CSPA
from ensemblage.consensus.graphs._hbgf import HBGF
from ensemblage.consensus.graphs._hgpa import HGPA
from ensemblage.consensus.graphs._lce import LCE
from ensemblage.consensus.graphs._mcla import MCLA
from ensemblage.consensus.graphs._negmm import NegMM
from ensemblage.consensus.graphs._ptgp import PTGP
from ensemblage.consensus.hierarchies._eac import EvidenceAccumulation
from ensemblage.consensus.hierarchies._pta import PTA
from ensemblage.consensus.kmeans._bisecting import BisectingKMeansConsensus
from ensemblage.consensus.kmeans._k_modes import KModesConsensus
from ensemblage.consensus.kmeans._kcc import KMeansConsensus
from ensemblage.consensus.kmeans._sec import SpectralEnsembleClustering
from ensemblage.consensus.posterior._lca import LatentClassConsensus
from ensemblage.consensus.posterior._salso import SalsoConsensus
from ensemblage.consensus.voting._ada_cvote import CumulativeVoting
from ensemblage.consensus.voting._bvote import BipartiteVoting
from ensemblage.consensus.voting._gv3 import ComembershipMedian
from ensemblage.consensus.voting._majority import MajorityVoting
from ensemblage.consensus.voting._medians import EuclideanMedian

LIFETIME, LARGEST = "the longest lifetime", "that of the largest partition"
LEAST_LOSS = "the least expected loss"
AGREEMENT = "the highest mean ARI with the partitions"

# Places in the papers of several methods.
OF_EAC = "Fred & Jain 2005; Iam-On et al. 2011, CTS"
OF_NEGMM = "Zhong et al. 2019; Sinorina et al. 2022, Alg. 1"
OF_LCE = "Iam-On et al. 2010, 2011: WCT, WTQ, the refined matrix"
OF_PTA = "Huang, Lai & Wang 2016: PTA, Eq. 14"
OF_MEDIANS = "Hornik 2005; Hornik & Böhm 2008: alternate matching and fitting"
OF_SALSO = (
    "Dahl, Johnson & Müller 2022: sequential allocation, sweetening, zealous updates; "
    "Galinier & Hao 1999: recombinations"
)

# What the papers' tables were made with, ``published``, was found by reproducing them: see docs/REPRODUCTION.md.
# Candel, Tables 2 to 7: not in the text, taken because it reproduces, are random rows as starts of SEC and ECC, equal
# vertex weights of MCLA, METIS' k-way cut of all objects for CSPA, the largest cluster split by H-KM.
# Ayad & Kamel 2010, Secs. 3 and 4.1: acv, bv, hgpa, qmi. Li & Liu 2018, Sec. 5.1: kcc, one start.
# Sinorina et al. 2022, Algorithms 1 and 2: NegMM.
METHODS.register(
    {
        "km": Method(
            KMeansConsensus,
            "Candel 2023, linear-time evidence accumulation, Sec. 4.4: k-means on the binary matrix",
            "O(n p k t)",
            "O(n + d k)",
            AGREEMENT,
            when="any number of objects: linear time, finds k, places new ones",
            references=("candel2023", "wu2015"),
            theory="kmeans",
            place="Candel 2023, Sec. 4.1, Eqs. 16-20; Topchy et al. 2003",
            read=("CategoryUtility",),
            published={},
            aliases={"qmi": Alias("Topchy, Jain & Punch 2003, quadratic mutual information", ("topchy2003",))},
        ),
        "h-km": Method(
            BisectingKMeansConsensus,
            "Candel 2023, linear-time evidence accumulation, Secs. 4.2-4.4: bisecting k-means",
            "O(n p t log k)",
            "O(n p + d k)",
            "⌊√n⌋",
            when="many clusters, or a tree of splits: linear time",
            references=("candel2023", "steinbach2000"),
            theory="kmeans",
            place="Candel 2023, Secs. 4.2-4.4, Eqs. 21-23",
            read=("h_km", "bisect"),
            published={"split_rule": "size"},
        ),
        "kcc": Method(
            KMeansConsensus,
            "Wu et al. 2015, k-means-based consensus clustering (U_c)",
            "O(n p k t)",
            "O(n + d k)",
            AGREEMENT,
            parameters={"init": "random"},
            when="as km, with the paper's random starts",
            references=("wu2015",),
            theory="kmeans",
            place="Wu et al. 2015, KCC with U_c, and Table 1",
            read=("CategoryUtility", "CosineUtility", "LpUtility"),
            published={"n_init": 1, "init": "random"},
        ),
        "ecc": Method(
            KMeansConsensus,
            "Liu et al. 2017, entropy-based consensus clustering (KCC with U_H)",
            "O(n p k t)",
            "O(n + d k)",
            AGREEMENT,
            parameters={"utility": "entropy"},
            when="as km, by entropies",
            references=("liu2017",),
            theory="kmeans",
            place="Liu et al. 2017, U_H",
            read=("EntropyUtility",),
            published={"init": "random"},
        ),
        "sec": Method(
            SpectralEnsembleClustering,
            "Liu et al. 2015, spectral ensemble clustering",
            "O(n p k t)",
            "O(n + d k)",
            when="as km, with objects weighted as in spectral clustering",
            references=("liu2015",),
            theory="kmeans",
            place="Liu et al. 2015",
            read=("AssociationUtility",),
            published={"init": "random"},
        ),
        "eac-single": Method(
            EvidenceAccumulation,
            "Fred & Jain 2005, evidence accumulation, single linkage",
            "O(n² p)",
            "O(n p)",
            LIFETIME,
            {"linkage": "single"},
            when="clusters that are chains; one bridge joins two",
            references=("fred2005",),
            theory="evidence",
            place=OF_EAC,
            read=("eac",),
            published={},
        ),
        "eac-average": Method(
            EvidenceAccumulation,
            "Fred & Jain 2005, evidence accumulation, average linkage",
            "O(n² p)",
            "O(n p + d)",
            LIFETIME,
            when="the default: up to 20,000 objects, finds k, a dendrogram",
            references=("fred2005",),
            theory="evidence",
            place=OF_EAC,
            read=("eac",),
            published={},
        ),
        "eac-complete": Method(
            EvidenceAccumulation,
            "Fred & Jain 2005, evidence accumulation, complete linkage",
            "O(n² p)",
            "O(n²)",
            LIFETIME,
            {"linkage": "complete"},
            when="compact clusters, a dendrogram; up to thousands of objects",
            references=("fred2005",),
            theory="evidence",
            place=OF_EAC,
            read=("eac",),
            published={},
        ),
        "negmm": Method(
            NegMM,
            "Zhong et al. 2019, negative evidence removed (NegMM)",
            "O(51 n² (p + t))",
            "O(n²)",
            when="weak associations blur the clusters; up to thousands of objects",
            references=("zhong2019",),
            theory="negmm",
            place=OF_NEGMM,
            read=("negmm", "strong_graph"),
            published={},
        ),
        "negmm-wat-kmeans": Method(
            NegMM,
            "Sinorina et al. 2022, NegMM-WAT(K)",
            "O(n² (p + t))",
            "O(n²)",
            parameters={"association_threshold": "kmeans"},
            when="as negmm, one threshold instead of a search",
            references=("sinorina2022", "zhong2019"),
            theory="negmm",
            place=OF_NEGMM,
            read=("negmm", "strong_graph"),
            published={},
        ),
        "negmm-wat-gmm": Method(
            NegMM,
            "Sinorina et al. 2022, NegMM-WAT(GMM)",
            "O(n² (p + t))",
            "O(n²)",
            parameters={"association_threshold": "gmm"},
            when="as negmm, one threshold instead of a search",
            references=("sinorina2022", "zhong2019"),
            theory="negmm",
            place=OF_NEGMM,
            read=("negmm", "strong_graph"),
            published={},
        ),
        "cspa": Method(
            CSPA,
            "Strehl & Ghosh 2002, cluster-based similarity partitioning",
            "O(n² p)",
            "O(n²) up to 1,000 rows, O(100 n) above",
            when="clusters of about the same size",
            references=("strehl2002",),
            theory="graphs",
            place="Strehl & Ghosh 2002, Sec. 3.2",
            read=("association_graph",),
            published={"distinct": False, "recursive": False},
            package="pymetis",
        ),
        "hgpa": Method(
            HGPA,
            "Strehl & Ghosh 2002, hypergraph partitioning",
            "O(n p log n)",
            "O(n p)",
            when="clusters of about the same size, many objects",
            references=("strehl2002",),
            theory="graphs",
            place="Strehl & Ghosh 2002, Sec. 3.3; Zhou et al. 2006",
            read=("hyperedges",),
            published={},
            package="mtkahypar",
        ),
        "mcla": Method(
            MCLA,
            "Strehl & Ghosh 2002, meta-clustering",
            "O(n p² + d²)",
            "O(n p + d²)",
            when="members with clusters that match each other",
            references=("strehl2002",),
            theory="graphs",
            place="Strehl & Ghosh 2002, Sec. 3.4",
            read=("meta_graph", "compete"),
            published={"vertex_weights": "equal"},
            package="pymetis",
        ),
        "hbgf": Method(
            HBGF,
            "Fern & Brodley 2004, hybrid bipartite graph formulation",
            "O(n p² + d² k + n k² t)",
            "O(n k + d²)",
            when="k is known, many objects, members of any granularity",
            references=("fern2004",),
            theory="graphs",
            place="Fern & Brodley 2004",
            read=("hbgf", "bipartite_graph"),
        ),
        "lwea": Method(
            EvidenceAccumulation,
            "Huang, Wang & Lai 2018, locally weighted evidence accumulation",
            "O(n p² + n² p)",
            "O(n p + d²)",
            LIFETIME,
            {"cluster_weights": "eci"},
            when="members whose clusters are of unequal quality; finds k",
            references=("huang2018", "fred2005"),
            theory="links",
            place="Huang et al. 2018, LWEA",
            read=("eac",),
        ),
        "lwgp": Method(
            HBGF,
            "Huang, Wang & Lai 2018, locally weighted graph partitioning",
            "O(n p² + d³ + n k² t)",
            "O(n k + d²)",
            parameters={"partitioner": "transfer", "cluster_weights": "eci"},
            when="members whose clusters are of unequal quality, many objects",
            references=("huang2018", "li2012"),
            theory="links",
            place="Huang et al. 2018, LWGP",
            read=("hbgf",),
        ),
        "ecpcs-hc": Method(
            EvidenceAccumulation,
            "Huang et al. 2021, enhanced co-association, average linkage",
            "O(n p² + d³ + n² p)",
            "O(n p + d²)",
            LIFETIME,
            {"similarity": "ecpcs"},
            when="members with many small clusters; finds k",
            references=("huang2021",),
            theory="links",
            place="Huang et al. 2021, Eqs. 6-15: ECPCS-HC",
            read=("propagate", "eac"),
        ),
        "ecpcs-mc": Method(
            MCLA,
            "Huang et al. 2021, meta-clusters by propagated similarities",
            "O(n p² + d³)",
            "O(d²)",
            parameters={"similarity": "ecpcs", "partitioner": "spectral", "ties": "first"},
            when="members with many small clusters, many objects",
            references=("huang2021",),
            theory="links",
            place="Huang et al. 2021, Eqs. 6-11: ECPCS-MC",
            read=("propagate", "compete"),
        ),
        "lce-wct": Method(
            LCE,
            "Iam-On et al. 2010, link-based cluster ensemble, connected triples",
            "O(n p² + d³ + n k² t)",
            "O(n k + d²)",
            when="members with many small clusters that overlap",
            references=("iamon2010",),
            theory="links",
            place=OF_LCE,
            read=("link_similarity", "connected_triples", "triple_quality"),
        ),
        "lce-wtq": Method(
            LCE,
            "Iam-On et al. 2011, link-based cluster ensemble, triple quality",
            "O(n p² + d³ + n k² t)",
            "O(n k + d²)",
            parameters={"similarity": "wtq"},
            when="members with many small clusters that overlap",
            references=("iamon2011",),
            theory="links",
            place=OF_LCE,
            read=("link_similarity", "connected_triples", "triple_quality"),
        ),
        "u-senc": Method(
            HBGF,
            "Huang et al. 2020, ultra-scalable spectral ensemble clustering: the consensus half",
            "O(n p² + d³ + n k² t)",
            "O(n k + d²)",
            parameters={"partitioner": "transfer"},
            when="very many objects, with the generator uspec",
            references=("huang2020",),
            theory="links",
            place="Huang et al. 2020, Sec. 4: the consensus, Eqs. 15-19",
            read=("hbgf",),
        ),
        "pta-average": Method(
            PTA,
            "Huang, Lai & Wang 2016, probability trajectory accumulation, average linkage",
            "O(n² (p + q t))",
            "O(n²)",
            LIFETIME,
            when="few partitions that say little pair by pair; finds k",
            references=("huang2016",),
            theory="trajectories",
            place=OF_PTA,
        ),
        "pta-complete": Method(
            PTA,
            "Huang, Lai & Wang 2016, probability trajectory accumulation, complete linkage",
            "O(n² (p + q t))",
            "O(n²)",
            LIFETIME,
            {"linkage": "complete"},
            when="as pta-average, compact clusters",
            references=("huang2016",),
            theory="trajectories",
            place=OF_PTA,
        ),
        "pta-single": Method(
            PTA,
            "Huang, Lai & Wang 2016, probability trajectory accumulation, single linkage",
            "O(n² (p + q t))",
            "O(n²)",
            LIFETIME,
            {"linkage": "single"},
            when="as pta-average, clusters that are chains",
            references=("huang2016",),
            theory="trajectories",
            place=OF_PTA,
        ),
        "ptgp": Method(
            PTGP,
            "Huang, Lai & Wang 2016, probability trajectory graph partitioning",
            "O(n² (p + q t) + n d q t + d³)",
            "O(n (d + q))",
            when="as pta-average, k is known",
            references=("huang2016", "li2012"),
            theory="trajectories",
            place="Huang, Lai & Wang 2016: PTGP",
        ),
        "majority": Method(
            MajorityVoting,
            "Dudoit & Fridlyand 2003, relabelling and majority vote",
            "O(n p² + p k³)",
            "O(n p)",
            "that of the reference",
            when="members with the same clusters, such as one algorithm on resamples",
            references=("dudoit2003",),
            theory="voting",
            place="Dudoit & Fridlyand 2003, BagClust1",
        ),
        "k-modes": Method(
            KModesConsensus,
            "Huang 1998; Luo, Kong & Li 2006: k-means with modes, on the labels themselves",
            "O(n p k t)",
            "O(n + d k)",
            when="the most frequent labels as centres, linear time",
            references=("huang1998", "luo2006"),
            theory="kmeans",
            place="Huang 1998; Luo, Kong & Li 2006",
            read=("ModeUtility",),
        ),
        "lca": Method(
            LatentClassConsensus,
            "Topchy, Jain & Punch 2004, mixture of latent classes by EM",
            "O(n p k t)",
            "O(n + d k)",
            "the least BIC",
            when="probabilities of clusters, k by BIC, places new objects",
            references=("topchy2004",),
            theory="latent",
            place="Topchy, Jain & Punch 2004: mixture of latent classes",
            read=("em", "expect", "maximise"),
        ),
        "salso-vi": Method(
            SalsoConsensus,
            "Dahl, Johnson & Müller 2022, SALSO: variation of information",
            "O(n p k t)",
            "O(n p + d k)",
            LEAST_LOSS,
            when="draws from a posterior of partitions: the point estimate",
            references=("dahl2022", "wade2018"),
            theory="latent",
            place=OF_SALSO,
            read=("salso",),
        ),
        "salso-binder": Method(
            SalsoConsensus,
            "Dahl, Johnson & Müller 2022, SALSO: Binder's loss",
            "O(n p k t)",
            "O(n p + d k)",
            LEAST_LOSS,
            {"loss": "binder"},
            when="draws from a posterior; pairs of objects that most draws join",
            references=("dahl2022", "wade2018"),
            theory="latent",
            place=OF_SALSO,
            read=("salso",),
        ),
        "salso-omari": Method(
            SalsoConsensus,
            "Dahl, Johnson & Müller 2022, SALSO: 1 - the adjusted Rand index",
            "O(n p k t)",
            "O(n p + d k)",
            LEAST_LOSS,
            {"loss": "omari"},
            when="draws from a posterior; the highest mean ARI, corrected for chance",
            references=("dahl2022",),
            theory="latent",
            place=OF_SALSO,
            read=("salso",),
        ),
        "salso-nvi": Method(
            SalsoConsensus,
            "Dahl, Johnson & Müller 2022, SALSO: normalised variation of information",
            "O(n p k t)",
            "O(n p + d k)",
            LEAST_LOSS,
            {"loss": "nvi"},
            when="draws from a posterior; between salso-vi and salso-binder",
            references=("dahl2022",),
            theory="latent",
            place=OF_SALSO,
            read=("salso",),
        ),
        "salso-id": Method(
            SalsoConsensus,
            "Dahl, Johnson & Müller 2022, SALSO: information distance",
            "O(n p k t)",
            "O(n p + d k)",
            LEAST_LOSS,
            {"loss": "id"},
            when="draws from a posterior with fine clusters; tends to many clusters",
            references=("dahl2022",),
            theory="latent",
            place=OF_SALSO,
            read=("salso",),
        ),
        "salso-nid": Method(
            SalsoConsensus,
            "Dahl, Johnson & Müller 2022, SALSO: normalised information distance",
            "O(n p k t)",
            "O(n p + d k)",
            LEAST_LOSS,
            {"loss": "nid"},
            when="draws from a posterior with fine clusters; tends to many clusters",
            references=("dahl2022",),
            theory="latent",
            place=OF_SALSO,
            read=("salso",),
        ),
        "soft-euclidean": Method(
            EuclideanMedian,
            "Hornik & Böhm 2008, soft Euclidean median (SE)",
            "O(n p² + (d² k + p k³) t)",
            "O(d²)",
            LARGEST,
            when="memberships; members with about the same clusters",
            references=("hornik2005", "hornik2008"),
            theory="voting",
            place=OF_MEDIANS,
            read=("euclidean_median", "alternate"),
        ),
        "hard-euclidean": Method(
            EuclideanMedian,
            "Hornik & Böhm 2008, hard Euclidean median (HE)",
            "O(n p² + (n p k + p k³) t)",
            "O(d²)",
            LARGEST,
            {"prototype": "hard"},
            when="members with about the same clusters",
            references=("hornik2005", "hornik2008"),
            theory="voting",
            place=OF_MEDIANS,
            read=("euclidean_median", "alternate"),
            aliases={"hard-manhattan": Alias("Hornik 2005, hard Manhattan median (HM)", ("hornik2005",))},
        ),
        "gv3": Method(
            ComembershipMedian,
            "Gordon & Vichi 2001, third model: soft co-memberships",
            "O(n p k t)",
            "O(n (p + k))",
            LARGEST,
            when="memberships that reproduce how often objects are together",
            references=("gordon2001", "hornik2005"),
            theory="voting",
            place="Gordon & Vichi 2001, third model",
            read=("comembership_loss", "descend"),
        ),
        "acv": Method(
            CumulativeVoting,
            "Ayad & Kamel 2010, cumulative voting (Ada-cVote)",
            "O(n p² + n p k₀ + n k₀²)",
            "O(d k₀)",
            LIFETIME,
            when="k is not known: finds it, gives memberships, places new objects",
            references=("ayad2010", "ayad2008"),
            theory="voting",
            place="Ayad & Kamel 2010, Alg. 2, Eq. 5",
            read=("ada_cvote",),
            published={},
        ),
        "bv": Method(
            BipartiteVoting,
            "Ayad & Kamel 2010, bipartite voting (bVote)",
            "O(n p² + n p k₀ + n k₀² + p k₀³)",
            "O(n p + d²)",
            LIFETIME,
            when="members with the same number of clusters; memberships",
            references=("ayad2010", "dimitriadou2002"),
            theory="voting",
            place="Ayad & Kamel 2010, Alg. 1, Eq. 2",
            read=("bvote",),
            published={},
        ),
    }
)
PUBLISHED: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {name: settings for name in (*METHODS, *METHODS.aliases) if (settings := METHODS[name].published) is not None}
)
"""By the name of a method, its settings in the tables of the paper that is reproduced with it."""


def make_consensus(
    name: str, n_clusters: int | None = None, *, published: bool = False, **parameters: Any
) -> BaseConsensus:
    """Use it to select a consensus method by its name in the literature: an estimator with its parameters.

    Parameters
    ----------
    name : str
        A key of `METHODS`.
    n_clusters : int, optional
        Number of clusters of the consensus. None: the method finds it, if it has a rule.
    published : bool, default False
        Take the settings that a paper's published table was made with, as ``ensemblage reproduce`` does, where they
        are not the defaults.
    **parameters
        Further parameters of the estimator; they override the method's own and the published ones.

    Returns
    -------
    estimator
        Not fitted.

    Raises
    ------
    ValueError
        If there is no such method, it has no use for ``n_clusters``, or ``published`` is asked for one that no
        reproduced paper has.

    Examples
    --------
    >>> from ensemblage import make_consensus
    >>> make_consensus("km", 3, random_state=0)
    KMeansConsensus(n_clusters=3, random_state=0)
    >>> make_consensus("mcla", 3, published=True)
    MCLA(n_clusters=3, vertex_weights='equal')
    """
    method = METHODS[check_choice(name, "The name of a consensus method", METHODS, "METHODS")]
    make: Callable[..., BaseConsensus] = method.estimator
    if n_clusters is not None:
        check_k(make(None, **method.parameters), n_clusters)
    if not check_flag(published, "published of make_consensus"):
        return make(n_clusters, **{**method.parameters, **parameters})
    if name not in PUBLISHED:
        raise ValueError(
            f"published=True needs a method with published settings: {', '.join(PUBLISHED)}. Got {name}. "
            "Leave published out, and give its parameters."
        )
    # Every start of the papers' k-means runs on all rows: it is no setting of one table.
    whole = {"init_size": None} if "init_size" in signature(make).parameters else {}
    return make(n_clusters, **{**method.parameters, **whole, **PUBLISHED[name], **parameters})
