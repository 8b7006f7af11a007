"""What every fitted estimator says of new data: with and without names, with other columns, as scikit-learn's do."""

import warnings

import numpy as np
import pandas as pd
import pytest
from estimators import ESTIMATORS, data_of, fitted
from numpy.testing import assert_array_equal

from ensemblage import ConsensusClustering
from ensemblage.preprocessing import Preprocessor

QUESTIONS = ("predict", "predict_proba", "transform", "assign", "membership")
WITHOUT = "X does not have valid feature names, but .* was fitted with feature names"
WITH = "X has feature names, but .* was fitted without feature names"


def answer(model, question, X):
    found = getattr(model, question)(X)
    return found.labels if question == "assign" else found


def refused_for_width(model, question, X):
    told = pytest.raises(ValueError, match=r"X has 3 features, but \w+ is expecting \d features")
    with warnings.catch_warnings(), told:
        warnings.simplefilter("ignore")
        answer(model, question, X)


@pytest.mark.core(3)
@pytest.mark.parametrize("name", ESTIMATORS)
def test_fitted_on_a_frame_and_asked_with_an_array(name):
    """Columns count by their order, and scikit-learn's warning says so."""
    model, frame, array = fitted(name, frame=True), data_of(name, frame=True), data_of(name)
    for question in QUESTIONS:
        if not hasattr(model, question):
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            expected = answer(model, question, frame)
        with pytest.warns(UserWarning, match=WITHOUT):
            assert_array_equal(answer(model, question, array), expected)
        refused_for_width(model, question, array[:, :3])
        with pytest.raises(ValueError, match=r"(?s)names?.*c3|columns.* no 'c3'"):
            answer(model, question, frame.iloc[:, :3])


@pytest.mark.core(3)
@pytest.mark.parametrize("name", ESTIMATORS)
def test_fitted_on_an_array_and_asked_with_a_frame(name):
    model, frame, array = fitted(name), data_of(name, frame=True), data_of(name)
    for question in QUESTIONS:
        if not hasattr(model, question):
            continue
        expected = answer(model, question, array)
        with pytest.warns(UserWarning, match=WITH):
            assert_array_equal(answer(model, question, frame), expected)
        for narrow in (array[:, :3], frame.iloc[:, :3]):
            refused_for_width(model, question, narrow)


def people(n=40):
    random, group = np.random.default_rng(0), np.arange(n) % 3
    return pd.DataFrame(
        {
            "size": group * 3 + random.normal(size=n),
            "colour": np.array(["red", "blue", "green"])[group],
            "day": pd.date_range("2020-01-01", periods=n, freq="7D"),
            "grade": group + 1,
        }
    )


@pytest.mark.filterwarnings(f"ignore:{WITHOUT}")
@pytest.mark.parametrize("options", [{}, {"dates": "days"}, {"roles": {"grade": "category"}}, {"categories": "member"}])
def test_columns_of_all_kinds_may_lose_their_names(options):
    frame = people()
    preprocessor = Preprocessor(**options).fit(frame)
    expected = preprocessor.transform(frame)
    for cells in (frame.to_numpy(), frame.to_numpy().tolist()):
        assert_array_equal(preprocessor.transform(cells), expected)
        assert preprocessor.partitions(cells).keys() == preprocessor.partitions(frame).keys()
    model = ConsensusClustering(3, preprocessor=Preprocessor(**options), quality="fast", random_state=0).fit(frame)
    assert_array_equal(model.predict(frame.to_numpy()), model.predict(frame))


@pytest.mark.filterwarnings("ignore:X does not have valid feature names", "ignore:X has feature names")
def test_what_is_no_table_of_that_kind_is_refused_in_a_sentence():
    frame = people()
    of_frame, of_array = Preprocessor().fit(frame), Preprocessor().fit(frame[["size", "grade"]].to_numpy())
    with pytest.raises(ValueError, match=r"a row per object and a column per feature. Got shape \(4,\)"):
        of_frame.transform(frame.to_numpy()[0])
    with pytest.raises(ValueError, match=r"Column 'size' .* must hold numbers.* Got 'big'"):
        of_frame.transform([["big", "red", "2020-01-01", 1], [2, "red", "2020-01-01", 1]])
    with pytest.raises(ValueError, match=r"X of Preprocessor must be numbers\. Got columns of other kinds"):
        of_array.transform(frame[["size", "day"]])
