/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The cost of touching N pages on this CPU, as an ordinary user, one line a page.
 *
 *   code  a chain of jumps, one a page, in shuffled order, round and round
 *   data  a chain of pointers, likewise
 *
 * Lines are spread over the sets of the caches, so that up to 512 pages or so only the
 * TLB can tell N from N + 1.
 */
#ifndef ANALYZE_CALIBRATE_CHASE_H
#define ANALYZE_CALIBRATE_CHASE_H

#include <stdbool.h>
#include <stdint.h>

enum chase_kind { CHASE_CODE, CHASE_DATA };

struct chase_point {
	uint32_t pages;
	double ns;	/* a touch: the least of several runs */
	double spread;	/* how far the median of the runs lies above, relative */
};

/* Whether code chains can be made on this architecture. */
bool chase_has_code(void);

/*
 * Measure one point with pages of so many bytes (4096, or 2 MB: transparent huge pages).
 * False when such pages cannot be had; nothing is reported.
 */
bool chase_measure(enum chase_kind kind, uint32_t page_bytes, uint32_t pages, struct chase_point *out);

/* What the CPU says of its ITLB for pages of this size: level 0 and 1; 0: it does not say. */
uint32_t chase_cpuid_entries(uint32_t page_bytes, uint32_t level);

/* The core's clock in MHz as the kernel shows it, 0 when it does not. */
double chase_clock_mhz(void);

#endif
