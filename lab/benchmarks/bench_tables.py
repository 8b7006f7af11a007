"""Seconds to read 200,000 × 20 numbers and labels, ours and polars' (pandas') in turn: bench_tables.py"""

import io
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv

from ensemblage import Ensemble, read_table
from ensemblage.io._features import members_of

N, M = 200_000, 20


def table_bytes(values: Any, delimiter: str = ",") -> bytes:
    out = io.StringIO()
    pd.DataFrame(values, columns=[f"x{j}" for j in range(M)]).to_csv(out, index=False, sep=delimiter)
    return out.getvalue().encode()


def seconds(ours: Callable[[], Any], theirs: Callable[[], Any], repeats: int = 9) -> tuple[float, float, float]:
    """Medians of both, and of their ratio: run in turn, as the load of a machine changes."""
    times = np.empty((repeats, 2))
    for i in range(repeats):
        for j, work in enumerate((ours, theirs)):
            start = time.perf_counter()
            work()
            times[i, j] = time.perf_counter() - start
    return (*np.median(times, axis=0), float(np.median(times[:, 0] / times[:, 1])))


def main() -> None:
    Ensemble([[0]])  # compile first
    rng = np.random.default_rng(0)
    numbers = {f"{digits} decimals": table_bytes(rng.normal(size=(N, M)).round(digits)) for digits in (1, 4)}
    numbers["whole numbers"] = table_bytes(rng.integers(0, 10_000, size=(N, M)))
    commas = numbers["4 decimals"].replace(b",", b";").replace(b".", b",")
    labels = table_bytes(rng.integers(0, 30, size=(N, M)))
    rows = {
        f"features, {kind}, {len(text) / 1e6:.0f} MB": (
            lambda text=text: read_table(text).features(),
            lambda text=text: pl.read_csv(text),
        )
        for kind, text in numbers.items()
    }
    rows["features, decimal commas"] = (
        lambda: read_table(commas).features(),
        lambda: pl.read_csv(commas, separator=";", decimal_comma=True),
    )
    rows["pyarrow alone, 4 decimals"] = (
        lambda: pyarrow.csv.read_csv(pa.BufferReader(numbers["4 decimals"])),
        lambda: pl.read_csv(numbers["4 decimals"]),
    )
    rows[f"labels, {len(labels) / 1e6:.0f} MB (pandas, as text)"] = (
        lambda: members_of(read_table(labels)),
        lambda: pd.read_csv(io.BytesIO(labels), dtype=str, keep_default_na=False),
    )
    for name, (ours, theirs) in rows.items():
        mine, other, ratio = seconds(ours, theirs)
        print(f"{name:36} {mine:.3f} s, {other:.3f} s, ratio {ratio:.2f}")


if __name__ == "__main__":
    main()
