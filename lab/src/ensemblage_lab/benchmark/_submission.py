"""Results of a method from outside: what a run writes of it, and what is checked before it joins the leaderboard."""

from __future__ import annotations

import json
import math
import re
import zlib
from base64 import b64decode
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage._version import __version__
from ensemblage.base.text import write_text
from ensemblage_lab._worker import Limits
from ensemblage_lab.benchmark._board import Row
from ensemblage_lab.benchmark._entries import FEATURES
from ensemblage_lab.benchmark._generated import GENERATED
from ensemblage_lab.benchmark._scores import SCORES, score, unpack_labels
from ensemblage_lab.benchmark._sets import GeneratedSet
from ensemblage_lab.benchmark._tables import SCHEMA, StoredLine, check_schema

FILE = "submission.json"
LARGEST = 5_000_000
"""Bytes of a file that is read."""
MOST_SECONDS, MOST_GIGABYTES = 60.0, 4.0
"""Limits of a cell of the leaderboard: a submission may have lower ones."""
AGREE = 1e-6
"""A score that is computed again may differ by so much."""
NAME = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")
KINDS = {"clusterer": (FEATURES,), "combiner": ("random-k", "diverse")}
"""What each kind of submitted method may get."""
KEYS = {"schema": int, "protocol": str, "ensemblage": str, "limits": dict, "methods": list}
KEYS_OF_METHOD = {"name": str, "version": str, "kind": str, "setting": str, "pool": str, "results": dict}


def write_submission(rows: Sequence[Row], limits: Limits, protocol: str, folder: Path) -> Path | None:
    """Write the results of the user's classes with seed 0 on all objects; no file without such results."""
    methods: dict[tuple[str, str, str], dict[str, Any]] = {}
    for row in rows:
        entry = row.entry
        if entry.is_outside and row.seed == 0 and not row.is_part and row.pool in KINDS[entry.kind]:
            about = {"name": entry.name, "version": entry.version, "kind": entry.kind, "setting": entry.column}
            method = methods.setdefault(
                (entry.name, entry.column, row.pool), {**about, "pool": row.pool, "results": {}}
            )
            method["results"][row.set] = _result_of(row)
    if not methods:
        return None
    found = {
        "schema": SCHEMA,
        "protocol": protocol,
        "ensemblage": __version__,
        "limits": limits._asdict(),
        "methods": list(methods.values()),
    }
    write_text(folder / FILE, json.dumps(found, indent=1) + "\n")
    return folder / FILE


def _result_of(row: Row) -> dict[str, Any]:
    result = row.result
    if result.numbers is None:
        return {"seconds": round(result.seconds, 4), "error": result.error}
    names = (*SCORES, "k", "megabytes", "labels")
    return {"seconds": round(result.seconds, 4), **{name: result.numbers[name] for name in names}}


def read_submission(path: Path, protocol: str, sets: Mapping[str, int]) -> list[StoredLine]:
    """The lines of a submission, checked; ``sets`` has the objects with a class of each set of the leaderboard.

    The scores on generated sets are computed again from the labels. On other sets they are as they were submitted: with
    the data, the labels are scored by running the benchmark.

    Raises
    ------
    ValueError
        If the file is not as `write_submission` writes it, has other limits, or not all generated sets, or if a score
        is not that of its labels.
    """
    found = _parsed(path)
    if not isinstance(found, dict):
        raise _refused(path, "must be a JSON object", type(found).__name__)
    check_schema(found.get("schema"), str(path))
    _check_keys(path, found, KEYS)
    if found["protocol"] != protocol:
        raise _refused(path, f"must be made by protocol {protocol} of the benchmark", found["protocol"])
    limits = found["limits"]
    for name, most in (("seconds", MOST_SECONDS), ("gigabytes", MOST_GIGABYTES)):
        if not _is_number(limits.get(name)) or not 0 < limits[name] <= most:
            got = f"Got {limits.get(name)}. Run the benchmark with a limit of {MOST_SECONDS:g} seconds."
            raise ValueError(f"{path} must have limits of at most {most:g} {name}. {got}")
    lines = [_line_of(path, method, sets) for method in found["methods"]]
    if not lines:
        raise _refused(path, "must hold a method", "none")
    return lines


def _line_of(path: Path, method: Any, sets: Mapping[str, int]) -> StoredLine:
    if not isinstance(method, dict):
        raise _refused(path, "must hold methods that are objects", type(method).__name__)
    _check_keys(path, method, KEYS_OF_METHOD)
    name, kind, results = method["name"], method["kind"], method["results"]
    if not NAME.fullmatch(name) or len(name) > 120:
        raise _refused(path, "must name methods as package.module:Class", repr(name[:60]))
    if len(method["version"]) > 40:
        raise _refused(path, "must have versions of at most 40 characters", repr(method["version"][:60]))
    if kind not in KINDS or method["pool"] not in KINDS[kind] or method["setting"] not in ("k known", "k found"):
        raise _refused(
            path, "must have a known kind, pool and setting", f"{kind}, {method['pool']}, {method['setting']}"
        )
    unknown = sorted(set(results) - set(sets))
    if unknown:
        raise _refused(path, "must have results on sets of the leaderboard", repr(unknown[0][:60]))
    missing = [one for one in GENERATED if one not in results]
    if missing:
        raise _refused(path, f"must have a result of {name} on every generated set", f"none on {missing[0]}")
    for one, result in results.items():
        _check_result(f"{path}, {name} on {one}", one, result, sets[one])
    return StoredLine(
        name,
        method["pool"],
        kind,
        method["setting"],
        {one: result.get("ari") for one, result in results.items()},
        {one: result["seconds"] for one, result in results.items()},
        method["version"],
    )


def _check_result(subject: str, name: str, result: Any, n: int) -> None:
    """Refuse an incomplete result, and a result on a generated set whose scores do not fit its labels."""
    if not isinstance(result, dict) or not _is_number(result.get("seconds")) or result["seconds"] < 0:
        raise _refused(subject, "must have seconds", None)
    if isinstance(result.get("error"), str):
        return
    if not all(_is_number(result.get(one)) and -1 <= result[one] <= 1 for one in SCORES):
        raise _refused(subject, f"must have {', '.join(SCORES)} from -1 to 1, or an error", None)
    references = GeneratedSet(name, Path(name)).references if name in GENERATED else []
    # Objects without a class have labels, too, and are not counted in the tables.
    least, most = (len(references[0]),) * 2 if references else (n, 2 * n)
    labels = _labels_of(result.get("labels"), least, most)
    if labels is None:
        raise _refused(subject, f"must have the labels of {least} objects", "others")
    if not references:
        return
    again = score(references, labels)
    wrong = [one for one in SCORES if abs(again[one] - result[one]) > AGREE]
    if wrong:
        raise _refused(subject, f"must have the {wrong[0]} of its labels, {again[wrong[0]]:.6f}", result[wrong[0]])


def _labels_of(text: Any, least: int, most: int) -> NDArray[np.int64] | None:
    """The labels of a text of `pack_labels`; None if it holds none, or fewer or more. No more is unpacked."""
    try:
        reader = zlib.decompressobj()
        reader.decompress(b64decode(text, validate=True), 4 * most + 1)
        labels = unpack_labels(text, least) if reader.eof else None
    except (TypeError, ValueError, zlib.error):
        return None
    return labels if labels is not None and least <= len(labels) <= most else None


def _parsed(path: Path) -> Any:
    if path.stat().st_size > LARGEST:
        raise _refused(path, f"must have at most {LARGEST:,} bytes", f"{path.stat().st_size:,}")
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise _refused(path, "must be JSON in UTF-8", str(error)) from None


def _check_keys(subject: object, found: Mapping[str, Any], keys: Mapping[str, type]) -> None:
    for key, kind in keys.items():
        if not isinstance(found.get(key), kind):
            raise _refused(subject, f"must have {key!r} of type {kind.__name__}", repr(found.get(key))[:60])


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _refused(subject: object, rule: str, got: object) -> ValueError:
    return ValueError(f"{subject} {rule}. Got {got}. Submit the {FILE} that `ensemblage benchmark` wrote.")
