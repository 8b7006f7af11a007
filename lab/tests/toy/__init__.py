"""A paper of one tiny experiment; what is measured is written to the file that TOY_LOG names."""

import os
import time

import numpy as np

from ensemblage.datasets import make_partitions
from ensemblage_lab.reproduce.papers import (
    Case,
    Experiment,
    LabelMatrix,
    Paper,
    PaperMethod,
    boxes,
    holds,
    number,
    published,
)

CONSENSUS = {"KM": PaperMethod("km"), "broken": PaperMethod("km"), "future": PaperMethod("no-such-method")}
CASES = (Case("easy", None, {"rho": 0.9}), Case("hard", None, {"rho": 0.3}), Case("absent", "no such set", {}))


def make(case, dataset, seed):
    note("make", case.name, seed)
    labels, truth = make_partitions(60, 3, 8, case.settings["rho"], random_state=seed)
    return LabelMatrix(labels, {"truth": truth})


def measure(run, method):
    time.sleep(float(os.environ.get("TOY_SLEEP", "0")))
    if method == "broken" and run.case.name == "hard":
        raise ArithmeticError("it broke")
    labels = run.fit(method, 3).labels_
    note("measure", run.case.name, method, run.seed)
    return {"right": np.mean(labels == labels[0]), "k": len(set(labels.tolist()))}


def note(*what):
    if "TOY_LOG" in os.environ:
        with open(os.environ["TOY_LOG"], "a", encoding="utf-8") as file:
            file.write(" ".join(map(str, what)) + "\n")


def table(results):
    methods = ("KM", "broken", "future", *results.extra("toy"))
    rows = [(row["dataset"], number(row["clusters"])) for row in published(__name__, "table9")]
    return [results.cell(name, m, ("toy", name, m, "k"), value) for name, value in rows for m in methods]


def panels(results):
    values = results.values("toy", "easy", "KM", "right")
    return [boxes("<i>easy</i>", {"KM": values}, "share")] if values else []


def is_there(name, results):
    return holds(results.need("toy", name, "KM", "right").mean > 0, "<b>yes</b>")


PAPER = Paper(
    package=__name__,
    experiments=(
        Experiment(
            "toy",
            CASES,
            ("KM", "broken", "future"),
            4,
            make,
            measure,
            ("easy",),
            quick_runs=2,
            consensus=CONSENSUS,
            takes="consensus",
        ),
    ),
)
