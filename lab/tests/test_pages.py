"""The pages that the laboratory's scripts write are what their records give."""

import importlib.util
import json
from pathlib import Path

import pytest
from PIL import Image

SCRIPTS = Path(__file__).parents[1] / "scripts"


def script(name):
    """One of those that write documents, as a module."""
    spec = importlib.util.spec_from_file_location(name, SCRIPTS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_picture_of_the_readme_shows_what_its_script_draws_today():
    make_picture = script("make_picture")
    shown, today = json.loads(Image.open(make_picture.PICTURE).text["Description"]), make_picture.drawn()
    assert shown["labels"] == today["labels"]
    assert shown["confidence"] == pytest.approx(today["confidence"], abs=0.002)


@pytest.mark.parametrize("name", ["make_certainty", "make_default", "make_splits"])
def test_a_page_is_what_its_records_give(name):
    made = script(name)
    assert made.PAGE.read_text(encoding="utf-8") == made.page()


def test_the_measured_parts_of_benchmarks_are_what_their_records_give():
    made = script("make_benchmarks")
    text = made.PAGE.read_text(encoding="utf-8")
    assert text == made.with_parts(text)
    assert made.growth() in text
    assert made.default_growth() in text
    assert made.comparison() in text
    assert made.person() in text


def test_what_is_found_by_the_number_of_objects_is_what_its_records_give():
    made = script("make_sizes")
    text = made.PAGE.read_text(encoding="utf-8")
    assert text == made.with_tables(text)


def test_reliability_is_what_its_records_give():
    """But for the mutants there are: every edit of the sources changes how many."""
    made = script("make_reliability")
    text = made.PAGE.read_text(encoding="utf-8")
    for part in (made.HEAD, made.CONFORMANCE, made.MUTANTS, made.ELSEWHERE):
        assert part in text
    for part in (made.fuzz_table(), made.planted_table(), made.versions()):
        assert part
        assert part in text
