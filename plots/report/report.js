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
