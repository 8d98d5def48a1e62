"use strict";
// Sorting, searching and CSV of the tables, and the text of what is pointed at. The page is complete without.
const number = (cell) => {
  const text = cell.textContent.trim().replaceAll(",", "").replace("−", "-").replace(/[ %+]/g, "");
  return text !== "" && Number.isFinite(Number(text)) ? Number(text) : null;
};
const named = (name, attributes) => Object.assign(document.createElement(name), attributes);

function sortable(table) {
  const heads = [...table.querySelectorAll("thead th")];
  heads.forEach((head) => {
    const column = head.cellIndex;
    const button = named("button", { type: "button", className: "sort" });
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const body = table.tBodies[0];
      const before = head.getAttribute("aria-sort");
      // Numbers begin with the largest, texts with A.
      const down = before ? before === "ascending" : head.classList.contains("number");
      const order = (a, b) => {
        const [x, y] = [a.cells[column], b.cells[column]];
        const [m, n] = [number(x), number(y)];
        if (m !== null && n !== null) return m - n;
        if (m !== null || n !== null) return m === null ? -1 : 1;
        return x.textContent.localeCompare(y.textContent);
      };
      const rows = [...body.rows].sort((a, b) => (down ? order(b, a) : order(a, b)));
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      body.append(...rows);
    });
  });
}

function csvOf(table) {
  const cell = (cell) => {
    const value = number(cell);
    let text = cell.textContent.trim().replace(/\s+/g, " ");
    if (cell.classList.contains("number")) text = value === null ? (text === "–" ? "" : text) : String(value);
    // A spreadsheet would run such a text as a formula.
    if (value === null && /^[=+\-@\t\r]/.test(text)) text = "'" + text;
    return /[",\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
  };
  const words = (row) => [...row.cells].filter((cell) => !cell.classList.contains("picture")).map(cell).join(",");
  return [...table.rows].map(words).join("\r\n") + "\r\n";
}

function tools(table) {
  const name = table.caption ? table.caption.textContent : "table";
  const bar = named("p", { className: "tools" });
  if (table.classList.contains("search")) {
    const field = named("input", { type: "search", placeholder: "search" });
    field.setAttribute("aria-label", "Search in " + name);
    field.addEventListener("input", () => {
      const wanted = field.value.toLowerCase();
      for (const row of table.tBodies[0].rows) row.hidden = !row.textContent.toLowerCase().includes(wanted);
    });
    bar.append(field);
    bar.style.marginBottom = "0";
  }
  const button = named("button", { type: "button", textContent: "CSV" });
  button.setAttribute("aria-label", "CSV of " + name);
  button.addEventListener("click", () => {
    const address = URL.createObjectURL(new Blob([csvOf(table)], { type: "text/csv" }));
    const file = name.toLowerCase().replace(/[^a-z0-9]+/g, "-") + ".csv";
    named("a", { href: address, download: file }).click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  });
  bar.append(button);
  table.before(bar);
}

for (const table of document.querySelectorAll("table")) {
  sortable(table);
  tools(table);
}

// The browser's own text over a picture comes late, and never by touch or keyboard.
const tip = named("div", { id: "tip", hidden: true });
tip.setAttribute("aria-hidden", "true");
document.body.append(tip);
for (const title of document.querySelectorAll("svg title")) {
  title.parentNode.dataset.tip = title.textContent;
  if (title.parentNode.matches("a")) title.parentNode.setAttribute("aria-label", title.textContent);
  title.remove();
}
function show(event) {
  const of = event.target.closest("[data-tip]");
  tip.hidden = !of;
  if (!of) return;
  tip.textContent = of.dataset.tip;
  const [box, width] = [of.getBoundingClientRect(), document.documentElement.clientWidth];
  tip.style.left = Math.max(8, Math.min(box.left, width - tip.offsetWidth - 8)) + "px";
  tip.style.top = (box.top > tip.offsetHeight + 12 ? box.top - tip.offsetHeight - 8 : box.bottom + 8) + "px";
}
for (const kind of ["pointerover", "pointerdown", "focusin"]) document.addEventListener(kind, show);
document.addEventListener("scroll", () => { tip.hidden = true; }, { passive: true });
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  if (!tip.hidden) tip.hidden = true;
  else if (location.hash.startsWith("#county-")) location.hash = "#counties";
});
