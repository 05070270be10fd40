/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/region.h"

#include <string.h>

#include "analyze/image/image.h"
#include "analyze/tlb/machine.h"
#include "analyze/tlb/pageset.h"
#include "reorder/layout.h"

void region_init(struct region *r, const struct layout *l, const struct machine *m)
{
	struct pageset pages;

	memset(r, 0, sizeof(*r));
	for (uint32_t i = 0; i < l->nr_hot; i++) {
		uint32_t unit = l->hot[i].unit;
		uint64_t addr = l->addr[unit], end = addr + (l->sizes ? l->sizes[unit] : l->image->units[unit].size);

		if (!i || addr < r->start)
			r->start = addr;
		if (end > r->end)
			r->end = end;
	}
	pageset_init_for(&pages, m, l->image->text_start);
	pageset_begin(&pages, 1);
	pageset_touch(&pages, r->start, r->end);
	r->pages = pageset_end(&pages);
	pageset_release(&pages);
}

/* The hot unit that stands first: those of bounded groups come behind. NULL when none is of the main text. */
static struct place *first_place(const struct layout *l)
{
	for (uint32_t i = 0; i < l->nr_hot; i++)
		if (l->image->units[l->hot[i].unit].group == GROUP_MAIN)
			return &l->hot[i];
	return NULL;
}

bool region_fit(struct layout *l, const struct machine *m, struct region *r)
{
	struct place *first = first_place(l);
	uint64_t text_end = l->text_end, text_bytes = text_end - l->image->text_start;
	struct region now, then;

	region_init(&now, l, m);
	/* A page of the edges is enough where it holds the region. */
	uint32_t page = machine_entry_bytes(m);
	if (now.end - now.start > page)
		page = machine_block_bytes(m);
	if (first && now.pages > 1 && now.end - now.start <= page && first->align < page) {
		uint32_t align = first->align;

		first->align = page;
		layout_assign(l);
		region_init(&then, l, m);
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
