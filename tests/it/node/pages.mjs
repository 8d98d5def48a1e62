// Uses the pages of a server in Chromium as a person does, at two widths, light and dark. Prints what was seen of each.
// Arguments: a JSON file of {"url", "key", "name"}: a business of this name has changed.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import puppeteer from "puppeteer-core";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const task = JSON.parse(readFileSync(process.argv[2], "utf8"));
const browser = await puppeteer.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });

async function look(width, scheme) {
  const tab = await browser.createBrowserContext();
  const page = await tab.newPage();
  const faults = [];
  const watch = (page) => {
    page.on("console", (message) => faults.push(message.text()));
    page.on("pageerror", (error) => faults.push(String(error)));
    page.on("request", (request) => request.url().startsWith(task.url + "/") || faults.push(request.url()));
  };
  watch(page);
  await page.setViewport({ width, height: 900 });
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
  const seen = { name: `${width} ${scheme}`, wider: [], faults };
  const judge = async () => {
    seen.wider.push(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth));
    // Evaluated by the driver, which no policy of a page holds back.
    await page.evaluate(axe);
    const { violations } = await page.evaluate(() => window.axe.run());
    faults.push(...violations.map((fault) => `${fault.id}: ${fault.nodes[0].target}`));
  };
  const text = (id) => page.$eval(id, (element) => element.textContent);

  await page.goto(task.url + "/");
  await page.type("#q", task.name);
  await page.waitForFunction(() => document.querySelector("#said").textContent === "Type an API key first.");
  await page.type("#key", task.key);
  await page.select("#status", "all");
  await page.waitForSelector("#found button");
  await page.focus("#found button");
  await page.keyboard.press("Enter");
  await page.waitForSelector("#business:not([hidden])");
  Object.assign(seen, { title: await text("#name"), facts: await text("#facts"), changes: await text("#changes") });
  seen.officers = await text("#officers");
  await judge();

  await page.goto(task.url + "/docs");
  seen.kept = await page.$eval("#key", (field) => field.value.length > 0);
  await page.select("#operation", "/v1/fl/counties/{key}");
  await page.click("#try button[type=submit]");
  await page.waitForFunction(() => document.querySelector("#answer").textContent.includes("filings_last_30_days"));
  seen.status = await text("#said");
  await judge();

  const other = await tab.newPage();
  await other.goto(task.url + "/");
  seen.other_tab = await other.$eval("#key", (field) => field.value);
  await tab.close();
  return seen;
}

const seen = [];
for (const width of [1280, 390]) for (const scheme of ["light", "dark"]) seen.push(await look(width, scheme));
await browser.close();
console.log(JSON.stringify(seen));
