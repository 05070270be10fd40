/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The order of units inside pages. For the TLB it is all one; but the sets of most
 * first-level instruction caches are chosen by the offset in the page, so pages
 * whose hot lines all lie at the same offsets would fight for the same few sets.
 */
#ifndef REORDER_PACK_STAGGER_H
#define REORDER_PACK_STAGGER_H

#include <stdint.h>

struct callgraph;

struct stagger {
	const struct callgraph *cg;	/* borrowed */
	float **heat;			/* [unit]: weight by chunk of PROFILE_CHUNK bytes; NULL: never ran */
	double *load;			/* [chunk of a page]: heat laid there by the pages so far, fading */
	uint32_t nr_load;
};

/* page: bytes, a power of two. */
void stagger_init(struct stagger *s, const struct callgraph *cg, uint32_t page);
void stagger_release(struct stagger *s);

/*
 * Turn a page's units, given in an order that has callers beside callees, round
 * until its hot lines fall where the pages laid before have fewest. The first
 * nr_fixed units stay first. Pages come in their final order.
 */
void stagger_page(struct stagger *s, uint32_t *units, uint32_t nr, uint32_t nr_fixed);

#endif
