/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Was a plan obeyed? The plan's units are looked up in the new kernel, exactly
 * where its link map is at hand, else by their functions' names, and everything
 * the plan promised is held against what is there.
 */
#ifndef LDSCRIPTS_VERIFY_H
#define LDSCRIPTS_VERIFY_H

#include <stdbool.h>
#include <stdint.h>

struct image;
struct plan;

struct verify_stray {
	char *name;	/* of a unit, function, group or path */
	char *why;
};

struct verify_options {
	bool exact;	/* every address, not only every page */
};

struct verify {
	uint32_t units, found;		/* in the plan, of these in the kernel */
	uint32_t unknown;		/* units that share their name and cannot be told apart without a link map */
	uint32_t at_address, on_page;	/* of found */
	uint32_t shifted;		/* of found: on another page where the linker itself resizes code; no stray */
	uint32_t placed, in_order;	/* units of the fragment that were found, of these behind the one before */
	uint32_t placed_on_page, unmoved;	/* of placed: on their planned pages; where they were when the plan was made */
	uint32_t functions, lost;	/* of the plan's units, of these missing */
	uint32_t outside;		/* functions of the kernel that left _stext.._etext */
	uint32_t groups, groups_broken;
	uint32_t paths, paths_moved;	/* paths, of these with other pages than predicted */
	uint32_t positions, positions_held;	/* of plan.positions: that can be looked up, of these as planned */
	double entries_planned, entries;	/* ITLB entries per path, mean over weight; see verify_init */
	struct verify_stray *strays;
	uint32_t nr_strays, alloc_strays;
};

/*
 * Compare. Errors (the kernel is of another architecture, nothing of the plan can be
 * found in it) are reported and return -1.
 *
 * entries is the plan's mean where all touched bytes are on the pages that were
 * planned; where some are not, each path's entries change by the difference in
 * distinct pages of all that it may touch.
 *
 * Where the linker itself resizes code (RISC-V's relaxation, veneers) the order must be as
 * planned, but pages may differ unless opts->exact, as long as entries stay within 2 %.
 */
int verify_init(struct verify *v, const struct plan *p, const struct image *img,
		const struct verify_options *opts);
void verify_release(struct verify *v);

/* Whether nothing strayed. */
bool verify_passed(const struct verify *v);

/* Whether the kernel was linked without the plan, or by quite another: then single strays tell nothing. */
bool verify_is_stranger(const struct verify *v);

#endif
