/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Call-chain clustering: Ottoni and Maher, "Optimizing Function Placement for
 * Large-Scale Data-Center Applications" (CGO 2017), with the constants lld uses
 * for --call-graph-profile-sort=hfsort; and Pettis and Hansen, "Profile Guided
 * Code Positioning" (PLDI 1990), both over the same clusters.
 */
#include "reorder/order.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/callgraph.h"
#include "lib/index.h"
#include "lib/mem.h"
#include "reorder/hotgraph.h"
#include "reorder/layout.h"

enum {
	C3_MIN_PROBABILITY = 10,	/* an arc below a tenth of the callee's weight is not followed */
	C3_DENSITY_FALL = 8,		/* a merge may thin the caller's cluster this much */
	C3_MAX_CLUSTER = 1 << 20,	/* bytes */
};

struct cluster {
	uint32_t head, tail;	/* members as a chain through next[] */
	uint32_t prev_best;	/* best predecessor of its first function, INDEX_NONE: none */
	uint64_t best_weight, first_weight;
	uint64_t size, weight;
};

struct clusters {
	struct cluster *c;	/* [node of graph], the nodes outside calls too */
	uint32_t *leader, *next;
	struct hotgraph graph;
};

static double density(const struct cluster *c)
{
	return c->size ? (double)c->weight / (double)c->size : 0;
}

/* A node weighs what is called into it. */
static void clusters_init(struct clusters *cs, const struct callgraph *cg)
{
	struct hotgraph *g = &cs->graph;

	hotgraph_init(g, cg);
	cs->c = xcalloc(g->nr_nodes, sizeof(*cs->c));
	cs->leader = xcalloc(g->nr_nodes, sizeof(*cs->leader));
	cs->next = xcalloc(g->nr_nodes, sizeof(*cs->next));
	for (uint32_t i = 0; i < g->nr_nodes; i++) {
		cs->leader[i] = i;
		cs->next[i] = INDEX_NONE;
		cs->c[i] = (struct cluster){ i, i, INDEX_NONE, 0, 0, g->sizes[i], 0 };
	}
	for (uint32_t i = 0; i < g->nr_calls; i++) {
		const struct hotcall *call = &g->calls[i];
		struct cluster *to = &cs->c[call->to];

		to->weight += call->weight;
		to->first_weight = to->weight;
		if (call->weight > to->best_weight) {
			to->best_weight = call->weight;
			to->prev_best = call->from;
		}
	}
}

static void clusters_release(struct clusters *cs)
{
	free(cs->c);
	free(cs->leader);
	free(cs->next);
	hotgraph_release(&cs->graph);
}

static uint32_t leader_of(struct clusters *cs, uint32_t i)
{
	while (cs->leader[i] != i)
		i = cs->leader[i] = cs->leader[cs->leader[i]];
	return i;
}

/* Append cluster from to cluster into. */
static void merge(struct clusters *cs, uint32_t into, uint32_t from)
{
	struct cluster *a = &cs->c[into], *b = &cs->c[from];

	cs->leader[from] = into;
	cs->next[a->tail] = b->head;
	a->tail = b->tail;
	a->size += b->size;
	a->weight += b->weight;
	b->size = b->weight = 0;
}

struct ranked {
	uint32_t i;
	double key;
};

static int compare_ranked(const void *pa, const void *pb)
{
	const struct ranked *a = pa, *b = pb;

	if (a->key != b->key)
		return a->key > b->key ? -1 : 1;
	return a->i < b->i ? -1 : a->i > b->i;
}

/* The clusters that are left, densest first, then the units outside all calls. */
static void emit(struct clusters *cs, struct layout *l)
{
	const struct hotgraph *g = &cs->graph;
	struct ranked *r = xcalloc(g->nr_nodes, sizeof(*r));
	uint32_t nr = 0;

	for (uint32_t i = 0; i < g->nr_nodes; i++)
		if (cs->leader[i] == i)
			r[nr++] = (struct ranked){ i, density(&cs->c[i]) };
	qsort(r, nr, sizeof(*r), compare_ranked);
	for (uint32_t k = 0; k < nr; k++)
		for (uint32_t i = cs->c[r[k].i].head; i != INDEX_NONE; i = cs->next[i])
			layout_append(l, g->units[i], 0);
	for (uint32_t i = 0; i < g->nr_others; i++)
		layout_append(l, g->units[g->nr_nodes + i], 0);
	free(r);
}

static bool worth_merging(const struct cluster *c, const struct cluster *pred)
{
	double merged = (double)(c->weight + pred->weight) / (double)(c->size + pred->size);

	return c->size + pred->size <= C3_MAX_CLUSTER && merged >= density(pred) / C3_DENSITY_FALL;
}

void order_c3(const struct callgraph *cg, const struct order_options *opts, struct layout *l)
{
	struct clusters cs = { 0 };

	(void)opts;
	clusters_init(&cs, cg);
	uint32_t nr = cs.graph.nr_nodes;
	struct ranked *r = xcalloc(nr, sizeof(*r));
	for (uint32_t i = 0; i < nr; i++)
		r[i] = (struct ranked){ i, density(&cs.c[i]) };
	qsort(r, nr, sizeof(*r), compare_ranked);
	for (uint32_t k = 0; k < nr; k++) {
		uint32_t i = leader_of(&cs, r[k].i);
		const struct cluster *first = &cs.c[r[k].i];

		if (first->prev_best == INDEX_NONE || first->best_weight * C3_MIN_PROBABILITY <= first->first_weight)
			continue;
		uint32_t pred = leader_of(&cs, first->prev_best);
		if (pred != i && worth_merging(&cs.c[i], &cs.c[pred]))
			merge(&cs, pred, i);
	}
	emit(&cs, l);
	free(r);
	clusters_release(&cs);
}

static void reverse(struct clusters *cs, uint32_t leader)
{
	struct cluster *c = &cs->c[leader];
	uint32_t prev = INDEX_NONE;

	for (uint32_t i = c->head, next; i != INDEX_NONE; i = next) {
		next = cs->next[i];
		cs->next[i] = prev;
		prev = i;
	}
	uint32_t head = c->head;
	c->head = c->tail;
	c->tail = head;
}

/* Twice the bytes between a member's middle and its cluster's start. */
static uint64_t twice_from_head(const struct clusters *cs, uint32_t leader, uint32_t member)
{
	uint64_t d = 0;

	for (uint32_t i = cs->c[leader].head; i != member; i = cs->next[i])
		d += cs->graph.sizes[i];
	return 2 * d + cs->graph.sizes[member];
}

/* Join two chains so that the edge's ends come nearest: each may be turned round. */
static void join_nearest(struct clusters *cs, uint32_t a, uint32_t in_a, uint32_t b, uint32_t in_b)
{
	if (twice_from_head(cs, a, in_a) < cs->c[a].size)
		reverse(cs, a);
	if (twice_from_head(cs, b, in_b) > cs->c[b].size)
		reverse(cs, b);
	merge(cs, a, b);
}

void order_ph(const struct callgraph *cg, const struct order_options *opts, struct layout *l)
{
	struct clusters cs = { 0 };
	struct index pairs = { 0 };
	uint64_t *weights = xcalloc(cg->nr_edges, sizeof(*weights));

	(void)opts;
	clusters_init(&cs, cg);
	for (uint32_t i = 0; i < cs.graph.nr_calls; i++) {
		const struct hotcall *call = &cs.graph.calls[i];
		uint32_t a = call->from, b = call->to;
		uint32_t key[2] = { a < b ? a : b, a < b ? b : a };

		weights[index_add(&pairs, key, sizeof(key))] += call->weight;
	}
	struct ranked *r = xcalloc(pairs.nr_keys, sizeof(*r));
	for (uint32_t i = 0; i < pairs.nr_keys; i++)
		r[i] = (struct ranked){ i, (double)weights[i] };
	qsort(r, pairs.nr_keys, sizeof(*r), compare_ranked);
	for (uint32_t k = 0; k < pairs.nr_keys; k++) {
		const uint32_t *key = pairs.keys[r[k].i].data;
		uint32_t a = leader_of(&cs, key[0]), b = leader_of(&cs, key[1]);

		if (a != b)
			join_nearest(&cs, a, key[0], b, key[1]);
	}
	emit(&cs, l);
	free(r);
	free(weights);
	index_release(&pairs);
	clusters_release(&cs);
}
