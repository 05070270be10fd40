/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Counting distinct pages. A pageset adds up, over several paths, the weight of
 * the paths that touch each page; within one path a page counts once.
 */
#ifndef ANALYZE_TLB_PAGESET_H
#define ANALYZE_TLB_PAGESET_H

#include <stdint.h>

struct machine;

struct pageset {
	uint64_t page_bytes, text_start;
	int64_t blocks_first, blocks_end;	/* page numbers: so many pages a block go as the first of it */
	int64_t block_pages;
	int64_t first;		/* page number of slot 0, counted from text_start's page */
	uint32_t nr;		/* slots */
	uint64_t *weight;	/* [slot] */
	uint32_t *stamp;	/* [slot]: the path that touched it last */
	uint32_t path;		/* running number of the path at hand, from 1 */
	uint32_t touched;	/* pages of it so far */
	uint64_t path_weight;
};

/* Pages from the one that text_start lies on to that of addr. */
static inline int64_t page_number(uint64_t addr, uint64_t text_start, uint64_t page_bytes)
{
	return (int64_t)(addr / page_bytes) - (int64_t)(text_start / page_bytes);
}

void pageset_init(struct pageset *s, uint64_t page_bytes, uint64_t text_start);

/* Pages are what an entry of the machine holds: at text's edges less than elsewhere (machine_map_text()). */
void pageset_init_for(struct pageset *s, const struct machine *m, uint64_t text_start);
void pageset_release(struct pageset *s);

/* Forget all weights. */
void pageset_clear(struct pageset *s);

/* One path: begin, touch [start, end) any number of times, end (returns its distinct pages). */
void pageset_begin(struct pageset *s, uint64_t weight);
void pageset_touch(struct pageset *s, uint64_t start, uint64_t end);
uint32_t pageset_end(struct pageset *s);

/* Distinct pages touched by any path of positive weight. */
uint64_t pageset_count(const struct pageset *s);

/* Weighted counts of small numbers. */
struct histogram {
	uint64_t *weight;	/* [value] */
	uint32_t nr, alloc;
};

void histogram_add(struct histogram *h, uint32_t value, uint64_t weight);
void histogram_release(struct histogram *h);
double histogram_mean(const struct histogram *h);

/* The least value that at least percent per cent of the weight do not exceed. */
double histogram_percentile(const struct histogram *h, double percent);

#endif
