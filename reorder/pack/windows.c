/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/pack/windows.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/callgraph.h"
#include "analyze/image/image.h"
#include "analyze/tlb/sequence.h"
#include "lib/mem.h"
#include "reorder/layout.h"

struct maker {
	struct windows *w;
	const struct callgraph *cg;
	const struct layout *fixed;
	struct index fixed_pages;	/* {page number}: kernel pages that do not move, then user pages */
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
	w->slots = xcalloc(n, sizeof(*w->slots));
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

static void add_item(struct windows *w, uint32_t first, uint32_t slot)
{
	if (w->nr_items > first && w->items[w->nr_items - 1] == slot)
		return;
	ALLOC_GROW(w->items, w->nr_items + 1, w->alloc_items);
	w->items[w->nr_items++] = slot;
}

static uint32_t fixed_slot(struct maker *m, uint64_t key)
{
	return m->w->nr_free + index_add(&m->fixed_pages, &key, sizeof(key));
}

/* The slots that bytes [start, end) of a unit lie on, appended to the window begun at item `first`. */
static void add_bytes(struct maker *m, uint32_t first, uint32_t unit, uint32_t start, uint32_t end)
{
	struct windows *w = m->w;
	uint32_t slot = w->unit_slot[unit];

	if (slot == INDEX_NONE) {
		uint64_t addr = m->fixed->addr[unit];

		for (uint64_t p = (addr + start) / w->page; p <= (addr + end - 1) / w->page; p++)
			add_item(w, first, fixed_slot(m, p << 1));
		return;
	}
	for (uint32_t p = start / w->page; p <= (end - 1) / w->page; p++)
		add_item(w, first, slot + p);
}

static struct window *add_window(struct windows *w, uint32_t first)
{
	ALLOC_GROW(w->windows, w->nr_windows + 1, w->alloc_windows);
	w->windows[w->nr_windows] = (struct window){ .first = first, .nr = w->nr_items - first, .before = w->nr_windows };
	return &w->windows[w->nr_windows++];
}

static void from_sequence(struct maker *m, const struct sequence *seq)
{
	struct windows *w = m->w;
	/* Strides share bodies: the items of one body are converted once. */
	uint32_t *first_of = xmalloc(seq->nr_items * sizeof(*first_of));
	uint32_t *nr_of = xcalloc(seq->nr_items, sizeof(*nr_of));

	memset(first_of, 0xff, seq->nr_items * sizeof(*first_of));
	for (uint32_t i = 0; i < seq->nr_strides; i++) {
		const struct seq_stride *s = &seq->strides[i];
		uint32_t first = first_of[s->first];

		if (first == INDEX_NONE) {
			first = first_of[s->first] = w->nr_items;
			for (uint32_t j = 0; j < s->nr; j++) {
				uint32_t item = seq->items[s->first + j];

				if (item & SEQ_USER) {
					add_item(w, first, fixed_slot(m, (uint64_t)(item & ~SEQ_USER) << 1 | 1));
					continue;
				}
				const struct seq_visit *v = &seq->visits[item];
				for (uint32_t k = 0; k < v->nr; k++)
					add_bytes(m, first, v->unit, seq->ranges[v->first + k].start,
						  seq->ranges[v->first + k].end);
			}
			nr_of[s->first] = w->nr_items - first;
		}
		struct window *win = add_window(w, first);
		win->nr = nr_of[s->first];
		win->before = s->before;
		win->entered = (double)s->entered;
		win->again = (double)s->again;
	}
	free(first_of);
	free(nr_of);
}

static void from_paths(struct maker *m)
{
	const struct callgraph *cg = m->cg;
	struct windows *w = m->w;

	for (uint32_t i = 0; i < cg->nr_paths; i++) {
		const struct callgraph_path *p = &cg->paths[i];
		uint32_t first = w->nr_items;

		for (uint32_t j = 0; j < p->nr_spans; j++) {
			const struct span *s = &cg->spans[p->first_span + j];

			add_bytes(m, first, s->unit, s->start, s->end);
		}
		add_window(w, first)->entered = (double)p->weight;
	}
	/* Where it is known what ran before, count the path there instead. */
	for (uint32_t i = 0; i < cg->nr_nexts; i++) {
		const struct callgraph_next *n = &cg->nexts[i];
		double weight = (double)n->weight;
		struct window *to = &w->windows[n->to];

		if (weight > to->entered)
			weight = to->entered;
		to->entered -= weight;
		if (n->from == n->to) {
			to->again += weight;
			continue;
		}
		uint32_t first = to->first, nr = to->nr;
		struct window *win = add_window(w, first);
		win->nr = nr;
		win->before = n->from;
		win->entered = weight;
	}
}

void windows_init(struct windows *w, const struct callgraph *cg, const struct sequence *seq, const uint32_t *hot,
		  uint32_t nr_hot, const struct layout *fixed, uint32_t page)
{
	struct maker m = { .w = w, .cg = cg, .fixed = fixed };

	memset(w, 0, sizeof(*w));
	w->page = page;
	add_slots(w, cg, hot, nr_hot);
	if (seq)
		from_sequence(&m, seq);
	else
		from_paths(&m);
	w->nr_slots = w->nr_free + m.fixed_pages.nr_keys;
	index_release(&m.fixed_pages);
}

void windows_release(struct windows *w)
{
	free(w->slots);
	free(w->unit_slot);
	free(w->items);
	free(w->windows);
	memset(w, 0, sizeof(*w));
}
