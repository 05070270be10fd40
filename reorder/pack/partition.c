/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/pack/partition.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/index.h"
#include "lib/mem.h"
#include "lib/progress.h"
#include "reorder/pack/cluster.h"
#include "reorder/pack/pages.h"
#include "reorder/pack/windows.h"

/* Clusters become pages; one that holds part of a large unit joins it on its page. */
static void clusters_to_pages(struct pages *p, const struct clustering *c)
{
	uint32_t *page = xmalloc(c->nr * sizeof(*page));

	memset(page, 0xff, c->nr * sizeof(*page));
	for (uint32_t i = 0; i < c->nr; i++)
		if (c->anchored[i] && p->page_of[i] != INDEX_NONE)
			page[cluster_leader(c, i)] = p->page_of[i];
	for (uint32_t i = 0; i < c->nr; i++) {
		if (p->page_of[i] != INDEX_NONE)
			continue;
		uint32_t l = cluster_leader(c, i);
		if (page[l] == INDEX_NONE)
			page[l] = pages_add(p);
		pages_put(p, i, page[l]);
	}
	free(page);
}

/*
 * A page more is a miss only where the sample outgrows the TLB; but paths will
 * be interleaved otherwise another time, and TLBs differ: so the price of the
 * n-th page rises smoothly, to a half at `entries`.
 */
static float page_price(uint32_t n, uint32_t entries)
{
	return (float)(1 / (1 + pow((double)entries / n, 3)));
}

/* Refinement: how often each page is used in each sample. */
struct refinement {
	struct pages *p;
	const struct windows *w;
	const struct use *use;	/* [slot], as sampled */
	uint16_t **users;	/* [page][sample]: slots on the page used in the sample */
	uint32_t *nr_pages;	/* [sample]: pages it uses, fixed ones included */
	float *more, *less;	/* [sample]: what one page more costs, what one less saves */
	float *marginal;	/* [n]: what the n-th page of a sample costs */
	uint32_t *first, *samples;	/* slot's samples: samples[first[slot] .. first[slot + 1]) */
};

enum { MAX_MARGINAL = 4096 };

static void set_price(struct refinement *r, uint32_t sample)
{
	uint32_t n = r->nr_pages[sample] < MAX_MARGINAL - 1 ? r->nr_pages[sample] : MAX_MARGINAL - 1;

	r->less[sample] = r->marginal[n];
	r->more[sample] = r->marginal[n + 1];
}

static void list_samples(struct refinement *r)
{
	uint32_t nr = 0;

	r->first = xcalloc((size_t)r->w->nr_slots + 1, sizeof(*r->first));
	for (uint32_t s = 0; s < r->w->nr_slots; s++)
		r->first[s + 1] = r->first[s] + use_count(r->use, s);
	r->samples = xcalloc((size_t)r->first[r->w->nr_slots] + 1, sizeof(*r->samples));
	for (uint32_t s = 0; s < r->w->nr_slots; s++)
		for_each_sample(sample, r->use, s)
			r->samples[nr++] = (uint32_t)sample;
}

static void add_slot(struct refinement *r, uint32_t slot, uint32_t page)
{
	for (uint32_t i = r->first[slot]; i < r->first[slot + 1]; i++) {
		uint32_t s = r->samples[i];

		if (!r->users[page][s]++) {
			r->nr_pages[s]++;
			set_price(r, s);
		}
	}
}

static void remove_slot(struct refinement *r, uint32_t slot, uint32_t page)
{
	for (uint32_t i = r->first[slot]; i < r->first[slot + 1]; i++) {
		uint32_t s = r->samples[i];

		if (!--r->users[page][s]) {
			r->nr_pages[s]--;
			set_price(r, s);
		}
	}
}

/* What is saved in samples that need the page for this slot alone, when it leaves. */
static float leave_gain(const struct refinement *r, uint32_t slot, uint32_t page)
{
	const uint16_t *users = r->users[page];
	float sum = 0;

	for (uint32_t i = r->first[slot]; i < r->first[slot + 1]; i++)
		if (users[r->samples[i]] == 1)
			sum += r->less[r->samples[i]];
	return sum;
}

/*
 * What is paid in samples that do not need the page yet, when the slot comes from
 * another. A sample that gives up that one costs as many pages as before. Not added
 * up any further once it is over the limit.
 */
static float join_cost(const struct refinement *r, uint32_t slot, uint32_t page, uint32_t from, float limit)
{
	const uint16_t *users = r->users[page], *others = r->users[from];
	float sum = 0;

	for (uint32_t i = r->first[slot]; i < r->first[slot + 1] && sum <= limit; i++) {
		uint32_t s = r->samples[i];

		if (!users[s])
			sum += others[s] == 1 ? r->less[s] : r->more[s];
	}
	return sum;
}

static void move(struct refinement *r, uint32_t slot, uint32_t page)
{
	remove_slot(r, slot, r->p->page_of[slot]);
	pages_put(r->p, slot, page);
	add_slot(r, slot, page);
}

/* Gains below this are rounding. */
static const float least_gain = 1e-3f;

/* The best page for a slot to move to, if that gains. */
static bool try_move(struct refinement *r, uint32_t slot)
{
	struct pages *p = r->p;
	uint32_t from = p->page_of[slot], best = INDEX_NONE;

	float leave = leave_gain(r, slot, from), best_gain = least_gain;
	if (leave <= least_gain)
		return false;
	for (uint32_t page = 0; page < p->nr_pages; page++) {
		if (page == from || !p->fill[page] || !pages_fits(p, page, r->w->slots[slot].bytes, r->w->page))
			continue;
		float gain = leave - join_cost(r, slot, page, from, leave - best_gain);
		if (gain > best_gain) {
			best_gain = gain;
			best = page;
		}
	}
	if (best == INDEX_NONE)
		return false;
	move(r, slot, best);
	return true;
}

/* Exchange with a slot of a page that would be better but is full. */
static bool try_swap(struct refinement *r, uint32_t slot, const uint32_t *members, const uint32_t *first)
{
	struct pages *p = r->p;
	uint32_t from = p->page_of[slot];
	float leave = leave_gain(r, slot, from);

	for (uint32_t page = 0; leave > least_gain && page < p->nr_pages; page++) {
		if (page == from || !p->fill[page])
			continue;
		float gain = leave - join_cost(r, slot, page, from, leave - least_gain);
		if (gain <= least_gain)
			continue;
		move(r, slot, page);
		for (uint32_t i = first[page]; i < first[page + 1]; i++) {
			uint32_t other = members[i];

			if (p->page_of[other] != page || other == slot ||
			    p->fill[page] - r->w->slots[other].bytes > r->w->page ||
			    p->fill[from] + r->w->slots[other].bytes > r->w->page)
				continue;
			float both = gain + leave_gain(r, other, page);
			if (both - join_cost(r, other, from, page, both - least_gain) > least_gain) {
				move(r, other, from);
				return true;
			}
		}
		move(r, slot, from);
	}
	return false;
}

/* Slots by page, as of now; swaps skip what has moved since. */
static void list_members(const struct refinement *r, uint32_t *members, uint32_t *first)
{
	const struct pages *p = r->p;

	memset(first, 0, (p->nr_pages + 2) * sizeof(*first));
	for (uint32_t i = 0; i < r->w->nr_free; i++)
		if (slot_is_single(r->w, i))
			first[p->page_of[i] + 2]++;
	for (uint32_t i = 2; i < p->nr_pages + 2; i++)
		first[i] += first[i - 1];
	for (uint32_t i = 0; i < r->w->nr_free; i++)
		if (slot_is_single(r->w, i))
			members[first[p->page_of[i] + 1]++] = i;
}

static void refinement_init(struct refinement *r, const struct partition_options *opts)
{
	const struct windows *w = r->w;
	uint32_t samples = r->use->words * 64;

	r->users = xcalloc(r->p->nr_pages, sizeof(*r->users));
	for (uint32_t i = 0; i < r->p->nr_pages; i++)
		r->users[i] = xcalloc(samples, sizeof(*r->users[i]));
	r->nr_pages = xcalloc(samples, sizeof(*r->nr_pages));
	r->more = xcalloc(samples, sizeof(*r->more));
	r->less = xcalloc(samples, sizeof(*r->less));
	list_samples(r);
	r->marginal = xcalloc(MAX_MARGINAL + 1, sizeof(*r->marginal));
	for (uint32_t n = 1; n <= MAX_MARGINAL; n++)
		r->marginal[n] = page_price(n, opts->entries);
	for (uint32_t s = w->nr_free; s < w->nr_slots; s++) {
		for (uint32_t i = r->first[s]; i < r->first[s + 1]; i++)
			r->nr_pages[r->samples[i]]++;
	}
	for (uint32_t s = 0; s < w->nr_free; s++)
		add_slot(r, s, r->p->page_of[s]);
}

static void refinement_release(struct refinement *r)
{
	for (uint32_t i = 0; i < r->p->nr_pages; i++)
		free(r->users[i]);
	free(r->users);
	free(r->nr_pages);
	free(r->more);
	free(r->less);
	free(r->first);
	free(r->samples);
	free(r->marginal);
}

void refine(struct pages *p, const struct windows *w, const struct use *use, const struct partition_options *opts)
{
	struct refinement r = { .p = p, .w = w, .use = use };
	uint32_t *members = xcalloc(w->nr_free, sizeof(*members));
	uint32_t *first = xcalloc(p->nr_pages + 2, sizeof(*first));

	refinement_init(&r, opts);
	for (uint32_t pass = 0; pass < opts->passes && !interrupted(); pass++) {
		bool any = false;

		progress("partitioning", (double)pass / opts->passes);

		list_members(&r, members, first);
		for (uint32_t i = 0; i < w->nr_free; i++)
			if (slot_is_single(w, i))
				any |= try_move(&r, i) || try_swap(&r, i, members, first);
		if (!any)
			break;
	}
	progress_end();
	refinement_release(&r);
	free(members);
	free(first);
}

void partition(struct pages *p, const struct windows *w, const struct use *slots, const struct partition_options *opts)
{
	struct use joined;
	struct clustering c;

	use_copy(&joined, slots);
	clustering_init(&c, w->nr_free);
	for (uint32_t i = 0; i < c.nr; i++) {
		c.bytes[i] = w->slots[i].bytes;
		c.anchored[i] = p->page_of[i] != INDEX_NONE;
	}
	cluster(&c, &joined, w->page, true);
	clusters_to_pages(p, &c);
	refine(p, w, slots, opts);
	clustering_release(&c);
	use_release(&joined);
}

static uint32_t count_used(const struct use *pages, uint32_t sample)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < pages->nr; i++)
		n += (uint32_t)(use_of(pages, i)[sample / 64] >> sample % 64 & 1);
	return n;
}

double partition_cost(const struct pages *p, const struct windows *w, const struct use *slots, uint32_t entries)
{
	struct use pages;
	double cost = 0;

	use_init(&pages, p->nr_pages + w->nr_slots - w->nr_free, slots->words * 64);
	for (uint32_t s = 0; s < w->nr_slots; s++) {
		uint64_t *to = use_of(&pages, s < w->nr_free ? p->page_of[s] : p->nr_pages + s - w->nr_free);

		for (uint32_t k = 0; k < slots->words; k++)
			to[k] |= use_of(slots, s)[k];
	}
	for (uint32_t i = 0; i < slots->words * 64; i++)
		for (uint32_t n = count_used(&pages, i); n; n--)
			cost += (double)page_price(n, entries);
	use_release(&pages);
	return cost;
}
