"""Divide real tables into those that a default may be chosen on and those that are sealed, kind by kind, by a seed.

python lab/scripts/divide_tables.py MANIFEST.csv writes lab/records/default/division.json. The manifest has the columns
name, n, columns and numeric (how many columns hold numbers). Nothing else of a table is looked at.
"""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path

import numpy as np

SEED = 20261123
DEVELOPMENT = 20
"""Of 35 tables; the share is the same in every kind, rounded so that the sum is this."""
MOST_WIDE = 500


def kind_of(n: int, columns: int, numeric: int) -> str:
    """Wide: more than 50 columns and at most 500 rows; else by the share of columns that hold numbers."""
    if columns > 50 and n <= MOST_WIDE:
        return "wide"
    if numeric >= 0.9 * columns:
        return "numbers"
    return "categories" if numeric <= 0.1 * columns else "mixed"


def divided(manifest: Path) -> dict[str, dict[str, list[str]]]:
    """Names for development and sealed ones, by kind."""
    with manifest.open(encoding="utf-8") as file:
        rows = sorted(csv.DictReader(file), key=lambda row: row["name"])
    kinds: dict[str, list[str]] = {}
    for row in rows:
        kinds.setdefault(kind_of(*(int(row[c]) for c in ("n", "columns", "numeric"))), []).append(row["name"])
    random = np.random.RandomState(SEED)
    shares = {kind: len(names) * DEVELOPMENT / len(rows) for kind, names in sorted(kinds.items())}
    counts = {kind: int(share) for kind, share in shares.items()}
    for kind in sorted(shares, key=lambda kind: counts[kind] - shares[kind])[: DEVELOPMENT - sum(counts.values())]:
        counts[kind] += 1
    found = {}
    for kind, names in sorted(kinds.items()):
        order = [names[i] for i in random.permutation(len(names))]
        found[kind] = {"development": sorted(order[: counts[kind]]), "sealed": sorted(order[counts[kind] :])}
    return found


def main() -> None:
    record = {"seed": SEED, "kinds": divided(Path(sys.argv[1]))}
    path = Path(__file__).parents[1] / "records" / "default" / "division.json"
    path.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
