"""Files of ensembles: those of today are read for ever, and no damage ends in anything but a sentence."""

import errno
import io
import os
import random
import re
import shutil
import stat
import zipfile
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from places import FILES
from strategies import random_labels

from ensemblage import Ensemble, load, read_table
from ensemblage.base.atomic import atomic_write
from ensemblage.base.options import NoteWarning
from ensemblage.base.text import write_text
from ensemblage.cli import main
from ensemblage.consensus import KMeansConsensus
from ensemblage.generation import RandomKPartitions, write_partitions
from ensemblage.io._features import features_of, members_of
from ensemblage.tables.arrow import TYPED
from ensemblage.tables.formats import FORMATS

# What is in the files that version 0.1 wrote: labels by rows, names, the number that means missing.
WRITTEN = {
    "complete": ([[0, 5], [0, 7], [3, 5], [3, 7]], ["a", "b"], -1),
    "missing": ([[0, None], [None, 7], [3, 5], [3, 7]], None, -1),
    "text": ([["x", "naïve"], ["y", None], ["x", "a,b"], [None, "1"]], ["first", "zwei ✓"], -1),
    "float": ([[0.5, 2], [1.25, None], [None, 3], [0.5, 2]], None, -1),
    "minus-one-is-a-label": ([[-1, 0], [2, 0], [-1, 1]], None, None),
    "wide": (np.column_stack([np.arange(300), np.arange(300) // 150]).tolist(), None, -1),
}


def test_a_csv_file_with_fractions_looks_like_features():
    """Nothing in a CSV file says who wrote it; the .npz file of the same ensemble is read."""
    with pytest.raises(ValueError, match=r"these look like features\. Got 0\.5 in partition 'partition_0'"):
        Ensemble.load(FILES / "ensemble-1-float.csv")


def test_labels_that_look_like_features_are_not_saved_as_csv(tmp_path):
    """Such a file could not be loaded."""
    for E in (Ensemble([["0.5"], ["1.5"]]), Ensemble.load(FILES / "ensemble-1-float.npz")):
        with pytest.raises(ValueError, match=r"no labels that are numbers with fractions.*Got '0\.5'.*Use \.npz"):
            E.save(tmp_path / "labels.csv")
        assert not (tmp_path / "labels.csv").exists()


@pytest.mark.parametrize(
    "path",
    sorted({*FILES.glob("ensemble-1-*")} - {FILES / "ensemble-1-float.csv"}),
    ids=lambda path: path.name,
)
def test_files_of_version_1(path):
    labels, names, missing = WRITTEN[path.stem.removeprefix("ensemble-1-")]
    E = Ensemble.load(path)
    assert E.names == (names or ["partition_0", "partition_1"])
    assert E.missing == missing
    assert E.codes.dtype == (np.uint16 if "wide" in path.name else np.uint8)
    tables = [[*categories.tolist(), None] for categories in E.categories]
    found = [[table[code] for table, code in zip(tables, row, strict=True)] for row in E.codes.tolist()]
    assert found == labels
    assert [[type(z) for z in row] for row in found] == [[type(z) for z in row] for row in labels]
    # 0.5 was a label once, and files keep it.
    numbered = [[4 * z if "float" in path.name and z is not None else z for z in row] for row in labels]
    expected = KMeansConsensus(2, random_state=0).fit(Ensemble(numbered, missing=missing)).labels_
    np.testing.assert_array_equal(KMeansConsensus(2, random_state=0).fit(E).labels_, expected)


def test_every_kind_of_label_is_among_the_files():
    assert {path.stem.removeprefix("ensemble-1-") for path in FILES.glob("ensemble-1-*.npz")} == set(WRITTEN)


@pytest.mark.parametrize("name", ["missing", "text", "float"])
def test_files_are_still_written_as_in_version_1(name, tmp_path):
    path = FILES / f"ensemble-1-{name}.npz"
    Ensemble.load(path).save(tmp_path / "again.npz")
    with np.load(path) as old, np.load(tmp_path / "again.npz") as new:
        assert sorted(old) == sorted(new)
        assert all(old[part].dtype == new[part].dtype and np.array_equal(old[part], new[part]) for part in old)
    if name != "float":  # which looks like features: no CSV file of it could be loaded
        Ensemble.load(path).save(tmp_path / "again.csv")
        assert (tmp_path / "again.csv").read_bytes() == path.with_suffix(".csv").read_bytes()


def test_a_newer_version(tmp_path):
    with np.load(FILES / "ensemble-1-complete.npz") as parts:
        np.savez(tmp_path / "newer.npz", **(dict(parts) | {"ensemblage_format": np.array(2)}), more=np.array(["x"]))
    with pytest.raises(ValueError, match=r"Got format 2, which a newer ensemblage wrote\. Upgrade ensemblage\.$"):
        Ensemble.load(tmp_path / "newer.npz")
    np.savez(tmp_path / "newest.npz", ensemblage_format=np.array(3))
    with pytest.raises(ValueError, match=r"Got format 3, which a newer ensemblage wrote"):
        Ensemble.load(tmp_path / "newest.npz")


def test_a_file_that_announces_more_than_it_holds(tmp_path):
    """No memory is taken for it."""
    with zipfile.ZipFile(FILES / "ensemble-1-complete.npz") as old, zipfile.ZipFile(tmp_path / "e.npz", "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name == "codes.npy":
                content = content.replace(b"(4, 2), }            ", b"(4000000000000, 2), }")
                assert b"4000000000000" in content
            new.writestr(name, content)
    with pytest.raises(ValueError, match=r"codes is cut short"):
        Ensemble.load(tmp_path / "e.npz")


def test_errors_of_the_system_stay_what_they_are(tmp_path):
    (tmp_path / "folder.npz").mkdir()
    with pytest.raises(OSError, match=re.escape(str(tmp_path / "folder.npz"))):
        Ensemble.load(tmp_path / "folder.npz")
    with pytest.raises(FileNotFoundError, match=re.escape(repr(str(tmp_path / "none" / "e.npz")))):
        Ensemble([[0]]).save(tmp_path / "none" / "e.npz")


# ---- Permissions and links ----

posix = pytest.mark.skipif(os.name != "posix", reason="permissions and links as POSIX has them")


def mode_of(path):
    return stat.S_IMODE(path.stat().st_mode)


def command(*args):
    result = CliRunner().invoke(main, [str(arg) for arg in args], catch_exceptions=False)
    assert result.exit_code == 0, result.stderr


def labels_npy(path):
    np.save(path.parent / "stored.npy", np.arange(40).reshape(20, 2) // 10)
    command("combine", path.parent / "stored.npy", "-k", 2, "-o", path, "--overwrite")


def label_parts(path):
    pytest.importorskip("pyarrow")
    labels_npy(path)


def report_page(path):
    labels = [[0, 1], [0, 1], [1, 0]]
    KMeansConsensus(2, random_state=0).fit(labels).report(labels).save(path)


def partitions_npy(path):
    write_partitions(RandomKPartitions(2, random_state=0), np.arange(60.0).reshape(30, 2), path, overwrite=True)


def cells_h5ad(path):
    anndata = pytest.importorskip("anndata")
    obs = pd.DataFrame({"p": list("aab"), "q": list("abb")}, index=list("xyz"))
    anndata.AnnData(np.zeros((3, 2)), obs).write_h5ad(path.parent / "cells.h5ad")
    command(
        "combine", path.parent / "cells.h5ad", "--columns", "p", "--columns", "q", "-k", 2, "-o", path, "--overwrite"
    )


WRITERS = {
    "e.npz": Ensemble([[0, 1], [1, 0]]).save,
    "e.csv": Ensemble([[0, 1], [1, 0]]).save,
    "labels.npy": labels_npy,
    "parts": label_parts,
    "page.html": report_page,
    "partitions.npy": partitions_npy,
    "copy.h5ad": cells_h5ad,
    "run.json": lambda path: write_text(path, "{}"),
}


@posix
@pytest.mark.parametrize("name", WRITERS)
def test_permissions_of_what_is_written(tmp_path, name, monkeypatch):
    """Those that a new file gets elsewhere too; a file that is replaced keeps its own. No umask is ever set for it."""
    old, path = os.umask(0o027), tmp_path / name
    try:
        with monkeypatch.context() as patch:
            patch.setattr(os, "umask", None)
            WRITERS[name](path)
            bits = 0o777 if path.is_dir() else 0o666
            assert mode_of(path) == bits & ~0o027
            for mode in (bits & 0o700, bits & 0o777):
                path.chmod(mode)
                WRITERS[name](path)
                assert mode_of(path) == mode
    finally:
        os.umask(old)
    assert not [left for left in tmp_path.iterdir() if left.name.startswith(".")]


@posix
@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("exists", [True, False])
def test_what_is_written_goes_through_links(tmp_path, name, exists):
    (tmp_path / "target").mkdir()
    (tmp_path / "here").mkdir()
    WRITERS[name](tmp_path / "target" / name)
    is_folder = (tmp_path / "target" / name).is_dir()
    if exists:
        before = (tmp_path / "target" / name).stat().st_ino
        held = os.open(tmp_path / "target" / name, os.O_RDONLY)  # so that its number goes to no other file
    else:
        (shutil.rmtree if is_folder else os.unlink)(tmp_path / "target" / name)
    link = tmp_path / "here" / name
    link.symlink_to(Path("..") / "target" / name)
    WRITERS[name](link)
    assert link.is_symlink()
    assert (tmp_path / "target" / name).is_dir() == is_folder
    assert not exists or (tmp_path / "target" / name).stat().st_ino != before
    assert not (tmp_path / "target" / name).is_symlink()
    if exists:
        os.close(held)


@posix
def test_a_file_that_replaces_a_private_one_is_private_at_once(tmp_path):
    path = tmp_path / "private.csv"
    path.write_text("secret", encoding="utf-8")
    path.chmod(0o600)
    with atomic_write(path) as file:
        file.write("secret too")
        (new,) = (other for other in tmp_path.iterdir() if other != path)
        assert mode_of(new) == 0o600
    path.chmod(0o644)
    with pytest.raises(KeyError), atomic_write(path):
        raise KeyError
    assert [(p, p.read_text(encoding="utf-8")) for p in tmp_path.iterdir()] == [(path, "secret too")]


@posix
def test_a_link_to_another_disk(tmp_path, monkeypatch):
    replace, path = os.replace, tmp_path / "here" / "partitions.npy"
    path.parent.mkdir()
    path.symlink_to(tmp_path / "there.npy")

    def refuse(source, target):
        if Path(source).parent != Path(target).parent:
            raise OSError(errno.EXDEV, "Invalid cross-device link")
        replace(source, target)

    monkeypatch.setattr(os, "replace", refuse)
    partitions_npy(path)
    assert path.is_symlink()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["here", "there.npy"]
    assert np.load(path).shape == (30, 2)


@posix
def test_what_is_no_file_is_written_as_it_is(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_text(pipe, "text")
    assert os.read(reader, 10) == b"text"
    os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@posix
def test_links_in_a_circle(tmp_path):
    (tmp_path / "a.csv").symlink_to(tmp_path / "b.csv")
    (tmp_path / "b.csv").symlink_to(tmp_path / "a.csv")
    with pytest.raises(OSError, match=re.escape(str(tmp_path / "a.csv"))):
        Ensemble([[0, 1], [1, 0]]).save(tmp_path / "a.csv")
    assert (tmp_path / "a.csv").is_symlink()


@posix
def test_an_output_folder_keeps_permissions_and_links(tmp_path):
    Ensemble(random_labels(30, 3, 5, 0.0)).save(tmp_path / "e.npz")
    out = tmp_path / "out"
    combine = ("combine", tmp_path / "e.npz", "-o", out, "--overwrite", "-k")
    command(*combine, 2)
    written = sorted(path.name for path in out.iterdir())
    for path in out.iterdir():
        path.chmod(0o600)
    (out / "labels.csv").rename(tmp_path / "elsewhere.csv")
    (out / "labels.csv").symlink_to(tmp_path / "elsewhere.csv")
    before = (tmp_path / "elsewhere.csv").read_bytes()
    command(*combine, 3)
    assert {path.name: mode_of(path) for path in out.iterdir()} == dict.fromkeys(written, 0o600)
    assert (out / "labels.csv").is_symlink()
    assert (tmp_path / "elsewhere.csv").read_bytes() != before


# ---- Damage ----


def written(write):
    file = io.BytesIO()
    write(file)
    return file.getvalue()


def whole_files():
    labels = random_labels(30, 3, 5, 0.2)
    yield "npy", written(lambda file: np.save(file, labels))
    yield "npy", written(lambda file: np.save(file, np.asfortranarray(labels).astype(">i2")))
    for path in sorted(FILES.glob("ensemble-1-*")):
        yield path.suffix[1:], path.read_bytes()
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    table = pa.table(
        {
            "n": labels[:, 0],
            "text": ["x", None, "yé"] * 10,
            "x": [1.5, 2.0, None] * 10,
            "category": pa.array(["u", "v", "u"] * 10).dictionary_encode(),
            "decimal": [Decimal("1.5"), None, Decimal("2")] * 10,
        }
    )
    yield "parquet", written(lambda file: pq.write_table(table, file))
    yield "parquet", written(lambda file: pq.write_table(table.drop(["decimal"]), file, compression="none"))


def damaged(draw, content):
    """Bytes that changed, went away, came in, or were copied from elsewhere."""
    data = bytearray(content)
    for _ in range(draw.choice([1, 1, 2, 5])):
        place, length = draw.randrange(len(data)), draw.randrange(1, 9)
        if draw.random() < 0.5:  # headers stand at the ends
            place = draw.choice([place % 150, len(data) - 1 - place % 400]) % len(data)
        data[place : place + length] = draw.choice(
            [
                bytes([draw.randrange(256)]) + data[place + 1 : place + length],
                b"",
                draw.randbytes(length) + data[place : place + length],
                draw.choice([b"\xff\xff\xff\xff", b"\0\0\0\0", b"9999"]),
                data[place // 2 : place // 2 + length],
            ]
        )
        data = data or bytearray(b"x")
    return bytes(data)


def damaged_inside(draw, content):
    """A ZIP archive with right checksums and one damaged member."""
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(file, "w") as new:
        victim = draw.choice(old.namelist())
        for name in old.namelist():
            new.writestr(name, damaged(draw, old.read(name)) if name == victim else old.read(name))
    return file.getvalue()


def used(path):
    """Everything that reads a file of this suffix, and looks at what it read."""
    if path.suffix in (".npz", ".csv", ".parquet"):
        yield lambda: Ensemble.load(path)
    if path.suffix in (".npy", ".parquet"):
        yield lambda: Ensemble.open(path)[:]
    if path.suffix in (".parquet", ".csv"):
        yield lambda: members_of(read_table(path.read_bytes(), name=path.name)).ensemble
        yield lambda: features_of(read_table(path.read_bytes(), name=path.name))


@pytest.mark.core(3)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(6))
def test_damaged_files(seed, tmp_path):
    draw, files, said = random.Random(seed), list(whole_files()), []
    for i in range(60):
        suffix, content = files[draw.randrange(len(files))]
        inside = suffix == "npz" and draw.random() < 0.6
        path = tmp_path / f"{seed}-{i}.{suffix}"
        path.write_bytes((damaged_inside if inside else damaged)(draw, content))
        for use in used(path):
            try:
                found = use()
                if isinstance(found, Ensemble):
                    assert len(np.asarray(found)) == len(found.distinct.inverse)
            except (ValueError, TypeError) as error:
                said.append((path.name, type(error), str(error)))
    assert len(said) > 40
    for name, kind, message in said:
        assert kind in (ValueError, TypeError), name
        assert re.search(r"(must|needs).*\. .*[.?]$", message), f"{name}: {message}"


@pytest.mark.parametrize("missing", [-1, None])
@pytest.mark.parametrize("suffix", ["parquet", "pq", "PARQUET"])
def test_a_parquet_file_is_loaded_as_it_is_opened(suffix, missing, tmp_path):
    frame = pd.DataFrame(
        {
            "whole": [3, -1, 3, 7],
            "gaps": [1.0, None, 2.0, -1.0],
            "digits": ["01", "1", "1", None],
            "category": pd.Categorical(["b", "a", None, "b"]),
            "truth": [True, False, True, True],
        }
    )
    path = tmp_path / f"labels.{suffix}"
    frame.to_parquet(path, row_group_size=3)
    loaded, opened = Ensemble.load(path, missing=missing), Ensemble.open(path, missing=missing)
    assert (loaded.names, loaded.missing) == (opened.names, opened.missing) == (list(frame.columns), missing)
    np.testing.assert_array_equal(loaded.codes, opened.codes[:])
    for one, other in zip(loaded.categories, opened.categories, strict=True):
        np.testing.assert_array_equal(one, other)
        assert one.dtype == other.dtype


def test_a_parquet_file_is_not_written(tmp_path):
    """What load takes and save does not, it says."""
    with pytest.raises(ValueError, match=r"must end in \.npz or \.csv \(\.parquet to load one\)\. Got .*a\.parquet"):
        Ensemble([[0], [1]]).save(tmp_path / "a.parquet")
    (tmp_path / "a.csv").write_bytes(b"a\n1\n")
    with pytest.raises(ValueError, match=r"must be a \.npy file, a \.parquet file or .*load for \.npz and \.csv files"):
        Ensemble.open(tmp_path / "a.csv")


def test_what_the_formats_say_of_suffixes_exists():
    suffixes = [suffix for form in FORMATS for suffix in form.suffixes]
    assert len(suffixes) == len(set(suffixes))
    assert set(TYPED) == {form for form in FORMATS if form.cells == "typed"}


def full(*_, **__):
    raise MemoryError("no room for 8 bytes")


@pytest.mark.parametrize(
    ("patched", "suffix", "read"),
    [
        ("numpy.lib.format.read_array", "npz", Ensemble.load),
        ("ensemblage.consensus._saved._model", "model.npz", load),
        ("numpy.lib.format.read_magic", "npy", Ensemble.open),
        ("pyarrow.parquet.ParquetFile", "parquet", Ensemble.open),
        ("pyarrow.parquet.read_table", "parquet", read_table),
        ("fastexcel.read_excel", "xlsx", read_table),
    ],
)
def test_a_full_memory_is_no_damage(patched, suffix, read, tmp_path, monkeypatch):
    labels, path = [[0, 0], [0, 1], [1, 1], [1, 0]], tmp_path / f"a.{suffix}"
    frame = pd.DataFrame(labels, columns=["a", "b"])
    {
        "npz": Ensemble(labels).save,
        "model.npz": KMeansConsensus(2, random_state=0).fit(labels).save,
        "npy": lambda to: np.save(to, np.array(labels)),
        "parquet": frame.to_parquet,
        "xlsx": lambda to: frame.to_excel(to, index=False),
    }[suffix](path)
    read(path)
    monkeypatch.setattr(patched, full)
    with pytest.raises(MemoryError, match="no room"):
        read(path)


@pytest.mark.filterwarnings("ignore:The ids of")
@pytest.mark.parametrize(
    ("content", "kept"),
    {
        "no name": (",p,q\na,1,x\nb,1,y\nc,2,x\n", "pq"),
        "text": ("who,p,q\na,1,x\nb,1,y\nc,2,x\n", "pq"),
        "whole numbers": ("who,p,q\n5,1,x\n9,1,y\n7,2,x\n", "pq"),
        "numbers of rows": ("id,p,q\n1,1,x\n2,1,y\n3,2,x\n", "pq"),
        "twice": ("who,p,q\na,1,x\nb,1,y\na,2,x\n", ["who", "p", "q"]),
        "a gap": ("who,p,q\na,1,x\nb,1,y\n,2,x\n", ["who", "p", "q"]),
        "two rows": ("who,p,q\na,1,x\nb,1,y\n", ["who", "p", "q"]),
        "between semicolons": ("who;p;q\na;1;x\nb;1;y\nc;2;x\n", "pq"),
    }.values(),
)
def test_the_ids_of_a_file_are_found_by_one_rule(content, kept, tmp_path):
    """Of `Ensemble.load` and of `combine`."""
    path = tmp_path / "labels.csv"
    path.write_text(content, encoding="utf-8")
    loaded, members = Ensemble.load(path), members_of(read_table(path))
    assert loaded.names == members.ensemble.names == list(kept)
    np.testing.assert_array_equal(loaded.codes, members.ensemble.codes)


def test_a_column_that_is_taken_for_ids_is_told(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("who,p\na,1\nb,1\nc,2\n", encoding="utf-8")
    with pytest.warns(NoteWarning, match=r"^The ids of labels\.csv are column 'who', the first, .* another place\.$"):
        assert Ensemble.load(path).names == ["p"]
    path.write_text("p,who\n1,a\n1,b\n2,c\n", encoding="utf-8")
    assert Ensemble.load(path).names == ["p", "who"]


@pytest.mark.parametrize("names", [None, ["a", "b"]])
def test_a_first_partition_of_single_objects_comes_back(names, tmp_path):
    E = Ensemble([["x", 1], ["y", 1], ["z", 2]], names=names)
    E.save(tmp_path / "labels.csv")
    again = Ensemble.load(tmp_path / "labels.csv")
    assert again.names == E.names
    np.testing.assert_array_equal(again.codes, E.codes)
    with pytest.raises(ValueError, match=r"A member must put some objects together\."):  # no partition is lost
        members_of(read_table(tmp_path / "labels.csv"))
