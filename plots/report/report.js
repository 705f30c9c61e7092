"use strict";
/* Sorting. Numbers by what parseFloat makes of a cell, empty cells last; the same column again turns the order. */
function compareCells(a, b, number, sign) {
  const x = a.textContent, y = b.textContent;
  if (number) {
    const left = parseFloat(x), right = parseFloat(y);
    if (isNaN(left) || isNaN(right)) return isNaN(left) - isNaN(right);
    return sign * (left - right);
  }
  return sign * x.localeCompare(y, "en", { numeric: true });
}

function sortBy(table, column) {
  const head = table.tHead.rows[0].cells, chosen = head[column], body = table.tBodies[0];
  const number = chosen.dataset.type === "number";
  const first = number ? "descending" : "ascending", second = number ? "ascending" : "descending";
  const order = chosen.getAttribute("aria-sort") === first ? second : first;
  for (const cell of head) cell.removeAttribute("aria-sort");
  chosen.setAttribute("aria-sort", order);
  const sign = order === "ascending" ? 1 : -1;
  const rows = Array.from(body.rows);
  rows.sort((a, b) => compareCells(a.cells[column], b.cells[column], number, sign));
  body.append(...rows);
}

for (const table of document.querySelectorAll("table.sortable")) {
  Array.from(table.tHead.rows[0].cells).forEach((cell, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...cell.childNodes);
    button.addEventListener("click", () => sortBy(table, column));
    cell.append(button);
  });
}

/* Filtering: rows that hold every word. */
const cells = document.getElementById("cells"), filter = document.getElementById("filter"), count = document.getElementById("count");

function filterCells() {
  const words = filter.value.toLowerCase().split(/\s+/).filter((word) => word);
  let shown = 0;
  for (const row of cells.tBodies[0].rows) {
    const text = Array.from(row.cells, (cell) => cell.textContent).join(" ").toLowerCase();
    row.hidden = !words.every((word) => text.includes(word));
    shown += !row.hidden;
  }
  count.value = shown + " of " + cells.tBodies[0].rows.length + " cells";
}
filter.addEventListener("input", filterCells);
filterCells();

/* Values of figures: the nearest mark within reach. Its text comes from the <title>, which is taken away so that the
   browser does not show it a second time. */
const REACH = 28, tip = document.createElement("div");
tip.id = "tip";
tip.setAttribute("role", "status");
tip.hidden = true;
document.body.append(tip);

function marksOf(svg) {
  if (!svg.marks) {
    svg.marks = Array.from(svg.querySelectorAll("g.value"), (group) => {
      const title = group.querySelector("title"), use = group.querySelector("use");
      const at = /translate\(([-\d.]+),([-\d.]+)\)/.exec(use.getAttribute("transform"));
      const text = title.textContent;
      title.remove();
      return { x: Number(at[1]), y: Number(at[2]), text, group };
    });
  }
  return svg.marks;
}

let near = null;
function showNear(event) {
  const svg = event.currentTarget, box = svg.getBoundingClientRect(), scale = svg.viewBox.baseVal.width / box.width;
  const x = (event.clientX - box.left) * scale, y = (event.clientY - box.top) * scale;
  let best = null, least = REACH * scale;
  for (const mark of marksOf(svg)) {
    const distance = Math.hypot(mark.x - x, mark.y - y);
    if (distance < least) [best, least] = [mark, distance];
  }
  if (near) near.group.classList.remove("near");
  near = best;
  tip.hidden = !best;
  if (!best) return;
  best.group.classList.add("near");
  tip.textContent = best.text;
  const left = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8);
  const below = event.clientY + 18, above = event.clientY - tip.offsetHeight - 12;
  tip.style.left = Math.max(8, left) + "px";
  tip.style.top = (below + tip.offsetHeight > innerHeight ? Math.max(8, above) : below) + "px";
}

function hideTip() {
  if (near) near.group.classList.remove("near");
  near = null;
  tip.hidden = true;
}

for (const svg of document.querySelectorAll(".svg svg")) {
  marksOf(svg);
  svg.addEventListener("pointermove", showNear);
  svg.addEventListener("pointerdown", showNear);
  svg.addEventListener("pointerleave", hideTip);
}
addEventListener("scroll", hideTip, { passive: true });

/* Light or dark by hand; else as the system has it. */
document.getElementById("theme").addEventListener("click", () => {
  const root = document.documentElement, dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const now = root.dataset.theme || (dark ? "dark" : "light");
  root.dataset.theme = now === "dark" ? "light" : "dark";
});

/* The answer: model, context and wishes may be changed; formats, suggestion and chart follow. */
const answerData = document.getElementById("answer-data");

/* A format's numbers at a context: the cache goes with it, all else stays. */
function atContext(model, format, context, gbps) {
  const times = model.context > 0 ? context / model.context - 1 : 0;
  const us = 1e6 / format.tokens_per_s + (model.cache_us || 0) * times;
  const limit = format.tokens_per_s_limit ? 1e6 / format.tokens_per_s_limit + 1e-3 * (format.kv_bytes || 0) * times / gbps : NaN;
  const kv = (format.kv_bytes || 0) * (1 + times);
  const other = format.tokens_per_s_other ? 1e6 * format.tokens_per_s_other / format.tokens_per_s / us : undefined;
  return { format, tps: 1e6 / us, other, sure: Math.min(1e6 / us, other || Infinity), limit: 1e6 / limit, error: format.error_rmse, bytes: format.weight_bytes + kv };
}

/* Of those that fit the least error that is fast enough, else the fastest of no larger error. */
function suggest(rows, wanted, most, memory) {
  const can = rows.filter((row) => row.error !== null && row.error <= most && (!memory || row.bytes <= memory));
  const fast = can.filter((row) => row.sure >= wanted);
  if (fast.length > 0) return fast.reduce((a, b) => b.error < a.error || (b.error === a.error && b.sure > a.sure) ? b : a);
  return can.length > 0 ? can.reduce((a, b) => b.sure > a.sure ? b : a) : null;
}

function onFront(rows, row) {
  return row.error !== null && !rows.some((other) => other.error !== null && other.tps >= row.tps && other.error <= row.error &&
    (other.tps > row.tps || other.error < row.error));
}

function put(parent, name, attributes, text) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  parent.append(element);
  return element;
}

/* tokens/s, logarithmic, over the error; the front is a line. */
function drawChart(rows, best, wanted) {
  const shown = rows.filter((row) => row.error !== null), place = document.getElementById("chart");
  place.replaceChildren();
  if (shown.length === 0) return;
  const W = 640, H = 300, L = 56, R = 12, T = 14, B = 40, top = Math.max(...shown.map((row) => row.tps), wanted) * 1.3;
  const low = Math.min(...shown.map((row) => row.tps), wanted) / 1.3, right = Math.max(0.1, ...shown.map((row) => row.error)) * 1.15;
  const x = (error) => L + (W - L - R) * error / right;
  const y = (tps) => T + (H - T - B) * (1 - Math.log(tps / low) / Math.log(top / low));
  const svg = put(place, "svg", { viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": "tokens per second against error of each format" });
  put(svg, "path", { d: `M${L},${T}V${H - B}H${W - R}`, class: "axis" });
  put(svg, "text", { x: (L + W) / 2, y: H - 6, "text-anchor": "middle" }, "error: RMS on normal weights");
  put(svg, "text", { x: 14, y: (T + H - B) / 2, transform: `rotate(-90 14 ${(T + H - B) / 2})`, "text-anchor": "middle" }, "tokens/s");
  for (let tick = Math.pow(10, Math.floor(Math.log10(low))); tick < top; tick *= 10)
    for (const step of [1, 2, 5]) if (tick * step > low && tick * step < top)
      put(svg, "text", { x: L - 6, y: y(tick * step) + 4, "text-anchor": "end" }, String(Number((tick * step).toPrecision(1))));
  for (let tick = 0; tick <= right; tick += right > 0.5 ? 0.2 : 0.05)
    put(svg, "text", { x: x(tick), y: H - B + 16, "text-anchor": "middle" }, tick.toFixed(2));
  put(svg, "path", { d: `M${L},${y(wanted)}H${W - R}`, class: "wanted" });
  const front = shown.filter((row) => onFront(shown, row)).sort((a, b) => a.error - b.error);
  put(svg, "path", { d: front.map((row, i) => `${i ? "L" : "M"}${x(row.error)},${y(row.tps)}`).join(""), class: "front" });
  const named = []; /* places of names; a dot whose name would lie on another one's tells it when pointed at */
  for (const row of [...shown].sort((a, b) => (b === best) - (a === best))) {
    const dot = put(svg, "circle", { cx: x(row.error), cy: y(row.tps), r: row === best ? 7 : 5, class: front.includes(row) ? "on" : "off" });
    put(dot, "title", {}, `${row.format.format}: ${row.tps.toFixed(1)} tokens/s, ${(row.bytes / 1e9).toFixed(2)} GB with cache, ` +
      `error ${row.error.toFixed(3)}, ${row.format.bound}, ${row.format.kernel}`);
    const [left, base] = [x(row.error) + 8, y(row.tps) - 6], wide = 8 * row.format.format.length;
    if (!front.includes(row) || named.some(([l, b, w]) => left < l + w && l < left + wide && Math.abs(base - b) < 13)) continue;
    named.push([left, base, wide]);
    put(svg, "text", { x: left, y: base }, row.format.format);
  }
}

function help(bound) {
  return { compute: "fewer instructions per weight", memory: "fewer bytes per weight", overhead: "fewer, larger products" }[bound] || "";
}

function fillFormats(rows, best) {
  const number = (value, digits) => value === null || value === undefined || !isFinite(value) ? "" : value.toFixed(digits);
  const body = document.querySelector("#formats tbody");
  body.replaceChildren(...rows.map((row) => {
    const line = document.createElement("tr"), head = document.createElement("th");
    head.scope = "row";
    head.textContent = row.format.format;
    line.className = row === best ? "suggested" : "";
    line.append(head);
    const share = isFinite(row.limit) ? number(100 * row.tps / row.limit, 0) + " %" : "";
    for (const text of [number(row.format.bits, 2), number(row.format.weight_bytes / 1e9, 2), number(row.error, 3), number(row.tps, 1) + (row.other ? "/" + number(row.other, 1) : ""),
      number(row.limit, 1), share, row.format.bound, help(row.format.bound)]) {
      const cell = document.createElement("td");
      cell.className = /^[\d.]/.test(text) ? "n" : "";
      cell.textContent = text;
      line.append(cell);
    }
    return line;
  }));
}

function showAnswer(data) {
  const value = (id) => document.getElementById(id).value, set = (id, text) => { document.getElementById(id).textContent = text; };
  const model = data.models[document.getElementById("model").selectedIndex];
  const fixed = model.cache_scales === false, entered = Math.max(0, Number(value("context")));
  const context = fixed ? model.context : entered, wanted = Math.max(1e-3, Number(value("wanted"))), most = Number(value("error"));
  document.getElementById("context").disabled = fixed; /* sliding windows: the cache does not go with the context */
  const rows = model.formats.map((format) => atContext(model, format, context, data.memory_gbps));
  const best = suggest(rows, wanted, most, data.memory_bytes);
  set("suggestion", !best ? `No format of ${model.model} with an error of at most ${most} fits this machine's memory.` :
    best.sure >= wanted ? `Take ${best.format.format}: the least error at ${wanted} tokens/s or more.` :
      `Take ${best.format.format}: the fastest; none with an error of at most ${most} reaches ${wanted} tokens/s.`);
  set("chip-share", best && isFinite(best.limit) ? `${(100 * best.tps / best.limit).toFixed(0)} %` : "-");
  set("chip-share-of", `of the limit at ${best ? best.format.format : "no format"}`);
  set("chip-tokens", best ? `${best.tps.toFixed(1)} tokens/s` : "-");
  set("chip-tokens-of", `${model.model} in ${best ? best.format.format : "no format"}`);
  set("basis", `${model.basis}; context ${context}`);
  fillFormats(rows, best);
  drawChart(rows, best, wanted);
}

if (answerData) {
  const data = JSON.parse(answerData.textContent);
  for (const id of ["model", "context", "wanted", "error"])
    document.getElementById(id).addEventListener("input", () => showAnswer(data));
  showAnswer(data);
}

const save = document.getElementById("save");
if (save) save.addEventListener("click", () => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([document.getElementById("record").textContent], { type: "application/json" }));
  link.download = save.dataset.name.split("/").pop();
  link.click();
});
