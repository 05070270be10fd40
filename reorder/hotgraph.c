/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/hotgraph.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/callgraph.h"
#include "analyze/image/image.h"
#include "lib/index.h"
#include "lib/mem.h"
#include "reorder/order.h"

enum { COLD = UINT32_MAX, HOT = UINT32_MAX - 1 };	/* no node (yet) */

static uint32_t node_of(struct hotgraph *g, uint32_t *node, uint32_t unit)
{
	if (node[unit] == HOT) {
		node[unit] = g->nr_nodes;
		g->units[g->nr_nodes++] = unit;
	}
	return node[unit];
}

static void add_calls(struct hotgraph *g, const struct callgraph *cg, uint32_t *node)
{
	g->calls = xcalloc(cg->nr_edges, sizeof(*g->calls));
	for (uint32_t i = 0; i < cg->nr_edges; i++) {
		const struct callgraph_edge *e = &cg->edges[i];

		if (!e->weight || node[e->from] == COLD || node[e->to] == COLD)
			continue;
		uint32_t from = node_of(g, node, e->from), to = node_of(g, node, e->to);
		g->calls[g->nr_calls++] = (struct hotcall){ from, to, e->weight };
	}
}

void hotgraph_init(struct hotgraph *g, const struct callgraph *cg)
{
	uint32_t nr, *hot = dense_units(cg, &nr), *node = xmalloc(cg->image->nr_units * sizeof(*node));

	memset(g, 0, sizeof(*g));
	memset(node, 0xff, cg->image->nr_units * sizeof(*node));	/* COLD */
	for (uint32_t i = 0; i < nr; i++)
		node[hot[i]] = HOT;
	g->units = xcalloc(nr, sizeof(*g->units));
	g->sizes = xcalloc(nr, sizeof(*g->sizes));
	add_calls(g, cg, node);
	for (uint32_t i = 0; i < nr; i++)
		if (node[hot[i]] == HOT)
			g->units[g->nr_nodes + g->nr_others++] = hot[i];
	for (uint32_t i = 0; i < nr; i++) {
		uint64_t size = cg->image->units[g->units[i]].size;

		g->sizes[i] = size ? size : 1;
	}
	free(node);
	free(hot);
}

void hotgraph_release(struct hotgraph *g)
{
	free(g->units);
	free(g->sizes);
	free(g->calls);
}
