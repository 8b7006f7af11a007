"""Measure what the tutorial of patients says of a published set: make_patients.py golub-1999-v2.csv.gz

The table has a row per patient, a column per gene and the class in `label` (0: B-cell ALL, 1: T-cell ALL, 2: AML).
"""

import argparse
import json
from pathlib import Path

import pandas as pd
from sklearn.metrics import adjusted_rand_score

from ensemblage import ConsensusClustering

RECORD = Path(__file__).parents[1] / "records" / "patients.json"
CLASSES = ("B-cell ALL", "T-cell ALL", "AML")


def measured(patients: pd.DataFrame, classes: pd.Series, n_genes: int) -> dict[str, object]:
    """What is found with the genes of largest variance, told nothing and told three."""
    X = patients[patients.var().sort_values(ascending=False, kind="stable").index[:n_genes]].to_numpy(float)
    found = ConsensusClustering(selection="consensus", random_state=0).fit(X)
    told = ConsensusClustering(n_clusters=len(CLASSES), selection="consensus", random_state=0).fit(X)
    return {
        "genes": n_genes,
        "groups": found.n_clusters_,
        "sentence": found.choice_.sentence,
        "ari": round(adjusted_rand_score(classes, found.labels_), 4),
        "told_ari": round(adjusted_rand_score(classes, told.labels_), 4),
        "classes": CLASSES,
        "of_classes": pd.crosstab(classes, found.labels_).to_numpy().tolist(),
        "told_of_classes": pd.crosstab(classes, told.labels_).to_numpy().tolist(),
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("table", type=Path)
    table = pd.read_csv(parser.parse_args().table)
    classes = table.pop("label")
    lines = [json.dumps(measured(table, classes, n)) for n in (200, 500, table.shape[1])]
    RECORD.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")
