"""How clear the number of clusters is, and the soft memberships of a voting consensus."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from ensemblage import plotting
from ensemblage._ensemble import Ensemble
from ensemblage._random import task_seeds
from ensemblage.consensus import EvidenceAccumulation
from ensemblage.consensus._voting import VotingConsensus
from ensemblage.metrics import membership_entropy
from ensemblage.report._layout import Picture, Section, Table, counted, number, percent
from ensemblage.report._shown import points_chosen, rows_shown
from ensemblage.report._svg import to_svg

Summary = Mapping[str, Any]

_MOST_ALTERNATIVES = 15
_MOST_MERGES = 200
_CLEAR, _FAIR = 2.0, 1.2
_LEAST_TO_HALVE, _MOST_OBJECTS = 8, 10_000


def choice_of_k(ensemble: Ensemble, consensus: Any, n_refits: int, random_state: Any) -> dict[str, Any] | None:
    """The numbers of clusters that live longest in the consensus's hierarchy, and those that half an ensemble gives.

    None if the consensus has no lifetimes.
    """
    if not isinstance(consensus, EvidenceAccumulation | VotingConsensus) or not consensus.lifetimes_:
        return None
    lives: Mapping[int, float] = consensus.lifetimes_
    longest = sorted(lives, key=lambda k: -lives[k])[:_MOST_ALTERNATIVES]
    found = consensus.n_clusters is None
    return {
        "found": found,
        "asked": consensus.n_clusters if consensus.n_clusters is None else int(consensus.n_clusters),
        "lifetimes": [[int(k), float(lives[k])] for k in longest],
        "halves": _choices_of_halves(ensemble, consensus, n_refits, random_state) if found else [],
    }


def _choices_of_halves(ensemble: Ensemble, consensus: Any, n_refits: int, random_state: Any) -> list[int]:
    """The number that the method finds in random halves of the partitions, on a sample of the objects."""
    n, p = ensemble.shape
    if p < _LEAST_TO_HALVE or not n_refits:
        return []
    random = np.random.RandomState(task_seeds(random_state, 1)[0])
    weights = np.ones(p) if consensus.weights is None else np.asarray(consensus.weights)
    halves = [np.sort(random.choice(p, (p + 1) // 2, replace=False)) for _ in range(n_refits)]
    found = []
    try:
        sample = ensemble if n <= _MOST_OBJECTS else ensemble[np.sort(random.choice(n, _MOST_OBJECTS, replace=False))]
        for half in halves:
            model = clone(consensus).set_params(weights=weights[half]).fit(sample.select(half))
            if not model.lifetimes_:  # no partition of three clusters: nothing to choose from
                return []
            found.append(int(model.n_clusters_))
    except ValueError:  # half of them is too little: nothing labelled
        return []
    return found


def how_clear(choice: Mapping[str, Any], n_clusters: int) -> str:
    """The longest lifetime against the second longest, as a sentence; and how many clusters of it have objects."""
    return " ".join([_verdict(choice, n_clusters), *_share_of_halves(choice["halves"], n_clusters)])


def _verdict(choice: Mapping[str, Any], n_clusters: int) -> str:
    k, life = choice["lifetimes"][0]
    if not choice["found"] or n_clusters == k:
        return _longest_against_second(choice)
    are = "is" if n_clusters == 1 else "are"
    return (
        f"{k} clusters live longest ({number(life)}), but only {n_clusters} of them {are} the most likely one of any "
        f"object: {counted(n_clusters, 'cluster')}, and no clear choice."
    )


def _share_of_halves(halves: Sequence[int], n_clusters: int) -> list[str]:
    if not halves:
        return []
    n_alike = halves.count(n_clusters)
    give = "gives" if n_alike == 1 else "give"
    return [f"{n_alike} of {len(halves)} random halves of the partitions {give} {n_clusters}, too."]


def _longest_against_second(choice: Mapping[str, Any]) -> str:
    (k, life), *others = choice["lifetimes"]
    if not others:
        return f"{k} clusters is the only number that the hierarchy offers."
    second, shorter = others[0]
    if shorter <= 0:
        return (
            f"{k} clusters is the only number with a lifetime ({number(life)})."
            if life > 0
            else "No number stands out."
        )
    ratio = life / shorter
    verdict = "a clear choice" if ratio >= _CLEAR else "a fair choice" if ratio >= _FAIR else "a close call"
    return (
        f"{k} clusters live {ratio:.3g} times as long as the next best, {second} ({number(life)} against "
        f"{number(shorter)}): {verdict}."
    )


def voting_shown(
    ensemble: Ensemble, consensus: Any, clusters: NDArray[Any], with_points: bool, random_state: Any
) -> dict[str, Any] | None:
    """What the figures of a voting consensus draw; None for other methods."""
    if not isinstance(consensus, VotingConsensus):
        return None
    chosen, sizes, note = rows_shown(ensemble, clusters, random_state)
    shares = consensus.predict_membership(ensemble[chosen])
    merges = consensus.linkage_matrix_
    return {
        "percent": [[_percent(share) for share in row] for row in shares.tolist()],
        "clusters": clusters[chosen].tolist(),
        "sizes": np.round(sizes, 3).tolist(),
        "note": note,
        "merges": merges.tolist() if 0 < len(merges) <= _MOST_MERGES else None,
        "cluster_of_reference": consensus.clusters_of_reference_.tolist(),
        "entropy": _entropies(ensemble, consensus, clusters, random_state) if with_points else None,
    }


def _percent(share: float) -> int | None:
    return None if np.isnan(share) else round(100 * share)


def _entropies(ensemble: Ensemble, consensus: Any, clusters: NDArray[Any], random_state: Any) -> list[float | None]:
    """Of the same objects, in the same order, as the points of the report."""
    shares = consensus.predict_membership(ensemble[points_chosen(clusters, random_state)])
    return [None if np.isnan(h) else round(h, 3) for h in membership_entropy(shares).tolist()]


def voting_section(summary: Summary) -> Section | None:
    """How many clusters there are, and what the votes say of each object."""
    choice, shown = summary.get("choice"), summary["figures"].get("voting")
    pictures = [_lifetimes(summary)] if choice else []
    pictures += [_halves(choice)] if choice and choice["halves"] else []
    tables = [_alternatives(choice)] if choice else []
    if shown:
        pictures += [_dendrogram(shown)] if shown["merges"] else []
        pictures += [_membership(shown)]
        pictures += [_entropy(summary)] if shown["entropy"] and summary["figures"]["points"] else []
    if not pictures:
        return None
    title = "How many clusters?" if not shown else "How many clusters, and how soft?"
    sentences = [how_clear(choice, len(summary["clusters"]))] if choice else []
    return Section(title, sentences, pictures, tables)


def _cut(summary: Summary) -> int:
    """The number of clusters at which the hierarchy was cut; some of them may be no object's most likely one."""
    choice = summary["choice"]
    k: int = choice["lifetimes"][0][0] if choice["found"] else choice.get("asked") or len(summary["clusters"])
    return k


def _lifetimes(summary: Summary) -> Picture:
    choice, k = summary["choice"], _cut(summary)
    were = "was" if k == 1 else "were"
    chosen = "The longest was taken" if choice["found"] else f"{counted(k, 'cluster')} {were} asked for"
    sentences = [
        (
            "The lifetime of a number of clusters is the range of distances at which the hierarchy has that many. One "
            f"bar far above the others means that the partitions speak for that number. {chosen}."
        )
    ]
    lives = dict(choice["lifetimes"])
    return Picture(
        "How long each number lives", to_svg(plotting.lifetimes(lives, n_clusters=k), "lifetimes"), sentences
    )


def _halves(choice: Mapping[str, Any]) -> Picture:
    halves = choice["halves"]
    sentences = [
        (
            f"The same method was fitted again to random halves of the partitions, {counted(len(halves), 'refit')}: "
            "how often it finds each number (bars), and the share of the refits up to there (line)."
        )
    ]
    return Picture("How often each number is found", to_svg(plotting.estimated_clusters(halves), "halves"), sentences)


def _alternatives(choice: Mapping[str, Any]) -> Table:
    longest = choice["lifetimes"][0][1]
    rows = [[f"{k}", number(life), percent(life / longest if longest > 0 else None)] for k, life in choice["lifetimes"]]
    return Table("The alternatives", ["Clusters", "Lifetime", "Of the longest"], rows, shown=6, text=())


def _dendrogram(shown: Mapping[str, Any]) -> Picture:
    ax = plotting.voting_dendrogram(shown["merges"], shown["cluster_of_reference"])
    of = counted(len(shown["cluster_of_reference"]), "cluster")
    sentences = [
        (
            f"The {of} of the reference partition, joined at the Jensen–Shannon divergence of their objects: low where "
            "the votes give them the same objects. The grey band is the lifetime of the number of clusters drawn."
        )
    ]
    return Picture("Which clusters are the same", to_svg(ax, "merges"), sentences)


def _membership(shown: Mapping[str, Any]) -> Picture:
    shares = np.array(shown["percent"], dtype=np.float64) / 100
    ax = plotting.membership(shares, shown["clusters"], sizes=shown["sizes"])
    sentences = [
        (
            "Each row is an object; the darker a cell, the larger the share of votes for that cluster. Rows with two "
            "grey cells are objects between clusters."
        ),
        shown["note"],
    ]
    return Picture("What the votes say of each object", to_svg(ax, "membership"), sentences)


def _entropy(summary: Summary) -> Picture:
    points, entropy = summary["figures"]["points"], summary["figures"]["voting"]["entropy"]
    ax = plotting.entropy_scatter(points["xy"], np.array(entropy, dtype=np.float64))
    ax.set_xlabel(plotting.printable(points["x_label"], 48), parse_math=False)
    ax.set_ylabel(plotting.printable(points["y_label"], 48), parse_math=False)
    known = [h for h in entropy if h is not None]
    unsure = sum(h > 0.5 for h in known) / len(known) if known else None
    sentences = [
        "Entropy of each object's votes: 0 if all are for one cluster, 1 if all clusters get the same share.",
        f"{percent(unsure)} of the points are above one half.",
    ]
    return Picture("Where the votes are undecided", to_svg(ax, "entropy"), sentences)
