"""Several modes of consensus: groups of partitions that tell the same, by minimum description length."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass, field
from itertools import combinations
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import cut_tree, linkage
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import squareform
from scipy.special import gammaln
from sklearn.utils.validation import validate_data

from ensemblage.base.memory import MAX_BYTES, OVERHEAD, Need, check_fits
from ensemblage.base.sklearn import BaseEstimator
from ensemblage.base.text import listing
from ensemblage.base.validation import Bytes, Constraints, Jobs, check_fitted, check_parameters, takes_labels
from ensemblage.consensus._base import numbers_by_size
from ensemblage.counting._contingency import ContingencyTables, table_cells, tables_of_rows
from ensemblage.kernels._votes import add_logs_of_counts, plurality, tally_places
from ensemblage.labels.blocks import in_memory
from ensemblage.labels.ensemble import as_ensemble
from ensemblage.labels.rows import Rows, labelled_rows
from ensemblage.metrics._partition_distance import check_cells, maximum_overlap

LEAST_GAIN = 1e-9
"""Nats by which a move must shorten the description."""
MOST_MODES = 20
"""Cuts of the hierarchy of partitions that are tried."""
RESTART_CODES = 20_000_000
"""Codes that the new alignments of a mode may read, w² m each for w members and m distinct rows: tenths of a second."""
NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


class Partitions:
    """The partitions as the modes see them."""

    def __init__(self, rows: Rows, codes: NDArray[Any]) -> None:
        """codes : (m, p)"""
        self.codes, self.counts, self.n_clusters = codes, rows.counts, rows.n_clusters
        self.n_objects, self.p = int(rows.counts.sum()), codes.shape[1]
        self.logs = np.log(np.arange(1.0, self.p + 2))
        self.log_factorials = gammaln(np.arange(self.p + 1) + 1.0)
        by_partition = zip(codes.T, self.n_clusters, strict=True)
        self.sizes = [np.bincount(column, rows.counts, minlength=k + 1)[:k] for column, k in by_partition]
        """Per partition (k,) objects of its clusters."""


class Place(NamedTuple):
    """What a mode was with a partition that was taken out."""

    own: NDArray[np.int32]
    """(K + 1,) the labels it had."""
    users: NDArray[np.int64]
    of_labels: NDArray[np.int64]
    of_totals: NDArray[np.int64]


class Mode:
    """Partitions aligned to common labels, n_i(r) of them giving row i the label r."""

    def __init__(self, data: Partitions) -> None:
        self.data = data
        self.members: list[int] = []
        self.label_of = np.full((data.p, int(data.n_clusters.max()) + 1), -1, dtype=np.int32)
        """(p, K + 1) label of each cluster of a member; -1 where it has none, and for a missing entry."""
        self.users = np.zeros(0, dtype=np.int64)
        """(B,) members that use each label."""
        self.of_labels = np.zeros(data.p + 1, dtype=np.int64)
        """Objects and labels with each n_i(r) from 1."""
        self.of_totals = np.zeros(data.p + 1, dtype=np.int64)
        """Objects with each M_i = Σ_r n_i(r) from 1."""

    def __len__(self) -> int:
        return len(self.members)

    @property
    def description(self) -> float:
        """S_mode in nats: ln n + Σ_i [ln Γ(M_i + B) - ln Γ(B) - Σ_r ln n_i(r)!]."""
        return self._description(self.of_labels, self.of_totals, int((self.users > 0).sum()))

    def _description(self, of_labels: NDArray[np.int64], of_totals: NDArray[np.int64], n_used: int) -> float:
        data, M = self.data, np.arange(self.data.p + 1)
        of_rows = of_totals @ (gammaln(M + n_used) - gammaln(n_used)) if n_used else 0.0
        return float(np.log(data.n_objects) + of_rows - of_labels @ data.log_factorials)

    @property
    def _members(self) -> NDArray[np.int64]:
        return np.array(self.members, dtype=np.int64)

    def align_partition(self, j: int) -> NDArray[np.int32]:
        """(K + 1,) the labels with which a partition that is no member lengthens the description least.

        The weight of cluster a and label r is Σ ln(n_i(r) + 1) over the objects of a: what the label saves. Clusters
        without a positive one get the labels in use that nobody got, the largest cluster the commonest: n_i(r)! stays
        1 as with an unused label, and B stays as small as it can be. Only what is left gets unused labels.
        """
        data, sizes = self.data, self.data.sizes[j]
        weights = np.zeros((len(sizes), len(self.users)))
        found = np.zeros(len(self.users), dtype=np.int64)
        add_logs_of_counts(data.codes, data.counts, self._members, self.label_of, j, data.logs, found, weights)
        own = np.full(self.label_of.shape[1], -1, dtype=np.int32)
        for a, r in zip(*linear_sum_assignment(weights, maximize=True), strict=True):
            if weights[a, r] > 0:
                own[a] = r
        left = np.flatnonzero((own[: len(sizes)] < 0) & (sizes > 0))
        uses = np.append(self._uses(), np.zeros(len(left)))
        free = np.setdiff1d(np.arange(len(uses)), own)
        by_use = free[np.argsort(-uses[free], kind="stable")]
        own[left[np.argsort(-sizes[left], kind="stable")]] = by_use[: len(left)]
        return own

    def _uses(self) -> NDArray[np.float64]:
        """(B,) objects that the members give each label, each as often as members do."""
        uses = np.zeros(len(self.users))
        for j in self.members:
            own = self.label_of[j, : len(self.data.sizes[j])]
            np.add.at(uses, own[own >= 0], self.data.sizes[j][own >= 0])
        return uses

    def description_with(self, j: int, own: NDArray[np.int32]) -> float:
        """S_mode with another partition among its members."""
        users = np.append(self.users, np.zeros(len(own), dtype=np.int64))
        users[own[own >= 0]] += 1
        return self._description(*self._grow(j, own, 1), int((users > 0).sum()))

    def _grow(self, j: int, own: NDArray[np.int32], step: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """``of_labels`` and ``of_totals`` when a partition that is no member is counted (step 1), or no more (-1)."""
        of_labels, of_totals = np.zeros((2, self.data.p + 1), dtype=np.int64)
        data = self.data
        tally_places(data.codes, data.counts, self._members, self.label_of, j, own, of_labels, of_totals)
        grown = self.of_labels.copy(), self.of_totals.copy()
        for known, moved in zip(grown, (of_labels, of_totals), strict=True):
            known[1:] += step * moved[:-1]  # what was v is v + 1; there is no entry for 0
            known[1:] -= step * moved[1:]
        return grown

    def add(self, j: int, own: NDArray[np.int32]) -> None:
        """Make a partition a member."""
        more = int(own.max(initial=-1)) + 1 - len(self.users)
        self.users = np.append(self.users, np.zeros(max(0, more), dtype=np.int64))
        self.users[own[own >= 0]] += 1
        self.of_labels, self.of_totals = self._grow(j, own, 1)
        self.members.append(j)
        self.label_of[j] = own

    def remove(self, j: int) -> Place:
        """Make it none any more."""
        place = Place(self.label_of[j].copy(), self.users.copy(), self.of_labels, self.of_totals)
        self.members.remove(j)
        self.users[place.own[place.own >= 0]] -= 1
        self.of_labels, self.of_totals = self._grow(j, place.own, -1)
        return place

    def put_back(self, j: int, place: Place) -> None:
        """Undo `remove`."""
        self.members.append(j)
        self.label_of[j], self.users, self.of_labels, self.of_totals = place

    @classmethod
    def of(cls, data: Partitions, members: Iterable[int]) -> Mode:
        """The mode of some partitions, each aligned to those before it, then all to the others until nothing falls."""
        mode = cls(data)
        for j in members:
            mode.add(j, mode.align_partition(j))
        mode.align()
        return mode

    def align(self) -> None:
        """Align each member to the others again until the description gets no shorter."""
        least, before = self.description, np.inf
        while least < before - LEAST_GAIN and len(self) > 1:
            before = least
            for j in list(self.members):
                place = self.remove(j)
                own = self.align_partition(j)
                found = least if (own == place.own).all() else self.description_with(j, own)
                if found < least - LEAST_GAIN:
                    self.add(j, own)
                    least = found
                else:
                    self.put_back(j, place)

    def restart(self) -> Mode:
        """The shortest of this mode and of those that are aligned anew, each with another member first."""
        w = len(self)
        n_starts = min(w, RESTART_CODES // (w * w * len(self.data.counts)))
        orders = ([j, *(i for i in self.members if i != j)] for j in self.members[:n_starts])
        return min([self, *(Mode.of(self.data, order) for order in orders)], key=lambda mode: mode.description)

    def consensus(self) -> tuple[NDArray[np.int32], float]:
        """(m,) clusters of the rows by what most members tell, by size; and 1 - the mean share that tells it.

        On ties the label that the members give to more objects: it does not hang on names.
        """
        counts, m = self.data.counts, len(self.data.counts)
        rank = np.argsort(np.argsort(-self._uses(), kind="stable"))
        labels, shares = np.empty(m, dtype=np.int64), np.empty(m)
        found = np.zeros(len(self.users), dtype=np.int64)
        plurality(self.data.codes, self._members, self.label_of, rank, found, labels, shares)
        labelled = labels >= 0
        clusters = np.full(m, -1)
        clusters[labelled] = np.unique(labels[labelled], return_inverse=True)[1]
        number = np.append(numbers_by_size(clusters, counts), -1)
        sure = counts[labelled] @ shares[labelled] / counts[labelled].sum()
        return number[clusters].astype(np.int32), float(1 - sure)


def partition_description(sizes: Sequence[int]) -> float:
    """S_part in nats, of partitions put into modes of these sizes: ln p + ln C(p - 1, Q - 1) + ln p! - Σ ln w_q!."""
    p, n_modes = sum(sizes), len(sizes)
    chosen = gammaln(p) - gammaln(n_modes) - gammaln(p - n_modes + 1)
    return float(np.log(p) + chosen + gammaln(p + 1) - gammaln(np.asarray(sizes) + 1.0).sum())


class Division:
    """All partitions in modes."""

    def __init__(self, modes: Sequence[Mode]) -> None:
        self.modes = [*modes]

    @property
    def description(self) -> float:
        """Σ in nats, what is minimised."""
        return sum(mode.description for mode in self.modes) + partition_description([len(mode) for mode in self.modes])

    def move(self, j: int) -> bool:
        """Give a partition to the mode, or to a new one, with which Σ is least; whether that is another than before."""
        before = self.description
        own = next(mode for mode in self.modes if j in mode.members)
        place = own.remove(j)
        others = [mode for mode in self.modes if len(mode)]
        candidates = [*others, Mode(own.data)]
        fixed, sizes = [*(mode.description for mode in others), 0.0], [*map(len, others), 0]
        least, chosen = before, None
        for q, mode in enumerate(candidates):
            labels = mode.align_partition(j)
            if mode is own and (labels == place.own).all():
                continue
            in_modes = partition_description([size + (i == q) for i, size in enumerate(sizes) if size or i == q])
            found = sum(fixed) - fixed[q] + mode.description_with(j, labels) + in_modes
            if found < least - LEAST_GAIN:
                least, chosen = found, (mode, labels)
        if chosen is None:
            own.put_back(j, place)
            return False
        mode, labels = chosen
        mode.add(j, labels)
        self.modes = [known for known in dict.fromkeys([*self.modes, mode]) if len(known)]
        return True

    def merge(self) -> bool:
        """Unite the two modes with which Σ falls most; whether it falls."""
        least, chosen = self.description - LEAST_GAIN, None
        sizes = [len(mode) for mode in self.modes]
        own = [mode.description for mode in self.modes]
        for a, b in combinations(range(len(self.modes)), 2):
            united = Mode.of(self.modes[a].data, [*self.modes[a].members, *self.modes[b].members])
            left = [i for i in range(len(self.modes)) if i not in (a, b)]
            found = sum(own[i] for i in left) + united.description
            found += partition_description([*(sizes[i] for i in left), len(united)])
            if found < least:
                least, chosen = found, [*(self.modes[i] for i in left), united]
        self.modes = self.modes if chosen is None else chosen
        return chosen is not None

    def restart(self) -> bool:
        """Align the modes anew; whether Σ falls."""
        before = self.description
        self.modes = [mode.restart() for mode in self.modes]
        return self.description < before - LEAST_GAIN

    def improve(self, order: Sequence[int]) -> None:
        """Move partitions, in an order, merge modes and align them anew until nothing helps."""
        moved = True
        while moved:
            moves = [self.move(j) for j in order]
            moved = any(moves) or self.merge() or self.restart()


def overlaps(tables: ContingencyTables, p: int) -> NDArray[np.float64]:
    """(p, p) maximum overlap t of every two partitions, as a share of the objects that both label."""
    found = np.eye(p)
    for i, j in combinations(range(p), 2):
        table = tables.table(i, j)[:-1, :-1]
        found[i, j] = found[j, i] = maximum_overlap(table) / max(1, int(table.sum()))
    return found


def least_description(data: Partitions, shared: NDArray[np.float64]) -> Division:
    """The best division that is found: cuts of average linkage by overlaps, (p, p), and moves from the best of them."""
    # By content, whatever names and places the partitions have.
    order = sorted(range(data.p), key=lambda j: (sorted(data.sizes[j]), shared[j].sum(), j))
    if data.p == 1:
        return Division([Mode.of(data, order)])
    tree = linkage(squareform(1 - shared[np.ix_(order, order)], checks=False), "average")
    least, known = np.inf, dict[tuple[int, ...], float]()
    best: list[tuple[int, ...]] = []
    for cut in cut_tree(tree, range(1, min(data.p, MOST_MODES) + 1)).T:
        groups = [tuple(order[i] for i in np.flatnonzero(cut == q)) for q in range(cut.max() + 1)]
        for group in groups:  # all but two were there in the cut before
            known[group] = known[group] if group in known else Mode.of(data, group).description
        found = sum(known[group] for group in groups) + partition_description([*map(len, groups)])
        if found < least - LEAST_GAIN:
            least, best = found, groups
    division = Division([Mode.of(data, group) for group in best])
    division.improve(order)
    return division


@dataclass(eq=False, repr=False)
class ConsensusModes(BaseEstimator):
    """Use it if members may contradict each other: groups of partitions, each with its own consensus.

    Where partitions disagree about the whole, and not about some objects, their consensus may be none that any of them
    tells. This finds the number of modes, too: that of the shortest description of all partitions.

    Parameters
    ----------
    max_bytes : int or str, default 2 GiB
        Most memory that the fit takes at its peak beyond the labels, in bytes or as text such as "4GB"; a fit that
        would take more is refused.
    n_jobs : int, optional
        Threads. -1: every core that this process may use; -2: all but one. None: what a ``joblib.parallel_config``
        says; without one every core, or 1 inside a parallel loop of joblib or scikit-learn. The result does not depend
        on it.

    Attributes
    ----------
    n_modes_ : int
        Number of modes.
    modes_ : ndarray of shape (n_partitions,)
        Mode of each partition, 0 the one with most of them.
    weights_ : ndarray of shape (n_modes_,)
        Share of the partitions in each mode.
    labels_ : ndarray of shape (n_objects, n_modes_), int32
        Of each mode what most of its partitions tell, clusters numbered by decreasing size; -1 for an object that none
        of them labels.
    uncertainty_ : ndarray of shape (n_modes_,)
        1 - the mean share of the partitions of a mode that give an object its label.
    n_effective_ : float
        Effective number of modes, the exponential of the entropy of ``weights_``.
    description_ : float
        Length of the description, in nats. Least is best.
    names_in_ : ndarray of str
        Names of the members.
    n_features_in_ : int
        Number of partitions.

    Raises
    ------
    ValueError
        If the fit would take more than ``max_bytes``, or the contingency tables of all pairs of partitions have more
        than 2²⁸ cells.

    See Also
    --------
    ensemblage.metrics.partition_distances : How far the partitions are from each other.

    Notes
    -----
    The partitions of a mode are aligned to common labels; r of B labels has n_i(r) of them for object i, M_i in all.
    Described are S_mode = ln n + Σ_i [ln Γ(M_i + B) - ln Γ(B) - Σ_r ln n_i(r)!] for each mode and, for the modes of
    sizes w_q that the p partitions are in, ln p + ln C(p - 1, Q - 1) + ln p! - Σ ln w_q!. Sought is the least sum,
    deterministically: average linkage of the partitions by 1 - their maximum overlap, cut into 1 to 20 modes; the
    cut with the least sum; from there moves of a partition to another or a new mode, unions of two modes, and
    alignments anew with another member first, until nothing falls by more than 10⁻⁹. The paper samples. Of 400
    ensembles of 4 to 12 objects whose least sum is known, 399 reach it.

    O(p² k³ + n p²) time for overlaps, O(p² m) for a round of moves of m distinct label rows; 64 m bytes and the
    contingency tables. 100,000 objects with 50 partitions of 20 clusters take some 15 s. Missing labels count
    nowhere. Of 100 ensembles with one planted story none was split with up to half of the labels drawn anew, where all
    partitions have as many clusters as the story; partitions that merge or split its clusters are stories of their own.
    Of 100 with two stories in the ratio 4 to 6 all were found.

    References
    ----------
    T. P. Peixoto, "Revealing consensus and dissensus between network partitions", Physical Review X 11, 021003, 2021.

    Examples
    --------
    >>> import numpy as np
    >>> from ensemblage.consensus import ConsensusModes
    >>> one, other = np.repeat([0, 1], 20), np.tile([0, 1], 20)
    >>> model = ConsensusModes().fit(np.column_stack([one, one, one, other, 1 - other]))
    >>> model.modes_
    array([0, 0, 0, 1, 1])
    >>> print(model.sentence)
    These partitions tell two stories: 3 of 5 the first, 2 the second.
    """

    _parameter_constraints: ClassVar[Constraints] = {"max_bytes": [Bytes()], "n_jobs": [Jobs()]}

    _: KW_ONLY
    max_bytes: int | str = MAX_BYTES
    n_jobs: int | None = None

    n_modes_: int = field(init=False)
    modes_: NDArray[np.int64] = field(init=False)
    weights_: NDArray[np.float64] = field(init=False)
    labels_: NDArray[np.int32] = field(init=False)
    uncertainty_: NDArray[np.float64] = field(init=False)
    n_effective_: float = field(init=False)
    description_: float = field(init=False)
    names_in_: NDArray[Any] = field(init=False)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the modes of a label matrix.

        Parameters
        ----------
        X : array-like, data frame or Ensemble of shape (n_objects, n_partitions)
            Labels. -1, NaN and None mean that the partition did not label the object.
        y : None
            Ignored.

        Returns
        -------
        self
            The fitted estimator.
        """
        check_parameters(self)
        ensemble = as_ensemble(X)
        validate_data(self, X, skip_check_array=True)
        rows = labelled_rows(ensemble, np.ones(ensemble.shape[1]))
        codes = in_memory(rows.codes, "ConsensusModes", "it on some of the objects", because=": it compares all rows")
        check_cells(table_cells(rows.n_clusters), "ConsensusModes", "")
        need = self._bytes(rows)
        check_fits(need.n_bytes, self.max_bytes, "ConsensusModes", need.what, need.advice)
        data = Partitions(rows, codes)
        tables = tables_of_rows(rows.codes, rows.counts, rows.n_clusters, self.n_jobs)
        found = least_description(data, overlaps(tables, data.p))
        modes = sorted(found.modes, key=lambda mode: (-len(mode), min(mode.members)))
        self.names_in_ = np.array(ensemble.names, dtype=object)
        self.n_modes_, self.description_ = len(modes), found.description
        self.modes_ = np.empty(data.p, dtype=np.int64)
        for q, mode in enumerate(modes):
            self.modes_[mode.members] = q
        self.weights_ = np.bincount(self.modes_) / data.p
        self.n_effective_ = float(np.exp(-(self.weights_ * np.log(self.weights_)).sum()))
        noted = [mode.consensus() for mode in modes]
        self.labels_ = np.column_stack([rows.of_objects(labels, -1) for labels, _ in noted])
        self.uncertainty_ = np.array([uncertainty for _, uncertainty in noted])
        return self

    def _bytes(self, rows: Rows) -> Need:
        """Of the contingency tables, the labels of the modes that are compared, and what has a number for each row."""
        (m, p), most = rows.codes.shape, int(rows.n_clusters.max())
        of_tables = 8 * table_cells(rows.n_clusters) + 8 * p * p
        of_modes = 8 * p * min(p, MOST_MODES + 2) * (most + 6) + 64 * m
        advice = (
            "Raise max_bytes, leave out the partitions with the most clusters, or use KMeansConsensus, which makes no "
            "table of two partitions."
        )
        return Need(OVERHEAD + of_tables + of_modes, f"the modes of {m:,} label rows", advice)

    @property
    def sentence(self) -> str:
        """What was found, for people."""
        check_fitted(self)
        sizes = np.bincount(self.modes_).tolist()
        p, n = sum(sizes), self.n_modes_
        number = NUMBERS[n] if n < len(NUMBERS) else str(n)
        if n == 1:
            return "These partitions tell one story." if p > 1 else "One partition tells one story."
        if n == 2:
            return f"These partitions tell two stories: {sizes[0]} of {p} the first, {sizes[1]} the second."
        return f"These partitions tell {number} stories: {sizes[0]} of {p} the first, {listing(sizes[1:])} the others."

    def __sklearn_tags__(self) -> Any:
        return takes_labels(super().__sklearn_tags__())
