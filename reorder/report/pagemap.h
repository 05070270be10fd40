/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What lies on each page, before and after, for pictures.
 *
 *   block   |  piece  | piece |   (cold)   |   piece   |  one page, or 4 KB of a larger page
 *              ran     not       filler       ran
 *
 * A view chooses whose heat is shown: all paths, or those of some roots.
 */
#ifndef REORDER_REPORT_PAGEMAP_H
#define REORDER_REPORT_PAGEMAP_H

#include <stdbool.h>
#include <stdint.h>

struct plan;
struct plan_unit;

enum { HEAT_BINS = 5 };

/* One scale everywhere: the share of paths that run it. Light to dark, so that grey keeps the order. */
extern const char *const heat_colours[HEAT_BINS];
extern const char *const heat_labels[HEAT_BINS];
extern const bool heat_is_dark[HEAT_BINS];	/* wants white text */
extern const double heat_limits[HEAT_BINS];	/* least share of each bin */

/* The bin of a share 0..1. */
unsigned int heat_bin(double share);

struct view {
	const struct plan *p;
	double *heat;		/* [unit]: share of the chosen paths that run it; negative: not in the view */
	bool *chosen;		/* [path] */
	bool all;		/* no roots were named */
	uint64_t weight;	/* of the chosen paths */
	double before, after;	/* their mean entries */
};

/* roots: short names or symbols, separated by commas; NULL: all paths. -1 after reporting. */
int view_init(struct view *v, const struct plan *p, const char *roots);
void view_release(struct view *v);

/* Bytes [start, end) of a block. */
struct piece {
	int64_t block;		/* number, counted from the block of _stext */
	uint32_t start, end;
	uint32_t unit;		/* in plan.units */
	uint32_t function;	/* in plan.functions, of a unit with several; INDEX_NONE */
	double heat;		/* share of the view's paths that run the unit, or this function of it */
	bool ran;
	bool first;		/* holds the unit's or the function's first byte */
};

struct block {
	int64_t number;
	int64_t page;		/* the machine's page that it is part of */
	double heat;		/* share of paths that touch the page; of a part of one, its hottest piece */
	double sum;		/* of heat times bytes that ran */
	uint32_t first_piece, nr_pieces;
};

struct pagemap {
	uint32_t block_bytes;
	bool parts;		/* blocks are parts of pages */
	struct piece *pieces;	/* ascending address */
	uint32_t nr_pieces, alloc_pieces;
	struct block *blocks;	/* those with any piece, ascending */
	uint32_t nr_blocks, alloc_blocks;
	uint64_t nr_pages;	/* with any piece that ran */
};

/* The blocks of one layout as seen by a view. */
void pagemap_init(struct pagemap *m, const struct view *v, bool after);
void pagemap_release(struct pagemap *m);

/* What is written on a piece. */
const char *piece_name(const struct plan *p, const struct piece *pc);

/* Share of all paths that run a function of a unit with several. */
double function_heat(const struct plan *p, const struct plan_unit *u, uint32_t function);

/* Mark the n hottest blocks in keep[block]. */
void pagemap_hottest(const struct pagemap *m, uint32_t n, bool *keep);

#endif
