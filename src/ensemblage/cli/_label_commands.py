"""The commands on partitions that exist. What takes time to import is imported by the commands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ensemblage.cli._options import (
    MOST_RUNS,
    Number,
    OneOf,
    WholeNumber,
    check_size,
    parse_delimiter,
    parse_missing_label,
)
from ensemblage.cli._shared_options import (
    INPUT,
    TABLE,
    TEXT,
    GroupedCommand,
    align_option,
    columns_option,
    consensus_options,
    disk_options,
    folder_option,
    header_option,
    id_option,
    jobs_option,
    key_option,
    missing_option,
    noise_option,
    overwrite_option,
    page_options,
    pair_options,
    reading_options,
    repeat_options,
    standardize_option,
    strict_option,
    table_options,
)


@click.command(cls=GroupedCommand)
@click.argument("ensemble", type=TABLE)
@consensus_options
@table_options
@columns_option
@key_option
@missing_option
@noise_option
@align_option
@pair_options
@disk_options
@repeat_options
@strict_option
@page_options
@folder_option
@overwrite_option
def combine(ensemble: Path, scratch: Path | None, **settings: Any) -> None:
    """Combine partitions that you have.

    ENSEMBLE is a table with one row per object and one column of labels per partition (- reads text from standard
    input), a .npz file of ensemblage, or a .h5ad file of AnnData. The folder gets what "run" writes; with -o FILE.h5ad
    a copy of a .h5ad file is written instead, with clusters and confidence in .obs.

    Labels that do not fit into memory stay on disk: a .npy file of whole numbers, or a folder of Parquet parts.
    Then -o names a .npy or .csv file for the clusters, or a folder for Parquet parts; nothing else is written.
    """
    from ensemblage.cli._disk import combine_stored, is_on_disk
    from ensemblage.cli._report import PageOptions

    if is_on_disk(ensemble, settings["memory"], scratch):
        PageOptions.of(settings).refuse(settings.pop("no_objects"))
        if settings.pop("align") is not None:
            raise ValueError("--align is for labels that fit into memory, with ids. Leave it out, or give a .csv file.")
        combine_stored(ensemble, scratch=scratch, **settings)
        return
    from ensemblage.cli._analysis import combine_analysis
    from ensemblage.cli._answer import show_analysis

    options = PageOptions.of(settings).of_output(settings["output"], settings["no_objects"])
    summary = combine_analysis(ensemble, **settings)
    show_analysis(summary, settings["output"])
    options.save_and_show(summary, settings["output"])


@click.command(cls=GroupedCommand)
@click.argument("draws", type=INPUT, nargs=-1, required=True)
@click.option(
    "--draws-axis",
    type=OneOf(["rows", "columns"]),
    help="Whether each row or each column of a table is a draw. A table does not say; NetCDF and .npz do.",
)
@click.option(
    "--burn-in",
    type=WholeNumber(0),
    default=0,
    show_default=True,
    help="Draws at the beginning of each chain that are left out.",
)
@click.option(
    "--thin",
    type=WholeNumber(1),
    default=1,
    show_default=True,
    metavar="N",
    help="Of the other draws, every Nth one is kept.",
)
@click.option(
    "--chain-column",
    type=TEXT,
    metavar="NAME",
    help="With a draw in each row: the column that says its chain. [default: .chain, or one chain per file]",
)
@click.option(
    "--id-column", type=TEXT, metavar="NAME", help="With a draw in each column: the column that names the objects."
)
@click.option(
    "--variable",
    type=TEXT,
    metavar="NAME",
    help="Of NetCDF: the labels. [default: the only variable of whole numbers with draws and objects]",
)
@click.option(
    "--loss",
    type=OneOf(["vi", "gvi", "binder", "omari", "nvi", "id", "nid"]),
    default="vi",
    show_default=True,
    help="The loss of a partition and a draw: variation of information, its generalisation, Binder's, 1 − adjusted "
    "Rand, normalised VI, information distance, normalised ID.",
)
@click.option(
    "--a",
    type=Number(least=0, most=2),
    default=1.0,
    show_default=True,
    help="Of gvi and binder: price of parting objects that a draw joins. The larger, the fewer clusters.",
)
@click.option("-k", "--n-clusters", "n_clusters", type=WholeNumber(1), help="Most clusters of the estimate.")
@click.option(
    "--level",
    type=Number(above=0, most=1),
    default=0.95,
    show_default=True,
    help="Share of the draws that the credible ball holds.",
)
@click.option(
    "--starts",
    "n_init",
    type=WholeNumber(1, MOST_RUNS),
    default=16,
    show_default=True,
    help="Starts of the search for the estimate.",
)
@click.option(
    "--pairs",
    "n_pairs",
    type=WholeNumber(1, 100_000),
    default=500,
    show_default=True,
    help="Pairs of objects, drawn at random, of which the chains are compared.",
)
@click.option(
    "--missing",
    callback=parse_missing_label,
    metavar="LABEL|none",
    default="-1",
    show_default=True,
    help="The label that means “not labelled”, or none if every label is one. Empty cells are missing always.",
)
@header_option
@click.option(
    "--delimiter",
    callback=parse_delimiter,
    metavar="CHARACTER|tab",
    help="What stands between the cells of a text file. [default: found out]",
)
@repeat_options
@click.option(
    "--memory",
    metavar="SIZE",
    callback=check_size,
    help="Most memory of reading, and of the search beside the draws, such as 4GB. [default: 2GB]",
)
@click.option("--no-objects", is_flag=True, help="Leave ids of single objects out of the page and of summary.json.")
@click.option("--open", "open_page", is_flag=True, help="Show the page in the browser when it is done.")
@folder_option
@overwrite_option
def summarize(draws: tuple[Path, ...], **settings: Any) -> None:
    """Summarise partitions drawn from a posterior.

    DRAWS are files of cluster labels, one chain each or all: CSV as R's write.csv makes it, Parquet or .npy with
    --draws-axis; NetCDF of ArviZ; an ensemble as .npz. It reports the partition with the least expected loss, the
    credible ball around it, the probability of each object to be with its cluster, and whether the chains agree
    (rank-normalised split R-hat). The folder gets labels.csv, probabilities.csv (lowest first), ball.csv (the bounds of
    the ball), report.html (the page to look at), ensemble.npz, model.npz and summary.json.
    """
    from ensemblage.cli._summarize import summarize as summarize_files

    summarize_files(draws, **settings)


@click.command()
@click.argument("first", type=INPUT)
@click.argument("second", type=INPUT)
@click.option("--column", type=TEXT, metavar="NAME", help="Column of the clusters in both tables. [default: cluster]")
@id_option
@click.option("-o", "--output", type=INPUT, metavar="FILE", help="A .csv file for the objects that moved.")
@overwrite_option
def compare(**settings: Any) -> None:
    """Compare two partitions.

    FIRST and SECOND are labels.csv of two runs, or any tables with one row per object and a column of clusters.
    Objects are matched by their ids, or by row if there are no ids. The output has the agreement (1: equal; ARI and
    AMI of 0: no more than by chance), the matching clusters with their sizes, and the objects that moved. Clusters
    are matched so that as many objects as possible stay.
    """
    from ensemblage.cli._compare import compare_tables

    compare_tables(**settings)


@click.command()
@click.argument("folder", type=INPUT)
@click.argument("new", type=INPUT)
@id_option
@reading_options
@jobs_option
@click.option("-o", "--output", type=INPUT, required=True, metavar="FILE", help="A .csv file for the clusters.")
@overwrite_option
def assign(folder: Path, **settings: Any) -> None:
    """Assign new objects to the clusters of a finished run.

    FOLDER is the output of "run"; NEW is a table with the same columns, matched by name. Columns are prepared as in the
    run, each base partition labels the new objects, and the consensus gives their cluster. FILE has the columns of
    labels.csv. Objects of the run itself keep their clusters. With a folder of "combine", NEW has a column of labels
    for each of its partitions, or is an ensemble saved as .npz.
    """
    from ensemblage.cli._assign import assign_objects

    assign_objects(folder, **settings)


@click.command()
@click.argument("ensemble", type=TABLE)
@disk_options
@click.option(
    "--by",
    default="discotec,aari,anmi",
    show_default=True,
    metavar="NAMES",
    help="Criteria, with commas; the first one orders the table: discotec, discotec-tv, discotec-kl, "
    "discotec-hellinger, "
    "aari, anmi; with --features an internal index, such as silhouette, calinski_harabasz, davies_bouldin, dunn, ...",
)
@click.option("--features", type=INPUT, metavar="FILE", help="Table of the features of the objects.")
@click.option(
    "--impute",
    type=OneOf(["median", "mean", "most-frequent", "knn"]),
    help="Fill missing features with the median, mean or most frequent value of the column, or from the 5 nearest "
    "objects (knn).",
)
@standardize_option
@pair_options
@table_options
@columns_option
@missing_option
@jobs_option
@click.option("-o", "--output", type=INPUT, metavar="FILE", help="A .csv file that also gets the table.")
@overwrite_option
def rank(ensemble: Path, **settings: Any) -> None:
    """Rank the members of an ensemble, best first.

    ENSEMBLE is a file as for "combine". A member is good if it agrees with the majority about pairs of objects.
    discotec is the share of pairs on which it disagrees; lower is better. aari is its mean adjusted Rand index with
    the other members, anmi the mean normalised mutual information; higher is better. Pairs that violate --must-link
    or --cannot-link make the scores worse. With --truth-column, the table shows the ARI with it, too.
    """
    from ensemblage.cli._ranking import rank_members

    rank_members(ensemble, **settings)


@click.command()
@click.argument("source", type=INPUT)
@click.option(
    "--labels", type=INPUT, metavar="FILE", help="Table with a column named cluster, if SOURCE is an ensemble."
)
@click.option(
    "--features", type=INPUT, metavar="FILE", help="Table of the objects of an ensemble, to describe each cluster."
)
@click.option(
    "--selective-markers",
    is_flag=True,
    help="With --features: test which variables differ between clusters, with p-values that hold although the clusters "
    "were made from them, by the dip of each variable in a cluster and the nearest other one.",
)
@table_options
@columns_option
@missing_option
@page_options
@click.option("-o", "--output", type=INPUT, metavar="PAGE", help="An .html file to write.")
@overwrite_option
def report(**settings: Any) -> None:
    """Write the page of a run or of an ensemble.

    SOURCE is the folder of a finished run, or an ensemble as for "combine" together with --labels and -o.
    """
    from ensemblage.cli._report import make_report

    make_report(**settings)
