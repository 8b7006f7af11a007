"""Seconds to read 200,000 × 20 numbers and labels, beside the libraries' own: python benchmarks/bench_tables.py"""

import io
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv

from ensemblage import Ensemble
from ensemblage.tables import members_of, read_table

N, M = 200_000, 20


def table_bytes(values: Any, delimiter: str = ",") -> bytes:
    out = io.StringIO()
    pd.DataFrame(values, columns=[f"x{j}" for j in range(M)]).to_csv(out, index=False, sep=delimiter)
    return out.getvalue().encode()


def seconds(work: Callable[[], Any], repeats: int = 3) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> None:
    Ensemble([[0]])  # compile first
    rng = np.random.default_rng(0)
    numbers = table_bytes(rng.normal(size=(N, M)).round(4))
    commas = numbers.replace(b",", b";").replace(b".", b",")
    labels = table_bytes(rng.integers(0, 30, size=(N, M)))
    rows = {
        f"features, {len(numbers) / 1e6:.0f} MB": lambda: read_table(numbers).features(),
        "features, decimal commas": lambda: read_table(commas).features(),
        "pyarrow, typed": lambda: pyarrow.csv.read_csv(pa.BufferReader(numbers)),
        "polars, typed": lambda: pl.read_csv(numbers),
        f"ensemble of labels, {len(labels) / 1e6:.0f} MB": lambda: members_of(read_table(labels)),
        "pandas, labels as text": lambda: pd.read_csv(io.BytesIO(labels), dtype=str, keep_default_na=False),
    }
    for name, work in rows.items():
        print(f"{name:32} {seconds(work):.3f} s")


if __name__ == "__main__":
    main()
