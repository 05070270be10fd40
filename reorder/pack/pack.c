/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pack: the units that ran are put on pages so that what runs together needs few
 * of them; then pages are ordered, and units inside each page.
 */
#include "reorder/order.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/callgraph.h"
#include "analyze/image/image.h"
#include "analyze/tlb/machine.h"
#include "lib/error.h"
#include "lib/index.h"
#include "lib/mem.h"
#include "lib/progress.h"
#include "reorder/layout.h"
#include "reorder/pack/cluster.h"
#include "reorder/pack/followers.h"
#include "reorder/pack/page_order.h"
#include "reorder/pack/pages.h"
#include "reorder/pack/partition.h"
#include "reorder/pack/samples.h"
#include "reorder/pack/stagger.h"
#include "reorder/pack/windows.h"

enum { PAGE = 4096 };	/* bytes: the frame packed for; larger pages are groups of them */

/* How much work each effort does; 3 is the default. */
static const struct {
	uint32_t samples;	/* drawn to tell uses apart */
	uint32_t passes;	/* of moves and swaps */
	uint32_t tries;		/* with other samples, the best taken */
} efforts[] = {
	[1] = { 1024, 1, 1 }, [2] = { 2048, 2, 1 }, [3] = { 2048, 3, 1 }, [4] = { 2048, 8, 4 }, [5] = { 2048, 8, 8 },
	[6] = { 2048, 8, 12 }, [7] = { 2048, 8, 16 }, [8] = { 2048, 8, 24 }, [9] = { 2048, 8, 32 },
};

/* Tries differ by what their own samples happen to hold: the best is refined under many more. */
enum { POLISH_SAMPLES = 8192, POLISH_PASSES = 32 };
static const double polish_offset = 0.37;	/* other samples than the judge's */

enum { DEPTH = 4 };			/* paths in a row that a TLB should hold */
static const double flatten = 0.5;	/* so that a mix never profiled is served too */
/*
 * Of the TLB's size: from here on a page more costs most. A part, because samples
 * hold less than what runs: no user code, no interrupts, in sampled profiles not all of a path.
 */
static const double aim = 0.6;

struct packer {
	const struct callgraph *cg;
	struct windows w;
	struct pages pages;
	uint32_t *rank;		/* [unit]: its place in the cdsort order */
};

/* Callers beside callees: the order of units inside a page is cdsort's. */
static void rank_units(struct packer *k, const struct order_options *opts)
{
	struct layout l;

	layout_init(&l, k->cg->image);
	order_cdsort(k->cg, opts, &l);
	k->rank = xcalloc(k->cg->image->nr_units, sizeof(*k->rank));
	for (uint32_t i = 0; i < l.nr_hot; i++)
		k->rank[l.hot[i].unit] = i;
	layout_release(&l);
}

struct member {
	uint32_t slot, rank, align;
};

static int compare_members(const void *pa, const void *pb)
{
	const struct member *a = pa, *b = pb;

	if (a->align != b->align)
		return a->align > b->align ? -1 : 1;
	return a->rank < b->rank ? -1 : a->rank > b->rank;
}

/* The units of one page or of a large unit's pages, in their order there. Returns how many. */
static uint32_t list_members(const struct packer *k, const struct page_run *run, struct member *m)
{
	const struct windows *w = &k->w;
	uint32_t nr = 0;

	for (uint32_t s = 0; s < w->nr_free; s++) {
		uint32_t page = k->pages.page_of[s];

		if (page < run->first || page >= run->first + run->nr || w->slots[s].part || s == w->tail)
			continue;
		const struct unit *u = &k->cg->image->units[w->slots[s].unit];
		/* A large unit begins its page; the widely aligned come before the others. */
		m[nr++] = (struct member){ s, k->rank[w->slots[s].unit],
			!slot_is_single(w, s) ? UINT32_MAX : u->align > 16 ? u->align : 0 };
	}
	qsort(m, nr, sizeof(*m), compare_members);
	return nr;
}

static bool run_is_used(const struct use *slots, const struct member *m, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++)
		if (use_count(slots, m[i].slot))
			return true;
	return false;
}

/* The page that the tail follows on comes last. */
static void put_tail_last(const struct packer *k, struct page_run *runs, uint32_t nr)
{
	uint32_t page = k->w.tail == INDEX_NONE ? INDEX_NONE : k->pages.page_of[k->w.tail];

	for (uint32_t i = 0; i < nr; i++) {
		struct page_run run = runs[i];

		if (run.first != page)
			continue;
		memmove(&runs[i], &runs[i + 1], (nr - 1 - i) * sizeof(*runs));
		runs[nr - 1] = run;
		return;
	}
}

/*
 * Write the pages down. Each begins with an explicit alignment, so that an error
 * in one unit's size could not shift the rest; pages that no sample uses follow
 * each other without gaps.
 */
static void emit(struct packer *k, const struct use *slots, struct layout *l)
{
	uint32_t nr_runs;
	struct page_run *runs = order_pages(&k->pages, slots, &nr_runs);
	struct member *m = xcalloc(k->w.nr_free, sizeof(*m));
	uint32_t *units = xcalloc(k->w.nr_free, sizeof(*units));
	struct stagger stagger;

	put_tail_last(k, runs, nr_runs);
	stagger_init(&stagger, k->cg, PAGE);
	for (uint32_t i = 0; i < nr_runs; i++) {
		uint32_t nr = list_members(k, &runs[i], m), nr_fixed = 0;
		bool has_tail = k->w.tail != INDEX_NONE && i == nr_runs - 1;
		uint32_t align = !i || has_tail || run_is_used(slots, m, nr) ? PAGE : 0;

		for (uint32_t j = 0; j < nr; j++) {
			units[j] = k->w.slots[m[j].slot].unit;
			nr_fixed += m[j].align > 0;
		}
		stagger_page(&stagger, units, nr, nr_fixed);
		for (uint32_t j = 0; j < nr; j++)
			layout_append(l, units[j], j ? 0 : align);
		if (has_tail)
			l->nr_last = nr;
	}
	stagger_release(&stagger);
	free(units);
	free(m);
	free(runs);
}

/*
 * Where data shares the TLB, streaming evicts code all the time, and every page of a
 * path is likely to miss: then few pages are all that helps, and each path is for itself.
 */
static bool is_alone(const struct machine *m)
{
	return m && m->levels[0].unified;
}

static uint32_t entries_aimed_at(const struct machine *m)
{
	uint32_t entries = m && machine_entry_bytes(m) <= PAGE ? m->levels[0].entries : 32;

	return is_alone(m) ? entries / 8 + 1 : (uint32_t)(aim * entries) + 1;
}

/* Each try draws other samples and ends in another local optimum; the cheapest by the judge's samples is kept. */
static void try_all(struct packer *k, struct sample_options draw, const struct partition_options *part, uint32_t tries,
		    const struct use *judge)
{
	double best = INFINITY;

	for (uint32_t i = 0; i < tries && !(i && interrupted()); i++) {
		struct pages pages;
		struct use slots;

		draw.offset = (i + 1.0) / (tries + 1);
		draw_samples(&slots, &k->w, &draw);
		pages_init(&pages, &k->w);
		partition(&pages, &k->w, &slots, part);
		/* One that has no rival is judged only for who wants to know. */
		double cost = tries > 1 || verbosity > 0 ? partition_cost(&pages, &k->w, judge, part->entries) : 0;
		detail("pack: try %u costs %.0f", i + 1, cost);
		if (cost < best) {
			struct pages worse = k->pages;

			k->pages = pages;
			pages = worse;
			best = cost;
		}
		pages_release(&pages);
		use_release(&slots);
	}
}

static void polish(struct packer *k, struct sample_options draw, uint32_t entries)
{
	struct partition_options part = { POLISH_PASSES, entries };
	struct use slots;

	draw.samples = POLISH_SAMPLES;
	draw.offset = polish_offset;
	draw_samples(&slots, &k->w, &draw);
	refine(&k->pages, &k->w, &slots, &part);
	use_release(&slots);
}

/* judge: samples that no try sees. The caller releases them. */
static void pack(struct packer *k, const struct order_options *opts, struct use *judge)
{
	uint32_t tries = efforts[opts->effort].tries;
	struct sample_options draw = { .samples = efforts[opts->effort].samples,
				       .depth = is_alone(opts->machine) ? 2 : DEPTH, .flatten = flatten };
	struct sample_options judging = draw;
	struct partition_options part = { efforts[opts->effort].passes, entries_aimed_at(opts->machine) };

	judging.samples = tries > 1 ? POLISH_SAMPLES : 2 * draw.samples;
	draw_samples(judge, &k->w, &judging);
	try_all(k, draw, &part, tries, judge);
	if (tries > 1 && !interrupted()) {
		polish(k, draw, part.entries);
		if (verbosity > 0)
			detail("pack: the best one refined costs %.0f", partition_cost(&k->pages, &k->w, judge, part.entries));
	}
}

void order_pack(const struct callgraph *cg, const struct order_options *opts, struct layout *l)
{
	struct packer k = { .cg = cg };
	struct followers followers;
	struct layout fixed;
	struct use slots;
	uint32_t nr, *hot = hot_units(cg, &nr);

	if (!nr) {
		free(hot);
		return;
	}
	followers_init(&followers, cg, PAGE);
	followers_assign(&followers, cg, hot, nr, PAGE, &fixed);
	windows_init(&k.w, cg, hot, nr, &followers, &fixed, PAGE);
	rank_units(&k, opts);
	pack(&k, opts, &slots);
	emit(&k, &slots, l);
	followers_append(&followers, l);
	l->nr_last += followers.nr;
	use_release(&slots);
	pages_release(&k.pages);
	windows_release(&k.w);
	followers_release(&followers);
	layout_release(&fixed);
	free(k.rank);
	free(hot);
}
