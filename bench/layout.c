/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Every algorithm on every yardstick machine, relative to cdsort in the same run:
 *
 *   layout DIR EFFORT KERNEL VMLINUX SAME.FETCH MIX.FETCH TRAINING=PROFILE[,PROFILE]...
 *
 * Tested on the workloads that the profiles are of and on a mix that none has seen; "-": there is no trace of one.
 * A profile "@branches" or "@chains" is drawn from SAME.FETCH: 3,400 samples of 32 branches, 2,600 of calls. The
 * table goes to stdout, the plot to DIR/layout-KERNEL.svg. Baselines get sampled profiles as they are, as a linker
 * would; "+" is the order of the completed profile.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/image/image.h"
#include "analyze/tlb/machine.h"
#include "analyze/tlb/replay.h"
#include "bench/draws.h"
#include "lib/error.h"
#include "lib/mem.h"
#include "lib/number.h"
#include "reorder/job.h"
#include "reorder/order.h"

enum {
	NR_BRANCH_SAMPLES = 3400,
	NR_CHAIN_SAMPLES = 2600,
	MAX_ROWS = 8,
	MAX_TRAININGS = 8,
	MAX_PROFILES = 4,
	NR_MACHINES = 8,
	MAX_TESTS = 2,
};

static const char *const machine_list[NR_MACHINES] = {
	"generic-4k-16", "generic-4k-32", "generic-4k-64", "generic-4k-64-8way", "generic-4k-128-8way",
	"generic-4k-64-rr", "x86-64-2m", "generic-16k-32",
};
static const char *const short_names[NR_MACHINES] = {
	"4k-16", "4k-32", "4k-64", "4k-64-8w", "4k-128-8w", "4k-64-rr", "2m", "16k-32",
};
static const char *const baselines[] = { "link", "density", "ph", "c3", "cdsort" };
enum { CDSORT = 4, NR_BASELINES = 5 };

static struct machine machines[NR_MACHINES];
static const char *dir, *kernel, *vmlinux;
static const char *same;		/* what profiles are drawn from; NULL: there is none */
static struct {
	const char *name, *trace;
} tests[MAX_TESTS];
static uint32_t nr_tests;
static unsigned int effort;

/* Misses of one order: [machine]. */
struct row {
	const char *name;
	uint64_t misses[NR_MACHINES], l1i[NR_MACHINES];
};

struct result {
	const char *training;
	struct row rows[MAX_TESTS][MAX_ROWS];
	uint32_t nr;
};

static int order(const struct job *job, const char *algorithm, const struct machine *m, struct layout *l)
{
	struct order_options o = { m, effort };

	layout_init(l, &job->image);
	algorithm_find(algorithm)->run(&job->cg, &o, l);
	layout_assign(l);
	return 0;
}

/* Orders that do not depend on the machine: all in one pass. The L1I is the same one everywhere: simulated once. */
static int run_baselines(const struct job *job, const char *const *names, uint32_t nr, const char *suffix,
			 struct result *res)
{
	struct layout l[NR_BASELINES];
	const uint64_t *addr[NR_BASELINES];
	struct machine bare[NR_MACHINES];
	const struct machine *m[NR_MACHINES];
	struct tlb_counts c[NR_BASELINES * NR_MACHINES];
	int ret = 0;

	for (uint32_t k = 0; k < NR_MACHINES; k++) {
		m[k] = &bare[k];
		bare[k] = machines[k];
		if (k)
			bare[k].l1i_bytes = 0;
	}
	for (uint32_t i = 0; i < nr; i++) {
		if (order(job, names[i], &machines[1], &l[i]))
			return -1;
		addr[i] = l[i].addr;
	}
	for (uint32_t t = 0; t < nr_tests && !ret; t++) {
		ret = replay_layouts(tests[t].trace, &job->image, addr, nr, m, NR_MACHINES, c);
		for (uint32_t i = 0; i < nr && !ret; i++) {
			struct row *row = &res->rows[t][res->nr + i];

			row->name = xasprintf("%s%s", names[i], suffix);
			for (uint32_t k = 0; k < NR_MACHINES; k++) {
				row->misses[k] = c[i * NR_MACHINES + k].kernel_misses;
				row->l1i[k] = c[i * NR_MACHINES].l1i_kernel_misses;
			}
		}
	}
	res->nr += nr;
	for (uint32_t i = 0; i < nr; i++)
		layout_release(&l[i]);
	return ret;
}

/* One order a machine, tested on that machine. */
static int run_pack(const struct job *job, struct result *res)
{
	for (uint32_t k = 0; k < NR_MACHINES; k++) {
		const struct machine *m = &machines[k];
		struct machine with = *m;
		struct layout l;

		m = &with;
		with.l1i_bytes = machines[0].l1i_bytes;
		with.l1i_ways = machines[0].l1i_ways;
		with.l1i_line = machines[0].l1i_line;
		if (order(job, "pack", &machines[k], &l))
			return -1;
		for (uint32_t t = 0; t < nr_tests; t++) {
			struct row *row = &res->rows[t][res->nr];
			struct tlb_counts c;

			row->name = "pack";
			if (replay_trace(tests[t].trace, &job->image, l.addr, &m, 1, &c))
				return -1;
			row->misses[k] = c.kernel_misses;
			row->l1i[k] = c.l1i_kernel_misses;
		}
		layout_release(&l);
	}
	res->nr++;
	return 0;
}

static int train(const char *const *profiles, uint32_t nr_profiles, struct result *res)
{
	struct job_options o = { .vmlinux = vmlinux, .profiles = profiles, .nr_profiles = nr_profiles,
				 .effort = effort, .machine = "generic-4k-32", .as_seen = true };
	struct job job;

	if (job_init(&job, &o))
		return -1;
	int ret = run_baselines(&job, baselines, NR_BASELINES, "", res);
	bool sampled = !job.trace;
	if (sampled) {
		job_release(&job);
		o.as_seen = false;
		if (ret || job_init(&job, &o))
			return -1;
		ret = run_baselines(&job, &baselines[CDSORT], 1, "+", res);
	}
	if (!ret)
		ret = run_pack(&job, res);
	job_release(&job);
	return ret;
}

static double ratio(uint64_t a, uint64_t b)
{
	return b ? (double)a / (double)b : a ? INFINITY : 1;
}

static void print_table(const struct result *res, uint32_t t)
{
	const struct row *rows = res->rows[t];

	printf("\n%s, trained on %s, tested on %s: kernel ITLB misses\n%-14s", kernel, res->training, tests[t].name, "");
	for (uint32_t k = 0; k < NR_MACHINES; k++)
		printf(" %10s", short_names[k]);
	printf("\n%-14s", "cdsort");
	for (uint32_t k = 0; k < NR_MACHINES; k++)
		printf(" %10" PRIu64, rows[CDSORT].misses[k]);
	puts("");
	for (uint32_t i = 0; i < res->nr; i++) {
		printf("%-14s", rows[i].name);
		for (uint32_t k = 0; k < NR_MACHINES; k++)
			printf(" %10.3f", ratio(rows[i].misses[k], rows[CDSORT].misses[k]));
		puts("");
	}
	printf("%-14s %10" PRIu64 "\n", "L1I cdsort", rows[CDSORT].l1i[0]);
	for (uint32_t i = 0; i < res->nr; i++) {
		printf("L1I %-10s", rows[i].name);
		for (uint32_t k = 0; k < NR_MACHINES; k++)
			printf(" %10.3f", ratio(rows[i].l1i[k], rows[CDSORT].l1i[0]));
		puts("");
	}
	fflush(stdout);
}

enum { PANEL_HEIGHT = 230, LEFT = 110, SCALE = 200 };	/* SCALE: pixels a decade, from 0.05 up to 20 */

static double x_of(double r)
{
	return LEFT + SCALE * (log10(r < 0.05 ? 0.05 : r > 20 ? 20 : r) - log10(0.05));
}

static void draw_panel(FILE *fp, const struct result *res, uint32_t t, int y)
{
	static const char *const colours[MAX_ROWS] = {
		"#999", "#c9a227", "#2a9d8f", "#8e5bb5", "#222", "#e07b39", "#c1121f", "#c1121f",
	};
	static const double grid[] = { 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20 };

	fprintf(fp, "<text x=\"8\" y=\"%d\" font-weight=\"bold\">trained on %s, tested on %s</text>\n", y + 14, res->training,
		tests[t].name);
	for (uint32_t i = 0; i < ARRAY_SIZE(grid); i++)
		fprintf(fp, "<path d=\"M%.1f %dv170\" stroke=\"%s\"/><text x=\"%.1f\" y=\"%d\" fill=\"#666\" "
			"text-anchor=\"middle\">%g</text>\n", x_of(grid[i]), y + 24, grid[i] < 1 || grid[i] > 1 ? "#ddd" : "#222",
			x_of(grid[i]), y + 208, grid[i]);
	for (uint32_t k = 0; k < NR_MACHINES; k++) {
		fprintf(fp, "<text x=\"8\" y=\"%u\">%s</text>\n", (unsigned int)y + 40 + 20 * k, short_names[k]);
		for (uint32_t i = 0; i < res->nr; i++)
			fprintf(fp, "<circle cx=\"%.1f\" cy=\"%u\" r=\"%d\" fill=\"%s\"><title>%s %.3f</title></circle>\n",
				x_of(ratio(res->rows[t][i].misses[k], res->rows[t][CDSORT].misses[k])),
				(unsigned int)y + 36 + 20 * k, i + 1 == res->nr ? 6 : 4,
				colours[i + 1 == res->nr ? MAX_ROWS - 1 : i], res->rows[t][i].name,
				ratio(res->rows[t][i].misses[k], res->rows[t][CDSORT].misses[k]));
	}
	for (uint32_t i = 0; i < res->nr; i++)
		fprintf(fp, "<text x=\"680\" y=\"%u\" fill=\"%s\">%s</text>\n", (unsigned int)y + 40 + 20 * i,
			colours[i + 1 == res->nr ? MAX_ROWS - 1 : i], res->rows[t][i].name);
}

static int draw(const struct result *res, uint32_t nr)
{
	char *path = xasprintf("%s/layout-%s.svg", dir, kernel);
	FILE *fp = fopen(path, "w");

	if (!fp)
		return error("cannot write '%s'", path);
	fprintf(fp, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"760\" height=\"%u\" font-family=\"sans-serif\" "
		"font-size=\"12\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
		"<text x=\"8\" y=\"18\">%s: kernel ITLB misses relative to cdsort's (less is better)</text>\n",
		30 + nr * nr_tests * PANEL_HEIGHT, kernel);
	for (uint32_t i = 0; i < nr * nr_tests; i++)
		draw_panel(fp, &res[i / nr_tests], i % nr_tests, 30 + (int)i * PANEL_HEIGHT);
	fputs("</svg>\n", fp);
	free(path);
	return fclose(fp) ? -1 : 0;
}

/* The file of one profile; the caller frees, NULL: it could not be drawn. */
static char *profile_path(const char *name)
{
	struct image img;
	char *path;

	if (*name != '@')
		return xstrdup(name);
	bool chains = !strcmp(name, "@chains");
	if (!same || (!chains && strcmp(name, "@branches") != 0)) {
		error(same ? "no profile is called '%s'" : "there is no trace to draw '%s' from", name);
		return NULL;
	}
	path = xasprintf("%s/%s.%s", dir, kernel, name + 1);
	if (image_init(&img, vmlinux, &(struct image_options){ 0 }))
		return NULL;
	int ret = chains ? draw_chains(same, &img, NR_CHAIN_SAMPLES, path) :
			   draw_branches(same, &img, NR_BRANCH_SAMPLES, path);
	image_release(&img);
	return ret ? NULL : path;
}

/* TRAINING=PROFILE[,PROFILE]...: its row of tables. */
static int run_training(char *spec, struct result *res)
{
	char *paths[MAX_PROFILES], *at = strchr(spec, '=');
	const char *profiles[MAX_PROFILES];
	uint32_t nr = 0;
	int ret = 0;

	if (!at)
		return error("no profile in '%s'", spec);
	*at++ = '\0';
	res->training = spec;
	for (char *name; (name = strsep(&at, ",")); nr++) {
		if (nr == MAX_PROFILES)
			return error("more than %d profiles in '%s'", MAX_PROFILES, spec);
		profiles[nr] = paths[nr] = profile_path(name);
		if (!paths[nr])
			return -1;
	}
	ret = train(profiles, nr, res);
	for (uint32_t i = 0; i < nr; i++)
		free(paths[i]);
	return ret;
}

static void add_test(const char *name, const char *trace)
{
	if (!strcmp(trace, "-"))
		return;
	tests[nr_tests].name = name;
	tests[nr_tests++].trace = trace;
}

int main(int argc, char **argv)
{
	static struct result res[MAX_TRAININGS];
	uint64_t number;

	if (argc < 8 || argc > 7 + MAX_TRAININGS)
		return fputs("usage: layout DIR EFFORT KERNEL VMLINUX SAME.FETCH MIX.FETCH TRAINING=PROFILE[,PROFILE]...\n",
			     stderr), 2;
	dir = argv[1];
	if (!parse_u64_range(argv[2], 0, 9, &number))
		return error("an effort of '%s' is none of 0 to 9", argv[2]), 2;
	effort = (unsigned int)number;
	kernel = argv[3];
	vmlinux = argv[4];
	same = strcmp(argv[5], "-") ? argv[5] : NULL;
	add_test("the same workloads", argv[5]);
	add_test("a mix never seen", argv[6]);
	for (uint32_t k = 0; k < NR_MACHINES; k++)
		if (machine_init(&machines[k], machine_list[k]) < 0)
			return 1;
	for (int i = 7; i < argc; i++) {
		struct result *r = &res[i - 7];

		if (run_training(argv[i], r))
			return 1;
		for (uint32_t t = 0; t < nr_tests; t++)
			print_table(r, t);
		if (draw(res, (uint32_t)i - 6))
			return 1;
	}
	return 0;
}
