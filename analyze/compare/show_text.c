/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/compare/show.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/compare/cost.h"
#include "analyze/compare/figures.h"
#include "analyze/compare/judge.h"
#include "analyze/compare/kernels.h"
#include "lib/error.h"
#include "lib/mem.h"
#include "lib/utf8.h"

enum { NUMBER = 48, MOST_PATHS = 20, MOST_WIDTH = 60 };

/* 340,313; with a sign where one is wanted. */
static const char *grouped(char *buf, double v, const char *sign)
{
	char digits[NUMBER];
	size_t n = (size_t)snprintf(digits, sizeof(digits), "%.0f", fabs(v)), k = 0;

	if (n >= sizeof(digits))
		n = sizeof(digits) - 1;
	if (v < 0 && strcmp(digits, "0"))
		buf[k++] = '-';
	else if (*sign)
		buf[k++] = *sign;
	for (size_t i = 0; i < n && k + 2 < NUMBER; i++) {
		if (i && (n - i) % 3 == 0)
			buf[k++] = ',';
		buf[k++] = digits[i];
	}
	buf[k] = '\0';
	return buf;
}

/* Counts in full, measurements to six digits. */
static const char *number(char *buf, double v, const char *sign)
{
	if (fabs(v) < 1e15 && fabs(v - round(v)) <= 0 && fabs(v) >= 1000)
		return grouped(buf, v, sign);
	snprintf(buf, NUMBER, *sign ? "%+.6g" : "%.6g", v);
	return buf;
}

static int columns(const char *s)
{
	return (int)utf8_columns(s);
}

/* Names are never cut, or different ones would look the same: very long ones stick out. */
static int wider(int width, const char *name)
{
	int n = columns(name);

	return n > width && n <= MOST_WIDTH ? n : width;
}

/* With its unit, where no table's heading has it; the caller frees it. */
static char *full_name(const struct figure *fig)
{
	bool unit = !fig->table[0] && fig->unit[0];

	return xasprintf("%s%s%s", fig->name, unit ? ", " : "", unit ? fig->unit : "");
}

static int name_width(const struct figures *f, const struct pair *p)
{
	int width = 10;

	for (uint32_t i = 0; i < p->nr_figures; i++) {
		char *name = full_name(&f->figures[p->figures[i].figure]);

		width = wider(width, name);
		free(name);
	}
	return width;
}

static void show_name(FILE *fp, const char *name, int width)
{
	fprintf(fp, "%s%*s", name, width > columns(name) ? width - columns(name) : 0, "");
}

/* The end of a label: file names differ there. */
static const char *tail(const char *label, int most)
{
	for (int drop = columns(label) - most; drop > 0; drop--)
		label += utf8_step(label);
	return label;
}

static const char *runs(char *buf, size_t size, const struct pair *p, bool base)
{
	uint32_t least = UINT32_MAX, most = 0;

	for (uint32_t i = 0; i < p->nr_figures; i++) {
		uint32_t n = base ? p->figures[i].base.runs : p->figures[i].other.runs;

		least = n < least ? n : least;
		most = n > most ? n : most;
	}
	if (least == most)
		snprintf(buf, size, "%u run%s", most, most == 1 ? "" : "s");
	else
		snprintf(buf, size, "%u to %u runs", p->nr_figures ? least : 0, most);
	return buf;
}

static bool single_runs(const struct pair *p)
{
	for (uint32_t i = 0; i < p->nr_figures; i++)
		if (p->figures[i].base.runs > 1 || p->figures[i].other.runs > 1)
			return false;
	return true;
}

static void show_spread(FILE *fp, const struct spread *s, bool single)
{
	char a[NUMBER], b[NUMBER], range[2 * NUMBER + 4];

	fprintf(fp, " %11s", number(a, s->median, ""));
	if (single)
		return;
	snprintf(range, sizeof(range), "%s..%s", number(a, s->min, ""), number(b, s->max, ""));
	fprintf(fp, " %-17s", range);
}

static void show_percent(FILE *fp, const struct judgement *g)
{
	if (fabs(g->base.median) > 0)
		fprintf(fp, " %+7.1f %%", judgement_percent(g));
	else
		fprintf(fp, " %9s", "-");
}

static void show_row(FILE *fp, const struct figure *fig, const struct judgement *g, int width, bool single)
{
	char diff[NUMBER], *name = full_name(fig);

	show_name(fp, name, width);
	free(name);
	show_spread(fp, &g->base, single);
	show_spread(fp, &g->other, single);
	fprintf(fp, " %10s", number(diff, g->other.median - g->base.median, "+"));
	show_percent(fp, g);
	if (!single)
		fprintf(fp, " %7.2g %9.2g  %s", g->p, g->corrected, verdict_names[g->verdict]);
	putc('\n', fp);
}

static void show_head(FILE *fp, const struct figures *f, const struct pair *p, int width, bool single)
{
	const char *base = f->sides[p->base].label, *other = f->sides[p->other].label;
	char a[48], b[48];

	fprintf(fp, "%s (%s) against %s (%s)\n", other, runs(a, sizeof(a), p, false), base,
		runs(b, sizeof(b), p, true));
	if (!p->nr_figures) {
		fprintf(fp, "no figure in common\n");
		return;
	}
	fprintf(fp, "%-*s", width, "");
	for (int i = 0; i < 2; i++) {
		const char *end = tail(i ? other : base, 11);

		fprintf(fp, " %*s%s", 11 - columns(end), "", end);
		if (!single)
			fprintf(fp, " %-17s", "min..max");
	}
	fprintf(fp, " %10s %9s", "difference", "");
	fputs(single ? "\n" : "       p corrected\n", fp);
}

static void show_pair_figures(FILE *fp, const struct figures *f, const struct pair *p)
{
	int width = name_width(f, p);
	bool single = single_runs(p);
	const char *table = "";

	show_head(fp, f, p, width, single);
	for (uint32_t i = 0; i < p->nr_figures; i++) {
		const struct figure *fig = &f->figures[p->figures[i].figure];

		if (strcmp(table, fig->table)) {
			const char *better = fig->better == BETTER_BIGGER ? "bigger" : "smaller";

			fprintf(fp, "%s, %s, %s is better\n", fig->table, fig->unit, better);
		}
		table = fig->table;
		show_row(fp, fig, &p->figures[i], width, single);
	}
}

/* What so few runs can tell at all, and what chance would give. */
static void show_power(FILE *fp, const struct judged *j, const struct pair *p)
{
	uint32_t few = 0, alone = 0, differ = 0;
	double least = 1;

	for (uint32_t i = 0; i < p->nr_figures; i++) {
		const struct judgement *g = &p->figures[i];

		least = g->least_free < least ? g->least_free : least;
		few += g->least_free > j->alpha;
		alone += g->p <= j->alpha;
		differ += g->corrected <= j->alpha;
	}
	if (!p->nr_figures)
		return;
	fprintf(fp, "the smallest p that so few runs can give is %.2g", least);
	if (few == p->nr_figures) {
		fprintf(fp, ": they cannot tell a difference from noise\n");
		return;
	}
	fprintf(fp, "; corrected for %u figures (Holm) it is %.2g\n", j->nr_tests,
		fmin(1, least * j->nr_tests));
	fprintf(fp, "more than noise: %u of %u", differ, p->nr_figures);
	if (least * j->nr_tests > j->alpha)
		fprintf(fp, ", too few runs for so many figures: choose some by --figure beforehand, or "
			    "measure more often");
	fprintf(fp, "\np at most %g each by itself ('alone'): %u, where noise would give %.1f\n", j->alpha,
		alone, j->alpha * p->nr_figures);
}

static const char *seconds(char *buf, double s)
{
	snprintf(buf, NUMBER, fabs(s) >= 0.01 ? "%.3f s" : fabs(s) >= 1e-5 ? "%.6f s" : "%.3g s", s);
	return buf;
}

static void show_price(FILE *fp, const struct miss_cost *c, const struct miss_price *price)
{
	double hz = price->clock_hz, a = fabs(c->min_seconds), b = fabs(c->max_seconds);
	double min = a < b ? a : b, max = a < b ? b : a;
	char x[NUMBER], y[NUMBER];
	bool range = max > min;

	fprintf(fp, "at %.6g", price->min_cycles);
	if (range)
		fprintf(fp, " to %.6g", price->max_cycles);
	fprintf(fp, " cycles a miss that is %s", grouped(x, min * hz, ""));
	if (range)
		fprintf(fp, " to %s", grouped(y, max * hz, ""));
	fprintf(fp, " cycles, %s", seconds(x, min));
	if (range)
		fprintf(fp, " to %s", seconds(y, max));
	fprintf(fp, " at %.6g MHz (%.1f", hz / 1e6, 100 * min);
	if (range)
		fprintf(fp, " to %.1f", 100 * max);
	fprintf(fp, " %% of a second");
	if (c->have_run && c->run_seconds > 0) {
		fprintf(fp, ", %.1f", 100 * min / c->run_seconds);
		if (range)
			fprintf(fp, " to %.1f", 100 * max / c->run_seconds);
		fprintf(fp, " %% of the run");
	}
	fprintf(fp, ")\n");
}

static void show_cost(FILE *fp, const struct figures *f, const struct pair *p, const struct miss_price *price)
{
	struct miss_cost c = miss_cost(f, p, price);
	char x[NUMBER], a[NUMBER], b[NUMBER];

	if (!c.have_misses)
		return;
	fprintf(fp, "TLB misses together: %s and %s, %s %s\n", grouped(a, c.base_misses, ""),
		grouped(b, c.other_misses, ""), grouped(x, fabs(c.misses), ""),
		c.misses < 0 ? "fewer" : "more");
	if (c.have_seconds)
		show_price(fp, &c, price);
	if (!c.have_run)
		return;
	bool shorter = c.max_longer <= 0;
	fprintf(fp, "measured: the run takes %.2f to %.2f s %s", shorter ? -c.max_longer : c.min_longer,
		shorter ? -c.min_longer : c.max_longer, shorter ? "less" : "more");
	if (c.have_implied && c.min_implied > 0)
		fprintf(fp, ": a miss costs %.0f to %.0f cycles, if misses are all that differs",
			c.min_implied, c.max_implied);
	putc('\n', fp);
	if (c.have_seconds && c.have_implied &&
	    (c.min_implied > price->max_cycles || c.max_implied < price->min_cycles))
		fprintf(fp, "the two do not agree: a miss costs %s than that, or something else changed\n",
			c.min_implied > price->max_cycles ? "more" : "less");
}

static void show_ambiguous(FILE *fp, const struct figures *f)
{
	for (uint32_t i = 0; i < f->nr_ambiguous; i++) {
		const struct ambiguous *a = &f->ambiguous[i];

		fprintf(fp, "ambiguous, left out: '%s' line %lu, %s in '%s': %u cells for %u columns\n",
			a->path, a->line, a->host, a->table, a->cells, a->columns);
	}
}

void show_figures(FILE *fp, const struct figures *f, const struct judged *j, const struct miss_price *price)
{
	for (uint32_t i = 0; i < j->nr_pairs; i++) {
		if (i)
			putc('\n', fp);
		show_pair_figures(fp, f, &j->pairs[i]);
		show_power(fp, j, &j->pairs[i]);
		show_cost(fp, f, &j->pairs[i], price);
	}
	if (f->nr_ambiguous)
		putc('\n', fp);
	show_ambiguous(fp, f);
	if (f->not_counted || f->not_understood)
		note("%u figures without a result, %u lines not understood", f->not_counted,
		     f->not_understood);
}

/* Widths of the first column and of a kernel's. */
struct widths {
	int name, side;
};

static struct widths kernel_widths(const struct kernels *k, uint32_t most)
{
	struct widths w = { 34, 14 };

	for (uint32_t i = 0; i < k->nr_paths && i < most; i++)
		w.name = wider(w.name, k->paths[i].root);
	for (uint32_t s = 0; s < k->nr_sides; s++)
		w.side = wider(w.side, k->sides[s].label);
	return w;
}

static void show_entries(FILE *fp, const struct kernels *k, struct widths w, const char *name,
			 const double *entries, const char *format)
{
	show_name(fp, name, w.name);
	for (uint32_t s = 0; s < k->nr_sides; s++) {
		char cell[NUMBER] = "-";

		if (entries[s] >= 0)
			snprintf(cell, sizeof(cell), format, entries[s]);
		fprintf(fp, " %*s", w.side, cell);
	}
	for (uint32_t s = 1; s < k->nr_sides; s++)
		if (entries[0] > 0 && entries[s] >= 0)
			fprintf(fp, " %+8.1f %%", 100 * (entries[s] - entries[0]) / entries[0]);
		else
			fprintf(fp, " %10s", "-");
	putc('\n', fp);
}

static void show_kernels_head(FILE *fp, const struct kernels *k, struct widths w)
{
	fprintf(fp, "%-*s", w.name, "");
	for (uint32_t s = 0; s < k->nr_sides; s++) {
		const char *label = k->sides[s].label;
		int columns_free = w.side - columns(label);

		fprintf(fp, " %*s%s", columns_free > 0 ? columns_free : 0, "", label);
	}
	fprintf(fp, "\n%-*s", w.name, "profile found");
	for (uint32_t s = 0; s < k->nr_sides; s++)
		fprintf(fp, " %*.1f %%", w.side - 2, 100 * k->sides[s].matched);
	putc('\n', fp);
}

#define SHOW_SIDES(fp, k, w, name, member, format) do { \
		double *v_ = xcalloc((k)->nr_sides, sizeof(*v_)); \
		for (uint32_t s_ = 0; s_ < (k)->nr_sides; s_++) \
			v_[s_] = (double)(k)->sides[s_].member; \
		show_entries(fp, k, w, name, v_, format); \
		free(v_); \
	} while (0)

void show_kernels(FILE *fp, const struct kernels *k)
{
	uint32_t most = verbosity > 0 ? UINT32_MAX : MOST_PATHS;
	struct widths w = kernel_widths(k, most);

	fprintf(fp, "machine %s: %s\n", k->machine.name, k->machine.about);
	if (k->why_none)
		fprintf(fp, "no order saves ITLB entries on it: %s\n", k->why_none);
	if (k->left_out >= KERNELS_LEFT_OUT_MIN)
		fprintf(fp, "left out, since not all have it: %.1f %% of the profile\n", 100 * k->left_out);
	show_kernels_head(fp, k, w);
	SHOW_SIDES(fp, k, w, "hot pages", pages, "%.0f");
	SHOW_SIDES(fp, k, w, "ITLB entries a path, mean", mean, "%.1f");
	SHOW_SIDES(fp, k, w, "  95th percentile", p95, "%.0f");
	SHOW_SIDES(fp, k, w, "  worst", max, "%.0f");
	SHOW_SIDES(fp, k, w, "misses a path, estimated", misses, "%.2f");
	for (uint32_t i = 0; i < k->nr_paths && i < most; i++)
		show_entries(fp, k, w, k->paths[i].root, k->paths[i].entries, "%.1f");
	if (k->nr_paths > most)
		fprintf(fp, "and %u more paths (-v lists them)\n", k->nr_paths - most);
}
