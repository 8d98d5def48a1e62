let running = null;
let timer = null;

function show(rows, total) {
  $("found").replaceChildren();
  for (const row of rows) {
    const line = add($("found"), "tr");
    const button = add(add(line, "td"), "button", row.name);
    button.type = "button";
    button.addEventListener("click", () => open(row));
    for (const field of ["entity_type", "status", "city", "county", "filed_date"]) add(line, "td", row[field]);
  }
  $("list").hidden = rows.length === 0;
  return total.toLocaleString("en-US") + (total === 1 ? " business" : " businesses") + (total > rows.length ? ", the newest " + rows.length + " of them here." : ".");
}

async function search() {
  if (running) running.abort();
  const words = $("q").value.trim();
  const missing = !$("key").value.trim() ? "Type an API key first." : [...words].length < 2 ? "Type two letters or more." : "";
  if (missing) {
    show([], 0);
    $("said").textContent = words ? missing : "";
    return;
  }
  running = new AbortController();
  const query = new URLSearchParams({ q: words, limit: "25", status: $("status").value });
  if ($("type").value) query.set("type", $("type").value);
  try {
    const answer = await ask("/v1/fl/businesses?" + query, running.signal);
    let said = reason(answer);
    if (answer.status === 200) said = show(answer.body.data, answer.body.pagination.total);
    else show([], 0);
    if (answer.left) said += (said.endsWith(".") ? " " : ". ") + answer.left + " requests are left this minute.";
    $("said").textContent = said;
  } catch (error) {
    if (error.name === "AbortError") return;
    show([], 0);
    $("said").textContent = "The server does not answer.";
  }
}

function later() {
  clearTimeout(timer);
  timer = setTimeout(search, 300);
}

function words(value) {
  if (value === null || value === undefined || value === "") return "";
  if (Array.isArray(value)) return value.map(words).filter(Boolean).join(", ");
  if (typeof value === "object") return Object.values(value).map(words).filter(Boolean).join(", ");
  return String(value);
}

// A change of a business in one line.
function line(change) {
  const value = (text) => text || "none";
  const texts = { vanished: "no longer listed", returned: "listed again" };
  const field = change.field === "extra" ? "other fields" : change.field.replaceAll("_", " ");
  const text = texts[change.change] || field + ": " + value(change.old) + " → " + value(change.new);
  return change.observed_on + ": " + text;
}

// A list of an answer, a line for each item.
function fill(id, answer, text) {
  $(id).replaceChildren();
  if (answer.status !== 200) add($(id), "li", answer.missing === id ? "They were never fetched into this lake." : reason(answer));
  else if (answer.body.data.length === 0) add($(id), "li", "none");
  else for (const item of answer.body.data) add($(id), "li", text(item));
}

let opened = null;
async function open(row) {
  opened = row;
  const path = "/v1/fl/businesses/" + row.id;
  let answers;
  try {
    answers = await Promise.all([path, path + "/officers", "/changes/" + row.id].map((of) => ask(of)));
  } catch {
    $("said").textContent = "The server does not answer.";
    return;
  }
  // The reader has opened another one.
  if (opened !== row) return;
  const [detail, officers, changes] = answers;
  $("name").textContent = row.name;
  $("facts").replaceChildren();
  for (const [field, value] of Object.entries(detail.status === 200 ? detail.body.data : row)) {
    const text = words(value);
    if (!text || field === "name") continue;
    add($("facts"), "dt", field.replaceAll("_", " "));
    const shown = add($("facts"), "dd");
    if (field !== "url" || !text.startsWith("https://")) shown.textContent = text;
    else Object.assign(add(shown, "a", text), { href: text, rel: "noreferrer" });
  }
  if (detail.status !== 200) add($("facts"), "dd", detail.missing === "detail" ? "Its details were never fetched into this lake." : reason(detail));
  fill("officers", officers, (officer) => officer.name + ", " + officer.title);
  fill("changes", changes, line);
  $("business").hidden = false;
  $("name").focus();
}

$("search").addEventListener("submit", (event) => { event.preventDefault(); search(); });
for (const id of ["q", "key"]) $(id).addEventListener("input", later);
for (const id of ["status", "type"]) $(id).addEventListener("change", search);
