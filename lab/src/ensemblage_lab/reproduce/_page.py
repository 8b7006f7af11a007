"""Everything of a reproduction on one self-contained page, in the style of the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from ensemblage.base.text import listing
from ensemblage.report._layout import Cell as ShownCell
from ensemblage.report._layout import ClusterCell, Picture, Section, Table, plural, render_page, text_table, to_svg
from ensemblage_lab._figures import Panel
from ensemblage_lab.reproduce._cells import DIFFERS, NOISE_RULE, UNKNOWN, WITHIN, Cell, counts, ordered
from ensemblage_lab.reproduce._paper import FAILS, HOLDS, UNTESTED, Claim, Paper, Shown
from ensemblage_lab.reproduce._results import Results
from ensemblage_lab.reproduce._tables import ours_text, plot, published_text

COLORS = {WITHIN: "#009e73", DIFFERS: "#d55e00", UNKNOWN: "#8c8c8c", HOLDS: "#009e73", FAILS: "#d55e00"}
WIDEST_COLUMN = 7.0
"""Inches of a figure above which half the page is too narrow to read it."""


@dataclass(frozen=True)
class Outcome:
    """What was found about one paper."""

    paper: Paper
    results: Results
    tables: Sequence[tuple[Shown, Sequence[Cell]]]
    figures: Sequence[tuple[Shown, Sequence[Panel]]]
    claims: Sequence[Claim]


def render(
    outcomes: Sequence[Outcome], facts: Sequence[tuple[str, str]], settings: Mapping[str, str], notes: Sequence[str]
) -> str:
    """The page, as HTML."""
    sections = [
        _overview(outcomes),
        *(s for o in outcomes for s in _paper_sections(o)),
        _notes(outcomes, settings, notes),
    ]
    return render_page(
        title=f"Reproduction of {listing([outcome.paper.name.capitalize() for outcome in outcomes])}",
        headline=_headline(outcomes),
        facts=facts,
        sections=sections,
    )


def _headline(outcomes: Sequence[Outcome]) -> str:
    total = counts([cell for outcome in outcomes for _, cells in outcome.tables for cell in cells])
    compared = total[WITHIN] + total[DIFFERS]
    if not compared:
        return "Nothing to compare with the published numbers yet"
    return f"{total[WITHIN]:,} of {plural(compared, 'published number')} within noise of ours"


def _anchor(name: str, text: str) -> Markup:
    return Markup('<span id="{}">{}</span>').format(name, text)


def _link(name: str, text: str) -> Markup:
    return Markup('<a href="#{}">{}</a>').format(name, text)


def _table_id(paper: Paper, table: Shown) -> str:
    return f"{paper.name}-table-{table.number}"


def _overview(outcomes: Sequence[Outcome]) -> Section:
    rows: list[list[ShownCell]] = []
    for outcome in outcomes:
        for table, cells in outcome.tables:
            count = counts(cells)
            empty = sum(c.ours is None and c.published is not None and not c.is_alternative for c in cells)
            link = _link(_table_id(outcome.paper, table), f"{outcome.paper.name.capitalize()}, Table {table.number}")
            rows.append([link, table.title, *(str(count[v]) for v in (WITHIN, DIFFERS, UNKNOWN)), str(empty)])
        rows += [_figure_row(outcome.paper, figure) for figure, panels in outcome.figures if panels]
        if outcome.claims:
            rows.append(_claims_row(outcome))
    columns = ["", "", WITHIN, DIFFERS, UNKNOWN, "without ours"]
    has_claims = any(outcome.claims for outcome in outcomes)
    note = "Claims: those that hold, fail, and cannot be tested here." if has_claims else ""
    shown = Table("Published numbers beside ours", columns, rows, note, shown=len(rows), text=(0, 1), wide=True)
    return Section("Overview", [NOISE_RULE], tables=[shown])


def _figure_row(paper: Paper, figure: Shown) -> list[ShownCell]:
    link = _link(f"{paper.name}-figure-{figure.number}", f"{paper.name.capitalize()}, Figure {figure.number}")
    return [link, figure.title, "", "", "", ""]


def _claims_row(outcome: Outcome) -> list[ShownCell]:
    count = [str(sum(c.verdict == v for c in outcome.claims)) for v in (HOLDS, FAILS, UNTESTED)]
    link = _link(f"{outcome.paper.name}-claims", f"{outcome.paper.name.capitalize()}, claims")
    return [link, "What the text says", *count, ""]


def _paper_sections(outcome: Outcome) -> list[Section]:
    paper = outcome.paper
    sections = [Section(_anchor(paper.name, paper.title), paper.protocol, tables=_misprints(paper))]
    sections += [_table_section(paper, table, cells) for table, cells in outcome.tables]
    sections += [_figure_section(paper, figure, panels) for figure, panels in outcome.figures if panels]
    if outcome.claims:
        sections.append(_claims_section(outcome))
    return sections


def _misprints(paper: Paper) -> list[Table]:
    rows = [[r["location"], r["printed"], r["other"], r["note"]] for r in paper.misprints()]
    columns = ["Where", "Printed", "Elsewhere", "Note"]
    return [text_table("Where the paper disagrees with itself", columns, rows, shown=3)]


def _table_section(paper: Paper, table: Shown, cells: Sequence[Cell]) -> Section:
    title = _anchor(_table_id(paper, table), f"{paper.name.capitalize()}, Table {table.number}: {table.title}")
    full = [row for row in ordered(c.row for c in cells) if any(c.ours for c in cells if c.row == row)]
    shown = [cell for cell in cells if cell.row in full]
    ax = plot(shown)
    pictures = []
    if ax is not None:
        name = f"{paper.name}-t{table.number}"
        pictures = [Picture("Ours over published", to_svg(ax, name), ["A ring marks a difference beyond noise."])]
    return Section(
        title, [*filter(None, [table.note]), *_why_left_out(cells, full)], pictures, [_wide(shown, table.digits)]
    )


def _why_left_out(cells: Sequence[Cell], full: Sequence[str]) -> list[str]:
    reasons: dict[str, list[str]] = {}
    for row in ordered(c.row for c in cells):
        if row not in full:
            reason = next((c.why_not for c in cells if c.row == row and c.why_not not in ("", "NA")), "no number")
            reasons.setdefault(reason, []).append(row)
    return [f"Without our numbers ({reason}): {listing(rows)}." for reason, rows in reasons.items()]


def _wide(cells: Sequence[Cell], digits: int) -> Table:
    rows, columns = ordered(c.row for c in cells), ordered(c.column for c in cells)
    at = {(c.row, c.column): c for c in cells}
    body: list[list[ShownCell]] = [[row, *(_cell(at.get((row, c)), digits) for c in columns)] for row in rows]
    note = (
        "Ours ± standard error, below it the published number: green within noise, orange beyond it, grey no verdict."
    )
    return Table("Ours and published", ["", *columns], body, note, shown=40, wide=True)


def _cell(cell: Cell | None, digits: int) -> ShownCell:
    if cell is None:
        return ""
    swatch = Markup('<span class="swatch" title="{}" style="background: {}"></span>')
    judged = swatch.format(cell.verdict, COLORS[cell.verdict]) if cell.verdict else ""
    below = Markup('<span style="color: var(--soft)">{}{}</span>').format(judged, published_text(cell, digits) or "–")
    return Markup("{}<br>{}").format(ours_text(cell, digits), below)


def _figure_section(paper: Paper, figure: Shown, panels: Sequence[Panel]) -> Section:
    name = f"{paper.name}-figure-{figure.number}"
    pictures = [_picture(panel, f"{name}-{i}") for i, panel in enumerate(panels)]
    title = _anchor(name, f"{paper.name.capitalize()}, Figure {figure.number}: {figure.title}")
    return Section(title, [figure.note] if figure.note else [], pictures)


def _picture(panel: Panel, name: str) -> Picture:
    wide = panel.ax.figure.get_window_extent().width > WIDEST_COLUMN * panel.ax.figure.dpi
    return Picture(panel.title, to_svg(panel.ax, name), [panel.sentence] if panel.sentence else [], wide)


def _claims_section(outcome: Outcome) -> Section:
    rows: list[list[ShownCell]] = [
        [
            *(claim.figure, claim.dataset, claim.claim, claim.value),
            ClusterCell(claim.verdict, COLORS.get(claim.verdict, "#8c8c8c")),
            claim.ours,
        ]
        for claim in outcome.claims
    ]
    columns = ["Where", "Data", "Claim", "Value", "Verdict", "Ours"]
    title = _anchor(f"{outcome.paper.name}-claims", f"{outcome.paper.name.capitalize()}: what the text says")
    return Section(title, tables=[text_table("", columns, rows, shown=len(rows))])


def _notes(outcomes: Sequence[Outcome], settings: Mapping[str, str], notes: Sequence[str]) -> Section:
    skipped = {name: reason for outcome in outcomes for name, reason in outcome.results.skipped.items()}
    missing = {name: reason for outcome in outcomes for name, reason in outcome.results.missing.items()}
    failures = sorted({row for outcome in outcomes for row in outcome.results.failures()})
    tables = [text_table("How it was made", (), [[str(escape(k)), v] for k, v in settings.items()])]
    for title, columns, rows in (
        ("Data sets that are not at hand", ["Set", "Reason"], [[n, r] for n, r in sorted(skipped.items())]),
        ("Methods that are not available", ["Method", "Reason"], [[n, r] for n, r in sorted(missing.items())]),
        ("What failed", ["Experiment", "Case", "Method", "Error"], [list(row) for row in failures]),
        ("Data that differ from what is printed", ["Note"], [[note] for note in notes]),
    ):
        if rows:
            tables.append(text_table(title, columns, rows, shown=8))
    return Section("Data, failures, settings", tables=tables)
