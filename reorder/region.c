/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/region.h"

#include <string.h>

#include "analyze/image/image.h"
#include "reorder/layout.h"

void region_init(struct region *r, const struct layout *l, uint64_t page_bytes)
{
	memset(r, 0, sizeof(*r));
	for (uint32_t i = 0; i < l->nr_hot; i++) {
		uint32_t unit = l->hot[i].unit;
		uint64_t addr = l->addr[unit], end = addr + (l->sizes ? l->sizes[unit] : l->image->units[unit].size);

		if (!i || addr < r->start)
			r->start = addr;
		if (end > r->end)
			r->end = end;
	}
	if (r->end > r->start)
		r->pages = (r->end - 1) / page_bytes - r->start / page_bytes + 1;
}

/* The hot unit that stands first: those of bounded groups come behind. NULL when none is of the main text. */
static struct place *first_place(const struct layout *l)
{
	for (uint32_t i = 0; i < l->nr_hot; i++)
		if (l->image->units[l->hot[i].unit].group == GROUP_MAIN)
			return &l->hot[i];
	return NULL;
}

bool region_fit(struct layout *l, uint64_t page_bytes, struct region *r)
{
	struct place *first = first_place(l);
	uint64_t text_end = l->text_end, text_bytes = text_end - l->image->text_start;
	struct region now, then;

	region_init(&now, l, page_bytes);
	if (first && page_bytes <= 1u << 31 && now.pages == 2 && now.end - now.start <= page_bytes &&
	    first->align < page_bytes) {
		uint32_t align = first->align;

		first->align = (uint32_t)page_bytes;
		layout_assign(l);
		region_init(&then, l, page_bytes);
		then.growth = l->text_end > text_end ? l->text_end - text_end : 0;
		if (then.pages == 1 && then.growth * 100 <= text_bytes * REGION_MAX_GROWTH) {
			now = then;
		} else {
			first->align = align;
			layout_assign(l);
		}
	}
	if (r)
		*r = now;
	return now.pages == 1;
}
