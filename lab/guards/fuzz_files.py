"""A file that was damaged somewhere: it is read, or refused in a sentence; the command line never calls it a defect."""

from __future__ import annotations

import gzip
import io
import json
import shutil
from functools import cache, partial
from pathlib import Path
from random import Random

import numpy as np
import pandas as pd
import polars as pl
from click.testing import CliRunner
from fuzz import Failure, sentence_of

from ensemblage import Ensemble, read_table
from ensemblage.cli import main

WINE = (Path(__file__).parents[2] / "examples" / "wine.csv").read_bytes()
TOKENS = [
    b",", b";", b"\t", b'"', b"'", b"\n", b"\r\n", b"\0", b"\xff", b"nan", b"inf", b"1e999", b"-", b"1_000", b"1,5",
    b"\xef\xbb\xbf", b"=cmd", b"9" * 400, b"<b>", b"\xe2\x88\x92", b"True", b"id", b"{}", b"[", b"null",
]  # fmt: skip


@cache
def sound_files() -> dict[str, bytes]:
    """One file of each kind, by its name."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, (40, 4))
    frame = pd.DataFrame(labels, columns=list("abcd"))
    frame["id"] = [f"o{i}" for i in range(40)]
    files = {"wine.csv": b"\n".join(WINE.splitlines()[:60]), "labels.csv": frame.to_csv(index=False).encode()}
    files["labels.tsv"] = frame.to_csv(index=False, sep="\t").encode()
    files["semi.csv"] = (frame.assign(x=rng.normal(size=40)).to_csv(index=False, sep=";", decimal=",")).encode()
    files["labels.csv.gz"] = gzip.compress(files["labels.csv"])
    files["labels.jsonl"] = frame.to_json(orient="records", lines=True).encode()
    for suffix, write in {
        "parquet": pl.from_pandas(frame).write_parquet,
        "arrow": pl.from_pandas(frame).write_ipc,
        "xlsx": partial(frame.to_excel, index=False, engine="openpyxl"),
    }.items():
        file = io.BytesIO()
        write(file)
        files[f"labels.{suffix}"] = file.getvalue()
    file = io.BytesIO()
    np.save(file, labels)
    files["labels.npy"] = file.getvalue()
    return files


def damaged(content: bytes, draw: Random) -> bytes:
    data = bytearray(content)
    for _ in range(draw.choice([1, 1, 2, 5])):
        at, size = draw.randrange(len(data) + 1), draw.choice([1, 2, 8, 64])
        what = draw.randrange(8)
        if what == 0 and data:
            data[at % len(data)] ^= 1 << draw.randrange(8)
        elif what == 1:
            del data[at:]
        elif what == 2:
            del data[at : at + size]
        elif what == 3:
            data[at:at] = data[at : at + size] * 3
        elif what == 4:
            data[at:at] = draw.choice(TOKENS)
        elif what == 5:
            data[at : at + size] = bytes(draw.randrange(256) for _ in range(size))
        elif what == 6:
            lines = bytes(data).split(b"\n")
            i, j = draw.randrange(len(lines)), draw.randrange(len(lines))
            lines[i], lines[j] = lines[j], lines[i]
            data = bytearray(b"\n".join(lines))
        else:
            data[at : at + size] = b"\0" * size
    return bytes(data)


@cache
def results(folder: Path) -> Path:
    """A folder that a run has finished, and a file of an ensemble."""
    (folder / "wine.csv").write_bytes(WINE)
    command("run", folder / "wine.csv", "-k", 3, "--partitions", 3, "-o", folder / "finished")
    return folder / "finished"


def command(*arguments: object) -> str:
    """What the command line did: nothing but done and refused are outcomes."""
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    told = result.stderr
    if result.exit_code not in (0, 2) or "defect" in told or "Traceback" in told:
        raise Failure(f"{arguments[0]} ended with {result.exit_code}: {told[-300:]} {result.exception!r}")
    if result.exit_code == 2 and not told.strip():
        raise Failure(f"{arguments[0]} was refused without a word")
    return "done" if result.exit_code == 0 else "refused"


def case(draw: Random, folder: Path) -> str:
    if draw.random() < 0.05:
        return of_folder(draw, folder)
    if draw.random() < 0.2:
        source = results(folder) / "ensemble.npz"
        path = folder / "damaged.npz"
        path.write_bytes(damaged(source.read_bytes(), draw))
        reader = draw.choice([*[Ensemble.load] * 6, "combine", "rank"])
    else:
        name = draw.choice(sorted(sound_files()))
        path = folder / f"damaged-{name}"
        path.write_bytes(damaged(sound_files()[name], draw))
        reader = draw.choice([*[read_table] * 8, *[Ensemble.load] * 4, "combine", "run", "rank", "generate"])
        if name.endswith("npy"):
            reader = draw.choice([Ensemble.open, "combine"])
    if isinstance(reader, str):
        out = folder / "out"
        shutil.rmtree(out, ignore_errors=True)
        extra = {"combine": ("-k", 2, "-o", out), "run": ("-k", 2, "--partitions", 2, "-o", out), "rank": (),
                 "generate": ("--partitions", 2, "-o", folder / "out.npz", "--overwrite")}  # fmt: skip
        if path.suffix == ".npy":
            extra["combine"] = ("-k", 2, "-o", folder / "out.npy", "--overwrite")
        return command(reader, path, *extra[reader])
    try:
        reader(path)
    except Exception as error:
        try:
            return sentence_of(error)
        except Failure as failure:
            raise Failure(f"{reader.__qualname__} of {path.name}: {failure}") from error
    return "read"


def of_folder(draw: Random, folder: Path) -> str:
    """A finished folder, one of whose files was damaged."""
    source, out = results(folder), folder / "damaged"
    shutil.rmtree(out, ignore_errors=True)
    shutil.copytree(source, out)
    path = out / draw.choice(["summary.json", "summary.json", "ensemble.npz", "labels.csv", "report.html"])
    if path.name == "summary.json" and draw.random() < 0.6:
        path.write_text(json.dumps(changed(json.loads(path.read_text(encoding="utf-8")), draw)), encoding="utf-8")
    else:
        path.write_bytes(damaged(path.read_bytes(), draw))
    if draw.random() < 0.5:
        return command("report", out, *draw.choice([(), ("-o", folder / "page.html", "--overwrite")]))
    again = ("run", folder / "wine.csv", "-k", 3, "--partitions", 3, "-o", out)
    return command(*again, *draw.choice([(), ("--overwrite",)]))


def changed(value: object, draw: Random) -> object:
    """JSON of which one part is another value."""
    if draw.random() < 0.15 or not value or not isinstance(value, dict | list):
        return draw.choice([None, 0, -1, 1e308, "", "x", [], {}, [[]], True, 10**30, [None], {"a": 1}])
    if isinstance(value, dict):
        key = draw.choice(sorted(value))
        return {k: changed(v, draw) if k == key else v for k, v in value.items()}
    i = draw.randrange(len(value))
    return [changed(v, draw) if j == i else v for j, v in enumerate(value)]
