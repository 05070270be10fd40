// SPDX-License-Identifier: GPL-3.0-or-later
// Takes the pictures of doc/reading-the-report.md from a plan of the bundled sample.
//   node pictures.mjs MODULES REPORT.html FOLDER
// pages-of-read.png there is the upper part of `hottext report --syscall read -o read.png`.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { resolve } from "node:path";

const [modules, report, folder] = process.argv.slice(2);
const { chromium } = createRequire(resolve(modules, "package.json"))("playwright-core");
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
	args: ["--no-sandbox", "--disable-gpu"] });

// One picture of a fresh page, as high as said, with what is named at its top.
async function picture(name, height, top, use) {
	const page = await browser.newPage({ viewport: { width: 1280, height }, colorScheme: "light" });

	await page.goto(pathToFileURL(resolve(report)).href);
	await page.waitForSelector("html[data-ready=yes]");
	if (use)
		await use(page);
	if (top)
		await page.$eval(top, (e) => window.scrollTo(0, e.getBoundingClientRect().top + window.scrollY - 46));
	await page.waitForTimeout(300);
	await page.screenshot({ path: resolve(folder, name) });
	await page.close();
}

await picture("report-figures.png", 1000);
await picture("report-path.png", 1060, "#path-table", (page) => page.locator("#path-table .open", { hasText: /^read$/ }).click());
await picture("report-pages.png", 1500, "#pages", async (page) => {
	await page.fill("#search", "vfs_read");
	await page.press("#search", "Enter");
});
await browser.close();
