/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hottext calibrate: this CPU's ITLB by measuring it, or what a table measured elsewhere says. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/calibrate/chase.h"
#include "analyze/calibrate/knee.h"
#include "analyze/calibrate/plot.h"
#include "analyze/commands.h"
#include "lib/error.h"
#include "lib/file.h"
#include "lib/input.h"
#include "lib/mem.h"
#include "lib/number.h"

enum { MAX_POINTS = 4096, MAX_COLUMNS = 8, MAX_KNEES = 4 };

static const double MAX_VALUE = 1e12;	/* of pages and costs: beyond is a slip, and a line of digits */

static const char *opt_from, *opt_output, *opt_plot;

static const struct opt options[] = {
	{ 0, "from", "FILE", "read a table of pages and costs, or a list of ticks, measured elsewhere", OPT_STRING,
	  &opt_from, 0, 0 },
	{ 'o', "output", "FILE", "write a machine file", OPT_STRING, &opt_output, 0, 0 },
	{ 0, "plot", "FILE", "draw the costs as SVG", OPT_STRING, &opt_plot, 0, 0 },
	OPT_COMMON
};

struct table {
	double *x;			/* first column */
	double *y[MAX_COLUMNS];		/* the others; NaN never occurs */
	uint32_t nr, nr_columns;
};

static void table_init(struct table *t)
{
	memset(t, 0, sizeof(*t));
	t->x = xcalloc(MAX_POINTS, sizeof(*t->x));
	for (uint32_t c = 0; c < MAX_COLUMNS; c++)
		t->y[c] = xcalloc(MAX_POINTS, sizeof(*t->y[c]));
}

static void table_release(struct table *t)
{
	free(t->x);
	for (uint32_t c = 0; c < MAX_COLUMNS; c++)
		free(t->y[c]);
}

static int bad_line(struct input *in, const char *why)
{
	return error("cannot read '%s': line %lu: %s", input_name(in), input_lineno(in), why);
}

static int read_line(struct table *t, struct input *in, char *line)
{
	char *save = NULL;
	uint32_t n = 0;

	line[strcspn(line, "#")] = '\0';
	for (char *w = strtok_r(line, " \t\r,", &save); w; w = strtok_r(NULL, " \t\r,", &save), n++) {
		double v;

		if (!parse_double(w, &v) || v < 0)
			return bad_line(in, "not a number");
		if (v > MAX_VALUE)
			return bad_line(in, "a number over 1e12");
		if (n > MAX_COLUMNS || t->nr == MAX_POINTS)
			return bad_line(in, "too much for a table");
		*(n ? &t->y[n - 1][t->nr] : &t->x[t->nr]) = v;
	}
	if (!n)
		return 0;
	if (t->nr && n != t->nr_columns + 1)
		return bad_line(in, "another number of columns than before");
	t->nr_columns = n - 1;
	t->nr++;
	return 0;
}

static int read_table(struct table *t, const char *path)
{
	struct input *in = input_open(path);
	char *line;
	int ret = 0;

	if (!in)
		return -1;
	while (!ret && (line = input_line(in, NULL)))
		ret = read_line(t, in, line);
	if (!ret && input_failed(in))
		ret = -1;
	input_close(in);
	if (!ret && t->nr < 4)
		ret = error("cannot read '%s': fewer than four lines of numbers", path);
	return ret;
}

/* Numbers of pages rise from line to line; ticks of touches do not. */
static bool counts_pages(const struct table *t)
{
	for (uint32_t i = 1; i < t->nr; i++)
		if (t->x[i] <= t->x[i - 1])
			return false;
	return t->nr_columns > 0;
}

static uint32_t print_knees(const double *x, const double *y, uint32_t nr, double step, struct knee *k)
{
	uint32_t found = find_knees(y, nr, step, k, MAX_KNEES);

	for (uint32_t i = 0; i < found; i++) {
		printf("  knee between %.0f and %.0f pages: %.3g -> %.3g", x[k[i].before], x[k[i].after], k[i].low, k[i].high);
		if (k[i].low > 0)	/* a coarse clock measures nothing */
			printf(", %.1f times", k[i].high / k[i].low);
		putchar('\n');
	}
	if (!found)
		printf("  no knee\n");
	return found;
}

static void analyze_pages(const struct table *t)
{
	struct knee k[MAX_KNEES];

	for (uint32_t c = 0; c < t->nr_columns; c++) {
		printf("column %u\n", c + 2);
		print_knees(t->x, t->y[c], t->nr, KNEE_STEP, k);
	}
	/* The same pages measured two ways: the most that one costs of the other. */
	for (uint32_t c = 1; c < t->nr_columns; c++) {
		double most = 0, at = 0;

		for (uint32_t i = 0; i < t->nr; i++)
			if (t->y[0][i] > 0 && t->y[c][i] / t->y[0][i] > most) {
				most = t->y[c][i] / t->y[0][i];
				at = t->x[i];
			}
		printf("column %u is at most %.1f times column 2, at %.0f pages\n", c + 2, most, at);
	}
}

static void analyze_ticks(const struct table *t)
{
	bool *apart = xcalloc(t->nr, sizeof(*apart));

	for (uint32_t c = 0; c <= t->nr_columns; c++) {
		const double *x = c ? t->y[c - 1] : t->x;
		struct populations p = split_populations(x, t->nr, apart);

		printf("column %u\n", c + 1);
		if (p.gap < 3) {
			printf("  one population: %u touches, median %.4g\n", t->nr, median_of(x, t->nr));
			continue;
		}
		printf("  hits    %4u, median %.4g\n  misses  %4u, median %.4g\n", p.nr_low, p.low, p.nr_high, p.high);
		for (uint32_t i = 0; i < t->nr; i++)
			if (apart[i])
				printf("  apart: %.4g, touch %u\n", x[i], i + 1);
	}
	free(apart);
}

static int plot(const struct series *s, uint32_t nr)
{
	struct outfile out;

	if (!opt_plot)
		return 0;
	if (outfile_init(&out, opt_plot))
		return -1;
	plot_write(out.fp, s, nr, "pages", "cost of a touch");
	return outfile_commit(&out);
}

static int from_file(void)
{
	struct table t;
	int ret = EXIT_FAILED;

	table_init(&t);
	if (!read_table(&t, opt_from)) {
		struct series s[MAX_COLUMNS];
		char names[MAX_COLUMNS][16];
		bool pages = counts_pages(&t);

		for (uint32_t c = 0; c < t.nr_columns; c++) {
			snprintf(names[c], sizeof(names[c]), "column %u", c + 2);
			s[c] = (struct series){ names[c], t.x, t.y[c], t.nr };
		}
		if (pages)
			analyze_pages(&t);
		else
			analyze_ticks(&t);
		if (!pages && opt_plot)
			error("ticks are no curve: nothing to plot");
		else if (!plot(s, t.nr_columns))
			ret = EXIT_DONE;
	}
	table_release(&t);
	return ret;
}

/* One curve of this CPU. */
struct curve {
	const char *name;
	enum chase_kind kind;
	uint32_t page_bytes;
	double x[32], y[32], spread[32];
	uint32_t nr;
	double noise;			/* median of the spreads */
	struct knee knees[MAX_KNEES];
	uint32_t nr_knees;
};

static void measure(struct curve *c)
{
	/* Below, a loop of few jumps is what is measured: the branch predictor has its own steps there. */
	static const uint32_t small[] = {
		12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072,
	};
	static const uint32_t large[] = { 4, 6, 8, 12, 16, 24, 32, 48, 64, 96 };
	const uint32_t *pages = c->page_bytes > 4096 ? large : small;
	uint32_t nr = c->page_bytes > 4096 ? ARRAY_SIZE(large) : ARRAY_SIZE(small);

	for (uint32_t i = 0; i < nr; i++) {
		struct chase_point p;

		if (!chase_measure(c->kind, c->page_bytes, pages[i], &p))
			break;
		c->x[c->nr] = p.pages;
		c->y[c->nr] = p.ns;
		c->spread[c->nr++] = p.spread;
	}
	c->noise = median_of(c->spread, c->nr);
}

static bool is_noisy(const struct curve *c)
{
	return c->noise > 0.25;
}

/* The knees that a TLB made: beyond so many pages, one line each, the first-level cache is full. */
static uint32_t nr_tlb_knees(const struct curve *c)
{
	uint32_t n = 0;

	while (n < c->nr_knees && c->x[c->knees[n].before] < 512)
		n++;
	return n;
}

static void print_curve(struct curve *c)
{
	printf("%s\n", c->name);
	if (c->nr < 4) {
		printf("  not to be had here\n");
		return;
	}
	printf("  %8s %10s %8s\n", "pages", "ns/touch", "spread");
	for (uint32_t i = 0; i < c->nr; i++)
		printf("  %8.0f %10.2f %7.0f%%\n", c->x[i], c->y[i], 100 * c->spread[i]);
	if (is_noisy(c)) {
		printf("  too noisy to tell: runs differ by %.0f %%\n", 100 * c->noise);
		return;
	}
	double step = 1 + 4 * c->noise;
	c->nr_knees = print_knees(c->x, c->y, c->nr, step < 1.2 ? 1.2 : step, c->knees);
	if (nr_tlb_knees(c) < c->nr_knees)
		printf("  (past 512 pages the caches have their share, too)\n");
	if (c->kind != CHASE_CODE)
		return;
	for (uint32_t level = 0; level < 2; level++) {
		uint32_t n = chase_cpuid_entries(c->page_bytes, level);
		bool seen = false;

		for (uint32_t i = 0; i < c->nr_knees; i++)
			seen |= c->x[c->knees[i].before] <= 2.0 * n && c->x[c->knees[i].after] >= n / 2.0;
		if (n)
			printf("  cpuid: level %u has %u entries: %s\n", level + 1, n, seen ? "a knee is there" :
			       n > c->x[c->nr - 1] ? "beyond what was measured" : "no knee there, it costs too little to tell");
	}
}

/* A power of two within the knee where there is one. */
static uint32_t entries_of(const struct curve *c, const struct knee *k)
{
	uint32_t from = (uint32_t)c->x[k->before], n = 1;

	while (n < from)
		n *= 2;
	return n <= c->x[k->after] ? n : from;
}

static void write_machine(FILE *fp, const struct curve *c)
{
	double mhz = chase_clock_mhz();
	uint32_t nr = nr_tlb_knees(c);
	const struct knee *last = &c->knees[nr - 1];

	fprintf(fp, "about this CPU, as hottext calibrate measured it\n");
	fprintf(fp, "# Knees of a chain of jumps over 4 KB pages; replacement is not measured.\n");
	for (uint32_t i = 0; i < nr && i < 3; i++)
		fprintf(fp, "level %u policy lru\t# %.2f ns a touch before, %.2f after\n", entries_of(c, &c->knees[i]),
			c->knees[i].low, c->knees[i].high);
	fprintf(fp, "text-page 4K\nuser-page 4K\n");
	double cycles = (last->high - last->low) * mhz / 1000;
	if (mhz > 0 && cycles >= 1)
		fprintf(fp, "miss-cycles %.0f %.0f\t# the last knee's step, once and twice\nclock %.0f MHz\n", cycles,
			2 * cycles, mhz);
}

static int write_results(struct curve *c, uint32_t nr)
{
	struct series s[8];
	uint32_t n = 0;
	struct outfile out;

	for (uint32_t i = 0; i < nr; i++)
		if (c[i].nr >= 4)
			s[n++] = (struct series){ c[i].name, c[i].x, c[i].y, c[i].nr };
	if (plot(s, n))
		return -1;
	if (!opt_output)
		return 0;
	if (!nr_tlb_knees(&c[0]))
		return error("no machine file: no knee of code on 4 KB pages was found");
	if (outfile_init(&out, opt_output))
		return -1;
	write_machine(out.fp, &c[0]);
	return outfile_commit(&out);
}

static int measure_here(void)
{
	struct curve c[] = {
		{ .name = "code, 4 KB pages", .kind = CHASE_CODE, .page_bytes = 4096 },
		{ .name = "code, 2 MB pages", .kind = CHASE_CODE, .page_bytes = 2 << 20 },
		{ .name = "data, 4 KB pages", .kind = CHASE_DATA, .page_bytes = 4096 },
		{ .name = "data, 2 MB pages", .kind = CHASE_DATA, .page_bytes = 2 << 20 },
	};

	if (!chase_has_code())
		note("no code chains on this architecture: data only");
	for (uint32_t i = 0; i < ARRAY_SIZE(c); i++) {
		measure(&c[i]);
		print_curve(&c[i]);
	}
	if (write_results(c, ARRAY_SIZE(c)))
		return EXIT_FAILED;
	return c[0].nr >= 4 && is_noisy(&c[0]) ? EXIT_NO : EXIT_DONE;
}

static int run(int argc, char **argv)
{
	(void)argv;
	if (argc)
		return usage_error("calibrate", "takes no operands");
	if (opt_from && opt_output)
		return usage_error("calibrate", "--output wants a measurement of this CPU, not --from");
	return opt_from ? from_file() : measure_here();
}

const struct command calibrate_command = {
	.name = "calibrate",
	.args = "",
	.summary = "measure this CPU's ITLB, or read a measurement",
	.details = "Touches more and more pages, as code and as data, 4 KB and 2 MB, and finds where a touch\n"
		   "begins to cost more. Exit status 3: the machine is too noisy to tell.",
	.example = "hottext calibrate --plot itlb.svg",
	.opts = options,
	.run = run,
};
