"""What draws from a posterior say: the point estimate, its credible ball, objects in doubt, agreement of chains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.memory import MAX_BYTES
from ensemblage.base.validation import format_value
from ensemblage.consensus.posterior._salso import SalsoConsensus
from ensemblage.io._draws import PosteriorDraws
from ensemblage.labels.ensemble import Ensemble
from ensemblage.metrics import item_consensus
from ensemblage.metrics._chain_agreement import ChainAgreement, chain_agreement
from ensemblage.metrics._posterior import CredibleBall, credible_ball


@dataclass(frozen=True, eq=False)
class DrawsSummary:
    """A point estimate of a partition and its uncertainty; `summarize_draws` makes it."""

    draws: PosteriorDraws
    estimate: SalsoConsensus
    """Fitted: ``labels_``, ``objective_`` (expected loss), ``losses_`` of the starts."""
    ball: CredibleBall
    """Bounds are columns of ``draws.ensemble``."""
    agreement: ChainAgreement | None
    """Of the chains; None if one has fewer than 4 draws."""
    probabilities: NDArray[np.float64]
    """(n,) probability of each object to be with its cluster: the mean over its other members of the share of draws
    that join the two; of an object that is alone, the share of draws in which it is. NaN without a cluster."""
    next_clusters: NDArray[np.int32]
    """(n,) the other cluster that it is with most often; -1 for none."""
    next_probabilities: NDArray[np.float64]
    """(n,) probability to be with that one; NaN for none."""

    @property
    def doubt(self) -> NDArray[np.intp]:
        """(n,) objects by their probability, lowest first."""
        return np.argsort(self.probabilities, kind="stable")


def summarize_draws(
    draws: PosteriorDraws,
    n_clusters: int | None = None,
    *,
    loss: str = "vi",
    a: float = 1.0,
    level: float = 0.95,
    n_init: int = 16,
    n_pairs: int = 500,
    max_bytes: int | str = MAX_BYTES,
    n_jobs: int | None = None,
    random_state: Any = None,
) -> DrawsSummary:
    """Summarise partitions drawn from a posterior: one estimate, and how far the draws are from it.

    Parameters
    ----------
    draws : PosteriorDraws
        What `read_draws` returned.
    n_clusters : int, optional
        Number of clusters of the estimate, at most. Default: as many as the draw with most of them has.
    loss : {"vi", "gvi", "binder", "omari", "nvi", "id", "nid"}, default "vi"
        The loss of a partition and a draw, see `posterior.expected_loss`.
    a : float, default 1
        Price of parting objects that a draw joins, as in `SalsoConsensus`; the ball is by the loss with ``a`` = 1.
    level : float, default 0.95
        Share of the posterior that the credible ball holds at least.
    n_init : int, default 16
        Number of starts of the search for the estimate.
    n_pairs : int, default 500
        Pairs of objects of which the chains are compared.
    max_bytes : int or str, default 2 GiB
        Most memory that the fit takes at its peak beyond the labels, in bytes or as text such as "4GB"; a fit that
        would take more is refused.
    n_jobs : int, optional
        Threads. -1: every core that this process may use; -2: all but one. None: what a ``joblib.parallel_config``
        says; without one every core, or 1 inside a parallel loop of joblib or scikit-learn. The result does not depend
        on it.
    random_state : int, RandomState, Generator or None
        Seed of the search and of the pairs.

    Returns
    -------
    DrawsSummary
        ``estimate``, ``ball``, ``agreement``, and of each object ``probabilities`` and the next cluster.

    Raises
    ------
    TypeError, ValueError
        If the draws are none, or as `SalsoConsensus`.

    See Also
    --------
    SalsoConsensus : The estimate.
    posterior.credible_ball, posterior.chain_agreement : The other parts.

    Notes
    -----
    The time of `SalsoConsensus`, and O(n p k) for n objects, p draws and k clusters of the estimate. Memory: that of
    the fit, which includes the n p bytes of the draws, and 32 n k bytes.

    References
    ----------
    S. Wade and Z. Ghahramani, "Bayesian cluster analysis: point estimation and credible balls", Bayesian Analysis 13,
    2018. D. B. Dahl, D. J. Johnson and P. Müller, "Search algorithms and loss functions for Bayesian clustering",
    Journal of Computational and Graphical Statistics 31, 2022. A. Vehtari, A. Gelman, D. Simpson, B. Carpenter and
    P.-C. Bürkner, "Rank-normalization, folding, and localization: an improved R-hat for assessing convergence of MCMC
    (with discussion)", Bayesian Analysis 16(2), 2021.

    Examples
    --------
    >>> from ensemblage.posterior import read_draws, summarize_draws
    >>> draws = [[0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1], [0, 0, 0, 1, 1, 1]]
    >>> found = summarize_draws(read_draws(draws, draws_axis="rows"), random_state=0)
    >>> found.estimate.labels_, found.doubt[0], found.probabilities[2]
    (array([0, 0, 0, 1, 1, 1], dtype=int32), np.int64(2), np.float64(0.75))
    """
    if not isinstance(draws, PosteriorDraws):
        raise TypeError(
            f"draws of summarize_draws must be what read_draws returned. Got {format_value(draws)}. Call it first."
        )
    limits: dict[str, Any] = {"max_bytes": max_bytes, "n_jobs": n_jobs, "random_state": random_state}
    estimate = SalsoConsensus(n_clusters, loss=loss, a=a, n_init=n_init, **limits).fit(draws.ensemble)
    ball = credible_ball(draws.ensemble, estimate.labels_, level, loss, n_jobs=n_jobs)
    agreement = None
    if np.bincount(draws.chains).min() >= 4:
        given = draws.ensemble, estimate.labels_, draws.chains, loss
        agreement = chain_agreement(*given, n_pairs=n_pairs, n_jobs=n_jobs, random_state=random_state)
    return DrawsSummary(draws, estimate, ball, agreement, *_probabilities(draws.ensemble, estimate.labels_))


def _probabilities(
    ensemble: Ensemble, labels: NDArray[np.int32]
) -> tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.float64]]:
    """Of each object the probability to be with its cluster, the next one, and the probability of that."""
    n, shares = len(labels), item_consensus(ensemble, labels)
    known = np.flatnonzero(labels >= 0)
    own = np.full(n, np.nan)
    own[known] = shares[known, labels[known]]
    sizes = np.bincount(labels[known])
    for i in known[sizes[labels[known]] == 1]:
        codes = np.asarray(ensemble.rows[:])
        seen = codes[i] < ensemble.n_clusters
        own[i] = ((codes == codes[i]).sum(axis=0) == 1)[seen].mean()
    if len(sizes) < 2:
        return own, np.full(n, -1, dtype=np.int32), np.full(n, np.nan)
    shares[known, labels[known]] = -1
    following = shares.argmax(axis=1).astype(np.int32)
    following[labels < 0] = -1
    return own, following, np.where(following < 0, np.nan, shares[np.arange(n), following])
