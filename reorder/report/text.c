/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The report on a terminal, and the path table as CSV. */
#include "report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format.h"
#include "reorder/plan/plan.h"
#include "style.h"

enum { TOP_PATHS = 10, PATH_COLUMN = 28, BAR_COLUMNS = 24 };

static void put_head(const struct plan *p, FILE *fp, struct text_style st)
{
	const struct plan_machine *m = &p->machine;
	char buf[FORMAT_MAX];

	bold(fp, st);
	fprintf(fp, "Linux ");
	put_text(fp, p->vmlinux.release, 0);
	fprintf(fp, " ");
	put_text(fp, p->vmlinux.arch, 0);
	plain(fp, st);
	fprintf(fp, ", ");
	put_text(fp, m->name, 0);
	fprintf(fp, " (text in %s", format_mapping(buf, m));
	for (uint32_t i = 0; i < m->nr_levels; i++)
		fprintf(fp, "%s%" PRIu32, i ? " + " : ", ", m->levels[i].entries);
	if (m->nr_levels)
		fprintf(fp, " entries");
	fputs("), ", fp);
	put_text(fp, p->algorithm, 0);
	fprintf(fp, ", effort %" PRIu32 "\n\n", p->effort);
}

/* "before after saved" of a row, or what is alone; red where it got worse. */
static void put_change(FILE *fp, struct text_style st, const char *before, const char *after, double b,
		       double a)
{
	char buf[FORMAT_MAX];

	fprintf(fp, "%12s", before);
	if (st.alone)
		return;
	fprintf(fp, " %12s ", after);
	if (a > b)
		worse(fp, st);
	else if (a < b)
		better(fp, st);
	fprintf(fp, "%9s", format_saving(buf, b, a));
	plain(fp, st);
}

static void put_row(FILE *fp, struct text_style st, const char *what, const char *before, const char *after,
		    double b, double a)
{
	put_text(fp, what, 36);
	put_change(fp, st, before, after, b, a);
	fputc('\n', fp);
}

static void put_counts(FILE *fp, struct text_style st, const char *what, uint64_t before, uint64_t after)
{
	char b[FORMAT_MAX], a[FORMAT_MAX];

	if (before == PLAN_UNKNOWN || after == PLAN_UNKNOWN)
		return;
	put_row(fp, st, what, format_count(b, before), format_count(a, after), (double)before, (double)after);
}

static void put_entries(FILE *fp, struct text_style st, const char *what, double before, double after)
{
	char b[FORMAT_MAX], a[FORMAT_MAX];

	format_entries(b, before);
	format_entries(a, after);
	put_row(fp, st, what, b, a, before, after);
}

static void put_totals(const struct plan *p, FILE *fp, struct text_style st)
{
	const struct plan_side *b = &p->before, *a = &p->after;
	char what[64], size[FORMAT_MAX], tb[FORMAT_MAX], ta[FORMAT_MAX];

	dim(fp, st);
	if (st.alone)
		fprintf(fp, "%-36s%12s\n", "", "now");
	else
		fprintf(fp, "%-36s%12s %12s %9s\n", "", "before", "after", "saved");
	plain(fp, st);
	snprintf(what, sizeof(what), "hot pages of %s", format_page_size(size, &p->machine));
	put_counts(fp, st, what, b->pages, a->pages);
	put_entries(fp, st, "ITLB entries per path, mean", b->mean, a->mean);
	put_entries(fp, st, "  95th percentile", b->p95, a->p95);
	put_entries(fp, st, "  worst", b->max, a->max);
	put_counts(fp, st, "kernel ITLB misses, predicted", b->misses, a->misses);
	/* Good for comparing layouts, not for counting: so as shares. */
	if (b->misses == PLAN_UNKNOWN && b->estimate > 0 && a->estimate >= 0 && !st.alone)
		put_row(fp, st, "kernel ITLB misses, estimated", "100 %",
			format_percent(ta, 100 * a->estimate / b->estimate), b->estimate, a->estimate);
	put_counts(fp, st, "kernel L1I misses, predicted", b->l1i_misses, a->l1i_misses);
	put_row(fp, st, "kernel text", format_bytes(tb, b->text_bytes), format_bytes(ta, a->text_bytes),
		(double)b->text_bytes, (double)a->text_bytes);
}

/* So many cycles a miss, as a share of a run that takes a cycle an instruction beside its misses. */
static double run_share(const struct plan *p, double saved, double cycles)
{
	return 100 * saved * cycles / ((double)p->before.insns + (double)p->before.misses * cycles);
}

static void put_time(const struct plan *p, FILE *fp)
{
	const struct plan_machine *m = &p->machine;
	char lo[FORMAT_MAX], hi[FORMAT_MAX];

	if (p->before.misses == PLAN_UNKNOWN || p->after.misses == PLAN_UNKNOWN || !m->miss_cycles_max)
		return;
	double saved = (double)p->before.misses - (double)p->after.misses;
	double least = saved * m->miss_cycles_min, most = saved * m->miss_cycles_max;

	if (m->clock_hz > 0 && saved > 0)
		fprintf(fp,
			"time      %s to %s saved over the trace, at %" PRIu32 " to %" PRIu32
			" cycles a miss\n",
			format_cycles(lo, least / m->clock_hz), format_cycles(hi, most / m->clock_hz),
			m->miss_cycles_min, m->miss_cycles_max);
	else
		fprintf(fp,
			"cycles    %.4g to %.4g saved over the trace, at %" PRIu32 " to %" PRIu32 " a miss\n",
			least, most, m->miss_cycles_min, m->miss_cycles_max);
	if (p->before.insns != PLAN_UNKNOWN && p->before.insns && saved > 0)
		fprintf(fp, "          %s to %s of the run, were each instruction a cycle\n",
			format_percent(lo, run_share(p, saved, m->miss_cycles_min)),
			format_percent(hi, run_share(p, saved, m->miss_cycles_max)));
}

static void put_profile(const struct plan *p, FILE *fp)
{
	char n[4][FORMAT_MAX];
	uint64_t found = p->profile.matched_exact + p->profile.matched_name + p->profile.matched_normalized;
	double all = (double)(found + p->profile.unmatched);

	fprintf(fp, "hot       %s functions in %s units, %s of which", format_count(n[0], p->hot.functions),
		format_count(n[1], p->hot.units), format_bytes(n[2], p->hot.bytes));
	fprintf(fp, " %s run; %s units must stay where they are\n", format_bytes(n[0], p->hot.touched_bytes),
		format_count(n[1], p->hot.fixed));
	fprintf(fp, "profile   %s %s, %s in the kernel, ", format_count(n[0], p->profile.samples),
		plan_is_traced(p) ? "instructions" : "samples", format_count(n[1], p->profile.kernel));
	fprintf(fp, "%s resolved, %s lost\n",
		format_percent(n[0], p->profile.kernel ? 100.0 * (double)p->profile.resolved /
			       (double)p->profile.kernel : 0),
		format_count(n[1], p->profile.lost));
	if (all > 0)
		fprintf(fp, "matched   %s of its weight: %s exactly, %s by name, %s by normalised name\n",
			format_percent(n[0], 100 * (double)found / all),
			format_percent(n[1], 100 * (double)p->profile.matched_exact / all),
			format_percent(n[2], 100 * (double)p->profile.matched_name / all),
			format_percent(n[3], 100 * (double)p->profile.matched_normalized / all));
	fprintf(fp, "addresses %s\n", p->exact_units && p->exact_align ?
		"exact, from the link map and the objects" : p->exact_units ?
		"sizes exact, from the link map; alignments inferred" :
		"inferred from symbols: give the link map for exact ones");
}

static void put_guard(const struct plan *p, FILE *fp)
{
	const struct plan_guard *g = &p->guard;
	char n[4][FORMAT_MAX];

	if (!g->known)
		return;
	fprintf(fp, "guard     of %s roots profiled %s need more ITLB entries than before; %s never profiled:",
		format_count(n[0], g->roots), g->worse + g->worse_by_less ? format_count(n[1], g->worse + g->worse_by_less) : "none",
		format_count(n[2], g->unseen_roots));
	fprintf(fp, " %s to %s, %s more\n", format_entries(n[0], g->unseen_before), format_entries(n[1], g->unseen_after),
		g->unseen_worse ? format_count(n[2], g->unseen_worse) : "none");
}

/* Where all that was moved came to lie, where pages are so large that one may hold it. */
static void put_region(const struct plan *p, FILE *fp)
{
	const struct plan_machine *m = &p->machine;
	uint64_t start = UINT64_MAX, end = 0, most = m->block_bytes ? m->block_bytes : m->page_bytes;
	char size[FORMAT_MAX], of[FORMAT_MAX];

	for (uint32_t i = 0; i < p->nr_units; i++) {
		const struct plan_unit *u = &p->units[i];

		if (!u->moved)
			continue;
		start = u->addr < start ? u->addr : start;
		end = u->addr + u->size > end ? u->addr + u->size : end;
	}
	if (end <= start || most <= 4096)
		return;
	uint64_t pages = plan_entries(p, start, end);
	bool in_blocks = start >= m->blocks_start && start < m->blocks_end;

	fprintf(fp, "region    %s that moved lie on ", format_bytes(size, end - start));
	if (pages == 1)
		fprintf(fp, "one page of %s\n", format_bytes(of, in_blocks ? most : m->page_bytes));
	else
		fprintf(fp, "%" PRIu64 " pages of %s: %s\n", pages, format_page_size(of, m), end - start > most ?
			"one cannot hold them" : "on one, the text would grow too much");
}

/* after as a full bar, what was saved as a light one; the longest is BAR_COLUMNS wide. */
static void put_bar(FILE *fp, struct text_style st, double before, double after, double longest)
{
	double most = before > after ? before : after;
	int full = longest > 0 ? (int)(after / longest * BAR_COLUMNS + 0.5) : 0;
	int all = longest > 0 ? (int)(most / longest * BAR_COLUMNS + 0.5) : 0;

	fputs("  ", fp);
	for (int i = 0; i < all; i++) {
		if (i == full)
			dim(fp, st);
		fputs(i < full ? "█" : "░", fp);
	}
	plain(fp, st);
}

static void put_paths(const struct plan *p, FILE *fp, struct text_style st)
{
	uint32_t nr = p->nr_paths < TOP_PATHS ? p->nr_paths : TOP_PATHS;
	char share[FORMAT_MAX], b[FORMAT_MAX], a[FORMAT_MAX];
	double longest = 0;

	for (uint32_t i = 0; i < nr; i++) {
		const struct plan_path *path = &p->paths[i];
		double most = path->entries_before > path->entries_after ? path->entries_before
									 : path->entries_after;

		longest = most > longest ? most : longest;
	}
	dim(fp, st);
	put_text(fp, "hottest paths, ITLB entries", PATH_COLUMN);
	if (st.alone)
		fprintf(fp, " %-10s %8s %8s\n", "kind", "share", "now");
	else
		fprintf(fp, " %-10s %8s %8s %8s %9s\n", "kind", "share", "before", "after", "saved");
	plain(fp, st);
	for (uint32_t i = 0; i < nr; i++) {
		const struct plan_path *path = &p->paths[i];
		double saved = path->entries_before - path->entries_after;

		put_text(fp, path->root, PATH_COLUMN);
		fputc(' ', fp);
		put_text(fp, path->kind, 10);
		fprintf(fp, " %8s", format_percent(share, p->path_weight ?
			100 * (double)path->weight / (double)p->path_weight : 0));
		fprintf(fp, " %8s", format_entries(b, path->entries_before));
		if (!st.alone) {
			fprintf(fp, " %8s ", format_entries(a, path->entries_after));
			if (saved < 0)
				worse(fp, st);
			else if (saved > 0)
				better(fp, st);
			fprintf(fp, "%9s", format_saving(b, path->entries_before, path->entries_after));
			plain(fp, st);
		}
		if (st.bars)
			put_bar(fp, st, path->entries_before, path->entries_after, longest);
		fputc('\n', fp);
	}
	if (p->nr_paths > nr)
		fprintf(fp, "and %" PRIu32 " more; `hottext report --csv PLAN` lists them all\n",
			p->nr_paths - nr);
}

bool report_saves_nothing(const struct plan *p, char *buf, size_t size)
{
	const double few = 0.005;	/* misses a path: 0.00 where two digits are shown */
	bool known = p->before.misses != PLAN_UNKNOWN;
	double each = known ? (double)p->before.misses / (double)p->path_weight : p->before.estimate;
	char n[FORMAT_MAX];

	/* Beside samples, a trace's paths have no counts but shares. */
	if (known && !plan_is_traced(p))
		return false;
	if (*p->machine.why_no_saving || !p->path_weight || each < 0 || each >= few)
		return false;
	if (known)
		snprintf(buf, size, "practically no misses to save here: %s in the whole trace", format_count(n, p->before.misses));
	else
		snprintf(buf, size, "practically no misses to save here: an estimated %.2f a path as it is linked now", each);
	return true;
}

void report_text(const struct plan *p, FILE *fp, struct text_style st)
{
	char none[128];

	put_head(p, fp, st);
	put_totals(p, fp, st);
	fputc('\n', fp);
	if (!st.alone)
		put_time(p, fp);
	put_profile(p, fp);
	put_guard(p, fp);
	put_region(p, fp);
	if (*p->machine.why_no_saving) {
		fputs("machine   no order saves ITLB entries here: ", fp);
		put_text(fp, p->machine.why_no_saving, 0);
		fputs("; only instruction-cache misses can be saved\n", fp);
	}
	if (report_saves_nothing(p, none, sizeof(none)))
		fprintf(fp, "machine   %s\n", none);
	if (p->nr_paths) {
		fputc('\n', fp);
		put_paths(p, fp, st);
	}
	report_measured(p, fp);
}

void report_csv(const struct plan *p, FILE *fp)
{
	fputs("root,symbol,kind,weight,share,variants,functions,touched_bytes,entries_before,entries_after,"
	      "worst_before,worst_after,saved_percent\n", fp);
	for (uint32_t i = 0; i < p->nr_paths; i++) {
		const struct plan_path *path = &p->paths[i];

		put_csv(fp, path->root);
		fputc(',', fp);
		put_csv(fp, path->symbol);
		fputc(',', fp);
		put_csv(fp, path->kind);
		fprintf(fp,
			",%" PRIu64 ",%.6f,%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%.3f,%.3f,%" PRIu32
			",%" PRIu32 ",%.2f\n",
			path->weight,
			p->path_weight ? (double)path->weight / (double)p->path_weight : 0, path->variants,
			path->nr_uses, path->touched, path->entries_before, path->entries_after,
			path->max_before, path->max_after,
			plan_saving(path->entries_before, path->entries_after));
	}
}
