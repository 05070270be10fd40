/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Hypergraph partitioning of slots into pages: samples are the hyperedges, a page
 * touched by a sample costs once (the connectivity objective), pages have a
 * capacity. Agglomerative coarsening by similarity of
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
	uint32_t entries;	/* of the TLB aimed at: a page more costs most in samples about that large */
};

/* Puts every single slot on a page. p: as from pages_init(); slots: as from draw_samples(). */
void partition(struct pages *p, const struct windows *w, const struct use *slots, const struct partition_options *opts);

/* Moves and swaps alone, of slots that are all on pages already. */
void refine(struct pages *p, const struct windows *w, const struct use *slots, const struct partition_options *opts);

/* What a partition costs under these samples, in units of a sample's dearest page. */
double partition_cost(const struct pages *p, const struct windows *w, const struct use *slots, uint32_t entries);

#endif
