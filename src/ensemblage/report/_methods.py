"""Whether other methods say the same: `compare_methods` on the page."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage import plotting
from ensemblage.choices._method_comparison import MethodComparison
from ensemblage.labels.ensemble import Ensemble
from ensemblage.metrics._agreement import agreement_with
from ensemblage.report._figure_data import symmetric_matrix
from ensemblage.report._layout import Cell, Section, Table, number
from ensemblage.report._ranking import finite_or_none, lower_triangle, short_repr
from ensemblage.report._svg import picture

Summary = Mapping[str, Any]


def method_summary(compared: Any, labels: NDArray[Any]) -> dict[str, Any] | None:
    """What the page shows of other methods on the same partitions."""
    if compared is None:
        return None
    if not isinstance(compared, MethodComparison):
        raise TypeError(
            f"method_comparison of report must be what compare_methods returned. Got {short_repr(compared)}. "
            "Leave it out."
        )
    if len(compared.labels) != len(labels):
        raise ValueError(
            f"method_comparison of report must be of the {len(labels):,} objects. Got {len(compared.labels):,}. "
            "Compare the methods on the same ensemble."
        )
    m = len(compared.names)
    with_answer = agreement_with(Ensemble._made(compared.labels, missing=-1), labels, "ari") if m else np.empty(0)
    known = dict(zip(compared.names, with_answer.tolist(), strict=True))
    table = [
        {
            **row._asdict(),
            "agreement": finite_or_none(row.agreement),
            "others": finite_or_none(row.others),
            "answer": finite_or_none(known.get(row.method, np.nan)),
        }
        for row in compared.table
    ]
    order = np.argsort(-np.nan_to_num(with_answer, nan=-1), kind="stable")
    return {
        "sentence": compared.sentence,
        "table": table,
        "names": [compared.names[j] for j in order],
        "answer": [finite_or_none(with_answer[j]) for j in order],
        "ari": lower_triangle(compared.ari[np.ix_(order, order)]),
    }


def methods_section(summary: Summary) -> Section | None:
    """How far the answer hangs on the method."""
    found = summary.get("methods")
    if not found:
        return None
    rows: list[list[Cell]] = [
        [
            row["method"],
            str(row["n_clusters"]) if row["n_clusters"] else "",
            number(row["answer"], 2),
            number(row["agreement"], 2),
            number(row["others"], 2),
            row["refused"],
        ]
        for row in sorted(found["table"], key=lambda row: -2 if row["answer"] is None else -row["answer"] - 3)
    ]
    columns = ["Method", "Clusters", "With the answer", "With the partitions", "With other methods", "Refused because"]
    note = (
        "Adjusted Rand indices, 1 for equal clusterings; the last two are means. Every method was asked for as many "
        "clusters as the answer has."
    )
    pictures = []
    if len(found["names"]) > 1:
        strip = np.array([np.nan if value is None else value for value in found["answer"]])
        ax = plotting.agreement(symmetric_matrix(found["ari"]), strip, names=found["names"])
        ax.set_xlabel("methods")
        sentence = (
            "Rows and columns are methods in the order of the table, those nearest to the answer first; the strip on "
            "top is the answer."
        )
        pictures.append(picture("How alike the methods are", ax, "methods", sentence))
    tables = [Table("", columns, rows, note, text=(0, 5), wide=True)]
    return Section("Do other methods say the same?", [found["sentence"]], pictures, tables)
