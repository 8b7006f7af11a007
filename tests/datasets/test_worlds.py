"""Synthetic worlds with known clusters."""

import warnings

import numpy as np
import pyarrow as pa
import pytest
from representatives import first_of

from ensemblage.datasets import make_world
from ensemblage.preprocessing import Preprocessor

KINDS = ("clouds", "shapes", "numbers", "categories", "mixed", "wide", "single")


def columns_of(X):
    return [X[:, j] for j in range(X.shape[1])] if isinstance(X, np.ndarray) else X.columns


@pytest.mark.core(3)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", first_of(range(25), 9))
def test_every_world_can_be_clustered(kind, seed):
    X, labels, name, traits = make_world(kind, n_samples=20 + 17 * seed, random_state=seed)
    assert name == kind
    assert len(labels) == 20 + 17 * seed
    assert all(len(column) == len(labels) for column in columns_of(X))
    assert traits == tuple(dict.fromkeys(traits))
    k = labels.max() + 1
    assert set(labels) - {-1} == set(range(k))
    assert k == 1 if kind == "single" else 2 <= k <= 25
    assert ("outliers" in traits) >= (labels == -1).any()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of amounts that lie far outside
        features = Preprocessor(standardize=True).fit_transform(X)
    assert np.isfinite(features).all()


def test_same_seed_same_world():
    worlds = [make_world("numbers", random_state=seed) for seed in (3, 3, 4)]
    assert (worlds[0].X == worlds[1].X).all()
    assert (worlds[0].labels == worlds[1].labels).all()
    assert worlds[0].X.shape != worlds[2].X.shape


def test_worlds_stay_what_they_were():
    """The stream of the generator does not change between versions of NumPy: what is trained can be trained again."""
    found = {}
    for kind in KINDS:
        X, labels, *_ = make_world(kind, random_state=11)
        found[kind] = (len(labels), len(columns_of(X)), int(labels.sum()))
    assert found == FOUND


FOUND = {
    "clouds": (107, 2, 105),
    "shapes": (162, 2, 162),
    "numbers": (63, 5, 63),
    "categories": (63, 6, 63),
    "mixed": (63, 7, 63),
    "wide": (43, 63, 41),
    "single": (107, 2, 0),
}
"""Objects, columns, sum of the labels."""


def test_kinds_are_drawn():
    kinds = [make_world(n_samples=40, random_state=seed).kind for seed in range(60)]
    assert set(kinds) == set(KINDS)


def test_categories_are_dictionaries_of_arrow():
    table = make_world("categories", random_state=0).X
    assert all(pa.types.is_dictionary(column.type) for column in table.columns)
    types = [column.type for column in make_world("mixed", random_state=0).X.columns]
    assert {pa.types.is_dictionary(of) for of in types} == {True, False}
    ordered = [make_world("categories", random_state=seed).X.column(0).type.ordered for seed in range(30)]
    assert set(ordered) == {True, False}


def test_traits_say_what_is_there():
    """Worlds in which a column says nothing have such columns: their means differ no more than by chance."""
    sizes = {"unequal sizes": [], "": []}
    for seed in range(120):
        X, labels, _, traits = make_world("clouds", n_samples=400, random_state=seed)
        shares = np.bincount(labels[labels >= 0])
        sizes["unequal sizes" if "unequal sizes" in traits else ""].append(shares.min() / shares.max())
        if "units" not in traits and "irrelevant features" not in traits:
            assert X.std(axis=0).max() < 60 * X.std(axis=0).min()
    assert np.median(sizes["unequal sizes"]) < 0.5 * np.median(sizes[""])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"kind": "cloud"}, "kind of make_world must be one of"),
        ({"n_samples": 19}, "n_samples of make_world must be"),
        ({"n_samples": 40.5}, "n_samples of make_world must be"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises((ValueError, TypeError), match=message):
        make_world(**arguments)
