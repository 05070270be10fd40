/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Local search over an assignment of slots to pages, judged by the ITLB misses
 * that the windows would take: every window is run through an LRU stack, warmed
 * by what ran before it. A move changes only the windows that use what moved, so
 * only those are run again: evaluation is exact and incremental.
 */
#ifndef REORDER_PACK_REFINE_H
#define REORDER_PACK_REFINE_H

#include <stdint.h>

struct pages;
struct use;
struct windows;

struct refine_options {
	uint32_t entries;	/* of the TLB aimed at, up to REFINE_MAX_ENTRIES */
	uint64_t budget;	/* items run through the stack, in all; counts work, not time */
	double flatten;		/* windows count by weight to this power */
};

enum { REFINE_MAX_ENTRIES = 128 };

/* Improves p in place. slots: which samples use each slot. Stops early when interrupted (lib/progress.h). */
void refine(struct pages *p, const struct windows *w, const struct use *slots, const struct refine_options *opts);

#endif
