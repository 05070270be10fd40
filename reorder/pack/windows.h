/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What must sit together, as pack sees it. A *slot* is what can be on a page of
 * its own: a movable unit no larger than a page, one page's worth of a larger
 * unit, or a page of text that does not move. A *window* is a path in these terms,
 * a *run* one window after another.
 *
 *   slots    | units that move ... | pages of large units ... | tail | fixed pages ... |
 *            0                                                       nr_free           nr_slots
 *
 * The tail is the part of the groups behind the hot region that shares its last page.
 */
#ifndef REORDER_PACK_WINDOWS_H
#define REORDER_PACK_WINDOWS_H

#include <stdint.h>

struct callgraph;
struct followers;
struct layout;

struct slot {
	uint32_t unit;		/* INDEX_NONE for fixed pages and the tail */
	uint32_t part;		/* which page of a large unit */
	uint32_t bytes;		/* that it takes on its page, alignment included; free slots only */
};

struct window {
	uint32_t first, nr;	/* in items[] */
};

struct run {
	uint32_t window;
	uint32_t before;	/* window that ran just before; INDEX_NONE: not known */
	double weight;		/* times */
};

struct windows {
	uint32_t page;		/* bytes */
	struct slot *slots;
	uint32_t nr_free, nr_slots;
	uint32_t tail;		/* its slot, INDEX_NONE: there is none */
	uint32_t *unit_slot;	/* [unit]: its first slot, INDEX_NONE when it does not move */
	uint32_t *items;	/* slots */
	uint32_t nr_items, alloc_items;
	struct window *windows;
	uint32_t nr_windows;		/* one a path */
	struct run *runs;
	uint32_t nr_runs, alloc_runs;
};

/*
 * hot: the movable units that ran, ascending. fixed: a layout whose addresses say
 * on which pages the text lies that does not move.
 */
void windows_init(struct windows *w, const struct callgraph *cg, const uint32_t *hot, uint32_t nr_hot,
		  const struct followers *followers, const struct layout *fixed, uint32_t page);
void windows_release(struct windows *w);

#endif
