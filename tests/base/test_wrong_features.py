"""Features that cannot be clustered are refused in a sentence of ours, wherever they are given."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.exceptions import NotFittedError

from ensemblage import choose_k, to_anndata
from ensemblage.base.features import columns_checked, features_checked
from ensemblage.consensus import GreedyKMeansConsensus, KMeansConsensus
from ensemblage.generation import DiversePartitions, Genie, RandomKPartitions, USpecPartitions, make_pool
from ensemblage.preprocessing import Preprocessor
from ensemblage.ranking import SelectPartitions

X = np.random.default_rng(0).normal(size=(12, 2))
INFINITE = np.where(np.arange(24).reshape(12, 2) == 5, np.inf, X)
RESHAPE = r"Reshape your data: X\.reshape\(-1, 1\) for one feature, X\.reshape\(1, -1\) for one object\."
WRONG = {
    "no objects": (np.empty((0, 2)), r"at least \d objects?\. Found 0 sample.*\. Give one row per object\."),
    "no features": (np.empty((12, 0)), r"at least 1 feature\. Found 0 feature.*\. Give one column per feature\."),
    "a vector": (X[0], rf"a matrix\. Expected 2D array, got 1D array instead\. {RESHAPE}"),
    "three axes": (np.zeros((3, 3, 3)), rf"a matrix\. Expected 2D array, got 3D array instead\. {RESHAPE}"),
    "a number": (3, r"a matrix\. Got 3\. Give one row per object, one column per feature\."),
    "nothing": (None, r"a matrix\. Got None\. Give one row per object, one column per feature\."),
    "text": ([["a", "b"], ["1", "2"]] * 6, r"numbers\. Got 'a'\. Make numbers of such columns with Preprocessor\."),
    "infinity": (
        INFINITE,
        r"finite\. Got infinity in row 2 and column 1, counted from 0\. Correct it, or leave that row",
    ),
    "ragged rows": (
        [[1, 2], [3]] * 6,
        r"rows of equal length\. Got rows of different lengths\. Mark missing values as",
    ),
    "complex": (X + 1j, r"real numbers\. Got complex numbers\. Give real and imaginary parts as two features\."),
    "an object": (
        np.array([[0, 1, {}]] * 12, dtype=object),
        r"numbers: each argument must be a string or a number\. Got {}",
    ),
}
TAKERS = {
    "Genie": Genie(2).fit,
    "RandomKPartitions": RandomKPartitions(3).fit,
    "DiversePartitions": DiversePartitions(2).fit,
    "USpecPartitions": USpecPartitions(3).fit,
    "GreedyKMeansConsensus": GreedyKMeansConsensus(2).fit,
    "Preprocessor": Preprocessor().fit,
    "choose_k": choose_k,
    "make_pool": make_pool,
}


@pytest.mark.parametrize("taker", TAKERS)
def test_wrong_features_are_refused_in_a_sentence(taker):
    for features, rule in WRONG.values():
        with pytest.raises((TypeError, ValueError), match=rf"X of {taker} must (have|be) {rule}"):
            TAKERS[taker](features)


def test_a_sparse_matrix_is_refused_where_it_must_be_dense():
    with pytest.raises(TypeError, match=r"X of Genie must be dense\. Got a sparse matrix\. Give X\.toarray\(\)"):
        Genie(2).fit(csr_array(X))


def test_the_first_wrong_number_of_a_sparse_matrix():
    for value, rule in ((np.inf, r"must be finite\. Got infinity in"), (np.nan, "Got 2 NaN, the first in")):
        wide = csr_array(([1.0, value, value], ([0, 2, 1], [5, 6, 10**8])), shape=(3, 10**9))
        with pytest.raises(ValueError, match=rf"X of Preprocessor .*{rule} row 1 and column 100000000"):
            Preprocessor().fit(wide)


@pytest.mark.parametrize(
    ("model", "data", "asked", "new"),
    [
        (KMeansConsensus(2), [[0, 0, 1], [1, 1, 0]], "predict", [[0, 1]]),
        (SelectPartitions(n_partitions=2), [[0, 0, 1], [1, 1, 0]], "transform", [[0, 1]]),
        (RandomKPartitions(3), X, "transform", X[:, :1]),
    ],
    ids=["labels", "members", "features"],
)
def test_other_columns_than_in_fit(model, data, asked, new):
    name = type(model).__name__
    rule = (
        rf"X of {name} must have the columns of fit\. X has \d features, but {name} is expecting \d features as input"
    )
    with pytest.raises(ValueError, match=rf"{rule}\. Give the same columns in the same order\."):
        getattr(model.fit(data), asked)(new)


@pytest.mark.parametrize("checked", [columns_checked, lambda subject: features_checked(subject, X)])
def test_other_errors_stay_as_they_are(checked):
    with pytest.raises(ValueError, match=r"^another$"), checked("X"):
        raise ValueError("another")


def test_a_model_that_is_not_fitted():
    said = r"KMeansConsensus must be fitted first\. It is not fitted yet\. Call fit with your data\."
    with pytest.raises(NotFittedError, match=said):
        KMeansConsensus(2).predict([[0, 1]])


def test_what_is_no_model():
    with pytest.raises(TypeError, match=r"The model must be an estimator\. Got 3\. Give a fitted one\."):
        to_anndata(3, None)
