/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/layout.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/callgraph.h"
#include "analyze/image/image.h"
#include "analyze/image/units.h"
#include "analyze/tlb/pageset.h"
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

void layout_insert(struct layout *l, uint32_t unit, uint32_t align)
{
	struct place *at;

	layout_append(l, unit, align);
	at = &l->hot[l->nr_hot - 1 - l->nr_last];
	memmove(at + 1, at, l->nr_last * sizeof(*at));
	*at = (struct place){ unit, align };
}

uint32_t layout_path_pages(const struct layout *l, const struct callgraph *cg, const struct callgraph_path *path,
			   struct pageset *s)
{
	pageset_begin(s, path->weight);
	for (uint32_t i = path->first_span; i < path->first_span + path->nr_spans; i++) {
		const struct span *span = &cg->spans[i];

		pageset_touch(s, l->addr[span->unit] + span->start, l->addr[span->unit] + span->end);
	}
	return pageset_end(s);
}

/* Groups between boundary symbols that may stand next to the hot region; entry text must not. */
static bool group_may_move(enum group g)
{
	return g == GROUP_NOINSTR || g == GROUP_SCHED || g == GROUP_LOCK || g == GROUP_KPROBES || g == GROUP_IRQENTRY ||
	       g == GROUP_SOFTIRQENTRY || g == GROUP_CPUIDLE || g == GROUP_STATIC_CALL;
}

/* What moves along with a group: all between its symbols, or between those of the group that it lies in. */
struct range {
	uint64_t start, end;
};

static struct range group_range(const struct image *img, enum group g)
{
	struct range own = { 0, 0 }, r;

	for (uint32_t i = 0; i < nr_group_bounds; i++)
		if (group_bounds[i].group == g && symtab_value(&img->symtab, group_bounds[i].start, &r.start) &&
		    symtab_value(&img->symtab, group_bounds[i].end, &r.end))
			own = r;
	for (uint32_t i = 0; i < nr_group_bounds && own.start < own.end; i++)
		if (group_bounds[i].group != g && symtab_value(&img->symtab, group_bounds[i].start, &r.start) &&
		    symtab_value(&img->symtab, group_bounds[i].end, &r.end) && r.start <= own.start && own.end <= r.end &&
		    r.end - r.start > own.end - own.start)
			own = r;
	return own;
}

static bool in_range(const struct range *r, uint64_t addr)
{
	return addr >= r->start && addr < r->end;
}

/* What the script aligns the range to; alignments that nothing stands behind are merged into it. */
static uint32_t range_align(const struct image *img, const struct range *r)
{
	for (uint32_t i = 0; i < img->nr_groups; i++)
		if (in_range(r, img->groups[i].start) || in_range(r, img->groups[i].end - 1))
			return img->groups[i].align;
	return 1;
}

static bool same_input(const struct unit *a, const struct unit *b)
{
	return a->object && b->object && !strcmp(a->object, b->object) && !strcmp(a->section, b->section);
}

static bool is_text(const struct image *img, const struct unit *u)
{
	return u->addr >= img->text_start && u->addr < img->text_end;
}

bool layout_can_take(const struct image *img, uint32_t unit)
{
	const struct unit *u = &img->units[unit];

	if (!is_text(img, u))
		return false;
	if (u->movable)
		return true;
	if (!img->exact_units || !u->object || !group_may_move(u->group))
		return false;
	if ((unit && same_input(u, u - 1)) || (unit + 1 < img->nr_units && same_input(u, u + 1)))
		return false;
	struct range r = group_range(img, u->group);
	return in_range(&r, u->addr) && range_align(img, &r) <= MAX_GROUP_ALIGN;
}

static uint64_t put_unit(struct layout *l, uint32_t unit, uint64_t cursor)
{
	cursor = align_up(cursor, l->image->units[unit].align);
	l->addr[unit] = cursor;
	return cursor + (l->sizes ? l->sizes[unit] : l->image->units[unit].size);
}

/* A range's units: in each group of it the listed ones first, as the fragment has them. */
static uint64_t assign_range(struct layout *l, const struct range *r, bool *placed, uint64_t cursor)
{
	const struct image *img = l->image;

	cursor = align_up(cursor, range_align(img, r));
	for (uint32_t i = 0; i < img->nr_units; i++) {
		enum group g = img->units[i].group;

		if (!in_range(r, img->units[i].addr))
			continue;
		for (uint32_t h = 0; h < l->nr_hot; h++) {
			uint32_t u = l->hot[h].unit;

			if (!placed[u] && img->units[u].group == g && in_range(r, img->units[u].addr)) {
				cursor = put_unit(l, u, cursor);
				placed[u] = true;
			}
		}
		if (!placed[i])
			cursor = put_unit(l, i, cursor);
		placed[i] = true;
	}
	return cursor;
}

static bool in_ranges(const struct range *ranges, uint32_t nr, uint64_t addr)
{
	for (uint32_t i = 0; i < nr; i++)
		if (in_range(&ranges[i], addr))
			return true;
	return false;
}

/* The hot units of the main text, from cursor on; returns their end. */
static uint64_t assign_hot(struct layout *l, bool *placed, uint64_t cursor)
{
	bool first = true;

	for (uint32_t i = 0; i < l->nr_hot; i++) {
		const struct place *p = &l->hot[i];

		BUG_ON(placed[p->unit] || !is_text(l->image, &l->image->units[p->unit]));
		if (l->image->units[p->unit].group != GROUP_MAIN)
			continue;
		cursor = put_unit(l, p->unit, align_up(cursor, p->align));
		placed[p->unit] = true;
		if (first)
			l->hot_start = l->addr[p->unit];
		first = false;
	}
	return cursor;
}

/*
 * ld lays the statements of .text out one after the other: what stands in front of
 * the main text (head, on some kernels entry text), our fragment, then each
 * pattern's remaining sections in link order, with the script's own ALIGN at the
 * starts of groups.
 */
void layout_assign(struct layout *l)
{
	const struct image *img = l->image;
	struct range ranges[NR_GROUPS];
	bool *placed = xcalloc(img->nr_units + 1, sizeof(*placed)), hot = false;
	uint64_t cursor = img->text_start;
	uint32_t group = 0, nr_ranges = 0;

	for (uint32_t i = 0; i < l->nr_hot; i++)
		if (img->units[l->hot[i].unit].group != GROUP_MAIN) {
			BUG_ON(nr_ranges == NR_GROUPS);
			ranges[nr_ranges] = group_range(img, img->units[l->hot[i].unit].group);
			nr_ranges += !in_ranges(ranges, nr_ranges, ranges[nr_ranges].start);
		}
	l->hot_start = l->hot_end = img->text_start;
	for (uint32_t i = 0; i < img->nr_units; i++) {
		const struct unit *u = &img->units[i];
		bool moves = in_ranges(ranges, nr_ranges, u->addr);

		if (!is_text(img, u)) {
			l->addr[i] = u->addr;
			continue;
		}
		for (; group < img->nr_groups && img->groups[group].start <= u->addr; group++)
			if (!in_ranges(ranges, nr_ranges, img->groups[group].start))
				cursor = align_up(cursor, img->groups[group].align);
		if (!hot && u->group == GROUP_MAIN) {
			l->hot_start = cursor;
			cursor = l->hot_end = assign_hot(l, placed, cursor);
			for (uint32_t r = 0; r < nr_ranges; r++)
				cursor = assign_range(l, &ranges[r], placed, cursor);
			hot = true;
		}
		if (placed[i] || moves)
			continue;
		cursor = put_unit(l, i, cursor);
	}
	l->text_end = cursor;
	free(placed);
}
