/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where the hot region lies among the pages that map kernel text.
 *
 *   page            |                               |
 *   as it comes     | head |      cold..     [== hot ==]        two pages, though one would do
 *   aligned         | head |    cold..   ... |[== hot ==]       one page, text longer by the gap
 *
 * Only for pages larger than 4 KB: the algorithms mind those of 4 KB themselves.
 */
#ifndef REORDER_REGION_H
#define REORDER_REGION_H

#include <stdbool.h>
#include <stdint.h>

struct layout;
struct machine;

struct region {
	uint64_t start, end;	/* of all hot units, those of moved groups included; equal: nothing is hot */
	uint64_t pages;		/* that it lies on, as the machine's entries count */
	uint64_t growth;	/* bytes by which its alignment made the text longer */
};

/* Of a layout whose addresses are assigned. */
void region_init(struct region *r, const struct layout *l, const struct machine *m);

/*
 * Align the first hot unit to a page where the region fits one but lies on more,
 * unless the text grows by more than REGION_MAX_GROWTH; assigns the addresses anew.
 * Returns whether the region now lies on one page; r (may be NULL) says where it lies.
 */
bool region_fit(struct layout *l, const struct machine *m, struct region *r);

enum { REGION_MAX_GROWTH = 3 };	/* per cent of the text */

#endif
