"""The page of draws from a posterior: the estimate, its credible ball, objects in doubt, agreement of the chains."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from ensemblage import plotting
from ensemblage.choices._draws_summary import DrawsSummary
from ensemblage.metrics._align import Coded, match_rows, overlaps
from ensemblage.metrics._chain_agreement import LARGE, ChainAgreement
from ensemblage.plotting._axes import PALETTE, UNLABELLED_COLOR, printable
from ensemblage.plotting._partitions import aligned_strips
from ensemblage.report._charts import Frame, association_svg
from ensemblage.report._drawn import INK, LETTER, SOFT, line, rect, svg, text
from ensemblage.report._figure_data import matrix_data, matrix_objects, symmetric_matrix
from ensemblage.report._layout import (
    BarCell,
    Cell,
    Picture,
    Section,
    Table,
    cluster_cell,
    hand_drawn,
    number,
    plural,
    render_page,
)

Summary = Mapping[str, Any]

MOST_DOUBTED, MOST_DRAWN, MOST_POINTS, MOST_BOUNDS = 200, 2_000, 400, 3
"""Objects of the table, of the strips; draws of a trace; partitions of each bound."""
LOSSES = {
    "vi": ("variation of information", "bits"),
    "gvi": ("generalised variation of information", "bits"),
    "binder": ("Binder's loss", ""),
    "omari": ("1 − the adjusted Rand index", ""),
    "nvi": ("normalised variation of information", ""),
    "id": ("information distance", "bits"),
    "nid": ("normalised information distance", ""),
}
BOUNDS = {
    "upper_vertical": "fewest clusters",
    "lower_vertical": "most clusters",
    "horizontal": "most distant",
}
TERMS = (
    ("Draw", "One partition of the objects that the sampler visited: all of them together stand for the posterior."),
    (
        "Estimate",
        "The partition whose mean loss to the draws is least, as far as a stochastic search (SALSO) finds it.",
    ),
    (
        "Variation of information",
        "A distance of two partitions: the information in each that the other does not give, in bits; 0 if equal.",
    ),
    (
        "Posterior similarity",
        "Of two objects: the share of the draws that put them into the same cluster.",
    ),
    (
        "Credible ball",
        (
            "The draws within the least distance of the estimate that holds the given share of them (Wade & Ghahramani "
            "2018). Its bounds are the most distant draws in it: of all, of those with the fewest clusters, and of "
            "those with the most."
        ),
    ),
    (
        "Rank-normalised split R-hat",
        (
            "Compares the halves of all chains: the deviation of a number in all of them over that within each. It is "
            "the larger one of the number's ranks and of the ranks of its distance from the median (Vehtari et al. "
            "2021). 1 if they agree; less than 1.01 is asked for."
        ),
    ),
)


def draws_report(
    found: DrawsSummary, *, title: str, settings: Mapping[str, Any], include_objects: bool = True, random_state: Any = 0
) -> dict[str, Any]:
    """The numbers of the page; without objects it has no ids."""
    model, ensemble, ball = found.estimate, found.draws.ensemble, found.ball
    labels = model.labels_
    counts, edges = histogram(ball.distances)
    bounds = {name: getattr(ball, name)[:MOST_BOUNDS].tolist() for name in BOUNDS}
    shown = list(dict.fromkeys(j for draws in bounds.values() for j in draws))
    columns = {j: labels_of_draw(ensemble, j) for j in shown}
    strips = aligned_strips(np.column_stack([labels, *columns.values()]).astype(np.int64), MOST_DRAWN)
    matrix = matrix_data(ensemble, labels, np.ones(ensemble.shape[1]), matrix_objects(ensemble, labels, random_state))
    return {
        "title": title,
        "n_objects": len(labels),
        "n_draws": ensemble.shape[1],
        "n_chains": found.draws.n_chains,
        "loss": model.loss,
        "a": model.a,
        "objective": model.objective_,
        "starts": {"n": len(model.losses_), "reached": int((model.losses_ <= model.objective_ + 1e-9).sum())},
        "clusters": _clusters(found),
        "n_unlabelled": int((labels < 0).sum()),
        "draw_clusters": _counts(ensemble.n_clusters),
        "matrix": {name: matrix[name] for name in ("percent", "clusters", "sizes", "note")},
        "ball": {
            "radius": ball.radius,
            "share": ball.share,
            "counts": counts,
            "edges": edges,
            "bounds": {
                name: [
                    {
                        "draw": ensemble.names[j],
                        "n_clusters": int(ensemble.n_clusters[j]),
                        "distance": float(ball.distances[j]),
                        "differences": differences(labels, columns[j]),
                    }
                    for j in draws
                ]
                for name, draws in bounds.items()
            },
            "n_bounds": {name: len(getattr(ball, name)) for name in BOUNDS},
            "strips": strips.tolist(),
            "strip_names": [
                "estimate",
                *(
                    f"{', '.join(BOUNDS[name] for name, draws in bounds.items() if j in draws)} ({ensemble.names[j]})"
                    for j in shown
                ),
            ],
        },
        "doubt": list(_doubt(found)) if include_objects else None,
        "agreement": None if found.agreement is None else _agreement(found.agreement),
        "traces": _traces(found),
        "notes": list(found.draws.notes),
        "settings": dict(settings),
    }


def labels_of_draw(ensemble: Any, j: int) -> NDArray[np.int64]:
    """(n,) labels of a draw from 0, -1 for none."""
    codes = np.asarray(ensemble.rows[:, j]).astype(np.int64)
    codes[codes == ensemble.n_clusters[j]] = -1
    return codes


def _counts(numbers: NDArray[np.int64]) -> dict[str, int]:
    found, counts = np.unique(numbers, return_counts=True)
    return {str(k): c for k, c in zip(found.tolist(), counts.tolist(), strict=True)}


def differences(estimate: NDArray[Any], other: NDArray[Any]) -> dict[str, Any]:
    """How a partition differs from the estimate: clusters that it joins or splits, objects that moved.

    It joins clusters of the estimate of which most members are in one of its clusters; it splits one in which there are
    most members of several of its own. Objects moved that are not in the cluster that is matched with theirs.
    """
    first, second = Coded.of(estimate, "estimate"), Coded.of(other, "draw")
    table = overlaps(first, second)
    matched = match_rows(table)
    kept = sum(int(table[k, m]) for k, m in enumerate(matched.tolist()) if m >= 0)
    numbers = first.labels.tolist()
    to, came = table.argmax(axis=1), table.argmax(axis=0)
    most_of_rows = table.max(axis=1) > table.sum(axis=1) / 2
    most_of_columns = table.max(axis=0) > table.sum(axis=0) / 2
    joins = [[numbers[k] for k in np.flatnonzero((to == m) & most_of_rows).tolist()] for m in range(len(second.labels))]
    splits = {}
    for k, name in enumerate(numbers):
        parts = np.flatnonzero((came == k) & most_of_columns)
        if len(parts) > 1:
            splits[str(name)] = sorted(table[k, parts].tolist(), reverse=True)
    return {"joins": [group for group in joins if len(group) > 1], "splits": splits, "moved": int(table.sum()) - kept}


def _clusters(found: DrawsSummary) -> list[dict[str, Any]]:
    labels, rows = found.estimate.labels_, []
    for cluster in range(int(labels.max()) + 1):
        own = found.probabilities[labels == cluster]
        following = found.next_clusters[labels == cluster]
        following = following[following >= 0]
        rows.append(
            {
                "cluster": cluster,
                "size": len(own),
                "mean": float(own.mean()),
                "least": float(own.min()),
                "in_doubt": int((own < 0.5).sum()),
                "next": int(np.bincount(following).argmax()) if len(following) else None,
            }
        )
    return rows


def _doubt(found: DrawsSummary) -> Iterator[dict[str, Any]]:
    for i in found.doubt[:MOST_DOUBTED].tolist():
        if math.isnan(found.probabilities[i]):
            break
        has_next = found.next_clusters[i] >= 0
        yield {
            "id": found.draws.ids[i],
            "cluster": int(found.estimate.labels_[i]),
            "probability": float(found.probabilities[i]),
            "next": int(found.next_clusters[i]) if has_next else None,
            "next_probability": float(found.next_probabilities[i]) if has_next else None,
        }


def _finite(value: float) -> float | None:
    """A number of JSON; None if it is none. Infinite ones are the largest."""
    return None if math.isnan(value) else min(value, 1e6)


def _agreement(found: ChainAgreement) -> dict[str, Any]:
    known = found.of_pairs[~np.isnan(found.of_pairs)]
    return {
        "loss": _finite(found.loss),
        "n_clusters": _finite(found.n_clusters),
        "n_chains": found.n_chains,
        "n_draws": found.n_draws,
        "pairs": {
            "n": len(found.pairs),
            "n_constant": int(len(found.pairs) - len(known)),
            "median": _finite(float(np.median(known))) if len(known) else None,
            "worst": _finite(float(known.max())) if len(known) else None,
            "above": int((known >= LARGE).sum()),
            "by_chance": round(found.by_chance * len(known)),
        },
    }


def _traces(found: DrawsSummary) -> list[dict[str, Any]]:
    """The loss of some draws of each chain, evenly."""
    traces = []
    for c in range(found.draws.n_chains):
        values = found.ball.distances[found.draws.chains == c]
        at = np.unique(np.linspace(0, len(values) - 1, min(MOST_POINTS, len(values))).round().astype(int))
        numbers = [_finite(round(value, 6)) for value in values[at].tolist()]
        traces.append(
            {"draws": (at + 1).tolist(), "values": numbers, "n": len(values), "mean": float(np.nanmean(values))}
        )
    return traces


# -- the page ----------------------------------------------------------------------------------------------------------


def draws_page(summary: Summary) -> str:
    """The page, as HTML."""
    shown = [_estimate(summary), _ball(summary), _in_doubt(summary), _chains(summary), _provenance(summary)]
    sections = [section for section in shown if section is not None]
    return render_page(summary["title"], headline(summary), _facts(summary), sections)


def headline(summary: Summary) -> str:
    """The answer in one line."""
    return f"{plural(len(summary['clusters']), 'cluster')} from {plural(summary['n_draws'], 'draw')}"


def loss_text(summary: Summary, value: float | None) -> str:
    """A loss with its unit."""
    unit = LOSSES[summary["loss"]][1]
    return f"{number(value)} {unit}".strip()


def _facts(summary: Summary) -> list[tuple[str, str]]:
    facts = [("objects", f"{summary['n_objects']:,}"), ("draws", f"{summary['n_draws']:,}")]
    facts += [("chains", str(summary["n_chains"])), ("clusters", str(len(summary["clusters"])))]
    facts.append(("expected loss", loss_text(summary, summary["objective"])))
    facts.append(("radius of the ball", loss_text(summary, summary["ball"]["radius"])))
    if summary["agreement"] is not None:
        facts.append(("R-hat of the loss", _rhat_text(summary["agreement"]["loss"])))
    return facts


def estimate_sentence(summary: Summary) -> str:
    """What the estimate is, and how often the search found it."""
    name = LOSSES[summary["loss"]][0]
    price = "" if summary["a"] == 1 else f" with the price {summary['a']:g}"
    found, starts = summary["starts"], plural(summary["starts"]["n"], "start")
    how = f"{found['reached']} of {starts} found it" if found["reached"] else f"recombinations of {starts} found it"
    return (
        f"The estimate has the least expected {name}{price} that was found: "
        f"{loss_text(summary, summary['objective'])}; {how}."
    )


def _estimate(summary: Summary) -> Section:
    sentences, counts = [estimate_sentence(summary)], summary["draw_clusters"]
    ks = sorted(map(int, counts))
    if len(ks) == 1:
        sentences.append(f"All draws have {plural(ks[0], 'cluster')}.")
    else:
        usual = max(ks, key=lambda k: counts[str(k)])
        most = f"{plural(usual, 'cluster')} in most of them ({counts[str(usual)] / sum(counts.values()):.0%})"
        sentences.append(f"The draws have {ks[0]} to {ks[-1]} clusters; {most}.")
    if summary["n_unlabelled"]:
        sentences.append(f"{plural(summary['n_unlabelled'], 'object')} without any label are in no cluster.")
    rows: list[list[Cell]] = [
        [
            cluster_cell(c["cluster"]),
            f"{c['size']:,}",
            number(c["mean"], 2),
            number(c["least"], 2),
            f"{c['in_doubt']:,}",
            "–" if c["next"] is None else cluster_cell(c["next"]),
        ]
        for c in summary["clusters"]
    ]
    columns = ["Cluster", "Objects", "Mean probability", "Least", "Below ½", "Next cluster"]
    note = "Probability of an object to be with the other members of its cluster: the mean posterior similarity."
    table = Table("Clusters", columns, rows, note, text=(0, 5), wide=True)
    return Section("What is the estimate?", sentences, [_matrix(summary)], [table], terms=TERMS, name="estimate")


def _matrix(summary: Summary) -> Picture:
    matrix = summary["matrix"]
    shares = symmetric_matrix(matrix["percent"]) / 100
    draw = partial(plotting.consensus_matrix, shares, matrix["clusters"], sizes=matrix["sizes"])
    svg = association_svg(shares, matrix["clusters"], matrix["sizes"], "posterior similarity")
    sentence = "Rows and columns are objects: the stronger the colour of a cell, the more draws join the two."
    return hand_drawn("Posterior similarity", svg, "matrix", draw, sentence, matrix["note"])


def ball_sentence(summary: Summary) -> str:
    """How large the credible ball is."""
    ball = summary["ball"]
    return (
        f"{ball['share']:.1%} of the draws are within {loss_text(summary, ball['radius'])} of the estimate: "
        "the credible ball."
    )


def _ball(summary: Summary) -> Section:
    ball = summary["ball"]
    strips = np.array(ball["strips"], dtype=np.int64)
    draw = partial(plotting.partition_strips, strips.T, names=ball["strip_names"])
    sentences = [
        (
            "A column is an object, a row a partition. A cluster has the colour of the cluster of the estimate with "
            "which it is matched; other colours are clusters that the estimate does not have."
        )
    ]
    if strips.shape[1] < summary["n_objects"]:
        sentences.append(
            f"{strips.shape[1]:,} of the {summary['n_objects']:,} objects are drawn, evenly in this order."
        )
    unit = LOSSES[summary["loss"]][1]
    label = f"distance from the estimate{f' ({unit})' if unit else ''}"
    distances = Picture(
        "How far the draws are",
        distances_svg(ball["counts"], ball["edges"], ball["radius"], label),
        ["A bar counts the draws at a distance; those up to the line are in the ball."],
    )
    picture = hand_drawn(
        "The bounds of the ball", strips_svg(strips, ball["strip_names"]), "ball", draw, *sentences, wide=True
    )
    return Section(
        "How certain is the estimate?",
        [ball_sentence(summary)],
        [picture, distances],
        [_table_of_bounds(summary)],
        name="ball",
    )


def _table_of_bounds(summary: Summary) -> Table:
    ball = summary["ball"]
    rows: list[list[Cell]] = [
        [
            meaning,
            bound["draw"],
            str(bound["n_clusters"]),
            loss_text(summary, bound["distance"]),
            differences_text(bound["differences"]),
        ]
        for name, meaning in BOUNDS.items()
        for bound in ball["bounds"][name]
    ]
    left = sum(ball["n_bounds"][name] - len(ball["bounds"][name]) for name in BOUNDS)
    note = "Draws are called by their chain and their number in it."
    note += f" {plural(left, 'bound')} as distant as these are left out." if left else ""
    columns = ["Bound", "Draw", "Clusters", "Distance", "Beside the estimate"]
    return Table("Bounds", columns, rows, note, text=(0, 1, 4), wide=True)


def differences_text(found: Mapping[str, Any]) -> str:
    """What `differences` found, in words."""
    parts = [f"joins {', '.join(map(str, group[:-1]))} and {group[-1]}" for group in found["joins"]]
    parts += [f"splits {name} into {' + '.join(map(str, sizes))}" for name, sizes in found["splits"].items()]
    parts.append("the same" if not parts and not found["moved"] else f"{plural(found['moved'], 'object')} moved")
    return "; ".join(parts)


def _in_doubt(summary: Summary) -> Section | None:
    doubted = summary["doubt"]
    if not doubted:
        return None
    below = sum(c["in_doubt"] for c in summary["clusters"])
    sentence = (
        f"{plural(below, 'object')} of {summary['n_objects']:,} have a probability below ½ to be with their cluster."
    )
    rows: list[list[Cell]] = [
        [
            row["id"],
            cluster_cell(row["cluster"]),
            BarCell(number(row["probability"], 2), PALETTE[row["cluster"] % len(PALETTE)], row["probability"]),
            "–" if row["next"] is None else cluster_cell(row["next"]),
            number(row["next_probability"], 2),
        ]
        for row in doubted
    ]
    note = "All objects are in probabilities.csv." if len(doubted) < summary["n_objects"] else ""
    columns = ["Object", "Cluster", "Probability", "Next cluster", "Its probability"]
    table = Table("Lowest probability first", columns, rows, note, text=(0, 1, 3), wide=True)
    return Section("Which objects are in doubt?", [sentence], tables=[table], name="doubt")


def agreement_sentence(summary: Summary) -> str:
    """Whether the chains agree."""
    found = summary["agreement"]
    if found is None:
        return "The agreement of the chains is not known: a chain has fewer than 4 draws."
    how = "the halves of the one chain" if found["n_chains"] == 1 else f"the halves of {found['n_chains']} chains"
    values = [found["loss"], found["n_clusters"], found["pairs"]["median"]]
    of_each = ("distance from the estimate", "number of clusters", "median pair of objects")
    values_text = ", ".join(f"{_rhat_text(value)} of the {name}" for name, value in zip(of_each, values, strict=True))
    sentence = f"Rank-normalised split R-hat of {how}: {values_text}"
    if all(value is None or value < LARGE for value in values):
        return f"{sentence}; less than {LARGE} is asked for."
    return f"{sentence}, and less than {LARGE} is asked for: sample longer before you trust the rest."


def _chains(summary: Summary) -> Section:
    found, sentences = summary["agreement"], [agreement_sentence(summary)]
    if summary["n_chains"] == 1:
        sentences.append(
            "One chain that stays in one mode agrees with itself. Sample several chains from different starts."
        )
    name = LOSSES[summary["loss"]][0]
    trace = Picture(
        "The chains",
        traces_svg(summary["traces"], "distance from the estimate"),
        [f"A line per chain: the {name} of each draw and the estimate. Lines that agree mix."],
    )
    tables = [] if found is None else [_table_of_rhat(found)]
    if summary["n_chains"] > 1:
        rows: list[list[Cell]] = [
            [str(c), f"{chain['n']:,}", loss_text(summary, chain["mean"])]
            for c, chain in enumerate(summary["traces"], start=1)
        ]
        tables.append(Table("Chains", ["Chain", "Draws", "Mean distance"], rows, text=()))
    return Section("Do the chains agree?", sentences, [trace], tables, name="chains")


def _table_of_rhat(found: Mapping[str, Any]) -> Table:
    pairs = found["pairs"]
    rows: list[list[Cell]] = [
        ["distance from the estimate", _rhat_text(found["loss"])],
        ["number of clusters", _rhat_text(found["n_clusters"])],
        [f"largest of {plural(pairs['n'], 'pair')} of objects", _rhat_text(pairs["worst"])],
        ["median of the pairs", _rhat_text(pairs["median"])],
        [f"pairs of {LARGE} or more", f"{pairs['above']:,}"],
        ["as many by chance, were all draws independent", f"{pairs['by_chance']:,}"],
        ["pairs on which all draws agree, left out", f"{pairs['n_constant']:,}"],
    ]
    note = f"Of {2 * found['n_chains']} halves with {plural(found['n_draws'], 'draw')} each."
    return Table("Rank-normalised split R-hat", ["Of", "R-hat"], rows, note)


def _rhat_text(value: float | None) -> str:
    if value is None:
        return "constant"
    return "∞" if value >= 1e6 else number(value)


def _provenance(summary: Summary) -> Section:
    rows: list[list[Cell]] = [[name, str(value)] for name, value in summary["settings"].items()]
    table = Table("Settings", ["Setting", "Value"], rows, text=(0, 1), wide=True)
    return Section(
        "How was it made?",
        [note[:1].upper() + note[1:] + "." for note in summary["notes"]],
        tables=[table],
        name="made",
    )


# -- charts ------------------------------------------------------------------------------------------------------------


_WIDTH, _STRIP, _GAP = 760.0, 26.0, 6.0
_N_BARS = 30


def strips_svg(strips: NDArray[np.int64], names: Sequence[str]) -> Markup:
    """Partitions as `plotting.partition_strips`: (r, n) numbers of clusters, negative for none."""
    shown = [printable(name, 44) for name in names]
    left = LETTER * max(map(len, shown)) + 10
    unit, parts = (_WIDTH - left) / strips.shape[1], list[Markup]()
    for i, (row, name) in enumerate(zip(strips, shown, strict=True)):
        y = i * (_STRIP + _GAP)
        parts.append(text(left - 6, y + _STRIP / 2 + 4, name, anchor="end", color=INK))
        starts = np.flatnonzero(np.append(True, row[1:] != row[:-1]))
        for start, stop in zip(starts.tolist(), [*starts[1:].tolist(), len(row)], strict=True):
            cluster = int(row[start])
            color = UNLABELLED_COLOR if cluster < 0 else PALETTE[cluster % len(PALETTE)]
            parts.append(rect(left + start * unit, y, (stop - start) * unit, _STRIP, color))
    return svg(_WIDTH, len(strips) * (_STRIP + _GAP), parts, least=_WIDTH)


def traces_svg(chains: Sequence[Mapping[str, Any]], label: str) -> Markup:
    """A line for each chain: its ``values`` at its ``draws``."""
    values = [value for chain in chains for value in chain["values"] if value is not None]
    last = max(max(chain["draws"]) for chain in chains)
    room = 0.05 * ((max(values) - min(values)) or 1)
    frame = Frame((0, last), (min(values) - room, max(values) + room))
    path = '<path d="M{}" fill="none" stroke="{}" stroke-width="1" stroke-opacity=".8"/>'
    lines = []
    for c, chain in enumerate(chains):
        known = [(x, y) for x, y in zip(chain["draws"], chain["values"], strict=True) if y is not None]
        at = "L".join(f"{frame.across(x):.1f} {frame.up(y):.1f}" for x, y in known)
        lines.append(Markup(path).format(at, PALETTE[c % len(PALETTE)]))
    return svg(frame.width, frame.height, [*frame.axes("draw that is kept", label), *lines])


def distances_svg(counts: Sequence[float], edges: Sequence[float], radius: float, label: str) -> Markup:
    """A histogram of the distances of the draws, with a line at the radius of the ball."""
    frame = Frame((edges[0], edges[-1]), (0.0, max(counts) * 1.05 or 1.0))
    parts = frame.axes(label, "draws")
    for count, start, stop in zip(counts, edges, edges[1:], strict=False):
        x, y = frame.across(start), frame.up(count)
        parts.append(rect(x, y, max(frame.across(stop) - x - 1, 1), frame.up(0) - y, "#8c959f"))
    x = frame.across(radius)
    parts.append(line(x, frame.up(frame.y[1]), x, frame.up(0), PALETTE[1], 2))
    parts.append(text(x - 5, 22, "radius", anchor="end", color=SOFT))
    return svg(frame.width, frame.height, parts)


def histogram(distances: NDArray[np.float64]) -> tuple[list[int], list[float]]:
    """Counts and edges of the distances that are known."""
    known = distances[~np.isnan(distances)]
    counts, edges = np.histogram(known, bins=_N_BARS, range=(0.0, float(known.max()) or 1.0))
    return counts.tolist(), edges.tolist()
