/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/layout.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/image.h"
#include "lib/error.h"
#include "lib/mem.h"

void layout_init(struct layout *l, const struct image *img)
{
	memset(l, 0, sizeof(*l));
	l->image = img;
	l->addr = xcalloc(img->nr_units, sizeof(*l->addr));
}

void layout_release(struct layout *l)
{
	free(l->hot);
	free(l->addr);
	memset(l, 0, sizeof(*l));
}

void layout_append(struct layout *l, uint32_t unit, uint32_t align)
{
	ALLOC_GROW(l->hot, l->nr_hot + 1, l->alloc_hot);
	l->hot[l->nr_hot++] = (struct place){ unit, align };
}

static uint64_t align_up(uint64_t addr, uint64_t align)
{
	return align > 1 ? (addr + align - 1) & ~(align - 1) : addr;
}

/* The hot region, from cursor on; returns its end. */
static uint64_t assign_hot(struct layout *l, uint64_t cursor)
{
	const struct image *img = l->image;

	for (uint32_t i = 0; i < l->nr_hot; i++) {
		const struct place *p = &l->hot[i];
		const struct unit *u = &img->units[p->unit];

		cursor = align_up(align_up(cursor, p->align), u->align);
		if (!i)
			l->hot_start = cursor;
		l->addr[p->unit] = cursor;
		cursor += u->size;
	}
	return cursor;
}

static bool is_text(const struct image *img, const struct unit *u)
{
	return u->addr >= img->text_start && u->addr < img->text_end;
}

/*
 * ld lays the statements of .text out one after the other: what stands in front of
 * the main text (head, on some kernels entry text), our fragment, then each pattern's remaining sections in link order, with the
 * script's own ALIGN at the starts of groups.
 */
void layout_assign(struct layout *l)
{
	const struct image *img = l->image;
	bool *in_hot = xcalloc(img->nr_units, sizeof(*in_hot));
	uint64_t cursor = img->text_start;
	uint32_t group = 0;
	bool placed = false;

	for (uint32_t i = 0; i < l->nr_hot; i++) {
		BUG_ON(in_hot[l->hot[i].unit]);
		in_hot[l->hot[i].unit] = true;
	}
	l->hot_start = l->hot_end = img->text_start;
	for (uint32_t i = 0; i < img->nr_units; i++) {
		const struct unit *u = &img->units[i];

		if (!is_text(img, u)) {
			l->addr[i] = u->addr;
			continue;
		}
		while (group < img->nr_groups && img->groups[group].start <= u->addr)
			cursor = align_up(cursor, img->groups[group++].align);
		if (!placed && u->group == GROUP_MAIN) {
			l->hot_start = cursor;
			cursor = l->hot_end = assign_hot(l, cursor);
			placed = true;
		}
		if (in_hot[i])
			continue;
		cursor = align_up(cursor, u->align);
		l->addr[i] = cursor;
		cursor += u->size;
	}
	l->text_end = cursor;
	free(in_hot);
}
