/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * report.html: one file, no request off it, readable without scripts. The order
 * is that of questions: what is saved, for which paths, where, how sure is it,
 * what did not move and why, how to get it again.
 */
#include "report.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "lib/mem.h"
#include "page.h"
#include "pagemap.h"
#include "reorder/plan/plan.h"

enum { FIXED_ROWS = 60, FIRST_ROWS = 25 };

static void put_escaped(FILE *fp, const char *before, const char *text, const char *after)
{
	fputs(before, fp);
	put_html(fp, text);
	fputs(after, fp);
}

static void put_start(const struct plan *p, FILE *fp)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
	      "'unsafe-inline'; "
	      "script-src 'unsafe-inline'; img-src data:\">\n<link rel=\"icon\" href=\"data:,\">\n",
	      fp);
	put_escaped(fp, "<title>Hot pages of Linux ", p->vmlinux.release, "</title>\n<style>\n");
	/* cppcheck-suppress comparePointers; the assembler made both labels of one object */
	fwrite(page_css, 1, (size_t)(page_css_end - page_css), fp);
	fputs("</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#paths\">skip to the "
	      "paths</a>\n<header>\n",
	      fp);
	put_escaped(fp, "<h1>Hot pages of Linux ", p->vmlinux.release, " ");
	put_escaped(fp, "(", p->vmlinux.arch, ")</h1>\n");
}

static void put_machine(const struct plan *p, FILE *fp)
{
	const struct plan_machine *m = &p->machine;
	char page[FORMAT_MAX], none[128];

	put_escaped(fp, "<p class=\"lead\">Machine <strong>", m->name, "</strong>");
	if (*m->about)
		put_escaped(fp, " (", m->about, ")");
	fprintf(fp, ": kernel text is mapped by %s%s. ", format_mapping(page, m),
		m->pinned_text ? ", pinned in the TLB" : "");
	if (*m->why_no_saving)
		put_escaped(fp, "<strong>No order saves ITLB entries here: ", m->why_no_saving,
			    "</strong>; it can still save instruction-cache misses. ");
	if (report_saves_nothing(p, none, sizeof(none)))
		fprintf(fp, "<strong>There are %s.</strong> ", none);
	for (uint32_t i = 0; i < m->nr_levels; i++) {
		fprintf(fp, "%s%" PRIu32 " entries, ",
			i		       ? "then "
			: m->levels[i].unified ? "TLB of "
					       : "ITLB of ",
			m->levels[i].entries);
		if (m->levels[i].ways < m->levels[i].entries)
			fprintf(fp, "%" PRIu32 " ways, ", m->levels[i].ways);
		put_html(fp, m->levels[i].policy);
		fputs(i + 1 < m->nr_levels ? ", " : ". ", fp);
	}
	put_escaped(fp, "Order: ", p->algorithm, "");
	fprintf(fp, ", effort %" PRIu32 ".</p>\n</header>\n", p->effort);
	fputs("<nav aria-label=\"sections\"><ul><li><a href=\"#figures\">Figures</a></li><li><a "
	      "href=\"#paths\">Paths</a></li>"
	      "<li><a href=\"#pages\">Pages</a></li><li><a href=\"#curve\">Page size</a></li>"
	      "<li><a href=\"#sure\">How sure</a></li><li><a href=\"#fixed\">Not moved</a></li>"
	      "<li><a href=\"#again\">Reproduce</a></li></ul></nav>\n<main>\n",
	      fp);
}

/* "22.4 -> 9.7" in large figures, and the saving below. */
static void put_card(FILE *fp, const char *title, const char *before, const char *after, double b, double a,
		     const char *rest)
{
	char saving[FORMAT_MAX];

	fprintf(fp,
		"<div class=\"card\"><h2>%s</h2><p class=\"big\"><span class=\"was\">%s</span> <span "
		"class=\"to\" "
		"aria-hidden=\"true\">&rarr;</span><span class=\"hidden\">to</span> %s</p><p><span "
		"class=\"delta%s\">%s</span> ",
		title, before, after,
		a > b	? " bad"
		: a < b ? ""
			: " none",
		format_saving(saving, b, a));
	fprintf(fp, "saved%s%s</p></div>\n", *rest ? "; " : "", rest);
}

/* What the saved misses are worth on this machine. */
static void say_time(const struct plan *p, char *out, size_t size)
{
	const struct plan_machine *m = &p->machine;
	double saved = (double)p->before.misses - (double)p->after.misses;
	char lo[FORMAT_MAX], hi[FORMAT_MAX];

	if (!m->miss_cycles_max || saved <= 0)
		snprintf(out, size, "the recorded trace, replayed");
	else if (m->clock_hz > 0)
		snprintf(out, size, "%s to %s over the trace, at %" PRIu32 " to %" PRIu32 " cycles a miss",
			 format_cycles(lo, saved * m->miss_cycles_min / m->clock_hz),
			 format_cycles(hi, saved * m->miss_cycles_max / m->clock_hz), m->miss_cycles_min,
			 m->miss_cycles_max);
	else
		snprintf(out, size,
			 "%.3g to %.3g cycles over the trace, at %" PRIu32 " to %" PRIu32 " a miss",
			 saved * m->miss_cycles_min, saved * m->miss_cycles_max, m->miss_cycles_min,
			 m->miss_cycles_max);
}

static void put_miss_card(const struct plan *p, FILE *fp)
{
	char b[FORMAT_MAX], a[FORMAT_MAX], rest[200];

	if (p->before.misses == PLAN_UNKNOWN || p->after.misses == PLAN_UNKNOWN) {
		if (p->before.estimate > 0 && p->after.estimate >= 0) {
			format_percent(a, 100 * p->after.estimate / p->before.estimate);
			put_card(fp, "Kernel ITLB misses, estimated", "100 %", a, p->before.estimate,
				 p->after.estimate, "no trace to replay: paths drawn by weight");
			return;
		}
		fputs("<div class=\"card\"><h2>Kernel ITLB misses</h2><p class=\"big\">not "
		      "predicted</p><p>that needs a fetch trace "
		      "among the profiles; entries per path are what there is to go by</p></div>\n",
		      fp);
		return;
	}
	say_time(p, rest, sizeof(rest));
	put_card(fp, "Kernel ITLB misses, predicted", format_count(b, p->before.misses),
		 format_count(a, p->after.misses), (double)p->before.misses, (double)p->after.misses, rest);
}

static double matched_percent(const struct plan *p)
{
	double found = (double)p->profile.matched_exact + (double)p->profile.matched_name +
		       (double)p->profile.matched_normalized;
	double all = found + (double)p->profile.unmatched;

	return all > 0 ? 100 * found / all : 0;
}

static void put_figures(const struct plan *p, FILE *fp)
{
	const struct plan_side *b = &p->before, *a = &p->after;
	char x[FORMAT_MAX], y[FORMAT_MAX], rest[160], title[96];

	fputs("<section id=\"figures\" aria-label=\"headline figures\"><div class=\"cards\">\n", fp);
	snprintf(rest, sizeof(rest), "95 %% of paths within %.0f, was %.0f; worst %.0f, was %.0f", a->p95,
		 b->p95, a->max, b->max);
	put_card(fp, "ITLB entries per path, mean", format_entries(x, b->mean), format_entries(y, a->mean),
		 b->mean, a->mean, rest);
	put_miss_card(p, fp);
	snprintf(title, sizeof(title), "Hot pages of %s", format_page_size(x, &p->machine));
	snprintf(rest, sizeof(rest), "%s functions, of which %s run", format_count(x, p->hot.functions),
		 format_bytes(y, p->hot.touched_bytes));
	char pb[FORMAT_MAX], pa[FORMAT_MAX];
	put_card(fp, title, format_count(pb, b->pages), format_count(pa, a->pages), (double)b->pages,
		 (double)a->pages, rest);
	fprintf(fp,
		"<div class=\"card\"><h2>Profile found in this kernel</h2><p class=\"big\">%s</p><p>of its "
		"weight; %s "
		"kernel %s, %s lost</p></div>\n</div></section>\n",
		format_percent(x, matched_percent(p)), format_count(y, p->profile.kernel),
		plan_is_traced(p) ? "instructions" : "samples", format_count(pb, p->profile.lost));
}

static void put_sort_head(FILE *fp, const char *name, const char *class, bool sorted)
{
	fprintf(fp, "<th scope=\"col\" class=\"%s\"%s><button type=\"button\">%s</button></th>", class,
		sorted ? " aria-sort=\"descending\"" : "", name);
}

static void put_path_row(const struct plan *p, uint32_t i, double longest, FILE *fp)
{
	const struct plan_path *path = &p->paths[i];
	double share = p->path_weight ? 100 * (double)path->weight / (double)p->path_weight : 0;
	double saving = plan_saving(path->entries_before, path->entries_after);
	char text[FORMAT_MAX];

	fprintf(fp, "<tr data-i=\"%" PRIu32 "\"><th scope=\"row\" data-v=\"", i);
	put_html(fp, path->root);
	fputs("\"><button type=\"button\" class=\"open\" aria-expanded=\"false\">", fp);
	put_escaped(fp, "", path->root, "</button></th>");
	put_escaped(fp, "<td class=\"opt\" data-v=\"", path->kind, "\">");
	put_escaped(fp, "", path->kind, "</td>");
	fprintf(fp, "<td class=\"n\" data-v=\"%" PRIu64 "\">%s</td>", path->weight,
		format_percent(text, share));
	fprintf(fp, "<td class=\"n\" data-v=\"%.3f\">%.1f</td><td class=\"n\" data-v=\"%.3f\">%.1f</td>",
		path->entries_before, path->entries_before, path->entries_after, path->entries_after);
	fprintf(fp, "<td class=\"n\" data-v=\"%.2f\"><span class=\"delta%s\">%s</span></td>", saving,
		saving < 0   ? " bad"
		: saving > 0 ? ""
			     : " none",
		format_saving(text, path->entries_before, path->entries_after));
	fprintf(fp, "<td class=\"n opt\" data-v=\"%" PRIu32 "\">%" PRIu32 "</td>", path->nr_uses,
		path->nr_uses);
	fprintf(fp,
		"<td class=\"opt\" data-v=\"%.3f\"><span class=\"bar\" "
		"style=\"--b:%.1f%%;--a:%.1f%%\"><i></i><i></i></span>"
		"</td></tr>\n",
		path->entries_before, fmin(100, 100 * path->entries_before / longest),
		fmin(100, 100 * path->entries_after / longest));
}

static void put_kinds(const struct plan *p, FILE *fp)
{
	struct index seen = { 0 };

	fputs("<div><label for=\"kind\">kind</label><select id=\"kind\"><option value=\"\">all "
	      "kinds</option>",
	      fp);
	for (uint32_t i = 0; i < p->nr_paths; i++) {
		uint32_t nr = seen.nr_keys;

		if (index_add_str(&seen, p->paths[i].kind) == nr)
			put_escaped(fp, "<option>", p->paths[i].kind, "</option>");
	}
	fputs("</select></div>", fp);
	index_release(&seen);
}

static void put_paths(const struct plan *p, FILE *fp)
{
	double longest = 1;

	/* Bars are to the scale of the rows shown at first: one odd path must not dwarf all others. */
	for (uint32_t i = 0; i < p->nr_paths && i < FIRST_ROWS; i++) {
		longest = p->paths[i].entries_before > longest ? p->paths[i].entries_before : longest;
		longest = p->paths[i].entries_after > longest ? p->paths[i].entries_after : longest;
	}
	fputs("<section id=\"paths\" aria-labelledby=\"paths-title\"><h2 id=\"paths-title\">Paths</h2>\n<p>A "
	      "path is what runs "
	      "between a kernel entry and its exit. It costs one ITLB entry for every page it touches. Open "
	      "a path to see its "
	      "pages, and the functions that should stand together for it.</p>\n<div "
	      "class=\"tools\"><div><label for=\"filter\">"
	      "filter by name</label><input type=\"search\" id=\"filter\" autocomplete=\"off\"></div>\n",
	      fp);
	put_kinds(p, fp);
	fputs("<p class=\"soft\" id=\"shown\" role=\"status\"></p></div>\n"
	      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"table of paths\"><table "
	      "id=\"path-table\"><thead><tr>",
	      fp);
	put_sort_head(fp, "path", "", false);
	put_sort_head(fp, "kind", "opt", false);
	put_sort_head(fp, "share", "n", true);
	put_sort_head(fp, "before", "n", false);
	put_sort_head(fp, "after", "n", false);
	put_sort_head(fp, "saved", "n", false);
	put_sort_head(fp, "functions", "n opt", false);
	fputs("<th scope=\"col\" class=\"opt\">entries</th></tr></thead><tbody>\n", fp);
	for (uint32_t i = 0; i < p->nr_paths; i++)
		put_path_row(p, i, longest, fp);
	fputs("</tbody></table></div>\n<p><button type=\"button\" class=\"pick\" id=\"more\" "
	      "hidden></button></p>"
	      "<ul class=\"legend opt\"><li><span class=\"key\" style=\"background:var(--idle-line)\">"
	      "</span>before</li><li><span class=\"key\" "
	      "style=\"background:var(--accent)\"></span>after</li></ul></section>\n",
	      fp);
}

static void put_legend(FILE *fp)
{
	fputs("<ul class=\"legend\"><li>share of paths that run it:</li>", fp);
	for (int i = 0; i < HEAT_BINS; i++)
		fprintf(fp, "<li><span class=\"key q%d\"></span>%s</li>", i, heat_labels[i]);
	fputs("<li><span class=\"key qi\"></span>in a hot page, run by no path</li><li><span "
	      "class=\"key qf\"></span>cold"
	      "</li></ul>\n",
	      fp);
}

static void put_maps(const struct plan *p, FILE *fp)
{
	char block[FORMAT_MAX], b[FORMAT_MAX], a[FORMAT_MAX];
	uint64_t bytes = p->machine.page_bytes < 4096 ? p->machine.page_bytes : 4096;

	fputs("<section id=\"pages\" aria-labelledby=\"pages-title\"><h2 id=\"pages-title\">Pages</h2>\n",
	      fp);
	fprintf(fp,
		"<p>Every square is %s of kernel text, in address order, as the linker leaves it and as the "
		"plan puts it. "
		"Point at one, or move with the arrow keys; click or press Enter to open it.</p>\n",
		format_bytes(block, bytes));
	fputs("<div class=\"tools\"><div><label for=\"search\">find a function</label><input type=\"search\" "
	      "id=\"search\" "
	      "autocomplete=\"off\" spellcheck=\"false\"></div><p class=\"soft\" id=\"found\" "
	      "role=\"status\"></p></div>\n"
	      "<ul class=\"results\" id=\"results\"></ul>\n<div id=\"function-detail\" class=\"panel\" "
	      "hidden></div>\n",
	      fp);
	put_legend(fp);
	fprintf(fp,
		"<noscript><p>The page maps need scripts; the tables do not.</p></noscript>\n<div "
		"class=\"maps\">"
		"<div><h3 id=\"before-title\">Before: %s hot pages</h3><div class=\"map\" id=\"map-before\" "
		"role=\"listbox\" "
		"tabindex=\"0\" aria-labelledby=\"before-title\"></div></div>\n",
		format_count(b, p->before.pages));
	fprintf(fp,
		"<div><h3 id=\"after-title\">After: %s hot pages</h3><div class=\"map\" id=\"map-after\" "
		"role=\"listbox\" "
		"tabindex=\"0\" aria-labelledby=\"after-title\"></div></div></div>\n<div id=\"page-detail\" "
		"class=\"panel\" hidden>"
		"</div></section>\n",
		format_count(a, p->after.pages));
}

static void put_sources(const struct plan *p, FILE *fp)
{
	char n[FORMAT_MAX], k[FORMAT_MAX];

	if (!p->nr_sources)
		return;
	fputs("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"sources of the "
	      "profile\"><table><thead><tr>"
	      "<th scope=\"col\">profile from</th><th scope=\"col\">event</th><th scope=\"col\" "
	      "class=\"n\">samples</th>"
	      "<th scope=\"col\" class=\"n\">in the kernel</th><th scope=\"col\">kernel that was "
	      "profiled</th></tr></thead>"
	      "<tbody>\n",
	      fp);
	for (uint32_t i = 0; i < p->nr_sources; i++) {
		const struct plan_source *s = &p->sources[i];

		put_escaped(fp, "<tr><th scope=\"row\">", s->reader, "</th>");
		put_escaped(fp, "<td>", s->event, "</td>");
		fprintf(fp, "<td class=\"n\">%s</td><td class=\"n\">%s</td>", format_count(n, s->samples),
			format_count(k, s->kernel));
		put_escaped(fp, "<td class=\"mono\">", s->release, " ");
		put_escaped(fp, "", s->build_id, "</td></tr>\n");
	}
	fputs("</tbody></table></div>\n", fp);
}

/* That no single entry into the kernel pays for the rest. */
static void put_guard(const struct plan_guard *g, FILE *fp)
{
	uint32_t worse = g->worse + g->worse_by_less;
	char a[FORMAT_MAX], b[FORMAT_MAX];

	if (!g->known)
		return;
	fprintf(fp, "<li><strong>Roots</strong>: of %s that were profiled, %s need%s more ITLB entries than before.",
		format_count(a, g->roots), worse ? format_count(b, worse) : "none", worse == 1 ? "s" : "");
	if (g->unseen_roots) {
		fprintf(fp, " Of %s that never were, by what their code runs, ", format_count(a, g->unseen_roots));
		fprintf(fp, "%s need%s one or more beyond theirs; ",
			g->unseen_worse ? format_count(a, g->unseen_worse) : "none", g->unseen_worse == 1 ? "s" : "");
		fprintf(fp, "on average they needed %s and need %s.", format_entries(a, g->unseen_before),
			format_entries(b, g->unseen_after));
	}
	fputs("</li>\n", fp);
}

static void put_sure(const struct plan *p, FILE *fp)
{
	char a[FORMAT_MAX], b[FORMAT_MAX], c[FORMAT_MAX];
	uint64_t all = p->profile.matched_exact + p->profile.matched_name + p->profile.matched_normalized +
		       p->profile.unmatched;

	fputs("<section id=\"sure\" aria-labelledby=\"sure-title\"><h2 id=\"sure-title\">How sure the "
	      "prediction is</h2>\n"
	      "<ul class=\"fact\">\n",
	      fp);
	fprintf(fp, "<li><strong>Addresses</strong> %s</li>\n",
		p->exact_units && p->exact_align
			? "are exact: sizes come from the link map, alignments from the objects."
		: p->exact_units ? "have exact sizes, from the link map; alignments are inferred from where "
				   "things lie now."
				 : "are inferred from symbols: sizes and alignments of sections may differ, "
				   "and page boundaries with them. Give "
				   "the link map of the kernel for exact ones.");
	fprintf(fp, "<li><strong>Misses</strong> %s</li>\n",
		p->before.misses != PLAN_UNKNOWN
			? "are counted by replaying the recorded trace, fetch by fetch, on the model of the "
			  "machine, under both layouts."
		: p->before.estimate >= 0
			? "are an estimate: no source recorded the order of execution, so paths are drawn by "
			  "weight and "
			  "run through the model of the machine. It ranks orders; it is no count."
			: "are not predicted: no source recorded the order of execution.");
	fprintf(fp, "<li><strong>What ran</strong> %s</li>\n",
		plan_is_traced(p)
			? "was watched, not sampled: every function of the workload is known. Another "
			  "workload may run others."
			: "was sampled: functions that ran but were never sampled are known only as "
			  "far as they follow from what was.");
	put_guard(&p->guard, fp);
	if (all)
		fprintf(fp,
			"<li><strong>Names</strong>: %s of the profile's weight was found by exact identity, "
			"%s by name alone, "
			"%s by normalised name",
			format_percent(a, 100 * (double)p->profile.matched_exact / (double)all),
			format_percent(b, 100 * (double)p->profile.matched_name / (double)all),
			format_percent(c, 100 * (double)p->profile.matched_normalized / (double)all));
	if (all)
		fprintf(fp, "; %s was not found.</li>\n",
			format_percent(a, 100 * (double)p->profile.unmatched / (double)all));
	fprintf(fp,
		"<li><strong>%s</strong>: %s of %s in the kernel were resolved to a function, %s were lost "
		"by the "
		"recorder.</li>\n",
		plan_is_traced(p) ? "Instructions" : "Samples", format_count(a, p->profile.resolved),
		format_count(b, p->profile.kernel), format_count(c, p->profile.lost));
	fputs("<li><strong>Check it</strong>: relink, then <code>hottext verify PLAN NEW_VMLINUX</code> "
	      "compares every address."
	      "</li>\n</ul>\n",
	      fp);
	put_sources(p, fp);
	fputs("</section>\n", fp);
}

struct fixed {
	uint32_t unit;
	uint64_t weight;
};

static int by_weight(const void *a, const void *b)
{
	const struct fixed *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return x->unit < y->unit ? -1 : x->unit > y->unit;
}

static void put_fixed_row(const struct plan *p, uint32_t unit, FILE *fp)
{
	const struct plan_unit *u = &p->units[unit];
	char share[FORMAT_MAX], size[FORMAT_MAX];

	fprintf(fp,
		"<tr><th scope=\"row\"><button type=\"button\" class=\"pick mono\" data-unit=\"%" PRIu32
		"\">",
		unit);
	put_html(fp, u->name);
	put_escaped(fp, "</button></th><td class=\"opt\">", u->group, "</td>");
	fprintf(fp, "<td class=\"n\">%s</td><td class=\"n opt\">%s</td><td class=\"why\">",
		format_percent(share, 100 * plan_heat(p, u)), format_count(size, u->size));
	put_html(fp, u->why);
	fputs("</td></tr>\n", fp);
}

static void put_fixed(const struct plan *p, FILE *fp)
{
	struct fixed *list = xcalloc(p->nr_units, sizeof(*list));
	uint32_t nr = 0;
	char n[FORMAT_MAX], m[FORMAT_MAX];

	for (uint32_t i = 0; i < p->nr_units; i++)
		if (!p->units[i].moved)
			list[nr++] = (struct fixed){ i, p->units[i].path_weight };
	sort_array(list, nr, sizeof(*list), by_weight);
	fputs("<section id=\"fixed\" aria-labelledby=\"fixed-title\"><h2 id=\"fixed-title\">What was not "
	      "moved, and why</h2>\n",
	      fp);
	if (nr == p->hot.fixed)
		fprintf(fp, "<p>%s hot units must stay where the kernel's script puts them. ",
			format_count(n, nr));
	else
		fprintf(fp, "<p>%s hot units stay where the kernel's script puts them; of these %s must. ",
			format_count(n, nr), format_count(m, p->hot.fixed));
	if (nr > FIXED_ROWS)
		fprintf(fp, "The %d that most paths run:", FIXED_ROWS);
	fputs("</p>\n", fp);
	if (nr)
		fputs("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"functions that were "
		      "not moved\"><table>"
		      "<thead><tr><th scope=\"col\">function</th><th scope=\"col\" "
		      "class=\"opt\">group</th><th scope=\"col\" "
		      "class=\"n\">in paths</th><th scope=\"col\" class=\"n opt\">bytes</th><th "
		      "scope=\"col\">why</th></tr></thead>"
		      "<tbody>\n",
		      fp);
	for (uint32_t i = 0; i < nr && i < FIXED_ROWS; i++)
		put_fixed_row(p, list[i].unit, fp);
	fputs(nr ? "</tbody></table></div>\n</section>\n" : "</section>\n", fp);
	free(list);
}

static void put_again(const struct plan *p, FILE *fp)
{
	fputs("<section id=\"again\" aria-labelledby=\"again-title\"><h2 id=\"again-title\">How to "
	      "reproduce</h2>\n",
	      fp);
	if (*p->command)
		put_escaped(fp, "<pre><code>", p->command, " -o PLAN</code></pre>\n");
	fputs("<p>Then build with <code>make CFLAGS_KERNEL=-ffunction-sections LD=hottext-ld</code> and "
	      "<code>HOTTEXT_PLAN=PLAN</code> in the environment.</p>\n<dl>", fp);
	put_escaped(fp, "<dt>tool</dt><dd>", p->tool, "</dd>");
	put_escaped(fp, "<dt>kernel</dt><dd>Linux ", p->vmlinux.release, ", ");
	put_escaped(fp, "", p->vmlinux.arch, "</dd>");
	put_escaped(fp, "<dt>build-id</dt><dd class=\"mono\">", p->vmlinux.build_id, "</dd>");
	put_escaped(fp, "<dt>machine</dt><dd>", p->machine.name, "</dd>");
	put_escaped(fp, "<dt>order</dt><dd>", p->algorithm, ", ");
	fprintf(fp, "effort %" PRIu32 "</dd></dl></section>\n", p->effort);
}

void report_html(const struct plan *p, FILE *fp)
{
	put_start(p, fp);
	put_machine(p, fp);
	put_figures(p, fp);
	put_paths(p, fp);
	put_maps(p, fp);
	fputs("<section id=\"curve\" aria-labelledby=\"curve-title\"><h2 id=\"curve-title\">Entries against "
	      "page size</h2>\n",
	      fp);
	html_curve(p, fp);
	fputs("</section>\n", fp);
	html_measured(p, fp);
	put_sure(p, fp);
	put_fixed(p, fp);
	put_again(p, fp);
	put_escaped(fp, "</main>\n<footer><p>Written by ", p->tool,
		    ". The picture of its pages is drawn from hotpages.dot beside it; all numbers: "
		    "plan.json.</p></footer>\n<div id=\"tip\" aria-hidden=\"true\" hidden></div>\n"
		    "<script type=\"application/json\" id=\"plan-data\">");
	html_data(p, fp);
	fputs("</script>\n<script>\n", fp);
	/* cppcheck-suppress comparePointers; as above */
	fwrite(page_js, 1, (size_t)(page_js_end - page_js), fp);
	fputs("</script>\n</body>\n</html>\n", fp);
}
