/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a fetch trace ran, in order, condensed until it is small enough to be
 * simulated thousands of times a second under changing layouts:
 *
 *   trace    17 M block executions
 *   items    visits of a unit: the byte runs fetched while control stayed in it,
 *            and visits of user pages; a visit that a near one covers is dropped,
 *            since no TLB of more than a few entries can miss there
 *   segments the items from one kernel entry to the next
 *   strides  a run of the same segments over and over, with how often it ran, and
 *            what ran just before it
 *
 * Equal strides after equal predecessors are counted, not repeated.
 */
#ifndef ANALYZE_TLB_SEQUENCE_H
#define ANALYZE_TLB_SEQUENCE_H

#include <stdint.h>

struct image;

/* Runs of bytes fetched in one visit to a unit: ranges[first .. first + nr). */
struct seq_visit {
	uint32_t unit;
	uint32_t first, nr;
};

struct seq_range {
	uint32_t start, end;	/* offsets in the unit, bytes */
};

#define SEQ_USER 0x80000000u	/* an item: this | number of a user page, else a visit's number */

/* items[first .. first + nr) ran once after the stride `before`, `entered` times; then again `again` times in all. */
struct seq_stride {
	uint32_t first, nr;
	uint32_t before;	/* stride that ran before it; itself when it was the first */
	uint64_t entered, again;
};

/* In order of execution: a stride, and how many times its body ran in a row. */
struct seq_run {
	uint32_t stride;
	uint64_t times;
};

struct sequence {
	struct seq_range *ranges;
	uint32_t nr_ranges, alloc_ranges;
	struct seq_visit *visits;
	uint32_t nr_visits, alloc_visits;
	uint32_t nr_user_pages;
	uint32_t *items;
	uint32_t nr_items, alloc_items;
	struct seq_stride *strides;
	uint32_t nr_strides, alloc_strides;
	struct seq_run *runs;
	uint32_t nr_runs, alloc_runs;
	uint64_t nr_segments;	/* kernel entries in the trace */
	uint64_t nr_blocks;	/* block executions in the trace */
};

/*
 * Condense the fetch trace at path for a kernel. user_page: bytes, a power of
 * two. Errors are reported.
 */
int sequence_init(struct sequence *s, const char *path, const struct image *img, uint32_t user_page);
void sequence_release(struct sequence *s);

#endif
