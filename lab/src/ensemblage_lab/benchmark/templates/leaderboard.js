"use strict";
/* The leaderboard: means, differences and intervals over the sets that are asked for, computed from the scores in the
   page. It loads and sends nothing. */
(() => {
  const RESAMPLES = 2000, SHOWN_SETS = 24, SVG = "http://www.w3.org/2000/svg";

  /* --- What is computed, free of the page ------------------------------------------------------------------------ */

  const SET = { name: 0, n: 1, m: 2, k: 3, kind: 4, battery: 5 };
  const asLine = ([entry, pool, group, setting, version, scores, seconds]) =>
    ({ entry, pool, group, setting, version, scores, seconds, name: pool === "features" ? entry : `${entry} on ${pool}` });
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const median = (values) => {
    if (!values.length) return null;
    const of = values.slice().sort((a, b) => a - b), half = of.length >> 1;
    return of.length % 2 ? of[half] : (of[half - 1] + of[half]) / 2;
  };

  /* The places of the sets of a view, of one kind of data or of all. */
  const placesOf = (sets, battery, kind) => sets.map((_, i) => i).filter((i) =>
    (!battery || sets[i][SET.battery] === battery) && (!kind || sets[i][SET.kind] === kind));

  /* Sets drawn with replacement, the same for every method: a generator of 32 bits (mulberry32) with a fixed seed. */
  const draws = (n) => {
    let state = n;
    const drawn = new Uint16Array(RESAMPLES * n);
    for (let i = 0; i < drawn.length; i++) {
      state = (state + 0x6d2b79f5) | 0;
      let t = Math.imul(state ^ (state >>> 15), 1 | state);
      t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
      drawn[i] = Math.floor(((t ^ (t >>> 14)) >>> 0) / 4294967296 * n);
    }
    return drawn;
  };
  const interval = (values, drawn) => {
    const n = values.length, means = new Float64Array(RESAMPLES);
    for (let i = 0, at = 0; i < RESAMPLES; i++) {
      let sum = 0;
      for (let j = 0; j < n; j++) sum += values[drawn[at++]];
      means[i] = sum / n;
    }
    means.sort();
    return [0.025, 0.975].map((share) => {
      const at = share * (RESAMPLES - 1), low = Math.floor(at);
      return means[low] + (at - low) * (means[Math.min(low + 1, RESAMPLES - 1)] - means[low]);
    });
  };

  /* What the table says of each method over some sets; a missing score counts as 0. */
  const summaries = (lines, places, reference, { unit, tie }, drawn) => {
    const filled = (line) => places.map((i) => line.scores[i] ?? 0), base = reference && filled(reference);
    return lines.map((line) => {
      const scores = filled(line), of = { line, mean: mean(scores) / unit };
      of.finished = places.filter((i) => line.scores[i] !== null).length;
      of.seconds = median(places.map((i) => line.seconds[i]).filter((value) => value !== null));
      of.difference = of.low = of.high = of.won = of.lost = null;
      if (base && line !== reference) {
        const less = scores.map((value, i) => value - base[i]);
        of.difference = mean(less) / unit;
        of.won = less.filter((value) => value > tie).length;
        of.lost = less.filter((value) => value < -tie).length;
        if (places.length > 1) [of.low, of.high] = interval(less, drawn).map((value) => value / unit);
      }
      return of;
    });
  };
  const bestPlain = (lines, places, plain) => {
    let best = null, most = -Infinity;
    for (const line of lines) {
      if (line.pool !== "features" || !plain.includes(line.entry)) continue;
      const value = mean(places.map((i) => line.scores[i] ?? 0));
      if (value > most) { most = value; best = line; }
    }
    return best;
  };
  const sorted = (rows, key, descending) => rows.slice().sort((a, b) => {
    const x = key(a), y = key(b);
    if (x === null || y === null) return (x === null) - (y === null);
    const order = typeof x === "string" ? x.localeCompare(y, "en") : x - y;
    return descending ? -order : order;
  });

  /* --- What is put on the page ----------------------------------------------------------------------------------- */

  /* An element with properties, and texts and elements in it: never HTML. */
  const element = (tag, properties = {}, ...children) => {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(properties))
      if (name.startsWith("aria-") || name === "role" || name.startsWith("data-")) made.setAttribute(name, value); else made[name] = value;
    made.append(...children);
    return made;
  };
  const drawn = (tag, attributes = {}, ...children) => {
    const made = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  };
  const fixed = (value, digits = 3) => (value === null ? "–" : value.toFixed(digits).replace("-", "−"));
  const signed = (value) => (value === null ? "–" : value < -0.0005 ? fixed(value) : `+${fixed(Math.max(value, 0))}`);
  const count = (n) => n.toLocaleString("en");
  const secondsOf = (value) => (value === null ? "–" : value < 10 ? value.toFixed(2) : value.toFixed(0));

  const explore = (data, methods, sets) => {
    const boards = data.boards.map((board) => ({ sets: board.sets, lines: board.lines.map(asLine) }));
    const state = { view: 0, kind: "", setting: data.settings[0], group: "", text: "", reference: "", chosen: data.chosen, column: "mean", descending: true, order: "difference", every: false };
    const drawsOf = {};
    let rows = [], lines = [], places = [], board = null, reference = null, chosen = null;

    const select = (label, options, change) => {
      const box = element("select", { onchange: () => change(box.value) }, ...options.map(([value, text]) => element("option", { value }, text)));
      return [box, element("label", {}, label, box)];
    };
    const [byView, viewLabel] = select("Board", data.views.map((view, i) => [String(i), view.title]), (value) => update({ view: Number(value), kind: "" }));
    const [bySetting, settingLabel] = select("Number of clusters", [[data.settings[0], "given"], [data.settings[1], "unknown"]], (value) => update({ setting: value }));
    const [byKind, kindLabel] = select("Kind of data", [["", "all"]], (value) => update({ kind: value }));
    const [byGroup, groupLabel] = select("Methods", [["", "all"], ["plain clusterer", "plain clusterers"], ["consensus", "consensus of a pool"], ["ranker", "rankers"], ["submitted", "submitted"]], (value) => update({ group: value }));
    const [byReference, referenceLabel] = select("Compare with", [], (value) => update({ reference: value }));
    const search = element("input", { type: "search", autocomplete: "off", oninput: () => update({ text: search.value }) });
    const status = element("p", { role: "status", className: "note" });
    const HEADS = [
      ["name", "Method", (row) => row.line.name], ["mean", "Mean ARI", (row) => row.mean], ["difference", "Difference", (row) => row.difference],
      ["low", "95 % interval", (row) => row.low], ["won", "Won, tied, lost", (row) => (row.won === null ? null : row.won - row.lost)],
      ["finished", "Finished", (row) => row.finished], ["seconds", "CPU\u00a0s", (row) => row.seconds],
    ];
    const heads = HEADS.map(([column, title]) => element("th", { scope: "col", className: column === "name" ? "" : "number" },
      element("button", { type: "button", onclick: () => update({ column, descending: state.column === column ? !state.descending : !["name", "seconds"].includes(column) }) }, title)));
    const body = element("tbody");
    const table = element("table", {}, element("thead", {}, element("tr", { className: "stick" }, ...heads)), body);
    const place = (host, ...children) => {
      const statics = element("div", { className: "static" }, ...host.children);
      statics.style.display = "none";
      host.append(element("div", { className: "interactive" }, ...children), statics);
    };
    place(methods,
      element("div", { className: "controls", role: "search", "aria-label": "Which sets and methods" }, viewLabel, settingLabel, kindLabel, groupLabel, referenceLabel, element("label", {}, "Search a method", search)),
      status, element("div", { className: "scroll tall", tabIndex: 0, role: "region", "aria-label": "Methods" }, table));

    /* A difference with its interval on a scale that all rows share. */
    const forest = (row, width) => {
      const x = (value) => 60 + 56 * Math.max(-1, Math.min(1, value / width));
      const mark = row.difference === null ? [] : [
        ...(row.low === null ? [] : [drawn("line", { class: "range", x1: x(row.low), x2: x(row.high), y1: 7.5, y2: 7.5 })]),
        drawn("circle", { cx: x(row.difference), cy: 7.5, r: 3.5 })];
      const apart = row.low !== null && (row.low > 0 || row.high < 0);
      return drawn("svg", { class: apart ? "forest apart" : "forest", viewBox: "0 0 120 15", "aria-hidden": "true" }, drawn("line", { class: "zero", x1: 60, x2: 60, y1: 0, y2: 15 }), ...mark);
    };
    const lineOf = (row, rank, width) => {
      const { line } = row, number = (...content) => element("td", { className: "number" }, ...content);
      const pick = element("button", { type: "button", "aria-pressed": String(line === chosen), title: "Show set by set", onclick: () => { update({ chosen: line.name }); body.querySelector(".picked button")?.focus(); } }, line.name);
      const tag = line.group === "submitted" ? [element("span", { className: "tag" }, `submitted, version ${line.version}`)] : [];
      return element("tr", { className: line === chosen ? "stick picked" : "stick", "data-method": line.name },
        element("th", { scope: "row" }, element("div", { className: "method" }, element("span", { className: "rank" }, String(rank)), element("span", {}, pick, ...tag))),
        number(fixed(row.mean)), number(forest(row, width), element("span", { className: "value" }, line === reference ? "reference" : signed(row.difference))),
        number(row.low === null ? "–" : `${signed(row.low)} to ${signed(row.high)}`),
        number(row.won === null ? "–" : `${row.won}, ${places.length - row.won - row.lost}, ${row.lost}`),
        number(`${row.finished} of ${places.length}`), number(secondsOf(row.seconds)));
    };

    /* Set by set. */
    const [byOrder, orderLabel] = select("Order", [["difference", "by difference, losses first"], ["name", "by name"], ["n", "by number of objects"], ["mean", "by mean of all methods, lowest first"]], (value) => update({ order: value }));
    const [byChosen, chosenLabel] = select("Method", [], (value) => update({ chosen: value }));
    const legend = element("p", { className: "legend" });
    const cards = element("ol", { className: "cards" });
    const more = element("button", { type: "button", onclick: () => update({ every: !state.every }) });
    const pictures = {};
    for (const picture of document.querySelectorAll("svg.points")) pictures[picture.dataset.set] = picture;
    place(sets, element("div", { className: "controls" }, chosenLabel, orderLabel), legend, cards, element("p", { className: "pager" }, more));
    const generated = document.querySelector('[data-figure="generated"]')?.closest("figure");
    if (generated) {
      generated.classList.add("static");
      generated.style.display = "none";
    }

    const at = (score) => 12 + 216 * (Math.max(-0.2, score / data.unit) + 0.2) / 1.2;
    const strip = (i) => {
      const ticks = lines.filter((line) => line !== chosen && line !== reference).map((line) => `M${at(line.scores[i] ?? 0).toFixed(1)} 5v14`).join("");
      const marks = [];
      if (reference && reference !== chosen) marks.push(drawn("rect", { class: "reference", x: at(reference.scores[i] ?? 0) - 4, y: 8, width: 8, height: 8, transform: `rotate(45 ${at(reference.scores[i] ?? 0)} 12)` }));
      if (chosen) marks.push(drawn("circle", { class: "chosen", cx: at(chosen.scores[i] ?? 0), cy: 12, r: 5 }));
      const scale = [0, 0.5, 1].flatMap((value) => [drawn("line", { class: "axis", x1: at(value * data.unit), x2: at(value * data.unit), y1: 1, y2: 23 }), drawn("text", { x: at(value * data.unit), y: 33 }, String(value))]);
      return drawn("svg", { class: "strip", viewBox: "0 0 240 35", "aria-hidden": "true" }, ...scale, drawn("line", { class: "axis", x1: 4, x2: 236, y1: 12, y2: 12 }), drawn("path", { class: "others", d: ticks }), ...marks);
    };
    const scoreOf = (line, i) => (line.scores[i] === null ? "no result" : fixed(line.scores[i] / data.unit));
    const cardOf = (i) => {
      const set = board.sets[i], picture = pictures[set[SET.name]];
      const told = [chosen && `${chosen.name} ${scoreOf(chosen, i)}`, reference && reference !== chosen && `${reference.name} ${scoreOf(reference, i)}`].filter(Boolean).join(", ");
      return element("li", { "data-set": set[SET.name] }, ...(picture ? [picture.cloneNode(true)] : []),
        element("p", { className: "name" }, set[SET.name]), element("p", { className: "about" }, `${count(set[SET.n])} × ${count(set[SET.m])}, ${set[SET.k]} classes, ${set[SET.kind]}`),
        strip(i), element("p", {}, told));
    };
    const key = (mark) => drawn("svg", { class: "strip", viewBox: "0 0 14 14", "aria-hidden": "true" }, mark);
    const showSets = () => {
      const less = (i) => (chosen && reference ? (chosen.scores[i] ?? 0) - (reference.scores[i] ?? 0) : 0);
      const by = { difference: less, name: (i) => board.sets[i][SET.name], n: (i) => board.sets[i][SET.n], mean: (i) => mean(lines.map((line) => line.scores[i] ?? 0)) }[state.order];
      const order = sorted(places, by, false), shown = state.every ? order : order.slice(0, SHOWN_SETS);
      cards.replaceChildren(...shown.map(cardOf));
      more.hidden = order.length <= SHOWN_SETS;
      more.textContent = state.every ? `Show ${SHOWN_SETS} sets` : `Show all ${order.length} sets`;
      legend.replaceChildren(
        ...(chosen ? [element("span", {}, key(drawn("circle", { class: "chosen", cx: 7, cy: 7, r: 5 })), chosen.name)] : []),
        ...(reference && reference !== chosen ? [element("span", {}, key(drawn("rect", { class: "reference", x: 3, y: 3, width: 8, height: 8, transform: "rotate(45 7 7)" })), reference.name)] : []),
        element("span", {}, key(drawn("path", { class: "others", d: "M3 1v12M7 1v12M11 1v12" })), "the other methods, by ARI"));
    };
    const fill = (box, options, value) => {
      box.replaceChildren(...options.map(([of, text]) => element("option", { value: of }, text)));
      box.value = value;
    };
    const update = (asked) => {
      Object.assign(state, asked);
      const view = data.views[state.view];
      board = boards[view.board];
      const inView = placesOf(board.sets, view.battery, "");
      const kinds = data.kinds.map((kind) => [kind, inView.filter((i) => board.sets[i][SET.kind] === kind).length]).filter(([, n]) => n);
      if (!kinds.some(([kind]) => kind === state.kind)) state.kind = "";
      places = placesOf(board.sets, view.battery, state.kind);
      lines = board.lines.filter((line) => line.setting === state.setting);
      const plain = bestPlain(lines, places, data.plain), byName = (name) => lines.find((line) => line.name === name) ?? null;
      if (!byName(state.reference)) state.reference = "";
      reference = byName(state.reference) ?? plain;
      chosen = byName(state.chosen) ?? lines.find((line) => data.own.includes(line.entry)) ?? lines[0] ?? null;
      drawsOf[places.length] ??= draws(places.length);
      rows = sorted(summaries(lines, places, reference, data, drawsOf[places.length]), (row) => row.mean, true);
      const ranks = new Map(rows.map((row, i) => [row.line, i + 1]));
      const sought = state.text.trim().toLowerCase();
      const shown = sorted(rows.filter((row) => (!state.group || row.line.group === state.group) && row.line.name.toLowerCase().includes(sought)), HEADS.find(([column]) => column === state.column)[2], state.descending);
      const width = Math.max(...rows.map((row) => Math.abs(row.difference ?? 0)), 0.05);
      body.replaceChildren(...shown.map((row) => lineOf(row, ranks.get(row.line), width)));
      heads.forEach((head, i) => head.setAttribute("aria-sort", HEADS[i][0] !== state.column ? "none" : state.descending ? "descending" : "ascending"));
      const names = lines.map((line) => line.name).sort((a, b) => a.localeCompare(b, "en")).map((name) => [name, name]);
      fill(byKind, [["", `all (${inView.length})`], ...kinds.map(([kind, n]) => [kind, `${kind} (${n})`])], state.kind);
      fill(byReference, [["", plain ? `best plain: ${plain.name}` : "none"], ...names], state.reference);
      fill(byChosen, names, chosen ? chosen.name : "");
      [byView.value, bySetting.value, byGroup.value, byOrder.value] = [String(state.view), state.setting, state.group, state.order];
      const apart = rows.filter((row) => row.low !== null && (row.low > 0 || row.high < 0));
      const above = apart.filter((row) => row.low > 0).length;
      status.textContent = !lines.length ? "No method has results here." :
        `${shown.length === rows.length ? count(rows.length) : `${count(shown.length)} of ${count(rows.length)}`} methods on ${places.length} ${places.length === 1 ? "set" : "sets"}.` +
        (reference ? ` Differences are to ${reference.name}. Intervals above 0: ${above}, below 0: ${apart.length - above}.` : "") +
        (places.length < 10 ? " So few sets say little." : "");
      showSets();
    };
    update({});
  };

  if (typeof document === "undefined") { globalThis.leaderboard = { placesOf, draws, interval, summaries, bestPlain, sorted, asLine }; return; }
  const data = document.querySelector('script[type="application/json"]');
  const methods = document.querySelector('[data-table="methods"]'), sets = document.querySelector('[data-table="sets"]');
  if (data && methods && sets) explore(JSON.parse(data.textContent), methods, sets);
})();
