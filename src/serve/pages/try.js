const operation = $("operation");
const part = () => document.querySelector('fieldset[data-path="' + operation.value + '"]');

function address() {
  const query = new URLSearchParams();
  let path = operation.value;
  for (const field of part().querySelectorAll("input, select")) {
    const value = field.value.trim();
    if (field.dataset.place === "path") path = path.replace("{" + field.name + "}", encodeURIComponent(value));
    else if (value) query.append(field.name, value);
  }
  const text = query.toString();
  // An apostrophe would end the text of the curl line.
  return (text ? path + "?" + text : path).replaceAll("'", "%27");
}

function refresh() {
  for (const set of document.querySelectorAll("fieldset[data-path]")) set.hidden = set !== part();
  $("curl").textContent = "curl -H 'Authorization: Bearer KEY' '" + location.origin + address() + "'";
}

// A field of a path that still has its example gets the value of the first row that was found.
function fill(row) {
  for (const field of document.querySelectorAll('input[data-place="path"]')) {
    if (field.value === field.placeholder && row?.[field.name] !== undefined) field.value = row[field.name];
  }
}

async function send() {
  $("said").textContent = "…";
  $("answer").textContent = "";
  try {
    const answer = await ask(address());
    $("said").textContent = "Status " + answer.status + (answer.left ? "; " + answer.left + " requests are left this minute." : ".");
    fill([answer.body?.data].flat()[0]);
    $("answer").textContent = answer.body ? JSON.stringify(answer.body, null, 2) : answer.text;
  } catch {
    $("said").textContent = "The server does not answer.";
  }
}

$("try").hidden = false;
$("try").addEventListener("input", refresh);
$("try").addEventListener("submit", (event) => { event.preventDefault(); send(); });
refresh();
