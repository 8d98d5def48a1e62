// Runs scenarios of the official conformance suite against a server; prints the checks of each as JSON.
// Arguments: a JSON file of {"url", "key", "cases": [[scenario, version]]}.
import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { keyed } from "./keyed.mjs";

const task = JSON.parse(readFileSync(process.argv[2], "utf8"));
const suite = path.join(import.meta.dirname, "node_modules/@modelcontextprotocol/conformance/dist/index.js");
const proxy = await keyed(task.url, task.key);
const url = `http://localhost:${proxy.address().port}/mcp`;

function found(folder) {
  return readdirSync(folder, { recursive: true })
    .filter((name) => path.basename(name) === "checks.json")
    .flatMap((name) => JSON.parse(readFileSync(path.join(folder, name), "utf8")));
}

function run([scenario, version]) {
  const out = mkdtempSync(path.join(tmpdir(), "conformance-"));
  const words = [suite, "server", "--url", url, "--scenario", scenario, "--spec-version", version, "-o", out];
  return new Promise((resolve) => {
    execFile(process.execPath, words, (error, stdout, stderr) => {
      const checks = found(out).map(({ id, status, errorMessage }) => ({ id, status, error: errorMessage }));
      resolve({ scenario, version, code: error ? error.code : 0, checks, said: stdout.slice(-2000) + stderr.slice(-2000) });
    });
  });
}

const results = [];
for (const one of task.cases) results.push(await run(one));
console.log(JSON.stringify(results));
proxy.close();
proxy.closeAllConnections();
