"use strict";
const $ = (id) => document.getElementById(id);
const store = "sunlake-key";
$("key").value = sessionStorage.getItem(store) || "";
$("key").addEventListener("input", () => sessionStorage.setItem(store, $("key").value.trim()));

// An answer of the API: status, body, what is left of the minute.
async function ask(path, signal) {
  const answer = await fetch(path, { headers: { Authorization: "Bearer " + $("key").value.trim() }, signal, cache: "no-store" });
  const text = await answer.text();
  const left = /"minute";r=(\d+)/.exec(answer.headers.get("RateLimit") || "");
  let body = null;
  try { body = JSON.parse(text); } catch { body = null; }
  return { status: answer.status, text, body, left: left && left[1], missing: answer.headers.get("X-Not-Found"), retry: answer.headers.get("Retry-After") };
}

// Why there is no answer, for people.
function reason(answer) {
  if (answer.status === 401) return "This server does not know the key.";
  if (answer.status === 429) return "The account's limit is reached. Try again in " + answer.retry + " s.";
  const message = answer.body && answer.body.message;
  return message ? [].concat(message).join(" ") : "The server answered with status " + answer.status + ".";
}

function add(parent, name, text) {
  const element = parent.appendChild(document.createElement(name));
  if (text !== undefined && text !== null) element.textContent = text;
  return element;
}
