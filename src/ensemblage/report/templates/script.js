"use strict";
/* The page is whole without this script. With it: all objects in a table that can be searched, sorted and filtered, a
   picture whose points can be pointed at and selected, and a switch between light and dark. It loads and sends nothing. */
(() => {
  const ROWS_OF_A_PAGE = 100, MOST_CHIPS = 60, NEAR = 14, FULL = 10000;

  /* --- What is computed, free of the page ------------------------------------------------------------------------ */

  const VERDICTS = ["core", "border", "undecided"], DOUBTFUL = "border or undecided";
  const verdictOf = (objects, row) => VERDICTS["cbu".indexOf(objects.verdict[row])] || "";

  /* The rows that are asked for, in the order of the data. */
  const matching = (objects, { text = "", cluster = null, verdict = "", chosen = null }) => {
    const sought = text.trim().toLowerCase(), letters = verdict === DOUBTFUL ? "bu" : verdict.slice(0, 1), rows = [];
    for (let row = 0; row < objects.ids.length; row++) {
      if (cluster !== null && objects.cluster[row] !== cluster) continue;
      if (letters && !letters.includes(objects.verdict[row])) continue;
      if (chosen && !chosen.has(row)) continue;
      if (sought && !objects.ids[row].toLowerCase().includes(sought)) continue;
      rows.push(row);
    }
    return rows;
  };

  /* The next best cluster of a row; none is worth naming where the confidence is written as 1.00. */
  const sureOf = (objects, row) => (objects.confidence[row] === null ? "–" : objects.confidence[row].toFixed(2));
  const nextOf = (objects, row) => (sureOf(objects, row) === "1.00" ? null : objects.next[row]);

  /* A number by which the rows of a column are in order; what is not known has none. */
  const keysOf = (objects, column) => {
    if (column === "verdict") return Array.from(objects.verdict, (letter) => ("cbu".indexOf(letter) + 1) || null);
    if (column === "next") return objects.next.map((_, row) => nextOf(objects, row));
    if (column !== "ids") return objects[column].map((value) => (value === null || value < 0 ? null : value));
    const { compare } = new Intl.Collator("en", { numeric: true });
    const order = objects.ids.map((_, row) => row).sort((a, b) => compare(objects.ids[a], objects.ids[b]) || a - b);
    const place = new Array(order.length);
    order.forEach((row, i) => { place[row] = i; });
    return place;
  };

  /* The rows by their keys, equal ones in the order of the data; what has none comes last. */
  const sorted = (rows, keys, descending) => {
    const sign = descending ? -1 : 1;
    return rows.slice().sort((a, b) => {
      if (keys[a] === null || keys[b] === null) return (keys[a] === null) - (keys[b] === null) || a - b;
      return sign * (keys[a] - keys[b]) || a - b;
    });
  };

  /* The rows as labels.csv has them. */
  const asCsv = (objects, rows) => {
    const cell = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
    const lines = rows.map((row) => [
      cell(objects.ids[row]), objects.cluster[row], objects.confidence[row] ?? "", verdictOf(objects, row), objects.next[row] ?? "",
    ].join(","));
    return ["id,cluster,confidence,verdict,runner_up", ...lines, ""].join("\n");
  };

  /* The drawn point nearest to a place, if it is near enough. */
  const nearest = (points, x, y, scale, reach) => {
    let best = -1, least = reach * reach;
    for (let i = 0; i < points.row.length; i++) {
      const dx = (points.x[i] - x) * scale[0], dy = (points.y[i] - y) * scale[1], d = dx * dx + dy * dy;
      if (d < least) { least = d; best = i; }
    }
    return best;
  };

  const within = (points, [x0, y0], [x1, y1]) => points.row.filter((_, i) =>
    points.x[i] >= Math.min(x0, x1) && points.x[i] <= Math.max(x0, x1) &&
    points.y[i] >= Math.min(y0, y1) && points.y[i] <= Math.max(y0, y1));

  /* --- What is put on the page ----------------------------------------------------------------------------------- */

  /* An element with properties, and texts and elements in it: never HTML. */
  const element = (tag, properties = {}, ...children) => {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(properties)) {
      if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
      else if (name in made) made[name] = value;
      else made.setAttribute(name, value);
    }
    made.append(...children);
    return made;
  };

  const addTheme = () => {
    const root = document.documentElement;
    const isDark = () => (root.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
    const button = element("button", { type: "button", className: "theme" });
    const tell = () => { button.textContent = isDark() ? "Light" : "Dark"; button.setAttribute("aria-label", `Show the page ${isDark() ? "light" : "dark"}`); };
    button.addEventListener("click", () => { root.dataset.theme = isDark() ? "light" : "dark"; tell(); });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", tell);
    document.querySelector("header > div").append(button);
    tell();
  };

  /* Nothing is folded on paper, in browsers too whose styles cannot unfold it. */
  const unfoldInPrint = () => {
    let folded = [];
    addEventListener("beforeprint", () => { folded = [...document.querySelectorAll("details:not([open])")]; folded.forEach((d) => { d.open = true; }); });
    addEventListener("afterprint", () => { folded.forEach((d) => { d.open = false; }); });
  };

  const explore = (objects, place) => {
    const { points, colors, unlabelled, sizes } = objects, n = objects.ids.length;
    const named = (cluster) => (cluster < 0 ? "unlabelled" : String(cluster));
    const colorOf = (cluster) => (cluster < 0 ? unlabelled : colors[cluster % colors.length]);
    const swatch = (cluster) => { const made = element("span", { className: "swatch" }); made.style.background = colorOf(cluster); return made; };
    const count = (number) => number.toLocaleString("en");
    const sure = (row) => sureOf(objects, row);
    const clusters = Object.keys(sizes).map(Number).sort((a, b) => (a < 0) - (b < 0) || a - b);
    const state = { text: "", cluster: null, verdict: "", chosen: null, column: "confidence", descending: false, page: 0, hot: -1, number: "" };
    const keys = {};
    let rows = [];
    const picture = points && document.querySelector('[data-figure="points"]');
    const drawnAt = new Map(points ? points.row.map((row, i) => [row, i]) : []);

    /* The controls. */
    const search = element("input", { type: "search", autocomplete: "off", spellcheck: false, oninput: () => change({ text: search.value }) });
    const option = (value, text) => element("option", { value }, text);
    const byCluster = element("select", { onchange: () => change({ cluster: byCluster.value === "" ? null : Number(byCluster.value) }) },
      option("", "all"), ...clusters.map((c) => option(String(c), `${named(c)} (${count(sizes[c])})`)));
    const byVerdict = element("select", { onchange: () => change({ verdict: byVerdict.value }) }, option("", "all"), ...[...VERDICTS, DOUBTFUL].map((word) => option(word, word)));
    const clear = element("button", { type: "button", onclick: () => change({ text: "", cluster: null, verdict: "", chosen: null }) }, "Show all");
    const download = element("button", { type: "button", onclick: () => {
      const url = URL.createObjectURL(new Blob([asCsv(objects, rows)], { type: "text/csv;charset=utf-8" }));
      const part = state.verdict === DOUBTFUL && state.cluster !== null ? `border-of-${named(state.cluster)}` : "objects";
      element("a", { href: url, download: `${part}.csv` }).click();
      setTimeout(() => URL.revokeObjectURL(url), 10000);
    } }, "Download CSV");
    const status = element("p", { role: "status", className: "note" });

    /* The doubtful objects of each cluster: a list that can be downloaded. */
    const doubtful = {};
    objects.verdict.split("").forEach((letter, row) => { if ("bu".includes(letter)) doubtful[objects.cluster[row]] = (doubtful[objects.cluster[row]] || 0) + 1; });
    const borders = clusters.slice(0, MOST_CHIPS).filter((c) => doubtful[c]).map((c) =>
      element("button", { type: "button", value: String(c), "aria-pressed": "false", "aria-label": `Border of cluster ${named(c)}: ${count(doubtful[c])} objects`,
        onclick: () => change(isBorder(c) ? { cluster: null, verdict: "" } : { text: "", cluster: c, verdict: DOUBTFUL, chosen: null }) }, swatch(c), `${named(c)} (${count(doubtful[c])})`));
    const isBorder = (c) => state.verdict === DOUBTFUL && state.cluster === c;

    /* The table. */
    const heads = [["ids", "Object"], ["cluster", "Cluster"], ["confidence", "Confidence"], ["verdict", "Verdict"], ["next", "Next best"]].map(([column, title]) =>
      [column, element("th", { scope: "col", className: column === "confidence" ? "number" : "" }, element("button", { type: "button", onclick: () => {
        const again = state.column === column;
        change({ column: again && state.descending ? "" : column, descending: again && !state.descending });
      } }, title))]);
    const bodyOfTable = element("tbody");
    const table = element("table", {}, element("thead", {}, element("tr", {}, ...heads.map(([, head]) => head))), bodyOfTable);
    const previous = element("button", { type: "button", onclick: () => turn(-1) }, "Previous");
    const next = element("button", { type: "button", onclick: () => turn(1) }, "Next");
    const where = element("span", { className: "note" });
    const interactive = element("div", { className: "interactive" },
      element("div", { className: "controls", role: "search", "aria-label": "Find objects" },
        element("label", {}, "Search by id", search), element("label", {}, "Cluster", byCluster),
        element("label", {}, "Verdict", byVerdict), clear, download),
      ...(borders.length ? [element("div", { className: "chips borders", role: "group", "aria-label": "Border of each cluster: its border and undecided objects" },
        element("span", { className: "note" }, "Border of cluster"), ...borders)] : []),
      status,
      element("div", { className: "scroll tall", tabIndex: 0, role: "region", "aria-label": "All objects" }, table),
      element("div", { className: "pager" }, previous, next, where));
    const statics = [...place.children];
    const wrapped = element("div", { className: "static" }, ...statics);
    wrapped.style.display = "none";
    place.append(element("h3", { className: "interactive" }, objects.title), interactive, wrapped);

    const clusterCell = (cluster) => element("td", {}, ...(cluster === null ? ["–"] : [swatch(cluster), named(cluster)]));
    const lineOf = (row) => {
      const drawn = drawnAt.has(row), id = objects.ids[row];
      const name = drawn ? element("button", { type: "button", "aria-pressed": String(Boolean(state.chosen && state.chosen.has(row))), title: "Mark in the picture",
        onfocus: () => point(row, true), onblur: () => point(-1), onclick: () => choose([row], true) }, id) : id;
      return element("tr", { "data-row": row, onmouseenter: () => point(row), onmouseleave: () => point(-1) },
        element("th", { scope: "row" }, name), clusterCell(objects.cluster[row]), element("td", { className: "number" }, sure(row)),
        element("td", {}, verdictOf(objects, row) || "–"), clusterCell(nextOf(objects, row)));
    };
    const turn = (by) => { state.page += by; showPage(); };
    const showPage = () => {
      const pages = Math.max(1, Math.ceil(rows.length / ROWS_OF_A_PAGE)), from = state.page * ROWS_OF_A_PAGE;
      bodyOfTable.replaceChildren(...rows.slice(from, from + ROWS_OF_A_PAGE).map(lineOf));
      where.textContent = `Page ${count(state.page + 1)} of ${count(pages)}`;
      where.parentElement.hidden = pages < 2;
      previous.disabled = state.page === 0;
      next.disabled = state.page + 1 >= pages;
    };
    const change = (asked) => {
      Object.assign(state, asked, { page: 0 });
      rows = matching(objects, state);
      if (state.column) rows = sorted(rows, keys[state.column] ??= keysOf(objects, state.column), state.descending);
      if (search.value !== state.text) search.value = state.text;
      byCluster.value = state.cluster === null ? "" : String(state.cluster);
      byVerdict.value = state.verdict;
      for (const [column, head] of heads)
        head.setAttribute("aria-sort", column === state.column ? (state.descending ? "descending" : "ascending") : "none");
      for (const chip of borders) chip.setAttribute("aria-pressed", String(isBorder(Number(chip.value))));
      for (const chip of chips) chip.setAttribute("aria-pressed", String(Number(chip.value) === state.cluster));
      clear.disabled = rows.length === n;
      const selected = state.chosen ? " (selected in the picture)" : "";
      status.textContent = `${count(rows.length)} of ${count(n)} objects${objects.total > n ? ` shown here, of ${count(objects.total)} in all` : ""}${selected}`;
      showPage();
      draw();
    };
    const choose = (chosen, toggle) => {
      const kept = new Set(toggle && state.chosen ? state.chosen : []);
      for (const row of chosen) if (toggle && kept.has(row)) kept.delete(row); else kept.add(row);
      const focused = document.activeElement && document.activeElement.closest ? document.activeElement.closest("[data-row]") : null;
      change({ chosen: kept.size ? kept : null });
      if (focused) bodyOfTable.querySelector(`[data-row="${focused.dataset.row}"] button`)?.focus();
    };

    /* The picture: a layer over the drawing that stands without the script. */
    const chips = [], canvas = element("canvas", { tabIndex: 0, role: "application", "aria-label": "Points of the objects. Arrow keys go from point to point, Enter selects, Escape shows all." });
    const tip = element("div", { className: "tip", hidden: true, role: "status" });
    let from = null, to = null;
    const sized = () => [canvas.clientWidth, canvas.clientHeight];
    const point = (row, quiet) => {
      state.hot = row;
      for (const line of bodyOfTable.children) line.classList.toggle("hot", Number(line.dataset.row) === row);
      draw();
      if (!picture) return;
      const i = drawnAt.get(row);
      tip.hidden = i === undefined;
      if (tip.hidden) return;
      const [w, h] = sized();
      tip.style.left = `${Math.min(Math.max(points.x[i] / FULL * w, 70), w - 70)}px`;
      tip.style.top = `${points.y[i] / FULL * h}px`;
      const best = nextOf(objects, row), next = best === null ? "" : `, next best ${best}`;
      const other = points.by_number[state.number];
      const apart = !other ? "" : other[i] < 0 ? "; not looked at with other numbers" : `; of ${state.number}: ${other[i]}`;
      tip.textContent = `${objects.ids[row]}: cluster ${named(objects.cluster[row])}, confidence ${sure(row)} ${verdictOf(objects, row) && `(${verdictOf(objects, row)})`}${next}${apart}`;
      tip.setAttribute("role", quiet ? "none" : "status");
    };
    const draw = () => {
      if (!picture) return;
      const [w, h] = sized(), sharp = devicePixelRatio || 1, some = rows.length < n;
      canvas.width = Math.round(w * sharp);
      canvas.height = Math.round(h * sharp);
      const pen = canvas.getContext("2d");
      pen.scale(sharp, sharp);
      picture.classList.toggle("faded", some);
      const dot = (i, radius) => { pen.beginPath(); pen.arc(points.x[i] / FULL * w, points.y[i] / FULL * h, radius, 0, 2 * Math.PI); };
      const radius = points.row.length > 1500 ? 2 : 3.2, other = points.by_number[state.number];
      picture.classList.toggle("recoloured", Boolean(other));
      if (some || other) for (const row of rows) {
        const i = drawnAt.get(row);
        if (i === undefined) continue;
        pen.fillStyle = colorOf(other ? other[i] : objects.cluster[row]);
        dot(i, radius);
        pen.fill();
      }
      if (drawnAt.has(state.hot)) {
        pen.lineWidth = 2.5;
        pen.strokeStyle = "#000";
        dot(drawnAt.get(state.hot), 6.5);
        pen.stroke();
      }
      if (from && to) {
        pen.lineWidth = 1;
        pen.strokeStyle = "#000";
        pen.setLineDash([4, 3]);
        pen.strokeRect(from[0] / FULL * w, from[1] / FULL * h, (to[0] - from[0]) / FULL * w, (to[1] - from[1]) / FULL * h);
      }
    };
    if (picture) {
      picture.setAttribute("role", "group");
      picture.querySelector("svg").setAttribute("aria-hidden", "true");
      picture.append(canvas, tip);
      const at = (event) => { const box = canvas.getBoundingClientRect(); return [(event.clientX - box.left) / box.width * FULL, (event.clientY - box.top) / box.height * FULL]; };
      const under = (event) => { const [w, h] = sized(), [x, y] = at(event), i = nearest(points, x, y, [w / FULL, h / FULL], NEAR); return i < 0 ? -1 : points.row[i]; };
      canvas.addEventListener("pointermove", (event) => {
        if (from && event.pointerType !== "touch") { to = at(event); draw(); } else point(under(event));
      });
      canvas.addEventListener("pointerleave", () => point(-1));
      canvas.addEventListener("pointerdown", (event) => {
        from = at(event);
        to = null;
        if (event.pointerType !== "touch") canvas.setPointerCapture(event.pointerId);
      });
      canvas.addEventListener("pointercancel", () => { from = to = null; draw(); });
      canvas.addEventListener("pointerup", (event) => {
        const [w, h] = sized();
        const moved = from && to && Math.hypot((to[0] - from[0]) * w, (to[1] - from[1]) * h) > 5 * FULL;
        const row = under(event), chosen = moved ? within(points, from, to) : row < 0 ? [] : [row];
        from = to = null;
        choose(chosen, event.shiftKey && !moved);
      });
      const order = points.row.map((_, i) => i).sort((a, b) => points.x[a] - points.x[b] || a - b);
      canvas.addEventListener("keydown", (event) => {
        const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
        if (step) {
          const shown = new Set(rows), near = order.filter((i) => shown.has(points.row[i]));
          const here = near.findIndex((i) => points.row[i] === state.hot);
          if (near.length) point(points.row[near[here < 0 ? (step > 0 ? 0 : near.length - 1) : (here + step + near.length) % near.length]]);
        } else if (event.key === "Enter" && state.hot >= 0) choose([state.hot], true);
        else if (event.key === "Escape") change({ chosen: null, cluster: null });
        else return;
        event.preventDefault();
      });
      canvas.addEventListener("blur", () => point(-1));
      for (const c of clusters.slice(0, MOST_CHIPS))
        chips.push(element("button", { type: "button", value: String(c), "aria-pressed": "false", onclick: () => change({ cluster: state.cluster === c ? null : c }) }, swatch(c), named(c)));
      picture.after(element("div", { className: "chips", role: "group", "aria-label": "Clusters in the picture and in the table" }, ...chips));
      const numbers = Object.keys(points.by_number), isStory = (k) => k.startsWith("story");
      const nameOf = (k) => (isStory(k) ? k : `${points.of} with ${k} clusters`);
      if (numbers.length) {
        const said = element("p", { className: "note", role: "status" });
        const byNumber = element("select", { onchange: () => {
          state.number = byNumber.value;
          said.textContent = state.number && `Coloured by ${nameOf(state.number)}${points.of === "k-means" && !isStory(state.number) ? ", one of those that were compared to find their number" : ""}: no part of the answer.${(points.by_number[state.number] || []).includes(-1) ? " Grey points were not looked at." : ""}`;
          draw();
        } }, option("", `the answer (${clusters.filter((c) => c >= 0).length} clusters)`), ...numbers.map((k) => option(k, isStory(k) ? k : `${points.of}, ${k} clusters`)));
        for (const head of document.querySelectorAll('[data-table="numbers"] tbody th, [data-table="stories"] tbody th')) {
          const k = head.textContent;
          if (numbers.includes(k)) head.replaceChildren(element("button", { type: "button", title: "Show in the picture", "aria-label": `Show ${isStory(k) ? k : `${k} clusters`} in the picture`, onclick: () => {
            byNumber.value = k;
            byNumber.dispatchEvent(new Event("change"));
            picture.scrollIntoView({ block: "center" });
            byNumber.focus({ preventScroll: true });
          } }, k));
        }
        picture.after(element("div", { className: "controls numbers" }, element("label", {}, "Colour by", byNumber)), said);
      }
      new ResizeObserver(draw).observe(canvas);
    }
    change({});
  };

  if (typeof document === "undefined") { globalThis.ensemblage = { matching, keysOf, sorted, asCsv, nearest, within }; return; }
  addTheme();
  unfoldInPrint();
  const data = document.querySelector('script[type="application/json"]'), place = document.querySelector('[data-table="objects"]');
  if (data && place) explore(JSON.parse(data.textContent), place);
})();
