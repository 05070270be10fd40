/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How fast the TLB simulator is: fetch events a second, and against a scan of timestamps. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "analyze/tlb/machine.h"
#include "analyze/tlb/tlb.h"
#include "lib/mem.h"

enum { NR_FUNCS = 1500, NR_EVENTS = 1 << 22, ROUNDS = 8 };

static uint64_t state = 88172645463325252u;

static uint32_t rnd(uint32_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)((state >> 20) % below);
}

struct event {
	uint64_t addr;
	uint32_t len;
};

/*
 * What a kernel's trace looks like: blocks of some 16 bytes, nine in ten of which stay
 * in the function, the others calls among a small hot set over a long tail. In a
 * recorded workload one block in ten begins on another page than the one before.
 */
static struct event *make_trace(void)
{
	struct event *ev = xcalloc(NR_EVENTS, sizeof(*ev));
	uint64_t *funcs = xcalloc(NR_FUNCS, sizeof(*funcs));
	uint64_t at;

	for (uint32_t i = 0; i < NR_FUNCS; i++)
		funcs[i] = 0xffffffff81000000u + 16 * (uint64_t)rnd(0x400000 / 16);
	at = funcs[0];
	for (uint32_t i = 0; i < NR_EVENTS; i++) {
		if (!rnd(10)) {
			uint32_t r = NR_FUNCS;

			/* Downwards at random, again and again: the first functions are the hottest. */
			for (uint32_t k = 0; k < 4; k++)
				r = rnd(r) + 1;
			at = funcs[r - 1];
		}
		ev[i] = (struct event){ at, 4 + rnd(28) };
		at += ev[i].len;
	}
	free(funcs);
	return ev;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double run(const struct machine *m, const struct event *ev, struct tlb_counts *c)
{
	struct tlb *t = tlb_new(m);
	double start = now();

	for (uint32_t r = 0; r < ROUNDS; r++)
		for (uint32_t i = 0; i < NR_EVENTS; i++)
			tlb_fetch(t, ev[i].addr, ev[i].len, true);
	double took = now() - start;
	*c = tlb_get_counts(t);
	tlb_free(t);
	return (double)ROUNDS * NR_EVENTS / took;
}

/* The obvious way: every entry has the time of its last use, the oldest goes. */
static double brute(uint32_t entries, const struct event *ev, uint64_t *misses)
{
	uint64_t *page = xcalloc(entries, sizeof(*page)), *used = xcalloc(entries, sizeof(*used)), clock = 0;
	double start = now();

	*misses = 0;
	for (uint32_t i = 0; i < NR_EVENTS; i++)
		for (uint64_t p = ev[i].addr >> 12; p <= (ev[i].addr + ev[i].len - 1) >> 12; p++) {
			uint32_t hit = entries, oldest = 0;

			for (uint32_t e = 0; e < entries; e++) {
				if (page[e] == p)
					hit = e;
				if (used[e] < used[oldest])
					oldest = e;
			}
			if (hit == entries) {
				++*misses;
				hit = oldest;
				page[hit] = p;
			}
			used[hit] = ++clock;
		}
	free(page);
	free(used);
	return (double)NR_EVENTS / (now() - start);
}

int main(void)
{
	static const char *const names[] = {
		"generic-4k-16", "generic-4k-32", "generic-4k-64", "generic-4k-64-8way", "generic-4k-64-rr", "mpc8xx",
		"skylake-4k", "cortex-a53-4k",
	};
	struct event *ev = make_trace();

	printf("%-20s %12s %12s %10s\n", "machine", "Mevents/s", "with L1I", "misses");
	for (uint32_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct machine m;
		struct tlb_counts c;

		if (machine_init(&m, names[i]) < 0)
			return 1;
		double with = m.l1i_bytes ? run(&m, ev, &c) : 0;
		m.l1i_bytes = 0;
		double speed = run(&m, ev, &c);
		printf("%-20s %12.0f %12.0f %9.2f%%\n", names[i], speed / 1e6, with / 1e6,
		       100 * (double)c.kernel_misses / ((double)ROUNDS * NR_EVENTS));
		if (m.nr_levels == 1 && m.levels[0].entries == 32 && m.levels[0].policy == TLB_LRU) {
			uint64_t misses;
			double slow = brute(32, ev, &misses);
			printf("%-20s %12.0f %12s %9.2f%%  (%.1f times slower)\n", "  brute force", slow / 1e6, "",
			       100 * (double)misses / NR_EVENTS, speed / slow);
		}
		machine_release(&m);
	}
	free(ev);
	return 0;
}
