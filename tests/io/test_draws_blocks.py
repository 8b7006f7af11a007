"""Draws are read a block at a time, in the narrowest whole numbers, within a limit of memory."""

import gzip
import re
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from limits import limit
from numpy.testing import assert_array_equal
from representatives import first_of
from shell import fail, succeed

from ensemblage import Ensemble
from ensemblage.posterior import read_draws

RNG = np.random.default_rng(5)
DRAWS = RNG.integers(1, 9, size=(300, 7))
GAPPED = np.where(RNG.random(DRAWS.shape) < 0.02, -1, DRAWS)
GAPPED[:3] = DRAWS[:3]


def text_of(draws, mark=",", end="\n", names=True, gap="NA"):
    """A table as R writes it, with row names or without."""
    header = [f'"V{j}"' for j in range(1, draws.shape[1] + 1)]
    rows = [[gap if label == -1 else str(label) for label in row] for row in draws.tolist()]
    if names:
        header = ['""', *header]
        rows = [[f'"{i}"', *row] for i, row in enumerate(rows, start=1)]
    return "".join(mark.join(line) + end for line in [header, *rows])


def labels_of(draws):
    """(n_draws, n_objects) labels, -1 where none is."""
    ensemble = draws.ensemble
    of_draws = zip(ensemble.categories, ensemble.codes.T, strict=True)
    return np.stack([np.append(labels, -1)[codes] for labels, codes in of_draws])


def bytes_to_read(n_labels, width=1):
    """Three copies of the labels that are kept, and 64 bytes for each of a block."""
    return 64 * min(n_labels, 2**20) + 3 * width * n_labels


@pytest.fixture(params=[2**21, 200, 37], ids=lambda size: f"{size} bytes")
def _block_size(monkeypatch, request):
    limit(monkeypatch, "bytes of draws that are read at once", request.param)


TEXTS = {
    "tabs": (text_of(DRAWS, "\t"), DRAWS),
    "semicolons, Windows": (text_of(GAPPED, ";", "\r\n"), GAPPED),
    "spaces": (text_of(DRAWS, " "), DRAWS),
    "several spaces": (text_of(GAPPED, "   "), GAPPED),
    "spaces beside commas": (text_of(DRAWS, ", "), DRAWS),
    "no row names": (text_of(GAPPED, names=False), GAPPED),
    "empty cells": (text_of(GAPPED, gap=""), GAPPED),
    "empty cells first and last": (text_of(GAPPED, names=False, gap=""), GAPPED),
    "quoted empty cells": (text_of(GAPPED, gap='""'), GAPPED),
    "old Macintosh": (text_of(DRAWS, end="\r"), DRAWS),
    "blank lines": ("\n\n" + text_of(DRAWS, end="\n\n") + "\n\n\n", DRAWS),
    "fractions of zero": (text_of(DRAWS.astype(float)), DRAWS),
    "a row name of two lines": (text_of(DRAWS).replace('"1",', '"a, b\nc",', 1), DRAWS),
    "row names of two lines": (re.sub(r'(?m)^"(\d+)",', '"a\n\\1",', text_of(DRAWS)), DRAWS),
    "a short header": (text_of(DRAWS).replace('"",', "", 1), DRAWS),
    "no line end at the end": (text_of(DRAWS).rstrip(), DRAWS),
}


@pytest.mark.usefixtures("_block_size")
@pytest.mark.parametrize("name", TEXTS)
def test_blocks_of_text(tmp_path, name):
    text, expected = TEXTS[name]
    (tmp_path / "draws.csv").write_bytes(text.encode())
    assert_array_equal(labels_of(read_draws(tmp_path / "draws.csv", draws_axis="rows")), expected)


@pytest.mark.usefixtures("_block_size")
@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_blocks_of_encoded_and_packed_text(tmp_path, encoding):
    text = text_of(GAPPED).replace("V2", "é")
    (tmp_path / "draws.csv").write_bytes(text.encode(encoding))
    (tmp_path / "draws.csv.gz").write_bytes(gzip.compress(text.encode()))
    for name in ("draws.csv", "draws.csv.gz"):
        draws = read_draws(tmp_path / name, draws_axis="rows")
        assert_array_equal(labels_of(draws), GAPPED)
        assert draws.ids[1] == "é"
    (tmp_path / "cut.csv.gz").write_bytes((tmp_path / "draws.csv.gz").read_bytes()[:-40])
    with pytest.raises(ValueError, match="must be a complete gzip file"):
        read_draws(tmp_path / "cut.csv.gz", draws_axis="rows")


@pytest.mark.parametrize(("encoding", "n_blocks"), [("utf-8", 8), ("utf-8-sig", 8), ("utf-16", 1)])
def test_text_is_read_in_blocks_where_its_lines_are_found(tmp_path, monkeypatch, encoding, n_blocks):
    """Lines of characters of two bytes are found once all is decoded."""
    (tmp_path / "draws.csv").write_bytes(text_of(DRAWS).encode(encoding))
    limit(monkeypatch, "bytes of draws that are read at once", len(text_of(DRAWS)) // 7)
    blocks, load = [], np.loadtxt
    monkeypatch.setattr(np, "loadtxt", lambda *of, **more: blocks.append(of) or load(*of, **more))
    assert_array_equal(labels_of(read_draws(tmp_path / "draws.csv", draws_axis="rows")), DRAWS)
    assert len(blocks) == n_blocks


WRONG = {
    '"200",7,': "must have 8 fields, as the first one has. Got 9 in line 201",
    '"200",x': "Got the column 'V1' of text",
    '"200",0.5': r"Labels must be whole numbers. Got 0.5\d in column 'V1' of draws.csv",
    '"200': "Correct the quotes of that line",
    '"200",\0': "Got a NUL byte in line 201",
}


@pytest.mark.usefixtures("_block_size")
@pytest.mark.parametrize("text", WRONG)
def test_lines_that_are_wrong(tmp_path, text):
    wrong = text_of(DRAWS).replace('\n"200",', f"\n{text}")
    (tmp_path / "draws.csv").write_text(wrong)
    with pytest.raises(ValueError, match=WRONG[text]):
        read_draws(tmp_path / "draws.csv", draws_axis="rows")


@pytest.mark.usefixtures("_block_size")
@pytest.mark.parametrize("kind", ["csv", "parquet", "npy", "array", "feather"])
def test_draws_that_are_left_out_are_not_kept(tmp_path, monkeypatch, kind):
    """Blocks begin in the middle of a chain: what is kept goes by the place in the chain, and needs room alone."""
    limit(monkeypatch, "labels of a block of draws", 50)
    path, frame = tmp_path / f"draws.{kind}", pd.DataFrame(DRAWS, columns=[f"V{j}" for j in range(7)])
    if kind == "csv":
        path.write_text(text_of(DRAWS))
    elif kind == "npy":
        np.save(path, DRAWS)
    elif kind != "array":
        getattr(frame, f"to_{kind}")(path)
    source, kept = DRAWS if kind == "array" else path, DRAWS[17::5]
    given, room = {"draws_axis": "rows", "burn_in": 17, "thin": 5}, 64 * 50 + 3 * kept.size
    draws = read_draws(source, **given, max_bytes=room)
    assert_array_equal(labels_of(draws), kept)
    assert draws.ensemble.names[:2] == ["1.18", "1.23"]
    with pytest.raises(ValueError, match=f"max_bytes = .* for {kept.size} labels"):
        read_draws(source, **given, max_bytes=room - 1)


@pytest.mark.usefixtures("_block_size")
def test_thinning_is_of_each_chain_in_a_column(tmp_path):
    chains = RNG.choice(["a", "b", "c"], size=300)
    frame = pd.DataFrame(DRAWS, columns=[f"V{j}" for j in range(7)]).assign(run=chains)
    frame.to_csv(tmp_path / "draws.csv", index=False)
    draws = read_draws(tmp_path / "draws.csv", draws_axis="rows", chain_column="run", burn_in=3, thin=4)
    names = list(dict.fromkeys(chains))
    assert_array_equal(labels_of(draws), np.concatenate([DRAWS[chains == name][3::4] for name in names]))
    frame.loc[200, "run"] = None
    frame.to_csv(tmp_path / "gap.csv", index=False)
    with pytest.raises(ValueError, match=r"Every draw must have a chain\. Got 1 without"):
        read_draws(tmp_path / "gap.csv", draws_axis="rows", chain_column="run")


@pytest.mark.usefixtures("_block_size")
def test_thinning_of_draws_in_columns(tmp_path):
    (tmp_path / "draws.csv").write_text(text_of(DRAWS))
    draws = read_draws(tmp_path / "draws.csv", draws_axis="columns", burn_in=1, thin=2)
    assert_array_equal(labels_of(draws), DRAWS.T[1::2])
    assert draws.ids[:2] == ["1", "2"]
    with pytest.raises(ValueError, match=r"burn_in must leave draws of every chain\. Got a chain of 7"):
        read_draws(tmp_path / "draws.csv", draws_axis="columns", burn_in=7)


@pytest.mark.parametrize(
    ("largest", "width"), [(127, 1), (-128, 1), (128, 2), (-129, 2), (32_767, 2), (32_768, 4), (-32_769, 4)]
)
def test_labels_are_in_the_narrowest_type(largest, width):
    labels = np.array([[0, largest]] * 2)
    needed = bytes_to_read(4, width)
    assert_array_equal(labels_of(read_draws(labels, draws_axis="rows", max_bytes=needed)), labels)
    with pytest.raises(ValueError, match=f"must fit into max_bytes = {needed - 1} bytes. Got {needed} bytes"):
        read_draws(labels, draws_axis="rows", max_bytes=needed - 1)


def test_labels_of_several_widths():
    wide = np.where(DRAWS == 8, 10**6, DRAWS)
    assert_array_equal(labels_of(read_draws(wide, draws_axis="rows")), wide)


def test_the_largest_labels(tmp_path):
    largest = np.array([[2**31 - 1, 1 - 2**31]] * 2)
    assert_array_equal(labels_of(read_draws(largest, draws_axis="rows")), largest)
    path = tmp_path / "draws.parquet"
    for label in (2**31, -(2**31)):
        pd.DataFrame({"a": [label, 1], "b": [1, 1]}).to_parquet(path)
        with pytest.raises(ValueError, match=r"at most 2,147,483,647\. Got a larger one in column 'a'"):
            read_draws(path, draws_axis="rows")
    pd.DataFrame({"a": [1, 2**31], "b": [2**31, 1]}).to_parquet(path)
    with pytest.raises(ValueError, match=r"Got a larger one in column 'b'"):  # the first one by rows
        read_draws(path, draws_axis="rows")


@pytest.mark.usefixtures("_block_size")
@pytest.mark.parametrize("end", ["", "\n"])
def test_names_and_numbers_of_rows_are_known_before(tmp_path, monkeypatch, end):
    (tmp_path / "draws.csv").write_text("a,,b\n" + "\n".join(["1,2,1", "1,2,2"] * 50) + end)
    assert read_draws(tmp_path / "draws.csv", draws_axis="rows").ids == ["a", "column_2", "b"]
    monkeypatch.setattr(np, "loadtxt", lambda *_, **__: pytest.fail("was read"))
    with pytest.raises(ValueError, match=r"Reading draws\.csv must fit .* for 300 labels"):
        read_draws(tmp_path / "draws.csv", draws_axis="rows", max_bytes=bytes_to_read(300) - 1)


def test_dates_are_no_labels(tmp_path):
    pd.DataFrame({"a": [1, 2], "day": pd.to_datetime(["2026-01-01", "2026-01-02"])}).to_parquet(tmp_path / "d.parquet")
    with pytest.raises(ValueError, match=r"Got timestamp\[.*\] in column 'day' of d\.parquet"):
        read_draws(tmp_path / "d.parquet", draws_axis="rows")


def test_tables_with_row_names_and_packed_ones(tmp_path):
    frame = pd.DataFrame(DRAWS, columns=[f"V{j}" for j in range(7)], index=[f"draw {i}" for i in range(300)])
    frame.to_parquet(tmp_path / "draws.parquet")
    (tmp_path / "packed.parquet.gz").write_bytes(gzip.compress((tmp_path / "draws.parquet").read_bytes()))
    for name in ("draws.parquet", "packed.parquet.gz"):
        draws = read_draws(tmp_path / name, draws_axis="rows")
        assert_array_equal(labels_of(draws), DRAWS)
        assert draws.ids == list(frame.columns)


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A table of 10 million labels, 20 MB."""
    labels = RNG.integers(1, 9, size=(10_000, 1_000), dtype=np.uint8)
    cells = np.full((10_000, 2_000), ord(","), dtype=np.uint8)
    cells[:, ::2] = labels + ord("0")
    cells[:, -1] = ord("\n")
    path = tmp_path_factory.mktemp("large") / "draws.csv"
    path.write_bytes(",".join(f"V{j}" for j in range(1_000)).encode() + b"\n" + cells.tobytes())
    return path, labels


@pytest.mark.slow
@pytest.mark.parametrize("axis", first_of(["rows", "columns"]))
def test_memory_of_reading(large, axis):
    path, labels = large
    read_draws(labels[:5, :5], draws_axis="rows")  # compiles
    tracemalloc.start()
    try:
        draws = read_draws(path, draws_axis=axis, max_bytes=bytes_to_read(labels.size, 1))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    codes = draws.ensemble.codes
    assert_array_equal(codes + 1, labels.T if axis == "rows" else labels)
    assert codes.nbytes == labels.size
    assert 2 * labels.size < peak < bytes_to_read(labels.size, 1)


def test_more_than_there_is_room_for_is_refused_before_it_is_read(large, monkeypatch):
    path, labels = large
    with pytest.raises(ValueError, match=r"Reading draws\.csv must fit into max_bytes = .* for 10,000,000 labels"):
        read_draws(path, draws_axis="rows", max_bytes=bytes_to_read(labels.size, 1) - 1)
    monkeypatch.setattr(np, "loadtxt", lambda *_, **__: pytest.fail("was read"))
    for axis in ("rows", "columns"):
        with pytest.raises(ValueError, match="keep fewer draws with thin or burn_in"):
            read_draws(path, draws_axis=axis, max_bytes="70MB")


@pytest.mark.slow
def test_what_is_not_known_before_is_refused_while_it_is_read(large, tmp_path):
    path, labels = large
    (tmp_path / "draws.csv.gz").write_bytes(gzip.compress(path.read_bytes(), 1))
    for source in (tmp_path / "draws.csv.gz", labels, [labels[:5_000], labels[5_000:]], Ensemble(labels)):
        options = {} if isinstance(source, Ensemble) else {"draws_axis": "rows"}
        with pytest.raises(ValueError, match=r"must fit into max_bytes = 80,000,000 bytes\. Got"):
            read_draws(source, max_bytes="80MB", **options)
    assert (
        read_draws(tmp_path / "draws.csv.gz", draws_axis="rows", thin=10, max_bytes="80MB").ensemble.shape[1] == 1_000
    )


def test_all_files_count_together(large):
    path, labels = large
    with pytest.raises(ValueError, match=r"for 20,000,000 labels"):
        read_draws([path, path], draws_axis="rows", max_bytes=bytes_to_read(2 * labels.size, 1) - 1)


def test_the_shell_says_what_to_do(large, tmp_path):
    path, _ = large
    out = tmp_path / "out"
    message = fail("summarize", path, "--draws-axis", "rows", "--memory", "70MB", "-o", out)
    assert "Reading draws.csv must fit into --memory = 70,000,000 bytes" in message
    assert "keep fewer draws with --thin or --burn-in" in message
    assert not out.exists()
    thinned = ("--thin", 500, "--starts", 2, "--pairs", 9)
    succeed("summarize", path, "--draws-axis", "rows", "--memory", "90MB", *thinned, "-o", out)
