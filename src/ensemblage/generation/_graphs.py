"""A graph, however it is given, as a symmetric sparse matrix."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from dataclasses import replace
from io import BytesIO
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array, issparse

from ensemblage.base.frames import as_frame
from ensemblage.base.options import Message, Option
from ensemblage.base.validation import Edges, check_path, check_value, format_value
from ensemblage.io._read import read_table
from ensemblage.io._table import Table
from ensemblage.tables.bytes import base_name, read_bytes
from ensemblage.tables.column import Column
from ensemblage.tables.formats import GRAPH, format_of, table_format
from ensemblage.tables.numbers import is_number

logger = logging.getLogger(__name__)

END_NAME = re.compile(
    r"(?i)(u|v|from|to|source|target|src|dst|dest|destination|node|vertex|head|tail|sender|receiver|start|end|id|name"
    r"|von|nach|quelle|ziel|knoten|empfänger|person|gene?|protein|object|objekt|user)"
    r"([\W_]?(id|ids|nodes?|names?|index))?[\W_]?[12ab]?"
)
"""What people call the ends of edges."""


class Graph(NamedTuple):
    """An undirected graph without loops, every pair of nodes at most once."""

    matrix: csr_array
    """(n, n) symmetric, float64 weights > 0, nothing on the diagonal, sorted."""
    names: Sequence[Any]
    """(n,) of the nodes; 0 to n - 1 where they have none."""
    notes: tuple[str, ...] = ()
    """What was done with what was given."""

    def ends(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """(m,) the two nodes of each edge, the smaller first, in lexicographic order."""
        rows = np.repeat(np.arange(self.matrix.shape[0]), np.diff(self.matrix.indptr))
        columns = self.matrix.indices.astype(np.int64)
        return rows[rows < columns], columns[rows < columns]


class EdgeList(NamedTuple):
    """The edges as they were given."""

    first: NDArray[Any]
    """(m,) node where each begins; a name, or its number if they have no names ..."""
    second: NDArray[Any]
    """... and where it ends."""
    weights: NDArray[np.float64] | None
    """(m,); None: every pair counts once."""
    names: Sequence[Any] | None
    """(n,) of all nodes; None: those that the edges name."""
    directed: bool = False
    notes: tuple[str, ...] = ()


def as_graph(edges: Any, subject: str, nodes: Sequence[Any] | None = None, *, has_header: bool | None = None) -> Graph:
    """The graph that is given in one of the ways of `Edges`.

    ``subject`` is what messages call it; ``has_header`` says of a table in a file whether its first row holds names.
    ``nodes`` are the names of all nodes, in their order, or a range where they have none; without it they are the
    graph's own, and those of an edge list are sorted. A matrix has its nodes in order, and so has any graph but an edge
    list if ``nodes`` is a range. Loops are left out. A pair that stands more than once is one edge: directed graphs,
    and matrices that are not symmetric, give it the larger weight of the two directions, edge lists the sum of its
    weights, or 1 where they have none.
    """
    check_value(edges, subject, [Edges()])
    given = _edge_list(edges, subject, has_header)
    first, second, names = _number_nodes(given, subject, nodes)
    n, notes = len(names), list(given.notes)
    weights = np.ones(len(first)) if given.weights is None else given.weights
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        wrong = weights[~(np.isfinite(weights) & (weights >= 0))][0]
        raise ValueError(
            f"Weights of {subject} must be finite numbers ≥ 0, the larger, the closer. Got {wrong:g}. Leave such edges "
            "out, or turn distances into similarities."
        )
    kept = (first != second) & (weights > 0)
    n_loops = int((first == second).sum())
    if n_loops:
        notes.append(f"{n_loops:,} edge{'s' * (n_loops > 1)} from a node to itself left out")
    if not kept.any():
        raise ValueError(
            f"{subject} must have an edge between two nodes. Got {len(first):,} edges, none of them with a weight > 0 "
            "between two different nodes. Give the edges."
        )
    if not kept.all():
        first, second, weights = first[kept], second[kept], weights[kept]
    if given.directed:
        one_way = csr_array((weights, (first, second)), shape=(n, n))
        matrix = csr_array(one_way.maximum(one_way.T))
        if (one_way != matrix).nnz:
            notes.append("directed edges taken as undirected, with the larger weight of the two directions")
    else:
        upper = csr_array((weights, (np.minimum(first, second), np.maximum(first, second))), shape=(n, n))
        n_repeated = len(first) - upper.nnz
        if given.weights is None:
            upper.data[:] = 1.0
        if n_repeated:
            how = "a pair counts once" if given.weights is None else "weights are added"
            again = "edge stands" if n_repeated == 1 else "edges stand"
            notes.append(f"{n_repeated:,} {again} there again, in either direction: {how}")
        matrix = csr_array(upper + upper.T)
    matrix.sort_indices()
    for note in notes:
        logger.info("%s: %s", subject, note)
    return Graph(matrix, names, tuple(notes))


def import_networkx(subject: str) -> Any:
    """networkx, or how to do without."""
    try:
        import networkx
    except ImportError as error:
        raise ImportError(
            f"{subject} needs networkx to read GraphML. It cannot be imported. Run "
            "`pip install ensemblage[graphs]`, or write the edges as CSV."
        ) from error
    return networkx


def _edge_list(edges: Any, subject: str, has_header: bool | None) -> EdgeList:
    if isinstance(edges, Table):
        return _edges_of_table(edges)
    if isinstance(edges, str | PathLike):
        return _edges_of_file(check_path(edges, subject), subject, has_header)
    if issparse(edges):
        return _edges_of_matrix(edges, subject)
    if hasattr(edges, "nodes") and hasattr(edges, "is_directed"):
        return _edges_of_networkx(edges, subject)
    if hasattr(edges, "get_edgelist") and hasattr(edges, "vs"):
        return _edges_of_igraph(edges, subject)
    frame = as_frame(edges)
    columns = list(np.asarray(edges).T) if frame is None else [frame[name].to_numpy() for name in frame.columns[:3]]
    if len(columns) < 2:
        raise ValueError(
            f"{subject} must have the columns node, node and perhaps weight. Got one column. Give both "
            f"nodes of each edge."
        )
    return EdgeList(columns[0], columns[1], _weights(columns[2], subject) if len(columns) == 3 else None, None)


def _edges_of_file(path: Path, subject: str, has_header: bool | None) -> EdgeList:
    if format_of(path) is GRAPH:
        networkx = import_networkx(subject)
        try:
            return _edges_of_networkx(networkx.read_graphml(BytesIO(read_bytes(path))), subject)
        except (networkx.NetworkXError, SyntaxError) as error:  # the latter from the parser of XML
            raise ValueError(f"{path.name} must be GraphML. Got {error}. Save the graph again.") from None
    content, name = read_bytes(path), base_name(path)
    table = read_table(content, name=name, has_header=has_header)
    if has_header is not None or table.index is not None or table_format(name).cells == "typed":
        return _edges_of_table(table)
    if _is_above_numbers(table):
        return _edges_of_table(table)
    if _names_ends(table):
        names = f"the first row holds names: {', '.join(table.names)} (else: "
        note = Message(names, Option("has_header", False), ")")
        return _edges_of_table(replace(table, notes=(*table.notes, note)))
    return _edges_of_table(read_table(content, name=name, has_header=False))


def _is_above_numbers(table: Table) -> bool:
    """Whether what became the names of the columns holds no number where weights stand or above numbers."""
    first = table.columns[:3]
    above = [column for column in first if column.numbers is not None] + first[2:]
    return not all(is_number(column.name) for column in above)


def _names_ends(table: Table) -> bool:
    """Whether what became the names of the columns is said of ends of edges, as "source", and of no node."""
    first, nodes = table.names[:2], {text for column in table.columns[:2] for text in column.distinct[1]}
    are_names = all(map(END_NAME.fullmatch, first)) and nodes.isdisjoint(first)
    return are_names and not any(END_NAME.fullmatch(node.rstrip("0123456789")) for node in nodes)


def _edges_of_table(table: Table) -> EdgeList:
    columns = [column for column in table.columns if column.name != table.index]
    if len(columns) < 2:
        raise ValueError(
            f"{table.source} must have the columns node, node and perhaps weight. Got {len(columns)} column. Save "
            f"both nodes of each edge."
        )
    weights = None
    for column in columns[2:3]:
        if column.numbers is None:
            wrong = column.cells()[int(column.not_numbers[0])]
            raise ValueError(
                f"The third column of {table.source}, {column.name}, must be weights. Got {format_value(wrong)}. "
                f"Put the weights into the third column, or keep only the columns of nodes."
            )
        weights = np.asarray(column.numbers)
    notes = [f"row names not read: {table.index}"] if table.index is not None else []
    if len(columns) > 3:
        notes.append(f"columns after the third not read: {', '.join(column.name for column in columns[3:])}")
    first, second, *_ = columns
    return EdgeList(_nodes(first), _nodes(second), weights, None, notes=(*table.notes, *notes))


def _nodes(column: Column) -> NDArray[Any]:
    """(m,) names: whole numbers where all are written so, else text."""
    import pyarrow as pa
    import pyarrow.compute as pc

    values = column.numbers
    if values is not None and len(fractions := np.flatnonzero(values % 1 > 0)):
        got = f"Got {format_value(column.cells()[int(fractions[0])])} in {column.name}."
        rule = f"A column of nodes must hold names or whole numbers. {got} Give an edge list, or cluster features by "
        raise ValueError(Message(rule, Option("ConsensusClustering"), "."))
    if values is not None and np.isfinite(values).all() and (values == np.floor(values)).all():
        whole = values.astype(np.int64)
        if not column.is_text or pc.all(pc.equal(pc.cast(pa.array(whole), pa.string()), column.text)).as_py():
            return whole
    return np.array(column.cells(), dtype=np.str_)


def _edges_of_matrix(matrix: Any, subject: str) -> EdgeList:
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(
            f"{subject} must be a square matrix, with a row and a column per node. Got shape {matrix.shape}. Give the "
            "adjacency matrix, or the columns of an edge list."
        )
    rows = csr_array(matrix)
    if not rows.has_canonical_format:
        rows = rows.copy()  # what was given stays as it is
        rows.sum_duplicates()
    entries = coo_array(rows)
    first, second = entries.row, entries.col
    return EdgeList(first, second, entries.data.astype(np.float64), range(matrix.shape[0]), directed=True)


def _edges_of_networkx(graph: Any, subject: str) -> EdgeList:
    names = list(graph.nodes)
    number = {name: i for i, name in enumerate(names)}
    edges = list(graph.edges(data="weight", default=1.0))
    first, second = (np.array([number[edge[end]] for edge in edges], dtype=np.int64) for end in (0, 1))
    return EdgeList(first, second, _weights([edge[2] for edge in edges], subject), names, graph.is_directed())


def _edges_of_igraph(graph: Any, subject: str) -> EdgeList:
    names = list(graph.vs["name"]) if "name" in graph.vs.attributes() else range(graph.vcount())
    ends = np.array(graph.get_edgelist(), dtype=np.int64).reshape(-1, 2)
    weights = graph.es["weight"] if "weight" in graph.es.attributes() else np.ones(len(ends))
    return EdgeList(ends[:, 0], ends[:, 1], _weights(weights, subject), names, graph.is_directed())


def _weights(values: Any, subject: str) -> NDArray[np.float64]:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"Weights of {subject} must be finite numbers ≥ 0. Got {format_value(values)}. Give numbers, or no weights."
        ) from None


def _number_nodes(
    given: EdgeList, subject: str, nodes: Sequence[Any] | None
) -> tuple[NDArray[np.int64], NDArray[np.int64], Sequence[Any]]:
    """(m,) the numbers of both ends of each edge, and the names of the nodes."""
    if given.names is not None:
        first, second, names = given.first, given.second, given.names
        if nodes is not None and (isinstance(names, range) or isinstance(nodes, range)):
            if len(names) != len(nodes):
                raise ValueError(
                    f"{subject} must be a graph of the {len(nodes):,} objects that have labels. Got {len(names):,} "
                    "nodes. Give labels for all nodes and no others, in their order, or names for both."
                )
            return first, second, nodes
    elif all(end.dtype.kind in "iub" for end in (given.first, given.second)) and _fill_a_range(given, nodes):
        return given.first.astype(np.int64), given.second.astype(np.int64), range(_largest(given) + 1)
    else:
        ends = [_whole_or_text(end, subject) for end in (given.first, given.second)]
        found, number = np.unique(np.concatenate(ends), return_inverse=True)  # numbers beside text become text
        if found.dtype.kind == "U" and "" in found[:1]:
            raise ValueError(f"Nodes of {subject} must have names. Got an empty one. Name both ends of every edge.")
        (first, second), names = np.split(number, 2), found.tolist()
    if nodes is None or (isinstance(nodes, range) and names == nodes):
        return first, second, names
    place = _places(names, subject, nodes)
    return place[first], place[second], nodes


def _fill_a_range(given: EdgeList, nodes: Sequence[Any] | None) -> bool:
    """Whether the nodes are the whole numbers from 0 on, without gaps."""
    if min(given.first.min(initial=0), given.second.min(initial=0)) < 0 or _largest(given) >= 2 * len(given.first):
        return False
    if isinstance(nodes, range):
        return nodes == range(_largest(given) + 1)
    occurs = np.zeros(_largest(given) + 1, dtype=bool)
    occurs[given.first], occurs[given.second] = True, True
    return nodes is None and bool(occurs.all())


def _largest(given: EdgeList) -> int:
    return int(max(given.first.max(initial=-1), given.second.max(initial=-1)))


def _whole_or_text(end: NDArray[Any], subject: str) -> NDArray[Any]:
    """(m,) names as whole numbers or as text."""
    if end.dtype.kind in "iub":
        return end.astype(np.int64)
    if end.dtype.kind == "f":
        whole = (np.abs(end) < 2**53) & (end == np.floor(end))
        if not whole.all():
            raise ValueError(
                f"Nodes of {subject} must be whole numbers or text. Got {end[~whole][0]:g}. Put the nodes into the "
                "first two columns."
            )
        return end.astype(np.int64)
    return end.astype(np.str_)


def _places(names: Sequence[Any], subject: str, nodes: Sequence[Any]) -> NDArray[np.int64]:
    """(len(names),) where each name is among the nodes; names are compared as text."""
    place = {str(node): i for i, node in enumerate(nodes)}
    if len(place) < len(nodes):
        raise ValueError(f"nodes of {subject} must be distinct. Got a name twice. Name every object differently.")
    unknown = [name for name in names if str(name) not in place]
    if unknown:
        objects = f"0 to {len(nodes) - 1}, the objects" if isinstance(nodes, range) else f"the {len(nodes):,} objects"
        others = f" and {len(unknown) - 1:,} others" if len(unknown) > 1 else ""
        raise ValueError(
            f"Nodes of {subject} must be among {objects} that have labels. Got {format_value(unknown[0])}{others}. "
            "Give labels for all nodes, and the names of the objects if the edges have names."
        )
    return np.array([place[str(name)] for name in names], dtype=np.int64)
