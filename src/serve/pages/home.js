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
  if (!words || !$("key").value.trim()) {
    $("said").textContent = words ? "Type an API key first." : "";
    return;
  }
  running = new AbortController();
  const query = new URLSearchParams({ q: words, limit: "25", status: $("status").value });
  if ($("type").value) query.set("type", $("type").value);
  try {
    const answer = await ask("/v1/fl/businesses?" + query, running.signal);
    let said = answer.status === 200 ? show(answer.body.data, answer.body.pagination.total) : reason(answer);
    if (answer.left) said += " " + answer.left + " requests are left this minute.";
    $("said").textContent = said;
  } catch (error) {
    if (error.name !== "AbortError") $("said").textContent = "The server does not answer.";
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

async function open(row) {
  $("business").hidden = false;
  $("facts").replaceChildren();
  $("officers").replaceChildren();
  $("name").textContent = row.name;
  const [detail, officers] = await Promise.all([ask("/v1/fl/businesses/" + row.id), ask("/v1/fl/businesses/" + row.id + "/officers")]);
  const known = detail.status === 200 ? detail.body.data : row;
  for (const [field, value] of Object.entries(known)) {
    const text = words(value);
    if (text && field !== "name") {
      add($("facts"), "dt", field.replaceAll("_", " "));
      add($("facts"), "dd", text);
    }
  }
  if (detail.status !== 200) add($("facts"), "dd", detail.missing === "detail" ? "Its details were never fetched into this lake." : reason(detail));
  if (officers.status === 200) {
    for (const officer of officers.body.data) add($("officers"), "li", officer.name + ", " + officer.title);
    if (officers.body.data.length === 0) add($("officers"), "li", "none");
  } else add($("officers"), "li", officers.missing ? "They were never fetched into this lake." : reason(officers));
  $("name").focus();
}

$("search").addEventListener("submit", (event) => { event.preventDefault(); search(); });
for (const id of ["q", "key"]) $(id).addEventListener("input", later);
for (const id of ["status", "type"]) $(id).addEventListener("change", search);
