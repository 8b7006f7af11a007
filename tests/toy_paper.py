"""A paper of one tiny experiment; what is measured is written to the file that TOY_LOG names."""

import os
import time

import numpy as np

from ensemblage.datasets import make_partitions
from ensemblage.reproduce._claims import holds, untested
from ensemblage.reproduce._experiment import Case, Experiment, FigureOf, Paper, TableOf
from ensemblage.reproduce._figures import boxes
from ensemblage.reproduce._methods import fit_consensus
from ensemblage.reproduce._store import Made
from ensemblage.reproduce._tables import Cell

CASES = (Case("easy", None, {"rho": 0.9}), Case("hard", None, {"rho": 0.3}), Case("absent", "no such set", {}))


def make(case, dataset, seed):
    note("make", case.name, seed)
    labels, truth = make_partitions(60, 3, 8, case.settings["rho"], random_state=seed)
    return Made(labels, {"truth": truth})


def measure(run, method):
    time.sleep(float(os.environ.get("TOY_SLEEP", "0")))
    if method == "broken" and run.case.name == "hard":
        raise ArithmeticError("it broke")
    name = {"KM": "km", "broken": "km", "future": "no-such-method"}.get(method, method)
    labels = fit_consensus(name, run.ensemble, 3, run.seed).labels_
    note("measure", run.case.name, method, run.seed)
    return {"right": np.mean(labels == labels[0]), "k": len(set(labels.tolist()))}


def note(*what):
    if "TOY_LOG" in os.environ:
        with open(os.environ["TOY_LOG"], "a") as file:
            file.write(" ".join(map(str, what)) + "\n")


def table(results):
    cells = []
    for case in CASES:
        for method in ("KM", "broken", "future", *results.extra("toy")):
            ours = results.estimate("toy", case.name, method, "k")
            why_not = "" if ours else results.why_not("toy", case.name, method)
            cells.append(Cell(case.name, method, ours, 3.0 if case.name == "easy" else 40.0, why_not=why_not))
    return cells


def panels(results):
    values = results.values("toy", "easy", "KM", "right")
    return [boxes("<i>easy</i>", {"KM": values}, "share")] if values else []


def claims(results):
    return {0: holds(True, "<b>yes</b>"), 1: untested("no time")}


PAPER = Paper(
    name="ayad",
    title="A toy & its <paper>",
    protocol=("Nothing is standardised.",),
    experiments=(
        Experiment(
            "toy", CASES, ("KM", "broken", "future"), 4, make, measure, ("easy",), quick_runs=2, takes="consensus"
        ),
    ),
    tables=(TableOf("9", "Clusters", {"toy": ()}, table), TableOf("10", "The same", {"toy": ("KM",)}, table)),
    figures=(FigureOf("1", "Shares", {"toy": ("KM",)}, panels),),
    claims=claims,
)
