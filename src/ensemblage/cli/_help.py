"""The help of a command with many options: groups with headings, in the order in which a reader needs them."""

from __future__ import annotations

import click

GROUPS = {
    "Result": ("--output", "--n-clusters", "--truth-column", "--annotate", "--overwrite"),
    "Method": (
        "--method",
        "--set",
        "--selection",
        "--quality",
        "--k-range",
        "--allow-one",
        "--stability",
        "--merge-unsupported",
    ),
    "Draws": ("--draws-axis", "--burn-in", "--thin", "--chain-column", "--variable"),
    "Estimate": ("--loss", "--a", "--level", "--starts", "--pairs"),
    "Base clusterings": ("--generator", "--partitions", "--fit-on", "--member-weight"),
    "Constraints and earlier runs": ("--must-link", "--cannot-link", "--align"),
    "Columns": ("--id-column", "--drop-column", "--role", "--columns", "--use", "--key", "--transpose"),
    "Values": ("--missing", "--noise", "--strict", "--impute", "--standardize", "--categories", "--dates"),
    "File format": ("--encoding", "--header", "--delimiter", "--decimal", "--sheet", "--skip-rows"),
    "Markers": ("--honest-markers", "--thin-counts", "--dispersion", "--divide-by-depth"),
    "Page": ("--without-columns", "--figures", "--no-objects", "--open"),
    "Computation": ("--seed", "--jobs", "--memory", "--scratch"),
    "Other": ("--help",),
}
"""Heading → the long names of its options. A command shows those that it has."""


class GroupedCommand(click.Command):
    """A command whose help has its options in `GROUPS`; options of no group come last."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        left = {option.opts[-1]: option for option in self.get_params(ctx) if isinstance(option, click.Option)}
        groups = {heading: [left.pop(name) for name in names if name in left] for heading, names in GROUPS.items()}
        groups["Other"] += left.values()
        for heading, options in groups.items():
            records = [record for option in options if (record := option.get_help_record(ctx))]
            if records:
                with formatter.section(heading):
                    formatter.write_dl(records)
