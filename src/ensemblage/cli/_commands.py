"""The command line. What takes time to import is imported by the commands, so that ``--help`` answers at once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from ensemblage._version import __version__
from ensemblage.base.options import DEFAULT_SELECTION, SELECTIONS
from ensemblage.cli._errors import OneSentenceGroup
from ensemblage.cli._help import GroupedCommand
from ensemblage.cli._lab import COMMANDS, LabCommand
from ensemblage.cli._methods import parse_set
from ensemblage.cli._options import (
    MOST_PARTITIONS,
    MOST_RUNS,
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
    parse_fit_on,
    parse_jobs,
    parse_k_range,
    parse_missing,
    parse_missing_label,
    parse_resolutions,
    parse_roles,
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
        help="Number of base clusterings: by k-means, each with a random number of clusters, or by genie. [default: "
        "50]",
    ),
    click.option(
        "--generator",
        type=OneOf(["diverse", "random-k", "subspace", "projection", "greedy", "mixed", "genie", "uspec", "gower"]),
        help="How the base clusterings are made. diverse: Gaussian mixtures, spectral clustering and Genie. "
        "random-k, subspace, projection: k-means on all features, on random halves of them, or on random "
        "projections. greedy: 59 (k − 1) runs of k-means that build on each other. mixed: one clustering by each of "
        "ten algorithms. genie: single linkage that keeps cluster sizes similar. gower: average linkage of Gower's "
        "distances, which tolerate missing values. uspec: spectral clustering by 1,000 representatives, for "
        "millions of objects. [default: run: by --selection and --quality; generate: random-k]",
    ),
    click.option(
        "--fit-on",
        callback=parse_fit_on,
        metavar="N|auto|all",
        default="auto",
        show_default=True,
        help="Rows that each k-means is fitted to, before 3 steps on all rows: a sample of N; all of them; or "
        "20,000 of 100,000 or more (auto). For random-k, subspace and projection.",
    ),
    click.option(
        "--member-weight",
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
    "and BERTopic; if more than half of the clusterings agree, it is in no cluster.",
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
    help="For a .h5ad file: the columns of .obs with clusterings, by name or pattern; repeatable. [default: leiden_*]",
)
use_option = click.option(
    "--use",
    metavar="NAME",
    help="For a .h5ad file: the matrix to cluster, a name in .obsm, or X. [default: X_pca, else X]",
)
key_option = click.option(
    "--key",
    metavar="NAME",
    help="For a .h5ad file: the column of .obs for the clusters. The names of the other new columns begin with it. "
    "[default: consensus]",
)
disk_options = options(
    memory_option,
    click.option("--scratch", type=INPUT, metavar="FOLDER", help="Folder for temporary files of labels on disk."),
)
strict_option = click.option(
    "--strict", is_flag=True, help="Refuse data with an alert: what probably makes a wrong answer is told first."
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


@click.group(
    "ensemblage",
    cls=OneSentenceGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="ensemblage")
def main() -> None:
    """Consensus clustering: combine many clusterings of the same objects into one, with the certainty of each object.

    Start with: ensemblage run DATA.csv -o out

    Exit codes: 0 done, 2 refused, 128 + N ended by signal N (Ctrl-C: 130), 1 a defect of ensemblage.
    """


@main.command()
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


@main.command(cls=GroupedCommand)
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
    "--honest-markers",
    is_flag=True,
    help="Test on the page and in profile.csv which variables differ between clusters, with p-values that hold "
    "although the clusters were made from them: by the dip of each variable in a cluster and the nearest other one, "
    "or of counts with --thin-counts.",
)
@click.option(
    "--thin-counts",
    is_flag=True,
    help="With --honest-markers, if all columns are counts: split each count at random into two independent parts. "
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
    """Cluster a table many times and combine the clusterings.

    DATA is a CSV or TSV file (plain, .gz or .zst), a Parquet, Arrow or JSON lines file, a workbook (.xlsx, .ods) or
    a .h5ad file of AnnData with one row per object. Columns of numbers and of categories are the features; stderr
    reports briefly, and the page in full, how each was used. The folder gets labels.csv (clusters and certainty),
    ensemble.npz (the clusterings), model.npz (for "assign"; it contains the features of the objects), summary.json
    (all numbers) and report.html (the page). With -o FILE.h5ad a copy of a .h5ad file is written instead, with
    clusters and certainty in .obs.

    DATA may be -: text from standard input.

    Features that do not fit into memory stay on disk: a .npy file of numbers, or a folder of Parquet parts, whose
    columns are used as those of a table. Give the limit with --memory. The folder, which must be new, gets Parquet
    parts with clusters and certainty, profile.parquet, model.npz and summary.json.

    Repeat the command to continue after a stop. Only one command at a time may use a folder. Ids are written
    unchanged: import labels.csv into a spreadsheet as text if they begin with =, +, - or @.
    """
    from ensemblage.cli._disk import run_stored, stays_on_disk

    if stays_on_disk(data):
        run_stored(data, output, **settings)
        return
    from ensemblage.cli._answer import show_analysis
    from ensemblage.cli._report import PageWishes
    from ensemblage.cli._run import run_analysis

    wishes = PageWishes.of(settings).of_output(output, settings["no_objects"])
    summary = run_analysis(data, output, annotate=annotate, **settings)
    show_analysis(summary, output)
    wishes.save_and_show(summary, output)


@main.command()
@click.argument("data", type=TABLE)
@click.option(
    "-k",
    "--n-clusters",
    "k",
    type=WholeNumber(2),
    help="For --generator greedy: most clusters of a clustering.",
)
@generation_options
@table_options
@use_option
@feature_options
@repeat_options
@click.option("-o", "--output", type=INPUT, required=True, metavar="FILE", help="A .npz, .csv or .npy file.")
@overwrite_option
def generate(**settings: Any) -> None:
    """Make many clusterings of a table and save them.

    A .npz file keeps labels exactly; a .csv file has one column per clustering, and the ids in an unnamed first one.

    A .npy file is for many objects. It is written clustering by clustering; repeat the command to continue after a
    stop. DATA may then be a .npy file of features, which stay on disk and are used unchanged, by mini-batch
    k-means.
    """
    from ensemblage.cli._generate import generate_members

    generate_members(**settings)


@main.command(cls=GroupedCommand)
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
    """Combine clusterings that you have.

    ENSEMBLE is a table with one row per object and one column of labels per clustering (- reads text from standard
    input), a .npz file of ensemblage, or a .h5ad file of AnnData. The folder gets what "run" writes; with -o FILE.h5ad
    a copy of a .h5ad file is written instead, with clusters and certainty in .obs.

    Labels that do not fit into memory stay on disk: a .npy file of whole numbers, or a folder of Parquet parts.
    Then -o names a .npy or .csv file for the clusters, or a folder for Parquet parts; nothing else is written.
    """
    from ensemblage.cli._disk import combine_stored, is_on_disk
    from ensemblage.cli._report import PageWishes

    if is_on_disk(ensemble, settings["memory"], scratch):
        PageWishes.of(settings).refuse(settings.pop("no_objects"))
        if settings.pop("align") is not None:
            raise ValueError("--align is for labels that fit into memory, with ids. Leave it out, or give a .csv file.")
        combine_stored(ensemble, scratch=scratch, **settings)
        return
    from ensemblage.cli._analysis import combine_analysis
    from ensemblage.cli._answer import show_analysis

    wishes = PageWishes.of(settings).of_output(settings["output"], settings["no_objects"])
    summary = combine_analysis(ensemble, **settings)
    show_analysis(summary, settings["output"])
    wishes.save_and_show(summary, settings["output"])


@main.command()
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


@main.command()
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
    help="Consensus method for the clusterings of a plateau.",
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
    clusters form a plateau, whose clusterings are combined. The folder gets labels.csv (clusters and certainty),
    sweep.csv (a row per resolution), report.html (the page), ensemble.npz, model.npz and summary.json. With -o
    FILE.h5ad a copy of a .h5ad file is written instead, with clusters and certainty in .obs.
    """
    from ensemblage.cli._communities import sweep_resolutions

    sweep_resolutions(**settings)


@main.command(cls=GroupedCommand)
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
    --draws-axis; NetCDF of ArviZ; an ensemble as .npz. Told are the partition with the least expected loss, the
    credible ball around it, the probability of each object to be with its cluster, and whether the chains agree
    (rank-normalised split R-hat). The folder gets labels.csv, probabilities.csv (lowest first), ball.csv (the bounds of
    the ball), report.html (the page to look at), ensemble.npz, model.npz and summary.json.
    """
    from ensemblage.cli._summarize import summarize as summarize_files

    summarize_files(draws, **settings)


@main.command()
@click.argument("first", type=INPUT)
@click.argument("second", type=INPUT)
@click.option("--column", type=TEXT, metavar="NAME", help="Column of the clusters in both tables. [default: cluster]")
@id_option
@click.option("-o", "--output", type=INPUT, metavar="FILE", help="A .csv file for the objects that moved.")
@overwrite_option
def compare(**settings: Any) -> None:
    """Compare two clusterings.

    FIRST and SECOND are labels.csv of two runs, or any tables with one row per object and a column of clusters.
    Objects are matched by their ids, or by row if there are no ids. The output has the agreement (1: equal; ARI and
    AMI of 0: no more than by chance), the matching clusters with their sizes, and the objects that moved. Clusters
    are matched so that as many objects as possible stay.
    """
    from ensemblage.cli._compare import compare_tables

    compare_tables(**settings)


@main.command()
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
    run, each base clustering labels the new objects, and the consensus gives their cluster. FILE has the columns of
    labels.csv. Objects of the run itself keep their clusters. With a folder of "combine", NEW has a column of labels
    for each of its partitions, or is an ensemble saved as .npz.
    """
    from ensemblage.cli._assign import assign_objects

    assign_objects(folder, **settings)


@main.command()
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


@main.command()
@click.argument("source", type=INPUT)
@click.option(
    "--labels", type=INPUT, metavar="FILE", help="Table with a column named cluster, if SOURCE is an ensemble."
)
@click.option(
    "--features", type=INPUT, metavar="FILE", help="Table of the objects of an ensemble, to describe each cluster."
)
@click.option(
    "--honest-markers",
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


@main.command()
@click.argument("name", type=TEXT, required=False)
def methods(name: str | None) -> None:
    """List the consensus methods, for --method.

    With a NAME: other names, input and output of this method, and its parameters with their defaults, for --set.
    """
    from ensemblage.cli._methods import show_method, show_methods

    if name is None:
        show_methods()
    else:
        show_method(name)


@main.command()
@click.argument("name", type=TEXT)
@click.option("--bibtex", is_flag=True, help="Print only the BibTeX entries.")
def cite(name: str, bibtex: bool) -> None:
    """Print the papers behind a method.

    NAME is a method (km, eac-average, ...), a criterion of "rank --by" (discotec, ...), the class of a generator,
    WasabiModes, Dune, or a function of draws or elements (credible_ball, chips, ...).
    """
    from ensemblage import cite as citation_of

    found = citation_of(name)
    click.echo(found.bibtex if bibtex else found)


for name_of_lab, what in COMMANDS.items():
    main.add_command(LabCommand(name_of_lab, help=what))
