/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A layout: an order of units with the addresses that GNU ld will give them.
 *
 *   _stext | head text | hot[0] hot[1] ... | groups | the other units, in link order | _etext
 *
 * The hot region is what the fragment hottext.ld lists. Everything else keeps its
 * order, and moves only by what the region took and by alignment.
 *
 * Units of bounded groups (sched, noinstr ...) may be among the hot: their groups
 * then stand whole right behind the hot units of the main text, in the order in which they
 * appear first, the listed members first in each.
 */
#ifndef REORDER_LAYOUT_H
#define REORDER_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

struct callgraph;
struct callgraph_path;
struct image;
struct pageset;

static inline uint64_t align_up(uint64_t addr, uint64_t align)
{
	return align > 1 ? (addr + align - 1) & ~(align - 1) : addr;
}

struct place {
	uint32_t unit;
	uint32_t align;		/* explicit `. = ALIGN(align)` before it; 0: the unit's own alignment only */
};

struct layout {
	const struct image *image;	/* borrowed */
	struct place *hot;
	uint32_t nr_hot, alloc_hot;
	uint32_t nr_last;		/* of hot[], that stand last; what is inserted later comes before them */
	uint64_t *addr;			/* [unit]: address under this layout */
	const uint32_t *sizes;		/* [unit]: bytes under this layout, borrowed; NULL: as in the image */
	uint64_t hot_start, hot_end;	/* addresses of the hot region, without groups */
	uint64_t text_end;
};

/* Groups aligned wider do not move; x86 aligns entry text to a page or more, before and after. */
enum { MAX_GROUP_ALIGN = 64 };

/* An empty layout: link order. */
void layout_init(struct layout *l, const struct image *img);
void layout_release(struct layout *l);
/*
 * Whether a unit may be among the hot: it moves on its own, or it is a member of a
 * bounded group that may move as a whole and can be told from the other members.
 */
bool layout_can_take(const struct image *img, uint32_t unit);
void layout_append(struct layout *l, uint32_t unit, uint32_t align);
/* Before the last l->nr_last. */
void layout_insert(struct layout *l, uint32_t unit, uint32_t align);

/* The distinct pages that one path touches under the layout, those in modules apart; adds their weight to s. */
uint32_t layout_path_pages(const struct layout *l, const struct callgraph *cg, const struct callgraph_path *path,
			   struct pageset *s);

/* Give every unit its address, by ld's rules. Call after the hot order is complete. */
void layout_assign(struct layout *l);

#endif
