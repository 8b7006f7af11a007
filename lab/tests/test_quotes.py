"""Numbers that a page quotes by hand are those of the document that they come from."""

import csv
import json
import re
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

DOCS = Path(__file__).parents[2] / "docs"
RECORDS = Path(__file__).parents[1] / "records"


def text_of(name):
    return (DOCS / name).read_text(encoding="utf-8")


def record(name):
    return (RECORDS / name).read_text(encoding="utf-8")


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


def certainty():
    auc = [short(cells("CERTAINTY.md", kind)[1]) for kind in ("random-k", "diverse")]
    yield "theory/certainty.md", f"is {auc[0]} to {auc[1]} (.5 would"
    runs, sets = (re.search(rf"(\d+) {what}", text_of("CERTAINTY.md"))[1] for what in ("runs", "sets of the suite"))
    yield "theory/certainty.md", f"over {runs} runs on {sets} public sets"
    right = {}
    for word in ("core", "border", "undecided"):
        objects, share = cells("DEFAULT.md", word, after="## First default: words of certainty")
        right[word] = per_cent(share)
        yield "theory/certainty.md", f"| {word} | {objects} | {per_cent(share)} |"
    said = f"{right['core']} of the core, {right['border']} of the border and {right['undecided']} of the undecided"
    yield "howto/page.md", said


def number_of_clusters():
    clouds, _, share, _ = cells("CERTAINTY.md", "all", after="**Clouds without clusters**")
    yield "howto/choose_k.md", f"On {int(clouds):,} clouds without clusters it found structure in {share}"
    yield "theory/number.md", f"On {int(clouds):,} clouds without clusters structure was found in {share}"
    near = cells("CERTAINTY.md", "4", "all", after="**Gaussians**")
    two = cells("CERTAINTY.md", "4", "2", after="**Gaussians**")
    found = f"structure is found in {per_cent(near[1])} of the cases (two clusters alone in {per_cent(two[1])})"
    yield "theory/number.md", f"{found}. The right number is the first suggestion in {per_cent(near[2])}"
    assert float(two[1]) == 0.25
    yield "faq.md", "two normal clouds 4 deviations apart are called structure in a quarter of the cases"
    sets, right, _ = cells("CERTAINTY.md", "all", after="**Public sets**")
    yield (
        "theory/number.md",
        f"On {sets} public sets the first suggestion equalled the number of classes on {per_cent(right)}",
    )
    yield "howto/choose_k.md", f"On {sets} public sets the number of classes was the one chosen"
    for word in ("clear", "likely", "ambiguous"):
        n_sets, chosen, named = cells("CERTAINTY.md", word, after="**Public sets**")
        yield "howto/choose_k.md", f"| {n_sets} | {per_cent(chosen)} | {per_cent(named)} |"
    nowhere, *_ = cells("CERTAINTY.md", "none", after="**Public sets**")
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


KINDS = ("drawings", "numbers", "categories", "wide")


def answers(name, method=None):
    """By task, kind and set, the mean ARI over seeds in a record of the default."""
    found = defaultdict(list)
    for row in map(json.loads, record(f"default/{name}.jsonl").splitlines()):
        if method in (None, row["method"]):
            found[row["task"], row["kind"], row["set"]].append(row["ari"])
    return {key: np.mean(values) for key, values in found.items()}


def over_kinds(found, task):
    return np.mean([np.mean([v for (t, k, _), v in found.items() if (t, k) == (task, kind)]) for kind in KINDS])


def sealed():
    page = "evidence/index.md"
    given, unknown, sealed = "k given", "k unknown", "## Results on the sealed tables"
    n_sets, genie, ours, interval, *_ = cells("DEFAULT.md", given, "genie, as given (highest mean)", after=sealed)
    low, high = (f"{float(bound):+.2f}".replace("0.", ".").replace("-", "−") for bound in interval.split(" to "))
    readme = f"has a mean adjusted Rand index of **{short(ours)}** on {n_sets} real tables"
    yield "../../README.md", readme
    yield (
        "../../README.md",
        f"Genie, has {short(genie)}. The 95 % interval of the difference, {low} to {high}, includes 0",
    )
    yield page, f"{readme} that were put aside"
    k_means = answers("sealed", "kmeans, deviation 1").values()
    yield page, f"Genie, has {short(genie)}, and k-means on standardised columns {short(np.mean(list(k_means)))}"
    _, silhouette, ours, *_ = cells("DEFAULT.md", unknown, "silhouette (highest mean)", after=sealed)
    yield page, f"With the number unknown the default has {short(ours)}, k-means by silhouette {short(silhouette)}"


def checked():
    page, given, unknown = "evidence/index.md", "k given", "k unknown"
    methods = {row["method"] for row in map(json.loads, record("default/singles.jsonl").splitlines())}
    scores = {task: over_kinds(answers("run2"), task) for task in (given, unknown)}
    best = {
        given: max(over_kinds(answers("singles", m), given) for m in methods if "," in m),
        unknown: max(over_kinds(answers("singles", m), unknown) for m in methods if "," not in m),
    }
    n_sets = len({name for _, _, name in answers("run2")})
    yield page, f"On the {n_sets} sets on which it was checked meanwhile, mean over four kinds of data, it has"
    yield page, f"it has {short(scores[given])} (best single algorithm {short(best[given])})"
    yield page, f"with the number unknown {short(scores[unknown])} ({short(best[unknown])})"
    words = {kind: cells("DEFAULT.md", kind, after="## Do certainty and rating hold?")[1:4] for kind in KINDS[:2]}
    shares = {kind: [per_cent(cell.split()[0]).removesuffix(" %") for cell in row] for kind, row in words.items()}
    objects = "of the objects that the default calls core, border and undecided"
    yield page, f"**{', '.join(shares['drawings'])} %** {objects}"
    yield page, f"and {', '.join(shares['numbers'])} % on tables of numbers"
    rows = text_of("REPRODUCTION.md").split("## ")[1]
    counted = re.findall(r"runs? \| ([\d,]+) of ([\d,]+)", rows)
    met, compared = (sum(int(pair[i].replace(",", "")) for pair in counted) for i in (0, 1))
    assert len(counted) == 5
    yield page, f"**{met:,} of {compared:,}** printed numbers of five papers"


def verdict():
    said = " ".join(text_of("REPRODUCTION.md").split())
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
    assert round(float(cells("BENCHMARKS.md", STEPS)[1].split()[0]), 1) == 0.3
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
    page, said = "tutorials/ten_million.md", " ".join(text_of("SCALE.md").split())
    for name, shown in (
        ("km", "`km`, one start"),
        ("acv", "`acv`"),
        ("rank", "`AverageAgreement`"),
        ("density", "`density`"),
    ):
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
    with open(RECORDS / "leaderboard" / f"{name}.csv", newline="", encoding="utf-8") as file:
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
    told, found = entries("k is known"), entries("k is found")
    order = list(told)
    assert order[0] == ("default", "features")  # which.md
    assert next(iter(found)) == ("default", "features")
    assert "negmm" in [name for name, pool in order if pool == "random-k"][:3]  # theory/negmm.md
    n = len(order)
    for name in ("bv", "majority", "soft-euclidean"):  # theory/voting.md
        for pool in ("random-k", "diverse"):
            assert order.index((name, pool)) > 0.7 * n
    diverse = [name for name, pool in order if pool == "diverse" and told[name, pool]["kind"] == "consensus"]
    assert {"lwgp", "lce-wct", "lce-wtq"} <= set(diverse[:5])  # theory/links.md
    mean = {key: float(row["over_all"]) for key, row in told.items()}  # which.md
    for name in ("km", "hbgf", "lca", "u-senc"):
        assert mean[name, "diverse"] > mean[name, "random-k"]
    for name in ("ecpcs-mc", "pta-average"):
        assert mean[name, "random-k"] > mean[name, "diverse"]
    assert max(mean["lwgp", "diverse"], mean["lce-wct", "diverse"]) == pytest.approx(
        mean["negmm", "random-k"], abs=0.03
    )
    on_diverse = {key: row for key, row in found.items() if key[1] == "diverse"}
    first = max(float(row["over_all"]) for row in on_diverse.values() if row["kind"] == "consensus")
    assert float(found["aari", "diverse"]["over_all"]) == pytest.approx(first, abs=0.015)  # tutorials/ranking.md
    members = {row["pool"]: float(row["mean_member"]) for row in table("pools")}
    for pool in ("random-k", "diverse"):
        for ranker in ("aari", "anmi", "discotec", "discotec-tv"):
            assert float(found[ranker, pool]["over_all"]) > members[pool]
    assert float(found["silhouette", "diverse"]["over_all"]) < members["diverse"]


def test_what_pages_say_of_shapes():
    by = {(row["entry"], row["pool"]): row for row in table("parts") if row["scope"] == "k is known"}
    bent = {key: float(row["shape: long or bent"]) for key, row in by.items()}
    assert sorted(bent, key=bent.get, reverse=True)[:2] == [("genie", "features"), ("default", "features")]
    for name in ("negmm", "lwgp"):
        assert bent[name, "random-k"] > bent["k-means", "features"] + 0.15
    compact = {key: float(row["shape: compact"]) for key, row in by.items()}
    assert max(compact, key=compact.get) == ("default", "features")


def patients():
    page = "tutorials/patients.md"
    few, some, every = found = json.loads(record("patients.json"))
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


QUOTES = [
    certainty,
    number_of_clusters,
    sealed,
    checked,
    verdict,
    communities,
    members,
    times,
    ten_million,
    leaderboard,
    patients,
]


@pytest.mark.parametrize("quotes", QUOTES, ids=lambda quotes: quotes.__name__)
def test_quotes(quotes):
    for page, said in quotes():
        assert said in " ".join(text_of(f"site/{page}").split()), (page, said)
