/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The call graph as a linker that sorts by it would see it: calls between units
 * that can move, nothing else, nodes numbered as they first appear in the calls.
 * lld breaks ties by that number, so the baselines must too. Units that ran but
 * are in no such call stand behind the nodes, densest in samples first.
 */
#ifndef REORDER_HOTGRAPH_H
#define REORDER_HOTGRAPH_H

#include <stdint.h>

struct callgraph;

struct hotcall {
	uint32_t from, to;	/* nodes, never equal */
	uint64_t weight;	/* calls, not 0 */
};

struct hotgraph {
	uint32_t *units;	/* [nr_nodes + nr_others]: unit of the image */
	uint64_t *sizes;	/* the same, bytes, not 0 */
	uint32_t nr_nodes, nr_others;
	struct hotcall *calls;
	uint32_t nr_calls;
};

void hotgraph_init(struct hotgraph *g, const struct callgraph *cg);
void hotgraph_release(struct hotgraph *g);

#endif
