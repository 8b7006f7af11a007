"""Consensus methods by the literature's names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import signature
from types import MappingProxyType
from typing import Any

from ensemblage.base.validation import check_choice, check_flag
from ensemblage.consensus._base import BaseConsensus
from ensemblage.consensus._method import _METHODS, METHODS, Method
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
from ensemblage.consensus.latent._lca import LatentClassConsensus
from ensemblage.consensus.voting._ada_cvote import CumulativeVoting
from ensemblage.consensus.voting._bvote import BipartiteVoting
from ensemblage.consensus.voting._gv3 import ComembershipMedian
from ensemblage.consensus.voting._majority import MajorityVoting
from ensemblage.consensus.voting._medians import EuclideanMedian

LIFETIME, LARGEST = "the longest lifetime", "that of the largest partition"
KMEANS, WAT = ("O(n p k t)", "O(n + d k)"), ("O(n² (p + t))", "O(n²)")
LINKS = ("O(n p² + d³ + n k² t)", "O(n k + d²)")
"""Time and memory."""


def _hard(paper: str) -> Method:
    return Method(EuclideanMedian, paper, "O(n p² + (n p k + p k³) t)", "O(d²)", LARGEST, {"memberships": "hard"})


def _eac(linkage: str, memory: str) -> Method:
    parameters = {} if linkage == "average" else {"linkage": linkage}  # the default
    paper = f"Fred & Jain 2005, evidence accumulation, {linkage} linkage"
    return Method(EvidenceAccumulation, paper, "O(n² p)", memory, LIFETIME, parameters)


def _pta(linkage: str) -> Method:
    parameters = {} if linkage == "average" else {"linkage": linkage}
    paper = f"Huang, Lai & Wang 2016, probability trajectory accumulation, {linkage} linkage"
    return Method(PTA, paper, "O(n² (p + q t))", "O(n²)", LIFETIME, parameters)


_METHODS |= {
    "km": Method(
        KMeansConsensus, "Candel, linear-time evidence accumulation, Sec. 4.4: k-means on the binary matrix", *KMEANS
    ),
    "h-km": Method(
        BisectingKMeansConsensus,
        "Candel, linear-time evidence accumulation, Secs. 4.2-4.4: bisecting k-means",
        "O(n p t log k)",
        "O(n p + d k)",
        "⌊√n⌋",
    ),
    "kcc": Method(
        KMeansConsensus,
        "Wu et al. 2015, k-means-based consensus clustering (U_c)",
        *KMEANS,
        parameters={"init": "random"},
    ),
    "ecc": Method(
        KMeansConsensus,
        "Liu et al. 2017, entropy-based consensus clustering (KCC with U_H)",
        *KMEANS,
        parameters={"utility": "entropy"},
    ),
    "qmi": Method(KMeansConsensus, "Topchy, Jain & Punch 2003, quadratic mutual information", *KMEANS),
    "sec": Method(SpectralEnsembleClustering, "Liu et al. 2015, spectral ensemble clustering", *KMEANS),
    "eac-single": _eac("single", "O(n p)"),
    "eac-average": _eac("average", "O(n p + d)"),
    "eac-complete": _eac("complete", "O(n²)"),
    "negmm": Method(NegMM, "Zhong et al. 2019, negative evidence removed (NegMM)", "O(51 n² (p + t))", "O(n²)"),
    "negmm-wat-kmeans": Method(NegMM, "Sinorina et al. 2022, NegMM-WAT(K)", *WAT, parameters={"threshold": "kmeans"}),
    "negmm-wat-gmm": Method(NegMM, "Sinorina et al. 2022, NegMM-WAT(GMM)", *WAT, parameters={"threshold": "gmm"}),
    "cspa": Method(
        CSPA,
        "Strehl & Ghosh 2002, cluster-based similarity partitioning",
        "O(n² p)",
        "O(n²) up to 1,000 rows, O(100 n) above",
    ),
    "hgpa": Method(HGPA, "Strehl & Ghosh 2002, hypergraph partitioning", "O(n p log n)", "O(n p)"),
    "mcla": Method(MCLA, "Strehl & Ghosh 2002, meta-clustering", "O(n p² + d²)", "O(n p + d²)"),
    "hbgf": Method(
        HBGF, "Fern & Brodley 2004, hybrid bipartite graph formulation", "O(n p² + d² k + n k² t)", "O(n k + d²)"
    ),
    "lwea": Method(
        EvidenceAccumulation,
        "Huang, Wang & Lai 2018, locally weighted evidence accumulation",
        "O(n p² + n² p)",
        "O(n p + d²)",
        LIFETIME,
        {"cluster_weights": "eci"},
    ),
    "lwgp": Method(
        HBGF,
        "Huang, Wang & Lai 2018, locally weighted graph partitioning",
        "O(n p² + d³ + n k² t)",
        "O(n k + d²)",
        parameters={"partitioner": "transfer", "cluster_weights": "eci"},
    ),
    "ecpcs-hc": Method(
        EvidenceAccumulation,
        "Huang et al. 2021, enhanced co-association, average linkage",
        "O(n p² + d³ + n² p)",
        "O(n p + d²)",
        LIFETIME,
        {"similarity": "ecpcs"},
    ),
    "ecpcs-mc": Method(
        MCLA,
        "Huang et al. 2021, meta-clusters by propagated similarities",
        "O(n p² + d³)",
        "O(d²)",
        parameters={"similarity": "ecpcs", "partitioner": "spectral", "ties": "first"},
    ),
    "lce-wct": Method(LCE, "Iam-On et al. 2010, link-based cluster ensemble, connected triples", *LINKS),
    "lce-wtq": Method(
        LCE,
        "Iam-On et al. 2011, link-based cluster ensemble, triple quality",
        *LINKS,
        parameters={"similarity": "wtq"},
    ),
    "u-senc": Method(
        HBGF,
        "Huang et al. 2020, ultra-scalable spectral ensemble clustering: the consensus half",
        "O(n p² + d³ + n k² t)",
        "O(n k + d²)",
        parameters={"partitioner": "transfer"},
    ),
    "pta-average": _pta("average"),
    "pta-complete": _pta("complete"),
    "pta-single": _pta("single"),
    "ptgp": Method(
        PTGP,
        "Huang, Lai & Wang 2016, probability trajectory graph partitioning",
        "O(n² (p + q t) + n d q t + d³)",
        "O(n (d + q))",
    ),
    "majority": Method(
        MajorityVoting,
        "Dudoit & Fridlyand 2003, relabelling and majority vote",
        "O(n p² + p k³)",
        "O(n p)",
        "that of the reference",
    ),
    "k-modes": Method(
        KModesConsensus, "Huang 1998; Luo, Kong & Li 2006: k-means with modes, on the labels themselves", *KMEANS
    ),
    "lca": Method(
        LatentClassConsensus,
        "Topchy, Jain & Punch 2004, mixture of latent classes by EM",
        "O(n p k t)",
        "O(n + d k)",
        "the least BIC",
    ),
    "soft-euclidean": Method(
        EuclideanMedian, "Hornik & Böhm 2008, soft Euclidean median (SE)", "O(n p² + (d² k + p k³) t)", "O(d²)", LARGEST
    ),
    "hard-euclidean": _hard("Hornik & Böhm 2008, hard Euclidean median (HE)"),
    "hard-manhattan": _hard("Hornik 2005, hard Manhattan median (HM), the same as hard-euclidean"),
    "gv3": Method(
        ComembershipMedian,
        "Gordon & Vichi 2001, third model: soft co-memberships",
        "O(n p k t)",
        "O(n (p + k))",
        LARGEST,
    ),
    "acv": Method(
        CumulativeVoting,
        "Ayad & Kamel 2010, cumulative voting (Ada-cVote)",
        "O(n p² + n p k₀ + n k₀²)",
        "O(d k₀)",
        LIFETIME,
    ),
    "bv": Method(
        BipartiteVoting,
        "Ayad & Kamel 2010, bipartite voting (bVote)",
        "O(n p² + n p k₀ + n k₀² + p k₀³)",
        "O(n p + d²)",
        LIFETIME,
    ),
}
# What the papers' tables were made with, found by reproducing them: see docs/REPRODUCTION.md. Empty: the defaults.
PUBLISHED: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        # Candel, Tables 2 to 7. Not in the text, taken because it reproduces: random rows as starts of SEC and ECC,
        # equal vertex weights of MCLA, METIS' k-way cut of all objects for CSPA, the largest cluster split by H-KM.
        "km": {},
        "h-km": {"split_rule": "size"},
        "sec": {"init": "random"},
        "ecc": {"init": "random"},
        "mcla": {"vertex_weights": "equal"},
        "cspa": {"distinct": False, "recursive": False},
        "eac-single": {},
        "eac-average": {},
        "eac-complete": {},
        # Ayad & Kamel 2010, Secs. 3 and 4.1.
        "acv": {},
        "bv": {},
        "hgpa": {},
        "qmi": {},
        # Li & Liu 2018, Sec. 5.1: one start.
        "kcc": {"n_init": 1, "init": "random"},
        # Sinorina et al. 2022, Algorithms 1 and 2.
        "negmm": {},
        "negmm-wat-kmeans": {},
        "negmm-wat-gmm": {},
    }
)
"""By the name of a method, its settings in the tables of the paper that is reproduced with it."""


def make_consensus(
    name: str, n_clusters: int | None = None, *, published: bool = False, **parameters: Any
) -> BaseConsensus:
    """Make a consensus estimator by the name its method has in the literature.

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
        If there is no such method, or ``published`` is asked for one that no reproduced paper has.

    Examples
    --------
    >>> from ensemblage import make_consensus
    >>> make_consensus("km", 3, random_state=0)
    KMeansConsensus(n_clusters=3, random_state=0)
    >>> make_consensus("mcla", 3, published=True)
    MCLA(n_clusters=3, vertex_weights='equal')
    """
    method = METHODS[check_choice(name, "The name of a consensus method", METHODS)]
    make: Callable[..., BaseConsensus] = method.estimator
    if not check_flag(published, "published of make_consensus"):
        return make(n_clusters, **{**method.parameters, **parameters})
    if name not in PUBLISHED:
        raise ValueError(
            f"published=True needs a method with published settings: {', '.join(PUBLISHED)}. Got {name}. "
            "Leave published out, and give its parameters."
        )
    # Every start of the papers' k-means runs on all rows: it is no setting of one table.
    whole = {"start_on": None} if "start_on" in signature(make).parameters else {}
    return make(n_clusters, **{**method.parameters, **whole, **PUBLISHED[name], **parameters})
