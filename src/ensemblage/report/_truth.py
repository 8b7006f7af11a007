"""The consensus and its members against known classes."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensemblage.labels.ensemble import Ensemble
from ensemblage.labels.threads import parallel_map
from ensemblage.metrics._agreement import agreement_with
from ensemblage.report._ranking import finite_or_none

_MOST_ENTRIES_FOR_AMI = 500_000


class Comparison(NamedTuple):
    """How near the consensus and its members come to known classes."""

    scores: dict[str, Any]
    """For ``ari``, ``ami`` and ``nmi``: the consensus, and mean, sd and best of the members."""
    members: NDArray[np.float64]
    """(p,) adjusted Rand index of each member; NaN where it shares no object with the classes."""


def compare_with_truth(ensemble: Ensemble, labels: NDArray[Any], truth: ArrayLike) -> Comparison:
    """Adjusted Rand index, adjusted and normalized mutual information with known classes.

    The members' adjusted mutual information, which takes as long as everything else together, is left out (None) when
    n p is above 5·10⁵.
    """
    consensus = Ensemble.from_partitions([labels])
    members = agreement_with(ensemble, truth, "ari")
    ari = agreement_with(consensus, truth, "ari")[0]
    ami_of_members = _ami(ensemble, truth) if ensemble.codes.size <= _MOST_ENTRIES_FOR_AMI else np.array([np.nan])
    scores: dict[str, Any] = {
        "ari": _score_summary(ari, members),
        "ami": _score_summary(_ami(consensus, truth)[0], ami_of_members),
        "nmi": _score_summary(agreement_with(consensus, truth, "nmi")[0], agreement_with(ensemble, truth, "nmi")),
    }
    scores["ari"]["n_worse"] = int((members < ari).sum())
    return Comparison(scores, members)


def _score_summary(consensus: float, members: NDArray[np.float64]) -> dict[str, float | None]:
    known = members[~np.isnan(members)]
    sd = known.std(ddof=1) if len(known) > 1 else np.nan
    mean, best = (known.mean(), known.max()) if len(known) else (np.nan, np.nan)
    return {
        "consensus": finite_or_none(consensus),
        "mean": finite_or_none(mean),
        "sd": finite_or_none(sd),
        "best": finite_or_none(best),
    }


def _ami(ensemble: Ensemble, truth: ArrayLike) -> NDArray[np.float64]:
    """(p,) adjusted mutual information of each partition with the classes, on the objects that both label."""
    from sklearn.metrics import adjusted_mutual_info_score

    classes = Ensemble.from_partitions([truth])
    known = classes.codes[:, 0] < classes.n_clusters[0]

    def score(j: int) -> float:
        both = known & (ensemble.codes[:, j] < ensemble.n_clusters[j])
        codes = classes.codes[both, 0], ensemble.codes[both, j]
        return float(adjusted_mutual_info_score(*codes)) if both.any() else np.nan

    return np.array(parallel_map(score, range(ensemble.shape[1])))
