"""Numbers that a page or the journal paper quotes are those of the records, or of the document that has them."""

import csv
import json
import re
from functools import cache

import numpy as np
import pytest
from PIL import Image
from texts import DOCS, LAB, ROOT, flat, script

from ensemblage import METHODS

PAPER, README = "../../lab/paper/paper.md", "../../README.md"
"""Seen from the site."""
KINDS = ("drawings", "numbers", "categories", "wide")
GIVEN, UNKNOWN = "k given", "k unknown"


def text_of(name):
    return (DOCS / name).read_text(encoding="utf-8")


def records(name):
    """The rows of a record."""
    text = (LAB / "records" / name).read_text(encoding="utf-8")
    return json.loads(text) if name.endswith(".json") else [json.loads(line) for line in text.splitlines()]


@cache
def make_paper():
    return script("lab/paper/make_paper.py")


def cells(name, *first, after=""):
    """The other cells of the row of a table that begins with these, the first after a heading."""
    text = text_of(name)
    for line in text[text.index(after) :].splitlines():
        row = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and row[: len(first)] == list(first):
            return row[len(first) :]
    raise AssertionError((name, first))


def short(number):
    """0.716 as .72."""
    return f"{float(number):.2f}".removeprefix("0")


def per_cent(number):
    return f"{100 * float(number):.0f} %"


STEPS = "`KMeansConsensus`, same start, 11 assignment steps, k-means partitions"
BEST = "best member, which nobody knows beforehand"
MEMBERS = ("km", "acv", "negmm-wat-kmeans", "hbgf", "eac-average", "bv", "majority")


def confidence():
    auc = [short(cells("CONFIDENCE.md", kind)[1]) for kind in ("random-k", "diverse")]
    yield "theory/confidence.md", f"is {auc[0]} to {auc[1]} (.5 would"
    runs, sets = (re.search(rf"(\d+) {what}", text_of("CONFIDENCE.md"))[1] for what in ("runs", "sets of the suite"))
    yield "theory/confidence.md", f"over {runs} runs on {sets} public sets"
    right = {}
    for word in ("core", "border", "undecided"):
        objects, share = cells("DEFAULT.md", word, after="## First default: words of confidence")
        right[word] = per_cent(share)
        yield "theory/confidence.md", f"| {word} | {objects} | {per_cent(share)} |"
    said = f"{right['core']} of the core, {right['border']} of the border and {right['undecided']} of the undecided"
    yield "howto/page.md", said


def number_of_clusters():
    clouds, _, share, _ = cells("CONFIDENCE.md", "all", after="**Clouds without clusters**")
    yield "howto/choose_k.md", f"On {int(clouds):,} clouds without clusters it found structure in {share}"
    yield "theory/number.md", f"On {int(clouds):,} clouds without clusters structure was found in {share}"
    near = cells("CONFIDENCE.md", "4", "all", after="**Gaussians**")
    two = cells("CONFIDENCE.md", "4", "2", after="**Gaussians**")
    found = f"structure is found in {per_cent(near[1])} of the cases (two clusters alone in {per_cent(two[1])})"
    yield "theory/number.md", f"{found}. The right number is the first suggestion in {per_cent(near[2])}"
    assert float(two[1]) == 0.25
    yield "faq.md", "two normal clouds 4 deviations apart are called structure in a quarter of the cases"
    sets, right, _ = cells("CONFIDENCE.md", "all", after="**Public sets**")
    yield (
        "theory/number.md",
        f"On {sets} public sets the first suggestion equalled the number of classes on {per_cent(right)}",
    )
    yield "howto/choose_k.md", f"On {sets} public sets the number of classes was the one chosen"
    for word in ("clear", "likely", "ambiguous"):
        n_sets, chosen, named = cells("CONFIDENCE.md", word, after="**Public sets**")
        yield "howto/choose_k.md", f"| {n_sets} | {per_cent(chosen)} | {per_cent(named)} |"
    nowhere, *_ = cells("CONFIDENCE.md", "none", after="**Public sets**")
    yield "howto/choose_k.md", f"| none | no structure was found | {nowhere} |"


def communities():
    louvain, modularity, ecg, fast, lancichinetti = (cell.split()[0] for cell in cells("BENCHMARKS.md", ".69"))
    said = (
        f"adjusted for chance, is {short(louvain)} for one Louvain run and {short(modularity)} for the best modularity"
    )
    rest = f"ECG has {short(ecg)}, Lancichinetti and Fortunato {short(lancichinetti)}, FastEnsemble {short(fast)}"
    yield "theory/communities.md", f"{said} of 50 runs. {rest}"
    many, planted = re.search(r"FastEnsemble makes (\d+) of (\d+)", text_of("BENCHMARKS.md")).groups()
    yield "theory/communities.md", f"{many} communities where {planted} were planted"
    edges = cells("BENCHMARKS.md", '`CommunityConsensus("ecg")`')
    yield "theory/communities.md", f"took {edges[1]} on two cores and {edges[3]}"
    yield "which.md", "fourteen million in half a minute"
    assert edges[0].startswith("14")
    assert 25 < float(edges[1].removesuffix(" s")) < 35


def sealed():
    page, after = "evidence/index.md", "## Results on the sealed tables"
    n_sets, genie, ours, of_given, *_ = cells("DEFAULT.md", GIVEN, "genie, as given (highest mean)", after=after)
    k_means = [row["ari"] for row in records("default/sealed.jsonl") if row["method"] == "kmeans, deviation 1"]
    low, high = (f"{float(bound):+.2f}".replace("0.", ".").replace("-", "−") for bound in of_given.split(" to "))
    ours, genie, k_means = map(short, (ours, genie, np.mean(k_means)))
    said = f"has a mean adjusted Rand index of **{ours}** on {n_sets} real tables"
    yield README, said
    yield README, f"Genie, has {genie}. The 95 % interval of the difference, {low} to {high}, includes 0"
    yield page, f"{said} that were put aside"
    yield page, f"Genie, has {genie}, and k-means on standardised columns {k_means}"
    assert n_sets == "15"
    yield PAPER, "Fifteen real tables were divided off before it and scored once."
    yield PAPER, f"With the number of classes given, the mean adjusted Rand index of the default is {ours} there."
    yield PAPER, f"has {genie}, and k-means on standardised columns {k_means}."
    _, silhouette, ours, of_unknown, *_ = cells("DEFAULT.md", UNKNOWN, "silhouette (highest mean)", after=after)
    silhouette, ours = short(silhouette), short(ours)
    yield page, f"With the number unknown the default has {ours}, k-means by silhouette {silhouette}"
    yield PAPER, f"With the number unknown the default has {ours} and k-means by silhouette {silhouette}."
    bounds = [float(bound) for interval in (of_given, of_unknown) for bound in interval.split(" to ")]
    assert max(bounds[::2]) < 0 < min(bounds[1::2])
    yield PAPER, "All these intervals include no difference."


def checked():
    page = "evidence/index.md"
    means = {task: make_paper().compared(task) for task in (GIVEN, UNKNOWN)}
    ours, best = ({t: short(np.mean([*found[i].values()])) for t, found in means.items()} for i in (0, 2))
    n_sets = len({row["set"] for row in records("default/run2.jsonl")})
    yield page, f"On the {n_sets} sets on which it was checked meanwhile, mean over four kinds of data, it has"
    yield page, f"it has {ours[GIVEN]} (best single algorithm {best[GIVEN]})"
    yield page, f"with the number unknown {ours[UNKNOWN]} ({best[UNKNOWN]})"
    said = f"has {ours[GIVEN]} and the best single algorithm {best[GIVEN]}"
    yield PAPER, f"On the {n_sets} sets used during development the default {said}"
    yield PAPER, f"with the number unknown {ours[UNKNOWN]} and {best[UNKNOWN]}"
    words = [cells("DEFAULT.md", kind, after="## Do confidence and rating hold?")[1:4] for kind in KINDS[:2]]
    drawn, of_tables = ([per_cent(cell.split()[0]).removesuffix(" %") for cell in row] for row in words)
    objects = "of the objects that the default calls core, border and undecided"
    yield page, f"**{', '.join(drawn)} %** {objects}"
    yield page, f"and {', '.join(of_tables)} % on tables of numbers"
    core, border, undecided = drawn
    yield PAPER, f"{core} % of core, {border} % of border and {undecided} % of undecided objects"
    core, border, undecided = of_tables
    yield PAPER, f"the shares are {core}, {border} and {undecided} %"
    counted = re.findall(r"runs? \| ([\d,]+) of ([\d,]+)", text_of("REPRODUCTION.md").split("## ")[1])
    met, compared = (sum(int(pair[i].replace(",", "")) for pair in counted) for i in (0, 1))
    assert len(counted) == 5
    yield page, f"**{met:,} of {compared:,}** printed numbers of five papers"
    yield PAPER, f"{met:,} of {compared:,} printed numbers"


def verdict():
    said = flat(text_of("REPRODUCTION.md"))
    candel = re.search(r"On glass, ecoli, ionosphere, user_knowledge and yeast (\d+ of \d+) cells", said)[1]
    ohl = cells("REPRODUCTION.md", "Ohl & Lindsten, Tables 2 to 5, 8 to 17, Figs. 1 to 5")[1]
    li = cells("REPRODUCTION.md", "Li & Liu, Tables 4 and 5, Figs. 3 to 5")[1].partition(";")[0]
    assert li == "10 of 10"
    yield "evidence/verdict.md", f"{candel} cells, all ten compared cells of Li & Liu, {ohl} of Ohl & Lindsten"


def members():
    rows = [cells("BENCHMARKS.md", f"`{name}`", after="above the mean member on") for name in MEMBERS]
    mean, best = (short(cells("BENCHMARKS.md", name)[0]) for name in ("mean member", BEST))
    n_sets = re.search(r"(\d+) public sets of at most 1,000 objects", text_of("BENCHMARKS.md"))[1]
    low, *_, high = sorted(int(row[1]) for row in rows)
    assert max(int(row[2]) for row in rows) == 1
    said = f"On {n_sets} sets with published labelings every method was above the mean member on {low} to {high}"
    yield "which.md", f"{said}, and above the best on none or one"
    least, *_, most = sorted(short(row[0]) for row in rows)
    said = f"the members had a mean adjusted Rand index of {mean}, the best of each set {best}, and consensus methods"
    yield "faq.md", f"On {n_sets} sets with published labelings, {said} {least} to {most}"


def times():
    average = short(cells("BENCHMARKS.md", "average linkage", "20,000")[1])
    single = short(cells("BENCHMARKS.md", "single linkage", "100,000")[1])
    largest = re.search(r"average \| n = 100,000, p = 20 \| (\d+) s now", text_of("BENCHMARKS.md"))[1]
    size, ours, *_ = cells("BENCHMARKS.md", STEPS)
    assert (size, round(float(ours.split()[0]), 1)) == ("n = 10⁶, p = 20, k = 20", 0.3)
    start = "One start of k-means consensus on 10^6^ objects in 20 partitions took"
    yield PAPER, f"{start} {ours.partition(',')[0]} on two cores"
    linkage = "`EvidenceAccumulation`, average", "n = 100,000, p = 20"
    time, memory = (now.removesuffix(" now") for now in cells("BENCHMARKS.md", *linkage, after="## Faster since")[:2])
    yield PAPER, f"Average linkage of 10^5^ objects took {time} and {memory}"
    assert "SciPy's matrix would have 40 GB" in text_of("BENCHMARKS.md")
    yield PAPER, f"It has {len(METHODS)} consensus methods"
    yield "howto/speed.md", "| 10⁶ in 20 partitions | `km`, one start | .3 s |"
    yield "theory/kmeans.md", ".3 s for eleven steps on a million objects in 20 partitions"
    voting = cells("BENCHMARKS.md", "`CumulativeVoting`, whole fit", "n = 10⁶, p = 25")[0]
    yield "howto/speed.md", f"| 10⁶ in 25 partitions | `acv` | {voting} |"
    ranking = cells("BENCHMARKS.md", "`AverageAgreement`")[1]
    yield "theory/ranking.md", f"200 partitions of 10⁴ objects take {ranking}"
    yield "howto/speed.md", f"| 2 · 10⁴ | `eac-average` | {average} s |"
    yield "howto/speed.md", f"| 10⁵ | `eac-single` | {single} s |"
    yield "howto/speed.md", f"| 10⁵ | `eac-average` | {largest} s |"
    yield "theory/evidence.md", f"{average} s for 20,000 objects, {largest} s for 100,000"


def ten_million():
    page, said = "tutorials/ten_million.md", flat(text_of("SCALE.md"))
    shown_as = {"km": "`km`, one start", "acv": "`acv`", "rank": "`AverageAgreement`", "density": "`density`"}
    for name, shown in shown_as.items():
        *_, whole, peak, memory, same = cells("SCALE.md", "1e+07", name)
        seconds, megabytes = re.fullmatch(r"([\d.]+) s, (\d+) MB", memory).groups()
        row = f"| {float(whole.removesuffix(' s')):.1f} s | {peak} | {seconds} s, {int(megabytes):,} MB | {same} |"
        yield page, f"| {shown} {row}"
    seconds, megabytes = re.search(r"\(ten starts\) at n = 10⁷: (\d+) s, (\d+) MB", said).groups()
    yield page, f"| the command above, ten starts | {seconds} s | {megabytes} MB |"
    libraries = re.search(r"Libraries take (\d+) MB", said)[1]
    for name, rest in (("write_partitions", f", {libraries} of them libraries"), ("fit_transform", "")):
        peak, processor, _ = cells("SCALE.md", f"`{name}`, X memory-mapped")
        yield page, f"| `{name}`, table mapped | {peak}{rest} | {processor} |"
    moved = re.search(r"For p = k = 20 and two threads an iteration moves 0(\.\d) MB", said)[1]
    yield page, f"an iteration moves {moved} MB for 20 partitions of 20 clusters and two workers"
    ratios = [r for work in ("k-means", "ACV") for r in cells("SCALE.md", work)[2].split(", ")]
    yield page, f"took {float(min(ratios)):.1f} to {float(max(ratios)):.1f} times as long on two processes"


def table(name):
    with open(LAB / "records" / "leaderboard" / f"{name}.csv", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def entries(scope):
    """By entry and pool, the best first."""
    return {(row["entry"], row["pool"]): row for row in table("leaderboard") if row["scope"] == scope}


def leaderboard():
    told, found = entries("k is known"), entries("k is found")
    n_sets = next(iter(told.values()))["n_sets"]
    yield "index.md", f"a leaderboard on {n_sets} public sets"
    yield "which.md", f"by the shape of the classes of {n_sets} public sets"
    yield "which.md", f"mean adjusted Rand index over {n_sets} public sets with k given"
    yield "tutorials/ranking.md", f"On {n_sets} public sets, with pools that do not know the number of classes"
    yield "theory/ranking.md", f"What the first is worth, on {n_sets} sets"
    ranks = {}
    for row in table("ranks"):
        ranks.setdefault(row["scope"], []).append(row["entry"])
    assert [ranks[scope].index("default") for scope in ("k is known", "k is found")] == [0, 0]
    assert ranks["k is known, tables"].index("default") > 0
    yield "which.md", f"of {n_sets} public sets, by the mean adjusted Rand index and by the mean rank"
    assert 0.3 < max(float(row["k_right"]) for row in found.values()) < 0.36
    yield "which.md", "equalled the number of classes on a third of the sets at best"
    fewer = sorted(-float(found["discotec", pool]["k_error"]) for pool in ("random-k", "diverse"))
    more = float(found["anmi", "random-k"]["k_error"])
    said = f"has {fewer[0]:.1f} to {fewer[1]:.1f} clusters fewer than there are classes"
    yield "theory/ranking.md", f"{said}. That of `anmi` on k-means has {more:.0f} more"


def test_what_pages_say_of_places():
    """Of voting, negmm, links and ranking in their pages of theory, and in which.md and tutorials/ranking.md."""
    told, found = entries("k is known"), entries("k is found")
    order, pools = list(told), ("random-k", "diverse")
    assert order[0] == next(iter(found)) == ("default", "features")
    assert "negmm" in [name for name, pool in order if pool == "random-k"][:3]
    low = order[int(0.7 * len(order)) + 1 :]
    assert {(name, pool) for name in ("bv", "majority", "soft-euclidean") for pool in pools} <= set(low)
    diverse = [name for name, pool in order if pool == "diverse" and told[name, pool]["kind"] == "consensus"]
    assert {"lwgp", "lce-wct", "lce-wtq"} <= set(diverse[:5])
    mean, of_found = ({key: float(row["over_all"]) for key, row in rows.items()} for rows in (told, found))
    gain = {name: mean[name, "diverse"] - mean[name, "random-k"] for name in diverse}
    assert min(gain[name] for name in ("km", "hbgf", "lca", "u-senc")) > 0
    assert max(gain[name] for name in ("ecpcs-mc", "pta-average")) < 0
    best = max(mean["lwgp", "diverse"], mean["lce-wct", "diverse"])
    assert best == pytest.approx(mean["negmm", "random-k"], abs=0.03)
    first = max(of_found[key] for key, row in found.items() if (key[1], row["kind"]) == ("diverse", "consensus"))
    assert of_found["aari", "diverse"] == pytest.approx(first, abs=0.015)
    members = {row["pool"]: float(row["mean_member"]) for row in table("pools")}
    for pool in pools:
        assert min(of_found[name, pool] for name in ("aari", "anmi", "discotec", "discotec-tv")) > members[pool]
    assert of_found["silhouette", "diverse"] < members["diverse"]


def test_what_pages_say_of_shapes():
    by = {(row["entry"], row["pool"]): row for row in table("parts") if row["scope"] == "k is known"}
    bent, compact = ({key: float(row[f"shape: {s}"]) for key, row in by.items()} for s in ("long or bent", "compact"))
    assert sorted(bent, key=bent.get, reverse=True)[:2] == [("genie", "features"), ("default", "features")]
    assert min(bent["negmm", "random-k"], bent["lwgp", "random-k"]) > bent["k-means", "features"] + 0.15
    assert max(compact, key=compact.get) == ("default", "features")


def patients():
    page = "tutorials/patients.md"
    few, some, every = found = records("patients.json")
    assert [row["genes"] for row in found] == [200, 500, 1868]
    for row, name in zip(found, ("200", "500", "all 1,868"), strict=True):
        yield page, f"| {name} | {row['groups']} | {short(row['ari'])} | {short(row['told_ari'])} |"
        assert row["classes"] == ["B-cell ALL", "T-cell ALL", "AML"]
        assert row["of_classes"] == few["of_classes"]
    (b_cell, none), (t_cell, nobody), (mixed, myeloid) = few["of_classes"]
    assert none == nobody == 0
    yield page, f"all {b_cell + t_cell} lymphoblastic patients and {mixed} of the {mixed + myeloid} myeloid ones"
    yield page, f"the other the {myeloid} that are left"
    for row in (few, some):
        group = row["told_of_classes"][1].index(t_cell)
        others = sum(counts[group] for counts in row["told_of_classes"]) - t_cell
        yield page, f"the {t_cell} T-cell patients are a group of their own, with {others} others"
    assert sum(counts[every["told_of_classes"][1].index(t_cell)] for counts in every["told_of_classes"]) > 2 * t_cell
    assert few["sentence"].startswith("Probably 2 clusters")
    assert every["sentence"].startswith("Probably 2 clusters")
    yield page, some["sentence"].partition(". ")[0]


def reliability():
    text = text_of("RELIABILITY.md")
    cases = whole(re.findall(r"^\| \w+: [^|]+ \| \d+ \| ([\d,]+) \|", text, flags=re.MULTILINE))
    assert len(cases) == 6
    yield PAPER, f"killed processes ran {sum(cases):,} cases"
    row = r"^\| \w+ \| [\d,]+ \| ([\d,]+) \| [\d,]+ \| ([\d,]+) \| ([\d,]+) \|"
    run, equivalent, survived = map(sum, zip(*map(whole, re.findall(row, text, flags=re.MULTILINE)), strict=True))
    yield (
        PAPER,
        f"Of {run - equivalent:,} small errors planted in the sources by a program, tests notice all but {survived};",
    )
    planted = re.search(r"(\d+) bugs that tests once let pass were planted again: (\d+) are noticed", text).groups()
    assert len(set(planted)) == 1
    yield PAPER, f"All {planted[0]} bugs that earlier tests had let pass are noticed now"
    assert whole(re.findall(r"([\d,]+) passed and none failed", text))[0] > 14_000
    yield PAPER, "more than 14,000 cases"


def whole(texts):
    return [int(text.replace(",", "")) for text in texts]


QUOTES = (
    *(confidence, number_of_clusters, sealed, checked, verdict, communities, members, times, ten_million, leaderboard),
    *(patients, reliability),
)


@pytest.mark.parametrize("quotes", QUOTES, ids=lambda quotes: quotes.__name__)
def test_quotes(quotes):
    for page, said in quotes():
        assert said in flat(text_of(f"site/{page}")), (page, said)


# ---- Pages that scripts write ----


@pytest.mark.core(3)
@pytest.mark.parametrize("name", ["confidence", "default", "splits", "benchmarks", "sizes", "reliability"])
def test_a_page_is_what_its_records_give(name):
    """Of RELIABILITY.md but for the mutants there are: every edit of the sources changes how many."""
    pytest.importorskip("ensemblage_lab", reason="the laboratory is not installed")
    made = script(f"lab/scripts/make_{name}.py")
    text = made.PAGE.read_text(encoding="utf-8")
    if name == "reliability":
        parts = made.HEAD, made.CONFORMANCE, made.MUTANTS, made.ELSEWHERE
        parts += made.fuzz_table(), made.planted_table(), made.versions()
    elif name == "benchmarks":
        parts = made.with_parts(text), made.growth(), made.default_growth(), made.comparison(), made.person()
    else:
        parts = (made.with_tables(text) if name == "sizes" else made.page(),)
    assert all(part and part in text for part in parts)
    assert name == "reliability" or text == parts[0]


def test_the_picture_of_the_readme_shows_what_its_script_draws_today():
    pytest.importorskip("ensemblage_lab", reason="the laboratory is not installed")
    make_picture = script("lab/scripts/make_picture.py")
    shown, today = json.loads(Image.open(make_picture.PICTURE).text["Description"]), make_picture.drawn()
    assert shown["labels"] == today["labels"]
    assert shown["confidence"] == pytest.approx(today["confidence"], abs=0.002)


# ---- The paper's other parts ----


def test_bibliography_and_figures_of_the_paper():
    made, folder = make_paper(), LAB / "paper"
    assert (folder / "paper.bib").read_text(encoding="utf-8") == made.bibliography()
    own = re.findall(r"^@\w+\{(\w+),", (folder / "software.bib").read_text(encoding="utf-8"), flags=re.MULTILINE)
    # Each is cited, and what the project's own list has is not written a second time.
    assert set(own) <= set(made.cited()) - made.references().keys()
    said = json.loads(Image.open(folder / "scores.png").text["Description"])
    assert said == json.loads(made.described())
    pictures = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", (folder / "paper.md").read_text(encoding="utf-8"))
    assert len(pictures) == 3
    assert all((folder / name).exists() for name in pictures)


def test_the_citation_agrees_with_paper_and_project():
    paper = (LAB / "paper" / "paper.md").read_text(encoding="utf-8")
    citation, project = (ROOT / name for name in ("CITATION.cff", "pyproject.toml"))
    citation, project = citation.read_text(encoding="utf-8"), project.read_text(encoding="utf-8")
    name, title = r"^  - name: (.+)$", r'^title: "(\w+): '
    names = re.findall(name, citation.split("\nauthors:\n")[1].split("\nversion:")[0], flags=re.MULTILINE)
    head = paper.split("---")[1]
    authors = head.split("\nauthors:\n")[1].split("\naffiliations:")[0]
    assert re.findall(name, authors, flags=re.MULTILINE) == names
    assert {re.search(title, text, flags=re.MULTILINE)[1] for text in (citation, head)} == {"ensemblage"}
    assert f'authors = [{{ name = "{names[0]}" }}]' in project
    for word in ("license", "url"):
        value = re.search(rf"^{word}: (\S+)$", citation, flags=re.MULTILINE)[1]
        assert f'"{value}"' in project
    assert 750 <= len(re.findall(r"\w+", paper.split("---", 2)[2])) <= 1750  # the journal's limits
