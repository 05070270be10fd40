/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Hypergraph partitioning of slots into pages: windows are the hyperedges, a page
 * touched by a window costs that window's weight once (the connectivity
 * objective), pages have a capacity. Agglomerative coarsening by similarity of
 * use, then moves and swaps with exact gains.
 */
#ifndef REORDER_PACK_PARTITION_H
#define REORDER_PACK_PARTITION_H

#include <stdint.h>

struct pages;
struct use;
struct windows;

struct partition_options {
	uint32_t passes;	/* of moves and swaps over all slots */
	uint32_t entries;	/* of the TLB aimed at: a page more costs most in windows about that large */
};

/*
 * Which slots, fixed ones too, each of so many windows uses (a multiple of 64),
 * drawn by weight to the power flatten: below 1 rare windows count for more. A
 * window that is entered is drawn together with the one before it, since both
 * should fit; one that repeats is drawn alone. The caller releases u.
 */
void sample_windows(struct use *u, const struct windows *w, uint32_t samples, double flatten);

/* Puts every single slot on a page. p: as from pages_init(); slots: as from sample_windows(). */
void partition(struct pages *p, const struct windows *w, const struct use *slots, const struct partition_options *opts);

#endif
