"""The command line. What takes time to import is imported by the commands, so that ``--help`` answers at once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from ensemblage._version import __version__
from ensemblage.base.selections import DEFAULT_SELECTION, SELECTIONS
from ensemblage.cli._errors import OneSentenceGroup
from ensemblage.cli._help import GroupedCommand
from ensemblage.cli._methods import parse_set
from ensemblage.cli._options import (
    MOST_PARTITIONS,
    MOST_RUNS,
    TablePath,
    check_size,
    parse_codes,
    parse_delimiter,
    parse_figures,
    parse_fit_on,
    parse_jobs,
    parse_k_range,
    parse_missing,
    parse_resolutions,
    parse_roles,
)
from ensemblage.cli._types import NonEmptyPath, NonEmptyText, Number, OneOf, WholeNumber

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
    "--id-column", metavar="NAME", help="Column that names the objects. It is found where it is obvious."
)
header_option = click.option(
    "--header/--no-header", "has_header", default=None, help="Whether the first row holds names. [default: found out]"
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
        help="What stands between the cells of a text file. [default: found out]",
    ),
    click.option(
        "--decimal",
        type=OneOf([".", ","]),
        help="The decimal mark of the numbers of a text file. [default: found out from all of them]",
    ),
    click.option("--sheet", type=TEXT, metavar="NAME", help="Sheet of a workbook, if several have cells."),
)
table_options = options(
    id_option,
    click.option("--truth-column", metavar="NAME", help="Column of known classes: to compare with, never a feature."),
    click.option("--drop-column", "drop_columns", metavar="NAME", multiple=True, help="Column to ignore; repeatable."),
    reading_options,
    click.option(
        "--role",
        "given_roles",
        callback=parse_roles,
        multiple=True,
        metavar="COLUMN=ROLE",
        help="What a column is: id, number, category, ordered, drop, or feature (as found, whatever its name says); "
        "repeatable. [default: found out]",
    ),
)
standardize_option = click.option(
    "--standardize/--no-standardize", default=True, help="Bring features to mean 0 and deviation 1. [default: yes]"
)
auto_standardize_option = click.option(
    "--standardize/--no-standardize",
    default=None,
    callback=lambda context, option, value: "auto" if value is None else value,
    help="Bring numbers to mean 0 and deviation 1. [default: unless all are within a factor of 20]",
)
categories_option = click.option(
    "--categories",
    type=OneOf(["encode", "member", "drop"]),
    default="encode",
    show_default=True,
    help="Columns of categories: features that weigh as much as a column of numbers each, or members of the ensemble, "
    "or left out.",
)
dates_option = click.option(
    "--dates",
    type=OneOf(["drop", "days", "parts"]),
    default="drop",
    show_default=True,
    help="Columns of dates: left out, a number of days, or year, month, weekday and hour.",
)
codes_option = click.option(
    "--missing",
    "missing_codes",
    callback=parse_codes,
    metavar="VALUES",
    help="What means missing, with commas, such as -999,99,n/a. Empty cells, NA, ? and the like are missing always.",
)
feature_options = options(
    click.option(
        "--impute",
        type=OneOf(["median", "mean", "most-frequent", "knn", "drop"]),
        help="Missing values: fill them by the median, mean or most frequent of their column or from the 5 nearest "
        "rows (knn), or drop their rows. [default: the median where at most 5 % of each column are missing; more are "
        "refused]",
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
        help="Number of base clusterings by k-means, each with a random number of clusters, or of genie. [default: 50]",
    ),
    click.option(
        "--generator",
        type=OneOf(["diverse", "random-k", "subspace", "projection", "greedy", "mixed", "genie", "uspec", "gower"]),
        help="Who makes the base clusterings: diverse is Gaussian mixtures, spectral clustering and Genie; k-means see "
        "all features (random-k), random halves of them, random projections, or (greedy, 59 (k − 1) of them) the base "
        "clusterings with fewer clusters too; mixed is one by each of ten algorithms; "
        "genie is single linkage that keeps the sizes alike, by several thresholds and numbers of clusters; gower is "
        "average linkage of Gower's distances, which do without missing values; uspec is spectral clustering by way of "
        "1,000 representatives into 20 to 60 clusters, for up to millions of objects. [default: of run by --selection "
        "and --quality, of generate random-k]",
    ),
    click.option(
        "--fit-on",
        callback=parse_fit_on,
        metavar="N|auto|all",
        default="auto",
        show_default=True,
        help="Rows that each k-means is fitted on before 3 steps on all rows: a sample of N, 20,000 where there are "
        "100,000 or more (auto), or all of them. Of random-k, subspace and projection.",
    ),
    click.option(
        "--member-weight",
        type=Number(above=0),
        default=1.0,
        show_default=True,
        metavar="W",
        help="With --categories member: what one weighs, in columns of numbers.",
    ),
)
consensus_options = options(
    click.option(
        "-k",
        "--n-clusters",
        "k",
        type=WholeNumber(2),
        help="Number of clusters. Without it, it is found.",
    ),
    click.option(
        "--method",
        type=TEXT,
        metavar="NAME",
        show_default="of run by --quality; of combine km, or acv without -k",
        help="How to combine: see ensemblage methods. acv, bv and others find the number of clusters. all: as without, "
        "and the page compares what every method gives.",
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
    help="Threads; they change the time and nothing else.",
)
repeat_options = options(
    click.option(
        "--seed",
        type=WholeNumber(0, 2**32 - 1),
        default=0,
        show_default=True,
        help="Of everything random: the same seed gives the same result.",
    ),
    jobs_option,
)
missing_option = click.option(
    "--missing",
    callback=parse_missing,
    metavar="LABEL|none",
    default="-1",
    show_default=True,
    help="The label that means “not labelled”, or none if every label is one; of a table others, too, with commas. "
    "Empty cells are missing always.",
)
noise_option = click.option(
    "--noise",
    type=OneOf(["missing", "vote"]),
    default="missing",
    show_default=True,
    help="What the label of --missing says of an object: nothing, or (vote), as of HDBSCAN and BERTopic, that it is in "
    "no cluster: where more than half of the clusterings say so, it is in none.",
)
memory_option = click.option(
    "--memory",
    metavar="SIZE",
    callback=check_size,
    help="Most memory, such as 4GB: for the matrix of methods that make one of all pairs of objects [default: 2GB], "
    "and for labels or features that stay on disk [default: 1GB].",
)
columns_option = click.option(
    "--columns",
    multiple=True,
    metavar="PATTERN",
    help="Of a .h5ad file: the clusterings, by the names of columns of .obs or a pattern; repeatable. "
    "[default: leiden_*]",
)
use_option = click.option(
    "--use",
    metavar="NAME",
    help="Of a .h5ad file: what is clustered, a matrix in .obsm, or X. [default: X_pca, or X without it]",
)
key_option = click.option(
    "--key",
    metavar="NAME",
    help="Of a .h5ad file: the column of .obs to write clusters to; the names of the others begin with it. "
    "[default: consensus]",
)
disk_options = options(
    memory_option,
    click.option("--scratch", type=INPUT, metavar="FOLDER", help="Where labels on disk may take room meanwhile."),
)
page_options = options(
    click.option(
        "--figures",
        callback=parse_figures,
        metavar="FORMATS",
        help="Save each figure of the page as a file, too, in a folder named figures beside it: svg, png, pdf, with "
        "commas.",
    ),
    click.option(
        "--no-objects",
        is_flag=True,
        help="Leave ids and values of single objects out of the page, so that it can be passed on; and out of "
        "summary.json, where that is written.",
    ),
    click.option("--open", "open_page", is_flag=True, help="Show the page in the browser when it is done."),
)
align_option = click.option(
    "--align",
    type=INPUT,
    metavar="FILE",
    help="labels.csv of an earlier run: clusters with the same objects, by their ids, keep its numbers.",
)
pair_options = options(
    click.option("--must-link", type=INPUT, metavar="FILE", help="CSV of pairs of objects that belong together."),
    click.option("--cannot-link", type=INPUT, metavar="FILE", help="CSV of pairs that do not."),
)
overwrite_option = click.option("--overwrite", is_flag=True, help="Replace what an earlier run or somebody else wrote.")
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
    """Consensus clustering: many clusterings of the same objects in; what they agree on, and how far, out.

    Start with: ensemblage run DATA.csv -o out

    Exit codes: 0 done, 2 refused or Ctrl-C, 128 + N ended by signal N, 1 a defect of ensemblage.
    """


@main.command()
@click.argument("data", type=TABLE)
@table_options
@feature_options
def look(data: Path, **settings: Any) -> None:
    """Tell what would be done with each column of a table.

    DATA is a table that "run" takes, with the same options of reading and of columns. Nothing is clustered and nothing
    is written. Told are the role of each column and what is done with it, units, values that may mean missing, the
    column that dominates, long tails that a logarithm would draw in, whether the objects may be the columns, what "run"
    would refuse, and the command that follows.
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
    help="Find the number of clusters in this range, as --selection says. Without it, -k and --method the range is "
    "2 to 10, and more for many objects.",
)
@click.option(
    "--annotate",
    is_flag=True,
    help="Write the whole table, too, with the columns of labels.csv beside, in its own format: annotated.csv, .xlsx, "
    ".parquet, ...",
)
@use_option
@key_option
@align_option
@pair_options
@click.option("--allow-one", is_flag=True, help="One cluster is an answer, too, where no structure is found.")
@click.option(
    "--quality",
    type=OneOf(["fast", "default", "best"]),
    default="default",
    show_default=True,
    help="Without --generator: several algorithms and eac-average; with --selection consensus 12 partitions, or twice "
    "as many (best), on features as they are scaled and with deviation 1; or 50 k-means and km (fast, and for more "
    "than 20,000 objects without learned weights).",
)
@click.option(
    "--selection",
    type=OneOf(SELECTIONS),
    help="Without --generator and --method: trees that learned on synthetic sets give the partitions weights and find "
    "the number of clusters (learned), or all weigh the same and five criteria find it (consensus). "
    f"[default: {DEFAULT_SELECTION}]",
)
@click.option(
    "--stability",
    type=WholeNumber(0, 1000),
    metavar="N",
    help="Make the analysis again of N resamples of the objects, and tell which clusters are found again; 0: not. "
    "[default: 20 for up to 2,000 objects]",
)
@click.option(
    "--without-columns",
    is_flag=True,
    help="Make the analysis again without each column in turn, of many the 20 that separate the clusters most, and "
    "tell without which the answer changes.",
)
@click.option(
    "--merge-unsupported",
    is_flag=True,
    help="Say in a further column of labels.csv and on the page which clusters are left if those are merged between "
    "which a linear test supports no split. Clusters of other shapes, as rings, are merged, too: look at both.",
)
@generation_options
@table_options
@feature_options
@memory_option
@repeat_options
@page_options
@folder_option
@overwrite_option
def run(data: Path, output: Path, annotate: bool, **settings: Any) -> None:
    """Cluster a table many times and combine the clusterings.

    DATA is a CSV or TSV file (plain, .gz or .zst), a Parquet, Arrow or JSON lines file, a workbook (.xlsx, .ods) or a
    .h5ad file of AnnData with one row per object. Its columns of numbers and of categories are the features; stderr
    says in short, and the page in full, what was done with each. The folder gets labels.csv (clusters and certainty),
    ensemble.npz (the clusterings), model.npz (what "assign" needs, the features of the objects among it), summary.json
    (all numbers) and report.html (the page to look at). With -o FILE.h5ad a copy of a .h5ad file is written instead,
    with clusters and certainty in .obs.

    DATA may be -, a text file from standard input.

    Features that are too many for the memory stay on disk: a .npy file of numbers, or a folder of Parquet parts with
    columns of numbers. --memory says what may be taken. The folder, which must be new, gets Parquet parts with clusters
    and certainty, profile.parquet, model.npz and summary.json.

    The same command again goes on where it was stopped. One command at a time uses a folder. Ids are written as they
    are: import labels.csv into a spreadsheet as text if they begin with =, +, - or @.
    """
    from ensemblage.cli._run_stored import run_stored, stays_on_disk

    if stays_on_disk(data):
        run_stored(data, output, **settings)
        return
    from ensemblage.cli._answer import show_analysis
    from ensemblage.cli._pages import PageWishes
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
    """Cluster a table many times and keep the clusterings.

    A .npz file keeps labels exactly; a .csv file has one column per clustering, and the ids in an unnamed first one.

    A .npy file is for many objects: it is written clustering by clustering, and the same command again goes on where it
    was stopped. DATA may be a .npy file as well then, of features that stay on the disk and are used as they are; the
    clusterings are by mini-batch k-means.
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
@page_options
@folder_option
@overwrite_option
def combine(ensemble: Path, scratch: Path | None, **settings: Any) -> None:
    """Combine clusterings that you have.

    ENSEMBLE is a table with one row per object and one column of labels per clustering (- reads text from standard
    input), a .npz file of ensemblage, or a .h5ad file of AnnData. The folder gets what "run" writes; with -o FILE.h5ad
    a copy of a .h5ad file is written instead, with clusters and certainty in .obs.

    Labels that are too many for the memory stay on disk: a .npy file of whole numbers, or a folder of Parquet parts.
    Then -o names a .npy or .csv file for the clusters, or a folder for Parquet parts; nothing else is written.
    """
    from ensemblage.cli._combine_disk import combine_stored, is_on_disk
    from ensemblage.cli._pages import PageWishes

    if is_on_disk(ensemble, settings["memory"], scratch):
        PageWishes.of(settings).refuse(settings.pop("no_objects"))
        if settings.pop("align") is not None:
            raise ValueError("--align is for labels that fit into memory, with ids. Leave it out, or give a .csv file.")
        if settings.pop("noise") != "missing":
            raise ValueError("--noise vote is for labels that fit into memory. Leave it out, or give a .csv file.")
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
    help="Partitions of the nodes that you have: what combine takes, with a column of the nodes' names. [default: they "
    "are made]",
)
@id_option
@header_option
@click.option(
    "--method",
    type=OneOf(["ecg", "fast-ensemble", "lf"]),
    default="ecg",
    show_default=True,
    help="How to combine: ecg (Poulin & Théberge 2019) weights each edge by how many partitions join its ends, "
    "fast-ensemble (Tabatabaee et al. 2025) drops those that fewer than 80 % join, lf (Lancichinetti & Fortunato 2012) "
    "repeats that until all partitions agree.",
)
@click.option(
    "--algorithm",
    type=OneOf(["louvain", "leiden", "label-propagation"]),
    default="louvain",
    show_default=True,
    help="Who finds communities; leiden wants pip install ensemblage[graphs].",
)
@click.option(
    "--partitions",
    type=WholeNumber(2, MOST_PARTITIONS),
    default=50,
    show_default=True,
    help="Number of partitions to make; of ecg they are small ones, the first level of Louvain.",
)
@click.option(
    "--resolution",
    type=Number(above=0),
    help="The higher, the smaller the communities. [default: 1]",
)
@repeat_options
@click.option("-o", "--output", type=INPUT, required=True, metavar="FILE", help="A .csv file for the communities.")
@overwrite_option
def communities(**settings: Any) -> None:
    """Find the communities of a graph, and how sure they are.

    EDGES is a table with the columns node, node and perhaps weight, or GraphML. Its first row is an edge, unless it
    holds no number above numbers, or names such as source and target. Weights, the larger the closer, count
    in making the partitions. Edges are taken as undirected; loops are left out; an edge that stands there again counts
    once, or its weights are added. FILE has the columns of labels.csv.
    """
    from ensemblage.cli._communities import find_communities

    find_communities(**settings)


@main.command()
@click.argument("data", type=TABLE)
@click.option(
    "--graph",
    "is_graph",
    is_flag=True,
    help="DATA is a graph: a table with columns of node, node and perhaps weight, or GraphML.",
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
    help="Neighbours of each object in the graph that is made of features.",
)
@click.option(
    "--algorithm",
    type=OneOf(["leiden", "louvain"]),
    default="leiden",
    show_default=True,
    help="Who finds communities; leiden wants pip install ensemblage[graphs].",
)
@click.option(
    "--objective",
    type=OneOf(["modularity", "cpm"]),
    default="modularity",
    show_default=True,
    help="What they are to have: much modularity, or a density as of the constant Potts model.",
)
@click.option(
    "--resamples",
    "n_resamples",
    type=WholeNumber(2, 1000),
    default=20,
    show_default=True,
    help="Parts of the objects.",
)
@click.option(
    "--fraction",
    type=Number(above=0, most=1),
    default=0.8,
    show_default=True,
    help="How large each part is.",
)
@click.option(
    "--method", type=TEXT, default="km", show_default=True, metavar="NAME", help="What combines the clusterings."
)
@click.option(
    "--color", type=TEXT, metavar="COLUMN", help="A column of numbers that the tree of clusters is coloured by, too."
)
@use_option
@key_option
@table_options
@feature_options
@repeat_options
@folder_option
@overwrite_option
def sweep(**settings: Any) -> None:
    """Cluster at many resolutions, and say which to take.

    DATA is a .h5ad file (its graph of neighbours if there is one, else its principal components), a table of features,
    or with --graph a graph. Parts of the objects are clustered at every resolution: what is found again is a plateau,
    whose clusterings are combined. The folder gets labels.csv (clusters and certainty), sweep.csv (a row per
    resolution), report.html (the page to look at), ensemble.npz, model.npz and summary.json. With -o FILE.h5ad a copy
    of a .h5ad file is written instead, with clusters and certainty in .obs.
    """
    from ensemblage.cli._sweep import sweep_resolutions

    sweep_resolutions(**settings)


@main.command()
@click.argument("first", type=INPUT)
@click.argument("second", type=INPUT)
@click.option("--column", type=TEXT, metavar="NAME", help="Column of the clusters in both tables. [default: cluster]")
@id_option
@click.option("-o", "--output", type=INPUT, metavar="FILE", help="A .csv file for the objects that moved.")
@overwrite_option
def compare(**settings: Any) -> None:
    """Compare two clusterings.

    FIRST and SECOND are labels.csv of two runs, or any tables with one row per object and a column of clusters. Objects
    are matched by their ids; of tables without ids they are the rows. Told are how far the two agree (1: the same, 0 of
    ARI and AMI: no more than by chance), which clusters match, so that as many objects as possible stay, their sizes,
    and which objects moved.
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
    """Put new objects into the clusters that were found.

    FOLDER is what "run" has written, NEW a table with the same columns, found by their names: they are prepared as in
    the run, each base clustering labels the new objects, and the consensus tells their cluster. FILE has the columns of
    labels.csv. The objects of the run itself get the clusters that they have. Of a folder of "combine", NEW has a
    column of labels for each of its partitions, or is an ensemble that was saved as .npz.
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
    help="Criteria with commas, the first orders the table: discotec, discotec-tv, discotec-kl, discotec-hellinger, "
    "aari, anmi; with --features an internal index, as silhouette, calinski_harabasz, davies_bouldin, dunn, ...",
)
@click.option("--features", type=INPUT, metavar="FILE", help="Table of what the objects were clustered by.")
@click.option(
    "--impute",
    type=OneOf(["median", "mean", "most-frequent", "knn"]),
    help="Missing features: fill them by the column's median, mean or most frequent, or from the 5 nearest objects.",
)
@standardize_option
@pair_options
@table_options
@columns_option
@missing_option
@jobs_option
@click.option("-o", "--output", type=INPUT, metavar="FILE", help="A .csv file for the table, too.")
@overwrite_option
def rank(ensemble: Path, **settings: Any) -> None:
    """Order the members of an ensemble, best first.

    ENSEMBLE is what "combine" takes. A member is good if it joins the pairs of objects that most members join:
    discotec is the share of pairs on which it does not, lower is better. aari is its mean adjusted Rand index with the
    other members, anmi the mean normalised mutual information; higher is better. Pairs that it joins or separates
    against --must-link or --cannot-link make these worse. With --truth-column, the table shows the ARI with it, too.
    """
    from ensemblage.cli._ranking import rank_members

    rank_members(ensemble, **settings)


@main.command()
@click.argument("source", type=INPUT)
@click.option(
    "--labels", type=INPUT, metavar="FILE", help="Table with a column named cluster, if SOURCE is an ensemble."
)
@click.option(
    "--features", type=INPUT, metavar="FILE", help="Table of the objects of an ensemble: what describes each cluster."
)
@table_options
@columns_option
@missing_option
@page_options
@click.option("-o", "--output", type=INPUT, metavar="PAGE", help="An .html file to write.")
@overwrite_option
def report(**settings: Any) -> None:
    """Make the page again.

    SOURCE is the folder of a finished run; or an ensemble as "combine" takes it, together with --labels and -o.
    """
    from ensemblage.cli._report import make_report

    make_report(**settings)


@main.command()
@click.argument("name", type=TEXT, required=False)
def methods(name: str | None) -> None:
    """List the ways to combine clusterings, for --method.

    With the NAME of one: its other names, what it takes and does, and its parameters with their defaults, for --set.
    """
    from ensemblage.cli._methods import show_method, show_methods

    if name is None:
        show_methods()
    else:
        show_method(name)


@main.command()
@click.argument("name", type=TEXT)
@click.option("--bibtex", is_flag=True, help="The entries of BibTeX alone.")
def cite(name: str, bibtex: bool) -> None:
    """Tell the papers behind a method, a ranker or a generator.

    NAME is one of "methods" (km, eac-average, ...), of "rank --by" (discotec, aari, ...), or a generator's class.
    """
    from ensemblage import cite as citation_of

    found = citation_of(name)
    click.echo(found.bibtex if bibtex else found)


@main.command()
@click.argument("paper", metavar="PAPER")
@click.option("--table", metavar="T", help="Only this table of the paper.")
@click.option("--figure", metavar="F", help="Only this figure of the paper.")
@click.option(
    "--data",
    type=INPUT,
    metavar="DIR",
    help="Folder of data sets, NAME.csv.gz with a column label. [default: ENSEMBLAGE_DATA]",
)
@click.option("--download", is_flag=True, help="Fetch sets that are not at hand from OpenML.")
@click.option(
    "--runs", type=WholeNumber(1, MOST_RUNS), metavar="N", help="Runs of each experiment. [default: the paper's]"
)
@jobs_option
@click.option(
    "--method", type=TEXT, metavar="MODULE:CLASS", help="A method of yours, as one more column beside the paper's."
)
@click.option("--quick", is_flag=True, help="Every table and figure on few sets with few runs.")
@click.option("--retry", is_flag=True, help="Do again what failed.")
@click.option("--status", "show_status", is_flag=True, help="Show what is done, and do nothing.")
@folder_option
def reproduce(paper: str, output: Path, **settings: Any) -> None:
    """Repeat the experiments of a paper and compare.

    PAPER is candel, ayad, sinorina, li, ohl or all. The folder gets a CSV, markdown and SVG file per table, and
    index.html with everything; results.sqlite keeps each result: a stopped command goes on where it was.
    """
    from ensemblage.cli._reproduce import reproduce_papers

    reproduce_papers(paper, output, **settings)


@main.command("benchmark")
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
    "--pools",
    metavar="NAMES",
    help="What is combined, with commas: random-k, diverse, both, published (labelings of the suite). "
    "[default: random-k,diverse; all with --full]",
)
@click.option("--sets", metavar="NAMES", help="Only these sets or batteries, with commas.")
@click.option("--only", metavar="NAMES", help="Only these entries, with commas.")
@click.option(
    "--method", "methods", type=TEXT, multiple=True, metavar="MODULE:CLASS", help="A clusterer that joins; repeatable."
)
@click.option(
    "--consensus", type=TEXT, multiple=True, metavar="MODULE:CLASS", help="One that combines labels; repeatable."
)
@click.option("--seeds", type=WholeNumber(1, 100), help="Runs of each set. [default: 2; 1 with --quick]")
@click.option(
    "--parts/--no-parts",
    default=None,
    help="One more run of each set, without a tenth of its objects. [default: parts; no-parts with --quick]",
)
@click.option("--largest", type=WholeNumber(2), metavar="N", help="Most objects of a set. [default: no limit]")
@click.option(
    "--seconds",
    type=Number(least=1),
    help="Most time of one cell, of the processor. [default: 600; 60 with --quick and --full]",
)
@click.option(
    "--minutes",
    type=Number(least=0),
    help="After these no more begins, and the page is of what is there. [default: no limit; 120 with --full]",
)
@click.option("--jobs", "n_jobs", type=WholeNumber(1), help="Processes that work. [default: 1; 2 with --quick, --full]")
@click.option(
    "--quick", is_flag=True, help="Sets of at most 1,000 objects, one seed, nothing left out, a minute per cell."
)
@click.option(
    "--full",
    is_flag=True,
    help="All pools, in two hours at most on two cores: a minute per cell; above 2,000 objects one seed, no pool "
    "'both', nothing left out; what was not finished on three sets is not tried where there are no fewer objects and "
    "features.",
)
@click.option("--retry", is_flag=True, help="Do again what has no number.")
@click.option("--status", "show_status", is_flag=True, help="Show what is done, and do nothing.")
@folder_option
def run_leaderboard(output: Path, **settings: Any) -> None:
    """Score consensus methods, rankers and plain clusterers on sets with known classes.

    The folder gets index.html with tables and pictures, leaderboard.csv and .md, tables by set, battery and kind of
    set, comparisons, losses and failures as CSV, the labels that were told the number of classes in the format of the
    suite, and benchmark.sqlite, which keeps each result: a stopped command goes on where it was. A cell that takes too
    long or more than 4 GB has no number and counts as 0. Sets that cannot be read are left out and listed, and those
    that stand twice are taken once.
    """
    from ensemblage.cli._benchmark import run_benchmark

    run_benchmark(output, **settings)
