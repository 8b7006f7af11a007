"""Whatever a label matrix is given as to codes: a data frame, an array, rows, or label vectors."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.validation import format_value
from ensemblage.ensemble._arrays import as_frame, as_matrix, as_series, as_vector, series_values, without_stream
from ensemblage.ensemble._checks import check_size
from ensemblage.ensemble._coding import CodedColumns, stack_columns
from ensemblage.ensemble._columns import code_column, code_integers

MOST_NAMED = 5
"""Names that an error lists."""


def check_in_memory(labels: Any) -> None:
    """Refuse what has to be made an array or a data frame first."""
    for method in ("toarray", "collect"):
        if hasattr(labels, method):
            raise TypeError(
                "Labels must be a dense matrix or a data frame in memory: a sparse matrix has no labels, only zeros "
                f"and values. Got sparse or lazy data of type {type(labels).__name__}. Use labels.{method}()."
            )


def code_labels(labels: Any, missing: int | None) -> CodedColumns:
    """Code an (n, p) array-like or data frame of labels."""
    check_in_memory(labels)
    if getattr(labels, "is_soft", False):
        raise ValueError(
            f"The ensemble must be one of labels. Got {labels!r}. Give soft.to_labels(), which takes the likeliest "
            f"cluster."
        )
    if getattr(labels, "is_counted", False):
        raise ValueError(
            f"Label rows must have no counts here. Got {labels!r}. Give its attribute ensemble, or fit a consensus "
            f"method to it."
        )
    labels = without_stream(labels)
    frame = as_frame(labels)
    if frame is not None:
        check_size(*frame.shape)
        return _code_vectors([series_values(c) for c in frame.iter_columns()], [str(c) for c in frame.columns], missing)
    matrix = as_matrix(labels)
    if _are_integers(matrix):
        return code_integers(matrix, [missing] * matrix.shape[1])
    return _code_vectors([matrix[:, j] for j in range(matrix.shape[1])], None, missing)


def in_order(labels: Any, names: Sequence[str], owner: str) -> Any:
    """The columns of these names, in their order, of an ensemble or a data frame; None if it goes by position.

    So does what has no names, an array, and what has only numbers, as an ensemble or a frame that was made of an array.
    ``owner`` says in errors whose partitions they are.
    """
    frame = as_frame(labels)
    if frame is None and (isinstance(labels, np.ndarray) or not hasattr(labels, "names")):
        return None
    given = [str(name) for name in (labels.names if frame is None else frame.columns)]
    if set(given) != set(names) and (_are_numbers(given) or _are_numbers(names)):
        return None
    lost = [repr(name) for name in names if name not in given]
    if lost:
        shown_names = ", ".join(lost[:MOST_NAMED]) + f" or {len(lost) - MOST_NAMED} more" * (len(lost) > MOST_NAMED)
        raise ValueError(
            f"New label rows must have the {len(names)} partitions of {owner}, by their names. Got none named "
            f"{shown_names}. Rename the columns, or give an array in the order of the partitions."
        )
    places = [given.index(name) for name in names]
    if places == list(range(len(given))):
        return labels
    return labels.select(places) if frame is None else frame[:, places]


def _are_numbers(names: Sequence[str]) -> bool:
    """Whether names only say which column it is."""
    return any(list(names) == [f"{word}{j}" for j in range(len(names))] for word in ("partition_", ""))


def code_partitions(partitions: Iterable[Any], missing: int | None) -> CodedColumns:
    """Code label vectors (array-like or series), one per partition."""
    if not isinstance(partitions, Iterable):
        raise TypeError(
            f"partitions must be label vectors, one per partition. Got {format_value(partitions)}. Give a list of them."
        )
    vectors = [_label_vector(labels, j) for j, labels in enumerate(partitions)]
    lengths = sorted({len(vector) for vector in vectors})
    if len(lengths) > 1:
        raise ValueError(
            f"Partitions must label the same objects. Got label vectors of {lengths[0]} to {lengths[-1]} objects. "
            "Mark an object that a partition did not see as missing (None or -1)."
        )
    check_size(lengths[0] if lengths else 0, len(vectors))
    return _code_vectors(vectors, None, missing)


def _label_vector(labels: Any, position: int) -> NDArray[Any]:
    series = as_series(labels)
    return as_vector(labels, position) if series is None else series_values(series)


def _code_vectors(vectors: list[NDArray[Any]], names: list[str] | None, missing: int | None) -> CodedColumns:
    """Code p > 0 vectors of equal length n > 0; what is masked in them is missing."""
    if all(map(_are_integers, vectors)):
        matrix = np.column_stack(vectors)
        if _are_integers(matrix):  # int64 and uint64 make float64
            return code_integers(matrix, [missing] * len(vectors))._replace(names=names)
    titles = names or [str(j) for j in range(len(vectors))]
    return stack_columns([code_column(v, title, missing) for v, title in zip(vectors, titles, strict=True)], names)


def _are_integers(array: NDArray[Any]) -> bool:
    """Whether an array has whole numbers or truth values only, and no mask."""
    return array.dtype.kind in "iub" and not np.ma.isMaskedArray(array)
