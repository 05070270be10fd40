/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/tlb/steady.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/callgraph.h"
#include "analyze/image/image.h"
#include "analyze/tlb/machine.h"
#include "analyze/tlb/tlb.h"
#include "lib/mem.h"

enum {
	WARM_RUNS = 2,		/* of a path alone, before it counts */
	COUNTED_RUNS = 4,
	CHAINS = 256,		/* the mix: so many starts, spread evenly over the weight */
	CHAIN_WARM = 32,	/* paths from each, before they count */
	CHAIN_RUNS = 96,
	USER_PAGE = 0x10000000,
};

struct steady_run {
	const struct callgraph *cg;
	const uint64_t *unit_addr;
	uint64_t *before;	/* [path]: weight of the paths before it; [nr_paths] the total */
	uint32_t *first_next;	/* [path]: in order[]; [nr_paths] the end */
	uint32_t *order;	/* nexts, by the path they come from */
	uint64_t random;
};

static void run_path(const struct steady_run *r, struct tlb *t, uint32_t path)
{
	const struct callgraph *cg = r->cg;
	const struct callgraph_path *p = &cg->paths[path];

	for (uint32_t i = p->first_span; i < p->first_span + p->nr_spans; i++) {
		const struct span *s = &cg->spans[i];
		uint64_t base = r->unit_addr ? r->unit_addr[s->unit] : cg->image->units[s->unit].addr;

		if (s->end > s->start)
			tlb_fetch(t, base + s->start, s->end - s->start, true);
	}
	if (p->kind == PATH_SYSCALL)
		tlb_fetch(t, USER_PAGE, 4, false);
}

static double run_alone(const struct steady_run *r, const struct machine *m, uint32_t path)
{
	struct tlb *t = tlb_new(m);
	uint64_t warm = 0;

	for (uint32_t i = 0; i < WARM_RUNS + COUNTED_RUNS; i++) {
		if (i == WARM_RUNS)
			warm = tlb_get_counts(t).kernel_misses;
		run_path(r, t, path);
	}
	uint64_t all = tlb_get_counts(t).kernel_misses;
	tlb_free(t);
	return (double)(all - warm) / COUNTED_RUNS;
}

static uint64_t draw(struct steady_run *r, uint64_t below)
{
	r->random ^= r->random << 13;
	r->random ^= r->random >> 7;
	r->random ^= r->random << 17;
	return r->random % below;
}

/* The path that holds this much of the weight before it. */
static uint32_t path_at(const struct steady_run *r, uint64_t at)
{
	uint32_t lo = 0, hi = r->cg->nr_paths - 1;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo + 1) / 2;

		if (r->before[mid] <= at)
			lo = mid;
		else
			hi = mid - 1;
	}
	return lo;
}

/* A path by its weight alone. */
static uint32_t draw_path(struct steady_run *r)
{
	return path_at(r, draw(r, r->before[r->cg->nr_paths]));
}

static uint32_t draw_next(struct steady_run *r, uint32_t path)
{
	uint64_t total = 0;

	for (uint32_t i = r->first_next[path]; i < r->first_next[path + 1]; i++)
		total += r->cg->nexts[r->order[i]].weight;
	if (!total)
		return draw_path(r);
	uint64_t at = draw(r, total);
	for (uint32_t i = r->first_next[path]; i < r->first_next[path + 1]; i++) {
		const struct callgraph_next *n = &r->cg->nexts[r->order[i]];

		if (at < n->weight)
			return n->to;
		at -= n->weight;
	}
	return draw_path(r);
}

/*
 * Paths follow each other in phases (one program does one thing for long), so one
 * chain would see few of them: many short ones start all over the profile.
 */
static double run_mix(struct steady_run *r, const struct machine *m)
{
	struct tlb *t = tlb_new(m);
	uint64_t total = r->before[r->cg->nr_paths], misses = 0;

	for (uint32_t c = 0; c < CHAINS; c++) {
		uint32_t path = path_at(r, (uint64_t)((c + 0.5) / CHAINS * (double)total));
		uint64_t warm = 0;

		for (uint32_t i = 0; i < CHAIN_WARM + CHAIN_RUNS; i++) {
			if (i == CHAIN_WARM)
				warm = tlb_get_counts(t).kernel_misses;
			run_path(r, t, path);
			path = draw_next(r, path);
		}
		misses += tlb_get_counts(t).kernel_misses - warm;
	}
	tlb_free(t);
	return (double)misses / (CHAINS * CHAIN_RUNS);
}

static void sort_nexts(struct steady_run *r)
{
	const struct callgraph *cg = r->cg;
	uint32_t *fill;

	r->first_next = xcalloc((size_t)cg->nr_paths + 1, sizeof(*r->first_next));
	r->order = xcalloc(cg->nr_nexts, sizeof(*r->order));
	for (uint32_t i = 0; i < cg->nr_nexts; i++)
		r->first_next[cg->nexts[i].from + 1]++;
	for (uint32_t i = 0; i < cg->nr_paths; i++)
		r->first_next[i + 1] += r->first_next[i];
	fill = xmemdup(r->first_next, (cg->nr_paths + 1) * sizeof(*fill));
	for (uint32_t i = 0; i < cg->nr_nexts; i++)
		r->order[fill[cg->nexts[i].from]++] = i;
	free(fill);
}

bool steady_init(struct steady *s, const struct callgraph *cg, const uint64_t *unit_addr,
		 const struct machine *m)
{
	struct steady_run r = { .cg = cg, .unit_addr = unit_addr, .random = 0x9e3779b97f4a7c15u };
	struct machine tlb_only = *m;

	tlb_only.l1i_bytes = 0;
	memset(s, 0, sizeof(*s));
	r.before = xcalloc((size_t)cg->nr_paths + 1, sizeof(*r.before));
	for (uint32_t i = 0; i < cg->nr_paths; i++)
		r.before[i + 1] = r.before[i] + cg->paths[i].weight;
	if (r.before[cg->nr_paths]) {
		sort_nexts(&r);
		s->nr_paths = cg->nr_paths;
		s->alone = xcalloc(cg->nr_paths, sizeof(*s->alone));
		for (uint32_t i = 0; i < cg->nr_paths; i++)
			s->alone[i] = run_alone(&r, &tlb_only, i);
		s->mix = run_mix(&r, &tlb_only);
	}
	bool any = s->nr_paths != 0;
	free(r.before);
	free(r.first_next);
	free(r.order);
	return any;
}

void steady_release(struct steady *s)
{
	free(s->alone);
	memset(s, 0, sizeof(*s));
}
