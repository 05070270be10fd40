// SPDX-License-Identifier: GPL-3.0-or-later
// Opens report.html in headless Chromium, uses it, and has axe-core look at it.
//   node report.mjs MODULES REPORT.html SCREENSHOTS FUNCTION
// Prints TAP; the exit status is 1 when anything failed.
import { createRequire } from "node:module";
import { mkdirSync, readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { resolve } from "node:path";

const [modules, report, shots, fn] = process.argv.slice(2);
const require = createRequire(resolve(modules, "package.json"));
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
let nr = 0, failed = 0;

function check(name, good, why) {
	nr++;
	if (!good) failed++;
	console.log(`${good ? "ok" : "not ok"} ${nr} - ${name}`);
	if (!good && why !== undefined) console.log("# " + String(why).replace(/\n/g, "\n# "));
}

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
	args: ["--no-sandbox", "--disable-gpu"] });

async function open(scheme, width, height) {
	const context = await browser.newContext({
		colorScheme : scheme,
		viewport : { width, height },
		bypassCSP : true,
		deviceScaleFactor : width < 500 ? 2 : 1
	});
	const page = await context.newPage(), noise = [], requests = [];

	page.on("console", (m) => {
		if (m.type() === "error" || m.type() === "warning")
			noise.push(m.text());
	});
	page.on("pageerror", (e) => noise.push(e.message));
	page.on("request", (r) => { if (!/^(file|data):/.test(r.url())) requests.push(r.url()); });
	await page.goto(pathToFileURL(resolve(report)).href);
	await page.waitForSelector("html[data-ready=yes]", { timeout: 20000 });
	return { context, page, noise, requests };
}

async function accessible(page, name) {
	await page.evaluate(axe);
	const found = await page.evaluate(
		async () => (await window.axe.run(document, { resultTypes : [ "violations" ] }))
				    .violations.map((v) => v.id + ": " + v.help + ": " +
							   v.nodes.slice(0, 3)
								   .map((n) => n.target.join(" ") + " " +
									       n.failureSummary)
								   .join(" | ")));
	check(`accessibility, ${name}`, found.length === 0, found.join("\n"));
}

const numbers = (page, column) => page.$$eval("#path-table tbody > tr:not(.detail)", (rows, c) =>
	rows.filter((r) => !r.hidden).map((r) => Number(r.cells[c].dataset.v)), column);
const ordered = (list, dir) => list.every((v, i) => !i || (v - list[i - 1]) * dir >= 0);

async function useIt(page) {
	await page.fill("#search", fn);
	check("search lists matches", await page.locator("#results li").count() > 0);
	await page.press("#search", "Enter");
	check("search finds it before", await page.locator("#map-before .found").count() > 0);
	check("search finds it after", await page.locator("#map-after .found").count() > 0);
	const said = await page.textContent("#found");
	check("and says where", /page -?\d+.* before, page -?\d+.* after/.test(said), said);
	await page.fill("#search", "no such function");
	check("search says when nothing is found",
	      (await page.textContent("#found")).includes("no hot function"));
	await page.fill("#search", fn);
	await page.press("#search", "Enter");

	check("paths begin sorted by weight", ordered(await numbers(page, 2), -1));
	await page.click("#path-table thead th:nth-child(4) button");
	check("sorts by entries, most first", ordered(await numbers(page, 3), -1));
	await page.click("#path-table thead th:nth-child(4) button");
	check("and least first", ordered(await numbers(page, 3), 1));
	check("aria-sort says so",
	      await page.getAttribute("#path-table thead th:nth-child(4)", "aria-sort") === "ascending");
	await page.click("#path-table thead th:nth-child(3) button");

	const first = page.locator("#path-table tbody .open").first(), name = await first.textContent();
	await first.focus();
	await page.keyboard.press("Enter");
	check("a path opens by keyboard", await page.locator("tr.detail .strip").count() === 2);
	check("it lists functions", await page.locator("tr.detail tbody tr").count() > 0);
	await page.fill("#filter", name);
	const shown = await page.$$eval("#path-table tbody > tr:not(.detail)",
					(rows) => rows.filter((r) => !r.hidden).length);
	check("the filter leaves it", shown >= 1, shown);
	await page.fill("#filter", "");

	await page.focus("#map-after");
	await page.keyboard.press("ArrowRight");
	await page.keyboard.press("ArrowDown");
	await page.keyboard.press("ArrowUp");
	await page.keyboard.press("Enter");
	check("a page opens by keyboard", await page.locator("#page-detail .raster").count() === 1);
	check("the tooltip is shown", await page.locator("#tip").isVisible());
}

mkdirSync(shots, { recursive: true });
for (const [scheme, width, height] of [["light", 1440, 900], ["dark", 1440, 900], ["light", 390, 844]]) {
	const { context, page, noise, requests } = await open(scheme, width, height),
					       name = `${scheme}-${width}`;

	await accessible(page, name);
	await page.screenshot({ path: `${shots}/report-${name}.png`, fullPage: true });
	if (scheme === "light" && width === 1440)
		await useIt(page);
	else {
		await page.fill("#search", fn);
		await page.press("#search", "Enter");
		await page.locator("#path-table tbody .open").first().click();
	}
	await page.screenshot({ path: `${shots}/report-${name}-open.png`, fullPage: true });
	await accessible(page, name + " opened");
	const wide = await page.evaluate(() => document.documentElement.scrollWidth -
					       document.documentElement.clientWidth);
	check(`no sideways scrolling, ${name}`, wide <= 0, wide);
	check(`no console message, ${name}`, noise.length === 0, noise.join("\n"));
	check(`no request off the file, ${name}`, requests.length === 0, requests.join("\n"));
	await context.close();
}
await browser.close();
console.log(`1..${nr}`);
process.exit(failed ? 1 : 0);
