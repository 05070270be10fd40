/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Free slots assigned to pages. A page holds slots up to its capacity; where in
 * the page they lie, and in which order the pages follow, is decided later. The
 * pages of a large unit follow each other, and only its last one has room left.
 */
#ifndef REORDER_PACK_PAGES_H
#define REORDER_PACK_PAGES_H

#include <stdbool.h>
#include <stdint.h>

struct windows;

struct pages {
	const struct windows *w;	/* borrowed */
	uint32_t *page_of;		/* [free slot] */
	uint32_t *fill;			/* [page]: bytes taken */
	uint32_t *anchor;		/* [page]: the tail, or the slot of a large unit, that owns it; INDEX_NONE */
	uint32_t nr_pages, alloc_pages;
};

/* Every large unit and the tail get their pages; the other slots are on none (INDEX_NONE) yet. */
void pages_init(struct pages *p, const struct windows *w);
void pages_release(struct pages *p);

uint32_t pages_add(struct pages *p);	/* an empty page; its number */

/* Whether a slot may be put elsewhere at all. */
bool slot_is_single(const struct windows *w, uint32_t slot);

static inline bool pages_fits(const struct pages *p, uint32_t page, uint32_t bytes, uint32_t capacity)
{
	return p->fill[page] + bytes <= capacity;
}

void pages_put(struct pages *p, uint32_t slot, uint32_t page);	/* from wherever it is */

#endif
