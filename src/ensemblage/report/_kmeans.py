"""What the methods of the k-means family tell of themselves: the tree of H-KM, the climb of the density."""

from collections.abc import Mapping
from typing import Any

from ensemblage import plotting
from ensemblage.consensus import BisectingKMeansConsensus, KMeansConsensus
from ensemblage.report._layout import Picture, Section, Table, counted, number, percent
from ensemblage.report._svg import to_svg

Summary = Mapping[str, Any]

_MOST_SPLITS = 200


def splits_shown(consensus: Any) -> list[dict[str, Any]] | None:
    """The splits of a bisecting k-means in their order; None for other methods and for a tree without splits."""
    if not isinstance(consensus, BisectingKMeansConsensus) or not consensus.splits_:
        return None
    return [{name: float(value) for name, value in split._asdict().items()} for split in consensus.splits_]


def climb_shown(consensus: Any) -> list[float] | None:
    """The density before and after each pass of the refinement; None without one."""
    if not isinstance(consensus, KMeansConsensus) or consensus.refine is None:
        return None
    return [float(density) for density in consensus.density_trace_]


def kmeans_section(summary: Summary) -> Section | None:
    """How the clusters were split, and what the refinement added."""
    splits, trace = summary["figures"].get("splits"), summary["figures"].get("climb")
    if not splits and not trace:
        return None
    sentences = [_climb(trace)] if trace else []
    pictures = [_curve(splits)] if splits else []
    tables = [_splits(splits)] if splits else []
    return Section("How the clusters were made", sentences, pictures, tables)


def _climb(trace: list[float]) -> str:
    if len(trace) == 1:
        return f"No single move raises the density of the clusters, {number(trace[0])}."
    return (
        f"Single moves after k-means raised the density from {number(trace[0], 5)} to {number(trace[-1], 5)} in "
        f"{counted(len(trace) - 1, 'round')}."
    )


def losses_of(splits: list[dict[str, Any]]) -> list[float]:
    """Loss of 1, 2, … clusters."""
    losses = [splits[0]["loss"]]
    for split in splits:
        losses.append(max(losses[-1] - split["loss"] + split["loss_after"], 0.0))
    return losses


def _curve(splits: list[dict[str, Any]]) -> Picture:
    losses = losses_of(splits)
    left = percent(losses[-1] / losses[0] if losses[0] > 0 else 0.0)
    sentence = (
        "Each split takes away a part of the disagreement with the partitions (the k-means loss). Where the curve "
        f"bends, further splits tell less. {counted(len(losses), 'cluster')} leave {left} of it."
    )
    return Picture("What each split took away", to_svg(plotting.split_losses(losses), "split_losses"), [sentence])


def _splits(splits: list[dict[str, Any]]) -> Table:
    rows = [
        [
            str(t + 2),
            str(int(split["size"])),
            number(split["loss"]),
            number(split["loss_after"]),
            number(split["gain"], 4),
        ]
        for t, split in enumerate(splits[:_MOST_SPLITS])
    ]
    columns = ["Clusters then", "Objects split", "Their loss", "Loss of the halves", "Gain in density"]
    note = f"The first {_MOST_SPLITS} of {len(splits):,}." if len(splits) > _MOST_SPLITS else ""
    return Table("The splits", columns, rows, note, shown=10, text=())
