"""The commands that `ensemblage` takes from the laboratory. What takes time is imported when a command is called."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ensemblage.cli._options import MOST_RUNS, Number, WholeNumber
from ensemblage.cli._shared_options import INPUT, TEXT, folder_option, jobs_option


@click.command()
@click.argument("paper", metavar="PAPER")
@click.option("--table", metavar="T", help="Only this table of the paper.")
@click.option("--figure", metavar="F", help="Only this figure of the paper.")
@click.option(
    "--data",
    type=INPUT,
    metavar="DIR",
    help="Folder of data sets, NAME.csv.gz with a column label. [default: ENSEMBLAGE_DATA]",
)
@click.option("--download", is_flag=True, help="Download missing data sets from OpenML.")
@click.option(
    "--runs",
    type=WholeNumber(1, MOST_RUNS),
    metavar="N",
    help="Number of runs of each experiment. [default: as in the paper]",
)
@jobs_option
@click.option("--method", type=TEXT, metavar="MODULE:CLASS", help="Your own method, as an additional column.")
@click.option("--quick", is_flag=True, help="Make every table and figure on few sets with few runs.")
@click.option("--retry", is_flag=True, help="Repeat what failed.")
@click.option("--status", "show_status", is_flag=True, help="Show the progress so far, and run nothing.")
@folder_option
def reproduce(paper: str, output: Path, **settings: Any) -> None:
    """Repeat the experiments of a paper and compare.

    PAPER is candel, ayad, sinorina, li, ohl or all. The folder gets a CSV, markdown and SVG file per table, and
    index.html with everything. results.sqlite keeps each result: repeat the command to continue after a stop.
    """
    from ensemblage_lab._reproduce import reproduce_papers

    reproduce_papers(paper, output, **settings)


@click.command("benchmark")
@click.option(
    "--suite", type=INPUT, metavar="DIR", help="Folder of a public suite: <battery>/<set>.data.gz, .labels0.gz."
)
@click.option(
    "--data",
    type=INPUT,
    metavar="DIR",
    multiple=True,
    help="Folder of data sets, NAME.csv.gz with a column label or class; repeatable.",
)
@click.option(
    "--generated", is_flag=True, help="The generated sets, too. [default: they alone, without --suite and --data]"
)
@click.option(
    "--pools",
    metavar="NAMES",
    help="Sets of members to combine, with commas: random-k, diverse, both, published (labelings of the suite). "
    "[default: random-k,diverse; all with --full]",
)
@click.option("--sets", metavar="NAMES", help="Only these sets or batteries, with commas.")
@click.option("--only", metavar="NAMES", help="Only these entries, with commas.")
@click.option(
    "--method",
    "methods",
    type=TEXT,
    multiple=True,
    metavar="MODULE:CLASS",
    help="Your own clusterer, to be compared; repeatable.",
)
@click.option(
    "--consensus",
    type=TEXT,
    multiple=True,
    metavar="MODULE:CLASS",
    help="Your own consensus method, to be compared; repeatable.",
)
@click.option("--seeds", type=WholeNumber(1, 100), help="Runs of each set. [default: 2; 1 with --quick]")
@click.option(
    "--parts/--no-parts",
    default=None,
    help="Another run of each set without a tenth of its objects. [default: parts; no-parts with --quick]",
)
@click.option(
    "--largest", type=WholeNumber(2), metavar="N", help="Leave out sets with more objects. [default: no limit]"
)
@click.option(
    "--seconds",
    type=Number(least=1),
    help="Limit of processor time of one cell, in seconds. [default: 600; 60 with --quick and --full]",
)
@click.option(
    "--minutes",
    type=Number(least=0),
    help="After this time no cell begins, and the page shows the finished cells. [default: no limit; 120 with --full]",
)
@click.option("--jobs", "n_jobs", type=WholeNumber(1), help="Number of processes. [default: 1; 2 with --quick, --full]")
@click.option(
    "--quick",
    is_flag=True,
    help="Only sets of at most 1,000 objects, with one seed, no run on parts, and a minute per cell.",
)
@click.option(
    "--full",
    is_flag=True,
    help="All pools, in at most two hours on two cores: a minute per cell; above 2,000 objects one seed, no pool "
    "'both' and no run on parts. An entry that did not finish on three sets is not tried on sets of "
    "at least their size.",
)
@click.option("--retry", is_flag=True, help="Repeat cells without a number.")
@click.option("--status", "show_status", is_flag=True, help="Show the progress so far, and run nothing.")
@folder_option
def run_leaderboard(output: Path, **settings: Any) -> None:
    """Score methods on sets with known classes.

    Consensus methods, rankers and plain clusterers are compared. Without --suite and --data they get 18 generated sets.
    The folder gets index.html with tables and pictures, leaderboard.html with one table to sort and filter,
    leaderboard.csv and .md, tables by set, battery and kind of set, comparisons, losses and failures as CSV, and the
    labels with k given in the format of the suite. submission.json has the results of the classes of --method and
    --consensus. benchmark.sqlite keeps each result: repeat the command to continue after a stop. A cell that exceeds
    its time or 4 GB has no number and counts as 0. Sets that cannot be read are left out and listed; duplicate sets
    are used once.
    """
    from ensemblage_lab._benchmark import run_benchmark

    run_benchmark(output, **settings)
