"""Fuzz: ``python lab/guards/fuzz.py --minutes 10`` gives each kind of case its share of the time.

calls       label matrices in every guise × every method with random and extreme legal parameters
arguments   one illegal argument of a public function or estimator
files       files that were damaged, through `read_table`, `Ensemble.load` and the command line
kills       ``ensemblage run`` stopped by KILL, TERM or INT at random moments, then begun again
folders     two ``ensemblage run`` in one folder at the same time
cells       partitions in AnnData, in memory and in files that may be cut off

A case is made by its kind, the session's seed and its number alone: ``--kind calls --seed 3 --only 141`` repeats one.
Every outcome must be a result that is sound, or one sentence of a ValueError or TypeError. Cases run in processes of
their own with a check of every index of the kernels; a process that dies or hangs is a failure of its case.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import records

HERE = Path(__file__).parent
KINDS = {"calls": 0.4, "arguments": 0.15, "files": 0.2, "kills": 0.15, "folders": 0.05, "cells": 0.05}
"""Kind → its share of the time."""
MOST_SECONDS = 180
"""Of one case, beyond which it hangs; a kernel may be compiled in it, with checks, on a busy machine."""
MOST_KEPT = 40
"""Failures that a record keeps in full."""


class Failure(AssertionError):
    """An outcome that is neither a sound result nor a sentence."""


def sentence_of(error: BaseException) -> str:
    """The kind of a refusal; raises unless it is one sentence of the right type."""
    text, kind = str(error), type(error)
    if kind.__module__.startswith("ensemblage."):  # an error of ours that says more
        kind = kind.__base__ or kind
    if kind not in (ValueError, TypeError, ImportError) and not (kind is IndexError and " must be " in text):
        raise Failure(f"{kind.__name__}: {text[:300]}") from error
    clear = any(word in text for word in (" must ", " needs ", " is no ", " cannot ", " may ", " are no "))
    told = any(
        word in text.lower() for word in ("got ", "it has", "it holds", " is not: ", "it is ", " is empty", ". found ")
    )
    if not (clear and told and text.rstrip().endswith((".", ")")) and len(text) < 1500):
        raise Failure(f"{kind.__name__} is no sentence of ours: {text[:300]!r}")
    return kind.__name__


# ---- One process that runs cases ----


def work(kind: str, seed: int, first: int, seconds: float, only: int | None) -> None:
    """Run cases from number ``first`` on; a line of JSON for each, and one before it that names it."""
    import importlib
    import warnings

    warnings.simplefilter("ignore")
    # A shell lets what it starts in the background ignore it, and so would the processes of the cases.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    case = importlib.import_module(f"fuzz_{kind}").case
    with tempfile.TemporaryDirectory() as folder:
        end, number = time.monotonic() + seconds, first
        while time.monotonic() < end:
            _say({"begins": number})
            # A seed is text, so that two sessions have no case in common.
            try:
                outcome = {"outcome": case(Random(f"{kind} {seed} {number}"), Path(folder))}
            except Failure as failure:
                outcome = {"outcome": "failure", "told": str(failure)}
            except Exception as error:
                outcome = {"outcome": "failure", "told": f"{type(error).__name__}: {str(error)[:300]}"}
                if only is not None:
                    raise
            _say({"number": number, **outcome})
            if only is not None:
                sys.stderr.write(f"{outcome}\n")
                return
            number += 1


def _say(line: dict[str, Any]) -> None:
    sys.__stdout__.write(json.dumps(line) + "\n")
    sys.__stdout__.flush()


# ---- The session ----


def environment(kind: str) -> dict[str, str]:
    """Of the processes that run cases: those that call functions check every index of the kernels."""
    if kind not in ("calls", "arguments", "cells"):
        return {"PYTHONHASHSEED": "0"}
    # Compiled code does not say whether it checks, and does not notice an edit of what it calls.
    kernels = sorted((HERE.parents[1] / "src" / "ensemblage" / "kernels").glob("*.py"))
    state = hashlib.sha256(b"".join(path.read_bytes() for path in kernels)).hexdigest()[:16]
    cache = Path(tempfile.gettempdir()) / f"ensemblage-fuzz-{state}"
    return {"PYTHONHASHSEED": "0", "NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(cache)}


def run(
    kind: str, seed: int, seconds: float, command: Callable[..., list[str]], numbers: range = range(10**9)
) -> dict[str, Any]:
    """The figures of a session: cases by outcome, and the failures with their numbers."""
    counts: Counter[str] = Counter()
    failures: list[dict[str, Any]] = []
    start, number = time.monotonic(), numbers.start
    env = os.environ | environment(kind)
    while (left := seconds - (time.monotonic() - start)) > 0 and number < numbers.stop:
        with tempfile.TemporaryFile("w+", encoding="utf-8") as errors:
            process = subprocess.Popen(
                command(kind, seed, number, left), stdout=subprocess.PIPE, stderr=errors, text=True, env=env, cwd=HERE
            )
            watched = _Watched(process)
            for line in watched.lines():
                if line.get("outcome") is not None:
                    counts[line["outcome"]] += 1
                    if line["outcome"] == "failure":
                        failures.append({"number": line["number"], "told": line["told"]})
                        sys.stdout.write(f"{kind} --seed {seed} --only {line['number']}: {line['told']}\n")
                number = line.get("begins", number - 1) + 1
                if number > numbers.stop:
                    process.kill()
                    break
            code = process.wait()
            if watched.open_case is not None and number <= numbers.stop:
                errors.seek(0)
                last = errors.read()[-300:]
                what = (
                    f"hangs: more than {MOST_SECONDS} s" if watched.hangs else f"the process ended with {code}: {last}"
                )
                counts["failure"] += 1
                failures.append({"number": watched.open_case, "told": what})
                sys.stdout.write(f"{kind} --seed {seed} --only {watched.open_case}: {what}\n")
            sys.stdout.flush()
    return {
        "seed": seed, "first": numbers.start, "cases": sum(counts.values()), "outcomes": dict(sorted(counts.items())),
        "failures": failures[:MOST_KEPT], "seconds": round(time.monotonic() - start),
    }  # fmt: skip


class _Watched:
    """The lines of a process that is killed where one case takes too long."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process, self.open_case, self.hangs, self.warm = process, None, False, 0

    def lines(self) -> Any:
        import threading

        assert self.process.stdout is not None
        timer = None

        def stop() -> None:
            self.hangs = True
            self.process.kill()

        for text in self.process.stdout:
            if not text.startswith('{"'):  # what somebody else prints
                continue
            line = json.loads(text)
            if timer is not None:
                timer.cancel()
            timer = threading.Timer(MOST_SECONDS * (1 if self.warm > 20 else 3), stop)  # the first cases compile
            self.warm += 1
            timer.daemon = True
            timer.start()
            self.open_case = line.get("begins")
            yield line
        if timer is not None:
            timer.cancel()


def worker_command(kind: str, seed: int, first: int, seconds: float) -> list[str]:
    return [sys.executable, str(HERE / "fuzz.py"), "--work", kind, "--seed", str(seed), "--first", str(first),
            "--minutes", str(seconds / 60)]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--kind", choices=KINDS, action="append", help="only this kind; repeatable")
    parser.add_argument("--seed", type=int, help="of the session; default: the number of sessions so far")
    parser.add_argument("--cases", type=int, default=10**9, help="at most so many")
    parser.add_argument("--only", type=int, help="the number of one case, to run it here")
    parser.add_argument("--no-record", action="store_true")
    parser.add_argument("--work", help=argparse.SUPPRESS)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    given = parser.parse_args()
    if given.work:
        work(given.work, given.seed, given.first, 60 * given.minutes, None)
        return
    chosen = {kind: KINDS[kind] for kind in given.kind or KINDS}
    failed = False
    for kind, share in chosen.items():
        seed = len(records.sessions(kind)) if given.seed is None else given.seed
        if given.only is not None:
            os.environ.update(environment(kind))
            work(kind, seed, given.only, 10**9, given.only)
            continue
        figures = run(
            kind,
            seed,
            60 * given.minutes * share / sum(chosen.values()),
            worker_command,
            range(given.first, given.first + given.cases),
        )
        sys.stdout.write(f"{kind}: seed {seed}, {figures['cases']:,} cases in {figures['seconds']} s, "
                         f"{figures['outcomes']}\n")  # fmt: skip
        failed |= bool(figures["failures"])
        if not given.no_record:
            records.add_session(kind, figures)
    sys.exit(failed)


if __name__ == "__main__":
    main()
