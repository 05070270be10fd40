/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A fetch trace replayed under a layout, through the TLBs of several machines in one
 * pass: what the machines would have missed had the kernel been linked so.
 *
 *   block at 0xffffffff811234a0 = unit 812 + 0x20  ->  unit_addr[812] + 0x20
 *
 * Kernel bytes outside all units, and user code, stay where the trace has them.
 */
#ifndef ANALYZE_TLB_REPLAY_H
#define ANALYZE_TLB_REPLAY_H

#include <stdint.h>

#include "analyze/tlb/tlb.h"

struct image;
struct machine;

/*
 * unit_addr: [unit of img] new address, NULL: as linked. out: [nr_m] sums over all CPUs.
 * Errors are reported: a damaged trace, or one of another kernel (build-ids differ,
 * or most kernel blocks lie outside its units).
 */
int replay_trace(const char *path, const struct image *img, const uint64_t *unit_addr,
		 const struct machine *const *m, uint32_t nr_m, struct tlb_counts *out);

/* The same for several layouts in one pass over the trace: out[layout * nr_m + machine]. */
int replay_layouts(const char *path, const struct image *img, const uint64_t *const *unit_addrs,
		   uint32_t nr_layouts, const struct machine *const *m, uint32_t nr_m, struct tlb_counts *out);

/*
 * Kernel misses of the kernel as it is linked, by page: misses[i] of the page at
 * start + i * page_bytes, a power of two. Those elsewhere go into *elsewhere.
 */
struct replay_pages {
	uint64_t start, page_bytes;
	uint64_t *misses;
	uint32_t nr_pages;
	uint64_t elsewhere;
};
int replay_page_misses(const char *path, const struct image *img, const struct machine *m,
		       struct replay_pages *pages);

#endif
