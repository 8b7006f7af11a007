"""Write wine.csv: scikit-learn's wine data (UCI) as a table that a spreadsheet may have written.

178 Italian wines of three cultivars (the truth), 13 measurements of each.
"""

import csv
from pathlib import Path

from sklearn.datasets import load_wine


def main() -> None:
    wine = load_wine()
    with open(Path(__file__).with_name("wine.csv"), "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["wine", *wine.feature_names, "cultivar"])
        for number, (values, target) in enumerate(zip(wine.data.tolist(), wine.target, strict=True), start=1):
            writer.writerow([f"wine_{number:03}", *(f"{value:g}" for value in values), wine.target_names[target]])


if __name__ == "__main__":
    main()
