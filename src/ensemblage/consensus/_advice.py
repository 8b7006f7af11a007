"""When to use which method, in a few words: what they are made for, what they cost (docs/LEADERBOARD.md measures)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

WHEN: Mapping[str, str] = MappingProxyType(
    {
        "km": "k is known, any number of objects: linear time, places new ones",
        "h-km": "many clusters, or a tree of splits: linear time",
        "kcc": "as km, with the paper's random starts",
        "ecc": "as km, by entropies",
        "qmi": "another name of km",
        "sec": "as km, with objects weighted as in spectral clustering",
        "eac-single": "clusters that are chains; one bridge joins two",
        "eac-average": "the default: up to 20,000 objects, finds k, a dendrogram",
        "eac-complete": "compact clusters, a dendrogram; up to thousands of objects",
        "negmm": "weak associations blur the clusters; up to thousands of objects",
        "negmm-wat-kmeans": "as negmm, one threshold instead of a search",
        "negmm-wat-gmm": "as negmm, one threshold instead of a search",
        "cspa": "clusters of about the same size",
        "hgpa": "clusters of about the same size, many objects",
        "mcla": "members with clusters that match each other",
        "hbgf": "k is known, many objects, members of any granularity",
        "lwea": "members whose clusters are of unequal quality; finds k",
        "lwgp": "members whose clusters are of unequal quality, many objects",
        "ecpcs-hc": "members with many small clusters; finds k",
        "ecpcs-mc": "members with many small clusters, many objects",
        "lce-wct": "members with many small clusters that overlap",
        "lce-wtq": "members with many small clusters that overlap",
        "u-senc": "very many objects, with the generator uspec",
        "pta-average": "few partitions that say little pair by pair; finds k",
        "pta-complete": "as pta-average, compact clusters",
        "pta-single": "as pta-average, clusters that are chains",
        "ptgp": "as pta-average, k is known",
        "majority": "members with the same clusters, such as one algorithm on resamples",
        "k-modes": "the most frequent labels as centres, linear time",
        "lca": "probabilities of clusters, k by BIC, places new objects",
        "soft-euclidean": "memberships; members with about the same clusters",
        "hard-euclidean": "members with about the same clusters",
        "hard-manhattan": "another name of hard-euclidean",
        "gv3": "memberships that reproduce how often objects are together",
        "acv": "k is not known: finds it, tells memberships, places new objects",
        "bv": "members with the same number of clusters; memberships",
    }
)
