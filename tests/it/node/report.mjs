// Opens a report in Chromium: at two widths, light and dark, with and without its script. Prints what was seen of each.
import { readFileSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import puppeteer from "puppeteer-core";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const address = "file://" + realpathSync(process.argv[2]);
const browser = await puppeteer.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });

const shown = (page) =>
  page.$$eval("article.county", (all) => all.filter((part) => part.checkVisibility()).map((part) => part.id)[0]);
const fills = (page) => page.$$eval("a.shape, g.tile", (all) => all.map((shape) => getComputedStyle(shape).fill).join());

async function look(width, scheme, script) {
  const page = await browser.newPage();
  const touch = width < 500;
  const faults = [];
  page.on("console", (message) => faults.push(message.text()));
  page.on("pageerror", (error) => faults.push(String(error)));
  page.on("request", (request) => request.url().startsWith(address) || faults.push(request.url()));
  await page.setViewport({ width, height: 900, hasTouch: touch, isMobile: touch });
  await page.setJavaScriptEnabled(script);
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
  await page.goto(address, { waitUntil: "networkidle0" });
  const press = (element) => (touch ? element.tap() : element.click());

  const switched = [];
  let before = await fills(page);
  await page.focus("#by-month");
  await page.keyboard.press("ArrowRight");
  switched.push(before !== (await fills(page)));
  before = await fills(page);
  await press(await page.$("label[for=by-month]"));
  switched.push(before !== (await fills(page)));

  const counties = [];
  await page.$eval("a.shape[href='#county-duval']", (shape) => shape.focus());
  await page.keyboard.press("Enter");
  counties.push(await shown(page));
  const polk = await page.$("a.shape[href='#county-polk'] path");
  await polk.scrollIntoView();
  await press(polk);
  counties.push(await shown(page));

  await page.$$eval("details", (all) => all.forEach((part) => { part.open = true; }));
  const cut = await page.$$eval(".wide", (all) =>
    all.filter((part) => part.scrollWidth > part.clientWidth + 1).map((part) => part.textContent.slice(0, 60)));
  const wider = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  const shapes = (await page.$$("a.shape path")).length;
  // A tile has the shade of its county's shape, and one value.
  const tiles = await page.$$eval("g.tile", (all) => all.filter((tile) => {
    const shape = document.querySelector(`a.shape[href="${tile.querySelector("a").getAttribute("href")}"]`);
    const values = [...tile.querySelectorAll(".of")].filter((text) => getComputedStyle(text).display !== "none");
    return getComputedStyle(tile).fill === getComputedStyle(shape).fill && values.length === 1;
  }).length);
  if (script) {
    await page.evaluate(axe);
    const { violations } = await page.evaluate(() => window.axe.run());
    faults.push(...violations.map((fault) => `${fault.id}: ${fault.nodes[0].target}`));
  }
  await page.close();
  return { name: `${width} ${scheme} ${script ? "script" : "no script"}`, shapes, tiles, faults, wider, cut, switched, counties };
}

const seen = [];
for (const width of [1280, 390])
  for (const scheme of ["light", "dark"])
    for (const script of [true, false]) seen.push(await look(width, scheme, script));
await browser.close();
console.log(JSON.stringify(seen));
