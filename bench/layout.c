/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Every algorithm on every yardstick machine, relative to cdsort in the same run:
 *
 *   layout VMLINUX ALL.FETCH MIX.FETCH PERF.DATA DIR [EFFORT [TRAINING [GRAPH]]]
 *
 * Trained on the fetch trace, on branch records drawn from it (3,400 samples of 32),
 * on callchains, and on these with a function graph where one is given; tested on the
 * trace and on a mix that none has seen. The table goes to stdout, the plot to
 * DIR/layout.svg. Baselines get the samples as they are, as a linker would; "+" is the
 * order of the completed profile.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/tlb/machine.h"
#include "analyze/tlb/replay.h"
#include "collect/fetch/fetch.h"
#include "lib/error.h"
#include "lib/input.h"
#include "lib/mem.h"
#include "reorder/job.h"
#include "reorder/order.h"

enum { NR_SAMPLES = 3400, NR_BRANCHES = 32, MAX_ROWS = 8, NR_MACHINES = 8, NR_TESTS = 2 };

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
static const char *vmlinux;
static const char *tests[NR_TESTS];
static unsigned int effort = 3;

/* Misses of one order: [machine]. */
struct row {
	const char *name;
	uint64_t misses[NR_MACHINES], l1i[NR_MACHINES];
};

struct result {
	const char *training;
	struct row rows[NR_TESTS][MAX_ROWS];
	uint32_t nr;
};

struct ring {
	uint64_t from[NR_BRANCHES], to[NR_BRANCHES];
	uint32_t next, nr;
};

static void push(struct ring *r, uint64_t from, uint64_t to)
{
	r->from[r->next] = from;
	r->to[r->next] = to;
	r->next = (r->next + 1) % NR_BRANCHES;
	r->nr += r->nr < NR_BRANCHES;
}

static void write_sample(FILE *fp, const struct ring *r, uint64_t at, uint64_t insns)
{
	fprintf(fp, "work 1 [000] %" PRIu64 ".%06" PRIu64 ": 1 cycles: %" PRIx64 " [unknown] ([kernel.kallsyms]) ",
		insns / 1000000, insns % 1000000, at);
	for (uint32_t i = 1; i <= r->nr; i++) {	/* the latest first */
		uint32_t k = (r->next + NR_BRANCHES - i) % NR_BRANCHES;

		fprintf(fp, " 0x%" PRIx64 "/0x%" PRIx64 "/P/-/-/0 ", r->from[k], r->to[k]);
	}
	fputc('\n', fp);
}

/* One pass over a trace; with fp, its kernel is sampled every `period` instructions. */
static int pass(const char *trace, FILE *fp, uint64_t period, uint64_t *insns)
{
	struct input *in = input_open(trace);
	struct fetch f;
	struct fetch_event ev;
	struct ring ring = { .nr = 0 };
	uint64_t end = 0, due = period / 2;
	int ret;

	if (!in || fetch_init(&f, in) < 0)
		return -1;
	*insns = 0;
	while ((ret = fetch_next(&f, &ev)) > 0) {
		if (ev.kind != FETCH_EV_RUN)
			continue;
		const struct fetch_block *b = &f.blocks[ev.block];
		if (end && end != b->addr)
			push(&ring, end - 1, b->addr);	/* somewhere in the block's last instruction */
		end = b->addr + b->bytes;
		for (uint32_t i = 1; i < ev.count && i <= NR_BRANCHES; i++)
			push(&ring, end - 1, b->addr);
		if (!fetch_is_kernel(&f, b->addr))
			continue;
		*insns += (uint64_t)b->insns * ev.count;
		for (; fp && *insns >= due; due += period)
			write_sample(fp, &ring, b->addr, *insns);
	}
	fetch_release(&f);
	input_close(in);
	return ret;
}

static int write_branches(const char *trace, const char *path)
{
	uint64_t insns;

	if (pass(trace, NULL, 0, &insns) < 0)
		return -1;
	FILE *fp = fopen(path, "w");
	if (!fp)
		return error("cannot write '%s'", path);
	int ret = pass(trace, fp, insns / NR_SAMPLES + 1, &insns);
	return fclose(fp) || ret ? -1 : 0;
}

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
	for (uint32_t t = 0; t < NR_TESTS && !ret; t++) {
		ret = replay_layouts(tests[t], &job->image, addr, nr, m, NR_MACHINES, c);
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
		for (uint32_t t = 0; t < NR_TESTS; t++) {
			struct row *row = &res->rows[t][res->nr];
			struct tlb_counts c;

			row->name = "pack";
			if (replay_trace(tests[t], &job->image, l.addr, &m, 1, &c))
				return -1;
			row->misses[k] = c.kernel_misses;
			row->l1i[k] = c.l1i_kernel_misses;
		}
		layout_release(&l);
	}
	res->nr++;
	return 0;
}

static int train(const char *name, const char *const *profiles, struct result *res)
{
	struct job_options o = { .vmlinux = vmlinux, .profiles = profiles, .nr_profiles = profiles[1] ? 2 : 1,
				 .effort = effort, .machine = "generic-4k-32", .as_seen = true };
	struct job job;

	res->training = name;
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

	printf("\ntrained on %s, tested on %s: kernel ITLB misses\n%-10s", res->training, t ? "a mix never seen" : "all workloads", "");
	for (uint32_t k = 0; k < NR_MACHINES; k++)
		printf(" %10s", short_names[k]);
	printf("\n%-10s", "cdsort");
	for (uint32_t k = 0; k < NR_MACHINES; k++)
		printf(" %10" PRIu64, rows[CDSORT].misses[k]);
	puts("");
	for (uint32_t i = 0; i < res->nr; i++) {
		printf("%-10s", rows[i].name);
		for (uint32_t k = 0; k < NR_MACHINES; k++)
			printf(" %10.3f", ratio(rows[i].misses[k], rows[CDSORT].misses[k]));
		puts("");
	}
	printf("%-10s %10" PRIu64 "\n", "L1I cdsort", rows[CDSORT].l1i[0]);
	for (uint32_t i = 0; i < res->nr; i++) {
		printf("L1I %-6s", rows[i].name);
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
		t ? "a mix never seen" : "all workloads");
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

static int draw(const char *dir, const struct result *res, uint32_t nr)
{
	char *path = xasprintf("%s/layout.svg", dir);
	FILE *fp = fopen(path, "w");

	if (!fp)
		return error("cannot write '%s'", path);
	fprintf(fp, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"760\" height=\"%u\" font-family=\"sans-serif\" "
		"font-size=\"12\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
		"<text x=\"8\" y=\"18\">Kernel ITLB misses relative to cdsort's (less is better)</text>\n",
		30 + nr * NR_TESTS * PANEL_HEIGHT);
	for (uint32_t i = 0; i < nr * NR_TESTS; i++)
		draw_panel(fp, &res[i / NR_TESTS], i % NR_TESTS, 30 + (int)i * PANEL_HEIGHT);
	fputs("</svg>\n", fp);
	free(path);
	return fclose(fp) ? -1 : 0;
}

int main(int argc, char **argv)
{
	static struct result res[4];
	uint32_t nr = 0;

	if (argc < 6)
		return fputs("usage: layout VMLINUX ALL.FETCH MIX.FETCH PERF.DATA DIR [EFFORT]\n", stderr), 2;
	vmlinux = argv[1];
	tests[0] = argv[2];
	tests[1] = argv[3];
	if (argc > 6)
		effort = (unsigned int)atoi(argv[6]);
	for (uint32_t k = 0; k < NR_MACHINES; k++)
		if (machine_init(&machines[k], machine_list[k]) < 0)
			return 1;
	char *branches = xasprintf("%s/branches.perf-script", argv[5]);
	const char *only = argc > 7 ? argv[7] : "";
	if (write_branches(tests[0], branches))
		return 1;
	const char *const graph = argc > 8 && *argv[8] ? argv[8] : NULL;
	const char *const profiles[][2] = { { tests[0] }, { branches }, { argv[4] }, { argv[4], graph } };
	static const char *const names[] = {
		"the fetch trace", "branch records", "callchains", "callchains and a function graph",
	};
	for (uint32_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (!strstr(names[i], only) || (i + 1 == ARRAY_SIZE(names) && !graph))
			continue;
		if (train(names[i], profiles[i], &res[nr]))
			return 1;
		for (uint32_t t = 0; t < NR_TESTS; t++)
			print_table(&res[nr], t);
		if (draw(argv[5], res, ++nr))
			return 1;
	}
	free(branches);
	return 0;
}
