"""The commands that cluster: tables of features, and graphs. What takes time to import is imported by the commands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ensemblage.base.options import DEFAULT_SELECTION, SELECTIONS
from ensemblage.cli._options import (
    MOST_PARTITIONS,
    Number,
    OneOf,
    WholeNumber,
    parse_k_range,
    parse_resolutions,
)
from ensemblage.cli._shared_options import (
    INPUT,
    TABLE,
    TEXT,
    GroupedCommand,
    align_option,
    consensus_options,
    feature_options,
    folder_option,
    generation_options,
    header_option,
    id_option,
    key_option,
    memory_option,
    overwrite_option,
    page_options,
    pair_options,
    repeat_options,
    strict_option,
    table_options,
    use_option,
)


@click.command()
@click.argument("data", type=TABLE)
@table_options
@feature_options
def look(data: Path, **settings: Any) -> None:
    """Show how each column of a table would be used.

    DATA is a table as for "run", with the same options for reading and columns. Nothing is written. The output lists
    the role and use of each column, units, values that may mean missing, a column that dominates, and long tails that
    a logarithm would shorten. It says whether the objects may be the columns, what "run" would refuse, and which
    command to use next.
    """
    from ensemblage.cli._look import look_at_table

    look_at_table(data, **settings)


@click.command(cls=GroupedCommand)
@click.argument("data", type=TABLE)
@consensus_options
@click.option(
    "--k-range",
    callback=parse_k_range,
    metavar="LOW:HIGH",
    help="Estimate the number of clusters within this range. [default: 2:10, and more for many objects]",
)
@click.option(
    "--annotate",
    is_flag=True,
    help="Also write the whole table with the columns of labels.csv, in its own format: annotated.csv, .xlsx, "
    ".parquet, ...",
)
@use_option
@key_option
@align_option
@pair_options
@click.option("--allow-one", is_flag=True, help="Allow one cluster as the answer if no structure is found.")
@click.option(
    "--quality",
    type=OneOf(["fast", "default", "best"]),
    default="default",
    show_default=True,
    help="Effort, without --generator. default: several algorithms, combined by eac-average. best: twice as many "
    "partitions with --selection consensus. fast: 50 k-means, combined by km, as always above 20,000 objects "
    "without learned weights.",
)
@click.option(
    "--selection",
    type=OneOf(SELECTIONS),
    help="Without --generator and --method. learned: regression trees, trained on synthetic sets, weight the "
    "partitions and choose the number of clusters. consensus: all weights are equal, and five criteria choose it. "
    f"[default: {DEFAULT_SELECTION}]",
)
@click.option(
    "--stability",
    type=WholeNumber(0, 1000),
    metavar="N",
    help="Repeat the analysis on N resamples of the objects and report which clusters are reproduced; 0: no "
    "resamples. [default: 20 for up to 2,000 objects]",
)
@click.option(
    "--without-columns",
    is_flag=True,
    help="Repeat the analysis without each column in turn and report which columns change the answer. Of many "
    "columns, the 20 that separate the clusters most are left out.",
)
@click.option(
    "--merge-unsupported",
    is_flag=True,
    help="Add a column to labels.csv, and a section to the page, in which clusters are merged if a linear test "
    "supports no split between them. Clusters of other shapes, such as rings, are merged, too: compare both.",
)
@click.option(
    "--selective-markers",
    is_flag=True,
    help="Test on the page and in profile.csv which variables differ between clusters, with p-values that hold "
    "although the clusters were made from them: by the dip of each variable in a cluster and the nearest other one, "
    "or of counts with --thin-counts.",
)
@click.option(
    "--thin-counts",
    is_flag=True,
    help="With --selective-markers, if all columns are counts: split each count at random into two independent parts. "
    "The logarithms of the first make the clusters, and the second tests the markers.",
)
@click.option(
    "--dispersion",
    type=Number(least=0),
    metavar="D",
    help="With --thin-counts: variance of a count of mean m within a cluster, as m + D m²; 0: Poisson. [default: by "
    "moments of each column, which finds less]",
)
@click.option(
    "--divide-by-depth",
    is_flag=True,
    help="With --thin-counts: divide both parts by the sums of their objects, as of cells that were sequenced at "
    "different depths.",
)
@generation_options
@table_options
@feature_options
@memory_option
@repeat_options
@strict_option
@page_options
@folder_option
@overwrite_option
def run(data: Path, output: Path, annotate: bool, **settings: Any) -> None:
    """Cluster a table many times and combine the partitions.

    DATA is a CSV or TSV file (plain, .gz or .zst), a Parquet, Arrow or JSON lines file, a workbook (.xlsx, .ods) or
    a .h5ad file of AnnData with one row per object. Columns of numbers and of categories are the features; stderr
    reports briefly, and the page in full, how each was used. The folder gets labels.csv (clusters and confidence),
    ensemble.npz (the partitions), model.npz (for "assign"; it contains the features of the objects), summary.json
    (all numbers) and report.html (the page). With -o FILE.h5ad a copy of a .h5ad file is written instead, with
    clusters and confidence in .obs.

    DATA may be -: text from standard input.

    Features that do not fit into memory stay on disk: a .npy file of numbers, or a folder of Parquet parts, whose
    columns are used as those of a table. Give the limit with --memory. The folder, which must be new, gets Parquet
    parts with clusters and confidence, profile.parquet, model.npz and summary.json.

    Repeat the command to continue after a stop. Only one command at a time may use a folder. Ids are written
    unchanged: import labels.csv into a spreadsheet as text if they begin with =, +, - or @.
    """
    if data.is_dir() or data.suffix.lower() == ".npy":  # features that stay on disk
        from ensemblage.cli._disk import run_stored

        run_stored(data, output, **settings)
        return
    from ensemblage.cli._answer import show_analysis
    from ensemblage.cli._report import PageOptions
    from ensemblage.cli._run import run_analysis

    options = PageOptions.of(settings).of_output(output, settings["no_objects"])
    summary = run_analysis(data, output, annotate=annotate, **settings)
    show_analysis(summary, output)
    options.save_and_show(summary, output)


@click.command()
@click.argument("data", type=TABLE)
@click.option(
    "-k",
    "--n-clusters",
    "k",
    type=WholeNumber(2),
    help="For --generator greedy: most clusters of a partition.",
)
@generation_options
@table_options
@use_option
@feature_options
@repeat_options
@click.option("-o", "--output", type=INPUT, required=True, metavar="FILE", help="A .npz, .csv or .npy file.")
@overwrite_option
def generate(**settings: Any) -> None:
    """Make many partitions of a table and save them.

    A .npz file keeps labels exactly; a .csv file has one column per partition, and the ids in an unnamed first one.

    A .npy file is for many objects. It is written partition by partition; repeat the command to continue after a
    stop. DATA may then be a .npy file of features, which stay on disk and are used unchanged, by mini-batch
    k-means.
    """
    from ensemblage.cli._generate import generate_members

    generate_members(**settings)


@click.command()
@click.argument("edges", type=TABLE)
@click.option(
    "--labels",
    type=INPUT,
    metavar="FILE",
    help="Existing partitions of the nodes: a file that combine takes, with a column of the nodes' names. [default: "
    "partitions are made]",
)
@id_option
@header_option
@click.option(
    "--method",
    type=OneOf(["ecg", "fast-ensemble", "lf"]),
    default="ecg",
    show_default=True,
    help="Consensus method: ecg (Poulin & Théberge 2019) weights each edge by how many partitions join its ends, "
    "fast-ensemble (Tabatabaee et al. 2025) drops those that fewer than 80 % join, lf (Lancichinetti & Fortunato 2012) "
    "repeats that until all partitions agree.",
)
@click.option(
    "--algorithm",
    type=OneOf(["louvain", "leiden", "label-propagation"]),
    default="louvain",
    show_default=True,
    help="Algorithm that finds communities; leiden needs pip install ensemblage[graphs].",
)
@click.option(
    "--partitions",
    type=WholeNumber(2, MOST_PARTITIONS),
    default=50,
    show_default=True,
    help="Number of partitions to make. ecg uses the first level of Louvain, which has small communities.",
)
@click.option(
    "--resolution",
    type=Number(above=0),
    help="Resolution: a higher value gives smaller communities. [default: 1]",
)
@repeat_options
@click.option("-o", "--output", type=INPUT, required=True, metavar="FILE", help="A .csv file for the communities.")
@overwrite_option
def communities(**settings: Any) -> None:
    """Find the communities of a graph.

    EDGES is a table with the columns node, node and perhaps weight, or GraphML. Its first row is an edge, unless it
    looks like a header. A larger weight means a closer pair. Edges are undirected; loops are ignored; repeated
    edges count once, or their weights are added. FILE has the columns of labels.csv.
    """
    from ensemblage.cli._communities import find_communities

    find_communities(**settings)


@click.command()
@click.argument("data", type=TABLE)
@click.option(
    "--graph",
    "is_graph",
    is_flag=True,
    help="DATA is a graph: GraphML, or a table with the columns node, node and perhaps weight.",
)
@click.option(
    "--resolutions",
    callback=parse_resolutions,
    metavar="NUMBERS",
    help="The resolutions, with commas. [default: 14 from 0.05 to 3]",
)
@click.option(
    "--neighbors",
    "n_neighbors",
    type=WholeNumber(1),
    default=15,
    show_default=True,
    help="Number of neighbours of each object in the graph made from features.",
)
@click.option(
    "--algorithm",
    type=OneOf(["leiden", "louvain"]),
    default="leiden",
    show_default=True,
    help="Algorithm that finds communities; leiden needs pip install ensemblage[graphs].",
)
@click.option(
    "--objective",
    type=OneOf(["modularity", "cpm"]),
    default="modularity",
    show_default=True,
    help="Objective of the communities: modularity, or the constant Potts model (cpm).",
)
@click.option(
    "--resamples",
    "n_resamples",
    type=WholeNumber(2, 1000),
    default=20,
    show_default=True,
    help="Number of random parts of the objects.",
)
@click.option(
    "--fraction",
    type=Number(above=0, most=1),
    default=0.8,
    show_default=True,
    help="Size of each part, as a share of the objects.",
)
@click.option(
    "--method",
    type=TEXT,
    default="km",
    show_default=True,
    metavar="NAME",
    help="Consensus method for the partitions of a plateau.",
)
@click.option("--color", type=TEXT, metavar="COLUMN", help="Column of numbers that also colours the tree of clusters.")
@use_option
@key_option
@table_options
@feature_options
@repeat_options
@folder_option
@overwrite_option
def sweep(**settings: Any) -> None:
    """Cluster at many resolutions; find stable ones.

    DATA is a .h5ad file (its graph of neighbours, or else its principal components), a table of features, or with
    --graph a graph. Random parts of the objects are clustered at every resolution. Resolutions with reproducible
    clusters form a plateau, whose partitions are combined. The folder gets labels.csv (clusters and confidence),
    sweep.csv (a row per resolution), report.html (the page), ensemble.npz, model.npz and summary.json. With -o
    FILE.h5ad a copy of a .h5ad file is written instead, with clusters and confidence in .obs.
    """
    from ensemblage.cli._communities import sweep_resolutions

    sweep_resolutions(**settings)
