"""Commands on labels that lie on disk: nothing is read whole, and nothing is written that would have to be."""

from __future__ import annotations

import os
import secrets
import shutil
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ensemblage import Ensemble
from ensemblage.base.atomic import Place, atomic_write
from ensemblage.cli._answer import certainty_text, clusters_text, show_lines
from ensemblage.cli._consensus import Consensus
from ensemblage.cli._errors import INTERRUPTED, Interrupted
from ensemblage.cli._folder import NOTHING_UNASKED, check_free
from ensemblage.cli._labels import LABEL_COLUMNS, write_labels
from ensemblage.cli._options import option_name
from ensemblage.cli._progress import tell
from ensemblage.io._formats import format_of
from ensemblage.labels.threads import row_blocks
from ensemblage.metrics import verdicts
from ensemblage.metrics._certainty import VERDICTS

PART_ROWS = 1_000_000
"""Rows of one Parquet part."""
DEFAULT_MEMORY = "1GB"


def is_on_disk(path: Path, memory: str | None, scratch: Path | None) -> bool:
    """Whether a command leaves its input on the disk: .npy files and folders always, Parquet files with --memory."""
    found = format_of(path)
    on_disk = path.is_dir() or (found is not None and bool(found.open) and (not found.load or memory is not None))
    if scratch is not None and not on_disk:
        tell(f"--scratch: {path.name} is read into memory and takes no room there")
    return on_disk


def open_ensemble(path: Path, memory: str | None, scratch: Path | None, settings: Mapping[str, Any]) -> Ensemble:
    """The ensemble; options about tables in memory are refused."""
    for name, value in settings.items():
        if name not in ("missing", "noise") and (value or (name == "has_header" and value is not None)):
            raise ValueError(
                f"{option_name(name)} is for tables that fit into memory. {path} stays on disk. "
                "Leave it out, or give a .csv file."
            )
    noise = settings.get("noise", "missing")
    return Ensemble.open(
        path, missing=settings["missing"], noise=noise, memory=memory or DEFAULT_MEMORY, scratch=scratch
    )


def combine_stored(path: Path, output: Path, overwrite: bool, *, scratch: Path | None, **settings: Any) -> None:
    """Do what ``ensemblage combine`` does with labels on disk."""
    wanted = Consensus.of(settings.pop("k"), settings)
    wanted.check()
    write = _writer(output, overwrite)
    start = time.perf_counter()
    try:
        tell(f"{path}: reading ...")
        ensemble = open_ensemble(path, wanted.memory, scratch, settings)
        tell(f"{ensemble!r}: {wanted.method} ...")
        consensus = wanted.estimator().fit(ensemble)
        write(output, consensus)
    except KeyboardInterrupt:
        raise Interrupted(INTERRUPTED) from None
    labels = consensus.labels_
    counts = [np.bincount(labels[rows] + 1, minlength=consensus.n_clusters_ + 1) for rows in row_blocks(len(labels))]
    sizes = np.sum(counts, axis=0)[1:].tolist()
    show_lines(
        [
            ("ensemble", repr(ensemble)),
            ("consensus", clusters_text(sizes, wanted.k)),
            *[("evidence", sentence) for sentence in _number_found(consensus, ensemble)],
            ("certainty", _certainty(consensus)),
            ("seconds", f"{time.perf_counter() - start:.1f}"),
            ("written", str(output)),
        ]
    )


def _number_found(consensus: Any, ensemble: Ensemble) -> list[str]:
    """How k-means found the number of clusters."""
    from ensemblage.report._evidence import evidence_sentences

    records = consensus.evidence(ensemble, []) if hasattr(consensus, "agreement_") else ()
    return [sentence for record in records for sentence in evidence_sentences(record)]


def _certainty(consensus: Any) -> str:
    counts = dict.fromkeys(VERDICTS, 0)
    for block in row_blocks(len(consensus.confidence_)):
        words = verdicts(consensus.confidence_[block])
        for word in VERDICTS:
            counts[word] += int((words == word).sum())
    return certainty_text([counts])


Writer = Callable[[Path, Any], None]


def _writer(output: Path, overwrite: bool) -> Writer:
    """How to write labels under that name, if it is free."""
    suffix = output.suffix.lower()
    if suffix in (".npy", ".csv"):
        check_free(output, overwrite)
        return _write_npy if suffix == ".npy" else _write_csv
    if suffix not in ("", ".parquet"):
        raise ValueError(
            f"The output for labels on disk must be a .npy or .csv file, or a folder of Parquet parts. Got {output}. "
            "Name one of these."
        )
    if output.exists() and not (
        output.is_dir() and ((overwrite and _holds_parts(output)) or not any(output.iterdir()))
    ):
        raise ValueError(
            f"{NOTHING_UNASKED} {output} exists. Name another folder, or add --overwrite if it holds nothing but parts."
        )
    if not output.absolute().parent.is_dir():
        raise ValueError(f"The folder of the output must exist. {output.parent} does not. Make that folder first.")
    return partial(_write_parts, overwrite)


def _holds_parts(folder: Path) -> bool:
    return all(path.name.startswith("part-") and path.suffix == ".parquet" for path in folder.iterdir())


def _write_npy(path: Path, consensus: Any) -> None:
    with atomic_write(path, "wb") as file:
        np.save(file, consensus.labels_, allow_pickle=False)


def _write_csv(path: Path, consensus: Any) -> None:
    write_labels(path, range(1, len(consensus.labels_) + 1), consensus)


def _write_parts(overwrite: bool, folder: Path, consensus: Any) -> None:
    """A folder of Parquet parts with the columns of labels.csv but the id, in the order of the objects."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder, mode = Place.of(folder)
    new = folder.with_name(f".{folder.name}.{secrets.token_hex(4)}")
    new.mkdir(0o777 if mode is None else 0o700)
    try:
        for i, block in enumerate(row_blocks(len(consensus.labels_), PART_ROWS)):
            confidence = consensus.confidence_[block]
            columns = [consensus.labels_[block], confidence, verdicts(confidence), consensus.runner_up_[block]]
            table = pa.table(dict(zip(LABEL_COLUMNS[1:], [*columns, 1 - confidence], strict=True)))
            pq.write_table(table, new / f"part-{i:05}.parquet")
        if mode is not None:
            os.chmod(new, mode)
            shutil.rmtree(folder) if overwrite and _holds_parts(folder) else folder.rmdir()
        os.replace(new, folder)
    except BaseException:
        shutil.rmtree(new, ignore_errors=True)
        raise
