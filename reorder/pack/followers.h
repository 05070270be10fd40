/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The bounded groups that come to stand behind the hot region, whole, the members that
 * ran first: nearly every path runs some of them.
 *
 *   ... hot page | hot units   tail | rest of noinstr ... | sched ... | the other units
 *                 <-- one page ---->
 *
 * Members that a quarter or more of what runs the first group runs begin it. They are the
 * tail, which shares the last hot page with units that run when it does.
 */
#ifndef REORDER_PACK_FOLLOWERS_H
#define REORDER_PACK_FOLLOWERS_H

#include <stdint.h>

struct callgraph;
struct layout;

struct followers {
	uint32_t *units, nr;	/* of the image; the tail's first */
	double *share;		/* [units of the first group]: of the flattened weight of the paths that run the group, 0..1 */
	uint32_t nr_tail;
	uint32_t tail_bytes;	/* room that the tail needs at the end of the last hot page */
};

/* The first group's members by density; those of later ones so that what runs together lies on few pages of `page` bytes. */
void followers_init(struct followers *f, const struct callgraph *cg, uint32_t page);
void followers_release(struct followers *f);

/* Append them; what has been appended before is the hot region. */
void followers_append(const struct followers *f, struct layout *l);

/*
 * A layout of them alone, with the addresses modulo page that they have when the last
 * hot page is full; the caller releases it. Text that does not move lies where it will
 * when the nr_hot units of hot[] are at the front. page 0: addresses as they come.
 */
void followers_assign(const struct followers *f, const struct callgraph *cg, const uint32_t *hot, uint32_t nr_hot,
		      uint32_t page, struct layout *l);

#endif
