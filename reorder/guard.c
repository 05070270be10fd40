/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reorder/guard.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/image/image.h"
#include "analyze/tlb/pageset.h"
#include "collect/root.h"
#include "lib/mem.h"
#include "reorder/layout.h"

enum { MAX_ROUNDS = 8 };	/* what is taken along for one root may be missed by another */

static uint32_t add_root(struct guard *g, const struct callgraph *cg, const struct callgraph_path *path, bool profiled)
{
	const char *identity = path->root == INDEX_NONE ? "-" : cg->image->funcs[path->root].id;
	char key[256];

	key[0] = (char)('0' + path->kind);
	root_display_name(identity, key + 1, sizeof(key) - 1);
	uint32_t nr = g->names.nr_keys, id = index_add_str(&g->names, key);
	if (id == nr) {
		ALLOC_GROW(g->roots, nr + 1, g->alloc_roots);
		g->roots[id] = (struct guard_root){ .func = path->root, .kind = path->kind, .profiled = profiled };
	}
	return id;
}

static uint32_t *add_roots(struct guard *g, const struct callgraph *cg, bool profiled)
{
	uint32_t *root = xcalloc((size_t)cg->nr_paths + 1, sizeof(*root));

	for (uint32_t i = 0; i < cg->nr_paths; i++)
		root[i] = add_root(g, cg, &cg->paths[i], profiled);
	return root;
}

void guard_release(struct guard *g)
{
	index_release(&g->names);
	free(g->roots);
	free(g->seen_root);
	free(g->unseen_root);
	free(g->units);
	memset(g, 0, sizeof(*g));
}

/* Of the roots [first, end), whose paths are cg's, under one layout: side 0 is before. */
static void measure(struct guard *g, const struct callgraph *cg, const uint32_t *root, uint32_t first, uint32_t end,
		    const struct layout *l, int side)
{
	struct histogram *hist = xcalloc((size_t)(end - first) + 1, sizeof(*hist));
	struct pageset pages;

	pageset_init_for(&pages, g->machine, cg->image->text_start);
	for (uint32_t i = 0; i < cg->nr_paths; i++) {
		const struct callgraph_path *path = &cg->paths[i];

		/* A root that goes by a profiled one's name counts with neither. */
		if (root[i] < first || root[i] >= end)
			continue;
		histogram_add(&hist[root[i] - first], layout_path_pages(l, cg, path, &pages), path->weight);
	}
	pageset_release(&pages);
	for (uint32_t i = first; i < end; i++) {
		g->roots[i].mean[side] = histogram_mean(&hist[i - first]);
		g->roots[i].p95[side] = histogram_percentile(&hist[i - first], 95);
		histogram_release(&hist[i - first]);
	}
	free(hist);
}

static void measure_seen(struct guard *g, const struct layout *l, int side)
{
	measure(g, g->seen, g->seen_root, 0, g->nr_profiled, l, side);
}

static void measure_unseen(struct guard *g, const struct layout *l, int side)
{
	measure(g, g->unseen, g->unseen_root, g->nr_profiled, g->names.nr_keys, l, side);
}

void guard_init(struct guard *g, const struct callgraph *seen, const struct callgraph *unseen,
		const struct layout *before, const struct machine *m)
{
	memset(g, 0, sizeof(*g));
	g->seen = seen;
	g->unseen = unseen;
	g->machine = m;
	g->seen_root = add_roots(g, seen, true);
	g->nr_profiled = g->names.nr_keys;
	g->unseen_root = add_roots(g, unseen, false);
	measure_seen(g, before, 0);
	measure_unseen(g, before, 0);
}

void guard_measure(struct guard *g, const struct layout *after)
{
	measure_seen(g, after, 1);
	measure_unseen(g, after, 1);
}

bool guard_is_worse(const struct guard_root *r)
{
	return r->mean[1] >= r->mean[0] + 1 || r->p95[1] >= r->p95[0] + 1;
}

bool guard_is_worse_by_less(const struct guard_root *r)
{
	return !guard_is_worse(r) && r->mean[1] > r->mean[0];
}

uint32_t guard_count(const struct guard *g, bool profiled, bool (*is_worse)(const struct guard_root *r))
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < g->names.nr_keys; i++)
		n += g->roots[i].profiled == profiled && is_worse(&g->roots[i]);
	return n;
}

void guard_raise(const struct guard *g, struct callgraph_path *paths)
{
	uint64_t total = 0, *of_root = xcalloc((size_t)g->nr_profiled + 1, sizeof(*of_root));

	for (uint32_t i = 0; i < g->seen->nr_paths; i++) {
		total += g->seen->paths[i].weight;
		of_root[g->seen_root[i]] += g->seen->paths[i].weight;
	}
	for (uint32_t i = 0; i < g->seen->nr_paths; i++) {
		uint32_t root = g->seen_root[i];

		if (guard_is_worse(&g->roots[root]) && of_root[root])
			paths[i].weight *= 1 + total / g->nr_profiled / of_root[root];
	}
	free(of_root);
}

/* Append the movable units of one path that are not placed yet. Returns whether there were any. */
static bool gather_path(struct guard *g, uint32_t i, bool *placed, struct layout *after)
{
	const struct callgraph_path *path = &g->unseen->paths[i];
	uint32_t nr = g->nr_units, root = g->unseen_root[i];

	for (uint32_t k = path->first_span; k < path->first_span + path->nr_spans; k++) {
		uint32_t unit = g->unseen->spans[k].unit;

		if (placed[unit] || !g->seen->image->units[unit].movable)
			continue;
		placed[unit] = true;
		layout_insert(after, unit, 0);
		ALLOC_GROW(g->units, g->nr_units + 1, g->alloc_units);
		g->units[g->nr_units++] = (struct guard_unit){ unit, root };
	}
	return g->nr_units > nr;
}

void guard_gather(struct guard *g, struct layout *after)
{
	bool *placed = xcalloc((size_t)g->seen->image->nr_units + 1, sizeof(*placed)), any = true;

	for (uint32_t i = 0; i < after->nr_hot; i++)
		placed[after->hot[i].unit] = true;
	for (int round = 0; round <= MAX_ROUNDS && any; round++) {
		any = false;
		measure_unseen(g, after, 1);
		for (uint32_t i = 0; i < g->unseen->nr_paths && round < MAX_ROUNDS; i++) {
			const struct guard_root *r = &g->roots[g->unseen_root[i]];

			if (!r->profiled && guard_is_worse(r))
				any |= gather_path(g, i, placed, after);
		}
		if (any)
			layout_assign(after);
	}
	measure_seen(g, after, 1);
	free(placed);
}
