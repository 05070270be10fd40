/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sorting, filtering, page maps and search of report.html. The tables stand without it. */
(function () {
"use strict";
const D = JSON.parse(document.getElementById("plan-data").textContent);
const ROW = Math.min(256, D.block), ROW_PT = 15, RASTER = 512;
const $ = (id) => document.getElementById(id);
const count = (n) => n.toLocaleString("en-US");
const NR = D.n.length;

function el(tag, attrs, ...kids) {
	const e = document.createElement(tag);
	for (const k in attrs || {})
		if (k === "on") for (const t in attrs.on) e.addEventListener(t, attrs.on[t]);
		else if (attrs[k] !== null && attrs[k] !== undefined) e.setAttribute(k, attrs[k]);
	e.append(...kids.filter((k) => k !== null && k !== undefined));
	return e;
}
function svg(tag, attrs, text) {
	const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
	for (const k in attrs)
		if (attrs[k] !== null) e.setAttribute(k, attrs[k]);
	if (text) e.textContent = text;
	return e;
}
function bytes(n) {
	const u = ["bytes", "KB", "MB", "GB"];
	let i = 0;
	for (; n >= 1024 && i < 3; i++) n /= 1024;
	return (n === Math.floor(n) || n >= 100 ? n.toFixed(0) : n.toFixed(1)) + " " + u[i];
}
function percent(share) {
	const p = 100 * share;
	return p > 0 && p < 0.1 ? "<0.1 %" : p > 99.9 && p < 100 ? ">99.9 %" : p.toFixed(1) + " %";
}
function bin(share) {
	let i = D.limits.length - 1;
	while (i && share < D.limits[i]) i--;
	return i;
}
const heat = (u) => D.h[u] / 1e4;
const offset = (u, side) => side ? D.a[u] : D.b[u];
const blockOf = (off) => Math.floor((off + D.lead) / D.block);
const pageOf = (off) => {
	const page = Math.floor((off + D.pagelead) / D.page), [first, end, pages] = D.fold || [ 0, 0, 1 ];
	return page >= first && page < end ? page - (page - first) % pages : page;
};
const blocksArePages = D.page === D.block && !D.fold;
const hex = (off) => (off < 0 ? "-0x" : "+0x") + Math.abs(off).toString(16);
const sideName = (side) => side ? "after" : "before";

/* Blocks: number -> units with bytes on it. Big units count only where they run. */
function buildBlocks(side) {
	const m = new Map();
	const add = (u, from, to) => {
		for (let b = blockOf(from); b <= blockOf(to - 1); b++) {
			if (!m.has(b)) m.set(b, { units: [], ran: false, heat: 0 });
			const x = m.get(b);
			if (x.units[x.units.length - 1] !== u) x.units.push(u);
		}
	};
	const order = Array.from({ length : NR }, (_, i) => i)
			      .sort((p, q) => offset(p, side) - offset(q, side) || p - q);
	for (const u of order) {
		const at = offset(u, side), r = D.r[u];
		if (D.s[u] <= D.big) add(u, at, at + D.s[u]);
		for (let i = 0; i < r.length; i += 2) {
			add(u, at + r[i], at + r[i + 1]);
			for (let b = blockOf(at + r[i]); b <= blockOf(at + r[i + 1] - 1); b++) {
				const x = m.get(b);
				x.ran = true;
				x.heat = Math.max(x.heat, heat(u));
			}
		}
	}
	/* Where a block is a page, the paths know better than the functions. */
	if (blocksArePages) {
		for (const x of m.values()) x.heat = 0;
		for (const p of D.p) {
			const list = p[side ? 12 : 11];
			for (let i = 0; i < list.length; i += 2)
				if (m.has(list[i]))
					m.get(list[i]).heat += list[i + 1] / 1000 * p[3] / D.weight;
		}
	}
	return m;
}
const blocks = [buildBlocks(0), buildBlocks(1)];

/* Tooltip */
const tip = $("tip");
function showTip(text, target) {
	const r = target.getBoundingClientRect();
	tip.textContent = text;
	tip.hidden = false;
	const w = tip.offsetWidth, h = tip.offsetHeight;
	tip.style.left = Math.max(4, Math.min(r.left, innerWidth - w - 4)) + "px";
	tip.style.top = (r.bottom + h + 8 < innerHeight ? r.bottom + 6 : r.top - h - 6) + "px";
}
const hideTip = () => { tip.hidden = true; };

/* Page maps */
function blockLabel(side, b) {
	const x = blocks[side].get(b);
	const where = blocksArePages ? "page " + b
				     : "page " + pageOf(b * D.block - D.lead) + ", " + bytes(D.block) +
					       " at " + hex(b * D.block - D.lead);
	const top = x.units.slice().sort((p, q) => heat(q) - heat(p)).slice(0, 3).map((u) => D.n[u]);
	return where +
	       (x.ran ? ": in " + percent(Math.min(1, x.heat)) + " of paths, " : ": runs in no path, ") +
	       x.units.length + (x.units.length === 1 ? " function" : " functions") + ": " + top.join(", ") +
	       (x.units.length > 3 ? "..." : "");
}
function buildMap(side) {
	const box = $("map-" + sideName(side)), list = [...blocks[side].keys()].sort((p, q) => p - q);
	const options = [], GAP = 192;
	let now = -1, next = list.length ? Math.min(0, list[0]) : 0;
	const firstOfPage = (b) => !blocksArePages &&
				   pageOf(b * D.block - D.lead) !== pageOf((b - 1) * D.block - D.lead);
	const fill = (to) => {
		if (to - next > GAP) {
			box.append(el("i", { class : "gap", role : "presentation" },
				      bytes((to - next) * D.block) + " cold"));
			next = to;
		}
		for (; next < to; next++)
			box.append(el("i",
				      { role : "presentation", class : firstOfPage(next) ? "start" : null }));
	};
	for (const b of list) {
		fill(b);
		const x = blocks[side].get(b);
		const o = el("span", {
			role : "option",
			id : "b" + side + "_" + b,
			"aria-selected" : "false",
			"aria-label" : blockLabel(side, b),
			class : (x.ran ? "q" + bin(x.heat) : "qi") + (firstOfPage(b) ? " start" : "")
		});
		o.dataset.b = b;
		options.push(o);
		box.append(o);
		next = b + 1;
	}
	const mark = (i, open) => {
		if (now >= 0) {
			options[now].classList.remove("now");
			options[now].setAttribute("aria-selected", "false");
		}
		now = i;
		const o = options[now];
		o.classList.add("now");
		o.setAttribute("aria-selected", "true");
		box.setAttribute("aria-activedescendant", o.id);
		showTip(o.getAttribute("aria-label"), o);
		if (open)
			showBlock(side, +o.dataset.b, -1);
	};
	const vertical = (dir) => {
		const o = options[now].getBoundingClientRect();
		for (let i = now + dir; i >= 0 && i < options.length; i += dir) {
			const r = options[i].getBoundingClientRect();
			if (Math.abs(r.left - o.left) < 2 && r.top !== o.top) return i;
		}
		return now;
	};
	box.addEventListener("keydown", (e) => {
		if (!options.length) return;
		const i = Math.max(now, 0);
		const to = {
			ArrowRight : i + (now >= 0),
			ArrowLeft : i - 1,
			Home : 0,
			End : options.length - 1
		}[e.key];
		if (e.key === "ArrowDown" || e.key === "ArrowUp")
			mark(now < 0 ? 0 : vertical(e.key === "ArrowDown" ? 1 : -1));
		else if (to !== undefined) mark(Math.max(0, Math.min(options.length - 1, to)));
		else if (e.key === "Enter" || e.key === " ") mark(i, true);
		else if (e.key === "Escape") hideTip();
		else return;
		e.preventDefault();
	});
	box.addEventListener("focus", () => { if (options.length) mark(Math.max(now, 0)); });
	box.addEventListener("blur", hideTip);
	box.addEventListener("mouseover", (e) => {
		if (e.target.dataset.b)
			showTip(e.target.getAttribute("aria-label"), e.target);
	});
	box.addEventListener("mouseleave", hideTip);
	box.addEventListener("click", (e) => {
		if (e.target.dataset.b)
			mark(options.indexOf(e.target), true);
	});
	if (!list.length) box.append(el("i", { class: "gap", role: "presentation" }, "no hot function"));
}

/* One block in full: the raster, and its functions as a table. */
function parts(u) {
	const out = [];
	let last = 0;
	for (const [name, off, size, share] of D.f[u] || []) {
		if (off < last) continue;
		if (off > last) out.push({ name: D.n[u], from: last, to: off, heat: heat(u) });
		out.push({ name, from: off, to: Math.min(off + size, D.s[u]), heat: share / 1e4 });
		last = Math.min(off + size, D.s[u]);
	}
	if (last < D.s[u]) out.push({ name: D.n[u], from: last, to: D.s[u], heat: heat(u) });
	return out;
}
/* Stretches of one part on the block, in bytes from its start. */
function cells(u, part, side, b) {
	const at = offset(u, side), start = b * D.block - D.lead, out = [];
	const add = (from, to, ran) => {
		from = Math.max(at + Math.max(from, part.from), start);
		to = Math.min(at + Math.min(to, part.to), start + D.block);
		if (from < to) out.push({ from: from - start, to: to - start, ran });
	};
	let last = 0;
	const small = D.s[u] <= D.big;
	for (let i = 0; i < D.r[u].length; i += 2) {
		if (small) add(last, D.r[u][i], false);
		add(D.r[u][i], D.r[u][i + 1], true);
		last = D.r[u][i + 1];
	}
	if (small) add(last, D.s[u], false);
	return out;
}
/* A stretch covers the end of a row, whole rows and the start of one: a rectangle a row. */
function rowsOf(cell) {
	const out = [];
	for (let at = cell.from; at < cell.to;) {
		const row = Math.floor(at / ROW), end = Math.min(cell.to, (row + 1) * ROW);
		out.push({
			x : (at % ROW) / ROW * RASTER,
			w : (end - at) / ROW * RASTER,
			y : row * ROW_PT,
			ran : cell.ran
		});
		at = end;
	}
	return out;
}
function box(r, inset, attrs) {
	return svg("rect", Object.assign({
		x : r.x + inset,
		y : r.y + inset,
		width : Math.max(r.w - 2 * inset, .5),
		height : ROW_PT - 2 * inset
	},
					 attrs));
}
function raster(side, b, found) {
	const height = Math.max(1, D.block / ROW) * ROW_PT;
	const s = svg("svg",
		      { viewBox : "0 0 " + RASTER + " " + height, class : "raster", "aria-hidden" : "true" });
	for (const u of blocks[side].get(b).units)
		for (const part of parts(u)) {
			const q = bin(part.heat), all = cells(u, part, side, b).flatMap(rowsOf);
			for (const r of all) {
				s.append(box(r, .5,
					     r.ran ? { style : "fill:var(--h" + q + ")" }
						   : { class : "idle" }));
				if (u === found) s.append(box(r, 1.5, { class: "mark" }));
			}
			const worth = (r) => r.w * (r.ran ? 2 : 1);
			const best = all.reduce((p, r) => !p || worth(r) > worth(p) ? r : p, null);
			const room = best ? Math.floor((best.w - 6) / 5.5) : 0;
			const ink = best && best.ran ? "--t" + q : "--ink";
			if (room > 2)
				s.append(svg(
					"text",
					{ x : best.x + 4, y : best.y + 11, style : "fill:var(" + ink + ")" },
					part.name.slice(0, room)));
		}
	return s;
}
function pick(u) {
	return el("button", { class : "pick mono", type : "button", on : { click : () => showFunction(u) } },
		  D.n[u]);
}
/* What of a unit with several functions runs, hottest first. */
function holds(u) {
	const all = (D.f[u] || []).slice().sort((p, q) => q[3] - p[3]);
	if (!all.length) return null;
	const names = all.slice(0, 3).map((f) => f[0]).join(", ");
	const more = all.length > 3 ? " and " + (all.length - 3) + " more" : "";
	return el("div", { class: "soft holds" }, names + more);
}
function functionTable(list, label, extra) {
	const head = el("tr", null, el("th", { scope : "col" }, "function"),
			el("th", { scope : "col", class : "n" }, extra.title),
			el("th", { scope : "col", class : "n opt" }, "bytes"),
			el("th", { scope : "col", class : "n" }, "page before"),
			el("th", { scope : "col", class : "n" }, "after"));
	const body = el("tbody");
	for (const [u, share] of list)
		body.append(el("tr", null,
			       el("th", { scope : "row" }, pick(u),
				  D.m[u] ? null : el("span", { class : "soft" }, " stays"), holds(u)),
			       el("td", { class : "n" }, percent(share)),
			       el("td", { class : "n opt" }, count(D.s[u])),
			       el("td", { class : "n" }, String(pageOf(D.b[u]))),
			       el("td", { class : "n" }, String(pageOf(D.a[u])))));
	return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label },
		el("table", null, el("thead", null, head), body));
}
function showBlock(side, b, found) {
	const box = $("page-detail"), x = blocks[side].get(b);
	const page = pageOf(b * D.block - D.lead);
	const name = blocksArePages ? "Page " + page : bytes(D.block) + " of page " + page;
	box.hidden = false;
	box.replaceChildren(el("h3", null, name + ", " + sideName(side)),
			    el("p", { class : "soft" },
			       hex(b * D.block - D.lead) + " from _stext, " + bytes(D.block) + "; a row is " +
				       ROW + " bytes. " +
				       (x.ran ? "In " + percent(Math.min(1, x.heat)) + " of paths."
					      : "No path runs it.")),
			    el("div", { class : "pages" }, el("div", null, raster(side, b, found)),
			       functionTable(x.units.map((u) => [u, heat(u)]), "functions of this page",
					     { title : "in paths" })));
}

/* One function: where it was and where it goes, who calls it, which paths run it. */
function calls(u) {
	const to = [], from = [];
	for (let i = 0; i < D.e.length; i += 3) {
		if (D.e[i] === u) to.push([D.e[i + 1], D.e[i + 2]]);
		if (D.e[i + 1] === u) from.push([D.e[i], D.e[i + 2]]);
	}
	const top = (l) => l.sort((p, q) => q[1] - p[1] || p[0] - q[0]).slice(0, 6);
	return [top(from), top(to)];
}
function names(list) {
	const dd = el("dd");
	if (!list.length) dd.append("none recorded");
	list.forEach(([u, w], i) => dd.append(i ? ", " : "", pick(u), " " + count(w)));
	return dd;
}
function runners(u) {
	const out = [];
	for (const p of D.p)
		for (let i = 0; i < p[10].length; i += 2)
			if (p[10][i] === u) out.push([p[0], p[10][i + 1] / 1000, p[3]]);
	return out.sort((x, y) => y[1] * y[2] - x[1] * x[2]).slice(0, 6)
		.map((x) => x[0] + " (" + percent(x[1]) + " of its runs)").join(", ") || "none listed";
}
function showFunction(u) {
	const [from, to] = calls(u), box = $("function-detail"), dl = el("dl");
	const row = (name, ...what) => dl.append(el("dt", null, name),
						 what[0] instanceof HTMLElement && what[0].tagName === "DD"
							 ? what[0]
							 : el("dd", null, ...what));
	const place = (side) => "page " + pageOf(offset(u, side)) + ", " + hex(offset(u, side));
	row("before", place(0));
	row("after", place(1));
	row("size", count(D.s[u]) + " bytes, " + count(D.t[u]) + " of them run");
	row("runs in", percent(heat(u)) + " of paths");
	row("object", D.objs[D.o[u]] || "not known");
	row(D.m[u] ? "moved" : "not moved", D.whys[D.y[u]]);
	if (D.f[u]) row("holds", D.f[u].map((f) => f[0]).join(", "));
	row("paths", runners(u));
	row("called by", names(from));
	row("calls", names(to));
	box.hidden = false;
	box.replaceChildren(el("h3", { class: "mono" }, D.n[u]), dl);
	document.querySelectorAll(".map .found").forEach((e) => e.classList.remove("found"));
	for (const side of [0, 1])
		for (const [b, x] of blocks[side])
			if (x.units.includes(u)) $("b" + side + "_" + b).classList.add("found");
	const b = blockOf(D.a[u] + (D.r[u].length ? D.r[u][0] : 0));
	if (blocks[1].has(b)) showBlock(1, b, u);
	$("search").value = D.n[u];
	$("results").replaceChildren();
	$("found").textContent = D.n[u] + ": " + place(0) + " before, " + place(1) + " after";
	$("pages").scrollIntoView();
}

/* Search */
const searchable = [];
for (let u = 0; u < NR; u++) {
	searchable.push([D.n[u].toLowerCase(), u, D.n[u]]);
	for (const f of D.f[u] || []) searchable.push([f[0].toLowerCase(), u, f[0]]);
}
function matches(text) {
	const q = text.trim().toLowerCase();
	if (!q) return [];
	const rank = (s) => s === q ? 0 : s.startsWith(q) ? 1 : 2;
	return searchable.filter((s) => s[0].includes(q))
		.sort((x, y) => rank(x[0]) - rank(y[0]) || heat(y[1]) - heat(x[1]) || (x[2] < y[2] ? -1 : 1));
}
function search() {
	const all = matches($("search").value), list = $("results");
	list.replaceChildren();
	for (const [, u, name] of all.slice(0, 20))
		list.append(el(
			"li", null,
			el("button",
			   { class : "pick mono", type : "button", on : { click : () => showFunction(u) } },
			   name),
			el("span", { class : "soft" },
			   "  page " + pageOf(D.b[u]) + " before, " + pageOf(D.a[u]) + " after")));
	$("found").textContent = !$("search").value.trim() ? ""
				 : all.length		   ? count(all.length) +
							(all.length === 1 ? " function" : " functions") +
							(all.length > 20 ? ", the first 20 shown" : "")
					      : "no hot function has that in its name";
}
$("search").addEventListener("input", search);
$("search").addEventListener("keydown", (e) => {
	const all = matches($("search").value);
	if (e.key === "Enter" && all.length) { e.preventDefault(); showFunction(all[0][1]); }
});

/* Paths */
function strip(p, side) {
	const list = p[side ? 12 : 11], box = el("div", { class: "strip" });
	for (let i = 0; i < list.length; i += 2)
		box.append(el("span", {
			class : "q" + bin(list[i + 1] / 1000),
			title : "page " + list[i] + ": in " + percent(list[i + 1] / 1000) + " of its runs"
		},
			      String(list[i])));
	return box;
}
function pathDetail(p) {
	const uses = [], box = el("div");
	for (let i = 0; i < p[10].length; i += 2) uses.push([p[10][i], p[10][i + 1] / 1000]);
	/* What may move first: the rest stands where it must. */
	uses.sort((x, y) => D.m[y[0]] - D.m[x[0]]);
	const say = (side) => el("h3", null,
				 (side ? "After: " : "Before: ") + p[side ? 6 : 5].toFixed(1) +
					 " entries on average, " + p[side ? 8 : 7] + " at worst; " +
					 p[side ? 12 : 11].length / 2 + " pages over all variants");
	box.append(say(0), strip(p, 0), say(1), strip(p, 1),
		   el("p", { class : "soft" },
		      "Page numbers, coloured by the share of this path's runs that touch them."),
		   el("h3", null, "Functions that should stand together"));
	const tables = el("div");
	const show = (n) => tables.replaceChildren(
		functionTable(uses.slice(0, n), "functions of " + p[0], { title : "of its runs" }));
	show(10);
	box.append(tables);
	if (uses.length > 10) {
		const more = el("button", { class: "pick", type: "button" }, "show " + (uses.length < p[9] ?
			"the " + uses.length + " most frequent of " + p[9] : "all " + uses.length));
		more.addEventListener("click", () => { show(uses.length); more.remove(); });
		box.append(el("p", null, more));
	}
	return box;
}
const table = $("path-table"), tbody = table.tBodies[0];
const rows = [...tbody.rows], FIRST = 25;
let all = false;
function toggle(row) {
	const button = row.querySelector(".open"), open = button.getAttribute("aria-expanded") === "true";
	button.setAttribute("aria-expanded", String(!open));
	if (open) { row.nextElementSibling.remove(); return; }
	row.after(el("tr", { class : "detail", id : "detail-" + row.dataset.i },
		     el("td", { colspan : row.cells.length }, pathDetail(D.p[+row.dataset.i]))));
}
const details = (row) => row.querySelector(".open").getAttribute("aria-expanded") === "true"
				 ? [ row, row.nextElementSibling ]
				 : [ row ];
tbody.addEventListener("click", (e) => {
	const b = e.target.closest(".open");
	if (b)
		toggle(b.closest("tr"));
});
function sortBy(column, th) {
	const down = th.getAttribute("aria-sort") ? th.getAttribute("aria-sort") !== "descending"
						  : column > 1;
	const value = (r) => r.cells[column].dataset.v;
	const groups = [...rows].map((r) => [r, details(r)]);
	groups.sort(([ p ], [ q ]) => (column < 2 ? (value(p) < value(q)   ? -1
						     : value(p) > value(q) ? 1
									   : 0)
						  : value(p) - value(q)) *
					      (down ? -1 : 1) ||
				      p.dataset.i - q.dataset.i);
	table.querySelectorAll("th[aria-sort]").forEach((h) => h.removeAttribute("aria-sort"));
	th.setAttribute("aria-sort", down ? "descending" : "ascending");
	tbody.append(...groups.flatMap((g) => g[1]));
	filter();
}
table.querySelectorAll("thead button").forEach((b) => {
	const th = b.closest("th");
	b.addEventListener("click", () => sortBy(th.cellIndex, th));
});
function filter() {
	const q = $("filter").value.trim().toLowerCase(), kind = $("kind").value;
	let n = 0, shown = 0;
	for (const r of tbody.querySelectorAll("tr[data-i]")) {
		const hit = (!q || r.cells[0].dataset.v.toLowerCase().includes(q)) &&
			    (!kind || r.cells[1].dataset.v === kind);
		const show = hit && (all || n < FIRST);
		for (const d of details(r)) d.hidden = !show;
		n += hit;
		shown += show;
	}
	$("shown").textContent = q || kind ? count(n) + " of " + count(rows.length) + " paths" : "";
	$("more").hidden = shown === n;
	$("more").textContent = "show all " + count(n) + " paths";
}
$("more").addEventListener("click", () => { all = true; filter(); });
$("filter").addEventListener("input", filter);
$("kind").addEventListener("change", filter);

filter();
buildMap(0);
buildMap(1);
document.querySelectorAll("[data-unit]").forEach((e) => {
	e.addEventListener("click", () => showFunction(+e.dataset.unit));
});
document.documentElement.dataset.ready = "yes";
})();
