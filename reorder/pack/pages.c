/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/pack/pages.h"

#include <stdlib.h>
#include <string.h>

#include "lib/index.h"
#include "lib/mem.h"
#include "reorder/pack/windows.h"

uint32_t pages_add(struct pages *p)
{
	if (p->nr_pages == p->alloc_pages) {
		p->alloc_pages = p->alloc_pages * 2 + 64;
		p->fill = xreallocarray(p->fill, p->alloc_pages, sizeof(*p->fill));
		p->anchor = xreallocarray(p->anchor, p->alloc_pages, sizeof(*p->anchor));
	}
	p->fill[p->nr_pages] = 0;
	p->anchor[p->nr_pages] = INDEX_NONE;
	return p->nr_pages++;
}

static bool is_part(const struct windows *w, uint32_t slot)
{
	return slot + 1 < w->nr_free && w->slots[slot + 1].unit == w->slots[slot].unit;
}

bool slot_is_single(const struct windows *w, uint32_t slot)
{
	return slot != w->tail && !w->slots[slot].part && !is_part(w, slot);
}

void pages_init(struct pages *p, const struct windows *w)
{
	memset(p, 0, sizeof(*p));
	p->w = w;
	p->page_of = xmalloc(w->nr_free * sizeof(*p->page_of));
	memset(p->page_of, 0xff, w->nr_free * sizeof(*p->page_of));
	for (uint32_t i = 0; i < w->nr_free; i++) {
		if (slot_is_single(w, i))
			continue;
		uint32_t page = pages_add(p);

		p->anchor[page] = i;
		pages_put(p, i, page);
	}
}

void pages_release(struct pages *p)
{
	free(p->page_of);
	free(p->fill);
	free(p->anchor);
	memset(p, 0, sizeof(*p));
}

void pages_put(struct pages *p, uint32_t slot, uint32_t page)
{
	uint32_t bytes = p->w->slots[slot].bytes;

	if (p->page_of[slot] != INDEX_NONE)
		p->fill[p->page_of[slot]] -= bytes;
	p->page_of[slot] = page;
	p->fill[page] += bytes;
}
