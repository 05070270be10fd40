/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/pack/refine.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/error.h"
#include "lib/index.h"
#include "lib/mem.h"
#include "lib/progress.h"
#include "reorder/pack/cluster.h"
#include "reorder/pack/pages.h"
#include "reorder/pack/windows.h"

enum {
	DEPTH = 2 * REFINE_MAX_ENTRIES,	/* of the LRU stack */
	WARM_UP = 512,			/* items of the window before that are run first */
	CANDIDATES = 12,		/* pages a slot is tried on */
	TRIES = 4,			/* partners tried for an exchange with a full page */
};

struct refiner {
	struct pages *p;
	const struct windows *w;
	const struct use *slots;
	uint32_t *page;			/* [slot]: free ones' pages, then a number of its own for each fixed one */
	double *entered, *again;	/* [window]: weights */
	double *cost;			/* [window] */
	double total;
	double price[DEPTH + 1];	/* of a lookup that finds its page at that depth; [DEPTH]: not at all */
	uint32_t *first, *users;	/* slot's windows: users[first[slot] .. first[slot + 1]) */
	uint32_t *stamp, now;		/* [window]: listed in `touched` already */
	uint32_t *touched, nr_touched;
	double *old_cost;		/* [touched] */
	uint32_t *cand;			/* [slot * CANDIDATES] pages, INDEX_NONE fills up */
	struct use pages_use;
	uint64_t spent;
	uint64_t random;
};

/* xorshift64*: Vigna, "An experimental exploration of Marsaglia's xorshift generators" (2016). */
static uint32_t next_random(struct refiner *r, uint32_t below)
{
	r->random ^= r->random >> 12;
	r->random ^= r->random << 25;
	r->random ^= r->random >> 27;
	return (uint32_t)(((r->random * 0x2545f4914f6cdd1du) >> 32) * below >> 32);
}

/*
 * A page found deeper than the TLB is a miss. But what runs next time will
 * interleave these windows otherwise, which stretches or shrinks every depth by
 * some factor: so the price rises smoothly with the logarithm of the depth, from
 * an eighth at half the TLB's size to seven eighths at twice that. TLBs of other
 * sizes are served by the same.
 */
static void set_prices(struct refiner *r, uint32_t entries)
{
	for (uint32_t d = 1; d <= DEPTH; d++)
		r->price[d] = 1 / (1 + pow((double)entries / d, 3));
}

static double run_items(struct refiner *r, uint32_t *stack, uint32_t *fill, uint32_t first, uint32_t nr)
{
	const uint32_t *items = r->w->items + first, *page = r->page;
	double cost = 0;
	uint32_t n = *fill;

	for (uint32_t i = 0; i < nr; i++) {
		uint32_t p = page[items[i]], d = 0;

		if (n && stack[0] == p)
			continue;
		while (d < n && stack[d] != p)
			d++;
		cost += r->price[d == n ? DEPTH : d];
		if (d == n) {
			if (n < DEPTH)
				n++;
			else
				d--;
		}
		memmove(stack + 1, stack, d * sizeof(*stack));
		stack[0] = p;
	}
	*fill = n;
	r->spent += nr;
	return cost;
}

static double window_cost(struct refiner *r, uint32_t i)
{
	const struct window *w = &r->w->windows[i], *before = &r->w->windows[w->before];
	uint32_t stack[DEPTH + 1], n = 0;
	double cost;

	if (w->before != i) {
		uint32_t skip = before->nr > WARM_UP ? before->nr - WARM_UP : 0;

		run_items(r, stack, &n, before->first + skip, before->nr - skip);
	}
	cost = r->entered[i] * run_items(r, stack, &n, w->first, w->nr);
	if (r->again[i] > 0)
		cost += r->again[i] * run_items(r, stack, &n, w->first, w->nr);
	return cost;
}

/* Windows by slot: those that run it, or whose predecessor does. */
static void list_users(struct refiner *r)
{
	const struct windows *w = r->w;
	uint32_t *seen = xcalloc(w->nr_free, sizeof(*seen)), *fill;

	r->first = xcalloc(w->nr_free + 2, sizeof(*r->first));
	for (int pass = 0; pass < 2; pass++) {
		memset(seen, 0, w->nr_free * sizeof(*seen));
		fill = r->first + 1;
		for (uint32_t i = 0; i < w->nr_windows; i++) {
			const struct window *win[2] = { &w->windows[i], &w->windows[w->windows[i].before] };

			for (int k = 0; k < 2; k++) {
				for (uint32_t j = 0; j < win[k]->nr; j++) {
					uint32_t slot = w->items[win[k]->first + j];

					if (slot >= w->nr_free || seen[slot] == i + 1)
						continue;
					seen[slot] = i + 1;
					if (pass)
						r->users[fill[slot]++] = i;
					else
						r->first[slot + 2]++;
				}
			}
		}
		if (pass)
			break;
		for (uint32_t s = 2; s < w->nr_free + 2; s++)
			r->first[s] += r->first[s - 1];
		r->users = xcalloc(r->first[w->nr_free + 1], sizeof(*r->users));
	}
	free(seen);
}

struct ranked {
	uint32_t i;
	double key;
};

static int compare_ranked(const void *pa, const void *pb)
{
	const struct ranked *a = pa, *b = pb;

	if (a->key != b->key)
		return a->key > b->key ? -1 : 1;
	return a->i < b->i ? -1 : a->i > b->i;
}

/* For each slot, the pages whose use is most like its own. */
static void find_candidates(struct refiner *r)
{
	struct pages *p = r->p;
	struct ranked *rank = xcalloc(p->nr_pages, sizeof(*rank));

	use_release(&r->pages_use);
	use_init(&r->pages_use, p->nr_pages + 1, r->slots->words * 64);
	for (uint32_t s = 0; s < r->w->nr_free; s++)
		for (uint32_t k = 0; k < r->slots->words; k++)
			use_of(&r->pages_use, p->page_of[s])[k] |= use_of(r->slots, s)[k];
	uint32_t *used = xcalloc(p->nr_pages, sizeof(*used));
	for (uint32_t i = 0; i < p->nr_pages; i++)
		used[i] = use_count(&r->pages_use, i);
	for (uint32_t s = 0; s < r->w->nr_free; s++) {
		uint32_t mine = use_count(r->slots, s);

		memcpy(use_of(&r->pages_use, p->nr_pages), use_of(r->slots, s), r->slots->words * 8);
		for (uint32_t i = 0; i < p->nr_pages; i++) {
			uint32_t common = use_common(&r->pages_use, i, p->nr_pages);

			/* Pages that run whenever the slot does come first; of those, the least often used otherwise. */
			rank[i] = (struct ranked){ i, p->fill[i] && mine ? (double)common / mine -
				0.25 * (used[i] - common) / (r->slots->words * 64.0) : -2 };
		}
		qsort(rank, p->nr_pages, sizeof(*rank), compare_ranked);
		for (uint32_t c = 0, i = 0; c < CANDIDATES; c++) {
			while (i < p->nr_pages && rank[i].i == p->page_of[s])
				i++;
			r->cand[s * CANDIDATES + c] = i < p->nr_pages && rank[i].key > -1 ? rank[i].i : INDEX_NONE;
			i++;
		}
	}
	free(used);
	free(rank);
}

static void touch_users(struct refiner *r, uint32_t slot)
{
	for (uint32_t i = r->first[slot]; i < r->first[slot + 1]; i++) {
		uint32_t w = r->users[i];

		if (r->stamp[w] == r->now)
			continue;
		r->stamp[w] = r->now;
		r->old_cost[r->nr_touched] = r->cost[w];
		r->touched[r->nr_touched++] = w;
	}
}

static void set_page(struct refiner *r, uint32_t slot, uint32_t page)
{
	pages_put(r->p, slot, page);
	r->page[slot] = page;
	touch_users(r, slot);
}

/* Run the touched windows again; what the change costs. Gives up once it is clear that it costs too much. */
static double change(struct refiner *r, double limit)
{
	double sum = 0, hope = 0;

	for (uint32_t i = 0; i < r->nr_touched; i++)
		hope += r->old_cost[i];
	for (uint32_t i = 0; i < r->nr_touched; i++) {
		r->cost[r->touched[i]] = window_cost(r, r->touched[i]);
		sum += r->cost[r->touched[i]] - r->old_cost[i];
		hope -= r->old_cost[i];
		if (sum - hope > limit)
			return INFINITY;
	}
	return sum;
}

static void begin_change(struct refiner *r)
{
	r->now++;
	r->nr_touched = 0;
}

static bool accept(struct refiner *r, double delta)
{
	if (delta < 0) {
		r->total += delta;
		return true;
	}
	for (uint32_t i = 0; i < r->nr_touched; i++)
		r->cost[r->touched[i]] = r->old_cost[i];
	return false;
}

/* Slots by page, kept while slots move. */
struct members {
	uint32_t **slots;
	uint32_t *nr;
};

static void members_init(struct members *m, const struct pages *p)
{
	m->slots = xcalloc(p->nr_pages, sizeof(*m->slots));
	m->nr = xcalloc(p->nr_pages, sizeof(*m->nr));
	for (uint32_t i = 0; i < p->nr_pages; i++)
		m->slots[i] = xcalloc(p->w->page, sizeof(**m->slots));
	for (uint32_t s = 0; s < p->w->nr_free; s++)
		if (slot_is_single(p->w, s))
			m->slots[p->page_of[s]][m->nr[p->page_of[s]]++] = s;
}

static void members_release(struct members *m, const struct pages *p)
{
	for (uint32_t i = 0; i < p->nr_pages; i++)
		free(m->slots[i]);
	free(m->slots);
	free(m->nr);
}

static void members_move(struct members *m, uint32_t slot, uint32_t from, uint32_t to)
{
	uint32_t i = 0;

	while (m->slots[from][i] != slot)
		i++;
	m->slots[from][i] = m->slots[from][--m->nr[from]];
	m->slots[to][m->nr[to]++] = slot;
}

/* Try a slot on a page: by itself where it fits, else in exchange for one that lives there. */
static bool try_page(struct refiner *r, struct members *m, uint32_t slot, uint32_t to)
{
	struct pages *p = r->p;
	uint32_t from = p->page_of[slot], bytes = r->w->slots[slot].bytes;

	if (pages_fits(p, to, bytes, r->w->page)) {
		begin_change(r);
		set_page(r, slot, to);
		if (accept(r, change(r, 0))) {
			members_move(m, slot, from, to);
			return true;
		}
		set_page(r, slot, from);
		return false;
	}
	for (uint32_t t = 0; t < TRIES && m->nr[to]; t++) {
		uint32_t other = m->slots[to][next_random(r, m->nr[to])], back = r->w->slots[other].bytes;

		if (p->fill[to] + bytes - back > r->w->page || p->fill[from] + back - bytes > r->w->page)
			continue;
		begin_change(r);
		set_page(r, slot, to);
		set_page(r, other, from);
		if (accept(r, change(r, 0))) {
			members_move(m, slot, from, to);
			members_move(m, other, to, from);
			return true;
		}
		set_page(r, slot, from);
		set_page(r, other, to);
	}
	return false;
}

static bool goes_on(const struct refiner *r, uint64_t begun, uint64_t budget)
{
	progress("refining", (double)(r->spent - begun) / (double)(budget - begun));
	return r->spent < budget && !interrupted();
}

static void search(struct refiner *r, uint64_t budget)
{
	const struct windows *w = r->w;
	uint64_t begun = r->spent;
	struct members m;

	members_init(&m, r->p);
	for (bool any = true; any && goes_on(r, begun, budget);) {
		any = false;
		find_candidates(r);
		for (uint32_t s = 0; s < w->nr_free && goes_on(r, begun, budget); s++) {
			if (!slot_is_single(w, s))
				continue;
			for (uint32_t c = 0; c < CANDIDATES && r->spent < budget; c++) {
				uint32_t to = r->cand[s * CANDIDATES + c];

				if (to == INDEX_NONE)
					break;
				if (to != r->p->page_of[s] && try_page(r, &m, s, to))
					any = true;
			}
		}
		detail("refine: cost %.0f after %.0f M items", r->total, (double)r->spent / 1e6);
	}
	progress_end();
	members_release(&m, r->p);
}

static void refiner_init(struct refiner *r, double flatten)
{
	const struct windows *w = r->w;

	r->page = xcalloc(w->nr_slots, sizeof(*r->page));
	for (uint32_t s = 0; s < w->nr_slots; s++)
		r->page[s] = s < w->nr_free ? r->p->page_of[s] : r->p->nr_pages + s;
	r->entered = xcalloc(w->nr_windows, sizeof(*r->entered));
	r->again = xcalloc(w->nr_windows, sizeof(*r->again));
	r->cost = xcalloc(w->nr_windows, sizeof(*r->cost));
	r->stamp = xcalloc(w->nr_windows, sizeof(*r->stamp));
	r->touched = xcalloc(w->nr_windows, sizeof(*r->touched));
	r->old_cost = xcalloc(w->nr_windows, sizeof(*r->old_cost));
	r->cand = xcalloc((size_t)w->nr_free * CANDIDATES, sizeof(*r->cand));
	for (uint32_t i = 0; i < w->nr_windows; i++) {
		double all = w->windows[i].entered + w->windows[i].again;
		double scale = all > 0 ? pow(all, flatten) / all : 0;

		r->entered[i] = w->windows[i].entered * scale;
		r->again[i] = w->windows[i].again * scale;
	}
	list_users(r);
	for (uint32_t i = 0; i < w->nr_windows; i++) {
		r->cost[i] = window_cost(r, i);
		r->total += r->cost[i];
	}
}

void refine(struct pages *p, const struct windows *w, const struct use *slots, const struct refine_options *opts)
{
	struct refiner r = { .p = p, .w = w, .slots = slots, .random = 0x9e3779b97f4a7c15u };

	set_prices(&r, opts->entries < REFINE_MAX_ENTRIES ? opts->entries : REFINE_MAX_ENTRIES);
	refiner_init(&r, opts->flatten);
	detail("refine: cost %.0f before, one evaluation %.1f M items", r.total, (double)r.spent / 1e6);
	search(&r, r.spent + opts->budget);
	free(r.page);
	free(r.entered);
	free(r.again);
	free(r.cost);
	free(r.stamp);
	free(r.touched);
	free(r.old_cost);
	free(r.cand);
	free(r.first);
	free(r.users);
	use_release(&r.pages_use);
}
