"""A reproduction from request to page."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from types import ModuleType
from typing import Any

from ensemblage._version import __version__
from ensemblage.base.options import Message, Option
from ensemblage.base.text import write_text
from ensemblage.base.threads import thread_count
from ensemblage.base.validation import check_whole, format_value
from ensemblage.plotting._axes import figure_style
from ensemblage.report._layout import plural, to_svg
from ensemblage_lab._methods import kind_of
from ensemblage_lab._runner import open_store
from ensemblage_lab._store import Store
from ensemblage_lab.reproduce import _page
from ensemblage_lab.reproduce._experiment import Case, Experiment
from ensemblage_lab.reproduce._page import Outcome
from ensemblage_lab.reproduce._paper import FAILS, HOLDS, PAPERS, Paper, Shown, load_paper
from ensemblage_lab.reproduce._protocol import Protocols
from ensemblage_lab.reproduce._results import Results, read_results
from ensemblage_lab.reproduce._runs import Data, Execution, Plan, units_of
from ensemblage_lab.reproduce._tables import exact_row, plot, to_markdown, write_rows

RESULTS, INDEX = "results.sqlite", "index.html"


@dataclass(frozen=True)
class Request:
    """What to reproduce, and how."""

    papers: tuple[str | Path | ModuleType, ...]
    """Names, one of PAPERS each; or the folder or the package of another paper."""
    output: Path
    table: str | None = None
    figure: str | None = None
    data: Path | None = None
    runs: int | None = None
    n_jobs: int = -1
    method: str | None = None
    quick: bool = False
    retry: bool = False
    download: bool = False


def reproduce(request: Request, announce: Callable[[str], None]) -> Path:
    """Do what is not done yet, and write tables, figures, claims and the page.

    Parameters
    ----------
    request : Request
    tell : callable
        Gets lines about the progress.

    Returns
    -------
    pathlib.Path
        The page.

    Raises
    ------
    TypeError
        If ``request`` is none.
    ValueError
        If there is no such paper, table or figure, a number is out of its range, the folder cannot be written or is in
        use, its results are of another format, or the user's method cannot be imported.
    """
    start = time.perf_counter()
    _check(request)
    papers = [load_paper(name) for name in request.papers]
    plans = [plan for paper in papers for plan in plans_of(paper, request)]
    with open_store(request.output, RESULTS, __version__) as store:
        for version, n in store.other_versions().items():
            announce(f"{n:,} results of version {version} stay in {RESULTS} and are not used: this is {__version__}")
        aside = sum(_aside(plan.experiment, store) for plan in plans)
        if aside:
            announce(f"{plural(aside, 'result')} of an earlier protocol {'is' if aside == 1 else 'are'} kept aside")
        data = Data(request.data, request.download)
        units, kept = units_of(plans, store, data, request.retry)
        left = sum(len(unit.todo) for unit in units)
        for name in sorted(data.skipped):
            announce(f"{name}: skipped, not at hand")
        announce(f"{kept:,} results are there, {left:,} to do")
        execution = Execution(units, store, data, request.n_jobs, announce)
        execution.run(units)
        for reason in sorted(set(execution.missing.values())):
            announce(reason)
        return _write(request, papers, store, data, execution.missing, time.perf_counter() - start)


def _check(request: Request) -> None:
    if not isinstance(request, Request):
        raise TypeError(
            f"request of reproduce must be a Request. Got {format_value(request)}. Give Request(('ayad',), folder)."
        )
    papers: object = request.papers
    if isinstance(papers, str) or not papers:
        raise ValueError(
            f"papers of a Request must be names of papers. Got {format_value(papers)}. Give ('ayad',), for example."
        )
    for name, value in (("output", request.output), ("data", request.data)):
        if not isinstance(value, Path) and (name == "output" or value is not None):
            raise TypeError(
                f"{name} of a Request must be a pathlib.Path. Got {format_value(value)}. Give Path('reproduction')."
            )
    if request.method is not None and not isinstance(request.method, str):
        raise TypeError(
            f"method of a Request must be package.module:Class as text. Got {format_value(request.method)}. Name "
            f"one class."
        )
    if request.runs is not None:
        check_whole(request.runs, "runs of a Request", 1)
    thread_count(request.n_jobs)


def _aside(experiment: Experiment, store: Store) -> int:
    """Results of this version that another protocol made: the paper's code has changed since."""
    protocols = Protocols(experiment)
    return sum(
        origin.protocol != protocols.of(key.dataset, key.method) for key, origin in store.results(experiment.name)
    )


def status(request: Request) -> list[tuple[str, str, str, str]]:
    """What is done: (experiment, results, of so many, failed), of the plan that the request asks for."""
    _check(request)
    plans = [plan for name in request.papers for plan in plans_of(load_paper(name), request)]
    rows = []
    with closing(Store(request.output / RESULTS, __version__, must_exist=True)) as store:
        for plan in plans:
            cases, protocols = {case.name for case in plan.cases}, Protocols(plan.experiment)
            known = [
                result
                for (key, origin), result in store.results(plan.experiment.name).items()
                if key.dataset in cases
                and key.method in plan.methods
                and key.seed < plan.runs
                and origin.protocol == protocols.of(key.dataset, key.method)
            ]
            total = len(cases) * len(plan.methods) * plan.runs
            rows.append(
                (plan.experiment.name, str(len(known)), str(total), str(sum(r.error is not None for r in known)))
            )
    return rows


def plans_of(paper: Paper, request: Request) -> list[Plan]:
    """What the request needs of each experiment of a paper."""
    chosen = _choose_items(paper, request)
    kind = kind_of(request.method) if request.method else None
    plans = []
    for experiment in paper.experiments:
        needs = [item.needs[experiment.name] for item in chosen if experiment.name in item.needs]
        if needs or not (request.table or request.figure):
            methods = experiment.methods
            if needs and all(needs) and (request.table or request.figure):
                methods = tuple(m for m in methods if any(m in some for some in needs))
            own = (request.method,) if request.method and experiment.takes == kind else ()
            cases, runs = _size(experiment, request)
            plans.append(Plan(experiment, cases, (*methods, *own), runs))
    return plans


def _choose_items(paper: Paper, request: Request) -> list[Shown]:
    chosen: list[Shown] = []
    for kind, wanted, items in (("table", request.table, paper.tables), ("figure", request.figure, paper.figures)):
        if wanted is None:
            continue
        found = [item for item in items if item.number == wanted]
        if not found:
            numbers = ", ".join(item.number for item in items) or "none"
            rule = f" must be one that is reproduced of {paper.name}. Got {wanted}. There is {kind} {numbers}."
            raise ValueError(Message(Option(kind), rule))
        chosen += found
    return chosen or [*paper.tables, *paper.figures]


def _size(experiment: Experiment, request: Request) -> tuple[tuple[Case, ...], int]:
    cases, runs = experiment.cases, experiment.runs
    if request.quick:
        quick = experiment.quick_cases or tuple(case.name for case in cases)
        cases, runs = tuple(case for case in cases if case.name in quick), min(runs, experiment.quick_runs)
    return cases, request.runs or runs


def _write(
    request: Request, papers: Sequence[Paper], store: Store, data: Data, missing: Mapping[str, str], seconds: float
) -> Path:
    """Every file of the papers asked for, and one page of all that have results."""
    outcomes = []
    for paper in _with_others(papers):
        results = read_results(paper.experiments, store, data, missing)
        if results.found or paper in papers:
            with figure_style():
                outcomes.append(outcome_of(paper, results, request))
                write_outcome(outcomes[-1], request.output / paper.name)
    notes = [f"{name}: {note}" for name, told in data.notes().items() for note in told]
    with figure_style():
        page = _page.render(outcomes, _facts(outcomes, seconds), _settings(request), notes)
    write_text(request.output / INDEX, page)
    return request.output / INDEX


def _with_others(papers: Sequence[Paper]) -> list[Paper]:
    """Every paper that there is, and those asked for that are none of them."""
    known = [load_paper(name) for name in PAPERS]
    return [*known, *(paper for paper in papers if paper not in known)]


def outcome_of(paper: Paper, results: Results, request: Request | None = None) -> Outcome:
    """Tables, figures and claims from the results, without those that have no number and were not asked for."""
    asked = (request.table, request.figure) if request else (None, None)
    tables = [(table, table.draw(results)) for table in paper.tables]
    shown = [(t, cells) for t, cells in tables if t.number == asked[0] or any(c.ours for c in cells)]
    figures = [(figure, figure.draw(results)) for figure in paper.figures]
    return Outcome(paper, results, shown, [(f, panels) for f, panels in figures if panels], paper.judge(results))


def write_outcome(outcome: Outcome, folder: Path) -> None:
    """CSV, markdown and SVG of each table, SVG and CSV of each figure, CSV of the claims."""
    folder.mkdir(exist_ok=True)
    for table, cells in outcome.tables:
        stem = f"table{table.number}"
        write_rows(folder / f"{stem}.csv", [exact_row(cell) for cell in cells])
        title = f"{outcome.paper.name.capitalize()}, Table {table.number}: {table.title}"
        write_text(folder / f"{stem}.md", to_markdown(title, cells, table.digits))
        ax = plot(cells)
        if ax is not None:
            write_text(folder / f"{stem}.svg", to_svg(ax, stem, "white"))
    for figure, panels in outcome.figures:
        for i, panel in enumerate(panels):
            stem = f"figure{figure.number}{chr(ord('a') + i) if len(panels) > 1 else ''}"
            write_text(folder / f"{stem}.svg", to_svg(panel.ax, stem, "white"))
            write_rows(folder / f"{stem}.csv", panel.numbers)
    if outcome.claims:
        write_rows(folder / "claims.csv", [claim._asdict() for claim in outcome.claims])


def _facts(outcomes: Sequence[Outcome], seconds: float) -> list[tuple[str, str]]:
    claims = [claim.verdict for outcome in outcomes for claim in outcome.claims]
    results = sum(len(found) for outcome in outcomes for found in outcome.results.found.values())
    work = sum(r.seconds for o in outcomes for found in o.results.found.values() for r in found)
    judged = claims.count(HOLDS) + claims.count(FAILS)
    n_figures = sum(len(outcome.figures) for outcome in outcomes)
    return [
        ("tables", str(sum(len(outcome.tables) for outcome in outcomes))),
        *([("figures", str(n_figures))] if n_figures else []),
        *([("claims that hold", f"{claims.count(HOLDS)} of {judged}")] if judged else []),
        ("results", f"{results:,}"),
        ("minutes of methods", f"{work / 60:.1f}"),
        ("minutes of this run", f"{seconds / 60:.1f}"),
    ]


def _settings(request: Request) -> dict[str, str]:
    packages = ("numpy", "scipy", "scikit-learn", "numba")
    versions = {"ensemblage": __version__, "Python": platform.python_version()}
    versions |= {package: metadata.version(package) for package in packages}
    asked: dict[str, Any] = {
        "papers": ", ".join(load_paper(paper).name for paper in request.papers),
        "table": request.table,
        "figure": request.figure,
        "runs": request.runs,
        "method": request.method,
        "quick": request.quick or None,
    }
    shown = {name: str(value) for name, value in asked.items() if value is not None}
    seeds = "0, 1, … per experiment; ensembles and methods of a run have the same"
    return {**shown, "seeds": seeds, "versions": ", ".join(f"{n} {v}" for n, v in versions.items())}
