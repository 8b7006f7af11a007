"""Whether chains of draws from a posterior agree: rank-normalised split R-hat of numbers that each draw has."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from ensemblage.base.random import task_seeds
from ensemblage.base.renamed import renamed_parameters
from ensemblage.base.validation import Whole, check_numbers, check_value
from ensemblage.labels.ensemble import as_ensemble
from ensemblage.metrics._clustering import code_clustering
from ensemblage.metrics._posterior import check_loss, draw_losses

LEAST_DRAWS = 4
"""Of each chain: two for each half."""
MOST_PAIRS = 100_000
LARGE = 1.01
"""Vehtari et al. (2021) ask for less."""
AT_ONCE = 2**20
"""Labels of pairs that are compared at once."""


class ChainAgreement(NamedTuple):
    """Rank-normalised split R-hat of what each draw has; near 1 where the chains agree. `chain_agreement` makes it."""

    loss: float
    """Of the loss of each draw to the partition; NaN where it never changes."""
    n_clusters: float
    """Of the number of clusters of each draw; NaN where it never changes."""
    pairs: NDArray[np.intp]
    """(q, 2) objects of the sampled pairs."""
    of_pairs: NDArray[np.float64]
    """(q,) of the indicator that a draw joins the two objects of each pair; NaN where all draws say the same."""
    n_chains: int
    """Chains before they are split."""
    n_draws: int
    """Draws of each half of a chain."""
    by_chance: float
    """Share of pairs that would have R-hat of 1.01 or more by chance, were all draws independent."""


def split_rhat(values: ArrayLike, chains: ArrayLike | None = None) -> float:
    """Rank-normalised split R-hat of Markov chains: potential scale reduction of their halves (Vehtari et al. 2021).

    Parameters
    ----------
    values : array-like of float, shape (n_draws,)
        One number per draw, the draws of a chain in their order.
    chains : array-like of shape (n_draws,), optional
        The chain of each draw. Default: one chain, whose halves are compared.

    Returns
    -------
    float
        The larger of two R-hat, each √(((N - 1) / N · W + B / N) / W) with N draws in each half, the mean W of the
        variances within halves and N times the variance of their means B: of the normal scores of the ranks of all
        values, which sees chains with different means, and of the same of their distances from the median (folded),
        which sees chains with different spreads. Vehtari et al. ask for less than 1.01. NaN if the values are all the
        same or one is NaN; infinite if only those within each half are the same.

    Raises
    ------
    ValueError
        If a chain has fewer than 4 draws.

    Notes
    -----
    O(p log p) time for p draws. The score of rank r among S values is the normal quantile of (r - 3/8) / (S + 1/4);
    equal values have their mean rank. All halves have as many draws as half of the shortest chain: the first draws of
    longer chains do not count, nor does the draw between the halves of an odd number.

    References
    ----------
    A. Vehtari, A. Gelman, D. Simpson, B. Carpenter and P.-C. Bürkner, "Rank-normalization, folding, and localization:
    an improved R-hat for assessing convergence of MCMC (with discussion)", Bayesian Analysis 16(2), 2021. A. Gelman, J.
    B. Carlin, H. S. Stern, D. B. Dunson, A. Vehtari and D. B. Rubin, *Bayesian Data Analysis*, third edition, Chapman &
    Hall/CRC, 2013, Section 11.4: R-hat of halves.

    Examples
    --------
    >>> from ensemblage.metrics._chain_agreement import split_rhat
    >>> round(split_rhat([1, 2, 1, 2, 5, 6, 5, 6], [0, 0, 0, 0, 1, 1, 1, 1]), 3)
    1.619
    """
    numbers = check_numbers(values, "values of split_rhat", ("n",))
    return _normalised_rhat(numbers[_halves(chains, len(numbers), "split_rhat")])


def _normalised_rhat(halves: NDArray[np.float64]) -> float:
    """(2 C, N) → the larger R-hat of the normal scores of the values and of their distances from the median."""
    if np.isnan(halves).any():
        return float("nan")
    folded = np.abs(halves - np.median(halves))
    return float(np.fmax(_rhat(_normal_scores(halves)), _rhat(_normal_scores(folded))))


def _normal_scores(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Normal quantiles of the ranks of all values, in the same shape; equal values have their mean rank."""
    from scipy.stats import rankdata

    ranks = rankdata(values).reshape(values.shape)
    return np.asarray(ndtri((ranks - 0.375) / (values.size + 0.25)))


def _halves(chains: ArrayLike | None, p: int, subject: str) -> NDArray[np.intp]:
    """(2 C, N) the draws of each half of the last draws of each chain, of all as many as the shortest has."""
    given = np.zeros(p, dtype=np.intp) if chains is None else np.asarray(chains)
    if given.shape != (p,):
        raise ValueError(
            f"chains of {subject} must have one entry for each of the {p:,} draws. Got the shape {given.shape}. Give "
            "the chain of each draw."
        )
    _, number = np.unique(given, return_inverse=True)
    sizes = np.bincount(number)
    shortest = int(sizes.min()) if len(sizes) else 0
    if shortest < LEAST_DRAWS:
        raise ValueError(
            f"Every chain of {subject} must have {LEAST_DRAWS} draws or more. Got one of {shortest}. "
            "Give longer chains."
        )
    order = np.argsort(number, kind="stable")
    last = [order[end - shortest : end] for end in np.cumsum(sizes)]
    return np.stack([part for draws in last for part in (draws[: shortest // 2], draws[-(shortest // 2) :])])


def _rhat(halves: NDArray[Any]) -> Any:
    """(..., 2 C, N) → (...) R-hat of halves, of the values as they are."""
    N = halves.shape[-1]
    within = halves.var(axis=-1, ddof=1).mean(axis=-1)
    between = N * halves.mean(axis=-1).var(axis=-1, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.sqrt(((N - 1) / N * within + between / N) / within)


@renamed_parameters(clustering="partition")
def chain_agreement(
    labels: ArrayLike | Any,
    partition: ArrayLike | Any,
    chains: ArrayLike | None = None,
    loss: str = "vi",
    *,
    n_pairs: int = 500,
    n_jobs: int | None = None,
    random_state: Any = None,
) -> ChainAgreement:
    """Compare Markov chains of partitions by R-hat: of the loss, the number of clusters, and pairs of objects.

    Labels of clusters mean nothing across draws, so that R-hat needs numbers that renaming leaves alone.

    Parameters
    ----------
    labels : array-like, data frame or Ensemble of shape (n_objects, n_partitions)
        The ensemble. -1 and NaN mean missing.
    partition : array-like of shape (n_objects,)
        Cluster of each object. Objects with -1 or NaN are in no cluster and left out.
    chains : array-like of shape (n_draws,), optional
        The chain of each draw. Default: one chain, whose halves are compared.
    loss : {"vi", "gvi", "binder", "omari", "nvi", "id", "nid"}, default "vi"
        Of each draw and the partition, see `expected_loss`.
    n_pairs : int, default 500
        Pairs of objects that are drawn at random; all, if there are no more.
    n_jobs : int, optional
        Threads. -1: every core that this process may use; -2: all but one. None: what a ``joblib.parallel_config``
        says; without one every core, or 1 inside a parallel loop of joblib or scikit-learn. The result does not depend
        on it.
    random_state : int, RandomState, Generator or None
        Seed of the pairs.

    Returns
    -------
    ChainAgreement
        ``loss``, ``n_clusters``, ``pairs``, ``of_pairs`` and ``by_chance``.

    Raises
    ------
    ValueError
        If a chain has fewer than 4 draws, or the partition another number of objects.

    See Also
    --------
    split_rhat : The formula.

    Notes
    -----
    O(n p + q p) time for n objects, p draws and q pairs; memory n p bytes for the draws and 8 MB beside them. A pair
    in a draw that does not label both objects is as if it were apart. Ranks of an indicator, and its distances from
    the median, are linear in it: its rank-normalised R-hat is that of the values 0 and 1.

    Of many pairs some are large by chance. With h halves of N independent draws, N (R-hat² - 1) + 1 is about as F with
    h - 1 and h (N - 1) degrees of freedom: the source of ``by_chance``.

    References
    ----------
    A. Vehtari, A. Gelman, D. Simpson, B. Carpenter and P.-C. Bürkner, "Rank-normalization, folding, and localization:
    an improved R-hat for assessing convergence of MCMC (with discussion)", Bayesian Analysis 16(2), 2021.

    Examples
    --------
    >>> import numpy as np
    >>> from ensemblage.posterior import chain_agreement
    >>> one, other = [0, 0, 1, 1], [0, 0, 0, 1]
    >>> draws = np.array([one, one, other, one, other, one, one, other]).T
    >>> found = chain_agreement(draws, one, [0, 0, 0, 0, 1, 1, 1, 1], random_state=0)
    >>> round(found.loss, 3), len(found.pairs)
    (0.816, 6)
    """
    check_loss(loss, 1.0, "chain_agreement")
    check_value(n_pairs, "n_pairs of chain_agreement", [Whole(1, MOST_PAIRS)])
    ensemble = as_ensemble(labels)
    n, p = ensemble.shape
    halves = _halves(chains, p, "chain_agreement")
    clusters, _ = code_clustering(partition, n)
    counts = np.ones(n, dtype=np.int64)
    losses = draw_losses(ensemble.rows, counts, ensemble.offsets, clusters, loss, 1.0, n_jobs).of_draws
    pairs = _random_pairs(n, n_pairs, np.random.RandomState(task_seeds(random_state, 1)[0]))
    of_pairs = np.empty(len(pairs))
    step = max(1, AT_ONCE // p)
    for start in range(0, len(pairs), step):
        i, j = pairs[start : start + step].T
        first, second = np.asarray(ensemble.rows[i]), np.asarray(ensemble.rows[j])
        joined = (first == second) & (first < ensemble.n_clusters)
        of_pairs[start : start + step] = _rhat(joined[:, halves].astype(np.float64))
    numbers = ensemble.n_clusters.astype(np.float64)
    return ChainAgreement(
        *(_normalised_rhat(losses[halves]), _normalised_rhat(numbers[halves]), pairs, of_pairs),
        *(len(halves) // 2, halves.shape[1], _large_by_chance(*halves.shape)),
    )


def _large_by_chance(n_halves: int, N: int) -> float:
    """Probability of `LARGE` for independent draws: N (R-hat² - 1) + 1 is about as F."""
    from scipy.stats import f as f_distribution

    return float(f_distribution.sf(N * (LARGE**2 - 1) + 1, n_halves - 1, n_halves * (N - 1)))


def _random_pairs(n: int, q: int, random: np.random.RandomState) -> NDArray[np.intp]:
    """(≤ q, 2) different pairs i < j."""
    total = n * (n - 1) // 2
    if total <= q:
        return np.stack(np.triu_indices(n, 1), axis=1)
    chosen = np.empty(0, dtype=np.int64)
    while len(chosen) < q:  # of few pairs some come twice
        drawn = np.sort(random.randint(n, size=(2 * q, 2)), axis=1)
        drawn = drawn[drawn[:, 0] < drawn[:, 1]]
        keys = np.concatenate([chosen, drawn[:, 0] * np.int64(n) + drawn[:, 1]])
        _, first = np.unique(keys, return_index=True)
        chosen = keys[np.sort(first)][:q]
    return np.stack(np.divmod(chosen, n), axis=1)
