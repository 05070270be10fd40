/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Misses where there is no trace: the paths of a call graph, run through the TLB
 * simulator until it is in a steady state.
 *
 *   alone  one path over and over: what it misses once warm
 *   mix    paths drawn by weight, each after the one before as often as the profile
 *          saw it there, a page of user text between two system calls
 *
 * A path's bytes are fetched in the order of their addresses, since a profile does not
 * tell theirs: good for comparing layouts, no substitute for a trace.
 */
#ifndef ANALYZE_TLB_STEADY_H
#define ANALYZE_TLB_STEADY_H

#include <stdbool.h>
#include <stdint.h>

struct callgraph;
struct machine;

struct steady {
	double mix;		/* kernel misses of the last level, a path run, in the mix */
	double *alone;		/* [path]: the same, each alone */
	uint32_t nr_paths;
};

/* unit_addr: [unit] address under the layout, NULL: as linked. False when the graph has no paths. */
bool steady_init(struct steady *s, const struct callgraph *cg, const uint64_t *unit_addr,
		 const struct machine *m);
void steady_release(struct steady *s);	/* a zeroed one is fine */

#endif
