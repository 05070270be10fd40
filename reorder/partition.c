/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/partition.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/index.h"
#include "lib/mem.h"
#include "reorder/cluster.h"
#include "reorder/pages.h"
#include "reorder/windows.h"

/*
 * Samples are drawn in proportion to weight, so counting samples is counting
 * weight: systematically, one each total / samples of summed weight.
 */
void sample_windows(struct use *u, const struct windows *w, uint32_t samples, double flatten)
{
	uint32_t drawn = 0;
	double total = 0, reached = 0;

	use_init(u, w->nr_free, samples);
	for (uint32_t i = 0; i < w->nr_windows; i++)
		total += pow(w->windows[i].entered + w->windows[i].again, flatten);
	for (uint32_t i = 0; i < w->nr_windows && drawn < samples; i++) {
		const struct window *win = &w->windows[i];

		reached += pow(win->entered + win->again, flatten);
		for (; drawn < samples && (drawn + 0.5) * total < reached * samples; drawn++)
			for (uint32_t j = 0; j < win->nr; j++)
				if (w->items[win->first + j] < w->nr_free)
					use_set(u, w->items[win->first + j], drawn);
	}
}

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

/* Refinement: how often each page is used in each sample. */
struct refinement {
	struct pages *p;
	const struct windows *w;
	struct use use;		/* [slot], as sampled */
	uint32_t samples;
	uint16_t **users;	/* [page][sample]: slots on the page used in the sample */
	uint32_t *list;		/* samples of the slot looked at */
	uint32_t nr_list;
};

static void list_samples(struct refinement *r, uint32_t slot)
{
	const uint64_t *bits = use_of(&r->use, slot);

	r->nr_list = 0;
	for (uint32_t i = 0; i < r->use.words; i++)
		for (uint64_t b = bits[i]; b; b &= b - 1)
			r->list[r->nr_list++] = i * 64 + (uint32_t)__builtin_ctzll(b);
}

static void count_slot(struct refinement *r, uint32_t slot, uint32_t page, int by)
{
	list_samples(r, slot);
	for (uint32_t i = 0; i < r->nr_list; i++)
		r->users[page][r->list[i]] = (uint16_t)(r->users[page][r->list[i]] + by);
}

/* Samples that need the page for this slot alone: saved when it leaves. */
static int leave_gain(const struct refinement *r, uint32_t page)
{
	int n = 0;

	for (uint32_t i = 0; i < r->nr_list; i++)
		n += r->users[page][r->list[i]] == 1;
	return n;
}

/* Samples that do not need the page yet: paid when the slot comes. */
static int join_cost(const struct refinement *r, uint32_t page)
{
	int n = 0;

	for (uint32_t i = 0; i < r->nr_list; i++)
		n += !r->users[page][r->list[i]];
	return n;
}

static void move(struct refinement *r, uint32_t slot, uint32_t page)
{
	count_slot(r, slot, r->p->page_of[slot], -1);
	pages_put(r->p, slot, page);
	count_slot(r, slot, page, 1);
}

/* The best page for a slot to move to, if that gains. */
static bool try_move(struct refinement *r, uint32_t slot)
{
	struct pages *p = r->p;
	uint32_t from = p->page_of[slot], best = INDEX_NONE;

	list_samples(r, slot);
	int leave = leave_gain(r, from), best_gain = 0;
	if (!leave)
		return false;
	for (uint32_t page = 0; page < p->nr_pages; page++) {
		if (page == from || !p->fill[page] || !pages_fits(p, page, r->w->slots[slot].bytes, r->w->page))
			continue;
		int gain = leave - join_cost(r, page);
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

	list_samples(r, slot);
	int leave = leave_gain(r, from);
	if (!leave)
		return false;
	for (uint32_t page = 0; page < p->nr_pages; page++) {
		if (page == from || leave - join_cost(r, page) <= 0)
			continue;
		int gain = leave - join_cost(r, page);
		move(r, slot, page);
		for (uint32_t i = first[page]; i < first[page + 1]; i++) {
			uint32_t other = members[i];

			if (p->page_of[other] != page || other == slot ||
			    p->fill[page] - r->w->slots[other].bytes > r->w->page ||
			    p->fill[from] + r->w->slots[other].bytes > r->w->page)
				continue;
			list_samples(r, other);
			if (gain + leave_gain(r, page) - join_cost(r, from) > 0) {
				move(r, other, from);
				return true;
			}
		}
		move(r, slot, from);
		list_samples(r, slot);
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

static void improve(struct pages *p, const struct windows *w, struct use *use, const struct partition_options *opts)
{
	struct refinement r = { .p = p, .w = w, .use = *use, .samples = opts->samples };
	uint32_t *members = xcalloc(w->nr_free, sizeof(*members));
	uint32_t *first = xcalloc(p->nr_pages + 2, sizeof(*first));

	r.users = xcalloc(p->nr_pages, sizeof(*r.users));
	r.list = xcalloc(opts->samples, sizeof(*r.list));
	for (uint32_t i = 0; i < p->nr_pages; i++)
		r.users[i] = xcalloc(opts->samples, sizeof(*r.users[i]));
	for (uint32_t i = 0; i < w->nr_free; i++)
		count_slot(&r, i, p->page_of[i], 1);
	for (uint32_t pass = 0; pass < opts->passes; pass++) {
		bool any = false;

		list_members(&r, members, first);
		for (uint32_t i = 0; i < w->nr_free; i++)
			if (slot_is_single(w, i))
				any |= try_move(&r, i) || try_swap(&r, i, members, first);
		if (!any)
			break;
	}
	for (uint32_t i = 0; i < p->nr_pages; i++)
		free(r.users[i]);
	free(r.users);
	free(r.list);
	free(members);
	free(first);
}

void partition(struct pages *p, const struct windows *w, const struct partition_options *opts)
{
	struct use use, joined;
	struct clustering c;

	sample_windows(&use, w, opts->samples, opts->flatten);
	use_copy(&joined, &use);
	clustering_init(&c, w->nr_free);
	for (uint32_t i = 0; i < c.nr; i++) {
		c.bytes[i] = w->slots[i].bytes;
		c.anchored[i] = p->page_of[i] != INDEX_NONE;
	}
	cluster(&c, &joined, w->page, true);
	clusters_to_pages(p, &c);
	improve(p, w, &use, opts);
	clustering_release(&c);
	use_release(&joined);
	use_release(&use);
}
