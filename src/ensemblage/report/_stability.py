"""How many clusters are stable: Monti's consensus clustering on the page."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage import plotting
from ensemblage.choices._monti_choice import MontiChoice
from ensemblage.metrics import consensus_cdf, item_consensus
from ensemblage.report._layout import Picture, Section, Table, number
from ensemblage.report._svg import picture

Summary = Mapping[str, Any]

_MOST_ITEMS = 200
_MOST_STEPS = 200


def monti_summary(choice: MontiChoice | None, clusters: NDArray[Any]) -> dict[str, Any] | None:
    """What the page shows of `choose_k_monti`; the objects' part only if the consensus has that number of clusters."""
    if choice is None:
        return None
    alike = int(clusters.max(initial=-1)) + 1 == choice.best and len(choice.ensembles[choice.best]) == len(clusters)
    return {
        "best": choice.best,
        "table": [row._asdict() for row in choice.table],
        "cdfs": {str(k): _steps(*consensus_cdf(ensemble)) for k, ensemble in choice.ensembles.items()},
        "items": _items(item_consensus(choice.ensembles[choice.best], clusters), clusters) if alike else None,
    }


def _steps(values: NDArray[np.float64], cdf: NDArray[np.float64]) -> list[list[float]]:
    """A staircase of at most so many steps: of each step's values the last."""
    places = np.unique(np.linspace(0, len(values) - 1, min(len(values), _MOST_STEPS)).round().astype(np.int64))
    return [values[places].round(4).tolist(), cdf[places].round(4).tolist()]


def _items(consensus: NDArray[np.float64], clusters: NDArray[Any]) -> dict[str, Any]:
    known = np.flatnonzero((clusters >= 0) & np.isfinite(consensus).all(axis=1))
    order = known[np.lexsort((-consensus[known, clusters[known]], clusters[known]))]
    drawn = order[np.linspace(0, len(order) - 1, min(len(order), _MOST_ITEMS)).round().astype(np.int64)]
    return {"percent": np.round(100 * consensus[drawn]).astype(int).tolist(), "clusters": clusters[drawn].tolist()}


def monti_sentence(found: Mapping[str, Any]) -> str:
    """The number that was chosen, and why, as a sentence."""
    row = next(row for row in found["table"] if row["k"] == found["best"])
    if row["p_value"] is None:
        return f"{row['k']} clusters leave {number(row['pac'])} of the pairs ambiguous, the least."
    return (
        f"{row['k']} clusters leave {number(row['pac'])} of the pairs ambiguous, against "
        f"{number(row['reference_pac'])} in data without clusters (p = {row['p_value']:.3g})."
    )


def stability_section(summary: Summary) -> Section | None:
    """The numbers of clusters compared, and each object's place."""
    found = summary.get("stability")
    if not found:
        return None
    return Section("How many clusters are stable?", [monti_sentence(found)], list(_pictures(found)), [_table(found)])


def _pictures(found: Mapping[str, Any]) -> Iterator[Picture]:
    best, items = found["best"], found["items"]
    pac, reference, growth = (
        {row["k"]: row[name] for row in found["table"]} for name in ("pac", "reference_pac", "delta_area")
    )
    ax = plotting.stability_curves(pac, None if None in reference.values() else reference, n_clusters=best)
    sentence = (
        "Parts of the objects were clustered again and again. A pair is ambiguous if it is sometimes together and "
        "sometimes apart. The share of such pairs falls with the number of clusters even without any: what counts "
        "is how far it lies below the line of data without clusters."
    )
    yield picture("Ambiguous pairs", ax, "ambiguity", sentence)
    ax = plotting.consensus_cdfs({int(k): (values, cdf) for k, (values, cdf) in found["cdfs"].items()}, n_clusters=best)
    sentence = "Share of the pairs that are together at most so often. A stable number has a curve flat in the middle."
    yield picture("How often pairs are together", ax, "cdfs", sentence)
    sentence = (
        "Growth of the area under these curves from one number to the next (the first: the area). It ends after the "
        "true number; its largest value means nothing."
    )
    yield picture("What one cluster more adds", plotting.delta_areas(growth, n_clusters=best), "growth", sentence)
    if items:
        ax = plotting.item_consensus_bars(np.array(items["percent"]) / 100, items["clusters"], most=_MOST_ITEMS)
        sentence = (
            "A bar per object (an even choice of them): how often it is together with the members of each cluster. "
            "Bars of one colour are sure."
        )
        yield picture("How stable each object's place is", ax, "items", sentence)


def _table(found: Mapping[str, Any]) -> Table:
    columns = ["Clusters", "Ambiguous pairs", "Without clusters", "Stability index", "p", "p (beta)", "Area", "Growth"]
    keys = ["pac", "reference_pac", "rcsi", "p_value", "p_value_beta", "area", "delta_area"]
    rows = [[str(row["k"]), *(number(row[key]) for key in keys)] for row in found["table"]]
    return Table("Numbers of clusters", columns, rows, text=())
