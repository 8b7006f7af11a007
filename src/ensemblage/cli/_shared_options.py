"""Options that several commands have, and the groups with headings in which the help of a command lists options."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from ensemblage.cli._options import (
    MOST_PARTITIONS,
    NonEmptyPath,
    NonEmptyText,
    Number,
    OneOf,
    TablePath,
    WholeNumber,
    check_size,
    parse_codes,
    parse_delimiter,
    parse_figures,
    parse_jobs,
    parse_missing,
    parse_roles,
    parse_sample_size,
    parse_set,
)

Command = TypeVar("Command", bound=Callable[..., Any])


def options(*decorators: Callable[[Any], Any]) -> Callable[[Command], Command]:
    """Several options as one decorator."""

    def decorate(command: Command) -> Command:
        for decorator in reversed(decorators):
            command = decorator(command)
        return command

    return decorate


INPUT, TABLE, TEXT = NonEmptyPath(path_type=Path), TablePath(path_type=Path), NonEmptyText()
id_option = click.option(
    "--id-column", metavar="NAME", help="Column that names the objects. [default: found if it is obvious]"
)
header_option = click.option(
    "--header/--no-header", "has_header", default=None, help="Whether the first row holds names. [default: detected]"
)
reading_options = options(
    click.option(
        "--encoding", type=TEXT, metavar="NAME", help="Encoding of a text file that is not UTF-8, such as latin-1."
    ),
    header_option,
    click.option(
        "--delimiter",
        callback=parse_delimiter,
        metavar="CHARACTER|tab",
        help="Character between the cells of a text file. [default: detected]",
    ),
    click.option(
        "--decimal",
        type=OneOf([".", ","]),
        help="Decimal mark of a text file. [default: detected from all numbers]",
    ),
    click.option("--sheet", type=TEXT, metavar="NAME", help="Sheet of a workbook, if several have cells."),
    click.option(
        "--skip-rows",
        type=WholeNumber(0),
        metavar="N",
        help="Lines above the names of the columns, such as a title. [default: 0]",
    ),
)
table_options = options(
    id_option,
    click.option(
        "--truth-column",
        metavar="NAME",
        help="Column of known classes. It is compared with the clusters and never used as a feature.",
    ),
    click.option("--drop-column", "drop_columns", metavar="NAME", multiple=True, help="Column to ignore; repeatable."),
    reading_options,
    click.option(
        "--role",
        "given_roles",
        callback=parse_roles,
        multiple=True,
        metavar="COLUMN=ROLE",
        help="What a column is: id, number, category, ordered, drop, or feature (as found, whatever its name says); "
        "repeatable. [default: detected]",
    ),
)
standardize_option = click.option(
    "--standardize/--no-standardize",
    default=True,
    help="Scale features to mean 0 and standard deviation 1. [default: yes]",
)
auto_standardize_option = click.option(
    "--standardize/--no-standardize",
    default=None,
    callback=lambda context, option, value: "auto" if value is None else value,
    help="Scale numbers to mean 0 and standard deviation 1. [default: unless all standard deviations are within a "
    "factor of 20]",
)
categories_option = click.option(
    "--categories",
    type=OneOf(["encode", "member", "drop"]),
    default="encode",
    show_default=True,
    help="Use columns of categories as features, each with the weight of one column of numbers; or as members of "
    "the ensemble; or leave them out.",
)
dates_option = click.option(
    "--dates",
    type=OneOf(["drop", "days", "parts"]),
    default="drop",
    show_default=True,
    help="Leave columns of dates out, or use the number of days, or year, month, weekday and hour.",
)
codes_option = click.option(
    "--missing",
    "missing_codes",
    callback=parse_codes,
    metavar="VALUES",
    help="Values that mean missing, with commas, such as -999,99,n/a. Empty cells, NA, ? and the like are always "
    "missing.",
)
feature_options = options(
    click.option(
        "--impute",
        type=OneOf(["median", "mean", "most-frequent", "knn", "drop"]),
        help="Fill missing values with the median, mean or most frequent value of the column, or from the 5 nearest "
        "rows (knn); or drop their rows. [default: the median if at most 5 % of each column are missing, else an "
        "error]",
    ),
    codes_option,
    auto_standardize_option,
    categories_option,
    dates_option,
    click.option("--transpose", is_flag=True, help="The objects are the columns of the file."),
)
generation_options = options(
    click.option(
        "--partitions",
        type=WholeNumber(2, MOST_PARTITIONS),
        help="Number of base partitions: by k-means, each with a random number of clusters, or by genie. [default: 50]",
    ),
    click.option(
        "--generator",
        type=OneOf(["diverse", "random-k", "subspace", "projection", "greedy", "mixed", "genie", "uspec", "gower"]),
        help="How the base partitions are made. diverse: Gaussian mixtures, spectral clustering and Genie. "
        "random-k, subspace, projection: k-means on all features, on random halves of them, or on random "
        "projections. greedy: 59 (k − 1) runs of k-means that build on each other. mixed: one partition by each of "
        "ten algorithms. genie: single linkage that keeps cluster sizes similar. gower: average linkage of Gower's "
        "distances, which tolerate missing values. uspec: spectral clustering by 1,000 representatives, for "
        "millions of objects. [default: run: by --selection and --quality; generate: random-k]",
    ),
    click.option(
        "--sample-size",
        callback=parse_sample_size,
        metavar="N|auto|all",
        default="auto",
        show_default=True,
        help="Rows that each k-means is fitted to, before 3 steps on all rows: a sample of N; all of them; or "
        "20,000 of 100,000 or more (auto). For random-k, subspace and projection.",
    ),
    click.option(
        "--category-weight",
        type=Number(above=0),
        default=1.0,
        show_default=True,
        metavar="W",
        help="With --categories member: weight of one category column, in columns of numbers.",
    ),
)
consensus_options = options(
    click.option(
        "-k",
        "--n-clusters",
        "k",
        type=WholeNumber(2),
        help="Number of clusters. [default: estimated]",
    ),
    click.option(
        "--method",
        type=TEXT,
        metavar="NAME",
        show_default="run: by --quality; combine: km",
        help="Consensus method: ensemblage methods lists them. Some, such as km and eac-average, estimate the number "
        "of clusters. all: as without --method, and the page compares all methods.",
    ),
    click.option(
        "--set",
        "chosen",
        multiple=True,
        callback=parse_set,
        metavar="NAME=VALUE",
        help="A parameter of the method: see ensemblage methods NAME. A number, a word, true, false, none, or numbers "
        "with commas; repeatable.",
    ),
)
jobs_option = click.option(
    "--jobs",
    "n_jobs",
    callback=parse_jobs,
    metavar="N|all",
    default="all",
    show_default=True,
    help="Number of threads. It changes the time, never the result.",
)
repeat_options = options(
    click.option(
        "--seed",
        type=WholeNumber(0, 2**32 - 1),
        default=0,
        show_default=True,
        help="Seed of the random numbers: the same seed gives the same result.",
    ),
    jobs_option,
)
missing_option = click.option(
    "--missing",
    callback=parse_missing,
    metavar="LABEL|none",
    default="-1",
    show_default=True,
    help="The label that means “not labelled”, or none if there is no such label. A table may have several, with "
    "commas. Empty cells are always missing.",
)
noise_option = click.option(
    "--noise",
    type=OneOf(["missing", "vote"]),
    default="missing",
    show_default=True,
    help="Meaning of the label of --missing. missing: nothing is known. vote: the object is noise, as in HDBSCAN "
    "and BERTopic; if more than half of the partitions agree, it is in no cluster.",
)
memory_option = click.option(
    "--memory",
    metavar="SIZE",
    callback=check_size,
    help="Memory limit, such as 4GB. It applies to methods with a matrix of all pairs of objects [default: 2GB] and "
    "to labels or features on disk [default: 1GB].",
)
columns_option = click.option(
    "--columns",
    multiple=True,
    metavar="PATTERN",
    help="For a .h5ad file: the columns of .obs with partitions, by name or pattern; repeatable. [default: leiden_*]",
)
use_option = click.option(
    "--use-rep",
    metavar="NAME",
    help="For a .h5ad file: the matrix to cluster, a name in .obsm, or X. [default: X_pca, else X]",
)
key_option = click.option(
    "--key-added",
    metavar="NAME",
    help="For a .h5ad file: the column of .obs for the clusters. The names of the other new columns begin with it. "
    "[default: consensus]",
)
disk_options = options(
    memory_option,
    click.option("--scratch", type=INPUT, metavar="FOLDER", help="Folder for temporary files of labels on disk."),
)
strict_option = click.option(
    "--strict", is_flag=True, help="Refuse data with an alert: what probably makes a wrong answer is reported first."
)
page_options = options(
    click.option(
        "--figures",
        callback=parse_figures,
        metavar="FORMATS",
        help="Also save each figure of the page in a folder named figures: svg, png, pdf, with commas.",
    ),
    click.option(
        "--no-objects",
        is_flag=True,
        help="Leave ids and values of single objects out of the page and of summary.json, so that you can pass them "
        "on.",
    ),
    click.option("--open", "open_page", is_flag=True, help="Open the page in the browser at the end."),
)
align_option = click.option(
    "--align",
    type=INPUT,
    metavar="FILE",
    help="labels.csv of an earlier run. Clusters with the same objects keep its numbers.",
)
pair_options = options(
    click.option("--must-link", type=INPUT, metavar="FILE", help="CSV of pairs of objects that must share a cluster."),
    click.option(
        "--cannot-link", type=INPUT, metavar="FILE", help="CSV of pairs of objects that must not share a cluster."
    ),
)
overwrite_option = click.option("--overwrite", is_flag=True, help="Replace existing files.")
folder_option = click.option(
    "-o", "--output", type=INPUT, required=True, metavar="FOLDER", help="Folder for the results."
)


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
    "Base partitions": ("--generator", "--partitions", "--sample-size", "--category-weight"),
    "Constraints and earlier runs": ("--must-link", "--cannot-link", "--align"),
    "Columns": ("--id-column", "--drop-column", "--role", "--columns", "--use-rep", "--key-added", "--transpose"),
    "Values": ("--missing", "--noise", "--strict", "--impute", "--standardize", "--categories", "--dates"),
    "File format": ("--encoding", "--header", "--delimiter", "--decimal", "--sheet", "--skip-rows"),
    "Markers": ("--selective-markers", "--thin-counts", "--dispersion", "--divide-by-depth"),
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
