"""The internal indices by name, and their public function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensemblage.base.renamed import renamed_parameters
from ensemblage.base.validation import check_choice, format_value
from ensemblage.metrics._clustering import code_clustering
from ensemblage.metrics._internal import _ohl, _published
from ensemblage.metrics._internal._geometry import Geometry

Index = Callable[[Geometry], float]
VARIANTS = ("published", "ohl")


@dataclass(frozen=True)
class InternalIndexInfo:
    """An internal index."""

    acronym: str
    """Its name in Ohl & Lindsten's Table 7."""
    title: str
    paper: str
    greater_is_better: bool
    published: Index
    ohl: Index
    """As Ohl & Lindsten ran it."""
    ohl_greater_is_better: bool
    quadratic: bool = False
    """Whether it takes all pairs of objects."""

    def score(self, geometry: Geometry, variant: str) -> float:
        """The index; NaN if it is not defined for this partition."""
        if not 1 < geometry.k < geometry.n:
            return float("nan")
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            value = (self.published if variant == "published" else self.ohl)(geometry)
        return value if np.isfinite(value) else float("nan")

    def better(self, variant: str) -> bool:
        """Whether greater is better."""
        return self.greater_is_better if variant == "published" else self.ohl_greater_is_better


def _info(
    acronym: str,
    title: str,
    paper: str,
    greater: bool,
    published: Index,
    ohl: Index | None = None,
    *,
    ohl_greater: bool | None = None,
    quadratic: bool = False,
) -> InternalIndexInfo:
    same = greater if ohl_greater is None else ohl_greater
    return InternalIndexInfo(acronym, title, paper, greater, published, ohl or published, same, quadratic)


INTERNAL_INDICES: Mapping[str, InternalIndexInfo] = MappingProxyType(
    {
        "ball_hall": _info(
            "BHI", "Ball-Hall", "Ball & Hall 1965", False, _published.ball_hall, _ohl.ball_hall
        ),
        "banfield_raftery": _info(
            "BRI",
            "Banfield-Raftery",
            "Banfield & Raftery 1993",
            False,
            _published.banfield_raftery,
            _ohl.banfield_raftery,
        ),
        "calinski_harabasz": _info(
            "CHI", "Caliński-Harabasz", "Caliński & Harabasz 1974", True, _published.calinski_harabasz
        ),
        "c_index": _info("CI", "C-index", "Hubert & Schultz 1976", False, _published.c_index, quadratic=True),
        "davies_bouldin": _info(
            "DBI", "Davies-Bouldin", "Davies & Bouldin 1979", False, _published.davies_bouldin
        ),
        "duda_hart": _info("DHI", "Duda-Hart", "Duda & Hart 1973", False, _published.duda_hart, _ohl.duda_hart),
        "dunn": _info("DI", "Dunn", "Dunn 1974", True, _published.dunn, quadratic=True),
        "det_ratio": _info("DRI", "Det ratio", "Scott & Symons 1971", True, _published.det_ratio, _ohl.det_ratio),
        "hartigan": _info(
            "HI", "Hartigan", "Hartigan 1975", True, _published.log_ss_ratio, _ohl.hartigan, ohl_greater=False
        ),
        "ksq_det_w": _info("KDI", "K² det W", "Marriott 1971", False, _published.ksq_det_w, _ohl.ksq_det_w),
        "log_det_ratio": _info(
            "LDRI", "Log det ratio", "Scott & Symons 1971", True, _published.log_det_ratio, _ohl.log_det_ratio
        ),
        "log_ss_ratio": _info(
            "LSRI", "Log sum of squares ratio", "Desgraupes 2013", True, _published.log_ss_ratio
        ),
        "mcclain_rao": _info(
            "McRao", "McClain-Rao", "McClain & Rao 1975", False, _published.mcclain_rao, quadratic=True
        ),
        "pbm": _info("PBM", "Pakhira-Bandyopadhyay-Maulik", "Pakhira et al. 2004", True, _published.pbm),
        "silhouette": _info(
            "SI", "Silhouette", "Rousseeuw 1987", True, _published.silhouette, _ohl.silhouette
        ),
        "wgss": _info(
            "WGSS", "Within-group sum of squares", "Edwards & Cavalli-Sforza 1965", False, _published.wgss
        ),
        "xie_beni": _info("XBI", "Xie-Beni", "Xie & Beni 1991", False, _published.xie_beni, _ohl.xie_beni),
        "wemmert_gancarski": _info(
            "WG",
            "Wemmert-Gançarski",
            "Desgraupes 2013",
            True,
            _published.wemmert_gancarski,
            _ohl.wemmert_gancarski,
        ),
    }
)  # fmt: skip
"""Internal indices by name: the eighteen of Ohl & Lindsten's Table 7."""


@renamed_parameters(clustering="partition")
def internal_index(
    features: ArrayLike, partition: ArrayLike, measure: str = "silhouette", *, variant: str = "published"
) -> float:
    """Use it to score a partition by the features alone, such as by the silhouette.

    Parameters
    ----------
    features : array-like of shape (n_objects, n_features)
        Distances are Euclidean.
    partition : array-like of shape (n_objects,)
        Cluster of each object. Objects with -1 or NaN are in no cluster and left out.
    measure : str, default "silhouette"
        A key of ``INTERNAL_INDICES``, which also tells whether greater is better.
    variant : {"published", "ohl"}, default "published"
        "ohl" is what Ohl & Lindsten ran, which differs from the publications for ten of them: permetrics 2.0.0, and
        for Wemmert-Gançarski their notebook.

    Returns
    -------
    float
        NaN where the index is not defined: fewer than 2 clusters or as many as objects for all of them, a singular
        scatter matrix for the determinants, a cluster without any spread for Banfield-Raftery.

    Raises
    ------
    ValueError
        If the measure or variant is none of them, features are not finite numbers, or the lengths differ.

    Notes
    -----
    O(n d K) time, with d² n for the determinants and n² d for those that take all pairs: C-index, Dunn, McClain-Rao,
    silhouette ("ohl": Duda-Hart too). Memory is O(n d) beside blocks of distances; the C-index sorts up to
    20 million of them and narrows down the rest in bins.

    References
    ----------
    Desgraupes, "Clustering indices", clusterCrit for R, 2013; Ohl & Lindsten 2025, Table 7.

    Examples
    --------
    >>> from ensemblage.metrics import internal_index
    >>> X = [[0.0], [1.0], [2.0], [10.0], [11.0]]
    >>> round(internal_index(X, [0, 0, 0, 1, 1]), 5)
    0.87286
    >>> round(internal_index(X, [0, 0, 0, 1, 1], variant="ohl"), 5)
    0.92228
    """
    info = INTERNAL_INDICES[check_choice(measure, "measure of internal_index", INTERNAL_INDICES)]
    check_choice(variant, "variant of internal_index", VARIANTS)
    X = check_features(features)
    clusters, _ = code_clustering(partition, len(X))
    return info.score(geometry_of(X, clusters), variant)


def check_features(features: Any) -> NDArray[np.float64]:
    """A matrix of finite numbers, rows contiguous."""
    rule = "features must be a matrix of finite numbers, one row per object"
    try:
        # NumPy drops imaginary parts with a mere warning.
        X = np.asarray(features if np.isrealobj(features) else None, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{rule}. Got {format_value(features)}. Give a matrix of this form.") from None
    if X.ndim != 2 or X.size == 0:
        raise ValueError(f"{rule}. Got shape {X.shape}. Give a matrix of this form.")
    if not np.isfinite(X).all():
        raise ValueError(f"{rule}. Got {X[~np.isfinite(X)][0]}. Leave such objects out, or fill missing values.")
    return np.ascontiguousarray(X)


def geometry_of(X: NDArray[np.float64], clusters: NDArray[Any], **known: Any) -> Geometry:
    """Geometry of the objects that are in a cluster."""
    assigned = clusters >= 0
    if assigned.all():
        return Geometry(X, clusters.astype(np.intp), **known)
    return Geometry(X[assigned], clusters[assigned].astype(np.intp), **known)
