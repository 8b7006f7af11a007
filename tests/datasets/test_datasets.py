"""Data sets by name: where they come from, and what is said of those that differ from the papers."""

import gzip

import numpy as np
import pytest
from sklearn import datasets as sklearn_datasets

from ensemblage import datasets

BUNDLED = ["iris", "wine", "digits", "wdbc"]
GENERATED = ["2d2k", "8d5k", "two_gauss", "blobs"]
OPENML = {
    "advertisement": "Internet-Advertisements",
    "balance": "balance-scale",
    "breast_tissue": "breast-tissue",
    "breastcancer": "breast-w",
    "contraceptive": "cmc",
    "dermatology": "dermatology",
    "ecoli": "ecoli",
    "gisette": "gisette",
    "glass": "glass",
    "ionosphere": "ionosphere",
    "letter_recognition": "letter",
    "pendigits": "pendigits",
    "seeds": "seeds",
    "segmentation": "segment",
    "usps": "USPS",
    "yeast": "yeast",
}


def write(path, text):
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.write(text)


@pytest.fixture
def no_folder(monkeypatch):
    monkeypatch.delenv("ENSEMBLAGE_DATA", raising=False)


@pytest.mark.usefixtures("no_folder")
@pytest.mark.parametrize("name", [*BUNDLED, *GENERATED])
def test_sets_that_need_no_file_have_the_printed_shape(name):
    dataset = datasets.load_dataset(name)
    assert dataset.notes == ()
    assert dataset.y is not None
    assert np.unique(dataset.y).tolist() == list(range(dataset.n_classes))


@pytest.mark.parametrize("name", GENERATED)
def test_generated_sets_are_the_same_every_time(name):
    first, second = datasets.load_dataset(name), datasets.load_dataset(name)
    np.testing.assert_array_equal(first.X, second.X)
    np.testing.assert_array_equal(first.y, second.y)


def test_every_source_is_a_printed_name():
    assert {*BUNDLED, *GENERATED, *OPENML} <= set(datasets.dataset_names())


@pytest.mark.usefixtures("no_folder")
@pytest.mark.parametrize("name", OPENML)
def test_sets_of_openml_are_asked_for_by_its_names(name, monkeypatch):
    asked = []
    monkeypatch.setattr("sklearn.datasets.fetch_openml", lambda name, **_: asked.append(name) or 1 / 0)
    with pytest.raises(datasets.UnavailableError, match="It cannot: division by zero"):
        datasets.load_dataset(name)
    assert asked == [OPENML[name]]


def test_printed_names_lead_to_the_files(tmp_path):
    assert datasets.load_dataset("Two Gauss").name == "two_gauss"
    for name, printed, paper in (("pathbased", "PB", "Sinorina"), ("landsat", "landstat", "Candel")):
        write(tmp_path / f"{name}.csv.gz", "f0,label\n1,0\n2,1\n3,1\n")
        dataset = datasets.load_dataset(printed, tmp_path)
        assert dataset.name == name
        assert any(note.startswith(f"{paper} prints ") for note in dataset.notes)


def test_a_file_of_any_name_loads_with_its_gaps(tmp_path):
    write(tmp_path / "Mine.csv.gz", "f0,f1,label\n1,2,b\n3,,a\n5,6,b\n")
    dataset = datasets.load_dataset("mine", tmp_path)
    assert dataset.source == "Mine.csv.gz"
    np.testing.assert_array_equal(dataset.X, [[1, 2], [3, np.nan], [5, 6]])
    assert dataset.y.tolist() == [1, 0, 1]


def test_a_file_goes_before_the_bundled_set_and_is_compared_with_the_papers(tmp_path, monkeypatch):
    write(tmp_path / "wine.csv.gz", "f0,label\n1,0\n2,1\n3,1\n")
    monkeypatch.setenv("ENSEMBLAGE_DATA", str(tmp_path))
    dataset = datasets.load_dataset("wine")
    assert dataset.X.shape == (3, 1)
    assert len(dataset.notes) == 3
    assert dataset.notes[0] == "Sinorina prints 178 × 13 of 3 classes. This copy is 3 × 1 of 2 classes."


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("f0,f1\n1,2\n3,4\n", "the columns f0, f1"),
        ("label\n1\n2\n", "the columns label"),
        ("f0,label\nred,1\nblue,2\n", "text in column f0"),
        ("f0,label\n1,1\n2,\n", "label of odd.csv must be complete"),
        ("f0,label\n1,red\n2,\n3,blue\n", "label of odd.csv must be complete"),
    ],
)
def test_a_file_of_another_form_is_refused(tmp_path, text, told):
    write(tmp_path / "odd.csv.gz", text)
    with pytest.raises(ValueError, match=told):
        datasets.load_dataset("odd", tmp_path)


@pytest.mark.usefixtures("no_folder")
def test_unknown_names_list_the_known():
    with pytest.raises(datasets.UnavailableError, match=r"Data set magic .* Known are 2d2k, .*, yeoh-2002-v2\."):
        datasets.load_dataset("magic")
    with pytest.raises(datasets.UnavailableError, match=r"Data set irys .* Did you mean 'iris'\?"):
        datasets.load_dataset("irys")


def test_folder_must_exist(tmp_path):
    with pytest.raises(ValueError, match=r"folder of the data sets must exist\. Got .*nowhere"):
        datasets.load_dataset("iris", tmp_path / "nowhere")


@pytest.mark.usefixtures("no_folder")
def test_fetched_sets_are_coded_and_compared(monkeypatch):
    asked = []

    def fetch(name, **options):
        asked.append((name, options["version"]))
        return np.array([[1.5, "red"], [2.5, "blue"], [3.5, "red"]], dtype=object), np.array(["x", "y", "x"])

    monkeypatch.setattr(sklearn_datasets, "fetch_openml", fetch)
    dataset = datasets.load_dataset("breastcancer")
    assert asked == [("breast-w", 1)]
    np.testing.assert_array_equal(dataset.X, [[1.5, 1], [2.5, 0], [3.5, 1]])
    assert dataset.notes == ("Candel prints 699 × 9. This copy is 3 × 2.",)


@pytest.mark.usefixtures("no_folder")
def test_gaps_of_fetched_sets_are_gaps(monkeypatch):
    """OpenML gives None for text, NaN for numbers that are not there."""
    X = [[1.5, "red"], [np.nan, "blue"], [3.5, None], [4.5, np.nan], [None, "red"]]
    classes = ["x", "y", "x", "x", "x"]
    monkeypatch.setattr(
        sklearn_datasets, "fetch_openml", lambda name, **options: (np.array(X, dtype=object), np.array(classes))
    )
    dataset = datasets.load_dataset("breastcancer")
    np.testing.assert_array_equal(dataset.X, [[1.5, 1], [np.nan, 0], [3.5, np.nan], [4.5, np.nan], [np.nan, 1]])
    assert dataset.y.tolist() == [0, 1, 0, 0, 0]
    for gap in (None, np.nan):
        classes = np.array(["x", "y", "x", gap, "x"], dtype=object)
        with pytest.raises(ValueError, match="The class of breastcancer on OpenML must be complete"):
            datasets.load_dataset("breastcancer")


@pytest.mark.usefixtures("no_folder")
def test_without_network_or_permission_it_says_where_to_put_the_file(monkeypatch):
    def fetch(name, **options):
        raise OSError("no network")

    monkeypatch.setattr(sklearn_datasets, "fetch_openml", fetch)
    with pytest.raises(datasets.UnavailableError, match=r"cannot: no network; put seeds\.csv\.gz into"):
        datasets.load_dataset("Seeds")
    with pytest.raises(datasets.UnavailableError, match="or allow downloads"):
        datasets.load_dataset("Seeds", download=False)


@pytest.mark.parametrize("name", [5, None, "", " ", b"wine"])
def test_a_name_is_text(name):
    with pytest.raises(TypeError, match=r"name of a data set must be text\. Got .*\. dataset_names\(\) lists"):
        datasets.load_dataset(name)


def test_the_folder_is_a_path():
    for bad in (5, "no\0such"):
        with pytest.raises(TypeError, match=r"data_home must be a path: text or a pathlib\.Path\. Got "):
            datasets.load_dataset("wine", bad)
    with pytest.raises(ValueError, match=r"The folder of the data sets must exist"):
        datasets.load_dataset("wine", "no-such-folder")
