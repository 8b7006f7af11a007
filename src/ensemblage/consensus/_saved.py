"""Fitted models as files: their parameters and attributes as arrays and JSON, without pickle."""

from __future__ import annotations

import importlib
import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import is_dataclass
from functools import cache
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ensemblage._version import __version__
from ensemblage.base.validation import check_path
from ensemblage.consensus._method import METHODS
from ensemblage.labels.blocks import LabelRows, MembershipRows, MemoryRows
from ensemblage.labels.coding import CodedColumns
from ensemblage.labels.ensemble import Ensemble
from ensemblage.labels.files import check_coded
from ensemblage.labels.soft import SoftEnsemble, columns_of
from ensemblage.tables.archive import Archive, is_damage, write_archive

FORMAT = 1
KIND = "ensemblage model"
PARTS = {
    "ensemblage": (
        ("choices._chooser", "LearnedSelection"),
        ("choices._choice_records", "KChoice"),
        ("choices._choice_records", "KRow"),
        ("choices._plan", "Decision"),
        ("choices._plan", "Plan"),
        ("pipeline._consensus_clustering", "ConsensusClustering"),
        ("pipeline._run", "SecondSample"),
        ("labels.coding", "Coding"),
        ("labels.rows", "Rows"),
        ("labels.soft", "SoftCoding"),
        ("metrics._confidence", "Association"),
        ("metrics._confidence", "LinkAssociation"),
        ("stability._structure", "Structure"),
        ("io._encoding", "ColumnUse"),
        ("io._encoding", "Encoded"),
        ("io._encoding", "Encoding"),
        ("io._preprocessor", "Preprocessor"),
        ("io._scaling", "AlikeScaler"),
        ("io._scaling", "BlockScaler"),
        ("io._scaling", "CategoryEncoder"),
        ("io._scaling", "NearestImputer"),
        ("io._scaling", "Options"),
    ),
    "ensemblage.consensus": (
        ("_lifetime", "Hierarchy"),
        ("_lifetime", "Merges"),
        ("_own", "OwnConsensus"),
        ("communities._communities", "CommunityConsensus"),
        ("graphs._partition_graph", "Spectrum"),
        ("hierarchies._label_similarity", "LabelSimilarity"),
        ("hierarchies._linkage", "Levels"),
        ("hierarchies._linkage", "Linkage"),
        ("hierarchies._linkage", "PairMatrices"),
        ("hierarchies._linkage", "RowSimilarity"),
        ("hierarchies._linkage", "Screen"),
        ("hierarchies._unit_linkage", "UnitSimilarity"),
        ("kmeans._gkcc", "GreedyKMeansConsensus"),
        ("kmeans._km", "CategoryUtility"),
        ("kmeans._km", "CosineUtility"),
        ("kmeans._km", "EntropyUtility"),
        ("kmeans._km", "LocalUtility"),
        ("kmeans._km", "LpUtility"),
        ("kmeans._label_kmeans", "Centroids"),
        ("kmeans._label_kmeans", "Start"),
        ("kmeans._label_kmeans", "State"),
        ("voting._aggregation", "AggregatedPartition"),
        ("voting._aggregation", "LabelSums"),
        ("voting._aggregation", "PartitionOrder"),
        ("voting._aggregation", "VotingLosses"),
        ("voting._colour_refinement", "Content"),
        ("voting._js_alink", "Extraction"),
    ),
    "ensemblage.generation": (
        ("_base", "Recipe"),
        ("_candidates", "Origin"),
        ("_diverse", "DiversePartitions"),
        ("_genie", "Genie"),
        ("_genie", "GeniePartitions"),
        ("_greedy", "GreedyPartitions"),
        ("_greedy_stages", "Stage"),
        ("_kmeans", "SampledKMeans"),
        ("_kmeans", "SphericalKMeans"),
        ("_leiden", "LeidenPartitions"),
        ("_mixed", "MixedPartitions"),
        ("_random_k", "RandomKPartitions"),
        ("_resampled", "ProjectionPartitions"),
        ("_resampled", "ResampledPartitions"),
        ("_resampled", "SubspacePartitions"),
        ("_uspec", "Representatives"),
        ("_uspec", "USpec"),
        ("_uspec", "USpecPartitions"),
        ("_view_partitions", "ScaledPartitions"),
        ("_views", "Scales"),
    ),
    "sklearn": (
        ("cluster", "AgglomerativeClustering"),
        ("cluster", "AffinityPropagation"),
        ("cluster", "Birch"),
        ("cluster", "BisectingKMeans"),
        ("cluster", "DBSCAN"),
        ("cluster", "FeatureAgglomeration"),
        ("cluster", "HDBSCAN"),
        ("cluster", "KMeans"),
        ("cluster", "MeanShift"),
        ("cluster", "MiniBatchKMeans"),
        ("cluster", "OPTICS"),
        ("cluster", "SpectralClustering"),
        ("compose", "ColumnTransformer"),
        ("decomposition", "NMF"),
        ("decomposition", "PCA"),
        ("decomposition", "TruncatedSVD"),
        ("frozen", "FrozenEstimator"),
        ("impute", "KNNImputer"),
        ("impute", "SimpleImputer"),
        ("mixture", "BayesianGaussianMixture"),
        ("mixture", "GaussianMixture"),
        ("pipeline", "FeatureUnion"),
        ("pipeline", "Pipeline"),
        ("preprocessing", "FunctionTransformer"),
        ("preprocessing", "MaxAbsScaler"),
        ("preprocessing", "MinMaxScaler"),
        ("preprocessing", "Normalizer"),
        ("preprocessing", "OneHotEncoder"),
        ("preprocessing", "OrdinalEncoder"),
        ("preprocessing", "PowerTransformer"),
        ("preprocessing", "QuantileTransformer"),
        ("preprocessing", "RobustScaler"),
        ("preprocessing", "StandardScaler"),
        ("random_projection", "GaussianRandomProjection"),
        ("random_projection", "SparseRandomProjection"),
    ),
}
"""What a model may be made of, by package, beside the records in the files of registered methods; a file names a
class, and these alone say where it is.
"""
MODULE_OF: Mapping[str, str] = MappingProxyType(
    {name: f"{package}.{module}" for package, names in PARTS.items() for module, name in names}
)
OTHERS = ("CommunityConsensus", "ConsensusClustering", "GreedyKMeansConsensus")
"""Models that are no method of the registry."""
FORMER_CLASSES: Mapping[str, str] = MappingProxyType({"Chosen": "LearnedSelection", "Members": "MembershipMatrices"})
"""Classes by the names that files of before 1.0 have, and the names of today."""
OF_SAMPLES = {"fit_on": "sample_size", "fit_on_": "sample_size_"}
FORMER_FIELDS: Mapping[str, Mapping[str, str]] = {
    "Hierarchy": {"of_twins": "of_duplicates"},
    "KMeansConsensus": {"start_on": "init_size", "start_on_": "init_size_"},
    "NegMM": {"deduplicate": "distinct"},
    "Plan": {"certainty": "votes", "members": "partitions"},
    "Preprocessor": {"member_weight": "category_weight", "members_": "partitions_"},
    "ProjectionPartitions": OF_SAMPLES,
    "RandomKPartitions": OF_SAMPLES,
    "SampledKMeans": OF_SAMPLES,
    "Start": {"start_on": "init_size"},
    "SubspacePartitions": OF_SAMPLES,
    "USpecPartitions": OF_SAMPLES,
}
"""By class: parameters and attributes by the names that files of before 1.0 have, and the names of today."""
LEFT_OUT = {"progress": None, "root_": None, "dummy_leaf_": None}
"""Attributes that are not kept where no file can hold them: who follows the progress; the tree that `Birch` grows."""
SPARSE: Mapping[str, Any] = MappingProxyType({"csr_array": sparse.csr_array, "csr_matrix": sparse.csr_matrix})
TYPES: Mapping[str, type] = MappingProxyType({t.__name__: t for t in (bool, int, float, str)})
BIT_GENERATORS = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")

ATOMS: Mapping[str, Callable[[Any], Any]] = MappingProxyType(
    {"float": float, "dtype": np.dtype, "dtype_class": lambda text: np.dtype(text).type, "type": TYPES.__getitem__}
)


def models() -> dict[str, Any]:
    """What a file may be of, by name: the classes of the registry, and the others."""
    return {m.estimator.__name__: m.estimator for m in METHODS.values()} | {name: part(name) for name in OTHERS}


def part(name: str) -> Any:
    """A class of the table, or a record in the file of a registered method."""
    if name in MODULE_OF:
        return getattr(importlib.import_module(MODULE_OF[name]), name)
    return records_of_consensus()[name]


def records_of_consensus() -> dict[str, type]:
    """The data classes and named tuples in the files of registered methods, by name: a method brings its own.

    They hold data: to make one runs no code but its own ``__new__``.
    """
    return _records_in(frozenset(method.estimator.__module__ for method in METHODS.values()))


@cache
def _records_in(modules: frozenset[str]) -> dict[str, type]:
    found = (value for name in sorted(modules) for value in vars(importlib.import_module(name)).values())
    return {
        value.__name__: value
        for value in found
        if isinstance(value, type)
        and value.__module__ in modules
        and (is_dataclass(value) or (issubclass(value, tuple) and hasattr(value, "_fields")))
    }


def class_named(name: str) -> Any:
    """A class of the registry, of the table or in the file of a registered method; ValueError if there is none."""
    name = FORMER_CLASSES.get(name, name)
    if name in (known := models()):
        return known[name]
    if name not in MODULE_OF and name not in records_of_consensus():
        raise ValueError(f"there is no class {name[:60]!r} that this version knows")
    return part(name)


def is_known(kind: type) -> bool:
    """Whether a file may name a class."""
    try:
        return class_named(kind.__name__) is kind
    except ValueError:
        return False


class Writer:
    """What a model holds, as what JSON can hold and arrays; what is shared stays shared."""

    def __init__(self, name: str) -> None:
        self.name, self.arrays = name, list[NDArray[Any]]()
        self._nodes: dict[int, tuple[Any, dict[str, Any]]] = {}
        """By id what was written, which lives as long as this does, and how it is called from then on."""
        self._n_objects = 0

    def node(self, value: Any, path: str) -> Any:
        """What stands for a value; ``path`` says where it is."""
        if value is None or isinstance(value, bool | str) or type(value) is int:
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"float": repr(value)}
        if id(value) in self._nodes:
            return self._nodes[id(value)][1]
        node = self._new(value, path)
        self._nodes[id(value)] = value, {"same": node["n"]} if "n" in node else node
        return node

    def _new(self, value: Any, path: str) -> dict[str, Any]:
        kind = type(value)
        is_array = kind in (np.ndarray, np.memmap)
        if is_array and value.dtype != object:
            return {"array": self._number(value)}
        if is_array:
            texts = value.ravel().tolist()
            return {"objects": [self.node(text, path) for text in texts], "shape": list(value.shape)}
        if isinstance(value, np.generic):
            return {"scalar": self._number(np.asarray(value))}
        if isinstance(value, np.dtype):
            return {"dtype": value.str}
        if isinstance(value, type) and issubclass(value, np.generic):
            return {"dtype_class": np.dtype(value).str}
        if isinstance(value, type) and TYPES.get(value.__name__) is value:
            return {"type": value.__name__}
        if isinstance(value, slice):
            return {"slice": [self.node(part, path) for part in (value.start, value.stop, value.step)]}
        if kind in (list, tuple, set, frozenset):
            return {kind.__name__: [self.node(item, f"{path}[{i}]") for i, item in enumerate(value)]}
        if kind is dict:
            items = [[self.node(key, path), self.node(item, f"{path}[{key!r}]")] for key, item in value.items()]
            return {"dict": items}
        if isinstance(value, np.random.RandomState):
            return {"random_state": self.node(value.get_state(legacy=False), path)}
        if isinstance(value, np.random.Generator):
            return {"generator": self.node(value.bit_generator.state, path)}
        if kind.__name__ in SPARSE and kind is SPARSE[kind.__name__]:
            parts = [self.node(part, path) for part in (value.data, value.indices, value.indptr)]
            return {"sparse": kind.__name__, "of": parts, "shape": list(value.shape)}
        if isinstance(value, Ensemble | LabelRows):
            return self._object(*value._as_saved(), path)
        if is_known(kind):
            state = cast(Any, value)._asdict() if isinstance(value, tuple) else vars(value)
            return self._object(kind.__name__, state, path)
        raise ValueError(
            f"A saved model must consist of objects of ensemblage and scikit-learn. Got {kind.__name__} in "
            f"{path} of {self.name}. Replace that object, or keep the model with joblib.dump."
        )

    def _number(self, array: NDArray[Any]) -> int:
        self.arrays.append(array)
        return len(self.arrays) - 1

    def _object(self, name: str, state: Mapping[str, Any], path: str) -> dict[str, Any]:
        number = self._n_objects
        self._n_objects += 1
        of = {}
        for key, value in state.items():
            left_out = LEFT_OUT.keys() & {key} and not isinstance(value, bool | int | float | str | np.ndarray)
            of[key] = None if left_out else self.node(value, f"{path}.{key}" if path else key)
        return {"class": name, "of": of, "n": number}


class Reader:
    """The model of an archive; a ValueError says what is wrong with it."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self._arrays: dict[int, NDArray[Any]] = {}
        self._objects: dict[int, Any] = {}
        self.of_sklearn = False

    def value(self, node: Any) -> Any:
        if node is None or isinstance(node, bool | str | int | float):
            return node
        if "class" in node:
            return self._object(node)
        if "same" in node:
            return self._objects[node["same"]]
        ((kind, of), *more) = node.items()
        if kind == "array":
            return self._array(of)
        if kind == "scalar":
            return self._array(of)[()]
        if kind in ("list", "tuple", "set", "frozenset"):
            make = {"list": list, "tuple": tuple, "set": set, "frozenset": frozenset}[kind]
            return make(self.value(item) for item in of)
        if kind == "dict":
            return {self.value(key): self.value(item) for key, item in of}
        if kind == "objects":
            objects = np.empty(len(of), dtype=object)
            objects[:] = [self.value(item) for item in of]
            return objects.reshape(dict(more)["shape"])
        if kind == "random_state":
            random = np.random.RandomState(_stream_of_bits(state := self.value(of)))
            random.set_state(state)
            return random
        if kind == "generator":
            return np.random.Generator(_stream_of_bits(self.value(of)))
        if kind == "sparse":
            parts = tuple(self.value(part) for part in dict(more)["of"])
            return SPARSE[of](parts, shape=tuple(dict(more)["shape"]))
        return slice(*map(self.value, of)) if kind == "slice" else ATOMS[kind](of)

    def _array(self, number: int) -> NDArray[Any]:
        if number not in self._arrays:
            self._arrays[number] = self._archive.array(number)
        return self._arrays[number]

    def _object(self, node: Mapping[str, Any]) -> Any:
        name, state = node["class"], {key: self.value(item) for key, item in node["of"].items()}
        made = self._make(name, state)
        self._objects[node["n"]] = made
        return made

    def _make(self, name: str, state: dict[str, Any]) -> Any:
        if name == "rows":
            return MemoryRows(np.ascontiguousarray(state["codes"]))
        if name == "memberships":
            return MembershipRows(state["H"], state["offsets"])
        if name == "SoftEnsemble":
            return SoftEnsemble._of(columns_of(state["rows"], state["names"]), None)
        if name == "Ensemble":
            categories = tuple(state["categories"])
            check_coded(state["codes"], categories, state["names"])
            coded = CodedColumns(MemoryRows(np.ascontiguousarray(state["codes"])), categories, state["names"])
            return Ensemble._of(coded, state["missing"])
        cls, renamed = class_named(name), FORMER_FIELDS.get(name, {})
        state = {renamed.get(key, key): value for key, value in state.items()}
        self.of_sklearn |= cls.__module__.startswith("sklearn.")
        if issubclass(cls, tuple):
            return cls(**state)
        made = cls.__new__(cls)
        vars(made).update(state)
        return made


def _stream_of_bits(state: Any) -> Any:
    """A bit generator of numpy in a state that it has had; RandomState and Generator draw from one."""
    name = state["bit_generator"]
    if name not in BIT_GENERATORS:
        raise ValueError(f"there is no bit generator {str(name)[:60]!r} that this version knows")
    bits = getattr(np.random, name)()
    bits.state = state
    return bits


def save_model(model: Any, path: str | PathLike[str], *, is_compressed: bool = True) -> None:
    """Write a fitted model; see `Model.save`. One that is written again soon need not be compressed."""
    import sklearn

    file, name = _check_path(path), type(model).__name__
    writer = Writer(name)
    head = {"kind": KIND, "format": FORMAT, "ensemblage": __version__, "sklearn": sklearn.__version__}
    write_archive(file, {**head, "model": writer.node(model, "")}, writer.arrays, is_compressed=is_compressed)


def load(path: str | PathLike[str]) -> Any:
    """Use it to read a model that its ``save`` wrote.

    Parameters
    ----------
    path : path
        Of the file, whose name ends in .npz.

    Returns
    -------
    estimator
        Fitted, with the parameters and attributes that were saved, bitwise identical.

    Raises
    ------
    ValueError
        If the file is none of a model, is damaged, or a newer ensemblage wrote it. Nothing in it is ever executed (no
        pickle): it names classes, and only those that ensemblage lists are made.

    Notes
    -----
    The arrays of a file are not checked against each other: one that somebody made to do harm may end the process.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import ensemblage
    >>> model = ensemblage.consensus.KMeansConsensus(2, random_state=0).fit([[0, 0], [0, 0], [1, 1], [1, 0]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(Path(folder) / "model.npz")
    ...     ensemblage.load(Path(folder) / "model.npz").predict([[1, 1]])
    array([1], dtype=int32)
    """
    file = _check_path(path)
    try:
        with Archive(file) as archive:
            head = archive.head
            if head["kind"] != KIND or not isinstance(head["format"], int):
                raise ValueError("it is of another kind")
            if head["format"] <= FORMAT:
                return _model(Reader(archive), head)
    except Exception as error:
        if not is_damage(error):
            raise
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ValueError(
            f"A model's file must be one that save of a model wrote. Got {str(file)!r} ({reason[:200]}). Save the "
            f"model again, or read the file of an ensemble with Ensemble.load."
        ) from None
    raise ValueError(
        f"{str(file)!r} must be of format {FORMAT}, the newest that this version of ensemblage knows. Got format "
        f"{head['format']}, which ensemblage {str(head.get('ensemblage'))[:20]} wrote. Upgrade ensemblage."
    )


def _model(reader: Reader, head: Mapping[str, Any]) -> Any:
    import sklearn

    name = head["model"]["class"]
    if name not in models():
        raise ValueError(f"there is no class {str(name)[:60]!r} of models that this version knows")
    model = reader.value(head["model"])
    if reader.of_sklearn and head["sklearn"] != sklearn.__version__:
        warnings.warn(
            f"The base clusterers were saved with scikit-learn {head['sklearn']} and are used with "
            f"{sklearn.__version__}: they may predict otherwise, or fail.",
            UserWarning,
            stacklevel=4,
        )
    return model


def _check_path(path: str | PathLike[str]) -> Path:
    file = check_path(path, "path")
    if file.suffix.lower() != ".npz":
        raise ValueError(
            f"The name of a model's file must end in .npz. Got {str(file)!r}. Name it model.npz, for example."
        )
    return file
