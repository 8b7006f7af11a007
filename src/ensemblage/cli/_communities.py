"""The command that finds the communities of a graph by many partitions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import numpy as np

from ensemblage import CommunityConsensus, Ensemble, LeidenPartitions
from ensemblage.cli._answer import certainty_text, clusters_text, show_lines
from ensemblage.cli._errors import INTERRUPTED, Interrupted
from ensemblage.cli._folder import check_free, check_suffix
from ensemblage.cli._labels import write_labels
from ensemblage.cli._progress import progress_bar, tell_notes
from ensemblage.cli._source import Source
from ensemblage.generation._graphs import Graph, as_graph
from ensemblage.metrics import verdicts
from ensemblage.metrics._certainty import VERDICTS
from ensemblage.report._layout import plural


def find_communities(
    edges: Path,
    output: Path,
    overwrite: bool,
    labels: Path | None,
    id_column: str | None,
    has_header: bool | None,
    method: Literal["ecg", "fast-ensemble", "lf"],
    algorithm: str,
    partitions: int,
    resolution: float | None,
    seed: int,
    n_jobs: int,
) -> None:
    """Do what ``ensemblage communities`` does."""
    check_suffix(output, ".csv")
    check_free(output, overwrite)
    source = None if labels is None else Source(labels, id_column=id_column, options={"missing": -1})
    members = None if source is None else source.members(source.read())
    ids = None if members is None or members.id_column is None else members.ids
    graph = as_graph(edges, edges.name, ids, has_header=has_header)
    tell_notes(edges.name, graph.notes)
    if labels is not None and members is not None:
        tell_notes(labels.name, members.notes)
        if len(members.ensemble) != len(graph.names):
            raise ValueError(
                f"{labels.name} must have a row for each of the {len(graph.names):,} nodes of {edges.name}. It has "
                f"{len(members.ensemble):,}. Give it a column of the nodes' names: --id-column NAME."
            )
    shared: dict[str, Any] = {"algorithm": algorithm, "random_state": seed, "n_jobs": n_jobs}
    generator = LeidenPartitions(
        partitions,
        resolutions=[1.0 if resolution is None else resolution],
        affinity="precomputed",
        levels=1 if method == "ecg" else None,
        **shared,
    )
    consensus = CommunityConsensus(method, resolution=None if method == "fast-ensemble" else resolution, **shared)
    try:
        ensemble = _make_partitions(generator, graph) if members is None else members.ensemble
        consensus.fit(ensemble, edges=graph.matrix)
    except KeyboardInterrupt:
        raise Interrupted(INTERRUPTED) from None
    write_labels(output, list(map(str, graph.names)), consensus)
    show_lines([*_lines(graph, ensemble, consensus), ("written", str(output))])


def _make_partitions(generator: LeidenPartitions, graph: Graph) -> Ensemble:
    with progress_bar(
        "partitions", generator.n_partitions, f"{generator.n_partitions} by {generator.algorithm}"
    ) as done:
        return Ensemble._made(generator.set_params(progress=done).fit_transform(graph.matrix))


def _lines(graph: Graph, ensemble: Ensemble, consensus: CommunityConsensus) -> Iterator[tuple[str, str]]:
    words = verdicts(consensus.confidence_)
    yield "graph", f"{plural(len(graph.names), 'node')}, {plural(graph.matrix.nnz // 2, 'edge')}"
    partitions = plural(ensemble.shape[1], "partition")
    yield "ensemble", f"{partitions}, {ensemble.n_clusters.mean():.1f} clusters on average"
    yield "consensus", clusters_text(np.bincount(consensus.labels_[consensus.labels_ >= 0]).tolist(), None)
    yield "certainty", certainty_text([{word: int((words == word).sum()) for word in VERDICTS}])
    if consensus.method == "ecg":
        yield "CSI", f"{consensus.csi_:.3f}: 1 if the partitions agree on every edge, 0 if each edge is tossed up"
    if consensus.method == "lf" and not consensus.converged_:
        yield "rounds", f"{consensus.n_rounds_}, and the partitions still disagree"
