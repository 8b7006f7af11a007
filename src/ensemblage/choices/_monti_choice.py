"""How many clusters: Monti's consensus clustering over a range of k, against data without clusters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array, check_random_state

from ensemblage.base.above import figure
from ensemblage.base.features import features_checked
from ensemblage.base.memory import MAX_BYTES, OVERHEAD, check_fits
from ensemblage.base.random import task_seeds
from ensemblage.base.validation import check_choice, check_progress, check_whole
from ensemblage.consensus.hierarchies._eac import EvidenceAccumulation
from ensemblage.consensus.hierarchies._linkage import LINKAGES
from ensemblage.generation import ResampledPartitions
from ensemblage.labels.ensemble import Ensemble
from ensemblage.metrics._coassociation import coassociation
from ensemblage.metrics._monti import cdf_area, consensus_cdf, delta_of_areas, pac_of
from ensemblage.stability._reference import UnimodalComponents
from ensemblage.stability._resamples import Axes
from ensemblage.stability._strength import check_k_range

STABLE = 0.01
"""A share of ambiguous pairs that is practically none."""

FRACTION = 0.8
"""Part of the objects in a subsample."""
REFERENCE_DATA = "gaussian"
MONTI_RANGE, MONTI_REFERENCES = range(2, 11), 20
"""Numbers of clusters that are compared, and data sets without clusters."""
_REFERENCES = ("gaussian", "unimodal", "features")
_MOST_REFERENCES = 100_000


class MontiRow(NamedTuple):
    """What a number of clusters is worth by Monti's consensus clustering."""

    k: int
    pac: float
    """Share of ambiguous pairs (`metrics.pac`); small is stable."""
    area: float
    """Area under the consensus distribution, exact."""
    delta_area: float
    """Its relative growth from the k before (`metrics.delta_area`, rule "exact")."""
    reference_pac: float | None
    """Mean PAC of the data without clusters."""
    rcsi: float | None
    """Relative cluster stability index: mean log10 of the reference's PAC less log10 of the PAC; large is stable. A PAC
    below 0.01 counts as 0.01."""
    p_value: float | None
    """Share of the references, and the data themselves, whose PAC is at most as large."""
    p_value_beta: float | None
    """The same by a beta distribution with mean and variance of the references' PAC."""


@dataclass(frozen=True)
class MontiChoice:
    """Numbers of clusters compared by Monti's consensus clustering."""

    best: int
    """The largest k with a PAC below 0.01 that no reference reaches; if there is none, the k with the largest ``rcsi``;
    without references, the k with the least PAC."""
    table: list[MontiRow]
    """One row per k, ascending."""
    ensembles: dict[int, Ensemble]
    """The resampled partitions of each k."""

    def plot(self, kind: str = "pac", *, ax: Any = None) -> Any:
        """Draw the consensus of the resamples by the number of clusters.

        Parameters
        ----------
        kind : {"pac", "cdf", "delta_area"}, default "pac"
            "pac": share of ambiguous pairs, and that of data without clusters. "cdf": the consensus distribution of
            each number. "delta_area": the growth of the area under it.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        matplotlib Axes
            Where it was drawn.
        """
        return figure(self, kind, ax=ax)

    def to_consensus_cluster_plus(
        self, *, linkage: str = "average", max_bytes: int | str = MAX_BYTES
    ) -> dict[int, dict[str, Any]]:
        """The results of each k in the shape of R's ConsensusClusterPlus, for code that plots or reads those.

        From R, with reticulate: ``structure(result$consensusTree, class = "hclust")`` is a tree that ``plot``,
        ``cutree`` and ``heatmap`` take.

        Parameters
        ----------
        linkage : {"single", "average", "complete"}, default "average"
            How the tree is made of 1 - ``consensusMatrix``: ``finalLinkage`` of ConsensusClusterPlus.
        max_bytes : int or str, default 2 GiB
            Most memory to take beyond the labels, in bytes or as "4GB": 8 n² bytes for each k, and 40 n² on the way.

        Returns
        -------
        dict of int to dict
            For each k: ``consensusMatrix``, an ndarray of shape (n, n), the share of the subsamples with both objects
            that put them into one cluster; ``consensusTree``, a dict with ``merge``, ``height``, ``order``, ``labels``
            and ``method`` of R's hclust; ``consensusClass``, an ndarray of shape (n,), clusters from 1, numbered by
            their first object as R's cutree does.

        Raises
        ------
        ValueError
            If it would take more than ``max_bytes``, or ``linkage`` is none of these.

        Warns
        -----
        UserWarning
            If some pair of objects never was in one subsample: its entry is 0.

        Notes
        -----
        O(n² p) time for each k, and O(n²) for the linkage. Of many objects take ``table`` and ``ensembles``. Colours
        (``clrs``) and the second copy of the matrix (``ml``) are left out.

        References
        ----------
        M. D. Wilkerson and D. N. Hayes, "ConsensusClusterPlus: a class discovery tool with confidence assessments and
        item tracking", Bioinformatics 26, 2010.

        Examples
        --------
        >>> from ensemblage import choose_k
        >>> X = [[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]]
        >>> choice = choose_k(X, [2], method="monti", n_partitions=20, n_references=0, random_state=0)
        >>> found = choice.to_consensus_cluster_plus()
        >>> found[2]["consensusClass"]
        array([1, 1, 1, 2, 2, 2], dtype=int32)
        >>> found[2]["consensusMatrix"][0]
        array([1., 1., 1., 0., 0., 0.])
        """
        check_choice(linkage, "linkage of to_consensus_cluster_plus", LINKAGES)
        n = len(next(iter(self.ensembles.values())))
        needed = OVERHEAD + 8 * n * n * (len(self.ensembles) + 5)
        what = f"{len(self.ensembles)} matrices of {n:,} objects"
        check_fits(needed, max_bytes, "to_consensus_cluster_plus", what, "Raise it, or take table and ensembles.")
        found = {}
        for k, ensemble in self.ensembles.items():
            matrix = coassociation(ensemble, max_bytes=max_bytes)
            model = EvidenceAccumulation(k, linkage=linkage, max_bytes=max_bytes).fit_similarity(matrix)
            found[k] = {
                "consensusMatrix": matrix,
                "consensusTree": hclust(model.linkage_matrix_, linkage),
                "consensusClass": numbers_by_first(model.labels_),
            }
        return found


def choose_k_monti(
    X: ArrayLike | Any,
    k_range: Iterable[int] = MONTI_RANGE,
    *,
    n_partitions: int = 50,
    fraction: float = FRACTION,
    estimator: Any = None,
    reference_data: str = REFERENCE_DATA,
    n_references: int = MONTI_REFERENCES,
    n_jobs: int | None = None,
    random_state: Any = None,
    progress: Callable[[int, int], None] | None = None,
) -> MontiChoice:
    """`choose_k` with ``method="monti"``, whose docstring has the parameters; X: (n, m) features."""
    with features_checked("X of choose_k", X):
        data = check_array(X, dtype=np.float64, ensure_min_samples=4)
    ks = check_k_range(k_range, "choose_k", 2)
    check_choice(reference_data, "reference_data of choose_k", _REFERENCES)
    check_whole(n_references, "n_references of choose_k", 0, _MOST_REFERENCES)
    check_progress(progress, "progress of choose_k")
    seed, *reference_seeds = (int(s) for s in task_seeds(random_state, 1 + n_references))
    n_made = 0

    def report_progress(done: int, of_generator: int) -> None:
        nonlocal n_made
        if progress is not None:
            progress(n_made + done, (1 + n_references) * len(ks) * of_generator)
        n_made += of_generator if done == of_generator else 0

    def ensembles_of(features: NDArray[np.float64], seed: int) -> dict[int, Ensemble]:
        given = {"fraction": fraction, "estimator": estimator, "n_jobs": n_jobs}
        settings = given | {"random_state": seed, "progress": report_progress}
        generators = {k: ResampledPartitions(n_partitions, n_clusters=k, **settings) for k in ks}
        return {k: Ensemble._made(generator.fit_transform(features)) for k, generator in generators.items()}

    def pac_by_k(ensembles: dict[int, Ensemble]) -> dict[int, float]:
        return {k: pac_of(*consensus_cdf(ensemble)) for k, ensemble in ensembles.items()}

    found = ensembles_of(data, seed)
    references = [pac_by_k(ensembles_of(draw_reference(data, reference_data, s), s)) for s in reference_seeds]
    return summarize_choice(found, references)


def summarize_choice(ensembles: dict[int, Ensemble], references: Sequence[dict[int, float]] = ()) -> MontiChoice:
    """The table of ensembles that exist already, with the PAC by k of each reference."""
    ks = sorted(ensembles)
    distributions = {k: consensus_cdf(ensembles[k]) for k in ks}
    areas = {k: cdf_area(*distributions[k]) for k in ks}
    growth = delta_of_areas(areas)
    table = []
    for k in ks:
        ambiguous = pac_of(*distributions[k])
        compared = (
            _compare_with_references(ambiguous, np.array([r[k] for r in references])) if references else (None,) * 4
        )
        table.append(MontiRow(k, ambiguous, areas[k], growth[k], *compared))
    return MontiChoice(_best(table, len(references)), table, ensembles)


def _best(table: list[MontiRow], n_references: int) -> int:
    stable = [row.k for row in table if row.pac <= STABLE and row.p_value == 1 / (1 + n_references)]
    if n_references and stable:
        return max(stable)
    return max(table, key=lambda row: -row.pac if row.rcsi is None else row.rcsi).k


def _compare_with_references(ambiguous: float, references: NDArray[np.float64]) -> tuple[float, float, float, float]:
    """Mean of the references, RCSI and both p-values."""
    from scipy.stats import beta

    rcsi = float(np.log10(np.maximum(references, STABLE)).mean() - np.log10(max(ambiguous, STABLE)))
    n_as_stable, n = np.count_nonzero(references <= ambiguous), len(references)
    mean, variance = float(references.mean()), float(references.var(ddof=1)) if n > 1 else 0.0
    if variance <= 0 or variance >= mean * (1 - mean):
        p_value_beta = float(np.mean(references <= ambiguous))
    else:
        spread = mean * (1 - mean) / variance - 1
        p_value_beta = float(beta.cdf(ambiguous, mean * spread, (1 - mean) * spread))
    return mean, rcsi, float((1 + n_as_stable) / (1 + n)), p_value_beta


def draw_reference(data: NDArray[np.float64], reference: str, seed: int) -> NDArray[np.float64]:
    """Data like these without clusters."""
    random = check_random_state(seed)
    if reference == "features":
        return np.column_stack([random.permutation(column) for column in data.T])
    if reference == "unimodal":
        return UnimodalComponents(data).draw(seed)
    axes = Axes.of(data)
    scores = random.standard_normal(axes.scores.shape) * axes.scores.std(axis=0, ddof=1)
    return np.asarray(scores @ axes.directions + axes.centre)


# -- a hierarchy and its clusters as R has them ------------------------------------------------------------------------


def hclust(merges: NDArray[np.float64], method: str) -> dict[str, Any]:
    """The elements of R's class "hclust" from a linkage matrix in SciPy's format, (n - 1, 4).

    Returns
    -------
    dict
        ``merge``, (n - 1, 2): a negative number is an object, a positive one an earlier step, both from 1; ``height``,
        (n - 1,), ascending; ``order``, (n,): objects from 1 as a dendrogram without crossings shows them; ``labels``:
        None; ``method``: the linkage.
    """
    n = len(merges) + 1
    # Objects stand before steps, and each kind by its number, as SciPy numbers both.
    pairs = np.sort(merges[:, :2].astype(np.int64), axis=1)
    merge = np.where(pairs < n, -pairs - 1, pairs - n + 1).astype(np.int32)
    # Rounding may put a mean below the one before by the last bit, which R's cutree refuses.
    height = np.maximum.accumulate(merges[:, 2])
    return {"merge": merge, "height": height, "order": leaves(pairs) + 1, "labels": None, "method": method}


def leaves(pairs: NDArray[np.int64]) -> NDArray[np.int32]:
    """(n,) leaves from left to right, of steps in SciPy's numbers, (n - 1, 2)."""
    n = len(pairs) + 1
    found, stack = [], [2 * n - 2]
    while stack:
        node = stack.pop()
        if node < n:
            found.append(node)
        else:
            left, right = pairs[node - n]
            stack += [right, left]
    return np.array(found, dtype=np.int32)


def numbers_by_first(labels: NDArray[Any]) -> NDArray[np.int32]:
    """(n,) clusters from 1, numbered as cutree numbers them: by their first object."""
    _, first, codes = np.unique(labels, return_index=True, return_inverse=True)
    return (np.argsort(np.argsort(first))[codes] + 1).astype(np.int32)
