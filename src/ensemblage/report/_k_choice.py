"""How clear the number of clusters is that a hierarchy gives."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from ensemblage.base.random import task_seeds
from ensemblage.consensus.evidence import Evidence, Lifetimes
from ensemblage.labels.ensemble import Ensemble
from ensemblage.report._layout import number, plural

Summary = Mapping[str, Any]

_MOST_ALTERNATIVES = 15
_CLEAR, _FAIR = 2.0, 1.2
_LEAST_TO_HALVE, _MOST_OBJECTS = 8, 10_000


def choice_of_k(
    records: Sequence[Evidence], ensemble: Ensemble, consensus: Any, n_refits: int, random_state: Any
) -> dict[str, Any] | None:
    """The numbers of clusters that live longest in the consensus's hierarchy, and those that half an ensemble gives.

    None if the consensus has no lifetimes.
    """
    record = next((record for record in records if isinstance(record, Lifetimes)), None)
    if record is None:
        return None
    lives, asked = record.lifetimes, record.n_clusters
    longest = sorted(lives, key=lambda k: -lives[k])[:_MOST_ALTERNATIVES]
    return {
        "found": asked is None,
        "asked": None if asked is None else int(asked),
        "lifetimes": [[int(k), float(lives[k])] for k in longest],
        "halves": _choices_of_halves(ensemble, consensus, n_refits, random_state) if asked is None else [],
    }


def _choices_of_halves(ensemble: Ensemble, consensus: Any, n_refits: int, random_state: Any) -> list[int]:
    """The number that the method finds in random halves of the partitions, on a sample of the objects."""
    n, p = ensemble.shape
    if p < _LEAST_TO_HALVE or not n_refits:
        return []
    random = np.random.RandomState(task_seeds(random_state, 1)[0])
    weights = np.asarray(consensus._weights)
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


def clarity_sentence(choice: Mapping[str, Any], n_clusters: int, is_structured: bool = True) -> str:
    """The longest lifetime against the second longest, as a sentence; and how many clusters of it have objects.

    Where structure was looked for and not found, no number is called clear.
    """
    verdict, halves = _verdict(choice, n_clusters, is_structured), choice["halves"]
    if not halves:
        return verdict
    n_alike = halves.count(n_clusters)
    give = "gives" if n_alike == 1 else "give"
    return f"{verdict} {n_alike} of {len(halves)} random halves of the partitions {give} {n_clusters}, too."


def _verdict(choice: Mapping[str, Any], n_clusters: int, is_structured: bool) -> str:
    k, life = choice["lifetimes"][0]
    if not choice["found"] or n_clusters == k:
        return _longest_against_second(choice, is_structured)
    are = "is" if n_clusters == 1 else "are"
    return (
        f"{k} clusters live longest ({number(life)}), but only {n_clusters} of them {are} the most likely one of any "
        f"object: {plural(n_clusters, 'cluster')}, and no clear choice."
    )


def _longest_against_second(choice: Mapping[str, Any], is_structured: bool) -> str:
    (k, life), *others = choice["lifetimes"]
    if not others:
        return f"{k} clusters is the only number that the hierarchy offers."
    second, shorter = others[0]
    if life <= 0:
        return "No number stands out."
    if shorter <= 0:
        return f"{k} clusters is the only number with a lifetime ({number(life)})."
    ratio = life / shorter
    lives = f"{k} clusters live {ratio:.3g} times as long as the next best, {second} ({number(life)} against "
    if not is_structured:
        return f"{lives}{number(shorter)}). This compares numbers; it does not show that there are clusters."
    verdict = "a clear choice" if ratio >= _CLEAR else "a fair choice" if ratio >= _FAIR else "a close call"
    return f"{lives}{number(shorter)}): {verdict}."
