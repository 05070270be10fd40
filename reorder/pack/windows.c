/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/pack/windows.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/callgraph.h"
#include "analyze/image/image.h"
#include "lib/mem.h"
#include "reorder/layout.h"
#include "reorder/pack/followers.h"

struct maker {
	struct windows *w;
	const struct callgraph *cg;
	const struct layout *fixed;
	struct index fixed_pages;	/* {page number}: that do not move */
};

/* Bytes a unit takes on a page among units of ordinary alignment. */
static uint32_t padded_size(const struct unit *u)
{
	uint32_t ordinary = u->align < 16 ? u->align : 16;
	uint32_t size = (u->size + ordinary - 1) & ~(ordinary - 1);

	return u->align > 16 ? size + u->align - 16 : size;
}

static void add_slots(struct windows *w, const struct callgraph *cg, const uint32_t *hot, uint32_t nr_hot)
{
	const struct image *img = cg->image;
	uint32_t n = 0;

	for (uint32_t i = 0; i < nr_hot; i++)
		n += padded_size(&img->units[hot[i]]) / w->page + 1;
	w->slots = xcalloc((size_t)n + 1, sizeof(*w->slots));	/* and the tail */
	w->unit_slot = xmalloc(img->nr_units * sizeof(*w->unit_slot));
	memset(w->unit_slot, 0xff, img->nr_units * sizeof(*w->unit_slot));
	for (int large = 0; large < 2; large++) {
		for (uint32_t i = 0; i < nr_hot; i++) {
			uint32_t size = padded_size(&img->units[hot[i]]);

			if ((size > w->page) != large)
				continue;
			w->unit_slot[hot[i]] = w->nr_free;
			for (uint32_t part = 0; part * w->page < size; part++) {
				uint32_t rest = size - part * w->page;

				w->slots[w->nr_free++] = (struct slot){ hot[i], part, rest < w->page ? rest : w->page };
			}
		}
	}
}

static void add_tail(struct windows *w, const struct followers *f)
{
	w->tail = INDEX_NONE;
	if (!f->nr_tail)
		return;
	w->tail = w->nr_free;
	w->slots[w->nr_free++] = (struct slot){ INDEX_NONE, 0, f->tail_bytes };
	for (uint32_t i = 0; i < f->nr_tail; i++)
		w->unit_slot[f->units[i]] = w->tail;
}

static void add_item(struct windows *w, uint32_t first, uint32_t slot)
{
	if (w->nr_items > first && w->items[w->nr_items - 1] == slot)
		return;
	ALLOC_GROW(w->items, w->nr_items + 1, w->alloc_items);
	w->items[w->nr_items++] = slot;
}

/* The slots that bytes [start, end) of a unit lie on, appended to the window begun at item `first`. */
static void add_bytes(struct maker *m, uint32_t first, uint32_t unit, uint32_t start, uint32_t end)
{
	struct windows *w = m->w;
	uint32_t slot = w->unit_slot[unit];

	if (slot == INDEX_NONE) {
		uint64_t addr = m->fixed->addr[unit];

		for (uint64_t p = (addr + start) / w->page; p <= (addr + end - 1) / w->page; p++)
			add_item(w, first, w->nr_free + index_add(&m->fixed_pages, &p, sizeof(p)));
		return;
	}
	for (uint32_t p = start / w->page; p <= (end - 1) / w->page; p++)	/* members of the tail are smaller */
		add_item(w, first, slot + p);
}

static void add_window(struct maker *m, const struct callgraph_path *p)
{
	struct windows *w = m->w;
	uint32_t first = w->nr_items;

	for (uint32_t i = 0; i < p->nr_spans; i++) {
		const struct span *s = &m->cg->spans[p->first_span + i];

		add_bytes(m, first, s->unit, s->start, s->end);
	}
	w->windows[w->nr_windows++] = (struct window){ first, w->nr_items - first };
}

static void add_run(struct windows *w, uint32_t window, uint32_t before, double weight)
{
	if (weight <= 0)
		return;
	ALLOC_GROW(w->runs, w->nr_runs + 1, w->alloc_runs);
	w->runs[w->nr_runs++] = (struct run){ window, before, weight };
}

/* Where it is known what ran before a path, it counts there; the rest of its weight by itself. */
static void add_runs(struct windows *w, const struct callgraph *cg)
{
	double *rest = xcalloc(cg->nr_paths, sizeof(*rest));

	for (uint32_t i = 0; i < cg->nr_paths; i++)
		rest[i] = (double)cg->paths[i].weight;
	for (uint32_t i = 0; i < cg->nr_nexts; i++) {
		const struct callgraph_next *n = &cg->nexts[i];
		double weight = (double)n->weight < rest[n->to] ? (double)n->weight : rest[n->to];

		rest[n->to] -= weight;
		add_run(w, n->to, n->from, weight);
	}
	for (uint32_t i = 0; i < cg->nr_paths; i++)
		add_run(w, i, INDEX_NONE, rest[i]);
	free(rest);
}

void windows_init(struct windows *w, const struct callgraph *cg, const uint32_t *hot, uint32_t nr_hot,
		  const struct followers *followers, const struct layout *fixed, uint32_t page)
{
	struct maker m = { .w = w, .cg = cg, .fixed = fixed };

	memset(w, 0, sizeof(*w));
	w->page = page;
	add_slots(w, cg, hot, nr_hot);
	add_tail(w, followers);
	w->windows = xcalloc(cg->nr_paths, sizeof(*w->windows));
	for (uint32_t i = 0; i < cg->nr_paths; i++)
		add_window(&m, &cg->paths[i]);
	add_runs(w, cg);
	w->nr_slots = w->nr_free + m.fixed_pages.nr_keys;
	index_release(&m.fixed_pages);
}

void windows_release(struct windows *w)
{
	free(w->slots);
	free(w->unit_slot);
	free(w->items);
	free(w->windows);
	free(w->runs);
	memset(w, 0, sizeof(*w));
}
