"""Models as files: a round trip is equal to the bit; what is no model, or damaged, is refused in a sentence."""

import json
import zipfile

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from places import FILES
from scipy import sparse
from sklearn.cluster import Birch, KMeans
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from strategies import few_starts, number_for, random_labels, usual

import ensemblage
from ensemblage import METHODS, ConsensusClustering, Ensemble, generation, make_consensus
from ensemblage.consensus import KMeansConsensus, _saved
from ensemblage.preprocessing import Preprocessor

X = load_iris().data


def assert_same(one, two, path=""):
    """Equal to the bit, types included."""
    assert type(one) is type(two), path
    if isinstance(one, np.ndarray):
        assert (one.dtype, one.shape) == (two.dtype, two.shape), path
        assert one.dtype == object or one.tobytes() == two.tobytes(), path
        assert_array_equal(one, two, path)
    elif isinstance(one, Ensemble):
        assert (one.names, one.missing) == (two.names, two.missing), path
        assert_same(np.asarray(one.rows[:]), np.asarray(two.rows[:]), path)
        assert_same(one.categories, two.categories, path)
    elif sparse.issparse(one):
        assert (one != two).nnz == 0
    elif isinstance(one, dict):
        assert list(one) == list(two), path
        for key in one:
            assert_same(one[key], two[key], f"{path}[{key!r}]")
    elif isinstance(one, list | tuple):
        assert len(one) == len(two), path
        for i, (a, b) in enumerate(zip(one, two, strict=True)):
            assert_same(a, b, f"{path}[{i}]")
    elif isinstance(one, np.random.RandomState):
        assert_same(one.get_state(legacy=False), two.get_state(legacy=False))
    elif isinstance(one, np.random.Generator):
        assert_same(one.bit_generator.state, two.bit_generator.state)
    elif hasattr(one, "__dict__") and not isinstance(one, type | np.dtype):
        kept = {key: value for key, value in vars(one).items() if not isinstance(one, Birch) or key not in TREE}
        assert_same(kept, {key: value for key, value in vars(two).items() if key in kept}, path)
    else:
        assert one == two or (one != one and two != two), path


TREE = ("root_", "dummy_leaf_")


def through_a_file(model, tmp_path):
    path = tmp_path / "model.npz"
    model.save(path)
    loaded = ensemblage.load(path)
    assert_same(model, loaded)
    assert repr(model.get_params()) == repr(loaded.get_params())
    return loaded


@pytest.mark.core(3)
@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("k", [3, None])
def test_every_method(name, k, tmp_path):
    if k is None and not METHODS[name].finds_k:
        k = 2
    labels, new = random_labels(60, 6, 4, 0.1, seed=1), random_labels(30, 6, 4, 0.1, seed=2)
    frame = pd.DataFrame(labels, columns=[f"p{j}" for j in range(6)])
    model = few_starts(usual(name, k)).fit(frame)
    loaded = through_a_file(model, tmp_path)
    new = pd.DataFrame(new, columns=frame.columns)
    found = model.assign(new)
    assert found.labels.min() >= 0
    assert found.labels.max() < model.n_clusters_
    assert_same(found, loaded.assign(new))
    assert_same(model.association_shares(frame), loaded.association_shares(frame))
    assert (found.by == "predict") == hasattr(model, "predict")
    if found.by == "predict":
        assert_array_equal(model.predict(new), found.labels)
        assert_array_equal(loaded.predict(new), found.labels)
        assert_array_equal(model.assign(frame).labels, model.labels_)


@pytest.mark.parametrize("bits", ["MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64"])
@pytest.mark.parametrize("kind", ["RandomState", "Generator"])
def test_a_source_of_random_numbers_goes_on_where_it_was(kind, bits, tmp_path):
    source = getattr(np.random, kind)(getattr(np.random, bits)(3))
    model = KMeansConsensus(3, n_init=2, random_state=source).fit(random_labels(40, 5, 3, 0.1, seed=1))
    path = tmp_path / "model.npz"
    model.save(path)
    loaded = ensemblage.load(path)
    assert_same(vars(model), vars(loaded))
    assert_array_equal(loaded.random_state.bytes(20), source.bytes(20))


@pytest.mark.core(3)
@pytest.mark.parametrize("name", METHODS)
def test_every_method_on_features(name):
    """The objects that were fitted get the clusters that they have, whether the method predicts or not."""
    generator = generation.RandomKPartitions(6, k_min=2, k_max=5)
    k = number_for(name)
    model = ConsensusClustering(k, generator=generator, consensus=name, random_state=0).fit(X)
    found = model.assign(X)
    if name == "hgpa" or (name == "cspa" and not model.consensus_.distinct):
        return  # balanced cuts may part objects with the same labels
    assert_array_equal(found.labels, model.labels_)
    near = X + 1e-6
    assert (model.predict(near) == model.labels_).mean() > 0.95


GENERATORS = [
    None,
    generation.RandomKPartitions(4),
    generation.RandomKPartitions(4, metric="cosine"),
    generation.RandomKPartitions(4, estimator=KMeans(n_init=1)),
    generation.RandomKPartitions(4, sample_size=40),
    generation.SubspacePartitions(4),
    generation.ProjectionPartitions(4),
    generation.ResampledPartitions(4),
    generation.MixedPartitions(3),
    generation.GreedyPartitions(3, n_candidates=5),
    generation.GeniePartitions(4),
    generation.LeidenPartitions(4, algorithm="louvain"),
    generation.USpecPartitions(2, n_representatives=100),
]


@pytest.mark.core(3)
@pytest.mark.parametrize("generator", GENERATORS, ids=str)
def test_every_generator(generator, tmp_path):
    model = ConsensusClustering(3, generator=generator, random_state=0).fit(X[::2])
    loaded = through_a_file(model, tmp_path)
    assert_array_equal(model.predict(X), loaded.predict(X))
    assert_same(model.assign(X), loaded.assign(X))
    # Resampled partitions lack the rows that were left out; these are labelled as if they were new.
    alike = 0.9 if isinstance(generator, generation.ResampledPartitions) else 1
    assert (model.assign(X[::2]).labels == model.labels_).mean() >= alike


def mixed(n=60):
    rng = np.random.default_rng(0)
    group = np.arange(n) % 3
    return pd.DataFrame(
        {
            "size": group * 3 + rng.normal(size=n),
            "weight": group + rng.normal(size=n) / 3,
            "colour": np.array(["red", "blue", "green"])[group],
            "day": pd.date_range("2020-01-01", periods=n, freq="7D"),
        }
    )


@pytest.mark.core(3)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"categories": "member"},
        {"dates": "parts", "standardize": True},
        {"impute": "knn"},
        {"impute": "median"},
        {"roles": {"colour": "ordered:blue<green<red"}, "impute": "median"},
    ],
    ids=str,
)
def test_every_preprocessing(options, tmp_path):
    frame = mixed()
    model = ConsensusClustering(3, preprocessor=Preprocessor(**options), random_state=0).fit(frame)
    loaded = through_a_file(model, tmp_path)
    new = frame.iloc[5:20].assign(colour="white")
    assert_same(model.assign(new), loaded.assign(new))
    assert_array_equal(loaded.assign(frame).labels, model.labels_)


def test_what_was_found_and_how_it_was_asked(tmp_path):
    given = np.random.RandomState(3)
    model = ConsensusClustering(selection="consensus", random_state=given, progress=print).fit(X)
    path = tmp_path / "model.npz"
    model.save(path)
    loaded = ensemblage.load(path)
    assert loaded.progress is None  # nobody to tell
    assert loaded.choice_.sentence == model.choice_.sentence
    assert loaded.random_state.randint(1000) == given.randint(1000)
    assert loaded.labels_ is loaded.consensus_.labels_  # what was one array is one


def test_sparse_features_and_greedy_consensus(tmp_path):
    through_a_file(ConsensusClustering(2, random_state=0).fit(sparse.csr_matrix(X)), tmp_path)
    through_a_file(ensemblage.consensus.GreedyKMeansConsensus(2, n_candidates=3, random_state=0).fit(X), tmp_path)


def test_rows_from_disk(tmp_path):
    np.save(tmp_path / "labels.npy", random_labels(60, 5, 3))
    for name in ("km", "acv", "majority"):
        through_a_file(few_starts(usual(name, 3)).fit(Ensemble.open(tmp_path / "labels.npy")), tmp_path)


def test_the_same_model_makes_the_same_bytes(tmp_path):
    for name in ("one", "two"):
        make_consensus("km", 2, random_state=0).fit(random_labels()).save(tmp_path / f"{name}.npz")
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "two.npz").read_bytes()


def test_classes_are_found_where_the_table_says():
    for name in (*_saved.MODULE_OF, *_saved.records_of_consensus()):
        assert _saved.class_named(name).__name__ == name
    assert all(hasattr(_saved.class_named(name), "save") for name in _saved.models())


@pytest.mark.parametrize("kind", [bool, int, float, str, np.float32, np.int64])
def test_types_are_saved_by_their_names(kind):
    """As of a parameter dtype; a class of the user may be called so, too."""
    node = _saved.Writer("Model").node(kind, "dtype")
    assert _saved.Reader(None).value(node) is kind
    with pytest.raises(ValueError, match="Got type in dtype of Model"):
        _saved.Writer("Model").node(type(kind.__name__, (), {}), "dtype")


class Mine(KMeans):
    pass


def test_what_cannot_be_saved(tmp_path):
    model = ConsensusClustering(2, generator=generation.RandomKPartitions(3, estimator=Mine(n_init=1))).fit(X)
    with pytest.raises(
        ValueError, match=r"Got Mine in generator.estimator of ConsensusClustering. Replace that object"
    ):
        model.save(tmp_path / "model.npz")
    assert not list(tmp_path.iterdir())
    fitted = make_consensus("km", 2).fit(random_labels())
    with pytest.raises(ValueError, match=r"must end in .npz. Got 'model.pkl'. Name it model.npz, for example."):
        fitted.save("model.pkl")
    with pytest.raises(NotFittedError):
        make_consensus("km", 2).save(tmp_path / "model.npz")


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "model.npz"
    make_consensus("km", 2, random_state=0).fit(random_labels()).save(path)
    return path


def rewritten(path, change):
    """The file with another head."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    head = json.loads(members["head.json"])
    change(head)
    members["head.json"] = json.dumps(head).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            lambda h: h.update(format=2, ensemblage="9.9"),
            r"of format 1, .* Got format 2, which ensemblage 9.9 wrote. Upg",
        ),
        (lambda h: h["model"].update({"class": "os.system"}), r"there is no class 'os.system' of models"),
        (lambda h: h["model"].update({"class": "KMeans"}), r"there is no class 'KMeans' of models"),
        (
            lambda h: h["model"]["of"].update(labels_={"class": "Popen", "of": {}, "n": 99}),
            r"there is no class 'Popen'",
        ),
        (lambda h: h["model"]["of"].update(labels_={"array": 999}), r"999.npy"),
        (lambda h: h["model"]["of"].update(labels_={"same": 0}), r"must be one that save of a model wrote"),
        (lambda h: h["model"]["of"].update(labels_={"eval": "1"}), r"must be one that save of a model wrote"),
        (lambda h: h.update(kind="other"), r"it is of another kind"),
        (lambda h: h.pop("model"), r"must be one that save of a model wrote"),
    ],
)
def test_refused_files(path, change, sentence):
    rewritten(path, change)
    with pytest.raises(ValueError, match=sentence):
        ensemblage.load(path)


def test_damaged_files(path):
    content = path.read_bytes()
    for cut in range(0, len(content), 97):
        path.write_bytes(content[:cut])
        with pytest.raises(ValueError, match="must be one that save of a model wrote"):
            ensemblage.load(path)
    rng, refused = np.random.default_rng(0), 0
    for place in rng.integers(len(content), size=200).tolist():
        changed = bytearray(content)
        changed[place] ^= 255
        path.write_bytes(changed)
        try:
            ensemblage.load(path)  # of a zip, times and the like do not matter
        except ValueError:
            refused += 1
    assert refused > 100


LABELS_OF_FILES = random_labels(40, 4, 3, 0.1, seed=5)


@pytest.mark.parametrize("name", ["km", "acv", "lca", "eac-average", "h-km"])
def test_files_of_format_1_stay_readable(name):
    """Written when the format was made: what they say is what a fit of today says.

    But ``confidence_``, which is kept as that version defined it.
    """
    kept = ensemblage.load(FILES / f"model-1-{name}.npz")
    given: dict = {"random_state": 0} if name not in ("eac-average", "acv") else {}
    given |= {"n_init": 10} if name == "lca" else {}  # the default then
    today = usual(name, 3, **given)
    today.fit(LABELS_OF_FILES)
    assert repr(kept) == repr(today)
    assert_array_equal(kept.labels_, today.labels_)
    assert kept.confidence_.shape == today.confidence_.shape
    old, new = (model.assign(LABELS_OF_FILES[:9]) for model in (kept, today))
    assert_array_equal(old.labels, new.labels)
    assert_allclose(old.confidence, new.confidence)


def test_an_ensemble_is_no_model(tmp_path):
    Ensemble(random_labels()).save(tmp_path / "ensemble.npz")
    with pytest.raises(ValueError, match=r"read the file of an ensemble with Ensemble.load"):
        ensemblage.load(tmp_path / "ensemble.npz")
    with pytest.raises(FileNotFoundError):
        ensemblage.load(tmp_path / "none.npz")


def test_another_scikit_learn_is_told(tmp_path):
    path = tmp_path / "model.npz"
    ConsensusClustering(2, random_state=0).fit(X).save(path)
    rewritten(path, lambda head: head.update(sklearn="0.1"))
    with pytest.warns(UserWarning, match="saved with scikit-learn 0.1"):
        ensemblage.load(path)
