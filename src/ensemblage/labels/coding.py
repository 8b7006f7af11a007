"""Labels as given (data frames, series, arrays, lists) become codes; codes become labels again."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.frames import as_frame, as_series, check_in_memory, object_array, series_values, without_stream
from ensemblage.base.options import Message, Option
from ensemblage.base.validation import MOST_OBJECTS, check_choice, check_vector, format_value
from ensemblage.kernels._codes import look_up_values, mark_values
from ensemblage.kernels._jit import is_small_work
from ensemblage.labels.blocks import LabelRows, MemoryRows, in_memory, map_rows

if TYPE_CHECKING:
    from scipy.sparse import csr_array


def check_size(n: int, p: int) -> None:
    """Refuse a label matrix without objects or without partitions."""
    # The second sentences are scikit-learn's own, which its conformance checks look for.
    if p == 0:
        raise ValueError(
            f"A label matrix must have at least one partition. Found 0 feature(s) (shape=({n}, {p})) while a minimum "
            "of 1 is required. Give one column per partition."
        )
    if n == 0:
        raise ValueError(
            f"A label matrix must have at least one object. Found 0 sample(s) (shape=({n}, {p})) while a minimum "
            "of 1 is required. Give one row per object."
        )


def check_names(names: Any, p: int) -> list[str]:
    """One name per partition, as text."""
    are_several = isinstance(names, Iterable) and not (isinstance(names, np.ndarray) and names.ndim == 0)
    checked = [str(name) for name in names] if are_several else []
    if len(checked) != p or len(set(checked)) != p:
        got = "a name twice" if len(checked) == p else f"{len(checked)} names"
        got = got if are_several else format_value(names)
        raise ValueError(f"names must be {p} distinct names, one per partition. Got {got}. Name each partition once.")
    if any(name.endswith("\0") for name in checked):
        raise ValueError("names must not end in a NUL character, which NumPy drops. Got one that does. Strip it.")
    return checked


def check_missing(missing: Any) -> int | None:
    """The number that means missing, or None."""
    if missing is None:
        return None
    if isinstance(missing, int | np.integer) and not isinstance(missing, bool) and -(2**63) <= missing < 2**63:
        return int(missing)
    raise ValueError(
        f"missing must be a whole number or None. Got {format_value(missing)}. "
        "NaN, None and NA are always missing: leave missing out."
    )


def check_labelled(categories: Sequence[NDArray[Any]], names: Sequence[str], each: bool = False) -> None:
    """Refuse an ensemble without any label; where labels come in also a single partition that labels nothing."""
    if not any(map(len, categories)):
        raise ValueError(
            "A partition of an ensemble must label at least one object. Got nothing but missing labels in "
            f"{names[0]!r}{' and the others' * (len(names) > 1)}. Select objects that have labels."
        )
    for labels, name in zip(categories, names, strict=True):
        if each and not len(labels):
            raise ValueError(
                f"Every partition must label at least one object. Got nothing but missing labels in partition "
                f"{name!r}. Leave that partition out."
            )


def check_sample_weight(sample_weight: Any, n_objects: int) -> NDArray[np.int64]:
    """(n_objects,) whole numbers ≥ 0, not all 0, whose sum is a number of objects that kernels can count."""
    rule = (
        f"sample_weight of X must be whole numbers ≥ 0, one for each of the {n_objects:,} objects, not all zero, with "
        f"a sum of at most {MOST_OBJECTS:,}"
    )
    weights = check_vector(sample_weight, n_objects, rule, "Give one number per object.")
    wrong = weights[~((weights >= 0) & (weights == np.floor(weights)) & np.isfinite(weights))]
    if len(wrong):
        raise ValueError(f"{rule}. Got {wrong[0]:g}. Multiply all of them by the same factor and round them.")
    if not weights.any():
        raise ValueError(f"{rule}. Got nothing but 0. Leave sample_weight out to count every object once.")
    if weights.sum() > MOST_OBJECTS:
        raise ValueError(f"{rule}. Got a sum of {weights.sum():.17g}. Divide all by the same number and round them.")
    return weights.astype(np.int64)


def as_matrix(labels: Any) -> NDArray[Any]:
    """An (n, p) array of what is given as rows of labels, n, p > 0."""
    if isinstance(labels, list | tuple):
        labels = _matrix_of_rows(labels) if len(labels) else np.empty((0, 1))
    matrix = labels if np.ma.isMaskedArray(labels) else np.asarray(labels)
    if matrix.dtype.kind == "c":
        raise ValueError(
            "Complex data not supported: labels must be numbers, text or categories. Got complex numbers. "
            "Code them as text or whole numbers first."
        )
    if matrix.ndim != 2:
        raise ValueError(
            f"Labels must be a matrix. Expected 2D array, got {'scalar' if matrix.ndim == 0 else f'{matrix.ndim}D'} "
            "array instead. Reshape your data: one row per object, one column per partition "
            "(Ensemble.from_partitions takes label vectors)."
        )
    if not matrix.size:
        check_size(*matrix.shape)
    return matrix


def _matrix_of_rows(rows: Sequence[Any]) -> NDArray[Any]:
    matrix = _as_array(rows)
    lengths = sorted({len(row) for row in rows if isinstance(row, list | tuple | np.ndarray)})
    if len(lengths) > 1:
        raise ValueError(
            f"Rows of a label matrix must be of equal length. Got rows of {lengths[0]} to {lengths[-1]} labels. "
            "Mark what a partition did not label as missing (None or -1)."
        )
    return matrix


def _as_array(labels: Any) -> NDArray[Any]:
    """NumPy's array, but of objects where it would turn numbers into text or lose digits, or rows are ragged."""
    if not isinstance(labels, list | tuple):
        return np.asarray(labels)
    try:
        array = np.asarray(labels)
    except ValueError:
        return object_array(labels)
    lossy = array.dtype.kind == "f" and bool((np.abs(array) >= 2**53).any())
    if array.dtype.kind in "iubf" and not lossy:
        return array
    return np.array(labels, dtype=object) if array.ndim else array


class CodedColumn(NamedTuple):
    """A label vector as codes; the code ``len(categories)`` means missing."""

    codes: NDArray[Any]
    """(n,) whole numbers."""
    categories: NDArray[Any]
    """(k,) the distinct labels, sorted."""


class CodedColumns(NamedTuple):
    """A label matrix as codes; the code ``len(categories[j])`` means missing in column j."""

    codes: LabelRows
    """(n, p)"""
    categories: tuple[NDArray[Any], ...]
    names: list[str] | None

    def select(self, columns: NDArray[np.intp]) -> CodedColumns:
        """Some of the columns, by number."""
        names = None if self.names is None else [self.names[j] for j in columns]
        return CodedColumns(self.codes.columns(columns), tuple(self.categories[j] for j in columns), names)


def stack_columns(columns: Sequence[CodedColumn], names: list[str] | None) -> CodedColumns:
    """The label matrix of some label vectors."""
    categories = tuple(column.categories for column in columns)
    codes = np.empty((len(columns[0].codes), len(columns)), dtype=code_dtype(categories))
    for j, column in enumerate(columns):
        codes[:, j] = column.codes
    return CodedColumns(MemoryRows(codes), categories, names)


def code_dtype(categories: Sequence[NDArray[Any]]) -> np.dtype[Any]:
    """Smallest type that holds every code and the code for missing."""
    largest = max(map(len, categories))
    return np.dtype(np.uint8 if largest <= 255 else np.uint16 if largest <= 65_535 else np.int32)


class Coding(NamedTuple):
    """The labels of an ensemble, by code."""

    categories: tuple[NDArray[Any], ...]
    missing: int | None
    """The number that means missing in new rows."""

    def encode(self, new: CodedColumns, *, warn: bool = True) -> LabelRows:
        """(n_new, p) codes of a label matrix that has a coding of its own.

        A label that is not in ``categories`` becomes missing, with one warning for all of them if ``warn``.
        """
        p = len(self.categories)
        if new.codes.shape[1] != p:
            raise ValueError(
                f"New label rows must have the {p} partitions of the ensemble. "
                f"Got {new.codes.shape[1]}. Give one column per partition, in the same order."
            )
        dtype = code_dtype(self.categories)
        tables = [_recoding(old, labels, dtype) for old, labels in zip(self.categories, new.categories, strict=True)]
        unseen = sum(int(np.count_nonzero(t[:-1] == len(c))) for t, c in zip(tables, self.categories, strict=True))
        if unseen and warn:
            warnings.warn(
                f"{unseen} label{'s' * (unseen > 1)} not seen in fit count{'s' * (unseen == 1)} as missing.",
                UserWarning,
                stacklevel=3,
            )
        return new.codes.recode(tables, dtype)


def _recoding(categories: NDArray[Any], labels: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """(len(labels) + 1,) the code among the k sorted ``categories`` of each label and of missing; k if it has none."""
    k = len(categories)
    table = np.full(len(labels) + 1, k, dtype=dtype)
    if k and (categories.dtype.kind == "U") == (labels.dtype.kind == "U"):
        if {categories.dtype.kind, labels.dtype.kind} == {"i", "u"}:
            # NumPy searches int64 among uint64 as floats, which have 53 bits.
            categories, labels = categories.astype(object), labels.astype(object)
        place = np.minimum(np.searchsorted(categories, labels), k - 1)
        table[:-1] = np.where(categories[place] == labels, place, k)
    return table


def decode(coded: CodedColumns, missing: int | None) -> NDArray[Any]:
    """(n, p) labels: integers if every label is one, floats if numbers that floats tell apart, else objects.

    Missing are ``missing`` among integers, NaN among floats (and integers without a ``missing``), None among objects.
    """
    codes = in_memory(coded.codes, "An array of all labels", "ensemble.save")
    kinds = {labels.dtype.kind for labels in coded.categories}
    fill: Any
    dtype: np.dtype[Any]
    if kinds == {"i"} and (missing is not None or not _has_missing(codes, coded.categories)):
        fill, dtype = missing or 0, np.dtype(np.int64)
    elif kinds <= {"i", "f"} and not any(map(_are_beyond_floats, coded.categories)):
        fill, dtype = np.nan, np.dtype(np.float64)
    else:
        fill, dtype = None, np.dtype(object)
    decoded = np.empty(codes.shape, dtype=dtype)
    for j, labels in enumerate(coded.categories):
        label_of = np.empty(len(labels) + 1, dtype=dtype)
        label_of[:-1] = labels
        label_of[-1] = fill
        decoded[:, j] = label_of[codes[:, j]]
    return decoded


def _has_missing(codes: NDArray[Any], categories: tuple[NDArray[Any], ...]) -> bool:
    return any((codes[:, j] == len(labels)).any() for j, labels in enumerate(categories))


def _are_beyond_floats(labels: NDArray[Any]) -> bool:
    """Whether sorted labels are whole numbers that floats may round."""
    return labels.dtype.kind == "i" and len(labels) > 0 and bool(labels[0] <= -(2**53) or labels[-1] >= 2**53)


def one_hot(coded: CodedColumns, dtype: Any) -> csr_array:
    """(n, Σ k_j): 1 where an object is in a cluster; a missing entry has no 1."""
    from scipy.sparse import csr_array

    codes = in_memory(coded.codes, "one_hot", "ensemble.codes")
    n_clusters = np.array([len(labels) for labels in coded.categories], dtype=np.int64)
    labelled = codes < n_clusters
    columns = (codes + (np.cumsum(n_clusters) - n_clusters))[labelled]
    indptr = np.concatenate([[0], np.cumsum(labelled.sum(axis=1))])
    shape = len(coded.codes), int(n_clusters.sum())
    return csr_array((np.ones(len(columns), dtype=dtype), columns, indptr), shape=shape)


def code_column(column: NDArray[Any], title: str, missing: int | None) -> CodedColumn:
    """Code an (n,) array; what is masked in it is missing."""
    values, absent = np.ma.getdata(column), np.ma.getmaskarray(column)
    if values.dtype.kind in "iubf":
        return code_numbers(values, absent, title, missing)
    if values.dtype.kind == "S":
        values = _decode_column(values, title)
    if values.dtype.kind in "UTO":
        objects = values.tolist()
        if absent.any():
            objects = [None if none else value for value, none in zip(objects, absent, strict=True)]
        return code_objects(objects, title, missing)
    raise TypeError(
        f"Labels must be numbers, text or categories. Got {values.dtype} in partition {title!r}. "
        "Convert that column to text."
    )


def _decode_column(values: NDArray[np.bytes_], title: str) -> NDArray[np.str_]:
    try:
        return np.char.decode(values, "utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"Byte strings that are labels must be UTF-8 text. Got {format_value(error.object)} in partition "
            f"{title!r}. Decode that column, or code it as whole numbers."
        ) from None


def code_objects(values: list[Any], title: str, missing: int | None) -> CodedColumn:
    """Code a column of Python numbers or text; None, NaN and NA are missing."""
    try:
        distinct = list(dict.fromkeys(values))
    except TypeError:  # what has no hash is no label either
        distinct = values
    absent = np.array([_is_missing(value) for value in distinct], dtype=bool)
    if _are_text(distinct, title):
        coded = _code_text(distinct, absent)
    else:
        coded = code_numbers(_numbers(distinct, absent, title), absent, title, missing)
    code_of = dict(zip(distinct, coded.codes.tolist(), strict=True))
    codes = np.fromiter(map(code_of.__getitem__, values), dtype=np.int32, count=len(values))
    return CodedColumn(codes, coded.categories)


def _is_missing(value: Any) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating) and bool(np.isnan(value))


def _kind(value: Any) -> str:
    if isinstance(value, str):
        return "text"
    if _is_missing(value):
        return "missing"
    return "number" if isinstance(value, int | float | np.integer | np.floating | np.bool_) else "other"


def _are_text(distinct: list[Any], title: str) -> bool:
    """Whether labels are text, all of them, rather than numbers."""
    kinds = {_kind(value) for value in distinct} - {"missing"}
    if "other" in kinds:
        odd = next(value for value in distinct if _kind(value) == "other")
        raise TypeError(
            f"Labels must be numbers, text or categories: each argument must be a string or a number. "
            f"Got {type(odd).__name__} in partition {title!r}. Convert that column to text."
        )
    if len(kinds) > 1:
        raise ValueError(
            f"Labels of one partition must be all numbers or all text. Got both in partition {title!r}. "
            "Convert that column to text."
        )
    if kinds == {"text"} and any(isinstance(value, str) and value.endswith("\0") for value in distinct):
        raise ValueError(
            f"Text labels must not end in a NUL character, which NumPy drops. Got one in partition {title!r}. "
            "Strip it, or code that column as whole numbers."
        )
    return kinds == {"text"}


def _code_text(distinct: list[Any], absent: NDArray[np.bool_]) -> CodedColumn:
    labels = sorted(str(value) for value, none in zip(distinct, absent, strict=True) if not none)
    code_of = {label: code for code, label in enumerate(labels)}
    codes = [len(labels) if none else code_of[str(value)] for value, none in zip(distinct, absent, strict=True)]
    return CodedColumn(np.array(codes), np.array(labels, dtype=str))


def _numbers(distinct: list[Any], absent: NDArray[np.bool_], title: str) -> NDArray[Any]:
    """Numbers as an array, 0 where absent: int64 if all of them are whole, else float64."""
    numbers = [0 if none else value for value, none in zip(distinct, absent, strict=True)]
    whole = [value for value in numbers if isinstance(value, int | np.integer | np.bool_)]
    beyond = [value for value in whole if not -(2**63) <= value < 2**63]
    if beyond:
        raise ValueError(
            f"Whole numbers that are labels must be from −2⁶³ to 2⁶³ − 1. Got {format_value(beyond[0])} in partition "
            f"{title!r}. Convert that column to text."
        )
    return np.array(numbers, dtype=np.int64 if len(whole) == len(numbers) else np.float64)


def code_numbers(values: NDArray[Any], absent: NDArray[np.bool_], title: str, missing: int | None) -> CodedColumn:
    """Code (n,) whole numbers or truth values; what is ``absent``, NaN or equals ``missing`` is missing."""
    if values.dtype.kind != "f":
        return _code_integer_column(values, absent, missing)
    values = np.where(absent, np.nan, values).astype(np.float64)
    if np.isinf(values).any():
        raise ValueError(
            f"Labels must be finite or missing (NaN). Got infinity in partition {title!r}. "
            "Replace it by a label of its own or by NaN."
        )
    absent = np.isnan(values)
    present = values[~absent]
    fractions = present[present != np.floor(present)]
    if len(fractions):
        raise ValueError(
            Message(
                "Labels must be whole numbers or text: these look like features. "
                f"Got {float(fractions[0]):g} in partition {title!r}. Cluster features with ",
                Option("ConsensusClustering"),
                ", or make partitions of them with ",
                Option("DiversePartitions"),
                "; if these are labels, number them.",
            )
        )
    if (np.abs(present) >= 2**53).any():
        return _code_by_sorting(values, absent, missing)
    return _code_integer_column(np.where(absent, 0, values).astype(np.int64), absent, missing)


def code_integers(matrix: NDArray[Any], missing: Sequence[int | None]) -> CodedColumns:
    """Code an (n, p) matrix of whole numbers or truth values; ``missing[j]`` means missing in column j.

    By a table of all numbers from the lowest to the highest of each column; by sorting where that would be large.
    """
    if matrix.dtype.kind == "b":
        matrix = matrix.view(np.uint8)
    lowest, highest = matrix.min(axis=0), matrix.max(axis=0)
    spread = highest.astype(np.float64) - lowest.astype(np.float64) + 1
    if int(highest.max()) >= 2**62 or spread.sum() > max(2**22, 4 * matrix.size):
        nowhere = np.zeros(len(matrix), dtype=bool)
        return stack_columns([_code_by_sorting(matrix[:, j], nowhere, m) for j, m in enumerate(missing)], None)
    if matrix.dtype == np.uint64 or not matrix.dtype.isnative:
        matrix = matrix.astype(np.int64)
    lowest = lowest.astype(np.int64)
    ends = np.cumsum(highest.astype(np.int64) - lowest + 1)
    starts = np.append(0, ends[:-1])
    present = np.zeros(ends[-1], dtype=np.uint8)
    few = is_small_work(64 * matrix.size)
    if few:
        places = starts + matrix - lowest
        present[places] = 1
    else:
        map_rows(mark_values, [matrix], lowest, starts, present)
    code_of = np.empty(len(present), dtype=np.int32)
    categories: list[NDArray[np.int64]] = []
    for low, start, end, number in zip(lowest.tolist(), starts, ends, missing, strict=True):
        if number is not None and 0 <= number - low < end - start:
            present[start + number - low] = 0
        found = np.flatnonzero(present[start:end])
        code_of[start:end] = len(found)
        code_of[start + found] = np.arange(len(found))
        categories.append(found + low)
    codes = np.empty(matrix.shape, dtype=code_dtype(categories))
    if few:
        codes[:] = code_of[places]
    else:
        map_rows(look_up_values, [matrix, codes], lowest, starts, code_of)
    return CodedColumns(MemoryRows(codes), tuple(categories), None)


def _code_integer_column(values: NDArray[Any], absent: NDArray[np.bool_], missing: int | None) -> CodedColumn:
    """Code (n,) whole numbers or truth values; what is ``absent`` or equals ``missing`` is missing."""
    present = values[~absent]
    lowest, highest = int(present.min(initial=0)), int(present.max(initial=0))
    if lowest < -(2**62) or highest >= 2**62:
        return _code_by_sorting(values, absent, missing)
    filled = values.astype(np.int64)
    if absent.any():
        missing = lowest - 1 if missing is None else missing
        filled[absent] = missing
    codes, (categories,), _ = code_integers(filled[:, None], [missing])
    return CodedColumn(codes[:, 0], categories)


def _code_by_sorting(values: NDArray[Any], absent: NDArray[np.bool_], missing: int | None) -> CodedColumn:
    """Code (n,) numbers; what is ``absent`` or equals ``missing`` is missing."""
    if missing is not None:
        absent = absent | (values == missing)
    categories, inverse = np.unique(values[~absent], return_inverse=True)
    codes = np.full(len(values), len(categories), dtype=np.int32)
    codes[~absent] = inverse
    return CodedColumn(codes, categories)


def drop_unused_labels(coded: CodedColumns) -> CodedColumns:
    """Code again after some rows went away: labels that no row has any more lose their code."""
    check_size(*coded.codes.shape)
    codes, used, _ = code_integers(coded.codes[:], [len(c) for c in coded.categories])
    return CodedColumns(codes, tuple(c[u] for c, u in zip(coded.categories, used, strict=True)), coded.names)


def code_labels(labels: Any, missing: int | None) -> CodedColumns:
    """Code an (n, p) array-like or data frame of labels."""
    if not isinstance(labels, np.ndarray | list | tuple):
        check_in_memory(labels)
        labels = without_stream(labels)
        frame = as_frame(labels)
        if frame is not None:
            check_size(*frame.shape)
            vectors = [series_values(column) for column in frame.iter_columns()]
            return _code_vectors(vectors, [str(name) for name in frame.columns], missing)
    matrix = as_matrix(labels)
    if matrix.dtype.kind in "iub" and not np.ma.isMaskedArray(matrix):
        return code_integers(matrix, [missing] * matrix.shape[1])
    return _code_vectors([matrix[:, j] for j in range(matrix.shape[1])], None, missing)


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
    """An (n,) array of what is given as the labels of the partition of that number."""
    series = as_series(labels)
    if series is not None:
        return series_values(series)
    vector = labels if np.ma.isMaskedArray(labels) else _as_array(labels)
    if vector.ndim != 1:
        raise ValueError(
            f"Each partition must be a 1-D vector of labels. Got {vector.ndim} dimensions in partition {position}. "
            "Use Ensemble(labels) for a matrix with one column per partition."
        )
    return vector


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


MISSING: Final = "missing"
VOTE: Final = "vote"
NOISE_RULES = (MISSING, VOTE)


def check_noise(noise: str, missing: int | None) -> int | None:
    """The label on which partitions vote; None where they do not."""
    if check_choice(noise, "noise", NOISE_RULES) == MISSING:
        return None
    if missing is None:
        raise ValueError(
            "missing must be a whole number, the label of noise, if noise='vote'. Got None. Give -1, or "
            "noise='missing'."
        )
    return missing


def code_with_noise(
    code: Callable[[Any, int | None], CodedColumns], labels: Any, missing: int | None, noise: str
) -> CodedColumns:
    """``code(labels, missing)``, or where ``noise`` is "vote" what the votes on the label ``missing`` leave of them."""
    if noise == MISSING:
        return code(labels, missing)
    voted = check_noise(noise, missing)
    return code(labels, missing) if voted is None else vote_noise(code(labels, None), voted)


def vote_noise(coded: CodedColumns, noise: int) -> CodedColumns:
    """The partitions without the label ``noise``, which is one of theirs in ``coded``.

    What has it is missing. An object that more than half of the partitions that say anything of it call noise is
    missing in all. O(n p) time and memory.
    """
    codes = np.array(coded.codes[:])
    absent = np.array([len(c) for c in coded.categories])
    is_noise = codes == [_code_of(noise, categories) for categories in coded.categories]
    lost = is_noise | most_call_noise(is_noise, (codes != absent).sum(axis=1))[:, None]
    codes = np.where(lost, absent.astype(codes.dtype), codes)
    return drop_unused_labels(coded._replace(codes=MemoryRows(codes)))


def most_call_noise(is_noise: NDArray[np.bool_], n_said: NDArray[np.int64] | int) -> NDArray[np.bool_]:
    """(n,) objects that more than half of the partitions that label them or call them noise, ``n_said``, call noise.

    is_noise : (n, p)
    """
    return np.asarray(2 * is_noise.sum(axis=1) > n_said)


def _code_of(noise: int, categories: NDArray[np.generic]) -> int:
    """The code of a number among sorted categories; -1, which is no code, if it is none of them."""
    if categories.dtype.kind not in "iuf":
        return -1
    found = np.flatnonzero(categories == noise)
    return int(found[0]) if len(found) else -1
