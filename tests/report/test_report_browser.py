"""The page in a browser: searched, sorted, filtered, selected, downloaded, by keyboard, on paper, narrow, dark."""

import csv
import io
import os
import time
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from browser import browser, found
from former import former
from matplotlib.image import imread
from sklearn.datasets import make_blobs
from strategies import planted_labels

from ensemblage import Ensemble, choose_k, profile, report
from ensemblage.consensus import ConsensusModes, EvidenceAccumulation, KMeansConsensus
from ensemblage.metrics import verdicts

Report = former("report", "Report")


pytestmark = pytest.mark.skipif(
    found() is None or os.name != "posix",
    reason="no Chromium was found: install one, or name it in ENSEMBLAGE_CHROMIUM",
)

N = 240
EVIL = {
    7: "</script><script>window.harmed = 1</script>",
    8: "<!--<script>",
    9: '<img src=x onerror="window.harmed = 1">',
    10: '=cmd, "quoted"',
}
ROWS = "[...document.querySelectorAll('.interactive tbody tr')]"
IDS = f"{ROWS}.map(row => row.cells[0].textContent)"
STATUS = "document.querySelector('.interactive [role=status]').textContent"


@pytest.fixture(scope="module")
def analysis():
    labels, classes = planted_labels(n=N, p=10, k=4, noise=0.35, seed=3)
    ids = [EVIL.get(i, f"object {i}") for i in range(N)]
    ensemble = Ensemble(labels)
    consensus = KMeansConsensus(4, random_state=0).fit(ensemble)
    X = make_blobs(N, 6, random_state=0)[0] + 9 * np.eye(4, 6)[classes]
    return ensemble, consensus, X, ids


@pytest.fixture(scope="module")
def page(analysis, tmp_path_factory):
    ensemble, consensus, X, ids = analysis
    path = tmp_path_factory.mktemp("page") / "report.html"
    return report.build(ensemble, consensus, features=X, ids=ids, title=EVIL[7], path=path)


@pytest.fixture(scope="module")
def tab():
    with browser() as opened:
        yield opened


@pytest.fixture
def opened(tab, page):
    tab.open(page)
    return tab


def type_into(tab, text):
    tab.run(
        f"(() => {{ const e = document.querySelector('input[type=search]'); e.value = {text!r}; "
        "e.dispatchEvent(new Event('input')); })()"
    )


def click(tab, text):
    tab.run(f"[...document.querySelectorAll('button')].find(b => b.textContent === {text!r}).click()")


def choose(tab, label, value):
    tab.run(
        f"(() => {{ const l = [...document.querySelectorAll('label')].find(l => l.textContent.startsWith({label!r}));"
        f" const s = l.querySelector('select'); s.value = {value!r}; s.dispatchEvent(new Event('change')); }})()"
    )


def test_names_do_no_harm_and_nothing_is_asked_of_the_network(opened):
    assert opened.run("typeof window.harmed") == "undefined"
    assert opened.complaints() == []
    type_into(opened, "script")
    assert sorted(opened.run(IDS)) == sorted([EVIL[7], EVIL[8]])
    assert opened.run("typeof window.harmed") == "undefined"
    opened.run("fetch('http://127.0.0.1:9/').catch(() => 0)")
    assert any("Content Security Policy" in text for text in opened.complaints())


def downloaded(tab, path):
    """The text of a file that the page was asked for, once it is there."""
    limit = time.monotonic() + 20
    while not path.exists():
        assert time.monotonic() < limit
        tab.run("new Promise(done => setTimeout(done, 50))")
    return path.read_text(encoding="utf-8")


def test_search_filter_and_clear(opened, analysis):
    labels, words = analysis[1].labels_, verdicts(analysis[1].confidence_)
    assert opened.run(STATUS) == "240 of 240 objects"
    assert len(opened.run(IDS)) == 100
    type_into(opened, "OBJECT 23")
    assert sorted(opened.run(IDS)) == ["object 23", *[f"object {i}" for i in range(230, 240)]]
    type_into(opened, "")
    choose(opened, "Cluster", "2")
    assert opened.run(STATUS).startswith(f"{(labels == 2).sum()} of 240")
    choose(opened, "Verdict", "border")
    assert opened.run(STATUS).startswith(f"{((labels == 2) & (words == 'border')).sum()} of 240")
    click(opened, "Show all")
    assert opened.run(STATUS) == "240 of 240 objects"


def test_sort_by_every_column_and_pages(opened, analysis):
    """The least certain objects come first, before anything is pressed; after both orders that of the data."""
    confidence = analysis[1].confidence_
    assert opened.run("[...document.querySelectorAll('.interactive th[aria-sort=ascending]')].length") == 1
    order = np.argsort(confidence, kind="stable")
    assert opened.run(IDS) == [analysis[3][i] for i in order[:100]]
    click(opened, "Next")
    click(opened, "Next")
    assert opened.run(IDS) == [analysis[3][i] for i in order[200:]]
    click(opened, "Confidence")
    order = np.lexsort((np.arange(N), -confidence))
    assert opened.run(IDS) == [analysis[3][i] for i in order[:100]]
    click(opened, "Confidence")
    assert opened.run(IDS) == analysis[3][:100]
    for column in ("Object", "Cluster", "Verdict", "Next best"):
        click(opened, column)
    click(opened, "Object")
    named = [name for name in opened.run(IDS) if name.startswith("object")]
    assert named == sorted(named, key=lambda name: int(name.split()[1]))


def test_download_of_what_is_shown(opened, analysis, tmp_path):
    _, consensus, _, ids = analysis
    opened.call("Page.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    choose(opened, "Cluster", "0")
    click(opened, "Download CSV")
    rows = list(csv.DictReader(io.StringIO(downloaded(opened, tmp_path / "objects.csv"))))
    members = np.flatnonzero(consensus.labels_ == 0)
    members = members[np.argsort(consensus.confidence_[members], kind="stable")]
    assert [row["id"] for row in rows] == [ids[i] for i in members]
    assert [float(row["confidence"]) for row in rows] == pytest.approx(consensus.confidence_[members], rel=1e-5)
    assert [int(row["runner_up"]) for row in rows] == consensus.runner_up_[members].tolist()
    assert [row["verdict"] for row in rows] == verdicts(consensus.confidence_[members]).tolist()


def test_the_border_of_each_cluster_is_a_list(opened, analysis, tmp_path):
    """Its border and undecided objects, the least certain first; pressed again, all objects are shown."""
    _, consensus, _, ids = analysis
    doubtful = verdicts(consensus.confidence_) != "core"
    opened.call("Page.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    counts = "[...document.querySelectorAll('.borders button')].map(b => b.textContent)"
    expected = [f"{c} ({(doubtful & (consensus.labels_ == c)).sum()})" for c in range(4)]
    assert opened.run(counts) == [text for text in expected if not text.endswith("(0)")]
    members = np.flatnonzero(doubtful & (consensus.labels_ == 1))
    members = members[np.argsort(consensus.confidence_[members], kind="stable")]
    click(opened, expected[1])
    assert opened.run(IDS) == [ids[i] for i in members]
    assert opened.run("[...document.querySelectorAll('.borders [aria-pressed=true]')].map(b => b.value)") == ["1"]
    click(opened, "Download CSV")
    assert len(list(csv.DictReader(io.StringIO(downloaded(opened, tmp_path / "border-of-1.csv"))))) == len(members)
    click(opened, expected[1])
    assert opened.run(STATUS) == "240 of 240 objects"


CANVAS = "document.querySelector('canvas')"


def place_of(tab, i):
    """Where on the screen the point of the i-th row of the table is, and which row that is."""
    tab.run(f"{CANVAS}.scrollIntoView({{block: 'center'}})")
    return tab.run(
        "(() => { const p = JSON.parse(document.querySelector('script[type=\"application/json\"]').textContent).points,"
        f" j = p.row.indexOf({i}), b = {CANVAS}.getBoundingClientRect();"
        " return [b.left + p.x[j] / 1e4 * b.width, b.top + p.y[j] / 1e4 * b.height]; })()"
    )


def test_points_are_named_and_selected_and_the_table_goes_along(opened, analysis):
    labels, ids = analysis[1].labels_, analysis[3]
    x, y = place_of(opened, 3)
    opened.mouse("mouseMoved", x, y)
    shown = opened.run("document.querySelector('.tip').textContent")
    named = next(i for i in range(N) if shown.startswith(f"{ids[i]}:"))
    assert f"cluster {labels[named]}," in shown
    for kind in ("mousePressed", "mouseReleased"):
        opened.mouse(kind, x, y)
    assert opened.run(IDS) == [ids[named]]
    assert opened.run("document.querySelector('[data-figure=points]').classList.contains('faded')")
    left, top, right, bottom = opened.run(
        f"(() => {{ const b = {CANVAS}.getBoundingClientRect(); return [b.left, b.top, b.right, b.bottom]; }})()"
    )
    opened.mouse("mousePressed", left + 2, top + 2)
    opened.mouse("mouseMoved", right - 2, bottom - 2, buttons=1)
    opened.mouse("mouseReleased", right - 2, bottom - 2)
    assert opened.run(STATUS).startswith("240 of 240")
    opened.run("[...document.querySelectorAll('.chips button')].find(b => b.value === '1').click()")
    assert opened.run(STATUS).startswith(f"{(labels == 1).sum()} of 240")
    opened.run(f"{ROWS}[0].dispatchEvent(new MouseEvent('mouseenter'))")
    members = np.flatnonzero(labels == 1)
    first = ids[members[np.argmin(analysis[1].confidence_[members])]]
    assert opened.run("document.querySelector('.tip').textContent").startswith(f"{first}:")


def test_all_of_it_by_keyboard(opened):
    opened.run(f"{CANVAS}.focus()")
    opened.press("ArrowRight")
    first = opened.run("document.querySelector('.tip').textContent")
    opened.press("ArrowRight")
    assert opened.run("document.querySelector('.tip').textContent") != first
    opened.press("Enter")
    assert opened.run(STATUS).startswith("1 of 240")
    opened.press("Escape")
    assert opened.run(STATUS).startswith("240 of 240")
    assert (
        opened.run(
            "[...document.querySelectorAll('.interactive button, .interactive input, .interactive select, canvas,"
            " .chips button')].filter(e => e.tabIndex < 0).length"
        )
        == 0
    )


def test_every_control_has_a_name_and_tables_have_headers(opened):
    unnamed = opened.run(
        "[...document.querySelectorAll('button, input, select, canvas, [tabindex]')].filter(e =>"
        " !(e.textContent.trim() || e.getAttribute('aria-label') || e.closest('label'))).length"
    )
    assert unnamed == 0
    assert opened.run("[...document.querySelectorAll('thead th')].every(e => e.scope === 'col')")
    assert opened.run("[...document.querySelectorAll('tbody tr')].every(r => r.cells[0].scope === 'row')")
    levels = opened.run("[...document.querySelectorAll('h1, h2, h3, h4')].map(h => Number(h.tagName[1]))")
    assert all(later - earlier <= 1 for earlier, later in pairwise(levels))


@pytest.mark.parametrize("script", [True, False])
def test_narrow_screens_cut_nothing(tab, page, script):
    tab.open(page, width=390, height=800, script=script)
    size = tab.call("Page.getLayoutMetrics")["cssContentSize"]
    assert size["width"] == 390
    if script:
        cut = tab.run(
            "[...document.querySelectorAll('main *, header *')].filter(e => !e.closest('.scroll, svg, .tip') &&"
            " e.getBoundingClientRect().right > 390.5).map(e => e.outerHTML.slice(0, 80))"
        )
        assert cut == []


def test_without_a_script_the_page_is_whole(tab, page):
    tab.open(page, script=False)
    nodes = tab.call("DOM.getDocument", depth=-1)["root"]["nodeId"]
    [table] = tab.call("DOM.querySelectorAll", nodeId=nodes, selector="[data-table=objects]")["nodeIds"]
    text = tab.call("DOM.getOuterHTML", nodeId=table)["outerHTML"]
    assert text.count('<th scope="row">') == 50
    assert not tab.call("DOM.querySelectorAll", nodeId=nodes, selector="canvas, .interactive, .theme")["nodeIds"]


def test_on_paper_nothing_is_folded_and_nothing_is_to_press(opened):
    opened.call("Emulation.setEmulatedMedia", media="print")
    folded = (
        "[...document.querySelectorAll('details > :not(summary)')].filter(e =>"
        " !e.getBoundingClientRect().height).length"
    )
    assert opened.run(folded) == 0
    seen = "e => e.getBoundingClientRect().height > 0"
    assert opened.run(f"[...document.querySelectorAll('button, input, select, canvas')].filter({seen}).length") == 0
    assert opened.run(f"[...document.querySelectorAll('.static')].filter({seen}).length") == 1
    opened.call("Emulation.setEmulatedMedia", media="screen")


def test_dark_where_the_system_is_and_by_the_switch(tab, page):
    ground = "getComputedStyle(document.body).backgroundColor"
    tab.open(page)
    light = tab.run(ground)
    tab.open(page, dark=True)
    dark = tab.run(ground)
    assert dark != light
    click(tab, "Light")
    assert tab.run(ground) == light
    click(tab, "Dark")
    assert tab.run(ground) == dark
    assert tab.complaints() == []


@pytest.mark.slow
def test_twenty_thousand_objects_are_quick(tab, tmp_path):
    n = 20_000
    labels = planted_labels(n=n, p=6, k=5, noise=0.2, seed=0)[0]
    consensus = KMeansConsensus(5, n_init=1, random_state=0).fit(labels)
    path = report.build(
        labels, consensus, features=np.random.default_rng(0).normal(size=(n, 3)), path=tmp_path / "r.html"
    )
    assert path.stat().st_size < 2_000_000
    tab.open(path)
    spent = tab.run(
        "(() => { const t = performance.now(), e = document.querySelector('input[type=search]'); e.value = '19';"
        " e.dispatchEvent(new Event('input')); return performance.now() - t; })()"
    )
    assert spent < 2_000
    assert tab.run(STATUS).startswith(f"{sum('19' in str(i) for i in range(n)):,} of 20,000")


@pytest.fixture(scope="module")
def by_number(analysis, tmp_path_factory):
    """A page whose number of clusters was looked for."""
    ensemble, consensus, X, ids = analysis
    choice = choose_k(X, range(2, 7), n_references=19, random_state=0)
    summary = report.summarize(ensemble, consensus, features=X, ids=ids, k_choice=choice)
    path = tmp_path_factory.mktemp("by_number") / "report.html"
    return report.build(summary, path=path), summary


COLOURS = (
    "(() => { const c = document.querySelector('.picture canvas'), d = c.getContext('2d').getImageData(0, 0, c.width, "
    "c.height).data, found = new Set(), hex = (v) => v.toString(16).padStart(2, '0'); "
    "for (let i = 0; i < d.length; i += 4) if (d[i + 3] === 255) "
    "found.add('#' + hex(d[i]) + hex(d[i + 1]) + hex(d[i + 2])); "
    "return JSON.parse(document.querySelector('script[type=\"application/json\"]').textContent)"
    ".colors.filter((colour) => found.has(colour.toLowerCase())).length; })()"
)


def test_points_are_coloured_by_another_number_of_clusters(tab, by_number):
    page, summary = by_number
    tab.open(page)
    assert tab.run(COLOURS) == 0  # the drawing that stands without the script
    assert tab.run("getComputedStyle(document.querySelector('.picture svg .points')).opacity") == "1"
    choose(tab, "Colour by", "2")
    assert tab.run(COLOURS) == 2
    assert tab.run("getComputedStyle(document.querySelector('.picture.recoloured svg .points')).opacity") == "0"
    said = "document.querySelector('.controls.numbers').nextElementSibling.textContent"
    assert tab.run(said).startswith("Coloured by k-means with 2 clusters")
    choose(tab, "Colour by", "6")
    assert tab.run(COLOURS) == 6
    choose(tab, "Colour by", "")
    assert tab.run(COLOURS) == 0
    assert not any("Error" in text for text in tab.complaints())
    assert sorted(summary["figures"]["points"]["by_number"]) == ["2", "3", "4", "5", "6"]


def test_a_page_without_other_numbers_has_no_such_choice(opened):
    assert opened.run("document.querySelector('.controls.numbers')") is None


def test_another_number_is_a_click_away(tab, tmp_path):
    """The answer's own hierarchy, cut at other numbers: by the choice beside the picture, or from the table of them."""
    labels, classes = planted_labels(n=N, p=10, k=4, noise=0.3, seed=3)
    model = EvidenceAccumulation(4, linkage="average").fit(labels)
    X = make_blobs(N, 6, random_state=0)[0] + 9 * np.eye(4, 6)[classes]
    tab.open(report.build(labels, model, features=X, path=tmp_path / "r.html"))
    buttons = "[...document.querySelectorAll('[data-table=numbers] tbody button')]"
    assert tab.run(f"{buttons}.map(b => b.textContent)") == ["2", "3", "5", "6"]
    tab.run(f"{buttons}[1].click()")
    assert tab.run(COLOURS) == 3
    assert tab.run("document.activeElement.tagName") == "SELECT"
    said = "document.querySelector('.controls.numbers').nextElementSibling.textContent"
    assert tab.run(said) == "Coloured by the same hierarchy with 3 clusters: no part of the answer."
    choose(tab, "Colour by", "")
    assert tab.run(COLOURS) == 0
    assert not any("Error" in text for text in tab.complaints())


def test_another_story_is_a_click_away(tab, tmp_path):
    area, diet = np.repeat([0, 1, 2], 80), np.tile([0, 1], 120)
    labels = np.column_stack([area] * 6 + [diet] * 4)
    model = EvidenceAccumulation(3, linkage="average").fit(labels)
    modes = ConsensusModes(n_jobs=1).fit(labels)
    X = make_blobs(N, 6, random_state=0)[0]
    tab.open(report.build(labels, model, features=X, modes=modes, path=tmp_path / "r.html"))
    buttons = "[...document.querySelectorAll('[data-table=stories] tbody button')]"
    assert tab.run(f"{buttons}.map(b => b.textContent)") == ["story 1", "story 2"]
    assert tab.run(f"{buttons}.map(b => b.ariaLabel)")[1] == "Show story 2 in the picture"
    tab.run(f"{buttons}[1].click()")
    assert tab.run(COLOURS) == 2
    assert not any("Error" in text for text in tab.complaints())


def test_a_selection_survives_another_colour(tab, by_number):
    page, _ = by_number
    tab.open(page)
    tab.run(
        "[...document.querySelectorAll('.chips button')].find(b => b.value === '1' && !b.closest('.borders')).click()"
    )
    before = tab.run(IDS)
    shown = tab.run(STATUS)
    choose(tab, "Colour by", "3")
    assert tab.run(STATUS) == shown
    assert tab.run(IDS) == before
    choose(tab, "Colour by", "")
    assert tab.run(STATUS) == shown


CONTRASTS = """(() => {
  const parse = (text) => {
    const [r, g, b, a = 1] = text.match(/[\\d.]+/g).map(Number);
    return { rgb: [r, g, b], a };
  };
  const light = (rgb) => rgb.map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = (e) => {
    for (; e; e = e.parentElement) {
      const found = parse(getComputedStyle(e).backgroundColor);
      if (found.a === 1) return found.rgb;
    }
    return [255, 255, 255];
  };
  const poor = [];
  for (const e of document.querySelectorAll("main *, header *")) {
    if (e.closest("svg, canvas, :disabled, [hidden]") || !e.getClientRects().length) continue;
    if (![...e.childNodes].some((node) => node.nodeType === 3 && node.data.trim())) continue;
    const [a, b] = [light(parse(getComputedStyle(e).color).rgb), light(ground(e))].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < 4.5) poor.push(e.outerHTML.slice(0, 90));
  }
  return poor;
})()"""


GROUNDS = {"light": [1, 1, 1], "dark": [13 / 255, 17 / 255, 23 / 255]}
"""Of the page."""


@pytest.mark.core(3)
@pytest.mark.parametrize("system", [False, True])
@pytest.mark.parametrize(
    ("theme", "scheme"),
    [
        ('data-jp-theme-light="false"', "dark"),
        ('data-jp-theme-light="true"', "light"),
        ('class="vscode-dark"', "dark"),
        ("", None),
    ],
)
def test_a_notebook_shows_the_page_in_its_own_colours(tab, analysis, tmp_path, theme, scheme, system):
    """In a frame no higher than the window; where nothing is known, in the colours of the system."""
    ensemble, consensus, X, ids = analysis
    shown = Report(report.summarize(ensemble, consensus, features=X, ids=ids))._repr_html_()
    path = tmp_path / "notebook.html"
    path.write_text(f"<!DOCTYPE html><html><body {theme}>{shown}</body></html>", encoding="utf-8")
    tab.open(path, height=900, dark=system)
    box = tab.run(
        "(() => { const b = document.querySelector('iframe').getBoundingClientRect(); return [b.x, b.height]; })()"
    )
    assert 480 <= box[1] <= 0.85 * 900 + 2
    expected = pytest.approx(GROUNDS[scheme or ("dark" if system else "light")], abs=0.05)
    limit = time.monotonic() + 20  # a frame is painted some time after its page is loaded
    while True:
        tab.picture(tmp_path / "seen.png", whole=False)
        seen = imread(tmp_path / "seen.png")[int(box[1]) - 5, int(box[0]) + 4, :3]
        if seen == expected or time.monotonic() > limit:
            break
        tab.run("new Promise(done => setTimeout(done, 100))")
    assert seen == expected


@pytest.mark.parametrize("dark", [False, True])
def test_text_has_contrast(tab, page, dark):
    """4.5 to 1, as WCAG asks of text; that of figures is held where their colours are chosen."""
    tab.open(page, dark=dark)
    assert tab.run(CONTRASTS) == []


def test_landmarks_have_names_of_their_own(opened):
    names = opened.run(
        "[...document.querySelectorAll('[role=region], nav, [role=search]')].map(e => e.getAttribute('aria-label'))"
    )
    assert all(names)
    visible = opened.run(
        "[...document.querySelectorAll('[role=region]')].filter(e => e.getClientRects().length)"
        ".map(e => e.getAttribute('aria-label'))"
    )
    assert len(set(visible)) == len(visible)
    assert opened.run("document.querySelectorAll('h1').length") == 1
    ids = opened.run("[...document.querySelectorAll('[id]')].map(e => e.id)")
    assert len(set(ids)) == len(ids)
    assert opened.run("[...document.querySelectorAll('[role=img]')].every(e => e.getAttribute('aria-label'))")
    assert opened.run("document.documentElement.lang") == "en"


def test_the_tab_key_goes_through_the_page_in_its_order(opened):
    opened.run("document.body.focus()")
    places = []
    for _ in range(40):
        opened.press("Tab")
        places.append(opened.run("[...document.querySelectorAll('*')].indexOf(document.activeElement)"))
    reached = [place for place in places if place > 0]
    assert len(set(reached)) > 20
    after = reached[1:] if reached[0] > reached[-1] else reached
    assert sum(later < earlier for earlier, later in pairwise(after)) <= 2  # the switch of colours, and the end


def test_wide_tables_say_that_they_scroll_on_a_phone(tab, page):
    tab.open(page, width=390, height=800)
    wide = "[...document.querySelectorAll('.scroll')].filter(e => e.scrollWidth > e.clientWidth + 1)"
    assert tab.run(f"{wide}.length") > 0
    assert tab.run(f"{wide}.every(e => getComputedStyle(e).backgroundImage.includes('gradient') && e.tabIndex === 0)")


def axe():
    """The script of axe-core: that of ENSEMBLAGE_AXE, or of a package that carries it; None if there is none."""
    if given := os.environ.get("ENSEMBLAGE_AXE"):
        return Path(given)
    for name in ("axe_playwright_python", "axe_core_python"):
        if found_package := find_spec(name):
            return Path(found_package.origin).parent / "axe.min.js"
    return None


VIOLATIONS = """(async () => {
  document.querySelectorAll("details").forEach((d) => { d.open = OPEN; });
  const { violations } = await axe.run(document);
  return violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.html.slice(0, 120)).join(" ")}`);
})()"""


@pytest.fixture(scope="module")
def page_of_stories(tmp_path_factory):
    """A page with wide figures, other numbers, and two stories."""
    area, diet = np.repeat([0, 1, 2], 80), np.tile([0, 1], 120)
    labels = np.column_stack([area] * 6 + [diet] * 4)
    labels[np.random.default_rng(0).random(labels.shape) < 0.1] = 1
    model = EvidenceAccumulation(12, linkage="average").fit(labels)
    X = make_blobs(N, 30, random_state=0)[0]
    details = {"features": X, "modes": ConsensusModes(n_jobs=1).fit(labels), "profile": profile(model, X)}
    return report.build(labels, model, path=tmp_path_factory.mktemp("stories") / "r.html", **details)


@pytest.mark.skipif(axe() is None, reason="no axe-core was found: name its file in ENSEMBLAGE_AXE")
@pytest.mark.parametrize(("width", "dark"), [(1280, False), (1280, True), (390, False)])
@pytest.mark.parametrize("name", ["page", "by_number", "page_of_stories"])
def test_axe_finds_no_violation(tab, request, name, width, dark):
    """With details folded, and unfolded."""
    made = request.getfixturevalue(name)
    tab.open(made[0] if name == "by_number" else made, width=width, dark=dark)
    tab.run(f"{axe().read_text(encoding='utf-8')};1")
    for is_open in ("false", "true"):
        assert tab.run(VIOLATIONS.replace("OPEN", is_open)) == []


@pytest.mark.slow
def test_wide_pictures_scroll_by_the_keyboard_too(tab, page_of_stories):
    tab.open(page_of_stories, width=390)
    wide = "[...document.querySelectorAll('.picture')].filter(e => e.scrollWidth > e.clientWidth + 1)"
    assert tab.run(f"{wide}.length") > 0
    assert tab.run(f"{wide}.every(e => e.tabIndex === 0 && e.getAttribute('aria-label'))")
