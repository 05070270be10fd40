/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Cache-directed sort, as LLVM 19 has it (lld --call-graph-profile-sort=cdsort):
 * chains of functions are merged while that brings callers and callees nearer
 * (count x distance^-0.25) and packs hot code densely (a 16-entry cache of 2 KB
 * blocks); the gain of a merge is divided by the smaller chain's size.
 */
#include "reorder/order.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/index.h"
#include "lib/mem.h"
#include "reorder/hotgraph.h"
#include "reorder/layout.h"

enum {
	CACHE_ENTRIES = 16,
	CACHE_BLOCK = 2048,	/* bytes */
	MAX_CHAIN = 128,	/* functions */
};
static const double distance_power = 0.25, frequency_scale = 0.25, epsilon = 1e-8;

struct jump {
	uint32_t from, to;	/* nodes */
	uint32_t off;		/* of the call within from, bytes */
	double count;
};

struct node {
	uint64_t size;
	double count;
	uint32_t chain;
	uint64_t addr;		/* scratch: estimated while a merge is tried */
};

/* All jumps between two chains, either way. */
struct link {
	uint32_t src, dst;	/* chains, in the direction of the first jump */
	uint32_t *jumps;
	uint32_t nr_jumps, alloc_jumps;
	double gain;
	bool dst_first;		/* the better concatenation */
	bool dead;
	uint32_t heap;		/* position in the heap + 1, 0: not queued */
};

struct chain {
	uint32_t *nodes;
	uint32_t nr_nodes, alloc_nodes;
	uint32_t *links;	/* some may be dead */
	uint32_t nr_links, alloc_links;
	uint64_t size;
	double count;
};

struct cdsort {
	struct node *nodes;
	uint32_t nr_nodes;
	struct jump *jumps;
	uint32_t nr_jumps;
	struct link *links;
	uint32_t nr_links, alloc_links;
	struct chain *chains;	/* [node] at first */
	uint32_t *heap, nr_heap;
	uint32_t *mark;		/* [chain]: link to that chain while merging, + 1 */
	double total;		/* samples of all nodes */
	uint64_t called_bytes;	/* of the nodes that are called */
};

static double chain_density(const struct chain *c)
{
	return c->count / (double)c->size;
}

static double miss_probability(const struct cdsort *s, double density)
{
	double samples = density * CACHE_BLOCK;

	if (samples >= s->total)
		return 0;
	return pow(1 - samples / s->total, CACHE_ENTRIES);
}

static double frequency_gain(const struct cdsort *s, const struct chain *a, const struct chain *b)
{
	double count = a->count + b->count;
	double before = a->count * miss_probability(s, chain_density(a)) + b->count * miss_probability(s, chain_density(b));

	return before - count * miss_probability(s, count / (double)(a->size + b->size));
}

static uint64_t place_nodes(struct cdsort *s, const struct chain *c, uint64_t addr)
{
	for (uint32_t i = 0; i < c->nr_nodes; i++) {
		s->nodes[c->nodes[i]].addr = addr;
		addr += s->nodes[c->nodes[i]].size;
	}
	return addr;
}

static double distance_score(double bytes)
{
	return pow(bytes > 0 ? bytes : 0.1, -distance_power);
}

/* Against calls that reach across all of the called bytes. */
static double distance_gain(struct cdsort *s, const struct link *k, const struct chain *first,
			    const struct chain *second)
{
	double near = 0, apart = 0, far = distance_score((double)s->called_bytes);

	place_nodes(s, second, place_nodes(s, first, 0));
	for (uint32_t i = 0; i < k->nr_jumps; i++) {
		const struct jump *j = &s->jumps[k->jumps[i]];
		double from = (double)(s->nodes[j->from].addr + j->off), to = (double)s->nodes[j->to].addr;

		near += j->count * distance_score(fabs(from - to));
		apart += j->count * far;
	}
	return near - apart;
}

static double merge_gain(struct cdsort *s, const struct link *k, const struct chain *first, const struct chain *second, double frequency)
{
	double gain = distance_gain(s, k, first, second) + frequency_scale * frequency;

	if (gain >= 0)
		gain /= (double)(first->size < second->size ? first->size : second->size);
	return gain;
}

/* The better of the two concatenations; equal ones keep the functions' original order. */
static void find_gain(struct cdsort *s, struct link *k)
{
	const struct chain *a = &s->chains[k->src], *b = &s->chains[k->dst];
	double frequency = frequency_gain(s, a, b);
	double ab = merge_gain(s, k, a, b, frequency), ba = merge_gain(s, k, b, a, frequency);

	if (fabs(ab - ba) < epsilon)
		k->dst_first = k->dst < k->src;
	else
		k->dst_first = ba > ab;
	k->gain = k->dst_first ? ba : ab;
}

/* Heap order: most gain first, then by chain numbers. */
static bool link_before(const struct cdsort *s, uint32_t a, uint32_t b)
{
	const struct link *x = &s->links[a], *y = &s->links[b];

	if (x->gain != y->gain)
		return x->gain > y->gain;
	if (x->src != y->src)
		return x->src < y->src;
	return x->dst < y->dst;
}

static void heap_set(struct cdsort *s, uint32_t pos, uint32_t link)
{
	s->heap[pos] = link;
	s->links[link].heap = pos + 1;
}

static void heap_sift(struct cdsort *s, uint32_t pos)
{
	uint32_t link = s->heap[pos];

	for (; pos && link_before(s, link, s->heap[(pos - 1) / 2]); pos = (pos - 1) / 2)
		heap_set(s, pos, s->heap[(pos - 1) / 2]);
	for (uint32_t child; (child = 2 * pos + 1) < s->nr_heap; pos = child) {
		if (child + 1 < s->nr_heap && link_before(s, s->heap[child + 1], s->heap[child]))
			child++;
		if (!link_before(s, s->heap[child], link))
			break;
		heap_set(s, pos, s->heap[child]);
	}
	heap_set(s, pos, link);
}

static void heap_remove(struct cdsort *s, uint32_t link)
{
	uint32_t pos = s->links[link].heap;

	if (!pos--)
		return;
	s->links[link].heap = 0;
	uint32_t last = s->heap[--s->nr_heap];
	if (last == link)
		return;
	heap_set(s, pos, last);
	heap_sift(s, pos);
}

static void heap_add(struct cdsort *s, uint32_t link)
{
	if (s->links[link].gain <= epsilon)
		return;
	heap_set(s, s->nr_heap++, link);
	heap_sift(s, s->nr_heap - 1);
}

static void append_jump(struct link *k, uint32_t jump)
{
	ALLOC_GROW(k->jumps, k->nr_jumps + 1, k->alloc_jumps);
	k->jumps[k->nr_jumps++] = jump;
}

static void append_link(struct chain *c, uint32_t link)
{
	ALLOC_GROW(c->links, c->nr_links + 1, c->alloc_links);
	c->links[c->nr_links++] = link;
}

static void add_links(struct cdsort *s)
{
	struct index pairs = { 0 };

	for (uint32_t i = 0; i < s->nr_jumps; i++) {
		uint32_t from = s->jumps[i].from, to = s->jumps[i].to;
		uint32_t key[2] = { from < to ? from : to, from < to ? to : from };
		uint32_t id = index_add(&pairs, key, sizeof(key));

		if (id == s->nr_links) {
			ALLOC_GROW(s->links, id + 1, s->alloc_links);
			s->links[id] = (struct link){ .src = from, .dst = to };
			s->nr_links++;
			append_link(&s->chains[from], id);
			append_link(&s->chains[to], id);
		}
		append_jump(&s->links[id], i);
	}
	index_release(&pairs);
	s->heap = xcalloc(s->nr_links, sizeof(*s->heap));
	for (uint32_t id = 0; id < s->nr_links; id++) {
		find_gain(s, &s->links[id]);
		heap_add(s, id);
	}
}

static uint32_t other_end(const struct link *k, uint32_t chain)
{
	return k->src == chain ? k->dst : k->src;
}

/* from's links become into's; two links to one neighbour become one. */
static void take_links(struct cdsort *s, uint32_t into, uint32_t from)
{
	struct chain *a = &s->chains[into], *b = &s->chains[from];
	uint32_t n = 0;

	for (uint32_t i = 0; i < a->nr_links; i++) {
		struct link *k = &s->links[a->links[i]];

		if (k->dead || other_end(k, into) == from) {
			k->dead = true;
			continue;
		}
		s->mark[other_end(k, into)] = a->links[i] + 1;
		a->links[n++] = a->links[i];
	}
	a->nr_links = n;
	for (uint32_t i = 0; i < b->nr_links; i++) {
		struct link *k = &s->links[b->links[i]];

		if (k->dead)
			continue;
		uint32_t other = other_end(k, from);
		if (k->src == from)
			k->src = into;
		else
			k->dst = into;
		if (!s->mark[other]) {
			append_link(a, b->links[i]);
			continue;
		}
		struct link *kept = &s->links[s->mark[other] - 1];
		for (uint32_t j = 0; j < k->nr_jumps; j++)
			append_jump(kept, k->jumps[j]);
		k->dead = true;
	}
	for (uint32_t i = 0; i < a->nr_links; i++)
		s->mark[other_end(&s->links[a->links[i]], into)] = 0;
	b->nr_links = 0;
}

static void merge_chains(struct cdsort *s, uint32_t into, uint32_t from, bool from_first)
{
	struct chain *a = &s->chains[into], *b = &s->chains[from];

	for (uint32_t i = 0; i < b->nr_nodes; i++)
		s->nodes[b->nodes[i]].chain = into;
	ALLOC_GROW(a->nodes, a->nr_nodes + b->nr_nodes, a->alloc_nodes);
	if (from_first) {
		memmove(a->nodes + b->nr_nodes, a->nodes, a->nr_nodes * sizeof(*a->nodes));
		memcpy(a->nodes, b->nodes, b->nr_nodes * sizeof(*a->nodes));
	} else {
		memcpy(a->nodes + a->nr_nodes, b->nodes, b->nr_nodes * sizeof(*a->nodes));
	}
	a->nr_nodes += b->nr_nodes;
	a->size += b->size;
	a->count += b->count;
	take_links(s, into, from);
	b->nr_nodes = 0;
}

static void merge_all(struct cdsort *s)
{
	while (s->nr_heap) {
		struct link best = s->links[s->heap[0]];
		struct chain *into = &s->chains[best.src], *from = &s->chains[best.dst];

		for (uint32_t i = 0; i < into->nr_links; i++)
			heap_remove(s, into->links[i]);
		for (uint32_t i = 0; i < from->nr_links; i++)
			heap_remove(s, from->links[i]);
		merge_chains(s, best.src, best.dst, best.dst_first);
		for (uint32_t i = 0; i < into->nr_links; i++) {
			struct link *k = &s->links[into->links[i]];

			if (s->chains[k->src].nr_nodes + s->chains[k->dst].nr_nodes > MAX_CHAIN)
				continue;
			find_gain(s, k);
			heap_add(s, into->links[i]);
		}
	}
}

/*
 * As in LLVM: a node counts the calls into it, or those out of it where they are
 * more; the total and the called bytes are those of the calls into nodes alone.
 */
static void count_nodes(struct cdsort *s)
{
	double *out = xcalloc(s->nr_nodes, sizeof(*out));

	for (uint32_t i = 0; i < s->nr_jumps; i++) {
		s->nodes[s->jumps[i].to].count += s->jumps[i].count;
		out[s->jumps[i].from] += s->jumps[i].count;
	}
	for (uint32_t i = 0; i < s->nr_nodes; i++) {
		s->total += s->nodes[i].count;
		if (s->nodes[i].count > 0)
			s->called_bytes += s->nodes[i].size;
		s->nodes[i].count = fmax(s->nodes[i].count, out[i]);
	}
	free(out);
}

static void cdsort_init(struct cdsort *s, const struct hotgraph *g)
{
	s->nr_nodes = g->nr_nodes;
	s->nodes = xcalloc(g->nr_nodes, sizeof(*s->nodes));
	s->chains = xcalloc(g->nr_nodes, sizeof(*s->chains));
	s->mark = xcalloc(g->nr_nodes, sizeof(*s->mark));
	s->jumps = xcalloc(g->nr_calls, sizeof(*s->jumps));
	s->nr_jumps = g->nr_calls;
	for (uint32_t i = 0; i < g->nr_nodes; i++)
		s->nodes[i] = (struct node){ .size = g->sizes[i], .chain = i };
	for (uint32_t i = 0; i < g->nr_calls; i++) {
		const struct hotcall *c = &g->calls[i];

		s->jumps[i] = (struct jump){ c->from, c->to, (uint32_t)((g->sizes[c->from] + 1) / 2), (double)c->weight };
	}
	count_nodes(s);
	for (uint32_t i = 0; i < g->nr_nodes; i++) {
		struct chain *c = &s->chains[i];

		ALLOC_GROW(c->nodes, 1, c->alloc_nodes);
		c->nodes[c->nr_nodes++] = i;
		c->size = s->nodes[i].size;
		c->count = s->nodes[i].count;
	}
}

static void cdsort_release(struct cdsort *s)
{
	for (uint32_t i = 0; i < s->nr_nodes; i++) {
		free(s->chains[i].nodes);
		free(s->chains[i].links);
	}
	for (uint32_t i = 0; i < s->nr_links; i++)
		free(s->links[i].jumps);
	free(s->chains);
	free(s->links);
	free(s->jumps);
	free(s->nodes);
	free(s->heap);
	free(s->mark);
}

struct ranked_chain {
	uint32_t chain;
	double density;
};

static int compare_chains(const void *pa, const void *pb)
{
	const struct ranked_chain *a = pa, *b = pb;

	if (a->density != b->density)
		return a->density > b->density ? -1 : 1;
	return a->chain < b->chain ? -1 : a->chain > b->chain;
}

void order_cdsort(const struct callgraph *cg, const struct order_options *opts, struct layout *l)
{
	struct cdsort s = { 0 };
	struct hotgraph g;
	uint32_t nr_chains = 0;

	(void)opts;
	hotgraph_init(&g, cg);
	cdsort_init(&s, &g);
	add_links(&s);
	merge_all(&s);
	struct ranked_chain *r = xcalloc(g.nr_nodes, sizeof(*r));
	for (uint32_t i = 0; i < g.nr_nodes; i++)
		if (s.chains[i].nr_nodes)
			r[nr_chains++] = (struct ranked_chain){ i, chain_density(&s.chains[i]) };
	qsort(r, nr_chains, sizeof(*r), compare_chains);
	for (uint32_t i = 0; i < nr_chains; i++)
		for (uint32_t j = 0; j < s.chains[r[i].chain].nr_nodes; j++)
			layout_append(l, g.units[s.chains[r[i].chain].nodes[j]], 0);
	for (uint32_t i = 0; i < g.nr_others; i++)
		layout_append(l, g.units[g.nr_nodes + i], 0);
	free(r);
	cdsort_release(&s);
	hotgraph_release(&g);
}
